"""The status of a Service shows an address that another controller wrote there: MetalLB, servicelb. It is no load balancer that the
Service had when no label names one, the cloud has none of its own, and none of the account has that address. Both products."""

import ipaddress

import pytest

from tests.support import views
from tests.support.owned import Console
from tests.support.products import ZONES, default_name

IP, IPV6, HOSTNAME = "192.0.2.77", "2001:db8::77", "lb.example.com"
PORTS = [(80, "TCP")]
ID_LABEL = "service.k8s.alibaba/loadbalancer-id"
HASH_LABEL = "service.beta.kubernetes.io/hash"
LISTS = {"clb": "DescribeLoadBalancers", "nlb": "ListLoadBalancers"}
# The parameters of these reads with tag and name.
BY = {"clb": {"Tags": "tag", "LoadBalancerName": "name"}, "nlb": {"Tag.1.Key": "tag", "LoadBalancerNames.1": "name"}}
MISSING = "can not find loadbalancer, but it's defined in service"


@pytest.fixture(params=["clb", "nlb"])
def console(world, request):
    views.nodes(world, 2)
    return Console(world, request.param)


def show(console, *ingress, labels=None, finalizer=False, **options):
    """A Service whose status shows that, before ccmd has seen it."""
    item = console.product.new("web", PORTS, **options)
    item["metadata"].setdefault("labels", {}).update(labels or {})
    if finalizer:
        item["metadata"]["finalizers"] = [console.product.finalizer]
    console.world.kube.create(item)
    console.world.kube.patch("Service", "web", {"status": {"loadBalancer": {"ingress": list(ingress)}}}, subresource="status")


def person(console, **attributes):
    """A load balancer of the account that has neither tag nor name of the Service."""
    lb_id = console.product.make_lb("by-hand", attributes, {})[0]
    return console.lb(lb_id)


def reads(console, since=0):
    """How the list of load balancers was asked for: "tag", "name" or "all"."""
    return [next((how for parameter, how in BY[console.product.name].items() if parameter in call["params"]), "all")
            for call in console.world.cloud.calls(since) if call["action"] == LISTS[console.product.name]]


def serves(console, count=1):
    """Its own load balancer serves, and the status shows nothing else."""
    world = console.world
    world.wait(lambda: console.said("web", "EnsuredLoadBalancer"), "the load balancer", 30)
    world.settled()
    assert len(console.lbs()) == count
    uid = world.kube.get("Service", "web")["metadata"]["uid"]
    lb = next(one for one in console.lbs() if one["Tags"].get("kubernetes.do.not.delete") == default_name(uid))
    assert console.product.complete(lb, PORTS)
    shown = [{key: value for key, value in one.items() if key in ("ip", "hostname")} for one in world.kube.ingress("web")]
    assert shown == [console.product.status(lb)]
    assert world.kube.get("Service", "web")["metadata"]["labels"][ID_LABEL] == lb["LoadBalancerId"]


def reported(console, address, before, since=0):
    """As one whose load balancer is gone: the cloud and the status stay."""
    world = console.world
    world.wait(lambda: console.said("web", "SyncLoadBalancerFailed", f"{MISSING} [{address}]"), "the failure", 30)
    world.settled()
    assert console.writes(since) == [] and console.lbs() == before
    assert [one.get("ip", one.get("hostname")) for one in world.kube.ingress("web")] == [address]


@pytest.mark.parametrize("ingress", [[{"ip": IP}], [{"ip": IPV6}], [{"hostname": HOSTNAME}], [{"ip": IP}, {"ip": IPV6}]],
                         ids=["ip", "ipv6", "hostname", "two"])
def test_a_load_balancer_is_created(console, ingress):
    """One list of the account, however many addresses there are."""
    person(console)
    show(console, *ingress)
    since = console.world.cloud.mark()
    console.world.start_ccmd()
    serves(console, 2)
    assert reads(console, since) == ["tag", "name", "all"]
    assert console.said("web", "SyncLoadBalancerFailed") == [] and console.said("web", "LoadBalancerRecreated") == []


def test_an_earlier_process_has_left_its_finalizer(console):
    """It comes before the first load balancer, so it proves none: what failed is retried after a restart, too."""
    show(console, {"ip": IP}, finalizer=True)
    console.world.start_ccmd()
    serves(console)


