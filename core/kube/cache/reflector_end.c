/* What follows from the end of a request: where to go on, and when. 410 Gone is -ESTALE
 * (kube/client/status.c): handle_stale() has the kind listed anew. */
#include "kube/cache/reflector_priv.h"
#include "util/clock.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define EARLY_MS        10000 /* a server ends a watch up to this much before the time asked for */
#define MAX_SILENT      2
#define MAX_QUIET       10
#define MAX_BROKEN      3
#define MAX_REJECTED    3
#define MAX_BEGINNING   4    /* refusals in a row that may be those of a server which just begins */
#define SHORT_WATCH_MS  1000 /* one that ends sooner without a word is a failure */
#define MAX_RETRY_AFTER 600000
#define MAX_PAGED_SHIFT 6     /* 64 times as long */
#define OPTIONAL_MS     10000 /* longest until a resource that is not there is looked for again */

/* The wait after the n-th failure in a row. */
static int64_t backoff_ms(struct kube_reflector *r, unsigned n)
{
    const struct kube_reflector_timing *timing = &r->config.timing;
    uint64_t ms = (uint64_t)timing->backoff_min_ms << (n > 16 ? 16 : n - 1);

    if (ms > timing->backoff_max_ms) {
        ms = timing->backoff_max_ms;
    }
    return kube_reflector_random(r, (uint32_t)(ms / 2), (uint32_t)ms);
}

static void forget_failures(struct kube_reflector *r)
{
    r->failures = 0;
    r->stale = 0;
    r->silent = 0;
    r->quiet = 0;
    r->broken = 0;
    r->rejected = 0;
    r->refused = 0;
}

static void record_failure(struct kube_reflector *r, const struct kube_reflector_end *end)
{
    ccm_lock(&r->lock);
    r->status.failures = r->failures;
    r->status.streaming = r->streaming;
    r->status.listed = r->listed;
    if (end->code < 0) {
        ccm_text_copy(r->status.error, sizeof(r->status.error), end->err.message);
    }
    ccm_unlock(&r->lock);
}

/* Count up to `most`; true (and zero again) when it is reached. */
static bool count_up_to(unsigned *counter, unsigned most)
{
    if (++*counter < most) {
        return false;
    }
    *counter = 0;
    return true;
}

static const char *end_request_name(const struct kube_reflector_end *end)
{
    if (end->watch) {
        return "watch";
    }
    return end->initial ? "streaming list" : "list";
}

static bool is_refused(const struct kube_reflector_end *end)
{
    const uint64_t status = end->err.http_status;

    return status == 401 || status == 403 || status == 404;
}

/* Whether whoever was asked answered, so that a page can be asked for at once. */
static bool has_answered(const struct kube_reflector_end *end)
{
    return end->code == 0 || end->code == -ETIME || end->code == -EBADMSG ||
           end->code == -EMSGSIZE || end->err.http_status != 0;
}

/* A page would end in the same way: that says nothing about streaming. */
static bool ends_pages_too(const struct kube_reflector_end *end)
{
    return is_refused(end) || end->err.http_status == 429 ||
           (!has_answered(end) && end->code != -ECONNRESET);
}

/* A streaming list failed: lists are paged from here on, for a while. The server may not know them
 * (400, 422), may lack what they need (an ERROR event with any code), or may just be in trouble.
 * True: the pages follow at once, and it is no failure so far. */
static bool streaming_failed(struct kube_reflector *r, const struct kube_reflector_end *end)
{
    const unsigned shift = r->paged < MAX_PAGED_SHIFT ? r->paged : MAX_PAGED_SHIFT;

    if (ends_pages_too(end)) {
        return false;
    }
    r->streaming = false;
    r->paged++;
    r->paged_until_ms = ccm_clock_now_ms() + ((int64_t)r->config.timing.paged_ms << shift);
    if (!has_answered(end) || end->err.retry_after_ms > 0) {
        return false;
    }
    ccm_log_info(&kube_reflector_log, "%s: no streaming list here, listing in pages: %s",
                 r->config.name, end->code == 0 ? "it ended too soon" : end->err.message);
    record_failure(r, end);
    return true;
}

static bool is_absent(const struct kube_reflector *r, const struct kube_reflector_end *end)
{
    return r->config.optional && end->err.http_status == 404;
}

