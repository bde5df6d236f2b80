"""Configurations with which `ccmd run` would end or leave a plugin out: `ccmd check-config` says so, with file and line and in words
that name what is wrong. One row per configuration."""

import os
import re
import shutil

import pytest

from tests.support import proc

KEY = '{"access_key_id": "key", "access_key_secret": "secret"}'
BASE = """alicloud: {
    region = "cn-test";
    cluster_id = "c-test";
};
plugins = ( { name = "clb"; } );
"""
USER = """apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: {cluster: test, user: me}
clusters:
- name: test
  cluster: {server: "https://127.0.0.1:6443"}
users:
- name: me
  user:
"""


def extra(text):
    return BASE + text


def clb(text):
    return BASE.replace('name = "clb";', f'name = "clb"; {text}')


def cloud(text):
    return BASE.replace('    region = "cn-test";', f"    {text}")


def route(text):
    return BASE.replace('{ name = "clb"; }', '{ name = "clb"; },\n    { name = "route";\n' + text + " }")


def kube(path):
    return extra(f'kubernetes: {{\n    kubeconfig = "{path}";\n}};\n')


def files(folder):
    """What the rows name."""
    (folder / "key.json").write_text(KEY)
    (folder / "key.json").chmod(0o600)
    for name, text in (("no-json", "access_key_id = x"), ("half.json", '{"access_key_id": "key"}'), ("empty.json", ""),
                       ("no-user", USER.replace("user: me}", "user: you}") + "    token: t\n"),
                       ("basic", USER + "    username: root\n"),
                       ("exec", USER + "    exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-program-here}\n"),
                       ("exec-old", USER + "    exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: /bin/true}\n"),
                       ("exec-always", USER + "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n"
                        "      command: /bin/true\n      interactiveMode: Always\n"),
                       ("broken", "clusters: [\n")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o600)
    (folder / "open.json").write_text(KEY)
    (folder / "open.json").chmod(0o666)
    (folder / "folder").mkdir()
    (folder / "fake.so").write_text("no shared object\n")


