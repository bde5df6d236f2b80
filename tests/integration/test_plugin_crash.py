"""A plugin that crashes: who, in which function, at what; and one object that crashes it every time does not stop the others for ever."""

import json
import os
import re
import signal

import pytest

from tests.support import objects, proc

PORTS = ((80, "TCP"),)


@pytest.fixture
def crashing(world, build, tmp_path):
    """Starts ccmd with the test plugin alone."""

    def start(options="", extra="", plugin="crashing"):
        file = os.path.abspath(os.path.join(build, "tests", "abi", f"{plugin}.so"))
        config = tmp_path / "crashing.conf"
        config.write_text(
            f'kubernetes: {{ kubeconfig = "{world.kubeconfig}"; }};\n'
            'leader_election: { enabled = false; };\n' + ('' if 'admin:' in extra else 'admin: { listen = "127.0.0.1:0"; };\n') +
            f'{extra}\nplugins = ( {{ name = "{plugin}"; file = "{file}"; {options} }} );\n')
        return world.start_ccmd(str(config))

    yield start
    world.kill_ccmd() if world.ccmd is not None else None


def ended(world, build, number):
    """It died of the signal, as it would have without a word."""
    process, world.ccmd = world.ccmd, None
    code = process.wait_exit()
    assert code == -number or (proc.sanitizer(build) and code != 0), process.err()
    return process.err()


@pytest.mark.parametrize("how, number", [
    ("segv", signal.SIGSEGV), ("abort", signal.SIGABRT), ("bus", signal.SIGBUS), ("fpe", signal.SIGFPE), ("ill", signal.SIGILL),
    ("overflow", signal.SIGSEGV)])
def test_a_crash_names_its_culprit(world, build, crashing, how, number):
    world.kube.create(objects.service("web", PORTS, annotations={"crash": "reconcile"}))
    crashing(f'how = "{how}";')
    log = ended(world, build, number)
    name = signal.Signals(number).name
    lines = re.findall(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z error crashing default/web: crash of the plugin in reconcile\(\): (.*)$",
                       log, re.M)
    assert len(lines) == 1 and re.fullmatch(name + "( at address 0x[0-9a-f]+)?", lines[0]), log
    if proc.sanitizer(build) == "address" and how not in ("abort", "ill"):  # it had the signal first, and has it again
        assert log.index("crash of the plugin") < log.index("ERROR: AddressSanitizer: "), log


@pytest.mark.parametrize("stage", ["create", "start", "map", "stop", "destroy"])
def test_in_whatever_function(world, build, crashing, stage):
    world.kube.create(objects.service("web", PORTS))
    process = crashing(f'stage = "{stage}";')
    if stage in ("stop", "destroy"):
        world.wait(lambda: "greeted" in world.log(), "work")
        process.popen.send_signal(signal.SIGTERM)
    what = " services default/web" if stage == "map" else ""
    assert f" error crashing{what}: crash of the plugin in {stage}(): SIGSEGV at address 0x0\n" in ended(world, build, signal.SIGSEGV)


def test_as_json(world, build, crashing):
    world.kube.create(objects.service("web", PORTS, annotations={"crash": "reconcile"}))
    crashing(extra='log: { format = "json"; };')
    lines = [json.loads(line) for line in ended(world, build, signal.SIGSEGV).splitlines() if line.startswith('{"ts"')]
    (last,) = [line for line in lines if "crash of" in line["msg"]]
    assert (last["level"], last["part"], last["object"]) == ("error", "crashing", "default/web")
    assert last["ts"] >= lines[-2]["ts"] and last["msg"] == "crash of the plugin in reconcile(): SIGSEGV at address 0x0"


# --- one object that crashes every pass ---

def remembers(tmp_path, limit=3):
    return f'process: {{ crash_file = "{tmp_path}/crashes"; crash_limit = {limit}; }};'


def greeted(world, name):
    return re.search(rf" info  crashing\S* default/{name}: greeted", world.ccmd.err())


def crash(world, build, start, times):
    for _ in range(times):
        start()
        assert "error crashing" in ended(world, build, signal.SIGSEGV)


def test_it_is_put_aside_until_it_changes(world, build, crashing, tmp_path):
    world.kube.create(objects.service("bad", PORTS, annotations={"crash": "reconcile"}))
    world.kube.create(objects.service("good", PORTS))
    crash(world, build, lambda: crashing(extra=remembers(tmp_path)), 3)
    crashing(extra=remembers(tmp_path))
    world.wait(lambda: greeted(world, "good"), "the others")
    (_, reason, message, _) = world.wait(lambda: world.kube.events("bad"), "the event")[0]
    assert reason == "PutAside" and message == (
        "The last 3 passes of plugin crashing over it crashed ccmd: it is put aside until it is changed, or ccmd or the plugin is another version")
    assert "The last 3 passes" in world.wait(lambda: "default/bad" in world.admin("/statusz")[1] and world.admin("/statusz")[1], "the page")
    world.stop_ccmd()
    crashing(extra=remembers(tmp_path))  # a new process knows it too
    world.wait(lambda: "The last 3 passes of plugin crashing" in world.ccmd.err(), "the word of the next")
    world.kube.patch("Service", "bad", {"metadata": {"annotations": {"crash": None}}})
    world.wait(lambda: greeted(world, "bad"), "a pass once it was changed")
    world.wait(lambda: (tmp_path / "crashes").read_text() == "", "that it is forgotten")


