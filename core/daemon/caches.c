#include "daemon/caches.h"

#include "daemon/unserved.h"
#include "kube/client/path.h"
#include "kube/object/object.h"
#include "sched/watchdog.h"
#include "util/array.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/crash.h"
#include "util/log.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SYNC_REPORT_MS 30000 /* how often a missing cache is mentioned */
#define FETCH_WAIT_MS  2000
#define MAP_LONG_MS    5000 /* a map() takes no time: this one hangs */

static const struct ccm_log watch_log = { .part = "caches" };

/* Kinds with a type of their own. Services stand before the slices, which go by them. */
static const struct typed {
    uint64_t kind;
    const char *name;
    const char *path;
    const struct kube_index *index;
} typed[] = {
    { CCM_KIND_SERVICE, "services", "/api/v1/services", NULL },
    { CCM_KIND_NODE, "nodes", "/api/v1/nodes", &kube_index_server },
    { CCM_KIND_ENDPOINT_SLICE, "endpointslices", "/apis/discovery.k8s.io/v1/endpointslices",
      &kube_index_service },
};

/* One kind that somebody watches. */
struct source {
    struct daemon_watches *owner;
    const struct ccm_watch
        *watch; /* of the first plugin that has it: kind and, of raw ones, resource */
    char *name; /* for messages */
    char *path;
    const struct ccm_watch **watches; /* of all plugins, of this kind; NULL-terminated */
    struct kube_index indexes[KUBE_STORE_INDEXES]; /* of raw objects */
    struct kube_store *store;
    struct kube_reflector *reflector;
    bool partial; /* slices: only those of Services that are of use are held */
    struct sched_watchdog_slot running; /* source_map_change() */
};

#define LEFT_MAX 1024

/* Services of no use that have gone last: slices of one that takes the name may have come first. */
struct left_services {
    uint64_t hashes[LEFT_MAX]; /* of keys; 0 = none */
    size_t next;
};

struct daemon_watches {
    struct daemon_host_services *services;
    struct plugin_registry *registry;
    struct ccm_cancel stopped;
    struct source **items;
    size_t len;
    size_t cap;
    struct daemon_raw_store *raw; /* what services->raw points to */
    size_t raw_cap;
    struct sched_watchdog_place place; /* of every source_map_change() */
    struct left_services left;         /* the thread of the Services' reflector alone */
};

static bool is_created(struct plugin_registry *registry, const struct plugin_entry *entry)
{
    const enum plugin_state state = plugin_registry_status(registry, entry, NULL);

    return state != PLUGIN_STATE_FAILED && state != PLUGIN_STATE_LOADED;
}

static bool index_is_same(const struct ccm_index *a, const struct ccm_index *b)
{
    return ccm_text_equal(a->name, b->name) && ccm_text_equal(a->label, b->label) &&
           ccm_text_equal(a->path, b->path) && a->flags == b->flags;
}

static bool watch_has_same_indexes(const struct ccm_watch *a, const struct ccm_watch *b)
{
    size_t i = 0;

    if (a->indexes == NULL || b->indexes == NULL) {
        return a->indexes == b->indexes;
    }
    while (a->indexes[i] != NULL && b->indexes[i] != NULL &&
           index_is_same(a->indexes[i], b->indexes[i])) {
        i++;
    }
    return a->indexes[i] == NULL && b->indexes[i] == NULL;
}

/* Whether one cache does for both. */
static bool watch_is_same(const struct ccm_watch *a, const struct ccm_watch *b)
{
    return plugin_watch_is_same(a, b) && watch_has_same_indexes(a, b) &&
           ((a->flags ^ b->flags) & CCM_WATCH_OPTIONAL) == 0;
}

static struct source *watches_find_source(const struct daemon_watches *watches,
                                          const struct ccm_watch *watch)
{
    for (size_t i = 0; i < watches->len; i++) {
        if (watch_is_same(watches->items[i]->watch, watch)) {
            return watches->items[i];
        }
    }
    return NULL;
}

