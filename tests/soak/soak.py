"""make soak: random life cycles in a world full of trouble; afterwards everything is as if there had been none.

The seed decides what is done and in which order; what it meets depends on the moment. A finding prints the seed, and the list of all
that was done stands beside the logs.
"""

import argparse
import json
import os
import random
import shutil
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.soak import checks  # noqa: E402
from tests.soak.console import Hand  # noqa: E402
from tests.soak.daemon import Daemon  # noqa: E402
from tests.soak.failing import Failing  # noqa: E402
from tests.soak.faults import Faults  # noqa: E402
from tests.soak.gates import Gates  # noqa: E402
from tests.soak.lives import Lives  # noqa: E402
from tests.soak.machines import Machines  # noqa: E402
from tests.soak.orphans import Orphans  # noqa: E402
from tests.soak.server import Server  # noqa: E402
from tests.soak.setting import Setting  # noqa: E402
from tests.soak.trace import Finding, Trace  # noqa: E402
from tests.soak.until import until  # noqa: E402

ROUND_S = 180  # of trouble, before everything has to heal
STEADY = 3  # each so manieth round nobody touches the process, so that its memory can be looked at
PACE_S = 0.1  # with the usual number of Services: so often somebody does something
EVENTS = {"lives": 100, "gates": 20, "console": 5, "job": 3, "watch": 2, "node": 5, "kill": 0.7, "restart": 0.3, "pause": 0.12, "away": 0.15,
          "replace": 0.12}
MORE = {"lives", "gates", "console", "job", "watch"}  # the more Services there are
TO_PROCESS = {"kill", "restart", "pause", "away"}  # the last one may cost it the Lease


