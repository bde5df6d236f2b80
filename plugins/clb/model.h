/*
 * What a Service wants. Pure but for nothing: candidates in, desired state out; resolving pod
 * addresses happens between begin and finish. One thread.
 */
#ifndef CCM_CLB_MODEL_H
#define CCM_CLB_MODEL_H

#include "lbc/apply/model.h"
#include "state.h"

struct clb_model_input {
    struct lbc_model_input lbc;
    unsigned extras; /* CLB_EXTRA_* */
};

struct clb_model {
    struct lbc_model lbc;
    struct clb_state want; /* groups and listeners; lb holds what creation should ask for */
    bool show_eip;         /* in the status */
    const char *hostname;  /* in the status; borrowed, "" = none */
    bool keep_version;     /* the address family was asked for, but cannot be told */
    bool keep_status;      /* so was what the status is to show */
    struct lbc_weight_rule weight;
};

/* Address families of backends. */
enum lbc_families clb_model_families(const struct ccm_service *service);
/* The load balancer's part of a model: what annotations say about it. Used alone for a deletion.
 * 0 or -ENOMEM. */
CCM_NODISCARD int clb_model_lb(struct clb_model *model, const struct ccm_service *service);

/*
 * Build all but the backends. What cannot be used of the annotations is told elsewhere
 * (lbc/model/refusal.h), and what it decides about stays as it is. What is wrong with one port goes
 * to `problems` and leaves the others alone. 0, or -ENOMEM with err. The caller finishes the model
 * in any case; the objects of `in` must live as long.
 */
CCM_NODISCARD int clb_model_begin(struct clb_model *model, const struct clb_model_input *in,
                                  struct lbc_problems *problems, struct ccm_error *err);

/* One that does not exist, or that a controller made, cannot be used. */
lbc_check_group_fn clb_model_check_group;

static inline void clb_model_fini(struct clb_model *model)
{
    lbc_model_fini(&model->lbc);
}

#endif
