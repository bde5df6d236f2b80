"""The provider of docs/plugin-loadbalancer.md: what the engine gives to a plugin that has little more than calls of its own."""

import copy
import os

import pytest

from tests.support import objects, proc
from tests.support.products import default_name
from tests.balancer.cloud import Cloud

CLASS = "balancer.example.com/small"
HASH_LABEL = "balancer.example.com/hash"
SCHEDULER = "balancer.example.com/scheduler"
FINALIZER = CLASS


def plugin(build):
    return os.path.join(build, "tests", "balancer", "balancer.so")


@pytest.fixture
def cloud():
    one = Cloud()
    yield one
    one.close()


def node(number):
    """Of another cloud: its address is all that counts."""
    item = objects.node(f"node-{number}", f"i-{number}", region="small")
    item["spec"]["providerID"] = f"small:///zone/{number}" if number > 1 else ""
    item["status"]["addresses"] = [{"type": "InternalIP", "address": f"10.0.0.{number}"}]
    return item


def service(name="web", **options):
    return objects.service(name, ((80, "TCP"), (443, "TCP")), loadBalancerClass=CLASS, **options)


def configure(world, cloud, options=""):
    """Without the group of options that the plugins of the other cloud share."""
    world.config = os.path.join(world.folder, "balancer.conf")
    with open(world.config, "w", encoding="utf-8") as file:
        file.write(f"""kubernetes: {{ kubeconfig = "{os.path.abspath(world.kubeconfig)}"; settle_s = 0; }};
leader_election: {{ enabled = false; }};
log: {{ level = "debug"; }};
admin: {{ listen = "127.0.0.1:0"; }};
plugins = ( {{
    name = "balancer"; file = "{plugin(world.build)}"; url = "{cloud.url}"; key_file = "{world.folder}/key"; cluster_id = "c-1"; {options}
}} );
""")
    with open(os.path.join(world.folder, "key"), "w", encoding="utf-8") as file:
        file.write(cloud.key + "\n")


def only(cloud):
    (lb,) = cloud.load_balancers.values()
    return lb


def served(cloud):
    """Port -> servers (address, weight) of the group that its listener sends to; None while there are more groups, or fewer."""
    lb = only(cloud)
    groups = {group["Id"]: sorted((s["Address"], s["Weight"]) for s in group["Servers"]) for group in lb["Groups"]}
    if len(groups) != len(lb["Listeners"]):
        return None
    return {listener["Port"]: groups[listener["GroupId"]] for listener in lb["Listeners"]}


def start(world, cloud, item=None, nodes=2, options=""):
    """A Service that is as it should be."""
    configure(world, cloud, options)
    world.kube.create(*[node(number) for number in range(1, nodes + 1)])
    created = world.kube.create(item or service())
    world.start_ccmd()
    world.wait(lambda: HASH_LABEL in world.kube.get("Service", "web")["metadata"].get("labels", {}), "the Service")
    return created


def plan(world, cloud):
    since, kube = len(cloud.calls), world.kube.mark()
    code, out, err = proc.run([world.binary("ccmd"), "plan", "--config", world.config])
    assert proc.COMPLAINT.search(err.encode()) is None, err
    assert cloud.writes(since) == []
    assert [a for a in world.kube.actions(kube) if a.split()[0] not in ("GET", "LIST", "WATCH")] == []
    return code, out.splitlines()


def test_from_creation_to_deletion(world, cloud):
    start(world, cloud)
    assert cloud.writes() == ["PutLoadBalancer", "PutServers", "PutServers", "PutListener", "PutListener"]
    both = [("10.0.0.1", 100), ("10.0.0.2", 100)]
    assert served(cloud) == {80: both, 443: both}
    assert [one["ip"] for one in world.kube.ingress("web")] == [only(cloud)["Address"]]
    assert FINALIZER in world.kube.get("Service", "web")["metadata"]["finalizers"]
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the Service to go")
    assert cloud.load_balancers == {}
    assert cloud.writes()[5:] == ["DeleteLoadBalancer"]


