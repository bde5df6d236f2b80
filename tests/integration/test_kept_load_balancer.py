"""Annotation id of a Service that works is wrong, or gone: backends of the load balancer that serves follow, and nothing else changes.

Which one serves, the label says; that it is the Service's, only its own marks prove."""

import json
import re
import shlex

import pytest

from tests.support import objects, proc, service_hash, views
from tests.support.owned import Console
from tests.support.products import OWNER_TAG, PREFIX, default_name

pytestmark = pytest.mark.time_scale(10)
BOTH = pytest.mark.parametrize("product", ["clb", "nlb"])
ID_LABEL = "service.k8s.alibaba/loadbalancer-id"
PODS = {"service.beta.kubernetes.io/backend-type": "eni"}
KEY = PREFIX + "id"
BEFORE, AFTER, LATER = ([(f"10.1.1.{n}", "node-1"), (f"10.2.2.{n}", "node-2")] for n in (1, 2, 3))


def reused_label(product):
    return f"ccm.alibabacloud.com/reused-{product}"


def begin(world, product, service="web", lb=None, **annotations):
    """A Service with pods behind it that works, on a load balancer of its own, or on one of a person."""
    console = world.console if hasattr(world, "console") else Console(world, product)
    world.console = console
    if not world.kube.items("Node"):
        views.nodes(world, 2)
    asked = {PREFIX + key.replace("_", "-"): value for key, value in annotations.items()}
    if lb is not None:
        asked.update({KEY: lb, PREFIX + "force-override-listeners": "true"})
    created = world.kube.create(console.product.new(service, annotations={**PODS, **asked}))
    world.kube.create(objects.endpoint_slice(created, BEFORE))
    if world.ccmd is None:
        world.start_ccmd()
    world.wait(lambda: console.said(service, "EnsuredLoadBalancer") and world.kube.ingress(service), f"{service} to work", 30)
    world.settled()
    return console


def annotate(world, service="web", **values):
    world.kube.patch("Service", service, {"metadata": {"annotations": {PREFIX + key.replace("_", "-"): value for key, value in values.items()}}})


def label(world, name="web", **labels):
    world.kube.patch("Service", name, {"metadata": {"labels": labels}})


def replace(world, pods, name="web"):
    world.kube.replace(objects.endpoint_slice(world.kube.get("Service", name), pods))


def servers(console, lb_id):
    return [sorted(server for server, _, _ in group["servers"]) for group in console.lb(lb_id)["Groups"]]


def follow(world, console, lb_id, pods, name="web"):
    replace(world, pods, name)
    world.wait(lambda: servers(console, lb_id) == [sorted(address for address, _ in pods)], f"the backends {pods}", 20)


def refusal(world, console, words, name="web"):
    return world.wait(lambda: console.said(name, "SyncLoadBalancerFailed", words), words, 20)[-1]


def shape(lb):
    """All of it but what is in its groups."""
    groups = [{key: value for key, value in group.items() if key not in ("servers", "Servers", "BackendServers", "ServerCount")}
              for group in lb["Groups"]]
    return {**{key: value for key, value in lb.items() if key != "VServerGroups"}, "Groups": groups}


def fails(world, name="web"):
    conditions = world.kube.get("Service", name)["status"].get("conditions", [])
    return [one["status"] for one in conditions if one["type"].endswith("LoadBalancerReady")] == ["False"]


def is_current(world, name="web"):
    service = world.kube.get("Service", name)
    return service_hash.is_current(service) and not fails(world, name)


def lb_of(world, name="web"):
    return world.kube.get("Service", name)["metadata"]["labels"].get(ID_LABEL)


def person(console, name="by-hand", tags=None):
    return console.product.make_lb(name, {}, tags or {})[0]


