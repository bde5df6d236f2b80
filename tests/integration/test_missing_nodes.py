"""Absence is no order to delete: routes of nodes that vanish, alone and in number, and of an API server that comes back empty."""

import json
import re
import urllib.error
import urllib.request

import pytest

from tests.support import proc
from tests.support.scenario_route import CLUSTER_CIDR, SYSTEM_TABLE, custom_routes, node
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
ELECTION = "enabled = true;"
LONG = 3600  # seconds: longer than any test
ALIVE = 5  # instances that cloudsim has from the start


def routes(world):
    return custom_routes(world.cloud.state())[SYSTEM_TABLE]


def wanted(numbers):
    return {f"10.96.{n}.0/24": f"i-node-{n}" for n in numbers}


def configure(world, election="enabled = false;", settle_s=0, **options):
    text = " ".join(f"{key} = {value};" for key, value in {"cluster_cidr": f'"{CLUSTER_CIDR}"', **options}.items())
    world.config = world.write_config(plugins=f'{{ name = "route"; {text} }}', election=election, settle_s=settle_s)


def begin(world, count, **options):
    """ccmd with that many nodes, whose instances exist."""
    world.cloud.http.request("POST", "/_sim/instances", {"instances": [
        {"id": f"i-node-{n}", "vswitch": "vsw-a"} for n in range(ALIVE + 1, count + 1)]})
    configure(world, **options)
    world.kube.create(*[node(f"node-{n}") for n in range(1, count + 1)])
    world.start_ccmd()
    world.wait(lambda: routes(world) == wanted(range(1, count + 1)), "the routes")
    world.settled()


def deletions(world, since=0):
    return [action for action in world.cloud.actions(since) if action.startswith("DeleteRoute")]


def writes(world, since):
    return [action for action in world.cloud.actions(since) if not action.startswith(("Describe", "List"))]


def held(world):
    return world.metrics().get('ccmd_held_removals{plugin="route"}', 0)


def told(world):
    """(type, reason, message) of the events about the Lease."""
    return [(e["type"], e["reason"], e["message"]) for e in world.kube.http.request("GET", "/api/v1/events")["items"]
            if e["involvedObject"]["kind"] == "Lease"]


def lose(world, *names):
    """These nodes are gone, and no watch says so: it begins anew with a list after its history was compacted. The others are
    made slow to answer until then."""
    lists = world.metrics()['ccmd_cache_lists_total{kind="nodes"}']
    world.kube.fault(action="WATCH *", count=1, delay_ms=2000)
    world.kube.watches("drop", "nodes")
    world.wait(lambda: not world.kube.state()["watches"]["nodes"], "the end of the watch")
    for name in names:
        world.kube.delete("Node", name)
    world.kube.watches("compact", "nodes")
    world.wait(lambda: world.metrics()['ccmd_cache_lists_total{kind="nodes"}'] > lists, "a list")


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as made:
        yield made


# --- an API server that was replaced ---

def hold_is_over(world):
    return "Nothing was changed for" in world.log()


def lease(world):
    return [item for item in world.kube.state()["leases"] if item["metadata"]["name"] == "ccm"]


def test_comes_back_empty(world):
    """No route goes; nothing is written before the Lease is on the new server and it has been consistent for a time."""
    begin(world, 3, election=ELECTION, settle_s=2)
    since = world.cloud.mark()
    world.restart_kubesim()
    world.wait(lambda: "nothing is changed until the API server has answered consistently for 2 s" in world.log(), "the warning")
    assert world.metrics()["ccmd_changes_held"] == 1
    assert "Nothing is changed for" in world.admin("/statusz")[1] and world.admin("/readyz")[0] == 200
    world.wait(lambda: lease(world), "the Lease")
    world.kube.create(node("node-5"))
    world.wait(lambda: hold_is_over(world), "the end of it")
    world.wait(lambda: routes(world) == wanted([1, 2, 3, 5]), "the route of a new node")
    world.settled()
    log = world.log()
    assert re.search(r"warn +reflector: nodes: listing again: the API server is at version", log)
    assert log.rindex("CreateRouteEntries: ok") > log.index("Nothing was changed for")
    assert writes(world, since) == ["CreateRouteEntries"]
    assert routes(world) == wanted([1, 2, 3, 5]) and held(world) == 3
    metrics = world.metrics()
    assert metrics["ccmd_changes_held"] == 0 and metrics["ccmd_server_replaced_total"] >= 1
    world.wait(lambda: {"ChangesHeld", "RemovalsHeld"} <= {reason for _, reason, _ in told(world)}, "the events")


