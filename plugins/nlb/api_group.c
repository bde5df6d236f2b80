#include "api_group.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <inttypes.h>
#include <stdio.h>

#define IDS_MAX 20

static const struct nlb_list group_list = {
    .product = ALI_NLB, .action = "ListServerGroups", .name = "ServerGroups", .page = 100
};

static int list_by_ids(struct nlb_call *call, const struct lbc_texts *ids, size_t from,
                       nlb_item_fn fn, void *arg, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    for (size_t i = from; i < ids->len && i < from + IDS_MAX; i++) {
        ali_param_item(&params, "ServerGroupIds", i - from + 1, ids->items[i]);
    }
    return nlb_api_list(call, &group_list, &params, fn, arg, err);
}

int nlb_api_list_groups(struct nlb_call *call, const char *tag_key, const char *tag_value,
                        const struct lbc_texts *ids, nlb_item_fn fn, void *arg,
                        struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    int r = 0;

    if (tag_key != NULL) {
        ali_param_tag(&params, 1, tag_key, tag_value);
        return nlb_api_list(call, &group_list, &params, fn, arg, err);
    }
    for (size_t from = 0; r == 0 && from < ids->len; from += IDS_MAX) {
        r = list_by_ids(call, ids, from, fn, arg, err);
    }
    return r;
}

int nlb_api_list_servers(struct nlb_call *call, const char *group_id, nlb_item_fn fn, void *arg,
                         struct ccm_error *err)
{
    static const struct nlb_list list = {
        .product = ALI_NLB, .action = "ListServerGroupServers", .name = "Servers", .page = 100
    };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_opt(&params, "ServerGroupId", group_id);
    return nlb_api_list(call, &list, &params, fn, arg, err);
}

/* --- groups --- */

int nlb_api_create_group(struct nlb_call *call, const struct nlb_group *group, const char *vpc_id,
                         const struct lbc_tags *tags, struct nlb_sent *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ServerGroupName", group->lbc.name);
    ali_param_add(&params, "VpcId", vpc_id);
    ali_param_add(&params, "Protocol", lbc_protocol_name(group->lbc.protocol));
    ali_param_opt(&params, "ServerGroupType", group->type);
    ali_param_opt(&params, "AddressIPVersion", group->family);
    ali_param_add(&params, "AnyPortEnabled", group->any_port ? "true" : "false");
    nlb_api_add_attrs(&params, &group->lbc.attrs, group->lbc.protocol, true);
    nlb_api_add_tags(&params, tags, 1);
    return nlb_api_write(call, ALI_NLB, "CreateServerGroup", &params, "ServerGroupId", ret, err);
}

int nlb_api_update_group(struct nlb_call *call, const char *group_id, const struct nlb_group *group,
                         const char *name, struct nlb_sent *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ServerGroupId", group_id);
    ali_param_opt(&params, "ServerGroupName", name);
    nlb_api_add_attrs(&params, &group->lbc.attrs, group->lbc.protocol, false);
    return nlb_api_write(call, ALI_NLB, "UpdateServerGroupAttribute", &params, NULL, ret, err);
}

int nlb_api_delete_group(struct nlb_call *call, const char *group_id, struct nlb_sent *ret,
                         struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ServerGroupId", group_id);
    return nlb_api_write(call, ALI_NLB, "DeleteServerGroup", &params, NULL, ret, err);
}

/* --- servers --- */

static void server_param(struct ali_params *params, size_t n, const char *member, const char *value)
{
    char name[64];

    ccm_text_printf(name, sizeof(name), "Servers.%zu.%.20s", n, member);
    ali_param_opt(params, name, value);
}

static void server_number(struct ali_params *params, size_t n, const char *member,
                          unsigned int number)
{
    char text[16];

    ccm_text_printf(text, sizeof(text), "%u", number);
    server_param(params, n, member, text);
}

static const char *type_name(const struct lbc_backend *backend)
{
    switch ((enum lbc_backend_type)backend->type) {
    case LBC_BACKEND_ENI:
        return "Eni";
    case LBC_BACKEND_IP:
        return "Ip";
    default:
        return "Ecs";
    }
}

static int change_servers(struct nlb_call *call, const char *action, const char *group_id,
                          const char *description, const struct lbc_backends *set,
                          struct nlb_sent *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ServerGroupId", group_id);
    for (size_t i = 0; i < set->len; i++) {
        const struct lbc_backend *one = &set->items[i];

        server_param(&params, i + 1, "ServerId", one->server_id);
        server_param(&params, i + 1, "ServerType", type_name(one));
        if (one->type != LBC_BACKEND_ECS) {
            server_param(&params, i + 1, "ServerIp", one->server_ip);
        }
        server_number(&params, i + 1, "Port", one->port);
        if (description != NULL) {
            server_number(&params, i + 1, "Weight", one->weight);
            server_param(&params, i + 1, "Description", description);
        }
    }
    return nlb_api_write(call, ALI_NLB, action, &params, NULL, ret, err);
}

int nlb_api_add_servers(struct nlb_call *call, const char *group_id, const char *description,
                        const struct lbc_backends *set, struct nlb_sent *ret, struct ccm_error *err)
{
    return change_servers(call, "AddServersToServerGroup", group_id, description, set, ret, err);
}

int nlb_api_update_servers(struct nlb_call *call, const char *group_id, const char *description,
                           const struct lbc_backends *set, struct nlb_sent *ret,
                           struct ccm_error *err)
{
    return change_servers(call, "UpdateServerGroupServersAttribute", group_id, description, set,
                          ret, err);
}

int nlb_api_remove_servers(struct nlb_call *call, const char *group_id,
                           const struct lbc_backends *set, struct nlb_sent *ret,
                           struct ccm_error *err)
{
    return change_servers(call, "RemoveServersFromServerGroup", group_id, NULL, set, ret, err);
}
