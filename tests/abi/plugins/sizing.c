/* Asks for what Nodes can do, and logs it with each change, from the caches and as fetched. */
#include <ccm/plugin.h>

#include <inttypes.h>

static const struct ccm_host *sizing_host;

static void sizing_map_change(void *self, const struct ccm_change *change)
{
    (void)self; /* no state */
    if (change->after != NULL) {
        sizing_host->enqueue(sizing_host, change->after->key, CCM_LANE_SPEC, 0);
    }
}

static const struct ccm_watch watch = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_NODE,
    .map = sizing_map_change,
    .flags = CCM_WATCH_NODE_INFO,
};

static const struct ccm_watch *const watches[] = { &watch, NULL };

static int sizing_create_plugin(const struct ccm_host *host, void **ret_self, struct ccm_error *err)
{
    (void)err; /* cannot fail */
    sizing_host = host;
    *ret_self = NULL;
    return 0;
}

static const char *find_value(const struct ccm_pair *const *pairs, uint64_t count, const char *key)
{
    for (uint64_t i = 0; i < count; i++) {
        if (strcmp(pairs[i]->key, key) == 0) {
            return pairs[i]->value;
        }
    }
    return "none";
}

static void log_info(const char *where, const struct ccm_object *object)
{
    const struct ccm_host *host = sizing_host;
    const struct ccm_node_info *info = ((const struct ccm_node *)(const void *)object)->info;

    if (info == NULL) {
        host->log(host, CCM_LEVEL_INFO, object->key, "%s: no info", where);
        return;
    }
    host->log(host, CCM_LEVEL_INFO, object->key,
              "%s: %" PRIu64 " of capacity, cpu %s, allocatable %s, kubelet %s", where,
              info->capacity_count, find_value(info->capacity, info->capacity_count, "cpu"),
              find_value(info->allocatable, info->allocatable_count, "cpu"),
              find_value(info->system, info->system_count, "kubeletVersion"));
}

static int sizing_reconcile_keys(void *self, const struct ccm_request *req, struct ccm_result *ret,
                                 struct ccm_error *err)
{
    const struct ccm_host *host = sizing_host;
    const struct ccm_object *cached = host->get(host, CCM_KIND_NODE, req->keys[0]);
    const struct ccm_object *live = NULL;
    int r = 0;

    (void)self; /* no state */
    (void)ret;  /* not again */
    if (cached == NULL) {
        return 0;
    }
    log_info("cache", cached);
    host->release(host, cached);
    r = host->fetch(host, req, CCM_KIND_NODE, NULL, req->keys[0], &live, err);
    if (r == 0) {
        log_info("server", live);
        host->release(host, live);
    }
    return r;
}

static void sizing_destroy_plugin(void *self)
{
    (void)self; /* no state */
}

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "sizing",
    .watches = watches,
    .create = sizing_create_plugin,
    .reconcile = sizing_reconcile_keys,
    .destroy = sizing_destroy_plugin,
    .version = "1.2.3",
    .summary = "logs what Nodes can do, for tests",
};
