"""Only EndpointSlices that somebody needs are held: those of Services of type LoadBalancer."""

from tests.support import objects, views

PORTS = ((80, "TCP"),)
PODS = [("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")]


def create(world, name, **more):
    service = objects.service(name, PORTS, **more)
    slice_ = objects.endpoint_slice(service, PODS)
    world.kube.create(service, slice_)
    return service, slice_


def inner(world, name):
    return create(world, name, policy=None, type="ClusterIP")


def listed(world):
    """How many slices ccmd held after its first list."""
    line = world.wait(lambda: [x for x in world.log().splitlines() if "endpointslices: " in x and " listed in " in x],
                      "the first list of slices")[0]
    return int(line.split("endpointslices: ")[1].split()[0])


def label_reads(world, since=0):
    return [c["params"]["labelSelector"] for c in world.kube.calls(since) if "labelSelector" in c["params"]]


def balanced(world):
    return views.complete(views.only_lb(world), PORTS) and world.kube.ingress("web")


def test_slices_of_other_services_are_not_held(world):
    views.nodes(world, 2)
    for number in range(5):
        inner(world, f"inner-{number}")
    create(world, "web", policy="Local")
    world.start_ccmd()
    assert listed(world) == 1
    world.wait(lambda: balanced(world), "the load balancer")
    assert label_reads(world) == []


def test_a_service_that_becomes_a_load_balancer(world):
    """Its slices are read before anybody works on it: not for a moment it seems to have no endpoints."""
    views.nodes(world, 2)
    _, slice_ = inner(world, "web")
    inner(world, "inner")
    world.start_ccmd()
    assert listed(world) == 0
    world.kube.patch("Service", "web", {"spec": {"type": "LoadBalancer", "externalTrafficPolicy": "Local"}})
    world.wait(lambda: balanced(world), "the load balancer")
    assert label_reads(world) == ["kubernetes.io/service-name=web"]
    group = next(c for c in world.cloud.calls() if c["action"] == "CreateVServerGroup")
    assert "i-node-1" in group["params"]["BackendServers"] and "i-node-2" in group["params"]["BackendServers"]
    # from here on its events count
    slice_["endpoints"] = slice_["endpoints"][:1]
    world.kube.replace(slice_)
    world.wait(lambda: [len(servers) for servers in views.backends(views.only_lb(world))] == [1], "one backend")


def test_a_new_service_needs_no_extra_read(world):
    views.nodes(world, 2)
    world.start_ccmd()
    listed(world)
    create(world, "web", policy="Local")
    world.wait(lambda: [len(servers) for servers in views.backends(views.only_lb(world))] == [2], "two backends")
    # the other way round: the slice is there first
    service = objects.service("late", PORTS, policy="Local")
    world.kube.create(objects.endpoint_slice(service, PODS))
    world.settled()
    world.kube.create(service)
    world.wait(lambda: [len(s) for lb in world.cloud.load_balancers() for s in views.backends(lb)] == [2, 2], "four")
    assert label_reads(world) == []


def test_a_service_that_is_none_any_more(world):
    views.nodes(world, 2)
    _, slice_ = create(world, "web", policy="Local")
    world.start_ccmd()
    world.wait(lambda: balanced(world), "the load balancer")
    world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP", "externalTrafficPolicy": None,
                                                 "healthCheckNodePort": None}})
    world.wait(lambda: views.only_lb(world) is None and not world.kube.get("Service", "web")["metadata"].get("finalizers"),
               "the clean-up")
    slice_["endpoints"] = slice_["endpoints"][:1]
    world.kube.replace(slice_)  # of no use meanwhile
    world.settled()
    world.kube.patch("Service", "web", {"spec": {"type": "LoadBalancer", "externalTrafficPolicy": "Local"}})
    world.wait(lambda: balanced(world), "the load balancer, again")
    assert [len(servers) for servers in views.backends(views.only_lb(world))] == [1]
    assert label_reads(world) == ["kubernetes.io/service-name=web"]
