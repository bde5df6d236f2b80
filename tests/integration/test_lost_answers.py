"""A CLB Service with everything on it lives, changes and goes, while the first call of every changing action fails: the
cloud holds after each step what it holds when nothing fails, and nothing twice."""

import json
import os

import pytest

from tests.support import objects, reference, scenario_look as look, views
from tests.support.products import PREFIX, Clb
from tests.support.world import ACCESS_KEY, ACCESS_SECRET, World

pytestmark = pytest.mark.time_scale(10)
FAULTS = {
    "not-sent": {"cut": "before"},
    "answer-lost": {"cut": "after"},
    "throttled": {"code": "Throttling.User", "http": 429, "message": "Request was denied due to user flow control."},
    "storm": {"http": 429, "body": "<html>Too Many Requests</html>"},
    "broken": {"code": "InternalError", "http": 500, "message": "The request processing has failed."},
    "cut-short": {"truncate": 9},
}
MADE = {"AccessControlList", "AccessControlListEntry", "DomainExtension", "LoadBalancer", "VServerGroup",
        "LoadBalancerHTTPListener", "LoadBalancerHTTPSListener", "LoadBalancerUDPListener"}
NOT_FOR_US = {"LoadBalancerId", "VServerGroupId", "VServerGroups", "Listeners", "Address", "CreateTime", "CreateTimeStamp",
              "AclId", "AclIds", "VServerGroupName", "group"}


def annotations(**values):
    return {PREFIX + name.replace("_", "-"): value for name, value in values.items()}


FIRST = annotations(
    protocol_port="http:80,https:443", cert_id="cert-valid", forward_port="80:443", instance_charge_type="PayBySpec",
    domain_extensions="a.example.com:cert-valid", additional_resource_tags="a=1,b=2")
SECOND = annotations(
    name="other", spec="slb.s2.small", charge_type="paybybandwidth", bandwidth="7", delete_protection="off",
    modification_protection="NonProtection", scheduler="wrr", additional_resource_tags="a=2,c=3",
    domain_extensions="a.example.com:cert-other,b.example.com:cert-valid", idle_timeout="20", forward_port="")
THIRD = annotations(domain_extensions="", instance_charge_type="PayByCLCU", delete_protection="on", forward_port="80:443",
                    cert_id="cert-other")
# pods by node: adds, removals and weights in one change
PODS = ({1: 1, 2: 2}, {1: 2, 3: 1}, {3: 3})
PORTS = (((80, "TCP"), (443, "TCP"), (53, "UDP")), ((80, "TCP"), (443, "TCP"), (54, "UDP")), ((80, "TCP"), (443, "TCP")))
RANGES = (["10.0.0.0/8", "192.168.0.0/16"], ["10.0.0.0/8", "172.16.0.0/12"], None)


def picture(world):
    """What the cloud holds, without what is different in every run."""
    state = world.cloud.state()
    lbs = []
    for lb in Clb().load_balancers(state, {}):
        names = {group["id"]: group["name"] for group in lb["Groups"]}
        own = {k: str(v) for k, v in lb.items() if k not in NOT_FOR_US and not isinstance(v, (list, dict))}
        own["LoadBalancerName"] = "default" if own["LoadBalancerName"].startswith("a") else own["LoadBalancerName"]
        tags = {k: v for k, v in lb["Tags"].items() if k != "kubernetes.do.not.delete"}
        listeners = {one["key"]: (names.get(one["group"]), {k: str(v) for k, v in one.items() if k not in NOT_FOR_US})
                     for one in lb["Listeners"]}
        assert len(listeners) == len(lb["Listeners"])
        lbs.append((own, tags, listeners, sorted((group["name"], sorted(group["servers"])) for group in lb["Groups"])))
    domains = sorted((d["ListenerPort"], d["Domain"], d["ServerCertificateId"]) for d in state["domainExtensions"])
    return {"lbs": lbs, "acls": len(state["acls"]), "domains": domains, "entries": sorted(e["Entry"] for e in state["aclEntries"])}


def pods(counts):
    return [(f"10.1.{n}.{i}", f"node-{n}") for n, count in counts.items() for i in range(1, count + 1)]


def ports_of(number):
    return [{**port, "nodePort": 30000 + port["port"]} for port in objects.service("web", PORTS[number])["spec"]["ports"]]