def test_names_are_the_provider_s(world, cloud):
    """What is written and read, on the Service, on its load balancer and in messages; those of another cloud mean nothing."""
    item = service(annotations={"balancer.example.com/backend-label": "zone=a", "balancer.example.com/additional-resource-tags": "team=shop",
                                "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-id": "lb-7"})
    labelled = node(2)
    labelled["metadata"]["labels"]["zone"] = "a"
    configure(world, cloud)
    excluded = node(3)
    excluded["metadata"]["labels"].update({"zone": "a", "balancer.example.com/exclude-node": ""})
    world.kube.create(node(1), labelled, excluded, item)
    world.start_ccmd()
    world.wait(lambda: world.kube.ingress("web"), "the Service")
    world.settled()
    shown = world.kube.get("Service", "web")
    assert {key.rsplit("/", 1)[0] for key in shown["metadata"]["labels"]} == {"balancer.example.com"}
    assert shown["metadata"]["labels"]["balancer.example.com/load-balancer-id"] == only(cloud)["Id"] == "lb-1"
    assert [one["type"] for one in shown["status"]["conditions"]] == ["balancer.example.com/LoadBalancerReady"]
    assert shown["metadata"]["finalizers"] == [FINALIZER]
    assert only(cloud)["Tags"] == {"balancer-cluster": "c-1", "balancer-owner": default_name(shown["metadata"]["uid"]), "team": "shop"}
    assert served(cloud) == {80: [("10.0.0.2", 100)], 443: [("10.0.0.2", 100)]}
    world.stop_ccmd()
    for text in [message for _, _, message, _ in world.kube.events("web")] + [world.log()]:
        assert "alibaba" not in text and "aliyun" not in text, text


@pytest.mark.parametrize("options, annotations", [('default_backend_type = "pods";', {}), ("", {"balancer.example.com/backend-type": "pods"})])
def test_pods_can_be_the_backends(world, cloud, options, annotations):
    item = objects.service("web", ((80, "TCP"),), loadBalancerClass=CLASS, annotations=annotations)
    world.kube.create(objects.endpoint_slice(item, [("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")]))
    start(world, cloud, item, options=options)
    assert served(cloud) == {80: [("10.1.0.1", 100), ("10.1.0.2", 100)]}
    assert {server["Port"] for group in only(cloud)["Groups"] for server in group["Servers"]} == {8080}


def test_a_new_node_is_one_call_per_group(world, cloud):
    start(world, cloud)
    world.settled()
    since = len(cloud.calls)
    world.kube.create(node(3))
    world.wait(lambda: [("10.0.0.3", 100) in servers for servers in (served(cloud) or {}).values()] == [True, True], "the new node")
    world.settled()
    assert cloud.actions(since) == ["PutServers", "PutServers"]


@pytest.mark.parametrize("times", (1, 2))
def test_a_first_conflict_is_no_news(world, cloud, times):
    """Somebody else was faster, or the cloud is busy: the pass ends there, reads, and tries again. Only a repeated one is reported."""
    start(world, cloud)
    world.settled()
    since, kube = len(cloud.calls), world.kube.mark()
    for _ in range(times):
        cloud.fail("PutServers", 412)
    world.kube.create(node(3))
    world.wait(lambda: [("10.0.0.3", 100) in servers for servers in (served(cloud) or {}).values()] == [True, True], "the new node", 30)
    world.settled()
    tries = [action for action in cloud.actions(since) if action == "PutServers"]
    if times == 1:
        assert cloud.actions(since) == ["PutServers", "ListLoadBalancers", "PutServers", "PutServers"]
        assert [kind for kind, _, _, _ in world.kube.events("web") if kind == "Warning"] == []
        assert [a for a in world.kube.actions(kube) if a.startswith("PATCH /api/v1/namespaces/default/services/web")] == []
    else:
        assert len(tries) == 4
        assert any(reason == "SyncLoadBalancerFailed" and "fault 412" in message for _, reason, message, _ in world.kube.events("web"))


