"""What lasts is told again before the API server forgets it, once per period, also after a restart."""

import pytest

from tests.support import objects, views
from tests.support.products import PREFIX
from tests.support.scenario_route import CLUSTER_CIDR, node
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
REFUSED = {"http": 403, "code": "Forbidden.RAM", "message": "User not authorized to operate on the specified resource"}


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path, kube_args=["--event-ttl-ms", "3600000"]) as world:
        views.nodes(world, 2)
        yield world


def start(world):
    world.config = world.write_config()
    world.start_ccmd()


def failures(world, name="web"):
    return [event for event in world.kube.items("Event")
            if event["involvedObject"]["name"] == name and event["reason"] == "SyncLoadBalancerFailed"]


def failing(world):
    world.cloud.fault("CreateLoadBalancer", count=1000000, **REFUSED)
    world.kube.create(objects.service("web"))
    return world.wait(lambda: failures(world), "the event")[0]


@pytest.mark.time_scale(200)  # half an hour is 9 s
def test_is_told_again_before_it_expires(world):
    start(world)
    failing(world)
    world.wait(lambda: [event for event in failures(world) if event["count"] >= 3], "that it is reported again and again", timeout=7200)
    world.cloud.clear_faults()
    world.kube.patch("Service", "web", {"metadata": {"annotations": {"looked-at": "now"}}})
    world.wait(lambda: world.kube.ingress("web"), "an address")
    world.wait(lambda: not failures(world), "that it is over", timeout=3600)


@pytest.mark.time_scale(200)  # half an hour is 9 s
def test_ends_with_its_object(world):
    start(world)
    failing(world)
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the deletion")
    world.wait(lambda: not failures(world), "that it is over", timeout=3600)


def test_once_per_period_after_a_restart(build, tmp_path):
    with World(build, tmp_path) as world:
        start(world)
        first = failing(world)
        for _ in range(3):
            world.settled()
            world.kill_ccmd()
            mark = world.cloud.mark()
            world.start_ccmd()
            world.wait(lambda: "CreateLoadBalancer" in world.cloud.actions(mark), "another try")
            world.settled()
        assert [(event["metadata"]["uid"], event["count"]) for event in failures(world)] == [(first["metadata"]["uid"], 1)]


@pytest.mark.time_scale(200)  # half an hour is 9 s
def test_goes_on_counting_after_a_restart(build, tmp_path):
    with World(build, tmp_path) as world:
        start(world)
        first = failing(world)
        world.wait(lambda: failures(world)[0]["count"] >= 2, "that it is reported again", timeout=7200)
        world.kill_ccmd()
        count = failures(world)[0]["count"]
        world.start_ccmd()
        world.wait(lambda: failures(world)[0]["count"] >= count + 1, "that it is reported again", timeout=7200)
        assert [event["metadata"]["uid"] for event in failures(world)] == [first["metadata"]["uid"]]


@pytest.mark.parametrize("fault, words", (
    (REFUSED, "Tried again within 30 s, later at least every"),
    ({"http": 400, "code": "InvalidParameter", "message": "no such thing"},
     "Tried again as soon as the Service changes, else within 10 min, later at least every"),
))
def test_says_when_it_is_tried_again(build, tmp_path, fault, words):
    with World(build, tmp_path) as world:
        world.cloud.fault("CreateLoadBalancer", count=1000000, **fault)
        world.start_ccmd()
        world.kube.create(objects.service("web"))
        message = world.wait(lambda: failures(world), "the event")[0]["message"]
        assert words in message and "RequestId" in message, message


# --- what is no failure ---

ODD = {"bandwith": "5", "idle-timeout": "30"}  # one is unknown, one has no effect on a port of TCP
HINTS = ("UnknownAnnotation", "NoEffect", "InClusterAccess")


def odd(world):
    world.kube.create(objects.service("web", policy="Local", annotations={PREFIX + name: value for name, value in ODD.items()}))


def hints(world, reasons=HINTS):
    return {event["reason"]: event for event in world.kube.items("Event") if event["reason"] in reasons}


@pytest.mark.time_scale(200)
def test_a_hint_is_reported_again_before_it_expires(world):
    odd(world)
    start(world)
    world.wait(lambda: len(hints(world)) == len(HINTS) and all(event["count"] >= 3 for event in hints(world).values()),
               "that each is reported again and again", timeout=9000)
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "bandwith": None}}})
    world.wait(lambda: set(hints(world)) == {"NoEffect", "InClusterAccess"}, "that one is over", timeout=9000)


@pytest.mark.time_scale(60)
def test_a_hint_that_expired_is_reported_after_a_restart(build, tmp_path):
    """A quarter of an hour later, so that a restart over many Services writes nothing; another hint at once."""
    with World(build, tmp_path, kube_args=["--event-ttl-ms", "120000"]) as world:
        views.nodes(world, 2)
        odd(world)
        start(world)
        world.wait(lambda: len(hints(world)) == len(HINTS), "the events")
        world.settled()
        world.stop_ccmd()
        world.wait(lambda: not hints(world), "that they expire", timeout=300)
        world.start_ccmd()
        world.settled()
        assert not hints(world)
        world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "bandwith": None}}})
        world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "adress-type": "intranet"}}})
        world.wait(lambda: set(hints(world)) == {"UnknownAnnotation"}, "the event of the edit", timeout=100)
        world.wait(lambda: len(hints(world, HINTS[1:])) == 2, "the others", timeout=1200)


