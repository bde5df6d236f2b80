"""ListenerSets: listeners of others on the load balancer of a Gateway, by its consent and by precedence."""

import base64
import re

import pytest

from tests.support import views
from tests.support.gateway_api import CRDS, GatewayWorld, backend, definition, listener, service

pytestmark = pytest.mark.time_scale(10)
ACCEPTED, PROGRAMMED = ("True", "Accepted"), ("True", "Programmed")
NOT_VALID, NOT_ALLOWED = ("False", "ListenersNotValid"), ("False", "NotAllowed")
CONFLICT = ("True", "ProtocolConflict")


class Sets(GatewayWorld):
    def make_set(self, name, *listeners, gateway="web", namespace="default", home="default"):
        return self.create("ListenerSet", name, {"parentRef": {"name": gateway, "namespace": home}, "listeners": list(listeners)}, namespace)

    def allow(self, origin="Same", name="web", **more):
        self.patch("Gateway", name, {"spec": {"allowedListeners": {"namespaces": {"from": origin, **more}}}})

    def entries(self, name, namespace="default"):
        """Name of a listener -> conditions, attached routes."""
        status = (self.get("ListenerSet", name, namespace) or {}).get("status", {})
        return {one["name"]: (self._conditions(one), one["attachedRoutes"]) for one in status.get("listeners", [])}

    def stands(self, name, accepted, programmed, namespace="default"):
        """Whether a set says that, of itself as it is now."""
        item = self.get("ListenerSet", name, namespace)
        found = item.get("status", {}).get("conditions", [])
        return (self._conditions({"conditions": found}) == {"Accepted": accepted, "Programmed": programmed} and
                all(one["observedGeneration"] == item["metadata"]["generation"] for one in found))

    def attached(self, name="web"):
        return self.get("Gateway", name)["status"].get("attachedListenerSets", 0)


@pytest.fixture
def api(world):
    views.nodes(world, 2)
    one = Sets(world)
    one.define()
    one.configure()
    one.make_class()
    return one


def namespace(world, name, **labels):
    world.kube.http.request("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})


def on_nodes(world, name, space="default"):
    port = world.kube.get("Service", name, space)["spec"]["ports"][0]["nodePort"]
    return [(f"node-{number}", port, 100) for number in (1, 2)]


def to_set(name, space="default", section=None):
    return {"kind": "ListenerSet", "name": name, "namespace": space, **({"sectionName": section} if section else {})}


def test_listeners_of_two_owners(world, api):
    """One load balancer; a route is attached to those that it names; what goes leaves the rest alone."""
    world.kube.create(service("web"), service("more"))
    api.make_gateway(listener("tcp", 80))
    api.allow()
    api.make_set("more", listener("tcp", 81))
    api.make_route("web", backend("web"))
    api.create("TCPRoute", "more", {"parentRefs": [to_set("more", section="tcp")], "rules": [{"backendRefs": [backend("more")]}]})
    world.start_ccmd()
    world.wait(lambda: api.served() == {"80/tcp": on_nodes(world, "web"), "81/tcp": on_nodes(world, "more")}, "both listeners")
    world.wait(lambda: api.stands("more", ACCEPTED, PROGRAMMED), "the set")
    world.settled()
    fine = {"Accepted": ACCEPTED, "Conflicted": ("False", "NoConflicts"), "ResolvedRefs": ("True", "ResolvedRefs"), "Programmed": PROGRAMMED}
    assert api.entries("more") == {"tcp": (fine, 1)} and api.attached() == 1
    assert api.listener("tcp") == (fine, 1, ["TCPRoute"])
    assert api.parents("TCPRoute", "more") == {"tcp": {"Accepted": ACCEPTED, "ResolvedRefs": ("True", "ResolvedRefs")}}

    world.stop_ccmd()
    since, writes = world.cloud.mark(), world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: world.admin("/readyz")[0] == 200, "readiness")
    world.settled()
    assert [one for one in world.cloud.actions(since) if not one.startswith(("List", "Describe", "Get"))] == []
    assert [one for one in world.kube.actions(writes) if one.startswith("PATCH")] == []

    api.delete("ListenerSet", "more")
    world.wait(lambda: api.served() == {"80/tcp": on_nodes(world, "web")}, "its listener to go")
    world.wait(lambda: api.attached() == 0 and api.parents("TCPRoute", "more") == {}, "what is said of it to go")
    api.delete("Gateway", "web")
    world.wait(lambda: api.get("Gateway", "web") is None, "the Gateway to go")
    assert api.load_balancers() == []


