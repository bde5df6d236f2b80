"""The process dies behind a creation, and lists by tags do not show what it has created. The next process creates nothing twice, and
leaves nothing when the Service goes. Nor does one whose read fails. Both products."""

import pytest

from tests.support import views
from tests.support.owned import Console
from tests.support.products import PREFIX, Clb, Nlb, default_name
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
PORTS = [(80, "TCP"), (443, "TCP")]
OPTIONS = {"clb": "source_ranges = true;", "nlb": ""}
CREATIONS = {"clb": ("CreateLoadBalancer", "CreateAccessControlList", "CreateVServerGroup", "CreateLoadBalancerTCPListener"),
             "nlb": ("CreateLoadBalancer", "CreateSecurityGroup", "CreateServerGroup", "CreateListener")}
CASES = [pytest.param(product, action, id=f"{product.name}-{action}") for product in (Clb(), Nlb()) for action in CREATIONS[product.name]]


@pytest.fixture
def late(build, tmp_path):
    with World(build, tmp_path, cloud_args=["--tag-lag-ms=3600000"]) as instance:
        yield instance


def count_parts(world, product, uid):
    """How many there are of each kind."""
    state = world.cloud.state()
    groups = [group for lb in product.find(world) for group in lb["Groups"]] if product.name == "clb" else state["nlbServerGroups"]
    guards = state["acls"] if product.name == "clb" else [one for one in state["securityGroups"] if default_name(uid) in one["Tags"].values()]
    return len(product.find(world)), len(groups), len(guards)


def be_killed(world, product, action):
    """Behind the first call of that action; the uid of the Service."""
    product.configure(world, OPTIONS[product.name])
    views.nodes(world, 2)
    since = world.cloud.mark()
    world.cloud.fault(action=action, count=1, cut="after", delay_ms=600000)
    service = product.new("web", PORTS)
    service["spec"]["loadBalancerSourceRanges"] = ["10.0.0.0/8"]
    world.kube.create(service)
    world.start_ccmd()
    world.wait(lambda: action in world.cloud.actions(since), "the creation", 30)
    world.kill_ccmd()
    world.cloud.clear_faults()
    return world.kube.get("Service", "web")["metadata"]["uid"]


@pytest.mark.parametrize("product, action", CASES)
def test_served(late, product, action):
    uid = be_killed(late, product, action)
    late.start_ccmd()
    late.wait(lambda: product.complete(product.only(late), PORTS) and late.kube.ingress("web"), "the load balancer", 60)
    late.settled()
    assert count_parts(late, product, uid) == (1, 2, 1)
    late.kube.delete("Service", "web")
    late.wait(lambda: late.kube.get("Service", "web") is None, "the end", 60)
    assert count_parts(late, product, uid) == (0, 0, 0)


@pytest.mark.parametrize("product, action", CASES)
def test_deleted(late, product, action):
    uid = be_killed(late, product, action)
    late.kube.delete("Service", "web")
    late.start_ccmd()
    late.wait(lambda: late.kube.get("Service", "web") is None, "the end", 60)
    assert count_parts(late, product, uid) == (0, 0, 0)


