#include "schemas.h"

#include <stddef.h>

static const struct ccm_ks_field owner_fields[] = {
    { .name = "apiVersion", .tag = 5, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "kind", .tag = 1, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "name", .tag = 3, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "uid", .tag = 4, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "controller", .tag = 6, .type = CCM_KS_BOOL, .flags = CCM_KS_KEEP },
    { .name = "blockOwnerDeletion", .tag = 7, .type = CCM_KS_BOOL, .flags = CCM_KS_KEEP },
    { .name = NULL },
};

static const struct ccm_ks_schema owner_schema = { .type_name = "OwnerReference",
                                                   .fields = owner_fields };

static const struct ccm_ks_field meta_fields[] = {
    { .name = "name", .tag = 1, .type = CCM_KS_STRING },
    { .name = "generateName", .tag = 2, .type = CCM_KS_STRING },
    { .name = "namespace", .tag = 3, .type = CCM_KS_STRING },
    { .name = "selfLink", .tag = 4, .type = CCM_KS_STRING },
    { .name = "uid", .tag = 5, .type = CCM_KS_STRING },
    { .name = "resourceVersion", .tag = 6, .type = CCM_KS_STRING },
    { .name = "generation", .tag = 7, .type = CCM_KS_INT64 },
    { .name = "creationTimestamp", .tag = 8, .type = CCM_KS_TIME },
    { .name = "deletionTimestamp", .tag = 9, .type = CCM_KS_TIME },
    { .name = "deletionGracePeriodSeconds", .tag = 10, .type = CCM_KS_INT64, .flags = CCM_KS_KEEP },
    { .name = "labels", .tag = 11, .type = CCM_KS_MAP },
    { .name = "annotations", .tag = 12, .type = CCM_KS_MAP },
    { .name = "ownerReferences",
      .tag = 13,
      .type = CCM_KS_LIST,
      .sub = &owner_schema,
      .merge_key = "uid" },
    { .name = "finalizers", .tag = 14, .type = CCM_KS_STRINGS, .flags = CCM_KS_SET },
    { .name = "managedFields", .type = CCM_KS_ANY },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_meta = { .type_name = "ObjectMeta",
                                                  .fields = meta_fields };

static const struct ccm_ks_field reference_fields[] = {
    { .name = "kind", .tag = 1, .type = CCM_KS_STRING },
    { .name = "namespace", .tag = 2, .type = CCM_KS_STRING },
    { .name = "name", .tag = 3, .type = CCM_KS_STRING },
    { .name = "uid", .tag = 4, .type = CCM_KS_STRING },
    { .name = "apiVersion", .tag = 5, .type = CCM_KS_STRING },
    { .name = "resourceVersion", .tag = 6, .type = CCM_KS_STRING },
    { .name = "fieldPath", .tag = 7, .type = CCM_KS_STRING },
    { .name = NULL },
};

static const struct ccm_ks_schema reference_schema = { .type_name = "ObjectReference",
                                                       .fields = reference_fields };

static const struct ccm_ks_field service_port_fields[] = {
    { .name = "name", .tag = 1, .type = CCM_KS_STRING },
    { .name = "protocol", .tag = 2, .type = CCM_KS_STRING },
    { .name = "appProtocol", .tag = 6, .type = CCM_KS_STRING, .flags = CCM_KS_KEEP },
    { .name = "port", .tag = 3, .type = CCM_KS_INT32, .flags = CCM_KS_SHOW },
    { .name = "targetPort", .tag = 4, .type = CCM_KS_INT_OR_STRING },
    { .name = "nodePort", .tag = 5, .type = CCM_KS_INT32 },
    { .name = NULL },
};

static const struct ccm_ks_schema service_port_schema = { .type_name = "ServicePort",
                                                          .fields = service_port_fields };

static const struct ccm_ks_field client_ip_fields[] = {
    { .name = "timeoutSeconds", .tag = 1, .type = CCM_KS_INT32, .flags = CCM_KS_KEEP },
    { .name = NULL },
};

static const struct ccm_ks_schema client_ip_schema = { .type_name = "ClientIPConfig",
                                                       .fields = client_ip_fields };

static const struct ccm_ks_field affinity_fields[] = {
    { .name = "clientIP",
      .tag = 1,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_KEEP,
      .sub = &client_ip_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema affinity_schema = { .type_name = "SessionAffinityConfig",
                                                      .fields = affinity_fields };

static const struct ccm_ks_field service_spec_fields[] = {
    { .name = "ports",
      .tag = 1,
      .type = CCM_KS_LIST,
      .sub = &service_port_schema,
      .merge_key = "port" },
    { .name = "selector", .tag = 2, .type = CCM_KS_MAP },
    { .name = "clusterIP", .tag = 3, .type = CCM_KS_STRING },
    { .name = "clusterIPs", .tag = 18, .type = CCM_KS_STRINGS },
    { .name = "type", .tag = 4, .type = CCM_KS_STRING },
    { .name = "externalIPs", .tag = 5, .type = CCM_KS_STRINGS },
    { .name = "sessionAffinity", .tag = 7, .type = CCM_KS_STRING },
    { .name = "loadBalancerIP", .tag = 8, .type = CCM_KS_STRING },
    { .name = "loadBalancerSourceRanges", .tag = 9, .type = CCM_KS_STRINGS },
    { .name = "externalName", .tag = 10, .type = CCM_KS_STRING },
    { .name = "externalTrafficPolicy", .tag = 11, .type = CCM_KS_STRING },
    { .name = "healthCheckNodePort", .tag = 12, .type = CCM_KS_INT32 },
    { .name = "publishNotReadyAddresses", .tag = 13, .type = CCM_KS_BOOL },
    { .name = "sessionAffinityConfig", .tag = 14, .type = CCM_KS_OBJECT, .sub = &affinity_schema },
    { .name = "ipFamilies", .tag = 19, .type = CCM_KS_STRINGS },
    { .name = "ipFamilyPolicy", .tag = 17, .type = CCM_KS_STRING },
    { .name = "allocateLoadBalancerNodePorts",
      .tag = 20,
      .type = CCM_KS_BOOL,
      .flags = CCM_KS_KEEP },
    { .name = "loadBalancerClass", .tag = 21, .type = CCM_KS_STRING, .flags = CCM_KS_KEEP },
    { .name = "internalTrafficPolicy", .tag = 22, .type = CCM_KS_STRING },
    { .name = "trafficDistribution", .tag = 23, .type = CCM_KS_STRING },
    { .name = NULL },
};

static const struct ccm_ks_schema service_spec_schema = { .type_name = "ServiceSpec",
                                                          .fields = service_spec_fields };

static const struct ccm_ks_field port_status_fields[] = {
    { .name = "port", .tag = 1, .type = CCM_KS_INT32, .flags = CCM_KS_SHOW },
    { .name = "protocol", .tag = 2, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "error", .tag = 3, .type = CCM_KS_STRING, .flags = CCM_KS_KEEP },
    { .name = NULL },
};

static const struct ccm_ks_schema port_status_schema = { .type_name = "PortStatus",
                                                         .fields = port_status_fields };

static const struct ccm_ks_field ingress_fields[] = {
    { .name = "ip", .tag = 1, .type = CCM_KS_STRING },
    { .name = "hostname", .tag = 2, .type = CCM_KS_STRING },
    { .name = "ipMode", .tag = 3, .type = CCM_KS_STRING },
    { .name = "ports", .tag = 4, .type = CCM_KS_LIST, .sub = &port_status_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema ingress_schema = { .type_name = "LoadBalancerIngress",
                                                     .fields = ingress_fields };

static const struct ccm_ks_field load_balancer_fields[] = {
    { .name = "ingress", .tag = 1, .type = CCM_KS_LIST, .sub = &ingress_schema },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_load_balancer = { .type_name = "LoadBalancerStatus",
                                                           .fields = load_balancer_fields };

static const struct ccm_ks_field condition_fields[] = {
    { .name = "type", .tag = 1, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "status", .tag = 2, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "observedGeneration", .tag = 3, .type = CCM_KS_INT64 },
    { .name = "lastTransitionTime", .tag = 4, .type = CCM_KS_TIME, .flags = CCM_KS_SHOW },
    { .name = "reason", .tag = 5, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "message", .tag = 6, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = NULL },
};

static const struct ccm_ks_schema condition_schema = { .type_name = "Condition",
                                                       .fields = condition_fields };

static const struct ccm_ks_field service_status_fields[] = {
    { .name = "loadBalancer",
      .tag = 1,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &ccm_ks_schema_load_balancer },
    { .name = "conditions",
      .tag = 2,
      .type = CCM_KS_LIST,
      .sub = &condition_schema,
      .merge_key = "type" },
    { .name = NULL },
};

static const struct ccm_ks_schema service_status_schema = { .type_name = "ServiceStatus",
                                                            .fields = service_status_fields };

static const struct ccm_ks_field service_fields[] = {
    { .name = "kind", .type = CCM_KS_STRING },
    { .name = "apiVersion", .type = CCM_KS_STRING },
    { .name = "metadata",
      .tag = 1,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &ccm_ks_schema_meta },
    { .name = "spec",
      .tag = 2,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &service_spec_schema },
    { .name = "status",
      .tag = 3,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &service_status_schema },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_service = { .type_name = "Service",
                                                     .fields = service_fields };

static const struct ccm_ks_field slice_conditions_fields[] = {
    { .name = "ready", .type = CCM_KS_BOOL, .flags = CCM_KS_KEEP },
    { .name = "serving", .type = CCM_KS_BOOL, .flags = CCM_KS_KEEP },
    { .name = "terminating", .type = CCM_KS_BOOL, .flags = CCM_KS_KEEP },
    { .name = NULL },
};

static const struct ccm_ks_schema slice_conditions_schema = { .type_name = "EndpointConditions",
                                                              .fields = slice_conditions_fields };

static const struct ccm_ks_field slice_endpoint_fields[] = {
    { .name = "addresses", .type = CCM_KS_STRINGS, .flags = CCM_KS_SHOW },
    { .name = "conditions",
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &slice_conditions_schema },
    { .name = "hostname", .type = CCM_KS_STRING },
    { .name = "targetRef", .type = CCM_KS_OBJECT, .sub = &reference_schema },
    { .name = "deprecatedTopology", .type = CCM_KS_MAP },
    { .name = "nodeName", .type = CCM_KS_STRING },
    { .name = "zone", .type = CCM_KS_STRING },
    { .name = "hints", .type = CCM_KS_ANY },
    { .name = NULL },
};

static const struct ccm_ks_schema slice_endpoint_schema = { .type_name = "Endpoint",
                                                            .fields = slice_endpoint_fields };

static const struct ccm_ks_field slice_port_fields[] = {
    { .name = "name", .type = CCM_KS_STRING, .flags = CCM_KS_KEEP },
    { .name = "protocol", .type = CCM_KS_STRING },
    { .name = "port", .type = CCM_KS_INT32 },
    { .name = "appProtocol", .type = CCM_KS_STRING },
    { .name = NULL },
};

static const struct ccm_ks_schema slice_port_schema = { .type_name = "EndpointPort",
                                                        .fields = slice_port_fields };

static const struct ccm_ks_field slice_fields[] = {
    { .name = "kind", .type = CCM_KS_STRING },
    { .name = "apiVersion", .type = CCM_KS_STRING },
    { .name = "metadata", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &ccm_ks_schema_meta },
    { .name = "addressType", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "endpoints",
      .type = CCM_KS_LIST,
      .flags = CCM_KS_SHOW,
      .sub = &slice_endpoint_schema },
    { .name = "ports", .type = CCM_KS_LIST, .flags = CCM_KS_SHOW, .sub = &slice_port_schema },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_slice = { .type_name = "EndpointSlice",
                                                   .fields = slice_fields };

static const struct ccm_ks_field ep_address_fields[] = {
    { .name = "ip", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "hostname", .type = CCM_KS_STRING },
    { .name = "nodeName", .type = CCM_KS_STRING },
    { .name = "targetRef", .type = CCM_KS_OBJECT, .sub = &reference_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema ep_address_schema = { .type_name = "EndpointAddress",
                                                        .fields = ep_address_fields };

static const struct ccm_ks_field ep_port_fields[] = {
    { .name = "name", .type = CCM_KS_STRING },
    { .name = "port", .type = CCM_KS_INT32, .flags = CCM_KS_SHOW },
    { .name = "protocol", .type = CCM_KS_STRING },
    { .name = "appProtocol", .type = CCM_KS_STRING },
    { .name = NULL },
};

static const struct ccm_ks_schema ep_port_schema = { .type_name = "EndpointPort",
                                                     .fields = ep_port_fields };

static const struct ccm_ks_field ep_subset_fields[] = {
    { .name = "addresses", .type = CCM_KS_LIST, .sub = &ep_address_schema },
    { .name = "notReadyAddresses", .type = CCM_KS_LIST, .sub = &ep_address_schema },
    { .name = "ports", .type = CCM_KS_LIST, .sub = &ep_port_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema ep_subset_schema = { .type_name = "EndpointSubset",
                                                       .fields = ep_subset_fields };

static const struct ccm_ks_field endpoints_fields[] = {
    { .name = "kind", .type = CCM_KS_STRING },
    { .name = "apiVersion", .type = CCM_KS_STRING },
    { .name = "metadata", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &ccm_ks_schema_meta },
    { .name = "subsets", .type = CCM_KS_LIST, .sub = &ep_subset_schema },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_endpoints = { .type_name = "Endpoints",
                                                       .fields = endpoints_fields };

static const struct ccm_ks_field taint_fields[] = {
    { .name = "key", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "value", .type = CCM_KS_STRING },
    { .name = "effect", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "timeAdded", .type = CCM_KS_TIME },
    { .name = NULL },
};

static const struct ccm_ks_schema taint_schema = { .type_name = "Taint", .fields = taint_fields };

static const struct ccm_ks_field node_spec_fields[] = {
    { .name = "podCIDR", .type = CCM_KS_STRING },
    { .name = "podCIDRs", .type = CCM_KS_STRINGS, .flags = CCM_KS_SET },
    { .name = "providerID", .type = CCM_KS_STRING },
    { .name = "unschedulable", .type = CCM_KS_BOOL },
    { .name = "taints", .type = CCM_KS_LIST, .sub = &taint_schema },
    { .name = "configSource", .type = CCM_KS_ANY },
    { .name = "externalID", .type = CCM_KS_STRING },
    { .name = NULL },
};

static const struct ccm_ks_schema node_spec_schema = { .type_name = "NodeSpec",
                                                       .fields = node_spec_fields };

static const struct ccm_ks_field node_condition_fields[] = {
    { .name = "type", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "status", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "lastHeartbeatTime", .type = CCM_KS_TIME, .flags = CCM_KS_SHOW },
    { .name = "lastTransitionTime", .type = CCM_KS_TIME, .flags = CCM_KS_SHOW },
    { .name = "reason", .type = CCM_KS_STRING },
    { .name = "message", .type = CCM_KS_STRING },
    { .name = NULL },
};

static const struct ccm_ks_schema node_condition_schema = { .type_name = "NodeCondition",
                                                            .fields = node_condition_fields };

static const struct ccm_ks_field node_address_fields[] = {
    { .name = "type", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "address", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = NULL },
};

static const struct ccm_ks_schema node_address_schema = { .type_name = "NodeAddress",
                                                          .fields = node_address_fields };

static const struct ccm_ks_field daemon_endpoint_fields[] = {
    { .name = "Port", .type = CCM_KS_INT32, .flags = CCM_KS_SHOW },
    { .name = NULL },
};

static const struct ccm_ks_schema daemon_endpoint_schema = { .type_name = "DaemonEndpoint",
                                                             .fields = daemon_endpoint_fields };

static const struct ccm_ks_field daemon_endpoints_fields[] = {
    { .name = "kubeletEndpoint",
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &daemon_endpoint_schema },
    { .name = NULL },
};

static const struct ccm_ks_schema daemon_endpoints_schema = { .type_name = "NodeDaemonEndpoints",
                                                              .fields = daemon_endpoints_fields };

static const struct ccm_ks_field node_info_fields[] = {
    { .name = "machineID", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "systemUUID", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "bootID", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "kernelVersion", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "osImage", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "containerRuntimeVersion", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "kubeletVersion", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "kubeProxyVersion", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "operatingSystem", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "architecture", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "swap", .type = CCM_KS_ANY },
    { .name = NULL },
};

static const struct ccm_ks_schema node_info_schema = { .type_name = "NodeSystemInfo",
                                                       .fields = node_info_fields };

static const struct ccm_ks_field node_status_fields[] = {
    { .name = "capacity", .type = CCM_KS_QUANTITIES },
    { .name = "allocatable", .type = CCM_KS_QUANTITIES },
    { .name = "phase", .type = CCM_KS_STRING },
    { .name = "conditions",
      .type = CCM_KS_LIST,
      .sub = &node_condition_schema,
      .merge_key = "type" },
    { .name = "addresses", .type = CCM_KS_LIST, .sub = &node_address_schema, .merge_key = "type" },
    { .name = "daemonEndpoints",
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &daemon_endpoints_schema },
    { .name = "nodeInfo", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &node_info_schema },
    { .name = "images", .type = CCM_KS_ANY },
    { .name = "volumesInUse", .type = CCM_KS_STRINGS },
    { .name = "volumesAttached", .type = CCM_KS_ANY },
    { .name = "config", .type = CCM_KS_ANY },
    { .name = "runtimeHandlers", .type = CCM_KS_ANY },
    { .name = "features", .type = CCM_KS_ANY },
    { .name = "declaredFeatures", .type = CCM_KS_STRINGS },
    { .name = NULL },
};

static const struct ccm_ks_schema node_status_schema = { .type_name = "NodeStatus",
                                                         .fields = node_status_fields };

static const struct ccm_ks_field node_fields[] = {
    { .name = "kind", .type = CCM_KS_STRING },
    { .name = "apiVersion", .type = CCM_KS_STRING },
    { .name = "metadata", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &ccm_ks_schema_meta },
    { .name = "spec", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &node_spec_schema },
    { .name = "status", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &node_status_schema },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_node = { .type_name = "Node", .fields = node_fields };

static const struct ccm_ks_field pod_condition_fields[] = {
    { .name = "type", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "observedGeneration", .type = CCM_KS_INT64 },
    { .name = "status", .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "lastProbeTime", .type = CCM_KS_TIME, .flags = CCM_KS_SHOW },
    { .name = "lastTransitionTime", .type = CCM_KS_TIME, .flags = CCM_KS_SHOW },
    { .name = "reason", .type = CCM_KS_STRING },
    { .name = "message", .type = CCM_KS_STRING },
    { .name = NULL },
};

static const struct ccm_ks_schema pod_condition_schema = { .type_name = "PodCondition",
                                                           .fields = pod_condition_fields };

static const struct ccm_ks_field pod_ip_fields[] = {
    { .name = "ip", .type = CCM_KS_STRING },
    { .name = NULL },
};

static const struct ccm_ks_schema pod_ip_schema = { .type_name = "PodIP", .fields = pod_ip_fields };

static const struct ccm_ks_field pod_status_fields[] = {
    { .name = "observedGeneration", .type = CCM_KS_INT64 },
    { .name = "phase", .type = CCM_KS_STRING },
    { .name = "conditions",
      .type = CCM_KS_LIST,
      .sub = &pod_condition_schema,
      .merge_key = "type" },
    { .name = "message", .type = CCM_KS_STRING },
    { .name = "reason", .type = CCM_KS_STRING },
    { .name = "nominatedNodeName", .type = CCM_KS_STRING },
    { .name = "hostIP", .type = CCM_KS_STRING },
    { .name = "hostIPs", .type = CCM_KS_ANY },
    { .name = "podIP", .type = CCM_KS_STRING },
    { .name = "podIPs", .type = CCM_KS_LIST, .sub = &pod_ip_schema, .merge_key = "ip" },
    { .name = "startTime", .type = CCM_KS_TIME },
    { .name = "initContainerStatuses", .type = CCM_KS_ANY },
    { .name = "containerStatuses", .type = CCM_KS_ANY },
    { .name = "qosClass", .type = CCM_KS_STRING },
    { .name = "ephemeralContainerStatuses", .type = CCM_KS_ANY },
    { .name = "resize", .type = CCM_KS_STRING },
    { .name = "resourceClaimStatuses", .type = CCM_KS_ANY },
    { .name = NULL },
};

static const struct ccm_ks_schema pod_status_schema = { .type_name = "PodStatus",
                                                        .fields = pod_status_fields };

static const struct ccm_ks_field pod_fields[] = {
    { .name = "kind", .type = CCM_KS_STRING },
    { .name = "apiVersion", .type = CCM_KS_STRING },
    { .name = "metadata", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &ccm_ks_schema_meta },
    { .name = "spec", .type = CCM_KS_ANY },
    { .name = "status", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &pod_status_schema },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_pod = { .type_name = "Pod", .fields = pod_fields };

static const struct ccm_ks_field event_source_fields[] = {
    { .name = "component", .tag = 1, .type = CCM_KS_STRING },
    { .name = "host", .tag = 2, .type = CCM_KS_STRING },
    { .name = NULL },
};

static const struct ccm_ks_schema event_source_schema = { .type_name = "EventSource",
                                                          .fields = event_source_fields };

static const struct ccm_ks_field event_series_fields[] = {
    { .name = "count", .tag = 1, .type = CCM_KS_INT32 },
    { .name = "lastObservedTime", .tag = 2, .type = CCM_KS_MICROTIME, .flags = CCM_KS_SHOW },
    { .name = NULL },
};

static const struct ccm_ks_schema event_series_schema = { .type_name = "EventSeries",
                                                          .fields = event_series_fields };

static const struct ccm_ks_field event_fields[] = {
    { .name = "kind", .type = CCM_KS_STRING },
    { .name = "apiVersion", .type = CCM_KS_STRING },
    { .name = "metadata",
      .tag = 1,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &ccm_ks_schema_meta },
    { .name = "involvedObject",
      .tag = 2,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &reference_schema },
    { .name = "reason", .tag = 3, .type = CCM_KS_STRING },
    { .name = "message", .tag = 4, .type = CCM_KS_STRING },
    { .name = "source",
      .tag = 5,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &event_source_schema },
    { .name = "firstTimestamp", .tag = 6, .type = CCM_KS_TIME, .flags = CCM_KS_SHOW },
    { .name = "lastTimestamp", .tag = 7, .type = CCM_KS_TIME, .flags = CCM_KS_SHOW },
    { .name = "count", .tag = 8, .type = CCM_KS_INT32 },
    { .name = "type", .tag = 9, .type = CCM_KS_STRING },
    { .name = "eventTime", .tag = 10, .type = CCM_KS_MICROTIME, .flags = CCM_KS_SHOW },
    { .name = "series", .tag = 11, .type = CCM_KS_OBJECT, .sub = &event_series_schema },
    { .name = "action", .tag = 12, .type = CCM_KS_STRING },
    { .name = "related", .tag = 13, .type = CCM_KS_OBJECT, .sub = &reference_schema },
    { .name = "reportingComponent", .tag = 14, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = "reportingInstance", .tag = 15, .type = CCM_KS_STRING, .flags = CCM_KS_SHOW },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_event = { .type_name = "Event", .fields = event_fields };

static const struct ccm_ks_field event_v1_fields[] = {
    { .name = "kind", .type = CCM_KS_STRING },
    { .name = "apiVersion", .type = CCM_KS_STRING },
    { .name = "metadata", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &ccm_ks_schema_meta },
    { .name = "eventTime", .type = CCM_KS_MICROTIME, .flags = CCM_KS_SHOW },
    { .name = "series", .type = CCM_KS_OBJECT, .sub = &event_series_schema },
    { .name = "reportingController", .type = CCM_KS_STRING },
    { .name = "reportingInstance", .type = CCM_KS_STRING },
    { .name = "action", .type = CCM_KS_STRING },
    { .name = "reason", .type = CCM_KS_STRING },
    { .name = "regarding", .type = CCM_KS_OBJECT, .flags = CCM_KS_SHOW, .sub = &reference_schema },
    { .name = "related", .type = CCM_KS_OBJECT, .sub = &reference_schema },
    { .name = "note", .type = CCM_KS_STRING },
    { .name = "type", .type = CCM_KS_STRING },
    { .name = "deprecatedSource",
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &event_source_schema },
    { .name = "deprecatedFirstTimestamp", .type = CCM_KS_TIME, .flags = CCM_KS_SHOW },
    { .name = "deprecatedLastTimestamp", .type = CCM_KS_TIME, .flags = CCM_KS_SHOW },
    { .name = "deprecatedCount", .type = CCM_KS_INT32 },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_event_v1 = { .type_name = "Event",
                                                      .fields = event_v1_fields };

static const struct ccm_ks_field lease_spec_fields[] = {
    { .name = "holderIdentity", .tag = 1, .type = CCM_KS_STRING, .flags = CCM_KS_KEEP },
    { .name = "leaseDurationSeconds", .tag = 2, .type = CCM_KS_INT32, .flags = CCM_KS_KEEP },
    { .name = "acquireTime", .tag = 3, .type = CCM_KS_MICROTIME },
    { .name = "renewTime", .tag = 4, .type = CCM_KS_MICROTIME },
    { .name = "leaseTransitions", .tag = 5, .type = CCM_KS_INT32, .flags = CCM_KS_KEEP },
    { .name = "strategy", .tag = 6, .type = CCM_KS_STRING },
    { .name = "preferredHolder", .tag = 7, .type = CCM_KS_STRING },
    { .name = NULL },
};

static const struct ccm_ks_schema lease_spec_schema = { .type_name = "LeaseSpec",
                                                        .fields = lease_spec_fields };

static const struct ccm_ks_field lease_fields[] = {
    { .name = "kind", .type = CCM_KS_STRING },
    { .name = "apiVersion", .type = CCM_KS_STRING },
    { .name = "metadata",
      .tag = 1,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &ccm_ks_schema_meta },
    { .name = "spec",
      .tag = 2,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &lease_spec_schema },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_lease = { .type_name = "Lease", .fields = lease_fields };

static const struct ccm_ks_field namespace_spec_fields[] = {
    { .name = "finalizers", .tag = 1, .type = CCM_KS_STRINGS },
    { .name = NULL },
};

static const struct ccm_ks_schema namespace_spec_schema = { .type_name = "NamespaceSpec",
                                                            .fields = namespace_spec_fields };

static const struct ccm_ks_field namespace_status_fields[] = {
    { .name = "phase", .tag = 1, .type = CCM_KS_STRING },
    { .name = "conditions",
      .tag = 2,
      .type = CCM_KS_LIST,
      .sub = &condition_schema,
      .merge_key = "type" },
    { .name = NULL },
};

static const struct ccm_ks_schema namespace_status_schema = { .type_name = "NamespaceStatus",
                                                              .fields = namespace_status_fields };

static const struct ccm_ks_field namespace_fields[] = {
    { .name = "kind", .type = CCM_KS_STRING },
    { .name = "apiVersion", .type = CCM_KS_STRING },
    { .name = "metadata",
      .tag = 1,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &ccm_ks_schema_meta },
    { .name = "spec",
      .tag = 2,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &namespace_spec_schema },
    { .name = "status",
      .tag = 3,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &namespace_status_schema },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_namespace = { .type_name = "Namespace",
                                                       .fields = namespace_fields };

static const struct ccm_ks_field config_map_fields[] = {
    { .name = "kind", .type = CCM_KS_STRING },
    { .name = "apiVersion", .type = CCM_KS_STRING },
    { .name = "metadata",
      .tag = 1,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &ccm_ks_schema_meta },
    { .name = "data", .tag = 2, .type = CCM_KS_MAP },
    { .name = "binaryData", .type = CCM_KS_MAP },
    { .name = "immutable", .tag = 4, .type = CCM_KS_BOOL, .flags = CCM_KS_KEEP },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_config_map = { .type_name = "ConfigMap",
                                                        .fields = config_map_fields };

static const struct ccm_ks_field service_account_fields[] = {
    { .name = "kind", .type = CCM_KS_STRING },
    { .name = "apiVersion", .type = CCM_KS_STRING },
    { .name = "metadata",
      .tag = 1,
      .type = CCM_KS_OBJECT,
      .flags = CCM_KS_SHOW,
      .sub = &ccm_ks_schema_meta },
    { .name = "secrets", .type = CCM_KS_ANY },
    { .name = "imagePullSecrets", .type = CCM_KS_ANY },
    { .name = "automountServiceAccountToken", .tag = 4, .type = CCM_KS_BOOL, .flags = CCM_KS_KEEP },
    { .name = NULL },
};

const struct ccm_ks_schema ccm_ks_schema_service_account = { .type_name = "ServiceAccount",
                                                             .fields = service_account_fields };
