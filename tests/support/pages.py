"""The pages of docs/ as scripts: their fenced blocks, and a shell that runs them one after another as a reader would."""

import os
import re
import subprocess

from . import proc
from .world import wait

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FENCE = re.compile(r"^(?:<!-- ([^>]+) -->\n)?```(\S*)\n(.*?)^```$", re.M | re.S)


class Block:
    """A fenced block: its language, its text, and the words of the comment in the line above ("" = none)."""

    def __init__(self, mark, language, text):
        self.mark = mark or ""
        self.language = language
        self.text = text


def blocks(name):
    with open(os.path.join(ROOT, "docs", name), encoding="utf-8") as file:
        return [Block(*found) for found in FENCE.findall(file.read())]


class Shell:
    """Runs blocks in `folder`; each begins where the one before it has ended. Exports stay."""

    def __init__(self, folder, env):
        self.folder = str(folder)
        self.env = {**os.environ, **env}
        self.state = os.path.join(self.folder, ".shell")
        with open(self.state, "w", encoding="utf-8") as file:
            file.write(f"cd {self.folder}\n")
        self.processes = []

    def _script(self, text):
        return f"set -euo pipefail\n. {self.state}\n{text}\n"

    def _try(self, text):
        """(exit code, output with standard error)."""
        keep = f'{{ echo "cd \'$PWD\'"; export -p; }} >{self.state}'
        done = subprocess.run(["bash", "-c", self._script(text) + keep], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=self.env, text=True, timeout=120 * proc.SLOW, check=False)
        return done.returncode, done.stdout

    def run(self, text):
        """Its output, standard error included; the test fails where a command does."""
        code, output = self._try(text)
        assert code == 0, f"{text}\n--> exit {code}\n{output}\n{self._ended()}"
        return output

    def see(self, text, expected):
        """Run it, and want each line of `expected` in the output. What only looks is run again until the deadline, as a reader does:
        the daemon that was started a line before may not listen yet."""
        lines = [line.strip() for line in expected.splitlines()]
        code, output = None, ""

        def shown():
            nonlocal code, output
            code, output = self._try(text)
            return code == 0 and all(line in output for line in lines)

        looks = re.match(r"(kubectl get|curl) ", text)
        try:
            wait(shown, "output", timeout=30 if looks else 0)
        except AssertionError:
            raise AssertionError(f"{text}\n--> exit {code}\n{output}\nwanted:\n{expected}\n{self._ended()}") from None

    def _ended(self):
        """What those have said that were started and run no more."""
        return "\n".join(f"{one.argv[2].splitlines()[-1]}: ended\n{one.out()}{one.err()}" for one in self.processes if not one.alive())

    def start(self, text):
        """A block for another terminal."""
        prefix = os.path.join(self.folder, f"terminal-{len(self.processes)}")
        process = proc.Process(["bash", "-c", self._script("exec " + text)], prefix, env=self.env)
        self.processes.append(process)
        return process

    def close(self):
        for process in self.processes:
            process.stop() if "ccmd" in process.argv[2].splitlines()[-1] else process.kill()
        self.processes = []
