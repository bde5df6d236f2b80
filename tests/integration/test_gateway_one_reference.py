"""One reference that cannot be read, uploaded or listed is about its listener alone: all others, and all backends, are reconciled first."""

import base64

import pytest

from tests.support import proc
from tests.support.certificates import INVALID, NOT_PERMITTED, ON, PROGRAMMED, RESOLVED, Certificates, ref, tls_listener, writes
from tests.support.gateway_api import PREFIX, listener

pytestmark = pytest.mark.time_scale(4)
SECRET = "GET /api/v1/namespaces/default/secrets/cert"
LIST, CREATE = "DescribeSSLCertificateList", "CreateSSLCertificateWithName"
IDS = "ccm.alibabacloud.com/certificate-ids"
ALL = {"allowedListeners": {"namespaces": {"from": "All"}}}
# What is out of order -> faults of the cloud and of the API server.
FAULTS = {
    "the list answers 500": [("cloud", LIST, {"http": 500, "code": "InternalError", "message": "no"})],
    "the list is throttled": [("cloud", LIST, {"http": 400, "code": "Throttling.User", "message": "slow"})],
    "the list hangs": [("cloud", LIST, {"delay_ms": 30000, "http": 500, "code": "InternalError", "message": "no"})],
    "no rights": [("cloud", LIST, {"http": 403, "code": "NoPermission", "message": "no"})],
    "the upload answers 500": [("cloud", CREATE, {"http": 500, "code": "InternalError", "message": "no"})],
    "the Secret answers 500": [("kube", SECRET, {"http": 500, "code": "InternalError", "message": "no"})],
    "the Secret hangs": [("kube", SECRET, {"delay_ms": 30000, "http": 500, "code": "InternalError", "message": "no"})],
}


@pytest.fixture
def api(world):
    return Certificates.in_world(world, 3)


def break_down(world, name):
    for where, action, effect in FAULTS[name]:
        getattr(world, where).fault(action=action, count=100000, **effect)


def mend(world):
    world.cloud.clear_faults()
    world.kube.clear_faults()


def nodes_of(api, key="80/tcp"):
    return {server for server, _, _ in (api.served() or {}).get(key) or []}


def first(calls, action):
    return next(call["t"] for call in calls if call["action"].startswith(action))


def make_set(api, name, *listeners, namespace="other", **spec):
    return api.create("ListenerSet", name, {"parentRef": {"name": "web", "namespace": "default"}, "listeners": list(listeners), **spec}, namespace)


def set_listener(api, set_name, name, namespace="other"):
    status = (api.get("ListenerSet", set_name, namespace) or {}).get("status", {})
    found = [one for one in status.get("listeners", []) if one["name"] == name]
    return {one["type"]: (one["status"], one["reason"], one["message"]) for one in found[0]["conditions"]} if found else {}


# --- the order ---

@pytest.mark.parametrize("restart", [False, True], ids=["new", "after a restart"])
def test_writes_come_before_the_first_secret(world, api, restart):
    """Backends and listeners are in the cloud before the first Secret is read; then its listener is added to them."""
    api.make_secret("cert", "one")
    api.make_gateway(listener("tcp", 80), tls_listener("tls", 443, ref("cert")))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"]} and api.programmed() and api.resolved() == RESOLVED, "both listeners")
    world.settled()
    since, kube = 0, 0
    if restart:
        world.stop_ccmd()
        api.patch("Gateway", "web", {"spec": {"listeners": [listener("tcp", 80), tls_listener("tls", 443, ref("cert")), listener("more", 81)]}})
        since, kube = world.cloud.mark(), world.kube.mark()
        world.start_ccmd()
        world.wait(lambda: "81/tcp" in (api.served() or {}) and api.secrets_read(kube), "the new listener and the Secret")
        world.settled()
    calls, read = world.cloud.calls(since), first(world.kube.calls(kube), SECRET)
    created = [call["t"] for call in calls if call["action"] == "CreateListener"]
    assert created[0] < read and first(calls, LIST) > read
    assert api.secrets_read(kube) == [SECRET] and [call["action"] for call in calls].count(LIST) == 1
    if restart:
        assert len(created) == 1 and api.words() == {443: ["one"]}
    else:
        assert created[1] > read and first(calls, "AddServersToServerGroup" if any(
            call["action"] == "AddServersToServerGroup" for call in calls) else "CreateServerGroup") < read
        assert [call["action"] for call in calls].count(CREATE) == 1


