/*
 * Built with the frozen headers of ABI 1.1: it has to load and run in every later core of major 1,
 * and what it uses of 1.1 has to do what it did. For the Service of key "default/frozen" it calls
 * all of it and logs one line per member, "NAME: ok" or what is wrong with it.
 */
#include <ccm/plugin.h>

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#define KEY    "default/frozen"
#define MAPS   "v1", "configmaps"
#define MINUTE 60000

struct frozen_plugin {
    const struct ccm_host *host;
    atomic_int calls;
};

static void frozen_log(const struct frozen_plugin *self, const char *name, int ok)
{
    self->host->log(self->host, CCM_LEVEL_INFO, NULL, "%s: %s", name, ok ? "ok" : "not as in 1.1");
}

/* --- options --- */

static const struct ccm_option option_plain = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_BOOL,
    .name = "plain",
    .fallback = "false",
    .help = "Whether url may be without TLS.",
};

static const struct ccm_option option_url = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .flags = CCM_OPTION_REQUIRED,
    .name = "url",
    .help = "What is called.",
    .pattern = "https://.*",
    .unless = "plain",
};

static const struct ccm_option *const options[] = { &option_plain, &option_url, NULL };

static int frozen_check_options(const struct ccm_check_sink *sink)
{
    const struct ccm_host *host = sink->host;

    if (strstr(host->option_string(host, NULL, "url"), "odd") != NULL) {
        sink->finding(sink, CCM_LEVEL_ERROR, "url: may not be odd");
    }
    return 0;
}

/* --- watches --- */

static void frozen_enqueue_change(struct frozen_plugin *self, const struct ccm_change *change)
{
    if (change->after != NULL && strcmp(change->after->key, KEY) == 0) {
        self->host->enqueue(self->host, KEY, CCM_LANE_SPEC, 0);
    } else if (change->after == NULL && strcmp(change->before->key, KEY) == 0) {
        frozen_log(self, "change.flags",
                   change->struct_size > offsetof(struct ccm_change, flags) && change->flags == 0);
        self->host->enqueue(self->host, KEY, CCM_LANE_REMOVE, 0);
    }
}

static void frozen_map_service(void *self, const struct ccm_change *change)
{
    frozen_enqueue_change(self, change);
}

static void frozen_map_other(void *self, const struct ccm_change *change)
{
    (void)self; /* no work comes from it */
    (void)change;
}

static const struct ccm_index index_tier = {
    .struct_size = sizeof(struct ccm_index),
    .name = "tier",
    .label = "tier",
};

static const struct ccm_index index_colour = {
    .struct_size = sizeof(struct ccm_index),
    .name = "colour",
    .path = "data.colour",
    .flags = CCM_INDEX_NAMESPACED,
};

static const struct ccm_index *const indexes[] = { &index_tier, &index_colour, NULL };

static const struct ccm_watch watch_services = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_SERVICE,
    .map = frozen_map_service,
};

static const struct ccm_watch watch_nodes = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_NODE,
    .map = frozen_map_other,
    .flags = CCM_WATCH_NODE_INFO,
};

static const struct ccm_watch watch_maps = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_RAW,
    .api_version = "v1",
    .resource = "configmaps",
    .map = frozen_map_other,
    .namespace_ = "default",
    .label_selector = "tier",
    .field_selector = "metadata.name!=other",
    .indexes = indexes,
};

static const struct ccm_watch watch_absent = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_RAW,
    .api_version = "absent.example.com/v1",
    .resource = "things",
    .map = frozen_map_other,
    .flags = CCM_WATCH_OPTIONAL,
};

static const struct ccm_watch *const watches[] = { &watch_services, &watch_nodes, &watch_maps,
                                                   &watch_absent, NULL };

static const struct ccm_right right_maps = {
    .struct_size = sizeof(struct ccm_right),
    .api_version = "v1",
    .resource = "configmaps",
    .verbs = "get,create,update,patch,delete",
    .namespace_ = "default",
};

static const struct ccm_right *const rights[] = { &right_maps, NULL };

/* --- what the host does --- */

static int has_value(const struct ccm_pair *const *pairs, uint64_t count, const char *key,
                     const char *value)
{
    for (uint64_t i = 0; i < count; i++) {
        if (strcmp(pairs[i]->key, key) == 0) {
            return strcmp(pairs[i]->value, value) == 0;
        }
    }
    return 0;
}

static int has_info(const struct ccm_node *node)
{
    const struct ccm_node_info *info =
        node->meta.struct_size > offsetof(struct ccm_node, info) ? node->info : NULL;

    return info != NULL && has_value(info->capacity, info->capacity_count, "cpu", "4") &&
           has_value(info->allocatable, info->allocatable_count, "cpu", "3") &&
           has_value(info->system, info->system_count, "kubeletVersion", "v1.31.2");
}

