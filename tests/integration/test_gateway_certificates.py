"""Certificates of Secrets: from the Secret to the listener, renewed before removed, and never a word of a private key."""

import base64
import collections
import hashlib
import signal

import pytest

from tests.support import proc
from tests.support.certificates import INVALID, NOT_PERMITTED, ON, PROGRAMMED, RESOLVED, Certificates, ref, tls, tls_listener, writes
from tests.support.gateway_api import listener
from tests.support.world import CLUSTER_ID

pytestmark = pytest.mark.time_scale(10)


@pytest.fixture
def api(world):
    return Certificates.in_world(world, 2)


def test_from_the_secret_to_the_listener(world, api):
    api.make_secret("cert", "one")
    api.make_gateway(tls_listener("tls", 443, ref("cert")), listener("tcp", 80))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"]}, "the listener")
    world.wait(api.programmed, "the Gateway")
    world.settled()
    assert api.listener("tls") == ({"Accepted": ("True", "Accepted"), "Conflicted": ("False", "NoConflicts"), "ResolvedRefs": RESOLVED,
                                    "Programmed": PROGRAMMED}, 1, ["TCPRoute", "TLSRoute"])
    (name,) = api.names()
    assert len(name) <= 63 and name.startswith("ccm-") and "cert" not in name and "default" not in name
    counts = collections.Counter(world.cloud.actions())
    assert counts["DescribeSSLCertificateList"] == 1 and counts["CreateSSLCertificateWithName"] == 1
    assert ("Normal", "CertificateUploaded") in [event[:2] for event in world.kube.events("web")]
    assert api.secrets_read() == ["GET /api/v1/namespaces/default/secrets/cert"], "one, by its name"
    since, kube = world.cloud.mark(), world.kube.mark()
    api.patch("Gateway", "web", {"metadata": {"annotations": {"a": "b"}}})
    world.settled()
    assert world.cloud.actions(since) == [] and api.secrets_read(kube) == []
    api.delete("Gateway", "web")
    world.wait(lambda: api.get("Gateway", "web") is None and api.uploaded() == {}, "the Gateway and the certificate to go")
    order = writes(world, since)
    assert order.index("DeleteLoadBalancer") < order.index("DeleteSSLCertificate") and order.count("DeleteSSLCertificate") == 1


def test_several_certificates_and_two_gateways(world, api):
    """The first is the default; a Secret of two Gateways is uploaded once, and goes with the last of them."""
    api.make_secret("a", "one")
    api.make_secret("b", "two")
    api.make_gateway(tls_listener("tls", 443, ref("b"), ref("a")))
    api.make_gateway(tls_listener("tls", 8443, ref("a")), name="other")
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["two", "one"], 8443: ["one"]}, "the listeners")
    world.settled()
    assert world.cloud.actions().count("CreateSSLCertificateWithName") == len(api.names()) == 2
    api.delete("Gateway", "web")
    world.wait(lambda: set(api.uploaded()) == {"one"}, "what the other does not use to go")
    world.settled()
    assert api.words() == {8443: ["one"]}
    api.patch("Gateway", "other", {"spec": {"listeners": [listener("tcp", 80)]}})
    world.wait(lambda: api.uploaded() == {} and api.words() == {}, "the certificate to go with its listener")


def test_renewal(world, api):
    """The new one is there and on the listener before the old one goes; a restart in between or after writes nothing twice."""
    api.make_secret("cert", "one")
    api.make_gateway(tls_listener("tls", 443, ref("cert")))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"]} and api.programmed(), "the listener")
    world.settled()
    since = world.cloud.mark()
    api.renew("cert", "two")
    api.resync()
    world.wait(lambda: api.words() == {443: ["two"]} and set(api.uploaded()) == {"two"}, "the renewal")
    assert writes(world, since) == ["CreateSSLCertificateWithName", "UpdateListenerAttribute", "DeleteSSLCertificate"]
    world.settled()
    world.stop_ccmd()
    since = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: world.admin("/readyz")[0] == 200, "readiness")
    world.settled()
    assert writes(world, since) == [] and world.cloud.actions(since).count("DescribeSSLCertificateList") == 1
    world.stop_ccmd()
    api.renew("cert", "three")
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["three"]} and set(api.uploaded()) == {"three"}, "what changed meanwhile")


