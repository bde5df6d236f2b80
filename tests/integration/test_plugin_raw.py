"""Objects of any resource, read and written by a plugin: what the host offers for it, and how it refuses."""

import json
import os
import re

import pytest

from tests.support import custom, proc
from tests.support.custom import BUCKETS, CRDS
from tests.support.kubesim import KubeSim
from tests.support.world import World, wait

BUILD = os.environ.get("CCM_BUILD_DIR", "build/release")
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
KINDS = {"none": 0, "transient": 1, "conflict": 3, "not-found": 4, "auth": 5, "terminal": 6, "cancelled": 7, "bug": 8}
BUCKET = {"api": "example.com/v1", "resource": "buckets", "ns": "default", "name": "a"}


class Orders:
    """ccmd with the plugin that does what ConfigMaps say, and the way to tell it."""

    def __init__(self, folder, kube, kubeconfig=None, election="enabled = false;"):
        self.kube, self.count, self.folder = kube, 0, folder
        self.config = str(folder / "ccmd.conf")
        plugin = os.path.abspath(os.path.join(BUILD, "tests", "abi", "raw-write.so"))
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(f'kubernetes: {{ kubeconfig = "{os.path.abspath(kubeconfig or kube.kubeconfig)}"; }};\n'
                       f'leader_election: {{ {election} }};\nadmin: {{ listen = ""; }};\n'
                       f'plugins = ( {{ name = "raw-write"; file = "{plugin}"; }} );\n')
        self.ccmd = None

    def __enter__(self):
        self.ccmd = proc.Process([os.path.join(BUILD, "bin", "ccmd"), "run", "--config", self.config], self.folder / "ccmd")
        return self

    def __exit__(self, kind, *_):
        self.ccmd.stop()

    def write(self, op, headers=None, **words):
        """Tell it; the name of the order."""
        self.count += 1
        words = {key: json.dumps(value) if isinstance(value, (dict, list)) else str(value) for key, value in words.items()}
        name = f"order-{self.count}"
        answer = self.kube.ask("POST", CONFIGMAPS, {"metadata": {"name": name, "annotations": {"op": op, **words}}}, headers=headers)
        assert answer.status == 201, answer.text
        return name

    def result(self, name):
        line = re.compile(rf"default/{name}\b.*did: result (-?\d+) kind (\d+) http (\d+) (.*?) ?answer (.*)$", re.M)
        found = wait(lambda: line.search(self.ccmd.err()) or not self.ccmd.alive(), f"the result of {name}", timeout=30)
        assert found is not True, f"ccmd has ended:\n{self.ccmd.err()}"
        return int(found[1]), int(found[2]), int(found[3]), found[4], None if found[5] == "none" else json.loads(found[5])

    def do(self, op, headers=None, **words):
        """The answer of what has to succeed."""
        r, kind, _, text, answer = self.result(self.write(op, headers, **words))
        assert (r, kind) == (0, 0), text
        return answer

    def fail(self, op, wanted, text, headers=None, **words):
        r, kind, http, said, _ = self.result(self.write(op, headers, **words))
        assert r < 0 and kind == KINDS[wanted] and text in said, (r, kind, said)
        return http


@pytest.fixture
def kube(tmp_path):
    with KubeSim(BUILD, tmp_path) as simulator:
        simulator.post(CRDS, custom.definition())
        yield simulator


@pytest.fixture
def orders(kube, tmp_path):
    with Orders(tmp_path, kube) as running:
        yield running


def test_a_custom_resource_from_its_creation_to_its_end(orders, kube):
    made = orders.do("create", **{**BUCKET, "name": ""}, body=custom.bucket("a", size=1))
    assert made["metadata"]["uid"] and made["spec"] == {"size": 1} == kube.fetch(BUCKETS + "/a")["spec"]
    assert orders.do("fetch", **BUCKET)["metadata"] == made["metadata"]
    assert orders.do("patch", **BUCKET, body={"spec": {"colour": "red"}})["spec"] == {"size": 1, "colour": "red"}
    said = orders.do("patch", **BUCKET, sub="status", body={"status": {"phase": "Ready"}})
    assert said["status"] == {"phase": "Ready"} and said["metadata"]["generation"] == 2
    steps = [{"op": "test", "path": "/spec/size", "value": 1}, {"op": "remove", "path": "/spec/size"}]
    assert orders.do("patch", **BUCKET, patch=3, body=steps)["spec"] == {"colour": "red"}
    now = kube.fetch(BUCKETS + "/a")
    assert orders.do("update", **BUCKET, body={**now, "spec": {"all": "new"}})["spec"] == {"all": "new"}
    assert orders.do("update", **BUCKET, sub="status", body={**kube.fetch(BUCKETS + "/a"), "status": {"n": 1}})["status"] == {"n": 1}
    assert orders.do("delete", **BUCKET) is None
    assert kube.ask("GET", BUCKETS + "/a").status == 404
    assert orders.fail("fetch", "not-found", 'buckets.example.com "a" not found', **BUCKET) == 404


