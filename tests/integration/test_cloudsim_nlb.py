"""Network load balancers of cloudsim: good paths, the rules of states, jobs, tokens, pages."""

import json
import threading
import time

import pytest

from tests.integration.test_cloudsim import Sim, refused
from tests.support.world import wait

# 10 min of nothing: jobs that a test ends itself
FOREVER = 600_000

WORLD = {
    "region": "cn-hangzhou",
    "vpcs": [{"id": "vpc-1", "cidr": "10.0.0.0/8", "ipv6": "2408:4005:1::/56"},
             {"id": "vpc-2", "cidr": "172.16.0.0/12"}],
    "vswitches": [
        {"id": "vsw-a", "vpc": "vpc-1", "zone": "zone-a", "cidr": "10.1.0.0/16", "ipv6": "2408:4005:1:1::/64"},
        {"id": "vsw-b", "vpc": "vpc-1", "zone": "zone-b", "cidr": "10.2.0.0/16", "ipv6": "2408:4005:1:2::/64"},
        {"id": "vsw-b2", "vpc": "vpc-1", "zone": "zone-b", "cidr": "10.3.0.0/16"},
        {"id": "vsw-full", "vpc": "vpc-1", "zone": "zone-c", "cidr": "10.4.0.0/24", "available": 0},
        {"id": "vsw-other", "vpc": "vpc-2", "zone": "zone-a", "cidr": "172.16.0.0/24"}],
    "instances": [{"id": f"i-{n}", "ip": f"10.1.0.{n}"} for n in range(1, 6)]
                 + [{"id": "i-other", "ip": "172.16.0.9"}],
    "enis": [{"id": "eni-1", "instance": "i-1", "ips": ["10.1.1.1", "10.1.1.2"], "ipv6": ["2408:4005:1:1::7"]},
             {"id": "eni-free", "ip": "10.1.1.9"}],
    "bandwidth_packages": [{"id": "cbwp-1"}, {"id": "cbwp-2"}],
    "cas_certificates": [{"id": f"{n}-cn-hangzhou"} for n in range(1, 31)],
}

ZONES = [{"ZoneId": "zone-a", "VSwitchId": "vsw-a"}, {"ZoneId": "zone-b", "VSwitchId": "vsw-b"}]


class Nlb:
    """A simulator with the world above, and short names for what the tests do all the time."""

    def __init__(self, folder, *args):
        path = folder / "world.json"
        path.write_text(json.dumps(WORLD))
        self.sim = Sim(folder, "--fixtures", path, "--limit", "nlb-load-balancers=100000", *args)
        self.call = self.sim.client.nlb

    def edit(self, status=200, **body):
        return self.sim.control("POST", "edit", body, status)

    def plan(self, **body):
        self.edit(op="jobs", **body)

    def status(self, answer):
        return self.call("GetJobStatus", JobId=answer["JobId"])["Status"]

    def done(self, answer):
        assert self.status(answer) == "Succeeded"
        return answer

    def end(self, answer, status="Succeeded"):
        self.edit(op="update", type="job", id=answer["JobId"], attributes={"Status": status})

    def lb(self, **params):
        params = {"AddressType": "Intranet", "VpcId": "vpc-1", "ZoneMappings": ZONES, **params}
        return self.call("CreateLoadBalancer", **params)["LoadbalancerId"]

    def get(self, lb):
        return self.call("GetLoadBalancerAttribute", LoadBalancerId=lb)

    def group(self, **params):
        params = {"ServerGroupName": "group", "VpcId": "vpc-1", **params}
        return self.done(self.call("CreateServerGroup", **params))["ServerGroupId"]

    def group_of(self, group):
        groups = self.call("ListServerGroups", ServerGroupIds=[group])["ServerGroups"]
        return groups[0] if groups else None

    def listener(self, lb, group, port=80, protocol="TCP", **params):
        return self.done(self.call("CreateListener", LoadBalancerId=lb, ServerGroupId=group, ListenerPort=port,
                                   ListenerProtocol=protocol, **params))["ListenerId"]

    def listener_of(self, listener):
        return self.call("GetListenerAttribute", ListenerId=listener)

    def servers(self, group):
        return [(s["ServerId"], s["Port"], s["Weight"], s["Status"])
                for s in self.call("ListServerGroupServers", ServerGroupId=group, MaxResults=100)["Servers"]]

    def security_group(self, vpc="vpc-1", **params):
        return self.sim.client.ecs("CreateSecurityGroup", VpcId=vpc, SecurityGroupType="enterprise",
                                   **params)["SecurityGroupId"]

    def eip(self):
        return self.sim.client.vpc("AllocateEipAddress", InternetChargeType="PayByTraffic")


@pytest.fixture(scope="module")
def nlb(tmp_path_factory):
    nlb = Nlb(tmp_path_factory.mktemp("nlb"))
    yield nlb
    nlb.sim.process.stop()


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """Jobs end when the test says so."""
    slow = Nlb(tmp_path_factory.mktemp("slow"), "--job-ms", FOREVER)
    yield slow
    slow.sim.process.stop()


def server(server_id="i-1", port=8080, kind="Ecs", **more):
    return {"ServerId": server_id, "ServerType": kind, "Port": port, **more}


# ---- load balancers


def test_create_and_read(nlb):
    lb = nlb.lb(LoadBalancerName="first.lb_1-x", Tag=[{"Key": "a", "Value": "1"}],
                DeletionProtectionConfig={"Enabled": True, "Reason": "because"},
                ModificationProtectionConfig={"Status": "ConsoleProtection", "Reason": "managed.by.ack"})
    got = nlb.get(lb)
    assert got["LoadBalancerStatus"] == "Active" and got["LoadBalancerName"] == "first.lb_1-x"
    assert got["DNSName"] == f"{lb}.cn-hangzhou.nlb.aliyuncs.com"
    assert (got["AddressType"], got["AddressIpVersion"], got["CrossZoneEnabled"]) == ("Intranet", "ipv4", True)
    assert got["DeletionProtectionConfig"]["Enabled"] is True
    assert got["ModificationProtectionConfig"]["Status"] == "ConsoleProtection"
    assert got["Tags"] == [{"TagKey": "a", "TagValue": "1"}]
    assert [z["ZoneId"] for z in got["ZoneMappings"]] == ["zone-a", "zone-b"]
    address = got["ZoneMappings"][0]["LoadBalancerAddresses"][0]
    assert address["PrivateIPv4Address"].startswith("10.1.") and "PublicIPv4Address" not in address
    listed = nlb.call("ListLoadBalancers", LoadBalancerIds=[lb])
    assert listed["TotalCount"] == 1 and listed["MaxResults"] == 20 and "NextToken" not in listed
    assert listed["LoadBalancers"][0]["Tags"] == [{"Key": "a", "Value": "1"}]


def test_creation_answers_no_job(nlb):
    answer = nlb.call("CreateLoadBalancer", AddressType="internet", VpcId="vpc-1", ZoneMappings=ZONES)
    assert sorted(answer) == ["LoadbalancerId", "OrderId", "RequestId"]
    got = nlb.get(answer["LoadbalancerId"])
    assert got["AddressType"] == "Internet"  # in whatever case it was asked for
    for zone in got["ZoneMappings"]:
        assert zone["LoadBalancerAddresses"][0]["PublicIPv4Address"].startswith("47.9")
        assert zone["LoadBalancerAddresses"][0]["AllocationId"].startswith("eip-")


@pytest.mark.parametrize("code, status, params", [
    ("MissingParam.AddressType", 400, {"AddressType": None}),
    ("MissingParam.VpcId", 400, {"VpcId": None}),
    ("MissingParam.ZoneMappings", 400, {"ZoneMappings": None}),
    ("MissingParam.ZoneId", 400, {"ZoneMappings": [ZONES[0], {"VSwitchId": "vsw-b"}]}),
    ("MissingParam.VSwitchId", 400, {"ZoneMappings": [ZONES[0], {"ZoneId": "zone-b"}]}),
    ("IllegalParam", 400, {"AddressType": "Both"}),
    ("IllegalParam", 400, {"AddressIpVersion": "ipv6"}),
    ("IllegalParam.loadBalancerName", 400, {"LoadBalancerName": "x"}),
    ("IllegalParam.loadBalancerName", 400, {"LoadBalancerName": "1abc"}),
    ("IllegalParam.loadBalancerName", 400, {"LoadBalancerName": "a b"}),
    ("IllegalParam.loadBalancerName", 400, {"LoadBalancerName": "a" * 129}),
    ("IllegalParam.DeletionProtectionConfig", 400, {"DeletionProtectionConfig": {"Reason": "?"}}),
    ("IllegalParam.ModificationProtectionConfig", 400, {"ModificationProtectionConfig": {"Reason": "?"}}),
    ("IllegalParam", 400, {"ModificationProtectionConfig": {"Status": "On"}}),
    ("IllegalParamSize.ZoneMappings", 400, {"ZoneMappings": ZONES * 6}),
    ("IllegalParamSize.Tag", 400, {"Tag": [{"Key": f"k{i}", "Value": ""} for i in range(21)]}),
    ("IllegalParam", 400, {"Color": "red"}),
    ("IllegalParam", 400, {"ZoneMappings": [{**ZONES[0], "Ipv6Address": "10.1.0.9"}, ZONES[1]]}),
    ("ResourceNotFound.Vpc", 404, {"VpcId": "vpc-absent"}),
    ("ResourceNotFound.VSwitch", 404, {"ZoneMappings": [ZONES[0], {"ZoneId": "zone-b", "VSwitchId": "absent"}]}),
    ("Mismatch.ZoneIdAndVswitchId", 400, {"ZoneMappings": [ZONES[0], {"ZoneId": "zone-b", "VSwitchId": "vsw-a"}]}),
    ("Mismatch.VpcId", 400, {"ZoneMappings": [{"ZoneId": "zone-a", "VSwitchId": "vsw-other"}, ZONES[1]]}),
    ("OperationFailed.DuplicateZones.", 400, {"ZoneMappings": [ZONES[0], ZONES[0]]}),
    ("InvalidZones", 400, {"ZoneMappings": [ZONES[0]]}),
    ("ResourceNotEnough.VSwitchIp", 400, {"ZoneMappings": [ZONES[0], {"ZoneId": "zone-c", "VSwitchId": "vsw-full"}]}),
    ("ResourceInUse.IP", 400, {"ZoneMappings": [{**ZONES[0], "PrivateIPv4Address": "10.1.0.1"}, ZONES[1]]}),
    ("IllegalParam", 400, {"ZoneMappings": [{**ZONES[0], "PrivateIPv4Address": "10.2.0.1"}, ZONES[1]]}),
    ("IllegalParam", 400, {"ZoneMappings": [{**ZONES[0], "AllocationId": "eip-1"}, ZONES[1]]}),
    ("OperationDenied.IntranetLoadBalancer", 400, {"BandwidthPackageId": "cbwp-1"}),
    ("ResourceNotFound.BandwidthPackageId", 404, {"AddressType": "Internet", "BandwidthPackageId": "absent"}),
    ("ResourceNotFound.AllocationId", 404,
     {"AddressType": "Internet", "ZoneMappings": [{**ZONES[0], "AllocationId": "absent"}, ZONES[1]]}),
    ("OperationFailed.vSwitchNotSupportIpv6", 400,
     {"AddressIpVersion": "DualStack", "ZoneMappings": [ZONES[0], {"ZoneId": "zone-b", "VSwitchId": "vsw-b2"}]}),
    ("DryRunOperation", 400, {"DryRun": True}),
])
def test_create_refusals(nlb, code, status, params):
    before = nlb.sim.state()
    refused(code, status, nlb.lb, **params)
    after = nlb.sim.state()
    assert after["nlbLoadBalancers"] == before["nlbLoadBalancers"]
    assert after["vSwitches"] == before["vSwitches"]  # no address got lost on the way