# What annotation id is changed to, for a Service with the load balancer `lb`; "own" belongs to Services that have one.
def wrong_id(world, console, kind, lb):
    if kind == "another":
        begin(world, console.product.name, "another")
        return lb_of(world, "another")
    return {"own": lb, "unknown": f"{lb.partition('-')[0]}-none", "away": None, "person": person(console, "other")}[kind]


OWN_KINDS = ("own", "unknown", "another", "person")
REUSED_KINDS = ("away", "unknown", "another", "person")
KINDS = [(False, kind) for kind in OWN_KINDS] + [(True, kind) for kind in REUSED_KINDS]
ALL = pytest.mark.parametrize("reused, kind", KINDS, ids=[f"{'reused' if reused else 'own'}-{kind}" for reused, kind in KINDS])


def working(world, product, reused, **annotations):
    console = Console(world, product)
    world.console = console
    begin(world, product, lb=person(console) if reused else None, **annotations)
    return console, lb_of(world)


@BOTH
@ALL
def test_only_backends_follow_until_it_is_right(world, product, reused, kind):
    console, lb = working(world, product, reused)
    shown = world.kube.ingress("web")
    before = shape(console.lb(lb))
    annotate(world, id=wrong_id(world, console, kind, lb), scheduler="wlc", additional_resource_tags="team=a", name="renamed")
    others = [shape(one) for one in console.lbs() if one["LoadBalancerId"] != lb]
    refusal(world, console, "can not find loadbalancer" if kind == "away" else "can not be reused")
    follow(world, console, lb, AFTER)
    world.settled()
    assert shape(console.lb(lb)) == before
    assert [shape(one) for one in console.lbs() if one["LoadBalancerId"] != lb] == others
    assert world.kube.ingress("web") == shown and lb_of(world) == lb and fails(world)
    world.stop_ccmd()
    world.start_ccmd()
    follow(world, console, lb, LATER)
    world.settled()
    assert shape(console.lb(lb)) == before
    annotate(world, id=lb if reused else None)
    world.wait(lambda: is_current(world), "the end of the failure", 30)
    world.settled()
    assert console.lb(lb)["LoadBalancerName"] == "renamed" and console.lb(lb)["Tags"]["team"] == "a"
    assert world.kube.ingress("web") == shown
    assert world.kube.get("Service", "web")["metadata"]["labels"].get(reused_label(product)) == (lb if reused else None)


@BOTH
@ALL
def test_its_words(world, product, reused, kind):
    console, lb = working(world, product, reused)
    other = wrong_id(world, console, kind, lb)
    annotate(world, id=other)
    message = refusal(world, console, "")
    again = f"set annotation {KEY} to {lb}" if reused else f"remove annotation {KEY}"
    if kind == "own":
        assert f"can not reuse loadbalancer created by kubernetes. (it is this Service's own: take annotation {KEY} away)" in message
    elif kind == "away":
        assert (f"it is served by load balancer {lb} of a person, and annotation id is missing: {again} again, "
                "or delete and recreate the Service") in message
    else:
        assert (f"the loadbalancer {other} can not be reused, service has been associated with loadbalancer [{lb}], "
                f"cannot be bound to another one: {again}, or delete and recreate the service") in message


@BOTH
@ALL
@pytest.mark.parametrize("restart", [False, True], ids=["remembered", "restarted"])
def test_it_is_deleted_meanwhile(world, product, reused, kind, restart):
    """What is the Service's own is deleted, and nothing else."""
    console, lb = working(world, product, reused)
    annotate(world, id=wrong_id(world, console, kind, lb))
    refusal(world, console, "")
    world.settled()
    others = [one for one in console.lbs() if one["LoadBalancerId"] != lb]
    if restart:
        world.stop_ccmd()
        world.start_ccmd()
    world.kube.delete("Service", "web")
    console.gone("web")
    assert [one for one in console.lbs() if one["LoadBalancerId"] != lb] == others
    left = console.lb(lb)
    if not reused:
        assert left is None
    else:
        assert left["Listeners"] == [] and left["Groups"] == [] and left["Tags"] == {}


