"""What the admin server says about a real ccmd in each of its states, and to whom."""

import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess

import pytest

from tests.support import objects, proc, views
from tests.support.world import World, wait

pytestmark = pytest.mark.time_scale(10)
PORTS = ((80, "TCP"),)
SHORT = "lease_duration_s = 3;"


def ready(world, process=None):
    return world.admin("/readyz", process) == (200, "ok\n")


def not_ready(world, text, process=None):
    def look():
        status, answer = world.admin("/readyz", process)
        return status == 503 and text in answer and answer

    return wait(look, f"'{text}' from /readyz")


def live(world, process=None):
    return world.admin("/livez", process) == (200, "ok\n")


# --- probes ---


def test_ready_when_it_works(world):
    for verb in ("LIST", "WATCH"):
        world.kube.fault(f"{verb} /api/v1/services", count=1000, http=503, code="ServiceUnavailable", message="starting")
    world.start_ccmd()
    answer = not_ready(world, "cache of services: not filled")
    assert "plugin clb: not started" in answer
    assert live(world)
    world.kube.clear_faults()
    world.wait(lambda: ready(world), "readiness", timeout=40)
    assert world.admin("/healthz") == (200, "ok\n")


def test_not_ready_without_api_server(world):
    world.kubesim.kill()
    world.start_ccmd()
    not_ready(world, "cache of nodes: not filled: API server http")
    assert live(world)  # a restart would not help
    world.processes.remove(world.kubesim)


def test_a_plugin_that_cannot_start(world):
    world.config = world.write_config(alicloud='credentials: { source = "file"; file = "/nonexistent"; };')
    world.start_ccmd()
    assert "/nonexistent" in not_ready(world, "plugin clb: not started: ")
    assert live(world)
    assert "/nonexistent" in world.admin("/statusz")[1]


def test_a_standby_is_ready_and_the_next_leader_too(world):
    config = world.write_config(election=SHORT)
    leader = world.start_ccmd(config)
    world.wait(lambda: ready(world), "readiness")
    assert world.metrics()['leader_election_master_status{name="ccm"}'] == 1
    standby = world.start_ccmd(config)
    world.processes.append(leader)
    wait(lambda: ready(world, standby), "readiness of the standby")
    assert "standby" not in world.admin("/statusz", leader)[1]
    assert "Stands by" in world.admin("/statusz", standby)[1]
    values = world.metrics(standby)
    assert values['leader_election_master_status{name="ccm"}'] == 0
    assert values['ccmd_plugin_started{plugin="clb"}'] == 0
    assert values['ccmd_cache_synced{kind="services"}'] == 1
    leader.stop()
    world.processes.remove(leader)
    wait(lambda: world.metrics(standby)['ccmd_plugin_started{plugin="clb"}'] == 1, "the turn of the other")
    assert ready(world, standby)


def test_an_instance_that_cannot_see_the_lease(world):
    world.start_ccmd(world.write_config(election=""))
    world.wait(lambda: ready(world), "readiness")
    with world.kubesim.paused():
        not_ready(world, "lease: ")


def test_shutting_down(world):
    views.nodes(world, 1)
    world.start_ccmd()
    world.wait(lambda: ready(world), "readiness")
    world.cloud.fault(action="DescribeLoadBalancers", delay_ms=4000)
    world.cloud.fault(action="CreateLoadBalancer", delay_ms=4000)
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: "CreateLoadBalancer" in world.cloud.actions(), "a call on its way")
    world.ccmd.popen.send_signal(signal.SIGTERM)
    # It cancels what runs, so there may be no time left to ask: either it says so, or it is gone.
    try:
        wait(lambda: "shutting down" in world.admin("/readyz")[1], "the end", timeout=3)
    except AssertionError:
        pass
    assert world.ccmd.wait_exit() == 0


