/*
 * What is gone from the API server, and how it went: by a DELETED event of a watch, or missing from
 * a list. Nodes are known by instance, addresses and name, endpoints by address. Fed by map(),
 * asked by passes. It remembers one day; of what went earlier, or before this process began, it
 * only knows that it is missing. Every thread; one leaf lock; no I/O.
 */
#ifndef CCM_LBC_ABSENCE_H
#define CCM_LBC_ABSENCE_H

#include "ccm/plugin.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbc_absence;

/* How a node is asked for. */
enum lbc_absence_by { LBC_ABSENCE_BY_INSTANCE, LBC_ABSENCE_BY_ADDRESS, LBC_ABSENCE_BY_NAME };

/* One thing that went. */
struct lbc_absent {
    /* By a DELETED event of a watch; or another object, or another address of the same node, took
     * its place. */
    bool seen;
    int64_t since_ms; /* monotonic */
    char name[128];   /* of the node; "" = not known, or longer than this, as the next */
    char instance[64];
};

/* host is borrowed. NULL on ENOMEM. */
struct lbc_absence *lbc_absence_new(const struct ccm_host *host);
/* NULL is fine. */
void lbc_absence_free(struct lbc_absence *absence);

/* For map(). is_ours(arg): whose slices are of interest. Out of memory, it forgets. */
void lbc_absence_record_node(struct lbc_absence *absence, const struct ccm_change *change);
void lbc_absence_record_slice(struct lbc_absence *absence, const struct ccm_change *change,
                              bool (*is_ours)(const void *arg, const struct ccm_service *service),
                              const void *arg);
/* A deleted Service is forgotten, one that is only missing is kept. */
void lbc_absence_record_service(struct lbc_absence *absence, const struct ccm_change *change);

/* What is known about a missing node. If nothing is, it counts as missed from now on. */
void lbc_absence_find_node(struct lbc_absence *absence, enum lbc_absence_by by, const char *id,
                           struct lbc_absent *ret);
/* Whether a missing slice of the Service held an endpoint with this address, or on this node. */
bool lbc_absence_find_endpoint(struct lbc_absence *absence, const char *key, const char *address,
                               struct lbc_absent *ret);
bool lbc_absence_find_endpoint_on(struct lbc_absence *absence, const char *key, const char *node,
                                  struct lbc_absent *ret);
/* Whether the slices of a Service that has none are missing: one was, and none was deleted or came
 * since. An unknown Service never had any; but with `first` (an earlier process left it with
 * backends) they are missing from now on. */
bool lbc_absence_lost_slices(struct lbc_absence *absence, const char *key, bool first,
                             struct lbc_absent *ret);

/* Which Services hold backends back because of it. Returns whether this one did before. */
bool lbc_absence_set_frozen(struct lbc_absence *absence, const char *key, bool frozen);
/* Calls fn for each, under the lock: it may only enqueue. */
void lbc_absence_list_frozen(struct lbc_absence *absence, void (*fn)(void *arg, const char *key),
                             void *arg);

#endif
