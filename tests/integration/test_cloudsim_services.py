"""Rules of the services of cloudsim that no table tells: states, quotas, busy times, sessions, rates."""

import http.client
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
    for keeps in (1, 0):
        kit.control("POST", "edit", {"op": "limits", "limits": {"acl-off-keeps": keeps}})
        kit.client.slb("SetLoadBalancerTCPListenerAttribute", AclStatus="off", **where)
        if keeps:
            refused("OperationFailed.AclBindedWithVip", 400, kit.client.slb, "DeleteAccessControlList", AclId=acl)
    related = kit.client.slb("DescribeAccessControlListAttribute", AclId=acl)["RelatedListeners"]["RelatedListener"]
    assert related == []
    kit.client.slb("DeleteAccessControlList", AclId=acl)
    refused("AclNotExist", 400, kit.client.slb, "SetLoadBalancerTCPListenerAttribute", AclStatus="on", **where)


def entrys(*blocks):
    return json.dumps([{"entry": block, "comment": f"of {block}"} for block in blocks])


def test_several_access_lists(kit):
    lists = [kit.acl() for _ in range(4)]
    lb = kit.lb()
    for number, protocol in enumerate(("TCP", "UDP", "HTTP", "HTTPS")):
        where = kit.listener(lb, 80 + number, protocol, AclId=",".join(lists[:2]), AclType="white", AclStatus="on")
        got = kit.client.slb(f"DescribeLoadBalancer{protocol}ListenerAttribute", **where)
        assert (got["AclId"], got["AclIds"]) == (lists[0], {"AclId": lists[:2]})
        kit.client.slb(f"SetLoadBalancer{protocol}ListenerAttribute", AclId=",".join(reversed(lists[:3])), **where)
    found = kit.client.slb("DescribeLoadBalancerListeners", LoadBalancerId=[lb])["Listeners"]
    assert [(item["AclId"], item["AclIds"]) for item in found] == [(lists[2], lists[2::-1])] * 4
    for ids, code in ((lists, "QuotaLimitExceeds.AclAttachedToListener"), ([lists[0], "acl-none"], "AclNotExist"),
                      ([lists[0], ""], "AclNotExist")):
        refused(code, 400, kit.client.slb, "SetLoadBalancerTCPListenerAttribute", LoadBalancerId=lb, ListenerPort=80,
                AclId=",".join(ids))
    for one in lists[:3]:
        refused("OperationFailed.AclBindedWithVip", 400, kit.client.slb, "DeleteAccessControlList", AclId=one)
    related = kit.client.slb("DescribeAccessControlListAttribute", AclId=lists[1])["RelatedListeners"]["RelatedListener"]
    assert related == [{"LoadBalancerId": lb, "ListenerPort": 80 + number, "Protocol": protocol, "AclType": "white"}
                       for number, protocol in enumerate(("tcp", "udp", "http", "https"))]
    kit.client.slb("AddAccessControlListEntry", AclId=lists[3], AclEntrys=entrys("10.0.0.0/8"))
    kit.client.slb("AddAccessControlListEntry", AclId=lists[0], AclEntrys=entrys("10.0.0.0/8"))
    refused("Duplicated.AclEntry", 400, kit.client.slb, "SetLoadBalancerTCPListenerAttribute", LoadBalancerId=lb,
            ListenerPort=80, AclId=f"{lists[0]},{lists[3]}")


