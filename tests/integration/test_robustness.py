"""Trouble of every kind at once, on real processes: ccmd goes on, loses nothing, and ends when it is asked to."""

import os
import re
import signal
import ssl
import subprocess
import urllib.error

import pytest

from tests.support import objects, proc, views
from tests.support.world import Http, World

pytestmark = pytest.mark.time_scale(5)
PORTS = ((80, "TCP"),)
QUICK = "quotas: { slb_write = 100000; slb_read = 100000; };"
FINALIZER = "service.k8s.alibaba/resources"


@pytest.fixture
def big(build, tmp_path):
    """A world for many Services."""
    with World(build, tmp_path, cloud_args=["--limit", "load-balancers=10000"]) as instance:
        instance.config = instance.write_config(plugins='{ name = "clb"; workers = 16; }', alicloud=QUICK,
                                                log_level="info")
        views.nodes(instance, 2)
        yield instance


def ready(world, name="web"):
    world.wait(lambda: views.complete(views.only_lb(world), PORTS) and world.kube.ingress(name), "the load balancer")


def with_address(world):
    return {s["metadata"]["name"] for s in world.kube.items("Service")
            if s.get("status", {}).get("loadBalancer", {}).get("ingress")}


def by_service(world):
    """Complete load balancers by the name of their Service; two of one Service are a failure."""
    found = {}
    for lb in world.cloud.load_balancers():
        for group in views.groups(lb):
            name = group.split("/")[2]
            assert found.setdefault(name, lb["LoadBalancerId"]) == lb["LoadBalancerId"], f"two for {name}"
    return found


def lines(world, level):
    return [line for line in world.log().splitlines() if f" {level} " in line]


# --- many ----------------------------------------------------------------------------------------------------------


def test_500_at_once(big):
    names = {f"web-{n}" for n in range(500)}
    big.start_ccmd()
    big.kube.create(*[objects.service(name) for name in names])
    big.wait(lambda: with_address(big) == names, "every address", timeout=30)
    lbs = big.cloud.load_balancers()
    assert len(lbs) == 500 and all(views.complete(lb, PORTS) for lb in lbs)
    for name in names:
        big.kube.delete("Service", name)
    big.wait(lambda: not big.kube.items("Service"), "deletion", timeout=30)
    assert big.cloud.load_balancers() == []


def test_stopped_in_the_middle_of_200_creations(big):
    names = {f"web-{n}" for n in range(200)}
    big.kube.create(*[objects.service(name) for name in names])
    for count in (20, 80, 140):
        room = count + 20 - len(big.cloud.load_balancers())  # however late we look, it is in the middle
        big.cloud.clear_faults()
        big.cloud.fault(action="CreateLoadBalancer", nth=room + 1, count=100000, code="InternalError", http=500)
        big.cloud.fault(action="Create*", count=100000, delay_ms=20)
        big.start_ccmd()
        big.wait(lambda wanted=count: len(big.cloud.load_balancers()) >= wanted, f"{count} load balancers")
        assert len(with_address(big)) < 200
        big.stop_ccmd()
    big.cloud.clear_faults()
    big.start_ccmd()
    big.wait(lambda: with_address(big) == names, "every address", timeout=30)
    assert set(by_service(big)) == names
    assert len(big.cloud.load_balancers()) == 200


def test_no_call_after_the_end(big):
    big.start_ccmd()
    big.kube.create(*[objects.service(f"web-{n}") for n in range(60)])
    big.wait(lambda: len(big.cloud.load_balancers()) > 5, "some load balancers")
    big.stop_ccmd()
    marks = big.cloud.mark(), big.kube.mark()
    big.settled()
    assert (big.cloud.mark(), big.kube.mark()) == marks
    assert "error" not in {line.split()[1] for line in big.log().splitlines()}


# --- objects that change while they are worked on --------------------------------------------------------------------


def test_type_flapping(world):
    views.nodes(world, 1)
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    for n in range(40):
        world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP" if n % 2 == 0 else "LoadBalancer"}})
    ready(world)
    world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP"}})
    world.wait(lambda: not world.cloud.load_balancers()
               and FINALIZER not in world.kube.get("Service", "web")["metadata"].get("finalizers", []), "the release")
    world.settled()
    assert world.cloud.load_balancers() == [] and world.kube.ingress("web") == []


