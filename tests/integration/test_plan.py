"""`ccmd plan`: says what would change, changes nothing, ends by itself."""

import json
import os

import pytest

from tests.support import objects, proc, terminal

EVENT = "CloudControllerManagerPrecheckResult"


@pytest.fixture
def plan(world, build, tmp_path):
    """Runs `ccmd plan` with a test plugin: (exit code, lines of its output, standard error)."""

    def run(*args, plugin="planner", options=""):
        file = os.path.abspath(os.path.join(build, "tests", "abi", f"{plugin}.so"))
        config = tmp_path / "plan.conf"
        config.write_text(
            f'kubernetes: {{ kubeconfig = "{world.kubeconfig}"; }};\n'
            f'plugins = ( {{ name = "{plugin}"; file = "{file}"; {options} }} );\n'
        )
        code, out, err = proc.run([world.binary("ccmd"), "plan", "--config", config, *args])
        assert proc.COMPLAINT.search(err.encode()) is None, err
        return code, out.splitlines(), err

    return run


def writes(world, since):
    return [a for a in world.kube.actions(since) if a.split()[0] not in ("GET", "LIST", "WATCH")]


def service(name, **annotations):
    return objects.service(name, ((80, "TCP"),), annotations=annotations)


def test_nothing_to_do(world, plan):
    world.kube.create(service("a", steps=""), service("foreign"))
    assert plan()[:2] == (0, ["0 to change, 1 as they should be, 0 failed"])


def test_an_empty_cluster_ends_at_once(plan):
    assert plan()[:2] == (0, ["0 to change, 0 as they should be, 0 failed"])


def test_what_would_change_sorted_and_nothing_written(world, plan):
    world.kube.create(
        service("zebra", steps="create a load balancer;create listener 80"),
        service("ant", warn="odd annotation", steps=""),
        service("bee", fail="no such load balancer", warn="cannot go on"),
        service("cat", twice="1", steps="one step"),
        service("dog", patch="1"),
    )
    since = world.kube.mark()
    code, lines, err = plan()
    assert code == 1, err
    assert lines == [
        "planner default/ant",
        "    warning: Worried: odd annotation",
        "planner default/bee",
        "    warning: Worried: cannot go on",
        "    failed: no such load balancer",
        "planner default/cat",
        "    one step",
        "planner default/dog",
        "    patch: -125",
        "planner default/zebra",
        "    create a load balancer",
        "    create listener 80",
        "3 to change, 1 as they should be, 1 failed",
    ]
    assert writes(world, since) == []
    assert world.kube.items("Event") == [] and world.kube.items("Event", "kube-system") == []


def test_exit_codes_and_json(world, plan):
    """A script can tell: nothing to do, something would change, something failed."""
    assert json.loads("\n".join(plan("-o", "json")[1])) == {"objects": [], "changing": 0, "settled": 0, "failed": 0}
    world.kube.create(service("ant", steps="", warn="odd"), service("zebra", steps="create a load balancer;create listener 80"))
    code, lines, err = plan("--output=json")
    assert code == 3, err
    assert json.loads("\n".join(lines)) == {"changing": 1, "settled": 1, "failed": 0, "objects": [
        {"plugin": "planner", "object": "default/ant", "state": "settled", "steps": [], "warnings": ["Worried: odd"], "failures": []},
        {"plugin": "planner", "object": "default/zebra", "state": "changes", "steps": ["create a load balancer", "create listener 80"],
         "warnings": [], "failures": []}]}
    world.kube.create(service("bee", fail="no such load balancer"))
    code, lines, _ = plan("-o", "json")
    failed = [one for one in json.loads("\n".join(lines))["objects"] if one["state"] == "failed"]
    assert code == 1 and [(one["object"], one["failures"]) for one in failed] == [("default/bee", ["no such load balancer"])]


def test_a_plugin_that_cannot_plan_is_not_run(plan):
    code, lines, err = plan(plugin="good")
    assert code == 1, err
    assert lines == [
        "good",
        "    failed: this plugin cannot tell what it would do, it was not asked",
        "0 to change, 0 as they should be, 1 failed",
    ]