/* A new server may not have read its definitions yet: objects go only when it stays so. */
static void drop_objects(struct kube_reflector *r)
{
    struct kube_stage *nothing = kube_reflector_new_stage(r);

    if (nothing == NULL) {
        return; /* the next try does it */
    }
    ccm_log_warn(&kube_reflector_log, "%s: its resource has gone, and so have %zu objects",
                 r->config.name, kube_store_len(r->config.store));
    kube_store_commit(r->config.store, nothing, r->config.change, r->config.arg);
}

/* There is no such resource, and need not be. */
static int64_t handle_absent(struct kube_reflector *r)
{
    const int64_t most =
        r->config.timing.refused_ms < OPTIONAL_MS ? r->config.timing.refused_ms : OPTIONAL_MS;
    const int64_t slow = kube_reflector_random(r, (uint32_t)most / 2, (uint32_t)most);
    const int64_t soon = backoff_ms(r, ++r->refused);

    r->listed = false;
    r->failures = 0;
    if (r->refused > MAX_BEGINNING && kube_store_len(r->config.store) > 0) {
        drop_objects(r);
    }
    ccm_lock(&r->lock);
    if (!r->status.absent) {
        ccm_log_info(&kube_reflector_log,
                     "%s: the server has no such resource; it is looked for again", r->config.name);
    }
    r->status.absent = true;
    ccm_wake_all(&r->changed);
    ccm_unlock(&r->lock);
    return soon < slow ? soon : slow;
}

/* In its first seconds a server knows no roles yet, and refuses what it will allow: the first tries
 * follow soon, and only what stays refused is an error. */
static int64_t handle_refused(struct kube_reflector *r, const struct kube_reflector_end *end)
{
    const uint32_t most = r->config.timing.refused_ms;
    const int64_t slow = kube_reflector_random(r, most / 2, most);
    const int64_t soon = backoff_ms(r, ++r->refused);

    CCM_LOG_AT(&kube_reflector_log, r->refused > MAX_BEGINNING ? CCM_LOG_ERROR : CCM_LOG_WARN,
               "%s: %s of %s is refused: %s", r->config.name, end_request_name(end), r->config.path,
               end->err.message);
    r->listed = r->listed && end->err.http_status != 404;
    return soon < slow ? soon : slow;
}

/* The server answered with an error status, also as an event of a watch. */
static int64_t handle_status(struct kube_reflector *r, const struct kube_reflector_end *end)
{
    const uint64_t status = end->err.http_status;

    if (is_absent(r, end)) {
        return handle_absent(r);
    }
    if (is_refused(end)) {
        return handle_refused(r, end);
    }
    ccm_log_warn(&kube_reflector_log, "%s: %s: %s", r->config.name, end_request_name(end),
                 end->err.message);
    if (end->watch && status != 429 && (status < 500 || count_up_to(&r->rejected, MAX_REJECTED))) {
        r->listed = false;
    }
    return backoff_ms(r, r->failures);
}

/* -ESTALE: the server answered 410 Gone (client/status.c; with an HTTP status in the error), or
 * versions went backwards (without one). A list is the cure; one that does not help is not tried
 * again at once. */
static int64_t handle_stale(struct kube_reflector *r, const struct kube_reflector_end *end)
{
    if (end->err.http_status != 0) {
        ccm_log_info(&kube_reflector_log, "%s: listing again: %s", r->config.name,
                     end->err.message);
    } else {
        ccm_log_warn(&kube_reflector_log, "%s: listing again: %s", r->config.name,
                     end->err.message);
        /* Events in between are no sign that it is over: some server may count in another way. */
        r->stale = r->stale + 1 > r->backwards ? r->stale : r->backwards - 1;
    }
    r->listed = false;
    return r->stale++ == 0 ? 0 : backoff_ms(r, r->stale);
}

/* Not a word since the watch began. A kind that nobody changes gets no bookmark either until the
 * storage has told its progress, which an etcd as it is does every ten minutes: no failure. Whether
 * the stream hangs is told by another one from the same version, which costs next to nothing. */
static int64_t handle_quiet(struct kube_reflector *r, const struct kube_reflector_end *end)
{
    const unsigned quiet = r->quiet;

    ccm_log_debug(&kube_reflector_log, "%s: a quiet watch, opened anew: %s", r->config.name,
                  end->err.message);
    forget_failures(r); /* it was accepted, and stayed open */
    r->quiet = quiet;
    r->listed = r->listed && !count_up_to(&r->quiet, MAX_QUIET);
    return 0;
}

