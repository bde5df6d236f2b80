"""A person edits a Service: each annotation reaches the cloud when it is added, changed and taken away, without a restart;
and whatever somebody did in the console, an edit of any annotation leaves the cloud as a fresh start would.

CCM_TEST_SEED chooses other random Services and console edits; the seed in use is part of the failure.
"""

import os
import random
import re

import pytest

from tests.support import objects, views
from tests.support.products import PREFIX, PRODUCTS
from tests.support.rows import ELSEWHERE, ROWS
from tests.support.world import World

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEED = int(os.environ.get("CCM_TEST_SEED", "20261"))
HASH = "service.beta.kubernetes.io/hash"
CERT = {"clb": "cert-valid", "nlb": "101-cn-hangzhou"}
PORTS = {"tcp": (80, "TCP"), "udp": (53, "UDP"), "http": (8080, "TCP"), "https": (443, "TCP"), "tcpssl": (443, "TCP")}


@pytest.fixture
def world(build, tmp_path):
    room = [f"--limit={name}=1000" for product in PRODUCTS.values() for name in product.limits]
    with World(build, tmp_path, cloud_args=room) as instance:
        quotas = " ".join(f"{name} = 1000000;" for product in PRODUCTS.values() for name in product.quotas if name not in (
            "vpc", "ecs"))
        instance.config = instance.write_config(
            plugins='{ name = "clb"; workers = 8; }, { name = "nlb"; workers = 8; }',
            alicloud=f"quotas: {{ {quotas} vpc = 1000000; ecs = 1000000; }};")
        views.nodes(instance, 3)
        yield instance


def call(world, product, action, **params):
    done = world.cloud.edit("call", product=product, action=action,
                            params={key.replace("__", "."): str(value) for key, value in params.items()})
    assert done["http"] == 200, f"{action}: {done}"
    return done["answer"]


def annotations_of(product, protocols, told):
    """With what ports of such protocols need."""
    odd = [f"{protocol}:{PORTS[protocol][0]}" for protocol in protocols if protocol not in ("tcp", "udp")]
    more = {"protocol-port": ",".join(odd)} if odd else {}
    if "https" in protocols or "tcpssl" in protocols:
        more["cert-id"] = CERT[product]
    return {PREFIX + key: value for key, value in {**more, **told}.items() if value is not None}


def ensured(world, names, before=None):
    """Each Service carries a hash, another one than before."""
    def done():
        refused = [f"{event['involvedObject']['name']}: {event['message']}" for event in world.kube.items("Event")
                   if event["reason"] == "SyncLoadBalancerFailed"]
        assert not refused, f"seed {SEED}: " + "; ".join(refused)
        live = {one["metadata"]["name"]: one["metadata"].get("labels", {}).get(HASH) for one in world.kube.items("Service")}
        return all(live[name] and live[name] != (before or {}).get(name) for name in names)
    return done


def hashes(world):
    return {one["metadata"]["name"]: one["metadata"].get("labels", {}).get(HASH) for one in world.kube.items("Service")}


# --- every row ---


class Walked:
    """A row for one protocol, and the Service that it is shown with."""

    def __init__(self, product, row, protocol, acl, number):
        self.product, self.row, self.protocol = PRODUCTS[product](), row, protocol
        self.name = f"{product}-{number}-{protocol}"
        self.key = PREFIX + row.suffix
        told = {key: acl if value == "$(acl)" else value for key, value in row.base.items()}
        self.service = self.product.new(self.name, [PORTS[protocol]], annotations=annotations_of(product, [protocol], told))

    def shown(self, state):
        lb = next(one for one in self.product.load_balancers(state, {}) if one["Tags"].get("kubernetes.do.not.delete") == self.tag)
        item = {"lb": [lb], "listener": lb["Listeners"], "group": lb["Groups"]}[self.row.kind][0]
        return item.get(self.row.field)

    def fits(self, state, value):
        wanted = value[1] if isinstance(value, tuple) else value
        shown = self.shown(state)
        if isinstance(wanted, dict):
            return wanted.items() <= shown.items()
        return str(shown).lower() == wanted.lower()

    def text(self, value):
        return value[0] if isinstance(value, tuple) else value


