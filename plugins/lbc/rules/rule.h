/*
 * What of a Service does nothing, or not what it seems to: annotations and fields, as data.
 * Findings of lint, events and refusals are filters of the same rows, so that all say the same.
 * Pure. Every thread.
 */
#ifndef CCM_LBC_RULE_H
#define CCM_LBC_RULE_H

#include "ccm/object.h"
#include "ccm/option.h"
#include "lbc/model/annotation.h"
#include "lbc/model/endpoint.h"
#include "util/buf.h"

#include <stdbool.h>

struct lbc_lint_rules;

/* Which part of the pairs "a:b,..." of a list is a port of the Service. */
enum lbc_rule_port {
    LBC_RULE_NO_LIST = 0,
    LBC_RULE_LEFT,
    LBC_RULE_RIGHT,
};

/* One row; a table ends with a NULL key. "{name}" stands for a member of struct lbc_names:
 * backend_type, nodes, pods, tag_owner, tag_cluster, tag_reuse, tag_tenants. */
struct lbc_rule {
    /* Suffix of the annotation, or the whole key when it has a slash, or "{name}"; with a topic the
     * path of a field. */
    const char *key;
    /* Whether to report it; the annotation is set, and not empty. NULL = always. */
    bool (*applies)(const struct ccm_service *service);
    const char *text; /* goes on behind the annotation's name; may have "{name}" in it */
    const struct ccm_option *unless; /* BOOL that makes it untrue; NULL = there is none */
    bool is_void;   /* the annotation does nothing at all then, so its value cannot be bad either */
    unsigned modes; /* 1U << enum lbc_backend_mode it holds for; 0 = all */
    bool guards;    /* it is about what limits who may connect: an error of lint */
    /* Entries of this list are reported that do nothing, in words of their own. */
    enum lbc_rule_port port;

    /* Of a field: one event per topic and change, beside NoEffect for all annotations. */
    const char *topic;  /* short, unique; NULL = the row is about an annotation */
    const char *reason; /* of the event; NULL = "UnsupportedField" */
    /* Why no load balancer is made while the field is set and not served: one would do what it
     * forbids. For one that is there the event is told at each audit. NULL = one is made. */
    const char *refusal;
    /* The backends have addresses of these, and the API server says that the Service lacks one of
     * them. */
    enum lbc_families families;
};

/* What holds for all kinds of load balancers. */
extern const struct lbc_rule lbc_rules[];

/* Rows of a product with families_of(). ipv6: the annotations of a load balancer whose backends
 * have IPv6 alone. */
#define LBC_RULE_FAMILIES(ipv6)                                                                    \
    { .key = "spec.ipFamilies",                                                                    \
      .topic = "ipv4",                                                                             \
      .families = LBC_IPV4,                                                                        \
      .text =                                                                                      \
          "spec.ipFamilies is IPv6 alone, but the load balancer reaches its backends over IPv4: "  \
          "set spec.ipFamilyPolicy to PreferDualStack, or make the Service anew with "             \
          "annotations " ipv6 },                                                                   \
    {                                                                                              \
        .key = "spec.ipFamilies", .topic = "ipv6", .families = LBC_IPV6,                           \
        .text = "spec.ipFamilies lacks IPv6, which annotation backend-ip-version asks for: set "   \
                "spec.ipFamilyPolicy to PreferDualStack, or remove the annotation"                 \
    }

/* The fields that controllers look at, for `applies`. */
bool lbc_rule_has_ip(const struct ccm_service *service);
bool lbc_rule_has_affinity(const struct ccm_service *service);

/* What is found, each kind for an event of its own. */
enum lbc_found_kind {
    LBC_FOUND_NO_EFFECT, /* an annotation; `text` goes on behind its name: "has no effect ..." */
    LBC_FOUND_UNCLEAR,   /* a value that is left alone because it may not mean what it says */
    LBC_FOUND_INSIDE,    /* what does not work from inside of the cluster */
    LBC_FOUND_TLS,       /* plain HTTP to ports that speak TLS */
    LBC_FOUND_FIELD,     /* a field that nothing acts on */
};

struct lbc_found {
    enum lbc_found_kind kind;
    uint64_t level;  /* CCM_LEVEL_* */
    const char *key; /* the annotation's name as its table has it, or the path of a field */
    const char *text;
};

/* What is asked for; borrowed. */
struct lbc_rule_ask {
    unsigned kinds; /* 1U << enum lbc_found_kind */
    const struct lbc_lint_rules *rules;
    const struct ccm_service *service;
    const struct ccm_service *view; /* the Service without annotations that cannot be used */
    bool pods_by_default;           /* option default_backend_type */
    const char *ip_mode;            /* option status_ip_mode */
    /* Whether a BOOL option is on, as the plugin is configured. */
    bool (*is_on)(void *arg, const struct ccm_option *option);
    void (*found)(void *arg, const struct lbc_found *found);
    void *arg;
};

/* found() is called for each that there is of these kinds, in a fixed order. */
void lbc_rules_find(const struct lbc_rule_ask *ask);
/* Whether the row holds; found() is not called. */
bool lbc_rule_holds(const struct lbc_rule_ask *ask, const struct lbc_rule *rule);
/* Whether a good value of the row's annotation would do anything for the Service: there are
 * listeners of its protocols that are ours to manage, and no rule says otherwise. */
bool lbc_rules_count(const struct lbc_lint_rules *rules, const struct ccm_service *service,
                     const struct lbc_anno *row);

/* The annotation, as `key` has it or its name. */
const char *lbc_rule_key(const struct lbc_rule *rule);
/* Append the text. */
void lbc_rule_write(const struct lbc_rule *rule, struct ccm_buf *text);

#endif
