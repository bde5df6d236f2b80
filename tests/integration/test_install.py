"""What `make install`, `make deb`, `make image` and the manifests put into the world."""

import json
import os
import re
import shutil
import subprocess

import pytest
import yaml

from tests.support import pages, proc

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BASE = os.path.join(ROOT, "etc", "kubernetes", "base")
CHART = os.path.join(ROOT, "etc", "helm", "ccmd")
PLUGINS = ["clb.so", "nlb.so", "route.so"]


def run(*argv, **options):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
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
    assert base[("PodDisruptionBudget", "ccmd")]["spec"]["minAvailable"] == 1


def test_rules_name_no_star_and_no_secret(base):
    for kind in (("ClusterRole", "ccmd"), ("Role", "ccmd-leader-election")):
        for rule in base[kind]["rules"]:
            assert "*" not in rule["verbs"] + rule["resources"] + rule["apiGroups"]
            assert "secrets" not in rule["resources"]


@pytest.mark.parametrize("file", ["etc/kubernetes/base/ccmd.conf", "etc/ccmd.conf"])
@pytest.mark.parametrize("routes", [False, True])
def test_configuration_is_accepted(prefix, tmp_path, file, routes):
    """All but the cluster_id, which nobody can know; with and without what it shows in a comment."""
    text = open(os.path.join(ROOT, file), encoding="utf-8").read()
    path = tmp_path / "ccmd.conf"
    check = [os.path.join(prefix, "bin", "ccmd"), "check-config", "--config", str(path)]
    path.write_text(text)
    assert "cluster_id" in subprocess.run(check, stderr=subprocess.PIPE, text=True, timeout=60, check=False).stderr
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
    overlay = next(block.text for block in pages.blocks("operations.md") if block.language == "yaml")
    (tmp_path / "kustomization.yaml").write_text(overlay)
    (tmp_path / "ccmd.conf").write_text("# mine\n")
    shutil.copytree(BASE, tmp_path / "base")
    found = documents(run(os.environ.get("KUBECTL", "kubectl"), "kustomize", str(tmp_path)))
    assert [kind for kind, _ in found] == [kind for kind, _ in base]
    assert container(found)[1]["image"] == "registry.example.com/ccmd:0.1.0"
    config = next(d for (kind, _), d in found.items() if kind == "ConfigMap")
    assert config["data"] == {"ccmd.conf": "# mine\n"}
    assert container(found)[0]["volumes"][0]["configMap"]["name"] == config["metadata"]["name"]


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

    return render


def test_chart_takes_values(helm):
    chart = helm("cloud", replicas=3, credentialsSecret="key", leaseName="other", config="alicloud: { };\n",
                 image={"repository": "registry/ccmd", "tag": "7"}, env=[{"name": "A", "value": "b"}],
                 extraVolumes=[{"name": "tls", "secret": {"secretName": "tls"}}],
                 extraVolumeMounts=[{"name": "tls", "mountPath": "/etc/ccmd-tls", "readOnly": True}])
    pod, main = container(chart)
    assert chart[("Deployment", "ccmd")]["metadata"]["namespace"] == "cloud"
    assert chart[("Deployment", "ccmd")]["spec"]["replicas"] == 3
    assert main["image"] == "registry/ccmd:7" and main["env"] == [{"name": "A", "value": "b"}]
    assert [v["name"] for v in pod["volumes"]] == [m["name"] for m in main["volumeMounts"]] == ["config", "credentials", "tls"]
    assert chart[("ConfigMap", "ccmd")]["data"]["ccmd.conf"] == "alicloud: { };\n"
    role = chart[("Role", "ccmd-leader-election")]  # where the lease is, for an account of where the pods are
    assert role["metadata"]["namespace"] == "kube-system" and role["rules"][1]["resourceNames"] == ["other"]
    assert chart[("RoleBinding", "ccmd-leader-election")]["subjects"][0]["namespace"] == "cloud"


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
    assert run("dpkg-deb", "--info", main, "conffiles").strip() == "/etc/ccmd/ccmd.conf"
    assert "libcurl4" in run("dpkg-deb", "-f", main, "Depends")


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
    assert not os.path.exists(os.path.join(root, "bin/sh"))
    assert os.path.getsize(os.path.join(root, "etc/ssl/certs/ca-certificates.crt")) > 100000
    spec = json.load(open(tmp_path / "bundle/config.json", encoding="utf-8"))["process"]
    assert spec["user"]["uid"] == 65532 and spec["args"] == ["/usr/bin/ccmd", "run"]
