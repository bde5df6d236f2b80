"""docs/uninstall.md: Services go first, by each of its ways; what hangs when ccmd went first, and how it ends."""

import os
import re
import shutil

import pytest

from tests.support import objects, pages, views
from tests.support.world import World

# kubectl is the real one, but for what no simulator has: the Deployment and its rights.
KUBECTL = """#!/bin/bash
case "$*" in
"delete -k"*) "$REAL_KUBECTL" kustomize "$3" >"$TOOLS/deleted.yaml" && echo "kubectl $*" >>"$TOOLS/called" ;;
*" delete "*"web"* | *" delete "*"site"* | *"delete namespace"*) timeout 60 "$REAL_KUBECTL" "$@" ;;
*) exec "$REAL_KUBECTL" "$@" ;;
esac
"""
NOTED = '#!/bin/bash\necho "${0##*/} $*" >>"$TOOLS/called"\n'


def block(mark):
    (found,) = [one.text for one in pages.blocks("uninstall.md") if one.mark == mark]
    return found


def namespace(world, name):
    world.kube.http.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path / "world", kube_args=["--controllers"]) as world:
        views.nodes(world, 2)
        for name in ("shop", "media"):
            namespace(world, name)
        for ns, name in (("shop", "web"), ("shop", "api"), ("shop", "site"), ("media", "stream")):
            world.kube.create(objects.service(name, namespace=ns))
        world.start_ccmd(world.write_config(election=""))
        world.wait(lambda: all(world.kube.get("Service", name, ns)["status"].get("loadBalancer", {}).get("ingress")
                               for ns, name in (("shop", "web"), ("shop", "api"), ("shop", "site"), ("media", "stream"))), "the addresses")
        world.settled()
        yield world


@pytest.fixture
def shell(world, tmp_path):
    tools, work = tmp_path / "tools", tmp_path / "work"
    tools.mkdir()
    work.mkdir()
    for name, text in (("kubectl", KUBECTL), ("helm", NOTED), ("apt", NOTED), ("systemctl", NOTED)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    (work / "etc").symlink_to(os.path.join(pages.ROOT, "etc"))
    shell = pages.Shell(work, {"PATH": f"{tools}:{os.environ['PATH']}", "TOOLS": str(tools), "KUBECONFIG": os.path.abspath(world.kubeconfig),
                               "REAL_KUBECTL": shutil.which(os.environ.get("KUBECTL", "kubectl"))})
    shell.tools = tools
    yield shell
    shell.close()


def ids(shell):
    """{Service: id of its load balancer} as the page lists them."""
    return dict(line.split() for line in shell.run(block("list")).splitlines())


def test_services_first(world, shell):
    before = ids(shell)
    assert set(before) == {"shop/web", "shop/api", "shop/site", "media/stream"} and len(set(before.values())) == 4
    left = set(before.values())
    assert shell.run(block("wait")).count("service.k8s.alibaba") == 4
    for mark, service in (("delete", "shop/web"), ("change", "shop/api"), ("keep", "shop/site"), ("namespace", "media/stream")):
        shell.run(block(mark))
        if mark != "keep":
            left.remove(before[service])
        world.wait(lambda: {lb["LoadBalancerId"] for lb in world.cloud.load_balancers()} == left, f"the cloud after {mark}")
    (kept,) = world.cloud.load_balancers()
    assert kept["LoadBalancerId"] == before["shop/site"] and len(kept["Listeners"]) == 1  # it serves on
    world.wait(lambda: shell.run(block("wait")) == "none left\n", "the finalizers to go")
    assert world.kube.get("Service", "api", "shop")["spec"]["type"] == "ClusterIP"
    assert "NotFound" in shell.run("kubectl get namespace media 2>&1 || true")
    world.stop_ccmd()
    for mark in ("kustomize", "helm", "deb", "left"):
        shell.run(block(mark))
    called = (shell.tools / "called").read_text().splitlines()
    assert called == ["kubectl delete -k etc/kubernetes/base", "helm uninstall ccmd --namespace kube-system", "systemctl disable --now ccmd",
                      "apt purge ccmd"]
    assert "kind: Deployment" in (shell.tools / "deleted.yaml").read_text()
    # With nothing of ccmd there, what is left of the cluster goes as ever.
    shell.run("kubectl delete namespace shop")


def hang(world, shell):
    """ccmd has gone first; a Service and its namespace are deleted."""
    world.stop_ccmd()
    before = ids(shell)
    shell.run(block("namespace").replace("media", "shop").strip() + " --wait=false")
    world.wait(lambda: len(shell.run(block("hanging")).splitlines()) == 3, "the Services to hang")
    assert dict(line.split() for line in shell.run(block("hanging")).splitlines()) == {
        name: one for name, one in before.items() if name.startswith("shop/")}
    assert "Terminating" in shell.run("kubectl get namespace shop")
    return before


def test_ccmd_ends_what_was_begun(world, shell):
    before = hang(world, shell)
    world.start_ccmd()
    world.wait(lambda: [lb["LoadBalancerId"] for lb in world.cloud.load_balancers()] == [before["media/stream"]], "three load balancers to go")
    world.wait(lambda: "NotFound" in shell.run("kubectl get namespace shop 2>&1 || true"), "the namespace to go")


def test_by_hand(world, shell):
    hang(world, shell)
    calls = world.cloud.mark()
    for name in ("web", "api", "site"):
        shell.run(re.sub(r"\bweb\b", name, block("patch")))
    world.wait(lambda: "NotFound" in shell.run("kubectl get namespace shop 2>&1 || true"), "the namespace to go")
    assert world.cloud.actions(calls) == [] and len(world.cloud.load_balancers()) == 4  # they stay, and cost
