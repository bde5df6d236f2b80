"""Who may do what in kubesim: users and rights from a rules file, and the words of a refusal."""

import os
import subprocess

import pytest

from tests.support import objects
from tests.support.kubesim import LEASES, MERGE, NODES, SERVICES, SLICES, KubeSim

BUILD = os.environ.get("CCM_BUILD_DIR", "build/release")
CCM = "system:serviceaccount:kube-system:ccm"

RULES = """
users:
- name: viewer
  token: viewer-token
- name: system:serviceaccount:kube-system:ccm
  token: ccm-token
  rules:
  - {apiGroups: [""], resources: [services], verbs: [get, list, watch, patch]}
  - {apiGroups: [""], resources: [services/status], verbs: [patch], namespaces: [default]}
  - {apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [ccm], verbs: [get, update]}
  - {nonResourceURLs: ["/metrics*"], verbs: [get]}
- name: operator
  token: operator-token
  rules:
  - {apiGroups: ["*"], resources: ["*", "*/status"], verbs: ["*"]}
- name: system:anonymous
  rules:
  - {apiGroups: [""], resources: [nodes], verbs: [list]}
"""


def bearer(token):
    return {"Authorization": "Bearer " + token}


@pytest.fixture
def kube(tmp_path):
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    with KubeSim(BUILD, tmp_path, "--token", "admin-token", "--rules", str(rules)) as simulator:
        created = simulator.ask("POST", SERVICES, objects.service("web"), headers=bearer("admin-token"))
        assert created.status == 201
        yield simulator


IN_DEFAULT = 'in API group "" in the namespace "default"'


@pytest.mark.parametrize(
    "token, method, path, message, details",
    [
        ("viewer", "GET", SERVICES, f'services is forbidden: User "viewer" cannot list resource "services" {IN_DEFAULT}',
         {"kind": "services"}),
        ("viewer", "GET", "/api/v1/services",
         'services is forbidden: User "viewer" cannot list resource "services" in API group "" at the cluster scope',
         {"kind": "services"}),
        ("viewer", "GET", SERVICES + "/web",
         f'services "web" is forbidden: User "viewer" cannot get resource "services" {IN_DEFAULT}',
         {"name": "web", "kind": "services"}),
        ("viewer", "GET", SERVICES + "?watch=1",
         f'services is forbidden: User "viewer" cannot watch resource "services" {IN_DEFAULT}', {"kind": "services"}),
        ("viewer", "GET", "/api/v1/nonsense",
         'nonsense is forbidden: User "viewer" cannot list resource "nonsense" in API group "" at the cluster scope',
         {"kind": "nonsense"}),
        ("viewer", "GET", "/metrics", 'forbidden: User "viewer" cannot get path "/metrics"', {}),
        ("ccm", "POST", SERVICES, f'services is forbidden: User "{CCM}" cannot create resource "services" {IN_DEFAULT}',
         {"kind": "services"}),
        ("ccm", "DELETE", SERVICES + "/nope",
         f'services "nope" is forbidden: User "{CCM}" cannot delete resource "services" {IN_DEFAULT}',
         {"name": "nope", "kind": "services"}),
        ("ccm", "GET", SLICES,
         f'endpointslices.discovery.k8s.io is forbidden: User "{CCM}" cannot list resource "endpointslices" in API '
         'group "discovery.k8s.io" in the namespace "default"', {"group": "discovery.k8s.io", "kind": "endpointslices"}),
        ("ccm", "PATCH", "/api/v1/namespaces/kube-system/services/x/status",
         f'services "x" is forbidden: User "{CCM}" cannot patch resource "services/status" in API group "" in the '
         'namespace "kube-system"', {"name": "x", "kind": "services"}),
        ("ccm", "GET", LEASES + "/other",
         f'leases.coordination.k8s.io "other" is forbidden: User "{CCM}" cannot get resource "leases" in API group '
         '"coordination.k8s.io" in the namespace "kube-system"',
         {"name": "other", "group": "coordination.k8s.io", "kind": "leases"}),
        (None, "GET", SERVICES,
         f'services is forbidden: User "system:anonymous" cannot list resource "services" {IN_DEFAULT}',
         {"kind": "services"}),
    ],
)
def test_refusals(kube, token, method, path, message, details):
    answer = kube.ask(method, path, {} if method in ("POST", "PATCH") else None, MERGE if method == "PATCH" else
                      "application/json", headers=bearer(token + "-token") if token else {})
    assert answer.status == 403, answer.text
    assert answer.json == {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                           "message": message, "reason": "Forbidden", "details": details, "code": 403}
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_what_is_allowed(kube):
    ccm = bearer("ccm-token")
    assert kube.ask("GET", SERVICES, headers=ccm).status == 200
    assert kube.ask("PATCH", SERVICES + "/web", {}, MERGE, headers=ccm).status == 200
    assert kube.ask("PATCH", SERVICES + "/web/status", {}, MERGE, headers=ccm).status == 200
    assert kube.ask("GET", LEASES + "/ccm", headers=ccm).status == 404
    assert kube.ask("GET", "/metrics/cadvisor", headers=ccm).status == 404
    assert kube.ask("GET", "/apis/discovery.k8s.io/v1", headers=ccm).status == 200
    operator = bearer("operator-token")
    assert kube.ask("POST", NODES, {"metadata": {"name": "n"}}, headers=operator).status == 201
    assert kube.ask("PATCH", NODES + "/n/status", {}, MERGE, headers=operator).status == 200
    assert kube.ask("GET", "/metrics", headers=operator).status == 403
    assert kube.ask("GET", NODES).status == 200
    assert kube.ask("GET", "/readyz").status == 200 and kube.ask("GET", "/api").status == 403
    assert kube.ask("GET", NODES, headers=bearer("nobody")).status == 401
    assert kube.ask("GET", NODES, headers={"Authorization": "Bearer "}).status == 200


