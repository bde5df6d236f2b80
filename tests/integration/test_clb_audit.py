"""What nobody tells ccmd: changes behind its back, found after a restart or by the slow second look."""

import collections
import re
import time

import pytest

from tests.support import objects, views

PORTS = ((80, "TCP"), (443, "TCP"))
PREFIX = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
CONDITION = "ccm.alibabacloud.com/LoadBalancerReady"


def configure(world, options, **more):
    world.config = world.write_config(plugins='{ name = "clb"; workers = 4; ' + options + " }", **more)


def complete(world, name="web", ports=PORTS):
    return views.complete(lb_of(world, name), ports) and world.kube.ingress(name)


def lb_of(world, name):
    uid = world.kube.get("Service", name)["metadata"]["uid"]
    own = ("a" + uid.replace("-", ""))[:32]
    found = [lb for lb in world.cloud.load_balancers() if lb["LoadBalancerName"] == own]
    assert len(found) <= 1
    return found[0] if found else None


def begin(world, options, nodes=3, names=("web",), **more):
    configure(world, options, **more)
    views.nodes(world, nodes)
    world.start_ccmd()
    world.kube.create(*[objects.service(name, PORTS) for name in names])
    for name in names:
        world.wait(lambda n=name: complete(world, n), f"the load balancer of {name}")


def repaired(world, name="web"):
    return [message for kind, reason, message, _ in world.kube.events(name)
            if (kind, reason) == ("Normal", "DriftRepaired")]


# --- the second look ---


@pytest.fixture
def audited(world):
    begin(world, "audit_interval_s = 1;")
    return world


def rounds(world, since):
    """Completed looks since then: each one asks for both groups."""
    return collections.Counter(world.cloud.actions(since))["DescribeVServerGroupAttribute"] // 2


def test_nothing_differs(audited):
    since, kube = audited.cloud.mark(), audited.kube.mark()
    audited.wait(lambda: rounds(audited, since) >= 3, "three looks")
    assert {a for a in audited.cloud.actions(since) if not a.startswith("Describe")} == set()
    assert [a for a in audited.kube.actions(kube) if a.startswith("PATCH")] == []
    assert repaired(audited) == []


@pytest.mark.time_scale(200)  # half an hour is 9 s
def test_source_ranges_that_are_not_done_are_told_again_and_again(world):
    """Events expire, and what they say goes on."""
    begin(world, "audit_interval_s = 600;")
    audited = world
    audited.settled()
    since = audited.cloud.mark()
    audited.kube.patch("Service", "web", {"spec": {"loadBalancerSourceRanges": ["10.0.0.0/8"]}})
    audited.wait(lambda: [count for kind, reason, message, count in audited.kube.events("web")
                          if (kind, reason) == ("Warning", "UnsupportedField") and "loadBalancerSourceRanges" in message and count >= 2],
                 "it to be told again", timeout=7200)
    assert [a for a in audited.cloud.actions(since) if not a.startswith("Describe")] == []
    audited.kube.patch("Service", "web", {"spec": {"loadBalancerSourceRanges": None}})
    audited.settled()
    told, since = audited.kube.events("web"), audited.cloud.mark()
    audited.wait(lambda: rounds(audited, since) >= 2, "two looks", timeout=7200)
    assert audited.kube.events("web") == told


def test_deleted_listener(audited):
    lb = views.only_lb(audited)["LoadBalancerId"]
    audited.cloud.edit("delete", type="listener", load_balancer=lb, port=443, protocol="tcp")
    audited.wait(lambda: complete(audited), "the listener")
    audited.wait(lambda: repaired(audited), "the event")
    assert repaired(audited) == [
        f"Load balancer [{lb}] had been changed by somebody else and was repaired: "
        "create listener 443/tcp, start listener 443/tcp"]


def test_changed_weight(audited):
    group = views.only_lb(audited)["VServerGroups"][0]
    backend = group["BackendServers"][0]
    since = audited.cloud.mark()
    audited.cloud.edit("update", type="backend", vserver_group=group["VServerGroupId"], server_id=backend["ServerId"],
                       port=int(backend["Port"]), attributes={"Weight": "1"})
    audited.wait(lambda: {w for _, _, w in set().union(*views.groups(views.only_lb(audited)).values())} == {100},
                 "the weight")
    audited.wait(lambda: repaired(audited), "the event")
    assert len(repaired(audited)) == 1 and "set weights" in repaired(audited)[0]
    assert [a for a in audited.cloud.actions(since) if not a.startswith("Describe")] == ["SetVServerGroupAttribute"]


def test_deleted_load_balancer_is_told(audited):
    """It is not made again behind the back of whoever deleted it, but it is said."""
    audited.cloud.edit("delete", type="loadbalancer", id=views.only_lb(audited)["LoadBalancerId"])
    audited.wait(lambda: any(kind == "Warning" and "can not find loadbalancer" in message
                             for kind, _, message, _ in audited.kube.events("web")), "the warning")
    assert views.only_lb(audited) is None