def test_a_gateway_with_tls_alone_costs_nothing_before_its_secret(world, api):
    """No load balancer is created for a listener that cannot be served."""
    api.make_gateway(tls_listener("tls", 443, ref("cert")))
    world.start_ccmd()
    world.wait(lambda: api.resolved() == INVALID, "the refusal")
    world.settled()
    assert api.load_balancers() == [] and writes(world) == []
    api.make_secret("cert", "one")
    api.resync()
    world.wait(lambda: api.words() == {443: ["one"]} and api.programmed(), "the listener")
    assert world.cloud.actions().count("CreateLoadBalancer") == 1


# --- what is out of order ---

@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_waits_for_certificates_after_a_restart(world, api, fault):
    """Nodes, new listeners and the Gateway's others follow at once; the TLS listener keeps what it has, and says why once it lasts."""
    api.make_secret("cert", "one")
    api.make_gateway(listener("tcp", 80), tls_listener("tls", 443, ref("cert")))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"]} and api.programmed() and len(nodes_of(api)) == 3, "both listeners")
    world.settled()
    world.stop_ccmd()
    if "upload" in fault:
        api.renew("cert", "two")
    break_down(world, fault)
    since, kube = world.cloud.mark(), world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: any(c["action"] in (SECRET, LIST, CREATE) for c in [*world.kube.calls(kube), *world.cloud.calls(since)]), "the first try")
    world.kube.delete("Node", "node-3")
    api.patch("Gateway", "web", {"spec": {"listeners": [listener("tcp", 80), tls_listener("tls", 443, ref("cert")), listener("more", 81)]}})
    world.wait(lambda: nodes_of(api) == nodes_of(api, "443/tcpssl") == {"node-1", "node-2"}, "the node to leave both groups", timeout=5)
    world.wait(lambda: "81/tcp" in api.served(), "the new listener", timeout=5)
    assert api.words() == {443: ["one"]} and not {"DeleteListener", "DeleteSSLCertificate", "UpdateListenerAttribute"} & set(writes(world, since))
    world.wait(api.programmed, "the Gateway", timeout=5)
    assert api.listener("tls")[0]["Programmed"] == PROGRAMMED
    if "hangs" not in fault:
        world.wait(lambda: api.resolved() == INVALID, "the reason")
        assert "default/cert" in api.message() and ("cannot be read" if fault == "the Secret answers 500" else "not uploaded") in api.message()
        assert api.listener("tls")[0]["Programmed"] == PROGRAMMED, "it serves with what it has"
    mend(world)
    word = "two" if "upload" in fault else "one"
    world.wait(lambda: api.words() == {443: [word]} and set(api.uploaded()) == {word} and api.resolved() == RESOLVED, "the end of it", timeout=75)
    assert len(api.names()) == 1


@pytest.mark.parametrize("fault", ["the list answers 500", "the upload answers 500", "the Secret answers 500"])
def test_new_listeners_beside_a_failing_certificate(world, api, fault):
    """Those without TLS are created, the one with the certificate comes when it can."""
    api.make_secret("cert", "one")
    break_down(world, fault)
    api.make_gateway(tls_listener("tls", 443, ref("cert")), listener("tcp", 80))
    world.start_ccmd()
    world.wait(lambda: api.programmed() and api.resolved() == INVALID, "the Gateway and the reason")
    assert list(api.served()) == ["80/tcp"] and len(nodes_of(api)) == 3
    assert api.listener("tls")[0]["Programmed"] == ("False", "Pending")
    assert len(api.load_balancers()[0]["Groups"]) == 1, "no group for a listener that is not there"
    assert ("Warning", "InvalidCertificateRef") in [event[:2] for event in world.kube.events("web")]
    mend(world)
    world.wait(lambda: api.words() == {443: ["one"]} and api.resolved() == RESOLVED, "the listener", timeout=30)
    assert world.cloud.actions().count("CreateLoadBalancer") == 1 and len(api.names()) == 1


