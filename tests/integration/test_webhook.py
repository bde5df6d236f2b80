"""`ccmd webhook`: what it answers an API server, over real TLS. What a real one does with that is described in docs/lint.md."""

import json
import os
import socket
import ssl

import pytest

from tests.support import objects, pages, proc
from tests.support.webhook import Webhook, make_ca, make_certificate
from tests.support.world import wait

PREFIX = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"


@pytest.fixture
def webhook(build, tmp_path):
    webhook = Webhook(build, tmp_path)
    yield webhook
    if webhook.process is not None:
        webhook.process.stop()


def service(**annotations):
    return objects.service("web", annotations={PREFIX + name.replace("_", "-"): value for name, value in annotations.items()})


QUIET = {"uid": "u-1", "allowed": True}


def test_warnings_by_default(webhook):
    webhook.start()
    assert webhook.review(service()) == QUIET
    answer = webhook.review(service(bandwidht="5", scheduler="fast"))
    assert answer["allowed"] is True and len(answer["warnings"]) == 2
    assert "scheduler" in answer["warnings"][0] and "did you mean" in answer["warnings"][1], "errors first"
    assert webhook.metrics() == {"allowed": 1, "warned": 1, "denied": 0, "bad": 0}


def test_the_warning_of_the_page(webhook):
    """As kubectl prints it."""
    (shown,) = [block.text for block in pages.blocks("lint.md") if block.text.startswith("Warning: ")]
    webhook.start()
    assert [f"Warning: {one}\n" for one in webhook.review(service(scheduler="fast"))["warnings"]] == [shown]


def test_each_plugin_and_classes_count(webhook):
    webhook.start()
    item = service()
    item["spec"]["loadBalancerClass"] = "alibabacloud.com/nlb"
    assert "zone-maps" in webhook.review(item)["warnings"][0]
    item["spec"]["loadBalancerClass"] = "alibabacloud.com/nbl"
    assert "did you mean alibabacloud.com/nlb?" in webhook.review(item)["warnings"][0]
    item["spec"]["loadBalancerClass"] = "example.com/other"
    assert webhook.review(item) == QUIET


def test_errors_can_be_refused(webhook):
    webhook.start('deny = "errors";')
    answer = webhook.review(service(scheduler="fast", bandwidht="5"))
    assert answer["allowed"] is False and answer["status"]["code"] == 422 and answer["status"]["reason"] == "Invalid"
    assert answer["status"]["message"].startswith("1 error: ") and "scheduler" in answer["status"]["message"]
    assert len(answer["warnings"]) == 1 and "bandwidht" in answer["warnings"][0], "what the message says is not said twice"
    assert webhook.review(service(bandwidht="5"))["allowed"] is True, "a warning refuses nothing"
    assert webhook.metrics()["denied"] == 1


@pytest.mark.parametrize("before, after, allowed", [
    (dict(scheduler="fast"), dict(scheduler="fast", spec="x"), True),
    (dict(scheduler="fast"), dict(scheduler="faster"), True),
    (dict(scheduler="fast"), dict(), True),
    (dict(scheduler="fast"), dict(scheduler="fast", address_type="inside"), False),
    (dict(), dict(scheduler="fast"), False),
    (dict(address_type="inside"), dict(scheduler="fast"), False),
], ids=["another-annotation", "other-value", "mended", "one-more", "new", "elsewhere"])
def test_a_change_that_makes_it_no_worse(webhook, before, after, allowed):
    webhook.start('deny = "errors";')
    assert webhook.review(service(**after), service(**before))["allowed"] is allowed


LARGE = {PREFIX + f"a{n}": "x" * 16000 for n in range(4)}


def with_annotations(item, more):
    copy = json.loads(json.dumps(item))
    copy["metadata"].setdefault("annotations", {}).update(more)
    return copy