/* The source of a typed kind, or NULL: nobody watches it. */
static struct source *source_of(const struct daemon_watches *watches, uint64_t kind)
{
    const struct ccm_watch watch = { .kind = kind };

    return watches_find_source(watches, &watch);
}

/* Whether a plugin watches the kind with the flag. */
static bool registry_wants(struct plugin_registry *registry, uint64_t kind, uint64_t flag)
{
    for (size_t i = 0; i < plugin_registry_len(registry); i++) {
        const struct plugin_entry *entry = plugin_registry_at(registry, i);

        if (!is_created(registry, entry)) {
            continue;
        }
        for (const struct ccm_watch *const *w = entry->loaded->desc->watches; *w != NULL; w++) {
            if ((*w)->kind == kind && ((*w)->flags & flag) != 0) {
                return true;
            }
        }
    }
    return false;
}

/* --- which slices are held --- */

/* Whether the slices of a Service are of use: plugins make load balancers for those of that type,
 * and clean up after those with a finalizer. */
static bool has_use(const struct ccm_object *object)
{
    const struct ccm_service *service = (const struct ccm_service *)(const void *)object;

    return ccm_text_equal(service->type, "LoadBalancer") || object->finalizer_count > 0;
}

/* In the thread of the slices' reflector. One whose Service has not come yet is kept: when it comes
 * nothing has to be read again, and if it is of no use the slice is dropped. */
static bool keep_slice(void *arg, const struct ccm_object *object)
{
    const struct source *source = arg;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf key = { 0 };

    kube_index_service.fn(&kube_index_service, object, &key);
    if (key.len == 0 && ccm_buf_error(&key) == 0) {
        return false; /* no Service can find it */
    }

    CCM_CLEANUP(kube_object_unrefp)
    const struct ccm_object *service =
        kube_store_get(source_of(source->owner, CCM_KIND_SERVICE)->store, ccm_buf_str(&key));

    return service == NULL || has_use(service);
}

/* Have the slices of a Service read that were of no use so far, before plugins hear of the change:
 * else they would see a Service without endpoints for a moment. In the thread of the Services'
 * reflector, which waits for one request then; such changes are rare. */
static void fetch_slices(struct kube_reflector *slices, const struct ccm_object *service)
{
    CCM_CLEANUP(ccm_freep)
    char *selector = ccm_text_format("kubernetes.io/service-name=%s", service->name);
    const struct ccm_log log = { .part = "caches", .object = service->key };

    if (selector == NULL || kube_reflector_fetch(slices, selector) < 0) {
        ccm_log_error(&log, "its EndpointSlices are missing until they change: out of memory");
        return;
    }
    if (kube_reflector_wait_fetched(slices, ccm_clock_now_ms() + FETCH_WAIT_MS) == -ETIMEDOUT) {
        ccm_log_warn(&log, "its EndpointSlices are not read yet");
    }
}

/* Another key of the same number costs a request. */
static uint64_t left_hash_key(const char *key)
{
    const uint64_t hash = ccm_text_hash(key);

    return hash == 0 ? 1 : hash;
}

static void left_add(struct left_services *left, const char *key)
{
    left->hashes[left->next] = left_hash_key(key);
    left->next = (left->next + 1) % LEFT_MAX;
}

static bool left_take(struct left_services *left, const char *key)
{
    const uint64_t hash = left_hash_key(key);
    bool found = false;

    for (size_t i = 0; i < LEFT_MAX; i++) {
        if (left->hashes[i] == hash) {
            left->hashes[i] = 0;
            found = true;
        }
    }
    return found;
}

/* Keep what is held of the slices in step with a change of a Service. The watches of both are not
 * in step: slices of a new Service may come while one of the same name and of no use is still
 * there, and are dropped then. */
