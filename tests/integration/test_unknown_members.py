"""One backend, certificate or tag that the cloud does not take affects only itself: it is left out and named, all others are registered.
What limits who may connect is never left out."""

import json
import re

import pytest

from tests.support import objects, views
from tests.support.gateway_api import GatewayWorld, backend, listener
from tests.support.gateway_api import service as route_service
from tests.support.products import PREFIX, Clb, Nlb

PORTS = ((80, "TCP"), (443, "TCP"))
ADDITIONS = {"clb": ("CreateVServerGroup", "AddVServerGroupBackendServers"), "nlb": ("AddServersToServerGroup",)}
REMOVALS = {"clb": "RemoveVServerGroupBackendServers", "nlb": "RemoveServersFromServerGroup"}
CONFIRMS = {"clb": (), "nlb": ("GetLoadBalancerAttribute",)}  # after a change of backends: that it exists
WEIGHTS = {"clb": "SetVServerGroupAttribute", "nlb": "UpdateServerGroupServersAttribute"}
EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers"
ENI = {"service.beta.kubernetes.io/backend-type": "eni"}
BOTH = pytest.mark.parametrize("product", [Clb(), Nlb()], ids=["clb", "nlb"])


def absent(number, **options):
    """A Ready node whose provider id is well-formed, and names no instance."""
    return objects.node(f"node-{number}", f"i-absent-{number}", **options)


def begin(world, product, good=2, bad=(9,), **options):
    product.configure(world)
    views.nodes(world, good)
    for number in bad:
        world.kube.create(absent(number, **options))


def servers(product, world, name=None):
    """Who is in each group."""
    found = product.find(world) if name is None else [lb for lb in product.find(world) if lb["LoadBalancerId"] == name]
    assert len(found) <= 1, found
    return found and [sorted(server for server, _, _ in group["servers"]) for group in found[0]["Groups"]]


def names(*numbers):
    return [f"node-{number}" for number in numbers]


def serve(world, product, *numbers, ports=PORTS):
    """The Service has its address, and each of its groups has these nodes."""
    world.wait(lambda: world.kube.ingress("web") and product.complete(product.only(world), ports), "the Service")
    follow(world, product, *numbers, ports=ports)


def follow(world, product, *numbers, ports=PORTS):
    world.wait(lambda: servers(product, world) == len(ports) * [names(*numbers)], f"nodes {numbers}")
    world.settled()


def event_texts(world, reason, name="web"):
    return [message for _, said, message, _ in world.kube.events(name) if said == reason]


def left_out(world, name="web"):
    return event_texts(world, "SkipSyncBackends", name)


def additions(world, product, since=0):
    """Of backends: how many calls were refused, and how many were not."""
    calls = [call for call in world.cloud.calls(since) if call["action"] in ADDITIONS[product.name]]
    return sum(call["http"] != 200 for call in calls), sum(call["http"] == 200 for call in calls)


def asked(world, since=0):
    return world.cloud.actions(since).count("DescribeInstances")


def condition(world, name="web"):
    found = world.kube.get("Service", name)["status"]["conditions"]
    return next((one["status"], one["message"]) for one in found if one["type"].endswith("LoadBalancerReady"))


# --- nodes ---

@BOTH
def test_a_new_service(world, product):
    """It is served by the others in its first pass; one refused call and one question do for all ports and Services."""
    begin(world, product)
    world.kube.create(product.new("web", PORTS))
    world.start_ccmd()
    serve(world, product, 1, 2)
    assert additions(world, product) == (1, 2) and asked(world) == 1
    (text,) = left_out(world)
    assert re.match(r"Left out of the backends: node node-9 \(cn-hangzhou\.i-absent-9\): .*RequestId .*spec\.providerID.*Tried again", text)
    assert event_texts(world, "SyncLoadBalancerFailed") == [] and len(event_texts(world, "EnsuredLoadBalancer")) == 1
    assert condition(world)[0] == "True" and "serves without node node-9 (cn-hangzhou.i-absent-9)" in condition(world)[1]
    world.logged("node node-9 (cn-hangzhou.i-absent-9) is left out of the backends")
    since = world.cloud.mark()
    world.kube.create(product.new("two", PORTS))
    world.wait(lambda: world.kube.ingress("two") and left_out(world, "two"), "the other Service")
    world.settled()
    assert additions(world, product, since) == (0, 2) and asked(world, since) == 0


