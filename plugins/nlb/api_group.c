#include "api_group.h"

#include "alicloud/params.h"
#include "api.h"
#include "util/cleanup.h"
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
const struct alilb_action nlb_api_delete_group = {
    .name = "DeleteServerGroup",
    NLB_API_WRITE,
    .texts = { "ServerGroupId" },
};
const struct alilb_action nlb_api_add_servers = {
    .name = "AddServersToServerGroup",
    NLB_API_WRITE,
};
const struct alilb_action nlb_api_update_servers = {
    .name = "UpdateServerGroupServersAttribute",
    NLB_API_WRITE,
};
const struct alilb_action nlb_api_remove_servers = {
    .name = "RemoveServersFromServerGroup",
    NLB_API_WRITE,
};

/* --- groups --- */

int nlb_api_create_group(struct alilb_call *call, const struct nlb_group *group, const char *vpc_id,
                         const struct lbc_tags *tags, struct lbc_sent *sent, struct ccm_error *err)
{
    static const struct alilb_action create = {
        .name = "CreateServerGroup",
        NLB_API_WRITE,
        .made = "ServerGroupId",
    };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ServerGroupName", group->lbc.name);
    ali_param_add(&params, "VpcId", vpc_id);
    ali_param_add(&params, "Protocol", lbc_protocol_name(group->lbc.protocol));
    ali_param_opt(&params, "ServerGroupType", group->type);
    ali_param_opt(&params, "AddressIPVersion", group->family);
    ali_param_add(&params, "AnyPortEnabled", group->any_port ? "true" : "false");
    nlb_api_add_attrs(&params, &group->lbc.attrs, group->lbc.protocol, true);
    alilb_param_tags(&params, tags, 1);
    return alilb_write(call, &create, ALILB_PARAMS(&params), sent, err);
}

int nlb_api_update_group(struct alilb_call *call, struct lbc_step *step, struct ccm_error *err)
{
    static const struct alilb_action update = {
        .name = "UpdateServerGroupAttribute",
        NLB_API_WRITE,
    };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ServerGroupId", step->group->id);
    nlb_api_add_attrs(&params, &step->attrs, step->group->protocol, false);
    return alilb_write(call, &update, ALILB_PARAMS(&params), &step->sent, err);
}

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

int nlb_api_change_servers(struct alilb_call *call, const struct alilb_action *action,
                           struct lbc_step *step, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ServerGroupId", step->group->id);
    for (size_t i = 0; i < step->backends.len; i++) {
        const struct lbc_backend *one = &step->backends.items[i];

        params_add_server_text(&params, i + 1, "ServerId", one->server_id);
        params_add_server_text(&params, i + 1, "ServerType", type_name(one));
        if (one->type != LBC_BACKEND_INSTANCE) {
            params_add_server_text(&params, i + 1, "ServerIp", one->server_ip);
        }
        params_add_server_number(&params, i + 1, "Port", one->port);
        if (action != &nlb_api_remove_servers) {
            params_add_server_number(&params, i + 1, "Weight", one->weight);
            params_add_server_text(&params, i + 1, "Description", lbc_group_key(step->want));
        }
    }
    return alilb_write(call, action, ALILB_PARAMS(&params), &step->sent, err);
}
