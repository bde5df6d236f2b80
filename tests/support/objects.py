"""Kubernetes objects for tests and the demo, with only what matters spelled out."""


def node(name, instance, ready=True, labels=None, unschedulable=False, taints=None, region="cn-hangzhou"):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
        "spec": {
            "providerID": f"{region}.{instance}",
            **({"unschedulable": True} if unschedulable else {}),
            **({"taints": taints} if taints else {}),
        },
        "status": {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]},
    }


def service(name, ports=((80, "TCP"),), namespace="default", annotations=None, policy="Cluster", **spec):
    """ports: tuples (port, protocol[, target port])"""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, "annotations": dict(annotations or {})},
        "spec": {
            "type": "LoadBalancer",
            "externalTrafficPolicy": policy,
            "selector": {"app": name},
            "ports": [
                {
                    "name": f"{p[1].lower()}-{p[0]}",
                    "port": p[0],
                    "protocol": p[1],
                    "targetPort": p[2] if len(p) > 2 else p[0] + 8000,
                }
                for p in ports
            ],
            **spec,
        },
    }


def endpoint_slice(service_object, endpoints, suffix="abc", address_type="IPv4"):
    """endpoints: tuples (address, node name[, ready]); the slice lists every port of the Service."""
    meta = service_object["metadata"]
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": f"{meta['name']}-{suffix}",
            "namespace": meta["namespace"],
            "labels": {"kubernetes.io/service-name": meta["name"]},
        },
        "addressType": address_type,
        "endpoints": [
            {
                "addresses": [e[0]],
                "nodeName": e[1],
                "conditions": {"ready": e[2] if len(e) > 2 else True},
                "targetRef": {"kind": "Pod", "name": "pod-" + e[0].replace(".", "-"), "namespace": meta["namespace"]},
            }
            for e in endpoints
        ],
        "ports": [
            {"name": p["name"], "port": p["targetPort"] if isinstance(p["targetPort"], int) else 8080,
             "protocol": p["protocol"]}
            for p in service_object["spec"]["ports"]
        ],
    }
