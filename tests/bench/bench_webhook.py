"""How many Services a second `ccmd webhook` looks at: of its own time on one core, and as API servers see it, over connections that stay."""

import os
import pathlib
import threading
import time

from tests.support import objects
from tests.support.webhook import Webhook

CONNECTIONS = 4
EACH = 1000
PREFIX = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"


def ask(webhook, body):
    connection = webhook.connect()
    for _ in range(EACH):
        connection.request("POST", "/lint?timeout=3s", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == 200 and b'"warnings"' in answer.read()
    connection.close()


def spent_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(build, folder, figure):
    webhook = Webhook(build, pathlib.Path(folder)).start()
    item = objects.service("web", ((80, "TCP"), (443, "TCP")), annotations={PREFIX + "scheduler": "fast", PREFIX + "bandwidht": "5"})
    body = webhook.body(item)
    threads = [threading.Thread(target=ask, args=(webhook, body)) for _ in range(CONNECTIONS)]
    before, begin = spent_s(webhook.process.popen.pid), time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took, spent = time.monotonic() - begin, spent_s(webhook.process.popen.pid) - before
    count = CONNECTIONS * EACH
    assert webhook.metrics()["warned"] == count
    figure("webhook-reviews-per-core", round(count / spent), "reviews/s", wanted=500, ratio=round(count / spent / 500, 1))
    figure("webhook-reviews-as-seen", round(count / took), "reviews/s", connections=CONNECTIONS)
    webhook.process.stop()
