"""Plugin node beside others that write the same nodes, and what it tells of whom."""

import contextlib

import pytest

from tests.support import cloud_nodes as nodes
from tests.support.forger import Forger
from tests.support.world import World

QUIET = {"period_s": 86400, "gone_confirm_s": 1}


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        yield world


def events(world, name):
    return [(item["reason"], item["message"], item["involvedObject"]) for item in world.kube.items("Event")
            if item["involvedObject"]["name"] == name]


def test_what_others_write_meanwhile_stays(world):
    """The node is read, the cloud thinks, and kubelet posts its name, another controller a taint and a label: none of it is lost."""
    nodes.configure(world, **QUIET, network_condition="true")
    body = nodes.register("node-1")
    body["status"]["addresses"] = []
    world.kube.create(body)
    world.cloud.fault("DescribeNetworkInterfaces", delay_ms=600000)
    world.start_ccmd()
    world.wait(lambda: "DescribeNetworkInterfaces" in world.cloud.actions(), "the node read")
    world.kube.patch("Node", "node-1", {"status": {"addresses": [{"type": "Hostname", "address": "node-1"}]}}, subresource="status")
    world.kube.patch("Node", "node-1", {"metadata": {"labels": {"example.com/late": "x"}}, "spec": {"taints": [
        {"key": "late", "effect": "NoExecute"}, *body["spec"]["taints"]]}})
    world.cloud.clear_faults()
    world.wait(lambda: not nodes.tainted(world), "the taint gone")
    world.settled()
    item = world.kube.get("Node", "node-1")
    assert nodes.addresses(item) == [("InternalIP", "10.1.0.11"), ("Hostname", "node-1")]
    assert [taint["key"] for taint in item["spec"]["taints"]] == ["late", "node.kubernetes.io/not-ready"]
    assert item["metadata"]["labels"]["example.com/late"] == "x" and nodes.SEEN in item["metadata"]["labels"]


def test_an_interface_that_is_not_listed(world):
    """Nobody can say that it forwards: the taint stays, and comes off when the list has it."""
    with contextlib.closing(Forger(world.cloud.base)) as forger:
        nodes.configure(world, ecs=forger.base, **QUIET)

        def strange(_, answer):
            for item in answer["Instances"]["Instance"]:
                if item["InstanceId"] == "i-node-1":
                    item["NetworkInterfaces"]["NetworkInterface"][0]["NetworkInterfaceId"] = "eni-nowhere"
            return answer

        forger.forge = strange
        world.kube.create(*[nodes.register(f"node-{n}") for n in (1, 2)])
        world.start_ccmd()
        world.wait(lambda: nodes.tainted(world) == ["node-1"], "the other one without taint")
        world.wait(lambda: events(world, "node-1"), "the event")
        assert "eni-nowhere" in events(world, "node-1")[0][1]
        forger.forge = None
        world.wait(lambda: not nodes.tainted(world), "no taint", timeout=60)


def test_whom_events_are_about(world):
    """The node as the API server knows it, so that `kubectl describe` shows them."""
    nodes.configure(world, **QUIET)
    told = nodes.register("node-3")
    told["metadata"]["annotations"] = {"alpha.kubernetes.io/provided-node-ip": "10.9.9.9"}
    world.kube.create(*[nodes.register(f"node-{n}") for n in (1, 2)], told)
    world.start_ccmd()
    world.wait(lambda: nodes.tainted(world) == ["node-3"], "the others without taint")
    uids = {name: item["metadata"]["uid"] for name, item in nodes.all_nodes(world).items()}
    nodes.release(world, "node-2")
    nodes.ready(world, "node-2", "Unknown")
    world.wait(lambda: {"DeletingNode", "DeletedNode"} <= {reason for reason, _, _ in events(world, "node-2")}, "the end of node-2",
               timeout=60)
    world.wait(lambda: events(world, "node-3"), "why node-3 waits", timeout=60)
    for name in ("node-2", "node-3"):
        assert {(about["kind"], about["uid"]) for _, _, about in events(world, name)} == {("Node", uids[name])}
    assert world.metrics()['ccm_node_latencies_duration_milliseconds_count{verb="reconcile"}'] >= 2
