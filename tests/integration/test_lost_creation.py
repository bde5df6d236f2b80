"""A load balancer was made and nobody knows: ccmd was killed, or the answer got lost. The cloud's index of tags is late, and
somebody has edited the Service since. There is one load balancer all the same; and of two that are there somebody hears."""

import pytest

from tests.support import views
from tests.support.products import OWNER_TAG, PREFIX, Clb, Nlb, default_name
from tests.support.world import CLUSTER_ID

pytestmark = pytest.mark.time_scale(10)
PORTS = [(80, "TCP")]
PRODUCTS = pytest.mark.parametrize("product", [Clb(), Nlb()], ids=["clb", "nlb"])
LATE = {"clb": ("DescribeLoadBalancers", "Tags", '{"LoadBalancers":{"LoadBalancer":[]},"PageNumber":1,"PageSize":10,"TotalCount":0}'),
        "nlb": ("ListLoadBalancers", "Tag.1.Key", '{"LoadBalancers":[],"TotalCount":0,"MaxResults":100}')}


def let_tags_be_late(world, product):
    """What has a tag is not found by it."""
    action, parameter, body = LATE[product.name]
    world.cloud.fault(action=action, params={parameter: "*"}, count=1000, body=body)


def begin(world, product):
    product.configure(world)
    views.nodes(world, 2)


def is_complete(world, product):
    return product.complete(product.only(world), PORTS) and world.kube.ingress("web")


def be_killed_behind_the_creation(world, product, **annotations):
    begin(world, product)
    world.cloud.fault(action="CreateLoadBalancer", count=1, cut="after", delay_ms=60000)
    world.kube.create(product.new("web", PORTS, annotations=annotations))
    world.start_ccmd()
    world.wait(lambda: product.only(world), "the creation", 30)
    world.kill_ccmd()
    world.cloud.clear_faults()


def edit(world, **annotations):
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + key.replace("_", "-"): value
                                                                     for key, value in annotations.items()}}})


def creations(world):
    return [call["params"]["ClientToken"] for call in world.cloud.calls() if call["action"] == "CreateLoadBalancer"]


@PRODUCTS
@pytest.mark.parametrize("name", (None, "shop"))
def test_killed_then_edited(world, product, name):
    """It is found by its name, which is the default one or that of the annotation."""
    be_killed_behind_the_creation(world, product, **({} if name is None else {PREFIX + "name": name}))
    made = product.only(world)["LoadBalancerId"]
    edit(world, additional_resource_tags="a=b")
    let_tags_be_late(world, product)
    world.start_ccmd()
    world.wait(lambda: is_complete(world, product), "what was made to be completed", 30)
    assert product.only(world)["LoadBalancerId"] == made
    assert len(creations(world)) == 1


@PRODUCTS
def test_answer_lost_then_edited(world, product):
    """The cloud refuses a repetition that asks for something else; then it is looked for by name."""
    begin(world, product)
    let_tags_be_late(world, product)
    world.cloud.fault(action="CreateLoadBalancer", count=1000, cut="after")
    world.kube.create(product.new("web", PORTS))
    world.start_ccmd()
    world.wait(lambda: any(e[1] == "SyncLoadBalancerFailed" for e in world.kube.events("web")), "the failure", 60)
    edit(world, additional_resource_tags="a=b")
    world.cloud.clear_faults()
    let_tags_be_late(world, product)
    world.wait(lambda: is_complete(world, product), "what was made to be completed", 60)
    assert len(set(creations(world))) == 1, "one token for all of them"


@PRODUCTS
def test_killed_then_deleted(world, product):
    """It goes with the Service, although no tag leads to it."""
    be_killed_behind_the_creation(world, product)
    world.kube.delete("Service", "web")
    let_tags_be_late(world, product)
    world.start_ccmd()
    world.wait(lambda: world.kube.get("Service", "web") is None, "the deletion", 30)
    assert product.find(world) == []


