"""Rules that only ccmd has decide who becomes a backend, never who stays one: what the reference serves is served after it."""

import pytest

from tests.support import objects, products, reference, scenario_look, views

EVERY = (1, 2, 3)


class Clb(products.Clb):
    """Backends as the reference writes them, and how ccmd's first look is known."""

    builder = reference.Builder
    look = "DescribeLoadBalancers"
    group_of = staticmethod(lambda builder, service, lb, part, servers: builder.group(service, lb, part, servers))
    listen = staticmethod(lambda builder, service, lb, group: builder.listener(service, lb, service["spec"]["ports"][0], group))

    def made(self, builder, service):
        lb = builder.load_balancer(service)
        return lb["LoadBalancerId"], {"ip": lb["Address"]}

    def instance(self, number, port, weight):
        return {"serverId": f"i-node-{number}", "port": port, "weight": weight, "type": "ecs"}


class Nlb(products.Nlb):
    builder = reference.NlbBuilder
    look = "ListLoadBalancers"
    group_of = staticmethod(lambda builder, service, lb, part, servers: builder.group(service, part, "TCP", servers))
    listen = staticmethod(lambda builder, service, lb, group: builder.listener(service, lb, 80, "TCP", group))

    def made(self, builder, service):
        lb, dns = builder.load_balancer(service)
        return lb, {"hostname": dns}

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

    def take(self):
        """ccmd starts and is at rest; returns what it wrote to the cloud."""
        mark = self.world.cloud.mark()
        self.world.start_ccmd()
        self.world.wait(lambda: self.product.look in self.world.cloud.actions(mark), "the first look")
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
