"""Jobs of NLB that take long: the pass gives its worker back, and the next one goes on where it was."""

import pytest

from tests.support import objects, views
from tests.support.products import Nlb
from tests.support.world import World

NLB = Nlb()
CROWD = 8
POLLS = ("ListAsynJobs", "GetJobStatus")


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        views.nodes(world, 3)
        yield world


def start(world, workers=4):
    world.config = world.write_config(plugins=f'{{ name = "nlb"; workers = {workers}; }}', log_level="info")
    world.start_ccmd()


def plan(world, **how):
    world.cloud.edit("jobs", **how)


def victim(world, name):
    service = NLB.new(name, policy="Local")
    parts = objects.endpoint_slice(service, [("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")])
    world.kube.create(service, parts)
    return parts


def sent(world, since, action):
    return sum(call["action"] == action for call in world.cloud.calls(since))


def end_jobs(world, status="Succeeded"):
    for job in world.cloud.state()["jobs"]:
        if job["Status"] == "Processing":
            world.cloud.edit("update", type="job", id=job["JobId"], attributes={"Status": status})


def test_dead_backends_leave_while_jobs_run(world):
    """Eight creations whose jobs do not end, and two removals whose jobs do not end either: nobody keeps a worker."""
    start(world)
    parts = [victim(world, f"victim-{number}") for number in range(2)]
    world.wait(lambda: all(world.kube.ingress(f"victim-{number}") for number in range(2)), "two load balancers", timeout=60)
    world.settled()
    since = world.cloud.mark()
    plan(world, outcome="hang", count=1000, action="*Servers*")
    world.kube.create(*(NLB.new(f"crowd-{number}") for number in range(CROWD)))
    world.wait(lambda: sent(world, since, "AddServersToServerGroup") == CROWD, "a job of each creation", timeout=20)
    for slice_ in parts:
        world.kube.replace(dict(slice_, endpoints=slice_["endpoints"][:1]))
    world.wait(lambda: sent(world, since, "RemoveServersFromServerGroup") == 2, "both removals", timeout=20)
    assert not [event for event in world.kube.events() if event[0] == "Warning"]


def test_it_goes_on_when_its_job_has_ended(world):
    """One worker; what was done is not done again, and nothing of it is read."""
    start(world, workers=1)
    plan(world, outcome="hang", count=1, action="AddServers*")
    world.kube.create(NLB.new("late"))
    world.wait(lambda: sent(world, 0, "AddServersToServerGroup") == 1, "its job")
    world.kube.create(NLB.new("other"))
    world.wait(lambda: world.kube.ingress("other"), "one that came later", timeout=60)
    assert not world.kube.ingress("late")
    since = world.cloud.mark()
    end_jobs(world)
    world.wait(lambda: world.kube.ingress("late"), "the one that waited", timeout=60)
    world.settled()
    assert [action for action in world.cloud.actions(since) if action not in POLLS] == []
    assert {event[0] for event in world.kube.events("late")} == {"Normal"}
    assert [event[1] for event in world.kube.events("late")].count("EnsuredLoadBalancer") == 1


def test_a_job_that_fails_later_is_told(world):
    start(world, workers=1)
    plan(world, outcome="hang", count=1, action="AddServers*")
    world.kube.create(NLB.new("late"), NLB.new("other"))
    world.wait(lambda: world.kube.ingress("other") or world.kube.ingress("late"), "one of them", timeout=60)
    late = "late" if world.kube.ingress("other") else "other"
    end_jobs(world, "Failed")
    world.wait(lambda: any("its job failed" in event[2] for event in world.kube.events(late)), "an event")
    world.wait(lambda: world.kube.ingress(late), "it heals", timeout=60)
    world.settled()
    assert all(NLB.complete(lb, ((80, "TCP"),)) for lb in NLB.find(world))


def test_a_deletion_waits_for_the_jobs_of_its_service(world):
    start(world, workers=1)
    plan(world, outcome="hang", count=1, action="AddServers*")
    world.kube.create(NLB.new("late"))
    world.wait(lambda: sent(world, 0, "AddServersToServerGroup") == 1, "its job")
    world.kube.delete("Service", "late")
    world.kube.create(NLB.new("other"))
    world.wait(lambda: world.kube.ingress("other"), "one that came later", timeout=60)
    end_jobs(world)
    world.wait(lambda: world.kube.get("Service", "late") is None, "the deletion", timeout=60)
    world.settled()
    assert len(NLB.find(world)) == 1
    assert sent(world, 0, "DeleteServerGroup") == 1 and sent(world, 0, "DeleteLoadBalancer") == 1


def test_a_deletion_whose_job_takes_long(world):
    start(world, workers=1)
    world.kube.create(NLB.new("gone"))
    world.wait(lambda: world.kube.ingress("gone"), "a load balancer", timeout=60)
    world.settled()
    plan(world, outcome="hang", count=1, action="DeleteLoadBalancer")
    since = world.cloud.mark()
    world.kube.delete("Service", "gone")
    world.wait(lambda: sent(world, since, "DeleteLoadBalancer") == 1, "its deletion")
    world.kube.create(NLB.new("other"))
    world.wait(lambda: world.kube.ingress("other"), "one that came later", timeout=60)
    end_jobs(world)
    world.wait(lambda: world.kube.get("Service", "gone") is None, "the deletion", timeout=60)
    world.settled()
    assert sent(world, since, "DeleteLoadBalancer") == 1
    assert len(NLB.find(world)) == 1
