"""Help, options, completions and manual pages of `ccmd`: all come from one table, and what the table has not is refused."""

import json
import os
import pty
import re
import select
import shutil
import signal
import time

import pytest

from tests.support import proc, terminal

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture(scope="module")
def ccmd(build):
    return lambda *words, **options: proc.run([os.path.join(build, "bin", "ccmd"), *words], **options)


def told(ccmd, *words):
    code, out, err = ccmd(*words)
    assert (code, err) == (0, ""), err
    return out


def section(text, title):
    return text.split(f"\n{title}:\n")[1].split("\n\n")[0]


@pytest.fixture(scope="module")
def table(ccmd):
    """{command: {option: the word its value is called, or None}} as help tells it."""
    commands = re.findall(r"^  ([a-z-]+) ", section(told(ccmd, "help"), "Commands"), re.M)
    assert {"run", "check-config", "plan", "lint", "plugins", "resync", "allow-removals", "convert-config", "version", "help"} <= set(commands)
    return {command: {name: value or None for name, value in re.findall(
        r"^  (?:-\w,|   ) --([a-z-]+)(?: ([A-Z]+))?", section(told(ccmd, "help", command), "Options"), re.M)} for command in commands}


def test_every_command_says_how_it_is_used(ccmd, table):
    for command, options in table.items():
        text = told(ccmd, "help", command)
        assert re.match(rf"[A-Z].*\.\n\nUsage: ccmd {command} \[OPTION...\]", text), text
        assert section(text, "Examples").count(f"ccmd {command}") >= 1 and re.search(r"^  0 +\w", section(text, "Exit status"), re.M)
        assert {"help", "version"} <= set(options)
        for words in ((command, "--help"), (command, "-h"), ("-h", command), (command, "-?")):
            assert told(ccmd, *words) == text
        assert max(len(line) for line in text.splitlines() if "ALIBABA" not in line) <= 100
    assert told(ccmd, "--help") == told(ccmd, "-h") == told(ccmd, "help")


TOOLS = {"check-config", "completion", "convert-config", "explain", "help", "lint", "plan", "plugins", "webhook"}


def test_tools_are_programs_of_their_own(build, table):
    """All commands but those of a running daemon: `ccmd lint` is lib/ccmd/ccmd-lint, which can be run alone, too."""
    assert TOOLS == set(table) - {"run", "status", "resync", "allow-removals", "version"}
    folder = os.path.join(build, "lib/ccmd")
    assert {name for name in os.listdir(folder) if name.startswith("ccmd-")} == {f"ccmd-{name}" for name in (*TOOLS, "tools")}
    for name in TOOLS:
        for words in (("--help",), ("--version",), ("--nonsense",)):
            assert proc.run([os.path.join(folder, f"ccmd-{name}"), *words]) == proc.run([os.path.join(build, "bin", "ccmd"), name, *words])


@pytest.fixture
def alone(build, tmp_path):
    """ccmd without its tools, and a program of the name of each of them where ccmd may not look."""
    os.makedirs(tmp_path / "bin")
    os.makedirs(tmp_path / "elsewhere/lib/ccmd")
    shutil.copy(os.path.join(build, "bin", "ccmd"), tmp_path / "bin")
    for name in (*TOOLS, "other"):
        for folder in ("elsewhere", "elsewhere/lib/ccmd", "bin"):
            (tmp_path / folder / f"ccmd-{name}").write_text("#!/bin/sh\necho wrong\n")
            (tmp_path / folder / f"ccmd-{name}").chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_that_is_missing_is_named(alone, name):
    """With its file and the package that installs it. Neither PATH, the working directory nor the name of the program counts."""
    words = [name, *({"convert-config": ["file"], "lint": ["file"], "completion": ["bash"]}.get(name, []))]
    expected = (1, "", f"ccmd: {name}: {alone}/lib/ccmd/ccmd-{name}: No such file or directory; package ccmd installs this file\n")
    environment = {"PATH": f"{alone}/elsewhere:{alone}/bin:{os.environ['PATH']}"}
    said = [proc.run(["bash", "-c", f'cd {alone}/elsewhere && {line} "$@"', "-", *words], env=environment) for line in (
        f"exec {alone}/bin/ccmd", "exec ccmd", f"exec -a {alone}/elsewhere/bin/ccmd {alone}/bin/ccmd")]
    assert said == [expected] * 3


