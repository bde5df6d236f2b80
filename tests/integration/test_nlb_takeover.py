"""A cluster whose NLBs the reference controller created: ccmd takes them over without a write to the cloud, continues, and can be left
again."""

import pytest

from tests.support import objects, reference, scenario_look, service_hash, views
from tests.support.products import PREFIX, Nlb

NLB = Nlb()
BACKEND_TYPE = "service.beta.kubernetes.io/backend-type"
PATCH = "PATCH /api/v1/namespaces/default/services/web/status"


def instances(port, weights):
    return [{"ServerId": server, "ServerType": "Ecs", "Port": port["nodePort"], "Weight": weight}
            for server, weight in weights.items()]


ALL = {f"i-node-{n}": 100 for n in (1, 2, 3)}


def plain(world, builder):
    """Cluster policy, two ports."""
    service = world.kube.create(NLB.new("web", ((80, "TCP"), (53, "UDP"))))
    lb, dns = builder.load_balancer(service)
    for port in service["spec"]["ports"]:
        group = builder.group(service, port["nodePort"], port["protocol"], instances(port, ALL))
        builder.listener(service, lb, port["port"], port["protocol"], group)
    return service, lb, dns, {}


def annotated(world, builder):
    """Annotations of all kinds, TLS, own name and tags."""
    annotations = {
        "name": "shop", "protocol-port": "tcpssl:443", "cert-id": "101-cn-hangzhou", "cps": "100", "idle-timeout": "60",
        "proxy-protocol": "on", "ppv2-pvl-vpc-id-enabled": "on", "alpn": "on", "alpn-policy": "HTTP1Only", "scheduler": "rr",
        "connection-drain": "on", "connection-drain-timeout": "30", "health-check-flag": "on", "health-check-type": "http",
        "health-check-uri": "/live", "health-check-httpcode": "http_2xx,http_3xx", "cross-zone-enabled": "off",
        "additional-resource-tags": "team=a", "default-weight": "50", "address-type": "intranet"}
    service = world.kube.create(NLB.new("web", ((443, "TCP"),), annotations={PREFIX + k: v for k, v in annotations.items()}))
    lb, dns = builder.load_balancer(service, LoadBalancerName="shop", AddressType="Intranet", Tag__3__Key="team", Tag__3__Value="a")
    builder.call("UpdateLoadBalancerProtection", LoadBalancerId=lb, DeletionProtectionEnabled="true",
                 ModificationProtectionStatus="NonProtection")
    builder.call("UpdateLoadBalancerAttribute", LoadBalancerId=lb, CrossZoneEnabled="false")
    builder.call("UpdateLoadBalancerProtection", LoadBalancerId=lb, DeletionProtectionEnabled="true",
                 ModificationProtectionStatus="ConsoleProtection", ModificationProtectionReason="managed.by.ack")
    port = service["spec"]["ports"][0]
    health = {"HealthCheckEnabled": "true", "HealthCheckType": "http", "HealthCheckUrl": "/live",
              "HealthCheckHttpCode__1": "http_2xx", "HealthCheckHttpCode__2": "http_3xx"}
    group = builder.group(service, port["nodePort"], "TCPSSL", instances(port, dict.fromkeys(ALL, 50)), Scheduler="rr",
                          ConnectionDrainEnabled="true", ConnectionDrainTimeout=30,
                          **{"HealthCheckConfig__" + k: v for k, v in health.items()})
    builder.listener(service, lb, 443, "TCPSSL", group, CertificateIds__1="101-cn-hangzhou", Cps=100, IdleTimeout=60,
                     ProxyProtocolEnabled="true", ProxyProtocolV2Config='{"Ppv2VpcIdEnabled":true}', AlpnEnabled="true",
                     AlpnPolicy="HTTP1Only")
    return service, lb, dns, {}


