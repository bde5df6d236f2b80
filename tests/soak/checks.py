"""What has to hold after the trouble."""

import json
import re

from tests.support import proc
from tests.support.products import OWNER_TAG

from .failing import PORT
from .fresh import picture_of
from .gates import bucket
from .picture import Picture
from .setting import PERSONS_PORT
from .trace import Finding
from .until import until

HEAL_S = 120  # twice, with a person in between who looks after what would be tried again much later
RENEWALS = 10  # of the Lease, each half a second after the other: so long nothing may happen
GROWTH = 1.25
GROWTH_KIB = 2048
WARM_S = 15  # that a process takes to have everything for the first time
LIFE_S = 120  # shorter ones say nothing about growth
LATE = re.compile(r"<code>default/([^<]+)</code></td><td>[^<]*</td><td class=\"why\">[^<]*</td>(?:<td class=\"n\">[^<]*</td>){2}"
                  r"<td class=\"n\">in (?:[3-9]\d|\d{3,}|\d+ min|\d+ h)")
READS = ("Describe", "List", "Get")


def foreign(setting, whole):
    """What is not ours, byte for byte. whole: of the load balancers that Services may use everything, not only what a person has
    put there."""
    state = setting.world.cloud.state()
    found = {}
    for lb in state["loadBalancers"] + state["nlbLoadBalancers"]:
        name = lb["LoadBalancerName"]
        if not name.startswith(("clb-", "nlb-")):
            continue
        if "-reuse-" in name and not whole:
            lb = {"Listeners": [one for one in lb["Listeners"] if int(one["ListenerPort"]) == PERSONS_PORT],
                  "VServerGroups": [one for one in lb.get("VServerGroups", []) if one["VServerGroupName"].startswith("theirs")]}
        found[name] = json.dumps(lb)
    for group in state["nlbServerGroups"]:
        if group["ServerGroupName"].startswith("theirs"):
            found[group["ServerGroupName"]] = json.dumps(group)
    for route in state["routes"]:
        if route["DestinationCidrBlock"].startswith("192.168."):
            found[route["DestinationCidrBlock"]] = json.dumps(route)
    return found


def check_foreign(setting, before, whole=False):
    now = foreign(setting, whole)
    if now != before:
        raise Finding("what is not ours has changed:\n" + "\n".join(
            f"  {name}:\n    before {before.get(name)}\n    now    {now.get(name)}"
            for name in before.keys() | now.keys() if before.get(name) != now.get(name)))


def look_after(soak):
    """A person touches what has failed so often that its next try is far away, which is right as long as others fail. What is not
    on the page of ccmd is not touched: it has to heal by itself."""
    world = soak.setting.world
    late = sorted(set(LATE.findall(world.admin("/statusz")[1])))
    for name in late:
        if not name.startswith("bad-") and world.kube.get("Service", name):
            soak.trace.note("looked after", name)
            touched = {"example.com/touched": str(soak.trace.counts["looked after"])}
            world.kube.patch("Service", name, {"metadata": {"annotations": touched}})


def wait_for(soak, condition, what):
    """condition gives a list of what is still wrong."""
    wrong = []

    def right():
        soak.daemon.supervise()
        wrong[:] = condition()
        return not wrong

    if until(right, HEAL_S * proc.SLOW, 0.3):
        return
    look_after(soak)
    if not until(right, HEAL_S * proc.SLOW, 0.3):
        raise Finding(f"{what}: {len(wrong)} after {2 * HEAL_S * proc.SLOW:.0f} s:\n" + "\n".join(wrong[:20]))


def going(setting):
    state = setting.world.kube.state()
    return [f"{kind} {item['metadata']['name']} is being deleted, finalizers {item['metadata'].get('finalizers')}"
            for kind, items in (("Service", state["services"]), ("Gateway", state[bucket("Gateway")]))
            for item in items if "deletionTimestamp" in item["metadata"]]


