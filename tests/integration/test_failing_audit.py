"""Services that fail while their second look is due: how often they are tried again is the business of the backoff alone."""

import re

import pytest

from tests.support import views
from tests.support.products import Clb, Nlb

pytestmark = pytest.mark.time_scale(10)
INTERVALS = 5
NAMES = ("ill", "well")
CREATE = {"clb": "CreateLoadBalancerTCPListener", "nlb": "CreateListener"}


@pytest.fixture(params=[Clb(), Nlb()], ids=["clb", "nlb"])
def pair(request, world):
    """Two Services whose second look comes each second. One of them will fail, the other one is the clock."""
    product = request.param
    product.configure(world, "audit_interval_s = 1;")
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(*[product.new(name) for name in NAMES])
    world.wait(lambda: len([lb for lb in product.find(world) if product.complete(lb, [(80, "TCP")])]) == 2
               and all(world.kube.ingress(name) for name in NAMES), "both load balancers", 60)
    return product, world


def looks(world):
    return sum(value for name, value in world.metrics().items() if name.startswith("ccmd_audits_total"))


def failures(world, name):
    return len(re.findall(rf"default/{name}\b.* retry in ", world.log()))


def wait_looks(world):
    before = looks(world)
    world.wait(lambda: looks(world) >= before + INTERVALS, "looks at the healthy one", 60, every=0.1)


@pytest.mark.parametrize("code, http, most", (
    ("InvalidParameter", 400, 0),  # terminal: again after five minutes at least
    ("InternalError", 500, 2),     # 0.5 s, then doubling
))
def test_the_backoff_decides(pair, code, http, most):
    product, world = pair
    world.cloud.fault(CREATE[product.name], count=100000, code=code, http=http)
    ports = [*world.kube.get("Service", "ill")["spec"]["ports"], {"name": "more", "port": 81, "targetPort": 81, "protocol": "TCP"}]
    world.kube.patch("Service", "ill", {"spec": {"ports": ports}})
    world.wait(lambda: failures(world, "ill") >= 2, "two failures: our picture of the cloud might have been wrong", 60)
    wait_looks(world)  # what was queued before it failed comes once more
    since, passes = world.cloud.mark(), failures(world, "ill")
    wait_looks(world)
    passes = failures(world, "ill") - passes
    calls = world.cloud.actions(since).count(CREATE[product.name])
    assert passes <= most and calls <= 4 * most, f"{passes} passes and {calls} calls in {INTERVALS} intervals"
    assert failures(world, "well") == 0


def test_an_outage_of_the_cloud(pair):
    """It lasts for several intervals: nobody is tried each second, and the looks go on afterwards."""
    product, world = pair
    wait_looks(world)
    start = world.seconds()
    world.cloud.fault("*", count=100000, code="InternalError", http=500)
    world.wait(lambda: all(failures(world, name) >= 5 for name in NAMES), "five failures of each", 60)
    assert world.seconds() - start > 7.5, "0.5, 1, 2 and 4 s at least lie between them"
    world.cloud.clear_faults()
    wait_looks(world)
    assert [lb for lb in product.find(world) if not product.complete(lb, [(80, "TCP")])] == []
