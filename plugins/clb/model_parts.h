/* Parts of model.c: members of clb_model_ops, and what they share. Pure. One thread. */
#ifndef CCM_CLB_MODEL_PARTS_H
#define CCM_CLB_MODEL_PARTS_H

#include "model.h"

/* model_lb.c */
CCM_NODISCARD int clb_model_lb(struct lbc_model *base, const struct lbc_model_input *in);

/* model_groups.c: the group of a port by lbc_model_group(), with its name. */
CCM_NODISCARD int clb_model_group(struct lbc_builder *b, struct lbc_desired_port *want,
                                  struct ccm_error *err);
/* One that does not exist, or that a controller made, cannot be used. */
lbc_check_group_fn clb_model_check_group;

#endif
