"""`ccmd lint` on folders of good and bad manifests: exact findings with line numbers, exit codes, usage."""

import json
import os
import pathlib
import subprocess

import pytest

from tests.support import proc, terminal

HERE = pathlib.Path(__file__).parent / "lint"
NEW = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
OLD = "service.beta.kubernetes.io/alicloud-loadbalancer-"
MOVE = (
    ". Move the port to a Service of type ClusterIP or NodePort: until then no load balancer is made for this one, "
    "and one that is there serves the other ports"
)
FIXED = (
    f"For a fixed one set annotation {NEW}id to a load balancer made by hand, which stays when the Service goes, "
    f"or annotation {NEW}ip to an address of the vSwitch (intranet)"
)
REPAIR = ": correct the entry, or add that port"
FINDINGS = {
    "annotations.yaml": [
        "6: warning: annotations: annotation "
        f"{NEW}adress-type is unknown and has no effect, did "
        f"you mean {NEW}address-type?",
        f"7: error: annotations: annotation {NEW}scheduler "
        "must be one of [rr|wrr|wlc|sch|tch|qch], got [fast]",
        "8: error: annotations: the value needs quotes: YAML takes on for a boolean, and the API server "
        "accepts only text",
        "9: error: annotations: the value needs quotes: YAML takes 150 for a number, and the API server "
        "accepts only text",
        "9: error: annotations: default weight must be integer in range [0,100] , got [150] (annotation "
        f"{NEW}default-weight must be an integer from 0 to 100)",
        "10: error: annotations: get nodes error: filter nodes by label error: parse backend label: pool, "
        f"[k1=v1,k2=v2] (annotation {NEW}backend-label must "
        "be label=value separated by commas)",
        f"11: warning: annotations: annotation {OLD}address-type "
        f"has no effect beside {NEW}address-type",
        "12: error: annotations: annotation "
        f"{NEW}address-type must be one of "
        "[internet|intranet], got [interne]",
    ],
    "families.yaml": [
        "8: warning: six: spec.ipFamilies is IPv6 alone, but the load balancer reaches its backends over "
        "IPv4: set spec.ipFamilyPolicy to PreferDualStack, or make the Service anew with annotations "
        "ip-version and backend-ip-version ipv6",
        "21: warning: four: spec.ipFamilies lacks IPv6, which annotation backend-ip-version asks for: set "
        "spec.ipFamilyPolicy to PreferDualStack, or remove the annotation",
    ],
    "fields.yaml": [
        "9: warning: fields: spec.loadBalancerIP has no effect: the cloud chooses the address. " + FIXED,
        "10: error: fields: spec.loadBalancerSourceRanges says who may connect, and option source_ranges of plugin clb "
        "is off: no load balancer is made that accepts connections from everywhere. Whoever runs ccmd sets the option to true. "
        f"Without it: take the field away and name an access list in annotation {NEW}acl-id, with {NEW}acl-status \"on\" and "
        f"{NEW}acl-type white. The field taken away alone lets everybody connect",
        "16: error: fields: SCTP protocol is not supported (port 9000 of the Service: TCP and UDP are)" + MOVE,
        "19: error: fields: port out of range",
        "29: warning: in-list: annotation "
        f"{NEW}protocol-port has an entry [tcp:8443] without "
        "effect: there is no port 8443, only 80" + REPAIR,
        "29: warning: in-list: annotation "
        f"{NEW}protocol-port has an entry [http:web] without "
        "effect: there is no port web, only 80" + REPAIR,
        "29: warning: in-list: annotation "
        f"{NEW}protocol-port has an entry [tcp:080] without "
        "effect: there is no port 080, only 80" + REPAIR,
        "39: error: in-list: ports: is not a list",
        "41: error: metadata.name: missing",
    ],
    "inside.yaml": [
        "6: warning: tls: port 443: HTTPS ends at the load balancer, which sends plain HTTP to the targetPort, and that one is named "
        "or numbered like an HTTPS port: name the HTTP port of the pods, or let the listener be tcp (annotation protocol-port)",
        "11: warning: tls: nodePort 40000 is outside of 30000 to 32767: the API server refuses it, unless its option "
        "service-node-port-range says otherwise",
    ],
    "listeners.yaml": [
        "6: error: y: the value needs quotes: YAML takes y for a boolean, and the API server accepts only "
        "text",
        f"8: warning: y: annotation {NEW}idle-timeout has no "
        "effect: it is for http|https listeners, and there are none",
        "23: error: same-listener: two ports of the Service ask for the same listener",
    ],
    "lists.yaml": [
        f"8: warning: moved: annotation {NEW}vgroup-port has "
        "an entry [rsp-b:8080] without effect: there is no port 8080, only 80, 443" + REPAIR,
        f"10: warning: moved: annotation {NEW}forward-port "
        "has an entry [88:443] without effect: there is no port 88, only 80, 443" + REPAIR,
        "12: error: moved: annotation "
        f"{NEW}additional-resource-tags must be tags with "
        "keys of at most 64 and values of at most 128 characters, got "
        "[a-key-that-is-longer-than-the-sixty-four-characters-that-a-key-may-have]",
        f"24: warning: alone: annotation {NEW}vgroup-port "
        "has no effect without annotation id",
        f"25: warning: alone: annotation {NEW}weight has no "
        "effect without annotations id and vgroup-port",
        "26: warning: alone: annotation "
        f"{NEW}force-override-listeners has no effect "
        "without annotation id",
        "27: error: alone: annotation "
        f"{NEW}additional-resource-tags must be at most 18 "
        "tags beside the two that mark whose the load balancer is, got "
        "[a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9,j=10,k=11,l=12,m=13,n=14,o=15,p=16,q=17,r=18,s=19]",
        "38: warning: meant-otherwise: annotation service.beta.kubernetes.io/backend-type chooses nodes: "
        "only eni in lower case stands for pods, and ecs says nodes",
        f"39: warning: meant-otherwise: annotation {NEW}type "
        "has no effect without option type_annotation of group alicloud: an NLB is asked for by "
        "spec.loadBalancerClass alibabacloud.com/nlb",
        "40: warning: meant-otherwise: annotation "
        f"{NEW}additional-resource-tags leaves out tags that "
        "are not to be set here: kubernetes.do.not.delete, ack.aliyun.com, those of the cloud (acs:...) and "
        "ccm.alibabacloud.com/..., and kubernetes.reused.by.user where the load balancer is reused",
    ],
    "protocol.yaml": [
        "6: error: colon: port and protocol format must be like 'https:443' with colon separated. "
        f"got=[[tcp80]] (annotation {NEW}protocol-port must "
        "be protocol:port separated by commas, such as https:443,http:80)",
        "17: error: protocol: port protocol format must be either [http|https|tcp|udp], protocol not "
        "supported with [tpc] (annotation "
        f"{NEW}protocol-port must be protocol:port separated "
        "by commas, such as https:443,http:80)",
        f"28: warning: twins: annotation {NEW}protocol-port "
        "makes a TCP listener of a UDP port or the other way round, and nodes do not answer it (an entry "
        "counts for every port of that number)",
        "33: error: twins: two ports of the Service ask for the same listener",
    ],
    "syntax.yaml": [
        "5: error: template: the key is no text",
        "11: error: not YAML: duplicate key",
        "18: error: merged: merge keys (<<) are not understood here: write the members out",
        "26: warning: still-checked: spec.loadBalancerIP has no effect: the cloud chooses the address. " + FIXED,
    ],
    "types.yaml": [
        "5: error: shop/misspelt: spec.type must be one of [ClusterIP|NodePort|LoadBalancer|ExternalName], "
        "got [Loadbalancer]",
        "15: warning: shop/node-ports: nodePort 40000 is outside of 30000 to 32767: the API server refuses "
        "it, unless its option service-node-port-range says otherwise",
        "26: error: none: nodes as backends need node ports, and the Service has none "
        "(spec.allocateLoadBalancerNodePorts is false): set annotation service.beta.kubernetes.io/backend-type to eni",
    ],
}

