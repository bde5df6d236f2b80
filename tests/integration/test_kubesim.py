"""The API server simulator on its own terms: kubectl and raw HTTP against the real process."""

import http.client
import json
import os
import re
import stat
import threading

import pytest

from tests.support import objects, proc
from tests.support.kubesim import (
    EVENTS, EVENTS_V1, JSON_PATCH, LEASES, MERGE, NODES, SERVICES, SLICES, STRATEGIC, KubeSim,
)
from tests.support.world import wait

BUILD = os.environ.get("CCM_BUILD_DIR", "build/release")


@pytest.fixture
def kube(tmp_path):
    with KubeSim(BUILD, tmp_path) as simulator:
        yield simulator


def make(kube, *names, **spec):
    return [kube.post(SERVICES, objects.service(name, **spec)) for name in names]


def version(item):
    return item["metadata"]["resourceVersion"]


def names(listing):
    return [item["metadata"]["name"] for item in listing["items"]]


def short(event):
    meta = event["object"]["metadata"]
    return event["type"], meta.get("name"), meta["resourceVersion"]


# --- kubectl ---

SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: LoadBalancer
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}]
"""

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {node-role.kubernetes.io/worker: ""}}
spec: {providerID: cn-hangzhou.i-1, podCIDR: 10.244.1.0/24}
status:
  conditions: [{type: Ready, status: "True", reason: KubeletReady}]
  addresses: [{type: InternalIP, address: 10.0.0.1}]
  nodeInfo: {kubeletVersion: v1.36.0, osImage: Debian}
"""

SLICE = """
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.244.1.5], conditions: {ready: true}, nodeName: n1}]
"""


def test_kubectl_service(kube):
    assert "service/web created" in kube.kubectl("apply", "-f", "-", stdin=SERVICE)
    assert "service/web unchanged" in kube.kubectl("apply", "-f", "-", stdin=SERVICE)
    more = SERVICE.replace("targetPort: 8080}", "targetPort: 9090}, {name: https, port: 443}")
    assert "service/web configured" in kube.kubectl("apply", "-f", "-", stdin=more)

    ports = kube.fetch(SERVICES + "/web")["spec"]["ports"]
    assert [(p["name"], p["port"], p["targetPort"]) for p in ports] == [("http", 80, 9090), ("https", 443, 443)]
    assert "service/web configured" in kube.kubectl("apply", "-f", "-", stdin=SERVICE)
    assert len(kube.fetch(SERVICES + "/web")["spec"]["ports"]) == 1

    row = kube.kubectl("get", "svc", "-o", "wide").splitlines()
    assert re.match(r"NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE +SELECTOR", row[0])
    assert re.match(r"web +LoadBalancer +10\.[\d.]+ +<pending> +80:3\d{4}/TCP +\d+s +app=web", row[1])
    assert "loadBalancer: {}" in kube.kubectl("get", "svc", "web", "-o", "yaml")
    assert kube.kubectl("get", "svc", "web", "-o", "jsonpath={.spec.type}") == "LoadBalancer"

    kube.change(SERVICES + "/web/status", {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}})
    assert "192.0.2.1" in kube.kubectl("get", "svc", "web")
    if modern():
        kube.kubectl("wait", "svc/web", "--for=jsonpath={.status.loadBalancer.ingress[0].ip}=192.0.2.1")

    kube.kubectl("label", "svc", "web", "tier=front")
    kube.kubectl("annotate", "svc", "web", "note=x")
    assert "web" in kube.kubectl("get", "svc", "-l", "tier=front")
    kube.kubectl("label", "svc", "web", "tier-")
    assert "tier" not in kube.fetch(SERVICES + "/web")["metadata"].get("labels", {})
    for kind, patch in (
        ("merge", '{"spec":{"externalTrafficPolicy":"Local"}}'),
        ("strategic", '{"metadata":{"finalizers":["example.com/x"]}}'),
        ("json", '[{"op":"remove","path":"/metadata/finalizers"}]'),
    ):
        assert "patched" in kube.kubectl("patch", "svc", "web", "--type", kind, "-p", patch)
    assert "healthCheckNodePort" in kube.fetch(SERVICES + "/web")["spec"]

    kube.kubectl("delete", "svc", "web")
    code, _, err = kube.kubectl("get", "svc", "web", check=False)
    assert code == 1 and 'services "web" not found' in err


