#include "busy.h"

#include "plain.h"
#include "store.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* ---- what can be unfinished ---- */

enum {
    AFTER_LB = 1 << 0,            /* charge, spec, status: an order is open */
    AFTER_LISTENER = 1 << 1,      /* another listener of the load balancer */
    AFTER_THIS_LISTENER = 1 << 2, /* the one that the call means */
    AFTER_GROUP = 1 << 3,         /* another group */
    AFTER_THIS_GROUP = 1 << 4,
    AFTER_EXTENSION = 1 << 5,
    AFTER_SAME = 1 << 6, /* just this call */
    AFTER_ACL = 1 << 7,
    IS_STOPPING = 1 << 8, /* the listener, or one that sends to the group */
    IS_STARTING = 1 << 9,
    IS_CONFIGURING = 1 << 10,
    IS_LOCKED = 1 << 11, /* the load balancer, by the provider */
};

#define AFTER_LISTENERS (AFTER_LISTENER | AFTER_THIS_LISTENER)
#define AFTER_GROUPS    (AFTER_GROUP | AFTER_THIS_GROUP)
#define AFTER_PARTS     (AFTER_LISTENERS | AFTER_GROUPS | AFTER_EXTENSION)

enum code {
    SERVICE_CONFIGURING,
    BACKEND_CONFIGURING,
    SERVICE_STOPPING,
    OPERATION_BUSY,
    OPERATION_DENY,
    OPERATION_NOT_ALLOWED,
    ORDER_OPEN,
    GROUP_PROCESSING,
    SERVICE_GROUP_PROCESSING,
    LISTENER_PROCESSING,
    LISTENER_STATUS,
    EXTENSION_PROCESSING,
    EXTENSION_STATUS,
    TLS_POLICY,
    SAME_REQUEST,
    VPC_BUSY,
    SYSTEM_BUSY, /* where the action's own table has it */
    SYSTEM_BUSY_449,
    ACL_ENTRY,
    ACL_CONFIGURING,
    LOCKED,
    LB_STATUS,
};

static const struct {
    unsigned http;
    const char *code;
    const char *message;
} codes[] = {
    [SERVICE_CONFIGURING] = { 400, "ServiceIsConfiguring",
                              "A previous configuration is pending; please try again later." },
    [BACKEND_CONFIGURING] = { 409, "BackendServer.configuring",
                              "A previous configuration of the load balancer is pending; please "
                              "try again later." },
    [SERVICE_STOPPING] = { 409, "ServiceIsStopping",
                           "The specified Listener is stopping, please retry later." },
    [OPERATION_BUSY] = { 400, "OperationBusy", "A previous operation is pending." },
    [OPERATION_DENY] = { 400, "Operation.Deny",
                         "The specified listener is configuring, please try again later." },
    [OPERATION_NOT_ALLOWED] = { 400, "Operation.NotAllowed",
                                "The specified listener is not allowed to operate." },
    [ORDER_OPEN] = { 400, "Operation.NotAllowed", "Operation Denied. Unfinished order exists." },
    [GROUP_PROCESSING] = { 400, "VServerGroupProcessing",
                           "A previous configuration of the VServer group is pending; please try "
                           "again later." },
    [SERVICE_GROUP_PROCESSING] = { 400, "OperationFailed.ServiceGroupProcessing",
                                   "The specified service group is processing." },
    [LISTENER_PROCESSING] = { 400, "ListenerProcessing",
                              "A previous configuration of the listener is pending, please try "
                              "again later." },
    [LISTENER_STATUS] = { 400, "OperationFailed.ListenerStatusNotSupport",
                          "The status of the listener does not support the operation." },
    [EXTENSION_PROCESSING] = { 400, "DomainExtensionProcessing",
                               "A previous configuration of the DomainExtension is pending, please "
                               "try again later." },
    [EXTENSION_STATUS] = { 400, "IncorrectStatus.DomainExtension",
                           "The listener to which the domain extension belongs is being "
                           "configured, please try again later." },
    [TLS_POLICY] = { 400, "TLSPolicyConfiguring",
                     "The specified TLS cipher policy is configuring." },
    [SAME_REQUEST] = { 400, "ProcessingSameRequest",
                       "The same request is being processed. Please try later." },
    [VPC_BUSY] = { 400, "VpcSystemBusy", "Invoke vpc system busy, please retry later." },
    [SYSTEM_BUSY] = { 400, "SystemBusy", "The system is busy." },
    [SYSTEM_BUSY_449] = { 449, "SystemBusy", "The system is busy." },
    [ACL_ENTRY] = { 400, "AclEntryProcessing", "The entries of the acl are being processed." },
    [ACL_CONFIGURING] = { 400, "ResourceInConfiguring.Acl",
                          "The specified resource is configuring, please try again later." },
    [LOCKED] = { 400, "ActionNotAllowed", "Locked for any Business Reason." },
    [LB_STATUS] = { 400, "LbStatusNotSupport",
                    "The status of specified loadbalancer does not support.." },
};