ENDS = {"deleted": lambda world: world.kube.delete("Service", "web"),
        "of-another-type": lambda world: world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP"}})}


@pytest.mark.parametrize("product", (Clb(), Nlb()), ids=("clb", "nlb"))
@pytest.mark.parametrize("how", ENDS)
def test_a_read_by_id_fails(late, product, how):
    """No label names the load balancer yet, so the process alone knows its id: it does not forget that."""
    product.configure(late)
    views.nodes(late, 2)
    action = CREATIONS[product.name][3]
    late.cloud.fault(action=action, count=1000, code={"clb": "ServiceIsConfiguring", "nlb": "SystemBusy"}[product.name], http=400)
    late.kube.create(product.new("web", PORTS))
    late.start_ccmd()
    late.wait(lambda: action in late.cloud.actions(), "the load balancer, which is busy", 30)
    uid = late.kube.get("Service", "web")["metadata"]["uid"]
    late.cloud.fault(action={"clb": "DescribeLoadBalancerAttribute", "nlb": "GetLoadBalancerAttribute"}[product.name],
                     count=1000, code="ServiceUnavailable", http=503, message="a moment")
    ENDS[how](late)
    late.wait(lambda: any("a moment" in event[2] for event in late.kube.events("web")), "the failure", 30)
    late.cloud.clear_faults()
    late.wait(lambda: not (late.kube.get("Service", "web") or {"metadata": {}})["metadata"].get("finalizers"), "the end", 60)
    assert count_parts(late, product, uid) == (0, 0, 0)


def serve_one_port(world, product):
    """The uid of a Service whose load balancer is complete."""
    product.configure(world)
    views.nodes(world, 2)
    world.kube.create(product.new("web", PORTS[:1]))
    world.start_ccmd()
    world.wait(lambda: product.complete(product.only(world), PORTS[:1]) and world.kube.ingress("web"), "the load balancer", 60)
    world.settled()
    return world.kube.get("Service", "web")["metadata"]["uid"]


def test_deleted_after_an_edit(late):
    """What was created is not wanted any more when the next process begins, so nothing asks for it until the Service goes."""
    product = Nlb()
    uid = serve_one_port(late, product)
    since = late.cloud.mark()
    late.cloud.fault(action="CreateServerGroup", count=1, cut="after", delay_ms=600000)
    late.kube.patch("Service", "web", {"spec": {"ports": product.new("web", PORTS)["spec"]["ports"]}})
    late.wait(lambda: "CreateServerGroup" in late.cloud.actions(since), "the creation", 30)
    late.kill_ccmd()
    late.cloud.clear_faults()
    late.kube.patch("Service", "web", {"spec": {"ports": product.new("web", PORTS[:1])["spec"]["ports"]}})
    late.start_ccmd()
    late.settled()
    late.kube.delete("Service", "web")
    late.wait(lambda: late.kube.get("Service", "web") is None, "the end", 60)
    assert count_parts(late, product, uid) == (0, 0, 0)


@pytest.mark.parametrize("ends, lag_ms", ((True, 3600000), (False, 20000)))
def test_gone_from_the_ports_after_a_lost_answer(build, tmp_path, ends, lag_ms):
    """The creation of a server group got no answer, and an edit takes its port away: the list by tags does not show it yet, but it is ours."""
    product = Nlb()
    with World(build, tmp_path, cloud_args=[f"--tag-lag-ms={lag_ms}"]) as world:
        uid = serve_one_port(world, product)
        world.cloud.fault(action="CreateServerGroup", count=1, cut="after")
        world.cloud.fault(action="CreateServerGroup", count=1000, http=503, code="ServiceUnavailable", message="a moment")
        world.kube.patch("Service", "web", {"spec": {"ports": product.new("web", PORTS)["spec"]["ports"]}})
        world.wait(lambda: any("a moment" in event[2] for event in world.kube.events("web")), "the failure", 60)
        world.kube.patch("Service", "web", {"spec": {"ports": product.new("web", PORTS[:1])["spec"]["ports"]}})
        world.settled()
        world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "connection-drain": "on"}}})  # it is read again
        world.settled()
        if ends:
            world.kube.delete("Service", "web")
            world.wait(lambda: world.kube.get("Service", "web") is None, "the end", 60)
        world.wait(lambda: count_parts(world, product, uid)[1] == (0 if ends else 1), "the end of the group", 0 if ends else 200)


def test_gone_from_the_ports_after_a_crash(build, tmp_path):
    """A process created a server group for a port and ended while it took the port away again: the next one finds it when lists show it."""
    product = Nlb()
    with World(build, tmp_path, cloud_args=["--tag-lag-ms=20000"]) as world:
        uid = serve_one_port(world, product)
        since = world.cloud.mark()
        world.cloud.fault(action="DeleteServerGroup", count=1000, delay_ms=600000, cut="before")
        world.kube.patch("Service", "web", {"spec": {"ports": product.new("web", PORTS)["spec"]["ports"]}})
        world.wait(lambda: product.complete(product.only(world), PORTS), "the second port", 30)
        world.kube.patch("Service", "web", {"spec": {"ports": product.new("web", PORTS[:1])["spec"]["ports"]}})
        world.wait(lambda: "DeleteServerGroup" in world.cloud.actions(since), "the deletion", 60)
        world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "scheduler": "rr"}}})
        world.kill_ccmd()
        world.cloud.clear_faults()
        world.start_ccmd()
        world.wait(lambda: count_parts(world, product, uid)[1] == 1, "the end of the group", 200)
        world.settled()
        assert "DriftRepaired" not in [event[1] for event in world.kube.events("web")], "nobody else has changed anything"


