#include "kube/series.h"

#include "util/bucket.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/jsonw.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define NAME_MAX_BYTES 253 /* of a DNS subdomain */
#define HEX_MAX_BYTES  17  /* ".ffffffffffffffff" */

static const struct ccm_bucket_size spam = { KUBE_SPAM_BURST, KUBE_SPAM_REFILL_MS };

/* A namespace, as long as it has a series. */
struct kube_series_space {
    struct kube_series_space *next;
    uint64_t hash; /* of its name; two of the same share their turns */
    size_t count;
    struct kube_series *first; /* pending */
    uint64_t turn;             /* of its last write, else of the last one before it came */
};

struct kube_series_book {
    struct kube_series_space *spaces;
    uint64_t turns;
    struct ccm_strmap *series;
    struct kube_series *newest;
    struct kube_series *oldest;
    struct ccm_strmap *buckets; /* insertion order is the order of use: a used one is put anew */
};

static void series_free(struct kube_series *series)
{
    free(series->key);
    free(series->event_name);
    kube_occurrence_fini(&series->last);
    free(series);
}

struct kube_series_book *kube_series_book_new(void)
{
    struct kube_series_book *book = calloc(1, sizeof(*book));

    if (book == NULL) {
        return NULL;
    }
    book->series = ccm_strmap_new(NULL);
    book->buckets = ccm_strmap_new(free);
    if (book->series == NULL || book->buckets == NULL) {
        kube_series_book_free(book);
        return NULL;
    }
    return book;
}

void kube_series_book_free(struct kube_series_book *book)
{
    if (book == NULL) {
        return;
    }
    while (book->newest != NULL) {
        kube_series_book_drop(book, book->newest);
    }
    ccm_strmap_free(book->series);
    ccm_strmap_free(book->buckets);
    free(book);
}

/* Fields one after the other; the separator cannot occur in them. NULL on ENOMEM. */
static char *series_join_fields(const char *const *fields, size_t count)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = (size_t)64 * 1024 };
    char *text = NULL;

    for (size_t i = 0; i < count; i++) {
        ccm_buf_adds(&buf, fields[i]);
        ccm_buf_addc(&buf, '\x1f');
    }
    return ccm_buf_take(&buf, &text) < 0 ? NULL : text;
}

static char *spam_key(const struct kube_occurrence *occurrence)
{
    const char *const fields[] = { occurrence->component, occurrence->kind, occurrence->namespace_,
                                   occurrence->name, occurrence->uid };

    return series_join_fields(fields, CCM_ARRAY_LEN(fields));
}

static char *series_key(const struct kube_occurrence *occurrence)
{
    const char *const fields[] = {
        occurrence->component,  occurrence->kind,
        occurrence->namespace_, occurrence->name,
        occurrence->uid,        occurrence->warning ? "Warning" : "Normal",
        occurrence->reason,     kube_occurrence_cause(occurrence),
    };

    return series_join_fields(fields, CCM_ARRAY_LEN(fields));
}

/* The bucket, made most recently used; the least recently used one goes when there are too many. */
static struct ccm_bucket *touch_bucket(struct kube_series_book *book, const char *key)
{
    struct ccm_bucket *bucket = ccm_strmap_take(book->buckets, key);

    if (bucket == NULL) {
        bucket = calloc(1, sizeof(*bucket));
        if (bucket == NULL) {
            return NULL;
        }
    }
    if (ccm_strmap_set(book->buckets, key, bucket) < 0) {
        free(bucket);
        return NULL;
    }
    if (ccm_strmap_len(book->buckets) > KUBE_SERIES_MAX) {
        void *cursor = NULL;
        const char *oldest = NULL;

        if (ccm_strmap_next(book->buckets, &cursor, &oldest, NULL) != 0) {
            ccm_strmap_del(book->buckets, oldest);
        }
    }
    return bucket;
}

int kube_series_book_admit(struct kube_series_book *book, const struct kube_occurrence *occurrence,
                           int64_t now_ms)
{
    CCM_CLEANUP(ccm_freep) char *key = spam_key(occurrence);
    struct ccm_bucket *bucket = key == NULL ? NULL : touch_bucket(book, key);

    if (bucket == NULL) {
        return -ENOMEM;
    }
    if (ccm_bucket_wait_ms(bucket, &spam, now_ms) > 0) {
        return 0;
    }
    ccm_bucket_take(bucket, &spam, now_ms);
    return 1;
}

static void unlink_series(struct kube_series_book *book, struct kube_series *series)
{
    if (series->newer != NULL) {
        series->newer->older = series->older;
    } else {
        book->newest = series->older;
    }
    if (series->older != NULL) {
        series->older->newer = series->newer;
    } else {
        book->oldest = series->newer;
    }
    series->newer = NULL;
    series->older = NULL;
}

