"""/metrics of a ccmd that does a bit of everything: well formed, right, documented, and drawn by the dashboard."""

import collections
import json
import os
import re
import shutil

import pytest

from tests.support import objects, proc, prometheus, views
from tests.support.products import Nlb
from tests.support.scenario_route import CLUSTER_CIDR, SYSTEM_TABLE, custom_routes, node
from tests.support.world import World, wait

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
API = "cloudprovider_alicloud_api_request"
PORTS = ((80, "TCP"),)
SUFFIX = re.compile(r"_(bucket|sum|count)$")
# Names that the reference controller or Kubernetes chose, and that dashboards know: promtool would have others.
KEPT = {"ccm_slb_latencies_duration_milliseconds", "ccm_slb_operation_result",
        "ccm_route_latencies_duration_milliseconds", "cloudprovider_alicloud_api_request_errors"}


@pytest.fixture(scope="module")
def busy(build, tmp_path_factory):
    """Three plugins at work, with throttling, a failing Service and repairs."""
    with World(build, tmp_path_factory.mktemp("busy")) as world:
        world.config = world.write_config(
            plugins=f'{{ name = "clb"; audit_interval_s = 1; }}, {{ name = "nlb"; }}, '
                    f'{{ name = "route"; cluster_cidr = "{CLUSTER_CIDR}"; }}',
            election="")
        world.cloud.fault(action="CreateLoadBalancer", count=2, code="Throttling.User", http=400, message="slow down")
        world.kube.create(*[node(f"node-{n}") for n in (1, 2, 3)])
        world.start_ccmd()
        world.kube.create(objects.service("web", PORTS), objects.service("gone", PORTS),
                          Nlb().new("nlb", PORTS))
        annotations = {"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-id": "lb-does-not-exist"}
        world.kube.create(objects.service("broken", PORTS, annotations=annotations))
        for name in ("web", "gone"):
            world.wait(lambda n=name: world.kube.ingress(n), f"the address of {name}", timeout=40)
        world.wait(lambda: world.kube.ingress("nlb"), "the address of nlb", timeout=40)
        world.wait(lambda: len(custom_routes(world.cloud.state())[SYSTEM_TABLE]) == 3, "the routes", timeout=40)
        world.kube.delete("Service", "gone")
        world.wait(lambda: world.kube.get("Service", "gone") is None, "its end", timeout=40)
        lb = next(lb for lb in world.cloud.load_balancers() if lb["Listeners"])
        world.cloud.edit("delete", type="listener", load_balancer=lb["LoadBalancerId"], port=80, protocol="tcp")
        world.wait(lambda: any(reason == "DriftRepaired" for _, reason, _, _ in world.kube.events("web")), "the repair",
                   timeout=40)
        yield world


def families(world):
    status, text = world.admin("/metrics")
    assert status == 200
    return prometheus.parse(text)


def value(world, metric, **labels):
    found = families(world)
    family = found[metric if metric in found else SUFFIX.sub("", metric)]
    return next((number for (name, pairs), number in family.samples.items() if name == metric and dict(pairs) == labels),
                None)


def test_well_formed(busy):
    found = families(busy)
    assert len(found) > 40
    for family in found.values():
        assert family.help.endswith("."), family.name
    assert not re.findall(r"metric \w+ is dropped: .*", busy.log())


def test_promtool(busy):
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is missing: apt-get install prometheus")
    code, out, err = proc.run([tool, "check", "metrics"], stdin=busy.admin("/metrics")[1])
    findings = [line for line in (out + err).splitlines() if line and line.split()[0] not in KEPT]
    assert not findings
    assert code in (0, 3)  # 3: findings, about the names that are kept


# --- the numbers are those of the simulators ---


def test_cloud_calls_are_those_the_cloud_counted(busy):
    """At the same moment, though the second looks go on: two equal looks at the log around one at the metrics."""

    def counted(calls):
        return collections.Counter(call["action"] for call in calls
                                   if re.fullmatch("[A-Z][A-Za-z]+", call["action"]) and call["http"] != 0)

    def matches():
        before = counted(busy.cloud.calls())
        found = families(busy)
        after = counted(busy.cloud.calls())
        told = collections.Counter()
        for (name, labels), number in found[API + "_duration_seconds"].samples.items():
            if name.endswith("_count") and dict(labels)["product"] != "metadata":  # that is no action
                told[dict(labels)["request"]] += number
        last.update(told=told, before=before, after=after)
        return before == after == told

    last = {}
    try:
        busy.wait(matches, "equal counts", timeout=30)
    except AssertionError:
        differ = {key: (last["before"].get(key), last["told"].get(key), last["after"].get(key))
                  for key in set(last["told"]) | set(last["after"])
                  if not last["before"].get(key) == last["told"].get(key) == last["after"].get(key)}
        raise AssertionError(f"cloud before, told, cloud after: {differ}") from None