def test_another_address_of_a_node_alone_is_followed(world, cloud):
    start(world, cloud, objects.service("web", ((80, "TCP"),), loadBalancerClass=CLASS))
    world.settled()
    world.kube.patch("Node", "node-2", {"status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.9"}]}}, subresource="status")
    world.wait(lambda: served(cloud) == {80: [("10.0.0.1", 100), ("10.0.0.9", 100)]}, "the new address")


def test_weights_follow_the_pods_by_one_call(world, cloud):
    item = objects.service("web", ((80, "TCP"),), loadBalancerClass=CLASS, policy="Local")
    pods = [("10.1.0.1", "node-1"), ("10.1.0.2", "node-1"), ("10.1.0.3", "node-2"), ("10.1.0.4", "node-2")]
    world.kube.create(objects.endpoint_slice(item, pods))
    start(world, cloud, item)
    assert served(cloud) == {80: [("10.0.0.1", 2), ("10.0.0.2", 2)]}
    world.settled()
    since = len(cloud.calls)
    world.kube.replace(objects.endpoint_slice(item, pods + [("10.1.0.5", "node-2"), ("10.1.0.6", "node-2"),
                                                            ("10.1.0.7", "node-2"), ("10.1.0.8", "node-2")]))
    world.wait(lambda: served(cloud) == {80: [("10.0.0.1", 2), ("10.0.0.2", 6)]}, "the weights")
    world.settled()
    assert cloud.actions(since) == ["PutServers"]


def test_attributes_and_ports_change_in_place(world, cloud):
    start(world, cloud, service(annotations={SCHEDULER: "least"}))
    assert {listener["Scheduler"] for listener in only(cloud)["Listeners"]} == {"least"}
    world.kube.patch("Service", "web", {"metadata": {"annotations": {SCHEDULER: "rr"}}})
    world.wait(lambda: {listener["Scheduler"] for listener in only(cloud)["Listeners"]} == {"rr"}, "the scheduler")
    ports = world.kube.get("Service", "web")["spec"]["ports"]
    world.kube.patch("Service", "web", {"spec": {"ports": ports[:1]}})
    world.wait(lambda: len(only(cloud)["Groups"]) == 1 and list(served(cloud)) == [80], "one port")


def test_drift_is_repaired_by_the_audit(world, cloud):
    start(world, cloud, service(annotations={SCHEDULER: "least"}), options="audit_interval_s = 1;")
    with cloud.lock:
        lb = only(cloud)
        lb["Listeners"] = lb["Listeners"][:1]
        lb["Listeners"][0]["Scheduler"] = "rr"
        lb["Groups"][0]["Servers"] = lb["Groups"][0]["Servers"][:1]
        lb["Groups"][0]["Servers"][0]["Weight"] = 7
    both = [("10.0.0.1", 100), ("10.0.0.2", 100)]
    world.wait(lambda: served(cloud) == {80: both, 443: both}, "groups and listeners")
    world.wait(lambda: {listener["Scheduler"] for listener in only(cloud)["Listeners"]} == {"least"}, "the scheduler")
    world.wait(lambda: any("create listener" in message for _, _, message, _ in world.kube.events("web")), "the event")


def page_of(world, page):
    status, text = world.admin("/statusz/object?key=default/web&format=text")
    page[:] = [text]
    return text if status == 200 else ""


def test_a_server_that_somebody_added_goes_and_is_told_as_that(world, cloud):
    start(world, cloud, options="audit_interval_s = 1;")
    with cloud.lock:
        only(cloud)["Groups"][0]["Servers"].append({"Address": "10.0.0.1", "Port": 9, "Weight": 1})
    both = [("10.0.0.1", 100), ("10.0.0.2", 100)]
    world.wait(lambda: served(cloud) == {80: both, 443: both}, "the server to go")
    world.wait(lambda: any(reason == "BackendsRemoved" and "nodes, at a port that is not the Service's: 10.0.0.1" in message
                           for _, reason, message, _ in world.kube.events("web")), "the event")
    page = []
    world.wait(lambda: "Listeners" in page_of(world, page), "the page")  # not while it is worked on
    assert "is stopped" not in page[0] and "runs" in page[0] and "ListLoadBalancers" in page[0], page[0]


