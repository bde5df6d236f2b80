"""Alerts fire when they have to and else not; manifests and chart have the same ones, and scrape a real ccmd as they say."""

import json
import os
import re
import shutil

import pytest
import yaml

from tests.support import pages, proc

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = os.path.join(ROOT, "etc/prometheus/ccmd-rules.yaml")
COMPONENTS = os.path.join(ROOT, "etc/kubernetes/components")
JOB = 'job="ccmd", instance="a:1"'
DAY = 86400


def rules():
    with open(RULES, encoding="utf-8") as file:
        return {rule["alert"]: rule for rule in yaml.safe_load(file)["groups"][0]["rules"]}


# alert: (series while it has to fire, series while all is well), one sample a minute, for four hours. Series of well instances are
# everywhere: `WELL`.
WELL = {
    f'up{{{JOB}}}': "1x240", f'ccmd_ready{{{JOB}}}': "1x240", f'leader_election_master_status{{{JOB}, name="ccm"}}': "1x240",
    'leader_election_master_status{job="ccmd", instance="b:1", name="ccm"}': "0x240",
    'leader_election_master_status{job="kube-controller-manager", instance="a:2", name="kcm"}': "1x240",
    f'ccmd_plugin_started{{{JOB}, plugin="clb"}}': "1x240", 'ccmd_plugin_started{job="ccmd", instance="b:1", plugin="clb"}': "0x240",
    f'ccmd_changes_held{{{JOB}}}': "0x240", f'ccmd_unserved_objects{{{JOB}, plugin="clb"}}': "0x240",
    f'ccmd_held_removals{{{JOB}, plugin="clb"}}': "0x240", f'ccmd_quota_used{{{JOB}, type="CLBType", quota="q"}}': "79x240",
    f'ccmd_quota_limit{{{JOB}, type="CLBType", quota="q"}}': "100x240", f'ccmd_quota_used{{{JOB}, type="CLBType", quota="off"}}': "79x240",
    f'ccmd_quota_limit{{{JOB}, type="CLBType", quota="off"}}': "0x240", f'ccmd_failing_objects{{{JOB}, plugin="clb"}}': "0x240",
    f'ccmd_oldest_pending_seconds{{{JOB}, plugin="clb"}}': "3600x240", f'workqueue_depth{{{JOB}, name="clb"}}': "100x240",
    f'workqueue_longest_running_processor_seconds{{{JOB}, name="clb"}}': "300x240",
    f'cloudprovider_alicloud_api_request_throttled_total{{{JOB}, product="slb", request="R"}}': "0x240",
    f'cloudprovider_alicloud_credential_expiry_timestamp_seconds{{{JOB}}}': "0x240",
    f'ccmd_certificate_expiry_timestamp_seconds{{{JOB}, type="NLBType"}}': "0x240",
    f'ccmd_certificate_expiry_timestamp_seconds{{{JOB}, type="CLBType"}}': f"{15 * DAY}x240",
    f'ccmd_admin_certificate_expiry_timestamp_seconds{{{JOB}}}': f"{8 * DAY}x240",
    f'ccmd_cache_too_large_objects{{{JOB}, kind="services"}}': "0x240",
    f'ccmd_audits_total{{{JOB}, type="CLBType", result="repaired"}}': "0x240",
    f'ccmd_audits_total{{{JOB}, type="CLBType", result="clean"}}': "0+10x240",
    f'ccmd_config_last_reload_successful{{{JOB}}}': "1x240",
}
GONE = {series: "_x240" for series in WELL if 'job="ccmd"' in series}  # nobody answers any more, and nobody knows of them
BAD = {  # what is different, and how many alerts that makes
    "CcmdNobodyLeads": GONE,
    "CcmdInstanceDown": {f'up{{{JOB}}}': "0x240"},
    "CcmdNotReady": {f'ccmd_ready{{{JOB}}}': "0x240"},
    "CcmdPluginDown": {f'ccmd_plugin_started{{{JOB}, plugin="clb"}}': "0x240"},
    "CcmdChangesHeld": {f'ccmd_changes_held{{{JOB}}}': "1x240"},
    "CcmdServicesUnserved": {f'ccmd_unserved_objects{{{JOB}, plugin="clb"}}': "1x240"},
    "CcmdRemovalsHeld": {f'ccmd_held_removals{{{JOB}, plugin="clb"}}': "3x240"},
    "CcmdQuotaNear": {f'ccmd_quota_used{{{JOB}, type="CLBType", quota="q"}}': "80x240"},
    "CcmdObjectsFail": {f'ccmd_failing_objects{{{JOB}, plugin="clb"}}': "1x240"},
    "CcmdObjectsWait": {f'ccmd_oldest_pending_seconds{{{JOB}, plugin="clb"}}': "3601x240"},
    "CcmdQueueGrows": {f'workqueue_depth{{{JOB}, name="clb"}}': "101x240"},
    "CcmdReconcileHangs": {f'workqueue_longest_running_processor_seconds{{{JOB}, name="clb"}}': "301x240"},
    "CcmdThrottled": {f'cloudprovider_alicloud_api_request_throttled_total{{{JOB}, product="slb", request="R"}}': "0+1x240"},
    "CcmdCredentialsEnd": {f'cloudprovider_alicloud_credential_expiry_timestamp_seconds{{{JOB}}}': f"{3 * 3600 + 200}x240"},
    "CcmdCertificateEnds": {f'ccmd_certificate_expiry_timestamp_seconds{{{JOB}, type="CLBType"}}': f"{13 * DAY}x240"},
    "CcmdAdminCertificateEnds": {f'ccmd_admin_certificate_expiry_timestamp_seconds{{{JOB}}}': f"{7 * DAY}x240"},
    "CcmdObjectTooLarge": {f'ccmd_cache_too_large_objects{{{JOB}, kind="services"}}': "1x240"},
    "CcmdDrift": {f'ccmd_audits_total{{{JOB}, type="CLBType", result="repaired"}}': "0x150 1x90"},  # a single one, the first ever
    "CcmdConfigurationRefused": {f'ccmd_config_last_reload_successful{{{JOB}}}': "0x240"},
}


