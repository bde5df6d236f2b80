#include "daemon/host.h"

#include "daemon/http_calls.h"
#include "daemon/journal.h"
#include "daemon/own_write.h"
#include "daemon/pauses.h"
#include "daemon/raw_cache.h"
#include "kube/client/fetch.h"
#include "kube/client/patch.h"
#include "kube/client/raw.h"
#include "kube/object/object.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define NAME_MAX_LEN    33
#define HTTP_TIMEOUT_MS 20000
#define API_TIMEOUT_MS  30000
#define TOLD_MAX        64
#define RANDOM_CHUNK    256 /* getrandom() never returns less than asked for up to this size */

struct daemon_plugin_host {
    struct ccm_host table; /* table.core points back here */
    struct daemon_host_services *services;
    struct sched_controller *controller;
    struct ccm_cancel stopped;       /* of calls without a request */
    struct daemon_objects *objects;  /* notes go there; borrowed */
    struct daemon_http_calls *calls; /* that were begun and not ended */
    char name[NAME_MAX_LEN];
    const struct ccm_plugin *plugin;
    atomic_uint_fast64_t told[TOLD_MAX]; /* hashes of what was logged once; 0 = none */
    pthread_mutex_t lock;                /* guards nothing but the condition; leaf */
    pthread_cond_t woken;                /* a cancel flag was set */
};

static struct daemon_plugin_host *self_of(const struct ccm_host *host)
{
    return host->core;
}

/* The flag that ends work for this request; see sched_reconcile_fn for what core points to. */
static struct ccm_cancel *cancel_of(struct daemon_plugin_host *self, const struct ccm_request *req)
{
    return req == NULL ? &self->stopped : req->core;
}

/* --- log, time --- */

__attribute__((format(printf, 4, 5))) static void
host_log(const struct ccm_host *host, uint64_t level, const char *object, const char *format, ...)
{
    const struct ccm_log log = { .part = self_of(host)->name, .object = object };
    va_list args;

    va_start(args, format);
    ccm_log_vwrite(&log, level > CCM_LEVEL_DEBUG ? CCM_LOG_DEBUG : (enum ccm_log_level)level,
                   format, args);
    va_end(args);
}

/* Whether nobody was told about it yet: a hash of what it is about, in words. */
static bool host_is_news(struct daemon_plugin_host *self, const char *about, const char *name)
{
    uint_fast64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *from = about; *from != '\0'; from++) {
        hash = (hash ^ (unsigned char)*from) * UINT64_C(0x100000001b3); /* FNV-1a */
    }
    for (const char *from = name; *from != '\0'; from++) {
        hash = (hash ^ (unsigned char)*from) * UINT64_C(0x100000001b3);
    }
    for (size_t i = 0; i < TOLD_MAX; i++) {
        uint_fast64_t seen = 0;

        if (atomic_compare_exchange_strong(&self->told[i], &seen, hash)) {
            return true;
        }
        if (seen == hash) {
            return false;
        }
    }
    return false; /* enough was told */
}

static bool host_log_enabled(const struct ccm_host *host, uint64_t level)
{
    (void)host; /* one level for the process */
    return level <= CCM_LEVEL_DEBUG && ccm_log_enabled((enum ccm_log_level)level);
}

static int64_t host_now_ms(const struct ccm_host *host)
{
    (void)host; /* one clock for the process */
    return ccm_clock_now_ms();
}

static int64_t host_wall_ms(const struct ccm_host *host)
{
    (void)host;
    return ccm_clock_wall_ms();
}

static int host_random(const struct ccm_host *host, void *bytes, size_t len)
{
    (void)host; /* the system's own source */
    for (size_t done = 0; done < len;) {
        const size_t want = len - done < RANDOM_CHUNK ? len - done : RANDOM_CHUNK;
        const ssize_t n = getrandom((char *)bytes + done, want, 0);

        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        done += n < 0 ? 0 : (size_t)n;
    }
    return 0;
}

static bool host_cancelled(const struct ccm_host *host, const struct ccm_request *req)
{
    struct daemon_plugin_host *self = self_of(host);

    return atomic_load(&cancel_of(self, req)->cancelled) ||
           (req != NULL && ccm_clock_now_ms() >= req->deadline_ms);
}

