"""Who waits for whom: a backend that goes, and a new Service, while another namespace is in trouble; what failing and hostile Services
cost. `python3 tests/bench/bench_crowd.py --build build/release` runs this file alone."""

import argparse
import collections
import itertools
import json
import os
import re
import string
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.bench.bench_growth import cpu_ns  # noqa: E402
from tests.support import objects, views  # noqa: E402
from tests.support.world import World  # noqa: E402

PREFIX = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
PORTS = ((80, "TCP"), (443, "TCP"))
CREATE = "CreateLoadBalancer"
REMOVE, ADD = "RemoveVServerGroupBackendServers", "AddVServerGroupBackendServers"
OTHERS = "kube-public"
WITHIN_S = 150  # what takes longer is "not within"
PASSES_AN_HOUR = 4  # of a key that fails for an hour, in any hour: test-backoff
QUOTA_AN_HOUR = 90 * 60  # of a changing action of CLB

# What is wrong with the creations of the others, how many they are, and the creations after which there is trouble.
TROUBLE = {
    "healthy": (None, 400, 60),
    "fails": ({"http": 500, "code": "InternalError"}, 300, 60),
    "throttled": ({"http": 400, "code": "Throttling.User"}, 300, 1),
    "slow": ({"delay_ms": 5000}, 300, 3),
}
ROWS = [(name, workers) for name in TROUBLE for workers in (4, 16)]
ACTIONS = (CREATE, "CreateVServerGroup", "CreateLoadBalancerTCPListener", "StartLoadBalancerListener", "DeleteLoadBalancer")


def told(seconds):
    return f"not within {WITHIN_S} s" if seconds is None else f"{seconds:.2f} s"


class Victim:
    """A Service with three backends, of a namespace that has done nothing."""

    def __init__(self, world):
        self.world = world
        self.service = objects.service("victim", PORTS[:1], policy="Local")
        self.slice = objects.endpoint_slice(self.service, [(f"10.1.0.{n}", f"node-{n}") for n in (1, 2, 3)])
        world.kube.create(self.service, self.slice)
        world.wait(lambda: world.kube.ingress("victim"), "the victim's load balancer")
        world.settled()

    def keep(self, count, action):
        """Seconds until the cloud has followed; None: too long."""
        since, began = self.world.cloud.mark(), time.time()
        self.world.kube.replace(dict(self.slice, endpoints=self.slice["endpoints"][:count]))
        found = patiently(self.world, lambda: [c for c in self.world.cloud.calls(since) if c["action"] == action and c["http"] == 200])
        return max(found[0]["t"] - began, 0) if found else None


def patiently(world, condition):
    try:
        return world.wait(condition, "it", timeout=WITHIN_S, every=0.02)
    except AssertionError:
        assert world.ccmd.alive()
        return None


def crowd(build, folder, figure, name, workers):
    """One row of the table: [removal, addition, removal, new Service] in seconds."""
    effect, count, begun = TROUBLE[name]
    with World(build, folder, cloud_args=["--quota=real", "--limit=load-balancers=2000"]) as world:
        world.config = world.write_config(log_level="info", plugins=f'{{ name = "clb"; workers = {workers}; }}')
        views.nodes(world, 3)
        world.start_ccmd()
        victim = Victim(world)
        if effect is not None:
            world.cloud.fault(CREATE, count=1000000, **effect)
        since = world.cloud.mark()
        world.kube.create(*(objects.service(f"s-{n}", PORTS[:1], namespace=OTHERS) for n in range(count)))
        world.wait(lambda: world.cloud.actions(since).count(CREATE) >= begun, "the crowd", timeout=120, every=0.02)
        took = [victim.keep(2, REMOVE), victim.keep(3, ADD), victim.keep(1, REMOVE)]
        if effect is None:
            began = time.monotonic()
            world.kube.create(objects.service("fresh", PORTS[:1]))
            took.append(time.monotonic() - began if patiently(world, lambda: world.kube.ingress("fresh")) else None)
        actions = collections.Counter(world.cloud.actions(since))
        world.cloud.clear_faults()
        world.stop_ccmd()
    for what, seconds in zip(("removal", "addition", "second-removal", "new-service"), took):
        figure(f"crowd-{name}-{what}", None if seconds is None else round(seconds, 2), "s", services=count, workers=workers,
               creations=actions[CREATE])
    return took


