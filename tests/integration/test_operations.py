"""The pages for operators: their commands and files that no other test runs (test_docs.py lists which test runs which), as they stand."""

import base64
import glob
import os
import re

import pytest
import yaml

from tests.integration.test_classes import SECOND
from tests.support import kustomize, objects, pages, proc, views
from tests.support.world import World

BLOCKS = [block for page in ("install.md", "runbook.md", "classes.md") for block in pages.blocks(page)]
KUBECTL = """#!/bin/bash
# There are no kubelets with logs here, and no Deployments.
case "$*" in
*" logs "*) exit 0 ;;
"apply -k"*) exec "$REAL" kustomize "$3" ;;
esac
exec "$REAL" "$@"
"""


def read(path):
    with open(os.path.join(pages.ROOT, path), encoding="utf-8") as file:
        return file.read()


def text_of(words):
    (found,) = [block.text for block in BLOCKS if words in block.text]
    return found


@pytest.fixture
def shell(build, tmp_path):
    """A shell in a folder with a copy of the base, kubectl and ccmd; a cluster with a Service that ccmd serves."""
    with World(build, tmp_path / "world") as world:
        views.nodes(world, 2)
        world.config = world.write_config(election="")
        world.start_ccmd()
        world.kube.create(objects.service("web"))
        world.wait(lambda: world.kube.ingress("web") and world.kube.events("web"), "the load balancer")
        port = world.admin_base().rpartition(":")[2]
        with open(world.config, encoding="utf-8") as file:
            (tmp_path / "reader.conf").write_text(file.read().replace("127.0.0.1:0", f"127.0.0.1:{port}"))
        tools = tmp_path / "tools"
        tools.mkdir()
        for name, text in (("kubectl", KUBECTL), ("ccmd", f'#!/bin/sh\nexec {world.binary("ccmd")} "$@" --config {tmp_path}/reader.conf\n')):
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        work = tmp_path / "work"
        work.mkdir()
        shell = pages.Shell(work, {"PATH": f"{tools}:{os.environ['PATH']}", "KUBECONFIG": os.path.abspath(world.kubeconfig), "HOME": str(work),
                                   "REAL": os.environ.get("KUBECTL", "/usr/bin/kubectl")})
        shell.world, shell.port = world, port
        yield shell
        shell.close()


def test_secret_and_mount_name_the_same_file(shell):
    """What `create secret` makes of the file is what the patch mounts, at the path that the page gives."""
    with open(os.path.join(shell.folder, "credentials.json"), "w", encoding="utf-8") as file:
        file.write('{"access_key_id": "a", "access_key_secret": "b"}')
    shell.run(text_of("create secret"))
    made = shell.world.kube.http.request("GET", "/api/v1/namespaces/kube-system/secrets/ccmd-credentials")
    assert base64.b64decode(made["data"]["credentials.json"]).startswith(b'{"access_key_id"')
    patch = text_of("secretName: ccmd-credentials")
    mounted = re.search(r"mountPath: ([\w/-]+)", patch).group(1)
    assert f"`alicloud.credentials.file` is `{mounted}/credentials.json`" in read("docs/install.md")


def test_at_three_in_the_morning(shell):
    said = shell.run(text_of("get lease ccm "))
    assert "HOLDER" in said and re.search(r"^ccm +\S+_\S+", said, re.M)
    said = shell.run(text_of("ccmd status").replace("127.0.0.1:10258", f"127.0.0.1:{shell.port}"))
    assert "No object of" in said and "ccmd_failing_objects" in said and "ok" in said.splitlines()