def test_given_addresses_and_their_return(nlb):
    eip = nlb.eip()
    zones = [{**ZONES[0], "PrivateIPv4Address": "10.1.200.1", "AllocationId": eip["AllocationId"],
              "Ipv4LocalAddresses": ["10.1.200.2", "10.1.200.3"]}, ZONES[1]]
    lb = nlb.lb(AddressType="Internet", ZoneMappings=zones)
    address = nlb.get(lb)["ZoneMappings"][0]["LoadBalancerAddresses"][0]
    assert address["PrivateIPv4Address"] == "10.1.200.1" and address["AllocationId"] == eip["AllocationId"]
    assert address["PublicIPv4Address"] == eip["EipAddress"]
    assert address["Ipv4LocalAddresses"] == ["10.1.200.2", "10.1.200.3"]

    def eip_state():
        return next(e for e in nlb.sim.state()["eips"] if e["AllocationId"] == eip["AllocationId"])

    assert (eip_state()["Status"], eip_state()["InstanceId"]) == ("InUse", lb)
    refused("ResourceAlreadyAssociated.AllocationId", 400, nlb.lb, AddressType="Internet",
            ZoneMappings=[{**ZONES[0], "AllocationId": eip["AllocationId"]}, ZONES[1]])
    refused("ResourceInUse.IP", 400, nlb.lb, ZoneMappings=[{**ZONES[0], "PrivateIPv4Address": "10.1.200.1"}, ZONES[1]])
    nlb.done(nlb.call("DeleteLoadBalancer", LoadBalancerId=lb))
    assert eip_state()["Status"] == "Available" and not eip_state().get("InstanceId")
    refused("DuplicatedParam.AllocationId", 400, nlb.lb, AddressType="Internet",
            ZoneMappings=[{**zone, "AllocationId": eip["AllocationId"]} for zone in ZONES])
    assert nlb.lb(ZoneMappings=[{**ZONES[0], "PrivateIPv4Address": "10.1.200.1"}, ZONES[1]])


def test_protection(nlb):
    lb = nlb.lb(DeletionProtectionConfig={"Enabled": True})
    refused("OperationDenied.DeletionProtectionEnabled", 400, nlb.call, "DeleteLoadBalancer", LoadBalancerId=lb)
    answer = nlb.call("UpdateLoadBalancerProtection", LoadBalancerId=lb, DeletionProtectionEnabled=False,
                      ModificationProtectionStatus="ConsoleProtection", ModificationProtectionReason="managed.by.ack")
    assert "JobId" not in answer
    got = nlb.get(lb)
    assert got["DeletionProtectionConfig"]["Enabled"] is False
    assert got["ModificationProtectionConfig"]["Reason"] == "managed.by.ack"
    refused("IllegalParam.deletionProtectionReason", 400, nlb.call, "UpdateLoadBalancerProtection", LoadBalancerId=lb,
            DeletionProtectionReason="1")
    nlb.done(nlb.call("DeleteLoadBalancer", LoadBalancerId=lb))
    refused("ResourceNotFound.loadBalancer", 404, nlb.get, lb)
    refused("ResourceNotFound.loadBalancer", 404, nlb.call, "DeleteLoadBalancer", LoadBalancerId=lb)


def test_update_attribute(nlb):
    lb = nlb.lb()
    nlb.done(nlb.call("UpdateLoadBalancerAttribute", LoadBalancerId=lb, LoadBalancerName="renamed",
                      CrossZoneEnabled=False, Cps=100))
    got = nlb.get(lb)
    assert (got["LoadBalancerName"], got["CrossZoneEnabled"], got["Cps"]) == ("renamed", False, 100)


def test_zones(nlb):
    lb = nlb.lb()
    first = nlb.get(lb)["ZoneMappings"][0]["LoadBalancerAddresses"][0]["PrivateIPv4Address"]
    available = {v["VSwitchId"]: v["AvailableIpAddressCount"] for v in nlb.sim.state()["vSwitches"]}
    for code, zones in [
        ("InvalidZones", [ZONES[0]]),
        ("InvalidZones", [ZONES[0], ZONES[0]]),
        ("OperationDenied.ZoneVSwitchChanged", [ZONES[0], {"ZoneId": "zone-b", "VSwitchId": "vsw-b2"}]),
        ("OperationDenied.ProtectedPrivateIPv4AddressChanged",
         [{**ZONES[0], "PrivateIPv4Address": "10.1.77.7"}, ZONES[1]]),
        ("ResourceNotEnough.VSwitchIp", [*ZONES, {"ZoneId": "zone-c", "VSwitchId": "vsw-full"}]),
    ]:
        refused(code, 400, nlb.call, "UpdateLoadBalancerZones", LoadBalancerId=lb, ZoneMappings=zones)
    nlb.edit(op="create", type="vswitch", id="vsw-d", vpc="vpc-1", zone="zone-d", cidr="10.5.0.0/24")
    nlb.done(nlb.call("UpdateLoadBalancerZones", LoadBalancerId=lb,
                      ZoneMappings=[ZONES[0], {"ZoneId": "zone-d", "VSwitchId": "vsw-d"}]))
    got = nlb.get(lb)["ZoneMappings"]
    assert [z["ZoneId"] for z in got] == ["zone-a", "zone-d"]
    assert got[0]["LoadBalancerAddresses"][0]["PrivateIPv4Address"] == first
    now = {v["VSwitchId"]: v["AvailableIpAddressCount"] for v in nlb.sim.state()["vSwitches"]}
    assert now["vsw-b"] == available["vsw-b"] + 1 and now["vsw-a"] == available["vsw-a"]


def test_address_type(nlb):
    lb = nlb.lb()
    refused("OperationDenied.AddressTypeNotChanged", 400, nlb.call, "UpdateLoadBalancerAddressTypeConfig",
            LoadBalancerId=lb, AddressType="Intranet")
    eip = nlb.eip()
    nlb.done(nlb.call("UpdateLoadBalancerAddressTypeConfig", LoadBalancerId=lb, AddressType="Internet",
                      ZoneMappings=[{**ZONES[1], "AllocationId": eip["AllocationId"], "EipType": "Common"}]))
    got = nlb.get(lb)
    addresses = [z["LoadBalancerAddresses"][0] for z in got["ZoneMappings"]]
    assert got["AddressType"] == "Internet" and addresses[0]["PublicIPv4Address"]
    assert addresses[1]["PublicIPv4Address"] == eip["EipAddress"]
    nlb.done(nlb.call("UpdateLoadBalancerAddressTypeConfig", LoadBalancerId=lb, AddressType="Intranet"))
    got = nlb.get(lb)
    assert got["AddressType"] == "Intranet"
    assert all("PublicIPv4Address" not in z["LoadBalancerAddresses"][0] for z in got["ZoneMappings"])
    nlb.sim.client.vpc("ReleaseEipAddress", AllocationId=eip["AllocationId"])


def test_ipv6(nlb):
    lb = nlb.lb()
    for action in ("EnableLoadBalancerIpv6Internet", "DisableLoadBalancerIpv6Internet"):
        refused("OperationDenied.NonDualStackInstance", 400, nlb.call, action, LoadBalancerId=lb)
    lb = nlb.lb(AddressIpVersion="dualstack")
    assert nlb.get(lb)["Ipv6AddressType"] == "Intranet"
    assert nlb.get(lb)["ZoneMappings"][0]["LoadBalancerAddresses"][0]["Ipv6Address"]
    refused("OperationDenied.Ipv6IntranetInstance", 400, nlb.call, "DisableLoadBalancerIpv6Internet", LoadBalancerId=lb)
    assert "JobId" not in nlb.call("EnableLoadBalancerIpv6Internet", LoadBalancerId=lb)
    assert nlb.get(lb)["Ipv6AddressType"] == "Internet"
    nlb.call("DisableLoadBalancerIpv6Internet", LoadBalancerId=lb)
    assert nlb.get(lb)["Ipv6AddressType"] == "Intranet"


def test_security_groups(nlb):
    lb = nlb.lb()
    groups = [nlb.security_group() for _ in range(5)]
    refused("ResourceNotFound.SecurityGroup", 404, nlb.call, "LoadBalancerJoinSecurityGroup", LoadBalancerId=lb,
            SecurityGroupIds=["sg-absent"])
    refused("Mismatch.vpc", 400, nlb.call, "LoadBalancerJoinSecurityGroup", LoadBalancerId=lb,
            SecurityGroupIds=[nlb.security_group("vpc-2")])
    refused("QuotaExceeded.QuotaInsufficient", 400, nlb.call, "LoadBalancerJoinSecurityGroup", LoadBalancerId=lb,
            SecurityGroupIds=groups)
    nlb.done(nlb.call("LoadBalancerJoinSecurityGroup", LoadBalancerId=lb, SecurityGroupIds=groups[:2]))
    assert sorted(nlb.get(lb)["SecurityGroupIds"]) == sorted(groups[:2])
    refused("Conflict.SecurityGroup", 400, nlb.call, "LoadBalancerJoinSecurityGroup", LoadBalancerId=lb,
            SecurityGroupIds=groups[:1])
    refused("ResourceNotFound.SecurityGroup", 404, nlb.call, "LoadBalancerLeaveSecurityGroup", LoadBalancerId=lb,
            SecurityGroupIds=groups[2:3])
    nlb.done(nlb.call("LoadBalancerLeaveSecurityGroup", LoadBalancerId=lb, SecurityGroupIds=groups[:1]))
    assert nlb.get(lb)["SecurityGroupIds"] == groups[1:2]