def test_access_list_entries(kit):
    acl = kit.acl()

    def listed(**params):
        answer = kit.client.slb("DescribeAccessControlListAttribute", AclId=acl, **params)
        return answer["TotalAclEntry"], [item["AclEntryIP"] for item in answer["AclEntrys"]["AclEntry"]]

    blocks = [f"10.0.{n}.0/24" for n in range(50)]
    kit.client.slb("AddAccessControlListEntry", AclId=acl, AclEntrys=entrys(*blocks[:12], blocks[0]))  # one twice
    assert listed() == (12, blocks[:10])
    assert listed(Page=2, PageSize=5) == (12, blocks[5:10])
    assert listed(AclEntryComment="10.0.11.") == (1, [blocks[11]])
    item = kit.client.slb("DescribeAccessControlListAttribute", AclId=acl)["AclEntrys"]["AclEntry"][0]
    assert item == {"AclEntryIP": "10.0.0.0/24", "AclEntryComment": "of 10.0.0.0/24"}
    kit.client.slb("RemoveAccessControlListEntry", AclId=acl, AclEntrys=entrys(blocks[3], blocks[20]))
    assert listed() == (11, [*blocks[:3], *blocks[4:11]])
    for action, text, code in (
            ("Add", entrys(blocks[4]), "InvalidParam.AclEntryExists"), ("Remove", entrys(blocks[20]), "AclEntryEmpty"),
            ("Add", entrys("2408::/64"), "IllegalEntry"), ("Add", entrys("10.0.0.1"), "InvalidParameter"),
            ("Add", entrys("10.0.0.0/33"), "InvalidParameter"), ("Add", "[]", "InvalidParameter"),
            ("Add", "{", "InvalidParameter"),
            ("Add", entrys(*(f"10.1.{n}.0/24" for n in range(51))), "SizeLimitExceeded.AclEntrys")):
        refused(code, 400, kit.client.slb, action + "AccessControlListEntry", AclId=acl, AclEntrys=text)
    for n in range(2, 7):
        kit.client.slb("AddAccessControlListEntry", AclId=acl, AclEntrys=entrys(*(f"10.{n}.{i}.0/24" for i in range(50))))
    refused("AclEntryNumberOverLimit", 400, kit.client.slb, "AddAccessControlListEntry", AclId=acl,
            AclEntrys=entrys(*(f"10.9.{i}.0/24" for i in range(40))))
    kit.client.slb("DeleteAccessControlList", AclId=acl)
    refused("AclNotExist", 400, listed)


def test_scheduler_wlc(kit, start):  # noqa: F811
    where = kit.listener(kit.lb(), Scheduler="wlc")
    kit.client.slb("SetLoadBalancerTCPListenerAttribute", Scheduler="rr", **where)
    kit.client.slb("SetLoadBalancerTCPListenerAttribute", Scheduler="wlc", **where)
    refused("InvalidParameter", 400, kit.client.slb, "SetLoadBalancerTCPListenerAttribute", Scheduler="sch", **where)
    strict = kit_of(start("--strict"))
    refused("InvalidScheduler", 400, strict.listener, strict.lb(), Scheduler="wlc")
    refused("InvalidScheduler", 400, strict.client.slb, "SetLoadBalancerHTTPListenerAttribute", Scheduler="wlc",
            **strict.listener(strict.lb(), 80, "HTTP"))


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


# Which code each action gets is in tests/support/wrong_states.py, for test_cloudsim_conformance.py.


def test_busy(start):  # noqa: F811
    kit = kit_of(start("--slb-busy-ms", "600000"))
    lb, other = kit.lb(), kit.lb()
    group = kit.client.slb("CreateVServerGroup", LoadBalancerId=lb)["VServerGroupId"]
    refused("ServiceIsConfiguring", 400, kit.listener, lb)
    kit.client.slb("DescribeVServerGroupAttribute", VServerGroupId=group)  # reads go on
    where = kit.listener(other)  # and so do others
    kit.client.slb("DescribeLoadBalancerTCPListenerAttribute", **where)
    kit.client.slb("SetLoadBalancerName", LoadBalancerId=lb, LoadBalancerName="n")  # a name needs nothing else
    assert kit.control("GET", "state")["loadBalancers"][0]["LoadBalancerName"] == "n"


def test_busy_reads(start):  # noqa: F811
    kit = kit_of(start("--slb-busy-ms", "600000", "--slb-busy-reads"))
    where = kit.listener(kit.lb())
    refused("ServiceIsConfiguring", 400, kit.client.slb, "DescribeLoadBalancerTCPListenerAttribute", **where)
    kit.client.slb("DescribeLoadBalancerListeners", LoadBalancerId=[where["LoadBalancerId"]])


def test_listeners_take_time(start):  # noqa: F811
    kit = kit_of(start("--slb-listener-ms", "200"))
    where = kit.listener(kit.lb())

    def status():
        return kit.client.slb("DescribeLoadBalancerTCPListenerAttribute", **where)["Status"]

    for action, then, at_last, params in (
            ("StartLoadBalancerListener", "starting", "running", {}),
            ("SetLoadBalancerTCPListenerAttribute", "configuring", "running", {"Description": "d"}),
            ("StopLoadBalancerListener", "stopping", "stopped", {})):
        kit.client.slb(action, **where, **params)
        assert status() == then
        wait(lambda at_last=at_last: status() == at_last, at_last)
    kit.client.slb("StartLoadBalancerListener", **where)
    kit.control("POST", "edit", {"op": "limits", "limits": {"slb-listener-ms": 0}})
    assert status() == "running"
    kit.client.slb("DeleteLoadBalancerListener", **where)


