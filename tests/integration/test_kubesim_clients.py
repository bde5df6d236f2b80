"""Clients that are not ours against kubesim: kubectl command by command, and the official Python client."""

import datetime
import os
import re
import threading

import kubernetes
import pytest

from tests.support import objects, proc
from tests.support.kubesim import EVENTS, SERVICES, KubeSim
from tests.support.world import wait

BUILD = os.environ.get("CCM_BUILD_DIR", "build/release")
NAME = "web"
LEASE = "ccm"
SYSTEM = "kube-system"

MANIFEST = """
apiVersion: v1
kind: Service
metadata: {name: web, labels: {app: web}}
spec:
  type: LoadBalancer
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}]
"""


@pytest.fixture
def kube(tmp_path):
    with KubeSim(BUILD, tmp_path, "--controllers") as simulator:
        yield simulator


@pytest.fixture
def web(kube):
    kube.post(SERVICES, objects.service(NAME))
    return kube


def get(kube, *path):
    item = kube.fetch(f"{SERVICES}/{NAME}")
    for part in path:
        item = item.get(part, {})
    return item


# --- kubectl: each test is what a person types ---

def test_get_in_every_form(web):
    assert re.search(r"^web +LoadBalancer +10\.[\d.]+ +<pending> +80:3\d{4}/TCP", web.kubectl("get", "svc"), re.M)
    assert web.kubectl("get", "svc", "-o", "name") == "service/web\n"
    assert web.kubectl("get", "svc", "web", "-o", "jsonpath={.spec.ports[0].port}") == "80"
    assert web.kubectl("get", "svc", "--no-headers", "-o", "custom-columns=T:.spec.type") == "LoadBalancer\n"
    assert '"kind": "List"' in web.kubectl("get", "svc,endpointslices", "-o", "json")
    assert "default" in web.kubectl("get", "svc", "-A")
    assert web.kubectl("get", "all", "--field-selector", "metadata.name=web", "-o", "name") == "service/web\n"
    code, _, err = web.kubectl("get", "svc", "nope", check=False)
    assert code == 1 and 'services "nope" not found' in err


def test_describe_shows_spec_endpoints_and_events(web):
    uid = get(web, "metadata", "uid")
    reference = {"kind": "Service", "namespace": "default", "name": NAME, "uid": uid, "apiVersion": "v1"}
    web.post(EVENTS, {"metadata": {"name": "web.1"}, "involvedObject": reference, "reason": "EnsuredLoadBalancer",
                      "message": "Ensured", "type": "Normal", "count": 1, "source": {"component": "ccmd"}})
    text = web.kubectl("describe", "svc", NAME)
    for line in (r"Type: +LoadBalancer", r"Port: +tcp-80 +80/TCP", r"External Traffic Policy: +Cluster",
                 r"Normal +EnsuredLoadBalancer .*ccmd +Ensured"):
        assert re.search(line, text), text


def test_apply_creates_changes_and_leaves_alone(kube):
    assert "service/web created" in kube.kubectl("apply", "-f", "-", stdin=MANIFEST)
    version = get(kube, "metadata", "resourceVersion")
    assert "service/web unchanged" in kube.kubectl("apply", "-f", "-", stdin=MANIFEST)
    assert get(kube, "metadata", "resourceVersion") == version
    kube.change(SERVICES + "/web", {"metadata": {"annotations": {"theirs": "1"}}})
    changed = MANIFEST.replace("port: 80,", "port: 81,")
    assert "service/web configured" in kube.kubectl("apply", "-f", "-", stdin=changed)
    assert [port["port"] for port in get(kube, "spec", "ports")] == [81]
    assert get(kube, "metadata", "annotations")["theirs"] == "1"
    if proc.kubectl_minor() >= 23:  # older ones read from OpenAPI v2 whether dryRun exists
        assert "configured (server dry run)" in kube.kubectl("apply", "--dry-run=server", "-f", "-", stdin=MANIFEST)
        assert [port["port"] for port in get(kube, "spec", "ports")] == [81]


def test_server_side_apply_is_refused_in_words(kube):
    code, _, err = kube.kubectl("apply", "--server-side", "-f", "-", stdin=MANIFEST, check=False)
    assert code == 1 and "Server-side apply not available on the server" in err


