"""Rules that only ccmd has decide who becomes a backend, never who stays one: what the reference serves is served after it."""

import os
import re

import pytest

from tests.support import objects, proc, products, reference, scenario_look, views

pytestmark = pytest.mark.time_scale(10)
EVERY = (1, 2, 3)
PODS = {"service.beta.kubernetes.io/backend-type": "eni"}
NODE = {1: "10.1.0.11", 2: "10.2.0.12", 3: "10.1.0.13"}  # of the primary interfaces
OWN = {1: "10.1.1.1", 2: "10.2.2.1"}  # of pods with interfaces of their own
ENIS = {**{ip: f"eni-i-node-{n}" for n, ip in NODE.items()}, **{ip: f"eni-pods-{n}" for n, ip in OWN.items()}}


class Clb(products.Clb):
    """Backends as the reference writes them, and the first call of ccmd."""

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

    def address(self, ip, weight=100):
        return {"serverId": ENIS[ip], "serverIp": ip, "port": 8080, "weight": weight, "type": "eni"}


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

    def address(self, ip, weight=100):
        return {"ServerId": ENIS[ip], "ServerIp": ip, "ServerType": "Eni", "Port": 8080, "Weight": weight}


class NlbIp(Nlb):
    """Groups of addresses: no interface is looked up."""

    def group_of(self, builder, service, _, part, servers):
        return builder.group(service, part, "TCP", servers, ServerGroupType="Ip")

    def address(self, ip, weight=100):
        return {"ServerId": ip, "ServerIp": ip, "ServerType": "Ip", "Port": 8080, "Weight": weight}

    def service(self, spec, annotations):
        super().service(spec, annotations)
        annotations[products.PREFIX + "server-group-type"] = "Ip"


