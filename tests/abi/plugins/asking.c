/*
 * What docs/plugin-questions.md says of keys, verdicts, files and finalizers, for
 * tests/integration/test_plugin_questions.py. Annotation "ask" of a Service says what its pass
 * does: the name of a kind of error (it fails so), "file" (it fails until the file of option
 * secret_file says "good"), "finalizer" (it has one as long as the Service is there), "keys" (two
 * that are none are enqueued). Every call is told in the log.
 */
#include <ccm/plugin.h>

#include <stdbool.h>
#include <stdlib.h>

#define FINALIZER "example.com/asking"

static const struct ccm_host *asking_host;

static const struct ccm_option option_file = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_PATH,
    .name = "secret_file",
    .help = "What a pass reads.",
};

static const struct ccm_option *const options[] = { &option_file, NULL };

static void asking_map_service(void *self, const struct ccm_change *change)
{
    const struct ccm_object *object = change->after == NULL ? change->before : change->after;

    (void)self; /* no state */
    asking_host->enqueue(asking_host, object->key, CCM_LANE_SPEC, 0);
}

/* Of two kinds one has a word in front: a Service and a Pod may have the same name. */
static void asking_map_pod(void *self, const struct ccm_change *change)
{
    const struct ccm_object *object = change->after == NULL ? change->before : change->after;
    char key[600];

    (void)self; /* no state */
    (void)snprintf(key, sizeof(key), "pod:%s", object->key);
    asking_host->enqueue(asking_host, key, CCM_LANE_SPEC, 0);
}

static const struct ccm_watch watch_services = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_SERVICE,
    .map = asking_map_service,
};

static const struct ccm_watch watch_pods = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_RAW,
    .api_version = "v1",
    .resource = "pods",
    .map = asking_map_pod,
};

static const struct ccm_watch *const watches[] = { &watch_services, &watch_pods, NULL };

static int asking_create_plugin(const struct ccm_host *host, void **ret_self, struct ccm_error *err)
{
    (void)err; /* cannot fail */
    asking_host = host;
    *ret_self = NULL;
    return 0;
}

/* What went while nobody looked has no change: the other system is asked once, as any key. */
static int asking_start(void *self, struct ccm_error *err)
{
    (void)self; /* no state */
    (void)err;  /* cannot fail */
    asking_host->enqueue(asking_host, "*sweep*", CCM_LANE_BULK, 0);
    return 0;
}

static int fail_as(const char *word, struct ccm_error *err)
{
    static const char *const words[] = { "none", "transient", "throttled", "conflict", "not-found",
                                         "auth", "terminal",  "cancelled", "bug" };

    for (size_t kind = 1; kind < sizeof(words) / sizeof(words[0]); kind++) {
        if (strcmp(word, words[kind]) == 0) {
            return ccm_error_set(err, -EIO, kind, "asked for");
        }
    }
    return 0;
}

static int read_file(struct ccm_error *err)
{
    const char *path = asking_host->option_string(asking_host, NULL, "secret_file");
    FILE *file = fopen(path, "re");
    char text[8] = "";

    if (file == NULL) {
        return ccm_error_set(err, -errno, CCM_ERROR_AUTH, "%s: %s", path, strerror(errno));
    }
    if (fgets(text, sizeof(text), file) == NULL) {
        text[0] = '\0'; /* an empty file is a wrong one */
    }
    (void)fclose(file);
    return strcmp(text, "good") == 0
               ? 0
               : ccm_error_set(err, -EACCES, CCM_ERROR_TERMINAL, "%s: wrong secret", path);
}

