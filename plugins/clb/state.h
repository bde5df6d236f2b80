/*
 * A classic load balancer with its listeners, groups and access list as plain data; see
 * lbc/apply/state.h.
 */
#ifndef CCM_CLB_STATE_H
#define CCM_CLB_STATE_H

#include "annotations.h"
#include "domains.h"
#include "lbc/apply/state.h"
#include "lbc/rules/lb_attrs.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clb_lb {
    struct lbc_lb lbc;
    char *eips;   /* bound elastic addresses, "a,b"; NULL = not read, or none */
    bool locked;  /* the cloud has locked it */
    bool partial; /* known from its creation only: what was not asked for is not known */
};

/* Attributes of the load balancer: numbers of rows and of texts (lb_attrs.h), and bits of what is
 * explicit. */
enum clb_lb_field {
    CLB_LB_NAME = LBC_LB_NAME,
    CLB_LB_ADDRESS_TYPE,
    CLB_LB_VSWITCH,
    CLB_LB_NETWORK,
    CLB_LB_MASTER,
    CLB_LB_SLAVE,
    CLB_LB_IP_VERSION,
    CLB_LB_GROUP,
    CLB_LB_ADDRESS,
    CLB_LB_TRAFFIC_CHARGE, /* internet: by traffic or by bandwidth */
    CLB_LB_BANDWIDTH,
    CLB_LB_SPEC,
    CLB_LB_CHARGE, /* of the instance */
    CLB_LB_MODIFICATION,
    CLB_LB_PROTECT, /* deletion protection: "on", "off" */
    CLB_LB_FIELD_COUNT,
};

struct clb_listener {
    struct lbc_listener lbc;
    struct clb_domains domains; /* domain extensions, of https listeners */
};

/* The access list that we keep for spec.loadBalancerSourceRanges. */
struct clb_acl {
    bool known; /* present: it was looked for; desired: the Service asks for one */
    bool kept;  /* desired: what is asked for cannot be used, so it stays as it is */
    bool ipv6;
    char *id; /* present; NULL: there is none */
    char *name;
    struct lbc_texts entries;
    bool bound; /* present: not needed, but the cloud says that a listener is bound to it */
};

struct clb_state {
    struct lbc_state lbc;
    struct clb_lb lb; /* lb.lbc.id NULL: there is none */
    struct clb_acl acl;
};

/* Groups are plain struct lbc_group. On a load balancer that is shared the access list is each
 * Service's own. */
extern const struct lbc_state_type clb_state_type;

static inline void clb_lb_fini(struct clb_lb *lb)
{
    lbc_lb_fini(&lb->lbc, &clb_state_type);
}

/* Deep copy into an empty one. 0 or -ENOMEM (the caller finishes `to` in any case). */
CCM_NODISCARD static inline int clb_lb_copy(struct clb_lb *to, const struct clb_lb *from)
{
    return lbc_lb_copy(&to->lbc, &from->lbc, &clb_state_type);
}

/* Stands for what an internet load balancer is paid by: of lb, by such a charge and bandwidth.
 * Never 0. */
uint64_t clb_lb_charge_what(const struct clb_lb *lb, const char *traffic_charge,
                            const char *bandwidth);

void clb_acl_fini(struct clb_acl *acl);

static inline void clb_listener_fini(struct clb_listener *listener)
{
    lbc_listener_fini(&listener->lbc, &clb_state_type);
}

static inline void clb_state_fini(struct clb_state *state)
{
    lbc_state_fini(&state->lbc, &clb_state_type);
}

/* lbc_state_new_listener() and the like, of CLB's type. */
static inline struct lbc_group *clb_state_new_group(struct clb_state *state)
{
    return lbc_state_new_group(&state->lbc, &clb_state_type);
}

static inline struct clb_listener *clb_state_new_listener(struct clb_state *state)
{
    return (struct clb_listener *)lbc_state_new_listener(&state->lbc, &clb_state_type);
}

static inline struct clb_listener *clb_listener_at(const struct clb_state *state, size_t i)
{
    return (struct clb_listener *)state->lbc.listeners[i];
}

static inline struct clb_listener *clb_state_listener(const struct clb_state *state, uint16_t port,
                                                      enum lbc_protocol protocol)
{
    return (struct clb_listener *)lbc_state_listener_on(&state->lbc, protocol, port, port);
}

#endif
