#include "api.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACKENDS_MAX ((size_t)64 * 1024)

static int send_to(struct clb_call *call, enum ccm_ali_product product, const char *action,
                   const struct ccm_ali_params *params, enum ccm_ali_repeat repeat, cJSON **ret,
                   struct ccm_error *err)
{
    const struct ccm_ali_call request = {
        .product = product,
        .action = action,
        .params = params,
        .priority = call->priority,
        .repeat = repeat,
        .object = call->object,
    };

    call->uncertain = false;
    return ccm_ali_call(call->clb->ali, call->clb->host, call->req, &request, ret, &call->uncertain,
                        err);
}

static int slb(struct clb_call *call, const char *action, const struct ccm_ali_params *params,
               enum ccm_ali_repeat repeat, cJSON **ret, struct ccm_error *err)
{
    return send_to(call, CCM_ALI_SLB, action, params, repeat, ret, err);
}

int clb_api_find_lb(struct clb_call *call, const char *tag_value, const char *name, cJSON **ret,
                    struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf tags = { .max = 1024 };

    if (tag_value != NULL) {
        struct ccm_jsonw w = { .buf = &tags };

        ccm_jsonw_open(&w, NULL, '[');
        ccm_jsonw_open(&w, NULL, '{');
        ccm_jsonw_str(&w, "TagKey", CLB_TAG_OWNER);
        ccm_jsonw_str(&w, "TagValue", tag_value);
        ccm_jsonw_close(&w, '}');
        ccm_jsonw_close(&w, ']');
        if (ccm_buf_error(&tags) < 0) {
            return ccm_error_nomem(err);
        }
        ccm_ali_param_add(&params, "Tags", ccm_buf_str(&tags));
    } else {
        ccm_ali_param_add(&params, "LoadBalancerName", name);
    }
    return slb(call, "DescribeLoadBalancers", &params, CCM_ALI_READ, ret, err);
}

int clb_api_listeners(struct clb_call *call, const char *lb_id, const char *next_token, cJSON **ret,
                      struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };

    ccm_ali_param_add(&params, "LoadBalancerId.1", lb_id);
    ccm_ali_param_i64(&params, "MaxResults", 100);
    ccm_ali_param_opt(&params, "NextToken", next_token);
    return slb(call, "DescribeLoadBalancerListeners", &params, CCM_ALI_READ, ret, err);
}

int clb_api_groups(struct clb_call *call, const char *lb_id, cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };

    ccm_ali_param_add(&params, "LoadBalancerId", lb_id);
    return slb(call, "DescribeVServerGroups", &params, CCM_ALI_READ, ret, err);
}

int clb_api_group(struct clb_call *call, const char *group_id, cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };

    ccm_ali_param_add(&params, "VServerGroupId", group_id);
    return slb(call, "DescribeVServerGroupAttribute", &params, CCM_ALI_READ, ret, err);
}

int clb_api_vswitch(struct clb_call *call, const char *vswitch_id, cJSON **ret,
                    struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };

    ccm_ali_param_add(&params, "VSwitchId", vswitch_id);
    return send_to(call, CCM_ALI_VPC, "DescribeVSwitches", &params, CCM_ALI_READ, ret, err);
}

static void create_params(const struct clb *clb, const struct clb_create *create,
                          struct ccm_ali_params *params)
{
    const bool intranet = ccm_text_equal(create->lb->address_type, "intranet");

    ccm_ali_param_add(params, "AddressType", create->lb->address_type);
    ccm_ali_param_add(params, "LoadBalancerName", create->lb->name);
    if (intranet) {
        ccm_ali_param_opt(params, "VpcId", ccm_ali_vpc_id(clb->ali));
        ccm_ali_param_opt(params, "VSwitchId", create->lb->vswitch_id);
    }
    ccm_ali_param_add(params, "InstanceChargeType", "PayByCLCU");
    ccm_ali_param_opt(params, "ResourceGroupId", ccm_ali_resource_group_id(clb->ali));
    ccm_ali_param_add(params, "DeleteProtection", "on");
    ccm_ali_param_add(params, "ModificationProtectionStatus", "ConsoleProtection");
    ccm_ali_param_add(params, "ModificationProtectionReason", CLB_PROTECT_WHY);
    ccm_ali_param_tag(params, 1, CLB_TAG_OWNER, create->owner_tag);
    ccm_ali_param_tag(params, 2, CLB_TAG_CLUSTER, ccm_ali_cluster_id(clb->ali));
    ccm_ali_param_add(params, "ClientToken", create->token);
}

