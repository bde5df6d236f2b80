#!/usr/bin/env python3
"""check-engine.py [--record] [ROOT]: plugins/lbc/version.h counts what providers of libccm-lbc.a see.

plugins/lbc/released.txt has the version of the last release, and a sum of what its headers declare. Where they declare something else
today, the version has to be another one: once per release, whatever changes after that. --record writes today's into the file, which
scripts/version.sh does for a release. Comments, blanks and the order of includes do not count."""

import argparse
import hashlib
import pathlib
import re
import sys


def headers(root):
    """What is installed: the headers that sdk.cmake names, and all that these include."""
    text = (root / "plugins/lbc/sdk.cmake").read_text(encoding="utf-8")
    names = re.search(r"set\(lbc_headers\s(.*?)\)", text, re.S).group(1).split()
    found = {}
    while names:
        name = names.pop()
        if name not in found:
            folder = "plugins" if name.startswith("lbc/") else "core"
            found[name] = (root / folder / name).read_text(encoding="utf-8")
            names += re.findall(r'^#include "((?:lbc|util)/[^"]+)"', found[name], re.M)
    return found


def declarations(text):
    text = re.sub(r'/\*.*?\*/|("(?:\\.|[^"\\])*")', lambda match: match.group(1) or " ", text, flags=re.S)
    text = re.sub(r"^#include .*$", "", text.replace("\\\n", " "), flags=re.M)
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def checksum(root):
    found = headers(root)
    found.pop("lbc/version.h")
    total = hashlib.sha256()
    for name in sorted(found):
        total.update("\n".join([name, " ".join(declarations(found[name]))]).encode())
    return total.hexdigest()


def version(root):
    text = (root / "plugins/lbc/version.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"^#define LBC_VERSION_{part} +([0-9]+)U$", text, re.M).group(1) for part in ("MAJOR", "MINOR"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", action="store_true")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    given = parser.parse_args()
    file = given.root / "plugins/lbc/released.txt"
    released, sum_then = file.read_text(encoding="utf-8").split()
    now, sum_now = version(given.root), checksum(given.root)
    if now == released and sum_now != sum_then:
        print(f"check-engine: the headers of libccm-lbc.a declare something else than those of {released}, the last release: "
              "count up LBC_VERSION_MINOR in plugins/lbc/version.h, and tell providers in CHANGELOG.md what changed")
        return 1
    if given.record:
        file.write_text(f"{now} {sum_now}\n", encoding="utf-8")
        return 0
    print(f"check-engine: {now}, last release {released}, ok")
    return 0


sys.exit(main())
