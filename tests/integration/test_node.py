"""Plugin node: nodes that come, change, stop and go, with real processes."""

import json

import pytest

from tests.support import objects, proc
from tests.support import scenario_look as look
from tests.support.world import ACCESS_KEY, ACCESS_SECRET, World

pytestmark = pytest.mark.time_scale(10)
NEW = "node.cloudprovider.kubernetes.io/uninitialized"
TAINT = {"key": NEW, "value": "true", "effect": "NoSchedule"}


def fresh(name, instance=None, region="cn-hangzhou", **spec):
    """A node as kubelet registers it with an external cloud provider."""
    body = objects.node(name, instance or f"i-{name}", region=region)
    body["spec"]["taints"] = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}, dict(TAINT)]
    body["spec"].update(spec)
    body["status"]["addresses"] = [{"type": "Hostname", "address": name}]
    return body


def taints(world, name):
    return [taint["key"] for taint in world.kube.get("Node", name)["spec"].get("taints", [])]


def addresses(world, name):
    return [(one["type"], one["address"]) for one in world.kube.get("Node", name)["status"].get("addresses", [])]


def labels(world, name):
    return world.kube.get("Node", name)["metadata"]["labels"]


def configure(world, **options):
    text = " ".join(f"{key} = {value};" for key, value in options.items())
    world.config = world.write_config(plugins=f'{{ name = "node"; {text} }}')


def writes(world, since=0):
    return [action for action in world.kube.actions(since) if action.split(" ")[0] in ("PATCH", "UPDATE", "DELETE")
            and "nodes" in action]


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        configure(world)
        yield world


def test_a_new_node_is_initialised(world):
    world.start_ccmd()
    world.kube.create(fresh("node-1"))
    world.wait(lambda: NEW not in taints(world, "node-1"), "the taint gone")
    world.settled()
    assert taints(world, "node-1") == ["node.kubernetes.io/not-ready"]
    found = labels(world, "node-1")
    assert found["node.kubernetes.io/instance-type"] == found["beta.kubernetes.io/instance-type"] == "ecs.g7.large"
    assert found["topology.kubernetes.io/region"] == found["failure-domain.beta.kubernetes.io/region"] == "cn-hangzhou"
    assert found["topology.kubernetes.io/zone"] == found["failure-domain.beta.kubernetes.io/zone"]
    assert found["node.alibabacloud.com/instance-charge-type"] == "PostPaid"
    assert found["node.alibabacloud.com/spot-strategy"] == "NoSpot"
    assert [kind for kind, _ in addresses(world, "node-1")] == ["InternalIP", "Hostname"]
    assert world.cloud.actions() == ["DescribeInstances", "DescribeNetworkInterfaces"]
    assert len(writes(world)) == 2 + 1, writes(world)  # one of them is the status that we gave it


def plan(world):
    """What `ccmd plan` announces: node -> steps."""
    _, out, err = proc.run([world.binary("ccmd"), "plan", "-o", "json", "--config", world.config],
                           env={"ACCESS_KEY_ID": ACCESS_KEY, "ACCESS_KEY_SECRET": ACCESS_SECRET})
    assert proc.COMPLAINT.search(err.encode()) is None, err
    return {one["object"]: one["steps"] for one in json.loads(out)["objects"] if one["steps"]}


# ---- deletion: never the wrong node ----

QUICK = {"period_s": 1, "gone_confirm_s": 1}


def ready(world, name, status):
    world.kube.patch("Node", name, {"status": {"conditions": [{"type": "Ready", "status": status}]}}, subresource="status")


def joined(world, numbers, **options):
    """Nodes that were initialised, and that ccmd has seen in the cloud."""
    configure(world, **{**QUICK, **options})
    world.kube.create(*[objects.node(f"node-{n}", f"i-node-{n}") for n in numbers])
    world.start_ccmd()
    world.wait(lambda: all("node.alibabacloud.com/instance-charge-type" in labels(world, f"node-{n}") for n in numbers),
               "labels of all")


def names(world):
    return sorted(item["metadata"]["name"] for item in world.kube.items("Node"))


def looks(world, since, count=4):
    """So many answers of the cloud later nothing has been deleted."""
    world.wait(lambda: world.cloud.actions(since).count("DescribeInstances") >= count, "looks", timeout=30)


