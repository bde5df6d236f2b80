"""Option quotas.grow: an account that has twice the published quota."""

import json

import pytest

from tests.support import objects, views
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
ASSUMED = 6  # calls of each changing action in a window, as the options have it,
REAL = 2 * ASSUMED  # and as the account has it
WINDOW_S = 2
WORKERS = 4
ACTION = "CreateVServerGroup"
PORTS = tuple((port, "TCP") for port in (80, 81, 82, 83))


@pytest.fixture
def world(build, tmp_path):
    quota = tmp_path / "quota.json"
    rates = {"slb.Describe*": 3000, "slb.*": REAL, "*": 3000}
    quota.write_text(json.dumps({"rates": {name: {"count": count, "period_s": WINDOW_S} for name, count in rates.items()}}))
    with World(build, tmp_path, cloud_args=[f"--quota={quota}"]) as world:
        views.nodes(world, 2)
        yield world


def share(world):
    """Calls in a window that it may make, as it thinks; those that it was told."""
    return world.metrics().get(f'cloudprovider_alicloud_governor_share{{product="slb",request="{ACTION}"}}', ASSUMED)


def throttled(world, action=None):
    return [call for call in world.cloud.calls() if call["http"] == 400 and action in (None, call["action"])]


def test_it_grows_to_what_there_is_and_falls(world):
    world.config = world.write_config(
        log_level="info", plugins=f'{{ name = "clb"; workers = {WORKERS}; }}',
        alicloud=f"quotas: {{ slb_write = {ASSUMED}; window_s = {WINDOW_S}; grow = true; }};")
    world.start_ccmd()
    world.kube.create(*(objects.service(f"s-{n}", PORTS) for n in range(50)))
    world.wait(lambda: share(world) >= REAL - 2, "the quota to grow", timeout=60)
    world.wait(lambda: throttled(world, ACTION), "its edge", timeout=60)
    world.wait(lambda: share(world) <= REAL * 3 // 4, "the quota to fall", timeout=30, every=0.05)
    calls = world.cloud.calls()
    # At the first time those that were under way, then at most two; all actions have an edge of their own.
    assert len(throttled(world)) * 10 <= len(calls)
    first = throttled(world)[0]["action"]
    assert len(throttled(world, first)) <= 3 * WORKERS
    assert share(world) >= ASSUMED // 2


def test_it_does_not_grow_by_itself(world):
    world.config = world.write_config(log_level="info", plugins=f'{{ name = "clb"; workers = {WORKERS}; }}',
                                      alicloud=f"quotas: {{ slb_write = {ASSUMED}; window_s = {WINDOW_S}; }};")
    world.start_ccmd()
    world.kube.create(*(objects.service(f"s-{n}", PORTS) for n in range(8)))
    world.wait(lambda: all(world.kube.ingress(f"s-{n}") for n in range(8)), "all of them", timeout=90)
    assert share(world) == ASSUMED and not throttled(world)
