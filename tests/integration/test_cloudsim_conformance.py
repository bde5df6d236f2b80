"""Every action of cloudsim against the tables in tests/sim/cloud/data: a good call with an answer of the right shape,
each missing parameter, each bad value, an unknown parameter, an id that does not exist, every state that forbids it."""

import json
import os

import pytest

from tests.integration.test_cloudsim import Sim
from tests.support.acs import CloudError, flatten
from tests.support.recipes import RECIPES, Kit
from tests.support.wrong_states import STATELESS, WRONG

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "sim", "cloud", "data")
LIMITS = ("load-balancers", "acls", "route-tables", "eips", "nlb-load-balancers", "routes")


def tables():
    for name in sorted(os.listdir(DATA)):
        with open(os.path.join(DATA, name), encoding="utf-8") as file:
            for action, spec in json.load(file)["actions"].items():
                yield name[: -len(".json")], action, spec


TABLES = {(product, action): spec for product, action, spec in tables()}
ACTIONS = sorted(TABLES)

# Values outside are moved inside instead of refused, or the simulator takes more than the prose says.
LENIENT = {
    ("ecs", "DescribeInstances", "MaxResults"), ("ecs", "DescribeNetworkInterfaces", "MaxResults"),
    ("ecs", "DescribeSecurityGroups", "MaxResults"), ("ecs", "DescribeSecurityGroupAttribute", "MaxResults"),
    ("vpc", "DescribeRouteEntryList", "MaxResult"),
    # a list of names, each as long
    ("slb", "DescribeLoadBalancers", "LoadBalancerName"),
    # own policies exist beside the named ones
    ("nlb", "CreateListener", "SecurityPolicyId"), ("nlb", "UpdateListenerAttribute", "SecurityPolicyId"),
}

# The table wants it, an empty one is as good.
NEEDLESS = {("ecs", "TagResources", "Tag.N.Value")}


def started(folder):
    return Sim(folder, *(word for name in LIMITS for word in ("--limit", f"{name}=100000")))


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    sim = started(tmp_path_factory.mktemp("sim"))
    yield Kit(sim.client, sim.control)
    sim.process.stop()


def good(kit, product, action):
    return flatten(RECIPES[product, action](kit))


def call(kit, product, action, params):
    return kit.client.call(product, action, **params)


def refused(kit, product, action, params):
    with pytest.raises(CloudError) as error:
        call(kit, product, action, params)
    assert 400 <= error.value.http < 500, error.value
    assert error.value.message, error.value
    return error.value


def rows(product, action):
    return TABLES[product, action]["parameters"]


def concrete(name):
    """Tag.N.Key -> Tag.1.Key"""
    return name.replace(".N", ".1") if ".N." in name or name.endswith(".N") else name