def test_edit_and_patch(web, tmp_path, monkeypatch):
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/externalTrafficPolicy: Cluster/externalTrafficPolicy: Local/" "$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("KUBE_EDITOR", str(editor))
    assert "service/web edited" in web.kubectl("edit", "svc", NAME)
    assert get(web, "spec", "externalTrafficPolicy") == "Local" and get(web, "spec", "healthCheckNodePort")
    for kind, patch in (("merge", '{"spec":{"externalTrafficPolicy":"Cluster"}}'),
                        ("strategic", '{"metadata":{"finalizers":["example.com/x"]}}'),
                        ("json", '[{"op":"remove","path":"/metadata/finalizers"}]')):
        assert "patched" in web.kubectl("patch", "svc", NAME, "--type", kind, "-p", patch)
    assert get(web, "spec", "externalTrafficPolicy") == "Cluster" and not get(web, "metadata", "finalizers")
    code, _, err = web.kubectl("patch", "svc", NAME, "-p", '{"spec":{"clusterIP":"10.96.0.77"}}', check=False)
    assert code == 1 and "may not change once set" in err


def test_label_and_annotate(web):
    web.kubectl("label", "svc", NAME, "tier=front")
    assert web.kubectl("get", "svc", "-l", "tier in (front)", "-o", "name") == "service/web\n"
    code, _, err = web.kubectl("label", "svc", NAME, "tier=back", check=False)
    assert code == 1 and "overwrite" in err
    web.kubectl("label", "svc", NAME, "tier=back", "--overwrite")
    web.kubectl("label", "svc", NAME, "tier-")
    web.kubectl("annotate", "svc", NAME, "example.com/note=x")
    assert get(web, "metadata", "annotations")["example.com/note"] == "x"
    web.kubectl("annotate", "svc", NAME, "example.com/note-")
    assert "tier" not in get(web, "metadata", "labels") and not get(web, "metadata", "annotations")


def test_delete_waits_for_the_finalizer(web, tmp_path):
    web.change(f"{SERVICES}/{NAME}", {"metadata": {"finalizers": ["example.com/x"]}})
    command = [os.environ.get("KUBECTL", "kubectl"), "--kubeconfig", web.kubeconfig, "--cache-dir", str(tmp_path / "c")]
    process = proc.Process([*command, "delete", "svc", NAME, "--timeout=60s"], tmp_path / "delete")
    wait(lambda: get(web, "metadata", "deletionTimestamp"), "the deletion")
    wait(lambda: web.open_watches("services") == 1, "kubectl to wait")
    assert process.alive()
    web.change(f"{SERVICES}/{NAME}", {"metadata": {"finalizers": None}})
    assert process.wait_exit() == 0 and 'service "web" deleted' in process.out()


def test_wait_for_what_is_and_what_comes(web, tmp_path):
    web.post("/api/v1/nodes", objects.node("n1", "i-1"))
    web.kubectl("wait", "--for=condition=Ready", "node/n1", "--timeout=30s")
    command = [os.environ.get("KUBECTL", "kubectl"), "--kubeconfig", web.kubeconfig, "--cache-dir", str(tmp_path / "c")]
    process = proc.Process([*command, "wait", "--for=delete", "svc/web", "--timeout=60s"], tmp_path / "wait")
    wait(lambda: web.open_watches("services") == 1, "kubectl to wait")
    web.remove(f"{SERVICES}/{NAME}")
    assert process.wait_exit() == 0, process.err()
    code, _, err = web.kubectl("wait", "--for=condition=Gone", "node/n1", "--timeout=1s", check=False)
    assert code == 1 and "timed out" in err


def test_get_watch_prints_each_change(web, tmp_path):
    command = [os.environ.get("KUBECTL", "kubectl"), "--kubeconfig", web.kubeconfig, "--cache-dir", str(tmp_path / "c")]
    watch = proc.Process([*command, "get", "svc", "-w"], tmp_path / "watch")
    wait(lambda: web.open_watches("services") == 1, "kubectl's watch")
    for address in ("192.0.2.7", "192.0.2.8"):
        web.change(f"{SERVICES}/{NAME}/status", {"status": {"loadBalancer": {"ingress": [{"ip": address}]}}})
        wait(lambda: address in watch.out(), "the row of the change")
    assert watch.out().count("EXTERNAL-IP") == 1
    watch.kill()