def modern():
    """Whether kubectl is younger than the oldest one we support (1.20)."""
    return proc.kubectl_minor() >= 23


def test_kubectl_nodes_slices_events(kube):
    kube.kubectl("apply", "-f", "-", stdin=NODE + "---" + SLICE + "---" + SERVICE)
    kube.kubectl("wait", "--for=condition=Ready", "node/n1", "--timeout=10s")
    assert re.search(r"n1 +Ready +worker +\d+s +v1\.36\.0 +10\.0\.0\.1", kube.kubectl("get", "nodes", "-o", "wide"))
    kube.kubectl("cordon", "n1")
    assert "Ready,SchedulingDisabled" in kube.kubectl("get", "nodes")
    kube.kubectl("uncordon", "n1")
    assert "ProviderID:" in kube.kubectl("describe", "node", "n1")
    assert re.search(r"web-1 +IPv4 +8080 +10\.244\.1\.5", kube.kubectl("get", "endpointslices"))

    uid = kube.fetch(SERVICES + "/web")["metadata"]["uid"]
    kube.post(EVENTS, event("web.1", uid))
    assert "Ensured load balancer" in kube.kubectl("describe", "svc", "web")
    assert re.search(r"Normal +EnsuredLoadBalancer +service/web +Ensured", kube.kubectl("get", "events"))
    kube.kubectl("delete", "node/n1", "endpointslice/web-1")
    assert kube.fetch(NODES)["items"] == []


def test_kubectl_refuses_a_typo(kube):
    code, _, err = kube.kubectl("apply", "-f", "-", stdin=SERVICE.replace("selector", "selectr"), check=False)
    if modern():
        assert code == 1 and 'unknown field "spec.selectr"' in err
    assert "services" in kube.kubectl("api-resources")
    assert "v1.36" in kube.kubectl("version")


def test_kubectl_watch(kube, tmp_path):
    make(kube, "web")
    command = [os.environ.get("KUBECTL", "kubectl"), "--kubeconfig", kube.kubeconfig, "get", "svc", "-w"]
    watch = proc.Process([*command, "--cache-dir", str(tmp_path / "cache")], tmp_path / "watch")
    wait(lambda: kube.open_watches("services") == 1, "kubectl's watch")
    kube.change(SERVICES + "/web/status", {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}]}}})
    wait(lambda: "192.0.2.7" in watch.out(), "the row of the change")
    watch.kill()


# --- list ---

def test_pages_are_one_snapshot(kube):
    make(kube, "a", "b", "c", "d", "e")
    first = kube.fetch(SERVICES, limit=2)
    assert names(first) == ["a", "b"] and first["metadata"]["remainingItemCount"] == 3
    make(kube, "bb")
    kube.remove(SERVICES + "/d")
    kube.change(SERVICES + "/c", {"metadata": {"labels": {"new": "1"}}})
    second = kube.fetch(SERVICES, limit=2, **{"continue": first["metadata"]["continue"]})
    assert names(second) == ["c", "d"] and version(second) == version(first)
    assert "labels" not in second["items"][0]["metadata"]
    last = kube.fetch(SERVICES, limit=2, **{"continue": second["metadata"]["continue"]})
    assert names(last) == ["e"] and "continue" not in last["metadata"]
    assert names(kube.fetch(SERVICES)) == ["a", "b", "bb", "c", "e"]
    exact = kube.fetch(SERVICES, resourceVersion=version(first), resourceVersionMatch="Exact")
    assert names(exact) == ["a", "b", "c", "d", "e"]

    kube.watches("expire", "services")
    gone = kube.ask("GET", SERVICES, limit=2, **{"continue": first["metadata"]["continue"]})
    assert gone.status == 410 and gone.json["reason"] == "Expired"
    rest = kube.fetch(SERVICES, limit=9, **{"continue": gone.json["metadata"]["continue"]})
    assert names(rest) == ["bb", "c", "e"]