def test_throttled_calls(busy):
    errors = {(name, labels): number for (name, labels), number in families(busy)[API + "_errors"].samples.items()}
    throttled = sum(number for (_, labels), number in errors.items() if dict(labels)["code"] == "Throttling.User")
    assert throttled == 2
    assert sum(families(busy)[API + "_throttled_total"].samples.values()) == 2


def test_each_call_had_its_turn(busy):
    """In one look, since the second looks go on, and between two calls: a turn is counted before its call."""

    def matches():
        found = families(busy)
        turns, tries = collections.Counter(), collections.Counter()
        for labels, one in found["cloudprovider_alicloud_governor_wait_seconds"].histograms().items():
            turns[dict(labels)["product"]] += one[2]
        for labels, one in found[API + "_duration_seconds"].histograms().items():
            tries[dict(labels)["product"]] += one[2]
        assert tries.pop("metadata") > 0  # that has no quota
        last.update(turns=turns, tries=tries)
        return turns == tries and set(tries) == {"slb", "nlb", "vpc"}

    last = {}
    try:
        busy.wait(matches, "equal counts", timeout=30)
    except AssertionError:
        raise AssertionError(str(last)) from None


def test_requests_to_the_api_server(busy):
    """The test itself makes no PUT of the Lease: all of them are renewals."""

    def puts():
        return [call for call in busy.kube.calls() if call["action"].startswith("UPDATE ") and "leases" in call["action"]]

    def matches():
        before = len(puts())
        total = families(busy)["rest_client_requests_total"].samples
        told = sum(number for (_, labels), number in total.items() if dict(labels)["method"] == "PUT")
        return before == told == len(puts()) and told > 0

    busy.wait(matches, "equal counts")
    total = families(busy)["rest_client_requests_total"].samples
    assert {dict(labels)["code"] for _, labels in total} >= {"200"}
    assert len({dict(labels)["host"] for _, labels in total}) == 1
    assert all(re.fullmatch(r"[\w.:]+", dict(labels)["host"]) for _, labels in total)


def test_operations_under_the_names_of_the_reference(busy):
    def told(kind, verb, status="Success"):
        return value(busy, "ccm_slb_operation_result", type=kind, verb=verb, status=status) or 0

    assert told("CLBType", "Creation") == 2
    assert told("CLBType", "Deletion") == 1
    assert told("NLBType", "Creation") == 1
    assert told("CLBType", "Creation", "Fail") >= 1  # what is reused does not exist
    latencies = families(busy)["ccm_slb_latencies_duration_milliseconds"].histograms()
    assert latencies[(("type", "CLBType"), ("verb", "Creation"))][2] == 2
    assert latencies[(("type", "CLBType"), ("verb", "Deletion"))][2] == 1
    assert latencies[(("type", "NLBType"), ("verb", "Creation"))][2] == 1
    assert latencies[(("type", "NLBType"), ("verb", "reconcile"))][2] >= 1
    bounds = [bound for bound, _ in latencies[(("type", "CLBType"), ("verb", "Creation"))][0]]
    assert bounds[:3] == [500, 700, 1000] and bounds[-2:] == [800000, float("inf")] and len(bounds) == 22
    assert families(busy)["ccm_route_latencies_duration_milliseconds"].histograms()[(("verb", "create"),)][2] >= 1


def test_queue_and_reconciles(busy):
    found = families(busy)
    for plugin in ("clb", "nlb", "route"):
        assert value(busy, "workqueue_adds_total", name=plugin) > 0
        assert value(busy, "controller_runtime_reconcile_total", controller=plugin, result="success") is not None
        waits = found["workqueue_queue_duration_seconds"].histograms()[(("name", plugin),)]
        works = found["workqueue_work_duration_seconds"].histograms()[(("name", plugin),)]
        assert waits[2] >= works[2] > 0 and works[1] > 0
    assert value(busy, "ccmd_failing_objects", plugin="clb") == 1
    assert value(busy, "ccmd_reconcile_failures_total", plugin="clb", kind="terminal") >= 1
    kinds = {dict(labels)["result"] for labels in found["ccmd_reconcile_duration_seconds"].histograms()}
    assert {"success", "terminal"} <= kinds


