/*
 * Keys of annotations, labels, tags and conditions that users, other tools and earlier controllers
 * know, byte for byte, whatever the product. They name the cloud of the products of this tree, and
 * are what the engine uses where a plugin does not say otherwise (names.h); its code says
 * lbc_names. Constants only: every layer of lbc may include it.
 */
#ifndef CCM_LBC_KEYS_H
#define CCM_LBC_KEYS_H

/* Annotations of Services. */
#define LBC_ANNO_PREFIX        "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
#define LBC_ANNO_LEGACY_PREFIX "service.beta.kubernetes.io/alicloud-loadbalancer-"
#define LBC_BACKEND_TYPE_NODES "ecs"
#define LBC_BACKEND_TYPE_KEY   "service.beta.kubernetes.io/backend-type"
#define LBC_BACKEND_TYPE_PODS  "eni" /* its value for pods at their own addresses */
#define LBC_CLASS_KEY          "service.beta.kubernetes.io/class"
#define LBC_CLASS_TUNNEL_KEY   LBC_ANNO_PREFIX "tunnel-type"
#define LBC_HASH_IGNORED_KEY   "alibabacloud.com/reconcile.hash"

/* Finalizers of Services begin so, whatever the product. */
#define LBC_FINALIZER_PREFIX "service.k8s.alibaba/"

/* Labels and conditions of Services; gates of pods. */
#define LBC_HASH_LABEL      "service.beta.kubernetes.io/hash" /* see hash.h */
#define LBC_LIFE_LB_LABEL   "service.k8s.alibaba/loadbalancer-id"
#define LBC_LIFE_TAGS_LABEL "service.k8s.alibaba/additional-tags" /* see marks.h */
/* With the name of the plugin behind it: the id of a load balancer of a person on which something
 * of the Service may be. */
#define LBC_LIFE_REUSED_LABEL "ccm.alibabacloud.com/reused-"
#define LBC_LIFE_CONDITION    "ccm.alibabacloud.com/LoadBalancerReady"
#define LBC_READINESS_PREFIX  "service.readiness.alibabacloud.com/"

/* Nodes: what leaves them out, and how their instances are called. */
#define LBC_NODE_EXCLUDE_KEY   "service.alibabacloud.com/exclude-node"
#define LBC_NODE_CLOUD_PREFIX  "alicloud://"
#define LBC_NODE_HYBRID_PREFIX "ack-hybrid://"

/* Beginnings of all of them: the caches keep these of a Service with too many others. */
#define LBC_KEYS                                                                                   \
    LBC_ANNO_PREFIX, LBC_ANNO_LEGACY_PREFIX, LBC_BACKEND_TYPE_KEY, LBC_CLASS_KEY, LBC_HASH_LABEL,  \
        LBC_FINALIZER_PREFIX, "alibabacloud.com/", "ccm.alibabacloud.com/",                        \
        "service.alibabacloud.com/", LBC_READINESS_PREFIX

/* Tags of load balancers. */
#define LBC_TAG_OWNER   "kubernetes.do.not.delete"
#define LBC_TAG_CLUSTER "ack.aliyun.com"
#define LBC_TAG_REUSE   "kubernetes.reused.by.user"
/* The cluster's tag where a controller before was given no id: many clusters may have it. */
#define LBC_CLUSTER_UNNAMED "clusterid"
#define LBC_TAG_CLOUD       "acs:" /* the cloud's own begin so */
/* Tags that begin so say what namespaces may do with a resource: no Service sets them. */
#define LBC_TAG_TENANTS "ccm.alibabacloud.com/"
/* Labels of Services with what listeners were before they were taken over begin so. */
#define LBC_LIFE_TAKEN "ccm.alibabacloud.com/taken-"

#endif
