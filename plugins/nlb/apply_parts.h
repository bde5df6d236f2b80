/*
 * How each type of step is carried out (struct lbc_step_ops), and what the parts of apply.c share.
 * ..._done brings the mirror in line. One thread per pass.
 */
#ifndef CCM_NLB_APPLY_PARTS_H
#define CCM_NLB_APPLY_PARTS_H

#include "apply.h"

#define NLB_MAKING_MS 2000 /* until a load balancer that is being made is looked at again */

/* What the cloud holds. */
static inline struct nlb_state *nlb_apply_have(const struct lbc_apply *apply)
{
    return (struct nlb_state *)apply->have;
}

/* What is desired; not in a release. */
static inline const struct nlb_model *nlb_apply_model(const struct lbc_apply *apply)
{
    return (const struct nlb_model *)apply->model;
}

static inline struct nlb_step *nlb_step_of(struct lbc_step *step)
{
    return (struct nlb_step *)step;
}

/* The tags that mark what is ours. 0 or -ENOMEM. */
CCM_NODISCARD int nlb_apply_marks(const struct lbc_apply *apply, struct lbc_tags *ret);
/* After the creation of a security group: a token that stands for another one is not used again.
 * Returns r. */
int nlb_apply_check_token(const struct lbc_apply *apply, int r, struct ccm_error *err);
/* The VPC of the load balancer, else the cluster's. */
const char *nlb_apply_vpc(const struct lbc_apply *apply);

/* --- apply_create.c, apply_lb.c: the load balancer and its tags --- */

lbc_send_fn nlb_apply_create_lb; /* sets again_ms when it is not ready yet */
lbc_send_fn nlb_apply_protection;
lbc_send_fn nlb_apply_zones; /* their address type, too */
lbc_send_fn nlb_apply_ipv6_type;
lbc_send_fn nlb_apply_fields;
lbc_send_fn nlb_apply_join;
lbc_send_fn nlb_apply_leave;
lbc_done_fn nlb_apply_address_type_done;
lbc_done_fn nlb_apply_zones_done;
lbc_done_fn nlb_apply_fields_done;
lbc_done_fn nlb_apply_detach_done;
lbc_done_fn nlb_apply_join_done;

/* --- apply_ranges.c: the security group for source ranges --- */

lbc_send_fn nlb_apply_create_security_group;
lbc_send_fn nlb_apply_rules; /* added, removed */
lbc_send_fn nlb_apply_modify_rule;
lbc_send_fn nlb_apply_rename_security_group;
lbc_send_fn nlb_apply_delete_security_group;
lbc_send_fn nlb_apply_untag_security_group;
lbc_done_fn nlb_apply_create_security_group_done;
lbc_done_fn nlb_apply_rules_done;
lbc_done_fn nlb_apply_rename_security_group_done;
lbc_done_fn nlb_apply_security_group_gone;

/* --- apply_group.c: server groups and servers --- */

lbc_send_fn nlb_apply_create_group;
lbc_send_fn nlb_apply_untag_group;
lbc_done_fn nlb_apply_create_group_done;
lbc_done_fn nlb_apply_untag_group_done;

/* --- apply_listener.c: listeners and their additional certificates --- */

lbc_done_fn nlb_apply_certs_done;

#endif