def local(world, builder):
    """Local policy: weights count pods. Source ranges."""
    service = world.kube.create(NLB.new("web", policy="Local", loadBalancerSourceRanges=["10.0.0.0/8", "192.168.0.0/16"]))
    world.kube.create(objects.endpoint_slice(
        service, [("10.1.1.1", "node-1"), ("10.1.1.2", "node-1"), ("10.2.2.1", "node-2")]))
    lb, dns = builder.load_balancer(service)
    port = service["spec"]["ports"][0]
    group = builder.group(service, port["nodePort"], "TCP", instances(port, {"i-node-1": 2, "i-node-2": 1}))
    builder.listener(service, lb, 80, "TCP", group)
    guard = builder.guard(service, lb, ["10.0.0.0/8", "192.168.0.0/16"])
    return service, lb, dns, {reference.GUARD_LABEL: guard}


def pods(world, builder):
    """Pods as backends: the group is named after the target port."""
    service = world.kube.create(NLB.new("web", annotations={BACKEND_TYPE: "eni"}))
    world.kube.create(objects.endpoint_slice(service, [("10.1.1.1", "node-1"), ("10.2.2.1", "node-2")]))
    lb, dns = builder.load_balancer(service)
    servers = [{"ServerId": eni, "ServerIp": ip, "ServerType": "Eni", "Port": 8080, "Weight": 100}
               for eni, ip in (("eni-pods-1", "10.1.1.1"), ("eni-pods-2", "10.2.2.1"))]
    group = builder.group(service, 8080, "TCP", servers)
    builder.listener(service, lb, 80, "TCP", group)
    return service, lb, dns, {}


def addresses(world, builder):
    """Groups of addresses."""
    service = world.kube.create(NLB.new("web", annotations={BACKEND_TYPE: "eni", PREFIX + "server-group-type": "Ip"}))
    world.kube.create(objects.endpoint_slice(service, [("10.1.1.1", "node-1"), ("10.2.2.1", "node-2")]))
    lb, dns = builder.load_balancer(service)
    servers = [{"ServerId": ip, "ServerIp": ip, "ServerType": "Ip", "Port": 8080, "Weight": 100} for ip in ("10.1.1.1", "10.2.2.1")]
    group = builder.group(service, 8080, "TCP", servers, ServerGroupType="Ip")
    builder.listener(service, lb, 80, "TCP", group)
    return service, lb, dns, {}


STATES = [plain, annotated, local, pods, addresses]


def without_job_log(state):
    return {key: state[key] for key in ("nlbLoadBalancers", "nlbServerGroups", "securityGroups", "securityRules")}


@pytest.fixture(params=STATES, ids=[state.__name__ for state in STATES])
def taken(request, world):
    """ccmd has started on what the reference left, and is at rest: (world, Service, id of the load balancer)."""
    NLB.configure(world)
    views.nodes(world, 3)
    builder = reference.NlbBuilder(world)
    service, lb, dns, labels = request.param(world, builder)
    builder.mark(service, lb, labels=labels, hostname=dns)
    before = without_job_log(world.cloud.state())
    cloud, kube = world.cloud.mark(), world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: "ListLoadBalancers" in world.cloud.actions(cloud), "the look-up")
    world.settled()
    writes = [a for a in world.cloud.actions(cloud) if not scenario_look.is_read(a)]
    assert writes == [], writes
    assert without_job_log(world.cloud.state()) == before
    writes = [a for a in world.kube.actions(kube) if a.split()[0] not in ("LIST", "WATCH", "GET") and "/leases" not in a]
    assert writes == [PATCH], writes
    assert service_hash.is_current(world.kube.get("Service", "web"))
    assert world.kube.events("web") == []
    return world, service, lb


def check_as_the_reference_expects(world, lb, name="web"):
    """What the reference compares when it comes back. It does not know the hash, so it compares all, and writes its own hash."""
    service = world.kube.get("Service", name)
    labels = service["metadata"]["labels"]
    assert labels[reference.ID_LABEL] == lb
    assert service_hash.is_current(service)
    assert reference.NLB_FINALIZER in service["metadata"]["finalizers"]
    found = NLB.only(world)
    owner = {"kubernetes.do.not.delete": reference.default_name(service), "ack.aliyun.com": reference.CLUSTER_ID}
    assert found["LoadBalancerId"] == lb
    assert owner.items() <= found["Tags"].items()
    eni = service["metadata"].get("annotations", {}).get(BACKEND_TYPE) == "eni"
    protocols = {one["ListenerPort"]: one["ListenerProtocol"] for one in found["Listeners"]}
    ports = service["spec"]["ports"]
    assert {g["name"] for g in found["Groups"]} == {
        reference.nlb_key(p["targetPort"] if eni else p["nodePort"], protocols[p["port"]], service) for p in ports}
    for group in found["Groups"]:
        assert owner.items() <= group["Tags"].items()
        assert {s["Description"] for s in group["Servers"]} == {group["name"]}
    assert {l["ListenerDescription"] for l in found["Listeners"]} == {
        reference.nlb_key(p["port"], protocols[p["port"]], service) for p in ports}
    guard = NLB.guard_id(world.cloud.state(), service)
    assert labels.get(reference.GUARD_LABEL) == guard


