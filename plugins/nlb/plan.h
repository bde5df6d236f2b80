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
 *   an annotation asked for it (`told` of present attributes and load balancers,
 * nlb_plan_record_explicit()), and the annotation is gone, switches and numbers of our own objects
 * go back to the documented defaults. Not so what would open something up or weaken it: address
 * types, the check of client certificates, the cipher policy.
 * - A listener that somebody stopped stays stopped; it is changed like a running one.
 * - The security group for source ranges is complete before it is joined, and it is joined before
 *   anything else is done. Its rules that let nobody in are never missing while it is joined. No
 *   listener is created after a failure to make, fill or join a security group (`guarded`).
 * - On our own load balancer every listener that no port wants is deleted, whoever made it; on
 *   somebody else's only ours are.
 */
#ifndef CCM_NLB_PLAN_H
#define CCM_NLB_PLAN_H

#include "lbc/model/freeze.h"
#include "lbc/taken.h"
#include "model.h"
#include "util/buf.h"

enum nlb_step_type {
    NLB_STEP_CREATE_LB, /* `lb`, `tags` beside our marks */
    NLB_STEP_TAG,
    NLB_STEP_UNTAG,
    NLB_STEP_PROTECT, /* `lb`: deletion protection and modification protection as they shall be */
    NLB_STEP_ADDRESS_TYPE,
    NLB_STEP_ZONES,     /* `lb.zones`: all of them */
    NLB_STEP_IPV6,      /* address type of IPv6 */
    NLB_STEP_ATTRIBUTE, /* name, cross-zone */
    NLB_STEP_DETACH,    /* bandwidth package `value` */
    NLB_STEP_ATTACH,
    NLB_STEP_CREATE_SECURITY_GROUP, /* `guard`: name, description */
    NLB_STEP_ADD_RULES,             /* `guard.rules` */
    NLB_STEP_MODIFY_RULE,           /* `guard.rules[0]`, with its id */
    NLB_STEP_REMOVE_RULES,
    NLB_STEP_RENAME_SECURITY_GROUP,
    NLB_STEP_JOIN, /* `texts`: security groups; guard: ours too, which an earlier step may make */
    NLB_STEP_LEAVE,
    NLB_STEP_DELETE_LISTENER,
    NLB_STEP_CREATE_GROUP,
    NLB_STEP_UPDATE_GROUP, /* `group`: present attributes (as far as they are not old) overlaid
                              with wanted ones */
    NLB_STEP_ADD,
    NLB_STEP_REMOVE,
    NLB_STEP_UPDATE, /* weights and descriptions of servers */
    NLB_STEP_CREATE_LISTENER,
    NLB_STEP_UPDATE_LISTENER, /* `listener`: the same */
    NLB_STEP_ADD_CERTS,       /* `texts`, at most NLB_CERTS_MAX */
    NLB_STEP_REMOVE_CERTS,
    NLB_STEP_DELETE_LB,
    NLB_STEP_UNTAG_GROUP, /* ownership tags off a group that is kept */
    NLB_STEP_DELETE_GROUP,
    NLB_STEP_DELETE_SECURITY_GROUP,
};

struct nlb_step {
    enum nlb_step_type type;
    unsigned stage;      /* never smaller than that of the step before */
    bool last;           /* only when everything of earlier stages went well */
    bool needs_security; /* only when every earlier step that nlb_step_secures() went well */
    uint16_t port;       /* whom a failure is told about; 0 = the load balancer */
    enum lbc_protocol protocol;
    char *id;     /* of the group or listener; NULL: made by an earlier step, look it up */
    char *value;  /* of DETACH, ATTACH, ADDRESS_TYPE, IPV6, CREATE_LB (address type) */
    char *change; /* what becomes different, for people: "IdleTimeout 900 -> 300" */
    bool with_security_group; /* JOIN, LEAVE */
    struct lbc_tags tags;
    struct lbc_texts texts;
    struct nlb_lb lb; /* PROTECT, ATTRIBUTE: fields that change. ADDRESS_TYPE: zones with their
                         elastic addresses, where told */
    struct nlb_group group; /* also who an ADD/REMOVE/UPDATE is for, and whom a listener sends to,
                               for nlb_state_group_for(); backends: this batch; name: what they are
                               described by, also in a group that is called differently */
    struct nlb_listener listener;
    struct nlb_security_group security_group;
};

struct nlb_plan {
    struct nlb_step *steps;
    size_t len;
    size_t cap;
    struct lbc_texts waiting; /* ids of groups that a wanted server is still being taken out of:
                                 they have to be read again, for it to be added when it is gone */
    bool blocked; /* a port is refused because of a listener that is not the Service's */
};

struct nlb_plan_input {
    const struct nlb_model *model;
    const struct nlb_state *have;
    const struct ccm_service *service;
    const char *cluster_id;
    const struct lbc_tags *applied; /* additional tags that we put on earlier; NULL = not known */
    size_t batch;                   /* servers per call */
    bool fresh;                     /* `have` was read in this pass */
    bool restores;                  /* listeners that were taken over are put back */
    bool cannot_restore;            /* the cloud refuses that */
};

/*
 * The way from `have` to the model. On somebody else's load balancer a Service changes nothing but
 * its own as long as one of its ports is refused. What must not be done (immutable attributes, a
 * port that another Service holds) goes to `problems`, the rest is planned. 0 or -ENOMEM. The
 * caller finishes the plan in any case.
 */
CCM_NODISCARD int nlb_plan_ensure(struct nlb_plan *plan, const struct nlb_plan_input *in,
                                  struct lbc_problems *problems);

/* What the plan would remove from the present group that serves where `want` is desired, told by
 * ret->id: NULL when nothing could be, by whatever reason. 0 or -ENOMEM. The caller, who has zeroed
 * `ret`, hands it on to lbc_freeze_add(). */
CCM_NODISCARD int nlb_plan_leaving(const struct nlb_plan_input *in, struct nlb_group *want,
                                   struct lbc_freeze_group *ret);

/* Delete the load balancer, then our groups and security group; what is not there is left out. */
CCM_NODISCARD int nlb_plan_delete(struct nlb_plan *plan, const struct nlb_plan_input *in);

/* Keep the load balancer with all that serves, and let go of it: protections and ownership tags. */
CCM_NODISCARD int nlb_plan_preserve(struct nlb_plan *plan, const struct nlb_plan_input *in);

/* Take what is ours out of somebody else's load balancer. */
CCM_NODISCARD int nlb_plan_leave(struct nlb_plan *plan, const struct nlb_plan_input *in);

/* The listeners of persons that the plan takes over, with what they are now. 0 or -ENOMEM. The
 * caller finishes the list in any case. */
CCM_NODISCARD int nlb_plan_list_taken(const struct nlb_plan *plan, const struct nlb_plan_input *in,
                                      struct lbc_taken_list *ret);
/* How a listener is called in what is kept about it. */
void nlb_taken_port(const struct nlb_listener *listener, char ret[static LBC_TAKEN_PORT]);

/* After a run: mark in what is there (the mirror) what a person asks for at present. */
void nlb_plan_record_explicit(struct nlb_state *have, const struct nlb_model *model);

void nlb_plan_fini(struct nlb_plan *plan);

/* One line per step. */
void nlb_plan_print(const struct nlb_plan *plan, struct ccm_buf *text);
/* What a step does, in two or three words, for messages. */
const char *nlb_step_name(enum nlb_step_type type);
/* Whether it keeps somebody out: it makes, fills or joins a security group. */
bool nlb_step_secures(enum nlb_step_type type);

#endif
