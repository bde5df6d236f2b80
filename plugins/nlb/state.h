/*
 * A network load balancer with its listeners, server groups and security group as plain data; see
 * lbc/apply/state.h.
 */
#ifndef CCM_NLB_STATE_H
#define CCM_NLB_STATE_H

#include "annotations.h"
#include "lbc/apply/state.h"
#include "lbc/rules/lb_attrs.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nlb_zone {
    char *zone_id;
    char *vswitch_id;
    char *address; /* private IPv4; desired: NULL = the cloud chooses */
    char *eip;     /* allocation id of a public address; desired: NULL = the cloud's own */
};

/* Attributes of the load balancer: numbers of rows and of texts (lb_attrs.h), and bits of what is
 * explicit. */
enum nlb_lb_field {
    NLB_LB_NAME = LBC_LB_NAME,
    NLB_LB_ADDRESS_TYPE, /* "Internet", "Intranet" */
    NLB_LB_IPV6_TYPE,    /* the same for IPv6 */
    NLB_LB_IP_VERSION,   /* "ipv4", "DualStack" */
    NLB_LB_GROUP,        /* resource group */
    NLB_LB_PACKAGE,      /* bandwidth package; desired "" = none */
    NLB_LB_CROSS_ZONE,   /* "true", "false" */
    NLB_LB_MODIFICATION, /* "ConsoleProtection", "NonProtection" */
    NLB_LB_PROTECT,      /* deletion protection: "true", "false" */
    NLB_LB_FIELD_COUNT,
};

struct nlb_lb {
    struct lbc_lb lbc;
    char *dns;
    char *status;           /* "Active", "Provisioning", ... */
    struct nlb_zone *zones; /* sorted by zone id */
    size_t zone_count;
    struct lbc_texts security_groups; /* desired: those that annotations name */
};

struct nlb_listener {
    struct lbc_listener lbc;
    struct lbc_texts certs; /* additional certificates */
};

struct nlb_group {
    struct lbc_group lbc;
    char *type;   /* "Instance", "Ip"; desired NULL = not told, which means Instance at creation */
    char *family; /* AddressIPVersion: "ipv4", "dualstack"; NULL = ipv4 */
    char *vpc_id; /* present */
    struct lbc_texts
        users; /* present, of groups that are not ours: the load balancers that use it */
    bool any_port;
    struct lbc_tags tags; /* present: to take the ownership tags off when it is kept */
};

/* One rule of the security group for spec.loadBalancerSourceRanges. */
struct nlb_rule {
    char *id; /* present */
    char *cidr;
    char *protocol;   /* "All" */
    char *port_range; /* "-1/-1" */
    char *description;
    bool ipv6;
    bool drop; /* policy: else accept */
    int priority;
};

/* The security group that we keep for spec.loadBalancerSourceRanges. */
struct nlb_security_group {
    bool known;  /* present: it was looked for */
    bool wanted; /* desired: the Service asks for one */
    char *id;    /* present; NULL: there is none */
    char *name;
    char *description;
    struct nlb_rule *rules;
    size_t rule_count;
    size_t rule_cap;
};

struct nlb_state {
    struct lbc_state lbc;
    struct nlb_lb lb; /* lb.lbc.id NULL: there is none */
    struct nlb_security_group security_group;
    bool by_tag; /* groups are known from a list by tags alone, which may be late */
};

/* On a load balancer that is shared groups and the security group are each Service's own. */
extern const struct lbc_state_type nlb_state_type;

static inline void nlb_lb_fini(struct nlb_lb *lb)
{
    lbc_lb_fini(&lb->lbc, &nlb_state_type);
}

/* Deep copy into an empty one. 0 or -ENOMEM (the caller finishes `to` in any case). */
CCM_NODISCARD static inline int nlb_lb_copy(struct nlb_lb *to, const struct nlb_lb *from)
{
    return lbc_lb_copy(&to->lbc, &from->lbc, &nlb_state_type);
}

void nlb_security_group_fini(struct nlb_security_group *security_group);

