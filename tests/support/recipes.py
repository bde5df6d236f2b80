"""Good calls of every action: what the conformance test starts from.

RECIPES["slb", "CreateVServerGroup"] is a function that gets a Kit, makes what the call needs, and returns parameters
with which the call succeeds.
"""

import base64
import json
import time

RECIPES = {}
VPC, SWITCH_A, SWITCH_B, INSTANCE, TABLE = "vpc-test", "vsw-a", "vsw-b", "i-node-1", "vtb-system"


def recipe(product, *actions):
    def keep(function):
        for action in actions:
            RECIPES[product, action] = function
        return function

    return keep


class Kit:
    """A client, and fresh resources by one call each."""

    def __init__(self, client, control):
        self.client = client
        self.control = control
        self.number = 0

    def next(self):
        self.number += 1
        return self.number

    def lb(self, **params):
        return self.client.slb("CreateLoadBalancer", InstanceChargeType="PayByCLCU", **params)["LoadBalancerId"]

    def listener(self, lb, port=80, protocol="TCP", start=False, **params):
        usual = {"HealthCheck": "off"} if protocol.startswith("HTTP") else {}
        if protocol == "HTTPS":
            usual["ServerCertificateId"] = "cert-valid"
        self.client.slb(f"CreateLoadBalancer{protocol}Listener", LoadBalancerId=lb, ListenerPort=port, Bandwidth=-1,
                        BackendServerPort=8080, **{**usual, **params})
        if start:
            self.client.slb("StartLoadBalancerListener", LoadBalancerId=lb, ListenerPort=port)
        return {"LoadBalancerId": lb, "ListenerPort": port}

    def group(self, **params):
        return self.client.slb("CreateVServerGroup", LoadBalancerId=self.lb(), **params)["VServerGroupId"]

    def spec_lb(self):
        return self.client.slb("CreateLoadBalancer", InstanceChargeType="PayBySpec",
                               LoadBalancerSpec="slb.s1.small")["LoadBalancerId"]

    def acl(self):
        return self.client.slb("CreateAccessControlList", AclName="a", Tag=[{"Key": "k", "Value": "v"}])["AclId"]

    def extension(self):
        where = self.listener(self.lb(), 443, "HTTPS")
        made = self.client.slb("CreateDomainExtension", Domain="x.example.com", ServerCertificateId="cert-valid", **where)
        return {"DomainExtensionId": made["DomainExtensionId"], **where}

    def security_group(self):
        return self.client.ecs("CreateSecurityGroup", VpcId=VPC, SecurityGroupName="sg", Tag=[{"Key": "k"}])[
            "SecurityGroupId"]

    def rule(self):
        group = self.security_group()
        self.client.ecs("AuthorizeSecurityGroup", SecurityGroupId=group, Permissions=[PERMISSION])
        rules = self.client.ecs("DescribeSecurityGroupAttribute", SecurityGroupId=group)["Permissions"]["Permission"]
        return {"SecurityGroupId": group, "SecurityGroupRuleId": rules[0]["SecurityGroupRuleId"]}

    def instance(self, **members):
        name = f"i-made-{self.next()}"
        self.control("POST", "instances", {"instances": [{"id": name, "vswitch": SWITCH_A, **members}]})
        return name

    def table(self):
        return self.client.vpc("CreateRouteTable", VpcId=VPC)["RouteTableId"]

    def cidr(self):
        number = self.next()
        return f"172.{16 + number // 256}.{number % 256}.0/24"

    def route(self):
        cidr, table = self.cidr(), self.table()
        made = self.client.vpc("CreateRouteEntry", RouteTableId=table, DestinationCidrBlock=cidr,
                               NextHopType="Instance", NextHopId=INSTANCE)
        return {"RouteEntryId": made["RouteEntryId"], "RouteTableId": table, "DestinationCidrBlock": cidr,
                "NextHopId": INSTANCE}

    def eip(self):
        return self.client.vpc("AllocateEipAddress", Tag=[{"Key": "k", "Value": "v"}])["AllocationId"]

    # NLB: jobs end with the next call
    def nlb(self, **params):
        params = {"AddressType": "Intranet", **params}
        made = self.client.nlb("CreateLoadBalancer", VpcId=VPC, ZoneMappings=ZONES, **params)["LoadbalancerId"]
        self.settle(made)
        return made

    def settle(self, lb):
        for _ in range(100):
            if self.client.nlb("GetLoadBalancerAttribute", LoadBalancerId=lb)["LoadBalancerStatus"] == "Active":
                return
            time.sleep(0.01)
        raise AssertionError(f"{lb} does not become Active")

    def servers(self, **params):
        made = self.client.nlb("CreateServerGroup", ServerGroupName="group", VpcId=VPC, Protocol="TCP", **params)
        self.job(made["JobId"])
        return made["ServerGroupId"]

    def job(self, job):
        for _ in range(100):
            if self.client.nlb("GetJobStatus", JobId=job)["Status"] == "Succeeded":
                return
            time.sleep(0.01)
        raise AssertionError(f"job {job} does not succeed")

    def nlb_listener(self, lb=None, **params):
        lb = lb or self.nlb()
        params = {"ListenerProtocol": "TCP", "ListenerPort": 80, **params}
        group = self.servers(PreserveClientIpEnabled=params["ListenerProtocol"] != "TCPSSL")
        made = self.client.nlb("CreateListener", LoadBalancerId=lb, ServerGroupId=group, **params)
        self.job(made["JobId"])
        self.settle(lb)
        return made["ListenerId"]

    def nlb_tls(self):
        return self.nlb_listener(ListenerProtocol="TCPSSL", CertificateIds=["101-cn-hangzhou"])

    def server(self, **more):
        return [{"ServerId": INSTANCE, "ServerType": "Ecs", "Port": 8080, **more}]


