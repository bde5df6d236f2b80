/*
 * What a Service wants of a load balancer of any product: switches, candidates, and the groups of
 * its ports. A product's own model begins with it and holds the desired state beside it. Pure. One
 * thread.
 */
#ifndef CCM_LBC_APPLY_MODEL_H
#define CCM_LBC_APPLY_MODEL_H

#include "lbc/apply/state.h"
#include "lbc/model/problem.h"
#include "lbc/model/resolve.h"
#include "lbc/model/settings.h"
#include "lbc/rules/allow.h"
#include "lbc/rules/lint.h"
#include "lbc/rules/refusal.h"

/* What a model is made from; borrowed. A release has no nodes, slices and refusals. */
struct lbc_model_input {
    const struct ccm_service *service;  /* without annotations that cannot be used */
    const struct lbc_refusals *refused; /* those annotations; NULL = none */
    const struct ccm_object *const *nodes;
    size_t node_count;
    const struct ccm_object *const *slices;
    size_t slice_count;
    const struct ccm_strmap *accepted; /* pods that count as ready all the same; may be NULL */
    lbc_judge_fn *judge;               /* as in struct lbc_candidate_input, with the next */
    void *judge_self;
    const char *cluster_id;
    const char *resource_group; /* of the account, for what is made; NULL or "" = none */
    unsigned extras;            /* as in struct lbc_instance */
    bool pods_by_default;
    bool pods_only;         /* as in struct lbc_candidate_input */
    struct lbc_allow allow; /* that of the model */
    /* Where annotations do not say it, ports are served as they are now, see lbc_plan_follow():
     * what the cloud holds, and the group there whose type and address family all groups keep, NULL
     * = there is none. NULL: annotations say all. */
    const struct lbc_state *present;
    const struct lbc_group *shown;
    const char *lb_id; /* the load balancer of a person that is used, "" = its own; NULL = as
                          annotation id says */
};

struct lbc_model_ops;

struct lbc_model {
    const struct lbc_model_ops *ops;
    const struct lbc_state_type *type;
    struct lbc_state *want;      /* what is desired, in the product's model */
    struct lbc_candidates *sets; /* sets[i] belongs to want->groups[i] */
    size_t set_cap;
    struct lbc_node_table nodes; /* sets borrow from it */
    bool incomplete;             /* a port failed: what is not desired stays */
    unsigned explicit; /* 1 << the product's row: a person asked for it, so it holds for an existing
                          load balancer, too */
    unsigned kept;     /* 1 << the same: asked for in a way that cannot be used, so it stays */
    bool reused;       /* it is somebody else's load balancer, the desired id says which */
    bool override;     /* manage listeners of a reused one */
    bool as_it_is;     /* what a person made on a reused one is not ours to change */
    bool mismatch;     /* a reused one of another network than asked for: not published */
    bool preserve;     /* keep it when the Service goes */
    bool keep_weights; /* weights of present backends are left alone */
    bool peer_weights; /* the rule is not known: new backends get the weight of present ones */
    bool unsure; /* annotations that decide about backends cannot be used: no group is created, and
                    present ones keep their type and address family */
    bool add_none;          /* those about nodes cannot be used: none is added */
    bool backends_only;     /* nothing but backends of present groups is changed */
    bool ipv6;              /* pods are looked up by IPv6 addresses (too) */
    struct lbc_allow allow; /* what the object may name beside annotations; zeroed: all */
};

/* What annotations, rows of `table`, say about a load balancer of any product: its id, attributes
 * and tags, and what creation asks for when nobody says otherwise. Into a zeroed model whose
 * product desires `want`. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_model_init(struct lbc_model *model, const struct lbc_anno_table *table,
                                 struct lbc_state *want, const struct lbc_model_input *in);
/* Nothing of somebody else's load balancer is to be changed; attributes of `compared`, 1 << number,
 * are still compared. */
