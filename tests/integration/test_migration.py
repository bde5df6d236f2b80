"""docs/migration.md, command by command, on clusters as the reference controller leaves them."""

import base64
import json
import os
import re
import shutil
import subprocess

import pytest
import yaml

from tests.integration import test_takeover
from tests.support import objects, pages, proc, reference, scenario_look, service_hash, views
from tests.support.products import PREFIX, Nlb
from tests.support import nodes
from tests.support.scenario_route import CLUSTER_CIDR, SYSTEM_TABLE, custom_routes, node
from tests.support.world import ACCESS_KEY, ACCESS_SECRET, CLUSTER_ID, World

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
CONFIGMAPS = "/api/v1/namespaces/kube-system/configmaps"
DAEMONSET = f"""apiVersion: apps/v1
kind: DaemonSet
metadata:
  creationTimestamp: "2026-01-01T00:00:00Z"
  generation: 3
  name: cloud-controller-manager
  namespace: kube-system
  resourceVersion: "4711"
  uid: 6f6c7f0e-0000-4000-8000-000000000001
spec:
  selector:
    matchLabels:
      app: cloud-controller-manager
  template:
    metadata:
      labels:
        app: cloud-controller-manager
    spec:
      containers:
      - command:
        - /cloud-controller-manager
        - --kubeconfig=/etc/kubernetes/cloud-controller-manager.conf
        - --cloud-config=/etc/kubernetes/config/cloud-config.conf
        - --metrics-bind-addr=0
        - --controllers=node,route,service,nlb
        - --configure-cloud-routes=true
        - --cluster-cidr={CLUSTER_CIDR}
        image: registry.example.com/cloud-controller-manager:v2.14.0
        livenessProbe:
          failureThreshold: 8
          httpGet:
            host: 127.0.0.1
            path: /healthz
            port: 10258
            scheme: HTTP
        name: cloud-controller-manager
      nodeSelector:
        node-role.kubernetes.io/control-plane: ""
status:
  currentNumberScheduled: 3
"""
# Workloads run nowhere here: what concerns them is written down, the rest goes to the real kubectl.
KUBECTL = """#!/bin/bash
case "$*" in
*"get daemonset"*) cat "$TOOLS/daemonset.yaml" ;;
"replace -f"*) n=$(ls "$TOOLS"/replaced-* 2>/dev/null | wc -l); cat "${3/#-//dev/stdin}" >"$TOOLS/replaced-$n"; echo "$*" >>"$TOOLS/workloads" ;;
*"get lease ccm-rest"*) echo master-1_rest ;;
*daemonset* | *deployment* | *"wait --for=delete pod"*) echo "$*" >>"$TOOLS/workloads" ;;
"apply -k"*) echo "$*" >>"$TOOLS/workloads"; exec "$REAL" kustomize "$3" ;;
*) exec "$REAL" "$@" ;;
esac
"""


