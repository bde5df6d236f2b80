"""Options with which a plugin would be left out are found before: by check-config, lint, and when a changed configuration is read."""

import os
import re

import pytest

from tests.support import proc

CASES = [
    ("no-network", 'cluster_cidr = "10.96.0.0/33"', None, 'plugin route: option cluster_cidr: "10.96.0.0/33" is no network such as 172.20.0.0/16'),
    ("credentials", None, 'credentials: { source = "file"; };', 'plugin clb: alicloud.credentials.source is "file", but '),
]



def spoilt(world, route, edit):
    plugins = '{ name = "clb"; }' + (f', {{ name = "route"; {route}; }}' if route else "")
    path = world.write_config(plugins=plugins)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if edit is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("alicloud: {", "alicloud: { " + edit))
    return path


@pytest.mark.parametrize("route, edit, words", [pytest.param(*case[1:], id=case[0]) for case in CASES])
def test_check_config(world, route, edit, words):
    path = spoilt(world, route, edit)
    code, out, err = proc.run([world.binary("ccmd"), "check-config", "--config", path])
    assert code == 1 and words in err and path in err, (out, err)


def asking(world, options):
    path = os.path.join(world.folder, "asking.conf")
    file = os.path.abspath(os.path.join(world.build, "tests", "abi", "asking.so"))
    with open(path, "w", encoding="utf-8") as out:
        out.write(f'kubernetes: {{ kubeconfig = "{os.path.abspath(world.kubeconfig)}"; }};\n'
                  f'plugins = ( {{ name = "asking"; file = "{file}"; {options} }} );\n')
    return path, *proc.run([world.binary("ccmd"), "check-config", "--config", path])


def test_check_config_looks_for_the_files_of_options(world, tmp_path):
    """Also for those of a plugin that checks nothing by itself: one that may come later is a warning."""
    path, code, out, err = asking(world, f'secret_file = "{tmp_path}/none";')
    assert code == 0, err
    assert re.search(rf"^{re.escape(str(path))}:\d+: plugin asking: warning: option secret_file: {tmp_path}/none: No such file", err, re.M), err
    (tmp_path / "none").write_text("good")
    assert asking(world, f'secret_file = "{tmp_path}/none";')[1::2] == (0, "")
    assert asking(world, "")[1::2] == (0, "")


def test_lint(world, tmp_path):
    path = spoilt(world, 'cluster_cidr = "foo"', None)
    code, _, err = proc.run([world.binary("ccmd"), "lint", "--config", path, str(tmp_path)])
    assert code not in (0, 1) and 'option cluster_cidr: "foo" is no network' in err, err


def test_a_changed_configuration_is_not_taken_over(world):
    path = spoilt(world, 'cluster_cidr = "172.20.0.0/16"; table_ids = [ "vtb-test" ]', None)
    world.start_ccmd(path)
    world.wait(lambda: "plugin clb: started" in world.log(), "the start")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("172.20.0.0/16", "172.20.0.0/40"))
    world.wait(lambda: 'plugin route: option cluster_cidr: "172.20.0.0/40" is no network' in world.log(), "the finding")
    world.wait(lambda: "not taken over: the configuration from before stays" in world.log(), "what comes of it")
