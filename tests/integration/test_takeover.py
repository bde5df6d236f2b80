"""A cluster that the reference controller ran: ccmd takes it over without a write to the cloud, continues, and can be left again."""

import collections

import pytest

from tests.support import objects, reference, scenario_look, service_hash, views
from tests.support.products import PREFIX, Clb, Nlb

pytestmark = pytest.mark.time_scale(10)
BACKEND_TYPE = "service.beta.kubernetes.io/backend-type"
PATCH = "PATCH /api/v1/namespaces/default/services/web/status"
ALL = {f"i-node-{n}": 100 for n in (1, 2, 3)}


# --- what the reference leaves of CLB ---


def backends(port, weights):
    return [{"serverId": server, "port": port["nodePort"], "weight": weight, "type": "ecs"} for server, weight in weights.items()]


def mark(builder, service, lb):
    builder.mark(service, lb["LoadBalancerId"], ip=lb["Address"])
    return service, lb["LoadBalancerId"]


def clb_plain(world, builder):
    """Cluster policy, two ports."""
    service = world.kube.create(objects.service("web", ((80, "TCP"), (53, "UDP"))))
    lb = builder.load_balancer(service)
    for port in service["spec"]["ports"]:
        group = builder.group(service, lb["LoadBalancerId"], port["nodePort"], backends(port, ALL))
        builder.listener(service, lb["LoadBalancerId"], port, group)
    return mark(builder, service, lb)


def clb_annotated(world, builder):
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
    group = builder.group(service, lb_id, port["nodePort"], backends(port, ALL))
    builder.listener(service, lb_id, port, group, EstablishedTimeout=60)
    builder.call("SetLoadBalancerTCPListenerAttribute", LoadBalancerId=lb_id, ListenerPort=80, Scheduler="wrr",
                 VServerGroup="on", VServerGroupId=group, Bandwidth=-1, EstablishedTimeout=60)
    return mark(builder, service, lb)


def clb_local(world, builder):
    """Local policy: weights count pods."""
    service = world.kube.create(objects.service("web", policy="Local"))
    world.kube.create(objects.endpoint_slice(
        service, [("10.1.1.1", "node-1"), ("10.1.1.2", "node-1"), ("10.2.2.1", "node-2")]))
    lb = builder.load_balancer(service)
    port = service["spec"]["ports"][0]
    group = builder.group(service, lb["LoadBalancerId"], port["nodePort"],
                          backends(port, {"i-node-1": 2, "i-node-2": 1}))
    builder.listener(service, lb["LoadBalancerId"], port, group)
    return mark(builder, service, lb)


def clb_pods(world, builder):
    """Pods as backends: the group is named after the target port."""
    service = world.kube.create(objects.service("web", annotations={BACKEND_TYPE: "eni"}))
    world.kube.create(objects.endpoint_slice(service, [("10.1.1.1", "node-1"), ("10.2.2.1", "node-2")]))
    lb = builder.load_balancer(service)
    backends = [{"serverId": eni, "serverIp": ip, "port": 8080, "weight": 100, "type": "eni"}
                for eni, ip in (("eni-pods-1", "10.1.1.1"), ("eni-pods-2", "10.2.2.1"))]
    group = builder.group(service, lb["LoadBalancerId"], 8080, backends)
    builder.listener(service, lb["LoadBalancerId"], service["spec"]["ports"][0], group)
    return mark(builder, service, lb)


