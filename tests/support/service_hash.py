"""The value of the hash label, from the description of its form in plugins/lbc/service/hash.c."""

import datetime
import hashlib

LABEL = "service.beta.kubernetes.io/hash"
WHITE = " \t\n\v\f\r"  # does not count at the ends of annotations


def text(value):
    value = (value or "").encode()
    return b"%d:%s" % (len(value), value)


def number(value):
    return b"%d;" % (value or 0)


def items(rows):
    return b"".join(b"+" + row for row in rows) + b"."


def port(one):
    target = one.get("targetPort") or 0
    named = isinstance(target, str)
    return (text(one.get("name")) + text(one.get("protocol")) + text(one.get("appProtocol")) + number(one["port"])
            + text(target if named else "") + number(0 if named else target) + number(one.get("nodePort")))


def is_current(service):
    """The label says that everything was done for the Service as it is."""
    return service["metadata"].get("labels", {}).get(LABEL) == of(service)


def of(service):
    spec, meta = service["spec"], service["metadata"]
    deleted = meta.get("deletionTimestamp")
    deleted_ms = int(datetime.datetime.fromisoformat(deleted.replace("Z", "+00:00")).timestamp() * 1000) if deleted else 0
    annotations = sorted((k.encode(), k, v.strip(WHITE)) for k, v in meta.get("annotations", {}).items()
                         if v.strip(WHITE) and k != "alibabacloud.com/reconcile.hash")
    form = (items(map(port, spec["ports"])) + text(spec.get("type")) + text(spec.get("externalTrafficPolicy"))
            + text(spec.get("loadBalancerClass")) + items(text(k) + text(v) for _, k, v in annotations)
            + number(deleted_ms) + items(map(text, spec.get("loadBalancerSourceRanges", []))))
    return "v2-" + hashlib.sha224(form).hexdigest()
