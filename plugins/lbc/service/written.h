/*
 * What we last wrote to an object, a slot per field. Caches lag behind our own writes, so whoever
 * goes by a snapshot alone writes twice, or leaves out what has to be written. Pure.
 */
#ifndef CCM_LBC_WRITTEN_H
#define CCM_LBC_WRITTEN_H

#include <stdbool.h>
#include <stdint.h>

/* When to look again for what was written and is not shown. */
#define LBC_WRITTEN_LAG_MS 250

/* Zeroed: nothing was written yet. */
struct lbc_written {
    uint64_t what; /* lbc_written_what(), or what is not known after a failure */
    int64_t ms;    /* monotonic: when it was done */
};

enum lbc_written_verdict {
    LBC_WRITTEN_WELL,   /* it is as wanted */
    LBC_WRITTEN_COMING, /* not shown yet, but just written: look again, it may be undone */
    LBC_WRITTEN_WRITE,  /* the snapshot tells what is amiss */
    LBC_WRITTEN_ANEW,   /* the snapshot may be older than what we wrote last: all of it */
};

/* What stands for a content; never 0. */
uint64_t lbc_written_what(const char *text);

/* shown: whether the snapshot, which was taken at seen_ms or later, says what is wanted. A write
 * too many does no harm. */
enum lbc_written_verdict lbc_written_decide(const struct lbc_written *slot, int64_t seen_ms,
                                            bool shown, uint64_t want);

/* A write has ended. r: its result; after a failure nobody knows what the object says. */
void lbc_written_record(struct lbc_written *slot, int64_t now_ms, int r, uint64_t what);

#endif
