"""What the quotas of the cloud cost: many Services at once, a node that joins them, a removal in the middle of it.

Every figure comes with the bound that the quota sets, whoever obeys it: the most calls that one action needs, less what is kept
for others, in windows. `python3 tests/bench/bench_quota.py --build build/release` runs this file alone; windows may be scaled,
so that a figure of an hour takes minutes: all processes live as much faster.
"""

import argparse
import collections
import json
import os
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.support import objects, views  # noqa: E402
from tests.support.world import CLUSTER_ID, Kube, World, wait  # noqa: E402

PORTS = ((80, "TCP"), (443, "TCP"))
WINDOW_S = 60
WRITES = 90  # of each action of CLB in a window
NODES = 12


def quota_file(folder):
    """The published quotas."""
    rates = {"slb.SetLoadBalancerModificationProtection": 400, "slb.SetDomainExtensionAttribute": 400, "slb.Describe*": 3000,
             "slb.List*": 3000, "slb.*": WRITES, "vpc.*": 300, "ecs.*": 300}
    path = os.path.join(folder, "quota.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"rates": {name: {"count": count, "period_s": WINDOW_S} for name, count in rates.items()}}, file)
    return path


def usable(action, quota=WRITES):
    """Calls of a window less those that one namespace leaves to removals, and to first calls of others."""
    part = quota // 20
    return quota - (part if action.startswith(("Add", "Create", "Start")) else 2 * part)


def windows(action, count, quota=WRITES):
    """How many have to be waited for until so many calls can be made."""
    return max(count - 1, 0) // usable(action, quota)


def bound_s(calls, window_s):
    """The least time in which these calls can be made, one after the other window."""
    counts = collections.Counter(c["action"] for c in calls if not c["action"].startswith(("Describe", "List")))
    counts.pop("SetLoadBalancerModificationProtection", None)  # its quota is four times that of others
    return max(windows(action, count) * window_s for action, count in counts.items())


def table():
    """How long the quotas make changes take, as in docs/limits.md."""
    columns = (("CreateVServerGroup", 90), ("AddVServerGroupBackendServers", 90), ("CreateListener", 200),
               ("AddServersToServerGroup", 200))
    lines = ["| Services of two ports | calls of an action | CLB: all are new | CLB: a node joins them | NLB: all are new |"
             " NLB: a node joins them |", "|---|---|---|---|---|---|"]
    for services in (10, 40, 100, 200, 500, 1000, 2000):
        count = services * len(PORTS)
        waits = [windows(action, count, quota) for action, quota in columns]
        lines.append("| " + " | ".join([f"{services:,}", f"{count:,}", *(f"{n} min" if n else "at once" for n in waits)]) + " |")
    return "\n".join(lines)


class Removals(threading.Thread):
    """Takes the backends of a Service of its own out, one after the other, and then puts all back; how long each removal took."""

    def __init__(self, world):
        super().__init__(daemon=True)
        self.world = world
        self.took = []
        self.ended = threading.Event()
        self.running = threading.Event()
        self.service = objects.service("victim", ((80, "TCP"),), policy="Local")
        self.slice = objects.endpoint_slice(self.service, [(f"10.1.0.{n}", f"node-{n}") for n in range(1, NODES + 1)])
        world.kube.create(self.service, self.slice)
        world.wait(lambda: world.kube.ingress("victim"), "the Service of the removals")

    def keep(self, count):
        """Seconds until the cloud has followed."""
        action = "RemoveVServerGroupBackendServers" if count < NODES else "AddVServerGroupBackendServers"
        since, began = self.world.cloud.mark(), time.time()
        self.world.kube.replace(dict(self.slice, endpoints=self.slice["endpoints"][:count]))
        took = []

        def done():
            took[:] = [call["t"] - began for call in self.world.cloud.calls(since)
                       if call["action"] == action and call["http"] == 200][:1]
            return took or self.ended.is_set()

        self.world.wait(done, "the cloud to follow", timeout=3600, every=0.02)
        return took[0] if took else time.time() - began

    def run(self):
        while not self.ended.is_set():
            for count in range(NODES - 1, 0, -1):
                while not self.running.wait(1) and not self.ended.is_set():
                    pass
                self.took.append(self.keep(count))
                self.ended.wait(2)
            self.keep(NODES)


def phase(world, removals, figure, name, act, done, window_s, more, timeout):
    """Seconds from the act until it is done, against the bound."""
    removals.took.clear()
    removals.running.set()
    since, began = world.cloud.mark(), time.monotonic()
    act()
    world.wait(done, name, timeout=timeout, every=0.05)
    took = time.monotonic() - began
    removals.running.clear()
    calls = world.cloud.calls(since)
    throttled = sum(c["http"] == 400 and "Throttling" in json.dumps(c) for c in calls)
    bound = bound_s(calls, window_s)
    figure(name, round(took, 2), "s", bound=bound, ratio=round(took / bound, 3) if bound else None, throttled=throttled,
           calls=len(calls), slowest_removal_s=round(max(removals.took, default=0), 2), removals=len(removals.took), **more)


def balanced(world, count):
    """So many Services have their address: that is the last thing that happens to a new one."""
    return sum(bool(item.get("status", {}).get("loadBalancer", {}).get("ingress")) for item in
               world.kube.items("Service")) >= count


def joined(world, count):
    state = world.cloud.load_balancers()
    return sum(any(b["ServerId"] == f"i-node-{NODES + 1}" for b in group["BackendServers"]) for lb in state
               for group in lb["VServerGroups"]) >= count * len(PORTS)


def measure(build, folder, figure, count, window_s=WINDOW_S, workers=4):
    """`count` new Services of two ports, then a node that joins them."""
    os.makedirs(folder, exist_ok=True)
    path = quota_file(folder)
    World.time_scale = WINDOW_S // window_s
    with World(build, folder, cloud_args=[f"--quota={path}", "--limit=load-balancers=2000"]) as world:
        world.config = world.write_config(log_level="warn",
                                          plugins=f'{{ name = "clb"; workers = {workers}; }}')
        world.cloud.http.request("POST", "/_sim/instances", {
            "instances": [{"id": f"i-node-{n}", "vswitch": "vsw-a"} for n in range(6, NODES + 2)]})
        views.nodes(world, NODES)
        world.start_ccmd()
        removals = Removals(world)
        removals.start()
        more = {"services": count, "window_s": window_s, "workers": workers}
        timeout = 60 + count * 4 / WRITES * WINDOW_S
        try:
            phase(world, removals, figure, f"quota-{count}-services",
                  lambda: world.kube.create(*(objects.service(f"s-{n}", PORTS) for n in range(count))),
                  lambda: balanced(world, count + 1), window_s, more, timeout)
            world.settled()
            removals.ended.wait(window_s * 61 / 60 + 0.5)  # what was called is forgotten, by ccmd too, which counts from the end of a call on
            phase(world, removals, figure, f"quota-node-joins-{count}-services",
                  lambda: views.nodes(world, 1, first=NODES + 1),
                  lambda: joined(world, count), window_s, more, timeout)
        finally:
            removals.ended.set()
            removals.join(60)
            world.stop_ccmd()


class Neighbour(World):
    """Another cluster with a ccmd of its own, of the same account."""

    def __init__(self, first, folder):
        super().__init__(first.build, folder)
        self.first = first

    def __enter__(self):
        os.makedirs(self.folder, exist_ok=True)
        self.kubeconfig = os.path.join(self.folder, "kubeconfig")
        self.kubesim = self._start_kubesim("127.0.0.1:0")
        self.cloud = self.first.cloud
        self.kube = Kube("http://" + self.kubesim.wait_listening())
        wait(lambda: os.path.exists(self.kubeconfig), "kubesim's kubeconfig")
        return self

    def configure(self, **options):
        self.config = self.write_config(**options)
        with open(self.config, encoding="utf-8") as file:
            text = file.read().replace(f'"{CLUSTER_ID}"', f'"{CLUSTER_ID}-2"')
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)


