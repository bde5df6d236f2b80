"""The plugins one by one: each component of etc/kubernetes brings the rights and the configuration of its plugin, and no more."""

import itertools
import os
import shutil

import pytest
import yaml

from tests.integration.test_least_rights import Guarded, condition
from tests.support import kustomize, objects, pages, proc
from tests.support.products import Clb, Nlb
from tests.support.scenario_route import CLUSTER_CIDR, node

SITE = 'alicloud: {{ cluster_id = "c-test"; region = "cn-a"; }}; plugin_dir = "{folder}";\n'
ROUTE = f'plugins = ( {{ name = "route"; cluster_cidr = "{CLUSTER_CIDR}"; }} );\n'
EVENTS = {("create", "", "events"), ("patch", "", "events")}


@pytest.fixture(scope="module", name="needed")
def needed_rights(build):
    """{plugin: what it says that it needs}"""
    found = {}
    for name in kustomize.PLUGINS:
        code, out, err = proc.run([os.path.join(build, "bin", "ccmd"), "plugins", "--rbac", os.path.join(build, "plugins", f"{name}.so")])
        assert code == 0, err
        found[name] = kustomize.rights([rule for document in yaml.safe_load_all(out) if document for rule in document.get("rules", [])])
    return found


def judge(build, folder):
    """(exit code, everything said) of check-config."""
    code, out, err = proc.run([os.path.join(build, "bin", "ccmd"), "check-config", "--config", folder])
    return code, out + err


def test_each_choice_of_plugins(build, needed, tmp_path):
    """Rights: what the chosen ones say that they need, and events. Configuration: it lacks what only a person can know."""
    choices = [names for count in range(1, 6) for names in itertools.combinations(kustomize.PLUGINS, count)]
    for names in choices:
        documents = kustomize.choose(tmp_path / "-".join(names), names)
        assert kustomize.rights(kustomize.rules(documents)) == EVENTS.union(*(needed[name] for name in names)), names
        folder = str(tmp_path / ("config-" + "-".join(names)))
        assert kustomize.write_config(documents, folder) == ["ccmd.conf", *(f"plugin-{name}.conf" for name in names)]
        with open(os.path.join(folder, "site.conf"), "w", encoding="utf-8") as file:
            file.write(SITE.format(folder=os.path.join(build, "plugins")) + (ROUTE if "route" in names else ""))
        code, said = judge(build, folder)
        assert code == 0 and said.endswith(f"plugins: {len(names)}\n"), (names, said)
    assert len(choices) == 31


def test_what_is_missing_is_named_with_its_file(build, tmp_path):
    folder = str(tmp_path / "config")
    kustomize.write_config(kustomize.choose(tmp_path / "overlay", ["clb", "route"]), folder)
    with open(os.path.join(folder, "a.conf"), "w", encoding="utf-8") as file:
        file.write(f'plugin_dir = "{os.path.join(build, "plugins")}";\n')
    code, said = judge(build, folder)
    with open(os.path.join(folder, "ccmd.conf"), encoding="utf-8") as file:
        line = 1 + [text.lstrip().startswith("cluster_id") for text in file].index(True)
    with open(os.path.join(folder, "plugin-route.conf"), encoding="utf-8") as file:
        entry = 1 + [text.startswith("plugins") for text in file].index(True)
    assert code == 1 and sorted(said.splitlines()) == [
        f"{folder}/ccmd.conf:{line}: option 'alicloud.cluster_id' may not be empty",
        f"{folder}/plugin-route.conf:{entry}: option 'route.cluster_cidr' is required by plugin 'route'"]


def test_the_overlay_of_the_manual(build, needed, tmp_path):
    """docs/install.md: its two files beside a copy of etc/kubernetes."""
    if proc.kubectl_minor() < 21:
        pytest.skip("this kubectl knows no components")
    found = {block.mark: block.text for block in pages.blocks("install.md") if block.mark.startswith("plugins/")}
    for mark, text in found.items():
        (tmp_path / mark.removeprefix("plugins/")).write_text(text)
    shutil.copytree(kustomize.KUBERNETES, tmp_path / "kubernetes")
    documents = kustomize.build(tmp_path)
    assert kustomize.rights(kustomize.rules(documents)) == EVENTS | needed["clb"] | needed["node"] | needed["route"]
    folder = str(tmp_path / "config")
    assert kustomize.write_config(documents, folder) == ["ccmd.conf", "plugin-clb.conf", "plugin-node.conf", "plugin-route.conf", "site.conf"]
    with open(os.path.join(folder, "z.conf"), "w", encoding="utf-8") as file:
        file.write(f'plugin_dir = "{os.path.join(build, "plugins")}";\n')
    assert judge(build, folder) == (0, f"{folder}: ok, plugins: 3\n")
    (name,) = [name for kind, name in documents if kind == "ConfigMap"]
    pod = documents[("Deployment", "ccmd")]["spec"]["template"]["spec"]
    assert pod["volumes"][0]["configMap"]["name"] == name and pod["containers"][0]["image"] == "registry.example.com/ccmd:0.1.0"


