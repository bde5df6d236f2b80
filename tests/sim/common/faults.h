/*
 * Faults on demand. A rule, as JSON:
 *
 *   {"match": {"action": "Create*", "path": "/api/v1/n*", "params": {"ListenerPort": "80"}, "nth":
 * 2, "p": 0.1}, "effect": {"code": "Throttling", "http": 400, "message": "...", "delay_ms": 100,
 * "cut": "before", "body": "{", "truncate": 20, "headers": {"Retry-After": "1"}}, "count": 3}
 *
 * match   all given members must hold. action, path and the values of params are shell patterns.
 * nth: from the nth request on (1 = first) that the rest of the match fits, counted since the rule
 * was set. p: with this probability (the same sequence in every run). effect  at least one member.
 * delay_ms alone: wait, then go on. code (with http, default 400; or http alone): answer that
 * error, do not execute. cut "before": do not execute, drop the connection; with delay_ms after
 * waiting. cut "after": execute, wait delay_ms, drop the connection (of a
 *         stream: behind its head). Either wait ends when the
 * client goes away, and every wait when the rule is removed. body: answer this text (http default
 * 200), do not execute. truncate: execute, send that many bytes of the body, then drop the
 * connection. headers: added to the answer. cut excludes code, http, body, truncate. count   how
 * often the rule acts before it is spent; default 1 with nth, else without end.
 *
 * The first rule (in order of arrival) that acts wins; rules behind it do not see that request.
 * Every thread.
 */
#ifndef CCM_SIM_FAULTS_H
#define CCM_SIM_FAULTS_H

#include "common/params.h"
#include "common/request.h"
#include "util/attr.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

enum ccm_sim_cut { CCM_SIM_CUT_NONE, CCM_SIM_CUT_BEFORE, CCM_SIM_CUT_AFTER };

struct ccm_sim_effect {
    int64_t rule;  /* whose it is, 0 = of none */
    char *code;    /* NULL = none given */
    char *message; /* NULL = none given */
    char *body;    /* NULL = none given */
    unsigned http; /* 0 = none given */
    uint32_t delay_ms;
    enum ccm_sim_cut cut;
    int64_t truncate; /* -1 = none given */
    struct ccm_sim_params headers;
};

void ccm_sim_effect_fini(struct ccm_sim_effect *effect);

/* Whether the effect is an error answer in the service's form (code or http, no body). */
bool ccm_sim_effect_is_error(const struct ccm_sim_effect *effect);

struct ccm_sim_faults;

/* NULL when memory ran out. */
struct ccm_sim_faults *ccm_sim_faults_new(void);
void ccm_sim_faults_free(struct ccm_sim_faults *faults);

/* Find what this call suffers; a background one only from rules that match by action or path.
 * Returns 1 and fills *ret_effect (the caller ends it), 0: nothing, or -ENOMEM. */
CCM_NODISCARD int ccm_sim_faults_pick(struct ccm_sim_faults *faults, const char *action,
                                      const char *path, const struct ccm_sim_params *params,
                                      bool background, struct ccm_sim_effect *ret_effect);

/* Whether the rule has not been removed, spent or not. */
bool ccm_sim_faults_has(struct ccm_sim_faults *faults, int64_t rule);

/* GET, POST, DELETE /_sim/faults. */
void ccm_sim_faults_control(struct ccm_sim_faults *faults, const struct ccm_sim_request *req,
                            struct ccm_sim_reply *reply);

#endif