static int host_wait(const struct ccm_host *host, const struct ccm_request *req, uint64_t ms)
{
    struct daemon_plugin_host *self = self_of(host);
    const struct ccm_cancel *cancel = cancel_of(self, req);
    const int64_t now = ccm_clock_now_ms();
    const int64_t due = now + (int64_t)(ms > INT32_MAX ? INT32_MAX : ms);

    if (req != NULL && due > req->deadline_ms) {
        return -ECANCELED; /* the caller could do nothing with the time that is left */
    }
    ccm_lock(&self->lock);
    while (!atomic_load(&cancel->cancelled) &&
           ccm_clock_cond_wait(&self->woken, &self->lock, due) != -ETIMEDOUT) {
    }
    ccm_unlock(&self->lock);
    return atomic_load(&cancel->cancelled) ? -ECANCELED : 0;
}

/* --- configuration --- */

static const char *host_option_string(const struct ccm_host *host, const char *group,
                                      const char *name)
{
    const struct daemon_plugin_host *self = self_of(host);

    return config_string(self->services->config, self->name, group, name);
}

static int64_t host_option_int(const struct ccm_host *host, const char *group, const char *name)
{
    const struct daemon_plugin_host *self = self_of(host);

    return config_int(self->services->config, self->name, group, name);
}

static const char *const *host_option_strings(const struct ccm_host *host, const char *group,
                                              const char *name)
{
    const struct daemon_plugin_host *self = self_of(host);

    return config_strings(self->services->config, self->name, group, name);
}

/* --- cluster state --- */

static struct kube_store *store_of(const struct ccm_host *host, uint64_t kind)
{
    return kind < DAEMON_HOST_KINDS ? self_of(host)->services->stores[kind] : NULL;
}

static struct kube_store *host_find_store(const struct daemon_host_services *services,
                                          const struct ccm_watch *watch)
{
    if (watch->kind != CCM_KIND_RAW) {
        return watch->kind < DAEMON_HOST_KINDS ? services->stores[watch->kind] : NULL;
    }
    for (size_t i = 0; i < services->raw_count; i++) {
        if (services->raw[i].watch == watch) {
            return services->raw[i].store;
        }
    }
    return NULL;
}

const struct ccm_object *daemon_host_find_object(const struct daemon_host_services *services,
                                                 const struct ccm_plugin *desc, const char *key)
{
    const struct ccm_object *object = NULL;

    for (const struct ccm_watch *const *w = desc->watches; *w != NULL && object == NULL; w++) {
        struct kube_store *store = host_find_store(services, *w);

        object = store == NULL ? NULL : kube_store_get(store, key);
    }
    return object;
}

/* NULL looks like "not there", which has plugins delete things. */
static void host_tell_unwatched(const struct ccm_host *host, const char *call, const char *what)
{
    if (host_is_news(self_of(host), call, what)) {
        host_log(host, CCM_LEVEL_ERROR, NULL,
                 "%s%s, which nobody watches: NULL does not say that there is no such object", call,
                 what);
    }
}

/* A list that nobody can have; index NULL = of all. */
static void host_tell_unlisted(const struct ccm_host *host, const char *call, const char *what,
                               const char *index)
{
    CCM_CLEANUP(ccm_freep)
    char *about =
        ccm_text_format("%s%s%s", what, index == NULL ? "" : " by ", index == NULL ? "" : index);

    if (about != NULL && host_is_news(self_of(host), call, about)) {
        host_log(host, CCM_LEVEL_ERROR, NULL, "%s%s: %s: -ENOTSUP is no empty list", call, about,
                 index == NULL ? "nobody watches that"
                               : "it is not watched, or there is no such index");
    }
}

static const struct ccm_object *host_get(const struct ccm_host *host, uint64_t kind,
                                         const char *key)
{
    struct kube_store *store = store_of(host, kind);
    char name[24];

    if (store == NULL) {
        ccm_text_printf(name, sizeof(name), "%" PRIu64, kind);
        host_tell_unwatched(host, "get() of kind ", name);
    }
    return store == NULL ? NULL : kube_store_get(store, key);
}

