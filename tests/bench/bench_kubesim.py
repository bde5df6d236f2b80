"""kubesim at its full size: 5,000 nodes, 10,000 Services, 250,000 endpoints."""

import gzip
import http.client
import json
import socket
import threading
import time

from tests.support import objects
from tests.support.kubesim import NODES, KubeSim

NODE_COUNT = 5000
SERVICE_COUNT = 10000
LOAD_BALANCERS = 1000  # node ports are few, as in a cluster
ENDPOINTS = 25  # of each Service, in one slice
WRITERS = 2

SERVICES = "/api/v1/services"
SLICES = "/apis/discovery.k8s.io/v1/endpointslices"


def address(number):
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def all_objects():
    """(path, JSON text) of everything, made before the clock starts."""
    for number in range(NODE_COUNT):
        yield NODES, json.dumps(objects.node(f"node-{number}", f"i-{number}"))
    for number in range(SERVICE_COUNT):
        kind = "LoadBalancer" if number < LOAD_BALANCERS else "ClusterIP"
        more = {} if kind == "LoadBalancer" else {"externalTrafficPolicy": None}
        service = objects.service(f"s-{number}", **{"type": kind, **more})
        endpoints = [
            (address(number * ENDPOINTS + i), f"node-{(number + i) % NODE_COUNT}") for i in range(ENDPOINTS)
        ]
        yield "/api/v1/namespaces/default/services", json.dumps(service)
        yield ("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
               json.dumps(objects.endpoint_slice(service, endpoints)))


def write_all(host, port, requests):
    """One keep-alive connection. http.client would be the slowest part of the measurement."""
    with socket.create_connection((host, port), timeout=60) as sock, sock.makefile("rb", 1 << 16) as answers:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for path, text in requests:
            body = text.encode()
            sock.sendall(f"POST {path} HTTP/1.1\r\nHost: kubesim\r\nContent-Type: application/json\r\n"
                         f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
            status = answers.readline()
            if b" 201 " not in status:
                raise AssertionError(f"{path}: {status}")
            length = 0
            while (line := answers.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            answers.read(length)


def create(kube):
    requests = list(all_objects())
    host, port = kube.address.split(":")
    failures = []

    def write(part):
        try:
            write_all(host, int(port), part)
        except (AssertionError, OSError) as error:
            failures.append(error)

    start = time.monotonic()
    threads = [threading.Thread(target=write, args=(requests[n::WRITERS],)) for n in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return len(requests), time.monotonic() - start


def read(kube, path, headers=None):
    """A whole list: (text, bytes on the wire)."""
    connection = http.client.HTTPConnection(kube.address, timeout=120)
    connection.request("GET", path, headers=headers or {})
    response = connection.getresponse()
    text = response.read()
    assert response.status == 200, text[:200]
    connection.close()
    packed = response.headers["Content-Encoding"] == "gzip"
    return (gzip.decompress(text) if packed else text), len(text)


def pages(kube, path):
    """The same in pages of 500, as a controller reads it. Returns how many."""
    count, token = 0, ""
    while True:
        text, _ = read(kube, f"{path}?limit=500&continue={token}")
        token = json.loads(text[: text.index(b'"items"')] + b'"items":[]}')["metadata"].get("continue", "")
        count += 1
        if not token:
            return count


def stream(kube, path):
    """A streaming list up to the bookmark that ends it. Returns (events, bytes)."""
    connection = http.client.HTTPConnection(kube.address, timeout=120)
    connection.request("GET", path + "?watch=1&sendInitialEvents=true&allowWatchBookmarks=true"
                                     "&resourceVersionMatch=NotOlderThan")
    response = connection.getresponse()
    events, size, tail = 0, 0, b""
    while b"k8s.io/initial-events-end" not in tail:
        piece = response.read1(1 << 18)
        assert piece, "the stream ended early"
        events += piece.count(b"\n")
        size += len(piece)
        tail = tail[-200:] + piece
    response.close()
    connection.close()
    return events - 1, size


def timed(act, *args):
    start = time.monotonic()
    result = act(*args)
    return result, round((time.monotonic() - start) * 1000, 1)


def resident(kube):
    with open(f"/proc/{kube.process.popen.pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


def run(build, folder, figure):
    """figure(name, value, unit, **more) is told each result."""
    with KubeSim(build, folder) as kube:
        count, seconds = create(kube)
        figure("kubesim-create", round(seconds, 2), "s", objects=count, nodes=NODE_COUNT, services=SERVICE_COUNT,
               endpoints=SERVICE_COUNT * ENDPOINTS, per_second=round(count / seconds))
        figure("kubesim-resident", resident(kube), "KiB")
        for name, path, wanted in (("nodes", NODES, NODE_COUNT), ("services", SERVICES, SERVICE_COUNT),
                                   ("slices", SLICES, SERVICE_COUNT)):
            read(kube, path)  # the text of each object is made once
            (text, size), elapsed = timed(read, kube, path)
            figure(f"kubesim-list-{name}", elapsed, "ms", bytes=size)
            assert text.count(b'"creationTimestamp"') == wanted
            (events, size), elapsed = timed(stream, kube, path)
            assert events == wanted, (events, wanted)
            figure(f"kubesim-stream-{name}", elapsed, "ms", bytes=size)
        (_, size), elapsed = timed(read, kube, SLICES, {"Accept-Encoding": "gzip"})
        figure("kubesim-list-slices-gzip", elapsed, "ms", bytes=size)
        number, elapsed = timed(pages, kube, SLICES)
        figure("kubesim-list-slices-paged", elapsed, "ms", pages=number)
        figure("kubesim-resident-after-reads", resident(kube), "KiB")
