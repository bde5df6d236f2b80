"""Calls that have to wait for the quota: the pass gives its worker back, and comes again when it is its turn."""

import os
import signal

import pytest

from tests.support import objects, views
from tests.support.scenario_route import CLUSTER_CIDR, SYSTEM_TABLE, custom_routes, node
from tests.support.world import World

PORTS = ((80, "TCP"), (443, "TCP"))


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        views.nodes(world, 2)
        yield world


@pytest.fixture
def routed(build, tmp_path):
    with World(build, tmp_path, cloud_args=["--limit=routes=1000"]) as world:
        yield world


def start(world, write):
    """One worker. The quota of each changing action is so small that the second Service uses it up."""
    world.config = world.write_config(plugins='{ name = "clb"; workers = 1; }', alicloud=f"quotas: {{ slb_write = {write}; }};",
                                      log_level="info")
    world.start_ccmd()


def victim(world):
    service = objects.service("victim", ((80, "TCP"),), policy="Local")
    slice_ = objects.endpoint_slice(service, [("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")])
    world.kube.create(service, slice_)
    world.wait(lambda: world.kube.ingress("victim"), "the first Service")
    return slice_


def groups(world):
    return sum(len(lb["VServerGroups"]) for lb in world.cloud.load_balancers())


def use_up(world):
    """A second Service, which gets no further than its second group."""
    world.kube.create(objects.service("late", PORTS))
    world.wait(lambda: groups(world) == 2, "a group of the second Service")


def servers(world):
    return [group["BackendServers"] for lb in world.cloud.load_balancers() for group in lb["VServerGroups"]
            if group["VServerGroupName"].startswith("k8s/") and "victim" in group["VServerGroupName"]]


def test_a_removal_does_not_wait_for_others(world):
    start(world, 2)
    slice_ = victim(world)
    use_up(world)
    world.kube.replace(dict(slice_, endpoints=slice_["endpoints"][:1]))
    world.wait(lambda: [len(found) for found in servers(world)] == [1], "the removal", timeout=5)
    assert not [event for event in world.kube.events("late") if event[0] == "Warning"]
    assert "late" not in "".join(line for line in world.log().splitlines() if " error " in line)


def test_deletion_does_not_wait_for_others(world):
    start(world, 2)
    victim(world)
    use_up(world)
    world.kube.delete("Service", "victim")
    world.wait(lambda: world.kube.get("Service", "victim") is None, "the deletion", timeout=5)


def test_it_goes_on_when_it_is_its_turn(world):
    start(world, 2)
    victim(world)
    use_up(world)
    world.config = world.write_config(plugins='{ name = "clb"; workers = 1; }', log_level="info",
                                      alicloud="quotas: { slb_write = 100; };")
    os.kill(world.ccmd.popen.pid, signal.SIGHUP)
    world.wait(lambda: world.kube.ingress("late"), "the second Service")
    world.settled()
    assert all(views.complete(lb, ports) for lb, ports in zip(world.cloud.load_balancers(), (PORTS[:1], PORTS)))
    assert {event[0] for event in world.kube.events("late")} == {"Normal"}
    actions = world.cloud.actions()
    assert actions.count("CreateVServerGroup") == 3 and actions.count("CreateLoadBalancer") == 2


def start_routes(world, quotas, nodes, **options):
    """route alone."""
    text = " ".join(f"{key} = {value};" for key, value in options.items())
    world.config = world.write_config(plugins=f'{{ name = "route"; cluster_cidr = "{CLUSTER_CIDR}"; account_quotas = "routes=0"; {text} }}',
                                      alicloud=f"quotas: {{ {quotas} }};", log_level="info",
                                      election='enabled = true; namespace = "default"; name = "routes-of-ours";')
    world.cloud.http.request("POST", "/_sim/instances", {"instances": [
        {"id": f"i-far-{number}", "vswitch": "vsw-a"} for number in range(nodes + 1)]})
    world.kube.create(*(node(f"far-{number}", f"10.96.{number}.0/24") for number in range(nodes)))
    world.start_ccmd()


def hops(world):
    return set(custom_routes(world.cloud.state())[SYSTEM_TABLE].values())


def test_a_route_goes_while_others_wait_to_be_made(routed):
    """Five of eight routes are made, the others wait a minute for their quota: a node that goes loses its route at once."""
    routed.cloud.fault("CreateRouteEntries", count=1000, http=403, code="Forbidden.RAM", message="no right")
    routed.cloud.fault("DeleteRouteEntries", count=1000, http=403, code="Forbidden.RAM", message="no right")
    start_routes(routed, "vpc = 5;", 8)
    routed.wait(lambda: len(hops(routed)) == 5, "what the quota allows")
    gone = sorted(hops(routed))[0]
    routed.kube.delete("Node", gone.removeprefix("i-"))
    routed.wait(lambda: gone not in hops(routed), "the removal", timeout=8)
    assert [event for event in routed.kube.events() if event[0] == "Warning"] == []
    assert " error " not in routed.log()


@pytest.mark.time_scale(10)
def test_a_list_of_routes_goes_on_where_it_was(routed):
    """Two pages within the quota, the third a minute later: no page is read twice, and an event says so."""
    start_routes(routed, "vpc = 2;", 1)
    routed.wait(lambda: hops(routed) == {"i-far-0"}, "its route", timeout=30)
    routed.settled()
    routed.stop_ccmd()
    for number in range(250):
        routed.cloud.edit("create", type="route", route_table=SYSTEM_TABLE, destination=f"10.9.{number}.0/24", next_hop_type="Instance",
                          next_hop="i-other")
    since = routed.cloud.mark()
    routed.start_ccmd()
    routed.wait(lambda: "WaitingForQuota" in [event[1] for event in routed.kube.events()], "an event")
    routed.kube.create(node("far-1", "10.96.1.0/24"))
    routed.wait(lambda: "i-far-1" in hops(routed), "the route of a node that came meanwhile", timeout=600)
    tokens = [call["params"].get("NextToken") for call in routed.cloud.calls(since) if call["action"] == "DescribeRouteEntryList"]
    assert tokens[0] is None and len(set(tokens)) == len(tokens) == 3, "each page once"