def leaves(value, path=""):
    """(path, value) of everything that is no container; an empty container is its own leaf."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from leaves(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for inner in value:
            yield from leaves(inner, path + "[]")
    elif isinstance(value, list):
        yield path + "[]", None
    else:
        yield path, value


TYPES = {"string": str, "number": (int, float), "boolean": bool}


@pytest.mark.parametrize("product, action", ACTIONS)
def test_has_recipe(product, action):
    assert (product, action) in RECIPES


KNOWN = [pair for pair in ACTIONS if pair in RECIPES]


@pytest.mark.parametrize("product, action", KNOWN)
def test_good_call(kit, product, action):
    answer = call(kit, product, action, good(kit, product, action))
    table = TABLES[product, action]["answer"]
    seen = set()
    for path, value in leaves(answer):
        if value is None or value == {}:
            assert any(name == path or name.startswith((path + ".", path + "[]")) for name in table), path
            continue
        assert path in table, path
        kind = TYPES[table[path]]
        assert isinstance(value, kind) and (kind is bool or not isinstance(value, bool)), (path, value)
        seen.add(path)
    # every member of the answer itself is there
    missing = {name.split(".")[0].split("[")[0] for name in table} - set(answer)
    assert missing <= OPTIONAL.get((product, action), set()), missing


# Members that an answer has only sometimes: the last page has no token, some listeners no TLS.
OPTIONAL = {
    **{("nlb", action): {"NextToken"} for action in ("ListListenerCertificates", "ListListeners", "ListLoadBalancers",
                                                     "ListServerGroupServers", "ListServerGroups",
                                                     "ListTagResources")},
    ("nlb", "GetListenerHealthStatus"): {"NextToken"},
    ("nlb", "GetListenerAttribute"): {"AlpnPolicy", "SecurityPolicyId"},
    ("slb", "DescribeLoadBalancerAttribute"): {"AutoReleaseTime", "RenewalCycUnit", "RenewalDuration", "RenewalStatus"},
}


def cases(make):
    return [(product, action, *case) for product, action in KNOWN for case in make(product, action)]


def required(product, action):
    for name, row in rows(product, action).items():
        if row.get("required") and (product, action, name) not in NEEDLESS:
            yield (name,)


@pytest.mark.parametrize("product, action, name", cases(required))
def test_missing(kit, product, action, name):
    params = good(kit, product, action)
    head = concrete(name).replace(".1", "")
    left = {key: value for key, value in params.items()
            if key != concrete(name) and not (name.endswith(".N") and key.startswith(head))}
    assert left != params or name not in params
    if left == params and name == "RegionId":
        kit.client.region, region = None, kit.client.region
        try:
            error = refused(kit, product, action, left)
        finally:
            kit.client.region = region
    else:
        error = refused(kit, product, action, left)
    assert "Miss" in error.code or "Empty" in error.code or name.split(".")[-1] in error.code, error


def bad_values(product, action):
    for name, row in rows(product, action).items():
        if row["type"] == "number":
            yield name, "many"
        if row["type"] == "boolean":
            yield name, "perhaps"
        if (product, action, name) in LENIENT:
            continue
        low, high = row.get("range", (None, None))
        if isinstance(low, int) and low > 0:
            yield name, str(-1000)
        if isinstance(high, int):
            yield name, str(high + 1000)
        if "enum" in row and row["type"] == "string":
            yield name, "no-such-value"
        if isinstance(row.get("len", (0, None))[1], int) and "len" in row:
            yield name, "x" * (row["len"][1] + 200)


@pytest.mark.parametrize("product, action, name, value", cases(bad_values))
def test_bad_value(kit, product, action, name, value):
    params = good(kit, product, action)
    refused(kit, product, action, {**params, concrete(name): value})


@pytest.mark.parametrize("product, action", KNOWN)
def test_unknown_parameter(kit, product, action):
    refused(kit, product, action, {**good(kit, product, action), "Colour": "red"})


def ids(product, action):
    for (name,) in required(product, action):
        if name.endswith("Id") and name != "RegionId":
            yield (name,)


@pytest.mark.parametrize("product, action, name", cases(ids))
def test_no_such_resource(kit, product, action, name):
    error = refused(kit, product, action, {**good(kit, product, action), concrete(name): "no-such-id"})
    assert "Missing" not in error.code


@pytest.mark.parametrize("product, action", KNOWN)
def test_other_region(kit, product, action):
    refused(kit, product, action, {**good(kit, product, action), "RegionId": "cn-nowhere"})


# ---- states

@pytest.fixture
def calm(tmp_path):
    """A cloud of its own for a case that changes limits and states."""
    sim = started(tmp_path)
    yield Kit(sim.client, sim.control)
    sim.process.stop()


@pytest.mark.parametrize("product, action", ACTIONS)
def test_has_states(product, action):
    assert ((product, action) in WRONG) != ((product, action) in STATELESS), "a wrong state, or the reason for none"


def test_states_are_of_actions():
    assert set(WRONG) | set(STATELESS) == set(ACTIONS)
    for pair, cases_of in WRONG.items():
        assert len({case.state for case in cases_of}) == len(cases_of), (pair, "the same state twice")


STATES = [(*pair, case) for pair in sorted(WRONG) for case in WRONG[pair]]


@pytest.mark.parametrize("product, action, case", STATES, ids=lambda value: getattr(value, "state", value))
def test_wrong_state(calm, product, action, case):
    params = flatten(case.make(calm))
    error = refused(calm, product, action, params)
    assert (error.code, error.http) == (case.code, case.http), error


# ---- filters: what a list takes, it heeds

# They shape the answer, or page it, instead of choosing what is in it.
SHAPES = {"AcceptLanguage", "AdditionalAttributes.N", "ClientToken", "CurrentPage", "DryRun", "IncludeListener",
          "IncludeReservationData", "IncludeRule", "IsQueryEcsCount", "LanguageCode", "MaxResult", "MaxResults",
          "NeedSaleCycle", "NextToken", "Page", "PageNumber", "PageSize", "RegionId", "ServiceCode", "ShowSize", "Tags",
          "FuzzyQuery", "Filter.N.Key", "Filter.N.Value", "SecurityToken"}
# All regions and zones of this cloud sell everything; a value belongs to a key.
CHOOSE_NOTHING = {
    ("ecs", "DescribeRegions", "InstanceChargeType"), ("ecs", "DescribeRegions", "ResourceType"),
    ("ecs", "DescribeZones", "InstanceChargeType"), ("ecs", "DescribeZones", "SpotStrategy"),
    ("ecs", "DescribeZones", "Verbose"), ("slb", "DescribeAvailableResource", "AddressIPVersion"),
    ("slb", "DescribeAvailableResource", "AddressType"), ("vpc", "DescribeRegions", "ProductType"),
    ("vpc", "DescribeZones", "ZoneType"), ("ecs", "ListTagResources", "TagFilter.N.TagValues.N"),
}


def items(answer):
    """The first list of an answer, bare or in objects."""
    for value in answer.values():
        while isinstance(value, dict) and len(value) == 1:
            value = next(iter(value.values()))
        if isinstance(value, list):
            return value
    return None


def filters(product, action):
    if not action.startswith(("Describe", "List")) or action.endswith(("Attribute", "Attributes", "Detail")):
        return
    for name, row in rows(product, action).items():
        if name in SHAPES or (product, action, name) in CHOOSE_NOTHING or name.startswith("Tag."):
            continue
        if row.get("required") or row["type"] == "number":
            continue
        if row["type"] == "boolean":
            yield name, ("true", "false")
        elif "enum" in row:
            yield name, tuple(row["enum"])
        else:
            yield name, ("no-such-value",)


@pytest.mark.parametrize("product, action, name, values", cases(filters))
def test_filter_acts(kit, product, action, name, values):
    params = good(kit, product, action)
    everything = items(call(kit, product, action, params))
    assert everything, "the recipe must leave something to be found"
    found = []
    for value in values:
        if value.startswith("no-such") and name.endswith(("Ids", "Addresses")) and ".N" not in name:
            value = json.dumps([value])
        try:
            found.append(len(items(call(kit, product, action, {**params, concrete(name): value}))))
        except CloudError as error:
            assert error.http < 500, error
            found.append(0)
    assert min(found) < len(everything), f"{values} all find {found} of {len(everything)}"
