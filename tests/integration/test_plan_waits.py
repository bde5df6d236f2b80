"""`ccmd plan` waits: for how long, what it says of that on a terminal, and what it says at the end."""

import json
import os
import re

import pytest

from tests.support import proc, terminal


@pytest.fixture
def nowhere(tmp_path, build):
    """A configuration whose API server is nowhere."""
    with open(tmp_path / "kubeconfig", "w", encoding="utf-8") as file:
        file.write(json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "a", "users": [{"name": "a", "user": {}}],
                               "clusters": [{"name": "a", "cluster": {"server": "http://127.0.0.1:1"}}],
                               "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}]}))
    planner = os.path.abspath(os.path.join(build, "tests", "abi", "planner.so"))
    (tmp_path / "nowhere.conf").write_text(f'kubernetes: {{ kubeconfig = "{tmp_path}/kubeconfig"; }};\n'
                                           f'plugins = ( {{ name = "planner"; file = "{planner}"; }} );\n')
    return str(tmp_path / "nowhere.conf")


def test_a_server_that_is_not_there_is_not_waited_for_until_the_deadline(build, nowhere):
    """The deadline is five minutes away; after some ten seconds of tries the answer is there, and says why."""
    code, out, _ = proc.run([os.path.join(build, "bin", "ccmd"), "plan", "--config", nowhere], timeout=120 * proc.SLOW)
    assert code == 1
    assert out.splitlines() == ["planner", "    failed: the plugin did not start: services cannot be read: "
                                "API server http://127.0.0.1:1: connection refused", "0 to change, 0 as they should be, 1 failed"]


def test_a_terminal_sees_what_is_waited_for(build, nowhere):
    """One line, rewritten in place; lines of the log take its place; at the end it is gone. Nothing of it goes to a file."""
    command = [os.path.join(build, "bin", "ccmd"), "plan", "--config", nowhere, "--timeout", "2"]
    code, out, seen = terminal.run(command, err_only=True)
    assert code == 1 and out.startswith("planner\n    failed: ") and "\033" not in out
    rows = re.findall(r"\r\x1b\[K([^\r\n]*)", seen)
    shown = [row for row in rows if " s: planner: " in row]
    assert re.fullmatch(r"\d s: planner: services cannot be read: API server http://127.0.0.1:1: connect.*", shown[-1]) and rows[-1] == ""
    assert max(map(len, shown)) <= 79 < max(map(len, rows))  # the log is as long as it likes
    assert " warn  reflector: services: " in seen and " info " not in seen
    assert [line for line in seen.split("\r\n") if line and not line.startswith("\r\x1b[K")] == []
    assert "\033" not in proc.run(command)[2] and "\033" not in terminal.run(command, err_only=True, TERM="dumb")[2]
