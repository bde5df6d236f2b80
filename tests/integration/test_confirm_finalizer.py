"""The API server refuses every change of a Service, as with an admission webhook that is out of order: backends of what serves
follow, nothing is created that only the Service leads to, and no later pass suffers from it."""

import json
import urllib.error

import pytest

from tests.integration.test_kept_load_balancer import (AFTER, BEFORE, KEY, LATER, PODS, follow, is_current, person, reused_label, servers,
                                                       shape)
from tests.integration.test_refused_values import group_ids
from tests.support import objects, views
from tests.support.owned import Console
from tests.support.products import PREFIX

pytestmark = pytest.mark.time_scale(10)
BOTH = pytest.mark.parametrize("product", ["clb", "nlb"])
PATCH = "PATCH /api/v1/namespaces/default/services/web"
WEBHOOK = dict(http=500, code="InternalError", message='failed calling webhook "policy.example.com": connection refused')
POLICY = dict(http=409, code="Conflict", message="refused by policy.example.com")
ANSWERS = pytest.mark.parametrize("answer", [WEBHOOK, POLICY, dict(cut="before")], ids=["500", "409", "no answer"])
PORTS = ((80, "TCP"),)
MORE = ((80, "TCP"), (81, "TCP"))


def spec_ports(console, ports):
    return console.product.new("web", ports)["spec"]["ports"]


def set_ports(world, console, ports):
    def follows():
        one = world.kube.get("Service", "web")
        try:
            return world.kube.replace({**one, "spec": {**one["spec"], "ports": spec_ports(console, ports)}})
        except urllib.error.HTTPError as error:
            if error.code != 409:
                raise
            return None

    world.wait(follows, "an update between two of ccmd")


def refuse(world, answer):
    """From now on, also while no process of ccmd runs."""
    world.kube.fault(action=PATCH, count=100000, **answer)


def up(world, product, lb=None, **options):
    """A Service with pods that works, and a process of ccmd that has never written to it."""
    console = Console(world, product, **options)
    views.nodes(world, 2)
    asked = {} if lb is None else {KEY: lb(console), PREFIX + "force-override-listeners": "true"}
    service = world.kube.create(console.product.new("web", PORTS, annotations={**PODS, **asked}))
    world.kube.create(objects.endpoint_slice(service, BEFORE))
    world.start_ccmd()
    world.wait(lambda: world.kube.ingress("web") and console.said("web", "EnsuredLoadBalancer"), "the Service", 30)
    world.settled()
    world.stop_ccmd()
    return console, next(one["LoadBalancerId"] for one in console.lbs())


def restart(world, product):
    world.start_ccmd()
    world.wait(lambda: world.log().count(f"plugin {product}: started") == 2, "the start")


def failures(world, console, words):
    return console.said("web", "SyncLoadBalancerFailed", words, "Warning")


def is_told_once(world, console, answer):
    """A connection breaks off in several ways, and each has words of its own."""
    return len(failures(world, console, "")) == 1 or "cut" in answer


def patches(world, since):
    return [action for action in world.kube.actions(since) if action == PATCH]


@BOTH
@ANSWERS
@pytest.mark.parametrize("ports", [PORTS, MORE], ids=["pods alone", "a port is added"])
def test_backends_follow(world, product, answer, ports):
    """The load balancer is there, so what is created on it is deleted with it: the finalizer is not written."""
    console, lb = up(world, product)
    set_ports(world, console, ports)
    refuse(world, answer)
    since = world.kube.mark()
    restart(world, product)
    for pods in (AFTER, LATER):
        world.kube.replace(objects.endpoint_slice(world.kube.get("Service", "web"), pods))
        world.wait(lambda: servers(console, lb) == [sorted(address for address, _ in pods)] * len(ports), f"the backends {pods}", 15)
    assert sorted(one["key"] for one in console.lb(lb)["Listeners"]) == [f"{port}/tcp" for port, _ in ports]
    assert patches(world, since) == [] and failures(world, console, "") == []


@BOTH
@ANSWERS
def test_nothing_is_created_on_the_load_balancer_of_a_person(world, product, answer):
    """Only the Service leads to it. One event says so, and that ends as soon as the port is not desired any more, though the API
    server goes on refusing; the port is created once it does not."""
    console, lb = up(world, product, person)
    set_ports(world, console, MORE)
    refuse(world, answer)
    restart(world, product)
    said = world.wait(lambda: failures(world, console, "only backends of load balancer"), "the event", 20)
    assert "service.k8s.alibaba/" in said[0] and answer.get("message", "") in said[0], said
    before = shape(console.lb(lb))
    follow(world, console, lb, AFTER)
    assert shape(console.lb(lb)) == before
    assert is_told_once(world, console, answer)
    set_ports(world, console, PORTS)
    world.wait(lambda: is_current(world), "the end of the failure", 20)
    since = world.kube.mark()
    follow(world, console, lb, LATER)
    assert patches(world, since) == []
    world.kube.clear_faults()
    set_ports(world, console, MORE)
    world.wait(lambda: is_current(world) and len(console.lb(lb)["Listeners"]) == 2, "the second port", 20)