class Soak:
    def __init__(self, build, folder, seed, slots):
        self.folder = folder
        self.random = random.Random(seed)
        self.trace = Trace()
        self.setting = Setting(build, os.path.join(folder, "world"), chaos=True, slots=slots)
        self.slots = slots
        self.calls = 0
        self.steady = False  # the present round
        self.lived = 0
        self.objects = 0

    def run(self, seconds):
        """Rounds of trouble, each with its check, and the end of everything."""
        with self.setting:
            try:
                self._run_rounds(time.monotonic() + seconds)
            except BaseException:
                self._keep_evidence()
                raise

    def _run_rounds(self, end):
        self._set_up()
        number = 0
        while time.monotonic() < end:
            number += 1
            self.steady = number % STEADY == 0
            self._trouble(min(end, time.monotonic() + ROUND_S))
            self._check(number)
        self._finish()

    def _keep_evidence(self):
        """What both sides hold and what was called, before the world ends."""
        world = self.setting.world
        for name, found in (("cloud", world.cloud.state), ("server", world.kube.state), ("calls", world.cloud.calls),
                            ("status", lambda: world.admin("/statusz")[1]), ("events", lambda: world.kube.items("Event"))):
            try:
                with open(os.path.join(self.folder, f"{name}.json"), "w", encoding="utf-8") as file:
                    json.dump(found(), file, indent=1)
            except (OSError, AssertionError) as error:
                print(f"soak: no {name}.json: {error}", flush=True)

    def _set_up(self):
        parts = (self.setting, self.random, self.trace)
        self.foreign = checks.foreign(self.setting, whole=False)
        self.foreign_whole = checks.foreign(self.setting, whole=True)
        self.faults = Faults(*parts)
        self.machines = Machines(*parts)
        self.hand = Hand(*parts)
        self.daemon = Daemon(*parts)
        self.orphans = Orphans(self.setting, self.trace)
        self.server = Server(*parts, self.faults, self.orphans)
        self.lives = Lives(*parts, self.slots)
        self.failing = Failing(self.setting, self.trace)
        self.gates = Gates(*parts)
        self.gates.start()
        self.daemon.start()

    def _act(self):
        shares = {name: share * (self.setting.more if name in MORE else 1) for name, share in EVENTS.items()
                  if not (self.steady and name in TO_PROCESS)}
        what = self.random.choices(list(shares), shares.values())[0]
        {"lives": self.lives.act, "gates": self.gates.act, "node": self.machines.act, "console": self.hand.act, "job": self.faults.break_job,
         "watch": self.faults.break_watch, "kill": self.daemon.kill, "restart": self.daemon.restart,
         "pause": lambda: self.daemon.pause(self.lives.change_small), "away": self.server.pause,
         "replace": lambda: self.server.replace(self.lives.change_small)}[what]()
        self.daemon.supervise()
        self.orphans.look()


    def _trouble(self, end):
        self.setting.configure()
        self.faults.begin()
        due = time.monotonic()
        while time.monotonic() < end:
            self._act()
            due = max(due + PACE_S / self.setting.more, time.monotonic() - PACE_S)  # what was missed is not made up for at once
            until(lambda at=due: time.monotonic() >= at, PACE_S, 0.005)
        self.faults.end()
        self.machines.heal()

    def _check(self, number):
        began = time.monotonic()
        self.orphans.next = 0.0
        self.orphans.look()
        self.objects = checks.check_healed(self, os.path.join(self.folder, f"fresh-{number}"))
        self.trace.note("healed", f"{time.monotonic() - began:.1f}", "s,", self.objects, "things compared")
        self._look_at_calls()
        self.orphans.check()
        checks.check_foreign(self.setting, self.foreign)
        checks.check_at_rest(self)
        checks.check_failing(self, (time.monotonic() - self.trace.began) / 60)
        self.setting.configure()
        self.daemon.restart()
        shutil.rmtree(os.path.join(self.folder, f"fresh-{number}"), ignore_errors=True)
        print(f"soak: round {number}: {self.trace.summary()}", flush=True)

    def _look_at_calls(self):
        cloud = self.setting.world.cloud
        calls = cloud.calls()
        self.failing.look(calls)
        self.calls += len(calls)
        self.trace.note("throttled", count=sum((call.get("code") or "").startswith("Throttling") for call in calls))
        cloud.http.request("DELETE", "/_sim/calls")

    def _finish(self):
        self.lives.end_all()
        self.gates.end_all()
        self.failing.end()
        checks.check_empty(self)
        checks.check_foreign(self.setting, self.foreign_whole, whole=True)
        self.orphans.check()
        self.lived = checks.check_memory(self.daemon.memory)
        self.daemon.supervise()

    def summary(self):
        counts = self.trace.counts
        most = max((kib for _, _, kib in self.daemon.memory), default=0)
        return (f"{(time.monotonic() - self.trace.began) / 60:.1f} minutes, {min(counts['created'], counts['deleted'])} life cycles, "
                f"{self.lives.ended} of them ended while ccmd held the Service, {self.calls} calls, at most {most} KiB, "
                f"{self.lived} processes that lived for minutes, refused listeners asked for {self.failing.asked} times; "
                f"{self.trace.summary()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--minutes", type=float, default=10, help="of trouble")
    parser.add_argument("--seed", type=int, default=None, help="what is done, and in which order; another one each time")
    parser.add_argument("--services", type=int, default=40, help="at the same time")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else int(time.time()) % 1000000
    folder = os.path.abspath(os.path.join(args.build, "soak", str(seed)))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    print(f"soak: seed {seed}, {args.minutes:g} minutes, logs in {folder}", flush=True)
    soak = Soak(os.path.abspath(args.build), folder, seed, args.services)
    try:
        soak.run(args.minutes * 60)
    except (Finding, AssertionError, OSError) as finding:
        soak.trace.save(os.path.join(folder, "trace"))
        print(f"soak: {soak.trace.summary()}\nsoak: FINDING, seed {seed}; what was done: {folder}/trace\n"
              f"repeat: make soak SEED={seed} MINUTES={args.minutes:g} SERVICES={args.services}\n{finding}", flush=True)
        return 1
    soak.trace.save(os.path.join(folder, "trace"))
    print(f"soak: seed {seed}: no finding: {soak.summary()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
