/*
 * Does what annotation "do" of a Service says, and tells in the log when it was called: "throttle"
 * (the first call is throttled for 2 s), "pause" (a pause of the plugin, of 2 s), "name" (a named
 * one), "delay" (comes again in an hour, which "withdraw" of the same Service takes back). And with
 * any: wrong calls of the host.
 */
#include <ccm/plugin.h>

#include <stdatomic.h>

#define PAUSE_MS 2000

static const struct ccm_host *pausing_host;
static atomic_int throttled;

static const struct ccm_metric wrong_metric = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_COUNTER,
    .name = "ccmd_ready",
    .help = "Taken.",
};

static const struct ccm_metric own_metric = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_COUNTER,
    .name = "pausing_calls_total",
    .help = "Calls.",
};

/* A name of the daemon's kind, which the descriptor lists. */
static const struct ccm_metric listed_metric = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_COUNTER,
    .name = "ccmd_pausing_total",
    .help = "Calls.",
};
static const char *const pausing_metrics[] = { "ccmd_pausing_", NULL };

static void pausing_map_change(void *self, const struct ccm_change *change)
{
    const struct ccm_object *object = change->after == NULL ? change->before : change->after;

    (void)self; /* no state */
    pausing_host->enqueue(pausing_host, object->key, CCM_LANE_SPEC, 0);
}

static const struct ccm_watch watch = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_SERVICE,
    .map = pausing_map_change,
};

static const struct ccm_watch *const watches[] = { &watch, NULL };

static int pausing_create_plugin(const struct ccm_host *host, void **ret_self,
                                 struct ccm_error *err)
{
    (void)err; /* cannot fail */
    pausing_host = host;
    *ret_self = NULL;
    return 0;
}

static void call_wrongly(const struct ccm_host *host)
{
    const struct ccm_event event = {
        .struct_size = sizeof(event),
        .component = "pausing",
        .reason = "Lost",
        .message = "about nothing",
    };

    const struct ccm_object *const *objects = NULL;
    size_t count = 0;

    host->event(host, &event);
    host->metric(host, &wrong_metric, NULL, 5);
    host->metric(host, &own_metric, NULL, 1);
    host->metric(host, &listed_metric, NULL, 1);
    (void)host->get(host, CCM_KIND_NODE, "node-1");
    (void)host->get_raw(host, "v1", "secrets", "default/x");
    (void)host->list(host, CCM_KIND_NODE, NULL, NULL, &objects, &count);
    (void)host->list(host, CCM_KIND_SERVICE, "colour", "red", &objects, &count);
    (void)host->list_raw(host, "v1", "secrets", &objects, &count);
    (void)host->list_raw_by(host, "v1", "secrets", "owner", "x", &objects, &count);
}

static int do_word(const struct ccm_host *host, const char *key, const char *word,
                   struct ccm_error *err)
{
    const int64_t until_ms = host->now_ms(host) + PAUSE_MS;

    if (strcmp(word, "throttle") == 0 && atomic_fetch_add(&throttled, 1) == 0) {
        (void)ccm_error_set(err, -EBUSY, CCM_ERROR_THROTTLED, "slowly");
        err->retry_after_ms = PAUSE_MS;
        return -EBUSY;
    }
    if (strcmp(word, "pause") == 0) {
        host->throttle(host, NULL, until_ms);
    } else if (strcmp(word, "name") == 0) {
        host->throttle(host, "account", until_ms);
        host->log(host, CCM_LEVEL_INFO, key, "account %s, other %s",
                  host->paused_until(host, "account") == until_ms ? "paused" : "free",
                  host->paused_until(host, "other") == 0 ? "free" : "paused");
        host->throttle(host, "account", 0);
        host->log(host, CCM_LEVEL_INFO, key, "account is %s again",
                  host->paused_until(host, "account") == 0 ? "free" : "paused");
    } else if (strcmp(word, "delay") == 0) {
        host->enqueue(host, key, CCM_LANE_SPEC, 3600000);
    } else if (strcmp(word, "withdraw") == 0) {
        host->withdraw(host, key);
    }
    return 0;
}

static int pausing_reconcile_keys(void *self, const struct ccm_request *req, struct ccm_result *ret,
                                  struct ccm_error *err)
{
    const struct ccm_host *host = pausing_host;
    const struct ccm_object *service = host->get(host, CCM_KIND_SERVICE, req->keys[0]);
    const char *word = ccm_object_annotation(service, "do");
    int r = 0;

    (void)self; /* no state */
    (void)ret;  /* not again */
    host->log(host, CCM_LEVEL_INFO, req->keys[0], "called at %lld", (long long)host->now_ms(host));
    call_wrongly(host);
    if (word != NULL) {
        r = do_word(host, req->keys[0], word, err);
    }
    if (service != NULL) {
        host->release(host, service);
    }
    return r;
}

static void pausing_forget_key(void *self, const char *key)
{
    (void)self; /* no state */
    pausing_host->log(pausing_host, CCM_LEVEL_INFO, key, "forgotten");
}

static void pausing_destroy_plugin(void *self)
{
    (void)self; /* no state */
}

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = "pausing",
    .flags = CCM_PLUGIN_SERIAL,
    .watches = watches,
    .create = pausing_create_plugin,
    .reconcile = pausing_reconcile_keys,
    .destroy = pausing_destroy_plugin,
    .forget = pausing_forget_key,
    .version = "1.2.3",
    .summary = "asks for pauses, for tests",
    .metrics = pausing_metrics,
};