def test_create_by_typed_clients(kube):
    """These send the binary form where kubectl is young enough."""
    kube.kubectl("create", "service", "loadbalancer", NAME, "--tcp=80:8080", "--tcp=443:https")
    ports = [(p["name"], p["port"], p["targetPort"]) for p in get(kube, "spec", "ports")]
    assert ports == [("80-8080", 80, 8080), ("443-https", 443, "https")]
    assert get(kube, "spec", "type") == "LoadBalancer" and get(kube, "spec", "selector") == {"app": NAME}
    kube.kubectl("create", "namespace", "scratch")
    kube.kubectl("create", "configmap", "-n", "scratch", "settings", "--from-literal=a=b", "--from-literal=c=d")
    assert kube.fetch("/api/v1/namespaces/scratch/configmaps/settings")["data"] == {"a": "b", "c": "d"}
    kube.kubectl("create", "serviceaccount", "-n", "scratch", "robot")
    code, _, err = kube.kubectl("create", "service", "nodeport", "BAD", "--tcp=80:80", check=False)
    assert code == 1 and 'Invalid value: "BAD"' in err
    kube.kubectl("delete", "namespace", "scratch", "--timeout=30s")
    assert kube.ask("GET", "/api/v1/namespaces/scratch/configmaps/settings").status == 404


def test_namespace_waits_for_what_is_in_it(kube):
    kube.kubectl("create", "namespace", "scratch")
    held = objects.service("held", namespace="scratch")
    held["metadata"]["finalizers"] = ["example.com/x"]
    path = "/api/v1/namespaces/scratch/services"
    kube.post(path, held)
    kube.post(path, objects.service("free", namespace="scratch"))
    kube.kubectl("delete", "namespace", "scratch", "--wait=false")
    assert kube.fetch("/api/v1/namespaces/scratch")["status"]["phase"] == "Terminating"
    left = kube.fetch(path)["items"]
    assert [item["metadata"]["name"] for item in left] == ["held"] and left[0]["metadata"]["deletionTimestamp"]
    refused = kube.ask("POST", path, objects.service("late", namespace="scratch"))
    assert refused.status == 403 and refused.json["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    kube.change(path + "/held", {"metadata": {"finalizers": None}})
    assert kube.ask("GET", "/api/v1/namespaces/scratch").status == 404


def test_namespace_without_controllers_stays(tmp_path):
    with KubeSim(BUILD, tmp_path) as kube:
        kube.kubectl("create", "namespace", "scratch")
        kube.kubectl("delete", "namespace", "scratch", "--wait=false")
        stays = kube.fetch("/api/v1/namespaces/scratch")
        assert stays["spec"]["finalizers"] == ["kubernetes"] and stays["status"]["phase"] == "Terminating"


# --- the official Python client ---

@pytest.fixture
def python(kube):
    return kubernetes.config.new_client_from_config(kube.kubeconfig)


@pytest.fixture
def core(python):
    return kubernetes.client.CoreV1Api(python)


@pytest.fixture
def leases(python):
    return kubernetes.client.CoordinationV1Api(python)


def test_python_lists_in_pages(core, kube):
    for number in range(7):
        core.create_namespaced_service("default", objects.service(f"s{number}"))
    page = core.list_service_for_all_namespaces(limit=3)
    names = [item.metadata.name for item in page.items]
    for _ in range(2):
        page = core.list_service_for_all_namespaces(limit=3, _continue=page.metadata._continue)
        names += [item.metadata.name for item in page.items]
    assert page.metadata._continue is None
    assert names == [f"s{number}" for number in range(7)]
    assert [call["params"].get("limit") for call in kube.calls() if call["action"].startswith("LIST")] == ["3"] * 3
    assert core.read_namespaced_service("s1", "default").spec.ports[0].node_port >= 30000
    with pytest.raises(kubernetes.client.ApiException) as error:
        core.read_namespaced_service("none", "default")
    assert error.value.status == 404 and error.value.reason == "Not Found"


def test_python_watches_until_the_time_is_up(core):
    core.create_namespaced_service("default", objects.service("a"))
    start = core.list_namespaced_service("default").metadata.resource_version
    core.create_namespaced_service("default", objects.service("b"))
    core.delete_namespaced_service("a", "default")
    watch = kubernetes.watch.Watch()
    seen = [
        (event["type"], event["object"].metadata.name)
        for event in watch.stream(core.list_namespaced_service, "default", resource_version=start, timeout_seconds=1)
    ]
    assert seen == [("ADDED", "b"), ("DELETED", "a")]


def test_python_watch_learns_that_its_version_is_gone(core, kube):
    start = core.list_namespaced_service("default").metadata.resource_version
    core.create_namespaced_service("default", objects.service("a"))
    kube.watches("expire", "services")
    with pytest.raises(kubernetes.client.ApiException) as error:
        list(kubernetes.watch.Watch().stream(core.list_namespaced_service, "default", resource_version=start,
                                             timeout_seconds=5))
    assert error.value.status == 410


def test_python_patches_status(core):
    core.create_namespaced_service("default", objects.service("a"))
    body = {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}}
    assert not core.patch_namespaced_service("a", "default", body).status.load_balancer.ingress
    after = core.patch_namespaced_service_status("a", "default", body)
    assert after.status.load_balancer.ingress[0].ip == "192.0.2.1"
    node = core.create_node(objects.node("n1", "i-1"))
    condition = {"type": "NetworkUnavailable", "status": "False", "reason": "RouteCreated"}
    node = core.patch_node_status("n1", {"status": {"conditions": [condition]}})
    assert {(c.type, c.status) for c in node.status.conditions} == {("Ready", "True"), ("NetworkUnavailable", "False")}


