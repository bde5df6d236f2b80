"""The RAM policies of etc/ram grant what each plugin calls, and nothing else.

What is called is taken from the sources, and from what the other tests of this run saw (CCM_CALLS_DIR, see
tests/support/world.py): ctest runs this file behind all of them.
"""

import glob
import json
import os
import re

import pytest

from tests.support import scenario

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLUGINS = ("clb", "nlb", "route", "node")
# What the shared library calls for these plugins, beside what stands in their own sources; and what is called by a name that their
# own product has too.
SHARED = {
    "clb": {"ecs:DescribeInstances", "ecs:DescribeNetworkInterfaces", "vpc:DescribeVpcAttribute"},
    "nlb": {"ecs:DescribeInstances", "ecs:DescribeNetworkInterfaces", "vpc:DescribeVpcAttribute", "nlb:GetJobStatus",
            "nlb:ListAsynJobs", "ecs:UntagResources"},
    "route": {"ecs:DescribeInstances"},
    "node": set(),
}
# Where the names of actions stand.
SOURCES = {"clb": ("clb", "alilb"), "nlb": ("nlb", "alilb"), "route": ("route",), "node": ("node",)}
# The product of an action whose name several have.
OWN = {"clb": "slb", "nlb": "nlb", "route": "vpc", "node": "ecs"}
# Credentials are asked for by the library, under another identity than the one that these policies are for.
NOT_GRANTED = {"sts:AssumeRole", "sts:AssumeRoleWithOIDC"}
# Calls of states that no scenario brings about: action -> the test that does.
RARE = {
    "clb": {
        # HTTPS listeners of a reused load balancer, whose additional certificates nobody knows.
        "slb:DescribeDomainExtensions": ("tests/integration/test_clb_listeners.py", "test_domain_extensions"),
    },
    "nlb": {},
    "route": {},
    "node": {},
}


def policy(plugin):
    with open(os.path.join(ROOT, "etc", "ram", plugin + ".json"), encoding="utf-8") as file:
        data = json.load(file)
    assert data["Version"] == "1"
    assert all(one["Effect"] == "Allow" and set(one) == {"Effect", "Action", "Resource"} for one in data["Statement"])
    actions = [action for one in data["Statement"] for action in one["Action"]]
    assert len(actions) == len(set(actions)), "nothing twice"
    assert all(one["Action"] == sorted(one["Action"]) for one in data["Statement"]), "sorted"
    return set(actions)


def grants(path):
    """(action, condition or None) of each action of a policy."""
    with open(os.path.join(ROOT, "etc", "ram", path), encoding="utf-8") as file:
        data = json.load(file)
    assert all(one["Effect"] == "Allow" and one["Resource"] == "*" for one in data["Statement"])
    return [(action, one.get("Condition")) for one in data["Statement"] for action in one["Action"]]


# Deletions of what is made with the cluster's tag. A server group, or a listener, of a load balancer that is reused has none.
TAGGED = {
    "clb": {"slb:DeleteLoadBalancer", "slb:DeleteAccessControlList"},
    "nlb": {"nlb:DeleteLoadBalancer", "nlb:DeleteServerGroup", "ecs:DeleteSecurityGroup"},
}


@pytest.mark.parametrize("plugin", sorted(TAGGED))
def test_hardened_policies_grant_the_same_under_conditions(plugin):
    found = grants(f"hardened/{plugin}.json")
    assert len(found) == len({action for action, _ in found}), "nothing twice"
    assert {action for action, _ in found} == policy(plugin)
    assert {action for action, condition in found if condition is not None} == TAGGED[plugin]
    for _, condition in found:
        assert condition is None or [
            (key.split("/")[1], values) for key, values in condition["StringEquals"].items()
        ] == [("ack.aliyun.com", ["CLUSTER_ID"])]


def known_actions():
    """product -> the names of its actions, as cloudsim knows them."""
    found = {}
    for path in glob.glob(os.path.join(ROOT, "tests", "sim", "cloud", "data", "*.json")):
        with open(path, encoding="utf-8") as file:
            found[os.path.splitext(os.path.basename(path))[0]] = set(json.load(file)["actions"])
    return found


