"""kill -9 between any two cloud calls of the creation of a Gateway, before and after the cloud has executed the call."""

import pytest

from tests.support import views
from tests.support.gateway_api import GatewayWorld, backend, listener, service


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("nth", range(1, 12))
def test_killed_at_call(world, nth, moment):
    """The next process completes what is there, and makes nothing twice."""
    views.nodes(world, 2)
    api = GatewayWorld(world)
    api.define()
    api.configure()
    api.make_class()
    world.kube.create(service("web"))
    api.make_gateway(listener("tcp", 8080), listener("more", 8081))
    api.make_route("web", backend("web"))
    world.cloud.fault(nth=nth, cut=moment, delay_ms=600000)
    world.start_ccmd()
    world.wait(lambda: any(c["seq"] >= nth and c["http"] == 0 for c in world.cloud.calls()), f"call {nth}")
    world.kill_ccmd()
    world.cloud.clear_faults()
    world.start_ccmd()
    port = world.kube.get("Service", "web")["spec"]["ports"][0]["nodePort"]
    servers = [("node-1", port, 100), ("node-2", port, 100)]
    wanted = {"8080/tcp": servers, "8081/tcp": servers}
    world.wait(lambda: api.served() == wanted and api.programmed(), "the load balancer", timeout=40)
    assert len(world.cloud.state()["nlbServerGroups"]) == 2 and len(api.load_balancers()) == 1
    api.delete("Gateway", "web")
    world.wait(lambda: api.get("Gateway", "web") is None, "the deletion")
    assert not world.cloud.state()["nlbServerGroups"] and not api.load_balancers()