static int host_list(const struct ccm_host *host, uint64_t kind, const char *index,
                     const char *value, const struct ccm_object *const **ret_objects,
                     size_t *ret_count)
{
    struct kube_store *store = store_of(host, kind);
    char name[24];
    const int r =
        store == NULL ? -ENOTSUP : kube_store_list(store, index, value, ret_objects, ret_count);

    if (r == -ENOTSUP) {
        ccm_text_printf(name, sizeof(name), "%" PRIu64, kind);
        host_tell_unlisted(host, "list() of kind ", name, index);
    }
    return r;
}

static struct daemon_raw_scope raw_scope_of(const struct ccm_host *host, const char *api_version,
                                            const char *resource)
{
    const struct daemon_plugin_host *self = self_of(host);

    return (struct daemon_raw_scope){ self->services, self->name, api_version, resource };
}

static const struct ccm_object *host_get_raw(const struct ccm_host *host, const char *api_version,
                                             const char *resource, const char *key)
{
    const struct daemon_raw_scope scope = raw_scope_of(host, api_version, resource);

    if (!daemon_raw_is_watched(&scope)) {
        host_tell_unwatched(host, "get_raw() of ", resource);
    }
    return daemon_raw_get(&scope, key);
}

static int host_list_raw(const struct ccm_host *host, const char *api_version, const char *resource,
                         const struct ccm_object *const **ret_objects, size_t *ret_count)
{
    const struct daemon_raw_scope scope = raw_scope_of(host, api_version, resource);
    const int r = daemon_raw_list(&scope, NULL, NULL, ret_objects, ret_count);

    if (r == -ENOTSUP) {
        host_tell_unlisted(host, "list_raw() of ", resource, NULL);
    }
    return r;
}

static int host_list_raw_by(const struct ccm_host *host, const char *api_version,
                            const char *resource, const char *index, const char *value,
                            const struct ccm_object *const **ret_objects, size_t *ret_count)
{
    const struct daemon_raw_scope scope = raw_scope_of(host, api_version, resource);
    const int r =
        index == NULL ? -ENOTSUP : daemon_raw_list(&scope, index, value, ret_objects, ret_count);

    if (r == -ENOTSUP) {
        host_tell_unlisted(host, "list_raw_by() of ", resource, index == NULL ? "" : index);
    }
    return r;
}

static void host_release(const struct ccm_host *host, const struct ccm_object *object)
{
    (void)host; /* the object knows its own count */
    kube_object_unref(object);
}

static void host_release_list(const struct ccm_host *host, const struct ccm_object *const *objects,
                              size_t count)
{
    (void)host;
    kube_store_list_free(objects, count);
}

/* --- dry run, metrics --- */

/* Whether its metrics get label `plugin`. */
static bool host_is_labelled(const struct daemon_plugin_host *self)
{
    return self->plugin->plain_metrics == 0 || strcmp(self->name, self->plugin->name) != 0;
}

static bool host_dry_run(const struct ccm_host *host)
{
    return self_of(host)->services->plan != NULL;
}

static bool starts_with_any(const char *name, const char *const *beginnings)
{
    for (; beginnings != NULL && *beginnings != NULL; beginnings++) {
        if (ccm_text_starts(name, *beginnings)) {
            return true;
        }
    }
    return false;
}

/* Names of the daemon, except those that the plugin's descriptor lists. A plugin that was built
 * when descriptors had no such list may use any: its engine may record some. */
static bool host_reserves_metric(const struct daemon_plugin_host *self, const char *name)
{
    static const char *const reserved[] = {
        "ccmd_", "workqueue_", "rest_client_", "leader_election", "process_", "controller_runtime_",
        NULL
    };

    return starts_with_any(name, reserved) &&
           self->plugin->struct_size > offsetof(struct ccm_plugin, metrics) &&
           !starts_with_any(name, self->plugin->metrics);
}

static void host_metric(const struct ccm_host *host, const struct ccm_metric *metric,
                        const char *const *values, double value)
{
    struct daemon_plugin_host *self = self_of(host);
    const char *name = metric->name == NULL ? "" : metric->name;
    const bool reserved = host_reserves_metric(self, name);
    const int r =
        reserved ? -EPERM
                 : ccm_metrics_record_of(self->services->metrics, metric,
                                         host_is_labelled(self) ? self->name : NULL, values, value);

    if ((r == -EINVAL || r == -EPERM) && host_is_news(self, "metric ", name)) {
        host_log(host, CCM_LEVEL_WARN, NULL, "metric %s is dropped: %s", name,
                 reserved ? "such names belong to the daemon"
                          : "it is no metric, or not the one that has this name");
    }
}

