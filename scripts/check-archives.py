#!/usr/bin/env python3
"""check-archives.py BUILD [ROOT]: what nm knows of the libraries of a build. Prints findings, exits 1 if there are any.
  no external name in two archives: the linker would silently take the one that it meets first
  no circle of files: a file that calls into another one is not called by it, neither directly nor over others"""
import collections
import os
import pathlib
import subprocess
import sys

# Archives that hold the objects of another one on purpose.
TWINS = {"libccm_alicloud_static.a", "libccm-util.a", "libccm-lbc.a", "libccm-fake-host.a"}


def names_of(*files):
    """The external names that each of FILES, objects or archives, defines and uses. One nm for all: a process each costs more."""
    table = subprocess.run(["nm", "-A", "-g", "--format=posix", "--", *files], capture_output=True, text=True, check=True).stdout
    found = {str(file): (set(), set()) for file in files}
    for line in table.splitlines():
        place, _, rest = line.partition(": ")  # FILE or ARCHIVE[OBJECT]
        row = rest.split()
        defined, used = found[place if place in found else place.rpartition("[")[0]]
        if len(row) >= 2 and row[1] in "TDBRC":
            defined.add(row[0])
        elif len(row) >= 2 and row[1] == "U":
            used.add(row[0])
    return list(found.values())


def archives_of(build):
    """The archives of a build. Tests that run beside this one make folders in it and remove them."""
    return sorted(pathlib.Path(folder, name) for folder, _, names in os.walk(build) for name in names if name.endswith(".a"))


def doubles(build):
    """Names that two archives define."""
    homes = collections.defaultdict(list)
    archives = [archive for archive in archives_of(build) if archive.name not in TWINS]
    for archive, (defined, _) in zip(archives, names_of(*archives) if archives else []):
        for name in defined:
            homes[name].append(archive.name)
    return [f"{name}: defined in {' and '.join(where)}" for name, where in sorted(homes.items()) if len(where) > 1]


def calls_of(library, sources):
    """File -> the files of the same library whose names it uses. An object whose source is gone does not count."""
    objects = {str(item.relative_to(library).with_suffix("")): item for item in sorted(library.rglob("*.o"))}
    objects = {path: item for path, item in objects.items() if (sources / path).exists()}
    tables = dict(zip(objects, names_of(*objects.values()) if objects else []))
    home = {name: path for path, (defined, _) in tables.items() for name in defined}
    return {path: {home[name] for name in used if name in home} - {path} for path, (_, used) in tables.items()}


def circles(calls):
    """Groups of files of which each one reaches each other one."""
    def reached(start):
        seen, rest = set(), [start]
        while rest:
            for other in calls[rest.pop()] - seen:
                seen.add(other)
                rest.append(other)
        return seen

    reach = {path: reached(path) for path in calls}
    groups = {frozenset(other for other in reach[path] if path in reach[other]) for path in calls}
    return sorted(sorted(group) for group in groups if group)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: check-archives.py BUILD [ROOT]")
    build = pathlib.Path(sys.argv[1])
    root = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parent.parent)
    findings = doubles(build)
    libraries = [folder for part in ("core", "plugins", "tools") for folder in sorted((build / part).rglob("CMakeFiles/*.dir"))
                 if "tests" not in folder.parts]
    if not libraries:
        sys.exit(f"check-archives: found no library in {build}")
    for library in libraries:
        calls = calls_of(library, root / library.relative_to(build).parent.parent)
        findings += [f"{library.stem}: circle of {', '.join(group)}" for group in circles(calls)]
    print(*findings, sep="\n", end="\n" if findings else "")
    if findings:
        sys.exit(1)
    print(f"check-archives: {len(libraries)} libraries, ok")


main()