def clb_web(world, builder):
    """http that forwards to https, a further certificate, a stopped health check."""
    values = {"protocol-port": "http:80,https:443", "cert-id": "cert-valid", "forward-port": "80:443",
              "domain-extensions": "a.example.com:cert-valid", "sticky-session": "on", "sticky-session-type": "insert",
              "cookie-timeout": "1800", "http2-enabled": "off"}
    service = world.kube.create(objects.service("web", ((80, "TCP"), (443, "TCP")),
                                                annotations={PREFIX + k: v for k, v in values.items()}))
    lb = builder.load_balancer(service)
    lb_id = lb["LoadBalancerId"]
    http, https = service["spec"]["ports"]
    groups = [builder.group(service, lb_id, port["nodePort"], backends(port, ALL))
              for port in (http, https)]
    sticky = {"StickySession": "on", "StickySessionType": "insert", "CookieTimeout": 1800}
    builder.listener(service, lb_id, {**https, "protocol": "HTTPS"}, groups[1], HealthCheck="off", EnableHttp2="off",
                     ServerCertificateId="cert-valid", **sticky)
    builder.call("CreateDomainExtension", LoadBalancerId=lb_id, ListenerPort=443, Domain="a.example.com",
                 ServerCertificateId="cert-valid")
    builder.listener(service, lb_id, {**http, "protocol": "HTTP"}, groups[0], HealthCheck="off", ListenerForward="on",
                     ForwardPort=443, **sticky)
    return mark(builder, service, lb)


def clb_is_as_expected(world, lb):
    """What the reference compares when it comes back. It does not know the hash, so it compares all, and writes its own hash."""
    service = world.kube.get("Service", "web")
    assert service["metadata"]["labels"][reference.ID_LABEL] == lb
    assert service_hash.is_current(service)
    assert reference.FINALIZER in service["metadata"]["finalizers"]
    found = views.only_lb(world)
    assert found["LoadBalancerId"] == lb
    assert found["Tags"]["kubernetes.do.not.delete"] == reference.default_name(service)
    assert found["Tags"]["ack.aliyun.com"] == reference.CLUSTER_ID
    eni = service["metadata"].get("annotations", {}).get(BACKEND_TYPE) == "eni"
    parts = {p["targetPort"] if eni else p["nodePort"] for p in service["spec"]["ports"]}
    assert {g["VServerGroupName"] for g in found["VServerGroups"]} == {reference.key(part, service) for part in parts}
    for group in found["VServerGroups"]:
        assert {b["Description"] for b in group["BackendServers"]} == {group["VServerGroupName"]}
    assert {l["Description"] for l in found["Listeners"]} == {
        reference.key(p["port"], service) for p in service["spec"]["ports"]}


# --- and of NLB ---


def instances(port, weights):
    return [{"ServerId": server, "ServerType": "Ecs", "Port": port["nodePort"], "Weight": weight} for server, weight in weights.items()]


def mark_nlb(builder, service, lb, dns, labels=None):
    builder.mark(service, lb, labels=labels, hostname=dns)
    return service, lb


def nlb_plain(world, builder):
    """Cluster policy, two ports."""
    service = world.kube.create(Nlb().new("web", ((80, "TCP"), (53, "UDP"))))
    lb, dns = builder.load_balancer(service)
    for port in service["spec"]["ports"]:
        group = builder.group(service, port["nodePort"], port["protocol"], instances(port, ALL))
        builder.listener(service, lb, port["port"], port["protocol"], group)
    return mark_nlb(builder, service, lb, dns)


def nlb_annotated(world, builder):
    """Annotations of all kinds, TLS, own name and tags."""
    annotations = {
        "name": "shop", "protocol-port": "tcpssl:443", "cert-id": "101-cn-hangzhou", "cps": "100", "idle-timeout": "60",
        "proxy-protocol": "on", "ppv2-pvl-vpc-id-enabled": "on", "alpn": "on", "alpn-policy": "HTTP1Only", "scheduler": "rr",
        "connection-drain": "on", "connection-drain-timeout": "30", "health-check-flag": "on", "health-check-type": "http",
        "health-check-uri": "/live", "health-check-httpcode": "http_2xx,http_3xx", "cross-zone-enabled": "off",
        "additional-resource-tags": "team=a", "default-weight": "50", "address-type": "intranet"}
    service = world.kube.create(Nlb().new("web", ((443, "TCP"),), annotations={PREFIX + k: v for k, v in annotations.items()}))
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
    return mark_nlb(builder, service, lb, dns)


