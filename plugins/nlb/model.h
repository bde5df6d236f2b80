/* What a Service wants of NLB: what lbc_model_build() makes by nlb_model_ops. Pure. One thread. */
#ifndef CCM_NLB_MODEL_H
#define CCM_NLB_MODEL_H

#include "lbc/apply/model.h"
#include "state.h"

struct nlb_model {
    struct lbc_model lbc;
    /* lb: what creation should ask for and, where told, what holds for an existing one; lb.lbc.id:
     * that of a reused one. groups, listeners: all. guard: rules, when source ranges are served. */
    struct nlb_state want;
    bool zones_explicit;  /* annotation zone-maps is there */
    bool groups_explicit; /* annotation security-group-ids is there, also when empty */
    bool keep_security;   /* security groups or source ranges cannot be used: all of them stay */
};

extern const struct lbc_model_ops nlb_model_ops;

/* For a deletion: add the groups that annotation vgroup-port names to model->want, by id and
 * nothing else, so that they are read and our servers in them are found. 0 or -ENOMEM. */
CCM_NODISCARD int nlb_model_chosen(struct nlb_model *model, const struct ccm_service *service);

static inline void nlb_model_fini(struct nlb_model *model)
{
    lbc_model_fini(&model->lbc);
}

#endif
