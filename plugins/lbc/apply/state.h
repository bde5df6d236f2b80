/*
 * A load balancer with its groups and listeners as plain data: what a Service wants, and what the
 * cloud holds. The structs below have what all products have; a product's own begin with them.
 * Groups and listeners are allocated one by one, so a pointer to one holds until it is dropped.
 * Texts are owned by the structs; NULL means "not known" or "not set". One thread at a time.
 */
#ifndef CCM_LBC_STATE_H
#define CCM_LBC_STATE_H

#include "lbc/model/backend.h"
#include "lbc/model/protocol.h"
#include "lbc/model/tags.h"
#include "lbc/rules/attrs.h"
#include "lbc/rules/lb_attrs.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Backends that listeners send to. */
struct lbc_group {
    char *id;   /* present; desired: somebody else's group that a person chose for the port */
    char *name; /* present ones may share it; desired: unique */
    char *key;  /* desired: what its backends are described by; NULL = name */
    enum lbc_protocol protocol;
    uint16_t port;     /* desired: the first Service port that uses it, for messages */
    bool add_only;     /* desired: most pods have no interface, nothing is removed or re-weighed */
    bool broken;       /* desired: the chosen group cannot be used, the port is left as it is */
    bool present_only; /* desired: it is kept in step where it is there, and never made */
    bool unread;       /* present: its backends are not known */
    bool changing;     /* present: the cloud is adding or changing some; it is read again soon */
    enum lbc_frozen_by frozen_by; /* desired */
    struct lbc_attrs attrs;
    struct lbc_backends backends;
};

struct lbc_listener {
    char *id; /* present, where a listener has one */
    enum lbc_protocol protocol;
    uint16_t port;
    uint16_t last_port; /* of a range of ports; else the same as port */
    bool is_range;      /* made for a range of ports, be it of one */
    bool running;       /* present */
    bool changing;      /* present: the cloud is changing it; it is read again soon */
    bool broken;        /* desired: could not be worked out, so what is there stays as it is */
    bool lacks;       /* desired: a value for it cannot be used, so it is changed but never made */
    bool ranges;      /* desired: it is bound to the list that the product keeps of source ranges */
    bool certs_known; /* its further certificates: present: were read; desired: are told */
    char *description;
    struct lbc_group *group; /* desired: where it sends to, of the same state; NULL = not known */
    char *group_id;          /* present; desired: the group that a person chose */
    struct lbc_attrs attrs;
};

struct lbc_state;

/* A load balancer, which a product's own begins with. */
struct lbc_lb {
    char *id; /* NULL: there is none, or it is not known */
    char *vpc_id;
    struct lbc_tags tags; /* desired: the additional ones */
    bool untagged;        /* found by its name: its owner's tag is missing */
    unsigned explicit;    /* present: 1 << number of an attribute, a person asked for that value */
    char *texts[LBC_LB_TEXTS]; /* attributes by their numbers, see lb_attrs.h */
};

/* A product's structs and words. */
struct lbc_state_type {
    size_t size;
    size_t lb_size;
    size_t group_size;
    size_t listener_size;
    /* Groups are the load balancer's. Else each Service has its own, and they outlive the load
     * balancer: writes to them do not show that it is gone. */
    bool groups_move;
    /* Free what stands behind the common members, and in a state behind its load balancer; NULL =
     * nothing to free. */
    void (*fini)(struct lbc_state *state);
    void (*lb_fini)(struct lbc_lb *lb);
    void (*group_fini)(struct lbc_group *group);
    void (*listener_fini)(struct lbc_listener *listener);
    /* Copy what stands behind the common members of a load balancer, into an empty one: 0 or
     * -ENOMEM. NULL = nothing. */
    int (*lb_copy)(struct lbc_lb *to, const struct lbc_lb *from);
    /* Whether a present group agrees with a desired one of that name in all that cannot be changed;
     * NULL = it does. */
    bool (*group_serves)(const struct lbc_group *have, const struct lbc_group *want);
    const char *(*protocol_name)(enum lbc_protocol protocol); /* for people */
};

/* Zeroed memory is an empty one. In a product's own its load balancer comes next. */
struct lbc_state {
    const struct lbc_state_type *type; /* NULL until there is a first group or listener */
    struct lbc_group **groups;
    size_t group_count;
    size_t group_cap;
    struct lbc_listener **listeners;
    size_t listener_count;
    size_t listener_cap;
    bool groups_known;    /* present: all groups (of the Service, where they are found by it) */
    bool listeners_known; /* present: all listeners are listed */
    bool listener_leaves; /* present: the cloud is deleting a further one, which is not listed */
};

