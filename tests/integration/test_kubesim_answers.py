"""How kubesim answers: compressed, tagged, in time, in YAML and the binary form, with faults in between."""

import gzip
import http.client
import json
import os
import socket
import struct
import threading
import time

import pytest

from tests.support import objects
from tests.support.kubesim import EVENTS, MERGE, NODES, SERVICES, KubeSim
from tests.support.world import wait

BUILD = os.environ.get("CCM_BUILD_DIR", "build/release")
YAML = "application/yaml"
BINARY = "application/vnd.kubernetes.protobuf"


@pytest.fixture
def kube(tmp_path):
    with KubeSim(BUILD, tmp_path) as simulator:
        yield simulator


def raw(kube, path, headers=None, method="GET", body=None):
    connection = kube.connect()
    try:
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


# --- transport ---

def test_large_answers_are_compressed_on_demand(kube):
    big = {"metadata": {"generateName": "big-"}, "data": {"a": "x" * 50000}}
    path = "/api/v1/namespaces/default/configmaps"
    for _ in range(2):
        kube.post(path, big)
    zipped = {"Accept-Encoding": "deflate, gzip"}
    assert raw(kube, path, zipped)[0].headers["Content-Encoding"] is None
    kube.post(path, big)
    plain, text = raw(kube, path)
    assert plain.headers["Content-Encoding"] is None and len(text) > 128 * 1024
    packed, body = raw(kube, path, zipped)
    assert (packed.headers["Content-Encoding"], packed.headers["Vary"]) == ("gzip", "Accept-Encoding")
    assert len(body) < len(text) / 10 and gzip.decompress(body) == text
    with kube.watch(path, zipped, resourceVersion=0, timeoutSeconds=20) as watch:
        assert watch.response.headers["Content-Encoding"] is None and watch.event()["type"] == "ADDED"


def test_connection_serves_many_requests(kube):
    connection = kube.connect()
    connection.connect()
    local = connection.sock.getsockname()
    for _ in range(20):
        connection.request("GET", SERVICES)
        assert json.loads(connection.getresponse().read())["items"] == []
    with kube.watch(SERVICES, timeoutSeconds=1) as watch:
        assert watch.rest() == [] and watch.response.headers["Transfer-Encoding"] == "chunked"
    assert connection.sock.getsockname() == local
    connection.close()


def test_discovery_is_tagged(kube):
    accept = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
    first, text = raw(kube, "/apis", accept)
    assert first.status == 200 and json.loads(text)["kind"] == "APIGroupDiscoveryList"
    again, text = raw(kube, "/apis", {**accept, "If-None-Match": first.headers["ETag"]})
    assert (again.status, text) == (304, b"")
    assert raw(kube, "/api", {"Accept": accept["Accept"].replace("v=v2", "v=v2beta1")})[0].status == 406


def test_time_out_parameter(kube):
    assert kube.ask("GET", SERVICES, timeout="1m30.5s").status == 200
    bad = kube.ask("GET", SERVICES, timeout="soon")
    assert (bad.status, bad.json["reason"]) == (400, "BadRequest")
    assert bad.json["message"] == 'invalid timeout specified in the request URL - time: invalid duration "soon"'


# --- bodies ---