def test_renewal_of_what_two_gateways_use(world, api):
    """The old one stays until both have the new one."""
    api.make_secret("cert", "one")
    api.make_gateway(tls_listener("tls", 443, ref("cert")))
    api.make_gateway(tls_listener("tls", 8443, ref("cert")), name="other")
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"], 8443: ["one"]}, "the listeners")
    world.settled()
    world.cloud.fault(action="UpdateListenerAttribute", nth=2, http=500, code="InternalError", message="no", count=3)
    api.renew("cert", "two")
    api.resync()
    api.resync("default/other")
    world.wait(lambda: api.words() == {443: ["two"], 8443: ["two"]} and set(api.uploaded()) == {"two"}, "the renewal", timeout=60)
    assert "DeleteSSLCertificate" == writes(world)[-1] and writes(world).count("DeleteSSLCertificate") == 1


def test_a_secret_that_goes_or_breaks_takes_nothing_along(world, api):
    """The listener keeps the certificate that it has, also behind a restart; what is wrong stands there."""
    api.make_secret("cert", "one")
    api.make_gateway(tls_listener("tls", 443, ref("cert")))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"]} and api.programmed(), "the listener")
    api.renew("cert", "", {"tls.crt": base64.b64encode(b"Hello world\n").decode()})
    api.resync()
    world.wait(lambda: api.resolved() == INVALID, "the refusal")
    assert "tls.crt" in api.message() and "default/cert" in api.message()
    world.settled()
    world.stop_ccmd()
    api.drop_secret("cert")
    since = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: "it is not there" in api.message(), "the second refusal")
    world.settled()
    assert api.words() == {443: ["one"]} and writes(world, since) == []
    assert api.listener("tls")[0]["Programmed"] == PROGRAMMED
    api.make_secret("cert", "two")
    api.resync()
    world.wait(lambda: api.words() == {443: ["two"]} and set(api.uploaded()) == {"two"} and api.resolved() == RESOLVED, "the new one")


def test_missing_and_then_there(world, api):
    """It is looked for again every 15 s; the other listener serves meanwhile."""
    api.make_gateway(tls_listener("tls", 443, ref("cert")), listener("tcp", 80))
    world.start_ccmd()
    world.wait(lambda: api.resolved() == INVALID and api.programmed(), "the refusal")
    assert api.listener("tls")[0]["Programmed"] == ("False", "Invalid") and "it is not there" in api.message()
    assert list(api.served()) == ["80/tcp"]
    api.make_secret("cert", "one")
    world.wait(lambda: api.words() == {443: ["one"]} and api.resolved() == RESOLVED, "the listener", timeout=40)
    assert ("Warning", "InvalidCertificateRef") in [event[:2] for event in world.kube.events("web")]


@pytest.mark.parametrize("kind, data, word", [
    ("Opaque", None, "kubernetes.io/tls"),
    ("kubernetes.io/tls", {"tls.crt": base64.b64encode(b"Hello world\n").decode(), "tls.key": tls("x")["tls.key"]}, "tls.crt"),
    ("kubernetes.io/tls", {**tls("x"), "tls.key": base64.b64encode(b"Hello world\n").decode()}, "tls.key"),
    ("kubernetes.io/tls", {"tls.key": tls("x")["tls.key"]}, "tls.crt"),
], ids=["type", "certificate", "key", "none"])
def test_secrets_that_cannot_be_used(world, api, kind, data, word):
    api.make_secret("cert", "one", kind=kind, data=data)
    api.make_gateway(tls_listener("tls", 443, ref("cert")), listener("tcp", 80))
    world.start_ccmd()
    world.wait(lambda: api.resolved() == INVALID and api.programmed(), "the refusal")
    assert word in api.message() and list(api.served()) == ["80/tcp"]
    world.settled()
    assert api.uploaded() == {} and "CreateSSLCertificateWithName" not in world.cloud.actions()


def test_references_to_other_things(world, api):
    api.make_gateway(tls_listener("tls", 443, {"group": "", "kind": "ConfigMap", "name": "cert"}),
                     tls_listener("group", 444, {"group": "x.example.com", "kind": "Secret", "name": "cert"}), listener("tcp", 80))
    world.start_ccmd()
    world.wait(lambda: api.resolved() == api.resolved("group") == INVALID and api.programmed(), "the refusals")
    assert api.secrets_read() == []