def test_only_known_tools_are_run(alone):
    os.makedirs(alone / "lib/ccmd")
    shutil.copy(alone / "elsewhere/ccmd-other", alone / "lib/ccmd")
    assert proc.run([alone / "bin/ccmd", "other"]) == (2, "", "ccmd: unknown command 'other'; see ccmd help\n")
    shutil.copy(alone / "elsewhere/ccmd-lint", alone / "lib/ccmd")
    assert proc.run([alone / "bin/ccmd", "lint", "file"])[1] == "wrong\n"


def test_examples_use_what_there_is(ccmd, table):
    for command in table:
        for line in re.findall(r"^  (?!#)(.*)$", section(told(ccmd, "help", command), "Examples"), re.M):
            for said in re.findall(r"ccmd ([a-z-]+)([^|<>]*)", line):
                assert said[0] in table, line
                for option in re.findall(r"(?<!\S)--([a-z-]+)", said[1].split(" -- ")[0]):
                    assert option in table[said[0]], line


def test_version(ccmd):
    with open(os.path.join(ROOT, "VERSION"), encoding="utf-8") as file:
        number = file.read().strip()
    for words in (("--version",), ("-V",), ("version",), ("plan", "--version")):
        assert told(ccmd, *words) == f"ccmd {number} (plugin ABI 1)\n"
    assert json.loads(told(ccmd, "version", "-o", "json")) == {"version": number, "abi": {"major": 1, "minor": 1}}


def test_options_of_other_commands_are_refused(ccmd, table):
    every = {name: value for options in table.values() for name, value in options.items()}
    for command, options in table.items():
        for name in set(every) - set(options):
            code, out, err = ccmd(command, f"--{name}", *(["x"] if every[name] else []))
            assert code == 2 and out == "", (command, name, out)
            assert err.startswith(f"ccmd: {command} takes no --{name}, which is for ") and err.endswith(f"; see ccmd help {command}\n"), err


@pytest.mark.parametrize("words, said", [
    (("plna",), "unknown command 'plna' (did you mean 'plan'?); see ccmd help"),
    (("frobnicate",), "unknown command 'frobnicate'; see ccmd help"),
    (("help", "frobnicate"), "unknown command 'frobnicate'; see ccmd help"),
    (("plan", "--timeot", "1"), "unknown option '--timeot' (did you mean '--timeout'?); see ccmd help plan"),
    (("plan", "-x"), "unknown option '-x'; see ccmd help plan"),
    (("plan", "--timeout"), "--timeout: SECONDS is missing; see ccmd help plan"),
    (("plan", "--timeout", "0"), "--timeout 0: not a number from 1 to 86400; see ccmd help plan"),
    (("plan", "--event=yes"), "--event takes no value; see ccmd help plan"),
    (("plan", "-o", "yaml"), "--output: 'yaml' is none of text|json; see ccmd help plan"),
    (("plan", "now"), "plan takes no argument, got 'now'; see ccmd help plan"),
    (("lint",), "lint: FILE... is missing; see ccmd help lint"),
    (("allow-removals", "clb", "nlb"), "allow-removals: there is one argument too many: 'nlb'; see ccmd help allow-removals"),
    (("convert-config",), "convert-config: CLOUD_CONFIG is missing; see ccmd help convert-config"),
    (("completion", "tcsh"), "completion: 'tcsh' is none of bash|zsh|fish; see ccmd help completion"),
])
def test_wrong_usage_is_explained(ccmd, words, said):
    assert ccmd(*words) == (2, "", f"ccmd: {said}\n")


def test_options_stand_anywhere(ccmd, tmp_path):
    (tmp_path / "no.conf").write_text("")
    for words in (("check-config", "--config", "no.conf"), ("--config", "no.conf", "check-config"), ("-cno.conf", "check-config"),
                  ("check-config", "--config=no.conf"), ("check-config", "-c", "no.conf")):
        code, _, err = proc.run(["env", f"--chdir={tmp_path}", os.path.join(os.environ["CCM_BUILD_DIR"], "bin", "ccmd")
                                 if os.path.isabs(os.environ["CCM_BUILD_DIR"]) else
                                 os.path.abspath(os.path.join(os.environ["CCM_BUILD_DIR"], "bin", "ccmd")), *words])
        assert code == 1 and err.startswith("no.conf: option 'plugins' is required"), err


