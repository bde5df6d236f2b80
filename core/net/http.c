#include "net/http.h"

#include "net/ticket.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#define IDLE_HANDLES    16
#define MAX_CONNECTIONS 128L /* kept; more are opened when needed and closed afterwards */
#define MAX_WAIT_MS     60000

struct net_http {
    pthread_mutex_t lock;              /* guards the next four and `done` of every ticket; leaf */
    struct net_http_ticket *submitted; /* newest first */
    bool stopping;
    bool quit;
    atomic_bool resume; /* not guarded: some reader has room again */

    CURLM *multi; /* only curl_multi_wakeup() from outside of the I/O thread */
    pthread_t thread;

    /* I/O thread only. */
    struct net_http_ticket *running;
    CURL *idle[IDLE_HANDLES];
    size_t idle_count;
};

static void http_wake_thread(struct net_http *http)
{
    (void)curl_multi_wakeup(http->multi); /* fails only when a wake-up is pending already */
}

static void keep_handle(struct net_http *http, CURL *easy)
{
    if (http->idle_count == IDLE_HANDLES) {
        curl_easy_cleanup(easy);
        return;
    }
    curl_easy_reset(easy);
    http->idle[http->idle_count++] = easy;
}

/* Hand the outcome to the caller: from here on the ticket is the caller's again and may be gone. */
static void http_finish_ticket(struct net_http *http, struct net_http_ticket *ticket)
{
    if (ticket->exchange->on_end != NULL) {
        ticket->exchange->on_end(ticket->exchange->arg);
    }
    ccm_lock(&http->lock);
    ticket->done = true;
    ccm_wake_one(&ticket->ended); /* under the lock: the waiter frees it */
    ccm_unlock(&http->lock);
}

static void http_deliver_ticket(struct net_http *http, struct net_http_ticket *ticket)
{
    CURL *easy = CCM_STEAL(ticket->easy);

    if (easy != NULL) {
        keep_handle(http, easy);
    }
    http_finish_ticket(http, ticket);
}

static void unlink_running(struct net_http *http, const struct net_http_ticket *ticket)
{
    struct net_http_ticket **link = &http->running;

    while (*link != ticket) {
        link = &(*link)->next;
    }
    *link = ticket->next;
}

static void end_running(struct net_http *http, struct net_http_ticket *ticket)
{
    unlink_running(http, ticket);
    (void)curl_multi_remove_handle(http->multi, ticket->easy); /* it is in there */
    http_deliver_ticket(http, ticket);
}

static void http_begin_ticket(struct net_http *http, struct net_http_ticket *ticket)
{
    CURL *easy = http->idle_count > 0 ? http->idle[--http->idle_count] : curl_easy_init();

    if (easy == NULL) {
        ticket->phase = CCM_HTTP_NOT_SENT;
        ticket->result = ccm_error_nomem(&ticket->err);
        http_deliver_ticket(http, ticket);
        return;
    }
    if (net_http_ticket_setup(ticket, easy) < 0) {
        http_deliver_ticket(http, ticket);
        return;
    }
    if (curl_multi_add_handle(http->multi, easy) != CURLM_OK) {
        ticket->phase = CCM_HTTP_NOT_SENT;
        ticket->result = ccm_error_nomem(&ticket->err);
        http_deliver_ticket(http, ticket);
        return;
    }
    ticket->next = http->running;
    http->running = ticket;
}

/* In order of submission. Returns whether the thread is to end. */
static bool take_submitted(struct net_http *http, bool *ret_stopping)
{
    struct net_http_ticket *newest;
    struct net_http_ticket *oldest = NULL;

    ccm_lock(&http->lock);
    newest = CCM_STEAL(http->submitted);
    *ret_stopping = http->stopping;

    const bool quit = http->quit;

    ccm_unlock(&http->lock);
    while (newest != NULL) {
        struct net_http_ticket *ticket = newest;

        newest = ticket->next;
        ticket->next = oldest;
        oldest = ticket;
    }
    while (oldest != NULL) {
        struct net_http_ticket *ticket = oldest;

        oldest = ticket->next;
        http_begin_ticket(http, ticket);
    }
    return quit;
}

static bool ticket_is_cancelled(struct net_http_ticket *ticket)
{
    const struct net_exchange *exchange = ticket->exchange;

    return atomic_load(&ticket->given_up) ||
           (exchange->cancel != NULL && atomic_load(&exchange->cancel->cancelled)) ||
           !ccm_gate_leads(exchange->gate);
}