def test_one_that_somebody_deleted_is_missed_by_a_provider_that_lists_none(world, cloud):
    start(world, cloud)
    world.settled()
    with cloud.lock:
        cloud.load_balancers.clear()
    world.kube.patch("Service", "web", {"metadata": {"annotations": {SCHEDULER: "least"}}})
    world.wait(lambda: any(reason == "SyncLoadBalancerFailed" and "can not find loadbalancer" in message
                           for _, reason, message, _ in world.kube.events("web")), "the event")
    world.settled(horizon_ms=1500)
    assert cloud.load_balancers == {} and world.admin("/livez")[0] == 200


def orphan(number, **tags):
    """What a Service without a finalizer has left."""
    return {"Id": f"lb-{number}", "Name": "left", "Address": f"192.0.2.{number}", "Groups": [], "Listeners": [],
            "Tags": {"balancer-cluster": "c-1", "balancer-owner": f"a{number:031x}", **tags}}


def test_orphans_go_but_those_that_somebody_uses(world, cloud):
    start(world, cloud, options="audit_interval_s = 1; orphan_cleanup = true; missing_wait_s = 0; removal_window_s = 1;")
    used = orphan(101, **{"balancer-used": "true"})
    with cloud.lock:
        cloud.load_balancers.update({one["Id"]: one for one in (used, orphan(102))})
    world.wait(lambda: "lb-102" not in cloud.load_balancers, "the orphan to go")
    world.logged("load balancer lb-101 stays: somebody uses it by now")
    assert sorted(cloud.load_balancers) == ["lb-1", "lb-101"]
    assert cloud.writes()[5:] == ["DeleteLoadBalancer"]


def test_a_restart_writes_nothing(world, cloud):
    start(world, cloud)
    world.settled()
    world.stop_ccmd()
    since, kube = len(cloud.calls), world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: len(cloud.calls) > since, "a look")
    world.settled()
    assert cloud.actions(since) == ["ListLoadBalancers"]
    assert [a for a in world.kube.actions(kube) if a.split()[0] not in ("GET", "LIST", "WATCH")] == []


def test_a_plan_says_the_steps_and_writes_nothing(world, cloud):
    configure(world, cloud)
    world.kube.create(node(1), node(2))
    meta = world.kube.create(service(annotations={SCHEDULER: "least"}))
    code, lines = plan(world, cloud)
    name = default_name(meta["metadata"]["uid"])
    groups = [f"k8s/{port['nodePort']}/web/default/c-1" for port in meta["spec"]["ports"]]
    servers = ["[" + " ".join(f"10.0.0.{n}:{port['nodePort']}=100" for n in (1, 2)) + "]" for port in meta["spec"]["ports"]]
    assert code == 3
    assert lines == [
        "balancer default/web",
        f"    add finalizer {FINALIZER} to the Service",
        f"    create load balancer {name} balancer-cluster=c-1 balancer-owner={name}",
        f"    create server group 80/tcp {groups[0]} {servers[0]}",
        f"    create server group 443/tcp {groups[1]} {servers[1]}",
        f"    create listener 80/tcp {groups[0]}",
        f"    create listener 443/tcp {groups[1]}",
        "    set labels and status of the Service",
        "    set condition balancer.example.com/LoadBalancerReady to True (Ready)",
        "1 to change, 0 as they should be, 0 failed",
    ]
    start_again(world)
    assert plan(world, cloud) == (0, ["0 to change, 1 as they should be, 0 failed"])
    with cloud.lock:
        only(cloud)["Listeners"][0]["Scheduler"] = "rr"
    assert plan(world, cloud)[1][:2] == ["balancer default/web", f"    update listener 80/tcp {groups[0]}: Scheduler rr -> least"]


def test_a_plan_after_drift_is_about_the_drift_alone(world, cloud):
    """The Service says already what it will say again once its only listener is back."""
    start(world, cloud, objects.service("web", ((80, "TCP"),), loadBalancerClass=CLASS))
    world.settled()
    world.stop_ccmd()
    with cloud.lock:
        only(cloud)["Listeners"].clear()
    code, lines = plan(world, cloud)
    assert code == 3 and len(lines) == 3, lines
    assert lines[1].startswith("    create listener 80/tcp "), lines