# --- output for programs ---


@pytest.fixture
def config(build, tmp_path):
    path = tmp_path / "ccmd.conf"
    path.write_text(f'plugin_dir = "{build}/plugins"; alicloud: {{ cluster_id = "c-test"; }};\n'
                    'plugins = ( { name = "clb"; }, { name = "nlb"; enabled = false; } );\n')
    return str(path)


def test_check_config_for_programs(ccmd, config):
    assert json.loads(told(ccmd, "check-config", "-o", "json", "--config", config)) == {"file": config, "ok": True, "findings": []}
    with open(config, "a", encoding="utf-8") as file:
        file.write("log: { level = 1; };\nfoo = 2;\n")
    code, out, err = ccmd("check-config", "-o", "json", "--config", config)
    findings = json.loads(out)["findings"]
    assert (code, err, json.loads(out)["ok"]) == (1, "", False)
    assert [(one["file"], one["line"], one["level"]) for one in findings] == [(config, 3, "error"), (config, 4, "error")]
    assert findings[1]["message"] == "unknown option 'foo'"


def test_plugins_for_programs(ccmd, config):
    assert told(ccmd, "plugins", "-o", "name", "--config", config) == "clb\n"
    plugin = json.loads(told(ccmd, "plugins", "-o", "json", "--config", config))
    assert plugin["name"] == "clb" and plugin["abi"] == 1 and plugin["file"].endswith("/clb.so")
    assert {"kind": "services"} in [{"kind": watch["kind"].lower().rstrip("s") + "s"} for watch in plugin["watches"] if "kind" in watch]
    option = next(one for one in plugin["options"] if one["name"] == "cluster_id")
    assert option["group"] == "alicloud" and option["required"] and not option["live"] and option["pattern"]


def test_check_config_has_colours_on_a_terminal(build, config):
    command = [os.path.join(build, "bin", "ccmd"), "check-config", "--config", config]
    assert terminal.run(command)[2] == f"{config}: \033[32mok\033[0m, plugins: 1\r\n"
    with open(config, "a", encoding="utf-8") as file:
        file.write("foo = 2;\n")
    assert terminal.run(command)[2] == f"\033[1m{config}:3: \033[0m\033[31munknown option 'foo'\033[0m\r\n"
    assert terminal.run(command, NO_COLOR="1")[2] == f"{config}:3: unknown option 'foo'\r\n"


# --- completions ---


def bash(build, *words):
    script = 'source etc/completion/ccmd.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ccmd; printf "%s\\n" "${COMPREPLY[@]}"'
    code, out, err = proc.run(["env", f"--chdir={ROOT}", "bash", "-c", script, "bash", os.path.join(build, "bin", "ccmd"), *words])
    assert (code, err) == (0, ""), err
    return set(out.split())


def test_completion_of_bash(build, table, config):
    assert bash(build, "") == set(table)
    assert bash(build, "pl") == {"plan", "plugins"}
    for command, options in table.items():
        assert bash(build, command, "--") == {f"--{name}" for name in options}
    assert bash(build, "help", "pl") == {"plan", "plugins"} and bash(build, "completion", "") == {"bash", "zsh", "fish"}
    assert bash(build, "plan", "-o", "") == bash(build, "plan", "--output", "=", "") == {"text", "json"}
    assert bash(build, "check-config", "--config", "etc/ccmd.c") == {"etc/ccmd.conf"}
    assert bash(build, "allow-removals", "--config", config, "") == {"clb"}
    assert bash(build, "explain", "--config", config, "bandw") == {"bandwidth"}


