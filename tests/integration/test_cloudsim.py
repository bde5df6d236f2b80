"""cloudsim on its own terms: signatures, validation, rules of the services, faults, control."""

import contextlib
import http.client
import json
import os
import subprocess
import threading

import pytest

from tests.support.acs import Client, CloudError, now
from tests.support.proc import Process, run
from tests.support.world import wait

BUILD = os.environ.get("CCM_BUILD_DIR", "build/release")
BINARY = os.path.join(BUILD, "bin", "cloudsim")


class Sim:
    def __init__(self, folder, *args):
        self.process = Process([BINARY, "--listen", "127.0.0.1:0", *args], os.path.join(str(folder), "cloudsim"))
        self.address = self.process.wait_listening()
        self.client = Client(self.address)

    def control(self, method, path, body=None, status=200):
        answer, text = self.client.http.answer(method, "/_sim/" + path, None if body is None else json.dumps(body))
        data = json.loads(text)
        assert answer.status == status, data
        return data

    def get(self, path, headers=None, method="GET"):
        connection = http.client.HTTPConnection(self.address, timeout=30)
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def state(self):
        return self.control("GET", "state")

    def lbs(self):
        return self.state()["loadBalancers"]

    def calls(self, since=0):
        return self.control("GET", f"calls?since={since}")["calls"]

    def fault(self, match, effect, **more):
        self.control("POST", "faults", {"match": match, "effect": effect, **more})

    def lb(self, **params):
        params = {"InstanceChargeType": "PayByCLCU", **params}
        return self.client.slb("CreateLoadBalancer", **params)["LoadBalancerId"]

    def group(self, lb, **params):
        return self.client.slb("CreateVServerGroup", LoadBalancerId=lb, **params)["VServerGroupId"]

    def listener(self, lb, port=80, protocol="TCP", **params):
        params = {"Bandwidth": -1, **params}
        if "VServerGroupId" not in params:
            params.setdefault("BackendServerPort", 8080)
        self.client.slb(f"CreateLoadBalancer{protocol}Listener", LoadBalancerId=lb, ListenerPort=port, **params)


@pytest.fixture
def sim(tmp_path):
    sim = Sim(tmp_path)
    yield sim
    sim.process.stop()


@pytest.fixture
def start(tmp_path):
    started = []

    def starter(*args):
        started.append(Sim(tmp_path / str(len(started)), *args))
        return started[-1]

    yield starter
    for sim in started:
        sim.process.stop()


def refused(code, status, function, *args, **params):
    with pytest.raises(CloudError) as error:
        function(*args, **params)
    assert (error.value.code, error.value.http) == (code, status), error.value
    return error.value


def backends(*items):
    return json.dumps([dict(zip(("ServerId", "Port", "Weight", "Type", "ServerIp"), item)) for item in items])


# ---- command line


@pytest.mark.parametrize("args", [
    [],
    ["--listen", "127.0.0.1:0", "--no-such-option"],
    ["--listen", "127.0.0.1:0", "extra"],
    ["--listen", "127.0.0.1:0", "--latency-ms", "many"],
    ["--listen", "127.0.0.1:0", "--access-key", "no-colon"],
    ["--listen", "127.0.0.1:0", "--limit", "unknown=1"],
    ["--listen", "127.0.0.1:0", "--limit", "listeners=x"],
])
def test_usage_errors(args):
    code, out, err = run([BINARY, *args])
    assert (code, out) == (2, "") and err


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "8.8.8.8:1", "127.0.0.1", "localhost:80", "127.0.0.1:70000"])
def test_only_loopback(listen):
    code, _, err = run([BINARY, "--listen", listen])
    assert code == 1 and "loopback" in err


def test_port_taken(sim):
    code, _, err = run([BINARY, "--listen", sim.address])
    assert code == 1 and "in use" in err


@pytest.mark.parametrize("text, word", [
    ("{", "not JSON"),
    ("[]", "object"),
    ('{"regions": []}', "regions"),
    ('{"vswitches": [{"id": "v", "vpc": "absent", "cidr": "10.0.0.0/24"}]}', "vpc does not exist"),
    ('{"vpcs": [{"id": "v", "cidr": "10.0.0.1/24"}]}', "no network"),
    ('{"vpcs": [{"id": "v", "cidr": "10.0.0.0/24", "color": "red"}]}', "color"),
])
def test_bad_fixtures(tmp_path, text, word):
    path = tmp_path / "fixtures.json"
    path.write_text(text)
    code, _, err = run([BINARY, "--listen", "127.0.0.1:0", "--fixtures", path])
    assert code == 1 and word in err and "fixtures.json" in err


def test_fixtures(start, tmp_path):
    path = tmp_path / "fixtures.json"
    path.write_text(json.dumps({
        "region": "cn-test",
        "vpcs": [{"id": "vpc-1", "cidr": "192.168.0.0/16", "secondary": ["172.16.0.0/12"], "ipv6": "2408::/56"}],
        "vswitches": [{"id": "vsw-1", "vpc": "vpc-1", "zone": "cn-test-a", "cidr": "192.168.1.0/24", "available": 1}],
        "accounts": [{"id": "second", "secret": "s2"},
                     {"id": "STS.t", "secret": "s3", "token": "tok", "expires_in_s": 600}],
    }))
    sim = start("--fixtures", path)
    client = Client(sim.address, "second", "s2", region="cn-test")
    answer = client.vpc("DescribeVpcAttribute", VpcId="vpc-1")
    assert answer["CidrBlock"] == "192.168.0.0/16"
    assert answer["SecondaryCidrBlocks"] == {"SecondaryCidrBlock": ["172.16.0.0/12"]}
    assert answer["Ipv6CidrBlocks"]["Ipv6CidrBlock"][0]["Ipv6CidrBlock"] == "2408::/56"
    assert answer["VSwitchIds"] == {"VSwitchId": ["vsw-1"]}
    Client(sim.address, "STS.t", "s3", token="tok", region="cn-test").vpc("DescribeVpcAttribute", VpcId="vpc-1")
    refused("InvalidRegionId.NotFound", 404, Client(sim.address).vpc, "DescribeVpcAttribute", VpcId="vpc-1")

    sim.client = client
    sim.lb(AddressType="intranet", VSwitchId="vsw-1")
    refused("VSwitchAvailableIpNotExist", 400, sim.lb, AddressType="intranet", VSwitchId="vsw-1")


# ---- frame