def start_again(world):
    world.start_ccmd()
    world.wait(lambda: HASH_LABEL in world.kube.get("Service", "web")["metadata"].get("labels", {}), "the Service")
    world.settled()
    world.stop_ccmd()


def test_lint_finds_a_bad_value(world, tmp_path):
    manifest = tmp_path / "web.yaml"
    manifest.write_text(f"""apiVersion: v1
kind: Service
metadata:
  name: web
  annotations:
    {SCHEDULER}: fast
    balancer.example.com/schedular: rr
spec:
  type: LoadBalancer
  loadBalancerClass: {CLASS}
  ports: [{{ port: 80, protocol: TCP }}]
""")
    code, out, err = proc.run([world.binary("ccmd"), "lint", "--plugin", plugin(world.build), str(manifest)])
    assert (code, err) == (1, ""), err
    assert f"{manifest}:6: error: web: annotation {SCHEDULER} must be one of [rr|least], got [fast]\n" in out
    assert f"{manifest}:7: " in out and "schedular" in out and len(out.splitlines()) == 2, out


def test_lint_calls_unknown_what_counts_for_nothing(world, tmp_path):
    """Not what the engine acts on without a row."""
    manifest = tmp_path / "web.yaml"
    manifest.write_text(f"""apiVersion: v1
kind: Service
metadata:
  name: web
  annotations:
    balancer.example.com/backend-label: zone=a
    balancer.example.com/preserve-lb-on-delete: "true"
    balancer.example.com/id: lb-7
spec:
  type: LoadBalancer
  loadBalancerClass: {CLASS}
  ports: [{{ port: 80, protocol: TCP }}]
""")
    _, out, err = proc.run([world.binary("ccmd"), "lint", "--plugin", plugin(world.build), str(manifest)])
    assert err == "" and len(out.splitlines()) == 1, out + err
    assert out.startswith(f"{manifest}:8: ") and "annotation balancer.example.com/id is unknown and has no effect" in out, out


def test_a_load_balancer_of_a_person_is_not_used_where_no_row_offers_it(world, cloud):
    """Annotation id means nothing to this provider: neither while the Service is served nor when it goes."""
    hand = {"Id": "lb-100", "Name": "by-hand", "Address": "192.0.2.100", "Tags": {"team": "shop"}, "Groups": [],
            "Listeners": [{"Name": "mine", "Port": 8080, "Protocol": "TCP", "GroupId": "", "Scheduler": "rr"}]}
    with cloud.lock:
        cloud.load_balancers[hand["Id"]] = copy.deepcopy(hand)
    start(world, cloud, service(annotations={"balancer.example.com/id": hand["Id"], "balancer.example.com/force-override-listeners": "true"}))
    (own,) = set(cloud.load_balancers) - {hand["Id"]}
    assert [one["ip"] for one in world.kube.ingress("web")] == [cloud.load_balancers[own]["Address"]]
    assert sorted(one["Port"] for one in cloud.load_balancers[own]["Listeners"]) == [80, 443]
    world.wait(lambda: any(reason == "UnknownAnnotation" and "balancer.example.com/id is unknown" in message
                           for _, reason, message, _ in world.kube.events("web")), "the event")
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the Service to go")
    assert cloud.load_balancers == {hand["Id"]: hand}
    assert [action for action, ask in cloud.calls if ask["Id"] == hand["Id"]] == []


def test_a_bad_value_changes_nothing_that_serves(world, cloud):
    start(world, cloud)
    world.settled()
    since = len(cloud.calls)
    world.kube.patch("Service", "web", {"metadata": {"annotations": {SCHEDULER: "fast"}}})
    world.wait(lambda: any(reason == "SyncLoadBalancerFailed" and "must be one of [rr|least]" in message
                           for _, reason, message, _ in world.kube.events("web")), "the event")
    assert cloud.writes(since) == []


