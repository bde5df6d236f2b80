"""The load balancer itself: what its annotations make of the cloud, at creation, later, and at the end."""

import pytest

from tests.support import objects, views

PREFIX = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"


def annotations(**values):
    return {PREFIX + key.replace("_", "-"): value for key, value in values.items()}


def ensured(world, name="web"):
    return any(reason == "EnsuredLoadBalancer" for _, reason, _, _ in world.kube.events(name))


def start(world, **values):
    views.nodes(world, 1)
    world.start_ccmd()
    world.kube.create(objects.service("web", annotations=annotations(**values)))
    return world.wait(lambda: ensured(world) and views.only_lb(world), "the load balancer")


def change(world, **values):
    """None removes."""
    world.kube.patch("Service", "web", {"metadata": {"annotations": annotations(**values)}})


def failure(world, part):
    return any(r == "SyncLoadBalancerFailed" and part in message for _, r, message, _ in world.kube.events("web"))


CHANGES = [
    ({}, {"name": "front"}, {"LoadBalancerName": "front"}),
    ({}, {"delete_protection": "off"}, {"DeleteProtection": "off"}),
    ({}, {"modification_protection": "NonProtection"}, {"ModificationProtectionStatus": "NonProtection"}),
    (
        {"modification_protection": "NonProtection"},
        {"modification_protection": "ConsoleProtection"},
        {"ModificationProtectionStatus": "ConsoleProtection", "ModificationProtectionReason": "managed.by.ack"},
    ),
    (
        {"instance_charge_type": "PayBySpec", "spec": "slb.s1.small"},
        {"spec": "slb.s2.small"},
        {"LoadBalancerSpec": "slb.s2.small"},
    ),
    ({"instance_charge_type": "PayBySpec"}, {"instance_charge_type": "PayByCLCU"}, {"InstanceChargeType": "PayByCLCU"}),
    (
        {"instance_charge_type": "PayBySpec", "charge_type": "paybybandwidth", "bandwidth": "5"},
        {"bandwidth": "20"},
        {"Bandwidth": "20"},
    ),
]


@pytest.mark.parametrize("before,after,expect", CHANGES)
def test_change(world, before, after, expect):
    start(world, **before)
    change(world, **after)

    def done():
        lb = views.only_lb(world)
        return all(str(lb[key]) == value for key, value in expect.items())

    world.wait(done, f"{expect}")


def test_tags(world):
    lb = start(world, additional_resource_tags="Key1=Value1,Key2=Value2")
    own = {k: v for k, v in lb["Tags"].items() if k in ("kubernetes.do.not.delete", "ack.aliyun.com")}
    assert lb["Tags"] == {**own, "Key1": "Value1", "Key2": "Value2"}
    change(world, additional_resource_tags="Key1=Value3")
    world.wait(lambda: views.only_lb(world)["Tags"] == {**own, "Key1": "Value3"}, "the new tags")
    change(world, additional_resource_tags=None)
    world.wait(lambda: views.only_lb(world)["Tags"] == own, "no additional tag")


def test_renamed_and_found_again(world):
    lb = start(world, name="front")
    assert lb["LoadBalancerName"] == "front"
    world.stop_ccmd()
    since = world.cloud.mark()
    world.start_ccmd()
    world.kube.patch("Service", "web", {"metadata": {"annotations": annotations(name="other")}})
    world.wait(lambda: views.only_lb(world)["LoadBalancerName"] == "other", "the new name")
    assert "CreateLoadBalancer" not in world.cloud.actions(since)


def test_immutable(world):
    start(world)
    change(world, address_type="intranet", ip_version="ipv6")
    world.wait(
        lambda: failure(world, "can not change LoadBalancer AddressType once created. delete and retry")
        and failure(world, "can not change LoadBalancer AddressIPVersion once created"),
        "both refusals",
    )
    views.nodes(world, 1, first=2)
    world.wait(lambda: len(views.backends(views.only_lb(world))[0]) == 2, "the new node")


def test_intranet_vswitch_and_address(world):
    lb = start(world, address_type="intranet")
    assert lb["AddressType"] == "intranet"
    assert lb["VSwitchId"].startswith("vsw-")
    assert lb["NetworkType"] == "vpc"


def test_hostname(world):
    lb = start(world, hostname="web.example.com")
    assert [entry.get("hostname") for entry in world.kube.ingress("web")] == ["web.example.com"]
    assert "ip" not in world.kube.ingress("web")[0]
    change(world, hostname=None)
    world.wait(lambda: world.kube.ingress("web")[0].get("ip") == lb["Address"], "the address")


def test_preserve(world):
    start(world, preserve_lb_on_delete="true")
    world.wait(lambda: any(reason == "PreservedOnDelete" for _, reason, _, _ in world.kube.events("web")), "the event")
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the deletion")
    lb = views.only_lb(world)
    assert views.listeners(lb) == [(80, "tcp", "running")]
    assert len(lb["VServerGroups"]) == 1
    assert lb["Tags"] == {}
    assert lb["DeleteProtection"] == "off"
    assert lb["ModificationProtectionStatus"] == "NonProtection"
