/* Descriptor and life cycle of the plugin `route`. */
#include "alicloud/client.h"
#include "alicloud/instance.h"
#include "alicloud/options.h"
#include "ccm/version.h"
#include "reconcile.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/lease_event.h"
#include "util/parse.h"
#include "util/quota_use.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Nodes come in bursts: a call waits this long for more of them. */
#define BURST_MS 300

static const struct ccm_option opt_cluster_cidr = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .flags = CCM_OPTION_REQUIRED,
    .name = "cluster_cidr",
    .help = "Networks that the pod CIDRs of nodes come from, separated by commas, such as "
            "\"172.20.0.0/16\". No route outside of them is ever made or deleted.",
};
static const struct ccm_option opt_tables = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRINGS,
    .name = "table_ids",
    .help = "Route tables that get a route per node; empty: the only table of the VPC. A VPC with "
            "several tables needs this option.",
};
static const struct ccm_option opt_period = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_INT,
    .flags = CCM_OPTION_LIVE,
    .name = "period_s",
    .fallback = "300",
    .min = 1,
    .max = 86400,
    .help =
        "How often the tables are listed and compared with all nodes, within 10 %, to repair what "
        "somebody changed in the cloud. Each time costs one call per table and 100 routes.",
};
static const struct ccm_option opt_batch =
    CCM_OPTION_RETIRED_ROW(NULL, "routes_per_call", "it is 50");
static const struct ccm_option opt_orphans = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .flags = CCM_OPTION_LIVE,
    .name = "orphan_cleanup",
    .fallback = "false",
    .help = "Delete routes inside of cluster_cidr whose destination is no node's and whose "
            "instance backs no node, once two rounds in a row have seen them. Otherwise they are "
            "only told.",
};
static const struct ccm_option opt_ipv6 = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .name = "ipv6",
    .fallback = "false",
    .help = "Also make routes for the IPv6 pod CIDRs of nodes; cluster_cidr has to name their "
            "network too.",
};
static const struct ccm_option opt_quotas =
    CCM_QUOTA_OPTION("routes", "routes=200: all custom entries of a table");
static const struct ccm_option opt_quota = CCM_QUOTA_RETIRED_ROW("routes");
static const struct ccm_option *const options[] = {
    ALI_OPTIONS, &opt_cluster_cidr,   &opt_tables,       &opt_period, &opt_batch, &opt_orphans,
    &opt_ipv6,   CCM_REMOVAL_OPTIONS, CCM_LEASE_OPTIONS, &opt_quotas, &opt_quota, NULL,
};

/* ---- watching ---- */

/* A core of ABI 1.0 does not say. */
static enum route_loss loss_of(const struct ccm_change *change)
{
    return change->struct_size > offsetof(struct ccm_change, flags) &&
                   (change->flags & CCM_CHANGE_MISSING) != 0
               ? ROUTE_LOSS_MISSING
               : ROUTE_LOSS_DELETED;
}

static void map_node(void *self, const struct ccm_change *change)
{
    const struct route *route = self;
    const struct ccm_node *before = (const struct ccm_node *)change->before;
    const struct ccm_node *after = (const struct ccm_node *)change->after;
    uint64_t lane = CCM_LANE_URGENT;

    if (change->type == CCM_CHANGE_ADDED) {
        if (after->pod_cidr_count == 0) {
            return; /* it comes again when it has one */
        }
    } else if (change->type == CCM_CHANGE_DELETED) {
        (void)route_pasts_record(route->pasts, before, NULL, loss_of(change),
                                 route->host->now_ms(route->host)); /* queued in any case */
    } else if (route_node_differs(before, after)) {
        (void)route_pasts_record(route->pasts, before, after, ROUTE_LOSS_CHANGED,
                                 route->host->now_ms(route->host));
        lane = CCM_LANE_SPEC;
    } else {
        return;
    }
    route->host->enqueue(
        route->host, change->after == NULL ? change->before->name : change->after->name, lane, 0);
}

static const char *const own_keys[] = { "service.alibabacloud.com/", NULL };
static const struct ccm_watch watch_node = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_NODE,
    .map = map_node,
    .keys = own_keys,
};
static const struct ccm_watch *const watches[] = { &watch_node, NULL };

/* ---- life ---- */

