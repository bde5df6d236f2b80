"""Objects larger than ccmd reads (core/kube/object/decode.h): told, left as they are, and they can go."""

import pytest

from tests.support import objects, views
from tests.support.products import PREFIX, Clb, Nlb

PORTS = [(80, "TCP")]
PRODUCTS = pytest.mark.parametrize("product", [Clb(), Nlb()], ids=["clb", "nlb"])
ONE = [{"name": "tcp-80", "port": 80, "targetPort": 8080, "protocol": "TCP"}]
RANGES = [f"10.{n // 256}.{n % 256}.0/24" for n in range(1001)]
LARGE = {
    "ports": ({"spec": {"ports": ONE + [{"name": f"p{n}", "port": n, "targetPort": n, "protocol": "TCP"}
                                        for n in range(1000, 2000)]}},
              {"spec": {"ports": ONE}}, "ports: more than 1000 elements"),
    "ranges": ({"spec": {"loadBalancerSourceRanges": RANGES}},
               {"spec": {"loadBalancerSourceRanges": RANGES[:2]}}, "loadBalancerSourceRanges: more than 1000 elements"),
    "annotations": ({"metadata": {"annotations": {f"{PREFIX}a{n}": "x" * 16000 for n in range(4)}}},
                    {"metadata": {"annotations": {f"{PREFIX}a{n}": None for n in range(4)}}},
                    "annotations: more than 48 KiB that plugins read"),
}


def begin(world, product, **options):
    product.configure(world, "source_ranges = true;" if product.name == "clb" else "")
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(product.new("web", PORTS, loadBalancerSourceRanges=["192.168.0.0/16"], **options))
    world.wait(lambda: product.complete(product.only(world), PORTS) and world.kube.ingress("web"), "the load balancer", 60)
    world.settled()


def too_large(world, kind="services"):
    return world.metrics()[f'ccmd_cache_too_large_objects{{kind="{kind}"}}']


def restart(world, product):
    world.stop_ccmd()
    world.start_ccmd()
    world.wait(lambda: f"plugin {product.name}: started" in world.ccmd.err(), "the start", 30)


def told(world, problem):
    return any(e[:2] == ("Warning", "SyncLoadBalancerFailed") and f"the Service is too large ({problem})" in e[2]
               for e in world.kube.events("web"))


def nothing_left(world, product):
    state = world.cloud.state()
    return product.find(world) == [] and state["acls"] == [] and not [
        one for one in state["securityGroups"] if "kubernetes.do.not.delete" in one["Tags"]]


@PRODUCTS
@pytest.mark.parametrize("what", sorted(LARGE))
def test_service(world, product, what):
    more, less, problem = LARGE[what]
    begin(world, product)
    before, since = product.only(world), world.cloud.mark()
    world.kube.patch("Service", "web", more)
    world.wait(lambda: told(world, problem), "the event", 30)
    assert too_large(world) == 1
    world.logged(f"services: default/web is too large ({problem})")
    views.nodes(world, 1, first=3)
    world.settled()
    assert world.cloud.actions(since) == [] and product.only(world) == before

    world.kube.patch("Service", "web", less)  # it goes on where it was
    world.wait(lambda: all(len(group["servers"]) == 3 for group in product.only(world)["Groups"]), "the third node", 30)
    assert too_large(world) == 0

    world.kube.patch("Service", "web", more)
    world.wait(lambda: too_large(world) == 1, "the large one", 30)
    restart(world, product)  # it is known in this form alone
    since = world.cloud.mark()
    world.settled()
    assert [action for action in world.cloud.actions(since) if not action.startswith(("Describe", "List", "Get"))] == []
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion", 60)
    assert nothing_left(world, product)


OTHERS = {
    "long": {f"example.kubernetes.io/cache{n}": "x" * 40_000 for n in range(5)},
    "kubernetes": {f"example.kubernetes.io/{n}": "" for n in range(4097)},
    "many": {f"a{n}": "" for n in range(4097)},
}


@PRODUCTS
@pytest.mark.parametrize("what", sorted(OTHERS))
def test_annotations_of_others(world, product, what):
    """They never keep a Service from being followed, however large they are."""
    begin(world, product)
    world.kube.patch("Service", "web", {"metadata": {"annotations": OTHERS[what]}})
    world.settled()
    views.nodes(world, 1, first=3)
    world.wait(lambda: all(len(group["servers"]) == 3 for group in product.only(world)["Groups"]), "the third node", 30)
    assert too_large(world) == 0
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "scheduler": "fast"}}})
    world.wait(lambda: any("scheduler" in e[2] for e in world.kube.events("web")), "what follows it is read", 30)
    assert product.complete(product.only(world), PORTS)