def test_bandwidth_package(nlb):
    attach, detach = "AttachCommonBandwidthPackageToLoadBalancer", "DetachCommonBandwidthPackageFromLoadBalancer"
    refused("OperationDenied.IntranetLoadBalancer", 400, nlb.call, attach, LoadBalancerId=nlb.lb(),
            BandwidthPackageId="cbwp-1")
    lb = nlb.lb(AddressType="Internet", BandwidthPackageId="cbwp-1")
    assert nlb.get(lb)["BandwidthPackageId"] == "cbwp-1"
    refused("ResourceAlreadyAssociated.loadbalancer", 400, nlb.call, attach, LoadBalancerId=lb,
            BandwidthPackageId="cbwp-2")
    refused("ResourceNotAssociated.loadbalancer", 400, nlb.call, detach, LoadBalancerId=lb,
            BandwidthPackageId="cbwp-2")
    nlb.done(nlb.call(detach, LoadBalancerId=lb, BandwidthPackageId="cbwp-1"))
    assert nlb.get(lb)["BandwidthPackageId"] == ""
    refused("ResourceNotFound.BandwidthPackageId", 404, nlb.call, attach, LoadBalancerId=lb,
            BandwidthPackageId="absent")
    nlb.done(nlb.call(attach, LoadBalancerId=lb, BandwidthPackageId="cbwp-2"))
    assert nlb.get(lb)["BandwidthPackageId"] == "cbwp-2"


def test_regions_and_zones(nlb):
    zones = nlb.call("DescribeZones")["Zones"]
    assert {"zone-a", "zone-b"} <= {z["ZoneId"] for z in zones}
    regions = nlb.call("DescribeRegions", AcceptLanguage="en-US")["Regions"]
    assert regions[0]["RegionId"] == "cn-hangzhou" and regions[0]["RegionEndpoint"] == "nlb.cn-hangzhou.aliyuncs.com"


# ---- server groups


def test_group(nlb):
    group = nlb.group(ServerGroupName="k8s.80.TCP.web.default.c1", Scheduler="wrr", ConnectionDrainEnabled=True,
                      ConnectionDrainTimeout=30, Tag=[{"Key": "g", "Value": "1"}],
                      HealthCheckConfig={"HealthCheckEnabled": True, "HealthCheckType": "http", "HealthCheckUrl": "/x",
                                         "HealthCheckHttpCode": ["http_2xx", "http_3xx"], "HealthCheckInterval": 7,
                                         "HealthCheckDomain": "$SERVER_IP", "HttpCheckMethod": "head"})
    got = nlb.group_of(group)
    assert (got["Scheduler"], got["ServerGroupType"], got["Protocol"]) == ("Wrr", "Instance", "TCP")
    assert (got["ConnectionDrainEnabled"], got["ConnectionDrainTimeout"]) == (True, 30)
    assert got["PreserveClientIpEnabled"] is True and got["ServerGroupStatus"] == "Available"
    assert got["Tags"] == [{"Key": "g", "Value": "1"}] and got["RelatedLoadBalancerIds"] == []
    health = got["HealthCheck"]
    assert (health["HealthCheckType"], health["HealthCheckInterval"], health["HttpCheckMethod"]) == ("HTTP", 7, "HEAD")
    assert health["HealthCheckHttpCode"] == ["http_2xx", "http_3xx"] and health["HealthyThreshold"] == 2
    answer = nlb.done(nlb.call("UpdateServerGroupAttribute", ServerGroupId=group, ServerGroupName="other",
                               Scheduler="rr", HealthCheckConfig={"HealthCheckEnabled": False}))
    assert answer["ServerGroupId"] == group
    got = nlb.group_of(group)
    assert (got["ServerGroupName"], got["Scheduler"]) == ("other", "rr")
    assert got["HealthCheck"]["HealthCheckEnabled"] is False and got["HealthCheck"]["HealthCheckInterval"] == 7
    nlb.done(nlb.call("DeleteServerGroup", ServerGroupId=group))
    assert nlb.group_of(group) is None
    refused("ResourceNotFound.serverGroup", 404, nlb.call, "DeleteServerGroup", ServerGroupId=group)


@pytest.mark.parametrize("code, status, params", [
    ("MissingParam.ServerGroupName", 400, {"ServerGroupName": None}),
    ("MissingParam.VpcId", 400, {"VpcId": None}),
    ("ResourceNotFound.Vpc", 404, {"VpcId": "absent"}),
    ("IllegalParam.ServerGroupName", 400, {"ServerGroupName": "a"}),
    ("IllegalParam", 400, {"Protocol": "SCTP"}),
    ("IllegalParam", 400, {"Scheduler": "random"}),
    ("IllegalParam.ConnectionDrainTimeout", 400, {"ConnectionDrainTimeout": 901}),
    ("OperationDenied.VpcNotSupportIpv6", 400, {"AddressIPVersion": "DualStack", "VpcId": "vpc-2"}),
    ("IllegalParam.AnyPortServerGroupConflictWithHealthCheckConfig", 400, {"AnyPortEnabled": True}),
    ("IllegalParam", 400, {"HealthCheckConfig": {"HealthCheckInterval": 51}}),
    ("IllegalParam", 400, {"HealthCheckConfig": {"HealthyThreshold": 1}}),
    ("IlleagalParam.healthCheckUrl", 400, {"HealthCheckConfig": {"HealthCheckUrl": "x"}}),
    ("IllegalParam.healthCheckDomain", 400, {"HealthCheckConfig": {"HealthCheckDomain": "a b"}}),
    ("IllegalParam", 400, {"HealthCheckConfig": {"HealthCheckHttpCode": ["http_200"]}}),
    ("IllegalParam.PreserveClientIpSwitch", 400, {"Protocol": "TCPSSL", "PreserveClientIpEnabled": True}),
    ("DryRunOperation", 400, {"DryRun": True}),
])
def test_group_refusals(nlb, code, status, params):
    refused(code, status, nlb.group, **params)


def test_health_check_of_udp(nlb):
    health = {"HealthCheckType": "UDP", "HealthCheckInterval": 200, "HealthCheckConnectTimeout": 100}
    group = nlb.group(Protocol="UDP", HealthCheckConfig=health)
    assert nlb.group_of(group)["HealthCheck"]["HealthCheckInterval"] == 200
    refused("IllegalParam", 400, nlb.call, "UpdateServerGroupAttribute", ServerGroupId=group,
            HealthCheckConfig={"HealthCheckInterval": 99})  # below the timeout
    # No page ties the kind of check to the protocol of the group.
    assert nlb.group_of(nlb.group(Protocol="TCPSSL", HealthCheckConfig=health))["HealthCheck"]["HealthCheckType"] == "UDP"


def test_no_way_to_a_hash(nlb):
    group = nlb.group(Scheduler="sch")
    nlb.done(nlb.call("UpdateServerGroupAttribute", ServerGroupId=group, Scheduler="sch", ServerGroupName="kept"))
    nlb.done(nlb.call("UpdateServerGroupAttribute", ServerGroupId=group, Scheduler="rr"))
    refused("IllegalParam", 400, nlb.call, "UpdateServerGroupAttribute", ServerGroupId=group, Scheduler="sch")


# ---- servers


def test_servers(nlb):
    group = nlb.group()
    answer = nlb.done(nlb.call("AddServersToServerGroup", ServerGroupId=group, Servers=[
        server("i-1", Weight=50, Description="k8s.80.TCP.web.default.c1"), server("i-2"),
        server("eni-1", 80, "Eni", ServerIp="10.1.1.2")]))
    assert answer["ServerGroupId"] == group
    assert nlb.servers(group) == [("i-1", 8080, 50, "Available"), ("i-2", 8080, 100, "Available"),
                                  ("eni-1", 80, 100, "Available")]
    assert nlb.group_of(group)["ServerCount"] == 3
    nlb.done(nlb.call("UpdateServerGroupServersAttribute", ServerGroupId=group,
                      Servers=[server("i-1", Weight=0), server("i-2", Description="other")]))
    assert [s[2] for s in nlb.servers(group)] == [0, 100, 100]
    listed = nlb.call("ListServerGroupServers", ServerGroupId=group, ServerIds=["i-1", "i-2"])["Servers"]
    assert [s["Description"] for s in listed] == ["k8s.80.TCP.web.default.c1", "other"]
    assert [s["ServerIp"] for s in listed] == ["10.1.0.1", "10.1.0.2"]
    assert all(s["ServerGroupId"] == group and s["ZoneId"] == "zone-a" for s in listed)
    by_ip = nlb.call("ListServerGroupServers", ServerIps=["10.1.1.2"], ServerGroupId=group)["Servers"]
    assert [s["ServerId"] for s in by_ip] == ["eni-1"]
    nlb.done(nlb.call("RemoveServersFromServerGroup", ServerGroupId=group,
                      Servers=[server("i-1"), server("eni-1", 80, "Eni", ServerIp="10.1.1.2")]))
    assert [s[0] for s in nlb.servers(group)] == ["i-2"]


