"""Absence is no order to delete: backends whose nodes are missing or not ready, and those whose EndpointSlices are missing.

What a watch saw being deleted goes at once, as far as the floor of a group allows; what a new list lacks waits for a second look;
and of nodes that are not ready one stays in any case. What is held is told, and comes again by itself.
"""

import re
import signal

import pytest

from tests.support import objects, proc, products, views

pytestmark = pytest.mark.time_scale(10)
PORTS = ((80, "TCP"),)
RESOURCES = ("services", "nodes", "endpointslices")
QUICK = "removal_window_s = 2; missing_wait_s = 2;"
NOBODY = "(no such thing)"


class World:
    """A world with one product, whose only load balancer has one group per Service."""

    def __init__(self, world, product):
        self.world = world
        self.product = product
        self.kube = world.kube
        self.cloud = world.cloud

    def begin(self, nodes=3, options="", services=("web",), endpoints=None, extra="", **service):
        self.product.configure(self.world, options, extra=extra)
        views.nodes(self.world, nodes)
        for name in services:
            made = self.product.new(name, PORTS, **service)
            self.kube.create(made)
            if endpoints is not None:
                self.slice(made, endpoints)
        self.world.start_ccmd()
        self.world.wait(lambda: all(self.kube.ingress(name) for name in services), "addresses", timeout=40)
        self.world.settled()
        self.since = self.cloud.mark()

    def slice(self, service, endpoints, suffix="abc"):
        self.kube.create(objects.endpoint_slice(service, endpoints, suffix))

    def service(self, name="web"):
        return self.kube.get("Service", name)

    def groups(self):
        return [sorted((server, weight) for server, _, weight in group["servers"])
                for lb in self.product.find(self.world) for group in lb["Groups"]]

    def servers(self):
        """Of the only group, instances without what all have in common, in order; the groups, when it is not the only one."""
        groups = self.groups()
        return [re.sub(r"^(i-)?node-", "", server) for server, _ in groups[0]] if len(groups) == 1 else groups

    def wait_servers(self, *wanted, timeout=20):
        self.world.wait(lambda: self.servers() == list(wanted), f"backends {wanted}", timeout=timeout)

    def stay_servers(self, *wanted):
        """What is there is still there when everything has been done."""
        self.world.settled()
        assert self.servers() == list(wanted)

    def ready(self, name, ready=True):
        conditions = [{"type": "Ready", "status": "True" if ready else "Unknown"}]
        self.kube.patch("Node", name, {"status": {"conditions": conditions}}, subresource="status")

    def events(self, reason, name="web"):
        return [message for _, found, message, _ in self.kube.events(name) if found == reason]

    def wait_frozen(self, *parts, name="web"):
        """The newest Warning about frozen backends has these parts."""
        self.world.wait(lambda: all(part in (self.events("BackendsFrozen", name) or [NOBODY])[-1] for part in parts),
                        f"an event with {parts}")

    def calls(self, *actions):
        return [action for action in self.cloud.actions(self.since) if action in actions]

    def removals(self):
        return self.calls("RemoveVServerGroupBackendServers", "RemoveServersFromServerGroup")

    def unseen(self, change):
        """What is changed now no watch sees: the next list shows it."""
        self.kube.fault(action="WATCH *", count=100000, http=503)
        for resource in RESOURCES:
            self.kube.watches("drop", resource)
        change()
        for resource in RESOURCES:
            self.kube.watches("expire", resource)
        lists = self.lists()
        self.kube.clear_faults()
        self.world.wait(lambda: all(self.lists()[r] > lists[r] for r in RESOURCES), "a list of each kind", timeout=60)
        self.world.settled()

    def lists(self):
        values = self.world.metrics()
        return {resource: values[f'ccmd_cache_lists_total{{kind="{resource}"}}'] for resource in RESOURCES}

    def held(self):
        return sum(value for key, value in self.world.metrics().items() if key.startswith("ccmd_held_removals{"))