/*
 * The first row whose pattern and condition fit decides. The codes are those of the tables for the
 * action, or where these are silent the general ones of the service. A second row for a condition
 * would never be reached, so of several codes the best documented one is here; tests get the others
 * with faults.
 */
static const struct {
    const char *action;
    unsigned when;
    enum code code;
} rows[] = {
    { "RemoveVServerGroupBackendServers", IS_LOCKED, LB_STATUS },
    { "*", IS_LOCKED, LOCKED },
    { "*", AFTER_SAME, SAME_REQUEST },

    { "CreateLoadBalancer*Listener", AFTER_LB, SYSTEM_BUSY_449 },
    { "CreateLoadBalancer*Listener", AFTER_LISTENERS, LISTENER_PROCESSING },
    { "CreateLoadBalancer*Listener", AFTER_PARTS, SERVICE_CONFIGURING },

    { "Set*ListenerAttribute", IS_STOPPING, SERVICE_STOPPING },
    { "Set*ListenerAttribute", IS_STARTING, LISTENER_STATUS },
    { "Set*ListenerAttribute", IS_CONFIGURING, SERVICE_CONFIGURING },
    { "Set*ListenerAttribute", AFTER_LB, SYSTEM_BUSY_449 },
    { "Set*HTTPSListenerAttribute", AFTER_THIS_LISTENER | AFTER_EXTENSION, TLS_POLICY },
    { "Set*ListenerAttribute", AFTER_THIS_LISTENER | AFTER_EXTENSION, SERVICE_CONFIGURING },
    { "Set*ListenerAttribute", AFTER_LISTENER, OPERATION_BUSY },
    { "Set*ListenerAttribute", AFTER_GROUPS, BACKEND_CONFIGURING },

    { "StartLoadBalancerListener", IS_STOPPING, SERVICE_STOPPING },
    { "StartLoadBalancerListener", IS_CONFIGURING | AFTER_THIS_LISTENER, OPERATION_DENY },
    { "StartLoadBalancerListener", IS_STARTING, OPERATION_NOT_ALLOWED },
    { "StartLoadBalancerListener", AFTER_LB, SYSTEM_BUSY },

    { "StopLoadBalancerListener", IS_STOPPING | IS_STARTING | IS_CONFIGURING | AFTER_THIS_LISTENER,
      OPERATION_NOT_ALLOWED },

    { "DeleteLoadBalancerListener", IS_STOPPING, SERVICE_STOPPING },
    { "DeleteLoadBalancerListener", IS_STARTING, OPERATION_NOT_ALLOWED },
    { "DeleteLoadBalancerListener", IS_CONFIGURING | AFTER_THIS_LISTENER, SERVICE_CONFIGURING },

    { "S*LoadBalancerListener", AFTER_EXTENSION, SERVICE_CONFIGURING },
    { "DeleteLoadBalancerListener", AFTER_EXTENSION, SERVICE_CONFIGURING },
    { "*LoadBalancerListener", AFTER_LB, SYSTEM_BUSY_449 },
    { "*LoadBalancerListener", AFTER_LISTENER, OPERATION_BUSY },
    { "*LoadBalancerListener", AFTER_GROUPS, BACKEND_CONFIGURING },

    { "CreateVServerGroup", AFTER_LB | AFTER_PARTS, VPC_BUSY },
    { "AddVServerGroupBackendServers", IS_STOPPING, SERVICE_STOPPING },
    { "AddVServerGroupBackendServers", AFTER_LB, SYSTEM_BUSY },
    { "AddVServerGroupBackendServers", AFTER_THIS_GROUP, SERVICE_GROUP_PROCESSING },
    { "AddVServerGroupBackendServers", AFTER_LISTENERS, SERVICE_CONFIGURING },
    { "AddVServerGroupBackendServers", AFTER_EXTENSION, OPERATION_BUSY },
    { "*VServerGroup*", AFTER_LB, SYSTEM_BUSY_449 },
    { "*VServerGroup*", AFTER_THIS_GROUP, GROUP_PROCESSING },
    { "DeleteVServerGroup", AFTER_LISTENERS | AFTER_EXTENSION, SERVICE_CONFIGURING },
    { "*VServerGroup*", AFTER_PARTS, BACKEND_CONFIGURING },

    { "SetDomainExtensionAttribute", IS_CONFIGURING | AFTER_THIS_LISTENER, EXTENSION_STATUS },
    { "SetDomainExtensionAttribute", AFTER_GROUPS, BACKEND_CONFIGURING },
    { "*DomainExtension*", AFTER_LB, SYSTEM_BUSY_449 },
    { "*DomainExtension*", IS_CONFIGURING | AFTER_PARTS, EXTENSION_PROCESSING },

    { "DeleteLoadBalancer", AFTER_LB, ORDER_OPEN },
    { "ModifyLoadBalancerInternetSpec", AFTER_LB, ORDER_OPEN },
    { "ModifyLoadBalancerInstanceChargeType", AFTER_LB, ORDER_OPEN },
    { "SetLoadBalancer*", AFTER_LB, SYSTEM_BUSY_449 },
    { "SetLoadBalancerStatus", AFTER_PARTS, OPERATION_BUSY },
    { "ModifyLoadBalancerInstanceSpec", AFTER_LB, SYSTEM_BUSY_449 },
    { "DeleteLoadBalancer", AFTER_PARTS, SYSTEM_BUSY_449 },
    { "ModifyLoadBalancer*", AFTER_PARTS, SYSTEM_BUSY_449 },

    { "*AccessControlListEntry", AFTER_ACL, ACL_ENTRY },
    { "DeleteAccessControlList", AFTER_ACL, ACL_CONFIGURING },

    { "Describe*ListenerAttribute", AFTER_LB, SYSTEM_BUSY_449 },
    { "Describe*ListenerAttribute", AFTER_GROUPS, BACKEND_CONFIGURING },
    { "Describe*ListenerAttribute", AFTER_PARTS, SERVICE_CONFIGURING },
};

