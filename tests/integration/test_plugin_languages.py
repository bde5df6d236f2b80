"""docs/plugin-languages.md: its plugins in C++ and Rust are built and run as they stand there, against an installed ccmd."""

import os
import re
import shutil
import subprocess

import pytest

from tests.support import pages
from tests.support.world import World, wait

FOUND = pages.blocks("plugin-languages.md")
RUSTC = shutil.which("rustc")

pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="c++ is not installed: scripts/bootstrap.sh test")


@pytest.fixture
def shell(build, prefix, tmp_path):
    pkg_config = next(root for root, _, names in os.walk(prefix) if "ccmd-plugin.pc" in names)
    tools = tmp_path / "tools"
    tools.mkdir()
    tools.joinpath("kubectl").symlink_to(shutil.which(os.environ.get("KUBECTL", "kubectl")))
    os.umask(0o022)
    with World(build, tmp_path / "world") as world:
        folder = tmp_path / "work"
        folder.mkdir()
        shell = pages.Shell(folder, {
            "PREFIX": prefix, "PATH": f"{prefix}/bin:{tools}:{os.environ['PATH']}", "KUBECONFIG": os.path.abspath(world.kubeconfig),
            "PKG_CONFIG_PATH": pkg_config})
        yield shell
        shell.close()


def source(name):
    (text,) = [block.text for block in FOUND if block.mark == name]
    return text


def without_rust(text):
    """The page for a machine that has no compiler for it."""
    return re.sub(r",\n *\{ name = \"greet-rs\".*\} \)", " )", text).replace("greet-rs hello, world\n", "")


def squeezed(text):
    return [" ".join(line.split()) for line in text.splitlines()]


def test_every_block_works(shell):
    for number, block in enumerate(FOUND):
        text = block.text if RUSTC else without_rust(block.text)
        after = FOUND[number + 1] if number + 1 < len(FOUND) else None
        if block.language != "sh" or (block.mark == "rust" and RUSTC is None):
            continue
        if block.mark == "daemon":
            shell.start(text.strip())
            continue
        for name in ("greet.cc", "greet.rs", "ccm.rs"):
            if f" {'greet.rs' if name == 'ccm.rs' else name} " in text:
                with open(os.path.join(shell.folder, "greet", name), "w", encoding="utf-8") as file:
                    file.write(source(name))
        if after is not None and after.language == "text":
            wanted = squeezed(after.text if RUSTC else without_rust(after.text))
            wait(lambda: set(wanted) <= set(squeezed(shell.run(text))), f"{text}: {wanted}", timeout=30)
        else:
            shell.run(text)
    assert len(shell.processes) == 1
    for file in ("greet-cc.so", "greet-rs.so") if RUSTC else ("greet-cc.so",):
        subprocess.run([os.path.join(pages.ROOT, "scripts/check-symbols.sh"), os.path.join(shell.folder, "greet", file)], check=True)


@pytest.mark.parametrize("name", ["greet.cc", "greet.rs"])
def test_examples_are_short(name):
    assert len(source(name).splitlines()) <= 60


def build_cc(shell, text, *flags):
    with open(os.path.join(shell.folder, "x.cc"), "w", encoding="utf-8") as file:
        file.write(text)
    shell.run(f"c++ -Wall -Wextra -pedantic -Werror -fPIC -shared {' '.join(flags)} x.cc "
              "$(pkg-config --cflags --libs ccmd-plugin) -o x.so")


@pytest.mark.parametrize("standard", ["14", "17", "20"])
def test_cpp_example_is_clean(shell, standard):
    build_cc(shell, source("greet.cc"), f"-std=c++{standard}", "-O2")
    assert shell.run("ccmd plugins x.so").startswith("greet-cc 0.1.0")


@pytest.mark.parametrize("change, flags", [
    (lambda text: text + '\nstatic std::string made = std::string(getpid() > 0 ? "a" : "b");\n'
                         "const char *made_text() { return made.c_str(); }\n", ["-include", "unistd.h"]),
    (lambda text: text, ["-static-libstdc++", "-static-libgcc"]),
])
def test_constructors_of_cpp_are_fine(shell, change, flags):
    """The word that they needed once is retired."""
    build_cc(shell, change(source("greet.cc")), "-std=c++17", *flags)
    assert shell.run("ccmd plugins x.so").startswith("greet-cc ")
    for word in ("", "constructors = false;"):
        conf = f'admin: {{ listen = "127.0.0.1:0"; }};\nplugins = ( {{ name = "greet-cc"; file = "$PWD/x.so"; {word} }} );'
        told = shell.run(f"cat >x.conf <<END\n{conf}\nEND\nccmd check-config --config x.conf 2>&1")
        assert "x.conf: ok" in told and ("greet-cc.constructors (x.conf:2): every plugin may have them" in told) == (word != ""), told