def test_without_plugins_it_is_the_base():
    """The same objects; of the configuration only the plugins are gone."""
    base, bare = (kustomize.build(os.path.join(kustomize.KUBERNETES, name)) for name in ("base", "no-plugins"))

    def plain(documents):
        return {kind if kind == "ConfigMap" else (kind, name): document for (kind, name), document in documents.items()}

    base, bare = plain(base), plain(bare)
    assert set(base) == set(bare)
    for key in set(base) - {"ConfigMap", ("ClusterRole", "ccmd"), ("Deployment", "ccmd")}:
        assert base[key] == bare[key]
    before, after = (documents["ConfigMap"]["data"]["ccmd.conf"] for documents in (base, bare))
    assert after.split("\n\n", 1)[1].strip() == before.split("\n\n", 1)[1].split("plugins = (")[0].strip()
    assert base["ConfigMap"]["metadata"]["labels"] == bare["ConfigMap"]["metadata"]["labels"]


def test_gateway_beside_the_base(build, needed, tmp_path):
    """A component also adds to the base, whose own plugins stay."""
    documents = kustomize.choose(tmp_path / "overlay", ["gateway"], start="base", others=["webhook"])
    assert kustomize.rights(kustomize.rules(documents)) >= needed["gateway"] | needed["clb"] | needed["nlb"] | needed["node"]
    folder = str(tmp_path / "config")
    assert kustomize.write_config(documents, folder) == ["ccmd.conf", "plugin-gateway.conf"]
    with open(os.path.join(folder, "site.conf"), "w", encoding="utf-8") as file:
        file.write(SITE.format(folder=os.path.join(build, "plugins")))
    assert judge(build, folder) == (0, f"{folder}: ok, plugins: 4\n")
    for name in ("ccmd", "ccmd-webhook"):  # both read the folder
        pod = documents[("Deployment", name)]["spec"]["template"]["spec"]
        assert pod["containers"][0]["args"][1:] == ["--config", "/etc/ccmd"]


@pytest.mark.parametrize("names", [["clb"], ["nlb"], ["node", "route"]], ids="-".join)
def test_a_plugin_lives_with_the_rights_of_its_component(build, tmp_path, names):
    """The folder of the pod, and what this test needs as a file of its own. Of the gateway: test_gateway_page.py."""
    documents = kustomize.choose(tmp_path / "overlay", names)
    with Guarded(build, tmp_path / "guarded", given=kustomize.rules(documents)) as guarded:
        world, folder = guarded.world, str(tmp_path / "config")
        kustomize.write_config(documents, folder)
        entries = ", ".join(f'{{ name = "{name}"; }}' for name in names)
        world.write_config(plugins=entries,
                           election="enabled = true;", name="site.conf")
        shutil.move(os.path.join(world.folder, "site.conf"), folder)
        with open(os.path.join(folder, "z.conf"), "w", encoding="utf-8") as file:
            file.write(f'metrics: {{ listen = ""; }}; \n{ROUTE if "route" in names else ""}')
        world.config = folder
        world.start_ccmd()
        world.kube.create(*[node(f"node-{number}") for number in (1, 2)])
        if "node" in names:
            world.wait(lambda: condition(world.kube.get("Node", "node-1"), "NetworkUnavailable") == "False", "the route", timeout=30)
        else:
            kind = Clb() if names == ["clb"] else Nlb()
            web = world.kube.create(kind.new("web"))
            world.kube.create(objects.endpoint_slice(web, [("10.1.1.1", "node-1", True)]))
            world.wait(lambda: world.kube.ingress("web"), "the address", timeout=30)
            world.kube.delete("Service", "web")
            world.wait(lambda: world.kube.get("Service", "web") is None, "the deletion", timeout=30)
        world.settled()
        world.stop_ccmd()
        assert guarded.refused() == []