@pytest.fixture
def hanging(build, tmp_path, request):
    """A plugin whose reconcile, or what the test says, never returns, with the shortest deadline there is."""
    name = getattr(request, "param", "hanging-reconcile")
    with World(build, tmp_path) as world:
        world.kube.create(objects.service("web", PORTS))
        world.config = world.write_config(
            plugins=f'{{ name = "{name}"; }}', plugin_dir=os.path.join(build, "tests", "abi"),
            extra="controller: { timeout_s = 20; stop_s = 1; };")
        with open(world.config, encoding="utf-8") as file:
            text = re.sub(r"^alicloud: \{.*?^\};$", "", file.read(), flags=re.M | re.S)  # no plugin that knows it
        with open(world.config, "w", encoding="utf-8") as file:
            file.write(text)
        world.start_ccmd(env=proc.LEAVES_THREADS)
        yield world
        world.kill_ccmd()


def test_only_a_restart_helps(hanging):
    def running():
        return hanging.metrics()['controller_runtime_active_workers{controller="hanging-reconcile"}'] == 1

    hanging.wait(running, "the call")
    assert live(hanging)  # it may still heed its deadline
    page = hanging.admin("/statusz")[1]
    assert "default/key" in page
    hanging.wait(lambda: hanging.admin("/livez")[0] == 503, "a verdict", timeout=100)
    text = hanging.admin("/livez")[1]
    assert re.fullmatch(r"plugin hanging-reconcile: a reconcile has been running for 6\d s "
                        r"and heeds no cancellation\n", text)
    hanging.ccmd.popen.send_signal(signal.SIGTERM)
    hanging.wait(lambda: "shutting down" in hanging.admin("/readyz")[1], "what it says while it ends", timeout=5)
    assert hanging.ccmd.wait_exit() == 1


@pytest.mark.parametrize("hanging", ["hanging-map"], indirect=True)
def test_a_map_that_hangs(hanging):
    """Who it is, and at what: in the log, on the page, and when only a restart helps."""
    hanging.wait(lambda: re.search(r" warn  caches services default/web: hanging-map: map\(\) runs since \d+ ms\n", hanging.log()),
                 "the line", timeout=50)
    assert live(hanging)
    running = json.loads(hanging.admin("/statusz?format=json")[1])["running"]
    assert [(one["plugin"], one["object"]) for one in running] == [("hanging-map", "map() of services default/web")]
    hanging.wait(lambda: hanging.admin("/livez")[0] == 503, "a verdict", timeout=60)
    text = hanging.admin("/livez")[1]
    assert re.fullmatch(r"plugin hanging-map: map\(\) has been running for 6\d s at services default/web, "
                        r"and its cache stands still\n", text), text
    hanging.ccmd.popen.send_signal(signal.SIGTERM)
    assert hanging.ccmd.wait_exit() == 1
    assert re.search(r" error caches services default/web: hanging-map: map\(\) hangs since \d+ ms", hanging.log())


# --- who may ask ---


