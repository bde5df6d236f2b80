"""From a fixed bandwidth to traffic: the cloud accepts it at once and shows it from the next day on. It is ordered once."""

import pytest

from tests.support.owned import PREFIX, Console

pytestmark = pytest.mark.time_scale(10)
CHARGE = PREFIX + "charge-type"
NAME = PREFIX + "name"


class Ordered:
    """A Service whose load balancer is paid by bandwidth, and whose annotation says traffic since a moment ago."""

    def __init__(self, world, options=""):
        self.console = Console(world, "clb")
        if options:
            self.console.product.configure(world, options)
        self.world = world
        self.id = self.console.serving(annotations={
            CHARGE: "paybybandwidth", PREFIX + "bandwidth": "5", PREFIX + "instance-charge-type": "PayBySpec",
            PREFIX + "delete-protection": "on"})
        self.edit({CHARGE: "paybytraffic"})
        self.settle()

    def edit(self, annotations):
        self.world.kube.patch("Service", "web", {"metadata": {"annotations": annotations}})

    def settle(self):
        """The orders are counted until the next edits."""
        self.world.wait(lambda: self.orders(), "the order", 30)
        self.world.settled()

    def orders(self):
        return self.world.cloud.actions().count("ModifyLoadBalancerInternetSpec")

    def shown(self):
        lb = self.console.lb(self.id)
        return lb["InternetChargeType"], int(lb["Bandwidth"])

    def repaired(self):
        return self.console.said("web", "DriftRepaired")

    def look(self, name):
        """An edit of something else, after which the cloud is read."""
        mark = self.world.cloud.mark()
        self.edit({NAME: name})
        self.world.wait(lambda: self.console.lb(self.id)["LoadBalancerName"] == name
                        and "DescribeVServerGroupAttribute" in self.world.cloud.actions(mark), f"the look after {name}", 40)
        self.world.settled()

    def audits(self):
        """Some more of them."""
        mark = self.world.cloud.mark()
        self.world.wait(lambda: self.world.cloud.actions(mark).count("DescribeVServerGroupAttribute") >= 6, "the audits", 30)

    def change(self, **attributes):
        """By hand."""
        self.world.cloud.edit("update", type="loadbalancer", id=self.id, attributes=attributes)


def test_edits_do_not_order_it_again(world):
    ordered = Ordered(world)
    assert ordered.orders() == 1 and ordered.shown() == ("paybybandwidth", 5)
    ordered.look("one")
    assert ordered.orders() == 1 and ordered.repaired() == []
    world.cloud.edit("next-day")
    assert ordered.shown() == ("paybytraffic", 5)
    ordered.look("two")
    assert ordered.orders() == 1 and ordered.repaired() == []


def test_audits_do_not_order_it_again(world):
    ordered = Ordered(world, "audit_interval_s = 1;")
    ordered.audits()
    assert ordered.orders() == 1 and ordered.repaired() == []
    ordered.change(Bandwidth="7")  # that is something else: what was ordered may not hold any more
    world.wait(lambda: ordered.orders() == 2, "another order", 30)
    ordered.audits()
    assert ordered.orders() == 2 and len(ordered.repaired()) == 1
    ordered.change(DeleteProtection="off")
    world.wait(lambda: ordered.console.lb(ordered.id)["DeleteProtection"] == "on", "the protection", 30)
    assert ordered.orders() == 2
    world.cloud.edit("next-day")
    ordered.audits()
    assert ordered.orders() == 2 and ordered.shown()[0] == "paybytraffic"
    ordered.change(InternetChargeType="paybybandwidth", Bandwidth="7")  # as it was before, but it had arrived
    world.wait(lambda: ordered.orders() == 3, "the repair", 30)
    ordered.audits()
    assert ordered.orders() == 3


def test_a_restart_orders_it_once_more_at_most(world):
    ordered = Ordered(world)
    world.stop_ccmd()
    mark = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: world.cloud.actions(mark), "the first calls", 30)
    world.settled()
    assert ordered.orders() <= 2
    before = ordered.orders()
    ordered.look("one")
    assert ordered.orders() <= 2 and ordered.orders() - before <= 1