@pytest.mark.parametrize("code, status, servers", [
    ("MissingParam.ServerId", 400, [{"ServerType": "Ecs", "Port": 1}]),
    ("MissingParam.ServerType", 400, [server("i-2", 1), {"ServerId": "i-1", "Port": 1}]),
    ("MissingParam.Servers", 400, []),
    ("IllegalParam", 400, [server(kind="Vm")]),
    ("IllegalParam", 400, [server(port=65536)]),
    ("IllegalParam", 400, [server(Weight=101)]),
    ("IllegalParam.description", 400, [server(Description="no blanks")]),
    ("IllegalParamSize.Servers", 400, [server("i-1", port) for port in range(1, 202)]),
    ("IllegalParam.RSPortConflictWithServerGroup", 400, [server(port=0)]),
    ("IllegalParam.IP", 400, [server("eni-1", kind="Eni", ServerIp="10.1.1.200")]),
    ("IllegalParam.IP", 400, [server(ServerIp="10.1.0.2")]),
    ("Mismatch.ServerType", 400, [server("10.1.0.1", kind="Ip", ServerIp="10.1.0.1")]),
    ("Mismatch.VpcId", 400, [server("i-other")]),
    ("ResourceNotFound.Ecs", 404, [server("i-absent")]),
    ("ResourceNotFound.Eni", 404, [server("eni-absent", kind="Eni")]),
    ("ResourceNotFound.Eci", 404, [server("eci-1", kind="Eci")]),
    ("IncorrectStatus.Eni", 400, [server("eni-free", kind="Eni")]),
    ("DuplicatedParam.Server", 400, [server(), server()]),
    ("DuplicatedParam.Server", 400, [server("i-5", 5)]),
    ("OperationDenied.ServerGroupNotSupportIpv6", 400, [server("eni-1", kind="Eni", ServerIp="2408:4005:1:1::7")]),
])
def test_add_refusals(nlb, code, status, servers):
    group = nlb.group()
    nlb.done(nlb.call("AddServersToServerGroup", ServerGroupId=group, Servers=[server("i-5", 5)]))
    refused(code, status, nlb.call, "AddServersToServerGroup", ServerGroupId=group, Servers=servers)
    assert nlb.servers(group) == [("i-5", 5, 100, "Available")]


def test_identity_of_servers(nlb):
    group = nlb.group()
    nlb.done(nlb.call("AddServersToServerGroup", ServerGroupId=group, Servers=[server(port=1), server(port=2)]))
    for action in ("RemoveServersFromServerGroup", "UpdateServerGroupServersAttribute"):
        refused("ResourceNotFound.BackendServer", 404, nlb.call, action, ServerGroupId=group, Servers=[server(port=3)])
    refused("MissingParam.Port", 400, nlb.call, "UpdateServerGroupServersAttribute", ServerGroupId=group,
            Servers=[{"ServerId": "i-1", "ServerType": "Ecs", "Weight": 1}])
    nlb.done(nlb.call("RemoveServersFromServerGroup", ServerGroupId=group, Servers=[server(port=1)]))
    assert [s[1] for s in nlb.servers(group)] == [2]


def test_group_of_addresses(nlb):
    group = nlb.group(ServerGroupType="ip", AddressIPVersion="dualstack")
    refused("MissingParam.IP", 400, nlb.call, "AddServersToServerGroup", ServerGroupId=group,
            Servers=[server("10.9.0.1", kind="Ip")])
    refused("IllegalParam.IP", 400, nlb.call, "AddServersToServerGroup", ServerGroupId=group,
            Servers=[server("10.9.0.1", kind="Ip", ServerIp="10.9.0")])
    refused("Mismatch.ServerType", 400, nlb.call, "AddServersToServerGroup", ServerGroupId=group, Servers=[server()])
    nlb.done(nlb.call("AddServersToServerGroup", ServerGroupId=group, Servers=[
        server(ip, kind="Ip", ServerIp=ip) for ip in ("10.9.0.1", "2408::1")]))
    assert [s[0] for s in nlb.servers(group)] == ["10.9.0.1", "2408::1"]


def test_any_port(nlb):
    group = nlb.group(AnyPortEnabled=True, HealthCheckConfig={"HealthCheckConnectPort": 8080})
    refused("IllegalParam.RSPortConflictWithServerGroup", 400, nlb.call, "AddServersToServerGroup",
            ServerGroupId=group, Servers=[server(port=80)])
    nlb.done(nlb.call("AddServersToServerGroup", ServerGroupId=group, Servers=[server(port=0)]))
    nlb.done(nlb.call("UpdateServerGroupServersAttribute", ServerGroupId=group, Servers=[server(port=0, Weight=7)]))
    assert nlb.servers(group) == [("i-1", 0, 7, "Available")]
    lb = nlb.lb()
    refused("IllegalParam.NonAnyPortListenerConflictWithAnyPortServerGroup", 400, nlb.listener, lb, group, 80)
    refused("IllegalParam.AnyPortListenerConflictWithNonAnyPortServerGroup", 400, nlb.listener, lb, nlb.group(), 0,
            StartPort=100, EndPort=200)
    refused("MissingParam.StartPort", 400, nlb.listener, lb, group, 0)
    refused("MissingParam.EndPort", 400, nlb.listener, lb, group, 0, StartPort=1)
    refused("IllegalParam.Port", 400, nlb.listener, lb, group, 0, StartPort=200, EndPort=200)
    listener = nlb.listener(lb, group, 0, StartPort=100, EndPort=200)
    got = nlb.listener_of(listener)
    assert (got["ListenerPort"], got["StartPort"], got["EndPort"]) == (0, "100", "200")
    refused("DuplicatedParam.listener", 400, nlb.listener, lb, group, 0, StartPort=200, EndPort=300)
    refused("DuplicatedParam.listener", 400, nlb.listener, lb, nlb.group(), 150)


def test_quota_of_servers(nlb):
    group = nlb.group()
    nlb.sim.control("POST", "instances", {"instances": [{"id": f"i-q{n}", "ip": f"10.1.9.{n}"} for n in (1, 2)]})
    for name in ("i-q1", "i-q2"):
        nlb.done(nlb.call("AddServersToServerGroup", ServerGroupId=group,
                          Servers=[server(name, port) for port in range(1, 201)]))
    error = refused("QuotaExceeded.QuotaInsufficient", 400, nlb.call, "AddServersToServerGroup", ServerGroupId=group,
                    Servers=[server("i-2", 1)])
    assert "400/400" in error.message
    lb, small = nlb.lb(), nlb.group()
    nlb.listener(lb, group, 80)
    nlb.listener(lb, small, 81)  # empty, and so within the quota of the load balancer
    refused("QuotaExceeded.QuotaInsufficient", 400, nlb.call, "AddServersToServerGroup", ServerGroupId=small,
            Servers=[server("i-2", 1)])


def test_quota_of_one_server(nlb):
    nlb.sim.control("POST", "instances", {"instances": [{"id": "i-u", "ip": "10.1.9.9"}]})
    groups = [nlb.group(), nlb.group()]

    def add(group, *ports):
        return nlb.call("AddServersToServerGroup", ServerGroupId=group, Servers=[server("i-u", p) for p in ports])

    nlb.done(add(groups[0], *range(1, 200)))
    error = refused("QuotaExceeded.QuotaInsufficient", 400, add, groups[1], 1, 2)
    assert "199/200" in error.message
    nlb.done(add(groups[1], 1))
    refused("QuotaExceeded.QuotaInsufficient", 400, add, groups[1], 2)
    nlb.done(nlb.call("RemoveServersFromServerGroup", ServerGroupId=groups[0], Servers=[server("i-u", 7)]))
    nlb.done(add(groups[1], 2))
    nlb.done(nlb.call("DeleteServerGroup", ServerGroupId=groups[0]))
    nlb.done(add(groups[1], *range(3, 201)))


# ---- listeners


def test_listener(nlb):
    lb, group, other = nlb.lb(), nlb.group(), nlb.group()
    listener = nlb.listener(lb, group, 443, ListenerDescription="k8s.443.TCP.web.default.c1", Cps=10,
                            ProxyProtocolEnabled=True, ProxyProtocolV2Config=json.dumps({"Ppv2VpcIdEnabled": True}),
                            Tag=[{"Key": "l", "Value": "1"}])
    got = nlb.listener_of(listener)
    assert got["ListenerStatus"] == "Running" and got["ListenerPort"] == 443 and got["IdleTimeout"] == 900
    assert got["ProxyProtocolV2Config"] == {"Ppv2PrivateLinkEpIdEnabled": False, "Ppv2PrivateLinkEpsIdEnabled": False,
                                            "Ppv2VpcIdEnabled": True}
    assert (got["StartPort"], got["EndPort"], got["Cps"]) == ("0", "0", 10)
    assert got["Tags"] == [{"TagKey": "l", "TagValue": "1"}]
    assert nlb.group_of(group)["RelatedLoadBalancerIds"] == [lb]
    nlb.done(nlb.call("UpdateListenerAttribute", ListenerId=listener, ServerGroupId=other, IdleTimeout=20,
                      ListenerDescription="renamed"))
    got = nlb.listener_of(listener)
    assert (got["ServerGroupId"], got["IdleTimeout"], got["ListenerDescription"]) == (other, 20, "renamed")
    assert got["Cps"] == 10 and nlb.group_of(group)["RelatedLoadBalancerIds"] == []
    refused("ResourceInUse.ServerGroup", 400, nlb.call, "DeleteServerGroup", ServerGroupId=other)
    nlb.done(nlb.call("StopListener", ListenerId=listener))
    assert nlb.listener_of(listener)["ListenerStatus"] == "Stopped"
    refused("IncorrectStatus.listener", 400, nlb.call, "StopListener", ListenerId=listener)
    nlb.done(nlb.call("StartListener", ListenerId=listener))
    refused("IncorrectStatus.listener", 400, nlb.call, "StartListener", ListenerId=listener)
    listed = nlb.call("ListListeners", LoadBalancerIds=[lb])["Listeners"]
    assert [x["ListenerId"] for x in listed] == [listener] and listed[0]["Tags"] == [{"Key": "l", "Value": "1"}]
    nlb.done(nlb.call("DeleteListener", ListenerId=listener))
    refused("ResourceNotFound.listener", 404, nlb.listener_of, listener)
    nlb.done(nlb.call("DeleteServerGroup", ServerGroupId=other))


def test_listeners_go_with_their_load_balancer(nlb):
    lb, group = nlb.lb(), nlb.group()
    listener = nlb.listener(lb, group)
    nlb.done(nlb.call("DeleteLoadBalancer", LoadBalancerId=lb))
    refused("ResourceNotFound.listener", 404, nlb.listener_of, listener)
    nlb.done(nlb.call("DeleteServerGroup", ServerGroupId=group))


def test_ports(nlb):
    lb, tcp, udp, tls = nlb.lb(), nlb.group(), nlb.group(Protocol="UDP"), nlb.group(Protocol="TCPSSL")
    nlb.listener(lb, tcp, 80)
    nlb.listener(lb, udp, 80, "UDP")
    refused("Conflict.Port", 400, nlb.listener, lb, tcp, 80)
    refused("Conflict.Port", 400, nlb.listener, lb, tls, 80, "TCPSSL", CertificateIds=["1-cn-hangzhou"])
    refused("Mismatch.Protocol", 400, nlb.listener, lb, udp, 81)
    both = nlb.group(Protocol="TCP_UDP")
    nlb.listener(lb, both, 90)
    nlb.listener(lb, both, 90, "UDP")