def test_preconditions(orders, kube):
    first = kube.post(BUCKETS, custom.bucket("a", n=1))["metadata"]
    newer = kube.change(BUCKETS + "/a", {"spec": {"n": 2}})
    old, new = first["resourceVersion"], newer["metadata"]["resourceVersion"]
    bare = {**newer, "metadata": {"name": "a"}}
    assert orders.fail("patch", "conflict", "", **BUCKET, version=old, body={"spec": {"n": 3}}) == 409
    orders.fail("patch", "conflict", "", **BUCKET, uid="another", body={"metadata": {"labels": {"a": "b"}}})
    assert orders.fail("update", "conflict", "", **BUCKET, version=old, body=bare) == 409
    assert orders.fail("update", "conflict", "", **BUCKET, version=new, uid="another", body=bare) == 409
    assert orders.fail("delete", "conflict", "UID", **BUCKET, uid="another") == 409
    assert orders.fail("delete", "conflict", "ResourceVersion", **BUCKET, version=old) == 409
    assert orders.fail("create", "conflict", "already exists", **{**BUCKET, "name": ""}, body=custom.bucket("a")) == 409
    assert kube.fetch(BUCKETS + "/a") == newer
    assert orders.do("patch", **BUCKET, version=new, uid=first["uid"], body={"spec": {"n": 3}})["spec"] == {"n": 3}
    assert orders.do("update", **BUCKET, version=kube.fetch(BUCKETS + "/a")["metadata"]["resourceVersion"], body=bare)["spec"] == {"n": 2}
    orders.do("delete", **BUCKET, uid=first["uid"], propagation="Foreground")
    assert kube.fetch(BUCKETS + "/a")["metadata"]["finalizers"] == ["foregroundDeletion"]


