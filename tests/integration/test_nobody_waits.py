"""Work of others that takes long, or fails, delays no removal of a backend, no deletion, and no other namespace."""

import json
import os
import re
import signal

import pytest

from tests.support import objects, views

pytestmark = pytest.mark.time_scale(10)
CREATE = "CreateLoadBalancer"
WORKERS = 4
CROWD = 30
OTHERS = "kube-public"


def configure(world, workers=WORKERS):
    world.config = world.write_config(log_level="info", plugins=f'{{ name = "clb"; workers = {workers}; }}')
    views.nodes(world, 3)


def crowd(world, namespace):
    world.kube.create(*(objects.service(f"crowd-{number}", namespace=namespace) for number in range(CROWD)))


@pytest.fixture
def victim(world):
    """A Service with two backends, in a slice of its own, and one that is to be deleted."""
    configure(world)
    world.start_ccmd()
    service = objects.service("victim", policy="Local")
    parts = objects.endpoint_slice(service, [("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")])
    world.kube.create(service, parts, objects.service("goes"))
    world.wait(lambda: world.kube.ingress("victim") and world.kube.ingress("goes"), "two load balancers")
    return parts


@pytest.mark.parametrize("effect", (
    {"delay_ms": 20000},
    {"http": 500, "code": "InternalError"},
    {"http": 400, "code": "Throttling.User"},
), ids=("slow", "failing", "throttled"))
def test_others_do_not_hold_all_workers(world, victim, effect):
    since = world.cloud.mark()
    world.cloud.fault(CREATE, count=100000, **effect)
    crowd(world, OTHERS)
    world.wait(lambda: CREATE in world.cloud.actions(since), "the first creation", every=0.02)
    world.kube.replace(dict(victim, endpoints=victim["endpoints"][:1]))
    world.kube.delete("Service", "goes")
    for action in ("RemoveVServerGroupBackendServers", "DeleteLoadBalancer"):
        world.wait(lambda name=action: name in world.cloud.actions(since), action, every=0.02)
    if "delay_ms" in effect:  # each worker but one was still busy with its first
        actions = world.cloud.actions(since)
        assert actions[:actions.index("DeleteLoadBalancer")].count(CREATE) <= WORKERS - 1
    world.cloud.clear_faults()


@pytest.mark.parametrize("how", ("deleted", "NotReady"))
def test_a_node_that_goes_waits_for_nobody(world, how):
    """The Services of the crowd have it as a backend as well, and each of their creations takes long."""
    configure(world)
    world.start_ccmd()
    world.kube.create(objects.service("victim"))
    world.wait(lambda: world.kube.ingress("victim"), "a load balancer")
    world.settled()
    since = world.cloud.mark()
    world.cloud.fault(CREATE, count=100000, delay_ms=20000)
    crowd(world, OTHERS)
    world.wait(lambda: CREATE in world.cloud.actions(since), "the first creation", every=0.02)
    if how == "deleted":
        world.kube.delete("Node", "node-3")
    else:
        conditions = [{"type": "Ready", "status": "Unknown"}]
        world.kube.patch("Node", "node-3", {"status": {"conditions": conditions}}, subresource="status")
    world.wait(lambda: "RemoveVServerGroupBackendServers" in world.cloud.actions(since), "the removal", every=0.02)
    actions = world.cloud.actions(since)
    assert actions[:actions.index("RemoveVServerGroupBackendServers")].count(CREATE) <= WORKERS - 1
    world.cloud.clear_faults()


def test_namespaces_take_turns(world):
    configure(world, workers=1)
    crowd(world, "default")
    world.kube.create(objects.service("fresh", namespace=OTHERS))
    name = "a" + world.kube.get("Service", "fresh", OTHERS)["metadata"]["uid"].replace("-", "")[:31]
    world.start_ccmd()
    world.wait(lambda: any(lb["LoadBalancerName"] == name for lb in world.cloud.load_balancers()), "that of the other namespace")
    creations = [json.dumps(call["params"]) for call in world.cloud.calls() if call["action"] == CREATE]
    assert any(name in text for text in creations[:2]), creations[:2]


@pytest.mark.time_scale(1)  # all of it is within one window of the quota
def test_a_crowd_leaves_first_calls(world):
    """One namespace has used up all that it may of a window that does not end; another one's new Service waits for nothing."""
    world.config = world.write_config(log_level="info", plugins=f'{{ name = "clb"; workers = {WORKERS}; }}',
                                      alicloud="quotas: { slb_write = 20; };")
    views.nodes(world, 3)
    world.start_ccmd()
    crowd(world, "default")
    world.wait(lambda: world.cloud.actions().count(CREATE) == 19, "all that they may have")
    world.settled()
    assert world.cloud.actions().count(CREATE) == 19
    world.kube.create(objects.service("fresh", namespace=OTHERS))
    world.wait(lambda: world.kube.get("Service", "fresh", OTHERS)["status"].get("loadBalancer", {}).get("ingress"),
               "that of the other namespace")


