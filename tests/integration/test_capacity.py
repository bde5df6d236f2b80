"""Groups that are full: every mixture of old pods, new pods and room ends with as many of the new ones as fit."""

import itertools

import pytest

from tests.support import objects, proc
from tests.support.products import Clb, Nlb
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
ENI = {"service.beta.kubernetes.io/backend-type": "eni"}
FULL = {"clb": "InstanceBackendServerNumberOverLimit", "nlb": "QuotaExceeded.QuotaInsufficient"}
LIMIT = {"clb": "backends", "nlb": "nlb-servers"}
ADD = {"clb": "AddVServerGroupBackendServers", "nlb": "AddServersToServerGroup"}


def pods(first, count):
    return [f"10.1.20.{n + 1}" for n in range(first, first + count)]


def begin(world, product, old, **service):
    product.configure(world)
    world.cloud.http.request("POST", "/_sim/instances", {"enis": [
        {"id": f"eni-pod-{ip.rsplit('.', 1)[1]}", "ip": ip, "instance": "i-node-1"} for ip in pods(0, 60)]})
    world.kube.create(objects.node("node-1", "i-node-1"))
    service = product.new("web", annotations=ENI, **service)
    slice_ = objects.endpoint_slice(service, [(ip, "node-1") for ip in old])
    world.kube.create(service, slice_)
    world.start_ccmd()
    world.wait(lambda: world.kube.ingress("web") and servers(world, product) == set(old), "the old pods")
    world.settled()
    return slice_


def servers(world, product):
    """Addresses in the groups; None while there are several opinions."""
    lb = product.only(world)
    found = [frozenset(ip for ip, *_ in group["servers"]) for group in lb["Groups"]] if lb else []
    return set(found[0]) if len(set(found)) == 1 else None


def limit(world, product, count):
    world.cloud.edit("limits", limits={LIMIT[product.name]: count})


def roll(world, slice_, addresses):
    world.kube.replace({**slice_, "endpoints": [dict(slice_["endpoints"][0], addresses=[ip]) for ip in addresses]})


def refusals(world, product, since):
    return [call for call in world.cloud.calls(since) if call["code"] == FULL[product.name]]


@pytest.fixture(params=["clb", "nlb"])
def product(request):
    return {"clb": Clb, "nlb": Nlb}[request.param]()


# old pods, how many of them stay, new pods (those that stay included), room
MIXTURES = [(8, 0, 8, 8), (8, 4, 8, 8), (8, 0, 8, 12), (8, 7, 8, 8), (1, 0, 1, 1), (2, 0, 2, 2), (8, 0, 3, 8), (4, 4, 12, 8)]


@pytest.mark.parametrize("old, stay, new, room", MIXTURES)
def test_pods_are_replaced(build, tmp_path, product, old, stay, new, room):
    """All that fit serve in the end, nobody else does, and nobody was sent away before somebody came."""
    with World(build, tmp_path) as world:
        slice_ = begin(world, product, pods(0, old))
        limit(world, product, room)
        since = world.cloud.mark()
        wanted = pods(old - stay, new)
        roll(world, slice_, wanted)
        fit = min(new, room)
        world.wait(lambda: (found := servers(world, product)) and len(found) == fit and found <= set(wanted), "those that fit")
        world.settled()
        assert set(pods(old - stay, stay)) <= servers(world, product)
        assert len(refusals(world, product, since)) <= 3
        if fit < new:
            world.wait(lambda: any(f"{fit} of {new} " in e[2] for e in world.kube.events() if e[0] == "Warning"), "the Warning")
        else:
            assert not any(e[0] == "Warning" for e in world.kube.events())
        assert least(world, product, since, old) >= min(min(old, fit) // 2, 1)
        world.stop_ccmd()


def least(world, product, since, count):
    """The fewest backends that there were at any time, of the calls' log."""
    low = count
    for call in world.cloud.calls(since):
        size = len({key.split(".")[1] for key in call["params"] if key.startswith("Servers.")})
        size = size or call["params"].get("BackendServers", "").count('"ServerId"')
        if call["http"] == 200 and call["action"].startswith("Remove"):
            count -= size
        elif call["http"] == 200 and call["action"] == ADD[product.name]:
            count += size
        low = min(low, count)
    return low


def test_a_rollout_step_by_step(build, tmp_path, product):
    """One pod after the other, the group full all the while."""
    with World(build, tmp_path) as world:
        slice_ = begin(world, product, pods(0, 8))
        limit(world, product, 8)
        for step in range(1, 9):
            wanted = pods(step, 8)
            roll(world, slice_, wanted)
            world.wait(lambda: servers(world, product) == set(wanted), f"step {step}")
        world.settled()
        assert not any(e[0] == "Warning" for e in world.kube.events())
        world.stop_ccmd()


def test_several_ports_share_the_room(build, tmp_path, product):
    """Each group keeps its place, and what one has learned spares the others the same refusal."""
    ports = [(80 + n, "TCP", 8080 + n) for n in range(3)]
    with World(build, tmp_path) as world:
        slice_ = begin(world, product, pods(0, 6), ports=ports)
        limit(world, product, 18)
        since = world.cloud.mark()
        roll(world, slice_, pods(10, 6))
        world.wait(lambda: servers(world, product) == set(pods(10, 6)), "the new pods")
        world.settled()
        assert len(refusals(world, product, since)) <= (1 if product.name == "clb" else len(ports))
        world.stop_ccmd()


def test_a_failed_addition_empties_nothing(build, tmp_path, product):
    """Not for want of room: the old pods stay until the new ones can come."""
    with World(build, tmp_path) as world:
        slice_ = begin(world, product, pods(0, 4))
        world.cloud.fault(ADD[product.name], code="OperationDenied", http=400, message="not now", count=2)
        since = world.cloud.mark()
        roll(world, slice_, pods(10, 4))
        world.wait(lambda: any("not now" in e[2] for e in world.kube.events()), "the Warning")
        assert servers(world, product) == set(pods(0, 4))
        assert not [call for call in world.cloud.calls(since) if call["action"].startswith("Remove")]
        world.cloud.clear_faults()
        world.wait(lambda: servers(world, product) == set(pods(10, 4)), "the new pods", 60)
        world.stop_ccmd()