@pytest.mark.parametrize("action", ["CreateLoadBalancer", "CreateVServerGroup", "StartLoadBalancerListener"])
def test_deleted_during_creation(world, action):
    views.nodes(world, 1)
    world.cloud.fault(action=action, delay_ms=300)
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: action in world.cloud.actions(), action)
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")
    assert world.cloud.load_balancers() == []


def test_same_name_again_at_once(world):
    views.nodes(world, 1)
    world.start_ccmd()
    for _ in range(5):
        world.kube.create(objects.service("web", PORTS))
        world.wait(world.cloud.load_balancers, "a load balancer")
        world.kube.delete("Service", "web")
        world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")
    world.kube.create(objects.service("web", PORTS))
    ready(world)


# --- the API server --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403, 409, 429, 500])
@pytest.mark.parametrize("target", ["/services/web", "/services/web/status"])
def test_patches_refused_for_a_while(world, status, target):
    views.nodes(world, 1)
    # 401 and 403 wait half a minute by design: an operator has to act, so one of them is enough to see
    world.kube.http.request("POST", "/_sim/faults", {
        "match": {"action": f"PATCH *{target}"}, "effect": {"http": status},
        "count": 100000 if status in (401, 403) else 2})
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    if status in (401, 403):
        def told():
            return [e for e in world.kube.events("web") if e[0] == "Warning" and str(status) in e[2]]

        world.wait(told, "an event")
        world.settled()
        assert len([a for a in world.kube.actions() if a.startswith("PATCH ") and "/services/web" in a]) <= 4
        assert len(told()) == 1
        world.kube.clear_faults()
        world.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/again": "1"}}})
    ready(world)
    assert len(world.cloud.load_balancers()) == 1


DENIALS = {
    400: 'admission webhook "guard.example.com" denied the request: not today',
    403: 'admission webhook "guard.example.com" denied the request: not today',
    404: 'admission webhook "guard.example.com" denied the request: not today',
    422: 'services "web" is forbidden: ValidatingAdmissionPolicy \'p\' with binding \'b\' denied request: not today',
}


@pytest.mark.parametrize("target", ["/services/web", "/services/web/status"])
@pytest.mark.parametrize("status", sorted(DENIALS))
def test_patches_denied_by_the_guard_of_a_cluster(world, status, target):
    """A webhook or a policy is mended without a change of the Service: told once, in its words, and tried again soon."""
    views.nodes(world, 1)
    world.kube.fault(action=f"PATCH *{target}", count=100000, http=status, message=DENIALS[status])
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))

    def told():
        return [e for e in world.kube.events("web") if e[0] == "Warning" and DENIALS[status] in e[2]]

    world.wait(told, "an event")
    world.settled()
    waits = [int(wait) for wait in re.findall(r"not today.*; retry in (\d+) ms", world.log())]
    assert waits and all(15000 <= wait <= 30000 for wait in waits[:1]), waits
    assert len([a for a in world.kube.actions() if a.startswith("PATCH ") and "/services/web" in a]) <= 4
    assert len(told()) == 1 and len(world.cloud.load_balancers()) <= 1
    world.kube.clear_faults()
    world.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/again": "1"}}})
    ready(world)
    assert len(world.cloud.load_balancers()) == 1


@pytest.mark.parametrize("target", ["/services/web", "/services/web/status"])
def test_releases_denied_by_the_guard_of_a_cluster(world, target):
    """No right in the cloud helps against that, and none is named."""
    views.nodes(world, 1)
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    ready(world)
    world.kube.fault(action=f"PATCH *{target}", count=100000, http=403, message=DENIALS[403])
    world.kube.delete("Service", "web")

    def denied():
        return [e[2] for e in world.kube.events("web") if DENIALS[403] in e[2]]

    told = world.wait(denied, "an event")
    assert len(told) == 1 and "RAM" not in told[0] and told[0].startswith("Error removing load balancer"), told
    world.kube.clear_faults()
    world.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/again": "1"}}})
    world.wait(lambda: not world.kube.state()["services"], "the Service to go")
    assert world.cloud.load_balancers() == []


