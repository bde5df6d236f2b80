"""What health checks of the cloud say: a port without any healthy backend is told for as long as it lasts."""

import re

import pytest

from tests.support import objects, views
from tests.support.products import PREFIX, Clb, Nlb

pytestmark = pytest.mark.time_scale(10)
PRODUCTS = pytest.mark.parametrize("product", [Clb(), Nlb()], ids=["clb", "nlb"])
READS = {"clb": "DescribeHealthStatus", "nlb": "GetListenerHealthStatus"}
GROUPS = {"clb": "vservergroup", "nlb": "servergroup"}
BAD = {"clb": "abnormal", "nlb": "Unhealthy"}
GOOD = {"clb": "normal", "nlb": "Normal"}
UNKNOWN = {"clb": "unavailable", "nlb": "Initial"}
PORTS = ((80, "TCP"), (81, "TCP"))
CLUSTER_TAG = "ack.aliyun.com"  # what orphans are looked for by
EXPIRY = "ccmd_certificate_expiry_timestamp_seconds"


def begin(world, product, options="", **service):
    """A Service with two ports whose second looks come all the time."""
    product.configure(world, f"audit_interval_s = 1; backend_health = true; {options}")
    views.nodes(world, 2)
    world.start_ccmd()
    service = product.new("web", PORTS, **service)
    world.kube.create(service)
    world.kube.create(objects.endpoint_slice(service, [("10.1.1.1", "node-1"), ("10.1.2.1", "node-2")]))
    world.wait(lambda: world.kube.ingress("web"), "an address")
    world.wait(lambda: product.complete(product.only(world), PORTS), "all of it")


def say(world, product, words, ports=(80, 81)):
    """What checks say from now on of the backends of these ports."""
    used = {one["group"] for one in product.only(world)["Listeners"] if int(one["key"].partition("/")[0]) in ports}
    for group in used:
        world.cloud.edit("update", type=GROUPS[product.name], id=group, attributes={"Health": words})


def looks(world, product, count=3):
    """The actions until health was read in so many further second looks, but for the rest of the last one."""
    since = world.cloud.mark()
    per_look = 1 if product.name == "clb" else len(PORTS)
    read = READS[product.name]
    world.wait(lambda: world.cloud.actions(since).count(read) >= (count + 1) * per_look, "the looks")
    return [call["action"] for call in world.cloud.calls(since) if CLUSTER_TAG not in call["params"].values()]


def told(world):
    return [(kind, message, count) for kind, reason, message, count in world.kube.events("web") if reason == "UnhealthyBackends"]


def condition(world):
    for one in world.kube.get("Service", "web")["status"].get("conditions", []):
        if one["type"].endswith("LoadBalancerReady"):
            return one["status"], one["reason"], one["message"]
    return None


def metric(world, name):
    return sum(value for key, value in world.metrics().items() if key.startswith(name + "{"))


def unserved(world):
    return metric(world, "ccmd_unserved_ports")


@PRODUCTS
def test_unhealthy_ports_are_told_until_they_are_healthy(world, product):
    begin(world, product)
    looks(world, product)
    assert told(world) == []
    say(world, product, BAD[product.name], ports=(81,))
    world.wait(lambda: told(world), "the event")
    kind, message, _ = told(world)[0]
    assert kind == "Warning" and "No backend of port 81/" in message and " 80/" not in message
    assert all(words in message for words in ("security groups", "health-check-", "listens"))
    assert ("100.64.0.0/10" if product.name == "clb" else "vSwitches") in message
    world.wait(lambda: condition(world) == ("False", "UnhealthyBackends", message), "the condition")
    world.wait(lambda: unserved(world) == 1, "the metric")
    world.wait(lambda: "No backend of port 81/" in world.admin("/statusz")[1], "the status page")
    assert metric(world, "ccmd_unserved_objects") == 1
    assert metric(world, "ccmd_unhealthy_backends") == 2
    calls = looks(world, product)
    assert not [one for one in calls if not one.startswith(("Describe", "List", "Get"))]
    assert [count for _, _, count in told(world)] == [1]
    say(world, product, f"{BAD[product.name]},{GOOD[product.name]}", ports=(81,))  # one is enough
    world.wait(lambda: condition(world)[0] == "True", "the condition")
    world.wait(lambda: unserved(world) == 0, "the metric")
    assert (metric(world, "ccmd_unserved_objects"), metric(world, "ccmd_unhealthy_backends")) == (0, 1)
    world.kube.delete("Service", "web")
    world.wait(lambda: metric(world, "ccmd_unhealthy_backends") == 0, "the end of the load balancer")
    assert [count for _, _, count in told(world)] == [1]


@PRODUCTS
def test_what_is_not_known_is_not_told(world, product):
    begin(world, product)
    say(world, product, UNKNOWN[product.name])
    looks(world, product)
    say(world, product, f"{BAD[product.name]},{UNKNOWN[product.name]}")
    looks(world, product)
    assert told(world) == []