@BOTH
def test_a_label_of_a_tenant_proves_nothing(world, product):
    """Labels and annotations of a Service are no proof: another Service's load balancer, or a person's, stays as it is."""
    console = Console(world, product)
    world.console = console
    theirs = person(console)
    begin(world, product, "victim", lb=theirs)
    begin(world, product, "other")
    begin(world, product, "tenant")
    victims = [theirs, lb_of(world, "other"), person(console, "unused")]
    own = lb_of(world, "tenant")
    for lb in victims:
        for asked in (f"{lb.partition('-')[0]}-none", victims[0], victims[1], None):
            label(world, "tenant", **{ID_LABEL: lb, reused_label(product): lb})
            annotate(world, "tenant", id=asked)
            before = [console.lb(one) for one in victims]
            world.settled()
            replace(world, AFTER if servers(console, own) == [[a for a, _ in BEFORE]] else BEFORE, "tenant")
            world.settled()
            for old, new in zip(before, [console.lb(one) for one in victims]):
                for key in old:
                    assert old[key] == new[key], (lb, asked, key, world.kube.events("tenant")[-3:])
    world.kube.delete("Service", "tenant")
    console.gone("tenant")
    assert [console.lb(one) for one in victims] == before


@BOTH
def test_a_plan_announces_the_backends_alone(world, product):
    console, lb = working(world, product, False)
    annotate(world, id=person(console, "other"), scheduler="wlc")
    refusal(world, console, "can not be reused")
    world.settled()
    world.stop_ccmd()
    replace(world, AFTER)
    code, out, err = proc.run([world.binary("ccmd"), "plan", "--config", world.config], timeout=60)
    assert code == 1, err
    steps = [line.strip() for line in out.splitlines() if re.match(r"\s+(add|remove|update|create|delete|set)\b", line)]
    assert [re.match(r"(add|remove)", step) is not None for step in steps] == [True, True], out
    assert "can not be reused" in out and shape(console.lb(lb))
    world.start_ccmd()
    world.wait(lambda: servers(console, lb) == [["10.1.1.2", "10.2.2.2"]], "the backends", 20)


@BOTH
def test_events_of_machines_cost_no_read(world, product):
    console, lb = working(world, product, True)
    annotate(world, id=None)
    refusal(world, console, "")
    follow(world, console, lb, AFTER)
    world.settled()
    since = world.cloud.mark()
    follow(world, console, lb, LATER)
    world.settled()
    reads = [action for action in world.cloud.actions(since) if action.startswith(("Describe", "List", "Get"))]
    assert reads.count("GetLoadBalancerAttribute") <= 2  # NLB: that it exists, once for each change
    assert set(reads) <= {"DescribeNetworkInterfaces", "GetJobStatus", "ListAsynJobs", "GetLoadBalancerAttribute"}


@BOTH
def test_one_taken_over_is_known_by_its_marks_alone(world, product):
    """The controller before writes no label of reuse."""
    console, lb = working(world, product, True)
    world.stop_ccmd()
    label(world, **{reused_label(product): None})
    annotate(world, id=None)
    world.start_ccmd()
    refusal(world, console, "can not find loadbalancer")
    before = shape(console.lb(lb))
    follow(world, console, lb, AFTER)
    world.settled()
    assert shape(console.lb(lb)) == before and world.kube.ingress("web")
    annotate(world, id=lb)
    world.wait(lambda: is_current(world), "the end of the failure", 30)


@BOTH
def test_its_own_without_tag(world, product):
    """It has a name of its own, so only its groups prove whose it is: backends follow until the tag is put back."""
    console, lb = working(world, product, False, name="front")
    uid = world.kube.get("Service", "web")["metadata"]["uid"]
    world.stop_ccmd()
    console.tag(lb, owner=None)
    world.start_ccmd()
    refusal(world, console, "has lost its tag")
    follow(world, console, lb, AFTER)
    world.settled()
    assert OWNER_TAG not in console.lb(lb)["Tags"]
    console.tag(lb, owner=default_name(uid))
    annotate(world, scheduler="wlc")
    world.wait(lambda: is_current(world), "the end of the failure", 30)


