"""Plugin node: addresses, labels, conditions and taints of all kinds of nodes, as specified."""

import pytest

from tests.integration.test_node import NEW, addresses, configure, fresh, labels, ready, taints
from tests.support import objects
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
STOPPED = "node.cloudprovider.kubernetes.io/shutdown"
NODE_IP = "alpha.kubernetes.io/provided-node-ip"
SEEN = "node.alibabacloud.com/instance-charge-type"
SPOT = "node.alibabacloud.com/spot-strategy"
POOL = "node.alibabacloud.com/nodepool-id"


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        configure(world)
        yield world


def change(world, name, **attributes):
    world.cloud.edit("update", type="instance", id=f"i-{name}", attributes=attributes)


def initialised(world, name):
    world.wait(lambda: NEW not in taints(world, name), f"{name} without its taint")
    world.settled()


def failures(world, name):
    return [message for kind, reason, message, _ in world.kube.events(name) if reason == "SyncNodeFailed" and kind == "Warning"]


def network(world, name):
    return next((c for c in world.kube.get("Node", name)["status"]["conditions"] if c["type"] == "NetworkUnavailable"), None)


def test_addresses_in_their_order(world):
    """O5; all of IPv6 comes by option only."""
    change(world, "node-1", PublicIp="47.1.1.1", InnerIp="10.9.9.9")
    world.start_ccmd()
    world.kube.create(fresh("node-1"))
    initialised(world, "node-1")
    assert addresses(world, "node-1") == [
        ("ExternalIP", "47.1.1.1"), ("InternalIP", "10.9.9.9"), ("InternalIP", "10.1.0.11"), ("Hostname", "node-1")]


@pytest.mark.parametrize("option, found", [("true", [("InternalIP", "2408::9")]), ("false", [])])
def test_ipv6_addresses(world, option, found):
    world.cloud.http.request("POST", "/_sim/instances", {"instances": [{"id": "i-node-6", "vswitch": "vsw-a", "ipv6": ["2408::9"]}]})
    configure(world, ipv6=option)
    world.start_ccmd()
    world.kube.create(fresh("node-6"))
    initialised(world, "node-6")
    assert addresses(world, "node-6")[1:-1] == found


def test_node_ip_takes_the_place_of_its_like(world):
    """O6, mended: names and other types stay."""
    change(world, "node-1", PublicIp="47.1.1.1", InnerIp="10.9.9.9")
    world.start_ccmd()
    item = fresh("node-1")
    item["metadata"]["annotations"] = {NODE_IP: "10.1.0.11"}
    world.kube.create(item)
    initialised(world, "node-1")
    assert addresses(world, "node-1") == [("ExternalIP", "47.1.1.1"), ("InternalIP", "10.1.0.11"), ("Hostname", "node-1")]


def test_node_ip_that_nobody_has(world):
    """O7, told: what kubelet says and what there is."""
    world.start_ccmd()
    item = fresh("node-1")
    item["metadata"]["annotations"] = {NODE_IP: "10.1.0.99"}
    world.kube.create(item)
    world.wait(lambda: failures(world, "node-1"), "the event")
    assert "10.1.0.99" in failures(world, "node-1")[0] and "10.1.0.11" in failures(world, "node-1")[0]
    assert NEW in taints(world, "node-1")
    world.kube.patch("Node", "node-1", {"metadata": {"annotations": {NODE_IP: "10.1.0.11"}}})
    initialised(world, "node-1")


def test_a_value_that_no_label_can_have(world):
    """O8, mended: it is left out, and told."""
    world.cloud.edit("update", type="instance", id="i-node-1", tags={"ack.alibabacloud.com/nodepool-id": "bad value!"})
    world.start_ccmd()
    world.kube.create(fresh("node-1"))
    initialised(world, "node-1")
    assert POOL not in labels(world, "node-1") and SEEN in labels(world, "node-1")
    world.wait(lambda: any("bad value!" in text for text in failures(world, "node-1")), "the event")


def test_labels_and_addresses_are_put_right(world):
    """E1, E2: at once, since a watch tells; the cloud's changes with the next look."""
    world.start_ccmd()
    world.kube.create(fresh("node-1"))
    initialised(world, "node-1")
    right = labels(world, "node-1"), addresses(world, "node-1")
    world.kube.patch("Node", "node-1", {"metadata": {"labels": {"beta.kubernetes.io/instance-type": "test-type"}}})
    world.wait(lambda: labels(world, "node-1") == right[0], "the labels")


