"""A restart with many Services of which none has changed: what it costs."""

import collections

import pytest

from tests.support import objects, views
from tests.support.world import World

SERVICES = 500
READS_PER_SERVICE = 3.2
QUOTAS = "quotas: { " + " ".join(f"{name} = 1000000;" for name in ("slb_write", "slb_read", "vpc", "ecs")) + " };"


@pytest.fixture(scope="module")
def restarted(build, tmp_path_factory):
    """(calls to the cloud, calls to the API server) of the first pass after the restart."""
    with World(build, tmp_path_factory.mktemp("restart"), cloud_args=[f"--limit=load-balancers={SERVICES}"]) as world:
        world.config = world.write_config(alicloud=QUOTAS, log_level="info")
        views.nodes(world, 3)
        world.start_ccmd()
        world.kube.create(*[objects.service(f"s{n}", ((80, "TCP"), (443, "TCP"))) for n in range(SERVICES)])
        labelled = "service.beta.kubernetes.io/hash"
        world.wait(lambda: sum(labelled in s["metadata"].get("labels", {}) for s in world.kube.state()["services"]
                               ) == SERVICES, "all Services", 60)
        world.settled()
        world.stop_ccmd()
        cloud, kube = world.cloud.mark(), world.kube.mark()
        world.start_ccmd()
        world.wait(lambda: len(world.cloud.actions(cloud)) > 0, "the first call")
        world.settled()
        yield world.cloud.actions(cloud), world.kube.actions(kube)


def test_no_write_to_the_cloud(restarted):
    cloud, _ = restarted
    assert [a for a in cloud if not a.startswith(("Describe", "List"))] == []
    assert len(cloud) >= SERVICES / 100  # it has looked


def test_no_write_to_the_api_server(restarted):
    _, kube = restarted
    assert [a for a in kube if a.split()[0] not in ("LIST", "WATCH", "GET") and "/leases" not in a] == []


def test_reads_per_service(restarted):
    cloud, _ = restarted
    assert collections.Counter(cloud) == {
        "DescribeLoadBalancers": SERVICES / 100,
        "DescribeLoadBalancerListeners": SERVICES / 10,
        "DescribeVServerGroups": SERVICES,
        "DescribeVServerGroupAttribute": 2 * SERVICES,
    }
    assert len(cloud) <= READS_PER_SERVICE * SERVICES, f"{len(cloud)} reads for {SERVICES} Services"
