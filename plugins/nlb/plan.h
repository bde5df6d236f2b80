/*
 * From what is wanted and what is there to an ordered list of calls, as data: printed by a dry run,
 * executed by apply.c. Pure. One thread.
 *
 * Steps carry a stage. Steps of one stage do not depend on one another: all of them are sent, then
 * their jobs are waited for together, then the next stage begins. No two steps of a stage change
 * the same group, listener or load balancer, because a resource takes one job at a time.
 *
 * What is decided here:
 * - A value that no annotation tells is left alone, so taking a cluster over writes nothing, and
 *   what people set in the console survives a restart. Where we know that a value is there because
 *   an annotation asked for it (`explicit` of present attributes and load balancers,
 *   nlb_plan_record_explicit()), and the annotation is gone, switches and numbers of our own
 *   objects go back to the documented defaults. Not so what would open something up or weaken it:
 *   address types, the check of client certificates, the cipher policy.
 * - A listener that somebody stopped stays stopped; it is changed like a running one.
 * - The security group for source ranges is complete before it is joined, and it is joined before
 *   anything else is done. Its rules that let nobody in are never missing while it is joined. No
 *   listener is created after a failure to make, fill or join a security group (`needs_security`).
 * - On our own load balancer every listener that no port wants is deleted, whoever made it; on
 *   somebody else's only ours are.
 */
#ifndef CCM_NLB_PLAN_H
#define CCM_NLB_PLAN_H

#include "lbc/apply/plan.h"
#include "model.h"
#include "util/buf.h"

enum nlb_step_type {
    NLB_STEP_PROTECT =
        LBC_STEP_OWN,      /* `lb`: deletion and modification protection as they shall be */
    NLB_STEP_ADDRESS_TYPE, /* `value` */
    NLB_STEP_ZONES,        /* `lb.zones`: all of them */
    NLB_STEP_IPV6,         /* address type of IPv6: `value` */
    NLB_STEP_ATTRIBUTE,    /* name, cross-zone */
    NLB_STEP_DETACH,       /* bandwidth package `value` */
    NLB_STEP_ATTACH,
    NLB_STEP_CREATE_SECURITY_GROUP, /* `security_group`: name, description */
    NLB_STEP_ADD_RULES,             /* `security_group.rules` */
    NLB_STEP_MODIFY_RULE,           /* `security_group.rules[0]`, with its id */
    NLB_STEP_REMOVE_RULES,
    NLB_STEP_RENAME_SECURITY_GROUP,
    NLB_STEP_DELETE_SECURITY_GROUP,
    NLB_STEP_JOIN, /* `texts`: security groups; with_security_group: ours too, which an earlier
                      step may make */
    NLB_STEP_LEAVE,
    NLB_STEP_ADD_CERTS, /* `texts`, at most NLB_CERTS_MAX */
    NLB_STEP_REMOVE_CERTS,
    NLB_STEP_UNTAG_SECURITY_GROUP, /* ownership tags off one that is kept */
    NLB_STEP_UNTAG_GROUP,          /* the same */
};

struct nlb_step {
    struct lbc_step lbc;
    bool with_security_group; /* JOIN, LEAVE */
    struct nlb_lb lb; /* CREATE_LB. PROTECT, ATTRIBUTE: fields that change. ADDRESS_TYPE: zones with
                         their elastic addresses, where explicit */
    struct nlb_security_group security_group;
};

extern const struct lbc_step_table nlb_steps;

static inline const struct nlb_step *nlb_step_at(const struct lbc_plan *plan, size_t i)
{
    return (const struct nlb_step *)plan->steps[i];
}

extern const struct lbc_plan_ops nlb_plan_ops;

/* After a run: mark in what is there (the mirror) what a person asks for at present. */
void nlb_plan_record_explicit(struct nlb_state *have, const struct nlb_model *model);

#endif
