"""`ccmd explain`: what annotations mean, told by plugins of this tree and of others, without a cluster, a cloud or a configuration."""

import json
import os
import re
import subprocess

import pytest

from tests.support import pages, proc

NEW = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
OLD = "service.beta.kubernetes.io/alicloud-loadbalancer-"


@pytest.fixture(scope="module")
def explain(build):
    def run(*words):
        return proc.run([os.path.join(build, "bin", "ccmd"), "explain", *words])
    return run


@pytest.fixture(scope="module")
def tree(build):
    return ("--plugin-dir", os.path.join(build, "plugins"))


@pytest.fixture(scope="module")
def known(explain, tree):
    code, out, err = explain(*tree, "-o", "json")
    assert (code, err) == (0, "")
    return json.loads(out)["annotations"]


def test_one_annotation(explain, tree):
    for words in ("bandwidth", NEW + "bandwidth", OLD + "bandwidth"):
        assert explain(*tree, words) == (0, f"""bandwidth (CLB)
  Peak bandwidth in Mbit/s, with paybybandwidth.

  older key   {OLD}bandwidth
  values      1 to 5000
  default     the cloud's
  example     {NEW}bandwidth: "100"
  change      A change reaches the load balancer that is there. Taken away, what
              it has set stays.
  API field   Bandwidth
  more        annotations.md#load-balancer
""", "")


def test_what_two_products_have_in_common_is_said_once(explain, tree):
    assert explain(*tree, "id")[1].startswith("id (CLB, NLB)\n  Use an existing load balancer")
    both = explain(*tree, "health-check-interval")[1]
    assert re.findall(r"^(\S+) \((.*)\)$", both, re.M) == [("health-check-interval", "CLB"), ("health-check-interval", "NLB")]
    assert "  needs       annotation health-check-flag: on\n" in both
    assert "  counts for  ports of http, https\n" in explain(*tree, "cookie")[1]
    assert "  change      A change is refused once the load balancer is there; delete the\n" in explain(*tree, "vswitch-id")[1]


def test_a_part_of_a_name_lists_those_that_have_it(explain, tree):
    code, out, _ = explain(*tree, "cert")
    assert code == 0 and re.findall(r"^  ([a-z-]+) ", out, re.M) == ["cert-id", "cert-id", "cacert-id", "cacert", "additional-cert-ids"]
    assert out.startswith("Listeners: every port of a matching protocol\n") and max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(("words", "near"), [("bandwith", "bandwidth"), (NEW + "bandwith", NEW + "bandwidth"), ("frobnicate", None)])
def test_a_misspelt_one(explain, tree, words, near):
    hint = f" (did you mean '{near}'?)" if near else ""
    assert explain(*tree, words) == (1, "", f"ccmd: no plugin knows annotation '{words}'{hint}; ccmd explain lists all\n")


def test_all_are_listed_as_the_page_has_them(explain, tree, known):
    """Both come from the same rows: the page of annotations has every one, its values, default and example, and the section that is named."""
    with open(os.path.join(pages.ROOT, "docs", "annotations.md"), encoding="utf-8") as file:
        page = file.read()
    rows = {}
    for heading, body in re.findall(r"^## (.*)\n((?:(?!^## ).*\n?)*)", page, re.M):
        anchor = re.sub(r"[^a-z -]", "", heading.lower()).replace(" ", "-")
        for line in re.findall(r"^\| `.*$", body, re.M):
            cells = [cell.strip() for cell in line.split(" | ")]
            for subject in ("CLB", "NLB") if cells[1] == "both" else (cells[1],):
                rows[cells[0].strip("|` "), subject] = (cells[2], cells[3], cells[-2].strip("`"), cells[-1].rstrip(" |"), f"annotations.md#{anchor}")
    told = {(one["key"].removeprefix(NEW) if "backend-type" not in one["key"] and one["heading"] != "Without the prefix" else one["key"], one["subject"]): (
        one["values"], one["default"], one["example"], one["help"], one["page"]) for one in known}
    assert len(known) > 120 and told == rows
    code, out, _ = explain(*tree)
    assert code == 0 and sorted(re.findall(r"^\S.*", out, re.M)) == sorted(re.findall(r"^## (.*)", page, re.M))
    names = explain(*tree, "-o", "name")[1].split()
    assert sorted(names) == sorted({one["name"] for one in known}) and len(set(names)) == len(names)


# What has to stand beside an annotation, so that it does something.
BESIDE = {
    "acl-": {"acl-status": "on", "acl-id": "acl-1", "acl-type": "white"},
    "sticky-session": {"sticky-session": "on", "sticky-session-type": "insert", "cookie-timeout": "100"},
    "cookie": {"sticky-session": "on", "sticky-session-type": "insert", "cookie-timeout": "100"},
    "bandwidth": {"charge-type": "paybybandwidth"},
    "charge-type": {"bandwidth": "10"},
    "ip": {"address-type": "intranet", "vswitch-id": "vsw-1"},
    "vswitch-id": {"address-type": "intranet"},
    "cacert": {"cacert-id": "1-cn-hangzhou"},
    "spec": {"instance-charge-type": "PayBySpec"},
    "vgroup-port": {"id": "lb-0123456789abcdef"},
    "weight": {"vgroup-port": "rsp-1:80", "id": "lb-0123456789abcdef"},
}


