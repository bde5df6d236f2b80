#include "families.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

static const struct ccm_cloud_field group_fields[] = {
    { "AddressIPVersion", 's', NULL, "ipv4" },
    { "AliUid", 'n', NULL, "100000000000001" },
    { "AnyPortEnabled", 'b', NULL, "false" },
    { "ConnectionDrainEnabled", 'b', NULL, "false" },
    { "ConnectionDrainTimeout", 'n', NULL, "10" },
    { "IpVersionAffinityMode", 's', NULL, NULL },
    { "PreserveClientIpEnabled", 'b', NULL, "true" },
    { "Protocol", 's', NULL, "TCP" },
    { "RegionId", 's', NULL, "" },
    { "ResourceGroupId", 's', NULL, "" },
    { "Scheduler", 's', NULL, "Wrr" },
    { "ServerGroupName", 's', NULL, "" },
    { "ServerGroupStatus", 's', NULL, "" },
    { "ServerGroupType", 's', NULL, "Instance" },
    { "VpcId", 's', NULL, "" },
    { 0 },
};

static const struct ccm_cloud_field health_fields[] = {
    { "HealthCheckConnectPort", 'n', NULL, "0" }, { "HealthCheckConnectTimeout", 'n', NULL, "5" },
    { "HealthCheckDomain", 's', NULL, NULL },     { "HealthCheckEnabled", 'b', NULL, "true" },
    { "HealthCheckExp", 's', NULL, NULL },        { "HealthCheckHttpVersion", 's', NULL, NULL },
    { "HealthCheckInterval", 'n', NULL, "5" },    { "HealthCheckReq", 's', NULL, NULL },
    { "HealthCheckType", 's', NULL, "TCP" },      { "HealthCheckUrl", 's', NULL, NULL },
    { "HealthyThreshold", 'n', NULL, "2" },       { "HttpCheckMethod", 's', NULL, NULL },
    { "UnhealthyThreshold", 'n', NULL, "2" },     { 0 },
};

/* Load balancers whose listeners send to the group, each once. */
static void related_write(struct ccm_jsonw *w, const struct ccm_nlb_group *group)
{
    ccm_jsonw_open(w, "RelatedLoadBalancerIds", '[');
    for (size_t i = 0; i < group->users_len; i++) {
        bool seen = false;

        for (size_t k = 0; k < i && !seen; k++) {
            seen = group->users[k]->lb == group->users[i]->lb;
        }
        if (!seen) {
            ccm_jsonw_str(w, NULL, group->users[i]->lb->obj.id);
        }
    }
    ccm_jsonw_close(w, ']');
}

static void group_write(struct ccm_jsonw *w, const struct ccm_nlb_group *group)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "ServerGroupId", group->obj.id);
    ccm_cloud_write_fields(w, &group->obj, group_fields);
    ccm_jsonw_open(w, "HealthCheck", '{');
    ccm_cloud_write_fields(w, &group->obj, health_fields);
    ccm_nlb_list_write(w, "HealthCheckHttpCode",
                       ccm_cloud_attr(&group->obj, "HealthCheckHttpCode"));
    ccm_jsonw_close(w, '}');
    related_write(w, group);
    ccm_jsonw_i64(w, "ServerCount", (int64_t)group->servers.len);
    ccm_nlb_tags_write(w, &group->obj, false);
    ccm_jsonw_close(w, '}');
}

struct filter {
    struct ccm_sim_params ids;
    struct ccm_sim_params others; /* names of groups, or addresses of servers */
    struct ccm_sim_params tags;
};

static void filter_fini(struct filter *filter)
{
    ccm_sim_params_fini(&filter->ids);
    ccm_sim_params_fini(&filter->others);
    ccm_sim_params_fini(&filter->tags);
}

static void group_take(struct ccm_cloud_call *call, const struct filter *filter,
                       struct ccm_nlb_page *page, const struct ccm_nlb_group *group)
{
    if (ccm_nlb_list_has(&filter->ids, group->obj.id) &&
        ccm_nlb_list_has(&filter->others, ccm_cloud_attr(&group->obj, "ServerGroupName")) &&
        ccm_nlb_attr_fits(call, &group->obj, "ResourceGroupId") &&
        ccm_nlb_attr_fits(call, &group->obj, "ServerGroupType") &&
        ccm_nlb_attr_fits(call, &group->obj, "VpcId") &&
        ccm_cloud_tags_fit(&group->obj, &filter->tags) &&
        ccm_nlb_page_takes(page, group->obj.seq, 0)) {
        group_write(call->out, group);
    }
}

