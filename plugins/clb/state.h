/*
 * A load balancer with its groups and listeners as plain data: what a Service wants, and what the
 * cloud holds. Texts are owned by the structs; NULL means "not known" or "not set". One thread at a
 * time.
 */
#ifndef CCM_CLB_STATE_H
#define CCM_CLB_STATE_H

#include "domains.h"
#include "fields.h"
#include "lb_fields.h"
#include "lbc/model/backend.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clb_listener {
    uint16_t port;
    enum clb_protocol protocol;
    bool running; /* present */
    bool broken;  /* desired: could not be worked out, so what is there stays as it is */
    bool lacks;   /* desired: a value for it cannot be used, so it is changed but never made */
    char *description;
    char *group_name; /* desired */
    char *group_id;   /* present */
    struct lbc_attrs attrs;
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

struct clb_group {
    char *id;      /* present; desired: somebody else's group that a person chose for the port */
    char *name;    /* desired: unique; see clb_group_key() for one that a person chose */
    char *key;     /* desired: what its backends are described by; NULL = name */
    uint16_t port; /* desired: the first Service port that uses it */
    enum clb_protocol protocol;
    bool add_only; /* desired: some pod has no interface yet, nothing is removed or re-weighed */
    enum lbc_frozen_by frozen_by; /* desired */
    bool broken;       /* desired: the chosen group cannot be used, the port is left as it is */
    bool present_only; /* desired: it is kept in step where it is there, and never made */
    bool unread;       /* present: its backends are not known */
    struct lbc_backends backends;
};

struct clb_state {
    struct clb_lb lb; /* lb.id NULL: there is none */
    struct clb_group *groups;
    size_t group_count;
    size_t group_cap;
    struct clb_listener *listeners;
    size_t listener_count;
    size_t listener_cap;
    bool groups_known;    /* present: all groups are listed */
    bool listeners_known; /* present: all listeners are listed */
    struct clb_acl acl;
};

/* What the backends of a desired group are described by. */
const char *clb_group_key(const struct clb_group *group);

void clb_state_fini(struct clb_state *state);
/* For a mirror that nobody works with; see struct lbc_mirror_type. */
void clb_state_rest(struct clb_state *state);
CCM_NODISCARD int clb_state_wake(struct clb_state *state);
void clb_listener_fini(struct clb_listener *listener);
void clb_acl_fini(struct clb_acl *acl);

/* Append an empty element; NULL on ENOMEM. Earlier pointers into the list become invalid. */
struct clb_group *clb_state_new_group(struct clb_state *state);
struct clb_listener *clb_state_new_listener(struct clb_state *state);
void clb_state_drop_group(struct clb_state *state, const char *id);
/* All of them: they are to be read again. */
void clb_state_forget_listeners(struct clb_state *state);
void clb_state_drop_listener(struct clb_state *state, uint16_t port, enum clb_protocol protocol);

struct clb_listener *clb_state_listener(const struct clb_state *state, uint16_t port,
                                        enum clb_protocol protocol);
struct clb_group *clb_state_group_by_id(const struct clb_state *state, const char *id);
/* Names are not unique in the cloud: a group that a listener uses comes first. */
struct clb_group *clb_state_group_by_name(const struct clb_state *state, const char *name);

/* Deep copy into an empty listener. 0 or -ENOMEM (the caller finishes `to` in any case). */
CCM_NODISCARD int clb_listener_copy(struct clb_listener *to, const struct clb_listener *from);

#endif
