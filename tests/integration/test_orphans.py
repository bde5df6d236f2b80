"""What carries the cluster's mark in the cloud and has no Service: named, and deleted where the option says so."""

import pytest

from tests.support import objects, views
from tests.support.products import OWNER_TAG, Clb, Nlb
from tests.support.world import CLUSTER_ID

PORTS = [(80, "TCP")]
RANGES = ["10.0.0.0/8"]
PRODUCTS = pytest.mark.parametrize("product", [Clb(), Nlb()], ids=["clb", "nlb"])
TYPES = {"clb": "CLBType", "nlb": "NLBType"}


def things(world):
    """Ids of all that the cluster's mark is on, by owner."""
    state = world.cloud.state()
    found = {}
    for kind, key in (("loadBalancers", "LoadBalancerId"), ("nlbLoadBalancers", "LoadBalancerId"), ("acls", "AclId"),
                      ("nlbServerGroups", "ServerGroupId"), ("securityGroups", "SecurityGroupId")):
        for one in state.get(kind, []):
            owner = one.get("Tags", {}).get(OWNER_TAG)
            if owner is not None:
                found.setdefault(owner, set()).add(one[key])
    return found


def configure(world, product, **options):
    text = "".join(f"{name} = {value}; " for name, value in options.items())
    product.configure(world, text + ("source_ranges = true;" if product.name == "clb" else ""))


def lose_service(world, product):
    """Two Services are finished; one of them goes with its finalizers while nobody looks. What it leaves, and what the other has."""
    configure(world, product)
    views.nodes(world, 2)
    world.start_ccmd()
    for name in ("lost", "kept"):
        world.kube.create(product.new(name, PORTS, loadBalancerSourceRanges=RANGES))
    world.wait(lambda: all(world.kube.ingress(name) for name in ("lost", "kept")), "both", 30)
    world.settled()
    world.stop_ccmd()
    before = things(world)
    owner = ("a" + world.kube.get("Service", "lost")["metadata"]["uid"].replace("-", ""))[:32]
    world.kube.patch("Service", "lost", {"metadata": {"finalizers": None}})
    world.kube.delete("Service", "lost")
    return before.pop(owner), before


def lease_events(world):
    items = world.kube.http.request("GET", "/api/v1/namespaces/kube-system/events")["items"]
    return [(e["reason"], e["message"]) for e in items if e["involvedObject"]["kind"] == "Lease"]


def gauge(world, product):
    return world.metrics().get(f'ccmd_orphans{{type="{TYPES[product.name]}"}}')


@PRODUCTS
def test_named(world, product):
    lost, kept = lose_service(world, product)
    before = things(world)
    configure(world, product, orphan_period_s=1)
    world.start_ccmd()
    world.wait(lambda: gauge(world, product) == len(lost), "the metric", 30)
    (reason, message), = {e for e in lease_events(world) if e[0] == "OrphanLoadBalancers"}
    assert all(one in message for one in lost) and "option orphan_cleanup" in message
    assert not any(one in message for ids in kept.values() for one in ids)
    assert "all load balancers" in world.admin("/statusz")[1]
    assert things(world) == before


@PRODUCTS
def test_deleted(world, product):
    """By the option; not what a Service has, nor another cluster."""
    lost, kept = lose_service(world, product)

    def call(action, params):
        return world.cloud.edit("call", product=product.product, action=action, params=params)["answer"]
    other = type(product)(call).make_lb("other", {}, {OWNER_TAG: "a" + "0" * 31, "ack.aliyun.com": CLUSTER_ID + "2"})[0]
    configure(world, product, orphan_period_s=1, orphan_cleanup="true", missing_wait_s=0, removal_window_s=1)
    world.start_ccmd()
    world.wait(lambda: things(world) == {**kept, "a" + "0" * 31: {other}}, f"the end of {lost}", 60)
    world.wait(lambda: gauge(world, product) == 0, "the metric", 30)


@PRODUCTS
def test_without_any_service(world, product):
    """A server that has lost all of them says nothing about what is in the cloud."""
    lose_service(world, product)
    world.kube.patch("Service", "kept", {"metadata": {"finalizers": None}})
    world.kube.delete("Service", "kept")
    world.kube.create(objects.service("kubernetes", PORTS, type="ClusterIP", externalTrafficPolicy=None))  # each server has this one
    before = things(world)
    configure(world, product, orphan_period_s=1, orphan_cleanup="true", missing_wait_s=0, removal_window_s=1)
    world.start_ccmd()
    world.wait(lambda: gauge(world, product) == sum(len(ids) for ids in before.values()), "the metric", 30)
    since = world.cloud.mark()
    world.wait(lambda: len(world.cloud.actions(since)) >= 4, "further looks", 30)
    assert things(world) == before
