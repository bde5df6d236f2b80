"""Listeners of every protocol against the simulated cloud: created, changed one annotation at a time, forwarded,
certified, refused."""

import pytest

from tests.support import objects, views

P = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
FOUR = ((80, "TCP"), (53, "UDP"), (8080, "TCP"), (443, "TCP"))
PROTOCOLS = {"protocol-port": "http:8080,https:443", "cert-id": "cert-valid"}
WRITES = ("Create", "Set", "Delete", "Start", "Add", "Remove", "Tag", "Modify")


def keys(annotations):
    return {P + name: value for name, value in annotations.items()}


def listener(world, port, protocol):
    lb = views.only_lb(world)
    found = [
        one for one in (lb or {}).get("Listeners", [])
        if int(one["ListenerPort"]) == port and one["ListenerProtocol"] == protocol
    ]
    return found[0] if found else None


def matches(world, expected):
    """expected: {(port, protocol): {field: value as text, None = absent or empty}}"""
    for (port, protocol), fields in expected.items():
        one = listener(world, port, protocol)
        if one is None or one["Status"] != "running":
            return False
        for field, value in fields.items():
            got = one.get(field)
            if str(got if got is not None else "") != (value or ""):
                return False
    return True


def quiet(world, mark):
    """What was written since the mark, once nothing moves any more."""
    world.settled()
    return [action for action in world.cloud.actions(mark) if action.startswith(WRITES)]


def ensured(world, name="web"):
    return [e for e in world.kube.events(name) if e[1] == "EnsuredLoadBalancer"]


def start(world, ports, annotations, name="web", **spec):
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(objects.service(name, ports, annotations=keys(annotations), **spec))


def up(world, ports, annotations, expected, **spec):
    start(world, ports, annotations, **spec)
    world.wait(lambda: matches(world, expected) and ensured(world), "the listeners")
    world.settled()


def annotate(world, annotations, name="web"):
    world.kube.patch("Service", name, {"metadata": {"annotations": keys(annotations)}})


def change(world, annotations, expected, what):
    """Returns the writes it took; a further look finds nothing to do."""
    mark = world.cloud.mark()
    annotate(world, annotations)
    world.wait(lambda: matches(world, expected), what)
    return quiet(world, mark)


def warning(world, text, name="web"):
    return world.wait(
        lambda: [e for e in world.kube.events(name) if e[0] == "Warning" and text in e[2]], f"a warning with {text}"
    )


def set_ports(world, ports):
    service = world.kube.get("Service", "web")
    service["spec"]["ports"] = objects.service("web", ports)["spec"]["ports"]
    world.kube.replace(service)


# scenario 90
def test_four_protocols(world):
    up(world, FOUR, PROTOCOLS, {
        (80, "tcp"): {"Scheduler": "rr", "Bandwidth": "-1"},
        (53, "udp"): {"Scheduler": "rr", "Bandwidth": "-1"},
        (8080, "http"): {"Scheduler": "rr", "HealthCheck": "off", "StickySession": "off"},
        (443, "https"): {"Scheduler": "rr", "HealthCheck": "off", "ServerCertificateId": "cert-valid"},
    })
    lb = views.only_lb(world)
    assert views.listeners(lb) == [
        (53, "udp", "running"), (80, "tcp", "running"), (443, "https", "running"), (8080, "http", "running"),
    ]
    assert len(lb["VServerGroups"]) == 4
    for one in lb["Listeners"]:
        assert one["Description"] == f"k8s/{one['ListenerPort']}/web/default/c-test"
    world.kube.delete("Service", "web")
    world.wait(lambda: not world.cloud.load_balancers() and world.kube.get("Service", "web") is None, "deletion")


TCP, UDP, HTTP, HTTPS = (80, "tcp"), (53, "udp"), (8080, "http"), (443, "https")
SET = {
    TCP: "SetLoadBalancerTCPListenerAttribute",
    UDP: "SetLoadBalancerUDPListenerAttribute",
    HTTP: "SetLoadBalancerHTTPListenerAttribute",
    HTTPS: "SetLoadBalancerHTTPSListenerAttribute",
}
L4, L7, ALL = (TCP, UDP), (HTTP, HTTPS), (TCP, UDP, HTTP, HTTPS)

