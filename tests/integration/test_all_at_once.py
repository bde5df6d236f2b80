"""All that is shared is asked for at the same time: hostile reviews, many connections to the pages, Gateways with ListenerSets and
certificates that change, hundreds of refused Services, SIGHUP without end, one leader after the other. Nothing ends that should not,
and nothing waits for ever; under ASan and TSan: nothing leaks, nothing races. CCM_LOAD_S=300 makes it last longer."""

import http.client
import itertools
import json
import os
import random
import shutil
import signal
import socket
import ssl
import threading
import time
import urllib.error

import pytest

from tests.support import objects, proc
from tests.support.certificates import ON, Certificates, ref, tls_listener
from tests.support.gateway_api import PREFIX, backend, listener
from tests.support.webhook import Webhook, make_certificate
from tests.support.world import Kube, World, wait

LOAD_S = float(os.environ.get("CCM_LOAD_S", "12"))
LEADERS = 3  # one after the other at least
LEADS_S = 3  # each of them
LOUD = "kube-public"
REFUSED = 300
GATEWAYS = 3
HELD = 150  # connections to each server that are opened and left alone
ZONES = PREFIX + "zone-maps"
PAGES = ("/metrics", "/statusz", "/statusz/objects", "/statusz/objects?state=failing&limit=500&sort=name", "/statusz?format=json",
         "/statusz/object?plugin=clb&key=kube-public/bad-1", "/statusz/objects?q=web&format=text", "/idlez?horizon_ms=1", "/readyz", "/livez",
         "/statusz/objects?limit=0", "/nothing", "/statusz/object?key=%00%ff")
BROKEN = (OSError, http.client.HTTPException)  # whom a connection was closed on


class Load:
    """step(number) is called again and again in a thread of its own, until the load ends."""

    def __init__(self, name, step, closes=lambda: None):
        self.name, self.step, self.closes = name, step, closes
        self.count, self.broken, self.error = 0, 0, None
        self.thread = threading.Thread(target=self.run, name=name)

    def run(self):
        for number in itertools.count():
            if OVER.is_set():
                break
            try:
                self.step(number)
                self.count += 1
            except BROKEN:
                self.broken += 1
            except BaseException as error:  # shown at the end
                self.error = error
                break
        self.closes()


OVER = threading.Event()


# --- the webhook ---


def hostile_bodies():
    """(body, expected codes)"""
    many = objects.service("web", annotations={f"{PREFIX}a{n:04}": "x" * 8 for n in range(4000)})
    before = json.loads(json.dumps(many))
    before["metadata"]["annotations"].popitem()
    ports = objects.service("web", [(1 + n, "TCP") for n in range(3000)])
    names = objects.service("web", annotations={PREFIX + "additional-resource-tags": ",".join(f"k{n}=v" for n in range(9000)),
                                                PREFIX + "scheduler": "\u202efast\x1b[2J" * 50, PREFIX + "bandwidht": "<script>"})
    return [(Webhook.body(many), 200), (Webhook.body(many, before, "UPDATE"), 200), (Webhook.body(ports), 200), (Webhook.body(names), 200),
            ("[" * 100000, 400), ('{"a":' * 5000, 400), (b"\x00\xff", 400), ("{}", 400), (b" " * (4 << 20), 413),
            (Webhook.body({"metadata": 1, "spec": {"type": "LoadBalancer", "ports": "x"}}), 200)]


class Reviews:
    """A client whose connection stays as long as it can; every second review is that of an ordinary Service."""

    def __init__(self, webhook, bundle, hostile):
        self.webhook, self.bundle, self.hostile = webhook, bundle, hostile
        self.connection = None
        self.good = Webhook.body(objects.service("web"))
        self.load = Load("reviews", self.step, self.close)

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def ask(self, body):
        try:
            if self.connection is None:
                self.connection = self.webhook.connect(cert=self.bundle)
            self.connection.request("POST", "/lint?timeout=3s", body, {"Content-Type": "application/json"})
            answer = self.connection.getresponse()
            text = answer.read()
            if answer.will_close:
                self.close()
            return answer.status, text
        except BROKEN:
            self.close()
            raise

    def step(self, number):
        body, code = self.hostile[number % len(self.hostile)]
        found, text = self.ask(body)
        assert found == code or found == 503, (found, code, body[:80], text[:200])
        found, text = self.ask(self.good)
        assert found == 503 or (found == 200 and json.loads(text)["response"]["allowed"]), (found, text)


