"""A Service of a class whose plugin does not work is told so by the core; of other classes nobody says anything."""

import pytest

from tests.support import objects, views
from tests.support.world import World

CLASS = "alibabacloud.com/nlb"


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        views.nodes(world, 1)
        yield world


def service(name, class_):
    item = objects.service(name)
    item["spec"]["loadBalancerClass"] = class_
    return item


def test_not_configured(world):
    world.kube.create(service("early", CLASS), service("foreign", "example.com/other"))
    world.start_ccmd()
    world.wait(lambda: world.kube.events("early"), "the event")
    world.kube.create(service("late", CLASS), objects.service("ours"))
    world.wait(lambda: world.kube.events("late"), "the event")
    world.wait(lambda: world.kube.ingress("ours"), "an address")
    world.settled()
    for name in ("early", "late"):
        (kind, reason, message, count), = world.kube.events(name)
        assert (kind, reason, count) == ("Warning", "PluginMissing", 1)
        assert CLASS in message and 'Add { name = "nlb"; }' in message
    assert not world.kube.events("foreign")
    assert "PluginMissing" not in {event[1] for event in world.kube.events("ours")}


def test_works(world):
    world.config = world.write_config(plugins='{ name = "clb"; }, { name = "nlb"; }')
    world.start_ccmd()
    world.kube.create(service("web", CLASS))
    world.wait(lambda: world.kube.events("web"), "an event")
    world.settled()
    assert "PluginMissing" not in {event[1] for event in world.kube.events("web")}


def test_type_changes(world):
    world.start_ccmd()
    world.kube.create(service("web", CLASS))
    world.wait(lambda: world.kube.events("web"), "the event")
    world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP", "loadBalancerClass": None}})
    world.settled()
    assert len(world.kube.events("web")) == 1
