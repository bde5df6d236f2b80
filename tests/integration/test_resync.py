"""`ccmd resync`: an operator has load balancers read again, at once; who may ask for it."""

import os
import socket
import stat
import urllib.error
import urllib.request

import pytest

from tests.support import objects, views

PORTS = ((80, "TCP"), (443, "TCP"))


def begin(world, tmp_path, names=("web",)):
    world.token = str(tmp_path / "control")
    world.config = world.write_config(
        plugins='{ name = "clb"; workers = 4; }',
        extra=f'admin: {{ listen = "127.0.0.1:0"; control_token_file = "{world.token}"; }};')
    views.nodes(world, 2)
    world.start_ccmd()
    world.kube.create(*[objects.service(name, PORTS) for name in names])
    for name in names:
        world.wait(lambda n=name: world.kube.ingress(n), f"the address of {name}")
    world.settled()


@pytest.fixture
def running(world, tmp_path):
    begin(world, tmp_path)
    return world


def post(world, token=None, query="?key=default/web", method="POST"):
    request = urllib.request.Request(world.admin_base() + "/resync" + query, method=method)
    if token is not None:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def said(world, reason, name="web"):
    return [message for _, found, message, _ in world.kube.events(name) if found == reason]


def test_what_somebody_deleted_comes_back(running):
    lb = views.only_lb(running)["LoadBalancerId"]
    running.cloud.edit("delete", type="listener", load_balancer=lb, port=443, protocol="tcp")
    code, out, err = running.resync("default/web")
    assert (code, err) == (0, "") and out == "plugin clb looks at 1 object again\n"
    running.wait(lambda: said(running, "Resynced"), "the answer")
    assert said(running, "Resynced") == [f"Load balancer [{lb}] was looked at again because an operator asked for it: repaired"]
    assert len(views.only_lb(running)["Listeners"]) == 2
    running.wait(lambda: "create listener 443/tcp" in said(running, "DriftRepaired")[0], "what was repaired")


def test_again_and_again_without_a_pause(running):
    for number in (1, 2):
        since = running.cloud.mark()
        assert running.resync("default/web")[0] == 0
        running.settled()
        actions = running.cloud.actions(since)
        assert "DescribeLoadBalancers" in actions and all(a.startswith("Describe") for a in actions), number
    running.wait(lambda: said(running, "Resynced"), "the answer")
    assert "it is as wanted" in said(running, "Resynced")[0]


def test_all(world, tmp_path):
    begin(world, tmp_path, ("one", "two"))
    since = world.cloud.mark()
    code, out, err = world.resync("--all")
    assert (code, err) == (0, "") and out == "plugin clb looks at 2 objects again\n"
    world.settled()
    assert all(a.startswith("Describe") for a in world.cloud.actions(since)) and world.cloud.actions(since) != []
    for name in ("one", "two"):
        world.wait(lambda n=name: said(world, "Resynced", n), "the answer")


def test_an_annotation_of_any_name_does_the_same(running):
    lb = views.only_lb(running)["LoadBalancerId"]
    running.cloud.edit("delete", type="listener", load_balancer=lb, port=443, protocol="tcp")
    running.kube.patch("Service", "web", {"metadata": {"annotations": {"looked-at": "now"}}})
    running.wait(lambda: len(views.only_lb(running)["Listeners"]) == 2, "the listener")
    running.wait(lambda: "create listener 443/tcp" in said(running, "DriftRepaired")[0], "what was repaired")


def test_who_may_ask(running):
    """The daemon has made the token, for itself alone."""
    mode = os.stat(running.token).st_mode
    assert stat.S_IMODE(mode) == 0o600
    with open(running.token, encoding="utf-8") as file:
        token = file.read().strip()
    assert len(token) == 64 and token not in running.log()
    assert post(running) == 401 and post(running, "x" * 64) == 401 and post(running, token[:-1]) == 401
    assert post(running, token, method="GET") == 405
    assert post(running, token, "") == 400 and post(running, token, "?key=default/web&all=1") == 400
    assert post(running, token, "?key=default/other") == 404
    assert post(running, token) == 200
    code, _, err = running.resync("default/other")
    assert code == 1 and "no plugin takes care of default/other" in err
    assert running.resync()[0] == 2 and running.resync("a", "b")[0] == 2 and running.resync("a b")[0] == 2
    os.chmod(running.token, 0o644)
    assert post(running, token) == 403


def test_the_token_stays(running):
    with open(running.token, encoding="utf-8") as file:
        token = file.read()
    running.stop_ccmd()
    running.start_ccmd()
    running.wait(lambda: running.admin("/readyz")[0] == 200, "readiness")
    with open(running.token, encoding="utf-8") as file:
        assert file.read() == token


def test_without_a_place_for_it_nobody_can_ask(world):
    world.config = world.write_config(
        extra='admin: { listen = "127.0.0.1:0"; control_token_file = "/proc/nowhere/control"; };')
    world.start_ccmd()
    assert post(world, "x" * 64) == 403
    world.logged("nobody can ask ccmd to act: /proc/nowhere/control cannot be made")


def test_bodies_are_not_read(running):
    """Whoever sends a large one with an order gives it once; without the token it costs nothing either."""
    with open(running.token, encoding="utf-8") as file:
        token = file.read().strip()
    host, port = running.admin_base().split("//")[1].split(":")
    before = running.log().count("an operator has 1 object looked at again")
    for bearer, status in ((token, b" 200 "), ("x" * 64, b" 401 ")):
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            connection.sendall(f"POST /resync?key=default/web HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {bearer}\r\n"
                               "Content-Length: 1000000000\r\n\r\n".encode())
            assert status in connection.recv(4096).split(b"\r\n")[0]
    running.wait(lambda: running.log().count("an operator has 1 object looked at again") > before, "the order")
    assert running.admin("/healthz")[0] == 200
    running.settled()
    assert running.log().count("an operator has 1 object looked at again") == before + 1


def test_a_link_to_nowhere_is_no_place(world, tmp_path):
    """What it leads to is not made."""
    token = tmp_path / "control"
    token.symlink_to(tmp_path / "elsewhere")
    world.config = world.write_config(extra=f'admin: {{ listen = "127.0.0.1:0"; control_token_file = "{token}"; }};')
    world.start_ccmd()
    assert post(world, "x" * 64) == 403
    assert not (tmp_path / "elsewhere").exists()
    (tmp_path / "elsewhere").write_text("y" * 64)
    (tmp_path / "elsewhere").chmod(0o600)
    world.wait(lambda: post(world, "y" * 64) == 404, "a link, as Secrets are mounted")
    token.unlink()
    os.mkfifo(token, 0o600)
    assert post(world, "y" * 64) == 403
