"""A Service goes over from one product to the other, from and to load balancers that a person has made, while the cloud refuses to let
the first one go: nothing of the Service is left there when it may."""

import pytest

from tests.support import views
from tests.support.products import PREFIX, Clb, Nlb

pytestmark = pytest.mark.time_scale(10)
PORTS = [(80, "TCP"), (443, "TCP")]
LABEL = "service.k8s.alibaba/loadbalancer-id"
PLUGINS = '{ name = "clb"; workers = 4; }, { name = "nlb"; workers = 4; }'
WAYS = pytest.mark.parametrize("first, second, killed", [(Clb, Nlb, False), (Clb, Nlb, True), (Nlb, Clb, False), (Nlb, Clb, True)],
                               ids=["clb-to-nlb", "clb-to-nlb-killed", "nlb-to-clb", "nlb-to-clb-killed"])
REFUSED = {"clb": "DeleteLoadBalancerListener", "nlb": "DeleteListener"}


def begin(world):
    """Both plugins, and the load balancers of a person, by product."""
    world.config = world.write_config(plugins=PLUGINS)
    views.nodes(world, 2)
    found = {}
    for kind in (Clb, Nlb):
        product = kind(lambda action, params, where=kind.product: world.cloud.edit(
            "call", product=where, action=action, params={key: str(value) for key, value in params.items()})["answer"])
        found[kind.name] = product.make_lb(f"{kind.name}-of-a-person", {}, {})[0]
    world.start_ccmd()
    return found


def annotations(lb):
    return {PREFIX + "id": lb, PREFIX + "force-override-listeners": "true"}


def label(world):
    return world.kube.get("Service", "web")["metadata"].get("labels", {}).get(LABEL)


def listeners(world, kind, lb):
    return next(one["Listeners"] for one in kind().find(world) if one["LoadBalancerId"] == lb)


def groups(world, kind, lb):
    return [group for one in kind().find(world) if one["LoadBalancerId"] == lb for group in one["Groups"]]


def go_over(world, second, lb):
    """By way of ClusterIP: a class cannot be changed."""
    world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP", "loadBalancerClass": None, "externalTrafficPolicy": None}})
    new = second().new("web", PORTS, annotations=annotations(lb))
    world.kube.patch("Service", "web", {"metadata": {"annotations": new["metadata"]["annotations"]}, "spec": {
        "type": "LoadBalancer", "loadBalancerClass": new["spec"].get("loadBalancerClass"), "externalTrafficPolicy": "Cluster"}})


@WAYS
def test_nothing_is_left(world, first, second, killed):
    lbs = begin(world)
    world.kube.create(first().new("web", PORTS, annotations=annotations(lbs[first.name])))
    world.wait(lambda: label(world) == lbs[first.name] and len(listeners(world, first, lbs[first.name])) == 2, "the first one", 30)
    world.settled()
    world.cloud.fault(REFUSED[first.name], count=10000, http=500, code="InternalError", message="not now")
    go_over(world, second, lbs[second.name])
    world.wait(lambda: len(listeners(world, second, lbs[second.name])) == 2 and second().status(
        next(one for one in second().find(world) if one["LoadBalancerId"] == lbs[second.name])).items() <= (
            world.kube.ingress("web") or [{}])[0].items(), "the address of the second one", 30)
    world.wait(lambda: [c for c in world.cloud.calls() if c["action"] == REFUSED[first.name]], "a refusal", 30)
    if killed:
        world.kill_ccmd()
        world.start_ccmd()
    world.cloud.clear_faults()
    world.wait(lambda: world.kube.get("Service", "web")["metadata"]["finalizers"] == [second.finalizer], "the end of the first one", 60)
    assert listeners(world, first, lbs[first.name]) == []
    assert [group for group in groups(world, first, lbs[first.name]) if "web" in group["name"]] == []
    world.wait(lambda: label(world) == lbs[second.name], "the label of the second one", 30)
    world.settled()
    assert len(listeners(world, second, lbs[second.name])) == 2 and len(world.kube.ingress("web")) == 1
