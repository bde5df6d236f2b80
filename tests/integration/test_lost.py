"""Load balancers that are gone are looked for together: one list, however many Services miss theirs."""

import pytest

from tests.support import views
from tests.support.products import OWNER_TAG, PREFIX, Clb, Nlb, default_name

pytestmark = pytest.mark.time_scale(30)  # they are looked for every minute
PRODUCTS = pytest.mark.parametrize("product", [Clb(), Nlb()], ids=["clb", "nlb"])
NAMES = ("web0", "web1", "web2")
TYPES = {"clb": "loadbalancer", "nlb": "nlb"}
LISTS = {"clb": "DescribeLoadBalancers", "nlb": "ListLoadBalancers"}
ID_LABEL = "service.k8s.alibaba/loadbalancer-id"
MISSING = "can not find loadbalancer, but it's defined in service"


def begin(world, product, options="", others=()):
    """Three Services with load balancers that bear names of their own, and others. Name -> (id, value of the ownership tag)."""
    product.configure(world, options)
    views.nodes(world, 2)
    world.start_ccmd()
    for name in (*NAMES, *others):
        world.kube.create(product.new(name, annotations={PREFIX + "name": "own-" + name}))
    for name in (*NAMES, *others):
        world.wait(lambda n=name: world.kube.ingress(n), "an address")
    world.settled()
    found = {}
    for name in NAMES:
        meta = world.kube.get("Service", name)["metadata"]
        found[name] = (meta["labels"][ID_LABEL], default_name(meta["uid"]))
    return found


def touch(world, name):
    world.kube.patch("Service", name, {"metadata": {"annotations": {"looked-at": "now"}}})


def said(world, name, reason, words=""):
    return [message for _, said, message, _ in world.kube.events(name) if said == reason and words in message]


def failed(world, name, words=MISSING):
    return said(world, name, "SyncLoadBalancerFailed", words)


def condition_fails(world, name):
    for one in world.kube.get("Service", name)["status"].get("conditions", []):
        if one["type"].endswith("LoadBalancerReady"):
            return one["status"] != "True"
    return True


def only_looks(world, product, count=3):
    """Until so many looks have come: nothing else is asked for, and one list each."""
    since = world.cloud.mark()
    world.wait(lambda: len(world.cloud.actions(since)) >= count, "the looks", 120 * (count + 1))
    assert set(world.cloud.actions(since)) == {LISTS[product.name]}


def nothing_is_looked_for(world):
    world.settled(horizon_ms=1500)
    since = world.cloud.mark()
    world.settled(horizon_ms=1500)
    assert world.cloud.actions(since) == []


@PRODUCTS
def test_tags_that_are_put_back_are_seen_by_one_list(world, product):
    known = begin(world, product)
    for name in NAMES:
        world.cloud.edit("update", type=TYPES[product.name], id=known[name][0], tags={OWNER_TAG: None})
        touch(world, name)
    for name in NAMES:
        world.wait(lambda n=name: failed(world, n, "it is looked for every 60 s"), f"{name} to miss its own")
        assert f"has lost its tag {OWNER_TAG}={known[name][1]}" in failed(world, name)[0]
        world.wait(lambda n=name: condition_fails(world, n), "the condition")
    only_looks(world, product)
    for name in NAMES:
        world.cloud.edit("update", type=TYPES[product.name], id=known[name][0], tags={OWNER_TAG: known[name][1]})
    for name in NAMES:
        world.wait(lambda n=name: not condition_fails(world, n), "its own")
    nothing_is_looked_for(world)
    assert sorted(lb["LoadBalancerId"] for lb in product.find(world)) == sorted(one for one, _ in known.values())


def lose(world, product, known):
    for name in NAMES:
        world.cloud.edit("delete", type=TYPES[product.name], id=known[name][0])