def test_secrets_configmaps_and_ingresses(orders, kube):
    kube.post("/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}, "stringData": {"password": "hush"}})
    secret = {"api": "v1", "resource": "secrets", "ns": "default", "name": "s"}
    assert orders.do("fetch", **secret)["data"] == {"password": "aHVzaA=="}
    kube.post(CONFIGMAPS, {"metadata": {"name": "settings"}, "data": {"a": "b"}})
    assert orders.do("fetch", api="v1", resource="configmaps", ns="default", name="settings")["data"] == {"a": "b"}
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
    kube.post(path, {"metadata": {"name": "i"}, "spec": {"defaultBackend": backend}})
    orders.do("patch", api="networking.k8s.io/v1", resource="ingresses", ns="default", name="i", sub="status",
              body={"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}})
    assert kube.fetch(path + "/i")["status"] == {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}
    # the whole cluster's: no namespace
    assert orders.do("fetch", api="v1", resource="namespaces", name="default")["metadata"]["name"] == "default"
    orders.fail("fetch", "not-found", "", api="v1", resource="gizmos", ns="default", name="x")


@pytest.mark.parametrize("op, words, text", [
    ("fetch", {**BUCKET, "name": ""}, "no valid name"),
    ("fetch", {**BUCKET, "name": ".."}, "no valid name"),
    ("fetch", {**BUCKET, "ns": ".."}, "namespace"),
    ("fetch", {**BUCKET, "api": "../v1"}, "api_version"),
    ("fetch", {**BUCKET, "api": "a/b/v1"}, "api_version"),
    ("fetch", {**BUCKET, "resource": "Bucket"}, "resource"),
    ("create", {**BUCKET, "name": ""}, "no body"),
    ("create", {**BUCKET, "body": "{}"}, "subresource"),
    ("patch", {**BUCKET, "body": "{}", "patch": "9"}, "unknown type of patch"),
    ("patch", {**BUCKET, "body": "[]", "patch": "3", "uid": "u"}, "test"),
    ("patch", {**BUCKET, "body": "[]", "uid": "u"}, "no JSON object"),
    ("update", {**BUCKET, "body": '{"metadata":{"uid":"v"}}', "uid": "u"}, "metadata.uid"),
    ("delete", {**BUCKET, "sub": "status"}, "cannot be deleted"),
])
def test_what_cannot_be_sent_is_named(kube, tmp_path, op, words, text):
    with Orders(tmp_path, kube) as orders:
        orders.fail(op, "bug", text, **words)
        assert not [c for c in kube.calls() if "buckets" in c["action"] and c["http"] != 201], "nothing was sent"


def test_names_cannot_leave_their_place(orders, kube):
    orders.fail("fetch", "not-found", "", **{**BUCKET, "name": "a/../../x?y"})
    assert any(c["action"].endswith("/buckets/a/../../x?y") for c in kube.calls())


def test_rights_decide(tmp_path):
    rules = tmp_path / "rules.yaml"
    rules.write_text("""
users:
- name: ccmd
  token: t
  rules:
  - {apiGroups: [""], resources: [configmaps], verbs: [list, watch]}
  - {apiGroups: [example.com], resources: [buckets/status], verbs: [patch]}
""")
    admin = {"Authorization": "Bearer admin"}
    with KubeSim(BUILD, tmp_path, "--rules", str(rules), "--token", "admin") as kube:
        for path, body in ((CRDS, custom.definition()), (BUCKETS, custom.bucket("a"))):
            assert kube.ask("POST", path, body, headers=admin).status == 201
        kubeconfig = tmp_path / "kubeconfig-ccmd"
        with open(kube.kubeconfig, encoding="utf-8") as file:
            kubeconfig.write_text(file.read().replace("token: admin", "token: t").replace('"admin"', '"t"'))
        kubeconfig.chmod(0o600)
        with Orders(tmp_path, kube, str(kubeconfig)) as orders:
            orders.do("patch", admin, **BUCKET, sub="status", body={"status": {"x": 1}})
            for op, words in (("patch", {"body": "{}"}), ("fetch", {}), ("delete", {}), ("update", {"body": "{}"}),
                              ("create", {"name": "", "body": "{}"})):
                assert orders.fail(op, "auth", "check the roles of this user", admin, **{**BUCKET, **words}) == 403


def test_client_certificates(tmp_path):
    """What http() cannot do: the daemon's own connection, whatever its credentials are."""
    tls = tmp_path / "tls"
    tls.mkdir()
    with KubeSim(BUILD, tmp_path, "--tls", str(tls)) as kube:
        kube.trust(str(tls))
        kube.post(CRDS, custom.definition())
        with open(kube.kubeconfig, encoding="utf-8") as file:
            assert "client-certificate" in file.read()
        with Orders(tmp_path, kube) as orders:
            orders.do("create", **{**BUCKET, "name": ""}, body=custom.bucket("a"))
            assert kube.fetch(BUCKETS + "/a")


def test_who_does_not_lead_only_reads(kube, tmp_path):
    kube.post("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
              {"metadata": {"name": "ccm"}, "spec": {"holderIdentity": "another", "leaseDurationSeconds": 3600,
                                                     "acquireTime": "2026-01-01T00:00:00.000000Z",
                                                     "renewTime": "2126-01-01T00:00:00.000000Z"}})
    item = kube.post(BUCKETS, custom.bucket("a"))
    with Orders(tmp_path, kube, election="enabled = true;") as orders:
        assert orders.do("fetch", **BUCKET, early="yes")["metadata"]["name"] == "a"
        for op, words in (("patch", {"body": "{}"}), ("delete", {}), ("update", {"body": "{}"}), ("create", {"name": "", "body": "{}"})):
            orders.fail(op, "cancelled", "", **{**BUCKET, **words}, early="yes")
        assert kube.fetch(BUCKETS + "/a") == item


def test_a_dry_run_writes_nothing(kube, tmp_path):
    item = kube.post(BUCKETS, custom.bucket("a"))
    orders = Orders(tmp_path, kube)
    for op, words in (("fetch", {}), ("patch", {"body": "{}"}), ("delete", {}), ("update", {"body": "{}"}),
                      ("create", {"name": "", "body": "{}"})):
        orders.write(op, **{**BUCKET, **words})
    before = kube.state()["resourceVersion"]
    code, out, err = proc.run([os.path.join(BUILD, "bin", "ccmd"), "plan", "--config", orders.config, "--timeout", "60"])
    assert code == 0, out + err
    results = dict(re.findall(r"order-(\d).*did: result (-?\d+)", err))
    assert results["1"] == "0" and all(results[n] == "-125" for n in "2345"), err
    assert len(re.findall("dry run: nothing is changed", err)) == 4
    assert kube.state()["resourceVersion"] == before and kube.fetch(BUCKETS + "/a") == item


def test_requests_are_counted_and_end_in_time(tmp_path):
    with World(BUILD, tmp_path) as world:
        plugin = os.path.abspath(os.path.join(BUILD, "tests", "abi", "raw-write.so"))
        config = tmp_path / "raw.conf"
        config.write_text(f'kubernetes: {{ kubeconfig = "{world.kubeconfig}"; }};\nleader_election: {{ enabled = false; }};\n'
                          f'admin: {{ listen = "127.0.0.1:0"; }};\n'
                          f'controller: {{ timeout_s = 5; }};\n'
                          f'plugins = ( {{ name = "raw-write"; file = "{plugin}"; }} );\n')
        world.start_ccmd(str(config))
        world.kube.fault("GET /api/v1/namespaces/default/secrets/slow", delay_ms=600000)
        for name in ("missing", "slow"):
            world.kube.http.request("POST", CONFIGMAPS, {"metadata": {"name": name, "annotations": {
                "op": "fetch", "api": "v1", "resource": "secrets", "ns": "default", "name": name}}})
        world.wait(lambda: re.search(r"default/missing\b.*did: result -2 kind 4 http 404", world.log()), "the first", timeout=30)
        world.wait(lambda: re.search(r"default/slow\b.*did: result -\d+ kind [17] http 0", world.log()), "the second", timeout=60)
        world.kube.clear_faults()