def test_a_change_is_programmed_when_it_is(world, api):
    """Programmed speaks of the listeners as they are now, not of those before."""
    world.kube.create(service("web"))
    api.make_gateway(listener("tcp", 80))
    api.allow()
    api.make_set("more", listener("a", 81))
    world.start_ccmd()
    world.wait(lambda: api.stands("more", ACCEPTED, PROGRAMMED), "the set")
    world.cloud.fault("CreateListener", code="InternalError", http=500, message="no", count=2)
    api.patch("ListenerSet", "more", {"spec": {"listeners": [listener("a", 81), listener("b", 82)]}})
    world.wait(lambda: api.stands("more", ACCEPTED, PROGRAMMED), "the change")
    assert set(api.served()) == {"80/tcp", "81/tcp", "82/tcp"}


def test_who_may(world, api):
    """None by default; by namespace, and by its labels, which may change; a set of another Gateway is no matter."""
    namespace(world, "shop", team="a")
    api.make_gateway(listener("tcp", 80))
    api.make_set("here", listener("l", 81))
    api.make_set("there", listener("l", 82), namespace="shop")
    api.make_set("elsewhere", listener("l", 83), namespace="shop", home="shop")
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    for name, space in (("here", "default"), ("there", "shop")):
        world.wait(lambda name=name, space=space: api.stands(name, NOT_ALLOWED, NOT_ALLOWED, space), "the refusal")
    assert set(api.served()) == {"80/tcp"} and api.attached() == 0
    api.allow("Same")
    world.wait(lambda: api.stands("here", ACCEPTED, PROGRAMMED), "the set")
    world.wait(lambda: set(api.served()) == {"80/tcp", "81/tcp"}, "its listener")
    api.allow("All")
    world.wait(lambda: api.stands("there", ACCEPTED, PROGRAMMED, "shop"), "the other set")
    assert set(api.served()) == {"80/tcp", "81/tcp", "82/tcp"} and api.attached() == 2
    api.allow("Selector", selector={"matchLabels": {"team": "a"}})
    world.wait(lambda: api.stands("here", NOT_ALLOWED, NOT_ALLOWED), "the refusal")
    world.wait(lambda: set(api.served()) == {"80/tcp", "82/tcp"}, "its listener to go")
    world.kube.http.request("PATCH", "/api/v1/namespaces/shop", {"metadata": {"labels": {"team": "b"}}}, "application/merge-patch+json")
    world.wait(lambda: api.stands("there", NOT_ALLOWED, NOT_ALLOWED, "shop"), "the refusal by label")
    world.wait(lambda: set(api.served()) == {"80/tcp"} and api.attached() == 0, "the last listener to go")
    assert api.get("ListenerSet", "elsewhere", "shop").get("status", {}).get("conditions") is None


def test_the_reason_is_that_of_the_listener_that_has_the_port(world, api):
    """Not that of a set that does not get it either."""
    inside = {"tls": {"mode": "Passthrough"}}
    api.make_gateway(listener("tcp", 80))
    api.allow()
    api.make_set("first", listener("a", 80, "TLS", **inside))
    api.make_set("second", listener("a", 80, "TLS", **inside))
    world.start_ccmd()
    for name in ("first", "second"):
        world.wait(lambda name=name: api.stands(name, NOT_VALID, NOT_VALID), "the refusal")
        conditions, _ = api.entries(name)["a"]
        assert (conditions["Conflicted"], conditions["Accepted"]) == (CONFLICT, ("False", "ProtocolConflict"))


