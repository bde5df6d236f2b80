"""What the cloud refuses for good is not asked again and again, whatever it is: three times in five seconds at most."""

import pytest

from tests.support import objects, views
from tests.support.products import PREFIX, Clb, Nlb

pytestmark = pytest.mark.time_scale(10)
TIMES, SECONDS = 3, 5


def check_pace(world, code, count):
    """Until so many refusals with the code have come; no more than TIMES of them in any SECONDS."""
    def times():
        return [call["t"] for call in world.cloud.calls() if call["code"] == code]

    world.wait(lambda: len(times()) >= count, f"{count} refusals", 60)
    found = times()
    assert all(later - former > SECONDS for former, later in zip(found, found[TIMES:])), [t - found[0] for t in found]


def call_as_person(world, product, action, **params):
    done = world.cloud.edit("call", product=product.product, action=action, params=params)
    assert done["http"] == 200, done
    return done["answer"]


def take_group(world, product, group):
    """A listener of somebody else uses a server group of the Service; the action that takes the listener away again."""
    if product.name == "clb":
        lb_id = product.only(world)["LoadBalancerId"]
        call_as_person(world, product, "CreateLoadBalancerTCPListener", LoadBalancerId=lb_id, ListenerPort="9999",
                       Bandwidth="-1", VServerGroupId=group["id"])
        return "DeleteLoadBalancerListener", {"LoadBalancerId": lb_id, "ListenerPort": "9999", "ListenerProtocol": "tcp"}
    product.call = lambda action, params: call_as_person(world, product, action, **params)
    lb_id, _ = product.make_lb("theirs", {}, {})
    made = call_as_person(world, product, "CreateListener", LoadBalancerId=lb_id, ListenerPort="9999", ListenerProtocol="TCP",
                          ServerGroupId=group["id"])
    return "DeleteListener", {"ListenerId": made["ListenerId"]}


@pytest.mark.parametrize("product", [Clb(), Nlb()], ids=["clb", "nlb"])
@pytest.mark.parametrize("how", ["deleted", "port"])
def test_a_group_that_a_listener_of_somebody_else_uses(world, product, how):
    """At the end of the Service, or of the port: the group cannot go as long as the listener is there, and goes then."""
    product.configure(world)
    views.nodes(world, 2)
    world.start_ccmd()
    ports = ((80, "TCP"), (443, "TCP"))
    options = {"annotations": {}}
    if product.name == "clb":  # a group belongs to its load balancer, which stays when a person made it
        world.cloud.edit("create", type="loadbalancer", name="by-hand")
        lb_id = product.only(world)["LoadBalancerId"]
        options["annotations"] = {PREFIX + "id": lb_id, PREFIX + "force-override-listeners": "true"}
    service = world.kube.create(product.new("web", ports, **options))
    world.wait(lambda: world.kube.ingress("web") and product.complete(product.only(world), ports), "the Service")
    world.settled()
    used = product.only(world)["Groups"][0]
    action, params = take_group(world, product, used)
    since = world.cloud.mark()
    if how == "deleted":
        world.kube.delete("Service", "web")
    else:
        left = [p for p in service["spec"]["ports"] if product.group_name(service, p["port"], False) != used["name"]]
        assert len(left) == 1
        world.kube.patch("Service", "web", {"spec": {"ports": left}})
    deletion = {"clb": "DeleteVServerGroup", "nlb": "DeleteServerGroup"}[product.name]
    refused = world.wait(lambda: [c["code"] for c in world.cloud.calls(since) if c["action"] == deletion and c["http"] != 200],
                         "a refusal")
    check_pace(world, refused[0], TIMES + 1)
    assert len(world.kube.events("web")) < 12
    call_as_person(world, product, action, **params)
    if how == "deleted":
        world.wait(lambda: world.kube.get("Service", "web") is None, "the end", 60)
        assert product.left(world.cloud.state(), service) == []
    world.wait(lambda: used["id"] not in [g["id"] for lb in product.find(world) for g in lb["Groups"]], "the group", 60)
    world.stop_ccmd()