@BOTH
def test_an_operator_who_forbids_it(world, product):
    """Option reuse: nothing but backends is written for a Service that is refused."""
    console, lb = working(world, product, True)
    before = shape(console.lb(lb))
    world.stop_ccmd()
    console.product.configure(world, 'audit_interval_s = 0; reuse = "off";')
    world.start_ccmd()
    refusal(world, console, "option reuse of the")
    follow(world, console, lb, AFTER)
    annotate(world, scheduler="wlc")
    world.settled()
    assert shape(console.lb(lb)) == before


# --- remedies, carried out as they are written ----------------------------------------------------------------------


def carry_out(world, message):
    """The command of kubectl in an event; kubectl before 1.24 does not know --subresource."""
    command = re.search(r"kubectl (patch service \S+ -n \S+ --subresource=status --type=merge -p '[^']*')", message).group(1)
    words = shlex.split(command)
    if proc.kubectl_minor() >= 24:
        world.kubectl(*words)
    else:
        world.kube.patch("Service", words[2], json.loads(words[-1]), namespace=words[4], subresource="status")


def lose(world, console, lb):
    world.cloud.edit("delete", type={"clb": "loadbalancer", "nlb": "nlb"}[console.product.name], id=lb)
    annotate(world, scheduler="wlc")
    return refusal(world, console, "exist")


def works_on(world, console, lb):
    """lb: the one that it has now, or NULL: a new one of its own."""
    def done():
        has = lb_of(world)
        return is_current(world) and has is not None and (has == lb if lb else console.lb(has)["Tags"].get(OWNER_TAG)) and has

    has = world.wait(done, "the Service to work again", 40)
    world.settled()
    assert console.of("web")["LoadBalancerId"] == has
    assert servers(console, has) == [["10.1.1.1", "10.2.2.1"]]


@BOTH
@pytest.mark.parametrize("restart", [False, True], ids=["remembered", "restarted"])
def test_remedies_of_a_deleted_one_of_a_person(world, product, restart):
    console, lb = working(world, product, True)
    message = lose(world, console, lb)
    assert "With annotation id: set it to one that exists, or remove it" in message
    if restart:
        world.stop_ccmd()
        world.start_ccmd()
    other = person(console, "second")
    annotate(world, id=other)
    works_on(world, console, other)
    assert console.said("web", "LoadBalancerReplaced", f"[{lb}] does not exist any more: the Service moves to [{other}]")
    message = lose(world, console, other)
    annotate(world, id=None, zone_maps="cn-hangzhou-h:vsw-a,cn-hangzhou-i:vsw-b" if product == "nlb" else None)
    message = refusal(world, console, "kubectl patch")
    assert "is looked for" not in message
    carry_out(world, message)
    works_on(world, console, None)


@BOTH
def test_remedies_of_a_deleted_one_of_its_own(world, product):
    console, lb = working(world, product, False)
    carry_out(world, lose(world, console, lb))
    works_on(world, console, None)
    lose(world, console, lb_of(world))
    other = person(console, "second")
    annotate(world, id=other, force_override_listeners="true")
    works_on(world, console, other)


@BOTH
def test_remedies_that_lead_to_another_wrong_one(world, product):
    """Neither the one before nor the one that is asked for: both are named, and nothing is lost by that."""
    console, lb = working(world, product, True)
    lose(world, console, lb)
    shown = world.kube.ingress("web")
    annotate(world, id=f"{lb.partition('-')[0]}-none")
    refusal(world, console, f"load balancer {lb} does not exist any more, and annotation id cannot be used")
    world.settled()
    assert world.kube.ingress("web") == shown
    other = person(console, "second")
    annotate(world, id=other)
    works_on(world, console, other)
