"""Ways to the API server that kubeconfigs describe: credential plugins (exec), KUBECONFIG with several files, contexts."""

import json
import os
import re
import stat
import time

import pytest

from tests.integration.test_robustness import secure_world
from tests.support import objects, proc
from tests.support.world import ACCESS_KEY, ACCESS_SECRET, wait

KEYS = {"ACCESS_KEY_ID": ACCESS_KEY, "ACCESS_KEY_SECRET": ACCESS_SECRET}
TOKEN = "first-token-of-the-test"
V1 = "client.authentication.k8s.io/v1"
PLUGIN = """#!/bin/sh
echo "$1|$EXTRA|$KUBERNETES_EXEC_INFO" >>D/runs
. D/behaviour
credential=$(cat D/credential) || exit
echo "$credential" >>D/given
echo "$credential"
"""


class Plugin:
    """A program that says what the file `credential` has, after the lines of `behaviour`."""

    def __init__(self, world, version=V1, extra=""):
        self.folder = world.folder
        self.version = version
        self.write("plugin", PLUGIN.replace("D/", f"{self.folder}/"))
        os.chmod(os.path.join(self.folder, "plugin"), stat.S_IRWXU)
        self.behave("")
        self.say(token=TOKEN)
        world.kubeconfig = self.write("by-exec", f"""apiVersion: v1
kind: Config
current-context: c
clusters: [{{ name: k, cluster: {{ server: "{world.kube.base}", certificate-authority: "{world.tls}/ca.crt" }} }}]
users:
- name: u
  user:
    exec:
      apiVersion: {version}
      command: ./plugin
      args: [get-token]
      env: [{{ name: EXTRA, value: more }}]
      {extra}
contexts: [{{ name: c, context: {{ cluster: k, user: u }} }}]
""")
        world.config = world.write_config(election="")  # which asks the server every two seconds

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path + ".new", 0o600)
        os.rename(path + ".new", path)
        return path

    def has_given_one_without_end(self):
        with open(os.path.join(self.folder, "given"), encoding="utf-8") as file:
            return any("token" in line and "expirationTimestamp" not in line for line in file)

    def behave(self, lines):
        self.write("behaviour", lines + "\n")

    def say(self, lives_s=None, **status):
        if lives_s is not None:
            status["expirationTimestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + lives_s))
        self.write("credential", json.dumps({"kind": "ExecCredential", "apiVersion": self.version, "status": status}))

    def runs(self):
        try:
            with open(os.path.join(self.folder, "runs"), encoding="utf-8") as file:
                return file.read().splitlines()
        except OSError:
            return []


@pytest.fixture
def secure(build, tmp_path):
    with secure_world(build, str(tmp_path), TOKEN) as world:
        yield world


def plan(world, *args, env=None):
    code, out, err = proc.run([world.binary("ccmd"), "plan", "--config", world.config, *args], env={**KEYS, **(env or {})})
    assert proc.COMPLAINT.search(err.encode()) is None, err
    return code, out, err


@pytest.mark.parametrize("version", [V1, V1 + "beta1"])
def test_a_plugin_says_who_we_are(secure, version):
    """Once for all requests, with arguments, environment and what it may want to know."""
    plugin = Plugin(secure, version, "provideClusterInfo: true")
    code, out, err = plan(secure)
    assert (code, out.splitlines()[-1]) == (0, "0 to change, 0 as they should be, 0 failed"), err
    (run,) = plugin.runs()
    argument, more, info = run.split("|", 2)
    info = json.loads(info)
    assert (argument, more) == ("get-token", "more") and (info["kind"], info["apiVersion"]) == ("ExecCredential", version)
    assert info["spec"]["interactive"] is False and info["spec"]["cluster"]["server"] == secure.kube.base
    assert info["spec"]["cluster"]["certificate-authority-data"]


def test_a_plugin_gets_what_it_needs_and_leaves_nothing(secure):
    """Of our environment neither keys nor options, no descriptor, and what it starts ends with it."""
    plugin = Plugin(secure)
    plugin.behave(f"env >{plugin.folder}/env; ls /proc/$$/fd >{plugin.folder}/fds; sleep 1000 & echo $! >{plugin.folder}/left")
    code, _, err = plan(secure, env={"TZ": "Asia/Shanghai", "HTTPS_PROXY": "", "all_proxy": "", "OUR_SECRET": "s3cret"})
    assert code == 0, err
    with open(os.path.join(plugin.folder, "env"), encoding="utf-8") as file:
        names = {line.split("=")[0] for line in file}
    assert {"PATH", "TZ", "HTTPS_PROXY", "all_proxy", "EXTRA", "KUBERNETES_EXEC_INFO"} <= names and not names & {"OUR_SECRET", *KEYS}, names
    with open(os.path.join(plugin.folder, "fds"), encoding="utf-8") as file:
        open_ones = set(file.read().split())
    assert not {fd for fd in open_ones if 2 < int(fd) < 10}, f"{open_ones}: but for the shell's own, from 10 on"
    with open(os.path.join(plugin.folder, "left"), encoding="utf-8") as file:
        left = file.read().strip()
    secure.wait(lambda: not os.path.exists(f"/proc/{left}") or open(f"/proc/{left}/stat", encoding="ascii").read().split()[2] == "Z",
                "the end of what it started")


def test_a_client_certificate(secure):
    plugin = Plugin(secure)
    plugin.say(**{name: open(os.path.join(secure.tls, file), encoding="utf-8").read()
                  for name, file in (("clientCertificateData", "client.crt"), ("clientKeyData", "client.key"))})
    code, _, err = plan(secure)
    assert code == 0 and len(plugin.runs()) == 1, err


def test_run_fetches_ahead_of_the_end_and_after_a_401(secure):
    plugin = Plugin(secure)
    plugin.say(token=TOKEN, lives_s=10)
    secure.start_ccmd()
    secure.wait(lambda: "plugin clb: started" in secure.log(), "the start")
    plugin.say(token=TOKEN)
    secure.wait(plugin.has_given_one_without_end, "another one, ahead of the end")
    before = len(plugin.runs())
    with open(secure.server_token, "w", encoding="utf-8") as file:
        file.write("second-token-of-the-test")
    plugin.say(token="second-token-of-the-test")
    secure.kube.http.token = "second-token-of-the-test"
    secure.restart_kubesim()
    secure.kube.create(objects.service("web", ((80, "TCP"),)))
    secure.wait(lambda: secure.kube.get("Service", "web")["metadata"].get("finalizers"), "a write with the second token")
    assert len(plugin.runs()) > before and "token-of-the-test" not in secure.log()


@pytest.mark.parametrize("behaviour, said, words", [
    ("echo 'no session: log in' >&2; exit 3", None, "credential plugin {}/./plugin: ended with exit code 3: no session: log in"),
    ("kill -9 $$", None, "was ended by signal 9"),
    ("", "token", "printed something that is no JSON"),
    ("", '{"kind": "ExecCredential", "apiVersion": "v2"}', f"printed something else than an ExecCredential of {V1}"),
    ("", json.dumps({"kind": "ExecCredential", "apiVersion": V1}), "printed neither a token nor a client certificate"),
    ("", json.dumps({"kind": "ExecCredential", "apiVersion": V1, "status": {"token": "a b"}}), "a token with blanks"),
    ("sleep 600 & sleep 600", None, "credential plugin {}/./plugin: it has been running for 2 s, all wait"),
])
def test_what_a_plugin_does_wrong_is_told(secure, behaviour, said, words):
    plugin = Plugin(secure)
    plugin.behave(behaviour)
    if said is not None:
        plugin.write("credential", said)
    code, _, err = plan(secure, "--timeout", "3")
    assert code == 1
    assert re.search(words.format(re.escape(secure.folder)), err), err
    assert len(plugin.runs()) <= 4  # with pauses between


@pytest.mark.parametrize("stream", ["1", "2"])
def test_what_prints_without_end_is_ended(secure, stream):
    """As fast as it can: time goes on all the same."""
    plugin = Plugin(secure)
    plugin.behave(f"exec cat /dev/zero >&{stream}")
    code, _, err = plan(secure, "--timeout", "3")
    assert code == 1 and "has been running for 2 s" in err, err
    secure.start_ccmd()
    secure.wait(lambda: len(plugin.runs()) > 1, "the program")
    secure.stop_ccmd()


def test_what_hangs_is_ended(secure):
    """With all that it has started, when ccmd ends."""
    plugin = Plugin(secure)
    plugin.behave(f"sleep 600 & echo $! >{secure.folder}/new; mv {secure.folder}/new {secure.folder}/child; wait")
    secure.start_ccmd()
    secure.wait(lambda: os.path.exists(f"{secure.folder}/child"), "the program")
    with open(f"{secure.folder}/child", encoding="utf-8") as file:
        child = int(file.read())
    secure.stop_ccmd()
    wait(lambda: not alive(child), "its child to be gone")


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


# --- which kubeconfig ---


def no_kubeconfig(world):
    path = world.write_config()
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(r'kubeconfig = "[^"]*";', "", text))
    return path