NLB_FINDINGS = {
    "annotations.yaml": [
        f"6: warning: annotations: annotation {NEW}zone-map "
        "is unknown and has no effect, did you mean "
        f"{NEW}zone-maps?",
        "7: error: annotations: ZoneMapping format error, expect [zone-a:vsw-id-1,zone-b:vsw-id-2], got "
        f"cn-hangzhou-g;vsw-1 (annotation {NEW}zone-maps "
        "must be zone:vSwitch separated by commas; each may go on :address or :address:allocation)",
        "8: error: annotations: annotation "
        f"{NEW}address-type must be one of "
        "[internet|intranet], got [public]",
        "9: error: annotations: invalid ipv6 address type public (annotation "
        f"{NEW}ipv6-address-type must be internet or "
        "intranet)",
        "9: warning: annotations: annotation "
        f"{NEW}ipv6-address-type has no effect without ip-version dualstack",
        f"10: error: annotations: annotation {NEW}name must "
        "be 2 to 128 letters, digits, dots, underscores and hyphens, a letter first, got [1web]",
        "11: error: annotations: annotation "
        f"{NEW}security-group-ids must be a list of at most "
        "3 groups beside spec.loadBalancerSourceRanges, got [a,b,c,d]",
        "12: error: annotations: ParameterInvalid, cross zone enabled flag error: invalid flag \"true\", "
        "should be \"on\" or \"off\" (annotation "
        f"{NEW}cross-zone-enabled must be on or off)",
        "13: error: annotations: annotation "
        f"{NEW}proxy-protocol must be one of "
        "[on|off|true|false], got [yes]",
        "14: error: annotations: parse IdleTimeout error: [5] value out of range, range is [10,900] "
        f"(annotation {NEW}idle-timeout must be an integer "
        "from 10 to 900)",
        "15: error: annotations: parse Mss error: [many] invalid syntax, range is [0,1000000] (annotation "
        f"{NEW}cps must be an integer from 0 to 1000000)",
        "16: error: annotations: unsupport server ServerGroupType [pod]: annotation "
        f"{NEW}server-group-type must be Instance or Ip",
        "17: error: annotations: default weight must be integer in range [0,100] , got [150] (annotation "
        f"{NEW}default-weight must be an integer from 0 to 100)",
        f"18: warning: annotations: annotation {NEW}acl-id "
        "has no effect: NLB load balancers do not have it, so it keeps nobody out. To restrict access set "
        f"spec.loadBalancerSourceRanges or annotation {NEW}security-group-ids, and take this one away",
        "19: error: annotations: get nodes error: filter nodes by label error: parse backend label: pool, "
        f"[k1=v1,k2=v2] (annotation {NEW}backend-label must "
        "be label=value separated by commas)",
        f"20: warning: annotations: annotation {OLD}cps has no "
        f"effect beside {NEW}cps",
        "24: error: annotations: spec.loadBalancerSourceRanges: [everybody] is no address block",
        "25: warning: annotations: spec.sessionAffinity ClientIP has no effect: the load balancer shares out "
        "every connection anew (annotation scheduler: sch goes by the client's address)",
        "26: warning: annotations: spec.loadBalancerIP has no effect: annotation zone-maps takes an address "
        "per zone",
        "32: error: missing-zones: ParameterMissing, zone mappings are required: set annotation "
        f"{NEW}zone-maps to zone:vSwitch of at least two zones of the region, separated by commas, such as "
        "cn-hangzhou-h:vsw-1,cn-hangzhou-i:vsw-2",
    ],
    "class.yaml": [
        "6: warning: shop/misspelt: spec.loadBalancerClass [alibabacloud.com/nbl] is none that is known "
        "here, so nobody makes a load balancer: did you mean alibabacloud.com/nlb? A class cannot be changed: delete the Service and create it again",
    ],
    "families.yaml": [
        "11: warning: six: spec.ipFamilies is IPv6 alone, but the load balancer reaches its backends over "
        "IPv4: set spec.ipFamilyPolicy to PreferDualStack, or make the Service anew with annotations "
        "ip-version dualstack and backend-ip-version ipv6",
        "26: warning: four: spec.ipFamilies lacks IPv6, which annotation backend-ip-version asks for: set "
        "spec.ipFamilyPolicy to PreferDualStack, or remove the annotation",
        "41: warning: both: spec.ipFamilies lacks one of the families that annotation backend-ip-version "
        "asks for: set spec.ipFamilyPolicy to PreferDualStack, or name the one that is there",
    ],
    "lists.yaml": [
        f"9: warning: moved: annotation {NEW}vgroup-port has "
        "an entry [sgp-b:8080] without effect: there is no port 8080, only 80, 443" + REPAIR,
        "10: warning: moved: annotation "
        f"{NEW}listener-port-range has an entry "
        "[3000-4000:81] without effect: there is no port 81, only 80, 443" + REPAIR,
        "11: error: moved: annotation "
        f"{NEW}additional-resource-tags must be tags with "
        "keys of at most 64 and values of at most 128 characters, got [team]",
    ],
    "ports.yaml": [
        f"5: error: ports: annotation {NEW}cert-id is "
        "required for TCPSSL ports: give the id of a server certificate",
        "8: warning: ports: port 443: TLS ends at the load balancer, which sends plain text to the targetPort, and that one is "
        "named or numbered like an HTTPS port: name the plain port of the pods, or let the listener be tcp (annotation protocol-port)",
        "9: error: ports: listener port range can only be used for eni backend type service: set annotation "
        "service.beta.kubernetes.io/backend-type to eni",
        f"10: error: ports: annotation {NEW}idle-timeout "
        "must be at most 90 where a port is UDP, got [900]",
        "20: error: ports: port of listener [443/TCPSSL] overlaps with listener [80-500/TCP]",
        "26: error: ports: SCTP protocol is not supported (port 9 of the Service: TCP and UDP are)" + MOVE,
        "34: error: protocol: port protocol format must be either [TCP|UDP|TCPSSL], protocol not supported "
        f"with [http] (annotation {NEW}protocol-port must be "
        "protocol:port separated by commas, such as tcpssl:443,tcp:80)",
    ],
    "useless.yaml": [
        f"7: warning: own: annotation {NEW}health-check-uri "
        "has no effect without health-check-flag on",
        "8: warning: own: annotation "
        f"{NEW}connection-drain-timeout has no effect "
        "without connection-drain",
        f"9: warning: own: annotation {NEW}alpn-policy has "
        "no effect: it is for tcpssl listeners, and there are none",
        f"10: warning: own: annotation {NEW}cert-id has no "
        "effect: it is for tcpssl listeners, and there are none",
        "11: warning: own: annotation "
        f"{NEW}backend-ip-version has no effect without "
        "ip-version dualstack",
        f"12: warning: own: annotation {NEW}vgroup-port has "
        "no effect without annotation id",
        f"13: warning: own: annotation {NEW}weight has no "
        "effect without annotations id and vgroup-port",
        "14: warning: own: annotation "
        f"{NEW}force-override-listeners has no effect "
        "without annotation id",
        f"15: warning: own: annotation {NEW}protocol-port "
        "has an entry [udp:53] without effect: there is no port 53, only 80" + REPAIR,
        "27: warning: shared: no listener is made on a load balancer that a person made, unless annotation "
        "force-override-listeners is \"true\"; with \"false\" somebody makes them by hand",
        "31: warning: shared: LoadBalancerSourceRanges is not supported for user-managed LB.",
    ],
}


