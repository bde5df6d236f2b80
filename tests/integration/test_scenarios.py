"""Every file under tests/scenarios against both simulators; how to write one: tests/scenarios/README.md.

CCM_SCENARIO=053 runs those whose name begins so, CCM_SCENARIO=nlb/ those of a folder, CCM_SCENARIO_SHARD=2/4 every fourth file of them.
"""

import concurrent.futures
import glob
import os
import uuid

import pytest

from tests.support import scenario
from tests.support.scenario_route import RouteRunner
from tests.support.scenario_run import Runner

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILTER = os.environ.get("CCM_SCENARIO", "")
SHARD, SHARDS = map(int, os.environ.get("CCM_SCENARIO_SHARD", "1/1").split("/"))
SECTION_11 = {"clb": 95, "nlb": 48, "route": 31}  # scenarios of each specification
RUNNERS = {"route": RouteRunner}


def chosen():
    """(name, path) of the files that this run plays."""
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "scenarios", "*", "*.yaml"))):
        name = os.path.splitext(os.path.relpath(path, os.path.join(ROOT, "tests", "scenarios")))[0]
        if name.startswith(FILTER) or os.path.basename(name).startswith(FILTER):
            found.append((name, path))
    return found[SHARD - 1::SHARDS]


def collect():
    found = []
    for name, path in chosen():
        try:
            file = scenario.File(path)
        except scenario.ScenarioError as error:
            found.append(pytest.param(error, id=name))
            continue
        if file.unit:
            found.append(pytest.param(file, id=name + "-unit"))
        for case in file.cases:
            pending = [pytest.mark.xfail(strict=True, raises=scenario.ScenarioFailure, reason=case.pending)]
            title = f"{name}-{case.title}" if len(file.cases) > 1 else name
            found.append(pytest.param(case, id=title.replace(" ", "_"), marks=pending if case.pending else []))
    return found


def runner_of(case):
    return RUNNERS.get(case.kind, Runner)


def play(case, build, folder):
    """Once more when the machine was too slow for what is counted."""
    try:
        runner_of(case)(case, build, folder).run()
    except scenario.ScenarioLate:
        again = folder / "again"
        again.mkdir()
        runner_of(case)(case, build, again).run()


class Ahead:
    """Cases of a kind that mostly waits are played several at once; their tests ask how it went."""

    def __init__(self, session, build, folders):
        self.cases = [test.callspec.params["item"] for test in session.items if test.name.startswith("test_scenario[")]
        self.build, self.folders = build, folders
        self.pools, self.results = [], {}

    def _submit(self, kind):
        cases = [case for case in self.cases if isinstance(case, scenario.Case) and case.kind == kind]
        pool = concurrent.futures.ThreadPoolExecutor(runner_of(cases[0]).at_once)
        self.pools.append(pool)
        for number, case in enumerate(cases):
            runner = runner_of(case)(case, self.build, self.folders.mktemp(f"{kind}{number}-"))
            self.results[id(case)] = pool.submit(runner.run)

    def play(self, case):
        if id(case) not in self.results:
            self._submit(case.kind)
        self.results[id(case)].result()

    def stop(self):
        for pool in self.pools:
            pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="module")
def ahead(request, build, tmp_path_factory):
    found = Ahead(request.session, build, tmp_path_factory)
    yield found
    found.stop()
    folder = os.environ.get("CCM_CALLS_DIR")
    if folder and request.session.testsfailed == 0:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{uuid.uuid4()}.scenarios"), "w", encoding="utf-8") as file:
            file.writelines(sorted({os.path.relpath(case.path, ROOT) + "\n" for case in found.cases if isinstance(case, scenario.Case)}))


@pytest.mark.parametrize("item", collect())
def test_scenario(item, build, tmp_path, ahead):
    __tracebackhide__ = True
    if isinstance(item, scenario.ScenarioError):
        pytest.fail(str(item), pytrace=False)
    if isinstance(item, scenario.File):
        for path, name in item.unit:
            assert scenario.unit_test_exists(ROOT, path, name), f"{item.path}: unit: no test {name} in {path}"
        return
    try:
        if runner_of(item).at_once > 1:
            ahead.play(item)
        else:
            play(item, build, tmp_path)
    except scenario.ScenarioError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.mark.parametrize("kind", SECTION_11)
def test_every_number_has_a_file(kind):
    names = [os.path.basename(path) for path in glob.glob(os.path.join(ROOT, "tests", "scenarios", kind, "*.yaml"))]
    numbers = sorted(int(name[:3]) for name in names)
    assert len(numbers) == len(set(numbers)), "a number is used twice"
    assert not set(range(1, SECTION_11[kind] + 1)) - set(numbers)


def test_every_case_counts_calls_and_names_events():
    """Of CLB: what the cloud is asked for, and what people are told, is no less a promise than the state at the end."""
    silent = []
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "scenarios", "clb", "*.yaml"))):
        for case in scenario.File(path).cases:
            given = case.given.get("expect") or ({"ok": True} if "service" in case.given else {})
            keys = {key for step in [{"expect": given}, *case.steps] for key in step.get("expect") or {}}
            if not keys & {"calls", "writes"} or not keys & {"events", "ok"}:
                silent.append(f"{os.path.basename(path)} [{case.title}]")
    assert silent == []