def test_state(busy):
    assert value(busy, "ccmd_ready") == 1
    assert value(busy, "leader_election_master_status", name="ccm") == 1
    assert 0 <= value(busy, "ccmd_lease_renew_age_seconds", name="ccm") < 15
    assert value(busy, "ccmd_cache_objects", kind="nodes") == 3
    assert value(busy, "ccmd_route_nodes", state="served") == 3
    assert sum(families(busy)["ccmd_route_table_entries"].samples.values()) >= 3
    assert value(busy, "ccmd_audits_total", type="CLBType", result="repaired") >= 1
    assert value(busy, "ccmd_audits_total", type="NLBType", result="repaired") == 0
    assert value(busy, "ccmd_unhealthy_backends", type="CLBType") == 0
    assert value(busy, "ccmd_certificate_expiry_timestamp_seconds", type="NLBType") == 0
    assert value(busy, "ccmd_unserved_objects", plugin="clb") >= 1  # no Service has a pod
    assert value(busy, "ccmd_creation_duration_seconds_count", type="CLBType") == 2
    assert value(busy, "ccmd_creation_duration_seconds_count", type="NLBType") == 1
    assert value(busy, "ccmd_mirror_age_seconds_count", type="CLBType") >= 1
    assert value(busy, "cloudprovider_alicloud_credential_expiry_timestamp_seconds") == 0  # a fixed key
    assert value(busy, "process_resident_memory_bytes") > 1e6
    assert value(busy, "process_open_fds") > 3
    assert value(busy, "ccmd_metrics_dropped_total") == 0


def test_counters_of_alerts_begin_at_0(world):
    """An increase is one from 0 on: what is born with 1 has none."""
    views.nodes(world, 1)
    world.start_ccmd()
    world.wait(lambda: "ccmd_audits_total" in families(world), "the counter")
    assert value(world, "ccmd_audits_total", type="CLBType", result="repaired") == 0
    assert {value(world, "ccmd_audits_total", type="CLBType", result=result) for result in ("clean", "failed")} == {0}
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: world.kube.ingress("web"), "the address")
    throttled = families(world)[API + "_throttled_total"].samples
    assert {dict(labels)["request"] for _, labels in throttled} >= {"CreateLoadBalancer"} and set(throttled.values()) == {0}


def test_how_long_it_is_waited(world):
    """From the first sight of a Service on, over failures, until it has its address; the time since its creation is another."""
    views.nodes(world, 1)
    world.cloud.fault(action="CreateLoadBalancer", count=1000, code="OperationFailed.NoMoney", http=400, message="no")
    world.start_ccmd()
    world.kube.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "late", "namespace": "default"},
                       "spec": {"type": "ClusterIP", "selector": {"app": "web"}, "ports": [{"port": 80}]}})
    world.wait(lambda: ready_now(world), "readiness")
    world.settled()
    assert value(world, "ccmd_oldest_pending_seconds", plugin="clb") == 0
    world.kube.patch("Service", "late", {"spec": {"type": "LoadBalancer"}})
    begun = world.seconds()
    world.wait(lambda: value(world, "ccmd_oldest_pending_seconds", plugin="clb") > 1, "an object that waits")
    assert value(world, "ccmd_oldest_pending_seconds", plugin="clb") <= world.seconds() - begun
    assert "ccmd_creation_duration_seconds" not in families(world)
    world.cloud.clear_faults()
    world.kube.patch("Service", "late", {"metadata": {"annotations": {"a": "b"}}})
    world.wait(lambda: world.kube.ingress("late"), "the address")
    world.wait(lambda: "ccmd_creation_duration_seconds" in families(world), "the creation")
    assert 1 < value(world, "ccmd_creation_duration_seconds_sum", type="CLBType") <= world.seconds() - begun
    world.settled()
    assert value(world, "ccmd_oldest_pending_seconds", plugin="clb") == 0
    world.kube.delete("Service", "late")
    world.wait(lambda: world.kube.get("Service", "late") is None, "its end")
    assert value(world, "ccmd_creation_duration_seconds_count", type="CLBType") == 1


def ready_now(world):
    return world.admin("/readyz") == (200, "ok\n")


# --- docs and dashboard ---


