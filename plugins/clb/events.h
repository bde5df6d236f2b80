/* What a person should know about a Service that is not a failure: as events, once per change. */
#ifndef CCM_CLB_TELL_H
#define CCM_CLB_TELL_H

#include "controller.h"

/* Groups that have no backends, or keep those of an address family. What is there is known. */
void clb_emit_group_events(struct lbc_pass *pass, const struct clb_model *model);

/* Annotations without effect here, limits that are near, and what happens on deletion. The load
 * balancer exists. */
void clb_emit_model_events(struct lbc_pass *pass, const struct clb_model *model);

#endif