@pytest.fixture(params=[products.Clb, products.Nlb], ids=["clb", "nlb"])
def one(request, world):
    return World(world, request.param())


# --- nodes that are not ready ------------------------------------------------------------------------------------------


def test_one_after_the_other(one):
    """Three nodes turn NotReady one after the other, as in an outage of the control plane: one goes, two stay."""
    one.begin()
    one.ready("node-1", False)
    one.wait_servers("2", "3")
    one.ready("node-2", False)
    one.wait_frozen("1 backend(s) are kept", "nodes NotReady: node-2", "next look at 20", f"ccmd allow-removals {one.product.name}")
    one.ready("node-3", False)
    one.wait_frozen("nodes NotReady: node-2, node-3", "until one of them is Ready")
    one.stay_servers("2", "3")
    assert len(one.removals()) == 1 and one.held() == 2
    assert "node-2, node-3" in one.world.admin("/statusz")[1]
    assert one.calls("DescribeInstances") == []
    for node in ("node-1", "node-2", "node-3"):
        one.ready(node)
    one.world.wait(lambda: one.events("BackendsReleased"), "the end of it")
    one.wait_servers("1", "2", "3")
    assert one.held() == 0


def test_what_may_go_goes_by_itself(one):
    """A window later the next one goes, without anything that happens; the last never."""
    one.begin(options=QUICK)
    one.ready("node-1", False)
    one.wait_servers("2", "3")
    one.ready("node-2", False)
    one.wait_servers("3")
    one.ready("node-3", False)
    one.wait_frozen("nodes NotReady: node-3", "until one of them is Ready")
    one.stay_servers("3")


def test_half_of_a_large_group(one):
    one.begin(nodes=5)
    for number in (1, 2, 3, 4):
        one.ready(f"node-{number}", False)
    one.wait_frozen("2 backend(s)", "nodes NotReady: ")
    one.world.settled()
    assert len(one.servers()) == 3 and "5" in one.servers()


def test_all_at_once(one):
    """Nobody would be left: then nobody goes."""
    one.begin(nodes=2, options=QUICK)
    one.kube.fault(action="WATCH *", count=100000, http=503)
    one.kube.watches("drop", "nodes")
    for number in (1, 2):
        one.ready(f"node-{number}", False)
    one.kube.clear_faults()
    one.wait_frozen("nodes NotReady: node-1, node-2", "until one of them is Ready")
    one.stay_servers("1", "2")
    assert one.removals() == []


def test_a_node_that_comes_back_has_not_gone(one):
    """Restarted one after the other: each goes and comes back at once."""
    one.begin()
    for number in (1, 2, 3):
        one.ready(f"node-{number}", False)
        one.world.wait(lambda n=str(number): n not in one.servers(), "the node to go")
        one.ready(f"node-{number}")
        one.wait_servers("1", "2", "3")
    assert one.events("BackendsFrozen") == []


def test_weights_of_frozen_backends_stay(one):
    """Local: the weight is the number of pods, but not of those that only stay."""
    one.begin(policy="Local", endpoints=[("10.1.1.1", "node-1"), ("10.2.2.1", "node-2"), ("10.1.3.1", "node-3"),
                                         ("10.1.3.2", "node-3")])
    before = dict(one.groups()[0])
    one.ready("node-1", False)
    one.wait_servers("2", "3")
    one.ready("node-3", False)
    one.wait_frozen("nodes NotReady: node-3")
    one.world.settled()
    now = dict(one.groups()[0])
    frozen = next(server for server in before if server.endswith("3"))
    assert now[frozen] == before[frozen] and len(now) == 2


def test_pods_as_backends_do_not_care_for_nodes(one):
    """What a slice that is there says is obeyed at once, whatever becomes of nodes."""
    one.begin(endpoints=[("10.1.1.1", "node-1"), ("10.2.2.1", "node-2")], annotations={"service.beta.kubernetes.io/backend-type": "eni"})
    for number in (1, 2, 3):
        one.ready(f"node-{number}", False)
        one.kube.delete("Node", f"node-{number}")
    one.stay_servers("10.1.1.1", "10.2.2.1")
    slice_ = one.kube.get("EndpointSlice", "web-abc")
    slice_["endpoints"] = []
    one.kube.replace(slice_)
    one.wait_servers()
    assert one.events("BackendsFrozen") == []


