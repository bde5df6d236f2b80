"""Services that use a load balancer which a person made: what they take, what they leave."""

import pytest

from tests.support import objects, views

PREFIX = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
REUSE_TAG = "kubernetes.reused.by.user"


def annotations(lb, **more):
    return {PREFIX + "id": lb["LoadBalancerId"], **{PREFIX + k.replace("_", "-"): v for k, v in more.items()}}


def make_lb(world):
    world.cloud.edit("create", type="loadbalancer", name="by-hand")
    return views.only_lb(world)


def make_group(world, lb, name):
    world.cloud.edit("create", type="vservergroup", load_balancer=lb["LoadBalancerId"], name=name)
    return next(g for g in views.only_lb(world)["VServerGroups"] if g["VServerGroupName"] == name)


def reason(world, name, wanted, part=""):
    return any(r == wanted and part in message for _, r, message, _ in world.kube.events(name))


def writes(world, since):
    return [a for a in world.cloud.actions(since) if not a.startswith(("Describe", "List", "Get"))]


def test_without_override(world):
    lb = make_lb(world)
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(objects.service("web", annotations=annotations(lb)))
    world.wait(lambda: reason(world, "web", "EnsuredLoadBalancer"), "the Service")
    found = views.only_lb(world)
    assert views.listeners(found) == []
    assert len(found["VServerGroups"]) == 1
    assert found["Tags"][REUSE_TAG] == "true"
    assert world.kube.ingress("web")[0]["ip"] == lb["Address"]

    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the deletion")
    found = views.only_lb(world)
    assert found["VServerGroups"] == []
    assert REUSE_TAG not in found["Tags"]


def test_mark_of_one_that_got_nothing(world):
    """It was marked as in use first, and then the cloud made nothing: the mark goes with the Service."""
    lb = make_lb(world)
    views.nodes(world, 2)
    world.cloud.fault("CreateVServerGroup", count=10000, http=500, code="InternalError", message="not now")
    world.start_ccmd()
    world.kube.create(objects.service("web", annotations=annotations(lb, force_override_listeners="true")))
    world.wait(lambda: "CreateVServerGroup" in world.cloud.actions() and REUSE_TAG in views.only_lb(world)["Tags"], "the mark")
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the deletion")
    found = views.only_lb(world)
    assert REUSE_TAG not in found["Tags"] and found["VServerGroups"] == [] and views.listeners(found) == []


def test_mark_where_another_one_was_never_served(world):
    """Another Service names the load balancer and is refused: it has adopted nothing, so it does not keep the mark there."""
    lb = make_lb(world)
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(objects.service("web", annotations=annotations(lb, force_override_listeners="true")))
    world.wait(lambda: reason(world, "web", "EnsuredLoadBalancer"), "the first Service")
    refused = annotations(lb, force_override_listeners="true", scheduler="fastest")
    world.kube.create(objects.service("shop", [(81, "TCP")], annotations=refused))
    world.wait(lambda: reason(world, "shop", "SyncLoadBalancerFailed"), "the refusal")
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the deletion")
    assert REUSE_TAG not in views.only_lb(world)["Tags"]


UNWANTED = {
    "deleted": lambda world: world.kube.delete("Service", "web"),
    "of-another-type": lambda world: world.kube.patch("Service", "web", {"spec": {"type": "ClusterIP"}}),
    "without-id": lambda world: world.kube.patch("Service", "web", {"metadata": {"annotations": {PREFIX + "id": None}},
                                                                    "spec": {"type": "ClusterIP"}}),
}


@pytest.mark.parametrize("how", UNWANTED)
def test_mark_of_one_whose_process_was_killed_behind_it(world, how):
    """Nothing but the mark was made, the process ends, and the Service is unwanted when the next one begins."""
    lb = make_lb(world)
    views.nodes(world, 2)
    world.cloud.fault("CreateVServerGroup", count=10000, delay_ms=600000, http=500, code="InternalError", message="not now")
    world.start_ccmd()
    world.kube.create(objects.service("web", annotations=annotations(lb, force_override_listeners="true")))
    world.wait(lambda: "CreateVServerGroup" in world.cloud.actions() and REUSE_TAG in views.only_lb(world)["Tags"], "the mark")
    world.kill_ccmd(calls_end=False)
    world.cloud.clear_faults()
    UNWANTED[how](world)
    world.start_ccmd()
    world.wait(lambda: not (world.kube.get("Service", "web") or {"metadata": {}})["metadata"].get("finalizers"), "the release")
    world.settled()
    found = views.only_lb(world)
    assert REUSE_TAG not in found["Tags"] and found["VServerGroups"] == [] and views.listeners(found) == []


def test_with_override_and_a_chosen_group(world):
    lb = make_lb(world)
    group = make_group(world, lb, "mine")
    views.nodes(world, 2)
    world.start_ccmd()
    chosen = f"{group['VServerGroupId']}:443"
    world.kube.create(
        objects.service(
            "web",
            ((80, "TCP"), (443, "TCP")),
            annotations=annotations(lb, force_override_listeners="true", vgroup_port=chosen, weight="60"),
        )
    )
    world.wait(lambda: reason(world, "web", "EnsuredLoadBalancer"), "the Service")
    found = views.only_lb(world)
    assert views.listeners(found) == [(80, "tcp", "running"), (443, "tcp", "running")]
    assert {weight for _, _, weight in views.groups(found)["mine"]} == {30}
    used = {l["ListenerPort"]: l["VServerGroupId"] for l in found["Listeners"]}
    assert group["VServerGroupId"] in used.values()

    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the deletion")
    found = views.only_lb(world)
    assert views.listeners(found) == []
    assert views.groups(found) == {"mine": set()}


