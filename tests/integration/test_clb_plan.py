"""What `ccmd plan` says about Services of CLB: one line for each step, with what is there and what would be; and nothing is
written."""

import json
import re

import pytest

from tests.support import objects, proc, reference, service_hash, views
from tests.support.products import PREFIX, Clb, Nlb, default_name

CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers"
BACKEND_TYPE = "service.beta.kubernetes.io/backend-type"
PORTS = ((80, "TCP"), (443, "TCP"))


def plan(world, *args):
    """(exit code, lines)"""
    cloud, kube = world.cloud.mark(), world.kube.mark()
    code, out, err = proc.run([world.binary("ccmd"), "plan", "--config", world.config, *args],
                              env={"ACCESS_KEY_ID": "testAccessKeyId", "ACCESS_KEY_SECRET": "testAccessKeySecret"})
    assert proc.COMPLAINT.search(err.encode()) is None, err
    assert [a for a in world.cloud.actions(cloud) if not a.startswith(("Describe", "List"))] == []
    assert [a for a in world.kube.actions(kube) if a.split()[0] not in ("GET", "LIST", "WATCH")] == []
    return code, out.splitlines()


def annotated(world, service, **annotations):
    world.kube.patch("Service", service, {"metadata": {"annotations": {
        PREFIX + key.replace("_", "-"): value for key, value in annotations.items()}}})


def finished(world, *services, options="", product=Clb()):
    """The Services are as they should be, and ccmd is gone."""
    product.configure(world, options)
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(*services)
    for service in services:
        name = service["metadata"]["name"]
        world.wait(lambda n=name: reference.HASH_LABEL in world.kube.get("Service", n)["metadata"].get("labels", {}), name)
    world.settled()
    world.stop_ccmd()


def group(world, port, name="web"):
    """(name, id) of the group of a port."""
    service = world.kube.get("Service", name)
    wanted = reference.key(next(p["nodePort"] for p in service["spec"]["ports"] if p["port"] == port), service)
    return next((g["VServerGroupName"], g["VServerGroupId"]) for lb in world.cloud.load_balancers()
                for g in lb["VServerGroups"] if g["VServerGroupName"] == wanted)


def test_creation(world):
    Clb().configure(world)
    views.nodes(world, 2)
    service = world.kube.create(objects.service("web", ((80, "TCP"),), annotations={PREFIX + "scheduler": "wrr"}))
    node_port = service["spec"]["ports"][0]["nodePort"]
    key = reference.key(node_port, service)
    code, lines = plan(world)
    assert code == 3
    assert lines == [
        "clb default/web",
        "    add finalizer service.k8s.alibaba/resources to the Service",
        f"    create load balancer: LoadBalancerName {default_name(service['metadata']['uid'])}, AddressType internet, "
        "InstanceChargeType PayByCLCU, ModificationProtectionStatus ConsoleProtection, DeleteProtection on",
        f"    create server group 80/tcp {key} [i-node-1:{node_port}=100 i-node-2:{node_port}=100]",
        f"    create listener 80/tcp {key}: Scheduler wrr",
        "    start listener 80/tcp",
        "    set labels and status of the Service",
        "    set condition ccm.alibabacloud.com/LoadBalancerReady to True (Ready)",
        "1 to change, 0 as they should be, 0 failed",
    ]
    assert world.cloud.load_balancers() == []


def test_nothing_to_change(world):
    finished(world, objects.service("web", PORTS))
    assert plan(world) == (0, ["0 to change, 1 as they should be, 0 failed"])


