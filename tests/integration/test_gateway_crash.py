"""kill -9 between any two cloud calls of a change of a Gateway, before and after the cloud has executed the call; at one of those of its
creation, of its deletion, and of a change of a ListenerSet.

The simulation kills it there after every effect: simulation-explore-gateway-listener-sets."""

import pytest

from tests.support.gateway_api import backend, listener, service, world_with_gateway

pytestmark = pytest.mark.time_scale(10)
# Calls. Those of the change before the fifth only read, and as few as twelve are made when it comes as one.
CREATION, CHANGE, DELETION = [2], range(5, 13), [2]
TCP, MORE, DNS = listener("tcp", 8080), listener("more", 8081), listener("dns", 53, "UDP")


def moments(calls):
    return [pytest.param(nth, moment, id=f"{moment}-{nth}") for moment in ("before", "after") for nth in calls]


def servers(world, name):
    port = world.kube.get("Service", name)["spec"]["ports"][0]["nodePort"]
    return [("node-1", port, 100), ("node-2", port, 100)]


def cut(world, nth, moment, act, action=None):
    """What `act` leads to ends at its nth call of the action: the process dies, and the next one finds what is there."""
    before = world.cloud.mark()
    world.cloud.fault(action, nth=nth, cut=moment, delay_ms=600000)
    act()
    world.wait(lambda: any(call["http"] == 0 for call in world.cloud.calls(before)), f"call {nth}")
    world.kill_ccmd()
    world.cloud.clear_faults()
    world.start_ccmd()


def wait_gone(world, api):
    world.wait(lambda: api.get("Gateway", "web") is None, "the deletion", timeout=40)
    assert not world.cloud.state()["nlbServerGroups"] and not api.load_balancers()


@pytest.mark.parametrize("nth, moment", moments(CREATION))
def test_killed_at_call(world, nth, moment):
    """The next process completes what is there, and makes nothing twice."""
    api = world_with_gateway(world, TCP, MORE)
    cut(world, nth, moment, world.start_ccmd)
    wanted = {"8080/tcp": servers(world, "web"), "8081/tcp": servers(world, "web")}
    world.wait(lambda: api.served() == wanted and api.programmed(), "the load balancer", timeout=40)
    assert len(world.cloud.state()["nlbServerGroups"]) == 2 and len(api.load_balancers()) == 1
    api.delete("Gateway", "web")
    wait_gone(world, api)


@pytest.mark.parametrize("nth, moment", moments(CHANGE))
def test_killed_at_call_of_a_change(world, nth, moment):
    """A listener goes, another one comes, and the servers of the third are those of another Service."""
    api = world_with_gateway(world, TCP, MORE)
    world.kube.create(service("new"), service("dns", 53, "UDP"))
    api.make_route("dns", backend("dns", 53), kind="UDPRoute")
    world.start_ccmd()
    world.wait(api.programmed, "the load balancer")
    world.settled()

    def change():
        api.patch("Gateway", "web", {"spec": {"listeners": [TCP, DNS]}})
        api.patch("TCPRoute", "web", {"spec": {"rules": [{"backendRefs": [backend("new")]}]}})

    cut(world, nth, moment, change)
    wanted = {"8080/tcp": servers(world, "new"), "53/udp": servers(world, "dns")}
    world.wait(lambda: api.served() == wanted and api.programmed(), "the change", timeout=40)
    world.wait(lambda: len(world.cloud.state()["nlbServerGroups"]) == 2, "the group of the listener that went to go", timeout=40)
    assert len(api.load_balancers()) == 1


@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_at_call_of_a_change_of_a_set(world, moment):
    """The same with listeners of a ListenerSet; what it says of them is true in the end."""
    api = world_with_gateway(world, TCP, MORE)
    world.kube.create(service("new"), service("dns", 53, "UDP"))
    parent = {"kind": "ListenerSet", "name": "extra"}
    api.patch("Gateway", "web", {"spec": {"listeners": [TCP], "allowedListeners": {"namespaces": {"from": "Same"}}}})
    api.create("ListenerSet", "extra", {"parentRef": {"name": "web"}, "listeners": [MORE]})
    api.patch("TCPRoute", "web", {"spec": {"parentRefs": [{"name": "web"}, parent]}})
    api.create("UDPRoute", "dns", {"parentRefs": [parent], "rules": [{"backendRefs": [backend("dns", 53)]}]})
    world.start_ccmd()
    world.wait(lambda: api.programmed() and len(api.served()) == 2, "the load balancer")
    world.settled()

    def change():
        api.patch("ListenerSet", "extra", {"spec": {"listeners": [DNS]}})
        api.patch("TCPRoute", "web", {"spec": {"rules": [{"backendRefs": [backend("new")]}]}})

    cut(world, 1, moment, change, "CreateServerGroup")
    wanted = {"8080/tcp": servers(world, "new"), "53/udp": servers(world, "dns")}
    world.wait(lambda: api.served() == wanted and api.programmed(), "the change", timeout=40)

    def told():
        found = api.get("ListenerSet", "extra")
        said = [(one["type"], one["status"], one["observedGeneration"]) for one in found["status"]["conditions"]]
        return sorted(said) == [(one, "True", found["metadata"]["generation"]) for one in ("Accepted", "Programmed")]

    world.wait(told, "what the set says", timeout=40)
    world.wait(lambda: len(world.cloud.state()["nlbServerGroups"]) == 2, "the group of the listener that went to go", timeout=40)


@pytest.mark.parametrize("nth, moment", moments(DELETION))
def test_killed_at_call_of_a_deletion(world, nth, moment):
    api = world_with_gateway(world, TCP, MORE)
    world.start_ccmd()
    world.wait(api.programmed, "the load balancer")
    world.settled()
    cut(world, nth, moment, lambda: api.delete("Gateway", "web"))
    wait_gone(world, api)
