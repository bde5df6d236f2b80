/*
 * Plans what annotations of a Service tell it to, several keys per call: "steps" (lines divided by
 * ";"), "warn" (a Warning event), "fail" (a terminal failure of this key), "twice" (a passing
 * failure at the first look), "patch" (tries to write all the same and tells what came of it),
 * "again" (comes again after 50 ms, whatever else).
 */
#include <ccm/plugin.h>

#include <stdatomic.h>

static const struct ccm_host *planner_host;
static atomic_int looks;

static const char *annotation(const struct ccm_object *object, const char *key)
{
    for (uint64_t i = 0; i < object->annotation_count; i++) {
        if (strcmp(object->annotations[i]->key, key) == 0) {
            return object->annotations[i]->value;
        }
    }
    return NULL;
}

static void map(void *self, const struct ccm_change *change)
{
    (void)self; /* no state */
    if (change->after != NULL) {
        planner_host->enqueue(planner_host, change->after->key, CCM_LANE_SPEC, 0);
    }
}

static const struct ccm_watch watch = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_SERVICE,
    .map = map,
};

static const struct ccm_watch *const watches[] = { &watch, NULL };

static int create(const struct ccm_host *host, void **ret_self, struct ccm_error *err)
{
    (void)err; /* cannot fail */
    planner_host = host;
    *ret_self = NULL;
    return 0;
}

static void plan_steps(const struct ccm_object *service, const char *steps)
{
    char text[256];

    (void)snprintf(text, sizeof(text), "%s", steps); /* cut when longer */
    for (char *c = text; *c != '\0'; c++) {
        *c = *c == ';' ? '\n' : *c;
    }
    planner_host->plan(planner_host, service->key, text);
}

static void try_patch(const struct ccm_request *req, const struct ccm_object *service)
{
    const struct ccm_patch patch = {
        .struct_size = sizeof(patch),
        .kind = CCM_KIND_SERVICE,
        .type = CCM_PATCH_MERGE,
        .namespace_ = service->namespace_,
        .name = service->name,
        .subresource = "",
        .body = "{\"metadata\":{\"labels\":{\"touched\":\"yes\"}}}",
    };
    struct ccm_error err = CCM_ERROR_INIT;
    char text[64];

    (void)snprintf(text, sizeof(text), "patch: %d", /* short */
                   planner_host->patch(planner_host, req, &patch, &err));
    planner_host->plan(planner_host, service->key, text);
}

static void warn(const struct ccm_object *service, const char *message)
{
    const struct ccm_event event = {
        .struct_size = sizeof(event),
        .object = service,
        .component = "planner",
        .reason = "Worried",
        .message = message,
        .warning = 1,
    };

    planner_host->event(planner_host, &event);
}

static void look(const struct ccm_request *req, uint64_t i, const struct ccm_object *service)
{
    const char *steps = annotation(service, "steps");
    const char *warning = annotation(service, "warn");
    const char *fail = annotation(service, "fail");
    const char *again = annotation(service, "again");
    struct ccm_error err = CCM_ERROR_INIT;

    if (warning != NULL) {
        warn(service, warning);
    }
    if (fail != NULL) {
        (void)ccm_error_set(&err, 0, CCM_ERROR_TERMINAL, "%s", fail); /* told below */
    } else if (annotation(service, "twice") != NULL && atomic_fetch_add(&looks, 1) == 0) {
        (void)ccm_error_set(&err, 0, CCM_ERROR_CONFLICT, "not yet"); /* told below */
    } else if (annotation(service, "patch") != NULL) {
        try_patch(req, service);
    } else if (steps != NULL) {
        plan_steps(service, steps);
    }
    planner_host->settle(planner_host, req, i, again == NULL ? 0 : 50, &err);
}

static int reconcile(void *self, const struct ccm_request *req, struct ccm_result *ret,
                     struct ccm_error *err)
{
    (void)self; /* no state */
    (void)ret;  /* not again */
    (void)err;  /* each key has its own */
    for (uint64_t i = 0; i < req->key_count; i++) {
        const struct ccm_object *service =
            planner_host->get(planner_host, CCM_KIND_SERVICE, req->keys[i]);

        if (service != NULL) {
            look(req, i, service);
            planner_host->release(planner_host, service);
        }
    }
    return 0;
}

static void destroy(void *self)
{
    (void)self; /* no state */
}

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "planner",
    .flags = CCM_PLUGIN_PLANS,
    .watches = watches,
    .create = create,
    .reconcile = reconcile,
    .destroy = destroy,
    .batch_max = 8,
};