def test_the_cloud_asks_for_a_pause(world, cloud):
    """Nothing is called before it is over, whatever changes meanwhile; then all is as it should be."""
    start(world, cloud)
    world.settled()
    since = len(cloud.calls)
    cloud.fail("PutServers", 429, {"Retry-After": 2})
    world.kube.create(node(3))
    world.wait(lambda: cloud.actions(since) == ["PutServers"], "the call that is refused")
    world.kube.patch("Service", "web", {"metadata": {"annotations": {SCHEDULER: "least"}}})
    both = [("10.0.0.1", 100), ("10.0.0.2", 100), ("10.0.0.3", 100)]
    world.wait(lambda: served(cloud) == {80: both, 443: both}, "the new node")
    world.wait(lambda: {listener["Scheduler"] for listener in only(cloud)["Listeners"]} == {"least"}, "the scheduler")
    assert cloud.moments[since + 1] - cloud.moments[since] >= 2


@pytest.mark.parametrize("action", ["PutLoadBalancer", "PutServers", "PutListener"])
def test_what_is_done_although_the_answer_fails_is_not_done_twice(world, cloud, action):
    cloud.fail(action, 500, done=True)
    start(world, cloud)
    both = [("10.0.0.1", 100), ("10.0.0.2", 100)]
    assert served(cloud) == {80: both, 443: both}
    assert sorted(cloud.writes()) == sorted(["PutLoadBalancer"] + 2 * ["PutServers"] + 2 * ["PutListener"])


def test_a_creation_that_comes_late_makes_no_second_one(world, cloud):
    """The cloud makes it long after the process that has asked for it is gone."""
    configure(world, cloud)
    hold = cloud.hold("PutLoadBalancer")
    world.kube.create(node(1), service())
    world.start_ccmd()
    world.wait(hold.arrived.is_set, "the creation")
    world.kill_ccmd()
    world.start_ccmd()
    world.wait(lambda: HASH_LABEL in world.kube.get("Service", "web")["metadata"].get("labels", {}), "the Service", timeout=60)
    hold.go_on.set()
    world.wait(hold.done.is_set, "the first creation")
    assert len(cloud.load_balancers) == 1
    assert [one["ip"] for one in world.kube.ingress("web")] == [only(cloud)["Address"]]


def test_two_of_one_service_are_told_and_go_with_it(world, cloud):
    start(world, cloud)
    with cloud.lock:
        cloud.load_balancers["lb-copy"] = {**copy.deepcopy(only(cloud)), "Id": "lb-copy", "Address": "192.0.2.99"}
    world.kube.patch("Service", "web", {"metadata": {"annotations": {SCHEDULER: "least"}}})
    world.wait(lambda: any(reason == "DuplicateLoadBalancer" and "lb-copy" in message for _, reason, message, _ in world.kube.events("web")),
               "the event")
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the Service to go", timeout=60)
    assert cloud.load_balancers == {}


def test_what_is_gone_already_need_not_be_deleted(world, cloud):
    start(world, cloud)
    world.settled()
    cloud.fail("DeleteLoadBalancer", 404, done=True)
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the Service to go")
    assert cloud.load_balancers == {} and cloud.writes()[5:] == ["DeleteLoadBalancer"]


def test_a_key_that_is_not_there_is_told_before_anything_runs(world, cloud):
    """key_file is required: an option that names no file is an error."""
    configure(world, cloud)
    os.unlink(os.path.join(world.folder, "key"))
    code, out, err = proc.run([world.binary("ccmd"), "check-config", "--config", world.config])
    assert code == 1 and f"key_file: {world.folder}/key: No such file or directory" in out + err, out + err


def test_another_key_is_used_at_once(world, cloud):
    configure(world, cloud)
    key = os.path.join(world.folder, "key")
    with open(key, "w", encoding="utf-8") as file:
        file.write("another one")
    world.kube.create(node(1), service())
    world.start_ccmd()
    world.wait(lambda: any("the signature does not match" in message for _, _, message, _ in world.kube.events("web")), "the event")
    assert cloud.calls == []
    with open(key + ".new", "w", encoding="utf-8") as file:
        file.write(cloud.key)
    os.rename(key + ".new", key)
    world.wait(lambda: world.kube.ingress("web"), "the Service")
