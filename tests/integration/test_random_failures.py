"""Many Services come, change and go while one call in twenty fails, and jobs fail and get lost: the end is as if none had.

CCM_TEST_SEED chooses another sequence of changes; the seed in use is printed.
"""

import os
import random
import time

import pytest

from tests.support import objects, proc
from tests.support.products import OWNER_TAG, Clb, Nlb, default_name
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
SIZES = {"clb": (200, 400), "nlb": (100, 250)}  # Services, changes
SEED = int(os.environ.get("CCM_TEST_SEED", "20240"))
FAILING = 0.05
EFFECTS = (
    {"code": "Throttling.User", "http": 400, "message": "Request was denied due to user flow control."},
    {"code": "InternalError", "http": 500, "message": "The request processing has failed."},
    {"cut": "before"},
    {"cut": "after"},
)
NODES = ("node-1", "node-2", "node-3")
# that of a creation is left out: a load balancer whose creation failed is for a person to delete
JOBS = ("CreateServerGroup", "AddServersToServerGroup", "RemoveServersFromServerGroup", "UpdateServerGroupServersAttribute",
        "CreateListener", "UpdateListenerAttribute", "DeleteListener", "DeleteServerGroup", "DeleteLoadBalancer")


class Cluster:
    """What the test asked for, and from that what the cloud must hold."""

    def __init__(self, world, product, seed):
        self.world = world
        self.product = product
        self.random = random.Random(seed)
        self.services = {}  # name -> (object, slice)

    def create(self, name):
        ports = [(80, "TCP"), (443, "TCP"), (53, "UDP")][: self.random.randint(1, 3)]
        service = self.world.kube.create(
            self.product.new(name, ports, policy=self.random.choice(("Local", "Cluster"))))
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
        return {default_name(service["metadata"]["uid"]): self.load_balancer(service, pods)
                for service, pods in self.services.values()}

    def load_balancer(self, service, pods):
        """(listeners, groups) in the form of found()."""
        weights = dict.fromkeys(NODES, 100)
        if service["spec"]["externalTrafficPolicy"] == "Local":
            where = [endpoint["nodeName"] for endpoint in pods["endpoints"]]
            weights = {server: where.count(server) for server in where}
        ports = service["spec"]["ports"]
        listeners = sorted(f"{p['port']}/{p['protocol'].lower()}" for p in ports)
        groups = {self.product.group_name(service, p["port"], False): {(server, p["nodePort"], weight)
                                                                       for server, weight in weights.items()} for p in ports}
        return listeners, groups

    def found(self):
        """Owner of each load balancer -> (listeners, groups); one that does not run is not listed."""
        return {lb["Tags"].get(OWNER_TAG): (
            sorted(one["key"] for one in lb["Listeners"] if self.product.running.items() <= one.items()),
            {group["name"]: {(server, int(port), weight) for server, port, weight in group["servers"]} for group in lb["Groups"]})
            for lb in self.product.find(self.world)}

    def break_jobs(self):
        """The next job of some kind fails, or is forgotten although it was done."""
        self.world.cloud.edit("jobs", action=self.random.choice(JOBS), outcome=self.random.choice(("fail", "lose")), count=1)


def differences(wanted, have):
    lines = [f"missing: {name}" for name in wanted.keys() - have.keys()]
    lines += [f"left over: {name}" for name in have.keys() - wanted.keys()]
    return lines + [f"{name}: wanted {wanted[name]}, found {have[name]}"
                    for name in wanted.keys() & have.keys() if wanted[name] != have[name]]


def wait_equal(world, cluster, what, timeout):
    deadline = time.monotonic() + timeout * proc.SLOW
    while True:
        assert world.ccmd.alive(), f"ccmd ended:\n{world.log()[-3000:]}"
        lines = differences(cluster.wanted(), cluster.found())
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


def change_all(world, cluster, services, changes):
    newest = services
    for number in range(changes):
        if number % 20 == 0:
            let_some_calls_pass(world)
        if number % 10 == 0 and cluster.product.name == "nlb":
            cluster.break_jobs()
        name = cluster.random.choice(sorted(cluster.services))
        kind = cluster.random.choice(("scale", "scale", "change", "replace"))
        if kind == "replace":
            cluster.delete(name)
            cluster.create(f"s{newest}")
            newest += 1
        else:
            getattr(cluster, kind)(name)


def check_calls(world, product):
    calls = world.cloud.calls()
    failed = [call for call in calls if call["http"] != 200]
    assert len(failed) > len(calls) * FAILING / 3, f"only {len(failed)} of {len(calls)} calls failed"
    if product.name == "nlb":
        assert {"Succeeded", "Failed"} <= {job["Status"] for job in world.cloud.state()["jobs"]}, "no job failed"


@pytest.mark.parametrize("product", [Clb(), Nlb()], ids=["clb", "nlb"])
def test_one_call_in_twenty_fails(build, tmp_path, product):
    print(f"seed {SEED}")
    services, changes = SIZES[product.name]
    with World(build, tmp_path, cloud_args=product.allow(8 * services)) as world:
        product.configure(world, unlimited=True, log_level="info")
        for node in NODES:
            world.kube.create(objects.node(node, "i-" + node))
        cluster = Cluster(world, product, SEED)
        fail_calls(world)
        world.start_ccmd()
        for number in range(services):
            cluster.create(f"s{number}")
        world.wait(lambda: len(product.find(world)) > services // 2, "half of the load balancers", 60)
        change_all(world, cluster, services, changes)
        wait_equal(world, cluster, "the desired state", 60)
        check_calls(world, product)
        assert len(product.find(world)) == services, "a load balancer twice"

        last = [service for service, _ in cluster.services.values()]
        for name in sorted(cluster.services):
            cluster.delete(name)
        wait_equal(world, cluster, "an empty cloud", 60)
        world.wait(lambda: world.kube.state()["services"] == [], f"the end of all finalizers, seed {SEED}", 30, every=0.2)
        state = world.cloud.state()
        assert product.load_balancers(state, {}) == []
        assert [product.left(state, service) for service in last if product.left(state, service)] == []
        world.stop_ccmd()