def test_a_service_that_is_too_large_is_a_finding(webhook):
    webhook.start()
    large = with_annotations(service(), LARGE)
    (warning,) = webhook.review(large)["warnings"]
    assert "the Service is too large (annotations: more than 48 KiB that plugins read)" in warning
    ports = service()
    ports["spec"]["ports"] = [{"name": f"p{n}", "port": n, "protocol": "TCP"} for n in range(1, 1002)]
    (warning,) = webhook.review(ports)["warnings"]
    assert "the Service is too large (ports: more than 1000 elements)" in warning
    large["spec"]["loadBalancerClass"] = "example.com/other"
    assert webhook.review(large) == QUIET, "of another controller"


def test_a_service_that_is_too_large_can_be_refused(webhook):
    webhook.start('deny = "errors";')
    large = with_annotations(service(), LARGE)
    answer = webhook.review(large)
    assert answer["allowed"] is False and "too large" in answer["status"]["message"]
    assert webhook.review(large, service())["allowed"] is False
    assert webhook.review(service(), large) == QUIET
    assert webhook.review(with_annotations(service(), {name: LARGE[name] for name in list(LARGE)[1:]}), large)["allowed"] is True
    assert webhook.review(service(scheduler="fast"), large)["allowed"] is True, "it was wrong in ways that could not be seen"
    more = with_annotations(large, {PREFIX + "a0": "x"})
    more["spec"]["ports"] = [{"name": f"p{n}", "port": n, "protocol": "TCP"} for n in range(1, 1002)]
    assert webhook.review(more, large)["allowed"] is True, "it is too large in another way"
    foreign = with_annotations(service(), {"example.kubernetes.io/cache": "x" * 200_000})
    assert webhook.review(foreign) == QUIET
    assert webhook.review(with_annotations(foreign, {PREFIX + "scheduler": "fast"}), foreign)["allowed"] is False


