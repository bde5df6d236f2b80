"""An API server that was restored from a backup older than the finalizer: a Service that nobody holds is deleted at once, and what it had
in the cloud is left over. It is named, and goes where the option says so."""


import pytest

from tests.support import views
from tests.support.products import OWNER_TAG, Clb, Nlb, default_name

PORTS = [(80, "TCP")]
PRODUCTS = pytest.mark.parametrize("product", [Clb(), Nlb()], ids=["clb", "nlb"])
LOOKS = "audit_interval_s = 1; missing_wait_s = 0; removal_window_s = 1;"


def owners(world, product):
    return {lb["Tags"].get(OWNER_TAG): lb["LoadBalancerId"] for lb in product.find(world)}


def lose_service(world, product, options):
    """Of two Services one is younger than the finalizers in the backup, and deleted before ccmd has seen the restored server."""
    product.configure(world, options)
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(product.new("kept", PORTS))
    world.wait(lambda: world.kube.ingress("kept"), "an address", 30)
    world.settled()
    world.stop_ccmd()
    world.kube.create(product.new("young", PORTS))
    backup = world.kube.state()
    world.start_ccmd()
    world.wait(lambda: world.kube.ingress("young"), "the address of the young one", 30)
    world.settled()
    young, kept = (default_name(world.kube.get("Service", name)["metadata"]["uid"]) for name in ("young", "kept"))
    assert set(owners(world, product)) == {young, kept}
    with world.ccmd.paused():
        world.restart_kubesim()
        world.kube.http.request("POST", "/_sim/restore", backup)
        assert product.finalizer not in world.kube.get("Service", "young")["metadata"].get("finalizers", [])
        world.kube.delete("Service", "young")
        assert world.kube.get("Service", "young") is None
    for resource in ("services", "nodes", "endpointslices"):  # it says so to whoever asks for what it never had
        world.wait(lambda r=resource: world.kube.state()["watches"][r], "a watch")
        world.kube.watches("expire", resource)
    return young, kept


def lease_events(world):
    items = world.kube.http.request("GET", "/api/v1/namespaces/kube-system/events")["items"]
    return [e["message"] for e in items if e["involvedObject"]["kind"] == "Lease" and e["reason"] == "OrphanLoadBalancers"]


@PRODUCTS
def test_named(world, product):
    young, kept = lose_service(world, product, LOOKS)
    before = owners(world, product)
    (message, *_) = world.wait(lambda: lease_events(world), "the event", 30)
    assert before[young] in message and before[kept] not in message and "option orphan_cleanup" in message
    world.wait(lambda: sum(value for name, value in world.metrics().items() if name.startswith("ccmd_orphans")) > 0, "the metric", 30)
    assert owners(world, product) == before and world.kube.ingress("kept")


@PRODUCTS
def test_deleted(world, product):
    young, kept = lose_service(world, product, LOOKS + " orphan_cleanup = true;")
    world.wait(lambda: young not in owners(world, product), "the end of what is left over", 60)
    assert set(owners(world, product)) == {kept} and world.kube.ingress("kept")
    world.wait(lambda: any("they are deleted" in message for message in lease_events(world)), "the event")
