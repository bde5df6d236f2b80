/*
 * Events that last: what has been said about an object, on a topic, and still holds. A server
 * forgets Events, after an hour by default; so what holds is said again before that. Pure
 * bookkeeping, no I/O, time comes from the caller. One thread at a time.
 */
#ifndef CCM_KUBE_STANDING_H
#define CCM_KUBE_STANDING_H

#include "kube/series.h"
#include "util/attr.h"

#include <stdbool.h>
#include <stdint.h>

#define KUBE_STANDING_MAX 16384 /* more are said once, as if they did not last */

/* One of them. */
struct kube_standing {
    struct kube_occurrence latest; /* its newest words */
    int64_t due_ms; /* monotonic: before it is said for the first time, when that is; else when it
                       was said last */
    bool is_said;
};

struct kube_standing_book;

/* NULL on ENOMEM. */
struct kube_standing_book *kube_standing_book_new(void);
void kube_standing_book_free(struct kube_standing_book *book);

/*
 * A happening with a topic; copied. Its message "": the topic is over, or all of them, see struct
 * ccm_event. *ret_news: it is to be said
 * now, because it is new, or for another cause than before. Else its words are kept for the next
 * time. after_ms of the first time holds as long as the cause is the same. has_room: the caller can
 * say it; if not, the next one of kube_standing_book_next() is it. 0 or -ENOMEM.
 */
CCM_NODISCARD int kube_standing_book_record(struct kube_standing_book *book,
                                            const struct kube_occurrence *occurrence,
                                            int64_t now_ms, bool has_room, bool *ret_news);

/* Which one is said next, and when, at the latest period_ms after the last time (0 = what was said
 * is not said again); NULL: none. */
struct kube_standing *kube_standing_book_next(struct kube_standing_book *book, int64_t period_ms,
                                              int64_t *ret_due_ms);

/* It was said at that time: on the server stands an Event of an earlier process. */
void kube_standing_book_said(struct kube_standing_book *book,
                             const struct kube_occurrence *occurrence, int64_t at_ms);

/* Forget it: its object is gone. */
void kube_standing_book_drop(struct kube_standing_book *book,
                             const struct kube_occurrence *occurrence);

size_t kube_standing_book_len(const struct kube_standing_book *book);

#endif
