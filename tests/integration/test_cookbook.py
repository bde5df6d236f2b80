"""Every manifest of docs/cookbook.md: `ccmd lint` finds nothing in it, and it becomes the load balancer that the page tells of."""

import os
import re
import shlex

import pytest
import yaml

from tests.support import objects, proc
from tests.support.pages import blocks
from tests.support.products import Clb, Nlb, OWNER_TAG
from tests.support.world import World

CLOUD = {
    "vpcs": [{"id": "vpc-cook", "cidr": "172.16.0.0/12", "ipv6": "2408:4005:1::/56"}],
    "vswitches": [{"id": "vsw-zone-h", "vpc": "vpc-cook", "zone": "cn-hangzhou-h", "cidr": "172.16.0.0/24", "ipv6": "2408:4005:1:1::/64"},
                  {"id": "vsw-zone-i", "vpc": "vpc-cook", "zone": "cn-hangzhou-i", "cidr": "172.16.1.0/24", "ipv6": "2408:4005:1:2::/64"}],
    "instances": [{"id": "i-cook-1", "ip": "172.16.0.11"}, {"id": "i-cook-2", "ip": "172.16.1.12"}],
    "enis": [{"id": "eni-cook", "instance": "i-cook-1", "ips": ["172.16.0.91", "172.16.0.92"], "ipv6": ["2408:4005:1:1::7"]}],
    "certificates": [{"id": "cert-shop"}],
    "cas_certificates": [{"id": "10000001-cn-hangzhou"}],
}
PODS = [("172.16.0.91", "node-1"), ("172.16.0.92", "node-1")]
SIX = ("2408:4005:1:1::7", "node-1")

# What the page promises: for each Service its listeners, and more of the load balancer.
RECIPES = {
    "http": {"shop": {"80/http": {"HealthCheck": "on", "HealthCheckURI": "/healthz"}}},
    "https": {"shop": {"80/http": {"ListenerForward": "on", "ForwardPort": "443"}, "443/https": {"ServerCertificateId": "cert-shop"}}},
    "tls": {"mqtt": {"8883/tcpssl": {"SecurityPolicyId": "tls_cipher_policy_1_2"}}},
    "internal-clb": {"billing": {"9000/tcp": {}}},
    "internal-nlb": {"billing": {"9000/tcp": {}}},
    "reuse": {"shop": {"80/tcp": {}}},
    "shared": {"shop": {"80/tcp": {}, "8443/tcp": {}}, "admin": {"80/tcp": {}, "8443/tcp": {}}},
    "fixed-clb": {"dns": {"53/udp": {}}},
    "fixed-nlb": {"mail": {"25/tcp": {}}},
    "ranges": {"admin": {"443/tcp": {"AclStatus": "on", "AclType": "white"}}},
    "acl": {"admin": {"443/tcp": {"AclStatus": "on", "AclType": "white"}}},
    "pods": {"shop": {"80/tcp": {}}},
    "mixed": {"dns": {"53/tcp": {}, "53/udp": {}}},
    "rollout": {"shop": {"80/tcp": {"ConnectionDrain": "on", "ConnectionDrainTimeout": "30"}}},
    "dual-stack": {"shop": {"80/tcp": {}}},
}
OF_LOAD_BALANCER = {
    "internal-clb": {"AddressType": "intranet", "VSwitchId": "vsw-zone-h"},
    "internal-nlb": {"AddressType": "Intranet"},
    "fixed-clb": {"Address": "172.16.0.53"},
    "dual-stack": {"AddressIpVersion": "DualStack", "Ipv6AddressType": "Internet"},
}
BACKENDS = {"pods": {"172.16.0.91", "172.16.0.92"}, "rollout": {"172.16.0.91", "172.16.0.92"}, "dual-stack": {"172.16.0.91", "172.16.0.92", f"[{SIX[0]}]"}}


def manifests():
    found = {block.mark.removeprefix("recipe: "): block.text for block in blocks("cookbook.md") if block.mark.startswith("recipe: ")}
    assert sorted(found) == sorted(RECIPES)
    return found


