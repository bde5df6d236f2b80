#include "watches.h"

#include "plugin/descriptor.h"
#include "util/clock.h"
#include "util/log.h"

#include <errno.h>
#include <stdlib.h>

#define SYNC_REPORT_MS 30000 /* how often a missing cache is mentioned */

static const struct ccm_log watch_log = { .part = "caches" };

/* What can be watched; see ccm_watches_check() for the rest. */
static const struct {
    uint64_t kind;
    const char *name;
    const char *path;
    const struct ccm_index *index;
} sources[] = {
    { CCM_KIND_SERVICE, "services", "/api/v1/services", NULL },
    { CCM_KIND_NODE, "nodes", "/api/v1/nodes", NULL },
    { CCM_KIND_ENDPOINT_SLICE, "endpointslices", "/apis/discovery.k8s.io/v1/endpointslices",
      &ccm_index_service },
};

struct source_watch {
    struct ccm_watches *owner;
    uint64_t kind;
    struct ccm_store *store; /* NULL: nobody watches it */
    struct ccm_reflector *reflector;
};

struct ccm_watches {
    struct ccm_host_services *services;
    struct ccm_registry *registry;
    struct ccm_cancel stopped;
    struct source_watch watches[CCM_ARRAY_LEN(sources)];
};

int ccm_watches_check(const struct ccm_plugin *desc, struct ccm_error *err)
{
    for (const struct ccm_watch *const *watch = desc->watches; *watch != NULL; watch++) {
        size_t i = 0;

        while (i < CCM_ARRAY_LEN(sources) && sources[i].kind != (*watch)->kind) {
            i++;
        }
        if (i == CCM_ARRAY_LEN(sources)) {
            const char *resource = (*watch)->resource;

            return ccm_error_set(err, -ENOTSUP, CCM_ERROR_TERMINAL,
                                 "it watches %s%s%s, which this ccmd cannot watch yet",
                                 ccm_descriptor_kind_name((*watch)->kind),
                                 resource == NULL ? "" : " ", resource == NULL ? "" : resource);
        }
    }
    return 0;
}

static bool watches_kind(const struct ccm_plugin *desc, uint64_t kind)
{
    for (const struct ccm_watch *const *watch = desc->watches; *watch != NULL; watch++) {
        if ((*watch)->kind == kind) {
            return true;
        }
    }
    return false;
}

static bool is_created(struct ccm_registry *registry, const struct ccm_plugin_entry *entry)
{
    return ccm_registry_status(registry, entry, NULL) != CCM_PLUGIN_STATE_FAILED;
}

static bool wanted(struct ccm_registry *registry, uint64_t kind)
{
    for (size_t i = 0; i < ccm_registry_len(registry); i++) {
        const struct ccm_plugin_entry *entry = ccm_registry_at(registry, i);

        if (is_created(registry, entry) && watches_kind(entry->loaded->desc, kind)) {
            return true;
        }
    }
    return false;
}

/* In the thread of the kind's reflector, in order. */
static void on_change(void *arg, const struct ccm_change *change)
{
    const struct source_watch *source = arg;
    struct ccm_registry *registry = source->owner->registry;

    for (size_t i = 0; i < ccm_registry_len(registry); i++) {
        const struct ccm_plugin_entry *entry = ccm_registry_at(registry, i);

        if (!is_created(registry, entry)) {
            continue;
        }
        for (const struct ccm_watch *const *w = entry->loaded->desc->watches; *w != NULL; w++) {
            if ((*w)->kind == source->kind) {
                (*w)->map(entry->self, change);
            }
        }
    }
}

/* Store and reflector of sources[i]. 0 or -ENOMEM. */
static int prepare(struct ccm_watches *watches, size_t i)
{
    struct source_watch *source = &watches->watches[i];

    source->store = ccm_store_new(sources[i].index, sources[i].index == NULL ? 0 : 1);
    if (source->store == NULL) {
        return -ENOMEM;
    }

    const struct ccm_reflector_config config = {
        .client = watches->services->kube,
        .store = source->store,
        .name = sources[i].name,
        .path = sources[i].path,
        .kind = { .kind = sources[i].kind },
        .change = on_change,
        .arg = source,
    };

    source->reflector = ccm_reflector_new(&config);
    watches->services->stores[sources[i].kind] = source->store;
    return source->reflector == NULL ? -ENOMEM : 0;
}

struct ccm_watches *ccm_watches_new(struct ccm_host_services *services,
                                    struct ccm_registry *registry)
{
    struct ccm_watches *watches = calloc(1, sizeof(*watches));

    if (watches == NULL) {
        return NULL;
    }
    watches->services = services;
    watches->registry = registry;
    for (size_t i = 0; i < CCM_ARRAY_LEN(sources); i++) {
        watches->watches[i] = (struct source_watch){ .owner = watches, .kind = sources[i].kind };
        if (wanted(registry, sources[i].kind) && prepare(watches, i) < 0) {
            ccm_watches_free(watches);
            return NULL;
        }
    }
    return watches;
}

int ccm_watches_start(struct ccm_watches *watches, struct ccm_error *err)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(sources); i++) {
        struct ccm_reflector *reflector = watches->watches[i].reflector;
        const int r = reflector == NULL ? 0 : ccm_reflector_start(reflector);

        if (r < 0) {
            return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "%s: cannot start a thread",
                                 sources[i].name);
        }
    }
    return 0;
}

static int wait_one(struct ccm_watches *watches, size_t i)
{
    struct ccm_reflector_status status;
    int r;

    for (;;) {
        r = ccm_reflector_wait_synced(watches->watches[i].reflector,
                                      ccm_clock_now_ms() + SYNC_REPORT_MS, &watches->stopped);
        if (r != -ETIMEDOUT) {
            return r;
        }
        ccm_reflector_status(watches->watches[i].reflector, &status);
        ccm_log_warn(&watch_log, "still waiting for the first list of %s: %s", sources[i].name,
                     status.error[0] == '\0' ? "no answer yet" : status.error);
    }
}

int ccm_watches_wait_synced(struct ccm_watches *watches, const struct ccm_plugin *desc)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(sources); i++) {
        const int r = watches_kind(desc, sources[i].kind) ? wait_one(watches, i) : 0;

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

void ccm_watches_stop(struct ccm_watches *watches)
{
    ccm_http_cancel(watches->services->http, &watches->stopped);
    for (size_t i = 0; i < CCM_ARRAY_LEN(sources); i++) {
        if (watches->watches[i].reflector != NULL) {
            ccm_reflector_stop(watches->watches[i].reflector);
        }
    }
}

int ccm_watches_join(struct ccm_watches *watches, int64_t deadline_ms)
{
    int result = 0;

    for (size_t i = 0; i < CCM_ARRAY_LEN(sources); i++) {
        struct ccm_reflector *reflector = watches->watches[i].reflector;

        if (reflector != NULL && ccm_reflector_join(reflector, deadline_ms) < 0) {
            ccm_log_error(&watch_log, "%s: map() of a plugin hangs", sources[i].name);
            result = -ETIMEDOUT;
        }
    }
    return result;
}

void ccm_watches_free(struct ccm_watches *watches)
{
    if (watches == NULL) {
        return;
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(sources); i++) {
        ccm_reflector_free(watches->watches[i].reflector);
        ccm_store_free(watches->watches[i].store);
    }
    free(watches);
}
