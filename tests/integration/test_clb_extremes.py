"""Services of CLB that are as large as the API server lets them be, and annotations that mean harm."""

import json
import time

import pytest

from tests.support import objects, proc, views
from tests.support.products import PREFIX, Clb
from tests.support.world import World

PORTS, PODS = 50, 1000
PODS_PER_CALL = 40


def addresses(first):
    return [f"10.1.{first + n // 250}.{n % 250 + 1}" for n in range(PODS)]


def servers(world):
    """Group name -> addresses of its backends."""
    return {group["VServerGroupName"]: {backend["ServerIp"] for backend in group["BackendServers"]}
            for lb in world.cloud.load_balancers() for group in lb["VServerGroups"]}


def test_fifty_ports_and_a_thousand_pods(build, tmp_path):
    """All of it arrives, in as few calls as the batches allow; one pod more costs a call for each port."""
    with World(build, tmp_path, cloud_args=[f"--limit=backends={PORTS * (PODS + 1)}"]) as world:
        Clb().configure(world, unlimited=True, log_level="info",
                        extra=f"controller: {{ timeout_s = {int(120 * proc.SLOW)}; }};")  # all of it in one pass
        pods = addresses(20)
        world.cloud.http.request("POST", "/_sim/instances", {"enis": [
            {"id": f"eni-{n}", "ip": ip, "instance": "i-node-1"} for n, ip in enumerate([*pods, "10.1.30.1"])]})
        views.nodes(world, 1)
        service = objects.service("web", [(1000 + n, "TCP", 2000 + n) for n in range(PORTS)],
                                  annotations={"service.beta.kubernetes.io/backend-type": "eni"})
        world.kube.create(*[objects.endpoint_slice(service, [(ip, "node-1") for ip in pods[n:n + 100]], suffix=str(n))
                            for n in range(0, PODS, 100)])
        world.kube.create(service)
        world.start_ccmd()
        world.wait(lambda: world.kube.ingress("web"), "the address", 120)
        world.wait(lambda: len(found := servers(world)) == PORTS and all(ips == set(pods) for ips in found.values()),
                   "all backends", 120)
        world.settled()
        actions = world.cloud.actions()
        # 20 come with the group
        assert actions.count("AddVServerGroupBackendServers") <= PORTS * -(-(PODS - 20) // PODS_PER_CALL)
        assert actions.count("CreateLoadBalancerTCPListener") == actions.count("CreateVServerGroup") == PORTS
        assert actions.count("DescribeNetworkInterfaces") == PODS // 100

        since = world.cloud.mark()
        world.kube.create(objects.endpoint_slice(service, [("10.1.30.1", "node-1")], suffix="more"))
        world.wait(lambda: all("10.1.30.1" in ips for ips in servers(world).values()), "one pod more", 60)
        world.settled()
        assert world.cloud.actions(since) == ["DescribeNetworkInterfaces"] + PORTS * ["AddVServerGroupBackendServers"]

        since = world.cloud.mark()
        world.kube.delete("Service", "web")
        world.wait(lambda: world.kube.get("Service", "web") is None, "deletion", 60)
        assert world.cloud.actions(since) == ["DescribeLoadBalancers", "SetLoadBalancerDeleteProtection",
                                              "DeleteLoadBalancer"]  # whose it is, then away with it
        world.stop_ccmd()


EIPS = 300


def test_hundreds_of_elastic_addresses(build, tmp_path):
    """Each of them is shown in the status, and nothing is written again when the same are found."""
    with World(build, tmp_path, cloud_args=[f"--limit=eips={EIPS}"]) as world:
        Clb().configure(world, unlimited=True)
        views.nodes(world, 1)
        lb = world.cloud.edit("call", product="slb", action="CreateLoadBalancer", params={
            "AddressType": "intranet", "VpcId": "vpc-test", "VSwitchId": "vsw-a", "InstanceChargeType": "PayByCLCU"})["answer"]
        shown = set()
        for _ in range(EIPS):
            eip = world.cloud.edit("call", product="vpc", action="AllocateEipAddress", params={})["answer"]
            world.cloud.edit("update", type="eip", id=eip["AllocationId"], attributes={
                "InstanceId": lb["LoadBalancerId"], "InstanceType": "SlbInstance", "Status": "InUse"})
            shown.add(eip["EipAddress"])
        world.start_ccmd()
        world.kube.create(objects.service("web", annotations={
            PREFIX + "id": lb["LoadBalancerId"], PREFIX + "address-type": "intranet", PREFIX + "external-ip-type": "eip"}))
        world.wait(lambda: {one["ip"] for one in world.kube.ingress("web")} == shown, "all addresses")
        world.settled()
        version = world.kube.get("Service", "web")["metadata"]["resourceVersion"]
        world.stop_ccmd()
        world.start_ccmd()
        world.settled()
        assert world.kube.get("Service", "web")["metadata"]["resourceVersion"] == version
        world.stop_ccmd()


# --- annotations ---

MANY = ",".join(["tcp:1"] * 40000)  # nearly what the API server allows for all annotations together
SMILE = "\U0001f600"
HARM = {
    "protocol-port many": {"protocol-port": MANY},
    "forward-port many": {"protocol-port": "http:80", "forward-port": ",".join(["1:2"] * 60000)},
    "domains many": {"protocol-port": "https:443", "cert-id": "cert-valid", "domain-extensions": ",".join(
        f"{n}.example.com:" for n in range(10000))},
    "tags many": {"additional-resource-tags": ",".join(f"k{n}=v" for n in range(20000))},
    "tag long": {"additional-resource-tags": "k=" + "v" * 200000},
    "groups many": {"id": "lb-none", "vgroup-port": ",".join(["rsp-x:80"] * 20000)},
    "labels many": {"backend-label": ",".join(["a=b"] * 50000)},
    "cut in a character": {"address-type": "x" + SMILE * 300, "scheduler": "xy" + SMILE * 300},
    "hash of everything": {"hostname": "a: b\n- c\n\"'%s%n{}[]&*!|>#\t" + SMILE},
    "another request": {"name": "x&Action=DeleteLoadBalancer&LoadBalancerId=lb-1", "resource-group-id": "a=b&c#d?e%00"},
    "another member": {"cookie": '"},{"ServerId":"i-x', "health-check-uri": '/"\\'},
    "another id": {"id": "../../lb?x=1&Action=DeleteLoadBalancer"},
    "numbers": {"persistence-timeout": "9" * 400, "health-check-interval": "0x10", "healthy-threshold": "+3",
                "bandwidth": "-9223372036854775809"},
}


@pytest.mark.parametrize("what", HARM)
def test_harmful_annotations(world, what):
    """Nobody else waits for such a Service, what it asks for does not leave its parameter, and it can go."""
    Clb().configure(world, unlimited=True)
    views.nodes(world, 2)
    world.start_ccmd()
    ports = [(80, "TCP"), (443, "TCP")] + [(1000 + n, "TCP") for n in range(48)]
    world.kube.create(objects.service("bad", ports, annotations={PREFIX + key: value for key, value in HARM[what].items()}))
    started = time.monotonic()
    world.kube.create(objects.service("good"))
    world.wait(lambda: world.kube.ingress("good"), "the good one")
    assert time.monotonic() - started < 10 * proc.SLOW
    world.settled()
    for kind, _, message, _ in world.kube.events("bad"):  # read as UTF-8 and JSON, so it is both
        assert len(message) <= 1024 and kind in ("Normal", "Warning")
    for call in world.cloud.calls():
        assert call["action"] != "DeleteLoadBalancer"
        for backend in json.loads(call["params"].get("BackendServers", "[]")):
            assert set(backend) == {"ServerId", "Port", "Weight", "Type", "Description"}
    world.kube.delete("Service", "bad")
    world.kube.delete("Service", "good")
    world.wait(lambda: not world.kube.items("Service"), "deletion", 30)
    assert world.cloud.load_balancers() == []
