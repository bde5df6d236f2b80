"""A TCP forwarder that remembers when which requests passed: tells apart clients of one simulator."""

import datetime
import re
import socket
import threading
import time

REQUEST = re.compile(rb"^(GET|POST|PUT|PATCH|DELETE) (\S+) HTTP/1\.1\r$", re.M)
ACTION = re.compile(rb"^x-acs-action: (\w+)\r$", re.M | re.I)
SIGNED = re.compile(rb"^x-acs-date: (\S+)\r$", re.M | re.I)


class Proxy:
    """target: "http://host:port". .base takes its place, .requests is a list of (wall time, method, path or action), .signed one
    of (wall time by the clock of who signed, in whole seconds; action)."""

    def __init__(self, target):
        host, port = target.removeprefix("http://").split(":")
        self.target = (host, int(port))
        self.requests = []
        self.signed = []
        self.server = socket.create_server(("127.0.0.1", 0))
        self.base = "http://127.0.0.1:%d" % self.server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.server.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.server.accept()
                upstream = socket.create_connection(self.target)
            except OSError:
                return
            for one, other, note in ((client, upstream, True), (upstream, client, False)):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._pump, args=(one, other, note), daemon=True).start()

    def _pump(self, source, sink, note):
        try:
            while data := source.recv(65536):
                if note:
                    self._note(data)
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _note(self, data):
        """Clients send each request in one piece, or its head at least."""
        for match in REQUEST.finditer(data):
            action = ACTION.search(data, match.end())
            what = action.group(1) if action else match.group(2)
            self.requests.append((time.time(), match.group(1).decode(), what.decode()))
            signed = SIGNED.search(data, match.end())
            if action and signed:
                self.signed.append((datetime.datetime.fromisoformat(signed.group(1).decode()).timestamp(), what.decode()))
