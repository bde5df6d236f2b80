/*
 * May run several times. Each instance takes the Services of the class that its option says, counts
 * them and tells event "Greeted" with the words of another option. Class "broken" fails in
 * create(), "hanging" hangs there, "late" does not get through start().
 */
#include <ccm/plugin.h>

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct several_instance {
    const struct ccm_host *host;
    const char *class_;
    atomic_uint calls;
};

static const struct ccm_option option_class = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .flags = CCM_OPTION_REQUIRED,
    .name = "class",
    .help = "Class of the Services that are greeted.",
};

static const struct ccm_option option_words = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .flags = CCM_OPTION_LIVE,
    .name = "words",
    .fallback = "hello",
    .help = "What is said.",
};

static const struct ccm_option *const options[] = { &option_class, &option_words, NULL };

static const struct ccm_metric greeted = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_COUNTER,
    .name = "several_greeted_total",
    .help = "Greetings.",
};

/* A name of the daemon's kind: allowed, because this descriptor ends before the list of them. */
static const struct ccm_metric early = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_COUNTER,
    .name = "ccmd_several_total",
    .help = "Greetings.",
};

static bool several_is_mine(const struct several_instance *self, const struct ccm_object *object)
{
    const struct ccm_service *service = (const struct ccm_service *)(const void *)object;

    return object != NULL && strcmp(service->load_balancer_class, self->class_) == 0;
}

static void several_map_change(void *self, const struct ccm_change *change)
{
    const struct several_instance *several = self;

    if (several_is_mine(several, change->after)) {
        several->host->enqueue(several->host, change->after->key, CCM_LANE_SPEC, 0);
    }
}

static const struct ccm_watch watch = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_SERVICE,
    .map = several_map_change,
};

static const struct ccm_watch *const watches[] = { &watch, NULL };

static int several_create_instance(const struct ccm_host *host, void **ret_self,
                                   struct ccm_error *err)
{
    struct several_instance *self;

    if (strcmp(host->option_string(host, NULL, "class"), "broken") == 0) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "nobody greets the broken");
    }
    while (strcmp(host->option_string(host, NULL, "class"), "hanging") == 0) {
        (void)pause(); /* for ever */
    }
    self = calloc(1, sizeof(*self));
    if (self == NULL) {
        return ccm_error_nomem(err);
    }
    self->host = host;
    self->class_ = host->option_string(host, NULL, "class");
    *ret_self = self;
    return 0;
}

static int several_start_instance(void *self, struct ccm_error *err)
{
    const struct several_instance *several = self;

    return strcmp(several->class_, "late") == 0
               ? ccm_error_set(err, -EAGAIN, CCM_ERROR_TRANSIENT, "nobody is up yet")
               : 0;
}

static void several_greet_service(struct several_instance *self, const struct ccm_object *service)
{
    const struct ccm_host *host = self->host;
    const struct ccm_event event = {
        .struct_size = sizeof(event),
        .object = service,
        .component = "several",
        .reason = "Greeted",
        .message = host->option_string(host, NULL, "words"),
    };

    host->log(host, CCM_LEVEL_INFO, service->key, "call %u of this instance",
              atomic_fetch_add(&self->calls, 1) + 1);
    host->event(host, &event);
    host->metric(host, &greeted, NULL, 1);
    host->metric(host, &early, NULL, 1);
    host->plan(host, service->key, event.message);
}

static int several_reconcile_keys(void *self, const struct ccm_request *req, struct ccm_result *ret,
                                  struct ccm_error *err)
{
    struct several_instance *several = self;
    const struct ccm_host *host = several->host;
    const struct ccm_object *service = host->get(host, CCM_KIND_SERVICE, req->keys[0]);

    (void)ret; /* not again */
    (void)err; /* cannot fail */
    if (several_is_mine(several, service)) {
        several_greet_service(several, service);
    }
    if (service != NULL) {
        host->release(host, service);
    }
    return 0;
}

static void several_destroy_instance(void *self)
{
    free(self);
}

static int several_lint_service(const struct ccm_service *service, const struct ccm_lint_sink *sink)
{
    if (strcmp(service->load_balancer_class, sink->option_string(sink, NULL, "class")) == 0) {
        sink->finding(sink, CCM_LEVEL_INFO, NULL, sink->option_string(sink, NULL, "words"));
    }
    return 0;
}

static int several_check_options(const struct ccm_check_sink *sink)
{
    const struct ccm_host *host = sink->host;

    if (strcmp(host->option_string(host, NULL, "class"), "odd") == 0) {
        sink->finding(sink, CCM_LEVEL_ERROR, "class: may not be odd");
    }
    return 0;
}

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = offsetof(struct ccm_plugin, metrics),
    .name = "several",
    .flags = CCM_PLUGIN_PLANS,
    .options = options,
    .watches = watches,
    .create = several_create_instance,
    .start = several_start_instance,
    .reconcile = several_reconcile_keys,
    .destroy = several_destroy_instance,
    .version = "1.2.3",
    .summary = "greets the Services of a class, for tests",
    .lint = several_lint_service,
    .check = several_check_options,
    .instances = 1,
};
