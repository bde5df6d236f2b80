"""docs/plugin-guide.md and its sequels (plugin-example.md, plugin-resource.md, plugin-loadbalancer.md) do what they say: every command and every line of C on them, against an installed ccmd."""

import glob
import os
import re
import shutil

import pytest

from tests.balancer.source import replace_once, snippet, with_states
from tests.support import pages, proc
from tests.support.world import World

ROOT = pages.ROOT
PORTS = ("8787", "8788", "8789", "8790", "8791", "8792")
SOURCES = {"publish": "plugin-example.md", "bucket": "plugin-resource.md", "balancer": "plugin-loadbalancer.md"}


def with_ports(text, numbers):
    for told, number in numbers.items():
        text = text.replace(told, number)
    return text


@pytest.fixture
def shell(build, prefix, tmp_path):
    pkg_config = next(root for root, _, names in os.walk(prefix) if "ccmd-plugin.pc" in names)
    tools = tmp_path / "tools"
    tools.mkdir()
    tools.joinpath("kubectl").symlink_to(shutil.which(os.environ.get("KUBECTL", "kubectl")))
    if proc.sanitizer(build):  # then the libraries of the SDK ask for it, too
        cc = tools / "cc"
        cc.write_text(f'#!/bin/sh\nexec {shutil.which(os.environ.get("CC", "cc"))} -fsanitize={proc.sanitizer(build)} "$@"\n')
        cc.chmod(0o755)
    os.umask(0o022)
    with World(build, tmp_path / "world") as world:
        folder = tmp_path / "work"
        folder.mkdir()
        shell = pages.Shell(folder, {
            "PREFIX": prefix, "PATH": f"{prefix}/bin:{tools}:{os.environ['PATH']}", "KUBECONFIG": os.path.abspath(world.kubeconfig),
            "PKG_CONFIG_PATH": pkg_config, "HOME": str(folder)})
        yield shell
        shell.close()


def test_excerpts_are_those_of_the_template():
    with open(os.path.join(ROOT, "plugins", "template", "plugin.c"), encoding="utf-8") as file:
        source = file.read()
    excerpts = [block for block in pages.blocks("plugin-guide.md") if block.mark == "template"]
    assert len(excerpts) == 4
    for block in excerpts:
        assert block.text in source, block.text


def test_refusals_are_those_of_the_loader():
    with open(os.path.join(ROOT, "docs", "plugin-guide.md"), encoding="utf-8") as file:
        table = re.search(r"^## When it is refused$(.*?)^```", file.read(), re.M | re.S).group(1)
    said = re.findall(r"^\| `([^`]+)` \|", table, re.M)
    assert len(said) >= 8
    sources = ""
    for path in sorted(glob.glob(os.path.join(ROOT, "core", "plugin", "*.c"))) + [os.path.join(ROOT, "core", "util", "trust.c")]:
        with open(path, encoding="utf-8") as file:
            sources += re.sub(r'"\s*"', "", re.sub(r'"\s*PRI(\w)32\s*"', r"\1", file.read()))
    for message in said:
        assert re.sub(r"\b\d+\b", "%u", message) in sources, message


def test_the_guide_is_short():
    """From nothing to a running plugin: what one has to read for that fits on a page."""
    with open(os.path.join(ROOT, "docs", "plugin-guide.md"), encoding="utf-8") as file:
        text = file.read()
    assert len(text.split("## What is in it")[0].splitlines()) <= 85


def source(name):
    return "".join(block.text for block in pages.blocks(SOURCES[name]) if block.mark == name + ".c")


@pytest.mark.parametrize("names, processes", [
    (("plugin-guide.md", "plugin-example.md", "plugin-resource.md"), 5),
    (("plugin-loadbalancer.md",), 2)], ids=["guide", "loadbalancer"])
def test_every_block_works(build, shell, names, processes):
    numbers = dict(zip(PORTS, map(str, proc.free_ports(len(PORTS)))))
    found = [block for name in names for block in pages.blocks(name)]
    assert [block for block in found if block.language not in ("sh", "c", "text")] == []
    for number, block in enumerate(found):
        text = with_ports(block.text, numbers)
        after = found[number + 1] if number + 1 < len(found) else None
        if block.language != "sh" or (block.mark == "sanitizer" and proc.sanitizer(build)):
            continue
        if block.mark == "daemon":
            shell.start(text.strip())
            continue
        for name in SOURCES:
            if f" {name}.c " in text:
                with open(os.path.join(shell.folder, name, name + ".c"), "w", encoding="utf-8") as file:
                    file.write(source(name))
        if after is not None and after.language == "text":
            shell.see(text, with_ports(after.text, numbers))
        else:
            shell.run(text)
    assert len(shell.processes) == processes


