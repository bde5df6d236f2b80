"""A value that cannot be used harms itself alone: load balancer and listeners stay, backends follow pods and nodes, and it is told."""

import copy

import pytest

from tests.support import objects, reference, scenario_look, views
from tests.support.products import PREFIX, Clb, Nlb
from tests.support.world import World

FAILS = "SyncLoadBalancerFailed"  # the Service fails: the attribute stays as it is
IDLE = "NoEffect"  # the annotation does nothing for the Service anyway
UNCLEAR = "UnclearValue"  # it means something else than it did before, and is left alone
TAKEN = None  # nothing is said

HTTP = {"protocol-port": "http:80", "health-check-flag": "on", "health-check-uri": "/ready"}
HTTPS = {"protocol-port": "https:80", "cert-id": "cert-valid"}
FORWARD = {"protocol-port": "http:80,https:443", "cert-id": "cert-valid", "forward-port": "80:443"}
TLS = {"protocol-port": "tcpssl:80", "cert-id": "101-cn-hangzhou"}
CHECKED = {"health-check-flag": "on", "health-check-interval": "7"}


def rows(told, annotations, base=None):
    """(what is told, annotation, value, annotations beside it) for each value of "a|b|c"."""
    return [(told, name, value, base or {}) for name, values in annotations.items() for value in values.split("|")]


CLB_ROWS = [
    # For other protocols than TCP: nothing can go wrong.
    *rows(IDLE, {
        "idle-timeout": "999|abc|-1", "request-timeout": "999|1m", "cookie": "a b|$x", "sticky-session": "maybe|true",
        "sticky-session-type": "both|Insert", "cookie-timeout": "0x10|86401", "http2-enabled": "yes|true", "tls-cipher-policy": "x|1.2",
        "xforwardedfor-proto": "yes|true", "xforwardedfor-slbport": "1|ON", "xforwardedfor-clientsrcport": "true|enabled",
        "health-check-method": "post|GET", "health-check-flag": "maybe|true", "health-check-timeout": "999|5s",
        "weight": "500|abc|-1", "backend-ip-version": "v6"}),
    # As little asked for as under the controller before.
    *rows(TAKEN, {"bandwidth": "0", "domain-extensions": "a", "forward-port": "x", "proxy-protocol": "yes", "hostname": ""}),
    *rows(FAILS, {
        "external-ip-type": "EIP|none", "address-type": "Internet|public", "network-type": "alibaba|VPC", "delete-protection": "yes|ON",
        "modification-protection": "off|nonprotection", "charge-type": "PayByTraffic", "bandwidth": "abc|6000|10M",
        "instance-charge-type": "x", "ip-version": "v4|6", "scheduler": "RR|least", "persistence-timeout": "abc|9999",
        "established-timeout": "5|901", "connection-drain": "yes|true", "connection-drain-timeout": "5|1m", "acl-status": "yes|on",
        "acl-type": "whitelist", "health-check-switch": "true|maybe", "health-check-type": "udp|HTTP", "health-check-uri": "noslash",
        "health-check-domain": "a_b", "health-check-httpcode": "200|http_200", "health-check-connect-port": "70000|-1",
        "health-check-interval": "60|2s", "healthy-threshold": "1", "unhealthy-threshold": "11",
        "health-check-connect-timeout": "0x5|301", "default-weight": "101|abc", "protocol-port": "http:80;https:443|tcp80|quic:80",
        "additional-resource-tags": "k" * 70 + "=v"}),
    *rows(FAILS, {
        "idle-timeout": "999|abc", "health-check-method": "post", "health-check-uri": "noslash", "sticky-session": "maybe|on",
        "xforwardedfor-proto": "yes", "forward-port": "80|80:443", "protocol-port": "http/80"}, HTTP),
    *rows(FAILS, {"tls-cipher-policy": "x", "http2-enabled": "yes", "domain-extensions": "a"}, HTTPS),
    *rows(FAILS, {"forward-port": "80|80:444"}, FORWARD),
]

SWITCHES = ("proxy-protocol", "ppv2-pvl-ep-id-enabled", "ppv2-pvl-eps-id-enabled", "ppv2-pvl-vpc-id-enabled", "connection-drain",
            "preserve-client-ip", "health-check-flag", "ignore-weight-update", "remove-unscheduled-backend")
