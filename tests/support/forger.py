"""Stands before cloudsim and changes what it answers: answers that are whole, signed and wrong."""

import http.server
import json
import threading
import urllib.error
import urllib.parse
import urllib.request

_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Forger:
    """.base takes the place of cloudsim's. .forge(params, answer): the answer to DescribeInstances that ccmd gets, for the
    parameters that it sent; None: the true one."""

    def __init__(self, target):
        outer = self
        self.forge = None
        self.last = b"{}"  # the newest true answer

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # noqa: N802
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, text = outer._pass(target + self.path, body, self.headers)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.base = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def _pass(self, url, body, headers):
        hidden = ("host", "content-length", "connection", "accept-encoding")
        fields = urllib.parse.parse_qs(body.decode() + "&" + urllib.parse.urlparse(url).query, keep_blank_values=True)
        params = {name: values[0] for name, values in fields.items()}
        if "NextToken" in params and self.forge is not None:  # a page that only the forged answer promised
            return 200, json.dumps(self.forge(params, json.loads(self.last))).encode()
        request = urllib.request.Request(url, data=body, method="POST", headers={
            name: value for name, value in headers.items() if name.lower() not in hidden})
        request.add_header("Host", headers["Host"])
        try:
            with _opener.open(request, timeout=60) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        if headers.get("x-acs-action") != "DescribeInstances" or status != 200:
            return status, text
        self.last = text
        if self.forge is not None:
            text = json.dumps(self.forge(params, json.loads(text))).encode()
        return status, text