@PRODUCTS
def test_deleted_ones_are_told_with_the_command_and_looked_for(world, product):
    known = begin(world, product)
    lose(world, product, known)
    for name in NAMES:
        touch(world, name)
    for name in NAMES:
        world.wait(lambda n=name: failed(world, n), f"{name} to miss its own")
        message = failed(world, name)[0]
        assert f"{known[name][0]} does not exist any more" in message
        assert f"kubectl patch service {name} -n default --subresource=status --type=merge -p " in message
        assert "it is looked for every 60 s" in message and "recreate_deleted" not in message
    only_looks(world, product)
    assert product.find(world) == []
    for name in NAMES:  # what the message says
        world.kube.patch("Service", name, {"status": {"loadBalancer": None}}, subresource="status")
    for name in NAMES:
        world.wait(lambda n=name: world.kube.ingress(n), "another one")
    nothing_is_looked_for(world)
    assert len(product.find(world)) == len(NAMES)
    assert not any(said(world, name, "LoadBalancerRecreated") for name in NAMES)


@PRODUCTS
def test_the_next_change_of_a_node_reports_a_deleted_one(world, product):
    """The groups of an NLB outlive it, so writes to them succeed: it is read before a success is reported."""
    known = begin(world, product)
    lose(world, product, known)
    before = {name: len(said(world, name, "EnsuredLoadBalancer")) for name in NAMES}
    views.nodes(world, 1, first=3)
    for name in NAMES:
        world.wait(lambda n=name: failed(world, n, f"{known[name][0]} does not exist any more"), f"{name} to miss its own")
        assert len(said(world, name, "EnsuredLoadBalancer")) == before[name]


@PRODUCTS
def test_deleted_ones_are_made_again_by_option_also_when_another_process_finds_it(world, product):
    known = begin(world, product, "recreate_deleted = true;", ("stays",))
    world.stop_ccmd()
    lose(world, product, known)
    world.start_ccmd()
    for name in NAMES:
        world.wait(lambda n=name: failed(world, n, "and another one is made should it be missing still"), "the failure")
        world.wait(lambda n=name: said(world, n, "LoadBalancerRecreated", known[n][0]), "the event")

        def again(n=name):
            label = world.kube.get("Service", n)["metadata"]["labels"].get(ID_LABEL)
            return label not in (None, known[n][0]) and world.kube.ingress(n) and not condition_fails(world, n)

        world.wait(again, "another one")
    nothing_is_looked_for(world)
    assert len(product.find(world)) == len(NAMES) + 1
    assert all(product.complete(lb, ((80, "TCP"),)) for lb in product.find(world))
    assert all(len(said(world, name, "LoadBalancerRecreated")) == 1 for name in NAMES)


@PRODUCTS
def test_an_answer_without_any_of_them_is_no_reason_to_make_them_again(world, product):
    """It is what credentials of another account would show. One that is there is enough of a proof."""
    known = begin(world, product, "recreate_deleted = true;")
    lose(world, product, known)
    for name in NAMES:
        touch(world, name)
    world.wait(lambda: "the cloud lists none of the 3 load balancers that Services show" in world.log(), "the line")
    only_looks(world, product)
    assert product.find(world) == []
    assert not any(said(world, name, "LoadBalancerRecreated") for name in NAMES)
    world.kube.create(product.new("new"))
    for name in NAMES:
        world.wait(lambda n=name: said(world, n, "LoadBalancerRecreated", known[n][0]), "the event")
    world.wait(lambda: len(product.find(world)) == len(NAMES) + 1, "them all")
    assert world.log().count("the cloud lists none of the") == 1


@PRODUCTS
def test_a_deleted_service_is_not_looked_for(world, product):
    known = begin(world, product)
    lose(world, product, known)
    for name in NAMES:
        touch(world, name)
    for name in NAMES:
        world.wait(lambda n=name: failed(world, n), f"{name} to miss its own")
        world.kube.delete("Service", name)
    for name in NAMES:
        world.wait(lambda n=name: not any(one["metadata"]["name"] == n for one in world.kube.items("Service")), "it to go")
    nothing_is_looked_for(world)
