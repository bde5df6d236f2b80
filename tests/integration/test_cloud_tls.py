"""The cloud over TLS, as it is outside of tests: by which name it is called, whom ccmd believes, and what it never sends to others."""

import os
import re
import shutil

import pytest

from tests.support import objects, views
from tests.support.gateway import Authority, Gateway
from tests.support.products import Nlb
from tests.support.world import ACCESS_KEY, World

PORTS = ((80, "TCP"),)
PRODUCTS = ("slb", "nlb", "vpc", "ecs", "sts")
ROLE = "acs:ram::7:role/ccmd"
REGION = 'region = "cn-hangzhou"; vpc_id = "vpc-test";'
VPC = {f"{product}-vpc.cn-hangzhou.aliyuncs.com" for product in PRODUCTS}
PUBLIC = {"slb.aliyuncs.com", "nlb.cn-hangzhou.aliyuncs.com", "vpc.aliyuncs.com", "ecs-cn-hangzhou.aliyuncs.com",
          "sts.cn-hangzhou.aliyuncs.com"}


@pytest.fixture
def gates():
    """Gateways that end with the test."""
    running = []
    yield running
    for gate in running:
        gate.close()


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path / "world") as instance:
        views.nodes(instance, 1)
        yield instance


def configure(world, alicloud, endpoints="", plugins='{ name = "clb"; }'):
    """Endpoints of the cloud as given, none by default; the metadata service is plain HTTP anywhere."""
    world.config = world.write_config(plugins=plugins, alicloud=REGION + alicloud)
    with open(world.config, encoding="utf-8") as file:
        text = file.read()
    text, count = re.subn(r"endpoints: \{.*?\};", f'endpoints: {{ {endpoints} metadata = "{world.cloud.base}"; }};', text)
    assert count == 1
    with open(world.config, "w", encoding="utf-8") as file:
        file.write(text)


def at(gate):
    """Every endpoint, without a scheme."""
    return " ".join(f'{product} = "localhost:{gate.port}";' for product in PRODUCTS)


def test_an_endpoint_without_a_scheme_is_https(world, tmp_path, gates):
    authority = Authority(tmp_path)
    gate = Gateway(world.cloud.base, *authority.issue("localhost"))
    gates.append(gate)
    configure(world, f'ca_file = "{authority.file}";', at(gate))
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: world.kube.ingress("web"), "the address")
    assert views.complete(views.only_lb(world), PORTS)
    world.settled()
    assert len(gate.requests) == len(world.cloud.calls())  # nothing came another way
    assert set(gate.hosts()) == {f"localhost:{gate.port}"} and set(gate.names) == {"localhost"}
    assert "is called without TLS" not in world.log()


@pytest.mark.parametrize("network, names", [(None, VPC), ("public", PUBLIC)])
def test_hosts_by_region_and_network(world, tmp_path, gates, network, names):
    """Without endpoints: the names of the VPC unless it is told otherwise. The proxy of the environment leads to the test's cloud,
    and learns nothing but the names."""
    authority = Authority(tmp_path)
    gate = Gateway(world.cloud.base, *authority.issue("*.aliyuncs.com", "*.cn-hangzhou.aliyuncs.com"))
    gates.append(gate)
    choice = f'network = "{network}";' if network else ""
    configure(world, f'ca_file = "{authority.file}"; credentials: {{ role_arn = "{ROLE}"; }}; {choice}',
              plugins='{ name = "clb"; }, { name = "nlb"; }')
    proxy = f"http://127.0.0.1:{gate.port}"
    world.start_ccmd(env={"HTTPS_PROXY": proxy, "https_proxy": proxy, "NO_PROXY": "", "no_proxy": ""})
    world.kube.create(objects.service("web", PORTS), Nlb().new("shop"))
    for name in ("web", "shop"):
        world.wait(lambda n=name: world.kube.ingress(n), f"the address of {name}", timeout=30)
    hosts = set(gate.hosts())
    assert hosts <= names, hosts
    assert {name for name in names if name.startswith(("slb", "nlb", "sts"))} <= hosts
    assert hosts == set(gate.names)
    assert {f"{host}:443" for host in hosts} == {head.split(" ")[1] for head in gate.asked}
    assert all(head.startswith("CONNECT ") and ACCESS_KEY not in head and "x-acs" not in head.lower() for head in gate.asked)


def another(folder):
    return Authority(folder, "another").file


@pytest.mark.parametrize("names, trusted, why", [
    (("localhost",), another, "it is not signed by an authority in {ca_file} ("),
    (("localhost",), None, "it is not signed by an authority of this machine ("),
    (("slb-vpc.cn-hangzhou.aliyuncs.com",), lambda folder: f"{folder}/ca.crt", "(SSL: "),
], ids=["unknown", "unknown-to-the-machine", "another-name"])
def test_a_certificate_that_proves_nothing(world, tmp_path, gates, names, trusted, why):
    """No byte of a request, let alone one that is signed, goes to who cannot show that it is the cloud."""
    authority = Authority(tmp_path)
    gate = Gateway(world.cloud.base, *authority.issue(*names))
    gates.append(gate)
    ca_file = trusted(tmp_path) if trusted else None
    configure(world, f'ca_file = "{ca_file}";' if ca_file else "", at(gate))
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    message = world.wait(lambda: [e for e in world.kube.events("web") if e[0] == "Warning"], "the event", timeout=60)[0][2]
    said = f"https://localhost:{gate.port}: the certificate of this host is not trusted"
    assert said in message and why.format(ca_file=ca_file) in message, message
    assert "alicloud.ca_file" in message, message
    world.logged(said)
    world.stop_ccmd()
    world.wait(lambda: gate.open == 0, "all that was sent to be read")
    assert gate.requests == [] and world.cloud.calls() == []
    assert set(gate.names) == {"localhost"} and not world.kube.ingress("web")


def test_another_authority(world, tmp_path, gates):
    """The file with the authority is replaced: nothing has to be started again."""
    authority, old = Authority(tmp_path), Authority(tmp_path, "old")
    gate = Gateway(world.cloud.base, *authority.issue("localhost"))
    gates.append(gate)
    trusted = str(tmp_path / "trusted.crt")
    shutil.copy(old.file, trusted)
    configure(world, f'ca_file = "{trusted}";', at(gate))
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: f"in {trusted} (" in world.log(), "the complaint", timeout=60)
    shutil.copy(authority.file, trusted + ".new")
    os.rename(trusted + ".new", trusted)
    world.wait(lambda: world.kube.ingress("web"), "the address", timeout=60)