static void follow_service(struct daemon_watches *watches, const struct ccm_change *change)
{
    const struct source *slices = source_of(watches, CCM_KIND_ENDPOINT_SLICE);
    const bool before = change->before != NULL && has_use(change->before);
    const bool after = change->after != NULL && has_use(change->after);

    if (slices == NULL || !slices->partial) {
        return;
    }
    if (change->after == NULL && !before) {
        left_add(&watches->left, change->before->key);
    }
    if (after && !before &&
        (change->before != NULL || left_take(&watches->left, change->after->key))) {
        fetch_slices(slices->reflector, change->after);
    } else if (change->after != NULL && !after && (before || change->before == NULL)) {
        kube_reflector_recheck(slices->reflector);
    }
}

/* A plugin that hangs here takes the cache with it, so who it is and what it was told is noted. */
static void source_map_change(struct source *source, const struct plugin_entry *entry,
                              const struct ccm_watch *watch, const struct ccm_change *change)
{
    struct sched_watchdog_place *place = &source->owner->place;
    const struct ccm_object *object = change->after == NULL ? change->before : change->after;
    char what[SCHED_WATCHDOG_WHAT];
    const char *const whats[] = { what };
    struct ccm_crash_call call = {
        .plugin = entry->name,
        .stage = "map",
        .keys = whats,
        .key_count = 1,
    };

    ccm_text_printf(what, sizeof(what), "%s %s", source->name, object->key);
    sched_watchdog_begin(place, &source->running, entry->name, what);
    ccm_crash_begin(&call);
    watch->map(entry->self, change);
    ccm_crash_end(&call);
    (void)sched_watchdog_end(place, &source->running); /* how long it took is of no interest */
}

/* In the thread of the kind's reflector, in order. */
static void on_change(void *arg, const struct ccm_change *change)
{
    struct source *source = arg;
    struct plugin_registry *registry = source->owner->registry;

    if (source->watch->kind == CCM_KIND_SERVICE) {
        follow_service(source->owner, change);
        daemon_unserved_look(source->owner->services->unserved, change->before, change->after);
    }
    for (size_t i = 0; i < plugin_registry_len(registry); i++) {
        const struct plugin_entry *entry = plugin_registry_at(registry, i);

        if (!is_created(registry, entry)) {
            continue;
        }
        for (const struct ccm_watch *const *w = entry->loaded->desc->watches; *w != NULL; w++) {
            if (watch_is_same(*w, source->watch)) {
                source_map_change(source, entry, *w, change);
            }
        }
    }
}

/* --- life --- */

static const struct typed *typed_of(uint64_t kind)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(typed); i++) {
        if (typed[i].kind == kind) {
            return &typed[i];
        }
    }
    return NULL;
}

/* "/api/v1/configmaps", "/apis/apps/v1/deployments"; NULL on ENOMEM. */
static char *path_of(const struct ccm_watch *watch)
{
    const struct typed *known = typed_of(watch->kind);

    if (known != NULL) {
        return strdup(known->path);
    }

    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf path = { .max = KUBE_PATH_MAX };
    const struct kube_path_raw raw = { .api_version = watch->api_version,
                                       .resource = watch->resource,
                                       .namespace_ = watch->namespace_ };
    char *text = NULL;

    return kube_path_raw(&path, &raw) != NULL || ccm_buf_take(&path, &text) < 0 ? NULL : text;
}

/* "buckets", "buckets in default, labels a=b": as no other cache is called. NULL on ENOMEM. */
static char *watches_make_name(const struct daemon_watches *watches, const struct ccm_watch *watch)
{
    const struct typed *known = typed_of(watch->kind);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf name = { .max = 4096 };
    char *text = NULL;

    if (known != NULL) {
        return strdup(known->name);
    }
    ccm_buf_adds(&name, watch->resource);
    if (!ccm_text_empty(watch->namespace_)) {
        ccm_buf_addf(&name, " in %s", watch->namespace_);
    }
    if (!ccm_text_empty(watch->label_selector)) {
        ccm_buf_addf(&name, " labels %s", watch->label_selector);
    }
    if (!ccm_text_empty(watch->field_selector)) {
        ccm_buf_addf(&name, " fields %s", watch->field_selector);
    }
    for (size_t i = 0; i + 1 < watches->len; i++) {
        if (ccm_text_equal(watches->items[i]->name, ccm_buf_str(&name))) {
            ccm_buf_addf(&name, " of %s%s", watch->api_version,
                         watch->indexes == NULL ? "" : ", indexed");
            break;
        }
    }
    return ccm_buf_take(&name, &text) < 0 ? NULL : text;
}