def test_addresses_are_put_right(world):
    world.start_ccmd()
    world.kube.create(fresh("node-1"))
    initialised(world, "node-1")
    right = addresses(world, "node-1")
    world.kube.patch("Node", "node-1", {"status": {"addresses": [{"type": "InternalIP", "address": "123.123.123.123"},
                                                               {"type": "Hostname", "address": "node-1"}]}}, subresource="status")
    world.wait(lambda: addresses(world, "node-1") == right, "the addresses")


def test_changes_in_the_cloud_come_with_the_next_look(world):
    configure(world, period_s=1)
    world.cloud.edit("update", type="instance", id="i-node-1", tags={"ack.alibabacloud.com/nodepool-id": "np-1"})
    world.start_ccmd()
    world.kube.create(fresh("node-1"))
    world.wait(lambda: NEW not in taints(world, "node-1"), "node-1 without its taint")
    assert labels(world, "node-1")[POOL] == "np-1"
    change(world, "node-1", InstanceType="ecs.c6.xlarge")
    world.wait(lambda: labels(world, "node-1")["node.kubernetes.io/instance-type"] == "ecs.c6.xlarge", "the new type")
    # A label that is ours goes with what it tells.
    world.cloud.edit("update", type="instance", id="i-node-1", tags={"ack.alibabacloud.com/nodepool-id": None})
    world.wait(lambda: POOL not in labels(world, "node-1"), "the label gone")
    # One of somebody else's stays.
    world.kube.create(objects.node("node-2", "i-node-2", labels={POOL: "mine"}))
    world.wait(lambda: SEEN in labels(world, "node-2"), "a look at it")
    since = world.cloud.mark()
    world.wait(lambda: world.cloud.actions(since).count("DescribeInstances") >= 3, "more looks")
    assert labels(world, "node-2")[POOL] == "mine"


@pytest.mark.parametrize("option", ["true", "false"])
def test_stopped_instances(world, option):
    configure(world, period_s=1, shutdown_taint=option)
    world.kube.create(objects.node("node-1", "i-node-1", taints=[{"key": "mine", "effect": "NoExecute"}]))
    world.start_ccmd()
    world.wait(lambda: SEEN in labels(world, "node-1"), "the first look")
    change(world, "node-1", Status="Stopped")
    ready(world, "node-1", "Unknown")
    if option == "false":
        since = world.cloud.mark()
        world.wait(lambda: world.cloud.actions(since).count("DescribeInstances") >= 3, "looks")
        assert STOPPED not in taints(world, "node-1")
        return
    world.wait(lambda: STOPPED in taints(world, "node-1") and "mine" in taints(world, "node-1"), "the taint")
    change(world, "node-1", Status="Running")
    ready(world, "node-1", "True")
    world.wait(lambda: STOPPED not in taints(world, "node-1"), "the taint gone")
    assert "mine" in taints(world, "node-1")
    assert world.kube.get("Node", "node-1") is not None


def test_the_condition_stands_before_the_taint_goes(world):
    configure(world, network_condition="true")
    world.start_ccmd()
    since = world.kube.mark()
    world.kube.create(fresh("node-1"))
    initialised(world, "node-1")
    assert (network(world, "node-1")["status"], network(world, "node-1")["reason"]) == ("True", "NoRouteCreated")
    patches = [action for action in world.kube.actions(since) if action.startswith("PATCH")]
    assert [("status" in action) for action in patches] == [True, True, False], patches  # the first is ours
    # One that is there stays, whoever said it.
    body = fresh("node-2")
    body["status"]["conditions"].append({"type": "NetworkUnavailable", "status": "False", "reason": "Mine", "message": ""})
    world.kube.create(body)
    initialised(world, "node-2")
    assert network(world, "node-2")["reason"] == "Mine"


def test_who_is_left_alone(world):
    """O3 and O4: the taint of excluded nodes goes, they are not touched else."""
    world.start_ccmd()
    for number, label in ((1, "service.alibabacloud.com/exclude-node"), (2, "service.beta.kubernetes.io/exclude-node")):
        item = fresh(f"node-{number}")
        item["metadata"]["labels"][label] = "yes"
        world.kube.create(item)
        initialised(world, f"node-{number}")
        assert SEEN not in labels(world, f"node-{number}")
        assert addresses(world, f"node-{number}") == [("Hostname", f"node-{number}")]
    world.kube.create(fresh("hybrid", providerID="ack-hybrid://123456"), fresh("aws", providerID="aws:///zone/i.1"),
                      fresh("unknown", providerID="unknown-provider-id"))
    world.settled()
    assert all(NEW in taints(world, name) for name in ("hybrid", "aws", "unknown"))
    assert world.cloud.actions() == []


