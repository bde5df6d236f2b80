"""Nodes of several kinds as kubelets register them, and what the reference controller makes of each: labels, addresses, condition, taint.
It ran with IPv6DualStack, and wrote conditions for routes to come."""

from . import cloud_nodes

NODE_IP = "alpha.kubernetes.io/provided-node-ip"
POOL = "node.alibabacloud.com/nodepool-id"
ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
REGIONS = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
NO_ROUTE = {"type": "NetworkUnavailable", "status": "True", "reason": "NoRouteCreated", "message": "Node created without a route",
            "lastTransitionTime": "2026-01-01T00:00:00Z"}
EIP = "203.0.113.7"  # of `eip` below; which one the cloud has given is filled in


def labels(zone, charge="PostPaid", spot="NoSpot", **more):
    return {**{key: "ecs.g7.large" for key in TYPES}, **{key: zone for key in ZONES}, **{key: "cn-hangzhou" for key in REGIONS},
            "node.alibabacloud.com/instance-charge-type": charge, "node.alibabacloud.com/spot-strategy": spot, **more}


def internal(*values):
    return [("InternalIP", value) for value in values]


class Kind:
    """One node. joined: what differs from a plain node when kubelet registers it. left: (labels, addresses without its name) as the
    reference leaves them; None: it leaves the node as it was, but for the taint where `untainted`. named: its name is kept among the
    addresses. route: it gets the condition."""

    def __init__(self, provider, left=None, name=None, untainted=True, **joined):
        self.provider = provider
        self.name = name
        self.left = left
        self.untainted = untainted
        self.labels = joined.get("labels", {})
        self.annotations = joined.get("annotations", {})
        self.named = joined.get("named", True)
        self.route = joined.get("route", left is not None)
        self.ready = joined.get("ready", "True")


KINDS = {
    "plain": Kind("cn-hangzhou.i-node-1", (labels("cn-hangzhou-h"), internal("10.1.0.11"))),
    "addresses": Kind("cn-hangzhou.i-node-2", (
        labels("cn-hangzhou-i"), [("ExternalIP", "47.1.1.1"), *internal("10.9.9.9", "10.2.0.12")])),
    "eip": Kind("cn-hangzhou.i-node-3", (labels("cn-hangzhou-h"), [("ExternalIP", EIP), *internal("10.1.0.13")])),
    "pool": Kind("alicloud://cn-hangzhou.i-node-4", (
        labels("cn-hangzhou-i", "PrePaid", "SpotWithPriceLimit", **{POOL: "np-1"}), internal("10.2.0.14")), name="cn-hangzhou.10.2.0.14"),
    # The reference takes the one address for all.
    "chosen": Kind("cn-hangzhou.i-node-5", (labels("cn-hangzhou-h"), internal("10.1.0.15")), annotations={NODE_IP: "10.1.0.15"},
                   named=False),
    "ipv6": Kind("cn-hangzhou.i-node-6", (labels("cn-hangzhou-h"), internal("10.1.0.16", "2408::6", "2408::7"))),
    "excluded": Kind("cn-hangzhou.i-node-7", (labels("cn-hangzhou-h"), internal("10.1.0.17")), route=False,
                     labels={"service.alibabacloud.com/exclude-node": "yes"}),
    "stopped": Kind("cn-hangzhou.i-node-8", (labels("cn-hangzhou-h"), internal("10.1.0.18")), ready="Unknown"),
    "lingjun": Kind("e01-lingjun", labels={"alibabacloud.com/lingjun-worker": "true"}),
    "tianwen": Kind("e01-tianwen", untainted=False, labels={"alibabacloud.com/lingjun-worker": "true",
                                                            "alibabacloud.com/lingjun-tianwen-environment": "x"}),
    "hybrid": Kind("ack-hybrid://123456", untainted=False),
    "unnamed": Kind("", untainted=False),
}


def name_of(word):
    return KINDS[word].name or word


def instances(world):
    """Of all of these in the cloud."""
    world.cloud.http.request("POST", "/_sim/instances", {"instances": [
        {"id": f"i-node-{n}", "vswitch": "vsw-a", "ip": f"10.1.0.{10 + n}", "ipv6": ["2408::6", "2408::7"] if n == 6 else []} for n in (6, 7, 8)]})
    for number, attributes in ((2, {"PublicIp": "47.1.1.1", "InnerIp": "10.9.9.9"}), (8, {"Status": "Stopped"}),
                               (4, {"InstanceChargeType": "PrePaid", "SpotStrategy": "SpotWithPriceLimit"})):
        world.cloud.edit("update", type="instance", id=f"i-node-{number}", attributes=attributes)
    world.cloud.edit("update", type="instance", id="i-node-4", tags={"ack.alibabacloud.com/nodepool-id": "np-1"})
    made = world.cloud.edit("call", product="vpc", action="AllocateEipAddress", params={"RegionId": "cn-hangzhou"})["answer"]
    done = world.cloud.edit("call", product="vpc", action="AssociateEipAddress", params={
        "AllocationId": made["AllocationId"], "InstanceId": "i-node-3"})
    assert done["http"] == 200, done
    world.cloud.edit("create", type="lingjun_node", id="e01-lingjun")
    return made["EipAddress"]


def joined(word):
    """As kubelet registers it."""
    kind = KINDS[word]
    body = cloud_nodes.register(name_of(word), labels=kind.labels)
    body["metadata"]["annotations"] = dict(kind.annotations)
    body["spec"]["providerID"] = kind.provider
    body["status"]["conditions"][0]["status"] = kind.ready
    return body


def address_list(pairs):
    return [{"type": type, "address": address} for type, address in pairs]


def left(word, eip):
    """As the reference leaves it."""
    kind, body = KINDS[word], joined(word)
    if kind.untainted:
        body["spec"]["taints"] = [taint for taint in body["spec"]["taints"] if taint["key"] != cloud_nodes.NEW]
    if kind.left is not None:
        more, addresses = kind.left
        body["metadata"]["labels"].update(more)
        body["status"]["addresses"] = address_list([(type, eip if value == EIP else value) for type, value in addresses]
                                                        + ([("Hostname", name_of(word))] if kind.named else []))
    if kind.route:
        body["status"]["conditions"].append(dict(NO_ROUTE))
    return body


def facts(item):
    """What a controller decides about, to be compared."""
    return {
        "labels": item["metadata"].get("labels", {}),
        "provider": item["spec"].get("providerID", ""),
        "taints": [taint["key"] for taint in item["spec"].get("taints", [])],
        "addresses": [(one["type"], one["address"]) for one in item["status"].get("addresses", [])],
        "network": [(c["status"], c["reason"], c["message"]) for c in item["status"]["conditions"] if c["type"] == "NetworkUnavailable"],
    }