@pytest.mark.parametrize("product", (Clb(), Nlb()), ids=("clb", "nlb"))
@pytest.mark.parametrize("which", ("its own", "none"))
def test_annotation_id_cannot_be_used(late, product, which):
    """It is set while the load balancer is being created, and names that one, or none: what was created stays, and is used later."""
    be_killed(late, product, CREATIONS[product.name][3])
    own = product.only(late)["LoadBalancerId"]
    anno = {PREFIX + "id": own if which == "its own" else {"clb": "lb-none", "nlb": "nlb-none"}[product.name]}
    late.kube.patch("Service", "web", {"metadata": {"annotations": anno}})
    late.start_ccmd()
    late.wait(lambda: any(event[1] == "SyncLoadBalancerFailed" for event in late.kube.events("web")), "the refusal", 30)
    late.settled()
    assert product.only(late)["LoadBalancerId"] == own
    late.kube.patch("Service", "web", {"metadata": {"annotations": dict.fromkeys(anno)}})
    late.wait(lambda: product.complete(product.only(late), PORTS) and late.kube.ingress("web"), "the load balancer", 60)
    assert product.only(late)["LoadBalancerId"] == own


def test_put_off_after_a_lost_answer(late):
    """The answer to the creation of a server group is lost, and its repetition has to wait for its turn. The group is found, and not created twice."""
    product = Nlb()
    product.configure(late, OPTIONS["nlb"])
    views.nodes(late, 2)
    late.cloud.fault(action="CreateServerGroup", count=1, cut="after")
    late.cloud.fault(action="CreateServerGroup", count=6, code="Throttling.User", http=429)
    late.start_ccmd()
    late.kube.create(product.new("web", PORTS[:1]))
    late.wait(lambda: product.complete(product.only(late), PORTS[:1]) and late.kube.ingress("web"), "the load balancer", 60)
    late.settled()
    assert count_parts(late, product, late.kube.get("Service", "web")["metadata"]["uid"]) == (1, 1, 0)
    assert "SyncLoadBalancerFailed" not in [reason for _, reason, *_ in late.kube.events("web")]


@pytest.mark.parametrize("product", (Clb(), Nlb()), ids=("clb", "nlb"))
def test_a_deletion_after_a_label_of_an_old_leader(late, product):
    """A leader that is behind has written the hash label again, and no id. Annotation id names nothing: what is its own is deleted."""
    uid = be_killed(late, product, CREATIONS[product.name][3])
    late.kube.patch("Service", "web", {"metadata": {
        "annotations": {PREFIX + "id": {"clb": "lb-none", "nlb": "nlb-none"}[product.name]},
        "labels": {"service.beta.kubernetes.io/hash": "v2-0123"}}})
    late.kube.delete("Service", "web")
    late.start_ccmd()
    late.wait(lambda: late.kube.get("Service", "web") is None, "the end of the Service", 60)
    assert count_parts(late, product, uid) == (0, 0, 0)


@pytest.mark.parametrize("kind", ("clb", "nlb"))
@pytest.mark.parametrize("cluster", ("c-test", "c-other"))
def test_a_leave_keeps_what_is_not_its_own(world, kind, cluster):
    """A person's load balancer has the Service's tag. The Service leaves its own one for that of annotation id, and only its own is deleted."""
    console = Console(world, kind)
    product = console.product
    uid = be_killed(world, product, CREATIONS[kind][3])
    own = product.only(world)["LoadBalancerId"]
    tags = {"kubernetes.do.not.delete": default_name(uid), "ack.aliyun.com": cluster}
    theirs = product.make_lb("theirs", {}, tags)[0]
    wanted = product.make_lb("wanted", {}, {})[0]
    world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "id": wanted, PREFIX + "force-override-listeners": "true"}}})
    world.start_ccmd()
    world.wait(lambda: world.kube.ingress("web"), "the load balancer", 60)
    world.settled()
    assert {lb["LoadBalancerId"] for lb in console.lbs()} == {theirs, wanted} and own not in (theirs, wanted)
