/* Ordered log of the calls a simulator got; see server.h for its form on the wire. Every thread. */
#ifndef CCM_SIM_CALLS_H
#define CCM_SIM_CALLS_H

#include "common/params.h"
#include "common/request.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stdint.h>

struct ccm_sim_calls;

/* Keeps the newest `max` calls. NULL when memory ran out. */
struct ccm_sim_calls *ccm_sim_calls_new(uint32_t max);
void ccm_sim_calls_free(struct ccm_sim_calls *calls);

/* A request has arrived. Returns its sequence number (> 0), or 0 when memory ran out. */
CCM_NODISCARD uint64_t ccm_sim_calls_begin(struct ccm_sim_calls *calls, const char *action,
                                           const char *method, const char *path,
                                           const struct ccm_sim_params *params, bool background);

/* It is answered, or cut ("before", "after"; else NULL). Unknown numbers (forgotten meanwhile) are
 * ignored. */
void ccm_sim_calls_end(struct ccm_sim_calls *calls, uint64_t seq, unsigned http, const char *code,
                       const char *cut);

/* GET /_sim/idle: the number of the newest call, and how many have no answer yet. */
void ccm_sim_calls_idle(struct ccm_sim_calls *calls, struct ccm_sim_reply *reply);

/* GET, DELETE /_sim/calls. */
void ccm_sim_calls_control(struct ccm_sim_calls *calls, const struct ccm_sim_request *req,
                           struct ccm_sim_reply *reply);

#endif
