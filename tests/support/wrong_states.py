"""States in which the cloud refuses an action, and the codes for them: what the conformance test goes through.

WRONG[product, action] is a list of Case: `make` gets a Kit, brings the cloud into the state and returns parameters of
the call, which gets `http` and `code`. STATELESS[product, action] is the reason why an action has no such state. Every
action is in one of the two.

Codes and their HTTP status are those of the public reference of each action. Where a case says "general", the reference
of the action is silent and the list of codes of the whole service is meant.
"""

import json
from collections import namedtuple

from .recipes import INSTANCE, PERMISSION, RECIPES, SWITCH_A, SWITCH_B, TABLE, TAG, VPC, ZONES, servers, token

Case = namedtuple("Case", "state code http make")

WRONG = {}
STATELESS = {}
LONG = 600000


def wrong(product, actions, state, code, http=400):
    def keep(make):
        for action in actions.split():
            WRONG.setdefault((product, action), []).append(
                Case(state, code, http, lambda kit, action=action: make(kit, action)))
        return make

    return keep


def stateless(product, reason, actions):
    for action in actions.split():
        STATELESS[product, action] = reason


def good(kit, product, action):
    return RECIPES[product, action](kit)


def edit(kit, op, **members):
    return kit.control("POST", "edit", {"op": op, **members})


def set_state(kit, kind, name, **attributes):
    edit(kit, "update", type=kind, id=name, attributes=attributes)


def limit(kit, **limits):
    """Each case has a cloud of its own."""
    edit(kit, "limits", limits={name.replace("_", "-"): value for name, value in limits.items()})


# ---- SLB: who may be changed at all

LISTENERS = ("TCP", "UDP", "HTTP", "HTTPS")
CREATE_LISTENER = " ".join(f"CreateLoadBalancer{p}Listener" for p in LISTENERS)
SET_LISTENER = " ".join(f"SetLoadBalancer{p}ListenerAttribute" for p in LISTENERS)
READ_LISTENER = " ".join(f"DescribeLoadBalancer{p}ListenerAttribute" for p in LISTENERS)
GROUP_WRITES = "AddVServerGroupBackendServers SetVServerGroupAttribute ModifyVServerGroupBackendServers DeleteVServerGroup"


def lb_of(kit, params):
    """The load balancer that good parameters mean."""
    if "LoadBalancerId" in params:
        return params["LoadBalancerId"]
    if "VServerGroupId" in params:
        return kit.client.slb("DescribeVServerGroupAttribute", VServerGroupId=params["VServerGroupId"])["LoadBalancerId"]
    state = kit.control("GET", "state")
    return next(e["LoadBalancerId"] for e in state["domainExtensions"]
                if e["DomainExtensionId"] == params["DomainExtensionId"])


@wrong("slb", f"DeleteLoadBalancer SetLoadBalancerName SetLoadBalancerStatus SetLoadBalancerDeleteProtection "
              f"SetLoadBalancerModificationProtection ModifyLoadBalancerInternetSpec ModifyLoadBalancerInstanceSpec "
              f"ModifyLoadBalancerInstanceChargeType {CREATE_LISTENER} {SET_LISTENER} StartLoadBalancerListener "
              f"StopLoadBalancerListener DeleteLoadBalancerListener CreateVServerGroup {GROUP_WRITES} "
              f"CreateDomainExtension SetDomainExtensionAttribute DeleteDomainExtension",
       "the load balancer is locked (general)", "ActionNotAllowed")
@wrong("slb", "RemoveVServerGroupBackendServers", "the load balancer is locked", "LbStatusNotSupport")
def _(kit, action):
    params = good(kit, "slb", action)
    set_state(kit, "loadbalancer", lb_of(kit, params), LoadBalancerStatus="locked")
    return params


@wrong("slb", "DeleteLoadBalancer", "deletion protection is on", "OperationDenied.DeleteProtectionIsOn")
def _(kit, action):
    return {"LoadBalancerId": kit.lb(DeleteProtection="on")}


@wrong("slb", "DeleteLoadBalancer", "the load balancer is prepaid", "InvalidChargeType")
@wrong("slb", "SetLoadBalancerDeleteProtection", "the load balancer is prepaid",
       "OperationUnsupported.DeleteProtectionForPrePayInstance")
def _(kit, action):
    params = good(kit, "slb", action)
    set_state(kit, "loadbalancer", params["LoadBalancerId"], PayType="PrePay")
    return params


@wrong("slb", "CreateLoadBalancer", "the account has as many as it may have (general)", "ORDER.QUANTITY_INVALID")
def _(kit, action):
    limit(kit, load_balancers=0)
    return good(kit, "slb", action)


@wrong("slb", "CreateLoadBalancer", "the vSwitch has no address left", "VSwitchAvailableIpNotExist")
def _(kit, action):
    name = f"vsw-full-{kit.next()}"
    edit(kit, "create", type="vswitch", id=name, vpc=VPC, zone="cn-hangzhou-h", cidr=f"10.1.{200 + kit.next() % 50}.0/24",
         available=0)
    return {"VSwitchId": name, "AddressType": "intranet", "InstanceChargeType": "PayByCLCU"}


@wrong("slb", "ModifyLoadBalancerInternetSpec ModifyLoadBalancerInstanceSpec", "the load balancer is paid by use",
       "OperationDenied.PayByCLCU")
def _(kit, action):
    return {**good(kit, "slb", action), "LoadBalancerId": kit.lb()}


@wrong("slb", "ModifyLoadBalancerInstanceChargeType", "the load balancer is paid by use", "Forbidden.LcuToSpec")
def _(kit, action):
    return {"LoadBalancerId": kit.lb(), "InstanceChargeType": "PayBySpec"}