def nlb_local(world, builder):
    """Local policy: weights count pods. Source ranges."""
    service = world.kube.create(Nlb().new("web", policy="Local", loadBalancerSourceRanges=["10.0.0.0/8", "192.168.0.0/16"]))
    world.kube.create(objects.endpoint_slice(
        service, [("10.1.1.1", "node-1"), ("10.1.1.2", "node-1"), ("10.2.2.1", "node-2")]))
    lb, dns = builder.load_balancer(service)
    port = service["spec"]["ports"][0]
    group = builder.group(service, port["nodePort"], "TCP", instances(port, {"i-node-1": 2, "i-node-2": 1}))
    builder.listener(service, lb, 80, "TCP", group)
    guard = builder.guard(service, lb, ["10.0.0.0/8", "192.168.0.0/16"])
    return mark_nlb(builder, service, lb, dns, {reference.GUARD_LABEL: guard})


def nlb_pods(world, builder):
    """Pods as backends: the group is named after the target port."""
    service = world.kube.create(Nlb().new("web", annotations={BACKEND_TYPE: "eni"}))
    world.kube.create(objects.endpoint_slice(service, [("10.1.1.1", "node-1"), ("10.2.2.1", "node-2")]))
    lb, dns = builder.load_balancer(service)
    servers = [{"ServerId": eni, "ServerIp": ip, "ServerType": "Eni", "Port": 8080, "Weight": 100}
               for eni, ip in (("eni-pods-1", "10.1.1.1"), ("eni-pods-2", "10.2.2.1"))]
    group = builder.group(service, 8080, "TCP", servers)
    builder.listener(service, lb, 80, "TCP", group)
    return mark_nlb(builder, service, lb, dns)


def nlb_addresses(world, builder):
    """Groups of addresses."""
    service = world.kube.create(Nlb().new("web", annotations={BACKEND_TYPE: "eni", PREFIX + "server-group-type": "Ip"}))
    world.kube.create(objects.endpoint_slice(service, [("10.1.1.1", "node-1"), ("10.2.2.1", "node-2")]))
    lb, dns = builder.load_balancer(service)
    servers = [{"ServerId": ip, "ServerIp": ip, "ServerType": "Ip", "Port": 8080, "Weight": 100} for ip in ("10.1.1.1", "10.2.2.1")]
    group = builder.group(service, 8080, "TCP", servers, ServerGroupType="Ip")
    builder.listener(service, lb, 80, "TCP", group)
    return mark_nlb(builder, service, lb, dns)


def nlb_is_as_expected(world, lb, name="web"):
    """The same."""
    service = world.kube.get("Service", name)
    labels = service["metadata"]["labels"]
    assert labels[reference.ID_LABEL] == lb
    assert service_hash.is_current(service)
    assert reference.NLB_FINALIZER in service["metadata"]["finalizers"]
    found = Nlb().only(world)
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
    guard = Nlb().guard_id(world.cloud.state(), service)
    assert labels.get(reference.GUARD_LABEL) == guard


# --- both ---


Kind = collections.namedtuple("Kind", "product builder look held is_as_expected states")
CLB = Kind(Clb(), reference.Builder, "DescribeLoadBalancers", lambda world: world.cloud.load_balancers(), clb_is_as_expected,
           (clb_plain, clb_annotated, clb_local, clb_pods, clb_web))
NLB = Kind(Nlb(), reference.NlbBuilder, "ListLoadBalancers", lambda world: {  # all but the jobs
    key: world.cloud.state()[key] for key in ("nlbLoadBalancers", "nlbServerGroups", "securityGroups", "securityRules")},
           nlb_is_as_expected, (nlb_plain, nlb_annotated, nlb_local, nlb_pods, nlb_addresses))