def test_a_failure_that_lasts_says_the_same(world, api):
    """Ids of requests change: what is said does not, and so nothing is written again and again."""
    api.make_secret("cert", "one")
    break_down(world, "the upload answers 500")
    api.make_gateway(tls_listener("tls", 443, ref("cert")), listener("tcp", 80))
    world.start_ccmd()
    world.wait(lambda: api.programmed() and api.resolved() == INVALID, "the reason")
    world.settled()
    said, kube, since = api.message(), world.kube.mark(), world.cloud.mark()
    world.wait(lambda: world.cloud.actions(since).count(CREATE) >= 2, "two more tries", timeout=40)
    world.settled()
    assert api.message() == said and not [one for one in world.kube.actions(kube) if one.startswith(("PATCH", "CREATE"))]


def test_a_plan_goes_on_without_a_certificate(world, api):
    """It says what would be created, and warns of the listener that would not."""
    api.make_secret("cert", "one")
    break_down(world, "the list answers 500")
    api.make_gateway(tls_listener("tls", 443, ref("cert")), listener("tcp", 80))
    _, out, err = proc.run([world.binary("ccmd"), "plan", "--config", str(world.config)])
    assert "create load balancer" in out and "create listener 80/TCP" in out and "create listener 443" not in out, (out, err)
    assert "InvalidCertificateRef: Secret default/cert: its certificate is not uploaded" in out


# --- references of others ---

