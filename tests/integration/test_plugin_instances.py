"""One plugin file under several names: each instance has its own options, state, log, metrics and failures."""

import os

import pytest

from tests.support import objects, proc


class Instances:
    def __init__(self, world, build, folder):
        self.world = world
        self.file = os.path.abspath(os.path.join(build, "tests", "abi", "several.so"))
        self.config = folder / "several.conf"

    def entry(self, name, class_, words="hello", more=""):
        called = f'name = "{name}"; ' if name else ""
        return f'{{ {called}file = "{self.file}"; class = "{class_}"; words = "{words}"; {more} }}'

    def write(self, *entries):
        self.config.write_text(
            f'kubernetes: {{ kubeconfig = "{self.world.kubeconfig}"; }};\nleader_election: {{ enabled = false; }};\n'
            f'admin: {{ listen = "127.0.0.1:0"; }};\nplugins = (\n{",".join(chr(10) + entry for entry in entries)}\n);\n')

    def start(self, *entries):
        self.write(*entries)
        self.world.start_ccmd(str(self.config))

    def ccmd(self, command, *args):
        return proc.run([self.world.binary("ccmd"), command, "--config", self.config, *args])

    def create(self, name, class_):
        self.world.kube.create(objects.service(name, loadBalancerClass=class_))

    def words_about(self, name):
        return [message for _, reason, message, _ in self.world.kube.events(name) if reason == "Greeted"]


@pytest.fixture
def instances(world, build, tmp_path):
    return Instances(world, build, tmp_path)


def test_each_works_with_its_own_options_and_state(instances):
    world = instances.world
    instances.start(instances.entry("east", "example.com/east", "from the east"),
                    instances.entry("west", "example.com/west", "from the west"))
    for name, class_ in (("a", "east"), ("b", "east"), ("c", "west"), ("d", "north")):
        instances.create(name, f"example.com/{class_}")
    for name, words in (("a", "from the east"), ("b", "from the east"), ("c", "from the west")):
        world.wait(lambda: instances.words_about(name), f"the event about {name}")
        assert instances.words_about(name) == [words]
    world.settled()
    assert instances.words_about("d") == []
    log = world.log()
    assert " info  east default/" in log and ": call 2 of this instance\n" in log.split(" info  east default/", 2)[2]
    assert " info  west default/c: call 1 of this instance\n" in log
    metrics = world.metrics()
    assert metrics['several_greeted_total{plugin="east"}'] == 2
    assert metrics['several_greeted_total{plugin="west"}'] == 1
    assert metrics['ccmd_several_total{plugin="east"}'] == 2  # of a plugin that is older than the list of such names
    for name in ("east", "west"):
        assert metrics[f'ccmd_plugin_started{{plugin="{name}"}}'] == 1
        assert name in world.admin("/statusz")[1]


def test_one_is_broken_and_the_other_works(instances):
    world = instances.world
    instances.start(instances.entry("east", "broken"), instances.entry("west", "example.com/west"))
    instances.create("c", "example.com/west")
    world.wait(lambda: instances.words_about("c") == ["hello"], "the greeting")
    assert " error plugin east: left out: " in world.log() and "nobody greets the broken" in world.log()
    assert world.metrics()['ccmd_plugin_started{plugin="west"}'] == 1


def test_a_critical_one_that_is_broken_ends_ccmd(instances):
    instances.write(instances.entry("east", "broken", more="critical = true;"), instances.entry("west", "example.com/west"))
    code, _, err = instances.ccmd("run")
    assert code == 1 and "plugin east is critical and failed: ending" in err, err


def test_options_of_one_are_taken_over(instances):
    world = instances.world
    east = instances.entry("east", "example.com/east", "good day")
    instances.start(east, instances.entry("west", "example.com/west", "good day"))
    world.logged("plugin west: started")
    instances.write(east, instances.entry("west", "example.com/west", "good night"))
    world.logged("taken over: west.words\n")
    for name in ("east", "west"):
        instances.create(name, f"example.com/{name}")
    for name, words in (("east", "good day"), ("west", "good night")):
        world.wait(lambda: instances.words_about(name) == [words], f"the greeting of {name}")
    instances.write(east)
    world.logged("changed, but needs a restart: plugins (west removed)\n")


def test_commands_name_the_instance(instances, tmp_path):
    world = instances.world
    east = instances.entry("east", "example.com/east", "good day")
    instances.write(east, instances.entry("west", "example.com/west", "good night"))
    instances.create("e", "example.com/east")
    instances.create("w", "example.com/west")
    assert instances.ccmd("check-config")[:2] == (0, f"{instances.config}: ok, plugins: 2\n")
    code, out, err = instances.ccmd("plan")
    assert code == 3 and out.splitlines() == [
        "east default/e", "    good day", "west default/w", "    good night", "2 to change, 0 as they should be, 0 failed"], (out, err)
    out = instances.ccmd("plugins")[1]
    assert "several 1.2.3 as east\n" in out and "several 1.2.3 as west\n" in out
    out = instances.ccmd("plugins", "--rbac")[1]
    assert out.count("name: ccmd-plugin-several\n") == 1
    manifest = tmp_path / "service.yaml"
    manifest.write_text("apiVersion: v1\nkind: Service\nmetadata: { name: e }\n"
                        "spec: { type: LoadBalancer, loadBalancerClass: example.com/east, ports: [ { port: 80 } ] }\n")
    out = instances.ccmd("lint", manifest)[1]
    assert "good day" in out and "good night" not in out
    instances.write(east, instances.entry("west", "odd"))
    code, _, err = instances.ccmd("check-config")
    assert code == 1 and "plugin west: class: may not be odd\n" in err
    assert world.log() == ""


def test_a_name_comes_from_the_file(instances):
    instances.start(instances.entry(None, "example.com/east"), instances.entry("west", "example.com/west"))
    instances.world.logged("plugin several: started")
    instances.world.logged("plugin west: started")


def test_what_cannot_run_twice_is_refused_with_words(instances, build):
    clb = os.path.abspath(os.path.join(build, "plugins", "clb.so"))
    two = instances.entry(None, "a"), instances.entry(None, "b")
    instances.write(*two)
    code, _, err = instances.ccmd("check-config")
    assert code == 1 and "plugin 'several' is listed twice: a second instance needs another name, and 'file'\n" in err
    for entries, words in (
            (f'{{ name = "clb"; file = "{clb}"; }}, {{ name = "clb-two"; file = "{clb}"; }}',
             '"clb-two" is a second instance of plugin "clb", which can run only once in a process (.instances of its descriptor): list it once, '
             'and run another ccmd for what has other options\n'),
            (f'{{ name = "mine"; file = "{clb}"; }}',
             'the configuration calls it "mine", its own name is "clb": use that. '
             "Only a plugin that can run several times takes another name\n")):
        instances.write(entries)
        code, _, err = instances.ccmd("check-config")
        assert code == 1 and words in err, err
