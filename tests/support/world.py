"""A whole world on loopback: cloudsim, kubesim and ccmd as real processes, and the means to look at them.

    with World(build, folder) as world:
        world.start_ccmd()
        world.kube.create(objects.service("web"))
        world.wait(lambda: world.cloud.load_balancers(), "a load balancer")
"""

import http.client
import io
import json
import os
import re
import select
import threading
import time
import urllib.error
import uuid

from . import proc

ACCESS_KEY = "testAccessKeyId"
ACCESS_SECRET = "testAccessKeySecret"
CLUSTER_ID = "c-test"
SUPPRESSIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "valgrind.supp")

HORIZON_MS = 400  # what is due within this time is waited for
LEAST_S = 2  # what a wait gets in real time, however fast the time of a world is
SELDOM_S = 0.05  # the longest pause between two looks of a wait


def wait(condition, what, timeout=15.0, every=0.01):
    """The first true value of condition(); fails after the deadline, showing the last value or error. It is looked at every so many
    seconds, and less and less often while nothing comes: each look is work for those who are waited for. The timeout is in the time of
    the worlds, so a retry that comes later never helps; but the machine itself gets two seconds at least."""
    began = time.monotonic()
    deadline = began + max(timeout / World.time_scale, min(timeout, LEAST_S)) * float(os.environ.get("CCM_TEST_SLOW", "1"))
    last = None
    while True:
        try:
            last = condition()
            if last:
                return last
        except (urllib.error.URLError, ConnectionError, LookupError, TypeError) as error:
            last = error
        now = time.monotonic()
        if now > deadline:
            raise AssertionError(f"timed out waiting for {what}; last: {last!r}")
        time.sleep(max(every, min((now - began) / 10, SELDOM_S)))


class Http:
    """Each thread keeps its connection. One that the server has closed meanwhile is replaced before anything is sent, so no request is
    sent twice."""

    def __init__(self, base, context=None, token=None):
        self.base = base
        self.token = token
        self.options = {} if context is None else {"context": context}
        self.local = threading.local()

    def _connection(self):
        kept = getattr(self.local, "connection", None)
        if kept is None or kept.sock is None or select.select([kept.sock], [], [], 0)[0]:
            self.close()
            scheme, _, place = self.base.partition("://")
            kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
            self.local.connection = kept = kind(place, timeout=30, **self.options)
        return kept

    def close(self):
        kept, self.local.connection = getattr(self.local, "connection", None), None
        if kept is not None:
            kept.close()

    def answer(self, method, path, data=None, headers=()):
        """(answer, its text), whatever its status is."""
        authorization = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        connection = self._connection()
        try:
            connection.request(method, path, data, {**dict(headers), **authorization})
            answer = connection.getresponse()
            return answer, answer.read()
        except BaseException:
            self.close()
            raise

    def request(self, method, path, body=None, content_type="application/json"):
        data = None if body is None else (body if isinstance(body, bytes) else json.dumps(body).encode())
        answer, text = self.answer(method, path, data, {} if data is None else {"Content-Type": content_type})
        if not 200 <= answer.status < 300:
            raise urllib.error.HTTPError(self.base + path, answer.status, answer.reason, answer.headers, io.BytesIO(text))
        return json.loads(text) if text.strip() else None


class Simulator:
    """The /_sim control that both simulators share."""

    def __init__(self, base):
        self.http = Http(base)
        self.base = base

    def state(self):
        return self.http.request("GET", "/_sim/state")

    def calls(self, since=0):
        return self.http.request("GET", f"/_sim/calls?since={since}")["calls"]

    def mark(self):
        """Sequence number of the newest call, for calls(since)."""
        return self.http.request("GET", "/_sim/idle")["last"]

    def actions(self, since=0):
        return [call["action"] for call in self.calls(since)]

    def fault(self, action=None, nth=None, count=1, params=None, **effect):
        match = {} if params is None else {"params": params}
        if action is not None:
            match["action"] = action
        if nth is not None:
            match["nth"] = nth
        return self.http.request("POST", "/_sim/faults", {"match": match, "effect": effect, "count": count})

    def clear_faults(self):
        self.http.request("DELETE", "/_sim/faults")


