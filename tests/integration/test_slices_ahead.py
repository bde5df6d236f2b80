"""The watches of Services and of EndpointSlices are not in step: slices that come before their Service are not lost."""

import json

from tests.support import objects, views

PORTS = ((80, "TCP"),)


def slices_are_seen(world):
    known = json.loads(world.admin("/idlez")[1])["caches"]["endpointslices"]["version"]
    return int(known) >= world.kube.http.request("GET", "/_sim/versions")["endpointslices"]


def servers_by_group(world):
    return [sorted(one["ServerId"] for one in group["BackendServers"]) for lb in world.cloud.load_balancers() for group in lb["VServerGroups"]]


def servers(world):
    lb = views.only_lb(world)
    return sorted(one["ServerId"] for group in (lb["VServerGroups"] if lb else []) for one in group["BackendServers"])


def test_services_fall_silent_for_a_while(world):
    """Nobody hears of a Service for less time than a watch may be silent: its backends go on, as it was known, and what was missed is
    made up for."""
    views.nodes(world, 3)
    web = objects.service("web", PORTS, policy="Local")
    slice_ = objects.endpoint_slice(web, [("10.1.1.1", "node-1")])
    world.kube.create(web, slice_)
    world.start_ccmd()
    world.wait(lambda: world.kube.ingress("web"), "an address")
    world.settled()
    world.kube.watches("silence", "services")
    two = objects.service("web", (*PORTS, (443, "TCP")), policy="Local")
    world.kube.patch("Service", "web", {"spec": {"ports": two["spec"]["ports"]}})
    moved = objects.endpoint_slice(two, [("10.1.2.1", "node-2"), ("10.1.3.1", "node-3")])
    world.kube.replace(moved)
    world.wait(lambda: servers(world) == ["i-node-2", "i-node-3"], "the backends of the port that is known")
    world.kube.create(objects.service("new", PORTS))
    world.kube.watches("drop", "services")
    world.wait(lambda: len(servers_by_group(world)) == 3 and all(world.kube.ingress(name) for name in ("web", "new")), "all of it", 30)
    world.settled()
    assert sorted(servers_by_group(world)) == [["i-node-1", "i-node-2", "i-node-3"], ["i-node-2", "i-node-3"], ["i-node-2", "i-node-3"]]
    assert [event for event in world.kube.events() if event[0] == "Warning"] == []


def test_service_that_takes_the_name(world):
    """The slices of the new Service come while the old one, which nobody makes a load balancer for, is still known."""
    views.nodes(world, 2)
    old = objects.service("web", PORTS, type="ClusterIP", externalTrafficPolicy=None)
    new = objects.service("web", PORTS, policy="Local")
    world.kube.create(old, objects.endpoint_slice(old, [("10.1.1.1", "node-1")]))
    world.start_ccmd()
    world.settled()
    world.kube.watches("silence", "services")
    world.kube.delete("Service", "web")
    world.kube.delete("EndpointSlice", "web-abc")
    world.kube.create(new, objects.endpoint_slice(new, [("10.1.2.1", "node-2")]))
    world.wait(lambda: slices_are_seen(world), "the slices")
    world.kube.watches("drop", "services")
    world.wait(lambda: world.kube.ingress("web"), "an address", 30)
    world.settled()
    assert servers(world) == ["i-node-2"]
