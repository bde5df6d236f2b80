#include "kinds.h"

#include "definition.h"
#include "schemas.h"
#include "service.h"
#include "table.h"

#include <string.h>

#define META_FIELDS                                                                                \
    { .label = "metadata.name", .path = "metadata.name" },                                         \
    {                                                                                              \
        .label = "metadata.namespace", .path = "metadata.namespace"                                \
    }

static const struct ccm_ks_selectable plain_fields[] = { META_FIELDS, { .label = NULL } };

static const struct ccm_ks_selectable secret_fields[] = {
    META_FIELDS,
    { .label = "type", .path = "type" },
    { .label = NULL },
};

static const struct ccm_ks_selectable namespace_fields[] = {
    META_FIELDS,
    { .label = "name", .path = "metadata.name" },
    { .label = "status.phase", .path = "status.phase" },
    { .label = NULL },
};

static const struct ccm_ks_selectable node_fields[] = {
    META_FIELDS,
    { .label = "spec.unschedulable", .path = "spec.unschedulable", .absent = "false" },
    { .label = NULL },
};

static const struct ccm_ks_selectable service_fields[] = {
    META_FIELDS,
    { .label = "spec.clusterIP", .path = "spec.clusterIP" },
    { .label = "spec.type", .path = "spec.type" },
    { .label = NULL },
};

static const struct ccm_ks_selectable pod_fields[] = {
    META_FIELDS,
    { .label = "spec.nodeName", .path = "spec.nodeName" },
    { .label = "spec.restartPolicy", .path = "spec.restartPolicy" },
    { .label = "spec.schedulerName", .path = "spec.schedulerName" },
    { .label = "spec.serviceAccountName", .path = "spec.serviceAccountName" },
    { .label = "spec.hostNetwork", .path = "spec.hostNetwork", .absent = "false" },
    { .label = "status.phase", .path = "status.phase" },
    { .label = "status.podIP", .path = "status.podIP" },
    { .label = "status.nominatedNodeName", .path = "status.nominatedNodeName" },
    { .label = NULL },
};

static const struct ccm_ks_selectable event_fields[] = {
    META_FIELDS,
    { .label = "involvedObject.kind", .path = "involvedObject.kind" },
    { .label = "involvedObject.namespace", .path = "involvedObject.namespace" },
    { .label = "involvedObject.name", .path = "involvedObject.name" },
    { .label = "involvedObject.uid", .path = "involvedObject.uid" },
    { .label = "involvedObject.apiVersion", .path = "involvedObject.apiVersion" },
    { .label = "involvedObject.resourceVersion", .path = "involvedObject.resourceVersion" },
    { .label = "involvedObject.fieldPath", .path = "involvedObject.fieldPath" },
    { .label = "reason", .path = "reason" },
    { .label = "reportingComponent", .path = "reportingComponent" },
    { .label = "source", .path = "source.component", .or_path = "reportingComponent" },
    { .label = "type", .path = "type" },
    { .label = NULL },
};

/* Objects are matched in storage form, so the new names lead to the old places. */
static const struct ccm_ks_selectable event_v1_fields[] = {
    META_FIELDS,
    { .label = "regarding.kind", .path = "involvedObject.kind" },
    { .label = "regarding.namespace", .path = "involvedObject.namespace" },
    { .label = "regarding.name", .path = "involvedObject.name" },
    { .label = "regarding.uid", .path = "involvedObject.uid" },
    { .label = "regarding.apiVersion", .path = "involvedObject.apiVersion" },
    { .label = "regarding.resourceVersion", .path = "involvedObject.resourceVersion" },
    { .label = "regarding.fieldPath", .path = "involvedObject.fieldPath" },
    { .label = "reason", .path = "reason" },
    { .label = "reportingController", .path = "reportingComponent" },
    { .label = "type", .path = "type" },
    { .label = NULL },
};

static const char *const namespace_short[] = { "ns", NULL };
static const char *const node_short[] = { "no", NULL };
static const char *const service_short[] = { "svc", NULL };
static const char *const endpoints_short[] = { "ep", NULL };
static const char *const pod_short[] = { "po", NULL };
static const char *const event_short[] = { "ev", NULL };
static const char *const config_map_short[] = { "cm", NULL };
static const char *const account_short[] = { "sa", NULL };
static const char *const ingress_short[] = { "ing", NULL };
static const char *const crd_short[] = { "crd", "crds", NULL };
static const char *const in_extensions[] = { "api-extensions", NULL };
static const char *const in_all[] = { "all", NULL };

