/*
 * Does what annotations of ConfigMaps say: "op" (fetch, create, update, patch, delete), "api",
 * "resource", "ns", "name", "sub", "body", "patch" (its number), "uid", "version", "propagation".
 * With "op" fetch and "kind" (its number) it is host->fetch(). What came of it is one line of the
 * log. With "early" it is done by order_map_change(), so in every instance of the daemon; else by
 * order_reconcile_keys(), and in a dry run too.
 */
#include <ccm/plugin.h>

static const struct ccm_host *host;

static const char *text_of(const struct ccm_object *object, const char *key)
{
    return ccm_object_annotation(object, key);
}

static int run_op(const struct ccm_request *req, const char *op, const struct ccm_raw_call *call,
                  const struct ccm_object **ret, struct ccm_error *err)
{
    if (strcmp(op, "fetch") == 0) {
        return host->fetch_raw(host, req, call, ret, err);
    }
    if (strcmp(op, "create") == 0) {
        return host->create_raw(host, req, call, ret, err);
    }
    if (strcmp(op, "update") == 0) {
        return host->update_raw(host, req, call, ret, err);
    }
    return strcmp(op, "patch") == 0 ? host->patch_raw(host, req, call, ret, err)
                                    : host->delete_raw(host, req, call, err);
}

static void order_obey_one(const struct ccm_request *req, const struct ccm_object *order)
{
    const char *patch = text_of(order, "patch");
    const struct ccm_raw_call call = {
        .struct_size = sizeof(call),
        .api_version = text_of(order, "api"),
        .resource = text_of(order, "resource"),
        .namespace_ = text_of(order, "ns"),
        .name = text_of(order, "name"),
        .subresource = text_of(order, "sub"),
        .body = text_of(order, "body"),
        .patch = patch == NULL ? CCM_PATCH_MERGE : (uint64_t)(patch[0] - '0'),
        .uid = text_of(order, "uid"),
        .resource_version = text_of(order, "version"),
        .propagation = text_of(order, "propagation"),
    };
    struct ccm_error err = CCM_ERROR_INIT;
    const struct ccm_object *answer = NULL;
    const char *kind = text_of(order, "kind");
    const int r = kind == NULL ? run_op(req, text_of(order, "op"), &call, &answer, &err)
                               : host->fetch(host, req, (uint64_t)(kind[0] - '0'), call.namespace_,
                                             call.name, &answer, &err);

    host->log(host, CCM_LEVEL_INFO, order->key, "did: result %d kind %d http %d %s answer %s", r,
              (int)err.kind, (int)err.http_status, err.message,
              answer == NULL ? "none"
              : answer->kind != CCM_KIND_RAW
                  ? "\"typed\""
                  : ((const struct ccm_raw *)(const void *)answer)->json);
    if (answer != NULL) {
        host->release(host, answer);
    }
    if (host->dry_run(host)) {
        host->plan(host, order->key, "");
    }
}

static void order_map_change(void *self, const struct ccm_change *change)
{
    const struct ccm_object *order = change->after;

    (void)self; /* no state */
    if (order == NULL || text_of(order, "op") == NULL) {
        return;
    }
    if (text_of(order, "early") != NULL) {
        order_obey_one(NULL, order);
    } else {
        host->enqueue(host, order->key, CCM_LANE_SPEC, 0);
    }
}

static const struct ccm_watch watch = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_RAW,
    .api_version = "v1",
    .resource = "configmaps",
    .map = order_map_change,
};

static const struct ccm_watch *const watches[] = { &watch, NULL };

#define RIGHT(what, how)                                                                           \
    {                                                                                              \
        .struct_size = sizeof(struct ccm_right), .api_version = "example.com/v1",                  \
        .resource = (what), .verbs = (how)                                                         \
    }

static const struct ccm_right right_buckets = RIGHT("buckets", "get,create update, patch,delete");
static const struct ccm_right right_status = RIGHT("buckets/status", "patch");
static const struct ccm_right right_secret = {
    .struct_size = sizeof(struct ccm_right),
    .api_version = "v1",
    .resource = "secrets",
    .verbs = "get",
    .namespace_ = "default",
    .name = "s",
};
static const struct ccm_right *const rights[] = { &right_buckets, &right_status, &right_secret,
                                                  NULL };

static int order_create_plugin(const struct ccm_host *given, void **ret_self, struct ccm_error *err)
{
    (void)err; /* cannot fail */
    host = given;
    *ret_self = NULL;
    return 0;
}

static int order_reconcile_keys(void *self, const struct ccm_request *req, struct ccm_result *ret,
                                struct ccm_error *err)
{
    const struct ccm_object *order = host->get_raw(host, "v1", "configmaps", req->keys[0]);

    (void)self; /* no state */
    (void)ret;  /* not again */
    (void)err;  /* failures are told in the log */
    if (order != NULL) {
        order_obey_one(req, order);
        host->release(host, order);
    }
    return 0;
}

static void order_destroy_plugin(void *self)
{
    (void)self; /* no state */
}

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "raw-write",
    .flags = CCM_PLUGIN_PLANS,
    .watches = watches,
    .create = order_create_plugin,
    .reconcile = order_reconcile_keys,
    .destroy = order_destroy_plugin,
    .rights = rights,
};