def manifest(index, one):
    """A Service with the example of an annotation, and with what it needs."""
    http = "http" in one.get("scope", "") or one["name"] == "protocol-port"
    annotations = {"protocol-port": "https:443,http:80", "cert-id": "1"} if http else {}
    if one["subject"] == "NLB":
        annotations = {"zone-maps": "a:vsw-1,b:vsw-2"}
        if "tcpssl" in one.get("scope", "") or one["name"] == "protocol-port":
            annotations |= {"protocol-port": "tcpssl:443", "cert-id": "1-cn-hangzhou"}
    for start, more in BESIDE.items():
        annotations |= more if one["name"].startswith(start) else {}
    if "needs" in one:
        name, _, value = one["needs"].split(" (")[0].removeprefix("annotation ").partition(": ")
        annotations[name] = value or "on"
    keys = {NEW + name: value for name, value in annotations.items()} | {one["key"]: one["example"]}
    if one["name"] == "listener-port-range":
        keys["service.beta.kubernetes.io/backend-type"] = "eni"
    spec = {"type": "LoadBalancer", "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 443}]}
    if one["subject"] == "NLB":
        spec["loadBalancerClass"] = "alibabacloud.com/nlb"
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": f"s{index}", "annotations": keys}, "spec": spec}


def lint(build, tree, manifests, folder):
    """Level, place and text of all findings of ccmd lint, by number of the manifest."""
    folder.mkdir()
    for index, one in enumerate(manifests):
        (folder / f"{index:03}.json").write_text(json.dumps(one))
    out = subprocess.run([os.path.join(build, "bin", "ccmd"), "lint", *tree, "-o", "json", str(folder)], stdout=subprocess.PIPE, check=False).stdout
    return sorted((int(one["service"][1:]), one["level"], one["message"]) for one in json.loads(out)["findings"])


def test_every_example_is_taken(build, tree, known, tmp_path):
    """ccmd lint, which refuses what a controller refuses, has nothing against any of them. White space at the ends of values, which a block of YAML
    has, changes nothing about that."""
    manifests = [manifest(index, one) for index, one in enumerate(known)]
    found = lint(build, tree, manifests, tmp_path / "plain")
    assert [(known[index]["key"], text) for index, level, text in found if level == "error"] == []
    for one in manifests:
        annotations = one["metadata"]["annotations"]
        annotations.update({key: f"\t {value} \r\n" for key, value in annotations.items()})
    assert lint(build, tree, manifests, tmp_path / "spaced") == found


def test_a_plugin_of_somebody_else(build, explain):
    asking = os.path.join(build, "tests", "abi", "asking.so")
    assert explain("--plugin", asking) == (0, "Annotations\n  example.com/ask               asking: What the plugin does with the Service.\n", "")
    assert explain("--plugin", asking, "example.com/ask") == (0, """example.com/ask (asking)
  What the plugin does with the Service.

  values      nodes, pods
  example     example.com/ask: "say \\"pods\\""
""", "")
    old = os.path.join(build, "tests", "abi", "frozen.so")
    assert explain("--plugin", old) == (1, "", f"{old}: this plugin tells nothing of annotations\n")


def test_the_guide_shows_that_plugin():
    (block,) = [block for block in pages.blocks("plugin-guide.md") if block.mark == "asking"]
    with open(os.path.join(pages.ROOT, "tests", "abi", "plugins", "asking.c"), encoding="utf-8") as file:
        assert block.text in file.read()


def test_plugins_of_a_configuration(build, explain, tmp_path):
    config = tmp_path / "ccmd.conf"
    config.write_text(f'plugin_dir = "{build}/plugins"; alicloud: {{ cluster_id = "c"; }};\nplugins = ( {{ name = "nlb"; }} );\n')
    code, out, err = explain("--config", str(config), "-o", "json")
    assert (code, err) == (0, "") and {one["plugin"] for one in json.loads(out)["annotations"]} == {"nlb"}
    code, out, err = explain("--config", str(config), "--plugin", "x")
    assert (code, out) == (2, "") and "not both" in err
    assert explain("--config", str(tmp_path / "no.conf"))[:2] == (1, "")


def test_nothing_to_ask(explain):
    """Neither a configuration nor plugins beside the program: what to do is said."""
    if os.path.exists("/etc/ccmd/ccmd.conf"):
        pytest.skip("this machine has a configuration")
    code, out, err = explain("bandwidth")
    assert (code, out) == (1, "") and err.splitlines()[-1].endswith("name them: --plugin FILE or --plugin-dir DIR")


def test_nothing_is_asked_over_the_network(build, tree):
    trace = subprocess.run(["sh", "-c", "command -v strace"], stdout=subprocess.PIPE, check=False).stdout.decode().strip()
    if not trace or proc.sanitizer(build):
        pytest.skip("strace is not installed, or a sanitizer is in its way")
    out = subprocess.run([trace, "-f", "-e", "trace=connect,sendto", os.path.join(build, "bin", "ccmd"), "explain", *tree, "id"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True).stderr.decode()
    assert "connect(" not in out and "sendto(" not in out
