"""What the reference controller leaves behind for a Service: names, labels, tags, status. ccmd has no part in it."""

import hashlib
import re

CLUSTER_ID = "c-test"
FINALIZER = "service.k8s.alibaba/resources"
HASH_LABEL = "service.beta.kubernetes.io/hash"
ID_LABEL = "service.k8s.alibaba/loadbalancer-id"

# Plain texts that YAML would read as something else, as far as Services can carry them.
RESOLVES = re.compile(
    r"^(?:|~|null|Null|NULL|true|True|TRUE|false|False|FALSE|y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF"
    r"|[-+]?[0-9][0-9_]*|0x[0-9a-fA-F_]+|0o?[0-7_]+|[-+]?(?:[0-9][0-9_]*)?\.[0-9]*(?:[eE][-+]?[0-9]+)?"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*)$")
SPECIAL = re.compile(r"^[-?:,\[\]{}#&*!|>'\"%@` ]|: |:$| #| $")


def scalar(value):
    """One YAML scalar, for values without line breaks."""
    if isinstance(value, int):
        return str(value)
    if RESOLVES.match(value) and not re.match(r"^\.$", value):
        return f'"{value}"'
    return f"'{value}'" if SPECIAL.search(value) else value


def yaml_lines(value, indent):
    """Lines of a block: mappings sorted, empty members left out, list items not indented under their key."""
    blank = " " * indent
    if isinstance(value, dict):
        lines = []
        for key in sorted(value):
            item = value[key]
            if isinstance(item, (dict, list)):
                inner = yaml_lines(item, indent + (2 if isinstance(item, dict) else 0))
                lines += [f"{blank}{key}:", *inner]
            else:
                lines.append(f"{blank}{key}: {scalar(item)}")
        return lines
    lines = []
    for item in value:
        if isinstance(item, (dict, list)):
            inner = yaml_lines(item, indent + 2)
            lines += [f"{blank}- {inner[0].lstrip()}", *inner[1:]]
        else:
            lines.append(f"{blank}- {scalar(item)}")
    return lines


def service_hash(service):
    """The value of the hash label."""
    spec, meta = service["spec"], service["metadata"]
    names = ("name", "protocol", "appProtocol", "port", "targetPort", "nodePort")
    ports = [{name: port[name] for name in names if port.get(name)} for port in spec["ports"]]
    parts = [ports, spec.get("type"), spec.get("externalTrafficPolicy"), spec.get("loadBalancerClass"),
             {k: v for k, v in meta.get("annotations", {}).items() if v}, meta.get("deletionTimestamp"),
             spec.get("loadBalancerSourceRanges")]
    text = "\n".join(yaml_lines([part for part in parts if part], 0)) + "\n"
    return hashlib.sha224(text.encode()).hexdigest()


def default_name(service):
    return ("a" + service["metadata"]["uid"].replace("-", ""))[:32]


def key(part, service):
    """Name of a group and description of its backends (part: node or target port) or of a listener (its port)."""
    meta = service["metadata"]
    return f"k8s/{part}/{meta['name']}/{meta['namespace']}/{CLUSTER_ID}"


class Builder:
    """Makes in the cloud what the reference makes for Services of nodes, and marks the Services as it does."""

    def __init__(self, world):
        self.world = world

    def call(self, action, **params):
        flat = {name.replace("__", "."): str(value) for name, value in params.items()}
        answer = self.world.cloud.edit("call", product="slb", action=action, params=flat)
        assert answer["http"] == 200, f"{action}: {answer}"
        return answer["answer"]

    def load_balancer(self, service, **params):
        name = default_name(service)
        return self.call(
            "CreateLoadBalancer", AddressType="internet", InstanceChargeType="PayByCLCU", LoadBalancerName=name,
            DeleteProtection="on", ModificationProtectionStatus="ConsoleProtection",
            ModificationProtectionReason="managed.by.ack", Tag__1__Key="kubernetes.do.not.delete", Tag__1__Value=name,
            Tag__2__Key="ack.aliyun.com", Tag__2__Value=CLUSTER_ID, **params)

    def group(self, service, lb_id, part, backends):
        """backends: the members without description."""
        name = key(part, service)
        group = self.call("CreateVServerGroup", LoadBalancerId=lb_id, VServerGroupName=name)["VServerGroupId"]
        items = ",".join(
            "{" + ",".join(f'"{k}": "{v}"' for k, v in {**b, "description": name}.items()) + "}" for b in backends)
        if items:
            self.call("AddVServerGroupBackendServers", VServerGroupId=group, BackendServers=f"[{items}]")
        return group

    def listener(self, service, lb_id, port, group, **params):
        protocol = port["protocol"]
        self.call(f"CreateLoadBalancer{protocol}Listener", LoadBalancerId=lb_id, ListenerPort=port["port"], Bandwidth=-1,
                  Scheduler="rr", VServerGroupId=group, Description=key(port["port"], service), **params)
        self.call("StartLoadBalancerListener", LoadBalancerId=lb_id, ListenerPort=port["port"],
                  ListenerProtocol=protocol.lower())

    def mark(self, service, lb_id, address):
        """Finalizer, labels and status."""
        name = service["metadata"]["name"]
        self.world.kube.patch("Service", name, {"metadata": {"finalizers": [FINALIZER]}})
        service = self.world.kube.get("Service", name)
        self.world.kube.patch("Service", name, {
            "metadata": {"labels": {HASH_LABEL: service_hash(service), ID_LABEL: lb_id}},
            "status": {"loadBalancer": {"ingress": [{"ip": address}]}},
        }, subresource="status")
