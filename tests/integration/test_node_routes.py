"""Plugin node together with route, as a cluster with Flannel's vpc mode has them; and who a look asks about."""

import json

import pytest

from tests.support import cloud_nodes as nodes
from tests.support import objects
from tests.support.reference_nodes import facts
from tests.support.scenario_route import SYSTEM_TABLE, custom_routes
from tests.support.world import World

LINGJUN = {"alibabacloud.com/lingjun-worker": "true"}


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        yield world


def start(world, **options):
    text = " ".join(f"{key} = {value};" for key, value in {**nodes.QUICK, **options}.items())
    world.config = world.write_config(plugins=f'{{ name = "node"; network_condition = true; {text} }}, '
                                              '{ name = "route"; cluster_cidr = "10.96.0.0/16"; }')
    world.start_ccmd()
    for plugin in ("node", "route"):
        world.logged(f"plugin {plugin}: started")


def join(world, number, provider=None, **more):
    body = nodes.register(f"node-{number}", **more)
    body["spec"].update(podCIDR=f"10.96.{number}.0/24", podCIDRs=[f"10.96.{number}.0/24"], **({"providerID": provider} if provider else {}))
    world.kube.http.request("POST", "/api/v1/nodes", body)


def network(item):
    return [c["status"] for c in item["status"]["conditions"] if c["type"] == "NetworkUnavailable"]


def routes(world):
    return custom_routes(world.cloud.state())[SYSTEM_TABLE]


def wait_consistent(world, numbers):
    """Each node has its labels, addresses, route; none has the taint or waits for its network."""
    instances = {one["InstanceId"]: one for one in world.cloud.state()["instances"]}

    def consistent():
        found = nodes.all_nodes(world)
        return sorted(found) == sorted(f"node-{n}" for n in numbers) and not nodes.tainted(world) and all(
            network(item) == ["False"] and item["metadata"]["labels"].get("topology.kubernetes.io/zone") == instances[f"i-{name}"]["ZoneId"]
            and item["metadata"]["labels"].get("node.kubernetes.io/instance-type") == instances[f"i-{name}"].get("InstanceType", "ecs.g7.large")
            and nodes.addresses(item) == [("InternalIP", instances[f"i-{name}"]["PrivateIp"]), ("Hostname", name)]
            for name, item in found.items()) and routes(world) == {f"10.96.{n}.0/24": f"i-node-{n}" for n in numbers}

    world.wait(consistent, f"nodes {numbers} as they should be", timeout=40)


def test_a_pool_that_grows_and_shrinks(world):
    """One more, with all that belongs to it; one less: by the pool, which deletes Node and instance, and by the instance alone. The others
    stay as they are."""
    nodes.instances(world, (6,))
    start(world, period_s=86400)
    for number in (1, 2, 3):
        join(world, number)
    wait_consistent(world, (1, 2, 3))
    join(world, 6)
    wait_consistent(world, (1, 2, 3, 6))
    world.settled()
    before = nodes.all_nodes(world)
    kube = world.kube.mark()
    world.kube.delete("Node", "node-6")
    nodes.release(world, "node-6")
    world.wait(lambda: len(routes(world)) == 3, "its route gone", timeout=40)
    nodes.release(world, "node-3")
    nodes.ready(world, "node-3", "Unknown")
    world.wait(lambda: world.kube.get("Node", "node-3") is None, "the node of a released instance gone", timeout=40)
    wait_consistent(world, (1, 2))
    world.settled()
    assert {name: facts(item) for name, item in nodes.all_nodes(world).items()} == {name: facts(before[name]) for name in ("node-1", "node-2")}
    others = [call["params"]["body"] for call in nodes.writes(world, kube)
              if call["action"].removesuffix("/status").endswith(("/node-1", "/node-2"))]
    assert all('"ccmd/deleted-nodes"' in body for body in others), others  # how many have gone is kept there


def test_a_lingjun_node_with_a_pod_network(world):
    """It loses its taint; that it has no instance to route to is told once, and nobody goes on trying."""
    start(world, period_s=86400)
    world.cloud.edit("create", type="lingjun_node", id="e01-7")
    join(world, 1)
    join(world, 7, "e01-7", labels=LINGJUN)
    world.wait(lambda: not nodes.tainted(world), "the taint gone", timeout=40)
    world.wait(lambda: routes(world) == {"10.96.1.0/24": "i-node-1"}, "the route of the other", timeout=40)
    world.settled()
    assert network(nodes.all_nodes(world)["node-7"]) == []
    cloud, kube = world.cloud.mark(), world.kube.mark()
    nodes.ready(world, "node-7", "False")
    world.settled()
    assert world.cloud.calls(cloud) == [] and len(nodes.writes(world, kube)) == 1  # ours
    assert sum("node-7" in line and " warn " in line for line in world.log().splitlines()) <= 1


def test_who_a_look_asks_about(world):
    """Nodes that are excluded by either label, that have no provider id, or that are of another platform are not."""
    nodes.configure(world, period_s=86400)
    bare = {name: objects.node(name, f"i-node-{n}", labels=labels) for n, (name, labels) in enumerate((
        ("normal", {}), ("new", {"service.alibabacloud.com/exclude-node": "true"}),
        ("old", {"service.beta.kubernetes.io/exclude-node": ""}), ("unnamed", {}), ("hybrid", {})), 1)}
    del bare["unnamed"]["spec"]["providerID"]
    bare["hybrid"]["spec"]["providerID"] = "ack-hybrid://123456"
    world.kube.create(*bare.values())
    before = nodes.all_nodes(world)
    world.start_ccmd()
    nodes.looked(world, 1, 0)
    world.settled()
    assert {tuple(json.loads(call["params"]["InstanceIds"])) for call in nodes.looks(world)} == {("i-node-1",)}
    after = nodes.all_nodes(world)
    assert nodes.SEEN in after.pop("normal")["metadata"]["labels"]
    del before["normal"]
    assert after == before


def test_a_lingjun_node_of_another_group(world):
    """It is there, whatever its label says, although nobody hears of it."""
    nodes.configure(world, **nodes.QUICK)
    body = objects.node("grouped", "x", labels={**LINGJUN, "alibabacloud.com/lingjun-nodegroup-id": "ng-x"})
    body["spec"]["providerID"] = "e01-grouped"
    world.cloud.edit("create", type="lingjun_node", id="e01-grouped")
    world.cloud.edit("update", type="lingjun_node", id="e01-grouped", attributes={"NodeGroupId": "ng-other"})
    world.kube.create(body, objects.node("node-1", "i-node-1"))
    nodes.ready(world, "grouped", "Unknown")
    world.start_ccmd()
    asked = world.wait(lambda: [c for c in world.cloud.calls() if c["action"] == "DescribeNode"][2:], "several looks", timeout=40)
    assert {call["params"]["NodeId"] for call in asked} == {"e01-grouped"}
    assert world.kube.get("Node", "grouped") is not None and nodes.deletions(world) == []
