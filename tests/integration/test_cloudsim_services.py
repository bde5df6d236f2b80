"""Rules of the services of cloudsim that no table tells: states, quotas, busy times, sessions, rates."""

import json
import time

import pytest

from tests.integration.test_cloudsim import BINARY, refused, sim, start  # noqa: F401  fixtures
from tests.support.acs import Client, CloudError
from tests.support.proc import run
from tests.support.recipes import PERMISSION, TAG, Kit, token
from tests.support.world import wait


@pytest.fixture
def kit(sim):  # noqa: F811
    return Kit(sim.client, sim.control)


def kit_of(sim):  # noqa: F811
    return Kit(sim.client, sim.control)


# ---- HTTP and HTTPS listeners


def test_https_listener_in_full(kit):
    where = kit.listener(kit.lb(), 443, "HTTPS", StickySession="on", StickySessionType="insert", CookieTimeout=500,
                         CACertificateId="cert-ca", TLSCipherPolicy="tls_cipher_policy_1_2", EnableHttp2="off",
                         XForwardedFor_proto="on", HealthCheck="on", HealthCheckHttpCode="http_2xx,http_3xx",
                         IdleTimeout=30, RequestTimeout=90, Gzip="off")
    got = kit.client.slb("DescribeLoadBalancerHTTPSListenerAttribute", **where)
    assert {name: got[name] for name in ("StickySessionType", "CookieTimeout", "CACertificateId", "TLSCipherPolicy",
                                         "EnableHttp2", "XForwardedFor_proto", "HealthCheckHttpCode", "IdleTimeout",
                                         "RequestTimeout", "Gzip", "Status", "ServerCertificateId")} == {
        "StickySessionType": "insert", "CookieTimeout": 500, "CACertificateId": "cert-ca",
        "TLSCipherPolicy": "tls_cipher_policy_1_2", "EnableHttp2": "off", "XForwardedFor_proto": "on",
        "HealthCheckHttpCode": "http_2xx,http_3xx", "IdleTimeout": 30, "RequestTimeout": 90, "Gzip": "off",
        "Status": "stopped", "ServerCertificateId": "cert-valid"}
    kit.client.slb("SetLoadBalancerHTTPSListenerAttribute", ServerCertificateId="cert-expired", IdleTimeout=10, **where)
    listed = kit.client.slb("DescribeLoadBalancerListeners", LoadBalancerId=[where["LoadBalancerId"]])["Listeners"][0]
    assert listed["HTTPSListenerConfig"]["ServerCertificateId"] == "cert-expired"
    assert listed["HTTPSListenerConfig"]["IdleTimeout"] == 10 and "TCPListenerConfig" not in listed


@pytest.mark.parametrize("protocol, params, code", [
    ("HTTPS", {"ServerCertificateId": None}, "MissingParam.ServerCertificates"),
    ("HTTPS", {"ServerCertificateId": "cert-none"}, "CertificateNotExist"),
    ("HTTPS", {"ServerCertificateId": "cert-ca"}, "CertificateTypeMismatched"),
    ("HTTPS", {"CACertificateId": "cert-valid"}, "CertificateTypeMismatched"),
    ("HTTPS", {"TLSCipherPolicy": "own"}, "InvalidTLSPolicyId.NotExist"),
    ("HTTP", {"StickySession": "on"}, "MissingParameter"),
    ("HTTP", {"StickySession": "on", "StickySessionType": "insert"}, "MissingParameter"),
    ("HTTP", {"StickySession": "on", "StickySessionType": "server"}, "MissingParameter"),
    ("HTTP", {"ListenerForward": "on"}, "InvalidParameter"),
    ("HTTP", {"ListenerForward": "on", "ForwardPort": 443}, "InvalidParameter"),
    ("HTTP", {"IdleTimeout": 61}, "InvalidParameter.IdleTimeout"),
    ("HTTP", {"AclId": "acl-none", "AclType": "white", "AclStatus": "on"}, "AclNotExist"),
])
def test_layer7_refused(kit, protocol, params, code):
    refused(code, 400, kit.listener, kit.lb(), 80, protocol, **params)


