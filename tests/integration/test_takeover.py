"""A cluster that the reference controller ran: ccmd takes it over without a write to the cloud, continues, and can be left again."""

import pytest

from tests.support import objects, reference, service_hash, views

pytestmark = pytest.mark.time_scale(10)
PREFIX = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
BACKEND_TYPE = "service.beta.kubernetes.io/backend-type"
PATCH = "PATCH /api/v1/namespaces/default/services/web/status"


def nodes_backends(port, weights):
    return [{"serverId": server, "port": port["nodePort"], "weight": weight, "type": "ecs"}
            for server, weight in weights.items()]


def plain(world, builder):
    """Cluster policy, two ports."""
    service = world.kube.create(objects.service("web", ((80, "TCP"), (53, "UDP"))))
    lb = builder.load_balancer(service)
    for port in service["spec"]["ports"]:
        weights = {f"i-node-{n}": 100 for n in (1, 2, 3)}
        group = builder.group(service, lb["LoadBalancerId"], port["nodePort"], nodes_backends(port, weights))
        builder.listener(service, lb["LoadBalancerId"], port, group)
    return service, lb


def annotated(world, builder):
    """Annotations of instance and listener, own name and tags."""
    annotations = {"name": "shop", "scheduler": "wrr", "established-timeout": "60", "delete-protection": "off",
                   "additional-resource-tags": "team=a"}
    service = world.kube.create(objects.service(
        "web", annotations={**{PREFIX + k: v for k, v in annotations.items()}, "example.com/note": "true"}))
    lb = builder.load_balancer(service, Tag__3__Key="team", Tag__3__Value="a")
    lb_id = lb["LoadBalancerId"]
    builder.call("SetLoadBalancerDeleteProtection", LoadBalancerId=lb_id, DeleteProtection="off")
    builder.call("SetLoadBalancerModificationProtection", LoadBalancerId=lb_id,
                 ModificationProtectionStatus="NonProtection")
    builder.call("SetLoadBalancerName", LoadBalancerId=lb_id, LoadBalancerName="shop")
    builder.call("SetLoadBalancerModificationProtection", LoadBalancerId=lb_id,
                 ModificationProtectionStatus="ConsoleProtection", ModificationProtectionReason="managed.by.ack")
    port = service["spec"]["ports"][0]
    group = builder.group(service, lb_id, port["nodePort"], nodes_backends(port, {f"i-node-{n}": 100 for n in (1, 2, 3)}))
    builder.listener(service, lb_id, port, group, EstablishedTimeout=60)
    builder.call("SetLoadBalancerTCPListenerAttribute", LoadBalancerId=lb_id, ListenerPort=80, Scheduler="wrr",
                 VServerGroup="on", VServerGroupId=group, Bandwidth=-1, EstablishedTimeout=60)
    return service, lb


def local(world, builder):
    """Local policy: weights count pods."""
    service = world.kube.create(objects.service("web", policy="Local"))
    world.kube.create(objects.endpoint_slice(
        service, [("10.1.1.1", "node-1"), ("10.1.1.2", "node-1"), ("10.2.2.1", "node-2")]))
    lb = builder.load_balancer(service)
    port = service["spec"]["ports"][0]
    group = builder.group(service, lb["LoadBalancerId"], port["nodePort"],
                          nodes_backends(port, {"i-node-1": 2, "i-node-2": 1}))
    builder.listener(service, lb["LoadBalancerId"], port, group)
    return service, lb


def pods(world, builder):
    """Pods as backends: the group is named after the target port."""
    service = world.kube.create(objects.service("web", annotations={BACKEND_TYPE: "eni"}))
    world.kube.create(objects.endpoint_slice(service, [("10.1.1.1", "node-1"), ("10.2.2.1", "node-2")]))
    lb = builder.load_balancer(service)
    backends = [{"serverId": eni, "serverIp": ip, "port": 8080, "weight": 100, "type": "eni"}
                for eni, ip in (("eni-pods-1", "10.1.1.1"), ("eni-pods-2", "10.2.2.1"))]
    group = builder.group(service, lb["LoadBalancerId"], 8080, backends)
    builder.listener(service, lb["LoadBalancerId"], service["spec"]["ports"][0], group)
    return service, lb


