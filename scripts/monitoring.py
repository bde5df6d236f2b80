#!/usr/bin/env python3
"""monitoring.py write|check: what comes from etc/prometheus/ccmd-rules.yaml, etc/grafana/ccmd.json and docs/configuration.md.

The table of alerts in docs/metrics.md, the PrometheusRule of the kustomize component, the files of the chart, and the schema of its
values, with every option of the configuration.
"""
import json
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).parent.parent
CHART = ROOT / "etc/helm/ccmd"
COMPONENT = ROOT / "etc/kubernetes/components/monitoring"
RULE_HEAD = """# From etc/prometheus/ccmd-rules.yaml, by `make docs`.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: ccmd
  labels:
    app.kubernetes.io/name: ccmd
    app.kubernetes.io/component: cloud-controller-manager
spec:
"""
TEXT, BOOL, NUMBER = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
TEXTS = {"type": "array", "items": TEXT}
OBJECT, OBJECTS = {"type": "object"}, {"type": "array", "items": {"type": "object"}}
WORDS = {"type": "object", "additionalProperties": TEXT}


def closed(**properties):
    return {"type": "object", "additionalProperties": False, "properties": properties}


def alerts(rules):
    rows = ["| Alert | What | Expression |", "|---|---|---|"]
    for rule in yaml.safe_load(rules)["groups"][0]["rules"]:
        lasts = f" for {rule['for']}" if "for" in rule else ""
        expression = rule["expr"].replace("|", "\\|")
        rows.append(f"| `{rule['alert']}` | {rule['annotations']['summary']} | `{expression}`{lasts} |")
    return "\n".join(rows)


def option(kind):
    """What a cell of configuration.md allows, as a schema."""
    span = re.match(r"whole number, (-?\d+) to (\d+)", kind)
    if span:
        return {"type": "integer", "minimum": int(span[1]), "maximum": int(span[2])}
    if kind.startswith("one of "):
        return {"enum": kind.removeprefix("one of ").replace("\\|", "|").split("|")}
    if kind.startswith("true or false"):
        return BOOL
    if kind.startswith("list of texts"):
        return TEXTS
    form = re.fullmatch(r"text of the form (\S+)", kind)
    return {"type": "string", "pattern": f"^({form[1]})$".replace("\\|", "|")} if form else TEXT


def sections():
    """Options by heading: {heading: {name: (schema, words)}}."""
    found, heading = {}, ""
    for line in (ROOT / "docs/configuration.md").read_text(encoding="utf-8").splitlines():
        heading = line.removeprefix("## ").strip("`") if line.startswith("## ") else heading
        row = re.match(r"\| `([\w.]+)` \| (.*?) \| (?:required|empty|`[^`]*`) \| (.*) \|$", line)
        retired = re.match(r"- (.*?): `([\w.]+)`: (.*)$", line)
        if row:
            found.setdefault(heading.replace("`", ""), {})[row[1]] = {**option(row[2]), "description": row[3].replace("\\|", "|")}
        elif retired:
            found.setdefault(retired[1].replace("`", ""), {})[retired[2]] = {"description": f"Retired, and ignored: {retired[3]}"}
    return found


def nested(options):
    """{"a.b": schema} as groups within groups."""
    top = closed()
    for name, schema in options.items():
        at = top["properties"]
        for part in name.split(".")[:-1]:
            at = at.setdefault(part, closed())["properties"]
        at[name.split(".")[-1]] = schema
    return top


def probe():
    return closed(**{name: {"type": "integer", "minimum": 0} for name in (
        "initialDelaySeconds", "periodSeconds", "timeoutSeconds", "failureThreshold", "successThreshold", "terminationGracePeriodSeconds")})