@pytest.mark.parametrize("code, status, params", [
    ("MissingParam.ListenerProtocol", 400, {"ListenerProtocol": None}),
    ("MissingParam.ListenerPort", 400, {"ListenerPort": None}),
    ("MissingParam.LoadBalancerId", 400, {"LoadBalancerId": None}),
    ("MissingParam.ServerGroupId", 400, {"ServerGroupId": None}),
    ("IllegalParam.Port", 400, {"ListenerPort": 65536}),
    ("IllegalParam.Port", 400, {"StartPort": 1, "EndPort": 2}),
    ("IllegalParam", 400, {"ListenerProtocol": "HTTP"}),
    ("IllegalParam.ListenerDescription", 400, {"ListenerDescription": "no blanks"}),
    ("IllegalParam.IdleTimeout", 400, {"IdleTimeout": 9}),
    ("IllegalParam.IdleTimeout", 400, {"IdleTimeout": 901}),
    ("IllegalParam", 400, {"Cps": 1000001}),
    ("IllegalParam", 400, {"Mss": 1501}),
    ("IllegalParam", 400, {"ProxyProtocolV2Config": "{"}),
    ("ResourceNotFound.loadBalancer", 404, {"LoadBalancerId": "nlb-absent"}),
    ("ResourceNotFound.serverGroup", 404, {"ServerGroupId": "sgp-absent"}),
    ("DryRunOperation", 400, {"DryRun": True}),
])
def test_listener_refusals(nlb, code, status, params):
    good = {"LoadBalancerId": nlb.lb(), "ServerGroupId": nlb.group(), "ListenerPort": 80, "ListenerProtocol": "TCP"}
    refused(code, status, nlb.call, "CreateListener", **{**good, **params})
    assert nlb.call("ListListeners", LoadBalancerIds=[good["LoadBalancerId"]])["TotalCount"] == 0


def test_idle_timeout_of_udp(nlb):
    lb, group = nlb.lb(), nlb.group(Protocol="UDP")
    refused("IllegalParam.IdleTimeout", 400, nlb.listener, lb, group, 53, "UDP", IdleTimeout=91)
    listener = nlb.listener(lb, group, 53, "UDP", IdleTimeout=90)
    nlb.done(nlb.call("UpdateListenerAttribute", ListenerId=listener, IdleTimeout=90))  # as it is
    refused("IllegalParam.IdleTimeout", 400, nlb.call, "UpdateListenerAttribute", ListenerId=listener, IdleTimeout=21)
    nlb.done(nlb.call("UpdateListenerAttribute", ListenerId=listener, IdleTimeout=20))


def test_other_vpc(nlb):
    refused("Mismatch.VpcId", 400, nlb.listener, nlb.lb(), nlb.group(VpcId="vpc-2"))


def test_quota_of_listeners(nlb):
    lb, group = nlb.lb(), nlb.group()
    for port in range(1, 51):
        nlb.listener(lb, group, port)
    refused("QuotaExceeded.QuotaInsufficient", 400, nlb.listener, lb, nlb.group(), 51)
    refused("QuotaExceeded.QuotaInsufficient", 400, nlb.listener, nlb.lb(), group, 51)


# ---- TLS


@pytest.mark.parametrize("code, status, params", [
    ("MissingParam.Certificate", 400, {"CertificateIds": None}),
    ("IllegalParamSize.certificateIds", 400, {"CertificateIds": ["1-cn-hangzhou", "2-cn-hangzhou"]}),
    ("IllegalParamSize.certificateIds", 400, {"CertificateIds": [f"{n}-cn-hangzhou" for n in range(1, 12)]}),
    ("ResourceNotFound.Certificate", 400, {"CertificateIds": ["99-cn-hangzhou"]}),
    ("ResourceNotEnough.CaCertificateApiCount", 400, {"CaEnabled": True}),
    ("ResourceNotFound.CaCertificate", 404, {"CaEnabled": True, "CaCertificateIds": ["99"]}),
    ("ResourceNotFound.securitypolicy", 404, {"SecurityPolicyId": "tls_cipher_policy_9"}),
    ("MissingParam.AlpnPolicy", 400, {"AlpnEnabled": True}),
    ("IllegalParam", 400, {"AlpnEnabled": True, "AlpnPolicy": "HTTP3"}),
])
def test_tls_refusals(nlb, code, status, params):
    params = {"CertificateIds": ["1-cn-hangzhou"], **params}
    refused(code, status, nlb.listener, nlb.lb(), nlb.group(Protocol="TCPSSL"), 443, "TCPSSL", **params)


def test_tls(nlb):
    group = nlb.group(PreserveClientIpEnabled=False)
    refused("IllegalParam.PreserveClientIpSwitch", 400, nlb.listener, nlb.lb(), nlb.group(), 443, "TCPSSL",
            CertificateIds=["1-cn-hangzhou"])
    listener = nlb.listener(nlb.lb(), group, 443, "TCPSSL", CertificateIds=["1-cn-hangzhou"], AlpnEnabled=True,
                            AlpnPolicy="http2only", CaEnabled=True, CaCertificateIds=["2-cn-hangzhou"])
    got = nlb.listener_of(listener)
    assert got["CertificateIds"] == ["1-cn-hangzhou"] and got["SecurityPolicyId"] == "tls_cipher_policy_1_0"
    assert (got["AlpnPolicy"], got["CaEnabled"], got["CaCertificateIds"]) == ("HTTP2Only", True, ["2-cn-hangzhou"])
    refused("IllegalParam.PreserveClientIpSwitch", 400, nlb.call, "UpdateServerGroupAttribute", ServerGroupId=group,
            PreserveClientIpEnabled=True)
    nlb.done(nlb.call("UpdateListenerAttribute", ListenerId=listener, CertificateIds=["3-cn-hangzhou"],
                      SecurityPolicyId="tls_cipher_policy_1_2"))
    got = nlb.listener_of(listener)
    assert (got["CertificateIds"], got["SecurityPolicyId"]) == (["3-cn-hangzhou"], "tls_cipher_policy_1_2")


def test_other_protocols_have_no_certificates(nlb):
    listener = nlb.listener(nlb.lb(), nlb.group(), 80, CertificateIds=["99"], CaEnabled=True)
    assert nlb.listener_of(listener)["CertificateIds"] == []
    refused("OperationDenied.Protocol", 400, nlb.call, "ListListenerCertificates", ListenerId=listener)
    refused("OperationDenied.Protocol", 400, nlb.call, "AssociateAdditionalCertificatesWithListener",
            ListenerId=listener, AdditionalCertificateIds=["1-cn-hangzhou"])


def test_additional_certificates(nlb):
    listener = nlb.listener(nlb.lb(), nlb.group(Protocol="TCPSSL"), 443, "TCPSSL", CertificateIds=["1-cn-hangzhou"])
    ids = [f"{n}-cn-hangzhou" for n in range(2, 29)]

    def associate(*ids):
        return nlb.call("AssociateAdditionalCertificatesWithListener", ListenerId=listener,
                        AdditionalCertificateIds=list(ids))

    def disassociate(*ids):
        return nlb.call("DisassociateAdditionalCertificatesWithListener", ListenerId=listener,
                        AdditionalCertificateIds=list(ids))

    refused("IllegalParamSize.AdditionalCertificateIds", 400, associate, *ids[:16])
    refused("ResourceNotFound.Certificate", 400, associate, "99")
    refused("ResourceAlreadyAssociated.Certificate", 400, associate, "1-cn-hangzhou")
    nlb.done(associate(*ids[:15]))
    refused("ResourceAlreadyAssociated.Certificate", 400, associate, ids[0])
    nlb.done(associate(*ids[15:25]))
    refused("QuotaExceeded.QuotaInsufficient", 400, associate, ids[25])
    seen, token = [], None
    while True:
        page = nlb.call("ListListenerCertificates", ListenerId=listener, MaxResults=10, NextToken=token)
        assert page["TotalCount"] == 26 and page["CertificateIds"] == [c["CertificateId"] for c in page["Certificates"]]
        seen += page["Certificates"]
        token = page.get("NextToken")
        if not token:
            break
    assert [c["CertificateId"] for c in seen if c["IsDefault"]] == ["1-cn-hangzhou"]
    assert {c["CertificateId"] for c in seen if not c["IsDefault"]} == set(ids[:25])
    assert {c["Status"] for c in seen} == {"Associated"}
    refused("OperationDenied.DefaultCertificateUsed", 400, disassociate, "1-cn-hangzhou")
    refused("ResourceNotAssociated.Certificate", 400, disassociate, ids[25])
    nlb.done(disassociate(*ids[:15]))
    assert nlb.call("ListListenerCertificates", ListenerId=listener, CertType="Server")["TotalCount"] == 11
    assert nlb.call("ListListenerCertificates", ListenerId=listener, CertType="Ca")["TotalCount"] == 0


# ---- tags, lists, pages