@pytest.fixture
def plugin(build):
    return os.path.join(build, "plugins", "clb.so")


@pytest.fixture
def lint(build, plugin):
    def run(*args, plugins=("--plugin", plugin), stdin=None):
        return proc.run([os.path.join(build, "bin", "ccmd"), "lint", *plugins, *args], stdin=stdin)

    return run


@pytest.fixture
def tree(build):
    return ("--plugin-dir", os.path.join(build, "plugins"))


@pytest.fixture
def nlb(build):
    return ("--plugin", os.path.join(build, "plugins", "nlb.so"))


def expected(name, shown=None):
    return "".join(f"{shown or HERE / 'bad' / name}:{line}\n" for line in FINDINGS[name])


def test_good_manifests(lint):
    assert lint(HERE / "good") == (0, "", "")


@pytest.mark.parametrize("mode, protocol, policy, hint", [
    ("auto", "tcp", "Cluster", ""),
    ("auto", "tcp", "Local", "from nodes without a pod of the Service (externalTrafficPolicy Local)"),
    ("auto", "http", "Local", ""),
    ("off", "http", "Cluster", "TLS does not end there, and no X-Forwarded-For is set"),
    ("VIP", "http", "Cluster", "TLS does not end there, and no X-Forwarded-For is set"),
    ("Proxy", "tcp", "Local", ""),
])
def test_hints_are_no_findings(world, lint, mode, protocol, policy, hint):
    """What works, but not from everywhere: it is said, and all is well."""
    config = world.write_config(plugins=f'{{ name = "clb"; status_ip_mode = "{mode}"; }}')
    text = (f"apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  annotations:\n    {NEW}protocol-port: \"{protocol}:80\"\n"
            f"spec:\n  type: LoadBalancer\n  externalTrafficPolicy: {policy}\n  ports: [{{port: 80}}]\n")
    code, out, err = lint("-", stdin=text, plugins=("--config", config))
    assert (code, err) == (0, "")
    assert (hint in out and out.startswith("<stdin>:8: hint: ") and out.count("\n") == 1) if hint else out == ""


