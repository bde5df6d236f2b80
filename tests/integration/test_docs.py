"""What the pages name exists: links, commands and options of ccmd, targets of make, files, options of the configuration, metrics."""

import glob
import json
import os
import re
import subprocess

import pytest

from tests.bench import bench_quota
from tests.support.pages import ROOT

PAGES = sorted(os.path.relpath(path, ROOT) for pattern in ("*.md", "docs/*.md", "plugins/*/README.md", "tests/*/README.md",
                                                             "core/README.md", "core/*/README.md", "tools/README.md")
               for path in glob.glob(os.path.join(ROOT, pattern)))
FOLDERS = ("core", "plugins", "tools", "include", "tests", "docs", "etc", "scripts", "cmake")
GROUPS = ("kubernetes", "leader_election", "admin", "log", "controller", "process", "alicloud")
METRIC = (r"(?:cloudprovider|workqueue|ccmd|ccm|rest_client|leader_election)_(?:[a-z_]+_)?"
          r"(?:total|seconds|milliseconds|objects|depth|status|bytes|successful)")
# Named because ccmd has no use for them.
OF_THE_REFERENCE = {"slb:ListTagResources", "nlb:ListTagResources"}


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def code(text):
    """(lines of fenced blocks, spans of inline code)"""
    fenced = re.findall(r"^```\S*\n(.*?)^```$", text, re.M | re.S)
    lines = [line for block in fenced for line in block.replace("\\\n", " ").splitlines()]
    spans = re.findall(r"(?<!`)`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))
    return lines, spans


def anchors(text):
    """As the usual renderers make them of headings."""
    found = set()
    for title in re.findall(r"^#+ (.*)$", text, re.M):
        found.add(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-"))
    return found


@pytest.fixture(scope="module")
def usage(build):
    """{command: its long options}"""
    def told(*words):
        return subprocess.run([os.path.join(build, "bin", "ccmd"), "help", *words], capture_output=True, text=True, timeout=60, check=True).stdout

    commands = re.findall(r"^  ([a-z-]+) +\S", told().split("Commands:")[1].split("\n\n")[0], re.M)
    assert len(commands) > 9
    return {command: set(re.findall(r"^ +(?:-., )?(--[a-z-]+)", told(command).split("\nOptions:")[1].split("\n\n")[0], re.M))
            for command in commands}


def test_there_are_pages():
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", *(
            f"docs/{page}.md" for page in ("architecture", "configuration", "annotations", "plugin-guide", "operations",
                                           "troubleshooting", "migration", "testing"))):
        assert name in PAGES


def test_table_of_limits():
    assert bench_quota.table() in read("docs/limits.md"), "tests/bench/bench_quota.py --table prints what belongs there"


@pytest.mark.parametrize("ours, others, folder", [("CLB", "NLB", "clb"), ("NLB", "CLB", "nlb")])
def test_annotations_of_the_other_kind_are_pointed_out(ours, others, folder):
    """What one of them knows and the other does not stands in the list of the other: who writes it there is told so."""
    prefix = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
    head, _, tail = read("docs/annotations.md").partition("## Without the prefix")
    known = {"CLB": set(), "NLB": set()}
    for name, who in re.findall(r"^\| `([^`|]+)` \| (CLB|NLB|both) \|", head, re.M) + [
            (name, who) for name, who in re.findall(rf"^\| `{prefix}([^`|]+)` \| (CLB|NLB|both) \|", tail, re.M)]:
        for kind in ("CLB", "NLB") if who == "both" else (who,):
            known[kind].add(name)
    assert len(known["CLB"]) > 50 and len(known["NLB"]) > 40
    listed = re.search(r'\.foreign =\s*((?:"[^"]*"\s*)+)', read(f"plugins/{folder}/annotations.c")).group(1)
    foreign = "".join(re.findall(r'"([^"]*)"', listed)).split("|")
    assert sorted(foreign) == sorted(known[others] - known[ours])


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", read(page), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        assert os.path.exists(os.path.join(ROOT, file)), f"{page}: {target}"
        assert not anchor or anchor in anchors(read(file)), f"{page}: {target}"


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_options_of_ccmd(page, usage):
    lines, spans = code(read(page))
    for line in lines + spans:
        for said in re.findall(r"(?:^|[|;&]\s*|(?<=\$ ))\s*ccmd((?: [^|;&#]*)?)", line):
            ours = re.sub(r"\[|\]", "", said).split(" -- ")[0].split()
            command = next((word for word in ours if re.fullmatch(r"[a-z][a-z-]*", word)), "run")
            if ours and not ours[0].startswith("-"):
                assert ours[0] != command or command in usage, f"{page}: {line}"
            for word in ours:
                if word.startswith("--") and word != "--":
                    assert word.split("=")[0] in usage[command], f"{page}: {line}"


