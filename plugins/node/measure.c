#include "measure.h"

#include "util/buckets.h"

static const double reference_ms[] = { CCM_REFERENCE_BUCKETS_MS };

static const char *const verbs[] = { "verb", NULL };
static const struct ccm_metric latency = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_HISTOGRAM,
    .name = "ccm_node_latencies_duration_milliseconds",
    .help = "reconcile: one batch of nodes, or one page of the periodic look.",
    .labels = verbs,
    .buckets = reference_ms,
    .bucket_count = CCM_ARRAY_LEN(reference_ms),
};

static const char *const state_labels[] = { "state", NULL };
static const struct ccm_metric nodes = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_GAUGE,
    .name = "ccmd_node_nodes",
    .help = "Nodes: initialized, uninitialized (they still have the taint), excluded, unknown "
            "(nothing that we know by its provider id).",
    .labels = state_labels,
};

static const struct ccm_metric deleted = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_COUNTER,
    .name = "ccmd_node_deleted_total",
    .help = "Node objects that were deleted since their instance was gone.",
};

void node_measure_call(const struct node_run *run)
{
    const struct ccm_host *host = run->control->host;
    const char *const values[] = { "reconcile" };

    host->metric(host, &latency, values, (double)(host->now_ms(host) - run->started_ms));
}

void node_measure_deletion(const struct node_control *control)
{
    control->host->metric(control->host, &deleted, NULL, 1);
}

static size_t node_find_state(const struct ccm_node *node)
{
    struct node_subject subject;

    node_subject_init(&subject, node);
    if (subject.excluded) {
        return 2;
    }
    if (subject.fresh) {
        return 1;
    }
    return subject.kind == NODE_ECS || subject.kind == NODE_LINGJUN ? 0 : 3;
}

void node_measure_world(const struct node_control *control)
{
    static const char *const states[] = { "initialized", "uninitialized", "excluded", "unknown" };
    const struct ccm_host *host = control->host;
    const struct ccm_object *const *objects = NULL;
    size_t counts[CCM_ARRAY_LEN(states)] = { 0 };
    size_t count = 0;

    if (host->list(host, CCM_KIND_NODE, NULL, NULL, &objects, &count) < 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        counts[node_find_state((const struct ccm_node *)objects[i])]++;
    }
    host->release_list(host, objects, count);
    for (size_t i = 0; i < CCM_ARRAY_LEN(states); i++) {
        host->metric(host, &nodes, &states[i], (double)counts[i]);
    }
}