@BOTH
def test_a_service_follows_nodes(world, product):
    """One that joins beside it, one that leaves; and a change of nothing asks the cloud nothing."""
    begin(world, product, good=3, bad=())
    world.kube.create(product.new("web", PORTS))
    world.start_ccmd()
    serve(world, product, 1, 2, 3)
    since = world.cloud.mark()
    world.kube.create(absent(9), objects.node("node-4", "i-node-4"))
    follow(world, product, 1, 2, 3, 4)
    assert additions(world, product, since) == (1, 2) and asked(world, since) == 1
    world.wait(lambda: left_out(world), "the event")
    since = world.cloud.mark()
    views.nodes(world, 1, first=5)
    follow(world, product, 1, 2, 3, 4, 5)
    world.kube.delete("Node", "node-1")
    follow(world, product, 2, 3, 4, 5)
    changes = [ADDITIONS[product.name][-1], REMOVALS[product.name], *CONFIRMS[product.name]]
    assert sorted(world.cloud.actions(since)) == sorted(2 * changes + jobs(world, since))
    since = world.cloud.mark()
    world.kube.patch("Node", "node-2", {"metadata": {"labels": {"a": "b"}}})
    world.settled()
    assert world.cloud.actions(since) == []
    assert len(left_out(world)) == 1 and event_texts(world, "SyncLoadBalancerFailed") == []


def jobs(world, since):
    return [action for action in world.cloud.actions(since) if action in ("ListAsynJobs", "GetJobStatus")]


@BOTH
def test_a_pod_on_it(world, product):
    """externalTrafficPolicy Local: the nodes of the other pods serve."""
    begin(world, product)
    service = product.new("web", PORTS, policy="Local")
    world.kube.create(service, objects.endpoint_slice(service, [("10.1.0.1", "node-1"), ("10.1.0.9", "node-9")]))
    world.start_ccmd()
    serve(world, product, 1)
    assert additions(world, product) == (1, 2)
    (text,) = left_out(world)
    assert "node node-9 (cn-hangzhou.i-absent-9)" in text


@BOTH
def test_several_of_them(world, product):
    """All are found by one question, and named by one event."""
    begin(world, product, bad=(6, 7, 8))
    world.kube.create(product.new("web", PORTS))
    world.start_ccmd()
    serve(world, product, 1, 2)
    assert additions(world, product) == (1, 2) and asked(world) == 1
    (text,) = left_out(world)
    assert "node node-6 (cn-hangzhou.i-absent-6), node node-7 (cn-hangzhou.i-absent-7), node node-8 (" in text


@BOTH
def test_the_cloud_cannot_be_asked(world, product):
    """Without the right to list instances they are found by halves: of four, one is bad."""
    begin(world, product, good=3)
    world.cloud.fault("DescribeInstances", code="Forbidden.RAM", http=403, message="no")
    world.kube.create(product.new("web", PORTS))
    world.start_ccmd()
    serve(world, product, 1, 2, 3)
    # four; the first two, of which i-absent-9 is the first: it; the other three. Where a group is made with its backends it is
    # made without in between.
    assert additions(world, product) == (3, {"clb": 3, "nlb": 2}[product.name]) and asked(world) == 1
    assert "node node-9 (cn-hangzhou.i-absent-9)" in left_out(world)[0]


@BOTH
def test_an_answer_without_any_instance(world, product):
    """Rights that hide all instances: the answer is not believed, and halves of the call find it."""
    begin(world, product)
    world.cloud.fault("DescribeInstances", body=json.dumps({"RequestId": "x", "Instances": {"Instance": []}, "TotalCount": 0}))
    world.kube.create(product.new("web", PORTS))
    world.start_ccmd()
    serve(world, product, 1, 2)
    assert "node node-9 (cn-hangzhou.i-absent-9)" in left_out(world)[0] and "node-1" not in left_out(world)[0]


@BOTH
@pytest.mark.time_scale(10)
def test_it_heals(world, product):
    """A released instance whose node is deleted; one that appears in the cloud is added some seconds later."""
    begin(world, product, bad=(8, 9))
    world.kube.create(product.new("web", PORTS))
    world.start_ccmd()
    serve(world, product, 1, 2)
    since = world.cloud.mark()
    world.kube.delete("Node", "node-8")
    world.cloud.http.request("POST", "/_sim/instances", {"instances": [{"id": "i-absent-9", "vswitch": "vsw-a"}]})
    world.wait(lambda: servers(product, world) == len(PORTS) * [["absent-9", "node-1", "node-2"]], "the third", timeout=30)
    world.settled()
    assert additions(world, product, since) == (0, 2)
    world.wait(lambda: condition(world) == ("True", condition(world)[1]) and "as wanted" in condition(world)[1], "the condition")


