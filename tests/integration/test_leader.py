"""Leader election: one instance works, others stand by, and nobody writes after another has taken over."""

import http.client
import itertools
import os
import signal
import time

import pytest

from tests.support import objects, proc, views
from tests.support.kubesim import Watch
from tests.support.proxy import Proxy
from tests.support.world import World, wait

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
SHORT = "lease_duration_s = 3;"
LONG = "lease_duration_s = 15;"  # for one that must not lose it on a slow machine
MEDIUM = "lease_duration_s = 6;"  # for one whose end is waited for, all the same
LATENCY_MS = 20
SERVICES = 60
QUOTAS = "quotas: { " + " ".join(f"{name} = 1000000;" for name in ("slb_write", "slb_read", "vpc", "ecs")) + " };"
PORTS = ((80, "TCP"),)


class Pair:
    """Instances of ccmd, each with its own way to the cloud."""

    def __init__(self, world):
        self.world = world
        self.running = {}
        self.ways = {}

    def start(self, name, election=SHORT):
        cloud = self.world.cloud.base
        way = self.ways.setdefault(name, Proxy(cloud))
        self.world.cloud.base = way.base
        config = self.world.write_config(plugins='{ name = "clb"; workers = 32; }', alicloud=QUOTAS, election=election,
                                         log_level="info", name=f"{name}.conf")
        self.world.cloud.base = cloud
        process = self.world.start_ccmd(config)
        self.world.ccmd = None  # ended by us
        self.running[name] = process
        return process

    def end(self):
        for way in self.ways.values():
            way.close()
        for process in self.running.values():
            if process.alive():
                process.popen.send_signal(signal.SIGCONT)
                process.stop()

    def lease(self):
        return next((lease for lease in self.world.kube.state()["leases"] if lease["metadata"]["name"] == "ccm"), None)

    def holder(self):
        return (self.lease() or {}).get("spec", {}).get("holderIdentity")

    def leads(self, name):
        return f"{self.holder()} leads now" in self.running[name].err()

    def writes(self, name):
        """Times of the writes that an instance has sent to the cloud."""
        way = self.ways.get(name)
        return [t for t, _, action in (way.requests if way else []) if not action.startswith(("Describe", "List"))]

    def signed(self, name):
        """When it signed them, by its own clock and in whole seconds: however long they were on their way."""
        return [t for t, action in self.ways[name].signed if not action.startswith(("Describe", "List"))]

    def requests(self, since=0):
        """Those for the Lease that were carried out, all instances'."""
        return [call for call in self.world.kube.calls(since) if "/leases" in call["path"] and call["http"] // 100 == 2]

    def asked(self, since=0):
        """The same as (time of arrival, verb)."""
        return [(call["t"], call["action"].split(" ")[0]) for call in self.requests(since)]

    def looks(self):
        """When the Lease was read: a leader writes it only."""
        return [t for t, verb in self.asked() if verb == "GET"]

    def versions(self):
        """Of the Lease, one for each time it is written."""
        connection = http.client.HTTPConnection(self.world.kube.base.removeprefix("http://"), timeout=30 * proc.SLOW)
        return Watch(connection, LEASES + "?watch=1&resourceVersion=0", {})


@pytest.fixture
def pair(build, tmp_path):
    with World(build, tmp_path / "world", cloud_args=["--latency-ms", str(LATENCY_MS)]) as world:
        views.nodes(world, 3)
        pair = Pair(world)
        yield pair
        pair.end()


def busy(pair, count=SERVICES):
    """So many Services that one instance has to work on them for a while."""
    pair.world.kube.create(*[objects.service(f"s{n}", PORTS) for n in range(count)])


def addresses(pair):
    return sum(bool(s.get("status", {}).get("loadBalancer", {}).get("ingress")) for s in pair.world.kube.state()["services"])


def test_the_lease_of_one(pair):
    one = pair.start("one", election="")
    wait(lambda: pair.leads("one"), "the lease")
    spec = pair.lease()["spec"]
    host = os.uname().nodename
    assert spec["holderIdentity"].startswith(host + "_") and len(spec["holderIdentity"]) == len(host) + 37
    assert (spec["leaseDurationSeconds"], spec["leaseTransitions"]) == (15, 0)
    renewed = spec["renewTime"]
    wait(lambda: pair.lease()["spec"]["renewTime"] != renewed, "a renewal")
    assert pair.lease()["spec"]["acquireTime"] == spec["acquireTime"]
    event = wait(lambda: [e for e in pair.world.kube.items("Event", "kube-system") if e["reason"] == "LeaderElection"],
                 "the event")[0]
    assert event["message"] == f"{spec['holderIdentity']} became leader"
    assert event["involvedObject"]["kind"] == "Lease" and event["involvedObject"]["name"] == "ccm"
    one.stop()
    spec = pair.lease()["spec"]
    assert (spec.get("holderIdentity", ""), spec["leaseDurationSeconds"]) == ("", 1)
    mark = pair.world.kube.mark()
    pair.start("two", election="")
    wait(lambda: pair.leads("two"), "the next one")
    assert [verb for _, verb in pair.asked(mark)][:2] == ["GET", "UPDATE"]  # at once, without a second look
    assert pair.lease()["spec"]["leaseTransitions"] == 1


def test_off_means_no_lease(pair):
    pair.start("one", election="enabled = false;")
    busy(pair, 1)
    wait(lambda: addresses(pair) == 1, "work")
    assert pair.lease() is None


def test_a_standby_waits_and_takes_over_within_3_s(pair):
    with pair.versions() as versions:
        one = pair.start("one", election="")
        wait(lambda: pair.leads("one"), "the lease")
        two = pair.start("two", election="")
        busy(pair, 5)
        wait(lambda: addresses(pair) == 5, "work")
        wait(lambda: "is held by" in two.err(), "the other one to stand by")
        assert pair.writes("one") and not pair.ways["two"].requests
        # A look at least every retry period, which is 2 s: seen at least once without anything that held it up.
        wait(lambda: any(later - look <= 2 for look, later in itertools.pairwise(pair.looks())), "looks of the one that stands by")
        began = time.time()
        one.popen.send_signal(signal.SIGTERM)
        pair.world.kube.create(objects.service("late", PORTS))
        first = wait(lambda: pair.writes("two"), "the first write of the new leader")[0]
        assert one.wait_exit() == 0
        assert first - began < 3 * proc.SLOW  # idle machines: figure failover-after-sigterm of make bench
        wait(lambda: addresses(pair) == 6, "the late one")
        # The Lease is given back before its time, and the very next look takes it: that is what makes it fast.
        holders = [""]
        while holders[-1] != pair.holder():
            holders.append(versions.event()["object"]["spec"].get("holderIdentity", ""))
    assert [bool(holder) for holder, _ in itertools.groupby(holders)] == [False, True, False, True], holders
    written = [call for call in pair.requests() if call["action"].startswith(("CREATE ", "UPDATE "))]
    given_back, taken = written[holders.index("", 1) - 1], written[len(holders) - 2]
    assert written.index(taken) == written.index(given_back) + 1
    done = given_back["t"] + given_back["ms"] / 1000  # a look that came before may have found the old holder
    assert len([t for t in pair.looks() if done < t < taken["t"]]) <= 1


def test_a_leader_that_was_paused_writes_nothing_more(pair):
    one = pair.start("one")
    wait(lambda: pair.leads("one"), "the lease")
    two = pair.start("two", LONG)
    wait(lambda: "is held by" in two.err(), "the other one to stand by")
    busy(pair)
    wait(lambda: len(pair.writes("one")) > 10, "writes")
    one.popen.send_signal(signal.SIGSTOP)
    wait(lambda: pair.leads("two"), "the other one")
    wait(lambda: pair.writes("two"), "work of the other one")
    sent = len(pair.ways["one"].requests)
    one.popen.send_signal(signal.SIGCONT)
    assert one.wait_exit() == 1
    assert "leader election lost" in one.err()
    wait(lambda: addresses(pair) == SERVICES, "all addresses", timeout=60)
    assert pair.ways["one"].requests[sent:] == []
    assert len(pair.world.cloud.load_balancers()) == SERVICES


def test_a_leader_whose_renewal_is_late_waits(pair):
    """Well before the Lease is lost: what it knows of the others is as old as its last renewal."""
    kube = pair.world.kube
    pair.start("one", "lease_duration_s = 40;")
    wait(lambda: pair.leads("one"), "the lease")
    kube.fault(action="UPDATE */leases/ccm", count=100000, http=503)
    wait(lambda: len([c for c in kube.calls() if c["http"] == 503]) > 3, "renewals that fail")
    before = len(pair.writes("one"))  # of the start
    busy(pair, 2)
    mark = kube.mark()
    wait(lambda: len([c for c in kube.calls(mark) if c["http"] == 503]) > 2, "more of them")
    assert len(pair.writes("one")) == before
    kube.clear_faults()
    wait(lambda: addresses(pair) == 2, "all addresses", timeout=60)
    renewed = [t for t, verb in pair.asked(mark) if verb != "GET"]
    assert min(pair.writes("one")[before:]) >= renewed[0]


def test_the_last_second_of_a_lease_is_used(pair):
    """One renewal fails when the next one would be due too late: it is made earlier, and the leader stays."""
    one = pair.start("one", "lease_duration_s = 8;")
    wait(lambda: pair.leads("one"), "a leader")
    for _ in range(2):
        pair.world.kube.fault(action="UPDATE */leases/ccm", count=1, http=503)
        renewed = pair.lease()["spec"]["renewTime"]
        wait(lambda r=renewed: pair.lease()["spec"]["renewTime"] != r, "a renewal")
    assert one.alive() and "lost" not in one.err()


def test_a_leader_that_cannot_renew_ends(pair):
    one = pair.start("one")
    wait(lambda: pair.leads("one"), "the lease")
    busy(pair)
    wait(lambda: pair.writes("one"), "writes")
    mark = pair.world.kube.mark()
    pair.world.kube.fault("UPDATE *leases*", count=100000, code="InternalError", http=500)
    assert one.wait_exit() == 1
    refused = [c for c in pair.world.kube.calls(mark) if c["action"].startswith("UPDATE ") and "leases" in c["path"]]
    assert len(refused) >= 2  # it has tried again
    renewed = pair.asked()[-1]
    assert renewed[1] == "UPDATE" or renewed[1] == "CREATE"
    assert max(pair.signed("one")) <= renewed[0] + 2  # the deadline counts from before that request was sent
    pair.start("two", LONG)
    wait(lambda: "cannot be read or taken" in pair.running["two"].err(), "a refusal")
    pair.world.kube.clear_faults()
    wait(lambda: addresses(pair) == SERVICES, "all addresses", timeout=60)


@pytest.mark.parametrize("renewed", ["2000-01-01T00:00:00.000000Z", "2100-01-01T00:00:00.000000Z"])
def test_clocks_of_others_do_not_matter(pair, renewed):
    rival = {
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "ccm", "namespace": "kube-system", "labels": {"kept": "yes"}},
        "spec": {"holderIdentity": "rival", "leaseDurationSeconds": 2, "acquireTime": renewed, "renewTime": renewed,
                 "leaseTransitions": 7},
    }
    pair.world.kube.http.request("POST", LEASES, rival)
    pair.start("one", LONG)
    wait(lambda: "is held by rival" in pair.running["one"].err(), "a look at it")
    wait(lambda: pair.leads("one"), "the lease")
    asked = pair.asked()
    looked = next(t for t, verb in asked if verb == "GET")
    taken = next(t for t, verb in asked if verb == "UPDATE")
    assert taken - looked >= 2  # its own duration, from when it was seen
    lease = pair.lease()
    assert lease["spec"]["leaseTransitions"] == 8
    assert lease["metadata"]["labels"] == {"kept": "yes"}


