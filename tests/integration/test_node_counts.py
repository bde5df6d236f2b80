"""What plugin node costs: many new nodes at once, a quiet cluster, a look at a large one."""

import json

import pytest

from tests.support import cloud_nodes as nodes
from tests.support.world import World

QUIET = {"period_s": 86400}  # the first look, and no other
UNLIMITED = "quotas: { ecs = 1000000; };"


def asked(world, since=0):
    """Ids of each call for instances, sorted."""
    return [sorted(json.loads(call["params"]["InstanceIds"])) for call in nodes.looks(world, since)]


def register_many(world, count):
    """All of them are there before ccmd hears of the first."""
    with world.ccmd.paused():
        for number in range(1, count + 1):
            world.kube.http.request("POST", "/api/v1/nodes", nodes.register(f"node-{number}"))


@pytest.mark.parametrize("check", ("false", "true"), ids=("forwarding", "checking"))
def test_500_new_nodes_at_once(build, tmp_path, check):
    """One call per hundred for the instances, one for their interfaces, and one for each interface that still checks; two writes
    of each node: its status, and the rest."""
    with World(build, tmp_path) as world:
        nodes.instances(world, range(1, 501))
        for interface in world.cloud.state()["networkInterfaces"]:
            world.cloud.edit("update", type="eni", id=interface["NetworkInterfaceId"],
                             attributes={"SourceDestCheck": check})
        nodes.configure(world, alicloud=UNLIMITED, **QUIET)
        world.start_ccmd()
        world.logged("plugin node: started")
        world.settled()
        register_many(world, 500)
        kube = world.kube.mark()
        world.wait(lambda: not nodes.tainted(world), "all of them without taint", timeout=60, every=0.1)
        world.settled()
        calls = world.cloud.actions()
        assert calls.count("DescribeInstances") <= 5 and calls.count("DescribeNetworkInterfaces") <= 5
        assert calls.count("ModifyNetworkInterfaceAttribute") == (500 if check == "true" else 0)
        assert len(calls) <= (510 if check == "true" else 10)
        assert len(nodes.writes(world, kube)) <= 1000
        assert sum(len(ids) for ids in asked(world)) == 500
        assert all(kind == ["InternalIP", "Hostname"] for kind in (
            [kind for kind, _ in nodes.addresses(item)] for item in nodes.all_nodes(world).values()))


@pytest.fixture
def steady(build, tmp_path):
    """Three nodes that have been initialised and looked at."""
    with World(build, tmp_path) as world:
        nodes.configure(world, **QUIET)
        world.kube.create(*[nodes.register(f"node-{n}") for n in (1, 2, 3)])
        world.start_ccmd()
        world.wait(lambda: not nodes.tainted(world), "no taint")
        world.settled()
        yield world


def beat(world, name):
    """What a kubelet and others write all the time."""
    condition = {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:10Z"}
    world.kube.patch("Node", name, {"status": {"conditions": [condition], "images": [{"names": ["a"], "sizeBytes": 1}]}},
                     subresource="status")
    world.kube.patch("Node", name, {"metadata": {"annotations": {"example.com/a": "b"}, "labels": {"example.com/c": "d"}}})
    world.kube.patch("Node", name, {"spec": {"unschedulable": True}})


def test_between_two_looks_nobody_is_asked(steady):
    cloud = steady.cloud.mark()
    for number in (1, 2, 3):
        beat(steady, f"node-{number}")
    steady.settled()
    kube = steady.kube.mark()
    for number in (1, 2, 3):
        nodes.ready(steady, f"node-{number}", "False")
        nodes.ready(steady, f"node-{number}", "True")
    steady.settled()
    assert steady.cloud.calls(cloud) == []
    assert [call["action"] for call in nodes.writes(steady, kube)] == [
        f"PATCH /api/v1/nodes/node-{n}/status" for n in (1, 1, 2, 2, 3, 3)]  # ours


def test_a_restart_looks_once_and_writes_nothing(steady):
    steady.stop_ccmd()
    cloud, kube = steady.cloud.mark(), steady.kube.mark()
    steady.start_ccmd()
    steady.wait(lambda: nodes.looks(steady, cloud), "the first look")
    steady.settled()
    assert asked(steady, cloud) == [["i-node-1", "i-node-2", "i-node-3"]]
    assert steady.cloud.actions(cloud) == ["DescribeInstances"] and nodes.writes(steady, kube) == []


