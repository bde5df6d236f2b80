"""Services on one load balancer of a person that want the same port: one has it, the other waits, changes nothing, shows nothing,
and gets it as soon as it is given up. Both products."""

import pytest

from tests.support import views
from tests.support.owned import PREFIX, Console

PRODUCTS = ("clb", "nlb")


@pytest.fixture(params=PRODUCTS)
def console(world, request):
    console = Console(world, request.param)
    console.shared = console.product.make_lb("shared", {}, {})[0]
    views.nodes(world, 2)
    world.start_ccmd()
    return console


def create(console, service, *ports, **annotations):
    more = {PREFIX + key.replace("_", "-"): value for key, value in annotations.items()}
    console.world.kube.create(console.product.new(service, [(port, "TCP") for port in ports], annotations={
        PREFIX + "id": console.shared, PREFIX + "force-override-listeners": "true", **more}))


def keys(console):
    return sorted(one["key"] for one in console.lb(console.shared)["Listeners"])


def owner(console, key):
    """The name of the Service whose listener that is."""
    found = next((one for one in console.lb(console.shared)["Listeners"] if one["key"] == key), {})
    text = found.get("Description") or found.get("ListenerDescription") or ""
    parts = text.replace("/", ".").split(".")
    return parts[-3] if len(parts) > 3 else None


def refused(console, name):
    said = console.said(name, "SyncLoadBalancerFailed", "belongs to another Service")
    assert all("choose another port, or wait until that Service gives it up" in one for one in said)
    return said


def contested(console):
    """One has port 80, two wants it."""
    create(console, "one", 80)
    console.world.wait(lambda: console.said("one", "EnsuredLoadBalancer"), "the first", 30)
    create(console, "two", 80)
    console.world.wait(lambda: refused(console, "two"), "the refusal", 30)
    console.world.settled()


@pytest.mark.parametrize("how", ["deleted", "port", "type", "protocol"])
def test_who_waits_is_woken(console, how):
    world = console.world
    contested(console)
    assert not world.kube.ingress("two")
    if how == "deleted":
        world.kube.delete("Service", "one")
    elif how == "port":
        world.kube.patch("Service", "one", {"spec": {"ports": [
            {"name": "tcp-81", "port": 81, "protocol": "TCP", "targetPort": 8081}]}})
    elif how == "type":
        world.kube.patch("Service", "one", {"spec": {"type": "ClusterIP", "loadBalancerClass": None}})
    else:
        world.kube.patch("Service", "one", {"spec": {"ports": [
            {"name": "udp-80", "port": 80, "protocol": "UDP", "targetPort": 8080}]}})
    world.wait(lambda: owner(console, "80/tcp") == "two" and world.kube.ingress("two"), "the port", 20)
    world.wait(lambda: console.said("two", "EnsuredLoadBalancer"), "the end of it", 20)


def test_who_waits_is_woken_for_a_listener_that_is_put_back(console):
    """It was a person's and is again, so the next one may take it over."""
    product, lb_id = console.product, console.shared
    product.make_group(lb_id, "theirs", [])
    group = product.call("DescribeVServerGroups", {"LoadBalancerId": lb_id})["VServerGroups"]["VServerGroup"][0][
        "VServerGroupId"] if product.name == "clb" else product.groups[lb_id]["theirs"]
    product.make_listener(lb_id, "80/tcp", group, {})
    contested(console)
    console.world.kube.delete("Service", "one")
    console.world.wait(lambda: owner(console, "80/tcp") == "two" and console.world.kube.ingress("two"), "the port", 20)
    console.world.kube.delete("Service", "two")
    console.gone("two")
    assert keys(console) == ["80/tcp"] and owner(console, "80/tcp") is None


def test_one_after_the_other(console):
    """Several wait: one gets it, the rest go on waiting."""
    world = console.world
    contested(console)
    create(console, "three", 80)
    world.wait(lambda: refused(console, "three"), "the second refusal", 30)
    waiting = {"two", "three"}
    current = "one"
    while waiting:
        world.kube.delete("Service", current)
        current = world.wait(lambda: owner(console, "80/tcp") in waiting and owner(console, "80/tcp"), "the next", 20)
        waiting -= {current}
        world.wait(lambda: world.kube.ingress(current), "its address", 20)
        world.settled()
        assert [name for name in waiting if world.kube.ingress(name)] == []


def test_who_waits_changes_nothing(console):
    """Neither names nor protections, tags, groups of a load balancer where the port is another Service's."""
    world = console.world
    create(console, "one", 80)
    world.wait(lambda: console.said("one", "EnsuredLoadBalancer"), "the first", 30)
    world.settled()
    before, groups = console.lb(console.shared), world.cloud.state().get("nlbServerGroups")
    since = world.cloud.mark()
    create(console, "two", 80, name="mine-now", delete_protection="on", modification_protection="ConsoleProtection",
           additional_resource_tags="owner=two")
    world.wait(lambda: refused(console, "two"), "the refusal", 30)
    world.settled()
    assert console.writes(since) == []
    assert console.lb(console.shared) == before and world.cloud.state().get("nlbServerGroups") == groups
    assert not world.kube.ingress("two")
    world.kube.delete("Service", "two")
    console.gone("two")
    assert console.lb(console.shared) == before, "the end of a Service that had nothing"
    assert console.writes(since) == []