def test_consent_of_another_namespace(world, api):
    """Given and withdrawn, for all Secrets and for one by its name."""
    world.kube.http.request("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
    api.make_secret("cert", "one", namespace="other")
    api.make_gateway(tls_listener("tls", 443, ref("cert", namespace="other")), listener("tcp", 80))
    world.start_ccmd()
    world.wait(lambda: api.resolved() == NOT_PERMITTED and api.programmed(), "the refusal")
    world.settled()
    assert api.uploaded() == {} and api.secrets_read() == [], "it is not even read"
    grant = {"from": [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "namespace": "default"}]}
    api.create("ReferenceGrant", "one", {**grant, "to": [{"group": "", "kind": "Secret", "name": "another"}]}, namespace="other")
    world.settled()
    assert api.resolved() == NOT_PERMITTED
    api.create("ReferenceGrant", "all", {**grant, "to": [{"group": "", "kind": "Secret"}]}, namespace="other")
    world.wait(lambda: api.words() == {443: ["one"]} and api.resolved() == RESOLVED, "the listener")
    world.settled()
    api.delete("ReferenceGrant", "all", namespace="other")
    world.wait(lambda: api.resolved() == NOT_PERMITTED and api.words() == {}, "the listener to go")
    world.wait(lambda: api.uploaded() == {}, "the certificate to go")


def test_a_secret_that_may_not_be_read(world, api):
    api.make_secret("cert", "one")
    api.make_gateway(tls_listener("tls", 443, ref("cert")), listener("tcp", 80))
    world.kube.fault(action="GET /api/v1/namespaces/default/secrets/cert", count=1000, http=403, code="Forbidden", message="no")
    world.start_ccmd()
    world.wait(lambda: api.resolved() == INVALID and api.programmed(), "the refusal")
    assert "Role" in api.message() and list(api.served()) == ["80/tcp"]
    world.kube.clear_faults()
    api.resync()
    world.wait(lambda: api.words() == {443: ["one"]} and api.resolved() == RESOLVED, "the listener")
    since = world.cloud.mark()
    world.kube.fault(action="GET /api/v1/namespaces/default/secrets/cert", count=2, http=500, code="InternalError", message="no")
    api.resync()
    world.settled()
    assert writes(world, since) == [] and api.words() == {443: ["one"]}, "an API server in trouble says nothing about Secrets"


def test_without_the_option(world, api):
    api.configure()
    api.make_secret("cert", "one")
    api.make_gateway(tls_listener("tls", 443, ref("cert")), listener("tcp", 80))
    world.start_ccmd()
    world.wait(lambda: api.resolved() == INVALID and api.programmed(), "the refusal")
    world.settled()
    assert "upload_certificates" in api.message() and api.uploaded() == {}
    assert api.secrets_read() == []
    assert "DescribeSSLCertificateList" not in world.cloud.actions()


def test_an_answer_that_is_lost(world, api):
    """The certificate is found again by its name: there is no second one."""
    api.make_secret("cert", "one")
    api.make_gateway(tls_listener("tls", 443, ref("cert")))
    world.cloud.fault(action="CreateSSLCertificateWithName", cut="after")
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"]} and api.programmed(), "the listener", timeout=40)
    assert world.cloud.actions().count("CreateSSLCertificateWithName") == 1 and len(api.names()) == 1


def test_what_the_service_refuses(world, api):
    """It stands on the listener, and is not asked for again and again; a message that repeats the key is withheld."""
    api.make_secret("cert", "one")
    api.make_gateway(tls_listener("tls", 443, ref("cert")), listener("tcp", 80))
    key = base64.b64decode(tls("one")["tls.key"]).decode()
    world.cloud.fault(action="CreateSSLCertificateWithName", count=1000, http=400, code="KeyMismatch", message=f"Not the key: {key}")
    world.start_ccmd()
    world.wait(lambda: api.resolved() == INVALID and api.programmed(), "the refusal")
    assert "KeyMismatch" in api.message() and "withheld" in api.message()
    for turn in range(3):
        api.patch("Gateway", "web", {"metadata": {"annotations": {"turn": str(turn)}}})
    world.settled()
    assert world.cloud.actions().count("CreateSSLCertificateWithName") == 1
    world.cloud.clear_faults()
    api.renew("cert", "two")
    api.resync()
    world.wait(lambda: api.words() == {443: ["two"]} and api.resolved() == RESOLVED, "the listener")


