"""docs/plugin-questions.md: what it says of keys, verdicts, files, finalizers and watches is what happens. tests/abi/plugins/asking.c does what a
Service asks it to."""

import os
import re

import pytest

from tests.support import objects, pages, proc

PORTS = ((80, "TCP"),)
SOURCE = os.path.join(pages.ROOT, "tests", "abi", "plugins", "asking.c")


def plugin(build, name):
    return os.path.abspath(os.path.join(build, "tests", "abi", name + ".so"))


def start(world, tmp_path, entry):
    config = tmp_path / "asking.conf"
    config.write_text(
        f'kubernetes: {{ kubeconfig = "{world.kubeconfig}"; }};\nleader_election: {{ enabled = false; }};\n'
        f'admin: {{ listen = "127.0.0.1:0"; }};\nplugins = ( {entry} );\n')
    return world.start_ccmd(str(config))


@pytest.fixture
def asking(world, build, tmp_path):
    (tmp_path / "secret").write_text("bad")
    start(world, tmp_path, f'{{ name = "asking"; file = "{plugin(build, "asking")}"; secret_file = "{tmp_path}/secret"; }}')
    world.wait(lambda: "plugin asking: started" in world.log(), "the plugin")
    return world


def ask(world, name, word, **more):
    world.kube.create(objects.service(name, PORTS, annotations={"ask": word}, **more))


def calls(world, key):
    return len(re.findall(rf" info  asking {re.escape(key)}: called$", world.log(), re.M))


def test_the_recipe_is_the_code_that_is_run():
    with open(SOURCE, encoding="utf-8") as file:
        source = file.read()
    excerpts = [block.text for block in pages.blocks("plugin-questions.md") if block.mark == "asking"]
    assert len(excerpts) == 3
    for text in excerpts:
        assert text in source, text


def test_keys_are_free_text(asking):
    """Two kinds whose objects have the same name, and one that names no object, from start()."""
    world = asking
    world.wait(lambda: calls(world, "*sweep*") == 1, "the key of start()")
    world.kube.create(objects.service("web", PORTS))
    world.kube.http.request("POST", "/api/v1/namespaces/default/pods", {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "a", "image": "a"}]}})
    world.wait(lambda: calls(world, "default/web") and calls(world, "pod:default/web"), "both")


def test_keys_that_are_none_are_told(asking):
    """An empty one, one that is no text, and one that is too long: dropped with a word about which it is."""
    world = asking
    ask(world, "web", "keys")
    world.wait(lambda: world.log().count("asking: an empty key is enqueued by the plugin: dropped") == 2, "the empty ones")
    world.wait(lambda: re.search(r"asking: a key of more than 1024 bytes is enqueued by the plugin: dropped: k{64}\.\.\.$", world.log(),
                                 re.M), "the long one")
    assert "is lost" not in world.log() and "k" * 100 not in world.log()


@pytest.mark.parametrize("word, said, least_ms, most_ms", [
    # least and most of the first wait: up to half is taken off at random
    ("transient", "transient", 750, 1500), ("not-found", "not found", 750, 1500), ("conflict", "conflict", 50, 100),
    ("cancelled", "transient", 750, 1500), ("auth", "auth", 15000, 30000), ("terminal", "terminal", 300000, 600000),
    ("bug", "bug", 300000, 600000), ("throttled", "throttled", 2000, 4000),
])
def test_what_becomes_of_a_failure(asking, word, said, least_ms, most_ms):
    """The kind decides when it is tried again; a change of the object comes first; nobody makes an event."""
    world = asking
    ask(world, "web", word)
    found = world.wait(lambda: re.search(rf"default/web: \S+: {said}: asked for; retry in (\d+) ms$", world.log(), re.M), "the failure")
    assert least_ms <= int(found.group(1)) <= most_ms
    world.kube.patch("Service", "web", {"metadata": {"annotations": {"ask": "nothing"}}})
    world.wait(lambda: calls(world, "default/web") >= 2, "the call after the change")
    world.settled()
    assert world.kube.events("web") == []


def test_a_file_that_changes_hurries_what_fails(asking, tmp_path):
    """Also what would wait for ten minutes. The pass reads the file."""
    world = asking
    ask(world, "web", "file")
    world.wait(lambda: "terminal: " in world.log() and "wrong secret; retry in" in world.log(), "the failure")
    (tmp_path / "new").write_text("good")
    os.rename(tmp_path / "new", tmp_path / "secret")
    world.wait(lambda: "secret has changed: 1 failing object is tried again now" in world.log(), "the hurry", timeout=60)
    world.wait(lambda: calls(world, "default/web") == 2, "the call")
    world.settled()
    assert world.log().count("wrong secret; retry in") == 1


def finalizers(world):
    service = world.kube.get("Service", "web")
    return None if service is None else service["metadata"].get("finalizers", [])


def test_a_finalizer_comes_and_goes_beside_others(asking):
    world = asking
    service = objects.service("web", PORTS, annotations={"ask": "finalizer"})
    service["metadata"]["finalizers"] = ["example.com/other"]
    world.kube.create(service)
    world.wait(lambda: sorted(finalizers(world)) == ["example.com/asking", "example.com/other"], "the finalizer")
    world.kube.delete("Service", "web")
    world.wait(lambda: finalizers(world) == ["example.com/other"], "its end")
    world.settled()
    world.kube.patch("Service", "web", {"metadata": {"finalizers": None}})
    world.wait(lambda: finalizers(world) is None, "the end of the Service")


def test_a_merge_patch_replaces_the_list(asking):
    """Why the recipe is no merge patch."""
    world = asking
    service = objects.service("web", PORTS)
    service["metadata"]["finalizers"] = ["example.com/other"]
    world.kube.create(service)
    world.kube.patch("Service", "web", {"metadata": {"finalizers": ["example.com/mine"]}})
    assert finalizers(world) == ["example.com/mine"]


def test_what_is_watched_and_not_installed_is_waited_for(world, build, tmp_path):
    """Without CCM_WATCH_OPTIONAL: the plugin waits, /readyz says why, others work."""
    start(world, tmp_path, f'{{ name = "absent"; file = "{plugin(build, "absent")}"; }}, '
                           f'{{ name = "template"; file = "{os.path.abspath(build)}/plugins/template.so"; }}')
    world.kube.create(objects.service("web", PORTS, annotations={"ccm.example.com/greet": "hi"}))
    world.wait(lambda: world.kube.events("web"), "the other plugin")
    status, text = world.admin("/readyz")
    assert status == 503 and "buckets" in text
    assert "plugin absent: started" not in world.log()


def test_a_finding_of_lint_names_its_annotation(build, tmp_path):
    """Also when the plugin gives only the place; not twice when its message has it."""
    path = tmp_path / "web.yaml"
    path.write_text("apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  annotations:\n    example.com/ask: x\nspec:\n  ports:\n  - port: 80\n")
    code, out, _ = proc.run([os.path.join(build, "bin", "ccmd"), "lint", "--plugin", plugin(build, "asking"), str(path)])
    assert code == 1
    assert [line.split(":", 1)[1] for line in out.splitlines() if line.startswith(str(path))] == [
        "6: error: web: annotation example.com/ask: may be nodes or pods", "6: warning: web: example.com/ask is old",
        "9: error: web: is taken"]