class Zsh:
    """A shell behind a terminal, in which keys are pressed."""

    def __init__(self, programs, folder):
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(ROOT)
            os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "TERM": "dumb", "HOME": folder})
        self.pid = pid
        shutil.copy(os.path.join(ROOT, "etc/completion/ccmd.zsh"), os.path.join(folder, "_ccmd"))
        self.press(f"PS1=; unsetopt zle; setopt zle; fpath=({folder} $fpath); autoload -U compinit; compinit -u -D; echo re''ady\n", "ready\r\n")

    def press(self, keys, until):
        """What is shown from then on, up to that text."""
        os.write(self.terminal, keys.encode())
        shown, deadline = "", time.monotonic() + 30 * proc.SLOW
        while until not in shown:
            ready = select.select([self.terminal], [], [], max(0, deadline - time.monotonic()))[0]
            assert ready, f"{until!r} is not shown: {shown!r}"
            shown += os.read(self.terminal, 4096).decode(errors="replace").replace("\x07", "")
        return shown

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def configured(build, config, tmp_path):
    """A folder with a `ccmd` whose configuration is that one, as an installed one has /etc/ccmd/ccmd.conf."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "ccmd").write_text(f'#!/bin/sh\nexec {os.path.abspath(build)}/bin/ccmd "$@" --config {config}\n')
    (folder / "ccmd").chmod(0o755)
    return folder


def test_completion_of_zsh(build, table, config, tmp_path):
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    text = open(os.path.join(ROOT, "etc/completion/ccmd.zsh"), encoding="utf-8").read()
    for command, options in table.items():
        body = text.split(f"\n    {command})\n")[1].split(";;")[0]
        assert {name for name in re.findall(r"--([a-z-]+)[\[}]", body)} == set(options), command
        assert re.search(rf"^        '{command}:", text, re.M), command
    shell = Zsh(configured(build, config, tmp_path), str(tmp_path))
    try:
        shell.press("ccmd conv\t", "convert-config ")
        shell.press("\x15ccmd plan --ti\t", "--timeout ")
        shell.press("\x15ccmd plan -o js\t", "json ")
        shell.press("\x15ccmd completion f\t", "fish ")
        shell.press("\x15ccmd allow-removals \t", "clb ")
        shell.press("\x15ccmd explain bandw\t", "bandwidth ")
    finally:
        shell.end()


def test_completion_of_fish(build, table, config, tmp_path):
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")

    def fish(line):
        code, out, err = proc.run(["fish", "--no-config", "-c", f"source {ROOT}/etc/completion/ccmd.fish; complete -C '{line}'"],
                                  env={"PATH": f"{configured(build, config, tmp_path)}:{os.environ['PATH']}", "HOME": str(tmp_path)})
        assert code == 0, err
        return {row.split("\t")[0] for row in out.splitlines()}

    assert fish("ccmd ") == set(table)
    for command, options in table.items():
        assert fish(f"ccmd {command} --") == {f"--{name}" for name in options}
    assert fish("ccmd allow-removals ") == {"clb"} and fish("ccmd explain bandw") == {"bandwidth"}
    assert fish("ccmd completion ") == {"bash", "zsh", "fish"} and fish("ccmd plan -o ") == {"text", "json"}


def test_completions_are_those_that_are_installed(ccmd):
    for shell in ("bash", "zsh", "fish"):
        with open(os.path.join(ROOT, "etc", "completion", f"ccmd.{shell}"), encoding="utf-8") as file:
            assert told(ccmd, "completion", shell) == file.read()


# --- manual pages ---


def test_manual_has_every_command_and_option(table):
    page = open(os.path.join(ROOT, "etc/man/ccmd.8"), encoding="utf-8").read()
    for name in ("SYNOPSIS", "COMMANDS", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES"):
        assert f"\n.Sh {name}\n" in page
    for command, options in table.items():
        part = page.split(f"\n.Ss {command}\n")[1].split("\n.Ss ")[0]
        for option in set(options) - {"help", "version"}:
            assert re.search(rf"^\.It .*Fl -{option}\b", part, re.M), (command, option)
    assert ".It Ev KUBERNETES_SERVICE_HOST" in page


def test_manual_of_the_configuration_has_every_option():
    page = open(os.path.join(ROOT, "etc/man/ccmd.conf.5"), encoding="utf-8").read()
    with open(os.path.join(ROOT, "docs/configuration.md"), encoding="utf-8") as file:
        names = re.findall(r"^\| `([a-z_.]+)` \|", file.read(), re.M)
    assert len(names) > 60
    for name in names:
        assert re.search(rf"^\.It Va {re.escape(name)}$", page, re.M), name


def test_manual_pages_are_well_formed():
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    for page in ("ccmd.8", "ccmd.conf.5"):
        out = proc.run(["mandoc", "-T", "lint", "-W", "warning", os.path.join(ROOT, "etc/man", page)])[1]
        assert out == ""
