/* The schemas of the kinds; see schema.h. Const data; every thread. */
#ifndef CCM_KS_SCHEMAS_H
#define CCM_KS_SCHEMAS_H

#include "schema.h"

extern const struct ccm_ks_schema ccm_ks_schema_meta;          /* part of every kind */
extern const struct ccm_ks_schema ccm_ks_schema_load_balancer; /* part of some */
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
extern const struct ccm_ks_schema ccm_ks_schema_secret;
extern const struct ccm_ks_schema ccm_ks_schema_ingress;
extern const struct ccm_ks_schema ccm_ks_schema_crd;
extern const struct ccm_ks_schema ccm_ks_schema_webhook;
extern const struct ccm_ks_schema ccm_ks_schema_role; /* as the next: kept, not obeyed */
extern const struct ccm_ks_schema ccm_ks_schema_binding;
extern const struct ccm_ks_schema ccm_ks_schema_custom; /* all custom resources */

#endif
