"""The commands of the sandbox, typed by a user: the cloud follows each within a second."""

import os

from tests.support import views

FOLLOWS = 1.0  # seconds; stretched like every deadline where the machine is slow


def test_sandbox_commands(world):
    views.nodes(world, 3)
    world.start_ccmd()
    world.wait(lambda: "started" in world.log(), "the start")
    manifest = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support", "sandbox.yaml")

    world.kubectl("apply", "-f", manifest)
    ports = ((80, "TCP"), (443, "TCP"))
    world.wait(lambda: views.complete(views.only_lb(world), ports) and world.kube.ingress("web"), "the CLB", FOLLOWS)
    both = ["i-node-1", "i-node-2"]
    world.wait(lambda: views.backends(views.only_lb(world)) == [both, both], "two backends", FOLLOWS)

    world.kubectl("patch", "endpointslice", "web-1", "--type", "json", "-p", '[{"op":"remove","path":"/endpoints/1"}]')
    one = ["i-node-1"]
    world.wait(lambda: views.backends(views.only_lb(world)) == [one, one], "one backend", FOLLOWS)

    world.kubectl("patch", "service", "web", "-p", '{"spec":{"externalTrafficPolicy":"Cluster"}}')
    three = ["i-node-1", "i-node-2", "i-node-3"]
    world.wait(lambda: views.backends(views.only_lb(world)) == [three, three], "every node", FOLLOWS)
    world.kubectl("cordon", "node-1")
    rest = ["i-node-2", "i-node-3"]
    world.wait(lambda: views.backends(views.only_lb(world)) == [rest, rest], "the cordoned node to leave", FOLLOWS)
    world.kubectl("uncordon", "node-1")
    world.wait(lambda: views.backends(views.only_lb(world)) == [three, three], "the node to be back", FOLLOWS)

    address = views.only_lb(world)["Address"]
    assert address in world.kubectl("get", "service", "web")
    assert "EnsuredLoadBalancer" in world.kubectl("describe", "service", "web")

    world.kubectl("patch", "service", "web", "-p", '{"spec":{"type":"ClusterIP"}}')
    world.wait(lambda: not world.cloud.load_balancers(), "the cloud to be empty", FOLLOWS)
    world.wait(lambda: "finalizers" not in world.kube.get("Service", "web")["metadata"], "the finalizer to go", FOLLOWS)
    world.kubectl("delete", "service", "web")
    assert world.kube.get("Service", "web") is None