@pytest.mark.parametrize("names", [[".."], ["."], ["a/b"], ["missing"], ["..", "missing", "also"]], ids=str)
def test_a_set_with_references_that_lead_nowhere(world, api, names):
    """The set says so of its listener; the other listeners of the Gateway follow, deletions as well."""
    world.kube.http.request("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
    api.make_secret("cert", "one")
    api.make_gateway(listener("tcp", 80), tls_listener("tls", 443, ref("cert")), listener("old", 82))
    api.patch("Gateway", "web", {"spec": ALL})
    make_set(api, "theirs", tls_listener("bad", 8443, *(ref(name) for name in names)), listener("good", 8080))
    world.start_ccmd()
    world.wait(lambda: set(api.served() or {}) == {"80/tcp", "82/tcp", "443/tcpssl", "8080/tcp"} and api.programmed(), "all but one")
    world.wait(lambda: set_listener(api, "theirs", "bad").get("ResolvedRefs", ())[:2] == INVALID, "what the set says")
    assert "it is not there" in set_listener(api, "theirs", "bad")["ResolvedRefs"][2]
    world.settled()
    since = world.cloud.mark()
    world.kube.delete("Node", "node-3")
    api.patch("Gateway", "web", {"spec": {"listeners": [listener("tcp", 80), tls_listener("tls", 443, ref("cert"))]}})
    world.wait(lambda: set(api.served()) == {"80/tcp", "443/tcpssl", "8080/tcp"}, "the end of the old listener", timeout=5)
    world.wait(lambda: nodes_of(api) == nodes_of(api, "443/tcpssl") == {"node-1", "node-2"}, "the removal of the node", timeout=5)
    assert [one for one in world.cloud.actions(since) if one in (LIST, CREATE)] == []
    unserved = [value for name, value in world.metrics().items() if name.startswith("ccmd_unserved_ports")]
    assert unserved == [3], "no pod is ready for any; 8443 is not among them, as it is not there"
    assert not [one for one in api.secrets_read() if one.rsplit("/", 1)[1] in ("..", ".", "b")]


def test_thousands_of_references(world, api):
    """1,600 Secrets that are not there: writes come first, and another namespace's Secret is read with the first of them."""
    world.kube.http.request("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
    api.make_gateway(listener("tcp", 80))
    api.patch("Gateway", "web", {"spec": ALL})
    make_set(api, "theirs", *(tls_listener(f"l-{port}", 9000 + port, *(ref(f"no-{port}-{number}") for number in range(64))) for port in range(25)))
    world.start_ccmd()
    world.wait(lambda: api.programmed() and len(api.secrets_read()) > 40, "the Gateway, and some of the Secrets")
    calls = world.kube.calls()
    assert first(world.cloud.calls(), "CreateListener") < first(calls, "GET /api/v1/namespaces/other/secrets/")
    api.make_secret("cert", "one")
    before = len(api.secrets_read())
    world.kube.delete("Node", "node-3")
    api.patch("Gateway", "web", {"spec": {"listeners": [listener("tcp", 80), tls_listener("tls", 443, ref("cert"))]}})
    world.wait(lambda: nodes_of(api) == {"node-1", "node-2"}, "the removal of the node", timeout=5)
    world.wait(lambda: api.words() == {443: ["one"]}, "the listener of the other Secret", timeout=10)
    read = api.secrets_read()
    place = read.index(SECRET) - before
    assert place < 1600 - before and place <= 200, f"it had its turn: {place}"
    world.wait(lambda: len(set(api.secrets_read())) == 1601, "all Secrets", timeout=60)
    assert world.cloud.actions().count(LIST) == 1


def test_one_bad_secret_of_several(world, api):
    """Those behind one that cannot be read stay on the listener as they are."""
    api.make_secret("a", "one")
    api.make_secret("cert", "two")
    api.make_gateway(tls_listener("tls", 443, ref("a"), ref("cert")))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one", "two"]} and api.programmed(), "the listener")
    world.settled()
    world.stop_ccmd()
    break_down(world, "the Secret answers 500")
    api.renew("a", "three")
    since = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["three", "two"]} and api.resolved() == INVALID, "the renewed default, beside the old one")
    world.settled()
    assert "DisassociateAdditionalCertificatesWithListener" not in writes(world, since) and "two" in api.uploaded()
    mend(world)
    world.wait(lambda: api.resolved() == RESOLVED and set(api.uploaded()) == {"two", "three"}, "the end of it", timeout=30)
    assert api.words() == {443: ["three", "two"]}


# --- values that cannot be used ---

@pytest.mark.parametrize("tls", [
    {"certificateRefs": [ref("missing")]},
    {"certificateRefs": [{"group": "", "kind": "ConfigMap", "name": "cert"}]},
    {"certificateRefs": [ref("..")]},
    {"certificateRefs": []},
    {"options": {"example.com/key": "1"}, "certificateRefs": [ref("cert")]},
    {"options": {IDS: "999-cn-hangzhou"}},
], ids=["missing", "another kind", "no name", "none", "an option", "ids that are not for it"])
def test_a_served_listener_keeps_what_it_has(world, api, tls):
    """Backends follow, its certificate is neither taken off nor deleted; a new listener of that kind is not created."""
    api.configure(ON + ' allowed_ids = ( "default:certificate:101-*" );')
    api.make_secret("cert", "one")
    api.make_gateway(listener("tcp", 80), tls_listener("tls", 443, ref("cert")))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"]} and api.programmed(), "the listeners")
    world.settled()
    since = world.cloud.mark()
    bad = {"mode": "Terminate", **tls}
    api.patch("Gateway", "web", {"spec": {"listeners": [listener("tcp", 80), listener("tls", 443, "TLS", tls=bad), listener("new", 444, "TLS", tls=bad)]}})
    world.wait(lambda: api.listener("new") and api.listener("tls")[0]["Programmed"] == ("False", "Invalid"), "what they say")
    world.kube.delete("Node", "node-3")
    world.wait(lambda: nodes_of(api) == nodes_of(api, "443/tcpssl") == {"node-1", "node-2"}, "the node to leave both", timeout=5)
    world.settled()
    assert api.words() == {443: ["one"]} and writes(world, since) == [] and set(api.uploaded()) == {"one"}
    assert api.programmed() and len(api.load_balancers()[0]["Groups"]) == 2
    api.patch("Gateway", "web", {"spec": {"listeners": [listener("tcp", 80)]}})
    world.wait(lambda: set(api.served()) == {"80/tcp"} and api.uploaded() == {}, "the end of all")


