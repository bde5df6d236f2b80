/* Schemas of the kinds that a cloud controller does not look at by itself, but plugins may. */
#include "schemas.h"

#include <stddef.h>

#define TYPE_FIELDS                                                                                \
    { .name = "kind", .type = CCM_KS_STRING },                                                     \
    {                                                                                              \
        .name = "apiVersion", .type = CCM_KS_STRING                                                \
    }

static const struct ccm_ks_field secret_fields[] = {
    TYPE_FIELDS,
    { .name = "metadata",
      .tag = 1,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &ccm_ks_schema_meta },
    { .name = "immutable", .tag = 5, .type = CCM_KS_BOOL, .flags = CCM_KS_KEEP },
    { .name = "data", .tag = 2, .type = CCM_KS_MAP, .flags = CCM_KS_BYTES },
    { .name = "stringData", .tag = 4, .type = CCM_KS_MAP },
    { .name = "type", .tag = 3, .type = CCM_KS_STRING },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_secret = { .type_name = "Secret",
                                                    .fields = secret_fields };

static const struct ccm_ks_field backend_port_fields[] = {
    { .name = "name", .type = CCM_KS_STRING },
    { .name = "number", .type = CCM_KS_INT32 },
    { .name = NULL },
};

static const struct ccm_ks_schema backend_port_schema = { .type_name = "ServiceBackendPort",
                                                          .fields = backend_port_fields };

static const struct ccm_ks_field backend_service_fields[] = {
    { .name = "name", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "port", .type = CCM_KS_OBJECT, .sub = &backend_port_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema backend_service_schema = { .type_name = "IngressServiceBackend",
                                                             .fields = backend_service_fields };

static const struct ccm_ks_field backend_fields[] = {
    { .name = "service",
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_KEEP,
      .sub = &backend_service_schema },
    { .name = "resource", .type = CCM_KS_ANY },
    { .name = NULL },
};

static const struct ccm_ks_schema backend_schema = { .type_name = "IngressBackend",
                                                     .fields = backend_fields };

static const struct ccm_ks_field path_fields[] = {
    { .name = "path", .type = CCM_KS_STRING },
    { .name = "pathType", .type = CCM_KS_STRING, .flags = CCM_KS_KEEP },
    { .name = "backend", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &backend_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema path_schema = { .type_name = "HTTPIngressPath",
                                                  .fields = path_fields };

static const struct ccm_ks_field http_fields[] = {
    { .name = "paths", .type = CCM_KS_LIST, .flags = CCM_KS_SHOW, .sub = &path_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema http_schema = { .type_name = "HTTPIngressRuleValue",
                                                  .fields = http_fields };

static const struct ccm_ks_field rule_fields[] = {
    { .name = "host", .type = CCM_KS_STRING },
    { .name = "http", .type = CCM_KS_OBJECT, .flags = CCM_KS_KEEP, .sub = &http_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema rule_schema = { .type_name = "IngressRule",
                                                  .fields = rule_fields };

static const struct ccm_ks_field tls_fields[] = {
    { .name = "hosts", .type = CCM_KS_STRINGS },
    { .name = "secretName", .type = CCM_KS_STRING },
    { .name = NULL },
};

static const struct ccm_ks_schema tls_schema = { .type_name = "IngressTLS", .fields = tls_fields };

static const struct ccm_ks_field ingress_spec_fields[] = {
    { .name = "ingressClassName", .type = CCM_KS_STRING, .flags = CCM_KS_KEEP },
    { .name = "defaultBackend",
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_KEEP,
      .sub = &backend_schema },
    { .name = "tls", .type = CCM_KS_LIST, .sub = &tls_schema },
    { .name = "rules", .type = CCM_KS_LIST, .sub = &rule_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema ingress_spec_schema = { .type_name = "IngressSpec",
                                                          .fields = ingress_spec_fields };

static const struct ccm_ks_field ingress_status_fields[] = {
    { .name = "loadBalancer",
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &ccm_ks_schema_load_balancer },
    { .name = NULL },
};

static const struct ccm_ks_schema ingress_status_schema = { .type_name = "IngressStatus",
                                                            .fields = ingress_status_fields };

/* Without numbers: the binary form nests rules otherwise than JSON. */
static const struct ccm_ks_field ingress_fields[] = {
    TYPE_FIELDS,
    { .name = "metadata", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &ccm_ks_schema_meta },
    { .name = "spec", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &ingress_spec_schema },
    { .name = "status",
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &ingress_status_schema },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_ingress = { .type_name = "Ingress",
                                                     .fields = ingress_fields };

static const struct ccm_ks_field crd_fields[] = {
    TYPE_FIELDS,
    { .name = "metadata", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &ccm_ks_schema_meta },
    { .name = "spec", .type = CCM_KS_ANY },
    { .name = "status", .type = CCM_KS_ANY },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_crd = { .type_name = "CustomResourceDefinition",
                                                 .fields = crd_fields };

static const struct ccm_ks_field custom_fields[] = {
    TYPE_FIELDS,
    { .name = "metadata", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &ccm_ks_schema_meta },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_custom = { .type_name = "Object",
                                                    .fields = custom_fields,
                                                    .open = true };

const struct ccm_ks_schema ccm_ks_schema_rbac = { .type_name = "Role",
                                                  .fields = custom_fields,
                                                  .open = true };
