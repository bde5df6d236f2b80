/*
 * Crashes where and how its options say: in one of its functions, or in crashing_reconcile_keys()
 * and crashing_map_change() at the Services whose annotation "crash" names that function. Others
 * are greeted in the log, with how many keys came in the call.
 */
#include <ccm/plugin.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef PLUGIN_NAME
#define PLUGIN_NAME  "crashing"
#define PLUGIN_BATCH 1
#endif

static const struct ccm_host *crashing_host;

static const struct ccm_option option_stage = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .name = "stage",
    .help = "Function that crashes whatever comes; empty: none.",
};

static const struct ccm_option option_how = {
    .struct_size = sizeof(struct ccm_option),
    .type = CCM_OPTION_STRING,
    .name = "how",
    .fallback = "segv",
    .help = "How it crashes.",
};

static const struct ccm_option *const options[] = { &option_stage, &option_how, NULL };

/* What no compiler sees through. */
static int use_stack(volatile char *from, int depth)
{
    volatile char more[4096];

    more[0] = from[0];
    return depth < 0 ? more[0] : use_stack(more, depth + 1) + more[0];
}

static void touch_beyond_file(void)
{
    FILE *empty = tmpfile();
    volatile char *page =
        empty == NULL ? NULL : mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(empty), 0);

    (void)page[0]; /* beyond the end of an empty file */
}

/* As in a build without sanitizers: by the signal, not by their word before it. */
__attribute__((no_sanitize("undefined"))) static void crash_now(void)
{
    const char *how = crashing_host->option_string(crashing_host, NULL, "how");
    volatile char *volatile nowhere = NULL;
    volatile int number = 7;
    volatile int zero = 0;

    if (strcmp(how, "segv") == 0) {
        *nowhere = 1;
    } else if (strcmp(how, "abort") == 0) {
        abort();
    } else if (strcmp(how, "bus") == 0) {
        touch_beyond_file();
    } else if (strcmp(how, "fpe") == 0) {
        number = number / zero;
    } else if (strcmp(how, "ill") == 0) {
        __builtin_trap();
    } else if (strcmp(how, "overflow") == 0) {
        (void)use_stack((volatile char *)"x", 0);
    }
    (void)raise(SIGSEGV); /* where the processor does not mind */
}

static void crash_at(const char *stage, const struct ccm_object *object)
{
    const char *at = ccm_object_annotation(object, "crash");

    if (strcmp(crashing_host->option_string(crashing_host, NULL, "stage"), stage) == 0 ||
        (at != NULL && strcmp(at, stage) == 0)) {
        crash_now();
    }
}

static void crashing_map_change(void *self, const struct ccm_change *change)
{
    const struct ccm_object *object = change->after == NULL ? change->before : change->after;

    (void)self; /* no state */
    crash_at("map", object);
    crashing_host->enqueue(crashing_host, object->key, CCM_LANE_SPEC, 0);
}

static const struct ccm_watch watch = {
    .struct_size = sizeof(struct ccm_watch),
    .kind = CCM_KIND_SERVICE,
    .map = crashing_map_change,
};

static const struct ccm_watch *const watches[] = { &watch, NULL };

static int crashing_create_plugin(const struct ccm_host *host, void **ret_self,
                                  struct ccm_error *err)
{
    (void)err; /* cannot fail */
    crashing_host = host;
    *ret_self = NULL;
    crash_at("create", NULL);
    return 0;
}

static int crashing_start_plugin(void *self, struct ccm_error *err)
{
    (void)self; /* no state */
    (void)err;  /* cannot fail */
    crash_at("start", NULL);
    return 0;
}

static int crashing_reconcile_keys(void *self, const struct ccm_request *req,
                                   struct ccm_result *ret, struct ccm_error *err)
{
    (void)self; /* no state */
    (void)ret;  /* not again */
    (void)err;  /* cannot fail */
    for (uint64_t i = 0; i < req->key_count; i++) {
        const struct ccm_object *service =
            crashing_host->get(crashing_host, CCM_KIND_SERVICE, req->keys[i]);

        crash_at("reconcile", service);
        crashing_host->log(crashing_host, CCM_LEVEL_INFO, req->keys[i], "greeted, 1 of %u",
                           (unsigned)req->key_count);
        if (service != NULL) {
            crashing_host->release(crashing_host, service);
        }
    }
    return 0;
}

static void stop(void *self)
{
    (void)self; /* no state */
    crash_at("stop", NULL);
}

static void crashing_destroy_plugin(void *self)
{
    (void)self; /* no state */
    crash_at("destroy", NULL);
}

const struct ccm_plugin ccm_plugin = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_plugin),
    .name = PLUGIN_NAME,
    .options = options,
    .watches = watches,
    .create = crashing_create_plugin,
    .start = crashing_start_plugin,
    .reconcile = crashing_reconcile_keys,
    .stop = stop,
    .destroy = crashing_destroy_plugin,
    .batch_max = PLUGIN_BATCH,
    .batch_wait_ms = PLUGIN_BATCH == 1 ? 0 : 300,
    .version = "1.2.3",
    .summary = "crashes, for tests",
};