def series(changes=None):
    """`NxM` is written out: with a 0 in front promtool reads a hexadecimal number."""
    return [{"series": name, "values": re.sub(r"(?<![+\w])(\d+)x", r"\1+0x", values)} for name, values in {**WELL, **(changes or {})}.items()]


def minutes(text):
    return int(re.fullmatch(r"(\d+)m", text).group(1)) if text else 0


def test_alerts_fire(tmp_path):
    """Each by what it is for and by nothing else, for as long as it has to last; when all is well none does."""
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is missing: apt-get install prometheus")
    known = rules()
    assert set(BAD) == set(known)
    tests = [{"name": "well", "interval": "1m", "input_series": series(), "alert_rule_test": [
        {"eval_time": "3h", "alertname": name, "exp_alerts": []} for name in known]}]
    queries = []
    for name, changes in BAD.items():
        tests.append({"name": name, "interval": "1m", "input_series": series(changes), "promql_expr_test": [
            {"expr": f'count(ALERTS{{alertname="{name}", alertstate="firing", severity="{known[name]["labels"]["severity"]}"}})', "eval_time": "3h",
             "exp_samples": [{"labels": "{}", "value": 1}]},
            {"expr": f'count(ALERTS{{alertname!="{name}"}})', "eval_time": "3h", "exp_samples": []}]})
        lasts = minutes(known[name].get("for"))
        if lasts > 1:  # not yet
            queries.append(name)
            tests[-1]["promql_expr_test"].append({"expr": f'count(ALERTS{{alertname="{name}", alertstate="firing"}})',
                                                  "eval_time": f"{lasts - 1}m", "exp_samples": []})
    assert len(queries) > 8
    path = tmp_path / "tests.yaml"
    path.write_text(json.dumps({"rule_files": [RULES], "evaluation_interval": "1m", "tests": tests}))
    code, out, err = proc.run([tool, "test", "rules", path])
    assert code == 0, (out + err)[:4000]


def test_alerts_name_metrics_that_there_are():
    """And labels of them, in expressions and in texts."""
    with open(os.path.join(ROOT, "docs/metrics.md"), encoding="utf-8") as file:
        table = {name: re.findall(r"\w+", labels) for name, labels in re.findall(r"^\| `(\w+)` \| \w+ \| ([^|]*) \|", file.read(), re.M)}
    for name, rule in rules().items():
        used = re.findall(r"\b((?:ccmd?|workqueue|cloudprovider|leader)_\w+)\{", rule["expr"])
        assert used or name == "CcmdInstanceDown"
        assert set(used) <= set(table), name
        assert set(rule["labels"]) == {"severity"} and set(rule["annotations"]) == {"summary", "description"}, name
        aggregated = re.search(r"by \((.*?)\)", rule["expr"])
        known = set(aggregated.group(1).split(", ")) if aggregated else {"instance", *(label for metric in used for label in table[metric])}
        assert set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["description"])) <= known, name
        assert 'job="ccmd"' in rule["expr"], name