def make_certificate(folder, name):
    cert, key = os.path.join(folder, name + ".crt"), os.path.join(folder, name + ".key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj", f"/CN={name}",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return cert, key


def trusting(cert):
    return ssl.create_default_context(cafile=cert)


@pytest.fixture
def guarded(build, tmp_path):
    with World(build, tmp_path / "world") as world:
        cert, key = make_certificate(tmp_path, "one")
        token = tmp_path / "token"
        token.write_text("first\n")
        world.config = world.write_config(extra=f"""admin: {{ listen = "127.0.0.1:0"; tls_cert_file = "{cert}";
            tls_key_file = "{key}"; token_file = "{token}"; }};""")
        world.start_ccmd()
        world.cert, world.key, world.token = cert, key, token
        yield world


def test_tls_and_token(guarded):
    context = trusting(guarded.cert)
    for path in ("/livez", "/healthz"):
        assert guarded.admin(path, context=context)[0] == 200
    guarded.wait(lambda: guarded.admin("/readyz", context=context)[0] == 200, "readiness")
    for path in ("/metrics", "/statusz"):
        assert guarded.admin(path, context=context)[0] == 401
        for wrong in ("second", "firs", "first2", ""):
            assert guarded.admin(path, context=context, token=wrong)[0] == 401
        assert guarded.admin(path, context=context, token="first")[0] == 200
    guarded.token.write_text("second")
    assert guarded.admin("/metrics", context=context, token="first")[0] == 401
    assert guarded.admin("/metrics", context=context, token="second")[0] == 200
    guarded.token.write_text("\n")
    assert guarded.admin("/metrics", context=context, token="")[0] == 401
    guarded.token.unlink()
    assert guarded.admin("/metrics", context=context, token="second")[0] == 401
    assert "first" not in guarded.log() and "second" not in guarded.log().replace("seconds", "")
    with pytest.raises(OSError):  # plain HTTP
        guarded.admin("/livez")


def certificate_end(world, context):
    status, text = world.admin("/metrics", context=context, token=world.token.read_text().strip())
    assert status == 200
    found = re.search(r"^ccmd_admin_certificate_expiry_timestamp_seconds (\S+)$", text, re.M)
    return found and float(found.group(1))


def ends_at(cert):
    code, out, err = proc.run(["openssl", "x509", "-in", cert, "-noout", "-enddate"])
    assert code == 0, err
    return ssl.cert_time_to_seconds(out.strip().removeprefix("notAfter="))


def test_a_new_certificate_without_restart(guarded, tmp_path):
    old = trusting(guarded.cert)
    assert guarded.admin("/livez", context=old)[0] == 200
    guarded.wait(lambda: certificate_end(guarded, old) == ends_at(guarded.cert), "the end of the certificate")
    # Half of a rotation, then a broken one: the old certificate stays in use.
    cert, key = make_certificate(tmp_path, "two")
    with open(cert, encoding="ascii") as file:
        fresh_cert = file.read()
    with open(key, encoding="ascii") as file:
        fresh_key = file.read()
    os.rename(key, guarded.key)
    guarded.wait(lambda: "going on with the certificate in use" in guarded.log(), "a word about it")
    assert guarded.admin("/livez", context=old)[0] == 200
    os.rename(cert, guarded.cert)
    fresh = ssl.create_default_context(cadata=fresh_cert)
    assert fresh_key
    guarded.wait(lambda: "another certificate is in use" in guarded.log(), "the new one", timeout=20)
    assert guarded.admin("/livez", context=fresh)[0] == 200
    assert certificate_end(guarded, fresh) == ends_at(guarded.cert)
    with pytest.raises(OSError):
        guarded.admin("/livez", context=old)


@pytest.mark.parametrize("admin, problem", [
    ('listen = "0.0.0.0:10258";', "others can reach 0.0.0.0:10258"),
    ('listen = "[::]:10258";', "others can reach [::]:10258"),
    ('listen = "10.0.0.1:10258"; tls_cert_file = "/a"; tls_key_file = "/b";', "token_file"),
    ('listen = "10.0.0.1:10258"; token_file = "/a";', "tls_cert_file"),
    ('tls_cert_file = "/a";', "tls_cert_file and tls_key_file go together"),
    ('listen = "127.evil.example:1";', "is no ADDRESS:PORT"),
    ('listen = "localhost:10258";', "is no ADDRESS:PORT"),
    ('listen = "10258";', "is no ADDRESS:PORT"),
    ('listen = "127.0.0.1:99999";', "is no ADDRESS:PORT"),
])
def test_what_check_config_refuses(world, admin, problem):
    config = world.write_config(extra=f"admin: {{ {admin} }};")
    code, out, err = proc.run([world.binary("ccmd"), "check-config", "--config", config])
    assert code == 1
    assert problem in out + err


@pytest.mark.parametrize("admin", [
    "", 'listen = "";', 'listen = "127.8.9.1:1";', 'listen = "[::1]:10258";',
    'listen = "0.0.0.0:1"; tls_cert_file = "DIR/a"; tls_key_file = "DIR/b"; token_file = "DIR/c";'])
def test_what_check_config_takes(world, tmp_path, admin):
    made = proc.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                     "-subj", "/CN=ccmd", "-out", tmp_path / "a", "-keyout", tmp_path / "b"])
    assert made[0] == 0, made
    (tmp_path / "c").write_text("a-token-0123456789\n")
    (tmp_path / "c").chmod(0o600)
    config = world.write_config(extra=f"admin: {{ {admin.replace('DIR', str(tmp_path))} }};")
    code, out, err = proc.run([world.binary("ccmd"), "check-config", "--config", config])
    assert code == 0, out + err