/* The first kind of a bucket gives the storage form. Sorted by group and plural, as discovery shows
 * them. */
const struct ccm_ks_kind ccm_ks_kinds[] = {
    { .group = "",
      .version = "v1",
      .kind = "ConfigMap",
      .plural = "configmaps",
      .singular = "configmap",
      .short_names = config_map_short,
      .namespaced = true,
      .traits = CCM_KS_PUT_CREATES,
      .bucket = CCM_KS_CONFIGMAPS,
      .schema = &ccm_ks_schema_config_map,
      .fields = plain_fields,
      .columns = ccm_ks_table_config_map,
      .row = ccm_ks_table_config_map_row },
    { .group = "",
      .version = "v1",
      .kind = "Endpoints",
      .plural = "endpoints",
      .singular = "endpoints",
      .short_names = endpoints_short,
      .warning = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
      .namespaced = true,
      .traits = CCM_KS_PUT_CREATES,
      .bucket = CCM_KS_ENDPOINTS,
      .schema = &ccm_ks_schema_endpoints,
      .fields = plain_fields,
      .columns = ccm_ks_table_endpoints,
      .defaults = ccm_ks_endpoints_defaults,
      .row = ccm_ks_table_endpoints_row },
    { .group = "",
      .version = "v1",
      .kind = "Event",
      .plural = "events",
      .singular = "event",
      .short_names = event_short,
      .namespaced = true,
      .traits = CCM_KS_PUT_CREATES | CCM_KS_ANY_NAME,
      .bucket = CCM_KS_EVENTS,
      .schema = &ccm_ks_schema_event,
      .fields = event_fields,
      .columns = ccm_ks_table_event,
      .validate = ccm_ks_event_validate,
      .row = ccm_ks_table_event_row },
    { .group = "",
      .version = "v1",
      .kind = "Namespace",
      .plural = "namespaces",
      .singular = "namespace",
      .short_names = namespace_short,
      .traits = CCM_KS_HAS_STATUS | CCM_KS_DELETE_SHOWS_OBJECT | CCM_KS_NO_DELETECOLLECTION |
                CCM_KS_DNS_LABEL_NAME,
      .bucket = CCM_KS_NAMESPACES,
      .schema = &ccm_ks_schema_namespace,
      .fields = namespace_fields,
      .columns = ccm_ks_table_namespace,
      .prepare = ccm_ks_namespace_prepare,
      .row = ccm_ks_table_namespace_row },
    { .group = "",
      .version = "v1",
      .kind = "Node",
      .plural = "nodes",
      .singular = "node",
      .short_names = node_short,
      .traits = CCM_KS_HAS_STATUS | CCM_KS_STATUS_AT_CREATE,
      .bucket = CCM_KS_NODES,
      .schema = &ccm_ks_schema_node,
      .fields = node_fields,
      .columns = ccm_ks_table_node,
      .prepare = ccm_ks_node_prepare,
      .validate = ccm_ks_node_validate,
      .row = ccm_ks_table_node_row },
    { .group = "",
      .version = "v1",
      .kind = "Pod",
      .plural = "pods",
      .singular = "pod",
      .short_names = pod_short,
      .categories = in_all,
      .namespaced = true,
      .traits = CCM_KS_HAS_STATUS | CCM_KS_HAS_GENERATION | CCM_KS_DELETE_SHOWS_OBJECT,
      .bucket = CCM_KS_PODS,
      .schema = &ccm_ks_schema_pod,
      .fields = pod_fields,
      .columns = ccm_ks_table_pod,
      .defaults = ccm_ks_pod_defaults,
      .prepare = ccm_ks_pod_prepare,
      .row = ccm_ks_table_pod_row },
    { .group = "",
      .version = "v1",
      .kind = "Secret",
      .plural = "secrets",
      .singular = "secret",
      .namespaced = true,
      .traits = CCM_KS_PUT_CREATES,
      .bucket = CCM_KS_SECRETS,
      .schema = &ccm_ks_schema_secret,
      .fields = secret_fields,
      .columns = ccm_ks_table_secret,
      .defaults = ccm_ks_secret_defaults,
      .validate = ccm_ks_secret_validate,
      .row = ccm_ks_table_secret_row },
    { .group = "",
      .version = "v1",
      .kind = "ServiceAccount",
      .plural = "serviceaccounts",
      .singular = "serviceaccount",
      .short_names = account_short,
      .namespaced = true,
      .bucket = CCM_KS_SERVICEACCOUNTS,
      .schema = &ccm_ks_schema_service_account,
      .fields = plain_fields,
      .columns = ccm_ks_table_plain,
      .row = ccm_ks_table_plain_row },
    { .group = "",
      .version = "v1",
      .kind = "Service",
      .plural = "services",
      .singular = "service",
      .short_names = service_short,
      .categories = in_all,
      .namespaced = true,
      .traits = CCM_KS_HAS_STATUS | CCM_KS_PUT_CREATES | CCM_KS_DELETE_SHOWS_OBJECT |
                CCM_KS_DNS_LABEL_NAME,
      .bucket = CCM_KS_SERVICES,
      .schema = &ccm_ks_schema_service,
      .fields = service_fields,
      .columns = ccm_ks_table_service,
      .defaults = ccm_ks_service_defaults,
      .prepare = ccm_ks_service_prepare,
      .validate = ccm_ks_service_validate,
      .row = ccm_ks_table_service_row },
    { .group = "events.k8s.io",
      .version = "v1",
      .kind = "Event",
      .plural = "events",
      .singular = "event",
      .short_names = event_short,
      .namespaced = true,
      .traits = CCM_KS_PUT_CREATES,
      .bucket = CCM_KS_EVENTS,
      .schema = &ccm_ks_schema_event_v1,
      .fields = event_v1_fields,
      .columns = ccm_ks_table_event,
      .validate = ccm_ks_event_v1_validate,
      .to_view = ccm_ks_event_to_v1,
      .from_view = ccm_ks_event_from_v1,
      .row = ccm_ks_table_event_row },
    { .group = "networking.k8s.io",
      .version = "v1",
      .kind = "Ingress",
      .plural = "ingresses",
      .singular = "ingress",
      .short_names = ingress_short,
      .namespaced = true,
      .traits = CCM_KS_HAS_STATUS | CCM_KS_HAS_GENERATION | CCM_KS_PUT_CREATES |
                CCM_KS_DELETE_SHOWS_OBJECT,
      .bucket = CCM_KS_INGRESSES,
      .schema = &ccm_ks_schema_ingress,
      .fields = plain_fields,
      .columns = ccm_ks_table_ingress,
      .validate = ccm_ks_ingress_validate,
      .row = ccm_ks_table_ingress_row },
    { .group = "apiextensions.k8s.io",
      .version = "v1",
      .kind = "CustomResourceDefinition",
      .plural = "customresourcedefinitions",
      .singular = "customresourcedefinition",
      .short_names = crd_short,
      .categories = in_extensions,
      .traits = CCM_KS_HAS_STATUS | CCM_KS_HAS_GENERATION | CCM_KS_PUT_NEEDS_VERSION |
                CCM_KS_DELETE_SHOWS_OBJECT,
      .bucket = CCM_KS_CRDS,
      .schema = &ccm_ks_schema_crd,
      .fields = plain_fields,
      .columns = ccm_ks_table_crd,
      .defaults = ccm_ks_crd_defaults,
      .prepare = ccm_ks_crd_prepare,
      .validate = ccm_ks_crd_validate },
    { .group = "coordination.k8s.io",
      .version = "v1",
      .kind = "Lease",
      .plural = "leases",
      .singular = "lease",
      .namespaced = true,
      .traits = CCM_KS_PUT_CREATES | CCM_KS_PUT_NEEDS_VERSION,
      .bucket = CCM_KS_LEASES,
      .schema = &ccm_ks_schema_lease,
      .fields = plain_fields,
      .columns = ccm_ks_table_lease,
      .validate = ccm_ks_lease_validate,
      .row = ccm_ks_table_lease_row },
    { .group = "discovery.k8s.io",
      .version = "v1",
      .kind = "EndpointSlice",
      .plural = "endpointslices",
      .singular = "endpointslice",
      .namespaced = true,
      .traits = CCM_KS_HAS_GENERATION,
      .bucket = CCM_KS_SLICES,
      .schema = &ccm_ks_schema_slice,
      .fields = plain_fields,
      .columns = ccm_ks_table_slice,
      .defaults = ccm_ks_slice_defaults,
      .validate = ccm_ks_slice_validate,
      .row = ccm_ks_table_slice_row },
};

const size_t ccm_ks_kinds_len = CCM_ARRAY_LEN(ccm_ks_kinds);

void ccm_ks_kind_api_version(struct ccm_buf *buf, const struct ccm_ks_kind *kind)
{
    ccm_buf_addf(buf, "%s%s%s", kind->group, kind->group[0] == '\0' ? "" : "/", kind->version);
}
