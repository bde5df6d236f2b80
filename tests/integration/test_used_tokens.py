"""A ClientToken does not outlive the load balancer that it made: the cloud goes on answering it with what is gone, for a day."""

import datetime

import pytest

from tests.support import views
from tests.support.products import OWNER_TAG, PREFIX, Clb, Nlb

pytestmark = pytest.mark.time_scale(10)
PORTS = [(80, "TCP")]
PRODUCTS = pytest.mark.parametrize("product", [Clb(), Nlb()], ids=["clb", "nlb"])


def is_complete(world, product):
    return product.complete(product.only(world), PORTS) and world.kube.ingress("web")


def begin(world, product, **spec):
    product.configure(world, "source_ranges = true;" if product.name == "clb" else "")
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(product.new("web", PORTS, **spec))
    world.wait(lambda: is_complete(world, product), "the first load balancer", 60)


def change_type(world, product, name, **spec):
    if product.name == "nlb":
        spec["loadBalancerClass"] = Nlb.service_class if name == "LoadBalancer" else None
    world.kube.patch("Service", "web", {"spec": {"type": name, **spec}})


def restart(world, product, meanwhile=lambda world: None):
    world.stop_ccmd()
    meanwhile(world)
    world.start_ccmd()
    world.wait(lambda: f"plugin {product.name}: started" in world.ccmd.err(), "the start", 30)


def creations(world, since):
    return [call["params"]["ClientToken"] for call in world.cloud.calls(since) if call["action"] == "CreateLoadBalancer"]


def assert_told(world):
    world.wait(lambda: any(e[:2] == ("Warning", "SyncLoadBalancerFailed") for e in world.kube.events("web")), "the event")


@PRODUCTS
@pytest.mark.parametrize("ranges", (None, ["10.0.0.0/8"]), ids=["open", "ranges"])
def test_type_there_and_back_over_a_restart(world, product, ranges):
    """The same uid, and nothing that remembers the first load balancer. Its security group has a token as well."""
    begin(world, product, loadBalancerSourceRanges=ranges)
    for _ in range(2):
        change_type(world, product, "ClusterIP", loadBalancerSourceRanges=None)
        world.wait(lambda: product.only(world) is None and "finalizers" not in world.kube.get("Service", "web")["metadata"],
                   "the release", 60)
        restart(world, product)
        since = world.cloud.mark()
        change_type(world, product, "LoadBalancer", loadBalancerSourceRanges=ranges)
        world.wait(lambda: is_complete(world, product), "the next load balancer", 60)
        tokens = creations(world, since)
        assert len(set(tokens)) == len(tokens) > 1, "none is asked for twice"
    assert_told(world)


@PRODUCTS
def test_deleted_in_the_console(world, product):
    """A person deletes it and clears the status, which asks for a new one; by a process that has just started."""
    begin(world, product)
    world.stop_ccmd()
    lb = product.only(world)["LoadBalancerId"]
    kind = {"clb": "loadbalancer", "nlb": "nlb"}[product.name]
    world.cloud.edit("delete", type=kind, id=lb)
    world.kube.patch("Service", "web", {"status": {"loadBalancer": {"ingress": None}},
                                        "metadata": {"labels": {"service.k8s.alibaba/loadbalancer-id": None}}}, subresource="status")
    since = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: is_complete(world, product), "the next load balancer", 60)
    tokens = creations(world, since)
    assert len(set(tokens)) == len(tokens)


@PRODUCTS
def test_killed_before_the_service_is_cleaned(world, product):
    """The load balancer is gone, the finalizer is not, and the Service wants one again: API servers clear the status of what is of
    another type, so it is no lost one."""
    begin(world, product)
    world.kube.fault(action="PATCH */services/web", nth=2, count=1000, http=500)  # the first is that of the person
    change_type(world, product, "ClusterIP")
    world.wait(lambda: product.only(world) is None, "the release", 60)
    world.kill_ccmd()
    assert "finalizers" in world.kube.get("Service", "web")["metadata"] and not world.kube.ingress("web")
    world.kube.clear_faults()
    change_type(world, product, "LoadBalancer")
    world.start_ccmd()
    world.wait(lambda: is_complete(world, product), "the next load balancer", 60)


def owned(world, product):
    return [lb for lb in product.find(world) if OWNER_TAG in lb["Tags"]]


def make_older(world):
    """The Service is ten minutes older, for a process that starts afterwards."""
    service = world.kube.get("Service", "web")
    made = datetime.datetime.fromisoformat(service["metadata"]["creationTimestamp"].replace("Z", "+00:00"))
    service["metadata"]["creationTimestamp"] = (made - datetime.timedelta(minutes=10)).strftime("%Y-%m-%dT%H:%M:%SZ")
    world.kube.http.request("POST", "/_sim/restore", {"services": [service]})


@PRODUCTS
def test_preserved_and_wanted_again(world, product):
    """What was preserved to its end is nobody's, and answers to the token that made it: it stays as it is, and another one is made."""
    begin(world, product, annotations={PREFIX + "preserve-lb-on-delete": "true"})
    change_type(world, product, "ClusterIP")
    world.wait(lambda: owned(world, product) == [] and "finalizers" not in world.kube.get("Service", "web")["metadata"], "the release", 60)
    world.settled()
    kept = product.only(world)
    restart(world, product, make_older)
    since = world.cloud.mark()
    change_type(world, product, "LoadBalancer")
    world.wait(lambda: len(owned(world, product)) == 1 and product.complete(owned(world, product)[0], PORTS) and world.kube.ingress("web"),
               "the next load balancer", 60)
    world.settled()
    assert len(product.find(world)) == 2 and kept in product.find(world)
    tokens = creations(world, since)
    assert len(set(tokens)) == len(tokens) > 1, "none is asked for twice"
