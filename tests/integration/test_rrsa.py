"""docs/rrsa.md: the trust policy, the pod and the configuration of the page belong together, and ccmd takes on the role with them."""

import json
import os
import re
import shutil
import subprocess

import pytest
import yaml

from tests.integration.test_credentials import NOTHING, jwt, secret_file, serves
from tests.support import pages
from tests.support.world import World

BASE = os.path.join(pages.ROOT, "etc", "kubernetes", "base")


def block(mark):
    (found,) = [one.text for one in pages.blocks("rrsa.md") if one.mark == mark]
    return found


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """{kind: document} of the base with the page's lines behind those of the overlay."""
    folder = tmp_path_factory.mktemp("overlay")
    shutil.copytree(BASE, folder / "base")
    with open(folder / "kustomization.yaml", "w", encoding="utf-8") as file:
        file.write("resources: [base]\n" + block("kustomize"))
    done = subprocess.run([os.environ.get("KUBECTL", "kubectl"), "kustomize", str(folder)], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0 and "resources" in done.stderr:
        pytest.skip("this kubectl knows no folders among resources")
    assert done.returncode == 0, done.stderr
    return {one["kind"]: one for one in yaml.safe_load_all(done.stdout)}


def pod_of(rendered):
    spec = rendered["Deployment"]["spec"]["template"]["spec"]
    return spec, spec["containers"][0]


def environment(container):
    return {one["name"]: one["value"] for one in container["env"]}


def test_policy_trusts_the_pods_of_the_manifests(rendered):
    """Audience, service account and provider are said in two places each."""
    pod, main = pod_of(rendered)
    (statement,) = json.loads(block("trust"))["Statement"]
    assert statement["Effect"] == "Allow" and statement["Action"] == "sts:AssumeRoleWithOIDC"
    account = rendered["ServiceAccount"]["metadata"]
    (volume,) = [one for one in pod["volumes"] if one["name"] == "rrsa"]
    (token,) = [one["serviceAccountToken"] for one in volume["projected"]["sources"]]
    assert statement["Condition"]["StringEquals"] == {
        "oidc:iss": "https://issuer.example.com/cluster-1", "oidc:aud": token["audience"],
        "oidc:sub": f"system:serviceaccount:{account['namespace']}:{pod['serviceAccountName']}"}
    assert pod["serviceAccountName"] == account["name"]
    assert statement["Principal"]["Federated"] == [environment(main)["ALIBABA_CLOUD_OIDC_PROVIDER_ARN"]]
    (mount,) = [one for one in main["volumeMounts"] if one["name"] == "rrsa"]
    assert environment(main)["ALIBABA_CLOUD_OIDC_TOKEN_FILE"] == os.path.join(mount["mountPath"], token["path"]) and mount["readOnly"]
    assert pod["securityContext"]["fsGroup"] and volume["projected"]["defaultMode"] == 0o440  # readable for the user of the pod alone


def test_values_say_the_same(rendered):
    pod, main = pod_of(rendered)
    values = yaml.safe_load(block("values"))
    assert values["env"] == main["env"]
    assert values["extraVolumes"] == [one for one in pod["volumes"] if one["name"] == "rrsa"]
    assert values["extraVolumeMounts"] == [one for one in main["volumeMounts"] if one["name"] == "rrsa"]
    known = yaml.safe_load(open(os.path.join(pages.ROOT, "etc/helm/ccmd/values.yaml"), encoding="utf-8"))
    webhook = yaml.safe_load(block("webhook"))
    assert {*values, *webhook} <= set(known)
    # The webhook is told the name of the role that the variables have.
    assert environment(main)["ALIBABA_CLOUD_ROLE_ARN"].endswith(":role/" + webhook["serviceAccount"]["annotations"][
        "pod-identity.alibabacloud.com/role-name"])


def test_ccmd_takes_on_the_role(build, rendered, tmp_path):
    """The environment and the configuration of the page; the token as the kubelet makes it."""
    _, main = pod_of(rendered)
    (statement,) = json.loads(block("trust"))["Statement"]
    wanted = {name.partition(":")[2]: value for name, value in statement["Condition"]["StringEquals"].items()}
    token = str(tmp_path / "token")
    secret_file(token, jwt(**wanted))
    credentials = re.search(r"credentials: \{.*?\};", block("config")).group(0)
    with World(build, tmp_path / "world") as world:
        config = world.write_config(alicloud=credentials)
        world.start_ccmd(config, env={**NOTHING, **environment(main), "ALIBABA_CLOUD_OIDC_TOKEN_FILE": token})
        serves(world)
        (call,) = [call for call in world.cloud.calls() if call["action"] == "AssumeRoleWithOIDC"]
        assert call["params"]["RoleArn"] == environment(main)["ALIBABA_CLOUD_ROLE_ARN"]
        assert call["params"]["OIDCProviderArn"] == environment(main)["ALIBABA_CLOUD_OIDC_PROVIDER_ARN"]


@pytest.mark.parametrize("missing", ["ALIBABA_CLOUD_ROLE_ARN", "ALIBABA_CLOUD_OIDC_PROVIDER_ARN", "ALIBABA_CLOUD_OIDC_TOKEN_FILE"])
def test_what_is_missing_is_told(build, rendered, tmp_path, missing):
    _, main = pod_of(rendered)
    with World(build, tmp_path / "world") as world:
        config = world.write_config(alicloud=re.search(r"credentials: \{.*?\};", block("config")).group(0))
        done = subprocess.run([world.binary("ccmd"), "check-config", "--config", config], capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, **NOTHING, **environment(main), missing: ""})
        assert done.returncode == 1 and missing in done.stderr and "are not all set" in done.stderr, done.stdout + done.stderr