def test_open_questions(kit):
    """What no documentation tells is an option; here the other answer of each."""
    def ask(**limits):
        kit.control("POST", "edit", {"op": "limits", "limits": {key.replace("_", "-"): n for key, n in limits.items()}})

    def backends(group):
        got = kit.client.slb("DescribeVServerGroupAttribute", VServerGroupId=group)["BackendServers"]["BackendServer"]
        return [(one["ServerId"], one["Weight"], one["Description"]) for one in got]

    def server(name, weight, description):
        return json.dumps([{"ServerId": name, "Port": 80, "Weight": weight, "Type": "ecs", "Description": description}])

    group = kit.group(BackendServers=server("i-node-1", 1, "d"))
    kit.client.slb("SetVServerGroupAttribute", VServerGroupId=group, BackendServers=server("i-node-1", 2, "set"))
    assert backends(group) == [("i-node-1", 2, "d")]
    ask(slb_set_description=1, slb_add_updates=0)
    kit.client.slb("SetVServerGroupAttribute", VServerGroupId=group, BackendServers=server("i-node-1", 3, "set"))
    assert backends(group) == [("i-node-1", 3, "set")]
    kit.client.slb("AddVServerGroupBackendServers", VServerGroupId=group, BackendServers=server("i-node-1", 9, "add"))
    assert backends(group) == [("i-node-1", 3, "set")]
    ask(slb_add_updates=1)
    kit.client.slb("AddVServerGroupBackendServers", VServerGroupId=group, BackendServers=server("i-node-1", 9, "add"))
    assert backends(group) == [("i-node-1", 9, "add")]

    change = {"VServerGroupId": group, "OldBackendServers": server("i-node-1", 9, "add"),
              "NewBackendServers": server("i-none", 1, "new")}
    ask(slb_modify_atomic=1)
    refused("InvalidServerId.NotExist", 400, kit.client.slb, "ModifyVServerGroupBackendServers", **change)
    assert len(backends(group)) == 1
    ask(slb_modify_atomic=0)
    refused("InvalidServerId.NotExist", 400, kit.client.slb, "ModifyVServerGroupBackendServers", **change)
    assert backends(group) == []  # half of it has happened

    job = kit.client.nlb("CreateServerGroup", ServerGroupName="group", VpcId="vpc-test")["JobId"]
    kit.job(job)
    kit.client.nlb("ListAsynJobs", JobIds=[job] * 20)
    refused("IllegalParamSize.JobIds", 400, kit.client.nlb, "ListAsynJobs", JobIds=[job] * 21)
    ask(nlb_job_ids=30, nlb_job_keep_s=0)
    assert kit.client.nlb("ListAsynJobs", JobIds=[job] * 21)["Jobs"] == []
    refused("ResourceNotFound.JobId", 404, kit.client.nlb, "GetJobStatus", JobId=job)

    first = kit.client.nlb("CreateServerGroup", ServerGroupName="group", VpcId="vpc-test", ClientToken="t")
    assert kit.client.nlb("CreateServerGroup", ServerGroupName="group", VpcId="vpc-test", ClientToken="t")[
        "ServerGroupId"] == first["ServerGroupId"]
    ask(token_life_s=0)
    assert kit.client.nlb("CreateServerGroup", ServerGroupName="group", VpcId="vpc-test", ClientToken="t")[
        "ServerGroupId"] != first["ServerGroupId"]

    table = kit.table()
    kit.client.vpc("CreateRouteEntries", RouteEntries=[entry(kit, table) for _ in range(12)])
    ask(route_page=5)
    assert len(routes(kit, table, MaxResult=500)) == 5


def test_limits_at_run_time(kit):
    kit.control("POST", "edit", {"op": "limits", "limits": {"load-balancers": 1, "listeners": 1}})
    where = kit.listener(kit.lb())
    refused("ORDER.QUANTITY_INVALID", 400, kit.lb)
    refused("ListenerNumberOverLimit", 400, kit.listener, where["LoadBalancerId"], 81)
    for limits in ({"colour": 1}, {"acls": -1}, {"acls": "many"}):
        kit.control("POST", "edit", {"op": "limits", "limits": limits}, status=400)


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


