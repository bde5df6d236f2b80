"""How many calls each situation costs with NLB, counted exactly in the log of the cloud."""

import collections

import pytest

from tests.support import objects, views
from tests.support.products import Nlb

NLB = Nlb()
PORTS = ((80, "TCP"), (443, "TCP"))
CONFIRMED = {"GetLoadBalancerAttribute": 1}  # a success is reported only once the load balancer was seen: its groups outlive it
POLLS = ("ListAsynJobs", "GetJobStatus")


def ready_with(world, service, *more):
    NLB.configure(world)
    views.nodes(world, 3)
    world.kube.create(service, *more)
    world.start_ccmd()
    world.wait(lambda: NLB.complete(NLB.only(world), PORTS) and world.kube.ingress("web"), "the load balancer")
    world.settled()
    return world


@pytest.fixture
def ready(world):
    """A world with a two-port Cluster Service on three nodes, at rest."""
    return ready_with(world, NLB.new("web", PORTS))


def changes(world, since):
    """(calls that are no polls, number of polls)"""
    counts = collections.Counter(world.cloud.actions(since))
    polls = sum(counts.pop(action, 0) for action in POLLS)
    return counts, polls


def test_creation(ready):
    counts, polls = changes(ready, 0)
    assert counts == {"ListLoadBalancers": 1, "CreateLoadBalancer": 1, "GetLoadBalancerAttribute": 1, "CreateServerGroup": 2,
                      "AddServersToServerGroup": 2, "CreateListener": 2}
    assert sum(counts.values()) + polls <= 12, (counts, polls)


def test_creation_writes_to_the_api_server(ready):
    writes = [a for a in ready.kube.actions() if a.split()[0] == "PATCH" and "/services/web" in a]
    assert len(writes) <= 2, writes  # finalizer; labels with status


def test_no_op_event(ready):
    since = ready.cloud.mark()
    service = ready.kube.get("Service", "web")
    ready.kube.patch("Service", "web", {"metadata": {"labels": {"color": "green"}}})
    ready.kube.create(objects.endpoint_slice(service, [("10.1.0.1", "node-1")]))
    ready.settled()
    assert ready.cloud.actions(since) == []


def test_edit_by_a_person(ready):
    """Any annotation: what the cloud holds is read, once in ten seconds."""
    look = ["ListLoadBalancers", "ListListeners", "ListServerGroups"] + 2 * ["ListServerGroupServers"]
    since = ready.cloud.mark()
    ready.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/note": "x"}}})
    ready.settled()
    assert ready.cloud.actions(since) == look
    ready.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/note": "y"}}})
    ready.wait(lambda: len(ready.cloud.actions(since)) > 5, "the look that the second edit is due", timeout=30)
    ready.settled()
    assert ready.cloud.actions(since) == 2 * look


def test_node_added_and_removed(ready):
    since = ready.cloud.mark()
    views.nodes(ready, 1, first=4)
    ready.wait(lambda: all(len(g["servers"]) == 4 for g in NLB.only(ready)["Groups"]), "four servers")
    ready.settled()
    counts, polls = changes(ready, since)
    assert counts == {"AddServersToServerGroup": 2, **CONFIRMED} and polls == 1, (counts, polls)
    since = ready.cloud.mark()
    ready.kube.delete("Node", "node-4")
    ready.wait(lambda: all(len(g["servers"]) == 3 for g in NLB.only(ready)["Groups"]), "three servers")
    ready.settled()
    counts, polls = changes(ready, since)
    assert counts == {"RemoveServersFromServerGroup": 2, **CONFIRMED} and polls == 1, (counts, polls)


def test_weight_change(world):
    service = NLB.new("web", PORTS, policy="Local")
    slice_ = objects.endpoint_slice(service, [("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")])
    ready_with(world, service, slice_)
    since = world.cloud.mark()
    slice_["endpoints"].append(dict(slice_["endpoints"][0], addresses=["10.1.0.3"]))
    world.kube.replace(slice_)
    world.wait(lambda: all(("node-1", p, 2) in g["servers"] for g in NLB.only(world)["Groups"] for p in [g["servers"][0][1]]),
               "the weights")
    world.settled()
    counts, polls = changes(world, since)
    assert counts == {"UpdateServerGroupServersAttribute": 2, **CONFIRMED} and polls == 1, (counts, polls)


def test_pod_replaced_in_eni_mode(world):
    service = NLB.new("web", PORTS, annotations={"service.beta.kubernetes.io/backend-type": "eni"})
    slice_ = objects.endpoint_slice(service, [("10.1.1.1", "node-1"), ("10.1.1.2", "node-1")])
    ready_with(world, service, slice_)
    since = world.cloud.mark()
    slice_["endpoints"][0]["addresses"] = ["10.1.1.3"]
    world.kube.replace(slice_)
    wanted = ["10.1.1.2", "10.1.1.3"]
    world.wait(lambda: all(sorted(s[0] for s in g["servers"]) == wanted for g in NLB.only(world)["Groups"]), "the new pod")
    world.settled()
    counts, polls = changes(world, since)
    assert counts == {"DescribeNetworkInterfaces": 1, "AddServersToServerGroup": 2, "RemoveServersFromServerGroup": 2, **CONFIRMED}
    assert polls <= 2, polls


def test_managed_delete(ready):
    since = ready.cloud.mark()
    service = ready.kube.get("Service", "web")
    ready.kube.delete("Service", "web")
    ready.wait(lambda: ready.kube.get("Service", "web") is None, "deletion")
    ready.settled()
    counts, polls = changes(ready, since)
    assert counts == {"ListLoadBalancers": 1,  # whose it is by now, and whether a copy carries its tag
                      "UpdateLoadBalancerProtection": 1, "DeleteLoadBalancer": 1, "DeleteServerGroup": 2}
    assert sum(counts.values()) + polls <= 7, (counts, polls)
    assert NLB.find(ready) == []
    assert NLB.left(ready.cloud.state(), service) == []


def test_ranges_cost_what_they_must(world):
    ready_with(world, NLB.new("web", PORTS, loadBalancerSourceRanges=["10.0.0.0/8"]))
    counts, _ = changes(world, 0)
    assert {a: n for a, n in counts.items() if "SecurityGroup" in a} == {
        "CreateSecurityGroup": 1, "AuthorizeSecurityGroup": 1, "LoadBalancerJoinSecurityGroup": 1,
        **{a: n for a, n in counts.items() if a.startswith("DescribeSecurityGroup")}}
    assert counts["DescribeSecurityGroups"] <= 1
