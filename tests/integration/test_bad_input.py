"""Bad input of every kind: a clear message, no crash, recovery without restart."""

import re

import pytest

from tests.support import objects, proc, views

PREFIX = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
PORTS = ((80, "TCP"),)


def ready(world, name="web"):
    world.wait(lambda: views.complete(views.only_lb(world), PORTS) and world.kube.ingress(name), "the load balancer")


def warning(world, name, *words):
    def found():
        return [m for t, r, m, _ in world.kube.events(name) if t == "Warning" and all(w in m for w in words)]

    return world.wait(found, f"a warning with {words}")


# --- the Service --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("annotation, value, words", [
    (PREFIX + "address-type", "interne", ["address-type", "internet", "intranet"]),
    (PREFIX + "default-weight", "150", ["default weight", "[0,100]", "150"]),
    (PREFIX + "id", "lb-123", ["find loadbalancer by id error", "The specified LoadBalancerId does not exist"]),
    (PREFIX + "protocol-port", "https:80", [PREFIX + "cert-id", "required"]),
])
def test_broken_annotation_then_corrected(world, annotation, value, words):
    views.nodes(world, 1)
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS, annotations={annotation: value}))
    warning(world, "web", *words)
    world.settled()
    assert world.cloud.load_balancers() == []
    assert not [a for a in world.cloud.actions() if not a.startswith("Describe")]
    assert sum(1 for e in world.kube.events("web") if e[0] == "Warning") == 1
    world.kube.patch("Service", "web", {"metadata": {"annotations": {annotation: None}}})
    ready(world)


def test_unknown_annotation_gets_a_hint(world):
    views.nodes(world, 1)
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS, annotations={PREFIX + "adress-type": "internet"}))
    warning(world, "web", "adress-type", "did you mean", "address-type")
    ready(world)


def test_broken_service_can_be_deleted(world):
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS, annotations={PREFIX + "address-type": "x"}))
    warning(world, "web", "address-type")
    world.kube.delete("Service", "web")
    world.wait(lambda: world.kube.get("Service", "web") is None, "deletion")


# --- the configuration ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options, words", [
    (dict(extra="lgo: { level = \"info\"; };"), [r"ccmd\.conf:\d+: ", "lgo", "log"]),
    (dict(log_level="loud"), [r"ccmd\.conf:\d+: ", "loud", "error", "debug"]),
    (dict(plugins='{ name = "clb"; workers = 0; }'), [r"ccmd\.conf:\d+: ", "workers", "1"]),
    (dict(plugins='{ name = "clb"; workerz = 4; }'), [r"ccmd\.conf:\d+: ", "workerz", "workers"]),
    (dict(alicloud="regin = \"cn-hangzhou\";"), [r"ccmd\.conf:\d+: ", "regin", "region"]),
    (dict(cluster_id="team/prod"), [r"ccmd\.conf:\d+: ", "cluster_id", "does not match"]),
    (dict(cluster_id="k8s prod"), [r"ccmd\.conf:\d+: ", "cluster_id", "does not match"]),
    (dict(plain_http="false"), [r"ccmd\.conf:\d+: option 'alicloud.endpoints.slb': 'http://", "'plain_http = true' in alicloud",
                                "option 'alicloud.endpoints.metadata'"]),
    (dict(extra="x = = 1;"), [r"ccmd\.conf:\d+: ", "x: a value is missing"]),
])
def test_config_error_has_file_and_line(world, options, words):
    config = world.write_config(**options)
    for command in ("check-config", "run"):
        code, out, err = proc.run([world.binary("ccmd"), command, "--config", config])
        assert code == 1
        for word in words:
            assert re.search(word, out + err), out + err


def test_endpoints_without_tls_take_a_word(world):
    """The environment is no such word."""
    config = world.write_config(plain_http="false", endpoints="")
    env = {"ALICLOUD_CLIENT_SCHEME": "HTTP", "SLB_ENDPOINT": world.cloud.base}
    code, out, err = proc.run([world.binary("ccmd"), "run", "--config", config], env=env)
    assert code == 1 and "ALICLOUD_CLIENT_SCHEME: http://127.0.0.1" in out + err and "'plain_http = true'" in out + err, out + err
    assert world.cloud.calls() == []


def test_credentials_for_an_api_server_without_tls_take_a_word(world):
    with open(world.kubeconfig, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"server: \S+", "server: http://192.0.2.1:1", text)
    with open(world.kubeconfig, "w", encoding="utf-8") as file:
        file.write(re.sub(r"(?s)users:.*", "users: [{name: kubesim, user: {token: abcdef}}]\n", text))
    code, out, err = proc.run([world.binary("ccmd"), "run", "--config", world.config])
    assert code == 1 and "'plain_http = true' in kubernetes" in out + err and "abcdef" not in out + err, out + err


