#!/usr/bin/env python3
"""Make the compact tables of the cloud's actions that the conformance test reads.

    scripts/openapi-tables.py SOURCE TARGET

SOURCE holds one PRODUCT.json per product (names and types of parameters and answers) and limits.json (required
parameters, ranges, lengths, enumerations); TARGET gets one PRODUCT.json each: for every action its parameters by flat
name ("Tag.N.Key") and the paths of its answer ("Vpcs.Vpc[].VpcId") with their types.
"""

import json
import os
import sys

LEGACY = {"OwnerAccount", "OwnerId", "ResourceOwnerAccount", "ResourceOwnerId"}
PRODUCTS = ("slb", "nlb", "vpc", "ecs", "sts", "cas")

_ACL = {"AclId": "string", "RegionId": "string"}
# Actions that SOURCE lacks, from the public reference of the API: (product, name) -> (request, answer, rules).
EXTRA = {
    ("slb", "AddAccessControlListEntry"): (
        {**_ACL, "AclEntrys": "string"}, {"RequestId": "string"}, {"required": ["RegionId", "AclId", "AclEntrys"]}),
    ("slb", "RemoveAccessControlListEntry"): (
        {**_ACL, "AclEntrys": "string"}, {"RequestId": "string"}, {"required": ["RegionId", "AclId", "AclEntrys"]}),
    ("slb", "DescribeAccessControlListAttribute"): (
        {**_ACL, "AclEntryComment": "string", "Page": "number", "PageSize": "number"},
        {"AclId": "string", "AclName": "string", "AddressIPVersion": "string", "ResourceGroupId": "string",
         "RequestId": "string", "TotalAclEntry": "number",
         "AclEntrys": {"AclEntry": [{"AclEntryIP": "string", "AclEntryComment": "string"}]},
         "RelatedListeners": {"RelatedListener": [{"LoadBalancerId": "string", "ListenerPort": "number",
                                                   "Protocol": "string", "AclType": "string"}]},
         "Tags": {"Tag": [{"TagKey": "string", "TagValue": "string"}]}},
        {"required": ["RegionId", "AclId"], "ranges": {"PageSize": {"range": [1, 50]}, "Page": {"range": [1, None]}}}),
    ("slb", "DescribeHealthStatus"): (
        {"ListenerPort": "number", "ListenerProtocol": "string", "LoadBalancerId": "string", "RegionId": "string"},
        {"BackendServers": {"BackendServer": [{"ListenerPort": "number", "Port": "number", "Protocol": "string",
                                               "ServerHealthStatus": "string", "ServerId": "string", "ServerIp": "string"}]},
         "RequestId": "string"},
        {"required": ["LoadBalancerId"], "ranges": {"ListenerPort": {"range": [1, 65535]},
                                                    "ListenerProtocol": {"enum": ["tcp", "udp", "http", "https"]}}}),
    ("nlb", "GetListenerHealthStatus"): (
        {"ListenerId": "string", "RegionId": "string"},
        {"ListenerHealthStatus": [{
            "ListenerId": "string", "ListenerPort": "number", "ListenerProtocol": "string",
            "ServerGroupInfos": [{
                "HeathCheckEnabled": "boolean", "ServerGroupId": "string",
                "NonNormalServers": [{"Port": "number", "Reason": {"ReasonCode": "string"}, "ServerId": "string",
                                      "ServerIp": "string", "Status": "string"}]}]}],
         "MaxResults": "number", "NextToken": "string", "RequestId": "string", "TotalCount": "number"},
        {"required": ["ListenerId"], "ranges": {}}),
}


def parameters(spec, prefix=""):
    """Flat name -> type."""
    flat = {}
    for name, kind in spec.items():
        if name in LEGACY and not prefix:
            continue
        name = prefix + name
        if isinstance(kind, dict) and "$jsonString" in kind:
            flat[name] = "string"
        elif isinstance(kind, dict):
            flat.update(parameters(kind, name + "."))
        elif isinstance(kind, list) and isinstance(kind[0], dict):
            flat.update(parameters(kind[0], name + ".N."))
        elif isinstance(kind, list):
            flat[name + ".N"] = kind[0]
        else:
            flat[name] = kind
    return flat


def answer(spec, prefix=""):
    """Path -> type of the leaves, lists marked by []."""
    flat = {}
    for name, kind in spec.items():
        path = prefix + name
        while isinstance(kind, list):
            path += "[]"
            kind = kind[0]
        if isinstance(kind, dict):
            flat.update(answer(kind, path + "."))
        else:
            flat[path] = kind
    return flat


def rule(limits, name):
    """What limits.json says of a parameter: required, range, len, enum."""
    plain = name.replace(".N.", "[].").replace(".N", "[]")
    said = limits.get("ranges", {})
    found = said.get(plain) or said.get(plain.replace("[]", "")) or {}
    out = {key: found[key] for key in ("range", "len", "enum") if key in found}
    # what only the prose calls mandatory is left to the tests of the action itself
    must = set(limits.get("required", [])) - set(limits.get("required_by_doc_only", []))
    if plain in must or plain.rstrip("[]") in must:
        out["required"] = True
    return out


def main(source, target):
    def load(name):
        with open(os.path.join(source, name + ".json"), encoding="utf-8") as file:
            return json.load(file)

    limits = load("limits")
    os.makedirs(target, exist_ok=True)
    for product in PRODUCTS:
        table = load(product)
        actions = {}
        known, said_of = dict(table["actions"]), dict(limits.get(product, {}))
        for (whose, name), (request, response, rules) in EXTRA.items():
            if whose == product and name not in known:
                known[name], said_of[name] = {"request": request, "response": response}, rules
        for name, spec in sorted(known.items()):
            said = said_of.get(name, {})
            actions[name] = {
                "parameters": {
                    flat: {"type": kind, **rule(said, flat)}
                    for flat, kind in sorted(parameters(spec["request"]).items())
                },
                "answer": dict(sorted(answer(spec["response"]).items())),
            }
            for key in ("inBody", "auth"):
                if key in spec:
                    actions[name][key] = spec[key]
        lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(action)}" for name, action in actions.items())
        with open(os.path.join(target, product + ".json"), "w", encoding="utf-8") as file:
            file.write(f'{{"version": {json.dumps(table["version"])}, "actions": {{\n{lines}\n}}}}\n')


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
