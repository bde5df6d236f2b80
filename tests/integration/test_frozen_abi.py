"""A plugin that was built with the headers of ABI 1.1 does in today's ccmd what it did in that of its time."""

import os
import re
import shutil
import subprocess
import urllib.request

import pytest

from tests.support import objects, proc

SOURCE = os.environ.get("CCM_SOURCE_DIR", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
ABI = os.path.join(SOURCE, "tests", "abi")
KEY = "default/frozen"
# One line each, in the order of the plugin.
TRIED = [
    "node.info", "traits", "too_large", "list server", "list_raw of what is absent", "list_raw_by label", "list_raw_by path",
    "server_since_ms", "create_raw", "update_raw", "patch_raw", "fetch_raw", "uid of delete_raw", "delete_raw", "http_begin", "http_end",
    "throttle", "paused_until", "retry_ms", "result.flags", "once more"]


class Frozen:
    def __init__(self, world, folder):
        self.world = world
        self.config = str(folder / "frozen.conf")
        self.token = str(folder / "control")

    def write(self, file, listen="127.0.0.1:0", url=None):
        with open(self.config, "w", encoding="utf-8") as out:
            out.write(
                f'kubernetes: {{ kubeconfig = "{self.world.kubeconfig}"; }};\nleader_election: {{ enabled = false; }};\n'
                f'admin: {{ listen = "{listen}"; control_token_file = "{self.token}"; }};\n'
                f'plugins = ( {{ name = "cold"; file = "{file}"; plain = true; url = "{url or self.world.kube.base + "/version"}"; }} );\n')

    def start(self, file):
        node = objects.node("frozen-1", "i-1")
        node["metadata"]["annotations"] = {"k8s.aliyun.com/max-available-ip": "9"}
        node["status"].update(capacity={"cpu": "4"}, allocatable={"cpu": "3"}, nodeInfo={"kubeletVersion": "v1.31.2"})
        self.world.kube.create(node)
        for name in ("front", "other"):  # the second is not selected
            self.world.kube.http.request("POST", "/api/v1/namespaces/default/configmaps", {
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"tier": "front"}}, "data": {"colour": "red"}})
        self.world.kube.create(objects.service("frozen"))
        self.write(file)
        self.world.start_ccmd(self.config)

    def told(self):
        return re.findall(r" info  cold: (.*): (ok|not as in 1\.1)\n", self.world.log())

    def ask(self, command, *args):
        self.write(self.file, listen=self.world.admin_base().split("//")[1])
        return proc.run([self.world.binary("ccmd"), command, "--config", self.config, *args])


@pytest.fixture
def frozen(world, tmp_path):
    return Frozen(world, tmp_path)


@pytest.fixture
def file(build):
    return os.path.abspath(os.path.join(build, "tests", "abi", "frozen-1-1.so"))


def test_all_of_1_1_does_what_it_did(frozen, file, tmp_path):
    world = frozen.world
    frozen.file = file
    frozen.start(file)
    world.wait(lambda: ("once more", "ok") in frozen.told(), "the second call")
    assert frozen.told() == [(name, "ok") for name in TRIED]
    metrics = world.metrics()
    assert metrics['ccmd_held_removals{plugin="cold"}'] == 2
    assert metrics['ccmd_unserved_ports{plugin="cold"}'] == 3
    page = world.admin("/statusz")[1]
    for words in ("held because it is frozen", "unserved because it is frozen", "frozen things", "waits because it is frozen"):
        assert words in page, words
    world.wait(lambda: ("Warning", "Lasts", "words that change", 1) in world.kube.events("frozen"), "the event")
    assert frozen.ask("resync", KEY)[0] == 0
    assert frozen.ask("allow-removals", "cold")[0] == 0
    world.wait(lambda: {("resync", "ok"), ("allow_removals", "ok")} <= set(frozen.told()), "what an operator asks for")
    world.kube.delete("Service", "frozen")
    world.wait(lambda: {("change.flags", "ok"), ("forget", "ok")} <= set(frozen.told()), "the end of the object")
    assert all(verdict == "ok" for _, verdict in frozen.told())


def test_what_is_asked_without_an_instance(frozen, file, tmp_path):
    frozen.file = file
    frozen.write(file)
    binary, config = frozen.world.binary("ccmd"), frozen.config
    out = proc.run([binary, "plugins", "--config", config])[1]
    assert out.startswith("frozen-1-1 1.1.0 as cold\n") and "configmaps in namespace default with labels tier" in out
    out = proc.run([binary, "plugins", "--rbac", file])[1]
    assert "configmaps" in out and "name: ccmd-plugin-frozen-1-1\n" in out
    manifest = tmp_path / "service.yaml"
    manifest.write_text("apiVersion: v1\nkind: Service\nmetadata: { name: a }\nspec: { type: LoadBalancer, ports: [ { port: 80 } ] }\n")
    assert "a hint of the frozen" in proc.run([binary, "lint", "--config", config, manifest])[1]
    for url, words in (("ftp://x", None), ("http://odd", "plugin cold: url: may not be odd")):
        frozen.write(file, url=url)
        code, _, err = proc.run([binary, "check-config", "--config", config])
        assert code == (0 if words is None else 1) and (words is None or words in err), err


def moved(tmp_path, header, first, second):
    """The plugin as it would be had these two members changed their places: what a ccmd would be to it that moved them."""
    include = tmp_path / "include"
    shutil.copytree(os.path.join(ABI, "v1_1"), include)
    path = include / "ccm" / header
    text = path.read_text()
    declared = [re.search(rf"^    [a-z_0-9 ]+\(?\*?{name}\b[^;]*;", text, re.M).group(0) for name in (first, second)]
    assert all(text.count(one) == 1 for one in declared)
    text = text.replace(declared[0], "@").replace(declared[1], declared[0]).replace("@", declared[1])
    path.write_text(text)
    plugin = tmp_path / "moved.so"
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O1", "-fPIC", "-shared", "-fvisibility=hidden",
                    "-I", include, "-o", plugin, os.path.join(ABI, "plugins", "frozen-1-1.c")], check=True, timeout=120)
    return str(plugin)


@pytest.mark.parametrize("header, first, second, missed", [
    ("host.h", "create_raw", "update_raw", "create_raw"),
    ("object.h", "traits", "too_large", "traits"),
])
def test_a_member_that_moved_is_noticed(frozen, tmp_path, header, first, second, missed):
    frozen.start(moved(tmp_path, header, first, second))
    frozen.world.wait(lambda: missed in dict(frozen.told()), "the line about it")
    assert dict(frozen.told())[missed] == "not as in 1.1"
