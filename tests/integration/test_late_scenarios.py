"""Scenarios in a cloud whose lists by tags show what is new 5 s late: no Service gets a second load balancer or server group, and nothing of a
Service is left once it is deleted. The state that each step expects has to come about as well; what is counted and reported may differ.

CCM_LATE=all plays all scenarios, first without the lag and then with it, and prints what differs: 3 minutes on two cores. CCM_LATE=clb/05
plays those whose name begins so. Some steps need CCM_TEST_SLOW=3, as ctest sets it.
"""

import collections
import concurrent.futures
import glob
import os
import time

import pytest

from tests.support import scenario
from tests.support.products import OWNER_TAG, default_name
from tests.support.scenario_run import Runner

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHOSEN = os.environ.get("CCM_LATE", "")
TOGETHER = 8  # so many cases are played at the same time: they wait most of the time
LAG_MS = 5000
END_S = 60  # for the deletion of all Services

# Each way in which a load balancer is created, found, replaced and deleted.
SELECTION = ("clb/001", "clb/004", "clb/036", "clb/037", "clb/043", "clb/092", "clb/094", "clb/146", "clb/172",
             "nlb/006", "nlb/008", "nlb/012", "nlb/021", "nlb/024", "nlb/031", "nlb/033", "nlb/044", "nlb/102", "nlb/103", "nlb/112",
             "nlb/113", "nlb/130", "nlb/133", "nlb/142", "nlb/152", "nlb/161", "nlb/165", "nlb/171")
# What the cloud holds besides load balancers: its kind there, what it is, its name and its id.
OWNED = (("nlbServerGroups", "server group", "ServerGroupName", "ServerGroupId"),
         ("securityGroups", "security group", "SecurityGroupName", "SecurityGroupId"),
         ("acls", "access list", "AclName", "AclId"))


class Late(Runner):
    """lag_ms: 0 plays the same without a lag."""

    def __init__(self, case, build, folder, lag_ms):
        super().__init__(case, build, folder)
        self.lag_ms = lag_ms
        self.patience_s += lag_ms / 1000
        self.differs = []  # steps whose state did not come about
        self.by_hand = set()  # ids of what the scenario itself made in the cloud
        self.owners = {}  # default name -> name of each Service that there was

    def play(self):
        """(steps that differ, duplicates, leaks)"""
        given = self.case.given
        arguments = [f"--limit={name}={value}" for name, value in (given.get("limits") or {}).items()]
        if "job_ms" in given:
            arguments.append(f"--job-ms={given['job_ms']}")
        with self._world(arguments + [f"--tag-lag-ms={self.lag_ms}"]) as self.world:
            self._count_own_writes()
            self._note_edits()
            self._set_up(given)
            for number, step in enumerate(self.case.steps):
                self.where = f"steps[{number}]"
                self._mark()
                (self._act_together if step.get("together") else self._act)(step)
                self._expect(step.get("expect") or {}, step.get("within"))
            found = self.differs, self._duplicates(), self._leaks()
            self.world.stop_ccmd()
            return found

    def _note_edits(self):
        edit = self.world.cloud.edit

        def noted(op, **arguments):
            answer = edit(op, **arguments)
            self.by_hand.update(value for value in (answer.get("answer") or {}).values() if isinstance(value, str))
            return answer

        self.world.cloud.edit = noted

    def _expect(self, expect, within=None):
        try:
            super()._expect(expect, within)
        except scenario.ScenarioFailure as error:
            self.differs.append(str(error))

    def _traffic_lines(self, expect):
        return []

    def _look(self):
        super()._look()
        for service in self.kube_state["services"]:
            self.owners[default_name(service["metadata"]["uid"])] = service["metadata"]["name"]

    def _owned(self):
        """(Service, what, name, id) of all that carries the tag of a Service of this scenario, but what it made itself."""
        state = self.world.cloud.state()
        found = []
        for lb in self.product.load_balancers(state, {}):
            owner = self.owners.get(lb["Tags"].get(OWNER_TAG))
            if owner is not None and lb["LoadBalancerId"] not in self.by_hand:
                found.append((owner, "load balancer", "", lb["LoadBalancerId"]))
        for kind, what, name, key in OWNED:
            for one in state[kind]:
                owner = self.owners.get(one["Tags"].get(OWNER_TAG))
                if owner is not None and one[key] not in self.by_hand:
                    found.append((owner, what, one[name], one[key]))
        return found

    def _duplicates(self):
        self._look()
        counts = collections.Counter(one[:3] for one in self._owned())
        for lb in self.product.load_balancers(self.world.cloud.state(), {}):
            if self.product.name == "clb":
                counts.update((lb["LoadBalancerId"], "server group", group["name"]) for group in lb["Groups"] if group["id"] not in self.by_hand)
        return [f"{count} of {what}" for what, count in counts.items() if count > 1]

    def _leaks(self):
        """What is left when the Services are deleted at once: the lists are late still."""
        self.world.cloud.clear_faults()
        self.world.kube.clear_faults()
        if self.world.ccmd is None:
            self._start()
        for service in self.kube_state["services"]:
            if service["spec"].get("type") == "LoadBalancer" or service["metadata"].get("finalizers"):
                self.world.kube.delete("Service", service["metadata"]["name"])
        deadline = time.monotonic() + END_S
        while time.monotonic() < deadline:
            self._look()
            left = [one["metadata"]["name"] for one in self.kube_state["services"] if self.product.finalizer in one["metadata"].get("finalizers", [])]
            if not left and self._is_idle():
                break
            time.sleep(0.1)
        return [f"Service {name} does not go" for name in left] + [" ".join(one) for one in self._owned()]