def test_what_is_never_held_up(webhook):
    """Not ours, not what a person writes, on its way out: allowed without a word, also of a Service that is wrong."""
    webhook.start('deny = "errors";')
    wrong = service(scheduler="fast")
    leaving = {**wrong, "metadata": {**wrong["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    bound = {**wrong, "metadata": {**wrong["metadata"], "finalizers": ["service.k8s.alibaba/resources"], "labels": {"a": "b"}}}
    plain = {**wrong, "spec": {**wrong["spec"], "type": "ClusterIP"}}
    elsewhere = service(scheduler="fast")
    elsewhere["metadata"]["annotations"]["service.beta.kubernetes.io/class"] = "other"
    assert webhook.review(wrong)["allowed"] is False
    assert webhook.review(leaving, wrong) == QUIET
    assert webhook.review(bound, wrong) == QUIET, "finalizer and labels"
    assert webhook.review(wrong, bound) == QUIET, "and back"
    assert webhook.review(wrong, service(), subResource="status") == QUIET
    assert webhook.review(None, wrong, operation="DELETE") == QUIET
    assert webhook.review(wrong, operation="CONNECT") == QUIET
    assert webhook.review(plain) == QUIET
    assert webhook.review(elsewhere) == QUIET
    assert webhook.review(wrong, kind={"group": "", "version": "v1", "kind": "Pod"}) == QUIET
    assert webhook.review(wrong, kind={"group": "example.com", "version": "v1", "kind": "Service"}) == QUIET


def test_source_ranges_that_admit_everyone(webhook):
    webhook.start('deny = "errors";')
    ranges = {"10.0.0.0/8": False, "0.0.0.0/0": True, "::/0": True, "10.0.0.0/8 0.0.0.0/0": True}
    for text, allowed in ranges.items():
        item = objects.service("web", loadBalancerSourceRanges=text.split())
        assert webhook.review(item)["allowed"] is allowed, text


def test_warnings_fit(webhook):
    """As much as an API server passes on: 256 bytes each, 4,096 in all, no line feeds, no half characters."""
    webhook.start()
    items = {f"unknown-{n}-{'ä' * 200}": "1\n2" for n in range(60)}
    (answer,) = [webhook.review(service(scheduler="ü" * 500 + "\n", **items))]
    warnings = answer["warnings"]
    assert all(len(one.encode()) <= 256 and "\n" not in one for one in warnings)
    assert sum(len(one.encode()) for one in warnings) <= 4096
    assert warnings[-1].endswith("more: `ccmd lint` shows all") and "..." in warnings[0]


GOOD = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}


BODIES = [
    (b"", 400, "no JSON"), (b"{", 400, "no JSON"), (b"\x00\xff", 400, "no JSON"), (b"[" * 100000, 400, "no JSON"),
    (b'{"a":' * 5000, 400, "no JSON"), (b"[]", 400, "no AdmissionReview"), (b"{}", 400, "no AdmissionReview"),
    ({**GOOD, "apiVersion": "admission.k8s.io/v1beta1", "request": {"uid": "u"}}, 400, "no AdmissionReview"),
    ({**GOOD, "kind": "Review"}, 400, "no AdmissionReview"), (GOOD, 400, "request.uid"), ({**GOOD, "request": []}, 400, "request.uid"),
    ({**GOOD, "request": {"uid": 5}}, 400, "request.uid"), ({**GOOD, "request": {"uid": "x" * 1000}}, 400, "request.uid"),
    (b"x" * (4 << 20), 413, "at most 3 MiB"),
    ({**GOOD, "request": {"uid": "u"}}, 200, '"allowed":true'),
    ({**GOOD, "request": {"uid": "u", "operation": "CREATE", "kind": {"kind": "Service"}, "object": 5}}, 200, '"allowed":true'),
    ({**GOOD, "request": {"uid": "u", "operation": "CREATE", "kind": {"kind": "Service"},
                          "object": {"metadata": 1, "spec": {"type": "LoadBalancer", "ports": "x"}}}}, 200, '"allowed":true'),
    ({**GOOD, "request": {"uid": "u", "operation": "UPDATE", "kind": {"kind": "Service"}, "oldObject": [],
                          "object": {"metadata": {"name": "a", "annotations": {"b": 7}}, "spec": {"type": "LoadBalancer"}}}}, 200, '"allowed":true'),
]


def test_hostile_bodies(webhook):
    webhook.start()
    for body, code, words in BODIES:
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        found, text = webhook.request("POST", "/lint", body)
        assert found == code and words in text, (body[:80], text)
        assert webhook.review(service()) == QUIET, "it goes on"


def ask(connection):
    connection.request("POST", "/lint", webhook_body(), {"Content-Type": "application/json"})
    return read_verdict(connection)


def read_verdict(connection):
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())["response"]["allowed"]


def webhook_body():
    return Webhook.body(service())


def begin_body(connection, length, part):
    """The head of a review of that length, and the first part of its body."""
    connection.putrequest("POST", "/lint")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(length))
    connection.endheaders(part)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


def test_many_connections_do_not_end_one_that_is_used(webhook):
    webhook.start()
    kept = webhook.connect()
    assert ask(kept) == (200, True)
    local, opened = kept.sock.getsockname(), []
    for n in range(3000):
        opened.append(socket.create_connection(("127.0.0.1", webhook.port)))
        if len(opened) > 200:
            opened.pop(0).close()
        if n % 100 == 0:
            assert ask(kept) == (200, True), n
    assert kept.sock.getsockname() == local, "the same connection"
    for one in opened:
        one.close()
    kept.close()


