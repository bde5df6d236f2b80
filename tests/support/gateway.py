"""TLS in front of a simulator that speaks plain HTTP: as the endpoint itself, or as a proxy that is asked for tunnels (CONNECT)
and is what they lead to. Remembers what it was told before the request, and each head of a request."""

import re
import socket
import ssl
import threading

from . import proc

HOST = re.compile(rb"^host: (\S+)\r$", re.M | re.I)
HANDSHAKE = b"\x16"  # the first byte of TLS


def openssl(*args):
    code, out, err = proc.run(["openssl", *args])
    assert code == 0, f"{args}: {out}{err}"


class Authority:
    """A CA in `folder`; .file is its certificate."""

    def __init__(self, folder, name="ca"):
        self.prefix = f"{folder}/{name}"
        self.file = self.prefix + ".crt"
        openssl("req", "-x509", *self._key(self.prefix), "-subj", f"/CN=CA {name} of the test", "-days", "1", "-out", self.file)

    @staticmethod
    def _key(prefix):
        return "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", prefix + ".key"

    def issue(self, *names):
        """A server's certificate for these names: (file, file of the key)."""
        prefix = f"{self.prefix}-{names[0].replace('*', 'any')}"
        with open(prefix + ".ext", "w", encoding="utf-8") as file:
            file.write("subjectAltName = " + ", ".join(f"DNS:{name}" for name in names))
        openssl("req", *self._key(prefix), "-subj", f"/CN={names[0]}", "-out", prefix + ".csr")
        openssl("x509", "-req", "-in", prefix + ".csr", "-CA", self.file, "-CAkey", self.prefix + ".key", "-CAcreateserial",
                "-days", "1", "-extfile", prefix + ".ext", "-out", prefix + ".crt")
        return prefix + ".crt", prefix + ".key"


class Gateway:
    """target: "http://host:port". .port is where it listens; .asked what tunnels were asked with, .names the server names of
    handshakes (SNI), .requests what came through TLS, .open how many connections there are."""

    def __init__(self, target, certificate, key):
        host, port = target.removeprefix("http://").split(":")
        self.target = (host, int(port))
        self.asked, self.names, self.requests = [], [], []
        self.open, self.lock = 0, threading.Lock()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.context.sni_callback = lambda _, name, __: self.names.append(name)
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def hosts(self):
        """The Host of every request."""
        return [HOST.search(head).group(1).decode() for head in self.requests]

    def close(self):
        self.server.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            self._count(1)
            threading.Thread(target=self._connection, args=(client,), daemon=True).start()

    def _count(self, more):
        with self.lock:
            self.open += more

    def _connection(self, client):
        try:
            self._serve(client)
        finally:
            self._count(-1)

    def _serve(self, client):
        with client:
            try:
                if client.recv(1, socket.MSG_PEEK) != HANDSHAKE and not self._tunnel(client):
                    return
                secure = self.context.wrap_socket(client, server_side=True)
            except OSError:  # of TLS too
                return
            with secure, socket.create_connection(self.target) as upstream:
                self._forward(secure, upstream)

    def _tunnel(self, client):
        """Read byte by byte: what follows belongs to TLS."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = client.recv(1)
            if not byte:
                return False
            head += byte
        self.asked.append(head.decode())
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        return True

    def _forward(self, secure, upstream):
        """One thread: a request, as long as its Content-Length says, then its answer."""
        upstream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            with secure.makefile("rb") as requests, upstream.makefile("rb") as answers:
                while message := self._message(requests):
                    self.requests.append(message)
                    upstream.sendall(message)
                    answer = self._message(answers)
                    secure.sendall(answer)
                    if not answer or b"\nconnection: close" in answer.lower():
                        return
        except OSError:
            pass

    @staticmethod
    def _message(stream):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = stream.readline()
            if not line:
                return head
            head += line
        length = re.search(rb"^content-length: (\d+)\r$", head, re.M | re.I)
        return head + (stream.read(int(length.group(1))) if length else b"")