@pytest.mark.parametrize("page", PAGES)
def test_targets_of_make(page):
    targets = set(re.search(r"^\.PHONY: (.*)$", read("Makefile"), re.M).group(1).split())
    lines, spans = code(read(page))
    for line in lines + spans:
        for said in re.findall(r"(?:^|[|;&]\s*)make((?: [A-Z]+=\S+)*) ([a-z]+)\b", line):
            assert said[1] in targets, f"{page}: {line}"


@pytest.mark.parametrize("page", PAGES)
def test_files_exist(page):
    for span in code(read(page))[1]:
        if not re.fullmatch(r"(?:%s)/[\w./*{},+-]+" % "|".join(FOLDERS), span) or re.search(r"[A-Z]{3,}(?!\w*\.md)", span):
            continue
        braces = re.search(r"\{([^}]*)\}", span)
        for one in braces.group(1).split(",") if braces else [""]:
            path = span[:braces.start()] + one + span[braces.end():] if braces else span
            places = [os.path.join(ROOT, path), os.path.join(ROOT, os.path.dirname(page), path), os.path.join(ROOT, path + ".*")]
            assert any(glob.glob(place) for place in places), f"{page}: {span}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith(("plugins/", "core/", "tools/"))])
def test_tables_of_files(page):
    """A README of a folder lists its sources in a table: `plan*.c`, `api.c`."""
    for row in re.findall(r"^\| (`[^|]*\.c`[^|]*)\|", read(page), re.M):
        for name in re.findall(r"`([^`]+\.[ch])`", row):
            assert glob.glob(os.path.join(ROOT, os.path.dirname(page), name)), f"{page}: {name}"


@pytest.mark.parametrize("page", [page for page in PAGES if "`test_" in read(page)])
def test_tests_exist(page):
    """`test_a.py::test_b`, and `::test_c` of the file that stands before it on the line; files of tests/integration."""
    for line in read(page).splitlines():
        file = None
        for name, test in re.findall(r"`(test_\w+\.py)?(?:::(test_\w+))?`", line):
            file = name or file
            if file is None or not (name or test):
                continue
            text = read(os.path.join("tests", "integration", file))
            assert not test or re.search(rf"^def {test}\(", text, re.M), f"{page}: {file}::{test}"


HAND_WRITTEN = [page for page in PAGES if page not in ("docs/configuration.md", "docs/annotations.md", "docs/troubleshooting.md")]


@pytest.mark.parametrize("page", HAND_WRITTEN)
def test_options_of_the_configuration(page):
    known = set(re.findall(r"^(?:\|| *- .*?:) `([a-z_.]+)`(?: \||:)", read("docs/configuration.md"), re.M))  # the retired ones, too
    groups = {name.rsplit(".", depth)[0] for name in known for depth in (1, 2)}
    for span in code(read(page))[1]:
        tag = span.startswith(("kubernetes.do.", "kubernetes.reused."))
        if not tag and re.fullmatch(r"(?:%s)(?:\.[a-z_]{2,})+" % "|".join(GROUPS), span):
            assert span in known or span in groups, f"{page}: {span}"


OPERATIONS = [f"docs/{page}.md" for page in ("install", "upgrade", "monitor", "runbook", "security", "classes", "lint")]


@pytest.mark.parametrize("page", [*OPERATIONS, "docs/migration.md", "docs/plugin-guide.md", "README.md"])
def test_options_by_their_bare_name(page):
    headers = [f"include/ccm/{name}.h" for name in ("host", "plugin", "error", "option", "object")]
    known = "".join(read(name) for name in ["docs/configuration.md", *headers])
    for span in code(read(page))[1]:
        if re.fullmatch(r"[a-z]+(?:_[a-z]+)+", span) and not re.fullmatch(METRIC, span):
            assert re.search(rf"\b{span}\b", known), f"{page}: {span}"


@pytest.mark.parametrize("page", [*OPERATIONS, "docs/migration.md", "README.md"])
def test_actions_and_metrics(page):
    text = read(page)
    granted = set()
    for path in glob.glob(os.path.join(ROOT, "etc", "ram", "*.json")):
        with open(path, encoding="utf-8") as file:
            granted |= {action for one in json.load(file)["Statement"] for action in one["Action"]}
    for action in re.findall(r"`((?:slb|nlb|vpc|ecs):[A-Z]\w+)`", text):
        assert action in granted or action in OF_THE_REFERENCE, f"{page}: {action}"
    sources = "".join(read(os.path.relpath(path, ROOT)) for folder in ("core", "plugins", "tools")
                      for path in glob.glob(os.path.join(ROOT, folder, "**", "*.c"), recursive=True))
    for metric in re.findall(rf"\b{METRIC}\b", text):
        assert f'"{metric}"' in sources, f"{page}: {metric}"