def test_the_port_of_what_cannot_be_made_stays_in_use(world, api):
    """TCP that becomes TLS without a certificate stays TCP until it has one."""
    api.make_gateway(listener("web", 443), listener("tcp", 80))
    world.start_ccmd()
    world.wait(lambda: api.programmed() and set(api.served()) == {"443/tcp", "80/tcp"}, "the listeners")
    since = world.cloud.mark()
    api.patch("Gateway", "web", {"spec": {"listeners": [tls_listener("web", 443, ref("cert")), listener("tcp", 80)]}})
    world.wait(lambda: api.resolved("web") == INVALID, "what it says")
    world.settled()
    assert set(api.served()) == {"443/tcp", "80/tcp"} and writes(world, since) == []
    api.make_secret("cert", "one")
    api.resync()
    world.wait(lambda: api.words() == {443: ["one"]} and set(api.served()) == {"443/tcpssl", "80/tcp"}, "the change")


def test_ids_that_a_set_may_not_name(world, api):
    """Its listener says so; the Gateway and the set's others are programmed."""
    world.kube.http.request("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
    api.configure('allowed_ids = ( "default:certificate:101-*" );')
    api.make_gateway(listener("ids", 443, "TLS", tls={"options": {IDS: "101-cn-hangzhou"}}))
    api.patch("Gateway", "web", {"spec": ALL})
    make_set(api, "theirs", listener("bad", 8443, "TLS", tls={"options": {IDS: "101-cn-hangzhou"}}), listener("good", 8080))
    world.start_ccmd()
    world.wait(lambda: api.programmed() and set(api.served()) == {"443/tcpssl", "8080/tcp"}, "all but one")
    world.wait(lambda: set_listener(api, "theirs", "good").get("Programmed", ())[:2] == PROGRAMMED, "the set")
    status, reason, message = set_listener(api, "theirs", "bad")["ResolvedRefs"]
    assert (status, reason) == INVALID and "namespace other may not use certificate 101-cn-hangzhou" in message
    world.settled()
    conditions = api.get("Gateway", "web")["status"]["conditions"]
    assert not [one for one in conditions if one["status"] != "True"], conditions


def test_an_id_that_never_was(world, api):
    """It fails the listener in each pass: the others follow, and the Secrets are not read again each time."""
    api.make_secret("cert", "one")
    api.make_gateway(listener("tcp", 80), tls_listener("tls", 443, ref("cert")))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"]} and api.programmed(), "the listeners")
    world.settled()
    bad = listener("bad", 444, "TLS", tls={"options": {IDS: "999-cn-hangzhou"}})
    api.patch("Gateway", "web", {"spec": {"listeners": [listener("tcp", 80), tls_listener("tls", 443, ref("cert")), bad, listener("more", 81)]}})
    world.wait(lambda: "81/tcp" in api.served() and api.conditions("Gateway", "web")["Programmed"][0] == "False", "the others, and the failure")
    world.settled()
    kube = world.kube.mark()
    for number in range(5):
        api.patch("Gateway", "web", {"metadata": {"annotations": {"a": str(number)}}})
        world.settled()
    world.kube.delete("Node", "node-3")
    world.wait(lambda: nodes_of(api) == nodes_of(api, "443/tcpssl") == {"node-1", "node-2"}, "the removal of the node", timeout=5)
    assert api.secrets_read(kube) == [] and api.words() == {443: ["one"]}


# --- what is deleted ---

@pytest.mark.parametrize("fault", ["the Secret answers 500", "the list answers 500"])
def test_nothing_is_deleted_on_the_strength_of_a_failed_read(world, api, fault):
    """What the Secret that is not read stood for stays; nothing goes as long as it is not known what there is."""
    api.configure(ON + " orphan_cleanup = true; audit_interval_s = 1; missing_wait_s = 0;")
    api.make_secret("cert", "one")
    api.make_secret("a", "two")
    api.make_gateway(tls_listener("tls", 443, ref("cert")), tls_listener("more", 444, ref("a")))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"], 444: ["two"]} and api.programmed(), "the listeners")
    world.settled()
    world.stop_ccmd()
    break_down(world, fault)
    api.renew("a", "three")
    since = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: api.resolved() == INVALID, "the reason")
    if "Secret" in fault:
        world.wait(lambda: set(api.uploaded()) == {"one", "three"}, "the old certificate of the other Secret to go", timeout=75)
    world.settled()
    assert world.cloud.actions(since).count("DeleteSSLCertificate") == ("Secret" in fault) and "one" in api.uploaded()
    assert api.words()[443] == ["one"]
    mend(world)
    world.wait(lambda: set(api.uploaded()) == {"one", "three"} and api.words() == {443: ["one"], 444: ["three"]}, "the renewal", timeout=75)