def test_held_bodies_cost_little_memory_and_no_review(webhook, build):
    webhook.start()
    kept = webhook.connect()
    assert ask(kept) == (200, True)
    local, held = kept.sock.getsockname(), []
    context = ssl.create_default_context(cafile=webhook.cert)
    piece = b" " * 65536
    for n in range(100):
        one = context.wrap_socket(socket.create_connection(("127.0.0.1", webhook.port)), server_hostname="127.0.0.1")
        held.append(one)
        try:
            one.sendall(b"POST /lint HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n")
            for _ in range(40):
                one.sendall(piece)
        except OSError:  # it was broken off
            pass
        assert ask(kept) == (200, True), n
    assert kept.sock.getsockname() == local, "the same connection"
    if not proc.sanitizer(build):  # these have memory of their own
        assert resident(webhook.process.popen.pid) < 96 * 1024, "the Deployment may have 128 Mi"
    for one in held:
        one.close()
    kept.close()


def test_a_body_over_the_limit_closes_no_connection(webhook):
    """The server reads it to its end and answers. What it drops of it does not count towards the 12 MiB of all bodies."""
    webhook.start()
    kept = webhook.connect()
    assert ask(kept) == (200, True)
    local = kept.sock.getsockname()
    body = webhook_body().encode()
    begin_body(kept, len(body), body[:100])
    other = webhook.connect(source=("127.0.0.2", 0))
    assert ask(other) == (200, True)
    other.request("POST", "/lint", b" " * 13000000, {"Content-Type": "application/json"})
    assert other.getresponse().status == 413
    kept.send(body[100:])
    assert read_verdict(kept) == (200, True)
    assert kept.sock.getsockname() == local, "the same connection"
    other.close()
    kept.close()


def test_four_bodies_over_the_limit_are_answered(webhook):
    """Each holds at most 3 MiB, so together they do not exceed 12 MiB."""
    webhook.start()
    connections = [webhook.connect() for _ in range(4)]
    for connection in connections:
        begin_body(connection, 13000000, b" " * 12999999)
    for connection in connections:
        connection.send(b" ")
        assert connection.getresponse().status == 413
        connection.close()


def test_work_grows_with_the_size_of_a_review(webhook):
    """46,000 annotations are as many as fit into what an API server takes; comparing each with each took 8 s of CPU."""
    webhook.start()
    item = service()
    item["metadata"]["annotations"] = {f"a{n:05}": "" for n in range(46000)}
    before = json.loads(json.dumps(item))
    before["metadata"]["annotations"]["a45999"] = "x"
    assert webhook.review(item, before)["allowed"]
    began = cpu_seconds(webhook.process.popen.pid)
    for _ in range(4):
        assert webhook.review(item, before)["allowed"]
    assert cpu_seconds(webhook.process.popen.pid) - began < 2
    item["metadata"]["annotations"] = {f"{PREFIX}scheduler{n}": "" for n in range(4000)}
    before["metadata"]["annotations"] = {**item["metadata"]["annotations"], "a": "b"}
    began = cpu_seconds(webhook.process.popen.pid)
    assert webhook.review(item, before)["allowed"]
    assert cpu_seconds(webhook.process.popen.pid) - began < 2


def test_pages(webhook):
    """Probes and metrics; of the daemon's pages none."""
    webhook.start()
    for path, code in (("/livez", 200), ("/readyz", 200), ("/healthz", 200), ("/metrics", 200), ("/statusz", 404), ("/", 404), ("/idlez", 404),
                       ("/lint", 404)):
        assert webhook.request("GET", path)[0] == code, path
    assert webhook.request("POST", "/resync?all=1")[0] == 405
    assert webhook.request("PUT", "/lint", b"{}")[0] == 405


def test_certificate_is_taken_over(webhook, tmp_path):
    webhook.start()
    old = webhook.cert + ".old"
    with open(webhook.cert, encoding="ascii") as file, open(old, "w", encoding="ascii") as copy:
        copy.write(file.read())
    cert, key = make_certificate(tmp_path, "two")
    os.replace(key, webhook.key)
    os.replace(cert, webhook.cert)
    wait(lambda: "another certificate is in use" in webhook.log(), "the new one", 20)
    assert webhook.request("GET", "/readyz")[0] == 200
    with pytest.raises(OSError):
        webhook.request("GET", "/readyz", cert=old)


