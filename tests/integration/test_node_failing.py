"""Plugin node while every call of the cloud fails: a hundred new nodes cost what one costs. How often that is in an hour:
test-controller-hour."""

import json

import pytest

from tests.integration.test_node import lease_events
from tests.support import cloud_nodes as nodes
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
MANY = 100
TRIES = 4  # of the first call: faults of network and cloud pass
PASSES = 3
BASE_S = 1.5  # core/sched/backoff.h


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        nodes.configure(world, alicloud="quotas: { ecs = 1000000; };")
        nodes.instances(world, range(1, MANY + 1))
        world.kube.create(*[nodes.register(f"node-{n}") for n in range(1, MANY + 1)])
        yield world


def failing(world, calls, **effect):
    """The first calls of a ccmd for which all of them fail: one action, and each of them about all nodes."""
    since = world.kube.mark()
    world.cloud.fault("Describe*", count=1000000, **effect)
    world.start_ccmd()
    world.wait(lambda: len(world.cloud.calls()) >= calls, f"{calls} calls", timeout=120)
    found = world.cloud.calls()[:calls]
    assert {call["action"] for call in found} == {"DescribeInstances"}
    assert [len(json.loads(call["params"]["InstanceIds"])) for call in found] == [MANY] * calls
    assert len(nodes.tainted(world)) == MANY and nodes.writes(world, since) == []
    return found


@pytest.mark.parametrize("effect", [{"http": 500, "code": "InternalError"}, {"cut": "before"}], ids=["500", "cut"])
def test_faults_of_the_cloud(world, effect):
    """The first call is repeated at once, those after it are not: the pauses between them are those of the queue."""
    found = failing(world, TRIES + PASSES - 1, **effect)
    times = [call["t"] for call in found]
    pauses = [times[TRIES + n] - times[TRIES + n - 1] for n in range(PASSES - 1)]
    assert all(pause >= BASE_S * 2 ** n / 2 for n, pause in enumerate(pauses)), pauses
    world.cloud.clear_faults()
    world.wait(lambda: not nodes.tainted(world), "no taint", timeout=120)


@pytest.mark.parametrize("effect", [{"http": 429, "code": "Throttling"}, {"http": 400, "code": "Throttling.User"}],
                         ids=["429", "throttled"])
def test_a_cloud_that_throttles(world, effect):
    failing(world, 4, **effect)


@pytest.mark.parametrize("effect", [{"http": 403, "code": "Forbidden.RAM"}, {"http": 404, "code": "InvalidAccessKeyId.NotFound"},
                                    {"http": 400, "code": "SignatureDoesNotMatch"}], ids=["right", "key", "secret"])
def test_credentials_that_do_not_work(world, effect):
    """Asked once; then a person has to do something."""
    failing(world, 1, **effect)
    world.wait(lambda: any(event[0] == "SyncNodeFailed" for event in lease_events(world)), "the event", timeout=60)
    assert len(world.cloud.calls()) == 1
    assert len(nodes.tainted(world)) == MANY
