"""docs/new-cluster.md from its first command to its last. kubelet and kubeadm do not run here: a stand-in takes the options that kubeadm
has, and nodes register as a kubelet with the arguments of the page would; ccmd runs with the configuration that was applied."""

import os
import re
import shutil
import subprocess

import pytest
import yaml

from tests.support import cloud_nodes as nodes
from tests.support import pages, proc, views
from tests.support.scenario_route import SYSTEM_TABLE, custom_routes
from tests.support.world import ACCESS_KEY, ACCESS_SECRET, World

METADATA = "http://100.100.100.200"
CONFIGMAPS = "/api/v1/namespaces/kube-system/configmaps"
EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers"  # as kubeadm marks nodes of the control plane
# As the commands that do not run here know them (v1.34).
KUBELET = {"cloud-provider": ("", "external"), "provider-id": None, "node-ip": None, "hostname-override": None}
KUBEADM = """#!/bin/bash
[ "$1" = init ] || exit 1
shift
for flag in "$@"; do
    case "$flag" in
    --apiserver-advertise-address=* | --config=* | --control-plane-endpoint=* | --cri-socket=* | --ignore-preflight-errors=* | --image-repository=* | \\
        --kubernetes-version=* | --node-name=* | --pod-network-cidr=* | --service-cidr=* | --service-dns-domain=* | --skip-phases=* | --upload-certs) ;;
    *) echo "unknown flag: $flag" >&2; exit 1 ;;
    esac
done
echo "$*" >"$TOOLS/kubeadm"
"""
# Workloads run nowhere here: what concerns them is written down.
KUBECTL = """#!/bin/bash
case "$*" in
"apply -k"*) "$REAL" kustomize "$3" >"$TOOLS/applied.yaml" && "$REAL" apply -f "$TOOLS/applied.yaml" ;;
*" rollout status "*) echo "$*" >>"$TOOLS/workloads" ;;
"create deployment"*) "$REAL" "$@" --dry-run=client -o json | "$REAL" apply -f - ;; # in a form that kubesim reads
*--watch) exec timeout 3 "$REAL" "$@" ;;
*) exec "$REAL" "$@" ;;
esac
"""
# What the page makes and kubesim does not know by itself.
FOREIGN = [("apps", "v1", "deployments", "Deployment"), ("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget")]


def definition(group, version, plural, kind):
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced", "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": kind + "List"},
                     "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}


class Reader:
    """A shell on the first instance, and what is left of the page to do."""

    def __init__(self, world, prefix, folder):
        self.world, self.tools, self.etc = world, folder / "tools", folder / "etc"
        for path in (self.tools, self.etc / "default", self.etc / "kubernetes", folder / "work"):
            path.mkdir(parents=True)
        for name, text in (("kubeadm", KUBEADM), ("kubectl", KUBECTL)):
            (self.tools / name).write_text(text)
            (self.tools / name).chmod(0o755)
        shutil.copy(world.kubeconfig, self.etc / "kubernetes" / "admin.conf")
        self.work = folder / "work"
        self.ccmd = os.path.join(prefix, "bin", "ccmd")
        self.shell = pages.Shell(self.work, {
            "PREFIX": prefix, "PATH": f"{self.tools}:{os.environ['PATH']}", "TOOLS": str(self.tools), "HOME": str(self.work),
            "REAL": shutil.which(os.environ.get("KUBECTL", "kubectl"))})
        self.left = pages.blocks("new-cluster.md")

    def take(self, words, language="sh"):
        block = self.left.pop(0)
        assert block.language == language and words in block.text, block.text
        return block.text.replace(METADATA, self.world.cloud.base).replace("/etc/", f"{self.etc}/")

    def run(self, words):
        return self.shell.run(self.take(words))

    def kubelet_args(self):
        text = (self.etc / "default" / "kubelet").read_text()
        found = dict(re.findall(r"--([a-z-]+)=(\S+)", text.removeprefix("KUBELET_EXTRA_ARGS=")))
        for name, value in found.items():
            assert name in KUBELET and (KUBELET[name] is None or value in KUBELET[name]), f"--{name}={value}"
        return found