def test_its_other_ports_are_served(console):
    """A refused port does not keep the rest from being served, and the address of what serves is shown."""
    world = console.world
    contested(console)
    world.kube.patch("Service", "two", {"spec": {"ports": [
        {"name": "tcp-80", "port": 80, "protocol": "TCP", "targetPort": 8080},
        {"name": "tcp-82", "port": 82, "protocol": "TCP", "targetPort": 8082}]}})
    world.wait(lambda: keys(console) == ["80/tcp", "82/tcp"] and world.kube.ingress("two"), "the other port", 30)
    assert owner(console, "80/tcp") == "one" and owner(console, "82/tcp") == "two"
    assert len(console.lb(console.shared)["Groups"]) == 2, "no group for a port that is refused"
    world.kube.delete("Service", "one")
    world.wait(lambda: owner(console, "80/tcp") == "two", "the port", 20)


def test_nothing_is_shown_of_anothers_listener(console):
    """The port's listener runs, but it is not the Service's: no address, no labels; and the Service goes at once."""
    world = console.world
    contested(console)
    two = world.kube.get("Service", "two")
    assert not two["status"].get("loadBalancer", {}).get("ingress")
    assert not [key for key in two["metadata"].get("labels", {}) if "alibaba" in key]
    world.kube.delete("Service", "two")
    console.gone("two")
    assert keys(console) == ["80/tcp"] and owner(console, "80/tcp") == "one"


def test_the_mark_of_use_stays_for_other_clusters(world):
    """CLB: the tag that says that it is in use is not taken away while another cluster has a listener or a group there."""
    console = Console(world, "clb")
    views.nodes(world, 2)
    world.start_ccmd()
    for kind in ("listener", "group"):
        lb_id = console.product.make_lb(kind, {}, {})[0]
        made = console.call("CreateVServerGroup", {
            "LoadBalancerId": lb_id, "VServerGroupName": "k8s/30001/far/default/c-far" if kind == "group" else "plain"})
        if kind == "listener":
            console.call("CreateLoadBalancerTCPListener", {
                "LoadBalancerId": lb_id, "ListenerPort": 9000, "Bandwidth": -1, "VServerGroupId": made["VServerGroupId"],
                "Description": "k8s/9000/far/default/c-far"})
        for override in ("true", "false"):
            name = f"{kind}-{override}"
            world.kube.create(console.product.new(name, ((80, "TCP"),), annotations={
                PREFIX + "id": lb_id, PREFIX + "force-override-listeners": override}))
            world.wait(lambda n=name: console.said(n, "EnsuredLoadBalancer"), name, 30)
            world.kube.delete("Service", name)
            console.gone(name)
            assert console.lb(lb_id)["Tags"] == {"kubernetes.reused.by.user": "true"}, name
        for one in console.lb(lb_id)["Listeners"]:
            world.cloud.edit("delete", type="listener", load_balancer=lb_id, port=one["ListenerPort"], protocol="tcp")
        for one in console.lb(lb_id)["VServerGroups"]:
            world.cloud.edit("delete", type="vservergroup", id=one["VServerGroupId"])
        world.kube.create(console.product.new(f"{kind}-last", ((80, "TCP"),), annotations={PREFIX + "id": lb_id}))
        world.wait(lambda n=f"{kind}-last": console.said(n, "EnsuredLoadBalancer"), "the last", 30)
        world.kube.delete("Service", f"{kind}-last")
        console.gone(f"{kind}-last")
        assert console.lb(lb_id)["Tags"] == {}


def test_a_pass_that_fails_as_a_whole_shows_nothing(console):
    """The load balancer is private and the Service wants a public address: nothing is written, shown or marked; then it is served."""
    world = console.world
    if console.product.name == "clb":
        lb_id = console.product.make_lb("private", {"AddressType": "intranet", "VpcId": "vpc-test", "VSwitchId": "vsw-a"}, {})[0]
    else:
        lb_id = console.product.make_lb("private", {"AddressType": "Intranet"}, {})[0]
    before = console.lb(lb_id)
    since = world.cloud.mark()
    console.shared = lb_id
    create(console, "web", 80, address_type="internet")
    world.wait(lambda: console.said("web", "SyncLoadBalancerFailed"), "the refusal", 30)
    world.settled()
    assert console.lb(lb_id) == before and console.writes(since) == []
    found = world.kube.get("Service", "web")
    assert not world.kube.ingress("web")
    assert not [key for key in found["metadata"].get("labels", {}) if "alibaba" in key]
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "address-type": "intranet"}}})
    world.wait(lambda: world.kube.ingress("web") and keys(console) == ["80/tcp"], "the Service", 30)
