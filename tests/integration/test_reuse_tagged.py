"""Option reuse becomes "tagged" in a cluster whose Services already serve on load balancers of persons: backends follow, and what a Service
would newly claim is refused. `ccmd plan` names these Services before."""

import re

import pytest

from tests.support import objects, proc, views
from tests.support.owned import Console
from tests.support.products import PREFIX, default_name
from tests.support.scenario_look import is_read

pytestmark = pytest.mark.time_scale(10)
PODS = {"service.beta.kubernetes.io/backend-type": "eni"}
USE, CONFIGURE = "ccm.alibabacloud.com/allow-namespaces", "ccm.alibabacloud.com/allow-configuration"
HASH, LABEL = "service.beta.kubernetes.io/hash", "service.k8s.alibaba/loadbalancer-id"
BEFORE, AFTER, LATER = ([(f"10.1.1.{n}", "node-1"), (f"10.2.2.{n}", "node-2")] for n in (1, 2, 3))
THEIRS = {"server": "node-2", "port": 9000, "weight": None}
NOT_USED, NOT_CONFIGURED = "can not be reused, option reuse of the", "stays as it is: option reuse is tagged"

# What of the load balancer the Service has: its own listeners and groups, a listener that it took over, its own groups alone, a group of
# the person, the same with listeners of its own.
SHAPES = {
    "own": {"force-override-listeners": "true"},
    "taken": {"force-override-listeners": "true"},
    "groups": {"force-override-listeners": "false"},
    "chosen": {"force-override-listeners": "false", "vgroup-port": "%s:80"},
    "chosen-own": {"force-override-listeners": "true", "vgroup-port": "%s:80"},
}
# Tags of the load balancer.
TAGS = {"none": {}, "others": {USE: "shop"}, "namespace": {USE: "default"}}
# What shows that the Service has it: all that ccmd writes, or less.
MARKS = {"ccmd": (), "reference": ("reused", HASH), "names": ("reused", HASH, LABEL)}
PRODUCTS = pytest.mark.parametrize("product", ["clb", "nlb"])
ALL_SHAPES = pytest.mark.parametrize("shape", list(SHAPES))
ALL_TAGS = pytest.mark.parametrize("tags", list(TAGS))


class Tenant:
    """A Service with pods behind it that works on a load balancer of a person, while the option is "on"."""

    def __init__(self, world, product, shape, tags="none", pods=True):
        self.world = world
        self.console = Console(world, product)
        views.nodes(world, 2)
        made = self.console.product
        self.lb_id, _ = made.make_lb("mine", {}, TAGS[tags])
        made.make_group(self.lb_id, "theirs", [THEIRS])
        made.groups.setdefault(self.lb_id, {})
        self.theirs = made.groups[self.lb_id].get("theirs") or self.shown()["Groups"][0]["id"]
        if shape == "taken":
            made.make_listener(self.lb_id, "80/tcp", self.theirs, {})
        asked = {PREFIX + name: value.replace("%s", self.theirs) for name, value in SHAPES[shape].items()}
        service = world.kube.create(made.new("web", annotations={PREFIX + "id": self.lb_id, **(PODS if pods else {}), **asked}))
        world.kube.create(objects.endpoint_slice(service, BEFORE))
        world.start_ccmd()
        world.wait(lambda: self.console.said("web", "EnsuredLoadBalancer") and world.kube.ingress("web"), "the Service to work", 30)
        world.settled()
        assert self.servers() == (self.expected(BEFORE) if pods else ["node-1", "node-2"])

    def shown(self):
        return self.console.lb(self.lb_id)

    def servers(self):
        """Also of groups that no listener uses."""
        return sorted(server for group in self.groups() for server, port, _ in group["servers"] if port != THEIRS["port"])

    def groups(self):
        uid = self.world.kube.get("Service", "web")["metadata"]["uid"]
        owners = {self.lb_id: {default_name(uid)}}
        found = self.console.product.load_balancers(self.world.cloud.state(), owners)
        return next(one for one in found if one["LoadBalancerId"] == self.lb_id)["Groups"]

    @staticmethod
    def expected(pods):
        return sorted(address for address, _ in pods)

    def rest(self):
        """All of the load balancer but what is in its groups."""
        found = self.shown()
        parts = ("servers", "Servers", "BackendServers", "ServerCount")
        assert [one for group in self.groups() for one in group["servers"] if one[1] == THEIRS["port"]]
        groups = [{key: value for key, value in group.items() if key not in parts} for group in self.groups()]
        return {**{key: value for key, value in found.items() if key != "VServerGroups"}, "Groups": groups}

    def replace(self, pods):
        self.world.kube.replace(objects.endpoint_slice(self.world.kube.get("Service", "web"), pods))

    def follow(self, pods):
        self.replace(pods)
        self.world.wait(lambda: self.servers() == self.expected(pods), f"the backends {pods}", 20)
        self.world.settled()

    def take_marks(self, names):
        labels = {f"ccm.alibabacloud.com/reused-{self.console.product.name}" if name == "reused" else name: None for name in names}
        self.world.kube.patch("Service", "web", {"metadata": {"labels": labels}})

    def tighten(self, marks="ccmd", mode="tagged"):
        self.world.stop_ccmd()
        self.take_marks(MARKS[marks])
        self.console.product.configure(self.world, f'audit_interval_s = 0; reuse = "{mode}";')

    def refusals(self):
        return self.console.said("web", "SyncLoadBalancerFailed", "option reuse")