def spoil(world, name):
    """The Secret cannot be read, however often it is read."""
    world.kube.fault(action="GET /api/v1/namespaces/default/secrets/" + name, count=100000, http=500, code="InternalError", message="no")


@pytest.mark.parametrize("bad", ["nothing", "a Secret", "a Secret of two certificates", "an id"])
def test_certificates_of_others_after_a_restart(world, api, bad):
    """What others do not use any more is deleted, though a Secret of one Gateway cannot be read, or its passes fail."""
    tls = {"options": {IDS: "999-cn-hangzhou"}} if bad == "an id" else {"certificateRefs": [ref("bad")]}
    api.make_secret("cert", "one")
    api.make_secret("bad", "bad")
    api.make_gateway(tls_listener("tls", 443, ref("cert")), listener("tcp", 80))
    api.make_gateway(tls_listener("tls", 8443, ref("bad")), listener("tcp", 81), name="tenant")
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"], 8443: ["bad"]} and api.programmed(), "the first")
    world.settled()
    world.stop_ccmd()
    if bad == "a Secret of two certificates":
        name, = [one["CertName"] for one in world.cloud.state()["casCertificates"] if one["CertIdentifier"] == api.uploaded()["bad"]]
        world.cloud.edit("call", product="cas", action="CreateSSLCertificateWithName", params={
            "CertName": name[:-1] + ("1" if name[-1] == "0" else "0"), "PrivateKey": "-----BEGIN RSA PRIVATE KEY-----",
            "Certificate": "-----BEGIN CERTIFICATE-----\nMIICERTIFICATEworse\n-----END CERTIFICATE-----\n"})
    if bad.startswith("a Secret"):
        spoil(world, "bad")
    api.patch("Gateway", "tenant", {"spec": {"listeners": [listener("tls", 8443, "TLS", tls={"mode": "Terminate", **tls}), listener("tcp", 81)]}})
    world.start_ccmd()
    world.wait(lambda: world.log().count("plugin gateway: started") == 2, "the start")
    world.settled()
    api.renew("cert", "two")
    api.resync()
    world.wait(lambda: api.words().get(443) == ["two"], "the new certificate", timeout=30)
    world.wait(lambda: "one" not in api.uploaded(), "the old certificate, with its key, to go", timeout=30)
    world.settled()
    assert "bad" in api.uploaded() and api.words()[8443] == ["bad"]
    assert ("worse" in api.uploaded()) == (bad == "a Secret of two certificates")


