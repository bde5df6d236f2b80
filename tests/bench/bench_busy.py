"""A load balancer that is busy for a while after each change: how many calls it refuses, and what the waiting costs."""

import time

from tests.support import objects, views
from tests.support.world import World

BUSY_MS = 300
PORTS = [(80 + n, "TCP") for n in range(20)]


def run(build, folder, figure):
    with World(build, folder, cloud_args=[f"--slb-busy-ms={BUSY_MS}"]) as world:
        views.nodes(world, 2)
        world.start_ccmd()
        began = time.monotonic()
        world.kube.create(objects.service("web", PORTS))
        world.wait(lambda: views.complete(views.only_lb(world), PORTS) and world.kube.ingress("web"), "all ports", 120)
        took = time.monotonic() - began
        calls = [call for call in world.cloud.calls() if not call["action"].startswith("Describe")]
        changes = [call for call in calls if call["http"] == 200]
        figure("busy-20-ports-changes", len(changes), "calls", refused=len(calls) - len(changes), busy_ms=BUSY_MS)
        figure("busy-20-ports-time", round(took, 1), "s", ratio=round(took * 1000 / (len(changes) * BUSY_MS), 2))
        world.stop_ccmd()