@pytest.mark.parametrize("product", sorted(ROWS))
def test_every_row_arrives_without_a_restart(world, product):
    acl = call(world, "slb", "CreateAccessControlList", AclName="mine")["AclId"]
    call(world, "slb", "AddAccessControlListEntry", AclId=acl, AclEntrys='[{"entry":"10.0.0.0/8","comment":"x"}]')
    walked = [Walked(product, row, protocol, acl, number) for number, row in enumerate(ROWS[product]) for protocol in row.protocols]
    world.kube.create(*[one.service for one in walked])
    world.start_ccmd()
    names = [one.name for one in walked]
    world.wait(ensured(world, names), "all load balancers", timeout=60, every=0.1)
    for one in walked:
        one.tag = "a" + world.kube.get("Service", one.name)["metadata"]["uid"].replace("-", "")[:31]
    for at in range(2):  # added, changed
        before = hashes(world)
        for one in walked:
            world.kube.patch("Service", one.name, {"metadata": {"annotations": {one.key: one.text(one.row.values[at])}}})

        def missing():
            state = world.cloud.state()
            return [f"{one.name} {one.row.suffix}: {one.shown(state)}" for one in walked if not one.fits(state, one.row.values[at])]

        world.wait(ensured(world, names, before), "all hashes", timeout=60, every=0.1)
        assert missing() == []
    before = hashes(world)
    for one in walked:  # what was there before it, or nothing
        world.kube.patch("Service", one.name, {"metadata": {"annotations": {one.key: one.row.base.get(one.row.suffix)}}})
    gone = [one.name for one in walked if one.row.base.get(one.row.suffix) != one.text(one.row.values[1])]
    world.wait(ensured(world, gone, before), "all load balancers", timeout=60, every=0.1)
    world.settled()
    if product == "nlb":  # switches and numbers go back there
        state = world.cloud.state()
        wanted = {"Cps": "0", "ProxyProtocolEnabled": "false", "HealthyThreshold": "2", "CrossZoneEnabled": "true"}
        shown = [(one.name, str(one.shown(state)).lower(), wanted[one.row.field]) for one in walked if one.row.field in wanted]
        assert len(shown) >= 7 and not [one for one in shown if one[1] != one[2]]


def test_rows_are_complete():
    """Every annotation that can be changed later and has a place in the cloud is walked, or shown elsewhere."""
    with open(os.path.join(ROOT, "docs", "annotations.md"), encoding="utf-8") as file:
        text = file.read().split("## Backends")[0]
    for line in re.findall(r"^\| `.*$", text, re.M):
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        suffix, kinds = cells[0].strip("`"), {"both": ("clb", "nlb")}.get(cells[1], (cells[1].lower(),))
        for kind in kinds:
            walked = any(row.suffix == suffix for row in ROWS[kind])
            assert walked or suffix in ELSEWHERE or "no" in cells[4:6], f"{kind}: {suffix} is nowhere shown to arrive"


# --- random console edits ---


