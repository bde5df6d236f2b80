"""The end of a load balancer: what a Service shows of it goes before it does, and a crash at any call leaves nothing behind."""

import fnmatch

import pytest

from tests.support import views
from tests.support.products import Clb, Nlb

PORTS = ((80, "TCP"), (443, "TCP"))
KINDS = (Clb(), Nlb())
PLUGIN = {"clb": "source_ranges = true;", "nlb": ""}
LABELS = ("service.beta.kubernetes.io/hash", "service.k8s.alibaba/loadbalancer-id")
TYPES = ("ClusterIP", "NodePort")
# calls of the end, reads included: of CLB a read, the protection, the deletion
CRASHES = [pytest.param(product, nth, moment, id=f"{product.name}-{moment}-{nth}")
           for product, calls in zip(KINDS, (3, 9)) for nth in range(1, calls + 1) for moment in ("before", "after")]


def created(world, product, **options):
    product.configure(world, PLUGIN[product.name])
    views.nodes(world, 2)
    world.start_ccmd()
    service = world.kube.create(product.new("web", PORTS, **options))
    world.wait(lambda: product.complete(product.only(world), PORTS) and world.kube.ingress("web"), "the load balancer")
    world.settled()
    return service


def end(world, how):
    if how == "deleted":
        world.kube.delete("Service", "web")
    else:
        world.kube.patch("Service", "web", {"spec": {"type": how, "loadBalancerClass": None, "loadBalancerSourceRanges": None}})


def shown(service):
    """What a Service shows of its load balancer."""
    labels = service["metadata"].get("labels", {})
    return [key for key in LABELS if key in labels] + service.get("status", {}).get("loadBalancer", {}).get("ingress", [])


def is_over(world, product):
    service = world.kube.get("Service", "web")
    return service is None or product.finalizer not in service["metadata"].get("finalizers", [])


@pytest.mark.parametrize("how", (*TYPES, "deleted"))
@pytest.mark.parametrize("product", KINDS, ids=lambda product: product.name)
def test_nothing_is_shown_of_what_is_not_there(world, product, how):
    """At the moment of its deletion in the cloud the Service shows nothing of it, but has its finalizer."""
    service = created(world, product)
    world.cloud.fault(action="DeleteLoadBalancer", delay_ms=600000, cut="before")
    end(world, how)
    world.wait(lambda: "DeleteLoadBalancer" in world.cloud.actions(), "the deletion")
    now = world.kube.get("Service", "web")
    assert shown(now) == []
    assert product.finalizer in now["metadata"]["finalizers"]
    assert product.only(world) is not None
    world.kill_ccmd()
    world.cloud.clear_faults()
    world.start_ccmd()
    world.wait(lambda: is_over(world, product), "the end")
    assert product.find(world) == []
    assert product.left(world.cloud.state(), service) == []


def survive(world, product, service, simulator, how, nth, action="*", **fault):
    """The end begins, ccmd is killed at the n-th call of the action, and another one ends it. Whether there was such a call."""
    since = simulator.mark()
    simulator.fault(delay_ms=600000, nth=nth, action=action, **fault)

    def arrived():
        return len([c for c in simulator.calls(since) if fnmatch.fnmatch(c["action"], action)]) >= nth

    end(world, how)
    world.wait(lambda: arrived() or is_over(world, product), "the call")
    hung = arrived()  # it may be the one that ended it
    world.kill_ccmd()
    simulator.clear_faults()
    world.start_ccmd()
    world.wait(lambda: f"plugin {product.name}: started" in world.ccmd.err(), "the start", 30)
    world.wait(lambda: is_over(world, product), "the end")
    assert product.find(world) == []
    assert product.left(world.cloud.state(), service) == []
    assert world.cloud.state()["acls"] == []
    last = world.kube.get("Service", "web")
    assert last is None or shown(last) == []
    return hung


@pytest.mark.parametrize("product, nth, moment", CRASHES)
def test_killed_at_a_call_to_the_cloud(world, product, nth, moment):
    """With source ranges: their label outlives the others."""
    service = created(world, product, loadBalancerSourceRanges=["10.0.0.0/8"])
    how = (*TYPES, "deleted")[nth % 3]
    survive(world, product, service, world.cloud, how, nth=nth, cut=moment)


@pytest.mark.parametrize("nth", (1, 2, 3))
@pytest.mark.parametrize("moment", ("before", "after"))
@pytest.mark.parametrize("product", KINDS, ids=lambda product: product.name)
def test_killed_at_a_call_to_the_server(world, product, nth, moment):
    """Labels and status, the label for source ranges, the finalizer."""
    service = created(world, product, loadBalancerSourceRanges=["10.0.0.0/8"])
    path = "PATCH /api/v1/namespaces/default/services/*"
    assert survive(world, product, service, world.kube, "deleted", action=path, nth=nth, cut=moment)
