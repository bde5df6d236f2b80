#include "kube/lease.h"

#include "kube/lease_record.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/entropy.h"
#include "util/text.h"
#include "util/thread.h"
#include "util/url.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define PATH_MAX_BYTES   2048
#define REQUEST_MS       5000 /* longest wait for one answer; less when renewing gets urgent */
#define RELEASE_MS       2000
#define FRESH_PERIODS    2     /* of renewals: one may be late by a period, and nothing waits */
#define SLACK_MS         30000 /* a step may take so much longer than its requests */
#define CONFLICT_MS      50    /* somebody has changed the Lease since it was read: look again */
#define IDENTITY_UUID    37
#define RELEASE_DURATION 1000

struct kube_lease {
    struct kube_lease_config config;
    char label[KUBE_LEASE_IDENTITY]; /* "kube-system/ccm", for messages */
    struct ccm_thread thread;
    struct ccm_cancel cancel; /* of the requests */

    /* Thread of the lease only; after its end, whoever frees. */
    struct kube_lease_record record;
    int64_t seen_ms; /* boot time when the record was first seen as it is */
    int64_t held_ms; /* boot time until which whoever held a Lease that is gone may lead */
    uint64_t random;
    char *uid; /* of the Lease that was read or written last; NULL = none, or no memory for it */

    pthread_mutex_t lock; /* guards what follows; leaf */
    pthread_cond_t changed;
    bool withdrawn;
    bool stopping;
    struct kube_lease_status status;
};

static const struct ccm_log lease_log = { .part = "lease" };

int kube_lease_make_identity(char *text, size_t size)
{
    unsigned char b[16];
    char host[KUBE_LEASE_IDENTITY - IDENTITY_UUID - 1];

    if (gethostname(host, sizeof(host)) < 0 || getrandom(b, sizeof(b), 0) != (ssize_t)sizeof(b)) {
        return errno == 0 ? -EIO : -errno;
    }
    host[sizeof(host) - 1] = '\0';
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* version 4, variant 1 of RFC 4122 */
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    ccm_text_printf(text, size, /* cut when the caller has less room than KUBE_LEASE_IDENTITY */
                    "%s_%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", host,
                    b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
                    b[13], b[14], b[15]);
    return 0;
}

/* --- requests --- */

/* A request about the Lease: GET, PUT or POST. */
static int lease_send_request(struct kube_lease *lease, const char *method, const char *body,
                              int64_t timeout_ms, struct ccm_http_response **ret,
                              struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf path = { .max = PATH_MAX_BYTES };

    ccm_buf_adds(&path, "/apis/coordination.k8s.io/v1/namespaces/");
    ccm_url_escape(&path, lease->config.namespace_);
    ccm_buf_adds(&path, "/leases");
    if (strcmp(method, "POST") != 0) {
        ccm_buf_addc(&path, '/');
        ccm_url_escape(&path, lease->config.name);
    }
    if (ccm_buf_error(&path) < 0) {
        return ccm_error_nomem(err);
    }

    const struct kube_call call = {
        .method = method,
        .path = ccm_buf_str(&path),
        .content_type = "application/json",
        .body = body,
        .deadline_ms = ccm_clock_now_ms() + timeout_ms,
        .cancel = &lease->cancel,
        .ungated = true, /* it is what opens the gate */
    };

    const int r = kube_do(lease->config.client, &call, ret, err);

    if (r < 0 && err->http_status == 403) {
        return ccm_error_wrap(err, r, "get, create and update of leases in namespace %s are needed",
                              lease->config.namespace_);
    }
    return r;
}

/* For messages: nobody has to believe in names of any length. */
static const char *holder_text(const struct kube_lease_record *record,
                               char text[static KUBE_LEASE_IDENTITY])
{
    ccm_text_copy(text, KUBE_LEASE_IDENTITY, record->holder[0] == '\0' ? "nobody" : record->holder);
    return text;
}

