/*
 * From what is wanted and what is there to an ordered list of calls, as data: printed by a dry run,
 * executed by apply.c. Pure. One thread.
 */
#ifndef CCM_CLB_PLAN_H
#define CCM_CLB_PLAN_H

#include "lbc/apply/order.h"
#include "lbc/apply/step.h"
#include "lbc/apply/taken.h"
#include "lbc/model/freeze.h"
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

struct clb_plan_input {
    const struct clb_model *model;
    const struct clb_state *have;
    const struct ccm_service *service;
    const char *cluster_id;
    const struct lbc_tags *applied; /* additional tags that we put on earlier; NULL = not known */
    const struct lbc_order *order;  /* of traffic charge and bandwidth; NULL = there is none */
    int64_t now_ms;                 /* monotonic; only with an order */
    size_t batch;                   /* backends per call */
    bool fresh;                     /* `have` was read in this pass */
    bool last_user;                 /* a release: nobody else uses the load balancer */
    bool restores;       /* listeners that were taken over are put back, or else not taken over */
    bool cannot_restore; /* the cloud refuses that */
};

/*
 * The way from `have` to the model. On somebody else's load balancer a Service changes nothing but
 * its own as long as one of its ports is refused. What must not be done (immutable attributes, a
 * port that another Service holds) goes to `problems`, the rest is planned. 0 or -ENOMEM. The
 * caller finishes the plan in any case.
 */
CCM_NODISCARD int clb_plan_ensure(struct lbc_plan *plan, const struct clb_plan_input *in,
                                  struct lbc_problems *problems);

/* See lbc_plan_leaving(). */
CCM_NODISCARD int clb_plan_leaving(const struct clb_plan_input *in, struct lbc_group *want,
                                   struct lbc_freeze_group *ret);

/* Delete the load balancer with all that is in it; empty when there is none. */
CCM_NODISCARD int clb_plan_delete(struct lbc_plan *plan, const struct clb_state *have);

/* Keep the load balancer with all that serves, and let go of it: protections and ownership tags. */
CCM_NODISCARD int clb_plan_preserve(struct lbc_plan *plan, const struct clb_plan_input *in);

/* Take what is ours out of somebody else's load balancer. The model is that of clb_model_lb(). */
CCM_NODISCARD int clb_plan_leave(struct lbc_plan *plan, const struct clb_plan_input *in);

/* See lbc_plan_list_taken(). */
CCM_NODISCARD int clb_plan_list_taken(struct lbc_plan *plan, const struct clb_plan_input *in,
                                      struct lbc_taken_list *ret);
/* How a listener is called in what is kept about it. */
void clb_taken_port(const struct lbc_listener *listener, char ret[static LBC_TAKEN_PORT]);

#endif
