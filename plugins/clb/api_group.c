/* The actions on groups and their backends. */
#include "api.h"

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
const struct alilb_action clb_api_create_group = {
    .name = "CreateVServerGroup",
    .repeat = ALI_ONCE,
    .texts = { "LoadBalancerId", "VServerGroupName" },
    .made = "VServerGroupId",
};
const struct alilb_action clb_api_delete_group = {
    .name = "DeleteVServerGroup",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "VServerGroupId" },
};
const struct alilb_action clb_api_add = {
    .name = "AddVServerGroupBackendServers",
    .repeat = ALI_ONCE,
    .texts = { "VServerGroupId" },
};
const struct alilb_action clb_api_remove = {
    .name = "RemoveVServerGroupBackendServers",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "VServerGroupId" },
};
const struct alilb_action clb_api_weigh = {
    .name = "SetVServerGroupAttribute",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "VServerGroupId" },
};

/* The six documented members, nothing else. */
void clb_api_add_backends(struct ali_params *params, const char *description,
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