int clb_api_create_lb(struct clb_call *call, const struct clb_create *create, struct clb_lb *ret,
                      struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    int r;

    create_params(call->clb, create, &params);
    r = slb(call, "CreateLoadBalancer", &params, CCM_ALI_IDEMPOTENT, &answer, err);
    if (r < 0) {
        return r;
    }
    if (ccm_json_text(answer, "LoadBalancerId")[0] == '\0') {
        call->uncertain = true;
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "CreateLoadBalancer: the answer names no load balancer");
    }
    const char *vswitch = ccm_json_text(answer, "VSwitchId");

    ret->protect = true;
    if (clb_text_set(&ret->id, ccm_json_text(answer, "LoadBalancerId")) < 0 ||
        clb_text_set(&ret->address, ccm_json_text(answer, "Address")) < 0 ||
        clb_text_set(&ret->name, create->lb->name) < 0 ||
        clb_text_set(&ret->address_type, create->lb->address_type) < 0 ||
        clb_text_set(&ret->vswitch_id, vswitch[0] == '\0' ? create->lb->vswitch_id : vswitch) < 0) {
        call->uncertain = true;
        return ccm_error_nomem(err);
    }
    return 0;
}

int clb_api_tag_lb(struct clb_call *call, const char *lb_id, const char *owner_tag,
                   struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };

    ccm_ali_param_add(&params, "ResourceType", "instance");
    ccm_ali_param_add(&params, "ResourceId.1", lb_id);
    ccm_ali_param_tag(&params, 1, CLB_TAG_OWNER, owner_tag);
    return slb(call, "TagResources", &params, CCM_ALI_IDEMPOTENT, NULL, err);
}

int clb_api_rename_lb(struct clb_call *call, const char *lb_id, const char *name,
                      struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };

    ccm_ali_param_add(&params, "LoadBalancerId", lb_id);
    ccm_ali_param_add(&params, "LoadBalancerName", name);
    return slb(call, "SetLoadBalancerName", &params, CCM_ALI_IDEMPOTENT, NULL, err);
}

int clb_api_unprotect_lb(struct clb_call *call, const char *lb_id, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };

    ccm_ali_param_add(&params, "LoadBalancerId", lb_id);
    ccm_ali_param_add(&params, "DeleteProtection", "off");
    return slb(call, "SetLoadBalancerDeleteProtection", &params, CCM_ALI_IDEMPOTENT, NULL, err);
}

int clb_api_delete_lb(struct clb_call *call, const char *lb_id, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };

    ccm_ali_param_add(&params, "LoadBalancerId", lb_id);
    return slb(call, "DeleteLoadBalancer", &params, CCM_ALI_IDEMPOTENT, NULL, err);
}

/* The six documented members, nothing else. */
static void add_backends(struct ccm_ali_params *params, const char *description,
                         const struct ccm_backends *set)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = BACKENDS_MAX };
    struct ccm_jsonw w = { .buf = &text };

    ccm_jsonw_open(&w, NULL, '[');
    for (size_t i = 0; i < set->len; i++) {
        const struct ccm_backend *one = &set->items[i];

        ccm_jsonw_open(&w, NULL, '{');
        ccm_jsonw_str(&w, "ServerId", one->server_id);
        if (one->type == CCM_BACKEND_ENI) {
            ccm_jsonw_str(&w, "ServerIp", one->server_ip);
        }
        ccm_jsonw_i64(&w, "Port", one->port);
        ccm_jsonw_i64(&w, "Weight", one->weight);
        ccm_jsonw_str(&w, "Type", one->type == CCM_BACKEND_ENI ? "eni" : "ecs");
        ccm_jsonw_str(&w, "Description", description);
        ccm_jsonw_close(&w, '}');
    }
    ccm_jsonw_close(&w, ']');
    if (ccm_buf_error(&text) < 0) {
        params->error = ccm_buf_error(&text);
        return;
    }
    ccm_ali_param_add(params, "BackendServers", ccm_buf_str(&text));
}

int clb_api_create_group(struct clb_call *call, const char *lb_id, const char *name,
                         const struct ccm_backends *backends, char **ret_id, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    int r;

    ccm_ali_param_add(&params, "LoadBalancerId", lb_id);
    ccm_ali_param_add(&params, "VServerGroupName", name);
    if (backends->len > 0) {
        add_backends(&params, name, backends);
    }
    r = slb(call, "CreateVServerGroup", &params, CCM_ALI_ONCE, &answer, err);
    if (r < 0) {
        return r;
    }
    *ret_id = NULL;
    if (clb_text_set(ret_id, ccm_json_text(answer, "VServerGroupId")) < 0 || *ret_id == NULL) {
        call->uncertain = true;
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "CreateVServerGroup: the answer names no group");
    }
    return 0;
}