def test_messages_that_the_table_of_symptoms_names():
    """What somebody would search the log for is what the program writes."""
    table = re.search(r"^## At 3 am$(.*?)^## ", read("docs/runbook.md"), re.M | re.S).group(1)
    rows = [row.split("|") for row in re.findall(r"^\|.*\|$", table, re.M)[2:]]
    said = {span for row in rows for column in (row[1], row[3]) for span in re.findall(r"`([^`]+)`", column)}
    said = {span for span in said if re.search(r" |^[A-Z]\w+[A-Z]", span) and not span.startswith(("kubectl", "ccmd", "curl"))}
    assert len(said) >= 8
    sources = "".join(read(os.path.relpath(path, ROOT)) for folder in ("core", "plugins", "tools")
                      for path in glob.glob(os.path.join(ROOT, folder, "**", "*.c"), recursive=True))
    sources = re.sub(r'"\s*"', "", sources)
    for span in said:
        for part in re.split(r"\.\.\.|, ", span):
            assert part.strip() in sources, f"{span}: {part}"


def test_policies_grant_what_the_migration_says():
    """Its table is about actions that ccmd needs; those of the reference alone are in no policy."""
    for path in glob.glob(os.path.join(ROOT, "etc", "ram", "*.json")):
        assert not OF_THE_REFERENCE & set(re.findall(r'"(\w+:\w+)"', read(os.path.relpath(path, ROOT))))


def reasons_in_the_program():
    """CamelCase texts among the arguments of functions that write events, reasons in tables and names for them."""
    found = set()
    paths = [path for folder in ("core", "plugins", "tools") for path in glob.glob(os.path.join(ROOT, folder, "**", "*.[ch]"), recursive=True)]
    for path in paths:
        if {"tests", "template"} & set(path.split(os.sep)):
            continue
        text = read(path)
        for call in re.finditer(r"\b\w*(?:event|advise|fail|end_write|emit)\w*\(", text):
            end, depth = call.end(), 1
            while depth > 0 and end < len(text):
                depth += {"(": 1, ")": -1}.get(text[end], 0)
                end += 1
            found.update(re.findall(r'"([A-Z][a-z]+(?:[A-Z]+[a-z]+)+)"', text[call.end():end]))
            found.update(re.findall(r'(?:true|false), "([A-Z][a-z]+)"', text[call.end():end]))
        found.update(re.findall(r'reason\s*=[^;,]*?"([A-Za-z]+)"', text))
        found.update(re.findall(r'\.reason\s*=[^;,]*\? "[A-Za-z]+" : "([A-Za-z]+)"', text))
        found.update(re.findall(r'#define (?:\w+_(?:FAILED|NO_BACKEND)|REASON)\s+"([A-Za-z]+)"', text))
        found.update(re.findall(r'\? "([A-Z][A-Za-z]+Failed)" : "[A-Z][A-Za-z]+Failed"', text))
    return found


# Who runs what stands in fenced blocks: pages of which a test takes every block; of the others each block by words of it that no other has.
RUN_WHOLE = {
    "README.md": "test_readme.py::test_to_the_end", "docs/cookbook.md": "test_cookbook.py", "docs/first-steps.md": "test_first_steps.py",
    "docs/migration.md": "test_migration.py", "docs/new-cluster.md": "test_new_cluster.py", "docs/plugin-example.md": "test_plugin_guide.py",
    "docs/plugin-guide.md": "test_plugin_guide.py", "docs/plugin-languages.md": "test_plugin_languages.py",
    "docs/plugin-loadbalancer.md": "test_plugin_guide.py", "docs/plugin-questions.md": "test_plugin_questions.py",
    "docs/plugin-resource.md": "test_plugin_guide.py", "docs/plugin-shipping.md": "test_plugin_shipping.py",
    "docs/questions.md": "test_questions.py", "docs/rrsa.md": "test_rrsa.py", "docs/testing.md": "test_kubesim_doc.py",
    "docs/uninstall.md": "test_uninstall.py"}
