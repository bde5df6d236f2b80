"""The status page of a node, and `ccmd status node/NAME`: its instance, what was seen of it last, why it is still there."""

import json
import os
import subprocess

import pytest

from tests.support import cloud_nodes as nodes
from tests.support import objects, proc
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
QUICK = dict(nodes.QUICK, removal_share_percent=100)


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        yield world


def told(world, name):
    """What plugin node tells of it; {} = nothing yet."""
    status, text = world.admin(f"/statusz/object?key={name}&format=json")
    return json.loads(text)["node"] if status == 200 else {}


def wait_told(world, name, **facts):
    """Until the page says so: texts that the facts begin with."""
    def seen():
        page = told(world, name)
        return page if all(page.get(key, "").startswith(value) for key, value in facts.items()) else None

    return world.wait(seen, f"{facts} of {name}", timeout=20)


def start(world, numbers, **options):
    nodes.configure(world, **{**QUICK, **options})
    nodes.instances(world, numbers)
    world.kube.create(*[nodes.seen(f"node-{n}") for n in numbers])
    world.start_ccmd()
    for n in numbers:
        wait_told(world, f"node-{n}", state_of_the_instance="Running")


def test_a_node_that_is_well(world):
    """Found by the periodic look alone: nobody has asked about it by its name."""
    start(world, (1, 2), period_s=86400)
    world.settled()
    page = told(world, "node-1")
    assert page["instance"] == "i-node-1" and page["region"] == "cn-hangzhou"
    assert page["instance_link"] == "https://ecs.console.aliyun.com/server/i-node-1/detail?regionId=cn-hangzhou"
    assert page["ready"] == "True" and page["initialised"] == "yes" and page["last_look"].endswith(" s ago")
    assert page["addresses"] == "InternalIP 10.1.0.11" and "deletion" not in page and "what_is_wrong" not in page
    rows = {row["label"]: row["value"] for row in page["labels_from_the_cloud"]}
    assert rows["topology.kubernetes.io/zone"] == "cn-hangzhou-h" and len(rows) == 8
    before = world.cloud.mark()
    for key in ("node-1", "node/node-1", "node-1&plugin=node"):
        assert "i-node-1" in world.admin(f"/statusz/object?key={key}&format=text")[1]
    assert world.admin("/statusz/object?key=node/none")[0] == world.admin("/statusz/object?key=node-1&plugin=clb")[0] == 404
    assert world.cloud.calls(before) == []
    assert "DescribeInstances" in world.admin("/statusz/quotas")[1]


def test_a_node_whose_instance_is_gone(world):
    """While it is heard of, after the first look, and when it has been deleted."""
    start(world, (1, 2, 3), gone_confirm_s=3)
    nodes.release(world, "node-2")
    wait_told(world, "node-2", state_of_the_instance="not known: ", deletion="not as long as its kubelet is heard of")
    nodes.ready(world, "node-2", "Unknown")
    page = wait_told(world, "node-2", ready="Unknown", state_of_the_instance="gone: ", deletion="a second look")
    assert page["next_look"].startswith("in ")
    world.wait(lambda: world.kube.get("Node", "node-2") is None, "the node gone", timeout=40)
    world.wait(lambda: world.admin("/statusz/object?key=node-2")[0] == 404, "its page gone")


def test_nodes_that_stay_although_nobody_hears_of_them(world):
    """Held by the share; of another account; no proof; and the instance that was only stopped."""
    start(world, (1, 2, 3, 4, 5, 6), removal_share_percent=10, removal_window_s=3600)
    for n in (5, 6):
        nodes.release(world, f"node-{n}")
        nodes.ready(world, f"node-{n}", "Unknown")
    world.kube.create(objects.node("foreign", "i-foreign"))
    nodes.ready(world, "foreign", "Unknown")
    wait_told(world, "foreign", state_of_the_instance="gone", deletion="its instance was never seen")

    def rest():
        return [n for n in (5, 6) if world.kube.get("Node", f"node-{n}") is not None]

    world.wait(lambda: len(rest()) == 1, "one of two gone", timeout=40)
    page = wait_told(world, f"node-{rest()[0]}", deletion="held")
    assert "ccmd allow-removals node" in page["deletion"]
    world.cloud.edit("update", type="instance", id="i-node-4", attributes={"Status": "Stopped"})
    nodes.ready(world, "node-4", "Unknown")
    assert "deletion" not in wait_told(world, "node-4", state_of_the_instance="Stopped", ready="Unknown")
    for n in (1, 2, 3, 4):
        world.cloud.edit("update", type="instance", id=f"i-node-{n}", attributes={"OwnerId": "another"})
    wait_told(world, "node-4", state_of_the_instance="not known: ", deletion="not on such an answer")


def test_nodes_that_are_not_initialised(world):
    """What each of them waits for."""
    nodes.configure(world, period_s=86400)
    world.start_ccmd()
    world.logged("plugin node: started")
    world.kube.create(nodes.register("late", "i-late"))
    page = wait_told(world, "late", initialised="not yet", what_is_wrong="instance i-late is not in region cn-hangzhou")
    assert page["state"] == "failing" and page["state_of_the_instance"].startswith("not known")
    kinds = {"hybrid": ("ack-hybrid://1", "it is excluded"), "aws": ("aws:///zone/i.1", "it is "), "unnamed": ("", "it waits for its provider id")}
    for name, (provider, _) in kinds.items():
        body = nodes.register(name)
        body["spec"]["providerID"] = provider
        world.kube.http.request("POST", "/api/v1/nodes", body)
    for name, (_, words) in kinds.items():
        wait_told(world, name, what_is_done_with_it=words, initialised="not yet")
    evil = nodes.register("evil", "i-x\"><b>y")
    world.kube.http.request("POST", "/api/v1/nodes", evil)
    assert "instance_link" not in wait_told(world, "evil", initialised="not yet")
    assert "<b>" not in world.admin("/statusz/object?key=evil")[1]


def test_the_command(world):
    start(world, (1,), period_s=86400)
    port = world.admin_base().rpartition(":")[2]
    path = world.config + ".reader"
    with open(world.config, encoding="utf-8") as file, open(path, "w", encoding="utf-8") as copy:
        copy.write(file.read().replace('listen = "127.0.0.1:0"', f'listen = "127.0.0.1:{port}"'))
    os.chmod(path, 0o600)
    for key in ("node/node-1", "node-1"):
        done = subprocess.run([world.binary("ccmd"), "status", "--config", path, key], stdout=subprocess.PIPE, text=True,
                              timeout=60 * proc.SLOW, check=True)
        assert done.stdout.startswith("node-1\n") and "i-node-1" in done.stdout and "Running" in done.stdout