@pytest.mark.parametrize("style", ["v3", "v3-body", "v1", "v1-body"])
@pytest.mark.parametrize("value", ["", "a b+c*~/&=%", "Zoë 团队", "[{\"a\":1}]"])
def test_signatures_and_awkward_values(sim, style, value):
    sim.client.style = style
    lb = sim.lb(Tag=[{"Key": "k 1", "Value": value}])
    answer = sim.client.slb("DescribeLoadBalancers", LoadBalancerId=lb, Tag=[{"Key": "k 1", "Value": value}])
    assert answer["LoadBalancers"]["LoadBalancer"][0]["Tags"] == {"Tag": [{"TagKey": "k 1", "TagValue": value}]}


@pytest.mark.parametrize("style", ["v3", "v1"])
def test_refused_signatures(sim, style):
    def client(**what):
        made = Client(sim.address, style=style)
        for name, value in what.items():
            setattr(made, name, value)
        return made.slb

    minute = 60
    late = 16 if style == "v3" else 32
    fine = 14 if style == "v3" else 30
    refused("SignatureDoesNotMatch", 400, client(secret="wrong"), "DescribeLoadBalancers")
    refused("InvalidAccessKeyId.NotFound", 404, client(key="unknown"), "DescribeLoadBalancers")
    refused("InvalidTimeStamp.Expired", 400, client(clock_offset=-late * minute), "DescribeLoadBalancers")
    refused("InvalidTimeStamp.Expired", 400, client(clock_offset=late * minute), "DescribeLoadBalancers")
    client(clock_offset=-fine * minute)("DescribeLoadBalancers")
    client(clock_offset=fine * minute)("DescribeLoadBalancers")
    refused("InvalidSecurityToken.MismatchWithAccessKey", 400, client(token="x"), "DescribeLoadBalancers")
    client(nonce="once")("DescribeLoadBalancers")
    refused("SignatureNonceUsed", 400, client(nonce="once"), "DescribeLoadBalancers")


def test_access_key_option(start):
    sim = start("--access-key", "own:key:with:colons")
    Client(sim.address, "own", "key:with:colons").slb("DescribeLoadBalancers")
    refused("InvalidAccessKeyId.NotFound", 404, sim.client.slb, "DescribeLoadBalancers")


def test_unsigned(sim):
    version = "2014-05-15"
    send = sim.client.send
    assert refused("MissingAccessKeyId", 400, send, "POST", f"/?Action=DescribeLoadBalancers&Version={version}")
    refused("MissingAction", 400, send, "POST", "/")
    refused("MissingVersion", 400, send, "POST", "/?Action=DescribeLoadBalancers")
    refused("NoSuchVersion", 400, send, "POST", "/?Action=DescribeLoadBalancers&Version=2014-05-16")
    refused("InvalidAction.NotFound", 404, send, "POST", f"/?Action=DescribeNothing&Version={version}")
    refused("UnsupportedHTTPMethod", 400, send, "PUT", f"/?Action=DescribeLoadBalancers&Version={version}")
    refused("InvalidAction.NotFound", 404, send, "POST", "/elsewhere")


def test_error_envelope(sim):
    error = refused("InvalidLoadBalancerId.NotFound", 404, sim.client.slb, "DeleteLoadBalancer", LoadBalancerId="lb-x")
    assert set(error.body) == {"RequestId", "HostId", "Code", "Message", "Recommend"}
    assert error.body["HostId"] == sim.address
    assert error.body["RequestId"] in error.body["Recommend"]
    again = refused("InvalidLoadBalancerId.NotFound", 404, sim.client.slb, "DeleteLoadBalancer", LoadBalancerId="lb-x")
    assert again.body["RequestId"] != error.body["RequestId"]


@pytest.mark.parametrize("path", ["/?a=%", "/?a=%zz", "/%", "/?a=%00"])
def test_malformed_requests(sim, path):
    assert sim.get(path, method="POST")[0] == 400
    assert sim.control("GET", "calls")["calls"] == []


def test_huge_body(sim):
    connection = http.client.HTTPConnection(sim.address, timeout=30)
    connection.request("POST", "/", b"a" * (9 * 1024 * 1024))
    assert connection.getresponse().status == 413
    sim.client.slb("DescribeLoadBalancers")


@pytest.mark.parametrize("params, code", [
    ({}, "MissingLoadBalancerId"),
    ({"LoadBalancerId": "lb", "Bandwidth": -1}, "MissingListenerPort"),
    ({"LoadBalancerId": "lb", "ListenerPort": 80}, "MissingBandwidth"),
    ({"LoadBalancerId": "lb", "ListenerPort": 0, "Bandwidth": -1}, "InvalidParam.ListenerPort"),
    ({"LoadBalancerId": "lb", "ListenerPort": 65536, "Bandwidth": -1}, "InvalidParam.ListenerPort"),
    ({"LoadBalancerId": "lb", "ListenerPort": "80x", "Bandwidth": -1}, "InvalidParam.ListenerPort"),
    ({"LoadBalancerId": "lb", "ListenerPort": 80, "Bandwidth": 5121}, "InvalidBandwidth"),
    ({"LoadBalancerId": "lb", "ListenerPort": 80, "Bandwidth": -1, "Scheduler": "qch"}, "InvalidScheduler"),
    ({"LoadBalancerId": "lb", "ListenerPort": 80, "Bandwidth": -1, "EstablishedTimeout": 9},
     "InvalidEstablishedTimeout"),
    ({"LoadBalancerId": "lb", "ListenerPort": 80, "Bandwidth": -1, "Description": "x" * 257}, "InvalidDescription"),
    ({"LoadBalancerId": "lb", "ListenerPort": 80, "Bandwidth": -1, "HealthCheckInterval": 5},
     "InvalidHealthCheckInterval"),  # this action spells it with a small first letter
    ({"LoadBalancerId": "lb", "ListenerPort": 80, "Bandwidth": -1, "Colour": "red"}, "InvalidColour"),
    ({"LoadBalancerId": "lb", "ListenerPort": 80, "Bandwidth": -1, "Tag.0.Key": "a"}, "InvalidTag0Key"),
    ({"LoadBalancerId": "lb", "ListenerPort": 80, "Bandwidth": -1, "Tag.21.Key": "a"}, "SizeLimitExceeded.Tag"),
    ({"LoadBalancerId": "lb", "ListenerPort": 80, "Bandwidth": -1, "Tag.1.Key": "a" * 65}, "InvalidParam.TagKey"),
])
def test_parameter_tables(sim, params, code):
    refused(code, 400, sim.client.slb, "CreateLoadBalancerTCPListener", **params)


def test_missing_region(sim):
    sim.client.region = None
    refused("MissingRegionId", 400, sim.client.slb, "DescribeLoadBalancers")


# ---- load balancers


