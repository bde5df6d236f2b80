"""A release has begun and does not come to its end, and the Service wants its load balancer again: in the end all is as it was,
protections too, whatever was switched off on the way out, and whoever ends it."""

import pytest

from tests.support import views
from tests.support.products import OWNER_TAG, PREFIX, Clb, Nlb

PORTS = ((80, "TCP"), (443, "TCP"))
KINDS = (Clb(), Nlb())
PRODUCTS = pytest.mark.parametrize("product", KINDS, ids=lambda product: product.name)
HASH = "service.beta.kubernetes.io/hash"
PROTECTIONS = ("DeleteProtection", "ModificationProtectionStatus", "DeletionProtectionEnabled")
PRESERVED = {PREFIX + "preserve-lb-on-delete": "true"}
TAGGED = {PREFIX + "additional-resource-tags": "a=b"}
# Calls of the end, reads included, behind which it is killed. What is preserved has lost its tags with the last one, and is found by name.
CALLS = {("clb", "deleted"): 3, ("nlb", "deleted"): 7, ("clb", "preserved"): 4, ("nlb", "preserved"): 5}
KILLS = [pytest.param(product, end, nth, id=f"{product.name}-{end}-{nth}")
         for product in KINDS for end in ("deleted", "preserved") for nth in range(1, CALLS[product.name, end] + 1)]


def owned(world, product):
    """What was preserved to its end is somebody else's."""
    return [lb for lb in product.find(world) if OWNER_TAG in lb["Tags"]]


def picture(world, product):
    """What is the Service's, without what is new when it is made again."""
    return sorted(({**{name: lb.get(name) for name in PROTECTIONS}, "name": lb["LoadBalancerName"], "tags": lb["Tags"],
                    "listeners": sorted(one["key"] for one in lb["Listeners"]),
                    "groups": sorted((one["name"], sorted(one["servers"])) for one in lb["Groups"])}
                   for lb in owned(world, product)), key=lambda lb: lb["name"])


def created(world, product, annotations):
    product.configure(world, "audit_interval_s = 0;")
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(product.new("web", PORTS, annotations=annotations))
    world.wait(lambda: product.complete(product.only(world), PORTS) and is_ensured(world), "the load balancer", 30)
    world.settled()
    return picture(world, product)


def is_ensured(world):
    return world.kube.ingress("web") and HASH in world.kube.get("Service", "web")["metadata"].get("labels", {})


def leave(world):
    world.kube.patch("Service", "web", {"spec": {"type": "NodePort", "loadBalancerClass": None}})


def come_back(world, product):
    world.kube.patch("Service", "web", {"spec": {"type": "LoadBalancer",
                                                 "loadBalancerClass": getattr(product, "service_class", None)}})


def check(world, product, before):
    world.wait(lambda: len(owned(world, product)) == 1 and product.complete(owned(world, product)[0], PORTS) and is_ensured(world),
               "the load balancer again", 60)
    world.settled(horizon_ms=12000)
    assert picture(world, product) == before


@PRODUCTS
@pytest.mark.parametrize("end", ("deleted", "preserved"))
def test_refused_and_taken_back(world, product, end):
    """By the same process: the last call fails until the Service is wanted again."""
    before = created(world, product, PRESERVED if end == "preserved" else TAGGED)
    last = "DeleteLoadBalancer" if end == "deleted" else "Untag*"
    since = world.cloud.mark()
    world.cloud.fault(action=last, count=1000, code="InternalError", http=500)
    leave(world)
    world.wait(lambda: [c for c in world.cloud.calls(since) if c["http"] == 500], "the failure", 30)
    come_back(world, product)
    world.cloud.clear_faults()
    check(world, product, before)


@pytest.mark.parametrize("product, end, nth", KILLS)
def test_killed_and_taken_back(world, product, end, nth):
    """By another process."""
    before = created(world, product, PRESERVED if end == "preserved" else TAGGED)
    since = world.cloud.mark()
    world.cloud.fault(nth=nth, cut="after", delay_ms=600000)
    leave(world)
    world.wait(lambda: [c for c in world.cloud.calls(since) if c["http"] == 0]
               or product.finalizer not in world.kube.get("Service", "web")["metadata"].get("finalizers", []), "the call", 30)
    world.kill_ccmd()
    world.cloud.clear_faults()
    come_back(world, product)
    world.start_ccmd()
    check(world, product, before)


@PRODUCTS
def test_killed_twice_and_taken_back(world, product):
    """The next process cannot switch the protections on again, and is killed as well."""
    before = created(world, product, TAGGED)
    switch = {"clb": "SetLoadBalancerDeleteProtection", "nlb": "UpdateLoadBalancerProtection"}[product.name]
    since = world.cloud.mark()
    world.cloud.fault(action="DeleteLoadBalancer", count=1000, cut="before", delay_ms=600000)
    leave(world)
    world.wait(lambda: [c for c in world.cloud.calls(since) if c["action"] == "DeleteLoadBalancer"], "the call", 30)
    world.kill_ccmd()
    world.cloud.clear_faults()
    world.cloud.fault(action=switch, count=1000, code="InternalError", http=500)
    come_back(world, product)
    world.start_ccmd()
    world.wait(lambda: "SyncLoadBalancerFailed" in str(world.kube.events("web")), "the failure", 30)
    world.kill_ccmd()
    import json; print(json.dumps(world.kube.get("Service","web"), indent=1))
    world.cloud.clear_faults()
    world.start_ccmd()
    check(world, product, before)