@BOTH
@pytest.mark.time_scale(5)
def test_it_is_asked_for_more_and_more_seldom(world, product):
    """10 s after the first refusal, then 20 s later; all else of a pass in between costs nothing."""
    begin(world, product)
    world.kube.create(product.new("web", ((80, "TCP"),)))
    world.start_ccmd()
    serve(world, product, 1, 2, ports=((80, "TCP"),))
    world.wait(lambda: additions(world, product)[0] == 3, "two more tries", timeout=60)
    refused = [call["t"] for call in world.cloud.calls() if call["action"] in ADDITIONS[product.name] and call["http"] != 200]
    assert 9 < refused[1] - refused[0] < 16 and 19 < refused[2] - refused[1] < 30, refused
    world.wait(lambda: "within 40 s" in left_out(world)[-1] or len(left_out(world)) == 1, "the event")
    assert len(world.kube.events("web")) < 6


@BOTH
def test_another_region(world, product):
    """It is no candidate: no call names it, and an event does. One that is a backend already stays one."""
    begin(world, product, region="cn-beijing")
    world.kube.create(product.new("web", PORTS))
    world.start_ccmd()
    serve(world, product, 1, 2)
    assert additions(world, product) == (0, 2) and asked(world) == 0
    (text,) = left_out(world)
    assert text.startswith("Left out of the backends: node node-9 (cn-beijing.i-absent-9): the provider id names another region than "
                           "cn-hangzhou"), text
    since = world.cloud.mark()
    world.kube.delete("Node", "node-1")
    world.kube.create(objects.node("node-one", "i-node-1", region="cn-beijing"))
    views.nodes(world, 1, first=3)
    follow(world, product, 1, 2, 3)
    assert world.cloud.actions(since).count(REMOVALS[product.name]) == 0


@BOTH
def test_no_other_node(world, product):
    """The Service fails as before, and says which node; the last backend of a group stays for want of another."""
    begin(world, product, good=1, bad=())
    world.kube.create(product.new("web", PORTS))
    world.start_ccmd()
    serve(world, product, 1)
    world.kube.create(absent(9))
    world.wait(lambda: left_out(world), "the event")
    world.kube.patch("Node", "node-1", {"metadata": {"labels": {EXCLUDED: ""}}})
    world.wait(lambda: event_texts(world, "SyncLoadBalancerFailed"), "the failure")
    assert "kept, because the cloud does not take what replaces them: node node-9 (cn-hangzhou.i-absent-9)" in \
        event_texts(world, "SyncLoadBalancerFailed")[0]
    world.settled()
    assert servers(product, world) == 2 * [["node-1"]]
    world.kube.create(product.new("two", PORTS))
    world.wait(lambda: event_texts(world, "SyncLoadBalancerFailed", "two"), "the failure of the other one")
    assert "left out, and there is no other backend: node node-9 (cn-hangzhou.i-absent-9)" in \
        event_texts(world, "SyncLoadBalancerFailed", "two")[0]


# --- what the mirror has and the cloud has not ---

def drop_by_hand(world, product, server):
    """A person takes the server out of each group."""
    for group in product.only(world)["Groups"]:
        port = next(p for s, p, _ in group["servers"] if s == server)
        if product.name == "clb":
            world.cloud.edit("delete", type="backend", vserver_group=group["id"], server_id=f"i-{server}", port=port)
        else:
            world.cloud.edit("call", product="nlb", action="RemoveServersFromServerGroup", params={
                "ServerGroupId": group["id"], "Servers.1.ServerId": f"i-{server}", "Servers.1.ServerType": "Ecs",
                "Servers.1.Port": port})
    world.wait(lambda: all(server not in found for found in servers(product, world)), "it to be gone")


