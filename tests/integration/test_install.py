"""What `make install`, `make deb`, `make image` and the manifests put into the world."""

import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess

import pytest
import yaml

from tests.support import kubelet, kustomize, objects, pages, proc, schema
from tests.support.kubesim import EVENTS, SERVICES, KubeSim
from tests.support.world import wait

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BASE = os.path.join(ROOT, "etc", "kubernetes", "base")
CHART = os.path.join(ROOT, "etc", "helm", "ccmd")
with open(os.path.join(CHART, "values.schema.json"), encoding="utf-8") as schema_file:
    CHART_SCHEMA = json.load(schema_file)
PLUGINS = ["clb.so", "nlb.so", "route.so"]
TOOLS = ["check-config", "completion", "convert-config", "explain", "help", "lint", "plan", "plugins", "webhook"]


def run(*argv, **options):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300 * proc.SLOW, check=False,
                          cwd=ROOT, **options)
    assert done.returncode == 0, f"{argv}: {done.stdout[-4000:]}"
    return done.stdout


def test_installed_program_finds_its_plugins(prefix):
    for name in PLUGINS:
        told = run(os.path.join(prefix, "bin", "ccmd"), "plugins", os.path.join(prefix, "lib/ccmd/plugins", name))
        assert told.startswith(name.removesuffix(".so") + " ")


def test_installed_program_finds_its_tools(prefix, tmp_path):
    ccmd, folder = os.path.join(prefix, "bin", "ccmd"), os.path.join(prefix, "lib/ccmd")
    assert {name for name in os.listdir(folder) if name.startswith("ccmd-")} == {f"ccmd-{name}" for name in ("tools", *TOOLS)}
    for name in TOOLS:
        assert run(ccmd, name, "--help") == run(ccmd, "help", name) == run(os.path.join(folder, f"ccmd-{name}"), "--help")
    (tmp_path / "cloud-config.conf").write_text('{"Global": {"region": "cn-a", "clusterID": "c1"}}')
    assert 'cluster_id = "c1"' in run(os.path.join(prefix, "bin", "ccmd"), "convert-config", str(tmp_path / "cloud-config.conf"))