/* Nobody but a person, or a server that was replaced, takes a Lease away. */
static void lease_break_continuity(const struct kube_lease *lease, const char *what)
{
    char reason[KUBE_LEASE_IDENTITY + 128];

    ccm_text_printf(reason, sizeof(reason), "Lease %s %s", lease->label, what);
    ccm_log_warn(&lease_log, "%s: somebody deleted it, or the API server is another one", reason);
    if (lease->config.continuity != NULL) {
        kube_continuity_break(lease->config.continuity, reason);
    }
}

/* The uid tells it from one that was made anew. */
static void check_uid(struct kube_lease *lease, const char *uid)
{
    if (lease->uid != NULL && uid != NULL && strcmp(lease->uid, uid) != 0) {
        lease_break_continuity(lease, "is another one than before");
    }
    if (uid == NULL || lease->uid == NULL || strcmp(lease->uid, uid) != 0) {
        free(lease->uid);
        lease->uid = uid == NULL ? NULL : strdup(uid);
    }
}

/* Take over what the server answered. */
static int lease_update_record(struct kube_lease *lease, const struct ccm_http_response *response,
                               struct ccm_error *err)
{
    struct kube_lease_record fresh;
    const int r = kube_lease_record_read(response->body, response->body_len, &fresh, err);

    if (r < 0) {
        return r;
    }
    if (lease->record.seen == NULL || strcmp(lease->record.seen, fresh.seen) != 0) {
        lease->seen_ms = ccm_clock_boot_ms();
    }
    if ((lease->record.holder == NULL || strcmp(lease->record.holder, fresh.holder) != 0) &&
        strcmp(fresh.holder, lease->config.identity) != 0) { /* ourselves: "leads now" says it */
        char holder[KUBE_LEASE_IDENTITY];

        ccm_log_info(&lease_log, "%s is held by %s", lease->label, holder_text(&fresh, holder));
    }
    check_uid(lease, fresh.uid[0] == '\0' ? NULL : fresh.uid);
    kube_lease_record_fini(&lease->record);
    lease->record = fresh;
    ccm_lock(&lease->lock);
    ccm_text_copy(lease->status.holder, sizeof(lease->status.holder), fresh.holder);
    lease->status.transitions = fresh.transitions < 0 ? 0 : (uint64_t)fresh.transitions;
    ccm_unlock(&lease->lock);
    return 0;
}

static bool is_ours(const struct kube_lease *lease)
{
    return lease->record.holder != NULL &&
           strcmp(lease->record.holder, lease->config.identity) == 0;
}

/* Whether the record names another instance. */
static bool lease_has_other_holder(const struct kube_lease *lease)
{
    return lease->record.json != NULL && lease->record.holder[0] != '\0' && !is_ours(lease);
}

/* How long its holder leads without renewing it. One that says nothing of use is believed to be
 * like us. */
static int64_t duration_of(const struct kube_lease *lease)
{
    return lease->record.duration_ms > 0 ? lease->record.duration_ms
                                         : (int64_t)lease->config.duration_ms;
}

/* Read the Lease. 0, also when there is none. */
static int lease_fetch_record(struct kube_lease *lease, int64_t timeout_ms, struct ccm_error *err)
{
    CCM_CLEANUP(net_http_response_freep) struct ccm_http_response *response = NULL;
    const int r = lease_send_request(lease, "GET", NULL, timeout_ms, &response, err);

    if (r == -ENOENT) {
        if (lease_has_other_holder(lease)) {
            lease->held_ms = lease->seen_ms + duration_of(lease);
        }
        if (lease->uid != NULL) {
            lease_break_continuity(lease, "is gone");
            check_uid(lease, NULL);
        }
        kube_lease_record_fini(&lease->record);
        return 0;
    }
    if (r < 0) {
        return r;
    }
    return lease_update_record(lease, response, err);
}