def test_selectors(kube):
    make(kube, "a", "b")
    kube.change(SERVICES + "/a", {"metadata": {"labels": {"tier": "web"}}})
    kube.change(SERVICES + "/b", {"spec": {"type": "ClusterIP"}})
    assert names(kube.fetch(SERVICES, labelSelector="tier in (web,db)")) == ["a"]
    assert names(kube.fetch(SERVICES, fieldSelector="spec.type=ClusterIP")) == ["b"]
    assert names(kube.fetch("/api/v1/services", fieldSelector="metadata.name!=a")) == ["b"]


# --- watch ---

def test_watch_replays_and_goes_on(kube):
    start = version(kube.fetch(SERVICES))
    make(kube, "a")
    kube.change(SERVICES + "/a", {"metadata": {"labels": {"x": "1"}}})
    kube.remove(SERVICES + "/a")
    with kube.watch(SERVICES, resourceVersion=start, timeoutSeconds=20) as watch:
        events = watch.events(3)
        assert [e["type"] for e in events] == ["ADDED", "MODIFIED", "DELETED"]
        versions = [int(version(e["object"])) for e in events]
        assert versions == sorted(set(versions))
        make(kube, "b")
        assert short(watch.event())[:2] == ("ADDED", "b")
    with kube.watch(SERVICES, resourceVersion=versions[1], timeoutSeconds=20) as watch:
        assert short(watch.event())[:2] == ("DELETED", "a")


def test_watch_ends_by_its_time(kube):
    with kube.watch(SERVICES, timeoutSeconds=1) as watch:
        assert watch.rest() == []


def test_watch_of_a_selection(kube):
    make(kube, "a")
    with kube.watch(SERVICES, labelSelector="tier=web", timeoutSeconds=20) as watch:
        kube.change(SERVICES + "/a", {"metadata": {"labels": {"tier": "web"}}})
        kube.change(SERVICES + "/a", {"metadata": {"annotations": {"x": "1"}}})
        left = kube.change(SERVICES + "/a", {"metadata": {"labels": {"tier": "db"}}})
        events = watch.events(3)
        assert [e["type"] for e in events] == ["ADDED", "MODIFIED", "DELETED"]
        # What left shows its old labels and the version of the change.
        assert events[2]["object"]["metadata"]["labels"] == {"tier": "web"}
        assert version(events[2]["object"]) == version(left)


def test_bookmarks(tmp_path):
    with KubeSim(BUILD, tmp_path, "--bookmark-ms", "50") as kube:
        with kube.watch(SERVICES, allowWatchBookmarks="true", timeoutSeconds=20) as watch:
            last = version(kube.post(NODES, {"metadata": {"name": "n"}}))
            wait(lambda: version(watch.event()["object"]) == last, "a bookmark that moved on")
        with kube.watch(SERVICES, timeoutSeconds=1) as watch:
            assert watch.rest() == []


STREAMING = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "timeoutSeconds": 20}


def test_streaming_list(kube):
    make(kube, "a", "b")
    kube.remove(SERVICES + "/a")
    make(kube, "c")
    with kube.watch(SERVICES, allowWatchBookmarks="true", **STREAMING) as watch:
        assert [short(e)[:2] for e in watch.events(2)] == [("ADDED", "b"), ("ADDED", "c")]
        bookmark = watch.event()
        assert bookmark["type"] == "BOOKMARK"
        assert bookmark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert version(bookmark["object"]) == version(kube.fetch(SERVICES))
        make(kube, "d")
        assert short(watch.event())[:2] == ("ADDED", "d")
    refused = kube.ask("GET", SERVICES, watch=1, sendInitialEvents="true")
    assert refused.status == 422 and refused.json["reason"] == "Invalid"


def test_streaming_list_can_be_off(tmp_path):
    with KubeSim(BUILD, tmp_path, "--no-streaming-list") as kube:
        answer = kube.ask("GET", SERVICES, watch=1, **STREAMING)
        assert answer.status == 422 and "WatchList" in answer.json["message"]