def test_config_file_missing(world):
    code, _, err = proc.run([world.binary("ccmd"), "run", "--config", "/nonexistent/ccmd.conf"])
    assert code == 1 and "/nonexistent/ccmd.conf" in err


def test_good_config(world):
    code, out, err = proc.run([world.binary("ccmd"), "check-config", "--config", world.config])
    assert code == 0, out + err


def test_version(world):
    code, out, _ = proc.run([world.binary("ccmd"), "version"])
    assert code == 0 and re.fullmatch(r"ccmd \d+\.\d+\.\d+ \(plugin ABI \d+\)\n", out), out


@pytest.mark.parametrize("args", [["--no-such-option"], ["no-such-command"], ["version", "x"]])
def test_usage_errors(world, args):
    code, _, err = proc.run([world.binary("ccmd"), *args])
    assert code == 2 and err


# --- the API server --------------------------------------------------------------------------------------------------


def test_unreachable_api_server_then_there(world):
    world.kube.fault(action="LIST /api/v1/services", count=1000, http=503, code="ServiceUnavailable", message="starting")
    world.kube.fault(action="WATCH /api/v1/services", count=1000, http=503, code="ServiceUnavailable", message="starting")
    views.nodes(world, 1)
    world.start_ccmd()
    world.wait(lambda: "starting" in world.log(), "a message")
    world.kube.create(objects.service("web", PORTS))
    world.kube.clear_faults()
    ready(world)


def test_nobody_listens(world, tmp_path):
    broken = tmp_path / "broken.kubeconfig"
    with open(world.kubeconfig, encoding="utf-8") as file:
        broken.write_text(re.sub(r"server: .*", "server: http://127.0.0.1:1", file.read()))
    world.kubeconfig = str(broken)
    world.start_ccmd(world.write_config(name="broken.conf"))
    world.wait(lambda: re.search(r"127\.0\.0\.1:1\b.*refused", world.log()), "a message")
    world.stop_ccmd()


@pytest.mark.parametrize("op", ["drop", "garbage", "truncate", "expire"])
@pytest.mark.parametrize("resource", ["services", "nodes", "endpointslices"])
def test_trouble_on_a_watch(world, op, resource):
    views.nodes(world, 1)
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    ready(world)
    world.kube.watches(op, resource)
    # each kind of object is seen again
    views.nodes(world, 1, first=2)
    world.wait(lambda: all(len(s) == 2 for s in views.backends(views.only_lb(world))), "the second node")
    world.kube.patch("Service", "web", {"spec": {"ports": [{"name": "x", "port": 81, "protocol": "TCP"}]}})
    world.wait(lambda: views.listeners(views.only_lb(world)) == [(81, "tcp", "running")], "the new port")
    if op in ("garbage", "truncate"):
        assert re.search(resource[:-1], world.log(), re.I)


# --- the cloud ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", [
    "DescribeLoadBalancers", "CreateLoadBalancer", "CreateVServerGroup", "CreateLoadBalancerTCPListener",
    "StartLoadBalancerListener",
])
def test_500_from_the_cloud(world, action):
    views.nodes(world, 1)
    world.cloud.fault(action=action, count=2, http=500, code="InternalError", message="please try again")
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: views.complete(views.only_lb(world), PORTS), "recovery", timeout=30)


def test_lasting_error_is_told_and_heals(world):
    views.nodes(world, 1)
    world.cloud.fault(action="CreateLoadBalancer", count=100000, http=400, code="ORDER.ARREARAGE",
                      message="The account is arrearage.")
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    message = warning(world, "web", "CreateLoadBalancer", "ORDER.ARREARAGE", "RequestId")[0]
    assert "pay" in message.lower() or "balance" in message.lower() or "overdue" in message.lower(), message
    world.settled()
    assert world.cloud.actions().count("CreateLoadBalancer") <= 2  # no hot loop
    world.cloud.clear_faults()
    world.kube.patch("Service", "web", {"metadata": {"annotations": {"example.com/again": "1"}}})
    ready(world)


def test_throttling_is_waited_for(world):
    views.nodes(world, 1)
    world.cloud.fault(count=3, http=400, code="Throttling.User", message="Request was denied due to user flow control.")
    world.start_ccmd()
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: views.complete(views.only_lb(world), PORTS), "the load balancer", timeout=40)
    assert not [e for e in world.kube.events("web") if e[0] == "Warning"]


def test_wrong_secret_is_told_and_never_printed(world):
    views.nodes(world, 1)
    world.start_ccmd(env={"ACCESS_KEY_SECRET": "wrong-secret-for-this-test"})
    world.kube.create(objects.service("web", PORTS))
    warning(world, "web", "SignatureDoesNotMatch")
    world.stop_ccmd()
    assert "wrong-secret-for-this-test" not in world.log()
