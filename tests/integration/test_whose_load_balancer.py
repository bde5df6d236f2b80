"""Whose a load balancer is by now is what counts, not whose it was when it was looked at last: another owner's is neither
changed nor deleted, with a mirror in memory or after a restart, whatever the cloud's filters answer. Both products."""

import json

import pytest

from tests.support import objects
from tests.support.owned import OTHER, OWNER_TAG, PREFIX, Console, default_name

PRODUCTS = ("clb", "nlb")


@pytest.fixture(params=PRODUCTS)
def console(world, request):
    return Console(world, request.param)


def end(console, how, name="web"):
    """The end of a Service's load balancer; what the Service says then is checked by the caller."""
    if how == "deletion":
        console.world.kube.delete("Service", name)
        console.gone(name)
    else:
        console.world.kube.patch("Service", name, {"spec": {"type": "ClusterIP", "loadBalancerClass": None}})
        console.world.wait(lambda: not console.world.kube.get("Service", name)["metadata"].get("finalizers"),
                           "the finalizer", 30)
        console.world.settled()


@pytest.mark.parametrize("how", ["deletion", "type"])
@pytest.mark.parametrize("restart", [False, True], ids=["remembered", "restarted"])
@pytest.mark.parametrize("named", [False, True], ids=["default-name", "own-name"])
def test_another_owner_keeps_it(console, how, restart, named):
    world = console.world
    lb_id = console.serving(annotations={PREFIX + "name": "front"} if named else None)
    if restart:
        world.stop_ccmd()
    console.tag(lb_id, owner=OTHER, cluster="c-other")
    before = console.lbs()
    groups = world.cloud.state().get("nlbServerGroups")
    if restart:
        world.start_ccmd()
        world.settled()
    since = world.cloud.mark()
    end(console, how)
    assert console.writes(since) == []
    assert console.lbs() == before
    assert world.cloud.state().get("nlbServerGroups") == groups
    told = console.said("web", "LoadBalancerLeftAlone", kind="Warning")
    assert len(told) == 1 and lb_id in told[0] and OTHER in told[0] and "c-other" in told[0], told
    assert console.said("web", "CleanLoadBalancer") == []
    if how == "type":
        left = world.kube.get("Service", "web")
        assert not left["status"].get("loadBalancer", {}).get("ingress")
        assert not [key for key in left["metadata"].get("labels", {}) if "alibaba" in key]


@pytest.mark.parametrize("preserve", [False, True], ids=["deleted", "preserved"])
def test_exactly_one_read_before(console, preserve):
    """By the tag: what else carries it is seen as well."""
    world = console.world
    console.serving(annotations={PREFIX + "preserve-lb-on-delete": "true"} if preserve else None)
    since = world.cloud.mark()
    end(console, "deletion")
    reads = [call for call in world.cloud.calls(since) if call["action"].startswith(("Describe", "List", "Get"))
             and call["action"] not in ("ListAsynJobs", "GetJobStatus")]
    assert [call["action"] for call in reads] == ["DescribeLoadBalancers" if console.product.name == "clb" else "ListLoadBalancers"]
    assert "Tags" in reads[0]["params"] or "Tag.1.Key" in reads[0]["params"]
    assert (console.lb() is not None) == preserve
    assert console.said("web", "LoadBalancerLeftAlone") == []


@pytest.mark.parametrize("restart", [False, True], ids=["remembered", "restarted"])
def test_a_lost_tag(console, restart):
    """By its default name it is still ours; with a name of its own nobody can tell, so a person has to."""
    world = console.world
    plain = console.serving("plain", ((80, "TCP"),))
    named = console.serving("named", ((81, "TCP"),), annotations={PREFIX + "name": "front"})
    if restart:
        world.stop_ccmd()
    for lb_id in (plain, named):
        console.tag(lb_id, owner=None)
    before = console.lb(named)
    if restart:
        world.start_ccmd()
        world.wait(lambda: OWNER_TAG in console.lb(plain)["Tags"] or not restart, "the tag", 30)
        world.settled()
    for name in ("plain", "named"):
        end(console, "deletion", name)
    assert console.lb(plain) is None
    assert console.lb(named) == before
    assert console.product.left(world.cloud.state(), {"metadata": {"uid": "none"}}) == []
    told = console.said("named", "LoadBalancerLeftAlone", kind="Warning")
    assert len(told) == 1 and named in told[0] and "front" in told[0] and "deletion protection" in told[0], told
    assert console.said("named", "CleanLoadBalancer") == []
    assert console.said("plain", "CleanLoadBalancer") and not console.said("plain", "LoadBalancerLeftAlone")