def test_a_restart_is_no_new_window(one):
    """A new process has no history: what is not ready and not in the group counts as just gone."""
    one.begin(nodes=4)
    for number in (1, 2):
        one.ready(f"node-{number}", False)
    one.wait_servers("3", "4")
    one.world.stop_ccmd()
    one.world.start_ccmd()
    one.world.wait(lambda: f"plugin {one.product.name}: started" in one.world.ccmd.err(), "the start")
    one.ready("node-3", False)
    one.wait_frozen("nodes NotReady: node-3")
    one.stay_servers("3", "4")


# --- nodes that are missing --------------------------------------------------------------------------------------------


def test_a_node_that_is_deleted_goes_at_once(one):
    one.begin()
    one.kube.delete("Node", "node-1")
    one.wait_servers("2", "3")
    assert one.calls("DescribeInstances") == [] and one.events("BackendsFrozen") == []


def test_nodes_that_are_deleted_in_number(one):
    """All Node objects go, while the instances run: half of the group stays, told by one question to the cloud."""
    one.begin(nodes=4)
    for number in (1, 2, 3, 4):
        one.kube.delete("Node", f"node-{number}")
    one.wait_frozen("2 backend(s)", "nodes missing: node-", "next look at 20")
    one.world.settled()
    assert len(one.servers()) == 2
    assert 1 <= len(one.calls("DescribeInstances")) <= 2


def test_instances_that_are_gone_go(one):
    """A scale-down of more than half: the cloud says that the instances are gone, and they are sent away at once."""
    one.begin(nodes=5)
    for number in (2, 3, 4, 5):
        one.cloud.edit("delete", type="instance", id=f"i-node-{number}")
        one.kube.delete("Node", f"node-{number}")
    one.wait_servers("1")


def test_the_cloud_cannot_be_asked(one):
    """A failed question is no answer."""
    one.begin(nodes=5)
    one.cloud.fault("DescribeInstances", count=1000, code="Forbidden.RAM", http=403)
    for number in (2, 3, 4, 5):
        one.cloud.edit("delete", type="instance", id=f"i-node-{number}")
        one.kube.delete("Node", f"node-{number}")
    one.wait_frozen("2 backend(s)", "nodes missing: ")
    one.world.settled()
    assert len(one.servers()) == 3
    one.world.wait(lambda: "whether instances of missing nodes still exist is not known" in one.world.log(), "a line of the log")


def limit_questions(one, count):
    """The running daemon may ask so often in a minute. Returns when it knows."""
    known = one.world.log().count(": taken over: ")
    one.world.config = one.world.write_config(plugins=f'{{ name = "{one.product.name}"; workers = 4; }}', log_level="debug",
                                              alicloud=f"quotas: {{ ecs = {count}; }};")
    one.world.ccmd.popen.send_signal(signal.SIGHUP)
    one.world.wait(lambda: one.world.log().count(": taken over: ") > known, "the new options")


def scale_down(one, *numbers):
    for number in numbers:
        one.cloud.edit("delete", type="instance", id=f"i-node-{number}")
        one.kube.delete("Node", f"node-{number}")


