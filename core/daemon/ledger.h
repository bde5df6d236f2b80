/*
 * The keys that a plugin has worked on: when last, and when it comes back to them by itself. What
 * the status page counts and lists; some 150 bytes each. Every thread; one lock, a leaf.
 */
#ifndef CCM_DAEMON_LEDGER_H
#define CCM_DAEMON_LEDGER_H

#include <stddef.h>
#include <stdint.h>

#define DAEMON_LEDGER_MAX ((size_t)50000) /* keys; what comes after them is not kept */

struct daemon_ledger;

struct daemon_ledger_item {
    const char *key;
    uint32_t passes; /* that have ended */
    int64_t last_ms; /* monotonic; of the last end; 0 = none yet */
    int64_t next_ms; /* monotonic; when it comes again by itself; 0 = on change only */
};

/* NULL on ENOMEM. */
struct daemon_ledger *daemon_ledger_new(void);
/* NULL is fine. */
void daemon_ledger_free(struct daemon_ledger *ledger);

/* A verdict about the key: it comes again after delay_ms, 0 = not by itself. Out of memory loses
 * the entry, nothing else; so with the next. */
void daemon_ledger_settle(struct daemon_ledger *ledger, const char *key, int64_t delay_ms);
/* A pass over it has ended. */
void daemon_ledger_end(struct daemon_ledger *ledger, const char *key);
/* Nothing is left of it. */
void daemon_ledger_forget(struct daemon_ledger *ledger, const char *key);

/* Call fn for all, under the lock: it may only copy. */
void daemon_ledger_list(struct daemon_ledger *ledger,
                        void (*fn)(void *arg, const struct daemon_ledger_item *item), void *arg);

#endif