def web(world, builder):
    """http that forwards to https, a further certificate, a stopped health check."""
    values = {"protocol-port": "http:80,https:443", "cert-id": "cert-valid", "forward-port": "80:443",
              "domain-extensions": "a.example.com:cert-valid", "sticky-session": "on", "sticky-session-type": "insert",
              "cookie-timeout": "1800", "http2-enabled": "off"}
    service = world.kube.create(objects.service("web", ((80, "TCP"), (443, "TCP")),
                                                annotations={PREFIX + k: v for k, v in values.items()}))
    lb = builder.load_balancer(service)
    lb_id = lb["LoadBalancerId"]
    http, https = service["spec"]["ports"]
    groups = [builder.group(service, lb_id, port["nodePort"], nodes_backends(port, {f"i-node-{n}": 100 for n in (1, 2, 3)}))
              for port in (http, https)]
    sticky = {"StickySession": "on", "StickySessionType": "insert", "CookieTimeout": 1800}
    builder.listener(service, lb_id, {**https, "protocol": "HTTPS"}, groups[1], HealthCheck="off", EnableHttp2="off",
                     ServerCertificateId="cert-valid", **sticky)
    builder.call("CreateDomainExtension", LoadBalancerId=lb_id, ListenerPort=443, Domain="a.example.com",
                 ServerCertificateId="cert-valid")
    builder.listener(service, lb_id, {**http, "protocol": "HTTP"}, groups[0], HealthCheck="off", ListenerForward="on",
                     ForwardPort=443, **sticky)
    return service, lb


STATES = [plain, annotated, local, pods, web]


def lb_listeners(world):
    return views.only_lb(world)["Listeners"]


def needs_proxy(listener):
    """What ends or changes a connection does not work past the load balancer: docs/migration.md tells of the one patch for that."""
    return listener["ListenerProtocol"] in ("http", "https") or listener.get("ProxyProtocolV2Enabled") in ("true", True)


def is_ready(service):
    ready, = [c for c in service["status"]["conditions"] if c["type"] == "ccm.alibabacloud.com/LoadBalancerReady"]
    return (ready["status"], ready["reason"]) == ("True", "Ready")


@pytest.fixture(params=STATES, ids=[state.__name__ for state in STATES])
def taken(request, world):
    """ccmd has started on what the reference left, and is at rest: (world, load balancer)."""
    views.nodes(world, 3)
    builder = reference.Builder(world)
    service, lb = request.param(world, builder)
    builder.mark(service, lb["LoadBalancerId"], ip=lb["Address"])
    before = world.cloud.load_balancers()
    cloud, kube = world.cloud.mark(), world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: "DescribeLoadBalancers" in world.cloud.actions(cloud), "the look-up")
    world.settled()
    writes = [a for a in world.cloud.actions(cloud) if not a.startswith(("Describe", "List"))]
    assert writes == [], writes
    assert world.cloud.load_balancers() == before
    writes = [a for a in world.kube.actions(kube) if a.split()[0] not in ("LIST", "WATCH", "GET") and "/leases" not in a]
    proxied = [l["ListenerPort"] for l in lb_listeners(world) if needs_proxy(l)]
    assert writes == [PATCH], writes
    service = world.kube.get("Service", "web")
    assert service_hash.is_current(service) and is_ready(service)
    assert [item.get("ipMode") for item in world.kube.ingress("web")] == ["Proxy" if proxied else "VIP"]
    assert world.kube.events("web") == []
    return world, lb


def check_as_the_reference_expects(world, lb):
    """What the reference compares when it comes back. It does not know the hash, so it compares all, and writes its own hash."""
    service = world.kube.get("Service", "web")
    assert service["metadata"]["labels"][reference.ID_LABEL] == lb["LoadBalancerId"]
    assert service_hash.is_current(service)
    assert reference.FINALIZER in service["metadata"]["finalizers"]
    found = views.only_lb(world)
    assert found["LoadBalancerId"] == lb["LoadBalancerId"]
    assert found["Tags"]["kubernetes.do.not.delete"] == reference.default_name(service)
    assert found["Tags"]["ack.aliyun.com"] == reference.CLUSTER_ID
    eni = service["metadata"].get("annotations", {}).get(BACKEND_TYPE) == "eni"
    parts = {p["targetPort"] if eni else p["nodePort"] for p in service["spec"]["ports"]}
    assert {g["VServerGroupName"] for g in found["VServerGroups"]} == {reference.key(part, service) for part in parts}
    for group in found["VServerGroups"]:
        assert {b["Description"] for b in group["BackendServers"]} == {group["VServerGroupName"]}
    assert {l["Description"] for l in found["Listeners"]} == {
        reference.key(p["port"], service) for p in service["spec"]["ports"]}


