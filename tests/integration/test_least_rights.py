"""The rights that etc/kubernetes/base asks for are enough for a whole life of ccmd, and none of them is for nothing."""

import os
import urllib.parse

import pytest
import yaml

from tests.support import kustomize, objects
from tests.support.products import PREFIX, Clb, Nlb
from tests.support.proxy import Proxy
from tests.support.scenario_route import CLUSTER_CIDR, node
from tests.support.world import World

BASE = os.path.join(kustomize.KUBERNETES, "base")
ADMIN, TOKEN = "admin-token", "ccmd-token"
GATE = "service.readiness.alibabacloud.com/web"
# What host->fetch() offers to plugins of others; tests/integration/test_plugin_rights.py uses it. Plugin node gets nodes itself.
OFFERED = {"get services", "get nodes", "get endpointslices"}
VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
PLUGINS = ('{ name = "clb"; workers = 4; }, { name = "nlb"; workers = 4; }, '
           f'{{ name = "route"; cluster_cidr = "{CLUSTER_CIDR}"; }}, {{ name = "node"; gone_confirm_s = 1; }}')


def rules():
    found = kustomize.rules(kustomize.build(BASE))
    assert len(found) > 5
    return found


def wanted(method, target):
    """(verb, group, resource with subresource, namespace, name) of a request."""
    path, _, query = target.partition("?")
    parts = path.strip("/").split("/")
    group = "" if parts[0] == "api" else parts[1]
    parts = parts[2:] if parts[0] == "api" else parts[3:]
    namespace = ""
    if parts[0] == "namespaces":
        namespace, parts = parts[1], parts[2:]
    name = urllib.parse.unquote(parts[1]) if len(parts) > 1 else ""
    asked = urllib.parse.parse_qs(query)
    verb = VERBS.get(method) or ("get" if name else "watch" if "watch" in asked else "list")
    return verb, group, "/".join([parts[0], *parts[2:]]), namespace, name


def needs(rule, verb, resource, request):
    """Whether the request is one that this right is for."""
    its_verb, group, its_resource, namespace, name = request
    return (its_verb == verb and its_resource == resource and group in rule["apiGroups"]
            and namespace in rule.get("namespaces", [namespace]) and name in rule.get("resourceNames", [name]))


class Guarded:
    """A cluster that lets ccmd do no more than the rules say, with a look at all that it asks for."""

    def __init__(self, build, folder, *kube_args, given=None):
        folder.mkdir()
        path = folder / "rules.yaml"
        user = {"name": "system:serviceaccount:kube-system:ccmd", "token": TOKEN, "rules": given or rules()}
        path.write_text(yaml.safe_dump({"users": [user]}))
        self.world = World(build, folder / "world", kube_args=["--token", ADMIN, "--rules", str(path), *kube_args])

    def __enter__(self):
        world = self.world.__enter__()
        world.kube.http.token = ADMIN
        self.way = Proxy(world.kube.base)
        path = os.path.join(world.folder, "kubeconfig-ccmd")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
            yaml.safe_dump({
                "apiVersion": "v1", "kind": "Config", "current-context": "c",
                "clusters": [{"name": "c", "cluster": {"server": self.way.base}}],
                "users": [{"name": "c", "user": {"token": TOKEN}}],
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}]}, file)
        world.kubeconfig = path
        world.config = world.write_config(plugins=PLUGINS, election="enabled = true;")
        return self

    def __exit__(self, *what):
        self.world.__exit__(*what)
        self.way.close()

    def asked(self):
        return {wanted(method, target) for _, method, target in self.way.requests}

    def refused(self):
        calls = self.world.kube.http.request("GET", "/_sim/calls?all=1")["calls"]
        return [call for call in calls if call["http"] in (401, 403)]


def pod(name, ip):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}},
            "spec": {"nodeName": "node-1", "readinessGates": [{"conditionType": GATE}], "containers": [{"name": "c", "image": "i"}]},
            "status": {"podIP": ip, "conditions": [{"type": "ContainersReady", "status": "True"}]}}


