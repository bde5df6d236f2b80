"""A Service of a class whose plugin does not work is told so by the core; of other classes nobody says anything."""

import json
import pathlib
import shutil

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


def emitted(world):
    """How many events were reported to the recorder, those that only end included."""
    world.settled()
    return json.loads(world.admin("/idlez")[1])["events"]["count"]


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


def test_a_change_of_a_service_that_has_no_such_event_emits_none(world):
    """An event ends only if it was reported before."""
    world.kube.create(service("foreign", "example.com/other"), service("web", CLASS))
    world.start_ccmd()
    world.wait(lambda: world.kube.events("web"), "the event")
    before = emitted(world)
    for number in range(5):
        world.kube.patch("Service", "foreign", {"metadata": {"labels": {"number": str(number)}}})
        assert emitted(world) == before
    world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP", "loadBalancerClass": None}})
    world.wait(lambda: emitted(world) == before + 1, "the end of the event")
    world.kube.patch("Service", "web", {"metadata": {"labels": {"number": "1"}}})
    assert emitted(world) == before + 1


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


def status(world, path=""):
    return json.loads(world.admin(f"/statusz{path}{'&' if '?' in path else '?'}format=json")[1])


def told(world, name, reason):
    return [message for _, found, message, _ in world.kube.events(name) if found == reason]


@pytest.mark.parametrize("plugins", ['{ name = "clb"; }', '{ name = "clb"; }, { name = "nlb"; }'])
def test_misspelt(world, plugins):
    """Whether the plugin is configured or not; classes of others are left alone, and the event is over with the class."""
    world.config = world.write_config(plugins=plugins)
    world.kube.create(*(service(f"web-{n}", c) for n, c in enumerate(("alibabacloud.com/nbl", "alibabacloud.com/NLB", "alibabcloud.com/nlb"))),
                      service("other", "example.com/nlb"), service("aws", "service.k8s.aws/nlb"))
    world.start_ccmd()
    for n, class_ in enumerate(("alibabacloud.com/nbl", "alibabacloud.com/NLB", "alibabcloud.com/nlb")):
        world.wait(lambda: told(world, f"web-{n}", "UnknownClass"), "the event")
        assert told(world, f"web-{n}", "UnknownClass") == [
            f"spec.loadBalancerClass [{class_}] is none that is known here, so nobody makes a load balancer: did you mean {CLASS}? "
            "A class cannot be changed: delete the Service and create it again"]
    world.settled()
    assert not world.kube.events("other") and not world.kube.events("aws")
    assert world.cloud.network_load_balancers() == [] and all(len(world.kube.events(f"web-{n}")) == 1 for n in range(3))


def test_refused(world, tmp_path):
    """A plugin that others could have changed is not loaded: whoever waits for it is told so, with the reason."""
    file = tmp_path / "nlb.so"
    shutil.copy(pathlib.Path(world.build) / "plugins" / "nlb.so", file)
    file.chmod(0o666)
    world.config = world.write_config(plugins=f'{{ name = "clb"; }}, {{ name = "nlb"; file = "{file}"; }}')
    world.kube.create(service("web", CLASS), service("foreign", "example.com/other"))
    world.start_ccmd()
    world.wait(lambda: told(world, "web", "PluginMissing"), "the event")
    message, = told(world, "web", "PluginMissing")
    assert message.startswith(f"Nothing is done for class {CLASS}: plugin nlb of ccmd was not loaded: ") and "chmod go-w" in message
    world.settled()
    assert not world.kube.events("foreign")


def test_not_installed(world):
    """The same where there is no such file."""
    world.config = world.write_config(plugins='{ name = "clb"; }, { name = "toy"; }')
    world.kube.create(service("web", "example.com/toy"), service("foreign", "example.com/other"))
    world.start_ccmd()
    world.wait(lambda: told(world, "web", "PluginMissing"), "the event")
    world.settled()
    assert "plugin toy of ccmd was not loaded: " in told(world, "web", "PluginMissing")[0]
    assert not world.kube.events("foreign")


def test_the_status_pages_have_them(world):
    """By cause among the failing objects, in the list, with a page each; gone when it is over, and with the Service."""
    world.kube.create(*(service(f"net-{n}", CLASS) for n in range(3)), service("odd", "alibabacloud.com/nbl"),
                      service("foreign", "example.com/other"), objects.service("ours"))
    world.start_ccmd()
    world.wait(lambda: world.kube.ingress("ours") and all(world.kube.events(name) for name in ("net-0", "net-1", "net-2", "odd")), "the events")
    world.settled()
    page = status(world)
    assert (page["count"]["all"], page["count"]["failing"]) == (5, 4)
    causes = {frozenset(row["objects"].split(", ")): row for row in page["failing"]}
    many, odd = frozenset(f"default/net-{n}" for n in range(3)), frozenset(["default/odd"])
    assert set(causes) == {many, odd} and {row["plugin"] for row in causes.values()} == {"ccmd"}
    assert causes[many]["count"] == 3 and 'Add { name = "nlb"; }' in causes[many]["why"] and f"did you mean {CLASS}?" in causes[odd]["why"]
    rows = {row["object"]: row["state"] for row in status(world, "/objects?plugin=ccmd")["objects"]}
    assert rows == dict.fromkeys(many | odd, "failing")
    code, text = world.admin("/statusz/object?key=default/odd&format=text")  # as `ccmd status default/odd` prints it
    assert code == 200 and f"did you mean {CLASS}?" in text and "cannot work as it is" in text and "warning" in text, text
    world.kube.delete("Service", "net-0")
    world.kube.patch("Service", "net-1", {"spec": {"type": "ClusterIP", "loadBalancerClass": None}})
    world.wait(lambda: status(world)["count"]["failing"] == 2, "what is left")
    assert {row["objects"] for row in status(world)["failing"]} == {"default/net-2", *odd}


def test_an_annotation_that_chooses(world):
    """It is named, and not the class that the Service does not have."""
    prefix = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
    world.config = world.write_config(alicloud="type_annotation = true;")
    world.kube.create(objects.service("web", annotations={prefix + "type": "nlb", prefix + "name": "mine", "a": "b", "z": "y"}), objects.service("ours"))
    world.start_ccmd()
    world.wait(lambda: told(world, "web", "PluginMissing"), "the event")
    assert told(world, "web", "PluginMissing") == [
        f"Nothing is done for annotation {prefix}type [nlb]: plugin nlb of ccmd serves it and is not configured. "
        'Add { name = "nlb"; } to plugins in ccmd.conf and restart ccmd, or take the annotation away']
    world.kube.patch("Service", "web", {"metadata": {"annotations": {prefix + "type": None}}})
    world.wait(lambda: world.kube.ingress("web"), "the address")
