"""Calls that have to wait for the quota: the pass gives its worker back, and comes again when it is its turn."""

import os
import signal

import pytest

from tests.support import objects, views
from tests.support.world import World

PORTS = ((80, "TCP"), (443, "TCP"))


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        views.nodes(world, 2)
        yield world


def start(world, write):
    """One worker. The quota of each changing action is so small that the second Service uses it up."""
    world.config = world.write_config(plugins='{ name = "clb"; workers = 1; }', alicloud=f"quotas: {{ slb_write = {write}; }};",
                                      log_level="info")
    world.start_ccmd()


def victim(world):
    service = objects.service("victim", ((80, "TCP"),), policy="Local")
    slice_ = objects.endpoint_slice(service, [("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")])
    world.kube.create(service, slice_)
    world.wait(lambda: world.kube.ingress("victim"), "the first Service")
    return slice_


def groups(world):
    return sum(len(lb["VServerGroups"]) for lb in world.cloud.load_balancers())


def use_up(world):
    """A second Service, which gets no further than its second group."""
    world.kube.create(objects.service("late", PORTS))
    world.wait(lambda: groups(world) == 2, "a group of the second Service")


def servers(world):
    return [group["BackendServers"] for lb in world.cloud.load_balancers() for group in lb["VServerGroups"]
            if group["VServerGroupName"].startswith("k8s/") and "victim" in group["VServerGroupName"]]


def test_a_removal_does_not_wait_for_others(world):
    start(world, 2)
    slice_ = victim(world)
    use_up(world)
    world.kube.replace(dict(slice_, endpoints=slice_["endpoints"][:1]))
    world.wait(lambda: [len(found) for found in servers(world)] == [1], "the removal", timeout=5)
    assert not [event for event in world.kube.events("late") if event[0] == "Warning"]
    assert "late" not in "".join(line for line in world.log().splitlines() if " error " in line)


def test_deletion_does_not_wait_for_others(world):
    start(world, 2)
    victim(world)
    use_up(world)
    world.kube.delete("Service", "victim")
    world.wait(lambda: world.kube.get("Service", "victim") is None, "the deletion", timeout=5)


def test_it_goes_on_when_it_is_its_turn(world):
    start(world, 2)
    victim(world)
    use_up(world)
    world.config = world.write_config(plugins='{ name = "clb"; workers = 1; }', log_level="info",
                                      alicloud="quotas: { slb_write = 100; };")
    os.kill(world.ccmd.popen.pid, signal.SIGHUP)
    world.wait(lambda: world.kube.ingress("late"), "the second Service")
    world.settled()
    assert all(views.complete(lb, ports) for lb, ports in zip(world.cloud.load_balancers(), (PORTS[:1], PORTS)))
    assert {event[0] for event in world.kube.events("late")} == {"Normal"}
    actions = world.cloud.actions()
    assert actions.count("CreateVServerGroup") == 3 and actions.count("CreateLoadBalancer") == 2