@pytest.mark.time_scale(1)  # all of it is within one window of the quota
def test_a_service_that_is_gone_holds_nobody(world):
    """What it waited for is the next one's, at once."""
    world.config = world.write_config(log_level="info", plugins=f'{{ name = "clb"; workers = {WORKERS}; }}',
                                      alicloud="quotas: { slb_write = 2; };")
    views.nodes(world, 3)
    world.start_ccmd()
    world.kube.create(objects.service("first"), objects.service("second"))
    world.wait(lambda: all(world.kube.ingress(name) for name in ("first", "second")), "two load balancers")
    world.kube.create(objects.service("waits"))
    world.wait(lambda: world.kube.get("Service", "waits")["metadata"].get("finalizers"), "its first pass")
    world.settled()
    world.kube.delete("Service", "waits")
    world.wait(lambda: world.kube.get("Service", "waits") is None, "the deletion")
    world.settled()
    world.config = world.write_config(log_level="info", plugins=f'{{ name = "clb"; workers = {WORKERS}; }}',
                                      alicloud="quotas: { slb_write = 3; };")
    os.kill(world.ccmd.popen.pid, signal.SIGHUP)
    world.wait(lambda: ": taken over: " in world.log(), "the new options")
    world.kube.create(objects.service("next"))
    world.wait(lambda: world.kube.ingress("next"), "its load balancer")


def test_one_try_after_the_first_failure(world):
    configure(world)
    world.start_ccmd()
    world.cloud.fault(CREATE, count=100000, http=500, code="InternalError")
    world.kube.create(objects.service("ill"))
    world.wait(lambda: len(re.findall(r"default/ill\b.* retry in ", world.log())) >= 4, "four passes", timeout=90)
    actions = world.cloud.actions()
    last = len(actions) - actions[::-1].index(CREATE) - 1
    assert actions[:last + 1].count(CREATE) <= 4 + 3, actions  # tries of the first pass, then one of each
    world.cloud.clear_faults()
    world.wait(lambda: world.kube.ingress("ill"), "it heals", timeout=60)


def test_calls_are_charged(world):
    """What a key that goes on failing may make in an hour is counted in calls (test-controller-hour): all of them are seen."""
    world.config = world.write_config(log_level="debug", plugins=f'{{ name = "clb"; workers = {WORKERS}; }}')
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(objects.service("web", ((80, "TCP"), (443, "TCP"))))
    world.wait(lambda: world.kube.ingress("web"), "its load balancer")
    world.settled()

    def charged():
        return sum(int(count) for count in re.findall(r": done in \d+ ms, (\d+) calls", world.log()))

    world.wait(lambda: charged() == len(world.cloud.actions()), "as many as the cloud has seen")


def passes(world, name):
    return len(re.findall(rf"default/{name}\b.* retry in ", world.log()))


@pytest.mark.parametrize("action", (CREATE, "CreateVServerGroup", "CreateLoadBalancerTCPListener", "StartLoadBalancerListener",
                                    "DeleteLoadBalancer"))
def test_calls_of_a_failing_pass(world, action):
    """With at most four passes in any hour (test-backoff) seven calls a pass are less than 30 an hour."""
    configure(world)
    world.start_ccmd()
    if action.startswith("Delete"):
        world.kube.create(objects.service("ill", ((80, "TCP"), (443, "TCP"))))
        world.wait(lambda: world.kube.ingress("ill"), "its load balancer")
        world.settled()
    world.cloud.fault(action, count=100000, http=500, code="InternalError")
    if action.startswith("Delete"):
        world.kube.delete("Service", "ill")
    else:
        world.kube.create(objects.service("ill", ((80, "TCP"), (443, "TCP"))))
    world.wait(lambda: passes(world, "ill") >= 2, "two passes", timeout=30)
    world.settled()
    before, since = passes(world, "ill"), world.cloud.mark()
    world.wait(lambda: passes(world, "ill") >= before + 2, "two more", timeout=90)
    world.settled()
    calls = world.cloud.actions(since)
    assert action in calls and len(calls) <= 7 * (passes(world, "ill") - before), calls
    world.cloud.clear_faults()
