"""make pictures: docs/images, the status pages as a browser shows them, of a ccmd between both simulators."""

import argparse
import os
import shutil
import struct
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.support import objects, views  # noqa: E402
from tests.support.browser import Browser  # noqa: E402
from tests.support.world import World  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ANNOTATION = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
LIMIT = 100 * 1024
PICTURES = (  # name, page, width, height, dark
    ("statusz.png", "/statusz", 1000, 640, False),
    ("statusz-object.png", "/statusz/object?key=shop%2Fcheckout&plugin=clb", 1000, 760, False),
    ("statusz-phone.png", "/statusz/objects?state=failing", 360, 640, True),
)


def _rows(png):
    """Width, height and rows of (r, g, b) bytes of a PNG of 8 bits without interlacing."""
    at, data, head = 8, b"", None
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        head = struct.unpack(">IIBBBBB", png[at + 8:at + 8 + size]) if kind == b"IHDR" else head
        data += png[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    width, height, depth, color = head[:4]
    assert depth == 8 and color in (2, 6) and head[6] == 0, head
    bpp = 3 if color == 2 else 4
    raw, stride, before, rows = zlib.decompress(data), width * bpp, bytes(width * bpp), []
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            left, up, corner = line[i - bpp] if i >= bpp else 0, before[i], before[i - bpp] if i >= bpp else 0
            if kind == 4:
                guess = left + up - corner
                near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            line[i] = (line[i] + (0, left, up, (left + up) // 2, near if kind == 4 else 0)[kind]) & 255
        rows.append(bytes(line) if bpp == 3 else b"".join(bytes(line[i:i + 3]) for i in range(0, stride, 4)))
        before = bytes(line)
    return width, height, rows


def _small(png):
    """The same with at most 64 colors: text needs no more."""
    width, height, rows = _rows(png)
    counts = {}
    for row in rows:
        for i in range(0, len(row), 3):
            counts[row[i:i + 3]] = counts.get(row[i:i + 3], 0) + 1
    palette = sorted(counts, key=counts.get, reverse=True)[:64]
    nearest = {color: min(range(len(palette)), key=lambda n: sum((a - b) ** 2 for a, b in zip(color, palette[n]))) for color in counts}
    data = b"".join(b"\0" + bytes(nearest[row[i:i + 3]] for i in range(0, len(row), 3)) for row in rows)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)) + chunk(b"PLTE", b"".join(palette)) +
            chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


def _fill(world):
    """A cluster on a bad day."""
    views.nodes(world, 3)
    for name in ("shop", "media", "legacy", "team-a"):
        world.kube.http.request("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    names = [("shop", name) for name in ("checkout", "cart", "search", "payment")] + [("media", f"stream-{n}") for n in range(1, 9)]
    for number, (namespace, name) in enumerate(names):
        service = objects.service(name, ((80, "TCP"), (443, "TCP")), namespace=namespace)
        ready = number != 5
        world.kube.create(service, objects.endpoint_slice(service, [(f"10.1.{number}.{n}", f"node-{n}", ready) for n in (1, 2, 3)]))
    for n in range(4):
        world.kube.create(objects.service(f"old-{n}", namespace="legacy", annotations={ANNOTATION + "id": f"lb-{n}5c0ffee"}))
    world.kube.create(objects.service("intern", namespace="team-a", annotations={ANNOTATION + "address-type": "internal"}))
    return len(names) + 5


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--out", default=os.path.join(ROOT, "docs", "images"))
    args = parser.parse_args()
    program = shutil.which("chromium")
    if program is None:
        sys.exit("pictures: no chromium: scripts/bootstrap.sh")
    os.makedirs(args.out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, World(os.path.abspath(args.build), folder) as world:
        count = _fill(world)
        world.start_ccmd(world.write_config(log_level="info"))
        world.wait(lambda: f"5 of {count} objects fail" in world.admin("/statusz")[1] and "not looked at yet</span>" not in world.admin("/statusz")[1],
                   "all passes", timeout=60)
        world.settled()
        with Browser(program, folder) as browser:
            for name, page, width, height, dark in PICTURES:
                browser.resize(width, height)
                browser.dark(dark)
                browser.open(world.admin_base() + page)
                picture = _small(browser.picture())
                assert len(picture) < LIMIT, f"{name}: {len(picture)} bytes"
                with open(os.path.join(args.out, name), "wb") as file:
                    file.write(picture)
                print(f"{os.path.relpath(os.path.join(args.out, name))}: {len(picture)} bytes")


if __name__ == "__main__":
    main()