def lease_events(world):
    """(reason, type, message) of those that are about no node."""
    return [(e["reason"], e["type"], e["message"]) for e in world.kube.http.request("GET", "/api/v1/events")["items"]
            if e["involvedObject"]["kind"] == "Lease"]


def deletions(world):
    return [action for action in world.kube.actions() if action.startswith("DELETE /api/v1/nodes")]


def test_the_node_of_a_released_instance_is_deleted(world):
    joined(world, (1, 2, 3))
    world.cloud.edit("delete", type="instance", id="i-node-2")
    since = world.cloud.mark()
    looks(world, since)
    assert names(world) == ["node-1", "node-2", "node-3"]  # it is heard of
    ready(world, "node-2", "False")
    looks(world, world.cloud.mark())
    assert names(world) == ["node-1", "node-2", "node-3"]
    since = world.cloud.mark()
    ready(world, "node-2", "Unknown")
    world.wait(lambda: names(world) == ["node-1", "node-3"], "the node gone")
    asked = [call["params"]["InstanceIds"] for call in world.cloud.calls(since) if "i-node-2" in call["params"]["InstanceIds"]]
    assert len(asked) >= 2 and all("i-node-1" in ids or "i-node-3" in ids for ids in asked), asked
    world.wait(lambda: [e[1] for e in world.kube.events("node-2")] == ["DeletingNode", "DeletedNode"], "the events")
    assert "i-node-2 is gone" in world.kube.events("node-2")[0][2]
    world.wait(lambda: world.metrics().get("ccmd_node_deleted_total") == 1, "the metric")


def test_an_instance_that_comes_back_saves_its_node(world):
    joined(world, (1, 2, 3), gone_confirm_s=3)
    world.cloud.edit("update", type="instance", id="i-node-2", attributes={"OwnerId": "another"})
    since = world.cloud.mark()
    ready(world, "node-2", "Unknown")
    looks(world, since, 1)
    world.cloud.edit("update", type="instance", id="i-node-2", attributes={"OwnerId": None})
    looks(world, world.cloud.mark())
    ready(world, "node-2", "True")
    looks(world, world.cloud.mark(), 6)
    assert names(world) == ["node-1", "node-2", "node-3"] and deletions(world) == []


def lose_all(world, numbers):
    """Nobody hears of any node but the first."""
    for n in numbers:
        ready(world, f"node-{n}", "Unknown")


def test_a_wrong_account_deletes_nobody(world):
    joined(world, (1, 2, 3, 4), removal_share_percent=100)
    for n in (1, 2, 3, 4):
        world.cloud.edit("update", type="instance", id=f"i-node-{n}", attributes={"OwnerId": "another"})
    since = world.cloud.mark()
    lose_all(world, (2, 3, 4))
    looks(world, since, 8)
    assert names(world) == [f"node-{n}" for n in (1, 2, 3, 4)] and deletions(world) == []


def test_a_wrong_region_deletes_nobody(world):
    joined(world, (1, 2, 3, 4), removal_share_percent=100)
    for n in (1, 2, 3, 4):
        world.cloud.edit("update", type="instance", id=f"i-node-{n}", attributes={"RegionId": "cn-beijing"})
    since = world.cloud.mark()
    lose_all(world, (2, 3, 4))
    looks(world, since, 8)
    assert names(world) == [f"node-{n}" for n in (1, 2, 3, 4)] and deletions(world) == []


def test_nodes_of_a_region_that_cannot_be_asked_stay(world):
    """The cloud refuses the region of their provider ids; nodes of the other region are not kept waiting by that."""
    joined(world, (1, 2), removal_share_percent=100)
    world.kube.create(*[objects.node(f"far-{n}", f"i-node-{n}", region="cn-aaa", labels={
        "node.alibabacloud.com/instance-charge-type": "PostPaid"}) for n in (3, 4)])
    ready(world, "far-3", "Unknown")
    world.cloud.edit("delete", type="instance", id="i-node-2")
    ready(world, "node-2", "Unknown")
    world.wait(lambda: names(world) == ["far-3", "far-4", "node-1"], "the only one that is gone", timeout=30)
    # Nor does the periodic look stop at it.
    world.cloud.edit("update", type="instance", id="i-node-1", attributes={"InstanceType": "ecs.c6.xlarge"})
    world.wait(lambda: labels(world, "node-1")["node.kubernetes.io/instance-type"] == "ecs.c6.xlarge", "the new type", timeout=60)