def made_ids(world):
    """What a person would have made in the console, by the name that the page gives to it."""
    def call(product, action, **params):
        answer = world.cloud.edit("call", product=product, action=action, params=params)
        assert answer["http"] == 200, answer
        return answer["answer"]

    lb = call("slb", "CreateLoadBalancer", LoadBalancerName="shop-of-a-person", InstanceChargeType="PayByCLCU", AddressType="internet")
    acl = call("slb", "CreateAccessControlList", AclName="office")
    return {"lb-shop": lb["LoadBalancerId"], "acl-office": acl["AclId"],
            "eip-mail-h": call("vpc", "AllocateEipAddress", InternetChargeType="PayByTraffic")["AllocationId"],
            "eip-mail-i": call("vpc", "AllocateEipAddress", InternetChargeType="PayByTraffic")["AllocationId"]}


def make_pods(world, documents):
    """The part of a Deployment's controller."""
    for document in documents:
        if document["kind"] != "Deployment":
            continue
        template = document["spec"]["template"]
        assert [gate["conditionType"] for gate in template["spec"]["readinessGates"]] == ["service.readiness.alibabacloud.com/shop"]
        for address, node in PODS:
            name = "pod-" + address.replace(".", "-")
            world.kube.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", **template["metadata"]},
                               "spec": {**template["spec"], "nodeName": node}})
            world.kube.patch("Pod", name, {"status": {"conditions": [{"type": "ContainersReady", "status": "True"}]}}, subresource="status")


def make_slices(world, service):
    """The part of the controller of EndpointSlices."""
    ports = [{"protocol": "TCP", "targetPort": port["port"], **port} for port in service["spec"]["ports"]]
    service = {"metadata": {"namespace": "default", **service["metadata"]}, "spec": {**service["spec"], "ports": ports}}
    made = objects.endpoint_slice(service, PODS)
    for endpoint in made["endpoints"]:
        pod = world.kube.get("Pod", endpoint["targetRef"]["name"])
        if pod is not None:  # its gate is closed, so it is not ready yet
            endpoint["targetRef"]["uid"] = pod["metadata"]["uid"]
            endpoint["conditions"]["ready"] = False
    world.kube.create(made)
    if service["spec"].get("ipFamilyPolicy") == "PreferDualStack":
        world.kube.create(objects.endpoint_slice(service, [SIX], suffix="six", address_type="IPv6"))


def product_of(service):
    return Nlb() if "loadBalancerClass" in service["spec"] else Clb()


def owned(world, product, service):
    """The load balancer of the Service, as Kubernetes tells its id."""
    wanted = service["metadata"].get("labels", {}).get("service.k8s.alibaba/loadbalancer-id")
    return next((lb for lb in product.find(world) if lb["LoadBalancerId"] == wanted), None)


def differences(world, recipe, name):
    live = world.kube.get("Service", name)
    product = product_of(live)
    lb = owned(world, product, live)
    if lb is None or not live.get("status", {}).get("loadBalancer", {}).get("ingress"):
        return f"{name} has no load balancer or no address: {live}"
    listeners = {one["key"]: one for one in lb["Listeners"]}
    wanted = RECIPES[recipe][name]
    if sorted(listeners) != sorted(wanted):
        return f"listeners {sorted(listeners)}"
    found = [(key, what, listeners[key].get(what)) for key in wanted for what, value in wanted[key].items()
             if str(listeners[key].get(what)) != value]
    found += [(what, lb.get(what)) for what, value in OF_LOAD_BALANCER.get(recipe, {}).items() if lb.get(what) != value]
    servers = {server for group in lb["Groups"] for server, _, _ in group["servers"]}
    if servers != BACKENDS.get(recipe, {"cook-1", "cook-2"}):
        found.append(("backends", servers))
    return "; ".join(map(str, found))


def gates_missing(world, documents):
    """Pods whose gate is not open, where a Deployment has gates."""
    if not any(document["kind"] == "Deployment" for document in documents):
        return []
    pods = world.kube.state()["pods"]
    opened = [pod for pod in pods for one in pod["status"]["conditions"]
              if one["type"].startswith("service.readiness.") and one["status"] == "True"]
    return [] if len(opened) == len(pods) == len(PODS) else [pod["metadata"]["name"] for pod in pods if pod not in opened]