def test_redirect(kit):
    lb = kit.lb()
    kit.listener(lb, 443, "HTTPS")
    where = kit.listener(lb, 80, "HTTP", ListenerForward="on", ForwardPort=443)
    got = kit.client.slb("DescribeLoadBalancerHTTPListenerAttribute", **where)
    assert (got["ListenerForward"], got["ForwardPort"]) == ("on", 443)
    refused("ListenerForwardExist", 400, kit.client.slb, "DeleteLoadBalancerListener", LoadBalancerId=lb,
            ListenerPort=443)
    kit.client.slb("DeleteLoadBalancerListener", **where)
    kit.client.slb("DeleteLoadBalancerListener", LoadBalancerId=lb, ListenerPort=443)


def test_domain_extensions(kit):
    made = kit.extension()
    where = {"LoadBalancerId": made["LoadBalancerId"], "ListenerPort": 443}

    def create(domain, certificate="cert-valid"):
        return kit.client.slb("CreateDomainExtension", Domain=domain, ServerCertificateId=certificate, **where)

    refused("InvalidParameter.Domain", 400, create, "x.example.com")
    refused("InvalidParameter.ServerCertificateId", 400, create, "y.example.com", "cert-none")
    refused("CertificateTypeMismatched", 400, create, "y.example.com", "cert-ca")
    create("y.example.com")
    create("z.example.com")
    refused("DomainExtensionNumberOverLimit", 400, create, "w.example.com")
    got = kit.client.slb("DescribeLoadBalancerHTTPSListenerAttribute", **where)["DomainExtensions"]["DomainExtension"]
    assert [item["Domain"] for item in got] == ["x.example.com", "y.example.com", "z.example.com"]
    kit.client.slb("DeleteLoadBalancerListener", **where)
    refused("InvalidParameter.DomainExtensionId", 400, kit.client.slb, "DeleteDomainExtension",
            DomainExtensionId=made["DomainExtensionId"])


def test_access_lists(kit):
    acl = kit.acl()
    where = kit.listener(kit.lb(), 80, "TCP", AclId=acl, AclType="black", AclStatus="on")
    got = kit.client.slb("DescribeLoadBalancerTCPListenerAttribute", **where)
    assert (got["AclId"], got["AclIds"], got["AclType"], got["AclStatus"]) == (acl, {"AclId": [acl]}, "black", "on")
    refused("OperationFailed.AclBindedWithVip", 400, kit.client.slb, "DeleteAccessControlList", AclId=acl)
    six = kit.client.slb("CreateAccessControlList", AclName="6", AddressIPVersion="ipv6")["AclId"]
    refused("IpVersionConflict", 400, kit.client.slb, "SetLoadBalancerTCPListenerAttribute", AclId=six, **where)
    kit.client.slb("DeleteLoadBalancerListener", **where)
    kit.client.slb("DeleteAccessControlList", AclId=acl)


def test_certificates(kit):
    certs = kit.client.slb("DescribeServerCertificates")["ServerCertificates"]["ServerCertificate"]
    now = time.time() * 1000
    assert {c["ServerCertificateId"]: c["ExpireTimeStamp"] > now for c in certs} == {
        "cert-valid": True, "cert-expired": False}
    assert certs[0]["SubjectAlternativeNames"]["SubjectAlternativeName"] == ["www.example.com", "api.example.com"]
    cas = kit.client.cas("DescribeSSLCertificateList", ShowSize=1, CurrentPage=2)
    assert (cas["PageCount"], cas["TotalCount"], len(cas["CertMetaList"])) == (2, 2, 1)
    assert cas["CertMetaList"][0]["AfterDate"] < now
    refused("NotFound", 404, kit.client.cas, "DescribeSSLCertificatePublicKeyDetail", CertIdentifier="x")