def test_there_is_one_source():
    code, out, err = proc.run([os.path.join(ROOT, "scripts/monitoring.py"), "check"])
    assert code == 0, out + err


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """The base with both components, as the page has them."""
    if proc.kubectl_minor() < 21:
        pytest.skip("this kubectl knows no components")
    folder = tmp_path_factory.mktemp("overlay")
    shutil.copytree(os.path.join(ROOT, "etc/kubernetes"), folder / "kubernetes")
    shutil.copytree(os.path.join(ROOT, "etc/grafana"), folder / "grafana")
    (folder / "mine").mkdir()
    (overlay,) = [block.text for block in pages.blocks("monitor.md") if block.mark == "monitoring/kustomization.yaml"]
    (folder / "mine" / "kustomization.yaml").write_text(overlay)
    code, out, err = proc.run([os.environ.get("KUBECTL", "kubectl"), "kustomize", folder / "mine"])
    assert code == 0, err
    found = {}
    for document in yaml.safe_load_all(out):
        found.setdefault(document["kind"], []).append(document)
    return found


def test_components_bring_all_of_it(rendered):
    (monitor,), (rule,) = rendered["PodMonitor"], rendered["PrometheusRule"]
    (board,) = [one for one in rendered["ConfigMap"] if one["metadata"]["name"] == "ccmd-dashboard"]
    assert monitor["metadata"]["namespace"] == rule["metadata"]["namespace"] == board["metadata"]["namespace"] == "kube-system"
    assert {one["alert"] for one in rule["spec"]["groups"][0]["rules"]} == set(rules())
    assert rule["spec"]["groups"][0]["rules"] == list(rules().values())
    assert board["metadata"]["labels"] == {"grafana_dashboard": "1"}
    with open(os.path.join(ROOT, "etc/grafana/ccmd.json"), encoding="utf-8") as file:
        assert board["data"] == {"ccmd.json": file.read()}


def test_monitors_find_the_pods(rendered):
    (deployment,), (monitor,) = rendered["Deployment"], rendered["PodMonitor"]
    template = deployment["spec"]["template"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    (port,) = template["spec"]["containers"][0]["ports"]
    assert endpoint["port"] == port["name"] and endpoint["relabelings"] == [{"targetLabel": "job", "replacement": "ccmd"}]
    (config,) = [one for one in rendered["ConfigMap"] if "ccmd.conf" in one["data"]]
    assert f'listen = "0.0.0.0:{port["containerPort"]}"' in config["data"]["ccmd.conf"]


def test_the_service_monitor_finds_its_service(tmp_path):
    with open(os.path.join(COMPONENTS, "service-monitor/service.yaml"), encoding="utf-8") as file:
        service = yaml.safe_load(file)
    with open(os.path.join(COMPONENTS, "service-monitor/servicemonitor.yaml"), encoding="utf-8") as file:
        monitor = yaml.safe_load(file)
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    (endpoint,), (port,) = monitor["spec"]["endpoints"], service["spec"]["ports"]
    assert endpoint["port"] == port["name"] and service["spec"]["selector"] == {"app": "ccmd"} and port["targetPort"] == "metrics"


def test_jobs_of_the_page_are_jobs(tmp_path):
    """And the one in the cluster asks for what the pods of the base have."""
    jobs = {block.mark: yaml.safe_load(block.text) for block in pages.blocks("metrics.md") if block.mark.startswith("prometheus ")}
    assert len(jobs) == 2
    with open(os.path.join(ROOT, "etc/kubernetes/base/deployment.yaml"), encoding="utf-8") as file:
        template = yaml.safe_load(file)["spec"]["template"]
    kept = {one["source_labels"][0]: one["regex"] for one in jobs["prometheus in the cluster"][0]["relabel_configs"]}
    assert kept == {"__meta_kubernetes_pod_label_app": template["metadata"]["labels"]["app"],
                    "__meta_kubernetes_pod_container_port_name": template["spec"]["containers"][0]["ports"][0]["name"]}
    assert {job["job_name"] for (job,) in jobs.values()} == {"ccmd"}
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is missing: apt-get install prometheus")
    path = tmp_path / "prometheus.yaml"
    for (job,) in jobs.values():
        job.pop("kubernetes_sd_configs", None)  # Debian's promtool is built without it
        path.write_text(json.dumps({"rule_files": [RULES], "scrape_configs": [job]}))
        code, out, err = proc.run([tool, "check", "config", "--syntax-only", path])
        assert code == 0, out + err


def test_each_alert_has_a_first_look():
    """Those whose text does not say what to do."""
    with open(os.path.join(ROOT, "docs/monitor.md"), encoding="utf-8") as file:
        named = {name for line in file if line.startswith("| `Ccmd") for name in re.findall(r"`(Ccmd\w+)`", line.split(" | ")[0])}
    assert named <= set(rules()) and len(named) > 10