RUN = {
    "docs/classes.md": {
        'instance = "b"': "test_operations.py::test_the_second_of_two"},
    "docs/gateway.md": {
        'plugins = ( { name = "nlb"; }': "test_gateway_page.py::test_the_configuration_of_the_page",
        "kind: GatewayClass": "test_gateway_page.py::test_the_manifests_of_the_page",
        "name: web-canary": "test_gateway_page.py::test_the_manifests_of_the_page",
        "kind: ReferenceGrant": "test_gateway_page.py::test_the_manifests_of_the_page",
        "mode: Passthrough": "test_gateway_page.py::test_the_manifests_of_the_page",
        "kind: ListenerSet": "test_gateway_page.py::test_the_manifests_of_the_page",
        "certificateRefs: [": "test_gateway_page.py::test_the_manifests_of_the_page",
        "kind: RoleBinding": "test_gateway_page.py::test_these_rights_are_enough",
        "type: IPAddress": "test_gateway_page.py::test_the_addresses_of_the_page"},
    "docs/install.md": {
        "a copy of etc/kubernetes/base": "test_install.py::test_the_overlay_of_the_manual",
        "kubectl apply -k .": "test_operations.py::test_the_overlay_is_applied",
        "create secret generic": "test_operations.py::test_secret_and_mount_name_the_same_file",
        "secretName: ccmd-credentials": "test_install.py::test_the_overlay_of_the_manual",
        "kubernetes/no-plugins": "test_components.py::test_the_overlay_of_the_manual",
        "workers = 8": "test_components.py::test_the_overlay_of_the_manual",
        "helm install ccmd": "test_install.py::test_commands_for_helm_name_values_of_the_chart",
        "make deb": "test_operations.py::test_the_package_is_installed_as_the_readme_says",
        "LoadCredential": "test_operations.py::test_credentials_of_the_service_have_the_paths_that_are_told"},
    "docs/lint.md": {
        "helm template chart": "test_readme.py::test_to_the_end",
        "manifests/web.yaml:6": "test_readme.py::test_to_the_end",
        "ccmd-lint": "test_before_apply.py::test_hook",
        "upload-sarif": "test_before_apply.py::test_workflow",
        "Warning: annotation": "test_webhook.py::test_the_warning_of_the_page",
        "webhook-cert-manager": "test_before_apply.py::test_component",
        "kind: NetworkPolicy": "test_before_apply.py::test_network_policy_with_addresses",
        "client-ca.key": "test_webhook.py::test_reviews_take_a_client_certificate",
        "kind: Config\n": "test_before_apply.py::test_client_certificate_of_the_api_server",
        "kind: AdmissionConfiguration": "test_before_apply.py::test_client_certificate_of_the_api_server"},
    "docs/metrics.md": {
        "kubernetes_sd_configs": "test_monitoring.py::test_jobs_of_the_page_are_jobs",
        "credentials_file": "test_monitoring.py::test_jobs_of_the_page_are_jobs"},
    "docs/monitor.md": {
        "components/monitoring": "test_monitoring.py::test_components_bring_all_of_it",
        "helm upgrade --install": "test_install.py::test_commands_for_helm_name_values_of_the_chart"},
    "docs/releases.md": {
        "openssl pkeyutl": "test_release.py::test_signature_by_openssl", "gpg --verify": "test_release.py::test_signature_by_gpg",
        "sha256sum --check": "test_release.py::test_signature_by_openssl", "openssl genpkey": "test_release.py::test_signature_by_openssl",
        "skopeo inspect": "test_install.py::test_image_gets_to_a_registry_as_the_page_says",
        "skopeo copy": "test_install.py::test_image_gets_to_a_registry_as_the_page_says",
        "make version TO": "test_release.py::test_one_version"},
    "docs/runbook.md": {
        "get lease ccm": "test_operations.py::test_at_three_in_the_morning",
        "/readyz": "test_operations.py::test_at_three_in_the_morning"},
    "docs/troubleshooting.md": {"kubectl describe service": "test_questions.py::test_commands"},
    "etc/helm/ccmd/README.md": {"helm install": "test_install.py::test_commands_for_helm_name_values_of_the_chart"}}
PICTURES = ("docs/architecture.md",)  # what stands there is drawn


def test_each_block_is_run_by_a_test():
    """A block that is new in a page needs a test that takes it, and a line in one of the tables above."""
    def exists(name):
        file, _, test = name.partition("::")
        text = read(f"tests/integration/{file}")
        assert not test or f"def {test}(" in text, name
        return True

    found = {page: [text for _, text in re.findall(r"^```(\S*)\n(.*?)^```$", read(page), re.M | re.S)]
             for page in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "etc/helm/ccmd/README.md", *(p for p in PAGES if p.startswith("docs/")))}
    assert {page for page, texts in found.items() if texts} == {*RUN_WHOLE, *RUN, *PICTURES}
    assert all(exists(name) for name in (*RUN_WHOLE.values(), *(name for rows in RUN.values() for name in rows.values())))
    for page, rows in RUN.items():
        for text in found[page]:
            assert len([words for words in rows if words in text]) == 1, f"{page}: who runs this?\n{text}"
        assert len(rows) == len(found[page]), page


def test_reasons_of_events():
    """Each reason of the program is in the list of the page, and the other way round."""
    listed = re.findall(r"^\| `(\w+)` \| (?:Warning|Normal|Normal or Warning|condition) \|", read("docs/troubleshooting.md"), re.M)
    assert listed == sorted(set(listed))
    assert set(listed) == reasons_in_the_program()
