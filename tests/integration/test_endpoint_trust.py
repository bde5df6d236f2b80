"""EndpointSlices lead a load balancer to pods, not to what listens on a node, whoever wrote them."""

from tests.support import objects, views

PODS = {"service.beta.kubernetes.io/backend-type": "eni"}
NODE_ADDRESS = "10.1.0.11"  # that of the primary interface of i-node-1


def node():
    made = objects.node("node-1", "i-node-1")
    made["status"]["addresses"] = [{"type": "InternalIP", "address": NODE_ADDRESS}]
    return made


def interfaces(world, *addresses):
    world.cloud.http.request("POST", "/_sim/instances", {
        "enis": [{"id": f"eni-{n}", "ip": a, "instance": "i-node-1"} for n, a in enumerate(addresses)]})


def events(world, text):
    return [e for e in world.kube.events() if text in e[2]]


def servers(world):
    lb = views.only_lb(world)
    return views.backends(lb) if lb else None


def test_the_address_of_a_node_is_no_backend(world):
    interfaces(world, "10.1.0.1")
    service = objects.service("web", annotations=PODS)
    world.kube.create(node(), service, objects.endpoint_slice(service, [("10.1.0.1", "node-1"), (NODE_ADDRESS, "")]))
    world.start_ccmd()
    world.wait(lambda: world.kube.ingress("web"), "an address")
    world.settled()
    assert servers(world) == [["10.1.0.1"]]
    assert len(events(world, f"Not sync pods [{NODE_ADDRESS}] whose ip is that of a node")) == 1


def test_endpoints_have_to_be_pods_where_an_operator_says_so(world):
    interfaces(world, "10.1.0.1", "10.1.0.2", "10.1.0.3")
    service = objects.service("web", annotations=PODS)
    slice_ = objects.endpoint_slice(service, [(f"10.1.0.{n}", "node-1") for n in (1, 2, 3)])
    del slice_["endpoints"][1]["targetRef"]
    slice_["endpoints"][2]["targetRef"]["namespace"] = "other"
    world.kube.create(node(), service, slice_)
    world.config = world.write_config(plugins='{ name = "clb"; endpoints = "pods"; }')
    world.start_ccmd()
    world.wait(lambda: world.kube.ingress("web"), "an address")
    world.settled()
    assert servers(world) == [["10.1.0.1"]]
    assert len(events(world, "Endpoints that are no pods are left out: 10.1.0.")) == 1
    slice_["endpoints"][1]["targetRef"] = {"kind": "Pod", "name": "web-2", "namespace": "default"}
    world.kube.replace(slice_)
    world.wait(lambda: servers(world) == [["10.1.0.1", "10.1.0.2"]], "the pod")
