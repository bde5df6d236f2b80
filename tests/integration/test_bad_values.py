"""A value that cannot be used harms itself alone: load balancer and listeners stay, backends follow pods and nodes, and it is told."""

import copy

import pytest

from tests.support import objects, reference, scenario_look, service_hash, views
from tests.support.products import PREFIX, Clb, Nlb
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
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
        "weight": "500|abc|-1", "backend-ip-version": "v6",
        "domain-extensions": "a", "forward-port": "x"}),
    # As little asked for as under the controller before.
    *rows(TAKEN, {"bandwidth": "0", "hostname": ""}),
    *rows(IDLE, {"proxy-protocol": "yes"}),
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
        "vgroup-port": "sgp-1", "force-override-listeners": "True|yes", "backend-ip-version": "v6", "tls-cipher-policy": "x"}),
    *rows(TAKEN, {"cross-zone-enabled": "ON|On", "proxy-protocol": "OFF|False", "delete-protection": "on"}),
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
        world.kube.patch("Service", name_of(number), {"metadata": {"annotations": {PREFIX + name: value},
                                                                   "labels": {reference.HASH_LABEL: reference.HASH}}})
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


MANY = {
    "clb": ("bandwidth", "charge_type", "address_type", "delete_protection", "modification_protection", "scheduler",
            "established_timeout", "persistence_timeout", "health_check_type", "health_check_connect_port",
            "health_check_interval", "healthy_threshold", "unhealthy_threshold", "health_check_connect_timeout", "acl_type",
            "connection_drain", "instance_charge_type", "default_weight", "ip_version"),
    "nlb": ("address_type", "ip_version", "ipv6_address_type", "cross_zone_enabled", "delete_protection", "modification_protection",
            "idle_timeout", "cps", "proxy_protocol", "scheduler", "connection_drain", "preserve_client_ip",
            "health_check_flag", "default_weight"),
}

# --- one Service ----------------------------------------------------------------------------------------------------


def annotate(world, **annotations):
    """Names with _ for -."""
    world.kube.patch("Service", name_of(0), {"metadata": {"annotations": {
        PREFIX + name.replace("_", "-"): value for name, value in annotations.items()}}})


def told(world, *words):
    return world.wait(lambda: [message for _, message in warnings(world).get(name_of(0), []) if all(word in message for word in words)],
                      f"a Warning with {words}")


def one(world, product, ports=((80, "TCP"),), options="", **annotations):
    """A Service that works, with pods on two of three nodes."""
    product.configure(world, unlimited=True, options=options)
    views.nodes(world, 3)
    world.start_ccmd()
    place(world, 0, product, ports, {name.replace("_", "-"): value for name, value in annotations.items()})
    world.wait(lambda: world.kube.ingress(name_of(0)) and servers(product.only(world)) == len(ports) * [["node-1", "node-2"]],
               "the load balancer")
    world.settled()


def hash_is_current(world):
    return service_hash.is_current(world.kube.get("Service", name_of(0)))


def test_all_of_them_are_told_at_once_and_nothing_is_made(world, product):
    product.configure(world)
    views.nodes(world, 2)
    world.start_ccmd()
    place(world, 0, product, ((80, "TCP"),), {"address-type": "public", "default-weight": "101", "scheduler": "least"})
    message, = told(world, "address-type", "default weight", "scheduler")
    assert message.count("; ") == 2
    world.settled()
    assert product.find(world) == [] and [a for a in world.cloud.actions() if not scenario_look.is_read(a)] == []
    assert not world.kube.get("Service", name_of(0))["metadata"].get("finalizers")
    annotate(world, address_type=None, default_weight=None, scheduler=None)
    world.wait(lambda: world.kube.ingress(name_of(0)), "the load balancer")


def test_a_value_of_any_length_and_alphabet_is_told(world, product):
    """An event takes so many bytes, wherever in a character that ends, and whatever a value quotes."""
    one(world, product)
    for number in range(8):
        value = f"v{number}" + "x" * number + '\n"\\\u2028' + "\U0001f600" * 600
        annotate(world, scheduler=value)
        message = told(world, f"got [v{number}")[0]
        assert len(message.encode()) <= 1024 and "\ufffd" not in message
    annotate(world, scheduler=None)
    world.wait(lambda: hash_is_current(world), "the end")


def test_very_many_bad_values_are_told(world, product):
    """All are named, the Service stays as it is, and its backends follow."""
    one(world, product)
    annotate(world, **dict.fromkeys(MANY[product.name], "\u00fc" * 500))
    message = told(world, "annotations that cannot be used: ")[0]
    assert len(message.encode()) <= 1024 and message.count("; ") >= len(MANY[product.name]) - 1, message
    move(world, 0, 2, 3)
    world.wait(lambda: servers(product.only(world)) == [["node-2", "node-3"]], "the rollout")


@pytest.mark.parametrize("bad", [{"backend_label": "pool"}, {"backend_label": "=x"}])
def test_a_label_that_cannot_be_used_adds_no_node(world, product, bad):
    """It may exclude any node that is new. Nodes leave, but not the last ones."""
    one(world, product)
    annotate(world, **bad)
    told(world, "label")
    move(world, 0, 2, 3)
    world.wait(lambda: servers(product.only(world)) == [["node-2"]], "node 1 to leave")
    world.settled()
    assert servers(product.only(world)) == [["node-2"]]
    move(world, 0, 3)
    world.wait(lambda: [message for reason, message in warnings(world).get(name_of(0), []) if reason == "SkipSyncBackends"], "the Warning")
    world.settled()
    assert servers(product.only(world)) == [["node-2"]]
    move(world, 0, 2, 3)
    annotate(world, **dict.fromkeys(bad))
    world.wait(lambda: servers(product.only(world)) == [["node-2", "node-3"]] and hash_is_current(world), "the rollout")


