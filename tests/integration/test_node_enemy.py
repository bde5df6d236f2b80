"""Plugin node and what somebody can write on a Node of his own, and an answer of the cloud that lacks something: all others are served."""

import contextlib
import json

import pytest

from tests.support import cloud_nodes as nodes
from tests.support import objects
from tests.support.forger import Forger
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
UNLIMITED = "quotas: { ecs = 1000000; };"
QUIET = {"period_s": 86400, "gone_confirm_s": 1, "removal_share_percent": 100}
MALFORMED = {"code": "InvalidParameter", "http": 400, "message": 'The specified parameter "InstanceIds" is not valid.'}


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        yield world


def events(world, name):
    return [message for _, reason, message, _ in world.kube.events(name) if reason == "SyncNodeFailed"]


def test_an_id_that_the_cloud_does_not_take(world):
    """It is refused for all that are asked about with it: those have their answer all the same, and the one has an event."""
    nodes.configure(world, alicloud=UNLIMITED, **QUIET)
    nodes.instances(world, range(1, 21))
    world.cloud.fault("DescribeInstances", params={"InstanceIds": "*strange*"}, count=1000, **MALFORMED)
    strange = nodes.register("strange", "strange%22]")
    world.kube.create(*[nodes.register(f"node-{n}") for n in range(1, 21)], strange)
    world.start_ccmd()
    world.wait(lambda: nodes.tainted(world) == ["strange"], "no taint but of one", timeout=60)
    world.wait(lambda: events(world, "strange"), "the event", timeout=60)
    assert "InstanceIds" in events(world, "strange")[0]
    world.settled()
    answered = [json.loads(call["params"]["InstanceIds"]) for call in nodes.looks(world) if call["http"] == 200]
    assert sorted(id for ids in answered for id in ids) == sorted(f"i-node-{n}" for n in range(1, 21))
    assert len(nodes.looks(world)) <= 20


@pytest.mark.parametrize("provider", ["cn-hangzhou." + "x" * 400, "a/../b.i-node-1", "cn-hangzhou.i-node-1\\\"]&Action=DeleteInstance",
                                      "..", ".i-node-1", "cn-hangzhou.", "cn hangzhou.i-ü", "alicloud://alicloud://cn-hangzhou.i-node-1"],
                         ids=["long", "path", "quotes", "dots", "region", "instance", "blank", "twice"])
def test_strange_provider_ids(world, provider):
    """Whatever it is, the cloud is asked for instances and nothing else, and other nodes are initialised."""
    nodes.configure(world, alicloud=UNLIMITED, **QUIET)
    strange = nodes.register("strange")
    strange["spec"]["providerID"] = provider
    world.kube.create(strange)
    world.start_ccmd()
    world.logged("plugin node: started")
    world.kube.create(nodes.register("node-2"))
    world.wait(lambda: nodes.tainted(world) == ["strange"], "the other one without taint", timeout=60)
    world.settled()
    assert {call["action"] for call in world.cloud.calls()} <= {"DescribeInstances", "DescribeNetworkInterfaces"}
    assert world.kube.get("Node", "strange")["status"]["addresses"] == [{"type": "Hostname", "address": "strange"}]


def test_a_node_that_only_says_it_was_seen_keeps_nobody(world):
    """It is ready, and nobody has its instance: who is there for certain is one that ccmd has seen."""
    nodes.configure(world, alicloud=UNLIMITED, **QUIET)
    world.kube.create(*[nodes.register(f"node-{n}") for n in (1, 2, 3)])
    world.start_ccmd()
    world.wait(lambda: not nodes.tainted(world), "no taint")
    since = world.cloud.mark()
    world.kube.create(nodes.seen("a-first", "i-nowhere"))
    world.wait(lambda: nodes.looks(world, since), "a look at it")
    world.settled()
    nodes.release(world, "node-3")
    nodes.ready(world, "node-3", "Unknown")
    world.wait(lambda: world.kube.get("Node", "node-3") is None, "the node gone", timeout=60)
    assert sorted(nodes.all_nodes(world)) == ["a-first", "node-1", "node-2"]


def test_a_lingjun_node_that_only_says_it_is_there_keeps_nobody(world):
    nodes.configure(world, alicloud=UNLIMITED, **QUIET)
    world.cloud.edit("create", type="lingjun_node", id="e01-there")
    for name in ("a-first", "there", "gone"):
        body = objects.node(name, "x", labels={"alibabacloud.com/lingjun-worker": "true"})
        body["spec"]["providerID"] = f"e01-{name}"
        world.kube.create(body)
    nodes.ready(world, "gone", "Unknown")
    world.start_ccmd()
    world.wait(lambda: world.kube.get("Node", "gone") is None, "the node gone", timeout=60)
    assert sorted(nodes.all_nodes(world)) == ["a-first", "there"]


def test_an_answer_without_addresses_takes_none(world):
    """An instance that is only just made has none yet, and an answer may lack them: nodes keep what they have."""
    with contextlib.closing(Forger(world.cloud.base)) as forger:
        nodes.configure(world, alicloud=UNLIMITED, ecs=forger.base, **{**QUIET, "period_s": 1})
        world.kube.create(nodes.register("node-1"))
        world.start_ccmd()
        world.wait(lambda: not nodes.tainted(world), "no taint")
        before = nodes.addresses(world.kube.get("Node", "node-1"))
        assert before[0][0] == "InternalIP"

        def bare(_, answer):
            for item in answer.get("Instances", {}).get("Instance", []):
                for name in ("PublicIpAddress", "EipAddress", "InnerIpAddress", "VpcAttributes"):
                    item.pop(name, None)
            return answer

        forger.forge = bare
        world.kube.create(nodes.register("node-2"))
        nodes.looked(world, 4)
        assert nodes.addresses(world.kube.get("Node", "node-1")) == before
        assert nodes.tainted(world) == ["node-2"]
        forger.forge = None
        world.wait(lambda: not nodes.tainted(world), "the taint of the new one gone", timeout=60)
        assert nodes.addresses(world.kube.get("Node", "node-2"))[0][0] == "InternalIP"


def test_much_of_everything_on_one_node(world):
    """What one kubelet writes beside its node: long notes about addresses and deletions, addresses, names."""
    nodes.configure(world, alicloud=UNLIMITED, **QUIET)
    body = nodes.register("node-1")
    body["metadata"]["annotations"] = {"alpha.kubernetes.io/provided-node-ip": "10.1.0.11," + ",".join(["10.9.9.9"] * 10000),
                                       "ccmd/deleted-nodes": "1700000000:1 a/1 " * 8000}
    body["status"]["addresses"] += [{"type": "Hostname", "address": f"name-{n}"} for n in range(100)]
    world.kube.create(body, *[nodes.register(f"node-{n}") for n in (2, 3)])
    world.start_ccmd()
    world.wait(lambda: not nodes.tainted(world), "no taint", timeout=60)
    nodes.release(world, "node-3")
    nodes.ready(world, "node-3", "Unknown")
    world.wait(lambda: world.kube.get("Node", "node-3") is None, "the node gone", timeout=60)
    assert sorted(nodes.all_nodes(world)) == ["node-1", "node-2"]
