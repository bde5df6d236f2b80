"""What one namespace causes does not delay what is done for another one."""

import pytest

from tests.support import objects, views
from tests.support.products import PREFIX


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


def test_a_service_that_never_rests(world):
    """All Services share the quotas of the cloud: the endpoints of one that change without end cost a bounded number of calls."""
    views.nodes(world, 2)
    world.config = world.write_config()
    world.start_ccmd()
    service = objects.service("web", policy="Local")
    both = objects.endpoint_slice(service, (("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")))
    world.kube.create(service, both)
    world.wait(lambda: world.kube.ingress("web"), "the load balancer")
    world.settled()
    began, since = world.seconds(), world.cloud.mark()
    for n in range(400):
        world.kube.patch("EndpointSlice", both["metadata"]["name"], {"endpoints": both["endpoints"][:1 + n % 2]})
    calls = len([action for action in world.cloud.actions(since) if not action.startswith("Describe")])
    assert calls <= 10 + (world.seconds() - began) / 3, f"{calls} calls"
    assert calls > 0
