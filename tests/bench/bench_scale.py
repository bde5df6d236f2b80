"""ccmd in a large cluster: 5,000 nodes, 10,000 Services, 500,000 endpoints. Of the Services 5,000 are load balancers with pods as backends
and no node ports, of which a cluster has 2,768."""

import json
import statistics
import tempfile
import time
from dataclasses import dataclass

from tests.bench.bench_ccmd import QUOTAS, balanced, memory, write
from tests.bench.bench_growth import MOVING, ROUNDS, SERVICES, SLICES, cpu_ns
from tests.bench.bench_kubesim import address
from tests.support import objects
from tests.support.kubesim import NODES
from tests.support.scenario_look import is_read
from tests.support.world import World

ENDPOINTS = 50  # of each Service
PODS = ENDPOINTS + 1  # addresses of each: one pod moves between two
GROUPS = 6  # of Services whose pods move
TIMEOUT_S = 900
PODS_NET = {"id": "vsw-pods", "vpc": "vpc-test", "zone": "cn-hangzhou-h", "cidr": "10.64.0.0/10"}


def pod(number, index):
    """A network of its own, from 10.64.0.1 on."""
    return address((64 << 16) + number * PODS + index + 1)


@dataclass
class Size:
    nodes: int
    services: int
    balanced: int

    def told(self):
        return {"nodes": self.nodes, "services": self.services, "load_balancers": self.balanced, "endpoints": self.services * ENDPOINTS}

    def service(self, number):
        if number >= self.balanced:
            return objects.service(f"s-{number}", type="ClusterIP", externalTrafficPolicy=None)
        return objects.service(f"s-{number}", annotations={"service.beta.kubernetes.io/backend-type": "eni"},
                               allocateLoadBalancerNodePorts=False)

    def slice_of(self, number, turn):
        """In each turn the first pod is another one."""
        indexes = (turn % 2 * ENDPOINTS, *range(1, ENDPOINTS))
        return objects.endpoint_slice(self.service(number), [(pod(number, n), f"node-{(number + n) % self.nodes}") for n in indexes])

    def all_objects(self):
        for number in range(self.nodes):
            yield NODES, json.dumps(objects.node(f"node-{number}", f"i-size-{number}"))
        for number in range(self.services):
            yield SERVICES, json.dumps(self.service(number))
            yield SLICES, json.dumps(self.slice_of(number, 0))

    def machines(self):
        """Nodes, and for each Service an interface with its pods."""
        return {"vswitches": [PODS_NET],
                "instances": [{"id": f"i-size-{n}", "vswitch": "vsw-a"} for n in range(self.nodes)],
                "enis": [{"id": f"eni-{n}", "ips": [pod(n, k) for k in range(PODS)], "instance": f"i-size-{n % self.nodes}"}
                         for n in range(self.balanced)]}


def per_pass(world, size):
    """CPU of one pass in which a pod has moved, in ms. Other Services in each group: one whose passes write without end is slowed down."""
    used = []
    for first in range(0, GROUPS * MOVING, MOVING):
        for turn in range(1, ROUNDS + 1):
            before = cpu_ns(world.ccmd)
            for number in range(first, first + MOVING):
                world.kube.replace(size.slice_of(number, turn))
            world.settled()
            used.append(cpu_ns(world.ccmd) - before)
    return statistics.median(used) / MOVING / 1e6


def serve(world, size):
    """(seconds, seconds of CPU) until all Services have their address."""
    began = time.monotonic()
    world.start_ccmd()
    world.wait(lambda: balanced(world) >= size.balanced, "all load balancers", timeout=TIMEOUT_S, every=1)
    world.settled()
    return time.monotonic() - began, cpu_ns(world.ccmd) / 1e9


def measure(build, folder, size, figure):
    """Tells all figures of this size, but to figure=None none; returns the CPU of a pass."""
    with World(build, folder, cloud_args=[f"--limit=load-balancers={size.balanced}"]) as world:
        world.config = world.write_config(log_level="info", alicloud=QUOTAS, plugins='{ name = "clb"; workers = 16; }')
        world.cloud.http.request("POST", "/_sim/instances", size.machines())
        write(world, size.all_objects())
        seconds, cpu = serve(world, size)
        resident = memory(world.ccmd)
        passing = per_pass(world, size)
        world.stop_ccmd()
        since = world.cloud.mark()
        again, again_cpu = serve(world, size)
        writes = [action for action in world.cloud.actions(since) if not is_read(action)]
        after = memory(world.ccmd)
    if figure is not None:
        more = size.told()
        figure("scale-cpu-until-all-are-served", round(cpu, 1), "s", elapsed_s=round(seconds, 1), **more)
        for name, (now, peak, own) in (("", resident), ("-after-restart", after)):
            figure(f"scale-resident{name}", now, "KiB", peak=peak, anonymous=own, **more)
        figure("scale-cpu-of-a-restart", round(again_cpu, 1), "s", elapsed_s=round(again, 1), writes=len(writes), **more)
    return passing


SMALL = Size(nodes=500, services=1000, balanced=500)
LARGE = Size(nodes=5000, services=10000, balanced=5000)


def run(build, figure):
    """figure(name, value, unit, **more) is told each result."""
    passes = []
    for size in (SMALL, LARGE):
        with tempfile.TemporaryDirectory(prefix="ccmd-bench-") as folder:
            passes.append(measure(build, folder, size, figure if size is LARGE else None))
    figure("scale-cpu-per-pass-500-to-5000-nodes", round(passes[1] / passes[0], 2), "ratio", small_ms=round(passes[0], 2),
           large_ms=round(passes[1], 2))