# Name, text with D for the folder, the line (0: none can be named) and the words. What is told first counts.
CASES = [
    # --- what is no configuration ---
    ("yaml", "alicloud:\n  cluster_id: c-test\nplugins:\n- name: clb\n", 2, "looks like YAML"),
    ("config-map", "apiVersion: v1\nkind: ConfigMap\ndata:\n  ccmd.conf: |\n    log: { };\n", 1, "looks like YAML"),
    ("yaml-document", "---\nlog:\n  level: info\n", 1, "looks like YAML"),
    ("json", '{\n  "alicloud": {"cluster_id": "c-test"}\n}\n', 1, "looks like JSON"),
    ("json-list", '[ "clb" ]\n', 1, "looks like JSON"),
    ("empty", "", 0, "option 'plugins' is required"),
    # --- syntax ---
    ("open-brace", extra("log: {\n    level = \"info\";\n\nadmin: { listen = \"\"; };\n"), 6, "the '{' that begins here has no end"),
    ("open-list", 'alicloud: { cluster_id = "c"; };\nplugins = (\n    { name = "clb"; },\n    { name = "nlb"; };\n', 4,
     "expected ',' or ')'"),
    ("wrong-bracket", extra('log: {\n    level = "info";\n);\n'), 8, "')' ends the '{' of line 6"),
    ("closed-twice", extra('log: { level = "info"; };\n};\n'), 7, "'}' ends nothing"),
    ("no-quotes", extra("log: {\n    level = info;\n};\n"), 7, "level: a text needs quotes: \"info\""),
    ("no-quotes-path", extra("plugin_dir = /usr/lib/ccmd;\n"), 6, "plugin_dir: a text needs quotes"),
    ("no-value", extra("log: {\n    level = ;\n};\n"), 7, "level: a value is missing"),
    ("no-sign", extra("log: {\n    level \"info\";\n};\n"), 7, "level: '=' is missing"),
    ("open-text", extra("log: {\n    level = \"info;\n};\n"), 7, "the text that begins here has no end"),
    ("yes", extra("leader_election: { enabled = yes; };\n"), 6, "enabled: write true or false, not yes"),
    ("list-of-entries", 'alicloud: { cluster_id = "c"; };\nplugins = [ { name = "clb"; } ];\n', 2, "plugins: an array [ ] has plain values only"),
    ("twice", extra("log: { level = \"info\"; };\nlog: { level = \"warn\"; };\n"), 7, "duplicate"),
    ("include", extra('@include "more.conf"\n'), 6, "@include is not supported"),
    # --- options of the daemon ---
    ("unknown-key", extra("log: {\n    levl = \"info\";\n};\n"), 7, "unknown option 'log.levl' (did you mean 'level'?)"),
    ("type", extra("log: {\n    level = 3;\n};\n"), 7, "'log.level'"),
    ("choice", extra("log: {\n    level = \"verbose\";\n};\n"), 7, "'verbose' is none of error|warn|info|debug"),
    ("range", clb("\n    workers = 0;"), 6, "'clb.workers'"),
    ("open-listen", extra('admin: {\n    listen = "0.0.0.0:10258";\n};\n'), 7, "others can reach 0.0.0.0:10258"),
    ("listen", extra('admin: {\n    listen = "localhost";\n};\n'), 7, "is no ADDRESS:PORT"),
    ("cert-alone", extra('admin: {\n    tls_cert_file = "D/key.json";\n};\n'), 6, "tls_cert_file and tls_key_file go together"),
    ("cert-missing", extra('admin: {\n    tls_cert_file = "D/no.pem";\n    tls_key_file = "D/no.key";\n};\n'), 7, "D/no.pem: No such file"),
    ("lease", extra("leader_election: {\n    name = \"\";\n};\n"), 6, "name and namespace may not be empty"),
    ("no-plugins", 'alicloud: {\n    cluster_id = "c-test";\n};\n', 0, "option 'plugins' is required"),
    # --- the API server ---
    ("kubeconfig-missing", kube("D/no"), 7, "D/no: No such file or directory"),
    ("kubeconfig-broken", kube("D/broken"), 7, "D/broken:"),
    ("kubeconfig-folder", kube("D/folder"), 7, "D/folder"),
    ("kubeconfig-user", kube("D/no-user"), 7, 'none is named "you"'),
    ("kubeconfig-basic", kube("D/basic"), 7, "basic authentication is not supported"),
    ("exec-missing", kube("D/exec"), 7, "no-such-program-here: is not in PATH"),
    ("exec-old", kube("D/exec-old"), 7, "v1alpha1 is not supported"),
    ("exec-always", kube("D/exec-always"), 7, "asks a person"),
    # --- plugins ---
    ("plugin-missing", BASE.replace('"clb"', '"cbl"'), 5, "plugin cbl: P/cbl.so: no such file"),
    ("plugin-file", clb('file = "D/fake.so";'), 5, "plugin clb: D/fake.so"),
    ("plugin-name", BASE.replace('name = "clb"', 'name = "nlb"; file = "clb.so"'), 5, 'its own name is "clb"'),
    ("plugin-twice", extra("").replace("} );", '},\n  { name = "clb"; } );'), 6, "plugin 'clb' is listed twice"),
    ("cluster-id", BASE.replace('"c-test"', '"c test/ü"'), 3, "'alicloud.cluster_id'"),
    ("no-cluster-id", BASE.replace('    cluster_id = "c-test";\n', ""), 1, "'alicloud.cluster_id' is required"),
    ("region", cloud('region = "cn/test";'), 2, "alicloud.region"),
    ("endpoint", cloud('endpoints: {\n        slb = "ht!tp://x y";\n    };'), 3, "endpoints.slb"),
    ("plain-endpoint", cloud('endpoints: { slb = "http://127.0.0.1:1"; };'), 2, "endpoints.slb"),
    ("vswitch", cloud('vswitch_ids = [ "cn-a:" ];'), 2, "alicloud.vswitch_ids"),
    ("ca-file", cloud('ca_file = "D/no.pem";'), 2, "alicloud.ca_file: D/no.pem: No such file"),
    ("source", cloud('credentials: { source = "file"; };'), 2, 'alicloud.credentials.source is "file", but'),
    ("key-missing", cloud('credentials: {\n        file = "D/no.json"; };'), 3, "D/no.json: No such file"),
    ("key-folder", cloud('credentials: {\n        file = "D/folder"; };'), 3, "must be a regular file"),
    ("key-open", cloud('credentials: {\n        file = "D/open.json"; };'), 3, "that only its owner may write (mode 666)"),
    ("key-no-json", cloud('credentials: {\n        file = "D/no-json"; };'), 3, "no-json: no JSON object"),
    ("key-half", cloud('credentials: {\n        file = "D/half.json"; };'), 3, "access key id or secret is missing"),
    ("key-empty", cloud('credentials: {\n        file = "D/empty.json"; };'), 3, "no JSON object"),
    ("token-missing", cloud('credentials: { source = "oidc"; role_arn = "acs:ram::1:role/x"; oidc_provider_arn = "p";\n'
                            '        oidc_token_file = "D/no.token"; };'), 3, "D/no.token: No such file"),
    ("cidr", route('        cluster_cidr = "10.96.0.0/33";'), 7, '"10.96.0.0/33" is no network'),
    ("cidr-word", route('        cluster_cidr = "foo";'), 7, '"foo" is no network'),
]


