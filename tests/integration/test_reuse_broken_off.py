"""The first pass over a load balancer of a person is broken off by kill -9, and by then the Service wants something else: a load balancer
that another annotation names, one of another product, or none. Nothing of the Service is left where it was."""

import pytest

from tests.integration.test_product_changes import PLUGINS, annotations, listeners
from tests.support import views
from tests.support.products import PREFIX, PRODUCTS, Clb, Nlb

PORTS = [(80, "TCP"), (443, "TCP")]
CALLS = {"clb": 10, "nlb": 11}  # of a first pass with them
FIRST_LISTENER = {"clb": "CreateLoadBalancerTCPListener", "nlb": "CreateListener"}
MOMENTS = [pytest.param(kind, nth, moment, id=f"{kind.name}-{moment}-{nth}") for kind in (Clb, Nlb)
           for moment in ("before", "after") for nth in range(1, CALLS[kind.name] + 1)]
KINDS = pytest.mark.parametrize("kind", [Clb, Nlb], ids=["clb", "nlb"])


def begin(world, *names):
    """Both plugins, and load balancers of a person by those names: their ids."""
    world.config = world.write_config(plugins=PLUGINS)
    views.nodes(world, 2)
    found = []
    for name in names:
        kind = PRODUCTS[name.split("-")[0]]
        product = kind(lambda action, params, where=kind.product: world.cloud.edit(
            "call", product=where, action=action, params={key: str(value) for key, value in params.items()})["answer"])
        found.append(product.make_lb(name, {}, {})[0])
    return found


def break_off(world, kind, lb, moment, nth, action=None):
    """A Service on that load balancer, and a crash at its nth call."""
    world.cloud.fault(action, nth=nth, cut=moment, delay_ms=600000)
    world.start_ccmd()
    service = world.kube.create(kind().new("web", PORTS, annotations=annotations(lb)))
    world.wait(lambda: any(c["http"] == 0 and (action is None or c["action"] == action) for c in world.cloud.calls()), "the call", 30)
    world.kill_ccmd()
    world.cloud.clear_faults()
    return service


def left(world, kind, lb, service):
    """What is there of the Service."""
    found = next(one for one in kind().find(world) if one["LoadBalancerId"] == lb)
    names = [group["name"] for group in found["Groups"] if "web" in group["name"]]
    return found["Listeners"] + names + kind().left(world.cloud.state(), service) + list(found.get("Tags") or [])


def own_labels(world):
    return [key for key in world.kube.get("Service", "web")["metadata"].get("labels") or {} if "alibaba" in key]


@pytest.mark.parametrize("kind, nth, moment", MOMENTS)
def test_killed_at_call_and_wanted_no_more(world, kind, nth, moment):
    lb, = begin(world, kind.name)
    service = break_off(world, kind, lb, moment, nth)
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "id": None}}, "spec": {
        "type": "ClusterIP", "loadBalancerClass": None, "externalTrafficPolicy": None}})
    world.start_ccmd()
    world.wait(lambda: not world.kube.get("Service", "web")["metadata"].get("finalizers"), "the end of it", 60)
    assert left(world, kind, lb, service) == []
    assert own_labels(world) == []


@KINDS
def test_another_id(world, kind):
    first, second = begin(world, kind.name + "-first", kind.name + "-second")
    service = break_off(world, kind, first, "after", 1, FIRST_LISTENER[kind.name])
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "id": second}}})
    world.start_ccmd()
    world.wait(lambda: len(listeners(world, kind, second)) == 2 and world.kube.ingress("web"), "the second one", 30)
    assert listeners(world, kind, first) == []
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion", 30)
    assert left(world, kind, first, service) == left(world, kind, second, service) == []


@KINDS
def test_one_of_its_own(world, kind):
    first, = begin(world, kind.name + "-first")
    break_off(world, kind, first, "after", 1, FIRST_LISTENER[kind.name])
    new = kind().new("web", PORTS)
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "id": None, **new["metadata"]["annotations"]}}})
    world.start_ccmd()
    own = world.wait(lambda: next((one for one in kind().find(world) if one["LoadBalancerId"] != first), None), "its own", 30)
    world.wait(lambda: len(listeners(world, kind, own["LoadBalancerId"])) == 2 and world.kube.ingress("web"), "both ports", 30)
    assert listeners(world, kind, first) == []


@pytest.mark.parametrize("first, second", [(Clb, Nlb), (Nlb, Clb)], ids=["clb-to-nlb", "nlb-to-clb"])
def test_another_product(world, first, second):
    lbs = begin(world, first.name, second.name)
    service = break_off(world, first, lbs[0], "after", 1, FIRST_LISTENER[first.name])
    world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP", "loadBalancerClass": None, "externalTrafficPolicy": None}})
    new = second().new("web", PORTS, annotations=annotations(lbs[1]))
    world.kube.patch("Service", "web", {"metadata": {"annotations": new["metadata"]["annotations"]}, "spec": {
        "type": "LoadBalancer", "loadBalancerClass": new["spec"].get("loadBalancerClass"), "externalTrafficPolicy": "Cluster"}})
    world.start_ccmd()
    world.wait(lambda: len(listeners(world, second, lbs[1])) == 2 and world.kube.get("Service", "web")["metadata"]["finalizers"]
               == [second.finalizer], "the second one alone", 60)
    assert left(world, first, lbs[0], service) == []


@KINDS
def test_another_one_in_the_label(world, kind):
    """Whoever edits the label cannot have what is not the Service's taken away."""
    lb, others = begin(world, kind.name + "-mine", kind.name + "-others")
    world.start_ccmd()
    world.kube.create(kind().new("theirs", [(81, "TCP")], annotations=annotations(others)))
    world.kube.create(kind().new("own", [(82, "TCP")]))
    world.kube.create(kind().new("web", PORTS, annotations=annotations(lb)))
    world.wait(lambda: all(world.kube.ingress(name) for name in ("theirs", "own", "web")), "three Services", 30)
    world.settled()
    label = f"ccm.alibabacloud.com/reused-{kind.name}"
    foreign = [one["LoadBalancerId"] for one in kind().find(world) if one["LoadBalancerId"] not in (lb, others)]
    before = [one for one in kind().find(world) if one["LoadBalancerId"] != lb]
    assert world.kube.get("Service", "web")["metadata"]["labels"][label] == lb and len(foreign) == 1
    for edited in (others, foreign[0], "lb-none"):
        world.kube.patch("Service", "web", {"metadata": {"labels": {label: edited}}})
        world.wait(lambda: world.kube.get("Service", "web")["metadata"]["labels"].get(label) == lb, "the label", 30)
        assert [one for one in kind().find(world) if one["LoadBalancerId"] != lb] == before
    world.settled()
    world.stop_ccmd()
    world.kube.patch("Service", "web", {"metadata": {"labels": {label: foreign[0]}}})
    world.start_ccmd()
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion", 30)
    assert [one for one in kind().find(world) if one["LoadBalancerId"] != lb] == before
    assert listeners(world, kind, lb) == []