@wrong("slb", "ModifyLoadBalancerInstanceChargeType", "the load balancer has that charge type",
       "OperationDenied.PayBySpec")
def _(kit, action):
    return {"LoadBalancerId": kit.spec_lb(), "InstanceChargeType": "PayBySpec"}


# ---- SLB: an earlier change is not finished. One row per kind of earlier change; the kit makes what the call needs
# before anything becomes busy.


def after(kit, params, product_action, earlier):
    """`earlier` makes the load balancer busy."""
    limit(kit, slb_busy_ms=LONG)
    kit.client.slb(product_action, **earlier)
    return params


def after_lb(kit, action):
    params = good(kit, "slb", action)
    return after(kit, params, "SetLoadBalancerStatus", {"LoadBalancerId": lb_of(kit, params),
                                                        "LoadBalancerStatus": "active"})


for _actions, _code, _http in (
        ("DeleteLoadBalancer ModifyLoadBalancerInternetSpec ModifyLoadBalancerInstanceChargeType",
         "Operation.NotAllowed", 400),
        ("StartLoadBalancerListener AddVServerGroupBackendServers", "SystemBusy", 400),
        ("CreateVServerGroup", "VpcSystemBusy", 400),
        (f"{CREATE_LISTENER} {SET_LISTENER} StopLoadBalancerListener DeleteLoadBalancerListener SetLoadBalancerName "
         "SetLoadBalancerDeleteProtection SetLoadBalancerModificationProtection ModifyLoadBalancerInstanceSpec "
         "SetVServerGroupAttribute ModifyVServerGroupBackendServers RemoveVServerGroupBackendServers "
         "DeleteVServerGroup CreateDomainExtension SetDomainExtensionAttribute DeleteDomainExtension",
         "SystemBusy", 449)):
    wrong("slb", _actions, "the load balancer itself is being changed", _code, _http)(after_lb)


def after_group(kit, action):
    """Another group of the load balancer has just changed."""
    params = good(kit, "slb", action)
    return after(kit, params, "CreateVServerGroup", {"LoadBalancerId": lb_of(kit, params)})


for _actions, _code, _http in (
        (CREATE_LISTENER, "ServiceIsConfiguring", 400),
        (f"{SET_LISTENER} StartLoadBalancerListener StopLoadBalancerListener DeleteLoadBalancerListener "
         "AddVServerGroupBackendServers SetVServerGroupAttribute ModifyVServerGroupBackendServers "
         "RemoveVServerGroupBackendServers SetDomainExtensionAttribute DeleteVServerGroup",
         "BackendServer.configuring", 409),
        ("CreateDomainExtension DeleteDomainExtension", "DomainExtensionProcessing", 400),
        ("SetLoadBalancerStatus", "OperationBusy", 400),
        ("DeleteLoadBalancer ModifyLoadBalancerInternetSpec ModifyLoadBalancerInstanceSpec "
         "ModifyLoadBalancerInstanceChargeType", "SystemBusy", 449)):
    wrong("slb", _actions, "another group is being changed", _code, _http)(after_group)


@wrong("slb", "CreateVServerGroup", "another group is being changed", "VpcSystemBusy")
def _(kit, action):
    return {**after_group(kit, action), "VServerGroupName": "other"}


@wrong("slb", "SetVServerGroupAttribute ModifyVServerGroupBackendServers RemoveVServerGroupBackendServers "
              "DeleteVServerGroup", "this group is being changed (general)", "VServerGroupProcessing")
@wrong("slb", "AddVServerGroupBackendServers", "this group is being changed",
       "OperationFailed.ServiceGroupProcessing")
def _(kit, action):
    params = good(kit, "slb", action)
    return after(kit, params, "SetVServerGroupAttribute", {"VServerGroupId": params["VServerGroupId"],
                                                           "VServerGroupName": "other"})


def after_listener(kit, action):
    """Another listener of the load balancer has just changed."""
    params = good(kit, "slb", action)
    return after(kit, params, "CreateLoadBalancerTCPListener",
                 {"LoadBalancerId": lb_of(kit, params), "ListenerPort": 7777, "Bandwidth": -1, "BackendServerPort": 1})


for _actions, _code, _http in (
        (CREATE_LISTENER, "ListenerProcessing", 400),
        (f"{SET_LISTENER} StartLoadBalancerListener StopLoadBalancerListener DeleteLoadBalancerListener",
         "OperationBusy", 400),
        ("AddVServerGroupBackendServers DeleteVServerGroup", "ServiceIsConfiguring", 400),
        ("SetVServerGroupAttribute ModifyVServerGroupBackendServers RemoveVServerGroupBackendServers",
         "BackendServer.configuring", 409),
        ("SetDomainExtensionAttribute CreateDomainExtension DeleteDomainExtension", "DomainExtensionProcessing", 400)):
    wrong("slb", _actions, "another listener is being changed", _code, _http)(after_listener)


def after_this_listener(kit, action):
    params = good(kit, "slb", action)
    protocol = next((p for p in LISTENERS if f"{p}Listener" in action), "HTTPS" if "Extension" in action else "TCP")
    where = params if "ListenerPort" in params else kit.control("GET", "state")["domainExtensions"][-1]
    return after(kit, params, f"SetLoadBalancer{protocol}ListenerAttribute",
                 {"LoadBalancerId": where["LoadBalancerId"], "ListenerPort": where["ListenerPort"], "Description": "x"})


