/*
 * One run of a plan: what its parts share. executor_step.c has what happens to a step and what its
 * failure means, executor_exchange.c what a lack of capacity leads to, executor_members.c what one
 * bad member of a call does, executor.c the stages. One thread.
 */
#ifndef CCM_LBC_EXECUTOR_PARTS_H
#define CCM_LBC_EXECUTOR_PARTS_H

#include "lbc/apply/executor.h"

/* A group that did not get its backends. */
struct lbc_short {
    const struct lbc_group *group;
    bool partly; /* it got all but some that the cloud does not take */
};

/* A step that a quota refused, waiting for a later one to make place. */
struct lbc_deferred {
    struct lbc_step *step; /* NULL: none any more */
    unsigned maker;        /* type of that later step */
    int result;
    struct ccm_error err;
};

struct lbc_run {
    struct lbc_apply *apply;
    struct lbc_plan *plan;
    enum lbc_priority priority;
    bool unsecured; /* a step that secures the load balancer failed */
    struct lbc_deferred *deferred;
    size_t deferred_count;
    size_t deferred_cap;
    bool no_listener_fits;            /* a creation was refused for it: further ones are left out */
    struct ccm_error no_listener_err; /* that refusal */
    struct ccm_buf left_out;          /* their ports, "80/tcp, 81/tcp" */
    size_t left_out_more;             /* that do not fit into the text */
    struct lbc_short *short_;
    size_t short_count;
    size_t short_cap;
    bool told_left_out;      /* a problem says why backends were left out */
    unsigned sifted;         /* calls that were refused because of a member */
    bool goes_on;            /* the run before had to end among bad members */
    unsigned found_in_a_row; /* bad members since a call in which others were added */
    struct lbc_exchanging **exchanges;
    size_t exchange_count;
    size_t exchange_cap;
    struct ccm_error full; /* the last refusal for want of capacity */
    bool put_off;          /* jobs are under way: the next run goes on */
    size_t freed;          /* steps that gave backends of the load balancer free */
};

/* Send the step. 0 (it is on its way or done already), or negative with err. */
CCM_NODISCARD int lbc_run_send(struct lbc_run *run, struct lbc_step *step, struct ccm_error *err);
/* Wait for the jobs of those that were sent, and bring the mirror in line; their verdicts say what
 * came of each. NULLs are skipped. Returns as lbc_run_fail(). */
CCM_NODISCARD int lbc_run_end(struct lbc_run *run, struct lbc_step *const *steps, size_t count);
/* A step that the cloud accepted is not waited for any more; the next run reads it. Keep the id of
 * what it creates: only the answer has it, since a list may lag. Negative: out of memory. */
CCM_NODISCARD int lbc_run_keep_created(struct lbc_run *run, struct lbc_step *step);
/* What came of the jobs that an earlier run left under way; put_off is set while one still runs.
 * Returns as lbc_run_fail(). */
CCM_NODISCARD int lbc_run_settle(struct lbc_run *run);
/* 0, or negative with a problem when the pass is to end. */
CCM_NODISCARD int lbc_run_check_cancelled(const struct lbc_run *run);
/* Out of memory: adds a problem; what came of the call is not known. */
int lbc_run_out_of_memory(const struct lbc_run *run);
/* A step has failed: add a problem, and record what follows. Negative when the rest of the plan
 * makes no sense. remedy: NULL = that of the cloud's error. */
CCM_NODISCARD int lbc_run_fail(struct lbc_run *run, const struct lbc_step *step, int r,
                               struct ccm_error *err, const char *remedy);
/* The group did not get all its backends; partly: as in struct lbc_short. 0, or -ENOMEM with a
 * problem. */
CCM_NODISCARD int lbc_run_mark_short(struct lbc_run *run, const struct lbc_group *group,
                                     bool partly);
/* Make the group of the step without its backends. Returns as lbc_run_fail(). */
CCM_NODISCARD int lbc_run_make_empty(struct lbc_run *run, struct lbc_step *step);
/* Whether backends that are taken out of the group stay until their connections have ended. */
bool lbc_group_is_draining(const struct lbc_group *group);

#endif
