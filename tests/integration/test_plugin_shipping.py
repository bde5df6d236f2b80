"""docs/plugin-shipping.md: its commands on an installed ccmd, its files for kustomize, and what of it needs a cluster. The image, with what an init
container brings, and the chart are in test_install.py."""

import os
import shutil

import pytest
import yaml

from tests.support import pages, proc
from tests.support.world import World, wait

PAGE = "plugin-shipping.md"
BASE = os.path.join(pages.ROOT, "etc", "kubernetes", "base")


def block(mark):
    (found,) = [one.text for one in pages.blocks(PAGE) if one.mark == mark]
    return found


def documents(text):
    return {(d["kind"], d["metadata"]["name"]): d for d in yaml.safe_load_all(text) if d}


@pytest.fixture
def shell(build, prefix, tmp_path):
    """As the guide leaves its reader: the plugin hello is built, nothing is installed."""
    os.umask(0o022)
    folder = tmp_path / "work"
    folder.mkdir()
    tools = tmp_path / "tools"
    tools.mkdir()
    tools.joinpath("kubectl").symlink_to(shutil.which(os.environ.get("KUBECTL", "kubectl")))
    guide = [one.text for one in pages.blocks("plugin-guide.md") if one.language == "sh"]
    assert guide[0].startswith("cp -r ")
    with World(build, tmp_path / "world") as world:
        shell = pages.Shell(folder, {"PREFIX": prefix, "PATH": f"{prefix}/bin:{tools}:{os.environ['PATH']}",
                                     "KUBECONFIG": os.path.abspath(world.kubeconfig)})
        shell.run(guide[0])
        yield shell


def write_page_files(folder):
    """The two folders for kustomize."""
    for name in ("kustomization.yaml", "plugins.yaml", "ccmd.conf"):
        (folder / "first" / name).write_text(block(name))
    (folder / "second" / "kustomization.yaml").write_text(block("second/kustomization.yaml"))
    (folder / "second" / "ccmd.conf").write_text(block("second.conf"))
    shutil.copytree(BASE, folder / "first" / "base")


def test_commands_of_the_page(shell, prefix, tmp_path):
    """In order, as they stand. What comes out is what kustomize takes."""
    for one in pages.blocks(PAGE):
        if one.language == "sh" and one.mark == "":
            shell.run(one.text)
    assert os.path.exists(os.path.join(prefix, "lib/ccmd/plugins/hello.so"))
    os.remove(os.path.join(prefix, "lib/ccmd/plugins/hello.so"))
    made = os.path.join(shell.folder, "hello")
    role, binding = (documents(open(os.path.join(made, name), encoding="utf-8").read()) for name in ("role.yaml", "binding.yaml"))
    assert list(role) == [("ClusterRole", "ccmd-plugin-hello")]
    (bound,) = binding.values()
    assert bound["roleRef"]["name"] == "ccmd-plugin-hello" and bound["subjects"][0]["name"] == "ccmd"
    if proc.kubectl_minor() < 21:
        return  # this kubectl knows no folders among resources
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    write_page_files(tmp_path)
    for name in ("role.yaml", "binding.yaml"):
        shutil.copy(os.path.join(made, name), tmp_path / "first")
    check_first(documents(shell.run(f"kubectl kustomize {tmp_path}/first")))
    check_second(documents(shell.run(f"kubectl kustomize {tmp_path}/second")))


def check_first(found):
    pod = found[("Deployment", "ccmd")]["spec"]["template"]["spec"]
    assert [one["name"] for one in pod["initContainers"]] == ["plugin-hello"]
    mounts = {one["name"]: one for one in pod["containers"][0]["volumeMounts"]}
    assert set(mounts) == {"config", "plugins"} == {one["name"] for one in pod["volumes"]}
    assert mounts["plugins"]["subPath"] == "plugins" and mounts["plugins"]["readOnly"] is True
    config = next(document for (kind, _), document in found.items() if kind == "ConfigMap")
    assert f'file = "{mounts["plugins"]["mountPath"]}/hello.so"' in config["data"]["ccmd.conf"]
    assert {("ClusterRole", "ccmd-plugin-hello"), ("ClusterRoleBinding", "ccmd-plugin-hello")} <= set(found)


def check_second(found):
    """Nothing is called as in the first, and its references hold."""
    names = {kind: name for kind, name in found if kind in ("Deployment", "ServiceAccount", "PodDisruptionBudget")}
    assert set(names.values()) == {"ccmd-hello"}
    deployment = found[("Deployment", "ccmd-hello")]["spec"]
    pod = deployment["template"]["spec"]
    labels = {"app": "ccmd-hello"}
    assert deployment["selector"]["matchLabels"] == labels == deployment["template"]["metadata"]["labels"]
    assert pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]["labelSelector"] == {
        "matchLabels": labels}
    assert pod["serviceAccountName"] == "ccmd-hello"
    assert {pod["containers"][0][probe]["httpGet"]["port"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")} == {10269}
    assert found[("Role", "ccmd-leader-election-hello")]["rules"][1]["resourceNames"] == ["ccm-hello"]
    config = next(document for (kind, _), document in found.items() if kind == "ConfigMap")
    assert '"ccm-hello"' in config["data"]["ccmd.conf"] and ":10269" in config["data"]["ccmd.conf"]
    assert config["metadata"]["name"] in [one.get("configMap", {}).get("name") for one in pod["volumes"]]
    for (kind, _), document in found.items():
        if kind.endswith("RoleBinding"):
            assert [one["name"] for one in document["subjects"]] == ["ccmd-hello"]


def test_each_lease_has_a_leader_of_its_own(build, tmp_path):
    """Of those that share one a single process works, whatever their plugins are; another ccmd has another."""
    plugin = os.path.join(build, "plugins", "template.so")
    with World(build, tmp_path / "world") as world:
        def start(name, lease):
            config = world.write_config(plugins=f'{{ name = "clb"; }}, {{ name = "template"; file = "{plugin}"; }}', election=f'name = "{lease}";',
                                        name=f"{name}.conf")
            world.processes.append(world.start_ccmd(config))
            world.ccmd = None  # it is among the others
            return world.processes[-1]

        def leads(process, lease):
            return world.metrics(process).get(f'leader_election_master_status{{name="{lease}"}}') == 1

        first = start("first", "ccm")
        wait(lambda: leads(first, "ccm"), "the first leads")
        second = start("second", "ccm")
        third = start("third", "ccm-hello")
        wait(lambda: leads(third, "ccm-hello"), "the third leads")
        assert leads(first, "ccm") and not leads(second, "ccm")


def test_what_needs_a_cluster_is_nothing_else():
    for one in pages.blocks(PAGE):
        if one.mark == "cluster":
            assert one.language == "sh"
            for line in one.text.replace("\\\n", " ").splitlines():
                assert line.split()[0] in ("docker", "helm", "kubectl"), line