class Strangers:
    """Connections to a port that are opened, get garbage, half a request or nothing, and are left."""

    def __init__(self, address, secure):
        self.address, self.secure, self.held = address, secure, []
        self.load = Load("strangers", self.step, self.close)
        self.context = ssl.create_default_context()
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE

    def close(self):
        for one in self.held:
            one.close()
        self.held.clear()

    def step(self, number):
        host, port = self.address()
        OVER.wait(0.01)
        one = socket.create_connection((host, port), timeout=5, source_address=("127.0.0.2", 0))
        self.held.append(one)
        if len(self.held) > HELD:
            self.held.pop(0).close()
        what = number % 4
        if what == 1:
            one.sendall(b"\x16\x03\x01\x00\xa5\x01\x00\x00" if self.secure else b"GET /livez HTTP/1.1\r\nX-Slow: a")
        elif what == 2:
            one.sendall(b"GET /statusz HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
            self.held.pop().close()
        elif what == 3 and self.secure:
            self.held[-1] = one = self.context.wrap_socket(one)
            one.sendall(b"POST /lint HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n" + b" " * 600000)


def swap_certificates(webhook, pairs):
    """The webhook looks at the files by itself."""
    def step(number):
        for source, target in zip(pairs[number % 2], (webhook.cert, webhook.key)):
            shutil.copy(source, target + ".next")
            os.replace(target + ".next", target)
        OVER.wait(1)

    return Load("certificates", step)


# --- the daemon ---


class Pair:
    """Two instances; the one that leads is ended, and begins again."""

    def __init__(self, world, write):
        self.world, self.write = world, write
        self.running = {}
        self.ends = 0
        self.lock = threading.Lock()  # of the files

    def start(self, name):
        with self.lock:
            self.running[name] = self.world.start_ccmd(self.write(f"{name}.conf", 0))
        self.world.ccmd = None  # ended by us

    def leader(self):
        """(name, identity), once it leads."""
        leases = self.world.kube.state()["leases"]
        holder = next((one["spec"].get("holderIdentity") for one in leases if one["metadata"]["name"] == "ccm"), "")
        return next(((name, holder) for name, process in self.running.items() if holder and f"{holder} leads now" in process.err()), None)

    def change(self):
        name, holder = self.world.wait(self.leader, "a leader", timeout=60)
        self.running[name].stop(60)
        self.start(name)
        self.ends += 1
        self.world.wait(lambda: (self.leader() or (None, holder))[1] != holder, "another one to lead", timeout=60)

    @staticmethod
    def listens(process):
        return process.alive() and "admin: listening on" in process.err()

    def addresses(self):
        for process in list(self.running.values()):
            if self.listens(process):
                host, port = self.world.admin_base(process).removeprefix("http://").rsplit(":", 1)
                yield host, int(port)

    def address(self):
        found = list(self.addresses())
        if not found:
            raise OSError("none runs")
        return random.choice(found)

    def pages(self):
        """Each client reads to the end, but for every seventh page."""
        def step(number):
            connection = http.client.HTTPConnection(*self.address(), timeout=30 * proc.SLOW)
            try:
                for page in PAGES:
                    connection.request("GET", page, headers={"Accept": ("text/html", "application/json", "text/plain")[number % 3]})
                    if number % 7 == 6 and page == "/metrics":
                        return
                    answer = connection.getresponse()
                    answer.read()
                    assert answer.status in (200, 400, 404, 503), (page, answer.status)
            finally:
                connection.close()

        return Load("pages", step)

    def reloads(self):
        def step(number):
            for name in list(self.running):
                with self.lock:
                    process = self.running[name]
                    if self.listens(process):  # the signal ends what has not begun
                        self.write(f"{name}.conf", number)
                        process.popen.send_signal(signal.SIGHUP)
            OVER.wait(0.05)

        return Load("reloads", step)

    def stop(self):
        for process in self.running.values():
            process.stop(60)


def configuration(world):
    def write(name, number):
        """What a reload takes over: another one for each number."""
        quotas = "".join(f"{one} = {900000 + number % 99};" for one in ("slb_write", "slb_read", "nlb_write", "nlb_read", "vpc", "ecs"))
        plugins = (f'{{ name = "clb"; workers = 8; audit_interval_s = {60 + number % 9}; }}, '
                   f'{{ name = "nlb"; workers = 4; audit_interval_s = {60 + number % 9}; }}, '
                   f'{{ name = "gateway"; workers = 4; backend_health = false; unserved_wait_s = 3600; {ON} '
                   f'audit_interval_s = {60 + number % 9}; }}')
        path = world.write_config(name=name + ".next", plugins=plugins, alicloud=f"quotas: {{ {quotas} }};", election="enabled = true;",
                                  log_level=("info", "debug")[number % 5 == 4], extra=f"controller: {{ timeout_s = {60 + number % 9}; }};"
                                  + ("colour = ;" if number % 11 == 10 else ""))
        os.replace(path, path.removesuffix(".next"))
        return path.removesuffix(".next")

    return write


def gateways(world, api):
    """Listeners, sets, routes and certificates come, change and go."""
    rng = random.Random(1)

    def step(number):
        name = f"g{rng.randrange(GATEWAYS)}"
        what = rng.choice(("gateway", "set", "set", "secret", "route", "end"))
        if what == "secret":
            api.renew(rng.choice(("cert-0", "cert-1")), f"w{number}")
        elif what == "route" and api.get("TCPRoute", name):
            refs = [backend(f"web-{n}") for n in range(3) if rng.random() < 0.6] or [backend("web")]
            api.patch("TCPRoute", name, {"spec": {"rules": [{"backendRefs": refs}]}})
        elif what == "end" and api.get("Gateway", name):
            if rng.random() < 0.2:
                api.delete("Gateway", name)
        elif what == "set" and api.get("ListenerSet", name):
            ports = rng.sample(range(440, 450), rng.randrange(1, 4))
            api.patch("ListenerSet", name, {"spec": {"listeners": [tls_listener(f"s{port}", port, ref("cert-1")) for port in ports]}})
        elif what == "set":
            api.create("ListenerSet", name, {"parentRef": {"name": name}, "listeners": [listener("s", 81)]})
        elif api.get("Gateway", name):
            api.patch("Gateway", name, {"spec": {"listeners": [tls_listener("tls", 443, ref(f"cert-{number % 3}")), listener("tcp", 80 + number % 3)]}})
        else:
            api.make_gateway(tls_listener("tls", 443, ref("cert-0"), ref("cert-1")), listener("tcp", 80), name=name)
            api.patch("Gateway", name, {"spec": {"allowedListeners": {"namespaces": {"from": "Same"}}}})

    def patient(number):
        try:
            step(number)
        except urllib.error.HTTPError as error:
            assert error.code in (404, 409), (error.code, error.read())
        OVER.wait(0.02)

    return Load("gateways", patient)


def refusals(world):
    client = Kube(world.kube.base)

    def step(number):
        client.patch("Service", f"bad-{number % REFUSED}", {"metadata": {"annotations": {PREFIX + "scheduler": f"fast-{number}"}}}, namespace=LOUD)

    return Load("refusals", step)


def pods(world, services):
    """Of Services that serve: each change is a pass, with calls, an event now and then."""
    slices = [objects.endpoint_slice(one, [("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")]) for one in services]
    world.kube.create(*services, *slices)
    client = Kube(world.kube.base)

    def step(number):
        one = slices[number % len(slices)]
        client.patch("EndpointSlice", one["metadata"]["name"], {"endpoints": one["endpoints"][:1 + number // len(slices) % 2]})
        if number % 20 == 0:
            client.patch("Service", services[number % len(services)]["metadata"]["name"],
                         {"metadata": {"annotations": {PREFIX + "idle-timeout": str(10 + number % 50)}}})

    return Load("pods", step)


@pytest.fixture
def world(build, tmp_path):
    limits = [f"--limit={name}=2000" for name in ("load-balancers", "nlb-load-balancers", "nlb-server-groups")]
    with World(build, tmp_path / "world", cloud_args=["--call-log=200000", *limits]) as world:
        yield world


def prepare(world):
    """(Gateway API, Services that serve)"""
    api = Certificates.in_world(world, 3)
    for number in range(3):
        world.kube.create(objects.service(f"web-{number}", type="NodePort"))
    for number in range(GATEWAYS):
        api.make_route(f"g{number}", backend("web"), gateway=f"g{number}")
        api.create("TCPRoute", f"s{number}", {"parentRefs": [{"kind": "ListenerSet", "name": f"g{number}"}],
                                              "rules": [{"backendRefs": [backend("web-0")]}]})
    for number in range(2):
        api.make_secret(f"cert-{number}", f"first{number}")
    world.kube.create(*(objects.service(f"bad-{n}", namespace=LOUD, annotations={PREFIX + "scheduler": "fast"}) for n in range(REFUSED)))
    clb = [objects.service(f"clb-{n}", policy="Local") for n in range(6)]
    nlb = [objects.service(f"nlb-{n}", policy="Local", loadBalancerClass="alibabacloud.com/nlb",
                           annotations={ZONES: "cn-hangzhou-h:vsw-a,cn-hangzhou-i:vsw-b"}) for n in range(3)]
    return api, clb + nlb


def test_everything_at_once(world, build, tmp_path):
    OVER.clear()
    api, services = prepare(world)
    pair = Pair(world, configuration(world))
    (tmp_path / "hook").mkdir()
    webhook = Webhook(build, tmp_path / "hook")
    pairs = [make_certificate(tmp_path, name) for name in ("first", "second")]
    webhook.cert, webhook.key = (shutil.copy(path, tmp_path / f"used.{path[-3:]}") and str(tmp_path / f"used.{path[-3:]}") for path in pairs[0])
    bundle = tmp_path / "bundle.crt"
    bundle.write_text("".join(open(cert, encoding="ascii").read() for cert, _ in pairs))
    webhook.start()
    loads = []
    try:
        for name in ("one", "two"):
            pair.start(name)
        world.wait(pair.leader, "a leader", timeout=60)
        hostile = hostile_bodies()
        loads += [Reviews(webhook, str(bundle), hostile[n:] + hostile[:n]).load for n in range(4)]
        loads += [Strangers(lambda: ("127.0.0.1", webhook.port), True).load, Strangers(pair.address, False).load]
        loads += [swap_certificates(webhook, pairs), pair.pages(), pair.pages(), pair.pages(), pair.reloads(), gateways(world, api), refusals(world),
                  pods(world, services)]
        began = time.monotonic()
        for load in loads:
            load.thread.start()
        while (pair.ends < LEADERS or time.monotonic() - began < LOAD_S) and not any(load.error for load in loads):
            OVER.wait(LEADS_S)
            pair.change()
    finally:
        OVER.set()
        for load in loads:
            if load.thread.ident:
                load.thread.join()
    lasted = time.monotonic() - began
    for load in loads:
        if load.error is not None:
            raise load.error
    counts = {name: (sum(one.count for one in loads if one.name == name), sum(one.broken for one in loads if one.name == name))
              for name in {load.name for load in loads}}
    print(f"{lasted:.0f} s, {pair.ends} leaders ended, reviews {webhook_counts(webhook, bundle)}, "
          f"{len(world.cloud.actions())} calls to the cloud, {len(world.kube.items('Event', LOUD))} events of {LOUD}; "
          + "; ".join(f"{name} {done}, broken off {broken}" for name, (done, broken) in sorted(counts.items())))
    assert all(done > 0 for done, _ in counts.values()), counts
    world.kube.create(objects.service("last"))
    wait(lambda: world.kube.ingress("last"), "an address after all that", timeout=60)
    pair.stop()
    webhook.process.stop()


def webhook_counts(webhook, bundle):
    code, text = webhook.request("GET", "/metrics", cert=str(bundle))
    assert code == 200
    return {line.split('"')[1]: int(line.split()[-1]) for line in text.splitlines() if line.startswith("ccmd_webhook_reviews_total{")}
