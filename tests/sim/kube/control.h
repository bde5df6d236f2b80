/*
 * Control endpoints of the API server simulator, besides those every simulator has.
 *
 * GET /_sim/state answers {"resourceVersion", "watches": {plural: open}, plural: [objects], ...}
 *
 * GET /_sim/versions answers {"newest": N, plural: N, ...}: the version of the last change in all,
 * and of each resource
 *
 * POST /_sim/restore takes what /_sim/state has answered: those objects are there again, with uid,
 * status and timestamps, see restore.h; answers {}
 *
 * POST /_sim/watch takes {"op": OP, "resource": plural}, answers {"watches": N}. No resource: all.
 *
 * - end: regular end of the stream
 * - drop: the connection is cut
 * - truncate: half an event, then the connection is cut
 * - garbage: a line that is no JSON, then the stream goes on
 * - silence: nothing is ever sent again, the connection stays
 * - error: an ERROR event (500), then the regular end
 * - expire: history is forgotten; the watches end, resuming them gives 410
 * - compact: the same but for watches that are up to date, which go on and can be resumed
 */
#ifndef CCM_KS_CONTROL_H
#define CCM_KS_CONTROL_H

#include "cluster.h"
#include "common/request.h"
#include "util/attr.h"

/* 0, or -ENOENT: no such endpoint. */
CCM_NODISCARD int ccm_ks_control(struct ccm_ks_cluster *cluster, const struct ccm_sim_request *req,
                                 struct ccm_sim_reply *reply);

#endif
