#include "kube/standing.h"

#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPREAD_PARTS 8 /* the last of so many parts of a period is what they are spread over */

struct kube_standing_book {
    struct ccm_strmap *items;
    struct kube_standing *first; /* the next one, NULL = none; while it is known: */
    int64_t first_ms;            /* when it is said, with */
    int64_t period_ms;           /* that period */
    bool first_known;
};

static void standing_free(void *value)
{
    struct kube_standing *standing = value;

    kube_occurrence_fini(&standing->latest);
    free(standing);
}

struct kube_standing_book *kube_standing_book_new(void)
{
    struct kube_standing_book *book = calloc(1, sizeof(*book));

    if (book == NULL) {
        return NULL;
    }
    book->items = ccm_strmap_new(standing_free);
    if (book->items == NULL) {
        free(book);
        return NULL;
    }
    return book;
}

void kube_standing_book_free(struct kube_standing_book *book)
{
    if (book != NULL) {
        ccm_strmap_free(book->items);
        free(book);
    }
}

size_t kube_standing_book_len(const struct kube_standing_book *book)
{
    return ccm_strmap_len(book->items);
}

/* --- which comes first --- */

/* When it is said next; INT64_MAX: never. */
static int64_t standing_next_ms(const struct kube_standing *standing, int64_t period_ms)
{
    if (!standing->is_said) {
        return standing->due_ms;
    }
    if (period_ms <= 0) {
        return INT64_MAX;
    }

    /* Those that began together do not all come at the same moment. */
    const uint64_t span = (uint64_t)(period_ms / SPREAD_PARTS);
    const uint64_t early = span == 0 ? 0 : ccm_text_hash(standing->latest.uid) % span;

    return standing->due_ms + period_ms - (int64_t)early;
}

/* With thousands that last, a look at all of them for each event would be most of the work. */
static void book_note_change(struct kube_standing_book *book, struct kube_standing *standing)
{
    const int64_t next_ms = standing_next_ms(standing, book->period_ms);

    if (standing == book->first) {
        book->first_known = false;
    } else if (next_ms < book->first_ms) {
        book->first = standing;
        book->first_ms = next_ms;
    }
}

static void book_delete(struct kube_standing_book *book, const char *key)
{
    if (book->first == ccm_strmap_get(book->items, key)) {
        book->first_known = false;
    }
    ccm_strmap_del(book->items, key);
}

/* --- what lasts --- */

/* NULL on ENOMEM. */
static char *standing_key(const struct kube_occurrence *occurrence)
{
    return ccm_text_format("%s\x1f%s\x1f%s\x1f%s\x1f%s\x1f%s", occurrence->component,
                           occurrence->kind, occurrence->namespace_, occurrence->name,
                           occurrence->uid, occurrence->topic);
}

static bool standing_has_cause(const struct kube_standing *standing,
                               const struct kube_occurrence *occurrence)
{
    const struct kube_occurrence *latest = &standing->latest;

    return latest->warning == occurrence->warning &&
           ccm_text_equal(latest->reason, occurrence->reason) &&
           ccm_text_equal(kube_occurrence_cause(latest), kube_occurrence_cause(occurrence));
}

/* The place of a topic, made when missing; NULL: out of memory, or there are too many. */
static struct kube_standing *standing_obtain(struct kube_standing_book *book, const char *key)
{
    struct kube_standing *standing = ccm_strmap_get(book->items, key);

    if (standing != NULL || ccm_strmap_len(book->items) >= KUBE_STANDING_MAX) {
        return standing;
    }
    standing = calloc(1, sizeof(*standing));
    if (standing != NULL && ccm_strmap_set(book->items, key, standing) < 0) {
        free(standing);
        return NULL;
    }
    return standing;
}

/* All that the component has said about the object. */
static void standing_end_all(struct kube_standing_book *book, const char *key)
{
    const size_t len = strlen(key) - strlen(CCM_EVENT_ALL_TOPICS);
    void *cursor = NULL;
    const char *other = NULL;

    while (ccm_strmap_next(book->items, &cursor, &other, NULL)) {
        if (strncmp(other, key, len) == 0) {
            book_delete(book, other);
        }
    }
}

int kube_standing_book_record(struct kube_standing_book *book,
                              const struct kube_occurrence *occurrence, int64_t now_ms,
                              bool has_room, bool *ret_news)
{
    CCM_CLEANUP(ccm_freep) char *key = standing_key(occurrence);
    struct kube_occurrence copy = { 0 };

    *ret_news = false;
    if (key == NULL) {
        return -ENOMEM;
    }
    if (ccm_text_empty(occurrence->message)) {
        if (strcmp(occurrence->topic, CCM_EVENT_ALL_TOPICS) == 0) {
            standing_end_all(book, key);
        } else {
            book_delete(book, key);
        }
        return 0;
    }

    const bool is_new = !ccm_strmap_has(book->items, key);
    struct kube_standing *standing = standing_obtain(book, key);

    if (standing == NULL) {
        *ret_news = true;
        return 0;
    }
    if (kube_occurrence_copy(occurrence, &copy) < 0) {
        if (is_new) {
            book_delete(book, key);
        }
        return -ENOMEM;
    }

    const int64_t due_ms = now_ms + (int64_t)occurrence->after_ms;
    const bool is_same = !is_new && standing_has_cause(standing, occurrence);

    if (is_new || (!standing->is_said && !is_same && due_ms < standing->due_ms)) {
        standing->due_ms = due_ms;
    }
    *ret_news = standing->is_said ? !is_same : standing->due_ms <= now_ms;
    if (*ret_news) {
        standing->is_said = has_room;
        standing->due_ms = now_ms;
    }
    kube_occurrence_fini(&standing->latest);
    standing->latest = copy;
    book_note_change(book, standing);
    return 0;
}

struct kube_standing *kube_standing_book_next(struct kube_standing_book *book, int64_t period_ms,
                                              int64_t *ret_due_ms)
{
    void *cursor = NULL;
    void *value = NULL;

    if (book->first_known && book->period_ms == period_ms) {
        *ret_due_ms = book->first_ms;
        return book->first;
    }
    book->first = NULL;
    book->first_ms = INT64_MAX;
    book->period_ms = period_ms;
    book->first_known = true;
    while (ccm_strmap_next(book->items, &cursor, NULL, &value)) {
        struct kube_standing *standing = value;
        const int64_t due_ms = standing_next_ms(standing, period_ms);

        if (due_ms < book->first_ms) {
            book->first = standing;
            book->first_ms = due_ms;
        }
    }
    *ret_due_ms = book->first_ms;
    return book->first;
}

void kube_standing_book_said(struct kube_standing_book *book,
                             const struct kube_occurrence *occurrence, int64_t at_ms)
{
    CCM_CLEANUP(ccm_freep) char *key = standing_key(occurrence);
    struct kube_standing *standing = key == NULL ? NULL : ccm_strmap_get(book->items, key);

    if (standing != NULL) {
        standing->is_said = true;
        standing->due_ms = at_ms;
        book_note_change(book, standing);
    }
}

void kube_standing_book_drop(struct kube_standing_book *book,
                             const struct kube_occurrence *occurrence)
{
    CCM_CLEANUP(ccm_freep) char *key = standing_key(occurrence);

    if (key != NULL) {
        book_delete(book, key);
    }
}
