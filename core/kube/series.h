/*
 * What the event recorder remembers: which Event object stands for which happening, so that a
 * repetition raises its count instead of making a new one, and how much each object has been
 * talked about. Pure bookkeeping, no I/O, time comes from the caller. One thread at a time.
 */
#ifndef CCM_KUBE_SERIES_H
#define CCM_KUBE_SERIES_H

#include "kube/occurrence.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KUBE_SERIES_MAX     1024
#define KUBE_SERIES_SPAN_MS ((int64_t)60 * 60 * 1000) /* what the server keeps Events for */
#define KUBE_SPAM_BURST     25
#define KUBE_SPAM_REFILL_MS ((int64_t)5 * 60 * 1000)

struct kube_series_space;

/* One Event object of the server. */
struct kube_series {
    struct kube_series *newer; /* order of use */
    struct kube_series *older;
    struct kube_series_space *space;  /* its namespace */
    struct kube_series *next_pending; /* of that, by due_ms */
    char *key;
    char *event_name;
    struct kube_occurrence last; /* the latest of them */
    int64_t first_wall_ms;
    int64_t last_wall_ms;
    int64_t last_ms; /* monotonic */
    int64_t count;
    bool exists;    /* the server has it, as far as we know */
    bool pending;   /* a write is outstanding */
    unsigned tries; /* of the outstanding write */
    int64_t due_ms; /* of its next try */
};

struct kube_series_book;

/* NULL on ENOMEM. */
struct kube_series_book *kube_series_book_new(void);
void kube_series_book_free(struct kube_series_book *book);

/* Whether the object of this happening still has a say: 25 at once, then one in 5 minutes.
 * -ENOMEM, else 1 or 0. */
CCM_NODISCARD int kube_series_book_admit(struct kube_series_book *book,
                                         const struct kube_occurrence *occurrence, int64_t now_ms);

/*
 * Note a happening, taking over its texts: the series it belongs to, borrowed, with a write pending
 * and due now. `unique_ns` makes the name of a new Event; of what lasts the name follows from what
 * it is about, so that the next process finds it. When there are too many, the least recently used
 * series of the namespace with most of them goes; *ret_lost tells that it had a write pending. NULL
 * on ENOMEM (the happening stays the caller's).
 */
struct kube_series *kube_series_book_record(struct kube_series_book *book,
                                            struct kube_occurrence *occurrence, int64_t now_ms,
                                            int64_t wall_ms, uint64_t unique_ns, bool *ret_lost);

/* The series to write next, NULL = none is pending: of those that are due, one of the namespace
 * whose turn is longest ago; if none is, the one that is due first. */
struct kube_series *kube_series_book_next(struct kube_series_book *book, int64_t now_ms);

/* It was tried to write it, and nothing is pending any more, or again at due_ms. Its namespace has
 * had its turn. */
void kube_series_book_written(struct kube_series_book *book, struct kube_series *series);
void kube_series_book_retry(struct kube_series_book *book, struct kube_series *series,
                            int64_t due_ms);

/* How many are pending. */
size_t kube_series_book_pending(const struct kube_series_book *book);

/* Forget a series: its Event could not be written. */
void kube_series_book_drop(struct kube_series_book *book, struct kube_series *series);

/* Text of the Event object for POST; of the strategic merge patch that raises the count, and of
 * what lasts renews the message. Failures stick in the buffer. */
void kube_series_print_event(const struct kube_series *series, struct ccm_buf *buf);
void kube_series_print_patch(const struct kube_series *series, struct ccm_buf *buf);

/* Namespace of the Event object. */
const char *kube_series_namespace(const struct kube_series *series);

#endif
