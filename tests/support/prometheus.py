"""The text format of Prometheus, read strictly: what one of its servers would refuse fails here."""

import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"')
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)")
PARTS = {"histogram": ("_bucket", "_sum", "_count")}


class Family:
    def __init__(self, name, help_text):
        self.name = name
        self.help = help_text
        self.type = None
        self.samples = {}  # (name, ((label, value), ...)) -> number

    def add(self, name, labels, value):
        allowed = [self.name + part for part in PARTS.get(self.type, ("",))]
        assert name in allowed, f"{name} in the family {self.name}, a {self.type}"
        key = (name, labels)
        assert key not in self.samples, f"twice: {key}"
        assert self.type == "gauge" or value >= 0, f"{key} is {value}"
        self.samples[key] = value

    def histograms(self):
        """{labels without le: ([(bound, count), ...], sum, count)}"""
        found = {}
        for (name, labels), value in self.samples.items():
            rest = tuple(pair for pair in labels if pair[0] != "le")
            one = found.setdefault(rest, [[], None, None])
            if name.endswith("_bucket"):
                one[0].append((float(dict(labels)["le"]), value))
            else:
                one[1 if name.endswith("_sum") else 2] = value
        return found

    def check(self):
        assert self.type, f"{self.name}: no TYPE"
        assert self.samples, f"{self.name}: no sample"
        if self.type != "histogram":
            return
        for labels, (buckets, total, count) in self.histograms().items():
            where = f"{self.name}{labels}"
            bounds = [bound for bound, _ in buckets]
            counts = [number for _, number in buckets]
            assert bounds == sorted(set(bounds)) and bounds[-1] == float("inf"), where
            assert counts == sorted(counts) and counts[-1] == count and total is not None, where


def labels_of(text):
    labels = []
    at = 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, f"labels: {text}"
        value = re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m.group(1), m.group(1)), match.group(2))
        labels.append((match.group(1), value))
        at = match.end()
        assert at == len(text) or text[at] == ",", f"labels: {text}"
        at += 1
    names = [name for name, _ in labels]
    assert len(names) == len(set(names)), f"labels: {text}"
    return tuple(labels)


def parse(text):
    """{name: Family}, in the order of the text."""
    assert text.endswith("\n")
    families = {}
    family = None
    for line in text[:-1].split("\n"):
        match = re.fullmatch(rf"# (HELP|TYPE) ({NAME}) (.*)", line)
        if match and match.group(1) == "HELP":
            assert match.group(2) not in families, f"two families: {line}"
            family = families[match.group(2)] = Family(match.group(2), match.group(3))
        elif match:
            assert family and family.name == match.group(2) and not family.type and not family.samples, line
            assert match.group(3) in ("counter", "gauge", "histogram"), line
            family.type = match.group(3)
        else:
            sample = SAMPLE.fullmatch(line)
            assert sample and family and family.type, f"no sample: {line}"
            family.add(sample.group(1), labels_of(sample.group(2) or ""), float(sample.group(3)))
    for one in families.values():
        one.check()
    return families
