"""A `ccmd webhook` with a certificate of its own, and an API server's side of it."""

import http.client
import json
import os
import ssl
import subprocess

from tests.support import pages, proc
from tests.support.world import wait


def make_certificate(folder, name):
    cert, key = os.path.join(folder, name + ".crt"), os.path.join(folder, name + ".key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj", f"/CN={name}",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return cert, key


def make_ca(folder):
    """A CA of client certificates, as docs/lint.md makes it, and a certificate with its key."""
    folder.mkdir()
    (commands,) = [block.text for block in pages.blocks("lint.md") if "client-ca.key" in block.text]
    pages.Shell(folder, {}).run(commands)
    return folder / "client-ca.crt", (folder / "client.crt", folder / "client.key")


class Webhook:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.cert, self.key = make_certificate(folder, "one")
        self.process = None
        self.port = None

    def start(self, more="", plugins='{ name = "clb"; }, { name = "nlb"; }'):
        config = self.folder / "ccmd.conf"
        config.write_text(
            f'plugin_dir = "{os.path.abspath(os.path.join(self.build, "plugins"))}";\n'
            f'alicloud: {{ cluster_id = "c-test"; }};\nplugins = ( {plugins} );\n'
            f'webhook: {{ listen = "127.0.0.1:0"; tls_cert_file = "{self.cert}"; tls_key_file = "{self.key}"; {more} }};\n')
        self.process = proc.Process([os.path.join(self.build, "bin", "ccmd"), "webhook", "--config", config], str(self.folder / "webhook"))
        line = wait(lambda: [one for one in self.log().splitlines() if "listening on 127.0.0.1:" in one and "with TLS" in one],
                    "the address")[0]
        self.port = int(line.split("127.0.0.1:")[1].split()[0])
        return self

    def log(self):
        path = self.folder / "webhook.err"
        return path.read_text() if path.exists() else ""

    def connect(self, cert=None, source=None, client=None):
        context = ssl.create_default_context(cafile=cert or self.cert)
        if client is not None:
            context.load_cert_chain(*client)
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, source_address=source, context=context)

    def request(self, method, path, body=None, cert=None, client=None):
        connection = self.connect(cert, client=client)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def review(self, item, before=None, operation=None, **more):
        """The response of the answer, whose form is checked."""
        operation = operation or ("CREATE" if before is None else "UPDATE")
        code, text = self.request("POST", "/lint?timeout=2s", self.body(item, before, operation, **more))
        assert code == 200, text
        answer = json.loads(text)
        assert (answer["apiVersion"], answer["kind"], answer["response"]["uid"]) == ("admission.k8s.io/v1", "AdmissionReview", "u-1")
        return answer["response"]

    @staticmethod
    def body(item, before=None, operation="CREATE", **more):
        return json.dumps({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
                "uid": "u-1", "kind": {"group": "", "version": "v1", "kind": "Service"},
                "resource": {"group": "", "version": "v1", "resource": "services"}, "name": "web", "namespace": "default",
                "operation": operation, "object": item, "oldObject": before, "dryRun": False, **more}})

    def metrics(self):
        code, text = self.request("GET", "/metrics")
        assert code == 200
        return {line.split('"')[1]: int(line.split()[-1]) for line in text.splitlines() if line.startswith("ccmd_webhook_reviews_total{")}
