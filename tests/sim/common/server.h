/*
 * HTTP server of a simulator, loopback only. It decodes requests, keeps the log of calls, injects
 * faults, serves the common control endpoints and hands everything else to the simulator:
 *
 *   GET /_sim/calls[?since=SEQ][&all=1]
 *                                 {"calls":[{"seq","t","action","method","path","params",
 *                                  "http","code","ms"[,"cut"]}],"last":SEQ}, entries with seq >
 * SEQ. An entry appears when the request arrives (http 0) and is completed before its answer
 * leaves. t: seconds since the epoch, ms: milliseconds the answer took. all: background calls too,
 * which are left out otherwise. DELETE /_sim/calls            forgets them; seq goes on counting
 *   GET /_sim/idle                {"last":SEQ,"open":N}: the newest call, and how many calls have
 * no answer yet POST /_sim/faults             one object or a list, see faults.h; answers
 * {"ids":[N]} GET /_sim/faults              what is set, with the number of hits DELETE
 * /_sim/faults[?id=N]
 *
 * /_sim requests are not logged, see no fault and no latency.
 */
#ifndef CCM_SIM_SERVER_H
#define CCM_SIM_SERVER_H

#include "common/faults.h"
#include "common/request.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a call is named in log and fault rules; filled by `identify`, both parts may stay empty. */
struct ccm_sim_call {
    char action[512];             /* "CreateLoadBalancer", "list services" */
    struct ccm_sim_params params; /* operation parameters worth logging; the kit frees them */
    bool background; /* not what tests count: listed with ?all=1 only, and suffers only from
                      * fault rules that match by action or path */
};

/* All functions are called from many threads at once; `self` is that of the configuration. */
struct ccm_sim_ops {
    /* Name the request. Must not block. Mandatory. */
    void (*identify)(void *self, const struct ccm_sim_request *req, struct ccm_sim_call *call);
    /* The request was named, or has its answer; always both, whatever fault rules do. NULL: nobody
     * cares. */
    void (*begin)(void *self, const struct ccm_sim_request *req);
    void (*end)(void *self, const struct ccm_sim_request *req);
    /* Answer it. Mandatory. */
    void (*handle)(void *self, const struct ccm_sim_request *req, struct ccm_sim_reply *reply);
    /* Write the error of a fault rule in the service's own form. Mandatory. */
    void (*fault)(void *self, const struct ccm_sim_request *req,
                  const struct ccm_sim_effect *effect, struct ccm_sim_reply *reply);
    /* A control request other than the common ones ("/_sim/state"). Returns 0, or -ENOENT: no such
     * endpoint (the kit then answers 404). NULL: there are none. */
    int (*control)(void *self, const struct ccm_sim_request *req, struct ccm_sim_reply *reply);
    /* The server stops: wake whoever waits inside `next` or `handle`. NULL: nobody does. */
    void (*stopping)(void *self);
};

struct ccm_sim_config {
    const char *listen; /* "127.0.0.1:PORT" or "[::1]:PORT"; port 0 lets the system choose */
    /* `handle` never waits and no answer is a stream: one thread serves all connections, and a
     * request that latency or a fault rule delays gets one of its own meanwhile. False: every
     * connection has its thread. */
    bool at_once;
    uint32_t latency_ms;  /* added to every request */
    uint32_t log_max;     /* calls kept, the oldest go first; 0 = CCM_SIM_LOG_MAX */
    size_t body_max;      /* bytes of a request body, more is answered 413; 0 = 8 MiB */
    const char *tls_cert; /* PEM text; NULL = plain HTTP */
    const char *tls_key;
    const char *tls_client_ca; /* PEM text: client certificates are asked for, the simulator
                                * verifies them through tls_session; NULL = not asked for */
    const struct ccm_sim_ops *ops;
    void *self;
};

#define CCM_SIM_LOG_MAX 1000000

struct ccm_sim_server;

/* Listen and serve. The configuration is copied, the PEM texts are not needed afterwards.
 * 0, -EINVAL (address not understood or not loopback), -EADDRINUSE or another -errno. */
CCM_NODISCARD int ccm_sim_server_start(const struct ccm_sim_config *config,
                                       struct ccm_sim_server **ret);

uint16_t ccm_sim_server_port(const struct ccm_sim_server *server);

/* Wait interruptibly inside `handle`. Returns early when the server stops. */
void ccm_sim_server_wait(struct ccm_sim_server *server, uint32_t ms);

/* Close all connections, wait for their threads, free. NULL is fine. */
void ccm_sim_server_stop(struct ccm_sim_server *server);

/*
 * Life of a simulator program: block SIGTERM and SIGINT, start, call ready (if not NULL), print
 * "listening on 127.0.0.1:PORT" on standard output, wait for one of the signals, stop. To be called
 * while the process has one thread. ready may start what needs the port (a kubeconfig); a negative
 * result of it ends the run. Returns the exit code: 0, or 1 after a message on standard error.
 */
CCM_NODISCARD int ccm_sim_server_run(const struct ccm_sim_config *config,
                                     int (*ready)(void *self, struct ccm_sim_server *server));

#endif
