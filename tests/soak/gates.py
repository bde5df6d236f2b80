"""Gateways of a soak: each slot has one after the other, with routes to Services of their own, and changes it in between."""

import urllib.error

from tests.support import objects
from tests.support.gateway_api import CLASS_FINALIZER, FINALIZER, GROUP, KINDS, GatewayWorld, backend, listener, service

from .wish import PODS

LISTENERS = ([("tcp", 80)], [("tcp", 80), ("more", 443)], [("tcp", 80), ("dns", 53)], [("more", 443), ("dns", 53)])
IDLE = ("10", "20")
WEIGHTS = (0, 1, 10, 90)
BACKENDS = 4  # Services of each protocol that routes send to
SETS = ("a", "b")  # ListenerSets of each Gateway, which want each other's ports
SET_LISTENERS = ([("more", 443)], [("more", 443), ("late", 90)], [("late", 90)], [("late", 90), ("last", 91)])
CHANGES = (("routes", 30), ("pods", 20), ("ports", 15), ("sets", 20), ("annotate", 10), ("end", 15))
LABELS = ("service.beta.kubernetes.io/hash", "service.k8s.alibaba/")


class Gates:
    def __init__(self, setting, random, trace, slots=5):
        self.kube = setting.world.kube
        self.api = GatewayWorld(setting.world)
        self.random = random
        self.trace = trace
        self.names = [None] * slots  # of the Gateway of each slot
        self.made = 0

    def start(self):
        self.api.define()
        self.api.make_class()
        for number in range(BACKENDS):
            for protocol in ("TCP", "UDP"):
                item = service(f"{protocol.lower()}-{number}", 80, protocol)
                self.kube.create(item)
                self._put_pods(item)

    def act(self):
        slot = self.random.randrange(len(self.names))
        names, shares = zip(*CHANGES)
        what = self.random.choices(names, shares)[0] if self.names[slot] else "begin"
        try:
            getattr(self, "_" + what)(slot)
        except urllib.error.HTTPError as error:
            self.trace.note("refused", what, self.names[slot], error.code, error.read().decode()[:300])

    # --- changes ---

    def _begin(self, slot):
        self.made += 1
        self.names[slot] = name = f"g{self.made}"
        listeners = self._listeners()
        self.trace.note("created", "Gateway", name, listeners)
        self.api.make_gateway(*listeners, name=name)
        if self.random.random() < 0.7:
            self._patch(slot, {"allowedListeners": {"namespaces": {"from": "Same"}}}, "ListenerSets")
        self._routes(slot)

    def _listeners(self):
        return [listener(name, port, "UDP" if name == "dns" else "TCP") for name, port in self.random.choice(LISTENERS)]

    def _routes(self, slot):
        """Each listener has one route, which comes, goes or sends elsewhere."""
        name = self.names[slot]
        for section in ("tcp", "more", "dns"):
            kind, prefix = ("UDPRoute", "udp") if section == "dns" else ("TCPRoute", "tcp")
            chosen = self.random.sample(range(BACKENDS), self.random.choice((0, 1, 1, 2, 3)))
            refs = [backend(f"{prefix}-{number}", weight=self.random.choice(WEIGHTS)) for number in chosen]
            route = f"{name}-{section}"
            known = self.api.get(kind, route)
            self.trace.note("changed", "route", route, [(one["name"], one["weight"]) for one in refs])
            if not refs and known:
                self.api.delete(kind, route)
            elif refs and known:
                self.api.patch(kind, route, {"spec": {"rules": [{"backendRefs": refs}]}})
            elif refs:
                self.api.make_route(route, *refs, kind=kind, gateway=name, section=section)

    def _sets(self, slot):
        """A set comes, changes or goes, with a route to all of its listeners."""
        gateway = self.names[slot]
        name = f"{gateway}-{self.random.choice(SETS)}"
        listeners = [listener(*one) for one in self.random.choice(SET_LISTENERS)]
        known = self.api.get("ListenerSet", name)
        self.trace.note("changed", "ListenerSet", name, [one["port"] for one in listeners])
        if known and self.random.random() < 0.3:
            self._end_set(name)
        elif known:
            self.api.patch("ListenerSet", name, {"spec": {"listeners": listeners}})
        else:
            self.api.create("ListenerSet", name, {"parentRef": {"name": gateway}, "listeners": listeners})
            refs = [backend(f"tcp-{self.random.randrange(BACKENDS)}")]
            self.api.create("TCPRoute", name, {"parentRefs": [{"kind": "ListenerSet", "name": name}], "rules": [{"backendRefs": refs}]})

    def _end_set(self, name):
        for kind in ("ListenerSet", "TCPRoute"):
            if self.api.get(kind, name):
                self.api.delete(kind, name)

    def _pods(self, _):
        protocol = self.random.choice(("TCP", "UDP"))
        self._put_pods(service(f"{protocol.lower()}-{self.random.randrange(BACKENDS)}", 80, protocol))

    def _put_pods(self, item):
        pods = self.random.sample(PODS, self.random.choice((0, 1, 2, 5)))
        made = objects.endpoint_slice(item, pods, "a")
        self.trace.note("changed", "pods", item["metadata"]["name"], len(pods))
        if self.kube.get("EndpointSlice", made["metadata"]["name"]):
            self.kube.replace(made)
        else:
            self.kube.create(made)

    def _patch(self, slot, body, what):
        self.trace.note("changed", "Gateway", self.names[slot], what)
        self.api.patch("Gateway", self.names[slot], {"spec": body})

    def _ports(self, slot):
        self._patch(slot, {"listeners": self._listeners()}, "listeners")

    def _annotate(self, slot):
        key = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-idle-timeout"
        self._patch(slot, {"infrastructure": {"annotations": {key: self.random.choice(IDLE)}}}, "annotations")

    def _end(self, slot):
        name, self.names[slot] = self.names[slot], None
        self.trace.note("deleted", "Gateway", name)
        for section in ("tcp", "more", "dns"):
            kind = "UDPRoute" if section == "dns" else "TCPRoute"
            if self.api.get(kind, f"{name}-{section}"):
                self.api.delete(kind, f"{name}-{section}")
        for one in SETS:
            self._end_set(f"{name}-{one}")
        self.api.delete("Gateway", name)

    def end_all(self):
        for slot, name in enumerate(self.names):
            if name:
                self._end(slot)
        for number in range(BACKENDS):
            for protocol in ("tcp", "udp"):
                self.kube.delete("Service", f"{protocol}-{number}")
                self.kube.delete("EndpointSlice", f"{protocol}-{number}-a")