def cases(wanted):
    """(name, case) of all scenarios of load balancers whose name begins with one of these."""
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "scenarios", "[cn]lb", "*.yaml"))):
        name = os.path.splitext(os.path.relpath(path, os.path.join(ROOT, "tests", "scenarios")))[0]
        if name.startswith(wanted):
            yield from ((name, case) for case in scenario.File(path).cases if not case.pending)


def play(name, case, build, folder, lag_ms):
    """(name, steps that differ, duplicates, leaks)"""
    late = Late(case, build, folder, lag_ms)
    try:
        return (f"{name} [{case.title}]", *late.play())
    except (AssertionError, KeyError, scenario.ScenarioError) as error:
        return f"{name} [{case.title}]", [f"{late.where}: given up: {error!r}"], [], []


def play_all(wanted, build, folder, lag_ms):
    with concurrent.futures.ThreadPoolExecutor(TOGETHER) as pool:
        jobs = [pool.submit(play, name, case, build, folder / f"{lag_ms}-{number}", lag_ms) for number, (name, case) in enumerate(cases(wanted))]
        return [job.result() for job in jobs]


def test_selection(build, tmp_path):
    late = play_all(SELECTION, build, tmp_path, LAG_MS)
    assert {name.split("-")[0] for name, *_ in late} == set(SELECTION)
    assert [one for one in late if any(one[1:])] == []


@pytest.mark.skipif(not CHOSEN, reason="it takes 3 minutes; CCM_LATE=all")
def test_all(build, tmp_path):
    wanted = ("clb/", "nlb/") if CHOSEN == "all" else (CHOSEN,)
    at_once = {name: rest for name, *rest in play_all(wanted, build, tmp_path, 0)}
    late = play_all(wanted, build, tmp_path, LAG_MS)
    for name, *rest in late:
        for what, before, now in zip(("differs", "twice", "left"), at_once[name], rest):
            if before or now:
                print(f"{name}: {what}: at once {before}, late {now}")
    print(f"{len(late)} cases, differ {sum(bool(one[1]) for one in late)}, twice {sum(bool(one[2]) for one in late)}, left {sum(bool(one[3]) for one in late)}")
    assert not [one for one in late if one[2] and not at_once[one[0]][1] or one[3] and not at_once[one[0]][2]]