static void host_plan(const struct ccm_host *host, const char *object, const char *steps)
{
    const struct daemon_plugin_host *self = self_of(host);

    if (host_dry_run(host)) {
        daemon_plan_book_steps(self->services->plan, self->name, object, steps);
    }
}

/* --- the API server --- */

/* The earlier of "timeout from now" and the request's own deadline. */
static int64_t deadline_of(const struct ccm_request *req, int64_t timeout_ms)
{
    const int64_t own = ccm_clock_now_ms() + timeout_ms;

    return req != NULL && req->deadline_ms < own ? req->deadline_ms : own;
}

static int host_patch(const struct ccm_host *host, const struct ccm_request *req,
                      const struct ccm_patch *patch, struct ccm_error *err)
{
    struct daemon_plugin_host *self = self_of(host);

    if (host_dry_run(host)) {
        return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED, "dry run: nothing is changed");
    }

    CCM_CLEANUP(net_http_response_freep) struct ccm_http_response *response = NULL;
    struct daemon_own_write own;

    daemon_own_write_begin(&own, self->services,
                           &(const struct daemon_own_object){ .kind = patch->kind,
                                                              .namespace_ = patch->namespace_,
                                                              .name = patch->name,
                                                              .subresource = patch->subresource });

    const int r = kube_patch(self->services->kube, cancel_of(self, req),
                             deadline_of(req, API_TIMEOUT_MS), patch, &response, err);

    daemon_own_write_finish(&own, response);
    return r;
}

static int host_fetch(const struct ccm_host *host, const struct ccm_request *req, uint64_t kind,
                      const char *namespace_, const char *name, const struct ccm_object **ret,
                      struct ccm_error *err)
{
    struct daemon_plugin_host *self = self_of(host);

    return kube_fetch(
        self->services->kube, cancel_of(self, req), deadline_of(req, API_TIMEOUT_MS),
        &(const struct kube_fetch_name){ kind, namespace_, name, self->plugin->watches }, ret, err);
}

static int host_do_raw(const struct ccm_host *host, const struct ccm_request *req,
                       enum kube_raw_verb verb, const struct ccm_raw_call *call,
                       const struct ccm_object **ret, struct ccm_error *err)
{
    struct daemon_plugin_host *self = self_of(host);
    const struct kube_raw_limits limits = { cancel_of(self, req),
                                            deadline_of(req, API_TIMEOUT_MS) };

    if (verb != KUBE_RAW_FETCH && host_dry_run(host)) {
        return ccm_error_set(err, -ECANCELED, CCM_ERROR_CANCELLED, "dry run: nothing is changed");
    }

    CCM_CLEANUP(net_http_response_freep) struct ccm_http_response *response = NULL;
    const bool changes = verb == KUBE_RAW_UPDATE || verb == KUBE_RAW_PATCH;
    struct daemon_own_write own = { .count = 0 };

    if (changes) {
        daemon_own_write_begin(&own, self->services,
                               &(const struct daemon_own_object){ CCM_KIND_RAW, call->api_version,
                                                                  call->resource, call->namespace_,
                                                                  call->name, call->subresource });
    }

    const int r = kube_raw(self->services->kube, verb, call, &limits, &response, err);

    daemon_own_write_finish(&own, response);
    return r < 0 || ret == NULL ? r : kube_raw_take(verb, call, response, ret, err);
}

static int host_fetch_raw(const struct ccm_host *host, const struct ccm_request *req,
                          const struct ccm_raw_call *call, const struct ccm_object **ret,
                          struct ccm_error *err)
{
    return host_do_raw(host, req, KUBE_RAW_FETCH, call, ret, err);
}

static int host_create_raw(const struct ccm_host *host, const struct ccm_request *req,
                           const struct ccm_raw_call *call, const struct ccm_object **ret,
                           struct ccm_error *err)
{
    return host_do_raw(host, req, KUBE_RAW_CREATE, call, ret, err);
}

static int host_update_raw(const struct ccm_host *host, const struct ccm_request *req,
                           const struct ccm_raw_call *call, const struct ccm_object **ret,
                           struct ccm_error *err)
{
    return host_do_raw(host, req, KUBE_RAW_UPDATE, call, ret, err);
}

