/*
 * What a Service wants. Pure: candidates in, desired state out; resolving pod addresses happens
 * between begin and finish. One thread.
 */
#ifndef CCM_NLB_MODEL_H
#define CCM_NLB_MODEL_H

#include "lbc/apply/model.h"
#include "state.h"

struct nlb_model_input {
    struct lbc_model_input lbc;
    const char *resource_group; /* of the configuration, "" = none */
};

struct nlb_model {
    struct lbc_model lbc;
    /* lb: what creation should ask for and, where told, what holds for an existing one; lb.id: that
     * of a reused one. groups, listeners: all. guard: rules, when source ranges are served. */
    struct nlb_state want;
    bool zones_explicit;  /* annotation zone-maps is there */
    bool groups_explicit; /* annotation security-group-ids is there, also when empty */
    bool tags_explicit;   /* annotation additional-resource-tags is there */
    unsigned kept;        /* 1 << enum nlb_lb_field: asked for in a way that cannot be used */
    bool keep_security;   /* so are security groups or source ranges: all of them stay */
};

/* The load balancer's part of a model: what annotations say about it. Used alone for a deletion.
 * 0 or -ENOMEM; what cannot be used is passed over. */
CCM_NODISCARD int nlb_model_lb(struct nlb_model *model, const struct ccm_service *service,
                               const char *resource_group);

/* For a deletion: add the groups that annotation vgroup-port names to model->want, by id and
 * nothing else, so that they are read and our servers in them are found. 0 or -ENOMEM. */
CCM_NODISCARD int nlb_model_chosen(struct nlb_model *model, const struct ccm_service *service);

/* Nothing of somebody else's load balancer is to be changed; its address types are still compared.
 */
void nlb_model_keep_lb(struct nlb_model *model);

/*
 * Build all but the servers. What cannot be used of the annotations is told elsewhere
 * (lbc/model/refusal.h), and what it decides about stays as it is. What is wrong with one port goes
 * to `problems` and leaves the others alone (the listener is there then, but broken). 0, or
 * negative with err. The caller finishes the model in any case; the objects of `in` must live as
 * long.
 */
CCM_NODISCARD int nlb_model_begin(struct nlb_model *model, const struct nlb_model_input *in,
                                  struct lbc_problems *problems, struct ccm_error *err);

/* Compare chosen groups (annotation vgroup-port) with what is there: one that does not exist, that
 * a controller made, or of another type than told, is a problem of its ports, which are left as
 * they are then. */
void nlb_model_check_groups(struct nlb_model *model, const struct nlb_state *have,
                            struct lbc_problems *problems);

void nlb_model_fini(struct nlb_model *model);

#endif