PERMISSION = {"IpProtocol": "TCP", "PortRange": "80/80", "SourceCidrIp": "10.0.0.0/8", "Policy": "accept",
              "Priority": "1", "Description": "web"}
ZONES = [{"ZoneId": "cn-hangzhou-h", "VSwitchId": SWITCH_A}, {"ZoneId": "cn-hangzhou-i", "VSwitchId": SWITCH_B}]
TAG = [{"Key": "k", "Value": "v"}]


def servers(*items):
    return json.dumps([{"ServerId": i, "Port": 80, "Weight": 10, "Type": "ecs", "Description": "d"} for i in items])


def token(**claims):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    body = {"iss": "https://issuer", "sub": "s", "aud": ["sts"], "iat": int(time.time()),
            "exp": int(time.time()) + 600, **claims}
    return ".".join((part({"alg": "RS256"}), part(body), "c2lnbmF0dXJl"))


# ---- SLB


@recipe("slb", "CreateLoadBalancer")
def _(kit):
    return {"InstanceChargeType": "PayByCLCU", "LoadBalancerName": "n", "Tag": TAG}


@recipe("slb", "DeleteLoadBalancer", "DescribeLoadBalancerAttribute")
def _(kit):
    lb = kit.lb(Tag=TAG)
    kit.listener(lb)
    return {"LoadBalancerId": lb}


@recipe("slb", "DescribeLoadBalancers", "DescribeVServerGroups")
def _(kit):
    lb = kit.lb(Tag=TAG)
    group = kit.client.slb("CreateVServerGroup", LoadBalancerId=lb, Tag=TAG)["VServerGroupId"]
    kit.listener(lb, VServerGroupId=group)
    return {"LoadBalancerId": lb}


@recipe("slb", "SetLoadBalancerDeleteProtection")
def _(kit):
    return {"LoadBalancerId": kit.lb(), "DeleteProtection": "on"}


