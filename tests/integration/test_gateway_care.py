"""What is done for the load balancers of Services is done for those of Gateways: conflicts, tags, quotas, audit, metrics, status pages."""

import pytest

from tests.support import objects
from tests.support.gateway_api import PREFIX, listener, service, world_with_gateway
from tests.support.owned import CLUSTER_TAG, OWNER_TAG
from tests.support.products import CLUSTER_ID, Nlb


@pytest.fixture
def api(world):
    return world_with_gateway(world, listener("tcp", 8080))


def owner(api):
    return "ag" + api.get("Gateway", "web")["metadata"]["uid"].replace("-", "")[:30]


def console(world):
    """What a person makes there."""
    return Nlb(lambda action, params: world.cloud.edit("call", product="nlb", action=action, params={
        key: str(value) for key, value in params.items()})["answer"])


def told(world, name):
    return {reason: message for _, reason, message, *_ in world.kube.events(name)}


def test_a_service_cannot_name_the_load_balancer_of_a_gateway(world, api):
    """The second one is refused, whichever attributes and listeners it would set, and its end leaves the Gateway's alone."""
    api.configure("", '{ name = "nlb"; workers = 4; }, ')
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    before = api.load_balancers()
    other = objects.service("other", loadBalancerClass="alibabacloud.com/nlb", annotations={
        PREFIX + "id": before[0]["LoadBalancerId"], PREFIX + "force-override-listeners": "true", PREFIX + "idle-timeout": "17"})
    world.kube.create(other)
    world.wait(lambda: "can not reuse loadbalancer created by kubernetes" in told(world, "other").get("SyncLoadBalancerFailed", ""),
               "the refusal")
    world.settled()
    assert api.load_balancers() == before and not world.kube.ingress("other")
    world.kube.delete("Service", "other")
    world.wait(lambda: world.kube.get("Service", "other") is None, "the Service to go")
    world.settled()
    assert api.load_balancers() == before and api.programmed()


def test_taken_over_by_its_tags(world, api):
    """A Gateway that comes back without status and labels, as from a backup, has the load balancer that carries its tags."""
    api.configure()
    world.start_ccmd()
    address = world.wait(api.programmed, "the Gateway")
    world.settled()
    world.stop_ccmd()
    labels = dict.fromkeys(api.get("Gateway", "web")["metadata"]["labels"])
    api.patch("Gateway", "web", {"metadata": {"labels": labels, "finalizers": []}})
    api.patch("Gateway", "web", {"status": {"addresses": None, "conditions": None, "listeners": None}}, subresource="status")
    since = world.cloud.mark()
    world.start_ccmd()
    assert world.wait(api.programmed, "the Gateway") == address
    world.settled()
    assert not [action for action in world.cloud.actions(since) if not action.startswith(("List", "Get", "Describe"))]


def test_a_load_balancer_that_a_person_has_tagged(world, api):
    """Made before the Gateway was served: it is used, with the listener that is there already."""
    api.configure()
    product = console(world)
    lb, _ = product.make_lb("theirs", {}, {OWNER_TAG: owner(api), CLUSTER_TAG: CLUSTER_ID})
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    (found,) = api.load_balancers()
    assert found["LoadBalancerId"] == lb and [one["key"] for one in found["Listeners"]] == ["8080/tcp"]
    assert "CreateLoadBalancer" not in [call["action"] for call in world.cloud.calls() if call["params"].get("ClientToken")]


def test_of_several_with_its_tags_none_is_touched_blindly(world, api):
    """Which one serves has been said before; another one with the same tags is named, and left alone."""
    api.configure("audit_interval_s = 1;")
    world.start_ccmd()
    address = world.wait(api.programmed, "the Gateway")
    product = console(world)
    world.stop_ccmd()
    second, _ = product.make_lb("second", {}, {OWNER_TAG: owner(api), CLUSTER_TAG: CLUSTER_ID})
    world.start_ccmd()
    world.settled()
    assert api.programmed() == address
    assert next(one for one in world.cloud.state()["nlbLoadBalancers"] if one["LoadBalancerId"] == second)["Listeners"] == []


def test_what_somebody_changes_in_the_cloud_is_put_back(world, api):
    api.configure("audit_interval_s = 1;")
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    before = api.served()
    (lb,) = api.load_balancers()
    world.cloud.edit("call", product="nlb", action="DeleteListener", params={"ListenerId": lb["Listeners"][0]["ListenerId"]})
    world.wait(lambda: api.served() == before, "the listener to be back", timeout=40)
    assert api.programmed()


def test_quotas_metrics_and_pages(world, api):
    """Who is told is the Gateway, and what is counted has its type."""
    api.configure('account_quotas = "listeners=1, load_balancers=1";')
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    world.wait(lambda: "80 % or more of 1 listeners of its load balancer are used" in told(world, "web").get("QuotaNear", ""), "the event")
    world.settled()
    metrics = world.metrics()
    assert any('type="Gateway"' in name and "quota" in name for name in metrics), sorted(metrics)
    assert any('type="Gateway"' in name and 'verb="Creation"' in name and value == 1 for name, value in metrics.items())
    world.wait(lambda: "default/web" in world.admin("/statusz")[1], "the Gateway on the page")
    page = world.admin("/statusz/object?key=default/web")[1]
    (lb,) = api.load_balancers()
    assert all(text in page for text in ("gateway", lb["LoadBalancerId"], "8080", "node-1")), page