def test_a_rival_that_takes_the_lease_by_force(pair):
    one = pair.start("one", LONG)
    wait(lambda: pair.leads("one"), "the lease")
    taken = pair.lease()
    taken["spec"]["holderIdentity"] = "thief"
    pair.world.kube.http.request("PATCH", LEASES + "/ccm", {"spec": taken["spec"]}, "application/merge-patch+json")
    assert one.wait_exit() == 1
    assert "it is held by thief" in one.err()
    assert pair.holder() == "thief"


def test_deleted_and_written_anew(pair):
    pair.start("one", LONG)
    wait(lambda: pair.leads("one"), "the lease")
    pair.world.kube.http.request("DELETE", LEASES + "/ccm")
    wait(lambda: pair.holder() and pair.leads("one"), "a new Lease")
    busy(pair, 1)
    wait(lambda: addresses(pair) == 1, "work goes on")


def test_deleted_again_and_again(pair):
    """A standby that has seen a leader does not take a Lease that is gone: the leader may still write, and writes it anew."""
    pair.start("one", MEDIUM)
    wait(lambda: pair.leads("one"), "the lease")
    leader = pair.holder()
    two = pair.start("two", MEDIUM)
    wait(lambda: f"is held by {leader}" in two.err(), "the other one to stand by")
    for _ in range(10):
        pair.world.kube.http.request("DELETE", LEASES + "/ccm")
        wait(lambda: pair.holder() == leader, "the same leader")
        since = pair.world.kube.mark()  # a leader does not read
        wait(lambda since=since: [c for c in pair.world.kube.calls(since) if c["action"].startswith("GET ") and "leases" in c["path"]
                                  and c["http"] == 200], "the standby to see it")
    assert "leads now" not in two.err() and pair.running["one"].alive()
    pair.running["one"].kill()  # and when nobody writes it anew, it is taken when the time of the leader is over
    pair.world.kube.http.request("DELETE", LEASES + "/ccm")
    wait(lambda: pair.leads("two"), "the other one")
    asked = pair.asked()
    gone = max(n for n, (_, verb) in enumerate(asked) if verb == "DELETE")
    made = next(t for t, verb in asked[gone:] if verb == "CREATE")
    last = max(n for n, (_, verb) in enumerate(asked[:gone]) if verb == "GET")  # only the standby reads
    written = max(n for n, (_, verb) in enumerate(asked[:last]) if verb in ("CREATE", "UPDATE"))
    seen = next(t for t, verb in asked[written:] if verb == "GET")
    assert made - seen >= 6  # what it has seen last counts for 6 s from then on


