"""Somebody changes at the console what is ours: all of it is repaired at the next look."""

import urllib.error

from tests.support.products import OWNER_TAG

from .setting import PERSONS_PORT


class Hand:
    def __init__(self, setting, random, trace):
        self.setting = setting
        self.cloud = setting.world.cloud
        self.random = random
        self.trace = trace

    def act(self):
        """Numbers first, what they choose among after: the sequence is that of the seed, whatever the cloud holds."""
        product = self.random.choice(("clb", "nlb"))
        what = self.random.choice(("listener", "stop", "backend", "backend", "weight", "weight", "route"))
        where = [self.random.random() for _ in range(3)]
        try:
            done = self._route(where) if what == "route" else getattr(self, f"_{product}")(what, where)
        except (AssertionError, urllib.error.HTTPError):
            done = None  # it has gone in between, or is busy
        if done:
            self.trace.note("console", product, what, *done)

    @staticmethod
    def _pick(items, part):
        return items[int(part * len(items))] if items else None

    def _route(self, where):
        route = self._pick([one for one in self.cloud.state()["routes"] if one["Type"] == "Custom"
                            and one["DestinationCidrBlock"].startswith("10.")], where[0])
        if route is None:
            return None
        self.cloud.edit("delete", type="route", id=route["RouteEntryId"])
        return [route["DestinationCidrBlock"]]

    def _clb(self, what, where):
        state = self.cloud.state()
        lb = self._pick([one for one in state["loadBalancers"] if self._is_ours(one)], where[0])
        if lb is None:
            return None
        name = lb["LoadBalancerId"]
        if what in ("listener", "stop"):
            listener = self._pick([one for one in lb["Listeners"] if int(one["ListenerPort"]) != PERSONS_PORT], where[1])
            if listener is None:
                return None
            port, protocol = listener["ListenerPort"], listener["ListenerProtocol"]
            if what == "listener":
                self.cloud.edit("delete", type="listener", load_balancer=name, port=int(port), protocol=protocol)
            else:
                self.setting.call("StopLoadBalancerListener", {"LoadBalancerId": name, "ListenerPort": port,
                                                               "ListenerProtocol": protocol}, "slb")
            return [name, port]
        group = self._pick([one for one in lb["VServerGroups"] if one["VServerGroupName"].startswith("k8s/")], where[1])
        backend = self._pick(group["BackendServers"], where[2]) if group else None
        if backend is None:
            return None
        target = {"type": "backend", "vserver_group": group["VServerGroupId"], "server_id": backend["ServerId"],
                  "port": int(backend["Port"]), **({"server_ip": backend["ServerIp"]} if backend["ServerIp"] else {})}
        if what == "backend":
            self.cloud.edit("delete", **target)
        else:
            self.cloud.edit("update", **target, attributes={"Weight": "33"})
        return [name, group["VServerGroupName"], backend["ServerId"], backend["ServerIp"]]

    @staticmethod
    def _is_ours(lb):
        return lb["Tags"].get(OWNER_TAG) is not None and lb["Tags"].get("ack.aliyun.com") == "c-test"

    def _nlb(self, what, where):
        state = self.cloud.state()
        lb = self._pick([one for one in state["nlbLoadBalancers"] if self._is_ours(one)], where[0])
        if lb is None:
            return None
        if what in ("listener", "stop"):
            listener = self._pick(lb["Listeners"], where[1])
            if listener is None:
                return None
            self.cloud.edit("delete", type="nlblistener", id=listener["ListenerId"])  # a stopped one would stay so
            return [lb["LoadBalancerId"], listener["ListenerPort"]]
        owner = lb["Tags"][OWNER_TAG]
        group = self._pick([one for one in state["nlbServerGroups"] if one["Tags"].get(OWNER_TAG) == owner], where[1])
        server = self._pick(group["Servers"], where[2]) if group else None
        if server is None:
            return None
        params = {"ServerGroupId": group["ServerGroupId"], "Servers.1.ServerId": server["ServerId"],
                  "Servers.1.ServerType": server["ServerType"], "Servers.1.Port": server["Port"]}
        if server["ServerType"] != "Ecs" and server["ServerIp"]:
            params["Servers.1.ServerIp"] = server["ServerIp"]
        if what == "backend":
            self.setting.call("RemoveServersFromServerGroup", params, "nlb")
        else:
            self.setting.call("UpdateServerGroupServersAttribute", {**params, "Servers.1.Weight": 33}, "nlb")
        return [lb["LoadBalancerId"], group["ServerGroupName"], server["ServerId"], server["ServerIp"]]