def test_allowed_ids_are_about_ids(world, api):
    """What a person names by id needs to be allowed; a Secret is the namespace's own."""
    api.configure(ON + ' allowed_ids = ( "default:certificate:101-*" );')
    api.make_secret("cert", "one")
    api.make_gateway(tls_listener("tls", 443, ref("cert")), listener("ids", 444, "TLS", tls={
        "options": {"ccm.alibabacloud.com/certificate-ids": "101-cn-hangzhou"}}))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"], 444: ["101-cn-hangzhou"]}, "the listeners")


def test_a_certificate_that_somebody_deletes(world, api):
    """It is uploaded again as soon as the cloud says that it does not know it."""
    api.make_secret("cert", "one")
    api.make_gateway(tls_listener("tls", 443, ref("cert")))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"]} and api.programmed(), "the listener")
    world.settled()
    world.cloud.edit("delete", type="cas_certificate", id=api.uploaded()["one"])
    api.patch("Gateway", "web", {"spec": {"listeners": [tls_listener("tls", 443, ref("cert")), tls_listener("more", 444, ref("cert"))]}})
    world.wait(lambda: api.words() == {443: ["one"], 444: ["one"]}, "both listeners", timeout=40)
    assert len(api.names()) == 1


def test_a_restart_says_nothing_new(world, api):
    """Two Gateways with one Secret: neither flips, whoever looks at it first."""
    api.make_secret("cert", "one")
    api.make_gateway(tls_listener("tls", 443, ref("cert")))
    api.make_gateway(tls_listener("tls", 8443, ref("cert")), name="other")
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"], 8443: ["one"]} and api.programmed() and api.programmed("other"), "both")
    world.settled()
    world.stop_ccmd()
    since, kube = world.cloud.mark(), world.kube.mark()
    world.kube.fault(action="GET /api/v1/namespaces/default/secrets/cert", count=1, http=500, code="InternalError", message="no")
    world.start_ccmd()
    world.wait(lambda: world.admin("/readyz")[0] == 200 and len(api.secrets_read(kube)) >= 2, "a second look at the Secret")
    world.settled()
    assert writes(world, since) == [] and [a for a in world.kube.actions(kube) if a.startswith("PATCH")] == []


def test_the_option_is_live(world, api):
    """Switched on, what waited for it is served."""
    api.configure()
    api.make_secret("cert", "one")
    api.make_gateway(tls_listener("tls", 443, ref("cert")), listener("tcp", 80))
    world.start_ccmd()
    world.wait(lambda: api.resolved() == INVALID and api.programmed(), "the refusal")
    api.configure(ON)
    world.ccmd.popen.send_signal(signal.SIGHUP)
    world.wait(lambda: ": taken over: " in world.log(), "the new configuration")
    api.patch("Gateway", "web", {"metadata": {"annotations": {"a": "b"}}})
    world.wait(lambda: api.words() == {443: ["one"]} and api.resolved() == RESOLVED, "the listener")


def test_a_plan_says_what_would_be_uploaded(world, api):
    api.make_secret("cert", "one")
    api.make_gateway(tls_listener("tls", 443, ref("cert")))
    _, out, err = proc.run([world.binary("ccmd"), "plan", "--config", str(world.config)])
    assert "upload certificate ccm-" in out and out.index("of Secret default/cert") < out.index("create load balancer"), (out, err)
    assert api.uploaded() == {} and not writes(world)
    assert "MIIPRIVATE" not in out + err