def share(build, folder, figure, count, window_s, workers=4):
    """`count` new Services in each of two clusters of one account: how much is throttled, and how even it is."""
    os.makedirs(folder, exist_ok=True)
    path = quota_file(folder)
    World.time_scale = WINDOW_S // window_s
    options = {"log_level": "warn", "plugins": f'{{ name = "clb"; workers = {workers}; }}'}
    first = World(build, os.path.join(folder, "1"), cloud_args=[f"--quota={path}", "--limit=load-balancers=2000", "--call-log=100000"])
    with first, Neighbour(first, os.path.join(folder, "2")) as second:
        first.config = first.write_config(**options)
        second.configure(**options)
        for world in (first, second):
            views.nodes(world, 2)
            world.start_ccmd()
        began = time.monotonic()
        for number in range(count):
            for world in (first, second):
                world.kube.create(objects.service(f"s-{number}", PORTS))
        done = {}

        def finished():
            for world in (first, second):
                if world not in done and balanced(world, count):
                    done[world] = time.monotonic() - began
            return len(done) == 2

        first.wait(finished, "all Services", timeout=60 + count * 6 / WRITES * WINDOW_S, every=0.2)
        calls = first.cloud.calls()
        throttled = sum(c["http"] == 400 for c in calls)
        times = sorted(done.values())
        figure(f"quota-shared-{count}-services-each", round(times[1], 1), "s", first=round(times[0], 1), calls=len(calls),
               throttled=throttled, throttled_percent=round(100 * throttled / len(calls), 2), window_s=window_s, workers=workers)
        first.stop_ccmd()
        second.stop_ccmd()


def run(build, folder, figure):
    print(table(), flush=True)
    measure(build, os.path.join(folder, "40"), figure, 40)
    for count in (200, 500, 1000):
        measure(build, os.path.join(folder, str(count)), figure, count, window_s=6)
    share(build, os.path.join(folder, "shared"), figure, 300, 6)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--services", type=int, nargs="*", default=[40])
    parser.add_argument("--window", type=int, default=WINDOW_S)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--shared", action="store_true", help="with another cluster of the same account")
    parser.add_argument("--table", action="store_true", help="only print the table of docs/limits.md")
    args = parser.parse_args()
    if args.table:
        print(table())
        return

    def figure(name, value, unit, **more):
        print(json.dumps({"figure": name, "value": value, "unit": unit, **more}), flush=True)

    for count in args.services:
        with tempfile.TemporaryDirectory(prefix="ccmd-bench-") as folder:
            (share if args.shared else measure)(args.build, folder, figure, count, args.window, args.workers)


if __name__ == "__main__":
    main()
