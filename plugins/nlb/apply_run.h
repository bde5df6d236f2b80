/*
 * One run of a plan: what has become of each step, and what a failure means for the rest. Parts of
 * apply.c. One thread.
 */
#ifndef CCM_NLB_APPLY_RUN_H
#define CCM_NLB_APPLY_RUN_H

#include "apply.h"
#include "service/room.h"

enum nlb_fate { NLB_FATE_OPEN, NLB_FATE_SENT, NLB_FATE_DONE, NLB_FATE_FAILED };

/* A step on its way. */
struct nlb_flight {
    enum nlb_fate fate;
    struct nlb_sent sent;
};

/* A step that a quota refused, waiting for a later one to make room. */
struct nlb_deferred {
    const struct nlb_step *step; /* NULL: none */
    int result;
    struct ccm_error err;
};

struct nlb_run {
    struct nlb_apply *apply;
    const struct nlb_plan *plan;
    struct nlb_flight *flights; /* one per step */
    size_t failed;              /* steps so far */
    bool unsecured;             /* a step that secures the load balancer failed */
    enum ccm_ali_priority priority;
    struct nlb_deferred rules;
    struct nlb_deferred join;
    struct ccm_room room; /* for listeners */
};

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
void nlb_run_note_room(struct nlb_run *run, const struct nlb_step *step,
                       const struct ccm_error *err);
/* No room was made: what was put off has failed. As nlb_run_fail(). */
CCM_NODISCARD int nlb_run_give_up(struct nlb_run *run);

#endif
