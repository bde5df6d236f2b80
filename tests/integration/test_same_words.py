"""What `ccmd lint` says of a manifest is what the controller says of the Service, and the other way round, in the same words."""

import re

import pytest
import yaml

from tests.support import objects, proc, views
from tests.support.products import PREFIX, PRODUCTS

# What is wrong, by name: annotations by their suffix, or by the whole key; "ports", "spec" of the Service.
CLB = {
    "values": {"bandwidth": "6000", "charge-type": "paybybandwidth", "instance-charge-type": "PayBySpec", "scheduler": "fast", "delete-protection": "maybe", "protocol-port": "htp:80"},
    "weights": {"default-weight": "200"},
    "typo": {"adress-type": "intranet"},
    "entry": {"protocol-port": "http:81"},
    "twice": {"protocol-port": "http:80,https:80"},
    "idle": {"idle-timeout": "30", "cert-id": "a", "health-check-uri": "/", "persistence-timeout": "0"},
    "private": {"address-type": "intranet", "charge-type": "paybytraffic"},
    "money": {"bandwidth": "5", "spec": "slb.s1.small", "vswitch-id": "vsw-a", "connection-drain-timeout": "20"},
    "by-use": {"charge-type": "paybybandwidth", "bandwidth": "5"},
    "zones": {"master-zoneid": "cn-hangzhou-h", "slave-zoneid": "cn-hangzhou-h"},
    "unchecked": {"health-check-type": "tcp", "health-check-switch": "off"},
    "lists": {"acl-id": "acl-1", "acl-type": "white"},
    "tags": {"additional-resource-tags": "a,kubernetes.do.not.delete=x"},
    "pods": {"service.beta.kubernetes.io/backend-type": "pods"},
    "label": {"backend-label": "pool"},
    "labels": {"backend-label": "a=b=c"},
    "https": {"protocol-port": "https:80"},
    "forward": {"protocol-port": "http:80", "forward-port": "80"},
    "groups": {"vgroup-port": "rsp-1:80", "weight": "5", "force-override-listeners": "true"},
    "kinds": {"zone-maps": "a:b", "cps": "4"},
    "override": {"id": "lb-1", "force-override-listeners": "1"},
    "inside": {"policy": "Local"},
    "proxy": {"proxy-protocol": "on", "policy": "Local"},
    "tls": {"protocol-port": "https:443", "cert-id": "cert-1", "ports": ((443, "TCP", 443),)},
    "affinity": {"spec": {"sessionAffinity": "ClientIP"}},
    "ip": {"spec": {"loadBalancerIP": "10.0.0.1"}},
    "ranges": {"spec": {"loadBalancerSourceRanges": ["10.0.0.0/8"]}},
    "everyone": {"spec": {"loadBalancerSourceRanges": ["0.0.0.0/0", "::/0"]}},
    "no-ports": {"spec": {"allocateLoadBalancerNodePorts": False}},
}
NLB = {
    "values": {"idle-timeout": "5", "cps": "-1", "scheduler": "fast"},
    "more-values": {"cross-zone-enabled": "perhaps", "protocol-port": "htp:80"},
    "zones": {"zone-maps": "cn-hangzhou-h"},
    "typo": {"zonemaps": "x"},
    "tls": {"protocol-port": "tcpssl:443", "ports": ((443, "TCP", 443),)},
    "tls-port": {"protocol-port": "tcpssl:443", "cert-id": "10000001-cn-hangzhou", "ports": ((443, "TCP", 443),)},
    "tls-words": {"cert-id": "a", "alpn-policy": "HTTP1Only"},
    "range": {"listener-port-range": "100-200:80"},
    "kinds": {"bandwidth": "5", "forward-port": "80:443"},
    "unclear": {"delete-protection": "off", "cross-zone-enabled": "true"},
    "inside": {"policy": "Local"},
    "affinity": {"spec": {"sessionAffinity": "ClientIP"}},
    "groups": {"vgroup-port": "sgp-1:80", "weight": "5"},
    "no-ports": {"spec": {"allocateLoadBalancerNodePorts": False}},
}
TABLES = {"clb": CLB, "nlb": NLB}


def plain(text):
    """Without what only one of them needs to say: prefixes of annotations."""
    return text.replace(PREFIX, "").replace(", unless option default_backend_type is that", "")


def manifest(product, name, what):
    notes = {key if "/" in key else PREFIX + key: value for key, value in what.items() if isinstance(value, str) and key != "policy"}
    spec = what.get("spec") if isinstance(what.get("spec"), dict) else {}
    return PRODUCTS[product]().new(name, what.get("ports", ((80, "TCP"),)), annotations=notes, policy=what.get("policy", "Cluster"), **spec)


def said_by_lint(world, tmp_path, item):
    file = tmp_path / f"{item['metadata']['name']}.yaml"
    file.write_text(yaml.safe_dump(item))
    _, out, err = proc.run([world.binary("ccmd"), "lint", "--config", world.config, str(file)])
    assert err == ""
    return [plain(re.match(r"[^:]+:\d+: (?:error|warning|hint): default/[^:]+: (.*)", line).group(1)) for line in out.splitlines()]


def said_by_events(world, name):
    """Pieces of what was said about the manifest: not by the cloud."""
    pieces = []
    for _, reason, message, _ in world.kube.events(name):
        if reason in ("EnsuredLoadBalancer", "ServiceSpecChanged"):
            continue
        message = re.sub(r"^Error syncing load balancer(?: \[[^]]*\])?: ", "", plain(message))
        message = re.sub(r"\. Tried again as soon.*", "", message)
        pieces += [re.sub(r"^port [\d-]+/\w+: ", "", piece) for piece in message.split("; ") if "RequestId" not in piece]
    return pieces


@pytest.mark.parametrize("product", sorted(TABLES))
def test_lint_and_controller(world, tmp_path, product):
    views.nodes(world, 2)
    PRODUCTS[product]().configure(world)
    items = {name: manifest(product, name, what) for name, what in TABLES[product].items()}
    lint = {name: said_by_lint(world, tmp_path, item) for name, item in items.items()}
    world.start_ccmd()
    world.kube.create(*items.values())
    for name in items:
        world.wait(lambda n=name: world.kube.events(n), name, 30)
    world.settled()
    wrong = []
    for name, findings in lint.items():
        pieces = said_by_events(world, name)
        wrong += [f"{name}: lint alone: {one}" for one in findings if one not in "; ".join(pieces)]
        wrong += [f"{name}: controller alone: {one}" for one in pieces if one not in "; ".join(findings)]
    assert not wrong, "\n".join(wrong)