def test_a_hint_is_reported_once_per_period(build, tmp_path):
    """By each process, and once in the history of the Service, however often it is reconciled."""
    with World(build, tmp_path) as world:
        views.nodes(world, 2)
        odd(world)
        start(world)
        world.wait(lambda: len(hints(world)) == len(HINTS), "the events")
        before = {reason: (event["metadata"]["uid"], 1) for reason, event in hints(world).items()}
        for number in range(3):
            world.kube.patch("Service", "web", {"metadata": {"annotations": {"looked-at": str(number)}}})
            world.settled()
        history = world.admin("/statusz/object?key=default/web&format=text")[1]
        assert [history.count(reason) for reason in HINTS] == [1, 1, 1], history
        for number in range(2):
            world.stop_ccmd()
            world.kube.patch("Service", "web", {"metadata": {"annotations": {"looked-at": f"again {number}"}}})
            world.start_ccmd()
            world.settled()
        assert {reason: (event["metadata"]["uid"], event["count"]) for reason, event in hints(world).items()} == before


# --- plugin route, and what is about all objects ---

ROUTE = f'{{ name = "route"; cluster_cidr = "{CLUSTER_CIDR}"; period_s = 1; account_quotas = "routes=4"; }}'


def on_lease(world, reason):
    items = world.kube.http.request("GET", "/api/v1/namespaces/kube-system/events")["items"]
    return [e for e in items if e["involvedObject"]["kind"] == "Lease" and e["reason"] == reason]


def start_route(world):
    world.config = world.write_config(plugins=ROUTE)
    world.start_ccmd()


@pytest.mark.time_scale(200)  # half an hour is 9 s
def test_a_node_without_a_route_is_told_again(build, tmp_path):
    with World(build, tmp_path, kube_args=["--event-ttl-ms", "3600000"]) as world:
        world.kube.create(node("node-1"), objects.node("node-9", "i-gone"))
        world.kube.patch("Node", "node-9", {"spec": {"podCIDR": "10.96.9.0/24", "podCIDRs": ["10.96.9.0/24"]}})
        start_route(world)

        def told():
            return [e for e in world.kube.items("Event") if e["involvedObject"]["name"] == "node-9" and e["reason"] == "CreateRouteFailed"]

        world.wait(lambda: told() and told()[0]["count"] >= 2, "that it is reported again", timeout=7200)
        message = told()[0]["message"]
        assert "Check spec.providerID of the node" in message and "Tried again as soon as the node changes, else within" in message
        world.kube.delete("Node", "node-9")
        world.wait(lambda: not told(), "that it is over", timeout=3600)


@pytest.mark.time_scale(200)  # half an hour is 9 s
def test_a_route_table_that_cannot_be_changed_is_told_again(build, tmp_path):
    with World(build, tmp_path, kube_args=["--event-ttl-ms", "3600000"]) as world:
        world.cloud.fault("Create*", count=1000000, **REFUSED)
        world.kube.create(node("node-1"))
        start_route(world)
        world.wait(lambda: [e for e in on_lease(world, "SyncRouteFailed") if e["count"] >= 2], "that it is reported again", timeout=7200)
        message = on_lease(world, "SyncRouteFailed")[0]["message"]
        assert "1 node waits for it: node-1" in message and "Tried again within" in message and "RequestId" in message
        world.cloud.clear_faults()
        world.kube.create(node("node-2"))
        world.wait(lambda: not on_lease(world, "SyncRouteFailed"), "that it is over", timeout=7200)


@pytest.mark.parametrize("kind", ("quota-of-routes", "quota-of-a-service", "quota-of-all", "orphans"))
def test_what_is_near_or_left_is_told_once_per_period_after_a_restart(build, tmp_path, kind):
    with World(build, tmp_path) as world:
        clb = '{ name = "clb"; workers = 4; account_quotas = "listeners=1, load_balancers=1"; audit_interval_s = 1; orphan_cleanup = false; }'
        route = kind == "quota-of-routes"
        world.config = world.write_config(plugins=ROUTE if route else clb)
        for n in range(1, 5):
            world.kube.create(node(f"node-{n}"))
        if not route:
            world.kube.create(objects.service("web"))

        def told():
            if kind == "quota-of-a-service":
                return [e for e in world.kube.items("Event") if e["involvedObject"]["name"] == "web" and e["reason"] == "QuotaNear"]
            return on_lease(world, "OrphanLoadBalancers" if kind == "orphans" else "QuotaNear")

        world.start_ccmd()
        if kind == "orphans":
            world.wait(lambda: world.kube.ingress("web"), "an address")
            world.settled()
            world.kill_ccmd()
            world.kube.patch("Service", "web", {"metadata": {"finalizers": None}})
            world.kube.delete("Service", "web")
            world.start_ccmd()
        first, = world.wait(told, "the event", timeout=40)
        for _ in range(2):
            world.settled()
            world.kill_ccmd()
            world.start_ccmd()
            metric = {"quota-of-routes": 'ccmd_quota_used{type="route",quota="routes-per-table"}', "orphans": 'ccmd_orphans{type="CLBType"}'}
            world.wait(lambda: world.metrics().get(metric.get(kind, 'ccmd_quota_used{type="CLBType",quota="listeners-per-load-balancer"}')),
                       "that it is seen again", timeout=40)
            world.settled()
        assert [(e["metadata"]["uid"], e["count"]) for e in told()] == [(first["metadata"]["uid"], 1)]