@BOTH
def test_removals_beside_one_that_is_gone(world, product):
    """In the same pass, and without a failure."""
    begin(world, product, good=4, bad=())
    world.kube.create(product.new("web", PORTS))
    world.start_ccmd()
    serve(world, product, 1, 2, 3, 4)
    drop_by_hand(world, product, "node-2")
    since = world.cloud.mark()
    with world.ccmd.paused():
        for number in (1, 2, 3):
            world.kube.patch("Node", f"node-{number}", {"metadata": {"labels": {EXCLUDED: ""}}})
    follow(world, product, 4)
    removals = [call["http"] == 200 for call in world.cloud.calls(since) if call["action"] == REMOVALS[product.name]]
    # A CLB takes all at once; else: all three; the first; the second, which is not there; the third.
    assert removals == {"clb": 2 * [True], "nlb": 2 * [False, True, False, True]}[product.name], removals
    assert event_texts(world, "SyncLoadBalancerFailed") == []


@BOTH
def test_weights_beside_one_that_is_gone(world, product):
    """The others have theirs in the same pass, and it is added again by the next one."""
    begin(world, product, good=3, bad=())
    service = product.new("web", ((80, "TCP"),), policy="Local")
    pods = objects.endpoint_slice(service, [("10.1.0.1", "node-1"), ("10.1.0.2", "node-2"), ("10.1.0.3", "node-3")])
    world.kube.create(service, pods)
    world.start_ccmd()
    serve(world, product, 1, 2, 3, ports=((80, "TCP"),))
    drop_by_hand(world, product, "node-2")
    since = world.cloud.mark()
    pods["endpoints"] += [dict(one, addresses=[one["addresses"][0].replace("10.1.0", "10.1.1")]) for one in pods["endpoints"]]
    world.kube.replace(pods)
    world.wait(lambda: [(s, w) for s, _, w in sorted(product.only(world)["Groups"][0]["servers"])] == [
        (name, 2) for name in names(1, 2, 3)], "the weights")
    world.settled()
    calls = [(call["action"], call["http"] == 200) for call in world.cloud.calls(since)]
    writes = [call for call in calls if not call[0].startswith(("Describe", "List", "Get"))]
    assert writes[0] == (WEIGHTS[product.name], False) and (WEIGHTS[product.name], True) in writes[1:3], writes
    assert (ADDITIONS[product.name][-1], True) == writes[-1], writes


# --- pods ---

@BOTH
def test_an_interface_that_is_gone(world, product):
    """The address was looked up a moment ago: the other pods are backends."""
    addresses = ["10.1.0.1", "10.1.0.2", "10.1.0.3"]
    world.cloud.http.request("POST", "/_sim/instances", {
        "enis": [{"id": f"eni-{a[-1]}", "ip": a, "instance": "i-node-1"} for a in addresses]})
    product.configure(world)
    views.nodes(world, 1)
    for name in ("one", "web"):
        service = product.new(name, ((80, "TCP"),), annotations=dict(ENI))
        pods = objects.endpoint_slice(service, [(a, "node-1") for a in addresses])
        world.kube.create(service, pods)
        if name == "one":
            world.start_ccmd()
            world.wait(lambda: world.kube.ingress("one"), "the first Service")
            world.settled()
            since = world.cloud.mark()
            world.cloud.edit("delete", type="eni", id="eni-2")

    def served():
        groups = [group for lb in product.find(world) for group in lb["Groups"] if "web" in group["name"]]
        return [server for group in groups for server, _, _ in group["servers"]]
    world.wait(lambda: sorted(served()) == ["10.1.0.1", "10.1.0.3"] and world.kube.ingress("web"), "the other pods")
    refused, _ = additions(world, product, since)
    assert refused <= 3
    world.wait(lambda: any("pod 10.1.0.2 (eni-2)" in text for text in left_out(world)), "the event")
    world.cloud.edit("create", type="eni", id="eni-new", ip="10.1.0.2", instance="i-node-1")
    world.wait(lambda: sorted(served()) == addresses, "its new interface", timeout=30)