def in_sources(plugin):
    """Actions whose name stands in the sources of the plugin, or in what it shares with others, whole or with a %s for the protocol."""
    words = set()
    for path in (path for part in SOURCES[plugin] for path in glob.glob(os.path.join(ROOT, "plugins", part, "*.c"))):
        with open(path, encoding="utf-8") as file:
            words |= set(re.findall(r'"([A-Z][A-Za-z0-9%]+)"', file.read()))
    pattern = re.compile("|".join(re.escape(word).replace("%s", "(TCP|UDP|HTTP|HTTPS)") for word in words))
    found = set(SHARED[plugin])
    known = known_actions()
    for product, names in known.items():
        if product != OWN[plugin]:
            names = names - known[OWN[plugin]]
        found |= {f"{product}:{name}" for name in names if pattern.fullmatch(name)}
    return found


def seen():
    """plugin -> actions that were really called by the tests of this run."""
    folder = os.environ.get("CCM_CALLS_DIR", "")
    found = {plugin: set() for plugin in (*PLUGINS, "gateway")}
    for path in glob.glob(os.path.join(folder, "*.json")) if folder else []:
        with open(path, encoding="utf-8") as file:
            note = json.load(file)
        for plugin, product, action in note["calls"]:
            found[plugin].add(f"{product}:{action}")
    return found


def scenarios_left_out(plugin):
    """Files of the plugin that the tests of this run did not play."""
    folder = os.environ.get("CCM_CALLS_DIR", "")
    played = set()
    for path in glob.glob(os.path.join(folder, "*.scenarios")) if folder else []:
        with open(path, encoding="utf-8") as file:
            played |= set(file.read().split())
    files = [scenario.File(path) for path in glob.glob(os.path.join(ROOT, "tests", "scenarios", plugin, "*.yaml"))]
    return {os.path.relpath(file.path, ROOT) for file in files if file.cases} - played


@pytest.mark.parametrize("plugin", PLUGINS)
def test_nothing_is_granted_that_is_not_called(plugin):
    assert policy(plugin) - in_sources(plugin) == set()


@pytest.mark.parametrize("plugin", PLUGINS)
def test_all_that_was_called_is_granted(plugin):
    found = seen()
    if not found[plugin]:
        pytest.skip("no calls were noted: run this with ctest, behind other tests")
    assert found[plugin] - policy(plugin) - NOT_GRANTED == set()


CERTIFICATES = "gateway-certificates"  # rights for option upload_certificates


def test_rights_for_certificates():
    assert {action.replace("yundun-cert:", "cas:") for action in policy(CERTIFICATES)} == {
        action for action in in_sources("nlb") if action.startswith("cas:")}


def test_gateways_call_what_nlb_calls():
    """No policy of their own: what is called for Gateways, that of plugin nlb grants, and that for certificates."""
    found = seen()["gateway"]
    if not found:
        pytest.skip("no calls were noted: run this with ctest, behind other tests")
    certificates = {action.replace("yundun-cert:", "cas:") for action in policy(CERTIFICATES)}
    assert "nlb:CreateLoadBalancer" in found and found - policy("nlb") - certificates - NOT_GRANTED == set()


@pytest.mark.parametrize("plugin", PLUGINS)
def test_all_that_is_granted_was_called(plugin):
    """Only after all scenarios of the plugin."""
    left_out = scenarios_left_out(plugin)
    if left_out:
        pytest.skip(f"{len(left_out)} scenarios of {plugin} were not played before, such as {min(left_out)}")
    found = seen()[plugin]
    if not found:
        pytest.skip("no calls were noted: run this with ctest, behind other tests")
    assert policy(plugin) - found - set(RARE[plugin]) == set()


@pytest.mark.parametrize("plugin", PLUGINS)
def test_rare_calls_are_granted(plugin):
    """What is excused is granted, and the test that makes the call exists."""
    assert set(RARE[plugin]) <= policy(plugin)
    for path, name in RARE[plugin].values():
        assert scenario.unit_test_exists(ROOT, path, name), f"no test {name} in {path}"


@pytest.mark.parametrize("plugin, action", [
    ("route", "vpc:CreateRouteEntries"), ("route", "vpc:DeleteRouteEntries"), ("nlb", "nlb:ListAsynJobs")])
def test_those_that_policies_often_lack(plugin, action):
    assert action in policy(plugin)