for _actions, _code in (
        ("SetLoadBalancerTCPListenerAttribute SetLoadBalancerUDPListenerAttribute SetLoadBalancerHTTPListenerAttribute "
         "DeleteLoadBalancerListener", "ServiceIsConfiguring"),
        ("SetLoadBalancerHTTPSListenerAttribute", "TLSPolicyConfiguring"),
        ("StartLoadBalancerListener", "Operation.Deny"), ("StopLoadBalancerListener", "Operation.NotAllowed"),
        ("SetDomainExtensionAttribute", "IncorrectStatus.DomainExtension"),
        ("CreateDomainExtension DeleteDomainExtension", "DomainExtensionProcessing")):
    wrong("slb", _actions, "this listener is being changed", _code)(after_this_listener)


@wrong("slb", "CreateDomainExtension SetDomainExtensionAttribute DeleteDomainExtension",
       "another extra domain is being changed", "DomainExtensionProcessing")
def _(kit, action):
    params = good(kit, "slb", action)
    where = params if "ListenerPort" in params else kit.control("GET", "state")["domainExtensions"][-1]
    return after(kit, params, "CreateDomainExtension",
                 {"LoadBalancerId": where["LoadBalancerId"], "ListenerPort": where["ListenerPort"],
                  "Domain": "other.example.com", "ServerCertificateId": "cert-valid"})


@wrong("slb", f"{SET_LISTENER} SetVServerGroupAttribute CreateDomainExtension SetLoadBalancerStatus",
       "just this call is running (general)", "ProcessingSameRequest")
def _(kit, action):
    params = good(kit, "slb", action)
    return after(kit, params, action, params)


@wrong("slb", READ_LISTENER, "backends are being changed, and reads are refused too", "BackendServer.configuring", 409)
def _(kit, action):
    limit(kit, slb_busy_reads=1)
    return after_group(kit, action)


@wrong("slb", READ_LISTENER, "a listener is being changed, and reads are refused too", "ServiceIsConfiguring")
def _(kit, action):
    limit(kit, slb_busy_reads=1)
    return after_listener(kit, action)


@wrong("slb", READ_LISTENER, "the load balancer is being changed, and reads are refused too", "SystemBusy", 449)
def _(kit, action):
    limit(kit, slb_busy_reads=1)
    return after_lb(kit, action)


# ---- SLB: states of a listener


def listener_is(status):
    def make(kit, action):
        params = good(kit, "slb", action)
        protocol = next((p for p in LISTENERS if f"{p}Listener" in action), "HTTPS" if "Extension" in action else "TCP")
        where = params if "ListenerPort" in params else kit.control("GET", "state")["domainExtensions"][-1]
        edit(kit, "update", type="listener", load_balancer=where["LoadBalancerId"], port=int(where["ListenerPort"]),
             protocol=protocol.lower(), attributes={"Status": status})
        return params

    return make


for _actions, _status, _code, _http in (
        (f"{SET_LISTENER} StartLoadBalancerListener DeleteLoadBalancerListener", "stopping", "ServiceIsStopping", 409),
        ("StopLoadBalancerListener", "stopping", "Operation.NotAllowed", 400),
        (SET_LISTENER, "starting", "OperationFailed.ListenerStatusNotSupport", 400),
        ("StartLoadBalancerListener StopLoadBalancerListener DeleteLoadBalancerListener", "starting",
         "Operation.NotAllowed", 400),
        (f"{SET_LISTENER} DeleteLoadBalancerListener", "configuring", "ServiceIsConfiguring", 400),
        ("StartLoadBalancerListener", "configuring", "Operation.Deny", 400),
        ("StopLoadBalancerListener", "configuring", "Operation.NotAllowed", 400),
        ("SetDomainExtensionAttribute", "configuring", "IncorrectStatus.DomainExtension", 400),
        ("CreateDomainExtension DeleteDomainExtension", "configuring", "DomainExtensionProcessing", 400),
        ("StartLoadBalancerListener", "running", "Operation.NotAllowed", 400),
        ("StopLoadBalancerListener", "stopped", "Operation.NotAllowed", 400)):
    wrong("slb", _actions, f"the listener is {_status}", _code, _http)(listener_is(_status))


@wrong("slb", "AddVServerGroupBackendServers", "a listener of the group is stopping", "ServiceIsStopping", 409)
def _(kit, action):
    params = good(kit, "slb", action)
    lb = lb_of(kit, params)
    kit.listener(lb, VServerGroupId=params["VServerGroupId"], start=True)
    limit(kit, slb_listener_ms=LONG)
    kit.client.slb("StopLoadBalancerListener", LoadBalancerId=lb, ListenerPort=80)
    return params


@wrong("slb", "SetLoadBalancerHTTPListenerAttribute", "the listener redirects", "Operation.NotAllowed")
def _(kit, action):
    lb = kit.lb()
    kit.listener(lb, 443, "HTTPS")
    return kit.listener(lb, 80, "HTTP", ListenerForward="on", ForwardPort=443)


@wrong("slb", CREATE_LISTENER, "the port is taken", "ListenerAlreadyExists")
def _(kit, action):
    params = good(kit, "slb", action)
    kit.client.slb(action, **params)
    return params


@wrong("slb", CREATE_LISTENER, "the load balancer has as many as it may have (general)", "ListenerNumberOverLimit")
def _(kit, action):
    limit(kit, listeners=0)
    return good(kit, "slb", action)


@wrong("slb", f"{CREATE_LISTENER} {SET_LISTENER}", "the access list has as many listeners as it may have",
       "AclListenerOverLimit")
