"""make mutants: defects that this project has had, or could have, are put back one at a time; the simulation has to find each.

Each patch in mutants/ begins with a line that says what is wrong; a second one, "run: OPTIONS", says what to play first. It is applied to a copy of the sources, built, and played for a
minute at most: all histories, then one seed after another. A patch that does not apply any more is an error: rewrite it with the code.
"""

import argparse
import filecmp
import glob
import itertools
import os
import re
import shutil
import subprocess
import sys
import time

from simulate import commands

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MUTANTS = os.path.join(HERE, "mutants")
TARGETS = ("ccmd-simulate", "clb", "nlb", "route", "node", "gateway")
LIVES, SEED = 200, 1
BASE_S = 30  # without a mutant: nothing is found


class Failed(Exception):
    pass


def run(command, cwd, **options):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode:
        raise Failed(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout[-3000:]}")


def copy_sources(to):
    """What differs is copied with the time of now, and the rest stays, so that the right files are built again."""
    wanted = set()
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in ("build", ".git", "__pycache__") and not name.endswith("_cache")]
        os.makedirs(os.path.join(to, os.path.relpath(folder, ROOT)), exist_ok=True)
        for name in files:
            source = os.path.join(folder, name)
            copy = os.path.join(to, os.path.relpath(source, ROOT))
            wanted.add(os.path.normpath(copy))
            if not os.path.exists(copy) or not filecmp.cmp(source, copy, shallow=False):
                shutil.copyfile(source, copy)
                shutil.copymode(source, copy)
    for folder, folders, files in os.walk(to):
        folders[:] = [name for name in folders if os.path.join(folder, name) != os.path.join(to, "build")]
        for name in files:
            path = os.path.normpath(os.path.join(folder, name))
            if path not in wanted:
                os.remove(path)


def build(source, jobs):
    run(["cmake", "--build", "build/release", "-j", str(jobs), "--target", *TARGETS], source)


def plays(build_dir, jobs, first):
    """Commands: the first one, each history, then seeds without end."""
    base = [os.path.join(build_dir, "bin", "ccmd-simulate"), "--plugin-dir", os.path.join(build_dir, "plugins")]
    folder = os.path.join(HERE, "histories")
    histories = sorted(glob.glob(os.path.join(folder, "*.txt")))
    first = [[*base, *(os.path.join(folder, word) if word.endswith(".txt") else word for word in first)]] if first else []
    return itertools.chain(first, ([*base, "--history", history] for history in histories), commands(build_dir, SEED, LIVES, jobs))


def hunt(build_dir, jobs, seconds, first):
    """Where the first finding is, and what it says; or None."""
    began = time.monotonic()
    for command in plays(build_dir, jobs, first):
        left = seconds - (time.monotonic() - began)
        if left <= 0:
            return None
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=left)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode:
            found = re.search(r"^FINDING in world (\d+) at \S+ s: (.*)$", done.stdout, re.M)
            where = os.path.basename(command[command.index("--history") + 1]) if "--history" in command else f"world {found.group(1) if found else '?'}"
            return where, found.group(2) if found else (done.stdout.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return None


def play(source, name, jobs, seconds):
    patch = os.path.join(MUTANTS, name + ".patch")
    with open(patch, encoding="utf-8") as file:
        title, *rest = file.read().split("\n")
    run(["patch", "--batch", "--forward", "-p1", "-i", patch], source)
    try:
        build(source, jobs)
        began = time.monotonic()
        found = hunt(os.path.join(source, "build", "release"), jobs, seconds, rest[0][4:].split() if rest[0].startswith("run:") else [])
        took = time.monotonic() - began
    finally:
        run(["patch", "--batch", "-R", "-p1", "-i", patch], source)
    what = ": ".join(found) if found else "NOT FOUND"
    print(f"{name:24} {took:5.1f} s  {title}\n{'':34}{what[:150]}", flush=True)
    return found is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="folder of builds; the copy comes beside them")
    parser.add_argument("--only", default="", help="names that begin so")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    names = [name[:-6] for name in sorted(os.listdir(MUTANTS)) if name.startswith(args.only) and name.endswith(".patch")]
    source = os.path.join(os.path.abspath(args.build), "mutants")
    missed, broken = [], []
    copy_sources(source)
    run(["cmake", "--preset", "release"], source)
    build(source, args.jobs)
    without = hunt(os.path.join(source, "build", "release"), args.jobs, BASE_S, [])
    if without is not None:
        print(f"the sources as they are: {': '.join(without)}")
        return 1
    for name in names:
        try:
            if not play(source, name, args.jobs, args.seconds):
                missed.append(name)
        except Failed as failure:
            broken.append(name)
            print(f"{name}: {failure}", flush=True)
    print(f"mutants: {len(names) - len(missed) - len(broken)} of {len(names)} found"
          + (f"; not found: {', '.join(missed)}" if missed else "") + (f"; broken: {', '.join(broken)}" if broken else ""))
    return 1 if missed or broken else 0


if __name__ == "__main__":
    sys.exit(main())