class Drift:
    """Random Services of both products, and somebody at the console."""

    def __init__(self, world, seed):
        self.world, self.random = world, random.Random(seed)
        self.kinds = {}
        self.log = []

    def create(self, count):
        for number in range(count):
            kind = "clb" if number % 2 else "nlb"
            protocols = self.random.sample(("tcp", "udp", "http", "https") if kind == "clb" else ("tcp", "udp", "tcpssl"),
                                           self.random.randint(1, 3))
            told = {}
            rows = [row for row in ROWS[kind] if not row.base and (
                row.kind == "lb" or set(protocols) <= set(row.protocols))]
            for row in self.random.sample(rows, self.random.randint(0, min(6, len(rows)))):
                value = self.random.choice(row.values)
                told[row.suffix] = value[0] if isinstance(value, tuple) else value
            name = f"{kind}-{number}"
            self.kinds[name] = kind
            self.world.kube.create(PRODUCTS[kind]().new(
                name, [PORTS[protocol] for protocol in protocols], annotations=annotations_of(kind, protocols, told)))

    def drift(self):
        state = self.world.cloud.state()
        for kind in ("clb", "nlb"):
            for lb in PRODUCTS[kind]().load_balancers(state, {}):
                for change in self.random.sample(self.CHANGES[kind], self.random.randint(0, 4)):
                    change(self, lb)

    def do(self, what, *args, **params):
        self.log.append((what, args, params))
        return call(self.world, *args, **params) if what == "call" else self.world.cloud.edit(what, **params)

    # CLB

    def _clb_listener(self, lb):
        return self.random.choice(lb["Listeners"])

    def clb_delete_listener(self, lb):
        one = lb["Listeners"].pop(self.random.randrange(len(lb["Listeners"]))) if len(lb["Listeners"]) > 1 else None
        if one:
            self.do("delete", type="listener", load_balancer=lb["LoadBalancerId"], port=one["ListenerPort"], protocol=one[
                "ListenerProtocol"])

    def clb_stop_listener(self, lb):
        one = self._clb_listener(lb)
        self.do("call", "slb", "StopLoadBalancerListener", LoadBalancerId=lb["LoadBalancerId"], ListenerPort=one["ListenerPort"],
                ListenerProtocol=one["ListenerProtocol"])

    def clb_change_listener(self, lb):
        one = self._clb_listener(lb)
        rows = [row for row in ROWS["clb"] if row.kind == "listener" and not row.base and one["ListenerProtocol"] in row.protocols]
        row = self.random.choice(rows)
        value = self.random.choice(row.values)
        self.do("update", type="listener", load_balancer=lb["LoadBalancerId"], port=one["ListenerPort"], protocol=one[
            "ListenerProtocol"], attributes={row.field: value[1] if isinstance(value, tuple) else value})

    def _clb_backend(self, lb):
        group = self.random.choice(lb["VServerGroups"])
        return group, self.random.choice(group["BackendServers"]) if group["BackendServers"] else None

    def clb_remove_backend(self, lb):
        group, server = self._clb_backend(lb)
        if server:
            group["BackendServers"].remove(server)
            self.do("delete", type="backend", vserver_group=group["VServerGroupId"], server_id=server["ServerId"], port=server["Port"])

    def clb_weigh_backend(self, lb):
        group, server = self._clb_backend(lb)
        if server:
            self.do("update", type="backend", vserver_group=group["VServerGroupId"], server_id=server["ServerId"],
                    port=server["Port"], attributes={"Weight": self.random.randint(0, 100)})

    def clb_rename(self, lb):
        self.do("call", "slb", "SetLoadBalancerName", LoadBalancerId=lb["LoadBalancerId"], LoadBalancerName="drifted")

    def clb_protection(self, lb):
        self.do("call", "slb", "SetLoadBalancerDeleteProtection", LoadBalancerId=lb["LoadBalancerId"],
                DeleteProtection=self.random.choice(("on", "off")))

    def clb_modification(self, lb):
        self.do("call", "slb", "SetLoadBalancerModificationProtection", LoadBalancerId=lb["LoadBalancerId"],
                ModificationProtectionStatus="NonProtection")

    def clb_tags(self, lb):
        self.do("update", type="loadbalancer", id=lb["LoadBalancerId"], tags=self.random.choice(({"a": None}, {"a": "9"}, {"cost": "b"})))

    # NLB

    def nlb_delete_listener(self, lb):
        one = lb["Listeners"].pop(self.random.randrange(len(lb["Listeners"]))) if len(lb["Listeners"]) > 1 else None
        if one:
            self.do("delete", type="nlblistener", id=one["ListenerId"])

    def nlb_stop_listener(self, lb):
        self.do("call", "nlb", "StopListener", ListenerId=self.random.choice(lb["Listeners"])["ListenerId"])

    def nlb_change_listener(self, lb):
        self.do("call", "nlb", "UpdateListenerAttribute", ListenerId=self.random.choice(lb["Listeners"])["ListenerId"],
                **self.random.choice(({"IdleTimeout": 19}, {"Cps": 77}, {"ListenerDescription": "by-hand"})))

    def nlb_change_group(self, lb):
        self.do("call", "nlb", "UpdateServerGroupAttribute", ServerGroupId=self.random.choice(lb["Groups"])["ServerGroupId"],
                **self.random.choice(({"Scheduler": "Wlc"}, {"ConnectionDrainEnabled": "true", "ConnectionDrainTimeout": 33},
                                      {"HealthCheckConfig__HealthCheckEnabled": "false"})))

    def _nlb_server(self, lb):
        group = self.random.choice(lb["Groups"])
        server = self.random.choice(group["Servers"]) if group["Servers"] else None
        return group, server, {} if server is None else {
            "ServerGroupId": group["ServerGroupId"], "Servers__1__ServerId": server["ServerId"],
            "Servers__1__ServerType": server["ServerType"], "Servers__1__Port": server["Port"]}

    def nlb_remove_server(self, lb):
        group, server, params = self._nlb_server(lb)
        if server:
            group["Servers"].remove(server)
            self.do("call", "nlb", "RemoveServersFromServerGroup", **params)

    def nlb_weigh_server(self, lb):
        _, server, params = self._nlb_server(lb)
        if server:
            self.do("call", "nlb", "UpdateServerGroupServersAttribute", **params, Servers__1__Weight=self.random.randint(0, 100))

    def nlb_rename(self, lb):
        self.do("call", "nlb", "UpdateLoadBalancerAttribute", LoadBalancerId=lb["LoadBalancerId"], LoadBalancerName="drifted")

    def nlb_protection(self, lb):
        self.do("call", "nlb", "UpdateLoadBalancerProtection", LoadBalancerId=lb["LoadBalancerId"], DeletionProtectionEnabled="false",
                ModificationProtectionStatus="NonProtection")

    def nlb_tags(self, lb):
        self.do("call", "nlb", "TagResources", ResourceType="loadbalancer", ResourceId__1=lb["LoadBalancerId"],
                Tag__1__Key=self.random.choice(("a", "cost")), Tag__1__Value="9")

    CHANGES = {
        "clb": [clb_delete_listener, clb_stop_listener, clb_change_listener, clb_change_listener, clb_remove_backend,
                clb_weigh_backend, clb_rename, clb_protection, clb_modification, clb_tags],
        "nlb": [nlb_delete_listener, nlb_stop_listener, nlb_change_listener, nlb_change_group, nlb_remove_server,
                nlb_weigh_server, nlb_rename, nlb_protection, nlb_tags],
    }

    def edit(self):
        """One edit of each Service: of an annotation that means nothing, or one of its own goes."""
        for name in self.kinds:
            live = self.world.kube.get("Service", name)["metadata"].get("annotations", {})
            plain = {row.suffix for row in ROWS[self.kinds[name]] if not row.base}
            own = [key for key in live if key.removeprefix(PREFIX) in plain]
            change = {"example.com/looked-at": str(self.random.random())}
            if own and self.random.random() < 0.3:
                change = {self.random.choice(own): None}
            self.world.kube.patch("Service", name, {"metadata": {"annotations": change}})


