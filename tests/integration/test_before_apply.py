"""What asks lint before a Service is applied: the hook of pre-commit, the workflow of docs/lint.md, and the manifests of the webhook."""

import json
import os
import shutil
import subprocess

import pytest
import yaml

from tests.support import proc

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEY = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-scheduler"
SERVICE = """apiVersion: v1
kind: Service
metadata: {{ name: web, annotations: {{ {key}: {value} }} }}
spec: {{ type: LoadBalancer, ports: [ {{ port: 80 }} ] }}
"""


def page_blocks():
    """Blocks of YAML of the page, in their order."""
    with open(os.path.join(ROOT, "docs", "lint.md"), encoding="utf-8") as file:
        return [yaml.safe_load(block.split("\n```")[0]) for block in file.read().split("```yaml\n")[1:]]


@pytest.fixture
def shell(build, tmp_path):
    """Runs a line of a shell in a folder with manifests, with ccmd on the path: exit code, stdout, stderr."""
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests" / "good.yaml").write_text(SERVICE.format(key=KEY, value="wrr"))
    (tmp_path / "manifests" / "other.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n")
    installed = tmp_path / "installed"
    shutil.copytree(os.path.join(build, "lib/ccmd"), installed / "lib/ccmd", symlinks=True)
    os.makedirs(installed / "lib/ccmd/plugins")
    for place in ("bin/ccmd", "plugins/clb.so", "plugins/nlb.so"):
        where = installed / ("lib/ccmd" if place.startswith("plugins") else ".") / place
        where.parent.mkdir(exist_ok=True)
        shutil.copy(os.path.join(build, place), where)
    library = next(os.path.join(folder, name) for folder, _, names in os.walk(build) for name in names if name == "libccm-alicloud.so.1")
    shutil.copy(library, installed / "lib/ccmd")
    environment = {**os.environ, "PATH": f"{installed}/bin:{os.environ['PATH']}", "LD_LIBRARY_PATH": f"{installed}/lib/ccmd", "NO_COLOR": "1"}

    def run(line, wrong=False):
        bad = tmp_path / "manifests" / "bad.yaml"
        bad.unlink(missing_ok=True)
        if wrong:
            bad.write_text(SERVICE.format(key=KEY, value="fast"))
        done = subprocess.run(["bash", "-ec", line], cwd=tmp_path, env=environment, capture_output=True, text=True,
                              timeout=60 * float(os.environ.get("CCM_TEST_SLOW", "1")), check=False)
        return done.returncode, done.stdout, done.stderr

    run.folder = tmp_path
    return run


def hook():
    with open(os.path.join(ROOT, ".pre-commit-hooks.yaml"), encoding="utf-8") as file:
        (found,) = yaml.safe_load(file)
    return found


def test_hook(shell):
    """As pre-commit runs it: entry, arguments, then the names of files."""
    one = hook()
    assert one["language"] == "system"
    (local,) = page_blocks()[0]["repos"][0]["hooks"]
    assert local["id"] == one["id"] and local["args"] == one["args"]
    line = " ".join([one["entry"], *one["args"]])
    code, out, err = shell(f"{line} manifests/good.yaml manifests/other.yaml")
    assert (code, out) == (0, ""), err
    code, out, _ = shell(f"{line} manifests/good.yaml manifests/bad.yaml", wrong=True)
    assert code == 1 and out.startswith("manifests/bad.yaml:3: error: web: annotation ") and "got [fast]" in out
    assert shell(f"{line} manifests/other.yaml")[0] == 0, "files without Services are none of its business"


@pytest.mark.skipif(shutil.which("pre-commit") is None, reason="pre-commit is not installed")
def test_pre_commit_itself(shell):
    with open(shell.folder / ".pre-commit-config.yaml", "w", encoding="utf-8") as file:
        yaml.safe_dump({"repos": [{"repo": "local", "hooks": [hook()]}]}, file)
    assert shell("git init -q . && git add -A && pre-commit run --all-files")[0] == 0
    code, out, _ = shell("git add -A && pre-commit run --all-files", wrong=True)
    assert code == 1 and "got [fast]" in out


