"""What a soak did, in order: the list that a failure shows, and the figures of the end."""

import collections
import time


class Finding(AssertionError):
    """Something is not as it has to be."""


class Trace:
    def __init__(self):
        self.began = time.monotonic()
        self.lines = []
        self.counts = collections.Counter()

    def note(self, what, *words, count=1):
        self.counts[what] += count
        self.lines.append(f"{time.monotonic() - self.began:9.3f} {what} {' '.join(str(word) for word in words)}".rstrip())

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")

    def about(self, *names):
        """The lines that name one of these."""
        return [line for line in self.lines if any(name in line.split() for name in names)]

    def summary(self):
        return ", ".join(f"{what} {count}" for what, count in sorted(self.counts.items()))