# ---- kinds of load balancers, busy times


def test_charge_types(kit):
    lcu, spec = kit.lb(), kit.spec_lb()
    call = kit.client.slb
    refused("Forbidden.LcuToSpec", 400, call, "ModifyLoadBalancerInstanceChargeType", LoadBalancerId=lcu,
            InstanceChargeType="PayBySpec")
    for action, more in (("ModifyLoadBalancerInstanceSpec", {"LoadBalancerSpec": "slb.s2.small"}),
                         ("ModifyLoadBalancerInternetSpec", {"Bandwidth": 5})):
        refused("OperationDenied.PayByCLCU", 400, call, action, LoadBalancerId=lcu, **more)
        call(action, LoadBalancerId=spec, **more)
    call("ModifyLoadBalancerInstanceChargeType", LoadBalancerId=spec, InstanceChargeType="PayByCLCU")
    assert call("DescribeLoadBalancerAttribute", LoadBalancerId=spec)["InstanceChargeType"] == "PayByCLCU"


def test_shared_load_balancer(kit):
    lb = kit.spec_lb()
    kit.control("POST", "edit", {"op": "update", "type": "loadbalancer", "id": lb,
                                 "attributes": {"LoadBalancerSpec": "slb.s0.share"}})
    group = kit.client.slb("CreateVServerGroup", LoadBalancerId=lb)["VServerGroupId"]
    eni = json.dumps([{"ServerId": "eni-pods-1", "ServerIp": "10.1.1.1", "Port": 80, "Type": "eni"}])
    error = refused("SPEC_NOT_SUPPORT_PARAMETER", 400, kit.client.slb, "AddVServerGroupBackendServers",
                    VServerGroupId=group, BackendServers=eni)
    assert "does not support backend servers of eni type" in error.message
    kit.listener(lb, 443, "HTTPS")
    refused("DomainExtensionNotSupport", 400, kit.client.slb, "CreateDomainExtension", LoadBalancerId=lb,
            ListenerPort=443, Domain="a.b", ServerCertificateId="cert-valid")


def test_locked_load_balancer(kit):
    lb = kit.lb()
    where = kit.listener(lb)
    kit.control("POST", "edit", {"op": "update", "type": "loadbalancer", "id": lb,
                                 "attributes": {"LoadBalancerStatus": "locked"}})
    refused("ActionNotAllowed", 400, kit.client.slb, "StartLoadBalancerListener", **where)
    refused("ActionNotAllowed", 400, kit.client.slb, "SetLoadBalancerStatus", LoadBalancerId=lb,
            LoadBalancerStatus="active")


def test_busy(start):  # noqa: F811
    sim = start("--slb-busy-ms", "600000")  # noqa: F811
    kit = kit_of(sim)
    codes = {
        "CreateLoadBalancerTCPListener": ("ServiceIsConfiguring", 400),
        "SetLoadBalancerTCPListenerAttribute": ("BackendServer.configuring", 409),
        "AddVServerGroupBackendServers": ("VServerGroupProcessing", 400),
        "CreateDomainExtension": ("DomainExtensionProcessing", 400),
        "DeleteLoadBalancer": ("SystemBusy", 400),
    }
    lb, other = kit.lb(), kit.lb()
    group = kit.client.slb("CreateVServerGroup", LoadBalancerId=lb)["VServerGroupId"]
    where = {"LoadBalancerId": lb, "ListenerPort": 80}
    params = {
        "CreateLoadBalancerTCPListener": {**where, "Bandwidth": -1, "BackendServerPort": 1},
        "SetLoadBalancerTCPListenerAttribute": where,
        "AddVServerGroupBackendServers": {"VServerGroupId": group, "BackendServers": "[]"},
        "CreateDomainExtension": {**where, "Domain": "a.b", "ServerCertificateId": "cert-valid"},
        "DeleteLoadBalancer": {"LoadBalancerId": lb},
    }
    for action, (code, status) in codes.items():
        refused(code, status, kit.client.slb, action, **params[action])
    kit.client.slb("DescribeVServerGroupAttribute", VServerGroupId=group)  # reads go on
    kit.listener(other)  # and so do others


