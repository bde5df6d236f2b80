/*
 * How each type of step is carried out (struct lbc_step_ops), and what the parts of apply.c share.
 * ..._done brings the mirror in line. One thread per pass.
 */
#ifndef CCM_CLB_APPLY_PARTS_H
#define CCM_CLB_APPLY_PARTS_H

#include "apply.h"

/* What the cloud holds. */
static inline struct clb_state *clb_apply_have(const struct lbc_apply *apply)
{
    return (struct clb_state *)apply->have;
}

/* What is desired; not in a release. */
static inline const struct clb_model *clb_apply_model(const struct lbc_apply *apply)
{
    return (const struct clb_model *)apply->model;
}

/* --- apply_lb.c: the load balancer and its tags --- */

lbc_send_fn clb_apply_create_lb;
lbc_done_fn clb_apply_internet_done;
lbc_done_fn clb_apply_unprotect_done;

/* --- apply_group.c: groups and their backends, these in portions of the batch size, which may have
 * become smaller since the plan was made --- */

/* Those of a new group: fill() of struct alilb_step_row. */
void clb_apply_add_backends(const struct lbc_step *step, struct ali_params *params);
lbc_send_fn clb_apply_backends;

/* --- apply_listener.c: listeners and their domain extensions --- */

lbc_send_fn clb_apply_listener; /* made, changed, put back */
lbc_send_fn clb_apply_domain;
/* A new listener is in the mirror, with what the cloud gives it. */
lbc_done_fn clb_apply_new_listener_done;
lbc_done_fn clb_apply_start_listener_done;
lbc_done_fn clb_apply_domain_done;
/* Whether what a step about listeners or access lists needs is missing. */
bool clb_apply_is_blocked(const struct lbc_apply *apply, const struct lbc_step *step);

/* --- apply_ranges.c: the access list of spec.loadBalancerSourceRanges --- */

lbc_send_fn clb_apply_create_acl;
lbc_send_fn clb_apply_acl_entries;
lbc_send_fn clb_apply_delete_acl;
lbc_done_fn clb_apply_acl_entries_done;

#endif