def _(kit, action):
    acl = kit.acl()
    lb = kit.lb()
    for port in range(1, 51):
        kit.listener(lb, port, AclId=acl, AclType="white", AclStatus="on")
    return {**good(kit, "slb", action), "AclId": acl, "AclType": "white"}


@wrong("slb", "DeleteLoadBalancerListener", "another listener redirects to it", "ListenerForwardExist")
def _(kit, action):
    lb = kit.lb()
    where = kit.listener(lb, 443, "HTTPS")
    kit.listener(lb, 80, "HTTP", ListenerForward="on", ForwardPort=443)
    return where


# ---- SLB: groups, domains, access lists, tags


@wrong("slb", "DeleteVServerGroup", "a listener uses it", "RspoolVipExist")
def _(kit, action):
    params = good(kit, "slb", action)
    kit.listener(lb_of(kit, params), VServerGroupId=params["VServerGroupId"])
    return params


@wrong("slb", "CreateVServerGroup AddVServerGroupBackendServers ModifyVServerGroupBackendServers",
       "a backend does not run (general)", "ObtainIpFail")
def _(kit, action):
    params = good(kit, "slb", action)
    name = kit.instance(status="Stopped")
    return {**params, "NewBackendServers" if action.startswith("Modify") else "BackendServers": servers(name)}


@wrong("slb", "CreateVServerGroup AddVServerGroupBackendServers", "there is no room for backends (general)",
       "InstanceBackendServerNumberOverLimit")
def _(kit, action):
    limit(kit, backends=0)
    return good(kit, "slb", action)


@wrong("slb", "SetVServerGroupAttribute", "the backend is not in the group (general)", "InvalidServerId.NotFound")
def _(kit, action):
    return {"VServerGroupId": kit.group(), "BackendServers": servers(INSTANCE)}


@wrong("slb", "CreateDomainExtension", "the domain is there", "InvalidParameter.Domain")
def _(kit, action):
    params = good(kit, "slb", action)
    kit.client.slb(action, **params)
    return params


@wrong("slb", "CreateDomainExtension", "the listener has as many as it may have", "DomainExtensionNumberOverLimit")
def _(kit, action):
    limit(kit, domain_extensions=0)
    return good(kit, "slb", action)


@wrong("slb", "CreateAccessControlList", "the account has as many as it may have", "AclNumberOverLimit")
def _(kit, action):
    limit(kit, acls=0)
    return good(kit, "slb", action)


@wrong("slb", "DeleteAccessControlList", "a listener uses it", "OperationFailed.AclBindedWithVip")
def _(kit, action):
    acl = kit.acl()
    kit.listener(kit.lb(), AclId=acl, AclType="white", AclStatus="on")
    return {"AclId": acl}


@wrong("slb", "AddAccessControlListEntry RemoveAccessControlListEntry", "its entries are being changed",
       "AclEntryProcessing")
@wrong("slb", "DeleteAccessControlList", "its entries are being changed", "ResourceInConfiguring.Acl")
def _(kit, action):
    acl = kit.acl()
    return after(kit, {"AclId": acl, **({} if action.startswith("Delete") else {"AclEntrys": blocks("10.1.0.0/16")})},
                 "AddAccessControlListEntry", {"AclId": acl, "AclEntrys": blocks("10.0.0.0/16")})


@wrong("slb", "AddAccessControlListEntry", "the entry is there", "InvalidParam.AclEntryExists")
def _(kit, action):
    params = good(kit, "slb", action)
    kit.client.slb(action, **params)
    return params


@wrong("slb", "AddAccessControlListEntry", "the list is full", "AclEntryNumberOverLimit")
def _(kit, action):
    limit(kit, acl_entries=0)
    return good(kit, "slb", action)


@wrong("slb", "RemoveAccessControlListEntry", "the list has no such entry", "AclEntryEmpty")
def _(kit, action):
    return {"AclId": kit.acl(), "AclEntrys": blocks("10.1.0.0/16")}


def blocks(*items):
    return json.dumps([{"entry": item} for item in items])


@wrong("slb", "TagResources", "the load balancer has as many tags as it may have", "QuotaLimitExceeds")
def _(kit, action):
    lb = kit.lb(Tag=[{"Key": f"k{n}", "Value": "v"} for n in range(20)])
    return {"ResourceType": "instance", "ResourceId": [lb], "Tag": [{"Key": "more", "Value": "v"}]}


stateless("slb", "reads what there is", """DescribeAccessControlListAttribute DescribeAccessControlLists
          DescribeAvailableResource DescribeCACertificates DescribeHealthStatus DescribeDomainExtensions DescribeLoadBalancerAttribute
          DescribeLoadBalancerListeners DescribeLoadBalancers DescribeRegions DescribeServerCertificates
          DescribeVServerGroupAttribute DescribeVServerGroups DescribeZones ListTagResources""")
stateless("slb", "a tag that is not there is as good as removed", "UntagResources")


# ---- VPC


def changing(kit, params, then=None):
    """A route change of the VPC is running."""
    entry = {"RouteTableId": kit.table(), "DstCidrBlock": kit.cidr(), "NextHop": INSTANCE, "NextHopType": "Instance"}
    limit(kit, route_ms=LONG)
    kit.client.vpc("CreateRouteEntries", RouteEntries=[entry])
    return params


ROUTE_WRITES = "CreateRouteEntry CreateRouteEntries DeleteRouteEntry DeleteRouteEntries"


@wrong("vpc", f"{ROUTE_WRITES} DeleteRouteTable", "another change of routes is running in the VPC", "TaskConflict")
def _(kit, action):
    return changing(kit, good(kit, "vpc", action))