def test_busy_after_deletion(start):  # noqa: F811
    kit = kit_of(start("--slb-busy-ms", "1500"))
    lb = kit.lb()
    group = kit.client.slb("CreateVServerGroup", LoadBalancerId=lb)["VServerGroupId"]

    def delete():
        try:
            kit.client.slb("DeleteVServerGroup", VServerGroupId=group)
        except CloudError as error:
            assert error.code == "VServerGroupProcessing"
            return False
        return True

    wait(delete, "the group to go")
    refused("ServiceIsConfiguring", 400, kit.listener, lb)


def test_busy_ends(start):  # noqa: F811
    kit = kit_of(start("--slb-busy-ms", "50"))
    lb = kit.lb()
    kit.client.slb("CreateVServerGroup", LoadBalancerId=lb)

    def again():
        try:
            return kit.listener(lb)
        except CloudError as error:
            assert error.code == "ServiceIsConfiguring"
            return None

    wait(again, "the load balancer to be free")


# ---- tags


def test_tag_pages(kit):
    lbs = [kit.lb(Tag=TAG) for _ in range(55)]
    seen, pages, token_ = [], 0, None
    while pages == 0 or token_:
        answer = kit.client.slb("ListTagResources", ResourceType="instance", Tag=TAG, NextToken=token_)
        seen += [row["ResourceId"] for row in answer["TagResources"]["TagResource"]]
        token_, pages = answer["NextToken"], pages + 1
    assert seen == lbs and pages == 2


def test_tags_of_parts(kit):
    lb = kit.lb()
    group = kit.client.slb("CreateVServerGroup", LoadBalancerId=lb, Tag=TAG)["VServerGroupId"]
    kit.listener(lb, 80, "HTTP", Tag=TAG)
    acl = kit.acl()
    for kind, wanted in (("vservergroup", group), ("listener", f"{lb}_http_80"), ("acl", acl)):
        rows = kit.client.slb("ListTagResources", ResourceType=kind, Tag=TAG)["TagResources"]["TagResource"]
        assert [row["ResourceId"] for row in rows] == [wanted]


# ---- routes


def entry(kit, table, cidr=None, hop="i-node-1", **more):
    return {"RouteTableId": table, "DstCidrBlock": cidr or kit.cidr(), "NextHop": hop, "NextHopType": "Instance", **more}


def routes(kit, table, **params):
    params = {"RouteEntryType": "Custom", "MaxResult": 100, **params}
    answer = kit.client.vpc("DescribeRouteEntryList", RouteTableId=table, **params)
    return answer["RouteEntrys"]["RouteEntry"]


def test_route_batches(kit):
    table = kit.table()
    good, other, absent = entry(kit, table), entry(kit, table), entry(kit, table, hop="i-none")
    answer = kit.client.vpc("CreateRouteEntries", RouteEntries=[good, other, good, absent])
    assert (answer["SuccessCount"], answer["FailedCount"], len(answer["RouteEntryIds"])) == (2, 2, 2)
    assert [(item["DstCidrBlock"], item["FailedCode"]) for item in answer["FailedRouteEntries"]] == [
        (good["DstCidrBlock"], "VPC_ROUTE_ENTRY_CIDR_BLOCK_DUPLICATE"), (absent["DstCidrBlock"], "IllegalParam.NextHopId")]
    got = routes(kit, table)
    assert [(r["DestinationCidrBlock"], r["Status"], r["NextHops"]["NextHop"][0]["NextHopId"]) for r in got] == [
        (item["DstCidrBlock"], "Available", "i-node-1") for item in (good, other)]
    wrong_hop = {**entry(kit, table, other["DstCidrBlock"], "i-node-2")}
    del good["NextHopType"], wrong_hop["NextHopType"]
    answer = kit.client.vpc("DeleteRouteEntries", RouteEntries=[good, wrong_hop])
    assert (answer["SuccessCount"], answer["FailedRouteEntries"][0]["FailedCode"]) == (1, "VPC_ROUTER_ENTRY_NOT_EXIST")
    assert len(routes(kit, table)) == 1