@BOTH
def test_many_interfaces_that_are_gone(world, product):
    """The pods behind them are backends in the first pass, by little more than one refused call for each that is gone."""
    gone, good = 40, 5
    addresses = {f"eni-{n:03}": f"10.1.4.{n}" for n in range(1, gone + good + 1)}
    world.cloud.http.request("POST", "/_sim/instances", {
        "enis": [{"id": eni, "ip": address, "instance": "i-node-1"} for eni, address in addresses.items()]})
    product.configure(world, unlimited=True)
    views.nodes(world, 1)
    for name in ("one", "web"):
        service = product.new(name, ((80, "TCP"),), annotations=dict(ENI))
        pods = objects.endpoint_slice(service, [(address, "node-1") for address in addresses.values()])
        world.kube.create(service, pods)
        if name == "one":
            world.start_ccmd()
            world.wait(lambda: world.kube.ingress("one"), "the first Service")
            world.settled()
            since = world.cloud.mark()
            for eni in list(addresses)[:gone]:
                world.cloud.edit("delete", type="eni", id=eni)

    def served():
        groups = [group for lb in product.find(world) for group in lb["Groups"] if "web" in group["name"]]
        return groups and len(groups[0]["servers"])
    world.wait(lambda: served() == good, "the good ones", 30)
    world.wait(lambda: left_out(world), "the event")
    refused, sent = additions(world, product, since)
    assert gone <= refused <= gone + 16 and sent <= 4, (refused, sent)
    assert event_texts(world, "SyncLoadBalancerFailed") == []


# --- certificates ---

def test_one_certificate_of_a_list(world):
    """NLB: the others are associated; the listener and all else exist."""
    product = Nlb()
    product.configure(world)
    views.nodes(world, 2)
    for number in (1, 2, 3):
        world.cloud.edit("create", type="cas_certificate", id=f"{number}-cn-hangzhou")
    ids = ",".join(f"{name}-cn-hangzhou" for name in (2, "bad", 3))
    world.kube.create(product.new("web", ((443, "TCP"),), annotations={
        PREFIX + "protocol-port": "tcpssl:443", PREFIX + "cert-id": "1-cn-hangzhou", PREFIX + "additional-cert-ids": ids}))
    world.start_ccmd()

    def associated():
        found = world.cloud.state()["nlbLoadBalancers"]
        return found and found[0]["Listeners"] and sorted(found[0]["Listeners"][0]["AdditionalCertificates"])
    world.wait(lambda: associated() == ["2-cn-hangzhou", "3-cn-hangzhou"], "the others")
    world.wait(lambda: event_texts(world, "SyncLoadBalancerFailed"), "the event")
    assert re.search(r"port 443/tcpssl: .*left out: bad-cn-hangzhou: .*ResourceNotFound\.Certificate",
                     event_texts(world, "SyncLoadBalancerFailed")[-1], re.I), event_texts(world, "SyncLoadBalancerFailed")
    assert world.kube.ingress("web") and servers(product, world) == [names(1, 2)]
    views.nodes(world, 1, first=3)
    world.wait(lambda: servers(product, world) == [names(1, 2, 3)], "the new node")


def test_one_certificate_of_the_domains(world):
    """CLB: each domain has a call of its own."""
    product = Clb()
    product.configure(world)
    views.nodes(world, 2)
    world.kube.create(product.new("web", ((443, "TCP"),), annotations={
        PREFIX + "protocol-port": "https:443", PREFIX + "cert-id": "cert-valid",
        PREFIX + "domain-extensions": "a.example.com:cert-valid,b.example.com:cert-bad,c.example.com:cert-valid"}))
    world.start_ccmd()
    world.wait(lambda: event_texts(world, "SyncLoadBalancerFailed"), "the event")
    assert "b.example.com" in event_texts(world, "SyncLoadBalancerFailed")[0]
    lb = product.only(world)
    answer = world.cloud.edit("call", product="slb", action="DescribeDomainExtensions",
                              params={"LoadBalancerId": lb["LoadBalancerId"], "ListenerPort": "443"})["answer"]
    assert sorted(found["Domain"] for found in answer["DomainExtensions"]["DomainExtension"]) == ["a.example.com", "c.example.com"]
    (one,) = lb["Listeners"]
    assert one["Status"] == "running" and world.kube.ingress("web")


# --- tags ---

@BOTH
def test_one_tag(world, product):
    """Refused by a policy: the others are put on."""
    begin(world, product, bad=())
    world.kube.create(product.new("web", PORTS))
    world.start_ccmd()
    serve(world, product, 1, 2)
    code = {"clb": "DeniedForOperateCustomTag", "nlb": "IllegalParam"}[product.name]
    for place in (1, 2, 3):
        world.cloud.fault("TagResources", code=code, http=400, message="The param of Tag is illegal.",
                          params={f"Tag.{place}.Key": "bad"})
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "additional-resource-tags": "aaa=1,bad=2,ccc=3"}}})
    world.wait(lambda: {"aaa", "ccc"} <= set(product.only(world)["Tags"]), "the other tags")
    world.wait(lambda: event_texts(world, "SyncLoadBalancerFailed"), "the event")
    assert "left out: bad: " in event_texts(world, "SyncLoadBalancerFailed")[0]