def test_a_server_that_begins_knows_no_roles(world):
    """It refuses with 403 what it allows a moment later, and says why: nothing waits for an operator, no event is lost."""
    said = 'services "web" is forbidden: RBAC: clusterrole.rbac.authorization.k8s.io "ccmd" not found'
    views.nodes(world, 1)
    for action in ("PATCH */services/web", "PATCH */services/web/status", "CREATE */events"):
        world.kube.fault(action=action, count=2, http=403, code="Forbidden", message=said)
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    ready(world)
    world.wait(lambda: any("EnsuredLoadBalancer" in event for event in world.kube.events("web")), "the event")
    assert len(world.cloud.load_balancers()) == 1 and "is lost" not in world.log()


@pytest.mark.parametrize("http", [409, 500])
def test_a_condition_that_was_refused_once_is_written_soon(world, http):
    """The failure that it tells of waits for a change, or for minutes: its condition does not."""
    views.nodes(world, 1)
    world.kube.fault(action="PATCH *services/web/status", count=2, http=http)
    world.start_ccmd()
    wrong = {"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-scheduler": "nonsense"}
    world.kube.create(objects.service("web", PORTS, annotations=wrong))

    def conditions():
        return world.kube.get("Service", "web").get("status", {}).get("conditions", [])

    world.wait(conditions, "the condition", timeout=60)
    assert conditions()[0]["reason"] == "Refused" and "scheduler" in conditions()[0]["message"]


def test_events_refused(world):
    views.nodes(world, 1)
    world.kube.fault(action="CREATE */events", count=100000, http=403)
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    ready(world)
    world.wait(lambda: [line for line in lines(world, "warn") if "event" in line and "403" in line], "the complaint")
    assert world.kube.events("web") == []


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_lists_and_watches_refused(world, status):
    views.nodes(world, 1)
    world.kube.fault(action="WATCH *", count=6, http=status)
    world.kube.fault(action="LIST *", count=3, http=status)
    world.start_ccmd()
    world.wait(lambda: [line for line in lines(world, "warn") + lines(world, "error") if str(status) in line],
               "the complaint")
    world.kube.clear_faults()
    world.kube.create(objects.service("web", PORTS))
    ready(world)
    assert len([a for a in world.kube.actions() if a.startswith(("WATCH ", "LIST "))]) < 40


def forget_everything(world):
    """The API server is another one, with none of the objects; it says so to whoever asks for what it never had."""
    world.restart_kubesim()
    for resource in ("services", "nodes", "endpointslices"):
        world.wait(lambda r=resource: world.kube.state()["watches"][r], "a watch")
        world.kube.watches("expire", resource)


def test_comes_back_empty(world):
    """Nothing that is in the cloud may go because the API server has forgotten everything."""
    views.nodes(world, 1)
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    ready(world)
    world.settled()
    calls = world.cloud.mark()
    forget_everything(world)
    views.nodes(world, 1)
    world.kube.create(objects.service("other", PORTS))
    world.wait(lambda: world.kube.ingress("other"), "the new Service")
    deleted = [a for a in world.cloud.actions(calls) if a.startswith(("Delete", "Remove", "Stop"))]
    assert deleted == [] and len(world.cloud.load_balancers()) == 2


def test_comes_back_empty_and_lists_services_last(world):
    """An API server without nodes means something else as long as the Services are still believed in."""
    views.nodes(world, 1)
    world.kube.create(objects.service("web", PORTS))
    world.start_ccmd()
    ready(world)
    world.settled()
    calls = world.cloud.mark()
    with world.ccmd.paused():
        world.restart_kubesim()
        world.kube.fault(action="* /api/v1/services", count=3, http=503)
    for kind in ("services", "nodes", "endpointslices"):
        world.wait(lambda k=kind: f"{k}: 0 objects listed" in world.log(), f"an empty list of {kind}", timeout=60)
    world.settled()
    assert world.log().index("services: 0 objects listed") < world.log().index("nodes: 0 objects listed")
    deleted = [a for a in world.cloud.actions(calls) if a.startswith(("Delete", "Remove", "Stop"))]
    assert deleted == [] and views.complete(views.only_lb(world), PORTS)