class Life:
    """The steps of one Service."""

    def __init__(self, world):
        self.world = world
        self.made = None
        self.label = None

    def step(self, number):
        """Ask for it."""
        kube = self.world.kube
        if number == 0:
            service = objects.service("web", policy="Local", annotations=FIRST, loadBalancerSourceRanges=RANGES[0])
            service["spec"]["ports"] = ports_of(0)
            self.made = kube.create(service)
            kube.create(objects.endpoint_slice(self.made, pods(PODS[0])))
            return
        kube.patch("Service", "web", {"metadata": {"annotations": (SECOND, THIRD)[number - 1]}, "spec": {
            "ports": ports_of(number), "loadBalancerSourceRanges": RANGES[number]}})
        kube.replace(objects.endpoint_slice(self.made, pods(PODS[number])))

    def settle(self):
        """The hash label says that everything was done."""
        self.label = self.world.wait(self._new_label, "a complete success", 60)
        self.world.settled()

    def _new_label(self):
        label = self.world.kube.get("Service", "web")["metadata"].get("labels", {}).get(reference.HASH_LABEL)
        return label != self.label and label


def live(build, folder, actions=(), effect=None, wanted=()):
    """(pictures after each step, calls). In each step the first call of each of the actions suffers the effect; wanted: the
    pictures to wait for."""
    with World(build, folder) as world:
        world.cloud.http.request("POST", "/_sim/instances", {"certificates": [
            {"id": "cert-other", "type": "server", "name": "other", "domain": "b.example.com"}]})
        Clb().configure(world, "source_ranges = true;", unlimited=True)
        views.nodes(world, 3)
        world.start_ccmd()
        life = Life(world)
        pictures = []
        for number in range(len(PODS)):
            world.cloud.clear_faults()
            for action in actions:
                world.cloud.fault(action=action, count=1, **effect)
            life.step(number)
            life.settle()
            if wanted:
                world.wait(lambda n=number: picture(world) == wanted[n], f"step {number}", 60)
                world.settled()
            pictures.append(picture(world))
        world.kube.delete("Service", "web")
        world.wait(lambda: world.kube.get("Service", "web") is None, "deletion", 60)
        world.settled()
        pictures.append(picture(world))
        calls = world.cloud.calls()
        world.stop_ccmd()
        return pictures, calls


@pytest.fixture(scope="module")
def undisturbed(build, tmp_path_factory):
    return live(build, tmp_path_factory.mktemp("undisturbed"))


def test_the_undisturbed_life(undisturbed):
    pictures, calls = undisturbed
    assert [len(one["lbs"]) for one in pictures] == [1, 1, 1, 0]
    assert [one["acls"] for one in pictures] == [1, 1, 0, 0]
    assert [len(one["domains"]) for one in pictures] == [1, 2, 0, 0]
    assert all(call["http"] == 200 for call in calls)
    actions = {call["action"] for call in calls}
    assert {"Create" + what for what in MADE - {"AccessControlListEntry"}} <= actions


@pytest.mark.parametrize("effect", FAULTS)
def test_every_action_fails_once(build, tmp_path, undisturbed, effect):
    wanted, calls = undisturbed
    actions = {c["action"] for c in calls if not look.is_read(c["action"])}
    pictures, calls = live(build, tmp_path, sorted(actions), FAULTS[effect], wanted)
    spared = actions - {c["action"] for c in calls if c["http"] != 200 or "cut" in c or "truncate" in FAULTS[effect]}
    assert spared == set(), calls
    for number, (want, have) in enumerate(zip(wanted, pictures)):
        assert have == want, f"after step {number}"


@pytest.mark.parametrize("action", ["CreateLoadBalancer", "CreateVServerGroup", "StartLoadBalancerListener",
                                    "DeleteLoadBalancer"])
def test_a_token_ends_in_the_middle(build, tmp_path, action):
    """Of a role: a new one is asked for, and the call that was refused is made again, without a word to the user."""
    key = os.path.join(tmp_path, "key.json")
    with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        json.dump({"access_key_id": ACCESS_KEY, "access_key_secret": ACCESS_SECRET}, file)
    with World(build, tmp_path / "world") as world:
        world.config = world.write_config(alicloud=f'credentials: {{ source = "file"; file = "{key}"; '
                                                   'role_arn = "acs:ram::7:role/ccmd"; };')
        views.nodes(world, 2)
        world.start_ccmd(env={"ACCESS_KEY_ID": "", "ACCESS_KEY_SECRET": ""})
        world.cloud.fault(action=action, count=1, code="InvalidSecurityToken.Expired", http=403)
        ports = ((80, "TCP"), (53, "UDP"))
        world.kube.create(objects.service("web", ports))
        world.wait(lambda: views.complete(views.only_lb(world), ports) and world.kube.ingress("web"), "the load balancer")
        world.kube.delete("Service", "web")
        world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")
        assert world.cloud.load_balancers() == []
        assert world.cloud.actions().count("AssumeRole") == 2
        assert [event for event in world.kube.events("web") if event[0] == "Warning"] == []
        world.stop_ccmd()