@pytest.mark.parametrize("cidr, code", [
    ("10.1.0.0/16", "InvalidCIDRBlock.Duplicate"),  # that of a vSwitch
    ("10.1.5.0/24", "RouteConflict.AlreadyExist"),  # inside it
    ("100.64.0.0/10", "InvalidDestinationCidrBlock"),
    ("10.9.0.1/24", "InvalidCidrBlock"),
    ("text", "InvalidCidrBlock"),
])
def test_route_destinations(kit, cidr, code):
    refused(code, 400, kit.client.vpc, "CreateRouteEntry", RouteTableId="vtb-system", DestinationCidrBlock=cidr,
            NextHopType="Instance", NextHopId="i-node-1")


def test_route_around_vswitch(kit):
    where = {"RouteTableId": "vtb-system", "NextHopType": "Instance"}
    batch = kit.client.vpc("CreateRouteEntries", RouteEntries=[{**where, "DstCidrBlock": "10.0.0.0/8", "NextHop": "i-node-1"}])
    assert batch["FailedRouteEntries"][0]["FailedCode"] == "RouteConflict.AlreadyExist"
    kit.client.vpc("CreateRouteEntry", DestinationCidrBlock="10.0.0.0/8", NextHopId="i-node-1", **where)


def test_single_address_route(kit):
    table = kit.table()
    kit.client.vpc("CreateRouteEntry", RouteTableId=table, DestinationCidrBlock="172.31.0.9", NextHopId="i-node-1")
    assert [r["DestinationCidrBlock"] for r in routes(kit, table)] == ["172.31.0.9/32"]


def test_route_quota_and_batch_size(start):  # noqa: F811
    kit = kit_of(start("--limit", "routes=3", "--limit", "routes-per-call=2"))
    table = kit.table()
    refused("SizeLimitExceeded.RouteEntries", 400, kit.client.vpc, "CreateRouteEntries",
            RouteEntries=[entry(kit, table) for _ in range(3)])
    for _ in range(2):
        answer = kit.client.vpc("CreateRouteEntries", RouteEntries=[entry(kit, table) for _ in range(2)])
    assert answer["FailedRouteEntries"][0]["FailedCode"] == "QuotaExceeded"


def test_routes_take_time(start):  # noqa: F811
    kit = kit_of(start("--route-ms", "200"))
    table = kit.table()
    one, two = entry(kit, table), entry(kit, table)
    kit.client.vpc("CreateRouteEntries", RouteEntries=[one])
    assert [r["Status"] for r in routes(kit, table)] == ["Pending"]
    refused("TaskConflict", 400, kit.client.vpc, "CreateRouteEntries", RouteEntries=[two])
    refused("TaskConflict", 400, kit.client.vpc, "DeleteRouteEntry", RouteTableId=table, NextHopId="i-node-1",
            DestinationCidrBlock=one["DstCidrBlock"])
    wait(lambda: [r["Status"] for r in routes(kit, table)] == ["Available"], "the entry to be there")
    del one["NextHopType"]
    kit.client.vpc("DeleteRouteEntries", RouteEntries=[one])
    assert [r["Status"] for r in routes(kit, table)] == ["Deleting"]
    wait(lambda: not routes(kit, table), "the entry to be gone")