/* Let plugins find the store: each watch of each that it does for. */
static int watches_publish_store(struct daemon_watches *watches, const struct source *source)
{
    struct daemon_host_services *services = watches->services;
    struct plugin_registry *registry = watches->registry;

    if (source->watch->kind != CCM_KIND_RAW) {
        services->stores[source->watch->kind] = source->store;
        services->reflectors[source->watch->kind] = source->reflector;
        return 0;
    }
    for (size_t i = 0; i < plugin_registry_len(registry); i++) {
        const struct plugin_entry *entry = plugin_registry_at(registry, i);

        for (const struct ccm_watch *const *w = entry->loaded->desc->watches; *w != NULL; w++) {
            if (!is_created(registry, entry) || !watch_is_same(*w, source->watch)) {
                continue;
            }
            if (ccm_array_grow(&watches->raw, &watches->raw_cap, services->raw_count + 1,
                               sizeof(*watches->raw)) < 0) {
                return -ENOMEM;
            }
            watches->raw[services->raw_count++] = (struct daemon_raw_store){
                .plugin = entry->name,
                .watch = *w,
                .store = source->store,
                .reflector = source->reflector,
            };
            services->raw = watches->raw;
        }
    }
    return 0;
}

/* Returns how many. */
static size_t source_fill_indexes(struct source *source, const struct typed *known)
{
    size_t count = 0;

    if (known != NULL && known->index != NULL) {
        source->indexes[count++] = *known->index;
    }
    for (; source->watch->indexes != NULL && source->watch->indexes[count] != NULL; count++) {
        source->indexes[count] = (struct kube_index){ .name = source->watch->indexes[count]->name,
                                                      .fn = kube_index_raw,
                                                      .raw = source->watch->indexes[count] };
    }
    return count;
}

/* The watches of this kind that created plugins have: at least the source's own. */
static int source_list_watches(struct source *source)
{
    struct plugin_registry *registry = source->owner->registry;
    size_t len = 0;
    size_t cap = 0;

    for (size_t i = 0; i < plugin_registry_len(registry); i++) {
        const struct plugin_entry *entry = plugin_registry_at(registry, i);

        if (!is_created(registry, entry)) {
            continue;
        }
        for (const struct ccm_watch *const *w = entry->loaded->desc->watches; *w != NULL; w++) {
            if ((*w)->kind != source->watch->kind) {
                continue;
            }
            if (ccm_array_grow(&source->watches, &cap, len + 2, sizeof(const struct ccm_watch *)) <
                0) {
                return -ENOMEM;
            }
            source->watches[len++] = *w;
            source->watches[len] = NULL;
        }
    }
    return 0;
}

static int add_reflector(struct daemon_watches *watches, struct source *source)
{
    const struct source *services = source_of(watches, CCM_KIND_SERVICE);

    source->partial =
        source->watch->kind == CCM_KIND_ENDPOINT_SLICE && services != NULL &&
        !registry_wants(watches->registry, CCM_KIND_ENDPOINT_SLICE, CCM_WATCH_ALL_SLICES);

    const struct kube_reflector_config config = {
        .client = watches->services->kube,
        .store = source->store,
        .name = source->name,
        .path = source->path,
        .kind = { .kind = source->watch->kind,
                  .api_version = source->watch->api_version,
                  .node_info =
                      registry_wants(watches->registry, CCM_KIND_NODE, CCM_WATCH_NODE_INFO),
                  .watches = source->watches },
        .label_selector = source->watch->label_selector,
        .field_selector = source->watch->field_selector,
        .optional = (source->watch->flags & CCM_WATCH_OPTIONAL) != 0,
        .keep = source->partial ? keep_slice : NULL,
        .after = source->partial ? services->reflector : NULL,
        .ahead = services == NULL || services == source ? NULL : services->reflector,
        .continuity = &watches->services->continuity,
        .never_empty =
            source->watch->kind == CCM_KIND_SERVICE || source->watch->kind == CCM_KIND_NODE,
        .change = on_change,
        .arg = source,
    };

    source->reflector = kube_reflector_new(&config);
    return source->reflector == NULL ? -ENOMEM : 0;
}

