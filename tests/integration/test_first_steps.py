"""docs/first-steps.md, followed as a reader does: from the first program to the address of the first Service, and away again."""

import json
import os
import re
import shutil
import time

import pytest

from tests.support import pages, proc
from tests.support.world import wait

PORTS = ("8801", "8802", "8803")
# What takes minutes is there already: the tree is built, and `make install` is CMake's.
GIT = '#!/bin/bash\n[ "$1 $2 $3" = "clone URL ccmd" ] && mkdir -p ccmd/build && ln -s "$CCM_BUILD_DIR" ccmd/build/release\n'
MAKE = '#!/bin/bash\n[ $# = 0 ] || { [ "$1" = install ] && exec cmake --install "$CCM_BUILD_DIR" --prefix "${2#PREFIX=}"; }\n'


@pytest.fixture
def shell(build, tmp_path):
    os.umask(0o022)
    tools, work = tmp_path / "tools", tmp_path / "work"
    tools.mkdir()
    work.mkdir()
    for name, text in (("git", GIT), ("make", MAKE)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    (tools / "kubectl").symlink_to(shutil.which(os.environ.get("KUBECTL", "kubectl")))
    shell = pages.Shell(work, {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(work), "CCM_BUILD_DIR": os.path.abspath(build)})
    yield shell
    shell.close()


def listens(process):
    """A terminal of the page whose program can be used."""
    wait(lambda: re.search(r"listening on \S+:\d+", process.out() + process.err()) or not process.alive(), process.argv[2].splitlines()[-1])
    assert process.alive(), process.err()


def test_to_the_first_address(shell):
    numbers = dict(zip(PORTS, map(str, proc.free_ports(len(PORTS)))))
    found = pages.blocks("first-steps.md")
    assert [block.mark for block in found if block.mark] == ["build", "terminal", "terminal", "terminal"]
    started = address = None
    for number, block in enumerate(found):
        text = block.text
        for told, free in numbers.items():
            text = text.replace(told, free)
        if block.mark == "terminal":
            started = started or time.monotonic()
            listens(shell.start(text.strip()))
        elif block.language == "sh" and number + 1 < len(found) and found[number + 1].language == "text":
            shell.see(text, found[number + 1].text)
            address = time.monotonic() if "ingress" in text else address
        elif "get events" in text:
            shell.see(text, "EnsuredLoadBalancer")
        elif "/_sim/state" in text:
            (lb,) = json.loads(shell.run(text))["loadBalancers"]
            assert lb["Address"] == "47.96.0.1" and [listener["ListenerPort"] for listener in lb["Listeners"]] == [80]
        elif block.language == "sh":
            shell.run(text)
    with pytest.raises(AssertionError, match="NotFound"):
        shell.run("kubectl get service hello")
    print(f"from the first simulator to the address: {address - started:.1f} s")


def test_readme_has_the_same_service():
    """Both pages show one manifest."""
    first = next(block.text for block in pages.blocks("first-steps.md") if "kind: Service" in block.text)
    (shown,) = [block.text for block in pages.blocks("../README.md") if block.language == "yaml" and "kind: Service" in block.text]
    assert shown in first