def test_changes_say_from_what_to_what(world):
    finished(world, objects.service("web", PORTS, annotations={PREFIX + "instance-charge-type": "PayBySpec"}))
    lb = views.only_lb(world)
    name, group_id = group(world, 80)
    backend = next(g for g in lb["VServerGroups"] if g["VServerGroupId"] == group_id)["BackendServers"][0]
    world.cloud.edit("update", type="backend", vserver_group=group_id, server_id=backend["ServerId"],
                     port=int(backend["Port"]), attributes={"Weight": "7"})
    annotated(world, "web", name="shop", spec="slb.s2.small", delete_protection="off", charge_type="paybybandwidth", bandwidth="7",
              established_timeout="60", scheduler="wrr", additional_resource_tags="team=a")
    world.kube.patch("Service", "web", {"spec": {"ports": [
        p for p in world.kube.get("Service", "web")["spec"]["ports"] if p["port"] == 80]}})
    stale, stale_id = next((g["VServerGroupName"], g["VServerGroupId"]) for g in lb["VServerGroups"]
                           if g["VServerGroupId"] != group_id)
    code, lines = plan(world)
    assert code == 3
    old = world.kube.get("Service", "web")["metadata"]["labels"][reference.HASH_LABEL]
    new = service_hash.of(world.kube.get("Service", "web"))
    assert re.fullmatch("    set label service.k8s.alibaba/additional-tags: none -> [A-Za-z0-9]{4}", lines.pop(-2))
    assert lines == [
        "clb default/web",
        "    tag load balancer team=a",
        "    change specification slb.s1.small -> slb.s2.small",
        f"    change traffic charge paybytraffic {lb['Bandwidth']} -> paybybandwidth 7",
        "    set deletion protection on -> off",
        f"    rename load balancer {lb['LoadBalancerName']} -> shop",
        "    delete listener 443/tcp",
        f"    set weights 80/tcp {name} ({group_id}) [{backend['ServerId']}:{backend['Port']}=7->100]",
        f"    update listener 80/tcp {name} ({group_id}): Scheduler rr -> wrr, EstablishedTimeout 900 -> 60",
        f"    delete server group {stale} ({stale_id})",
        f"    set label {reference.HASH_LABEL}: {old} -> {new}",
        "1 to change, 0 as they should be, 0 failed",
    ]


def test_a_backend_that_is_kept_is_a_warning_and_no_step(world):
    finished(world, objects.service("web", PORTS))
    world.kube.delete("Node", "node-2")
    code, lines = plan(world)
    assert code == 0
    assert lines[0] == "clb default/web" and lines[2:] == ["0 to change, 1 as they should be, 0 failed"]
    assert lines[1].startswith("    warning: BackendsFrozen: 2 backend(s) are kept as they are (nodes missing: i-node-2); next look at ")


def test_a_service_without_backends_is_at_rest(world):
    """Once `ccmd run` has reported it, there is nothing to announce."""
    Clb().configure(world, "unserved_wait_s = 0;")
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS, annotations={BACKEND_TYPE: "eni"}))
    world.wait(lambda: world.kube.get("Service", "web")["status"]["conditions"][0]["reason"] == "NoReadyBackend", "the condition")
    world.settled()
    world.stop_ccmd()
    code, lines = plan(world)
    assert code == 0 and lines[-1] == "0 to change, 1 as they should be, 0 failed", lines


def warnings(lines):
    return [line.strip() for line in lines if line.startswith("    warning: ")]


