"""What the simulation promises of itself: the same seed has the same hash, no history has a finding, no import is unknown, and two builds
that are alike have no difference.

check.py hash|histories|imports|against --build DIR
"""

import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

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
        few = [*run, "--lives", "10"]
        assert hash_of(build, *few) != hash_of(build, *few, "--order", "12345"), f"{run}: another order of threads leaves no trace"
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


# Another build, which calls an action more often in one step than this one.
OTHER = """#!/bin/bash
{build}/bin/ccmd-simulate "$@" || exit
while [ $# -gt 0 ]; do [ "$1" = --report ] && report=$2; shift; done
sed -i 's/^write default.web: CreateLoadBalancerTCPListener, 1 times$/write default\\/web: CreateLoadBalancerTCPListener, 9 times/' "$report"
"""


def check_against(build):
    """The same build has no difference, and one that calls an action more often is found, with step and object."""
    runs = [("--seed", "8", "--lives", "10"), ("--seed", "9", "--lives", "10", "--faults", "100")]
    runs += [("--history", os.path.join(HERE, "histories", f"{name}.txt")) for name in ("gateway-create-edit-delete", "nlb-create-edit-delete")]
    for run in runs:
        done = simulate(build, *run, "--against", build)
        assert done.returncode == 0, done.stdout
    with tempfile.TemporaryDirectory() as other:
        os.mkdir(os.path.join(other, "bin"))
        os.symlink(os.path.join(build, "plugins"), os.path.join(other, "plugins"))
        program = os.path.join(other, "bin", "ccmd-simulate")
        with open(program, "w", encoding="utf-8") as file:
            file.write(OTHER.format(build=build))
        os.chmod(program, 0o755)
        done = simulate(build, "--history", os.path.join(HERE, "histories", "clb-create-edit-delete.txt"), "--against", other)
    assert done.returncode == 1, done.stdout
    assert re.search(r"^step 4: 18000 spec web ports=80/TCP,8080/TCP\n"
                     r" +this build alone: write default/web: CreateLoadBalancerTCPListener, 1 times\n"
                     r" +the other alone : write default/web: CreateLoadBalancerTCPListener, 9 times\n", done.stdout, re.M), done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    checks = {"hash": check_hash, "histories": check_histories, "imports": check_imports, "against": check_against}
    parser.add_argument("what", choices=checks)
    parser.add_argument("--build", required=True)
    args = parser.parse_args()
    checks[args.what](os.path.abspath(args.build))


if __name__ == "__main__":
    sys.exit(main())