def check(build, folder, text, env=None):
    path = folder / "ccmd.conf"
    path.write_text(text.replace("D/", f"{folder}/"), encoding="utf-8")
    lines = f'plugin_dir = "{os.path.abspath(os.path.join(build, "plugins"))}"; '
    if "plugin_dir" not in text and re.match(r"alicloud: \{", text):  # in front: no line moves
        path.write_text(lines + path.read_text(encoding="utf-8"), encoding="utf-8")
    return path, *proc.run([os.path.join(build, "bin", "ccmd"), "check-config", "--config", path],
                           env={"ACCESS_KEY_ID": "key", "ACCESS_KEY_SECRET": "secret", **(env or {})})


@pytest.mark.parametrize("text, line, words", [pytest.param(*case[1:], id=case[0]) for case in CASES])
def test_what_is_wrong_is_told(build, tmp_path, text, line, words):
    files(tmp_path)
    path, code, out, err = check(build, tmp_path, text)
    assert code == 1 and out == "", (out, err)
    told = [row for row in err.splitlines() if words.replace("D/", f"{tmp_path}/").replace("P/", f"{build}/plugins/") in row]
    assert told, err
    where = f"{path}:{line}: " if line > 0 else f"{path}: "
    assert told[0].startswith(where), err
    assert err.splitlines()[0] == told[0], err


def test_what_is_right_is_right(build, tmp_path):
    files(tmp_path)
    assert check(build, tmp_path, cloud('credentials: { file = "D/key.json"; };'))[1] == 0


EXEC = USER + "    exec: {apiVersion: client.authentication.k8s.io/v1, command: D/program}\n"
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def program(folder):
    (folder / "program").write_text("#!/bin/sh\n")
    (folder / "program").chmod(0o755)


@pytest.mark.parametrize("mode, uid, words", [
    (0o666, 0, "can be written by others (mode 0666): chmod go-w "), (0o664, 0, "can be written by its group (mode 0664): chmod go-w "),
    pytest.param(0o644, 4711, "belongs to uid 4711, neither to root nor to this process (uid 0): chown root ", marks=ROOT_ONLY),
    (0o644, 0, None), (0o444, 0, None)], ids=["others", "group", "owner", "shipped", "config-map"])
def test_who_can_change_the_files(build, tmp_path, mode, uid, words):
    """A warning about the configuration, and about the kubeconfig; with a program to run in it, an error."""
    def spoil(path):
        path.chmod(mode)
        if uid != 0:
            os.chown(path, uid, -1)

    folder = tmp_path / "conf.d"
    folder.mkdir()
    program(tmp_path)
    kubeconfig = tmp_path / "kubeconfig"
    lines = f'plugin_dir = "{os.path.abspath(os.path.join(build, "plugins"))}"; ' + kube(kubeconfig)
    for name, text in (("a.conf", lines), ("b.conf", "log: { };\n")):
        (folder / name).write_text(text)
        spoil(folder / name)
    command = [os.path.join(build, "bin", "ccmd"), "check-config", "--config", folder]
    for text in (USER + "    {}\n", EXEC.replace("D/", f"{tmp_path}/")):
        kubeconfig.write_text(text)
        spoil(kubeconfig)
        code, _, err = proc.run(command, env={"ACCESS_KEY_ID": "key", "ACCESS_KEY_SECRET": "secret"})
        for path in (folder / "a.conf", folder / "b.conf", kubeconfig):
            assert len([line for line in err.splitlines() if f"{words}{path}" in line]) == (0 if words is None else 1), err
        assert code == (1 if words is not None and "exec" in text else 0), err
        assert ("a kubeconfig with exec decides which program runs" in err) == (code == 1), err
        if words is None:
            assert err == ""
    kubeconfig.unlink()
    code, _, err = proc.run([os.path.join(build, "bin", "ccmd"), "run", "--config", folder])
    assert code == 1 and len([line for line in err.splitlines() if " warn " in line and "conf.d/" in line]) == (0 if words is None else 2), err