def test_old_version_expires(tmp_path):
    with KubeSim(BUILD, tmp_path, "--history", "4") as kube:
        start = version(kube.fetch(SERVICES))
        make(kube, *"abcdef")
        with kube.watch(SERVICES, resourceVersion=start, timeoutSeconds=20) as watch:
            assert watch.status == 200
            error = watch.event()
            assert error["type"] == "ERROR"
            assert (error["object"]["code"], error["object"]["reason"]) == (410, "Expired")
            assert watch.event() is None


def test_orders_for_open_watches(kube):
    make(kube, "a")
    here = version(kube.fetch(SERVICES))

    def opened(**query):
        watch = kube.watch(SERVICES, resourceVersion=here, **{"timeoutSeconds": 20, **query})
        wait(lambda: kube.open_watches("services") == 1, "the watch")
        return watch

    def closed():
        wait(lambda: kube.open_watches("services") == 0, "the watch to be closed")

    with opened() as watch:
        assert kube.watches("drop", "services") == {"watches": 1}
        with pytest.raises(http.client.IncompleteRead):
            watch.line()
    closed()
    with opened() as watch:
        kube.watches("truncate", "services")
        with pytest.raises(http.client.IncompleteRead):
            watch.event()
        assert watch.buffer.startswith(b'{"type":"MODIFIED"')
    closed()
    with opened() as watch:
        kube.watches("garbage", "services")
        with pytest.raises(ValueError):
            json.loads(watch.line())
        make(kube, "b")
        assert short(watch.event())[:2] == ("ADDED", "b")
    closed()
    with opened() as watch:
        kube.watches("end", "services")
        watch.rest()
    closed()
    with opened() as watch:
        kube.watches("error", "services")
        assert watch.rest()[-1]["object"]["code"] == 500
    closed()
    with opened() as watch:
        watch.event()
        kube.watches("expire", "services")
        assert watch.rest() == []
    closed()
    with kube.watch(SERVICES, resourceVersion=here) as watch:
        assert watch.event()["object"]["code"] == 410


def test_objects_of_a_backup(kube, tmp_path):
    """They are there as they were, whoever watches hears of them, and what they have taken is taken."""
    make(kube, "a", "b")
    kube.change(SERVICES + "/a", {"metadata": {"finalizers": ["example.com/kept"]}})
    kube.remove(SERVICES + "/a")
    backup = kube.state()
    kube.change(SERVICES + "/a", {"metadata": {"finalizers": None}})
    kube.remove(SERVICES + "/b")
    with KubeSim(BUILD, tmp_path / "another") as other:
        with other.watch(SERVICES, resourceVersion=0, timeoutSeconds=20) as watch:
            assert other.ask("POST", "/_sim/restore", backup).status == 200
            assert [event["type"] for event in watch.events(2)] == ["ADDED", "ADDED"]

        def plain(items):
            return [{**item, "metadata": {**item["metadata"], "resourceVersion": ""}} for item in items]
        assert plain(other.state()["services"]) == plain(backup["services"])
        going = other.fetch(SERVICES + "/a")["metadata"]
        assert going["deletionTimestamp"] and going["uid"] == backup["services"][0]["metadata"]["uid"]
        ports = {port["nodePort"] for item in backup["services"] for port in item["spec"]["ports"]}
        taken = objects.service("c")
        taken["spec"]["ports"][0]["nodePort"] = min(ports)
        assert other.ask("POST", SERVICES, taken).status == 422
        assert other.ask("POST", "/_sim/restore", []).status == 400


def test_silent_watch(kube):
    here = version(kube.fetch(SERVICES))
    with kube.watch(SERVICES, resourceVersion=here, timeoutSeconds=3, timeout=5.0) as watch:
        wait(lambda: kube.open_watches("services") == 1, "the watch")
        kube.watches("silence", "services")
        make(kube, "a")
        with pytest.raises(TimeoutError):
            watch.line()
        assert kube.open_watches("services") == 1