# scenarios 45, 48 to 52, 56, 61: before, after, listeners that change, field, values before and after
CHANGES = [
    ({"scheduler": "rr"}, {"scheduler": "wrr"}, ALL, "Scheduler", "rr", "wrr"),
    ({"http2-enabled": "on"}, {"http2-enabled": "off"}, (HTTPS,), "EnableHttp2", "on", "off"),
    ({"tls-cipher-policy": "tls_cipher_policy_1_1"}, {"tls-cipher-policy": "tls_cipher_policy_1_2"}, (HTTPS,),
     "TLSCipherPolicy", "tls_cipher_policy_1_1", "tls_cipher_policy_1_2"),
    ({"idle-timeout": "10"}, {"idle-timeout": "40"}, L7, "IdleTimeout", "10", "40"),
    ({"request-timeout": "100"}, {"request-timeout": "180"}, L7, "RequestTimeout", "100", "180"),
    ({"sticky-session": "on", "sticky-session-type": "insert", "cookie-timeout": "1800"}, {"cookie-timeout": "100"},
     L7, "CookieTimeout", "1800", "100"),
    ({"sticky-session": "on", "sticky-session-type": "server", "cookie": "A"}, {"cookie": "B"},
     L7, "Cookie", "A", "B"),
    ({"sticky-session": "on", "sticky-session-type": "insert", "cookie-timeout": "1800"}, {"sticky-session": "off"},
     L7, "StickySession", "on", "off"),
    ({"sticky-session": "on", "sticky-session-type": "insert", "cookie-timeout": "1800"},
     {"sticky-session-type": "server", "cookie": "B"}, L7, "StickySessionType", "insert", "server"),
    ({"xforwardedfor-proto": "on"}, {"xforwardedfor-proto": "off"}, L7, "XForwardedFor_proto", "on", "off"),
    ({"xforwardedfor-slbport": "on"}, {"xforwardedfor-slbport": "off"}, L7, "XForwardedFor_SLBPORT", "on", "off"),
    ({"xforwardedfor-clientsrcport": "on"}, {"xforwardedfor-clientsrcport": "off"}, L7,
     "XForwardedFor_ClientSrcPort", "on", "off"),
    ({"persistence-timeout": "0"}, {"persistence-timeout": "1000"}, (TCP,), "PersistenceTimeout", "0", "1000"),
    ({"established-timeout": "20"}, {"established-timeout": "10"}, (TCP,), "EstablishedTimeout", "20", "10"),
    ({"health-check-type": "http"}, {"health-check-type": "tcp"}, (TCP,), "HealthCheckType", "http", "tcp"),
    ({"health-check-switch": "on"}, {"health-check-switch": "off"}, L4, "HealthCheck", "on", "off"),
    ({"health-check-flag": "on"}, {"health-check-flag": "off"}, L7, "HealthCheck", "on", "off"),
    ({"health-check-interval": "3"}, {"health-check-interval": "5"}, ALL, "HealthCheckInterval", "3", "5"),
    ({"healthy-threshold": "4"}, {"healthy-threshold": "6"}, ALL, "HealthyThreshold", "4", "6"),
    ({"unhealthy-threshold": "4"}, {"unhealthy-threshold": "6"}, ALL, "UnhealthyThreshold", "4", "6"),
    ({"health-check-connect-port": "8000"}, {"health-check-connect-port": "8001"}, ALL, "HealthCheckConnectPort",
     "8000", "8001"),
    ({"health-check-connect-timeout": "6"}, {"health-check-connect-timeout": "7"}, L4, "HealthCheckConnectTimeout",
     "6", "7"),
    ({"health-check-timeout": "6"}, {"health-check-timeout": "7"}, L7, "HealthCheckTimeout", "6", "7"),
    ({"health-check-flag": "on", "health-check-method": "head"}, {"health-check-method": "get"}, L7,
     "HealthCheckMethod", "head", "get"),
    ({"health-check-type": "http", "health-check-flag": "on", "health-check-uri": "/a"}, {"health-check-uri": "/b"},
     (TCP, HTTP, HTTPS), "HealthCheckURI", "/a", "/b"),
    ({"health-check-type": "http", "health-check-flag": "on", "health-check-domain": "a.com"},
     {"health-check-domain": "b.com"}, (TCP, HTTP, HTTPS), "HealthCheckDomain", "a.com", "b.com"),
    ({"health-check-type": "http", "health-check-flag": "on", "health-check-httpcode": "http_2xx"},
     {"health-check-httpcode": "http_2xx,http_3xx"}, (TCP, HTTP, HTTPS), "HealthCheckHttpCode", "http_2xx",
     "http_2xx,http_3xx"),
    ({"connection-drain": "on", "connection-drain-timeout": "10"}, {"connection-drain-timeout": "60"}, L4,
     "ConnectionDrainTimeout", "10", "60"),
    ({"connection-drain": "on", "connection-drain-timeout": "10"}, {"connection-drain": "off"}, L4,
     "ConnectionDrain", "on", "off"),
    ({"proxy-protocol": "off"}, {"proxy-protocol": "on"}, L4, "ProxyProtocolV2Enabled", "false", "true"),
]


