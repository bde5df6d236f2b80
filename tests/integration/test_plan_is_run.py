"""`ccmd plan` announces exactly what `ccmd run` then does, and nothing when `ccmd run` is at rest: in the state before each step of all
scenarios, and at the end. What the scenarios expect is no matter here. Cases that begin alike are compared once as far as they are alike.

CCM_SCENARIO=clb/053 compares those whose name begins so.
"""

import concurrent.futures
import glob
import itertools
import json
import os
import re
import threading
import time

import pytest

from tests.support import proc, scenario
from tests.support import scenario_look as look
from tests.support.scenario_route import RouteRunner
from tests.support.scenario_run import Runner
from tests.support.world import ACCESS_KEY, ACCESS_SECRET, wait

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILTER = os.environ.get("CCM_SCENARIO", "")
TOGETHER = 8  # so many cases are played at the same time: they wait most of the time

# What only the step itself finds out, and what the cloud does later.
UNFORESEEN = {
    ("clb/021-vswitch-list", "none is configured"): "that there is no vSwitch is found when the load balancer is created",
    ("clb/025-charge-type-and-bandwidth", "paybybandwidth to paybytraffic"): "the cloud changes the way of payment at midnight",
    ("clb/054-certificates", "changed, and to an expired one"): "the end of a certificate is read when the listener is updated",
}

# Members of what is given and of steps that change nothing in the world.
NO_STATE = ("ccmd", "watch", "expect", "warnings", "title", "within")

# What a line of a plan begins with, and the call that it stands for: an action of the cloud, or the part of an object that is patched.
# The first that fits counts; where two kinds of load balancers have actions of their own, CLB's stands first.
PATCHES = {
    "add finalizer": "patch services", "remove finalizer": "patch services", "set label": "patch services/status",
    "set status": "patch services/status", "set labels and status": "patch services/status",
    "set condition ccm.": "patch services/status", "remove condition ccm.": "patch services/status",
    "set condition service.readiness": "patch pods/status", "set condition NetworkUnavailable": "patch nodes/status",
}
CLB = {
    "create load balancer": "CreateLoadBalancer", "delete load balancer": "DeleteLoadBalancer", "tag load balancer": "TagResources",
    "untag load balancer": "UntagResources", "change instance charge type": "ModifyLoadBalancerInstanceChargeType",
    "change specification": "ModifyLoadBalancerInstanceSpec", "change traffic charge": "ModifyLoadBalancerInternetSpec",
    "set deletion protection": "SetLoadBalancerDeleteProtection", "switch deletion protection off": "SetLoadBalancerDeleteProtection",
    "set modification protection": "SetLoadBalancerModificationProtection", "rename load balancer": "SetLoadBalancerName",
    "create server group": "CreateVServerGroup", "delete server group": "DeleteVServerGroup", "add backends": "AddVServerGroupBackendServers",
    "remove backends": "RemoveVServerGroupBackendServers", "set weights": "SetVServerGroupAttribute",
    "create listener": "CreateLoadBalancer*Listener", "update listener": "SetLoadBalancer*ListenerAttribute",
    "delete listener": "DeleteLoadBalancerListener", "start listener": "StartLoadBalancerListener", "put back listener": "SetLoadBalancer*ListenerAttribute",
    "update domain extension": "SetDomainExtensionAttribute", "create domain extension": "CreateDomainExtension",
    "delete domain extension": "DeleteDomainExtension", "create access list": "CreateAccessControlList",
    "add access list entries": "AddAccessControlListEntry", "remove access list entries": "RemoveAccessControlListEntry",
    "delete access list": "DeleteAccessControlList", "untag access list": "UntagResources",
}
NLB = {
    "create load balancer": "CreateLoadBalancer", "delete load balancer": "DeleteLoadBalancer", "tag load balancer": "TagResources",
    "untag": "UntagResources", "set protection": "UpdateLoadBalancerProtection", "change address type": "UpdateLoadBalancerAddressTypeConfig",
    "change zones": "UpdateLoadBalancerZones", "change IPv6 address type": "*LoadBalancerIpv6Internet",
    "update load balancer": "UpdateLoadBalancerAttribute", "detach": "DetachCommonBandwidthPackageFromLoadBalancer",
    "attach": "AttachCommonBandwidthPackageToLoadBalancer", "create security group": "CreateSecurityGroup",
    "add security group rules": "AuthorizeSecurityGroup", "change security group rule": "ModifySecurityGroupRule",
    "remove security group rules": "RevokeSecurityGroup", "rename security group": "ModifySecurityGroupAttribute",
    "join security groups": "LoadBalancerJoinSecurityGroup", "leave security groups": "LoadBalancerLeaveSecurityGroup",
    "delete security group": "DeleteSecurityGroup", "create server group": "CreateServerGroup", "update server group": "UpdateServerGroupAttribute",
    "delete server group": "DeleteServerGroup", "add servers": "AddServersToServerGroup", "remove servers": "RemoveServersFromServerGroup",
    "update servers": "UpdateServerGroupServersAttribute", "create listener": "CreateListener", "update listener": "UpdateListenerAttribute",
    "delete listener": "DeleteListener", "add certificates": "AssociateAdditionalCertificatesWithListener",
    "remove certificates": "DisassociateAdditionalCertificatesWithListener",
}
ROUTE = {"create the route": "CreateRouteEntries", "delete": "DeleteRouteEntries"}
WORDS = {"clb": {**PATCHES, **CLB}, "nlb": {**PATCHES, **NLB}, "route": {**PATCHES, **ROUTE}}
ACTIONS = {re.compile(action.replace("*", "[A-Za-z0-9]+")): action for words in WORDS.values() for action in words.values() if "*" in action}