KINDS = pytest.mark.parametrize("kind", [CLB, NLB], ids=["clb", "nlb"])
STATES = pytest.mark.parametrize("kind, state", [
    pytest.param(kind, state, id=state.__name__) for kind in (CLB, NLB) for state in kind.states])


def needs_proxy(listener):
    """What ends or changes a connection does not work past the load balancer: docs/migration.md tells of the one patch for that."""
    return listener["ListenerProtocol"] in ("http", "https") or listener.get("ProxyProtocolV2Enabled") in ("true", True)


def is_ready(service):
    ready, = [c for c in service["status"]["conditions"] if c["type"] == "ccm.alibabacloud.com/LoadBalancerReady"]
    return (ready["status"], ready["reason"]) == ("True", "Ready")


def writes(world, since):
    """To the API server."""
    return [a for a in world.kube.actions(since) if a.split()[0] not in ("LIST", "WATCH", "GET") and "/leases" not in a]


def cloud_writes(world, since=0):
    return [action for action in world.cloud.actions(since) if not scenario_look.is_read(action)]


def take_over(world, kind, state, options=""):
    """ccmd starts on what the reference left, and is at rest: (Service, id of the load balancer). The hash, the mode of the address and
    the condition come in one patch."""
    kind.product.configure(world, options)
    views.nodes(world, 3)
    service, lb = state(world, kind.builder(world))
    before = kind.held(world)
    cloud, kube = world.cloud.mark(), world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: kind.look in world.cloud.actions(cloud), "the look-up")
    world.settled()
    assert cloud_writes(world, cloud) == [] and kind.held(world) == before
    assert writes(world, kube) == [PATCH]
    live = world.kube.get("Service", "web")
    assert service_hash.is_current(live) and is_ready(live)
    if kind is CLB:
        proxied = any(map(needs_proxy, views.only_lb(world)["Listeners"]))
        assert [item.get("ipMode") for item in world.kube.ingress("web")] == ["Proxy" if proxied else "VIP"]
    assert world.kube.events("web") == []
    return service, lb


@STATES
def test_audits_write_nothing(world, kind, state):
    take_over(world, kind, state, "audit_interval_s = 1;")
    cloud, kube = world.cloud.mark(), world.kube.mark()
    looks = f'ccmd_audits_total{{type="{kind.product.name.upper()}Type",result="clean"}}'
    world.wait(lambda: world.metrics().get(looks, 0) >= 3, "second looks")
    assert cloud_writes(world, cloud) == [] and writes(world, kube) == []


@STATES
def test_an_update_works(world, kind, state):
    _, lb = take_over(world, kind, state)
    kind.is_as_expected(world, lb)
    ports = world.kube.get("Service", "web")["spec"]["ports"]
    more = {"name": "more", "port": 8443, "protocol": "TCP", "targetPort": 18443}
    before = {one["key"] for one in kind.product.only(world)["Listeners"]}
    world.kube.patch("Service", "web", {"spec": {"ports": ports + [more]}})

    def done():
        found = kind.product.only(world)["Listeners"]
        running = all(one.get(key) == value for one in found for key, value in kind.product.running.items())
        return {one["key"] for one in found} == before | {"8443/tcp"} and running and service_hash.is_current(world.kube.get("Service", "web"))

    world.wait(done, "the new port")
    world.settled()
    kind.is_as_expected(world, lb)


@STATES
def test_deletion(world, kind, state):
    service, _ = take_over(world, kind, state)
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")
    assert kind.product.find(world) == [] and kind.product.left(world.cloud.state(), service) == []