/* Write a claim over the version that was read last. */
static int lease_write_claim(struct kube_lease *lease, const struct kube_lease_claim *what,
                             int64_t timeout_ms, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { 0 };
    CCM_CLEANUP(net_http_response_freep) struct ccm_http_response *response = NULL;
    const bool exists = lease->record.json != NULL;

    kube_lease_record_print(&lease->record, lease->config.namespace_, lease->config.name, what,
                            &body);
    if (ccm_buf_error(&body) < 0) {
        return ccm_error_nomem(err);
    }

    const int r = lease_send_request(lease, exists ? "PUT" : "POST", ccm_buf_str(&body), timeout_ms,
                                     &response, err);

    if (r < 0) {
        return r;
    }
    return lease_update_record(lease, response, err);
}

/* --- leading --- */

/* Whether nobody may think that it leads. A Lease that somebody deleted is written anew by its
 * holder, who has not heard of it yet. */
static bool is_free(const struct kube_lease *lease)
{
    const int64_t now = ccm_clock_boot_ms();

    if (lease->record.json == NULL) {
        return now >= lease->held_ms;
    }
    return !lease_has_other_holder(lease) || now >= lease->seen_ms + duration_of(lease);
}

/* Claim the Lease for this instance, and open the gate for as long as that is worth. */
static int lease_write_and_open_gate(struct kube_lease *lease, int64_t timeout_ms,
                                     struct ccm_error *err)
{
    const bool ours = is_ours(lease);
    const struct kube_lease_claim what = {
        .holder = lease->config.identity,
        .duration_ms = lease->config.duration_ms,
        .wall_ms = ccm_clock_wall_ms(),
        .transitions = lease->record.transitions + (ours || lease->record.json == NULL ? 0 : 1),
        .acquired = ours ? lease->record.acquired : NULL,
    };
    /* Before the sending: a rival counts from a later moment. */
    const int64_t sent_ms = ccm_clock_boot_ms();
    const int64_t sent_now_ms = ccm_clock_now_ms();
    const int r = lease_write_claim(lease, &what, timeout_ms, err);

    if (r < 0) {
        return r;
    }
    if (!is_ours(lease)) {
        return ccm_error_set(err, -EPROTO, CCM_ERROR_TRANSIENT,
                             "the server answers with another holder than was written");
    }
    ccm_gate_set_fresh(lease->config.gate,
                       sent_ms + (int64_t)FRESH_PERIODS * lease->config.retry_ms);
    ccm_gate_set(lease->config.gate, sent_ms + lease->config.renew_ms);
    ccm_lock(&lease->lock);
    lease->status.renewed_ms = ccm_clock_now_ms();
    lease->status.sent_ms = sent_now_ms;
    ccm_unlock(&lease->lock);
    return 0;
}

static void lease_record_error(struct kube_lease *lease, const char *doing,
                               const struct ccm_error *err)
{
    bool again;

    ccm_lock(&lease->lock);
    again = err != NULL && strcmp(lease->status.error, err->message) == 0;
    ccm_text_copy(lease->status.error, sizeof(lease->status.error),
                  err == NULL ? "" : err->message);
    ccm_unlock(&lease->lock);
    if (err != NULL && !again) { /* once, not every other second */
        ccm_log_warn(&lease_log, "%s: cannot be %s: %s", lease->label, doing, err->message);
    }
}

static void set_leading(struct kube_lease *lease, bool leading)
{
    ccm_lock(&lease->lock);
    lease->status.leading = leading;
    lease->status.lost = !leading;
    ccm_wake_all(&lease->changed);
    ccm_unlock(&lease->lock);
}

/* One step of a candidate. Returns how long to pause; *ret_won when the Lease is ours. */
static int64_t lease_try_to_acquire(struct kube_lease *lease, bool *ret_won)
{
    const uint32_t retry = lease->config.retry_ms;
    struct ccm_error err = CCM_ERROR_INIT;
    int r = lease_fetch_record(lease, REQUEST_MS, &err);

    if (r == 0 && is_free(lease)) {
        r = lease_write_and_open_gate(lease, REQUEST_MS, &err);
        *ret_won = r == 0;
    }
    if (r == -EBUSY || r == -EEXIST) {
        return CONFLICT_MS; /* another candidate was faster */
    }
    lease_record_error(lease, "read or taken", r < 0 ? &err : NULL);
    lease->random = lease->random * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return retry / 2 + (int64_t)((lease->random >> 33) % (retry / 2 + 1));
}