def test_python_replaces_and_conflicts(core):
    core.create_namespaced_service("default", objects.service("a"))
    mine = core.read_namespaced_service("a", "default")
    theirs = core.read_namespaced_service("a", "default")
    theirs.metadata.annotations = {"who": "they"}
    core.replace_namespaced_service("a", "default", theirs)
    mine.metadata.annotations = {"who": "me"}
    with pytest.raises(kubernetes.client.ApiException) as error:
        core.replace_namespaced_service("a", "default", mine)
    assert error.value.status == 409
    assert core.read_namespaced_service("a", "default").metadata.annotations == {"who": "they"}


class Candidate:
    """What a leader election does: one object, create or replace, and a conflict means that another was faster."""

    def __init__(self, leases, identity):
        self.leases = leases
        self.identity = identity
        self.seen = None

    def try_hold(self):
        now = datetime.datetime.now(datetime.timezone.utc)
        client = kubernetes.client
        try:
            self.seen = self.leases.read_namespaced_lease(LEASE, SYSTEM)
        except client.ApiException as error:
            if error.status != 404:
                raise
            spec = client.V1LeaseSpec(holder_identity=self.identity, lease_duration_seconds=15, acquire_time=now,
                                      renew_time=now, lease_transitions=0)
            body = client.V1Lease(metadata=client.V1ObjectMeta(name=LEASE), spec=spec)
            return self.write(lambda: self.leases.create_namespaced_lease(SYSTEM, body))
        spec = self.seen.spec
        if spec.holder_identity not in (None, "", self.identity):
            return False
        if spec.holder_identity != self.identity:
            spec.acquire_time, spec.lease_transitions = now, (spec.lease_transitions or 0) + 1
        spec.holder_identity, spec.renew_time = self.identity, now
        return self.write(lambda: self.leases.replace_namespaced_lease(LEASE, SYSTEM, self.seen))

    def write(self, call):
        try:
            self.seen = call()
            return True
        except kubernetes.client.ApiException as error:
            if error.status != 409:
                raise
            return False

    def release(self):
        self.seen.spec.holder_identity = ""
        return self.write(lambda: self.leases.replace_namespaced_lease(LEASE, SYSTEM, self.seen))


def test_python_holds_a_lease(leases):
    first, second = Candidate(leases, "first"), Candidate(leases, "second")
    assert first.try_hold() and not second.try_hold()
    assert first.try_hold() and first.seen.spec.lease_transitions == 0
    assert first.release() and second.try_hold()
    assert second.seen.spec.lease_transitions == 1 and not first.try_hold()
    # What the first one still believes is old: its write must not count.
    stale = Candidate(leases, "second")
    assert stale.try_hold() and not second.release()


def test_only_one_of_many_gets_the_lease(leases):
    candidates = [Candidate(leases, f"c{number}") for number in range(8)]
    won = []
    threads = [threading.Thread(target=lambda c=c: won.append(c.try_hold())) for c in candidates]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False] * 7 + [True]


def test_python_follows_events_and_slices(python, core):
    service = objects.service("a")
    core.create_namespaced_service("default", service)
    slices = kubernetes.client.DiscoveryV1Api(python)
    slices.create_namespaced_endpoint_slice("default", objects.endpoint_slice(service, [("10.1.0.1", "n1")]))
    found = slices.list_namespaced_endpoint_slice("default", label_selector="kubernetes.io/service-name=a").items
    assert [endpoint.addresses for item in found for endpoint in item.endpoints] == [["10.1.0.1"]]
    reference = kubernetes.client.V1ObjectReference(kind="Service", name="a", namespace="default")
    core.create_namespaced_event("default", kubernetes.client.CoreV1Event(
        metadata=kubernetes.client.V1ObjectMeta(generate_name="a."), involved_object=reference, reason="Synced",
        message="done", type="Normal"))
    events = core.list_namespaced_event("default", field_selector="involvedObject.name=a,reason=Synced").items
    assert [event.message for event in events] == ["done"]
