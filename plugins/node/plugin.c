/* Descriptor and life cycle of the plugin `node`. */
#include "alicloud/client.h"
#include "alicloud/instance.h"
#include "alicloud/options.h"
#include "ccm/version.h"
#include "gone.h"
#include "ledger.h"
#include "reconcile.h"
#include "util/cleanup.h"
#include "util/lease_event.h"
#include "view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BOOL_OPTION(symbol, key, default_text, words)                                              \
    static const struct ccm_option opt_##symbol = {                                                \
        .struct_size = sizeof(struct ccm_option),                                                  \
        .type = CCM_OPTION_BOOL,                                                                   \
        .name = key,                                                                               \
        .fallback = default_text,                                                                  \
        .help = words,                                                                             \
    }
#define INT_OPTION(symbol, key, default_text, least, most, words)                                  \
    static const struct ccm_option opt_##symbol = {                                                \
        .struct_size = sizeof(struct ccm_option),                                                  \
        .type = CCM_OPTION_INT,                                                                    \
        .flags = CCM_OPTION_LIVE,                                                                  \
        .name = key,                                                                               \
        .fallback = default_text,                                                                  \
        .min = least,                                                                              \
        .max = most,                                                                               \
        .help = words,                                                                             \
    }

INT_OPTION(period, "period_s", "300", 1, 86400,
           "How often all nodes are compared with the cloud, within 10 %: a hundred at a time, "
           "spread over half of that time (up to five hundred at a time when it is short): what "
           "somebody changed in the cloud comes to the nodes, and nodes whose instances are gone "
           "are found.");
static const struct ccm_option opt_batch = CCM_OPTION_RETIRED_ROW(NULL, "batch", "it is 100");
BOOL_OPTION(
    network, "network_condition", "false",
    "A new node gets the condition NetworkUnavailable before its taint goes, so that no pod "
    "starts there before its route exists. With plugin route in this cluster only: it takes "
    "the condition back.");
BOOL_OPTION(forward, "disable_source_dest_check", "true",
            "Switch off the check of source and destination of the primary network interface of "
            "new nodes: routes to pods need that.");
BOOL_OPTION(ipv6, "ipv6", "false",
            "Nodes also have the IPv6 addresses of their primary network interface.");
BOOL_OPTION(shutdown, "shutdown_taint", "false",
            "Nodes whose instance is stopped get the taint " NODE_TAINT_STOPPED
            ", until it runs again.");
BOOL_OPTION(find, "find_by_address", "false",
            "A new node without provider id is looked for by its only InternalIP among the "
            "instances of the VPC, and gets the id of the one that has it.");
INT_OPTION(confirm, "gone_confirm_s", "60", 1, 86400,
           "A Node object whose Ready condition is Unknown is deleted when two looks lack its "
           "instance that lie so far apart; shorter than 60 is for tests.");
/* By the name that util/removal_budget reads. */
INT_OPTION(share, "removal_share_percent", "10", 0, 100,
           "Largest share of all nodes that is deleted within removal_window_s since their "
           "instances are gone; the rest is held, and told. Of up to three nodes one goes at a "
           "time. 0: none is ever deleted, 100: nothing is held.");
INT_OPTION(window, "removal_window_s", "3600", 1, 86400,
           "The time that removal_share_percent is about, restarts of ccmd included. `ccmd "
           "allow-removals` lets everything go for as long.");

static const struct ccm_option *const options[] = {
    ALI_OPTIONS, &opt_period,       &opt_batch, &opt_network, &opt_forward,
    &opt_ipv6,   &opt_shutdown,     &opt_find,  &opt_confirm, &opt_share,
    &opt_window, CCM_LEASE_OPTIONS, NULL,
};

/* ---- watching ---- */

static void map_added(struct node_control *control, const struct ccm_node *node)
{
    const bool fresh = node_is_tainted(node, NODE_TAINT_NEW);

    /* The first look comes by the others that were there at the start. */
    if (fresh || atomic_load(&control->running) || control->host->dry_run(control->host)) {
        control->host->enqueue(control->host, node->meta.name,
                               fresh ? CCM_LANE_URGENT : CCM_LANE_BULK, 0);
    }
}

