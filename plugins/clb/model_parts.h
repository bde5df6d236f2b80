/* Parts of model.c: groups in model_groups.c. Pure. One thread. */
#ifndef CCM_CLB_MODEL_PARTS_H
#define CCM_CLB_MODEL_PARTS_H

#include "model.h"

struct clb_builder {
    struct lbc_builder lbc;
    struct clb_model *model;
    const struct clb_model_input *in;
};

/* The group of a port by lbc_model_group(), with its name. */
CCM_NODISCARD int clb_model_group(struct clb_builder *b, struct lbc_desired_port *want,
                                  struct ccm_error *err);

#endif