def test_internet_lb(sim):
    lb = sim.lb(LoadBalancerName="web", DeleteProtection="on", Tag=[{"Key": "a", "Value": "b"}])
    answer = sim.client.slb("DescribeLoadBalancerAttribute", LoadBalancerId=lb)
    assert answer["LoadBalancerName"] == "web" and answer["AddressType"] == "internet"
    assert answer["LoadBalancerStatus"] == "active" and answer["InternetChargeType"] == "paybytraffic"
    assert answer["Tags"] == {"Tag": [{"TagKey": "a", "TagValue": "b"}]}
    for name in ("ListenerPorts", "ListenerPortsAndProtocal", "ListenerPortsAndProtocol", "BackendServers",
                 "CreateTime", "CreateTimeStamp", "RegionIdAlias", "VpcId", "PayType", "EndTimeStamp"):
        assert name in answer


def test_intranet_lb(sim):
    before = {v["VSwitchId"]: v["AvailableIpAddressCount"] for v in sim.state()["vSwitches"]}
    answer = sim.client.slb("CreateLoadBalancer", AddressType="intranet", VpcId="vpc-test", VSwitchId="vsw-b",
                            InstanceChargeType="PayByCLCU")
    assert answer["Address"].startswith("10.2.") and answer["VpcId"] == "vpc-test" and answer["NetworkType"] == "vpc"
    switches = sim.client.vpc("DescribeVSwitches", VSwitchId="vsw-b")["VSwitches"]["VSwitch"]
    assert [v["AvailableIpAddressCount"] for v in switches] == [before["vsw-b"] - 1]
    sim.client.slb("DeleteLoadBalancer", LoadBalancerId=answer["LoadBalancerId"])
    assert {v["VSwitchId"]: v["AvailableIpAddressCount"] for v in sim.state()["vSwitches"]} == before


@pytest.mark.parametrize("params, code", [
    ({"AddressType": "intranet"}, "MissingParam.VSwitchId"),
    ({"AddressType": "intranet", "VSwitchId": "vsw-x"}, "VSwitchNotExist"),
    ({"AddressType": "intranet", "VSwitchId": "vsw-a", "VpcId": "vpc-x"}, "InvalidVpcId.NotExist"),
    ({"AddressType": "intranet", "VSwitchId": "vsw-a", "AddressIPVersion": "ipv6"}, "InvalidParameter.Mismatch"),
    ({"AddressType": "intranet", "VSwitchId": "vsw-a", "Address": "10.2.0.1"}, "InvalidParameter"),
    ({"AddressType": "intranet", "VSwitchId": "vsw-a", "Address": "10.1.0.11"}, "AssociateIpFail"),
    ({"InstanceChargeType": "PayBySpec"}, "ShareSlbHaltSales"),
    ({"InstanceChargeType": "PayMe"}, "IllegalParam.InstanceChargeType"),
    ({"InternetChargeType": "paybybandwidth"}, "InvalidParameter.Bandwidth"),
    ({"DeleteProtection": "yes"}, "InvalidDeleteProtection"),
    ({"Tag": [{"Key": "a"}, {"Key": "a"}]}, "Duplicate.TagKey"),
    ({"Tag": [{"Value": "a"}]}, "MissingParam.TagKey"),
])
def test_lb_refused(sim, params, code):
    refused(code, 400, sim.lb, **params)
    assert sim.lbs() == []


def test_lb_quota(start):
    sim = start("--limit", "load-balancers=1")
    sim.lb()
    refused("ORDER.QUANTITY_INVALID", 400, sim.lb)


def test_client_token(sim):
    first = sim.client.slb("CreateLoadBalancer", ClientToken="t", LoadBalancerName="a", InstanceChargeType="PayByCLCU")
    again = sim.client.slb("CreateLoadBalancer", ClientToken="t", LoadBalancerName="a", InstanceChargeType="PayByCLCU")
    assert {**first, "RequestId": 0} == {**again, "RequestId": 0} and first["RequestId"] != again["RequestId"]
    refused("LX_REQUEST_TOKEN_CONFLICT", 400, sim.lb, ClientToken="t", LoadBalancerName="b")
    assert sim.lb(ClientToken="u", LoadBalancerName="a") != first["LoadBalancerId"]
    assert len(sim.lbs()) == 2


def test_client_token_of_a_failed_call_is_free(sim):
    refused("ShareSlbHaltSales", 400, sim.lb, ClientToken="t", InstanceChargeType="PayBySpec")
    sim.lb(ClientToken="t")


def test_protection(sim):
    lb = sim.lb(DeleteProtection="on", ModificationProtectionStatus="ConsoleProtection",
                ModificationProtectionReason="managed.by.ack")
    refused("OperationDenied.DeleteProtectionIsOn", 400, sim.client.slb, "DeleteLoadBalancer", LoadBalancerId=lb)
    sim.client.slb("SetLoadBalancerDeleteProtection", LoadBalancerId=lb, DeleteProtection="off")
    sim.client.slb("SetLoadBalancerModificationProtection", LoadBalancerId=lb,
                   ModificationProtectionStatus="NonProtection")
    answer = sim.client.slb("DescribeLoadBalancerAttribute", LoadBalancerId=lb)
    assert answer["ModificationProtectionStatus"] == "NonProtection" and answer["ModificationProtectionReason"] == ""
    sim.client.slb("DeleteLoadBalancer", LoadBalancerId=lb)
    refused("InvalidLoadBalancerId.NotFound", 404, sim.client.slb, "DeleteLoadBalancer", LoadBalancerId=lb)
    assert sim.lbs() == []


def test_describe_filters_and_pages(sim):
    lbs = [sim.lb(LoadBalancerName=f"n{i}", Tag=[{"Key": "all", "Value": "1"}, {"Key": "i", "Value": str(i)}])
           for i in range(5)]

    def ids(**params):
        answer = sim.client.slb("DescribeLoadBalancers", **params)
        found = [lb["LoadBalancerId"] for lb in answer["LoadBalancers"]["LoadBalancer"]]
        return found, answer["TotalCount"]

    assert ids() == (lbs, 5)
    assert ids(PageNumber=2, PageSize=2) == (lbs[2:4], 5)
    assert ids(PageNumber=9, PageSize=2) == ([], 5)
    assert ids(LoadBalancerId=f"{lbs[1]},{lbs[3]},lb-x") == ([lbs[1], lbs[3]], 2)
    assert ids(LoadBalancerName="n4") == ([lbs[4]], 1)
    assert ids(Tags='[{"tagKey":"all","TagValue":"1"},{"TagKey":"i","TagValue":"2"}]') == ([lbs[2]], 1)
    assert ids(Tag=[{"Key": "all"}, {"Key": "i", "Value": "3"}]) == ([lbs[3]], 1)
    assert ids(Tags='[{"TagKey":"all","TagValue":"2"}]') == ([], 0)
    assert ids(AddressType="intranet") == ([], 0)
    refused("InvalidTag", 400, ids, Tags="{")
    refused("InvalidPageSize", 400, ids, PageNumber=1, PageSize=101)
    refused("MissingPageNumber", 400, ids, PageSize=10)
    refused("InvalidParameter", 400, ids, LoadBalancerId=",".join(f"lb-{i}" for i in range(11)))


