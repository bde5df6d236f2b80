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
    /* lb: what creation should ask for and, where told, what holds for an existing one; lb.lbc.id:
     * that of a reused one. groups, listeners: all. guard: rules, when source ranges are served. */
    struct nlb_state want;
    bool zones_explicit;  /* annotation zone-maps is there */
    bool groups_explicit; /* annotation security-group-ids is there, also when empty */
    bool tags_explicit;   /* annotation additional-resource-tags is there */
    bool keep_security;   /* security groups or source ranges cannot be used: all of them stay */
};

/* The load balancer's part of a model: what annotations say about it. Used alone for a deletion.
 * 0 or -ENOMEM; what cannot be used is passed over. */
CCM_NODISCARD int nlb_model_lb(struct nlb_model *model, const struct ccm_service *service,
                               const char *resource_group);

/* For a deletion: add the groups that annotation vgroup-port names to model->want, by id and
 * nothing else, so that they are read and our servers in them are found. 0 or -ENOMEM. */
CCM_NODISCARD int nlb_model_chosen(struct nlb_model *model, const struct ccm_service *service);

/* What lbc_model_keep_lb() leaves: zones and security groups are not to be changed, either. */
void nlb_model_keep_lb(struct lbc_model *base);

/*
 * Build all but the servers. What cannot be used of the annotations is told elsewhere
 * (lbc/model/refusal.h), and what it decides about stays as it is. What is wrong with one port goes
 * to `problems` and leaves the others alone (the listener is there then, but broken). 0, or
 * negative with err. The caller finishes the model in any case; the objects of `in` must live as
 * long.
 */
CCM_NODISCARD int nlb_model_begin(struct nlb_model *model, const struct nlb_model_input *in,
                                  struct lbc_problems *problems, struct ccm_error *err);

/* One that does not exist, that a controller made, that another load balancer uses, or of another
 * type than told cannot be used. */
lbc_check_group_fn nlb_model_check_group;

static inline void nlb_model_fini(struct nlb_model *model)
{
    lbc_model_fini(&model->lbc);
}

#endif
