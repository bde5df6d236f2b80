"""Plugin node through many lives of nodes while one request in twenty fails and ccmd dies: none is lost, none stays tainted.

CCM_TEST_NODE_LIVES says how many lives, CCM_TEST_SEED chooses another sequence; docs/testing.md has the long run.
"""

import os
import random
import time

import pytest

from tests.support import cloud_nodes as nodes
from tests.support.node_lives import Lives
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
LIVES = int(os.environ.get("CCM_TEST_NODE_LIVES", "40"))
SEED = int(os.environ.get("CCM_TEST_SEED", "20240"))
STAY = 5  # nodes that nobody releases


def test_lives_of_nodes(build, tmp_path):
    with World(build, tmp_path) as world:
        nodes.configure(world, alicloud="quotas: { ecs = 1000000; };", removal_share_percent=100, shutdown_taint="true",
                        **nodes.QUICK)
        stay = [f"node-{n}" for n in range(1, STAY + 1)]
        world.kube.create(*[nodes.register(name) for name in stay])
        world.start_ccmd()
        lives = Lives(world, random.Random(SEED), slots=min(100, max(20, LIVES // 10)))
        began = time.monotonic()
        lives.begin_faults()
        lives.run(LIVES, restart_every=max(8, LIVES // 40))
        seen, failed = lives.end_faults()
        world.wait(lambda: not nodes.tainted(world), "no taint", timeout=60)
        world.wait(lambda: lives.are_as_in_the_cloud(stay), "all as in the cloud", timeout=60)
        print(f"{lives.ended} lives, {lives.kills} times kill -9, {lives.stops} times SIGTERM, {failed} of {seen} requests "
              f"failed, {(time.monotonic() - began) / 60:.1f} minutes, seed {SEED}")
        assert lives.ended == LIVES and failed and lives.kills and lives.stops
