/* Semantics of the kinds other than Service, as functions of the table in kinds.c. See kind.h for
 * when they run. */
#ifndef CCM_KS_KINDS_H
#define CCM_KS_KINDS_H

#include "kind.h"

void ccm_ks_node_prepare(struct ccm_ks_write *write);
void ccm_ks_node_validate(struct ccm_ks_write *write);
void ccm_ks_slice_defaults(cJSON *object);
void ccm_ks_slice_validate(struct ccm_ks_write *write);
void ccm_ks_endpoints_defaults(cJSON *object);
void ccm_ks_namespace_prepare(struct ccm_ks_write *write);
void ccm_ks_pod_defaults(cJSON *object);
void ccm_ks_pod_prepare(struct ccm_ks_write *write);
void ccm_ks_lease_validate(struct ccm_ks_write *write);
void ccm_ks_secret_defaults(cJSON *object);
void ccm_ks_secret_validate(struct ccm_ks_write *write);
void ccm_ks_ingress_validate(struct ccm_ks_write *write);

void ccm_ks_event_validate(struct ccm_ks_write *write);
void ccm_ks_event_v1_validate(struct ccm_ks_write *write);
cJSON *ccm_ks_event_to_v1(const cJSON *stored);
cJSON *ccm_ks_event_from_v1(const cJSON *shown);

#endif