def test_sets_that_may_not_wake_nobody(world, api):
    """Whoever may write sets in a namespace of his own cannot have a Gateway of others looked at, or its sets."""
    namespace(world, "shop")
    api.make_gateway(listener("tcp", 80))
    api.allow()
    api.make_set("more", listener("l", 81))
    api.make_set("hostile", listener("l", 82), namespace="shop")
    world.start_ccmd()
    world.wait(lambda: api.stands("more", ACCEPTED, PROGRAMMED), "the set")
    world.wait(lambda: api.stands("hostile", NOT_ALLOWED, NOT_ALLOWED, "shop"), "the refusal")
    world.settled()

    def passes(kind):
        return len(re.findall(rf"gateway {kind}: gateway-[0-9]+: done", world.ccmd.err()))

    before = passes("default/web"), passes("ListenerSet default/more"), passes("ListenerSet shop/hostile")
    api.patch("ListenerSet", "hostile", {"spec": {"listeners": [listener("l", 83)]}}, "shop")
    world.wait(lambda: api.stands("hostile", NOT_ALLOWED, NOT_ALLOWED, "shop"), "the refusal of the new listener")
    world.settled()
    assert (passes("default/web"), passes("ListenerSet default/more")) == before[:2] and passes("ListenerSet shop/hostile") > before[2]


def test_precedence(world, api):
    """The Gateway, then the older set; what the first leaves the next one has."""
    api.make_gateway(listener("tcp", 80), listener("dns", 53, "UDP"))
    api.allow()
    api.make_set("first", listener("a", 80), listener("b", 81))
    world.start_ccmd()
    world.wait(lambda: api.stands("first", ("True", "ListenersNotValid"), PROGRAMMED), "the first set")
    api.make_set("second", listener("a", 81))
    world.wait(lambda: api.stands("second", NOT_VALID, NOT_VALID), "the second set")
    conditions, _ = api.entries("first")["a"]
    assert conditions["Conflicted"] == CONFLICT and conditions["Accepted"] == conditions["Programmed"] == ("False", "ProtocolConflict")
    assert api.entries("first")["b"][0]["Programmed"] == PROGRAMMED and api.entries("second")["a"][0]["Conflicted"] == CONFLICT
    assert api.listener("tcp")[0]["Conflicted"] == ("False", "NoConflicts") and api.attached() == 1
    api.delete("ListenerSet", "first")
    world.wait(lambda: api.stands("second", ACCEPTED, PROGRAMMED), "the second set to have the port")
    assert set(api.served()) == {"80/tcp", "53/udp", "81/tcp"}


def taken(world, name):
    """Messages of the events that a port was taken, of a set in the namespace of its name."""
    return [message for kind, reason, message, _ in world.kube.events(name, name) if (kind, reason) == ("Warning", "PortTaken")]


def age(world, api):
    """Two sets that serve, each in its namespace: evil, the older one, at 9999; shop at 443."""
    for space in ("evil", "shop"):
        namespace(world, space)
    api.make_gateway(listener("tcp", 80))
    api.allow("All")
    api.make_set("evil", listener("e", 9999), namespace="evil")
    api.make_set("shop", listener("s", 443), namespace="shop")
    world.start_ccmd()
    for name in ("evil", "shop"):
        world.wait(lambda name=name: api.stands(name, ACCEPTED, PROGRAMMED, name), "both sets")


def start_anew(world):
    world.stop_ccmd()
    world.start_ccmd()
    world.wait(lambda: world.admin("/readyz")[0] == 200, "readiness")
    world.settled()


def ask(api, *ports, protocol="TCP"):
    api.patch("ListenerSet", "evil", {"spec": {"listeners": [listener("e" if port == ports[0] else f"e{port}", port, protocol)
                                                             for port in ports]}}, "evil")


