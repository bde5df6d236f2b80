#include "watch.h"

#include "controllers.h"
#include "jx.h"
#include "status.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Most bytes handed out at once. */
#define PIECE_MAX ((size_t)256 * 1024)
/* Without timeoutSeconds the server ends a watch after a while. */
#define DEFAULT_TIMEOUT_MS (45 * 60 * 1000)
/* A bookmark comes this long before the end of a watch whose time is known. */
#define LAST_BOOKMARK_MS 2000
#define FUTURE_WAIT_MS   3000

struct ccm_ks_watch {
    struct ccm_ks_cluster *cluster;
    struct ccm_ks_watch *prev;
    struct ccm_ks_watch *next;
    const struct ccm_ks_kind *kind;
    enum ccm_ks_form form;
    enum ccm_ks_include include;
    char prefix[CCM_KS_KEY_MAX];
    struct ccm_ks_selector *labels;
    struct ccm_ks_selector *fields;
    struct ccm_ks_objects initial; /* sent as ADDED before anything else */
    size_t initial_sent;
    uint64_t version; /* all changes up to here are sent or passed over */
    uint64_t start;   /* `version` when the watch began */
    uint64_t future;  /* initial state is wanted at least this new; 0 = any */
    bool want_initial;
    bool bookmarks;
    bool mark_end; /* the bookmark that ends the initial events is still to come */
    bool columns_sent;
    bool last_bookmark_sent;
    bool silent;
    bool finishing; /* ends when nothing is left to send */
    int64_t future_deadline_ms;
    int64_t end_ms;
    int64_t bookmark_ms; /* when the next bookmark is due */
    enum ccm_ks_order order;
    char *error; /* the event that ends the stream at once; NULL = none */
};

static void watch_free(struct ccm_ks_watch *w)
{
    ccm_ks_selector_free(w->labels);
    ccm_ks_selector_free(w->fields);
    ccm_ks_objects_fini(&w->initial);
    free(w->error);
    free(w);
}

/* --- printing events --- */

static void print_table(struct ccm_ks_watch *w, const cJSON *object, struct ccm_buf *out)
{
    ccm_buf_addf(out,
                 "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":"
                 "{\"resourceVersion\":\"%s\"},",
                 ccm_json_text(ccm_json_get(object, "metadata"), "resourceVersion"));
    ccm_ks_table_head(out, w->kind, !w->columns_sent);
    w->columns_sent = true;
    ccm_buf_addc(out, '[');
    ccm_ks_table_row(out, w->kind, object, w->include);
    ccm_buf_adds(out, "]}");
}

static void print_event(struct ccm_ks_watch *w, const char *type, struct ccm_ks_object *object,
                        struct ccm_buf *out)
{
    ccm_buf_addf(out, "{\"type\":\"%s\",\"object\":", type);
    if (w->form == CCM_KS_FORM_TABLE) {
        print_table(w, object->json, out);
    } else if (w->form == CCM_KS_FORM_METADATA) {
        ccm_ks_table_metadata(out, object->json);
    } else {
        ccm_ks_object_print(object, w->kind, true, out);
    }
    ccm_buf_adds(out, "}\n");
}

/* An object that left the selection shows its old state with the version of the change. */
static void print_left(struct ccm_ks_watch *w, const struct ccm_ks_change *change,
                       struct ccm_buf *out)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = ccm_ks_jx_dup(change->old->json);
    char version[24];

    ccm_text_printf(version, sizeof(version), "%" PRIu64, change->version);
    ccm_ks_jx_set_str(ccm_ks_jx_object(json, "metadata"), "resourceVersion", version);
    ccm_buf_adds(out, "{\"type\":\"DELETED\",\"object\":");
    if (w->form == CCM_KS_FORM_TABLE) {
        print_table(w, json, out);
    } else if (w->form == CCM_KS_FORM_METADATA) {
        ccm_ks_table_metadata(out, json);
    } else {
        ccm_ks_object_print_json(json, w->kind, true, out);
    }
    ccm_buf_adds(out, "}\n");
}

