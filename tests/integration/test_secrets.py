"""Secrets of ccmd: mounted by Kubernetes and replaced while it runs, fetched once for everybody, and never shown."""

import json
import os

import pytest

from tests.integration.test_robustness import forget_everything, secure_world
from tests.support import objects, proc, views
from tests.support.world import ACCESS_KEY, ACCESS_SECRET, World

PORTS = ((80, "TCP"),)
ROLE = "acs:ram::7:role/ccmd"
NOTHING = {"ACCESS_KEY_ID": "", "ACCESS_KEY_SECRET": ""}


class Mount:
    """A Secret as the kubelet mounts it: NAME -> ..data/NAME, ..data -> a folder that is replaced as a whole."""

    def __init__(self, folder):
        self.folder, self.versions = str(folder), 0
        os.makedirs(self.folder)
        os.chmod(self.folder, 0o3777)  # drwxrwsrwt

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        self.versions += 1
        version = f"..2026_01_01_00_00_{self.versions:02}"
        os.mkdir(self.path(version), 0o755)
        with open(os.open(os.path.join(self.path(version), name), os.O_WRONLY | os.O_CREAT, 0o440), "w", encoding="utf-8") as file:
            file.write(text)
        before = os.readlink(self.path("..data")) if self.versions > 1 else None
        os.symlink(version, self.path("..data_tmp"))
        os.rename(self.path("..data_tmp"), self.path("..data"))
        if before:
            os.unlink(os.path.join(self.path(before), name))
            os.rmdir(self.path(before))
        else:
            os.symlink(os.path.join("..data", name), self.path(name))


def key_file(secret):
    return json.dumps({"access_key_id": ACCESS_KEY, "access_key_secret": secret})


def test_key_of_the_cloud_that_is_mounted(build, tmp_path):
    """Nobody sends a signal; what failed for want of the right key is tried again at once."""
    mount = Mount(tmp_path / "mount")
    mount.write("key.json", key_file("wrong" + ACCESS_SECRET[5:]))
    with World(build, tmp_path / "world") as world:
        world.config = world.write_config(
            plugins='{ name = "clb"; audit_interval_s = 1; }',
            alicloud=f'region = "cn-hangzhou"; vpc_id = "vpc-test"; credentials: {{ source = "file"; file = "{mount.path("key.json")}"; }};',
            log_level="info")
        world.start_ccmd(env=NOTHING)
        views.nodes(world, 1)
        world.kube.create(objects.service("web", PORTS))
        world.wait(lambda: world.metrics().get('ccmd_failing_objects{plugin="clb"}') == 1, "the refusal")
        mount.write("key.json", key_file(ACCESS_SECRET))
        world.wait(lambda: world.kube.ingress("web"), "the address", timeout=20)
        # A broken one changes nothing: the last good one is kept.
        mount.write("key.json", "{")
        world.wait(lambda: "no JSON object" in world.log(), "a look at it, by a second look at the load balancer", timeout=20)
        world.kube.create(objects.service("more", PORTS))
        world.wait(lambda: world.kube.ingress("more"), "another address", timeout=20)
        assert world.ccmd.alive()


def test_key_that_comes_late(build, tmp_path):
    """A plugin that cannot start is tried again by itself, with a reason at /readyz until then."""
    key = tmp_path / "key.json"
    with World(build, tmp_path / "world") as world:
        world.config = world.write_config(alicloud=f'credentials: {{ source = "file"; file = "{key}"; role_arn = "{ROLE}"; }};')
        world.start_ccmd(env=NOTHING)
        views.nodes(world, 1)
        world.kube.create(objects.service("web", PORTS))
        world.wait(lambda: str(key) in world.admin("/readyz")[1], "the reason")
        (tmp_path / "new").write_text(key_file(ACCESS_SECRET))
        (tmp_path / "new").chmod(0o600)
        (tmp_path / "new").rename(key)
        world.wait(lambda: world.kube.ingress("web"), "the address", timeout=60)
        assert world.admin("/readyz") == (200, "ok\n")


def test_token_of_the_api_server_that_is_mounted(build, tmp_path):
    """As /var/run/secrets/kubernetes.io/serviceaccount: the old token is refused from one moment to the next."""
    mount = Mount(tmp_path / "mount")
    with secure_world(build, str(tmp_path)) as world:
        world.write_token = lambda text: mount.write("token", text)
        world.use_token_file("first-token-of-the-test", os.path.join(world.tls, "ca.crt"))
        with open(world.kubeconfig, encoding="utf-8") as file:
            text = file.read().replace(world.client_token, mount.path("token"))
        with open(world.kubeconfig, "w", encoding="utf-8") as file:
            file.write(text)
        views.nodes(world, 1)
        world.start_ccmd()
        world.kube.create(objects.service("web", PORTS))
        world.wait(lambda: world.kube.ingress("web"), "the address")
        with open(world.server_token, "w", encoding="utf-8") as file:
            file.write("second-token-of-the-test")
        mount.write("token", "second-token-of-the-test")
        world.kube.http.token = "second-token-of-the-test"
        forget_everything(world)
        views.nodes(world, 1)
        world.kube.create(objects.service("other", PORTS))
        world.wait(lambda: world.kube.ingress("other"), "the work to go on", timeout=40)
        assert "-token-of-the-test" not in world.log()