@KINDS
def test_the_way_back(world, kind):
    """What ccmd leaves of its own Service is what the reference expects to find."""
    product = kind.product
    product.configure(world)
    views.nodes(world, 3)
    world.start_ccmd()
    options = {"loadBalancerSourceRanges": ["10.0.0.0/8"]} if kind is NLB else {"annotations": {PREFIX + "scheduler": "wrr"}}
    world.kube.create(product.new("web", ((80, "TCP"), (53, "UDP")), **options))
    lb = world.wait(lambda: world.kube.ingress("web") and product.only(world), "the load balancer")
    world.settled()
    world.stop_ccmd()
    kind.is_as_expected(world, lb["LoadBalancerId"])
    world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP", "externalTrafficPolicy": None, "loadBalancerClass": None,
                                                  "loadBalancerSourceRanges": None}})
    world.start_ccmd()
    world.wait(lambda: not product.find(world), "release")
    world.wait(lambda: product.finalizer not in world.kube.get("Service", "web")["metadata"].get("finalizers", []), "the finalizer to go")
    assert not {reference.HASH_LABEL, reference.ID_LABEL} & set(world.kube.get("Service", "web")["metadata"].get("labels", {}))


def test_a_reused_load_balancer_of_clb(world):
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
    group = builder.group(service, lb_id, port["nodePort"], backends(port, ALL))
    builder.listener(service, lb_id, port, group)
    builder.call("CreateVServerGroup", LoadBalancerId=lb_id, VServerGroupName="mine")
    builder.mark(service, lb_id, ip=lb["Address"])
    before = CLB.held(world)
    kube = world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: "DescribeLoadBalancerAttribute" in world.cloud.actions(), "the look-up")
    world.settled()
    assert sorted(world.cloud.actions()) == ["DescribeLoadBalancerAttribute", "DescribeLoadBalancerListeners", "DescribeVServerGroupAttribute",
                                             "DescribeVServerGroups"]
    assert CLB.held(world) == before
    assert writes(world, kube) == [PATCH]
    assert world.kube.events("web") == []

    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")
    left = views.only_lb(world)
    assert left["LoadBalancerId"] == lb_id
    assert views.listeners(left) == []
    assert views.groups(left) == {"mine": set()}


def test_a_reused_load_balancer_of_nlb(world):
    """Created in the console, listeners overridden: one patch and no write to the cloud, and deletion leaves what is the user's."""
    NLB.product.configure(world)
    views.nodes(world, 3)
    builder = reference.NlbBuilder(world)
    lb = builder.call("CreateLoadBalancer", AddressType="Internet", VpcId="vpc-test", LoadBalancerName="mine", **{
        "ZoneMappings__1__ZoneId": "cn-hangzhou-h", "ZoneMappings__1__VSwitchId": "vsw-a",
        "ZoneMappings__2__ZoneId": "cn-hangzhou-i", "ZoneMappings__2__VSwitchId": "vsw-b"})["LoadbalancerId"]
    dns = builder.call("GetLoadBalancerAttribute", LoadBalancerId=lb)["DNSName"]
    theirs = builder.call("CreateServerGroup", ServerGroupName="theirs", VpcId="vpc-test")["ServerGroupId"]
    builder.call("CreateListener", LoadBalancerId=lb, ListenerProtocol="TCP", ListenerPort=9000, ServerGroupId=theirs)
    service = world.kube.create(NLB.product.new("web", annotations={PREFIX + "id": lb, PREFIX + "force-override-listeners": "true"}))
    port = service["spec"]["ports"][0]
    group = builder.group(service, port["nodePort"], "TCP", instances(port, ALL))
    builder.listener(service, lb, 80, "TCP", group)
    builder.mark(service, lb, hostname=dns)
    before = NLB.held(world)
    kube = world.kube.mark()
    world.start_ccmd()
    world.wait(lambda: "GetLoadBalancerAttribute" in world.cloud.actions(), "the look-up")
    world.settled()
    assert writes(world, kube) == [PATCH]
    assert [a for a in world.cloud.actions() if not scenario_look.is_read(a)] == []
    assert NLB.held(world) == before
    assert world.kube.events("web") == []

    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")
    left = NLB.product.only(world)
    assert [one["key"] for one in left["Listeners"]] == ["9000/tcp"]
    assert NLB.product.left(world.cloud.state(), service) == []
