"""Rules that only ccmd has decide who becomes a backend, never who stays one: what the reference serves is served after it."""

import pytest

from tests.support import objects, products, reference, scenario_look, views

EVERY = (1, 2, 3)


class Clb(products.Clb):
    """Backends as the reference writes them, and how ccmd's first look is known."""

    builder = reference.Builder
    look = "DescribeLoadBalancers"
    group_prefix = "rsp"
    group_of = staticmethod(lambda builder, service, lb, part, servers: builder.group(service, lb, part, servers))
    listen = staticmethod(lambda builder, service, lb, group: builder.listener(service, lb, service["spec"]["ports"][0], group))

    def made(self, builder, service):
        lb = builder.load_balancer(service)
        return lb["LoadBalancerId"], {"ip": lb["Address"]}

    def by_hand(self, builder):
        return builder.call("CreateLoadBalancer", AddressType="internet", InstanceChargeType="PayByCLCU", LoadBalancerName="mine")[
            "LoadBalancerId"]

    def instance(self, number, port, weight):
        return {"serverId": f"i-node-{number}", "port": port, "weight": weight, "type": "ecs"}


class Nlb(products.Nlb):
    builder = reference.NlbBuilder
    look = "ListLoadBalancers"
    group_prefix = "sgp"
    group_of = staticmethod(lambda builder, service, lb, part, servers: builder.group(service, part, "TCP", servers))
    listen = staticmethod(lambda builder, service, lb, group: builder.listener(service, lb, 80, "TCP", group))

    def made(self, builder, service):
        lb, dns = builder.load_balancer(service)
        return lb, {"hostname": dns}

    def by_hand(self, builder):
        zones = {f"ZoneMappings__{n}__{key}": value for n, one in enumerate(products.ZONES.items(), 1)
                 for key, value in zip(("ZoneId", "VSwitchId"), one)}
        return builder.call("CreateLoadBalancer", AddressType="Internet", VpcId="vpc-test", LoadBalancerName="mine", **zones)[
            "LoadbalancerId"]

    def instance(self, number, port, weight):
        return {"ServerId": f"i-node-{number}", "Port": port, "Weight": weight, "ServerType": "Ecs"}


class Taken:
    """A cluster with one Service that the reference serves, and ccmd that takes it over."""

    def __init__(self, world, product):
        self.world = world
        self.product = product
        self.kube = world.kube

    def leave(self, service, part, servers):
        """The reference has made the load balancer of the Service, with one group."""
        builder = self.product.builder(self.world)
        lb, entry = self.product.made(builder, service)
        self.product.listen(builder, service, lb, self.product.group_of(builder, service, lb, part, servers))
        builder.mark(service, lb, **entry)

    def take(self, event=None):
        """ccmd starts, reads or emits the event, and is at rest; returns what it wrote to the cloud."""
        mark = self.world.cloud.mark()
        self.world.start_ccmd()
        self.world.wait(lambda: self.events(event) if event else self.product.look in self.world.cloud.actions(mark), "the first look")
        self.world.settled()
        return [action for action in self.world.cloud.actions(mark) if not scenario_look.is_read(action)]

    def servers(self):
        lb = self.product.only(self.world)
        return sorted(server for group in lb["Groups"] for server, _, _ in group["servers"]) if lb else None

    def events(self, reason):
        return [message for _, found, message, _ in self.kube.events("web") if found == reason]


@pytest.fixture(params=[Clb, Nlb], ids=["clb", "nlb"])
def one(request, world):
    taken = Taken(world, request.param())
    taken.product.configure(world)
    return taken


# --- nodes that all belong to the control plane -------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["Cluster", "Local"])
def test_nodes_of_the_control_plane_serve_on(one, policy):
    """The label says what a node is, not that nothing may be sent there."""
    views.nodes(one.world, 3, labels={"node-role.kubernetes.io/control-plane": ""})
    service = one.kube.create(one.product.new("web", policy=policy))
    one.kube.create(objects.endpoint_slice(service, [(f"10.{n}.1.1", f"node-{n}") for n in EVERY]))
    port = service["spec"]["ports"][0]["nodePort"]
    one.leave(service, port, [one.product.instance(n, port, 100 if policy == "Cluster" else 1) for n in EVERY])
    assert one.take() == []
    assert one.servers() == ["node-1", "node-2", "node-3"]


def test_a_master_and_an_excluded_node_serve_nothing(one):
    """These labels say so, here and at the reference."""
    labels = ({"node-role.kubernetes.io/master": ""}, {"node.kubernetes.io/exclude-from-external-load-balancers": ""},
              {"node-role.kubernetes.io/control-plane": ""})
    for number, label in enumerate(labels, 1):
        one.kube.create(objects.node(f"node-{number}", f"i-node-{number}", labels=label))
    one.kube.create(one.product.new("web"))
    one.world.start_ccmd()
    one.world.wait(lambda: one.kube.ingress("web"), "an address")
    one.world.settled()
    assert one.servers() == ["node-3"]


# --- Services that never worked -------------------------------------------------------------------------------------------


def refused_services(product):
    """What the reference never came to an end with: it had set the finalizer, and published nothing."""
    chosen = products.PREFIX + "vgroup-port"
    return {"no-node-ports": product.new("web", allocateLoadBalancerNodePorts=False),
            "malformed-group": product.new("web", annotations={chosen: "no-colon"}),
            "missing-group": product.new("web", annotations={chosen: f"{product.group_prefix}-nope:80"})}


@pytest.mark.parametrize("case, reused", [("no-node-ports", False), ("no-node-ports", True), ("malformed-group", True), ("missing-group", True)])
def test_a_service_that_never_worked_gets_nothing(one, case, reused):
    """The finalizer alone does not prove that a load balancer ever served the Service."""
    views.nodes(one.world, 3)
    builder = one.product.builder(one.world)
    service = refused_services(one.product)[case]
    if reused:
        lb = one.product.by_hand(builder)
        service["metadata"]["annotations"].update({products.PREFIX + "id": lb, products.PREFIX + "additional-resource-tags": "team=a"})
    service = one.kube.create(service)
    if not reused:  # with a listener, but without a node port there was nobody to send to
        lb, _ = one.product.made(builder, service)
        one.product.listen(builder, service, lb, one.product.group_of(builder, service, lb, 0, []))
    one.kube.patch("Service", "web", {"metadata": {"finalizers": [builder.finalizer]}})
    before = one.kube.get("Service", "web")
    assert one.take("SyncLoadBalancerFailed") == []
    after = one.kube.get("Service", "web")
    assert after["metadata"].get("labels", {}) == before["metadata"].get("labels", {})
    assert after["status"].get("loadBalancer", {}) == {}
    assert after["metadata"]["finalizers"] == before["metadata"]["finalizers"]
    one.kube.delete("Service", "web")
    one.world.wait(lambda: one.kube.get("Service", "web") is None, "the deletion")
    assert [found["LoadBalancerId"] for found in one.product.find(one.world)] == ([lb] if reused else [])
