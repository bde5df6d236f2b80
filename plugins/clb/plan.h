/*
 * From what is wanted and what is there to an ordered list of calls, as data: printed by a dry run,
 * executed by apply.c. Pure. One thread.
 */
#ifndef CCM_CLB_PLAN_H
#define CCM_CLB_PLAN_H

#include "lbc/apply/plan.h"
#include "model.h"
#include "util/buf.h"

enum clb_step_type {
    CLB_STEP_CHARGE = LBC_STEP_OWN,
    CLB_STEP_SPEC,
    CLB_STEP_INTERNET,
    CLB_STEP_PROTECT,
    CLB_STEP_PROTECT_MODIFICATION, /* modification protection */
    CLB_STEP_RENAME,
    CLB_STEP_UNPROTECT, /* before a deletion, which makes no sense when this fails */
    CLB_STEP_START_LISTENER,
    CLB_STEP_SET_DOMAIN, /* another certificate for a domain of an https listener */
    CLB_STEP_CREATE_DOMAIN,
    CLB_STEP_DELETE_DOMAIN,
    CLB_STEP_CREATE_ACL,
    CLB_STEP_ADD_ENTRIES, /* `texts` of the access list */
    CLB_STEP_REMOVE_ENTRIES,
    CLB_STEP_DELETE_ACL,
};

/* One call. Steps of one group stand together: adds, then removals, then weights. */
struct clb_step {
    struct lbc_step lbc;
    char *extra;                  /* the second value, where an action has two */
    struct clb_listener listener; /* create: wanted; update: present values, as far as they are not
                                     old, overlaid with wanted */
    struct clb_domain domain;     /* domain steps; the name of a new access list */
    bool ipv6;                    /* kind of the access list */
};

extern const struct lbc_step_table clb_steps;

static inline const struct clb_step *clb_step_at(const struct lbc_plan *plan, size_t i)
{
    return (const struct clb_step *)plan->steps[i];
}

extern const struct lbc_plan_ops clb_plan_ops;

#endif
