/*
 * Keys whose last reconcile failed, with the failure and the time of the next try: what an operator
 * asks first. Every thread; one lock, a leaf.
 */
#ifndef CCM_ADMIN_TROUBLE_H
#define CCM_ADMIN_TROUBLE_H

#include "ccm/error.h"
#include "util/attr.h"

#include <stddef.h>
#include <stdint.h>

#define ADMIN_TROUBLE_MAX ((size_t)20000) /* keys; what comes after them is only counted */

struct admin_trouble;

struct admin_trouble_item {
    const char *key;
    const char *message;
    uint64_t kind;     /* CCM_ERROR_* */
    uint32_t failures; /* in a row */
    int64_t since_ms;  /* monotonic; of the first of them */
    int64_t next_ms;   /* monotonic; of the next try */
};

/* NULL on ENOMEM. */
struct admin_trouble *admin_trouble_new(void);
void admin_trouble_free(struct admin_trouble *trouble);

/* How a reconcile of the key ended: err NULL = well. delay_ms: until the next try. Out of memory
 * loses the entry, nothing else. */
void admin_trouble_record(struct admin_trouble *trouble, const char *key,
                          const struct ccm_error *err, int64_t delay_ms);

/* Number of failing keys. */
size_t admin_trouble_count(struct admin_trouble *trouble);

/* Call fn for up to `max` of them, the longest failing ones first, under the lock: it may only
 * copy. */
void admin_trouble_list(struct admin_trouble *trouble, size_t max,
                        void (*fn)(void *arg, const struct admin_trouble_item *item), void *arg);

#endif