static void instance_destroy(void *self)
{
    struct route *route = self;

    for (size_t i = 0; i < route->table_count; i++) {
        route_table_fini(&route->tables[i]);
    }
    for (size_t i = 0; route->table_ids != NULL && route->table_ids[i] != NULL; i++) {
        free(route->table_ids[i]);
    }
    free(route->tables);
    free(route->table_ids);
    free(route->all_message);
    free(route->orphans_message);
    ccm_strmap_free(route->messages);
    ccm_strmap_free(route->orphans);
    ccm_strmap_free(route->frozen);
    route_pasts_free(route->pasts);
    route_nets_fini(&route->cluster);
    ali_release(route->ali);
    free(route);
}

static bool has_id(char *const *ids, size_t count, const char *id, size_t len)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(ids[i]) == len && memcmp(ids[i], id, len) == 0) {
            return true;
        }
    }
    return false;
}

/* Ids as listed; an element may hold several with commas, as in other controllers. */
static int instance_parse_table_ids(struct route *route, const char *const *list)
{
    size_t count = 0;
    size_t cap = 0;

    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        const char *cursor = list[i];
        const char *piece = NULL;
        size_t len = 0;

        while (ccm_parse_piece(&cursor, ',', &piece, &len)) {
            if (len == 0 || has_id(route->table_ids, count, piece, len)) {
                continue;
            }
            if (ccm_array_grow(&route->table_ids, &cap, count + 2, sizeof(char *)) < 0) {
                return -ENOMEM;
            }
            route->table_ids[count] = strndup(piece, len);
            route->table_ids[count + 1] = NULL;
            if (route->table_ids[count++] == NULL) {
                return -ENOMEM;
            }
        }
    }
    if (route->table_ids == NULL) {
        route->table_ids = calloc(1, sizeof(char *));
    }
    return route->table_ids == NULL ? -ENOMEM : 0;
}

static int instance_parse_cluster(struct route *route, struct ccm_error *err)
{
    char bad[64] = "";
    const int r = route_nets_parse(
        route->host->option_string(route->host, NULL, opt_cluster_cidr.name), &route->cluster, bad);

    if (r == -ENOMEM) {
        return ccm_error_nomem(err);
    }
    if (r < 0) {
        return ccm_error_set(err, r, CCM_ERROR_TERMINAL,
                             "option cluster_cidr: \"%s\" is no network such as 172.20.0.0/16",
                             bad);
    }
    if (route->cluster.len == 0) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "option cluster_cidr must be set: it says which routes are ours");
    }
    return 0;
}

/* Options that may change at any time. */
static void instance_read_options(struct route *route)
{
    const struct ccm_host *host = route->host;

    route->period_ms = host->option_int(host, NULL, opt_period.name) * 1000;
    route->orphan_cleanup = host->option_int(host, NULL, opt_orphans.name) != 0;
    ccm_removal_rule_read(&route->rule, host);
    route->rule.released_until_ms = atomic_load(&route->released_until_ms);
}

static int instance_configure(struct route *route, struct ccm_error *err)
{
    const struct ccm_host *host = route->host;

    instance_read_options(route);
    route->ipv6 = host->option_int(host, NULL, opt_ipv6.name) != 0;
    route->messages = ccm_strmap_new(free);
    route->pasts = route_pasts_new();
    route->frozen = ccm_strmap_new(free);
    if (route->messages == NULL || route->frozen == NULL || route->pasts == NULL ||
        instance_parse_table_ids(route, host->option_strings(host, NULL, opt_tables.name)) < 0) {
        return ccm_error_nomem(err);
    }
    return instance_parse_cluster(route, err);
}

static int instance_create(const struct ccm_host *host, void **ret_self, struct ccm_error *err)
{
    struct route *route = calloc(1, sizeof(*route));
    int r;

    if (route == NULL) {
        return ccm_error_nomem(err);
    }
    route->host = host;
    r = instance_configure(route, err);
    if (r == 0) {
        r = ali_acquire(host, &route->ali, err);
    }
    if (r < 0) {
        instance_destroy(route);
        return r;
    }
    *ret_self = route;
    return 0;
}

