"""The wall clock of the machine is set while ccmd runs: by an hour ahead, an hour back, and right again. What counts time goes on; what
the cloud refuses because of its time is told, and done as soon as the clock is right."""

import contextlib
import datetime
import html
import json
import mmap
import os
import re
import struct
import time

import pytest

from tests.support import objects, proc, views
from tests.support.world import ACCESS_KEY, ACCESS_SECRET, World, wait

HOUR = 3600
PORTS = ((80, "TCP"),)
SHORT = "lease_duration_s = 3;"
REFUSED = "InvalidTimeStamp.Expired"
LOOKING = '{ name = "clb"; workers = 4; audit_interval_s = 1; }'  # there is a call each second
NOTHING = {"ACCESS_KEY_ID": "", "ACCESS_KEY_SECRET": ""}


class Clock:
    """The wall clock of the processes that are started with .env: off by what set() says, from that moment on."""

    def __init__(self, build, path):
        with open(path, "wb") as file:
            file.write(bytes(8))
        with open(path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 8)
        options = " ".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]))
        self.env = {"LD_PRELOAD": os.path.join(build, "tests", "support", "shifted-clock.so"), "CCM_TEST_CLOCK": str(path),
                    "ASAN_OPTIONS": options}
        self.off = 0

    def set(self, seconds):
        self.off = seconds
        struct.pack_into("q", self.page, 0, seconds * 1000)

    def close(self):
        self.page.close()


class ShiftedCloud(World):
    """A world whose cloud has the clock of ccmd: it takes what is signed."""

    clock = None

    def _start(self, name, args, env=None):
        return super()._start(name, args, self.clock.env if name == "cloudsim" else env)


@pytest.fixture
def clock(build, tmp_path):
    with contextlib.closing(Clock(build, tmp_path / "clock")) as instance:
        yield instance


@pytest.fixture
def shifted(build, tmp_path, clock):
    world = ShiftedCloud(build, tmp_path / "world")
    world.clock = clock
    with world:
        views.nodes(world, 1)
        yield world


