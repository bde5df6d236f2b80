"""Plugin gateway: Gateways as NLB instances, from the class to the deletion."""

import collections

import pytest

from tests.support import objects, proc, views
from tests.support.gateway_api import (
    BACKEND_TYPE, CLASS_FINALIZER, FINALIZER, PREFIX, GatewayWorld, backend, listener, service, world_with_class)
from tests.support.world import ACCESS_KEY, ACCESS_SECRET

ACCEPTED = ("True", "Accepted")
RESOLVED = ("True", "ResolvedRefs")
PROGRAMMED = ("True", "Programmed")


@pytest.fixture
def api(world):
    return world_with_class(world)


def node_port(world, name):
    return world.kube.get("Service", name)["spec"]["ports"][0]["nodePort"]


def on_nodes(world, name, weight=100):
    port = node_port(world, name)
    return [(f"node-{number}", port, weight) for number in (1, 2)]


def test_from_the_class_to_the_deletion(world, api):
    world.kube.create(service("web"))
    api.make_gateway(listener("tcp", 8080))
    api.make_route("web", backend("web"))
    world.start_ccmd()
    world.wait(lambda: api.served() == {"8080/tcp": on_nodes(world, "web")}, "the load balancer")
    address = world.wait(api.programmed, "the Gateway to be programmed")
    (lb,) = api.load_balancers()
    assert address == lb["DNSName"]
    world.settled()
    assert api.conditions("GatewayClass", "nlb") == {"Accepted": ACCEPTED}
    gateway = api.conditions("Gateway", "web")
    assert gateway["Accepted"] == ACCEPTED and gateway["Programmed"] == PROGRAMMED
    assert api.listener("tcp") == ({"Accepted": ACCEPTED, "Conflicted": ("False", "NoConflicts"), "ResolvedRefs": RESOLVED,
                                    "Programmed": PROGRAMMED}, 1, ["TCPRoute"])
    assert api.parents("TCPRoute", "web") == {"": {"Accepted": ACCEPTED, "ResolvedRefs": RESOLVED}}
    assert api.get("Gateway", "web")["metadata"]["finalizers"] == [FINALIZER]
    assert "EnsuredLoadBalancer" in [reason for _, reason, *_ in world.kube.events("web")]
    uid = api.get("Gateway", "web")["metadata"]["uid"].replace("-", "")
    assert lb["Tags"]["kubernetes.do.not.delete"] == "ag" + uid[:30]
    api.delete("Gateway", "web")
    world.wait(lambda: api.get("Gateway", "web") is None, "the Gateway to go")
    assert api.load_balancers() == [] and world.cloud.state()["nlbServerGroups"] == []
    world.wait(lambda: api.parents("TCPRoute", "web") == {}, "the route to have no parent any more")


def test_calls_of_a_creation_and_writes(world, api):
    """As many as for a Service with such ports; and what is written of it to the API server."""
    world.kube.create(service("web"))
    api.make_gateway(listener("a", 80), listener("b", 443))
    api.make_route("web", backend("web"))
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway to be programmed")
    world.settled()
    counts = collections.Counter(world.cloud.actions())
    polls = sum(counts.pop(action, 0) for action in ("ListAsynJobs", "GetJobStatus"))
    assert counts == {"ListLoadBalancers": 1, "CreateLoadBalancer": 1, "GetLoadBalancerAttribute": 1, "CreateServerGroup": 2,
                      "AddServersToServerGroup": 2, "CreateListener": 2}
    assert sum(counts.values()) + polls <= 12, (counts, polls)
    writes = collections.Counter(a.split("/v1/")[1] for a in world.kube.actions() if a.startswith("PATCH") and "gateway.net" in a)
    assert writes.pop("namespaces/default/gateways/web/status") <= 2, writes
    assert writes == {"gatewayclasses/nlb": 1, "gatewayclasses/nlb/status": 1, "namespaces/default/tcproutes/web/status": 1,
                      "namespaces/default/gateways/web": 2}, "finalizers and labels"


def test_nothing_is_written_when_nothing_has_changed(world, api):
    world.kube.create(service("web"))
    api.make_gateway(listener("tcp", 8080))
    api.make_route("web", backend("web"))
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway to be programmed")
    world.settled()
    since, writes = world.cloud.mark(), world.kube.mark()
    world.kube.create(objects.node("node-9", "i-9", ready=False))
    api.patch("TCPRoute", "web", {"metadata": {"labels": {"a": "b"}}})
    api.patch("Gateway", "web", {"metadata": {"annotations": {"a": "b"}}})
    world.settled()
    assert world.cloud.actions(since) == []
    world.stop_ccmd()
    ours = [action for action in world.kube.actions(writes) if action.startswith("PATCH") and "gateway.networking" in action]
    assert len(ours) == 2, ours  # those of this test
    since, writes = world.cloud.mark(), world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: world.admin("/readyz")[0] == 200, "readiness")
    world.settled()
    reads = [action for action in world.cloud.actions(since) if not action.startswith(("List", "Get", "Describe"))]
    assert reads == [], "a restart changes nothing"
    assert [a for a in world.kube.actions(writes) if a.startswith("PATCH")] == []