@recipe("slb", "SetLoadBalancerModificationProtection")
def _(kit):
    return {"LoadBalancerId": kit.lb(), "ModificationProtectionStatus": "ConsoleProtection"}


@recipe("slb", "SetLoadBalancerName")
def _(kit):
    return {"LoadBalancerId": kit.lb(), "LoadBalancerName": "n"}


@recipe("slb", "SetLoadBalancerStatus")
def _(kit):
    return {"LoadBalancerId": kit.lb(), "LoadBalancerStatus": "inactive"}


@recipe("slb", "ModifyLoadBalancerInternetSpec")
def _(kit):
    return {"LoadBalancerId": kit.spec_lb(), "InternetChargeType": "paybybandwidth", "Bandwidth": 10}


@recipe("slb", "ModifyLoadBalancerInstanceSpec")
def _(kit):
    return {"LoadBalancerId": kit.spec_lb(), "LoadBalancerSpec": "slb.s2.small"}


@recipe("slb", "ModifyLoadBalancerInstanceChargeType")
def _(kit):
    return {"LoadBalancerId": kit.spec_lb(), "InstanceChargeType": "PayByCLCU"}


def layer4(kit):
    return {"LoadBalancerId": kit.lb(), "ListenerPort": 80, "Bandwidth": -1, "BackendServerPort": 8080, "Tag": TAG}


@recipe("slb", "CreateLoadBalancerTCPListener", "CreateLoadBalancerUDPListener")
def _(kit):
    return layer4(kit)


@recipe("slb", "CreateLoadBalancerHTTPListener")
def _(kit):
    return {**layer4(kit), "HealthCheck": "on", "StickySession": "off"}


@recipe("slb", "CreateLoadBalancerHTTPSListener")
def _(kit):
    return {**layer4(kit), "HealthCheck": "on", "StickySession": "off", "ServerCertificateId": "cert-valid"}


for _protocol in ("TCP", "UDP", "HTTP", "HTTPS"):
    def _listener(kit, protocol=_protocol):
        acl = kit.acl()
        return kit.listener(kit.lb(), 80, protocol, Tag=TAG, AclId=acl, AclType="white", AclStatus="on")

    recipe("slb", f"DescribeLoadBalancer{_protocol}ListenerAttribute", f"SetLoadBalancer{_protocol}ListenerAttribute")(
        _listener)


@recipe("slb", "DescribeLoadBalancerListeners")
def _(kit):
    lb = kit.lb()
    for number, protocol in enumerate(("TCP", "UDP", "HTTP", "HTTPS")):
        kit.listener(lb, 80 + number, protocol, Tag=TAG)
    return {"LoadBalancerId": [lb]}


@recipe("slb", "StartLoadBalancerListener", "DeleteLoadBalancerListener")
def _(kit):
    return kit.listener(kit.lb())


@recipe("slb", "StopLoadBalancerListener")
def _(kit):
    return kit.listener(kit.lb(), start=True)


@recipe("slb", "CreateVServerGroup")
def _(kit):
    return {"LoadBalancerId": kit.lb(), "VServerGroupName": "g", "BackendServers": servers(INSTANCE), "Tag": TAG}


@recipe("slb", "DeleteVServerGroup")
def _(kit):
    return {"VServerGroupId": kit.group()}


@recipe("slb", "DescribeVServerGroupAttribute")
def _(kit):
    return {"VServerGroupId": kit.group(BackendServers=servers(INSTANCE), Tag=TAG)}


@recipe("slb", "DescribeHealthStatus")
def _(kit):
    group = kit.group(BackendServers=servers(INSTANCE))
    lb = kit.client.slb("DescribeVServerGroupAttribute", VServerGroupId=group)["LoadBalancerId"]
    for number, protocol in enumerate(("TCP", "UDP", "HTTP", "HTTPS")):
        kit.listener(lb, 80 + number, protocol, VServerGroupId=group)
    return {"LoadBalancerId": lb}


