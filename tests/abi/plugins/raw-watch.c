/* Watches two resources without a type of their own, tells what it sees, and writes an event about
 * ConfigMaps that are named "loud". */
#include <ccm/plugin.h>

static const struct ccm_host *raw_host;

#define CONFIGMAPS "v1", "configmaps"
#define LEASES     "coordination.k8s.io/v1", "leases"

static void map(const struct ccm_change *change, const char *prefix)
{
    const struct ccm_object *object = change->after == NULL ? change->before : change->after;
    char key[300];

    (void)snprintf(key, sizeof(key), "%s:%s", prefix, object->key); /* names are short here */
    raw_host->enqueue(raw_host, key, CCM_LANE_SPEC, 0);
}

static void map_configmap(void *self, const struct ccm_change *change)
{
    (void)self; /* no state */
    map(change, "c");
}

static void map_lease(void *self, const struct ccm_change *change)
{
    (void)self; /* no state */
    map(change, "l");
}

static const struct ccm_watch watch_configmaps = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_RAW,
    .api_version = "v1",
    .resource = "configmaps",
    .map = map_configmap,
};

static const struct ccm_watch watch_leases = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_RAW,
    .api_version = "coordination.k8s.io/v1",
    .resource = "leases",
    .map = map_lease,
};

static const struct ccm_watch *const watches[] = { &watch_configmaps, &watch_leases, NULL };

static int create(const struct ccm_host *host, void **ret_self, struct ccm_error *err)
{
    (void)err; /* cannot fail */
    raw_host = host;
    *ret_self = NULL;
    return 0;
}

static void greet(const struct ccm_object *object)
{
    const struct ccm_event event = {
        .struct_size = sizeof(event),
        .object = object,
        .component = "raw-watch",
        .reason = "Heard",
        .message = "loud and clear",
    };

    if (strcmp(object->name, "loud") == 0) {
        raw_host->event(raw_host, &event);
    }
}

static void look(const char *key)
{
    const int lease = key[0] == 'l';
    const struct ccm_object *const *objects = NULL;
    size_t count = 0;
    const struct ccm_object *object = lease ? raw_host->get_raw(raw_host, LEASES, key + 2)
                                            : raw_host->get_raw(raw_host, CONFIGMAPS, key + 2);

    if ((lease ? raw_host->list_raw(raw_host, LEASES, &objects, &count)
               : raw_host->list_raw(raw_host, CONFIGMAPS, &objects, &count)) < 0) {
        return;
    }
    if (object == NULL) {
        raw_host->log(raw_host, CCM_LEVEL_INFO, key, "gone, %zu left", count);
    } else {
        const struct ccm_raw *raw = (const struct ccm_raw *)(const void *)object;

        raw_host->log(raw_host, CCM_LEVEL_INFO, key, "%s %s, %zu in all: %s", raw->api_version,
                      raw->kind_name, count, raw->json);
        greet(object);
        raw_host->release(raw_host, object);
    }
    raw_host->release_list(raw_host, objects, count);
}

static int reconcile(void *self, const struct ccm_request *req, struct ccm_result *ret,
                     struct ccm_error *err)
{
    (void)self; /* no state */
    (void)ret;  /* not again */
    (void)err;  /* cannot fail */
    look(req->keys[0]);
    return 0;
}

static void destroy(void *self)
{
    (void)self; /* no state */
}

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "raw-watch",
    .watches = watches,
    .create = create,
    .reconcile = reconcile,
    .destroy = destroy,
};