def test_template_builds_against_the_installed_sdk(prefix, tmp_path):
    shutil.copytree(os.path.join(prefix, "share/doc/ccmd-dev/template"), tmp_path / "template")
    run("cmake", "-S", str(tmp_path / "template"), "-B", str(tmp_path / "build"), f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", str(tmp_path / "build"))
    made = [name for name in os.listdir(tmp_path / "build") if name.endswith(".so")]
    assert len(made) == 1
    assert run(os.path.join(prefix, "bin", "ccmd"), "plugins", str(tmp_path / "build" / made[0]))


def test_installed_references_are_there(prefix):
    for path in ("share/doc/ccmd/examples/helm/ccmd/templates/NOTES.txt", "share/doc/ccmd/examples/helm/ccmd/values.schema.json",
                 "share/doc/ccmd/examples/helm/ccmd/files/ccmd.json", "share/doc/ccmd/examples/prometheus/ccmd-rules.yaml",
                 "share/doc/ccmd/examples/kubernetes/components/clb/plugin-clb.conf", "share/doc/ccmd/examples/kubernetes/no-plugins/ccmd.conf",
                 "share/doc/ccmd/examples/kubernetes/components/webhook/certificate.sh",
                 "share/doc/ccmd/examples/kubernetes/components/monitoring/podmonitor.yaml", "share/man/man8/ccmd.8", "share/man/man5/ccmd.conf.5", "share/doc/ccmd/configuration.md",
                 "share/bash-completion/completions/ccmd", "share/doc/ccmd/examples/kubernetes/base/deployment.yaml"):
        assert os.path.exists(os.path.join(prefix, path)), path


def test_installed_pages_lead_somewhere(prefix):
    """Links, and the files that belong to a page: each is where the page says, also without the tree they come from."""
    doc = os.path.join(prefix, "share", "doc")
    found = sorted(os.path.join(folder, name) for folder, _, names in os.walk(doc) for name in names if name.endswith(".md"))
    names = [os.path.relpath(path, doc) for path in found]
    for name in ("ccmd/operations.md", "ccmd/runbook.md", "ccmd/CHANGELOG.md", "ccmd-dev/plugin-guide.md", "ccmd/examples/helm/ccmd/README.md"):
        assert name in names
    links = 0
    for path in found:
        text = re.sub(r"^```.*?^```$", "", open(path, encoding="utf-8").read(), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            there = os.path.normpath(os.path.join(os.path.dirname(path), target))
            assert os.path.exists(there) and there.startswith(prefix), f"{os.path.relpath(path, doc)}: {target}"
            links += 1
    assert links > 20


def test_a_copied_tree_is_configured_anew(tmp_path):
    """What CMake has remembered are paths of where the tree was; `make` in the copy neither fails nor works on the original."""
    shutil.copytree(os.path.join(ROOT, "scripts"), tmp_path / "scripts")
    shutil.copy(os.path.join(ROOT, "Makefile"), tmp_path)
    build = tmp_path / "build" / "release"
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "cmake").write_text('#!/bin/sh\necho "$(ls build/release | tr "\\n" " ")cmake $*" >>called\n')
    (tools / "cmake").chmod(0o755)

    def make(home):
        (build / "CMakeFiles").mkdir(parents=True, exist_ok=True)
        (build / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={home}\n")
        subprocess.run(["make", "-C", str(tmp_path), "--no-print-directory", "build"], check=True, timeout=120, stdout=subprocess.PIPE,
                       env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
        called = (tmp_path / "called").read_text().splitlines()
        (tmp_path / "called").unlink()
        return called[0]

    assert make("/elsewhere/ccmd") == "cmake --preset release"
    assert make(tmp_path) == "CMakeCache.txt CMakeFiles cmake --preset release"


def unit(setting):
    return [shlex.split(value) for value in re.findall(rf"^{setting}=(.*)$", open(
        os.path.join(ROOT, "etc/systemd/ccmd.service"), encoding="utf-8").read(), re.M)]


def test_unit_needs_no_program_but_a_shell(tmp_path):
    """Its commands run on the smallest of systems, and the one to reload reaches the process."""
    assert {command[0] for name in ("ExecStartPre", "ExecStart", "ExecReload") for command in unit(name)} == {"/usr/bin/ccmd", "/bin/sh"}
    process = subprocess.Popen(["sleep", "60"])
    try:
        subprocess.run(unit("ExecReload")[0], env={"PATH": str(tmp_path), "MAINPID": str(process.pid)}, timeout=60, check=True)
        assert process.wait(60) == -signal.SIGHUP
    finally:
        process.kill()
        process.wait()


def test_shells_find_the_completions(prefix):
    for name, line in (("bash-completion/completions/ccmd", "complete -F _ccmd ccmd"), ("zsh/vendor-completions/_ccmd", "#compdef ccmd"),
                       ("fish/vendor_completions.d/ccmd.fish", "complete -c ccmd -f")):
        assert line in open(os.path.join(prefix, "share", name), encoding="utf-8").read().splitlines(), name


# --- manifests ---


def shipped(mark):
    (block,) = [block for block in pages.blocks("plugin-shipping.md") if block.mark == mark]
    return block.text


def documents(text):
    return {(d["kind"], d["metadata"]["name"]): d for d in yaml.safe_load_all(text) if d}


@pytest.fixture(scope="module")
def base():
    return documents(run(os.environ.get("KUBECTL", "kubectl"), "kustomize", BASE))


def container(found):
    deployment = found[("Deployment", "ccmd")]["spec"]["template"]["spec"]
    return deployment, deployment["containers"][0]


def test_pod_has_no_more_rights_than_it_needs(base):
    pod, main = container(base)
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert main["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                       "capabilities": {"drop": ["ALL"]}}
    assert base[("Deployment", "ccmd")]["spec"]["replicas"] == 2
    assert base[("PodDisruptionBudget", "ccmd")]["spec"]["maxUnavailable"] == 1


def test_pods_run_where_a_cloud_controller_has_to(base):
    """On nodes that nobody has initialised yet, without a network for pods, on different machines and zones."""
    pod, _ = container(base)
    assert pod["hostNetwork"] is True and pod["priorityClassName"] == "system-cluster-critical"
    tolerated = {one["key"] for one in pod["tolerations"] if one["operator"] == "Exists"}
    assert tolerated >= {"node.cloudprovider.kubernetes.io/uninitialized", "node.kubernetes.io/network-unavailable",
                         "node.kubernetes.io/not-ready", "node-role.kubernetes.io/control-plane"}
    apart = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]
    assert apart["topologyKey"] == "kubernetes.io/hostname"
    assert pod["topologySpreadConstraints"][0]["topologyKey"] == "topology.kubernetes.io/zone"
    labels = base[("Deployment", "ccmd")]["spec"]["template"]["metadata"]["labels"]
    assert apart["labelSelector"] == pod["topologySpreadConstraints"][0]["labelSelector"] == {"matchLabels": labels}


CLASSES = {"ServiceAccount": "V1ServiceAccount", "ConfigMap": "V1ConfigMap", "ClusterRole": "V1ClusterRole", "Role": "V1Role",
           "ClusterRoleBinding": "V1ClusterRoleBinding", "RoleBinding": "V1RoleBinding", "Deployment": "V1Deployment",
           "PodDisruptionBudget": "V1PodDisruptionBudget"}


def check_fields(documents):
    """Each document holds only what the API knows, by the models of the official client: an unknown field would be lost."""
    client = pytest.importorskip("kubernetes").client
    for (kind, name), document in documents.items():
        class Answer:
            data = json.dumps(document)
        api = client.ApiClient()
        assert api.sanitize_for_serialization(api.deserialize(Answer, CLASSES[kind])) == document, f"{kind} {name}"


def test_manifests_have_fields_of_the_api_only(base):
    check_fields(base)


def test_rules_name_no_star_and_no_secret(base):
    for kind in (("ClusterRole", "ccmd"), ("Role", "ccmd-leader-election")):
        for rule in base[kind]["rules"]:
            assert "*" not in rule["verbs"] + rule["resources"] + rule["apiGroups"]
            assert "secrets" not in rule["resources"]


@pytest.mark.parametrize("file, routes", [
    ("etc/kubernetes/base/ccmd.conf", False), ("etc/kubernetes/base/ccmd.conf", True), ("etc/ccmd.conf", False),
    ("etc/ccmd.conf", True), ("etc/ccmd-hardened.conf", False)])
def test_configuration_is_accepted(prefix, tmp_path, file, routes):
    """All but the cluster_id, which nobody can know; with and without what it shows in a comment."""
    text = open(os.path.join(ROOT, file), encoding="utf-8").read()
    path = tmp_path / "ccmd.conf"
    check = [os.path.join(prefix, "bin", "ccmd"), "check-config", "--config", str(path)]
    path.write_text(text)
    told = subprocess.run(check, stderr=subprocess.PIPE, text=True, timeout=60, check=False).stderr
    assert [line.split(": ")[1:] for line in told.splitlines()] == [["option 'alicloud.cluster_id' may not be empty"]]
    text = text.replace('cluster_id = ""', 'cluster_id = "c-test"')
    if routes:  # the comment at the end of the list of plugins
        before, entry = text.split("# , {")
        text = before + ", {" + re.sub(r"^ *# ", "", entry, flags=re.M)
    path.write_text(text)
    named = re.findall(r'^[^#\n]*\{ name = "(\w+)"', text.split("plugins = (")[1], re.M)
    assert {"clb", "nlb"} <= set(named) and ("route" in named) == routes
    assert run(*check).endswith(f"plugins: {len(named)}\n")


@pytest.mark.parametrize("file", [
    "etc/kubernetes/base/ccmd.conf", "etc/ccmd.conf", "etc/ccmd-hardened.conf", "etc/kubernetes/components/clb/plugin-clb.conf",
    "etc/kubernetes/components/nlb/plugin-nlb.conf", "docs/new-cluster.md"])
def test_a_new_cluster_has_reuse_tagged(file):
    """What another cluster gets is in test_convert.py and test_migration.py. The chart is compared with the base."""
    text = open(os.path.join(ROOT, file), encoding="utf-8").read()
    entries = re.findall(r'\{ name = "(?:clb|nlb)";\s*(\S+ = [^;]*;)?', text)
    assert entries and set(entries) == {'reuse = "tagged";'}


def test_probes_ask_where_the_configuration_listens(base):
    _, main = container(base)
    text = next(d for (kind, _), d in base.items() if kind == "ConfigMap")["data"]["ccmd.conf"]
    asked = {(main[p]["httpGet"]["path"], f'{main[p]["httpGet"]["host"]}:{main[p]["httpGet"]["port"]}')
             for p in ("startupProbe", "livenessProbe", "readinessProbe")}
    listens = re.search(r'listen = "(.*)";', text).group(1)
    assert asked == {("/livez", listens), ("/readyz", listens)}
    assert base[("Deployment", "ccmd")]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] > 25 + 10


def test_the_overlay_of_the_manual(base, tmp_path):
    """docs/install.md: a folder of one's own beside the base."""
    if proc.kubectl_minor() < 21:
        pytest.skip("this kubectl knows no folders among resources")
    overlay, secret = [block.text for block in pages.blocks("install.md") if block.language == "yaml"][:2]
    (tmp_path / "kustomization.yaml").write_text(overlay)
    (tmp_path / "ccmd.conf").write_text("# mine\n")
    shutil.copytree(BASE, tmp_path / "base")
    found = documents(run(os.environ.get("KUBECTL", "kubectl"), "kustomize", str(tmp_path)))
    assert [kind for kind, _ in found] == [kind for kind, _ in base]
    assert container(found)[1]["image"] == "registry.example.com/ccmd:0.1.0"
    config = next(d for (kind, _), d in found.items() if kind == "ConfigMap")
    assert config["data"] == {"ccmd.conf": "# mine\n"}
    assert container(found)[0]["volumes"][0]["configMap"]["name"] == config["metadata"]["name"]
    (tmp_path / "kustomization.yaml").write_text(overlay + secret)
    pod, main = container(documents(run(os.environ.get("KUBECTL", "kubectl"), "kustomize", str(tmp_path))))
    volumes = {one["name"]: one for one in pod["volumes"]}
    assert volumes["credentials"]["secret"] == {"secretName": "ccmd-credentials", "defaultMode": 0o440} and "config" in volumes
    assert {m["name"]: m["mountPath"] for m in main["volumeMounts"]} == {
        "config": "/etc/ccmd", "credentials": "/etc/ccmd-credentials"}


def test_each_manifest_has_the_same_labels(base):
    for document in base.values():
        assert document["metadata"]["labels"] == {
            "app.kubernetes.io/name": "ccmd", "app.kubernetes.io/component": "cloud-controller-manager"}


@pytest.fixture(scope="module")
def helm(tmp_path_factory):
    """Renders the chart with the engine and the function library that Helm is made of."""
    if shutil.which("go") is None or not os.path.isdir("/usr/share/gocode/src/github.com/Masterminds/sprig"):
        pytest.skip("no Go compiler with the sprig library: make check installs them")
    folder = tmp_path_factory.mktemp("helm")
    renderer = str(folder / "helm")
    run("go", "build", "-o", renderer, os.path.join(ROOT, "tests/install/helm.go"),
        env={**os.environ, "GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": str(folder / "cache")})

    def render(namespace="kube-system", **values):
        path = folder / "values.yaml"
        if "config" not in values:
            values.setdefault("clusterId", "c-test")
        assert schema.find_problems(CHART_SCHEMA, values) == []
        path.write_text(yaml.safe_dump(values))
        return documents(run(renderer, CHART, namespace, str(path)))

    def notes(**values):
        path = folder / "values.yaml"
        path.write_text(yaml.safe_dump({**({} if "config" in values else {"clusterId": "c-test"}), **values}))
        return run(renderer, CHART, "kube-system", str(path), "NOTES.txt")

    render.notes = notes
    return render


def test_chart_takes_values(helm):
    chart = helm("cloud", replicas=3, credentialsSecret="key", leaseName="other", config="alicloud: { };\n", nodeSelector=None,
                 adminHost="10.0.0.1", adminPort=9443, adminScheme="HTTPS", serviceAccount={"annotations": {"a.example.com/role": "r"}},
                 tolerations=[{"key": "mine", "operator": "Exists"}], podLabels={"team": "net"},
                 image={"repository": "registry/ccmd", "tag": "7"}, env=[{"name": "A", "value": "b"}],
                 extraVolumes=[{"name": "tls", "secret": {"secretName": "tls"}}],
                 extraVolumeMounts=[{"name": "tls", "mountPath": "/etc/ccmd-tls", "readOnly": True}])
    pod, main = container(chart)
    assert chart[("Deployment", "ccmd")]["metadata"]["namespace"] == "cloud"
    assert chart[("Deployment", "ccmd")]["spec"]["replicas"] == 3
    assert main["image"] == "registry/ccmd:7" and main["env"] == [{"name": "A", "value": "b"}]
    assert [v["name"] for v in pod["volumes"]] == [m["name"] for m in main["volumeMounts"]] == [
        "config", "credentials", "tls"]
    assert chart[("ConfigMap", "ccmd")]["data"]["ccmd.conf"] == "alicloud: { };\n"
    assert [main[probe]["httpGet"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")] == [
        {"scheme": "HTTPS", "host": "10.0.0.1", "port": 9443, "path": path} for path in ("/livez", "/livez", "/readyz")]
    assert chart[("ServiceAccount", "ccmd")]["metadata"]["annotations"] == {"a.example.com/role": "r"}
    assert "nodeSelector" not in pod and pod["tolerations"][-1] == {"key": "mine", "operator": "Exists"}
    assert chart[("Deployment", "ccmd")]["spec"]["template"]["metadata"]["labels"] == {"app": "ccmd", "team": "net"}
    check_fields(chart)
    role = chart[("Role", "ccmd-leader-election")]  # where the lease is, for an account of where the pods are
    assert role["metadata"]["namespace"] == "kube-system" and role["rules"][1]["resourceNames"] == ["other"]
    assert chart[("RoleBinding", "ccmd-leader-election")]["subjects"][0]["namespace"] == "cloud"


def test_chart_takes_init_containers(helm):
    pod, _ = container(helm(initContainers=[{"name": "first", "image": "a"}], extraPlugins=[{"name": "b", "image": "c"}]))
    assert [one["name"] for one in pod["initContainers"]] == ["first", "plugin-b"]
    assert pod["initContainers"][1]["args"] == ["/b.so", "b.so"]
    assert "initContainers" not in container(helm())[0]
    for wrong, told in (({"image": "c"}, "lacks its name"), ({"name": "b"}, "b lacks its image")):
        with pytest.raises(AssertionError, match=told):
            helm(extraPlugins=[wrong])


def settings_of(text):
    """What a configuration says: groups, lists and values of libconfig as Python has them."""
    words = re.findall(r'"(?:[^"\\]|\\.)*"|[\w.-]+|[{}()\[\];:=,]', re.sub(r'#.*$', "", text, flags=re.M))

    def group(end):
        found = {}
        while words and words[0] != end:
            name = words.pop(0)
            assert words.pop(0) in ":=", name
            found[name] = value()
            if words and words[0] == ";":
                words.pop(0)
        return found

    def value():
        word = words.pop(0)
        if word == "{":
            found = group("}")
            words.pop(0)
            return found
        if word in "[(":
            found = []
            while words[0] not in "])":
                found.append(value())
                if words[0] == ",":
                    words.pop(0)
            words.pop(0)
            return found
        return json.loads(word)

    return group(None)


def test_chart_writes_the_configuration(helm, prefix, tmp_path):
    """Single values become options: of the common ones, of plugins by their names, and any other by its group."""
    chart = helm(clusterId="c-1", region="cn-hangzhou", vpcId="vpc-1", vswitchIds=["vsw-1", "cn-hangzhou-b:vsw-2"], network="public",
                 logLevel="debug", logFormat="text", credentialsSecret="key", credentialsKey="ak.json", leaseName="other", adminPort=9443,
                 metrics={"port": 9444},
                 plugins={"clb": {"default_backend_type": "eni", "workers": 4, "allowed_ids": ["a:*:b"]}, "nlb": {"enabled": False},
                          "route": {"enabled": True, "cluster_cidr": "172.20.0.0/16", "account_quotas": "routes=1000000"}},
                 extraPlugins=[{"name": "hello", "image": "a", "options": {"greeting": 'say "hi"', "loud": True}}],
                 options={"alicloud": {"quotas": {"slb_write": 45}, "resource_group_id": "rg-1"}, "controller": {"timeout_s": 300},
                          "log": {"format": "json"}})
    text = chart[("ConfigMap", "ccmd")]["data"]["ccmd.conf"]
    assert settings_of(text) == {
        "kubernetes": {"kubeconfig": ""}, "leader_election": {"enabled": True, "namespace": "kube-system", "name": "other"},
        "admin": {"listen": "127.0.0.1:9443"}, "metrics": {"listen": "0.0.0.0:9444"}, "log": {"level": "debug", "format": "json"},
        "controller": {"timeout_s": 300},
        "alicloud": {"cluster_id": "c-1", "region": "cn-hangzhou", "vpc_id": "vpc-1", "vswitch_ids": ["vsw-1", "cn-hangzhou-b:vsw-2"],
                     "network": "public", "credentials": {"source": "file", "file": "/etc/ccmd-credentials/ak.json"},
                     "quotas": {"slb_write": 45}, "resource_group_id": "rg-1"},
        "plugins": [{"name": "clb", "reuse": "tagged", "default_backend_type": "eni", "workers": 4, "allowed_ids": ["a:*:b"]}, {"name": "node"},
                    {"name": "route", "cluster_cidr": "172.20.0.0/16", "account_quotas": "routes=1000000"},
                    {"name": "hello", "file": "/usr/local/lib/ccmd/plugins/hello.so", "greeting": 'say "hi"', "loud": True}]}
    _, main = container(chart)
    assert main["livenessProbe"]["httpGet"]["port"] == 9443 and main["ports"] == [{"name": "metrics", "containerPort": 9444}]
    path = tmp_path / "ccmd.conf"
    path.write_text(helm(plugins={"route": {"enabled": True, "cluster_cidr": "172.20.0.0/16"}})[("ConfigMap", "ccmd")]["data"]["ccmd.conf"])
    assert run(os.path.join(prefix, "bin", "ccmd"), "check-config", "--config", str(path)).endswith("plugins: 4\n")


@pytest.mark.parametrize("values, told", [
    ({"clusterId": ""}, "clusterId is required: a unique id of this cluster"),
    ({"plugins": {"route": {"enabled": True}}}, "plugins.route.cluster_cidr is required"),
    ({"plugins": {name: {"enabled": False} for name in ("clb", "nlb", "node")}}, "plugins: all of them are switched off"),
    ({"config": "a = 1;", "clusterId": "c-1"}, "clusterId belongs into it"),
    ({"podMonitor": {"enabled": True}, "metrics": {"enabled": False}}, "podMonitor.enabled needs metrics.enabled"),
    ({"serviceMonitor": {"enabled": True}, "metrics": {"enabled": False}}, "serviceMonitor.enabled needs metrics.enabled")])
def test_chart_refuses_what_cannot_work(helm, values, told):
    with pytest.raises(AssertionError, match=told):
        helm(**values)


@pytest.mark.parametrize("values, told", [
    ({"imge": {"tag": "7"}}, "imge: unknown"), ({"image": {"tga": "7"}}, "image.tga: unknown"), ({"replicas": "two"}, "replicas: no integer"),
    ({"clusterId": "c test/ü"}, "clusterId: "), ({"logLevel": "verbose"}, "logLevel: none of error, warn, info, debug"),
    ({"plugins": {"clb": {"wokers": 3}}}, "plugins.clb.wokers: unknown"), ({"plugins": {"clb": {"workers": 0}}}, "plugins.clb.workers: less than 1"),
    ({"plugins": {"route": {"enabled": "yes"}}}, "plugins.route.enabled: no boolean"), ({"plugins": {"rute": {}}}, "plugins.rute: unknown"),
    ({"options": {"alicloud": {"quotas": {"slb": 1}}}}, "options.alicloud.quotas.slb: unknown"),
    ({"extraPlugins": [{"nam": "a"}]}, "extraPlugins.0.nam: unknown"), ({"livenessProbe": {"httpGet": {}}}, "livenessProbe.httpGet: unknown"),
    ({"podMonitor": {"labels": {"a": 1}}}, "podMonitor.labels.a: no string"), ({"global": {"a": 1}, "clusterId": ""}, None)])
def test_the_schema_knows_the_values(values, told):
    problems = schema.find_problems(CHART_SCHEMA, values)
    assert (problems == []) if told is None else (len(problems) == 1 and problems[0].startswith(told)), problems


def test_the_schema_takes_what_the_chart_has():
    with open(os.path.join(CHART, "values.yaml"), encoding="utf-8") as file:
        values = yaml.safe_load(file)
    assert schema.find_problems(CHART_SCHEMA, values) == [] and set(values) == set(CHART_SCHEMA["properties"]) - {"global"}


def test_chart_takes_the_rest_of_a_pod(helm):
    chart = helm(nameOverride="cloud", extraArgs=["--event", "a b"], envFrom=[{"secretRef": {"name": "env"}}], imagePullSecrets=[{"name": "pull"}],
                 image={"digest": "sha256:abc"}, affinity={"nodeAffinity": {}}, podDisruptionBudget={"enabled": False},
                 topologySpreadConstraints=[{"maxSkew": 2, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"}],
                 livenessProbe={"periodSeconds": 20}, metrics={"enabled": False}, extraRules=[
                     {"apiGroups": ["a.example.com"], "resources": ["things"], "verbs": ["get"]}])
    assert {name.removesuffix("-leader-election") for _, name in chart} == {"cloud"} and "PodDisruptionBudget" not in {kind for kind, _ in chart}
    deployment = chart[("Deployment", "cloud")]
    assert deployment["metadata"]["labels"] == {
        "app.kubernetes.io/name": "cloud", "app.kubernetes.io/component": "cloud-controller-manager", "app.kubernetes.io/instance": "ccmd",
        "app.kubernetes.io/version": "0.1.0", "app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "ccmd-0.1.0"}
    assert all(document["metadata"]["labels"] == deployment["metadata"]["labels"] for document in chart.values())
    pod = deployment["spec"]["template"]["spec"]
    main = pod["containers"][0]
    assert main["args"] == ["run", "--config", "/etc/ccmd", "--event", "a b"] and "ports" not in main
    assert main["envFrom"] == [{"secretRef": {"name": "env"}}] and main["image"] == "ccmd@sha256:abc"
    assert pod["imagePullSecrets"] == [{"name": "pull"}] and pod["affinity"] == {"nodeAffinity": {}}
    assert pod["topologySpreadConstraints"] == [{"maxSkew": 2, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"}]
    assert {name: value for name, value in main["livenessProbe"].items() if name != "httpGet"} == {
        "periodSeconds": 20, "timeoutSeconds": 5, "failureThreshold": 6}
    assert chart[("ClusterRole", "cloud")]["rules"][-1]["apiGroups"] == ["a.example.com"]
    assert "metrics" not in settings_of(chart[("ConfigMap", "cloud")]["data"]["ccmd.conf"])
    check_fields(chart)


def test_chart_uses_an_account_that_is_there(helm):
    chart = helm("cloud", serviceAccount={"create": False, "name": "mine"})
    assert ("ServiceAccount", "mine") not in chart and ("ServiceAccount", "ccmd") not in chart
    assert container(chart)[0]["serviceAccountName"] == "mine"
    for kind in (("ClusterRoleBinding", "ccmd"), ("RoleBinding", "ccmd-leader-election")):
        assert chart[kind]["subjects"] == [{"kind": "ServiceAccount", "name": "mine", "namespace": "cloud"}]
    named = helm(serviceAccount={"name": "mine"})
    assert named[("ServiceAccount", "mine")]["metadata"]["namespace"] == "kube-system" and container(named)[0]["serviceAccountName"] == "mine"
    kinds = {kind for kind, _ in helm(rbac={"create": False})}
    assert kinds & {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"} == set() and "ServiceAccount" in kinds


def test_chart_gives_plugin_gateway_its_rights(helm, base, tmp_path):
    """Those of the component, beside what is there anyway; also with a whole configuration that names the plugin; else none of them."""
    def rights(**values):
        return kustomize.rights(kustomize.rules(helm(**values)))

    wanted = kustomize.rights(kustomize.rules(base)) | kustomize.rights(kustomize.rules(kustomize.choose(tmp_path / "gateway", ["gateway"])))
    assert rights(plugins={"gateway": {"enabled": True}}) == wanted
    for entry in ('name = "gateway"', 'file = "/opt/gateway.so"', 'name = "second"; file = "gateway.so"'):
        assert rights(config=f"plugins = ( {{ {entry}; }} );") == wanted
    for values in ({}, {"config": 'plugins = ( { name = "my-gateway"; } );'}):
        assert rights(**values) == kustomize.rights(kustomize.rules(base))
    text = helm(plugins={"gateway": {"enabled": True, "workers": 2}})[("ConfigMap", "ccmd")]["data"]["ccmd.conf"]
    assert settings_of(text)["plugins"][-1] == {"name": "gateway", "workers": 2}


def test_chart_brings_monitoring(helm):
    """Alerts and dashboard are those of the tree; in the name of the release, so that two of them do not mix."""
    plain = helm()
    on = {name: {"enabled": True, "labels": {"release": "prom"}} for name in ("podMonitor", "serviceMonitor", "prometheusRule", "dashboard")}
    chart = helm("cloud", fullnameOverride="second", **on)
    assert {(kind, name) for kind, name in chart if kind not in {one for one, _ in plain}} == {
        ("PodMonitor", "second"), ("ServiceMonitor", "second"), ("PrometheusRule", "second"), ("Service", "second-metrics")}
    labels = chart[("Deployment", "second")]["spec"]["template"]["metadata"]["labels"]
    (port,) = container({("Deployment", "ccmd"): chart[("Deployment", "second")]})[1]["ports"]
    for kind, key in (("PodMonitor", "podMetricsEndpoints"), ("ServiceMonitor", "endpoints")):
        monitor = chart[(kind, "second")]
        assert monitor["metadata"]["labels"]["release"] == "prom" and monitor["spec"]["namespaceSelector"] == {"matchNames": ["cloud"]}
        assert monitor["spec"]["selector"]["matchLabels"].items() <= labels.items()
        assert monitor["spec"][key] == [{"port": port["name"], "interval": "30s", "relabelings": [{"targetLabel": "job", "replacement": "second"}]}]
    service = chart[("Service", "second-metrics")]
    assert chart[("ServiceMonitor", "second")]["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert service["spec"]["selector"] == {"app": "second"} and service["spec"]["ports"] == [
        {"name": "metrics", "port": 10268, "targetPort": "metrics"}] and service["spec"]["clusterIP"] == "None"
    with open(os.path.join(ROOT, "etc/prometheus/ccmd-rules.yaml"), encoding="utf-8") as file:
        rules = yaml.safe_load(file.read().replace('job="ccmd"', 'job="second"'))
    assert chart[("PrometheusRule", "second")]["spec"] == rules
    with open(os.path.join(ROOT, "etc/grafana/ccmd.json"), encoding="utf-8") as file:
        assert json.loads(chart[("ConfigMap", "second-dashboard")]["data"]["ccmd.json"]) == json.load(file)
    assert chart[("ConfigMap", "second-dashboard")]["metadata"]["labels"].items() >= {"grafana_dashboard": "1", "release": "prom"}.items()


@pytest.mark.parametrize("command", [["lint", "--strict"], ["template", "ccmd"]])
def test_helm_itself_takes_the_chart(command):
    if shutil.which("helm") is None:
        pytest.skip("helm is missing: it is no Debian package")
    on = [f"--set={name}.enabled=true" for name in ("podMonitor", "serviceMonitor", "prometheusRule", "dashboard")]
    run("helm", *command, CHART, "--set=clusterId=c-test", "--set=plugins.route.enabled=true", "--set=plugins.route.cluster_cidr=172.20.0.0/16",
        "--set=plugins.gateway.enabled=true", "--set=webhook.enabled=true", "--set=webhook.certManager=true", *on)
    refused = subprocess.run(["helm", *command, CHART, "--set=clusterId=c-test", "--set=imge.tag=7"], timeout=60, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert refused.returncode != 0 and "imge" in refused.stdout


@pytest.mark.parametrize("values", [
    {}, {"plugins": {"gateway": {"enabled": True}, "clb": {"workers": 100}}, "vswitchIds": ["a", "b"], "extraArgs": ["a b"]},
    {"fullnameOverride": "second", "webhook": {"enabled": True, "certManager": True}, "dashboard": {"enabled": True},
     "prometheusRule": {"enabled": True}, "serviceMonitor": {"enabled": True}, "podMonitor": {"enabled": True},
     "options": {"alicloud": {"quotas": {"slb_write": 1000000}}}}])
def test_helm_itself_renders_the_same(helm, tmp_path, values):
    if shutil.which("helm") is None:
        pytest.skip("helm is missing: it is no Debian package")
    path = tmp_path / "values.yaml"
    path.write_text(yaml.safe_dump({"clusterId": "c-test", **values}))
    assert documents(run("helm", "template", "ccmd", CHART, "--namespace", "kube-system", "--values", str(path))) == helm(**values)


def given(line):
    """The values of a command of helm."""
    values = {}
    words = shlex.split(line, comments=True)
    for at, word in enumerate(words):
        if word in ("--set", "--set-file"):
            name, _, text = words[at + 1].partition("=")
            value = yaml.safe_load(text) if word == "--set" else shipped("second.conf")
            for part in reversed(name.split(".")):
                value = {part: value}
            (part, value), = value.items()
            if isinstance(value, dict):
                value = {**values.get(part, {}), **value}
            values[part] = value
    return values


@pytest.mark.parametrize("page, count", [("../README.md", 1), ("install.md", 1), ("monitor.md", 1), ("../etc/helm/ccmd/README.md", 2), ("plugin-shipping.md", 2)])
def test_commands_for_helm_name_values_of_the_chart(helm, page, count):
    """Each `helm install` and `helm upgrade` of the pages renders; in the folder of the chart, or from the top of the tree."""
    lines = [line for block in pages.blocks(page) for line in block.text.replace("\\\n", " ").splitlines()
             if re.match("helm (install|upgrade)", line)]
    assert len(lines) == count, lines
    for line in lines:
        words = shlex.split(line, comments=True)
        chart = [word for word in words[2:] if word == "." or word.startswith("etc/")][0]
        assert os.path.samefile(os.path.join(CHART if chart == "." else ROOT, chart), CHART)
        assert ("Deployment", "ccmd") in helm(words[words.index("--namespace") + 1], **given(line)), line


def test_chart_installs_a_second_ccmd(helm):
    """Under another name nothing of the first is touched: no object, no pod that its selectors choose, no Lease, no port."""
    first = helm()
    second = helm(**yaml.safe_load(shipped("second.yaml")), config=shipped("second.conf"))
    assert not set(first) & set(second) and {kind for kind, _ in first} == {kind for kind, _ in second}
    deployment = second[("Deployment", "ccmd-hello")]["spec"]
    labels = {"app": "ccmd-hello"}
    assert deployment["selector"]["matchLabels"] == labels == deployment["template"]["metadata"]["labels"]
    pod = deployment["template"]["spec"]
    assert pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]["labelSelector"][
        "matchLabels"] == labels == pod["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"]
    assert second[("PodDisruptionBudget", "ccmd-hello")]["spec"]["selector"]["matchLabels"] == labels
    assert pod["serviceAccountName"] == "ccmd-hello" and pod["volumes"][0]["configMap"]["name"] == "ccmd-hello"
    assert pod["containers"][0]["livenessProbe"]["httpGet"]["port"] == 10269 and ":10269" in shipped("second.conf")
    role = second[("Role", "ccmd-hello-leader-election")]
    assert role["rules"][1]["resourceNames"] == ["ccm-hello"] and '"ccm-hello"' in shipped("second.conf")
    for kind in ("ClusterRoleBinding", "RoleBinding"):
        (bound,) = [document for key, document in second.items() if key[0] == kind]
        assert (bound["roleRef"]["kind"], bound["roleRef"]["name"]) in second and bound["subjects"][0]["name"] == "ccmd-hello"
    assert "cluster_id" not in helm.notes(config=shipped("second.conf"))


def test_each_value_of_the_chart_is_explained():
    values = yaml.safe_load(open(os.path.join(CHART, "values.yaml"), encoding="utf-8"))
    names = {f"image.{part}" for part in values["image"]} | set(values) - {"image"}
    page = open(os.path.join(CHART, "README.md"), encoding="utf-8").read()
    cells = re.findall(r"^\| ([^|]*) \|", page, re.M)
    assert {name for cell in cells for name in re.findall(r"`(\w+(?:\.\w+)?)`", cell)} == names
    plain = {name.partition(".")[0] for name in names}
    used = set()
    for name in os.listdir(os.path.join(CHART, "templates")):
        text = open(os.path.join(CHART, "templates", name), encoding="utf-8").read()
        used |= set(re.findall(r"\.Values\.(\w+)", text))
    assert used == plain


def test_chart_says_what_comes_next(helm):
    assert "rollout status" in helm.notes() and "Port 10268" in helm.notes() and "cluster_id" not in helm.notes()
    assert "Port" not in helm.notes(metrics={"enabled": False})
    with open(os.path.join(BASE, "ccmd.conf"), encoding="utf-8") as file:
        assert "alicloud.cluster_id in the value config is empty" in helm.notes(config=file.read())
    assert "alicloud.cluster_id" not in helm.notes(config='alicloud: { cluster_id = "c-1"; };')


def test_chart_installs_the_webhook(helm):
    """Not unless it is asked for; then as the component of kustomize, with a certificate of either way."""
    assert not [name for kind, name in helm() if "webhook" in name.lower() or kind == "ValidatingWebhookConfiguration"]
    with pytest.raises(AssertionError):
        helm(webhook={"enabled": True})
    component = os.path.join(ROOT, "etc/kubernetes/components/webhook")
    given = helm(webhook={"enabled": True, "caBundle": "QQ==", "secretName": "mine"})
    for file in ("deployment", "networkpolicy", "service", "webhook"):
        with open(os.path.join(component, f"{file}.yaml"), encoding="utf-8") as text:
            (wanted,) = yaml.safe_load_all(text)
        found = given[(wanted["kind"], wanted["metadata"]["name"])]
        if file == "webhook":
            assert found["webhooks"][0]["clientConfig"].pop("caBundle") == "QQ=="
            assert found["webhooks"] == wanted["webhooks"]
            continue
        if file == "deployment":
            volumes = found["spec"]["template"]["spec"]["volumes"]
            assert volumes[1]["secret"].pop("secretName") == "mine"
            assert wanted["spec"]["template"]["spec"]["volumes"][1]["secret"].pop("secretName") == "ccmd-webhook"
            for one in (found, wanted):
                del one["spec"]["template"]["spec"]["containers"][0]["image"]
        assert found["spec"] == wanted["spec"], file
    sources = [{"ipBlock": {"cidr": "192.168.0.11/32"}}]
    managed = helm("cloud", fullnameOverride="second", image={"digest": "sha256:abc"},
                   webhook={"enabled": True, "certManager": True, "allowFrom": sources})
    policy = managed[("NetworkPolicy", "second-webhook")]["spec"]
    assert policy["ingress"][0]["from"] == sources and policy["podSelector"]["matchLabels"] == {"app": "second-webhook"}
    for name in ("second", "second-webhook"):
        assert managed[("Deployment", name)]["spec"]["template"]["spec"]["containers"][0]["image"] == "ccmd@sha256:abc"
    conf, certificate = managed[("ValidatingWebhookConfiguration", "second")], managed[("Certificate", "second-webhook")]
    assert conf["metadata"]["annotations"]["cert-manager.io/inject-ca-from"] == "cloud/second-webhook"
    service = conf["webhooks"][0]["clientConfig"]["service"]
    assert f"{service['name']}.{service['namespace']}.svc" in certificate["spec"]["dnsNames"]
    assert certificate["spec"]["secretName"] == managed[("Deployment", "second-webhook")]["spec"]["template"]["spec"]["volumes"][1]["secret"]["secretName"]


def test_chart_is_the_same_as_the_base(base, helm):
    chart = helm()
    plain = {kind: document for kind, document in base.items() if kind[0] != "ConfigMap"}
    assert {k for k in chart if k[0] != "ConfigMap"} == set(plain)
    config = next(name for kind, name in base if kind == "ConfigMap")
    settings = settings_of(base[("ConfigMap", config)]["data"]["ccmd.conf"].replace('cluster_id = ""', 'cluster_id = "c-test"'))
    settings["alicloud"]["credentials"].pop("file")  # which is empty
    assert settings_of(chart[("ConfigMap", "ccmd")]["data"]["ccmd.conf"]) == settings
    for kind, document in plain.items():
        ours = chart[kind]
        ours.get("spec", {}).get("template", {}).get("metadata", {}).pop("annotations", None)
        for label in ("app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart"):
            ours["metadata"]["labels"].pop(label)
        theirs = yaml.safe_load(yaml.safe_dump(document).replace(config, "ccmd"))
        assert ours == theirs, kind


# --- packages and image ---


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    for tool in ("dpkg-deb", "cpack", "dpkg-shlibdeps", "file"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: scripts/bootstrap.sh package")
    folder = tmp_path_factory.mktemp("deb")
    return sorted(run(os.path.join(ROOT, "scripts/deb.sh"), str(folder)).split())


def test_package_runs_where_it_is_unpacked(package, tmp_path):
    dev, main = package
    assert os.path.basename(dev).startswith("ccmd-dev_") and os.path.basename(main).startswith("ccmd_")
    run("dpkg-deb", "-x", main, str(tmp_path))
    assert run(str(tmp_path / "usr/bin/ccmd"), "version").startswith("ccmd ")
    for name in PLUGINS:
        run(str(tmp_path / "usr/bin/ccmd"), "plugins", str(tmp_path / "usr/lib/ccmd/plugins" / name))
    assert os.path.exists(tmp_path / "lib/systemd/system/ccmd.service")
    for path in ("man/man8/ccmd.8.gz", "man/man5/ccmd.conf.5.gz", "bash-completion/completions/ccmd", "zsh/vendor-completions/_ccmd",
                 "fish/vendor_completions.d/ccmd.fish"):
        assert os.path.getsize(tmp_path / "usr/share" / path) > 0
    assert run("dpkg-deb", "--info", main, "conffiles").strip() == "/etc/ccmd/ccmd.conf"
    assert "libcurl4" in run("dpkg-deb", "-f", main, "Depends")


def test_package_keeps_its_configuration_until_purged(package, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("dpkg wants root to give files away")
    root = tmp_path / "root"
    for folder in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "etc/systemd/system/multi-user.target.wants"):
        (root / folder).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    dpkg = ["dpkg", f"--root={root}", "--force-depends", "--force-script-chrootless", "--log=/dev/null"]
    config = root / "etc/ccmd/ccmd.conf"
    wants = root / "etc/systemd/system/multi-user.target.wants/ccmd.service"
    run(*dpkg, "--install", package[1], stdin=subprocess.DEVNULL)
    config.write_text("# mine\n")
    wants.symlink_to("/lib/systemd/system/ccmd.service")
    run(*dpkg, "--install", package[1], stdin=subprocess.DEVNULL)
    assert config.read_text() == "# mine\n"
    run(*dpkg, "--remove", "ccmd")
    assert config.read_text() == "# mine\n" and wants.is_symlink()
    assert not (root / "usr/bin/ccmd").exists()
    run(*dpkg, "--purge", "ccmd")
    left = [str(path.relative_to(root)) for path in root.rglob("*") if "ccmd" in path.name]
    assert left == []


def test_package_is_as_debian_wants_it(package):
    if shutil.which("lintian") is None:
        pytest.skip("lintian is not installed: scripts/bootstrap.sh check")
    rights = ["--allow-root"] if os.geteuid() == 0 else []
    told = run("lintian", *rights, "--fail-on", "error,warning", *package)
    assert told == "", told


def test_development_package_builds_a_plugin(package, tmp_path):
    """Also where the libraries of a system lie in a folder of its own, as on Debian."""
    for file in package:
        run("dpkg-deb", "-x", file, str(tmp_path))
    usr = tmp_path / "usr"
    pkg_config = next(root for root, _, names in os.walk(usr) if "ccmd-plugin.pc" in names)
    env = {**os.environ, "PKG_CONFIG_PATH": pkg_config}
    assert os.path.samefile(run("pkg-config", "--variable=plugindir", "ccmd-plugin", env=env).strip(), usr / "lib/ccmd/plugins")
    template = usr / "share/doc/ccmd-dev/template"
    run("cmake", "-S", str(template), "-B", str(tmp_path / "build"), f"-DCMAKE_PREFIX_PATH={usr}")
    run("cmake", "--build", str(tmp_path / "build"))
    run("cmake", "--install", str(tmp_path / "build"), "--prefix", str(usr))
    assert run(str(usr / "bin/ccmd"), "plugins", str(usr / "lib/ccmd/plugins/template.so")).startswith("template ")


class Layout:
    """A folder that scripts/image.sh has worked in, whose layout is called oci."""

    def __init__(self, folder):
        self.folder = folder

    def blob(self, digest):
        data = pathlib.Path(self.folder, "oci", "blobs", *digest.split(":")).read_bytes()
        assert hashlib.sha256(data).hexdigest() == digest.split(":")[1]
        return data

    def names(self):
        """{name: descriptor}"""
        index = json.loads(pathlib.Path(self.folder, "oci", "index.json").read_text(encoding="utf-8"))
        return {one["annotations"]["org.opencontainers.image.ref.name"]: one for one in index["manifests"]}

    def manifest(self, name):
        return json.loads(self.blob(self.names()[name]["digest"]))

    def files(self):
        found = sorted(path for path in pathlib.Path(self.folder, "oci").rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in found}


def inside(root):
    """How to run a program in that root as a user without rights."""
    if os.geteuid() == 0:
        return ["chroot", "--userspec=65532:65532", root]
    if shutil.which("bwrap") is None:
        pytest.skip("neither root nor bubblewrap")
    return ["bwrap", "--ro-bind", root, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--unshare-user",
            "--uid", "65532", "--gid", "65532", "--cap-drop", "ALL"]


@pytest.fixture(scope="module")
def bundle(package, tmp_path_factory):
    """The image, unpacked as a runtime does."""
    for tool in ("mmdebstrap", "umoci"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: scripts/bootstrap.sh package")
    folder = tmp_path_factory.mktemp("image")
    layout = str(folder / "image" / "oci") + ":test"
    run(os.path.join(ROOT, "scripts/image.sh"), layout, env={**os.environ, "CCM_DEBS": os.path.dirname(package[1])})
    rights = [] if os.geteuid() == 0 else ["--rootless"]
    run("umoci", "unpack", *rights, "--image", layout, str(folder / "bundle"))
    return str(folder / "bundle")


@pytest.fixture(scope="module")
def layout(bundle):
    """What scripts/image.sh made of it: the layout, and the SBOM beside."""
    return Layout(os.path.join(os.path.dirname(bundle), "image"))


def test_image_runs_without_rights(bundle):
    root = os.path.join(bundle, "rootfs")
    assert run(*inside(root), "/usr/bin/ccmd", "version").startswith("ccmd ")
    for name in PLUGINS:
        run(*inside(root), "/usr/bin/ccmd", "plugins", f"/usr/lib/ccmd/plugins/{name}")
    files = {os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names}
    assert {name for name in files if name.startswith("etc/")} <= {
        "etc/group", "etc/passwd", "etc/os-release", "etc/nsswitch.conf", "etc/ssl/certs/ca-certificates.crt", "etc/ld.so.cache", "etc/ld.so.conf",
        "etc/ld.so.conf.d/libc.conf", f"etc/ld.so.conf.d/{os.uname().machine}-linux-gnu.conf"}
    assert {name for name in files if "/bin/" in f"/{name}" or "sbin/" in name} == {"usr/bin/ccmd"}
    assert {name for name in files if name.startswith("usr/lib/ccmd/ccmd-")} == {f"usr/lib/ccmd/ccmd-{name}" for name in ("tools", *TOOLS)}
    assert run(*inside(root), "/usr/bin/ccmd", "help").startswith("Cloud controller manager")
    assert not [name for name in files if os.lstat(os.path.join(root, name)).st_mode & 0o6000]
    assert sum(os.lstat(os.path.join(root, name)).st_size for name in files) < 40 * 1024 * 1024
    assert os.path.getsize(os.path.join(root, "etc/ssl/certs/ca-certificates.crt")) > 100000
    spec = json.load(open(os.path.join(bundle, "config.json"), encoding="utf-8"))["process"]
    assert spec["user"]["uid"] == 65532 and spec["args"] == ["/usr/bin/ccmd", "run"]


def test_image_says_what_it_is(layout):
    manifest = layout.manifest("test")
    marks = json.loads(layout.blob(manifest["config"]["digest"]))["config"]["Labels"]
    assert marks == manifest["annotations"]
    known = {name.removeprefix("org.opencontainers.image."): value for name, value in marks.items()}
    version = pathlib.Path(ROOT, "VERSION").read_text(encoding="utf-8").strip()
    assert known["title"] == "ccmd" and known["version"] == version and known["licenses"] == "Apache-2.0"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", known["created"]) and len(known["description"]) > 40
    assert set(known) <= {"title", "version", "licenses", "created", "description", "revision", "source", "url", "documentation"}
    assert "source" not in known or re.match(r"https://[^/@]+/", known["source"])  # no path of this machine, no password


def test_image_lists_what_it_was_made_of(bundle, layout, package):
    """The SBOM, beside the image and attached to it, and the entries that scanners look for, name the same packages."""
    arch = run("dpkg", "--print-architecture").strip()
    (name,) = [name for name in os.listdir(layout.folder) if name.endswith(".spdx.json")]
    text = pathlib.Path(layout.folder, name).read_bytes()
    attached = layout.manifest(f"test-{arch}.spdx")
    assert attached["artifactType"] == "application/spdx+json" and attached["subject"]["digest"] == layout.names()["test"]["digest"]
    assert layout.blob(attached["layers"][0]["digest"]) == text
    sbom = json.loads(text)
    assert sbom["spdxVersion"] == "SPDX-2.3" and sbom["dataLicense"] == "CC0-1.0" and sbom["SPDXID"] == "SPDXRef-DOCUMENT"
    ids = [one["SPDXID"] for one in sbom["packages"]]
    assert len(ids) == len(set(ids)) and all(re.fullmatch(r"SPDXRef-[a-zA-Z0-9.-]+", one) for one in ids)
    ends = {relation[side] for relation in sbom["relationships"] for side in ("spdxElementId", "relatedSpdxElement")}
    assert ends == {*ids, "SPDXRef-DOCUMENT"}
    packages = {one["name"]: one for one in sbom["packages"][1:]}
    with open(os.path.join(ROOT, "LICENSE"), encoding="utf-8") as file:
        assert "Apache License" in file.read(200)
    assert packages["ccmd"]["licenseDeclared"] == packages["ccmd"]["licenseConcluded"] == sbom["packages"][0]["licenseDeclared"] == "Apache-2.0"
    root = pathlib.Path(bundle, "rootfs")
    status = {path.name: path.read_text(encoding="utf-8") for path in (root / "var/lib/dpkg/status.d").iterdir()}
    assert set(packages) == set(status) > {"ccmd", "libc6", "libssl3", "libcurl4", "ca-certificates"}
    for one, control in status.items():
        assert packages[one]["versionInfo"] == re.search(r"^Version: (.*)$", control, re.M).group(1)
        assert (root / "usr/share/doc" / one / "copyright").stat().st_size > 0
        assert re.fullmatch("[0-9a-f]{64}", packages[one]["checksums"][0]["checksumValue"])
    assert packages["ccmd"]["checksums"][0]["checksumValue"] == hashlib.sha256(pathlib.Path(package[1]).read_bytes()).hexdigest()


def test_image_gets_to_a_registry_as_the_page_says(layout, tmp_path):
    """docs/releases.md, with a folder in place of the registry: what arrives is what was made, by its digest, and the SBOM with it."""
    if shutil.which("skopeo") is None:
        pytest.skip("skopeo is not installed: scripts/bootstrap.sh check")
    arch = run("dpkg", "--print-architecture").strip()
    version = pathlib.Path(ROOT, "VERSION").read_text(encoding="utf-8").strip()
    found = [block.text for block in pages.blocks("releases.md")]
    (push,), (look,) = [text for text in found if "skopeo copy" in text], [text for text in found if "skopeo inspect" in text]

    def here(text):
        text = text.replace(f"docker://registry.example.com/ccmd:{version}", f"oci:{tmp_path}/registry:{version}")
        return text.replace(f"oci:oci:{version}-amd64.spdx", f"oci:oci:test-{arch}.spdx").replace(f"oci:oci:{version}", "oci:oci:test")

    run("tar", "-C", os.path.join(layout.folder, "oci"), "-cf", str(tmp_path / f"ccmd-image-{version}.tar"), ".")
    (tmp_path / f"ccmd-image-{version}.digest").write_text(layout.names()["test"]["digest"] + "\n")
    (tmp_path / ".config/containers").mkdir(parents=True)
    (tmp_path / ".config/containers/policy.json").write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
    env = {**os.environ, "HOME": str(tmp_path)}
    for text in (push, look):
        assert "registry.example.com" in text and "docker://" not in here(text)
        done = subprocess.run(["bash", "-euc", here(text)], cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=300, check=False)
        assert done.returncode == 0, done.stdout
    told = done.stdout.split()
    assert f"sha256:{told[0]}" == told[-1] == layout.names()["test"]["digest"]
    arrived = json.loads((tmp_path / "registry" / "index.json").read_text(encoding="utf-8"))
    digests = {one["annotations"]["org.opencontainers.image.ref.name"]: one["digest"] for one in arrived["manifests"]}
    assert digests == {version: layout.names()["test"]["digest"], f"{version}-amd64.spdx": layout.names()[f"test-{arch}.spdx"]["digest"]}


def test_packages_and_image_are_the_same_again(layout, package, tmp_path):
    """Packed at another time, with other rights for new files, from another folder. That compilers do the same in another folder is
    shown by test_release.py, which builds all of it twice."""
    again = os.path.join(str(tmp_path), "debs")
    env = {**os.environ, "CCM_DEBS": again, "TZ": "Asia/Shanghai", "LC_ALL": "C"}
    before = os.umask(0o077)
    try:
        run(os.path.join(ROOT, "scripts/deb.sh"), again, env=env)
        run(os.path.join(ROOT, "scripts/image.sh"), str(tmp_path / "image" / "oci") + ":test", env=env)
    finally:
        os.umask(before)
    for path in package:
        assert pathlib.Path(path).read_bytes() == pathlib.Path(again, os.path.basename(path)).read_bytes(), path
    assert Layout(str(tmp_path / "image")).files() == layout.files()


# --- a plugin of somebody else in the pod: docs/plugin-shipping.md ---


@pytest.fixture
def root(bundle, tmp_path):
    """The root of the image, to be written to."""
    copy = str(tmp_path / "root")
    run("cp", "-a", os.path.join(bundle, "rootfs"), copy)
    return copy


def with_plugins(build, folder):
    """A plugin as the template of the SDK makes it, called hello."""
    file = folder / "hello.so"
    source = open(os.path.join(ROOT, "plugins/template/plugin.c"), encoding="utf-8").read().replace('"template"', '"hello"')
    (folder / "plugin.c").write_text(source)
    run("cc", "-std=c11", "-fPIC", "-shared", str(folder / "plugin.c"), f"-I{ROOT}/include", f"-I{build}/include", "-o", str(file))
    file.chmod(0o644)
    return str(file)


def patched_pod():
    """The pod of the base with the page's patch: lists of things with names are merged, theirs come first."""
    with open(os.path.join(BASE, "deployment.yaml"), encoding="utf-8") as file:
        pod = yaml.safe_load(file)["spec"]["template"]["spec"]
    patch = yaml.safe_load(shipped("plugins.yaml"))["spec"]["template"]["spec"]
    assert set(patch) == {"initContainers", "containers", "volumes"}
    pod["initContainers"] = patch["initContainers"]
    pod["volumes"] += patch["volumes"]
    pod["containers"][0]["volumeMounts"] += patch["containers"][0]["volumeMounts"]
    return pod


def prepare_pod(build, folder, pod, config, file="/hello.so"):
    """Volumes as in a node, and the init container has run."""
    made = kubelet.Pod(str(folder / "volumes"), pod, {"config": str(folder / "config")})
    (folder / "config").mkdir()
    (folder / "config" / "ccmd.conf").write_text(config)
    shell = kubelet.shell_root(str(folder / "shell"), {file: with_plugins(build, folder)})
    for container in pod["initContainers"]:
        assert made.run(container, shell) == (0, "")
        assert made.run(container, shell) == (0, "")  # the kubelet may have to do it again
    return made


CCMD = ["/usr/bin/ccmd"]


def test_plugin_in_an_image_of_its_own(build, root, tmp_path):
    kubelet.need()
    words = shipped("Containerfile").split()
    assert words[:1] + words[2:] == ["FROM", "COPY", "--chmod=0644", "build/hello.so", "/usr/lib/ccmd/plugins/"]
    shutil.copy(with_plugins(build, tmp_path), root + words[-1])
    code, told = kubelet.Pod(str(tmp_path), patched_pod()).run(
        {"volumeMounts": [], "args": ["plugins", words[-1] + "hello.so"]}, root, CCMD)
    assert code == 0 and told.startswith("hello "), told


def test_plugin_from_an_init_container(build, root, tmp_path):
    """The whole way: volumes of a kubelet, in-cluster configuration, an event by the plugin."""
    kubelet.need()
    pod = patched_pod()
    (tmp_path / "tls").mkdir()
    account = {"name": "account", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": True}
    pod["containers"][0]["volumeMounts"].append(account)
    config = shipped("ccmd.conf").replace("127.0.0.1:10258", "127.0.0.1:0")
    made = prepare_pod(build, tmp_path, pod, config)
    made.volumes["account"] = str(tmp_path / "account")
    with KubeSim(build, tmp_path, "--tls", str(tmp_path / "tls"), "--token", "s3cret") as kube:
        kube.trust(str(tmp_path / "tls"))
        (tmp_path / "account").mkdir()
        shutil.copy(tmp_path / "tls/ca.crt", tmp_path / "account")
        (tmp_path / "account" / "ca.crt").chmod(0o644)
        (tmp_path / "account" / "token").write_text("s3cret")
        (tmp_path / "account" / "namespace").write_text("kube-system")
        host, _, port = kube.address.rpartition(":")
        kube.post(SERVICES, objects.service("greeted", annotations={"ccm.example.com/greet": "hi"}))
        code, told = made.run(pod["containers"][0], root, CCMD, ["check-config", "--config", "/etc/ccmd/ccmd.conf"])
        assert code == 0, told
        ccmd = made.start(pod["containers"][0], root, CCMD, tmp_path / "ccmd",
                          {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port})
        try:
            wait(lambda: "TemplateSeen" in [one["reason"] for one in kube.fetch(EVENTS)["items"]], "event of the plugin")
        except AssertionError:
            raise AssertionError(ccmd.err()) from None
        finally:
            made.close()


def mount_whole(mount, folder):
    """The obvious way. Whoever else has the volume can exchange what is in it."""
    del mount["subPath"]
    mount["mountPath"] = os.path.dirname(mount["mountPath"])


def forget_folder(mount, folder):
    """The init container puts the file into a subPath that the kubelet has made: for everybody, as the volume is."""
    os.chmod(os.path.join(folder, "plugins"), 0o2777)


def exchange_folder(mount, folder):
    """Another container of the pod has put a folder of its own in place, and ccmd starts again."""
    os.rename(os.path.join(folder, "plugins"), os.path.join(folder, "old"))
    shutil.copytree(os.path.join(folder, "old"), os.path.join(folder, "plugins"))
    os.chown(os.path.join(folder, "plugins"), 1000, 1000)


def remove_folder(mount, folder):
    """The same without one of its own: the kubelet makes it, and others could fill it."""
    os.rename(os.path.join(folder, "plugins"), os.path.join(folder, "old"))


@pytest.mark.parametrize("trouble, message", [
    (mount_whole, "folder /usr/local/lib/ccmd can be written by others (mode 2777): chmod go-w /usr/local/lib/ccmd, or mount a folder of "
                  "this volume (subPath) that is not"),
    (forget_folder, "folder /usr/local/lib/ccmd/plugins can be written by others (mode 2777)"),
    (exchange_folder, "folder /usr/local/lib/ccmd/plugins belongs to uid 1000, neither to root nor to this process (uid 65532)"),
    (remove_folder, "hello.so: no such file"),
])
def test_volume_that_others_can_change_is_refused(build, root, tmp_path, trouble, message):
    kubelet.need()
    pod = patched_pod()
    made = prepare_pod(build, tmp_path, pod, shipped("ccmd.conf"))
    main = pod["containers"][0]
    (mount,) = [mount for mount in main["volumeMounts"] if mount["name"] == "plugins"]
    trouble(mount, made.volumes["plugins"])
    code, told = made.run(main, root, CCMD, ["check-config", "--config", "/etc/ccmd/ccmd.conf"])
    assert code == 1 and message in told, told


def test_plugin_by_the_chart(build, helm, root, tmp_path):
    kubelet.need()
    chart = helm(**yaml.safe_load(shipped("values.yaml")), config=shipped("ccmd.conf"))
    pod, main = container(chart)
    check_fields(chart)
    (init,) = pod["initContainers"]
    assert init["image"] == "registry.example.com/hello:1.0"
    mine = patched_pod()
    for part in ("securityContext", "volumeMounts"):
        assert init[part] == mine["initContainers"][0][part]
    assert pod["volumes"][-1] == mine["volumes"][-1] and main["volumeMounts"][-1] == mine["containers"][0]["volumeMounts"][-1]
    made = prepare_pod(build, tmp_path, pod, chart[("ConfigMap", "ccmd")]["data"]["ccmd.conf"])
    code, told = made.run(main, root, CCMD, ["check-config", "--config", "/etc/ccmd/ccmd.conf"])
    assert code == 0, told