@recipe("slb", "AddVServerGroupBackendServers")
def _(kit):
    return {"VServerGroupId": kit.group(), "BackendServers": servers(INSTANCE)}


@recipe("slb", "SetVServerGroupAttribute", "RemoveVServerGroupBackendServers")
def _(kit):
    return {"VServerGroupId": kit.group(BackendServers=servers(INSTANCE, "i-node-2")),
            "BackendServers": servers(INSTANCE)}


@recipe("slb", "ModifyVServerGroupBackendServers")
def _(kit):
    return {"VServerGroupId": kit.group(BackendServers=servers(INSTANCE)), "OldBackendServers": servers(INSTANCE),
            "NewBackendServers": servers("i-node-2")}


@recipe("slb", "CreateAccessControlList")
def _(kit):
    return {"AclName": "a", "Tag": TAG}


ENTRY = json.dumps([{"entry": "10.0.0.0/24", "comment": "office"}])


@recipe("slb", "AddAccessControlListEntry")
def _(kit):
    return {"AclId": kit.acl(), "AclEntrys": ENTRY}


@recipe("slb", "DescribeAccessControlListAttribute")
def _(kit):
    acl = kit.acl()
    kit.client.slb("AddAccessControlListEntry", AclId=acl, AclEntrys=ENTRY)
    kit.listener(kit.lb(), AclId=acl, AclType="white", AclStatus="on")
    return {"AclId": acl}


@recipe("slb", "RemoveAccessControlListEntry")
def _(kit):
    return {**RECIPES["slb", "DescribeAccessControlListAttribute"](kit), "AclEntrys": ENTRY}


@recipe("slb", "DeleteAccessControlList")
def _(kit):
    return {"AclId": kit.acl()}


@recipe("slb", "DescribeAccessControlLists")
def _(kit):
    kit.acl()
    return {}


@recipe("slb", "DescribeServerCertificates")
def _(kit):
    kit.client.slb("TagResources", ResourceType="certificate", ResourceId=["cert-valid"], Tag=TAG)
    return {"ServerCertificateId": "cert-valid"}


@recipe("slb", "DescribeCACertificates")
def _(kit):
    kit.client.slb("TagResources", ResourceType="certificate", ResourceId=["cert-ca"], Tag=TAG)
    return {"CACertificateId": "cert-ca"}


@recipe("slb", "CreateDomainExtension")
def _(kit):
    return {**kit.listener(kit.lb(), 443, "HTTPS"), "Domain": "a.example.com", "ServerCertificateId": "cert-valid"}


@recipe("slb", "SetDomainExtensionAttribute")
def _(kit):
    return {"DomainExtensionId": kit.extension()["DomainExtensionId"], "ServerCertificateId": "cert-expired"}


@recipe("slb", "DeleteDomainExtension")
def _(kit):
    return {"DomainExtensionId": kit.extension()["DomainExtensionId"]}


@recipe("slb", "DescribeDomainExtensions")
def _(kit):
    return kit.extension()


@recipe("slb", "TagResources")
def _(kit):
    return {"ResourceType": "instance", "ResourceId": [kit.lb()], "Tag": TAG}


@recipe("slb", "UntagResources")
def _(kit):
    return {"ResourceType": "instance", "ResourceId": [kit.lb(Tag=TAG)], "TagKey": ["k"]}


@recipe("slb", "ListTagResources")
def _(kit):
    return {"ResourceType": "instance", "ResourceId": [kit.lb(Tag=TAG)]}


@recipe("slb", "DescribeRegions", "DescribeZones", "DescribeAvailableResource")
@recipe("ecs", "DescribeRegions", "DescribeZones")
@recipe("vpc", "DescribeRegions", "DescribeZones")
@recipe("sts", "GetCallerIdentity")
@recipe("cas", "DescribeSSLCertificateList")
@recipe("nlb", "DescribeRegions", "DescribeZones")
def _(kit):
    return {}


# ---- VPC