static void print_bookmark(struct ccm_ks_watch *w, uint64_t at, bool ends_initial,
                           struct ccm_buf *out)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *object = cJSON_CreateObject();
    CCM_CLEANUP(ccm_json_freep) cJSON *empty = ccm_ks_schema_empty(w->kind->schema);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf api_version = { .max = 256 };
    cJSON *meta = cJSON_CreateObject();
    const cJSON *item;
    char version[24];

    ccm_ks_kind_api_version(&api_version, w->kind);
    ccm_text_printf(version, sizeof(version), "%" PRIu64, at);
    ccm_ks_jx_set_str(object, "kind", w->kind->kind);
    ccm_ks_jx_set_str(object, "apiVersion", ccm_buf_str(&api_version));
    ccm_ks_jx_set_str(meta, "resourceVersion", version);
    if (ends_initial) {
        ccm_ks_jx_set_str(ccm_ks_jx_object(meta, "annotations"), "k8s.io/initial-events-end",
                          "true");
    }
    ccm_ks_jx_set(object, "metadata", meta);
    cJSON_ArrayForEach(item, empty)
    {
        if (strcmp(item->string, "metadata") != 0) {
            ccm_ks_jx_carry(object, empty, item->string);
        }
    }
    ccm_buf_adds(out, "{\"type\":\"BOOKMARK\",\"object\":");
    ccm_ks_jx_print(out, object);
    ccm_buf_adds(out, "}\n");
}

static char *error_event(unsigned code, const char *reason, cJSON *details, const char *message)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = 4096 };
    CCM_CLEANUP(ccm_json_freep)
    cJSON *status = ccm_ks_status_new(code, reason, details, message);
    char *text = NULL;

    ccm_buf_adds(&buf, "{\"type\":\"ERROR\",\"object\":");
    ccm_ks_jx_print(&buf, status);
    ccm_buf_adds(&buf, "}\n");
    return ccm_buf_take(&buf, &text) < 0 ? NULL : text;
}

/* --- the stream --- */

static bool selected(const struct ccm_ks_watch *w, const struct ccm_ks_object *object)
{
    return object != NULL && ccm_ks_selector_match(w->labels, object->json) &&
           ccm_ks_selector_match(w->fields, object->json);
}

static void send_change(struct ccm_ks_watch *w, const struct ccm_ks_change *change,
                        struct ccm_buf *out)
{
    const char *key = change->now != NULL ? change->now->key : change->gone->key;
    const bool before = selected(w, change->old);
    const bool after = selected(w, change->now);

    if (strncmp(key, w->prefix, strlen(w->prefix)) != 0) {
        return;
    }
    if (before && after) {
        print_event(w, "MODIFIED", change->now, out);
    } else if (after) {
        print_event(w, "ADDED", change->now, out);
    } else if (before && change->gone != NULL) {
        print_event(w, "DELETED", change->gone, out);
    } else if (before) {
        print_left(w, change, out);
    }
}

static void send_initial(struct ccm_ks_watch *w, struct ccm_buf *out)
{
    while (w->initial_sent < w->initial.len && out->len < PIECE_MAX) {
        struct ccm_ks_object *object = w->initial.items[w->initial_sent++];

        if (selected(w, object)) {
            print_event(w, "ADDED", object, out);
        }
    }
    if (w->initial_sent < w->initial.len) {
        return;
    }
    ccm_ks_objects_fini(&w->initial);
    w->initial_sent = 0;
    if (w->mark_end) {
        w->mark_end = false;
        print_bookmark(w, w->version, true, out);
    }
}

/* Everything that happened since. -ENODATA: history went on without this reader. */
static int send_changes(struct ccm_ks_watch *w, struct ccm_buf *out)
{
    struct ccm_ks_store *store = w->cluster->store;
    const enum ccm_ks_bucket bucket = w->kind->bucket;
    const struct ccm_ks_change *change;

    if (w->version < ccm_ks_store_oldest(store, bucket)) {
        return -ENODATA;
    }
    while (out->len < PIECE_MAX &&
           (change = ccm_ks_store_after(store, bucket, w->version)) != NULL) {
        w->version = change->version;
        send_change(w, change, out);
    }
    if (out->len < PIECE_MAX && w->version < ccm_ks_store_version(store)) {
        w->version = ccm_ks_store_version(store);
    }
    return 0;
}

