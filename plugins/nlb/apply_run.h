/*
 * One run of a plan: what has become of each step, and what a failure means for the rest. Parts of
 * apply.c. One thread.
 */
#ifndef CCM_NLB_APPLY_RUN_H
#define CCM_NLB_APPLY_RUN_H

#include "apply.h"
#include "lbc/apply/quota.h"

enum nlb_verdict {
    NLB_VERDICT_OPEN,
    NLB_VERDICT_SENT,
    NLB_VERDICT_DONE,
    NLB_VERDICT_FAILED,
    NLB_VERDICT_EXCHANGED, /* a part of an exchange, see apply_exchange.c */
};

/* A step on its way. */
struct nlb_flight {
    const struct nlb_step *step;
    enum nlb_verdict verdict;
    struct lbc_sent sent;
};

/* A step that a quota refused, waiting for a later one to make room. */
struct nlb_deferred {
    const struct nlb_step *step; /* NULL: none */
    int result;
    struct ccm_error err;
};

struct nlb_run {
    struct nlb_apply *apply;
    const struct lbc_plan *plan;
    struct nlb_flight *flights; /* one per step */
    size_t failed;              /* steps so far */
    bool unsecured;             /* a step that secures the load balancer failed */
    enum lbc_priority priority;
    struct nlb_deferred rules;
    struct nlb_deferred join;
    struct lbc_quota quota; /* for listeners */
    struct nlb_exchange **exchanges;
    size_t exchange_count;
    size_t exchange_cap;
    size_t freed;                   /* steps that gave servers of the load balancer free */
    const struct nlb_step *unknown; /* an addition of what the cloud does not know; NULL */
};

/* Its place in the plan. */
size_t nlb_run_find_step(const struct nlb_run *run, const struct nlb_step *step);

/* Send the flight's step. 0 (it is on its way or done already), or negative with err. */
CCM_NODISCARD int nlb_run_send(struct nlb_run *run, struct nlb_flight *flight,
                               struct ccm_error *err);
/* Wait for the jobs of those that were sent, all together, and bring the mirror in line; their
 * fates tell what came of each. As nlb_run_fail(). */
CCM_NODISCARD int nlb_run_end(struct nlb_run *run, struct nlb_flight *flights, size_t count);
/* 0, or negative with a problem when the pass is to end. */
CCM_NODISCARD int nlb_run_check_cancelled(const struct nlb_run *run);
/* There is no memory to go on with: told, and what came of the call is not known. */
int nlb_run_out_of_memory(const struct nlb_run *run);
/* Whether servers that are taken out of the group stay until their connections have ended. */
bool nlb_run_is_draining(const struct nlb_group *group);

/* The mirror may be wrong about this step, and what is known about the interfaces in it. */
void nlb_run_distrust(struct nlb_apply *apply, const struct nlb_step *step);

/* A step has failed: tell, and note what follows from it. Returns negative when the rest of the
 * plan makes no sense. remedy may be NULL. */
CCM_NODISCARD int nlb_run_fail(struct nlb_run *run, const struct nlb_step *step, int r,
                               struct ccm_error *err, const char *remedy);

/* Whether a refusal is put off, because a later step makes room for this one. */
bool nlb_run_defer(struct nlb_run *run, const struct nlb_step *step, int r,
                   const struct ccm_error *err);
/* Whether a creation is left out, because one before it was refused for lack of room. */
bool nlb_run_leaves_out(struct nlb_run *run, const struct nlb_step *step);
/* What a refusal, or with err NULL a success, says about the room for listeners. */
void nlb_run_record_quota(struct nlb_run *run, const struct nlb_step *step,
                          const struct ccm_error *err);
/* No room was made: what was put off has failed. As nlb_run_fail(). */
CCM_NODISCARD int nlb_run_give_up(struct nlb_run *run);

#endif