def test_route_pages_and_filters(kit):
    table = kit.table()
    made = [entry(kit, table, hop=f"i-node-{1 + n % 2}") for n in range(5)]
    kit.client.vpc("CreateRouteEntries", RouteEntries=made)
    seen, token_ = [], None
    while token_ != "":
        answer = kit.client.vpc("DescribeRouteEntryList", RouteTableId=table, RouteEntryType="Custom", MaxResult=2,
                                NextToken=token_)
        seen += [r["DestinationCidrBlock"] for r in answer["RouteEntrys"]["RouteEntry"]]
        token_ = answer["NextToken"]
    assert seen == [item["DstCidrBlock"] for item in made]
    assert len(routes(kit, table, NextHopId="i-node-2")) == 2
    assert len(routes(kit, table, DestCidrBlockList=seen[:2])) == 2
    assert len(routes(kit, table, NextHopType="NetworkInterface")) == 0
    refused("IllegalParam.NextToken", 400, routes, kit, table, NextToken="x")
    refused("DependencyViolation.RouteEntry", 400, kit.client.vpc, "DeleteRouteTable", RouteTableId=table)
    refused("IncorrectRouteTableType", 400, kit.client.vpc, "DeleteRouteTable", RouteTableId="vtb-system")


# ---- ECS


def test_security_group_rules(kit):
    where = {"SecurityGroupId": kit.security_group()}

    def rules():
        return kit.client.ecs("DescribeSecurityGroupAttribute", **where)["Permissions"]["Permission"]

    call = kit.client.ecs
    call("AuthorizeSecurityGroup", **where, Permissions=[PERMISSION, {**PERMISSION, "PortRange": "443/443"}])
    call("AuthorizeSecurityGroup", **where, Permissions=[PERMISSION])  # exists: accepted
    assert [r["PortRange"] for r in rules()] == ["80/80", "443/443"]
    refused("InvalidParam.DuplicatePermissions", 400, call, "AuthorizeSecurityGroup", **where,
            Permissions=[PERMISSION, PERMISSION])
    refused("InvalidIpProtocol.Malformed", 400, call, "AuthorizeSecurityGroup", **where,
            Permissions=[{**PERMISSION, "PortRange": "80"}])
    refused("MissingParameter.Source", 400, call, "AuthorizeSecurityGroup", **where,
            Permissions=[{**PERMISSION, "SourceCidrIp": None}])
    refused("InvalidSourceGroupId.NotFound", 404, call, "AuthorizeSecurityGroup", **where,
            Permissions=[{**PERMISSION, "SourceCidrIp": None, "SourceGroupId": "sg-none"}])
    call("RevokeSecurityGroup", **where, Permissions=[{**PERMISSION, "PortRange": "8/8"}])  # absent: accepted
    refused("InvalidSecurityGroupRuleId.NotFound", 404, call, "RevokeSecurityGroup", **where,
            SecurityGroupRuleId=["sgr-none"])
    call("RevokeSecurityGroup", **where, SecurityGroupRuleId=[rules()[0]["SecurityGroupRuleId"]])
    assert [r["PortRange"] for r in rules()] == ["443/443"]
    call("DeleteSecurityGroup", **where)


@pytest.mark.parametrize("product, action, params", [
    ("ecs", "CreateSecurityGroup", {"VpcId": "vpc-test", "SecurityGroupName": "one"}),
    ("vpc", "CreateRouteTable", {"VpcId": "vpc-test", "RouteTableName": "one"}),
    ("vpc", "AllocateEipAddress", {"Name": "one"}),
])
def test_client_tokens(kit, product, action, params):
    def make(**more):
        answer = kit.client.call(product, action, ClientToken="t", **{**params, **more})
        return {key: value for key, value in answer.items() if key != "RequestId"}

    assert make() == make()
    name = next(key for key in params if key.endswith("Name"))
    refused("IdempotentParameterMismatch", 400, make, **{name: "two"})


