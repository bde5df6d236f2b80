#include "api.h"

#include "api_call.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACKENDS_MAX ((size_t)64 * 1024)

/* A load balancer takes one change at a time, whichever of its groups and listeners it is about.
 * Tags and access lists stand beside it. */
static const char *paced_by(const struct clb_call *call, const char *action)
{
    const bool apart =
        strstr(action, "TagResources") != NULL || strstr(action, "AccessControlList") != NULL;

    return call->have == NULL || apart ? NULL : call->have->lb.id;
}

int clb_api_send(struct clb_call *call, enum ali_product product, const char *action,
                 const struct ali_params *params, enum ali_repeat repeat, cJSON **ret,
                 struct ccm_error *err)
{
    const struct ali_call request = {
        .product = product,
        .action = action,
        .params = params,
        .priority = call->priority,
        .repeat = repeat,
        .object = call->object,
        .paced = product == ALI_SLB ? paced_by(call, action) : NULL,
    };

    call->uncertain = false;
    return ali_call(clb_client(call->clb), call->clb->lbc.host, call->req, &request, ret,
                    &call->uncertain, err);
}

int clb_api_slb(struct clb_call *call, const char *action, const struct ali_params *params,
                enum ali_repeat repeat, cJSON **ret, struct ccm_error *err)
{
    return clb_api_send(call, ALI_SLB, action, params, repeat, ret, err);
}

int clb_api_groups(struct clb_call *call, const char *lb_id, cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    return clb_api_slb(call, "DescribeVServerGroups", &params, ALI_READ, ret, err);
}

int clb_api_group(struct clb_call *call, const char *group_id, cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "VServerGroupId", group_id);
    return clb_api_slb(call, "DescribeVServerGroupAttribute", &params, ALI_READ, ret, err);
}

/* The six documented members, nothing else. */
static void add_backends(struct ali_params *params, const char *description,
                         const struct lbc_backends *set)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = BACKENDS_MAX };
    struct ccm_jsonw w = { .buf = &text };

    ccm_jsonw_open(&w, NULL, '[');
    for (size_t i = 0; i < set->len; i++) {
        const struct lbc_backend *one = &set->items[i];

        ccm_jsonw_open(&w, NULL, '{');
        ccm_jsonw_str(&w, "ServerId", one->server_id);
        if (one->type == LBC_BACKEND_ENI) {
            ccm_jsonw_str(&w, "ServerIp", one->server_ip);
        }
        ccm_jsonw_i64(&w, "Port", one->port);
        ccm_jsonw_i64(&w, "Weight", one->weight);
        ccm_jsonw_str(&w, "Type", one->type == LBC_BACKEND_ENI ? "eni" : "ecs");
        ccm_jsonw_str(&w, "Description", description);
        ccm_jsonw_close(&w, '}');
    }
    ccm_jsonw_close(&w, ']');
    if (ccm_buf_error(&text) < 0) {
        params->error = ccm_buf_error(&text);
        return;
    }
    ali_param_add(params, "BackendServers", ccm_buf_str(&text));
}

int clb_api_create_group(struct clb_call *call, const char *lb_id, const char *name,
                         const struct lbc_backends *backends, char **ret_id, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    int r;

    ali_param_add(&params, "LoadBalancerId", lb_id);
    ali_param_add(&params, "VServerGroupName", name);
    if (backends->len > 0) {
        add_backends(&params, name, backends);
    }
    r = clb_api_slb(call, "CreateVServerGroup", &params, ALI_ONCE, &answer, err);
    if (r < 0) {
        return r;
    }
    *ret_id = NULL;
    if (lbc_text_set(ret_id, ccm_json_text(answer, "VServerGroupId")) < 0 || *ret_id == NULL) {
        call->uncertain = true;
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "CreateVServerGroup: the answer names no group");
    }
    return 0;
}

int clb_api_delete_group(struct clb_call *call, const char *group_id, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "VServerGroupId", group_id);
    return clb_api_slb(call, "DeleteVServerGroup", &params, ALI_IDEMPOTENT, NULL, err);
}

static int change_group(struct clb_call *call, const char *action, enum ali_repeat repeat,
                        const char *group_id, const char *description,
                        const struct lbc_backends *backends, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "VServerGroupId", group_id);
    add_backends(&params, description, backends);
    return clb_api_slb(call, action, &params, repeat, NULL, err);
}

int clb_api_add(struct clb_call *call, const char *group_id, const char *description,
                const struct lbc_backends *backends, struct ccm_error *err)
{
    return change_group(call, "AddVServerGroupBackendServers", ALI_ONCE, group_id, description,
                        backends, err);
}

int clb_api_remove(struct clb_call *call, const char *group_id, const char *description,
                   const struct lbc_backends *backends, struct ccm_error *err)
{
    return change_group(call, "RemoveVServerGroupBackendServers", ALI_IDEMPOTENT, group_id,
                        description, backends, err);
}

int clb_api_weigh(struct clb_call *call, const char *group_id, const char *description,
                  const struct lbc_backends *backends, struct ccm_error *err)
{
    return change_group(call, "SetVServerGroupAttribute", ALI_IDEMPOTENT, group_id, description,
                        backends, err);
}
