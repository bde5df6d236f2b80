"""Two Services on one load balancer, both changing at once, while the cloud is busy with earlier changes."""

import re

import pytest

from tests.support import objects, reference, views
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
PREFIX = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
PORTS = {"one": 80, "two": 443}
BUSY = {"code": "BackendServer.configuring", "http": 409, "message": "A previous configuration is pending."}


class Patient(reference.Builder):
    """Waits while the load balancer is busy with the change before."""

    def call(self, action, **params):
        def once():
            try:
                return {"done": True, **super(Patient, self).call(action, **params)}
            except AssertionError as error:
                if re.search("onfiguring|Processing|IsStopping|OperationBusy", str(error)):
                    return None
                raise

        return self.world.wait(once, action)


def shared(world):
    """A console load balancer with a listener, a group and a backend of its owner: its id."""
    builder = Patient(world)
    lb_id = builder.call("CreateLoadBalancer", AddressType="internet", InstanceChargeType="PayByCLCU",
                         LoadBalancerName="shared")["LoadBalancerId"]
    group = builder.call("CreateVServerGroup", LoadBalancerId=lb_id, VServerGroupName="theirs")["VServerGroupId"]
    builder.call("AddVServerGroupBackendServers", VServerGroupId=group,
                 BackendServers='[{"ServerId": "i-node-5", "Port": "9000", "Weight": "50"}]')
    builder.call("CreateLoadBalancerTCPListener", LoadBalancerId=lb_id, ListenerPort=9000, Bandwidth=-1,
                 VServerGroupId=group, Description="mine")
    builder.call("StartLoadBalancerListener", LoadBalancerId=lb_id, ListenerPort=9000, ListenerProtocol="tcp")
    return lb_id


def service(name, lb_id):
    return objects.service(name, ((PORTS[name], "TCP"),), policy="Local",
                           annotations={PREFIX + "id": lb_id, PREFIX + "force-override-listeners": "true"})


def pods(name, counts):
    """counts: pods on each node."""
    offset = 0 if name == "one" else 100
    return [(f"10.1.{n}.{offset + i}", f"node-{n}") for n, count in counts.items() for i in range(1, count + 1)]


def wanted_groups(world, counts):
    found = {"theirs": {("i-node-5", 9000, 50)}}
    for name in PORTS:
        live = world.kube.get("Service", name)
        for port in live["spec"]["ports"]:
            found[reference.key(port["nodePort"], live)] = {
                (f"i-node-{n}", port["nodePort"], count) for n, count in counts[name].items() if count}
    return found


def check(world, counts, ports):
    lb = views.only_lb(world)
    wanted = sorted([(9000, "tcp", "running")] + [(p, "tcp", "running") for p in ports])
    return views.listeners(lb) == wanted and views.groups(lb) == wanted_groups(world, counts)


def touched(world, since):
    """Changing calls that name what belongs to the owner of the load balancer."""
    theirs = next(g["VServerGroupId"] for g in views.only_lb(world)["VServerGroups"] if g["VServerGroupName"] == "theirs")
    return [c for c in world.cloud.calls(since) if not c["action"].startswith(("Describe", "List"))
            and (c["params"].get("VServerGroupId") == theirs or c["params"].get("ListenerPort") == "9000")]


