"""Plugin node: whatever the cloud answers, and whatever happens between two looks, never a node too many is deleted."""

import contextlib
import struct

import pytest

from tests.integration.test_clock import Clock
from tests.support import cloud_nodes as nodes, objects
from tests.support.forger import Forger
from tests.support.world import World

pytestmark = pytest.mark.time_scale(10)
ALL = 100  # so that the share saves nobody
UNLIMITED = "quotas: { ecs = 1000000; };"
SHORT = "lease_duration_s = 3;"


def names(world):
    return sorted(nodes.all_nodes(world))


def named(*numbers):
    return sorted(f"node-{n}" for n in numbers)


def lose(world, *numbers):
    """Nobody hears of them any more."""
    for number in numbers:
        nodes.ready(world, f"node-{number}", "Unknown")


def start(world, numbers, election="enabled = false;", env=None, forger=None, **options):
    """Nodes that have been seen in the cloud, and a ccmd that looks every second."""
    nodes.configure(world, election=election, alicloud=UNLIMITED, ecs=forger and forger.base, **{
        **nodes.QUICK, "removal_share_percent": ALL, **options})
    nodes.instances(world, numbers)
    world.kube.create(*[nodes.register(f"node-{n}") for n in numbers])
    world.start_ccmd(env=env)
    world.wait(lambda: not nodes.tainted(world), "no taint")
    world.wait(lambda: all(nodes.SEEN in item["metadata"]["labels"] for item in nodes.all_nodes(world).values()), "labels")


def asked(world, since, name):
    return [call for call in nodes.looks(world, since) if f'"i-{name}"' in call["params"]["InstanceIds"]]


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as world:
        yield world


# ---- answers ----


@pytest.fixture
def forger(world):
    with contextlib.closing(Forger(world.cloud.base)) as instance:
        yield instance


def listed(answer):
    return answer["Instances"]["Instance"]


def keep(answer, wanted):
    answer["Instances"]["Instance"] = [item for item in listed(answer) if wanted(item["InstanceId"])]
    return answer


def short(_, answer):
    """Of a long list no more than the beginning, as if that were all."""
    answer["Instances"]["Instance"] = sorted(listed(answer), key=lambda item: item["InstanceId"])[:2]
    return answer