void lbc_model_keep_lb(struct lbc_model *model, unsigned compared);
/* Attributes, 1 << number, are to be as creation makes them, whether a person asks for that or
 * not. */
void lbc_model_demand(struct lbc_model *model, unsigned attributes);
/* With what is desired. What is the product's own beside that owns nothing. Zeroed is fine. */
void lbc_model_fini(struct lbc_model *model);

/* The ports that one listener is for. */
struct lbc_span {
    uint16_t start;
    uint16_t end; /* == start without a range */
    bool range;
};

/* While one is built. What a product's begin() says is IPv4, off and NULL before. */
struct lbc_builder {
    const struct lbc_model_ops *ops;
    struct lbc_model *model;
    const struct lbc_model_input *in;
    struct lbc_problems *problems;
    enum lbc_backend_mode mode;
    enum lbc_families families; /* of backends */
    bool by_address;            /* as in struct lbc_candidate_input, as the next */
    bool draining;
    bool drop_unschedulable;    /* as in struct lbc_node_rules */
    const char *other_protocol; /* how problems call what is no protocol of a listener; NULL = as
                                   the port does */
};

/* A Service port. */
struct lbc_desired_port {
    const struct ccm_service_port *port;
    uint64_t index; /* of it in the Service */
    enum lbc_protocol protocol;
    struct lbc_span span;      /* that its listener is for; 0 = the port itself */
    char chosen[LBC_PAIR_MAX]; /* group that a person chose; "" = ours */
    char *name;                /* what its group is called; owned */
    bool any_port;             /* its group is for all ports */
    bool open; /* annotations do not say what serves the port: the present group is kept in step */
    bool broken;                /* the group could not be worked out */
    enum lbc_backend_mode mode; /* that of the builder, unless what serves the port shows another */
    struct lbc_weight_rule weight;
    struct lbc_group *group; /* out; NULL = there is none */
};

void lbc_desired_port_fini(struct lbc_desired_port *want);

/* Whether a group that a person chose can be used: 0, or what is wrong with `found`, which is the
 * one of that id (NULL: there is none). Pure. */
typedef int lbc_check_group_fn(const struct lbc_model *model, const struct lbc_state *have,
                               const struct lbc_group *want, const struct lbc_group *found,
                               struct ccm_error *err);

/* An attribute of somebody else's load balancer that is never changed. */
struct lbc_fixed_attr {
    const char *what; /* "address type" */
    unsigned number;  /* see lb_attrs.h */
};

/* Of a product. Pure. */
struct lbc_model_ops {
    size_t size; /* of its own model, which begins with a struct lbc_model */
    const struct lbc_state_type *type;
    /* Which Services are the product's, annotations, what they may say, what nothing acts on. */
    const struct lbc_lint_rules *rules;
    bool any_node; /* `any_id` of struct lbc_node_rules */
    /* What annotations say about the load balancer, by lbc_model_init(); alone for a release. Into
     * a zeroed model. 0 or -ENOMEM. */
    int (*lb)(struct lbc_model *model, const struct lbc_model_input *in);
    /* What holds for all ports: members of the builder. NULL = nothing. Negative with err. */
    int (*begin)(struct lbc_builder *b, struct ccm_error *err);
    /* Who should take the traffic of a port, in place of lbc_candidates_build(), where that is not
     * the Service's to say. NULL = it is. */
    int (*candidates)(const struct lbc_candidate_input *in, const struct ccm_service_port *port,
                      struct lbc_candidates *ret, struct ccm_error *err);
    /* The Service whose node port that is, NULL = nobody's, where ports are not the Service's own.
     * NULL = they are. Says why backends leave, so that those that are only missing stay. */
    const struct ccm_service *(*find_node_port)(const struct ccm_service *service, uint16_t port);
    /* Group and listener of a port. What is wrong with it is a problem, then it is 0; else negative
     * with err. */
    int (*port)(struct lbc_builder *b, struct lbc_desired_port *want, struct ccm_error *err);
    int (*end)(struct lbc_builder *b, struct ccm_error *err); /* as begin(), behind all ports */
    lbc_check_group_fn *check_group;                          /* NULL = nobody can choose one */