def review(kube, token, kind, spec):
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}
    path = f"/apis/authorization.k8s.io/v1/{kind.lower()}s"
    answer = kube.ask("POST", path, body, headers=bearer(token + "-token"))
    assert answer.status == 201 and answer.json["kind"] == kind, answer.text
    return answer.json["status"]


def test_a_user_asks_for_his_rights(kube):
    def may(token, **attributes):
        return review(kube, token, "SelfSubjectAccessReview", {"resourceAttributes": attributes})["allowed"]

    assert may("ccm", verb="watch", resource="services")
    assert may("ccm", verb="patch", resource="services", subresource="status", namespace="default")
    assert not may("ccm", verb="patch", resource="services", subresource="status", namespace="kube-system")
    assert not may("viewer", verb="get", resource="services") and may("admin", verb="delete", resource="nodes")
    path = {"nonResourceAttributes": {"path": "/metrics", "verb": "get"}}
    assert review(kube, "ccm", "SelfSubjectAccessReview", path)["allowed"]
    rules = review(kube, "ccm", "SelfSubjectRulesReview", {"namespace": "kube-system"})
    assert [rule["resources"] for rule in rules["resourceRules"]] == [["services"], ["leases"]]
    assert rules["nonResourceRules"] == [{"verbs": ["get"], "nonResourceURLs": ["/metrics*"]}]


def test_kubectl_asks_and_is_refused(tmp_path):
    (tmp_path / "tls").mkdir()
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES)
    # A client sends its token over TLS only.
    with KubeSim(BUILD, tmp_path, "--tls", str(tmp_path / "tls"), "--token", "admin-token", "--rules", str(rules)) as kube:
        assert kube.kubectl("auth", "can-i", "delete", "services") == "yes\n"
        code, out, _ = kube.kubectl("--token", "ccm-token", "auth", "can-i", "delete", "services", check=False)
        assert (code, out) == (1, "no\n")
        code, _, err = kube.kubectl("--token", "ccm-token", "get", "endpointslices", check=False)
        assert code == 1 and f'User "{CCM}" cannot list resource "endpointslices"' in err
        assert kube.kubectl("--token", "ccm-token", "get", "svc", "-o", "name") == ""


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("users: [", "is no YAML"),
        ("a: &x [1]\nusers: *x", "is no YAML"),
        ("user: []", "wants one member, the list users"),
        ("users: [{token: x}]", "every user needs a name"),
        ("users: [{name: a, rule: []}]", "a: a user has name, token and rules"),
        ("users: [{name: a, rules: [{verbs: [get]}]}]", "a: a rule needs verbs"),
        ("users: [{name: a, rules: [{verb: [get]}]}]", "a: a rule has a member that is not known"),
        ("users: [{name: a, rules: [{verbs: get}]}]", "a: the members of a rule are lists of texts"),
    ],
)
def test_bad_rules_file(tmp_path, text, complaint):
    rules = tmp_path / "rules"
    rules.write_text(text)
    command = [os.path.join(BUILD, "bin", "kubesim"), "--listen", "127.0.0.1:0", "--rules", str(rules)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1 and complaint in result.stderr
