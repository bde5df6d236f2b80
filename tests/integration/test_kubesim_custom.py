"""Custom resources, Secrets and Ingresses in kubesim: as kubectl and watchers see them."""

import json
import os
import re

import pytest

from tests.support import custom
from tests.support.custom import BUCKETS, CRDS, EVERYWHERE
from tests.support.kubesim import MERGE, STRATEGIC, KubeSim
from tests.support.world import wait

BUILD = os.environ.get("CCM_BUILD_DIR", "build/release")
NAME = "buckets.example.com"
SECRETS = "/api/v1/namespaces/default/secrets"
COLUMNS = [{"name": "Colour", "type": "string", "jsonPath": ".spec.colour"},
           {"name": "Size", "type": "integer", "jsonPath": ".status.size", "priority": 1}]


@pytest.fixture
def kube(tmp_path):
    with KubeSim(BUILD, tmp_path, "--controllers") as simulator:
        yield simulator


@pytest.fixture
def defined(kube):
    kube.post(CRDS, custom.definition())
    return kube


def apply(kube, item):
    return kube.kubectl("apply", "-f", "-", stdin=json.dumps(item))


# --- as a person sees it ---

def test_kubectl_from_the_definition_to_its_end(kube):
    code, _, err = kube.kubectl("get", "buckets", check=False)
    assert code == 1 and "the server doesn't have a resource type" in err
    versions = [custom.version(additionalPrinterColumns=COLUMNS)]
    assert apply(kube, custom.definition(versions=versions)) == f"customresourcedefinition.apiextensions.k8s.io/{NAME} created\n"
    kube.kubectl("wait", "--for=condition=established", f"crd/{NAME}", "--timeout=30s")
    assert re.search(rf"^{NAME} +\S+T\S+Z$", kube.kubectl("get", "crd"), re.M)
    assert re.search(r"^buckets +buc +example.com/v1 +true +Bucket$", kube.kubectl("api-resources"), re.M)

    item = custom.bucket("a", colour="red", nested={"list": [1, {"x": "y"}], "none": {}})
    assert apply(kube, item) == "bucket.example.com/a created\n"
    assert apply(kube, item) == "bucket.example.com/a unchanged\n"
    item["spec"]["colour"] = "blue"
    assert apply(kube, item) == "bucket.example.com/a configured\n"
    assert kube.fetch(BUCKETS + "/a")["spec"]["nested"] == {"list": [1, {"x": "y"}], "none": {}}
    assert re.match(r"NAME +COLOUR\na +blue\n$", kube.kubectl("get", "buc"))
    kube.kubectl("patch", "bucket", "a", "--subresource=status", "--type=merge", "-p", '{"status":{"size":7}}')
    assert re.match(r"NAME +COLOUR +SIZE\na +blue +7\n$", kube.kubectl("get", "buc", "-o", "wide"))
    kube.kubectl("label", "bucket", "a", "tier=x")
    assert kube.kubectl("get", "buckets", "-A", "-l", "tier=x", "-o", "name") == "bucket.example.com/a\n"
    assert "Kind:         Bucket" in kube.kubectl("describe", "bucket", "a")
    assert kube.kubectl("delete", "bucket", "a").startswith('bucket.example.com "a" deleted')
    apply(kube, item)
    kube.kubectl("delete", "crd", NAME, "--timeout=30s")
    assert kube.ask("GET", EVERYWHERE).text == "404 page not found\n"
    assert "example.com" not in kube.kubectl("api-versions")


