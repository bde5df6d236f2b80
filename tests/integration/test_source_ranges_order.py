"""Source ranges that come and go, with changes of type and kill -9 between any two calls: no access list and no security group
is left, nothing gets stuck. plugins/clb/tests/test-ranges-order.c goes through all orders in one process."""

import random

import pytest

from tests.support import objects, views
from tests.support.products import OWNER_TAG, PREFIX, Clb, Nlb
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
PORTS = [(80, "TCP"), (443, "TCP")]
RANGES = {"one": ["10.0.0.0/8"], "two": ["192.168.0.0/16", "10.1.0.0/16"], "open": None, "inner": None}
WISHES = sorted(RANGES)
PLUGIN = {"clb": "source_ranges = true;", "nlb": ""}
PRODUCTS = pytest.mark.parametrize("product", [Clb(), Nlb()], ids=["clb", "nlb"])


def limits(world):
    """Blocks that may come in, by the name of the access list or security group for them."""
    state = world.cloud.state()
    lists = {acl["AclName"]: {e["Entry"] for e in state["aclEntries"] if e["AclId"] == acl["AclId"]} for acl in state["acls"]}
    groups = {one["SecurityGroupId"]: {rule.get("SourceCidrIp") for rule in state["securityRules"]
                                       if rule["SecurityGroupId"] == one["SecurityGroupId"] and rule["Policy"].lower() == "accept"}
              for one in state["securityGroups"] if OWNER_TAG in one["Tags"]}
    return {**lists, **groups}


def is_bound(product, lb):
    """None: some listeners are, others are not."""
    if product.name == "nlb":
        return len(lb["joined"]) > 0
    bound = {one.get("AclStatus") for one in lb["Listeners"]}
    return bound == {"on"} if len(bound) == 1 else None


def holds(world, product, wish):
    lb = product.only(world)
    if wish == "inner":
        return lb is None and limits(world) == {} and "finalizers" not in world.kube.get("Service", "web")["metadata"]
    wanted = [set(RANGES[wish])] if RANGES[wish] else []
    return (product.complete(lb, PORTS) and list(limits(world).values()) == wanted and is_bound(product, lb) == bool(wanted)
            and world.kube.ingress("web"))


class Editor:
    """Each edit changes something of the listeners as well."""

    def __init__(self, world, product):
        self.world, self.product, self.count = world, product, 0

    def wish(self, wish, **more):
        self.count += 1
        timeout = str(10 + self.count % 2)
        if self.product.name == "nlb":
            spec = {"loadBalancerClass": None if wish == "inner" else Nlb.service_class}
        else:
            spec = {}
        self.world.kube.patch("Service", "web", {
            "metadata": {"annotations": {PREFIX + "health-check-connect-timeout": timeout}},
            "spec": {**spec, **more, "type": "ClusterIP" if wish == "inner" else "LoadBalancer",
                     "loadBalancerSourceRanges": RANGES[wish]}})
        if wish == "inner":  # as API servers do by themselves
            self.world.kube.patch("Service", "web", {"status": {"loadBalancer": {"ingress": None}}}, subresource="status")

    def settle(self, wish):
        """It is looked at only when nothing is going on."""
        self.world.wait(lambda: self.world.idle() and holds(self.world, self.product, wish),
                        f"{wish} after {self.count} edits", 60)


def begin(world, product):
    product.configure(world, PLUGIN[product.name])
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(product.new("web", PORTS, loadBalancerSourceRanges=RANGES["one"]))
    editor = Editor(world, product)
    editor.settle("one")
    return editor


def end(world, editor):
    """Nothing of the Service is left."""
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion", 60)
    assert limits(world) == {} and editor.product.find(world) == []


def kill_at(world, editor, wish, nth, executed):
    """The nth call that follows from the edit is the last one: it is carried out, or not, and nobody hears of it."""
    world.wait(lambda: f"plugin {editor.product.name}: started" in world.ccmd.err(), "the start", 30)
    since = world.cloud.mark()
    rules = [{"match": {"action": "*", "nth": nth + executed}, "effect": {"cut": "before"}, "count": 100000}]
    if executed:
        rules.insert(0, {"match": {"action": "*", "nth": nth}, "effect": {"cut": "after"}, "count": 1})
    world.cloud.http.request("POST", "/_sim/faults", rules)
    editor.wish(wish)

    def over():
        return any("cut" in call for call in world.cloud.calls(since)) or holds(world, editor.product, wish)

    world.wait(over, f"call {nth} of {wish}", 60)
    world.kill_ccmd()
    world.cloud.clear_faults()
    world.start_ccmd()


