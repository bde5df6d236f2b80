"""How many calls each situation costs, counted exactly in the log of the cloud."""

import pytest

from tests.support import objects, views

PORTS = ((80, "TCP"), (443, "TCP"))


@pytest.fixture
def ready(world):
    """A world with a two-port Cluster Service on three nodes, at rest."""
    views.nodes(world, 3)
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: views.complete(views.only_lb(world), PORTS) and world.kube.ingress("web"), "the load balancer")
    world.settled()
    return world


def test_creation(ready):
    assert ready.cloud.actions() == [
        "DescribeLoadBalancers",
        "CreateLoadBalancer",
    ] + ready.cloud.actions()[2:]
    assert sorted(ready.cloud.actions()[2:]) == sorted(
        2 * ["CreateVServerGroup", "CreateLoadBalancerTCPListener", "StartLoadBalancerListener"]
    )


def test_creation_writes_to_the_api_server(ready):
    writes = [a for a in ready.kube.actions() if a.split()[0] == "PATCH" and "/services/web" in a]
    assert len(writes) <= 3, writes  # finalizer, labels, status


def test_no_op_event(ready):
    since = ready.cloud.mark()
    service = ready.kube.get("Service", "web")
    # neither labels of the Service nor endpoints of a Cluster Service mean anything to the load balancer
    ready.kube.patch("Service", "web", {"metadata": {"labels": {"color": "green"}}})
    ready.kube.create(objects.endpoint_slice(service, [("10.1.0.1", "node-1")]))
    ready.settled()
    assert ready.cloud.actions(since) == []


LOOK = ["DescribeLoadBalancers", "DescribeLoadBalancerListeners", "DescribeVServerGroups"]


def test_edit_by_a_person(ready):
    """Any annotation: what the cloud holds is read, once in ten seconds."""
    groups = len(PORTS) * ["DescribeVServerGroupAttribute"]
    since = ready.cloud.mark()
    ready.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/note": "x"}}})
    ready.settled()
    assert ready.cloud.actions(since) == LOOK + groups
    ready.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/note": "y"}}})
    ready.wait(lambda: len(ready.cloud.actions(since)) > 5, "the look that the second edit is due", timeout=30)
    ready.settled()
    assert ready.cloud.actions(since) == 2 * (LOOK + groups)


def test_node_added(ready):
    since = ready.cloud.mark()
    views.nodes(ready, 1, first=4)
    ready.wait(lambda: len(ready.cloud.actions(since)) >= 2, "the writes")
    ready.settled()
    assert ready.cloud.actions(since) == 2 * ["AddVServerGroupBackendServers"]
    assert all(len(servers) == 4 for servers in views.backends(views.only_lb(ready)))


def test_node_with_another_address(ready):
    """Servers are instances here: a pass, and no call."""
    since = ready.cloud.mark()
    status = {"addresses": [{"type": "InternalIP", "address": "10.0.0.9"}]}
    ready.kube.patch("Node", "node-1", {"status": status}, subresource="status")
    ready.settled()
    assert ready.cloud.actions(since) == []


def test_many_nodes_are_coalesced(ready):
    since = ready.cloud.mark()
    ready.kube.create(*[objects.node(f"node-{n}", f"i-node-{n}") for n in (4, 5)])
    ready.wait(lambda: all(len(s) == 5 for s in views.backends(views.only_lb(ready))), "five backends")
    ready.settled()
    assert 2 <= len(ready.cloud.actions(since)) <= 4


def test_weight_change(world):
    views.nodes(world, 2)
    service = objects.service("web", PORTS, policy="Local")
    slice_ = objects.endpoint_slice(service, [("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")])
    world.kube.create(service, slice_)
    world.start_ccmd()
    world.wait(lambda: views.complete(views.only_lb(world), PORTS) and world.kube.ingress("web"), "the load balancer")
    world.settled()
    since = world.cloud.mark()
    slice_["endpoints"].append(dict(slice_["endpoints"][0], addresses=["10.1.0.3"]))
    world.kube.replace(slice_)
    world.wait(lambda: len(world.cloud.actions(since)) >= 2, "the writes")
    world.settled()
    assert world.cloud.actions(since) == 2 * ["SetVServerGroupAttribute"]


def test_pod_replaced_in_eni_mode(world):
    addresses = ["10.1.0.1", "10.1.0.2", "10.1.0.3"]
    world.cloud.http.request("POST", "/_sim/instances", {
        "enis": [{"id": f"eni-{a[-1]}", "ip": a, "instance": "i-node-1"} for a in addresses]})
    service = objects.service("web", PORTS, annotations={"service.beta.kubernetes.io/backend-type": "eni"})
    slice_ = objects.endpoint_slice(service, [(a, "node-1") for a in addresses[:2]])
    world.kube.create(service, slice_)
    world.start_ccmd()
    world.wait(lambda: views.complete(views.only_lb(world), PORTS) and world.kube.ingress("web"), "the load balancer")
    world.settled()
    since = world.cloud.mark()
    slice_["endpoints"][0]["addresses"] = ["10.1.0.3"]
    world.kube.replace(slice_)
    world.wait(lambda: all("10.1.0.3" in s and len(s) == 2 for s in views.backends(views.only_lb(world))), "the new pod")
    world.settled()
    assert sorted(world.cloud.actions(since)) == [
        "AddVServerGroupBackendServers",
        "AddVServerGroupBackendServers",
        "DescribeNetworkInterfaces",
        "RemoveVServerGroupBackendServers",
        "RemoveVServerGroupBackendServers",
    ]


def test_managed_delete(ready):
    since = ready.cloud.mark()
    ready.kube.delete("Service", "web")
    ready.wait(lambda: ready.kube.get("Service", "web") is None, "deletion")
    ready.settled()
    assert ready.cloud.actions(since) == ["DescribeLoadBalancers",  # whose it is by now, and whether a copy carries its tag
                                          "SetLoadBalancerDeleteProtection", "DeleteLoadBalancer"]
    assert ready.cloud.load_balancers() == []