static void link_newest(struct kube_series_book *book, struct kube_series *series)
{
    series->older = book->newest;
    series->newer = NULL;
    if (book->newest != NULL) {
        book->newest->newer = series;
    } else {
        book->oldest = series;
    }
    book->newest = series;
}

/* --- namespaces --- */

static struct kube_series_space *book_find_space(struct kube_series_book *book, const char *name)
{
    const uint64_t hash = ccm_text_hash(name);
    struct kube_series_space *space = book->spaces;

    while (space != NULL && space->hash != hash) {
        space = space->next;
    }
    if (space == NULL) {
        space = calloc(1, sizeof(*space));
        if (space == NULL) {
            return NULL;
        }
        space->hash = hash;
        space->turn = book->turns; /* a new one is not ahead of those that wait */
        space->next = book->spaces;
        book->spaces = space;
    }
    return space;
}

static void book_leave_space(struct kube_series_book *book, struct kube_series_space *space)
{
    struct kube_series_space **at = &book->spaces;

    if (--space->count > 0) {
        return;
    }
    while (*at != space) {
        at = &(*at)->next;
    }
    *at = space->next;
    free(space);
}

static void series_make_pending(struct kube_series *series, int64_t due_ms)
{
    struct kube_series **at = &series->space->first;

    while (*at != NULL && (*at)->due_ms <= due_ms) {
        at = &(*at)->next_pending;
    }
    series->pending = true;
    series->due_ms = due_ms;
    series->next_pending = *at;
    *at = series;
}

static void series_end_pending(struct kube_series *series)
{
    struct kube_series **at = &series->space->first;

    if (!series->pending) {
        return;
    }
    while (*at != series) {
        at = &(*at)->next_pending;
    }
    *at = series->next_pending;
    series->pending = false;
}

void kube_series_book_written(struct kube_series_book *book, struct kube_series *series)
{
    series_end_pending(series);
    series->space->turn = ++book->turns;
}

void kube_series_book_retry(struct kube_series_book *book, struct kube_series *series,
                            int64_t due_ms)
{
    kube_series_book_written(book, series);
    series_make_pending(series, due_ms);
}

void kube_series_book_drop(struct kube_series_book *book, struct kube_series *series)
{
    series_end_pending(series);
    book_leave_space(book, series->space);
    unlink_series(book, series);
    ccm_strmap_del(book->series, series->key);
    series_free(series);
}

/* The least recently used one of the namespace with most. */
static struct kube_series *book_find_surplus(const struct kube_series_book *book)
{
    const struct kube_series_space *most = book->spaces;
    struct kube_series *series = book->oldest;

    for (const struct kube_series_space *space = most; space != NULL; space = space->next) {
        most = space->count >= most->count ? space : most; /* of equals not the new one */
    }
    while (series->space != most) {
        series = series->newer;
    }
    return series;
}

/* The object's name, cut so that the whole is a valid name, and a number nobody else has. */
static char *event_name(const struct kube_occurrence *occurrence, uint64_t number)
{
    size_t len = strnlen(occurrence->name, NAME_MAX_BYTES - HEX_MAX_BYTES);

    while (len > 0 && (occurrence->name[len - 1] == '.' || occurrence->name[len - 1] == '-')) {
        len--;
    }
    return ccm_text_format("%.*s.%" PRIx64, (int)len, occurrence->name, number);
}

static struct kube_series *series_new(struct kube_series_book *book, char *key,
                                      const struct kube_occurrence *occurrence, uint64_t unique_ns)
{
    struct kube_series_space *space = book_find_space(book, occurrence->namespace_);
    struct kube_series *series = space == NULL ? NULL : calloc(1, sizeof(*series));

    if (space == NULL) {
        return NULL;
    }
    space->count++;
    if (series != NULL) {
        series->event_name = event_name(
            occurrence, kube_occurrence_lasts(occurrence) ? ccm_text_hash(key) : unique_ns);
    }
    if (series == NULL || series->event_name == NULL ||
        ccm_strmap_set(book->series, key, series) < 0) {
        book_leave_space(book, space);
        free(series == NULL ? NULL : series->event_name);
        free(series);
        return NULL;
    }
    series->key = key;
    series->space = space;
    link_newest(book, series);
    return series;
}