def test_discovery_in_every_form(kube):
    old = custom.version("v1beta1", storage=False)
    kube.post(CRDS, custom.definition(versions=[old, custom.version("v2"), custom.version("v3", served=False, storage=False)]))
    group = kube.fetch("/apis/example.com")
    assert [v["groupVersion"] for v in group["versions"]] == ["example.com/v2", "example.com/v1beta1"]
    assert group["preferredVersion"]["version"] == "v2"
    listed = kube.fetch("/apis/example.com/v2")
    assert [r["name"] for r in listed["resources"]] == ["buckets", "buckets/status"]
    assert listed["resources"][0]["kind"] == "Bucket" and "watch" in listed["resources"][0]["verbs"]
    form = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    groups = kube.ask("GET", "/apis", headers={"Accept": form}).json["items"]
    mine = next(g for g in groups if g["metadata"].get("name") == "example.com")
    assert [v["version"] for v in mine["versions"]] == ["v2", "v1beta1"]
    resource = mine["versions"][0]["resources"][0]
    assert resource["responseKind"] == {"group": "example.com", "version": "v2", "kind": "Bucket"}
    assert resource["subresources"][0]["subresource"] == "status" and resource["shortNames"] == ["buc"]
    assert "apis/example.com/v2" in kube.fetch("/openapi/v3")["paths"]
    assert kube.ask("GET", "/openapi/v3/apis/example.com/v2").status == 200
    assert kube.ask("GET", "/apis/example.com/v3/buckets").status == 404
    # all versions show the same objects
    body = {**custom.bucket("a", x=1), "apiVersion": "example.com/v1beta1"}
    kube.post("/apis/example.com/v1beta1/namespaces/default/buckets", body)
    assert kube.fetch("/apis/example.com/v2/buckets")["items"][0]["spec"] == {"x": 1}


@pytest.mark.parametrize("spoil, field", [
    (lambda d: d["metadata"].update(name="other.example.com"), "metadata.name"),
    (lambda d: d["spec"].update(scope="Galaxy"), "spec.scope"),
    (lambda d: d["spec"]["versions"][0].pop("schema"), "spec.versions[0].schema.openAPIV3Schema"),
    (lambda d: d["spec"]["versions"][0].update(storage=False), "spec.versions"),
])
def test_definitions_are_checked(kube, spoil, field):
    item = custom.definition()
    spoil(item)
    answer = kube.ask("POST", CRDS, item)
    assert answer.status == 422 and [c["field"] for c in answer.json["details"]["causes"]] == [field]


# --- one object ---

def test_metadata_is_the_servers(defined):
    item = defined.post(BUCKETS, {**custom.bucket("", x=1), "metadata": {"generateName": "b-"}, "status": {"mine": True}})
    meta = item["metadata"]
    assert meta["name"].startswith("b-") and meta["uid"] and meta["namespace"] == "default" and meta["generation"] == 1
    assert "status" not in item, "the status is written through its own path"
    path = f"{BUCKETS}/{meta['name']}"
    assert defined.change(path, {"spec": {"x": 2}, "status": {"mine": True}})["metadata"]["generation"] == 2
    changed = defined.change(path + "/status", {"spec": {"x": 3}, "status": {"seen": 2}, "metadata": {"labels": {"a": "b"}}})
    assert changed["status"] == {"seen": 2} and changed["spec"] == {"x": 2} and "labels" not in changed["metadata"]
    assert changed["metadata"]["generation"] == 2
    assert defined.change(path, {"metadata": {"labels": {"a": "b"}}})["metadata"]["generation"] == 2


def test_preconditions(defined):
    item = defined.post(BUCKETS, custom.bucket("a", x=1))
    path, meta = BUCKETS + "/a", item["metadata"]
    again = defined.ask("POST", BUCKETS, custom.bucket("a"))
    assert (again.status, again.json["reason"]) == (409, "AlreadyExists")
    assert f'{NAME} "a" already exists' in again.json["message"]
    bare = {**item, "metadata": {"name": "a"}}
    assert "must be specified for an update" in defined.ask("PUT", path, bare).json["message"]
    newer = defined.ask("PUT", path, {**item, "spec": {"x": 2}}).json
    assert newer["spec"] == {"x": 2} and newer["metadata"]["resourceVersion"] != meta["resourceVersion"]
    assert defined.ask("PUT", path, item).status == 409
    assert defined.ask("PATCH", path, {"metadata": {"resourceVersion": meta["resourceVersion"]}}, MERGE).status == 409
    assert defined.ask("PATCH", path, {"metadata": {"uid": "x"}}, MERGE).status == 422
    for wrong in ({"uid": "x"}, {"resourceVersion": meta["resourceVersion"]}):
        assert defined.ask("DELETE", path, {"preconditions": wrong}).status == 409
    assert defined.ask("DELETE", path, {"preconditions": {"uid": meta["uid"]}}).status == 200
    missing = defined.ask("GET", path)
    assert missing.status == 404 and missing.json["message"] == f'{NAME} "a" not found'