def test_parts_of_a_secret_are_still_judged(world, api):
    """A broken renewal behind a failing read: the certificate stays, the reason is the last one."""
    api.make_secret("cert", "one")
    api.make_gateway(tls_listener("tls", 443, ref("cert")))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"]} and api.programmed(), "the listener")
    break_down(world, "the Secret answers 500")
    api.renew("cert", "", {"tls.crt": base64.b64encode(b"Hello world\n").decode()})
    api.resync()
    world.wait(lambda: "cannot be read" in api.message(), "the first reason")
    mend(world)
    world.wait(lambda: "tls.crt" in api.message(), "the second reason", timeout=30)
    assert api.words() == {443: ["one"]} and api.listener("tls")[0]["Programmed"] == PROGRAMMED


@pytest.mark.parametrize("slow", ["a", "b"])
def test_a_refused_listener_whose_secrets_come_one_by_one(world, api, slow):
    """What it said before a restart is no reason to delete it while the last of its Secrets is read."""
    api.make_secret("cert", "one")
    api.make_gateway(listener("tcp", 80), tls_listener("tls", 443, ref("cert")))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"]} and api.programmed(), "the listeners")
    api.patch("Gateway", "web", {"spec": {"listeners": [listener("tcp", 80), tls_listener("tls", 443, ref("a"), ref("b"))]}})
    world.wait(lambda: api.listener("tls")[0]["Programmed"] == ("False", "Invalid"), "the refusal")
    world.settled()
    world.stop_ccmd()
    api.make_secret("a", "two")
    api.make_secret("b", "three")
    world.kube.fault(action="GET /api/v1/namespaces/default/secrets/" + slow, delay_ms=2000)
    since = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: set(api.words()[443]) == {"two", "three"} and api.listener("tls")[0]["Programmed"] == PROGRAMMED, "both certificates")
    world.settled()
    assert "DeleteListener" not in writes(world, since)


# --- consent that is withdrawn ---

GRANT = {"from": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "namespace": "default"}], "to": [{"group": "", "kind": "Secret"}]}


@pytest.mark.parametrize("order", [1, -1], ids=["first", "last"])
@pytest.mark.parametrize("other, words", [("new", []), ("as before", ["two"]), ("of another kind", []), ("not uploaded", [])])
def test_consent_that_is_withdrawn(world, api, other, words, order):
    """Another reference of the listener that fails keeps no certificate whose owner has withdrawn the grant."""
    world.kube.http.request("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
    api.make_secret("cert", "one", namespace="other")
    api.make_secret("mine", "two")
    theirs, mine = ref("cert", namespace="other"), ref("mine") if other != "of another kind" else {"group": "", "kind": "ConfigMap", "name": "mine"}
    api.create("ReferenceGrant", "all", GRANT, namespace="other")
    api.make_gateway(tls_listener("tls", 443, *[theirs, mine][:2 if other == "as before" else 1]), listener("tcp", 80))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one", *words]} and api.resolved() == RESOLVED, "the listener")
    world.settled()
    if other == "as before":
        world.stop_ccmd()
    if other == "not uploaded":
        break_down(world, "the upload answers 500")
    else:
        spoil(world, "mine")
    api.patch("Gateway", "web", {"spec": {"listeners": [tls_listener("tls", 443, *[theirs, mine][::order]), listener("tcp", 80)]}})
    if other == "as before":
        world.start_ccmd()
        world.wait(lambda: world.log().count("plugin gateway: started") == 2, "the start")
    world.wait(lambda: api.resolved() == INVALID, "the failure")
    world.settled()
    assert "one" in api.words()[443] and set(words) < set(api.words()[443])
    api.delete("ReferenceGrant", "all", namespace="other")
    world.wait(lambda: api.resolved() == NOT_PERMITTED, "the refusal")
    world.wait(lambda: set(api.words().get(443, [])) == set(words), "the certificate to leave the listener")
    world.wait(lambda: "one" not in api.uploaded(), "the certificate to be deleted", timeout=30)
    assert "80/tcp" in api.served() and api.programmed()


def test_a_refusal_takes_nothing_else_after_a_restart(world, api):
    """One reference has never been permitted. The listener keeps its own certificate, although its Secret cannot be read after a restart."""
    world.kube.http.request("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
    api.make_secret("mine", "two")
    api.make_gateway(tls_listener("tls", 443, ref("cert", namespace="other"), ref("mine")), listener("tcp", 80))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["two"]} and api.resolved() == NOT_PERMITTED and api.programmed(), "the listener")
    world.settled()
    world.stop_ccmd()
    spoil(world, "mine")
    since = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: "cannot be read" in "".join(event[2] for event in world.kube.events("web")), "the failure")
    world.settled()
    assert api.words() == {443: ["two"]} and writes(world, since) == []


