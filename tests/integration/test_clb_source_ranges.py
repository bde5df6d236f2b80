"""Option source_ranges of plugin clb against the access lists of the simulated cloud: made, filled in batches, changed,
taken away."""

from tests.support import objects, views

PORTS = ((80, "TCP"), (443, "TCP"))


def access_lists(world):
    """Name -> blocks of every access list, as the cloud holds them."""
    state = world.cloud.state()
    return {acl["AclName"]: sorted(e["Entry"] for e in state["aclEntries"] if e["AclId"] == acl["AclId"])
            for acl in state["acls"]}


def listeners_of(world):
    return [(one.get("AclStatus"), one.get("AclType"), bool(one.get("AclId"))) for one in views.only_lb(world)["Listeners"]]


def test_ranges_of_a_service(world):
    views.nodes(world, 1)
    world.config = world.write_config(plugins='{ name = "clb"; workers = 4; source_ranges = true; }')
    world.start_ccmd()
    many = [f"10.{n // 256}.{n % 256}.0/24" for n in range(120)]  # more than one call takes
    world.kube.create(objects.service("web", PORTS, loadBalancerSourceRanges=many))

    def holds(blocks):
        lists = list(access_lists(world).values())
        return lists == [sorted(blocks)] and listeners_of(world) == [("on", "white", True)] * 2

    world.wait(lambda: views.only_lb(world) and holds(many), "the access list", timeout=60)
    adds = [call for call in world.cloud.calls() if call["action"] == "AddAccessControlListEntry"]
    assert len(adds) == 3 and {call["http"] for call in adds} == {200}

    few = [*many[:2], "192.168.0.0/16"]
    world.kube.patch("Service", "web", {"spec": {"loadBalancerSourceRanges": few}})
    world.wait(lambda: holds(few), "the smaller list", timeout=60)
    world.kube.patch("Service", "web", {"spec": {"loadBalancerSourceRanges": None}})
    world.wait(lambda: access_lists(world) == {} and {one[0] for one in listeners_of(world)} == {"off"},
               "the list to be gone", timeout=60)
    assert not [call for call in world.cloud.calls() if call["http"] >= 400]


def test_a_policy_without_access_lists(world):
    """The event says what to grant, nothing serves without its list, and the grant heals it."""
    views.nodes(world, 1)
    world.config = world.write_config(plugins='{ name = "clb"; workers = 4; source_ranges = true; }')
    world.cloud.http.request("POST", "/_sim/faults", {
        "match": {"action": "*AccessControlList*"}, "effect": {"code": "Forbidden.RAM", "http": 403}})
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS, loadBalancerSourceRanges=["10.0.0.0/8"]))
    wanted = "Grant the actions slb:*AccessControlList* to the RAM user or role that ccmd uses"
    world.wait(lambda: any(e[:2] == ("Warning", "SyncLoadBalancerFailed") and "Forbidden.RAM" in e[2] and wanted in e[2]
                           for e in world.kube.events("web")), "the remedy")
    world.settled()
    assert (views.only_lb(world) or {"Listeners": []})["Listeners"] == []
    assert world.kube.ingress("web") == []
    world.cloud.clear_faults()
    world.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/again": "1"}}})
    world.wait(lambda: views.complete(views.only_lb(world), PORTS) and world.kube.ingress("web"), "the load balancer", 30)
    assert list(access_lists(world).values()) == [["10.0.0.0/8"]]
    assert listeners_of(world) == [("on", "white", True)] * 2


def test_deletion_with_a_lost_answer(world):
    """The list was deleted and nobody said so: asked again, the cloud does not know it, and that is what was wanted."""
    views.nodes(world, 1)
    world.config = world.write_config(plugins='{ name = "clb"; workers = 4; source_ranges = true; }')
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS, loadBalancerSourceRanges=["10.0.0.0/8"]))
    world.wait(lambda: views.complete(views.only_lb(world), PORTS) and world.kube.ingress("web"), "the load balancer", 30)
    world.cloud.fault(action="DeleteAccessControlList", count=1, cut="after")
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")
    assert access_lists(world) == {} and world.cloud.load_balancers() == []
    assert [e for e in world.kube.events("web") if e[0] == "Warning"] == []


EVERYONE = ["0.0.0.0/0", "::/0"]


def test_ranges_that_admit_everyone_need_no_option(world):
    """They ask for what a load balancer without an access list does."""
    views.nodes(world, 1)
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS, loadBalancerSourceRanges=EVERYONE))
    world.wait(lambda: views.complete(views.only_lb(world), PORTS) and world.kube.ingress("web"), "the load balancer")
    world.settled()
    assert [e for e in world.kube.events("web") if e[0] == "Warning"] == []
    assert access_lists(world) == {}
    world.kube.create(objects.service("narrow", PORTS, loadBalancerSourceRanges=["10.0.0.0/8"]))
    world.wait(lambda: any("option source_ranges of plugin clb is off" in e[2] for e in world.kube.events("narrow")), "the refusal")
    world.settled()
    assert len(world.cloud.load_balancers()) == 1


def test_ranges_that_admit_everyone_with_the_option(world):
    """They need no list: one that exists is deleted, and created again without them."""
    views.nodes(world, 1)
    world.config = world.write_config(plugins='{ name = "clb"; workers = 4; source_ranges = true; }')
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS, loadBalancerSourceRanges=EVERYONE))

    def is_open():
        return views.complete(views.only_lb(world), PORTS) and access_lists(world) == {} and \
            not [one for one in listeners_of(world) if one[0] == "on"]

    world.wait(is_open, "a load balancer without a list")
    world.kube.patch("Service", "web", {"spec": {"loadBalancerSourceRanges": ["10.0.0.0/8"]}})
    world.wait(lambda: listeners_of(world) == [("on", "white", True)] * 2, "the list")
    world.kube.patch("Service", "web", {"spec": {"loadBalancerSourceRanges": ["10.0.0.0/8", "0.0.0.0/0"]}})
    world.wait(is_open, "the list to be gone")
    assert [e for e in world.kube.events("web") if e[0] == "Warning"] == []
