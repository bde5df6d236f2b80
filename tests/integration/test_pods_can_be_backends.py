"""Nodes are backends where pods could be: on nodes of Terway a Service is told so once, unless it says that nodes are wished."""

import pytest

from tests.support import objects, proc
from tests.support.products import Clb, Nlb

PRODUCTS = pytest.mark.parametrize("product", [Clb(), Nlb()], ids=["clb", "nlb"])
BACKEND_TYPE = "service.beta.kubernetes.io/backend-type"
REASON = "PodsCanBeBackends"
ACCESS = {"ACCESS_KEY_ID": "testAccessKeyId", "ACCESS_KEY_SECRET": "testAccessKeySecret"}


def begin(world, product, terway):
    """Two nodes, as Terway leaves them or not; ccmd does not run yet."""
    product.configure(world)
    for number in (1, 2):
        node = objects.node(f"node-{number}", f"i-node-{number}")
        if terway:
            node["metadata"]["annotations"] = {"k8s.aliyun.com/max-available-ip": "27"}
        world.kube.create(node)


def create(world, product, name, address, **options):
    service = product.new(name, **options)
    world.kube.create(objects.endpoint_slice(service, [(address, "node-1")]), service)


def served(world, *names):
    for name in names:
        world.wait(lambda n=name: any(reason == "EnsuredLoadBalancer" for _, reason, _, _ in world.kube.events(n)), name, 30)
    world.settled()


def told(world, name):
    return [(kind, message, count) for kind, reason, message, count in world.kube.events(name) if reason == REASON]


@PRODUCTS
def test_terway(world, product):
    begin(world, product, terway=True)
    world.start_ccmd()
    create(world, product, "web", "10.1.1.1")
    create(world, product, "wished", "10.1.1.2", annotations={BACKEND_TYPE: "ecs"})
    create(world, product, "pods", "10.1.2.1", annotations={BACKEND_TYPE: "eni"})
    served(world, "web", "wished", "pods")
    [(kind, message, count)] = told(world, "web")
    assert (kind, count) == ("Normal", 1)
    assert f'{BACKEND_TYPE}: "eni"' in message and "option default_backend_type" in message and "Terway" in message
    assert told(world, "wished") == [] and told(world, "pods") == []

    # Further passes, also while no pod is ready, say it no more.
    world.kube.patch("EndpointSlice", "web-abc", {"endpoints": []})
    world.settled()
    web = world.kube.get("Service", "web")
    world.kube.patch("EndpointSlice", "web-abc", {"endpoints": objects.endpoint_slice(web, [("10.1.1.1", "node-1")])["endpoints"]})
    world.settled()
    assert told(world, "web") == [(kind, message, 1)]

    # That nodes are wished changes nothing in the cloud.
    mark = world.cloud.mark()
    world.kube.patch("Service", "web", {"metadata": {"annotations": {BACKEND_TYPE: "ecs"}}})
    world.wait(lambda: any(reason == "AnnotationChanged" for _, reason, _, _ in world.kube.events("web")), "the edit to be seen")
    world.settled()
    assert [a for a in world.cloud.actions(mark) if not a.startswith(("Describe", "List", "Get"))] == []
    assert told(world, "web") == [(kind, message, 1)]


@PRODUCTS
def test_another_network_plugin(world, product):
    begin(world, product, terway=False)
    world.start_ccmd()
    create(world, product, "web", "172.20.0.1")
    served(world, "web")
    assert told(world, "web") == []


@PRODUCTS
def test_plan_of_pods_on_flannel(world, product):
    """Said before anything is made."""
    begin(world, product, terway=False)
    create(world, product, "web", "172.20.0.1", annotations={BACKEND_TYPE: "eni"})
    _, out, err = proc.run([world.binary("ccmd"), "plan", "--config", world.config], env=ACCESS)
    assert proc.COMPLAINT.search(err.encode()) is None, err
    assert f"let nodes be the backends (annotation {BACKEND_TYPE} ecs)" in out