@pytest.mark.time_scale(1)  # all of it is within a minute
def test_a_question_that_waits_for_its_turn(one):
    """The quota for questions is used up: what they are about stays, the rest of the pass is done, and nobody is told of a failure."""
    one.cloud.http.request("POST", "/_sim/instances", {"instances": [{"id": f"i-node-{n}", "vswitch": "vsw-a"} for n in (6, 7)]})
    one.begin(nodes=7)
    limit_questions(one, 2)
    left = [1, 2, 3, 4, 5, 6, 7]
    for number in (2, 3, 4, 5, 6):  # three of seven go without a question
        scale_down(one, number)
        left.remove(number)
        one.wait_servers(*map(str, left))
        one.world.settled()
    assert len(one.calls("DescribeInstances")) == 2
    scale_down(one, 7)
    one.stay_servers("1", "7")
    service = one.service()
    service["spec"]["ports"].append({"name": "more", "port": 443, "protocol": "TCP", "targetPort": 443})
    one.kube.replace(service)
    one.world.wait(lambda: len(one.groups()) == 2 and all(one.groups()), "the new port")
    one.world.settled()
    assert sorted(len(group) for group in one.groups()) == [1, 2] and len(one.calls("DescribeInstances")) == 2
    assert one.events("SyncLoadBalancerFailed") == [] and "still exist is not known" not in one.world.log()
    limit_questions(one, 100)
    one.world.wait(lambda: [len(group) for group in one.groups()] == [1, 1], "the removal", timeout=30)


def test_several_services_ask_once(one):
    one.begin(nodes=4, services=("web", "api", "db"))
    for number in (1, 2, 3, 4):
        one.kube.delete("Node", f"node-{number}")
    for name in ("web", "api", "db"):
        one.wait_frozen("2 backend(s)", "nodes missing: ", name=name)
    one.world.settled()
    assert [len(group) for group in one.groups()] == [2, 2, 2]
    assert len(one.calls("DescribeInstances")) <= 3, "the nodes went in up to three moments"


def test_a_list_that_lacks_nodes(one):
    """After a 410, or from a server that was restored without its nodes: nothing goes because of it."""
    one.begin()
    one.unseen(lambda: [one.kube.delete("Node", f"node-{number}") for number in (1, 2, 3)])
    one.wait_frozen("3 backend(s)", "nodes missing: node-1, node-2, node-3", "next look at 20")
    one.stay_servers("1", "2", "3")
    assert one.removals() == [] and one.calls("DescribeInstances") == []
    views.nodes(one.world, 3)
    one.world.wait(lambda: one.events("BackendsReleased"), "the end of it")
    one.stay_servers("1", "2", "3")


def test_one_node_is_missing_for_long(one):
    """A list lacks it, and a second look later it is still missing."""
    one.begin(options=QUICK)
    one.unseen(lambda: one.kube.delete("Node", "node-1"))
    one.wait_servers("2", "3")
    one.world.wait(lambda: one.events("BackendsFrozen"), "that it had to wait")


def test_a_restart_with_missing_nodes(one):
    """Nodes that went while no ccmd ran are missing, nobody saw how."""
    one.begin()
    one.world.stop_ccmd()
    for number in (1, 2):
        one.kube.delete("Node", f"node-{number}")
    one.world.start_ccmd()
    one.wait_frozen("nodes missing: i-node-1, i-node-2")
    one.stay_servers("1", "2", "3")


