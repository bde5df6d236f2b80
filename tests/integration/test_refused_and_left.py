"""A Service that was refused before anything was made, and is not a controller's any more then: nothing goes on being said about it."""

import pytest

from tests.integration.test_lasting_events import failures, start
from tests.support import objects, views
from tests.support.products import PREFIX
from tests.support.world import World

CONDITION = "ccm.alibabacloud.com/LoadBalancerReady"
CHANGES = pytest.mark.parametrize("change", (
    {"spec": {"type": "ClusterIP", "externalTrafficPolicy": None}},
    {"metadata": {"annotations": {"service.beta.kubernetes.io/class": "of-somebody-else"}}},
), ids=["type", "class"])


@pytest.fixture
def world(build, tmp_path):
    """No Event expires while it is looked at."""
    with World(build, tmp_path, kube_args=["--event-ttl-ms", "36000000"]) as instance:
        yield instance


def conditions(world):
    return [one for one in world.kube.get("Service", "web")["status"].get("conditions", []) if one["type"] == CONDITION]


@pytest.mark.time_scale(200)  # half an hour is 9 s
@CHANGES
def test_it_is_over(world, change):
    start(world)
    views.nodes(world, 2)
    world.kube.create(objects.service("web", annotations={PREFIX + "address-type": "nowhere"}))
    world.wait(lambda: failures(world) and failures(world)[0]["count"] >= 2 and conditions(world), "that it is reported again", 7200)
    assert not world.kube.get("Service", "web")["metadata"].get("finalizers")
    world.kube.patch("Service", "web", change)
    world.wait(lambda: not conditions(world), "the end of the condition", 600)
    world.settled()
    count = failures(world)[0]["count"]
    other = objects.service("other", annotations={PREFIX + "address-type": "nowhere"})
    world.kube.create(other)
    world.wait(lambda: failures(world, "other") and failures(world, "other")[0]["count"] >= 3, "periods", 10800)
    assert failures(world)[0]["count"] == count