def documented():
    with open(os.path.join(ROOT, "docs", "metrics.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| `(\w+)` \| (\w+) \| ([^|]*) \| ([^|]*) \|$", file.read(), re.M)
    return {name: (kind, [label.strip(" `") for label in labels.split(",") if label.strip()], text)
            for name, kind, labels, text in rows}


def in_the_source(*folders):
    """Names of all metrics that the code of these folders defines."""
    names = set()
    for folder in folders:
        for place, _, files in os.walk(os.path.join(ROOT, folder)):
            if "tests" in place.split(os.sep) or "template" in place:
                continue
            for name in files:
                if name.endswith(".c"):
                    with open(os.path.join(place, name), encoding="utf-8") as file:
                        text = file.read()
                    if "CCM_METRIC_" in text:
                        names.update(re.findall(r'"((?:ccmd?|cloudprovider|workqueue|rest_client|controller_runtime|'
                                                r'leader_election|process)_[a-z_]+)"', text))
    return names


def test_everything_is_documented(busy):
    table = documented()
    assert set(table) == in_the_source("core", "plugins") | {"ccmd_metrics_dropped_total"}
    for name, family in families(busy).items():
        kind, labels, text = table[name]
        assert kind == family.type, name
        assert text == family.help, name
        told = {tuple(label for label, _ in pairs if label != "le") for _, pairs in family.samples}
        assert told == {tuple(labels)}, name


def test_metrics_of_other_commands_are_named():
    """`ccmd webhook` has its own listener: what it counts is told in the text, not in the table of the controller."""
    with open(os.path.join(ROOT, "docs", "metrics.md"), encoding="utf-8") as file:
        text = file.read()
    names = in_the_source("tools")
    assert names and all(f"`{name}`" in text for name in names)


def expressions():
    with open(os.path.join(ROOT, "etc", "grafana", "ccmd.json"), encoding="utf-8") as file:
        board = json.load(file)

    def of(item):
        if isinstance(item, dict):
            for key, one in item.items():
                if key in ("expr", "query") and isinstance(one, str):
                    yield one
                else:
                    yield from of(one)
        elif isinstance(item, list):
            for one in item:
                yield from of(one)

    return board, list(of(board))


def test_the_dashboard_draws_what_there_is(busy):
    board, queries = expressions()
    table = documented()
    found = families(busy)
    used = set()
    for query in queries:
        for name, labels in re.findall(r"\b([a-z]+_[a-z_]+)(?:\{([^}]*)\})?", re.sub(r'"[^"]*"', '""', query)):
            family = name if name in table else SUFFIX.sub("", name)
            if family in table:
                used.add(family)
                for label in re.findall(r"(\w+)\s*[=!]", labels):
                    assert label in table[family][1] + ["le", "job", "instance", "namespace", "pod"], query
            else:
                assert name in ("label_values", "histogram_quantile", "process_cpu_seconds_total") or not re.match(
                    r"(ccmd?|workqueue|rest|cloudprovider|controller|leader|process)_", name), f"{name} in {query}"
    assert used <= set(found), used - set(found)
    assert len(used) > 15
    assert used >= {"ccmd_unserved_objects", "ccmd_unhealthy_backends", "ccmd_oldest_pending_seconds", "ccmd_creation_duration_seconds",
                    "ccmd_quota_used", "ccmd_quota_limit", "ccmd_certificate_expiry_timestamp_seconds"}
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))
    for panel in board["panels"]:
        assert panel["title"] and (panel["type"] == "row" or panel["targets"])


def test_the_queries_are_promql(busy, tmp_path):
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is missing: apt-get install prometheus")
    assert busy
    rules = [{"record": f"q:{n}", "expr": re.sub(r"\$__rate_interval", "5m", query).replace("$job", "ccmd").replace(
        "$instance", ".*")} for n, query in enumerate(expressions()[1]) if not query.startswith("label_values")]
    path = tmp_path / "rules.json"  # JSON is YAML
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    code, out, err = proc.run([tool, "check", "rules", path])
    assert code == 0, out + err


# --- bounds ---


def test_labels_do_not_grow_with_the_cluster(world):
    """Names of objects, ids and messages are no labels."""
    views.nodes(world, 1)
    world.start_ccmd()
    world.kube.create(*[objects.service(f"s{n}", PORTS) for n in range(3)])
    wait(lambda: all(world.kube.ingress(f"s{n}") for n in range(3)), "the first")
    before = sum(len(family.samples) for family in families(world).values())
    world.kube.create(*[objects.service(f"more{n}", PORTS) for n in range(20)])
    wait(lambda: all(world.kube.ingress(f"more{n}") for n in range(20)), "the others", timeout=60)
    after = sum(len(family.samples) for family in families(world).values())
    assert after - before < 60  # at most a new result or two, a histogram each
    text = world.admin("/metrics")[1]
    assert "more1" not in text and "lb-" not in text
