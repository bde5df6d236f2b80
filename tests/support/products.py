"""What differs between the kinds of load balancer: one class per plugin, so that tests can speak of all of them alike.

load_balancers(state, owners) gives cloudsim's load balancers with two members in one form for all kinds: "Listeners",
each with "key" ("80/tcp") and "group" (an id), and "Groups", each with "id", "name" and "servers" [(server, port, weight)].
owners: load balancer -> default names of the Services that use it although it is not theirs.
"""

import json

from . import objects
from .world import CLUSTER_ID

PREFIX = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
OWNER_TAG = "kubernetes.do.not.delete"
ZONES = {"cn-hangzhou-h": "vsw-a", "cn-hangzhou-i": "vsw-b"}


def default_name(uid):
    return ("a" + uid.replace("-", ""))[:32]


def port_of(service, number):
    return next((port for port in service["spec"]["ports"] if port["port"] == number), None)


class Product:
    """call(action, params, product): an action of the cloud, carried out behind ccmd's back; fails when it is refused.
    None: for looking only."""


    def __init__(self, call=None):
        self.call = call
        self.groups = {}  # load balancer -> {name: id} of the groups that were made for it

    def servers(self, items, backend):
        """items: matches of SERVER[:PORT][*WEIGHT]."""
        return [backend(item["server"], item["port"] or 80, item["weight"] or 100) for item in items]

    def allow(self, count):
        """Arguments for cloudsim that has room for so many things of each kind."""
        return [f"--limit={name}={count}" for name in self.limits]

    def configure(self, world, options="", unlimited=False, **config):
        """Let ccmd run with this plugin alone."""
        quotas = " ".join(f"{name} = 1000000;" for name in self.quotas)
        world.config = world.write_config(plugins=f'{{ name = "{self.name}"; workers = 4; {options} }}',
                                          alicloud=f"quotas: {{ {quotas} }};" if unlimited else "", **config)

    def new(self, name, ports=((80, "TCP"),), **options):
        """A Service object of this kind, see objects.service()."""
        service = objects.service(name, ports, **options)
        self.service(service["spec"], service["metadata"]["annotations"])
        return service

    def find(self, world):
        """What the cloud holds, in the form above."""
        return self.load_balancers(world.cloud.state(), {})

    def only(self, world):
        """The one load balancer of the cloud; a second one is a failure, none is nothing yet."""
        found = self.find(world)
        assert len(found) <= 1, f"more than one load balancer: {[lb['LoadBalancerId'] for lb in found]}"
        return found[0] if found else None

    def complete(self, lb, ports):
        """Every port has a running listener whose group exists and has backends, and nothing else is there."""
        if lb is None or sorted(one["key"] for one in lb["Listeners"]) != sorted(
                f"{port}/{protocol.lower()}" for port, protocol in ports):
            return False
        if any(one.get(key) != value for one in lb["Listeners"] for key, value in self.running.items()):
            return False
        ids = {group["id"] for group in lb["Groups"]}
        used = {listener["group"] for listener in lb["Listeners"]}
        return used == ids and all(group["servers"] for group in lb["Groups"])

    def make_tags(self, tags):
        params = {}
        for number, (key, value) in enumerate(tags.items(), 1):
            params[f"Tag.{number}.Key"], params[f"Tag.{number}.Value"] = key, value
        return params