def test_expired_pages_of_routes(kit):
    table = kit.table()
    kit.client.vpc("CreateRouteEntries", RouteEntries=[entry(kit, table) for _ in range(3)])
    params = {"RouteTableId": table, "MaxResult": 1, "RouteEntryType": "Custom"}
    token_of = kit.client.vpc("DescribeRouteEntryList", **params)["NextToken"]
    assert kit.client.vpc("DescribeRouteEntryList", NextToken=token_of, **params)["NextToken"]
    kit.control("POST", "edit", {"op": "expire-pages"})
    refused("IllegalParam.NextTokenExpired", 400, kit.client.vpc, "DescribeRouteEntryList", NextToken=token_of, **params)
    for bad in ("0", "x.1", "0.x", "0.0"):
        refused("IllegalParam.NextToken", 400, kit.client.vpc, "DescribeRouteEntryList", NextToken=bad, **params)


def test_routes_of_others(kit):
    """Entries that somebody else put into the table, with next hops that this cloud has nothing of."""
    def put(**members):
        kit.control("POST", "edit", {"op": "create", "type": "route", "route_table": "vtb-system", **members})

    put(id="rte-vpn", destination="192.168.0.0/16", next_hop_type="VpnGateway", next_hop="vpn-1")
    put(destination="192.168.77.1", next_hop_type="Attachment", next_hop="tr-1", attributes={"Type": "CEN"})
    put(id="rte-managed", destination="172.31.1.0/24", next_hop_type="Instance", next_hop="i-node-1",
        attributes={"Managed": "true", "Status": "Modifying"})
    vpn, managed = routes(kit, "vtb-system")
    assert (vpn["RouteEntryId"], vpn["NextHops"]["NextHop"][0]["NextHopType"]) == ("rte-vpn", "VpnGateway")
    assert managed["Status"] == "Modifying"
    cen, = routes(kit, "vtb-system", RouteEntryType="CEN")
    assert cen["DestinationCidrBlock"] == "192.168.77.1/32"
    assert routes(kit, "vtb-system", NextHopType="Instance") == [managed]
    answer = kit.client.vpc("DeleteRouteEntries", RouteEntries=[
        {"RouteTableId": "vtb-system", "RouteEntryId": "rte-managed", "DstCidrBlock": "172.31.1.0/24", "NextHop": "i-node-1"},
        {"RouteTableId": "vtb-system", "DstCidrBlock": "192.168.0.0/16", "NextHop": "vpn-1"}])
    assert (answer["SuccessCount"], answer["FailedCount"]) == (1, 1)
    assert answer["FailedRouteEntries"][0]["FailedCode"] == "OperationDenied.DeleteManagedRouteEntry"
    kit.control("POST", "edit", {"op": "create", "type": "route", "route_table": "vtb-none", "destination": "1.2.3.0/24"},
                status=404)


# ---- lists of machines and addresses