def test_workflow(shell):
    """Each line of the workflow of the page."""
    steps = [step for step in page_blocks()[1]["jobs"]["lint"]["steps"] if "run" in step]
    lines = {step["name"]: step["run"] for step in steps}
    beside, scanning = lines["findings beside the lines"], lines["findings for code scanning"]
    assert shell(beside)[:2] == (0, "")
    code, out, _ = shell(beside, wrong=True)
    assert code == 1 and out.startswith("::error file=manifests/bad.yaml,line=3")
    for wrong in (False, True):
        assert shell(scanning, wrong=wrong)[0] == 0, "an upload comes behind it"
        with open(shell.folder / "ccmd.sarif", encoding="utf-8") as file:
            assert len(json.load(file)["runs"][0]["results"]) == (1 if wrong else 0)


def render(*pieces):
    """The base with pieces of an overlay, by kind and name."""
    kubectl = os.environ.get("KUBECTL", "kubectl")
    folder = os.path.join(ROOT, "build")
    os.makedirs(folder, exist_ok=True)
    overlay = os.path.join(folder, f"overlay-{os.getpid()}")
    os.makedirs(overlay)
    try:
        with open(os.path.join(overlay, "kustomization.yaml"), "w", encoding="utf-8") as file:
            yaml.safe_dump({"resources": ["../../etc/kubernetes/base"], **{name: one for piece in pieces for name, one in piece.items()}}, file)
        code, out, err = proc.run([kubectl, "kustomize", overlay])
        assert code == 0, err
    finally:
        shutil.rmtree(overlay)
    return {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(out)}


@pytest.fixture(scope="module")
def rendered():
    return render(page_blocks()[2])


def test_component(rendered):
    """Names, ports and paths that have to be the same in several places; and nobody is stopped by it."""
    conf = rendered["ValidatingWebhookConfiguration", "ccmd"]
    (hook_,) = conf["webhooks"]
    assert hook_["failurePolicy"] == "Ignore" and hook_["sideEffects"] == "None" and hook_["timeoutSeconds"] <= 5
    assert hook_["admissionReviewVersions"] == ["v1"]
    assert hook_["rules"] == [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["services"], "operations": ["CREATE", "UPDATE"], "scope": "Namespaced"}]
    where = hook_["clientConfig"]["service"]
    assert (where["name"], where["namespace"], where["path"]) == ("ccmd-webhook", "kube-system", "/lint")
    service = rendered["Service", "ccmd-webhook"]
    deployment = rendered["Deployment", "ccmd-webhook"]
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"] == deployment["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["ports"][0]["targetPort"] == container["ports"][0]["name"]
    assert container["image"] == rendered["Deployment", "ccmd"]["spec"]["template"]["spec"]["containers"][0]["image"]
    assert pod["automountServiceAccountToken"] is False and "serviceAccountName" not in pod
    (maps,) = [name for kind, name in rendered if kind == "ConfigMap"]
    assert pod["volumes"][0]["configMap"]["name"] == maps
    certificate = rendered["Certificate", "ccmd-webhook"]
    assert pod["volumes"][1]["secret"]["secretName"] == certificate["spec"]["secretName"]
    assert f"{where['name']}.{where['namespace']}.svc" in certificate["spec"]["dnsNames"]
    assert conf["metadata"]["annotations"]["cert-manager.io/inject-ca-from"] == "kube-system/ccmd-webhook"


def test_network_policy(rendered):
    """One port in, nothing out: the port of the container, of the pods of the Deployment."""
    policy = rendered["NetworkPolicy", "ccmd-webhook"]
    pods = rendered["Deployment", "ccmd-webhook"]["spec"]["template"]
    assert policy["metadata"]["namespace"] == "kube-system"
    assert policy["spec"] == {"podSelector": {"matchLabels": pods["metadata"]["labels"]}, "policyTypes": ["Ingress", "Egress"],
                              "ingress": [{"ports": [{"protocol": "TCP", "port": pods["spec"]["containers"][0]["ports"][0]["name"]}]}]}


