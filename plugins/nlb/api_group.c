/* The actions on server groups and servers. */
#include "api.h"

#include "alicloud/params.h"
#include "util/text.h"

const struct alilb_action nlb_api_groups = {
    .name = "ListServerGroups",
    .product = ALI_NLB,
    .query = ALILB_QUERY_TAGS,
    .texts = { "Tag.1.Key", "Tag.1.Value" },
    .repeated = "ServerGroupIds",
    .batch = 20,
    .list = "ServerGroups",
    .paging = ALILB_PAGES_TOKEN,
    .page = 100,
};
const struct alilb_action nlb_api_servers = {
    .name = "ListServerGroupServers",
    .product = ALI_NLB,
    .texts = { "ServerGroupId" },
    .list = "Servers",
    .paging = ALILB_PAGES_TOKEN,
    .page = 100,
};
const struct alilb_action nlb_api_create_group = {
    .name = "CreateServerGroup",
    NLB_API_WRITE,
    .texts = { "ServerGroupName", "VpcId", "Protocol", "ServerGroupType", "AddressIPVersion",
               "AnyPortEnabled" },
    .creates = true,
    .made = "ServerGroupId",
};
const struct alilb_action nlb_api_update_group = {
    .name = "UpdateServerGroupAttribute",
    NLB_API_WRITE,
    .texts = { "ServerGroupId" },
};
const struct alilb_action nlb_api_delete_group = {
    .name = "DeleteServerGroup",
    NLB_API_WRITE,
    .texts = { "ServerGroupId" },
};
const struct alilb_action nlb_api_add_servers = {
    .name = "AddServersToServerGroup",
    NLB_API_WRITE,
    .texts = { "ServerGroupId" },
};
const struct alilb_action nlb_api_update_servers = {
    .name = "UpdateServerGroupServersAttribute",
    NLB_API_WRITE,
    .texts = { "ServerGroupId" },
};
const struct alilb_action nlb_api_remove_servers = {
    .name = "RemoveServersFromServerGroup",
    NLB_API_WRITE,
    .texts = { "ServerGroupId" },
};

/* --- servers --- */

static void params_add_server_text(struct ali_params *params, size_t n, const char *member,
                                   const char *value)
{
    char name[64];

    ccm_text_printf(name, sizeof(name), "Servers.%zu.%.20s", n, member);
    ali_param_opt(params, name, value);
}

static void params_add_server_number(struct ali_params *params, size_t n, const char *member,
                                     unsigned int number)
{
    char text[16];

    ccm_text_printf(text, sizeof(text), "%u", number);
    params_add_server_text(params, n, member, text);
}

static const char *type_name(const struct lbc_backend *backend)
{
    switch ((enum lbc_backend_type)backend->type) {
    case LBC_BACKEND_INTERFACE:
        return "Eni";
    case LBC_BACKEND_IP:
        return "Ip";
    default:
        return "Ecs";
    }
}

void nlb_api_add_backends(const struct lbc_step *step, struct ali_params *params)
{
    for (size_t i = 0; i < step->backends.len; i++) {
        const struct lbc_backend *one = &step->backends.items[i];

        params_add_server_text(params, i + 1, "ServerId", one->server_id);
        params_add_server_text(params, i + 1, "ServerType", type_name(one));
        if (one->type != LBC_BACKEND_INSTANCE) {
            params_add_server_text(params, i + 1, "ServerIp", one->server_ip);
        }
        params_add_server_number(params, i + 1, "Port", one->port);
        if (step->type != LBC_STEP_REMOVE) {
            params_add_server_number(params, i + 1, "Weight", one->weight);
            params_add_server_text(params, i + 1, "Description", lbc_group_key(step->want));
        }
    }
}