class Comparison:
    """Mixed into a Runner. ccmd does not run while a step changes the world; then `ccmd plan` speaks, and `ccmd run` acts."""

    lock = threading.Lock()
    compared = set()  # what was given and done before a comparison

    def _is_known(self, steps):
        """Whether another case has led to the same state: it is compared there."""
        given = {key: value for key, value in self.case.given.items() if key not in NO_STATE}
        key = json.dumps([self.case.kind, given, [{k: v for k, v in step.items() if k not in NO_STATE} for step in steps]], sort_keys=True)
        with self.lock:
            known = key in self.compared
            self.compared.add(key)
        return known

    def differences(self):
        given = self.case.given
        self.found = []
        arguments = [f"--limit={name}={value}" for name, value in (given.get("limits") or {}).items()]
        if "job_ms" in given:
            arguments.append(f"--job-ms={given['job_ms']}")
        with self._world(arguments) as self.world:
            steps = list(itertools.takewhile(lambda step: "faults" not in step, self.case.steps))  # a plan knows of no faults
            self._set_up({**given, "ccmd": "stopped", "expect": {}})
            self._compare([], last=not steps)
            for number, step in enumerate(steps):
                self.where = f"steps[{number}]"
                self.world.stop_ccmd()
                self._act({key: value for key, value in step.items() if key not in NO_STATE})
                self._compare(steps[:number + 1], last=number == len(steps) - 1)
            self.world.stop_ccmd()
        return self.found

    def _expect(self, expect, within=None):
        """Nothing."""

    def _plan(self):
        tool = os.path.join(self.build, "lib", "ccmd", "ccmd-plan")  # what `ccmd plan` becomes, without the way there
        _, out, err = proc.run([tool, "-o", "json", "--config", self.world.config],
                               env={"ACCESS_KEY_ID": ACCESS_KEY, "ACCESS_KEY_SECRET": ACCESS_SECRET}, timeout=60)
        assert proc.COMPLAINT.search(err.encode()) is None, err
        return json.loads(out)

    def _compare(self, steps, last):
        if self._is_known(steps) and not last:
            self._start()
            self._wait(self._is_idle)
            return
        since = self._marks()
        plan = self._plan()
        if self._writes(since):
            self.found.append(f"{self.where}: the plan wrote {self._writes(since)}")
        announced = self._announced(plan)
        self._start()
        self._wait(lambda: self._is_idle() and (self._writes(since) == announced or self._was_refused(since)))
        if not self._was_refused(since):
            self._note("plan and run", plan, announced, self._writes(since))
            if last:
                plans = []
                self._wait(lambda: plans.append(self._plan()) or not self._announced(plans[-1]))
                self._note("at rest", plans[-1], self._announced(plans[-1]), set())

    def _wait(self, condition):
        """Until it holds, or as long as a scenario waits: the comparison reports what did not come."""
        patience_s = self.patience_s + 10 * self.case.given.get("job_ms", 0) / 1000
        deadline = time.monotonic() + patience_s
        wait(lambda: condition() or time.monotonic() > deadline, "the end of the patience", 2 * patience_s + 60, every=0.03)

    def _marks(self):
        state = self.world.kube.state()
        return self.world.cloud.mark(), self.world.kube.mark(), self._finalizers(state), self._warnings(state)

    @staticmethod
    def _finalizers(state):
        return {one["metadata"]["name"]: one["metadata"].get("finalizers") for one in state["services"]}

    @staticmethod
    def _warnings(state):
        return sum(one.get("count", 1) for one in state["events"] if one["type"] == "Warning")

    def _was_refused(self, since):
        """What the cloud answers to a write is no matter of a plan, nor how its jobs end."""
        refused = any(call["http"] != 200 for call in self.world.cloud.calls(since[0]) if not look.is_read(call["action"]))
        jobs = any(edit["op"] == "jobs" for step in [self.case.given, *self.case.steps] for edit in step.get("edits") or [])
        return refused or jobs or (self.case.kind == "route" and self._has_cut_off(since))

    def _has_cut_off(self, since):
        """One entry of several is refused in an answer of success: its node says so."""
        state = self.world.kube.state()
        cut_off = any(one["type"] == "NetworkUnavailable" and one["status"] == "True"
                      for node in state["nodes"] for one in node["status"]["conditions"])
        return cut_off or self._warnings(state) != since[3]

    def _note(self, what, plan, announced, done):
        if announced != done:
            lines = [f"{one['object']}: {line}" for one in plan["objects"] for line in one["steps"] + one["failures"]]
            self.found.append("\n      ".join([f"{self.where}: {what}: {announced - done} only announced, {done - announced} only done", *lines]))

    @staticmethod
    def _announced(plan):
        """A line that stands for no call stands for itself."""
        return {next((call for words, call in WORDS[one["plugin"]].items() if line.startswith(words)), line)
                for one in plan["objects"] for line in one["steps"]}

    def _writes(self, since):
        actions = [call["action"] for call in self.world.cloud.calls(since[0]) if not look.is_read(call["action"])]
        found = {next((name for pattern, name in ACTIONS.items() if pattern.fullmatch(action)), action) for action in actions}
        for action in self.world.kube.actions(since[1]):
            verb, path = action.split()
            if verb not in ("GET", "LIST", "WATCH") and "/events" not in path:
                found.add(verb.lower() + " " + re.sub(r"^/api/v1/(?:namespaces/[^/]+/)?([a-z]+)/[^/]+", r"\1", path.split("?")[0]))
        if since[2] == self._finalizers(self.world.kube.state()):
            found.discard("patch services")  # it was confirmed, which changes nothing
        return found


