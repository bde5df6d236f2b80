/*
 * One exchange on its way through the engine: what is set on the easy handle, what comes back
 * through its callbacks, how it ends. Inner part of the HTTP engine.
 *
 * init and fini run in the caller's thread; between submission and `done` all the rest belongs to
 * the I/O thread.
 */
#ifndef CCM_NET_TICKET_H
#define CCM_NET_TICKET_H

#include "net/head.h"
#include "net/http.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>

#define NET_HTTP_ORIGIN_MAX 300

struct net_http_ticket {
    const struct net_exchange *exchange; /* the caller's, who waits */
    struct net_http_ticket *next;        /* in the submission queue or among the running */
    CURL *easy;

    atomic_bool given_up; /* any thread: as if it were cancelled */
    int64_t deadline_ms;
    int64_t last_byte_ms; /* streams: when the head or the last chunk came */
    bool paused;          /* the chunk function had no room */
    bool head_in;         /* final head; status is set */
    uint32_t status;

    bool attempted;      /* the request was about to be sent, once at least */
    bool repeat_refused; /* curl wanted to send it once more */
    bool shut_out;       /* the gate was closed when it was to be sent */
    bool second;         /* this is the second attempt of the engine */
    bool first_sent;     /* and of the first, bytes had left */
    int callback_error;  /* what a callback ended the exchange with */

    /* Host of the URL is replaced by tls->server_name; connect_to leads to the real one. */
    char origin[NET_HTTP_ORIGIN_MAX]; /* "https://host:port", for messages */
    char *url;
    char *host_header;
    struct curl_slist connect_to;
    bool loopback;
    struct curl_slist *headers; /* one array, linked; the texts are borrowed or below */
    struct ccm_secret authorization;
    char curl_text[CURL_ERROR_SIZE];

    struct net_http_head head;
    struct ccm_buf body;

    /* Outcome. `done` is guarded by the engine's lock, the others are written before it is set. */
    struct ccm_http_response *response;
    struct ccm_error err;
    int result;
    uint64_t phase;
    bool done;
    pthread_cond_t ended;
};

/* Check the exchange and prepare what curl needs. 0 or negative with err set: -EINVAL, -ENOMEM. */
CCM_NODISCARD int net_http_ticket_init(struct net_http_ticket *ticket,
                                       const struct net_exchange *exchange, struct ccm_error *err);
void net_http_ticket_fini(struct net_http_ticket *ticket);

/* Put everything on a fresh easy handle. 0 or negative with ticket->err and result set. */
CCM_NODISCARD int net_http_ticket_setup(struct net_http_ticket *ticket, CURL *easy);

/* CCM_HTTP_NOT_SENT or _MAYBE_RUN, so far. */
uint64_t net_http_ticket_phase(const struct net_http_ticket *ticket);

/* When the engine has to look at this ticket again; INT64_MAX = never. */
int64_t net_http_ticket_due(const struct net_http_ticket *ticket);

/*
 * Whether an exchange that failed with this code is tried once more, and if so, made ready for it:
 * the connection turned out to be dead or on its way out (HTTP/2 GOAWAY), no answer has begun, and
 * either nothing has left or the exchange is repeatable.
 */
bool net_http_ticket_prepare_retry(struct net_http_ticket *ticket, CURLcode code);

/* Curl says that it is over, or the engine ends it: fill the outcome. The easy handle is still
 * there. */
void net_http_ticket_complete(struct net_http_ticket *ticket, CURLcode code);
void net_http_ticket_expire(struct net_http_ticket *ticket);
void net_http_ticket_cancel(struct net_http_ticket *ticket);

#endif
