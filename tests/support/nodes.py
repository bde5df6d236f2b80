"""Nodes as they are once somebody has initialised them: this plugin, or the reference before it."""

LABELS = {
    "InstanceType": ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
    "ZoneId": ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    "RegionId": ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    "InstanceChargeType": ("node.alibabacloud.com/instance-charge-type",),
    "SpotStrategy": ("node.alibabacloud.com/spot-strategy",),
}
USUAL = {"InstanceType": "ecs.g7.large", "InstanceChargeType": "PostPaid", "SpotStrategy": "NoSpot"}


def instances(world):
    return {item["InstanceId"]: item for item in world.cloud.state()["instances"]}


def initialised(body, instance):
    """The Node object with the labels and addresses that its instance gives it."""
    for fact, keys in LABELS.items():
        body["metadata"]["labels"].update({key: instance.get(fact) or USUAL[fact] for key in keys})
    body["status"]["addresses"] = [{"type": "InternalIP", "address": instance["PrivateIp"]},
                                   {"type": "Hostname", "address": body["metadata"]["name"]}]
    return body