def content(world):
    state = world.cloud.state()
    return {name: state[name] for name in ("loadBalancers", "nlbLoadBalancers", "nlbServerGroups")}


@pytest.mark.parametrize("round_", range(2))
def test_an_edit_leaves_what_a_fresh_start_makes(world, round_):
    seed = SEED + round_
    drift = Drift(world, seed)
    world.start_ccmd()
    drift.create(24)
    world.wait(ensured(world, drift.kinds), f"all load balancers (seed {seed})", timeout=60, every=0.1)
    world.settled()
    drift.drift()
    before = hashes(world)
    since = world.cloud.mark()
    drift.edit()
    world.wait(ensured(world, drift.kinds, before), f"all hashes (seed {seed})", timeout=60, every=0.1)
    world.settled()
    made = content(world)
    assert [action for action in world.cloud.actions(since) if not action.startswith(("Describe", "List", "Get"))], f"seed {seed}"
    world.kill_ccmd()
    since = world.cloud.mark()
    world.start_ccmd()
    world.wait(lambda: world.cloud.actions(since), "the inventory")
    world.settled()
    writes = [one for one in world.cloud.calls(since) if not one["action"].startswith(("Describe", "List", "Get"))]
    assert writes == [], f"seed {seed}: a fresh start has something to do: {writes}\n{drift.log}"
    assert content(world) == made, f"seed {seed}"