def test_tags(nlb):
    lb = nlb.lb(Tag=[{"Key": "a", "Value": "1"}])
    for kind, absent in [("loadbalancer", "loadBalancer"), ("servergroup", "serverGroup"), ("listener", "listener")]:
        refused(f"ResourceNotFound.{absent}", 404, nlb.call, "TagResources", ResourceType=kind, ResourceId=["absent"],
                Tag=[{"Key": "k", "Value": "v"}])
    refused("IllegalParam", 400, nlb.call, "TagResources", ResourceType="vpc", ResourceId=[lb],
            Tag=[{"Key": "k", "Value": "v"}])
    refused("MissingParam.Tag", 400, nlb.call, "TagResources", ResourceType="loadbalancer", ResourceId=[lb])
    refused("MissingParam.Key", 400, nlb.call, "TagResources", ResourceType="loadbalancer", ResourceId=[lb],
            Tag=[{"Key": "x"}, {"Value": "v"}])
    refused("MissingParam.ResourceId", 400, nlb.call, "TagResources", ResourceType="loadbalancer",
            Tag=[{"Key": "x"}])
    refused("IllegalParamSize.ResourceId", 400, nlb.call, "TagResources", ResourceType="loadbalancer",
            ResourceId=[lb] * 51, Tag=[{"Key": "x"}])
    nlb.call("TagResources", ResourceType="loadbalancer", ResourceId=[lb], Tag=[{"Key": "b", "Value": "2"}])
    tags = nlb.call("ListTagResources", ResourceType="loadbalancer", ResourceId=[lb])["TagResources"]
    assert [(t["ResourceId"], t["TagKey"], t["TagValue"]) for t in tags] == [(lb, "a", "1"), (lb, "b", "2")]
    refused("QuotaExceeded.QuotaInsufficient", 400, nlb.call, "TagResources", ResourceType="loadbalancer",
            ResourceId=[lb], Tag=[{"Key": f"k{i}", "Value": ""} for i in range(19)])
    refused("MissingParam.TagKey", 400, nlb.call, "UntagResources", ResourceType="loadbalancer", ResourceId=[lb])
    nlb.call("UntagResources", ResourceType="loadbalancer", ResourceId=[lb], TagKey=["a"])
    assert nlb.get(lb)["Tags"] == [{"TagKey": "b", "TagValue": "2"}]
    nlb.call("UntagResources", ResourceType="loadbalancer", ResourceId=[lb], All=True)
    assert nlb.get(lb)["Tags"] == []
    refused("MissingParam.ResourceId", 400, nlb.call, "ListTagResources", ResourceType="loadbalancer")
    refused("IllegalParam.resourceType", 400, nlb.call, "ListTagResources", ResourceType="instance")


def test_tag_filters(nlb):
    one = nlb.lb(Tag=[{"Key": "tf", "Value": "1"}, {"Key": "both", "Value": "x"}])
    two = nlb.lb(Tag=[{"Key": "tf", "Value": "2"}, {"Key": "both", "Value": "x"}])

    def lbs(*tags):
        tags = [dict(zip(("Key", "Value"), tag)) for tag in tags]
        return [x["LoadBalancerId"] for x in nlb.call("ListLoadBalancers", Tag=tags)["LoadBalancers"]]

    assert lbs(("tf", "1")) == [one] and lbs(("both", "x")) == [one, two] and lbs(("tf", "")) == [one, two]
    assert lbs(("tf", "1"), ("tf2", "")) == [] and lbs(("tf", "1"), ("both", "x")) == [one]  # all of them
    found = nlb.call("ListTagResources", ResourceType="loadbalancer",
                     Tag=[{"Key": "tf", "Value": "1"}, {"Key": "both", "Value": "x"}])["TagResources"]
    assert [(t["ResourceId"], t["TagKey"]) for t in found] == [(one, "both"), (one, "tf")]  # all of them


def test_pages(nlb):
    ids = [nlb.lb(LoadBalancerName=f"page-{n}") for n in range(5)]
    seen, token, totals = [], None, set()
    while True:
        page = nlb.call("ListLoadBalancers", LoadBalancerIds=ids, MaxResults=2, NextToken=token)
        totals.add(page["TotalCount"])
        seen += [x["LoadBalancerId"] for x in page["LoadBalancers"]]
        if not page.get("NextToken"):
            break
        token = page["NextToken"]
    assert seen == ids and totals == {5}
    refused("IllegalParam", 400, nlb.call, "ListLoadBalancers", MaxResults=0)
    refused("IllegalParam", 400, nlb.call, "ListLoadBalancers", MaxResults=101)
    refused("IllegalParam.NextToken", 400, nlb.call, "ListLoadBalancers", NextToken="5")
    refused("IllegalParam.NextToken", 400, nlb.call, "ListLoadBalancers", NextToken=token)  # of other filters
    refused("IllegalParam.NextToken", 400, nlb.call, "ListServerGroups", NextToken=token)  # of another list
    nlb.edit(op="expire-pages")
    refused("IllegalParam.NextToken", 400, nlb.call, "ListLoadBalancers", LoadBalancerIds=ids, NextToken=token)


def test_pages_survive_changes(nlb):
    ids = [nlb.lb() for _ in range(4)]
    first = nlb.call("ListLoadBalancers", LoadBalancerIds=ids, MaxResults=2)
    nlb.done(nlb.call("DeleteLoadBalancer", LoadBalancerId=ids[0]))
    nlb.done(nlb.call("DeleteLoadBalancer", LoadBalancerId=ids[1]))
    rest = nlb.call("ListLoadBalancers", LoadBalancerIds=ids, MaxResults=2, NextToken=first["NextToken"])
    assert [x["LoadBalancerId"] for x in rest["LoadBalancers"]] == ids[2:]


def test_region_wide_lists(nlb):
    lb = nlb.lb()
    groups = [nlb.group() for _ in range(2)]
    for group in groups:
        nlb.done(nlb.call("AddServersToServerGroup", ServerGroupId=group, Servers=[server("i-4", 1), server("i-4", 2)]))
    listeners = [nlb.listener(lb, group, 80 + n) for n, group in enumerate(groups)]
    # interleaved, so that the order is that of the groups
    nlb.done(nlb.call("AddServersToServerGroup", ServerGroupId=groups[0], Servers=[server("i-4", 3)]))
    seen, token = [], None
    while True:
        page = nlb.call("ListServerGroupServers", ServerIds=["i-4"], MaxResults=2, NextToken=token)
        seen += [(s["ServerGroupId"], s["Port"]) for s in page["Servers"]]
        token = page.get("NextToken")
        if not token:
            break
    assert seen == [(groups[0], 1), (groups[0], 2), (groups[0], 3), (groups[1], 1), (groups[1], 2)]
    everything, token = [], None
    while True:
        page = nlb.call("ListListeners", MaxResults=100, NextToken=token)
        everything += [x["ListenerId"] for x in page["Listeners"]]
        token = page.get("NextToken")
        if not token:
            break
    assert set(listeners) <= set(everything) and len(everything) == len(set(everything))


def test_filters(nlb):
    lb = nlb.lb(LoadBalancerName="filter-me", AddressType="Internet")
    for params in ({"LoadBalancerNames": ["filter-me"]}, {"DNSName": nlb.get(lb)["DNSName"]},
                   {"LoadBalancerIds": [lb], "ZoneId": "zone-b", "VpcIds": ["vpc-1"], "AddressType": "internet"}):
        assert [x["LoadBalancerId"] for x in nlb.call("ListLoadBalancers", **params)["LoadBalancers"]] == [lb]
    for params in ({"ZoneId": "zone-x"}, {"VpcIds": ["vpc-2"]}, {"AddressType": "Intranet"},
                   {"LoadBalancerBusinessStatus": "Abnormal"}, {"LoadBalancerStatus": "Provisioning"}):
        assert nlb.call("ListLoadBalancers", LoadBalancerIds=[lb], **params)["LoadBalancers"] == []


# ---- ClientToken


def test_token(nlb):
    group = nlb.call("CreateServerGroup", ServerGroupName="token", VpcId="vpc-1", ClientToken="t-1")
    again = nlb.call("CreateServerGroup", ServerGroupName="token", VpcId="vpc-1", ClientToken="t-1")
    assert (again["ServerGroupId"], again["JobId"]) == (group["ServerGroupId"], group["JobId"])
    assert again["RequestId"] != group["RequestId"]
    refused("IdempotenceSignatureMismatch", 400, nlb.call, "CreateServerGroup", ServerGroupName="token2",
            VpcId="vpc-1", ClientToken="t-1")
    other = nlb.call("CreateServerGroup", ServerGroupName="token", VpcId="vpc-1", ClientToken="T-1")
    assert other["ServerGroupId"] != group["ServerGroupId"]
    assert nlb.lb(ClientToken="t-1") == nlb.lb(ClientToken="t-1")  # tokens of actions are apart
    refused("IllegalParam", 400, nlb.lb, ClientToken="x" * 65)


def test_token_after_a_refusal(nlb):
    group = nlb.group()
    refused("ResourceNotFound.Ecs", 404, nlb.call, "AddServersToServerGroup", ServerGroupId=group, ClientToken="again",
            Servers=[server("i-late")])
    nlb.sim.control("POST", "instances", {"instances": [{"id": "i-late", "ip": "10.1.0.77"}]})
    for _ in range(2):
        nlb.done(nlb.call("AddServersToServerGroup", ServerGroupId=group, ClientToken="again",
                          Servers=[server("i-late")]))
    assert len(nlb.servers(group)) == 1


def test_token_over_a_lost_answer(nlb):
    nlb.sim.fault({"action": "CreateListener"}, {"cut": "after"}, count=1)
    params = {"LoadBalancerId": nlb.lb(), "ServerGroupId": nlb.group(), "ListenerPort": 80, "ListenerProtocol": "TCP",
              "ClientToken": "lost-answer"}
    with pytest.raises(Exception):
        nlb.call("CreateListener", **params)
    nlb.done(nlb.call("CreateListener", **params))
    assert nlb.call("ListListeners", LoadBalancerIds=[params["LoadBalancerId"]])["TotalCount"] == 1


# ---- draining


def test_removed_servers_drain(tmp_path):
    nlb = Nlb(tmp_path, "--limit", "nlb-drain-percent=1")
    group = nlb.group(ConnectionDrainEnabled=True, ConnectionDrainTimeout=900)  # 9 s here
    nlb.done(nlb.call("AddServersToServerGroup", ServerGroupId=group, Servers=[server("i-1"), server("i-2", Weight=7)]))
    nlb.done(nlb.call("RemoveServersFromServerGroup", ServerGroupId=group, Servers=[server("i-1"), server("i-2")]))
    assert nlb.servers(group) == [("i-1", 8080, 100, "Removing"), ("i-2", 8080, 7, "Removing")]
    assert nlb.group_of(group)["ServerGroupStatus"] == "Available"
    for action in ("RemoveServersFromServerGroup", "UpdateServerGroupServersAttribute"):
        refused("ResourceNotFound.BackendServer", 404, nlb.call, action, ServerGroupId=group, Servers=[server("i-2")])
    nlb.done(nlb.call("AddServersToServerGroup", ServerGroupId=group, Servers=[server("i-2", Weight=9)]))  # it comes back
    assert nlb.servers(group) == [("i-1", 8080, 100, "Removing"), ("i-2", 8080, 9, "Available")]
    nlb.done(nlb.call("UpdateServerGroupAttribute", ServerGroupId=group, ConnectionDrainTimeout=10))  # 0.1 s here
    nlb.done(nlb.call("RemoveServersFromServerGroup", ServerGroupId=group, Servers=[server("i-2")]))
    wait(lambda: [name for name, *_ in nlb.servers(group)] == ["i-1"], "the server to be gone")
    nlb.sim.control("POST", "edit", {"op": "limits", "limits": {"nlb-drain-percent": 0}})
    nlb.done(nlb.call("AddServersToServerGroup", ServerGroupId=group, Servers=[server("i-2")]))
    nlb.done(nlb.call("RemoveServersFromServerGroup", ServerGroupId=group, Servers=[server("i-2")]))
    assert [name for name, *_ in nlb.servers(group)] == ["i-1"]
    nlb.sim.process.stop()