def test_all_watchers_see_the_same(kube):
    start = version(kube.fetch(SERVICES))
    seen = [[] for _ in range(6)]

    def follow(found):
        with kube.watch(SERVICES, resourceVersion=start, timeoutSeconds=60) as watch:
            while not found or found[-1][1] != "last":
                found.append(short(watch.event()))

    def write(number):
        for i in range(10):
            make(kube, f"s{number}-{i}")
            kube.change(f"{SERVICES}/s{number}-{i}", {"metadata": {"labels": {"x": "1"}}})
            kube.remove(f"{SERVICES}/s{number}-{i}")

    threads = [threading.Thread(target=follow, args=(found,)) for found in seen]
    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads + writers:
        thread.start()
    for thread in writers:
        thread.join()
    make(kube, "last")
    for thread in threads:
        thread.join()
    assert len(seen[0]) == 4 * 10 * 3 + 1
    assert all(found == seen[0] for found in seen)


# --- writing ---

def test_versions_conflicts_and_no_ops(kube):
    created = make(kube, "a")[0]
    same = kube.change(SERVICES + "/a", {"metadata": {"labels": None}})
    assert version(same) == version(created)
    changed = kube.change(SERVICES + "/a", {"metadata": {"labels": {"x": "1"}, "resourceVersion": version(created)}})
    assert version(changed) != version(created)
    stale = kube.ask("PATCH", SERVICES + "/a", {"metadata": {"resourceVersion": version(created)}}, MERGE)
    assert (stale.status, stale.json["reason"]) == (409, "Conflict")
    stale = kube.ask("PUT", SERVICES + "/a", created)
    assert (stale.status, stale.json["reason"]) == (409, "Conflict")
    foreign = {"metadata": {"uid": "00000000-0000-0000-0000-000000000000"}}
    assert kube.ask("PATCH", SERVICES + "/a", foreign, MERGE).status == 422
    assert "generation" not in changed["metadata"]

    slice_ = kube.post(SLICES, {"metadata": {"generateName": "a-"}, "addressType": "IPv4", "endpoints": []})
    assert re.fullmatch(r"a-[a-z0-9]{5}", slice_["metadata"]["name"]) and slice_["metadata"]["generation"] == 1
    path = f"{SLICES}/{slice_['metadata']['name']}"
    assert kube.change(path, {"metadata": {"labels": {"x": "1"}}})["metadata"]["generation"] == 1
    body = {"endpoints": [{"addresses": ["10.0.0.1"]}]}
    assert kube.change(path, body)["metadata"]["generation"] == 2


def test_status_is_apart(kube):
    make(kube, "a")
    ingress = {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}
    assert kube.change(SERVICES + "/a", {"status": ingress})["status"] == {"loadBalancer": {}}
    both = {"metadata": {"labels": {"via": "status"}}, "spec": {"externalTrafficPolicy": "Local"}, "status": ingress}
    after = kube.change(SERVICES + "/a/status", both)
    assert after["status"] == {"loadBalancer": {"ingress": [{"ip": "192.0.2.1", "ipMode": "VIP"}]}}
    assert after["spec"]["externalTrafficPolicy"] == "Cluster"
    assert after["metadata"]["labels"] == {"via": "status"}
    after = kube.change(SERVICES + "/a", {"spec": {"type": "ClusterIP"}})
    assert after["status"] == {"loadBalancer": {}}
    assert kube.ask("PATCH", SERVICES + "/a/status", {"status": ingress}, MERGE).status == 422