def test_network_policy_with_addresses(rendered):
    """The patch of the page adds addresses, and nothing else."""
    policy = render(page_blocks()[2], page_blocks()[3])["NetworkPolicy", "ccmd-webhook"]
    assert policy["spec"]["ingress"][0].pop("from") == [{"ipBlock": {"cidr": "192.168.0.11/32"}}, {"ipBlock": {"cidr": "192.168.0.12/32"}}]
    assert policy == rendered["NetworkPolicy", "ccmd-webhook"]


def test_client_certificate_of_the_api_server(rendered):
    """Names that an API server compares: the user of the kubeconfig is the host of the webhook."""
    kubeconfig, admission = page_blocks()[4:6]
    where = rendered["ValidatingWebhookConfiguration", "ccmd"]["webhooks"][0]["clientConfig"]["service"]
    (user,) = kubeconfig["users"]
    assert user["name"] == f"{where['name']}.{where['namespace']}.svc" and where.get("port", 443) == 443
    assert set(user["user"]) == {"client-certificate", "client-key"}
    (plugin,) = admission["plugins"]
    assert plugin["name"] == "ValidatingAdmissionWebhook" and plugin["configuration"]["kind"] == "WebhookAdmissionConfiguration"
    assert admission["apiVersion"] == plugin["configuration"]["apiVersion"] == "apiserver.config.k8s.io/v1"
    assert plugin["configuration"]["kubeConfigFile"].startswith("/etc/kubernetes/webhook/")


def test_component_and_options(rendered, build):
    """Port and files of the pod are the defaults of the options."""
    container = rendered["Deployment", "ccmd-webhook"]["spec"]["template"]["spec"]["containers"][0]
    with open(os.path.join(ROOT, "docs", "configuration.md"), encoding="utf-8") as file:
        page = file.read()
    assert f"`0.0.0.0:{container['ports'][0]['containerPort']}`" in page
    folder = container["volumeMounts"][1]["mountPath"]
    assert f"`{folder}/tls.crt`" in page and f"`{folder}/tls.key`" in page
    assert proc.run([os.path.join(build, "bin", "ccmd"), container["args"][0], "--help"])[0] == 0


def test_certificate_without_cert_manager(tmp_path):
    """The script, with a kubectl that keeps what it is given: the Secret goes with the CA that the API server is told, and with its name."""
    fake = tmp_path / "kubectl"
    fake.write_text('#!/bin/bash\necho "$*" >>"$KEPT/calls"\nwhile [ $# -gt 0 ]; do case $1 in --cert) cp "$2" "$KEPT/tls.crt";; --key) cp "$2" "$KEPT/tls.key";;\n'
                    '-p) echo "$2" >"$KEPT/patch";; esac; shift; done\n')
    fake.chmod(0o755)
    script = os.path.join(ROOT, "etc/kubernetes/components/webhook/certificate.sh")
    code, out, err = proc.run([script, "30"], env={"KUBECTL": str(fake), "KEPT": str(tmp_path)})
    assert code == 0, err
    (patch,) = json.loads((tmp_path / "patch").read_text())
    assert patch["path"] == "/webhooks/0/clientConfig/caBundle"
    (tmp_path / "ca.b64").write_text(patch["value"])
    code, out, err = proc.run(["bash", "-ec", f"cd {tmp_path}; base64 -d <ca.b64 >ca.crt; openssl verify -CAfile ca.crt -verify_hostname "
                               "ccmd-webhook.kube-system.svc tls.crt; openssl x509 -in tls.crt -noout -checkend 2500000"])
    assert code == 0 and "tls.crt: OK" in out, (out, err)
    calls = (tmp_path / "calls").read_text()
    assert "create secret tls ccmd-webhook --namespace kube-system" in calls and "patch validatingwebhookconfiguration ccmd" in calls