/* When the gate may close: it is looked at again then, and has mostly been moved on. */
static int64_t exchange_gate_wait(const struct net_exchange *exchange)
{
    const int64_t until = exchange->gate == NULL ? CCM_GATE_ALWAYS : ccm_gate_until(exchange->gate);

    return until == CCM_GATE_ALWAYS ? MAX_WAIT_MS : until - ccm_clock_boot_ms();
}

/* End what is cancelled or out of time; returns how long the poll may last. */
static int http_end_overdue(struct net_http *http, bool stopping)
{
    const int64_t now = ccm_clock_now_ms();
    int64_t wait = MAX_WAIT_MS;
    struct net_http_ticket *next;

    for (struct net_http_ticket *ticket = http->running; ticket != NULL; ticket = next) {
        const int64_t due = net_http_ticket_due(ticket);

        next = ticket->next;
        if (stopping || ticket_is_cancelled(ticket)) {
            net_http_ticket_cancel(ticket);
            end_running(http, ticket);
        } else if (due <= now) {
            net_http_ticket_expire(ticket);
            end_running(http, ticket);
        } else {
            const int64_t gate = exchange_gate_wait(ticket->exchange);

            wait = due - now < wait ? due - now : wait;
            wait = gate < wait ? gate : wait;
        }
    }
    return wait > 0 ? (int)wait : 0;
}

/* The same handle again; curl picks another connection, as it has closed the dead one. */
static bool http_retry_ticket(struct net_http *http, struct net_http_ticket *ticket, CURLcode code)
{
    if (!net_http_ticket_prepare_retry(ticket, code)) {
        return false;
    }
    (void)curl_multi_remove_handle(http->multi, ticket->easy); /* it is in there */
    return curl_multi_add_handle(http->multi, ticket->easy) == CURLM_OK;
}

/* Offer paused bytes again; who still has no room pauses again. */
static void resume_paused(struct net_http *http)
{
    struct net_http_ticket *next;

    if (!atomic_exchange(&http->resume, false)) {
        return;
    }
    for (struct net_http_ticket *ticket = http->running; ticket != NULL; ticket = next) {
        next = ticket->next;
        if (!ticket->paused) {
            continue;
        }
        ticket->paused = false;

        const CURLcode code = curl_easy_pause(ticket->easy, CURLPAUSE_CONT);

        if (code != CURLE_OK) { /* the chunk function ended it: no message comes for that */
            net_http_ticket_complete(ticket, code);
            end_running(http, ticket);
        }
    }
}

static void http_end_completed(struct net_http *http)
{
    int left;

    for (;;) {
        CURLMsg *message = curl_multi_info_read(http->multi, &left);
        struct net_http_ticket *ticket = NULL;

        if (message == NULL) {
            return;
        }
        if (message->msg == CURLMSG_DONE &&
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &ticket) == CURLE_OK) {
            const CURLcode code = message->data.result; /* the message goes with the handle */

            if (!http_retry_ticket(http, ticket, code)) {
                net_http_ticket_complete(ticket, code);
                end_running(http, ticket);
            }
        }
    }
}

static void *http_run_thread(void *arg)
{
    struct net_http *http = arg;
    bool stopping = false;

    while (!take_submitted(http, &stopping)) {
        int active;

        resume_paused(http);
        (void)curl_multi_perform(http->multi, &active); /* failures come with the handle */
        http_end_completed(http);

        const int wait = http_end_overdue(http, stopping);

        (void)curl_multi_poll(http->multi, NULL, 0, wait, NULL); /* failing = not waiting */
    }
    (void)http_end_overdue(http, true); /* nothing waits any more, so how long does not matter */
    return NULL;
}

/* No signal is for this thread, SIGPIPE of a TLS library least of all. */
static int start_thread(struct net_http *http)
{
    sigset_t all;
    sigset_t before;

    (void)sigfillset(&all); /* cannot fail */

    int r = pthread_sigmask(SIG_SETMASK, &all, &before);

    if (r == 0) {
        r = pthread_create(&http->thread, NULL, http_run_thread, http);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* what was there is valid */
    }
    return -r;
}

struct net_http *net_http_new(struct ccm_error *err)
{
    struct net_http *http = calloc(1, sizeof(*http));

