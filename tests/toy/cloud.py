"""A cloud of five actions over HTTP and JSON: ListLoadBalancers, PutLoadBalancer, PutServers, PutListener, Delete. It runs in a
thread of the test, which reads `load_balancers` and `calls` and edits what it likes, as a person in a console would."""

import http.server
import itertools
import json
import threading


class Refusal(Exception):
    """(HTTP status, code, message)"""


class Cloud:
    def __init__(self):
        self.load_balancers = {}  # id -> as it is answered
        self.calls = []  # (action, body), in order
        self.numbers = itertools.count(1)
        self.lock = threading.Lock()
        cloud = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, answer = cloud.call(self.path.strip("/"), body)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def call(self, action, body):
        with self.lock:
            self.calls.append((action, body))
            try:
                return 200, getattr(self, action)(body)
            except Refusal as refusal:
                status, code, message = refusal.args
                return status, {"Code": code, "Message": message}

    def writes(self, since=0):
        """Names of the actions that change something, from that call on."""
        return [action for action, _ in self.calls[since:] if action != "ListLoadBalancers"]

    def new_id(self, kind):
        return f"{kind}-{next(self.numbers)}"

    def find(self, body):
        if body.get("Id") not in self.load_balancers:
            raise Refusal(404, "NoLoadBalancer", f"there is no load balancer {body.get('Id')}")
        return self.load_balancers[body["Id"]]

    @staticmethod
    def group(lb, group_id):
        for group in lb["Groups"]:
            if group["GroupId"] == group_id:
                return group
        raise Refusal(404, "NoGroup", f"there is no group {group_id}")

    # --- the actions ---

    def ListLoadBalancers(self, body):
        found = [lb for lb in self.load_balancers.values()
                 if (lb["Id"] == body["Id"] if body["Id"] else lb["Tags"].get(body["TagKey"]) == body["TagValue"])]
        return {"LoadBalancers": found}

    def PutLoadBalancer(self, body):
        if not body["Id"]:
            lb = {"Id": self.new_id("toy"), "Name": body["Name"], "Address": f"192.0.2.{len(self.load_balancers) + 1}", "Tags": {},
                  "Groups": [], "Listeners": []}
            self.load_balancers[lb["Id"]] = lb
        else:
            lb = self.find(body)
        for key in (key for key in body if "." in key):  # tags
            lb["Tags"].pop(key, None) if body["Remove"] else lb["Tags"].update({key: body[key]})
        return lb

    def PutServers(self, body):
        lb = self.find(body)
        if not body["GroupId"]:
            lb["Groups"].append({"GroupId": self.new_id("group"), "Name": body["Name"], "Servers": []})
            group = lb["Groups"][-1]
        else:
            group = self.group(lb, body["GroupId"])
        named = {(server["Address"], server["Port"]) for server in body["Servers"]}
        group["Servers"] = [server for server in group["Servers"] if (server["Address"], server["Port"]) not in named]
        group["Servers"] += [] if body["Remove"] else body["Servers"]
        return group

    def PutListener(self, body):
        lb = self.find(body)
        self.group(lb, body["GroupId"])
        old = self.take_listener(lb, body) or {}
        lb["Listeners"].append({**old, **{key: body[key] for key in ("Port", "Protocol", "GroupId", "Description", "Scheduler")
                                          if key in body}})
        return {}

    def Delete(self, body):
        """The listener on a port, a group, or a load balancer with all that is in it."""
        lb = self.find(body)
        if body["Port"] and not body["GroupId"]:
            self.take_listener(lb, body)
        elif body["GroupId"]:
            lb["Groups"].remove(self.group(lb, body["GroupId"]))
        else:
            del self.load_balancers[lb["Id"]]
        return {}

    @staticmethod
    def take_listener(lb, body):
        for listener in lb["Listeners"]:
            if (listener["Port"], listener["Protocol"]) == (body["Port"], body["Protocol"]):
                lb["Listeners"].remove(listener)
                return listener
        return None