static int host_patch_raw(const struct ccm_host *host, const struct ccm_request *req,
                          const struct ccm_raw_call *call, const struct ccm_object **ret,
                          struct ccm_error *err)
{
    return host_do_raw(host, req, KUBE_RAW_PATCH, call, ret, err);
}

static int host_delete_raw(const struct ccm_host *host, const struct ccm_request *req,
                           const struct ccm_raw_call *call, struct ccm_error *err)
{
    return host_do_raw(host, req, KUBE_RAW_DELETE, call, NULL, err);
}

static void host_note_call(const struct ccm_host *host, const char *object, uint64_t flags,
                           const char *text)
{
    const enum daemon_journal_kind kind = (flags & CCM_CALL_FAILED) != 0    ? DAEMON_JOURNAL_FAILED
                                          : (flags & CCM_CALL_CHANGES) != 0 ? DAEMON_JOURNAL_CHANGE
                                                                            : DAEMON_JOURNAL_READ;

    daemon_journal_record(self_of(host)->services->journal, object, kind, text);
}

static void host_event(const struct ccm_host *host, const struct ccm_event *event)
{
    const struct daemon_plugin_host *self = self_of(host);

    if (event->object == NULL) {
        host_log(host, CCM_LEVEL_ERROR, NULL, "event %s without an object: refused",
                 event->reason == NULL ? "" : event->reason);
        return;
    }
    if (host_dry_run(host)) {
        if (event->message == NULL || event->message[0] != '\0') { /* else a topic ends */
            daemon_plan_book_event(self->services->plan, self->name, event);
        }
    } else if (ccm_gate_leads(&self->services->gate)) { /* held: it is written later */
        if (kube_event_emit(self->services->events, event)) {
            daemon_journal_record_event(self->services->journal, event);
        }
    }
}

static void host_enqueue(const struct ccm_host *host, const char *key, uint64_t lane,
                         uint64_t delay_ms)
{
    sched_controller_enqueue(self_of(host)->controller, key, lane, delay_ms);
}

static void host_settle(const struct ccm_host *host, const struct ccm_request *req, uint64_t index,
                        uint64_t requeue_after_ms, const struct ccm_error *err)
{
    (void)host; /* the request knows its call */
    sched_controller_settle(req, index, requeue_after_ms, err);
}

static uint64_t host_retry_ms(const struct ccm_host *host, const struct ccm_request *req,
                              uint64_t index, const struct ccm_error *err, uint64_t *ret_most_ms)
{
    (void)host; /* the request knows its call */
    return sched_controller_retry_ms(req, index, err, ret_most_ms);
}

/* --- what is missing, what is held --- */

/* What the server refuses to another plugin, this one does not go by. */
static uint64_t host_collect_excused(const struct daemon_plugin_host *self)
{
    const struct daemon_host_services *services = self->services;
    uint64_t own = 0;
    uint64_t others = 0;

    for (size_t i = 0; i < services->raw_count; i++) {
        const struct daemon_raw_store *row = &services->raw[i];
        const uint64_t bit = kube_continuity_bit(kube_reflector_cache(row->reflector));

        if (ccm_text_equal(row->plugin, self->name)) {
            own |= bit;
        } else {
            others |= bit;
        }
    }
    return others & ~own;
}

static int64_t host_server_since_ms(const struct ccm_host *host)
{
    struct daemon_plugin_host *self = self_of(host);

    return kube_continuity_since(&self->services->continuity, host_collect_excused(self));
}

static void host_note(const struct ccm_host *host, const char *object, enum daemon_note_kind kind,
                      uint64_t count, uint64_t detail, const char *text)
{
    (void)daemon_objects_note(self_of(host)->objects, object, kind, count, detail,
                              text); /* whether it is new does not matter */
}

static void host_note_held(const struct ccm_host *host, const char *object, uint64_t count,
                           const char *reason)
{
    host_note(host, object, DAEMON_NOTE_HELD, count, 0, reason);
}

static void host_note_unserved(const struct ccm_host *host, const char *object, uint64_t count,
                               const char *reason)
{
    host_note(host, object, DAEMON_NOTE_NO_BACKEND, count, 0, reason);
}

