#!/usr/bin/env python3
"""check-where.py [ROOT]: every file, and every function or table in it, that docs/where.md names is there. Every source file of core, plugins and tools
is named in the README of its library, by its path from there, and every file in the tables of these READMEs is there."""
import fnmatch
import pathlib
import re
import sys

LEAST = 40  # questions


def defines(text, name):
    """Whether a line that begins in column 0, other than a comment or a macro, has the name with what a definition has behind it."""
    return re.search(rf"^(?![\s/*#}}]).*?(?<![\w>.]){re.escape(name)}(\(|\[| =)", text, re.M) is not None


def readme_findings(root):
    """What the READMEs lack, and what they name that is gone. A header need not be named."""
    named, readmes = set(), [file for top in ("core", "plugins", "tools") for file in sorted((root / top).rglob("README.md"))]
    sources = {file for top in ("core", "plugins", "tools") for file in (root / top).rglob("*.[ch]") if "tests" not in file.parts}
    for readme in readmes:
        for number, line in enumerate(readme.read_text(encoding="utf-8").splitlines(), 1):
            column = line.split("|")[1] if line.startswith("| ") else ""
            for name in re.findall(r"`([\w./*-]+\.[ch])`", line):
                path = readme.parent / name
                there = {file for file in sources if fnmatch.fnmatch(str(file), str(path))} if "*" in name else sources & {path}
                named |= there
                if not there and f"`{name}`" in column:
                    yield f"{readme.relative_to(root)}:{number}: {name} is not there: take it out"
    for file in sorted(sources - named):
        if file.suffix == ".c":
            yield f"{file.relative_to(root)} is in no README: say in that of its library what it does"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    findings, questions = [], 0
    for number, line in enumerate((root / "docs/where.md").read_text(encoding="utf-8").splitlines(), 1):
        questions += line.startswith("| ") and "`" in line
        for path, name in re.findall(r"`((?:core|plugins|tools|include|etc|tests)/[^`:]*)(?::(\w+))?`", line):
            file = root / path
            if not file.exists():
                findings.append(f"docs/where.md:{number}: {path} is not there: say where it is now")
            elif name and not defines(file.read_text(encoding="utf-8"), name):
                findings.append(f"docs/where.md:{number}: {path} has no {name}: say where it is now")
    findings.extend(readme_findings(root))
    if questions < LEAST:
        findings.append(f"docs/where.md: {questions} questions, at least {LEAST}")
    print(*findings or [f"check-where: {questions} questions, ok"], sep="\n")
    sys.exit(1 if findings else 0)


main()
