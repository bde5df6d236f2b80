"""`ccmd status`: the status pages in a terminal, through the admin server of the daemon on this machine."""

import json
import os
import re
import subprocess

import pytest

from tests.support import objects, proc, terminal, views

PORTS = ((80, "TCP"),)
ID = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-id"


def status(world, *args):
    done = subprocess.run([world.binary("ccmd"), "status", "--config", world.config, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60 * proc.SLOW, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def asked(world):
    """A daemon whose address is known to a second reader of its configuration."""
    views.nodes(world, 2)
    world.start_ccmd()
    port = world.admin_base().rpartition(":")[2]
    text = open(world.config, encoding="utf-8").read()
    assert 'listen = "127.0.0.1:0"' in text
    world.config += ".reader"
    with open(world.config, "w", encoding="utf-8") as file:
        file.write(text.replace('listen = "127.0.0.1:0"', f'listen = "127.0.0.1:{port}"'))
    os.chmod(world.config, 0o600)
    return world


def test_what_it_prints(asked):
    service = objects.service("web", PORTS)
    asked.kube.create(service, objects.endpoint_slice(service, [("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")]),
                      objects.service("gone", PORTS, annotations={ID: "lb-missing"}))
    asked.wait(lambda: asked.kube.ingress("web"), "an address", timeout=40)
    code, text, error = asked.wait(lambda: (lambda done: done if "1 of 2 objects fails" in done[1] else None)(status(asked)), "the failure")
    assert (code, error) == (0, "")
    assert "Failing objects: 1 of 2" in text and "default/gone" in text and "lb-missing" in text and "Caches" in text
    command = [asked.binary("ccmd"), "status", "--config", asked.config]
    seen = terminal.run(command)[2]
    assert seen.startswith("\033[31m1 of 2 objects fails\033[0m\r\n") and "\033[1mFailing objects: 1 of 2\033[0m" in seen, seen
    assert "Failing objects: 1 of 2" in re.sub(r"\x1b\[\d*m", "", seen) and "\033" not in terminal.run(command, NO_COLOR="1")[2] + text
    code, text, _ = status(asked, "-o", "json")
    assert code == 0 and json.loads(text)["count"] == {**json.loads(text)["count"], "all": 2, "failing": 1}
    code, text, _ = status(asked, "default/web")
    assert code == 0 and text.startswith("default/web\n")
    label = asked.kube.get("Service", "web")["metadata"]["labels"]["service.k8s.alibaba/loadbalancer-id"]
    assert label in text and "Listeners" in text and "node-1" in text and "EnsuredLoadBalancer" in text
    code, text, _ = status(asked, "default/web", "--output", "json")
    assert code == 0 and json.loads(text)["clb"]["load_balancer"] == label
    code, text, _ = status(asked, "--all")
    assert code == 0 and text.index("default/gone") < text.index("default/web")
    code, text, _ = status(asked, "--quotas")
    assert code == 0 and "CreateLoadBalancer" in text and "account_quotas: load_balancers" in text


def test_what_it_cannot_print(asked):
    code, text, error = status(asked, "default/none")
    assert (code, text, error) == (1, "", "no plugin takes care of default/none\n")
    assert status(asked, "default/none", "--all")[0] == 2
    assert status(asked, "-o", "yaml")[0] in (2, 64)
    asked.stop_ccmd()
    code, text, error = status(asked)
    assert code == 1 and text == "" and error.startswith("ccmd: status: ")


def test_again_and_again(asked):
    """--watch prints until nobody reads any more."""
    process = subprocess.Popen([asked.binary("ccmd"), "status", "--config", asked.config, "--watch", "-o", "json"], stdout=subprocess.PIPE, text=True)
    try:
        first, second = (json.loads(process.stdout.readline()) for _ in (1, 2))
        assert first["version"] == second["version"] and second["up_s"] >= first["up_s"]
        assert process.poll() is None
    finally:
        process.stdout.close()
        process.terminate()
        process.wait(30 * proc.SLOW)
