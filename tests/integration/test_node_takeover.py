"""Plugin node after the reference: nodes of all kinds are taken over without a write; and ccmd makes of new ones what the reference makes.

captures-node.json: what the reference wrote when these nodes were new, in its order."""

import json
import os

import pytest

from tests.support import cloud_nodes as nodes
from tests.support import reference_nodes as reference
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
with open(os.path.join(os.path.dirname(__file__), "captures-node.json"), encoding="utf-8") as captured:
    WRITES = json.load(captured)


def replay(world, eip):
    """The reference works on the nodes that are there."""
    for write in WRITES:
        body = json.loads(json.dumps(write["body"]).replace(reference.EIP, eip))
        world.kube.http.request("PATCH", write["path"], body, "application/strategic-merge-patch+json")


def facts(world):
    found = nodes.all_nodes(world)
    return {word: reference.facts(found[reference.name_of(word)]) for word in reference.KINDS}


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        yield world


@pytest.mark.parametrize("network", ("true", "false"))
def test_nodes_of_the_reference_are_not_written(world, network):
    """Nor is the cloud asked for anything but the instances of those that are not left alone, once."""
    eip = reference.instances(world)
    for word in reference.KINDS:
        world.kube.http.request("POST", "/api/v1/nodes", reference.joined(word))
    replay(world, eip)
    assert facts(world) == {word: reference.facts(reference.left(word, eip)) for word in reference.KINDS}
    before = nodes.all_nodes(world)
    nodes.configure(world, period_s=86400, ipv6="true", network_condition=network)
    kube = world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: nodes.looks(world), "the look")
    world.settled()
    calls = world.cloud.calls()
    assert [call["action"] for call in calls] == ["DescribeInstances"]
    assert sorted(json.loads(calls[0]["params"]["InstanceIds"])) == [f"i-node-{n}" for n in (1, 2, 3, 4, 5, 6, 8)]
    assert nodes.writes(world, kube) == [] and nodes.all_nodes(world) == before


def test_new_nodes_are_as_the_reference_makes_them(world):
    """So that it finds nothing to write when it comes back. But for two things: with --node-ip the name of the node stays among its addresses, and excluded nodes lose their taint only."""
    eip = reference.instances(world)
    nodes.configure(world, period_s=86400, ipv6="true", network_condition="true")
    world.start_ccmd()
    world.logged("plugin node: started")
    for word in reference.KINDS:
        world.kube.http.request("POST", "/api/v1/nodes", reference.joined(word))
    stay = sorted(reference.name_of(word) for word, kind in reference.KINDS.items() if not kind.untainted)
    world.wait(lambda: nodes.tainted(world) == stay, "the taint gone of all others")
    world.settled()
    found = facts(world)
    wanted = {word: reference.facts(reference.left(word, eip)) for word in reference.KINDS}
    wanted["chosen"]["addresses"].append(("Hostname", "chosen"))
    wanted["excluded"] = dict(reference.facts(reference.joined("excluded")), taints=wanted["excluded"]["taints"])
    assert found == wanted
    # The way back: the reference writes what differs from what it wants, and but for these two nothing does.
    world.stop_ccmd()
    replay(world, eip)
    back = facts(world)
    assert {word for word in back if back[word] != found[word]} == {"chosen", "excluded"}
