"""Headless Chromium, told what to do over a pipe: a page as people see it. Needs Debian's package chromium."""

import base64
import fcntl
import json
import os
import select
import subprocess
import time

from . import proc

OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
           "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
           "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")  # of the world outside it needs nothing


def _high(fd):
    """The same pipe under a number that is not the one the browser wants."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(fd)
    return moved


class Browser:
    """with Browser("chromium", folder) as browser: browser.open("http://127.0.0.1:1/"); browser.ask("document.title")"""

    def __init__(self, program, folder):
        self.program, self.folder = program, str(folder)
        self.number, self.session, self.buffer, self.events = 0, None, b"", []

    def __enter__(self):
        (theirs_in, self.to), (self.fro, theirs_out) = (tuple(_high(fd) for fd in os.pipe()) for _ in (1, 2))

        def hand_over():
            os.dup2(theirs_in, 3)
            os.dup2(theirs_out, 4)

        with open(os.path.join(self.folder, "browser.log"), "wb") as log:
            self.process = subprocess.Popen(
                [self.program, *OPTIONS, f"--user-data-dir={self.folder}/browser", "about:blank"], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, pass_fds=(3, 4), preexec_fn=hand_over, env={**os.environ, "HOME": self.folder})
        os.close(theirs_in)
        os.close(theirs_out)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Log", "Runtime", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.session = None
        try:
            self.call("Browser.close")
            self.process.wait(10 * proc.SLOW)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.fro)

    def _message(self, deadline):
        while b"\0" not in self.buffer:
            assert select.select([self.fro], [], [], max(0, deadline - time.monotonic()))[0], "the browser says nothing"
            read = os.read(self.fro, 1 << 20)
            assert read, "the browser has ended"
            self.buffer += read
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, **params):
        """A command of the DevTools protocol; what happens meanwhile is kept in `events`."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.to, json.dumps(command).encode() + b"\0")
        deadline = time.monotonic() + 30 * proc.SLOW
        while True:
            message = self._message(deadline)
            if message.get("id") == self.number:
                assert "error" not in message, f"{method}: {message}"
                return message["result"]
            self.events.append(message)

    def heard(self, method):
        return [event["params"] for event in self.events if event.get("method") == method]

    def open(self, url):
        """Until it is loaded, with all that belongs to it."""
        self.events = []
        result = self.call("Page.navigate", url=url)
        assert "errorText" not in result, result
        deadline = time.monotonic() + 30 * proc.SLOW
        while not self.heard("Page.loadEventFired"):
            self.events.append(self._message(deadline))

    def ask(self, expression):
        """What the expression is worth in the page; scripts of the page itself stay forbidden."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def resize(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, on):
        value = "dark" if on else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def picture(self):
        """PNG"""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