def test_one_made_by_a_controller_is_refused(world):
    views.nodes(world, 1)
    world.start_ccmd()
    world.kube.create(objects.service("web"))
    world.wait(lambda: reason(world, "web", "EnsuredLoadBalancer"), "the Service")
    lb = views.only_lb(world)
    since = world.cloud.mark()
    world.kube.create(objects.service("api", annotations=annotations(lb, force_override_listeners="true")))
    text = (
        f"alicloud: the loadbalancer {lb['LoadBalancerId']} can not be reused, "
        "can not reuse loadbalancer created by kubernetes."
    )
    world.wait(lambda: reason(world, "api", "SyncLoadBalancerFailed", text), "the refusal")
    assert writes(world, since) == []
    world.kube.delete("Service", "api")
    world.wait(lambda: world.kube.get("Service", "api") is None, "the deletion")
    assert views.only_lb(world)["LoadBalancerId"] == lb["LoadBalancerId"]
    assert writes(world, since) == []


def test_unknown_one(world):
    views.nodes(world, 1)
    world.start_ccmd()
    world.kube.create(objects.service("web", annotations=annotations({"LoadBalancerId": "lb-none"})))
    world.wait(
        lambda: reason(world, "web", "SyncLoadBalancerFailed", "The specified LoadBalancerId does not exist"),
        "the failure",
    )
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the deletion")
    assert world.cloud.load_balancers() == []


def test_two_services_change_at_once(world):
    """Both converge while the cloud is busy, and neither touches what is the other's."""
    lb = make_lb(world)
    views.nodes(world, 2)
    world.start_ccmd()
    override = annotations(lb, force_override_listeners="true")
    names = ("web", "api")
    world.cloud.fault(action="CreateVServerGroup", count=3, code="BackendServer.configuring", http=409)
    world.cloud.fault(action="AddVServerGroupBackendServers", count=3, code="BackendServer.configuring", http=409)
    for index, name in enumerate(names):
        ports = ((8000 + index, "TCP"), (9000 + index, "TCP"))
        world.kube.create(objects.service(name, ports, annotations=override))
    world.wait(lambda: all(reason(world, n, "EnsuredLoadBalancer") for n in names), "both Services")
    views.nodes(world, 3, first=3)

    def full():
        found = views.groups(views.only_lb(world))
        return len(found) == 4 and all(len(servers) == 5 for servers in found.values())

    world.wait(full, "five nodes in four groups")
    assert [l[0] for l in views.listeners(views.only_lb(world))] == [8000, 8001, 9000, 9001]

    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "the deletion")
    left = views.only_lb(world)
    assert views.listeners(left) == [(8001, "tcp", "running"), (9001, "tcp", "running")]
    assert all("/api/" in name and len(servers) == 5 for name, servers in views.groups(left).items())
    assert left["Tags"][REUSE_TAG] == "true"


def test_restart_makes_no_write(world):
    lb = make_lb(world)
    views.nodes(world, 2)
    world.start_ccmd()
    override = annotations(lb, force_override_listeners="true")
    for index, name in enumerate(("web", "api")):
        world.kube.create(objects.service(name, ((8000 + index, "TCP"),), annotations=override))
    world.wait(lambda: all(reason(world, n, "EnsuredLoadBalancer") for n in ("web", "api")), "both Services")
    world.settled()
    world.stop_ccmd()
    since = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: len(world.cloud.actions(since)) >= 5, "the first reads")
    world.kube.create(objects.service("new", ((8002, "TCP"),), annotations=override))
    world.wait(lambda: reason(world, "new", "EnsuredLoadBalancer"), "a pass behind theirs")
    assert writes(world, since) == ["CreateVServerGroup", "CreateLoadBalancerTCPListener", "StartLoadBalancerListener"]
    # the load balancer, its listeners, its groups, and each Service's own group once
    reads = [a for a in world.cloud.actions(since) if a.startswith("Describe")]
    assert sorted(reads) == [
        "DescribeLoadBalancerAttribute",
        "DescribeLoadBalancerListeners",
        "DescribeVServerGroupAttribute",
        "DescribeVServerGroupAttribute",
        "DescribeVServerGroups",
    ]


def test_its_own_one_is_not_left_for_another(world):
    views.nodes(world, 1)
    world.start_ccmd()
    world.kube.create(objects.service("web"))
    world.wait(lambda: reason(world, "web", "EnsuredLoadBalancer"), "the Service")
    own = views.only_lb(world)
    world.stop_ccmd()
    world.cloud.edit("create", type="loadbalancer", name="by-hand")
    other = next(lb for lb in world.cloud.load_balancers() if lb["LoadBalancerId"] != own["LoadBalancerId"])
    world.kube.patch("Service", "web", {"metadata": {"annotations": annotations(other)}})
    world.kube.patch("Service", "web", {"status": {"loadBalancer": None}}, subresource="status")
    since = world.cloud.mark()
    world.start_ccmd()
    text = f"service has been associated with loadbalancer [{own['LoadBalancerId']}], cannot be bound to another one"
    world.wait(lambda: reason(world, "web", "SyncLoadBalancerFailed", text), "the refusal")
    assert writes(world, since) == []
    assert world.kube.ingress("web") == []