# --- for the comparison with a world without a past ---

def bucket(kind):
    return f"{KINDS[kind][0]}.{GROUP}"


def bare_state(state):
    """What persons have written of the Gateway API, for the state of another server."""
    found = {key: value for key, value in state.items() if key.startswith("customresourcedefinitions")}
    for kind in KINDS:
        items = []
        for item in state.get(bucket(kind), []):
            meta = {key: value for key, value in item["metadata"].items() if key != "labels"}
            meta["finalizers"] = [one for one in meta.get("finalizers", []) if one not in (FINALIZER, CLASS_FINALIZER)]
            items.append({**{key: value for key, value in item.items() if key != "status"}, "metadata": meta})
        found[bucket(kind)] = items
    return found


def _conditions(holder):
    """But for what the past decides: when a port without backends is told."""
    return sorted((one["type"], one["status"], one["reason"]) for one in holder.get("conditions", [])
                  if one["type"] != "ccm.alibabacloud.com/LoadBalancerReady")


def _listeners(status):
    return [(one["name"], one["attachedRoutes"], _conditions(one)) for one in status.get("listeners", [])]


def look(state):
    """Name of a thing -> how it is, without ids and times."""
    found = {}
    for item in state.get(bucket("GatewayClass"), []):
        found[f"class {item['metadata']['name']}"] = (item["metadata"].get("finalizers", []), _conditions(item.get("status", {})))
    for item in state.get(bucket("Gateway"), []):
        meta, status = item["metadata"], item.get("status", {})
        found[f"Gateway {meta['name']}"] = (
            meta.get("finalizers", []), sorted(key for key in meta.get("labels", {}) if key.startswith(LABELS)), "deletionTimestamp" in meta,
            _conditions(status), len(status.get("addresses", [])),
            status.get("attachedListenerSets", 0), _listeners(status))
    for item in state.get(bucket("ListenerSet"), []):
        found[f"ListenerSet {item['metadata']['name']}"] = (_conditions(item.get("status", {})), _listeners(item.get("status", {})))
    for kind in ("TCPRoute", "UDPRoute"):
        for item in state.get(bucket(kind), []):
            found[f"{kind} {item['metadata']['name']}"] = [_conditions(one) for one in item.get("status", {}).get("parents", [])]
    return {name: str(value) for name, value in found.items()}