/* ---- what a call means ---- */

/* All of a call, save what belongs to the frame; the order of parameters is fixed. */
static uint64_t digest(const struct ccm_cloud_call *call)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */

    for (size_t i = 0; i < call->params->len; i++) {
        const struct ccm_sim_param *param = &call->params->items[i];
        const char *const texts[] = { param->name, param->value };

        for (size_t k = 0; k < 2 && !ccm_cloud_spec_is_common(param->name); k++) {
            for (const char *p = texts[k]; *p != '\0'; p++) {
                hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
            }
            hash = (hash ^ 0xFF) * UINT64_C(1099511628211);
        }
    }
    return hash;
}

/* The load balancer that the parameters name, directly or by something of it. NULL: none. */
static struct ccm_cloud_lb *lb_find(const struct ccm_cloud_call *call)
{
    const char *id = ccm_cloud_text(call, "LoadBalancerId", NULL);
    const char *group_id = ccm_cloud_text(call, "VServerGroupId", NULL);
    const char *extension_id = ccm_cloud_text(call, "DomainExtensionId", NULL);

    if (id == NULL && group_id != NULL) {
        struct ccm_cloud_vgroup *group = ccm_cloud_vgroup_get(call->cloud, group_id);

        return group == NULL ? NULL : group->lb;
    }
    if (id == NULL && extension_id != NULL) {
        struct ccm_cloud_obj *extension =
            ccm_cloud_plain_get(call->cloud, CCM_CLOUD_EXTENSION, extension_id);

        id = extension == NULL ? NULL : ccm_cloud_attr(extension, "LoadBalancerId");
    }
    return id == NULL ? NULL : ccm_cloud_lb_get(call->cloud, id);
}

