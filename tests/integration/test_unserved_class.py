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


def test_cannot_start(world):
    """As long as a plugin cannot start its Services are told so, those of the default class too; of other classes nobody says anything."""
    world.config = world.write_config(plugins='{ name = "clb"; }, { name = "nlb"; }')
    world.cloud.fault("GET /latest/meta-data/*", count=100000, http=503)
    elsewhere = objects.service("elsewhere", annotations={"service.beta.kubernetes.io/class": "other"})
    world.kube.create(service("new", CLASS), objects.service("old"), service("foreign", "example.com/other"), elsewhere)
    world.start_ccmd()
    for name, plugin in (("new", "nlb"), ("old", "clb")):
        world.wait(lambda n=name: world.kube.events(n), "the event", 30)
        (kind, reason, message, count), = world.kube.events(name)
        assert (kind, reason, count) == ("Warning", "PluginMissing", 1)
        assert f"plugin {plugin} of ccmd" in message and "cannot start yet: " in message and "metadata service: region-id: status 503" in message and "It tries again by itself" in message
    world.kube.create(objects.service("late"))
    world.wait(lambda: world.kube.events("late"), "the event")
    assert not world.kube.events("foreign") and not world.kube.events("elsewhere")
    world.cloud.clear_faults()
    for name in ("old", "late"):
        world.wait(lambda n=name: world.kube.ingress(n), "an address", 60)
    world.wait(lambda: "SyncLoadBalancerFailed" in {event[1] for event in world.kube.events("new")}, "plugin nlb, which misses the zones", 60)
    world.settled()
    assert not world.kube.ingress("elsewhere") and not world.kube.events("elsewhere")


def test_default_class_of_a_plugin_that_is_not_configured(world):
    """Who serves Services without a class is not known then."""
    world.config = world.write_config(plugins='{ name = "nlb"; }')
    world.start_ccmd()
    world.kube.create(objects.service("web"), service("ours", CLASS))
    world.wait(lambda: world.kube.events("ours"), "plugin nlb")
    world.settled()
    assert not world.kube.events("web")
