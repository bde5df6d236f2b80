"""One namespace asks for as much as it can of one shared thing; how long another one waits. `python3 tests/bench/bench_fairness.py
--build build/release` runs this file alone."""

import argparse
import itertools
import json
import os
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.bench.bench_crowd import ADD, REMOVE, Victim, patiently  # noqa: E402
from tests.support import objects, views  # noqa: E402
from tests.support.world import Kube, World  # noqa: E402

PREFIX = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
LOUD = "kube-public"
BURST_S = 12  # as long as each of them goes on
ROUNDS = 4    # in which the victim changes: one that never rests is slowed down itself
LIMIT_S = 1   # what nobody should wait longer than


class Flood:
    """Writes to the API server until it is ended."""

    def __init__(self, world, bodies):
        self.client = Kube(world.kube.base)
        self.bodies = bodies
        self.count = 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        for kind, name, body in self.bodies:
            if self.ended.is_set():
                return
            self.client.patch(kind, name, body, namespace=LOUD)
            self.count += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def refused(name, scheduler="fast"):
    return objects.service(name, namespace=LOUD, annotations={PREFIX + "scheduler": scheduler})


def edits(names):
    return (("Service", name, {"metadata": {"annotations": {PREFIX + "scheduler": f"fast-{n}"}}}) for n in itertools.count() for name in names)


def refusals(world):
    """300 Services that are refused, each edit with another text: events, conditions, log."""
    names = [f"bad-{n}" for n in range(300)]
    world.kube.create(*(refused(name) for name in names))
    return edits(names)


def slow_events(world):
    world.kube.fault(action="* /api/v1/namespaces/*/events*", count=1000000, delay_ms=20)
    return refusals(world)


def one_edited(world):
    world.kube.create(refused("bad"))
    return edits(["bad"])


def flapping(world):
    """Endpoints of one Service that come and go without end."""
    service = objects.service("flap", namespace=LOUD, policy="Local")
    both = objects.endpoint_slice(service, [("10.2.0.1", "node-1"), ("10.2.0.2", "node-2")])
    world.kube.create(service, both)
    return (("EndpointSlice", both["metadata"]["name"], {"endpoints": both["endpoints"][:1 + n % 2]}) for n in itertools.count())


def missing_pods(world):
    """Slices that a person wrote, with pods that do not exist."""
    for n in range(20):
        service = objects.service(f"gate-{n}", namespace=LOUD, annotations={"service.beta.kubernetes.io/backend-type": "eni"})
        world.kube.create(service, objects.endpoint_slice(
            service, [(f"10.{100 + n}.{i // 250}.{1 + i % 250}", "node-1", False) for i in range(1000)]))
    return iter(())


THINGS = {"events": slow_events, "refusals": refusals, "one-edited": one_edited, "flapping": flapping, "missing-pods": missing_pods}


def event_of_victim(world):
    """A refused Service of the victim's namespace: seconds until its event is there."""
    name = "refused"
    began = time.monotonic()
    world.kube.create(objects.service(name, annotations={PREFIX + "scheduler": "fast"}))
    found = patiently(world, lambda: world.kube.events(name))
    return time.monotonic() - began if found else None


def compete(build, folder, figure, thing):
    with World(build, folder, cloud_args=["--quota=real", "--limit=load-balancers=2000"]) as world:
        world.config = world.write_config(log_level="info", plugins='{ name = "clb"; workers = 4; }')
        views.nodes(world, 3)
        world.start_ccmd()
        victim = Victim(world)
        slowest = {"removal": 0.0, "addition": 0.0}
        began = time.monotonic()
        with Flood(world, THINGS[thing](world)) as flood:
            for round_ in range(ROUNDS):
                world.wait(lambda: time.monotonic() - began >= round_ * BURST_S / ROUNDS, "the time of the round", timeout=BURST_S)
                for what, count, action in (("removal", 2, REMOVE), ("addition", 3, ADD)):
                    took = victim.keep(count, action)
                    slowest[what] = None if took is None or slowest[what] is None else max(took, slowest[what])
            event = event_of_victim(world)
        lasted = time.monotonic() - began
        log_lines = world.log().count("\n")
        world.kube.clear_faults()
        world.stop_ccmd()
    for what, seconds in (*slowest.items(), ("event", event)):
        figure(f"fairness-{thing}-{what}", None if seconds is None else round(seconds, 2), "s", limit=LIMIT_S, writes=flood.count,
               seconds=round(lasted, 1), log_lines=log_lines)


def run(build, folder, figure, things=None):
    for thing in things or THINGS:
        compete(build, os.path.join(folder, f"fair-{thing}"), figure, thing)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--things", nargs="*", choices=sorted(THINGS), default=list(THINGS))
    args = parser.parse_args()

    def figure(name, value, unit, **more):
        print(json.dumps({"figure": name, "value": value, "unit": unit, **more}), flush=True)

    with tempfile.TemporaryDirectory(prefix="ccmd-bench-") as folder:
        run(args.build, folder, figure, args.things)


if __name__ == "__main__":
    main()
