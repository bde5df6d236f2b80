"""A cloud that knows no tokens, takes its time to create a load balancer, and whose lists by tags are late: there is one load balancer for a Service, and
none is left of it. The provider is that of docs/plugin-loadbalancer.md, with what the page says about such clouds."""

import os

import pytest

from tests.balancer.cloud import Cloud
from tests.integration import test_plugin_loadbalancer as plain

LAG_S = 4
MAKING_S = 1


@pytest.fixture
def cloud():
    one = Cloud()
    one.lag_s = LAG_S
    one.state = lambda lb_id, age: "making" if age < MAKING_S else "ready"
    yield one
    one.close()


def begin(world, cloud):
    plain.configure(world, cloud)
    with open(world.config, encoding="utf-8") as file:
        text = file.read()
    with open(world.config, "w", encoding="utf-8") as file:
        file.write(text.replace(plain.plugin(world.build), os.path.join(world.build, "tests", "balancer", "balancer-late.so")))
    world.kube.create(plain.node(1), plain.node(2))
    world.start_ccmd()


def create(world):
    world.kube.create(plain.service())


def is_served(world):
    return plain.HASH_LABEL in world.kube.get("Service", "web")["metadata"].get("labels", {})


def creations(cloud):
    return [ask for action, ask in cloud.calls if action == "PutLoadBalancer" and not ask["Id"]]


def event_texts(world, kind):
    return [message for one, _, message, _ in world.kube.events("web") if one == kind]


def condition(world):
    (one,) = world.kube.get("Service", "web").get("status", {}).get("conditions") or [{}]
    return one.get("status")


def end(world, cloud):
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the end of the Service", 60)
    assert cloud.load_balancers == {}


def test_one_is_created_although_no_list_shows_it(world, cloud):
    """The id that the creation answered is read while it is created; nothing else is wrong."""
    begin(world, cloud)
    create(world)
    world.wait(lambda: is_served(world), "the load balancer", 30)
    world.settled()
    assert len(creations(cloud)) == len(cloud.load_balancers) == 1
    assert cloud.actions().count("ListLoadBalancers") <= 4, cloud.actions()
    assert event_texts(world, "Warning") == []
    end(world, cloud)


def test_one_is_created_although_the_answer_is_lost(world, cloud):
    begin(world, cloud)
    cloud.fail("PutLoadBalancer", 503, done=True)
    create(world)
    world.wait(lambda: is_served(world), "the load balancer", 60)
    world.settled()
    assert len(creations(cloud)) == len(cloud.load_balancers) == 1
    end(world, cloud)


def test_a_process_that_follows_another_one_waits(world, cloud):
    """It was killed behind its creation, and nothing on the Service leads to the load balancer."""
    begin(world, cloud)
    held = cloud.hold("PutLoadBalancer")
    create(world)
    assert held.arrived.wait(30)
    world.kill_ccmd()
    held.go_on.set()
    assert held.done.wait(30)
    world.start_ccmd()
    world.wait(lambda: is_served(world), "the load balancer", 60)
    assert len(creations(cloud)) == len(cloud.load_balancers) == 1
    end(world, cloud)


def test_a_service_that_is_deleted_at_once_leaves_nothing(world, cloud):
    """While its load balancer is being created, and no list shows it."""
    begin(world, cloud)
    create(world)
    world.wait(lambda: cloud.load_balancers, "the creation", 30)
    end(world, cloud)
    assert len(creations(cloud)) == 1


def test_a_lost_answer_and_a_deleted_service_leave_nothing(world, cloud):
    begin(world, cloud)
    cloud.fail("PutLoadBalancer", 503, done=True)
    create(world)
    world.wait(lambda: cloud.load_balancers, "the creation", 30)
    end(world, cloud)
    assert len(creations(cloud)) == 1


def test_a_provider_that_forgets_the_tags(world, cloud):
    """Its load balancer is found by its id all the same, with the default name."""
    cloud.forgets = {"Tags": {}}
    begin(world, cloud)
    create(world)
    world.wait(lambda: is_served(world), "the load balancer", 30)
    world.settled()
    assert len(creations(cloud)) == len(cloud.load_balancers) == 1
    end(world, cloud)


def test_a_provider_that_forgets_tags_and_name(world, cloud):
    """Nothing proves whose the load balancer is: a Warning says so, and no other one is created."""
    cloud.forgets = {"Tags": {}, "Name": "other"}
    begin(world, cloud)
    create(world)
    world.wait(lambda: any("lb-1 [other] has lost its tag" in message for message in event_texts(world, "Warning")), "the Warning", 30)
    world.settled()
    assert len(creations(cloud)) == len(cloud.load_balancers) == 1 and condition(world) == "False"


def test_one_that_breaks_is_reported_and_deleted(world, cloud):
    cloud.state = lambda lb_id, age: "making" if age < MAKING_S else "error"
    begin(world, cloud)
    create(world)
    world.wait(lambda: any("the cloud could not create load balancer lb-1" in message for message in event_texts(world, "Warning")), "the Warning", 30)
    world.wait(lambda: condition(world) == "False", "the condition", 30)
    assert len(creations(cloud)) == len(cloud.load_balancers) == 1 and not is_served(world)
    end(world, cloud)
    assert cloud.writes() == ["PutLoadBalancer", "DeleteLoadBalancer"]
