"""Where credentials come from, against a cloud that checks every signature: the chain of alicloud.credentials."""

import base64
import json
import os
import re
import resource
import signal
import subprocess
import time

import pytest

from tests.support import objects
from tests.support.world import ACCESS_KEY, ACCESS_SECRET, World

NOTHING = {"ACCESS_KEY_ID": "", "ACCESS_KEY_SECRET": ""}
ROLE = "acs:ram::7:role/ccmd"


@pytest.fixture
def build():
    return os.environ["CCM_BUILD_DIR"]


def jwt(**claims):
    claims = {"iss": "https://cluster", "iat": int(time.time()), "exp": int(time.time()) + 3600, **claims}

    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    return f"{part({'alg': 'none'})}.{part(claims)}.c2lnbmF0dXJl"


def serves(world):
    """A Service gets its load balancer: everything was signed with a credential that the cloud takes."""
    world.kube.create(objects.service("web"))
    world.wait(lambda: world.kube.ingress("web"), "an address")


def secret_file(path, text):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def test_role_of_a_service_account(build, tmp_path):
    token = os.path.join(tmp_path, "token")
    secret_file(token, jwt(sub="system:serviceaccount:kube-system:ccmd", aud="sts.aliyuncs.com") + "\n")
    with World(build, tmp_path / "world") as world:
        world.start_ccmd(env={**NOTHING, "ALIBABA_CLOUD_ROLE_ARN": ROLE, "ALIBABA_CLOUD_OIDC_TOKEN_FILE": token,
                              "ALIBABA_CLOUD_OIDC_PROVIDER_ARN": "acs:ram::7:oidc-provider/cluster"})
        serves(world)
        assert world.cloud.actions().count("AssumeRoleWithOIDC") == 1
        assert world.cloud.actions().count("AssumeRole") == 0


def test_assumed_role_for_a_key_in_a_file(build, tmp_path):
    path = os.path.join(tmp_path, "key.json")
    secret_file(path, json.dumps({"access_key_id": ACCESS_KEY, "access_key_secret": ACCESS_SECRET}))
    with World(build, tmp_path / "world") as world:
        config = world.write_config(
            alicloud=f'credentials: {{ source = "file"; file = "{path}"; role_arn = "{ROLE}"; '
                     f'role_session_name = "cluster-7"; }};')
        world.start_ccmd(config, env=NOTHING)
        serves(world)
        calls = [call for call in world.cloud.calls() if call["action"] == "AssumeRole"]
        assert [call["params"]["RoleSessionName"] for call in calls] == ["cluster-7"]


def requests(world, product):
    """Calls and failures of a product as /metrics has them: {request: count}, {(request, code): count}."""
    prefix = "cloudprovider_alicloud_api_request_"
    counts, failures = {}, {}
    for name, value in world.metrics().items():
        found = re.fullmatch(prefix + r'(duration_seconds_count|errors)\{product="(\w+)",request="([^"]+)"(?:,code="([^"]+)")?\}', name)
        if found and found.group(2) == product and found.group(4) is None:
            counts[found.group(3)] = value
        elif found and found.group(2) == product:
            failures[found.group(3), found.group(4)] = value
    return counts, failures


def test_what_credentials_cost_is_measured(build, tmp_path):
    """Requests to the metadata service and to STS, also those that fail; the name of a role is in no label."""
    with World(build, tmp_path / "world") as world:
        world.cloud.fault(action="AssumeRole", count=1, code="NoPermission", http=403)
        world.start_ccmd(world.write_config(alicloud=f'credentials: {{ source = "ram-role"; role_arn = "{ROLE}"; }};'), env=NOTHING)
        serves(world)
        asked = world.cloud.actions()
        counts, failures = requests(world, "sts")
        assert counts == {"AssumeRole": asked.count("AssumeRole")} and counts["AssumeRole"] >= 2
        assert failures == {("AssumeRole", "NoPermission"): 1}
        counts, failures = requests(world, "metadata")
        assert {"token", "region-id", "vpc-id", "ram/security-credentials/", "ram/security-credentials/ROLE"} <= set(counts), counts
        assert failures == {}


def encrypt(text, keyring):
    iv = b"0123456789abcdef"
    done = subprocess.run(["openssl", "enc", "-aes-256-cbc", "-K", keyring.encode().hex(), "-iv", iv.hex()],
                          input=text.encode(), stdout=subprocess.PIPE, check=True)
    return base64.b64encode(iv + done.stdout).decode()


def test_token_file_of_managed_clusters(build, tmp_path):
    keyring = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
    path = os.path.join(tmp_path, "token-config")
    fixtures = os.path.join(tmp_path, "fixtures.json")
    with open(fixtures, "w", encoding="utf-8") as file:
        json.dump({"region": "cn-hangzhou", "accounts": [{"id": "addon-key", "secret": "addon-secret-text", "token": "addon-token-text"}]}, file)
    secret_file(path, json.dumps({
        "access.key.id": encrypt("addon-key", keyring), "access.key.secret": encrypt("addon-secret-text", keyring),
        "security.token": encrypt("addon-token-text", keyring), "expiration": "2099-01-02T03:04:05Z",
        "keyring": keyring}))
    with World(build, tmp_path / "world", cloud_args=["--fixtures", fixtures]) as world:
        config = world.write_config(alicloud=f'''region = "cn-hangzhou"; vpc_id = "vpc-1"; vswitch_ids = [ "vsw-1" ];
                                                credentials: {{ addon_file = "{path}"; }};''')
        world.start_ccmd(config, env=NOTHING)
        serves(world)
        assert "addon-secret-text" not in world.log() and "addon-token-text" not in world.log()


def test_the_source_is_named_when_it_cannot_work(build, tmp_path):
    with World(build, tmp_path / "world") as world:
        config = world.write_config(alicloud='credentials: { source = "oidc"; };')
        done = subprocess.run([world.binary("ccmd"), "run", "--config", config], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, check=False,
                              env={**os.environ, **NOTHING})
        assert done.returncode == 1
        assert "ALIBABA_CLOUD_OIDC_TOKEN_FILE" in done.stdout


def dumps_core(world, config, folder):
    """Whether a crash of ccmd leaves a core dump, where the machine would let it."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "log"), "wb") as log:
        process = subprocess.Popen(
            [world.binary("ccmd"), "run", "--config", config], cwd=folder, stdin=subprocess.DEVNULL, stdout=log,
            stderr=log, env={**os.environ, "ACCESS_KEY_ID": ACCESS_KEY, "ACCESS_KEY_SECRET": ACCESS_SECRET},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (-1, -1)))
    try:
        world.wait(lambda: b"plugin clb: started" in open(os.path.join(folder, "log"), "rb").read(), "ccmd")
    finally:
        process.send_signal(signal.SIGABRT)
        _, status = os.waitpid(process.pid, 0)
    process.returncode = -signal.SIGABRT  # we took the status ourselves
    return os.WCOREDUMP(status)


def test_a_crash_leaves_no_secret_behind(build, tmp_path):
    if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0 and os.geteuid() != 0:
        pytest.skip("this user may not have core dumps at all")
    with World(build, tmp_path / "world") as world:
        allowed = world.write_config(extra="process: { core_dumps = true; };", name="dumps.conf")
        if not dumps_core(world, allowed, os.path.join(tmp_path, "allowed")):
            pytest.skip("this machine makes no core dumps")
        assert not dumps_core(world, world.config, os.path.join(tmp_path, "forbidden"))
