"""Pauses hold, whatever is enqueued meanwhile; and what a plugin does wrong is told once, instead of doing harm."""

import os
import re

import pytest

from tests.support import objects

PORTS = ((80, "TCP"),)
PAUSE_MS = 2000


@pytest.fixture
def pausing(world, build, tmp_path):
    file = os.path.abspath(os.path.join(build, "tests", "abi", "pausing.so"))
    config = tmp_path / "pausing.conf"
    config.write_text(
        f'kubernetes: {{ kubeconfig = "{world.kubeconfig}"; }};\nleader_election: {{ enabled = false; }};\n'
        f'admin: {{ listen = "127.0.0.1:0"; }};\nplugins = ( {{ name = "pausing"; file = "{file}"; }} );\n')
    world.start_ccmd(str(config))
    return world


def create(world, name, word=None):
    world.kube.create(objects.service(name, PORTS, annotations={} if word is None else {"do": word}))


def called(world, name):
    return [int(at) for at in re.findall(rf" info  pausing default/{name}: called at (\d+)\n", world.log())]


def test_a_throttled_key_waits(pausing):
    world = pausing
    create(world, "web", "throttle")
    world.wait(lambda: "throttled: slowly" in world.log(), "the first call")
    for i in range(5):
        world.kube.patch("Service", "web", {"metadata": {"annotations": {"changed": str(i)}}})
        create(world, f"other-{i}")
        world.wait(lambda: called(world, f"other-{i}"), "that the change was seen")
    first, second = world.wait(lambda: called(world, "web")[1:] and called(world, "web")[:2], "the second call")
    assert second - first >= PAUSE_MS


def test_a_plugin_pauses(pausing):
    world = pausing
    create(world, "web", "pause")
    world.wait(lambda: re.search(r" info  pausing: pauses for \d+ ms", world.log()), "the pause")
    create(world, "other")
    (at,) = world.wait(lambda: called(world, "other"), "the call after it")
    assert at - called(world, "web")[0] >= PAUSE_MS


def test_a_named_pause(pausing):
    create(pausing, "web", "name")
    pausing.wait(lambda: "default/web: account paused, other free\n" in pausing.log(), "the pause")
    pausing.wait(lambda: "default/web: account is free again\n" in pausing.log(), "its end")


def test_a_delayed_key_is_taken_back_and_a_key_forgotten(pausing):
    world = pausing

    def delayed():
        return world.metrics()['ccmd_workqueue_delayed{name="pausing"}']

    create(world, "web", "delay")
    world.wait(lambda: delayed() == 1, "the delay")
    world.kube.patch("Service", "web", {"metadata": {"annotations": {"do": "withdraw"}}})
    world.wait(lambda: delayed() == 0, "that it is taken back")
    assert "forgotten" not in world.log()
    world.kube.delete("Service", "web")
    world.wait(lambda: " info  pausing default/web: forgotten\n" in world.log(), "that it is forgotten")


def test_what_is_wrong_is_told_once(pausing):
    world = pausing
    create(world, "one")
    create(world, "two")
    world.wait(lambda: called(world, "one") and called(world, "two"), "two calls")
    world.wait(lambda: world.metrics().get('pausing_calls_total{plugin="pausing"}') == 2, "the metric")
    assert world.metrics()["ccmd_ready"] in (0, 1)  # that of the daemon
    assert world.metrics()['ccmd_pausing_total{plugin="pausing"}'] == 2  # its descriptor lists the name
    assert world.log().index("plugin pausing: started\n") < world.log().index(": called at ")
    for line, times in (
            (" warn  pausing: metric ccmd_ready is dropped: such names belong to the daemon\n", 1),
            (" error pausing: get() of kind 3, which nobody watches: NULL does not say that there is no such object\n", 1),
            (" error pausing: get_raw() of secrets, which nobody watches: NULL does not say that there is no such object\n", 1),
            (" error pausing: list() of kind 3: nobody watches that: -ENOTSUP is no empty list\n", 1),
            (" error pausing: list() of kind 1 by colour: it is not watched, or there is no such index: -ENOTSUP is no empty list\n", 1),
            (" error pausing: list_raw() of secrets: nobody watches that: -ENOTSUP is no empty list\n", 1),
            (" error pausing: list_raw_by() of secrets by owner: it is not watched, or there is no such index: -ENOTSUP is no empty list\n",
             1),
            (" error pausing: event Lost without an object: refused\n", 2)):
        world.wait(lambda: world.log().count(line) == times, line)
