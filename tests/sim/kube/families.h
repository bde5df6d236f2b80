/* Address families of Services: what a cluster of one or of two allows, and how it completes what a
 * writer leaves open. The caller holds the cluster's lock. */
#ifndef CCM_KS_FAMILIES_H
#define CCM_KS_FAMILIES_H

#include "kind.h"

/* A Service that becomes SingleStack loses its second family, unless the writer named it anew. */
void ccm_ks_families_trim(cJSON *spec, const cJSON *old);
/* Add a fault for what this cluster cannot give. */
void ccm_ks_families_check(struct ccm_ks_write *write, const cJSON *spec);
/* The families and the policy, where they are left open. */
void ccm_ks_families_default(const struct ccm_ks_write *write, cJSON *spec);
/* A free address of the first family (second: of the second) that the Service has; false when
 * there is none. */
bool ccm_ks_families_ip(const struct ccm_ks_write *write, const cJSON *spec, bool second,
                        char ret[48]);
/* The address of the second family, where there is one and it lacks. */
void ccm_ks_families_second(struct ccm_ks_write *write, cJSON *spec);
bool ccm_ks_families_in_range(const struct ccm_ks_write *write, const char *ip);

#endif
