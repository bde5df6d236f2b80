"""The Gateway API in a world: definitions that are just enough for kubesim, objects, and a way to look at their status."""

import urllib.error

from . import views
from .products import ZONES, Nlb

GROUP = "gateway.networking.k8s.io"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PREFIX = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
BACKEND_TYPE = "service.beta.kubernetes.io/backend-type"
CONTROLLER = "ccm.alibabacloud.com/nlb"
FINALIZER = "ccm.alibabacloud.com/gateway-nlb"
CLASS_FINALIZER = "gateway-exists-finalizer." + GROUP
KINDS = {  # kind -> plural, whether it has namespaces
    "GatewayClass": ("gatewayclasses", False),
    "Gateway": ("gateways", True),
    "ListenerSet": ("listenersets", True),
    "TCPRoute": ("tcproutes", True),
    "UDPRoute": ("udproutes", True),
    "TLSRoute": ("tlsroutes", True),
    "ReferenceGrant": ("referencegrants", True),
}
VERSIONS = {"ReferenceGrant": "v1beta1"}
NLB = Nlb()


def definition(kind, versions):
    plural, namespaced = KINDS[kind]
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    subresources = {} if kind == "ReferenceGrant" else {"subresources": {"status": {}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{GROUP}"},
            "spec": {"group": GROUP, "scope": "Namespaced" if namespaced else "Cluster",
                     "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": kind + "List"},
                     "versions": [{"name": version, "served": True, "storage": version == versions[0], "schema": schema,
                                   **subresources} for version in versions]}}


class GatewayWorld:
    """world: tests.support.world.World. routes: the version in which the server has routes."""

    def __init__(self, world, routes="v1"):
        self.world, self.http, self.routes = world, world.kube.http, routes

    def define(self):
        for kind in KINDS:
            self.http.request("POST", CRDS, definition(kind, [self.version(kind)]))

    def configure(self, options="", others="", extra=""):
        own = f'{{ name = "gateway"; workers = 4; backend_health = false; unserved_wait_s = 3600; {options} }}'
        self.world.config = self.world.write_config(plugins=others + own, extra=extra)

    def version(self, kind):
        return VERSIONS.get(kind, self.routes if kind.endswith("Route") else "v1")

    def path(self, kind, name=None, namespace="default", subresource=None):
        plural, namespaced = KINDS[kind]
        parts = [f"/apis/{GROUP}/{self.version(kind)}"] + ([f"namespaces/{namespace}"] if namespaced else []) + [plural]
        return "/".join(parts + [one for one in (name, subresource) if one])

    def create(self, kind, name, spec, namespace="default", **meta):
        meta = {"name": name, **({"namespace": namespace} if KINDS[kind][1] else {}), **meta}
        return self.http.request("POST", self.path(kind, None, namespace), {
            "apiVersion": f"{GROUP}/{self.version(kind)}", "kind": kind, "metadata": meta, "spec": spec})

    def get(self, kind, name, namespace="default"):
        try:
            return self.http.request("GET", self.path(kind, name, namespace))
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def patch(self, kind, name, body, namespace="default", subresource=None):
        return self.http.request("PATCH", self.path(kind, name, namespace, subresource), body, "application/merge-patch+json")

    def delete(self, kind, name, namespace="default"):
        return self.http.request("DELETE", self.path(kind, name, namespace))

    # --- objects ---

    def make_class(self, name="nlb", controller=CONTROLLER, **spec):
        return self.create("GatewayClass", name, {"controllerName": controller, **spec})

    def make_gateway(self, *listeners, name="web", class_name="nlb", namespace="default", annotations=None, **infrastructure):
        zones = {PREFIX + "zone-maps": ",".join(f"{zone}:{switch}" for zone, switch in ZONES.items())}
        return self.create("Gateway", name, {
            "gatewayClassName": class_name, "listeners": list(listeners),
            "infrastructure": {"annotations": {**zones, **(annotations or {})}, **infrastructure}}, namespace)

    def make_route(self, name, *backends, kind="TCPRoute", gateway="web", namespace="default", section=None, hostnames=None,
                   **parent):
        parent = {"name": gateway, **({"sectionName": section} if section else {}), **parent}
        names = {"hostnames": hostnames} if hostnames else {}
        return self.create(kind, name, {"parentRefs": [parent], **names, "rules": [{"backendRefs": list(backends)}]}, namespace)

    # --- what they say ---

    @staticmethod
    def _conditions(holder):
        return {one["type"]: (one["status"], one["reason"]) for one in (holder or {}).get("conditions", [])}

    def conditions(self, kind, name, namespace="default"):
        return self._conditions((self.get(kind, name, namespace) or {}).get("status"))

    def programmed(self, name="web", namespace="default"):
        """The address, once the Gateway is programmed as it is now."""
        item = self.get("Gateway", name, namespace)
        status = item.get("status", {})
        found = next((one for one in status.get("conditions", []) if one["type"] == "Programmed"), {})
        if found.get("status") != "True" or found["observedGeneration"] != item["metadata"]["generation"]:
            return None
        return status["addresses"][0]["value"]

    def listener(self, name, gateway="web", namespace="default"):
        """(conditions, attachedRoutes, supported kinds)"""
        status = (self.get("Gateway", gateway, namespace) or {}).get("status", {})
        found = next((one for one in status.get("listeners", []) if one["name"] == name), None)
        if found is None:
            return None
        return self._conditions(found), found["attachedRoutes"], [one["kind"] for one in found["supportedKinds"]]

    def parents(self, kind, name, namespace="default"):
        """Conditions by the section of the parent that they are about."""
        status = (self.get(kind, name, namespace) or {}).get("status", {})
        return {one["parentRef"].get("sectionName", ""): self._conditions(one) for one in status.get("parents", [])}

    # --- what the cloud holds ---

    def load_balancers(self):
        return NLB.load_balancers(self.world.cloud.state(), {})

    def served(self):
        """Listener -> servers (server, port, weight) of the group that it sends to, of the only load balancer; None: not yet."""
        found = self.load_balancers()
        assert len(found) <= 1, found
        if not found:
            return None
        groups = {group["id"]: sorted(group["servers"]) for group in found[0]["Groups"]}
        return {one["key"]: groups.get(one["group"]) for one in found[0]["Listeners"]}


def listener(name, port, protocol="TCP", **more):
    return {"name": name, "port": port, "protocol": protocol, **more}


def backend(name, port=80, **more):
    return {"name": name, "port": port, **more}


def service(name, port=80, protocol="TCP", namespace="default", kind="NodePort", **spec):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace},
            "spec": {"type": kind, "selector": {"app": name},
                     "ports": [{"name": "p", "port": port, "protocol": protocol, "targetPort": 8080}], **spec}}


def world_with_class(world):
    """Two nodes, the Gateway API, and plugin gateway with its class."""
    views.nodes(world, 2)
    api = GatewayWorld(world)
    api.define()
    api.configure()
    api.make_class()
    return api


def world_with_gateway(world, *listeners):
    """The same with a Gateway, and a route from all of its listeners to a Service. Each has the name web."""
    api = world_with_class(world)
    world.kube.create(service("web"))
    api.make_gateway(*listeners)
    api.make_route("web", backend("web"))
    return api
