"""A load balancer with nobody behind it: event, metric, status page, condition."""

import re

from tests.support import objects, views

CONDITION = "ccm.alibabacloud.com/LoadBalancerReady"


def metric(world):
    status, text = world.admin("/metrics")
    assert status == 200
    return re.findall(r'^ccmd_unserved_ports\{plugin="clb"\} (\d+)$', text, re.M)


def page(world):
    status, text = world.admin("/statusz")
    assert status == 200
    return text


def told(world):
    return [(kind, message) for kind, reason, message, _ in world.kube.events("web") if reason == "UnAvailableLoadBalancer"]


def condition(world):
    found = world.kube.get("Service", "web")["status"].get("conditions") or []
    return [(one["status"], one["reason"]) for one in found if one["type"] == CONDITION]


def test_everywhere_until_somebody_serves(world):
    world.config = world.write_config(plugins='{ name = "clb"; workers = 4; unserved_wait_s = 1; service_conditions = true; }')
    views.nodes(world, 2)
    world.start_ccmd()
    service = objects.service("web", ((80, "TCP"), (443, "TCP")))
    world.kube.create(service)
    world.wait(lambda: told(world), "the event")
    kind, message = told(world)[0]
    assert kind == "Warning"
    assert message.startswith("There are no available nodes for LoadBalancer: port 80/tcp, 443/tcp: it has no endpoint")
    world.wait(lambda: condition(world) == [("False", "NoReadyBackend")], "the condition")
    assert metric(world) == ["2"]
    assert "Ports that nobody serves" in page(world) and "default/web" in page(world)
    since = world.cloud.mark()
    world.kube.create(objects.endpoint_slice(service, [("10.1.1.1", "node-1")]))
    world.wait(lambda: condition(world) == [("True", "Ready")], "the condition")
    assert metric(world) == ["0"]
    assert "Ports that nobody serves" not in page(world)
    assert world.cloud.actions(since) == [] and len(told(world)) == 1


def test_a_deleted_service_lacks_nothing(world):
    world.config = world.write_config(plugins='{ name = "clb"; workers = 4; unserved_wait_s = 0; }')
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(objects.service("web", ((80, "TCP"),)))
    world.wait(lambda: metric(world) == ["1"], "the metric")
    world.kube.delete("Service", "web")
    world.wait(lambda: metric(world) == ["0"], "the metric")