def paged(params, answer):
    """In two pages, the second of which says the same as the first."""
    half = max(1, len(listed(answer)) // 2)
    answer["Instances"]["Instance"] = sorted(listed(answer), key=lambda item: item["InstanceId"])[:half]
    answer["NextToken"] = "" if "NextToken" in params else "more"
    return answer


def broken_off(_, answer):
    """A first page, and nothing says that there is another. The longer the list, the more is lacking."""
    return keep(answer, lambda id: len(listed(answer)) <= 2 or id in ("i-node-1", "i-node-2", "i-node-3"))


def renamed(_, answer):
    for item in listed(answer):
        if item["InstanceId"] in ("i-node-4", "i-node-5"):
            item["InstanceId"] = item["InstanceId"].upper()
    return answer


def empty(_, answer):
    return keep(answer, lambda id: False)


def without_list(_, answer):
    del answer["Instances"]
    return answer


def with_null(_, answer):
    answer["Instances"] = None
    return answer


@pytest.mark.parametrize("forge", [short, paged, broken_off, renamed, empty, without_list, with_null], ids=lambda f: f.__name__)
def test_a_wrong_answer_deletes_nobody(world, forger, forge):
    """Nodes 4 and 5 are silent, and their instances are there."""
    start(world, (1, 2, 3, 4, 5), forger=forger)
    forger.forge = forge
    lose(world, 4, 5)
    nodes.looked(world, 8)
    assert names(world) == named(1, 2, 3, 4, 5) and nodes.deletions(world) == []


def test_an_answer_that_lacks_the_ready_proves_nothing(world, forger):
    """Also of instances that are gone indeed: as long as one is lacking that is there, nobody knows."""
    start(world, (1, 2, 3), forger=forger)
    nodes.release(world, "node-3")
    forger.forge = lambda _, answer: keep(answer, lambda id: id != "i-node-2")
    lose(world, 3)
    nodes.looked(world, 6)
    assert names(world) == named(1, 2, 3)
    forger.forge = None
    world.wait(lambda: names(world) == named(1, 2), "the node gone", timeout=30)


@pytest.mark.parametrize("period_s", [1, 86400])
def test_a_policy_that_hides_a_part_beside_a_wrong_id(world, forger, period_s):
    """Of two silent nodes one has an id that the cloud does not take: they are asked for apart, each with ready nodes besides."""
    start(world, range(1, 8), forger=forger, period_s=period_s)
    world.kube.create(nodes.seen("node-9", "strange"))
    world.cloud.fault("DescribeInstances", params={"InstanceIds": "*strange*"}, count=1000, code="InvalidParameter", http=400,
                      message='The specified parameter "InstanceIds" is not valid.')
    forger.forge = lambda _, answer: keep(answer, lambda id: id not in ("i-node-6", "i-node-7"))
    since = world.cloud.mark()
    lose(world, 7, 9)
    world.wait(lambda: len([call for call in asked(world, since, "node-7") if call["http"] == 200]) > 5, "looks at it", timeout=60)
    assert "node-7" in names(world) and nodes.deletions(world) == []


def test_a_policy_that_hides_a_part_of_many_silent_nodes(world, forger):
    """More of them than a call takes: there is room for ready nodes all the same."""
    silent = range(10, 120)
    start(world, (*range(1, 8), *silent), forger=forger, period_s=86400)
    forger.forge = lambda _, answer: keep(answer, lambda id: id in ("i-node-1", "i-node-2", "i-node-3"))
    since = world.cloud.mark()
    lose(world, *silent)
    nodes.looked(world, 10, since)
    assert len(names(world)) == 117 and nodes.deletions(world) == []


@pytest.mark.parametrize("restart", [False, True])
def test_a_policy_that_hides_a_part_deletes_nobody(world, forger, restart):
    """Looks at the silent node do not ask for the rest of its batch, and its answer is that of a deleted instance. But ready nodes are
    hidden, too; a process that has never seen these believes two of them."""
    hidden = ("i-node-5", "i-node-6", "i-node-7") if restart else ("i-node-6", "i-node-7")
    start(world, range(1, 8), forger=forger, period_s=86400)
    forger.forge = lambda _, answer: keep(answer, lambda id: id not in hidden)
    if restart:
        world.stop_ccmd()
        since = world.cloud.mark()
        world.start_ccmd()
        nodes.looked(world, 1, since)
        world.settled()
    since = world.cloud.mark()
    lose(world, 7)
    nodes.looked(world, 6, since)
    assert names(world) == named(*range(1, 8)) and nodes.deletions(world) == []
    nodes.release(world, "node-7")
    forger.forge = None
    world.wait(lambda: names(world) == named(*range(1, 7)), "the node gone", timeout=30)


def test_an_id_that_the_cloud_does_not_take_holds_up_nobody(world):
    """Of a ready node that says of itself that it was seen: the others are asked for without it."""
    start(world, (1, 2, 3), period_s=86400)
    world.cloud.fault("DescribeInstances", params={"InstanceIds": "*strange*"}, count=1000, code="InvalidParameter", http=400,
                      message='The specified parameter "InstanceIds" is not valid.')
    since = world.cloud.mark()
    world.kube.create(nodes.seen("node-9", "strange"))
    world.wait(lambda: nodes.looks(world, since), "a look at it")
    nodes.release(world, "node-3")
    lose(world, 3)
    world.wait(lambda: names(world) == named(1, 2, 9), "the node gone", timeout=60)


def test_a_stale_answer_deletes_nobody(world, forger):
    """A replica that has not heard of the newest instance answers now and then, never twice in a row."""
    start(world, (1, 2, 3), forger=forger, gone_confirm_s=1)
    turn = iter(range(1000000))

    def stale(_, answer):
        return keep(answer, lambda id: id != "i-node-3") if next(turn) % 2 == 0 else answer

    forger.forge = stale
    lose(world, 3)
    nodes.looked(world, 10)
    assert names(world) == named(1, 2, 3) and nodes.deletions(world) == []


def test_a_new_node_beside_one_that_is_gone(world):
    """It is ready and nobody has seen it: somebody else is asked for besides, so that the answer proves something."""
    start(world, (1, 2, 3), period_s=86400)
    nodes.release(world, "node-3")
    world.kube.create(nodes.register("node-9"))
    lose(world, 3)
    world.wait(lambda: names(world) == named(1, 2, 9), "the node gone", timeout=60)


def test_the_last_question_is_about_one_alone(world):
    start(world, (1, 2, 3, 4, 5))
    nodes.release(world, "node-5")
    since = world.cloud.mark()
    lose(world, 5)
    world.wait(lambda: names(world) == named(1, 2, 3, 4), "the node gone", timeout=30)
    deleted_at = nodes.deletions(world)[0]["t"]
    ids = [call["params"]["InstanceIds"] for call in asked(world, since, "node-5") if call["t"] < deleted_at]
    assert len(ids) >= 3 and ids[-1].count("i-node") == 2, ids


# ---- between two looks ----


def seen_once(world, number):
    """Its instance is gone, and one look has said so."""
    nodes.release(world, f"node-{number}")
    since = world.cloud.mark()
    lose(world, number)
    world.wait(lambda: any(call["http"] == 200 for call in asked(world, since, f"node-{number}")), "the first look")


def check_begins_anew(world, since, name, confirm_s):
    """What an earlier process saw counts for nothing: two answers of the new one lie as far apart as they have to."""
    world.wait(lambda: world.kube.get("Node", name) is None, "the node gone", timeout=60)
    deleted = nodes.deletions(world)
    assert len(deleted) == 1
    first = asked(world, since, name)[0]
    assert deleted[0]["t"] - first["t"] >= confirm_s, (first, deleted)


def test_a_restart_between_the_two_looks(world):
    start(world, (1, 2, 3), gone_confirm_s=3)
    seen_once(world, 3)
    world.kill_ccmd()
    since = world.cloud.mark()
    world.start_ccmd()
    check_begins_anew(world, since, "node-3", 3)
    assert names(world) == named(1, 2)


def test_another_leader_between_the_two_looks(world):
    start(world, (1, 2, 3), election=SHORT, gone_confirm_s=3)
    seen_once(world, 3)
    first, world.ccmd = world.ccmd, None
    try:
        with first.paused():
            since = world.cloud.mark()
            second = world.start_ccmd()
            check_begins_anew(world, since, "node-3", 3)
            world.kube.create(nodes.seen("node-3"))  # again, by the same name
            lose(world, 3)
    finally:
        second.stop()
        world.ccmd = None
        first.popen.wait(60)  # it has lost the Lease
    assert len(nodes.deletions(world)) == 1 and names(world) == named(1, 2, 3)


@pytest.mark.parametrize("hours", (-24, 24))
def test_a_clock_that_jumps(build, tmp_path, hours):
    """A day that passes on the wall between two looks is none."""
    with contextlib.closing(Clock(build, tmp_path / "clock")) as clock, World(build, tmp_path / "world") as world:
        start(world, (1, 2, 3), env=clock.env, gone_confirm_s=600)
        seen_once(world, 3)
        struct.pack_into("q", clock.page, 0, hours * 3600 * 1000)
        nodes.looked(world, 4)
        assert names(world) == named(1, 2, 3) and nodes.deletions(world) == []


def test_a_node_of_the_same_name_is_another_one(world):
    """It takes the place of the old one while the deletion of that is on its way."""
    start(world, (1, 2, 3))
    world.kube.fault("DELETE /api/v1/nodes/node-3", delay_ms=600000)
    nodes.release(world, "node-3")
    lose(world, 3)
    world.wait(lambda: any(call["http"] == 0 for call in nodes.deletions(world)), "the deletion on its way", timeout=30)
    state = world.kube.state()
    old = next(item for item in state["nodes"] if item["metadata"]["name"] == "node-3")
    again = dict(old, metadata=dict(old["metadata"], uid="00000000-0000-4000-8000-000000000003"))
    state["nodes"] = [again if item is old else item for item in state["nodes"]]
    world.kube.http.request("POST", "/_sim/restore", state)
    nodes.instances(world, (3,))
    world.kube.clear_faults()
    world.wait(lambda: nodes.deletions(world)[0]["http"] == 409, "a conflict")
    assert world.kube.get("Node", "node-3")["metadata"]["uid"] == again["metadata"]["uid"]


def test_what_was_seen_of_a_node_is_nothing_about_another_of_its_name(world):
    """The node was deleted and registered anew, all of it between two looks: the new one is lacking for the first time."""
    start(world, (1, 2, 3), gone_confirm_s=4)
    seen_once(world, 3)
    with world.ccmd.paused():
        world.kube.delete("Node", "node-3")
        world.kube.create(nodes.seen("node-3"))
        lose(world, 3)
        since, kube_since = world.cloud.mark(), world.kube.mark()
    world.wait(lambda: world.kube.get("Node", "node-3") is None, "the new one gone, too", timeout=60)
    deleted = nodes.deletions(world, kube_since)
    assert len(deleted) == 1
    assert deleted[0]["t"] - asked(world, since, "node-3")[0]["t"] >= 4


# ---- who ----


@pytest.mark.parametrize("label", ["service.beta.kubernetes.io/exclude-node", "service.alibabacloud.com/exclude-node"])
def test_excluded_nodes_stay(world, label):
    """Silent, and without an instance: node 3 for ever, node 4 until its label goes."""
    start(world, (1, 2, 3, 4))
    for name in ("node-3", "node-4"):
        world.kube.patch("Node", name, {"metadata": {"labels": {label: "true"}}})
        nodes.release(world, name)
    lose(world, 3, 4)
    nodes.looked(world, 5)
    assert names(world) == named(1, 2, 3, 4) and nodes.deletions(world) == []
    world.kube.patch("Node", "node-4", {"metadata": {"labels": {label: None}}})
    world.wait(lambda: names(world) == named(1, 2, 3), "node 4 gone", timeout=60)


def test_a_node_that_is_excluded_at_the_last_moment_stays(world):
    """ccmd has decided, and does not know of the label yet."""
    start(world, (1, 2, 3))
    world.kube.fault("GET /api/v1/nodes/node-3", delay_ms=3000)
    nodes.release(world, "node-3")
    lose(world, 3)
    world.wait(lambda: any(call["action"] == "GET /api/v1/nodes/node-3" for call in world.kube.calls()), "the last look", timeout=30)
    world.kube.patch("Node", "node-3", {"metadata": {"labels": {"service.alibabacloud.com/exclude-node": "true"}}})
    world.kube.clear_faults()
    nodes.looked(world, 4)
    assert names(world) == named(1, 2, 3) and nodes.deletions(world) == []


def test_ready_nodes_of_another_account_prove_nothing_and_keep_nobody(world):
    """They are in no answer: whoever is there for certain has been seen before."""
    start(world, (1, 2))
    world.kill_ccmd()
    world.kube.create(*[objects.node(f"{place}-other", f"i-other-{place}") for place in ("a", "mm", "node-0", "node-11", "z")])
    world.start_ccmd()
    nodes.release(world, "node-2")
    lose(world, 2)
    world.wait(lambda: "node-2" not in names(world), "the node gone", timeout=60)
    assert len(names(world)) == 6 and len(nodes.deletions(world)) == 1


# ---- how many ----


def test_a_third_of_all_at_once(world):
    """Of 40 nodes 12: no more than four go within the window, whoever they are."""
    start(world, range(1, 41), removal_share_percent=10)
    for number in range(20, 32):
        nodes.release(world, f"node-{number}")
    lose(world, *range(20, 32))
    world.wait(lambda: len(names(world)) == 36, "a tenth of them", timeout=30)
    world.wait(lambda: world.metrics().get('ccmd_held_removals{plugin="node"}') == 8, "the others held", timeout=30)
    nodes.looked(world, 4)
    assert len(names(world)) == 36 and len(nodes.deletions(world)) == 4


def test_deletions_whose_answers_are_lost_count(world):
    start(world, range(1, 21), removal_share_percent=10)
    world.kube.fault("DELETE /api/v1/nodes/*", cut="after", count=1000)
    for number in range(6, 16):
        nodes.release(world, f"node-{number}")
    lose(world, *range(6, 16))
    world.wait(lambda: len(names(world)) <= 18, "a tenth of them", timeout=30)
    world.wait(lambda: world.metrics().get('ccmd_held_removals{plugin="node"}', 0) >= 8, "the others held", timeout=30)
    nodes.looked(world, 6)
    assert len(names(world)) == 18


@pytest.mark.parametrize("effect", [{"http": 500, "code": "InternalError"}, {"http": 403, "code": "Forbidden"}, {"cut": "before"}],
                         ids=["500", "403", "cut"])
def test_a_deletion_that_was_not_executed_does_not_count(world, effect):
    """Of three nodes one may go within the hour: it is not held by its own deletion that failed."""
    start(world, (1, 2, 3), removal_share_percent=10)
    world.kube.fault("DELETE /api/v1/nodes/node-3", count=1, **effect)
    nodes.release(world, "node-3")
    lose(world, 3)
    world.wait(lambda: names(world) == named(1, 2), "the node gone", timeout=60)
    nodes.release(world, "node-2")
    lose(world, 2)
    world.wait(lambda: world.metrics().get('ccmd_held_removals{plugin="node"}') == 1, "the next one held", timeout=60)
    assert names(world) == named(1, 2)


def test_a_deletion_that_was_broken_off_keeps_its_share(world):
    """ccmd was killed behind the note of one of two nodes that are gone: one of them goes, and not both."""
    start(world, (1, 2, 3), removal_share_percent=10)
    world.kube.fault("DELETE /api/v1/nodes/*", cut="before", delay_ms=600000)
    for name in ("node-2", "node-3"):
        nodes.release(world, name)
    lose(world, 2, 3)
    world.wait(lambda: nodes.deletions(world), "a deletion", timeout=60)
    world.kill_ccmd()
    world.kube.clear_faults()
    world.start_ccmd()
    world.wait(lambda: len(names(world)) == 2, "one of them gone", timeout=60)
    world.wait(lambda: world.metrics().get('ccmd_held_removals{plugin="node"}') == 1, "the other held", timeout=60)
    nodes.looked(world, 2)
    assert len(names(world)) == 2


def test_a_restart_gives_no_new_share(world):
    """Of 40 nodes 12 are gone: four go, and none after each restart."""
    start(world, range(1, 41), removal_share_percent=10)
    for number in range(20, 32):
        nodes.release(world, f"node-{number}")
    lose(world, *range(20, 32))
    world.wait(lambda: len(names(world)) == 36, "a tenth of them", timeout=30)
    for _ in range(2):
        world.kill_ccmd()
        world.start_ccmd()
        world.wait(lambda: world.metrics().get('ccmd_held_removals{plugin="node"}') == 8, "the others held", timeout=60)
        nodes.looked(world, 2)
        assert len(names(world)) == 36 and len(nodes.deletions(world)) == 4


def test_what_was_left_of_the_share_may_go_after_a_restart(world):
    start(world, range(1, 41), removal_share_percent=10)
    for numbers in ((20, 21), (22, 23, 24)):
        for number in numbers:
            nodes.release(world, f"node-{number}")
        lose(world, *numbers)
        gone = 2 if numbers[0] == 20 else 4
        world.wait(lambda: len(names(world)) == 40 - gone, "those that may go", timeout=60)
        world.kill_ccmd()
        world.start_ccmd()
    world.wait(lambda: world.metrics().get('ccmd_held_removals{plugin="node"}') == 1, "the last one held", timeout=60)
    assert len(nodes.deletions(world)) == 4


def test_without_a_note_of_it_nothing_is_deleted(world):
    start(world, (1, 2, 3))
    for name in ("node-1", "node-2"):
        world.kube.fault(f"PATCH /api/v1/nodes/{name}", http=500, code="InternalError", count=1000)
    nodes.release(world, "node-3")
    lose(world, 3)
    nodes.looked(world, 8)
    assert names(world) == named(1, 2, 3) and nodes.deletions(world) == []
    world.kube.clear_faults()
    world.wait(lambda: names(world) == named(1, 2), "the node gone", timeout=60)


def noted(world):
    """Nodes that keep what was deleted, with how many that are."""
    notes = {name: item["metadata"].get("annotations", {}).get("ccmd/deleted-nodes") for name, item in nodes.all_nodes(world).items()}
    return {name: sum(int(piece.split(":")[1]) for piece in note.split() if ":" in piece) for name, note in notes.items() if note}


def test_whoever_keeps_the_count_goes(world):
    """Somebody deletes that node: another one keeps the count, and the next process reads it there."""
    start(world, range(1, 21), removal_share_percent=10)
    for number in range(11, 16):
        nodes.release(world, f"node-{number}")
    lose(world, *range(11, 16))
    world.wait(lambda: world.metrics().get('ccmd_held_removals{plugin="node"}') == 3, "two gone, the others held", timeout=60)
    (keeper, count), = noted(world).items()
    assert count == 2
    world.kube.delete("Node", keeper)
    world.wait(lambda: noted(world) and keeper not in noted(world), "another one that keeps it")
    assert list(noted(world).values()) == [2]
    world.kill_ccmd()
    world.start_ccmd()
    world.wait(lambda: world.metrics().get('ccmd_held_removals{plugin="node"}') == 3, "the others held", timeout=60)
    assert len(names(world)) == 17


def test_another_leader_gets_no_new_share(world):
    start(world, range(1, 21), election=SHORT, removal_share_percent=10)
    for number in range(11, 16):
        nodes.release(world, f"node-{number}")
    lose(world, *range(11, 16))
    world.wait(lambda: world.metrics().get('ccmd_held_removals{plugin="node"}') == 3, "two gone, the others held", timeout=60)
    first, world.ccmd = world.ccmd, None
    try:
        with first.paused():
            second = world.start_ccmd()
            world.wait(lambda: world.metrics().get('ccmd_held_removals{plugin="node"}') == 3, "the others held", timeout=60)
            nodes.looked(world, 2)
    finally:
        second.stop()
        world.ccmd = None
        first.popen.wait(60)  # it has lost the Lease
    assert len(names(world)) == 18 and len(nodes.deletions(world)) == 2


def test_a_count_that_somebody_has_made_up_lets_nothing_go(world):
    """A kubelet may write to its own Node: more or later deletions than there were only hold others."""
    start(world, (1, 2, 3))
    world.kill_ccmd()
    world.kube.patch("Node", "node-1", {"metadata": {"annotations": {"ccmd/deleted-nodes": "99999999999:1000000 x 5:-1"}}})
    nodes.configure(world, alicloud=UNLIMITED, **nodes.QUICK)
    nodes.release(world, "node-3")
    lose(world, 3)
    world.start_ccmd()
    world.wait(lambda: world.metrics().get('ccmd_held_removals{plugin="node"}') == 1, "it is held", timeout=60)
    assert names(world) == named(1, 2, 3) and nodes.deletions(world) == []
    world.kill_ccmd()
    world.kube.patch("Node", "node-1", {"metadata": {"annotations": {"ccmd/deleted-nodes": None}}})
    world.start_ccmd()
    world.wait(lambda: names(world) == named(1, 2), "the node gone", timeout=60)