static void frozen_try_caches(const struct frozen_plugin *self)
{
    const struct ccm_host *host = self->host;
    const struct ccm_object *const *objects = NULL;
    const struct ccm_object *node = host->get(host, CCM_KIND_NODE, "frozen-1");
    const struct ccm_node *typed = (const struct ccm_node *)(const void *)node;
    size_t count = 0;

    frozen_log(self, "node.info", node != NULL && has_info(typed));
    frozen_log(self, "traits", node != NULL && node->traits == CCM_NODE_VPC_PODS);
    frozen_log(self, "too_large", node != NULL && node->too_large == NULL);
    if (node != NULL) {
        host->release(host, node);
    }
    frozen_log(self, "list server",
               host->list(host, CCM_KIND_NODE, "server", "i-1", &objects, &count) == 0 &&
                   count == 1);
    host->release_list(host, objects, count);
    frozen_log(self, "list_raw of what is absent",
               host->list_raw(host, "absent.example.com/v1", "things", &objects, &count) ==
                   -ENOENT);
    frozen_log(self, "list_raw_by label",
               host->list_raw_by(host, MAPS, "tier", "front", &objects, &count) == 0 && count == 1);
    host->release_list(host, objects, count);
    frozen_log(self, "list_raw_by path",
               host->list_raw_by(host, MAPS, "colour", "default/red", &objects, &count) == 0 &&
                   count == 1);
    host->release_list(host, objects, count);
    frozen_log(self, "server_since_ms", host->server_since_ms(host) >= 0);
}

static int frozen_has_text(const struct ccm_object *object, const char *text)
{
    return object != NULL &&
           strstr(((const struct ccm_raw *)(const void *)object)->json, text) != NULL;
}

/* Gives the object back. */
static void frozen_log_write(const struct frozen_plugin *self, const char *name, int r,
                             const struct ccm_object *object, const char *text)
{
    frozen_log(self, name, r == 0 && frozen_has_text(object, text));
    if (object != NULL) {
        self->host->release(self->host, object);
    }
}

static void frozen_try_writes(const struct frozen_plugin *self, const struct ccm_request *req)
{
    const struct ccm_host *host = self->host;
    struct ccm_error err = CCM_ERROR_INIT;
    const struct ccm_object *object = NULL;
    struct ccm_raw_call call = {
        .struct_size = sizeof(call),
        .api_version = "v1",
        .resource = "configmaps",
        .namespace_ = "default",
        .body = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"made\"},"
                "\"data\":{\"a\":\"first\"}}",
    };
    int r = host->create_raw(host, req, &call, &object, &err);

    frozen_log_write(self, "create_raw", r, object, "first");
    call.name = "made";
    call.body = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"made\"},"
                "\"data\":{\"a\":\"second\"}}";
    object = NULL;
    r = host->update_raw(host, req, &call, &object, &err);
    frozen_log_write(self, "update_raw", r, object, "second");
    call.body = "[{\"op\":\"replace\",\"path\":\"/data/a\",\"value\":\"third\"}]";
    call.patch = CCM_PATCH_JSON;
    object = NULL;
    r = host->patch_raw(host, req, &call, &object, &err);
    frozen_log_write(self, "patch_raw", r, object, "third");
    object = NULL;
    r = host->fetch_raw(host, req, &call, &object, &err);
    frozen_log_write(self, "fetch_raw", r, object, "third");
    call.uid = "another";
    r = host->delete_raw(host, req, &call, &err);
    frozen_log(self, "uid of delete_raw", r < 0 && err.kind == CCM_ERROR_CONFLICT);
    call.uid = NULL;
    call.propagation = "Background";
    frozen_log(self, "delete_raw", host->delete_raw(host, req, &call, &err) == 0);
}

static void frozen_try_http(const struct frozen_plugin *self, const struct ccm_request *req)
{
    const struct ccm_host *host = self->host;
    struct ccm_http_response *answer = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    uint64_t phase = 0;
    uint64_t number = 0;
    const struct ccm_http_request http = {
        .struct_size = sizeof(http),
        .method = "GET",
        .url = host->option_string(host, NULL, "url"),
    };

    frozen_log(self, "http_begin",
               host->http_begin(host, req, &http, &number, &err) == 0 && number != 0);
    frozen_log(self, "http_end",
               host->http_end(host, number, &answer, &phase, &err) == 0 && answer != NULL &&
                   answer->status == 200);
    if (answer != NULL) {
        host->http_free(host, answer);
    }
}

