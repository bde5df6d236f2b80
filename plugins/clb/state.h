/*
 * A classic load balancer with its listeners, groups and access list as plain data; see
 * lbc/apply/state.h.
 */
#ifndef CCM_CLB_STATE_H
#define CCM_CLB_STATE_H

#include "annotations.h"
#include "domains.h"
#include "lb_fields.h"
#include "lbc/apply/state.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clb_listener {
    struct lbc_listener lbc;
    bool ranges; /* desired: AclId is that of our own access list */
    /* Domain extensions of https listeners. Present: they were read. Desired: they are told. */
    bool domains_known;
    struct clb_domains domains;
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
    struct clb_lb lb; /* lb.id NULL: there is none */
    struct clb_acl acl;
};

/* Groups are plain struct lbc_group. */
extern const struct lbc_state_type clb_state_type;

void clb_state_fini(struct clb_state *state);
void clb_listener_fini(struct clb_listener *listener);
void clb_acl_fini(struct clb_acl *acl);

/* lbc_state_new_listener() and the like, of CLB's type. */
struct lbc_group *clb_state_new_group(struct clb_state *state);
struct clb_listener *clb_state_new_listener(struct clb_state *state);
struct clb_listener *clb_listener_at(const struct clb_state *state, size_t i);
struct clb_listener *clb_state_listener(const struct clb_state *state, uint16_t port,
                                        enum lbc_protocol protocol);

/* Deep copy into an empty listener, without its domains. 0 or -ENOMEM (the caller finishes `to` in
 * any case). */
CCM_NODISCARD int clb_listener_copy(struct clb_listener *to, const struct clb_listener *from);

#endif
