"""Many Services come, change and go while one call in twenty fails: the end is as if none had.

CCM_TEST_SEED chooses another sequence of changes; the seed in use is printed.
"""

import os
import random
import time

from tests.support import objects, proc, reference, views
from tests.support.world import World

SERVICES = 200
CHANGES = 400
SEED = int(os.environ.get("CCM_TEST_SEED", "20240"))
FAILING = 0.05
EFFECTS = (
    {"code": "Throttling.User", "http": 400, "message": "Request was denied due to user flow control."},
    {"code": "InternalError", "http": 500, "message": "The request processing has failed."},
    {"cut": "before"},
    {"cut": "after"},
)
QUOTAS = "quotas: { " + " ".join(f"{name} = 1000000;" for name in ("slb_write", "slb_read", "vpc", "ecs")) + " };"
NODES = ("node-1", "node-2", "node-3")


class Cluster:
    """What the test asked for, and from that what the cloud must hold."""

    def __init__(self, world, seed):
        self.world = world
        self.random = random.Random(seed)
        self.services = {}  # name -> (object, slice)

    def create(self, name):
        ports = [(80, "TCP"), (443, "TCP"), (53, "UDP")][: self.random.randint(1, 3)]
        service = self.world.kube.create(
            objects.service(name, ports, policy=self.random.choice(("Local", "Cluster"))))
        pods = objects.endpoint_slice(service, self.pods(name))
        self.world.kube.create(pods)
        self.services[name] = (service, pods)

    def pods(self, name):
        number = int(name[1:])
        return [(f"10.{100 + number // 250}.{number % 250}.{n}", self.random.choice(NODES)) for n in range(1, self.random.randint(2, 6))]

    def scale(self, name):
        service, _ = self.services[name]
        pods = objects.endpoint_slice(service, self.pods(name))
        self.world.kube.replace(pods)
        self.services[name] = (service, pods)

    def change(self, name):
        service, pods = self.services[name]
        ports = service["spec"]["ports"]
        if len(ports) > 1 and self.random.random() < 0.5:
            ports = ports[1:]
        else:
            ports = ports + [{"name": f"p{max(p['port'] for p in ports) + 1}", "protocol": "TCP",
                              "port": max(p["port"] for p in ports) + 1, "targetPort": 9000}]
        self.world.kube.patch("Service", name, {"spec": {"ports": ports}})
        self.services[name] = (self.world.kube.get("Service", name), pods)

    def delete(self, name):
        self.world.kube.delete("Service", name)
        self.world.kube.delete("EndpointSlice", name + "-abc")
        del self.services[name]

    def wanted(self):
        return {reference.default_name(service): self.load_balancer(service, pods)
                for service, pods in self.services.values()}

    def load_balancer(self, service, pods):
        """(listeners, groups) in the form of views."""
        weights = dict.fromkeys(("i-" + node for node in NODES), 100)
        if service["spec"]["externalTrafficPolicy"] == "Local":
            where = ["i-" + endpoint["nodeName"] for endpoint in pods["endpoints"]]
            weights = {server: where.count(server) for server in where}
        ports = service["spec"]["ports"]
        listeners = sorted((p["port"], p["protocol"].lower(), "running") for p in ports)
        groups = {reference.key(p["nodePort"], service): {(server, p["nodePort"], weight)
                                                          for server, weight in weights.items()} for p in ports}
        return listeners, groups


def found(world):
    return {lb["Tags"].get("kubernetes.do.not.delete"): (views.listeners(lb), views.groups(lb))
            for lb in world.cloud.load_balancers()}


def differences(wanted, have):
    lines = [f"missing: {name}" for name in wanted.keys() - have.keys()]
    lines += [f"left over: {name}" for name in have.keys() - wanted.keys()]
    return lines + [f"{name}: wanted {wanted[name]}, found {have[name]}"
                    for name in wanted.keys() & have.keys() if wanted[name] != have[name]]


def wait_equal(world, wanted, what, timeout):
    deadline = time.monotonic() + timeout * proc.SLOW
    while True:
        assert world.ccmd.alive(), f"ccmd ended:\n{world.log()[-3000:]}"
        lines = differences(wanted, found(world))
        if not lines:
            return
        assert time.monotonic() < deadline, f"{what}, seed {SEED}: {len(lines)} differ:\n" + "\n".join(lines[:10])
        time.sleep(0.3)


def let_some_calls_pass(world):
    """Changes are to meet ccmd at work. Nothing to wait for when it has caught up."""
    target, deadline = world.cloud.mark() + 20, time.monotonic() + 0.2
    while world.cloud.mark() < target and time.monotonic() < deadline:
        time.sleep(0.005)


def fail_calls(world):
    """Each effect takes its share of what the ones before it let through."""
    left = 1.0
    for effect in EFFECTS:
        share = FAILING / len(EFFECTS)
        world.cloud.http.request("POST", "/_sim/faults", {"match": {"p": share / left}, "effect": effect})
        left -= share


def test_one_call_in_twenty_fails(build, tmp_path):
    print(f"seed {SEED}")
    with World(build, tmp_path, cloud_args=[f"--limit=load-balancers={2 * SERVICES}"]) as world:
        world.config = world.write_config(alicloud=QUOTAS, log_level="info")
        for node in NODES:
            world.kube.create(objects.node(node, "i-" + node))
        cluster = Cluster(world, SEED)
        fail_calls(world)
        world.start_ccmd()
        for number in range(SERVICES):
            cluster.create(f"s{number}")
        world.wait(lambda: len(world.cloud.load_balancers()) > SERVICES // 2, "half of the load balancers", 60)
        newest = SERVICES
        for number in range(CHANGES):
            if number % 20 == 0:
                let_some_calls_pass(world)
            name = cluster.random.choice(sorted(cluster.services))
            kind = cluster.random.choice(("scale", "scale", "change", "replace"))
            if kind == "replace":
                cluster.delete(name)
                cluster.create(f"s{newest}")
                newest += 1
            else:
                getattr(cluster, kind)(name)
        wait_equal(world, cluster.wanted(), "the desired state", 60)

        failed = [call for call in world.cloud.calls() if call["http"] != 200]
        total = len(world.cloud.calls())
        assert len(world.cloud.load_balancers()) == SERVICES, "a load balancer twice"
        assert len(failed) > total * FAILING / 3, f"only {len(failed)} of {total} calls failed"

        for name in sorted(cluster.services):
            cluster.delete(name)
        wait_equal(world, {}, "an empty cloud", 60)
        deadline = time.monotonic() + 30 * proc.SLOW
        while left := [s["metadata"]["name"] for s in world.kube.state()["services"]]:
            assert time.monotonic() < deadline, f"finalizers that stay, seed {SEED}: {left[:10]}"
            time.sleep(0.2)
        assert world.cloud.load_balancers() == []
        world.stop_ccmd()