@PRODUCTS
def test_a_used_token_and_other_values(world, product):
    """Released, and wanted again with other values by another process: the old token is not waited for."""
    begin(world, product)
    world.kube.create(product.new("web", PORTS))
    world.start_ccmd()
    world.wait(lambda: is_complete(world, product), "the first load balancer", 30)
    service_class = {} if product.name == "clb" else {"loadBalancerClass": None}
    world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP", **service_class}})
    world.wait(lambda: product.only(world) is None and "finalizers" not in world.kube.get("Service", "web")["metadata"],
               "the release", 30)
    world.stop_ccmd()
    edit(world, additional_resource_tags="a=b")
    service_class = {} if product.name == "clb" else {"loadBalancerClass": Nlb.service_class}
    world.kube.patch("Service", "web", {"spec": {"type": "LoadBalancer", **service_class}})
    world.start_ccmd()
    world.wait(lambda: is_complete(world, product), "the next load balancer", 15)


# --- two of them ---

def product_of(world, product):
    """The product, for a person at the console."""
    return type(product)(lambda action, params: world.cloud.edit("call", product=product.product, action=action, params=params)["answer"])


def make_twin(world, product, name=None):
    """Another load balancer with the tags of the Service's own, and its name."""
    uid = world.kube.get("Service", "web")["metadata"]["uid"]
    return product_of(world, product).make_lb(name or default_name(uid), {}, {OWNER_TAG: default_name(uid), "ack.aliyun.com": CLUSTER_ID})[0]


def ids(world, product):
    return {lb["LoadBalancerId"] for lb in product.find(world)}


@PRODUCTS
def test_two_and_one_is_labelled(world, product):
    """Work goes on with the one that the Service names, and the other one is named."""
    begin(world, product)
    world.kube.create(product.new("web", PORTS))
    world.start_ccmd()
    world.wait(lambda: is_complete(world, product), "the load balancer", 30)
    own = product.only(world)["LoadBalancerId"]
    world.stop_ccmd()
    twin = make_twin(world, product, "twin")
    edit(world, additional_resource_tags="a=b")
    world.start_ccmd()
    world.wait(lambda: any(e[1] == "DuplicateLoadBalancer" and twin in e[2] and f"{own} is used" in e[2] for e in world.kube.events("web")),
               "the other one to be named", 30)
    world.wait(lambda: any(e[1] == "EnsuredLoadBalancer" for e in world.kube.events("web")), "success", 30)
    world.settled()
    lbs = {lb["LoadBalancerId"]: lb for lb in product.find(world)}
    assert lbs[own]["Tags"].get("a") == "b" and "a" not in lbs[twin]["Tags"]
    world.stop_ccmd()
    world.kube.delete("Service", "web")
    world.start_ccmd()
    world.wait(lambda: world.kube.get("Service", "web") is None, "the deletion", 30)
    assert ids(world, product) == {twin}, "a tag alone does not say that it was the Service's"


@PRODUCTS
def test_two_and_none_is_labelled(world, product):
    """Nothing is changed, and the event says what to do. A Service that goes takes all that is its own along."""
    begin(world, product)
    world.kube.create(product.new("web", PORTS))
    twins = sorted(make_twin(world, product) for _ in range(2))
    world.start_ccmd()
    world.wait(lambda: any(e[1] == "SyncLoadBalancerFailed" and all(one in e[2] for one in twins) and "delete the others" in e[2]
                           for e in world.kube.events("web")), "the event", 30)
    assert ids(world, product) == set(twins)
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the deletion", 60)
    assert product.find(world) == []


def be_ready(world, product, **annotations):
    """A Service at rest; the id of its load balancer."""
    begin(world, product)
    world.kube.create(product.new("web", PORTS, annotations=annotations))
    world.start_ccmd()
    world.wait(lambda: is_complete(world, product), "the load balancer", 30)
    world.settled()
    return product.only(world)["LoadBalancerId"]


def end(world):
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the deletion", 60)
    world.settled()


def event_texts(world, reason):
    return [message for _, one, message, _ in world.kube.events("web") if one == reason]


@PRODUCTS
def test_a_late_list_hides_nothing_from_an_edit(world, product):
    """The edit asks for another name, so neither tag nor name leads to the load balancer: its id does."""
    own = be_ready(world, product, **{PREFIX + "name": "shop"})
    let_tags_be_late(world, product)
    edit(world, name="store")
    world.wait(lambda: product.only(world)["LoadBalancerName"] == "store", "the name", 30)
    world.settled()
    assert ids(world, product) == {own} and event_texts(world, "SyncLoadBalancerFailed") == []


