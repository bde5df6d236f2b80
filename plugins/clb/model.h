/*
 * What a Service wants. Pure but for nothing: candidates in, desired state out; resolving pod
 * addresses happens between begin and finish. One thread.
 */
#ifndef CCM_CLB_MODEL_H
#define CCM_CLB_MODEL_H

#include "lbc/model/allow.h"
#include "lbc/model/problem.h"
#include "lbc/model/resolve.h"
#include "lbc/refusal.h"
#include "state.h"

/* Everything the model is made from; borrowed. */
struct clb_model_input {
    const struct ccm_service *service;  /* without annotations that cannot be used */
    const struct lbc_refusals *refused; /* those annotations; NULL = none */
    const struct ccm_object *const *nodes;
    size_t node_count;
    const struct ccm_object *const *slices;
    size_t slice_count;
    const struct ccm_strmap *accepted; /* pods that count as ready all the same; may be NULL */
    const char *cluster_id;
    bool default_eni;
    unsigned extras; /* CLB_EXTRA_* */
};

struct clb_model {
    struct clb_state want;       /* groups and listeners; lb holds what creation should ask for */
    struct lbc_candidates *sets; /* sets[i] belongs to want.lbc.groups[i] */
    struct lbc_node_table nodes; /* sets borrow from it */
    bool incomplete;             /* a port failed: unneeded groups are not cleaned up */
    unsigned explicit;    /* 1 << enum clb_lb_field_id: holds for an existing load balancer */
    bool reused;          /* it is somebody else's load balancer, want.lb.id says which */
    bool override;        /* manage listeners of a reused one */
    bool as_it_is;        /* what a person made on a reused one is not ours to change */
    bool mismatch;        /* a reused one of another network than asked for: not published */
    bool preserve;        /* keep it when the Service goes */
    bool show_eip;        /* in the status */
    const char *hostname; /* in the status; borrowed, "" = none */
    bool keep_weights;
    bool peer_weights;      /* the rule is not known: new backends get the weight of present ones */
    bool keep_backends;     /* who should be one is not known: all groups stay as they are */
    bool keep_version;      /* the address family was asked for, but cannot be told */
    bool keep_status;       /* so was what the status is to show */
    struct lbc_allow allow; /* groups that a person may choose; zeroed: all */
    struct lbc_weight_rule weight;
    bool ipv6; /* backends */
};

/* The load balancer's part of a model: what annotations say about it. Used alone for a deletion.
 * 0 or -ENOMEM. */
CCM_NODISCARD int clb_model_lb(struct clb_model *model, const struct ccm_service *service);
/* Nothing of somebody else's load balancer is to be changed; its address type is still compared. */
void clb_model_keep_lb(struct clb_model *model);
/* Whether listeners are ours to manage. */
bool clb_model_has_listeners(const struct clb_model *model);

/*
 * Build all but the backends. What cannot be used of the annotations is told elsewhere
 * (lbc/refusal.h), and what it decides about stays as it is. What is wrong with one port goes
 * to `problems` and leaves the others alone. 0, or -ENOMEM with err. The caller finishes the model
 * in any case; the objects of `in` must live as long.
 */
CCM_NODISCARD int clb_model_begin(struct clb_model *model, const struct clb_model_input *in,
                                  struct lbc_problems *problems, struct ccm_error *err);

/*
 * Compare chosen groups (annotation vgroup-port) with what is there: one that does not exist, or
 * that a controller made, is a problem of its ports, which are left as they are then.
 */
void clb_model_check_groups(struct clb_model *model, const struct clb_state *have,
                            struct lbc_problems *problems);

/* Move the resolved backends in; resolved[i] belongs to want.lbc.groups[i] and is emptied of them.
 */
void clb_model_finish(struct clb_model *model, struct lbc_resolved *resolved);

void clb_model_fini(struct clb_model *model);

#endif