def test_other_annotations_go_on_beside_it(world, product):
    one(world, product)
    annotate(world, scheduler="least", idle_timeout="x", name="shop", additional_resource_tags="team=a")
    told(world, "scheduler")
    world.wait(lambda: product.only(world)["LoadBalancerName"] == "shop" and product.only(world)["Tags"].get("team") == "a",
               "name and tag")
    annotate(world, scheduler=None, idle_timeout=None)
    world.wait(lambda: hash_is_current(world), "success")


def test_a_new_listener_waits_for_a_value_that_it_needs(world, product):
    one(world, product)
    annotate(world, scheduler="least")
    told(world, "scheduler")
    port = world.kube.get("Service", name_of(0))["spec"]["ports"][0]
    other = {"name": "other", "port": 81, "protocol": "TCP", "targetPort": 8081}
    world.kube.patch("Service", name_of(0), {"spec": {"ports": [other]}})
    world.settled()
    assert [listener["key"] for listener in product.only(world)["Listeners"]] == ["80/tcp"]
    annotate(world, scheduler=None)
    world.wait(lambda: [listener["key"] for listener in product.only(world)["Listeners"]] == ["81/tcp"] and hash_is_current(world),
               f"81 instead of {port['port']}")


def test_a_port_whose_protocol_cannot_be_told_keeps_its_listener(world, product):
    one(world, product, ports=((80, "TCP"), (443, "TCP")))
    annotate(world, protocol_port="tcp:80,quic:443")
    told(world, "quic")
    port = world.kube.get("Service", name_of(0))["spec"]["ports"][1]
    world.kube.patch("Service", name_of(0), {"spec": {"ports": [port]}})  # the other one may go: nothing is open about it
    world.wait(lambda: [listener["key"] for listener in product.only(world)["Listeners"]] == ["443/tcp"], "443 alone")
    move(world, 0, 2, 3)

    def served():
        lb = product.only(world)
        used = [group for group in lb["Groups"] if group["id"] == lb["Listeners"][0]["group"]]
        return servers({"Groups": used})

    world.wait(lambda: served() == [["node-2", "node-3"]], "the rollout")


# --- what NLB sets back to a default when an annotation goes --------------------------------------------------------


@pytest.fixture
def nlb(build, tmp_path):
    with World(build, tmp_path) as instance:
        yield instance


def test_a_switch_that_was_on_stays_on(nlb):
    product = Nlb()
    one(nlb, product, proxy_protocol="on", health_check_flag="on", health_check_interval="7", cross_zone_enabled="off")

    def holds():
        lb = product.only(nlb)
        group = lb["Groups"][0]
        return (lb["Listeners"][0]["ProxyProtocolEnabled"], group["HealthCheckInterval"], lb["CrossZoneEnabled"])

    before = holds()
    assert [str(value).lower() for value in before] == ["true", "7", "false"]
    annotate(nlb, proxy_protocol="yes", health_check_flag="yes", cross_zone_enabled="no")
    told(nlb, "proxy-protocol", "health-check-flag", "cross zone")
    nlb.settled()
    assert holds() == before
    annotate(nlb, proxy_protocol="true", health_check_flag="true", cross_zone_enabled="OFF")
    nlb.wait(lambda: hash_is_current(nlb), "success")
    assert holds() == before
    annotate(nlb, proxy_protocol=None, health_check_flag=None, health_check_interval=None, cross_zone_enabled=None)
    nlb.wait(lambda: [str(value).lower() for value in holds()] == ["false", "5", "true"], "the defaults")


# --- weights of a load balancer that several Services share ---------------------------------------------------------


def test_a_bad_weight_keeps_the_weights(build, tmp_path):
    with World(build, tmp_path) as world:
        product = Clb()
        product.configure(world, unlimited=True)
        views.nodes(world, 3)
        builder = reference.Builder(world)
        lb = builder.call("CreateLoadBalancer", AddressType="internet", LoadBalancerName="mine",
                          InstanceChargeType="PayByCLCU")["LoadBalancerId"]
        group = builder.call("CreateVServerGroup", LoadBalancerId=lb, VServerGroupName="mine")["VServerGroupId"]
        world.start_ccmd()
        place(world, 0, product, ((80, "TCP"),), {"id": lb, "vgroup-port": f"{group}:80", "weight": "20"})

        def weights():
            return {server.removeprefix("i-"): weight for server, _, weight in product.only(world)["Groups"][0]["servers"]}

        world.wait(lambda: weights() == {"node-1": 10, "node-2": 10}, "the share of each")
        annotate(world, weight="20%")
        told(world, "weight")
        move(world, 0, 2, 3)
        world.wait(lambda: weights() == {"node-2": 10, "node-3": 10}, "the rollout")
        annotate(world, weight="40")
        world.wait(lambda: weights() == {"node-2": 20, "node-3": 20}, "the new share")