@PRODUCTS
def test_checks_that_are_switched_off_are_not_told(world, product):
    name = "health-check-switch" if product.name == "clb" else "health-check-flag"
    begin(world, product, annotations={PREFIX + name: "off"})
    say(world, product, BAD[product.name])
    looks(world, product)
    assert told(world) == []


@PRODUCTS
def test_one_read_per_second_look(world, product):
    begin(world, product)
    looks(world, product, 1)  # whatever came before
    calls = looks(world, product, 4)
    first = {"clb": "DescribeLoadBalancers", "nlb": "ListLoadBalancers"}[product.name]
    begun = [at for at, one in enumerate(calls) if one == first]
    assert len(begun) >= 3
    for start, end in zip(begun, begun[1:]):
        assert calls[start:end].count(READS[product.name]) == (1 if product.name == "clb" else len(PORTS)), calls[start:end]


@PRODUCTS
def test_another_process_goes_on_with_it(world, product):
    begin(world, product)
    say(world, product, BAD[product.name])
    world.wait(lambda: told(world), "the event")
    world.wait(lambda: condition(world)[1] == "UnhealthyBackends", "the condition")
    world.stop_ccmd()
    product.configure(world, "audit_interval_s = 3600; backend_health = true;")
    since, writes = world.cloud.mark(), condition(world)
    world.start_ccmd()
    world.wait(lambda: READS[product.name] in world.cloud.actions(since), "a read though no second look is due")
    world.wait(lambda: unserved(world) == len(PORTS), "the metric")
    world.settled()
    assert condition(world) == writes
    assert [count for _, _, count in told(world)] == [1]
    world.stop_ccmd()
    say(world, product, GOOD[product.name])
    world.start_ccmd()
    world.wait(lambda: condition(world)[0] == "True", "the condition")


def test_servers_that_are_not_used_do_not_count(world):
    begin(world, Nlb())
    say(world, Nlb(), "Unhealthy,Unused")  # the second has weight 0
    words = "No backend of port 80/TCP, 81/TCP is healthy"
    world.wait(lambda: any(words in message for _, message, _ in told(world)), "the event of both ports")


def test_without_the_right_all_else_goes_on(world):
    begin(world, Clb())
    world.cloud.fault("DescribeHealthStatus", count=1000, code="Forbidden.RAM", http=403)
    world.wait(lambda: "the health of backends is not known" in world.log(), "the line")
    assert not any(reason == "SyncLoadBalancerFailed" for _, reason, _, _ in world.kube.events("web"))
    assert told(world) == []


def test_certificates_that_end_are_told(world):
    """One that has expired serves nobody although the cloud takes it; with a valid one the event is over."""
    Clb().configure(world, "audit_interval_s = 1; backend_health = true;")
    views.nodes(world, 2)
    world.start_ccmd()
    for cert, ends in (("cert-expired", "1600000000000"), ("cert-valid", "2000000000000")):
        world.cloud.edit("update", type="server_certificate", id=cert, attributes={"ExpireTimeStamp": ends})
    notes = {PREFIX + "protocol-port": "https:443", PREFIX + "cert-id": "cert-expired"}
    service = Clb().new("web", ((443, "TCP"),), annotations=notes)
    world.kube.create(service)
    world.kube.create(objects.endpoint_slice(service, [("10.1.1.1", "node-1")]))

    def told_of():
        return [(kind, message) for kind, reason, message, _ in world.kube.events("web") if reason == "CertificateExpires"]

    world.wait(told_of, "the event")
    (kind, message), = told_of()
    assert kind == "Warning"
    world.wait(lambda: metric(world, EXPIRY) == 1600000000, "its end")
    assert re.match(r"certificate \[cert-expired\] of port 443/https has expired on \d{4}-\d\d-\d\d, so clients refuse to connect: "
                    "upload a renewed one and put its id into annotation cert-id", message), message
    since = world.cloud.mark()
    world.wait(lambda: world.cloud.actions(since).count("DescribeHealthStatus") >= 3, "further looks")
    assert world.cloud.actions(since).count("DescribeServerCertificates") <= world.cloud.actions(since).count("DescribeHealthStatus")
    assert len(told_of()) == 1
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "cert-id": "cert-valid"}}})
    world.wait(lambda: [l for lb in world.cloud.load_balancers() for l in lb["Listeners"] if l.get("ServerCertificateId") == "cert-valid"], "the new one")
    since = world.cloud.mark()
    world.wait(lambda: world.cloud.actions(since).count("DescribeHealthStatus") >= 2, "further looks")
    assert len(told_of()) == 1
    world.wait(lambda: metric(world, EXPIRY) == 2000000000, "the end of the other one")
    world.kube.delete("Service", "web")
    world.wait(lambda: metric(world, EXPIRY) == 0, "no certificate any more")
