/*
 * What we remember between passes: per Service what was said and done, per load balancer what the
 * cloud holds (the mirror). A load balancer that we made belongs to one entry; one that Services
 * reuse has one mirror that their entries share. Whoever claims an entry has its mirror as well, so
 * that writes to one load balancer are never made by two threads, not even for two Services; nobody
 * waits for a claim.
 */
#ifndef CCM_CLB_MIRROR_H
#define CCM_CLB_MIRROR_H

#include "state.h"
#include "util/strmap.h"

#include <stdbool.h>
#include <stdint.h>

struct clb_shared;

struct clb_entry {
    char *uid;
    bool busy;
    bool valid;       /* `state` is what the cloud holds; else the last we knew */
    bool gone;        /* nothing of ours is left in the cloud while the Service is unwanted */
    bool used;        /* a pass has worked on a load balancer */
    uint32_t attempt; /* of creation: part of the ClientToken */
    struct clb_state state;
    struct ccm_strmap *said; /* topic -> last text */
    struct ccm_strmap
        *gateless;           /* pods that need no readiness condition of ours, see readiness.h */
    uint32_t polls;          /* passes in a row that waited for pods */
    struct clb_tags applied; /* additional tags as of the last complete success */
    bool applied_known;
    int64_t audit_due_ms;      /* monotonic; 0 = not known yet */
    struct clb_shared *shared; /* where `state` and `valid` are kept between claims; NULL: here */
};

struct clb_store;

/* NULL on ENOMEM. */
struct clb_store *clb_store_new(void);
void clb_store_free(struct clb_store *store);

/*
 * The entry of a key, made when missing, emptied when the uid is another than last time. lb_id: the
 * load balancer that the Service reuses, "" when it has one of its own. 0, -EBUSY (another thread
 * has the entry, or a Service that shares the load balancer is at work), -ENOMEM. Give it back with
 * clb_store_release(). Every thread.
 */
CCM_NODISCARD int clb_store_claim(struct clb_store *store, const char *key, const char *uid,
                                  const char *lb_id, struct clb_entry **ret);
void clb_store_release(struct clb_store *store, struct clb_entry *entry);
/* Forget a key that nobody holds. */
void clb_store_forget(struct clb_store *store, const char *key);

/* Forget what the cloud holds: the next pass reads. Holder of the claim only, as all below. */
void clb_entry_drop(struct clb_entry *entry);
/* Whether `text` is news on that topic; remembers it. NULL or "" forgets the topic (no news). */
bool clb_entry_news(struct clb_entry *entry, const char *topic, const char *text);

#endif
