"""How long nobody works when the leader is told to end: from SIGTERM to the first write of the next one to the cloud."""

import signal
import statistics
import time

from tests.support import objects, views
from tests.support.proxy import Proxy
from tests.support.world import World


class Instance:
    """A ccmd with its own way to the cloud, so that its writes can be told from those of others."""

    def __init__(self, world, number):
        cloud = world.cloud.base
        self.way = Proxy(cloud)
        world.cloud.base = self.way.base
        config = world.write_config(election="", log_level="info", name=f"instance-{number}.conf")
        world.cloud.base = cloud
        self.process = world.start_ccmd(config)

    def wait_said(self, world, text):
        world.wait(lambda: text in self.process.err(), text)

    def written(self):
        """When its first write was sent."""
        return next((t for t, _, action in self.way.requests if not action.startswith(("Describe", "List"))), None)

    def end(self):
        self.process.stop()
        self.way.close()


def failover(world, leader, number):
    """The next leader, and how many ms nothing was written."""
    standby = Instance(world, number)
    standby.wait_said(world, "is held by")
    world.settled()
    began = time.time()
    leader.process.popen.send_signal(signal.SIGTERM)
    world.kube.create(objects.service(f"late-{number}"))
    first = world.wait(standby.written, "the first write of the new leader", timeout=60)
    leader.end()
    world.wait(lambda: world.kube.ingress(f"late-{number}"), "its address")
    return standby, (first - began) * 1000


def run(build, folder, figure, rounds=15):
    with World(build, folder) as world:
        views.nodes(world, 1)
        leader, samples = Instance(world, 0), []
        leader.wait_said(world, "leads now")
        for number in range(1, rounds + 1):
            leader, ms = failover(world, leader, number)
            samples.append(ms)
        figure("failover-after-sigterm", round(statistics.median(samples)), "ms", max=round(max(samples)), samples=rounds)
        leader.end()
        world.ccmd = None