class Cloud(Simulator):
    def load_balancers(self):
        return self.state()["loadBalancers"]

    def network_load_balancers(self):
        """Each with "Groups": the server groups that its listeners use or that carry the same owner's tag."""
        state = self.state()
        tag = "kubernetes.do.not.delete"
        for lb in state["nlbLoadBalancers"]:
            used = {listener["ServerGroupId"] for listener in lb["Listeners"]}
            lb["Groups"] = [group for group in state["nlbServerGroups"] if group["ServerGroupId"] in used or (
                tag in lb["Tags"] and group["Tags"].get(tag) == lb["Tags"][tag])]
        return state["nlbLoadBalancers"]

    def edit(self, op, **what):
        return self.http.request("POST", "/_sim/edit", {"op": op, **what})


KINDS = {
    "Service": ("/api/v1", "services"),
    "Node": ("/api/v1", "nodes"),
    "Pod": ("/api/v1", "pods"),
    "Event": ("/api/v1", "events"),
    "Endpoints": ("/api/v1", "endpoints"),
    "EndpointSlice": ("/apis/discovery.k8s.io/v1", "endpointslices"),
}


class Kube(Simulator):
    @staticmethod
    def path(kind, name=None, namespace="default", subresource=None):
        group, plural = KINDS[kind]
        path = group + ("" if kind == "Node" else f"/namespaces/{namespace}") + "/" + plural
        if name:
            path += "/" + name
        if subresource:
            path += "/" + subresource
        return path

    def create(self, *objects):
        for item in objects:
            meta = item["metadata"]
            created = self.http.request("POST", self.path(item["kind"], None, meta.get("namespace", "default")), item)
            if item["kind"] == "Node" and "status" in item:
                self.patch("Node", meta["name"], {"status": item["status"]}, subresource="status")
        return created

    def get(self, kind, name, namespace="default"):
        try:
            return self.http.request("GET", self.path(kind, name, namespace))
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def items(self, kind, namespace="default"):
        return self.http.request("GET", self.path(kind, None, namespace))["items"]

    def patch(self, kind, name, body, namespace="default", subresource=None):
        return self.http.request(
            "PATCH", self.path(kind, name, namespace, subresource), body, "application/merge-patch+json"
        )

    def replace(self, item):
        """Update with whatever resourceVersion the server has now."""
        meta = item["metadata"]
        namespace = meta.get("namespace", "default")
        current = self.get(item["kind"], meta["name"], namespace)
        item = dict(item, metadata=dict(meta, resourceVersion=current["metadata"]["resourceVersion"]))
        return self.http.request("PUT", self.path(item["kind"], meta["name"], namespace), item)

    def delete(self, kind, name, namespace="default"):
        return self.http.request("DELETE", self.path(kind, name, namespace))

    def watches(self, op, resource=None):
        """Trouble for the open watches of a resource, or of all: drop, garbage, truncate, silence, expire, compact."""
        return self.http.request("POST", "/_sim/watch", {"op": op, "resource": resource})

    def events(self, name=None, namespace="default"):
        """(type, reason, message, count) of the events of an object, that which was written last at the end."""
        return [
            (e["type"], e["reason"], e["message"], e.get("count", 1))
            for e in sorted(self.items("Event", namespace), key=lambda e: int(e["metadata"]["resourceVersion"]))
            if name is None or e["involvedObject"]["name"] == name
        ]

    def ingress(self, name):
        service = self.get("Service", name)
        return (service or {}).get("status", {}).get("loadBalancer", {}).get("ingress", [])


