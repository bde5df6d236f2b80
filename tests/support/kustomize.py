"""Manifests of etc/kubernetes as kustomize puts them together, and what they say."""

import os

import pytest
import yaml

from tests.support import proc

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KUBERNETES = os.path.join(ROOT, "etc", "kubernetes")
PLUGINS = ("clb", "gateway", "nlb", "node", "route")


def build(folder):
    """{(kind, name): document} of a folder with a kustomization.yaml."""
    code, text, err = proc.run([os.environ.get("KUBECTL", "kubectl"), "kustomize", folder])
    assert code == 0, err
    return {(d["kind"], d["metadata"]["name"]): d for d in yaml.safe_load_all(text) if d}


def choose(folder, plugins, *, start="no-plugins", others=()):
    """The same of an overlay of one's own with these plugins; folder is made."""
    if proc.kubectl_minor() < 21:
        pytest.skip("this kubectl knows no components")
    os.makedirs(folder)
    there = os.path.relpath(KUBERNETES, os.path.realpath(folder))
    with open(os.path.join(folder, "kustomization.yaml"), "w", encoding="utf-8") as file:
        yaml.safe_dump({"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "namespace": "kube-system",
                        "resources": [f"{there}/{start}"],
                        "components": [f"{there}/components/{name}" for name in (*plugins, *others)]}, file)
    return build(folder)


def rules(documents):
    """Those of the ClusterRoles, and those of the Roles in their namespaces."""
    found = []
    for document in documents.values():
        if document["kind"] == "ClusterRole":
            found += document["rules"]
        elif document["kind"] == "Role":
            found += [{**rule, "namespaces": [document["metadata"]["namespace"]]} for rule in document["rules"]]
    return found


def rights(found):
    """{(verb, group, resource)} of rules for the whole cluster."""
    return {(verb, group, resource) for rule in found if "namespaces" not in rule for verb in rule["verbs"]
            for group in rule["apiGroups"] for resource in rule["resources"]}


def write_config(documents, folder):
    """The files of the ConfigMap as the pod has them, in a folder that is made."""
    os.makedirs(folder)
    (data,) = [document["data"] for (kind, _), document in documents.items() if kind == "ConfigMap"]
    for name, text in data.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    return sorted(data)
