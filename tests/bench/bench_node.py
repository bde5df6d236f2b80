"""Figures of the plugin node: many new nodes at once, a quiet look at them."""

import os
import time

from tests.support import cloud_nodes as nodes
from tests.support.world import World


def register_all(world, count):
    """While ccmd does not look, so that it hears of all of them in one burst."""
    with world.ccmd.paused():
        for number in range(1, count + 1):
            world.kube.http.request("POST", "/api/v1/nodes", nodes.register(f"node-{number}"))


def burst(build, folder, count, check):
    """(seconds, cloud calls by action, writes of nodes, reads of nodes, calls of a look at all of them, resident) until no node has the
    taint."""
    # The quota of calls is raised, so that the figure is ours and not that of the cloud.
    with World(build, folder) as world:
        nodes.instances(world, range(1, count + 1))
        for interface in world.cloud.state()["networkInterfaces"]:
            world.cloud.edit("update", type="eni", id=interface["NetworkInterfaceId"], attributes={"SourceDestCheck": check})
        nodes.configure(world, alicloud="quotas: { ecs = 1000000; };", period_s=3600)
        world.start_ccmd()
        world.logged("plugin node: started")
        world.settled()
        register_all(world, count)
        kube, started = world.kube.mark(), time.monotonic()
        world.wait(lambda: not nodes.tainted(world), "all of them without taint", timeout=600, every=0.1)
        took = time.monotonic() - started
        world.settled()
        calls, writes = world.cloud.actions(), len(nodes.writes(world, kube))
        reads = sum(action.startswith("GET /api/v1/nodes/") for action in world.kube.actions(kube))
        with open(f"/proc/{world.ccmd.popen.pid}/status", encoding="ascii") as status:
            resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
        world.stop_ccmd()
        cloud, kube = world.cloud.mark(), world.kube.mark()
        world.start_ccmd()
        world.wait(lambda: len(nodes.looks(world, cloud)) >= count // 100, "a look at all of them", timeout=600, every=0.1)
        world.settled()
        assert nodes.writes(world, kube) == []
        return took, calls, writes, reads, len(world.cloud.calls(cloud)), resident


# The reference with the same nodes and simulators, at its own rate of requests to the API server. Its changes of interfaces are no
# measure: of each hundred interfaces it sees the first ten.
REFERENCE_S = 148
REFERENCE_INSTANCES = 6
REFERENCE_INTERFACES = 6
REFERENCE_WRITES = 1500
REFERENCE_READS = 1453


def compared(value, reference):
    return {"reference": reference, "ratio": round(value / reference, 3)}


def run(build, folder, figure):
    count = 500
    for check, name in (("true", f"node-{count}-nodes"), ("false", f"node-{count}-nodes-forwarding")):
        took, calls, writes, reads, look, resident = burst(build, os.path.join(folder, name), count, check)
        instances, interfaces = calls.count("DescribeInstances"), calls.count("DescribeNetworkInterfaces")
        figure(name + "-cloud-calls", len(calls), "calls", changes=calls.count("ModifyNetworkInterfaceAttribute"))
        figure(name + "-instances", instances, "calls", **compared(instances, REFERENCE_INSTANCES))
        figure(name + "-interfaces", interfaces, "calls", **compared(interfaces, REFERENCE_INTERFACES))
        figure(name + "-kube-writes", writes, "requests", per_node=writes / count, **compared(writes, REFERENCE_WRITES))
        figure(name + "-kube-reads", reads, "requests", **compared(reads, REFERENCE_READS))
        figure(name + "-time", round(took, 2), "s", **compared(took, REFERENCE_S))
        figure(name + "-look", look, "calls", per_100_nodes=look * 100 / count)
        figure(name + "-resident", resident, "KiB")