def test_a_class_stays_while_gateways_use_it(world, api):
    """Its finalizer of the API comes with the first load balancer and goes with the last, and what it serves stands in its status."""
    def finalizers():
        return (api.get("GatewayClass", "nlb") or {"metadata": {}})["metadata"].get("finalizers", [])

    world.kube.create(service("web"))
    world.start_ccmd()
    world.wait(lambda: api.conditions("GatewayClass", "nlb") == {"Accepted": ACCEPTED}, "the class")
    features = [one["name"] for one in api.get("GatewayClass", "nlb")["status"]["supportedFeatures"]]
    assert features == sorted(features) and {"Gateway", "TCPRoute", "UDPRoute", "ReferenceGrant"} <= set(features)
    world.settled()
    assert finalizers() == []
    api.make_gateway(listener("tcp", 8080))
    world.wait(api.programmed, "the Gateway")
    world.wait(lambda: finalizers() == [CLASS_FINALIZER], "the class to be held")
    api.patch("GatewayClass", "nlb", {"metadata": {"finalizers": [CLASS_FINALIZER, "example.com/other"]}})
    api.delete("GatewayClass", "nlb")
    world.settled()
    assert finalizers() == [CLASS_FINALIZER, "example.com/other"] and api.served() == {"8080/tcp": []}
    api.delete("Gateway", "web")
    world.wait(lambda: finalizers() == ["example.com/other"], "the class to be let go")
    assert api.load_balancers() == []


# --- what is served ---