/* Take the initial state once it is new enough. Returns false while it is not. */
static bool take_initial(struct ccm_ks_watch *w, int64_t now)
{
    struct ccm_ks_store *store = w->cluster->store;

    if (ccm_ks_store_version(store) < w->future) {
        if (now >= w->future_deadline_ms) {
            CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = 256 };
            cJSON *details = cJSON_CreateObject();
            cJSON *causes = cJSON_CreateArray();
            cJSON *cause = cJSON_CreateObject();

            ccm_ks_jx_set_str(cause, "reason", "ResourceVersionTooLarge");
            ccm_ks_jx_set_str(cause, "message", "Too large resource version");
            (void)cJSON_AddItemToArray(causes, cause); /* ENOMEM: see jx.h */
            ccm_ks_jx_set(details, "causes", causes);
            ccm_ks_jx_set_int(details, "retryAfterSeconds", 1);
            ccm_buf_addf(&message,
                         "Timeout: Too large resource version: %" PRIu64 ", current: %" PRIu64,
                         w->future, ccm_ks_store_version(store));
            w->error = error_event(504, "Timeout", details, ccm_buf_str(&message));
            w->want_initial = false;
            return true;
        }
        return false;
    }
    w->want_initial = false;
    w->version = ccm_ks_store_version(store);
    w->start = w->version;
    if (ccm_ks_store_list(store, w->kind->bucket, w->prefix, &w->initial) < 0) {
        w->error = error_event(500, "InternalError", NULL, "out of memory");
    }
    return true;
}

/* What a test ordered. 1: something was written, 0: nothing was ordered, negative: the end. */
static int obey(struct ccm_ks_watch *w, struct ccm_buf *out)
{
    const enum ccm_ks_order order = w->order;

    w->order = CCM_KS_ORDER_NONE;
    switch (order) {
    case CCM_KS_ORDER_NONE:
        return 0;
    case CCM_KS_ORDER_END:
        return -ENODATA;
    case CCM_KS_ORDER_FINISH:
        w->finishing = true;
        return 0;
    case CCM_KS_ORDER_DROP:
        return -EPIPE;
    case CCM_KS_ORDER_TRUNCATE:
        ccm_buf_addf(out, "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"%s\",\"apiVersion\":\"",
                     w->kind->kind);
        return -EPIPE;
    case CCM_KS_ORDER_GARBAGE:
        ccm_buf_adds(out, "\x01\xff{]\"type\":\"MODIFIED\"\n");
        return 1;
    case CCM_KS_ORDER_SILENCE:
        w->silent = true;
        return 0;
    case CCM_KS_ORDER_ERROR:
        w->error = error_event(500, "InternalError", NULL, "ordered by the test");
        return 0;
    }
    return 0;
}

/* How far the cache of this kind is: it learns of its own changes, and now and then of others. */
static uint64_t progress(struct ccm_ks_watch *w, int64_t now)
{
    struct ccm_ks_cluster *cluster = w->cluster;
    const uint64_t changed = ccm_ks_store_changed(cluster->store, w->kind->bucket);

    if (cluster->progress_ms == 0) {
        cluster->progress_ms = now;
    }
    if (now - cluster->progress_ms >= cluster->options.progress_ms) {
        cluster->progress = ccm_ks_store_version(cluster->store);
        cluster->progress_ms = now;
    }
    return changed > cluster->progress ? changed : cluster->progress;
}

static void send_due_bookmark(struct ccm_ks_watch *w, int64_t now, struct ccm_buf *out)
{
    if (!w->bookmarks || w->initial.len > 0 || w->want_initial) {
        return;
    }

    const bool last = !w->last_bookmark_sent && now >= w->end_ms - LAST_BOOKMARK_MS;

    if (!last && now < w->bookmark_ms) {
        return;
    }

    const bool strict = w->cluster->options.progress_ms > 0;
    const uint64_t at = strict ? progress(w, now) : w->version;

    w->last_bookmark_sent = w->last_bookmark_sent || last;
    w->bookmark_ms = now + w->cluster->options.bookmark_ms;
    if (!strict || at > w->start) {
        print_bookmark(w, at, false, out);
    }
}