def test_finalizers_hold_it(defined):
    defined.post(BUCKETS, {**custom.bucket("a"), "metadata": {"name": "a", "finalizers": ["example.com/x"]}})
    assert defined.remove(BUCKETS + "/a")["metadata"]["deletionTimestamp"]
    assert defined.change(BUCKETS + "/a", {"metadata": {"finalizers": None}})["kind"] == "Bucket"
    assert defined.ask("GET", BUCKETS + "/a").status == 404
    free = {"metadata": {"name": "b", "finalizers": ["bucket-exists.example.com"]}}
    defined.post(BUCKETS, {**custom.bucket("b"), **free})  # without a slash: of objects of the server itself alone this is refused
    service = {"apiVersion": "v1", "kind": "Service", **free, "spec": {"ports": [{"port": 1}]}}
    assert defined.ask("POST", "/api/v1/namespaces/default/services", service).status == 422


def test_kubectl_creates_what_it_sends_in_binary(kube):
    kube.kubectl("create", "ingress", "web", "--class=slb", "--default-backend=spare:http", "--rule=example.com/a*=front:80,tls=cert",
                 "--rule=/b=back:name", "--annotation=a=b")
    web = kube.fetch("/apis/networking.k8s.io/v1/namespaces/default/ingresses/web")
    assert web["metadata"]["annotations"] == {"a": "b"}
    assert web["spec"] == {
        "ingressClassName": "slb",
        "defaultBackend": {"service": {"name": "spare", "port": {"name": "http"}}},
        "tls": [{"hosts": ["example.com"], "secretName": "cert"}],
        "rules": [
            {"host": "example.com", "http": {"paths": [
                {"path": "/a", "pathType": "Prefix", "backend": {"service": {"name": "front", "port": {"number": 80}}}}]}},
            {"http": {"paths": [
                {"path": "/b", "pathType": "Exact", "backend": {"service": {"name": "back", "port": {"name": "name"}}}}]}}]}
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    kube.kubectl("create", "clusterrole", "reader", "--verb=get,list", "--resource=pods,ingresses.networking.k8s.io")
    assert kube.fetch(f"{rbac}/clusterroles/reader")["rules"] == [
        {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]},
        {"verbs": ["get", "list"], "apiGroups": ["networking.k8s.io"], "resources": ["ingresses"]}]
    kube.kubectl("create", "role", "writer", "--verb=patch", "--resource=services")
    assert kube.fetch(f"{rbac}/namespaces/default/roles/writer")["rules"] == [
        {"verbs": ["patch"], "apiGroups": [""], "resources": ["services"]}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"}
    account = {"kind": "ServiceAccount", "name": "ccmd", "namespace": "kube-system"}
    kube.kubectl("create", "clusterrolebinding", "reader", "--clusterrole=reader", "--serviceaccount=kube-system:ccmd")
    binding = kube.fetch(f"{rbac}/clusterrolebindings/reader")
    assert (binding["roleRef"], binding["subjects"]) == (role, [account])
    kube.kubectl("create", "rolebinding", "reader", "--clusterrole=reader", "--user=me")
    binding = kube.fetch(f"{rbac}/namespaces/default/rolebindings/reader")
    assert binding["roleRef"] == role
    assert binding["subjects"] == [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "me"}]


def test_strategic_patches_are_refused(defined):
    defined.post(BUCKETS, custom.bucket("a"))
    answer = defined.ask("PATCH", BUCKETS + "/a", {"spec": {"x": 1}}, STRATEGIC)
    assert (answer.status, answer.json["reason"]) == (415, "UnsupportedMediaType")