@pytest.fixture(scope="module")
def prefix(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    done = subprocess.run(["cmake", "--install", build, "--prefix", str(folder)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
    return str(folder)


def b64(text):
    return base64.b64encode(text.encode()).decode()


class Cluster:
    """A world that the reference ran until now: a CLB, an NLB, routes, its Lease, its cloud config."""

    def __init__(self, world, prefix, folder, key_pair):
        self.world, self.key_pair, self.port = world, key_pair, str(proc.free_port())
        tools = folder / "tools"
        tools.mkdir(parents=True)
        (tools / "daemonset.yaml").write_text(DAEMONSET)
        (tools / "kubectl").write_text(KUBECTL)
        (tools / "kubectl").chmod(0o755)
        self.tools = tools
        self.workloads = tools / "workloads"
        cloud = world.cloud.base
        work = folder / "work"
        work.mkdir()
        env = {f"{name}_ENDPOINT": cloud for name in ("SLB", "NLB", "VPC", "ECS", "STS", "EFLO", "CAS", "METADATA")} | {"ALICLOUD_CLIENT_SCHEME": "HTTP"}
        self.shell = pages.Shell(work, {
            **env, "PREFIX": prefix, "PATH": f"{tools}:{prefix}/bin:{os.environ['PATH']}", "TOOLS": str(tools),
            "KUBECONFIG": os.path.abspath(world.kubeconfig), "HOME": str(work), "ACCESS_KEY_ID": "", "ACCESS_KEY_SECRET": "",
            "REAL": shutil.which(os.environ.get("KUBECTL", "kubectl"))})
        self.blocks = [block for block in pages.blocks("migration.md") if block.language == "sh"]

    def run(self, words):
        """The one block of the page that has these words."""
        found = [block for block in self.blocks if words in block.text]
        assert len(found) == 1, f"{words}: {[block.text for block in found]}"
        self.blocks.remove(found[0])
        return self.shell.run(found[0].text.replace(":10258", f":{self.port}"))

    def drop(self, words):
        """A block that is not for this cluster."""
        self.blocks = [block for block in self.blocks if words not in block.text]

    def writes(self, since):
        return [action for action in self.world.cloud.actions(since) if not scenario_look.is_read(action)]

    def kube_writes(self, since):
        return [action for action in self.world.kube.actions(since) if action.split()[0] not in ("GET", "LIST", "WATCH")
                and "/leases" not in action and "/events" not in action]


def leave(world, key_pair):
    """What the reference leaves."""
    config = {"clusterID": CLUSTER_ID}
    if key_pair:
        config.update(accessKeyID=b64(ACCESS_KEY), accessKeySecret=b64(ACCESS_SECRET))
    world.kube.http.request("POST", CONFIGMAPS, {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cloud-config", "namespace": "kube-system"},
        "data": {"cloud-config.conf": json.dumps({"Global": config})}})
    found = nodes.instances(world)
    world.kube.create(*[nodes.initialised(node(f"node-{number}"), found[f"i-node-{number}"]) for number in (1, 2, 3)])
    for number in (1, 2, 3):
        cidr = f"10.96.{number}.0/24"
        done = world.cloud.edit("call", product="vpc", action="CreateRouteEntry", params={
            "RouteTableId": SYSTEM_TABLE, "DestinationCidrBlock": cidr, "NextHopId": f"i-node-{number}", "NextHopType": "Instance"})
        assert done["http"] == 200, done
        world.kube.patch("Node", f"node-{number}", {"status": {"conditions": [
            {"type": "Ready", "status": "True"},
            {"type": "NetworkUnavailable", "status": "False", "reason": "RouteCreated",
             "message": "RouteController created a route"}]}}, subresource="status")
    _, lb = test_takeover.clb_plain(world, reference.Builder(world))
    builder = reference.NlbBuilder(world)
    service = world.kube.create(Nlb().new("shop"))
    made, dns = builder.load_balancer(service)
    port = service["spec"]["ports"][0]
    group = builder.group(service, port["nodePort"], "TCP", test_takeover.instances(port, test_takeover.ALL))
    builder.listener(service, made, port["port"], "TCP", group)
    builder.mark(service, made, hostname=dns)
    # Its process is gone, its Lease not yet: the reference does not give it back. (15 s there; here less, for the test.)
    world.kube.http.request("POST", LEASES, {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "ccm", "namespace": "kube-system"},
        "spec": {"holderIdentity": "master-1_the-reference", "leaseDurationSeconds": 3, "leaseTransitions": 4,
                 "acquireTime": "2026-01-01T00:00:00.000000Z", "renewTime": "2026-01-01T00:00:00.000000Z"}})
    return lb, made


@pytest.fixture(params=["role", "key pair"])
def cluster(request, build, prefix, tmp_path):
    os.umask(0o022)
    with World(build, tmp_path / "world") as world:
        cluster = Cluster(world, prefix, tmp_path, request.param == "key pair")
        cluster.lb, cluster.nlb = leave(world, cluster.key_pair)
        yield cluster
        cluster.shell.close()


def convert(cluster):
    cluster.run("get daemonset")
    if cluster.key_pair:
        cluster.run("--credentials=")
        cluster.drop(">ccmd.conf")
        secret = os.path.join(cluster.shell.folder, "credentials.json")
        assert os.stat(secret).st_mode & 0o777 == 0o600
    else:
        cluster.drop("--credentials=")
        cluster.run(" >ccmd.conf")
    path = os.path.join(cluster.shell.folder, "ccmd.conf")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert text.count("alicloud: {") == 1
    with open(path, "w", encoding="utf-8") as file:  # the simulator has no TLS
        file.write(text.replace("alicloud: {", "alicloud: { plain_http = true;"))
    with open(path, "a", encoding="utf-8") as file:  # tests that run at the same time have one port each
        file.write(f'admin: {{ listen = "127.0.0.1:{cluster.port}"; }};\n')
    cluster.run("check-config")


def start(cluster):
    """Its part as a Deployment is looked at; the process runs on this machine."""
    rendered = {one["kind"]: one for one in yaml.safe_load_all(re.search(
        r"^apiVersion.*", cluster.run("apply -k"), re.M | re.S).group(0))}
    settings = rendered["ConfigMap"]["data"]["ccmd.conf"]
    assert f'cluster_id = "{CLUSTER_ID}"' in settings and "kubeconfig =" not in settings
    for plugin in ("clb", "nlb"):  # Services may use load balancers of persons, which have no tag for that
        assert f'{{ name = "{plugin}"; reuse = "on"; }}' in settings
    pod = rendered["Deployment"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["image"] == "registry.example.com/ccmd:0.1.0"
    assert pod["volumes"][0]["configMap"]["name"] == rendered["ConfigMap"]["metadata"]["name"]
    return cluster.shell.start("ccmd run --config ccmd.conf")


def check_the_rest_is_kept_by_the_reference(cluster):
    """Step 6: the same DaemonSet with other flags and another port for its probe, no longer parked."""
    cluster.run("--controllers=ingress,pvtz")
    ours, theirs = (yaml.safe_load(text) for text in ((cluster.tools / "replaced-0").read_text(), DAEMONSET))
    container = ours["spec"]["template"]["spec"]["containers"][0]
    assert container["command"] == [
        "/cloud-controller-manager", "--controllers=ingress,pvtz", "--leader-elect-resource-name=ccm-rest", "--health-probe-bind-addr=:10268",
        "--metrics-bind-addr=0", "--kubeconfig=/etc/kubernetes/cloud-controller-manager.conf",
        "--cloud-config=/etc/kubernetes/config/cloud-config.conf", "--configure-cloud-routes=true", f"--cluster-cidr={CLUSTER_CIDR}"]
    assert container["livenessProbe"]["httpGet"]["port"] == 10268
    assert ours["metadata"] == {"name": "cloud-controller-manager", "namespace": "kube-system"} and "status" not in ours
    container["command"] = theirs["spec"]["template"]["spec"]["containers"][0]["command"]
    container["livenessProbe"]["httpGet"]["port"] = 10258
    assert ours["spec"] == theirs["spec"]


def test_the_rehearsal_stops_on_values_that_meant_something_else(cluster):
    """PROXY protocol would be switched on under backends that do not speak it: not without being asked."""
    world = cluster.world
    world.kube.patch("Service", "shop", {"metadata": {"annotations": {PREFIX + "proxy-protocol": "true"}}})
    convert(cluster)
    told = cluster.run("ccmd plan")
    assert told.splitlines()[-1] == "0 to change, 9 as they should be, 0 failed", told
    with pytest.raises(AssertionError, match="proxy-protocol"):
        cluster.run("UnclearValue")


def test_the_rehearsal_stops_on_a_backend_that_loses_its_traffic(cluster):
    """A change that the reference has not made yet: a label excludes a node that is ready."""
    world = cluster.world
    world.kube.patch("Node", "node-2", {"metadata": {"labels": {"node.kubernetes.io/exclude-from-external-load-balancers": ""}}})
    convert(cluster)
    rehearsal = next(block for block in cluster.blocks if "ccmd plan" in block.text)
    output = cluster.shell.run(rehearsal.text.strip() + " || true")
    assert output.count("warning: ServingBackendsRemoved: 1 backend(s) that are ready lose their traffic: nodes excluded by label node-2") == 2, output
    with pytest.raises(AssertionError, match="ServingBackendsRemoved"):
        cluster.run("UnclearValue")


@pytest.fixture
def reused(cluster):
    """The reference also serves a Service on a CLB of a person."""
    builder = reference.Builder(cluster.world)
    lb = builder.call("CreateLoadBalancer", AddressType="internet", InstanceChargeType="PayByCLCU", LoadBalancerName="mine",
                      Tag__1__Key="kubernetes.reused.by.user", Tag__1__Value="true")
    service = cluster.world.kube.create(objects.service("mine", annotations={
        PREFIX + "id": lb["LoadBalancerId"], PREFIX + "force-override-listeners": "true"}))
    port = service["spec"]["ports"][0]
    group = builder.group(service, lb["LoadBalancerId"], port["nodePort"], test_takeover.backends(port, test_takeover.ALL))
    builder.listener(service, lb["LoadBalancerId"], port, group)
    builder.mark(service, lb["LoadBalancerId"], ip=lb["Address"])
    return lb["LoadBalancerId"]


def test_the_rehearsal_stops_on_a_load_balancer_that_would_be_refused(cluster, reused):
    """Not with what convert-config writes; with the option of a new cluster it does, and names the remedy."""
    convert(cluster)
    rehearsal = next(block for block in cluster.blocks if "ccmd plan" in block.text)
    stop = next(block for block in cluster.blocks if "UnclearValue" in block.text)
    assert cluster.shell.run(rehearsal.text).splitlines()[-1] == "0 to change, 10 as they should be, 0 failed"
    cluster.shell.run(stop.text)
    cluster.shell.run("sed -i 's/reuse = \"on\"/reuse = \"tagged\"/' ccmd.conf")
    told = cluster.shell.run(rehearsal.text.strip() + ' || echo "code $?"')
    assert f"failed: alicloud: the loadbalancer {reused} can not be reused, option reuse of the CLB plugin is tagged, and its tag " \
        "ccm.alibabacloud.com/allow-namespaces does not name namespace default: whoever owns it may set that tag" in told
    assert told.splitlines()[-2:] == ["0 to change, 9 as they should be, 1 failed", "code 1"]
    with pytest.raises(AssertionError, match="option reuse"):
        cluster.shell.run(stop.text)


def test_there_and_back(cluster):
    world = cluster.world
    before = world.cloud.state()
    cloud, kube = world.cloud.mark(), world.kube.mark()

    convert(cluster)
    told = cluster.run("ccmd plan")
    # Two Services; three nodes, of two plugins each, and the pass over their routes.
    assert told.splitlines()[-1] == "0 to change, 9 as they should be, 0 failed", told
    cluster.run("UnclearValue")
    cluster.run('"parked"')
    process = start(cluster)
    world.wait(lambda: "is held by master-1_the-reference" in process.err(), "a look at the Lease")
    world.wait(lambda: "leads now" in process.err(), "the Lease", timeout=30)
    world.wait(lambda: "ListLoadBalancers" in world.cloud.actions(cloud), "the look-up", timeout=30)
    world.settled(process=process)

    assert cluster.writes(cloud) == []
    assert sorted(cluster.kube_writes(kube)) == [f"PATCH /api/v1/namespaces/default/services/{name}/status" for name in ("shop", "web")]
    assert {key: before[key] for key in ("loadBalancers", "nlbLoadBalancers", "nlbServerGroups", "routes")} == {
        key: world.cloud.state()[key] for key in ("loadBalancers", "nlbLoadBalancers", "nlbServerGroups", "routes")}
    assert all(not world.kube.events(name) for name in ("web", "shop", "node-1"))
    assert "_the-reference" not in cluster.run("get lease ccm ")
    verified = cluster.run("/metrics")
    assert not re.search(r"alicloud_api", verified), verified
    assert sorted(re.findall(r'ccmd_failing_objects\{plugin="(\w+)"\} 0', verified)) == ["clb", "nlb", "node", "route"]

    check_the_rest_is_kept_by_the_reference(cluster)

    # It works: a Service of each kind, and a node.
    ports = world.kube.get("Service", "web")["spec"]["ports"]
    more = {"name": "more", "port": 443, "protocol": "TCP", "targetPort": 8443}
    world.kube.patch("Service", "web", {"spec": {"ports": ports + [more]}})
    world.wait(lambda: views.complete(views.only_lb(world), [(p["port"], p["protocol"]) for p in ports + [more]]), "the port")
    shop = world.kube.get("Service", "shop")
    world.kube.patch("Service", "shop", {"spec": {"ports": shop["spec"]["ports"] + [more]}})
    world.wait(lambda: len(Nlb().only(world)["Listeners"]) == 2 and service_hash.is_current(world.kube.get("Service", "shop")),
               "the port of the NLB", timeout=30)
    world.kube.create(node("node-4"))
    world.wait(lambda: custom_routes(world.cloud.state())[SYSTEM_TABLE].get("10.96.4.0/24") == "i-node-4", "the route")
    world.settled(process=process)

    # And back: the Lease is free at once, and all is as the reference expects it.
    cluster.run("--replicas=0")
    process.stop()
    lease = world.kube.http.request("GET", LEASES + "/ccm")
    assert not lease["spec"].get("holderIdentity") and lease["spec"]["leaseTransitions"] == 5
    test_takeover.clb_is_as_expected(world, cluster.lb)
    test_takeover.nlb_is_as_expected(world, cluster.nlb, "shop")
    routes = custom_routes(world.cloud.state())[SYSTEM_TABLE]
    assert routes == {f"10.96.{number}.0/24": f"i-node-{number}" for number in (1, 2, 3, 4)}
    for number in (1, 2, 3, 4):
        condition = next(one for one in world.kube.get("Node", f"node-{number}")["status"]["conditions"]
                         if one["type"] == "NetworkUnavailable")
        assert (condition["status"], condition["reason"]) == ("False", "RouteCreated")
    assert cluster.blocks == [], [block.text for block in cluster.blocks]
    parked, waited, applied, rolled, rest, watched, scaled, back = cluster.workloads.read_text().splitlines()
    assert "ccmd-migration" in parked and rest == "replace -f ccm-rest.yaml" and back == "replace -f -"
    assert "wait --for=delete" in waited and applied == "apply -k deploy" and "rollout status" in rolled and "scale" in scaled
    assert "rollout status daemonset" in watched
    restored = yaml.safe_load((cluster.tools / "replaced-1").read_text())
    assert restored["spec"] == yaml.safe_load(DAEMONSET)["spec"] and "uid" not in restored["metadata"]