def test_nobody_is_told_to_lead_itself(pair):
    """The log says who else holds the Lease, and who leads."""
    one = pair.start("one", LONG)
    wait(lambda: pair.leads("one"), "the lease")
    leader = pair.holder()
    two = pair.start("two", LONG)
    wait(lambda: f"kube-system/ccm is held by {leader}\n" in two.err(), "the other one to stand by")
    one.stop()
    wait(lambda: pair.leads("two"), "the next one")
    assert "is held by" not in one.err().partition("stopping on")[0]
    held = [line.rpartition("is held by ")[2] for line in two.err().splitlines() if "is held by" in line]
    assert held == [leader, "nobody"]


@pytest.mark.parametrize("spec, wait_s", [
    ({"leaseDurationSeconds": None}, 6),
    ({"leaseDurationSeconds": 3600, "renewTime": None, "holderIdentity": None}, 0),
    ({"leaseTransitions": 2147483647}, 2),
    ({"holderIdentity": "x" * 100000 + "\n<b>"}, 2),
    ({"renewTime": "2261-12-31T23:59:59.999999Z", "acquireTime": "1971-01-01T00:00:00.000000Z"}, 2),
])
def test_a_lease_with_strange_content(pair, spec, wait_s):
    """It is taken when its time is over by our clock, without a word about its time as one like our own."""
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "ccm", "namespace": "kube-system"},
             "spec": {"holderIdentity": "rival", "leaseDurationSeconds": 2, "leaseTransitions": 7, **spec}}
    lease["spec"] = {key: value for key, value in lease["spec"].items() if value is not None}
    pair.world.kube.http.request("POST", LEASES, lease)
    began = time.monotonic()
    one = pair.start("one", MEDIUM)
    wait(lambda: pair.leads("one"), "the lease")
    assert time.monotonic() - began >= wait_s
    assert pair.lease()["spec"]["leaseTransitions"] == min(lease["spec"]["leaseTransitions"] + 1, 2147483647)
    assert max(len(line) for line in one.err().splitlines()) < 1000
    busy(pair, 1)
    wait(lambda: addresses(pair) == 1, "work")


def test_leases_alone_are_forbidden(pair):
    """What is missing is said, once, and heals by itself."""
    pair.world.kube.fault("*leases*", count=100000, code="Forbidden", http=403)
    one = pair.start("one")
    said = "kube-system/ccm: cannot be read or taken: get, create and update of leases in namespace kube-system are needed: "
    wait(lambda: said in one.err(), "the line")
    wait(lambda: "are needed" in pair.world.admin("/readyz", one)[1], "the same at /readyz")
    since = pair.world.kube.mark()
    wait(lambda: len([a for a in pair.world.kube.actions(since) if "leases" in a]) > 3, "further tries")
    assert one.err().count("are needed") == 1
    pair.world.kube.clear_faults()
    wait(lambda: pair.leads("one"), "the lease")
    pair.world.kube.fault("*leases*", count=100000, code="Forbidden", http=403)
    assert one.wait_exit() == 1
    assert "kube-system/ccm: cannot be renewed: get, create and update of leases" in one.err()
