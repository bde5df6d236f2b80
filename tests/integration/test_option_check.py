"""Options with which a plugin would be left out are found before: by check-config, lint, and when a changed configuration is read."""

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
