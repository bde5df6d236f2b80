/* Semantics of Services: defaults, allocation, change of type, validation. The caller holds the
 * cluster's lock. */
#ifndef CCM_KS_SERVICE_H
#define CCM_KS_SERVICE_H

#include "kind.h"

void ccm_ks_service_defaults(cJSON *object);
void ccm_ks_service_prepare(struct ccm_ks_write *write);
void ccm_ks_service_validate(struct ccm_ks_write *write);

/* The type needs a cluster IP, node ports, a health check node port. */
bool ccm_ks_service_needs_ip(const cJSON *spec);
bool ccm_ks_service_needs_node_port(const cJSON *spec);
bool ccm_ks_service_needs_health_port(const cJSON *spec);

/* Whether ipFamilyPolicy and ipFamilies hold what exists at all; if not, faults are added. */
bool ccm_ks_service_families_known(struct ccm_ks_write *write);

#endif