/* Free all that it holds, the product's own too, and leave it empty. */
void lbc_state_fini(struct lbc_state *state, const struct lbc_state_type *type);
/* Make it small; only lbc_state_wake(), lbc_state_lb(), lbc_state_move() and lbc_state_fini() may
 * be called on it then. Without memory it stays as it is. */
void lbc_state_rest(struct lbc_state *state);
/* Make it as it was. 0, or -ENOMEM: it is half awake, which rest and wake can do with. */
CCM_NODISCARD int lbc_state_wake(struct lbc_state *state);

/* Append an empty element; NULL on ENOMEM. All elements of a state have the same type. */
struct lbc_group *lbc_state_new_group(struct lbc_state *state, const struct lbc_state_type *type);
struct lbc_listener *lbc_state_new_listener(struct lbc_state *state,
                                            const struct lbc_state_type *type);
/* Free one of the state's; NULL is fine. */
void lbc_state_drop_group(struct lbc_state *state, const struct lbc_group *group);
/* Move present groups that `to` lacks, known by their ids. Out of memory some stay in `from`. */
void lbc_state_keep_groups(struct lbc_state *to, struct lbc_state *from);
void lbc_state_drop_listener(struct lbc_state *state, const struct lbc_listener *listener);
/* Drop all: they are to be read again. */
void lbc_state_forget_groups(struct lbc_state *state);
void lbc_state_forget_listeners(struct lbc_state *state);
/* Move what is about the load balancer, in both directions between a Service's state and one that
 * Services share, and leave none of it in `from`. What is the Service's own stays where it is. `to`
 * holds nothing of it before. Either may rest. */
void lbc_state_move(struct lbc_state *to, struct lbc_state *from,
                    const struct lbc_state_type *type);

/* The load balancer of a product's state. */
static inline struct lbc_lb *lbc_state_lb(const struct lbc_state *state)
{
    return (struct lbc_lb *)(void *)((char *)(uintptr_t)state + sizeof(*state));
}
/* For a product: its load balancer stands where it is looked for. */
#define LBC_STATE_CHECK(own)                                                                       \
    _Static_assert(offsetof(own, lbc) == 0 && offsetof(own, lb) == sizeof(struct lbc_state),       \
                   "a state has its load balancer behind the common members")

/* NULL when there is none; so for an id of NULL. */
struct lbc_group *lbc_state_group_by_id(const struct lbc_state *state, const char *id);
/* The present group that serves where `want` is desired: the chosen one by its id, else one of that
 * name. Names are not unique in the cloud: one that a listener uses comes first. */
struct lbc_group *lbc_state_group_for(const struct lbc_state *state, const struct lbc_group *want);
/* Whether a listener sends to the present group. */
bool lbc_state_uses_group(const struct lbc_state *state, const struct lbc_group *group);
struct lbc_listener *lbc_state_listener_by_id(const struct lbc_state *state, const char *id);
/* The listener of that protocol on exactly these ports. */
struct lbc_listener *lbc_state_listener_on(const struct lbc_state *state,
                                           enum lbc_protocol protocol, uint16_t port,
                                           uint16_t last_port);
/* The same: of the protocol and the ports of `like`. */
struct lbc_listener *lbc_state_listener_like(const struct lbc_state *state,
                                             const struct lbc_listener *like);
/* Whether the two need the same port of a load balancer. */
bool lbc_listener_clash(const struct lbc_listener *a, const struct lbc_listener *b);

/* What the backends of a desired group are described by. */
const char *lbc_group_key(const struct lbc_group *group);

/* All of a load balancer of that type, what is the product's own included. A copy is a deep one
 * into an empty struct: 0 or -ENOMEM (the caller finishes `to` in any case). */
void lbc_lb_fini(struct lbc_lb *lb, const struct lbc_state_type *type);
CCM_NODISCARD int lbc_lb_copy(struct lbc_lb *to, const struct lbc_lb *from,
                              const struct lbc_state_type *type);

/* All of a group or listener of that type. */
void lbc_group_fini(struct lbc_group *group, const struct lbc_state_type *type);
void lbc_listener_fini(struct lbc_listener *listener, const struct lbc_state_type *type);
/* The common members only: deep copy into an empty struct, 0 or -ENOMEM (the caller finishes `to`
 * in any case). */
CCM_NODISCARD int lbc_listener_copy(struct lbc_listener *to, const struct lbc_listener *from);

#endif