    /* What of somebody else's load balancer has to be as annotations ask; ends with a NULL what. */
    const struct lbc_fixed_attr *fixed;
    /* What a person can do about one that has to be in the VPC of the cluster and is not; NULL (the
     * function too) = it may be in any. */
    const char *(*vpc_remedy)(const struct lbc_model *model, const struct lbc_lb *lb);
    /* What else of it keeps the Service from being served there, for people; pods: they are its
     * backends. NULL = nothing. */
    const char *(*unfit)(const struct lbc_model *model, const struct lbc_lb *lb, bool pods);
};

/*
 * Build all but the backends, into a product's model of any content. What cannot be used of the
 * annotations is told elsewhere (rules/refusal.h), and what it decides about stays as it is. What
 * is wrong with one port goes to `problems` and leaves the others alone. 0, or negative with err.
 * The caller finishes the model in any case; what `in` points to must live as long.
 * May block where `judge` does.
 */
CCM_NODISCARD int lbc_model_build(struct lbc_model *model, const struct lbc_model_ops *ops,
                                  const struct lbc_model_input *in, struct lbc_problems *problems,
                                  struct ccm_error *err);

/* The load balancer's part of it alone, for a release. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_model_build_lb(struct lbc_model *model, const struct lbc_model_ops *ops,
                                     const struct lbc_model_input *in);

/* --- for the ops of a product --- */

/* `chosen` of the port: annotation vgroup-port, of a load balancer where it counts. */
void lbc_model_choose_group(const struct lbc_builder *b, struct lbc_desired_port *want);
/* The group of a port, unless an earlier port has made it: one that is called the same, and is ours
 * or the same one that a person chose. *ret_fresh: it was made, and may lack what is the product's
 * own. 0, -ENOMEM, or -EINVAL with a CCM_ERROR_TERMINAL: this port has a problem. */
CCM_NODISCARD int lbc_model_group(struct lbc_builder *b, struct lbc_desired_port *want,
                                  bool *ret_fresh, struct ccm_error *err);
/* The listener of a port, with its group; `description` (heap, or NULL when there was no memory for
 * it) moves in. NULL: out of memory. */
struct lbc_listener *lbc_model_listener(struct lbc_builder *b, const struct lbc_desired_port *want,
                                        char *description);
/* err is a problem of the port: "port {number}/{protocol}: ...". */
void lbc_model_report_port(const struct lbc_builder *b, const struct lbc_desired_port *want,
                           struct ccm_error *err);
/* Attributes of a desired listener or group of that protocol, by the product's rows: as
 * lbc_attrs_add_wishes(). */
CCM_NODISCARD int lbc_model_add_attrs(const struct lbc_builder *b, enum lbc_anno_group group,
                                      enum lbc_protocol protocol, struct lbc_attrs *attrs,
                                      bool *ret_lacks);

/* --- what becomes of a model --- */

/* Compare the groups that persons chose (annotation vgroup-port) with what is there. What cannot be
 * used is a problem of its ports, which are left as they are, but for lbc_plan_follow(). */
void lbc_model_check_groups(struct lbc_model *model, const struct lbc_state *have,
                            lbc_check_group_fn *check, struct lbc_problems *problems);

/* Whether a person asked for the value of that row. */
static inline bool lbc_model_is_explicit(const struct lbc_model *model, unsigned row)
{
    return (model->explicit >> row & 1U) != 0;
}

/* Whether listeners are ours to manage. */
bool lbc_model_has_listeners(const struct lbc_model *model);

/* Move the resolved backends in; resolved[i] belongs to want->groups[i] and is emptied of them. */
void lbc_model_finish(struct lbc_model *model, struct lbc_resolved *resolved);

#endif
