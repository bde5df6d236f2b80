/*
 * Names that the engine reads and writes: on Services, Nodes and Pods, and on load balancers. They
 * belong to the provider. Those of keys.h hold where a plugin does not say otherwise; a provider of
 * another cloud says so once, in one of its files, outside of functions:
 *
 *     LBC_DEFINE_NAMES("balancer.example.com", "balancer-")
 *
 * or defines lbc_names, lbc_keys and the options that tell of names itself: what the plugin defines
 * takes the place of what the library has. What was written under one name is not found under
 * another: they are chosen once. Constants only: every layer of lbc may include it.
 */
#ifndef CCM_LBC_NAMES_H
#define CCM_LBC_NAMES_H

#include "ccm/option.h"

/* NULL only where said. */
struct lbc_names {
    /* Annotations of Services begin so, those of the rows and those that the engine knows by itself
     * ("backend-label", ...); and an older beginning, which counts where the first one is
     * missing (NULL = none). */
    const char *annotations;
    const char *annotations_before;
    /* The annotation that says what the backends are, and its values. */
    const char *backend_type;
    const char *nodes;
    const char *pods;
    /* A Service without class is another controller's if it has the first one, or the second one
     * with a value; NULL = there is none. */
    const char *elsewhere[2];
    const char *hash_ignored; /* an annotation that does not count as a change; NULL = none */
    const char *finalizers;   /* finalizers of all plugins of the family begin so */

    /* Labels of Services: what they were served as, with which load balancer, with which additional
     * tags. */
    const char *hash_label;
    const char *lb_label;
    const char *tags_label;
    const char *taken; /* beginning of those with what listeners were before they were taken over */
    const char *condition; /* of Services */
    const char *readiness; /* readiness gates of Pods: this, and the name of the Service */

    const char *exclude_node; /* a label that takes a node out of sight */
    const char *foreign_node; /* provider ids that begin so do the same; NULL = none */
    /* Provider ids begin so, and the instance stands behind their last slash; NULL: it stands
     * behind the only dot, as in "region.instance" and "alicloud://region.instance". */
    const char *provider;

    /* Tags of load balancers, which no Service sets: whose they are; which cluster's; that a
     * Service uses one that a person made; the beginning of those that say what namespaces may do,
     * and two of these, see reuse.h; the beginning of the cloud's own (NULL = none). */
    const char *tag_owner;
    const char *tag_cluster;
    const char *tag_reuse;
    const char *tag_tenants;
    const char *tag_use;
    const char *tag_configure;
    const char *tag_cloud;
    const char *messages;        /* some that earlier controllers have begin so; "" = nothing */
    const char *unnamed_cluster; /* a cluster id that many clusters may have; NULL = none */
};

extern const struct lbc_names lbc_names;

/* Beginnings of all names on Services and Nodes, NULL-terminated: `keys` of the watches. */
extern const char *const lbc_keys[];

/* Members of a struct lbc_names: in Kubernetes all begins with a domain of the provider's, tags
 * begin with `tag`. */
#define LBC_NAMES(domain, tag)                                                                     \
    .annotations = domain "/", .backend_type = domain "/backend-type", .nodes = "nodes",           \
    .pods = "pods", .finalizers = domain "/", .hash_label = domain "/hash",                        \
    .lb_label = domain "/load-balancer-id", .tags_label = domain "/additional-tags",               \
    .taken = domain "/taken-", .condition = domain "/LoadBalancerReady",                           \
    .readiness = "readiness." domain "/", .exclude_node = domain "/exclude-node", .provider = "",  \
    .tag_owner = tag "owner", .tag_cluster = tag "cluster", .tag_reuse = tag "used",               \
    .tag_tenants = tag "allow-", .messages = "", .tag_use = tag "allow-namespaces",                \
    .tag_configure = tag "allow-configuration"

/* Options that tell of names: their tables. */
#define LBC_OPTION_BACKEND_TYPE(nodes, pods)                                                       \
    .struct_size = sizeof(struct ccm_option), .type = CCM_OPTION_STRING,                           \
    .name = "default_backend_type", .fallback = (nodes), .values = nodes "|" pods,                 \
    .help = "What serves Services that do not say: " nodes " (nodes, by node port) or " pods       \
            " (pods, by their own address; needs a network where pods have interfaces)."
#define LBC_OPTION_CONDITIONS(condition)                                                           \
    .struct_size = sizeof(struct ccm_option), .type = CCM_OPTION_BOOL, .flags = CCM_OPTION_LIVE,   \
    .name = "service_conditions", .fallback = "true",                                              \
    .help = "Keep condition " condition " in the status of Services: True, or False with what "    \
            "the event of the failure says. Written when that changes, and every half hour while " \
            "a failure lasts."
#define LBC_OPTION_REUSE(tenants)                                                                  \
    .struct_size = sizeof(struct ccm_option), .type = CCM_OPTION_STRING, .flags = CCM_OPTION_LIVE, \
    .name = "reuse", .fallback = "on", .values = "on|tagged|off",                                  \
    .help = "Whether annotation id may name load balancers that a person made: on (any that no "   \
            "controller made), tagged (only those whose tag " tenants "allow-namespaces names "    \
            "the namespace of the Service, or *; what the person made there is changed only "      \
            "where tag " tenants "allow-configuration does so too), off (none). A Service that "   \
            "is refused keeps what it has in the cloud: its backends follow pods and nodes, and "  \
            "nothing else is written for it."

/* All of it. Both arguments are string literals; to be used once in a plugin, without semicolon. */
#define LBC_DEFINE_NAMES(domain, tag)                                                              \
    const struct lbc_names lbc_names = { LBC_NAMES(domain, tag) };                                 \
    const char *const lbc_keys[] = { domain "/", "readiness." domain "/", NULL };                  \
    const struct ccm_option lbc_opt_backend_type = { LBC_OPTION_BACKEND_TYPE("nodes", "pods") };   \
    const struct ccm_option lbc_opt_conditions = { LBC_OPTION_CONDITIONS(domain                    \
                                                                         "/LoadBalancerReady") };  \
    const struct ccm_option lbc_opt_reuse = { LBC_OPTION_REUSE(tag) };

#endif