def test_watch_that_is_silent_for_ever(world):
    """Deadlines of minutes are the business of the unit tests; here a stop must not wait for them."""
    world.start_ccmd()
    world.wait(lambda: "started" in world.log(), "the start")
    for resource in ("services", "nodes", "endpointslices"):
        world.kube.watches("silence", resource)
    began = world.seconds()
    world.stop_ccmd()
    assert world.seconds() - began < 5 * proc.SLOW


def test_stop_while_the_caches_are_waited_for(world):
    world.kube.fault(action="WATCH *", count=100, delay_ms=600000)
    world.start_ccmd()
    world.wait(lambda: [a for a in world.kube.actions() if a.startswith("WATCH ")], "a request")
    began = world.seconds()
    world.stop_ccmd()
    assert world.seconds() - began < 5 * proc.SLOW
    assert "started" not in world.log() and not lines(world, "error")


# --- TLS, tokens, secrets --------------------------------------------------------------------------------------------


def secure_world(build, folder, token="first-token-of-the-test"):
    tls, server_token = os.path.join(folder, "tls"), os.path.join(folder, "server-token")
    os.makedirs(tls)
    with open(server_token, "w", encoding="utf-8") as file:
        file.write(token)

    class Secure(World):
        def __enter__(self):
            super().__enter__()
            context = ssl.create_default_context(cafile=os.path.join(tls, "ca.crt"))
            self.kube.base = self.kube.base.replace("http://", "https://")
            self.kube.http = Http(self.kube.base, context, token)
            return self

        def use_token_file(self, text, ca):
            self.client_token = os.path.join(self.folder, "client-token")
            self.write_token(text)
            self.kubeconfig = os.path.join(self.folder, "by-token")
            with open(self.kubeconfig, "w", encoding="utf-8") as file:
                file.write(f"""apiVersion: v1
kind: Config
current-context: c
clusters: [{{ name: k, cluster: {{ server: "{self.kube.base}", certificate-authority: "{ca}" }} }}]
users: [{{ name: u, user: {{ tokenFile: "{self.client_token}" }} }}]
contexts: [{{ name: c, context: {{ cluster: k, user: u }} }}]
""")
            os.chmod(self.kubeconfig, 0o600)
            self.config = self.write_config()

        def write_token(self, text):
            with open(self.client_token + ".new", "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(self.client_token + ".new", 0o600)
            os.rename(self.client_token + ".new", self.client_token)

    world = Secure(build, folder, kube_args=["--tls", tls, "--token-file", server_token])
    world.tls, world.server_token = tls, server_token
    return world


def test_token_rotation(build, tmp_path):
    with secure_world(build, str(tmp_path)) as world:
        world.use_token_file("first-token-of-the-test", os.path.join(world.tls, "ca.crt"))
        views.nodes(world, 1)
        world.start_ccmd()
        world.kube.create(objects.service("web", PORTS))
        ready(world)
        with open(world.server_token, "w", encoding="utf-8") as file:
            file.write("second-token-of-the-test")
        world.write_token("second-token-of-the-test")
        world.kube.http.token = "second-token-of-the-test"
        forget_everything(world)
        views.nodes(world, 1)
        world.kube.create(objects.service("other", PORTS))
        world.wait(lambda: world.kube.ingress("other"), "the work to go on")
        world.stop_ccmd()
        assert not re.search("first-token|second-token", world.log())


def test_certificate_of_a_stranger(build, tmp_path):
    with secure_world(build, str(tmp_path)) as world:
        stranger = str(tmp_path / "stranger.crt")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-subj", "/CN=stranger", "-days", "1", "-out", stranger, "-keyout", stranger + ".key"],
                       check=True, capture_output=True)
        world.use_token_file("first-token-of-the-test", stranger)
        world.start_ccmd()
        world.wait(lambda: "the certificate of this host is not trusted" in world.log(), "the complaint")
        assert world.kube.actions() == []
        world.stop_ccmd()


