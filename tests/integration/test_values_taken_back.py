"""Values and load balancers that come, are wrong or go away, and what must not follow from that: no Service hangs in its
deletion, nothing is refused for ever after the value was taken back, nothing is asked for again and again."""

import pytest

from tests.support import objects, views
from tests.support.owned import PREFIX, Console

BOTH = pytest.mark.parametrize("product", ["clb", "nlb"])


def reusing(console, name, lb_id, ports=((80, "TCP"),), **annotations):
    more = {PREFIX + key.replace("_", "-"): value for key, value in annotations.items()}
    console.world.kube.create(console.product.new(name, ports, annotations={
        PREFIX + "id": lb_id, PREFIX + "force-override-listeners": "true", **more}))


def chosen_group(console, lb_id):
    """A group of a person, for annotation vgroup-port, and what deletes it."""
    if console.product.name == "clb":
        group = console.call("CreateVServerGroup", {"LoadBalancerId": lb_id, "VServerGroupName": "theirs"})["VServerGroupId"]
        return group, lambda: console.world.cloud.edit("delete", type="vservergroup", id=group)
    group = console.call("CreateServerGroup", {"ServerGroupName": "theirs", "VpcId": "vpc-test"})["ServerGroupId"]
    console.call("CreateListener", {"LoadBalancerId": lb_id, "ListenerPort": 9000, "ListenerProtocol": "TCP",
                                    "ServerGroupId": group})
    return group, lambda: console.world.cloud.edit("delete", type="servergroup", id=group)


@BOTH
@pytest.mark.parametrize("trouble", ["malformed", "gone", "never-there"])
def test_a_service_whose_vgroup_port_is_wrong_can_go(world, product, trouble):
    console = Console(world, product)
    views.nodes(world, 2)
    lb_id = console.product.make_lb("shared", {}, {})[0]
    group, delete = chosen_group(console, lb_id)
    world.start_ccmd()
    first = "rsp-none:80" if trouble == "never-there" else f"{group}:80"
    reusing(console, "web", lb_id, vgroup_port=first)
    world.wait(lambda: console.said("web", "EnsuredLoadBalancer" if trouble != "never-there" else "SyncLoadBalancerFailed"),
               "the Service", 30)
    world.settled()
    if trouble == "gone":
        delete()
    if trouble == "malformed":
        world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "vgroup-port": group}}})
        world.wait(lambda: console.said("web", "SyncLoadBalancerFailed"), "the refusal", 30)
    world.kube.delete("Service", "web")
    console.gone("web")
    left = console.lb(lb_id)
    assert [one["key"] for one in left["Listeners"] if "80/tcp" == one["key"]] == []
    assert all(not one["servers"] for one in left["Groups"])


@BOTH
@pytest.mark.parametrize("restart", [False, True], ids=["remembered", "restarted"])
def test_services_can_go_when_their_load_balancer_is_gone(world, product, restart):
    """One of a person that several used: deleted at the console, then the Services."""
    console = Console(world, product)
    views.nodes(world, 2)
    lb_id = console.product.make_lb("shared", {}, {})[0]
    world.start_ccmd()
    for name, port in (("one", 80), ("two", 81)):
        reusing(console, name, lb_id, ((port, "TCP"),))
        world.wait(lambda n=name: console.said(n, "EnsuredLoadBalancer"), name, 30)
    world.settled()
    if restart:
        world.stop_ccmd()
    world.cloud.edit("delete", type="loadbalancer" if product == "clb" else "nlb", id=lb_id)
    if restart:
        world.start_ccmd()
        world.wait(lambda: console.said("one", "SyncLoadBalancerFailed") and console.said("two", "SyncLoadBalancerFailed"),
                   "both refusals", 30)
    for name in ("one", "two"):
        world.kube.delete("Service", name)
        console.gone(name)
    assert world.cloud.state().get("nlbServerGroups", []) == []


def test_a_group_type_that_is_taken_back(world):
    """server-group-type Ip, then no such annotation: the pods go on being followed, and nothing is refused."""
    console = Console(world, "nlb")
    views.nodes(world, 2)
    service = console.product.new("web", annotations={PREFIX + "server-group-type": "Ip",
                                                      "service.beta.kubernetes.io/backend-type": "eni"})
    slice_ = objects.endpoint_slice(service, [("10.1.1.1", "node-1")])
    world.kube.create(service, slice_)
    world.start_ccmd()

    def servers():
        return sorted(one[0] for group in console.lb()["Groups"] for one in group["servers"])

    world.wait(lambda: console.said("web", "EnsuredLoadBalancer") and servers() == ["10.1.1.1"], "the Service", 30)
    world.settled()
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "server-group-type": None}}})
    world.kube.replace(objects.endpoint_slice(service, [("10.1.1.2", "node-1")]))
    world.wait(lambda: servers() == ["10.1.1.2"], "the new pod", 30)
    world.settled()
    assert console.said("web", "SyncLoadBalancerFailed") == []
    assert console.product.complete(console.lb(), ((80, "TCP"),))
    world.kube.delete("Service", "web")
    console.gone("web")
    assert world.cloud.state()["nlbServerGroups"] == []


