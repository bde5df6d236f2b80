"""How many calls each situation costs, counted exactly in the log of the cloud."""

import collections

import pytest

from tests.support import objects, views
from tests.support.products import Clb, Nlb

PORTS = ((80, "TCP"), (443, "TCP"))
POLLS = ("ListAsynJobs", "GetJobStatus")
CONFIRMED = {"GetLoadBalancerAttribute": 1}  # a success is reported only once the load balancer was seen: its groups outlive it
PLACES = ("10.1.1.1", "10.1.1.2", "10.1.1.3")  # of pods that have network interfaces

# Calls without polls, and at most so many of these.
COSTS = {
    "clb": {
        "creation": ({"DescribeLoadBalancers": 1, "CreateLoadBalancer": 1, "CreateVServerGroup": 2, "CreateLoadBalancerTCPListener": 2,
                      "StartLoadBalancerListener": 2}, 0),
        "backends added": ({"AddVServerGroupBackendServers": 2}, 0),
        "backends removed": ({"RemoveVServerGroupBackendServers": 2}, 0),
        "weights changed": ({"SetVServerGroupAttribute": 2}, 0),
        "a pod replaced": ({"DescribeNetworkInterfaces": 1, "AddVServerGroupBackendServers": 2, "RemoveVServerGroupBackendServers": 2}, 0),
        "deletion": ({"DescribeLoadBalancers": 1,  # whose it is by now, and whether a copy carries its tag
                      "SetLoadBalancerDeleteProtection": 1, "DeleteLoadBalancer": 1}, 0),
    },
    "nlb": {
        "creation": ({"ListLoadBalancers": 1, "CreateLoadBalancer": 1, "GetLoadBalancerAttribute": 1, "CreateServerGroup": 2,
                      "AddServersToServerGroup": 2, "CreateListener": 2}, 3),
        "backends added": ({"AddServersToServerGroup": 2, **CONFIRMED}, 1),
        "backends removed": ({"RemoveServersFromServerGroup": 2, **CONFIRMED}, 1),
        "weights changed": ({"UpdateServerGroupServersAttribute": 2, **CONFIRMED}, 1),
        "a pod replaced": ({"DescribeNetworkInterfaces": 1, "AddServersToServerGroup": 2, "RemoveServersFromServerGroup": 2, **CONFIRMED}, 2),
        "deletion": ({"ListLoadBalancers": 1,  # the same
                      "UpdateLoadBalancerProtection": 1, "DeleteLoadBalancer": 1, "DeleteServerGroup": 2}, 2),
    },
}
LOOKS = {"clb": ["DescribeLoadBalancers", "DescribeLoadBalancerListeners", "DescribeVServerGroups"] + 2 * ["DescribeVServerGroupAttribute"],
         "nlb": ["ListLoadBalancers", "ListListeners", "ListServerGroups"] + 2 * ["ListServerGroupServers"]}
WRITES = {"clb": 3, "nlb": 2}  # to the API server: finalizer, labels, status; the last two together


@pytest.fixture(params=[Clb(), Nlb()], ids=["clb", "nlb"])
def product(request):
    return request.param


def serve(world, product, service, *more):
    """The Service on three nodes, at rest."""
    product.configure(world)
    views.nodes(world, 3)
    world.kube.create(service, *more)
    world.start_ccmd()
    world.wait(lambda: product.complete(product.only(world), PORTS) and world.kube.ingress("web"), "the load balancer")
    world.settled()


@pytest.fixture
def ready(world, product):
    """A world with a two-port Cluster Service."""
    serve(world, product, product.new("web", PORTS))
    return world


def costs(world, product, situation, since=0):
    """Once the world is at rest."""
    world.settled()
    counts = collections.Counter(world.cloud.actions(since))
    polls = sum(counts.pop(action, 0) for action in POLLS)
    calls, most = COSTS[product.name][situation]
    assert counts == calls and min(most, 1) <= polls <= most, (counts, polls)


def members(world, product):
    """Of each group: (server, weight)."""
    return [sorted((server, weight) for server, _, weight in group["servers"]) for group in product.only(world)["Groups"]]


def test_creation(ready, product):
    costs(ready, product, "creation")
    assert ready.cloud.actions()[:2] == [LOOKS[product.name][0], "CreateLoadBalancer"]
    writes = [a for a in ready.kube.actions() if a.split()[0] == "PATCH" and "/services/web" in a]
    assert len(writes) <= WRITES[product.name], writes


