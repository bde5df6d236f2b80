"""kill -9 between any two cloud calls of a creation, before and after the cloud has executed the call."""

import pytest

from tests.support import objects, views

PORTS = ((80, "TCP"), (443, "UDP"))
CALLS = 8  # of a creation with two ports, see test_call_counts.py


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("nth", range(1, CALLS + 1))
def test_killed_at_call(world, nth, moment):
    views.nodes(world, 2)
    # The nth call hangs: "before" it is executed, or "after", and is never answered.
    world.cloud.fault(nth=nth, cut=moment, delay_ms=600000)
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: any(c["seq"] >= nth and c["http"] == 0 for c in world.cloud.calls()), f"call {nth}")
    world.kill_ccmd()
    world.cloud.clear_faults()

    world.start_ccmd()
    lb = world.wait(lambda: views.complete(views.only_lb(world), PORTS) and views.only_lb(world), "one complete CLB")
    world.wait(lambda: [i["ip"] for i in world.kube.ingress("web")] == [lb["Address"]], "its address in the status")
    assert len(lb["VServerGroups"]) == 2
    assert all(len(servers) == 2 for servers in views.backends(lb))

    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")
    assert world.cloud.load_balancers() == []


@pytest.mark.parametrize("nth", range(1, CALLS + 1))
@pytest.mark.parametrize("moment", ["before", "after"])
def test_answer_lost_at_call(world, nth, moment):
    """The same without a crash: the connection drops and nobody tells whether the call ran."""
    views.nodes(world, 2)
    world.cloud.fault(nth=nth, cut=moment)
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: views.complete(views.only_lb(world), PORTS), "one complete CLB", timeout=30)
    assert len(views.only_lb(world)["VServerGroups"]) == 2
