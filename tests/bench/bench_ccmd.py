"""ccmd at the size of the design: 1,000 nodes, 2,000 Services of which 1,000 LoadBalancer, 100,000 endpoints."""

import http.client
import json
import time

from tests.bench.bench_kubesim import address, write_all
from tests.support import objects
from tests.support.kubesim import NODES
from tests.support.world import World

NODE_COUNT = 1000
SERVICE_COUNT = 2000
LOAD_BALANCERS = 1000
ENDPOINTS = 50  # of each Service
QUOTAS = "quotas: { " + " ".join(f"{name} = 1000000;" for name in ("slb_write", "slb_read", "vpc", "ecs")) + " };"


def all_objects():
    for number in range(NODE_COUNT):
        yield NODES, json.dumps(objects.node(f"node-{number}", f"i-size-{number}"))
    for number in range(SERVICE_COUNT):
        balanced = number < LOAD_BALANCERS
        more = {"policy": "Local"} if balanced else {"type": "ClusterIP", "externalTrafficPolicy": None}
        service = objects.service(f"s-{number}", **more)
        endpoints = [
            (address(number * ENDPOINTS + i), f"node-{(number + i) % NODE_COUNT}") for i in range(ENDPOINTS)
        ]
        yield "/api/v1/namespaces/default/services", json.dumps(service)
        yield ("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
               json.dumps(objects.endpoint_slice(service, endpoints)))


def memory(process):
    """Resident: all, the most so far, and what the process itself has filled, in KiB."""
    with open(f"/proc/{process.popen.pid}/status", encoding="utf-8") as file:
        found = dict(line.split(":", 1) for line in file)
    return [int(found[name].split()[0]) for name in ("VmRSS", "VmHWM", "RssAnon")]


def tell_memory(process, figure, name, size):
    resident, peak, own = memory(process)
    figure(name, resident, "KiB", peak=peak, anonymous=own, **size)


def balanced(world):
    """How many Services have their address."""
    host = world.kube.base.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("GET", "/api/v1/services")
    text = connection.getresponse().read()
    connection.close()
    return text.count(b'"ingress":[{')


def run(build, folder, figure):
    """figure(name, value, unit, **more) is told each result."""
    with World(build, folder, cloud_args=[f"--limit=load-balancers={LOAD_BALANCERS}"]) as world:
        world.config = world.write_config(log_level="warn", alicloud=QUOTAS, plugins='{ name = "clb"; workers = 16; }')
        instances = [{"id": f"i-size-{number}", "vswitch": "vsw-a"} for number in range(NODE_COUNT)]
        world.cloud.http.request("POST", "/_sim/instances", {"instances": instances})
        write_all(*world.kube.base.removeprefix("http://").split(":"), all_objects())
        size = {"nodes": NODE_COUNT, "services": SERVICE_COUNT, "endpoints": SERVICE_COUNT * ENDPOINTS}
        since = world.cloud.mark()
        world.start_ccmd()
        world.wait(lambda: world.cloud.calls(since), "the first call to the cloud", timeout=30)
        world.wait(lambda: balanced(world) >= LOAD_BALANCERS, "all load balancers", timeout=300)
        tell_memory(world.ccmd, figure, "resident-at-size", size)
        world.stop_ccmd()
        since, began = world.cloud.mark(), time.time()
        world.start_ccmd()  # everything is there
        first = world.wait(lambda: world.cloud.calls(since), "the first call to the cloud", timeout=30)[0]
        figure("start-to-first-call-at-size", round((first["t"] - began) * 1000), "ms", **size)
        world.settled()
        tell_memory(world.ccmd, figure, "resident-at-size-after-restart", size)