def test_an_update_works(taken):
    world, _, lb = taken
    check_as_the_reference_expects(world, lb)
    ports = world.kube.get("Service", "web")["spec"]["ports"]
    more = {"name": "more", "port": 8443, "protocol": "TCP", "targetPort": 8443}
    world.kube.patch("Service", "web", {"spec": {"ports": ports + [more]}})

    def done():
        service = world.kube.get("Service", "web")
        return len(NLB.only(world)["Listeners"]) == len(ports) + 1 and (
            service_hash.is_current(service))

    world.wait(done, "the new port")
    world.settled()
    check_as_the_reference_expects(world, lb)


def test_deletion(taken):
    world, service, _ = taken
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")
    assert NLB.find(world) == []
    assert NLB.left(world.cloud.state(), service) == []


def test_the_way_back(world):
    """What ccmd leaves of its own Service is what the reference expects to find."""
    NLB.configure(world)
    views.nodes(world, 3)
    world.start_ccmd()
    world.kube.create(NLB.new("web", ((80, "TCP"), (53, "UDP")), loadBalancerSourceRanges=["10.0.0.0/8"]))
    world.wait(lambda: world.kube.ingress("web") and reference.HASH_LABEL in world.kube.get("Service", "web")["metadata"]["labels"],
               "the load balancer")
    world.settled()
    world.stop_ccmd()
    check_as_the_reference_expects(world, NLB.only(world)["LoadBalancerId"])


def test_a_reused_load_balancer(world):
    """Created in the console, listeners overridden: one patch and no write to the cloud, and deletion leaves what is the user's."""
    NLB.configure(world)
    views.nodes(world, 3)
    builder = reference.NlbBuilder(world)
    lb = builder.call("CreateLoadBalancer", AddressType="Internet", VpcId="vpc-test", LoadBalancerName="mine", **{
        "ZoneMappings__1__ZoneId": "cn-hangzhou-h", "ZoneMappings__1__VSwitchId": "vsw-a",
        "ZoneMappings__2__ZoneId": "cn-hangzhou-i", "ZoneMappings__2__VSwitchId": "vsw-b"})["LoadbalancerId"]
    dns = builder.call("GetLoadBalancerAttribute", LoadBalancerId=lb)["DNSName"]
    theirs = builder.call("CreateServerGroup", ServerGroupName="theirs", VpcId="vpc-test")["ServerGroupId"]
    builder.call("CreateListener", LoadBalancerId=lb, ListenerProtocol="TCP", ListenerPort=9000, ServerGroupId=theirs)
    service = world.kube.create(NLB.new("web", annotations={PREFIX + "id": lb, PREFIX + "force-override-listeners": "true"}))
    port = service["spec"]["ports"][0]
    group = builder.group(service, port["nodePort"], "TCP", instances(port, ALL))
    builder.listener(service, lb, 80, "TCP", group)
    builder.mark(service, lb, hostname=dns)
    before = without_job_log(world.cloud.state())
    kube = world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: "GetLoadBalancerAttribute" in world.cloud.actions(), "the look-up")
    world.settled()
    assert [a for a in world.kube.actions(kube) if a.split()[0] not in ("LIST", "WATCH", "GET") and "/leases" not in a] == [PATCH]
    assert [a for a in world.cloud.actions() if not scenario_look.is_read(a)] == []
    assert without_job_log(world.cloud.state()) == before
    assert world.kube.events("web") == []

    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")
    left = NLB.only(world)
    assert [one["key"] for one in left["Listeners"]] == ["9000/tcp"]
    assert NLB.left(world.cloud.state(), service) == []
