"""Labels of a Service that name a load balancer: whoever may edit the Service may edit them. They lead to what is the Service's there, and
change nothing else."""

import pytest

from tests.integration.test_reuse_broken_off import KINDS
from tests.support import views
from tests.support.products import PREFIX, Clb

PORTS = [(80, "TCP")]
IN_USE = "kubernetes.reused.by.user"
LB_LABEL = "service.k8s.alibaba/loadbalancer-id"
REUSED = "ccm.alibabacloud.com/reused-"
CLEARED = {"status": {"loadBalancer": None}}
MODES = pytest.mark.parametrize("mode, tags", [("off", {}), ("tagged", {"ccm.alibabacloud.com/use": "team-a"})], ids=["off", "tagged"])


def others(world, tags):
    """A load balancer that another cluster uses with groups of its own choice: nothing there but the tag tells of it."""
    product = Clb(lambda action, params: world.cloud.edit(
        "call", product="slb", action=action, params={key: str(value) for key, value in params.items()})["answer"])
    return product.make_lb("of-another-cluster", {}, {IN_USE: "true", **tags})[0]


def shown(world, lb):
    return next(one for one in Clb().find(world) if one["LoadBalancerId"] == lb)


@MODES
def test_mark_of_use(world, mode, tags):
    """Of a load balancer that the namespace may not use it stays."""
    Clb().configure(world, f'reuse = "{mode}";')
    views.nodes(world, 2)
    lb = others(world, tags)
    before = shown(world, lb)
    world.start_ccmd()
    web = Clb().new("web", PORTS)
    web["metadata"]["labels"] = {REUSED + "clb": lb}
    world.kube.create(web)
    world.wait(lambda: world.kube.ingress("web"), "one of its own", 30)
    world.settled()
    assert shown(world, lb) == before
    world.kube.patch("Service", "web", {"metadata": {"labels": {LB_LABEL: lb, REUSED + "clb": lb}}})
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion", 30)
    assert Clb().find(world) == [before]


@KINDS
@pytest.mark.parametrize("annotated", [False, True], ids=["plain", "annotated"])
def test_own_one(world, kind, annotated):
    """It is not released because a label calls it a person's."""
    product = kind()
    product.configure(world)
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(product.new("web", PORTS))
    world.wait(lambda: world.kube.ingress("web"), "its load balancer", 30)
    world.settled()
    world.stop_ccmd()
    own = product.only(world)["LoadBalancerId"]
    since = world.cloud.mark()
    world.kube.patch("Service", "web", {"metadata": {"labels": {REUSED + kind.name: own}, "annotations": {
        PREFIX + "delete-protection": "on"} if annotated else {}}})
    world.kube.patch("Service", "web", CLEARED, subresource="status")
    world.start_ccmd()
    world.wait(lambda: world.kube.ingress("web") and REUSED + kind.name not in world.kube.get("Service", "web")["metadata"]["labels"],
               "its address", 30)
    assert product.only(world)["LoadBalancerId"] == own
    assert [a for a in world.cloud.actions(since) if a.startswith("Delete")] == []


@KINDS
def test_tags_of_the_next_one(world, kind):
    """What a Service has put on one load balancer of a person says nothing about equal tags of the next."""
    product = kind(lambda action, params: world.cloud.edit(
        "call", product=kind.product, action=action, params={key: str(value) for key, value in params.items()})["answer"])
    product.configure(world)
    views.nodes(world, 2)
    first, second = product.make_lb("first", {}, {})[0], product.make_lb("second", {}, {"team": "a"})[0]
    world.start_ccmd()
    world.kube.create(product.new("web", PORTS, annotations={
        PREFIX + "id": first, PREFIX + "force-override-listeners": "true", PREFIX + "additional-resource-tags": "team=a"}))
    world.wait(lambda: world.kube.ingress("web") and tags(world, kind, first).get("team") == "a", "the first one", 30)
    world.settled()
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "id": second}}})
    world.kube.patch("Service", "web", CLEARED, subresource="status")
    world.wait(lambda: world.kube.ingress("web") and
               world.kube.get("Service", "web")["metadata"]["labels"].get(LB_LABEL) == second, "the second one", 30)
    world.settled()
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "additional-resource-tags": None}}})
    world.settled()
    assert tags(world, kind, second).get("team") == "a"


def tags(world, kind, lb):
    return next(one for one in kind().find(world) if one["LoadBalancerId"] == lb).get("Tags") or {}