static inline void nlb_listener_fini(struct nlb_listener *listener)
{
    lbc_listener_fini(&listener->lbc, &nlb_state_type);
}

static inline void nlb_group_fini(struct nlb_group *group)
{
    lbc_group_fini(&group->lbc, &nlb_state_type);
}

static inline void nlb_state_fini(struct nlb_state *state)
{
    lbc_state_fini(&state->lbc, &nlb_state_type);
}

/* lbc_state_new_group() and the like, of NLB's types. */
static inline struct nlb_group *nlb_state_new_group(struct nlb_state *state)
{
    return (struct nlb_group *)lbc_state_new_group(&state->lbc, &nlb_state_type);
}

static inline struct nlb_group *nlb_group_at(const struct nlb_state *state, size_t i)
{
    return (struct nlb_group *)state->lbc.groups[i];
}

static inline struct nlb_group *nlb_state_group_by_id(const struct nlb_state *state, const char *id)
{
    return (struct nlb_group *)lbc_state_group_by_id(&state->lbc, id);
}

/* What cannot be changed: type, family, protocol, any_port, and the scheduler where it is to be a
 * hash, which the cloud takes at creation only. */
static inline struct nlb_group *nlb_state_group_for(const struct nlb_state *state,
                                                    const struct nlb_group *want)
{
    return (struct nlb_group *)lbc_state_group_for(&state->lbc, &want->lbc);
}

static inline struct nlb_listener *nlb_state_new_listener(struct nlb_state *state)
{
    return (struct nlb_listener *)lbc_state_new_listener(&state->lbc, &nlb_state_type);
}

static inline struct nlb_listener *nlb_listener_at(const struct nlb_state *state, size_t i)
{
    return (struct nlb_listener *)state->lbc.listeners[i];
}

static inline struct nlb_listener *nlb_state_listener_by_id(const struct nlb_state *state,
                                                            const char *id)
{
    return (struct nlb_listener *)lbc_state_listener_by_id(&state->lbc, id);
}

static inline struct nlb_listener *nlb_state_listener_like(const struct nlb_state *state,
                                                           const struct nlb_listener *like)
{
    return (struct nlb_listener *)lbc_state_listener_like(&state->lbc, &like->lbc);
}

struct nlb_rule *nlb_security_group_new_rule(struct nlb_security_group *security_group);
void nlb_security_group_drop_rule(struct nlb_security_group *security_group, size_t at);

/* Add a zone, in order; replaces the one of that zone id. 0 or -ENOMEM. Texts may be NULL. */
CCM_NODISCARD int nlb_lb_put_zone(struct nlb_lb *lb, const char *zone_id, const char *vswitch_id,
                                  const char *address, const char *eip);
/* Put all of another one. */
CCM_NODISCARD int nlb_lb_copy_zones(struct nlb_lb *to, const struct nlb_lb *from);
/* NULL: there is none. */
const struct nlb_zone *nlb_lb_find_zone(const struct nlb_lb *lb, const char *zone_id);
void nlb_lb_clear_zones(struct nlb_lb *lb);
/* 0 or -ENOMEM; "" is a value of the package, else it clears, as NULL does. */
CCM_NODISCARD static inline int nlb_lb_set(struct nlb_lb *lb, enum nlb_lb_field field,
                                           const char *value)
{
    return lbc_lb_set(lbc_lb_row(&nlb_annotations, field), lb->lbc.texts, value);
}

/* After `state` was read anew: what is remembered of `before` and cannot be read, which values are
 * there because a person asked for them. */
void nlb_state_recall(struct nlb_state *state, const struct nlb_state *before);

/* Deep copies into empty structs; of a group all that says which one it is, which cannot be
 * changed. 0 or -ENOMEM (the caller finishes `to` in any case). */
CCM_NODISCARD int nlb_group_copy_identity(struct nlb_group *to, const struct nlb_group *from);
CCM_NODISCARD int nlb_rule_copy(struct nlb_rule *to, const struct nlb_rule *from);

#endif