static int list_groups(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(filter_fini) struct filter filter = { 0 };
    struct ccm_nlb_page page = { 0 };
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    int r = ccm_nlb_page_read(call, 20, &page);

    r = r < 0 ? r : ccm_cloud_list(call, "ServerGroupIds", &filter.ids);
    r = r < 0 ? r : ccm_cloud_list(call, "ServerGroupNames", &filter.others);
    r = r < 0 ? r : ccm_cloud_tags_read(call, &filter.tags);
    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, "ServerGroups", '[');
    if (filter.ids.len == 1) {
        const struct ccm_nlb_group *group =
            ccm_nlb_group_get(call->cloud, filter.ids.items[0].value);

        if (group != NULL) {
            group_take(call, &filter, &page, group);
        }
    } else {
        while (ccm_strmap_next(call->cloud->nlb->groups, &cursor, &id, &value) != 0) {
            group_take(call, &filter, &page, value);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_nlb_page_write(call, &page);
    return 0;
}

/* ---- servers ---- */

static void server_write(struct ccm_jsonw *w, const struct ccm_nlb_group *group,
                         const struct ccm_nlb_server *server)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "Description", server->description);
    ccm_jsonw_i64(w, "Port", server->port);
    ccm_jsonw_str(w, "ServerGroupId", group->obj.id);
    ccm_jsonw_str(w, "ServerId", server->id);
    ccm_jsonw_str(w, "ServerIp", server->ip);
    ccm_jsonw_str(w, "ServerType", server->type);
    ccm_jsonw_str(w, "Status", server->status);
    ccm_jsonw_i64(w, "Weight", server->weight);
    ccm_jsonw_str(w, "ZoneId", server->zone);
    ccm_jsonw_close(w, '}');
}

static void servers_take(struct ccm_cloud_call *call, const struct filter *filter,
                         struct ccm_nlb_page *page, const struct ccm_nlb_group *group)
{
    for (size_t i = 0; i < group->servers.len; i++) {
        const struct ccm_nlb_server *server = &group->servers.items[i];

        if (ccm_nlb_list_has(&filter->ids, server->id) &&
            ccm_nlb_list_has(&filter->others, server->ip) &&
            ccm_nlb_page_takes(page, group->obj.seq, server->seq)) {
            server_write(call->out, group, server);
        }
    }
}

static int list_servers(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(filter_fini) struct filter filter = { 0 };
    struct ccm_nlb_group *group = NULL;
    struct ccm_nlb_page page = { 0 };
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    int r = ccm_nlb_page_read(call, 20, &page);

    r = r < 0 ? r : ccm_cloud_list(call, "ServerIds", &filter.ids);
    r = r < 0 ? r : ccm_cloud_list(call, "ServerIps", &filter.others);
    if (r == 0 && ccm_cloud_has(call, "ServerGroupId")) {
        r = ccm_nlb_group_of(call, &group);
    }
    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, "Servers", '[');
    if (group != NULL) {
        servers_take(call, &filter, &page, group);
    } else {
        while (ccm_strmap_next(call->cloud->nlb->groups, &cursor, &id, &value) != 0) {
            servers_take(call, &filter, &page, value);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_nlb_page_write(call, &page);
    return 0;
}

static const struct ccm_cloud_param group_params[] = {
    CCM_NLB_PAGE_ROWS(100),
    { .name = "ResourceGroupId" },
    { .name = "ServerGroupIds.N", .items = 20 },
    { .name = "ServerGroupNames.N", .items = 20 },
    { .name = "ServerGroupType", .type = CCM_CLOUD_ENUM, .values = "Instance|Ip" },
    CCM_NLB_TAG_ROWS,
    { .name = "VpcId" },
    { 0 },
};

static const struct ccm_cloud_param server_params[] = {
    CCM_NLB_PAGE_ROWS(100),
    { .name = "ServerGroupId" },
    { .name = "ServerIds.N", .items = 40 },
    { .name = "ServerIps.N", .items = 40 },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_nlb_group_read_actions[] = {
    { .name = "ListServerGroups",
      .params = group_params,
      .manner = &ccm_nlb_manner,
      .run = list_groups },
    { .name = "ListServerGroupServers",
      .params = server_params,
      .manner = &ccm_nlb_manner,
      .run = list_servers },
    { 0 },
};