# --- the Gateway's own references and fields ---

def make_map(world, name, data):
    world.kube.http.request("POST", "/api/v1/namespaces/default/configmaps", {
        "metadata": {"name": name, "labels": {"ccm.alibabacloud.com/gateway-parameters": ""}}, "data": data})
    return {"group": "", "kind": "ConfigMap", "name": name}


def drop_map(world, api):
    world.kube.http.request("DELETE", "/api/v1/namespaces/default/configmaps/own")


def edit(**spec):
    return lambda world, api: api.patch("Gateway", "web", {"spec": spec})


UNREADABLE = {
    "its ConfigMap is deleted": (drop_map, "InvalidParameters"),
    "another ConfigMap": (edit(infrastructure={"parametersRef": {"name": "missing"}}), "InvalidParameters"),
    "no ConfigMap": (edit(infrastructure={"parametersRef": {"kind": "Secret"}}), "InvalidParameters"),
    "an annotation of Services": (edit(infrastructure={"annotations": {PREFIX + "id": "nlb-1"}}), "InvalidParameters"),
    "an address of another type": (edit(addresses=[{"type": "Hostname", "value": "a.example.com"}]), "UnsupportedAddress"),
    "a field that is not served": (edit(tls={"frontend": {}}), "Invalid"),
    "another class": (edit(gatewayClassName="missing"), None),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_gateway_that_cannot_be_read_as_a_whole(world, api, name):
    """Its settings stay as they are, its backends and listeners follow; a new one of that kind gets no load balancer."""
    change, reason = UNREADABLE[name]
    own = make_map(world, "own", {"idle-timeout": "100"})
    api.make_gateway(listener("tcp", 80), parametersRef=own, labels={"team": "x"})
    world.start_ccmd()
    world.wait(lambda: api.programmed() and len(nodes_of(api)) == 3, "the Gateway")
    world.settled()
    since = world.cloud.mark()
    change(world, api)
    if reason is not None:
        world.wait(lambda: api.conditions("Gateway", "web")["Accepted"] == ("False", reason), "the refusal")
    world.settled()
    assert [one for one in world.cloud.actions(since) if not one.startswith(("List", "Get", "Describe"))] == []
    world.kube.delete("Node", "node-3")
    api.patch("Gateway", "web", {"spec": {"listeners": [listener("tcp", 80), listener("more", 81)]}})
    world.wait(lambda: nodes_of(api) == nodes_of(api, "81/tcp") == {"node-1", "node-2"}, "the node to leave, and the new listener", timeout=5)
    (lb,) = api.load_balancers()
    assert {one["IdleTimeout"] for one in lb["Listeners"]} == {"100"} and lb["Tags"]["team"] == "x"
    if reason is None:
        return
    assert api.conditions("Gateway", "web")["Programmed"] == ("False", "Invalid")
    api.create("Gateway", "new", api.get("Gateway", "web")["spec"])
    world.wait(lambda: api.conditions("Gateway", "new").get("Accepted") == ("False", reason), "the refusal of the new one")
    world.settled()
    assert len(api.load_balancers()) == 1
    api.delete("Gateway", "web")
    world.wait(lambda: api.get("Gateway", "web") is None and api.load_balancers() == [], "the end of all")
