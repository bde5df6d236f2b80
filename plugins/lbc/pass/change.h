/*
 * The way of a pass from what is there to what is desired (struct lbc_change_ops), and what is
 * remembered of it for the passes that follow. In the order of a pass; what each returns: ensure.h.
 */
#ifndef CCM_LBC_CHANGE_H
#define CCM_LBC_CHANGE_H

#include "lbc/apply/plan.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbc_pass;

/* Of one Service. Starts zeroed; times are monotonic. */
struct lbc_change_memory {
    bool sifting;        /* see struct lbc_apply */
    bool conflicted;     /* a step met a conflict, and no pass has come to its end since */
    bool outdated;       /* the same of a write to the Service */
    int64_t lost_ms;     /* monotonic: when a failed step may last have taken effect; 0 = never */
    bool marked;         /* reused, and its wishes could be met: LBC_TAG_REUSE may be on for it */
    uint32_t unrestored; /* passes in which the cloud refused to have a listener put back */
    uint32_t changing;   /* passes in a row that read what the cloud was changing */
    uint64_t refusal;    /* hash of the refusal that last had the mirror read again */
    int64_t refused_ms;  /* when that was; 0 = never */
    int64_t making_ms;   /* since when the load balancer is not ready; 0 = it is */
};

/* A pass is over; complete: it came to its end. */
static inline void lbc_change_end_pass(struct lbc_change_memory *memory, bool complete)
{
    memory->conflicted = memory->conflicted && !complete;
    memory->outdated = memory->outdated && !complete;
}
/* All that was to be restored is. */
static inline void lbc_change_end_restore(struct lbc_change_memory *memory)
{
    memory->unrestored = 0;
}
/* Another load balancer follows: what was put on the one before is not on that. */
static inline void lbc_change_forget_lb(struct lbc_change_memory *memory)
{
    memory->marked = false;
    memory->unrestored = 0;
}
static inline bool lbc_change_is_marked(const struct lbc_change_memory *memory)
{
    return memory->marked;
}

/* The way from what is there to what is desired. */
struct lbc_change {
    struct lbc_plan plan;
    struct lbc_plan_input in;
    struct ccm_buf repair; /* steps that undo what somebody else has changed, for people */
    size_t known;          /* problems before it was made */
    bool is_new;           /* the load balancer is created */
    bool unbound; /* the finalizer, or the label of needs_mark(), could not be written: only
                     backends follow; pass->refused says why */
};

CCM_NODISCARD int lbc_change_plan(struct lbc_pass *pass, struct lbc_change *change,
                                  struct ccm_error *err);
/* What the Service has to show before the plan is carried out. If it does not take that, the plan
 * shrinks to what can be done. */
CCM_NODISCARD int lbc_change_announce(struct lbc_pass *pass, struct lbc_change *change,
                                      struct ccm_error *err);
/* Failures as of lbc_pass_run_plan(). */
CCM_NODISCARD int lbc_change_apply(struct lbc_pass *pass, struct lbc_change *change,
                                   struct ccm_error *err);
void lbc_change_fini(struct lbc_change *change);
/* What the cloud was changing when it was read is read again, less and less often. */
void lbc_change_await(struct lbc_pass *pass);

#endif