def test_comes_back_empty_with_higher_versions(world):
    """Versions tell nothing then; a list of nodes without any node does, and the Lease that is gone."""
    begin(world, 3, election=ELECTION, settle_s=1)
    since = world.cloud.mark()
    with world.ccmd.paused():  # it sees the new server when that has come far
        world.restart_kubesim()
        for n in range(80):
            world.kube.create({"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"e{n}", "namespace": "default"},
                               "involvedObject": {"kind": "Node", "name": "x"}, "reason": "x", "message": "x"})
    world.wait(lambda: hold_is_over(world), "the hold, and its end", timeout=30)
    world.settled()
    assert writes(world, since) == [] and routes(world) == wanted([1, 2, 3])
    assert lease(world)


def test_without_election_the_time_counts(world):
    begin(world, 3, settle_s=1)
    since = world.cloud.mark()
    world.restart_kubesim()
    world.wait(lambda: hold_is_over(world), "the hold, and its end", timeout=30)
    world.settled()
    assert writes(world, since) == [] and routes(world) == wanted([1, 2, 3])


def test_a_lease_that_somebody_deleted(world):
    """It looks like another server: a pause, and everything goes on."""
    begin(world, 3, election=ELECTION, settle_s=1)
    world.kube.http.request("DELETE", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/ccm")
    world.wait(lambda: hold_is_over(world), "the hold, and its end", timeout=30)
    world.logged("Lease kube-system/ccm is")
    assert lease(world)
    world.kube.create(node("node-4"))
    world.wait(lambda: routes(world) == wanted([1, 2, 3, 4]), "the route of a new node")


# --- missing in a list ---

def test_missing_in_a_list_waits(world):
    begin(world, 3, missing_wait_s=LONG)
    lose(world, "node-1")
    world.wait(lambda: held(world) == 1, "the held route")
    world.settled()
    assert deletions(world) == [] and routes(world) == wanted([1, 2, 3])
    text = world.admin("/statusz")[1]
    assert "Held removals" in text and "no deletion of it was seen" in text
    assert any(reason == "RemovalsHeld" and "node-1" in message for _, reason, message in told(world))
    # It is there again, and then deleted in earnest.
    world.kube.create(node("node-1"))
    world.wait(lambda: held(world) == 0, "nothing held")
    world.kube.delete("Node", "node-1")
    world.wait(lambda: routes(world) == wanted([2, 3]), "the route to go")


def test_still_missing_at_the_second_look(world):
    begin(world, 3, missing_wait_s=2)
    lose(world, "node-1")
    world.wait(lambda: routes(world) == wanted([2, 3]), "the route to go")
    world.logged("no deletion of it was seen")
    world.wait(lambda: held(world) == 0, "nothing held")


# --- deleted ---

def test_one_node_goes_at_once(world):
    """A scale-down by one costs no question."""
    begin(world, 3, removal_window_s=LONG)
    since = world.cloud.mark()
    world.kube.delete("Node", "node-2")
    world.wait(lambda: routes(world) == wanted([1, 3]), "the route to go")
    world.settled()
    assert world.cloud.actions(since) == ["DeleteRouteEntries"]


def test_many_at_once(world):
    """Half of the table goes, the others are held; whose instance is gone goes nevertheless."""
    begin(world, 10, removal_window_s=LONG)
    for n in (7, 8):
        world.cloud.edit("delete", type="instance", id=f"i-node-{n}")
    since = world.cloud.mark()
    for n in range(2, 11):
        world.kube.delete("Node", f"node-{n}")
    world.wait(lambda: held(world) > 0, "held routes")
    world.settled()
    left = routes(world)
    assert len(left) == 10 - 2 - 4 or len(left) == 10 - 2 - 5, left  # the share is that of 8, or of 10
    assert not {"10.96.7.0/24", "10.96.8.0/24"} & set(left) and "10.96.1.0/24" in left
    assert held(world) == len(left) - 1
    assert world.cloud.actions(since).count("DescribeInstances") >= 1
    assert any(kind == "Warning" and reason == "RemovalsHeld" for kind, reason, _ in told(world))


def test_rights_that_show_no_instances_prove_nothing(world):
    begin(world, 4, removal_window_s=LONG)
    world.cloud.fault("DescribeInstances", count=100, http=403, code="Forbidden.RAM", message="not authorized")
    for n in range(1, 5):
        world.kube.delete("Node", f"node-{n}")
    world.wait(lambda: held(world) > 0, "held routes")
    world.settled()
    assert len(routes(world)) == 2 and held(world) == 2


def test_part_of_an_answer_proves_nothing(world):
    begin(world, 4, removal_window_s=LONG)
    part = {"RequestId": "r", "TotalCount": 4, "Instances": {"Instance": [{"InstanceId": "i-node-1"}]}}
    world.cloud.fault("DescribeInstances", count=100, http=200, body=json.dumps(part))
    for n in range(2, 5):
        world.kube.delete("Node", f"node-{n}")
    world.wait(lambda: held(world) > 0, "held routes")
    world.settled()
    assert len(routes(world)) == 2 and held(world) == 1


def test_small_tables_one_at_a_time(world):
    begin(world, 3, removal_window_s=LONG)
    world.kube.delete("Node", "node-1")
    world.wait(lambda: routes(world) == wanted([2, 3]), "the first")
    world.kube.delete("Node", "node-2")
    world.wait(lambda: held(world) == 1, "the second is held")
    world.settled()
    assert routes(world) == wanted([2, 3])


def test_held_ones_go_by_and_by(world):
    begin(world, 3, removal_window_s=2)
    for n in (1, 2, 3):
        world.kube.delete("Node", f"node-{n}")
    world.wait(lambda: held(world) > 0, "held routes")
    world.wait(lambda: routes(world) == {}, "all to go", timeout=30)
    world.wait(lambda: held(world) == 0, "nothing held")


def test_one_by_one_within_the_window(world):
    """The window adds up what goes one after the other."""
    begin(world, 8, removal_window_s=LONG)
    for n in range(1, 5):
        world.kube.delete("Node", f"node-{n}")
        world.wait(lambda n=n: f"10.96.{n}.0/24" not in routes(world), "its route to go")
    for n in (5, 6):
        world.kube.delete("Node", f"node-{n}")
    world.wait(lambda: held(world) == 2, "the others are held")
    world.settled()
    assert routes(world) == wanted([5, 6, 7, 8])


def test_changed_nodes_are_obeyed(world):
    """What a node that is there wants no more goes at once, whatever went before."""
    begin(world, 3, removal_window_s=LONG)
    world.kube.delete("Node", "node-1")
    world.wait(lambda: routes(world) == wanted([2, 3]), "the first")
    for n in (2, 3):
        world.kube.delete("Node", f"node-{n}")
        world.kube.create(node(f"node-{n}", cidr=f"10.97.{n}.0/24"))
    world.wait(lambda: routes(world) == {f"10.97.{n}.0/24": f"i-node-{n}" for n in (2, 3)}, "the new routes alone")
    assert held(world) == 0


def test_restart_in_between(world):
    """What a restart finds in the table without a node follows the rule of orphans."""
    begin(world, 3, removal_window_s=LONG, period_s=1)
    for n in (1, 2):
        world.kube.delete("Node", f"node-{n}")
    world.wait(lambda: held(world) == 1, "a held route")
    world.stop_ccmd()
    world.start_ccmd()
    world.wait(lambda: any(reason == "OrphanRoutes" for _, reason, _ in told(world)), "the orphans", timeout=30)
    world.settled()
    assert len(routes(world)) == 2 and len(deletions(world)) == 1


# --- the word of an operator ---

TOKEN = "a-token-of-the-operator-0123456789"


def with_control(world, tmp_path, mode=0o600, **options):
    """Configuration with an admin server that takes orders."""
    path = tmp_path / "control"
    path.write_text(TOKEN + "\n")
    path.chmod(mode)
    text = " ".join(f"{key} = {value};" for key, value in {"cluster_cidr": f'"{CLUSTER_CIDR}"', **options}.items())
    world.config = world.write_config(
        plugins=f'{{ name = "route"; {text} }}',
        extra=f'admin: {{ listen = "127.0.0.1:{proc.free_port()}"; control_token_file = "{path}"; }};')
    world.kube.create(*[node(f"node-{n}") for n in (1, 2, 3)])
    world.start_ccmd()
    world.wait(lambda: routes(world) == wanted([1, 2, 3]), "the routes")
    world.settled()


def allow(world, plugin="route"):
    return proc.run([world.binary("ccmd"), "allow-removals", "--config", world.config, plugin], timeout=60)


def post(world, token=None, query="?plugin=route", method="POST"):
    request = urllib.request.Request(world.admin_base() + "/allow-removals" + query, method=method)
    if token is not None:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_allow_removals(world, tmp_path):
    """What is deleted and held, and what is missing and waits: both go at once."""
    with_control(world, tmp_path, removal_window_s=LONG, missing_wait_s=LONG)
    lose(world, "node-1")
    for n in (2, 3):
        world.kube.delete("Node", f"node-{n}")
    world.wait(lambda: held(world) == 2, "held routes")
    world.settled()
    assert len(routes(world)) == 2
    code, out, err = allow(world)
    assert code == 0, err
    assert out == f"plugin route: what is held may go for {LONG} s: 2 removals\n"
    world.wait(lambda: routes(world) == {}, "all to go")
    world.wait(lambda: held(world) == 0, "nothing held")
    world.logged("an operator lets held removals go")


def test_allowed_for_one_window(world, tmp_path):
    with_control(world, tmp_path, removal_window_s=2)
    assert allow(world)[0] == 0
    for n in (1, 2):
        world.kube.delete("Node", f"node-{n}")
    world.wait(lambda: routes(world) == wanted([3]), "both to go")


def test_who_may_allow(world, tmp_path):
    with_control(world, tmp_path, removal_window_s=LONG)
    assert post(world) == 401 and post(world, "x" * len(TOKEN)) == 401 and post(world, TOKEN, method="GET") == 405
    assert post(world, TOKEN, "?plugin=other") == 404 and post(world, TOKEN, "") == 400
    assert post(world, TOKEN) == 200
    code, _, err = allow(world, "other")
    assert code == 1 and "there is no plugin other" in err
    assert allow(world, "../x")[0] == 2
    (tmp_path / "control").chmod(0o644)
    assert post(world, TOKEN) == 403
    code, _, err = allow(world)
    assert code == 1 and "nobody else may read or write" in err
    assert TOKEN not in world.log()


def test_nobody_may_allow_by_default(world):
    begin(world, 1)
    assert post(world, TOKEN) == 403
    code, _, err = allow(world)
    assert code == 1 and "admin.control_token_file has to be set" in err