PORTS = "[{name: http, port: 80, targetPort: 8080, nodePort: 30080}, {name: https, port: 443, targetPort: 8443, nodePort: 30443}]"
ONLY_ON = 'has no effect with this value: only "on" switches it on'
UNCHECKED = "has no effect with health-check-switch off"
BY_HTTP = "has no effect without health-check-type http"
NODE_PORTS = "names a port of the pods"
HTTP = {"protocol-port": "http:80,https:443", "cert-id": "c", "health-check-flag": "on"}
PODS = {"backend-type": "eni"}
IDLE = [  # annotation, value, what stands beside it, how the finding begins; "" = there is none
    ("proxy-protocol", "true", {}, ONLY_ON), ("proxy-protocol", "ON", {}, ONLY_ON), ("proxy-protocol", "on", {}, ""), ("proxy-protocol", "off", {}, ""),
    ("remove-unscheduled-backend", "true", {}, ONLY_ON), ("remove-unscheduled-backend", "on", {}, ""),
    ("remove-unscheduled-backend", "on", PODS, "has no effect with service.beta.kubernetes.io/backend-type eni"),
    ("ignore-weight-update", "yes", {}, ONLY_ON), ("ignore-weight-update", "ON", {}, ""),
    ("backend-label", "a=b", PODS, "has no effect with service.beta.kubernetes.io/backend-type eni"), ("backend-label", "a=b", {}, ""),
    ("default-weight", "5", {"policy": "Local"}, "has no effect with externalTrafficPolicy Local"), ("default-weight", "5", {}, ""),
    ("default-weight", "5", {"policy": "Local"} | PODS, ""),
    ("ip", "10.1.0.77", {}, "has no effect on an internet load balancer"), ("ip", "10.1.0.77", {"address-type": "intranet"}, ""),
    ("forward-port", "443:80", HTTP, "has an entry [443:80] without effect: the listener of port 443 is not http"), ("forward-port", "80:443", HTTP, ""),
    ("health-check-connect-port", "8080", {}, NODE_PORTS), ("health-check-connect-port", "443", {}, NODE_PORTS), ("health-check-connect-port", "30080", {}, ""),
    ("health-check-connect-port", "9000", {}, ""), ("health-check-connect-port", "8080", PODS, ""),
    *((name, value, {"health-check-switch": "off"}, UNCHECKED) for name, value in (
        ("health-check-type", "tcp"), ("health-check-connect-port", "-520"), ("health-check-connect-timeout", "5"), ("health-check-interval", "5"),
        ("healthy-threshold", "3"), ("unhealthy-threshold", "3"), ("health-check-uri", "/a"), ("health-check-domain", "a.b"),
        ("health-check-httpcode", "http_2xx"))),
    *((name, value, beside, text) for name, value in (("health-check-uri", "/a"), ("health-check-domain", "a.b"), ("health-check-httpcode", "http_2xx"))
      for beside, text in (({}, BY_HTTP), ({"health-check-type": "tcp"}, BY_HTTP), ({"health-check-type": "http"}, ""), (HTTP, ""))),
    ("ipv6-address-type", "internet", {"class": "nlb"}, "has no effect without ip-version dualstack"),
    ("ipv6-address-type", "internet", {"class": "nlb", "ip-version": "dualstack"}, ""),
    ("cacert", "on", {"class": "nlb", "protocol-port": "tcpssl:443", "cert-id": "c"}, "has no effect without cacert-id"),
    ("cacert", "on", {"class": "nlb", "protocol-port": "tcpssl:443", "cert-id": "c", "cacert-id": "ca"}, ""),
    ("hostname", "web.example.com", {}, ""),
    *(("hostname", name, {}, "must be a name of DNS") for name in ("My_Host", "m\u00fcnchen.de", "-a.b", "a-.b", "a..b", "a.", ".a", "10.0.0.1")),
]