@pytest.mark.parametrize("code, http", [("SignatureDoesNotMatch", 400), ("Forbidden.RAM", 403), ("InvalidAccessKeyId.NotFound", 404)])
def test_wrong_credentials_delete_nobody(world, code, http):
    joined(world, (1, 2, 3), removal_share_percent=100)
    world.cloud.fault("DescribeInstances", code=code, http=http, count=1000)
    since = world.cloud.mark()
    lose_all(world, (2, 3))
    world.wait(lambda: "DescribeInstances" in world.cloud.actions(since), "a look")
    world.wait(lambda: any(e[0] == "SyncNodeFailed" and code in e[2] for e in lease_events(world)), "the event")
    assert names(world) == ["node-1", "node-2", "node-3"] and deletions(world) == []


def test_without_anybody_alive_nothing_is_proved(world):
    joined(world, (1, 2), removal_share_percent=100)
    for n in (1, 2):
        world.cloud.edit("delete", type="instance", id=f"i-node-{n}")
    since = world.cloud.mark()
    lose_all(world, (1, 2))
    looks(world, since, 6)
    assert names(world) == ["node-1", "node-2"] and deletions(world) == []


def test_an_instance_that_was_never_seen_is_not_gone(world):
    joined(world, (1, 2))
    world.kube.create(objects.node("node-9", "i-of-another-account"))
    ready(world, "node-9", "Unknown")
    world.wait(lambda: any(e[0] == "RemovalsHeld" and "node-9" in e[2] for e in lease_events(world)),
               "the event on the Lease", timeout=30)
    looks(world, world.cloud.mark())
    assert names(world) == ["node-1", "node-2", "node-9"] and deletions(world) == []


def test_no_more_than_a_share(world):
    world.cloud.http.request("POST", "/_sim/instances", {"instances": [
        {"id": f"i-node-{n}", "vswitch": "vsw-a"} for n in range(6, 21)]})
    joined(world, range(1, 21), removal_window_s=3600)
    for n in range(6, 16):
        world.cloud.edit("delete", type="instance", id=f"i-node-{n}")
    lose_all(world, range(6, 16))
    world.wait(lambda: len(names(world)) == 18, "a tenth of them", timeout=30)
    world.wait(lambda: world.metrics().get('ccmd_held_removals{plugin="node"}') == 8, "the metric", timeout=30)
    looks(world, world.cloud.mark())
    assert len(names(world)) == 18
    assert [e[:2] for e in lease_events(world)] == [("RemovalsHeld", "Warning")]
    assert "no more than 10 % of all nodes" in world.admin("/statusz")[1]


# ---- the plan ----


def test_a_plan_announces_what_the_run_does(world):
    """A new node whose interface drops what is not its own, and a node whose instance is gone; nothing once that is done."""
    joined(world, (1, 2, 3))
    world.stop_ccmd()
    assert plan(world) == {}
    world.cloud.edit("update", type="eni", id="eni-i-node-4", attributes={"SourceDestCheck": "true"})
    world.kube.create(fresh("node-4"))
    world.cloud.edit("delete", type="instance", id="i-node-2")
    ready(world, "node-2", "Unknown")
    cloud, kube = world.cloud.mark(), world.kube.mark()
    steps = plan(world)
    assert set(steps) == {"node-2", "node-4"} and steps["node-2"] == ["delete the node when a second answer lacks instance i-node-2"]
    assert steps["node-4"][0] == "switch the source/destination check off: eni-i-node-4"
    assert steps["node-4"][1] == "set addresses InternalIP 10.2.0.14, Hostname node-4" and steps["node-4"][-1] == "remove taint " + NEW
    assert all(map(look.is_read, world.cloud.actions(cloud))) and not writes(world, kube)
    world.start_ccmd()
    world.wait(lambda: names(world) == ["node-1", "node-3", "node-4"] and NEW not in taints(world, "node-4"), "all of it")
    assert [action for action in world.cloud.actions(cloud) if not look.is_read(action)] == ["ModifyNetworkInterfaceAttribute"]
    set_labels = {line.split()[-1].partition("=")[0] for line in steps["node-4"] if line.startswith("set label ")}
    assert set_labels == set(labels(world, "node-4")) - {"kubernetes.io/hostname"}
    world.stop_ccmd()
    assert plan(world) == {}
