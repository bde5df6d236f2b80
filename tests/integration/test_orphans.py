"""What carries the cluster's mark in the cloud and has no Service: named, and deleted where the option says so."""

import signal

import pytest

from tests.support import objects, views
from tests.support.products import OWNER_TAG, PREFIX, Clb, Nlb, default_name
from tests.support.world import CLUSTER_ID

pytestmark = pytest.mark.time_scale(10)
PORTS = [(80, "TCP")]
RANGES = ["10.0.0.0/8"]
PRODUCTS = pytest.mark.parametrize("product", [Clb(), Nlb()], ids=["clb", "nlb"])
CLUSTER_TAG = "ack.aliyun.com"
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


def finish_services(world, product, names, **options):
    configure(world, product)
    views.nodes(world, 2)
    world.start_ccmd()
    for name in names:
        world.kube.create(product.new(name, PORTS, loadBalancerSourceRanges=RANGES, **options))
    world.wait(lambda: all(world.kube.ingress(name) for name in names), "all of them", 30)
    world.settled()


def drop_service(world, name):
    """With its finalizers, while nobody looks. The owner of what it leaves."""
    owner = default_name(world.kube.get("Service", name)["metadata"]["uid"])
    world.kube.patch("Service", name, {"metadata": {"finalizers": None}})
    world.kube.delete("Service", name)
    return owner


def lose_service(world, product):
    """Two Services are finished; one of them is dropped. What it leaves, and what the other has."""
    finish_services(world, product, ("lost", "kept"))
    world.stop_ccmd()
    before = things(world)
    return before.pop(drop_service(world, "lost")), before


def lease_events(world):
    items = world.kube.http.request("GET", "/api/v1/namespaces/kube-system/events")["items"]
    return [(e["reason"], e["message"]) for e in items if e["involvedObject"]["kind"] == "Lease"]


def gauge(world, product):
    return world.metrics().get(f'ccmd_orphans{{type="{TYPES[product.name]}"}}')


@PRODUCTS
def test_named(world, product):
    lost, kept = lose_service(world, product)
    before = things(world)
    configure(world, product, audit_interval_s=1)
    world.start_ccmd()
    world.wait(lambda: gauge(world, product) == len(lost), "the metric", 30)
    (reason, message), = world.wait(lambda: {e for e in lease_events(world) if e[0] == "OrphanLoadBalancers"}, "the event")
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
    configure(world, product, audit_interval_s=1, orphan_cleanup="true", missing_wait_s=0, removal_window_s=1)
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
    configure(world, product, audit_interval_s=1, orphan_cleanup="true", missing_wait_s=0, removal_window_s=1)
    world.start_ccmd()
    world.wait(lambda: gauge(world, product) == sum(len(ids) for ids in before.values()), "the metric", 30)
    since = world.cloud.mark()
    world.wait(lambda: len(world.cloud.actions(since)) >= 4, "further looks", 30)
    assert things(world) == before


CLEANUP = {"audit_interval_s": 1, "orphan_cleanup": "true", "missing_wait_s": 0}
LIST = {"clb": "DescribeLoadBalancers", "nlb": "ListLoadBalancers"}
KINDS = {"clb": "loadbalancer", "nlb": "nlb"}
PROTECTIONS = {"clb": ("DeleteProtection", "on"), "nlb": ("DeletionProtectionEnabled", "true")}


def lost_lb(world, product, lost):
    return next(lb for lb in product.find(world) if lb["LoadBalancerId"] in lost)


@PRODUCTS
def test_looked_at_right_before(world, product):
    """Another cluster takes it over after it was listed."""
    lost, _ = lose_service(world, product)
    lb = lost_lb(world, product, lost)
    since = world.cloud.mark()
    world.cloud.fault(action=LIST[product.name], params={"Tag.1.Key": OWNER_TAG, "Tag.1.Value": lb["Tags"][OWNER_TAG]}, delay_ms=600000)
    configure(world, product, removal_window_s=1, **CLEANUP)
    world.start_ccmd()
    world.wait(lambda: [c for c in world.cloud.calls(since) if c["http"] == 0], "the last look", 30)
    world.cloud.edit("update", type=KINDS[product.name], id=lb["LoadBalancerId"], tags={CLUSTER_TAG: CLUSTER_ID + "2"})
    world.cloud.clear_faults()
    world.wait(lambda: "stays: somebody uses it by now, or its tags have changed" in world.log(), "what comes of it", 30)
    assert lost_lb(world, product, lost)["Tags"][CLUSTER_TAG] == CLUSTER_ID + "2"
    assert [a for a in world.cloud.actions(since) if a.startswith("DeleteLoadBalancer")] == []


@PRODUCTS
def test_used_by_its_id(world, product):
    """A Service that says that it uses it keeps it, whatever that comes to."""
    lost, _ = lose_service(world, product)
    lb = lost_lb(world, product, lost)["LoadBalancerId"]
    user = product.new("user", PORTS, annotations={PREFIX + "id": lb})
    world.kube.create(user)
    configure(world, product, removal_window_s=1, **CLEANUP)
    world.start_ccmd()
    world.wait(lambda: "stays: somebody uses it" in world.log(), "the last look", 30)
    assert lost_lb(world, product, lost)


@PRODUCTS
def test_protected_again(world, product):
    """A deletion that fails leaves it as it was."""
    lost, _ = lose_service(world, product)
    name, on = PROTECTIONS[product.name]
    since = world.cloud.mark()
    world.cloud.fault(action="DeleteLoadBalancer", count=1000, code="InternalError", http=500)
    configure(world, product, removal_window_s=1, removal_share_percent=100, **CLEANUP)
    world.start_ccmd()
    world.wait(lambda: "DeleteLoadBalancer" in world.cloud.actions(since) and "stays for now" in world.log()
               and str(lost_lb(world, product, lost)[name]).lower() == on, "its protection", 30)
    world.cloud.clear_faults()
    world.wait(lambda: not lost & set().union(*things(world).values()), "the end", 60)