@wrong("vpc", f"{ROUTE_WRITES} DeleteRouteTable DescribeVpcAttribute", "the VPC is being changed", "IncorrectVpcStatus")
@wrong("ecs", "CreateSecurityGroup", "the VPC is being changed", "IncorrectVpcStatus")
def _(kit, action):
    params = good(kit, "ecs" if "Security" in action else "vpc", action)
    set_state(kit, "vpc", VPC, Status="Pending")
    return params


@wrong("vpc", f"{ROUTE_WRITES} DeleteRouteTable", "a vSwitch of the VPC is being made", "IncorrectVSwitchStatus")
def _(kit, action):
    params = good(kit, "vpc", action)
    set_state(kit, "vswitch", SWITCH_B, Status="Pending")
    return params


@wrong("vpc", ROUTE_WRITES, "the table is being changed", "IncorrectStatus.RouteTableStatus")
@wrong("vpc", "DeleteRouteTable", "the table is being changed", "IncorrectRouteTableStatus")
def _(kit, action):
    params = good(kit, "vpc", action)
    table = params.get("RouteTableId") or params["RouteEntries"][0]["RouteTableId"]
    set_state(kit, "routetable", table, Status="Pending")
    return params


@wrong("vpc", "DeleteRouteEntry", "the entry is being changed", "IncorrectRouteEntryStatus")
def _(kit, action):
    route = kit.route()
    set_state(kit, "route", route["RouteEntryId"], Status="Modifying")
    return {"RouteEntryId": route["RouteEntryId"]}


@wrong("vpc", "DeleteRouteEntry", "the entry is one of the system", "OperationDenied")
def _(kit, action):
    entries = kit.client.vpc("DescribeRouteEntryList", RouteTableId=TABLE, RouteEntryType="System")
    return {"RouteEntryId": entries["RouteEntrys"]["RouteEntry"][0]["RouteEntryId"]}


@wrong("vpc", "DeleteRouteEntry", "another service manages the entry", "OperationDenied.DeleteManagedRouteEntry")
def _(kit, action):
    route = kit.route()
    set_state(kit, "route", route["RouteEntryId"], Managed="true")
    return {"RouteEntryId": route["RouteEntryId"]}


@wrong("vpc", "CreateRouteEntry", "the destination is there", "InvalidCIDRBlock.Duplicate")
def _(kit, action):
    params = good(kit, "vpc", action)
    kit.client.vpc(action, **params)
    return params


@wrong("vpc", "CreateRouteEntry", "the table is full", "QuotaExceeded")
def _(kit, action):
    limit(kit, routes=0)
    return good(kit, "vpc", action)


@wrong("vpc", "CreateRouteEntry", "the next hop is starting", "IncorrectInstanceStatus")
def _(kit, action):
    return {**good(kit, "vpc", action), "NextHopId": kit.instance(status="Starting")}


@wrong("vpc", "CreateRouteTable", "the VPC has as many as it may have", "QuotaExceeded.RouteTable")
def _(kit, action):
    limit(kit, route_tables=0)
    return good(kit, "vpc", action)


@wrong("vpc", "DeleteRouteTable", "it has entries", "DependencyViolation.RouteEntry")
def _(kit, action):
    return {"RouteTableId": kit.route()["RouteTableId"]}


@wrong("vpc", "DeleteRouteTable", "it is the system's", "IncorrectRouteTableType")
def _(kit, action):
    return {"RouteTableId": TABLE}


@wrong("vpc", "AllocateEipAddress", "the account has as many as it may have", "QuotaExceeded.Eip")
def _(kit, action):
    limit(kit, eips=0)
    return good(kit, "vpc", action)


@wrong("vpc", "AssociateEipAddress", "it is in use", "IncorrectEipStatus")
def _(kit, action):
    eip = kit.eip()
    set_state(kit, "eip", eip, Status="InUse", InstanceId="lb-x", InstanceType="SlbInstance")
    return {**good(kit, "vpc", action), "AllocationId": eip}


@wrong("vpc", "AssociateEipAddress", "the instance has one", "InvalidAssociation.Duplicated")
def _(kit, action):
    params = good(kit, "vpc", action)
    set_state(kit, "eip", kit.eip(), Status="InUse", InstanceId=params["InstanceId"], InstanceType="SlbInstance")
    return params


@wrong("vpc", "ReleaseEipAddress", "it is in use", "IncorrectEipStatus")
def _(kit, action):
    eip = kit.eip()
    set_state(kit, "eip", eip, Status="InUse", InstanceId="lb-x", InstanceType="SlbInstance")
    return {"AllocationId": eip}


@wrong("vpc", "ReleaseEipAddress", "deletion protection is on", "InvalidOperation.DeletionProtection")
def _(kit, action):
    eip = kit.eip()
    set_state(kit, "eip", eip, DeletionProtection="true")
    return {"AllocationId": eip}


@wrong("vpc", "TagResources", "the vSwitch has as many tags as it may have", "QuotaExceeded.TagNum")
def _(kit, action):
    table = kit.table()
    params = {"ResourceType": "ROUTETABLE", "ResourceId": [table]}
    kit.client.vpc("TagResources", Tag=[{"Key": f"k{n}", "Value": "v"} for n in range(20)], **params)
    return {**params, "Tag": TAG}


stateless("vpc", "reads what there is", """DescribeEipAddresses DescribeRegions DescribeRouteEntryList
          DescribeRouteTableList DescribeVSwitchAttributes DescribeVSwitches DescribeVpcs DescribeZones
          ListTagResources""")
stateless("vpc", "a taken address is its answer, not an error", "CheckCanAllocateVpcPrivateIpAddress")
stateless("vpc", "a tag that is not there is as good as removed", "UnTagResources")