# --- what limits who may connect ---

def test_an_unknown_security_group(world):
    """NLB: of a working one the list stays as it is; a new one gets no listener."""
    product = Nlb()
    begin(world, product, bad=())
    made = world.cloud.edit("call", product="ecs", action="CreateSecurityGroup", params={
        "RegionId": "cn-hangzhou", "VpcId": "vpc-test", "SecurityGroupName": "known"})
    known = made["answer"]["SecurityGroupId"]
    groups = PREFIX + "security-group-ids"
    world.kube.create(product.new("web", PORTS, annotations={groups: known}))
    world.start_ccmd()
    serve(world, product, 1, 2)
    world.kube.patch("Service", "web", {"metadata": {"annotations": {groups: "sg-unknown"}}})
    world.wait(lambda: event_texts(world, "SyncLoadBalancerFailed"), "the event")
    views.nodes(world, 1, first=3)
    follow(world, product, 1, 2, 3)
    assert product.only(world)["SecurityGroupIds"] == [known]
    world.kube.create(product.new("two", PORTS, annotations={groups: f"{known},sg-unknown"}))
    world.wait(lambda: event_texts(world, "SyncLoadBalancerFailed", "two"), "the event of the other one")
    world.settled()
    (other,) = [lb for lb in product.find(world) if lb["LoadBalancerId"] != servers_of(world)]
    assert other["Listeners"] == [] and other["SecurityGroupIds"] == [] and world.kube.ingress("two") == []


def servers_of(world):
    return world.kube.get("Service", "web")["metadata"]["labels"]["service.k8s.alibaba/loadbalancer-id"]


def test_an_unknown_access_list(world):
    """CLB: of a working listener the list stays; a new one is not created."""
    product = Clb()
    begin(world, product, bad=())
    made = world.cloud.edit("call", product="slb", action="CreateAccessControlList", params={"AclName": "known"})
    known = made["answer"]["AclId"]
    white = {PREFIX + "acl-status": "on", PREFIX + "acl-type": "white"}
    world.kube.create(product.new("web", PORTS, annotations={**white, PREFIX + "acl-id": known}))
    world.start_ccmd()
    serve(world, product, 1, 2)
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "acl-id": "acl-unknown"}}})
    world.wait(lambda: event_texts(world, "SyncLoadBalancerFailed"), "the event")
    views.nodes(world, 1, first=3)
    follow(world, product, 1, 2, 3)
    assert {(one["AclStatus"], one["AclId"]) for one in product.only(world)["Listeners"]} == {("on", known)}
    world.kube.create(product.new("two", PORTS, annotations={**white, PREFIX + "acl-id": "acl-unknown"}))
    world.wait(lambda: event_texts(world, "SyncLoadBalancerFailed", "two"), "the event of the other one")
    world.settled()
    (other,) = [lb for lb in product.find(world) if lb["LoadBalancerId"] != servers_of(world)]
    assert other["Listeners"] == [] and world.kube.ingress("two") == []


# --- Gateways ---

def test_a_gateway(world):
    """It is programmed at once, and follows nodes."""
    views.nodes(world, 2)
    world.kube.create(absent(9))
    api = GatewayWorld(world)
    api.define()
    api.configure()
    api.make_class()
    world.kube.create(route_service("web"))
    api.make_gateway(listener("a", 80), listener("b", 443))
    api.make_route("web", backend("web"))
    world.start_ccmd()

    def has(*numbers):
        found = api.served()
        return found and [sorted(server for server, _, _ in found[key] or []) for key in sorted(found)] == 2 * [names(*numbers)]
    world.wait(lambda: has(1, 2), "the load balancer")
    world.wait(api.programmed, "the Gateway to be programmed", timeout=5)
    assert additions(world, Nlb()) == (1, 2) and asked(world) == 1
    world.wait(lambda: left_out(world), "the event")
    assert "node node-9 (cn-hangzhou.i-absent-9)" in left_out(world)[0]
    views.nodes(world, 1, first=3)
    world.wait(lambda: has(1, 2, 3), "a node that joins")
    world.kube.delete("Node", "node-1")
    world.wait(lambda: has(2, 3), "a node that leaves")
    assert additions(world, Nlb())[0] == 1