def test_left_over(world, api):
    """What another process of this cluster has left goes with orphan_cleanup, after a while; what others have made never does."""
    api.configure(ON + " orphan_cleanup = true; audit_interval_s = 1; missing_wait_s = 0;")
    api.make_secret("cert", "one")
    api.make_secret("gone", "two")
    api.make_gateway(tls_listener("tls", 443, ref("cert")))
    api.make_gateway(tls_listener("tls", 443, ref("gone")), name="other")
    world.cloud.edit("call", product="cas", action="CreateSSLCertificateWithName", params={
        "CertName": "ccm-0123456789ab-0123456789abcdef-01234567890123456789", "PrivateKey": "-----BEGIN RSA PRIVATE KEY-----",
        "Certificate": "-----BEGIN CERTIFICATE-----\nMIICERTIFICATEforeign\n-----END CERTIFICATE-----\n"})
    world.start_ccmd()
    world.wait(lambda: set(api.uploaded()) == {"one", "two", "foreign"} and api.programmed() and api.programmed("other"), "both")
    world.settled()
    since = world.cloud.mark()
    # All of them: the search for orphans may delete it as well.
    world.cloud.fault(action="DeleteSSLCertificate", count=100, cut="before", delay_ms=600000)
    api.delete("Gateway", "other")
    world.wait(lambda: any(call["http"] == 0 and call["action"] == "DeleteSSLCertificate" for call in world.cloud.calls(since)),
               "the deletion of the certificate")
    world.kill_ccmd()
    world.cloud.clear_faults()
    assert set(api.uploaded()) == {"one", "two", "foreign"} and api.get("Gateway", "other") is None
    world.start_ccmd()
    world.wait(lambda: set(api.uploaded()) == {"one", "foreign"}, "what is left over to go", timeout=40)
    world.settled()
    assert set(api.uploaded()) == {"one", "foreign"} and api.words() == {443: ["one"]}


def certificate_of(world, mark, word):
    """Upload one that no Secret stands for, under a mark of earlier or present versions."""
    parts = [hashlib.sha256(text.encode()).hexdigest()[:size] for text, size in ((mark, 12), (f"default/{word}", 16), (word, 20))]
    world.cloud.edit("call", product="cas", action="CreateSSLCertificateWithName", params={
        "CertName": "ccm-" + "-".join(parts), "PrivateKey": "-----BEGIN RSA PRIVATE KEY-----",
        "Certificate": f"-----BEGIN CERTIFICATE-----\nMIICERTIFICATE{word}\n-----END CERTIFICATE-----\n"})


def test_two_controllers_of_one_cluster(world, api):
    """Each deletes what is left over of its own; marks of earlier versions, without a name, are those of the usual controller."""
    cleanup = f"{ON} orphan_cleanup = true; audit_interval_s = 1; missing_wait_s = 0;"
    api.configure(cleanup)
    team = world.write_config(name="team.conf", plugins='{ name = "gateway"; controller_name = "example.com/team"; workers = 4; '
                                                        f'backend_health = false; unserved_wait_s = 3600; {cleanup} }}')
    api.make_class("team", "example.com/team")
    for name, word in (("cert", "one"), ("other", "two")):
        api.make_secret(name, word)
    api.make_gateway(tls_listener("tls", 443, ref("cert")))
    api.make_gateway(tls_listener("tls", 8443, ref("other")), name="team", class_name="team")
    certificate_of(world, CLUSTER_ID, "old")
    certificate_of(world, f"{CLUSTER_ID}\nexample.com/team", "new")
    processes = [world.start_ccmd(), world.start_ccmd(team)]
    try:
        world.wait(lambda: api.words() == {443: ["one"], 8443: ["two"]}, "the listeners")
        world.wait(lambda: set(api.uploaded()) == {"one", "two"}, "what is left over of both to go", timeout=40)
        for process in processes:
            world.settled(process=process)
        assert world.cloud.actions().count("DeleteSSLCertificate") == 2
    finally:
        for process in processes:
            process.kill()
        world.ccmd = None


# --- kill -9 ---

@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("action", ["DescribeSSLCertificateList", "CreateSSLCertificateWithName", "UpdateListenerAttribute",
                                    "DeleteSSLCertificate"])
def test_killed_in_a_renewal(world, api, action, moment):
    """Whatever the moment, in the end there is the new one alone."""
    api.make_secret("cert", "one")
    api.make_gateway(tls_listener("tls", 443, ref("cert")))
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["one"]} and api.programmed(), "the listener")
    world.settled()
    before = world.cloud.mark()
    world.cloud.fault(action=action, cut=moment, delay_ms=600000)
    api.renew("cert", "two")
    api.resync()
    world.wait(lambda: any(call["http"] == 0 for call in world.cloud.calls(before)), f"the call of {action}")
    world.kill_ccmd()
    world.cloud.clear_faults()
    world.start_ccmd()
    world.wait(lambda: api.words() == {443: ["two"]} and set(api.uploaded()) == {"two"} and api.programmed(), "the renewal", timeout=40)
    world.settled()
    assert len(api.names()) == 1