/* Store and reflector of one more kind. 0 or -ENOMEM. */
static int watches_add_source(struct daemon_watches *watches, const struct ccm_watch *watch)
{
    int r =
        ccm_array_grow(&watches->items, &watches->cap, watches->len + 1, sizeof(struct source *));

    if (r < 0) {
        return r;
    }

    struct source *source = calloc(1, sizeof(*source));

    if (source == NULL) {
        return -ENOMEM;
    }
    watches->items[watches->len++] = source;
    source->owner = watches;
    source->watch = watch;
    source->name = watches_make_name(watches, watch);
    source->path = path_of(watch);
    source->store =
        kube_store_new(source->indexes, source_fill_indexes(source, typed_of(watch->kind)));
    if (source->name == NULL || source->path == NULL || source->store == NULL ||
        source_list_watches(source) < 0) {
        return -ENOMEM;
    }
    r = add_reflector(watches, source);
    if (r < 0) {
        return r;
    }
    return watches_publish_store(watches, source);
}

/* What created plugins watch of this kind, each once. */
static int watches_add_kind(struct daemon_watches *watches, uint64_t kind)
{
    struct plugin_registry *registry = watches->registry;

    for (size_t i = 0; i < plugin_registry_len(registry); i++) {
        const struct plugin_entry *entry = plugin_registry_at(registry, i);

        if (!is_created(registry, entry)) {
            continue;
        }
        for (const struct ccm_watch *const *w = entry->loaded->desc->watches; *w != NULL; w++) {
            const int r = (*w)->kind == kind && watches_find_source(watches, *w) == NULL
                              ? watches_add_source(watches, *w)
                              : 0;

            if (r < 0) {
                return r;
            }
        }
    }
    return 0;
}

static void watches_add_place(struct daemon_watches *watches)
{
    sched_watchdog_init(&watches->place, watches->services->watchdog, watch_log.part,
                        SCHED_WATCHDOG_SLOW_MS);
    watches->place.call = "map()";
    for (size_t i = 0; i < watches->len; i++) {
        sched_watchdog_add_slot(&watches->place, &watches->items[i]->running);
    }
}

static int watches_add_kinds(struct daemon_watches *watches)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(typed); i++) {
        const int r = watches_add_kind(watches, typed[i].kind);

        if (r < 0) {
            return r;
        }
    }
    return watches_add_kind(watches, CCM_KIND_RAW);
}

struct daemon_watches *daemon_watches_new(struct daemon_host_services *services,
                                          struct plugin_registry *registry)
{
    struct daemon_watches *watches = calloc(1, sizeof(*watches));
    int r;

    if (watches == NULL) {
        return NULL;
    }
    watches->services = services;
    watches->registry = registry;
    r = watches_add_kinds(watches);
    if (r < 0) {
        daemon_watches_free(watches);
        return NULL;
    }
    watches_add_place(watches);
    return watches;
}

void daemon_watches_list_running(struct daemon_watches *watches,
                                 void (*fn)(void *arg, const char *plugin, const char *what,
                                            int64_t age_ms),
                                 void *arg)
{
    sched_watchdog_list(&watches->place, fn, arg);
}

int daemon_watches_start(struct daemon_watches *watches, struct ccm_error *err)
{
    for (size_t i = 0; i < watches->len; i++) {
        const int r = kube_reflector_start(watches->items[i]->reflector);

        if (r < 0) {
            return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "%s: cannot start a thread",
                                 watches->items[i]->name);
        }
    }
    return 0;
}

