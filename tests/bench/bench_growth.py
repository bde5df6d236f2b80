"""What a pass costs as the cluster grows: its CPU with many nodes, load balancers and Services, as ratios."""

import json
import os
import tempfile

from tests.bench.bench_ccmd import QUOTAS, write
from tests.support import objects
from tests.support.kubesim import NODES
from tests.support.world import World

ROUNDS = 8
MOVING = 25  # Services of which a pod moves in each round
PODS = 4
LIMIT = "--limit=load-balancers=2000"
SERVICES = "/api/v1/namespaces/default/services"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
KINDS = ("local", "pods")


def cpu_ns(process):
    """What all threads have used so far."""
    folder = f"/proc/{process.popen.pid}/task"
    total = 0
    for thread in os.listdir(folder):
        with open(f"{folder}/{thread}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def address(number, index):
    """Of a pod of a Service, clear of those of the nodes."""
    place = number * (PODS + 1) + index
    return f"10.1.{100 + place // 250}.{1 + place % 250}"


class Cluster:
    def __init__(self, kind, nodes, balanced, others=0):
        self.kind, self.nodes, self.balanced, self.others = kind, nodes, balanced, others

    def service(self, number):
        if number >= self.balanced:
            return objects.service(f"s-{number}", type="ClusterIP", externalTrafficPolicy=None)
        notes = {"service.beta.kubernetes.io/backend-type": "eni"} if self.kind == "pods" else {}
        return objects.service(f"s-{number}", annotations=notes, policy="Local" if self.kind == "local" else "Cluster")

    def slice_of(self, number, turn):
        first = f"node-{(number * PODS + turn % 2 * 200) % self.nodes}"
        rest = [(address(number, n + 1), f"node-{(number + 7 * n) % self.nodes}") for n in range(1, PODS)]
        return objects.endpoint_slice(self.service(number), [(address(number, turn % 2), first), *rest])

    def all_objects(self):
        for number in range(self.nodes):
            yield NODES, json.dumps(objects.node(f"node-{number}", f"i-size-{number}"))
        for number in range(self.balanced + self.others):
            yield SERVICES, json.dumps(self.service(number))
            if number < self.balanced:
                yield SLICES, json.dumps(self.slice_of(number, 0))

    def instances(self):
        return {"instances": [{"id": f"i-size-{n}", "vswitch": "vsw-a"} for n in range(self.nodes)],
                "enis": [{"id": f"eni-{n}-{k}", "ip": address(n, k), "instance": "i-size-0"}
                         for n in range(self.balanced if self.kind == "pods" else 0) for k in range(PODS + 1)]}

    def per_pass(self, build, folder):
        """CPU of one pass in which a pod has moved, in ms."""
        with World(build, folder, cloud_args=[LIMIT]) as world:
            world.config = world.write_config(log_level="info", alicloud=QUOTAS, plugins='{ name = "clb"; workers = 2; }')
            world.cloud.http.request("POST", "/_sim/instances", self.instances())
            write(world, self.all_objects())
            world.start_ccmd()
            world.wait(lambda: len(world.cloud.load_balancers()) == self.balanced, "all load balancers", timeout=300)
            world.settled()
            used = []
            for turn in range(1, ROUNDS + 1):
                before = cpu_ns(world.ccmd)
                for number in range(min(MOVING, self.balanced)):
                    world.kube.replace(self.slice_of(number, turn))
                world.settled()
                used.append(cpu_ns(world.ccmd) - before)
            world.stop_ccmd()
        return sorted(used)[ROUNDS // 2] / min(MOVING, self.balanced) / 1e6


def compare(build, figure, name, small, large):
    values = []
    for cluster in (small, large):
        with tempfile.TemporaryDirectory(prefix="ccmd-bench-") as folder:
            values.append(cluster.per_pass(build, folder))
    figure(name, round(values[1] / values[0], 2), "ratio", small_ms=round(values[0], 2), large_ms=round(values[1], 2))


def run(build, figure):
    for kind in KINDS:
        compare(build, figure, f"cpu-per-pass-{kind}-500-to-5000-nodes", Cluster(kind, 500, MOVING),
                Cluster(kind, 5000, MOVING))
    compare(build, figure, "cpu-per-pass-325-to-1300-load-balancers", Cluster("local", 500, 325),
            Cluster("local", 500, 1300))
    compare(build, figure, "cpu-per-pass-with-10000-services", Cluster("local", 500, MOVING),
            Cluster("local", 500, MOVING, others=10000 - MOVING))