@PRODUCTS
def test_service_of_another_type(world, product):
    """It ceases to be a load balancer while it is too large."""
    begin(world, product)
    world.kube.patch("Service", "web", LARGE["ports"][0])
    world.wait(lambda: too_large(world) == 1, "the large one", 30)
    restart(world, product)
    world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP", "loadBalancerSourceRanges": None, "loadBalancerClass": None}})
    world.wait(lambda: "finalizers" not in world.kube.get("Service", "web")["metadata"], "the release", 60)
    assert nothing_left(world, product)


@PRODUCTS
def test_what_is_kept_is_kept(world, product):
    """Annotations that decide about the end are read, however many others there are."""
    begin(world, product, annotations={PREFIX + "preserve-lb-on-delete": "true"})
    world.kube.patch("Service", "web", LARGE["annotations"][0])
    world.wait(lambda: too_large(world) == 1, "the large one", 30)
    restart(world, product)
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion", 60)
    assert product.only(world) is not None


def test_new_service(world):
    """Refused with an event; nothing is made, and it can go."""
    product = Clb()
    product.configure(world)
    world.start_ccmd()
    service = product.new("web", PORTS)
    service["spec"]["ports"] = LARGE["ports"][0]["spec"]["ports"]
    world.kube.create(service)
    world.wait(lambda: told(world, LARGE["ports"][2]), "the event", 30)
    assert "finalizers" not in world.kube.get("Service", "web")["metadata"]
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion", 30)
    assert world.cloud.actions() == []


@PRODUCTS
def test_slice(world, product):
    """What cannot be read is not empty: its backends stay, also for a process that has just started."""
    product.configure(world)
    views.nodes(world, 2)
    service = product.new("web", PORTS, policy="Local")
    world.kube.create(service)
    found = objects.endpoint_slice(service, [("10.2.1.1", "node-1"), ("10.2.2.1", "node-2")])
    world.kube.create(found)
    world.start_ccmd()
    world.wait(lambda: product.complete(product.only(world), PORTS) and world.kube.ingress("web"), "the load balancer", 60)
    world.settled()
    before = product.only(world)
    found["ports"] += [{"name": f"p{n}", "port": n, "protocol": "TCP"} for n in range(1, 1001)]
    world.kube.replace(found)
    world.wait(lambda: any("EndpointSlice is too large" in e[2] for e in world.kube.events("web")), "the event", 30)
    assert too_large(world, "endpointslices") == 1
    restart(world, product)
    world.settled()
    assert product.only(world)["Groups"] == before["Groups"]
    found["ports"] = found["ports"][:1]
    found["endpoints"] = found["endpoints"][:1]
    world.kube.replace(found)
    world.wait(lambda: all(len(group["servers"]) == 1 for group in product.only(world)["Groups"]), "one backend", 30)


def test_node(world):
    """It stays what it is: a node with its provider id and conditions."""
    product = Clb()
    begin(world, product)
    world.kube.patch("Node", "node-1", {"spec": {"taints": [
        {"key": f"example.com/{n}", "effect": "PreferNoSchedule"} for n in range(1001)]}})
    world.wait(lambda: too_large(world, "nodes") == 1, "the large one", 30)
    restart(world, product)
    world.settled()
    assert [len(servers) for servers in views.backends(product.only(world))] == [2]


def resident(world):
    with open(f"/proc/{world.ccmd.popen.pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


def test_services_of_others_take_little_memory(world):
    """Whoever may write a ClusterIP Service does not decide how much memory the controller takes."""
    product = Clb()
    begin(world, product)
    before = resident(world)
    for number in range(100):
        service = objects.service(f"other-{number}", [(80, "TCP")], annotations={"note": "x" * 250_000}, type="ClusterIP",
                                  externalTrafficPolicy=None)
        world.kube.create(service)
    world.settled()
    assert resident(world) - before < 8 * 1024  # KiB; all of them are 25,000


@pytest.mark.parametrize("names, size, words", [
    (["scheduler"], 250_000, "must be at most 16384 bytes long"),
    (["scheduler", *(f"other-{n}" for n in range(14))], 16_000, "annotations: more than 48 KiB"),
])
def test_services_with_long_annotations_take_little_memory(world, names, size, words):
    """Neither does who may write one of type LoadBalancer. What is wrong is reported all the same."""
    product = Clb()
    begin(world, product)
    before = resident(world)
    for number in range(100):
        values = {f"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-{name}": "x" * size for name in names}
        world.kube.create(objects.service(f"long-{number}", [(80, "TCP")], annotations=values))
    world.wait(lambda: all(any(words in e[2] for e in world.kube.events(f"long-{number}")) for number in (0, 50, 99)), "the events", 60)
    world.settled()
    assert resident(world) - before < 12 * 1024  # KiB; all of them are 25,000