@pytest.mark.parametrize("before, after, who, field, was, becomes", CHANGES,
                         ids=["-".join(case[1]) + "-" + case[5].replace("/", "") for case in CHANGES])
def test_changed_in_one_call_each(world, before, after, who, field, was, becomes):
    up(world, FOUR, {**PROTOCOLS, **before}, {key: {field: was} for key in who})
    writes = change(world, after, {key: {field: becomes} for key in who}, f"{field} {becomes}")
    assert sorted(writes) == sorted(SET[key] for key in who)

    # the same after a restart: what the cloud tells is what is wanted
    mark = world.cloud.mark()
    world.stop_ccmd()
    world.start_ccmd()
    world.wait(lambda: "DescribeLoadBalancerListeners" in world.cloud.actions(mark), "the first pass")
    assert quiet(world, mark) == []

    # and without the annotation: what is there stays (W31)
    mark = world.cloud.mark()
    annotate(world, {name: None for name in {**before, **after}})
    assert quiet(world, mark) == []
    assert matches(world, {key: {field: becomes} for key in who})


# scenario 46
def test_access_control(world):
    acls = [
        world.cloud.edit("call", product="slb", action="CreateAccessControlList",
                         params={"AclName": name})["answer"]["AclId"]
        for name in ("one", "two")
    ]
    up(world, FOUR, {**PROTOCOLS, "acl-status": "on", "acl-id": acls[0], "acl-type": "white"},
       {key: {"AclStatus": "on", "AclId": acls[0], "AclType": "white"} for key in ALL})
    change(world, {"acl-type": "black"}, {key: {"AclType": "black"} for key in ALL}, "black")
    change(world, {"acl-id": acls[1]}, {key: {"AclId": acls[1]} for key in ALL}, "the other list")
    change(world, {"acl-status": "off"}, {key: {"AclStatus": "off"} for key in ALL}, "off")
    mark = world.cloud.mark()
    annotate(world, {"acl-status": "on", "acl-id": None})
    warning(world, "acl-id is required")
    assert quiet(world, mark) == []


# scenario 54
def test_certificates(world):
    world.cloud.edit("update", type="server_certificate", id="cert-expired",
                     attributes={"ExpireTimeStamp": "4102444800000"})
    up(world, ((443, "TCP"),), {"protocol-port": "https:443", "cert-id": "cert-valid"},
       {HTTPS: {"ServerCertificateId": "cert-valid"}})
    mark = world.cloud.mark()
    annotate(world, {"cert-id": "cert-expired"})
    world.wait(lambda: matches(world, {HTTPS: {"ServerCertificateId": "cert-expired"}}), "the other certificate")
    world.settled()
    assert world.cloud.actions(mark) == [
        "DescribeLoadBalancers", "DescribeLoadBalancerListeners", "DescribeVServerGroups", "DescribeVServerGroupAttribute",
        "DescribeServerCertificates", "DescribeServerCertificates", "SetLoadBalancerHTTPSListenerAttribute"]
    annotate(world, {"cert-id": "cert-valid"})
    world.wait(lambda: matches(world, {HTTPS: {"ServerCertificateId": "cert-valid"}}), "back")
    world.settled()

    world.cloud.edit("update", type="server_certificate", id="cert-expired", attributes={"ExpireTimeStamp": "1000"})
    mark = world.cloud.mark()
    annotate(world, {"cert-id": "cert-expired"})
    warning(world, "can not update cert cert-expired because it is expired")
    annotate(world, {"cert-id": "nowhere"})
    warning(world, "can not found cert by id nowhere")
    assert quiet(world, mark) == []
    assert matches(world, {HTTPS: {"ServerCertificateId": "cert-valid"}})


def test_unknown_certificate_at_creation(world):
    start(world, ((443, "TCP"),), {"protocol-port": "https:443", "cert-id": "nowhere"})
    warning(world, "port 443/https: create listener")


