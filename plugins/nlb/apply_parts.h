/*
 * What the parts of apply.c share. A step is sent by ..._send(), its job is waited for, then
 * ..._done() brings the mirror in line. One thread per pass.
 */
#ifndef CCM_NLB_APPLY_PARTS_H
#define CCM_NLB_APPLY_PARTS_H

#include "apply.h"

/* The group that a step is about, or sends to, as the mirror has it; NULL when there is none. */
struct nlb_group *nlb_apply_group(const struct nlb_apply *apply, const struct nlb_step *step);
/* The listener that a step is about. */
struct nlb_listener *nlb_apply_target(const struct nlb_apply *apply, const struct nlb_step *step);

/* The load balancer itself is not there any more. */
bool nlb_apply_lb_gone(const struct ccm_error *err);
/* r, or 0 when it failed because the thing is not there: taking that away is done. */
CCM_NODISCARD int nlb_apply_forgive(const struct nlb_apply *apply, int r,
                                    const struct ccm_error *err);

/* The tags that mark what is ours. 0 or -ENOMEM. */
CCM_NODISCARD int nlb_apply_marks(const struct nlb_apply *apply, struct lbc_tags *ret);
/* After a creation: a token that stands for another one is not used again. Returns r. */
int nlb_apply_check_token(const struct nlb_apply *apply, int r, struct ccm_error *err);
/* The VPC of the load balancer, else the cluster's. */
const char *nlb_apply_vpc(const struct nlb_apply *apply);

/*
 * blocked(): what the step needs is missing because an earlier step failed, which was reported
 * there. send(): 0 or negative with err. done(): 0, or -ENOMEM when the mirror could not follow.
 */

/* --- apply_lb.c: the load balancer and its tags --- */

bool nlb_apply_lb_blocked(const struct nlb_apply *apply, const struct nlb_step *step);
CCM_NODISCARD int nlb_apply_lb_send(struct nlb_apply *apply, const struct nlb_step *step,
                                    struct lbc_sent *sent, struct ccm_error *err);
CCM_NODISCARD int nlb_apply_lb_done(struct nlb_apply *apply, const struct nlb_step *step);

/* --- apply_create.c: making it --- */

/* Sets apply->again_ms when it is not ready yet. */
CCM_NODISCARD int nlb_apply_create(struct nlb_apply *apply, const struct nlb_step *step,
                                   struct ccm_error *err);

/* --- apply_ranges.c: the security group for source ranges --- */

bool nlb_apply_security_group_blocked(const struct nlb_apply *apply, const struct nlb_step *step);
CCM_NODISCARD int nlb_apply_security_group_send(struct nlb_apply *apply,
                                                const struct nlb_step *step, struct lbc_sent *sent,
                                                struct ccm_error *err);
CCM_NODISCARD int nlb_apply_security_group_done(struct nlb_apply *apply,
                                                const struct nlb_step *step,
                                                const struct lbc_sent *sent);

/* --- apply_group.c: server groups and servers --- */

bool nlb_apply_group_blocked(const struct nlb_apply *apply, const struct nlb_step *step);
CCM_NODISCARD int nlb_apply_group_send(struct nlb_apply *apply, const struct nlb_step *step,
                                       struct lbc_sent *sent, struct ccm_error *err);
CCM_NODISCARD int nlb_apply_group_done(struct nlb_apply *apply, const struct nlb_step *step,
                                       struct lbc_sent *sent);

/* --- apply_listener.c: listeners and their additional certificates --- */

bool nlb_apply_listener_blocked(const struct nlb_apply *apply, const struct nlb_step *step);
CCM_NODISCARD int nlb_apply_listener_send(struct nlb_apply *apply, const struct nlb_step *step,
                                          struct lbc_sent *sent, struct ccm_error *err);
CCM_NODISCARD int nlb_apply_listener_done(struct nlb_apply *apply, const struct nlb_step *step,
                                          struct lbc_sent *sent);

#endif