def begin_with_a_twin(world, product):
    """A Service at rest, whose load balancer is no longer called as the Service asks; another one has its tag. Both ids."""
    begin(world, product)
    world.kube.create(product.new("web", PORTS, annotations={PREFIX + "name": "first"}))
    world.start_ccmd()
    world.wait(lambda: is_complete(world, product), "the load balancer", 30)
    own = product.only(world)["LoadBalancerId"]
    world.stop_ccmd()
    edit(world, name="second")
    return own, make_twin(world, product, "twin")


def is_over(world, product):
    service = world.kube.get("Service", "web")
    return service is None or product.finalizer not in service["metadata"].get("finalizers", [])


# calls of the end, reads included, behind which it is killed
CALLS = {"clb": {"cloud": 5, "kube": 3}, "nlb": {"cloud": 10, "kube": 3}}
KILLS = [pytest.param(product, simulator, nth, id=f"{product.name}-{simulator}-{nth}")
         for product in (Clb(), Nlb()) for simulator, calls in CALLS[product.name].items() for nth in range(1, calls + 1)]


@pytest.mark.parametrize("product, simulator, nth", KILLS)
def test_two_and_killed_at_the_end(world, product, simulator, nth):
    """Whenever it is killed: the one that the Service names goes, the other one stays."""
    own, twin = begin_with_a_twin(world, product)
    if nth % 2:
        world.kube.delete("Service", "web")
    else:
        world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP", "loadBalancerClass": None}})
    where = {"cloud": world.cloud, "kube": world.kube}[simulator]
    since = where.mark()
    kind = "" if simulator == "cloud" else "PATCH /api/v1/namespaces/default/services/"
    where.fault(nth=nth, cut="after", delay_ms=600000, action=kind + "*")
    world.start_ccmd()
    world.wait(lambda: [c for c in where.calls(since) if c["http"] == 0 and c["action"].startswith(kind)] or is_over(world, product),
               "the call", 60)
    world.kill_ccmd()
    where.clear_faults()
    world.start_ccmd()
    world.wait(lambda: f"plugin {product.name}: started" in world.ccmd.err(), "the start", 30)
    world.wait(lambda: is_over(world, product), "the end", 60)
    world.settled()
    assert ids(world, product) == {twin}, own


@PRODUCTS
def test_a_stale_cache_creates_nothing(world, product):
    """An instance knows the Service from before its deletion: what it creates now, nothing would ever delete. So it has the API
    server confirm the finalizer first."""
    begin(world, product)
    read = "DescribeLoadBalancers" if product.name == "clb" else "ListLoadBalancers"
    fault = dict(action=read, count=100000, code="ServiceUnavailable", http=503)
    item = product.new("web", PORTS)
    item["metadata"]["finalizers"] = [product.finalizer]
    world.kube.create(item)
    world.cloud.fault(**fault)
    world.start_ccmd()
    world.wait(lambda: read in world.cloud.actions(), "the first read")
    world.kube.watches("silence", "services")
    world.kube.patch("Service", "web", {"metadata": {"finalizers": None}})
    world.kube.delete("Service", "web")
    world.cloud.clear_faults()
    confirmed = "PATCH /api/v1/namespaces/default/services/web"
    world.wait(lambda: any(c["action"] == confirmed and c["http"] == 404 for c in world.kube.calls()), "the question", 60)
    assert creations(world) == []


@PRODUCTS
def test_a_finalizer_that_exists_is_confirmed_once(world, product):
    begin(world, product)
    item = product.new("web", PORTS)
    item["metadata"]["finalizers"] = [product.finalizer]
    world.kube.create(item)
    world.start_ccmd()
    world.wait(lambda: is_complete(world, product), "the load balancer", 30)
    world.kube.patch("Service", "web", {"spec": {"ports": [*item["spec"]["ports"], {"name": "more", "port": 81, "protocol": "TCP"}]}})
    world.wait(lambda: product.complete(product.only(world), [*PORTS, (81, "TCP")]), "the second port", 30)
    world.settled()
    ours = [c for c in world.kube.calls() if c["action"] == "PATCH /api/v1/namespaces/default/services/web"]
    assert len(ours) == 2, "one for the finalizer, and the change of this test"