def test_security_group_limits(start):  # noqa: F811
    kit = kit_of(start("--limit", "security-rules=1", "--limit", "security-groups=2"))
    group = kit.security_group()
    refused("QuotaExceed.SecurityGroup", 403, kit.security_group)
    refused("AuthorizationLimitExceed", 403, kit.client.ecs, "AuthorizeSecurityGroup", SecurityGroupId=group,
            Permissions=[PERMISSION, {**PERMISSION, "PortRange": "443/443"}])


def test_interface_changes(kit):
    call, group = kit.client.ecs, kit.security_group()
    modify = "ModifyNetworkInterfaceAttribute"
    call(modify, NetworkInterfaceId="eni-i-node-1", SourceDestCheck=True)
    refused("InvalidOperation.PrimaryEniOnlySupportModifyNameAndDesc", 404, call, modify,
            NetworkInterfaceId="eni-i-node-1", SecurityGroupId=[group])
    call(modify, NetworkInterfaceId="eni-pods-1", SecurityGroupId=[group])
    eni = call("DescribeNetworkInterfaces", SecurityGroupId=group)["NetworkInterfaceSets"]["NetworkInterfaceSet"]
    assert [e["NetworkInterfaceId"] for e in eni] == ["eni-pods-1"]
    refused("DependencyViolation", 403, call, "DeleteSecurityGroup", SecurityGroupId=group)


def test_delete_instance(kit):
    name = kit.instance()
    refused("IncorrectInstanceStatus", 403, kit.client.ecs, "DeleteInstance", InstanceId=name)
    refused("DryRunOperation", 400, kit.client.ecs, "DeleteInstance", InstanceId=name, Force=True, DryRun=True)
    kit.client.vpc("CreateRouteEntry", RouteTableId="vtb-system", DestinationCidrBlock=kit.cidr(), NextHopId=name)
    refused("DependencyViolation.RouteEntry", 400, kit.client.ecs, "DeleteInstance", InstanceId=name, Force=True)
    other = kit.instance()
    kit.client.ecs("DeleteInstance", InstanceId=other, Force=True)
    assert kit.client.ecs("DescribeInstances", InstanceIds=json.dumps([other]))["TotalCount"] == 0


# ---- STS, metadata


def session(address, answer):
    keys = answer["Credentials"]
    return Client(address, keys["AccessKeyId"], keys["AccessKeySecret"], token=keys["SecurityToken"])


def test_assume_role(start, tmp_path):  # noqa: F811
    path = tmp_path / "fixtures.json"
    path.write_text(json.dumps({
        "region": "cn-hangzhou", "roles": [{"id": "acs:ram::7:role/r", "max_session_s": 7200}],
        "accounts": [{"id": "root", "secret": "s", "account": "9", "root": True}]}))
    sim = start("--fixtures", path)  # noqa: F811
    ask = {"RoleArn": "acs:ram::7:role/r", "RoleSessionName": "name"}
    client = session(sim.address, sim.client.sts("AssumeRole", DurationSeconds=7200, **ask))
    got = client.sts("GetCallerIdentity")
    assert (got["AccountId"], got["Arn"], got["IdentityType"]) == ("7", "acs:ram::7:assumed-role/r/name", "AssumedRoleUser")
    refused("InvalidParameter.DurationSeconds", 400, sim.client.sts, "AssumeRole", DurationSeconds=7201, **ask)
    refused("EntityNotExist.Role", 404, sim.client.sts, "AssumeRole", **{**ask, "RoleArn": "acs:ram::7:role/other"})
    refused("InvalidParameter.RoleArn", 400, sim.client.sts, "AssumeRole", **{**ask, "RoleArn": "role/r"})
    refused("InvalidParameter.PolicyGrammar", 400, sim.client.sts, "AssumeRole", Policy="{", **ask)
    root = Client(sim.address, "root", "s")
    refused("NoPermission", 403, root.sts, "AssumeRole", **ask)
    assert root.sts("GetCallerIdentity")["IdentityType"] == "Account"