def test_a_lost_tag_is_told_while_the_service_lives(console):
    world = console.world
    lb_id = console.serving(annotations={PREFIX + "name": "front"})
    world.stop_ccmd()
    console.tag(lb_id, owner=None)
    since = world.cloud.mark()
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "delete-protection": "off"}}})
    world.start_ccmd()
    world.wait(lambda: console.said("web", "SyncLoadBalancerFailed", "has lost its tag"), "the reason", 30)
    told = console.said("web", "SyncLoadBalancerFailed", kind="Warning")[-1]
    assert lb_id in told and OWNER_TAG in told
    assert console.writes(since) == []
    console.tag(lb_id, owner=default_name(world.kube.get("Service", "web")["metadata"]["uid"]))
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "delete-protection": None}}})
    world.wait(lambda: console.said("web", "EnsuredLoadBalancer"), "the Service", 30)


def test_another_owner_while_the_service_lives(console):
    """A restart reads: nothing is written, and the other owner is named."""
    world = console.world
    lb_id = console.serving()
    world.stop_ccmd()
    console.tag(lb_id, owner=OTHER, cluster="c-other")
    before = console.lbs()
    since = world.cloud.mark()
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "delete-protection": "off"}}})
    world.start_ccmd()
    world.wait(lambda: console.said("web", "SyncLoadBalancerFailed", OTHER), "the reason", 30)
    world.settled()
    assert lb_id in console.said("web", "SyncLoadBalancerFailed", OTHER)[0]
    assert console.writes(since) == [] and console.lbs() == before


def answer_of(console, lb_id):
    """What the cloud's list says of that load balancer."""
    if console.product.name == "clb":
        return console.call("DescribeLoadBalancers", {"LoadBalancerId": lb_id})
    return console.call("ListLoadBalancers", {"LoadBalancerIds.1": lb_id})


def test_the_filter_is_not_believed(console):
    """One answer holds another owner's load balancer: it is not taken for the Service's."""
    world = console.world
    victim = console.serving("victim", ((81, "TCP"),))
    before = console.lb(victim)
    listing = "DescribeLoadBalancers" if console.product.name == "clb" else "ListLoadBalancers"
    world.cloud.fault(listing, http=200, body=json.dumps(answer_of(console, victim)))
    since = world.cloud.mark()
    mine = console.serving("web")
    assert mine != victim and console.lb(victim) == before
    assert world.cloud.actions(since).count(listing) == 2, "the bad answer was taken for an answer"
    end(console, "deletion")
    assert console.lbs() == [before]


def test_groups_of_another_owner_are_not_taken(world):
    """NLB groups are told by their tags too: one that the cloud's filter lets through is not deleted, whatever its name is."""
    console = Console(world, "nlb")
    console.serving("web")
    world.stop_ccmd()
    theirs = console.call("CreateServerGroup", {
        "ServerGroupName": "k8s.30999.TCP.web.default.c-test", "VpcId": "vpc-test",
        **console.product.make_tags({OWNER_TAG: OTHER})})["ServerGroupId"]
    world.cloud.http.request("POST", "/_sim/faults", {
        "match": {"action": "ListServerGroups"}, "count": 1000,
        "effect": {"http": 200, "body": json.dumps(console.call("ListServerGroups", {"MaxResults": 100}))}})
    since = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: "ListServerGroups" in world.cloud.actions(since), "the look", 30)
    world.settled()
    assert console.writes(since) == []
    end(console, "deletion")
    assert [one["ServerGroupId"] for one in world.cloud.state()["nlbServerGroups"]] == [theirs]