# scenario 55
def test_domain_extensions(world):
    def domains():
        return sorted((d["Domain"], d["ServerCertificateId"]) for d in extensions(world))

    world.cloud.edit("update", type="server_certificate", id="cert-expired",
                     attributes={"ExpireTimeStamp": "4102444800000"})
    up(world, ((443, "TCP"),),
       {"protocol-port": "https:443", "cert-id": "cert-valid", "domain-extensions": "a.example.com:cert-valid"},
       {HTTPS: {}})
    assert domains() == [("a.example.com", "cert-valid")]
    mark = world.cloud.mark()
    annotate(world, {"domain-extensions": "a.example.com:cert-expired, b.example.com:cert-valid"})
    world.wait(lambda: domains() == [("a.example.com", "cert-expired"), ("b.example.com", "cert-valid")], "both")
    assert quiet(world, mark) == ["SetDomainExtensionAttribute", "CreateDomainExtension"]

    mark = world.cloud.mark()
    world.stop_ccmd()
    world.start_ccmd()
    world.wait(lambda: "DescribeDomainExtensions" in world.cloud.actions(mark), "the first pass")
    assert quiet(world, mark) == []

    mark = world.cloud.mark()
    annotate(world, {"domain-extensions": "b.example.com:cert-valid"})
    world.wait(lambda: domains() == [("b.example.com", "cert-valid")], "one less")
    assert quiet(world, mark) == ["DeleteDomainExtension"]
    annotate(world, {"domain-extensions": ""})
    world.wait(lambda: domains() == [], "none left")


def extensions(world):
    lb = views.only_lb(world)
    answer = world.cloud.edit("call", product="slb", action="DescribeDomainExtensions",
                              params={"LoadBalancerId": lb["LoadBalancerId"], "ListenerPort": "443"})
    return answer["answer"]["DomainExtensions"]["DomainExtension"]


# scenario 57
def test_forwarding(world):
    http, https, other = (80, "http"), (443, "https"), (444, "https")
    ports = ((80, "TCP"), (443, "TCP"))
    base = {"protocol-port": "http:80,https:443,https:444", "cert-id": "cert-valid"}
    up(world, ports, {**base, "forward-port": "80:443"},
       {http: {"ListenerForward": "on", "ForwardPort": "443"}, https: {}})
    assert change(world, {"forward-port": ""}, {http: {"ListenerForward": "off"}}, "no forward") == [
        "DeleteLoadBalancerListener", "CreateLoadBalancerHTTPListener", "StartLoadBalancerListener"]
    change(world, {"forward-port": "80:443"}, {http: {"ListenerForward": "on"}}, "forward again")

    mark = world.cloud.mark()
    annotate(world, {"forward-port": "80,443"})
    warning(world, "forward port format error: 80,443, expect 80:443,88:6443")
    annotate(world, {"forward-port": "80:444"})
    warning(world, "no https port of this Service")
    assert quiet(world, mark) == []

    set_ports(world, ((80, "TCP"), (444, "TCP")))
    world.wait(lambda: matches(world, {http: {"ListenerForward": "on", "ForwardPort": "444"}, other: {}}), "444")
    world.wait(lambda: listener(world, 443, "https") is None, "443 is gone")
    world.settled()
    set_ports(world, ((444, "TCP"),))
    world.wait(lambda: listener(world, 80, "http") is None, "80 is gone")
    world.settled()
    assert views.listeners(views.only_lb(world)) == [(444, "https", "running")]


# scenarios 53, 58, 59
@pytest.mark.parametrize("before, after, ports, expected", [
    ("udp:80", "http:80", ((80, "TCP"),), [(80, "http", "running")]),
    ("http:80", "tcp:80", ((80, "TCP"),), [(80, "tcp", "running")]),
    ("https:80", "http:80", ((80, "TCP"),), [(80, "http", "running")]),
    ("tcp:80", " HTTP : 80 , https:444", ((80, "TCP"),), [(80, "http", "running")]),
])
def test_protocol_of_a_port_changes(world, before, after, ports, expected):
    protocol = before.split(":", maxsplit=1)[0]
    up(world, ports, {"protocol-port": before, "cert-id": "cert-valid"}, {(80, protocol): {}})
    annotate(world, {"protocol-port": after})
    world.wait(lambda: views.listeners(views.only_lb(world)) == expected, "the other protocol")
    assert len(views.only_lb(world)["VServerGroups"]) == 1


def test_ports_move(world):
    up(world, ((80, "TCP"), (80, "UDP")), {}, {(80, "tcp"): {}, (80, "udp"): {}})
    set_ports(world, ((80, "TCP"), (53, "UDP")))
    expected = [(53, "udp", "running"), (80, "tcp", "running")]
    world.wait(lambda: views.listeners(views.only_lb(world)) == expected, "udp 53")
    world.wait(lambda: len(views.only_lb(world)["VServerGroups"]) == 2, "a group each")


