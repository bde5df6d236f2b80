"""A hash label in another form, as the reference and earlier versions have written it: it proves no edit. The first pass reads what a
restart reads, writes nothing to the cloud, and puts one patch to each Service; what waits for a proof continues to wait."""

import collections

import pytest

from tests.support import objects, reference, scenario_look, service_hash, views
from tests.support.gateway_api import listener, world_with_gateway
from tests.support.owned import Console
from tests.support.products import PREFIX

pytestmark = pytest.mark.time_scale(10)
PODS = {"service.beta.kubernetes.io/backend-type": "eni"}
NAMES = ("local", "plain", "pods", "reused", "tagged")


@pytest.fixture(params=["clb", "nlb"])
def product(request, world):
    return begin(world, request.param)


def is_current(world, name):
    return service_hash.is_current(world.kube.get("Service", name))


def begin(world, name):
    """Services of several kinds, all of them complete, and ccmd is gone. One uses a load balancer of a person, which has groups."""
    product = Console(world, name).product
    views.nodes(world, 3)
    lb = product.make_lb("mine", {}, {})[0]
    product.make_group(lb, "theirs", [])
    options = {
        "local": {"policy": "Local"}, "plain": {"ports": ((80, "TCP"), (443, "TCP"))}, "pods": {"annotations": PODS},
        "reused": {"annotations": {PREFIX + "id": lb, PREFIX + "force-override-listeners": "true"}},
        "tagged": {"annotations": {PREFIX + "additional-resource-tags": "team=a"}},
    }
    made = [product.new(name, **options[name]) for name in NAMES]
    world.kube.create(*made)
    for name in ("local", "pods"):
        world.kube.create(objects.endpoint_slice(world.kube.get("Service", name), [("10.1.1.1", "node-1"), ("10.2.2.1", "node-2")]))
    world.start_ccmd()
    world.wait(lambda: all(is_current(world, name) for name in NAMES), "all Services", timeout=60)
    world.settled()
    world.stop_ccmd()
    return product


def age(world, *names):
    """The labels are those of the reference, or of an earlier version."""
    for name in names:
        world.kube.patch("Service", name, {"metadata": {"labels": {reference.HASH_LABEL: reference.HASH}}})


def started(world):
    """What a start calls: (counts of calls to the cloud, writes to the API server)."""
    cloud, kube = world.cloud.mark(), world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: world.cloud.actions(cloud), "the first call")
    world.settled()
    writes = [a for a in world.kube.actions(kube) if a.split()[0] not in ("LIST", "WATCH", "GET") and "/leases" not in a]
    return collections.Counter(world.cloud.actions(cloud)), sorted(writes)


def cloud_writes(calls):
    return [action for action in calls if not scenario_look.is_read(action)]


def test_one_patch_and_no_read_more(world, product):
    reads, writes = started(world)
    assert cloud_writes(reads) == [] and writes == []
    world.stop_ccmd()
    age(world, *NAMES)
    before = product.find(world)
    events = {name: world.kube.events(name) for name in NAMES}
    calls, writes = started(world)
    assert calls == reads
    assert writes == [f"PATCH /api/v1/namespaces/default/services/{name}/status" for name in NAMES]
    assert all(is_current(world, name) for name in NAMES)
    assert product.find(world) == before and {name: world.kube.events(name) for name in NAMES} == events
    world.stop_ccmd()
    assert started(world) == (reads, [])


def test_an_edit_meanwhile_is_noticed(world, product):
    age(world, *NAMES)
    ports = world.kube.get("Service", "plain")["spec"]["ports"]
    world.kube.patch("Service", "plain", {"spec": {"ports": [p for p in ports if p["port"] == 443]}})
    calls, _ = started(world)
    assert len(cloud_writes(calls)) == 2, calls  # a listener and a group
    world.wait(lambda: is_current(world, "plain"), "the label")
    owner = reference.default_name(world.kube.get("Service", "plain"))
    (lb,) = [lb for lb in product.find(world) if lb["Tags"].get("kubernetes.do.not.delete") == owner]
    assert [one["key"] for one in lb["Listeners"]] == ["443/tcp"] and len(lb["Groups"]) == 1


def test_slices_that_are_missing_are_waited_for(world, product):
    age(world, *NAMES)
    world.kube.delete("EndpointSlice", "pods-abc")
    before = product.find(world)
    calls, _ = started(world)
    assert cloud_writes(calls) == [] and product.find(world) == before
    assert "BackendsFrozen" in [reason for _, reason, *_ in world.kube.events("pods")]


def test_a_class_that_is_renamed_takes_no_load_balancer_away(world):
    product = begin(world, "nlb")
    age(world, *NAMES)
    world.config = world.write_config(plugins='{ name = "nlb"; workers = 4; }', alicloud='nlb_class = "example.com/net";')
    before = product.find(world)
    world.start_ccmd()
    world.wait(lambda: all("ClassDropped" in [reason for _, reason, *_ in world.kube.events(name)] for name in NAMES), "the events")
    world.settled()
    assert product.find(world) == before


def test_a_gateway(world):
    api = world_with_gateway(world, listener("tcp", 8080))
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway to be programmed")
    world.settled()
    world.stop_ccmd()
    label = api.get("Gateway", "web")["metadata"]["labels"][reference.HASH_LABEL]
    reads, writes = started(world)
    assert cloud_writes(reads) == [] and writes == []
    world.stop_ccmd()
    api.patch("Gateway", "web", {"metadata": {"labels": {reference.HASH_LABEL: reference.HASH}}})
    calls, writes = started(world)
    assert calls == reads
    assert [write.split("/")[-3:] for write in writes] == [["default", "gateways", "web"]], writes
    assert api.get("Gateway", "web")["metadata"]["labels"][reference.HASH_LABEL] == label
