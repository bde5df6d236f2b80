"""An address of a pod moves to another network interface: what is known of it holds for the pod and node of that time."""

import pytest

from tests.support import objects, views
from tests.support.products import PRODUCTS

ENI = {"service.beta.kubernetes.io/backend-type": "eni"}
MOVING, STAYING = "10.1.9.1", "10.1.1.1"
READS = "DescribeNetworkInterfaces"

pytestmark = pytest.mark.parametrize("product", sorted(PRODUCTS))


def slice_of(service, *pods):
    """pods: (address, node, uid)"""
    item = objects.endpoint_slice(service, [(address, node) for address, node, _ in pods])
    for endpoint, (_, _, uid) in zip(item["endpoints"], pods):
        endpoint["targetRef"]["uid"] = uid
    return item


def begin(world, product, tmp_path, options=""):
    """A Service with one pod that will move and one that stays; returns both objects."""
    kind = PRODUCTS[product]()
    world.token = str(tmp_path / "control")
    kind.configure(world, options, extra=f'admin: {{ listen = "127.0.0.1:0"; control_token_file = "{world.token}"; }};')
    world.cloud.http.request("POST", "/_sim/instances", {"enis": [{"id": "eni-old", "ip": MOVING, "instance": "i-node-1"}]})
    views.nodes(world, 2)
    service = kind.new("web", annotations=ENI)
    pods = slice_of(service, (MOVING, "node-1", "uid-1"), (STAYING, "node-1", "uid-9"))
    world.kube.create(service, pods)
    world.start_ccmd()
    world.wait(lambda: interfaces(world, kind) == {"eni-old", "eni-pods-1"} and world.kube.ingress("web"), "the backends")
    world.settled()
    return kind, service, pods


def interfaces(world, kind):
    found = kind.find(world)
    groups = found[0]["Groups"] if found else []
    return {one["ServerId"] for group in groups for one in group.get("BackendServers", group.get("Servers", []))
            if one.get("Status") != "Removing"}


def move(world, instance="i-node-2"):
    world.cloud.edit("delete", type="eni", id="eni-old")
    world.cloud.http.request("POST", "/_sim/instances", {"enis": [{"id": "eni-new", "ip": MOVING, "instance": instance}]})


def moved(world, kind, mark):
    """The backend is replaced: the new one is added before the old one is removed, and nothing else changes."""
    world.wait(lambda: interfaces(world, kind) == {"eni-new", "eni-pods-1"}, "the other interface")
    world.settled()
    writes = [one for one in world.cloud.actions(mark) if one.startswith(("Add", "Remove", "Create", "Delete", "Set", "Update"))]
    assert writes == (["AddVServerGroupBackendServers", "RemoveVServerGroupBackendServers"] if kind.name == "clb" else
                      ["AddServersToServerGroup", "RemoveServersFromServerGroup"])
    assert [e for e in world.kube.events("web") if e[0] == "Warning"] == []
    (removed,) = [e[2] for e in world.kube.events("web") if e[1] == "BackendsRemoved"]
    assert f"addresses that another network interface has now: {MOVING}" in removed


@pytest.mark.parametrize("what", ["node", "pod", "pod and node"])
def test_seen_in_one_step(world, product, tmp_path, what):
    """Fixed addresses: the pod comes back under its name and address, on another node or on the same."""
    kind, service, _ = begin(world, product, tmp_path)
    mark = world.cloud.mark()
    move(world)
    world.kube.replace(slice_of(service, (MOVING, "node-2" if "node" in what else "node-1", "uid-2" if "pod" in what else "uid-1"),
                                (STAYING, "node-1", "uid-9")))
    moved(world, kind, mark)


def test_missed_by_the_watch(world, product, tmp_path):
    """The pod is deleted and created in between: the next list shows it on another node."""
    kind, service, _ = begin(world, product, tmp_path)
    mark = world.cloud.mark()
    move(world)
    world.kube.watches("silence", "endpointslices")
    world.kube.replace(slice_of(service, (STAYING, "node-1", "uid-9")))
    world.kube.replace(slice_of(service, (MOVING, "node-2", "uid-2"), (STAYING, "node-1", "uid-9")))
    assert interfaces(world, kind) == {"eni-old", "eni-pods-1"}
    world.kube.watches("compact", "endpointslices")
    world.kube.watches("drop", "endpointslices")
    moved(world, kind, mark)


def test_resync(world, product, tmp_path):
    """The cluster shows no difference."""
    kind, _, _ = begin(world, product, tmp_path)
    mark = world.cloud.mark()
    move(world)
    code, _, err = world.resync("default/web")
    assert (code, err) == (0, "")
    moved(world, kind, mark)


def test_audit(world, product, tmp_path):
    kind, _, _ = begin(world, product, tmp_path, "audit_interval_s = 2;")
    mark = world.cloud.mark()
    move(world)
    moved(world, kind, mark)


def test_the_same_owner_is_asked_about_once(world, product, tmp_path):
    """Readiness, other pods, and another Service with the same pods cause no further read."""
    kind, service, _ = begin(world, product, tmp_path)
    mark = world.cloud.mark()
    steady = (STAYING, "node-1", "uid-9")
    item = slice_of(service, (MOVING, "node-1", "uid-1"), steady)
    item["endpoints"][0]["conditions"]["ready"] = False
    world.kube.replace(item)
    world.wait(lambda: interfaces(world, kind) == {"eni-pods-1"}, "one backend")
    other = kind.new("other", annotations=ENI)
    world.kube.create(other, slice_of(other, steady))
    world.wait(lambda: world.kube.ingress("other"), "the other Service")
    world.settled()
    assert READS not in world.cloud.actions(mark)
    world.kube.replace(slice_of(service, (MOVING, "node-1", "uid-1"), steady))
    world.wait(lambda: "eni-old" in interfaces(world, kind), "both backends")
    world.settled()
    assert READS not in world.cloud.actions(mark)