class World:
    time_scale = 1  # its processes live so many times as fast: pytest.mark.time_scale

    def __init__(self, build, folder, cloud_args=(), kube_args=()):
        self.build = str(build)
        self.began_ns = time.monotonic_ns()
        self.folder = str(folder)
        self.cloud_args = list(cloud_args)
        self.kube_args = list(kube_args)
        self.ccmd = None
        self.processes = []

    def binary(self, name):
        return os.path.join(self.build, "bin", name)

    def __enter__(self):
        os.makedirs(self.folder, exist_ok=True)
        self.kubeconfig = os.path.join(self.folder, "kubeconfig")
        cloudsim = self._start("cloudsim", ["--listen", "127.0.0.1:0", *self.cloud_args])
        self.kubesim = self._start_kubesim("127.0.0.1:0")
        self.cloud = Cloud("http://" + cloudsim.wait_listening())
        self.kube = Kube("http://" + self.kubesim.wait_listening())
        wait(lambda: os.path.exists(self.kubeconfig), "kubesim's kubeconfig")
        self.config = self.write_config()
        return self

    def __exit__(self, kind, *_):
        problems = []
        try:
            self.last_events = json.dumps(self.kube.http.request("GET", "/api/v1/events"))
        except (OSError, AttributeError):
            self.last_events = ""  # the API server is gone, or lets nobody in: the files tell
        self.last_pages = "".join(self._page(path) for path in ("/metrics", "/statusz", "/readyz") if kind is None)
        self._note_calls()
        for process in ([self.ccmd] if self.ccmd else []) + self.processes[::-1]:
            try:
                process.stop()
            except AssertionError as error:
                problems.append(error)
        self.ccmd = None
        if kind is None:
            problems += self.leaks()
        if problems and kind is None:
            raise problems[0]

    def _page(self, path):
        """What the admin server of a ccmd that runs says now, or "" when it says nothing to us."""
        listens = re.search(r"admin.*listening on (\S+:\d+)", self.ccmd.err()) if self.ccmd and self.ccmd.alive() else None
        try:
            return Http(f"http://{listens.group(1)}").answer("GET", path)[1].decode(errors="replace")
        except (OSError, AttributeError, http.client.HTTPException):
            return ""

    def _note_calls(self):
        """Which actions each plugin really called, for the test of the RAM policies."""
        folder = os.environ.get("CCM_CALLS_DIR")
        logs = self.log() if folder else ""
        seen = sorted(set(re.findall(r" (clb|nlb|route|node|gateway)\b[^:]*: (slb|nlb|vpc|ecs|cas|sts|eflo) ([A-Z][A-Za-z0-9]+): ", logs)))
        if seen:
            os.makedirs(folder, exist_ok=True)
            with open(os.path.join(folder, f"{uuid.uuid4()}.json"), "w", encoding="utf-8") as file:
                json.dump({"test": os.environ.get("PYTEST_CURRENT_TEST", ""), "calls": seen}, file)

    def leaks(self):
        """Secrets of this world in what the processes wrote or said: there are none, in no test."""
        # A key's, those of roles that cloudsim gives, and private keys of certificates, as they are and as Secrets hold them.
        secrets = [ACCESS_SECRET, "secret-of-", "token-of-", "BEGIN PRIVATE", "MIIPRIVATE", "LS0tLS1CRUdJTiBQUklWQVRF"]
        texts = {}
        for name in sorted(os.listdir(self.folder)):
            if name.endswith((".err", ".out")):
                with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as file:
                    texts[name] = file.read()
        texts["events"] = self.last_events
        texts["a page of the admin server"] = self.last_pages
        return [AssertionError(f"{name}: {secret}... in what was written")
                for name, text in texts.items() for secret in secrets if secret in text]

    def seconds(self):
        """Since it began, in its own time."""
        return (time.monotonic_ns() - self.began_ns) / 1e9 * self.time_scale

    def time(self):
        """The environment that gives a process the time of this world: tests/support/shifted_clock.c."""
        if self.time_scale == 1:
            return {}
        options = " ".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]))
        return {"LD_PRELOAD": os.path.join(self.build, "tests", "support", "shifted-clock.so"), "ASAN_OPTIONS": options,
                "CCM_TEST_TIME": f"{self.time_scale},{self.began_ns}"}

    def _start(self, name, args, env=None):
        process = proc.Process([self.binary(name), *args], os.path.join(self.folder, name), env={**self.time(), **(env or {})})
        self.processes.append(process)
        return process

    def _start_kubesim(self, address):
        return self._start("kubesim", ["--listen", address, "--kubeconfig-out", self.kubeconfig, *self.kube_args])

    def restart_kubesim(self):
        """kill -9, and a new one without any object at the same address."""
        address = self.kubesim.wait_listening()
        self.kubesim.kill()
        self.processes.remove(self.kubesim)
        self.kubesim = self._start_kubesim(address)
        self.kubesim.wait_listening()

    def write_config(self, plugins='{ name = "clb"; workers = 4; }', extra="", alicloud="", log_level="debug",
                     plugin_dir=None, name="ccmd.conf", election="enabled = false;", settle_s=0, cluster_id=CLUSTER_ID,
                     plain_http="true", endpoints=None, kubernetes=""):
        path = os.path.join(self.folder, name)
        if "backend_health" not in plugins:  # calls are counted
            plugins = re.sub(r'(name = "(?:clb|nlb)";)', r"\1 backend_health = false;", plugins)
        if "unserved_wait_s" not in plugins:  # most Services of tests have no pods: on a slow machine they would be told so
            plugins = re.sub(r'(name = "(?:clb|nlb)";)', r"\1 unserved_wait_s = 3600;", plugins)
        if endpoints is None:
            endpoints = " ".join(f'{name} = "{self.cloud.base}";' for name in ("slb", "nlb", "vpc", "ecs", "sts", "eflo", "cas", "metadata"))
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                f"""plugin_dir = "{plugin_dir or os.path.abspath(os.path.join(self.build, 'plugins'))}";
kubernetes: {{ kubeconfig = "{os.path.abspath(self.kubeconfig)}"; settle_s = {settle_s}; {kubernetes} }};
leader_election: {{ {election} }};
log: {{ level = "{log_level}"; }};
{'' if 'admin:' in extra else 'admin: { listen = "127.0.0.1:0"; };'}
alicloud: {{
    cluster_id = "{cluster_id}";
    plain_http = {plain_http};
    endpoints: {{ {endpoints} }};
    {alicloud}
}};
plugins = ( {plugins} );
{extra}
"""
            )
        return path

    def start_ccmd(self, config=None, env=None):
        number = sum(1 for _ in os.scandir(self.folder) if _.name.startswith("ccmd-"))
        environment = {"ACCESS_KEY_ID": ACCESS_KEY, "ACCESS_KEY_SECRET": ACCESS_SECRET, **self.time(), **(env or {})}
        command = [self.binary("ccmd"), "run", "--config", config or self.config]
        if os.environ.get("CCM_VALGRIND"):
            command = ["valgrind", "--quiet", "--leak-check=full", "--error-exitcode=99",
                       "--errors-for-leak-kinds=definite,indirect,possible", f"--suppressions={SUPPRESSIONS}", *command]
        self.ccmd = proc.Process(command, os.path.join(self.folder, f"ccmd-{number}"), env=environment)
        return self.ccmd

    def stop_ccmd(self):
        """SIGTERM; asserts a clean exit."""
        process, self.ccmd = self.ccmd, None
        process.stop()

    def kill_ccmd(self, calls_end=True):
        """kill -9. A call is on record before the cloud carries it out: unless it is delayed, that has happened when this returns."""
        process, self.ccmd = self.ccmd, None
        process.kill()
        if calls_end:
            self.wait(lambda: self.cloud.http.request("GET", "/_sim/idle")["open"] == 0, "the end of what was sent")

    def log(self):
        """What ccmd wrote so far, over all its starts."""
        return "".join(
            open(os.path.join(self.folder, name), encoding="utf-8", errors="replace").read()
            for name in sorted(os.listdir(self.folder))
            if name.startswith("ccmd-") and name.endswith(".err")
        )

    def logged(self, text, timeout=15.0):
        """Waits for `text` in the log: a line may come a little after the event or the call that it is about."""
        self.wait(lambda: text in self.log(), f"{text!r} in the log", timeout)

    def wait(self, condition, what, timeout=15.0, every=0.01):
        def checked():
            if self.ccmd is not None and not self.ccmd.alive():
                raise AssertionError(f"ccmd ended while waiting for {what}:\n{self.log()[-4000:]}")
            return condition()

        try:
            return wait(checked, what, timeout, every)
        except AssertionError as error:
            raise AssertionError(f"{error}\n--- ccmd ---\n{self.log()[-6000:]}") from None

    def _glance(self, horizon_ms, process):
        """What ccmd and the simulators are at, or None when that is something, told by self.busy. See core/daemon/idle.c: one such
        look is made of several that are not of the same moment."""
        self.busy, idle, caches = "", "", {}
        if process is not None and process.alive():
            status, idle = self.admin(f"/idlez?horizon_ms={horizon_ms}", process)
            parts = json.loads(idle)
            self.busy = "; ".join(f"{name}: {part['busy']}" for group in parts.values() if isinstance(group, dict)
                                  for name, part in ([("events", group)] if "count" in group else group.items()) if "busy" in part)
            if status != 200:
                self.busy = self.busy or "ccmd: plugins are created"  # there are no parts
            caches = parts["caches"] if status == 200 else {}
        cloud = self.cloud.http.request("GET", "/_sim/idle")
        versions = self.kube.http.request("GET", "/_sim/versions") if caches else {}
        if cloud["open"] > 0:
            self.busy += f"; cloudsim: {cloud['open']} calls are running"
        caches = {name: cache for name, cache in caches.items() if cache["version"]}  # else there is no such resource
        for name in caches:  # "buckets in default": the resource comes first, its group is not told
            plural = name.split(" ")[0]
            versions.setdefault(name, next(number for key, number in versions.items() if key.split(".")[0] == plural))
        for name, cache in caches.items():
            if not versions[name] <= int(cache["version"]) <= versions["newest"]:
                self.busy += f"; {name}: at version {cache['version']} of {versions[name]}"
        return None if self.busy else (idle, cloud, [versions[name] for name in caches])

    def idle(self, horizon_ms=HORIZON_MS, process=None):
        """Whether everything that was asked for has been done, and nothing is due within the horizon: ccmd has seen the newest
        version of each kind it watches, has worked on what follows from it, has written its events, and no call is under way.
        Two looks that show the same: in between was no change. When it is not, self.busy says why."""
        first = self._glance(horizon_ms, process or self.ccmd)
        if first is None:
            return False
        if self._glance(horizon_ms, process or self.ccmd) != first:
            self.busy = self.busy or "something has just happened"
        return not self.busy

    def settled(self, horizon_ms=HORIZON_MS, process=None):
        """Wait until it is idle. process: a ccmd that this world has not started."""
        try:
            self.wait(lambda: self.idle(horizon_ms, process), "the world to be idle", timeout=30)
        except AssertionError as error:
            raise AssertionError(f"{self.busy}\n{error}") from None

    def resync(self, *words):
        """`ccmd resync` with a copy of the configuration that names the port of the running ccmd: (code, stdout, stderr)."""
        with open(self.config, encoding="utf-8") as file:
            text = file.read()
        path = self.config + ".asks"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("127.0.0.1:0", self.admin_base().split("//")[1]))
        return proc.run([self.binary("ccmd"), "resync", "--config", path, *words], timeout=60)

    def admin_base(self, process=None, scheme="http"):
        """Where the admin server of ccmd listens, as its log says."""
        process = process or self.ccmd

        def found():
            assert process.alive(), f"ccmd ended:\n{process.err()[-4000:]}"
            return re.search(r"admin.*listening on (\S+:\d+)", process.err())

        if process.listens is None:
            process.listens = wait(found, "the admin server").group(1)
        return f"{scheme}://{process.listens}"

    def admin(self, path, process=None, token=None, context=None):
        """(status, text) of a GET of the admin server."""
        http = Http(self.admin_base(process, "https" if context else "http"), context, token)
        try:
            answer, text = http.answer("GET", path)
            return answer.status, text.decode()
        finally:
            http.close()

    def metrics(self, process=None):
        """Values of /metrics by the text before them: {'leader_election_master_status{name="ccm"}': 1.0, ...}."""
        status, text = self.admin("/metrics", process)
        assert status == 200, text
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line[0] != "#"}

    def kubectl(self, *args, stdin=None):
        return proc.kubectl(self.kubeconfig, *args, stdin=stdin)