def test_failed_read_is_no_drift(audited):
    """A look that fails writes nothing, and a later one finds everything as it was."""
    since = audited.cloud.mark()
    audited.cloud.fault("DescribeVServerGroups", count=2, code="InternalError", http=500)
    audited.wait(lambda: rounds(audited, since) >= 2, "looks that work again")
    assert {a for a in audited.cloud.actions(since) if not a.startswith("Describe")} == set()
    assert complete(audited)


def test_off(world):
    begin(world, "audit_interval_s = 0;")
    world.settled()
    since = world.cloud.mark()
    deadline = time.monotonic() + 2.5
    world.wait(lambda: time.monotonic() > deadline, "more than two intervals of the other tests")
    assert world.cloud.actions(since) == []


# --- the inventory at start ---

NAMES = ("one", "two", "three")


@pytest.fixture
def stopped(world):
    """Three finished Services, and no ccmd."""
    begin(world, "", names=NAMES)
    world.settled()
    world.stop_ccmd()
    return world


def restart(world):
    since = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: world.cloud.actions(since), "the first call")
    world.settled()
    return world.cloud.actions(since)


def test_inventory(stopped):
    assert collections.Counter(restart(stopped)) == {
        "DescribeLoadBalancers": 1, "DescribeLoadBalancerListeners": 1, "DescribeVServerGroups": 3,
        "DescribeVServerGroupAttribute": 6}


def test_inventory_finds_drift(stopped):
    lb = lb_of(stopped, "two")["LoadBalancerId"]
    stopped.cloud.edit("delete", type="listener", load_balancer=lb, port=443, protocol="tcp")
    restart(stopped)
    stopped.wait(lambda: all(complete(stopped, name) for name in NAMES), "all listeners")


def test_lost_cluster_tag_is_looked_up(stopped):
    lb = lb_of(stopped, "two")["LoadBalancerId"]
    stopped.cloud.edit("update", type="loadbalancer", id=lb, tags={"ack.aliyun.com": None})
    actions = collections.Counter(restart(stopped))
    assert actions["DescribeLoadBalancers"] == 2  # the page, and that one by its own tag
    assert "CreateLoadBalancer" not in actions
    assert len(stopped.cloud.load_balancers()) == 3


@pytest.mark.parametrize("action", ("DescribeLoadBalancers", "DescribeLoadBalancerListeners"))
def test_failed_inventory_is_only_slow(stopped, action):
    """Refused for good: every Service looks for itself, nothing is made twice."""
    stopped.cloud.fault(action, count=1, code="Forbidden.RAM", http=403)
    actions = collections.Counter(restart(stopped))
    assert "CreateLoadBalancer" not in actions and "CreateVServerGroup" not in actions
    assert actions[action] == 1 + len(NAMES)
    assert len(stopped.cloud.load_balancers()) == 3
    stopped.logged("inventory of load balancers is not complete")


def test_a_tag_of_two_load_balancers(stopped):
    """The inventory says which two; the Service is told, and goes on with the one that its label names. The others do not
    suffer."""
    owner = lb_of(stopped, "two")
    other = stopped.cloud.edit("call", product="slb", action="CreateLoadBalancer", params={
        "AddressType": "internet", "InstanceChargeType": "PayByCLCU", "LoadBalancerName": "copy",
        **{f"Tag.{n}.{part}": text for n, (key, value) in enumerate(owner["Tags"].items(), 1)
           for part, text in (("Key", key), ("Value", value))}})["answer"]["LoadBalancerId"]
    before = stopped.cloud.load_balancers()
    actions = restart(stopped)
    assert [action for action in actions if not action.startswith("Describe")] == []
    ids = f"({owner['LoadBalancerId']} and {other}|{other} and {owner['LoadBalancerId']})"
    assert re.search(rf"inventory: load balancers {ids} carry the same tag kubernetes.do.not.delete="
                     rf"{owner['LoadBalancerName']}: only one of them can be the Service's", stopped.log())
    stopped.wait(lambda: any(reason == "DuplicateLoadBalancer" and other in message
                             for _, reason, message, _ in stopped.kube.events("two")), "the warning")
    assert stopped.cloud.load_balancers() == before
    assert [e for name in ("one", "three") for e in stopped.kube.events(name) if e[0] == "Warning"] == []

    stopped.kube.delete("Service", "two")
    stopped.wait(lambda: stopped.kube.get("Service", "two") is None, "deletion", 30)
    left = {lb["LoadBalancerId"] for lb in stopped.cloud.load_balancers()}
    assert other in left and owner["LoadBalancerId"] not in left and len(left) == 3