def test_reviews_take_a_client_certificate(webhook, tmp_path):
    """Refused by the head of the request, before the body is read; probes and metrics need none."""
    ca, client = make_ca(tmp_path / "api")
    _, other = make_ca(tmp_path / "other")
    webhook.start(f'deny = "errors"; client_ca_file = "{ca}";')
    body = webhook.body(service(scheduler="fast"))
    for one in (None, other, (webhook.cert, webhook.key)):
        assert webhook.request("POST", "/lint", body, client=one) == (403, "a client certificate is needed\n"), one
    code, text = webhook.request("POST", "/lint", body, client=client)
    assert code == 200 and json.loads(text)["response"]["allowed"] is False
    for path in ("/livez", "/readyz", "/metrics"):
        assert webhook.request("GET", path)[0] == 200
    assert webhook.metrics() == {"allowed": 0, "warned": 0, "denied": 1, "bad": 0}
    assert "came without a client certificate of webhook.client_ca_file" in webhook.log()
    context = ssl.create_default_context(cafile=webhook.cert)
    with context.wrap_socket(socket.create_connection(("127.0.0.1", webhook.port)), server_hostname="127.0.0.1") as stranger:
        stranger.sendall(b"POST /lint HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n")
        assert stranger.recv(12) == b"HTTP/1.1 403", "no byte of the body was sent"


def test_client_ca_is_taken_over(webhook, tmp_path):
    ca, client = make_ca(tmp_path / "api")
    fresh, other = make_ca(tmp_path / "other")
    webhook.start(f'client_ca_file = "{ca}";')
    body = webhook.body(service())
    assert webhook.request("POST", "/lint", body, client=client)[0] == 200
    os.replace(fresh, ca)
    wait(lambda: "another certificate is in use" in webhook.log(), "the new one", 20)
    assert webhook.request("POST", "/lint", body, client=client)[0] == 403
    assert webhook.request("POST", "/lint", body, client=other)[0] == 200


@pytest.mark.parametrize("text, words", [
    ('webhook: { listen = "127.0.0.1:0"; tls_cert_file = "CERT"; tls_key_file = "KEY"; client_ca_file = "/no/such.crt"; };', "/no/such.crt: No such file"),
    ('webhook: { listen = "127.0.0.1:0"; tls_cert_file = "CERT"; tls_key_file = "KEY"; client_ca_file = "/dev/null"; };', "/dev/null: no certificate (PEM) in it"),
    ('webhook: { listen = "127.0.0.1:0"; tls_cert_file = "CERT"; tls_key_file = "KEY"; client_ca_file = "KEY"; };', "one.key: no certificate (PEM) in it"),
    ('webhook: { listen = "127.0.0.1:0"; tls_cert_file = ""; };', "are required"),
    ('webhook: { listen = "127.0.0.1:0"; tls_cert_file = "/no/such.crt"; };', "/no/such.crt: No such file"),
    ('webhook: { listen = "nowhere"; tls_cert_file = "CERT"; tls_key_file = "KEY"; };', "is no ADDRESS:PORT"),
    ('webhook: { deny = "all"; };', "'all' is none of nothing|errors"),
], ids=["no-ca", "empty-ca", "no-certificate-in-ca", "none", "missing", "address", "deny"])
def test_what_ends_it(build, tmp_path, text, words):
    cert, key = make_certificate(tmp_path, "one")
    config = tmp_path / "ccmd.conf"
    config.write_text(f'plugin_dir = "{os.path.abspath(os.path.join(build, "plugins"))}";\nalicloud: {{ cluster_id = "c-test"; }};\n'
                      f'plugins = ( {{ name = "clb"; }} );\n{text.replace("CERT", cert).replace("KEY", key)}\n')
    code, out, err = proc.run([os.path.join(build, "bin", "ccmd"), "webhook", "--config", config])
    assert code == 1 and words in err, (out, err)
