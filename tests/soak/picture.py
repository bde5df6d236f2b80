"""What the cloud and the Services hold, with names in place of ids and addresses: two worlds with the same objects look alike."""

import json
import re

from tests.support.products import OWNER_TAG

from . import gates

ID = re.compile(r"\b(?:lb|nlb|rsp|sgp|lsn|acl|sg|sgr|rte|vtb|job|eni|eip)-[0-9a-z]{8,}\b")
# times, what the cloud chooses by itself, and what only the past decides
LEFT_OUT = {"Address", "DNSName", "CreateTime", "CreateTimeStamp", "CreationTime", "DeletionProtectionTime", "RequestId",
            "ModificationProtectionTime", "StartTime", "UpdateTime", "VpcIds", "SecurityGroupRuleId", "PrivateIPv4Address",
            "ModifyTime", "GmtModified", "Groups"}
# of NLB: never set is as good as set so
DEFAULTS = {"Cps": "0", "CrossZoneEnabled": "true", "PreserveClientIpEnabled": "true", "ProxyProtocolEnabled": "false",
            "Ppv2PrivateLinkEpIdEnabled": "false", "Ppv2PrivateLinkEpsIdEnabled": "false", "Ppv2VpcIdEnabled": "false"}
ACCESS_LIST = {"AclId", "AclIds", "AclType"}  # a listener whose list is off still says which it had
NLB_ZONE = {"ZoneId", "VSwitchId"}


class Picture:
    def __init__(self, cloud_state, server_state, reusable=None):
        """reusable: id -> name of the load balancers of persons, which stand in annotations."""
        self.names = dict(reusable or {})
        self.parts = {}
        self._name_all(cloud_state)
        self._add_balancers(cloud_state)
        for key in ("acls", "aclEntries", "accessControlLists", "securityGroups", "securityRules", "routes"):
            for number, text in enumerate(sorted(self._text(item) for item in cloud_state.get(key, []))):
                self.parts[f"{key} {number}"] = text
        self._add_services(server_state)
        self.parts.update(gates.look(server_state))

    def _name(self, name, wanted):
        taken, number, chosen = set(self.names.values()), 2, wanted
        while chosen in taken:
            chosen, number = f"{wanted}~{number}", number + 1
        self.names[name] = chosen

    def _name_all(self, state):
        for lb in state["loadBalancers"] + state["nlbLoadBalancers"]:
            lb_id = lb["LoadBalancerId"]
            if lb_id not in self.names:
                self._name(lb_id, lb["Tags"].get(OWNER_TAG) or lb["LoadBalancerName"])
            self.names[lb.get("Address") or lb["DNSName"]] = f"address of {self.names[lb_id]}"
            for group in lb.get("VServerGroups", []):
                self._name(group["VServerGroupId"], f"{self.names[lb_id]}/{group['VServerGroupName']}")
            for one in lb["Listeners"]:
                if "ListenerId" in one:
                    self._name(one["ListenerId"], f"{self.names[lb_id]}/{one['ListenerPort']}{one['ListenerProtocol']}")
        for group in state["nlbServerGroups"]:
            self._name(group["ServerGroupId"], f"{group['Tags'].get(OWNER_TAG, '')}/{group['ServerGroupName']}")
        for group in state.get("securityGroups", []):
            self._name(group["SecurityGroupId"], f"guard {group['Tags'].get(OWNER_TAG, group.get('SecurityGroupName'))}")
        for one in state.get("acls", []):
            self._name(one["AclId"], f"list {one['AclName']}")

    def _text(self, item):
        text = json.dumps(self._strip(item), sort_keys=True)
        return ID.sub(lambda match: self.names.get(match.group(0), "an id"), text)

    def _strip(self, item):
        if isinstance(item, dict):
            ineffective = ACCESS_LIST if item.get("AclStatus") == "off" else ()
            return {key: self._strip(value) for key, value in item.items()
                    if key not in LEFT_OUT and key not in ineffective and DEFAULTS.get(key) != value}
        return [self._strip(one) for one in item] if isinstance(item, list) else item

    def _add_balancers(self, state):
        for lb in state["loadBalancers"] + state["nlbLoadBalancers"]:
            name = self.names[lb["LoadBalancerId"]]
            own = {key: value for key, value in lb.items() if key not in ("Listeners", "VServerGroups", "ZoneMappings", "BackendServers")}
            zones = sorted(sorted(zone[key] for key in NLB_ZONE) for zone in lb.get("ZoneMappings", []))
            self.parts[name] = self._text({**own, "zones": zones, "SecurityGroupIds": sorted(
                self.names.get(one, one) for one in lb.get("SecurityGroupIds", []))})
            for one in lb["Listeners"]:
                self.parts[f"{name} listener {one['ListenerPort']}/{one['ListenerProtocol']}"] = self._text(one)
            for group in lb.get("VServerGroups", []):
                self._add_group(self.names[group["VServerGroupId"]], group, "BackendServers")
        for group in state["nlbServerGroups"]:
            self._add_group(self.names[group["ServerGroupId"]], group, "Servers")

    def _add_group(self, name, group, member):
        servers = sorted(self._text(one) for one in group[member])
        self.parts[name] = self._text({key: value for key, value in group.items() if key != member})
        for text in servers:
            self.parts[f"{name} {text}"] = "there"

    def _add_services(self, state):
        for item in state["services"]:
            meta = item["metadata"]
            told = item.get("status", {}).get("loadBalancer", {}).get("ingress", [])
            addresses = [self.names.get(one.get("ip") or one.get("hostname"), "an address of nobody") for one in told]
            labels = {key: self.names.get(value, value) for key, value in meta.get("labels", {}).items() if not key.endswith("/hash")}
            self.parts[f"Service {meta['name']}"] = json.dumps({
                "addresses": addresses, "labels": labels, "finalizers": meta.get("finalizers", []),
                "going": "deletionTimestamp" in meta}, sort_keys=True)

    def differences(self, other):
        """Of this one and of the one it should be like."""
        lines = []
        for name in sorted(self.parts.keys() | other.parts.keys()):
            mine, wanted = self.parts.get(name), other.parts.get(name)
            if mine != wanted:
                lines.append(f"{name}:\n    found  {mine}\n    wanted {wanted}")
        return lines
