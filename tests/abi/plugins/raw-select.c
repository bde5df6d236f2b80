/*
 * Watches Buckets, which need not be installed, twice with other selections, and ConfigMaps of the
 * namespace "default" that are named "settings". Logs each change and what the caches hold.
 */
#include <ccm/plugin.h>

#define BUCKETS "example.com/v1", "buckets"

static const struct ccm_host *host;

static void log_change(const char *watch, const struct ccm_change *change)
{
    static const char *const names[] = { "?", "added", "updated", "deleted" };
    const struct ccm_object *object = change->after == NULL ? change->before : change->after;

    host->log(host, CCM_LEVEL_INFO, object->key, "%s: %s%s", watch, names[change->type],
              (change->flags & CCM_CHANGE_MISSING) != 0 ? ", missing" : "");
    host->enqueue(host, object->key, CCM_LANE_SPEC, 0);
}

static void map_red(void *self, const struct ccm_change *change)
{
    (void)self; /* no state */
    log_change("red", change);
}

static void map_other(void *self, const struct ccm_change *change)
{
    (void)self; /* no state */
    log_change("other", change);
}

static void map_settings(void *self, const struct ccm_change *change)
{
    (void)self; /* no state */
    log_change("settings", change);
}

static const struct ccm_index by_owner = {
    .struct_size = sizeof(struct ccm_index),
    .name = "owner",
    .path = "spec.owners.name",
    .flags = CCM_INDEX_NAMESPACED,
};

static const struct ccm_index by_colour = {
    .struct_size = sizeof(struct ccm_index),
    .name = "colour",
    .label = "colour",
};

static const struct ccm_index *const indexes[] = { &by_owner, &by_colour, NULL };

static const struct ccm_watch watch_red = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_RAW,
    .api_version = "example.com/v1",
    .resource = "buckets",
    .map = map_red,
    .flags = CCM_WATCH_OPTIONAL,
    .label_selector = "colour in (red,pink)",
    .indexes = indexes,
};

static const struct ccm_watch watch_other = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_RAW,
    .api_version = "example.com/v1",
    .resource = "buckets",
    .map = map_other,
    .flags = CCM_WATCH_OPTIONAL,
    .namespace_ = "other",
    .indexes = indexes,
};

static const struct ccm_watch watch_settings = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_RAW,
    .api_version = "v1",
    .resource = "configmaps",
    .map = map_settings,
    .namespace_ = "default",
    .field_selector = "metadata.name=settings",
};

static const struct ccm_watch *const watches[] = { &watch_red, &watch_other, &watch_settings,
                                                   NULL };

static int select_create_plugin(const struct ccm_host *given, void **ret_self,
                                struct ccm_error *err)
{
    (void)err; /* cannot fail */
    host = given;
    *ret_self = NULL;
    return 0;
}

static void log_list(const char *what, int r, const struct ccm_object *const *objects, size_t count)
{
    char keys[200] = "";
    size_t used = 0;

    for (size_t i = 0; r == 0 && i < count && used < sizeof(keys) - 80; i++) {
        used += (size_t)snprintf(keys + used, sizeof(keys) - used, " %s", objects[i]->key);
    }
    host->log(host, CCM_LEVEL_INFO, NULL, "%s: result %d, %zu:%s;", what, r, r < 0 ? 0 : count,
              keys);
    if (r == 0) {
        host->release_list(host, objects, count);
    }
}

static int select_reconcile_keys(void *self, const struct ccm_request *req, struct ccm_result *ret,
                                 struct ccm_error *err)
{
    const struct ccm_object *const *objects = NULL;
    size_t count = 0;
    int r;

    (void)self; /* no state */
    (void)req;  /* whatever came: all is told */
    (void)ret;  /* not again */
    (void)err;  /* cannot fail */
    r = host->list_raw(host, BUCKETS, &objects, &count);
    log_list("all", r, objects, count);
    r = host->list_raw_by(host, BUCKETS, "owner", "default/ann", &objects, &count);
    log_list("ann", r, objects, count);
    r = host->list_raw_by(host, BUCKETS, "colour", "pink", &objects, &count);
    log_list("pink", r, objects, count);
    r = host->list_raw_by(host, BUCKETS, "size", "1", &objects, &count);
    log_list("size", r, objects, count);
    return 0;
}

static void select_destroy_plugin(void *self)
{
    (void)self; /* no state */
}

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "raw-select",
    .watches = watches,
    .create = select_create_plugin,
    .reconcile = select_reconcile_keys,
    .destroy = select_destroy_plugin,
};