@pytest.mark.parametrize("product", (Clb(), Nlb()), ids=lambda product: product.name)
@pytest.mark.parametrize("policy", ("Cluster", "Local"))
def test_a_serving_backend_that_is_removed_is_marked(world, product, policy):
    """Its node is ready, and so is its pod: people have to know before they start. Not where nothing is lost."""
    service = product.new("web", ((80, "TCP"),), policy=policy)
    finished(world, service, product=product)
    world.kube.create(objects.endpoint_slice(world.kube.get("Service", "web"), [("10.1.1.1", "node-1"), ("10.2.2.1", "node-2")]))
    world.start_ccmd()
    world.wait(lambda: len(product.only(world)["Groups"][0]["servers"]) == 2, "both backends")
    world.settled()
    world.stop_ccmd()

    world.kube.patch("Node", "node-2", {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, subresource="status")
    assert warnings(plan(world)[1]) == []
    world.kube.patch("Node", "node-2", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, subresource="status")
    assert plan(world) == (0, ["0 to change, 1 as they should be, 0 failed"])

    world.kube.patch("Node", "node-2", {"metadata": {"labels": {EXCLUDE: ""}}})
    code, lines = plan(world)
    marked = "ServingBackendsRemoved: 1 backend(s) that are ready lose their traffic: nodes excluded by label node-2"
    assert code == 3 and warnings(lines) == ["warning: " + marked]
    found = json.loads("\n".join(plan(world, "-o", "json")[1]))["objects"][0]
    assert found["state"] == "changes" and found["warnings"] == [marked]
    if policy == "Local":
        slices = world.kube.get("EndpointSlice", "web-abc")
        world.kube.replace({**slices, "endpoints": slices["endpoints"][:1]})
        code, lines = plan(world)
        assert code == 3 and warnings(lines) == []  # without a pod it takes no traffic


def test_a_pod_at_another_port_loses_no_traffic(world):
    finished(world, objects.service("web", ((80, "TCP", 8080),), annotations={BACKEND_TYPE: "eni"}))
    service = world.kube.get("Service", "web")
    world.kube.create(objects.endpoint_slice(service, [("10.1.1.1", "node-1")]))
    world.start_ccmd()
    world.wait(lambda: Clb().only(world)["Groups"][0]["servers"], "the pod")
    world.settled()
    world.stop_ccmd()
    moved = world.kube.get("EndpointSlice", "web-abc")
    world.kube.replace({**moved, "ports": [{**moved["ports"][0], "port": 8081}]})
    code, lines = plan(world)
    assert code == 3 and [line.split()[0] for line in lines[1:-1]] == ["add", "remove"], lines


def test_nodes_of_the_control_plane_that_become_backends_are_told(world):
    """The version before left them out."""
    finished(world, objects.service("web", ((80, "TCP"),)))
    world.kube.patch("Node", "node-2", {"metadata": {"labels": {CONTROL_PLANE: ""}}})
    assert plan(world) == (0, ["0 to change, 1 as they should be, 0 failed"])
    group = views.only_lb(world)["VServerGroups"][0]
    world.cloud.edit("call", product="slb", action="RemoveVServerGroupBackendServers", params={
        "VServerGroupId": group["VServerGroupId"], "BackendServers": json.dumps([{"ServerId": "i-node-2", "Port": b["Port"], "Type": "ecs"}
                                                                                 for b in group["BackendServers"][:1]])})
    code, lines = plan(world)
    assert code == 3 and warnings(lines) == [
        f"warning: ControlPlaneBackends: 1 node(s) become backends: nodes with label {CONTROL_PLANE}: node-2; "
        f"label {EXCLUDE} keeps traffic from a node"]


def test_deletion(world):
    finished(world, objects.service("web", PORTS))
    world.kube.delete("Service", "web")
    code, lines = plan(world)
    assert code == 3
    found = [re.sub(r"v2-[0-9a-f]{56}|lb-\S+|\d+\.\d+\.\d+\.\d+", "X", line) for line in lines]
    assert found == [
        "clb default/web",
        "    switch deletion protection off",
        "    delete load balancer",
        f"    set label {reference.HASH_LABEL}: X -> none",
        f"    set label {reference.ID_LABEL}: X -> none",
        "    set status: X -> none",
        "    remove finalizer service.k8s.alibaba/resources from the Service",
        "1 to change, 0 as they should be, 0 failed",
    ]


def test_what_would_fail(world):
    """Refused before any call, and after the look at the cloud."""
    finished(world, objects.service("bad", PORTS), objects.service("fixed", PORTS))
    annotated(world, "bad", scheduler="fast")
    annotated(world, "fixed", ip_version="ipv6")
    code, lines = plan(world)
    assert code == 1
    assert lines[0] == "clb default/bad"
    assert any(line.startswith("    failed: ") and "scheduler must be one of" in line for line in lines)
    where = lines.index("clb default/fixed")
    assert any("can not change LoadBalancer AddressIPVersion once created" in line for line in lines[where:])
    assert lines[-1] == "0 to change, 0 as they should be, 2 failed"
