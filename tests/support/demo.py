"""make demo: both simulators and ccmd; a Service becomes a load balancer, is looked at, and goes again."""

import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.support import views  # noqa: E402
from tests.support.world import World  # noqa: E402

PORTS = ((80, "TCP"), (443, "TCP"))


def say(text):
    print(f"\n== {text}", flush=True)


def show(text):
    for line in text.rstrip().splitlines():
        print("   " + line, flush=True)


def show_lb(lb):
    print(f"   {lb['LoadBalancerId']}  address {lb['Address']}  {lb['AddressType']}  name {lb['LoadBalancerName']}")
    names = {group["VServerGroupId"]: group["VServerGroupName"] for group in lb["VServerGroups"]}
    for listener in lb["Listeners"]:
        group = listener["VServerGroupId"]
        print(f"     listener {listener['ListenerProtocol']}/{listener['ListenerPort']}  {listener['Status']}"
              f"  -> {group} ({names[group]})")
    for group in lb["VServerGroups"]:
        for backend in group["BackendServers"]:
            print(f"     backend  {group['VServerGroupId']}  {backend['ServerId']}:{backend['Port']}"
                  f"  weight {backend['Weight']}")


def demo(world):
    say("a cluster with three nodes; ccmd starts")
    views.nodes(world, 3)
    world.start_ccmd()
    show(world.kubectl("get", "nodes"))

    say("kubectl apply: a Service of type LoadBalancer with two ports, two pods, policy Local")
    show(world.kubectl("apply", "-f", os.path.join(os.path.dirname(os.path.abspath(__file__)), "sandbox.yaml")))
    world.wait(lambda: views.backends(views.only_lb(world)) == 2 * [["i-node-1", "i-node-2"]], "two backends a port")
    world.wait(lambda: views.complete(views.only_lb(world), PORTS) and world.kube.ingress("web"), "the load balancer")
    world.wait(lambda: world.kube.events("web"), "events")

    say("what the cloud holds")
    show_lb(views.only_lb(world))

    say("what the cloud was asked")
    show("\n".join(world.cloud.actions()))

    say("kubectl get service web")
    show(world.kubectl("get", "service", "web"))

    say("kubectl get events")
    show(world.kubectl("get", "events"))

    say("the Service is changed to policy Cluster: every node serves")
    since = world.cloud.mark()
    show(world.kubectl("patch", "service", "web", "-p", '{"spec":{"externalTrafficPolicy":"Cluster"}}'))
    world.wait(lambda: views.backends(views.only_lb(world)) == 2 * [["i-node-1", "i-node-2", "i-node-3"]],
               "three backends a port")
    show("\n".join(world.cloud.actions(since)))

    say("a fourth node joins")
    since = world.cloud.mark()
    views.nodes(world, 1, first=4)
    world.wait(lambda: all(len(servers) == 4 for servers in views.backends(views.only_lb(world))), "four backends")
    show("\n".join(world.cloud.actions(since)))

    say("kubectl delete service web")
    since = world.cloud.mark()
    show(world.kubectl("delete", "service", "web"))
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")
    show("\n".join(world.cloud.actions(since)))
    world.wait(lambda: [e for e in world.kube.events("web") if e[1] == "CleanLoadBalancer"], "the last event")
    show(world.kubectl("get", "events"))

    say("load balancers left in the cloud")
    left = world.cloud.load_balancers()
    show("none" if not left else str(left))
    if left:
        raise AssertionError("the cloud is not empty")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ccmd-demo-") as folder:
        with World(args.build, folder) as world:
            demo(world)
    print("\ndemo: ok")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        print(f"\ndemo: FAILED: {error}", file=sys.stderr)
        sys.exit(1)
