"""Routes at size, over time, through crashes, and next to entries of others."""

import random
import threading
import urllib.error

import pytest

from tests.support import proc
from tests.support import scenario_look as look
from tests.support.scenario_route import CLUSTER_CIDR, SYSTEM_TABLE, custom_routes, node
from tests.support.world import ACCESS_KEY, ACCESS_SECRET, World

pytestmark = pytest.mark.time_scale(10)
MANY = 500
BURST_S = 0.3  # the pass waits as long for nodes to come along


def name_of(number):
    return f"node-{number}"


def cidr_of(number):
    return f"10.{96 + number // 250}.{number % 250}.0/24"


def many_nodes(first, count):
    return [node(name_of(n), cidr_of(n)) for n in range(first, first + count)]


def wanted(numbers):
    return {cidr_of(n): f"i-{name_of(n)}" for n in numbers}


def routes(world):
    return custom_routes(world.cloud.state())[SYSTEM_TABLE]


def network(item):
    return next((c["status"] for c in item["status"].get("conditions", []) if c["type"] == "NetworkUnavailable"), None)


def up(world, count):
    """All nodes there are, and that their network is said to be available."""
    nodes = world.kube.state()["nodes"]
    return len(nodes) == count and all(network(item) == "False" for item in nodes)


def configure(world, **options):
    text = " ".join(f'{key} = {value};' for key, value in {"cluster_cidr": f'"{CLUSTER_CIDR}"', **options}.items())
    world.config = world.write_config(plugins=f'{{ name = "route"; {text} }}')


def add_instances(world, numbers):
    world.cloud.http.request("POST", "/_sim/instances", {"instances": [
        {"id": f"i-{name_of(n)}", "vswitch": "vsw-a"} for n in numbers if n > 5]})


@pytest.fixture
def big(build, tmp_path):
    with World(build, tmp_path, cloud_args=["--limit=routes=2000"]) as world:
        add_instances(world, range(1, MANY + 1))
        configure(world, removal_share_percent=100, account_quotas='"routes=0"')  # all go at once; the table takes them
        yield world


def at_once(world, action, changes):
    """ccmd hears of all changes of nodes in one burst, however long they take to be made, and the cloud is busy with the
    first call for them until it has heard of the last: then they are worked on in two batches at most. Returns a function
    that tells how many it were."""
    def queued():
        return world.metrics()['workqueue_adds_total{name="route"}']

    before, count, worked = queued(), 0, batches(world)
    world.cloud.fault(action, delay_ms=600000)
    with world.ccmd.paused():
        for change in changes:
            change()
            count += 1
    world.wait(lambda: queued() >= before + count, "all of them in the queue", timeout=60)
    world.cloud.clear_faults()
    return lambda: batches(world) - worked


def batches(world):
    return world.metrics().get('workqueue_work_duration_seconds_count{name="route"}', 0)


def creations(world, nodes):
    """One write each."""
    for item in nodes:
        yield lambda found={key: value for key, value in item.items() if key != "status"}: world.kube.create(found)


def counted(actions):
    return {action: actions.count(action) for action in sorted(set(actions))}


