"""What is said of a load balancer that a Service may not use, and of pods that cannot be backends: whose it is, and what to do."""

import pytest

from tests.support import objects, views
from tests.support.products import PREFIX, Clb, Nlb

PRODUCTS = pytest.mark.parametrize("product", [Clb(), Nlb()], ids=["clb", "nlb"])
TAGS = {"clb": "ip", "nlb": "dnsname"}
BACKEND_TYPE = "service.beta.kubernetes.io/backend-type"
NODES = f"annotation {BACKEND_TYPE} ecs"


def begin(world, product, *names):
    product.configure(world)
    views.nodes(world, 2)
    world.start_ccmd()
    for name in names:
        world.kube.create(product.new(name))
    world.wait(lambda: all(world.kube.ingress(name) for name in names), "the load balancers", 30)
    world.settled()


def id_of(world, name):
    return world.kube.get("Service", name)["metadata"]["labels"]["service.k8s.alibaba/loadbalancer-id"]


def address(world, name):
    return next(iter({k: v for k, v in world.kube.ingress(name)[0].items() if k in ("ip", "hostname")}.values()))


def name_lb(world, name, lb_id):
    world.kube.patch("Service", name, {"metadata": {"annotations": {PREFIX + "id": lb_id}}})


def refusal(world, name, words):
    """The one event that refuses, without the time of the next try."""
    def found():
        return [m for kind, reason, m, _ in world.kube.events(name) if (kind, reason) == ("Warning", "SyncLoadBalancerFailed") and words in m]
    return world.wait(found, words)[-1].partition(". Tried again")[0]


@PRODUCTS
def test_of_a_controller(world, product):
    """A new Service, one that has an address, and one that names its own."""
    begin(world, product, "web", "own")
    theirs = id_of(world, "own")
    world.kube.create(product.new("new", annotations={PREFIX + "id": theirs}))
    refused = "can not reuse loadbalancer created by kubernetes. "
    assert refusal(world, "new", refused).endswith(
        f"{refused}(set annotation {PREFIX}id to one that was made in the console, or take it away for a new one)")
    name_lb(world, "own", theirs)
    assert refusal(world, "own", refused).endswith(f"{refused}(it is this Service's own: take annotation {PREFIX}id away)")
    name_lb(world, "web", theirs)
    assert refusal(world, "web", "").endswith(
        f"service has been associated with loadbalancer [{id_of(world, 'web')}], cannot be bound to another one: "
        f"remove annotation {PREFIX}id, or delete and recreate the service")


@PRODUCTS
def test_another_one_than_the_status_shows(world, product):
    """No label names the one that it has: both addresses are named, and the two ways out."""
    begin(world, product, "web")
    shown = address(world, "web")
    world.stop_ccmd()
    world.kube.patch("Service", "web", {"metadata": {"labels": {"service.k8s.alibaba/loadbalancer-id": None}}})
    product.call = lambda action, params: world.cloud.edit("call", product=product.product, action=action, params=params)["answer"]
    lb_id, _ = product.make_lb("by-hand", {}, {})
    name_lb(world, "web", lb_id)
    world.start_ccmd()
    message = refusal(world, "web", "service has been associated with")
    word = TAGS[product.name]
    assert f"service has been associated with {word} [{shown}], cannot be bound to {word} [" in message
    assert message.endswith(f"]: delete and recreate the service, or take annotation {PREFIX}id back"), message


def skipped(world, words):
    def found():
        return [(kind, m) for kind, reason, m, _ in world.kube.events("web") if reason == "SkipSyncBackends" and words in m]
    return world.wait(found, words)[-1]


@pytest.mark.parametrize("pod, words, remedy", (
    ("10.1.77.7", "Not sync pods [10.1.77.7] whose eni is invalid",
     "no network interface of the VPC has these addresses, as for a moment while pods start; if it lasts, let nodes be the backends: "
     f"{NODES}, or option default_backend_type"),
    ("192.168.1.1", "Not sync pods [192.168.1.1] whose ip is not in vpc cidrs",
     f"a load balancer reaches no address outside of its VPC: let nodes be the backends ({NODES}), or check option vpc_id of group alicloud"),
))
def test_pods_without_an_interface(world, pod, words, remedy):
    Clb().configure(world)
    views.nodes(world, 2)
    world.start_ccmd()
    service = objects.service("web", annotations={BACKEND_TYPE: "eni"})
    world.kube.create(service)
    world.kube.create(objects.endpoint_slice(service, [("10.1.1.1", "node-1"), (pod, "node-1")]))
    kind, message = skipped(world, words)
    assert kind == "Warning" and message == f"{words} ({remedy})"
