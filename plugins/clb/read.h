/* From the cloud to the model. All or nothing: a failed read never looks like an empty answer. May
 * block. One thread per call struct. */
#ifndef CCM_CLB_READ_H
#define CCM_CLB_READ_H

#include "api.h"

/*
 * The load balancer of a Service: by ownership tag, then, when the Service shows signs of an
 * earlier one (label, status), by its default name. ret->id stays NULL when there is none. One that
 * carries another cluster's tag, or more than one, is a CCM_ERROR_TERMINAL. The caller finishes
 * *ret in any case.
 */
CCM_NODISCARD int clb_read_lb(struct clb_call *call, const struct ccm_service *service,
                              struct clb_lb *ret, struct ccm_error *err);

/* The same with all its listeners and the groups that carry our name. */
CCM_NODISCARD int clb_read(struct clb_call *call, const struct ccm_service *service,
                           struct clb_state *ret, struct ccm_error *err);

#endif
