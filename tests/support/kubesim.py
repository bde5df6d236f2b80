"""kubesim alone: started, asked by raw HTTP, watched line by line.

    with KubeSim(build, folder) as kube:
        kube.post(SERVICES, objects.service("web"))
        with kube.watch(SERVICES, resourceVersion=0) as watch:
            assert watch.event()["type"] == "ADDED"
"""

import http.client
import json
import os
import ssl
import urllib.parse

from . import proc, world

SERVICES = "/api/v1/namespaces/default/services"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
NODES = "/api/v1/nodes"
EVENTS = "/api/v1/namespaces/default/events"
EVENTS_V1 = "/apis/events.k8s.io/v1/namespaces/default/events"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"


class Answer:
    def __init__(self, status, headers, text):
        self.status = status
        self.headers = headers
        self.text = text

    @property
    def json(self):
        return json.loads(self.text)


class Watch:
    """An open watch: one event per line."""

    def __init__(self, connection, path, headers):
        self.connection = connection
        connection.request("GET", path, headers=headers)
        self.response = connection.getresponse()
        self.status = self.response.status
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.response.close()
        self.connection.close()

    def line(self):
        """The next line, b"" at a regular end; a cut connection raises http.client.IncompleteRead."""
        while b"\n" not in self.buffer:
            piece = self.response.read1(65536)
            if not piece:
                text, self.buffer = self.buffer, b""
                return text
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\n", 1)
        return text + b"\n"

    def event(self):
        """The next event, None at the end of the stream."""
        text = self.line()
        return json.loads(text) if text else None

    def events(self, count):
        return [self.event() for _ in range(count)]

    def rest(self):
        found = []
        while True:
            event = self.event()
            if event is None:
                return found
            found.append(event)


class KubeSim(world.Kube):
    def __init__(self, build, folder, *args):
        self.folder = str(folder)
        self.kubeconfig = os.path.join(self.folder, "kubeconfig")
        self.context = None
        self.process = proc.Process(
            [os.path.join(str(build), "bin", "kubesim"), "--listen", "127.0.0.1:0", "--kubeconfig-out", self.kubeconfig,
             *args],
            os.path.join(self.folder, "kubesim"),
        )
        self.address = self.process.wait_listening()
        super().__init__("http://" + self.address)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.process.stop()
        else:
            self.process.kill()

    def trust(self, folder, client=True):
        """Speak TLS with the certificates kubesim made."""
        self.context = ssl.create_default_context(cafile=os.path.join(folder, "ca.crt"))
        if client:
            self.context.load_cert_chain(os.path.join(folder, "client.crt"), os.path.join(folder, "client.key"))

    def connect(self, timeout=30.0):
        timeout *= proc.SLOW
        if self.context is not None:
            return http.client.HTTPSConnection(self.address, timeout=timeout, context=self.context)
        return http.client.HTTPConnection(self.address, timeout=timeout)

    def ask(self, method, path, body=None, content_type="application/json", headers=None, **query):
        data = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        head = dict(headers or {})
        if data is not None and content_type:
            head["Content-Type"] = content_type
        if query:
            path += "?" + urllib.parse.urlencode(query)
        connection = self.connect()
        try:
            connection.request(method, path, body=data, headers=head)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read().decode())
        finally:
            connection.close()

    def fetch(self, path, **query):
        answer = self.ask("GET", path, **query)
        assert answer.status == 200, answer.text
        return answer.json

    def post(self, path, body, **query):
        answer = self.ask("POST", path, body, **query)
        assert answer.status == 201, answer.text
        return answer.json

    def change(self, path, patch, content_type=MERGE, **query):
        answer = self.ask("PATCH", path, patch, content_type, **query)
        assert answer.status == 200, answer.text
        return answer.json

    def remove(self, path, body=None, **query):
        answer = self.ask("DELETE", path, body, **query)
        assert answer.status == 200, answer.text
        return answer.json

    def watch(self, path, headers=None, timeout=30.0, **query):
        query = {"watch": "1", **query}
        return Watch(self.connect(timeout), path + "?" + urllib.parse.urlencode(query), headers or {})

    def open_watches(self, plural):
        return self.state()["watches"][plural]

    def kubectl(self, *args, stdin=None, check=True):
        return proc.kubectl(self.kubeconfig, *args, stdin=stdin, check=check)