def test_finalizers_hold_an_object(kube):
    service = objects.service("a")
    service["metadata"]["finalizers"] = ["example.com/one", "example.com/two"]
    kube.post(SERVICES, service)
    start = version(kube.fetch(SERVICES))
    assert "deletionTimestamp" in kube.remove(SERVICES + "/a")["metadata"]
    again = kube.ask("POST", SERVICES, service)
    assert again.status == 409 and again.json["message"].startswith("object is being deleted: ")
    more = {"metadata": {"finalizers": ["example.com/one", "example.com/new"]}}
    assert kube.ask("PATCH", SERVICES + "/a", more, MERGE).status == 422
    kube.change(SERVICES + "/a", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/one"]}}, STRATEGIC)
    kube.change(SERVICES + "/a", [{"op": "remove", "path": "/metadata/finalizers"}], JSON_PATCH)
    assert kube.get("Service", "a") is None
    with kube.watch(SERVICES, resourceVersion=start, timeoutSeconds=20) as watch:
        assert [e["type"] for e in watch.events(3)] == ["MODIFIED", "MODIFIED", "DELETED"]


def test_delete_preconditions(kube):
    first = make(kube, "a")[0]
    options = {"kind": "DeleteOptions", "apiVersion": "v1"}
    for wrong in ({"uid": "00000000-0000-0000-0000-000000000000"}, {"resourceVersion": "1"}):
        assert kube.ask("DELETE", SERVICES + "/a", {**options, "preconditions": wrong}).status == 409
    kube.remove(SERVICES + "/a", {**options, "dryRun": ["All"]})
    right = {"uid": first["metadata"]["uid"], "resourceVersion": version(first)}
    kube.remove(SERVICES + "/a", {**options, "propagationPolicy": "Background", "preconditions": right})
    assert kube.ask("DELETE", SERVICES + "/a").status == 404
    assert kube.post(NODES, {"metadata": {"name": "n"}})["spec"]["taints"]
    assert kube.remove(NODES + "/n")["status"] == "Success"


def event(name, uid="u"):
    return {
        "metadata": {"name": name, "namespace": "default"},
        "involvedObject": {"kind": "Service", "namespace": "default", "name": "web", "uid": uid, "apiVersion": "v1"},
        "reason": "EnsuredLoadBalancer",
        "message": "Ensured load balancer",
        "source": {"component": "ccmd"},
        "firstTimestamp": "2026-01-01T10:00:00Z",
        "lastTimestamp": "2026-01-01T10:00:00Z",
        "count": 1,
        "type": "Normal",
    }


def test_events_have_two_forms(kube):
    kube.post(EVENTS, event("web.1"))
    kube.change(EVENTS + "/web.1", {"count": 2}, STRATEGIC)
    other = kube.fetch(EVENTS_V1 + "/web.1")
    assert (other["note"], other["regarding"]["name"], other["deprecatedCount"]) == ("Ensured load balancer", "web", 2)
    assert other["apiVersion"] == "events.k8s.io/v1"
    kube.post(EVENTS_V1, {
        "metadata": {"name": "web.2"}, "eventTime": "2026-01-01T10:00:00.123456Z", "type": "Warning",
        "reportingController": "example.com/ccmd", "reportingInstance": "i", "action": "A", "reason": "R",
        "regarding": event("x")["involvedObject"], "note": "text",
    })
    assert kube.fetch(EVENTS + "/web.2")["message"] == "text"
    assert names(kube.fetch(EVENTS, fieldSelector="involvedObject.name=web,type=Warning")) == ["web.2"]
    assert names(kube.fetch(EVENTS_V1, fieldSelector="regarding.name=web,reason=EnsuredLoadBalancer")) == ["web.1"]
    lost = event("web.3")
    lost["involvedObject"]["namespace"] = "other"
    assert kube.ask("POST", EVENTS, lost).status == 422


def test_lease(kube):
    spec = {"holderIdentity": "a", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T10:00:00.000000Z",
            "leaseTransitions": 0}
    lease = kube.post(LEASES, {"metadata": {"name": "ccm"}, "spec": spec})
    assert lease["spec"] == {**spec}
    assert kube.ask("POST", LEASES, {"metadata": {"name": "ccm"}}).json["reason"] == "AlreadyExists"
    renewed = kube.ask("PUT", LEASES + "/ccm", {**lease, "spec": {**spec, "renewTime": "2026-01-01T12:00:02.000000+02:00"}})
    assert renewed.status == 200 and renewed.json["spec"]["renewTime"] == "2026-01-01T10:00:02.000000Z"
    assert kube.ask("PUT", LEASES + "/ccm", lease).json["reason"] == "Conflict"
    del lease["metadata"]["resourceVersion"]
    assert kube.ask("PUT", LEASES + "/ccm", lease).status == 422
    short_time = {"metadata": {"name": "x"}, "spec": {"renewTime": "2026-01-01T10:00:00Z"}}
    refused = kube.ask("POST", LEASES, short_time)
    assert refused.status == 400 and 'cannot parse "Z" as ".000000"' in refused.json["message"]


# --- errors ---

@pytest.mark.parametrize(
    "method, path, body, content_type, status, reason, message",
    [
        ("GET", SERVICES + "/nope", None, None, 404, "NotFound", 'services "nope" not found'),
        ("GET", LEASES + "/nope", None, None, 404, "NotFound", 'leases.coordination.k8s.io "nope" not found'),
        ("GET", "/api/v1/nonsense", None, None, 404, "NotFound", "the server could not find the requested resource"),
        ("PATCH", SERVICES + "/nope/foo", {}, MERGE, 404, "NotFound", "the server could not find the requested resource"),
        ("POST", SERVICES + "/nope", {}, "application/json", 405, "MethodNotAllowed", "does not allow this method"),
        ("PUT", SERVICES, {}, "application/json", 405, "MethodNotAllowed", "does not allow this method"),
        ("PATCH", SERVICES + "/nope", {}, "application/json", 415, "UnsupportedMediaType", "415"),
        ("POST", SERVICES, "x", "text/plain", 415, "UnsupportedMediaType", "unknown format"),
        ("POST", SERVICES, '{"kind":', "application/json", 400, "BadRequest", "unexpected end of JSON input"),
        ("POST", SERVICES, {"metadata": {"name": "a"}, "spec": {"ports": [{"port": "80"}]}}, "application/json", 400,
         "BadRequest", "cannot unmarshal string into Go struct field ServicePort.spec.ports.port of type int32"),
        ("POST", SERVICES, {"kind": "Pod", "metadata": {"name": "a"}}, "application/json", 400, "BadRequest",
         "cannot be handled as a Service"),
        ("POST", SERVICES, {"metadata": {"name": "a", "namespace": "b"}}, "application/json", 400, "BadRequest",
         "does not match the namespace sent on the request"),
        ("POST", "/api/v1/namespaces/none/services", {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 1}]}},
         "application/json", 404, "NotFound", 'namespaces "none" not found'),
        ("POST", SERVICES, {"metadata": {"name": "Bad"}, "spec": {"ports": [{"port": 1}]}}, "application/json", 422,
         "Invalid", 'Service "Bad" is invalid: metadata.name: Invalid value: "Bad": a lowercase RFC 1123 label'),
        ("GET", SERVICES + "?labelSelector=a%3D%3D%3Db", None, None, 400, "BadRequest", "found '=', expected: identifier"),
        ("GET", SERVICES + "?fieldSelector=spec.foo%3Dx", None, None, 400, "BadRequest", "field label not supported"),
        ("GET", SERVICES + "?limit=abc", None, None, 400, "BadRequest", 'parsing "abc": invalid syntax'),
        ("GET", SERVICES + "?continue=garbage", None, None, 400, "BadRequest", "invalid continue token"),
        ("GET", SERVICES + "?watch=1&resourceVersion=abc", None, None, 500, None, "invalid syntax"),
        ("POST", SERVICES + "?dryRun=Some", {}, "application/json", 422, "Invalid", "Unsupported value"),
    ],
)
def test_errors(kube, method, path, body, content_type, status, reason, message):
    answer = kube.ask(method, path, body, content_type)
    assert answer.status == status, answer.text
    assert answer.json["kind"] == "Status" and answer.json["code"] == status
    assert answer.json.get("reason") == reason and message in answer.json["message"]