@pytest.mark.parametrize("name, value, beside, text", IDLE)
def test_no_effect(lint, tree, name, value, beside, text):
    """One finding about the annotation, or none; what limits who may connect is an error."""
    annotations = {key: word for key, word in beside.items() if key not in ("class", "policy")} | {name: value}
    spec = {"type": "LoadBalancer", "externalTrafficPolicy": beside.get("policy", "Cluster")}
    if "class" in beside:
        annotations["zone-maps"] = "a:vsw-1,b:vsw-2"
        spec["loadBalancerClass"] = "alibabacloud.com/nlb"
    keys = {"service.beta.kubernetes.io/backend-type" if key == "backend-type" else NEW + key: word for key, word in annotations.items()}
    lines = "".join(f"    {json.dumps(key)}: {json.dumps(word)}\n" for key, word in keys.items())
    rest = "".join(f"  {key}: {word}\n" for key, word in spec.items())
    code, out, err = lint("-", stdin=f"apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  annotations:\n{lines}spec:\n{rest}  ports: {PORTS}\n", plugins=tree)
    found = [line for line in out.splitlines() if f"annotation {NEW}{name} " in line]
    assert [text in line for line in found] == ([True] if text else []), out
    level = "error" if name in ("cacert", "hostname") else "warning"
    assert err == "" and all(f" {level}: " in line for line in found) and code == (1 if text else 0)


def test_bad_manifests(lint):
    code, out, err = lint(HERE / "bad")
    assert out == "".join(expected(name) for name in sorted(FINDINGS))
    assert (code, err) == (1, "")


def test_every_bad_manifest_is_expected():
    assert sorted(p.name for p in (HERE / "bad").glob("*.yaml")) == sorted(FINDINGS)
    assert sorted(p.name for p in (HERE / "nlb-bad").glob("*.yaml")) == sorted(NLB_FINDINGS)


def test_good_nlb_manifests(lint, nlb):
    assert lint(HERE / "nlb-good", plugins=nlb) == (0, "", "")


def test_bad_nlb_manifests(lint, nlb):
    code, out, err = lint(HERE / "nlb-bad", plugins=nlb)
    assert out == "".join(f"{HERE / 'nlb-bad' / name}:{line}\n" for name in sorted(NLB_FINDINGS) for line in NLB_FINDINGS[name])
    assert (code, err) == (1, "")


def test_each_kind_judges_its_own(lint, nlb):
    """Neither plugin says a word about the Services of the other."""
    assert lint(HERE / "nlb-bad") == (0, "", "")
    assert lint(HERE / "bad" / "protocol.yaml", plugins=nlb) == (0, "", "")


