#!/usr/bin/env python3
"""check-words.py [--table] [--list PATH] [--write] [ROOT]: retired words of docs/glossary.md do not come back.

Counts them per page and per folder of source files, and compares the counts with scripts/words.txt, where a number may only fall: a count above
it fails, and so does one that is far below it. What is not in the file has none. The README also has at most README_WORDS words.
--table prints every count; --list prints each place below PATH; --write sets the numbers to the counts, and raises none."""

import argparse
import pathlib
import re
import sys

README_WORDS = 700
LEAST = 20  # phrases in the glossary
GENERATED = ("docs/annotations.md", "docs/configuration.md", "docs/troubleshooting.md")
GLOSSARY = "docs/glossary.md"
PAGES = ("*.md", "docs/*.md", "docs/gen/*.md", "core/**/*.md", "plugins/**/*.md", "tools/**/*.md", "tests/**/*.md", "etc/**/*.md")
SOURCES = ("core", "include", "plugins", "tools", "docs/gen", "tests")
HEAD = ("# Retired words (docs/glossary.md) that a page or a folder still has, by scripts/check-words.py. A number may only fall; what is\n"
        "# not listed has none. `scripts/check-words.py --write` sets the numbers to the counts.\n")
WORD = re.compile(r"[A-Za-z][\w'-]*")
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def retired(root):
    """Those of every text, and those of texts that users read."""
    found = {}
    for title, rows in re.findall(r"^## (Retired[^\n]*)\n(.*?)(?=^## |\Z)", (root / GLOSSARY).read_text(encoding="utf-8"), re.M | re.S):
        cells = re.findall(r"^\| (`[^|]*) \|", rows, re.M)
        found[title] = [phrase for cell in cells for phrase in re.findall(r"`([^`]+)`", cell)]
    if len(found) != 2 or sum(map(len, found.values())) < LEAST:
        sys.exit(f"check-words: {GLOSSARY} has no tables of retired words")
    everywhere, readers = found.values()
    return Phrases(everywhere), Phrases(everywhere + readers)


class Phrases:
    """The longest first, so that each place counts once; a line may end within a phrase, also one of a comment or of a literal."""

    def __init__(self, phrases):
        between = r'(?:[\s*#]|" *\n *")+'
        words = "|".join(between.join(map(re.escape, phrase.split())) for phrase in sorted(phrases, key=len, reverse=True))
        self.pattern = re.compile(rf"(?:{words})(?![\w-])", re.I)
        self.firsts = {WORD.match(phrase)[0].lower().split("'")[0] for phrase in phrases}


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def page_places(name, text, readers):
    if name == "CHANGELOG.md":
        text = re.split(r"(?<=\n)## (?!Unreleased)", text)[0]
    text = re.sub(r"^```.*?^```$", lambda found: blank(found[0]), text, flags=re.M | re.S)
    text = re.sub(r"`[^`\n]+`", lambda found: blank(found[0]), text)
    return places(text, readers)


def source_places(text, everywhere, readers):
    """Comments, and literals with their neighbours; all else is blank."""
    comments, literals, end = [], [], 0
    for token in TOKEN.finditer(text):
        between = text[end:token.start()]
        comments.append(blank(between))
        literals.append(between if re.fullmatch(r"\s*", between) else re.sub(r"\S", "\0", between))
        kept, other = (comments, literals) if token[0][0] == "/" else (literals, comments)
        kept.append(token[0])
        other.append(blank(token[0]))
        end = token.end()
    return sorted(places("".join(comments), everywhere) + places("".join(literals), readers))


def places(text, words):
    found, end = [], 0
    for word in WORD.finditer(text):
        if word.start() >= end and word[0].lower().split("'")[0] in words.firsts and (here := words.pattern.match(text, word.start())):
            found.append((text.count("\n", 0, word.start()) + 1, " ".join(re.sub(r'["*#]', " ", here[0]).split())))
            end = here.end()
    return found


def counted(root):
    """{page or folder: [(file, line, words)]}"""
    everywhere, readers = retired(root)
    found = {}
    for path in sorted({path for glob in PAGES for path in root.glob(glob)}):
        name = str(path.relative_to(root))
        if name not in (*GENERATED, GLOSSARY):
            found.setdefault(name, []).extend((name, *place) for place in page_places(name, path.read_text(encoding="utf-8"), readers))
    for path in sorted(path for top in SOURCES for path in (root / top).rglob("*") if path.suffix in (".c", ".h", ".in")):
        name = path.relative_to(root)
        text = path.read_text(encoding="utf-8")
        own = page_places(str(name), text, readers) if path.suffix == ".in" else source_places(text, everywhere, readers)
        folder = "tests" if "tests" in name.parts else str(name.parent)
        found.setdefault(folder, []).extend((str(name), *place) for place in own)
    return found


def read_numbers(file):
    rows = (line.rsplit(" ", 1) for line in file.read_text(encoding="utf-8").splitlines() if line and line[0] != "#")
    return {name: int(number) for name, number in rows}


def judge(name, places_, number):
    count = len(places_)
    if count > number:
        worst = "; ".join(f"{file}:{line}: {words}" for file, line, words in places_[:5])
        return f"{name} has {count} retired words, at most {number}: see {GLOSSARY} for what to say ({worst}{'; ...' if count > 5 else ''})"
    if number - count > max(5, number // 10) or (count == 0 and number > 0):
        return f"{name} has {count} retired words, well below its number of {number}: lower it with scripts/check-words.py --write"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--list", metavar="PATH")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    given = parser.parse_args()
    file = given.root / "scripts/words.txt"
    found = counted(given.root)
    numbers = read_numbers(file) if file.exists() else {name: len(own) for name, own in found.items()}
    if given.write:
        numbers = {name: min(len(found[name]), numbers.get(name, 0)) for name in sorted(found)}
        file.write_text(HEAD + "".join(f"{name} {number}\n" for name, number in numbers.items() if number), encoding="utf-8")
    if given.table:
        for name, own in sorted(found.items()):
            print(f"{name:44}{len(own):6}{numbers.get(name, 0):6}")
    if given.list is not None:
        for place, line, words in (place for own in found.values() for place in own if place[0].startswith(given.list)):
            print(f"{place}:{line}: {words}")
    findings = [judge(name, found.get(name, []), numbers.get(name, 0)) for name in sorted({**found, **numbers})]
    words = len((given.root / "README.md").read_text(encoding="utf-8").split())
    if words > README_WORDS:
        findings.append(f"README.md has {words} words, at most {README_WORDS}: move something to a page")
    findings = [f"check-words: {finding}" for finding in findings if finding]
    print(*findings or [f"check-words: {sum(map(len, found.values()))} retired words left in {sum(1 for own in found.values() if own)} "
                        f"of {len(found)} pages and folders, ok"], sep="\n")
    return 1 if findings else 0


sys.exit(main())