def test_weights_and_services_of_other_namespaces(world, api):
    """Nine tenths to one, a tenth to the other: with consent of its namespace alone."""
    world.kube.http.request("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
    world.kube.create(service("new"), service("old", namespace="other"))
    api.make_gateway(listener("tcp", 8080))
    api.make_route("web", backend("new", weight=90), backend("old", namespace="other", weight=10))
    world.start_ccmd()
    world.wait(lambda: api.served() == {"8080/tcp": on_nodes(world, "new")}, "the Service of this namespace")
    world.wait(lambda: api.parents("TCPRoute", "web") == {"": {"Accepted": ACCEPTED, "ResolvedRefs": ("False", "RefNotPermitted")}},
               "the refusal")
    api.create("ReferenceGrant", "ours", {"from": [{"group": "gateway.networking.k8s.io", "kind": "TCPRoute", "namespace": "default"}],
                                          "to": [{"group": "", "kind": "Service", "name": "old"}]}, "other")
    old = world.kube.get("Service", "old", "other")["spec"]["ports"][0]["nodePort"]
    both = sorted(on_nodes(world, "new") + [(f"node-{number}", old, 11) for number in (1, 2)])
    world.wait(lambda: api.served() == {"8080/tcp": both}, "both Services")
    world.wait(lambda: api.parents("TCPRoute", "web")[""]["ResolvedRefs"] == RESOLVED, "the references")
    api.delete("ReferenceGrant", "ours", "other")
    world.wait(lambda: api.served() == {"8080/tcp": on_nodes(world, "new")}, "the other Service to be left out again")


def test_pods_and_kinds_of_protocols(world, api):
    """Pods at their own addresses, of Services without node ports; UDP; TLS with certificates by id; TLS passed on."""
    def slice_of(item, *addresses):
        item = {**item, "spec": {**item["spec"], "ports": [{**item["spec"]["ports"][0], "targetPort": 8080}]}}
        return objects.endpoint_slice(item, [(address, "node-1") for address in addresses])

    web, dns = service("web", kind="ClusterIP"), service("dns", 53, "UDP", kind="ClusterIP")
    world.kube.create(web, dns, slice_of(web, "10.1.1.1", "10.1.1.2"), slice_of(dns, "10.1.1.3"))
    options = {"options": {"ccm.alibabacloud.com/certificate-ids": "101-cn-hangzhou,102-cn-hangzhou"}}
    api.make_gateway(listener("tcp", 80), listener("udp", 53, "UDP"), listener("tls", 443, "TLS", tls=options),
                     listener("pass", 8443, "TLS", tls={"mode": "Passthrough"}), annotations={BACKEND_TYPE: "eni"})
    api.make_route("web", backend("web"), section="tcp")
    api.make_route("inside", backend("web"), section="tls")
    api.make_route("dns", backend("dns", 53), kind="UDPRoute")
    api.make_route("through", backend("web"), kind="TLSRoute", section="pass", hostnames=["a.example.com"])
    world.start_ccmd()
    pods = [("10.1.1.1", 8080, 100), ("10.1.1.2", 8080, 100)]
    wanted = {"80/tcp": pods, "53/udp": [("10.1.1.3", 8080, 100)], "443/tcpssl": pods, "8443/tcp": pods}
    world.wait(lambda: api.served() == wanted, "all listeners")
    (lb,) = api.load_balancers()
    tls = next(one for one in lb["Listeners"] if one["key"] == "443/tcpssl")
    assert tls["CertificateIds"] == "101-cn-hangzhou"
    world.wait(lambda: api.listener("pass") and api.listener("pass")[0]["Programmed"] == PROGRAMMED, "the last listener")
    assert [api.listener(name)[1:] for name in ("tcp", "udp", "tls", "pass")] == [
        (1, ["TCPRoute"]), (1, ["UDPRoute"]), (1, ["TCPRoute", "TLSRoute"]), (1, ["TLSRoute"])]
    slice_ = slice_of(web, "10.1.1.2")
    world.kube.replace(slice_)
    world.wait(lambda: api.served() == {**wanted, "80/tcp": pods[1:], "443/tcpssl": pods[1:], "8443/tcp": pods[1:]}, "one pod less")


def test_of_several_routes_the_oldest_serves(world, api):
    """All are accepted and counted; the next one takes over when it goes."""
    world.kube.create(service("first"), service("second"))
    api.make_gateway(listener("tcp", 8080))
    api.make_route("b-first", backend("first"))
    world.start_ccmd()
    world.wait(lambda: api.served() == {"8080/tcp": on_nodes(world, "first")}, "the first")
    api.make_route("c-second", backend("second"))
    world.wait(lambda: api.listener("tcp")[1] == 2, "both to be attached")
    world.wait(lambda: api.parents("TCPRoute", "c-second") == {"": {"Accepted": ACCEPTED, "ResolvedRefs": RESOLVED}}, "the second")
    world.settled()
    assert api.served() == {"8080/tcp": on_nodes(world, "first")}
    api.delete("TCPRoute", "b-first")
    world.wait(lambda: api.served() == {"8080/tcp": on_nodes(world, "second")}, "the second to serve")
    api.delete("TCPRoute", "c-second")
    world.wait(lambda: api.served() == {"8080/tcp": []}, "nobody to serve")
    world.wait(lambda: api.listener("tcp")[1] == 0, "no route to be attached")
    assert api.programmed()


# --- who may attach ---

def test_who_may_attach(world, api):
    for name, labels in (("red", {"colour": "red"}), ("blue", {"colour": "blue"})):
        world.kube.http.request("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
        world.kube.create(service("web", namespace=name))
    chosen = {"namespaces": {"from": "Selector", "selector": {"matchLabels": {"colour": "red"}}}}
    api.make_gateway(listener("own", 1), listener("all", 2, allowedRoutes={"namespaces": {"from": "All"}}),
                     listener("red", 3, allowedRoutes=chosen), listener("udp", 4, "UDP"))
    for namespace in ("red", "blue"):
        for section in ("own", "all", "red", "udp", "none"):
            api.create("TCPRoute", section, {"parentRefs": [{"name": "web", "namespace": "default", "sectionName": section}],
                                             "rules": [{"backendRefs": [backend("web")]}]}, namespace)
    world.start_ccmd()
    refused, missing = ("False", "NotAllowedByListeners"), ("False", "NoMatchingParent")

    def accepted(namespace):
        found = {name: api.parents("TCPRoute", name, namespace) for name in ("own", "all", "red", "udp", "none")}
        return {name: parents[name]["Accepted"] for name, parents in found.items()}

    world.wait(lambda: accepted("red") == {"own": refused, "all": ACCEPTED, "red": ACCEPTED, "udp": refused, "none": missing}, "red")
    world.wait(lambda: accepted("blue") == {"own": refused, "all": ACCEPTED, "red": refused, "udp": refused, "none": missing}, "blue")
    world.wait(lambda: api.listener("all") is not None and api.listener("all")[1] == 2, "the routes to be counted")
    assert (api.listener("own")[1], api.listener("red")[1]) == (0, 1)
    world.kube.http.request("PATCH", "/api/v1/namespaces/blue", {"metadata": {"labels": {"colour": "red"}}},
                            "application/merge-patch+json")
    world.wait(lambda: api.listener("red")[1] == 2 and accepted("blue")["red"] == ACCEPTED, "the namespace to be let in")


def test_names_of_tls_routes(world, api):
    world.kube.create(service("web"))
    api.make_gateway(listener("pass", 443, "TLS", hostname="*.example.com", tls={"mode": "Passthrough"}))
    for name, host in (("in", "a.example.com"), ("out", "example.org"), ("same", "*.example.com"), ("wide", "*.com")):
        api.make_route(name, backend("web"), kind="TLSRoute", hostnames=[host])
    world.start_ccmd()
    unknown = ("False", "NoMatchingListenerHostname")
    wanted = {"in": ACCEPTED, "out": unknown, "same": ACCEPTED, "wide": ACCEPTED}
    world.wait(lambda: {name: api.parents("TLSRoute", name)[""]["Accepted"] for name in wanted} == wanted, "the names")


def test_references_that_lead_nowhere(world, api):
    world.kube.create(service("web"), service("inside", kind="ClusterIP"), service("udp", protocol="UDP"))
    api.make_gateway(listener("tcp", 8080))
    for name, one in (("kind", backend("web", kind="Secret")), ("none", backend("nobody")), ("port", backend("web", 81)),
                      ("inside", backend("inside")), ("udp", backend("udp"))):
        api.make_route(name, one)
    world.start_ccmd()
    wanted = {"kind": "InvalidKind", "none": "BackendNotFound", "port": "BackendNotFound", "inside": "NoNodePort",
              "udp": "UnsupportedProtocol"}
    world.wait(lambda: {name: api.parents("TCPRoute", name)[""]["ResolvedRefs"][1] for name in wanted} == wanted, "the reasons")
    world.wait(lambda: api.served() == {"8080/tcp": []}, "a listener without backends")
    world.kube.create(service("nobody"))
    world.wait(lambda: api.parents("TCPRoute", "none")[""]["ResolvedRefs"] == RESOLVED, "the Service that came")


# --- listeners and Gateways that cannot be served ---

def test_listeners_that_cannot_be_served(world, api):
    kinds = {"kinds": [{"kind": "UDPRoute"}, {"kind": "TCPRoute"}]}
    world.kube.create(service("web"))
    api.make_gateway(listener("good", 1, allowedRoutes=kinds), listener("http", 2, "HTTP"), listener("one", 3), listener("two", 3),
                     listener("secret", 4, "TLS", tls={"certificateRefs": [{"name": "s"}]}), listener("udp", 1, "UDP"),
                     listener("far", 5, "TLS", tls={"certificateRefs": [{"name": "s", "namespace": "other"}]}))
    world.start_ccmd()
    world.wait(lambda: api.served() == {"1/tcp": [], "1/udp": []}, "the listeners that can be served")
    world.wait(api.programmed, "the Gateway")
    assert api.conditions("Gateway", "web")["Accepted"] == ("True", "ListenersNotValid")
    assert api.listener("good")[0]["ResolvedRefs"] == ("False", "InvalidRouteKinds") and api.listener("good")[2] == ["TCPRoute"]
    assert api.listener("good")[0]["Programmed"] == PROGRAMMED
    assert api.listener("http")[0]["Accepted"] == ("False", "UnsupportedProtocol") and api.listener("http")[2] == []
    for name in ("one", "two"):
        assert api.listener(name)[0]["Conflicted"] == ("True", "ProtocolConflict")
        assert api.listener(name)[0]["Accepted"] == ("False", "ProtocolConflict")
    assert api.listener("secret")[0]["ResolvedRefs"] == ("False", "InvalidCertificateRef")
    assert api.listener("far")[0]["ResolvedRefs"] == ("False", "RefNotPermitted")
    assert {api.listener(name)[0]["Programmed"] for name in ("http", "secret", "far")} == {("False", "Invalid")}


def test_a_listener_with_two_faults_tells_both(world, api):
    """Each in its own condition; while another one has the port there is no route that it could take."""
    names = {"allowedRoutes": {"kinds": [{"kind": "TLSRoute"}]}}
    api.make_gateway(listener("ends", 443, "TLS", hostname="a.example.com", tls={"certificateRefs": [{"name": "s"}]}, **names),
                     listener("pass", 443, "TLS", hostname="b.example.com", tls={"mode": "Passthrough"}, **names))
    world.start_ccmd()
    world.wait(lambda: api.listener("ends"), "the refusal")
    for name in ("ends", "pass"):
        conditions, attached, kinds = api.listener(name)
        assert (conditions["Accepted"], attached, kinds) == (("False", "ProtocolConflict"), 0, [])
    (ends,) = [one for one in api.get("Gateway", "web")["status"]["listeners"] if one["name"] == "ends"]
    told = {one["type"]: one["message"] for one in ends["conditions"]}
    assert "port" in told["Accepted"] and told["Accepted"] == told["Conflicted"]
    assert "certificate" in told["ResolvedRefs"] and "port" not in told["ResolvedRefs"]


def test_gateways_that_are_not_served(world, api):
    """Of another controller, of no class, with parameters that are not there, with annotations of Services, all bad listeners."""
    api.make_class("foreign", "example.com/other")
    api.make_class("bad", parametersRef={"group": "", "kind": "ConfigMap", "name": "none", "namespace": "default"})
    api.make_gateway(listener("tcp", 1), name="foreign", class_name="foreign")
    api.make_gateway(listener("tcp", 1), name="nowhere", class_name="nowhere")
    api.make_gateway(listener("tcp", 1), name="bad", class_name="bad")
    api.make_gateway(listener("tcp", 1), name="id", annotations={PREFIX + "id": "nlb-x"})
    api.make_gateway(listener("http", 1, "HTTP"), name="http")
    world.start_ccmd()
    invalid = ("False", "InvalidParameters")
    world.wait(lambda: api.conditions("GatewayClass", "bad") == {"Accepted": invalid}, "the class")
    world.wait(lambda: api.conditions("Gateway", "bad").get("Accepted") == invalid, "the Gateway of that class")
    world.wait(lambda: api.conditions("Gateway", "id").get("Accepted") == invalid, "the annotation")
    world.wait(lambda: api.conditions("Gateway", "http").get("Accepted") == ("False", "ListenersNotValid"), "the listener")
    world.settled()
    assert "status" not in api.get("Gateway", "foreign") and "status" not in api.get("Gateway", "nowhere")
    assert api.conditions("GatewayClass", "foreign") == {}
    assert api.load_balancers() == [] and world.cloud.actions() == []
    for name in ("foreign", "nowhere", "bad", "id", "http"):
        assert "finalizers" not in api.get("Gateway", name)["metadata"]


@pytest.mark.parametrize("field, value, reason", [
    ("tls", {"frontend": {"default": {"validation": {"caCertificateRefs": [{"kind": "ConfigMap", "name": "ca"}]}}}}, "Invalid")])
def test_fields_that_are_not_served(world, api, field, value, reason):
    """Never without a word: nothing is made, and the condition names the field; when it is gone the Gateway is served."""
    api.make_gateway(listener("tcp", 1))
    api.patch("Gateway", "web", {"spec": {field: value}})
    world.start_ccmd()
    world.wait(lambda: api.conditions("Gateway", "web").get("Accepted") == ("False", reason), "the refusal")
    (message,) = [one["message"] for one in api.get("Gateway", "web")["status"]["conditions"] if one["type"] == "Accepted"]
    assert f"spec.{field} is not served" in message
    world.settled()
    assert api.load_balancers() == [] and world.cloud.actions() == []
    api.patch("Gateway", "web", {"spec": {field: None}})
    world.wait(api.programmed, "the Gateway")


def accepted(api, name="web"):
    return [(one["reason"], one["message"]) for one in api.get("Gateway", name)["status"]["conditions"] if one["type"] == "Accepted"][0]


def test_addresses_of_its_own(world, api):
    """Private addresses and elastic ones, in the order of the zones; status has them when the load balancer does."""
    elastic = "ccm.alibabacloud.com/allocation-id"
    own = [world.cloud.edit("call", product="vpc", action="AllocateEipAddress", params={"InternetChargeType": "PayByTraffic"})["answer"]["AllocationId"] for _ in range(2)]
    wanted = [{"type": "IPAddress", "value": "10.1.0.200"}, {"type": elastic, "value": own[0]}, {"type": "IPAddress", "value": ""},
              {"type": elastic, "value": own[1]}]
    api.make_gateway(listener("tcp", 1))
    api.patch("Gateway", "web", {"spec": {"addresses": wanted}})
    world.start_ccmd()
    address = world.wait(api.programmed, "the Gateway")
    (lb,) = api.load_balancers()
    answer = world.cloud.edit("call", product="nlb", action="GetLoadBalancerAttribute", params={"LoadBalancerId": lb["LoadBalancerId"]})["answer"]
    zones = [(zone["LoadBalancerAddresses"][0]["PrivateIPv4Address"], zone["LoadBalancerAddresses"][0].get("AllocationId"))
             for zone in sorted(answer["ZoneMappings"], key=lambda zone: zone["ZoneId"])]
    assert zones[0] == ("10.1.0.200", own[0]) and zones[1][1] == own[1]
    shown = [{"type": "Hostname", "value": address}] + [one for one in wanted if one["value"]]
    assert api.get("Gateway", "web")["status"]["addresses"] == shown
    world.settled()
    since = world.cloud.mark()
    world.stop_ccmd()
    world.start_ccmd()
    world.wait(lambda: world.admin("/readyz")[0] == 200, "readiness")
    world.settled()
    assert api.get("Gateway", "web")["status"]["addresses"] == shown
    assert [one for one in world.cloud.actions(since) if not one.startswith(("List", "Describe", "Get"))] == []


@pytest.mark.parametrize("addresses, words", [
    ([{"type": "Hostname", "value": "a.example.com"}], "types of spec.addresses are IPAddress"),
    ([{"type": "IPAddress", "value": "2001:db8::1"}], "is no IPv4 address"),
    ([{"type": "ccm.alibabacloud.com/allocation-id", "value": "eip-1,z:v"}], "is no id"),
    ([{"value": "10.1.0.20"}, {"value": "10.1.0.21"}, {"value": "10.1.0.22"}], "has more addresses of a type than annotation")])
def test_addresses_that_cannot_be_had(world, api, addresses, words):
    api.make_gateway(listener("tcp", 1))
    api.patch("Gateway", "web", {"spec": {"addresses": addresses}})
    world.start_ccmd()
    world.wait(lambda: api.conditions("Gateway", "web").get("Accepted") == ("False", "UnsupportedAddress"), "the refusal")
    assert words in accepted(api)[1]
    world.settled()
    assert api.load_balancers() == [] and world.cloud.actions() == []
    api.patch("Gateway", "web", {"spec": {"addresses": None}})
    world.wait(api.programmed, "the Gateway")


def test_addresses_are_given_once(world, api):
    api.make_gateway(listener("tcp", 1), annotations={PREFIX + "zone-maps": "cn-hangzhou-h:vsw-a:10.1.0.9,cn-hangzhou-i:vsw-b"})
    api.patch("Gateway", "web", {"spec": {"addresses": [{"value": "10.1.0.20"}]}})
    world.start_ccmd()
    world.wait(lambda: api.conditions("Gateway", "web").get("Accepted") == ("False", "UnsupportedAddress"), "the refusal")
    assert "gives addresses already" in accepted(api)[1]


def test_options_of_tls_that_are_not_known(world, api):
    options = {"options": {"ccm.alibabacloud.com/certificate-ids": "101-cn-hangzhou", "example.com/min-version": "1.3"}}
    api.make_gateway(listener("tls", 443, "TLS", tls=options), listener("tcp", 80))
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    world.wait(lambda: api.listener("tls")[0].get("Accepted") == ("False", "Invalid"), "the refusal")
    assert set(api.served()) <= {"80/tcp"}


def test_names_of_a_listener_that_ends_tls(world, api):
    """It is told that the load balancer does not tell names apart."""
    options = {"options": {"ccm.alibabacloud.com/certificate-ids": "101-cn-hangzhou"}}
    api.make_gateway(listener("tls", 443, "TLS", hostname="a.example.com", tls=options))
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    (shown,) = api.get("Gateway", "web")["status"]["listeners"]
    assert ["names inside of TLS have no effect" in one["message"] for one in shown["conditions"] if one["type"] == "Programmed"] == [True]


def test_two_controllers(world, api):
    """Each has the Gateways of its classes, and leaves those of the other alone, also when one of them goes."""
    api.make_class("theirs", "example.com/team")
    api.make_gateway(listener("tcp", 1), name="theirs", class_name="theirs")
    api.make_gateway(listener("tcp", 1), name="ours")
    api.configure('controller_name = "example.com/team";')
    world.start_ccmd()
    world.wait(lambda: api.programmed("theirs"), "the Gateway of the other controller")
    world.settled()
    (finalizer,) = api.get("Gateway", "theirs")["metadata"]["finalizers"]
    assert finalizer.startswith(FINALIZER + "-") and "finalizers" not in api.get("Gateway", "ours")["metadata"]
    world.stop_ccmd()
    api.configure()
    world.start_ccmd()
    world.wait(lambda: api.programmed("ours"), "our own")
    world.settled()
    assert api.programmed("theirs") and len(api.load_balancers()) == 2
    api.delete("Gateway", "theirs")
    api.delete("Gateway", "ours")
    world.wait(lambda: api.get("Gateway", "ours") is None, "our own to go")
    world.settled()
    assert api.get("Gateway", "theirs") is not None and len(api.load_balancers()) == 1


def test_a_class_that_changes_hands(world, api):
    """A Gateway that goes over to a class of another controller is released; one whose class is missing stays, and can be deleted."""
    api.make_class("foreign", "example.com/other")
    api.make_gateway(listener("tcp", 1))
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    api.delete("GatewayClass", "nlb")
    world.settled()
    assert len(api.load_balancers()) == 1
    api.patch("Gateway", "web", {"spec": {"gatewayClassName": "foreign"}})
    world.wait(lambda: not api.load_balancers() and not api.get("Gateway", "web")["metadata"].get("finalizers"), "the release")
    assert "addresses" not in api.get("Gateway", "web")["status"]
    api.make_class()
    api.patch("Gateway", "web", {"spec": {"gatewayClassName": "nlb"}})
    world.wait(lambda: len(api.load_balancers()) == 1, "another load balancer")
    api.delete("GatewayClass", "nlb")
    world.settled()
    api.delete("Gateway", "web")
    world.wait(lambda: api.get("Gateway", "web") is None, "the Gateway without class to go")
    assert api.load_balancers() == []


# --- what is told, and by whom ---

def test_conditions_of_others_stay(world, api):
    api.make_gateway(listener("tcp", 1))
    api.make_route("web", backend("web"))
    theirs = {"type": "Theirs", "status": "True", "reason": "X", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    parent = {"parentRef": {"name": "mesh"}, "controllerName": "example.com/other", "conditions": [theirs]}
    api.patch("Gateway", "web", {"status": {"conditions": [theirs]}}, subresource="status")
    api.patch("TCPRoute", "web", {"status": {"parents": [parent]}}, subresource="status")
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    world.wait(lambda: len(api.get("TCPRoute", "web")["status"]["parents"]) == 2, "our parent")
    assert theirs in api.get("Gateway", "web")["status"]["conditions"]
    assert parent in api.get("TCPRoute", "web")["status"]["parents"]
    world.settled()
    api.patch("Gateway", "web", {"status": {"conditions": [theirs], "addresses": []}}, subresource="status")
    world.wait(lambda: api.conditions("Gateway", "web").get("Programmed") == PROGRAMMED and api.programmed(), "what somebody took away")
    assert theirs in api.get("Gateway", "web")["status"]["conditions"]
    turned = [one["lastTransitionTime"] for one in api.get("Gateway", "web")["status"]["conditions"]]
    api.patch("Gateway", "web", {"spec": {"listeners": [listener("tcp", 1), listener("more", 2)]}})
    world.wait(lambda: sorted(api.served()) == ["1/tcp", "2/tcp"] and api.programmed(), "the second listener")
    assert [one["lastTransitionTime"] for one in api.get("Gateway", "web")["status"]["conditions"]] == turned


def test_a_failure_of_the_cloud_is_told(world, api):
    world.kube.create(service("web"))
    api.make_gateway(listener("tcp", 1))
    api.make_route("web", backend("web"))
    world.cloud.fault("CreateLoadBalancer", code="Forbidden.RAM", http=403, message="no")
    world.start_ccmd()
    world.wait(lambda: api.conditions("Gateway", "web").get("Programmed") == ("False", "Pending"), "the failure")
    assert api.conditions("Gateway", "web")["Accepted"] == ACCEPTED
    assert "SyncLoadBalancerFailed" in world.wait(lambda: [reason for _, reason, *_ in world.kube.events("web")], "an event")
    (message,) = {one["message"] for one in api.get("Gateway", "web")["status"]["conditions"] if one["type"] == "Programmed"}
    assert "as soon as the Gateway changes" in message and "Service" not in message, message


def test_a_load_balancer_that_is_gone(world, api):
    """It is told, with what a person can do; a new one is made when the status shows none any more."""
    api.make_gateway(listener("tcp", 1))
    world.start_ccmd()
    address = world.wait(api.programmed, "the Gateway")
    world.settled()
    world.stop_ccmd()
    (lb,) = api.load_balancers()
    world.cloud.edit("delete", type="nlb", id=lb["LoadBalancerId"])
    world.start_ccmd()
    world.wait(lambda: api.conditions("Gateway", "web")["Programmed"] == ("False", "Invalid"), "the loss")
    (message,) = {one["message"] for one in api.get("Gateway", "web")["status"]["conditions"] if one["type"] == "Programmed"}
    assert """kubectl patch gateway web -n default --subresource=status --type=merge -p '{"status":{"addresses":null}}'""" in message
    api.patch("Gateway", "web", {"status": {"addresses": None}}, subresource="status")
    world.wait(lambda: api.programmed() not in (None, address), "another load balancer", timeout=30)


def test_a_plan(world, api):
    """`ccmd plan` says what would be made, and writes nothing anywhere; then that nothing is to be done."""
    world.kube.create(service("web"))
    api.make_gateway(listener("tcp", 8080))
    api.make_route("web", backend("web"))
    command = [world.binary("ccmd"), "plan", "--config", world.config]
    env = {"ACCESS_KEY_ID": ACCESS_KEY, "ACCESS_KEY_SECRET": ACCESS_SECRET}
    since = world.kube.mark()
    code, out, _ = proc.run(command, env=env)
    assert code == 3 and "create server group 8080/TCP k8s.8080.TCP.gateway_web.default.c-test" in out
    assert "1 to change, 2 as they should be, 0 failed" in out
    assert f"add finalizer {FINALIZER} to the Gateway\n" in out and "labels and status of the Gateway\n" in out and " Service\n" not in out
    assert [a for a in world.kube.actions(since) if not a.startswith(("GET", "LIST", "WATCH"))] == []
    assert world.cloud.actions() == ["ListLoadBalancers"]
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    world.settled()
    code, out, _ = proc.run(command, env=env)
    assert code == 0 and "0 to change, 3 as they should be, 0 failed" in out


# --- what is there, and when ---

def test_definitions_that_come_later(world):
    """Until then nothing waits for them; routes of v1alpha2 do where the server has no others."""
    views.nodes(world, 2)
    api = GatewayWorld(world, routes="v1alpha2")
    api.configure()
    world.start_ccmd()
    world.wait(lambda: world.admin("/readyz")[0] == 200, "readiness")
    api.define()
    world.kube.create(service("web"))
    api.make_class()
    api.make_gateway(listener("tcp", 8080))
    api.make_route("web", backend("web"))
    world.wait(lambda: api.served() == {"8080/tcp": on_nodes(world, "web")}, "the load balancer", timeout=60)
    world.wait(lambda: api.parents("TCPRoute", "web") == {"": {"Accepted": ACCEPTED, "ResolvedRefs": RESOLVED}}, "the route")


def test_beside_services(world, api):
    """A Service of the same name with plugin nlb: neither takes what is the other's, and neither counts it as left over."""
    api.configure("audit_interval_s = 1; orphan_cleanup = true; missing_wait_s = 0;",
                  '{ name = "nlb"; workers = 4; audit_interval_s = 1; orphan_cleanup = true; missing_wait_s = 0; }, ')
    world.kube.create(objects.service("web", loadBalancerClass="alibabacloud.com/nlb", annotations={
        PREFIX + "zone-maps": "cn-hangzhou-h:vsw-a,cn-hangzhou-i:vsw-b"}))
    api.make_gateway(listener("tcp", 80))
    api.make_route("web", backend("web"))
    world.start_ccmd()
    world.wait(lambda: len(api.load_balancers()) == 2 and api.programmed() and world.kube.ingress("web"), "both load balancers")
    world.wait(lambda: world.cloud.actions().count("ListServerGroups") >= 8, "looks of both plugins", timeout=60)
    groups = {group["ServerGroupName"] for group in world.cloud.state()["nlbServerGroups"]}
    assert len(api.load_balancers()) == 2 and len(groups) == 2, groups
    assert any(".gateway_web." in name for name in groups), groups
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None and len(api.load_balancers()) == 1, "the Service to go")
    assert api.programmed() == api.load_balancers()[0]["DNSName"]


def test_defaults_labels_and_parameters(world, api):
    """ConfigMaps that the class and the Gateway name, annotations over them, labels as tags."""
    maps = "/api/v1/namespaces/default/configmaps"
    label = {"ccm.alibabacloud.com/gateway-parameters": ""}
    world.kube.http.request("POST", maps, {"metadata": {"name": "class", "labels": label},
                                           "data": {"address-type": "intranet", "scheduler": "Wlc", "idle-timeout": "100"}})
    world.kube.http.request("POST", maps, {"metadata": {"name": "own", "labels": label}, "data": {"idle-timeout": "200\n"}})
    api.make_class("other", parametersRef={"group": "", "kind": "ConfigMap", "name": "class", "namespace": "default"})
    api.make_gateway(listener("tcp", 1), class_name="other", annotations={PREFIX + "scheduler": " rr\n"}, labels={"team": "a"},
                     parametersRef={"group": "", "kind": "ConfigMap", "name": "own"})
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    (lb,) = api.load_balancers()
    assert (lb["AddressType"], lb["Listeners"][0]["IdleTimeout"], lb["Groups"][0]["Scheduler"]) == ("Intranet", "200", "rr")
    assert lb["Tags"]["team"] == "a"
    world.kube.http.request("PATCH", maps + "/own", {"data": {"idle-timeout": "300"}}, "application/merge-patch+json")
    world.wait(lambda: api.load_balancers()[0]["Listeners"][0]["IdleTimeout"] == "300", "the new default", timeout=30)
