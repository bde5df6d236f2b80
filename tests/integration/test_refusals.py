"""What the cloud refuses for good is not asked again and again, whatever it is: three times in five seconds at most."""

import pytest

from tests.support import objects, views
from tests.support.products import Clb, Nlb

TIMES, SECONDS = 3, 5


def check_pace(world, code, count):
    """Until so many refusals with the code have come; no more than TIMES of them in any SECONDS."""
    def times():
        return [call["t"] for call in world.cloud.calls() if call["code"] == code]

    world.wait(lambda: len(times()) >= count, f"{count} refusals", 60)
    found = times()
    assert all(later - former > SECONDS for former, later in zip(found, found[TIMES:])), [t - found[0] for t in found]


@pytest.mark.parametrize("product, action, code, http", [
    (Nlb, "AddServersToServerGroup", "ResourceNotFound.Ecs", 404),
    (Clb, "AddVServerGroupBackendServers", "InvalidServerId.NotExist", 400),
])
def test_a_node_whose_instance_is_gone(world, product, action, code, http):
    """Of one that the cloud does not know each group would be told the same: the first answer counts for all of a pass."""
    product = product()
    product.configure(world)
    views.nodes(world, 2)
    ports = ((80, "TCP"), (443, "TCP"), (8080, "TCP"))
    world.kube.create(product.new("web", ports))
    world.start_ccmd()
    world.wait(lambda: world.kube.ingress("web") and product.complete(product.only(world), ports), "the Service")
    world.settled()
    world.cloud.fault(action, code=code, http=http, message="no such instance")
    world.kube.create(objects.node("node-9", "i-node-9"))
    check_pace(world, code, TIMES + 1)
    world.cloud.clear_faults()
    world.stop_ccmd()