def test_assume_role_with_token(sim):  # noqa: F811
    ask = {"RoleArn": "acs:ram::7:role/r", "RoleSessionName": "name", "OIDCProviderArn": "acs:ram::7:oidc-provider/p"}

    def unsigned(oidc):
        query = "&".join(f"{k}={v}" for k, v in {**ask, "OIDCToken": oidc}.items())
        return sim.client.send("POST", f"/?Action=AssumeRoleWithOIDC&Version=2015-04-01&{query}")

    answer = unsigned(token(sub="system:serviceaccount:kube-system:ccm"))
    assert answer["OIDCTokenInfo"]["Subject"] == "system:serviceaccount:kube-system:ccm"
    session(sim.address, answer).slb("DescribeLoadBalancers")
    refused("AuthenticationFail.OIDCToken.Expired", 400, unsigned, token(exp=int(time.time()) - 1))
    refused("AuthenticationFail.OIDCToken.Invalid", 400, unsigned, "not-a-token")


def test_expired_session(start, tmp_path):  # noqa: F811
    path = tmp_path / "fixtures.json"
    path.write_text(json.dumps({"region": "cn-hangzhou", "accounts": [
        {"id": "STS.old", "secret": "s", "token": "t", "expires_in_s": -1}]}))
    sim = start("--fixtures", path)  # noqa: F811
    refused("InvalidSecurityToken.Expired", 400, Client(sim.address, "STS.old", "s", token="t").slb,
            "DescribeLoadBalancers")


def test_metadata_v2_only(start):  # noqa: F811
    sim = start("--metadata-v2")  # noqa: F811
    assert sim.get("/latest/meta-data/region-id")[0] == 403
    _, session_token = sim.get("/latest/api/token", {"X-aliyun-ecs-metadata-token-ttl-seconds": "60"}, "PUT")
    assert sim.get("/latest/meta-data/region-id", {"X-aliyun-ecs-metadata-token": session_token}) == (200, "cn-hangzhou")


# ---- rates


def test_published_rates(start, tmp_path):  # noqa: F811
    path = tmp_path / "fixtures.json"
    path.write_text(json.dumps({"region": "cn-hangzhou", "accounts": [
        {"id": "same", "secret": "s"}, {"id": "other", "secret": "s", "account": "2"}]}))
    sim = start("--quota", "real", "--fixtures", path)  # noqa: F811

    def create(client):
        return client.slb("CreateAccessControlList", AclName="a")

    for _ in range(90):
        create(sim.client)
    error = refused("Throttling.User", 400, create, sim.client)
    assert error.message == "Request was denied due to user flow control."
    refused("Throttling.User", 400, create, Client(sim.address, "same", "s"))  # the account counts, not the key
    create(Client(sim.address, "other", "s"))
    sim.client.slb("DescribeAccessControlLists")


def test_rates_of_a_file(start, tmp_path):  # noqa: F811
    path = tmp_path / "quota.json"
    path.write_text(json.dumps({"scale": 0.1, "rates": {"slb.DescribeZones": {"count": 0}}}))
    sim = start("--quota", path)  # noqa: F811
    for _ in range(9):
        sim.lb()
    refused("Throttling.User", 400, sim.lb)
    for _ in range(400):
        sim.client.slb("DescribeZones")


@pytest.mark.parametrize("text", ["{", "[]", '{"rate": 1}', '{"rates": {"slb.X": {"period_s": 1}}}', '{"scale": 0}'])
def test_bad_quota_file(tmp_path, text):
    path = tmp_path / "quota.json"
    path.write_text(text)
    code, _, err = run([BINARY, "--listen", "127.0.0.1:0", "--quota", path])
    assert code == 1 and "quota.json" in err
