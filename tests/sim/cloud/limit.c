#include "limit.h"

#include "util/attr.h"

#include <string.h>

uint32_t *ccm_cloud_limit_find(struct ccm_cloud_limits *limits, const char *name, size_t len)
{
    const struct {
        const char *name;
        uint32_t *value;
    } rows[] = {
        { "load-balancers", &limits->load_balancers },
        { "listeners", &limits->listeners },
        { "backends", &limits->backends },
        { "backends-per-call", &limits->backends_per_call },
        { "vserver-groups", &limits->vserver_groups },
        { "acls", &limits->acls },
        { "acl-entries", &limits->acl_entries },
        { "domain-extensions", &limits->domain_extensions },
        { "routes", &limits->routes },
        { "routes-per-call", &limits->routes_per_call },
        { "route-tables", &limits->route_tables },
        { "eips", &limits->eips },
        { "security-groups", &limits->security_groups },
        { "security-rules", &limits->security_rules },
        { "description", &limits->description },
        { "nlb-load-balancers", &limits->nlb_load_balancers },
        { "nlb-listeners", &limits->nlb_listeners },
        { "nlb-servers", &limits->nlb_servers },
        { "nlb-server-groups", &limits->nlb_server_groups },
        { "nlb-server-uses", &limits->nlb_server_uses },
        { "slb-modify-atomic", &limits->slb_modify_atomic },
        { "slb-set-description", &limits->slb_set_description },
        { "slb-add-updates", &limits->slb_add_updates },
        { "acl-off-keeps", &limits->acl_off_keeps },
        { "token-life-s", &limits->token_life_s },
        { "nlb-job-ids", &limits->nlb_job_ids },
        { "nlb-drain-percent", &limits->nlb_drain_percent },
        { "nlb-job-keep-s", &limits->nlb_job_keep_s },
        { "route-page", &limits->route_page },
        { "slb-busy-ms", &limits->slb_busy_ms },
        { "slb-listener-ms", &limits->listener_ms },
        { "slb-busy-reads", &limits->busy_reads },
        { "route-ms", &limits->route_ms },
        { "job-ms", &limits->job_ms },
        { "tag-lag-ms", &limits->tag_lag_ms },
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(rows); i++) {
        if (strlen(rows[i].name) == len && strncmp(rows[i].name, name, len) == 0) {
            return rows[i].value;
        }
    }
    return NULL;
}
