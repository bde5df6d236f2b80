"""The cloud of docs/plugin-loadbalancer.md, as it stands there, in a thread of the test: it reads `load_balancers` and `calls`, edits
what it likes, as a person in a console would, and has calls fail."""

import copy
import json
import sys
import threading
import time
import unittest.mock

from tests.support import pages

LAST = 'http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()\n'


class Fault(Exception):
    """(HTTP status, headers)"""


def page_names(key):
    """What the script of the page defines, without its last line."""
    (block,) = [block.text for block in pages.blocks("plugin-loadbalancer.md") if "cat >cloud.py <<'END'\n" in block.text]
    text = block.split("cat >cloud.py <<'END'\n")[1].split("END\n")[0]
    assert text.endswith(LAST)
    names = {"__name__": "cloud"}
    with unittest.mock.patch.object(sys, "argv", ["cloud.py", "0", key]):
        exec(compile(text[:-len(LAST)], "cloud.py", "exec"), names)  # pylint: disable=exec-used
    return names


class Hold:
    """A call that has arrived and is not executed yet."""

    def __init__(self, action):
        self.action = action
        self.arrived, self.go_on, self.done = threading.Event(), threading.Event(), threading.Event()


class Cloud:
    def __init__(self, key="not so secret"):
        self.names = page_names(key)
        self.key = key
        self.load_balancers = self.names["lbs"]  # id -> as it is answered
        self.calls = []  # (action, body), in order
        self.moments = []  # when each of them came, monotonic
        self.lock = threading.RLock()
        self.holds = []
        self.faults = []  # [action, HTTP status, headers, whether it is done all the same]
        self.made = {}  # id -> when it was seen first, monotonic
        self.lag_s = 0  # a list by tags does not show what is younger
        self.forgets = {}  # what a load balancer has instead of what was asked for: Tags, Name
        self.state = None  # id, age in seconds -> how far a load balancer is; None: the cloud does not say
        self.server = self.names["http"].server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def handler(self):
        cloud, actions = self, self.names["Cloud"]()

        class Recorder:
            def __getattr__(self, action):
                return lambda ask: cloud.call(action, ask, getattr(actions, action))

        class Handler(self.names["Handler"]):
            def do_POST(self):
                try:
                    super().do_POST()
                except Fault as fault:
                    status, headers = fault.args
                    text = json.dumps({"Code": "Fault", "Message": f"fault {status}"})
                    self.send_response(status)
                    for name, value in {"Content-Length": len(text), **headers}.items():
                        self.send_header(name, str(value))
                    self.end_headers()
                    self.wfile.write(text.encode())

        self.names["Cloud"] = Recorder
        return Handler

    def call(self, action, ask, perform):
        with self.lock:
            hold = next((one for one in self.holds if one.action == action), None)
            if hold is not None:
                self.holds.remove(hold)
        if hold is None:
            return self.execute(action, ask, perform)
        hold.arrived.set()
        hold.go_on.wait()
        try:
            return self.execute(action, ask, perform)
        finally:
            hold.done.set()

    def execute(self, action, ask, perform):
        with self.lock:
            self.calls.append((action, copy.deepcopy(ask)))
            self.moments.append(time.monotonic())
            fault = next((one for one in self.faults if one[0] == action), None)
            if action == "PutLoadBalancer":
                ask.update(copy.deepcopy(self.forgets))
            answer = perform(ask) if fault is None or fault[3] else None
            self.made = {lb: self.made.get(lb, time.monotonic()) for lb in self.load_balancers}
            if fault is not None:
                self.faults.remove(fault)
                raise Fault(fault[1], fault[2])
            return self.shown(action, ask, copy.deepcopy(answer))

    def age(self, lb_id):
        return time.monotonic() - self.made[lb_id]

    def shown(self, action, ask, answer):
        """What the cloud lets a caller see of it."""
        if action == "ListLoadBalancers" and not ask["Id"]:
            answer["LoadBalancers"] = [lb for lb in answer["LoadBalancers"] if self.age(lb["Id"]) >= self.lag_s]
        shown = {"ListLoadBalancers": lambda: answer["LoadBalancers"], "PutLoadBalancer": lambda: [answer]}
        for lb in shown[action]() if self.state is not None and action in shown else []:
            lb["State"] = self.state(lb["Id"], self.age(lb["Id"]))
        return answer

    def hold(self, action):
        """The next call of that action: it is executed when the test says so, whether or not somebody still waits for its answer."""
        with self.lock:
            self.holds.append(Hold(action))
            return self.holds[-1]

    def fail(self, action, status, headers=None, done=False):
        """The next call of that action. done: it is carried out, and only its answer is lost."""
        with self.lock:
            self.faults.append([action, status, headers or {}, done])

    def actions(self, since=0):
        """Names of the calls from that one on, without those that look for orphans."""
        return [action for action, ask in self.calls[since:] if not (action == "ListLoadBalancers" and self.is_for_all(ask))]

    @staticmethod
    def is_for_all(ask):
        """About a cluster, not one load balancer."""
        return not ask["Id"] and not ask["TagValue"].startswith("a")

    def writes(self, since=0):
        return [action for action in self.actions(since) if action != "ListLoadBalancers"]