# ---- ECS


@wrong("ecs", "DeleteInstance", "it runs, and Force is not given", "IncorrectInstanceStatus", 403)
def _(kit, action):
    return {"InstanceId": kit.instance()}


@wrong("ecs", "DeleteInstance", "it is starting", "IncorrectInstanceStatus", 403)
def _(kit, action):
    return {"InstanceId": kit.instance(status="Starting"), "Force": True}


for _attribute, _value, _code in (("DeletionProtection", "true", "InvalidOperation.DeletionProtection"),
                                  ("LockReason", "security", "InstanceLockedForSecurity"),
                                  ("InstanceChargeType", "PrePaid", "ChargeTypeViolation")):
    def _instance(kit, action, attribute=_attribute, value=_value):
        params = good(kit, "ecs", action)
        set_state(kit, "instance", params["InstanceId"], **{attribute: value})
        return params

    wrong("ecs", "DeleteInstance", f"its {_attribute} is {_value}", _code, 403)(_instance)


@wrong("ecs", "DeleteInstance", "a route leads to it", "DependencyViolation.RouteEntry")
def _(kit, action):
    name = kit.instance()
    kit.client.vpc("CreateRouteEntry", RouteTableId=kit.table(), DestinationCidrBlock=kit.cidr(),
                   NextHopType="Instance", NextHopId=name)
    return {"InstanceId": name, "Force": True}


@wrong("ecs", "DeleteInstance", "it is a backend under change", "DependencyViolation.SLBConfiguring")
def _(kit, action):
    name = kit.instance()
    group = kit.group()
    limit(kit, slb_busy_ms=LONG)
    kit.client.slb("AddVServerGroupBackendServers", VServerGroupId=group, BackendServers=servers(name))
    return {"InstanceId": name, "Force": True}


def new_eni(kit, **attributes):
    name = f"eni-made-{kit.next()}"
    kit.control("POST", "instances", {"enis": [{"id": name, "vswitch": SWITCH_A}]})
    set_state(kit, "eni", name, **attributes)
    return {"NetworkInterfaceId": name, "Description": "changed"}


@wrong("ecs", "ModifyNetworkInterfaceAttribute", "it is being attached", "InvalidOperation.InvalidEniState")
def _(kit, action):
    return new_eni(kit, Status="Attaching")


@wrong("ecs", "ModifyNetworkInterfaceAttribute", "a service manages it", "InvalidOperation.EniServiceManaged", 403)
def _(kit, action):
    return new_eni(kit, ServiceManaged="true")


@wrong("ecs", "ModifyNetworkInterfaceAttribute", "it is the primary one",
       "InvalidOperation.PrimaryEniOnlySupportModifyNameAndDesc", 404)
def _(kit, action):
    return {**new_eni(kit, Type="Primary"), "SecurityGroupId": ["sg-test"]}


@wrong("ecs", "CreateSecurityGroup", "the region has as many as it may have", "QuotaExceed.SecurityGroup", 403)
def _(kit, action):
    limit(kit, security_groups=0)
    return good(kit, "ecs", action)


@wrong("ecs", "DeleteSecurityGroup ModifySecurityGroupAttribute AuthorizeSecurityGroup RevokeSecurityGroup "
              "ModifySecurityGroupRule", "a service manages it", "InvalidOperation.ResourceManagedByCloudProduct", 403)
def _(kit, action):
    params = good(kit, "ecs", action)
    set_state(kit, "securitygroup", params["SecurityGroupId"], ServiceManaged="true")
    return params


@wrong("ecs", "DeleteSecurityGroup", "deletion protection is on", "InvalidOperation.DeletionProtection", 403)
def _(kit, action):
    params = good(kit, "ecs", action)
    set_state(kit, "securitygroup", params["SecurityGroupId"], DeletionProtection="true")
    return params


@wrong("ecs", "DeleteSecurityGroup", "an interface is in it", "DependencyViolation", 403)
def _(kit, action):
    params = good(kit, "ecs", action)
    new_eni(kit, SecurityGroupId=params["SecurityGroupId"])
    return params


@wrong("ecs", "AuthorizeSecurityGroup", "it has as many rules as it may have", "AuthorizationLimitExceed", 403)
def _(kit, action):
    limit(kit, security_rules=0)
    return good(kit, "ecs", action)


@wrong("ecs", "ModifySecurityGroupRule", "there is such a rule", "InvalidOperation.RuleDuplicate")
def _(kit, action):
    params = good(kit, "ecs", action)
    kit.client.ecs("AuthorizeSecurityGroup", SecurityGroupId=params["SecurityGroupId"],
                   Permissions=[{**PERMISSION, "Policy": "drop"}])
    return params


@wrong("ecs", "TagResources", "the group has as many tags as it may have", "QuotaExceed.Tags", 403)
def _(kit, action):
    group = good(kit, "ecs", "DeleteSecurityGroup")["SecurityGroupId"]
    params = {"ResourceType": "securitygroup", "ResourceId": [group]}
    kit.client.ecs("TagResources", Tag=[{"Key": f"more{n}", "Value": "v"} for n in range(19)], **params)
    return {**params, "Tag": [{"Key": "one-more", "Value": "v"}]}


stateless("ecs", "reads what there is", """DescribeInstances DescribeNetworkInterfaces DescribeRegions
          DescribeSecurityGroupAttribute DescribeSecurityGroups DescribeZones ListTagResources""")
stateless("ecs", "a tag that is not there is as good as removed", "UntagResources")


# ---- STS, CAS


