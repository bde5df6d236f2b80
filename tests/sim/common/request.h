/*
 * What a simulator gets for a request and gives back. Both live for the time of one ccm_sim_ops
 * call; where every connection has its thread (see server.h) a call may block.
 */
#ifndef CCM_SIM_REQUEST_H
#define CCM_SIM_REQUEST_H

#include "common/params.h"
#include "util/buf.h"
#include "util/jsonw.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ccm_sim_request {
    const char *method;            /* "GET" */
    const char *path;              /* decoded, without the query: "/api/v1/nodes" */
    const char *raw_path;          /* as sent, without the query */
    const char *raw_query;         /* as sent, without '?'; "" when there is none */
    struct ccm_sim_params query;   /* decoded, sorted */
    struct ccm_sim_params form;    /* of an application/x-www-form-urlencoded body */
    struct ccm_sim_params all;     /* query and form together */
    struct ccm_sim_params headers; /* names in small letters */
    const char *body;              /* raw, NUL-terminated; "" when empty */
    size_t body_len;
    void *tls_session; /* gnutls_session_t of the connection; NULL on plain HTTP */
};

/* Value of a header (name in small letters), or NULL. */
const char *ccm_sim_request_header(const struct ccm_sim_request *req, const char *name);

/*
 * A body that is written over time. Only one thread calls it, that of the connection.
 *   next   append the next piece to `out`, waiting for at most wait_ms until there is one.
 *          Returns 1 (appended something), 0 (nothing yet, call again), -ENODATA (regular end of
 * the body), any other negative errno (drop the connection). close  called once in the end, also
 * when the client went away or the daemon stops. May be NULL. The kit notices a client that went
 * away between two calls of `next`, so wait_ms bounds how long that takes.
 */
struct ccm_sim_stream {
    int (*next)(void *self, struct ccm_buf *out, int64_t wait_ms);
    void (*close)(void *self);
    void *self;
};

/* Handed over with status 200 and an empty JSON body. */
struct ccm_sim_reply {
    unsigned status;
    const char *content_type;      /* static text; NULL sends none */
    struct ccm_sim_params headers; /* additional ones */
    struct ccm_buf body;
    struct ccm_sim_stream stream; /* used instead of `body` when `next` is set; chunked */
    char code[96]; /* the service's error code or reason, for the call log; "" = success */
    bool drop;     /* close the connection without any answer */
};

/* A reply of one JSON object {"error": message}; what control endpoints answer to bad input. */
void ccm_sim_reply_error(struct ccm_sim_reply *reply, unsigned status, const char *format, ...)
    CCM_PRINTF(3, 4);

#endif
