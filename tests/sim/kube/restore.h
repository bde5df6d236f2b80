/*
 * Objects as a backup of the storage has them: with their uid, status, finalizers and timestamps,
 * which no request of the API could bring back.
 */
#ifndef CCM_KS_RESTORE_H
#define CCM_KS_RESTORE_H

#include "cluster.h"
#include "util/attr.h"
#include "util/json.h"

/* Put all objects of `state`, an answer of GET /_sim/state, in place; what else is there stays.
 * Their versions are new ones. Events are left out. 0, -EINVAL: no such state, or -ENOMEM. With the
 * cluster's lock held. */
CCM_NODISCARD int ccm_ks_restore(struct ccm_ks_cluster *cluster, const cJSON *state);

#endif