/* Whether another instance holds the Lease by now. */
static bool lease_is_not_ours(const struct kube_lease *lease)
{
    return lease->record.json != NULL && !is_ours(lease);
}

/* After a renewal that failed: what is left is not slept away, a server that comes back just in
 * time is asked in time. */
static int64_t pause_before_loss(const struct kube_lease *lease)
{
    const int64_t rest = ccm_gate_until(lease->config.gate) - ccm_clock_boot_ms();
    const int64_t half = rest / 2 > CONFLICT_MS ? rest / 2 : rest;
    const int64_t pause = half < lease->config.retry_ms ? half : lease->config.retry_ms;

    return pause < 0 ? 0 : pause;
}

/* One step of the leader. Returns how long to pause, -1: the Lease is lost. */
static int64_t lease_try_to_renew(struct kube_lease *lease)
{
    struct ccm_error err = CCM_ERROR_INIT;
    const int64_t left = ccm_gate_until(lease->config.gate) - ccm_clock_boot_ms();
    const int64_t timeout = left < REQUEST_MS ? left : REQUEST_MS;

    if (left <= 0) {
        return -1;
    }

    int r = lease_write_and_open_gate(lease, timeout, &err);

    if (r == -EBUSY || r == -EEXIST || r == -ENOENT) {
        r = lease_fetch_record(lease, timeout, &err);
        if (r == 0) {
            return lease_is_not_ours(lease) ? -1 : CONFLICT_MS;
        }
    }
    lease_record_error(lease, "renewed", r < 0 ? &err : NULL);
    return r == 0 ? lease->config.retry_ms : pause_before_loss(lease);
}

/* Until `ms` have passed or something is asked for. */
static void lease_wait(struct kube_lease *lease, int64_t ms, bool leading)
{
    const int64_t until = ccm_clock_now_ms() + ms;

    ccm_lock(&lease->lock);
    while (!lease->stopping && !(lease->withdrawn && !leading) && ccm_clock_now_ms() < until) {
        (void)ccm_clock_cond_wait(&lease->changed, &lease->lock, until); /* the loop looks again */
    }
    ccm_unlock(&lease->lock);
}

/* Whether the thread is to end: a leader renews until it is stopped. */
static bool lease_must_end(struct kube_lease *lease, bool leading)
{
    ccm_lock(&lease->lock);

    const bool over = lease->stopping || (lease->withdrawn && !leading);

    ccm_unlock(&lease->lock);
    return over;
}

/* The next step, after a pause, is to be over by then. */
static void lease_set_due(struct kube_lease *lease, int64_t pause)
{
    ccm_lock(&lease->lock);
    lease->status.due_ms = ccm_clock_now_ms() + pause + (int64_t)2 * REQUEST_MS + SLACK_MS;
    ccm_unlock(&lease->lock);
}

static void lease_run_callback(const struct kube_lease *lease, void (*fn)(void *arg))
{
    if (fn != NULL) {
        fn(lease->config.arg);
    }
}

static void lease_end_leading(struct kube_lease *lease)
{
    char holder[KUBE_LEASE_IDENTITY];

    ccm_gate_set(lease->config.gate, 0);
    if (lease_is_not_ours(lease)) {
        ccm_log_error(&lease_log, "%s: leader election lost, it is held by %s", lease->label,
                      holder_text(&lease->record, holder));
    } else {
        ccm_log_error(&lease_log, "%s: leader election lost: it could not be renewed in time",
                      lease->label);
    }
    set_leading(lease, false);
    lease_run_callback(lease, lease->config.lost);
}