class ServiceComparison(Comparison, Runner):
    pass


class RouteComparison(Comparison, RouteRunner):
    pass


def chosen(kind):
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "scenarios", kind, "*.yaml"))):
        name = os.path.splitext(os.path.relpath(path, os.path.join(ROOT, "tests", "scenarios")))[0]
        if name.startswith(FILTER):
            yield from ((name, case) for case in scenario.File(path).cases
                        if "faults" not in case.given and (name, case.title) not in UNFORESEEN)


def compare(name, case, build, folder):
    comparison = (RouteComparison if case.kind == "route" else ServiceComparison)(case, build, folder)
    try:
        return [f"{name} [{case.title}] {line}" for line in comparison.differences()]
    except (AssertionError, scenario.ScenarioError) as error:
        return [f"{name} [{case.title}] {comparison.where}: {error}"]


@pytest.mark.parametrize("kind", ["clb", "nlb", "route"])
def test_plan_is_run(kind, build, tmp_path):
    with concurrent.futures.ThreadPoolExecutor(TOGETHER) as pool:
        jobs = [pool.submit(compare, name, case, build, tmp_path / str(number)) for number, (name, case) in enumerate(chosen(kind))]
        lines = [line for job in jobs for line in job.result()]
    assert not lines, "\n".join(lines)


def test_what_is_unforeseen_is_there():
    files = {name: scenario.File(os.path.join(ROOT, "tests", "scenarios", name + ".yaml")) for name, _ in UNFORESEEN}
    assert all(title in [case.title for case in files[name].cases] for name, title in UNFORESEEN)