static void frozen_try_pauses(const struct frozen_plugin *self, const struct ccm_request *req)
{
    const struct ccm_host *host = self->host;
    const int64_t until = host->now_ms(host) + MINUTE;
    struct ccm_error err = CCM_ERROR_INIT;
    uint64_t most = 0;

    host->throttle(host, "account", until);
    frozen_log(self, "throttle", host->paused_until(host, "account") == until);
    host->throttle(host, "account", 0);
    frozen_log(self, "paused_until", host->paused_until(host, "account") == 0);
    host->enqueue(host, "default/later", CCM_LANE_SPEC, MINUTE * 60);
    host->withdraw(host, "default/later");
    (void)ccm_error_set(&err, -EIO, CCM_ERROR_TERMINAL, "a try");

    const uint64_t wait = host->retry_ms(host, req, 0, &err, &most);

    frozen_log(self, "retry_ms", wait > 0 && most >= wait);
}

static void frozen_try_notes(const struct frozen_plugin *self, const struct ccm_object *service)
{
    const struct ccm_host *host = self->host;
    const struct ccm_event event = {
        .struct_size = sizeof(event),
        .object = service,
        .component = "frozen",
        .reason = "Lasts",
        .message = "words that change",
        .warning = 1,
        .topic = "frozen",
        .cause = "same",
        .after_ms = 0,
    };

    host->event(host, &event);
    host->note_held(host, KEY, 2, "held because it is frozen");
    host->note_unserved(host, KEY, 3, "unserved because it is frozen");
    host->note_quota(host, KEY, "frozen things", 9, 10);
    host->note_waiting(host, KEY, MINUTE * 60, "waits because it is frozen");
    host->note_call(host, KEY, CCM_CALL_CHANGES, "CreateFrozen: ok");
}

/* --- the plugin --- */

static int frozen_create_instance(const struct ccm_host *host, void **ret_self,
                                  struct ccm_error *err)
{
    struct frozen_plugin *self = NULL;

    if (host->struct_size < sizeof(*host)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "the host table has shrunk");
    }
    self = calloc(1, sizeof(*self));
    if (self == NULL) {
        return ccm_error_nomem(err);
    }
    self->host = host;
    *ret_self = self;
    return 0;
}

static int frozen_reconcile_keys(void *arg, const struct ccm_request *req, struct ccm_result *ret,
                                 struct ccm_error *err)
{
    struct frozen_plugin *self = arg;
    const struct ccm_host *host = self->host;
    const struct ccm_object *service = host->get(host, CCM_KIND_SERVICE, req->keys[0]);

    (void)err; /* what fails is logged */
    if (service == NULL) {
        return 0;
    }
    if (atomic_fetch_add(&self->calls, 1) == 0) {
        frozen_try_caches(self);
        frozen_try_writes(self, req);
        frozen_try_http(self, req);
        frozen_try_pauses(self, req);
        frozen_try_notes(self, service);
        frozen_log(self, "result.flags",
                   ret->struct_size > offsetof(struct ccm_result, flags) && ret->flags == 0);
        ret->flags = CCM_RESULT_WAITS;
        ret->requeue_after_ms = 50;
    } else {
        frozen_log(self, "once more", 1);
    }
    host->release(host, service);
    return 0;
}

static void frozen_destroy_instance(void *self)
{
    free(self);
}

static int64_t frozen_allow_removals(void *self)
{
    frozen_log(self, "allow_removals", 1);
    return MINUTE;
}

static uint64_t frozen_resync_keys(void *self, const char *key)
{
    frozen_log(self, "resync", key != NULL && strcmp(key, KEY) == 0);
    return 1;
}

static void frozen_forget_key(void *self, const char *key)
{
    frozen_log(self, "forget", strcmp(key, KEY) == 0);
}

static int frozen_takes_default(const struct ccm_service *service)
{
    return strcmp(service->meta.name, "frozen") == 0;
}

static int frozen_lint_service(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    (void)service; /* whatever it is */
    sink->finding(sink, CCM_LEVEL_INFO, NULL, "a hint of the frozen");
    return 0;
}

static int frozen_describe_key(void *self, const char *key, const struct ccm_view_sink *sink)
{
    static const char *const columns[] = { "port", "state", NULL };
    static const char *const cells[] = { "80", "frozen" };

    (void)self; /* no state */
    if (key != NULL && strcmp(key, KEY) != 0) {
        return -ENOENT;
    }
    sink->fact(sink, "age", "frozen", NULL);
    sink->table(sink, "ports", columns);
    sink->row(sink, cells);
    return 0;
}

static const char *const classes[] = { "example.com/frozen", NULL };

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "frozen-1-1",
    .options = options,
    .watches = watches,
    .create = frozen_create_instance,
    .reconcile = frozen_reconcile_keys,
    .destroy = frozen_destroy_instance,
    .version = "1.1.0",
    .summary = "uses what ABI 1.1 has, for tests",
    .lint = frozen_lint_service,
    .allow_removals = frozen_allow_removals,
    .classes = classes,
    .resync = frozen_resync_keys,
    .takes_default = frozen_takes_default,
    .forget = frozen_forget_key,
    .check = frozen_check_options,
    .rights = rights,
    .describe = frozen_describe_key,
    .instances = 1,
};