def test_a_name_is_no_claim(console):
    """Another Service's load balancer bears the default name: it is not taken over by it."""
    world = console.world
    console.serving("web")
    lb_id = console.serving("attacker", ((81, "TCP"),))
    uid = world.kube.get("Service", "web")["metadata"]["uid"]
    world.stop_ccmd()
    mine = console.of("web")["LoadBalancerId"]
    rename = {"clb": "SetLoadBalancerName", "nlb": "UpdateLoadBalancerAttribute"}[console.product.name]
    kind = {"clb": "loadbalancer", "nlb": "nlb"}[console.product.name]
    world.cloud.edit("delete", type=kind, id=mine)
    world.cloud.edit("update", type=kind, id=lb_id, attributes={"LoadBalancerName": default_name(uid)})
    assert console.lb(lb_id)["LoadBalancerName"] == default_name(uid), rename
    before = console.lb(lb_id)
    world.kube.patch("Service", "web", {"status": {"loadBalancer": {"ingress": None}}}, subresource="status")
    world.start_ccmd()
    world.wait(lambda: world.kube.ingress("web"), "a load balancer of its own", 30)
    world.settled()
    assert console.of("web")["LoadBalancerId"] != lb_id
    after = console.lb(lb_id)
    assert after["Tags"] == before["Tags"] and after["Listeners"] == before["Listeners"]
    end(console, "deletion")
    assert console.lb(lb_id)["Listeners"] == before["Listeners"]


def test_the_default_name_of_another_is_refused(console):
    """The name decides about nothing but itself: it stays, a Warning says why, and everything else goes on."""
    world = console.world
    lb_id = console.serving()
    name = console.lb(lb_id)["LoadBalancerName"]
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "name": OTHER}}})
    world.wait(lambda: console.said("web", "SyncLoadBalancerFailed", "no default name of another Service"), "the reason", 30)
    world.kube.create(objects.node("node-3", "i-node-3"))
    world.wait(lambda: all(len(group["servers"]) == 3 for group in console.lb(lb_id)["Groups"]), "the backend", 30)
    assert console.lb(lb_id)["LoadBalancerName"] == name
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "name": name}}})
    world.wait(lambda: world.settled() or console.lb(lb_id)["LoadBalancerName"] == name, "its own")


@pytest.mark.parametrize("named", [False, True], ids=["default-name", "own-name"])
def test_an_edit_reads_whose_it_is(console, named):
    """Somebody else's tag is seen by the pass that a person's edit makes: nothing is written, and the other owner is named."""
    world = console.world
    lb_id = console.serving(annotations={PREFIX + "name": "front"} if named else None)
    console.tag(lb_id, owner=OTHER, cluster="c-other")
    before = console.lbs()
    since = world.cloud.mark()
    world.kube.patch("Service", "web", {"spec": {"ports": [
        {"name": "tcp-80", "port": 80, "protocol": "TCP", "targetPort": 8080},
        {"name": "tcp-81", "port": 81, "protocol": "TCP", "targetPort": 8081}]}})
    world.wait(lambda: console.said("web", "SyncLoadBalancerFailed", OTHER, "Warning"), "the reason", 30)
    world.settled()
    told = console.said("web", "SyncLoadBalancerFailed", OTHER)
    assert lb_id in told[0] and "c-other" in told[0]
    assert console.writes(since) == [] and console.lbs() == before


def test_an_edit_puts_a_lost_tag_back(console):
    """By its default name: the tag is there again, and the edit carried out."""
    world = console.world
    lb_id = console.serving()
    own = console.lb(lb_id)["Tags"]
    console.tag(lb_id, owner=None)
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "delete-protection": "off"}}})
    world.wait(lambda: console.lb(lb_id)["Tags"] == own, "the tag", 30)
