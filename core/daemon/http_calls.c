#include "daemon/http_calls.h"

#include "util/cleanup.h"
#include "util/secret.h"
#include "util/text.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* With copies of all that the exchange points to: the caller's memory may be gone before the engine
 * has let go of it, when a call is forgotten. */
struct http_call {
    struct http_call *next;
    uint64_t number;
    const void *owner;
    struct net_http_ticket *ticket;
    struct net_exchange exchange;
    struct net_tls tls;
    const char **headers; /* points into texts */
    char *texts;
    size_t texts_len;
};

struct daemon_http_calls {
    struct net_http *http;
    pthread_mutex_t lock; /* guards what follows; leaf */
    struct http_call *first;
    uint64_t last_number;
};

/* --- one call ------------------------------------------------------------------------------- */

static void http_call_free(struct http_call *call)
{
    if (call == NULL) {
        return;
    }
    if (call->texts != NULL) {
        ccm_secret_wipe(call->texts, call->texts_len); /* headers and body may hold secrets */
    }
    free(call->texts);
    free(call->headers);
    free(call);
}

static void http_call_freep(struct http_call **call)
{
    http_call_free(*call);
}

static size_t call_count_headers(const struct net_exchange *exchange)
{
    size_t count = 0;

    while (exchange->headers != NULL && exchange->headers[count] != NULL) {
        count++;
    }
    return count;
}

static size_t text_size(const char *text)
{
    return text == NULL ? 0 : strlen(text) + 1;
}

static size_t call_measure_texts(const struct net_exchange *exchange)
{
    size_t size = text_size(exchange->method) + text_size(exchange->url) +
                  text_size(exchange->tls->ca_file) + exchange->body_len;

    for (size_t i = 0; i < call_count_headers(exchange); i++) {
        size += text_size(exchange->headers[i]);
    }
    return size;
}

/* Put the text behind the others; NULL stays NULL. */
static const char *call_add_text(struct http_call *call, const char *text, size_t size)
{
    char *to = call->texts + call->texts_len;

    if (text == NULL) {
        return NULL;
    }
    memcpy(to, text, size);
    call->texts_len += size;
    return to;
}

/* NULL on ENOMEM. */
static struct http_call *http_call_new(const struct net_exchange *exchange)
{
    CCM_CLEANUP(http_call_freep) struct http_call *call = calloc(1, sizeof(*call));
    const size_t count = call_count_headers(exchange);

    if (call == NULL) {
        return NULL;
    }
    call->texts = malloc(call_measure_texts(exchange) + 1);
    call->headers = calloc(count + 1, sizeof(*call->headers));
    if (call->texts == NULL || call->headers == NULL) {
        return NULL;
    }
    call->exchange = *exchange;
    call->tls = *exchange->tls;
    call->tls.ca_file =
        call_add_text(call, exchange->tls->ca_file, text_size(exchange->tls->ca_file));
    call->exchange.tls = &call->tls;
    call->exchange.method = call_add_text(call, exchange->method, text_size(exchange->method));
    call->exchange.url = call_add_text(call, exchange->url, text_size(exchange->url));
    for (size_t i = 0; i < count; i++) {
        call->headers[i] =
            call_add_text(call, exchange->headers[i], text_size(exchange->headers[i]));
    }
    call->exchange.headers = call->headers;
    call->exchange.body = call_add_text(call, exchange->body, exchange->body_len);
    return CCM_STEAL(call);
}

/* --- all of a plugin ------------------------------------------------------------------------ */

struct daemon_http_calls *daemon_http_calls_new(struct net_http *http)
{
    struct daemon_http_calls *calls = calloc(1, sizeof(*calls));

    if (calls == NULL || pthread_mutex_init(&calls->lock, NULL) != 0) {
        free(calls);
        return NULL;
    }
    calls->http = http;
    return calls;
}

/* Take out the first of that number, or of that owner where the number is 0; NULL: none. */
static struct http_call *calls_take(struct daemon_http_calls *calls, uint64_t number,
                                    const void *owner)
{
    struct http_call **link = &calls->first;

    ccm_lock(&calls->lock);
    while (*link != NULL && (number == 0 ? (*link)->owner != owner : (*link)->number != number)) {
        link = &(*link)->next;
    }

    struct http_call *call = *link;

    if (call != NULL) {
        *link = call->next;
    }
    ccm_unlock(&calls->lock);
    return call;
}

static void calls_give_up(struct daemon_http_calls *calls, struct http_call *call)
{
    net_http_give_up(calls->http, call->ticket);

    const int r = net_http_end(calls->http, call->ticket, NULL, NULL, NULL);

    (void)r; /* nobody wants to know */
    http_call_free(call);
}

void daemon_http_calls_free(struct daemon_http_calls *calls)
{
    if (calls == NULL) {
        return;
    }
    while (calls->first != NULL) {
        calls_give_up(calls, calls_take(calls, calls->first->number, NULL));
    }
    ccm_lock_fini(&calls->lock);
    free(calls);
}

void daemon_http_calls_freep(struct daemon_http_calls **calls)
{
    daemon_http_calls_free(*calls);
}

/* Enter the call; false: the owner has enough. */
static bool calls_add(struct daemon_http_calls *calls, struct http_call *call)
{
    size_t count = 0;

    ccm_lock(&calls->lock);
    for (const struct http_call *other = calls->first; other != NULL; other = other->next) {
        count += other->owner == call->owner ? 1 : 0;
    }

    const bool fits = count < DAEMON_HTTP_CALLS_MAX;

    if (fits) {
        call->number = ++calls->last_number;
        call->next = calls->first;
        calls->first = call;
    }
    ccm_unlock(&calls->lock);
    return fits;
}

int daemon_http_calls_begin(struct daemon_http_calls *calls, const void *owner,
                            const struct net_exchange *exchange, uint64_t *ret,
                            struct ccm_error *err)
{
    CCM_CLEANUP(http_call_freep) struct http_call *call = http_call_new(exchange);
    int r;

    if (call == NULL) {
        return ccm_error_nomem(err);
    }
    call->owner = owner;
    if (!calls_add(calls, call)) {
        return ccm_error_set(err, -EBUSY, CCM_ERROR_BUG,
                             "%d HTTP exchanges were begun and not ended: end one first",
                             DAEMON_HTTP_CALLS_MAX);
    }

    const uint64_t number = call->number;

    r = net_http_begin(calls->http, &call->exchange, &call->ticket, err);
    if (r < 0) {
        (void)calls_take(calls, number, NULL); /* it is `call` */
        return r;
    }
    *ret = number;
    (void)CCM_STEAL(call); /* it is in the list */
    return 0;
}

int daemon_http_calls_end(struct daemon_http_calls *calls, uint64_t number,
                          struct ccm_http_response **ret, uint64_t *ret_phase,
                          struct ccm_error *err)
{
    struct http_call *call = number == 0 ? NULL : calls_take(calls, number, NULL);

    if (call == NULL) {
        return ccm_error_set(err, -ENOENT, CCM_ERROR_BUG,
                             "no HTTP exchange of this number is under way");
    }
    if (ret == NULL) {
        calls_give_up(calls, call);
        return 0;
    }

    const int r = net_http_end(calls->http, call->ticket, ret, ret_phase, err);

    http_call_free(call);
    return r;
}

size_t daemon_http_calls_drop(struct daemon_http_calls *calls, const void *owner)
{
    struct http_call *call = NULL;
    size_t count = 0;

    while ((call = calls_take(calls, 0, owner)) != NULL) {
        calls_give_up(calls, call);
        count++;
    }
    return count;
}