@BOTH
@ANSWERS
def test_no_load_balancer_is_created(world, product, answer):
    """The finalizer is there, as of an instance before, and nothing of the load balancer. A failure says what is wrong; the retry
    creates it."""
    console = Console(world, product)
    views.nodes(world, 2)
    item = console.product.new("web", PORTS)
    item["metadata"]["finalizers"] = [console.product.finalizer]
    refuse(world, answer)
    world.kube.create(item)
    world.start_ccmd()
    said = world.wait(lambda: failures(world, console, "nothing is created"), "the event", 20)
    assert console.product.finalizer in said[0] and answer.get("message", "") in said[0], said
    assert console.lbs() == []
    world.kube.clear_faults()
    world.wait(lambda: console.product.complete(console.lb(), PORTS) and world.kube.ingress("web"), "the load balancer", 40)


@BOTH
@ANSWERS
def test_a_finalizer_that_a_person_removes(world, product, answer):
    """It cannot be written again for now; what serves follows."""
    console, lb = up(world, product)
    world.kube.patch("Service", "web", {"metadata": {"finalizers": None}})
    refuse(world, answer)
    set_ports(world, console, MORE)
    restart(world, product)
    world.wait(lambda: failures(world, console, "Error adding finalizer"), "the event", 20)
    before = shape(console.lb(lb))
    for pods in (AFTER, LATER):
        follow(world, console, lb, pods)
    assert shape(console.lb(lb)) == before and is_told_once(world, console, answer)
    world.kube.clear_faults()
    world.wait(lambda: is_current(world) and len(console.lb(lb)["Listeners"]) == 2, "the second port", 40)
    assert console.product.finalizer in world.kube.get("Service", "web")["metadata"]["finalizers"]


@BOTH
def test_a_label_that_a_person_removes(world, product):
    """It says on whose load balancer the Service is, and comes before any change there. While it cannot be written, pods follow."""
    console, lb = up(world, product, person)
    world.kube.patch("Service", "web", {"metadata": {"labels": {reused_label(product): None}}})
    world.kube.fault(action=PATCH + "/status", count=100000, **WEBHOOK)
    set_ports(world, console, MORE)
    restart(world, product)
    world.wait(lambda: failures(world, console, "failed calling webhook"), "the event", 20)
    before = shape(console.lb(lb))
    for pods in (AFTER, LATER):
        follow(world, console, lb, pods)
    assert shape(console.lb(lb)) == before
    world.kube.clear_faults()
    world.wait(lambda: is_current(world) and len(console.lb(lb)["Listeners"]) == 2, "the second port", 40)


@BOTH
def test_the_label_comes_before_the_first_backend(world, product):
    """A group of a person gets no backend while nothing at the Service says on whose load balancer it is."""
    console = Console(world, product)
    views.nodes(world, 2)
    lb = person(console)
    console.product.make_group(lb, "theirs", [])
    group = group_ids(console.product, lb)["theirs"]
    console.product.make_listener(lb, "80/tcp", group, {})
    service = world.kube.create(console.product.new("web", PORTS, annotations={**PODS, KEY: lb, PREFIX + "vgroup-port": f"{group}:80"}))
    world.kube.create(objects.endpoint_slice(service, BEFORE))
    world.kube.fault(action=PATCH + "/status", count=100000, **WEBHOOK)
    since = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: failures(world, console, "failed calling webhook"), "the event", 20)
    assert console.writes(since) == []
    world.kube.clear_faults()
    follow(world, console, lb, AFTER)


def test_an_event_names_only_what_was_repaired(world):
    """A person deletes the listener and takes a backend out; the API server lets no listener be created, and the backend comes back."""
    console, lb = up(world, "clb", person)
    console.product.configure(world, "audit_interval_s = 1;")
    refuse(world, WEBHOOK)
    restart(world, "clb")
    since = world.cloud.mark()
    world.wait(lambda: world.cloud.actions(since).count("DescribeVServerGroupAttribute") > 1, "an audit")
    console.call("DeleteLoadBalancerListener", {"LoadBalancerId": lb, "ListenerPort": 80, "ListenerProtocol": "tcp"})
    group = console.lb(lb)["Groups"][0]["VServerGroupId"]
    one = console.call("DescribeVServerGroupAttribute", {"VServerGroupId": group})["BackendServers"]["BackendServer"][0]
    console.call("RemoveVServerGroupBackendServers", {"VServerGroupId": group, "BackendServers": json.dumps([one])})
    world.wait(lambda: servers(console, lb) == [sorted(address for address, _ in BEFORE)], "the backend", 20)
    world.wait(lambda: failures(world, console, "failed calling webhook"), "the event", 20)
    assert console.lb(lb)["Listeners"] == [] and console.said("web", "DriftRepaired") == []