def test_port_in_use(world):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = "127.0.0.1:%d" % taken.getsockname()[1]
        world.start_ccmd(world.write_config(extra=f'admin: {{ listen = "{address}"; }};'))
        process, world.ccmd = world.ccmd, None
        assert process.wait_exit() == 1
        assert f"admin: cannot listen on {address}: Address already in use" in process.err()


@pytest.mark.parametrize("content, problem", [
    (None, "No such file"), ("no certificate", "certificate and key are not usable")])
def test_unusable_certificate(world, tmp_path, content, problem):
    cert, key = tmp_path / "cert", tmp_path / "key"
    if content:
        cert.write_text(content)
        key.write_text(content)
    world.start_ccmd(world.write_config(
        extra=f'admin: {{ listen = "127.0.0.1:0"; tls_cert_file = "{cert}"; tls_key_file = "{key}"; }};'))
    process, world.ccmd = world.ccmd, None
    assert process.wait_exit() == 1
    assert problem in process.err()


def test_nobody_listens(world):
    world.start_ccmd(world.write_config(extra='admin: { listen = ""; };'))
    world.wait(lambda: "plugin clb: started" in world.log(), "work")
    assert "listening on" not in world.log()


def test_ipv6(world):
    world.start_ccmd(world.write_config(extra='admin: { listen = "[::1]:0"; };'))
    world.wait(lambda: ready(world), "readiness")


# --- the listener for metrics alone ---


def metrics_address(world):
    return world.wait(lambda: re.search(r"metrics.*listening on (\S+:\d+)\n", world.log()), "the listener for metrics").group(1)


def get(address, path, method="GET", host=None, **headers):
    connection = http.client.HTTPConnection(address.replace("0.0.0.0", "127.0.0.1"), timeout=30)
    try:
        connection.request(method, path, headers={**headers, **({"Host": host} if host else {})})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_metrics_have_a_listener_of_their_own(world):
    """It may be open to all: it needs neither TLS nor token, and has no page but that one, whatever it is asked for."""
    world.start_ccmd(world.write_config(extra='metrics: { listen = "0.0.0.0:0"; };'))
    address = metrics_address(world)
    world.wait(lambda: ready(world), "readiness")
    status, text = get(address, "/metrics", host="node-1.example.com")
    assert status == 200 and re.search("^ccmd_ready 1$", text, re.M)
    names = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    assert names == {line.split()[2] for line in world.admin("/metrics")[1].splitlines() if line.startswith("# TYPE")}
    for path in ("/", "/livez", "/readyz", "/healthz", "/statusz", "/statusz/objects", "/idlez", "/metrics/", "/metrics/../statusz",
                 "/allow-removals?plugin=clb", "/resync?all=1", "//metrics"):
        assert get(address, path) == (404, "/metrics\n"), path
        if path != "/":
            assert get(address, path, "POST", Authorization="Bearer 0123456789abcdef")[0] == 405, path
    assert get(address, "/metrics", "HEAD") == (200, "")
    assert get(address, "/metrics", "POST")[0] == get(address, "/metrics", "DELETE")[0] == 405


def test_metrics_do_without_the_admin_server(world):
    world.start_ccmd(world.write_config(extra='admin: { listen = ""; }; metrics: { listen = "[::1]:0"; };'))
    address = metrics_address(world)
    world.wait(lambda: re.search("^ccmd_ready 1$", get(address, "/metrics")[1], re.M), "readiness")


@pytest.mark.parametrize("options, problem", [
    ('metrics: { listen = "10268"; };', "'metrics': listen: \"10268\" is no ADDRESS:PORT, such as 0.0.0.0:10268 or [::]:10268"),
    ('metrics: { listen = "0.0.0.0:10258"; };', "'metrics': listen: admin.listen has that port, choose another"),
    ('admin: { listen = "[::1]:5"; }; metrics: { listen = "[::]:5"; };', "admin.listen has that port"),
    ('metrics: { lisen = "0.0.0.0:1"; };', "did you mean 'listen'?"),
    ('metrics: { listen = "0.0.0.0:10268"; };', None), ('metrics: { listen = "127.0.0.2:10258"; };', None),
    ('admin: { listen = "127.0.0.1:0"; }; metrics: { listen = "127.0.0.1:0"; };', None)])