def test_kubeconfig_of_a_person(world, tmp_path):
    """KUBECONFIG with several files, then ~/.kube/config; an option comes before both."""
    world.config = no_kubeconfig(world)
    (tmp_path / "home/.kube").mkdir(parents=True)
    names, places = tmp_path / "names", tmp_path / "places"
    names.write_text("apiVersion: v1\nkind: Config\ncurrent-context: nobody\ncontexts: [{name: here, context: {cluster: k, user: u}}]\n"
                     "users: [{name: u, user: {}}]\n")
    places.write_text("apiVersion: v1\nkind: Config\ncurrent-context: other\n"
                      f"clusters: [{{name: k, cluster: {{server: \"{world.kube.base}\"}}}}]\n")
    empty = {"KUBECONFIG": "", "HOME": str(tmp_path / "home"), "KUBERNETES_SERVICE_HOST": ""}
    both = {**empty, "KUBECONFIG": f"{tmp_path}/missing:{names}:{places}"}
    code, _, err = plan(world, "--timeout", "5", env=empty)
    assert code == 1 and "option kubernetes.kubeconfig is not set" in err, err
    code, _, err = plan(world, "--timeout", "5", env=both)
    assert code == 1 and 'contexts: none is named "nobody"' in err, err
    assert plan(world, "--context", "here", env=both)[0] == 0
    (tmp_path / "home/.kube/config").write_text(open(world.kubeconfig, encoding="utf-8").read())
    assert plan(world, env=empty)[0] == 0
    assert plan(world, "--kubeconfig", world.kubeconfig, env={**empty, "KUBECONFIG": f"{tmp_path}/no"})[0] == 0
    code, _, err = plan(world, "--timeout", "5", env={**empty, "KUBECONFIG": f"{tmp_path}/no"})
    assert code == 1 and f"{tmp_path}/no: there is no such kubeconfig" in err, err