@PRODUCTS
def test_floor_of_each_kind(world, product):
    """Half of the load balancers, however much else is ours."""
    names = ("a", "b", "c", "d")
    finish_services(world, product, names)
    world.stop_ccmd()
    for name in names[1:]:
        drop_service(world, name)
    configure(world, product, removal_window_s=3600, **CLEANUP)
    since = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: len(product.find(world)) == 2, "half of them to go", 30)
    mark = world.cloud.mark()
    world.wait(lambda: len([a for a in world.cloud.actions(mark) if a == LIST[product.name]]) >= 2, "further looks", 30)
    assert world.cloud.actions(since).count("DeleteLoadBalancer") == 2


@PRODUCTS
def test_what_stays_is_in_nobodys_way(world, product):
    """One that a Service names, and one that the cloud refuses to delete, however they are sorted."""
    names = ("a", "b", "c", "d", "e")
    finish_services(world, product, names)
    world.stop_ccmd()
    for name in names[1:]:
        drop_service(world, name)
    used, refused, *rest = sorted(lb["LoadBalancerId"] for lb in product.find(world) if lb["Tags"].get(OWNER_TAG) != default_name(
        world.kube.get("Service", "a")["metadata"]["uid"]))
    world.kube.create(product.new("user", PORTS, annotations={PREFIX + "id": used}))
    world.cloud.fault(action="DeleteLoadBalancer", params={"LoadBalancerId": refused}, count=1000, code="OperationDenied", http=403)
    configure(world, product, removal_window_s=3600, **CLEANUP)
    world.start_ccmd()
    world.wait(lambda: not set(rest) & {lb["LoadBalancerId"] for lb in product.find(world)}, "the others to go", 30)
    assert {used, refused} <= {lb["LoadBalancerId"] for lb in product.find(world)}


@PRODUCTS
def test_id_of_many_clusters(world, product):
    """What carries it may be another cluster's."""
    product.configure(world, cluster_id="clusterid")
    views.nodes(world, 2)
    world.start_ccmd()
    for name in ("lost", "kept"):
        world.kube.create(product.new(name, PORTS))
    world.wait(lambda: all(world.kube.ingress(name) for name in ("lost", "kept")), "both", 30)
    world.settled()
    world.stop_ccmd()
    drop_service(world, "lost")
    options = "".join(f"{name} = {value}; " for name, value in {**CLEANUP, "removal_window_s": 1}.items())
    product.configure(world, options, cluster_id="clusterid")
    world.start_ccmd()
    world.wait(lambda: gauge(world, product) >= 1, "the metric", 30)
    since = world.cloud.mark()
    world.wait(lambda: world.cloud.actions(since).count(LIST[product.name]) >= 3, "further looks", 30)
    assert len(product.find(world)) == 2
    assert any("any cluster without an id of its own" in message for _, message in lease_events(world))


@PRODUCTS
def test_preserved_is_none(world, product):
    """What a person wants to keep when the Service goes, with all that belongs to it."""
    finish_services(world, product, ("kept", "other"), annotations={PREFIX + "preserve-lb-on-delete": "true"})
    owner = default_name(world.kube.get("Service", "kept")["metadata"]["uid"])
    before = {one for ids in things(world).values() for one in ids}
    assert owner in things(world)
    world.kube.delete("Service", "kept")
    world.wait(lambda: world.kube.get("Service", "kept") is None, "the end of the Service", 30)
    assert owner not in things(world)
    state = world.cloud.state()
    there = {one[key] for kind, key in (("loadBalancers", "LoadBalancerId"), ("nlbLoadBalancers", "LoadBalancerId"), ("acls", "AclId"),
                                        ("nlbServerGroups", "ServerGroupId"), ("securityGroups", "SecurityGroupId"))
             for one in state.get(kind, [])}
    assert before <= there


def looks(world):
    return world.log().count(" all load balancers: ")


@PRODUCTS
def test_out_of_step(world, product):
    """The watch of Services breaks and the next one hangs: nothing goes, and what was seen before says nothing any more."""
    lost, _ = lose_service(world, product)
    lb = lost_lb(world, product, lost)["LoadBalancerId"]
    configure(world, product, removal_window_s=1, **{**CLEANUP, "orphan_cleanup": "false"})
    world.start_ccmd()
    world.wait(lambda: gauge(world, product) == len(lost), "two looks", 30)
    for verb in ("LIST", "WATCH"):
        world.kube.fault(action=f"{verb} /api/v1/services", count=1000, delay_ms=600000)
    asked, since = world.kube.mark(), world.cloud.mark()
    world.kube.watches("drop", "services")
    world.wait(lambda: [a for a in world.kube.actions(asked) if a.endswith(" /api/v1/services")], "the next watch", 30)
    world.kube.create(product.new("user", PORTS, annotations={PREFIX + "id": lb}))
    configure(world, product, removal_window_s=1, **CLEANUP)
    world.ccmd.popen.send_signal(signal.SIGHUP)
    world.wait(lambda: f"taken over: {product.name}.orphan_cleanup" in world.log(), "the option", 30)
    before = looks(world)
    world.wait(lambda: looks(world) >= before + 3, "further looks", 30)
    assert [a for a in world.cloud.actions(since) if a.startswith(("Delete", "Set", "Update"))] == []
    world.kube.clear_faults()
    world.wait(lambda: "stays: somebody uses it" in world.log(), "the last look", 30)
    assert lost_lb(world, product, lost)
