"""Scenarios as data: a cluster and a cloud, steps, and what must be true after each; see tests/scenarios/README.md.

    for case in load(path):
        Runner(case, build, folder).run()

A mistake in a file is a ScenarioError, which names file and key; a world that is not as expected a ScenarioFailure.
"""

import os
import re

import yaml

KEYS = {
    "file": {"title", "given", "steps", "cases", "pending", "unit"},
    "case": {"title", "given", "steps", "pending"},
    "given": {"dual_stack", "nodes", "node", "cloud", "lbs", "limits", "options", "alicloud", "before", "faults", "pods", "endpoints",
              "service", "services", "ccmd", "edits", "warnings", "expect", "job_ms", "plugins", "tables", "routes", "route_ms"},
    "step": {"title", "service", "services", "endpoints", "node", "nodes", "pod", "pods", "delete", "cloud", "edits", "call",
             "faults", "ccmd", "options", "patch", "create", "watch", "await", "expect", "within", "together", "routes"},
    "service": {"name", "ports", "annotations", "labels", "policy", "finalizers", "metadata"},
    "expect": {"ok", "gone", "released", "lb", "lbs", "others", "listeners", "groups", "backends", "guard", "joined", "zones", "status", "labels",
               "finalizer", "events", "warnings", "calls", "order", "sent", "reads", "writes", "kube_writes", "objects", "of", "routes", "network"},
    "lb": {"listeners", "groups", "tags", "backends", "guard", "joined", "zones"},  # and attributes, which begin with a capital letter
}
ACTIONS = KEYS["step"] - {"title", "expect", "within", "together"}


class ScenarioError(Exception):
    """The file is wrong."""


class ScenarioFailure(AssertionError):
    """The world is not as the scenario expects."""


class ScenarioLate(ScenarioFailure):
    """The machine let the world be looked at so late that what failed may have been tried again meanwhile."""


class Loader(yaml.CSafeLoader):
    """YAML with the types of YAML 1.2: `on` and `80:44` are texts. A key twice is an error."""


Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"^(?:true|false)$", "tf"),
    ("int", r"^-?(?:0|[1-9][0-9]*)$", "-0123456789"),
    ("float", r"^-?[0-9]+\.[0-9]+$", "-0123456789"),
    ("null", r"^(?:~|null|)$", ["~", "n", ""]),
):
    Loader.add_implicit_resolver("tag:yaml.org,2002:" + _tag, re.compile(_pattern), list(_first))


def _mapping(loader, node):
    found = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in found:
            raise ScenarioError(f"line {key_node.start_mark.line + 1}: key {key!r} twice")
        value = loader.construct_object(value_node, deep=True)
        if key == "<<":
            found = {**value, **found}
        else:
            found[key] = value
    return found


Loader.add_constructor("tag:yaml.org,2002:map", _mapping)


class Case:
    """One world with its steps."""

    def __init__(self, path, kind, title, given, steps, pending):
        self.path = path
        self.kind = kind  # name of the folder: which plugin it is about
        self.title = title
        self.given = given
        self.steps = steps
        self.pending = pending


class File:
    def __init__(self, path):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.kind = os.path.basename(os.path.dirname(os.path.abspath(path)))
        self.cases = []
        self.unit = []
        try:
            with open(path, encoding="utf-8") as file:
                data = yaml.load(file, Loader)
        except (yaml.YAMLError, ScenarioError) as error:
            raise ScenarioError(f"{path}: {error}") from None
        self._check_keys(data, "file", "")
        if not data.get("title"):
            self._fail("title", "is missing")
        self.unit = self._units(data.get("unit", []))
        base = data.get("given") or {}
        self._check_given(base, "given")
        if "steps" in data:
            self._add(data, base, "")
        for number, case in enumerate(data.get("cases") or []):
            where = f"cases[{number}]"
            self._check_keys(case, "case", where)
            self._check_given(case.get("given") or {}, where + ".given")
            self._add(case, _merged(base, case.get("given") or {}), where + ".", data.get("pending"), str(number + 1))
        if not self.cases and not self.unit:
            self._fail("steps", "is missing, and there are neither cases nor unit tests")

    def _fail(self, key, problem):
        raise ScenarioError(f"{self.path}: {key}: {problem}")

    def _check_keys(self, value, kind, where):
        if not isinstance(value, dict):
            self._fail(where or kind, "must be a mapping")
        for key in value:
            if key not in KEYS[kind]:
                self._fail(f"{where}{'.' if where else ''}{key}", f"unknown; known are {', '.join(sorted(KEYS[kind]))}")

    def _check_given(self, given, where):
        self._check_keys(given, "given", where)
        if "expect" in given:
            self._check_expect(given["expect"], where + ".expect")

    def _check_expect(self, expect, where):
        self._check_keys(expect, "expect", where)
        for key in ("calls", "events"):
            if key in expect and not isinstance(expect[key], (dict, list, str)):
                self._fail(f"{where}.{key}", "must be a list, a mapping or a text")

    def _units(self, units):
        for unit in units:
            if not isinstance(unit, str) or unit.count(":") != 1:
                self._fail("unit", f"{unit!r} is not FILE:TEST")
        return [tuple(unit.split(":")) for unit in units]

    def _add(self, data, given, where, pending=None, default_title=""):
        steps = data.get("steps") or []
        for number, step in enumerate(steps):
            place = f"{where}steps[{number}]"
            self._check_keys(step, "step", place)
            if "expect" in step:
                self._check_expect(step["expect"], place + ".expect")
            if not ACTIONS & set(step) and "expect" not in step:
                self._fail(place, "neither does nor expects anything")
        self.cases.append(Case(self.path, self.kind, data.get("title") or default_title, given, steps,
                               data.get("pending") or pending))


def _merged(base, more):
    """more over base, mappings joined."""
    found = dict(base)
    for key, value in more.items():
        both = isinstance(value, dict) and isinstance(found.get(key), dict)
        found[key] = _merged(found[key], value) if both else value
    return found


def unit_test_exists(root, path, name):
    """Whether the cmocka (or pytest) file has that test and runs it."""
    path = os.path.join(root, path)
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".py"):
        return re.search(rf"^def {re.escape(name)}\(", text, re.M) is not None
    registered = re.search(rf"cmocka_unit_test\w*\(\s*{re.escape(name)}\b", text)
    return registered is not None and re.search(rf"\b{re.escape(name)}\(void \*\*", text) is not None
