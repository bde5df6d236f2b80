/*
 * What is not there any more at the API server, and how it went: whether a watch saw the DELETED
 * event, or it was only missed. Nodes are known by their instance, their addresses and their name,
 * endpoints by address. Fed by map(), asked by passes. Every thread; one leaf lock; no I/O.
 *
 * It holds what went within the last day; of what it has forgotten, or never saw because it went
 * before this process began, nobody knows more than that it is missing.
 */
#ifndef CCM_SERVICE_ABSENCE_H
#define CCM_SERVICE_ABSENCE_H

#include "ccm/plugin.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ccm_absence;

/* How a node is asked for. */
enum ccm_absence_by { CCM_ABSENCE_BY_INSTANCE, CCM_ABSENCE_BY_ADDRESS, CCM_ABSENCE_BY_NAME };

/* One thing that went. */
struct ccm_absent {
    bool seen;        /* by a DELETED event of a watch, or another object took its place */
    int64_t since_ms; /* monotonic */
    char name[128];   /* of the node; "" = not known, or longer than this, as the next */
    char instance[64];
};

/* host is borrowed. NULL on ENOMEM. */
struct ccm_absence *ccm_absence_new(const struct ccm_host *host);
/* NULL is fine. */
void ccm_absence_free(struct ccm_absence *absence);

/* For map(). is_ours: of which Services slices are of interest. Out of memory forgets. */
void ccm_absence_note_node(struct ccm_absence *absence, const struct ccm_change *change);
void ccm_absence_note_slice(struct ccm_absence *absence, const struct ccm_change *change,
                            bool (*is_ours)(const struct ccm_service *service));
/* A Service went: nobody will ask any more. One that is only missed is kept. */
void ccm_absence_note_service(struct ccm_absence *absence, const struct ccm_change *change);

/* What is known about a node that is not there. Without anything it counts as missed from now on.
 */
void ccm_absence_find_node(struct ccm_absence *absence, enum ccm_absence_by by, const char *id,
                           struct ccm_absent *ret);
/* Whether a slice that is missed had told the endpoint of this address; or one on a node of that
 * name. `key` of the Service. */
bool ccm_absence_find_endpoint(struct ccm_absence *absence, const char *key, const char *address,
                               struct ccm_absent *ret);
bool ccm_absence_find_endpoint_on(struct ccm_absence *absence, const char *key, const char *node,
                                  struct ccm_absent *ret);
/*
 * Whether the slices of a Service that has none are missing: one was missed, and none was deleted
 * or came since. One of which nothing is known never had any; but with `first` (an earlier process
 * left it with backends) they are missing from now on.
 */
bool ccm_absence_lost_slices(struct ccm_absence *absence, const char *key, bool first,
                             struct ccm_absent *ret);

/* Which Services hold backends back because of it. Returns whether this one did before. */
bool ccm_absence_set_held(struct ccm_absence *absence, const char *key, bool held);
/* Calls fn for each, under the lock: it may only enqueue. */
void ccm_absence_list_held(struct ccm_absence *absence, void (*fn)(void *arg, const char *key),
                           void *arg);

#endif
