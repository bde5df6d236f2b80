#!/usr/bin/env python3
"""check-size.py [--table] [--write] [ROOT]: the size of the product stays within scripts/budgets.txt.

A figure above its budget fails, and so does one that is more than a twentieth below it: the budgets follow what is removed. A commit that needs
more room edits the file. --table prints every figure with its budget, and sums, which have none; --write sets the budgets to the figures
(lines: the next 100).
Counted are .c and .h of core, include, plugins and tools, without tests, comments, blank lines and what is generated."""

import argparse
import pathlib
import re
import sys

STRUCTS = {
    "lbc_entry": "plugins/lbc/mirror.h",
    "lbc_pass": "plugins/lbc/pass.h",
    "ccm_host": "include/ccm/host.h",
    "ccm_plugin": "include/ccm/plugin.h",
}
# What a load balancer product fills in, together.
PRODUCT = {
    "plugins/lbc/controller.h": ("lbc_product", "lbc_read_ops", "lbc_change_ops", "lbc_status_ops"),
    "plugins/lbc/inventory.h": ("lbc_inventory_ops",),
    "plugins/lbc/model/cloud.h": ("lbc_cloud_ops",),
    "plugins/lbc/apply/state.h": ("lbc_state_type",),
    "plugins/lbc/apply/model.h": ("lbc_model_ops",),
    "plugins/lbc/apply/plan.h": ("lbc_plan_ops",),
    "plugins/lbc/apply/executor.h": ("lbc_apply_ops",),
}
PASS = "plugins/lbc/pass.h"
ROUND = 100  # lines
SUMS = ("core", "core/kube", "plugins", "plugins/lbc", "tools")


def code(text):
    """The text without comments; its lines stay."""
    keep = re.compile(r'/\*.*?\*/|//[^\n]*|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.S)
    return keep.sub(lambda found: found.group(1) or re.sub(r"[^\n]", "", found.group(0)), text)


def members_of(body):
    """The members between the braces of a struct; those of a struct without a name count each."""
    depth, count, begin, inner = 0, 0, 0, None
    for at, char in enumerate(body):
        if char == "{" and depth == 0:
            inner = at
        depth += (char in "{([") - (char in "})]")
        if char == "}" and depth == 0:
            count += members_of(body[inner + 1 : at])
        elif char in ",;" and depth == 0 and body[begin:at].strip():
            count += inner is None
            begin, inner = at + 1, None if char == ";" else inner
    return count


class Tree:
    def __init__(self, root):
        self.root = root
        self.texts = {}
        for top in ("core", "include", "plugins", "tools"):
            for path in sorted((root / top).rglob("*.[ch]")):
                name = path.relative_to(root)
                if "tests" not in name.parts:
                    self.texts[str(name)] = code(path.read_text(encoding="utf-8"))

    def members(self, file, struct):
        found = re.search(rf"^struct {struct} \{{\n(.*?)^\}};", self.texts[file], re.M | re.S)
        if found is None:
            sys.exit(f"check-size: {file} has no struct {struct}: say in scripts/check-size.py where it is now")
        return members_of(re.sub(r"^#.*$", "", found.group(1), flags=re.M))

    def pulled(self, name):
        """The headers that a file includes, and all that these include."""
        found, names = set(), [name]
        while names:
            for other in re.findall(r'^#include [<"]([^">]+)[>"]', self.texts[names.pop()], re.M):
                paths = [path for path in (f"plugins/{other}", f"core/{other}", f"include/{other}") if path in self.texts]
                names += [path for path in paths if path not in found]
                found.update(paths)
        return len(found)

    def figures(self):
        lines, files = {}, {}
        for name, text in self.texts.items():
            count = sum(1 for line in text.splitlines() if line.strip())
            folder = name.rsplit("/", 1)[0]
            files[folder] = files.get(folder, 0) + 1
            lines[folder] = lines.get(folder, 0) + count
        options = re.findall(r"^\| `([^`]+)`", (self.root / "docs/configuration.md").read_text(encoding="utf-8"), re.M)
        both = [text for text in self.texts.values()
                if re.search(r"\bpthread_mutex_t \w+;", text) and re.search(r"\b(struct ccm_strmap|UT_hash_handle)\b", text)]
        tables = [self.members(file, struct) for file, structs in PRODUCT.items() for struct in structs]
        return {
            **{f"lines {folder}": count for folder, count in sorted(lines.items())},
            **{f"files {folder}": count for folder, count in sorted(files.items()) if count > 20},
            **{f"members {struct}": self.members(file, struct) for struct, file in STRUCTS.items()},
            "members product": sum(tables),
            "options": len(set(options)),
            "map-and-mutex": len(both),
            f"headers {PASS}": self.pulled(PASS),
        }


def sums(figures):
    """Lines of whole trees: they have no budget, as each folder has one."""
    found = {top: sum(count for name, count in figures.items() if f"{name}/".startswith(f"lines {top}/")) for top in SUMS}
    return {**found, "core, plugins, tools": sum(found[top] for top in ("core", "plugins", "tools"))}


def read_budgets(file):
    rows = (line.rsplit(" ", 1) for line in file.read_text(encoding="utf-8").splitlines() if line and line[0] != "#")
    return {name: int(budget) for name, budget in rows}


def write_budgets(file, figures):
    head = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    rows = [f"{name} {-(-figure // ROUND) * ROUND if name.startswith('lines') else figure}" for name, figure in figures.items()]
    file.write_text("\n".join(head + rows) + "\n", encoding="utf-8")


def judge(name, figure, budget):
    if budget is None:
        return f"{name} is {figure} and has no budget: add a row"
    if figure is None:
        return f"{name} is not there any more: remove its row"
    if figure > budget:
        return f"{name} is {figure}, {figure - budget} above its budget of {budget}: make it smaller, or raise the budget and say why"
    if figure * 20 < budget * 19 and budget - figure > (ROUND if name.startswith("lines") else 0):
        return f"{name} is {figure}, well below its budget of {budget}: lower the budget"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    given = parser.parse_args()
    file = given.root / "scripts/budgets.txt"
    figures = Tree(given.root).figures()
    if given.write:
        write_budgets(file, figures)
    budgets = read_budgets(file)
    if given.table:
        for name, figure in figures.items():
            print(f"{name:32}{figure:8}{budgets.get(name, '-'):>8}")
        for name, figure in sums(figures).items():
            print(f"sum {name:28}{figure:8}")
    findings = [judge(name, figures.get(name), budgets.get(name)) for name in {**figures, **budgets}]
    findings = [f"scripts/budgets.txt: {finding}" for finding in findings if finding]
    print(*findings or [f"check-size: {sums(figures)['core, plugins, tools']} lines of code, {len(figures)} figures, ok"], sep="\n")
    return 1 if findings else 0


sys.exit(main())
