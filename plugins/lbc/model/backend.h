/*
 * A set of backends, desired or actual, ordered by identity: type, server, address, port. The
 * actual ones of every load balancer stay in memory, so a set that nobody works with rests: 20
 * bytes per backend instead of 100. One thread at a time per set.
 */
#ifndef CCM_LBC_BACKEND_H
#define CCM_LBC_BACKEND_H

#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lbc_backend_type {
    LBC_BACKEND_INSTANCE,  /* an instance */
    LBC_BACKEND_INTERFACE, /* a network interface with an address of its own */
    LBC_BACKEND_IP, /* an address and nothing else: server_id and server_ip are the same text */
};

struct lbc_backend {
    char *server_id;   /* one block holds all texts */
    char *server_ip;   /* "" for instances */
    char *description; /* present ones: whose it is; NULL = what its group is called */
    uint16_t port;     /* 0: any, in a group for all ports */
    uint8_t weight;
    uint8_t type; /* enum lbc_backend_type */
    /* Actual: the cloud is taking it out, so it serves nobody and cannot be changed; to have it,
     * add it again when it is gone. Desired: its pods are being stopped but still serve; it keeps
     * its place, at weight 0, if it is there, and is not added. */
    bool leaving;
    bool kept; /* desired: it stays as it is if it is there, and is not added; see freeze.h */
};

/* Why nothing may be removed from a group, although it is not wanted there. */
enum lbc_frozen_by {
    LBC_FROZEN_BY_NONE,
    LBC_FROZEN_BY_FAMILY, /* slices of an address family that the Service has are missing */
    LBC_FROZEN_BY_LARGE,  /* a slice is too large to be read */
    LBC_FROZEN_BY_LABEL,  /* which nodes annotation backend-label means is not known */
};

struct lbc_backends {
    struct lbc_backend *items; /* NULL while it rests, when there are `len` of them all the same */
    size_t len;
    size_t cap;
    char *rest; /* see backend_rest.c; NULL: it is awake */
};

void lbc_backends_fini(struct lbc_backends *set);

/* Insert a copy (strings too) or replace the one of equal identity. server_ip is ignored for
 * instances and for LBC_BACKEND_IP; addresses are brought into one spelling. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_backends_put(struct lbc_backends *set, const struct lbc_backend *given);
/* Take out the one of equal identity, if it is there. */
void lbc_backends_remove(struct lbc_backends *set, const struct lbc_backend *backend);
/* The one of equal identity, or NULL. Valid until the next change. */
struct lbc_backend *lbc_backends_find(const struct lbc_backends *set,
                                      const struct lbc_backend *backend);

/* Let the set rest: only lbc_backends_fini() and lbc_backends_wake() may be called on it then.
 * Without memory it stays awake. */
void lbc_backends_rest(struct lbc_backends *set);
/* Make it as it was before it rested. 0, or -ENOMEM: it still rests. */
CCM_NODISCARD int lbc_backends_wake(struct lbc_backends *set);

/* Order by identity: <0, 0, >0. */
int lbc_backend_compare(const struct lbc_backend *a, const struct lbc_backend *b);

#endif
