"""Plugin node at size, through crashes, and after the reference."""

import json
import os

import pytest

from tests.integration.test_node import NEW, configure, fresh, taints, writes
from tests.integration.test_node_kinds import SEEN
from tests.support import objects
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
MANY = 500
QUOTAS = "quotas: { ecs = 100000; };"


def add_instances(world, count):
    for first in range(6, count + 1, 500):
        world.cloud.http.request("POST", "/_sim/instances", {"instances": [
            {"id": f"i-node-{n}", "vswitch": "vsw-a" if n % 2 else "vsw-b"} for n in range(first, min(first + 500, count + 1))]})


def set_up(world, **options):
    text = " ".join(f"{key} = {value};" for key, value in options.items())
    world.config = world.write_config(plugins=f'{{ name = "node"; {text} }}', alicloud=QUOTAS)


def nodes(world):
    return world.kube.state()["nodes"]


def counted(actions):
    return {action: actions.count(action) for action in sorted(set(actions))}


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        set_up(world)
        yield world


def is_new(item):
    return any(taint["key"] == NEW for taint in item["spec"].get("taints", []))


def test_500_nodes_at_once(world):
    """They register while ccmd does not look, so that it hears of all of them in one burst."""
    add_instances(world, MANY)
    for n in range(1, MANY + 1):
        world.cloud.edit("update", type="eni", id=f"eni-i-node-{n}", attributes={"SourceDestCheck": "true"})
    world.start_ccmd()
    world.kube.create(objects.node("other", "i-other"))
    world.settled()
    since, kube_since = world.cloud.mark(), world.kube.mark()
    with world.ccmd.paused():
        for n in range(1, MANY + 1):
            world.kube.http.request("POST", "/api/v1/nodes", fresh(f"node-{n}"))
    world.wait(lambda: not any(is_new(item) for item in nodes(world)), "all taints gone", timeout=60, every=0.1)
    world.settled()
    found = counted(world.cloud.actions(since))
    assert found["DescribeInstances"] <= 6 and found["DescribeNetworkInterfaces"] <= 6, found
    assert found["ModifyNetworkInterfaceAttribute"] == MANY
    assert len([action for action in writes(world, kube_since) if action.startswith("PATCH")]) <= 2 * MANY
    assert all(SEEN in item["metadata"]["labels"] for item in nodes(world) if item["metadata"]["name"] != "other")
    # A restart looks, and writes nothing.
    world.stop_ccmd()
    since, kube_since = world.cloud.mark(), world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: world.cloud.actions(since).count("DescribeInstances") == MANY // 100 + 1, "the first look", timeout=60)
    world.settled()
    assert writes(world, kube_since) == []
    assert counted(world.cloud.actions(since)) == {"DescribeInstances": MANY // 100 + 1}


# So many nodes that a look takes several pages; 5,000 by hand, which takes two minutes.
COUNT = int(os.environ.get("CCM_NODES", "1000"))


def test_a_look_costs_a_call_per_100_nodes(world):
    count = COUNT
    add_instances(world, count)
    instances = {item["InstanceId"]: item for item in world.cloud.state()["instances"]}
    for n in range(1, count + 1):
        item = instances[f"i-node-{n}"]
        body = objects.node(f"node-{n}", f"i-node-{n}", labels={
            **{key: "ecs.g7.large" for key in ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type")},
            **{key: item["ZoneId"] for key in ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")},
            **{key: "cn-hangzhou" for key in ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")},
            SEEN: "PostPaid", "node.alibabacloud.com/spot-strategy": "NoSpot"})
        body["status"]["addresses"] = [{"type": "InternalIP", "address": item["PrivateIp"]},
                                       {"type": "Hostname", "address": f"node-{n}"}]
        world.kube.http.request("POST", "/api/v1/nodes", body)
    set_up(world, period_s=120)
    kube_since = world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: world.cloud.actions().count("DescribeInstances") >= count // 100, "a whole look", timeout=300, every=1)
    world.settled()
    assert counted(world.cloud.actions()) == {"DescribeInstances": count // 100}
    sizes = [len(json.loads(call["params"]["InstanceIds"])) for call in world.cloud.calls()]
    assert sizes == [100] * (count // 100)
    assert writes(world, kube_since) == []


# ---- crashes ----


def killed(world, simulator, action):
    """ccmd dies while the nth such call hangs, before it is executed or after; then it is started again."""
    world.wait(lambda: any(call["action"] == action and call["http"] == 0 for call in simulator.calls()), action, timeout=60)
    world.kill_ccmd()
    simulator.clear_faults()
    world.start_ccmd()


INIT = [("cloud", action) for action in ("DescribeInstances", "DescribeNetworkInterfaces", "ModifyNetworkInterfaceAttribute")]
INIT += [("kube", action) for action in ("PATCH /api/v1/nodes/node-1/status", "PATCH /api/v1/nodes/node-1")]


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("where, action", INIT)
def test_killed_while_a_node_is_initialised(world, where, action, moment):
    set_up(world, network_condition="true")
    world.cloud.edit("update", type="eni", id="eni-i-node-1", attributes={"SourceDestCheck": "true"})
    world.kube.create(fresh("node-1"))
    simulator = getattr(world, where)
    simulator.fault(action=action, cut=moment, delay_ms=600000)
    world.start_ccmd()
    killed(world, simulator, action)
    world.wait(lambda: NEW not in taints(world, "node-1"), "the taint gone", timeout=60)
    world.settled()
    item = world.kube.get("Node", "node-1")
    assert SEEN in item["metadata"]["labels"]
    assert [one["type"] for one in item["status"]["addresses"]] == ["InternalIP", "Hostname"]
    assert [c["status"] for c in item["status"]["conditions"] if c["type"] == "NetworkUnavailable"] == ["True"]
    enis = {eni["NetworkInterfaceId"]: eni for eni in world.cloud.state()["networkInterfaces"]}
    assert enis["eni-i-node-1"]["SourceDestCheck"] == "false"


GONE = [("cloud", "DescribeInstances", 2), ("cloud", "DescribeInstances", 3), ("kube", "GET /api/v1/nodes/node-2", 1), ("kube", "DELETE /api/v1/nodes/node-2", 1)]


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("where, action, nth", GONE)
def test_killed_while_a_node_is_deleted(world, where, action, nth, moment):
    """The two looks begin anew; nobody else goes."""
    set_up(world, period_s=3600, gone_confirm_s=1)
    for n in (1, 2):
        world.kube.create(objects.node(f"node-{n}", f"i-node-{n}"))
    world.start_ccmd()
    world.wait(lambda: all(SEEN in world.kube.get("Node", f"node-{n}")["metadata"]["labels"] for n in (1, 2)), "labels")
    world.settled()
    world.cloud.edit("delete", type="instance", id="i-node-2")
    simulator = getattr(world, where)
    simulator.fault(action=action, nth=nth - 1 if where == "cloud" else nth, cut=moment, delay_ms=600000)
    world.kube.patch("Node", "node-2", {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}, subresource="status")
    killed(world, simulator, action)
    world.wait(lambda: world.kube.get("Node", "node-2") is None, "the node gone", timeout=60)
    world.settled()
    assert [item["metadata"]["name"] for item in nodes(world)] == ["node-1"]
