"""What takes long is told on the Service: a slow cloud, a quota that is used up, a call that is throttled."""

import json
import re

import pytest

from tests.support import objects, views
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        views.nodes(world, 2)
        yield world


def told(world, name, reason):
    return [event for event in world.kube.events(name) if event[1] == reason]


def test_a_slow_cloud(world):
    world.cloud.fault("CreateLoadBalancer", count=1, delay_ms=15000)
    world.start_ccmd()
    world.kube.create(objects.service("web"))
    (kind, _, message, count), = world.wait(lambda: told(world, "web", "EnsuringLoadBalancer"), "the event", timeout=10)
    assert (kind, message, count) == (
        "Normal", "Ensuring load balancer: it takes longer than 3 s; an event tells when it is done, or what failed", 1)
    world.wait(lambda: world.kube.ingress("web"), "an address", timeout=30)


def test_a_quick_cloud(world):
    world.start_ccmd()
    world.kube.create(objects.service("web"))
    world.wait(lambda: world.kube.ingress("web"), "an address")
    world.settled(horizon_ms=6000)
    assert not told(world, "web", "EnsuringLoadBalancer") and not told(world, "web", "WaitingForQuota")


def test_a_quota_that_is_used_up(world):
    world.config = world.write_config(plugins='{ name = "clb"; workers = 1; }', alicloud="quotas: { slb_write = 2; };")
    world.start_ccmd()
    world.kube.create(*(objects.service(f"web-{i}") for i in range(6)))
    found = world.wait(lambda: [event for i in range(6) for event in told(world, f"web-{i}", "WaitingForQuota")], "the events")
    kind, _, message, _ = found[0]
    assert kind == "Normal"
    assert "CreateLoadBalancer waits for its turn: 2 of these calls are allowed in 60 s, all are in use; that comes in about" in message


def test_a_throttled_call(world):
    world.cloud.fault("CreateLoadBalancer", count=1000000, code="Throttling.User", http=400, message="denied due to user flow control")
    world.start_ccmd()
    world.kube.create(*(objects.service(f"web-{i}") for i in range(20)))
    world.wait(lambda: all(told(world, f"web-{i}", "WaitingForQuota") for i in range(20)), "an event of each", timeout=20)
    for i in range(20):
        assert {event[0] for event in told(world, f"web-{i}", "WaitingForQuota")} == {"Normal"}
    assert any("CreateLoadBalancer waits for its turn: the cloud throttles this call; that comes in about" in message
               for i in range(20) for _, _, message, _ in told(world, f"web-{i}", "WaitingForQuota"))


def waiting(world):
    """Rows of the table of the status page: object -> for what, in how many seconds it goes on, for how many it has waited."""
    status, text = world.admin("/statusz?format=json")
    assert status == 200
    return {row["object"]: [row["what"], row["goes_on_s"], row["for_s"]] for row in json.loads(text)["waiting"]}


def test_the_status_page_says_what_they_wait_for(world):
    world.config = world.write_config(plugins='{ name = "clb"; workers = 2; }', alicloud="quotas: { slb_write = 2; };")
    world.start_ccmd()
    world.kube.create(*(objects.service(f"web-{i}") for i in range(6)))
    found = world.wait(lambda: len(waiting(world)) >= 4 and waiting(world), "the rows")
    for key, cells in found.items():
        assert key.startswith("default/web-")
        assert re.search(r"\w+ waits for its turn: 2 of these calls are allowed in 60 s, all are in use$", cells[0]), cells
        assert 0 <= cells[1] <= 600 and cells[2] >= 0, cells
    for i in range(6):
        world.kube.delete("Service", f"web-{i}")
    world.wait(lambda: not [key for key in waiting(world) if world.kube.get("Service", key.partition("/")[2]) is None], "that those that are gone wait no more")


def test_the_status_page_shows_a_throttled_call(world):
    world.cloud.fault("CreateLoadBalancer", count=1000000, code="Throttling.User", http=400, message="denied due to user flow control")
    world.start_ccmd()
    world.kube.create(*(objects.service(f"web-{i}") for i in range(8)))
    world.wait(lambda: len([1 for cells in waiting(world).values() if "the cloud throttles this call" in cells[0]]) >= 6, "the rows", timeout=30)
    world.cloud.clear_faults()
    world.wait(lambda: all(world.kube.ingress(f"web-{i}") for i in range(8)), "addresses", timeout=120)
    world.wait(lambda: not waiting(world), "that nobody waits", timeout=30)
