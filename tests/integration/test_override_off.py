"""Annotation force-override-listeners of a Service on a load balancer of a person is switched off, and the Service is deleted, gets
another type, or loses a port. CLB and NLB end in the same state: own listeners and groups go, a person's stay."""

import pytest

from tests.support import views
from tests.support.owned import PREFIX, Console

KEY = PREFIX + "force-override-listeners"
THEIRS, OWN, OTHER = "9000/tcp", "80/tcp", "443/tcp"


@pytest.fixture(params=["clb", "nlb"])
def console(world, request):
    console = Console(world, request.param)
    views.nodes(world, 2)
    lb_id, _ = console.product.make_lb("by-hand", {}, {})
    console.product.make_group(lb_id, "theirs", [{"server": "node-1", "port": 9000, "weight": None}])
    group = next(one["id"] for one in console.lb(lb_id)["Groups"] if one["name"] == "theirs")
    console.product.make_listener(lb_id, THEIRS, group, {})
    console.before = picture(console, lb_id)
    world.kube.create(console.product.new("web", ((80, "TCP"), (443, "TCP")), annotations={PREFIX + "id": lb_id, KEY: "true"}))
    world.start_ccmd()
    world.wait(lambda: console.said("web", "EnsuredLoadBalancer"), "the Service", 30)
    world.settled()
    console.lb_id = lb_id
    return console


def picture(console, lb_id):
    """Tags, listeners with the names of their groups, and all groups."""
    lb = console.lb(lb_id)
    names = {group["id"]: group["name"] for group in lb["Groups"]}
    return lb["Tags"], sorted((one["key"], names[one["group"]]) for one in lb["Listeners"]), sorted(names.values())


def listeners(console):
    return [key for key, _ in picture(console, console.lb_id)[1]]


def switch_off(console, value):
    """Nothing changes by that."""
    shown = picture(console, console.lb_id)
    since = console.world.cloud.mark()
    console.world.kube.patch("Service", "web", {"metadata": {"annotations": {KEY: value}}})
    console.world.settled()
    assert console.writes(since) == [] and picture(console, console.lb_id) == shown
    assert listeners(console) == [OTHER, OWN, THEIRS]


VALUES = pytest.mark.parametrize("value", ["false", None], ids=["false", "removed"])


@VALUES
@pytest.mark.parametrize("stopped", [False, True], ids=["running", "stopped"])
@pytest.mark.parametrize("end", ["deletion", "type"])
def test_what_is_its_own_goes_with_the_service(console, value, stopped, end):
    world = console.world
    if stopped:
        world.stop_ccmd()
        world.kube.patch("Service", "web", {"metadata": {"annotations": {KEY: value}}})
    else:
        switch_off(console, value)
    if end == "deletion":
        world.kube.delete("Service", "web")
    else:
        world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP", "loadBalancerClass": None}})
    if stopped:
        world.start_ccmd()

    def over():
        left = world.kube.get("Service", "web")
        return left is None if end == "deletion" else not left["metadata"].get("finalizers")

    world.wait(over, "the end", 30)
    world.settled()
    assert picture(console, console.lb_id) == console.before
    assert console.said("web", "CleanLoadBalancerFailed") == []


@VALUES
def test_a_port_that_goes_takes_its_listener_along(console, value):
    switch_off(console, value)
    world = console.world
    port = next(one for one in world.kube.get("Service", "web")["spec"]["ports"] if one["port"] == 443)
    world.kube.patch("Service", "web", {"spec": {"ports": [port]}})
    world.wait(lambda: listeners(console) == [OTHER, THEIRS], "the port to go", 30)
    world.settled()
    assert len(picture(console, console.lb_id)[2]) == 2
    assert console.said("web", "SyncLoadBalancerFailed") == []


@VALUES
def test_backends_follow(console, value):
    switch_off(console, value)
    views.nodes(console.world, 1, first=3)

    def followed():
        groups = [one for one in console.lb(console.lb_id)["Groups"] if one["name"] != "theirs"]
        return len(groups) == 2 and all(len(one["servers"]) == 3 for one in groups)

    console.world.wait(followed, "the new node", 30)
    assert listeners(console) == [OTHER, OWN, THEIRS]