int clb_api_delete_group(struct clb_call *call, const char *group_id, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };

    ccm_ali_param_add(&params, "VServerGroupId", group_id);
    return slb(call, "DeleteVServerGroup", &params, CCM_ALI_IDEMPOTENT, NULL, err);
}

static int change_group(struct clb_call *call, const char *action, enum ccm_ali_repeat repeat,
                        const char *group_id, const char *description,
                        const struct ccm_backends *backends, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };

    ccm_ali_param_add(&params, "VServerGroupId", group_id);
    add_backends(&params, description, backends);
    return slb(call, action, &params, repeat, NULL, err);
}

int clb_api_add(struct clb_call *call, const char *group_id, const char *description,
                const struct ccm_backends *backends, struct ccm_error *err)
{
    return change_group(call, "AddVServerGroupBackendServers", CCM_ALI_ONCE, group_id, description,
                        backends, err);
}

int clb_api_remove(struct clb_call *call, const char *group_id, const char *description,
                   const struct ccm_backends *backends, struct ccm_error *err)
{
    return change_group(call, "RemoveVServerGroupBackendServers", CCM_ALI_IDEMPOTENT, group_id,
                        description, backends, err);
}

int clb_api_weigh(struct clb_call *call, const char *group_id, const char *description,
                  const struct ccm_backends *backends, struct ccm_error *err)
{
    return change_group(call, "SetVServerGroupAttribute", CCM_ALI_IDEMPOTENT, group_id, description,
                        backends, err);
}

static void listener_params(struct ccm_ali_params *params, const char *lb_id,
                            const struct clb_listener *listener, const char *group_id, bool create)
{
    ccm_ali_param_add(params, "LoadBalancerId", lb_id);
    ccm_ali_param_i64(params, "ListenerPort", listener->port);
    if (!create) {
        ccm_ali_param_add(params, "VServerGroup", "on");
    }
    ccm_ali_param_add(params, "VServerGroupId", group_id);
    ccm_ali_param_opt(params, "Description", listener->description);
    for (size_t i = 0; i < listener->attrs.len; i++) {
        const struct clb_attr *attr = &listener->attrs.items[i];
        const char *name = create && attr->field->create_name != NULL ? attr->field->create_name
                                                                      : attr->field->name;

        ccm_ali_param_opt(params, name, attr->value);
    }
}

int clb_api_create_listener(struct clb_call *call, const char *lb_id,
                            const struct clb_listener *listener, const char *group_id,
                            struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };
    char action[64];

    (void)snprintf(action, sizeof(action), "CreateLoadBalancer%sListener",
                   clb_protocol_upper(listener->protocol)); /* fits */
    listener_params(&params, lb_id, listener, group_id, true);
    return slb(call, action, &params, CCM_ALI_ONCE, NULL, err);
}

int clb_api_update_listener(struct clb_call *call, const char *lb_id,
                            const struct clb_listener *listener, const char *group_id,
                            struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };
    char action[64];

    (void)snprintf(action, sizeof(action), "SetLoadBalancer%sListenerAttribute",
                   clb_protocol_upper(listener->protocol)); /* fits */
    listener_params(&params, lb_id, listener, group_id, false);
    return slb(call, action, &params, CCM_ALI_IDEMPOTENT, NULL, err);
}

static void port_params(struct ccm_ali_params *params, const char *lb_id, uint16_t port,
                        enum clb_protocol protocol)
{
    ccm_ali_param_add(params, "LoadBalancerId", lb_id);
    ccm_ali_param_i64(params, "ListenerPort", port);
    ccm_ali_param_add(params, "ListenerProtocol", clb_protocol_name(protocol));
}

int clb_api_start_listener(struct clb_call *call, const char *lb_id, uint16_t port,
                           enum clb_protocol protocol, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };

    port_params(&params, lb_id, port, protocol);
    return slb(call, "StartLoadBalancerListener", &params, CCM_ALI_ONCE, NULL, err);
}

int clb_api_delete_listener(struct clb_call *call, const char *lb_id, uint16_t port,
                            enum clb_protocol protocol, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_ali_params_fini) struct ccm_ali_params params = { 0 };

    port_params(&params, lb_id, port, protocol);
    return slb(call, "DeleteLoadBalancerListener", &params, CCM_ALI_IDEMPOTENT, NULL, err);
}