@recipe("vpc", "CreateRouteTable")
def _(kit):
    return {"VpcId": VPC}


@recipe("vpc", "DeleteRouteTable")
def _(kit):
    return {"RouteTableId": kit.table()}


@recipe("vpc", "CreateRouteEntry")
def _(kit):
    return {"RouteTableId": kit.table(), "DestinationCidrBlock": kit.cidr(), "NextHopType": "Instance",
            "NextHopId": INSTANCE}


@recipe("vpc", "DeleteRouteEntry")
def _(kit):
    return {key: value for key, value in kit.route().items() if key != "RouteEntryId"}


@recipe("vpc", "CreateRouteEntries")
def _(kit):
    table, cidr = kit.table(), kit.cidr()
    entry = {"RouteTableId": table, "DstCidrBlock": cidr, "NextHop": INSTANCE, "NextHopType": "Instance"}
    return {"RouteEntries": [entry, entry]}  # the second one fails, inside a good answer


@recipe("vpc", "DeleteRouteEntries")
def _(kit):
    route = kit.route()
    entry = {"RouteTableId": route["RouteTableId"], "DstCidrBlock": route["DestinationCidrBlock"],
             "NextHop": INSTANCE}
    return {"RouteEntries": [entry, {**entry, "RouteEntryId": "rte-none"}]}


@recipe("vpc", "DescribeRouteEntryList")
def _(kit):
    return {"RouteTableId": kit.route()["RouteTableId"]}


@recipe("vpc", "DescribeRouteTableList")
def _(kit):
    kit.client.vpc("TagResources", ResourceType="ROUTETABLE", ResourceId=[TABLE], Tag=TAG)
    return {"RouteTableId": TABLE}


@recipe("vpc", "AllocateEipAddress")
def _(kit):
    for eip in kit.client.vpc("DescribeEipAddresses", PageSize=100, Status="Available")["EipAddresses"]["EipAddress"]:
        kit.client.vpc("ReleaseEipAddress", AllocationId=eip["AllocationId"])
    return {}


@recipe("vpc", "AssociateEipAddress")
def _(kit):
    return {"AllocationId": kit.eip(), "InstanceId": kit.lb(), "InstanceType": "SlbInstance"}


@recipe("vpc", "ReleaseEipAddress")
def _(kit):
    return {"AllocationId": kit.eip()}


@recipe("vpc", "DescribeEipAddresses")
def _(kit):
    RECIPES["vpc", "AllocateEipAddress"](kit)
    return {"AllocationId": kit.eip()}


@recipe("vpc", "DescribeVpcs", "DescribeVpcAttribute")
def _(kit):
    kit.client.vpc("TagResources", ResourceType="VPC", ResourceId=[VPC], Tag=TAG)
    return {"VpcId": VPC}


@recipe("vpc", "DescribeVSwitches", "DescribeVSwitchAttributes")
def _(kit):
    kit.client.vpc("TagResources", ResourceType="VSWITCH", ResourceId=[SWITCH_A], Tag=TAG)
    return {"VSwitchId": SWITCH_A}


@recipe("vpc", "CheckCanAllocateVpcPrivateIpAddress")
def _(kit):
    return {"VSwitchId": SWITCH_A, "PrivateIpAddress": "10.1.77.7"}


@recipe("vpc", "TagResources")
def _(kit):
    return {"ResourceType": "VSWITCH", "ResourceId": [SWITCH_A], "Tag": TAG}


@recipe("vpc", "UnTagResources", "ListTagResources")
def _(kit):
    kit.client.vpc("TagResources", ResourceType="VSWITCH", ResourceId=[SWITCH_A], Tag=TAG)
    return {"ResourceType": "VSWITCH", "ResourceId": [SWITCH_A]}


# ---- ECS


@recipe("ecs", "DescribeInstances")
def _(kit):
    kit.client.ecs("TagResources", ResourceType="instance", ResourceId=[INSTANCE], Tag=TAG)
    return {"InstanceIds": json.dumps([INSTANCE]), "MaxResults": 50}


