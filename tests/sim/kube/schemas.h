/* The schemas of the kinds; see schema.h. Const data; every thread. */
#ifndef CCM_KS_SCHEMAS_H
#define CCM_KS_SCHEMAS_H

#include "schema.h"

extern const struct ccm_ks_schema ccm_ks_schema_service;
extern const struct ccm_ks_schema ccm_ks_schema_slice;
extern const struct ccm_ks_schema ccm_ks_schema_endpoints;
extern const struct ccm_ks_schema ccm_ks_schema_node;
extern const struct ccm_ks_schema ccm_ks_schema_pod;
extern const struct ccm_ks_schema ccm_ks_schema_event;
extern const struct ccm_ks_schema ccm_ks_schema_event_v1;
extern const struct ccm_ks_schema ccm_ks_schema_lease;
extern const struct ccm_ks_schema ccm_ks_schema_namespace;
extern const struct ccm_ks_schema ccm_ks_schema_config_map;
extern const struct ccm_ks_schema ccm_ks_schema_service_account;

#endif