def test_several_operands_and_standard_input(lint):
    stdin = (HERE / "bad" / "protocol.yaml").read_text()
    code, out, err = lint(HERE / "good", "-", HERE / "bad" / "syntax.yaml", stdin=stdin)
    assert out == expected("protocol.yaml", "<stdin>") + expected("syntax.yaml")
    assert (code, err) == (1, "")


def test_carriage_returns_and_byte_order_mark(lint):
    text = (HERE / "bad" / "annotations.yaml").read_text().replace("\n", "\r\n")
    assert lint("-", stdin="\ufeff" + text) == (1, expected("annotations.yaml", "<stdin>"), "")


def test_json(lint):
    text = '{\n  "apiVersion": "v1", "kind": "Service",\n  "metadata": {"name": "a"},\n  "spec": {"type": "LoadBalancer",\n' \
           '\t"ports": [{"port": 80},\n\t\t{"port": 0}]}}\n'
    assert lint("-", stdin=text + text) == (
        1, "<stdin>:6: error: a: port out of range\n<stdin>:12: error: a: port out of range\n", "")


def test_a_file_is_read_whatever_its_name(lint, tmp_path):
    path = tmp_path / "manifest"
    path.write_text((HERE / "bad" / "protocol.yaml").read_text())
    assert lint(path) == (1, expected("protocol.yaml", path), "")


def test_links_of_folders_are_not_followed(lint, tmp_path):
    (tmp_path / "loop.yaml").symlink_to(tmp_path)
    (tmp_path / "linked.yaml").symlink_to(HERE / "bad" / "protocol.yaml")
    assert lint(tmp_path) == (1, expected("protocol.yaml", tmp_path / "linked.yaml"), "")


def test_aliases_cannot_blow_up(lint):
    levels = "\n".join(f"    l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]" for i in range(1, 12))
    text = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  bomb:\n    l0: &l0 [x]\n" + levels + "\n"
    code, out, err = lint("-", stdin=text)
    assert (code, out, err) == (1, "<stdin>:1: error: a: the Service is nested too deeply or too large\n", "")


SERVICE = "apiVersion: v1\nkind: Service\nmetadata: { name: web }\nspec: { type: LoadBalancer, ports: [ { port: 80 } ] }\n"


@pytest.mark.parametrize("text", [
    "base: &b { x: 1 }\n" + "".join(f"k{n}: {{ <<: *b, y: 1 }}\n" for n in range(20000)),
    "map: { " + ", ".join(f"k{n}: 1" for n in range(20000)) + " }\n",
    "---\n" * 1000000,
    "a: b\n" + "\n" * 60000,
], ids=["merge-keys", "keys", "documents", "blank-lines"])
def test_work_grows_with_the_size(lint, tmp_path, text):
    """Each took 3 to 30 s of CPU; each takes less than 0.2 s."""
    (tmp_path / "large.yaml").write_text(f"{text}---\n{SERVICE}")
    before = os.times().children_user
    code, out, err = lint(str(tmp_path / "large.yaml"))
    assert (code, out) == (0, ""), err
    assert os.times().children_user - before < 2 * proc.SLOW


def test_more_anchors_than_are_read(lint, tmp_path):
    """The parser compares each anchor with all others: beyond a limit the document is refused, and the others are checked."""
    path = tmp_path / "anchors.yaml"
    bad = SERVICE + "---\n" + SERVICE.replace("port: 80", "port: 0")
    path.write_text("list:\n" + "".join(f"- &a{n} x\n" for n in range(100000)) + "---\n" + bad)
    before = os.times().children_user
    code, out, _ = lint(str(path))
    assert code == 1 and "anchors.yaml:1: error: more than 10000 anchors (&) in one document: it is not checked" in out
    assert "port out of range" in out
    assert os.times().children_user - before < 5 * proc.SLOW
    path.write_text("list:\n" + "- x & y && &z\n" * 10000 + "---\n" + SERVICE)
    assert lint(str(path))[:2] == (0, ""), "these are none"


def test_duplicate_keys(lint, tmp_path):
    """The first that was there before, in its line; documents beside it are checked."""
    path = tmp_path / "twice.yaml"
    for text, line in (("a: 1\nb: 2\nb: 3\na: 4\n", 3), ("a:\n  'x': 1\n  y: 2\n  \"x\": 3\n", 4), ("- { a: 1 }\n- { a: 1,\n a: 2 }\n", 3),
                       ("a: 1\nab: 2\nA: 3\n", None), ('"a\\0b": 1\n"a\\0c": 2\n', None), ("? [ a ]\n: 1\n? [ a, b ]\n: 2\n", None),
                       ("a: &x 1\n*x : 2\n1: 3\n", None)):
        path.write_text(f"{text}---\n{SERVICE}---\n{SERVICE.replace('port: 80', 'port: 0')}")
        _, out, _ = lint(str(path))
        assert "port out of range" in out
        told = [row for row in out.splitlines() if "not YAML" in row]
        assert told == ([] if line is None else [f"{path}:{line}: error: not YAML: duplicate key"]), text


