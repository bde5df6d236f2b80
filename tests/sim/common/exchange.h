/*
 * One request and its answer inside the kit, and the server that it belongs to.
 * For server.c and exchange.c alone.
 */
#ifndef CCM_SIM_EXCHANGE_H
#define CCM_SIM_EXCHANGE_H

#include "common/calls.h"
#include "common/server.h"
#include "util/attr.h"
#include "util/buf.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ccm_sim_server {
    struct ccm_sim_config config;
    struct MHD_Daemon *daemon;
    struct ccm_sim_calls *calls;
    struct ccm_sim_faults *faults;
    atomic_bool stopping;
    pthread_mutex_t lock; /* with `wake`: ends waits when `stopping` turns true or
                           * rules go; guards `waiting`, `any_ended`, `last` */
    pthread_cond_t wake;
    pthread_attr_t apart; /* of the threads counted below */
    unsigned waiting;     /* exchanges that run on a thread of their own */
    bool any_ended;       /* such a thread has ended: */
    pthread_t last;       /* the latest, not joined yet */
    uint16_t port;
};

/* From the first line of a request until its connection is done with it; one
 * thread at a time. */
struct ccm_sim_exchange {
    struct ccm_sim_server *server;
    struct MHD_Connection *connection;
    char *uri;
    struct ccm_buf body;
    bool started;
    bool too_large;
    bool prepared;
    bool faulty;
    bool cut; /* no answer: the connection is dropped */
    int fd;
    int64_t limit; /* bytes of the answer's body, then the connection is dropped;
                      -1 = all */
    uint64_t seq;  /* in the call log */
    char *path;
    struct ccm_sim_request req;
    struct ccm_sim_call call;
    struct ccm_sim_effect effect;
    struct ccm_sim_reply reply;
};

/* NULL when memory ran out. */
struct ccm_sim_exchange *ccm_sim_exchange_new(struct ccm_sim_server *server,
                                              struct MHD_Connection *connection, const char *uri);
void ccm_sim_exchange_free(struct ccm_sim_exchange *ex);

/* The request is complete: read it, answer what needs no service, name the rest
 * and ask the fault rules. Never waits. True: ccm_sim_exchange_run is to
 * follow. */
CCM_NODISCARD bool ccm_sim_exchange_prepare(struct ccm_sim_exchange *ex, const char *method);

/* Whether ccm_sim_exchange_run waits for time to pass. */
CCM_NODISCARD bool ccm_sim_exchange_waits(const struct ccm_sim_exchange *ex);

/* Let the service answer, with all waits and faults. Does not touch the
 * connection (beyond a look at whether its client is gone), so any thread may.
 */
void ccm_sim_exchange_run(struct ccm_sim_exchange *ex);

/* Instead of it: the kit cannot run the request. */
void ccm_sim_exchange_refuse(struct ccm_sim_exchange *ex, const char *why);

/* Send the answer, or drop the connection. On the thread of the connection. */
CCM_NODISCARD enum MHD_Result ccm_sim_exchange_send(struct ccm_sim_exchange *ex);

/* Whoever waits looks again whether there is a reason to. */
void ccm_sim_server_wake(struct ccm_sim_server *server);

#endif
