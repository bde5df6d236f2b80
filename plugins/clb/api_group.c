#include "api_group.h"

#include "alicloud/params.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"

#define BACKENDS_MAX ((size_t)64 * 1024)

const struct alilb_action clb_api_groups = {
    .name = "DescribeVServerGroups",
    .texts = { "LoadBalancerId" },
    .list = "VServerGroups",
    .item = "VServerGroup",
};
const struct alilb_action clb_api_backends = {
    .name = "DescribeVServerGroupAttribute",
    .texts = { "VServerGroupId" },
    .list = "BackendServers",
    .item = "BackendServer",
};
const struct alilb_action clb_api_delete_group = {
    .name = "DeleteVServerGroup",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "VServerGroupId" },
};
const struct alilb_action clb_api_add = {
    .name = "AddVServerGroupBackendServers",
    .repeat = ALI_ONCE,
};
const struct alilb_action clb_api_remove = {
    .name = "RemoveVServerGroupBackendServers",
    .repeat = ALI_IDEMPOTENT,
};
const struct alilb_action clb_api_weigh = {
    .name = "SetVServerGroupAttribute",
    .repeat = ALI_IDEMPOTENT,
};

/* The six documented members, nothing else. */
static void params_add_backends(struct ali_params *params, const char *description,
                                const struct lbc_backends *set)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = BACKENDS_MAX };
    struct ccm_jsonw w = { .buf = &text };

    ccm_jsonw_open(&w, NULL, '[');
    for (size_t i = 0; i < set->len; i++) {
        const struct lbc_backend *one = &set->items[i];

        ccm_jsonw_open(&w, NULL, '{');
        ccm_jsonw_str(&w, "ServerId", one->server_id);
        if (one->type == LBC_BACKEND_INTERFACE) {
            ccm_jsonw_str(&w, "ServerIp", one->server_ip);
        }
        ccm_jsonw_i64(&w, "Port", one->port);
        ccm_jsonw_i64(&w, "Weight", one->weight);
        ccm_jsonw_str(&w, "Type", one->type == LBC_BACKEND_INTERFACE ? "eni" : "ecs");
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

int clb_api_create_group(struct alilb_call *call, const char *lb_id, const char *name,
                         const struct lbc_backends *backends, char **ret_id, struct ccm_error *err)
{
    static const struct alilb_action create = {
        .name = "CreateVServerGroup",
        .repeat = ALI_ONCE,
        .made = "VServerGroupId",
    };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    ali_param_add(&params, "VServerGroupName", name);
    if (backends->len > 0) {
        params_add_backends(&params, name, backends);
    }
    return alilb_make(call, &create, ALILB_PARAMS(&params), ret_id, err);
}

int clb_api_change_group(struct alilb_call *call, const struct alilb_action *action,
                         const char *group_id, const char *description,
                         const struct lbc_backends *backends, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "VServerGroupId", group_id);
    params_add_backends(&params, description, backends);
    return alilb_write(call, action, ALILB_PARAMS(&params), NULL, err);
}
