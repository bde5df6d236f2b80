/* What a Gateway says of itself and its listeners. Blocks for the API server. The worker of its
 * key.
 */
#ifndef CCM_GATEWAY_STATUS_H
#define CCM_GATEWAY_STATUS_H

#include "subject.h"

/* Write the status of a Gateway of ours, unless it shows that already. settled: the load
 * balancer is as the Gateway says; else what it shows of that stays. *ret_programmed: what it says
 * then. Blocks. 0 or negative with err. */
CCM_NODISCARD int gateway_status_publish(const struct gateway *self, const struct ccm_request *req,
                                         const struct gateway_subject *subject, bool settled,
                                         bool *ret_programmed, struct ccm_error *err);

#endif