def test_a_port_that_changes_hands(world, api):
    """By age, as the Gateway API has it; both sets have a Warning, once."""
    age(world, api)
    ask(api, 443)
    world.wait(lambda: api.stands("shop", NOT_VALID, NOT_VALID, "shop"), "the port to be taken")
    world.wait(lambda: api.stands("evil", ACCEPTED, PROGRAMMED, "evil"), "the older set to have it")
    world.settled()
    port = "TCP port 443 of Gateway default/web"
    assert taken(world, "shop") == [f"listener s has lost {port} to ListenerSet evil/evil, which has precedence"]
    assert taken(world, "evil") == [f"listener e has taken {port} from ListenerSet shop/shop"]
    start_anew(world)
    assert [len(taken(world, name)) for name in ("shop", "evil")] == [1, 1]


def test_a_port_stays_by_option(world, api):
    """Also after a restart, while the cloud refuses everything, and when the older set has asked in vain for long."""
    api.configure("keep_set_ports = true;")
    age(world, api)
    ask(api, 443)
    world.wait(lambda: api.stands("evil", NOT_VALID, NOT_VALID, "evil"), "the refusal")
    world.settled()
    assert api.stands("shop", ACCEPTED, PROGRAMMED, "shop") and set(api.served()) == {"80/tcp", "443/tcp"}
    start_anew(world)
    assert api.stands("shop", ACCEPTED, PROGRAMMED, "shop") and set(api.served()) == {"80/tcp", "443/tcp"}

    world.cloud.fault("CreateListener", code="InternalError", http=500, message="no", count=1000)
    api.patch("ListenerSet", "shop", {"spec": {"listeners": [listener("s", 443), listener("more", 444)]}}, "shop")
    world.wait(lambda: said_programmed(api, "shop", "shop") == ("False", "Pending"), "the failure")
    ask(api, 443, 445)
    world.wait(lambda: api.entries("evil", "evil").get("e445"), "the older set to be read")
    assert api.entries("evil", "evil")["e"][0]["Conflicted"] == CONFLICT
    assert api.entries("shop", "shop")["s"][0]["Conflicted"] == ("False", "NoConflicts")
    world.cloud.clear_faults()
    world.wait(lambda: set(api.served()) == {"80/tcp", "443/tcp", "444/tcp", "445/tcp"}, "the new listeners")
    assert taken(world, "shop") == taken(world, "evil") == []

    api.delete("ListenerSet", "shop", "shop")
    world.wait(lambda: api.stands("evil", ACCEPTED, PROGRAMMED, "evil"), "the older set to have what the other one leaves")


def test_what_a_set_had_elsewhere_counts_for_nothing(world, api):
    """With the option: a port of another Gateway, and another protocol."""
    api.configure("keep_set_ports = true;")
    age(world, api)
    api.make_gateway(listener("tcp", 80), name="other", namespace="evil")
    api.patch("Gateway", "other", {"spec": {"allowedListeners": {"namespaces": {"from": "Same"}}}}, "evil")
    api.patch("ListenerSet", "evil", {"spec": {"parentRef": {"name": "other", "namespace": "evil"}, "listeners": [listener("e", 443)]}}, "evil")
    world.wait(lambda: api.stands("evil", ACCEPTED, PROGRAMMED, "evil"), "the set at its own Gateway")
    api.patch("ListenerSet", "evil", {"spec": {"parentRef": {"name": "web", "namespace": "default"}}}, "evil")
    world.wait(lambda: api.stands("evil", NOT_VALID, NOT_VALID, "evil"), "the refusal")
    ask(api, 443, protocol="UDP")
    world.wait(lambda: api.stands("evil", ACCEPTED, PROGRAMMED, "evil"), "the other protocol")
    ask(api, 443)
    world.wait(lambda: api.stands("evil", NOT_VALID, NOT_VALID, "evil"), "the refusal")
    assert api.stands("shop", ACCEPTED, PROGRAMMED, "shop")