@wrong("sts", "AssumeRoleWithOIDC", "the token has run out", "AuthenticationFail.OIDCToken.Expired")
def _(kit, action):
    return {**good(kit, "sts", action), "OIDCToken": token(exp=1)}


@wrong("cas", "CreateSSLCertificateWithName", "the name is taken", "NameRepeat")
def _(kit, action):
    params = good(kit, "cas", action)
    kit.client.cas(action, **params)
    return params


@wrong("cas", "DeleteSSLCertificate", "it is gone", "NotFound", http=404)
def _(kit, action):
    params = good(kit, "cas", action)
    kit.client.cas(action, **params)
    return params


stateless("sts", "nothing but the parameters and the rights of the caller decide", "AssumeRole GetCallerIdentity")
stateless("eflo", "reads what there is", "DescribeNode")
stateless("cas", "reads what there is", "DescribeSSLCertificateList DescribeSSLCertificatePublicKeyDetail")


# ---- NLB: a job of the resource is running. It never ends: {"op": "jobs", "outcome": "hang"}.


def hang(kit, action, **params):
    edit(kit, "jobs", action=action, outcome="hang")
    return kit.client.nlb(action, **params)


def lb_configuring(kit, action):
    params = good(kit, "nlb", action)
    hang(kit, "UpdateLoadBalancerAttribute", LoadBalancerId=params["LoadBalancerId"], LoadBalancerName="changing")
    return params


LB_WRITES = ("DeleteLoadBalancer UpdateLoadBalancerAttribute UpdateLoadBalancerAddressTypeConfig "
             "UpdateLoadBalancerProtection UpdateLoadBalancerZones LoadBalancerJoinSecurityGroup "
             "LoadBalancerLeaveSecurityGroup EnableLoadBalancerIpv6Internet DisableLoadBalancerIpv6Internet "
             "AttachCommonBandwidthPackageToLoadBalancer DetachCommonBandwidthPackageFromLoadBalancer")
wrong("nlb", LB_WRITES, "a job of the load balancer is running", "ResourceInConfiguring.loadbalancer")(lb_configuring)
wrong("nlb", "CreateListener", "a job of the load balancer is running", "IncorrectStatus.loadbalancer")(lb_configuring)


@wrong("nlb", "DeleteLoadBalancer UpdateLoadBalancerAttribute UpdateLoadBalancerProtection UpdateLoadBalancerZones "
              "LoadBalancerJoinSecurityGroup", "the load balancer is being made", "ResourceInCreating.loadbalancer")
@wrong("nlb", "CreateListener", "the load balancer is being made", "IncorrectStatus.loadbalancer")
def _(kit, action):
    params = good(kit, "nlb", action)
    made = hang(kit, "CreateLoadBalancer", VpcId=VPC, AddressType="Intranet", ZoneMappings=ZONES)
    return {**params, "LoadBalancerId": made["LoadbalancerId"]}


@wrong("nlb", "CreateLoadBalancer", "the region has as many as it may have", "QuotaExceeded.QuotaInsufficient")
def _(kit, action):
    limit(kit, nlb_load_balancers=0)
    return good(kit, "nlb", action)


@wrong("nlb", "DeleteLoadBalancer", "deletion protection is on", "OperationDenied.DeletionProtectionEnabled")
def _(kit, action):
    lb = kit.nlb()
    kit.client.nlb("UpdateLoadBalancerProtection", LoadBalancerId=lb, DeletionProtectionEnabled=True)
    return {"LoadBalancerId": lb}


@wrong("nlb", "DeleteLoadBalancer", "a listener of it is being changed", "Conflict.Lock")
def _(kit, action):
    lb = kit.nlb()
    hang(kit, "StopListener", ListenerId=kit.nlb_listener(lb))
    return {"LoadBalancerId": lb}


@wrong("nlb", "UpdateLoadBalancerAddressTypeConfig", "it has that type", "OperationDenied.AddressTypeNotChanged")
def _(kit, action):
    return {"LoadBalancerId": kit.nlb(), "AddressType": "Intranet"}


@wrong("nlb", "EnableLoadBalancerIpv6Internet DisableLoadBalancerIpv6Internet", "it has no IPv6",
       "OperationDenied.NonDualStackInstance")
def _(kit, action):
    return {"LoadBalancerId": kit.nlb()}


@wrong("nlb", "AttachCommonBandwidthPackageToLoadBalancer", "it is an internal one",
       "OperationDenied.IntranetLoadBalancer")
def _(kit, action):
    return {**good(kit, "nlb", action), "LoadBalancerId": kit.nlb()}


@wrong("nlb", "AttachCommonBandwidthPackageToLoadBalancer", "it has one", "ResourceAlreadyAssociated.loadbalancer")
def _(kit, action):
    params = good(kit, "nlb", action)
    kit.job(kit.client.nlb(action, **params)["JobId"])
    kit.settle(params["LoadBalancerId"])
    return params


@wrong("nlb", "LoadBalancerJoinSecurityGroup", "it has as many as it may have", "QuotaExceeded.QuotaInsufficient")
def _(kit, action):
    RECIPES["ecs", "CreateSecurityGroup"](kit)
    lb = kit.nlb()
    groups = [kit.security_group() for _ in range(4)]
    kit.job(kit.client.nlb(action, LoadBalancerId=lb, SecurityGroupIds=groups)["JobId"])
    kit.settle(lb)
    return {"LoadBalancerId": lb, "SecurityGroupIds": ["sg-test"]}