def waiting(build, folder, figure, rows):
    lines = ["| the others | workers | a backend goes | one comes | another goes | a new Service |", "|---|---|---|---|---|---|"]
    for number, (name, workers) in enumerate(rows):
        took = crowd(build, os.path.join(folder, f"crowd-{number}"), figure, name, workers)
        cells = [told(seconds) for seconds in took] + [""] * (4 - len(took))
        lines.append("| " + " | ".join([f"{TROUBLE[name][1]} new Services, creations: {name}", str(workers), *cells]) + " |")
    print("\n".join(lines), flush=True)


def passes(world):
    return len(re.findall(r"default/ill\b.* retry in ", world.log()))


def failing(build, folder, figure):
    """Calls of one Service that fails for good, in each hour after its first."""
    for action in ACTIONS:
        with World(build, os.path.join(folder, action)) as world:
            world.config = world.write_config(log_level="info")
            views.nodes(world, 3)
            world.start_ccmd()
            service = objects.service("ill", PORTS)
            if action.startswith("Delete"):
                world.kube.create(service)
                world.wait(lambda: world.kube.ingress("ill"), "its load balancer")
                world.settled()
            world.cloud.fault(action, count=1000000, http=500, code="InternalError")
            if action.startswith("Delete"):
                world.kube.delete("Service", "ill")
            else:
                world.kube.create(service)
            world.wait(lambda: passes(world) >= 2, "two passes", timeout=60)
            world.settled()
            before, since = passes(world), world.cloud.mark()
            world.wait(lambda: passes(world) > before, "another", timeout=90)
            world.settled()
            calls = world.cloud.actions(since)
            per_pass = len(calls) / (passes(world) - before)
            share = calls.count(action) / (passes(world) - before) * PASSES_AN_HOUR * 1000 / QUOTA_AN_HOUR
            figure(f"failing-{action}", round(per_pass * PASSES_AN_HOUR, 1), "calls/hour", calls_of_a_pass=round(per_pass, 1),
                   quota_percent_if_a_thousand_ask_at_will=round(100 * share, 1), quota_percent_granted=10)
            world.cloud.clear_faults()
            world.stop_ccmd()


def hostile():
    """name -> (annotations, ports)"""
    keys = ["".join(k) for k in itertools.islice(itertools.product(string.ascii_letters + string.digits, repeat=3), 64000)]
    return {
        "nothing": ({}, 50),
        "64000-tags": ({PREFIX + "additional-resource-tags": ",".join(keys)}, 1),
        "120000-equal-tags": ({PREFIX + "additional-resource-tags": "a," * 120000}, 1),
        "20000-protocol-ports": ({PREFIX + "protocol-port": ",".join(f"tcp:{60000 + n % 5000}" for n in range(20000))}, 50),
        "680-protocol-ports": ({PREFIX + "protocol-port": ",".join("tcp:1" for _ in range(680))}, 50),
    }


def annotations(build, folder, figure):
    """CPU that one Service costs from its creation until ccmd is at rest: decoding, its passes, its events."""
    for name, (notes, ports) in hostile().items():
        with World(build, os.path.join(folder, name)) as world:
            world.config = world.write_config(log_level="info")
            views.nodes(world, 2)
            world.start_ccmd()
            world.kube.create(objects.service("warm"))
            world.wait(lambda: world.kube.ingress("warm"), "the first load balancer")
            world.settled()
            before = cpu_ns(world.ccmd)
            world.kube.create(objects.service("x", [(1000 + n, "TCP") for n in range(ports)], annotations=notes))
            world.settled()
            figure(f"annotations-{name}", round((cpu_ns(world.ccmd) - before) / 1e6, 1), "ms", ports=ports)
            world.stop_ccmd()


def run(build, folder, figure, rows=None):
    waiting(build, folder, figure, ROWS if rows is None else rows)
    failing(build, folder, figure)
    annotations(build, folder, figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--rows", nargs="*", choices=sorted(TROUBLE), default=sorted(TROUBLE))
    parser.add_argument("--workers", type=int, nargs="*", default=[4, 16])
    args = parser.parse_args()

    def figure(name, value, unit, **more):
        print(json.dumps({"figure": name, "value": value, "unit": unit, **more}), flush=True)

    with tempfile.TemporaryDirectory(prefix="ccmd-bench-") as folder:
        run(args.build, folder, figure, [row for row in ROWS if row[0] in args.rows and row[1] in args.workers])


if __name__ == "__main__":
    main()