def test_routes_of_namespaces(world, api):
    """Same is the namespace of the set; a route to the Gateway is not one to its sets."""
    namespace(world, "shop")
    world.kube.create(service("web"), service("web", namespace="shop"))
    api.make_gateway(listener("tcp", 80, allowedRoutes={"namespaces": {"from": "All"}}))
    api.allow("All")
    api.make_set("own", listener("l", 81), namespace="shop")
    rules = [{"backendRefs": [backend("web")]}]
    api.create("TCPRoute", "there", {"parentRefs": [to_set("own", "shop")], "rules": rules}, "shop")
    api.create("TCPRoute", "here", {"parentRefs": [to_set("own", "shop")], "rules": rules})
    api.create("TCPRoute", "both", {"parentRefs": [{"name": "web", "namespace": "default"}, {"name": "web", "namespace": "default",
                                                                                        "sectionName": "l"}], "rules": rules}, "shop")
    world.start_ccmd()
    world.wait(lambda: api.served() == {"80/tcp": on_nodes(world, "web", "shop"), "81/tcp": on_nodes(world, "web", "shop")}, "both")
    world.wait(lambda: api.parents("TCPRoute", "here").get("", {}).get("Accepted") == ("False", "NotAllowedByListeners"), "the refusal")
    said = world.wait(lambda: api.parents("TCPRoute", "both", "shop"), "the route to both")
    assert said[""]["Accepted"] == ACCEPTED and said["l"]["Accepted"] == ("False", "NoMatchingParent")
    world.wait(lambda: api.entries("own", "shop")["l"][1] == 1, "one route")


def test_certificates_are_by_namespace(world, api):
    """allowed_ids speaks of the namespace that writes, and a grant for Gateways is none for sets."""
    namespace(world, "shop")
    api.configure('allowed_ids = [ "default:certificate:*", "shop:certificate:7-*" ];')
    options = {"options": {"ccm.alibabacloud.com/certificate-ids": "101-cn-hangzhou"}}
    api.make_gateway(listener("tcp", 80), annotations={})
    api.allow("All")
    api.make_set("own", listener("l", 443, "TLS", tls=options), listener("m", 81), namespace="shop")
    world.start_ccmd()
    world.wait(lambda: set(api.served() or {}) >= {"80/tcp", "81/tcp"}, "the listeners that may be")
    world.settled()
    assert "443/tcpssl" not in api.served()
    api.make_set("ours", listener("l", 444, "TLS", tls=options))
    world.wait(lambda: "444/tcpssl" in api.served(), "the listener of a namespace that may")


def test_too_many(world, api):
    """What the Gateway has no room for is said, and does not harm those before."""
    api.make_gateway(listener("tcp", 80))
    api.allow()
    api.make_set("many", *[listener(f"l{port}", port) for port in range(1000, 1049)])
    world.start_ccmd()
    world.wait(lambda: api.stands("many", ACCEPTED, PROGRAMMED), "the first set")
    api.make_set("rest", *[listener(f"l{port}", port, "UDP") for port in range(2000, 2016)])
    world.wait(lambda: len(api.entries("rest")) == 16, "the second set")
    assert [api.entries("rest")[f"l{port}"][0]["Accepted"] for port in (2000, 2013, 2014, 2015)] == [
        ACCEPTED, ACCEPTED, ("False", "TooManyListeners"), ("False", "TooManyListeners")]
    assert api.stands("rest", ("True", "ListenersNotValid"), api.conditions("ListenerSet", "rest")["Programmed"])


def test_conditions_of_a_gateway_that_is_not_served(world, api):
    api.make_gateway(listener("tcp", 80))
    api.allow()
    api.patch("Gateway", "web", {"spec": {"addresses": [{"type": "Hostname", "value": "a.example.com"}]}})
    api.make_set("more", listener("l", 81))
    api.make_gateway(listener("tcp", 80), name="others", class_name="other")
    api.make_set("other", listener("l", 81), gateway="others")
    world.start_ccmd()
    world.wait(lambda: api.stands("more", ("False", "ParentNotAccepted"), ("False", "ParentNotProgrammed")), "the set")
    api.patch("Gateway", "web", {"spec": {"addresses": None}})
    world.wait(lambda: api.stands("more", ACCEPTED, PROGRAMMED), "the set")
    assert api.get("ListenerSet", "other").get("status", {}).get("conditions") is None