/* What create() would say; there is no instance afterwards. */
static int check_options(const struct ccm_check_sink *sink)
{
    struct ccm_error err = CCM_ERROR_INIT;
    struct route *route = calloc(1, sizeof(*route));
    int r;

    if (route == NULL) {
        return -ENOMEM;
    }
    route->host = sink->host;
    r = instance_configure(route, &err);
    instance_destroy(route);
    if (r == 0) {
        r = ali_check(sink->host, &err);
    }
    if (r < 0) {
        sink->finding(sink, CCM_LEVEL_ERROR, err.message);
    }
    return 0;
}

static int instance_start(void *self, struct ccm_error *err)
{
    struct route *route = self;
    const int r = ali_start(route->ali, route->host, err);

    if (r < 0) {
        return r;
    }
    if (route->table_ids[0] == NULL && ali_vpc_id(route->ali)[0] == '\0') {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "neither option table_ids nor alicloud.vpc_id is set, and the "
                             "metadata service knows no VPC");
    }
    route->host->enqueue(route->host, ROUTE_PASS_KEY, CCM_LANE_BULK, 0);
    return 0;
}

/* What of a node its routes go by. The tables themselves belong to the pass that works on them. */
static int instance_describe(void *self, const char *key, const struct ccm_view_sink *sink)
{
    const struct route *route = self;
    const struct ccm_host *host = route->host;

    if (key == NULL) {
        ali_describe(route->ali, host, sink);
        return 0;
    }
    const struct ccm_object *object = host->get(host, CCM_KIND_NODE, key);
    const struct ccm_node *node = (const struct ccm_node *)object;

    if (object == NULL) {
        return -ENOENT;
    }
    sink->fact(sink, "instance", node->provider_id, NULL);
    for (uint64_t i = 0; i < node->pod_cidr_count; i++) {
        sink->fact(sink, i == 0 ? "pod CIDR" : "further pod CIDR", node->pod_cidrs[i], NULL);
    }
    for (size_t i = 0; route->table_ids[i] != NULL; i++) {
        sink->fact(sink, i == 0 ? "route table" : "further route table", route->table_ids[i], NULL);
    }
    sink->fact(sink, "network",
               node->network_unavailable == CCM_CONDITION_TRUE ? "not available yet" : "available",
               NULL);
    host->release(host, object);
    return 0;
}

/* The nodes whose routes are held, and the pass for the orphans. */
static int64_t allow_removals(void *self)
{
    struct route *route = self;
    const struct ccm_host *host = route->host;
    const int64_t window_ms = host->option_int(host, NULL, ccm_removal_opt_window.name) * 1000;
    struct route_past *past = NULL;
    size_t count = 0;

    atomic_store(&route->released_until_ms, host->now_ms(host) + window_ms);
    if (route_pasts_copy(route->pasts, &past, &count) == 0) {
        for (size_t i = 0; i < count; i++) {
            host->enqueue(host, past[i].node, CCM_LANE_URGENT, 0);
        }
        route_past_list_free(past, count);
    } /* else the pass knows them */
    host->enqueue(host, ROUTE_PASS_KEY, CCM_LANE_URGENT, 0);
    return window_ms;
}

static int instance_reconcile(void *self, const struct ccm_request *req, struct ccm_result *ret,
                              struct ccm_error *err)
{
    instance_read_options(self);
    return route_reconcile(self, req, ret, err);
}

static const struct ccm_right right_node_status = {
    .struct_size = sizeof(struct ccm_right),
    .api_version = "v1",
    .resource = "nodes/status", /* condition NetworkUnavailable */
    .verbs = "patch",
};
static const struct ccm_right *const rights[] = { &right_node_status, NULL };

static const char *const own_metrics[] = { "ccmd_route_", "ccmd_quota_", NULL };
const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "route",
    .flags = CCM_PLUGIN_SERIAL | CCM_PLUGIN_PLANS,
    .options = options,
    .watches = watches,
    .create = instance_create,
    .start = instance_start,
    .reconcile = instance_reconcile,
    .destroy = instance_destroy,
    .batch_max = ROUTE_KEYS_MAX,
    .version = CCM_VERSION,
    .summary = "One VPC route per node, for pod networks without overlay such as Flannel's",
    .batch_wait_ms = BURST_MS,
    .allow_removals = allow_removals,
    .describe = instance_describe,
    .check = check_options,
    .rights = rights,
    .metrics = own_metrics,
    .plain_metrics = 1,
};