/* One look at what there is to send. 1, 0, or the negative end. */
static int step(struct ccm_ks_watch *w, int64_t now, struct ccm_buf *out)
{
    int r = obey(w, out);

    if (r != 0 || w->silent) {
        return r;
    }
    if (w->want_initial && !take_initial(w, now)) {
        return 0;
    }
    if (w->error != NULL) {
        ccm_buf_adds(out, w->error);
        return -ENODATA;
    }
    if (w->initial.len > 0 || w->mark_end) {
        send_initial(w, out);
        return 1;
    }
    r = send_changes(w, out);
    if (r < 0) {
        return r;
    }
    send_due_bookmark(w, now, out);
    if (out->len > 0) {
        return 1;
    }
    return now >= w->end_ms || w->finishing ? -ENODATA : 0;
}

static int64_t earliest(const struct ccm_ks_watch *w, int64_t deadline)
{
    int64_t when = deadline < w->end_ms ? deadline : w->end_ms;

    if (w->bookmarks && w->bookmark_ms < when) {
        when = w->bookmark_ms;
    }
    if (w->bookmarks && !w->last_bookmark_sent && w->end_ms - LAST_BOOKMARK_MS < when) {
        when = w->end_ms - LAST_BOOKMARK_MS;
    }
    if (w->want_initial && w->future_deadline_ms < when) {
        when = w->future_deadline_ms;
    }
    return w->silent ? deadline : when;
}

static int on_next(void *self, struct ccm_buf *out, int64_t wait_ms)
{
    struct ccm_ks_watch *w = self;
    struct ccm_ks_cluster *cluster = w->cluster;
    int64_t now = ccm_clock_now_ms();
    const int64_t deadline = now + wait_ms;
    int r;

    ccm_ks_cluster_lock(cluster);
    if (w->kind->bucket == CCM_KS_EVENTS) {
        ccm_ks_controllers_expire(cluster);
    }
    r = step(w, now, out);
    while (r == 0 && !cluster->stopping && now < deadline) {
        (void)ccm_clock_cond_wait(&cluster->changed, &cluster->lock, earliest(w, deadline));
        /* whatever woke us: look again */
        now = ccm_clock_now_ms();
        r = step(w, now, out);
    }
    ccm_ks_cluster_unlock(cluster);
    return r;
}

static void on_close(void *self)
{
    struct ccm_ks_watch *w = self;
    struct ccm_ks_cluster *cluster = w->cluster;

    ccm_ks_cluster_lock(cluster);
    if (w->prev != NULL) {
        w->prev->next = w->next;
    } else {
        cluster->watches = w->next;
    }
    if (w->next != NULL) {
        w->next->prev = w->prev;
    }
    watch_free(w);
    ccm_ks_cluster_unlock(cluster);
}

/* --- opening --- */

static int parse_start(struct ccm_ks_call *call, struct ccm_ks_watch *w)
{
    const struct ccm_sim_params *query = &call->req->query;
    const char *text = ccm_sim_params_text(query, "resourceVersion");
    const char *streaming = ccm_sim_params_get(query, "sendInitialEvents");
    const bool initial = streaming != NULL && ccm_ks_call_flag(call->req, "sendInitialEvents");
    const bool any = text[0] == '\0' || strcmp(text, "0") == 0;
    int64_t version = 0;

    if (!any && ccm_parse_i64(text, 0, INT64_MAX, &version) < 0) {
        ccm_ks_status(call->reply, 500, "", NULL,
                      "resourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing \"%s\": "
                      "invalid syntax",
                      text, text);
        return -EINVAL;
    }
    w->bookmarks = ccm_ks_call_flag(call->req, "allowWatchBookmarks");
    w->mark_end = initial && w->bookmarks;
    w->want_initial = initial || (any && streaming == NULL);
    w->future = initial ? (uint64_t)version : 0;
    w->version = (uint64_t)version;
    w->start = w->version;
    return 0;
}