# --- lists and watches ---

def test_selectors_of_lists_and_watches(kube):
    kube.post(CRDS, custom.definition(versions=[custom.version(selectableFields=[{"jsonPath": ".spec.colour"}])]))
    kube.post("/api/v1/namespaces", {"metadata": {"name": "other"}})
    kube.post(BUCKETS, custom.bucket("a", {"tier": "x"}, colour="red"))
    kube.post(BUCKETS, custom.bucket("b", colour="blue"))
    kube.post("/apis/example.com/v1/namespaces/other/buckets", custom.bucket("c", {"tier": "x"}, colour="red"))

    def names(path, **query):
        return [item["metadata"]["name"] for item in kube.fetch(path, **query)["items"]]

    assert names(EVERYWHERE) == ["a", "b", "c"] and names(BUCKETS) == ["a", "b"]
    assert names(EVERYWHERE, labelSelector="tier=x") == ["a", "c"]
    assert names(EVERYWHERE, fieldSelector="metadata.name=b") == ["b"]
    assert names(EVERYWHERE, fieldSelector="spec.colour=red,metadata.namespace=other") == ["c"]
    assert kube.ask("GET", EVERYWHERE + "?fieldSelector=spec.size%3D1").status == 400
    with kube.watch(BUCKETS, labelSelector="tier=x", sendInitialEvents="true",
                    resourceVersionMatch="NotOlderThan", allowWatchBookmarks="true") as watch:
        first, mark = watch.events(2)
        assert (first["type"], first["object"]["metadata"]["name"], mark["type"]) == ("ADDED", "a", "BOOKMARK")
        assert mark["object"]["kind"] == "Bucket"
        kube.change(BUCKETS + "/b", {"metadata": {"labels": {"tier": "x"}}})
        kube.change(BUCKETS + "/a", {"metadata": {"labels": None}})
        assert [(e["type"], e["object"]["metadata"]["name"]) for e in watch.events(2)] == [("ADDED", "b"), ("DELETED", "a")]