# ---- jobs and states


def test_list_of_jobs(nlb):
    lb, group = nlb.lb(), nlb.group()
    answers = [nlb.call("CreateListener", LoadBalancerId=lb, ServerGroupId=group, ListenerPort=port,
                        ListenerProtocol="TCP") for port in (1, 2)]
    ids = [a["JobId"] for a in answers]
    listed = nlb.call("ListAsynJobs", JobIds=[*ids, "job-absent"])
    assert listed["Jobs"] == [{"Id": i, "Status": "Succeeded"} for i in ids] and listed["TotalCount"] == "2"
    assert {"Id": ids[0], "Status": "Succeeded"} in nlb.call("ListAsynJobs")["Jobs"]
    refused("ResourceNotFound.JobId", 404, nlb.call, "GetJobStatus", JobId="job-absent")
    refused("MissingParam.JobId", 400, nlb.call, "GetJobStatus")
    refused("IllegalParamSize.JobIds", 400, nlb.call, "ListAsynJobs", JobIds=ids * 11)


def test_lists_by_tags_may_lag(tmp_path):
    nlb = Nlb(tmp_path, "--tag-lag-ms", 3600000)
    tag = [{"Key": "a", "Value": "1"}]
    lb, group = nlb.lb(LoadBalancerName="new", Tag=tag), nlb.group(ServerGroupName="new", Tag=tag)

    def listed(action, kind, **params):
        return [one[kind + "Id"] for one in nlb.call(action, **params)[kind + "s"]]

    assert listed("ListLoadBalancers", "LoadBalancer", Tag=tag) == listed("ListServerGroups", "ServerGroup", Tag=tag) == []
    assert nlb.call("ListTagResources", ResourceType="loadbalancer", Tag=tag)["TagResources"] == []
    assert listed("ListLoadBalancers", "LoadBalancer", LoadBalancerNames=["new"]) == [nlb.get(lb)["LoadBalancerId"]] == [lb]
    assert listed("ListServerGroups", "ServerGroup", ServerGroupNames=["new"]) == [group]
    nlb.sim.control("POST", "edit", {"op": "limits", "limits": {"tag-lag-ms": 0}})
    assert listed("ListLoadBalancers", "LoadBalancer", Tag=tag) == [lb]
    assert listed("ListServerGroups", "ServerGroup", Tag=tag) == [group]
    nlb.sim.process.stop()


def test_jobs_take_time(tmp_path):
    nlb = Nlb(tmp_path, "--job-ms", 200)
    start = time.monotonic()
    lb = nlb.lb()
    while nlb.get(lb)["LoadBalancerStatus"] == "Provisioning":
        assert time.monotonic() - start < 20
    assert nlb.get(lb)["LoadBalancerStatus"] == "Active" and time.monotonic() - start >= 0.2
    nlb.sim.process.stop()


def active_lb(slow, **params):
    slow.plan(action="CreateLoadBalancer", ms=0)
    return slow.lb(**params)


def ready_group(slow, **params):
    slow.plan(action="CreateServerGroup", ms=0)
    return slow.group(**params)


def running_listener(slow, lb, group, port=80, **params):
    slow.plan(action="CreateListener", ms=0)
    return slow.listener(lb, group, port, **params)


LB_CHANGES = [
    ("UpdateLoadBalancerAttribute", {"LoadBalancerName": "busy"}),
    ("UpdateLoadBalancerProtection", {"DeletionProtectionEnabled": True}),
    ("UpdateLoadBalancerZones", {"ZoneMappings": ZONES}),
    ("UpdateLoadBalancerAddressTypeConfig", {"AddressType": "Internet"}),
    ("EnableLoadBalancerIpv6Internet", {}),
    ("DisableLoadBalancerIpv6Internet", {}),
    ("LoadBalancerJoinSecurityGroup", {"SecurityGroupIds": ["sg"]}),
    ("LoadBalancerLeaveSecurityGroup", {"SecurityGroupIds": ["sg"]}),
    ("AttachCommonBandwidthPackageToLoadBalancer", {"BandwidthPackageId": "cbwp-1"}),
    ("DetachCommonBandwidthPackageFromLoadBalancer", {"BandwidthPackageId": "cbwp-1"}),
    ("DeleteLoadBalancer", {}),
]


@pytest.mark.parametrize("action, params", LB_CHANGES, ids=[c[0] for c in LB_CHANGES])
def test_busy_load_balancer(slow, action, params):
    group = ready_group(slow)
    lb = slow.lb()
    assert slow.get(lb)["LoadBalancerStatus"] == "Provisioning"
    refused("ResourceInCreating.loadbalancer", 400, slow.call, action, LoadBalancerId=lb, **params)
    refused("IncorrectStatus.loadbalancer", 400, slow.listener, lb, group)
    lb = active_lb(slow)
    job = slow.call("UpdateLoadBalancerAttribute", LoadBalancerId=lb, LoadBalancerName="later")
    assert slow.status(job) == "Processing"
    got = slow.get(lb)
    assert (got["LoadBalancerStatus"], got["LoadBalancerName"]) == ("Configuring", lb)
    refused("ResourceInConfiguring.loadbalancer", 400, slow.call, action, LoadBalancerId=lb, **params)
    refused("IncorrectStatus.loadbalancer", 400, slow.listener, lb, group)
    slow.end(job)
    got = slow.get(lb)
    assert (got["LoadBalancerStatus"], got["LoadBalancerName"]) == ("Active", "later")


def test_busy_group(slow):
    created = slow.call("CreateServerGroup", ServerGroupName="busy", VpcId="vpc-1")
    group, lb = created["ServerGroupId"], active_lb(slow)
    assert slow.group_of(group)["ServerGroupStatus"] == "Creating"
    changes = [("AddServersToServerGroup", {"Servers": [server("i-2")]}),
               ("RemoveServersFromServerGroup", {"Servers": [server("i-1")]}),
               ("UpdateServerGroupServersAttribute", {"Servers": [server("i-1", Weight=1)]}),
               ("UpdateServerGroupAttribute", {"ServerGroupName": "other"}),
               ("DeleteServerGroup", {})]
    for action, params in changes:
        refused("IncorrectStatus.serverGroup", 400, slow.call, action, ServerGroupId=group, **params)
    refused("IncorrectStatus.serverGroup", 400, slow.listener, lb, group)
    slow.end(created)
    added = slow.call("AddServersToServerGroup", ServerGroupId=group, Servers=[server("i-1")])
    assert slow.group_of(group)["ServerGroupStatus"] == "Configuring"
    assert slow.servers(group) == [("i-1", 8080, 100, "Adding")]
    for action, params in changes:
        refused("IncorrectStatus.serverGroup", 400, slow.call, action, ServerGroupId=group, **params)
    running_listener(slow, lb, group)  # a listener does not mind servers that come and go
    slow.end(added)
    for action, weight, before, after in [
        ("UpdateServerGroupServersAttribute", {"Weight": 5}, [("i-1", 8080, 100, "Configuring")],
         [("i-1", 8080, 5, "Available")]),
        ("RemoveServersFromServerGroup", {}, [("i-1", 8080, 5, "Removing")], []),
    ]:
        job = slow.call(action, ServerGroupId=group, Servers=[server("i-1", **weight)])
        assert slow.servers(group) == before
        slow.end(job)
        assert slow.servers(group) == after


def test_busy_listener(slow):
    lb, group = active_lb(slow), ready_group(slow)
    created = slow.call("CreateListener", LoadBalancerId=lb, ServerGroupId=group, ListenerPort=80,
                        ListenerProtocol="TCP")
    listener = created["ListenerId"]
    other = slow.call("CreateListener", LoadBalancerId=lb, ServerGroupId=group, ListenerPort=81,
                      ListenerProtocol="TCP")  # one may be made while another is
    changes = [("UpdateListenerAttribute", {"Cps": 1}), ("StartListener", {}), ("StopListener", {}),
               ("DeleteListener", {})]

    def all_refused(status):
        assert slow.listener_of(listener)["ListenerStatus"] == status
        for action, params in changes:
            refused("IncorrectStatus.listener", 400, slow.call, action, ListenerId=listener, **params)
        refused("Conflict.Lock", 400, slow.call, "DeleteLoadBalancer", LoadBalancerId=lb)

    all_refused("Provisioning")
    slow.end(created)
    for action, params, through, after in [("UpdateListenerAttribute", {"Cps": 1}, "Configuring", "Running"),
                                           ("StopListener", {}, "Stopping", "Stopped"),
                                           ("UpdateListenerAttribute", {"Cps": 2}, "Configuring", "Stopped"),
                                           ("StartListener", {}, "Starting", "Running")]:
        job = slow.call(action, ListenerId=listener, **params)
        all_refused(through)
        slow.end(job)
        assert slow.listener_of(listener)["ListenerStatus"] == after
    job = slow.call("DeleteListener", ListenerId=listener)
    all_refused("Deleting")
    refused("Conflict.Port", 400, slow.listener, lb, group, 80)  # it holds the port until it is gone
    refused("ResourceInUse.ServerGroup", 400, slow.call, "DeleteServerGroup", ServerGroupId=group)
    slow.end(job)
    slow.end(other)
    running_listener(slow, lb, group, 80)


def test_deletion_takes_time(slow):
    lb, group = active_lb(slow), ready_group(slow)
    jobs = [slow.call("DeleteLoadBalancer", LoadBalancerId=lb), slow.call("DeleteServerGroup", ServerGroupId=group)]
    assert slow.group_of(group)["ServerGroupStatus"] == "Configuring"
    assert slow.get(lb)["LoadBalancerStatus"] == "Deleting"
    refused("IncorrectStatus.loadbalancer", 400, slow.call, "DeleteLoadBalancer", LoadBalancerId=lb)
    refused("IncorrectStatus.loadbalancer", 400, slow.listener, lb, ready_group(slow))
    assert [slow.status(j) for j in jobs] == ["Processing"] * 2
    for job in jobs:
        slow.end(job)
    assert [slow.status(j) for j in jobs] == ["Succeeded"] * 2
    refused("ResourceNotFound.loadBalancer", 404, slow.get, lb)
    assert slow.group_of(group) is None


