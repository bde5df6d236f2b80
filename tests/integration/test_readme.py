"""README.md followed from its first command to its last, then the commands of docs/lint.md. A program that writes down how it was called
stands in for what needs root, a registry or a real cluster; test_install.py builds the images and packages."""

import os
import re
import shutil
import signal

import pytest
import yaml

from tests.support import objects, pages, proc, views
from tests.support.world import ACCESS_KEY, ACCESS_SECRET, CLUSTER_ID, World, wait

MAKE = """#!/bin/bash
unset MAKEFLAGS MFLAGS MAKELEVEL
# What takes minutes is only looked through: `make test` would run this very test.
case "$*" in
demo | sandbox) exec "$REAL_MAKE" --no-print-directory -o build BUILD="$CCM_BUILD_DIR" "$@" ;;
test | image | deb) "$REAL_MAKE" -n "$@" | grep -E 'ctest|scripts/(image|deb).sh'; mkdir -p build/deb; touch build/deb/ccmd_0_amd64.deb ;;
*) exit 1 ;;
esac
echo "make $*" >>"$TOOLS/called"
"""
GIT = """#!/bin/bash
[ "$1 $2 $3" = "clone URL ccmd" ] && cp -r "$TREE" ccmd
"""
EDITOR = """#!/bin/bash
# What the comments on the page say.
case "$1" in
*ccmd.conf) sed -i 's/cluster_id = ""/cluster_id = "c-test"; plain_http = true/; s|kubeconfig = ""|kubeconfig = "'"$KUBECONFIG"'"|' "$1" ;;
*kustomization.yaml) sed -i '/^images:/,$ s|- name: ccmd|&\\n  newName: registry.example.com/ccmd|' "$1" ;;
*) exit 1 ;;
esac
"""
KUBECTL = """#!/bin/bash
case "$*" in
"apply -k"*) "$REAL_KUBECTL" kustomize "$3" >"$TOOLS/applied.yaml" ;;
*" rollout "* | *" logs "*) echo "kubectl $*" >>"$TOOLS/called" ;;
*) exec "$REAL_KUBECTL" "$@" ;;
esac
"""
CCMD = """#!/bin/bash
# The configuration lies where nothing has to say so.
case "$*" in *--plugin* | *--config*) exec "$REAL_CCMD" "$@" ;; esac
command=$1
shift
exec "$REAL_CCMD" "$command" --config "$ETC/ccmd.conf" "$@"
"""
HELM = """#!/bin/bash
[ "$1" = template ] && exec cat manifests/web.yaml
echo "helm $*" >>"$TOOLS/called"
"""
APT = """#!/bin/bash
[ "$1" = install ] && [ -e "$2" ] && mkdir -p "$ETC" && cp etc/ccmd.conf "$ETC" && echo "apt $*" >>"$TOOLS/called"
"""
NOTED = '#!/bin/bash\necho "${0##*/} $*" >>"$TOOLS/called"\n'
PROGRAMS = {"make": MAKE, "git": GIT, "editor": EDITOR, "kubectl": KUBECTL, "ccmd": CCMD, "helm": HELM, "apt": APT, "skopeo": NOTED,
            "systemctl": NOTED}
MANIFEST = """apiVersion: v1
kind: Service
metadata:
  name: web
  annotations:
    service.beta.kubernetes.io/alibaba-cloud-loadbalancer-adress-type: intranet
    service.beta.kubernetes.io/alibaba-cloud-loadbalancer-delete-protection: on
spec:
  type: LoadBalancer
  ports: [{port: 80}]
"""