@BOTH
def test_the_end_of_a_refused_service_changes_nothing(world, product):
    """Its annotation names a load balancer of the cluster itself, as that of the API server is: not even a tag is set."""
    console = Console(world, product)
    views.nodes(world, 2)
    lb_id = console.product.make_lb("apiserver", {}, {"ack.aliyun.com": "c-test"})[0]
    before = console.lb(lb_id)
    world.start_ccmd()
    reusing(console, "web", lb_id)
    world.wait(lambda: console.said("web", "SyncLoadBalancerFailed", "can not reuse loadbalancer created by kubernetes"),
               "the refusal", 30)
    world.settled()
    since = world.cloud.mark()
    world.kube.delete("Service", "web")
    console.gone("web")
    assert console.lb(lb_id) == before and console.writes(since) == []


@pytest.mark.parametrize("restart", [False, True], ids=["remembered", "restarted"])
def test_a_server_that_is_drained_is_removed_once(world, restart):
    """While the cloud drains it, changes of other pods do not ask for its removal again."""
    console = Console(world, "nlb")
    views.nodes(world, 2)
    service = console.product.new("web", annotations={
        "service.beta.kubernetes.io/backend-type": "eni", PREFIX + "connection-drain": "on",
        PREFIX + "connection-drain-timeout": "600"})
    world.kube.create(service, objects.endpoint_slice(service, [("10.1.1.1", "node-1"), ("10.1.1.2", "node-1")]))
    world.start_ccmd()
    world.wait(lambda: console.said("web", "EnsuredLoadBalancer"), "the Service", 30)
    world.settled()
    since = world.cloud.mark()

    def removals():
        return [call for call in world.cloud.calls(since) if call["action"] == "RemoveServersFromServerGroup"]

    world.kube.replace(objects.endpoint_slice(service, [("10.1.1.1", "node-1")]))
    world.wait(removals, "the removal", 30)
    world.settled()
    if restart:
        world.kill_ccmd()
        world.start_ccmd()
    for last in (3, 4, 5):
        pods = [("10.1.1.1", "node-1"), (f"10.1.1.{last}", "node-1")]
        world.kube.replace(objects.endpoint_slice(service, pods))
        world.wait(lambda n=last: f"10.1.1.{n}" in str(console.lb()["Groups"]), f"pod {last}", 30)
    world.settled()
    drained = [call for call in removals() if "10.1.1.2" in str(call["params"])]
    assert len(drained) == 1, drained
    assert [call["code"] for call in removals() if call["http"] != 200] == []


def test_a_node_outside_of_the_pod_network_gets_no_route(world):
    """Nothing is made that would have to be cleaned, and nothing of the kind is left when the node goes."""
    Console(world, "clb")
    world.config = world.write_config(plugins='{ name = "route"; cluster_cidr = "172.20.0.0/16"; }',
                                      alicloud='vpc_id = "vpc-test";')
    outside = objects.node("node-1", "i-node-1")
    outside["spec"]["podCIDR"] = "10.99.1.0/24"
    inside = objects.node("node-2", "i-node-2")
    inside["spec"]["podCIDR"] = "172.20.2.0/24"
    world.kube.create(outside, inside)
    world.start_ccmd()

    def routes():
        return [call["params"] for call in world.cloud.calls() if call["action"] == "CreateRouteEntries"]

    def told():
        return [message for _, reason, message, _ in world.kube.events() if reason == "CreateRouteFailed"]

    world.wait(lambda: "172.20.2.0/24" in str(routes()) and told(), "the route, and the refusal", 30)
    world.kube.delete("Node", "node-1")
    world.settled()
    assert "10.99.1.0/24" not in str(routes())
    assert "10.99.1.0/24 is not inside of cluster_cidr" in told()[0]


def test_a_bad_forward_that_is_taken_back(world):
    """The http listener stays while the forward cannot be used, and is what it was when the annotation is gone."""
    console = Console(world, "clb")
    world.cloud.edit("create", type="certificate", id="cert-1")
    annotations = {PREFIX + "protocol-port": "http:80,https:443", PREFIX + "cert-id": "cert-1"}
    lb_id = console.serving(annotations=annotations)
    before = console.lb(lb_id)["Listeners"]
    for bad in ("80:444", "80", "81:443", "80:80"):
        world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "forward-port": bad}}})
        world.wait(lambda n=bad: console.said("web", "SyncLoadBalancerFailed"), bad, 30)
        world.settled()
        assert console.lb(lb_id)["Listeners"] == before, bad
        world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "forward-port": None}}})
        world.settled()
        assert console.lb(lb_id)["Listeners"] == before, bad