static void host_note_waiting(const struct ccm_host *host, const char *object, uint64_t ms,
                              const char *what)
{
    host_note(host, object, DAEMON_NOTE_WAITING, ms == 0 ? 0 : 1, (uint64_t)ccm_clock_now_ms() + ms,
              what);
}

static void host_note_quota(const struct ccm_host *host, const char *object, const char *quota,
                            uint64_t used, uint64_t limit)
{
    CCM_CLEANUP(ccm_freep) char *what = ccm_text_format("%s: %s", object, quota);

    if (what != NULL) { /* else the note is dropped */
        host_note(host, what, DAEMON_NOTE_QUOTA, limit == 0 ? 0 : used, limit, NULL);
    }
}

/* --- pauses --- */

static void host_throttle(const struct ccm_host *host, const char *name, int64_t until_ms)
{
    struct daemon_plugin_host *self = self_of(host);

    if (name != NULL) {
        daemon_pauses_set(self->services->pauses, self->plugin->name, name, until_ms);
    } else if (sched_controller_pause(self->controller, until_ms)) {
        host_log(host, CCM_LEVEL_INFO, NULL, "pauses for %" PRId64 " ms",
                 until_ms - ccm_clock_now_ms());
    }
}

static int64_t host_paused_until(const struct ccm_host *host, const char *name)
{
    const struct daemon_plugin_host *self = self_of(host);

    return name == NULL ? 0 : daemon_pauses_get(self->services->pauses, self->plugin->name, name);
}

static void host_withdraw(const struct ccm_host *host, const char *key)
{
    sched_controller_withdraw(self_of(host)->controller, key);
}

/* --- HTTP --- */

/* What is asked for, in the engine's words; a request is charged with it. */
static struct net_exchange host_make_exchange(struct daemon_plugin_host *self,
                                              const struct ccm_request *req,
                                              const struct ccm_http_request *http,
                                              struct net_tls *tls)
{
    const int64_t timeout = http->timeout_ms == 0 ? HTTP_TIMEOUT_MS : (int64_t)http->timeout_ms;

    *tls = (struct net_tls){ .ca_file = http->ca_file, .insecure = http->insecure_tls != 0 };
    if (req != NULL) {
        sched_controller_count_call(req);
    }
    return (struct net_exchange){
        .method = http->method,
        .url = http->url,
        .headers = http->headers,
        .body = http->body,
        .body_len = http->body_len,
        .tls = tls,
        .deadline_ms = deadline_of(req, timeout),
        .max_body = http->max_body_bytes,
        .cancel = cancel_of(self, req),
        .gate = &self->services->gate,
    };
}

static int host_http(const struct ccm_host *host, const struct ccm_request *req,
                     const struct ccm_http_request *http, struct ccm_http_response **ret,
                     uint64_t *ret_phase, struct ccm_error *err)
{
    struct daemon_plugin_host *self = self_of(host);
    struct net_tls tls;
    const struct net_exchange exchange = host_make_exchange(self, req, http, &tls);

    return net_http_do(self->services->http, &exchange, ret, ret_phase, err);
}

/* Calls belong to the flag that ends work for the request: one per worker, which makes one call of
 * reconcile() at a time. */
static int host_http_begin(const struct ccm_host *host, const struct ccm_request *req,
                           const struct ccm_http_request *http, uint64_t *ret,
                           struct ccm_error *err)
{
    struct daemon_plugin_host *self = self_of(host);
    struct net_tls tls;

    if (req == NULL) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_BUG,
                             "http_begin() without a request: use http()");
    }

    const struct net_exchange exchange = host_make_exchange(self, req, http, &tls);

    return daemon_http_calls_begin(self->calls, cancel_of(self, req), &exchange, ret, err);
}

static int host_http_end(const struct ccm_host *host, uint64_t number,
                         struct ccm_http_response **ret, uint64_t *ret_phase, struct ccm_error *err)
{
    uint64_t phase = CCM_HTTP_NOT_SENT;
    const int r = daemon_http_calls_end(self_of(host)->calls, number, ret, &phase, err);

    if (r < 0 && ret_phase != NULL) {
        *ret_phase = phase;
    }
    return r;
}