@recipe("ecs", "DeleteInstance")
def _(kit):
    return {"InstanceId": kit.instance(), "Force": True}


@recipe("ecs", "DescribeNetworkInterfaces")
def _(kit):
    kit.client.ecs("TagResources", ResourceType="eni", ResourceId=["eni-pods-1"], Tag=TAG)
    return {"NetworkInterfaceId": ["eni-pods-1"], "MaxResults": 50}


@recipe("ecs", "ModifyNetworkInterfaceAttribute")
def _(kit):
    return {"NetworkInterfaceId": "eni-pods-5", "Description": "changed", "SecurityGroupId": ["sg-test"]}


@recipe("ecs", "CreateSecurityGroup")
def _(kit):
    for group in kit.client.ecs("DescribeSecurityGroups", MaxResults=100)["SecurityGroups"]["SecurityGroup"]:
        if group["SecurityGroupId"] != "sg-test":
            kit.client.ecs("DeleteSecurityGroup", SecurityGroupId=group["SecurityGroupId"])
    return {"VpcId": VPC}


@recipe("ecs", "DeleteSecurityGroup")
def _(kit):
    RECIPES["ecs", "CreateSecurityGroup"](kit)
    return {"SecurityGroupId": kit.security_group()}


@recipe("ecs", "ModifySecurityGroupAttribute")
def _(kit):
    return {**RECIPES["ecs", "DeleteSecurityGroup"](kit), "SecurityGroupName": "other"}


@recipe("ecs", "DescribeSecurityGroups")
def _(kit):
    return {**RECIPES["ecs", "DeleteSecurityGroup"](kit), "MaxResults": 10}


@recipe("ecs", "AuthorizeSecurityGroup")
def _(kit):
    return {**RECIPES["ecs", "DeleteSecurityGroup"](kit), "Permissions": [PERMISSION]}


@recipe("ecs", "RevokeSecurityGroup")
def _(kit):
    RECIPES["ecs", "CreateSecurityGroup"](kit)
    return {"SecurityGroupId": kit.rule()["SecurityGroupId"], "Permissions": [PERMISSION]}


@recipe("ecs", "ModifySecurityGroupRule")
def _(kit):
    RECIPES["ecs", "CreateSecurityGroup"](kit)
    return {**kit.rule(), "Policy": "drop"}


@recipe("ecs", "DescribeSecurityGroupAttribute")
def _(kit):
    RECIPES["ecs", "CreateSecurityGroup"](kit)
    return {"SecurityGroupId": kit.rule()["SecurityGroupId"]}


@recipe("ecs", "TagResources")
def _(kit):
    return {"ResourceType": "instance", "ResourceId": [INSTANCE], "Tag": TAG}


@recipe("ecs", "UntagResources", "ListTagResources")
def _(kit):
    kit.client.ecs("TagResources", ResourceType="instance", ResourceId=[INSTANCE], Tag=TAG)
    return {"ResourceType": "instance", "ResourceId": [INSTANCE]}


# ---- STS, CAS


@recipe("sts", "AssumeRole")
def _(kit):
    return {"RoleArn": "acs:ram::1:role/r", "RoleSessionName": "session"}


@recipe("sts", "AssumeRoleWithOIDC")
def _(kit):
    return {"RoleArn": "acs:ram::1:role/r", "RoleSessionName": "session", "OIDCToken": token(),
            "OIDCProviderArn": "acs:ram::1:oidc-provider/p"}


@recipe("cas", "DescribeSSLCertificatePublicKeyDetail")
def _(kit):
    return {"CertIdentifier": "101-cn-hangzhou"}


CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
CERTIFICATE_KEY = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n"


@recipe("cas", "CreateSSLCertificateWithName")
def _(kit):
    return {"CertName": f"name-{kit.next()}", "Certificate": CERTIFICATE, "PrivateKey": CERTIFICATE_KEY}