static void map_updated(struct node_control *control, const struct ccm_node *before,
                        const struct ccm_node *after)
{
    const struct ccm_host *host = control->host;
    uint64_t wait_ms = 0;

    if (node_differs(before, after)) {
        host->enqueue(host, after->meta.name,
                      node_is_tainted(after, NODE_TAINT_NEW) ? CCM_LANE_URGENT : CCM_LANE_SPEC, 0);
    } else if (node_memory_is_changed(control->memory, before, after, host->now_ms(host),
                                      &wait_ms)) {
        host->enqueue(host, after->meta.name, CCM_LANE_BULK, wait_ms);
    }
}

static void map_node(void *self, const struct ccm_change *change)
{
    struct node_control *control = self;

    if (change->type == CCM_CHANGE_ADDED) {
        map_added(control, (const struct ccm_node *)change->after);
    } else if (change->type == CCM_CHANGE_UPDATED) {
        map_updated(control, (const struct ccm_node *)change->before,
                    (const struct ccm_node *)change->after);
    } else if (atomic_load(&control->running)) {
        control->host->enqueue(control->host, change->before->name, CCM_LANE_BULK, 0);
    }
}

static const char *const own_annotations[] = { NODE_LEDGER, NULL };
static const char *const own_keys[] = { "alibabacloud.com/", "node.alibabacloud.com/",
                                        "ack.alibabacloud.com/", "service.alibabacloud.com/",
                                        NULL };
static const struct ccm_watch watch_node = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_NODE,
    .map = map_node,
    .annotations = own_annotations,
    .keys = own_keys,
};
static const struct ccm_watch *const watches[] = { &watch_node, NULL };

/* ---- life ---- */

static void instance_destroy(void *self)
{
    struct node_control *control = self;

    node_memory_free(control->memory);
    node_absences_free(control->absences);
    node_views_free(control->views);
    ccm_strmap_free(control->told);
    free(control->page_after);
    ali_release(control->ali);
    free(control);
}

/* Options that may change at any time. */
static void instance_read_options(struct node_control *control)
{
    const struct ccm_host *host = control->host;

    control->period_ms = host->option_int(host, NULL, opt_period.name) * 1000;
    control->confirm_ms = host->option_int(host, NULL, opt_confirm.name) * 1000;
    control->rule.share_percent = (uint32_t)host->option_int(host, NULL, opt_share.name);
    control->rule.window_ms = host->option_int(host, NULL, opt_window.name) * 1000;
    control->rule.released_until_ms = atomic_load(&control->released_until_ms);
}

static int instance_configure(struct node_control *control, struct ccm_error *err)
{
    const struct ccm_host *host = control->host;

    instance_read_options(control);
    control->rules.ipv6 = host->option_int(host, NULL, opt_ipv6.name) != 0;
    control->rules.network = host->option_int(host, NULL, opt_network.name) != 0;
    control->rules.shutdown = host->option_int(host, NULL, opt_shutdown.name) != 0;
    control->forward = host->option_int(host, NULL, opt_forward.name) != 0;
    control->find = host->option_int(host, NULL, opt_find.name) != 0;
    control->memory = node_memory_new();
    control->absences = node_absences_new();
    control->views = node_views_new();
    control->told = ccm_strmap_new(NULL);
    return control->memory == NULL || control->absences == NULL || control->views == NULL ||
                   control->told == NULL
               ? ccm_error_nomem(err)
               : 0;
}

static int instance_create(const struct ccm_host *host, void **ret_self, struct ccm_error *err)
{
    struct node_control *control = calloc(1, sizeof(*control));
    int r;

    if (control == NULL) {
        return ccm_error_nomem(err);
    }
    control->host = host;
    r = instance_configure(control, err);
    if (r == 0) {
        r = ali_acquire(host, &control->ali, err);
    }
    if (r < 0) {
        instance_destroy(control);
        return r;
    }
    *ret_self = control;
    return 0;
}

