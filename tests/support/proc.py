"""Processes of a test: started, waited for, ended, and looked at for complaints of the sanitizers."""

import contextlib
import functools
import json
import os
import random
import re
import signal
import socket
import subprocess
import time

# Processes inherit the mask of whoever starts them. Set here, not in each of them: a child that runs Python is a copy, which is slow.
signal.pthread_sigmask(signal.SIG_SETMASK, ())
SLOW = float(os.environ.get("CCM_TEST_SLOW", "1"))
# For a process that leaves threads behind on purpose, because they hang.
LEAVES_THREADS = {"TSAN_OPTIONS": " ".join(filter(None, [os.environ.get("TSAN_OPTIONS"), "report_thread_leaks=0"]))}
COMPLAINT = re.compile(rb"(ERROR: \w*Sanitizer|WARNING: ThreadSanitizer|runtime error:|LeakSanitizer)")
# Of every ccmd that is told nothing else: two tests at the same time would both want it.
DEFAULT_PORT = re.compile(rb"admin: (listening|cannot listen) on 127\.0\.0\.1:10258")


# Below those that a machine gives to clients: no connection of another test takes one between the look and its use.
PORTS = range(12000, 30000)


def free_ports(count):
    """Different ports of 127.0.0.1 that nobody listens on, for those who must know theirs before they listen."""
    found = set()
    while len(found) < count:
        port = random.SystemRandom().choice(PORTS)
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.add(port)
    return sorted(found)


def free_port():
    return free_ports(1)[0]


def sanitizer(build):
    """With what a build is: "address" or "thread" or ""."""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        return re.search(r"^CCM_SANITIZE:\w+=(\w*)$", file.read(), re.M)[1]


def environment(more=None):
    """Ours with others in it. pytest removes a name of it while threads of a test start processes: {**os.environ} would fail then."""
    ours = {name: os.environ.get(name) for name in list(os.environ)}
    return {**{name: value for name, value in ours.items() if value is not None}, **(more or {})}


class Process:
    """argv started with standard output in PREFIX.out and standard error in PREFIX.err."""

    def __init__(self, argv, prefix, env=None):
        self.argv = [str(a) for a in argv]
        self.listens = None  # the address of its admin server, once somebody has looked
        self.out_path = f"{prefix}.out"
        self.err_path = f"{prefix}.err"
        os.makedirs(os.path.dirname(os.path.abspath(self.out_path)), exist_ok=True)
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.popen = subprocess.Popen(
                self.argv,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment(env),
                start_new_session=True,  # Ctrl-C in a terminal is the business of whoever started us
            )

    def alive(self):
        return self.popen.poll() is None

    def busy(self):
        """Whether a thread of it runs, or would if it had a processor."""
        folder = f"/proc/{self.popen.pid}/task"
        for thread in os.listdir(folder) if self.alive() else []:
            try:
                with open(f"{folder}/{thread}/stat", encoding="utf-8", errors="replace") as file:
                    if file.read().rpartition(") ")[2][:1] in ("R", "D"):
                        return True
            except (FileNotFoundError, ProcessLookupError):
                pass  # it has just ended
        return False

    @contextlib.contextmanager
    def paused(self):
        """SIGSTOP and, at the end, SIGCONT: it sees together what happens meanwhile."""
        self.popen.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.popen.send_signal(signal.SIGCONT)

    def out(self):
        with open(self.out_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def err(self):
        with open(self.err_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_listening(self, timeout=20.0):
        """Address after "listening on " on standard output."""
        deadline = time.monotonic() + timeout * SLOW
        while time.monotonic() < deadline:
            match = re.search(r"^listening on (\S+)\s*$", self.out(), re.M)
            if match:
                return match.group(1)
            if not self.alive():
                break
            time.sleep(0.01)
        raise AssertionError(f"{self.argv[0]} does not listen: {self.out()}{self.err()}")

    def wait_exit(self, timeout=20.0):
        """The exit code."""
        try:
            return self.popen.wait(timeout * SLOW)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.argv} does not end:\n{self.err()[-4000:]}") from None

    def stop(self, timeout=20.0):
        """SIGTERM; the exit code must be 0 and no sanitizer may have complained."""
        if self.alive():
            self.popen.send_signal(signal.SIGTERM)
        code = self.wait_exit(timeout)
        self.check_complaints()
        assert code == 0, f"{self.argv} ended with {code}:\n{self.err()[-4000:]}"

    def kill(self):
        """SIGKILL."""
        if self.alive():
            self.popen.kill()
        self.popen.wait()
        self.check_complaints()

    def check_complaints(self):
        with open(self.err_path, "rb") as file:
            text = file.read()
        match = COMPLAINT.search(text)
        assert match is None, text[max(0, match.start() - 500) : match.start() + 6000].decode(errors="replace")
        assert DEFAULT_PORT.search(text) is None, f"{self.argv}: no admin.listen of its own in its configuration"


def run(argv, stdin=None, env=None, timeout=60.0):
    """A command to its end: (exit code, standard output, standard error)."""
    result = subprocess.run(
        [str(a) for a in argv],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        env=environment(env),
        timeout=timeout * SLOW,
        check=False,
    )
    return result.returncode, result.stdout.decode(errors="replace"), result.stderr.decode(errors="replace")


@functools.cache
def kubectl_minor():
    """20 for kubectl 1.20."""
    code, out, err = run([os.environ.get("KUBECTL", "kubectl"), "version", "--client", "-o", "json"])
    assert code == 0, err
    return int(re.sub(r"\D", "", json.loads(out)["clientVersion"]["minor"]))


def kubectl(kubeconfig, *args, stdin=None, check=True):
    """kubectl with its cache beside the kubeconfig; returns standard output (and fails the test on an error)."""
    cache = os.path.join(os.path.dirname(os.path.abspath(kubeconfig)), "kubectl-cache")
    command = [os.environ.get("KUBECTL", "kubectl"), "--kubeconfig", kubeconfig, "--cache-dir", cache, *args]
    code, out, err = run(command, stdin=stdin)
    if check:
        assert code == 0, f"{' '.join(command)}: exit {code}\n{out}{err}"
        return out
    return code, out, err
