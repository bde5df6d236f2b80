"""Secrets of Gateways, and what the certificate service and load balancers have of them."""

import base64
import os

from . import views
from .gateway_api import GatewayWorld, backend, listener, service

RESOLVED, PROGRAMMED = ("True", "ResolvedRefs"), ("True", "Programmed")
INVALID, NOT_PERMITTED = ("False", "InvalidCertificateRef"), ("False", "RefNotPermitted")
ON = "upload_certificates = true;"
SECRETS = "/api/v1/namespaces/{}/secrets"


def tls(word):
    """crt and key, as a Secret holds them; the key is one that World.leaks() knows."""
    key = f"-----BEGIN PRIVATE KEY-----\nMIIPRIVATE{word:0<62}\n-----END PRIVATE KEY-----\n"
    crt = f"-----BEGIN CERTIFICATE-----\nMIICERTIFICATE{word:0<58}\n-----END CERTIFICATE-----\n"
    return {"tls.crt": base64.b64encode(crt.encode()).decode(), "tls.key": base64.b64encode(key.encode()).decode()}


def ref(name, **more):
    return {"group": "", "kind": "Secret", "name": name, **more}


def tls_listener(name, port, *refs):
    return listener(name, port, "TLS", tls={"mode": "Terminate", "certificateRefs": list(refs)})


class Certificates(GatewayWorld):
    @classmethod
    def in_world(cls, world, node_count):
        """With nodes, a class, and a route to Service web."""
        views.nodes(world, node_count)
        one = cls(world)
        one.define()
        one.configure(ON)
        one.make_class()
        world.kube.create(service("web"))
        one.make_route("web", backend("web"))
        return one

    def configure(self, options=""):
        """With what `ccmd resync` needs."""
        token = os.path.join(self.world.folder, "control")
        super().configure(options, extra=f'admin: {{ listen = "127.0.0.1:0"; control_token_file = "{token}"; }};')

    def make_secret(self, name, word, namespace="default", kind="kubernetes.io/tls", data=None):
        self.http.request("POST", SECRETS.format(namespace), {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace}, "type": kind,
            "data": tls(word) if data is None else data})

    def renew(self, name, word, data=None):
        self.http.request("PATCH", SECRETS.format("default") + "/" + name, {"data": tls(word) if data is None else data},
                          "application/merge-patch+json")

    def drop_secret(self, name):
        self.http.request("DELETE", SECRETS.format("default") + "/" + name)

    def resync(self, key="default/web"):
        """`ccmd resync` reads the Secrets of a Gateway at once."""
        code, _, err = self.world.resync(key)
        assert code == 0, err

    def uploaded(self):
        """Word of the certificate -> its id."""
        return {one["Pem"].split("MIICERTIFICATE")[1].split("\n")[0].rstrip("0"): one["CertIdentifier"]
                for one in self.world.cloud.state()["casCertificates"] if one["CertName"].startswith("ccm-")}

    def presented(self):
        """Port -> ids, the default first, of all load balancers."""
        return {one["ListenerPort"]: [*one["CertificateIds"].split(","), *sorted(one["AdditionalCertificates"])]
                for lb in self.world.cloud.state()["nlbLoadBalancers"] for one in lb["Listeners"] if one["ListenerProtocol"] == "TCPSSL"}

    def names(self):
        return [one["CertName"] for one in self.world.cloud.state()["casCertificates"] if one["CertName"].startswith("ccm-")]

    def secrets_read(self, since=0):
        return [action for action in self.world.kube.actions(since) if "/secrets" in action and action.startswith("GET")]

    def words(self):
        found = {identifier: word for word, identifier in self.uploaded().items()}
        return {port: [found.get(identifier, identifier) for identifier in ids] for port, ids in self.presented().items()}

    def message(self, name="tls", condition="ResolvedRefs"):
        status = self.get("Gateway", "web").get("status", {})
        found = [one for one in status.get("listeners", []) if one["name"] == name]
        return "".join(one["message"] for one in found[0]["conditions"] if one["type"] == condition) if found else ""

    def resolved(self, name="tls"):
        found = self.listener(name)
        return found and found[0].get("ResolvedRefs")


def writes(world, since=0):
    return [action for action in world.cloud.actions(since) if action in (
        "CreateSSLCertificateWithName", "DeleteSSLCertificate", "CreateListener", "UpdateListenerAttribute", "DeleteListener",
        "AssociateAdditionalCertificatesWithListener", "DisassociateAdditionalCertificatesWithListener", "DeleteLoadBalancer")]