def test_listener_that_comes_during_a_deletion(slow):
    lb, group = active_lb(slow), ready_group(slow)
    job = slow.call("DeleteServerGroup", ServerGroupId=group)
    running_listener(slow, lb, group)
    slow.end(job)
    assert slow.status(job) == "Failed" and slow.group_of(group)["ServerGroupStatus"] == "Available"


def test_certificates_in_motion(slow):
    lb, group = active_lb(slow), ready_group(slow, Protocol="TCPSSL")
    listener = running_listener(slow, lb, group, 443, protocol="TCPSSL", CertificateIds=["1-cn-hangzhou"])

    def status():
        listed = slow.call("ListListenerCertificates", ListenerId=listener)["Certificates"]
        return {c["CertificateId"]: c["Status"] for c in listed if not c["IsDefault"]}

    params = {"ListenerId": listener, "AdditionalCertificateIds": ["2-cn-hangzhou"]}
    for end, after in (("Failed", {}), ("Succeeded", {"2-cn-hangzhou": "Associated"})):
        job = slow.call("AssociateAdditionalCertificatesWithListener", **params)
        assert status() == {"2-cn-hangzhou": "Associating"}
        slow.end(job, end)
        assert status() == after
    for end, after in (("Failed", {"2-cn-hangzhou": "Associated"}), ("Succeeded", {})):
        job = slow.call("DisassociateAdditionalCertificatesWithListener", **params)
        assert status() == {"2-cn-hangzhou": "Diassociating"}
        slow.end(job, end)
        assert status() == after


def test_failing_creations(nlb):
    nlb.plan(action="CreateLoadBalancer", outcome="fail")
    failed = nlb.lb()
    assert nlb.get(failed)["LoadBalancerStatus"] == "CreateFailed"
    refused("IncorrectStatus.loadbalancer", 400, nlb.call, "UpdateLoadBalancerAttribute", LoadBalancerId=failed,
            LoadBalancerName="no")
    nlb.done(nlb.call("DeleteLoadBalancer", LoadBalancerId=failed))  # the only thing left to do
    nlb.plan(action="CreateServerGroup", outcome="fail")
    answer = nlb.call("CreateServerGroup", ServerGroupName="fails", VpcId="vpc-1")
    assert nlb.status(answer) == "Failed" and nlb.group_of(answer["ServerGroupId"]) is None
    lb, group = nlb.lb(), nlb.group()
    nlb.plan(action="CreateListener", outcome="fail")
    answer = nlb.call("CreateListener", LoadBalancerId=lb, ServerGroupId=group, ListenerPort=80,
                      ListenerProtocol="TCP")
    assert nlb.call("ListAsynJobs", JobIds=[answer["JobId"]])["Jobs"][0]["Status"] == "Failed"
    refused("ResourceNotFound.listener", 404, nlb.listener_of, answer["ListenerId"])
    nlb.listener(lb, group, 80)


def test_failing_changes_change_nothing(nlb):
    lb, group = nlb.lb(), nlb.group()
    listener = nlb.listener(lb, group, 80)
    nlb.done(nlb.call("AddServersToServerGroup", ServerGroupId=group, Servers=[server("i-1")]))
    sg = nlb.security_group()

    def picture():
        state = nlb.sim.state()
        return ([x for x in state["nlbLoadBalancers"] if x["LoadBalancerId"] == lb],
                [x for x in state["nlbServerGroups"] if x["ServerGroupId"] == group], state["vSwitches"])

    before = picture()
    for action, params in [
        ("AddServersToServerGroup", {"ServerGroupId": group, "Servers": [server("i-2")]}),
        ("RemoveServersFromServerGroup", {"ServerGroupId": group, "Servers": [server("i-1")]}),
        ("UpdateServerGroupServersAttribute", {"ServerGroupId": group, "Servers": [server("i-1", Weight=1)]}),
        ("UpdateServerGroupAttribute", {"ServerGroupId": group, "ServerGroupName": "other"}),
        ("UpdateListenerAttribute", {"ListenerId": listener, "Cps": 5}),
        ("StopListener", {"ListenerId": listener}),
        ("DeleteListener", {"ListenerId": listener}),
        ("UpdateLoadBalancerAttribute", {"LoadBalancerId": lb, "LoadBalancerName": "other"}),
        ("UpdateLoadBalancerAddressTypeConfig", {"LoadBalancerId": lb, "AddressType": "Internet"}),
        ("UpdateLoadBalancerZones", {"LoadBalancerId": lb, "ZoneMappings": [
            *ZONES, {"ZoneId": "zone-e", "VSwitchId": "vsw-e"}]}),
        ("LoadBalancerJoinSecurityGroup", {"LoadBalancerId": lb, "SecurityGroupIds": [sg]}),
        ("DeleteLoadBalancer", {"LoadBalancerId": lb}),
    ]:
        if action == "UpdateLoadBalancerZones":
            nlb.edit(op="create", type="vswitch", id="vsw-e", vpc="vpc-1", zone="zone-e", cidr="10.6.0.0/24")
            before = picture()
        nlb.plan(action=action, outcome="fail")
        assert nlb.status(nlb.call(action, **params)) == "Failed", action
        assert picture() == before, action


def test_lost_and_hanging_jobs(nlb):
    nlb.plan(outcome="lose")
    lost = nlb.call("CreateServerGroup", ServerGroupName="lost", VpcId="vpc-1")
    refused("ResourceNotFound.JobId", 404, nlb.status, lost)
    assert nlb.call("ListAsynJobs", JobIds=[lost["JobId"]])["Jobs"] == []
    assert nlb.group_of(lost["ServerGroupId"])["ServerGroupStatus"] == "Available"
    nlb.plan(action="Create*Group", outcome="hang")
    hangs = nlb.call("CreateServerGroup", ServerGroupName="hangs", VpcId="vpc-1")
    assert nlb.status(hangs) == "Processing"
    state = {j["JobId"]: j for j in nlb.sim.state()["jobs"]}[hangs["JobId"]]
    assert (state["Action"], state["ResourceId"], state["Status"]) == ("CreateServerGroup", hangs["ServerGroupId"],
                                                                      "Processing")
    nlb.edit(op="delete", type="job", id=hangs["JobId"])
    refused("ResourceNotFound.JobId", 404, nlb.status, hangs)
    nlb.edit(op="delete", type="servergroup", id=hangs["ServerGroupId"])
    nlb.plan(action="DeleteServerGroup", outcome="fail", count=0)
    group = nlb.group()
    for _ in range(2):
        assert nlb.status(nlb.call("DeleteServerGroup", ServerGroupId=group)) == "Failed"
    nlb.plan(clear=True)
    nlb.done(nlb.call("DeleteServerGroup", ServerGroupId=group))
    nlb.edit(status=400, op="jobs", outcome="explode")
    nlb.edit(status=400, op="update", type="job", id="job-absent", attributes={"Status": "Failed"})


def test_jobs_of_what_is_gone(slow):
    lb, group = active_lb(slow), ready_group(slow)
    listener = running_listener(slow, lb, group)
    jobs = [slow.call("UpdateListenerAttribute", ListenerId=listener, Cps=1),
            slow.call("UpdateServerGroupAttribute", ServerGroupId=group, ServerGroupName="other"),
            slow.call("UpdateLoadBalancerAddressTypeConfig", LoadBalancerId=lb, AddressType="Internet")]
    slow.edit(op="delete", type="servergroup", id=group)
    assert slow.listener_of(listener)["ServerGroupId"] == ""
    slow.edit(op="delete", type="nlb", id=lb)
    for job in jobs:
        slow.end(job)
        assert slow.status(job) == "Failed"


def test_console_edits(nlb):
    lb = nlb.lb()
    nlb.edit(op="update", type="nlb", id=lb, attributes={"LoadBalancerStatus": "Inactive"}, tags={"by": "hand"})
    got = nlb.get(lb)
    assert got["LoadBalancerStatus"] == "Inactive" and got["Tags"] == [{"TagKey": "by", "TagValue": "hand"}]
    listener = nlb.listener(lb, nlb.group(), 80)
    nlb.edit(op="delete", type="nlb_listener", id=listener)
    refused("ResourceNotFound.listener", 404, nlb.listener_of, listener)
    made = nlb.edit(op="call", product="nlb", action="CreateServerGroup",
                    params={"ServerGroupName": "by-hand", "VpcId": "vpc-1"})
    assert made["http"] == 200 and nlb.group_of(made["answer"]["ServerGroupId"])


def test_quota_of_load_balancers(tmp_path):
    nlb = Nlb(tmp_path, "--limit", "nlb-load-balancers=1", "--limit", "nlb-server-groups=1")
    nlb.lb()
    refused("QuotaExceeded.QuotaInsufficient", 400, nlb.lb)
    nlb.group()
    refused("QuotaExceeded.QuotaInsufficient", 400, nlb.group)
    nlb.sim.process.stop()


def test_both_signatures_and_places(nlb):
    client = type(nlb.sim.client)(nlb.sim.address)
    for style in ("v1", "v1-body", "v3", "v3-body"):
        client.style = style
        assert client.nlb("ListLoadBalancers", MaxResults=1)["MaxResults"] == 1
    assert client.slb("DescribeLoadBalancers")["TotalCount"] == 0  # the same names in another product


def test_many_clients(nlb):
    lb, failures = nlb.lb(), []

    def work(number):
        try:
            group = nlb.group(ServerGroupName=f"many-{number}")
            for port in range(1, 6):
                nlb.done(nlb.call("AddServersToServerGroup", ServerGroupId=group, Servers=[server("i-3", port)]))
            nlb.listener(lb, group, 1000 + number)
            nlb.call("ListListeners", MaxResults=100)
            nlb.sim.state()
            assert len(nlb.servers(group)) == 5
        except Exception as error:  # told by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    ports = {x["ListenerPort"] for x in nlb.call("ListListeners", LoadBalancerIds=[lb])["Listeners"]}
    assert ports == set(range(1000, 1008))