def is_refused(shape, tags):
    return tags != "namespace" or shape.startswith("chosen")


@PRODUCTS
@ALL_SHAPES
@ALL_TAGS
@pytest.mark.parametrize("marks", list(MARKS))
def test_what_serves_follows(world, product, shape, tags, marks):
    tenant = Tenant(world, product, shape, tags)
    before = tenant.rest()
    shown = world.kube.ingress("web")
    tenant.tighten(marks)
    world.start_ccmd()
    if is_refused(shape, tags):
        world.wait(tenant.refusals, "the refusal", 20)
    tenant.follow(AFTER)
    assert tenant.rest() == before and world.kube.ingress("web") == shown
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "name": "renamed", PREFIX + "additional-resource-tags": "a=b"}}})
    world.settled()
    tenant.follow(LATER)
    assert tenant.rest() == before
    assert bool(tenant.refusals()) == is_refused(shape, tags), world.kube.events("web")


@PRODUCTS
@ALL_SHAPES
@pytest.mark.parametrize("mode, marks", [("tagged", "ccmd"), ("off", "names")])
def test_nodes_are_followed_too(world, product, shape, marks, mode):
    tenant = Tenant(world, product, shape, pods=False)
    before = tenant.rest()
    tenant.tighten(marks, mode)
    world.start_ccmd()
    world.wait(tenant.refusals, "the refusal", 20)
    views.nodes(world, 1, first=3)
    world.wait(lambda: tenant.servers() == ["node-1", "node-2", "node-3"], "the new node", 20)
    world.kube.delete("Node", "node-1")
    world.wait(lambda: tenant.servers() == ["node-2", "node-3"], "the end of the node", 20)
    world.settled()
    assert tenant.rest() == before


@PRODUCTS
@ALL_SHAPES
@pytest.mark.parametrize("marks", list(MARKS))
def test_its_deletion_takes_away_what_is_its_own(world, product, shape, marks):
    tenant = Tenant(world, product, shape)
    tenant.tighten(marks)
    world.start_ccmd()
    world.wait(tenant.refusals, "the refusal", 20)
    world.kube.delete("Service", "web")
    tenant.console.gone()
    left = tenant.shown()
    assert left["Listeners"] == [] and [group["name"] for group in left["Groups"]] == ["theirs"]
    assert left["Groups"][0]["servers"] == [("node-2", THEIRS["port"], 100)]


@PRODUCTS
@ALL_SHAPES
def test_it_claims_no_further_port(world, product, shape):
    tenant = Tenant(world, product, shape)
    before = tenant.rest()
    tenant.tighten()
    world.start_ccmd()
    world.wait(tenant.refusals, "the refusal", 20)
    ports = [*world.kube.get("Service", "web")["spec"]["ports"], {"name": "more", "port": 443, "protocol": "TCP", "targetPort": 8443, "nodePort": 32443}]
    world.kube.patch("Service", "web", {"spec": {"ports": ports}})
    world.settled()
    tenant.follow(AFTER)
    assert tenant.rest() == before


@PRODUCTS
@ALL_SHAPES
@ALL_TAGS
def test_a_plan_stops(world, product, shape, tags):
    """Exit code 1, and the way out, for each Service that would be refused; the load balancer is not touched."""
    tenant = Tenant(world, product, shape, tags)
    tenant.tighten()
    since = world.cloud.mark()
    code, out, err = proc.run([world.binary("ccmd"), "plan", "--config", world.config], timeout=60)
    assert code == (1 if is_refused(shape, tags) else 0), out + err
    assert [action for action in world.cloud.actions(since) if not is_read(action)] == []
    if tags != "namespace":
        assert re.search(f"failed:.*{tenant.lb_id} {NOT_USED} .* is tagged, and its tag {USE} does not name namespace default: "
                         "whoever owns it may set that tag", out), out
    elif is_refused(shape, tags):
        assert re.search(f"failed:.*{NOT_CONFIGURED}, and the load balancer's tag {CONFIGURE} does not name this namespace", out), out
