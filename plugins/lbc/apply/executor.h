/*
 * Carries out a plan, stage by stage: sends the steps of a stage, waits for all their jobs
 * together, and keeps the mirror in line with the answers. It decides what a failure means for the
 * other steps; a product says how each type of step is carried out. May block. One thread per pass.
 *
 * - A failure stops only what depends on it: what lacks its group, its listener or its load
 * balancer, what is to come last, what would leave a group empty, and what must not be open to
 * everybody.
 * - A first conflict (CCM_ERROR_CONFLICT: what was changed is not as the mirror has it, or is busy)
 * ends its stage and the run without a word: the next pass reads, and tries again soon.
 * - A quota that is full for listeners is asked about once; what it leaves out is one problem.
 * - One bad backend, certificate or tag of a call is left out of it, see executor_members.h.
 * - A step that a quota refused waits for a later one that makes room for it, if there is one.
 * - Jobs that take long are not waited for: their steps are in the mirror as if they were done, the
 * run ends behind their stage, and the next one does nothing but ask what came of them.
 * - Groups that lack capacity exchange their backends in portions, see executor_exchange.h.
 */
#ifndef CCM_LBC_EXECUTOR_H
#define CCM_LBC_EXECUTOR_H

#include "lbc/apply/capacity.h"
#include "lbc/apply/state.h"
#include "lbc/apply/step.h"
#include "lbc/apply/underway.h"
#include "lbc/apply/unknown.h"
#include "lbc/model/cloud.h"
#include "lbc/model/problem.h"

#include <stdatomic.h>

struct lbc_apply;
struct lbc_model;
struct lbc_pending_change;

/* How far a load balancer is. */
enum lbc_lb_ready {
    LBC_LB_READY,
    LBC_LB_MAKING, /* it is being created, changed or deleted, and takes no change until that ends
                    */
    LBC_LB_BROKEN, /* its creation failed, it is locked: it does not become ready without help */
};

enum lbc_job_state {
    LBC_JOB_RUNNING,
    LBC_JOB_DONE,
    LBC_JOB_FAILED,  /* the cloud gives no reason: look at the resource */
    LBC_JOB_UNKNOWN, /* the cloud does not know it */
};

/* What the cloud is doing about a step. */
struct lbc_job {
    const char *id;
    enum lbc_job_state state; /* out */
};

/* What a step of a type needs, and what comes of its failure. */
#define LBC_NEEDS_GROUP    (1U << 0)
#define LBC_NEEDS_LISTENER (1U << 1)
#define LBC_NEEDS_LB       (1U << 2)
#define LBC_SECURES        (1U << 3) /* it limits who may connect: others may depend on it */
#define LBC_ENDS_PLAN      (1U << 4) /* nothing else makes sense when it failed */
#define LBC_SIFTS          (1U << 5) /* one bad member of the call is left out */
#define LBC_TAKES_AWAY     (1U << 6) /* and is gone already where it is not found */
#define LBC_NAMED          (1U << 7) /* a person names its texts: one that is not found is wrong */

/* Make the calls. 0: it is done, or under way when step->sent.job is set. Blocks. */
typedef int lbc_send_fn(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err);
/* Bring the mirror in line with a step that is done: 0, or -ENOMEM when it could not follow. A
 * creation puts what was made into step->group or step->listener. */
typedef int lbc_done_fn(struct lbc_apply *apply, struct lbc_step *step);

/* How a type of step is carried out. */
struct lbc_step_ops {
    lbc_send_fn *send;
    lbc_done_fn *done; /* NULL: what all products do about it, nothing for a type of their own */
    unsigned flags;
    unsigned makes_room; /* type of step that frees what LBC_REFUSAL_NO_ROOM says is used up; 0 =
                            none */
};

/* What a refusal means. */
#define LBC_REFUSAL_LB_GONE        1U /* the load balancer itself does not exist any more */
#define LBC_REFUSAL_LISTENERS_FULL 2U /* it takes no more listeners */
#define LBC_REFUSAL_GROUP_FULL     4U /* the group takes no more backends */
#define LBC_REFUSAL_LB_FULL                                                                        \
    8U /* nor does the load balancer; without a row for it what is known about capacity holds for  \
          all groups */
#define LBC_REFUSAL_MEMBER  16U  /* one of several members is at fault: LBC_SIFTS leaves it out */
#define LBC_REFUSAL_SERVER  32U  /* whatever it is to be added to */
#define LBC_REFUSAL_BATCH   64U  /* backends were too many for one call */
#define LBC_REFUSAL_NO_ROOM 128U /* a quota is used up; another step may free some of it */

/* How the cloud says that; the table ends with an empty row. */
struct lbc_refusal_row {
    const char *code;   /* '*' at the end: any rest; NULL: any */
    const char *text;   /* is part of the message; NULL: any */
    const char *unless; /* is not; NULL: whatever it is */
    unsigned means;     /* LBC_REFUSAL_* */
};

struct lbc_apply_ops {
    const struct lbc_step_ops *steps; /* by type */
    const char *backends_name;        /* "backends" */

    /* Whether the step lacks something beside what its flags say, because an earlier step failed,
     * which was reported. NULL = never. */
    bool (*is_blocked)(const struct lbc_apply *apply, const struct lbc_step *step);
    /* Wait for the jobs. 0: all have ended, whatever came of them. -ETIMEDOUT, -EAGAIN when they
     * are put off (lbc_error_is_put_off(); only when apply->underway is set), or what else went
     * wrong: the states as far as they are known. Blocks. NULL: there are no jobs. */
    int (*wait)(struct lbc_apply *apply, struct lbc_job *jobs, size_t count, int64_t timeout_ms,
                struct ccm_error *err);