def test_yaml_bodies(kube):
    text = """
        apiVersion: v1
        kind: Service
        metadata: {name: web, labels: {"on": "yes", n: "1"}}
        spec:
          type: LoadBalancer
          ports:
          - {name: http, port: 80, targetPort: web}
          selector: &s {app: web}
    """
    answer = kube.ask("POST", SERVICES, text, YAML)
    assert answer.status == 201 and answer.json["metadata"]["labels"] == {"n": "1", "on": "yes"}, answer.text
    port = answer.json["spec"]["ports"][0]
    assert (port["port"], port["targetPort"]) == (80, "web")
    for bad in ("a: [", "a: &x [1]\nb: *x", ""):
        assert kube.ask("POST", SERVICES, bad, YAML).status == 400


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def message(*fields):
    """Pairs (tag, int | bytes | str) in the binary form."""
    out = b""
    for tag, value in fields:
        if isinstance(value, int):
            out += varint(tag << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(tag << 3 | 2) + varint(len(data)) + data
    return out


def envelope(kind, body, version="v1"):
    return b"k8s\0" + message((1, message((1, version), (2, kind))), (2, body), (3, ""), (4, ""))


def binary_service(name):
    meta = message((1, name), (3, "default"), (8, b""), (11, message((1, "a"), (2, "1"))),
                   (11, message((1, "b"), (2, ""))), (14, "example.com/x"), (14, "example.com/y"))
    ports = [message((1, "http"), (2, "TCP"), (3, 80), (4, message((1, 1), (2, 0), (3, "web"))), (5, 0)),
             message((1, "https"), (2, "TCP"), (3, 443), (4, message((1, 0), (2, 8443), (3, ""))))]
    spec = message((1, ports[0]), (1, ports[1]), (2, message((1, "app"), (2, name))), (4, "LoadBalancer"),
                   (11, "Local"), (20, 0), (99, b"unknown"))
    return message((1, meta), (2, spec), (3, message((1, b""))))


def test_binary_bodies(kube):
    answer = kube.ask("POST", SERVICES, envelope("Service", binary_service("web")), BINARY)
    assert answer.status == 201, answer.text
    meta, spec = answer.json["metadata"], answer.json["spec"]
    assert meta["labels"] == {"a": "1", "b": ""} and meta["finalizers"] == ["example.com/x", "example.com/y"]
    assert [(p["name"], p["port"], p["targetPort"]) for p in spec["ports"]] == [("http", 80, "web"), ("https", 443, 8443)]
    assert (spec["type"], spec["externalTrafficPolicy"]) == ("LoadBalancer", "Local")
    assert spec["allocateLoadBalancerNodePorts"] is False and "nodePort" not in spec["ports"][0]
    lease = message((1, message((1, "ccm"))), (2, message((1, "me"), (2, 15), (4, message((1, 1767261600), (2, 5000))))))
    path = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    held = kube.ask("POST", path, envelope("Lease", lease, "coordination.k8s.io/v1"), BINARY)
    assert held.json["spec"] == {"holderIdentity": "me", "leaseDurationSeconds": 15,
                                 "renewTime": "2026-01-01T10:00:00.000005Z"}
    refused = kube.ask("POST", NODES, envelope("Node", b""), BINARY)
    assert refused.status == 415 and refused.json["message"].endswith("application/json, application/yaml")


def test_broken_binary_bodies_are_refused(kube):
    whole = envelope("Service", binary_service("web"))
    inner = binary_service("web")
    assert kube.ask("POST", SERVICES, b"\x0a\x00" + whole, BINARY).status == 400
    for cut in range(4, len(whole) - 4):  # the last two fields are empty and may be absent
        assert kube.ask("POST", SERVICES, whole[:cut], BINARY).status in (400, 422), cut
    for bad in (b"\xff" * 11, b"\x0a\xff\xff\xff\xff\x0f", b"\x07", b"\x00\x01", inner[:40],
                message((1, message((1, "a\0b")))), message((1, 5)), message((2, message((1, message((4, 7))))))):
        assert kube.ask("POST", SERVICES, envelope("Service", bad), BINARY).status in (400, 422), bad
    assert kube.fetch(SERVICES)["items"] == []


def test_repeated_members_are_told(kube):
    twice = '{"metadata":{"name":"a","name":"b"},"spec":{"ports":[{"port":80}]}}'
    warned = kube.ask("POST", SERVICES, twice, dryRun="All")
    assert warned.status == 201 and warned.json["metadata"]["name"] == "b"
    assert warned.headers["Warning"] == '299 - "duplicate field \\"metadata.name\\""'
    strict = kube.ask("POST", SERVICES, twice, fieldValidation="Strict")
    assert strict.status == 400 and 'strict decoding error: duplicate field "metadata.name"' in strict.json["message"]


# --- what may not be ---

def invalid(answer):
    assert (answer.status, answer.json["reason"]) == (422, "Invalid"), answer.text
    return [(cause["field"], cause["message"]) for cause in answer.json["details"]["causes"]]


@pytest.mark.parametrize(
    "spec, field, text",
    [
        ({"ipFamilyPolicy": "RequireDualStack"}, "spec.ipFamilyPolicy",
         'Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services'),
        ({"ipFamilies": ["IPv6"]}, "spec.ipFamilies[0]", 'Invalid value: "IPv6": not configured on this cluster'),
        ({"ipFamilies": ["IPv5"]}, "spec.ipFamilies[0]", 'Unsupported value: "IPv5": supported values: "IPv4", "IPv6"'),
        ({"ipFamilies": ["IPv4", "IPv4"], "ipFamilyPolicy": "PreferDualStack"}, "spec.ipFamilies[1]",
         'Duplicate value: "IPv4"'),
        ({"ipFamilies": ["IPv4", "IPv6"]}, "spec.ipFamilyPolicy",
         "must be RequireDualStack or PreferDualStack when multiple ipFamilies are specified"),
        ({"ipFamilyPolicy": "Both"}, "spec.ipFamilyPolicy", 'Unsupported value: "Both"'),
    ],
)
def test_address_families(kube, spec, field, text):
    causes = invalid(kube.ask("POST", SERVICES, objects.service("a", **spec)))
    assert [(f, m) for f, m in causes if f == field and text in m], causes


def test_a_cluster_of_one_family_satisfies_a_preference(kube):
    spec = kube.post(SERVICES, objects.service("a", ipFamilyPolicy="PreferDualStack"))["spec"]
    assert (spec["ipFamilies"], spec["ipFamilyPolicy"], len(spec["clusterIPs"])) == (["IPv4"], "PreferDualStack", 1)


@pytest.fixture
def dual(build, tmp_path):
    with KubeSim(build, tmp_path, "--dual-stack") as instance:
        yield instance


def families(spec):
    assert spec["clusterIP"] == spec["clusterIPs"][0]
    assert [("IPv6" if ":" in ip else "IPv4") for ip in spec["clusterIPs"]] == spec["ipFamilies"]
    return spec["ipFamilyPolicy"], spec["ipFamilies"]


@pytest.mark.parametrize(
    "asked, policy, given",
    [
        ({}, "SingleStack", ["IPv4"]),
        ({"ipFamilyPolicy": "PreferDualStack"}, "PreferDualStack", ["IPv4", "IPv6"]),
        ({"ipFamilyPolicy": "RequireDualStack"}, "RequireDualStack", ["IPv4", "IPv6"]),
        ({"ipFamilies": ["IPv6"]}, "SingleStack", ["IPv6"]),
        ({"ipFamilies": ["IPv6"], "ipFamilyPolicy": "PreferDualStack"}, "PreferDualStack", ["IPv6", "IPv4"]),
        ({"ipFamilies": ["IPv6", "IPv4"], "ipFamilyPolicy": "RequireDualStack"}, "RequireDualStack", ["IPv6", "IPv4"]),
        ({"clusterIP": "fd00:10:96::7"}, "SingleStack", ["IPv6"]),
    ],
)
def test_families_of_a_dual_stack_cluster(dual, asked, policy, given):
    assert families(dual.post(SERVICES, objects.service("a", **asked))["spec"]) == (policy, given)


def test_families_change(dual):
    first = dual.post(SERVICES, objects.service("a"))["spec"]
    assert families(first) == ("SingleStack", ["IPv4"])
    grown = dual.ask("PATCH", SERVICES + "/a", {"spec": {"ipFamilyPolicy": "PreferDualStack"}}, MERGE).json["spec"]
    assert families(grown) == ("PreferDualStack", ["IPv4", "IPv6"]) and grown["clusterIP"] == first["clusterIP"]
    second = dual.post(SERVICES, objects.service("b", ipFamilies=["IPv6"]))["spec"]
    assert second["clusterIP"] not in grown["clusterIPs"]
    taken = dual.ask("POST", SERVICES, objects.service("c", clusterIP=grown["clusterIPs"][1]))
    assert taken.status == 422 and "already allocated" in taken.json["message"]
    shrunk = dual.ask("PATCH", SERVICES + "/a", {"spec": {"ipFamilyPolicy": "SingleStack"}}, MERGE).json["spec"]
    assert families(shrunk) == ("SingleStack", ["IPv4"]) and shrunk["clusterIPs"] == [first["clusterIP"]]
    other = dual.ask("PATCH", SERVICES + "/a", {"spec": {"ipFamilies": ["IPv6"]}}, MERGE)
    assert ("spec.ipFamilies[0]", 'Invalid value: "IPv6": field is immutable') in invalid(other)


def test_two_families_need_a_policy_everywhere(dual):
    answer = dual.ask("POST", SERVICES, objects.service("a", ipFamilies=["IPv4", "IPv6"]))
    assert [field for field, _ in invalid(answer)] == ["spec.ipFamilyPolicy"]


@pytest.mark.parametrize(
    "patch, field",
    [
        ({"spec": {"loadBalancerClass": "example.com/b"}}, "spec.loadBalancerClass"),
        ({"spec": {"loadBalancerClass": None}}, "spec.loadBalancerClass"),
        ({"spec": {"clusterIP": "10.96.0.99", "clusterIPs": ["10.96.0.99"]}}, "spec.clusterIPs[0]"),
        ({"spec": {"healthCheckNodePort": 31999}}, "spec.healthCheckNodePort"),
        ({"metadata": {"uid": "00000000-0000-0000-0000-000000000000"}}, "metadata.uid"),
    ],
)
def test_what_is_fixed_for_the_life_of_a_service(kube, patch, field):
    kube.post(SERVICES, objects.service("a", policy="Local", loadBalancerClass="example.com/a"))
    assert field in [name for name, _ in invalid(kube.ask("PATCH", SERVICES + "/a", patch, MERGE))]


def test_node_ports_run_out(kube):
    ports = [(1000 + number, "TCP") for number in range(346)]
    for number in range(8):  # 2,768 in all
        kube.post(SERVICES, objects.service(f"s{number}", ports))
    full = kube.ask("POST", SERVICES, objects.service("more"))
    assert (full.status, full.json["reason"]) == (500, "InternalError")
    assert full.json["message"] == "Internal error occurred: failed to allocate a nodePort: range is full"
    kube.remove(SERVICES + "/s3")
    assert kube.post(SERVICES, objects.service("more"))["spec"]["ports"][0]["nodePort"]


def test_pod_of_a_node_goes_gracefully(kube):
    path = "/api/v1/namespaces/default/pods"
    spec = {"containers": [{"name": "c", "image": "x"}]}
    kube.post(path, {"metadata": {"name": "bound"}, "spec": {**spec, "nodeName": "n1"}})
    kube.post(path, {"metadata": {"name": "free"}, "spec": spec})
    kube.remove(path + "/free")
    assert kube.ask("GET", path + "/free").status == 404
    going = kube.remove(path + "/bound")["metadata"]
    assert going["deletionGracePeriodSeconds"] == 30 and going["deletionTimestamp"] > going["creationTimestamp"]
    assert kube.fetch(path + "/bound")["metadata"]["deletionGracePeriodSeconds"] == 30
    assert kube.remove(path + "/bound", gracePeriodSeconds=0)["metadata"]["deletionGracePeriodSeconds"] == 0
    assert kube.ask("GET", path + "/bound").status == 404


def event(name):
    return {"metadata": {"name": name}, "involvedObject": {"kind": "Service", "namespace": "default", "name": "a"},
            "reason": "R", "message": "m", "type": "Normal"}


def test_events_expire(tmp_path):
    with KubeSim(BUILD, tmp_path, "--event-ttl-ms", "300") as kube:
        start = kube.fetch(EVENTS)["metadata"]["resourceVersion"]
        with kube.watch(EVENTS, resourceVersion=start, timeoutSeconds=30) as watch:
            kube.post(EVENTS, event("old"))
            assert watch.event()["type"] == "ADDED"
            assert watch.event()["type"] == "DELETED"
        kube.post(EVENTS, event("new"))
        wait(lambda: not kube.fetch(EVENTS)["items"], "the Event to expire")
        kube.post(SERVICES, objects.service("a"))
        assert kube.fetch(SERVICES)["items"], "only Events expire"


# --- faults: every effect, and every way to match ---

def rule(kube, match, effect, **more):
    answer = kube.ask("POST", "/_sim/faults", {"match": match, "effect": effect, **more})
    assert answer.status == 200, answer.text


CUT_OFF = (http.client.HTTPException, ConnectionError)


@pytest.mark.parametrize("code, http_status, status, reason",
                         [("Conflict", None, 409, "Conflict"), (None, 503, 503, "ServiceUnavailable"),
                          ("Expired", None, 410, "Expired"), ("Odd", 418, 418, "Odd")])
def test_fault_error(kube, code, http_status, status, reason):
    effect = {key: value for key, value in (("code", code), ("http", http_status)) if value}
    rule(kube, {"path": SERVICES}, {**effect, "message": "said so"}, count=1)
    answer = kube.ask("POST", SERVICES, objects.service("a"))
    assert (answer.status, answer.json["reason"], answer.json["message"]) == (status, reason, "said so")
    assert kube.fetch(SERVICES)["items"] == []


def test_faults_that_have_a_form_of_their_own(kube):
    rule(kube, {}, {"http": 429}, count=1)
    answer = kube.ask("GET", SERVICES)
    assert (answer.status, answer.headers["Retry-After"]) == (429, "1")
    assert answer.text == "Too many requests, please try again later.\n"
    rule(kube, {}, {"http": 504}, count=1)
    answer = kube.ask("GET", SERVICES)
    assert answer.status == 504 and "kind" not in answer.json and answer.json["reason"] == "Timeout"
    assert answer.headers["Content-Type"].startswith("text/plain")


def test_fault_body_truncate_and_headers(kube):
    rule(kube, {"action": "LIST *"}, {"body": "<html>", "http": 502}, count=1)
    answer = kube.ask("GET", SERVICES)
    assert (answer.status, answer.text) == (502, "<html>")
    rule(kube, {"action": "CREATE *"}, {"truncate": 20}, count=1)
    with pytest.raises(http.client.IncompleteRead) as error:
        kube.ask("POST", SERVICES, objects.service("a"))
    assert len(error.value.partial) == 20 and kube.get("Service", "a")
    rule(kube, {"action": "GET *"}, {"headers": {"X-Trouble": "1"}}, count=1)
    answer = kube.ask("GET", SERVICES + "/a")
    assert (answer.status, answer.headers["X-Trouble"]) == (200, "1")


@pytest.mark.parametrize("method, path, body", [
    ("POST", SERVICES, objects.service("new")),
    ("PUT", SERVICES + "/a", objects.service("a", annotations={"cut": "1"})),
    ("PATCH", SERVICES + "/a", {"metadata": {"annotations": {"cut": "1"}}}),
    ("PATCH", SERVICES + "/a/status", {"metadata": {"annotations": {"cut": "1"}}}),
    ("DELETE", SERVICES + "/b", None),
])
@pytest.mark.parametrize("cut", ["before", "after"])
def test_fault_cut(kube, cut, method, path, body):
    """Before: nothing happened. After: it happened, and the caller cannot know."""
    for name in "ab":
        kube.post(SERVICES, objects.service(name))
    before = kube.state()["services"]
    rule(kube, {"action": "* " + path}, {"cut": cut, "delay_ms": 20}, count=1)
    with pytest.raises(CUT_OFF):
        kube.ask(method, path, body, MERGE if method == "PATCH" else "application/json")
    assert (kube.state()["services"] == before) == (cut == "before")
    assert kube.calls()[-1]["cut"] == cut
    with_answer = kube.ask(method, path, body, MERGE if method == "PATCH" else "application/json")
    again = {"POST": 409, "DELETE": 404}.get(method, 200) if cut == "after" else {"POST": 201}.get(method, 200)
    assert with_answer.status == again, with_answer.text


def test_fault_cut_of_a_watch(kube):
    rule(kube, {"action": "WATCH *"}, {"cut": "before"}, count=1)
    with pytest.raises(CUT_OFF):
        kube.watch(SERVICES)
    rule(kube, {"action": "WATCH *"}, {"cut": "after"}, count=1)
    with kube.watch(SERVICES) as watch:
        assert watch.status == 200
        with pytest.raises(http.client.IncompleteRead):
            watch.line()


def test_fault_delay(kube):
    rule(kube, {"action": "GET *"}, {"delay_ms": 300}, count=1)
    kube.post(SERVICES, objects.service("a"))
    start = time.monotonic()
    assert kube.ask("GET", SERVICES + "/a").status == 200
    assert time.monotonic() - start >= 0.29  # the two clocks differ by less than that
    rule(kube, {"action": "GET *"}, {"delay_ms": 600000, "cut": "after"}, count=1)
    asking = threading.Thread(target=lambda: pytest.raises(CUT_OFF + (OSError,), kube.ask, "GET", SERVICES + "/a"))
    asking.daemon = True
    asking.start()
    wait(lambda: kube.calls()[-1]["http"] == 0, "the request to be held")
    assert kube.ask("GET", SERVICES).status == 200, "others are served meanwhile"


def test_fault_matches(kube):
    rule(kube, {"action": "LIST *", "nth": 2}, {"http": 500}, count=2)
    assert [kube.ask("GET", SERVICES).status for _ in range(5)] == [200, 500, 500, 200, 200]
    rule(kube, {"path": "/api/v1/n*", "params": {"limit": "5*"}}, {"http": 500})
    assert [kube.ask("GET", SERVICES, limit=n).status for n in (5, 50, 6)] == [500, 500, 200]
    assert kube.ask("GET", "/api/v1/services", limit=5).status == 200
    kube.clear_faults()
    rule(kube, {"p": 0.5}, {"http": 500})
    seen = [kube.ask("GET", SERVICES).status for _ in range(40)]
    assert 5 < seen.count(500) < 35
    kube.clear_faults()
    for bad in ({"effect": {}}, {"match": {"nth": 0}, "effect": {"http": 500}}, {"effect": {"cut": "later"}},
                {"effect": {"cut": "after", "http": 500}}, {"match": {"actoin": "x"}, "effect": {"http": 500}}):
        assert kube.ask("POST", "/_sim/faults", bad).status == 400, bad
    assert kube.ask("GET", SERVICES).status == 200


def test_reset_connections_do_no_harm(kube):
    kube.post(SERVICES, objects.service("a"))
    host, port = kube.address.split(":")
    for _ in range(20):
        sock = socket.create_connection((host, int(port)))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.sendall(f"GET {SERVICES}?watch=1&resourceVersion=0 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        sock.recv(10)
        sock.close()
    wait(lambda: kube.open_watches("services") == 0, "the watches to be closed")