@pytest.fixture
def reader(build, tmp_path):
    """A shell with the tools of somebody who has just found the page, and what is left of it to do."""
    os.umask(0o022)
    tools, prefix = tmp_path / "tools", tmp_path / "prefix"
    tools.mkdir()
    code, out, err = proc.run(["cmake", "--install", build, "--prefix", prefix], timeout=300)
    assert code == 0, out + err
    for name, text in PROGRAMS.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    tree = tmp_path / "tree"
    shutil.copytree(pages.ROOT, tree, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
    (tree / "build").mkdir()
    (tree / "build" / "release").symlink_to(build)
    work = tmp_path / "work"
    work.mkdir()
    shell = pages.Shell(work, {
        "PATH": f"{tools}:{os.environ['PATH']}", "TOOLS": str(tools), "TREE": str(tree), "ETC": str(work / "etc"), "EDITOR": "editor",
        "HOME": str(work), "CCM_BUILD_DIR": build, "REAL_MAKE": shutil.which("make"), "REAL_CCMD": str(prefix / "bin" / "ccmd"),
        "REAL_KUBECTL": shutil.which(os.environ.get("KUBECTL", "kubectl"))})
    shell.tools = tools
    shell.left = [block.text for block in pages.blocks("../README.md")]
    yield shell
    shell.close()


def take(reader, words):
    """The next block, which has these words."""
    text = reader.left.pop(0)
    assert words in text, text
    return text.replace("/etc/ccmd/", f"{reader.env['ETC']}/")


def try_it(reader):
    said = reader.run(take(reader, "make demo"))
    assert "demo: ok" in said and "ctest" in said
    sandbox = reader.start(take(reader, "make sandbox").split("#")[0].strip())
    wait(lambda: "Ctrl-C ends it" in sandbox.out(), "the sandbox", timeout=60)
    export = re.search(r"^  (export KUBECONFIG=\S+)$", sandbox.out(), re.M).group(1)
    second = take(reader, "export KUBECONFIG=...")
    reader.run(second.replace("export KUBECONFIG=...", export))
    wait(lambda: reader.run("kubectl get events").count("EnsuredLoadBalancer") == 2, "both load balancers", timeout=40)
    addresses = reader.run("kubectl get services -o jsonpath='{.items[*].status.loadBalancer.ingress}'")
    assert '"ip"' in addresses and '"hostname"' in addresses
    reader.run(f"cat >hello.yaml <<'END'\n{take(reader, 'kind: Service')}END")
    first = take(reader, "hello.yaml").splitlines()
    reader.run(first[0])
    wait(lambda: re.search(r"^hello +LoadBalancer +\S+ +\d+\.\d+\.\d+\.\d+ ", reader.run(first[1]), re.M), "the address", timeout=40)
    wait(lambda: "EnsuredLoadBalancer" in reader.run(first[2]), "what was done for it", timeout=40)
    assert len(first) == 3
    for line in re.findall(r"^  ((?:kubectl|curl) .*)$", sandbox.out(), re.M):  # what it proposes by itself
        reader.run(re.split(r" {3,}", line)[0])
    os.killpg(sandbox.popen.pid, signal.SIGINT)
    sandbox.wait_exit()
    reader.processes.remove(sandbox)
    assert "stopping" in sandbox.out() and "Traceback" not in sandbox.err(), sandbox.err()


def install_it(reader, world):
    image = take(reader, "make image")
    reader.run(image)
    told = (reader.tools / "called").read_text()
    with open(os.path.join(pages.ROOT, "VERSION"), encoding="utf-8") as file:
        version = file.read().strip()
    assert f"skopeo copy oci:build/image/oci:{version} docker://registry.example.com/ccmd:{version}\n" in told
    applied = {d["kind"]: d for d in yaml.safe_load_all((reader.tools / "applied.yaml").read_text())}
    assert applied["Deployment"]["spec"]["template"]["spec"]["containers"][0]["image"] == f"registry.example.com/ccmd:{version}"
    assert 'cluster_id = "c-test"' in applied["ConfigMap"]["data"]["ccmd.conf"]
    reader.run(take(reader, "helm install"))
    arguments = re.search(r"^helm install ccmd (\S+) .*--set (\S+)=\S+ --set-file (\w+)=", (reader.tools / "called").read_text(), re.M)
    with open(os.path.join(pages.ROOT, arguments.group(1), "values.yaml"), encoding="utf-8") as file:
        values = yaml.safe_load(file)
    first, _, second = arguments.group(2).partition(".")
    assert second in values[first] and arguments.group(3) in values
    said = reader.run(take(reader, "rollout status").replace("NAME", "web"))
    assert "HOLDER" in said and "EnsuredLoadBalancer" in said
    for line in take(reader, "make deb").splitlines():
        said = reader.run(f"{{ {line.split('#')[0]}; }} || [ $? -eq 3 ]" if "ccmd plan" in line else line)
        assert "ccmd check-config" not in line or "plugins: 3" in said
        # The nodes of this world have neither labels nor addresses of the cloud.
        assert "ccmd plan" not in line or "2 to change, 1 as they should be, 0 failed" in said, said
    assert f'cluster_id = "{CLUSTER_ID}"' in open(os.path.join(reader.env["ETC"], "ccmd.conf"), encoding="utf-8").read()
    assert world.ccmd.alive()


def check_manifests(reader):
    """docs/lint.md: the commands and what they print."""
    reader.run(f"mkdir manifests\ncat >manifests/web.yaml <<'END'\n{MANIFEST}END")
    reader.left = [block.text for block in pages.blocks("lint.md") if block.mark in ("lint", "findings")]
    commands, expected = take(reader, "ccmd lint manifests/"), reader.left.pop(0).splitlines()
    assert len(expected) == 2
    for line in commands.splitlines():
        said = reader.run(f"{{ {line.split('#')[0]}; }} || [ $? -eq 1 ]")
        for one in expected:
            pattern = re.escape(one.partition(": ")[2]).replace(re.escape("..."), r"\S*")
            assert re.search(rf":{one.split(':')[1]}: {pattern}$", said, re.M), f"{line}\n{one}\n{said}"


def test_to_the_end(reader, build, tmp_path):
    try_it(reader)
    with World(build, tmp_path / "world") as world:
        views.nodes(world, 2)
        world.config = world.write_config(election="")
        world.start_ccmd()
        world.kube.create(objects.service("web", ((80, "TCP"),)))
        world.wait(lambda: world.kube.ingress("web") and world.kube.events("web"), "the load balancer")
        endpoints = {f"{name}_ENDPOINT": world.cloud.base for name in ("SLB", "NLB", "VPC", "ECS", "STS", "METADATA")}
        reader.env.update(endpoints, ALICLOUD_CLIENT_SCHEME="HTTP", ACCESS_KEY_ID=ACCESS_KEY, ACCESS_KEY_SECRET=ACCESS_SECRET)
        reader.run(f"export KUBECONFIG={os.path.abspath(world.kubeconfig)}\ncp etc/kubernetes/base/ccmd.conf .")
        install_it(reader, world)
        assert reader.left == []
        check_manifests(reader)