def check_healed(soak, folder):
    """The cloud and the Services are as if nothing had ever happened."""
    setting = soak.setting
    wait_for(soak, lambda: going(setting) or ([] if soak.lives.finish() else ["a name is still taken"]), "Services that do not go")
    wait_for(soak, lambda: going(setting), "Services that do not go")
    wanted = picture_of(setting.world.build, folder, setting.world.kube.state(), setting.ids)
    reusable = {known: name for name, known in setting.ids.items()}

    def differences():
        return Picture(setting.world.cloud.state(), setting.world.kube.state(), reusable).differences(wanted)

    wait_for(soak, differences, "differences from a world without a past")
    return len(wanted.parts)


def check_at_rest(soak):
    """A new process finds nothing to write, and then nobody calls anybody."""
    world = soak.setting.world
    soak.setting.configure(audit_s=0)
    world.stop_ccmd()
    cloud, server = world.cloud.mark(), world.kube.mark()
    world.start_ccmd()
    soak.trace.note("start")
    soak.daemon.wait_leading()
    world.wait(lambda: world.idle(3000), "idleness", 60, every=0.2)
    calls = world.cloud.calls(cloud)
    soak.failing.look(calls)
    written = [call for call in calls if not call["action"].startswith(READS) and call["params"].get("ListenerPort") != str(PORT)]
    if written:
        raise Finding(f"a new process writes to the cloud: {[(c['action'], c['params']) for c in written[:10]]}")
    patched = [call for call in world.kube.calls(server) if call["action"].split()[0] in ("PATCH", "UPDATE")
               and any(part in call["path"] for part in ("/services", "/nodes", "/apis/gateway."))]
    if patched:
        raise Finding(f"a new process writes to the API server: {[c['path'] for c in patched[:10]]}")
    cloud, seen = world.cloud.mark(), set()
    world.wait(lambda: seen.add(renewed(world)) or len(seen) > RENEWALS, "renewals of the Lease", 60, every=0.1)
    calls = world.cloud.calls(cloud)
    if calls:
        raise Finding(f"calls at rest: {[(c['action'], c['params']) for c in calls[:10]]}")


def renewed(world):
    return world.kube.http.request("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/ccm")["spec"]["renewTime"]


def check_failing(soak, minutes):
    bound = soak.failing.bound(minutes)
    if soak.failing.asked > bound:
        raise Finding(f"Services that cannot work: the cloud was asked {soak.failing.asked} times, at most {bound:.0f} are right")


def check_memory(samples):
    """Of each process that lived for some minutes: the most of the last third is not much more than the most of the first. How many
    such there were."""
    lives = {}
    for pid, second, kib in samples:
        lives.setdefault(pid, []).append((second, kib))
    judged = 0
    for life in lives.values():
        known = [kib for second, kib in life if second > life[0][0] + WARM_S]
        third = len(known) // 3
        if life[-1][0] - life[0][0] < LIFE_S or third < 10:
            continue
        judged += 1
        first, last = max(known[:third]), max(known[-third:])
        if last > first * GROWTH + GROWTH_KIB:
            raise Finding(f"resident memory grew from {first} KiB to {last} KiB")
    return judged


def check_empty(soak):
    """After the end of all Services nothing of ours is left but the routes of the nodes, and those go with these."""
    setting = soak.setting
    wait_for(soak, lambda: [item["metadata"]["name"] for label in ("services", bucket("Gateway"))
                            for item in setting.world.kube.state()[label]], "Services and Gateways that do not go")
    state = setting.world.cloud.state()
    names = [lb["LoadBalancerName"] for lb in state["loadBalancers"] + state["nlbLoadBalancers"]]
    left = [name for name in names if not name.startswith(("clb-", "nlb-"))]
    left += [group["ServerGroupName"] for group in state["nlbServerGroups"] if not group["ServerGroupName"].startswith("theirs")]
    left += [item["AclName"] for item in state.get("acls", []) if item["AclName"] != "theirs"]
    left += [item["SecurityGroupId"] for item in state["securityGroups"] if OWNER_TAG in item["Tags"]]
    if left:
        raise Finding(f"left over: {left}")