@pytest.fixture(scope="module")
def prefix(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    done = subprocess.run(["cmake", "--install", build, "--prefix", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, done.stdout
    return str(folder)


def join(world, name, args, number, labels=None):
    """kubelet registers its node, and kubeadm's controller manager gives it a pod CIDR."""
    assert args["cloud-provider"] == "external"
    body = nodes.register(name, labels=labels)
    body["spec"].update(providerID=args["provider-id"], podCIDR=f"172.20.{number}.0/24", podCIDRs=[f"172.20.{number}.0/24"])
    world.kube.http.request("POST", "/api/v1/nodes", body)


def start_ccmd(reader):
    """In the place of its pod: the configuration that was applied, with the addresses of the simulators."""
    world = reader.world
    maps = world.kube.http.request("GET", CONFIGMAPS)["items"]
    text = next(item["data"]["ccmd.conf"] for item in maps if "ccmd.conf" in item["data"])
    for told, here in (('kubeconfig = "";', f'kubeconfig = "{os.path.abspath(world.kubeconfig)}";'), ("127.0.0.1:10258", "127.0.0.1:0"),
                       ('cluster_id = "my-cluster";', 'cluster_id = "my-cluster"; plain_http = true;')):
        assert text.count(told) == 1, told
        text = text.replace(told, here)
    plugins = os.path.abspath(os.path.join(world.build, "plugins"))
    text = f'plugin_dir = "{plugins}";\n{text}'
    path = reader.work / "ccmd.conf"
    path.write_text(text)
    env = {f"{name}_ENDPOINT": world.cloud.base for name in ("SLB", "NLB", "VPC", "ECS", "STS", "EFLO", "CAS", "METADATA")}
    return world.start_ccmd(str(path), {**env, "ALICLOUD_CLIENT_SCHEME": "HTTP", "ACCESS_KEY_ID": ACCESS_KEY, "ACCESS_KEY_SECRET": ACCESS_SECRET})


def check_manifests(reader):
    """One replica, which is not kept away by what a new node has; the image; rights for all that plugins of the configuration do."""
    applied = {item["kind"]: item for item in yaml.safe_load_all((reader.tools / "applied.yaml").read_text())}
    deployment = applied["Deployment"]["spec"]
    pod = deployment["template"]["spec"]
    assert deployment["replicas"] == 1 and pod["containers"][0]["image"].startswith("registry.example.com/ccmd:")
    assert pod["hostNetwork"] and pod["nodeSelector"] == {"node-role.kubernetes.io/control-plane": ""}
    tolerated = {item["key"] for item in pod["tolerations"]}
    assert {nodes.NEW, "node.kubernetes.io/not-ready", "node.kubernetes.io/network-unavailable", "node-role.kubernetes.io/control-plane"} <= tolerated
    assert "kube-system get" not in "".join((reader.tools / "workloads").read_text())


def set_up(reader, routes):
    """Steps 1 to 4: what is left then is the running ccmd."""
    world = reader.world
    reader.run("meta-data/region-id")
    args = reader.kubelet_args()
    assert args == {"cloud-provider": "external", "provider-id": "cn-hangzhou.i-node-1"}
    reader.run("kubeadm init")
    assert (reader.tools / "kubeadm").read_text() == "--pod-network-cidr=172.20.0.0/16\n"
    join(world, "master", args, 1, {"node-role.kubernetes.io/control-plane": "", EXCLUDED: ""})
    reader.run('cp -r "$PREFIX')
    snippet, conf = reader.take("network_condition", "text"), reader.work / "deploy" / "ccmd.conf"
    if routes:
        conf.write_text(re.sub(r"^plugins = \(.*?^\);\n", lambda _: snippet, conf.read_text(), count=1, flags=re.M | re.S))
    done = proc.run([reader.ccmd, "check-config", "--config", conf])
    assert done[0] == 0 and f"plugins: {4 if routes else 3}" in done[1], done
    reader.run("kubectl apply -k deploy")
    check_manifests(reader)
    assert nodes.tainted(world) == ["master"]
    start_ccmd(reader)


def networks(world):
    return [c["status"] for item in world.kube.state()["nodes"] for c in item["status"]["conditions"] if c["type"] == "NetworkUnavailable"]


@pytest.mark.parametrize("routes", (False, True), ids=("overlay", "routes"))
def test_to_the_first_load_balancer(build, prefix, tmp_path, routes):
    with World(build, tmp_path / "world") as world:
        for foreign in FOREIGN:
            world.kube.http.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(*foreign))
        reader = Reader(world, prefix, tmp_path)
        set_up(reader, routes)
        world.wait(lambda: not nodes.tainted(world), "the taint gone", timeout=40)
        world.settled()
        shown = reader.run("kubectl get nodes")
        assert re.search(r"^master +\S.* 10\.1\.0\.11 .*cn-hangzhou-h +ecs\.g7\.large *$", shown, re.M), shown
        for number in (2, 3):
            join(world, f"worker-{number}", {"cloud-provider": "external", "provider-id": f"cn-hangzhou.i-node-{number}"}, number)
        world.wait(lambda: not nodes.tainted(world), "the workers", timeout=40)
        if routes:
            world.wait(lambda: networks(world) == ["False"] * 3, "the word of all networks", timeout=40)
            assert sorted(custom_routes(world.cloud.state())[SYSTEM_TABLE]) == [f"172.20.{number}.0/24" for number in (1, 2, 3)]
        text = reader.take("kubectl create deployment web").splitlines()
        assert text[-1] == "kubectl get service web --watch"
        reader.shell.run("\n".join(text[:-1]))
        address = world.wait(lambda: world.kube.ingress("web"), "the address", timeout=40)[0]["ip"]
        seen = reader.shell.run(f"{text[-1]} || [ $? -eq 124 ]")
        assert address in seen, seen
        world.settled()
        assert [sorted(servers) for servers in views.backends(views.only_lb(world))] == [["i-node-2", "i-node-3"]]
        assert reader.left == []