def test_new_service_pays_nothing(stopped):
    restart(stopped)
    since = stopped.cloud.mark()
    stopped.kube.create(objects.service("four", PORTS))
    stopped.wait(lambda: complete(stopped, "four"), "the fourth")
    stopped.settled()
    assert len(stopped.cloud.actions(since)) == 8


# --- what the status says ---


def condition(world, name="web"):
    status = world.kube.get("Service", name).get("status", {})
    found = [c for c in status.get("conditions", []) if c["type"] == CONDITION]
    return found[0] if found else None


def test_condition(world):
    begin(world, "")
    world.wait(lambda: condition(world), "the condition")
    first = condition(world)
    assert (first["status"], first["reason"]) == ("True", "Ready")
    world.settled()
    mark = world.kube.mark()
    views.nodes(world, 1, first=4)
    world.wait(lambda: all(len(servers) == 4 for servers in views.backends(views.only_lb(world))), "the fourth node")
    world.settled()
    assert [a for a in world.kube.actions(mark) if a.startswith("PATCH") and "/services/web" in a] == []
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "scheduler": "nonsense"}}})
    world.wait(lambda: condition(world)["status"] == "False", "the failure")
    assert condition(world)["reason"] == "Refused" and "scheduler" in condition(world)["message"]
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "scheduler": None}}})
    world.wait(lambda: condition(world)["status"] == "True", "the recovery")
    world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP"}})
    world.wait(lambda: "finalizers" not in world.kube.get("Service", "web")["metadata"], "the release")
    assert condition(world) is None


def writes(world, mark):
    return [action for action in world.kube.actions(mark) if action.startswith("PATCH") and action.endswith("/services/web/status")]


def test_condition_tells_all_and_once(world):
    """Code, request, remedy and when it is tried again; the same refusal again and again is one write, also after a restart."""
    configure(world, "")
    views.nodes(world, 1)
    world.cloud.fault("CreateLoadBalancer", count=100, code="Forbidden.RAM", http=403)
    world.start_ccmd()
    mark = world.kube.mark()
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: condition(world), "the condition")
    assert (condition(world)["status"], condition(world)["reason"]) == ("False", "NotAllowed")
    for words in ("Forbidden.RAM", "RequestId", "Grant the action", "Tried again within", "(as of 20"):
        assert words in condition(world)["message"]
    for again in range(2):
        world.settled()
        tried = world.cloud.mark()
        if again:
            world.kill_ccmd()
            world.start_ccmd()
        else:
            world.kube.patch("Service", "web", {"metadata": {"annotations": {"looked-at": "now"}}})
        world.wait(lambda: "CreateLoadBalancer" in world.cloud.actions(tried), "another try")
        world.settled()
        assert len(writes(world, mark)) == 1


def test_one_write_of_the_status(world):
    """Address, labels and condition of a new Service are one patch."""
    configure(world, "")
    views.nodes(world, 1)
    world.start_ccmd()
    mark = world.kube.mark()
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: condition(world), "the condition")
    world.settled()
    assert world.kube.ingress("web") and condition(world)["status"] == "True"
    assert len(writes(world, mark)) == 1


def test_condition_of_a_service_that_is_well_comes_later(world):
    """One that was complete before gets it with the next second look, or change: nothing is written at the start."""
    begin(world, "service_conditions = false;")
    world.wait(lambda: world.kube.ingress("web"), "an address")
    world.settled()
    world.stop_ccmd()
    configure(world, "")
    mark = world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: "DescribeLoadBalancers" in world.cloud.actions(), "the first look")
    world.settled()
    assert not writes(world, mark) and condition(world) is None
    views.nodes(world, 1, first=4)
    world.wait(lambda: condition(world), "the condition")
    world.settled()
    assert len(writes(world, mark)) == 1


def test_condition_goes_when_switched_off(world):
    begin(world, "")
    world.wait(lambda: condition(world), "the condition")
    world.stop_ccmd()
    configure(world, "service_conditions = false;")
    world.start_ccmd()
    world.wait(lambda: condition(world) is None, "its end")


def test_no_condition_when_switched_off(world):
    begin(world, "service_conditions = false;")
    world.settled()
    assert condition(world) is None


def test_ip_mode(world):
    begin(world, 'status_ip_mode = "Proxy";')
    world.settled()
    assert [entry.get("ipMode") for entry in world.kube.ingress("web")] == ["Proxy"]


def test_request_id_is_told_once(world):
    """One log line of a failing Service names each request once."""
    configure(world, "")
    world.kube.create(objects.node("node-1", "i-0001"))
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: "retry in" in world.log() and "RequestId" in world.log(), "the failure in the log")
    for line in world.log().splitlines():
        if "retry in" in line:
            assert " (request " not in line, line
            ids = re.findall("[0-9A-F]{8}-[0-9A-F-]{27}", line)
            assert ids and len(ids) == len(set(ids)), line