def test_lists_by_tags_may_lag(sim):
    """What is new is not in a list by tags, but is read by id and listed by name."""
    tag = [{"Key": "a", "Value": "1"}]
    old = sim.lb(Tag=tag)
    sim.control("POST", "edit", {"op": "limits", "limits": {"tag-lag-ms": 3600000}})
    new = sim.lb(LoadBalancerName="new", Tag=tag)

    def listed(**params):
        return [lb["LoadBalancerId"] for lb in sim.client.slb("DescribeLoadBalancers", **params)["LoadBalancers"]["LoadBalancer"]]

    def tagged():
        found = sim.client.slb("ListTagResources", ResourceType="instance", Tag=tag)["TagResources"]["TagResource"]
        return [item["ResourceId"] for item in found]

    assert (listed(Tag=tag), tagged()) == ([], []), "the lag is of all that is younger"
    assert listed(LoadBalancerName="new") == listed(LoadBalancerId=new) == [new]
    answer = sim.client.slb("DescribeLoadBalancerAttribute", LoadBalancerId=new)
    assert answer["Tags"]["Tag"] == [{"TagKey": "a", "TagValue": "1"}]
    sim.control("POST", "edit", {"op": "limits", "limits": {"tag-lag-ms": 0}})
    assert (listed(Tag=tag), tagged()) == ([old, new], [old, new])


def test_specs(sim):
    by_spec = sim.lb(InstanceChargeType="PayBySpec", LoadBalancerSpec="slb.s1.small")
    sim.client.slb("ModifyLoadBalancerInstanceSpec", LoadBalancerId=by_spec, LoadBalancerSpec="slb.s2.small")
    sim.client.slb("ModifyLoadBalancerInternetSpec", LoadBalancerId=by_spec, InternetChargeType="paybybandwidth",
                   Bandwidth=10)
    answer = sim.client.slb("DescribeLoadBalancerAttribute", LoadBalancerId=by_spec)
    assert (answer["LoadBalancerSpec"], answer["InternetChargeType"], answer["Bandwidth"]) == (
        "slb.s2.small", "paybybandwidth", 10)
    sim.client.slb("ModifyLoadBalancerInternetSpec", LoadBalancerId=by_spec, InternetChargeType="paybytraffic", Bandwidth=20)

    def charged():
        answer = sim.client.slb("DescribeLoadBalancerAttribute", LoadBalancerId=by_spec)
        return answer["InternetChargeType"], answer["Bandwidth"]

    assert charged() == ("paybybandwidth", 10)  # that way it counts from the next day on
    sim.control("POST", "edit", {"op": "next-day"})
    assert charged() == ("paybytraffic", 20)
    sim.client.slb("ModifyLoadBalancerInstanceChargeType", LoadBalancerId=by_spec, InstanceChargeType="PayByCLCU")
    refused("OperationDenied.PayByCLCU", 400, sim.client.slb, "ModifyLoadBalancerInstanceSpec",
            LoadBalancerId=by_spec, LoadBalancerSpec="slb.s1.small")
    refused("Forbidden.LcuToSpec", 400, sim.client.slb, "ModifyLoadBalancerInstanceChargeType",
            LoadBalancerId=by_spec, InstanceChargeType="PayBySpec", LoadBalancerSpec="slb.s1.small")