/* Add the finalizer, or take it away; those of others stay as they are. */
static int write_finalizer(const struct ccm_request *req, const struct ccm_object *service,
                           bool wanted, struct ccm_error *err)
{
    const char *list = wanted ? "finalizers" : "$deleteFromPrimitiveList/finalizers";
    char body[512];
    const struct ccm_patch patch = {
        .struct_size = sizeof(patch),
        .kind = CCM_KIND_SERVICE,
        .type = CCM_PATCH_STRATEGIC,
        .namespace_ = service->namespace_,
        .name = service->name,
        .subresource = "",
        .body = body,
    };

    (void)snprintf(body, sizeof(body), "{\"metadata\":{\"uid\":\"%s\",\"%s\":[\"" FINALIZER "\"]}}",
                   service->uid, list);
    return asking_host->patch(asking_host, req, &patch, err);
}

static bool has_finalizer(const struct ccm_object *service)
{
    for (uint64_t i = 0; i < service->finalizer_count; i++) {
        if (strcmp(service->finalizers[i], FINALIZER) == 0) {
            return true;
        }
    }
    return false;
}

static int sync_finalizer(const struct ccm_request *req, const struct ccm_object *service,
                          struct ccm_error *err)
{
    const bool wanted = service->deleted_ms == 0;

    /* Here: what is in the other system is made, or taken down. */
    return has_finalizer(service) == wanted ? 0 : write_finalizer(req, service, wanted, err);
}

static void enqueue_wrongly(void)
{
    char *key = malloc(2000);

    if (key != NULL) {
        memset(key, 'k', 1999);
        key[1999] = '\0';
        asking_host->enqueue(asking_host, key, CCM_LANE_SPEC, 0);
        free(key);
    }
    asking_host->enqueue(asking_host, "", CCM_LANE_SPEC, 0);
    asking_host->enqueue(asking_host, NULL, CCM_LANE_SPEC, 0);
}

static int sync_service(const struct ccm_request *req, const struct ccm_object *service,
                        struct ccm_error *err)
{
    const char *word = ccm_object_annotation(service, "ask");

    if (word == NULL) {
        return 0;
    }
    if (strcmp(word, "file") == 0) {
        return read_file(err);
    }
    if (strcmp(word, "finalizer") == 0) {
        return sync_finalizer(req, service, err);
    }
    if (strcmp(word, "keys") == 0) {
        enqueue_wrongly();
        return 0;
    }
    return fail_as(word, err);
}

static int asking_reconcile(void *self, const struct ccm_request *req, struct ccm_result *ret,
                            struct ccm_error *err)
{
    const struct ccm_object *service =
        asking_host->get(asking_host, CCM_KIND_SERVICE, req->keys[0]);
    int r = 0;

    (void)self; /* no state */
    (void)ret;  /* not again */
    asking_host->log(asking_host, CCM_LEVEL_INFO, req->keys[0], "called");
    if (service != NULL) {
        r = sync_service(req, service, err);
        asking_host->release(asking_host, service);
    }
    return r;
}

static int asking_lint(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    if (ccm_object_annotation(&service->meta, "example.com/ask") != NULL) {
        sink->finding(sink, CCM_LEVEL_ERROR, "example.com/ask", "may be nodes or pods");
        sink->finding(sink, CCM_LEVEL_WARN, "example.com/ask", "example.com/ask is old");
        sink->finding(sink, CCM_LEVEL_ERROR, "spec.ports[0].port", "is taken");
    }
    return 0;
}

static int asking_list_annotations(const struct ccm_annotation_sink *sink)
{
    static const struct ccm_annotation ask = {
        .struct_size = sizeof(ask),
        .key = "example.com/ask",
        .help = "What the plugin does with the Service.",
        .values = "nodes, pods",
        .example = "say \"pods\"",
    };

    sink->annotation(sink, &ask);
    return 0;
}

static void asking_destroy(void *self)
{
    (void)self; /* no state */
}

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "asking",
    .options = options,
    .watches = watches,
    .create = asking_create_plugin,
    .start = asking_start,
    .reconcile = asking_reconcile,
    .destroy = asking_destroy,
    .lint = asking_lint,
    .annotations = asking_list_annotations,
    .version = "1.2.3",
    .summary = "does what it is asked, for tests",
};
