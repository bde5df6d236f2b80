"""A plugin that crashes: who, in which function, and at what."""

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
