"""Nodes as kubelets register them and as the cloud has them: what tests of the plugin `node` make, change and look at."""

from . import objects

NEW = "node.cloudprovider.kubernetes.io/uninitialized"
SEEN = "node.alibabacloud.com/instance-charge-type"  # nodes that were seen in the cloud have it
QUICK = {"period_s": 1, "gone_confirm_s": 1}


def configure(world, alicloud="", election="enabled = false;", ecs=None, **options):
    """ecs: where calls of ECS go instead of to cloudsim."""
    places = {name: world.cloud.base for name in ("slb", "nlb", "vpc", "ecs", "sts", "eflo", "cas", "metadata")}
    places["ecs"] = ecs or places["ecs"]
    endpoints = " ".join(f'{name} = "{base}";' for name, base in places.items())
    text = " ".join(f"{key} = {value};" for key, value in options.items())
    world.config = world.write_config(plugins=f'{{ name = "node"; {text} }}', alicloud=alicloud, election=election,
                                     endpoints=endpoints)


def register(name, instance=None, region="cn-hangzhou", labels=None):
    """As kubelet registers itself with an external cloud provider, in one request: its status comes with it."""
    body = objects.node(name, instance or f"i-{name}", region=region, labels=labels)
    body["spec"]["taints"] = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
                              {"key": NEW, "value": "true", "effect": "NoSchedule"}]
    body["status"]["addresses"] = [{"type": "Hostname", "address": name}]
    return body


def seen(name, instance=None, region="cn-hangzhou"):
    """One that was initialised long ago."""
    return objects.node(name, instance or f"i-{name}", region=region, labels={SEEN: "PostPaid"})


def instances(world, numbers, **more):
    """cloudsim has i-node-1 to i-node-5 from the start."""
    world.cloud.http.request("POST", "/_sim/instances", {"instances": [
        {"id": f"i-node-{n}", "vswitch": "vsw-a", **more} for n in numbers if n > 5]})


def all_nodes(world):
    return {item["metadata"]["name"]: item for item in world.kube.state()["nodes"]}


def tainted(world):
    return sorted(name for name, item in all_nodes(world).items()
                  if any(taint["key"] == NEW for taint in item["spec"].get("taints", [])))


def addresses(item):
    return [(one["type"], one["address"]) for one in item["status"].get("addresses", [])]


def ready(world, name, status):
    world.kube.patch("Node", name, {"status": {"conditions": [{"type": "Ready", "status": status}]}}, subresource="status")


def release(world, name):
    world.cloud.edit("delete", type="instance", id=f"i-{name}")


def writes(world, since=0):
    """Requests to the API server that change nodes."""
    return [call for call in world.kube.calls(since)
            if call["action"].startswith(("PATCH /api/v1/nodes", "UPDATE /api/v1/nodes", "DELETE /api/v1/nodes"))]


def deletions(world, since=0):
    return [call for call in writes(world, since) if call["action"].startswith("DELETE")]


def looks(world, since=0):
    return [call for call in world.cloud.calls(since) if call["action"] == "DescribeInstances"]


def looked(world, count, since=None):
    """So many answers of the cloud later."""
    since = world.cloud.mark() if since is None else since
    world.wait(lambda: sum(call["http"] != 0 for call in looks(world, since)) >= count, f"{count} looks", timeout=30)