class Clb(Product):
    name = "clb"
    product = "slb"
    quotas = ("slb_write", "slb_read", "vpc", "ecs")
    limits = ("load-balancers",)
    finalizer = "service.k8s.alibaba/resources"
    running = {"Status": "running"}

    def service(self, spec, annotations):
        """Add what a Service of this kind needs beside what the test says."""

    def status(self, lb):
        """Its entry in the status of a Service."""
        return {"ip": lb["Address"]}

    def load_balancers(self, state, owners):
        return [self._view(lb) for lb in state["loadBalancers"]]

    @staticmethod
    def _view(lb):
        listeners = [{**one, "key": f"{one['ListenerPort']}/{one['ListenerProtocol']}", "group": one.get("VServerGroupId")}
                     for one in lb["Listeners"]]
        groups = [{**one, "id": one["VServerGroupId"], "name": one["VServerGroupName"],
                   "servers": [(b["ServerIp"] if b["Type"] == "eni" else b["ServerId"].removeprefix("i-"), b["Port"],
                                int(b["Weight"])) for b in one["BackendServers"]]} for one in lb["VServerGroups"]]
        return {**lb, "Listeners": listeners, "Groups": groups}

    def group_name(self, service, key, eni):
        """A port of the Service stands for its group, a text for itself."""
        if not isinstance(key, int):
            return key
        port = port_of(service, key)
        part = key if port is None else port["targetPort"] if eni else port.get("nodePort")
        return f"k8s/{part}/{service['metadata']['name']}/default/{CLUSTER_ID}"

    def left(self, state, service):
        """What deletion should have taken away beside the load balancer."""
        return []

    def make_lb(self, handle, attributes, tags):
        made = self.call("CreateLoadBalancer", {
            "LoadBalancerName": handle, "InstanceChargeType": "PayByCLCU", "AddressType": "internet", **attributes,
            **self.make_tags(tags)})
        return made["LoadBalancerId"], made["Address"]

    def make_group(self, lb_id, name, items):
        group = self.call("CreateVServerGroup", {"LoadBalancerId": lb_id, "VServerGroupName": name})["VServerGroupId"]
        servers = self.servers(items, lambda server, port, weight: {
            "ServerId": "i-" + server, "Port": str(port), "Weight": str(weight), "Type": "ecs"})
        if servers:
            self.call("AddVServerGroupBackendServers", {"VServerGroupId": group, "BackendServers": json.dumps(servers)})

    def make_listener(self, lb_id, key, group, options):
        port, _, protocol = key.partition("/")
        status = options.pop("Status", "running")
        params = {"LoadBalancerId": lb_id, "ListenerPort": port, "Bandwidth": -1, **options}
        if protocol in ("http", "https"):
            params = {"HealthCheck": "off", "StickySession": "off", **params}
        if group is not None:
            params["VServerGroupId"] = group
        self.call(f"CreateLoadBalancer{protocol.upper()}Listener", params)
        if status == "running":
            self.call("StartLoadBalancerListener",
                      {"LoadBalancerId": lb_id, "ListenerPort": port, "ListenerProtocol": protocol})


