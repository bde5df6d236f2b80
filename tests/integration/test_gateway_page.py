"""docs/gateway.md: its manifests, run as they stand, and the rights that go with the plugin."""

import base64
import os
import re

import yaml

from tests.integration.test_least_rights import ADMIN, TOKEN
from tests.support import kustomize, proc, views
from tests.support.gateway_api import GROUP, KINDS, GatewayWorld, backend, listener, service
from tests.support.recipes import CERTIFICATE, CERTIFICATE_KEY
from tests.support.world import World

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def manifests():
    return [item for block in re.findall(r"^```yaml\n(.*?)^```", read("docs/gateway.md"), re.M | re.S)
            for item in yaml.safe_load_all(block)]


def apply(world, item):
    meta = item["metadata"]
    plural = KINDS[item["kind"]][0] if item["kind"] in KINDS else item["kind"].lower() + "s"
    base = f"/apis/{item['apiVersion']}" if "/" in item["apiVersion"] else "/api/v1"
    spaced = f"/namespaces/{meta['namespace']}" if "namespace" in meta else ""
    world.kube.http.request("POST", f"{base}{spaced}/{plural}", item)


def make_secret(api):
    api.http.request("POST", "/api/v1/namespaces/default/secrets", {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "shop-tls", "namespace": "default"}, "type": "kubernetes.io/tls",
        "data": {"tls.crt": base64.b64encode(CERTIFICATE.encode()).decode(), "tls.key": base64.b64encode(CERTIFICATE_KEY.encode()).decode()}})


def test_the_manifests_of_the_page(world):
    views.nodes(world, 2)
    api = GatewayWorld(world)
    api.define()
    api.configure("upload_certificates = true;")
    make_secret(api)
    for name in ("data", "kube-system"):
        if name not in [item["metadata"]["name"] for item in world.kube.http.request("GET", "/api/v1/namespaces")["items"]]:
            world.kube.http.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    world.kube.create(service("web-stable"), service("web-canary"), service("db", namespace="data"))
    items = [item for item in manifests() if "rbac" not in item["apiVersion"]]
    assert {item["kind"] for item in items} == {"ConfigMap", "GatewayClass", "Gateway", "ListenerSet", "TCPRoute", "ReferenceGrant"}
    for item in items:
        apply(world, item)
    world.start_ccmd()
    world.wait(lambda: all(api.programmed(name) for name in ("shop", "secure", "front", "shared")), "the Gateways")
    shop = next(lb for lb in api.load_balancers() if lb["Tags"].get("team") == "shop")
    ports = [world.kube.get("Service", name)["spec"]["ports"][0]["nodePort"] for name in ("web-stable", "web-canary")]
    wanted = sorted((f"node-{number}", port, weight) for number in (1, 2) for port, weight in zip(ports, (100, 11)))
    web = next(one for one in shop["Listeners"] if one["key"] == "80/tcp")
    world.wait(lambda: [sorted(group["servers"]) for lb in api.load_balancers() for group in lb["Groups"]
                        if group["id"] == web["group"]] == [wanted], "the weights")
    assert {one["IdleTimeout"] for one in shop["Listeners"]} == {"60"}
    others = sorted(sorted(one["key"] for one in lb["Listeners"]) for lb in api.load_balancers() if "team" not in lb["Tags"])
    assert others == [["3306/tcp", "80/tcp"], ["443/tcpssl"], ["443/tcpssl", "8443/tcp"]]


def test_the_configuration_of_the_page(world, tmp_path):
    (entry,) = re.findall(r"^```\n(plugins = .*?)^```", read("docs/gateway.md"), re.M | re.S)
    folder = tmp_path / "config"
    folder.mkdir()
    os.rename(world.write_config(plugins='{ name = "nlb"; }', name="a.conf"), folder / "a.conf")
    (folder / "b.conf").write_text(entry)
    code, out, err = proc.run([world.binary("ccmd"), "check-config", "--config", folder], env={"ACCESS_KEY_ID": "a", "ACCESS_KEY_SECRET": "b"})
    assert code == 0 and "plugins: 2" in out, out + err


def test_the_addresses_of_the_page(world):
    """The block is a part of a Gateway; ids in it stand for those of the account."""
    (block,) = [text for _, text in re.findall(r"^```(\S*)\n(.*?)^```$", read("docs/gateway.md"), re.M | re.S) if "addresses:" in text]
    api = GatewayWorld(world)
    api.define()
    api.configure()
    api.make_class()
    for name in ("eip-a", "eip-b"):
        got = world.cloud.edit("call", product="vpc", action="AllocateEipAddress", params={"InternetChargeType": "PayByTraffic"})["answer"]
        block = block.replace(name, got["AllocationId"])
    api.make_gateway(listener("tcp", 1))
    wanted = yaml.safe_load(block)
    api.patch("Gateway", "web", wanted)
    world.start_ccmd()
    world.wait(api.programmed, "the Gateway")
    assert api.get("Gateway", "web")["status"]["addresses"][1:] == wanted["spec"]["addresses"]


def test_these_rights_are_enough(build, tmp_path):
    """A token that allows what the component of the plugin and the Role of the page say, and no more: nothing is refused."""
    allowed = kustomize.rules(kustomize.choose(tmp_path / "overlay", ["gateway"]))
    (role,) = [item for item in manifests() if item["kind"] == "Role"]
    (binding,) = [item for item in manifests() if item["kind"] == "RoleBinding"]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "ccmd", "namespace": "kube-system"}]
    assert not [one for one in kustomize.rights(allowed) if one[2] == "secrets"], "not by default"
    allowed = allowed + role["rules"]
    assert ("patch", GROUP, "gateways/status") in kustomize.rights(allowed)
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump({"users": [{"name": "system:serviceaccount:kube-system:ccmd", "token": TOKEN, "rules": allowed}]}))
    with World(build, tmp_path / "world", kube_args=["--token", ADMIN, "--rules", str(path)]) as world:
        world.kube.http.token = ADMIN
        with open(world.kubeconfig, encoding="utf-8") as file:
            config = yaml.safe_load(file)
        config["users"][0]["user"] = {"token": TOKEN}
        world.kubeconfig = os.path.join(world.folder, "kubeconfig-ccmd")
        with open(os.open(world.kubeconfig, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
            yaml.safe_dump(config, file)
        views.nodes(world, 2)
        api = GatewayWorld(world)
        api.define()
        api.configure("upload_certificates = true;")
        make_secret(api)
        world.kube.create(service("web"))
        for kind, plural in (("TCPRoute", "tcproutes"), ("UDPRoute", "udproutes"), ("TLSRoute", "tlsroutes")):
            assert KINDS[kind][0] == plural
            api.make_route("web", backend("web"), kind=kind)
        api.make_class()
        api.make_gateway(listener("tcp", 80), listener("tls", 443, "TLS", tls={"certificateRefs": [{"name": "shop-tls"}]}))
        world.start_ccmd()
        world.wait(lambda: api.programmed() and set(api.served()) == {"80/tcp", "443/tcpssl"}, "the Gateway")
        for kind in ("TCPRoute", "UDPRoute", "TLSRoute"):
            world.wait(lambda kind=kind: api.parents(kind, "web"), f"the status of the {kind}")
        api.delete("Gateway", "web")
        world.wait(lambda: api.get("Gateway", "web") is None, "the deletion")
        refused = [call for call in world.kube.http.request("GET", "/_sim/calls?all=1")["calls"] if call.get("http") == 403]
        assert refused == []