def test_tags(sim):
    lb = sim.lb()
    group = sim.group(lb, Tag=[{"Key": "g", "Value": "1"}])
    sim.listener(lb)

    def listed(**params):
        answer = sim.client.slb("ListTagResources", **params)
        return {(t["ResourceId"], t["TagKey"], t["TagValue"]) for t in answer["TagResources"]["TagResource"]}

    tags = [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": ""}]
    sim.client.slb("TagResources", ResourceType="instance", ResourceId=[lb], Tag=tags)
    sim.client.slb("TagResources", ResourceType="listener", ResourceId=[f"{lb}_tcp_80"], Tag=tags[:1])
    assert listed(ResourceType="instance", ResourceId=[lb]) == {(lb, "a", "1"), (lb, "b", "")}
    assert listed(ResourceType="listener", Tag=tags[:1]) == {(f"{lb}_tcp_80", "a", "1")}
    assert listed(ResourceType="vservergroup", Tag=[{"Key": "g"}]) == {(group, "g", "1")}
    sim.client.slb("UntagResources", ResourceType="instance", ResourceId=[lb], TagKey=["a", "absent"])
    assert listed(ResourceType="instance", ResourceId=[lb]) == {(lb, "b", "")}
    refused("MissingParam.TagOrResourceId", 400, listed, ResourceType="instance")
    refused("ResourceNotExist", 400, sim.client.slb, "TagResources", ResourceType="instance", ResourceId=[lb, "lb-x"],
            Tag=tags)
    refused("InvalidParam.ResourceType", 400, listed, ResourceType="thing", ResourceId=[lb])
    many = [{"Key": f"t{i}"} for i in range(20)]
    refused("QuotaLimitExceeds", 400, sim.client.slb, "TagResources", ResourceType="instance", ResourceId=[lb],
            Tag=many)


# ---- listeners


def test_listener_life(sim):
    lb = sim.lb()
    group = sim.group(lb)
    where = {"LoadBalancerId": lb, "ListenerPort": 80}
    sim.listener(lb, VServerGroupId=group, Scheduler="rr", healthCheckInterval=7, Description="d")
    listeners = sim.client.slb("DescribeLoadBalancerListeners", **{"LoadBalancerId.1": lb})["Listeners"]
    assert [(item["Status"], item["Scheduler"], item["VServerGroupId"], item["Description"]) for item in listeners] == [
        ("stopped", "rr", group, "d")]
    assert listeners[0]["TCPListenerConfig"]["HealthCheckInterval"] == 7
    assert listeners[0]["TCPListenerConfig"]["ProxyProtocolV2Enabled"] == "false"
    sim.client.slb("StartLoadBalancerListener", **where)
    refused("Operation.NotAllowed", 400, sim.client.slb, "StartLoadBalancerListener", **where)
    assert sim.lbs()[0]["Listeners"][0]["Status"] == "running"
    sim.client.slb("SetLoadBalancerTCPListenerAttribute", **where, Scheduler="wrr", HealthCheckInterval=9,
                   Description="e", VServerGroup="on", VServerGroupId=group)
    listener = sim.lbs()[0]["Listeners"][0]
    assert (listener["Scheduler"], listener["HealthCheckInterval"], listener["Description"]) == ("wrr", "9", "e")
    refused("InvalidParameter", 400, sim.client.slb, "SetLoadBalancerTCPListenerAttribute", **where, Scheduler="sch")
    refused("MissingParam.VServerGroupId", 400, sim.client.slb, "SetLoadBalancerTCPListenerAttribute", **where,
            VServerGroup="on")
    sim.client.slb("StopLoadBalancerListener", **where)
    sim.client.slb("DeleteLoadBalancerListener", **where)
    error = refused("InvalidParameter", 400, sim.client.slb, "DeleteLoadBalancerListener", **where)
    assert error.message == "The specified resource does not exist."
    assert sim.lbs()[0]["LoadBalancerStatus"] == "inactive"


def test_two_protocols_on_one_port(sim):
    lb = sim.lb()
    sim.listener(lb, 53, "TCP")
    sim.listener(lb, 53, "UDP")
    refused("ListenerAlreadyExists", 400, sim.listener, lb, 53, "TCP")
    where = {"LoadBalancerId": lb, "ListenerPort": 53}
    refused("TooManyListeners", 400, sim.client.slb, "StartLoadBalancerListener", **where)
    sim.client.slb("StartLoadBalancerListener", **where, ListenerProtocol="udp")
    assert {item["ListenerProtocol"]: item["Status"] for item in sim.lbs()[0]["Listeners"]} == {
        "tcp": "stopped", "udp": "running"}


def test_listener_refused(sim):
    lb, other = sim.lb(), sim.lb()
    refused("MissingParameter", 400, sim.client.slb, "CreateLoadBalancerTCPListener", LoadBalancerId=lb,
            ListenerPort=80, Bandwidth=-1)
    error = refused("InvalidParameter", 404, sim.listener, lb, VServerGroupId="rsp-x")
    assert error.message == "The specified VServerGroupId does not exist."
    refused("InvalidParameter", 404, sim.listener, lb, VServerGroupId=sim.group(other))
    refused("AclNotExist", 400, sim.listener, lb, AclId="acl-x", AclStatus="on", AclType="white")
    refused("InvalidLoadBalancerId.NotFound", 404, sim.listener, "lb-x")
    assert sim.lbs()[0]["Listeners"] == []


def test_listener_limit(start):
    sim = start("--limit", "listeners=2")
    lb = sim.lb()
    sim.listener(lb, 1)
    sim.listener(lb, 2)
    refused("ListenerNumberOverLimit", 400, sim.listener, lb, 3)


def test_listener_pages(sim):
    lbs = [sim.lb() for _ in range(3)]
    wanted = [(lb, port) for lb in lbs for port in (80, 81)]
    for lb, port in wanted:
        sim.listener(lb, port)

    def pages(**params):
        token, found = None, []
        while True:
            answer = sim.client.slb("DescribeLoadBalancerListeners", MaxResults=2, NextToken=token, **params)
            found += [(item["LoadBalancerId"], item["ListenerPort"]) for item in answer["Listeners"]]
            assert len(answer["Listeners"]) <= 2
            token = answer["NextToken"]
            if not token:
                return found, answer["TotalCount"]

    assert pages() == (wanted, 6)
    assert pages(LoadBalancerId=[lbs[2], lbs[0]]) == ([w for w in wanted if w[0] != lbs[1]], 4)
    assert pages(ListenerPort=81)[1] == 3
    assert pages(ListenerProtocol="udp") == ([], 0)
    describe = sim.client.slb
    refused("IllegalParamSize.LoadBalancerId", 400, describe, "DescribeLoadBalancerListeners",
            LoadBalancerId=[lbs[0]] * 11)
    refused("IllegalParam.MaxResults", 400, describe, "DescribeLoadBalancerListeners", MaxResults=101)
    refused("IllegalParam.NextToken", 400, describe, "DescribeLoadBalancerListeners", NextToken="x")
    refused("InvalidLoadBalancerId.NotFound", 404, describe, "DescribeLoadBalancerListeners", LoadBalancerId=["lb-x"])


# ---- groups and backends


def members(sim, group):
    answer = sim.client.slb("DescribeVServerGroupAttribute", VServerGroupId=group)
    return {(b["ServerId"], b["Port"], b["Weight"], b["Type"], b["ServerIp"])
            for b in answer["BackendServers"]["BackendServer"]}


def test_group_with_backends(sim):
    lb = sim.lb()
    group = sim.group(lb, VServerGroupName="g", Tag=[{"Key": "a", "Value": "b"}],
                      BackendServers=backends(("i-node-1", "30080", "100", "ecs")))
    assert members(sim, group) == {("i-node-1", 30080, 100, "ecs", "")}
    # the inner names in any case, numbers as numbers
    sim.client.slb("AddVServerGroupBackendServers", VServerGroupId=group, BackendServers=json.dumps(
        [{"serverId": "eni-pods-1", "serverIp": "10.1.1.1", "port": 80, "weight": 50, "type": "eni"},
         {"serverId": "eni-pods-1", "serverIp": "10.1.1.2", "port": 80, "type": "eni"}]))
    assert members(sim, group) == {("i-node-1", 30080, 100, "ecs", ""), ("eni-pods-1", 80, 50, "eni", "10.1.1.1"),
                                   ("eni-pods-1", 80, 100, "eni", "10.1.1.2")}
    sim.client.slb("SetVServerGroupAttribute", VServerGroupId=group, VServerGroupName="h",
                   BackendServers=backends(("i-node-1", 30080, 7)))
    sim.client.slb("RemoveVServerGroupBackendServers", VServerGroupId=group, BackendServers=backends(
        ("eni-pods-1", 80, 0, "eni", "10.1.1.1"), ("i-node-9", 1, 0, "ecs")))
    assert members(sim, group) == {("i-node-1", 30080, 7, "ecs", ""), ("eni-pods-1", 80, 100, "eni", "10.1.1.2")}
    sim.client.slb("ModifyVServerGroupBackendServers", VServerGroupId=group,
                   OldBackendServers=backends(("i-node-1", 30080)),
                   NewBackendServers=backends(("i-node-2", 30080, 5), ("i-node-3", 30080, 6)))
    assert {m[0] for m in members(sim, group)} == {"i-node-2", "i-node-3", "eni-pods-1"}
    groups = sim.client.slb("DescribeVServerGroups", LoadBalancerId=lb)["VServerGroups"]["VServerGroup"]
    assert [(g["VServerGroupId"], g["VServerGroupName"]) for g in groups] == [(group, "h")]


@pytest.mark.parametrize("text, code, status", [
    ("{", "BackendServersMalformed", 400),
    ("{}", "BackendServersMalformed", 400),
    ("[1]", "BackendServersMalformed", 400),
    ('[{"Port":80}]', "BackendServersMalformed", 400),
    ('[{"ServerId":"i-node-1"}]', "InvalidParameter", 400),
    ('[{"ServerId":"i-node-1","Port":0}]', "InvalidParameter", 400),
    ('[{"ServerId":"i-node-1","Port":65536}]', "InvalidParameter", 400),
    ('[{"ServerId":"i-node-1","Port":80,"Weight":101}]', "InvalidWeight.Malformed", 400),
    ('[{"ServerId":"i-node-1","Port":80,"Type":"vm"}]', "BackendServer.InvalidType", 400),
    ('[{"ServerId":"i-node-9","Port":80}]', "InvalidServerId.NotExist", 400),
    ('[{"ServerId":"eni-pods-9","Port":80,"Type":"eni"}]', "ResourceNotFound.vServers", 404),
    ('[{"ServerId":"eni-pods-1","ServerIp":"10.9.9.9","Port":80,"Type":"eni"}]', "ResourceNotFound.vServers", 404),
])
def test_backends_refused(sim, text, code, status):
    group = sim.group(sim.lb())
    good = '{"ServerId":"i-node-1","Port":80},'
    refused(code, status, sim.client.slb, "AddVServerGroupBackendServers", VServerGroupId=group, BackendServers=text)
    if text.startswith("[{"):
        refused(code, status, sim.client.slb, "AddVServerGroupBackendServers", VServerGroupId=group,
                BackendServers="[" + good + text[1:])
    assert members(sim, group) == set()  # all or nothing


def test_members_of_backends_that_nobody_knows(sim):
    """Go clients send whole structs of their own: what the service does not know does not matter."""
    group = sim.group(sim.lb())
    text = json.dumps([{"ServerId": "i-node-1", "Port": 80, "Type": "ecs", "Description": "", "IsUserManaged": False, "NodeName": "n",
                        "TargetRef": {"kind": "Pod", "name": "p"}, "Invalid": None}])
    for action in ("AddVServerGroupBackendServers", "SetVServerGroupAttribute", "RemoveVServerGroupBackendServers"):
        sim.client.slb(action, VServerGroupId=group, BackendServers=text)
        assert members(sim, group) == (set() if action.startswith("Remove") else {("i-node-1", 80, 100, "ecs", "")})
    made = sim.client.slb("CreateVServerGroup", LoadBalancerId=sim.lb(), VServerGroupName="x", BackendServers=text)
    assert len(members(sim, made["VServerGroupId"])) == 1


def test_stopped_instance(sim):
    sim.control("POST", "edit", {"op": "update", "type": "instance", "id": "i-node-1",
                                 "attributes": {"Status": "Stopped"}})
    refused("ObtainIpFail", 400, sim.client.slb, "AddVServerGroupBackendServers",
            VServerGroupId=sim.group(sim.lb()), BackendServers=backends(("i-node-1", 80)))


def test_backend_limits(start):
    sim = start("--limit", "backends=3", "--slb-backends-per-call", "2")
    lb = sim.lb()
    first, second = sim.group(lb), sim.group(lb)
    add = "AddVServerGroupBackendServers"
    error = refused("TooManyBackendServers", 400, sim.client.slb, add, VServerGroupId=first,
                    BackendServers=backends(*((f"i-node-{i}", 80) for i in (1, 2, 3))))
    assert error.message.endswith(": 2")
    sim.client.slb(add, VServerGroupId=first, BackendServers=backends(("i-node-1", 80), ("i-node-2", 80)))
    refused("InstanceBackendServerNumberOverLimit", 400, sim.client.slb, add, VServerGroupId=second,
            BackendServers=backends(("i-node-1", 80), ("i-node-2", 80)))
    sim.client.slb(add, VServerGroupId=second, BackendServers=backends(("i-node-1", 80)))
    sim.client.slb(add, VServerGroupId=second, BackendServers=backends(("i-node-1", 80, 3)))  # present: no new one
    sim.client.slb("ModifyVServerGroupBackendServers", VServerGroupId=second,
                   OldBackendServers=backends(("i-node-1", 80)), NewBackendServers=backends(("i-node-2", 80)))


def test_group_refused(sim):
    group = sim.group(sim.lb())
    refused("MissingParameter", 400, sim.client.slb, "SetVServerGroupAttribute", VServerGroupId=group)
    refused("InvalidServerId.NotFound", 400, sim.client.slb, "SetVServerGroupAttribute", VServerGroupId=group,
            BackendServers=backends(("i-node-1", 80)))
    refused("InvalidParameter", 400, sim.client.slb, "ModifyVServerGroupBackendServers", VServerGroupId=group,
            NewBackendServers=backends(("i-node-1", 80), ("i-node-1", 80)))
    for action in ("DescribeVServerGroupAttribute", "DeleteVServerGroup"):
        refused("InvalidParameter", 404, sim.client.slb, action, VServerGroupId="rsp-x")


def test_group_in_use(sim):
    lb = sim.lb()
    group = sim.group(lb)
    sim.listener(lb, VServerGroupId=group)
    refused("RspoolVipExist", 400, sim.client.slb, "DeleteVServerGroup", VServerGroupId=group)
    answer = sim.client.slb("DescribeVServerGroups", LoadBalancerId=lb, IncludeListener=True)
    assert answer["VServerGroups"]["VServerGroup"][0]["AssociatedObjects"]["Listeners"] == {
        "Listener": [{"Port": 80, "Protocol": "tcp"}]}
    sim.client.slb("DeleteLoadBalancerListener", LoadBalancerId=lb, ListenerPort=80)
    sim.client.slb("DeleteVServerGroup", VServerGroupId=group)
    assert sim.lbs()[0]["VServerGroups"] == []


# ---- ECS, VPC, metadata


def test_network_interfaces(sim):
    answer = sim.client.ecs("DescribeNetworkInterfaces", VpcId="vpc-test", Status="InUse", MaxResults=100,
                            PrivateIpAddress=["10.1.1.2", "10.2.2.1", "10.9.9.9"])
    found = answer["NetworkInterfaceSets"]["NetworkInterfaceSet"]
    assert [eni["NetworkInterfaceId"] for eni in found] == ["eni-pods-1", "eni-pods-2"]
    addresses = {ip["PrivateIpAddress"]: ip["Primary"] for ip in found[0]["PrivateIpSets"]["PrivateIpSet"]}
    assert addresses["10.1.1.1"] is True and addresses["10.1.1.2"] is False
    assert answer["NextToken"] == "" and answer["PageSize"] == 100
    refused("SizeLimitExceeded.PrivateIpAddress", 400, sim.client.ecs, "DescribeNetworkInterfaces",
            PrivateIpAddress=["10.0.0.1"] * 101)


def test_instances(sim):
    sim.control("POST", "instances", {"instances": [{"id": f"i-{n}", "zone": "cn-hangzhou-i"} for n in range(25)],
                                      "enis": [{"id": "eni-x", "ip": "10.1.0.1", "instance": "i-3"}]})
    seen, token = [], None
    while token != "":
        answer = sim.client.ecs("DescribeInstances", MaxResults=10, NextToken=token)
        seen += [item["InstanceId"] for item in answer["Instances"]["Instance"]]
        token = answer["NextToken"]
    assert len(seen) == 30 == len(set(seen))
    answer = sim.client.ecs("DescribeInstances", InstanceIds='["i-3","i-node-1","i-none"]')
    assert [item["InstanceId"] for item in answer["Instances"]["Instance"]] == ["i-node-1", "i-3"]
    assert sim.client.ecs("DescribeInstances", InstanceIds="[]")["TotalCount"] == 0
    sim.control("POST", "instances", {"instances": [{"id": "i-3", "zone": "cn-hangzhou-i"}]}, status=400)


def test_metadata(sim):
    status, token = sim.get("/latest/api/token", {"X-aliyun-ecs-metadata-token-ttl-seconds": "60"}, "PUT")
    assert status == 200
    header = {"X-aliyun-ecs-metadata-token": token}
    for item, value in (("region-id", "cn-hangzhou"), ("vpc-id", "vpc-test"), ("vswitch-id", "vsw-a"),
                        ("zone-id", "cn-hangzhou-h"), ("instance-id", "i-node-1"),
                        ("ram/security-credentials/", "sim-role")):
        assert sim.get("/latest/meta-data/" + item, header) == (200, value)
    role = json.loads(sim.get("/latest/meta-data/ram/security-credentials/sim-role", header)[1])
    assert role["Code"] == "Success" and role["Expiration"] > now()
    client = Client(sim.address, role["AccessKeyId"], role["AccessKeySecret"], token=role["SecurityToken"])
    client.slb("DescribeLoadBalancers")
    client.token = None
    refused("MissingSecurityToken", 400, client.slb, "DescribeLoadBalancers")
    assert sim.get("/latest/meta-data/region-id", {"X-aliyun-ecs-metadata-token": "x"})[0] == 403
    assert sim.get("/latest/meta-data/nothing")[0] == 404
    assert sim.get("/latest/api/token", {"X-aliyun-ecs-metadata-token-ttl-seconds": "0"}, "PUT")[0] == 400
    # looking up where one lives is no call of a service
    assert {call["action"] for call in sim.calls()} == {"DescribeLoadBalancers"}
    assert any("region-id" in call["action"] for call in sim.control("GET", "calls?all=1")["calls"])


# ---- calls and faults


def test_call_log(sim):
    lb = sim.lb(LoadBalancerName="x")
    refused("InvalidLoadBalancerId.NotFound", 404, sim.client.slb, "DeleteLoadBalancer", LoadBalancerId="lb-x")
    first, second = sim.calls()
    assert (first["action"], first["http"], first["code"], first["method"]) == ("CreateLoadBalancer", 200, "", "POST")
    assert first["params"] == {"InstanceChargeType": "PayByCLCU", "LoadBalancerName": "x", "RegionId": "cn-hangzhou"}
    assert (second["action"], second["http"], second["code"]) == (
        "DeleteLoadBalancer", 404, "InvalidLoadBalancerId.NotFound")
    assert second["seq"] == first["seq"] + 1 and second["t"] >= first["t"] and second["ms"] >= 0
    assert sim.calls(since=first["seq"]) == [second]
    sim.control("DELETE", "calls")
    assert sim.calls() == []
    sim.client.slb("DeleteLoadBalancer", LoadBalancerId=lb)
    assert [call["seq"] for call in sim.calls()] == [second["seq"] + 1]


def test_call_log_is_bounded(start):
    sim = start("--call-log", "8")
    for _ in range(20):
        sim.client.slb("DescribeLoadBalancers")
    calls = sim.calls()
    assert 1 <= len(calls) <= 8 and calls[-1]["seq"] == 20


def test_fault_error(sim):
    sim.fault({"action": "Create*", "nth": 2}, {"code": "Throttling.User", "message": "slow down",
                                                "headers": {"x-acs-retry-after": "3"}})
    sim.lb()
    error = refused("Throttling.User", 400, sim.lb)
    assert error.message == "slow down" and set(error.body) >= {"RequestId", "HostId"}
    sim.lb()
    assert [call["code"] for call in sim.calls()] == ["", "Throttling.User", ""]
    assert len(sim.lbs()) == 2
    sim.fault({"params": {"LoadBalancerId": "lb-7"}}, {"http": 503, "code": "ServiceUnavailable"}, count=1)
    sim.client.slb("DescribeLoadBalancers")
    refused("ServiceUnavailable", 503, sim.client.slb, "DescribeLoadBalancers", LoadBalancerId="lb-7")
    sim.client.slb("DescribeLoadBalancers", LoadBalancerId="lb-7")
    assert [f["hits"] for f in sim.control("GET", "faults")["faults"]] == [1, 1]


def test_fault_bodies(sim):
    sim.fault({}, {"body": "<html>", "http": 502}, count=1)
    with pytest.raises(json.JSONDecodeError):
        sim.client.slb("DescribeLoadBalancers")
    sim.fault({}, {"truncate": 10}, count=1)
    with pytest.raises(http.client.IncompleteRead):
        sim.client.slb("DescribeLoadBalancers")
    sim.client.slb("DescribeLoadBalancers")


@pytest.mark.parametrize("cut, executed", [("before", 0), ("after", 1)])
def test_fault_cut(sim, cut, executed):
    sim.fault({"action": "CreateLoadBalancer"}, {"cut": cut}, count=1)
    with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
        sim.lb()
    assert len(sim.lbs()) == executed
    call = sim.calls()[0]
    assert (call["http"], call["cut"]) == (0, cut)


def call_in_vain(sim):
    """The end of the simulator meets it: answered or cut off."""
    with contextlib.suppress(Exception):
        sim.lb()


@pytest.mark.parametrize("cut, executed", [("before", 0), ("after", 1), (None, 0)])
def test_fault_delay_leaves_control_alive(sim, cut, executed):
    sim.fault({"action": "CreateLoadBalancer"}, {"delay_ms": 600000, **({"cut": cut} if cut else {})}, count=1)
    thread = threading.Thread(target=call_in_vain, args=(sim,))
    thread.start()
    wait(lambda: len(sim.calls()) == 1, "the call to arrive")
    wait(lambda: len(sim.lbs()) == executed, "the call to be executed or not")
    assert sim.calls()[0]["http"] == 0 and "cut" not in sim.calls()[0]
    sim.client.slb("DescribeLoadBalancers")  # others go on
    sim.process.stop()  # a hanging request does not hold up the end
    thread.join(30)
    assert not thread.is_alive()


@pytest.mark.parametrize("cut, executed", [("before", 0), ("after", 1)])
def test_fault_cut_ends_when_the_client_goes(sim, cut, executed):
    sim.fault({}, {"delay_ms": 600000, "cut": cut}, count=1)
    query, body, headers = sim.client.sign_v3("2014-05-15", "CreateLoadBalancer", {
        "RegionId": "cn-hangzhou", "InstanceChargeType": "PayByCLCU"}, in_body=False)
    connection = http.client.HTTPConnection(sim.address, timeout=30)
    connection.request("POST", "/?" + query, body, headers)
    wait(lambda: len(sim.calls()) == 1 and len(sim.lbs()) == executed, "the call")
    connection.close()
    wait(lambda: sim.calls()[0].get("cut") == cut, "the end of the call")
    assert len(sim.lbs()) == executed


def test_fault_delay_then_answer(sim):
    sim.fault({}, {"delay_ms": 120})
    sim.lb()
    assert sim.calls()[0]["ms"] >= 120 and len(sim.lbs()) == 1
    sim.control("DELETE", "faults")
    assert sim.control("GET", "faults") == {"faults": []}


def test_fault_delay_ends_with_its_rule(sim):
    sim.fault({}, {"delay_ms": 600000})
    caller = threading.Thread(target=sim.lb)
    caller.start()
    wait(sim.calls, "the call")
    assert sim.calls()[0]["http"] == 0 and sim.lbs() == []
    sim.control("DELETE", "faults")
    caller.join(60)
    assert sim.calls()[0]["http"] == 200 and len(sim.lbs()) == 1


def test_latency_option(start):
    sim = start("--latency-ms", "50")
    sim.lb()
    assert sim.calls()[0]["ms"] >= 50


# ---- edit


def test_edit(sim):
    def edit(status=200, **body):
        return sim.control("POST", "edit", body, status)

    lb = edit(op="create", type="loadbalancer", name="console", params={"DeleteProtection": "on"})["answer"][
        "LoadBalancerId"]
    group = edit(op="create", type="vservergroup", load_balancer=lb, name="g")["answer"]["VServerGroupId"]
    edit(op="create", type="listener", load_balancer=lb, port=80, protocol="tcp", vserver_group=group)
    assert edit(404, op="create", type="listener", load_balancer=lb, port=81, vserver_group="rsp-x")["code"]
    assert edit(op="call", product="slb", action="AddVServerGroupBackendServers",
                params={"VServerGroupId": group, "BackendServers": backends(("i-node-1", 80))})["http"] == 200
    edit(op="update", type="backend", vserver_group=group, server_id="i-node-1", port=80, attributes={"Weight": 3})
    edit(op="update", type="listener", load_balancer=lb, port=80, protocol="tcp",
         attributes={"Description": "edited", "Scheduler": None}, tags={"a": "b"})
    edit(op="update", type="load_balancer", id=lb, attributes={"LoadBalancerName": "other"}, tags={"k": "v"})
    state = sim.lbs()[0]
    assert state["LoadBalancerName"] == "other" and state["Tags"] == {"k": "v"}
    assert state["Listeners"][0]["Description"] == "edited" and "Scheduler" not in state["Listeners"][0]
    assert state["VServerGroups"][0]["BackendServers"][0]["Weight"] == 3
    edit(op="delete", type="backend", vserver_group=group, server_id="i-node-1", port=80)
    edit(op="delete", type="listener", load_balancer=lb, port=80, protocol="tcp")
    edit(op="delete", type="vserver_group", id=group)
    state = sim.lbs()[0]
    assert state["Listeners"] == [] and state["VServerGroups"] == []
    edit(op="delete", type="load_balancer", id=lb)  # in spite of its protection
    assert sim.lbs() == []
    assert sim.calls() == []
    edit(404, op="delete", type="load_balancer", id=lb)
    edit(400, op="paint")
    edit(400, op="create", type="house", id="h")
    edit(400, op="call", product="slb", action="Nothing")


def test_edit_machines(sim):
    def edit(status=200, **body):
        return sim.control("POST", "edit", body, status)

    edit(op="create", type="vswitch", id="vsw-c", vpc="vpc-test", zone="cn-hangzhou-k", cidr="10.3.0.0/24")
    edit(op="create", type="instance", id="i-new", vswitch="vsw-c")
    edit(op="create", type="eni", id="eni-new", instance="i-new", ips=["10.3.0.7"])
    edit(op="delete", type="instance", id="i-new")
    state = sim.state()
    assert "i-new" not in [i["InstanceId"] for i in state["instances"]]
    assert "eni-new" not in [e["NetworkInterfaceId"] for e in state["networkInterfaces"]]
    edit(op="create", type="instance", id="i-new", ip="10.3.0.7")  # its address is free again
    edit(op="create", type="account", id="k", secret="s")
    Client(sim.address, "k", "s").slb("DescribeLoadBalancers")
    edit(op="delete", type="account", id="k")
    refused("InvalidAccessKeyId.NotFound", 404, Client(sim.address, "k", "s").slb, "DescribeLoadBalancers")


def test_unknown_control_endpoint(sim):
    assert "no control endpoint" in sim.control("GET", "nothing", status=404)["error"]
    sim.control("POST", "faults", {"effect": {}}, status=400)
    sim.control("GET", "calls?since=x", status=400)


def test_many_at_once(sim):
    """Parallel writers and readers leave a consistent world."""
    problems = []

    def work(number):
        try:
            client = Client(sim.address)
            for i in range(10):
                lb = client.slb("CreateLoadBalancer", LoadBalancerName=f"w{number}-{i}", InstanceChargeType="PayByCLCU")
                client.slb("DescribeLoadBalancers", PageNumber=1, PageSize=50)
                client.slb("DeleteLoadBalancer", LoadBalancerId=lb["LoadBalancerId"])
        except (CloudError, OSError, subprocess.SubprocessError) as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == [] and sim.lbs() == []
    assert len(sim.calls()) == 8 * 10 * 3 and all(call["http"] == 200 for call in sim.calls())
