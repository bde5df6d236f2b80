/*
 * Open watches. A watch keeps a position in the history of its bucket and reads on from there when
 * its connection asks for more, so nothing is queued per watch and a slow reader costs nobody else.
 */
#ifndef CCM_KS_WATCH_H
#define CCM_KS_WATCH_H

#include "cluster.h"
#include "util/attr.h"

/* Orders for open watches: those of the test, and when their kind has gone. */
enum ccm_ks_order {
    CCM_KS_ORDER_NONE,
    CCM_KS_ORDER_END,      /* regular end of the stream */
    CCM_KS_ORDER_FINISH,   /* the same, once all that happened is sent */
    CCM_KS_ORDER_DROP,     /* cut the connection */
    CCM_KS_ORDER_TRUNCATE, /* half an event, then cut the connection */
    CCM_KS_ORDER_GARBAGE,  /* a line that is no JSON; the stream goes on */
    CCM_KS_ORDER_SILENCE,  /* never send anything again, keep the connection */
    CCM_KS_ORDER_ERROR     /* an ERROR event (500), then the end */
};

/* Give all open watches of a bucket an order (CCM_KS_BUCKETS = of all buckets). Returns how many
 * there are. Locks. */
size_t ccm_ks_watch_order(struct ccm_ks_cluster *cluster, enum ccm_ks_bucket bucket,
                          enum ccm_ks_order order);

/* The same; the caller holds the lock. */
size_t ccm_ks_watch_order_locked(struct ccm_ks_cluster *cluster, enum ccm_ks_bucket bucket,
                                 enum ccm_ks_order order);

/* How many watches are open on a bucket. The caller holds the lock. */
size_t ccm_ks_watch_count(const struct ccm_ks_cluster *cluster, enum ccm_ks_bucket bucket);

#endif