static void lease_run_thread(void *arg)
{
    struct kube_lease *lease = arg;
    bool leading = false;

    lease_set_due(lease, 0);
    while (!lease_must_end(lease, leading)) {
        bool won = false;
        const int64_t pause =
            leading ? lease_try_to_renew(lease) : lease_try_to_acquire(lease, &won);

        if (pause < 0) {
            lease_end_leading(lease);
            return;
        }
        if (won) {
            leading = true;
            ccm_log_info(&lease_log, "%s: %s leads now", lease->label, lease->config.identity);
            set_leading(lease, true);
            lease_run_callback(lease, lease->config.won);
        }
        lease_set_due(lease, pause);
        lease_wait(lease, pause, leading);
    }
}

/* --- life --- */

struct kube_lease *kube_lease_new(const struct kube_lease_config *config)
{
    struct kube_lease *lease = calloc(1, sizeof(*lease));

    if (lease == NULL || pthread_mutex_init(&lease->lock, NULL) != 0) {
        free(lease);
        return NULL;
    }
    if (ccm_clock_cond_init(&lease->changed) < 0) {
        ccm_lock_fini(&lease->lock);
        free(lease);
        return NULL;
    }
    lease->config = *config;
    lease->random = ccm_entropy_seed();
    ccm_text_printf(lease->label, sizeof(lease->label), "%s/%s", config->namespace_, config->name);
    return lease;
}

int kube_lease_start(struct kube_lease *lease)
{
    return ccm_thread_start(&lease->thread, lease_run_thread, lease);
}

int kube_lease_await(struct kube_lease *lease)
{
    ccm_lock(&lease->lock);
    while (!lease->status.leading && !lease->status.lost && !lease->withdrawn) {
        (void)pthread_cond_wait(&lease->changed, &lease->lock); /* withdraw() ends it */
    }

    const bool leading = lease->status.leading && !lease->withdrawn;

    ccm_unlock(&lease->lock);
    return leading ? 0 : -ECANCELED;
}

void kube_lease_withdraw(struct kube_lease *lease)
{
    bool leading;

    ccm_lock(&lease->lock);
    lease->withdrawn = true;
    leading = lease->status.leading;
    ccm_wake_all(&lease->changed);
    ccm_unlock(&lease->lock);
    if (!leading) {
        /* A try that is on its way is given up; if it wins nevertheless, its Lease runs out. */
        ccm_http_cancel(kube_client_http(lease->config.client), &lease->cancel);
    }
}

/* Nobody holds it from now on. */
static void lease_write_release(struct kube_lease *lease)
{
    struct ccm_error err = CCM_ERROR_INIT;
    const struct kube_lease_claim nobody = {
        .holder = "",
        .duration_ms = RELEASE_DURATION,
        .wall_ms = ccm_clock_wall_ms(),
        .transitions = lease->record.transitions,
    };

    ccm_gate_set(lease->config.gate, 0);
    if (!is_ours(lease)) {
        return;
    }
    if (lease_write_claim(lease, &nobody, RELEASE_MS, &err) < 0) {
        ccm_log_warn(&lease_log, "%s: cannot be released, the next leader has to wait: %s",
                     lease->label, err.message);
    }
}

void kube_lease_free(struct kube_lease *lease)
{
    if (lease == NULL) {
        return;
    }
    ccm_lock(&lease->lock);
    lease->stopping = true;
    lease->withdrawn = true;
    ccm_wake_all(&lease->changed);

    const bool leading = lease->status.leading;

    ccm_unlock(&lease->lock);
    while (ccm_thread_join(&lease->thread, ccm_clock_now_ms() + REQUEST_MS) < 0) {
        /* a request that is under way ends by its own deadline */
    }
    if (leading) {
        lease_write_release(lease);
    }
    kube_lease_record_fini(&lease->record);
    free(lease->uid);
    ccm_cond_fini(&lease->changed);
    ccm_lock_fini(&lease->lock);
    free(lease);
}

void kube_lease_status(struct kube_lease *lease, struct kube_lease_status *ret)
{
    ccm_lock(&lease->lock);
    *ret = lease->status;
    ccm_unlock(&lease->lock);
}