def test_one_fetch_for_all(build, tmp_path):
    """Eight workers are refused at the same time: one of them fetches another credential, the others wait for it, none fails.
    A ninth is kept for removals."""
    with World(build, tmp_path) as world:
        world.config = world.write_config(plugins='{ name = "clb"; workers = 9; }', alicloud=f'credentials: {{ role_arn = "{ROLE}"; }};')
        views.nodes(world, 1)
        refusal = world.cloud.fault(action="CreateLoadBalancer", count=8, delay_ms=600000, code="InvalidSecurityToken.Expired", http=400)
        world.kube.create(*[objects.service(f"web-{n}", PORTS) for n in range(8)])
        world.start_ccmd()
        world.wait(lambda: world.cloud.actions().count("CreateLoadBalancer") == 8, "eight calls under way")
        world.cloud.fault(action="AssumeRole", delay_ms=700)
        world.cloud.http.request("DELETE", f"/_sim/faults?id={refusal['ids'][0]}")  # ends the delay
        world.wait(lambda: all(world.kube.ingress(f"web-{n}") for n in range(8)), "every address", timeout=40)
        assert world.cloud.actions().count("AssumeRole") == 2
        failed = [value for name, value in world.metrics().items() if name.startswith("ccmd_reconcile_failures_total{") and "auth" in name]
        assert sum(failed) == 0, failed


def test_role_of_the_instance(build, tmp_path):
    """By the metadata service, which answers nobody without a session token: asked for once, as the role is."""
    with World(build, tmp_path, cloud_args=["--metadata-v2"]) as world:
        world.config = world.write_config(alicloud='credentials: { source = "ram-role"; };')
        views.nodes(world, 1)
        world.start_ccmd(env=NOTHING)
        world.kube.create(*[objects.service(f"web-{n}", PORTS) for n in range(3)])
        world.wait(lambda: all(world.kube.ingress(f"web-{n}") for n in range(3)), "every address")
        values = world.metrics()
        asked = {name: values[f'cloudprovider_alicloud_api_request_duration_seconds_count{{product="metadata",request="{name}"}}']
                 for name in ("token", "ram/security-credentials/", "ram/security-credentials/ROLE", "region-id", "vpc-id")}
        assert asked == dict.fromkeys(asked, 1)


def test_nothing_that_people_read_shows_one(build, tmp_path):
    """Pages and commands, with a key of one's own and those of a role; World looks at logs and events by itself."""
    key = tmp_path / "key.json"
    key.write_text(key_file(ACCESS_SECRET))
    key.chmod(0o600)
    with World(build, tmp_path / "world") as world:
        world.config = world.write_config(alicloud=f'credentials: {{ file = "{key}"; role_arn = "{ROLE}"; }};')
        views.nodes(world, 1)
        world.start_ccmd(env=NOTHING)
        world.kube.create(objects.service("web", PORTS))
        world.wait(lambda: world.kube.ingress("web"), "the address")
        shown = {path: world.admin(path)[1] for path in ("/metrics", "/statusz", "/readyz", "/livez")}
        for command in ("plan", "check-config", "plugins"):
            code, out, err = proc.run([world.binary("ccmd"), command, "--config", world.config], env=NOTHING)
            assert code == 0, out + err
            shown[command] = out + err
        for where, text in shown.items():
            assert not [secret for secret in (ACCESS_SECRET, "secret-of-", "token-of-") if secret in text], where


@pytest.mark.parametrize("where", ["ccmd-0.err", "kubesim.out", "events", "pages"])
@pytest.mark.parametrize("secret", [ACCESS_SECRET, "secret-of-STS.7", "token-of-STS.7"])
def test_the_search_after_each_test_finds_it(tmp_path, where, secret):
    """What World.leaks() looks for, and where: every test with a World ends with it."""
    world = World("nowhere", tmp_path)
    world.last_events, world.last_pages = ("x" + secret if where == part else "" for part in ("events", "pages"))
    (tmp_path / "ccmd-0.err").write_text("nothing here\n")
    assert where in ("events", "pages") or world.leaks() == []
    if where not in ("events", "pages"):
        (tmp_path / where).write_text(f"a line\nwith {secret}\n")
    assert len(world.leaks()) == 1