@recipe("cas", "DeleteSSLCertificate")
def _(kit):
    made = kit.client.cas("CreateSSLCertificateWithName", CertName=f"name-{kit.next()}", Certificate=CERTIFICATE,
                          PrivateKey=CERTIFICATE_KEY)
    return {"CertIdentifier": made["CertIdentifier"]}


@recipe("eflo", "DescribeNode")
def _(kit):
    name = f"e01-{kit.next()}"
    kit.control("POST", "edit", {"op": "create", "type": "lingjun_node", "id": name})
    return {"NodeId": name}


# ---- NLB


@recipe("nlb", "CreateLoadBalancer")
def _(kit):
    return {"VpcId": VPC, "AddressType": "Intranet", "ZoneMappings": ZONES, "LoadBalancerName": "name"}


@recipe("nlb", "DeleteLoadBalancer", "GetLoadBalancerAttribute")
def _(kit):
    return {"LoadBalancerId": kit.nlb(Tag=TAG)}


@recipe("nlb", "ListLoadBalancers")
def _(kit):
    return {"LoadBalancerIds": [kit.nlb(Tag=TAG)]}


@recipe("nlb", "UpdateLoadBalancerAttribute")
def _(kit):
    return {"LoadBalancerId": kit.nlb(), "LoadBalancerName": "other"}


@recipe("nlb", "UpdateLoadBalancerAddressTypeConfig")
def _(kit):
    return {"LoadBalancerId": kit.nlb(), "AddressType": "Internet"}


@recipe("nlb", "UpdateLoadBalancerProtection")
def _(kit):
    return {"LoadBalancerId": kit.nlb(), "DeletionProtectionEnabled": True}


@recipe("nlb", "UpdateLoadBalancerZones")
def _(kit):
    return {"LoadBalancerId": kit.nlb(), "ZoneMappings": ZONES}


@recipe("nlb", "LoadBalancerJoinSecurityGroup")
def _(kit):
    return {"LoadBalancerId": kit.nlb(), "SecurityGroupIds": ["sg-test"]}


@recipe("nlb", "LoadBalancerLeaveSecurityGroup")
def _(kit):
    lb = kit.nlb()
    kit.job(kit.client.nlb("LoadBalancerJoinSecurityGroup", LoadBalancerId=lb, SecurityGroupIds=["sg-test"])["JobId"])
    kit.settle(lb)
    return {"LoadBalancerId": lb, "SecurityGroupIds": ["sg-test"]}


@recipe("nlb", "EnableLoadBalancerIpv6Internet")
def _(kit):
    for switch in (SWITCH_A, SWITCH_B):
        kit.control("POST", "edit", {"op": "update", "type": "vswitch", "id": switch,
                                     "attributes": {"EnabledIpv6": "true", "Ipv6CidrBlock": "2408::/64"}})
    return {"LoadBalancerId": kit.nlb(AddressIpVersion="DualStack")}


@recipe("nlb", "DisableLoadBalancerIpv6Internet")
def _(kit):
    what = RECIPES["nlb", "EnableLoadBalancerIpv6Internet"](kit)
    kit.client.nlb("EnableLoadBalancerIpv6Internet", **what)
    return what


@recipe("nlb", "AttachCommonBandwidthPackageToLoadBalancer")
def _(kit):
    package = f"cbwp-{kit.next()}"
    kit.control("POST", "edit", {"op": "create", "type": "bandwidth_package", "id": package})
    return {"LoadBalancerId": kit.nlb(AddressType="Internet"), "BandwidthPackageId": package}


@recipe("nlb", "DetachCommonBandwidthPackageFromLoadBalancer")
def _(kit):
    what = RECIPES["nlb", "AttachCommonBandwidthPackageToLoadBalancer"](kit)
    kit.job(kit.client.nlb("AttachCommonBandwidthPackageToLoadBalancer", **what)["JobId"])
    kit.settle(what["LoadBalancerId"])
    return what