class Nlb(Product):
    name = "nlb"
    product = "nlb"
    quotas = ("nlb_write", "nlb_read", "vpc", "ecs")
    limits = ("nlb-load-balancers", "nlb-server-groups", "nlb-server-uses")
    finalizer = "service.k8s.alibaba/nlb"
    running = {"ListenerStatus": "Running"}
    service_class = "alibabacloud.com/nlb"

    def service(self, spec, annotations):
        """Class and zones, unless the scenario has its own."""
        if spec.get("type", "LoadBalancer") == "LoadBalancer":
            spec.setdefault("loadBalancerClass", self.service_class)
        ours = spec.get("loadBalancerClass") == self.service_class or PREFIX + "type" in annotations
        if ours and not any(PREFIX + name in annotations for name in ("id", "zone-maps")):
            annotations[PREFIX + "zone-maps"] = ",".join(f"{zone}:{switch}" for zone, switch in ZONES.items())

    def status(self, lb):
        return {"hostname": lb["DNSName"]}

    def load_balancers(self, state, owners):
        groups = [self._group(one) for one in state["nlbServerGroups"]]
        return [self._view(lb, groups, owners.get(lb["LoadBalancerId"], set())) for lb in state["nlbLoadBalancers"]]

    @staticmethod
    def _server(server):
        if server["ServerType"] == "Ecs":
            return server["ServerId"].removeprefix("i-")
        return f"[{server['ServerIp']}]" if ":" in server["ServerIp"] else server["ServerIp"]

    def _group(self, group):
        servers = [(self._server(s), s["Port"], int(s["Weight"])) for s in group["Servers"] if s["Status"] != "Removing"]
        return {**group, "id": group["ServerGroupId"], "name": group["ServerGroupName"], "servers": servers}

    def _view(self, lb, groups, owners):
        """Its groups: those of its listeners, those of its owner and of Services that use it, those made for it."""
        listeners = [{**one, "key": self._key(one), "group": one["ServerGroupId"]} for one in lb["Listeners"]]
        used = {one["group"] for one in listeners} | set(self.groups.get(lb["LoadBalancerId"], {}).values())
        owners = owners | {lb["Tags"].get(OWNER_TAG)} - {None}
        zones = {one["ZoneId"]: one["VSwitchId"] for one in lb["ZoneMappings"]}
        return {**lb, "Listeners": listeners, "zones": zones, "joined": sorted(lb["SecurityGroupIds"]), "Groups": [
            one for one in groups if one["id"] in used or one["Tags"].get(OWNER_TAG) in owners]}

    @staticmethod
    def _key(listener):
        first, last = listener["StartPort"], listener["EndPort"]
        port = f"{first}-{last}" if first else listener["ListenerPort"]
        return f"{port}/{listener['ListenerProtocol'].lower()}"

    def group_name(self, service, key, eni):
        """A port of the Service (80, or "53/udp" where the protocol matters, or "100-200/tcp") stands for its group."""
        number, _, protocol = str(key).partition("/")
        first, _, last = number.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            return key
        port = port_of(service, int(first))
        part = f"{first}_{last}" if last else first if port is None else port["targetPort"] if eni else port.get("nodePort")
        protocol = protocol.upper() or self._protocol(service, port)
        return f"k8s.{part}.{protocol}.{service['metadata']['name']}.default.{CLUSTER_ID}"

    @staticmethod
    def _protocol(service, port):
        if port is None:
            return "TCP"
        told = service["metadata"].get("annotations", {}).get(PREFIX + "protocol-port", "")
        protocols = dict(reversed(item.split(":")) for item in told.split(",") if item.count(":") == 1)
        return protocols.get(str(port["port"]), port["protocol"]).upper()

    def guard_id(self, state, service):
        """Id of the security group for source ranges, None when there is none."""
        owner = default_name(service["metadata"]["uid"])
        found = [one["SecurityGroupId"] for one in state["securityGroups"] if one["Tags"].get(OWNER_TAG) == owner]
        assert len(found) <= 1, f"security groups of one Service: {found}"
        return found[0] if found else None

    def guard(self, state, service, lb):
        """Its rules, as "accept 10.0.0.0/8 1", "outside" when the load balancer has not joined it, "none"."""
        guard = self.guard_id(state, service)
        if guard is None or lb is None or guard not in lb["SecurityGroupIds"]:
            return "none" if guard is None else "outside"
        return [f"{one['Policy'].lower()} {one.get('SourceCidrIp') or one.get('Ipv6SourceCidrIp')} {one['Priority']}"
                for one in sorted(state["securityRules"], key=lambda one: int(one["Priority"]))
                if one["SecurityGroupId"] == guard]

    def left(self, state, service):
        owner = default_name(service["metadata"]["uid"])
        found = [f"server group {one['ServerGroupName']}" for one in state["nlbServerGroups"]
                 if one["Tags"].get(OWNER_TAG) == owner]
        guard = self.guard_id(state, service)
        return found + ([f"security group {guard}"] if guard else [])

    def make_lb(self, handle, attributes, tags):
        params = {"LoadBalancerName": handle, "AddressType": "Internet", "VpcId": "vpc-test", **attributes,
                  **self.make_tags(tags)}
        if not any(name.startswith("ZoneMappings") for name in params):
            for number, (zone, switch) in enumerate(ZONES.items(), 1):
                params[f"ZoneMappings.{number}.ZoneId"] = zone
                params[f"ZoneMappings.{number}.VSwitchId"] = switch
        lb_id = self.call("CreateLoadBalancer", params)["LoadbalancerId"]
        return lb_id, self.call("GetLoadBalancerAttribute", {"LoadBalancerId": lb_id})["DNSName"]

    def make_group(self, lb_id, name, items):
        group = self.call("CreateServerGroup", {"ServerGroupName": name, "VpcId": "vpc-test"})["ServerGroupId"]
        self.groups.setdefault(lb_id, {})[name] = group
        params = {}
        for number, item in enumerate(items, 1):
            params.update({f"Servers.{number}.{k}": v for k, v in {
                "ServerId": "i-" + item["server"], "ServerType": "Ecs", "Port": item["port"] or 80,
                "Weight": item["weight"] or 100}.items()})
        if params:
            self.call("AddServersToServerGroup", {"ServerGroupId": group, **params})

    def make_listener(self, lb_id, key, group, options):
        port, _, protocol = key.partition("/")
        status = options.pop("ListenerStatus", "Running")
        made = self.call("CreateListener", {"LoadBalancerId": lb_id, "ListenerPort": port, "ServerGroupId": group,
                                            "ListenerProtocol": protocol.upper(), **options})
        if status != "Running":
            self.call("StopListener", {"ListenerId": made["ListenerId"]})


PRODUCTS = {product.name: product for product in (Clb, Nlb)}