def test_secrets_by_grants_for_sets(world, api):
    """The set of another namespace uses its own Secret; one elsewhere wants a grant for ListenerSets, not for Gateways."""
    namespace(world, "shop")
    api.configure("upload_certificates = true;")
    key = "-----BEGIN PRIVATE KEY-----\nMIIPRIVATE" + "0" * 62 + "\n-----END PRIVATE KEY-----\n"
    crt = "-----BEGIN CERTIFICATE-----\nMIICERTIFICATE" + "0" * 58 + "\n-----END CERTIFICATE-----\n"
    data = {"tls.crt": base64.b64encode(crt.encode()).decode(), "tls.key": base64.b64encode(key.encode()).decode()}
    for space in ("shop", "default"):
        world.kube.http.request("POST", f"/api/v1/namespaces/{space}/secrets", {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cert", "namespace": space}, "type": "kubernetes.io/tls", "data": data})
    grant = {"from": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "namespace": "shop"}],
             "to": [{"group": "", "kind": "Secret"}]}
    api.create("ReferenceGrant", "let", grant)
    tls = [{"mode": "Terminate", "certificateRefs": [{"name": "cert", **more}]} for more in ({}, {"namespace": "default"})]
    api.make_gateway(listener("tcp", 80))
    api.allow("All")
    api.make_set("own", listener("mine", 443, "TLS", tls=tls[0]), listener("theirs", 444, "TLS", tls=tls[1]), namespace="shop")
    world.start_ccmd()
    world.wait(lambda: set(api.served() or {}) == {"80/tcp", "443/tcpssl"}, "the one with a Secret of its own")
    world.wait(lambda: api.entries("own", "shop")["theirs"][0]["ResolvedRefs"] == ("False", "RefNotPermitted"), "the refusal")
    grant["from"][0]["kind"] = "ListenerSet"
    api.patch("ReferenceGrant", "let", {"spec": grant})
    world.wait(lambda: set(api.served()) == {"80/tcp", "443/tcpssl", "444/tcpssl"}, "both")
    world.wait(lambda: api.stands("own", ACCEPTED, PROGRAMMED, "shop"), "the set")


def test_sets_of_which_the_server_learns_later(world, api):
    """Without the definition Gateways work; with it no restart is needed."""
    api.http.request("DELETE", f"{CRDS}/listenersets.gateway.networking.k8s.io")
    api.make_gateway(listener("tcp", 80))
    api.allow()
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    api.http.request("POST", CRDS, definition("ListenerSet", ["v1"]))
    world.wait(lambda: api.make_set("more", listener("l", 81)), "the definition")
    world.wait(lambda: api.stands("more", ACCEPTED, PROGRAMMED), "the set")


