"""Each call of a creation gets no answer, before and after the cloud has executed it; at one of them ccmd is killed, too.

The simulation kills it after every effect: simulation-explore-clb-create-edit-delete and -nlb-eni."""

import pytest

from tests.support import views
from tests.support.products import Clb, Nlb

# product, ports, calls of a creation with them (see test_call_counts.py)
KINDS = ((Clb(), ((80, "TCP"), (443, "UDP")), 8), (Nlb(), ((80, "TCP"), (443, "UDP")), 11))
MOMENTS = [pytest.param(product, ports, nth, moment, id=f"{product.name}-{moment}-{nth}")
           for product, ports, calls in KINDS for moment in ("before", "after") for nth in range(1, calls + 1)]
CREATION = [moment for moment in MOMENTS if moment.values[2] == 2]


@pytest.mark.parametrize("product, ports, nth, moment", CREATION)
def test_killed_at_call(world, product, ports, nth, moment):
    product.configure(world)
    views.nodes(world, 2)
    # The nth call hangs: "before" it is executed, or "after", and is never answered.
    world.cloud.fault(nth=nth, cut=moment, delay_ms=600000)
    world.start_ccmd()
    service = world.kube.create(product.new("web", ports))
    world.wait(lambda: any(c["seq"] >= nth and c["http"] == 0 for c in world.cloud.calls()), f"call {nth}")
    world.kill_ccmd()
    world.cloud.clear_faults()

    world.start_ccmd()
    lb = world.wait(lambda: product.complete(product.only(world), ports) and product.only(world), "one complete load balancer")
    world.wait(lambda: [{k: i[k] for k in ("ip", "hostname") if k in i} for i in world.kube.ingress("web")]
               == [product.status(lb)], "its address in the status")
    assert len(lb["Groups"]) == 2
    assert all(len(group["servers"]) == 2 for group in lb["Groups"])

    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")
    assert product.find(world) == []
    assert product.left(world.cloud.state(), service) == []


@pytest.mark.parametrize("product, ports, nth, moment", MOMENTS)
def test_answer_lost_at_call(world, product, ports, nth, moment):
    """The same without a crash: the connection drops and nobody tells whether the call ran."""
    product.configure(world)
    views.nodes(world, 2)
    world.cloud.fault(nth=nth, cut=moment)
    world.start_ccmd()
    world.kube.create(product.new("web", ports))
    world.wait(lambda: product.complete(product.only(world), ports), "one complete load balancer", timeout=30)
    assert len(product.only(world)["Groups"]) == 2
