/*
 * From what is wanted and what is there to an ordered list of calls, as data: printed by a dry run,
 * executed by apply.c. Pure. One thread.
 */
#ifndef CCM_CLB_PLAN_H
#define CCM_CLB_PLAN_H

#include "lbc/apply/order.h"
#include "lbc/model/freeze.h"
#include "lbc/taken.h"
#include "model.h"
#include "util/buf.h"

enum clb_step_type {
    CLB_STEP_CREATE_LB,
    CLB_STEP_TAG,   /* put `tags` on the load balancer */
    CLB_STEP_UNTAG, /* take `tags` from it, by key */
    CLB_STEP_CHARGE,
    CLB_STEP_SPEC,
    CLB_STEP_INTERNET,
    CLB_STEP_PROTECT,
    CLB_STEP_PROTECT_MODIFICATION, /* modification protection */
    CLB_STEP_RENAME,
    CLB_STEP_UNPROTECT, /* before a deletion, which makes no sense when this fails */
    CLB_STEP_DELETE_LB,
    CLB_STEP_DELETE_LISTENER,
    CLB_STEP_CREATE_GROUP, /* with its first backends */
    CLB_STEP_ADD,
    CLB_STEP_REMOVE,
    CLB_STEP_WEIGH,
    CLB_STEP_CREATE_LISTENER,
    CLB_STEP_UPDATE_LISTENER,
    CLB_STEP_RESTORE_LISTENER, /* back to what it was before it was taken over; group_id NULL: it
                                  had no server group */
    CLB_STEP_START_LISTENER,
    CLB_STEP_SET_DOMAIN, /* another certificate for a domain of an https listener */
    CLB_STEP_CREATE_DOMAIN,
    CLB_STEP_DELETE_DOMAIN,
    CLB_STEP_CREATE_ACL,
    CLB_STEP_ADD_ENTRIES,
    CLB_STEP_REMOVE_ENTRIES,
    CLB_STEP_DELETE_ACL,
    CLB_STEP_DELETE_GROUP,
};

/* One call. Steps of one group stand together: adds, then removals, then weights. */
struct clb_step {
    enum clb_step_type type;
    bool last;     /* only when everything before it went well */
    uint16_t port; /* whom a failure is told about; 0 = the load balancer */
    enum lbc_protocol protocol;
    char *group_id; /* NULL: the group is made by an earlier step, look it up by name */
    char *group_name;
    char *description; /* of its backends; NULL = group_name */
    char *value;       /* of an attribute of the load balancer */
    char *extra;       /* the second, where an action has two */
    struct lbc_tags tags;
    struct lbc_backends backends;
    struct clb_listener listener; /* create: wanted; update: present values, as far as they are not
                                     old, overlaid with wanted */
    struct clb_domain domain;     /* domain steps; the name of a new access list */
    struct lbc_texts entries;     /* of the access list */
    bool ipv6;                    /* kind of the access list */
};

struct clb_plan {
    struct clb_step *steps;
    size_t len;
    size_t cap;
    bool blocked; /* a port is refused because of a listener that is not the Service's */
};

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
CCM_NODISCARD int clb_plan_ensure(struct clb_plan *plan, const struct clb_plan_input *in,
                                  struct lbc_problems *problems);

/* What the plan would remove from the present group that serves where `want` is desired, told by
 * ret->id: NULL when nothing could be, by whatever reason. 0 or -ENOMEM. The caller, who has zeroed
 * `ret`, hands it on to lbc_freeze_add(). */
CCM_NODISCARD int clb_plan_leaving(const struct clb_plan_input *in, struct lbc_group *want,
                                   struct lbc_freeze_group *ret);

/* Delete the load balancer with all that is in it; empty when there is none. */
CCM_NODISCARD int clb_plan_delete(struct clb_plan *plan, const struct clb_state *have);

/* Keep the load balancer with all that serves, and let go of it: protections and ownership tags. */
CCM_NODISCARD int clb_plan_preserve(struct clb_plan *plan, const struct clb_plan_input *in);

/* Take what is ours out of somebody else's load balancer. The model is that of clb_model_lb(). */
CCM_NODISCARD int clb_plan_leave(struct clb_plan *plan, const struct clb_plan_input *in);

/* The listeners of persons that the plan takes over, with what they are now. 0 or -ENOMEM. The
 * caller finishes the list in any case. */
CCM_NODISCARD int clb_plan_list_taken(const struct clb_plan *plan, const struct clb_plan_input *in,
                                      struct lbc_taken_list *ret);
/* How a listener is called in what is kept about it. */
void clb_taken_port(uint16_t port, enum lbc_protocol protocol, char ret[static LBC_TAKEN_PORT]);

void clb_plan_fini(struct clb_plan *plan);

/* One line per step. `in` (what the plan was made from): with present values of what changes, and
 * attributes of what is made; NULL: without. */
void clb_plan_print(const struct clb_plan *plan, const struct clb_plan_input *in,
                    struct ccm_buf *text);
/* What a step does, in two or three words, for messages. */
const char *clb_step_name(enum clb_step_type type);

#endif