def test_the_end_of_a_definition_ends_watches_and_objects(defined):
    held = {"name": "held", "finalizers": ["example.com/x"]}
    defined.post(BUCKETS, {**custom.bucket("held"), "metadata": held})
    defined.post(BUCKETS, custom.bucket("free"))
    with defined.watch(BUCKETS, resourceVersion=0) as watch:
        watch.events(2)
        going = defined.remove(f"{CRDS}/{NAME}")
        assert going["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
        assert [e["object"]["metadata"]["name"] for e in watch.events(2)] == ["free", "held"]
        assert defined.ask("POST", BUCKETS, custom.bucket("late")).status == 405
        assert defined.state()["buckets.example.com"][0]["metadata"]["deletionTimestamp"]
        defined.change(BUCKETS + "/held", {"metadata": {"finalizers": None}})
        assert [(e["type"], e["object"]["metadata"]["name"]) for e in watch.rest()] == [("DELETED", "held")]
    assert defined.ask("GET", BUCKETS).status == 404 and defined.ask("GET", f"{CRDS}/{NAME}").status == 404
    # and once more under the same name
    defined.post(CRDS, custom.definition())
    assert defined.fetch(BUCKETS)["items"] == []


def test_cluster_scope_and_namespaces_that_go(kube, tmp_path):
    kube.post(CRDS, custom.definition("zones", "Zone", "Cluster"))
    kube.post("/apis/example.com/v1/zones", {"apiVersion": "example.com/v1", "kind": "Zone", "metadata": {"name": "z"}})
    assert kube.ask("GET", "/apis/example.com/v1/namespaces/default/zones").status == 404
    kube.post(CRDS, custom.definition())
    kube.kubectl("create", "namespace", "scratch")
    path = "/apis/example.com/v1/namespaces/scratch/buckets"
    kube.post(path, custom.bucket("a"))
    kube.kubectl("delete", "namespace", "scratch", "--timeout=30s")
    assert kube.ask("GET", path + "/a").status == 404 and len(kube.fetch("/apis/example.com/v1/zones")["items"]) == 1
    assert kube.state()["watches"]["buckets.example.com"] == 0


def test_rights_name_group_and_resource(tmp_path):
    rules = tmp_path / "rules.yaml"
    rules.write_text("""
users:
- name: plugin
  token: t
  rules:
  - {apiGroups: [example.com], resources: [buckets], verbs: [get, list], namespaces: [default]}
  - {apiGroups: [example.com], resources: [buckets/status], verbs: [patch], namespaces: [default]}
""")
    token = {"Authorization": "Bearer t"}
    with KubeSim(BUILD, tmp_path, "--rules", str(rules), "--token", "admin") as kube:
        admin = {"Authorization": "Bearer admin"}
        assert kube.ask("POST", CRDS, custom.definition(), headers=admin).status == 201
        assert kube.ask("POST", BUCKETS, custom.bucket("a"), headers=admin).status == 201
        refused = kube.ask("PATCH", BUCKETS + "/a", {"spec": {}}, MERGE, headers=token)
        assert refused.status == 403
        assert 'cannot patch resource "buckets" in API group "example.com" in the namespace "default"' in refused.json["message"]
        assert kube.ask("PATCH", BUCKETS + "/a/status", {"status": {"x": 1}}, MERGE, headers=token).status == 200
        assert kube.ask("GET", BUCKETS, headers=token).status == 200
        assert kube.ask("GET", EVERYWHERE, headers=token).status == 403


def test_state_can_be_restored(defined):
    defined.post(BUCKETS, custom.bucket("a", x=1))
    state = defined.state()
    defined.remove(f"{CRDS}/{NAME}")
    wait(lambda: defined.ask("GET", EVERYWHERE).status == 404, "the end of the kind")
    defined.http.request("POST", "/_sim/restore", state)
    assert defined.fetch(BUCKETS + "/a")["spec"] == {"x": 1}


# --- Secrets and Ingresses ---

def test_secrets(kube):
    kube.kubectl("create", "secret", "generic", "s", "--from-literal=password=hush")
    assert kube.fetch(SECRETS + "/s")["data"] == {"password": "aHVzaA=="}
    assert re.search(r"^s +Opaque +1 +\d+s$", kube.kubectl("get", "secrets"), re.M)
    item = kube.post(SECRETS, {"metadata": {"name": "t"}, "type": "example.com/x", "stringData": {"a": "ä"}, "data": {"b": "Yg=="}})
    assert item["data"] == {"a": "w6Q=", "b": "Yg=="} and "stringData" not in item
    assert [s["metadata"]["name"] for s in kube.fetch(SECRETS, fieldSelector="type=Opaque")["items"]] == ["s"]
    assert kube.ask("PATCH", SECRETS + "/t", {"type": "Opaque"}, MERGE).status == 422
    assert kube.ask("PATCH", SECRETS + "/t", {"data": {"b": "?"}}, MERGE).status == 422


def test_ingresses(kube):
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    item = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "web"},
            "spec": {"ingressClassName": "x", "rules": [
                {"host": "a.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}]}}
    assert "ingress.networking.k8s.io/web created" in apply(kube, item)
    assert "ingress.networking.k8s.io/web unchanged" in apply(kube, item)
    path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses/web"
    made = kube.fetch(path)
    assert made["status"] == {"loadBalancer": {}} and made["metadata"]["generation"] == 1 and made["spec"] == item["spec"]
    kube.change(path + "/status", {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}]}}})
    assert re.search(r"^web +x +a.example.com +192.0.2.7 +80 +\d+s$", kube.kubectl("get", "ing"), re.M)
    code, _, err = kube.kubectl("apply", "-f", "-", stdin=json.dumps({**item, "spec": {}}), check=False)
    assert code == 1 and "either `defaultBackend` or `rules` must be specified" in err
