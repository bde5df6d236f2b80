"""Plugin node: nodes that come, change, stop and go, with real processes."""

import pytest

from tests.support import objects
from tests.support.world import World

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