def schema():
    found = sections()
    common = {name: one for name, one in found["Every plugin"].items() if name not in ("name", "file")}
    plugins = {name: closed(**{**common, **found[f"Plugin {name}"]}) for name in ("clb", "nlb", "node", "route", "gateway")}
    options = nested({**found["The daemon"], **found["Groups that plugins share"]})
    shared = options["properties"]
    alicloud = shared["alicloud"]["properties"]
    monitor = closed(enabled=BOOL, interval=TEXT, scrapeTimeout=TEXT, namespace=TEXT, labels=WORDS)
    lone = closed(name={"type": "string", "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"}, image=TEXT, file=TEXT, options=OBJECT)
    values = closed(
        **{"global": OBJECT}, nameOverride=TEXT, fullnameOverride=TEXT,
        image=closed(repository=TEXT, tag=TEXT, digest=TEXT, pullPolicy={"enum": ["Always", "IfNotPresent", "Never"]}),
        imagePullSecrets=OBJECTS, replicas={"type": "integer", "minimum": 0},
        clusterId={"anyOf": [{"const": ""}, {**alicloud["cluster_id"]}]}, region=TEXT, vpcId=TEXT, vswitchIds=TEXTS,
        network=alicloud["network"], logLevel=shared["log"]["properties"]["level"], logFormat=shared["log"]["properties"]["format"],
        credentialsSecret=TEXT, credentialsKey=TEXT, plugins=closed(**plugins), options=options, config=TEXT,
        env=OBJECTS, envFrom=OBJECTS, extraArgs=TEXTS, extraVolumes=OBJECTS, extraVolumeMounts=OBJECTS, initContainers=OBJECTS,
        extraPlugins={"type": "array", "items": lone}, extraRules=OBJECTS,
        adminScheme={"enum": ["HTTP", "HTTPS"]}, adminHost=TEXT, adminPort={"type": "integer", "minimum": 1, "maximum": 65535},
        leaseNamespace=TEXT, leaseName=TEXT,
        metrics=closed(enabled=BOOL, host=TEXT, port={"type": "integer", "minimum": 1, "maximum": 65535}),
        podMonitor=monitor, serviceMonitor=monitor, prometheusRule=closed(enabled=BOOL, namespace=TEXT, labels=WORDS),
        dashboard=closed(enabled=BOOL, namespace=TEXT, labels=WORDS, annotations=WORDS),
        webhook=closed(
            enabled=BOOL, replicas={"type": "integer", "minimum": 0}, certManager=BOOL, secretName=TEXT, caBundle=TEXT, allowFrom=OBJECTS,
            failurePolicy={"enum": ["Ignore", "Fail"]}, timeoutSeconds={"type": "integer", "minimum": 1, "maximum": 30},
            matchConditions={"type": ["array", "null"], "items": OBJECT}, nodeSelector=OBJECT, tolerations=OBJECTS, resources=OBJECT),
        resources=OBJECT, nodeSelector={"type": ["object", "null"]}, affinity=OBJECT, topologySpreadConstraints=OBJECTS,
        tolerations=OBJECTS, priorityClassName=TEXT, podAnnotations=WORDS, podLabels=WORDS,
        serviceAccount=closed(create=BOOL, name=TEXT, annotations=WORDS), rbac=closed(create=BOOL),
        startupProbe=probe(), livenessProbe=probe(), readinessProbe=probe(),
        podDisruptionBudget=closed(enabled=BOOL, maxUnavailable={"type": ["integer", "string"]}))
    return {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Values of the chart ccmd", **values}


def products():
    rules = (ROOT / "etc/prometheus/ccmd-rules.yaml").read_text(encoding="utf-8")
    groups = rules[rules.index("groups:"):]
    page = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    table = re.compile(r"(?<=## Worth an alert\n\n)(.*?)\|.*?(?=\n\n)", re.S)
    yield ROOT / "docs/metrics.md", table.sub(lambda match: match[1] + alerts(rules), page, count=1)
    yield COMPONENT / "prometheusrule.yaml", RULE_HEAD + re.sub("^(?=.)", "  ", groups, flags=re.M)
    yield CHART / "files/ccmd-rules.yaml", groups
    yield CHART / "files/ccmd.json", (ROOT / "etc/grafana/ccmd.json").read_text(encoding="utf-8")
    yield CHART / "values.schema.json", json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def main():
    stale = 0
    for path, text in products():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if sys.argv[1] == "write":
            path.write_text(text, encoding="utf-8")
        else:
            print(f"{path.relative_to(ROOT)} is stale: run make docs")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