/* "tcp", ... of "CreateLoadBalancerTCPListener" and of ListenerProtocol; NULL: any. */
static const char *protocol_of(const struct ccm_cloud_call *call)
{
    static const char *const names[][2] = { { "TCPListener", "tcp" },
                                            { "UDPListener", "udp" },
                                            { "HTTPSListener", "https" },
                                            { "HTTPListener", "http" } };

    for (size_t i = 0; i < CCM_ARRAY_LEN(names); i++) {
        if (strstr(call->action->name, names[i][0]) != NULL) {
            return names[i][1];
        }
    }
    return call->action->change == CCM_CLOUD_CHANGE_EXTENSION
               ? "https"
               : ccm_cloud_text(call, "ListenerProtocol", NULL);
}

static uint32_t port_of(const struct ccm_cloud_call *call)
{
    const struct ccm_cloud_obj *extension = ccm_cloud_plain_get(
        call->cloud, CCM_CLOUD_EXTENSION, ccm_cloud_text(call, "DomainExtensionId", ""));
    int64_t port = 0;

    if (extension != NULL &&
        ccm_parse_i64(ccm_cloud_attr(extension, "ListenerPort"), 1, 65535, &port) == 0) {
        return (uint32_t)port;
    }
    return (uint32_t)ccm_cloud_int(call, "ListenerPort", 0);
}

static bool is_of_listener(const struct ccm_cloud_call *call)
{
    return call->action->change == CCM_CLOUD_CHANGE_LISTENER ||
           call->action->change == CCM_CLOUD_CHANGE_EXTENSION ||
           call->action->change == CCM_CLOUD_CHANGE_LOOK;
}

/* The part that the call is about: id of a listener or group; "" = none, or not made yet. */
static void part_of(const struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb, char *text,
                    size_t size)
{
    ccm_text_copy(text, size,
                  call->action->change == CCM_CLOUD_CHANGE_GROUP
                      ? ccm_cloud_text(call, "VServerGroupId", "")
                      : "");
    if (is_of_listener(call)) {
        const uint32_t port = port_of(call);
        const char *protocol = protocol_of(call);
        const struct ccm_cloud_listener *listener = ccm_cloud_listener_get(lb, protocol, port);

        if (listener != NULL) {
            ccm_text_copy(text, size, listener->obj.id);
        } else if (protocol != NULL) {
            (void)snprintf(text, size, "%s_%s_%u", lb->obj.id, protocol, port); /* cut if absurd */
        }
    }
}

/* ---- conditions ---- */

static unsigned status_bit(const struct ccm_cloud_listener *listener)
{
    const char *status = ccm_cloud_attr(&listener->obj, "Status");

    if (ccm_text_equal(status, "stopping")) {
        return IS_STOPPING;
    }
    if (ccm_text_equal(status, "starting")) {
        return IS_STARTING;
    }
    return ccm_text_equal(status, "configuring") ? IS_CONFIGURING : 0;
}

/* Listeners on their way, and the lock of the load balancer. */
static unsigned status_bits(const struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb)
{
    const struct ccm_cloud_vgroup *group =
        call->action->change == CCM_CLOUD_CHANGE_GROUP
            ? ccm_cloud_vgroup_get(call->cloud, ccm_cloud_text(call, "VServerGroupId", ""))
            : NULL;
    unsigned bits = 0;

    if (call->action->change != CCM_CLOUD_CHANGE_LOOK &&
        ccm_text_equal(ccm_cloud_attr(&lb->obj, "LoadBalancerStatus"), "locked")) {
        bits = IS_LOCKED;
    }
    if (is_of_listener(call)) {
        const struct ccm_cloud_listener *listener =
            ccm_cloud_listener_get(lb, protocol_of(call), port_of(call));

        return listener == NULL ? bits : bits | status_bit(listener);
    }
    for (size_t i = 0; group != NULL && i < lb->listeners_len; i++) {
        bits |=
            ccm_cloud_vgroup_used_by(group, lb->listeners[i]) ? status_bit(lb->listeners[i]) : 0;
    }
    return bits;
}

