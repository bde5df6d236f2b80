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
    { .name = "name", .tag = 1, .type = CCM_KS_STRING },
    { .name = "number", .tag = 2, .type = CCM_KS_INT32 },
    { .name = NULL },
};

static const struct ccm_ks_schema backend_port_schema = { .type_name = "ServiceBackendPort",
                                                          .fields = backend_port_fields };

static const struct ccm_ks_field backend_service_fields[] = {
    { .name = "name", .tag = 1, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "port", .tag = 2, .type = CCM_KS_OBJECT, .sub = &backend_port_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema backend_service_schema = { .type_name = "IngressServiceBackend",
                                                             .fields = backend_service_fields };

static const struct ccm_ks_field reference_fields[] = {
    { .name = "apiGroup", .tag = 1, .type = CCM_KS_STRING, .flags = CCM_KS_KEEP },
    { .name = "kind", .tag = 2, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "name", .tag = 3, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = NULL },
};

/* Of an Ingress' resource backend, and of the role of a binding. */
static const struct ccm_ks_schema reference_schema = { .type_name = "TypedLocalObjectReference",
                                                       .fields = reference_fields };

static const struct ccm_ks_field backend_fields[] = {
    { .name = "service",
      .tag = 4,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_KEEP,
      .sub = &backend_service_schema },
    { .name = "resource",
      .tag = 3,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_KEEP,
      .sub = &reference_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema backend_schema = { .type_name = "IngressBackend",
                                                     .fields = backend_fields };

static const struct ccm_ks_field path_fields[] = {
    { .name = "path", .tag = 1, .type = CCM_KS_STRING },
    { .name = "pathType", .tag = 3, .type = CCM_KS_STRING, .flags = CCM_KS_KEEP },
    { .name = "backend",
      .tag = 2,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &backend_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema path_schema = { .type_name = "HTTPIngressPath",
                                                  .fields = path_fields };

static const struct ccm_ks_field http_fields[] = {
    { .name = "paths", .tag = 1, .type = CCM_KS_LIST, .flags = CCM_KS_SHOW, .sub = &path_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema http_schema = { .type_name = "HTTPIngressRuleValue",
                                                  .fields = http_fields };

static const struct ccm_ks_field rule_fields[] = {
    { .name = "host", .tag = 1, .type = CCM_KS_STRING },
    { .name = "http",
      .tag = 2,
      .inner = 1,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_KEEP,
      .sub = &http_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema rule_schema = { .type_name = "IngressRule",
                                                  .fields = rule_fields };

static const struct ccm_ks_field tls_fields[] = {
    { .name = "hosts", .tag = 1, .type = CCM_KS_STRINGS },
    { .name = "secretName", .tag = 2, .type = CCM_KS_STRING },
    { .name = NULL },
};

static const struct ccm_ks_schema tls_schema = { .type_name = "IngressTLS", .fields = tls_fields };

static const struct ccm_ks_field ingress_spec_fields[] = {
    { .name = "ingressClassName", .tag = 4, .type = CCM_KS_STRING, .flags = CCM_KS_KEEP },
    { .name = "defaultBackend",
      .tag = 1,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_KEEP,
      .sub = &backend_schema },
    { .name = "tls", .tag = 2, .type = CCM_KS_LIST, .sub = &tls_schema },
    { .name = "rules", .tag = 3, .type = CCM_KS_LIST, .sub = &rule_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema ingress_spec_schema = { .type_name = "IngressSpec",
                                                          .fields = ingress_spec_fields };

static const struct ccm_ks_field ingress_status_fields[] = {
    { .name = "loadBalancer",
      .tag = 1,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &ccm_ks_schema_load_balancer },
    { .name = NULL },
};

static const struct ccm_ks_schema ingress_status_schema = { .type_name = "IngressStatus",
                                                            .fields = ingress_status_fields };

static const struct ccm_ks_field ingress_fields[] = {
    TYPE_FIELDS,
    { .name = "metadata",
      .tag = 1,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &ccm_ks_schema_meta },
    { .name = "spec",
      .tag = 2,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &ingress_spec_schema },
    { .name = "status",
      .tag = 3,
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

static const struct ccm_ks_field one_webhook_fields[] = {
    { .name = "name", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = NULL },
};

static const struct ccm_ks_schema one_webhook_schema = { .type_name = "ValidatingWebhook",
                                                         .fields = one_webhook_fields,
                                                         .open = true };

static const struct ccm_ks_field webhook_fields[] = {
    TYPE_FIELDS,
    { .name = "metadata", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &ccm_ks_schema_meta },
    { .name = "webhooks", .type = CCM_KS_LIST, .sub = &one_webhook_schema, .merge_key = "name" },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_webhook = { .type_name = "ValidatingWebhookConfiguration",
                                                     .fields = webhook_fields };

static const struct ccm_ks_field custom_fields[] = {
    TYPE_FIELDS,
    { .name = "metadata", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &ccm_ks_schema_meta },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_custom = { .type_name = "Object",
                                                    .fields = custom_fields,
                                                    .open = true };

static const struct ccm_ks_field policy_fields[] = {
    { .name = "verbs", .tag = 1, .type = CCM_KS_STRINGS, .flags = CCM_KS_SHOW },
    { .name = "apiGroups", .tag = 2, .type = CCM_KS_STRINGS },
    { .name = "resources", .tag = 3, .type = CCM_KS_STRINGS },
    { .name = "resourceNames", .tag = 4, .type = CCM_KS_STRINGS },
    { .name = "nonResourceURLs", .tag = 5, .type = CCM_KS_STRINGS },
    { .name = NULL },
};

static const struct ccm_ks_schema policy_schema = { .type_name = "PolicyRule",
                                                    .fields = policy_fields };

static const struct ccm_ks_field role_fields[] = {
    TYPE_FIELDS,
    { .name = "metadata",
      .tag = 1,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &ccm_ks_schema_meta },
    { .name = "rules",
      .tag = 2,
      .type = CCM_KS_LIST,
      .flags = CCM_KS_SHOW | CCM_KS_KEEP,
      .sub = &policy_schema },
    { .name = "aggregationRule", .type = CCM_KS_ANY },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_role = { .type_name = "Role", .fields = role_fields };

static const struct ccm_ks_field subject_fields[] = {
    { .name = "kind", .tag = 1, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "apiGroup", .tag = 2, .type = CCM_KS_STRING },
    { .name = "name", .tag = 3, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "namespace", .tag = 4, .type = CCM_KS_STRING },
    { .name = NULL },
};

static const struct ccm_ks_schema subject_schema = { .type_name = "Subject",
                                                     .fields = subject_fields };

static const struct ccm_ks_field binding_fields[] = {
    TYPE_FIELDS,
    { .name = "metadata",
      .tag = 1,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &ccm_ks_schema_meta },
    { .name = "subjects", .tag = 2, .type = CCM_KS_LIST, .sub = &subject_schema },
    { .name = "roleRef",
      .tag = 3,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &reference_schema },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_binding = { .type_name = "RoleBinding",
                                                     .fields = binding_fields };
