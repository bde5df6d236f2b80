"""Several HTTP calls at once in one reconcile: http_begin() and http_end(), and what becomes of those that nobody ends."""

import http.server
import os
import re
import threading

import pytest

from tests.support import objects

MOST = 32


class Slow:
    """Answers once `together` calls are open at the same time, or when released."""

    def __init__(self):
        slow = self
        self.lock = threading.Condition()
        self.together = 1
        self.open = 0
        self.most = 0
        self.seen = []
        self.ended = False

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                text = slow.hold(f"{self.path} {self.headers['X-Number']} {body}").encode()
                try:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    pass  # given up by the other side

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/call"

    def hold(self, what):
        with self.lock:
            self.open += 1
            self.most = max(self.most, self.open)
            self.seen.append(what)
            self.lock.notify_all()
            self.lock.wait_for(lambda: self.most >= self.together or self.ended)
            self.open -= 1
        return f"answer to {what}"

    def stop(self):
        with self.lock:
            self.ended = True
            self.lock.notify_all()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def slow():
    server = Slow()
    yield server
    server.stop()


@pytest.fixture
def calling(world, build, tmp_path, slow):
    file = os.path.abspath(os.path.join(build, "tests", "abi", "calling.so"))
    config = tmp_path / "calling.conf"
    config.write_text(
        f'kubernetes: {{ kubeconfig = "{world.kubeconfig}"; }};\nleader_election: {{ enabled = false; }};\n'
        f'admin: {{ listen = "127.0.0.1:0"; }};\nplugins = ( {{ name = "calling"; file = "{file}"; url = "{slow.url}"; }} );\n')
    world.start_ccmd(str(config))
    return world


def create(world, name, calls, then="end"):
    world.kube.create(objects.service(name, annotations={"calls": str(calls), "then": then}))


def told(world, name):
    return re.findall(rf" info  calling default/{name}: (call .*)\n", world.log())


def test_they_are_open_at_once(calling, slow):
    slow.together = MOST
    create(calling, "web", MOST)
    calling.wait(lambda: len(told(calling, "web")) == MOST, "all answers")
    assert slow.most == MOST
    assert told(calling, "web") == [f"call {i}: answer to /call/{i} {i} body {i}" for i in range(MOST)]


def test_not_more_than_so_many(calling, slow):
    slow.together = MOST
    create(calling, "web", MOST + 1)
    calling.wait(lambda: len(told(calling, "web")) == MOST, "all answers")
    calling.logged(f" {MOST} HTTP exchanges were begun and not ended: end one first")
    assert slow.most == MOST and f"default/web: {MOST} were begun\n" in calling.log()


def test_what_is_forgotten_ends_with_the_call_and_is_told_once(calling, slow):
    slow.together = MOST
    create(calling, "one", 3, "forget")
    line = " error calling default/one: reconcile() has begun 3 HTTP exchanges without http_end(): given up\n"
    calling.logged(line)
    create(calling, "two", 2, "forget")
    calling.logged("default/two: 2 were begun\n")
    slow.together = 1
    create(calling, "three", 1)
    calling.wait(lambda: len(told(calling, "three")) == 1, "that others go on")
    assert calling.log().count("without http_end()") == 1


def test_a_number_is_ended_once(calling):
    create(calling, "web", 1, "twice")
    calling.wait(lambda: len(told(calling, "web")) == 2, "both ends")
    assert told(calling, "web")[1] == "call 0: -2 kind 8 phase 1 no HTTP exchange of this number is under way"


def test_nobody_wants_the_answer(calling, slow):
    slow.together = MOST
    create(calling, "web", 3, "drop")
    calling.wait(lambda: len(told(calling, "web")) == 3, "the end")
    assert told(calling, "web") == [f"call {i}: no answer" for i in range(3)]
    assert "without http_end()" not in calling.log()


def test_the_end_of_ccmd_cancels_them(calling, slow):
    slow.together = MOST
    create(calling, "web", 5)
    calling.wait(lambda: slow.open == 5, "five open calls")
    calling.stop_ccmd()
    assert len(told(calling, "web")) == 5
    assert all(re.fullmatch(r"call \d: -125 kind 7 phase 2 .*", line) for line in told(calling, "web")), told(calling, "web")
