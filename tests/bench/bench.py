"""make bench: one JSON line per figure. Counts are exact; times are medians on loopback, for comparison only."""

import argparse
import json
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.bench import (  # noqa: E402
    bench_busy, bench_ccmd, bench_crowd, bench_fairness, bench_growth, bench_kubesim, bench_leader, bench_node, bench_quota, bench_route,
    bench_scale, bench_webhook)
from tests.support import objects, views  # noqa: E402
from tests.support.world import World  # noqa: E402

PORTS = ((80, "TCP"), (443, "TCP"))


def figure(name, value, unit, **more):
    print(json.dumps({"figure": name, "value": value, "unit": unit, **more}), flush=True)


def calls_of(world, act, done):
    since = world.cloud.mark()
    act()
    world.wait(done, "the cloud to follow")
    world.settled()
    return world.cloud.calls(since)


def backend_count(world, count):
    return all(len(servers) == count for servers in views.backends(views.only_lb(world)))


def cloud_calls(world):
    """Calls per situation; the reference's figures are those of its documentation of cost."""
    views.nodes(world, 3)
    world.start_ccmd()
    creation = calls_of(world, lambda: world.kube.create(objects.service("web", PORTS)),
                        lambda: views.complete(views.only_lb(world), PORTS) and world.kube.ingress("web"))
    figure("clb-creation-2-ports", len(creation), "calls", reference=12)
    machine = objects.endpoint_slice(world.kube.get("Service", "web"), [("10.1.0.1", "node-1")])
    nothing = calls_of(world, lambda: world.kube.create(machine), lambda: True)
    figure("clb-no-op", len(nothing), "calls", reference=6)
    note = {"metadata": {"annotations": {"example.com/note": "x"}}}
    edit = calls_of(world, lambda: world.kube.patch("Service", "web", note), lambda: True)
    figure("clb-edit-by-a-person-2-ports", len(edit), "calls", reference=6)
    node = calls_of(world, lambda: views.nodes(world, 1, first=4), lambda: backend_count(world, 4))
    figure("clb-node-added-2-ports", len(node), "calls")
    deletion = calls_of(world, lambda: world.kube.delete("Service", "web"),
                        lambda: world.kube.get("Service", "web") is None)
    figure("clb-managed-delete", len(deletion), "calls", reference=8)


def backend_calls(world):
    """A pod more behind a node, and a pod that takes the place of another."""
    local = objects.service("local", PORTS, policy="Local")
    pods = objects.endpoint_slice(local, [("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")])
    addresses = ["10.1.0.7", "10.1.0.8", "10.1.0.9"]
    world.cloud.http.request("POST", "/_sim/instances", {
        "enis": [{"id": f"eni-{a[-1]}", "ip": a, "instance": "i-node-1"} for a in addresses]})
    direct = objects.service("direct", PORTS, annotations={"service.beta.kubernetes.io/backend-type": "eni"})
    replaced = objects.endpoint_slice(direct, [(a, "node-1") for a in addresses[:2]])
    world.kube.create(local, pods, direct, replaced)
    world.wait(lambda: world.kube.ingress("local") and world.kube.ingress("direct"), "both load balancers")
    world.settled()
    pods["endpoints"].append(dict(pods["endpoints"][0], addresses=["10.1.0.3"]))
    weight = calls_of(world, lambda: world.kube.replace(pods), lambda: True)
    figure("clb-weight-change-2-ports", len(weight), "calls", reference=7)
    replaced["endpoints"][0]["addresses"] = ["10.1.0.9"]
    pod = calls_of(world, lambda: world.kube.replace(replaced), lambda: True)
    figure("clb-pod-replaced-2-ports", len(pod), "calls", reference=10)
    for name in ("local", "direct"):
        world.kube.delete("Service", name)
    world.wait(lambda: not world.cloud.load_balancers(), "the end of both")


def latency(world, services=5, rounds=6):
    """From the answer to an EndpointSlice write to the arrival of the first cloud write that it causes. Several Services: one whose
    passes write without end is slowed down."""
    samples = []
    for service in (objects.service(f"lat-{number}", ((80, "TCP"),), policy="Local") for number in range(services)):
        name = service["metadata"]["name"]
        slice_ = objects.endpoint_slice(service, [("10.1.0.1", "node-1")])
        world.kube.create(service, slice_)
        world.wait(lambda: views.complete(views.only_lb(world), ((80, "TCP"),)) and world.kube.ingress(name), "the CLB")
        world.settled()
        for number in range(rounds):
            slice_["endpoints"] = [
                dict(slice_["endpoints"][0], addresses=[f"10.1.0.{n + 1}"]) for n in range(1 + (number + 1) % 2)
            ]
            kube, cloud = world.kube.mark(), world.cloud.mark()
            world.kube.replace(slice_)
            first = world.wait(lambda: world.cloud.calls(cloud), "the write")[0]
            write = [c for c in world.kube.calls(kube) if c["action"].startswith("UPDATE ")][-1]
            samples.append((first["t"] - write["t"]) * 1000 - write["ms"])
        world.kube.delete("Service", name)
        world.wait(lambda: world.kube.get("Service", name) is None and not world.cloud.load_balancers(), "the end of it")
    figure("latency-event-to-cloud-write", round(statistics.median(samples), 2), "ms", samples=len(samples))


def memory(process):
    with open(f"/proc/{process.popen.pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    args = parser.parse_args()
    for name in ("bin/ccmd", "lib/ccmd/ccmd-tools", "plugins/clb.so", "plugins/nlb.so", "plugins/route.so", "plugins/node.so", "libccm-alicloud.so.1"):
        figure("size-" + os.path.basename(name), os.path.getsize(os.path.join(args.build, name)) // 1024, "KiB")
    with tempfile.TemporaryDirectory(prefix="ccmd-bench-") as folder:
        with World(args.build, folder) as world:
            world.config = world.write_config(log_level="info")
            cloud_calls(world)
            backend_calls(world)
            latency(world)
            figure("resident-idle", memory(world.ccmd), "KiB")
    with tempfile.TemporaryDirectory(prefix="ccmd-bench-") as folder:
        bench_ccmd.run(args.build, folder, figure)
    with tempfile.TemporaryDirectory(prefix="ccmd-bench-") as folder:
        bench_kubesim.run(args.build, folder, figure)
        bench_route.run(args.build, folder, figure)
        bench_node.run(args.build, folder, figure)
    with tempfile.TemporaryDirectory(prefix="ccmd-bench-") as folder:
        bench_leader.run(args.build, folder, figure)
    with tempfile.TemporaryDirectory() as folder:
        bench_webhook.run(args.build, folder, figure)
    with tempfile.TemporaryDirectory(prefix="ccmd-bench-") as folder:
        bench_busy.run(args.build, folder, figure)
    with tempfile.TemporaryDirectory(prefix="ccmd-bench-") as folder:
        bench_quota.run(args.build, folder, figure)
    with tempfile.TemporaryDirectory(prefix="ccmd-bench-") as folder:
        bench_crowd.run(args.build, folder, figure)
    with tempfile.TemporaryDirectory(prefix="ccmd-bench-") as folder:
        bench_fairness.run(args.build, folder, figure)
    bench_growth.run(args.build, figure)
    bench_scale.run(args.build, figure)


if __name__ == "__main__":
    main()