def test_kubeconfig_that_others_can_read(world):
    os.chmod(world.kubeconfig, 0o644)
    with open(world.kubeconfig, "w", encoding="utf-8") as file:
        file.write(f"""current-context: c
clusters: [{{ name: k, cluster: {{ server: "{world.kube.base}" }} }}]
users: [{{ name: u, user: {{ token: a-token-for-nobody }} }}]
contexts: [{{ name: c, context: {{ cluster: k, user: u }} }}]
""")
    world.start_ccmd()
    world.wait(lambda: re.search(r"kubeconfig.*chmod 600", world.log()), "the warning")
    world.stop_ccmd()
    assert "a-token-for-nobody" not in world.log()


@pytest.mark.parametrize("core_dumps", ["false", "true"])
def test_memory_is_closed_to_others(world, core_dumps):
    """A process that may not dump core does not show its environment, either, not even to its own user."""
    caps = "-sys_ptrace,-sys_admin,-perfmon"
    drop = ["setpriv", f"--bounding-set={caps}", f"--inh-caps={caps}"] if os.geteuid() == 0 else []
    config = world.write_config(extra="process: { core_dumps = %s; };" % core_dumps)
    process = world.ccmd = proc.Process([*drop, world.binary("ccmd"), "run", "--config", config],
                                        os.path.join(world.folder, "ccmd-0"),
                                        env={"ACCESS_KEY_ID": "testAccessKeyId",
                                             "ACCESS_KEY_SECRET": "testAccessKeySecret"})
    world.wait(lambda: "plugin clb: started" in world.log(), "the start")
    code, out, _ = proc.run([*drop, "cat", f"/proc/{process.popen.pid}/environ"])
    assert (code == 0 and "ACCESS_KEY_SECRET" in out) == (core_dumps == "true")


# --- hostile Services ------------------------------------------------------------------------------------------------

HOSTILE = {
    "huge-annotation": lambda s: s["metadata"]["annotations"].update({"example.com/huge": "x" * 250000}),
    "huge-own-annotation": lambda s: s["metadata"]["annotations"].update(
        {"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type": "x" * 250000}),
    "control-characters": lambda s: s["metadata"]["annotations"].update(
        {"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type": "inter\nnet\t\x1b[31m\x7f\u202e"}),
    "unicode": lambda s: s["metadata"]["annotations"].update(
        {"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-name": "\u540d\u524d\U0001f600 '\"\\<&>"}),
    "many-ports": lambda s: s["spec"].update(
        ports=[{"name": f"p{n}", "port": n, "protocol": "TCP", "targetPort": n} for n in range(1, 1001)]),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_service(world, what):
    views.nodes(world, 1)
    world.config = world.write_config(alicloud=QUICK)
    world.start_ccmd()
    bad = objects.service("x" * 63, PORTS)
    HOSTILE[what](bad)
    try:
        world.kube.create(bad)
    except urllib.error.HTTPError as error:
        assert error.code == 422  # then no API server would let it in
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: world.kube.ingress("web"), "the good one")
    world.settled()
    log = world.log()
    assert "\x1b" not in log and "\x7f" not in log
    assert all(re.match(r"\d{4}-\d\d-\d\dT", line) for line in log.splitlines()), "a forged line"
    assert len(log) < 1000000
    if world.kube.get("Service", "x" * 63) is not None:
        assert all(len(e[2]) <= 1024 for e in world.kube.events("x" * 63))
        world.kube.delete("Service", "x" * 63)
    world.kube.delete("Service", "web")
    world.wait(lambda: not world.kube.items("Service"), "deletion")
    assert world.cloud.load_balancers() == []


# --- the process -----------------------------------------------------------------------------------------------------


def test_frozen_for_a_while(world):
    views.nodes(world, 1)
    process = world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    ready(world)
    with process.paused():
        for resource in ("services", "nodes", "endpointslices"):
            world.kube.watches("drop", resource)
        views.nodes(world, 2, first=2)
        world.kube.create(objects.service("other", PORTS))
    world.wait(lambda: world.kube.ingress("other"), "the other Service")
    world.wait(lambda: all(len(s) == 3 for lb in world.cloud.load_balancers() for s in views.backends(lb)), "all nodes")