/* The map() that stands in the way of the caches; "" = none does. */
static void watches_explain_wait(struct daemon_watches *watches, char *text, size_t size)
{
    struct sched_watchdog_slot call;
    int64_t age_ms;

    text[0] = '\0';
    for (size_t i = 0; i < watches->len && text[0] == '\0'; i++) {
        if (sched_watchdog_peek(&watches->place, &watches->items[i]->running, &call, &age_ms) &&
            age_ms >= MAP_LONG_MS) {
            ccm_text_printf(text, size, "map() of plugin %s runs since %lld ms, at %s", call.id,
                            (long long)age_ms, call.what);
        }
    }
}

static int wait_one(struct daemon_watches *watches, const struct source *source)
{
    struct kube_reflector_status status;
    char text[SCHED_WATCHDOG_WHAT + SCHED_WATCHDOG_ID + 64];
    int r;

    for (;;) {
        r = kube_reflector_wait_synced(source->reflector, ccm_clock_now_ms() + SYNC_REPORT_MS,
                                       &watches->stopped);
        if (r != -ETIMEDOUT) {
            return r;
        }
        kube_reflector_status(source->reflector, &status);
        watches_explain_wait(watches, text, sizeof(text));
        ccm_log_warn(&watch_log, "still waiting for the first list of %s: %s", source->name,
                     text[0] != '\0'           ? text
                     : status.error[0] != '\0' ? status.error
                                               : "no answer yet");
    }
}

int daemon_watches_wait_synced(struct daemon_watches *watches, const struct ccm_plugin *desc)
{
    for (const struct ccm_watch *const *watch = desc->watches; *watch != NULL; watch++) {
        const int r = wait_one(watches, watches_find_source(watches, *watch));

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static void source_get_view(const struct source *source, struct daemon_watch_view *ret)
{
    ret->name = source->name;
    kube_reflector_status(source->reflector, &ret->status);
}

bool daemon_watches_get_view(struct daemon_watches *watches, size_t index,
                             struct daemon_watch_view *ret)
{
    if (index >= watches->len) {
        return false;
    }
    source_get_view(watches->items[index], ret);
    return true;
}

bool daemon_watches_find_unlisted(struct daemon_watches *watches, const struct ccm_plugin *desc,
                                  struct daemon_watch_view *ret)
{
    for (const struct ccm_watch *const *watch = desc->watches; *watch != NULL; watch++) {
        source_get_view(watches_find_source(watches, *watch), ret);
        if (!ret->status.synced) {
            return true;
        }
    }
    return false;
}

void daemon_watches_relist_after_break(struct daemon_watches *watches)
{
    for (size_t i = 0; i < watches->len; i++) {
        kube_reflector_relist_after_break(watches->items[i]->reflector);
    }
}

void daemon_watches_stop(struct daemon_watches *watches)
{
    ccm_http_cancel(watches->services->http, &watches->stopped);
    for (size_t i = 0; i < watches->len; i++) {
        kube_reflector_stop(watches->items[i]->reflector);
    }
}

int daemon_watches_join(struct daemon_watches *watches, int64_t deadline_ms)
{
    int result = 0;

    for (size_t i = 0; i < watches->len; i++) {
        const struct source *source = watches->items[i];

        if (kube_reflector_join(source->reflector, deadline_ms) < 0) {
            ccm_log_error(&watch_log, "%s: map() of a plugin hangs", source->name);
            result = -ETIMEDOUT;
        }
    }
    if (result < 0) {
        sched_watchdog_log_hung(&watches->place);
    }
    return result;
}

void daemon_watches_free(struct daemon_watches *watches)
{
    if (watches == NULL) {
        return;
    }
    /* Backwards: the slices' reflector may look at that of the Services. */
    for (size_t i = watches->len; i > 0; i--) {
        kube_reflector_free(watches->items[i - 1]->reflector);
    }
    sched_watchdog_remove(&watches->place); /* no map() runs any more */
    for (size_t i = 0; i < watches->len; i++) {
        struct source *source = watches->items[i];

        kube_store_free(source->store);
        free(source->watches);
        free(source->path);
        free(source->name);
        free(source);
    }
    free(watches->items);
    free(watches->raw);
    free(watches);
}