struct kube_series *kube_series_book_record(struct kube_series_book *book,
                                            struct kube_occurrence *occurrence, int64_t now_ms,
                                            int64_t wall_ms, uint64_t unique_ns, bool *ret_lost)
{
    CCM_CLEANUP(ccm_freep) char *key = series_key(occurrence);
    struct kube_series *series;

    *ret_lost = false;
    if (key == NULL) {
        return NULL;
    }
    series = ccm_strmap_get(book->series, key);
    if (series != NULL && !series->pending && now_ms - series->last_ms > KUBE_SERIES_SPAN_MS) {
        kube_series_book_drop(book, series); /* the server has forgotten it, too */
        series = NULL;
    }
    if (series == NULL) {
        series = series_new(book, key, occurrence, unique_ns);
        if (series == NULL) {
            return NULL;
        }
        key = NULL; /* the series' now */
        series->first_wall_ms = wall_ms;
    } else {
        unlink_series(book, series);
        link_newest(book, series);
    }
    kube_occurrence_fini(&series->last);
    series->last = *occurrence;
    *occurrence = (struct kube_occurrence){ 0 };
    series->last_wall_ms = wall_ms;
    series->last_ms = now_ms;
    series->count++;
    if (!series->pending) {
        series->tries = 0;
        series_make_pending(series, now_ms);
    }
    if (ccm_strmap_len(book->series) > KUBE_SERIES_MAX) {
        struct kube_series *surplus = book_find_surplus(book);

        *ret_lost = surplus->pending;
        kube_series_book_drop(book, surplus);
    }
    return series;
}

static bool space_goes_first(const struct kube_series_space *a, const struct kube_series_space *b,
                             int64_t now_ms)
{
    const int64_t due_a = a->first->due_ms;
    const int64_t due_b = b->first->due_ms;

    if (due_a > now_ms || due_b > now_ms || a->turn == b->turn) {
        return due_a < due_b;
    }
    return a->turn < b->turn;
}

struct kube_series *kube_series_book_next(struct kube_series_book *book, int64_t now_ms)
{
    const struct kube_series_space *first = NULL;

    for (const struct kube_series_space *space = book->spaces; space != NULL; space = space->next) {
        if (space->first != NULL && (first == NULL || space_goes_first(space, first, now_ms))) {
            first = space;
        }
    }
    return first == NULL ? NULL : first->first;
}

size_t kube_series_book_pending(const struct kube_series_book *book)
{
    size_t count = 0;

    for (const struct kube_series *series = book->newest; series != NULL; series = series->older) {
        count += series->pending ? 1 : 0;
    }
    return count;
}

const char *kube_series_namespace(const struct kube_series *series)
{
    return series->last.namespace_[0] == '\0' ? "default" : series->last.namespace_;
}

static void print_optional(struct ccm_jsonw *w, const char *key, const char *text)
{
    if (text[0] != '\0') {
        ccm_jsonw_str(w, key, text);
    }
}

static void print_involved(struct ccm_jsonw *w, const struct kube_occurrence *occurrence)
{
    ccm_jsonw_open(w, "involvedObject", '{');
    print_optional(w, "apiVersion", occurrence->api_version);
    print_optional(w, "kind", occurrence->kind);
    print_optional(w, "namespace", occurrence->namespace_);
    ccm_jsonw_str(w, "name", occurrence->name);
    print_optional(w, "uid", occurrence->uid);
    print_optional(w, "resourceVersion", occurrence->resource_version);
    ccm_jsonw_close(w, '}');
}

static void print_time(struct ccm_jsonw *w, const char *key, int64_t wall_ms)
{
    char text[CCM_CLOCK_TEXT];

    ccm_clock_format(wall_ms, text, sizeof(text));
    ccm_jsonw_str(w, key, text);
}

void kube_series_print_event(const struct kube_series *series, struct ccm_buf *buf)
{
    const struct kube_occurrence *last = &series->last;
    struct ccm_jsonw w = { .buf = buf };

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_str(&w, "apiVersion", "v1");
    ccm_jsonw_str(&w, "kind", "Event");
    ccm_jsonw_open(&w, "metadata", '{');
    ccm_jsonw_str(&w, "name", series->event_name);
    ccm_jsonw_str(&w, "namespace", kube_series_namespace(series));
    ccm_jsonw_close(&w, '}');
    print_involved(&w, last);
    ccm_jsonw_str(&w, "reason", last->reason);
    ccm_jsonw_str(&w, "message", last->message);
    ccm_jsonw_open(&w, "source", '{');
    ccm_jsonw_str(&w, "component", last->component);
    ccm_jsonw_close(&w, '}');
    print_time(&w, "firstTimestamp", series->first_wall_ms);
    print_time(&w, "lastTimestamp", series->last_wall_ms);
    ccm_jsonw_i64(&w, "count", series->count);
    ccm_jsonw_str(&w, "type", last->warning ? "Warning" : "Normal");
    ccm_jsonw_str(&w, "reportingComponent", last->component);
    ccm_jsonw_close(&w, '}');
}

void kube_series_print_patch(const struct kube_series *series, struct ccm_buf *buf)
{
    struct ccm_jsonw w = { .buf = buf };

    ccm_jsonw_open(&w, NULL, '{');
    ccm_jsonw_i64(&w, "count", series->count);
    print_time(&w, "lastTimestamp", series->last_wall_ms);
    if (kube_occurrence_lasts(&series->last)) {
        ccm_jsonw_str(&w, "message", series->last.message);
    }
    ccm_jsonw_close(&w, '}');
}
