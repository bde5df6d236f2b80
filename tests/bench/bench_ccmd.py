"""ccmd at the size of the design: 1,000 nodes, 2,000 Services of which 1,000 LoadBalancer, 100,000 endpoints."""

import http.client
import json
import time

from tests.bench.bench_kubesim import address, write_all
from tests.support import objects, proc
from tests.support.kubesim import NODES
from tests.support.world import World

NODE_COUNT = 1000
SERVICE_COUNT = 2000
LOAD_BALANCERS = 1000
ENDPOINTS = 50  # of each Service
SIZE = {"nodes": NODE_COUNT, "services": SERVICE_COUNT, "endpoints": SERVICE_COUNT * ENDPOINTS}
QUOTAS = "quotas: { " + " ".join(f"{name} = 1000000;" for name in ("slb_write", "slb_read", "vpc", "ecs")) + " };"
SERVICES = "/api/v1/namespaces/default/services"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"


def service(number):
    more = {"policy": "Local"} if number < LOAD_BALANCERS else {"type": "ClusterIP", "externalTrafficPolicy": None}
    return objects.service(f"s-{number}", **more)


def slice_of(number, part, count=ENDPOINTS):
    """Each part of a Service's endpoints has addresses and nodes of its own."""
    endpoints = [
        (address((part * SERVICE_COUNT + number) * ENDPOINTS + i), f"node-{(number + part * ENDPOINTS + i) % NODE_COUNT}")
        for i in range(count)
    ]
    return SLICES, json.dumps(objects.endpoint_slice(service(number), endpoints, suffix=f"part-{part}"))


def all_objects():
    for number in range(NODE_COUNT):
        yield NODES, json.dumps(objects.node(f"node-{number}", f"i-size-{number}"))
    for number in range(SERVICE_COUNT):
        yield SERVICES, json.dumps(service(number))
        yield slice_of(number, 0)


def write(world, requests):
    write_all(*world.kube.base.removeprefix("http://").split(":"), requests)


def memory(process):
    """Resident: all, the most so far, and what the process itself has filled, in KiB."""
    with open(f"/proc/{process.popen.pid}/status", encoding="utf-8") as file:
        found = dict(line.split(":", 1) for line in file)
    return [int(found[name].split()[0]) for name in ("VmRSS", "VmHWM", "RssAnon")]


def tell_memory(process, figure, name):
    resident, peak, own = memory(process)
    figure(name, resident, "KiB", peak=peak, anonymous=own, **SIZE)


def synced(port):
    """Whether all caches are filled."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    except ConnectionError:
        return False
    finally:
        connection.close()
    values = [line.rsplit(" ", 1)[1] for line in text.splitlines() if line.startswith("ccmd_cache_synced{")]
    return bool(values) and set(values) == {"1"}


def start(world, port, figure, name):
    """Start ccmd; what that took, and what it holds when it begins to work."""
    since, began = world.cloud.mark(), time.time()
    process = world.start_ccmd()
    process.listens = f"127.0.0.1:{port}"  # such a log does not say so
    world.wait(lambda: synced(port), "the caches", timeout=60)
    figure(f"start-to-sync-at-size{name}", round((time.time() - began) * 1000), "ms", **SIZE)
    tell_memory(process, figure, f"resident-at-sync-at-size{name}")
    first = world.wait(lambda: world.cloud.calls(since), "the first call to the cloud", timeout=60)[0]
    figure(f"start-to-first-call-at-size{name}", round((first["t"] - began) * 1000), "ms", **SIZE)


def balanced(world):
    """How many Services have their address."""
    host = world.kube.base.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("GET", "/api/v1/services")
    text = connection.getresponse().read()
    connection.close()
    return text.count(b'"ingress":[{')


def backends(world):
    return sum(len(group["BackendServers"]) for lb in world.cloud.load_balancers() for group in lb["VServerGroups"])


def growth(world, figure, name, numbers, parts):
    """What endpoints more cost, each, buffers that the change needs included: these parts of the Services are added."""
    before = memory(world.ccmd)[2]
    held = backends(world)
    gained = ENDPOINTS * len(parts) * sum(number < LOAD_BALANCERS for number in numbers)
    write(world, (slice_of(number, part) for part in parts for number in numbers))
    write(world, [slice_of(0, max(parts) + 1, 1)])  # comes last
    world.wait(lambda: backends(world) == held + gained + 1, "the last backend", timeout=300)
    world.settled()
    grown = memory(world.ccmd)[2] - before
    count = len(numbers) * len(parts) * ENDPOINTS
    figure(name, round(grown * 1024 / count), "bytes", endpoints=count)


def run(build, folder, figure):
    """figure(name, value, unit, **more) is told each result."""
    with World(build, folder, cloud_args=[f"--limit=load-balancers={LOAD_BALANCERS}"]) as world:
        port = proc.free_port()
        world.config = world.write_config(log_level="warn", alicloud=QUOTAS, plugins='{ name = "clb"; workers = 16; }',
                                          extra=f'admin: {{ listen = "127.0.0.1:{port}"; }};')
        instances = [{"id": f"i-size-{number}", "vswitch": "vsw-a"} for number in range(NODE_COUNT)]
        world.cloud.http.request("POST", "/_sim/instances", {"instances": instances})
        write(world, all_objects())
        start(world, port, figure, "")
        world.wait(lambda: balanced(world) >= LOAD_BALANCERS, "all load balancers", timeout=300)
        world.settled()
        tell_memory(world.ccmd, figure, "resident-at-size")
        world.stop_ccmd()
        start(world, port, figure, "-after-restart")  # everything is there
        world.settled()
        tell_memory(world.ccmd, figure, "resident-at-size-after-restart")
        growth(world, figure, "bytes-per-endpoint-of-a-load-balancer", range(LOAD_BALANCERS), (1, 2))
        growth(world, figure, "bytes-per-endpoint-of-another-service", range(LOAD_BALANCERS, SERVICE_COUNT), (4, 5))