    if (http == NULL) {
        (void)ccm_error_nomem(err); /* NULL tells */
        return NULL;
    }
    http->multi = curl_multi_init();
    if (http->multi == NULL || pthread_mutex_init(&http->lock, NULL) != 0) {
        curl_multi_cleanup(http->multi);
        free(http);
        (void)ccm_error_nomem(err); /* NULL tells */
        return NULL;
    }
    (void)curl_multi_setopt(http->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX); /* default */
    (void)curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS,
                            MAX_CONNECTIONS); /* known option, valid number */

    const int r = start_thread(http);

    if (r < 0) {
        ccm_lock_fini(&http->lock);
        (void)curl_multi_cleanup(http->multi); /* empty */
        free(http);
        (void)ccm_error_set(err, r, CCM_ERROR_TRANSIENT,
                            "cannot start the HTTP thread"); /* NULL tells */
        return NULL;
    }
    return http;
}

void net_http_stop(struct net_http *http)
{
    ccm_lock(&http->lock);
    http->stopping = true;
    ccm_unlock(&http->lock);
    http_wake_thread(http);
}

void net_http_free(struct net_http *http)
{
    if (http == NULL) {
        return;
    }
    ccm_lock(&http->lock);
    http->stopping = true;
    http->quit = true;
    ccm_unlock(&http->lock);
    http_wake_thread(http);
    (void)pthread_join(http->thread, NULL); /* joinable, and joined once */
    for (size_t i = 0; i < http->idle_count; i++) {
        curl_easy_cleanup(http->idle[i]);
    }
    (void)curl_multi_cleanup(http->multi); /* no handle is left in it */
    ccm_lock_fini(&http->lock);
    free(http);
}

void net_http_resume(struct net_http *http)
{
    atomic_store(&http->resume, true);
    http_wake_thread(http);
}

void ccm_http_cancel(struct net_http *http, struct ccm_cancel *cancel)
{
    atomic_store(&cancel->cancelled, true);
    http_wake_thread(http);
}

/* False when the engine takes no more. */
static bool http_submit_ticket(struct net_http *http, struct net_http_ticket *ticket)
{
    ccm_lock(&http->lock);

    const bool open = !http->stopping && !ticket_is_cancelled(ticket);

    if (open) {
        ticket->next = http->submitted;
        http->submitted = ticket;
    }
    ccm_unlock(&http->lock);
    return open;
}

int net_http_begin(struct net_http *http, const struct net_exchange *exchange,
                   struct net_http_ticket **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) struct net_http_ticket *ticket = malloc(sizeof(*ticket));

    if (ticket == NULL) {
        return ccm_error_nomem(err);
    }

    const int r = net_http_ticket_init(ticket, exchange, err);

    if (r < 0) {
        return r;
    }
    *ret = CCM_STEAL(ticket);
    if (http_submit_ticket(http, *ret)) {
        http_wake_thread(http);
    } else {
        net_http_ticket_cancel(*ret);
        http_finish_ticket(http, *ret);
    }
    return 0;
}

void net_http_give_up(struct net_http *http, struct net_http_ticket *ticket)
{
    atomic_store(&ticket->given_up, true);
    http_wake_thread(http);
}

int net_http_end(struct net_http *http, struct net_http_ticket *ticket,
                 struct ccm_http_response **ret, uint64_t *ret_phase, struct ccm_error *err)
{
    ccm_lock(&http->lock);
    while (!ticket->done) {
        (void)pthread_cond_wait(&ticket->ended, &http->lock); /* the engine holds the deadline */
    }
    ccm_unlock(&http->lock);

    const int r = ticket->result;

    if (r == 0 && ret != NULL) {
        *ret = CCM_STEAL(ticket->response);
    }
    if (r < 0 && err != NULL) {
        ccm_error_copy(err, &ticket->err);
    }
    if (r < 0 && ret_phase != NULL) {
        *ret_phase = ticket->phase;
    }
    ccm_cond_fini(&ticket->ended);
    net_http_ticket_fini(ticket);
    free(ticket);
    return r;
}

int net_http_do(struct net_http *http, const struct net_exchange *exchange,
                struct ccm_http_response **ret, uint64_t *ret_phase, struct ccm_error *err)
{
    struct net_http_ticket *ticket = NULL;
    const int r = net_http_begin(http, exchange, &ticket, err);

    if (r < 0) {
        if (ret_phase != NULL) {
            *ret_phase = CCM_HTTP_NOT_SENT;
        }
        return r;
    }
    return net_http_end(http, ticket, ret, ret_phase, err);
}
