"""Jobs of NLB that take long: the pass gives its worker back, and the next one goes on where it was."""

import pytest

from tests.support import objects, views
from tests.support.products import PREFIX, Nlb
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
NLB = Nlb()
CROWD = 8
POLLS = ("ListAsynJobs", "GetJobStatus")
WHOSE = pytest.mark.parametrize("reuses", [False, True], ids=["own", "of-a-person"])


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        views.nodes(world, 3)
        yield world


def start(world, workers=4):
    world.config = world.write_config(plugins=f'{{ name = "nlb"; workers = {workers}; }}', log_level="info")
    world.start_ccmd()


def service(world, name, reuses, ports=((80, "TCP"),)):
    """reuses: it has the load balancer of a person, the same one for all."""
    if not reuses:
        return NLB.new(name, ports)
    product = Nlb(lambda action, params: world.cloud.edit("call", product="nlb", action=action, params=params)["answer"])
    lbs = world.cloud.state()["nlbLoadBalancers"]
    found = [lb["LoadBalancerId"] for lb in lbs if lb["LoadBalancerName"] == "of-a-person"]
    lb = found[0] if found else product.make_lb("of-a-person", {}, {})[0]
    return NLB.new(name, ports, annotations={PREFIX + "id": lb, PREFIX + "force-override-listeners": "true"})


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


@WHOSE
def test_it_goes_on_when_its_job_has_ended(world, reuses):
    """One worker; what was done is not done again, and nothing is read but that the load balancer exists."""
    start(world, workers=1)
    plan(world, outcome="hang", count=1, action="AddServers*")
    world.kube.create(service(world, "late", reuses))
    world.wait(lambda: sent(world, 0, "AddServersToServerGroup") == 1, "its job")
    world.kube.create(NLB.new("other"))
    world.wait(lambda: world.kube.ingress("other"), "one that came later", timeout=60)
    assert not world.kube.ingress("late")
    since = world.cloud.mark()
    end_jobs(world)
    world.wait(lambda: world.kube.ingress("late"), "the one that waited", timeout=60)
    world.settled()
    assert [action for action in world.cloud.actions(since) if action not in POLLS] == ["GetLoadBalancerAttribute"]
    assert {event[0] for event in world.kube.events("late")} == {"Normal"}
    assert [event[1] for event in world.kube.events("late")].count("EnsuredLoadBalancer") == 1


def test_others_on_the_same_load_balancer_come_after_its_jobs(world):
    """One worker, three Services on the load balancer of a person: two wait for the jobs of the first, and nobody waits in the worker."""
    ports = {"late": 80, "second": 81, "third": 82}
    start(world, workers=1)
    plan(world, outcome="hang", count=1, action="AddServers*")
    world.kube.create(service(world, "late", True, ((80, "TCP"),)))
    world.wait(lambda: sent(world, 0, "AddServersToServerGroup") == 1, "its job")
    for name in ("second", "third"):
        world.kube.create(service(world, name, True, ((ports[name], "TCP"),)))
    world.kube.create(NLB.new("other"))
    world.wait(lambda: world.kube.ingress("other"), "one that came later", timeout=60)
    assert not any(world.kube.ingress(name) for name in ports)
    end_jobs(world)
    for name in ports:
        world.wait(lambda name=name: world.kube.ingress(name), name, timeout=60)
    world.settled()
    shared = next(lb for lb in NLB.find(world) if lb["LoadBalancerName"] == "of-a-person")
    assert NLB.complete(shared, [(port, "TCP") for port in ports.values()])
    assert not [event for event in world.kube.events() if event[0] == "Warning"]


@WHOSE
def test_a_job_that_fails_later_is_told(world, reuses):
    start(world, workers=1)
    plan(world, outcome="hang", count=1, action="AddServers*")
    world.kube.create(service(world, "late", reuses))
    world.wait(lambda: sent(world, 0, "AddServersToServerGroup") == 1, "its job")
    world.kube.create(NLB.new("other"))
    world.wait(lambda: world.kube.ingress("other"), "one that came later", timeout=60)
    end_jobs(world, "Failed")
    world.wait(lambda: any("its job failed" in event[2] for event in world.kube.events("late")), "an event")
    world.wait(lambda: world.kube.ingress("late"), "it heals", timeout=60)
    world.settled()
    assert all(NLB.complete(lb, ((80, "TCP"),)) for lb in NLB.find(world))


@WHOSE
def test_a_deletion_waits_for_the_jobs_of_its_service(world, reuses):
    start(world, workers=1)
    plan(world, outcome="hang", count=1, action="AddServers*")
    world.kube.create(service(world, "late", reuses))
    world.wait(lambda: sent(world, 0, "AddServersToServerGroup") == 1, "its job")
    world.kube.delete("Service", "late")
    world.kube.create(NLB.new("other"))
    world.wait(lambda: world.kube.ingress("other"), "one that came later", timeout=60)
    end_jobs(world)
    world.wait(lambda: world.kube.get("Service", "late") is None, "the deletion", timeout=60)
    world.settled()
    assert len(NLB.find(world)) == (2 if reuses else 1)
    assert [lb["Listeners"] for lb in NLB.find(world) if lb["LoadBalancerName"] == "of-a-person"] == [[]] * reuses
    assert sent(world, 0, "DeleteServerGroup") == 1 and sent(world, 0, "DeleteLoadBalancer") == (0 if reuses else 1)


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
