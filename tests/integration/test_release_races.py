"""A release beside others who write to the same Service, or put another one in its place."""

import threading

import pytest

from tests.support import objects, views
from tests.support.products import Clb, Nlb

PRODUCTS = pytest.mark.parametrize("product", [Clb(), Nlb()], ids=["clb", "nlb"])
OTHER = "example.com/other"
CLUSTER_IP = {"spec": {"type": "ClusterIP", "externalTrafficPolicy": None, "loadBalancerClass": None}}


def begin(world, product):
    product.configure(world)
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(product.new("web", [(80, "TCP")]))
    world.wait(lambda: world.kube.ingress("web"), "an address", 30)
    world.settled()


def is_released(world, product):
    service = world.kube.get("Service", "web")
    return product.finalizer not in service["metadata"].get("finalizers", []) and product.only(world) is None


@PRODUCTS
@pytest.mark.parametrize("way", ("deleted", "type"))
def test_an_annotation_that_is_edited_all_the_time(world, product, way):
    """Its controllers fight about it; nothing of the load balancer depends on it."""
    begin(world, product)
    world.kube.patch("Service", "web", {"metadata": {"finalizers": [OTHER, product.finalizer]}})
    world.settled()
    world.cloud.fault(count=100000, delay_ms=100)
    released = threading.Event()

    def fight():
        edits = 0
        while not released.wait(0.05):
            edits += 1
            world.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/fight": str(edits)}}})

    fighter = threading.Thread(target=fight)
    fighter.start()
    try:
        if way == "deleted":
            world.kube.delete("Service", "web")
        else:
            world.kube.patch("Service", "web", CLUSTER_IP)
        world.wait(lambda: is_released(world, product), "the release", 30)
    finally:
        released.set()
        fighter.join()


@PRODUCTS
def test_another_service_takes_the_name_while_it_is_released(world, product):
    begin(world, product)
    first = {"clb": "DescribeLoadBalancers", "nlb": "ListLoadBalancers"}[product.name]
    since = world.cloud.mark()
    world.cloud.fault(first, delay_ms=1500)
    world.kube.patch("Service", "web", CLUSTER_IP)
    world.wait(lambda: world.cloud.http.request("GET", "/_sim/idle")["open"], "the read of the release")
    world.kube.patch("Service", "web", {"metadata": {"finalizers": None}})
    world.kube.delete("Service", "web")
    world.kube.create(objects.service("web", [(80, "TCP")], type="ClusterIP", policy=None))
    world.wait(lambda: product.only(world) is None, "the end of the load balancer", 30)
    assert world.cloud.actions(since).count("DeleteLoadBalancer") == 1