@recipe("nlb", "CreateServerGroup")
def _(kit):
    return {"ServerGroupName": "group", "VpcId": VPC}


@recipe("nlb", "DeleteServerGroup")
def _(kit):
    return {"ServerGroupId": kit.servers()}


@recipe("nlb", "UpdateServerGroupAttribute")
def _(kit):
    return {"ServerGroupId": kit.servers(), "ServerGroupName": "other"}


@recipe("nlb", "ListServerGroups")
def _(kit):
    return {"ServerGroupIds": [kit.servers(Tag=TAG)]}


@recipe("nlb", "AddServersToServerGroup")
def _(kit):
    return {"ServerGroupId": kit.servers(), "Servers": kit.server()}


def _filled(kit):
    group = kit.servers()
    kit.job(kit.client.nlb("AddServersToServerGroup", ServerGroupId=group, Servers=kit.server(Weight=10))["JobId"])
    return group


@recipe("nlb", "RemoveServersFromServerGroup", "UpdateServerGroupServersAttribute")
def _(kit):
    return {"ServerGroupId": _filled(kit), "Servers": kit.server()}


@recipe("nlb", "ListServerGroupServers")
def _(kit):
    return {"ServerGroupId": _filled(kit)}


@recipe("nlb", "CreateListener")
def _(kit):
    return {"LoadBalancerId": kit.nlb(), "ServerGroupId": kit.servers(), "ListenerProtocol": "TCP", "ListenerPort": 80}


@recipe("nlb", "DeleteListener", "StopListener", "GetListenerAttribute", "GetListenerHealthStatus")
def _(kit):
    return {"ListenerId": kit.nlb_listener(Tag=TAG)}


@recipe("nlb", "StartListener")
def _(kit):
    listener = kit.nlb_listener()
    kit.job(kit.client.nlb("StopListener", ListenerId=listener)["JobId"])
    return {"ListenerId": listener}


@recipe("nlb", "UpdateListenerAttribute")
def _(kit):
    return {"ListenerId": kit.nlb_listener(), "ListenerDescription": "other"}


@recipe("nlb", "ListListeners")
def _(kit):
    return {"ListenerIds": [kit.nlb_listener(Tag=TAG)]}


@recipe("nlb", "ListListenerCertificates")
def _(kit):
    return {"ListenerId": kit.nlb_tls()}


@recipe("nlb", "AssociateAdditionalCertificatesWithListener")
def _(kit):
    return {"ListenerId": kit.nlb_tls(), "AdditionalCertificateIds": ["102-cn-hangzhou"]}


@recipe("nlb", "DisassociateAdditionalCertificatesWithListener")
def _(kit):
    what = RECIPES["nlb", "AssociateAdditionalCertificatesWithListener"](kit)
    kit.job(kit.client.nlb("AssociateAdditionalCertificatesWithListener", **what)["JobId"])
    return what


@recipe("nlb", "TagResources")
def _(kit):
    return {"ResourceType": "loadbalancer", "ResourceId": [kit.nlb()], "Tag": TAG}


@recipe("nlb", "UntagResources")
def _(kit):
    return {"ResourceType": "loadbalancer", "ResourceId": [kit.nlb(Tag=TAG)], "TagKey": ["k"]}


@recipe("nlb", "ListTagResources")
def _(kit):
    return {"ResourceType": "loadbalancer", "ResourceId": [kit.nlb(Tag=TAG)]}


@recipe("nlb", "GetJobStatus")
def _(kit):
    return {"JobId": kit.client.nlb("CreateServerGroup", ServerGroupName="group", VpcId=VPC)["JobId"]}


@recipe("nlb", "ListAsynJobs")
def _(kit):
    return {"JobIds": [RECIPES["nlb", "GetJobStatus"](kit)["JobId"]]}