def test_a_provider_id_that_comes_later(world):
    """O1, mended: at once."""
    world.start_ccmd()
    world.kube.create(fresh("node-1", providerID=""))
    world.settled()
    assert NEW in taints(world, "node-1") and world.cloud.actions() == []
    world.kube.patch("Node", "node-1", {"spec": {"providerID": "cn-hangzhou.i-node-1"}})
    initialised(world, "node-1")


def with_address(name, address):
    item = fresh(name, providerID="")
    item["status"]["addresses"].append({"type": "InternalIP", "address": address})
    return item


def test_found_by_address(world):
    configure(world, find_by_address="true")
    world.start_ccmd()
    world.kube.create(with_address("a", "10.1.0.11"), with_address("b", "10.2.0.12"))
    for name, instance in (("a", "i-node-1"), ("b", "i-node-2")):
        initialised(world, name)
        assert world.kube.get("Node", name)["spec"]["providerID"] == f"cn-hangzhou.{instance}"
        assert SEEN in labels(world, name)
    world.kube.create(with_address("c", "10.1.0.99"), with_address("d", "10.1.0.11"))
    for name, text in (("c", "no instance of the VPC"), ("d", "another node's")):
        world.wait(lambda n=name, t=text: any(t in message for message in failures(world, n)), f"the event of {name}", timeout=45)
        assert NEW in taints(world, name) and not world.kube.get("Node", name)["spec"].get("providerID")


def test_not_found_by_address_unless_asked_for(world):
    world.start_ccmd()
    world.kube.create(with_address("a", "10.1.0.11"))
    world.settled()
    assert NEW in taints(world, "a") and world.cloud.actions() == []


def test_an_interface_that_checks(world):
    for number in (1, 2):
        world.cloud.edit("update", type="eni", id=f"eni-i-node-{number}", attributes={"SourceDestCheck": "true"})
    world.start_ccmd()
    world.kube.create(fresh("node-1"), fresh("node-2"))
    initialised(world, "node-1")
    initialised(world, "node-2")
    enis = {eni["NetworkInterfaceId"]: eni for eni in world.cloud.state()["networkInterfaces"]}
    assert all(enis[f"eni-i-node-{n}"]["SourceDestCheck"] == "false" for n in (1, 2))
    assert world.cloud.actions().count("ModifyNetworkInterfaceAttribute") == 2


def test_an_interface_under_change(world):
    """O10: the taint stays, labels and addresses come; it is tried again by itself."""
    world.cloud.edit("update", type="eni", id="eni-i-node-1", attributes={"SourceDestCheck": "true", "Status": "Attaching"})
    world.start_ccmd()
    world.kube.create(fresh("node-1"), fresh("node-2"))
    initialised(world, "node-2")
    world.wait(lambda: world.cloud.actions().count("ModifyNetworkInterfaceAttribute") >= 3, "more tries", timeout=60)
    assert NEW in taints(world, "node-1") and SEEN in labels(world, "node-1")
    world.cloud.edit("update", type="eni", id="eni-i-node-1", attributes={"Status": "InUse"})
    world.wait(lambda: NEW not in taints(world, "node-1"), "the taint gone", timeout=60)


def test_the_check_stays_by_option(world):
    world.cloud.edit("update", type="eni", id="eni-i-node-1", attributes={"SourceDestCheck": "true"})
    configure(world, disable_source_dest_check="false")
    world.start_ccmd()
    world.kube.create(fresh("node-1"))
    initialised(world, "node-1")
    assert world.cloud.actions() == ["DescribeInstances"]


def test_a_throttled_cloud(world):
    """O9, mended: soon, not after the next period."""
    world.cloud.fault("DescribeInstances", code="Throttling.User", http=400, count=2)
    world.start_ccmd()
    world.kube.create(fresh("node-1"))
    world.wait(lambda: NEW not in taints(world, "node-1"), "the taint gone", timeout=60)


