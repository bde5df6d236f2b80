/*
 * In place of core/net/http.c, by link order: an exchange is a call of a simulator's handler in the
 * thread that asks. Only streams and the halves of an exchange have a thread of their own.
 * "http://kube" is the API server, "http://cloud" every endpoint of the cloud.
 *
 * One real thread.
 */
#ifndef SIM_NET_H
#define SIM_NET_H

#include "cluster.h"
#include "common/server.h"

#include <stdbool.h>
#include <stdint.h>

struct ccm_cloud;

enum sim_side { SIM_KUBE, SIM_CLOUD, SIM_SIDES };

/* A request that a simulator has executed. Borrowed for the call. */
struct sim_call {
    enum sim_side side;
    const char *action;  /* "CreateLoadBalancer", "PATCH /api/v1/..." */
    const char *product; /* "slb"; NULL: it is no action of the cloud */
    const char *method;
    const char *path; /* of the request */
    const struct ccm_sim_params *params;
    const char *body;
    int instance; /* SIM_WORLD_SIDE: the world's own */
    const char *key;
    bool writes;
    unsigned status;
    const char *code;   /* of an error, else "" */
    const char *answer; /* its body */
};

struct sim_net {
    struct ccm_ks_cluster *kube;
    struct ccm_cloud *cloud;
    int64_t latency_us; /* most, each way */
    /* Called with each request: before it is executed, when it changes something, and after. */
    void (*before)(const struct sim_call *call);
    void (*after)(const struct sim_call *call);
    /* An instance has changed something; a watch delivers an event of that path. NULL = not
     * called. */
    void (*effect)(const struct sim_call *call);
    void (*event)(const char *path, const char *line);
    uint64_t requests;
};
extern struct sim_net sim_net;

/* The seat cannot reach that side until then. */
void sim_net_cut_off(int seat, enum sim_side side, int64_t until_us);
/* All partitions end. */
void sim_net_heal(void);
/* No watch of the seat gives anything in that time; the connections stay. */
void sim_net_freeze_watches(int seat, int64_t from_us, int64_t until_us);
/* What is open of an instance that was killed is closed. */
void sim_net_drop(int instance);

/* The world's own request, at once and without faults. The status; the body goes to *ret unless it
 * is NULL. type: of the body, or NULL. */
unsigned sim_ask(const char *method, const char *url, const char *type, const char *body,
                 struct ccm_buf *ret);
/* A control request: "/_sim/state". */
unsigned sim_control(enum sim_side side, const char *method, const char *path, const char *body,
                     struct ccm_buf *ret);

#endif