def condition(item, kind):
    return next((c["status"] for c in item.get("status", {}).get("conditions", []) if c["type"] == kind), None)


def live(world):
    """Nodes, a Service of each kind, a pod that waits for its load balancer, changes, the end."""
    kube, kinds = world.kube, {"web": Clb(), "net": Nlb()}
    world.start_ccmd()
    kube.create(*[node(f"node-{number}") for number in (1, 2)])
    world.wait(lambda: all(condition(kube.get("Node", f"node-{n}"), "NetworkUnavailable") == "False" for n in (1, 2)),
               "routes and conditions", timeout=30)
    waits = pod("pod-10-1-1-1", "10.1.1.1")
    kube.create(waits)
    kube.patch("Pod", "pod-10-1-1-1", {"status": waits["status"]}, subresource="status")
    eni = {"service.beta.kubernetes.io/backend-type": "eni"}
    web = kube.create(kinds["web"].new("web", annotations=dict(eni)))
    kube.create(objects.endpoint_slice(web, [("10.1.1.1", "node-1", False)]))
    kube.create(kinds["net"].new("net"))
    world.wait(lambda: all(kube.ingress(name) for name in kinds), "addresses", timeout=30)
    world.wait(lambda: condition(kube.get("Pod", "pod-10-1-1-1"), GATE) == "True", "the readiness gate", timeout=30)
    for name, kind in kinds.items():
        for ports in (((80, "TCP"), (443, "TCP")), ((80, "TCP"),)):
            spec = objects.service(name, ports)["spec"]
            kube.patch("Service", name, {"spec": {"ports": spec["ports"]}})
            world.wait(lambda k=kind, p=ports: k.complete(k.only(world), p), f"ports {ports} of {name}", timeout=30)
    # The same thing twice becomes one event with a count.
    for text in ("often", "rarely", "often"):
        seen = sum(event[3] for event in kube.events("web"))
        kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "bandwidth": text}}})
        world.wait(lambda s=seen: sum(event[3] for event in kube.events("web")) > s, "a Warning", timeout=30)
    kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "bandwidth": None}}})
    for name in kinds:
        kube.delete("Service", name)
    world.wait(lambda: not any(kube.get("Service", name) for name in kinds), "deletion", timeout=30)
    world.settled()
    world.cloud.edit("delete", type="instance", id="i-node-2")
    kube.patch("Node", "node-2", {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}, subresource="status")
    world.wait(lambda: kube.get("Node", "node-2") is None, "the node of an instance that is gone", timeout=30)
    world.settled()
    # The lease outlives its holder; the next one updates it.
    world.stop_ccmd()
    world.start_ccmd()
    world.wait(lambda: world.log().count(" leads now") == 2, "the lease", timeout=30)
    world.stop_ccmd()


def test_rights_are_enough_and_each_is_needed(build, tmp_path):
    asked = set()
    for kind, options in (("new", []), ("old", ["--no-streaming-list"])):
        with Guarded(build, tmp_path / kind, *options) as guarded:
            live(guarded.world)
            assert guarded.refused() == []
            asked |= guarded.asked()
    idle = [f"{verb} {resource}" for rule in rules() for resource in rule["resources"] for verb in rule["verbs"]
            if not any(needs(rule, verb, resource, request) for request in asked)]
    assert set(idle) == OFFERED - {"get nodes"}, "rights that nobody used"


def test_the_rules_are_really_asked(build, tmp_path):
    """The test above would see a refusal: what is not granted is refused, and counted."""
    with Guarded(build, tmp_path / "one") as guarded:
        guarded.world.kube.http.token = TOKEN
        for path in ("/api/v1/pods", "/api/v1/namespaces/default/secrets", "/api/v1/namespaces/kube-system/configmaps/x"):
            with pytest.raises(Exception, match="403"):
                guarded.world.kube.http.request("GET", path)
        guarded.world.kube.http.token = ADMIN
        assert len(guarded.refused()) == 3
