"""make simulate: seed after seed of the simulation, with other faults and numbers of instances each, until the time is over."""

import argparse
import os
import re
import subprocess
import sys
import time

FAULTS = (0, 100, 200)
SEATS = (1, 2, 3)


def commands(build, seed, lives, jobs):
    """One after the other, without end."""
    while True:
        yield [os.path.join(build, "bin", "ccmd-simulate"), "--plugin-dir", os.path.join(build, "plugins"), "--seed", str(seed),
               "--lives", str(lives), "--jobs", str(jobs), "--faults", str(FAULTS[seed % 3]), "--seats", str(SEATS[seed // 3 % 3])]
        seed += 1


def figure(name, text):
    return int(re.search(rf"{name} (\d+)", text).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seeds", type=int, default=0, help="that many, however long they take")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--lives", type=int, default=400, help="of each seed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    began = time.monotonic()
    lives = findings = seeds = 0
    for command in commands(os.path.abspath(args.build), args.seed, args.lives, args.jobs):
        if seeds == args.seeds if args.seeds else time.monotonic() - began > 60 * args.minutes:
            break
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode not in (0, 1):
            print(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
            return 2
        seeds += 1
        lives += figure("lives", done.stdout)
        findings += figure("findings", done.stdout)
        if done.returncode:
            print(f"{' '.join(command)}\n{done.stdout}", flush=True)
    took = time.monotonic() - began
    print(f"simulate: {seeds} seeds from {args.seed} on, {lives} life cycles in {took:.0f} s, {lives / took:.0f} a second, findings: {findings}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
