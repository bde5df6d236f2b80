"""What the simulation promises of itself: the same seed has the same hash, no history has a finding, and no import is unknown.

check.py hash|histories|imports --build DIR
"""

import argparse
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PLUGINS = ("clb", "nlb", "route", "node", "gateway")
RUNS = (("--seed", "5", "--lives", "80"), ("--seed", "6", "--lives", "80", "--faults", "100", "--seats", "2"),
        ("--seed", "7", "--lives", "80", "--faults", "200", "--seats", "3"))


def simulate(build, *args):
    command = [os.path.join(build, "bin", "ccmd-simulate"), "--plugin-dir", os.path.join(build, "plugins"), *args]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=600)


def hash_of(build, *args):
    done = simulate(build, *args)
    found = re.search(r"^hash ([0-9a-f]{16})$", done.stdout, re.M)
    assert done.returncode == 0 and found, done.stdout
    return found.group(1)


def check_hash(build):
    for run in RUNS:
        first, second = hash_of(build, *run), hash_of(build, *run)
        assert first == second, f"{run}: {first} and {second}"
        other = hash_of(build, *run, "--order", "12345")
        assert other != first, f"{run}: another order of threads leaves no trace"
        print(" ".join(run), first)


def check_histories(build):
    """Each one with audits and without: which worlds have them is drawn (run.c, world_has_audits())."""
    files = sorted(glob.glob(os.path.join(HERE, "histories", "*.txt")))
    failed = []
    for path in files:
        for seed in ("1", "2"):
            done = simulate(build, "--seed", seed, "--history", path)
            if done.returncode:
                failed.append(f"{os.path.basename(path)}, seed {seed}:\n{done.stdout}")
    assert not failed, "\n".join(failed)
    print(f"{len(files)} histories")


def symbols(path, *options):
    listed = subprocess.run(["nm", "-D", *options, path], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[-1] for line in listed.splitlines()}


def check_imports(build):
    """Each name of the C library is one that libc.c defines, or one that imports.txt knows not to wait, or to be out of reach."""
    with open(os.path.join(HERE, "imports.txt"), encoding="utf-8") as file:
        known = set(re.sub("#.*", "", file.read()).split())
    program = os.path.join(build, "bin", "ccmd-simulate")
    own = {name.split("@")[0] for name in symbols(program, "--defined-only")}
    files = [program, *(os.path.join(build, "plugins", f"{name}.so") for name in PLUGINS), os.path.join(build, "libccm-alicloud.so.1")]
    wanted = {name.split("@")[0] for path in files for name in symbols(path, "-u") if "GLIBC" in name}
    unknown = sorted(wanted - own - known)
    assert not unknown, f"imports.txt does not know {', '.join(unknown)}: does it wait, tell the time, or draw a number?"
    print(f"{len(wanted)} names, {len(wanted & own)} of them are the simulation's")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("hash", "histories", "imports"))
    parser.add_argument("--build", required=True)
    args = parser.parse_args()
    {"hash": check_hash, "histories": check_histories, "imports": check_imports}[args.what](os.path.abspath(args.build))


if __name__ == "__main__":
    sys.exit(main())