def test_too_large_as_the_daemon_sees_it(lint):
    """Also because of keys without a domain of Kubernetes that plugins declare; never because of keys of others."""
    def manifest(domain):
        return json.dumps({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "annotations": {
            f"{domain}/a{n}": "x" * 16000 for n in range(4)}}, "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}})

    code, out, err = lint("-", stdin=manifest("ccm.alibabacloud.com"))
    assert (code, err) == (1, "") and "annotations: more than 48 KiB that plugins read" in out
    assert lint("-", stdin=manifest("example.kubernetes.io"))[:2] == (0, "")


def test_nothing_to_check(lint):
    assert lint("-", stdin="") == (0, "", "ccmd: no Service found\n")


# --- plugins and usage ----------------------------------------------------------------------------------------------


def test_plugins_of_a_folder(lint, build):
    # The template does not check manifests; that is no problem as long as another one does.
    code, out, err = lint(HERE / "bad" / "protocol.yaml", plugins=("--plugin-dir", os.path.join(build, "plugins")))
    assert (code, out, err) == (1, expected("protocol.yaml"), "")


def test_plugin_by_name(lint, build):
    folder = os.path.join(build, "plugins")
    assert lint(HERE / "good", plugins=("--plugin-dir", folder, "--plugin", "clb")) == (0, "", "")


def test_plugins_of_the_configuration(world, lint):
    code, out, err = lint(HERE / "bad" / "protocol.yaml", plugins=("--config", world.config))
    assert (code, out, err) == (1, expected("protocol.yaml"), "")


def test_options_count(world, lint):
    """What an option serves, or forbids, is judged by the configuration."""
    config = world.write_config(plugins='{ name = "clb"; source_ranges = true; disable_public_slb = true; }')
    code, out, err = lint(HERE / "bad" / "fields.yaml", plugins=("--config", config))
    denied = "create public address slb is not allowed"
    lines = [line for line in FINDINGS["fields.yaml"] if "loadBalancerSourceRanges" not in line]
    lines += [f"8: error: fields: {denied}", f"31: error: in-list: {denied}"]
    lines.sort(key=lambda line: int(line.split(":")[0]))
    assert out == "".join(f"{HERE / 'bad' / 'fields.yaml'}:{line}\n" for line in lines)
    assert (code, err) == (1, "")


def test_options_count_for_nlb(world, lint):
    """A public address that is forbidden, and Services that an annotation makes ours."""
    denied = "option disable_public_nlb of plugin nlb forbids a public address: set annotation address-type to intranet"
    config = world.write_config(plugins='{ name = "nlb"; disable_public_nlb = true; }, { name = "clb"; }',
                                alicloud="type_annotation = true;")
    text = (f"apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  annotations:\n    {NEW}type: nlb\n"
            f"    {NEW}zone-maps: 'a:vsw-1'\nspec:\n  type: LoadBalancer\n  ports: [{{port: 80}}]\n")
    assert lint("-", stdin=text, plugins=("--config", config)) == (1, f"<stdin>:9: error: a: {denied}\n", "")
    named = text.replace("spec:", f"    {NEW}address-type: Internet\nspec:")
    assert lint("-", stdin=named, plugins=("--config", config)) == (1, f"<stdin>:8: error: a: {denied}\n", "")
    private = text.replace("spec:", f"    {NEW}address-type: Intranet\nspec:")
    assert lint("-", stdin=private, plugins=("--config", config)) == (0, "", "")


@pytest.mark.parametrize("mode, code, finding", [
    ("on", 0, ""),
    ("tagged", 1, f"6: warning: a: annotation {NEW}id: option reuse is tagged: the load balancer needs tag "
                  "ccm.alibabacloud.com/allow-namespaces with this namespace"),
    ("off", 1, f"6: error: a: annotation {NEW}id: option reuse is off: no load balancer is reused"),
])
def test_whether_load_balancers_are_reused(world, lint, mode, code, finding):
    config = world.write_config(plugins=f'{{ name = "clb"; reuse = "{mode}"; }}')
    text = (f"apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  annotations:\n    {NEW}id: lb-1\n    {NEW}force-override-listeners: \"true\"\n"
            "spec:\n  type: LoadBalancer\n  ports: [{port: 80}]\n")
    assert lint("-", stdin=text, plugins=("--config", config)) == (code, f"<stdin>:{finding}\n" if finding else "", "")


@pytest.mark.parametrize("plugins, operands, words", [
    ((), (), "FILE... is missing"),
    ((), ("x.yaml",), "--plugin FILE"),
    (("--config", "/nonexistent"), ("x.yaml",), "/nonexistent"),
    (("--config", "/nonexistent", "--plugin", "clb"), ("x.yaml",), "not both"),
    (("--plugin", "./nonexistent.so"), ("x.yaml",), "nonexistent.so"),
    (("--plugin", "CLB"), ("x.yaml",), "CLB"),
    (("--plugin-dir", "/nonexistent"), ("x.yaml",), "/nonexistent"),
])
def test_usage(lint, plugins, operands, words):
    code, out, err = lint(*operands, plugins=plugins)
    assert (code, out) == (2, "")
    assert words in err


def test_a_plugin_that_does_not_check(lint, build):
    template = os.path.join(build, "plugins", "template.so")
    code, out, err = lint(HERE / "good", plugins=("--plugin", template))
    assert (code, out) == (2, "") and "does not check manifests" in err


def test_unreadable(lint, tmp_path):
    missing = tmp_path / "missing.yaml"
    code, out, err = lint(missing, HERE / "bad" / "protocol.yaml")
    assert (code, out) == (2, expected("protocol.yaml"))  # the others are checked all the same
    assert err == f"{missing}: No such file or directory\n"


# --- for programs ---

OUTPUT = """apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
  annotations:
    service.beta.kubernetes.io/alibaba-cloud-loadbalancer-scheduler: "fast, slow"
    service.beta.kubernetes.io/alibaba-cloud-loadbalancer-adress-type: intranet
spec:
  type: LoadBalancer
  ports:
  - {port: 80, protocol: TCP}
"""


@pytest.fixture
def lint_as(build, tmp_path):
    (tmp_path / "web service.yaml").write_text(OUTPUT)

    def run(output, *words):
        return proc.run(["env", f"--chdir={tmp_path}", os.path.join(build, "bin", "ccmd"), "lint", "--plugin-dir",
                         os.path.join(build, "plugins"), "--plugin", "clb", "-o", output, *(words or ["web service.yaml"])])

    return run


def test_findings_as_json(lint_as):
    code, out, err = lint_as("json")
    told = json.loads(out)
    assert (code, err, told["services"]) == (1, "", 1)
    assert [(f["file"], f["line"], f["level"], f["service"], f["rule"]) for f in told["findings"]] == [
        ("web service.yaml", 7, "error", "shop/web", "clb"), ("web service.yaml", 8, "warning", "shop/web", "clb")]
    assert told["findings"][0]["message"].startswith("annotation service.beta.kubernetes.io/alibaba-cloud-loadbalancer-scheduler must be")


def test_findings_as_sarif(lint_as):
    code, out, _ = lint_as("sarif")
    log = json.loads(out)
    (run,) = log["runs"]
    assert code == 1 and log["version"] == "2.1.0" and run["tool"]["driver"]["name"] == "ccmd lint"
    assert [result["level"] for result in run["results"]] == ["error", "warning"]
    first = run["results"][0]
    (place,) = first["locations"]
    assert place["physicalLocation"] == {"artifactLocation": {"uri": "web%20service.yaml"}, "region": {"startLine": 7}}
    assert place["logicalLocations"] == [{"fullyQualifiedName": "shop/web"}] and first["message"]["text"].startswith("shop/web: annotation ")
    assert first["ruleId"] == "clb"


def test_findings_as_annotations_of_a_workflow(lint_as):
    code, out, _ = lint_as("github")
    first, second = out.splitlines()
    assert code == 1 and first.startswith("::error file=web service.yaml,line=7,title=shop/web::annotation ")
    assert second.startswith("::warning file=web service.yaml,line=8,title=shop/web::annotation ")


def test_nothing_found_is_told_too(lint_as, tmp_path):
    (tmp_path / "good.yaml").write_text("kind: ConfigMap\napiVersion: v1\n")
    assert json.loads(lint_as("json", "good.yaml")[1]) == {"services": 0, "findings": []}
    assert json.loads(lint_as("sarif", "good.yaml")[1])["runs"][0]["results"] == []
    assert lint_as("github", "good.yaml")[:2] == (0, "")


def test_colours_on_a_terminal_only(build, lint_as, tmp_path):
    assert "\033[" not in lint_as("text")[1]

    def behind_a_terminal(**env):
        return terminal.run([os.path.join(build, "bin", "ccmd"), "lint", "--plugin-dir", os.path.join(build, "plugins"), "--plugin", "clb",
                             str(tmp_path / "web service.yaml")], **env)[2]

    assert "\033[31merror\033[0m: shop/web: " in behind_a_terminal()
    assert "\033[" not in behind_a_terminal(NO_COLOR="1") and "\033[" not in behind_a_terminal(TERM="dumb")