static int check_options(const struct ccm_check_sink *sink)
{
    struct ccm_error err = CCM_ERROR_INIT;

    if (ali_check(sink->host, &err) < 0) {
        sink->finding(sink, CCM_LEVEL_ERROR, err.message);
    }
    return 0;
}

static int instance_start(void *self, struct ccm_error *err)
{
    struct node_control *control = self;
    const int r = ali_start(control->ali, control->host, err);

    if (r < 0) {
        return r;
    }
    if (control->find && ali_vpc_id(control->ali)[0] == '\0') {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "option find_by_address needs alicloud.vpc_id, and the metadata "
                             "service knows no VPC");
    }
    atomic_store(&control->running, true);
    if (!control->host->dry_run(control->host)) {
        control->host->enqueue(control->host, NODE_PASS_KEY, CCM_LANE_BULK, 0);
    }
    return 0;
}

static int64_t allow_removals(void *self)
{
    struct node_control *control = self;
    const struct ccm_host *host = control->host;
    const int64_t window_ms = host->option_int(host, NULL, opt_window.name) * 1000;

    atomic_store(&control->released_until_ms, host->now_ms(host) + window_ms);
    host->enqueue(host, NODE_PASS_KEY, CCM_LANE_URGENT, 0);
    return window_ms;
}

static uint64_t instance_resync(void *self, const char *key)
{
    struct node_control *control = self;
    const struct ccm_host *host = control->host;
    const struct ccm_object *object = NULL;

    if (key == NULL) {
        host->enqueue(host, NODE_PASS_KEY, CCM_LANE_URGENT, 0);
        return 1;
    }
    object = strchr(key, '/') == NULL ? host->get(host, CCM_KIND_NODE, key) : NULL;
    if (object == NULL) {
        return 0;
    }
    host->release(host, object);
    host->enqueue(host, key, CCM_LANE_URGENT, 0);
    return 1;
}

static int instance_describe(void *self, const char *key, const struct ccm_view_sink *sink)
{
    const struct node_control *control = self;

    if (key != NULL) {
        return node_views_describe(control, key, sink);
    }
    ali_describe(control->ali, control->host, sink);
    return 0;
}

static int instance_reconcile(void *self, const struct ccm_request *req, struct ccm_result *ret,
                              struct ccm_error *err)
{
    instance_read_options(self);
    return node_reconcile(self, req, ret, err);
}

static const struct ccm_right right_nodes = {
    .struct_size = sizeof(struct ccm_right),
    .api_version = "v1",
    .resource = "nodes", /* labels, provider id, taints; nodes whose instance is gone */
    .verbs = "get,patch,delete",
};
static const struct ccm_right right_node_status = {
    .struct_size = sizeof(struct ccm_right),
    .api_version = "v1",
    .resource = "nodes/status", /* addresses, condition NetworkUnavailable */
    .verbs = "patch",
};
static const struct ccm_right *const rights[] = { &right_nodes, &right_node_status, NULL };

static const char *const own_metrics[] = { "ccmd_node_", NULL };
const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "node",
    .flags = CCM_PLUGIN_SERIAL | CCM_PLUGIN_PLANS,
    .options = options,
    .watches = watches,
    .create = instance_create,
    .start = instance_start,
    .reconcile = instance_reconcile,
    .destroy = instance_destroy,
    .batch_max = NODE_KEYS_MAX,
    .version = CCM_VERSION,
    .summary = "Initialises nodes, keeps labels and addresses as the cloud has them, deletes nodes "
               "whose instance is gone",
    .batch_wait_ms = NODE_BURST_MS,
    .allow_removals = allow_removals,
    .resync = instance_resync,
    .check = check_options,
    .rights = rights,
    .describe = instance_describe,
    .metrics = own_metrics,
    .plain_metrics = 1,
};
