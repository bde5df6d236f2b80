"""Many Services at once on a cloud that takes its time: jobs are asked for together, and all of them end."""

import math

import pytest

from tests.support import scenario_look, views
from tests.support.products import Nlb
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
NLB = Nlb()
SERVICES = 100
JOB_MS = 2000
ROUND_S = 2.2  # between two rounds of questions, while many wait; in the beginning and in the end few do
PER_CALL = 20
HASH = "service.beta.kubernetes.io/hash"


def labelled(world):
    return sum(HASH in s["metadata"].get("labels", {}) for s in world.kube.state()["services"])


def polls(world):
    """(time, ids) of each question."""
    return [(call["t"], [v for k, v in call["params"].items() if k.startswith("JobIds")])
            for call in world.cloud.calls() if call["action"] == "ListAsynJobs"]


def most_outstanding(asked):
    """The largest number of jobs that were asked for and not yet seen for the last time."""
    first, last = {}, {}
    for when, ids in asked:
        for job in ids:
            first.setdefault(job, when)
            last[job] = when
    return max(sum(first[job] <= when <= last[job] for job in first) for when, _ in asked)


def test_a_hundred_services(build, tmp_path):
    with World(build, tmp_path, cloud_args=[f"--job-ms={JOB_MS}", *NLB.allow(SERVICES)]) as world:
        world.config = world.write_config(plugins='{ name = "nlb"; workers = 64; }', log_level="info")
        views.nodes(world, 2)
        world.start_ccmd()
        world.kube.create(*[NLB.new(f"s{n}") for n in range(SERVICES)])
        world.wait(lambda: labelled(world) == SERVICES, "all Services", 90)
        world.settled()
        found = NLB.find(world)
        assert len(found) == SERVICES
        assert all(NLB.complete(lb, ((80, "TCP"),)) for lb in found)
        state = world.cloud.state()
        assert {job["Status"] for job in state["jobs"]} == {"Succeeded"}

        calls = world.cloud.calls()
        assert not any(call["action"] == "GetJobStatus" for call in calls)
        groups = [call["params"] for call in calls if call["action"] == "ListServerGroups"]
        assert all("Tag.1.Key" in one or "ServerGroupIds.1" in one for one in groups), "groups of the whole region are listed"
        assert [e for e in world.kube.events() if e[0] == "Warning"] == []
        asked = polls(world)
        seen = {job for _, ids in asked for job in ids}
        assert {job["JobId"] for job in state["jobs"] if not job["Hidden"]} == seen, "a job nobody asked for"
        assert max(len(ids) for _, ids in asked) <= PER_CALL
        writes = [call["t"] for call in calls if not scenario_look.is_read(call["action"])]
        elapsed = asked[-1][0] - writes[0]
        bound = 1.2 * (1 + elapsed / ROUND_S) * math.ceil(most_outstanding(asked) / PER_CALL)
        print(f"{len(asked)} polls, {len(seen)} jobs, {elapsed:.1f} s, at most {most_outstanding(asked)} outstanding: <= {bound:.1f}")
        assert len(asked) <= bound
        world.stop_ccmd()


@pytest.mark.parametrize("how", ["finalizer", "status"])
def test_several_lists_in_a_pass(build, tmp_path, how):
    """An earlier process has left its finalizer, or another controller an address: the pass lists load balancers by tag, by name, and
    all of them. A later list waits for its turn, so that passes which share the rate of one action end."""
    count = 60
    with World(build, tmp_path, cloud_args=[*NLB.allow(count)]) as world:
        world.config = world.write_config(plugins='{ name = "nlb"; workers = 64; }', log_level="info")
        views.nodes(world, 2)
        items = [NLB.new(f"s{n}") for n in range(count)]
        for item in items:
            item["metadata"]["finalizers"] = [NLB.finalizer] if how == "finalizer" else []
        world.kube.create(*items)
        for item in items if how == "status" else []:
            world.kube.patch("Service", item["metadata"]["name"], {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.77"}]}}},
                             subresource="status")
        world.start_ccmd()
        world.wait(lambda: labelled(world) == count, "all Services", 60)
        assert len(NLB.find(world)) == count
