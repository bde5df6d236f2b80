"""Every file under tests/scenarios against both simulators; how to write one: tests/scenarios/README.md.

CCM_SCENARIO=053 runs those whose name begins so.
"""

import glob
import os

import pytest

from tests.support import scenario
from tests.support.scenario_run import Runner

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECTION_11 = 95


def collect():
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "scenarios", "clb", "*.yaml"))):
        name = os.path.splitext(os.path.basename(path))[0]
        if not name.startswith(os.environ.get("CCM_SCENARIO", "")):
            continue
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


@pytest.mark.parametrize("item", collect())
def test_scenario(item, build, tmp_path):
    __tracebackhide__ = True
    if isinstance(item, scenario.ScenarioError):
        pytest.fail(str(item), pytrace=False)
    if isinstance(item, scenario.File):
        for path, name in item.unit:
            assert scenario.unit_test_exists(ROOT, path, name), f"{item.path}: unit: no test {name} in {path}"
        return
    try:
        Runner(item, build, tmp_path).run()
    except scenario.ScenarioError as error:
        pytest.fail(str(error), pytrace=False)


def test_every_number_has_a_file():
    names = [os.path.basename(path) for path in glob.glob(os.path.join(ROOT, "tests", "scenarios", "clb", "*.yaml"))]
    numbers = sorted(int(name[:3]) for name in names)
    assert len(numbers) == len(set(numbers)), "a number is used twice"
    assert not set(range(1, SECTION_11 + 1)) - set(numbers)