NLB_ROWS = [
    *rows(FAILS, {switch: "yes|1|enabled" for switch in SWITCHES}),
    *rows(UNCLEAR, {switch: "true|True" for switch in SWITCHES}),
    *rows(UNCLEAR, {"delete-protection": "off|False", "modification-protection": "NonProtection", "remove-unscheduled-backend": "ON"}),
    *rows(IDLE, {
        "cacert": "yes|1", "alpn": "yes|1", "alpn-policy": "x", "health-check-interval": "999", "health-check-type": "icmp",
        "health-check-connect-port": "70000", "healthy-threshold": "1", "unhealthy-threshold": "11",
        "health-check-connect-timeout": "0x5", "health-check-domain": "a_b", "health-check-uri": "noslash",
        "health-check-method": "post", "health-check-httpcode": "200", "connection-drain-timeout": "1m", "weight": "500|abc",
        "vgroup-port": "sgp-1", "force-override-listeners": "True|yes", "backend-ip-version": "v6"}),
    *rows(TAKEN, {"cross-zone-enabled": "ON|On", "proxy-protocol": "OFF|False", "delete-protection": "on", "tls-cipher-policy": "x"}),
    *rows(FAILS, {
        "zone-maps": "cn-hangzhou-h|cn-hangzhou-h:vsw-a,cn-hangzhou-h:vsw-a", "address-type": "public", "ip-version": "v4|ipv6",
        "ipv6-address-type": "public", "name": "1x", "security-group-ids": "sg-1,sg-2,sg-3,sg-4,sg-5",
        "cross-zone-enabled": "yes|true|1", "delete-protection": "yes|1", "modification-protection": "off|on",
        "protocol-port": "tcp:80;udp:90|tcp80|quic:80", "listener-port-range": "80|1-2", "idle-timeout": "9|1m", "cps": "x|-1",
        "scheduler": "least", "default-weight": "101|abc", "additional-resource-tags": "k" * 70 + "=v"}),
    *rows(FAILS, {"health-check-interval": "999|x", "health-check-type": "icmp", "health-check-flag": "yes",
                  "health-check-uri": "noslash"}, CHECKED),
    *rows(FAILS, {"cacert": "yes", "alpn": "yes", "protocol-port": "tcpssl;80"}, TLS),
    *rows(UNCLEAR, {"alpn": "true", "cacert": "True"}, TLS),
]
WORDS = {"bandwidth": "bandwidth", "persistence-timeout": "persistence timeout", "established-timeout": "EstablishedTimeout",
         "connection-drain-timeout": "ConnectionDrainTimeout", "health-check-connect-port": "onnect", "default-weight": "default weight",
         "health-check-interval": "nterval", "healthy-threshold": "HealthyThreshold", "unhealthy-threshold": "UnhealthyThreshold",
         "health-check-connect-timeout": "HealthCheckConnectTimeout", "protocol-port": "port", "idle-timeout": "IdleTimeout",
         "forward-port": "ForwardPort", "domain-extensions": "DomainExtensions", "zone-maps": "ZoneMapping", "cps": "Mss",
         "ipv6-address-type": "ipv6 address type", "cross-zone-enabled": "cross zone", "listener-port-range": "port range"}
PLUGINS = {"clb": Clb, "nlb": Nlb}
TABLES = {"clb": CLB_ROWS, "nlb": NLB_ROWS}


def name_of(number):
    return f"web-{number}"


def place(world, number, product, ports, base):
    """A Service of the row, with pods on node 1 and 2."""
    service = world.kube.create(product.new(name_of(number), ports, policy="Local",
                                            annotations={PREFIX + key: value for key, value in base.items()}))
    world.kube.create(objects.endpoint_slice(service, [(f"10.1.{number}.1", "node-1"), (f"10.1.{number}.2", "node-2")]))


def move(world, number, *hosts):
    """A rollout: other pods, on these nodes."""
    name = name_of(number)
    slice_ = objects.endpoint_slice(world.kube.get("Service", name), [
        (f"10.2.{number}.{host}", f"node-{host}") for host in hosts])
    world.kube.replace(slice_)


def balancers(world, product):
    """Name of the Service -> its load balancer."""
    owners = {reference.default_name(one): one["metadata"]["name"] for one in world.kube.items("Service")}
    return {owners[lb["Tags"]["kubernetes.do.not.delete"]]: lb for lb in product.find(world)}


def servers(lb):
    return [sorted(server.removeprefix("i-") for server, _, _ in group["servers"]) for group in lb["Groups"]]


