"""What `make install`, `make deb`, `make image` and the manifests put into the world."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess

import pytest
import yaml

from tests.support import pages, proc

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BASE = os.path.join(ROOT, "etc", "kubernetes", "base")
CHART = os.path.join(ROOT, "etc", "helm", "ccmd")
PLUGINS = ["clb.so", "nlb.so", "route.so"]


def run(*argv, **options):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300 * proc.SLOW, check=False,
                          cwd=ROOT, **options)
    assert done.returncode == 0, f"{argv}: {done.stdout[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(build, tmp_path_factory):
    """The installed tree."""
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", build, "--prefix", str(folder))
    return str(folder)


def test_installed_program_finds_its_plugins(prefix):
    for name in PLUGINS:
        told = run(os.path.join(prefix, "bin", "ccmd"), "plugins", os.path.join(prefix, "lib/ccmd/plugins", name))
        assert told.startswith(name.removesuffix(".so") + " ")


def test_installed_program_finds_its_converter(prefix, tmp_path):
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
    for path in ("share/man/man8/ccmd.8", "share/man/man5/ccmd.conf.5", "share/doc/ccmd/configuration.md",
                 "share/bash-completion/completions/ccmd", "share/doc/ccmd/examples/kubernetes/base/deployment.yaml"):
        assert os.path.exists(os.path.join(prefix, path)), path


def test_installed_pages_lead_somewhere(prefix):
    """Links, and the files that belong to a page: each is where the page says, also without the tree they come from."""
    doc = os.path.join(prefix, "share", "doc")
    found = sorted(os.path.join(folder, name) for folder, _, names in os.walk(doc) for name in names if name.endswith(".md"))
    names = [os.path.relpath(path, doc) for path in found]
    for name in ("ccmd/operations.md", "ccmd/CHANGELOG.md", "ccmd-dev/plugin-guide.md", "ccmd/examples/helm/ccmd/README.md"):
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


def usage(build):
    """What --help lists: (commands, long options)."""
    text = run(os.path.join(build, "bin", "ccmd"), "--help")
    commands = re.findall(r"^  ([a-z-]+) +\S", text[text.index("Commands:"):], re.M)
    assert len(commands) >= 7
    return set(commands), set(re.findall(r"(?<![\w-])--[a-z][a-z-]*(?==[A-Z]|  )", text[:text.index("Commands:")]))


def completed(*words):
    script = 'source etc/completion/ccmd.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ccmd; echo "${COMPREPLY[@]}"'
    return set(run("bash", "-c", script, "bash", *words).split())


def test_completion_knows_every_command_and_option(build):
    commands, options = usage(build)
    assert completed("ccmd", "") == commands
    assert completed("ccmd", "pl") == {"plan", "plugins"}
    assert set().union(*(completed("ccmd", command, "--") for command in commands)) == options | {"--version"}
    assert "--plugin-dir" in completed("ccmd", "lint", "--pl") and completed("ccmd", "run", "--pl") == set()
    assert completed("ccmd", "check-config", "--config", "etc/ccmd.c") == {"etc/ccmd.conf"}


def test_manual_knows_every_command_and_option(build):
    commands, options = usage(build)
    page = open(os.path.join(ROOT, "etc/man/ccmd.8"), encoding="utf-8").read()
    for command in commands:
        assert f".It Cm {command}" in page, command
    for option in options:
        assert re.search(rf"^\.It Fl .*{option[1:]}\b", page, re.M), option


# --- manifests ---


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
    assert f"plugins: {2 + routes}" in run(*check)


def test_probes_ask_where_the_configuration_listens(base):
    _, main = container(base)
    text = next(d for (kind, _), d in base.items() if kind == "ConfigMap")["data"]["ccmd.conf"]
    asked = {(main[p]["httpGet"]["path"], f'{main[p]["httpGet"]["host"]}:{main[p]["httpGet"]["port"]}')
             for p in ("startupProbe", "livenessProbe", "readinessProbe")}
    listens = re.search(r'listen = "(.*)";', text).group(1)
    assert asked == {("/livez", listens), ("/readyz", listens)}
    assert base[("Deployment", "ccmd")]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] > 25 + 10


def test_the_overlay_of_the_manual(base, tmp_path):
    """docs/operations.md: a folder of one's own beside the base."""
    if proc.kubectl_minor() < 21:
        pytest.skip("this kubectl knows no folders among resources")
    overlay, secret = [block.text for block in pages.blocks("operations.md") if block.language == "yaml"][:2]
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
        "config": "/etc/ccmd", "state": "/var/lib/ccmd", "credentials": "/etc/ccmd-credentials"}


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
        path.write_text(yaml.safe_dump(values))
        return documents(run(renderer, CHART, namespace, str(path)))

    def notes(**values):
        path = folder / "values.yaml"
        path.write_text(yaml.safe_dump(values))
        return run(renderer, CHART, "kube-system", str(path), "NOTES.txt")

    render.notes = notes
    return render