# The cloud of the page, but slow and strict: what is new or was changed takes no change until it was looked at twice.
STRICT = (
    ('"Tags": {}, "Groups": [], "Listeners": []})', '"Tags": {}, "Groups": [], "Listeners": [], "State": "making", "Looks": 0})'),
    ("    def ListLoadBalancers(self, ask):\n", """    def ListLoadBalancers(self, ask):
        for lb in lbs.values():
            lb["Looks"] += 1
            lb["State"] = "ready" if lb["Looks"] >= 2 else lb["State"]
"""),
    ("            self.answer(200, json.dumps(getattr(Cloud(), self.path.strip(\"/\"))(json.loads(body))))", """            action, ask = self.path.strip("/"), json.loads(body)
            lb = lbs.get(ask["Id"])
            if action != "ListLoadBalancers" and lb and (lb["State"] != "ready" or (
                    action == "DeleteLoadBalancer" and lb["Listeners"] + lb["Groups"])):
                refused.append(action)
                self.answer(409, json.dumps({"Code": "Busy", "Message": f"{action}: not now"}))
                return
            self.answer(200, json.dumps(getattr(Cloud(), action)(ask)))"""),
    ('text = f"{len(lbs)} load balancers\\n"', 'text = f"{len(lbs)} load balancers\\nrefused: {refused}\\n"'),
    ("lbs = {}", "refused = []\nlbs = {}"),
)


def page_text():
    with open(os.path.join(ROOT, "docs", SOURCES["balancer"]), encoding="utf-8") as file:
        return file.read()


def for_strict_cloud():
    """The provider with what the page says about such clouds."""
    text = replace_once(source("balancer"), "static const struct lbc_plan_ops plan_ops = { LBC_PLAIN_RULES(50) };\n",
                        snippet(page_text(), "empties"))
    return with_states(text, page_text())


# Left by a Service that is gone, with all that a load balancer has.
LEFT = """sh call PutLoadBalancer '{"Id": "", "Name": "left", "Tags": {TAGS}}'
sh call ListLoadBalancers '{"Id": "lb-1"}'
sh call ListLoadBalancers '{"Id": "lb-1"}'
id=$(sh call PutServers '{"Id": "lb-1", "GroupId": "", "Name": "g", "Servers": []}' | sed 's/.*"Id": "\\([^"]*\\)".*/\\1/')
sh call PutListener '{"Id": "lb-1", "Port": 81, "Protocol": "TCP", "Name": "l", "GroupId": "'"$id"'", "Scheduler": "rr"}'
"""


def test_a_cloud_that_takes_its_time_and_deletes_step_by_step(build, shell):
    """No call is made that such a cloud refuses, neither for a Service nor for what was left without one."""
    numbers = dict(zip(PORTS, map(str, proc.free_ports(len(PORTS)))))
    found = [block for block in pages.blocks(SOURCES["balancer"]) if block.language == "sh"]

    def text_of(words):
        return with_ports(next(block.text for block in found if words in block.text), numbers)

    cloud = text_of("cat >cloud.py")
    for old, new in STRICT:
        cloud = replace_once(cloud, old, new)
    shell.run(cloud)
    shell.start(text_of("python3 cloud.py").strip())
    with open(os.path.join(shell.folder, "balancer", "balancer.c"), "w", encoding="utf-8") as file:
        file.write(for_strict_cloud())
    look = text_of("curl -s http")
    shell.see(look, "0 load balancers")
    tags = re.search(r'"Tags": ({[^}]*})', text_of('"Name": "left"')).group(1)
    shell.run(text_of("cat >call").split("sh call ")[0] + LEFT.replace("{TAGS}", tags))
    shell.see(look, "TCP 81 rr ->\nrefused: []")
    for words in ("cc -std=c11", "cat >nodes.yaml", "sed -i 's/: fast/", "cat >balancer.conf"):
        shell.run(text_of(words))
    shell.start(text_of("ccmd run").strip())
    shell.see(look, "TCP 80 least -> 10.0.0.1=1\nrefused: []")
    shell.see(text_of("kubectl get service web"), "192.0.2.2")
    shell.see(look, "1 load balancers\nrefused: []")
    shell.run("kubectl delete service web")
    shell.see(look, "0 load balancers\nrefused: []")


