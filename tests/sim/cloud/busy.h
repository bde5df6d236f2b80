/*
 * A load balancer that is busy with an earlier change: while limits.slb_busy_ms have not passed
 * since a change of it, further changes are refused with the code of the action's row. With the
 * cloud's lock held.
 */
#ifndef CCM_CLOUD_BUSY_H
#define CCM_CLOUD_BUSY_H

#include "cloud.h"

/* 0, or -EPROTO when the load balancer that the call means is busy. */
CCM_NODISCARD int ccm_cloud_busy_check(struct ccm_cloud_call *call);

/* The call has succeeded: a change makes its load balancer busy. */
void ccm_cloud_busy_mark(struct ccm_cloud_call *call);

#endif
