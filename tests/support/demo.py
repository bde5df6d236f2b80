"""make demo: both simulators and ccmd; Services and a Gateway become load balancers, are looked at, and go again; nodes become routes."""

import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.support.gateway_api import GatewayWorld, backend, listener  # noqa: E402
from tests.support.products import Clb, Nlb  # noqa: E402
from tests.support.scenario_route import CLUSTER_CIDR, SYSTEM_TABLE, custom_routes, node  # noqa: E402
from tests.support.world import World  # noqa: E402

PORTS = ((80, "TCP"), (443, "TCP"))
PRODUCTS = (Clb(), Nlb())
SERVICES = ("web", "shop")  # one of each kind


def say(text):
    print(f"\n== {text}", flush=True)


def show(text):
    for line in text.rstrip().splitlines():
        print("   " + line, flush=True)


def show_lb(product, lb):
    print(f"   {lb['LoadBalancerId']}  {next(iter(product.status(lb).values()))}  {lb['AddressType']}  name {lb['LoadBalancerName']}")
    names = {group["id"]: group["name"] for group in lb["Groups"]}
    for listener in lb["Listeners"]:
        print(f"     listener {listener['key']:8} -> {listener['group']} ({names[listener['group']]})")
    for group in lb["Groups"]:
        for server, port, weight in group["servers"]:
            print(f"     backend  {group['id']}  {server}:{port}  weight {weight}")


def serve(world, weight, *servers):
    """Both load balancers have these backends on every port."""
    wanted = [(server, weight) for server in servers]

    def done():
        lbs = [product.only(world) for product in PRODUCTS]
        return all(product.complete(lb, PORTS) and all(sorted((s[0], s[2]) for s in group["servers"]) == wanted for group in lb["Groups"])
                   for product, lb in zip(PRODUCTS, lbs))

    world.wait(done, f"{len(servers)} backends a port")


def show_calls(world, since=0):
    """Every action of the cloud that changed or read something, in the order of its first call."""
    counts = {}
    for action in world.cloud.actions(since):
        counts[action] = counts.get(action, 0) + 1
    show("\n".join(f"{count:3} x {action}" for action, count in counts.items()))


def routes(world):
    return custom_routes(world.cloud.state())[SYSTEM_TABLE]


def show_routes(world):
    show("\n".join(f"{SYSTEM_TABLE}  {cidr:16} -> {hop}" for cidr, hop in sorted(routes(world).items())) or "no entry")


def conditions(world, name):
    return {c["type"]: c["status"] for c in world.kube.get("Node", name)["status"]["conditions"]}


def demo_routes(world):
    say("the route table of the VPC: one entry per node, for its pods")
    world.wait(lambda: len(routes(world)) == 3, "three routes")
    world.wait(lambda: all(conditions(world, f"node-{n}").get("NetworkUnavailable") == "False" for n in (1, 2, 3)),
               "three conditions")
    show_routes(world)


def gateway_lb(world):
    return next((lb for lb in PRODUCTS[1].find(world) if lb["LoadBalancerName"].startswith("ag")), None)


def demo_gateway(world):
    """Beside the Services: one load balancer in front of both, by weights."""
    say("the Gateway API is defined; a Gateway with a TCPRoute sends nine tenths to web, one tenth to shop")
    since = world.cloud.mark()
    api = GatewayWorld(world)
    api.define()
    api.make_class()
    api.make_gateway(listener("tcp", 8080), name="edge")
    api.make_route("edge", backend("web", weight=90), backend("shop", weight=10), gateway="edge")
    world.wait(lambda: api.programmed("edge"), "the Gateway")
    world.wait(lambda: [len(group["servers"]) for group in gateway_lb(world)["Groups"]] == [6], "three nodes of each Service")
    show_lb(PRODUCTS[1], gateway_lb(world))
    for kind, name in (("Gateway", "edge"), ("TCPRoute", "edge")):
        found = api.conditions(kind, name) or api.parents(kind, name)[""]
        show("\n".join(f"{kind} {name}: {one} {status} ({reason})" for one, (status, reason) in sorted(found.items())))
    show_calls(world, since)

    say("kubectl delete gateway edge")
    show(world.kubectl("delete", "gateway", "edge"))
    world.wait(lambda: gateway_lb(world) is None, "its load balancer to go")
    world.kubectl("delete", "tcproute", "edge")


def demo(world):
    say("a cluster with three nodes; ccmd starts")
    world.kube.create(*[node(f"node-{n}") for n in (1, 2, 3)])
    world.start_ccmd()
    show(world.kubectl("get", "nodes"))
    demo_routes(world)

    say("kubectl apply: two Services of type LoadBalancer, web (CLB) and shop (NLB): two ports, two pods, policy Local")
    show(world.kubectl("apply", "-f", os.path.join(os.path.dirname(os.path.abspath(__file__)), "sandbox.yaml")))
    serve(world, 1, "node-1", "node-2")
    world.wait(lambda: all(world.kube.ingress(name) and world.kube.events(name) for name in SERVICES), "addresses and events")

    say("what the cloud holds")
    for product in PRODUCTS:
        show_lb(product, product.only(world))

    say("what the cloud was asked")
    show_calls(world)

    say("kubectl get services")
    show(world.kubectl("get", "services"))

    say("kubectl get events")
    show(world.kubectl("get", "events"))

    say("both Services are changed to policy Cluster: every node serves")
    since = world.cloud.mark()
    for name in SERVICES:
        show(world.kubectl("patch", "service", name, "-p", '{"spec":{"externalTrafficPolicy":"Cluster"}}'))
    serve(world, 100, "node-1", "node-2", "node-3")
    show_calls(world, since)

    say("a fourth node joins")
    since = world.cloud.mark()
    world.kube.create(node("node-4"))
    serve(world, 100, "node-1", "node-2", "node-3", "node-4")
    world.wait(lambda: len(routes(world)) == 4, "four routes")
    show_calls(world, since)
    show_routes(world)

    say("kubectl delete node node-4: its route goes")
    show(world.kubectl("delete", "node", "node-4"))
    world.wait(lambda: len(routes(world)) == 3, "three routes")
    show_routes(world)

    demo_gateway(world)

    say("kubectl delete service web shop")
    since = world.cloud.mark()
    show(world.kubectl("delete", "service", *SERVICES))
    world.wait(lambda: all(world.kube.get("Service", name) is None for name in SERVICES), "deletion")
    show_calls(world, since)
    world.wait(lambda: all(any(e[1] == "CleanLoadBalancer" for e in world.kube.events(name)) for name in SERVICES), "the last events")
    show(world.kubectl("get", "events"))

    say("load balancers and server groups left in the cloud")
    left = [lb["LoadBalancerId"] for product in PRODUCTS for lb in product.find(world)]
    left += [group["ServerGroupId"] for group in world.cloud.state()["nlbServerGroups"]]
    show("none" if not left else str(left))
    if left:
        raise AssertionError("the cloud is not empty")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ccmd-demo-") as folder:
        with World(args.build, folder) as world:
            plugins = [f'{{ name = "{name}"; }}' for name in ("clb", "nlb", "gateway")]
            plugins.append(f'{{ name = "route"; cluster_cidr = "{CLUSTER_CIDR}"; }}')
            world.config = world.write_config(plugins=", ".join(plugins))
            demo(world)
    print("\ndemo: ok")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        print(f"\ndemo: FAILED: {error}", file=sys.stderr)
        sys.exit(1)
