/*
 * What we remember per Service between passes: what the cloud holds (the mirror), and what was said
 * already. An entry is claimed for the length of a pass, so that writes to one load balancer are
 * never made by two threads; nobody waits for a claim.
 */
#ifndef CCM_CLB_MIRROR_H
#define CCM_CLB_MIRROR_H

#include "state.h"
#include "util/strmap.h"

#include <stdbool.h>
#include <stdint.h>

struct clb_entry {
    char *uid;
    bool busy;
    bool valid;       /* `state` is what the cloud holds; else the last we knew */
    bool gone;        /* we deleted the load balancer: nothing to look for while it is unwanted */
    uint32_t attempt; /* of creation: part of the ClientToken */
    struct clb_state state;
    struct ccm_strmap *said; /* topic -> last text */
};

struct clb_store;

/* NULL on ENOMEM. */
struct clb_store *clb_store_new(void);
void clb_store_free(struct clb_store *store);

/* The entry of a key, made when missing, emptied when the uid is another than last time. 0, -EBUSY
 * (another thread has it), -ENOMEM. Give it back with clb_store_release(). Every thread. */
CCM_NODISCARD int clb_store_claim(struct clb_store *store, const char *key, const char *uid,
                                  struct clb_entry **ret);
void clb_store_release(struct clb_store *store, struct clb_entry *entry);
/* Forget a key that nobody holds. */
void clb_store_forget(struct clb_store *store, const char *key);

/* Forget what the cloud holds: the next pass reads. Holder of the claim only, as all below. */
void clb_entry_drop(struct clb_entry *entry);
/* Whether `text` is news on that topic; remembers it. NULL or "" forgets the topic (no news). */
bool clb_entry_news(struct clb_entry *entry, const char *topic, const char *text);

#endif