    const struct lbc_refusal_row *refusals; /* NULL = they say nothing of that */

    /*
     * How far the load balancer of a mirror is. Pure. Asked about each one that was read, and
     * before each stage of a plan: a send() whose answer says so puts that into the mirror, or sets
     * again_ms itself. NULL = always ready.
     * LBC_LB_MAKING: nothing more is done, and the next pass reads it anew after *again_ms, which
     * begins with 1000. What lasts longer than LBC_LB_MAKING_MS is a failure of the pass.
     * LBC_LB_BROKEN: a pass that ensures fails with err, which begins with a text and a kind
     * (CCM_ERROR_AUTH) that fit.
     * A release deletes it in either case, once it is broken or that time is over.
     */
    enum lbc_lb_ready (*lb_ready)(const struct lbc_state *have, uint64_t *again_ms,
                                  struct ccm_error *err);
};

#define LBC_LB_MAKING_MS 600000 /* so long it is waited for without a word */
#define LBC_DELETING_MS  5000   /* until what takes its time to go is looked at again */

/* A product's own begins with it. */
struct lbc_apply {
    const struct lbc_apply_ops *ops;
    const struct lbc_cloud *cloud;
    const struct ccm_host *host;
    const struct ccm_request *req;
    const struct ccm_service *service;
    const struct lbc_anno_table *annotations; /* to name those that a refusal is about; NULL: not */
    const struct lbc_model *model;            /* NULL: a release */
    struct lbc_pending_change *pending; /* see pending_change.h; NULL where no step asks for it */
    atomic_uint *batch;                 /* backends per call; NULL or 0: as the plan has it */
    size_t small_batch;                 /* backends that are never too many for one call */
    enum lbc_priority *priority; /* of the product's calls; as it is at the beginning for most */
    bool *uncertain;             /* of the last call: it failed and may have been executed */
    struct lbc_state *have;      /* the mirror; changed by each step that is done */
    struct lbc_problems *problems;
    uint32_t *attempt;   /* of creation: part of the ClientToken; counted up when needed */
    bool hides_conflict; /* the pass before met none: a conflict is no news yet */
    bool insists;        /* a release that waits for the load balancer no longer */
    bool forgives_lb;    /* the load balancer goes: that it is gone already is well */
    bool fresh; /* the mirror was read in this pass: a refusal is not due to an old picture */
    /* The Service is older than this process, and was there long enough for an earlier one to make
     * a load balancer with the same ClientToken and let go of it. */
    bool token_may_be_used;
    bool counts_problems; /* what is wrong before the first step counts as failed */
    size_t failed;        /* steps, and what counts as failed before them */
    /* Jobs that are put off, kept by the caller until the next run; NULL = all are waited for. */
    struct lbc_underway *underway;
    struct lbc_unknown *unknown;   /* backends that need not be added; NULL = not remembered */
    struct lbc_left_out *left_out; /* out, of all runs of a pass; NULL: none is added */
    bool *sifting; /* the last run met so many bad backends that the next one has to go on with the
                      others; NULL: none goes on */
    struct lbc_capacity capacity; /* for backends of all groups together; begins zeroed */

    size_t writes;       /* out: steps that were sent */
    bool freed;          /* out: a listener was deleted, or put back */
    bool cannot_restore; /* out: the cloud refused to have a listener put back */
    bool surprised;      /* out: the mirror can no longer be trusted by the next pass */
    bool lb_gone;        /* out: the load balancer is not there any more */
    bool asked_lb;       /* out: a creation was sent that has made a load balancer, or may have */
    bool made_lb;        /* out: it has */
    bool conflicted;     /* out: a step met a conflict */
    bool lost;           /* out: a step failed, and may have taken effect, or will */
    bool token_taken;    /* out: its ClientToken stands for another request, says the cloud */
    uint64_t again_ms;   /* out: the load balancer is still being made or deleted: stop here, no
                            problem, come again then and read it; 0 = no */
};

/*
 * Failures go to `problems`; each names port and action. A job that failed, or has not ended in
 * time, is a failure of its step, one that is put off a problem of that kind. What an earlier run
 * left under way is settled before a step of this one is sent; unless all of it went well, none is.
 * 0: the plan came to its end, or again_ms is set. Negative: it was given up (no load balancer,
 * shutdown, no memory), and there is a problem.
 */
CCM_NODISCARD int lbc_apply_run(struct lbc_apply *apply, struct lbc_plan *plan);

/* lb_ready() as the engine asks it: ready where there is none, or no load balancer. */
enum lbc_lb_ready lbc_apply_lb_ready(const struct lbc_apply_ops *ops, const struct lbc_state *have,
                                     uint64_t *ret_again_ms, struct ccm_error *err);
/* That many backends were too many for one call: from now on they are fewer. False: they cannot be,
 * or err says something else. */
bool lbc_apply_shrink_batch(const struct lbc_apply *apply, size_t count,
                            const struct ccm_error *err);
/* "node a (region.i-1), node b (region.i-2)": who was left out, nodes as the model has them (NULL =
 * not known). cloud: and why, with what a person can do; NULL = without that. */
void lbc_left_out_format(const struct lbc_left_out *left_out, const struct lbc_model *model,
                         const struct lbc_cloud *cloud, struct ccm_buf *text);
/* For the functions of a product: whether the error means that. */
bool lbc_refusal_is(const struct lbc_apply_ops *ops, unsigned what, const struct ccm_error *err);
/* r, or 0 when what the step takes away is not there. */
CCM_NODISCARD int lbc_apply_forgive(const struct lbc_apply *apply, int r,
                                    const struct ccm_error *err);

#endif