/* What the last change left, as seen by a call about `part`. */
static unsigned change_bits(const struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                            const char *part)
{
    const struct ccm_cloud_busy *busy = &lb->busy;
    const bool same = !ccm_text_empty(part) && ccm_text_equal(busy->part, part);

    if (ccm_clock_now_ms() >= busy->until_ms) {
        return 0;
    }
    if (busy->action == call->action && busy->digest == digest(call)) {
        return AFTER_SAME;
    }
    switch (busy->change) {
    case CCM_CLOUD_CHANGE_LB:
        return AFTER_LB;
    case CCM_CLOUD_CHANGE_LISTENER:
        return same ? AFTER_THIS_LISTENER : AFTER_LISTENER;
    case CCM_CLOUD_CHANGE_GROUP:
        return same ? AFTER_THIS_GROUP : AFTER_GROUP;
    case CCM_CLOUD_CHANGE_EXTENSION:
        return AFTER_EXTENSION;
    case CCM_CLOUD_CHANGE_NONE:
    case CCM_CLOUD_CHANGE_LOOK:
    case CCM_CLOUD_CHANGE_LABEL:
    case CCM_CLOUD_CHANGE_ACL:
        break;
    }
    return 0;
}

static int refuse(struct ccm_cloud_call *call, unsigned bits)
{
    for (size_t i = 0; bits != 0 && i < CCM_ARRAY_LEN(rows); i++) {
        if ((rows[i].when & bits) != 0 && fnmatch(rows[i].action, call->action->name, 0) == 0) {
            return ccm_cloud_fail(call, codes[rows[i].code].http, codes[rows[i].code].code, "%s",
                                  codes[rows[i].code].message);
        }
    }
    return 0;
}

/* ---- access lists ---- */

static struct ccm_cloud_obj *acl_of(const struct ccm_cloud_call *call)
{
    return ccm_cloud_plain_get(call->cloud, CCM_CLOUD_ACL, ccm_cloud_text(call, "AclId", ""));
}

static unsigned acl_bits(const struct ccm_cloud_call *call)
{
    const struct ccm_cloud_obj *acl = acl_of(call);

    return acl != NULL && ccm_clock_now_ms() < acl->busy_until_ms ? AFTER_ACL : 0;
}

/* ---- */

int ccm_cloud_busy_check(struct ccm_cloud_call *call)
{
    const enum ccm_cloud_change change = call->action->change;

    if (change == CCM_CLOUD_CHANGE_NONE ||
        (change == CCM_CLOUD_CHANGE_LOOK && !call->cloud->limits.busy_reads)) {
        return 0;
    }
    if (change == CCM_CLOUD_CHANGE_ACL) {
        return refuse(call, acl_bits(call));
    }

    const struct ccm_cloud_lb *lb = lb_find(call);

    call->busy_lb[0] = '\0';
    if (lb == NULL) {
        return 0;
    }
    /* What names it may be gone after the change: a deleted group. */
    ccm_text_copy(call->busy_lb, sizeof(call->busy_lb), lb->obj.id);
    part_of(call, lb, call->busy_part, sizeof(call->busy_part));
    return refuse(call, status_bits(call, lb) | change_bits(call, lb, call->busy_part));
}

void ccm_cloud_busy_mark(struct ccm_cloud_call *call)
{
    const enum ccm_cloud_change change = call->action->change;
    const int64_t until = ccm_clock_now_ms() + call->cloud->limits.slb_busy_ms;

    if (call->cloud->limits.slb_busy_ms == 0 || change == CCM_CLOUD_CHANGE_NONE ||
        change == CCM_CLOUD_CHANGE_LOOK || change == CCM_CLOUD_CHANGE_LABEL) {
        return;
    }
    if (change == CCM_CLOUD_CHANGE_ACL) {
        struct ccm_cloud_obj *acl = acl_of(call);

        if (acl != NULL) {
            acl->busy_until_ms = until;
        }
        return;
    }

    struct ccm_cloud_lb *lb = ccm_cloud_lb_get(call->cloud, call->busy_lb);

    if (lb == NULL) {
        return;
    }
    lb->busy = (struct ccm_cloud_busy){
        .until_ms = until,
        .change = change,
        .action = call->action,
        .digest = digest(call),
    };
    ccm_text_copy(lb->busy.part, sizeof(lb->busy.part), call->busy_part);
    if (change == CCM_CLOUD_CHANGE_GROUP && ccm_text_empty(call->busy_part) &&
        lb->vgroups_len > 0) { /* it has just been made */
        ccm_text_copy(lb->busy.part, sizeof(lb->busy.part),
                      lb->vgroups[lb->vgroups_len - 1]->obj.id);
    }
}
