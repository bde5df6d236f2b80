"""The deletion of a Service looks by tag. Each load balancer with both tags and the name of the Service's own is deleted. Any other that
carries its tag stays. An event names each one. What a list does not show is read by the id that is known. Both products."""

import re

import pytest

from tests.support.owned import CLUSTER_TAG, OTHER, OWNER_TAG, PREFIX, Console, default_name
from tests.support.products import PRODUCTS
from tests.support.world import CLUSTER_ID

pytestmark = pytest.mark.time_scale(10)
LIST = {"clb": ("DescribeLoadBalancers", "Tags", '{"LoadBalancers":{"LoadBalancer":[]},"PageNumber":1,"PageSize":10,"TotalCount":0}'),
        "nlb": ("ListLoadBalancers", "Tag.1.Key", '{"LoadBalancers":[],"TotalCount":0,"MaxResults":100}')}

# What else there is: the name of the Service's own or another one, and the tags that it has besides.
KINDS = {
    "copy": (True, {OWNER_TAG: None, CLUSTER_TAG: CLUSTER_ID}),
    "another name": (False, {OWNER_TAG: None, CLUSTER_TAG: CLUSTER_ID}),
    "no cluster": (True, {OWNER_TAG: None}),
    "another cluster": (True, {OWNER_TAG: None, CLUSTER_TAG: "c-other"}),
    "another owner": (True, {OWNER_TAG: OTHER, CLUSTER_TAG: CLUSTER_ID}),
    "no owner": (True, {CLUSTER_TAG: CLUSTER_ID}),
}
UNSEEN = ("another owner", "no owner")  # no tag of the Service leads to them

# The name that an annotation asks for, and the others.
CASES = {
    "none": (None, ()),
    "one": ("shop", ("copy",)),
    "three": (None, ("copy", "copy", "copy")),
    "none of the Service": (None, ("another name", "no cluster", "another cluster")),
    "one of another cluster": ("shop", ("another cluster",)),
    "some of each": (None, ("copy", "another name", "copy", "no cluster", "another cluster", "another owner", "no owner")),
}


@pytest.fixture(params=sorted(PRODUCTS))
def console(world, request):
    return Console(world, request.param)


def make(console, kind, name):
    is_named, tags = KINDS[kind]
    own = default_name(console.world.kube.get("Service", "web")["metadata"]["uid"])
    return console.product.make_lb(name or own if is_named else "twin", {}, {key: value or own for key, value in tags.items()})[0]


def ids(console):
    return {lb["LoadBalancerId"] for lb in console.lbs()}


def named(console):
    """(ids that events say to be deleted, ids that they name without that)"""
    texts = console.said("web", "DuplicateLoadBalancer") + console.said("web", "LoadBalancerLeftAlone")
    words = [word for text in texts for word in re.findall(r"\b[nc]?lb-[0-9a-z]+(?: \(goes\))?", text)]
    gone = {word.split()[0] for word in words if word.endswith("(goes)")}
    return gone, {word for word in words if not word.endswith("(goes)")} - gone


def restart(console, how):
    if how == "restarted":
        console.world.stop_ccmd()


def delete(console, how):
    console.world.kube.delete("Service", "web")
    if how == "restarted":
        console.world.start_ccmd()


HOW = pytest.mark.parametrize("how", ["remembered", "restarted"])


@HOW
@pytest.mark.parametrize("case", CASES)
def test_copies(console, case, how):
    name, kinds = CASES[case]
    own = console.serving(annotations={PREFIX + "name": name} if name else None)
    restart(console, how)
    others = {make(console, kind, name): kind for kind in kinds}
    delete(console, how)
    console.gone()
    copies = {one for one, kind in others.items() if kind == "copy"}
    stay = set(others) - copies
    assert ids(console) == stay
    told_gone, told_left = named(console)
    seen = {one for one, kind in others.items() if kind not in UNSEEN}
    assert told_gone == (copies | {own} if seen else set())
    assert told_left == stay & seen
    assert console.product.left(console.world.cloud.state(), {"metadata": {"uid": "none"}}) == []


def let_lists_fail(console, **how):
    action, parameter, body = LIST[console.product.name]
    console.world.cloud.fault(action=action, params={parameter: "*"}, count=1000, **(how or {"body": body}))


@HOW
@pytest.mark.parametrize("name", [None, "shop"], ids=["default-name", "own-name"])
def test_an_empty_list(console, name, how):
    console.serving(annotations={PREFIX + "name": name} if name else None)
    restart(console, how)
    let_lists_fail(console)
    delete(console, how)
    console.gone()
    assert ids(console) == set()
    assert console.product.left(console.world.cloud.state(), {"metadata": {"uid": "none"}}) == []


@HOW
def test_a_list_that_fails(console, how):
    own = console.serving()
    restart(console, how)
    let_lists_fail(console, http=503, code="ServiceUnavailable")
    since = console.world.cloud.mark()
    delete(console, how)
    console.world.wait(lambda: console.world.cloud.actions(since).count(LIST[console.product.name][0]) >= 2, "the second read", 60)
    assert console.product.finalizer in console.world.kube.get("Service", "web")["metadata"]["finalizers"]
    assert ids(console) == {own}
    console.world.cloud.clear_faults()
    console.gone()
    assert ids(console) == set()


@HOW
@pytest.mark.parametrize("kind", ["copy", "another cluster"])
@pytest.mark.parametrize("preserve", [False, True], ids=["deleted", "preserved"])
def test_the_tag_leads_to_another_one(console, preserve, kind, how):
    """The Service's own has lost its tags; its id is known."""
    own = console.serving(annotations={PREFIX + "preserve-lb-on-delete": "true"} if preserve else None)
    restart(console, how)
    console.tag(own, owner=None, cluster=None)
    other = make(console, kind, None)
    delete(console, how)
    console.gone()
    assert ids(console) == ({own} if preserve else set()) | ({other} if preserve or kind != "copy" else set())
    if kind == "another cluster" and not preserve:
        assert other in console.said("web", "LoadBalancerLeftAlone")[0]


def test_preserved_ones_are_not_said_to_be_deleted(console):
    """With preserve-lb-on-delete all of them stay."""
    own = console.serving(annotations={PREFIX + "preserve-lb-on-delete": "true"})
    copy, twin = make(console, "copy", None), make(console, "another name", None)
    delete(console, "remembered")
    console.gone()
    assert ids(console) == {own, copy, twin}
    said = console.said("web", "DuplicateLoadBalancer")
    assert said and all("None is deleted" in text and "is deleted now" not in text for text in said)