def test_sizes_are_limited(kube):
    answer = kube.ask("POST", SERVICES, "x" * 3145729)
    assert (answer.status, answer.json["reason"]) == (413, "RequestEntityTooLarge")
    make(kube, "a")
    answer = kube.ask("PATCH", SERVICES + "/a", {"metadata": {"annotations": {"a": "x" * 262144}}}, MERGE)
    assert answer.status == 422 and "may not be more than 262144 bytes" in answer.json["message"]
    answer = kube.ask("POST", "/api/v1/namespaces/default/configmaps",
                      {"metadata": {"name": "big"}, "data": {"a": "x" * 1600000}})
    assert (answer.status, answer.json["message"]) == (500, "etcdserver: request is too large")


def test_plain_paths(kube):
    assert [kube.ask("GET", p).text for p in ("/healthz", "/livez", "/readyz")] == ["ok"] * 3
    assert kube.ask("GET", "/foo").status == 404
    assert kube.ask("GET", SERVICES, headers={"Accept": "text/html"}).status == 406
    pretty = kube.ask("GET", SERVICES, headers={"User-Agent": "curl/8.0"}).text
    assert json.loads(pretty)["items"] == [] and '\n  "kind": "ServiceList"' in pretty
    warned = kube.ask("POST", SERVICES, {"metadata": {"name": "a"}, "spec": {"typo": 1, "ports": [{"port": 1}]}})
    assert warned.status == 201 and warned.headers["Warning"] == '299 - "unknown field \\"spec.typo\\""'