/* No status: the connection, the content, or we ourselves. */
static int64_t handle_broken(struct kube_reflector *r, const struct kube_reflector_end *end)
{
    ccm_log_warn(&kube_reflector_log, "%s: %s: %s", r->config.name, end_request_name(end),
                 end->err.message);
    switch (end->code) {
    case -ETIME:
        r->listed = r->listed && !count_up_to(&r->silent, MAX_SILENT);
        break;
    case -EBADMSG:
    case -EMSGSIZE:
        r->listed = r->listed && !count_up_to(&r->broken, MAX_BROKEN);
        break;
    default:
        break;
    }
    return backoff_ms(r, r->failures);
}

/* The answer came to a proper end. */
static int64_t handle_complete(struct kube_reflector *r, const struct kube_reflector_end *end)
{
    if (!end->watch && r->listed) {
        return 0; /* the watch that follows tells whether all is well */
    }
    if (end->watch && (end->progress || end->lasted_ms >= SHORT_WATCH_MS)) {
        forget_failures(r);
        return 0;
    }
    ccm_log_warn(&kube_reflector_log, "%s: a %s ended at once without a use", r->config.name,
                 end_request_name(end));
    r->failures++;
    return backoff_ms(r, r->failures);
}

/* A watch that ends as asked ends with the server that answered it. One that ends earlier, or in
 * something unreadable, may end because its server stops. */
static bool may_change_server(const struct kube_reflector *r, const struct kube_reflector_end *end)
{
    switch (end->code) {
    case 0:
        return end->watch &&
               end->lasted_ms + EARLY_MS < (int64_t)r->config.timing.watch_min_s * 1000;
    case -ENOBUFS:
    case -EXFULL:
    case -ESTALE:
        return false;
    default:
        return end->watch && (end->err.http_status == 0 || end->err.http_status >= 500);
    }
}

static void record_server_change(struct kube_reflector *r, const struct kube_reflector_end *end)
{
    const bool backwards = end->code == -ESTALE && end->err.http_status == 0;
    const bool doubtful = may_change_server(r, end);

    if (!r->server_uncertain && (doubtful || (backwards && end->watch))) {
        ccm_lock(&r->lock);
        r->broke_ms = ccm_clock_now_ms();
        ccm_unlock(&r->lock);
    }
    r->server_uncertain = r->server_uncertain || doubtful;
    if (backwards) {
        kube_reflector_report_break(r, end->err.message);
    }
    r->replaced = r->replaced || backwards;
}

/* Silence from the beginning; after a watch that said something and then nothing it is suspicious.
 */
static bool is_quiet(const struct kube_reflector *r, const struct kube_reflector_end *end)
{
    return end->code == -ETIME && end->watch && !end->progress && r->silent == 0;
}

int64_t kube_reflector_handle_end(struct kube_reflector *r, const struct kube_reflector_end *end)
{
    int64_t wait_ms;

    record_server_change(r, end);
    if (end->initial && streaming_failed(r, end)) {
        return 0;
    }
    if (end->progress) {
        forget_failures(r);
    }
    if (end->code == 0) {
        wait_ms = handle_complete(r, end);
    } else if (is_quiet(r, end)) {
        wait_ms = handle_quiet(r, end);
    } else {
        r->failures++;
        r->refused = is_refused(end) ? r->refused : 0;
        r->listed = r->listed && end->code != -EXFULL;
        if (end->code == -ESTALE) {
            wait_ms = handle_stale(r, end);
        } else if (end->err.http_status >= 400) {
            wait_ms = handle_status(r, end);
        } else {
            wait_ms = handle_broken(r, end);
        }
    }
    if (end->code < 0) {
        const uint64_t asked =
            end->err.retry_after_ms < MAX_RETRY_AFTER ? end->err.retry_after_ms : MAX_RETRY_AFTER;

        wait_ms = wait_ms > (int64_t)asked ? wait_ms : (int64_t)asked;
    }
    record_failure(r, end);
    if (is_absent(r, end)) {
        kube_reflector_set_in_step(r, true); /* with a server that has none */
    } else if (is_refused(end) && r->config.continuity != NULL) {
        kube_continuity_refuse(r->config.continuity, r->cache);
    } else {
        kube_reflector_set_in_step(r, r->listed && !r->server_uncertain);
    }
    return wait_ms;
}