def test_the_second_of_two(build, tmp_path):
    """Its options, beside those of a cluster, are a configuration; test_classes.py lets two live with them."""
    with World(build, tmp_path / "world") as world:
        folder = tmp_path / "config"
        folder.mkdir()
        os.rename(world.write_config(plugins='{ name = "clb"; }, { name = "nlb"; }', election="", name="first.conf"), folder / "first.conf")
        (folder / "second.conf").write_text(text_of('instance = "b"'))
        code, out, err = proc.run([world.binary("ccmd"), "check-config", "--config", folder], env={"ACCESS_KEY_ID": "a", "ACCESS_KEY_SECRET": "b"})
        assert code == 0, out + err

    def names(text):
        return set(re.findall(r"(\w+) = ", text)) - {"name", "cluster_id"}

    assert names(text_of('instance = "b"')) == names(SECOND)


def test_credentials_of_the_service_have_the_paths_that_are_told():
    given = dict(re.findall(r"^LoadCredential=(\w+):(\S+)$", text_of("LoadCredential"), re.M))
    used = set(re.findall(r"/run/credentials/ccmd\.service/(\w+)", read("docs/install.md")))
    assert used == set(given) == {"kubeconfig", "credentials"}


def test_the_package_is_installed_as_the_readme_says():
    """test_readme.py carries these lines out."""
    def commands(text):
        return [line.split("#")[0].strip() for part in text.splitlines() for line in part.split("#")[0].split("&&") if line.strip()]

    (ours,) = [commands(block.text) for block in BLOCKS if block.text.startswith("make deb")]
    (theirs,) = [commands(block.text) for block in pages.blocks("../README.md") if block.text.startswith("make deb")]
    assert set(ours) <= set(theirs) and len(ours) == 5, (ours, theirs)


def test_the_overlay_is_applied(shell):
    """In a folder as the page says; test_install.py looks at what comes out."""
    if proc.kubectl_minor() < 21:
        pytest.skip("this kubectl knows no folders among resources")
    shell.run(f"cp -r {kustomize.KUBERNETES}/base base && cp base/ccmd.conf .")
    with open(os.path.join(shell.folder, "kustomization.yaml"), "w", encoding="utf-8") as file:
        file.write(text_of("a copy of etc/kubernetes/base"))
    said = shell.run(text_of("kubectl apply -k ."))
    assert "kind: Deployment" in said and "image: registry.example.com/ccmd:" in said


def test_ports_of_the_page_are_those_that_are_shipped():
    """Addresses of the manifests, of the Debian package, and defaults; with the processes and options of the table."""
    section = read("docs/security.md").split("\n## Ports\n")[1].split("\n## ")[0]
    rows = {tuple(re.findall(r"`([^`]+)`", " ".join(cells[1:4]))): cells[4].strip()
            for cells in (line.split("|") for line in section.splitlines() if line.startswith("| `"))}
    found = set()
    for path in glob.glob("etc/**/*.conf", root_dir=pages.ROOT, recursive=True):
        for group, text in re.findall(r"^(\w+): \{(.*?)^\};", read(path), re.M | re.S):
            found |= {(address, f"{group}.listen") for address in re.findall(r'\blisten = "([^"]+)"', text)}
    defaults = {(address, option) for option, address in re.findall(r"^\| `(\w+\.listen)` \| text \| `([^`]+)`", read("docs/configuration.md"), re.M)}
    values = yaml.safe_load(read("etc/helm/ccmd/values.yaml"))
    chart = {(f"{values['adminHost']}:{values['adminPort']}", "admin.listen"),
             (f"{values['metrics']['host']}:{values['metrics']['port']}", "metrics.listen")}
    assert {(address, option) for address, _, option in rows} == found | defaults | chart
    assert {process for _, process, _ in rows} == {"ccmd run", "ccmd webhook"}
    assert {option for (_, _, option), by in rows.items() if by.startswith("default")} == {option for _, option in defaults}
    assert "metrics" not in re.findall(r"^(\w+): \{", read("etc/ccmd.conf"), re.M)
    listeners = [path for folder in ("core", "plugins", "tools") for path in glob.glob(f"{folder}/**/*.c", root_dir=pages.ROOT, recursive=True)
                 if re.search(r"\b(MHD_start_daemon|bind|listen)\(", read(path))]
    assert listeners == ["core/admin/server.c"], "what else listens"