/* The first look at the store, under the lock. */
static void settle_start(struct ccm_ks_watch *w)
{
    struct ccm_ks_store *store = w->cluster->store;
    const uint64_t oldest = ccm_ks_store_oldest(store, w->kind->bucket);

    if (w->want_initial) {
        (void)take_initial(w, ccm_clock_now_ms()); /* else later, in the stream */
    } else if (w->version == 0) {
        w->version = ccm_ks_store_version(store);
        w->start = w->version;
    } else if (w->version < oldest) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf message = { .max = 128 };

        ccm_buf_addf(&message, "too old resource version: %" PRIu64 " (%" PRIu64 ")", w->version,
                     oldest);
        w->error = error_event(410, "Expired", NULL, ccm_buf_str(&message));
    }
}

static int watch_new(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call,
                     struct ccm_ks_watch **ret)
{
    struct ccm_ks_watch *w = calloc(1, sizeof(*w));
    const int64_t now = ccm_clock_now_ms();
    int64_t timeout = 0;

    if (w == NULL) {
        ccm_ks_status(call->reply, 500, "InternalError", NULL, "out of memory");
        return -ENOMEM;
    }
    w->cluster = cluster;
    w->kind = call->kind;
    w->form = call->form;
    w->include = call->include;
    ccm_ks_call_prefix(call, w->prefix);
    if (ccm_ks_call_selectors(call, &w->labels, &w->fields) < 0 ||
        ccm_ks_call_number(call, "timeoutSeconds", 0, &timeout) < 0 || parse_start(call, w) < 0) {
        watch_free(w);
        return -EINVAL;
    }
    timeout = timeout > 86400 ? 86400 : timeout;
    w->end_ms = now + (timeout > 0 ? timeout * 1000 : DEFAULT_TIMEOUT_MS);
    w->bookmark_ms = now + cluster->options.bookmark_ms;
    w->future_deadline_ms = now + FUTURE_WAIT_MS;
    *ret = w;
    return 0;
}

void ccm_ks_verb_watch(struct ccm_ks_cluster *cluster, struct ccm_ks_call *call)
{
    struct ccm_ks_watch *w = NULL;

    if (ccm_ks_verb_check_list_options(call, cluster->options.no_streaming_list) < 0 ||
        watch_new(cluster, call, &w) < 0) {
        return;
    }
    ccm_ks_cluster_lock(cluster);
    settle_start(w);
    w->next = cluster->watches;
    if (w->next != NULL) {
        w->next->prev = w;
    }
    cluster->watches = w;
    ccm_ks_cluster_unlock(cluster);
    call->reply->stream = (struct ccm_sim_stream){ .next = on_next, .close = on_close, .self = w };
}

size_t ccm_ks_watch_order_locked(struct ccm_ks_cluster *cluster, enum ccm_ks_bucket bucket,
                                 enum ccm_ks_order order)
{
    size_t count = 0;

    for (struct ccm_ks_watch *w = cluster->watches; w != NULL; w = w->next) {
        if (bucket == CCM_KS_BUCKETS || w->kind->bucket == bucket) {
            w->order = order;
            count++;
        }
    }
    (void)pthread_cond_broadcast(&cluster->changed); /* cannot fail */
    return count;
}

size_t ccm_ks_watch_order(struct ccm_ks_cluster *cluster, enum ccm_ks_bucket bucket,
                          enum ccm_ks_order order)
{
    ccm_ks_cluster_lock(cluster);

    const size_t count = ccm_ks_watch_order_locked(cluster, bucket, order);

    ccm_ks_cluster_unlock(cluster);
    return count;
}

size_t ccm_ks_watch_count(const struct ccm_ks_cluster *cluster, enum ccm_ks_bucket bucket)
{
    size_t count = 0;

    for (const struct ccm_ks_watch *w = cluster->watches; w != NULL; w = w->next) {
        count += w->kind->bucket == bucket ? 1 : 0;
    }
    return count;
}
