"""Watches with a selection, indexes, and resources that need not be there."""

import os
import re

import pytest

from tests.support import custom, proc
from tests.support.custom import BUCKETS, CRDS
from tests.support.world import World

BUILD = os.environ.get("CCM_BUILD_DIR", "build/release")
CONFIGMAPS = "/api/v1/namespaces/{}/configmaps"
OTHER = BUCKETS.replace("default", "other")
PLUGIN = os.path.abspath(os.path.join(BUILD, "tests", "abi", "raw-select.so"))


@pytest.fixture
def world(tmp_path):
    with World(BUILD, tmp_path) as world:
        world.kube.http.request("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
        config = tmp_path / "select.conf"
        config.write_text(f'kubernetes: {{ kubeconfig = "{world.kubeconfig}"; }};\nadmin: {{ listen = "127.0.0.1:0"; }};\n'
                          f'leader_election: {{ enabled = false; }};\n'
                          f'plugins = ( {{ name = "raw-select"; file = "{PLUGIN}"; }} );\n')
        world.config = str(config)
        yield world


def post(world, path, item):
    return world.kube.http.request("POST", path, item)


def bucket(world, name, path=BUCKETS, colour=None, *owners):
    return post(world, path, custom.bucket(name, {"colour": colour} if colour else None, owners=[{"name": o} for o in owners]))


def says(world, *texts):
    """The newest lines of the plugin about its lists are these."""
    def newest():
        found = {}
        for what, rest in re.findall(r"(all|ann|pink|size): result (.*);", world.log()):
            found[what] = sorted(rest.replace(":", " ").split())
        return all(found.get(what) == sorted(rest.replace(":", " ").split()) for what, rest in
                   (text.split(": ", 1) for text in texts))
    return world.wait(newest, str(texts), timeout=40)


def test_the_server_selects(world):
    post(world, CRDS, custom.definition())
    post(world, CONFIGMAPS.format("default"), {"metadata": {"name": "settings"}})
    post(world, CONFIGMAPS.format("default"), {"metadata": {"name": "noise"}})
    post(world, CONFIGMAPS.format("other"), {"metadata": {"name": "settings"}})
    bucket(world, "a", BUCKETS, "red", "ann", "bob")
    bucket(world, "b", BUCKETS, "blue", "ann")
    bucket(world, "c", OTHER, "pink", "ann")
    bucket(world, "d", OTHER)
    world.start_ccmd(world.config)
    says(world, "all: 0, 3: default/a other/c other/d", "ann: 0, 1: default/a", "pink: 0, 1: other/c", "size: -95, 0:")
    log = world.log()
    assert "settings: added" in log and "noise" not in log and "default/b" not in log
    assert "other/settings" not in log and len(re.findall("other/c.*red: added", log)) == 1 == len(re.findall("other/c.*other: added", log))
    # what ceases to be selected is deleted for its watch, and what begins to is added
    world.kube.http.request("PATCH", BUCKETS + "/a", {"metadata": {"labels": {"colour": "blue"}}}, "application/merge-patch+json")
    world.wait(lambda: re.search(r"default/a.*red: deleted$", world.log(), re.M), "the deletion")
    world.kube.http.request("PATCH", BUCKETS + "/b", {"metadata": {"labels": {"colour": "pink"}}}, "application/merge-patch+json")
    says(world, "all: 0, 3: default/b other/c other/d", "ann: 0, 1: default/b", "pink: 0, 2: default/b other/c")
    asked = [call["params"] for call in world.kube.calls() if call["action"].startswith("WATCH") and "configmaps" in call["action"]]
    assert asked and all(params["fieldSelector"] == "metadata.name=settings" for params in asked)
    names = set(re.findall(r'ccmd_cache_objects{kind="([^"]+)"}', world.admin("/metrics")[1]))
    assert names == {"buckets labels colour in (red,pink)", "buckets in other", "configmaps in default fields metadata.name=settings"}


def test_a_resource_that_is_not_installed_holds_nothing_up(world):
    post(world, CONFIGMAPS.format("default"), {"metadata": {"name": "settings"}})
    world.start_ccmd(world.config)
    world.wait(lambda: "plugin raw-select: started" in world.log(), "the plugin", timeout=40)
    world.wait(lambda: world.admin("/readyz")[0] == 200, "/readyz")
    says(world, "all: -2, 0:", "ann: -2, 0:")
    assert " error " not in world.log()
    assert "no such resource" in world.admin("/statusz")[1]
    world.settled()
    # it comes
    post(world, CRDS, custom.definition())
    bucket(world, "a", BUCKETS, "red", "ann")
    says(world, "all: 0, 1: default/a", "ann: 0, 1: default/a")
    # both watches look for it again on their own: it goes only after both have found it
    for watch in (r"buckets labels colour in \(red,pink\)", "buckets in other"):
        world.wait(lambda: re.search(rf"{watch}: \d+ objects listed", world.log()), f"the list of {watch}", timeout=60)
    # it goes, and its objects with it
    absent = "the server has no such resource; it is looked for again\n"
    before = world.log().count(absent)
    world.kube.http.request("DELETE", f"{CRDS}/buckets.example.com")
    world.wait(lambda: re.search(r"default/a.*red: deleted", world.log()), "the deletion", timeout=60)
    world.wait(lambda: world.log().count(absent) == before + 2, "that both watches find it gone", timeout=60)
    world.kube.http.request("PATCH", CONFIGMAPS.format("default") + "/settings", {"data": {"a": "b"}}, "application/merge-patch+json")
    says(world, "all: -2, 0:")
    assert world.admin("/readyz")[0] == 200
    # and once more
    post(world, CRDS, custom.definition())
    bucket(world, "b", OTHER)
    says(world, "all: 0, 1: other/b")


def test_it_is_told_by_plugins(build):
    code, out, err = proc.run([os.path.join(build, "bin", "ccmd"), "plugins", PLUGIN])
    assert code == 0, err
    assert ("watches   example.com/v1/buckets with labels colour in (red,pink) (optional), example.com/v1/buckets in namespace other (optional), "
            "v1/configmaps in namespace default with fields metadata.name=settings\n") in out
