/*
 * What a Service wants of CLB: what lbc_model_build() makes by clb_model_ops. Pure. One thread.
 */
#ifndef CCM_CLB_MODEL_H
#define CCM_CLB_MODEL_H

#include "lbc/apply/model.h"
#include "state.h"

struct clb_model {
    struct lbc_model lbc;
    struct clb_state want; /* groups and listeners; lb holds what creation should ask for */
    bool show_eip;         /* in the status */
    const char *hostname;  /* in the status; borrowed, "" = none */
    unsigned extras;       /* CLB_EXTRA_*: options that are on */
    bool keep_version;     /* the address family was asked for, but cannot be told */
    bool keep_status;      /* so was what the status is to show */
    struct lbc_weight_rule weight;
};

extern const struct lbc_model_ops clb_model_ops;

/* Address families of backends. */
enum lbc_families clb_model_families(const struct ccm_service *service);

static inline void clb_model_fini(struct clb_model *model)
{
    lbc_model_fini(&model->lbc);
}

#endif
