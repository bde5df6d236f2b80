"""The configuration file changes while ccmd runs: what counts at once, what needs a restart, what is refused."""

import os
import re
import signal
import threading
import time

import pytest

from tests.support import objects, views

PORTS = ((80, "TCP"),)
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


def reload(world, result="success", **config):
    """Write another configuration and send SIGHUP; returns what ccmd wrote about it."""
    before, said = reloads(world), len(world.ccmd.err())
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
    reload(world, log_level="info", extra="controller: { timeout_s = 5; slow_s = 1; };")
    world.cloud.fault(action="CreateLoadBalancer", delay_ms=600000)
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: "reconcile runs since" in world.log(), "the watchdog")
    world.wait(lambda: world.kube.ingress("web"), "the next try", timeout=40)


@pytest.mark.parametrize("bad, problem", [
    ("colour = ;", "syntax error"),
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
    assert "taken over: log.level" in world.log()


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


def test_a_file_that_is_written_slowly(world):
    """What stands in it in between is valid, and the default of what is still missing would count."""
    start(world, log_level="debug", extra="controller: { slow_s = 7; };")
    text = read(world.config)
    half = text[:text.index("log:")] + text[text.index("alicloud:"):text.index("controller:")]
    stop = time.monotonic() + 3
    with open(world.config, "w", encoding="utf-8") as file:
        file.write(half)
        while time.monotonic() < stop:  # somebody who types
            file.write("# more\n")
            file.flush()
            threading.Event().wait(0.05)
        file.write(text[text.index("log:"):text.index("alicloud:")] + "controller: { slow_s = 8; };\n")
    world.wait(lambda: "taken over: " in world.log(), "the whole file")
    assert re.findall(r"taken over: (.*)", world.log()) == ["controller.slow_s"]


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
