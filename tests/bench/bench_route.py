"""Figures of the plugin route: many nodes at once, a quiet period."""

import os
import signal
import time

from tests.support.scenario_look import is_read
from tests.support.scenario_route import SYSTEM_TABLE, custom_routes, node
from tests.support.world import World

CLUSTER_CIDR = "10.96.0.0/11"  # room for 5,000 nodes


def many_nodes(count):
    found = [node(f"node-{n}", f"10.{96 + n // 250}.{n % 250}.0/24") for n in range(1, count + 1)]
    return [{key: value for key, value in item.items() if key != "status"} for item in found]


def is_up(item):
    return any(c["type"] == "NetworkUnavailable" and c["status"] == "False" for c in item["status"].get("conditions", []))


def burst(build, folder, count, tables):
    """(seconds, cloud calls by action, writes to the API server) until all nodes are told reachable."""
    # The quotas of table and of calls are raised, so that the figure is ours and not that of the cloud.
    with World(build, folder, cloud_args=[f"--limit=routes={(tables + 1) * count}"]) as world:
        world.cloud.http.request("POST", "/_sim/instances", {
            "instances": [{"id": f"i-node-{n}", "vswitch": "vsw-a"} for n in range(6, count + 1)]})
        ids = [SYSTEM_TABLE]
        for number in range(1, tables):
            ids.append(world.cloud.edit("call", product="vpc", action="CreateRouteTable",
                                        params={"VpcId": "vpc-test", "RouteTableName": f"more-{number}"})["answer"]["RouteTableId"])
        plugin = f'{{ name = "route"; cluster_cidr = "{CLUSTER_CIDR}"; table_ids = [ {", ".join(f"{chr(34)}{i}{chr(34)}" for i in ids)} ]; }}'
        world.config = world.write_config(plugins=plugin, alicloud="quotas: { vpc = 1000000; };", log_level="info")
        world.start_ccmd()
        world.wait(lambda: world.cloud.actions(), "the first list")
        world.settled()
        os.kill(world.ccmd.popen.pid, signal.SIGSTOP)
        world.kube.create(*many_nodes(count))
        kube_since = world.kube.mark()
        started = time.monotonic()
        os.kill(world.ccmd.popen.pid, signal.SIGCONT)
        world.wait(lambda: all(is_up(item) for item in world.kube.state()["nodes"]), "the routes of all nodes", timeout=600,
                   every=0.25)
        took = time.monotonic() - started
        held = custom_routes(world.cloud.state())
        assert all(len(held[table]) == count for table in ids)
        actions = world.cloud.actions()
        with open(f"/proc/{world.ccmd.popen.pid}/status", encoding="ascii") as status:
            resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
        writes = sum(action.startswith("PATCH") for action in world.kube.actions(kube_since))
        return took, actions, writes, resident


def run(build, folder, figure):
    for count, tables, reference in ((500, 1, 10 + 70), (5000, 2, None)):
        took, actions, writes, resident = burst(build, os.path.join(folder, f"route-{count}"), count, tables)
        name = f"route-{count}-nodes-{tables}-table{'s' if tables > 1 else ''}"
        reads = sum(map(is_read, actions))
        figure(name + "-cloud-calls", len(actions), "calls", reads=reads, creations=len(actions) - reads,
               **({"reference": reference} if reference else {}))
        figure(name + "-kube-writes", writes, "requests", **({"reference": 1500} if reference else {}))
        figure(name + "-time", round(took, 2), "s", **({"reference": 170} if reference else {}))
        figure(name + "-resident", resident, "KiB")