def test_it_is_taken_up_again_with_another_plugin(world, build, crashing, tmp_path):
    world.kube.create(objects.service("bad", PORTS, annotations={"crash": "reconcile"}))
    crash(world, build, lambda: crashing(extra=remembers(tmp_path, 1)), 1)
    crashing(extra=remembers(tmp_path, 1))
    world.wait(lambda: "The last 1 passes" in world.log(), "that it is put aside")
    world.stop_ccmd()
    other = re.sub("crash 1 [0-9a-f]{16} ", "crash 1 0123456789abcdef ", (tmp_path / "crashes").read_text())
    (tmp_path / "crashes").write_text(other)  # as another version has left it
    crash(world, build, lambda: crashing(extra=remembers(tmp_path, 1)), 1)


def test_an_operator_has_it_taken_up_again(world, build, crashing, tmp_path):
    extra = remembers(tmp_path, 1) + f' admin: {{ listen = "127.0.0.1:0"; control_token_file = "{tmp_path}/token"; }};'
    world.kube.create(objects.service("bad", PORTS, annotations={"crash": "reconcile"}))
    crash(world, build, lambda: crashing(extra=extra), 1)
    crashing(extra=extra)
    world.wait(lambda: "The last 1 passes" in world.log(), "that it is put aside")
    world.wait(lambda: "plugin crashing: started" in world.ccmd.err(), "the start")
    port = re.search(r"listening on 127\.0\.0\.1:(\d+)", world.ccmd.err()).group(1)
    config = tmp_path / "ask.conf"
    config.write_text((tmp_path / "crashing.conf").read_text().replace("127.0.0.1:0", f"127.0.0.1:{port}"))
    proc.run([world.binary("ccmd"), "resync", "default/bad", "--config", str(config)])  # it may be gone before it answers
    ended(world, build, signal.SIGSEGV)


def test_innocent_keys_of_a_batch_go_on(world, build, crashing, tmp_path):
    for name in ("a", "b", "c", "d"):
        world.kube.create(objects.service(name, PORTS, annotations={"crash": "reconcile"} if name == "c" else {}))
    crash(world, build, lambda: crashing(extra=remembers(tmp_path), plugin="crashing-batch"), 3)
    crashing(extra=remembers(tmp_path), plugin="crashing-batch")
    world.wait(lambda: all(greeted(world, name) for name in "abd"), "the others")
    world.wait(lambda: "The last 3 passes" in world.log(), "that it is put aside")
    world.wait(lambda: re.fullmatch(r"crash 3 [0-9a-f]{16} crashing-batch default/c\n", (tmp_path / "crashes").read_text()), "the file")


@pytest.mark.parametrize("content", [
    b"\0" * 5000, b"crash " * 100000, b"crash 1 0123456789abcdef crashing default/good", b"x" * 3000000,
    b"crash 99999999999999999999 0123456789abcdef crashing default/good\n", b"crash 3 0123456789abcdef crashing default%2\n",
    b"crash 3 0123456789abcdef crashing %00\n", b"crash 3 0123456789abcdef crashing default/good \n" * 10,
    b"".join(b"crash 3 %016x %s %d\n" % (i, b"p" * 40, i) for i in range(9000)), b"crash 3 0123456789abcdef\n", b"\n\n  \n% % %\n"], ids=range(11))
def test_a_hostile_file_is_harmless(world, crashing, tmp_path, content):
    (tmp_path / "crashes").write_bytes(content)
    world.kube.create(objects.service("good", PORTS))
    crashing(extra=remembers(tmp_path))
    world.wait(lambda: greeted(world, "good"), "work")
    world.stop_ccmd()
    assert (tmp_path / "crashes").stat().st_size < 300000


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "missing"])
def test_what_is_no_file_is_not_used(world, crashing, tmp_path, kind):
    path = tmp_path / "crashes"
    {"folder": path.mkdir, "pipe": lambda: os.mkfifo(path), "link": lambda: path.symlink_to("/etc/passwd"),
     "missing": lambda: None}[kind]()
    world.kube.create(objects.service("good", PORTS))
    extra = remembers(tmp_path / "not-there" if kind == "missing" else tmp_path)
    crashing(extra=extra)
    world.wait(lambda: greeted(world, "good"), "work")
    assert " warn  ccmd: crashes are not remembered: " in world.log()