@pytest.mark.parametrize("state", STATES)
def test_one_patch(world, state):
    """Hash, ipMode and condition go together. Then it is quiet, audits included."""
    world.config = world.write_config(plugins='{ name = "clb"; workers = 4; audit_interval_s = 1; }')
    views.nodes(world, 3)
    builder = reference.Builder(world)
    service, lb = state(world, builder)
    builder.mark(service, lb["LoadBalancerId"], ip=lb["Address"])
    cloud, kube = world.cloud.mark(), world.kube.mark()
    world.start_ccmd()
    looks = 'ccmd_audits_total{type="CLBType",result="clean"}'
    world.wait(lambda: world.metrics().get(looks, 0) >= 3, "second looks", every=0.1)
    assert is_ready(world.kube.get("Service", "web"))
    assert [i["ipMode"] for i in world.kube.ingress("web")] == ["Proxy" if any(map(needs_proxy, lb_listeners(world))) else "VIP"]
    writes = [a for a in world.kube.actions(kube) if a.split()[0] not in ("LIST", "WATCH", "GET") and "/leases" not in a]
    assert writes == [PATCH], writes
    assert [a for a in world.cloud.actions(cloud) if not a.startswith(("Describe", "List"))] == []


def test_an_update_works(taken):
    world, lb = taken
    check_as_the_reference_expects(world, lb)
    ports = world.kube.get("Service", "web")["spec"]["ports"]
    more = {"name": "more", "port": 8443, "protocol": "TCP", "targetPort": 18443}
    world.kube.patch("Service", "web", {"spec": {"ports": ports + [more]}})
    present = {(l["ListenerPort"], l["ListenerProtocol"], "running") for l in views.only_lb(world)["Listeners"]}
    wanted = sorted({(int(port), protocol, status) for port, protocol, status in present} | {(8443, "tcp", "running")})

    def done():
        service = world.kube.get("Service", "web")
        return views.listeners(views.only_lb(world)) == wanted and (
            service_hash.is_current(service))

    world.wait(done, "the new port")
    world.settled()
    check_as_the_reference_expects(world, lb)


def test_deletion(taken):
    world, _ = taken
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")
    assert world.cloud.load_balancers() == []


def test_the_way_back(world):
    """What ccmd leaves of its own Service is what the reference expects to find."""
    views.nodes(world, 3)
    world.start_ccmd()
    world.kube.create(objects.service("web", ((80, "TCP"), (443, "TCP")), annotations={PREFIX + "scheduler": "wrr"}))
    lb = world.wait(lambda: world.kube.ingress("web") and views.only_lb(world), "the load balancer")
    world.settled()
    world.stop_ccmd()
    check_as_the_reference_expects(world, lb)
    world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP", "externalTrafficPolicy": None}})
    world.start_ccmd()
    world.wait(lambda: not world.cloud.load_balancers(), "release")
    world.wait(lambda: reference.FINALIZER not in world.kube.get("Service", "web")["metadata"].get("finalizers", []),
               "the finalizer to go")
    assert not {reference.HASH_LABEL, reference.ID_LABEL} & set(
        world.kube.get("Service", "web")["metadata"].get("labels", {}))


def test_a_reused_load_balancer(world):
    """Created in the console, listeners overridden: one patch and no write to the cloud, and deletion leaves what is the user's. Groups
    of persons are not read: no edit is proven."""
    views.nodes(world, 3)
    builder = reference.Builder(world)
    lb = builder.call("CreateLoadBalancer", AddressType="internet", InstanceChargeType="PayByCLCU",
                      LoadBalancerName="mine", Tag__1__Key="kubernetes.reused.by.user", Tag__1__Value="true")
    lb_id = lb["LoadBalancerId"]
    service = world.kube.create(objects.service("web", annotations={
        PREFIX + "id": lb_id, PREFIX + "force-override-listeners": "true"}))
    port = service["spec"]["ports"][0]
    group = builder.group(service, lb_id, port["nodePort"], nodes_backends(port, {f"i-node-{n}": 100 for n in (1, 2, 3)}))
    builder.listener(service, lb_id, port, group)
    builder.call("CreateVServerGroup", LoadBalancerId=lb_id, VServerGroupName="mine")
    builder.mark(service, lb_id, ip=lb["Address"])
    before = world.cloud.load_balancers()
    kube = world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: "DescribeLoadBalancerAttribute" in world.cloud.actions(), "the look-up")
    world.settled()
    assert sorted(world.cloud.actions()) == ["DescribeLoadBalancerAttribute", "DescribeLoadBalancerListeners", "DescribeVServerGroupAttribute",
                                             "DescribeVServerGroups"]
    assert world.cloud.load_balancers() == before
    assert [a for a in world.kube.actions(kube) if a.split()[0] not in ("LIST", "WATCH", "GET") and "/leases" not in a] == [PATCH]
    assert world.kube.events("web") == []

    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")
    left = views.only_lb(world)
    assert left["LoadBalancerId"] == lb_id
    assert views.listeners(left) == []
    assert views.groups(left) == {"mine": set()}
