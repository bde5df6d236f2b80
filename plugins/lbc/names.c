#include "lbc/names.h"

#include "lbc/instance.h"
#include "lbc/keys.h"

/* Weak: what a plugin defines takes their place. */
#define WEAK __attribute__((weak))

WEAK const struct lbc_names lbc_names = {
    .annotations = LBC_ANNO_PREFIX,
    .annotations_before = LBC_ANNO_LEGACY_PREFIX,
    .backend_type = LBC_BACKEND_TYPE_KEY,
    .nodes = LBC_BACKEND_TYPE_NODES,
    .pods = LBC_BACKEND_TYPE_PODS,
    .elsewhere = { LBC_CLASS_TUNNEL_KEY, LBC_CLASS_KEY },
    .hash_ignored = LBC_HASH_IGNORED_KEY,
    .finalizers = LBC_FINALIZER_PREFIX,
    .hash_label = LBC_HASH_LABEL,
    .lb_label = LBC_LIFE_LB_LABEL,
    .tags_label = LBC_LIFE_TAGS_LABEL,
    .taken = LBC_LIFE_TAKEN,
    .condition = LBC_LIFE_CONDITION,
    .readiness = LBC_READINESS_PREFIX,
    .exclude_node = LBC_NODE_EXCLUDE_KEY,
    .foreign_node = LBC_NODE_HYBRID_PREFIX,
    .tag_owner = LBC_TAG_OWNER,
    .tag_cluster = LBC_TAG_CLUSTER,
    .tag_reuse = LBC_TAG_REUSE,
    .tag_tenants = LBC_TAG_TENANTS,
    .tag_use = LBC_TAG_TENANTS "allow-namespaces",
    .tag_configure = LBC_TAG_TENANTS "allow-configuration",
    .tag_cloud = LBC_TAG_CLOUD,
    .messages = "alicloud: ",
    .unnamed_cluster = LBC_CLUSTER_UNNAMED,
};

WEAK const char *const lbc_keys[] = { LBC_KEYS, NULL };
WEAK const struct ccm_option lbc_opt_backend_type = { LBC_OPTION_BACKEND_TYPE(
    LBC_BACKEND_TYPE_NODES, LBC_BACKEND_TYPE_PODS) };
WEAK const struct ccm_option lbc_opt_conditions = { LBC_OPTION_CONDITIONS(LBC_LIFE_CONDITION) };
WEAK const struct ccm_option lbc_opt_reuse = { LBC_OPTION_REUSE(LBC_TAG_TENANTS) };
