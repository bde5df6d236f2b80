"""`ccmd convert-config`: what an operator of cloud-provider-alibaba-cloud gets out of the files there are."""

import base64
import json
import os
import stat
import subprocess

import pytest

MANIFEST = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: cloud-controller-manager}
spec:
  template:
    spec:
      containers:
      - command: [/cloud-controller-manager, --cloud-config=/etc/kubernetes/config/cloud-config.conf]
        args:
        - --configure-cloud-routes=true
        - --cluster-cidr=172.20.0.0/16
        - --route-reconciliation-period
        - 3m
        - --controllers=node,route,service,nlb
        - --network=public
"""


def b64(text):
    return base64.b64encode(text.encode()).decode()


CLOUD = {
    "accessKeyID": b64("LTAI-key"), "accessKeySecret": b64("secret-of-the-key"), "clusterID": "c-1",
    "region": "cn-hangzhou", "vpcid": "vpc-1", "vswitchid": "cn-hangzhou-h:vsw-1,cn-hangzhou-g:vsw-2",
    "routeTableIDs": " vtb-1, ,vtb-2 ", "serviceBackendType": "eni", "disablePublicSLB": True,
    "featureGates": "FilterServiceOnNodeChange=true,IPv6DualStack=false", "resourceGroupID": " rg-1\t",
}


def convert(build, *args):
    return subprocess.run([os.path.join(build, "bin", "ccmd"), "convert-config", *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60, check=False)


@pytest.fixture
def files(tmp_path):
    cloud, manifest = tmp_path / "cloud-config.conf", tmp_path / "ccm.yaml"
    cloud.write_text(json.dumps({"Global": CLOUD}))
    manifest.write_text(MANIFEST)
    return str(cloud), str(manifest)


def test_everything_that_has_a_counterpart(build, files, tmp_path):
    done = convert(build, *files)
    assert done.returncode == 0, done.stderr
    for line in ('cluster_id = "c-1";', 'region = "cn-hangzhou";', 'vpc_id = "vpc-1";', 'resource_group_id = "rg-1";',
                 'vswitch_ids = [ "cn-hangzhou-h:vsw-1", "cn-hangzhou-g:vsw-2" ];', 'network = "public";',
                 'table_ids = [ "vtb-1", "vtb-2" ];', 'cluster_cidr = "172.20.0.0/16";', "period_s = 180;",
                 'name = "clb"; reuse = "on"; default_backend_type = "eni"; disable_public_slb = true;',
                 'name = "nlb"; reuse = "on"; default_backend_type = "eni";'):
        assert line in done.stdout, line
    assert 'name = "node";\n      network_condition = true;' in done.stdout
    assert "node is not part" not in done.stderr


def test_result_is_accepted(build, files, tmp_path):
    path = tmp_path / "ccmd.conf"
    plugins = os.path.join(build, "plugins")
    keys = tmp_path / "credentials.json"  # whose place the operator knows
    keys.write_text(json.dumps({"access_key_id": "id", "access_key_secret": "secret"}))
    keys.chmod(0o600)
    path.write_text(f'plugin_dir = "{plugins}";\n' + convert(build, *files).stdout.replace("/etc/ccmd/credentials.json", str(keys)))
    done = subprocess.run([os.path.join(build, "bin", "ccmd"), "check-config", "--config", str(path)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False,
                          env={**os.environ, "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "1"})
    assert done.returncode == 0, done.stdout


def test_every_gate_is_accepted(build, tmp_path):
    gates = "FilterServiceOnNodeChange=true,LoadBalancerTypeAnnotation=true,EndpointSlice=true"
    cloud = tmp_path / "cloud.conf"
    cloud.write_text(json.dumps({"Global": {"clusterID": "c", "featureGates": gates}}))
    text = convert(build, str(cloud), "--", "--configure-cloud-routes=false").stdout
    assert "route" not in text
    test_result_is_accepted(build, (str(cloud), "--", "--configure-cloud-routes=false"), tmp_path)


def test_key_pair_goes_to_its_file_only(build, files, tmp_path):
    path = tmp_path / "credentials.json"
    plain = convert(build, *files)
    assert "key pair is not copied" in plain.stderr
    done = convert(build, *files, "--", f"--credentials={path}")
    assert done.returncode == 0, done.stderr
    for text in (plain.stdout, plain.stderr, done.stdout, done.stderr):
        assert "secret-of-the-key" not in text and b64("secret-of-the-key") not in text
    assert json.loads(path.read_text()) == {"access_key_id": "LTAI-key", "access_key_secret": "secret-of-the-key"}
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    again = convert(build, *files, "--", f"--credentials={path}")
    assert again.returncode == 1 and "File exists" in again.stderr


@pytest.mark.parametrize("text, words", [
    ("", "neither YAML nor JSON"),
    ("Global: [1]", "no group Global"),
    ("a: b", "no group Global"),
    ('{"Global": {"accessKeyID": "***"', "neither YAML nor JSON"),
])
def test_bad_files_are_named(build, tmp_path, text, words):
    path = tmp_path / "cloud.conf"
    path.write_text(text)
    done = convert(build, str(path))
    assert (done.returncode, done.stdout) == (1, "")
    assert words in done.stderr and str(path) in done.stderr


def test_keys_are_found_in_any_case_and_strange_ones_are_told(build, tmp_path):
    path = tmp_path / "cloud.conf"
    path.write_text('Global:\n  CLUSTERID: "c\\"1"\n  KubernetesClusterTag: other\n  nonsense: 5\n  region: cn-x\n')
    done = convert(build, str(path))
    assert 'cluster_id = "c\\"1";' in done.stdout
    for words in ("nonsense: is not known", "kubernetesClusterTag: the tag is always", "region: the reference ignored"):
        assert words in done.stderr


FLAGS = [  # of the reference, as manifests have them: what becomes of each, or what is said about it
    ("--kubeconfig=/etc/k", 'kubeconfig = "/etc/k";', ""),
    ("--leader-elect=false", "enabled = false;", ""),
    ("--leader-elect-resource-namespace=other", 'namespace = "other";', ""),
    ("--leader-elect-resource-name=ccm-2", 'name = "ccm-2";', ""),
    ("--leader-elect-lease-duration=1m30s", "lease_duration_s = 90;", ""),
    ("--leader-elect-renew-deadline=12s", None, "--leader-elect-renew-deadline: it is two thirds of"),
    ("--leader-elect-retry-period=3s", None, "--leader-elect-retry-period: it is two fifteenths of"),
    ("--leader-elect-lease-duration=soon", None, "--leader-elect-lease-duration: is no duration"),
    ("--v=5", 'level = "debug";', ""),
    ("--network=public", 'network = "public";', ""),
    ("--route-reconciliation-period=1h", "period_s = 3600;", ""),
    ("--metrics-bind-addr=:8080", None, "--metrics-bind-addr: metrics are served by admin.listen"),
    ("--health-probe-bind-addr=10.0.0.1:10258", None, "--health-probe-bind-addr: "),
    ("--concurrent-service-syncs=5", None, "--concurrent-service-syncs: workers are an option of each plugin"),
    ("--max-throttling-retry-times=3", None, "--max-throttling-retry-times: throttled calls are retried"),
    ("--kube-api-qps=50", None, "--kube-api-qps: there is no limit on this side"),
    ("--dry-run=true", None, "--dry-run: use `ccmd plan`"),
    ("--enable-imdsv2=false", None, "--enable-imdsv2: session tokens are used"),
    ("--skip-disable-source-dest-check=true", "disable_source_dest_check = false;", ""),
    ("--node-reconcile-batch-size=50", None, "--node-reconcile-batch-size: up to 100 nodes"),
    ("--controllers=node,route,service,nlb,ingress", None, "--controllers: ingress is not part of ccmd"),
    ("--controllers=node,route,service,nlb,pvtz", None, "--controllers: pvtz is not part of ccmd"),
    ("--address=0.0.0.0", None, "--address: is not known, and left out"),
    ("--feature-gates=ServiceNodeExclusion=true", None, "--feature-gates: is not known, and left out"),
    ("--master=https://k", None, "--master: is not known, and left out"),
    ("--v=2", None, "--v: below 5 is level info"),
    ("--sg-batch-size=20", None, "--sg-batch-size: up to 40 backends"),
    ("--cloud-provider=alibabacloud", None, "--cloud-provider: the plugins are"),
    ("--cluster-name=k", None, "--cluster-name: alicloud.cluster_id is"),
    ("--allocate-node-cidrs=true", None, "--allocate-node-cidrs: pod CIDRs come from"),
    ("--use-service-account-credentials=true", None, "--use-service-account-credentials: one identity"),
    ("--node-monitor-period=7m", "period_s = 420;", ""),
    ("--allow-untagged-cloud=true", None, "--allow-untagged-cloud: alicloud.cluster_id is required"),
    ("--cloud-config=/etc/c", None, "--cloud-config: the file is read"),
    ("--leader-elect-resource-lock=leases", None, "--leader-elect-resource-lock: the lock is a Lease"),
    ("--route-reconcile-batch-size=20", None, "--route-reconcile-batch-size: up to 50 routes"),
    ("--max-concurrent-actions=5", None, "--max-concurrent-actions: workers"),
    ("--kube-api-burst=50", None, "--kube-api-burst: there is no limit"),
    ("--node-event-aggregation-wait-seconds=3", None, "--node-event-aggregation-wait-seconds: node events"),
    ("--pprof-bind-addr=:6060", None, "--pprof-bind-addr: there is no profiling server"),
]


@pytest.mark.parametrize("flag, line, words", FLAGS, ids=[flag for flag, _, _ in FLAGS])
def test_each_flag(build, tmp_path, flag, line, words):
    """Each is carried over, or left out with the reason."""
    cloud = tmp_path / "cloud.conf"
    cloud.write_text(json.dumps({"Global": {"clusterID": "c"}}))
    rest = ("--controllers=node,route,service,nlb", "--cluster-cidr=172.20.0.0/16")
    plain, done = convert(build, str(cloud), "--", *rest), convert(build, str(cloud), "--", *rest, flag)
    assert (plain.returncode, plain.stderr, done.returncode) == (0, "", 0)
    assert done.stdout == plain.stdout if line is None else line in done.stdout and line not in plain.stdout
    assert done.stderr.startswith(words) and done.stderr.count("\n") == 1 if words else done.stderr == ""


