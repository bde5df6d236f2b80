/*
 * What not the API server but somebody behind it does in a cluster: old Events go, deleted
 * custom resources are emptied, and on demand deleted namespaces are. The caller holds the
 * cluster's lock.
 */
#ifndef CCM_KS_CONTROLLERS_H
#define CCM_KS_CONTROLLERS_H

#include "cluster.h"

/* Remove Events that were not written for longer than the option says. */
void ccm_ks_controllers_expire(struct ccm_ks_cluster *cluster);

/* Delete what lies in namespaces that are to go; remove those that are empty. */
void ccm_ks_controllers_drain(struct ccm_ks_cluster *cluster);

/* Delete what is left of kinds whose CustomResourceDefinition is to go, and the definition when
 * nothing is. */
void ccm_ks_controllers_undefine(struct ccm_ks_cluster *cluster);

#endif