@pytest.mark.parametrize("spoil, words", [
    (lambda folder: (folder / "program").chmod(0o777), "program: the file can be written by others (mode 0777)"),
    (lambda folder: folder.chmod(0o777), "can be written by others (mode 0777)"),
    pytest.param(lambda folder: os.chown(folder / "program", 4711, -1), "program: the file belongs to uid 4711", marks=ROOT_ONLY)],
    ids=["mode", "folder", "owner"])
def test_who_can_change_a_credential_plugin(build, tmp_path, spoil, words):
    folder = tmp_path / "bin"
    folder.mkdir()
    program(folder)
    (tmp_path / "kubeconfig").write_text(EXEC.replace("D/", f"{folder}/"))
    (tmp_path / "kubeconfig").chmod(0o600)
    assert check(build, tmp_path, kube("D/kubeconfig"))[1] == 0
    (tmp_path / "kubeconfig").write_text(EXEC.replace("D/program", "program"))
    path = {"PATH": f"{folder}:{os.environ['PATH']}"}
    assert check(build, tmp_path, kube("D/kubeconfig"), path)[1] == 0
    spoil(folder)
    _, code, _, err = check(build, tmp_path, kube("D/kubeconfig"), path)
    assert code == 1 and "users[me].user.exec.command: " in err and words in err, err


@ROOT_ONLY
def test_volumes_of_a_pod_pass(build, tmp_path):
    """As a kubelet mounts ConfigMaps and Secrets: a folder of mode 0777, links into one of the present version, files of root."""
    version = tmp_path / "volume" / "..2026_01_01"
    version.mkdir(parents=True)
    (tmp_path / "volume").chmod(0o777)
    (tmp_path / "volume" / "..data").symlink_to(version.name)
    program(tmp_path)
    lines = f'plugin_dir = "{os.path.abspath(os.path.join(build, "plugins"))}"; ' + kube(tmp_path / "volume" / "kubeconfig")
    for name, text in (("ccmd.conf", lines), ("kubeconfig", EXEC.replace("D/", f"{tmp_path}/"))):
        (version / name).write_text(text)
        (version / name).chmod(0o644)
        (tmp_path / "volume" / name).symlink_to(f"..data/{name}")
    told = proc.run([os.path.join(build, "bin", "ccmd"), "check-config", "--config", tmp_path / "volume"],
                    env={"ACCESS_KEY_ID": "key", "ACCESS_KEY_SECRET": "secret"})
    assert told == (0, f"{tmp_path}/volume: ok, plugins: 1\n", "")


def test_without_proc(build, tmp_path):
    """In the root of an image that is being built nothing is mounted there; plugins lie beside the program."""
    if proc.sanitizer(build):
        pytest.skip("a sanitizer needs /proc")
    hide = ["unshare", "--mount", "--map-root-user", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if shutil.which("unshare") is None or proc.run([*hide, "true"])[0] != 0:
        pytest.skip("no mount namespace can be made here")
    assert proc.run([*hide, "test", "-e", "/proc/self"])[0] == 1
    (tmp_path / "bin").mkdir()
    shutil.copy(os.path.join(build, "bin", "ccmd"), tmp_path / "bin")
    shutil.copytree(os.path.join(build, "lib/ccmd"), tmp_path / "lib/ccmd", symlinks=True)
    os.makedirs(tmp_path / "lib/ccmd/plugins")
    for name in ("libccm-alicloud.so.1", "plugins/clb.so"):
        place = next(os.path.join(folder, os.path.basename(name)) for folder, _, names in os.walk(build)
                     if os.path.basename(name) in names)
        shutil.copy(place, tmp_path / "lib/ccmd" / name)
    path = tmp_path / "ccmd.conf"
    path.write_text(BASE)
    told = proc.run([*hide, tmp_path / "bin/ccmd", "check-config", "--config", path], env={"LD_LIBRARY_PATH": f"{tmp_path}/lib/ccmd"})
    assert told == (0, f"{path}: ok, plugins: 1\n", "")
