"""The configuration file changes while ccmd runs: what counts at once, what needs a restart, what is refused."""

import contextlib
import os
import re
import signal
import threading
import time

import pytest

from tests.support import objects, proc, views
from tests.support import scenario_route as route
from tests.support.world import ACCESS_KEY, ACCESS_SECRET, World

pytestmark = pytest.mark.time_scale(10)
PORTS = ((80, "TCP"),)
PREFIX = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
QUICK = "quotas: { slb_write = 100000; slb_read = 100000; };"


def replace(path, text):
    """As an editor or a package does it: a new file under the old name."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path + ".new", path)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def start(world, **config):
    world.config = world.write_config(**config)
    process = world.start_ccmd()
    world.wait(lambda: "plugin clb: started" in process.err(), "the start")
    return process


def reloads(world):
    values = world.metrics()
    return {result: values[f'ccmd_config_reloads_total{{result="{result}"}}'] for result in ("success", "failure")}


@contextlib.contextmanager
def halted(process):
    """The process stands still, with all its threads."""
    pid = process.popen.pid
    with process.paused():
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        yield


def reload(world, result="success", **config):
    """Write another configuration and send SIGHUP; returns what ccmd wrote about it.

    ccmd looks at its file by itself, too. It stands still from before the file is another one until the signal is sent, so that
    it reads each file once, for the signal, and never half of one, however slow this process is."""
    before, said = reloads(world), len(world.ccmd.err())
    with halted(world.ccmd):
        world.write_config(**config)
        world.ccmd.popen.send_signal(signal.SIGHUP)
    world.wait(lambda: reloads(world)[result] > before[result], "the file to be read")
    return world.ccmd.err()[said:]


def test_log_level(world):
    start(world, log_level="info")
    assert " debug " not in world.log()
    said = reload(world, log_level="debug")
    assert re.search(r"info\s+config: \S+ccmd.conf: taken over: log.level\n", said)
    views.nodes(world, 1)
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: re.search(r" debug clb .*slb CreateLoadBalancer: ok", world.log()), "lines of level debug")
    assert "taken over: log.level" in reload(world, log_level="error")
    world.settled()
    quiet = len(world.log())
    world.kube.delete("Service", "web")
    world.wait(lambda: not world.cloud.load_balancers(), "the deletion")
    world.stop_ccmd()
    assert world.log()[quiet:] == ""


def test_quotas(world):
    """With 2 calls a minute the second Service has to wait for a minute; the new quota counts while it waits."""
    start(world, alicloud="quotas: { slb_write = 2; };", log_level="info")
    views.nodes(world, 1)
    names = ["web-1", "web-2"]
    world.kube.create(*[objects.service(name, PORTS) for name in names])
    world.wait(lambda: world.cloud.load_balancers(), "the first load balancer")
    said = reload(world, alicloud=QUICK, log_level="info")
    assert set(re.search("taken over: (.*)", said).group(1).split(", ")) == {"alicloud.quotas.slb_write", "alicloud.quotas.slb_read"}
    world.wait(lambda: all(world.kube.ingress(name) for name in names), "all of them", timeout=20)
    assert len(world.cloud.load_balancers()) == len(names)


def test_options_of_a_plugin(world):
    """One that the plugin asks for each time counts at once, the others are named."""
    start(world)
    views.nodes(world, 1)
    said = reload(world, plugins='{ name = "clb"; workers = 7; disable_public_slb = true; source_ranges = true; }')
    assert "taken over: clb.disable_public_slb\n" in said
    restart = re.search(r"warn\s+config: \S+: changed, but needs a restart: (.*)", said).group(1)
    assert sorted(restart.split(", ")) == ["clb.source_ranges", "clb.workers"]
    assert world.metrics()["ccmd_config_restart_needed"] == 2
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: "public address slb is not allowed" in str(world.kube.events("web")), "the refusal")
    assert world.cloud.load_balancers() == []
    assert "taken over: clb.disable_public_slb\n" in reload(world)
    assert world.metrics()["ccmd_config_restart_needed"] == 0
    world.kube.patch("Service", "web", {"metadata": {"annotations": {"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-name": "again"}}})
    world.wait(lambda: world.kube.ingress("web"), "the address")


def test_a_deadline(world):
    """controller.timeout_s of 120 would keep the call for two minutes; with 5 it is cancelled."""
    start(world, log_level="info")
    views.nodes(world, 1)
    reload(world, log_level="info", extra="controller: { timeout_s = 5; };")
    world.cloud.fault(action="CreateLoadBalancer", delay_ms=600000)
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: "CreateLoadBalancer" in world.cloud.actions(), "the call")
    world.wait(lambda: world.kube.ingress("web"), "the next try", timeout=40)


# --- what failed before -------------------------------------------------------------------------------------------------


def test_what_an_option_refused(world):
    """A refusal waits for ten minutes at least; that the option is another now ends that wait, and no other."""
    options = '{{ name = "clb"; disable_public_slb = {}; }}'
    start(world, plugins=options.format("true"), log_level="info")
    views.nodes(world, 1)
    world.kube.create(objects.service("web", PORTS))
    world.kube.create(objects.service("bad", PORTS, annotations={"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type": "internet-or-so"}))
    world.wait(lambda: world.metrics().get('ccmd_failing_objects{plugin="clb"}') == 2, "both to fail")
    world.settled()
    tries = lambda: world.metrics()['controller_runtime_reconcile_errors_total{controller="clb"}']
    before = tries()
    said = reload(world, plugins=options.format("true"), log_level="debug")
    assert "taken over: log.level" in said and "tried again" not in said
    world.settled()
    assert tries() == before and world.cloud.load_balancers() == []
    said = reload(world, plugins=options.format("false"), log_level="debug")
    world.wait(lambda: "info  ccmd: plugin clb: its options have changed: 2 failing objects are tried again now" in world.log(), "the line")
    world.wait(lambda: world.kube.ingress("web"), "the address")
    world.wait(lambda: world.metrics()['ccmd_failing_objects{plugin="clb"}'] == 1, "the other one to fail again")


def write_key(path, secret):
    with open(path + ".new", "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(f'{{"access_key_id": "{ACCESS_KEY}", "access_key_secret": "{secret}"}}')
    os.rename(path + ".new", path)


@pytest.mark.parametrize("by_signal", [True, False])
def test_wrong_credentials_that_are_mended(build, tmp_path, by_signal):
    """Failures of this kind wait longer and longer, up to ten minutes; the file with the right key is tried at once."""
    key = str(tmp_path / "key.json")
    write_key(key, "wrong" + ACCESS_SECRET[5:])
    with World(build, tmp_path / "world", cloud_args=["--access-key", f"{ACCESS_KEY}:{ACCESS_SECRET}"]) as world:
        start(world, alicloud=f'region = "cn-hangzhou"; vpc_id = "vpc-test"; credentials: {{ source = "file"; file = "{key}"; }};',
              log_level="info")
        views.nodes(world, 1)
        world.kube.create(*[objects.service(f"web-{n}", PORTS) for n in range(3)])
        world.wait(lambda: world.metrics().get('ccmd_failing_objects{plugin="clb"}') == 3, "the refusals")
        world.settled()  # what their own finalizers set off, too
        failed = world.metrics()['ccmd_reconcile_failures_total{plugin="clb",kind="auth"}']
        assert failed >= 3 and world.cloud.load_balancers() == []
        write_key(key, ACCESS_SECRET)
        if by_signal:
            world.ccmd.popen.send_signal(signal.SIGHUP)
        world.wait(lambda: f"plugin clb: {key} has changed: 3 failing objects are tried again now" in world.log(), "the line", timeout=5)
        world.wait(lambda: all(world.kube.ingress(f"web-{n}") for n in range(3)), "the addresses", timeout=10)
        assert world.metrics()['ccmd_reconcile_failures_total{plugin="clb",kind="auth"}'] == failed


# --- live options of plugins --------------------------------------------------------------------------------------------


def test_interval_of_audits(world):
    """None, then every second, then none again."""
    options = '{{ name = "clb"; audit_interval_s = {}; }}'
    start(world, plugins=options.format(0), log_level="info")
    views.nodes(world, 2)
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: world.kube.ingress("web"), "the address")
    looks = lambda: sum(value for name, value in world.metrics().items() if name.startswith("ccmd_audits_total"))
    touch = lambda text: world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "name": text}}})
    name = lambda: views.only_lb(world)["LoadBalancerName"]
    touch("one")
    world.wait(lambda: name() == "one", "the name")
    world.settled()
    assert looks() == 0
    said = reload(world, plugins=options.format(1), log_level="info")
    assert "taken over: clb.audit_interval_s\n" in said and "restart" not in said
    touch("two")  # a value counts for a Service from its next look or change on
    world.wait(lambda: name() == "two" and looks() >= 2, "looks")
    reload(world, plugins=options.format(0), log_level="info")
    before = looks()
    world.settled()
    assert looks() <= before + 1


CONDITION = "ccm.alibabacloud.com/LoadBalancerReady"


def conditions(world, name="web"):
    return {c["type"]: c["status"] for c in world.kube.get("Service", name)["status"].get("conditions", [])}


@pytest.mark.parametrize("plugin, class_name", [("clb", None), ("nlb", "alibabacloud.com/nlb")])
def test_conditions_of_services(world, plugin, class_name):
    options = '{{ name = "%s"; service_conditions = {}; }}' % plugin
    world.config = world.write_config(plugins=options.format("false"), log_level="info")
    process = world.start_ccmd()
    world.wait(lambda: f"plugin {plugin}: started" in process.err(), "the start")
    views.nodes(world, 1)
    service = objects.service("web", PORTS)
    if class_name:
        service["metadata"]["annotations"][PREFIX + "zone-maps"] = "cn-hangzhou-h:vsw-a,cn-hangzhou-i:vsw-b"
        service["spec"]["loadBalancerClass"] = class_name
    world.kube.create(service)
    world.wait(lambda: world.kube.ingress("web"), "the address")
    world.settled()
    assert CONDITION not in conditions(world)
    said = reload(world, plugins=options.format("true"), log_level="info")
    assert f"taken over: {plugin}.service_conditions\n" in said and "restart" not in said
    world.kube.create(objects.node("node-2", "i-node-2"))
    world.wait(lambda: conditions(world).get(CONDITION) == "True", "the condition")


def table(world):
    return route.custom_routes(world.cloud.state())[route.SYSTEM_TABLE]


ROUTE = f'{{{{ name = "route"; cluster_cidr = "{route.CLUSTER_CIDR}"; period_s = {{}}; orphan_cleanup = {{}}; missing_wait_s = 0; }}}}'


def begin_routes(world, period_s):
    world.config = world.write_config(plugins=ROUTE.format(period_s, "false"), log_level="info")
    process = world.start_ccmd()
    world.wait(lambda: "plugin route: started" in process.err(), "the start")
    world.kube.create(route.node("node-1", "10.96.1.0/24"), route.node("node-2", "10.96.2.0/24"))
    world.wait(lambda: len(table(world)) == 2, "the routes")


def make_route(world, destination, instance):
    world.cloud.edit("create", type="route", route_table=route.SYSTEM_TABLE, destination=destination, next_hop_type="Instance",
                     next_hop=instance)


def delete_route(world, destination):
    found = [r["RouteEntryId"] for r in world.cloud.state()["routes"] if r["DestinationCidrBlock"] == destination]
    world.cloud.edit("delete", type="route", id=found[0])


def test_period_of_routes(world):
    """What somebody deletes in the cloud is found by the next round: in an hour, or in a second as soon as that is the
    period, whatever the one before had to wait for."""
    begin_routes(world, 3600)
    world.settled()
    delete_route(world, "10.96.1.0/24")
    world.settled()
    assert len(table(world)) == 1
    said = reload(world, plugins=ROUTE.format(1, "false"), log_level="info")
    assert "taken over: route.period_s\n" in said and "restart" not in said
    world.wait(lambda: len(table(world)) == 2, "the route")
    delete_route(world, "10.96.2.0/24")
    world.wait(lambda: len(table(world)) == 2, "the route, in a round after that")


def test_cleanup_of_orphans(world):
    orphan = "10.96.7.0/24"

    def stays():
        make_route(world, orphan, "i-gone")
        since = world.cloud.mark()
        world.wait(lambda: world.cloud.actions(since).count("DescribeRouteEntryList") >= 4, "some rounds")
        assert orphan in table(world)

    begin_routes(world, 1)
    stays()
    said = reload(world, plugins=ROUTE.format(1, "true"), log_level="info")
    assert "taken over: route.orphan_cleanup\n" in said and "restart" not in said
    world.wait(lambda: orphan not in table(world), "the cleanup")
    reload(world, plugins=ROUTE.format(1, "false"), log_level="info")
    stays()


# --- files that are wrong, or replaced ----------------------------------------------------------------------------------


@pytest.mark.parametrize("bad, problem", [
    ("colour = ;", "colour: a value is missing"),
    ("colour = 1;", "unknown option 'colour'"),
    ("controller: { timeout_s = 1; };", "option 'controller.timeout_s': 1 is not between 5 and 3600"),
])
def test_a_bad_file(world, bad, problem):
    """The old one stays, whatever else is in the file."""
    start(world, log_level="info")
    before = read(world.config)
    good = before.replace('level = "info"', 'level = "debug"')
    replace(world.config, good + bad + "\n")
    world.wait(lambda: reloads(world)["failure"] == 1, "the file to be read, without a signal")
    line = (good + bad).count("\n") + 1
    said = re.findall(r"error config: (.*)", world.log())
    assert said[0].startswith(f"{world.config}:{line}: ") and problem in said[0], said
    assert "not taken over: the configuration from before stays" in said[-1]
    assert world.metrics()["ccmd_config_last_reload_successful"] == 0
    assert world.admin("/readyz")[0] == 200
    views.nodes(world, 1)
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: world.kube.ingress("web"), "the work to go on")
    assert " debug " not in world.log()
    replace(world.config, good)
    world.wait(lambda: world.metrics()["ccmd_config_last_reload_successful"] == 1, "the good file")
    world.logged("taken over: log.level")


def test_retired_options(world, build):
    """One Warning at the start, one for each file that is read, one of check-config; plugins work whatever values they have."""
    def told(text, *names):
        (line,) = [line for line in text.splitlines() if "retired options are ignored, and the next version refuses them: " in line]
        assert re.findall(r"([\w.]+) \(\S+:\d+\): ", line) == list(names), line

    start(world, extra='process: { crash_file = 7; };')
    told(world.ccmd.err(), "process.crash_file")
    told(reload(world, extra='process: { crash_file = 7; crash_limit = "many"; }; controller: { timeout_s = 60; };'), "process.crash_file", "process.crash_limit")
    result, out, err = proc.run([os.path.join(build, "bin", "ccmd"), "check-config", "--config", world.config])
    assert result == 0 and ": ok" in out, err
    told(err, "process.crash_file", "process.crash_limit")
    assert "retired options" not in reload(world)


def test_what_needs_a_restart(world):
    start(world, log_level="info")
    text = read(world.config)
    text = text.replace('name = "clb"', 'name = "nlb"')
    text = text.replace("enabled = false;", 'enabled = false; name = "other";').replace("127.0.0.1:0", "127.0.0.1:1")
    replace(world.config, text)
    world.ccmd.popen.send_signal(signal.SIGHUP)
    world.wait(lambda: "needs a restart" in world.log(), "the line")
    named = re.search(r"needs a restart: (.*)", world.log()).group(1).split(", ")
    assert set(named) == {"plugins (clb removed)", "plugins (nlb added)", "leader_election.name", "admin.listen"}
    views.nodes(world, 1)
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: world.kube.ingress("web"), "plugin clb to work as before")


def test_shared_options_that_need_a_restart(world):
    start(world, log_level="info")
    text = read(world.config)
    text = text.replace('cluster_id = "', 'cluster_id = "another-').replace("plugin_dir =", 'process: { core_dumps = true; };\nplugin_dir =')
    text = re.sub(r'slb = "[^"]*"', 'slb = "http://127.0.0.1:9"', text)
    replace(world.config, text)
    world.wait(lambda: "needs a restart" in world.log(), "the line")
    named = re.search(r"needs a restart: (.*)", world.log()).group(1).split(", ")
    assert set(named) == {"alicloud.cluster_id", "alicloud.endpoints.slb", "process.core_dumps"}
    views.nodes(world, 1)
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: world.kube.ingress("web"), "the old endpoint to be used")


def test_mounted_as_a_config_map(world):
    """Kubernetes swaps a link to a folder; nobody sends a signal."""
    mount = os.path.join(world.folder, "mount")

    def version(name, level):
        os.makedirs(os.path.join(mount, name))
        world.write_config(log_level=level, name=os.path.join("mount", name, "ccmd.conf"))
        os.symlink(name, os.path.join(mount, "..data_tmp"))
        os.rename(os.path.join(mount, "..data_tmp"), os.path.join(mount, "..data"))

    version("..2026_01", "info")
    os.symlink(os.path.join("..data", "ccmd.conf"), os.path.join(mount, "ccmd.conf"))
    process = world.start_ccmd(os.path.join(mount, "ccmd.conf"))
    world.wait(lambda: "plugin clb: started" in process.err(), "the start")
    version("..2026_02", "debug")
    world.wait(lambda: "mount/ccmd.conf: taken over: log.level" in world.log(), "the new version")
    os.unlink(os.path.join(mount, "ccmd.conf"))
    world.wait(lambda: re.search(r"mount/ccmd.conf: cannot be read: No such file", world.log()), "the complaint")
    assert reloads(world) == {"success": 1, "failure": 1}


def test_a_folder_as_a_config_map(world):
    """Each file of it counts, also a new one; what is wrong has the name of its file, and changes nothing."""
    mount = os.path.join(world.folder, "mount")

    def version(number, **files):
        os.makedirs(os.path.join(mount, f"..{number}"))
        world.write_config(log_level="info", name=os.path.join("mount", f"..{number}", "ccmd.conf"))
        for name, text in files.items():
            replace(os.path.join(mount, f"..{number}", f"{name}.conf"), text)
        os.symlink(f"..{number}", os.path.join(mount, "..data_tmp"))
        os.rename(os.path.join(mount, "..data_tmp"), os.path.join(mount, "..data"))
        for name in ("ccmd", *files):  # as kubelet does: links in the mount, when they are missing
            if not os.path.islink(os.path.join(mount, f"{name}.conf")):
                os.symlink(os.path.join("..data", f"{name}.conf"), os.path.join(mount, f"{name}.conf"))

    version(1, plugin='plugins = ( { name = "clb"; disable_public_slb = true; } );\n')
    process = world.start_ccmd(mount)
    world.wait(lambda: "plugin clb: started" in process.err(), "the start")
    version(2, plugin='plugins = ( { name = "clb"; disable_public_slb = false; } );\n')
    world.wait(lambda: f"{mount}: taken over: clb.disable_public_slb\n" in world.log(), "the changed file")
    version(3, plugin="", site='# mine\nlog: { level = "loud"; };\n')
    world.wait(lambda: reloads(world)["failure"] == 1, "the bad file")
    world.logged(f"{mount}/site.conf:2: option 'log.level': 'loud' is none of error|warn|info|debug")
    version(4, plugin="", site='# mine\nlog: { level = "debug"; };\n')
    world.wait(lambda: f"{mount}: taken over: log.level\n" in world.log(), "the new file")


@pytest.mark.time_scale(1)  # the person who types does not type faster
def test_a_file_that_is_written_slowly(world):
    """What stands in it in between is valid, and the default of what is still missing would count."""
    start(world, log_level="debug", extra="controller: { stop_s = 7; };")
    text = read(world.config)
    half = text[:text.index("log:")] + text[text.index("alicloud:"):text.index("controller:")]
    stop = time.monotonic() + 3
    with open(world.config, "w", encoding="utf-8") as file:
        file.write(half)
        while time.monotonic() < stop:  # somebody who types
            file.write("# more\n")
            file.flush()
            threading.Event().wait(0.05)
        file.write(text[text.index("log:"):text.index("alicloud:")] + "controller: { stop_s = 8; };\n")
    world.wait(lambda: "taken over: " in world.log(), "the whole file")
    assert re.findall(r"taken over: (.*)", world.log()) == ["controller.stop_s"]


def test_signal_while_it_starts(world):
    """SIGHUP ends no ccmd, whenever it comes."""
    world.kube.fault(action="WATCH *", count=3, delay_ms=500)
    process = world.start_ccmd()
    world.wait(lambda: "plugin ABI" in process.err(), "main()")
    for _ in range(20):
        process.popen.send_signal(signal.SIGHUP)
        threading.Event().wait(0.01)
    world.wait(lambda: "plugin clb: started" in process.err(), "the start")


def test_50_under_load(world):
    """No event is lost, nothing is written twice; under ASan and TSan: nothing leaks, nothing races."""
    start(world, plugins='{ name = "clb"; workers = 8; }', alicloud=QUICK, log_level="info")
    views.nodes(world, 2)
    names = {f"web-{n}" for n in range(50)}
    creator = threading.Thread(target=lambda: world.kube.create(*[objects.service(name, PORTS) for name in sorted(names)]))
    creator.start()
    for n in range(50):
        reload(world, plugins=f'{{ name = "clb"; workers = 8; audit_interval_s = {3600 + n}; }}', log_level=("info", "debug")[n % 2],
               alicloud=f"quotas: {{ slb_write = {90000 + n}; slb_read = {90000 + n}; }};",
               extra=f"controller: {{ timeout_s = {60 + n}; }};")
    creator.join()
    world.wait(lambda: all(world.kube.ingress(name) for name in names), "every address", timeout=40)
    assert len(world.cloud.load_balancers()) == len(names)
    assert sum(1 for action in world.cloud.actions() if action == "CreateLoadBalancer") == len(names)
    assert reloads(world) == {"success": 50, "failure": 0}
    for name in names:
        world.kube.delete("Service", name)
    world.wait(lambda: not world.cloud.load_balancers(), "the end", timeout=40)
    world.stop_ccmd()
    assert not [line for line in world.log().splitlines() if " error " in line and "web" in line]


def test_a_storm_of_signals(world):
    """SIGHUP as fast as they can be sent, with a file that changes, for good and for bad, while Services come and go: nothing is
    lost, and in the end the last file counts."""
    start(world, alicloud=QUICK, log_level="info")
    views.nodes(world, 2)
    good, over = read(world.config), threading.Event()

    def storm():
        for n in range(10 ** 9):
            if over.is_set():
                return
            if n % 50 == 0:
                replace(world.config, good.replace('level = "info"', f'level = "{("info", "debug")[n // 50 % 2]}"')
                        + ("colour = ;\n" if n // 50 % 3 == 2 else ""))
            world.ccmd.popen.send_signal(signal.SIGHUP)
            over.wait(0.001)

    sender = threading.Thread(target=storm)
    sender.start()
    try:
        names = [f"web-{n}" for n in range(20)]
        for name in names:
            world.kube.create(objects.service(name, PORTS))
        world.wait(lambda: all(world.kube.ingress(name) for name in names), "every address", timeout=40)
        for name in names[10:]:
            world.kube.delete("Service", name)
        world.wait(lambda: len(world.cloud.load_balancers()) == 10, "deletion", timeout=40)
        world.wait(lambda: reloads(world)["failure"] > 0 and reloads(world)["success"] > 5, "files of both sorts")
    finally:
        over.set()
        sender.join()
    assert world.cloud.actions().count("CreateLoadBalancer") == len(names)
    # A line that no file of the storm was told with: those are told ten times a minute at most. Lines of workers may follow it.
    replace(world.config, good.replace('level = "info"', 'level = "error"').replace("slb_read = 100000", "slb_read = 99999"))
    world.ccmd.popen.send_signal(signal.SIGHUP)
    world.logged("alicloud.quotas.slb_read")
    world.wait(lambda: world.metrics()["ccmd_config_last_reload_successful"] == 1, "the last word")