def test_no_op_event(ready):
    since = ready.cloud.mark()
    service = ready.kube.get("Service", "web")
    # neither labels of the Service nor endpoints of a Cluster Service mean anything to the load balancer
    ready.kube.patch("Service", "web", {"metadata": {"labels": {"color": "green"}}})
    ready.kube.create(objects.endpoint_slice(service, [("10.1.0.1", "node-1")]))
    ready.settled()
    assert ready.cloud.actions(since) == []


@pytest.mark.time_scale(5)
def test_edit_by_a_person(ready, product):
    """Any annotation: what the cloud holds is read, once in ten seconds."""
    since = ready.cloud.mark()
    ready.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/note": "x"}}})
    ready.settled()
    assert ready.cloud.actions(since) == LOOKS[product.name]
    ready.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/note": "y"}}})
    ready.wait(lambda: len(ready.cloud.actions(since)) > 5, "the look that the second edit is due", timeout=30)
    ready.settled()
    first, second = [call["t"] for call in ready.cloud.calls(since)][::5]
    assert ready.cloud.actions(since) == 2 * LOOKS[product.name] and second - first > 5


def test_node_added_and_removed(ready, product):
    since = ready.cloud.mark()
    views.nodes(ready, 1, first=4)
    ready.wait(lambda: [len(group) for group in members(ready, product)] == [4, 4], "four backends")
    costs(ready, product, "backends added", since)
    since = ready.cloud.mark()
    ready.kube.delete("Node", "node-4")
    ready.wait(lambda: [len(group) for group in members(ready, product)] == [3, 3], "three backends")
    costs(ready, product, "backends removed", since)


def test_node_with_another_address(ready):
    """Servers are instances here: a pass, and no call."""
    since = ready.cloud.mark()
    status = {"addresses": [{"type": "InternalIP", "address": "10.0.0.9"}]}
    ready.kube.patch("Node", "node-1", {"status": status}, subresource="status")
    ready.settled()
    assert ready.cloud.actions(since) == []


def test_many_nodes_are_coalesced(ready, product):
    since = ready.cloud.mark()
    ready.kube.create(*[objects.node(f"node-{n}", f"i-node-{n}") for n in (4, 5)])
    ready.wait(lambda: [len(group) for group in members(ready, product)] == [5, 5], "five backends")
    ready.settled()
    actions = [action for action in ready.cloud.actions(since) if action not in (*POLLS, *CONFIRMED)]
    assert set(actions) == COSTS[product.name]["backends added"][0].keys() - CONFIRMED and 2 <= len(actions) <= 4, actions


def test_weight_change(world, product):
    service = product.new("web", PORTS, policy="Local")
    slice_ = objects.endpoint_slice(service, [("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")])
    serve(world, product, service, slice_)
    since = world.cloud.mark()
    slice_["endpoints"].append(dict(slice_["endpoints"][0], addresses=["10.1.0.3"]))
    world.kube.replace(slice_)
    world.wait(lambda: members(world, product) == 2 * [[("node-1", 2), ("node-2", 1)]], "the weights")
    costs(world, product, "weights changed", since)


def test_pod_replaced_in_eni_mode(world, product):
    service = product.new("web", PORTS, annotations={"service.beta.kubernetes.io/backend-type": "eni"})
    slice_ = objects.endpoint_slice(service, [(place, "node-1") for place in PLACES[:2]])
    serve(world, product, service, slice_)
    since = world.cloud.mark()
    slice_["endpoints"][0]["addresses"] = [PLACES[2]]
    world.kube.replace(slice_)
    world.wait(lambda: [[name for name, _ in group] for group in members(world, product)] == 2 * [list(PLACES[1:])], "the new pod")
    costs(world, product, "a pod replaced", since)


def test_managed_delete(ready, product):
    since = ready.cloud.mark()
    service = ready.kube.get("Service", "web")
    ready.kube.delete("Service", "web")
    ready.wait(lambda: ready.kube.get("Service", "web") is None, "deletion")
    costs(ready, product, "deletion", since)
    assert ready.cloud.actions(since)[:3] == list(COSTS[product.name]["deletion"][0])[:3]
    assert product.find(ready) == [] and product.left(ready.cloud.state(), service) == []


def test_ranges_cost_what_they_must(world):
    serve(world, Nlb(), Nlb().new("web", PORTS, loadBalancerSourceRanges=["10.0.0.0/8"]))
    counts = collections.Counter(world.cloud.actions())
    assert {a: n for a, n in counts.items() if "SecurityGroup" in a} == {
        "CreateSecurityGroup": 1, "AuthorizeSecurityGroup": 1, "LoadBalancerJoinSecurityGroup": 1,
        **{a: n for a, n in counts.items() if a.startswith("DescribeSecurityGroup")}}
    assert counts["DescribeSecurityGroups"] <= 1
