/*
 * The smallest useful plugin: greets each Service that carries an annotation with one Normal event,
 * and does so again when the annotation's value changes. Copy this folder to start a plugin of your
 * own; README.md has the steps.
 *
 * It uses nothing but include/ccm, so it builds inside and outside of the tree of ccmd.
 */
#include <ccm/plugin.h>
#include <stdlib.h>

/* One per process, made by create(). Filled once and only read later, so that it needs no lock. */
struct template
{
    const struct ccm_host *host;
    const char *annotation;
};

static const struct ccm_option option_annotation = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .name = "annotation",
    .fallback = "ccm.example.com/greet",
    .help = "Services that carry this annotation are greeted with an event.",
};

static const struct ccm_option *const options[] = { &option_annotation, NULL };

/* Runs in the thread that reads the watch: decides whether there is work, does none. */
static void map_service(void *self, const struct ccm_change *change)
{
    const struct template *template = self;
    const char *before = ccm_object_annotation(change->before, template->annotation);
    const char *after = ccm_object_annotation(change->after, template->annotation);

    if (after != NULL && (before == NULL || strcmp(before, after) != 0)) {
        template->host->enqueue(template->host, change->after->key, CCM_LANE_SPEC, 0);
    }
}

/* What the caches keep of a Service with too many annotations. */
static const char *const keys[] = { "ccm.example.com/", NULL };

static const struct ccm_watch watch_service = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_SERVICE,
    .map = map_service,
    .keys = keys,
};

static const struct ccm_watch *const watches[] = { &watch_service, NULL };

static int create(const struct ccm_host *host, void **ret_self, struct ccm_error *err)
{
    struct template *template = calloc(1, sizeof(*template));

    if (template == NULL) {
        return ccm_error_nomem(err);
    }
    template->host = host;
    template->annotation = host->option_string(host, NULL, "annotation");
    *ret_self = template;
    return 0;
}

static void greet(const struct template *template, const struct ccm_object *service)
{
    const struct ccm_host *host = template->host;
    char message[256];

    if (host->dry_run(host)) { /* `ccmd plan`: tell, change nothing */
        host->plan(host, service->key, "greet it with an event");
        return;
    }
    (void)snprintf(message, sizeof(message), "Service %s carries the annotation %s", service->key,
                   template->annotation); /* cut when longer: it is for people */

    const struct ccm_event event = {
        .struct_size = sizeof(event),
        .object = service,
        .component = "template",
        .reason = "TemplateSeen",
        .message = message,
    };

    host->event(host, &event);
    host->log(host, CCM_LEVEL_INFO, service->key, "%s", message);
}

/* A key says "look at this object", not what happened to it: it may be gone or changed by now. */
static int reconcile(void *self, const struct ccm_request *req, struct ccm_result *ret,
                     struct ccm_error *err)
{
    const struct template *template = self;
    const struct ccm_host *host = template->host;

    (void)ret; /* nothing to look at again later */
    (void)err; /* nothing here can fail */
    for (uint64_t i = 0; i < req->key_count; i++) {
        const struct ccm_object *service = host->get(host, CCM_KIND_SERVICE, req->keys[i]);

        if (service == NULL) {
            continue;
        }
        if (ccm_object_annotation(service, template->annotation) != NULL) {
            greet(template, service);
        }
        host->release(host, service);
    }
    return 0;
}

static void destroy(void *self)
{
    free(self);
}

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "template",
    .flags = CCM_PLUGIN_PLANS,
    .options = options,
    .watches = watches,
    .create = create,
    .reconcile = reconcile,
    .destroy = destroy,
    .version = "0.1.0",
    .summary = "greets annotated Services with an event",
};