def test_rest_costs_nothing(world):
    views.nodes(world, 1)
    process = world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    ready(world)
    world.settled()

    def spent():
        with open(f"/proc/{process.popen.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    before, calls = spent(), (world.cloud.mark(), world.kube.mark())
    world.settled()
    assert (world.cloud.mark(), world.kube.mark()) == calls
    assert spent() - before <= 3  # hundredths of a second


def abi_plugin(world, name, extra=""):
    path = os.path.abspath(os.path.join(world.build, "tests", "abi", f"{name}.so"))
    return '{ name = "%s"; file = "%s"; %s }' % (name, path, extra)


def config_without_clb(world, *plugins, extra=""):
    """Nobody knows the group alicloud then."""
    path = world.write_config(plugins=", ".join(plugins), extra=extra)
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^alicloud: \{.*?^\};\n", "", file.read(), flags=re.M | re.S)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


@pytest.mark.parametrize("name, message", [
    ("hanging-start", "hanging-start: start() hangs"),
    ("hanging-map", "services: map() of a plugin hangs"),
    ("hanging-reconcile", "reconcile hangs since"),
])
def test_hanging_plugin_does_not_hang_the_end(world, name, message):
    views.nodes(world, 1)
    config = world.write_config(plugins='{ name = "clb"; }, ' + abi_plugin(world, name),
                                extra="controller: { stop_s = 1; };")
    process = world.start_ccmd(config, env=proc.LEAVES_THREADS)
    world.kube.create(objects.service("web", PORTS))
    if name != "hanging-map":  # whose thread is the one that feeds the others
        ready(world)
    world.logged("hangs from now on")
    process.popen.send_signal(signal.SIGTERM)
    assert process.wait_exit(10) == 1
    process.check_complaints()
    world.ccmd = None
    assert [line for line in lines(world, "error") if message in line], world.log()


def test_signal_while_a_plugin_hangs_in_create(world):
    config = config_without_clb(world, abi_plugin(world, "hanging-create"))
    process = world.start_ccmd(config)
    world.wait(lambda: "API server" in world.log(), "the start")
    process.popen.send_signal(signal.SIGTERM)
    assert process.wait_exit(10) == 0
    world.ccmd = None


def test_second_signal_ends_at_once(world):
    config = config_without_clb(world, abi_plugin(world, "hanging-start"), extra="controller: { stop_s = 600; };")
    process = world.start_ccmd(config)
    world.wait(lambda: "hangs from now on" in world.log(), "start()")
    process.popen.send_signal(signal.SIGTERM)
    world.wait(lambda: "stopping on SIGTERM" in world.log(), "the first signal")

    def gone():
        if process.alive():
            process.popen.send_signal(signal.SIGTERM)
        return not process.alive()

    world.ccmd = None
    world.wait(gone, "the end")
    assert process.popen.returncode == -signal.SIGTERM


@pytest.mark.parametrize("name, message", [
    ("terminal-start", "no credentials"),
    ("failing-create", "the moon is full"),
])
def test_the_only_plugin_fails(world, name, message):
    process = world.start_ccmd(config_without_clb(world, abi_plugin(world, name)))
    world.ccmd = None
    assert process.wait_exit(10) == 1
    process.check_complaints()
    told = [line for line in lines(world, "error") if message in line]
    assert len(told) == 1 and f"{name}.so" in told[0]
    assert "no plugin is left" in lines(world, "error")[-1]
    assert len(lines(world, "error")) == 2


def test_a_critical_plugin_that_cannot_start(world):
    plugins = '{ name = "clb"; }, ' + abi_plugin(world, "terminal-start", "critical = true;")
    process = world.start_ccmd(world.write_config(plugins=plugins))
    world.ccmd = None
    assert process.wait_exit(10) == 1
    process.check_complaints()
    assert "terminal-start is critical and failed" in process.err()
    assert "stopping on SIGTERM" not in process.err()


def test_started_without_standard_files(world):
    """The log must not end up in a connection that happens to get the number of standard error."""
    views.nodes(world, 1)
    environment = {**os.environ, "ACCESS_KEY_ID": "testAccessKeyId", "ACCESS_KEY_SECRET": "testAccessKeySecret"}
    with subprocess.Popen(["/bin/sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', world.binary("ccmd"), "run", "--config",
                           world.config], env=environment) as process:
        try:
            world.kube.create(objects.service("web", PORTS))
            ready(world)
            assert os.readlink(f"/proc/{process.pid}/fd/2") == "/dev/null"
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)
    assert process.returncode == 0
