"""Rights of plugins: what `ccmd plugins --rbac` prints is enough for a plugin, and what fetch() offers is in the role that is shipped."""

import glob
import os

import pytest
import yaml

from tests.integration.test_least_rights import OFFERED, rules
from tests.integration.test_plugin_raw import BUCKET, Orders
from tests.support import custom, objects, proc
from tests.support.custom import BUCKETS, CRDS
from tests.support.kubesim import NODES, SERVICES, SLICES, KubeSim

BUILD = os.environ.get("CCM_BUILD_DIR", "build/release")
ADMIN = {"Authorization": "Bearer admin"}


def printed(*files):
    code, out, err = proc.run([os.path.join(BUILD, "bin", "ccmd"), "plugins", "--rbac", *files])
    assert code == 0, err
    return out


def rbac(name, folder="tests/abi"):
    return printed(os.path.abspath(os.path.join(BUILD, folder, name + ".so")))


def granted(text):
    """The rules of all roles, as kubesim takes them."""
    found = []
    for role in yaml.safe_load_all(text):
        limit = {"namespaces": [role["metadata"]["namespace"]]} if role["kind"] == "Role" else {}
        found += [{**rule, **limit} for rule in role["rules"]]
    return found


def flat(some):
    return {(verb, f"{rule['apiGroups'][0]}/{resource}") for rule in some for resource in rule["resources"] for verb in rule["verbs"]}


def test_it_is_yaml_that_kubectl_applies(tmp_path):
    text = rbac("raw-write")
    roles = list(yaml.safe_load_all(text))
    assert [(r["kind"], r["metadata"].get("namespace")) for r in roles] == [("ClusterRole", None), ("Role", "default")]
    assert roles[0]["rules"] == [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]},
        {"apiGroups": ["example.com"], "resources": ["buckets"], "verbs": ["get", "create", "update", "patch", "delete"]},
        {"apiGroups": ["example.com"], "resources": ["buckets/status"], "verbs": ["patch"]}]
    assert roles[1]["rules"] == [{"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["s"], "verbs": ["get"]}]
    with KubeSim(BUILD, tmp_path) as kube:
        out = kube.kubectl("apply", "-f", "-", stdin=text)
        assert out == ("clusterrole.rbac.authorization.k8s.io/ccmd-plugin-raw-write created\n"
                       "role.rbac.authorization.k8s.io/ccmd-plugin-raw-write created\n")
        assert "unchanged" in kube.kubectl("apply", "-f", "-", stdin=text)
        assert "ccmd-plugin-raw-write" in kube.kubectl("get", "clusterroles,roles", "-A")


def test_watches_of_one_namespace_need_a_role_there():
    assert [(r["kind"], r["metadata"].get("namespace"), [x["resources"] for x in r["rules"]])
            for r in yaml.safe_load_all(rbac("raw-select"))] == [
        ("ClusterRole", None, [["buckets"]]), ("Role", "other", [["buckets"]]), ("Role", "default", [["configmaps"]])]


def test_the_plugins_of_the_tree_declare_what_the_role_has(build):
    files = sorted(glob.glob(os.path.abspath(os.path.join(build, "plugins", "*.so"))))
    ours = [path for path in files if os.path.basename(path) in ("clb.so", "nlb.so", "route.so", "node.so")]
    assert len(ours) == 4
    shipped = flat(rule for rule in rules() if "namespaces" not in rule)
    rest = {("create", "/events"), ("patch", "/events")}  # of the daemon itself
    offered = {("get", "discovery.k8s.io/endpointslices"), ("get", "/services"), ("get", "/nodes")}
    assert {f"{verb} {resource.split('/')[-1]}" for verb, resource in offered} == OFFERED
    offered.remove(("get", "/nodes"))  # plugin node has it, too
    assert flat(granted(printed(*ours))) == shipped - rest - offered


class Limited(Orders):
    """With a token that allows no more than these rules."""

    def __init__(self, folder, allowed):
        path = folder / "rules.yaml"
        path.write_text(yaml.safe_dump({"users": [{"name": "ccmd", "token": "t", "rules": allowed}]}))
        self.simulator = KubeSim(BUILD, folder, "--rules", str(path), "--token", "admin")
        kubeconfig = folder / "kubeconfig-ccmd"
        with open(self.simulator.kubeconfig, encoding="utf-8") as file:
            config = yaml.safe_load(file)
        config["users"][0]["user"] = {"token": "t"}
        kubeconfig.write_text(yaml.safe_dump(config))
        kubeconfig.chmod(0o600)
        super().__init__(folder, self.simulator, str(kubeconfig))

    def put(self, path, item):
        answer = self.simulator.ask("POST", path, item, headers=ADMIN)
        assert answer.status == 201, answer.text

    def __exit__(self, *what):
        super().__exit__(*what)
        self.simulator.__exit__(*what)


def test_what_is_printed_is_enough_and_no_more(tmp_path):
    with Limited(tmp_path, granted(rbac("raw-write"))) as orders:
        orders.put(CRDS, custom.definition())
        for name in ("s", "t"):
            orders.put("/api/v1/namespaces/default/secrets", {"metadata": {"name": name}})
        orders.do("create", ADMIN, **{**BUCKET, "name": ""}, body=custom.bucket("a"))
        orders.do("patch", ADMIN, **BUCKET, body={"spec": {"x": 1}})
        orders.do("patch", ADMIN, **BUCKET, sub="status", body={"status": {"x": 1}})
        now = orders.do("fetch", ADMIN, **BUCKET)
        orders.do("update", ADMIN, **BUCKET, body=now)
        orders.fail("update", "auth", "check the roles of this user", ADMIN, **BUCKET, sub="status", body=now)
        orders.do("delete", ADMIN, **BUCKET)
        secret = {"api": "v1", "resource": "secrets", "ns": "default"}
        orders.do("fetch", ADMIN, **secret, name="s")
        orders.fail("fetch", "auth", "", ADMIN, **secret, name="t")


@pytest.mark.parametrize("kind, path, item", [
    (1, SERVICES, objects.service("x")), (3, NODES, objects.node("x", "i-1")),
    (2, SLICES, {"metadata": {"name": "x"}, "addressType": "IPv4", "endpoints": []}),
    (4, "/api/v1/namespaces/default/pods", {"metadata": {"name": "x"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}),
])
def test_what_fetch_offers_is_in_the_role_that_is_shipped(tmp_path, kind, path, item):
    watched = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}  # what this plugin watches
    with Limited(tmp_path, [*rules(), watched]) as orders:
        orders.put(path, item)
        assert orders.do("fetch", ADMIN, kind=kind, ns="default", name="x") == "typed"