def test_500_nodes_at_once(big):
    big.start_ccmd()
    big.wait(lambda: "DescribeRouteEntryList" in big.cloud.actions(), "the first list")
    big.settled()
    worked = at_once(big, "CreateRouteEntries", creations(big, many_nodes(1, MANY)))
    big.wait(lambda: up(big, MANY), "all conditions", timeout=60)
    big.settled()

    assert routes(big) == wanted(range(1, MANY + 1))
    found = counted(big.cloud.actions())
    # 50 in each, but the last of each batch: 10 of the one batch that it is wherever the machine is not busy with else.
    assert found.pop("CreateRouteEntries") <= 10 + (worked() > 1)
    assert sum(found.values()) <= 3 and all(look.is_read(action) for action in found), found
    seen = counted([action.split(" ")[0] for action in big.kube.actions()])
    assert seen == {"CREATE": MANY, "PATCH": MANY, "WATCH": 1}  # the CREATEs are ours

    # A restart reads: the tables of the VPC, and pages of 100 entries. It writes nothing.
    big.stop_ccmd()
    since, kube_since = big.cloud.mark(), big.kube.mark()
    big.start_ccmd()
    big.wait(lambda: big.cloud.actions(since).count("DescribeRouteEntryList") >= MANY // 100, "the first pass")
    big.settled()
    assert counted(big.cloud.actions(since)) == {"DescribeRouteEntryList": MANY // 100, "DescribeRouteTableList": 1}
    assert counted([action.split(" ")[0] for action in big.kube.actions(kube_since)]) == {"WATCH": 1}

    # All of them go.
    since = big.cloud.mark()
    at_once(big, "DeleteRouteEntries", (lambda n=n: big.kube.delete("Node", name_of(n)) for n in range(1, MANY + 1)))
    big.wait(lambda: not routes(big), "an empty table", timeout=60)
    big.settled()
    sizes = [len([name for name in call["params"] if name.endswith(".NextHop")]) for call in big.cloud.calls(since)]
    assert sum(sizes) == MANY and len(sizes) <= 11, sizes
    assert set(big.cloud.actions(since)) == {"DeleteRouteEntries"}


def test_steady_periods(world):
    configure(world, period_s=1)
    world.kube.create(*many_nodes(1, 3))
    world.start_ccmd()
    world.wait(lambda: up(world, 3), "all conditions")
    since, kube_since = world.cloud.mark(), world.kube.mark()

    def gaps():
        times = [call["t"] for call in world.cloud.calls(since)]
        return [later - earlier for earlier, later in zip(times, times[1:])]

    def is_spread():
        return len(gaps()) >= 3 and min(gaps()) < 1 + BURST_S

    world.wait(is_spread, "three periods, one of them shorter", timeout=30)
    assert set(world.cloud.actions(since)) == {"DescribeRouteEntryList"}
    assert min(gaps()) >= 0.9  # one per period, which is spread by a tenth
    assert world.kube.actions(kube_since) == []


def test_plan_changes_nothing(world):
    """ccmd plan tells what run would do."""
    for cidr, hop in (("10.96.2.0/24", "i-other"), ("10.96.3.0/24", "i-node-3"), ("10.96.7.0/24", "i-gone")):
        world.cloud.edit("create", type="route", route_table=SYSTEM_TABLE, destination=cidr, next_hop_type="Instance", next_hop=hop)
    configure(world, orphan_cleanup="true")
    world.kube.create(*many_nodes(1, 3), node("node-4", "10.0.0.0/24"))
    kube_since = world.kube.mark()
    code, out, err = proc.run([world.binary("ccmd"), "plan", "--config", world.config], timeout=60,
                              env={"ACCESS_KEY_ID": ACCESS_KEY, "ACCESS_KEY_SECRET": ACCESS_SECRET})
    assert code == 1, err  # there is something to do, and one node cannot be served
    for line in ("create the route 10.96.1.0/24 -> i-node-1 in vtb-system",
                 "delete the conflicting route 10.96.2.0/24 -> i-other in vtb-system",
                 "create the route 10.96.2.0/24 -> i-node-2 in vtb-system",
                 "delete the orphan 10.96.7.0/24 -> i-gone in vtb-system",
                 "failed: vtb-system: pod CIDR 10.0.0.0/24 is not inside of cluster_cidr",
                 "set condition NetworkUnavailable to True"):
        assert line in out
    assert out.count("set condition NetworkUnavailable to False") == 3
    assert all(map(look.is_read, world.cloud.actions()))
    assert all(action.startswith(("WATCH", "GET", "LIST")) for action in world.kube.actions(kube_since))


# --- entries of others ---

OUTSIDE = ("10.0.{a}.0/24", "10.112.{a}.0/24", "172.16.{a}.0/24", "10.112.{a}.{b}/26", "192.168.0.0/16", "10.64.0.0/10", "0.0.0.0/0")
INSIDE = ("10.96.{a}.0/24", "10.97.{a}.0/24", "10.96.{a}.{b}/26", "10.100.0.0/16")
OTHER_HOPS = ("NetworkInterface", "HaVip", "NatGateway", "RouterInterface")


def foreign_entries(chance):
    """destination -> (kind, hop, whether it is of no concern to us)"""
    found = {}
    for _ in range(chance.randrange(10, 40)):
        inside = chance.random() < 0.5
        text = chance.choice(INSIDE if inside else OUTSIDE).format(a=chance.randrange(12), b=64 * chance.randrange(4))
        other = chance.random() < 0.4
        kind = chance.choice(OTHER_HOPS) if other else "Instance"
        hop = f"x-{chance.randrange(9)}" if other else f"i-{chance.choice(['node-1', 'node-2', 'gone', 'other'])}"
        found[text] = (kind, hop, other or not inside)
    return found


@pytest.mark.time_scale(1)
@pytest.mark.parametrize("seed", range(4))
def test_nothing_of_others_is_touched(world, seed):
    """Random tables, random nodes that come and go, also while ccmd is down."""
    chance = random.Random(seed)
    entries = foreign_entries(chance)
    for cidr, (kind, hop, _) in entries.items():
        world.cloud.edit("create", type="route", route_table=SYSTEM_TABLE, destination=cidr, next_hop_type=kind, next_hop=hop)
    theirs = {cidr: f"{kind}/{hop}".removeprefix("Instance/") for cidr, (kind, hop, keep) in entries.items() if keep}
    configure(world, period_s=1, orphan_cleanup="true", missing_wait_s=0, removal_share_percent=100)
    present = set()
    for number in range(5):
        if chance.random() < 0.4 and world.ccmd is not None:
            world.stop_ccmd()
        for n in range(1, 6):
            if n in present and chance.random() < 0.4:
                world.kube.delete("Node", name_of(n))
                present.discard(n)
            elif n not in present and chance.random() < 0.7:
                world.kube.create(node(name_of(n), cidr_of(n)))
                present.add(n)
        if not present:
            world.kube.create(node(name_of(1), cidr_of(1)))
            present.add(1)
        if world.ccmd is None:
            world.start_ccmd()
        blocked = {n for n in present if cidr_of(n) in theirs}

        def as_wanted():
            held = routes(world)
            return all(held.get(cidr) == hop for cidr, hop in wanted(present - blocked).items()) and all(
                network(item) == ("True" if int(item["metadata"]["name"][5:]) in blocked else "False")
                for item in world.kube.state()["nodes"])

        world.wait(as_wanted, f"round {number}", timeout=30)
        held = routes(world)
        assert {cidr: held.get(cidr) for cidr in theirs} == theirs

    def swept():
        """What is left inside of the cluster's network and no node's: wider than a node's, or of another kind."""
        left = set(routes(world)) - set(theirs) - set(wanted(present))
        return all(cidr.endswith("/16") or routes(world)[cidr] in {f"i-{name_of(n)}" for n in present} for cidr in left)

    world.wait(swept, "orphans to go", timeout=30)
    held = routes(world)
    assert {cidr: held.get(cidr) for cidr in theirs} == theirs


# --- crashes ---

@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("nth", [1, 2])
def test_killed_during_a_batch(big, nth, moment):
    """kill -9 while the nth batch of 50 is carried out, or before it is; then a restart."""
    count = 120
    big.cloud.fault("CreateRouteEntries", nth=nth, cut=moment, delay_ms=600000)
    for item in many_nodes(1, count):
        big.kube.create(item)
    big.start_ccmd()
    big.wait(lambda: any(c["http"] == 0 for c in big.cloud.calls() if c["action"] == "CreateRouteEntries"), "the batch", timeout=30)
    big.kill_ccmd()
    big.cloud.clear_faults()
    big.start_ccmd()
    big.wait(lambda: up(big, count), "all conditions", timeout=60)
    assert routes(big) == wanted(range(1, count + 1))


@pytest.mark.time_scale(1)
def test_killed_while_a_conflict_is_removed(world):
    """kill -9 between the deletion of what stands in a node's place and the creation of its own."""
    world.cloud.edit("create", type="route", route_table=SYSTEM_TABLE, destination=cidr_of(1), next_hop_type="Instance", next_hop="i-other")
    configure(world)
    world.kube.create(*many_nodes(1, 2))
    world.cloud.fault("DeleteRouteEntries", delay_ms=600000, cut="after")
    world.start_ccmd()
    world.wait(lambda: any(c["http"] == 0 for c in world.cloud.calls() if c["action"] == "DeleteRouteEntries"), "the deletion")
    world.kill_ccmd()
    world.cloud.clear_faults()
    assert cidr_of(1) not in routes(world)  # carried out, and nobody heard of it
    since = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: up(world, 2), "all conditions")
    assert routes(world) == wanted((1, 2))
    assert [a for a in world.cloud.actions(since) if not look.is_read(a)] == ["CreateRouteEntries"]


def test_taken_behind_the_list(world):
    """Somebody takes a destination after the list of the very call that creates: seen, and put right."""
    configure(world)
    world.kube.create(*many_nodes(1, 2))
    world.cloud.fault("CreateRouteEntries", delay_ms=600000)
    world.start_ccmd()
    world.wait(lambda: "CreateRouteEntries" in world.cloud.actions(), "the creation")
    world.cloud.edit("create", type="route", route_table=SYSTEM_TABLE, destination=cidr_of(2), next_hop_type="Instance", next_hop="i-other")
    world.cloud.clear_faults()
    world.wait(lambda: up(world, 2), "all conditions")
    assert routes(world) == wanted((1, 2))
    assert [a for a in world.cloud.actions() if not look.is_read(a)] == ["CreateRouteEntries", "DeleteRouteEntries", "CreateRouteEntries"]
    assert [e for e in world.kube.events() if e[0] == "Warning"] == []


def test_a_batch_that_failed_comes_back_as_one(big):
    """120 nodes, three calls, the cloud out of order for a while: no more calls than rounds, one line of the log each."""
    configure(big)
    big.kube.create(*many_nodes(1, 120))
    big.cloud.fault("CreateRouteEntries", count=2, cut="before")
    big.start_ccmd()
    big.wait(lambda: up(big, 120), "all conditions", timeout=60)
    assert routes(big) == wanted(range(1, 121))
    assert big.cloud.actions().count("CreateRouteEntries") == 2 + 3
    assert big.log().count("transient: CreateRouteEntries") == 2


def test_whom_events_about_all_nodes_are_about(world):
    """The Lease that the leader election is told to use."""
    for number in (1, 2):
        world.cloud.edit("call", product="vpc", action="CreateRouteTable", params={"VpcId": "vpc-test", "RouteTableName": f"t{number}"})
    world.config = world.write_config(
        plugins=f'{{ name = "route"; cluster_cidr = "{CLUSTER_CIDR}"; }}',
        election='enabled = true; namespace = "default"; name = "routes-of-ours";')
    world.kube.create(*many_nodes(1, 1))
    world.start_ccmd()
    event = world.wait(lambda: [e for e in world.kube.items("Event") if e["reason"] == "SyncRouteFailed"], "the event")[0]
    about = event["involvedObject"]
    assert (about["kind"], about["namespace"], about["name"]) == ("Lease", "default", "routes-of-ours")


def test_metrics(world):
    configure(world)
    world.cloud.edit("limits", limits={"routes": 2})
    world.kube.create(*many_nodes(1, 3))
    world.start_ccmd()
    world.wait(lambda: {network(item) for item in world.kube.state()["nodes"]} == {"True", "False"}, "all conditions")

    name = "ccm_route_latencies_duration_milliseconds"

    def told():
        """The numbers at the end of a batch that met a full table; the conditions come before that end."""
        found = world.metrics()
        return found.get("ccmd_route_tables_full") == 1 and f'{name}_count{{verb="reconcile"}}' in found and found

    values = world.wait(told, "the full table")
    assert values["ccmd_route_entries"] == values[f'ccmd_route_table_entries{{table="{SYSTEM_TABLE}"}}'] == 2
    assert values['ccmd_route_nodes{state="served"}'] == 3
    for verb in ("reconcile", "create"):
        counts = [values[f'{name}_bucket{{verb="{verb}",le="{bound}"}}'] for bound in ("500", "1000", "800000", "+Inf")]
        assert counts == sorted(counts) and counts[-1] >= 1  # how long it took is the machine's business
        assert values[f'{name}_count{{verb="{verb}"}}'] == counts[-1]


def test_an_api_server_takes_no_pod_cidr_that_is_none(world):
    """Row T15 cannot come from a server: it is a test of the model alone."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        world.kube.create(node("node-1", "192.168.111.11111/24"))
    assert refused.value.code == 422


def test_condition_comes_only_after_proof(big):
    """A watcher that never sleeps: no node is said to be reachable before its entry is there."""
    early = []
    done = threading.Event()

    def watch():
        while not done.is_set():
            said = [item["spec"]["podCIDR"] for item in big.kube.state()["nodes"] if network(item) == "False"]
            held = routes(big)
            early.extend(cidr for cidr in said if cidr not in held)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        for item in many_nodes(1, 150):
            big.kube.create(item)
        big.cloud.fault("CreateRouteEntries", nth=2, cut="before")
        big.start_ccmd()
        big.wait(lambda: up(big, 150), "all conditions", timeout=60 * proc.SLOW)
    finally:
        done.set()
        thread.join()
    assert early == []
