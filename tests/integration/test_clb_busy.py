"""A load balancer that is busy for a while after each change: what that takes is learned, and not asked for again and again."""

import collections

import pytest

from tests.support import objects, views
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
PORTS = [(80 + n, "TCP") for n in range(20)]
BUSY_MS = 300


def test_twenty_ports(build, tmp_path):
    with World(build, tmp_path, cloud_args=[f"--slb-busy-ms={BUSY_MS}"]) as world:
        views.nodes(world, 2)
        world.start_ccmd()
        world.kube.create(objects.service("web", PORTS))
        world.wait(lambda: views.complete(views.only_lb(world), PORTS) and world.kube.ingress("web"), "all ports", 60)
        world.settled()
        refused, changes = refusals(world)
        assert changes == 1 + 3 * len(PORTS)  # load balancer; group, listener and its start
        assert max(refused.values()) <= 1, refused
        assert sum(refused.values()) <= 10, refused
        assert not any(e[0] == "Warning" for e in world.kube.events())

        since = world.cloud.mark()
        world.kube.patch("Service", "web", {"metadata": {"annotations": {
            "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-scheduler": "wlc"}}})
        world.wait(lambda: all(lsn.get("Scheduler") == "wlc" for lsn in views.only_lb(world)["Listeners"]), "the scheduler", 60)
        refused, changes = refusals(world, since)
        assert changes == len(PORTS)
        assert sum(refused.values()) <= 1, refused  # what was learned is known
        world.stop_ccmd()


def test_it_is_not_busy_any_more(build, tmp_path):
    """What was learned holds nobody up for long, and a longer time is learned again."""
    with World(build, tmp_path, cloud_args=["--slb-busy-ms=600"]) as world:
        views.nodes(world, 2)
        world.start_ccmd()
        world.kube.create(objects.service("web", PORTS[:4]))
        world.wait(lambda: views.complete(views.only_lb(world), PORTS[:4]) and world.kube.ingress("web"), "the ports", 60)
        world.settled()
        world.cloud.edit("limits", limits={"slb-busy-ms": 1500})
        since = world.cloud.mark()
        world.kube.patch("Service", "web", {"spec": objects.service("web", PORTS[:6])["spec"]})
        world.wait(lambda: views.complete(views.only_lb(world), PORTS[:6]), "two more", 60)
        world.settled()
        refused, _ = refusals(world, since)
        assert max(refused.values()) <= 2, refused
        world.stop_ccmd()


def refusals(world, since=0):
    """({a change: how often it was refused}, the number of changes)."""
    counts = collections.Counter()
    changes = 0
    for call in world.cloud.calls(since):
        if call["action"].startswith("Describe"):
            continue
        what = (call["action"], call["params"].get("VServerGroupName"), call["params"].get("ListenerPort"),
                call["params"].get("VServerGroupId"))
        counts[what] += call["http"] != 200
        changes += call["http"] == 200
    return counts, changes