def secret(world, name, space, text):
    """A Secret with a certificate of that text."""
    crt = f"-----BEGIN CERTIFICATE-----\nMII{text}{'0' * (69 - len(text))}\n-----END CERTIFICATE-----\n"
    key = "-----BEGIN PRIVATE KEY-----\nMIIPRIVATE" + "0" * 62 + "\n-----END PRIVATE KEY-----\n"
    data = {"tls.crt": base64.b64encode(crt.encode()).decode(), "tls.key": base64.b64encode(key.encode()).decode()}
    world.kube.http.request("POST", f"/api/v1/namespaces/{space}/secrets", {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": space}, "type": "kubernetes.io/tls", "data": data})


def said_programmed(api, name, namespace="default"):
    return api.conditions("ListenerSet", name, namespace).get("Programmed")


def test_a_gateway_under_a_name_that_was_there(world, api):
    """What was said of the one before says nothing of the one that is there now."""
    api.make_gateway(listener("tcp", 80))
    api.allow()
    api.make_set("more", listener("l", 81))
    world.start_ccmd()
    world.wait(lambda: api.stands("more", ACCEPTED, PROGRAMMED), "the set")
    api.delete("Gateway", "web")
    world.wait(lambda: api.get("Gateway", "web") is None, "the Gateway to go")
    world.wait(lambda: said_programmed(api, "more") != PROGRAMMED, "the set to say so")
    world.cloud.fault("CreateLoadBalancer", code="InternalError", http=500, message="no", count=1000)
    api.make_gateway(listener("tcp", 80))
    api.allow()
    world.wait(lambda: api.conditions("ListenerSet", "more")["Accepted"] == ACCEPTED, "the set to be accepted")
    world.settled()
    assert api.load_balancers() == [] and said_programmed(api, "more") == ("False", "Pending")


def test_a_set_that_comes_back(world, api):
    """It is programmed when its listener is there again."""
    namespace(world, "shop", team="a")
    api.make_gateway(listener("tcp", 80))
    api.allow("Selector", selector={"matchLabels": {"team": "a"}})
    api.make_set("more", listener("l", 81), namespace="shop")
    world.start_ccmd()
    world.wait(lambda: api.stands("more", ACCEPTED, PROGRAMMED, "shop"), "the set")
    for team in ("b", "a"):
        if team == "a":
            world.wait(lambda: set(api.served()) == {"80/tcp"}, "its listener to go")
            world.wait(lambda: api.stands("more", NOT_ALLOWED, NOT_ALLOWED, "shop"), "the refusal")
            world.settled()
            world.cloud.fault("CreateListener", code="InternalError", http=500, message="no", count=1000)
        world.kube.http.request("PATCH", "/api/v1/namespaces/shop", {"metadata": {"labels": {"team": team}}}, "application/merge-patch+json")
    world.wait(lambda: api.conditions("ListenerSet", "more", "shop")["Accepted"] == ACCEPTED, "the set to be accepted")
    world.settled()
    assert set(api.served()) == {"80/tcp"} and said_programmed(api, "more", "shop") == ("False", "Pending")


def test_what_a_secret_lacks_is_said_as_it_is_now(world, api):
    """Also where the listener is served with another one."""
    api.configure("upload_certificates = true;")
    secret(world, "one", "default", "ONE")
    api.make_gateway(listener("tcp", 80))
    api.allow()
    api.make_set("more", listener("l", 443, "TLS", tls={"mode": "Terminate", "certificateRefs": [{"name": "one"}, {"name": "two"}]}))
    world.start_ccmd()
    world.wait(lambda: set(api.served() or {}) == {"80/tcp", "443/tcpssl"}, "the listener")
    world.wait(lambda: api.entries("more").get("l", ({}, 0))[0].get("ResolvedRefs") == ("False", "InvalidCertificateRef"), "what lacks")
    world.settled()
    secret(world, "two", "default", "TWO")
    api.patch("Gateway", "web", {"spec": {"infrastructure": {"labels": {"a": "b"}}}})
    world.wait(lambda: api.entries("more")["l"][0]["ResolvedRefs"] == ("True", "ResolvedRefs"), "that it is there")


def test_sets_of_a_gateway_that_is_not_accepted_are_not_counted(world, api):
    api.make_gateway(listener("tcp", 80))
    api.allow()
    api.make_set("more", listener("l", 81))
    world.start_ccmd()
    world.wait(lambda: api.attached() == 1, "the set")
    api.patch("Gateway", "web", {"spec": {"addresses": [{"type": "Hostname", "value": "a.example.com"}]}})
    world.wait(lambda: api.stands("more", ("False", "ParentNotAccepted"), ("False", "ParentNotProgrammed")), "the refusal")
    world.wait(lambda: api.attached() == 0, "the count")


def test_a_set_made_anew_while_nobody_looks(world, api):
    from tests.integration.test_gateway_tenants import unseen
    api.make_gateway(listener("tcp", 80))
    api.allow()
    api.make_set("more", listener("l", 81))
    world.start_ccmd()
    world.wait(lambda: api.stands("more", ACCEPTED, PROGRAMMED), "the set")

    def anew():
        api.delete("ListenerSet", "more")
        api.make_set("more", listener("l", 82))
    unseen(world, anew)
    world.wait(lambda: set(api.served()) == {"80/tcp", "82/tcp"}, "its listener")
    world.wait(lambda: api.stands("more", ACCEPTED, PROGRAMMED), "the set")