def test_what_goes_before_its_load_balancer_has_to_be_known(build, shell):
    """A provider that never says that it has read listeners and groups, but has them deleted first, is told what it lacks."""
    numbers = dict(zip(PORTS, map(str, proc.free_ports(len(PORTS)))))
    found = [block for block in pages.blocks(SOURCES["balancer"]) if block.language == "sh"]

    def text_of(words):
        return with_ports(next(block.text for block in found if words in block.text), numbers)

    shell.run(text_of("cat >cloud.py"))
    shell.start(text_of("python3 cloud.py").strip())
    text = for_strict_cloud()
    for line in ("    state->lbc.groups_known = state->lbc.listeners_known = true;\n", "    state->groups_known = state->listeners_known = true;\n"):
        text = replace_once(text, line, "")
    with open(os.path.join(shell.folder, "balancer", "balancer.c"), "w", encoding="utf-8") as file:
        file.write(replace_once(text, ", .lb_ready = lb_ready }", " }").replace(snippet(page_text(), "unready"), ""))
    for words in ("cc -std=c11", "cat >nodes.yaml", "sed -i 's/: fast/", "cat >balancer.conf"):
        shell.run(text_of(words))
    shell.start(text_of("ccmd run").strip())
    shell.see(text_of("kubectl get service web"), "192.0.2.1")
    shell.run("kubectl delete service web --wait=false")
    shell.see("kubectl get events -o yaml", "release() of struct lbc_read_ops has to read what `empties` names")


def test_a_load_balancer_is_not_much_to_write():
    assert len(source("balancer").splitlines()) <= 400


@pytest.mark.parametrize("name", SOURCES)
def test_code_is_clean(prefix, tmp_path, name):
    """What people copy compiles without a warning, also where a project is strict."""
    path = tmp_path / f"{name}.c"
    path.write_text(source(name))
    code, out, err = proc.run([os.environ.get("CC", "cc"), "-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion",
                               "-Wshadow", "-Wvla", "-Werror", "-fsyntax-only", f"-I{prefix}/include", path])
    assert code == 0, out + err
    if shutil.which("clang-format"):
        shutil.copy(os.path.join(ROOT, ".clang-format"), tmp_path)
        code, out, err = proc.run(["clang-format", "--dry-run", "--Werror", path])
        assert code == 0, err


BUG = """    ((volatile char *)template)[sizeof(*template)] = 1;
    *ret_self = template;"""


def test_the_sanitizer_sees_what_a_plugin_does(build, shell):
    """The commands of the page, with a bug in the plugin: the report of the sanitizer names its line."""
    if proc.sanitizer(build):
        pytest.skip("this ccmd has a sanitizer of its own")
    found = [block.text for block in pages.blocks("plugin-guide.md") if block.mark == "sanitizer"]
    assert len(found) == 1 and "LD_PRELOAD=" in found[0]
    shell.run('cp -r "$PREFIX/share/doc/ccmd-dev/template" hello\ncd hello\n')
    path = os.path.join(shell.folder, "hello", "plugin.c")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert text.count("    *ret_self = template;") == 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("    *ret_self = template;", BUG))
    line = text[:text.index("    *ret_self = template;")].count("\n") + 1
    shell.run(found[0])
    shell.run('cat >hello.conf <<END\nkubernetes: { kubeconfig = "$KUBECONFIG"; };\nleader_election: { enabled = false; };\n'
              'admin: { listen = "127.0.0.1:0"; };\nplugins = ( { name = "template"; file = "$PWD/checked.so"; } );\nEND\n')
    told = shell.run('export LD_PRELOAD=$(cc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0\n'
                     'if timeout 60 ccmd run --config hello.conf 2>told; then exit 1; fi\nunset LD_PRELOAD\ncat told')
    assert "heap-buffer-overflow" in told and f"plugin.c:{line}" in told


def test_valgrind_sees_what_a_plugin_does(build, shell):
    """The unit test of the page, and the daemon with the plugin."""
    if shutil.which("valgrind") is None or proc.sanitizer(build):
        pytest.skip("no valgrind here, or a sanitizer")
    shell.run('cp -r "$PREFIX/share/doc/ccmd-dev/template" hello\ncd hello\n')
    shell.run(next(block.text for block in pages.blocks("plugin-guide.md") if "./unit-test" in block.text))
    shell.run("valgrind -q --error-exitcode=9 --leak-check=full ./unit-test")