def test_filters_of_instances(kit):
    def found(**params):
        got = kit.client.ecs("DescribeInstances", MaxResults=100, **params)["Instances"]["Instance"]
        return {one["InstanceId"] for one in got}

    def update(kind, name, **attributes):
        kit.control("POST", "edit", {"op": "update", "type": kind, "id": name, "attributes": attributes})

    everything = found()
    update("instance", "i-node-1", CreationTime="2026-03-01T00:00Z", HttpTokens="required", IoOptimized="false",
           LockReason="financial", InstanceName="web-1", DeviceAvailable="false")
    assert found(Filter=[{"Key": "CreationStartTime", "Value": "2026-02-01T00:00Z"}]) == {"i-node-1"}
    assert found(Filter=[{"Key": "CreationEndTime", "Value": "2026-02-01T00:00Z"}]) == everything - {"i-node-1"}
    assert found(Filter=[{"Key": "CreationStartTime", "Value": "2026-01-15T00:00Z"},
                         {"Key": "CreationEndTime", "Value": "2026-02-01T00:00:00Z"}]) == set()
    assert found(Filter=[{"Key": "ExpiredEndTime", "Value": "2030-01-01T00:00Z"}]) == set()
    refused("InvalidFilterKey.NotFound", 400, found, Filter=[{"Key": "Colour", "Value": "red"}])
    refused("InvalidFilterValue", 400, found, Filter=[{"Key": "CreationStartTime", "Value": "soon"}])
    for name, value in (("HttpTokens", "required"), ("IoOptimized", "false"), ("LockReason", "financial"),
                        ("InstanceName", "web-*"), ("DeviceAvailable", "false")):
        assert found(**{name: value}) == {"i-node-1"}, name
    locks = kit.client.ecs("DescribeInstances", InstanceIds='["i-node-1"]')["Instances"]["Instance"][0]["OperationLocks"]
    assert locks == {"LockReason": [{"LockReason": "financial"}]}
    eip = kit.client.vpc("AllocateEipAddress")
    update("eip", eip["AllocationId"], Status="InUse", InstanceId="i-node-2", InstanceType="EcsInstance")
    assert found(EipAddresses=json.dumps([eip["EipAddress"]])) == {"i-node-2"}
    shown = kit.client.ecs("DescribeInstances", InstanceIds='["i-node-2"]')["Instances"]["Instance"][0]["EipAddress"]
    assert (shown["AllocationId"], shown["IpAddress"]) == (eip["AllocationId"], eip["EipAddress"])
    kit.control("POST", "instances", {"enis": [{"id": "eni-six", "instance": "i-node-3", "ip": "10.1.9.9",
                                                "ipv6": ["2408::9"]}]})
    assert found(Ipv6Address=["2408::9"]) == {"i-node-3"}


def test_interfaces_of_an_instance(kit):
    def of(name):
        got = kit.client.ecs("DescribeInstances", InstanceIds=json.dumps([name]))["Instances"]["Instance"][0]
        return [one["NetworkInterfaceId"] for one in got["NetworkInterfaces"]["NetworkInterface"]]

    assert of("i-node-1") == ["eni-i-node-1", "eni-pods-1"]
    kit.control("POST", "edit", {"op": "update", "type": "eni", "id": "eni-pods-1", "attributes": {"InstanceId": "i-node-2"}})
    assert (of("i-node-1"), of("i-node-2")) == (["eni-i-node-1"], ["eni-i-node-2", "eni-pods-2", "eni-pods-1"])
    kit.control("POST", "edit", {"op": "delete", "type": "eni", "id": "eni-pods-2"})
    assert of("i-node-2") == ["eni-i-node-2", "eni-pods-1"]
    kit.control("POST", "edit", {"op": "delete", "type": "instance", "id": "i-node-2"})
    left = kit.client.ecs("DescribeNetworkInterfaces", MaxResults=100)["NetworkInterfaceSets"]["NetworkInterfaceSet"]
    assert not {"eni-i-node-2", "eni-pods-1"} & {one["NetworkInterfaceId"] for one in left}


def test_tag_filters(kit):
    for name, value in (("i-node-1", "a"), ("i-node-2", "b"), ("i-node-3", "c")):
        kit.client.ecs("TagResources", ResourceType="instance", ResourceId=[name], Tag=[{"Key": "k", "Value": value}])
    kit.client.ecs("TagResources", ResourceType="instance", ResourceId=["i-node-1"], Tag=[{"Key": "other", "Value": "x"}])

    def found(*filters):
        got = kit.client.ecs("ListTagResources", ResourceType="instance",
                             TagFilter=[{"TagKey": key, "TagValues": list(values)} for key, *values in filters])
        return sorted({one["ResourceId"] for one in got["TagResources"]["TagResource"]})

    assert found(("k",)) == ["i-node-1", "i-node-2", "i-node-3"]
    assert found(("k", "a", "c")) == ["i-node-1", "i-node-3"]
    assert found(("k", "no", "no", "no", "no", "b")) == ["i-node-2"]
    assert found(("k", "a", "b"), ("other", "x")) == ["i-node-1"]
    assert found(("k", "no")) == []


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


def throttled(sim, action, **params):  # noqa: F811
    """Code, message and hints of a call that is refused."""
    flat = dict(params, RegionId="cn-hangzhou")
    query, body, headers = sim.client.sign_v3("2014-05-15" if action != "ListServerGroups" else "2022-04-30", action, flat,
                                              in_body=False)
    connection = http.client.HTTPConnection(sim.address, timeout=30)
    connection.request("POST", "/?" + query, body, headers)
    answer = connection.getresponse()
    data = json.loads(answer.read())
    connection.close()
    return answer.status, data["Code"], data["Message"], dict(answer.getheaders())