def test_what_people_say_goes_at_once(one):
    """Excluded, cordoned, tainted, all within a moment: the floor is for nodes that nobody sent away."""
    one.begin(nodes=5, annotations={products.PREFIX + "remove-unscheduled-backend": "on"})
    one.kube.patch("Node", "node-1", {"metadata": {"labels": {"node.kubernetes.io/exclude-from-external-load-balancers": ""}}})
    one.kube.patch("Node", "node-2", {"spec": {"unschedulable": True}})
    one.kube.patch("Node", "node-3", {"spec": {"taints": [{"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}]}})
    one.kube.patch("Node", "node-4", {"metadata": {"labels": {"service.beta.kubernetes.io/exclude-node": ""}}})
    one.wait_servers("5")
    assert one.events("BackendsFrozen") == [] and one.calls("DescribeInstances") == []


def test_a_person_lets_them_go(one, tmp_path):
    """`ccmd allow-removals`: what is missing, what is not ready, and the last one, of all Services of the plugin."""
    token = tmp_path / "control"
    token.write_text("token-of-an-operator\n")
    token.chmod(0o600)
    one.begin(services=("web", "api"),
              extra=f'admin: {{ listen = "127.0.0.1:{proc.free_port()}"; control_token_file = "{token}"; }};')
    one.unseen(lambda: [one.kube.delete("Node", f"node-{number}") for number in (1, 2)])
    one.ready("node-3", False)
    for name in ("web", "api"):
        one.wait_frozen("3 backend(s)", "nodes NotReady: node-3; nodes missing: node-1, node-2", name=name)
    assert one.held() == 6 and one.removals() == []
    code, out, err = proc.run([one.world.binary("ccmd"), "allow-removals", "--config", one.world.config, one.product.name], timeout=60)
    assert code == 0 and out == f"plugin {one.product.name}: what is held may go for 300 s: 6 removals\n", err
    one.world.wait(lambda: one.groups() == [[], []], "all to go")
    one.world.wait(lambda: one.held() == 0, "nothing held")
    one.world.wait(lambda: one.events("BackendsReleased", "api"), "the end of it")


# --- slices that are missing -------------------------------------------------------------------------------------------

ENI = {"service.beta.kubernetes.io/backend-type": "eni"}
PODS = [("10.1.1.1", "node-1"), ("10.2.2.1", "node-2"), ("10.2.2.2", "node-3")]


@pytest.mark.parametrize("options", [{"annotations": ENI}, {"policy": "Local"}], ids=["eni", "local"])
def test_a_list_that_lacks_slices(one, options):
    """The slices of a Service are missing: its backends stay, until one is there that says otherwise."""
    one.begin(endpoints=PODS, **options)
    first, second, third = before = one.servers()
    one.unseen(lambda: one.kube.delete("EndpointSlice", "web-abc"))
    one.wait_frozen("3 backend(s)", "EndpointSlices missing that had told: ", "next look at 20")
    one.stay_servers(*before)
    assert one.removals() == []
    one.slice(one.service(), [PODS[0], (*PODS[1], False), PODS[2]], suffix="new")
    one.wait_servers(first, third)
    assert second not in one.servers()
    one.world.wait(lambda: one.events("BackendsReleased"), "the end of it")


@pytest.mark.parametrize("options", [{"annotations": ENI}, {"policy": "Local"}], ids=["eni", "local"])
def test_a_slice_that_is_deleted_is_obeyed(one, options):
    one.begin(endpoints=PODS, **options)
    one.kube.delete("EndpointSlice", "web-abc")
    one.wait_servers()
    assert one.events("BackendsFrozen") == []


def test_one_slice_of_two(one):
    """What the other says is obeyed all the same."""
    one.begin(endpoints=PODS[:2], annotations=ENI)
    one.slice(one.service(), PODS[2:], suffix="more")
    one.world.wait(lambda: len(one.servers()) == 3, "the third")
    one.unseen(lambda: one.kube.delete("EndpointSlice", "web-abc"))
    one.wait_frozen("2 backend(s)", "10.1.1.1, 10.2.2.1")
    slice_ = one.kube.get("EndpointSlice", "web-more")
    slice_["endpoints"] = []
    one.kube.replace(slice_)
    one.wait_servers("10.1.1.1", "10.2.2.1")


def test_slices_that_stay_away(one):
    """Still missing at a second look: below the floor they go."""
    one.begin(endpoints=PODS, annotations=ENI, options=QUICK)
    one.unseen(lambda: one.kube.delete("EndpointSlice", "web-abc"))
    one.wait_servers(timeout=60)
    assert len(one.removals()) == 3


def test_a_restart_without_slices(one):
    """A new process that finds no slice at all of a Service with backends does not believe it at once."""
    one.begin(endpoints=PODS, annotations=ENI)
    one.world.stop_ccmd()
    one.kube.delete("EndpointSlice", "web-abc")
    one.world.start_ccmd()
    one.wait_frozen("3 backend(s)", "EndpointSlices missing")
    one.stay_servers("10.1.1.1", "10.2.2.1", "10.2.2.2")