def test_an_instance_that_is_not_listed_yet(world):
    world.start_ccmd()
    world.kube.create(fresh("node-6"), fresh("node-1"))
    initialised(world, "node-1")
    assert NEW in taints(world, "node-6")
    world.cloud.http.request("POST", "/_sim/instances", {"instances": [{"id": "i-node-6", "vswitch": "vsw-a"}]})
    world.wait(lambda: NEW not in taints(world, "node-6"), "the taint gone", timeout=60)


def test_taints_of_others_stay(world):
    world.start_ccmd()
    item = fresh("node-1")
    item["spec"]["taints"] = [{"key": "a", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}, *item["spec"]["taints"],
                              {"key": "z", "value": "v", "effect": "NoSchedule"}]
    world.kube.create(item)
    initialised(world, "node-1")
    assert world.kube.get("Node", "node-1")["spec"]["taints"] == [
        item["spec"]["taints"][0], {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}, item["spec"]["taints"][-1]]


def test_two_nodes_of_one_instance(world):
    """Both are served, and both are told."""
    world.start_ccmd()
    world.kube.create(fresh("node-1"), fresh("renamed", "i-node-1"))
    for name in ("node-1", "renamed"):
        initialised(world, name)
        assert addresses(world, name)[0] == ("InternalIP", "10.1.0.11")
    for name, other in (("node-1", "renamed"), ("renamed", "node-1")):
        world.wait(lambda n=name, o=other: any("DuplicateProviderID" == e[1] and o in e[2] for e in world.kube.events(n)),
                   f"the event of {name}")


# ---- Lingjun ----


def lingjun(name, status="True", taint=False, **extra):
    item = objects.node(name, "x")
    item["spec"] = {"providerID": f"e01-{name}", **({"taints": [{"key": NEW, "effect": "NoSchedule"}]} if taint else {})}
    item["metadata"]["labels"].update({"alibabacloud.com/lingjun-worker": "true", **extra})
    item["status"]["conditions"][0]["status"] = status
    return item


def in_lingjun(world, *names):
    for name in names:
        world.cloud.edit("create", type="lingjun_node", id=f"e01-{name}")


def rounds(world, count=3):
    """So many looks of the periodic kind: the one ECS node is asked about in each."""
    since = world.cloud.mark()
    world.wait(lambda: world.cloud.actions(since).count("DescribeInstances") >= count, "looks", timeout=60)


def test_lingjun_nodes(world):
    """T4 to T9; T7 with somebody who is there for certain."""
    configure(world, period_s=1, gone_confirm_s=1, removal_share_percent=100)
    in_lingjun(world, "alive", "lost", "fresh")
    world.kube.create(objects.node("node-1", "i-node-1"), lingjun("alive"), lingjun("lost", "Unknown"),
                      lingjun("gone", "Unknown"), lingjun("fresh", taint=True),
                      lingjun("tianwen", "Unknown", True, **{"alibabacloud.com/lingjun-tianwen-environment": "x"}),
                      lingjun("grouped", "True", **{"alibabacloud.com/lingjun-nodegroup-id": "ng-x"}))
    world.start_ccmd()
    world.wait(lambda: world.kube.get("Node", "gone") is None, "the node of a machine that is gone", timeout=30)
    assert NEW not in taints(world, "fresh")
    rounds(world)
    assert sorted(item["metadata"]["name"] for item in world.kube.items("Node")) == [
        "alive", "fresh", "grouped", "lost", "node-1", "tianwen"]
    assert NEW in taints(world, "tianwen") and SEEN not in labels(world, "fresh")
    asked = {call["params"]["NodeId"] for call in world.cloud.calls() if call["action"] == "DescribeNode"}
    assert {"e01-lost", "e01-gone"} <= asked and "e01-fresh" not in asked and "e01-tianwen" not in asked


@pytest.mark.parametrize("case", ["nobody alive", "wrong account", "refused"])
def test_lingjun_nodes_are_not_deleted_without_proof(world, case):
    configure(world, period_s=1, gone_confirm_s=1, removal_share_percent=100)
    world.kube.create(objects.node("node-1", "i-node-1"), lingjun("gone", "Unknown"))
    if case != "nobody alive":
        world.kube.create(lingjun("alive"))  # which this account does not show
    if case == "refused":
        world.cloud.fault("DescribeNode", code="Forbidden.RAM", http=403, count=1000)
    world.start_ccmd()
    rounds(world, 5)
    assert "DescribeNode" in world.cloud.actions()
    assert world.kube.get("Node", "gone") is not None