def test_where_metrics_may_listen(world, options, problem):
    admin = "" if "admin:" in options else 'admin: { listen = "127.0.0.1:10258"; };'
    code, out, err = proc.run([world.binary("ccmd"), "check-config", "--config", world.write_config(extra=admin + options)])
    assert (code == 0) if problem is None else (code == 1 and problem in out + err), out + err


def test_port_of_metrics_in_use(world):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = "127.0.0.1:%d" % taken.getsockname()[1]
        world.start_ccmd(world.write_config(extra=f'metrics: {{ listen = "{address}"; }};'))
        process, world.ccmd = world.ccmd, None
        assert process.wait_exit() == 1
        assert f"metrics: cannot listen on {address}: Address already in use" in process.err()


# --- HTTP as it comes ---


def connect(world):
    host, port = world.admin_base().removeprefix("http://").rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=20)


def raw(world, request):
    with connect(world) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
        return answer


def test_methods_and_paths(world):
    world.start_ccmd()
    world.wait(lambda: world.admin("/readyz")[0] == 200, "the start")
    assert raw(world, b"POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc").startswith(
        b"HTTP/1.1 405 ")
    status, links = world.admin("/")
    assert status == 200 and all(f'href="{path}"' in links for path in ("/statusz", "/statusz/objects", "/metrics", "/readyz", "/livez"))
    for path in ("/statusz/nothing", "/statuszz", "/statusz/object?key=default/none", "/statusz/objects/x"):
        assert world.admin(path)[0] == 404, path
    for path in ("/statusz?format=xml", "/statusz/objects?state=x", "/statusz/objects?sort=x", "/statusz/objects?limit=0", "/statusz/objects?page=-1"):
        assert world.admin(path)[0] == 400, path
    assert world.admin("/livez/")[0] == 404
    assert world.admin("/../../etc/passwd")[0] == 404
    head = raw(world, b"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ") and head.endswith(b"\r\n\r\n")
    assert b"content-security-policy: default-src 'none'" in head.lower()
    for broken in (b"\x00\x01\x02\x03\r\n\r\n", b"GET /livez\r\n\r\n", b"GET " + b"/a" * 40000 + b" HTTP/1.1\r\n\r\n",
                   b"GET /livez HTTP/1.1\r\n" + b"a: b\r\n" * 20000 + b"\r\n", b"\x16\x03\x01\x00\xa5\x01\x00\x00"):
        raw_quietly(world, broken)
    assert live(world)


def test_pages_of_other_sites_read_nothing(world):
    """A name that somebody else gives out and lets lead here (DNS rebinding) opens nothing to a browser; probes are no secret."""
    world.start_ccmd()
    for path in ("/metrics", "/statusz", "/idlez"):
        answer = raw(world, f"GET {path} HTTP/1.1\r\nHost: evil.example:10258\r\nConnection: close\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 421 ") and b"admin.token_file" in answer
    assert raw(world, b"GET /livez HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 200 ")
    assert raw(world, b"GET /metrics HTTP/1.1\r\nHost: ccmd.kube-system.svc\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 200 ")


def raw_quietly(world, request):
    try:
        return raw(world, request)
    except OSError:
        return b""  # broken off in the middle of it


def test_connections_that_are_held_open_keep_nobody_out(world):
    """More of them than are served at a time; some send a byte now and then so as not to be idle."""
    world.start_ccmd()
    world.wait(lambda: ready(world), "readiness")
    held = []
    try:
        for _ in range(300):
            held.append(connect(world))
        for n, connection in enumerate(held):
            if n % 2:
                try:
                    connection.sendall(b"GET /livez HTTP/1.1\r\nX-Slow: a")
                except ConnectionError:
                    pass  # it had to go already
        started = world.seconds()
        for _ in range(20):
            assert live(world)
        assert world.seconds() - started < 5 * proc.SLOW
        assert world.metrics()["process_open_fds"] < 200
    finally:
        for connection in held:
            connection.close()
    world.stop_ccmd()
