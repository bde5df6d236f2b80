/* What a person should know about a Service that is not a failure: as events, once per change. */
#ifndef CCM_CLB_TELL_H
#define CCM_CLB_TELL_H

#include "pass.h"
#include "service/resolve.h"

/* Backends that are left out, missing or kept; resolved->items[i] belongs to
 * model->want.groups[i]. */
void clb_tell_backends(struct ccm_pass *pass, const struct clb_model *model,
                       const struct ccm_resolved_list *resolved);

/* Annotations without effect here, limits that are near, and what happens on deletion. The load
 * balancer exists. */
void clb_tell_model(struct ccm_pass *pass, const struct clb_model *model);

#endif