# scenarios 60, 62, 63
def test_console_edits(world):
    up(world, ((80, "TCP"), (81, "TCP")), {}, {(80, "tcp"): {}, (81, "tcp"): {}})
    lb = views.only_lb(world)
    world.stop_ccmd()
    world.cloud.edit("delete", type="listener", load_balancer=lb["LoadBalancerId"], port=81, protocol="tcp")
    world.cloud.edit("update", type="listener", load_balancer=lb["LoadBalancerId"], port=80, protocol="tcp",
                     attributes={"Status": "stopped"})
    world.cloud.edit("create", type="listener", load_balancer=lb["LoadBalancerId"], port=9000, protocol="tcp",
                     vserver_group=lb["VServerGroups"][0]["VServerGroupId"],
                     params={"Bandwidth": "-1", "Description": "by hand"})
    world.start_ccmd()
    expected = [(80, "tcp", "running"), (81, "tcp", "running"), (9000, "tcp", "stopped")]
    world.wait(lambda: views.listeners(views.only_lb(world)) == expected, "repair")
    assert listener(world, 9000, "tcp")["Description"] == "by hand"


def test_port_of_somebody_else(world):
    up(world, ((80, "TCP"),), {}, {(80, "tcp"): {}})
    lb = views.only_lb(world)
    world.cloud.edit("create", type="listener", load_balancer=lb["LoadBalancerId"], port=81, protocol="tcp",
                     vserver_group=lb["VServerGroups"][0]["VServerGroupId"],
                     params={"Bandwidth": "-1", "Description": "k8s/81/other/default/c-test"})
    world.stop_ccmd()
    world.start_ccmd()
    set_ports(world, ((80, "TCP"), (81, "TCP"), (82, "TCP")))
    warning(world, "port 81/tcp: the listener belongs to another Service (k8s/81/other/default/c-test)")
    world.wait(lambda: matches(world, {(82, "tcp"): {}}), "the port beside it")
    assert listener(world, 81, "tcp")["Description"] == "k8s/81/other/default/c-test"


@pytest.mark.parametrize("annotations, words", [
    ({"protocol-port": "https:80"}, "cert-id is required for https ports"),
    ({"protocol-port": "http:80", "idle-timeout": "61"}, "idle-timeout must be in range [1,60], got [61]"),
    ({"protocol-port": "ftp:80"}, "protocol not supported with [ftp]"),
    ({"health-check-interval": "fast"}, "Annotation HealthCheckInterval must be integer, but got [fast]. message=["),
    ({"health-check-uri": "index.html"}, "health-check-uri must be a path"),
    ({"protocol-port": "http:80", "sticky-session": "on"}, "sticky-session-type is required"),
    ({"acl-status": "on"}, "acl-id is required"),
])
def test_refused_before_any_write(world, annotations, words):
    start(world, ((80, "TCP"),), annotations)
    warning(world, words)
    world.settled()
    assert world.cloud.actions() == []


# options of the plugin
def test_session_affinity(world):
    service = objects.service("web", ((80, "TCP"),), sessionAffinity="ClientIP")
    views.nodes(world, 1)
    world.start_ccmd()
    world.kube.create(service)
    warning(world, "spec.sessionAffinity")
    world.wait(lambda: ensured(world), "the load balancer")
    world.settled()
    assert matches(world, {(80, "tcp"): {"PersistenceTimeout": "0"}})
    world.stop_ccmd()
    mark = world.cloud.mark()
    world.start_ccmd(world.write_config('{ name = "clb"; session_affinity = true; }', name="affinity.conf"))
    world.wait(lambda: matches(world, {(80, "tcp"): {"PersistenceTimeout": "3600"}}), "persistence")
    assert quiet(world, mark) == ["SetLoadBalancerTCPListenerAttribute"]


def test_node_port_health_check(world):
    views.nodes(world, 1)
    world.start_ccmd(world.write_config('{ name = "clb"; node_port_health_check = true; }', name="health.conf"))
    world.kube.create(objects.service("web", ((80, "TCP"),), policy="Local"))
    world.wait(lambda: ensured(world), "the load balancer")
    port = world.kube.get("Service", "web")["spec"]["healthCheckNodePort"]
    assert matches(world, {(80, "tcp"): {"HealthCheckType": "http", "HealthCheckURI": "/healthz",
                                         "HealthCheckConnectPort": str(port)}})
