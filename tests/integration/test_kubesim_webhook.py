"""The API server that asks `ccmd webhook`: what kubectl shows. kubesim does what a real one did with the same objects."""

import base64
import json
import os
import subprocess

import pytest
import yaml

from tests.support import objects
from tests.support.webhook import Webhook
from tests.support.world import World

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PREFIX = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
NAME = "lint.ccm.alibabacloud.com"


class Cluster:
    def __init__(self, world, webhook):
        self.world, self.webhook = world, webhook

    def configure(self, **more):
        """The configuration of the manifests, with an address for that of the Service."""
        with open(os.path.join(ROOT, "etc/kubernetes/components/webhook/webhook.yaml"), encoding="utf-8") as file:
            item = yaml.safe_load(file)
        with open(self.webhook.cert, "rb") as file:
            bundle = base64.b64encode(file.read()).decode()
        item["webhooks"][0]["clientConfig"] = {"url": f"https://127.0.0.1:{self.webhook.port}/lint", "caBundle": bundle}
        item["webhooks"][0].update(more)
        assert self.kubectl("apply", "-f", "-", stdin=json.dumps(item))[0] == 0

    def kubectl(self, *args, stdin=None):
        """Exit code, stdout, stderr."""
        kubectl = os.environ.get("KUBECTL", "kubectl")
        done = subprocess.run([kubectl, "--kubeconfig", self.world.kubeconfig, *args], input=stdin, capture_output=True, text=True, check=False,
                              timeout=60 * float(os.environ.get("CCM_TEST_SLOW", "1")))
        return done.returncode, done.stdout, done.stderr

    def apply(self, name, **annotations):
        item = objects.service(name, annotations={PREFIX + key: value for key, value in annotations.items()})
        return self.kubectl("apply", "-f", "-", stdin=json.dumps(item))


@pytest.fixture
def cluster(build, tmp_path):
    (tmp_path / "webhook").mkdir()
    webhook = Webhook(build, tmp_path / "webhook")
    with World(build, tmp_path) as world:
        yield Cluster(world, webhook)
        if webhook.process is not None:
            webhook.process.stop()


def test_warnings_appear(cluster):
    cluster.webhook.start()
    cluster.configure()
    code, out, err = cluster.apply("good")
    assert (code, err) == (0, "")
    code, out, err = cluster.apply("web", scheduler="fast", bandwidht="5")
    assert code == 0 and "service/web created" in out
    lines = err.splitlines()
    assert len(lines) == 2 and lines[0].startswith(f"Warning: annotation {PREFIX}scheduler must be one of [")
    assert f"did you mean {PREFIX}bandwidth?" in lines[1]
    code, _, err = cluster.kubectl("label", "service", "web", "a=b")
    assert (code, err) == (0, ""), "nothing that a person writes for the load balancer"


def test_refusal_is_told(cluster):
    cluster.webhook.start('deny = "errors";')
    cluster.configure()
    code, _, err = cluster.apply("web", scheduler="fast")
    assert code == 1 and f'admission webhook "{NAME}" denied the request: 1 error: annotation {PREFIX}scheduler must be one of [' in err
    assert cluster.kubectl("get", "service", "web")[0] == 1, "it was not made"
    assert cluster.apply("web")[0] == 0
    code, _, err = cluster.kubectl("annotate", "service", "web", PREFIX + "scheduler=fast")
    assert code == 1 and "denied the request" in err


def test_what_was_wrong_before_stays_editable(cluster):
    """Applied while the webhook was not there."""
    assert cluster.apply("web", scheduler="fast")[0] == 0
    cluster.webhook.start('deny = "errors";')
    cluster.configure()
    assert cluster.kubectl("annotate", "service", "web", "note=x")[0] == 0
    assert cluster.kubectl("patch", "service", "web", "--type=merge", "-p", '{"metadata":{"finalizers":["example.com/f"]}}')[0] == 0
    assert cluster.kubectl("delete", "service", "web", "--wait=false")[0] == 0
    assert cluster.kubectl("patch", "service", "web", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')[0] == 0
    assert cluster.kubectl("get", "service", "web")[0] == 1, "it could go"


def test_a_webhook_that_is_away_stops_nobody(cluster):
    cluster.webhook.start('deny = "errors";')
    cluster.configure()
    cluster.webhook.process.stop()
    cluster.webhook.process = None
    assert cluster.apply("web", scheduler="fast")[0] == 0
    cluster.configure(failurePolicy="Fail")
    code, _, err = cluster.apply("other")
    assert code == 1 and f'failed calling webhook "{NAME}"' in err


def test_ccmd_works_beside_it(cluster):
    """What ccmd itself writes to a Service that is refused in new ones passes."""
    assert cluster.apply("web", **{"unhealthy-threshold": "50"})[0] == 0
    cluster.webhook.start('deny = "errors";')
    cluster.configure(failurePolicy="Fail")
    assert cluster.apply("good")[0] == 0
    cluster.world.start_ccmd()
    cluster.world.wait(lambda: cluster.world.kube.ingress("good"), "an address")
    cluster.world.kube.delete("Service", "good")
    cluster.world.wait(lambda: not cluster.world.cloud.load_balancers(), "the end")
