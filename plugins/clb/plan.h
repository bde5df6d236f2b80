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
    CLB_STEP_SET_DOMAIN, /* `tags`: a domain of an https listener, and its other certificate */
    CLB_STEP_CREATE_DOMAIN,
    CLB_STEP_DELETE_DOMAIN,
    CLB_STEP_CREATE_ACL,  /* `value`: its name */
    CLB_STEP_ADD_ENTRIES, /* `texts` of the access list */
    CLB_STEP_REMOVE_ENTRIES,
    CLB_STEP_DELETE_ACL,
};

/* Steps are struct lbc_step: one call each. Those of one group stand together: adds, then removals,
 * then weights. `to` of a listener that is updated has the desired value of each attribute that the
 * Service decides about, and the actual one of all others. */
extern const struct lbc_step_table clb_steps;
extern const struct lbc_plan_ops clb_plan_ops;

#endif