static void host_http_free(const struct ccm_host *host, struct ccm_http_response *response)
{
    (void)host; /* the response knows its own memory */
    net_http_response_free(response);
}

/* --- life cycle --- */

static const struct ccm_host table_template = {
    .abi_major = CCM_ABI_MAJOR,
    .struct_size = sizeof(struct ccm_host),
    .log = host_log,
    .log_enabled = host_log_enabled,
    .now_ms = host_now_ms,
    .wall_ms = host_wall_ms,
    .random = host_random,
    .wait = host_wait,
    .cancelled = host_cancelled,
    .option_string = host_option_string,
    .option_int = host_option_int,
    .option_strings = host_option_strings,
    .get = host_get,
    .list = host_list,
    .release = host_release,
    .release_list = host_release_list,
    .patch = host_patch,
    .event = host_event,
    .enqueue = host_enqueue,
    .http = host_http,
    .http_free = host_http_free,
    .fetch = host_fetch,
    .settle = host_settle,
    .dry_run = host_dry_run,
    .plan = host_plan,
    .metric = host_metric,
    .get_raw = host_get_raw,
    .list_raw = host_list_raw,
    .server_since_ms = host_server_since_ms,
    .note_held = host_note_held,
    .note_unserved = host_note_unserved,
    .retry_ms = host_retry_ms,
    .note_quota = host_note_quota,
    .fetch_raw = host_fetch_raw,
    .create_raw = host_create_raw,
    .update_raw = host_update_raw,
    .patch_raw = host_patch_raw,
    .delete_raw = host_delete_raw,
    .list_raw_by = host_list_raw_by,
    .note_waiting = host_note_waiting,
    .throttle = host_throttle,
    .paused_until = host_paused_until,
    .withdraw = host_withdraw,
    .note_call = host_note_call,
    .http_begin = host_http_begin,
    .http_end = host_http_end,
};

struct daemon_plugin_host *daemon_plugin_host_new(struct daemon_host_services *services,
                                                  struct daemon_objects *objects, const char *name,
                                                  const struct ccm_plugin *plugin)
{
    CCM_CLEANUP(ccm_freep) struct daemon_plugin_host *self = calloc(1, sizeof(*self));
    CCM_CLEANUP(daemon_http_calls_freep)
    struct daemon_http_calls *calls = daemon_http_calls_new(services->http);

    if (self == NULL || calls == NULL || ccm_clock_cond_init(&self->woken) < 0) {
        return NULL;
    }
    if (pthread_mutex_init(&self->lock, NULL) != 0) {
        ccm_cond_fini(&self->woken);
        return NULL;
    }
    self->objects = objects;
    self->calls = CCM_STEAL(calls);
    self->table = table_template;
    self->table.core = self;
    self->services = services;
    ccm_text_copy(self->name, sizeof(self->name), name);
    self->plugin = plugin;
    return CCM_STEAL(self);
}

void daemon_plugin_host_free(struct daemon_plugin_host *host)
{
    if (host == NULL) {
        return;
    }
    ccm_cond_fini(&host->woken);
    ccm_lock_fini(&host->lock);
    daemon_http_calls_free(host->calls);
    free(host);
}

const struct ccm_host *daemon_plugin_host_table(struct daemon_plugin_host *host)
{
    return &host->table;
}

void daemon_plugin_host_set_controller(struct daemon_plugin_host *host,
                                       struct sched_controller *controller)
{
    host->controller = controller;
}

void daemon_plugin_host_end_calls(struct daemon_plugin_host *host, const struct ccm_request *req)
{
    const size_t count = daemon_http_calls_drop(host->calls, cancel_of(host, req));

    if (count > 0 && host_is_news(host, "http_end()", "")) {
        host_log(&host->table, CCM_LEVEL_ERROR, req->keys[0],
                 "reconcile() has begun %zu HTTP exchange%s without http_end(): given up", count,
                 count == 1 ? "" : "s");
    }
}

void daemon_plugin_host_wake(struct daemon_plugin_host *host)
{
    ccm_lock(&host->lock);
    ccm_wake_all(&host->woken);
    ccm_unlock(&host->lock);
}

void daemon_plugin_host_stop(struct daemon_plugin_host *host)
{
    ccm_http_cancel(host->services->http, &host->stopped);
    daemon_plugin_host_wake(host);
}
