"""What lasts is told again before the API server forgets it, once per period, also after a restart."""

import pytest

from tests.support import objects, views
from tests.support.world import World

REFUSED = {"http": 403, "code": "Forbidden.RAM", "message": "User not authorized to operate on the specified resource"}


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path, kube_args=["--event-ttl-ms", "8000"]) as world:
        views.nodes(world, 2)
        yield world


def start(world, repeat_s):
    world.config = world.write_config(kubernetes=f"event_repeat_s = {repeat_s};")
    world.start_ccmd()


def failures(world, name="web"):
    return [event for event in world.kube.items("Event")
            if event["involvedObject"]["name"] == name and event["reason"] == "SyncLoadBalancerFailed"]


def failing(world):
    world.cloud.fault("CreateLoadBalancer", count=1000000, **REFUSED)
    world.kube.create(objects.service("web"))
    return world.wait(lambda: failures(world), "the event")[0]


def test_is_told_again_before_it_expires(world):
    start(world, 1)
    failing(world)
    world.wait(lambda: [event for event in failures(world) if event["count"] >= 12], "that it is told again and again", timeout=40)
    world.cloud.clear_faults()
    world.kube.patch("Service", "web", {"metadata": {"annotations": {"looked-at": "now"}}})
    world.wait(lambda: world.kube.ingress("web"), "an address")
    world.wait(lambda: not failures(world), "that it is over", timeout=30)


def test_ends_with_its_object(world):
    start(world, 1)
    failing(world)
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the deletion")
    world.wait(lambda: not failures(world), "that it is over", timeout=30)


def test_once_per_period_after_a_restart(build, tmp_path):
    with World(build, tmp_path) as world:
        start(world, 1800)
        first = failing(world)
        for _ in range(3):
            world.settled()
            world.kill_ccmd()
            mark = world.cloud.mark()
            world.start_ccmd()
            world.wait(lambda: "CreateLoadBalancer" in world.cloud.actions(mark), "another try")
            world.settled()
        assert [(event["metadata"]["uid"], event["count"]) for event in failures(world)] == [(first["metadata"]["uid"], 1)]


def test_goes_on_counting_after_a_restart(build, tmp_path):
    with World(build, tmp_path) as world:
        start(world, 1)
        first = failing(world)
        world.wait(lambda: failures(world)[0]["count"] >= 2, "that it is told again", timeout=30)
        world.kill_ccmd()
        count = failures(world)[0]["count"]
        world.start_ccmd()
        world.wait(lambda: failures(world)[0]["count"] >= count + 2, "that it is told again", timeout=30)
        assert [event["metadata"]["uid"] for event in failures(world)] == [first["metadata"]["uid"]]


@pytest.mark.parametrize("fault, words", (
    (REFUSED, "Tried again within 30 s, later at least every"),
    ({"http": 400, "code": "InvalidParameter", "message": "no such thing"},
     "Tried again as soon as the Service changes, else within 10 min, later at least every"),
))
def test_says_when_it_is_tried_again(build, tmp_path, fault, words):
    with World(build, tmp_path) as world:
        world.cloud.fault("CreateLoadBalancer", count=1000000, **fault)
        world.start_ccmd()
        world.kube.create(objects.service("web"))
        message = world.wait(lambda: failures(world), "the event")[0]["message"]
        assert words in message and "RequestId" in message, message
