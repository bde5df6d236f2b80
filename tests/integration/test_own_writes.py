"""What ccmd writes to an object it knows at once, whatever the watch says: a watch that hangs or lags costs no write more."""

import collections

import pytest

from tests.support import objects, products, views
from tests.support.gateway_api import listener, world_with_gateway

pytestmark = pytest.mark.time_scale(10)
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
SERVICES = 20


@pytest.fixture
def standby(world):
    """ccmd knows all objects, and does not work before it is released."""
    world.kube.http.request("POST", LEASES, {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "ccm", "namespace": "kube-system"},
        "spec": {"holderIdentity": "rival", "leaseDurationSeconds": 3600}})

    def start(*kinds):
        world.start_ccmd()
        names = [f'ccmd_cache_lists_total{{kind="{kind}"}}' for kind in kinds]
        world.wait(lambda: all(world.metrics()[name] >= 1 for name in names), "the caches")
    return start


def release(world):
    world.kube.http.request("PATCH", LEASES + "/ccm", {"spec": {"holderIdentity": ""}}, "application/merge-patch+json")


def patches(world):
    """How often each object was written, and its status; Events and nodes are not counted."""
    counts = collections.Counter(action.removeprefix("PATCH ") for action in world.kube.actions() if action.startswith("PATCH "))
    return {path: count for path, count in counts.items() if "/events/" not in path and "/nodes/" not in path and "/leases/" not in path}


def of_services(count, suffix, times):
    return {f"/api/v1/namespaces/default/services/web-{n}{suffix}": times for n in range(count)}


def serve_while_silent(world, standby, product):
    """ccmd creates all load balancers beside a watch of Services that says nothing. Returns the patches that this costs."""
    kind = products.PRODUCTS[product]()
    kind.configure(world, unlimited=True)
    views.nodes(world, 2)
    for n in range(SERVICES):
        made = world.kube.create(kind.new(f"web-{n}"))
        world.kube.create(objects.endpoint_slice(made, [("10.0.0.1", "node-1")]))
    standby("services", "nodes", "endpointslices")
    world.kube.watches("silence", "services")
    release(world)
    world.wait(lambda: all(world.kube.ingress(f"web-{n}") for n in range(SERVICES)), "the addresses", timeout=60)
    return {**of_services(SERVICES, "", 1), **of_services(SERVICES, "/status", 1)}


def servers(world, product):
    """How many there are in the groups."""
    return {len(group["servers"]) for lb in products.PRODUCTS[product]().find(world) for group in lb["Groups"]}


@pytest.mark.parametrize("product", ["clb", "nlb"])
def test_a_watch_of_services_that_hangs(world, standby, product):
    """The finalizer of each, and its status, are written once. The watch says nothing for 90 s, then it is opened anew."""
    expected = serve_while_silent(world, standby, product)
    world.wait(world.idle, "the watch that is opened anew", timeout=200)
    assert patches(world) == expected


@pytest.mark.parametrize("product", ["clb", "nlb"])
def test_changes_while_the_watch_hangs(world, standby, product):
    """Each pass starts from what the one before has written: a flapping node costs no write of the Service."""
    expected = serve_while_silent(world, standby, product)
    for _ in range(3):
        views.nodes(world, 1, first=3)
        world.wait(lambda: servers(world, product) == {3}, "the node everywhere", timeout=60)
        world.kube.delete("Node", "node-3")
        world.wait(lambda: servers(world, product) == {2}, "the node nowhere", timeout=60)
    world.wait(world.idle, "the watch that is opened anew", timeout=200)
    assert patches(world) == expected


def test_a_watch_of_gateways_that_hangs(world, standby):
    api = world_with_gateway(world, listener("tcp", 8080))
    standby("services", "gateways", "tcproutes")
    world.kube.watches("silence")
    release(world)
    world.wait(api.programmed, "the Gateway to be programmed", timeout=60)
    world.wait(world.idle, "the watches that are opened anew", timeout=200)
    found = {path.split("/v1/")[1]: count for path, count in patches(world).items()}
    assert found.pop("namespaces/default/gateways/web/status") <= 2, found
    assert found.pop("gatewayclasses/nlb/status") <= 2, "once more when a minute has passed"
    assert found == {"gatewayclasses/nlb": 1, "namespaces/default/tcproutes/web/status": 1,
                     "namespaces/default/gateways/web": 2}, "finalizers and labels"