@pytest.fixture(name="kitchen")
def fixture_kitchen(build, tmp_path):
    with World(build, tmp_path, kube_args=["--dual-stack"]) as world:
        world.cloud.http.request("POST", "/_sim/instances", CLOUD)
        world.config = world.write_config(
            plugins='{ name = "clb"; source_ranges = true; }, { name = "nlb"; }', alicloud='vpc_id = "vpc-cook"; vswitch_ids = ["vsw-zone-h"];')
        for number in (1, 2):
            world.kube.create(objects.node(f"node-{number}", f"i-cook-{number}"))
        yield world


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_recipe_becomes_what_the_page_tells(kitchen, tmp_path, recipe):
    text = manifests()[recipe]
    ids = made_ids(kitchen)
    for name, made in ids.items():
        text = re.sub(rf"\b{name}\b(?=[\",])", made, text)
    file = tmp_path / f"{recipe}.yaml"
    file.write_text(text)
    done = proc.run([kitchen.binary("ccmd"), "lint", "--config", kitchen.config, str(file)])
    assert done[0] == 0 and "warning" not in done[1] + done[2] and "error" not in done[1] + done[2], done

    kitchen.start_ccmd()
    documents = list(yaml.safe_load_all(text))
    services = [document for document in documents if document["kind"] == "Service"]
    make_pods(kitchen, documents)
    for service in services:
        make_slices(kitchen, service)
        kitchen.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(service))
    for service in services:
        name, found = service["metadata"]["name"], []
        kitchen.wait(lambda: not found.append(differences(kitchen, recipe, name)) and not found[-1], f"{recipe}: {found[-1:]}", timeout=30)
    kitchen.wait(lambda: gates_missing(kitchen, documents) == [], "open gates", timeout=30)
    kitchen.settled()
    told = [event for service in services for event in kitchen.kube.events(service["metadata"]["name"]) if event[0] != "Normal"]
    assert told == []
    assert len(kitchen.cloud.load_balancers()) + len(kitchen.cloud.network_load_balancers()) <= 2


def test_both_products_serve_mixed_protocols(kitchen):
    """As the page says of it."""
    service = yaml.safe_load(manifests()["mixed"])
    service["spec"]["loadBalancerClass"] = "alibabacloud.com/nlb"
    service["metadata"]["annotations"] = {
        "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-zone-maps": "cn-hangzhou-h:vsw-zone-h,cn-hangzhou-i:vsw-zone-i"}
    kitchen.start_ccmd()
    make_slices(kitchen, service)
    kitchen.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(service))
    kitchen.wait(lambda: differences(kitchen, "mixed", "dns") == "", "both listeners", timeout=30)


def test_commands_that_find_one_from_the_other(kitchen):
    """The table at the end of the page."""
    kitchen.start_ccmd()
    kitchen.kubectl("apply", "-f", "-", stdin=manifests()["http"])
    service = kitchen.wait(lambda: kitchen.kube.ingress("shop") and kitchen.kube.get("Service", "shop"), "an address")
    kitchen.settled()
    lb = Clb().only(kitchen)
    text = open(os.path.join(os.path.dirname(__file__), "../../docs/cookbook.md"), encoding="utf-8").read()
    to_lb = re.search(r"a Service \| its load balancer \| `kubectl (.*?)`", text).group(1)
    assert "service\\.k8s\\.alibaba/loadbalancer-id" in to_lb
    assert kitchen.kubectl("get", "service", "shop", *shlex.split(to_lb)[3:]).strip() == lb["LoadBalancerId"]
    assert "shop" in kitchen.kubectl("get", "services", "-A", "-l", f"service.k8s.alibaba/loadbalancer-id={lb['LoadBalancerId']}")
    assert lb["Tags"][OWNER_TAG] == ("a" + service["metadata"]["uid"].replace("-", ""))[:32]
