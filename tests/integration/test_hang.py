"""A plugin that hangs: named in the log, on the page, by /livez; and the process ends by itself."""

import os
import json
import re

import pytest

from tests.support import objects, proc
from tests.support.world import World

pytestmark = pytest.mark.time_scale(30)
PORTS = ((80, "TCP"),)


@pytest.fixture
def hanging(build, tmp_path):
    """Starts ccmd with a test plugin alone, with the shortest times there are."""
    with World(build, tmp_path) as world:
        def start(name):
            file = os.path.abspath(os.path.join(build, "tests", "abi", f"{name}.so"))
            config = tmp_path / "hanging.conf"
            config.write_text(
                f'kubernetes: {{ kubeconfig = "{world.kubeconfig}"; }};\nleader_election: {{ enabled = false; }};\n'
                f'admin: {{ listen = "127.0.0.1:0"; }};\ncontroller: {{ timeout_s = 20; stop_s = 1; }};\n'
                f'plugins = ( {{ name = "{name}"; file = "{file}"; }} );\n')
            world.kube.create(objects.service("web", PORTS))
            world.start_ccmd(str(config), env=proc.LEAVES_THREADS)
            return world

        yield start
        if world.ccmd is not None:
            world.kill_ccmd()


@pytest.mark.parametrize("stage, after", [("create", 180), ("start", 180)])
def test_a_stage_that_hangs(hanging, stage, after):
    world = hanging(f"hanging-{stage}")
    world.wait(lambda: re.search(rf" warn  plugin hanging-{stage}: {stage}\(\) runs since \d+ ms\n", world.log()), "the line", timeout=60)
    page = world.wait(lambda: world.admin("/statusz?format=json")[1], "the page")
    assert [(one["plugin"], one["object"]) for one in json.loads(page)["running"]] == [(f"hanging-{stage}", f"{stage}()")]
    assert world.admin("/readyz")[0] == 503 and world.admin("/metrics")[0] == 200
    process, world.ccmd = world.ccmd, None
    assert process.wait_exit(60) == 1
    verdict = rf" error ccmd: ending, because nothing else helps: plugin hanging-{stage}: {stage}\(\) has been running for (\d+) s and does not end"
    assert int(re.search(verdict, process.err()).group(1)) >= after, process.err()


@pytest.mark.parametrize("name, words", [
    ("hanging-reconcile", r"plugin hanging-reconcile: a reconcile has been running for 18\d s and heeds no cancellation"),
    ("hanging-forget", r"plugin hanging-forget: a forget has been running for 18\d s and heeds no cancellation"),
    ("hanging-map", r"plugin hanging-map: map\(\) has been running for 18\d s at services default/web, and its cache stands still")])
def test_the_process_ends_by_itself(hanging, name, words):
    world = hanging(name)
    process, world.ccmd = world.ccmd, None
    assert process.wait_exit(60) == 1
    assert re.search(" error ccmd: ending, because nothing else helps: " + words, process.err()), process.err()


def test_a_forget_that_hangs_is_named(hanging):
    world = hanging("hanging-forget")
    world.wait(lambda: re.search(r" warn  hanging-forget default/key: hanging-forget-000001: forget runs since \d+ ms\n", world.log()), "the line", timeout=60)


@pytest.mark.parametrize("stage", ["create", "start"])
def test_livez_says_so(hanging, stage):
    world = hanging(f"hanging-{stage}")
    world.wait(lambda: world.admin("/livez")[0] == 200, "the first answer")
    world.wait(lambda: world.admin("/livez")[0] == 503, "the verdict", timeout=100)
    assert re.fullmatch(rf"plugin hanging-{stage}: {stage}\(\) has been running for \d+ s and does not end\n", world.admin("/livez")[1])


def test_a_check_that_hangs_at_a_reload_is_named(hanging):
    world = hanging("hanging-check")
    world.wait(lambda: world.admin("/readyz")[0] == 200, "the start")
    path = os.path.join(world.folder, "hanging.conf")
    with open(path, "a", encoding="utf-8") as config:
        config.write('log: { level = "debug"; };\n')
    world.wait(lambda: re.search(r" warn  plugin hanging-check: check\(\) runs since \d+ ms\n", world.log()), "the line", timeout=60)
    assert [one["object"] for one in json.loads(world.admin("/statusz?format=json")[1])["running"]] == ["check()"]
    world.wait(lambda: world.admin("/livez")[0] == 503, "the verdict", timeout=100)
    assert re.fullmatch(r"plugin hanging-check: check\(\) has been running for \d+ s and does not end\n", world.admin("/livez")[1])


def test_a_map_that_hangs_is_not_taken_for_a_silent_server(hanging):
    world = hanging("hanging-map")
    line = world.wait(lambda: re.search(r"still waiting for the first list of services: (.*)\n", world.log()), "the line", timeout=100)
    assert re.fullmatch(r"map\(\) of plugin hanging-map runs since \d+ ms, at services default/web", line.group(1))
