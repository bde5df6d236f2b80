"""Plugins that are refused: each with a message that names file and reason, while the others run."""

import glob
import os
import re
import shutil
import stat
import subprocess

import pytest

from tests.support import objects, proc, views
from tests.support.world import World

PORTS = ((80, "TCP"),)


@pytest.fixture
def plugin_dir(build, tmp_path):
    """A private copy of the plugins, so that a test may spoil it. The shared library is found from there."""
    folder = tmp_path / "tree" / "plugins"
    shutil.copytree(os.path.join(build, "plugins"), folder)
    shutil.copy(os.path.join(build, "libccm-alicloud.so.1"), tmp_path / "tree")
    os.chmod(tmp_path, 0o755)
    return folder


def test_one_exported_symbol(build):
    plugins = glob.glob(os.path.join(build, "plugins", "*.so"))
    assert plugins
    for plugin in plugins:
        out = subprocess.run(["nm", "-D", "--defined-only", plugin], capture_output=True, text=True, check=True).stdout
        names = [line.split()[-1] for line in out.splitlines()]
        assert names == ["ccm_plugin"], f"{plugin}: {names}"


def wrong_major(build, folder):
    return shutil.copy(os.path.join(build, "tests", "abi", "wrong-major.so"), folder / "bad.so"), "ABI 2"


def no_symbol(build, folder):
    return shutil.copy(os.path.join(build, "tests", "abi", "no-symbol.so"), folder / "bad.so"), "ccm_plugin"


def failing_create(build, folder):
    return shutil.copy(os.path.join(build, "tests", "abi", "failing-create.so"), folder / "bad.so"), "create"


def world_writable(build, folder):
    path = shutil.copy(os.path.join(build, "plugins", "template.so"), folder / "bad.so")
    os.chmod(path, os.stat(path).st_mode | stat.S_IWOTH)
    return path, "writ"


def no_shared_object(build, folder):
    path = folder / "bad.so"
    path.write_text("#!/bin/sh\n")
    return path, "not a shared object"


def missing(build, folder):
    return folder / "bad.so", "no such file"


@pytest.mark.parametrize("make", [wrong_major, no_symbol, failing_create, world_writable, no_shared_object, missing])
def test_refused_while_the_others_run(world, build, plugin_dir, make):
    path, reason = make(build, plugin_dir)
    name = "failing-create" if make is failing_create else "bad"
    plugins = '{ name = "clb"; }, { name = "%s"; file = "%s"; }' % (name, path)
    config = world.write_config(plugins=plugins, plugin_dir=plugin_dir)
    views.nodes(world, 1)
    world.start_ccmd(config)
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: views.complete(views.only_lb(world), PORTS), "the load balancer")
    complaints = [line for line in world.log().splitlines() if " error " in line and str(path) in line]
    assert complaints and reason in complaints[0], world.log()

    code, out, err = proc.run([world.binary("ccmd"), "check-config", "--config", config])
    assert (code == 0) == (make is failing_create)  # create() is not called by check-config
    if code != 0:
        assert str(path) in out + err and reason in out + err


def test_a_critical_plugin_ends_the_start(world, plugin_dir):
    config = world.write_config(plugins='{ name = "clb"; }, { name = "bad"; critical = true; }', plugin_dir=plugin_dir)
    process = world.start_ccmd(config)
    assert process.wait_exit() == 1
    assert "bad.so" in process.err() and "critical" in process.err()
    world.ccmd = None


@pytest.mark.parametrize("server", [[], ["--no-streaming-list"]])
def test_raw_watches_of_any_api_group(build, tmp_path, server):
    """Two resources that ccmd knows nothing of, as text, from the first list on."""
    with World(build, tmp_path, kube_args=server) as world:
        path = "/api/v1/namespaces/default/configmaps"
        world.kube.http.request("POST", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "first"},
                                               "data": {"colour": "blue"}})
        plugin = os.path.abspath(os.path.join(build, "tests", "abi", "raw-watch.so"))
        config = tmp_path / "raw.conf"
        config.write_text(f'kubernetes: {{ kubeconfig = "{world.kubeconfig}"; }};\nadmin: {{ listen = "127.0.0.1:0"; }};\n'
                          f'plugins = ( {{ name = "raw-watch"; file = "{plugin}"; }} );\n')
        world.start_ccmd(str(config))
        seen = world.wait(lambda: [x for x in world.log().splitlines() if "c:default/first" in x], "the first")[0]
        assert "v1 ConfigMap, 1 in all: " in seen and '"colour":"blue"' in seen.replace('": "', '":"')
        world.wait(lambda: "l:kube-system/ccm: coordination.k8s.io/v1 Lease, 1 in all" in world.log(), "the Lease of ccmd")
        world.kube.http.request("POST", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "loud"}})
        event = world.wait(lambda: [e for e in world.kube.items("Event") if e["reason"] == "Heard"], "the event")[0]
        assert (event["involvedObject"]["kind"], event["involvedObject"]["apiVersion"]) == ("ConfigMap", "v1")
        world.kube.http.request("DELETE", path + "/first")
        world.wait(lambda: "c:default/first: gone, 1 left" in world.log(), "the deletion")


def test_plugins_lists_and_inspects(world, build):
    """Name, version, ABI, what is watched, each option with type, default and help."""
    code, out, _ = proc.run([world.binary("ccmd"), "plugins", "--config", world.config])
    assert code == 0 and re.match(r"clb \d+\.\d+\.\d+\n", out)
    assert re.search(r"^ +watches +Service, ", out, re.M) and re.search(r"^ +default_backend_type: .+\n +[A-Z].+", out, re.M)
    code, out, _ = proc.run([world.binary("ccmd"), "plugins", os.path.abspath(os.path.join(build, "plugins/template.so"))])
    assert code == 0
    assert re.sub(r"file +/.*/", "file ", out) == """template 0.1.0
  summary   greets annotated Services with an event
  file template.so
  abi       1 (this ccmd: 1.1)
  watches   Service
  options
    annotation: text, default ccm.example.com/greet
        Services that carry this annotation are greeted with an event.
"""
    code, out, err = proc.run([world.binary("ccmd"), "plugins", os.path.abspath(os.path.join(build, "tests/abi/wrong-major.so"))])
    assert code == 1 and "ABI 2" in out + err
