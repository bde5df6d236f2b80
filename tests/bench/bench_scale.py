"""ccmd in a large cluster: 5,000 nodes, 10,000 Services, 500,000 endpoints. Of the Services 5,000 are load balancers with pods as backends
and no node ports, of which a cluster has 2,768. For CLB and for NLB. `python3 tests/bench/bench_scale.py --build build/release` runs
this file alone."""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.bench.bench_ccmd import balanced, memory, write  # noqa: E402
from tests.bench.bench_growth import MOVING, ROUNDS, SERVICES, SLICES, cpu_ns  # noqa: E402
from tests.bench.bench_kubesim import address  # noqa: E402
from tests.support import objects  # noqa: E402
from tests.support.kubesim import NODES  # noqa: E402
from tests.support.products import PRODUCTS, Product  # noqa: E402
from tests.support.scenario_look import is_read  # noqa: E402
from tests.support.world import World  # noqa: E402

ENDPOINTS = 50  # of each Service
PODS = ENDPOINTS + 1  # addresses of each: one pod moves between two
GROUPS = 3  # of Services whose pods move
TIMEOUT_S = 1800  # NLB waits for jobs most of the time: six load balancers a second
PODS_NET = {"id": "vsw-pods", "vpc": "vpc-test", "zone": "cn-hangzhou-h", "cidr": "10.64.0.0/10"}


def pod(number, index):
    """A network of its own, from 10.64.0.1 on."""
    return address((64 << 16) + number * PODS + index + 1)


@dataclass
class Size:
    product: Product
    nodes: int
    services: int
    balanced: int

    def told(self):
        return {"nodes": self.nodes, "services": self.services, "load_balancers": self.balanced, "endpoints": self.services * ENDPOINTS}

    def service(self, number):
        if number >= self.balanced:
            return objects.service(f"s-{number}", type="ClusterIP", externalTrafficPolicy=None)
        return self.product.new(f"s-{number}", annotations={"service.beta.kubernetes.io/backend-type": "eni"},
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
    with World(build, folder, cloud_args=size.product.allow(size.balanced)) as world:
        quotas = " ".join(f"{name} = 1000000;" for name in size.product.quotas)
        world.config = world.write_config(log_level="info", alicloud=f"quotas: {{ {quotas} }};",
                                          plugins=f'{{ name = "{size.product.name}"; workers = 16; }}')
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
        more, name = size.told(), scale(size.product)
        figure(f"{name}-cpu-until-all-are-served", round(cpu, 1), "s", elapsed_s=round(seconds, 1), **more)
        for when, (now, peak, own) in (("", resident), ("-after-restart", after)):
            figure(f"{name}-resident{when}", now, "KiB", peak=peak, anonymous=own, **more)
        figure(f"{name}-cpu-of-a-restart", round(again_cpu, 1), "s", elapsed_s=round(again, 1), writes=len(writes), **more)
    return passing


def scale(product):
    """What its figures begin with."""
    return "scale" if product.name == "clb" else f"scale-{product.name}"


def run(build, figure, products=("clb", "nlb")):
    """figure(name, value, unit, **more) is told each result."""
    for name in products:
        product, passes = PRODUCTS[name](), []
        small, large = Size(product, 500, 1000, 500), Size(product, 5000, 10000, 5000)
        for size in (small, large):
            with tempfile.TemporaryDirectory(prefix="ccmd-bench-") as folder:
                passes.append(measure(build, folder, size, figure if size is large else None))
        figure(f"{scale(product)}-cpu-per-pass-500-to-5000-nodes", round(passes[1] / passes[0], 2), "ratio", small_ms=round(passes[0], 2),
               large_ms=round(passes[1], 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--products", nargs="*", choices=sorted(PRODUCTS), default=["clb", "nlb"])
    args = parser.parse_args()

    def figure(name, value, unit, **more):
        print(json.dumps({"figure": name, "value": value, "unit": unit, **more}), flush=True)

    run(args.build, figure, args.products)


if __name__ == "__main__":
    main()
