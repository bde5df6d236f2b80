#!/usr/bin/env python3
"""check-where.py [ROOT]: every file, and every function or table in it, that docs/where.md names is there."""
import pathlib
import re
import sys

LEAST = 40  # questions


def defines(text, name):
    """Whether a line that begins in column 0, other than a comment or a macro, has the name with what a definition has behind it."""
    return re.search(rf"^(?![\s/*#}}]).*?(?<![\w>.]){re.escape(name)}(\(|\[| =)", text, re.M) is not None


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
    if questions < LEAST:
        findings.append(f"docs/where.md: {questions} questions, at least {LEAST}")
    print(*findings or [f"check-where: {questions} questions, ok"], sep="\n")
    sys.exit(1 if findings else 0)


main()