def test_an_event_on_request(world, plan):
    world.kube.create(service("web", steps="create it"), service("ok", steps=""))
    for steps in ("create it", "create it anew"):
        world.kube.patch("Service", "web", {"metadata": {"annotations": {"steps": steps}}})
        since = world.kube.mark()
        code, _, err = plan("--event")
        assert code == 3 and " error " not in err, err
        event = world.kube.get("Event", EVENT, "kube-system")
        assert event["reason"] == "Success" and event["type"] == "Normal"
        assert event["involvedObject"] == {"kind": "Pod", "namespace": "kube-system", "name": "ccm-precheck-pod"}
        check = json.loads(event["message"])
        assert check["State"] == "Success" and check["Reason"] == "ccm initial process finished"
        (result,) = check["CheckResults"]
        assert (result["Name"], result["PassCount"], result["WarnCount"], result["FailedCount"]) == ("planner", 1, 1, 0)
        assert result["instanceResults"]["default/web"]["Message"] == steps
        assert all("events" in action for action in writes(world, since))


def test_a_plugin_that_hangs_in_create_is_named(plan):
    code, lines, err = plan("--timeout", "1", plugin="several", options='class = "hanging";')
    assert code == 1, err
    assert lines == ["several", "    failed: create() hangs", "0 to change, 0 as they should be, 1 failed"]


def test_a_plugin_that_does_not_start_is_not_waited_for_until_the_deadline(plan):
    code, lines, err = plan(plugin="several", options='class = "late";')
    assert code == 1 and err.count("starts later: ") == 4, err
    assert lines[0] == "several" and lines[1].startswith("    failed: the plugin did not start: ")
    assert lines[1].endswith("start: nobody is up yet") and lines[2] == "0 to change, 0 as they should be, 1 failed"


def test_a_deadline_when_the_server_does_not_answer(world, plan):
    world.kube.fault("* /api/v1/services*", count=1000, delay_ms=20000)
    code, lines, err = plan("--timeout", "1")
    assert code == 1
    assert lines[:2] == ["planner", "    failed: the plugin did not start: services cannot be read yet"], err


def test_a_failure_is_told_once(world):
    """On standard output, not in an event beside it, and not in the log as well."""
    key = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
    world.kube.create(objects.service("bad", ((80, "TCP"),), annotations={key + "bandwidth": "much"}),
                      objects.service("none", ((80, "TCP"),), annotations={key + "id": "lb-none"}))
    config = world.write_config(log_level="info")
    code, out, err = proc.run([world.binary("ccmd"), "plan", "--config", config])
    assert code == 1 and out.endswith("0 to change, 0 as they should be, 2 failed\n")
    for words in ("bandwidth must be integer, got [much]", "InvalidLoadBalancerId.NotFound"):
        assert (out.count(words), err.count(words)) == (1, 0), out + err
    code, out, _ = proc.run([world.binary("ccmd"), "plan", "-o", "json", "--config", config])
    assert code == 1 and out.count("bandwidth must be integer, got [much]") == 1


def test_colours_on_a_terminal(world, build, tmp_path):
    world.kube.create(service("ant", warn="odd annotation", steps=""), service("bee", fail="no such load balancer"))
    planner = os.path.abspath(os.path.join(build, "tests", "abi", "planner.so"))
    (tmp_path / "plan.conf").write_text(f'kubernetes: {{ kubeconfig = "{world.kubeconfig}"; }};\n'
                                        f'plugins = ( {{ name = "planner"; file = "{planner}"; }} );\n')
    command = [world.binary("ccmd"), "plan", "--config", str(tmp_path / "plan.conf")]
    seen = terminal.run(command)[2]
    for words in ("\033[1mplanner default/ant\033[0m\r\n    \033[33mwarning:\033[0m Worried: odd annotation",
                  "    \033[31mfailed:\033[0m no such load balancer"):
        assert words in seen, seen
    assert "\033[31m" not in terminal.run(command, NO_COLOR="1")[2]


def test_what_comes_again_soon_is_not_waited_for(world, plan):
    """A key with a plan was looked at, however soon it comes again."""
    world.kube.create(service("poll", steps="delete it", again="50"), service("audit", steps="", again="50"))
    code, lines, err = plan("--timeout", "60")
    assert code == 3, err
    assert lines == ["planner default/poll", "    delete it", "1 to change, 1 as they should be, 0 failed"]


def test_keys_that_are_left_are_named(world, plan):
    world.kube.create(service("ok", steps="", again="50"), service("silent", again="50"))
    code, lines, err = plan("--timeout", "2")
    assert code == 1, err
    assert lines == ["planner default/silent", "    failed: not looked at in time", "0 to change, 1 as they should be, 1 failed"]


def test_usage(world, plan):
    for args in (["--timeout", "0"], ["--timeout", "soon"], ["extra"]):
        assert plan(*args)[0] == 2