# --- credentials ---

def test_token(tmp_path):
    with KubeSim(BUILD, tmp_path, "--token", "s3cret") as kube:
        assert kube.ask("GET", SERVICES).status == 403
        assert kube.ask("GET", SERVICES, headers={"Authorization": "Bearer wrong"}).status == 401
        assert kube.ask("GET", SERVICES, headers={"Authorization": "Bearer s3cret"}).status == 200
        assert kube.ask("GET", "/livez").status == 200
        assert stat.S_IMODE(os.stat(kube.kubeconfig).st_mode) == 0o600


def test_tls_and_client_certificate(tmp_path):
    tls = tmp_path / "tls"
    tls.mkdir()
    with KubeSim(BUILD, tmp_path, "--tls", str(tls), "--token", "s3cret") as kube:
        kube.trust(str(tls), client=False)
        assert kube.ask("GET", SERVICES).status == 403
        kube.trust(str(tls))
        assert kube.ask("GET", SERVICES).status == 200
        kube.kubectl("get", "svc")
        # the control endpoints are served over TLS as well, so the state is read that way
        assert kube.ask("GET", "/_sim/state").status == 200
    with KubeSim(BUILD, tmp_path / "again", "--tls", str(tls)) as kube:
        assert "client-certificate-data" in open(kube.kubeconfig, encoding="utf-8").read()
        kube.kubectl("get", "svc")


# --- faults and the log ---

def test_faults(kube):
    make(kube, "a")
    kube.fault("GET /api/v1/namespaces/default/services/a", http=500, message="down")
    answer = kube.ask("GET", SERVICES + "/a")
    assert (answer.status, answer.json["reason"], answer.json["message"]) == (500, "InternalError", "down")
    assert kube.ask("GET", SERVICES + "/a").status == 200
    kube.fault("PATCH *", code="Conflict")
    assert kube.ask("PATCH", SERVICES + "/a", {}, MERGE).status == 409
    kube.fault("LIST *", http=429, headers={"Retry-After": "1"})
    answer = kube.ask("GET", SERVICES)
    assert (answer.status, answer.headers["Retry-After"]) == (429, "1")
    for cut, label in (("before", None), ("after", "1")):
        kube.fault("PATCH *", cut=cut)
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            kube.ask("PATCH", SERVICES + "/a", {"metadata": {"labels": {cut: "1"}}}, MERGE)
        assert kube.get("Service", "a")["metadata"].get("labels", {}).get(cut) == label
    kube.fault("WATCH *", cut="after")
    with kube.watch(SERVICES) as watch:
        assert watch.status == 200
        with pytest.raises(http.client.IncompleteRead):
            watch.line()
    kube.fault("WATCH /api/v1/namespaces/default/services", http=410, code="Expired")
    answer = kube.ask("GET", SERVICES, watch=1, resourceVersion=5)
    assert (answer.status, answer.json["reason"]) == (410, "Expired")


def test_calls_are_logged(kube):
    make(kube, "a")
    kube.change(SERVICES + "/a/status", {"status": {}}, fieldManager="x")
    kube.fetch(SERVICES, limit=5)
    calls = kube.calls()
    assert [call["action"] for call in calls] == [
        f"CREATE {SERVICES}", f"PATCH {SERVICES}/a/status", f"LIST {SERVICES}",
    ]
    assert [call["http"] for call in calls] == [201, 200, 200]
    assert calls[1]["params"] == {"fieldManager": "x", "body": '{"status": {}}'}
