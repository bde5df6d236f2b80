/*
 * What a Service wants of a load balancer of any product: switches, candidates, and the groups of
 * its ports. A product's own model begins with it and holds the desired state beside it. Pure. One
 * thread.
 */
#ifndef CCM_LBC_APPLY_MODEL_H
#define CCM_LBC_APPLY_MODEL_H

#include "lbc/apply/state.h"
#include "lbc/model/allow.h"
#include "lbc/model/problem.h"
#include "lbc/model/refusal.h"
#include "lbc/model/resolve.h"
#include "lbc/model/settings.h"

/* What a model is made from; borrowed. A product's own begins with it. */
struct lbc_model_input {
    const struct ccm_service *service;  /* without annotations that cannot be used */
    const struct lbc_refusals *refused; /* those annotations; NULL = none */
    const struct ccm_object *const *nodes;
    size_t node_count;
    const struct ccm_object *const *slices;
    size_t slice_count;
    const struct ccm_strmap *accepted; /* pods that count as ready all the same; may be NULL */
    const char *cluster_id;
    bool pods_by_default;
};

struct lbc_model {
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
    bool keep_backends;     /* who should be one is not known: all groups stay as they are */
    bool ipv6;              /* pods are looked up by IPv6 addresses (too) */
    struct lbc_allow allow; /* groups that a person may choose; zeroed: all */
};

/* What annotations say about a load balancer of any product, into a zeroed model whose product
 * desires `want`. */
void lbc_model_init(struct lbc_model *model, const struct lbc_state_type *type,
                    struct lbc_state *want, const struct ccm_service *service);
/* Nothing of somebody else's load balancer is to be changed; attributes of `compared`, 1 << number,
 * are still compared. */
void lbc_model_keep_lb(struct lbc_model *model, unsigned compared);
/* With what is desired. What is the product's own beside that owns nothing. Zeroed is fine. */
void lbc_model_fini(struct lbc_model *model);

/* While one is built; a product's own begins with it. */
struct lbc_builder {
    struct lbc_model *model;
    const struct lbc_model_input *in;
    struct lbc_problems *problems;
    enum lbc_backend_mode mode;
    enum lbc_families families; /* of backends */
    bool by_address;            /* as in struct lbc_candidate_input, as the next */
    bool draining;
};

/* A Service port; a product's own begins with it. */
struct lbc_desired_port {
    const struct ccm_service_port *port;
    enum lbc_protocol protocol;
    char chosen[LBC_PAIR_MAX]; /* group that a person chose; "" = ours */
    char *name;                /* what its group is called; owned */
    bool any_port;             /* its group is for all ports */
    bool open;   /* what is to serve the port cannot be told: what does is kept, nothing is made */
    bool broken; /* the group could not be worked out */
    struct lbc_weight_rule weight;
    struct lbc_group *group; /* out; NULL = there is none */
};

void lbc_desired_port_fini(struct lbc_desired_port *want);

/* Nodes, and what refused annotations leave as it is. 0, or -ENOMEM with err. */
CCM_NODISCARD int lbc_model_begin(struct lbc_builder *b, const struct lbc_node_rules *rules,
                                  struct ccm_error *err);
/* `chosen` of the port: annotation vgroup-port, of a load balancer where it counts. */
void lbc_model_choose_group(const struct lbc_builder *b, struct lbc_desired_port *want);
/* The group of a port, unless an earlier port has made it: one that is called the same, and is ours
 * or the same one that a person chose. *ret_fresh: it was made, and may lack what is the product's
 * own. 0, -ENOMEM, or -EINVAL with a CCM_ERROR_TERMINAL: this port has a problem. */
CCM_NODISCARD int lbc_model_group(struct lbc_builder *b, struct lbc_desired_port *want,
                                  bool *ret_fresh, struct ccm_error *err);
/* err is a problem of the port: "port {number}/{protocol}: ...". */
void lbc_model_report_port(const struct lbc_builder *b, const struct ccm_service_port *port,
                           const char *protocol, struct ccm_error *err);

/* Whether a group that a person chose can be used: 0, or what is wrong with `found`, which is the
 * one of that id (NULL: there is none). Pure. */
typedef int lbc_check_group_fn(const struct lbc_model *model, const struct lbc_state *have,
                               const struct lbc_group *want, const struct lbc_group *found,
                               struct ccm_error *err);
/* Compare the groups that persons chose (annotation vgroup-port) with what is there. What cannot be
 * used is a problem of its ports, which are left as they are. */
void lbc_model_check_groups(struct lbc_model *model, const struct lbc_state *have,
                            lbc_check_group_fn *check, struct lbc_problems *problems);

/* Attributes of a desired listener or group of that protocol, by the product's rows: as
 * lbc_attrs_add_wishes(). */
CCM_NODISCARD int lbc_model_add_attrs(const struct lbc_model_input *in,
                                      const struct lbc_anno_table *table, enum lbc_anno_group group,
                                      enum lbc_protocol protocol, struct lbc_attrs *attrs,
                                      bool *ret_lacks);

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
