/*
 * States that refuse a change of SLB, and the code for each. A load balancer that is "locked" takes
 * none; else an earlier change is not finished:
 *
 * - a change of a load balancer or of a part of it keeps the load balancer busy for
 *   limits.slb_busy_ms (an access list: for itself);
 * - a listener is starting, stopping or configuring, for limits.listener_ms after the call, or as
 *   long as a console edit leaves it so.
 *
 * Which code a call gets depends on the action and on what is unfinished; the table in busy.c says
 * it. Reads are never refused, save those of one listener with limits.busy_reads. With the cloud's
 * lock held.
 */
#ifndef CCM_CLOUD_BUSY_H
#define CCM_CLOUD_BUSY_H

#include "cloud.h"

/* 0, or -EPROTO when something unfinished forbids the call. */
CCM_NODISCARD int ccm_cloud_busy_check(struct ccm_cloud_call *call);

/* The call has succeeded: a change makes its load balancer busy. */
void ccm_cloud_busy_mark(struct ccm_cloud_call *call);

#endif