@PRODUCTS
@pytest.mark.parametrize("seed", (1, 2))
def test_random_order(world, product, seed):
    chance = random.Random(seed)
    editor = begin(world, product)
    for _ in range(7):
        kill_at(world, editor, chance.choice(WISHES), chance.randint(1, 7), chance.random() < 0.5)
        if chance.random() < 0.4:
            wish = chance.choice(WISHES)
            editor.wish(wish)
            editor.settle(wish)
    editor.wish("two")
    editor.settle("two")
    editor.wish("inner")
    editor.settle("inner")
    editor.wish("open")
    editor.settle("open")
    end(world, editor)


@PRODUCTS
def test_type_and_ranges_in_one_edit(world, product):
    """The API server asks for it: no other type may have ranges."""
    editor = begin(world, product)
    editor.wish("inner")
    editor.settle("inner")
    end(world, editor)


@PRODUCTS
def test_another_step_fails(world, product):
    """In the pass that takes the ranges out a step fails, and the Service goes."""
    editor = begin(world, product)
    action = {"clb": "SetLoadBalancerTCPListenerAttribute", "nlb": "DeleteListener"}[product.name]
    world.cloud.fault(action, count=100000, code="InternalError", http=500)
    since = world.cloud.mark()
    editor.wish("open", ports=[{"name": "tcp-80", "port": 80, "targetPort": 8080, "protocol": "TCP"}])
    world.wait(lambda: world.cloud.actions(since).count(action) >= 8, "two passes that fail", 60)
    world.kill_ccmd()
    world.start_ccmd()
    world.wait(lambda: world.cloud.actions(since).count(action) >= 12, "and one of a new process", 60)
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion", 60)
    assert limits(world) == {} and product.find(world) == []


def test_a_listener_changes_afterwards(world):
    """It goes on telling the list that it had, which is gone; a new process has nothing else to go by."""
    product = Clb()
    editor = begin(world, product)
    editor.wish("open")
    editor.settle("open")
    for restart in (False, True):
        if restart:
            world.kill_ccmd()
            world.start_ccmd()
        since = world.cloud.mark()
        world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "scheduler": "wlc" if restart else "rr"}}})
        world.wait(lambda s="wlc" if restart else "rr": {
            one["Scheduler"] for one in product.only(world)["Listeners"]} == {s}, "the scheduler", 30)
        world.settled()
        assert not [call for call in world.cloud.calls(since) if call["http"] >= 400]
    end(world, editor)


def test_a_cloud_that_keeps_lists_bound(build, tmp_path):
    """AclStatus=off does not let go of the list: one try, an event, and it goes with the Service."""
    with World(build, tmp_path, cloud_args=["--limit=acl-off-keeps=1"]) as world:
        product = Clb()
        editor = begin(world, product)
        editor.wish("open")
        world.wait(lambda: any(e[1] == "AccessListKept" for e in world.kube.events("web")), "the event", 30)
        world.settled()
        assert is_bound(product, product.only(world)) is False and len(limits(world)) == 1
        assert world.cloud.actions().count("DeleteAccessControlList") == 1
        views.nodes(world, 1, first=3)
        world.wait(lambda: all(len(servers) == 3 for servers in views.backends(product.only(world))), "the third node", 30)
        editor.wish("two")
        editor.settle("two")
        editor.wish("inner")
        editor.settle("inner")
        end(world, editor)


@PRODUCTS
def test_another_load_balancer_takes_its_place(world, product):
    """It is deleted in the console with ranges in force, and the Service gets one that a person made: what limited the first
    one goes with the Service."""
    editor = begin(world, product)
    world.stop_ccmd()
    kind = {"clb": "loadbalancer", "nlb": "nlb"}[product.name]
    world.cloud.edit("delete", type=kind, id=product.only(world)["LoadBalancerId"])

    def call(action, params):
        done = world.cloud.edit("call", product=product.product, action=action, params=params)
        assert done["http"] == 200, done
        return done["answer"]

    other, _ = type(product)(call).make_lb("of-a-person", {}, {})
    world.kube.patch("Service", "web", {"metadata": {"labels": {"service.k8s.alibaba/loadbalancer-id": None}},
                                        "status": {"loadBalancer": {"ingress": None}}}, subresource="status")
    world.kube.patch("Service", "web", {"metadata": {"annotations": {
        PREFIX + "id": other, PREFIX + "force-override-listeners": "true"}}, "spec": {"loadBalancerSourceRanges": None}})
    world.start_ccmd()
    world.wait(lambda: len(product.only(world)["Listeners"]) == len(PORTS) and world.kube.ingress("web"), "its listeners", 60)
    world.settled()
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion", 60)
    assert limits(world) == {} and [lb["LoadBalancerId"] for lb in editor.product.find(world)] == [other]