def stamp(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def lease(world):
    return next((lease["spec"] for lease in world.kube.state()["leases"] if lease["metadata"]["name"] == "ccm"), None)


def serves(world, name, timeout=15.0, **options):
    world.kube.create(objects.service(name, PORTS, **options))
    world.wait(lambda: world.kube.ingress(name), f"an address of {name}", timeout)


def processor_s(process):
    """Seconds of processor time that it has used."""
    with open(f"/proc/{process.popen.pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def audits(world):
    return sum(value for name, value in world.metrics().items() if name.startswith("ccmd_audits_total"))


def renewals(world, since):
    return [c for c in world.kube.calls(since) if c["action"].startswith("UPDATE ") and "leases" in c["path"]]


def failures(world):
    return world.metrics().get('controller_runtime_reconcile_errors_total{controller="clb"}', 0)


# --- the leader ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def leader(shifted):
    """A leader whose clock will be set, and a standby whose clock is right."""
    config = shifted.write_config(election=SHORT, plugins=LOOKING, log_level="info")
    first = shifted.start_ccmd(config, env=shifted.clock.env)
    wait(lambda: "leads now" in first.err(), "the lease")
    shifted.ccmd = None
    second = shifted.start_ccmd(config)
    wait(lambda: "is held by" in second.err(), "the other one to stand by")
    shifted.processes.append(second)
    shifted.ccmd = first
    serves(shifted, "web")
    yield shifted, first, second


def rate_of_work(world, process, renewed=6):
    """What happens while the Lease is renewed a few times: calls per renewal, processor per second."""
    since, cloud, began, used = world.kube.mark(), world.cloud.mark(), time.monotonic(), processor_s(process)
    wait(lambda: len(renewals(world, since)) >= renewed, "renewals", timeout=renewed)
    took = time.monotonic() - began
    return {"kube": len(world.kube.calls(since)) / renewed, "cloud": len(world.cloud.calls(cloud)) / took,
            "processor": (processor_s(process) - used) / took, "renewal_s": took / renewed}


def test_a_leader_keeps_the_lease(leader):
    world, first, second = leader
    before = lease(world)
    calm = rate_of_work(world, first)
    for number, off in enumerate((HOUR, -HOUR, 0)):
        looks, since = audits(world), world.kube.mark()
        world.clock.set(off)
        rate = rate_of_work(world, first)
        # nothing stands still: renewals, audits, watches (also a new one), work
        assert rate["renewal_s"] < 2 * max(calm["renewal_s"], 0.5), (calm, rate)
        world.wait(lambda looks=looks: audits(world) > looks, "an audit", timeout=10)
        serves(world, f"web-{number}")
        world.kube.watches("drop", "services")
        serves(world, f"again-{number}")
        # nothing runs wild; a look at a Service takes four calls, and comes after 0.8 s at least
        assert rate["processor"] < 0.5 and rate["kube"] < calm["kube"] + 3 and rate["cloud"] < 5 * (2 * number + 1) + 5, (calm, rate)
        # the Lease is as it was, with the time of the machine
        now = lease(world)
        assert {k: now[k] for k in now if k != "renewTime"} == {k: before[k] for k in before if k != "renewTime"}
        assert abs(stamp(now["renewTime"]) - time.time() - off) < 3 * proc.SLOW
        assert all(c["http"] == 200 for c in renewals(world, since))
    assert "leads now" not in second.err() and "lost" not in first.err()
    told_steps = lambda: [int(s) for s in re.findall(r"warn +ccmd: the clock of this machine was set: by ([+-]\d+) s", first.err())]
    world.wait(lambda: told_steps() and sum(told_steps()) == 0, "all of it to be told; what follows quickly is told as one")
    assert "was set" not in second.err()


def test_the_standby_takes_over_when_it_should(leader):
    """Neither the clock of the old leader nor its own counts: the time that has passed does."""
    world, first, second = leader
    world.clock.set(-HOUR)
    world.wait(lambda: abs(stamp(lease(world)["renewTime"]) - time.time() + HOUR) < 60, "a renewal")
    world.ccmd = None
    first.kill()
    killed = time.monotonic()
    wait(lambda: "leads now" in second.err(), "the other one")
    assert time.monotonic() - killed > 1.5
    assert lease(world)["leaseTransitions"] == 1


@pytest.mark.parametrize("off", [HOUR, -HOUR])
def test_a_standby_whose_clock_is_set_waits(shifted, off):
    config = shifted.write_config(election=SHORT, log_level="info")
    first = shifted.start_ccmd(config)
    wait(lambda: "leads now" in first.err(), "the lease")
    shifted.processes.append(first)
    second = shifted.start_ccmd(config, env=shifted.clock.env)
    wait(lambda: "is held by" in second.err(), "the other one to stand by")
    before = lease(shifted)
    shifted.clock.set(off)
    shifted.wait(lambda: "the clock of this machine was set" in second.err(), "it to see that")
    since = shifted.kube.mark()
    wait(lambda: len(renewals(shifted, since)) >= 8, "renewals, for longer than the Lease lasts")  # 8 x 0.5 s
    assert "leads now" not in second.err()
    assert {**lease(shifted), "renewTime": ""} == {**before, "renewTime": ""}


def test_uptime_is_that_of_the_process(world, clock):
    world.start_ccmd(env=clock.env)
    world.wait(lambda: "up for" in world.admin("/statusz")[1], "the page")
    for off in (10 * HOUR, -10 * HOUR):
        clock.set(off)
        up = re.search(r"up for (\d+) (\w+)", world.admin("/statusz")[1])
        assert int(up.group(1)) < 110 and up.group(2) == "s", up.group(0)


# --- pauses -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("off", [HOUR, -HOUR])
def test_pauses_last_as_long_as_before(shifted, off):
    """A retry that waits for a second comes after that, not an hour later; what waits for ten minutes is tried once, since the
    clock may have been the reason, and then waits again."""
    shifted.start_ccmd(env=shifted.clock.env)
    serves(shifted, "web")
    shifted.kube.create(objects.service("bad", PORTS, annotations={
        "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type": "internet-or-so"}))
    shifted.wait(lambda: shifted.metrics().get('ccmd_failing_objects{plugin="clb"}') == 1, "the refusal")
    shifted.settled()
    refused = failures(shifted)
    shifted.clock.set(off)
    shifted.wait(lambda: failures(shifted) > refused, "the one further try")
    shifted.cloud.fault(action="CreateLoadBalancer", count=4, code="InternalError", http=500)  # more than one call repeats
    serves(shifted, "late", timeout=20)
    shifted.settled()
    metrics = shifted.metrics()
    assert metrics['ccmd_reconcile_failures_total{plugin="clb",kind="terminal"}'] == refused + 1, metrics
    reasons = [e["reason"] for e in shifted.kube.items("Event") if e["involvedObject"]["name"] == "late"]
    assert "EnsuredLoadBalancer" in reasons, reasons
    names = [e["metadata"]["name"] for e in shifted.kube.items("Event")]
    assert len(names) == len(set(names))


# --- the cloud refuses --------------------------------------------------------------------------------------------------


def refusals(world, since=0):
    """Calls that the cloud refused for their time."""
    return [c for c in world.cloud.calls(since) if c.get("code") == REFUSED]


def told(off):
    return f"the clock of the machine that ccmd runs on is {abs(off) // 60} min {'ahead of' if off > 0 else 'behind'} the cloud's"


@pytest.mark.parametrize("off", [HOUR, -HOUR])
def test_calls_of_another_time(world, clock, off):
    """Said where one looks, tried rarely, and done when the clock is right."""
    views.nodes(world, 1)
    world.start_ccmd(world.write_config(), env=clock.env)
    serves(world, "web")
    world.settled()
    since = world.cloud.mark()
    clock.set(off)
    world.wait(lambda: "the clock of this machine was set: by %+d s" % off in world.log(), "the step to be seen")
    world.kube.create(*[objects.service(name, PORTS) for name in ("late", "later")])
    for name in ("late", "later"):
        text = world.wait(lambda n=name: next((e[2] for e in world.kube.events(n) if REFUSED in e[2]), None), "the event")
        assert told(off) in text and "(Set the clock (NTP) of the machine that ccmd runs on.)" in text, text
    world.logged(told(off))
    world.wait(lambda: told(off) in html.unescape(world.admin("/statusz")[1]), "the status page to tell it")
    world.settled()
    tries = len(refusals(world, since))
    assert tries <= 6, tries  # each Service, and once more for the finalizer that it got; the next try comes after 15 s
    assert world.cloud.load_balancers()[0]["LoadBalancerId"] and len(world.cloud.load_balancers()) == 1
    clock.set(0)
    world.wait(lambda: all(world.kube.ingress(name) for name in ("late", "later")), "the addresses", timeout=15)
    world.logged("the clock was set: 2 failing objects are tried again now")
    assert len(refusals(world, since)) <= tries + 4
    for name in ("late", "later"):
        assert len([e for e in world.kube.events(name) if REFUSED in e[2]]) == 1  # one event, however often it was tried


def test_a_difference_that_the_cloud_takes(world, clock):
    """Ten minutes are no reason to complain, nor is anything put right that nobody has asked for."""
    views.nodes(world, 1)
    world.start_ccmd(env=clock.env)
    for number, off in enumerate((600, -600)):
        clock.set(off)
        serves(world, f"web-{number}")
    assert refusals(world) == [] and "the cloud's" not in world.log()


@pytest.mark.parametrize("off", [HOUR, -HOUR])
def test_started_with_a_wrong_clock(world, clock, off):
    views.nodes(world, 1)
    clock.set(off)
    world.kube.create(objects.service("web", PORTS))
    world.start_ccmd(env=clock.env)
    world.wait(lambda: told(off) in world.log(), "the line")
    assert world.cloud.load_balancers() == []
    world.settled()
    assert len(refusals(world)) <= 8
    clock.set(0)
    world.wait(lambda: world.kube.ingress("web"), "the address", timeout=20)


# --- credentials that end -----------------------------------------------------------------------------------------------


def fixtures(path, life_s):
    """A cloud with a RAM role whose credentials last for so many seconds."""
    path.write_text(json.dumps({
        "region": "cn-hangzhou", "vpcs": [{"id": "vpc-1", "cidr": "10.0.0.0/8"}],
        "vswitches": [{"id": "vsw-1", "vpc": "vpc-1", "zone": "cn-hangzhou-a", "cidr": "10.1.0.0/16"}],
        "instances": [{"id": "i-node-1", "ip": "10.1.0.11"}],
        "metadata": {"instance": "i-node-1", "role": "ccmd-role", "expires_in_s": life_s}}))
    return ["--fixtures", str(path)]


def asked(world):
    """How often the metadata service was asked for credentials."""
    return world.metrics().get("cloudprovider_alicloud_api_request_duration_seconds_count"
                               '{product="metadata",request="ram/security-credentials/ROLE"}', 0)


def all_served(world):
    return all(s.get("status", {}).get("loadBalancer", {}).get("ingress") for s in world.kube.state()["services"])


def write_key(path, life_s):
    end = datetime.datetime.fromtimestamp(time.time() + life_s, datetime.timezone.utc)
    with open(path + ".new", "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        json.dump({"access_key_id": ACCESS_KEY, "access_key_secret": ACCESS_SECRET, "expiration": f"{end:%Y-%m-%dT%H:%M:%SZ}"}, file)
    os.rename(path + ".new", path)
    return int(end.timestamp())


def ended(world):
    """Calls that the cloud refused for the end of their token."""
    return [c for c in world.cloud.calls() if c.get("code") == "InvalidSecurityToken.Expired"]


def test_the_last_good_credential_is_kept(world, clock, tmp_path):
    """By a clock that is ahead the new one has ended; the one before serves on until the clock is right."""
    key = str(tmp_path / "key.json")
    first = write_key(key, 2 * HOUR)
    views.nodes(world, 1)
    config = world.write_config(plugins=LOOKING, alicloud=f'credentials: {{ source = "file"; file = "{key}"; }};')
    world.start_ccmd(config, env={**NOTHING, **clock.env})
    serves(world, "web")
    metric = lambda name: world.metrics().get("cloudprovider_alicloud_credential_" + name, 0)
    assert abs(metric("expiry_timestamp_seconds") - first) < 2
    clock.set(600)
    second = write_key(key, 300)
    world.wait(lambda: metric("refresh_failures_total") > 0, "a try")
    began, tries = time.monotonic(), metric("refresh_failures_total")
    world.wait(lambda: metric("refresh_failures_total") > tries, "one more")
    assert time.monotonic() - began > 3  # every 5 s, whoever asks
    assert re.search(r"going on with the present ones: credentials: \S+: expired at \S+Z by the clock of this machine, which may be "
                     r"wrong", world.log())
    serves(world, "kept")
    clock.set(0)
    world.wait(lambda: abs(metric("expiry_timestamp_seconds") - second) < 2, "the new one")
    serves(world, "new")
    assert failures(world) == 0


def test_a_credential_that_ends_earlier_than_thought(build, tmp_path, clock):
    """By a clock that is behind it lives on; the cloud knows better, and nobody notices."""
    with World(build, tmp_path / "world", cloud_args=fixtures(tmp_path / "fixtures.json", 8)) as world:
        views.nodes(world, 1)
        clock.set(-600)
        world.start_ccmd(world.write_config(plugins=LOOKING), env={**NOTHING, **clock.env})
        serves(world, "web")
        world.wait(lambda: ended(world), "the end", timeout=20)
        serves(world, "late")
        assert failures(world) == 0 and asked(world) <= len(ended(world)) + 1


def test_credentials_that_end_while_the_clock_is_wrong(build, tmp_path, clock):
    """New ones have ended by a clock that is an hour ahead: that is told, they are asked for now and then, and taken when it is right."""
    with World(build, tmp_path / "world", cloud_args=fixtures(tmp_path / "fixtures.json", 11)) as world:
        views.nodes(world, 1)
        config = world.write_config(alicloud="quotas: { slb_write = 100000; slb_read = 100000; };")
        world.start_ccmd(config, env={**NOTHING, **clock.env})
        serves(world, "web")
        clock.set(HOUR)
        expired = re.compile(r"RAM role: expired at \S+Z by the clock of this machine, which may be wrong")
        names = (f"more-{n}" for n in range(100))

        def after_one_more(condition, what):
            """One more Service now and then: there is always something to be signed."""
            for name in names:
                world.kube.create(objects.service(name, PORTS))
                with contextlib.suppress(AssertionError):
                    return wait(condition, what, timeout=0.3)
            raise AssertionError(f"there was never {what}")

        after_one_more(lambda: any(expired.search(e[2]) for e in world.kube.events()), "an event")
        began, before = time.monotonic(), asked(world)
        after_one_more(lambda: asked(world) >= before + 2, "further tries")
        assert time.monotonic() - began > 2.5  # every 3 s, however many want to have some
        clock.set(0)
        world.wait(lambda: all_served(world), "all addresses")
