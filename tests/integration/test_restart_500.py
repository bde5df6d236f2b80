"""A restart with many Services of which none has changed: what it costs. One in ten has something that is worth a warning."""

import collections

import pytest

from tests.support import scenario_look, views
from tests.support.products import PREFIX, Clb, Nlb
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
SERVICES = 500
PORTS = ((80, "TCP"), (443, "TCP"))
NODES = 3
READS = {
    "clb": {  # at most 3.2 per Service
        "DescribeLoadBalancers": SERVICES / 100,
        "DescribeLoadBalancerListeners": SERVICES / 10,
        "DescribeVServerGroups": SERVICES,
        "DescribeVServerGroupAttribute": len(PORTS) * SERVICES,
    },
    "nlb": {  # a page per hundred of each kind
        "ListLoadBalancers": SERVICES / 100,
        "ListListeners": len(PORTS) * SERVICES / 100,
        "ListServerGroups": len(PORTS) * SERVICES / 100,
        "ListServerGroupServers": NODES * len(PORTS) * SERVICES / 100,
    },
}


NO_QUOTAS = {"clb": 'account_quotas = "load_balancers=0, attachments=0";',
             "nlb": 'account_quotas = "load_balancers=0, attachments=0, groups=0";'}


def new(product, number):
    """Every tenth is odd: a slip in an annotation, fields and annotations without effect."""
    if number % 10 != 9:
        return product.new(f"s{number}", PORTS)
    return product.new(f"s{number}", PORTS, sessionAffinity="ClientIP", loadBalancerIP="1.2.3.4", annotations={
        PREFIX + "adress-type": "intranet", PREFIX + "weight": "60", PREFIX + "preserve-lb-on-delete": "true"})


@pytest.fixture(scope="module", params=[Clb(), Nlb()], ids=["clb", "nlb"])
def restarted(request, build, tmp_path_factory):
    """(product, calls to the cloud, calls to the API server) of the first pass after the restart."""
    product = request.param
    with World(build, tmp_path_factory.mktemp("restart"), cloud_args=product.allow(len(PORTS) * SERVICES)) as world:
        # of 500 load balancers the Lease would say each time that they are more than an account may have
        product.configure(world, NO_QUOTAS[product.name], unlimited=True, log_level="info")
        views.nodes(world, NODES)
        world.start_ccmd()
        world.kube.create(*[new(product, n) for n in range(SERVICES)])
        labelled = "service.beta.kubernetes.io/hash"
        world.wait(lambda: sum(labelled in s["metadata"].get("labels", {}) for s in world.kube.state()["services"]
                               ) == SERVICES, "all Services", 60)
        world.settled()
        warned = {e["involvedObject"]["name"] for e in world.kube.items("Event") if e["type"] == "Warning"}
        assert len(warned) == SERVICES / 10
        world.stop_ccmd()
        cloud, kube = world.cloud.mark(), world.kube.mark()
        world.start_ccmd()
        world.wait(lambda: len(world.cloud.actions(cloud)) > 0, "the first call")
        world.settled()
        yield product, world.cloud.actions(cloud), world.kube.actions(kube)


def test_no_write_to_the_cloud(restarted):
    _, cloud, _ = restarted
    assert [a for a in cloud if not scenario_look.is_read(a)] == []
    assert len(cloud) >= SERVICES / 100  # it has looked


def test_no_write_to_the_api_server(restarted):
    _, _, kube = restarted
    assert [a for a in kube if a.split()[0] not in ("LIST", "WATCH", "GET") and "/leases" not in a] == []


def test_reads(restarted):
    product, cloud, _ = restarted
    assert collections.Counter(cloud) == READS[product.name]
