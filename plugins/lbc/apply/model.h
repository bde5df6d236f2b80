/*
 * What a Service wants of a load balancer of any product: switches and candidates. A product's own
 * model begins with it and holds the desired state beside it. Pure. One thread.
 */
#ifndef CCM_LBC_APPLY_MODEL_H
#define CCM_LBC_APPLY_MODEL_H

#include "lbc/apply/state.h"
#include "lbc/model/allow.h"
#include "lbc/model/refusal.h"
#include "lbc/model/resolve.h"

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
    bool default_eni;
};

struct lbc_model {
    struct lbc_state *want;      /* what is desired, in the product's model */
    struct lbc_candidates *sets; /* sets[i] belongs to want->groups[i] */
    size_t set_cap;
    struct lbc_node_table nodes; /* sets borrow from it */
    bool incomplete;             /* a port failed: what is not desired stays */
    unsigned explicit; /* 1 << the product's row: a person asked for it, so it holds for an existing
                          load balancer, too */
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
void lbc_model_init(struct lbc_model *model, struct lbc_state *want,
                    const struct ccm_service *service);
/* All but what is desired. */
void lbc_model_fini(struct lbc_model *model);

/* Whether listeners are ours to manage. */
bool lbc_model_has_listeners(const struct lbc_model *model);

/* Move the resolved backends in; resolved[i] belongs to want->groups[i] and is emptied of them. */
void lbc_model_finish(struct lbc_model *model, struct lbc_resolved *resolved);

#endif