def without_backends(lb):
    lb = copy.deepcopy(lb)
    for group in lb["Groups"]:
        for member in ("servers", "Servers", "BackendServers", "ServerCount"):
            group.pop(member, None)
    lb.pop("VServerGroups", None)
    return lb


def follow(world, product, table, hosts):
    """All Services have backends on exactly these nodes."""
    wanted = [f"node-{host}" for host in hosts]

    def late():
        found = balancers(world, product)
        return [(name_of(n), table[n][1:3], servers(found[name_of(n)])) for n in range(len(table))
                if any(group != wanted for group in servers(found[name_of(n)]))]

    try:
        world.wait(lambda: not late(), f"backends on {wanted}", timeout=30, every=0.3)
    except AssertionError:
        assert not late()
        raise


def warnings(world):
    found = {}
    for event in world.kube.items("Event"):
        if event["type"] == "Warning":
            found.setdefault(event["involvedObject"]["name"], []).append((event["reason"], event["message"]))
    return found


def ports_of(row):
    return ((80, "TCP"), (443, "TCP")) if row[3] is FORWARD else ((80, "TCP"),)


@pytest.fixture
def world(build, tmp_path, product):
    with World(build, tmp_path, cloud_args=product.allow(200)) as instance:
        yield instance


@pytest.fixture(params=["clb", "nlb"])
def product(request):
    return PLUGINS[request.param]()


@pytest.fixture
def table(product):
    return TABLES[product.name]


def set_up(world, product, table):
    product.configure(world, unlimited=True)
    views.nodes(world, 3)
    world.start_ccmd()
    for number, row in enumerate(table):
        place(world, number, product, ports_of(row), row[3])
    world.wait(lambda: len(product.find(world)) == len(table) and all(world.kube.ingress(name_of(n)) for n in range(len(table))),
               "all load balancers", timeout=60, every=0.5)
    world.settled()


def is_told(row, events):
    """The event of the row is there, and no other Warning."""
    told, name, _, _ = row
    words = (name, WORDS.get(name, name)) if told == FAILS else (name,)
    return not events if told is TAKEN else (
        len(events) == 1 and events[0][0] == told and any(word in events[0][1] for word in words))


def test_a_person_writes_it_on_a_working_service(world, product, table):
    set_up(world, product, table)
    before = balancers(world, product)
    for number, (_, name, value, _) in enumerate(table):
        world.kube.patch("Service", name_of(number), {"metadata": {"annotations": {PREFIX + name: value}}})
    world.wait(lambda: sum(len(events) for events in warnings(world).values()) >= sum(row[0] is not TAKEN for row in table),
               "all that is told", timeout=60, every=0.5)
    world.settled()
    events = warnings(world)
    wrong = [(row, events.get(name_of(n))) for n, row in enumerate(table) if not is_told(row, events.get(name_of(n), []))]
    assert not wrong, wrong
    assert all(len(message) <= 1024 for found in events.values() for _, message in found)
    now = balancers(world, product)
    assert {name: without_backends(lb) for name, lb in now.items()} == {name: without_backends(lb) for name, lb in before.items()}
    # Other pods, on other nodes.
    for number in range(len(table)):
        move(world, number, 2, 3)
    follow(world, product, table, (2, 3))
    # A node goes, and its pods come up on another one.
    world.kube.delete("Node", "node-2")
    for number in range(len(table)):
        move(world, number, 1, 3)
    follow(world, product, table, (1, 3))
    world.settled()
    now = balancers(world, product)
    assert {name: without_backends(lb) for name, lb in now.items()} == {name: without_backends(lb) for name, lb in before.items()}


def test_a_cluster_that_has_them_is_taken_over(world, product, table):
    """The controller before had its own way with them and was content: no write, and the backends go on."""
    set_up(world, product, table)
    world.stop_ccmd()
    for number, (_, name, value, _) in enumerate(table):
        service = world.kube.patch("Service", name_of(number), {"metadata": {"annotations": {PREFIX + name: value}}})
        world.kube.patch("Service", name_of(number), {"metadata": {"labels": {
            reference.HASH_LABEL: reference.service_hash(service)}}})
    before = product.find(world)
    cloud = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: sum(1 for found in warnings(world).values() if found) >= sum(row[0] == FAILS for row in table),
               "all that is told", timeout=60, every=0.5)
    world.settled()
    writes = [action for action in world.cloud.actions(cloud) if not scenario_look.is_read(action)]
    assert writes == []
    assert product.find(world) == before
    for number in range(len(table)):
        move(world, number, 2, 3)
    follow(world, product, table, (2, 3))
