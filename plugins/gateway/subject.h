/*
 * A Gateway with all that belongs to it, as the caches have it at one moment: its class, what it is
 * to be made with, its listeners, and what its routes send to. No I/O. Every thread; a subject
 * belongs to one.
 */
#ifndef CCM_GATEWAY_SUBJECT_H
#define CCM_GATEWAY_SUBJECT_H

#include "gateway.h"
#include "listener.h"
#include "set.h"
#include "target.h"
#include "util/strmap.h"

/* Whose a Gateway is. */
enum gateway_claim {
    GATEWAY_NOBODYS, /* the class does not exist, and no earlier one is known: nothing is done */
    GATEWAY_OTHERS,  /* its class is that of another controller */
    GATEWAY_OURS,
};

struct gateway_subject {
    const struct ccm_host *host;
    const char *finalizer; /* ours, borrowed */
    struct lbc_custom_item gateway;
    enum gateway_claim claim;
    struct ccm_strmap *annotations; /* as on a Service: key -> value, heap */
    const char *invalid;            /* condition Accepted: why it is not; NULL = it may be; */
    char why[320];                  /* in words */
    bool blind;                     /* its settings cannot be read, and are not known from before */
    bool pods;                      /* pods are the backends */
    struct gateway_listener listeners[GATEWAY_LISTENERS_MAX];
    struct gateway_targets targets[GATEWAY_LISTENERS_MAX]; /* of each listener */
    size_t count;
    size_t own; /* listeners of the Gateway itself: the first of them; others are of */
    struct gateway_sets sets;
    size_t usable;     /* listeners that are served or can be, */
    size_t own_usable; /* of its own; */
    size_t creatable;  /* of all: that can be created with what is known */
};

/* The Gateway of that key; NULL with 0 when there is none, or with -ENOMEM. routes: with what they
 * send to, and how many are attached. */
CCM_NODISCARD int gateway_subject_new(const struct gateway *self, const char *key, bool routes,
                                      struct gateway_subject **ret);
void gateway_subject_freep(struct gateway_subject **subject);

/* Whether it has our finalizer. */
bool gateway_subject_is_bound(const struct gateway_subject *subject);
/* Whether a load balancer is to be made or kept in step. */
bool gateway_subject_is_wanted(const struct gateway_subject *subject);

#endif