def test_chart_takes_values(helm):
    chart = helm("cloud", replicas=3, credentialsSecret="key", leaseName="other", config="alicloud: { };\n", nodeSelector=None,
                 adminHost="10.0.0.1", adminPort=9443, adminScheme="HTTPS", serviceAccountAnnotations={"a.example.com/role": "r"},
                 tolerations=[{"key": "mine", "operator": "Exists"}], podLabels={"team": "net"},
                 image={"repository": "registry/ccmd", "tag": "7"}, env=[{"name": "A", "value": "b"}],
                 extraVolumes=[{"name": "tls", "secret": {"secretName": "tls"}}],
                 extraVolumeMounts=[{"name": "tls", "mountPath": "/etc/ccmd-tls", "readOnly": True}])
    pod, main = container(chart)
    assert chart[("Deployment", "ccmd")]["metadata"]["namespace"] == "cloud"
    assert chart[("Deployment", "ccmd")]["spec"]["replicas"] == 3
    assert main["image"] == "registry/ccmd:7" and main["env"] == [{"name": "A", "value": "b"}]
    assert [v["name"] for v in pod["volumes"]] == [m["name"] for m in main["volumeMounts"]] == ["config", "credentials", "tls"]
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


def test_each_value_of_the_chart_is_explained():
    values = yaml.safe_load(open(os.path.join(CHART, "values.yaml"), encoding="utf-8"))
    names = {f"{name}.{part}" for name in ("image",) for part in values[name]} | set(values) - {"image"}
    page = open(os.path.join(CHART, "README.md"), encoding="utf-8").read()
    assert set(re.findall(r"^\| `(\w+(?:\.\w+)?)` \|", page, re.M)) == names
    used = set()
    for name in os.listdir(os.path.join(CHART, "templates")):
        text = open(os.path.join(CHART, "templates", name), encoding="utf-8").read()
        used |= set(re.findall(r"\.Values\.(\w+(?:\.\w+)?)", text))
    assert used == names


def test_chart_says_what_comes_next(helm):
    assert "cluster_id" in helm.notes() and "alicloud.cluster_id" not in helm.notes(config='alicloud: { cluster_id = "c-1"; };')


def test_chart_is_the_same_as_the_base(base, helm):
    chart = helm()
    plain = {kind: document for kind, document in base.items() if kind[0] != "ConfigMap"}
    assert {k for k in chart if k[0] != "ConfigMap"} == set(plain)
    config = next(name for kind, name in base if kind == "ConfigMap")
    settings = base[("ConfigMap", config)]["data"]["ccmd.conf"].split("\n\n", 1)[1]  # without the words about the file
    assert chart[("ConfigMap", "ccmd")]["data"]["ccmd.conf"].strip() == settings.strip()
    for kind, document in plain.items():
        ours = chart[kind]
        ours.get("spec", {}).get("template", {}).get("metadata", {}).pop("annotations", None)
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
    for path in ("man/man8/ccmd.8.gz", "man/man5/ccmd.conf.5.gz", "bash-completion/completions/ccmd"):
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


def inside(root):
    """How to run a program in that root as a user without rights."""
    if os.geteuid() == 0:
        return ["chroot", "--userspec=65532:65532", root]
    if shutil.which("bwrap") is None:
        pytest.skip("neither root nor bubblewrap")
    return ["bwrap", "--ro-bind", root, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--unshare-user",
            "--uid", "65532", "--gid", "65532", "--cap-drop", "ALL"]


def test_image_runs_without_rights(package, tmp_path):
    for tool in ("mmdebstrap", "umoci"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: scripts/bootstrap.sh package")
    layout = str(tmp_path / "image" / "oci") + ":test"
    run(os.path.join(ROOT, "scripts/image.sh"), layout)
    rights = [] if os.geteuid() == 0 else ["--rootless"]
    run("umoci", "unpack", *rights, "--image", layout, str(tmp_path / "bundle"))
    root = str(tmp_path / "bundle/rootfs")
    assert run(*inside(root), "/usr/bin/ccmd", "version").startswith("ccmd ")
    for name in PLUGINS:
        run(*inside(root), "/usr/bin/ccmd", "plugins", f"/usr/lib/ccmd/plugins/{name}")
    files = {os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names}
    assert {name for name in files if name.startswith("etc/")} <= {
        "etc/group", "etc/passwd", "etc/nsswitch.conf", "etc/ssl/certs/ca-certificates.crt", "etc/ld.so.cache", "etc/ld.so.conf",
        "etc/ld.so.conf.d/libc.conf", f"etc/ld.so.conf.d/{os.uname().machine}-linux-gnu.conf"}
    assert {name for name in files if "/bin/" in f"/{name}" or "sbin/" in name} == {"usr/bin/ccmd"}
    assert "usr/lib/ccmd/ccmd-convert-config" in files
    assert not [name for name in files if os.lstat(os.path.join(root, name)).st_mode & 0o6000]
    assert sum(os.lstat(os.path.join(root, name)).st_size for name in files) < 40 * 1024 * 1024
    assert os.path.getsize(os.path.join(root, "etc/ssl/certs/ca-certificates.crt")) > 100000
    spec = json.load(open(tmp_path / "bundle/config.json", encoding="utf-8"))["process"]
    assert spec["user"]["uid"] == 65532 and spec["args"] == ["/usr/bin/ccmd", "run"]
