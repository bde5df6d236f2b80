"""A custom resource: Buckets of example.com, with a status of their own."""

GROUP = "example.com"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BUCKETS = f"/apis/{GROUP}/v1/namespaces/default/buckets"
EVERYWHERE = f"/apis/{GROUP}/v1/buckets"


def version(name="v1", **more):
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {"name": name, "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}, **more}


def definition(plural="buckets", kind="Bucket", scope="Namespaced", versions=None):
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{GROUP}"},
            "spec": {"group": GROUP, "scope": scope, "versions": versions or [version()],
                     "names": {"plural": plural, "kind": kind, "shortNames": [plural[:3]]}}}


def bucket(name, labels=None, **spec):
    meta = {"name": name} if not labels else {"name": name, "labels": labels}
    return {"apiVersion": f"{GROUP}/v1", "kind": "Bucket", "metadata": meta, "spec": spec}
