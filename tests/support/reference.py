"""What the reference controller leaves behind for a Service: names, labels, tags, status. ccmd has no part in it."""

from tests.support.service_hash import LABEL as HASH_LABEL

CLUSTER_ID = "c-test"
FINALIZER = "service.k8s.alibaba/resources"
NLB_FINALIZER = "service.k8s.alibaba/nlb"
GUARD_LABEL = "service.k8s.alibaba/security-group-id"
ID_LABEL = "service.k8s.alibaba/loadbalancer-id"

# Of another Service: ccmd does not know how the reference hashes, and recognizes only the form of its own label.
HASH = "ae0e4bf945da00bae686bdff884d8be29cfcd4ffb747b56f87341e8d"


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

    finalizer = FINALIZER

    def mark(self, service, lb_id, *, labels=None, **entry):
        """Finalizer, labels and status; entry: ip or hostname."""
        name = service["metadata"]["name"]
        self.world.kube.patch("Service", name, {"metadata": {"finalizers": [self.finalizer]}})
        self.world.kube.patch("Service", name, {
            "metadata": {"labels": {HASH_LABEL: HASH, ID_LABEL: lb_id, **(labels or {})}},
            "status": {"loadBalancer": {"ingress": [entry]}},
        }, subresource="status")


def nlb_key(part, protocol, service):
    """Name of a group and description of its servers (part: node or target port) or of a listener (its port)."""
    meta = service["metadata"]
    return f"k8s.{part}.{protocol}.{meta['name']}.{meta['namespace']}.{CLUSTER_ID}"


class NlbBuilder(Builder):
    """The same with NLB."""

    finalizer = NLB_FINALIZER

    def call(self, action, product="nlb", **params):
        flat = {name.replace("__", "."): str(value) for name, value in params.items()}
        answer = self.world.cloud.edit("call", product=product, action=action, params=flat)
        assert answer["http"] == 200, f"{action}: {answer}"
        return answer["answer"]

    @staticmethod
    def tags(service):
        return {"Tag__1__Key": "kubernetes.do.not.delete", "Tag__1__Value": default_name(service),
                "Tag__2__Key": "ack.aliyun.com", "Tag__2__Value": CLUSTER_ID}

    def load_balancer(self, service, zones=(("cn-hangzhou-h", "vsw-a"), ("cn-hangzhou-i", "vsw-b")), **params):
        """(id, name in DNS)"""
        params = {"AddressType": "internet", "LoadBalancerName": default_name(service), "VpcId": "vpc-test",
                  "DeletionProtectionConfig__Enabled": "true", "ModificationProtectionConfig__Status": "ConsoleProtection",
                  "ModificationProtectionConfig__Reason": "managed.by.ack", **self.tags(service), **params}
        for number, (zone, switch) in enumerate(zones, 1):
            params[f"ZoneMappings__{number}__ZoneId"], params[f"ZoneMappings__{number}__VSwitchId"] = zone, switch
        made = self.call("CreateLoadBalancer", **params)["LoadbalancerId"]
        return made, self.call("GetLoadBalancerAttribute", LoadBalancerId=made)["DNSName"]

    def group(self, service, part, protocol, servers, **params):
        """servers: the members without description."""
        name = nlb_key(part, protocol, service)
        group = self.call("CreateServerGroup", **{"ServerGroupName": name, "VpcId": "vpc-test", "Protocol": protocol,
                                                  "AnyPortEnabled": "false", **self.tags(service), **params})["ServerGroupId"]
        flat = {f"Servers__{n}__{k}": v for n, one in enumerate(servers, 1) for k, v in {**one, "Description": name}.items()}
        if flat:
            self.call("AddServersToServerGroup", ServerGroupId=group, **flat)
        return group

    def listener(self, service, lb_id, port, protocol, group, **params):
        return self.call("CreateListener", **{"LoadBalancerId": lb_id, "ListenerProtocol": protocol, "ListenerPort": port,
                                              "ServerGroupId": group, "ListenerDescription": nlb_key(port, protocol, service),
                                              **params})["ListenerId"]

    def guard(self, service, lb_id, ranges):
        """The security group for source ranges."""
        meta = service["metadata"]
        text = f"k8s.{meta['namespace']}.{meta['name']}.{CLUSTER_ID}"
        made = self.call("CreateSecurityGroup", "ecs", VpcId="vpc-test", SecurityGroupName="k8s-nlb-" + default_name(service),
                         SecurityGroupType="enterprise", Description=text, **self.tags(service))["SecurityGroupId"]
        rules = [("accept", one, 1) for one in ranges] + [("drop", "0.0.0.0/0", 100)]
        flat = {f"Permissions__{n}__{k}": v for n, (policy, cidr, priority) in enumerate(rules, 1) for k, v in {
            "Policy": policy, "SourceCidrIp": cidr, "Priority": priority, "IpProtocol": "All", "PortRange": "-1/-1",
            "Description": text}.items()}
        self.call("AuthorizeSecurityGroup", "ecs", SecurityGroupId=made, **flat)
        self.call("LoadBalancerJoinSecurityGroup", LoadBalancerId=lb_id, SecurityGroupIds__1=made)
        return made
