"""Scenarios of the plugin route: nodes with pod CIDRs, tables with entries; see tests/scenarios/README.md."""

import re

from . import objects, proc
from . import scenario_look as look
from .scenario_run import Runner
from .world import World

SYSTEM_TABLE = "vtb-system"
CLUSTER_CIDR = "10.96.0.0/12"


def instance(name):
    """node-1 stands for its instance; anything else for itself."""
    return f"i-{name}" if name.startswith("node-") else name


def by_table(routes):
    """{cidr: hop} is that of the system table."""
    return {SYSTEM_TABLE: routes} if not routes or any("/" in key for key in routes) else routes


def custom_routes(state):
    """table -> {destination: instance, or TYPE/ID of another kind of next hop}"""
    found = {table["RouteTableId"]: {} for table in state["routeTables"]}
    for route in state["routes"]:
        if route["Type"] == "Custom":
            hops = [hop.rsplit("/", 1)[0].removeprefix("Instance/") for hop in route["NextHops"].split(",")]
            found[route["RouteTableId"]][route["DestinationCidrBlock"]] = ",".join(hops)
    return found


def node(name, cidr="", ready=True, region="cn-hangzhou", **spec):
    """A node of instance i-NAME with a pod CIDR; the number in its name gives the CIDR unless it is said."""
    number = int(re.sub("[^0-9]", "", name) or 0)
    cidrs = [cidr or f"10.96.{number}.0/24"] if isinstance(cidr, str) else cidr
    body = objects.node(name, f"i-{name}", ready=ready, region=region)
    if cidrs:
        body["spec"].update({"podCIDR": cidrs[0], "podCIDRs": cidrs})
    body["spec"].update(spec)
    return body


class RouteRunner(Runner):
    """That it reads now and then is no sign that it will write."""

    patience_s = 4 * proc.SLOW
    poll_s = 0.03
    at_once = 4  # they wait most of the time: for more nodes, for periods, for calm
    counts_start = True
    watched = ("nodes",)

    def __init__(self, case, build, folder):
        super().__init__(case, build, folder)
        self.product.name = "route"

    def _world(self, arguments):
        if "route_ms" in self.case.given:
            arguments.append(f"--route-ms={self.case.given['route_ms']}")
        return World(self.build, self.folder, cloud_args=arguments)

    def _is_idle(self):
        """Nothing is idle while the cloud still works on an entry."""
        return super()._is_idle() and all(route["Status"] == "Available" for route in self.world.cloud.state()["routes"])

    def _pulse(self):
        calls = self.world.cloud.calls(self.cloud_mark)
        return sum(not look.is_read(call["action"]) for call in calls), self.kube_state["resourceVersion"]

    def _configure(self, given):
        for table in given.get("tables") or []:
            made = self._call("CreateRouteTable", {"VpcId": "vpc-test", "RouteTableName": table}, "vpc")
            self.variables[table] = made["RouteTableId"]
        options = {"cluster_cidr": CLUSTER_CIDR, **(given.get("options") or {})}
        super()._configure({**given, "options": self._fill(options)})
        self._routes(self._fill(given.get("routes") or {}))

    def _act(self, step):
        for key, value in step.items():
            if key == "routes":
                self._routes(self._fill(value))
            else:
                super()._act({key: value})

    def _routes(self, routes):
        """Somebody at the console; null deletes. A hop may be TYPE/ID."""
        for table, entries in by_table(routes).items():
            for cidr, hop in entries.items():
                for route in self.world.cloud.state()["routes"]:
                    if route["RouteTableId"] == table and route["DestinationCidrBlock"] == cidr:
                        self.world.cloud.edit("delete", type="route", id=route["RouteEntryId"])
                if hop is not None:
                    kind, _, name = hop.rpartition("/")
                    self.world.cloud.edit("create", type="route", route_table=table, destination=cidr,
                                          next_hop_type=kind or "Instance", next_hop=instance(name))

    def _node(self, name, options):
        """Further options: cidr (a text, a list, "none"), provider, ready: unknown, network (the condition there is)."""
        options = dict(options)
        cidr = options.pop("cidr", "")
        body = node(name, [] if cidr == "none" else cidr, **options.pop("spec", {}))
        ready = options.pop("ready", True)
        if "provider" in options:
            body["spec"]["providerID"] = options.pop("provider")
        if "labels" in options:
            body["metadata"]["labels"].update(options.pop("labels"))
        body["status"]["conditions"][0]["status"] = "Unknown" if ready == "unknown" else "True" if ready else "False"
        if "network" in options:
            body["status"]["conditions"].append({
                "type": "NetworkUnavailable", "status": options.pop("network"), "reason": "Somebody", "message": "said so"})
        if options:
            self._error("node", f"unknown: {', '.join(options)}")
        kept = self.world.kube.get("Node", name)
        if kept is None:
            self.world.kube.create(body)
            return
        told = {one["type"]: one for one in kept["status"].get("conditions", []) + body["status"]["conditions"]}
        gone = {key: None for key in kept["metadata"].get("labels", {}) if key not in body["metadata"]["labels"]}
        body["metadata"]["labels"].update(gone)
        self.world.kube.patch("Node", name, {"metadata": body["metadata"], "spec": body["spec"]})
        if list(told.values()) != kept["status"].get("conditions"):
            self.world.kube.patch("Node", name, {"status": {"conditions": list(told.values())}}, subresource="status")

    def _differences(self, expect):
        expect = self._fill(expect)
        lines = self._traffic_lines(expect) + self._service_lines(expect, None, None)
        found = custom_routes(self.world.cloud.state())
        for table, entries in by_table(expect.get("routes") or {}).items():
            wanted = {cidr: instance(hop) for cidr, hop in entries.items()}
            lines += look.equal(wanted, found.get(table), f"routes of {table}") if "routes" in expect else []
        for name, wanted in (expect.get("network") or {}).items():
            lines += self._network_lines(name, wanted)
        return lines

    def _network_lines(self, name, wanted):
        live = self._object("Node", name)
        if live is None:
            return [f"network: node {name} is not there"]
        told = next((one for one in live["status"].get("conditions", []) if one["type"] == "NetworkUnavailable"), None)
        found = "none" if told is None else f"{told['status']} {told['reason']}"
        full = {"up": "False RouteCreated", "down": "True NoRouteCreated"}.get(wanted, wanted)
        return look.equal(full, found, f"network of {name}")