class Taken:
    """A cluster with one Service that the reference serves, and ccmd that takes it over."""

    def __init__(self, world, product):
        self.world = world
        self.product = product
        self.kube = world.kube

    def leave(self, service, part, servers):
        """The reference has created the load balancer of the Service, with one group."""
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

    def nodes(self):
        for number in EVERY:
            made = objects.node(f"node-{number}", f"i-node-{number}")
            made["status"]["addresses"] = [{"type": "InternalIP", "address": NODE[number]}]
            self.kube.create(made)

    def pod(self, name, ip, host_network=True):
        self.kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
                          "spec": {"nodeName": "node-1", "hostNetwork": host_network, "containers": [{"name": "c", "image": "i"}]}})
        self.kube.patch("Pod", name, {"status": {"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}]}}, subresource="status")

    def pods(self, *endpoints, left=None, **options):
        """A Service whose backends are these pods: (address, node, pod or None[, ready]). Returns Service and slice; left: what the
        reference has made of it, by address."""
        service = self.kube.create(self.product.new("web", annotations=PODS, **options))
        made = self.slice(service, *endpoints)
        self.kube.create(made)
        if left is not None:
            self.leave(service, 8080, [self.product.address(ip) for ip in left])
        return service, made

    def slice(self, service, *endpoints):
        made = objects.endpoint_slice(service, [(ip, f"node-{node}", *rest) for ip, node, _, *rest in endpoints])
        for item, (_, _, pod, *_) in zip(made["endpoints"], endpoints):
            item["targetRef"].update(name=pod, uid=f"uid-of-{pod}")
            if pod is None:
                del item["targetRef"]
        return made

    def reads(self, since=0):
        """Pods that were read, one by one."""
        return [a.rsplit("/", 1)[1] for a in self.kube.actions(since) if a.startswith("GET /api/v1/namespaces/default/pods/")]

    def wait_servers(self, *wanted):
        self.world.wait(lambda: self.servers() == sorted(wanted), f"backends {wanted}")
        self.world.settled()
        assert self.servers() == sorted(wanted)

    def start(self):
        """ccmd starts with a Service that has no load balancer."""
        self.world.start_ccmd()
        self.world.wait(lambda: self.kube.ingress("web"), "an address", timeout=40)
        self.world.settled()

    def warnings(self):
        """Texts of the two events about rules; those that stand are counted, not repeated."""
        return self.events("BackendsFrozen") + self.events("SkipSyncBackends")

    def allow(self):
        code, out, err = proc.run([self.world.binary("ccmd"), "allow-removals", "--config", self.world.config, self.product.name], timeout=60)
        assert code == 0, (out, err)

    def held(self):
        return sum(value for key, value in self.world.metrics().items() if key.startswith("ccmd_held_removals{"))

    def servers(self):
        lb = self.product.only(self.world)
        return sorted(server for group in lb["Groups"] for server, _, _ in group["servers"]) if lb else None

    def events(self, reason):
        return [message for _, found, message, _ in self.kube.events("web") if found == reason]


def begin(world, product):
    token = os.path.join(world.folder, "control")
    with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write("token-of-an-operator\n")
    taken = Taken(world, product)
    taken.admin = f'admin: {{ listen = "127.0.0.1:{proc.free_port()}"; control_token_file = "{token}"; }};'
    taken.product.configure(world, extra=taken.admin)
    return taken


@pytest.fixture(params=[Clb, Nlb], ids=["clb", "nlb"])
def one(request, world):
    return begin(world, request.param())


@pytest.fixture(params=[Clb, Nlb, NlbIp], ids=["clb", "nlb", "nlb-ip"])
def every(request, world):
    """And for each way in which pods are backends."""
    return begin(world, request.param())


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


# --- pods with the network of their node ----------------------------------------------------------------------------------

HOSTED = (("host-1", 1), ("host-2", 2))


@pytest.mark.parametrize("mixed", [False, True], ids=["all", "mixed"])
def test_pods_with_the_network_of_their_node_serve_on(every, mixed):
    """Each is read once, however many ports and passes there are."""
    one = every
    one.nodes()
    endpoints = [(NODE[n], n, name) for name, n in HOSTED] + ([(OWN[1], 1, "plain")] if mixed else [])
    for name, n in HOSTED:
        one.pod(name, NODE[n])
    one.pods(*endpoints, left=[ip for ip, *_ in endpoints])
    assert one.take() == []
    assert one.servers() == sorted(ip for ip, *_ in endpoints)
    assert sorted(one.reads()) == ["host-1", "host-2"]
    assert one.warnings() == [] and one.held() == 0
    one.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/note": "1"}}})
    one.world.wait(lambda: one.kube.get("Service", "web")["metadata"]["annotations"].get("example.com/note"), "the edit")
    one.world.settled()
    assert sorted(one.reads()) == ["host-1", "host-2"]


def test_pods_with_the_network_of_their_node_come_and_go(every):
    one = every
    one.nodes()
    for name, n in HOSTED:
        one.pod(name, NODE[n])
    service, _ = one.pods(*[(NODE[n], n, name) for name, n in HOSTED])
    one.start()
    assert one.servers() == [NODE[1], NODE[2]]
    assert one.reads() == ["host-1", "host-2"]
    one.pod("host-3", NODE[3])
    one.kube.replace(one.slice(service, (NODE[1], 1, "host-1", False), (NODE[2], 2, "host-2"), (NODE[3], 3, "host-3")))
    one.wait_servers(NODE[2], NODE[3])
    one.kube.replace(one.slice(service, (NODE[3], 3, "host-3")))
    one.wait_servers(NODE[3])
    assert sorted(one.reads()) == ["host-1", "host-1", "host-2", "host-3"]  # one that is not ready is read for its readiness gates
    assert one.warnings() == []


# --- addresses of nodes, written by hand ----------------------------------------------------------------------------------

STRANGERS = {"no-pod": None, "missing-pod": "missing", "pod-elsewhere": "host-2", "pod-of-its-own": "plain"}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_the_address_of_a_node_is_not_added(every, stranger):
    one = every
    one.nodes()
    one.pod("host-2", NODE[2])
    one.pod("plain", NODE[1], host_network=False)
    one.pods((OWN[1], 1, "own"), (NODE[1], 1, STRANGERS[stranger]))
    one.start()
    assert one.servers() == [OWN[1]]
    text, = one.warnings()
    assert text.startswith(f"Not sync pods [{NODE[1]}] whose ip is that of a node (their endpoints name no pod of their namespace")
    assert one.reads() == [name for name in [STRANGERS[stranger]] if name]
    mark = one.kube.mark()
    one.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/note": "1"}}})
    one.world.wait(lambda: one.events("AnnotationChanged"), "the edit")
    one.world.settled()
    assert one.reads(mark) == []  # not before the slice changes


def test_the_address_of_a_node_that_its_status_does_not_name(one):
    """The cloud knows whose primary interface it is; that of a machine that is no node is as good as any, and no call is made for it."""
    for number in (1, 3):
        one.kube.create(objects.node(f"node-{number}", f"i-node-{number}"))
    one.pods((OWN[1], 1, "own"), (NODE[1], 1, None), (NODE[2], 1, None), (NODE[3], 1, "pod-of-another"))
    one.start()
    assert one.servers() == [OWN[1], NODE[2]]
    text, = one.warnings()
    assert text.startswith(f"Not sync pods [{NODE[1]},{NODE[3]}] whose ip is that of a node (their endpoints name no pod of their namespace")
    assert one.world.cloud.actions().count("DescribeNetworkInterfaces") == 1
    mark = one.world.cloud.mark()
    one.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/note": "1"}}})
    one.world.wait(lambda: one.events("AnnotationChanged"), "the edit")
    one.world.settled()
    assert one.world.cloud.actions(mark).count("DescribeNetworkInterfaces") == 0


def test_a_service_without_other_backends_says_why(one):
    one.product.configure(one.world, "unserved_wait_s = 0;")
    one.nodes()
    one.pods((NODE[1], 1, None))
    one.start()
    assert one.servers() == []
    text, = one.events("UnAvailableLoadBalancer")
    assert text.endswith(": none of its ready endpoints can be a backend (address of a node, and no hostNetwork pod of the namespace has it)")


def test_many_pods_are_read_in_several_passes(world):
    """A hundred per pass, each once; none of them is given up, and no Warning is about those whose turn comes later."""
    one = begin(world, NlbIp())
    endpoints = []
    for number in range(130):
        node = objects.node(f"n-{number}", f"i-{number}")
        endpoints.append((f"10.1.7.{number}", f"host-{number}"))
        node["status"]["addresses"] = [{"type": "InternalIP", "address": endpoints[-1][0]}]
        one.kube.create(node)
        one.pod(endpoints[-1][1], endpoints[-1][0])
    one.pods(*[(ip, 1, name) for ip, name in endpoints], left=[ip for ip, _ in endpoints[:-1]])
    assert set(one.take()) <= {"AddServersToServerGroup"}
    one.world.wait(lambda: len(one.servers()) == 130, "the last pod")
    one.world.settled()
    assert one.servers() == sorted(ip for ip, _ in endpoints)
    assert sorted(one.reads()) == sorted(name for _, name in endpoints)
    assert one.warnings() == []


def test_the_address_of_a_node_stays_until_it_is_released(every):
    one = every
    one.nodes()
    service, _ = one.pods((OWN[1], 1, "own"), (NODE[1], 1, None), (NODE[2], 2, "missing"), left=[OWN[1], NODE[1], NODE[2]])
    assert one.take() == []
    assert one.servers() == sorted([OWN[1], NODE[1], NODE[2]])
    text, = one.warnings()
    assert text == ("2 backend(s) are kept as they are (address of a node, and no hostNetwork pod of the namespace has it: "
                    f"{NODE[1]}, missing); until their endpoints are no longer ready or their nodes are gone; to let them go now: "
                    f"ccmd allow-removals {one.product.name}")
    assert one.held() == 2
    one.kube.replace(one.slice(service, (OWN[1], 1, "own"), (NODE[1], 1, None), (NODE[2], 2, "missing", False)))
    one.wait_servers(OWN[1], NODE[1])
    assert one.held() == 1
    one.allow()
    one.wait_servers(OWN[1])
    one.world.wait(lambda: one.events("BackendsReleased") == ["No backend is kept any more that would not be added"], "the end of it")
    assert one.held() == 0
    assert len(one.events("BackendsFrozen")) == 2  # the second names the one that is left


def test_who_becomes_right_is_served(every):
    """The slice names the pod at last; a pod that is gone from it leaves."""
    one = every
    one.nodes()
    one.pod("host-1", NODE[1])
    service, _ = one.pods((OWN[1], 1, "own"), (NODE[1], 1, "missing"), left=[OWN[1], NODE[1]])
    assert one.take() == []
    one.kube.replace(one.slice(service, (OWN[1], 1, "own"), (NODE[1], 1, "host-1")))
    one.world.wait(lambda: one.events("BackendsReleased"), "the end of it")
    assert one.servers() == [NODE[1], OWN[1]] and one.held() == 0
    assert one.reads() == ["missing", "host-1"]
    one.kube.replace(one.slice(service, (OWN[1], 1, "own")))
    one.wait_servers(OWN[1])


def test_an_api_server_that_does_not_answer_decides_nothing(every):
    """Present backends stay, new ones are not added yet, and the read is retried."""
    one = every
    one.nodes()
    for name, n in HOSTED:
        one.pod(name, NODE[n])
    one.pods(*[(NODE[n], n, name) for name, n in HOSTED], (OWN[1], 1, "own"), left=[NODE[1], OWN[1]])
    one.kube.fault(action="GET /api/v1/namespaces/default/pods/*", count=1000, http=500)
    assert one.take("BackendsFrozen") == []
    assert one.servers() == [NODE[1], OWN[1]]
    assert one.events("BackendsFrozen")[0].startswith("1 backend(s) are kept as they are (address of a node, and its pod cannot be read: host-1)")
    assert re.search(r"warn .*pod default/host-[12] has the address of a node, and cannot be read: ", one.world.log())
    one.kube.clear_faults()
    one.world.wait(lambda: one.servers() == sorted([NODE[1], NODE[2], OWN[1]]), "the next try", timeout=30)
    one.world.wait(lambda: one.events("BackendsReleased"), "the end of it")


@pytest.mark.parametrize("how", ["another-uid", "no-uid", "audit", "resync"])
def test_a_pod_that_is_gone_lends_its_node_no_longer(one, how):
    """An EndpointSlice names a deleted pod at another port: the address of the node is not added there."""
    one.product.configure(one.world, "audit_interval_s = 1;" if how == "audit" else "", extra=one.admin)
    one.nodes()
    one.pod("host-1", NODE[1])
    service, made = one.pods((OWN[1], 1, "own"), (NODE[1], 1, "host-1"))
    target = made["endpoints"][1]["targetRef"]
    if how == "no-uid":
        del target["uid"]
        one.kube.replace(made)
    one.start()
    assert one.servers() == [NODE[1], OWN[1]]
    mark = one.kube.mark()
    one.kube.http.request("DELETE", "/api/v1/namespaces/default/pods/host-1?gracePeriodSeconds=0")
    assert one.kube.get("Pod", "host-1") is None
    if how == "another-uid":
        target["uid"] = "uid-of-another"
    if how == "resync":
        assert one.world.resync("default/web")[0] == 0
    if how in ("audit", "resync"):
        one.world.wait(lambda: one.events("BackendsFrozen"), "the rule")
    made["ports"][0]["port"] = 22
    one.kube.replace(made)
    one.wait_servers(OWN[1])
    assert "host-1" in one.reads(mark)


# --- further addresses of an endpoint, and endpoints without a node -------------------------------------------------------


def test_further_addresses_stay(every):
    one = every
    one.nodes()
    service, made = one.pods((OWN[1], 1, "own"))
    made["endpoints"][0]["addresses"].append(OWN[2])
    one.kube.replace(made)
    one.leave(service, 8080, [one.product.address(ip) for ip in OWN.values()])
    assert one.take() == []
    assert one.servers() == sorted(OWN.values())
    assert one.warnings() == ["1 backend(s) are kept as they are (not the first address of its endpoint: own); until their endpoints are no "
                              f"longer ready or their nodes are gone; to let them go now: ccmd allow-removals {one.product.name}"]
    made["endpoints"][0]["addresses"].pop()
    one.kube.replace(made)
    one.wait_servers(OWN[1])


def test_further_addresses_count_for_the_weight_of_their_node(one):
    """Policy Local, as before the take-over."""
    one.nodes()
    service = one.kube.create(one.product.new("web", policy="Local"))
    made = one.slice(service, ("10.1.1.1", 1, "a"), ("10.2.2.1", 2, "b"))
    made["endpoints"][0]["addresses"].append("10.1.1.2")
    one.kube.create(made)
    port = service["spec"]["ports"][0]["nodePort"]
    one.leave(service, port, [one.product.instance(1, port, 2), one.product.instance(2, port, 1)])
    assert one.take() == []
    assert one.warnings() == []


def test_further_addresses_are_not_added(every):
    one = every
    one.nodes()
    service, made = one.pods((OWN[1], 1, "own"))
    made["endpoints"][0]["addresses"].append(OWN[2])
    one.kube.replace(made)
    one.start()
    assert one.servers() == [OWN[1]] and one.warnings() == []


def test_a_node_that_an_endpoint_may_be_on_stays(one):
    """Policy Local: one endpoint names its node, the other does not. A node that is not ready, or gone, leaves as any other."""
    one.nodes()
    service = one.kube.create(one.product.new("web", policy="Local"))
    made = one.slice(service, ("10.1.1.1", 1, "a"), ("10.1.1.2", 2, "b"))
    del made["endpoints"][1]["nodeName"]
    one.kube.create(made)
    port = service["spec"]["ports"][0]["nodePort"]
    one.leave(service, port, [one.product.instance(n, port, 1) for n in EVERY])
    assert one.take() == []
    text, = one.events("BackendsFrozen")
    assert text.startswith("2 backend(s) are kept as they are (an endpoint without nodeName may be there: node-2, node-3); until ")
    one.kube.delete("Node", "node-3")
    one.wait_servers("node-1", "node-2")
    made["endpoints"][1]["nodeName"] = "node-1"
    one.kube.replace(made)
    one.wait_servers("node-1")


@pytest.mark.parametrize("policy", ["Cluster", "Local"])
def test_a_node_without_the_condition_ready_stays(one, policy):
    """It has others: it was never said to be NotReady. A node that is new and says no more is not added."""
    one.nodes()
    for number in (2, 3):
        one.kube.patch("Node", f"node-{number}", {"status": {"conditions": [{"type": "MemoryPressure", "status": "False"}]}},
                       subresource="status")
    service = one.kube.create(one.product.new("web", policy=policy))
    one.kube.create(one.slice(service, *[(f"10.{n}.1.1", n, f"pod-{n}") for n in EVERY]))
    port = service["spec"]["ports"][0]["nodePort"]
    one.leave(service, port, [one.product.instance(n, port, 100 if policy == "Cluster" else 1) for n in (1, 2)])
    assert one.take() == []
    assert one.servers() == ["node-1", "node-2"]
    text, = one.events("BackendsFrozen")
    assert text.startswith("1 backend(s) are kept as they are (nodes without condition Ready: node-2); until ")


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
    if not reused:  # with a listener, but without a node port there were no backends
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