@pytest.mark.parametrize("busy", ["at random", "after each change"])
def test_both_change_at_once(build, tmp_path, busy):
    arguments = ["--slb-busy-ms=30"] if busy == "after each change" else []
    with World(build, tmp_path, cloud_args=arguments) as world:
        views.nodes(world, 4)
        lb_id = shared(world)
        since = world.cloud.mark()
        if busy == "at random":
            world.cloud.http.request("POST", "/_sim/faults", {
                "match": {"action": "*VServerGroup*", "p": 0.3}, "effect": BUSY, "count": 20})
        world.start_ccmd()
        counts = {"one": {1: 1, 2: 1}, "two": {1: 2, 3: 1}}
        slices = {}
        for name in PORTS:
            made = world.kube.create(service(name, lb_id))
            slices[name] = made
            world.kube.create(objects.endpoint_slice(made, pods(name, counts[name])))
        world.wait(lambda: check(world, counts, PORTS.values()), "both Services", 30)
        for round_number in range(1, 3 if arguments else 6):
            counts = {"one": {1: round_number, 4: 1}, "two": {2: 1, 3: 6 - round_number}}
            for name in PORTS:
                world.kube.replace(objects.endpoint_slice(slices[name], pods(name, counts[name])))
        world.kube.patch("Service", "one", {"spec": {"ports": [
            {"name": "tcp-80", "port": 80, "protocol": "TCP", "targetPort": 8080},
            {"name": "more", "port": 8080, "protocol": "TCP", "targetPort": 8080}]}})
        world.wait(lambda: check(world, counts, [80, 443, 8080]), "both Services, changed", 30)
        assert touched(world, since) == []
        assert any(c["code"] for c in world.cloud.calls(since)), "the cloud was never busy"

        world.kube.delete("Service", "one")
        world.wait(lambda: world.kube.get("Service", "one") is None, "deletion of the first", 30)
        lb = views.only_lb(world)
        assert views.listeners(lb) == [(443, "tcp", "running"), (9000, "tcp", "running")]
        world.kube.delete("Service", "two")
        world.wait(lambda: world.kube.get("Service", "two") is None, "deletion of the second", 30)
        lb = views.only_lb(world)
        assert views.listeners(lb) == [(9000, "tcp", "running")]
        assert views.groups(lb) == {"theirs": {("i-node-5", 9000, 50)}}
        assert touched(world, since) == []
        world.stop_ccmd()


@pytest.mark.parametrize("trouble", [{"code": "Throttling.User", "http": 400}, {"cut": "after"}], ids=["throttled", "answer-lost"])
def test_one_goes_while_the_other_changes(build, tmp_path, trouble):
    """Again and again: what is left is that of the one that stays, and its owner's."""
    with World(build, tmp_path) as world:
        views.nodes(world, 4)
        lb_id = shared(world)
        since = world.cloud.mark()
        world.start_ccmd()
        counts = {"one": {}, "two": {1: 2, 3: 1}}
        stays = world.kube.create(service("two", lb_id))
        world.kube.create(objects.endpoint_slice(stays, pods("two", counts["two"])))
        world.wait(lambda: views.listeners(views.only_lb(world)) == [(443, "tcp", "running"), (9000, "tcp", "running")],
                   "the one that stays")
        for round_number in range(1, 4):
            goes = world.kube.create(service("one", lb_id))
            world.kube.create(objects.endpoint_slice(goes, pods("one", {1: 1, 2: round_number}), suffix=f"r{round_number}"))
            world.wait(lambda: (80, "tcp", "running") in views.listeners(views.only_lb(world)), "the one that goes", 30)
            world.cloud.http.request("POST", "/_sim/faults", {
                "match": {"action": "*VServerGroup*", "p": 0.3}, "effect": trouble, "count": 3})
            counts["two"] = {2: round_number, 4: 1}
            world.kube.delete("Service", "one")
            world.kube.replace(objects.endpoint_slice(stays, pods("two", counts["two"])))
            world.kube.delete("EndpointSlice", f"one-r{round_number}")
            world.wait(lambda: world.kube.get("Service", "one") is None, "deletion", 30)
            node_port = world.kube.get("Service", "two")["spec"]["ports"][0]["nodePort"]
            wanted = {"theirs": {("i-node-5", 9000, 50)}, reference.key(node_port, stays): {
                (f"i-node-{n}", node_port, count) for n, count in counts["two"].items()}}
            world.wait(lambda w=wanted: views.groups(views.only_lb(world)) == w, "the change", 30)
            world.cloud.clear_faults()
            assert views.listeners(views.only_lb(world)) == [(443, "tcp", "running"), (9000, "tcp", "running")]
            assert views.only_lb(world)["Tags"] == {"kubernetes.reused.by.user": "true"}
        assert touched(world, since) == []
        world.kube.delete("Service", "two")
        world.wait(lambda: world.kube.get("Service", "two") is None, "deletion of the last", 30)
        lb = views.only_lb(world)
        assert lb["Tags"] == {} and views.groups(lb) == {"theirs": {("i-node-5", 9000, 50)}}
        world.stop_ccmd()
