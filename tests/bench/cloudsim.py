"""The speed of cloudsim: signed reads per second of one core, with many load balancers. One JSON line per figure.

Each read is a DescribeLoadBalancerAttribute with a header signature and a nonce of its own, of load balancers spread over all;
a few connections stay open and ask at once, each waiting for its answer. A second of one core is one second of processor time
of the cloudsim process, user and system. The median of a few runs against the same cloud counts.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.support import acs, proc  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def fill(client, count):
    return [client.slb("CreateLoadBalancer", InstanceChargeType="PayByCLCU", LoadBalancerName=f"lb-{n}")["LoadBalancerId"]
            for n in range(count)]


def measure(args, sim, address, ids):
    """Reads per second of processor time, and of time."""
    before = cpu_seconds(sim.popen.pid)
    start = time.monotonic()
    subprocess.run([os.path.join(args.build, "bin", "load-cloudsim"), address.rpartition(":")[2], str(args.connections),
                    str(args.requests)], input="\n".join(ids) + "\n", text=True, check=True, stdout=subprocess.DEVNULL)
    wall = time.monotonic() - start
    return args.requests / (cpu_seconds(sim.popen.pid) - before), args.requests / wall


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--load-balancers", type=int, default=10000)
    parser.add_argument("--requests", type=int, default=100000, help="of each run")
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cloudsim-bench-") as folder:
        sim = proc.Process([os.path.join(args.build, "bin", "cloudsim"), "--listen", "127.0.0.1:0", "--call-log", "1000",
                            "--limit", f"load-balancers={args.load_balancers}"], os.path.join(folder, "cloudsim"))
        try:
            address = sim.wait_listening()
            ids = fill(acs.Client(address), args.load_balancers)
            runs = [measure(args, sim, address, ids) for _ in range(args.runs)]
        finally:
            sim.stop()
    print(json.dumps({"figure": "cloudsim-reads-per-core-second", "value": round(statistics.median(r[0] for r in runs)),
                      "unit": "1/s", "runs": [round(r[0]) for r in runs], "load_balancers": args.load_balancers,
                      "requests": args.requests, "signature": "ACS3-HMAC-SHA256", "connections_kept_open": args.connections,
                      "wall_per_second": round(statistics.median(r[1] for r in runs))}), flush=True)


if __name__ == "__main__":
    main()
