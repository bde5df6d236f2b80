"""The scenario runner itself: mistakes in a file are named, a world that differs is a failure that says how."""

import pytest

from tests.support import scenario
from tests.support import scenario_look as look
from tests.support.scenario_run import Runner


def file_of(tmp_path, text):
    path = tmp_path / "001-test.yaml"
    path.write_text(text, encoding="utf-8")
    return scenario.File(str(path))


@pytest.mark.parametrize("text, problem", [
    ("title: x\nsteps: []\nsteeps: []\n", "steeps: unknown; known are"),
    ("steps: []\n", "title: is missing"),
    ("title: x\n", "steps: is missing"),
    ("title: x\nsteps:\n- servce: {}\n", "steps[0].servce: unknown"),
    ("title: x\nsteps:\n- title: y\n", "steps[0]: neither does nor expects"),
    ("title: x\nsteps:\n- expect: {okay: true}\n", "steps[0].expect.okay: unknown"),
    ("title: x\ngiven: {nods: 3}\nsteps: []\n", "given.nods: unknown"),
    ("title: x\ncases:\n- steps:\n  - expect: {calls: 3}\n", "cases[0].steps[0].expect.calls: must be"),
    ("title: x\nsteps: []\nsteps: []\n", "line 3: key 'steps' twice"),
    ("title: x\nsteps: [\n", "001-test.yaml: while parsing"),
    ("title: x\nunit: [nothing]\n", "unit: 'nothing' is not FILE:TEST"),
])
def test_mistakes_name_file_and_key(tmp_path, text, problem):
    with pytest.raises(scenario.ScenarioError) as caught:
        file_of(tmp_path, text)
    assert "001-test.yaml: " in str(caught.value)
    assert problem in str(caught.value)


@pytest.mark.parametrize("text, problem", [
    ("- service: {ports: [x]}", "steps[0].ports: 'x' is not [NAME=]PORT"),
    ("- endpoints: [10.1.1.1@node-1 redy]", "steps[0].endpoints: unknown: ['redy']"),
    ("- service: {annotations: {id: $(mine)}}", "steps[0].$(mine): no such variable"),
    ("- ccmd: reboot", "steps[0].ccmd: 'reboot' is not"),
    ("- call: {DeleteLoadBalancer: {LoadBalancerId: lb-none}}", "steps[0].call: DeleteLoadBalancer"),
])
def test_mistakes_seen_at_run_time(build, tmp_path, text, problem):
    file = file_of(tmp_path, f"title: x\nsteps:\n{text}\n")
    with pytest.raises(scenario.ScenarioError) as caught:
        Runner(file.cases[0], build, tmp_path / "world").run()
    assert problem in str(caught.value)


@pytest.mark.parametrize("expect, problem", [
    ("listeners: [81/tcp]", "listeners: expected ['81/tcp'], found ['80/tcp']"),
    ("listeners: {80/tcp: {Scheduler: wrr}}", "listeners.80/tcp.Scheduler: expected 'wrr', found 'rr'"),
    ("listeners: {80/tcp: {group: other}}", "listeners.80/tcp: expected group 'other', found 'k8s/30080/"),
    ("backends: [node-1]", "expected backends ['node-1'], found ['node-1', 'node-2', 'node-3']"),
    ("backends: [node-1*7, node-2, node-3]", "found ['node-1', 'node-2', 'node-3']"),
    ("groups: {}", "groups: expected [], found ['k8s/30080/web/default/c-test']"),
    ("lb: {AddressType: intranet}", "lb.AddressType: expected 'intranet', found 'internet'"),
    ("lb: {tags: {exactly: {}}}", "lb.tags: expected exactly {}"),
    ("lb: none", "lb: expected none, found lb-"),
    ("lbs: 2", "load balancers: expected 2, found 1"),
    ("status: 1.2.3.4", "status: expected exactly [{'ip': '1.2.3.4'}]"),
    ("labels: none", "labels: found"),
    ("finalizer: false", "finalizer: expected False"),
    ("released: true", "released: still there"),
    ("gone: true", "gone: Service web is there"),
    ("events: [Normal Strange]", "events: no 'Normal Strange' among"),
    ("events: [no EnsuredLoadBalancer]", "is not expected"),
    ("events: none", "events: expected none, found"),
    ("calls: [DeleteLoadBalancer]", "calls: expected ['DeleteLoadBalancer'], found ['CreateLoadBalancer'"),
    ("calls: {CreateLoadBalancer: 2}", "calls.CreateLoadBalancer: expected 2, found 1"),
    ("calls: none", "calls.CreateVServerGroup: expected 0, found 1"),
    ("reads: 0", "reads: expected 0, found 1"),
    ("writes: '<=1'", "writes: expected <=1, found 4"),
    ("kube_writes: 0", "kube_writes: expected 0, found"),
    ("order: [StartLoadBalancerListener, CreateLoadBalancer]", "order: 'CreateLoadBalancer' is missing behind"),
    ("sent: {CreateLoadBalancer: {AddressType: intranet}}", "sent.CreateLoadBalancer: no call with"),
    ("objects: {Service/web: {spec: {type: ClusterIP}}}", "Service/web.spec.type: expected 'ClusterIP'"),
])
def test_every_expectation_can_fail(build, tmp_path, expect, problem):
    file = file_of(tmp_path, f"title: x\nsteps:\n- service: {{}}\n  expect: {{{expect}}}\n  within: 0.3\n")
    with pytest.raises(scenario.ScenarioFailure) as caught:
        Runner(file.cases[0], build, tmp_path / "world").run()
    assert problem in str(caught.value)
    assert "001-test.yaml [x]: steps[0]" in str(caught.value)
    assert "cloud calls of this step:" in str(caught.value)


def test_an_unexpected_warning_is_a_failure(build, tmp_path):
    file = file_of(tmp_path, "title: x\nsteps:\n- service: {annotations: {scheduler: best}}\n  within: 0.3\n")
    with pytest.raises(scenario.ScenarioFailure, match="unexpected .'Warning', 'SyncLoadBalancerFailed'"):
        Runner(file.cases[0], build, tmp_path / "world").run()


def test_short_forms():
    assert look.expand(["10.1.0.1-3@node-1", "10.1.0.9"]) == [
        "10.1.0.1@node-1", "10.1.0.2@node-1", "10.1.0.3@node-1", "10.1.0.9"]
    assert look.match("~^a.c$", "abc", "x") == []
    assert look.match({"a": None}, {}, "x") == []
    assert look.match([{"a": "1"}], [{"a": "2"}, {"a": "1", "b": "3"}], "x") == []


def test_unit_tests_are_looked_for(tmp_path):
    (tmp_path / "test-a.c").write_text("static void test_one(void **state)\n{\n}\n  cmocka_unit_test(test_one),\n"
                                       "static void test_two(void **state)\n", encoding="utf-8")
    assert scenario.unit_test_exists(str(tmp_path), "test-a.c", "test_one")
    assert not scenario.unit_test_exists(str(tmp_path), "test-a.c", "test_two")
    assert not scenario.unit_test_exists(str(tmp_path), "test-b.c", "test_one")
