#include "measure.h"

#include "util/attr.h"
#include "util/buckets.h"
#include "util/quota_use.h"

static const double reference_ms[] = { CCM_REFERENCE_BUCKETS_MS };
static const char *const verbs[] = { "verb", NULL };
static const struct ccm_metric latency = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_HISTOGRAM,
    .name = "ccm_route_latencies_duration_milliseconds",
    .help =
        "reconcile: one batch of nodes, or a periodic pass. create: one call that makes routes.",
    .labels = verbs,
    .buckets = reference_ms,
    .bucket_count = CCM_ARRAY_LEN(reference_ms),
};

static const struct ccm_metric entries = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_GAUGE,
    .name = "ccmd_route_entries",
    .help = "Routes to instances inside of cluster_cidr, in all tables.",
};

static const char *const table_labels[] = { "table", NULL };
static const struct ccm_metric table_entries = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_GAUGE,
    .name = "ccmd_route_table_entries",
    .help = "Custom routes of a table, whoever made them: what its quota counts.",
    .labels = table_labels,
};

static const struct ccm_metric full = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_GAUGE,
    .name = "ccmd_route_tables_full",
    .help = "Route tables that took no more routes.",
};

static const char *const state_labels[] = { "state", NULL };
static const struct ccm_metric nodes = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_GAUGE,
    .name = "ccmd_route_nodes",
    .help = "Nodes: served, held (they keep what they have), excluded, unserved (not ours, or "
            "nothing to route to), invalid (a pod CIDR that is none).",
    .labels = state_labels,
};

static void measure_record_latency(const struct route *route, const char *verb, int64_t started_ms)
{
    const struct ccm_host *host = route->host;
    const char *const values[] = { verb };

    host->metric(host, &latency, values, (double)(host->now_ms(host) - started_ms));
}

void route_measure_call(const struct route *route, int64_t started_ms)
{
    measure_record_latency(route, "reconcile", started_ms);
}

void route_measure_creation(const struct route *route, int64_t started_ms)
{
    measure_record_latency(route, "create", started_ms);
}

/* Entries of the table that are ours by their looks. */
static size_t measure_table(const struct route *route, const struct route_table *table)
{
    const struct ccm_host *host = route->host;
    const char *const values[] = { table->id };
    size_t ours = 0;

    for (size_t i = 0; i < table->len; i++) {
        const struct route_entry *entry = &table->entries[i];

        ours += entry->status != ROUTE_LEAVING && entry->can_be_ours &&
                route_nets_contain(&route->cluster, &entry->net);
    }
    host->metric(host, &table_entries, values, (double)route_table_used(table));
    return ours;
}

static void measure_nodes(const struct route_run *run)
{
    static const char *const states[] = { "served", "held", "excluded", "unserved", "invalid" };
    static const size_t state_of[] = {
        [ROUTE_NODE_SERVED] = 0,  [ROUTE_NODE_FROZEN] = 1,  [ROUTE_NODE_EXCLUDED] = 2,
        [ROUTE_NODE_FOREIGN] = 3, [ROUTE_NODE_UNNAMED] = 3, [ROUTE_NODE_BARE] = 3,
        [ROUTE_NODE_INVALID] = 4,
    };
    const struct ccm_host *host = run->route->host;
    size_t counts[CCM_ARRAY_LEN(states)] = { 0 };

    for (size_t n = 0; n < run->object_count; n++) {
        counts[state_of[run->nodes[n].class_]]++;
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(states); i++) {
        host->metric(host, &nodes, &states[i], (double)counts[i]);
    }
}

void route_measure_world(const struct route_run *run)
{
    const struct route *route = run->route;
    const struct ccm_host *host = route->host;
    size_t ours = 0;
    size_t closed = 0;
    size_t most = 0;

    for (size_t t = 0; t < route->table_count; t++) {
        const size_t used = route_table_used(&route->tables[t]);

        most = used > most ? used : most;
        ours += measure_table(route, &route->tables[t]);
        closed += route->tables[t].full ? 1 : 0;
    }
    ccm_quota_measure(host, "route", "routes-per-table", most,
                      ccm_quota_limit(host, "routes", ROUTE_QUOTA));
    host->metric(host, &entries, NULL, (double)ours);
    host->metric(host, &full, NULL, (double)closed);
    measure_nodes(run);
}
