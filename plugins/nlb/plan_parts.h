/*
 * Parts of plan.c: plan_lb.c, plan_ranges.c, plan_groups.c, plan_listeners.c. Each appends steps
 * and returns 0 or -ENOMEM. Steps may be appended in any order of stages: plan.c sorts them, steps
 * of one stage keep their order.
 */
#ifndef CCM_NLB_PLAN_PARTS_H
#define CCM_NLB_PLAN_PARTS_H

#include "lbc/model/owner.h"
#include "plan.h"

struct nlb_work {
    struct nlb_plan *plan;
    const struct nlb_plan_input *in;
    struct lbc_problems *problems;
    const struct nlb_lb *lb; /* the load balancer as it is, or as it will be when it is made */
    unsigned stage;          /* the first one of the next part; parts before it end earlier */
    int *failed; /* -ENOMEM once it could not be told whose something is: such a plan is no good */
};

/* Whose text it is; as_listener as in names.h. Out of memory: nobody's, and *work->failed. */
enum lbc_owner nlb_plan_owner(const struct nlb_work *work, const char *text, bool as_listener);

/* Append an empty step; NULL on ENOMEM. Earlier pointers to steps become invalid. */
struct nlb_step *nlb_plan_new_step(struct nlb_plan *plan, enum nlb_step_type type, unsigned stage);
/* The same with a stage of its own: counts work->stage up. */
struct nlb_step *nlb_plan_lb_step(struct nlb_work *work, enum nlb_step_type type);
/* The first stage behind all steps. */
unsigned nlb_plan_end(const struct nlb_plan *plan);
/* Move a list of differences into a step. 0 or -ENOMEM. */
CCM_NODISCARD int nlb_plan_set_change(struct nlb_step *step, struct ccm_buf *change);

/* Put the tag into `ret` where `present` has it with that value. 0 or -ENOMEM. */
CCM_NODISCARD int nlb_plan_copy_tag(const struct lbc_tags *present, const char *key,
                                    const char *value, struct lbc_tags *ret);

/* --- plan_lb.c --- */

/* `pretend` (empty, the caller finishes it) is what work->lb points to when the load balancer is
 * still to be made. */
CCM_NODISCARD int nlb_plan_lb(struct nlb_work *work, struct nlb_lb *pretend);

/* --- plan_ranges.c --- */

/* The security group for source ranges, then which ones are joined. */
CCM_NODISCARD int nlb_plan_security(struct nlb_work *work);
/* Once nobody needs it. */
CCM_NODISCARD int nlb_plan_stale_security_group(struct nlb_work *work);

/* --- plan_groups.c --- */

CCM_NODISCARD int nlb_plan_groups(struct nlb_work *work);
/* The first stage in which a group has got all servers that are added to it. */
unsigned nlb_plan_filled(const struct nlb_work *work, const struct nlb_group *want);
/* Those that no port wants any more. */
CCM_NODISCARD int nlb_plan_stale_groups(struct nlb_work *work);
/* All: the Service goes. */
CCM_NODISCARD int nlb_plan_drop_groups(struct nlb_work *work);
/* Take our marks off all of them: they stay. */
CCM_NODISCARD int nlb_plan_untag_groups(struct nlb_work *work);

/* --- plan_listeners.c --- */

/* plan_taken.c: the step that puts a listener back that was taken over. *ret_done false: it is not
 * known what it was, or that is not there any more. */
CCM_NODISCARD int nlb_plan_restore(struct nlb_work *work, const struct nlb_listener *have,
                                   bool *ret_done);
CCM_NODISCARD int nlb_plan_stale_listeners(struct nlb_work *work);
/* Whether a listener that is not the Service's has the port. */
bool nlb_plan_is_refused(const struct nlb_work *work, const struct nlb_listener *want);
CCM_NODISCARD int nlb_plan_listeners(struct nlb_work *work);

#endif