def test_it_is_created_with_nothing_else_in_the_account(console):
    show(console, {"ip": IP})
    console.world.start_ccmd()
    serves(console)


# An address of a load balancer, as the status shows it.
ADDRESSES = {"clb": {"address": lambda lb: {"ip": lb["Address"]}, "IPv6": lambda lb: {"ip": respelt(lb["Address"])}},
             "nlb": {"hostname": lambda lb: {"hostname": lb["DNSName"]},
                     "public": lambda lb: {"ip": lb["ZoneMappings"][1]["PublicIPv4Address"]},
                     "private": lambda lb: {"ip": lb["ZoneMappings"][1]["PrivateIPv4Address"]},
                     "IPv6": lambda lb: {"ip": respelt(lb["ZoneMappings"][1]["Ipv6Address"])}}}


def respelt(ip):
    """The same address as another text."""
    return str(ipaddress.ip_address(ip).exploded)


def dual_stack(console):
    """Parameters for a load balancer with an IPv6 address."""
    if console.product.name == "clb":
        return {"AddressIPVersion": "ipv6"}
    zones = list(enumerate(ZONES, 1))
    console.world.cloud.http.request("POST", "/_sim/instances", {"vswitches": [
        {"id": f"vsw-6-{n}", "vpc": "vpc-test", "zone": zone, "cidr": f"10.6.{n}.0/24", "ipv6": f"2408:4005:1:{n}::/64"} for n, zone in zones]})
    return {"AddressIpVersion": "DualStack", **{f"ZoneMappings.{n}.ZoneId": zone for n, zone in zones},
            **{f"ZoneMappings.{n}.VSwitchId": f"vsw-6-{n}" for n, _ in zones}}


@pytest.mark.parametrize("console, what", [(product, what) for product, rows in ADDRESSES.items() for what in rows], indirect=["console"])
def test_one_of_the_account_has_the_address(console, what):
    address = ADDRESSES[console.product.name][what](person(console, **(dual_stack(console) if what == "IPv6" else {})))
    before = console.lbs()
    show(console, address)
    since = console.world.cloud.mark()
    console.world.start_ccmd()
    reported(console, next(iter(address.values())), before, since)
    assert reads(console, since)[:3] == ["tag", "name", "all"]


@pytest.mark.parametrize("mark", ["id", "hash", "reused"])
def test_labels_say_that_it_had_one(console, mark):
    """No read by address: what the status shows is its own, and lost."""
    label, value = {"id": (ID_LABEL, "lb-gone"), "hash": (HASH_LABEL, "0123456789"),
                    "reused": (f"ccm.alibabacloud.com/reused-{console.product.name}", "lb-gone")}[mark]
    show(console, {"ip": IP}, labels={label: value})
    console.world.start_ccmd()
    reported(console, IP, [])
    assert "all" not in reads(console)


@pytest.mark.parametrize("effect", [{"code": "Forbidden.RAM", "http": 403}, {"code": "ServiceUnavailable", "http": 503},
                                    {"body": "{}"}], ids=["refused", "fails", "no list"])
def test_a_read_that_fails_creates_nothing(console, effect):
    show(console, {"ip": IP})
    world = console.world
    since = world.cloud.mark()
    for parameter in BY[console.product.name]:  # these are answered
        world.cloud.fault(action=LISTS[console.product.name], params={parameter: "*"}, count=1000, delay_ms=1)
    world.cloud.fault(action=LISTS[console.product.name], count=1000, **effect)
    world.start_ccmd()
    world.wait(lambda: console.said("web", "SyncLoadBalancerFailed", f"the address in the status [{IP}]"), "the failure", 30)
    assert console.writes(since) == [] and console.lbs() == []
    assert world.kube.ingress("web")[0]["ip"] == IP
    world.cloud.clear_faults()
    world.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/note": "again"}}})
    serves(console)


def test_one_of_its_own_is_found_first(console):
    """By its tag: it is adopted as before, and no list of the account is read."""
    show(console, {"ip": IP})
    uid = console.world.kube.get("Service", "web")["metadata"]["uid"]
    console.product.make_lb(default_name(uid), {}, {"kubernetes.do.not.delete": default_name(uid), "ack.aliyun.com": "c-test"})
    console.world.start_ccmd()
    serves(console)
    assert "all" not in reads(console)
