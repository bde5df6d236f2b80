"""Layout of the plugin ABI as text: one line for each struct, member and constant of the headers in a folder.

A line is "size STRUCT BYTES", "member STRUCT.NAME OFFSET BYTES DECLARATION" or "const NAME VALUE". The members come from
the headers' text, the numbers from the compiler, so that no member can be forgotten.

Usage: layout.py FOLDER    (FOLDER holds ccm/*.h; the compiler is $CC or cc)
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HEADERS = ("error.h", "object.h", "option.h", "host.h", "plugin.h")
# Counts the minors, so it is meant to change.
NOT_FROZEN = {"CCM_ABI_MINOR"}


def _strip(text):
    text = text.replace("\\\n", " ")
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", text)


def _members(body):
    for declaration in body.split(";"):
        declaration = " ".join(declaration.split())
        if not declaration:
            continue
        match = re.search(r"\(\*\s*(\w+)\)\s*\(", declaration) or re.search(
            r"(\w+)\s*(?:\[[^\]]*\])?$", declaration
        )
        if match is None or ("," in declaration and "(" not in declaration):
            raise SystemExit(f"layout.py: cannot read member: {declaration}")
        yield match.group(1), declaration


def program_of(folder):
    lines = ["#include <ccm/plugin.h>", "#include <inttypes.h>", "int main(void)", "{"]
    structs = 0
    for header in HEADERS:
        text = _strip((pathlib.Path(folder) / "ccm" / header).read_text())
        for name, value in re.findall(r"#define\s+(CCM_\w+)\s+(UINT64_C\(\d+\)|\d+U?)\s*$", text, re.M):
            if name not in NOT_FROZEN:
                lines.append(f'printf("const {name} %" PRIu64 "\\n", (uint64_t)({value}));')
        for struct, body in re.findall(r"^struct (ccm_\w+) \{\n(.*?)^\};", text, re.M | re.S):
            structs += 1
            lines.append(f'printf("size {struct} %zu\\n", sizeof(struct {struct}));')
            for name, declaration in _members(body):
                lines.append(
                    f'printf("member {struct}.{name} %zu %zu {declaration}\\n", '
                    f"offsetof(struct {struct}, {name}), sizeof(((struct {struct} *)0)->{name}));"
                )
    if structs < 20:
        raise SystemExit(f"layout.py: only {structs} structs found in {folder}")
    return "\n".join([*lines, "return 0;", "}", ""])


def layout_of(folder):
    compiler = os.environ.get("CC", "cc")
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "layout.c"
        program = pathlib.Path(scratch) / "layout"
        source.write_text(program_of(folder))
        subprocess.run(
            [compiler, "-std=c11", "-I", str(folder), "-o", str(program), str(source)], check=True, timeout=60
        )
        run = subprocess.run([str(program)], check=True, capture_output=True, text=True, timeout=60)
    return run.stdout.splitlines()


def parse(lines):
    """-> sizes {struct: bytes}, members {struct.name: (offset, bytes, declaration)}, constants {name: value}"""
    sizes, members, constants = {}, {}, {}
    for line in lines:
        what, name, rest = line.split(" ", 2)
        if what == "size":
            sizes[name] = int(rest)
        elif what == "const":
            constants[name] = int(rest)
        else:
            offset, width, declaration = rest.split(" ", 2)
            members[name] = (int(offset), int(width), declaration)
    return sizes, members, constants


def breaks(frozen_lines, today_lines):
    """What in today's layout breaks a plugin or a core of the frozen one; [] = nothing."""
    sizes, members, constants = parse(frozen_lines)
    now_sizes, now_members, now_constants = parse(today_lines)
    fixed = {name.split(".")[0] for name in members if name.endswith(".reserved")}
    found = []
    for struct, size in sizes.items():
        now = now_sizes.get(struct)
        if now is None or now < size or (struct in fixed and now != size):
            found.append(f"struct {struct} had {size} bytes, now {now}")
    for name, was in members.items():
        if name.endswith(".reserved"):
            continue
        if now_members.get(name) != was:
            found.append(f"{name} was {was}, now {now_members.get(name)}")
    for name, (offset, width, _) in now_members.items():
        struct = name.split(".")[0]
        if name in members or struct not in sizes:
            continue
        reserved = members.get(f"{struct}.reserved")
        spare = reserved is not None and reserved[0] <= offset and offset + width <= reserved[0] + reserved[1]
        if offset < sizes[struct] and not spare:
            found.append(f"{name} is new, but lies inside of the 1.0 struct, at {offset}")
        if width % 8 != 0 and not spare:
            found.append(f"{name} is new and {width} bytes wide: padding would hide it")
    for name, value in constants.items():
        if now_constants.get(name) != value:
            found.append(f"{name} was {value}, now {now_constants.get(name)}")
    return found


if __name__ == "__main__":
    print("\n".join(layout_of(sys.argv[1])))