@wrong("nlb", "UpdateServerGroupServersAttribute AddServersToServerGroup RemoveServersFromServerGroup "
              "DeleteServerGroup UpdateServerGroupAttribute", "a job of the group is running",
       "IncorrectStatus.serverGroup")
def _(kit, action):
    params = good(kit, "nlb", action)
    hang(kit, "UpdateServerGroupAttribute", ServerGroupId=params["ServerGroupId"], ServerGroupName="changing")
    return params


@wrong("nlb", "UpdateServerGroupServersAttribute AddServersToServerGroup RemoveServersFromServerGroup "
              "DeleteServerGroup UpdateServerGroupAttribute", "the group is being made", "IncorrectStatus.serverGroup")
def _(kit, action):
    made = hang(kit, "CreateServerGroup", ServerGroupName="group", VpcId=VPC)
    return {**good(kit, "nlb", action), "ServerGroupId": made["ServerGroupId"]}


@wrong("nlb", "DeleteServerGroup", "a listener uses it", "ResourceInUse.ServerGroup")
def _(kit, action):
    listener = kit.nlb_listener()
    return {"ServerGroupId": kit.client.nlb("GetListenerAttribute", ListenerId=listener)["ServerGroupId"]}


@wrong("nlb", "CreateServerGroup", "the region has as many as it may have", "QuotaExceeded.QuotaInsufficient")
def _(kit, action):
    limit(kit, nlb_server_groups=0)
    return good(kit, "nlb", action)


@wrong("nlb", "AddServersToServerGroup", "the server is there", "DuplicatedParam.Server")
def _(kit, action):
    params = good(kit, "nlb", action)
    kit.job(kit.client.nlb(action, **params)["JobId"])
    return params


@wrong("nlb", "AddServersToServerGroup", "the group has as many as it may have", "QuotaExceeded.QuotaInsufficient")
def _(kit, action):
    limit(kit, nlb_servers=0)
    return good(kit, "nlb", action)


@wrong("nlb", "CreateListener", "the port is taken", "Conflict.Port")
def _(kit, action):
    params = good(kit, "nlb", action)
    kit.job(kit.client.nlb(action, **params)["JobId"])
    kit.settle(params["LoadBalancerId"])
    return params


@wrong("nlb", "CreateListener", "the load balancer has as many as it may have", "QuotaExceeded.QuotaInsufficient")
def _(kit, action):
    limit(kit, nlb_listeners=0)
    return good(kit, "nlb", action)


LISTENER_WRITES = ("DeleteListener StopListener StartListener UpdateListenerAttribute "
                   "AssociateAdditionalCertificatesWithListener DisassociateAdditionalCertificatesWithListener")


@wrong("nlb", LISTENER_WRITES, "a job of the listener is running", "IncorrectStatus.listener")
def _(kit, action):
    params = good(kit, "nlb", action)
    hang(kit, "UpdateListenerAttribute", ListenerId=params["ListenerId"], ListenerDescription="changing")
    return params


@wrong("nlb", "DeleteListener DisassociateAdditionalCertificatesWithListener",
       "a job of the load balancer is running", "IncorrectStatus.loadbalancer")
def _(kit, action):
    params = good(kit, "nlb", action)
    lb = kit.client.nlb("GetListenerAttribute", ListenerId=params["ListenerId"])["LoadBalancerId"]
    hang(kit, "UpdateLoadBalancerAttribute", LoadBalancerId=lb, LoadBalancerName="changing")
    return params


@wrong("nlb", "StartListener", "it runs", "IncorrectStatus.listener")
def _(kit, action):
    return {"ListenerId": kit.nlb_listener()}


@wrong("nlb", "StopListener", "it is stopped", "IncorrectStatus.listener")
def _(kit, action):
    return good(kit, "nlb", "StartListener")


@wrong("nlb", "AssociateAdditionalCertificatesWithListener DisassociateAdditionalCertificatesWithListener",
       "the listener has no TLS", "OperationDenied.Protocol")
def _(kit, action):
    return {"ListenerId": kit.nlb_listener(), "AdditionalCertificateIds": ["102-cn-hangzhou"]}


@wrong("nlb", "AssociateAdditionalCertificatesWithListener", "it is there", "ResourceAlreadyAssociated.Certificate")
def _(kit, action):
    params = good(kit, "nlb", action)
    kit.job(kit.client.nlb(action, **params)["JobId"])
    return params


@wrong("nlb", "DisassociateAdditionalCertificatesWithListener", "it is the default one",
       "OperationDenied.DefaultCertificateUsed")
def _(kit, action):
    return {"ListenerId": kit.nlb_tls(), "AdditionalCertificateIds": ["101-cn-hangzhou"]}


@wrong("nlb", "GetJobStatus", "the job is forgotten", "ResourceNotFound.JobId", 404)
def _(kit, action):
    params = good(kit, "nlb", action)
    edit(kit, "delete", type="job", id=params["JobId"])
    return params


@wrong("nlb", "TagResources", "the load balancer has as many tags as it may have", "QuotaExceeded.QuotaInsufficient")
def _(kit, action):
    lb = kit.nlb(Tag=[{"Key": f"k{n}", "Value": "v"} for n in range(20)])
    return {"ResourceType": "loadbalancer", "ResourceId": [lb], "Tag": [{"Key": "more", "Value": "v"}]}


stateless("nlb", "reads what there is", """DescribeRegions DescribeZones GetListenerAttribute GetListenerHealthStatus GetLoadBalancerAttribute
          ListAsynJobs ListListenerCertificates ListListeners ListLoadBalancers ListServerGroupServers ListServerGroups
          ListTagResources""")
stateless("nlb", "a tag that is not there is as good as removed", "UntagResources")
