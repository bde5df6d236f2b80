/*
 * The one HTTP engine of the process: one I/O thread drives one curl_multi handle, all connections
 * are kept alive and shared. Callers block on their exchange with a deadline and a cancel flag, or
 * get the body chunk by chunk.
 *
 * curl_global_init() is the business of main(). No redirect is followed. No request is sent twice,
 * also not when a kept connection turns out to be dead, unless the exchange is marked repeatable.
 * Proxies come from the environment (HTTPS_PROXY, NO_PROXY) as curl reads it, but never for
 * loopback addresses. Headers of an answer are limited to 64 KiB. Only http and https.
 */
#ifndef CCM_NET_HTTP_H
#define CCM_NET_HTTP_H

#include "ccm/host.h"
#include "util/attr.h"
#include "util/cancel.h"
#include "util/gate.h"
#include "util/secret.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct net_http;

/* How to talk TLS to one peer. Borrowed for the exchange; all members may be NULL. Text is PEM. */
struct net_tls {
    const char *ca_file;
    const char *ca_data; /* PEM text; wins over ca_file */
    const char *cert_data;
    const struct ccm_secret *key_data;
    const char *server_name; /* name to verify instead of the host of the URL */
    bool insecure;           /* peer is not verified */
};

/* Body bytes as they arrive. Runs in the I/O thread: must not block and must not call this module,
 * except that it may signal other threads. Return 0; negative to end the exchange with that code;
 * or NET_HTTP_PAUSE when there is no room: the bytes were not taken, the peer is not read from any
 * more, and after net_http_resume() the same bytes come again. A pause is no silence (idle_ms). */
#define NET_HTTP_PAUSE 1
typedef int (*net_http_chunk_fn)(void *arg, const char *data, size_t len);

/* Status line and headers are in (before the first chunk). Same rules. May be NULL. */
typedef int (*net_http_head_fn)(void *arg, uint32_t status);

struct net_exchange {
    const char *method;
    const char *url;
    const char *const *headers;      /* "Name: value", NULL-terminated or NULL. Besides them go out
                                        Host, Content-Length, Accept, User-Agent (ccmd/VERSION) */
    const struct ccm_secret *bearer; /* sent as Authorization: Bearer; NULL or empty = none */
    const char *body;
    size_t body_len;
    const struct net_tls *tls; /* NULL = defaults */
    bool http2;                /* offer HTTP/2 over TLS */
    bool gzip;                 /* accept a compressed answer (decoded before you see it) */
    bool repeatable;     /* may be sent again when the connection broke before a byte came back */
    int64_t deadline_ms; /* monotonic; 0 = 20 s from now. For a stream: until the head is in */
    int64_t idle_ms;     /* streams: most time without a byte, 0 = no limit */
    size_t max_body;     /* 0 = 4 MiB; streams: not limited */
    const struct ccm_cancel *cancel; /* NULL = only net_http_stop() cancels */
    /* What is not to be sent, nor waited for, once it is closed: looked at when the connection
     * stands and the next thing is to send. Closed = cancelled. NULL = none. */
    const struct ccm_gate *gate;

    /* Stream: chunks go here instead of into the response. */
    net_http_chunk_fn on_chunk;
    net_http_head_fn on_head;
    void (*on_end)(void *arg); /* it is over: net_http_end() waits no more. Same rules; also from
                                  within net_http_begin(). May be NULL */
    void *arg;
};

/* An exchange under way. */
struct net_http_ticket;

/* The I/O thread is started. NULL and err on failure. */
struct net_http *net_http_new(struct ccm_error *err);

/* Cancels everything in flight, from any thread; later exchanges fail at once with
 * CCM_ERROR_CANCELLED. Returns at once. */
void net_http_stop(struct net_http *http);

/* Stops, joins the thread, frees. Only after every caller has returned. NULL is fine. */
void net_http_free(struct net_http *http);

/* A chunk function that paused has room again: every paused exchange is offered its bytes once
 * more. Any thread, not from a chunk function. */
void net_http_resume(struct net_http *http);

/* Set the flag (util/cancel.h) and wake the exchanges that carry it. Any thread. */
void ccm_http_cancel(struct net_http *http, struct ccm_cancel *cancel);

/*
 * One exchange; blocks until it is over. Any thread but the I/O thread.
 *
 * 0: an answer came, of any status; *ret (may be NULL for a stream) is freed with
 * net_http_response_free(). For a stream it carries status and headers, and the body only if status
 * is not 2xx (bounded by max_body), so that the caller can read the error; on_chunk sees 2xx bodies
 * only. Negative: err says why: CCM_ERROR_CANCELLED (-ECANCELED), CCM_ERROR_TERMINAL (-EINVAL: URL,
 * method or header that cannot be sent), or CCM_ERROR_TRANSIENT: -ETIMEDOUT (deadline, idle, no
 * connection in 10 s), -ECONNREFUSED, -EHOSTUNREACH (no route, name not found), -EMSGSIZE (body or
 * headers over the limit), -EPROTO (TLS, malformed answer), -ECONNRESET (cut off), -ENOMEM, or what
 * on_chunk or on_head returned. *ret_phase (may be NULL; set on failure only) is CCM_HTTP_NOT_SENT
 * when no byte of the request left, else CCM_HTTP_MAYBE_RUN. Messages start with scheme, host and
 * port; they never contain path and query of the URL, a header, or a secret.
 */
CCM_NODISCARD int net_http_do(struct net_http *http, const struct net_exchange *exchange,
                              struct ccm_http_response **ret, uint64_t *ret_phase,
                              struct ccm_error *err);

/* The two halves of it. begin() returns at once, and what the exchange points to is borrowed until
 * end(); negative (as above): there is nothing to end. end() waits, frees the ticket, and says what
 * came of the exchange. */
CCM_NODISCARD int net_http_begin(struct net_http *http, const struct net_exchange *exchange,
                                 struct net_http_ticket **ret, struct ccm_error *err);
CCM_NODISCARD int net_http_end(struct net_http *http, struct net_http_ticket *ticket,
                               struct ccm_http_response **ret, uint64_t *ret_phase,
                               struct ccm_error *err);

/* Nobody wants the answer any more: it is cancelled, alone, and end() need not wait for long. */
void net_http_give_up(struct net_http *http, struct net_http_ticket *ticket);

void net_http_response_free(struct ccm_http_response *response);
/* For CCM_CLEANUP. */
void net_http_response_freep(struct ccm_http_response **response);

/* Value of a response header (name in small letters), borrowed; NULL when absent. */
const char *net_http_header(const struct ccm_http_response *response, const char *name);

#endif
