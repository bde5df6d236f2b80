/*
 * From what is wanted and what is there to an ordered list of calls, as data: printed by a dry run,
 * executed by apply.c. Pure. One thread.
 */
#ifndef CCM_CLB_PLAN_H
#define CCM_CLB_PLAN_H

#include "model.h"
#include "util/buf.h"

enum clb_step_type {
    CLB_STEP_CREATE_LB,
    CLB_STEP_TAG, /* put the ownership tag back */
    CLB_STEP_RENAME,
    CLB_STEP_UNPROTECT,
    CLB_STEP_DELETE_LB,
    CLB_STEP_DELETE_LISTENER,
    CLB_STEP_CREATE_GROUP, /* with its first backends */
    CLB_STEP_ADD,
    CLB_STEP_REMOVE,
    CLB_STEP_WEIGH,
    CLB_STEP_CREATE_LISTENER,
    CLB_STEP_UPDATE_LISTENER,
    CLB_STEP_START_LISTENER,
    CLB_STEP_DELETE_GROUP,
};

/* One call. Steps of one group stand together: adds, then removals, then weights. */
struct clb_step {
    enum clb_step_type type;
    bool last;     /* only when everything before it went well */
    uint16_t port; /* whom a failure is told about; 0 = the load balancer */
    enum clb_protocol protocol;
    char *group_id; /* NULL: the group is made by an earlier step, look it up by name */
    char *group_name;
    struct ccm_backends backends;
    struct clb_listener listener; /* create: wanted; update: present values overlaid with wanted */
};

struct clb_plan {
    struct clb_step *steps;
    size_t len;
    size_t cap;
};

struct clb_plan_input {
    const struct clb_model *model;
    const struct clb_state *have;
    const struct ccm_service *service;
    const char *cluster_id;
    size_t batch; /* backends per call */
};

/*
 * The way from `have` to the model. What must not be done (immutable attributes, a port that
 * another Service holds) goes to `problems`, the rest is planned. 0 or -ENOMEM. The caller finishes
 * the plan in any case.
 */
CCM_NODISCARD int clb_plan_ensure(struct clb_plan *plan, const struct clb_plan_input *in,
                                  struct ccm_problems *problems);

/* Delete the load balancer with all that is in it; empty when there is none. */
CCM_NODISCARD int clb_plan_delete(struct clb_plan *plan, const struct clb_state *have);

void clb_plan_fini(struct clb_plan *plan);

/* One line per step. */
void clb_plan_print(const struct clb_plan *plan, struct ccm_buf *text);
/* What a step does, in two or three words, for messages. */
const char *clb_step_name(enum clb_step_type type);

#endif
