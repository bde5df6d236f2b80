"""The watches of Services and of EndpointSlices are not in step: slices that come before their Service are not lost."""

import json

from tests.support import objects, views

PORTS = ((80, "TCP"),)


def slices_are_seen(world):
    known = json.loads(world.admin("/idlez")[1])["caches"]["endpointslices"]["version"]
    return int(known) >= world.kube.http.request("GET", "/_sim/versions")["endpointslices"]


def servers(world):
    lb = views.only_lb(world)
    return sorted(one["ServerId"] for group in (lb["VServerGroups"] if lb else []) for one in group["BackendServers"])


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
