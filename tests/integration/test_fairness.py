"""What one namespace causes does not delay what is done for another one."""

import itertools

import pytest

from tests.support import objects, views
from tests.support.products import PREFIX, Clb, Nlb

PRODUCTS = {"clb": Clb(), "nlb": Nlb()}
PORTS = [(80, "TCP"), (443, "TCP")]


def refused(name, namespace):
    return objects.service(name, namespace=namespace, annotations={PREFIX + "scheduler": "fast"})


def written(world, namespace):
    return sum(call["action"].startswith(f"CREATE /api/v1/namespaces/{namespace}/events") for call in world.kube.calls(0))


@pytest.mark.parametrize("count", [300])
def test_events_of_a_loud_namespace(world, count):
    """An API server takes its time for each Event. One of another namespace is among the next, not behind all of them."""
    views.nodes(world, 2)
    for name in ("loud", "calm"):
        world.kube.http.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    world.kube.fault(action="* /api/v1/namespaces/*/events*", count=100000, delay_ms=50)
    world.config = world.write_config()
    world.start_ccmd()
    for n in range(count):
        world.kube.create(refused(f"web-{n}", "loud"))
    world.wait(lambda: written(world, "loud") > 5, "the first events")
    before = written(world, "loud")
    world.kube.create(refused("web", "calm"))
    world.wait(lambda: written(world, "calm") > 0, "the event", timeout=60)
    assert written(world, "loud") - before < 60, "some are written until the Service is seen, but not all"
    assert written(world, "loud") < count, "there was something to wait for"


def flap(world, both, seconds):
    """Endpoints that come and go. -> the changes of backends in that time, and how long it was."""
    began, since = world.seconds(), world.cloud.mark()
    for n in itertools.count():
        world.kube.patch("EndpointSlice", both["metadata"]["name"], {"endpoints": both["endpoints"][:1 + n % 2]})
        if world.seconds() > began + seconds:
            break
    writes = [action for action in world.cloud.actions(since) if "Server" in action and action.startswith(("Add", "Remove"))]
    return writes, world.seconds() - began


SLOW = {"clb": ("slb-listener-ms", "established-timeout"), "nlb": ("job-ms", "idle-timeout")}  # a change of a listener that lasts


@pytest.mark.time_scale(10)
@pytest.mark.parametrize("unfinished", [False, True])
@pytest.mark.parametrize("name", PRODUCTS)
def test_a_service_that_never_rests(world, name, unfinished):
    """All Services share the quotas of the cloud: the endpoints of one that change without end cost a bounded number of calls. Where the
    cloud still works on a listener, each pass waits for the jobs of the one before: that is the bound of docs/limits.md."""
    product = PRODUCTS[name]
    limit, annotation = SLOW[name]
    views.nodes(world, 2)
    product.configure(world)
    world.start_ccmd()
    service = product.new("web", policy="Local")
    both = objects.endpoint_slice(service, (("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")))
    world.kube.create(service, both)
    world.wait(lambda: world.kube.ingress("web"), "the load balancer")
    world.settled()
    if unfinished:
        world.cloud.edit("limits", limits={limit: 600000})
        since = world.cloud.mark()
        world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + annotation: "60"}}})
        world.wait(lambda: any("Listener" in action and action[:2] in ("Se", "Up") for action in world.cloud.actions(since)), "the change")
        world.stop_ccmd()
        world.start_ccmd()  # which reads that the listener is not ready
        if name == "nlb":
            world.cloud.edit("limits", limits={limit: 0})
    writes, seconds = flap(world, both, 40)
    assert unfinished or "it changes all the time: at most one pass in 3 s" in world.admin("/statusz")[1]
    assert len(writes) <= (30 + 2 * seconds if unfinished else 10 + seconds / 3), writes
    assert len(writes) > 0