def test_rate_hints(start, tmp_path):  # noqa: F811
    path = tmp_path / "quota.json"
    path.write_text(json.dumps({"rates": {"slb.DescribeRegions": {"count": 1, "period_s": 3600}}}))
    sim = start("--quota", path)  # noqa: F811
    sim.client.slb("DescribeRegions")
    status, code, _, headers = throttled(sim, "DescribeRegions")
    assert (status, code) == (400, "Throttling.User")
    limits = dict(item.split(":") for item in headers["x-ratelimit-user-api"].split(","))
    assert limits["Limit"] == "1" and limits["Remain"] == "0" and limits["TimeFrame"] == "3600"
    assert 3000000 < int(limits["TimeLeft"]) <= 3600000
    assert 3000 < int(headers["x-acs-retry-after"]) <= 3600
    path.write_text(json.dumps({"hints": False, "rates": {"slb.DescribeRegions": {"count": 1}}}))
    sim = start("--quota", path)  # noqa: F811
    sim.client.slb("DescribeRegions")
    assert not [name for name in throttled(sim, "DescribeRegions")[3] if "retry" in name or "ratelimit" in name]


def test_kinds_of_rates(start, tmp_path):  # noqa: F811
    accounts = tmp_path / "fixtures.json"
    accounts.write_text(json.dumps({"region": "cn-hangzhou", "accounts": [
        {"id": "other", "secret": "s", "account": "2"}]}))
    path = tmp_path / "quota.json"
    path.write_text(json.dumps({
        "rates": {"nlb.ListServerGroups": {"count": 1}, "*": {"count": 0}},
        "api": {"slb.DescribeZ*": {"count": 2}}, "account": {"slb": {"count": 4}}}))
    sim = start("--quota", path, "--fixtures", accounts)  # noqa: F811
    sim.client.nlb("ListServerGroups")
    assert throttled(sim, "ListServerGroups")[:3] == (400, "Throttling.User",
                                                      "Request was denied due to api flow control.")
    other = Client(sim.address, "other", "s")
    other.slb("DescribeZones")
    sim.client.slb("DescribeZones")
    assert throttled(sim, "DescribeZones")[:3] == (400, "Throttling.Api", "Request was denied due to api flow control.")
    for _ in range(3):  # with the one above: what is refused does not count
        sim.client.slb("DescribeRegions")
    status, code, message, headers = throttled(sim, "DescribeRegions")
    assert (status, code, message) == (400, "Throttling", "Request was denied due to request throttling.")
    assert "x-ratelimit-user" in headers
    other.slb("DescribeRegions")


def test_calls_at_the_same_time(start, tmp_path):  # noqa: F811
    path = tmp_path / "quota.json"
    path.write_text(json.dumps({"rates": {"*": {"count": 0}}, "concurrent": {"slb.DescribeZ*": 2}}))
    sim = start("--quota", path)  # noqa: F811
    sim.fault({"action": "DescribeZones"}, {"delay_ms": 60000}, count=2)
    waiting = [http.client.HTTPConnection(sim.address, timeout=60) for _ in range(2)]
    for connection in waiting:
        query, body, headers = sim.client.sign_v3("2014-05-15", "DescribeZones", {"RegionId": "cn-hangzhou"}, in_body=False)
        connection.request("POST", "/?" + query, body, headers)
    wait(lambda: sum(fault["hits"] for fault in sim.control("GET", "faults")["faults"]) == 2, "two calls under way")
    assert throttled(sim, "DescribeZones")[1] == "Throttling.ConcurrentLimitExceeded"
    sim.client.slb("DescribeRegions")
    for connection in waiting:
        connection.close()


@pytest.mark.parametrize("text", ["{", "[]", '{"rate": 1}', '{"rates": {"slb.X": {"period_s": 1}}}', '{"scale": 0}'])
def test_bad_quota_file(tmp_path, text):
    path = tmp_path / "quota.json"
    path.write_text(text)
    code, _, err = run([BINARY, "--listen", "127.0.0.1:0", "--quota", path])
    assert code == 1 and "quota.json" in err
