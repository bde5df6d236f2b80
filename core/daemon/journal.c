#include "daemon/journal.h"

#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"
#include "util/thread.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* In front of each text, which follows without its end. */
struct record {
    uint64_t object; /* hash of its key */
    uint64_t number; /* of all records, counted up */
    int64_t wall_ms;
    uint16_t len; /* of the text */
    uint16_t kind;
};

/* Records one behind the other; positions only grow, and count modulo the size. */
struct ring {
    unsigned char *bytes;
    size_t size;
    size_t first; /* of the oldest record */
    size_t end;   /* behind the latest */
};

struct daemon_journal {
    pthread_mutex_t lock; /* guards all below */
    struct ring changes;
    struct ring reads;
    uint64_t count;
};

/* --- a ring --- */

static void ring_copy_in(struct ring *ring, size_t at, const void *data, size_t len)
{
    const size_t from = at % ring->size;
    const size_t head = len < ring->size - from ? len : ring->size - from;

    memcpy(ring->bytes + from, data, head);
    memcpy(ring->bytes, (const unsigned char *)data + head, len - head);
}

static void ring_copy_out(const struct ring *ring, size_t at, void *data, size_t len)
{
    const size_t from = at % ring->size;
    const size_t head = len < ring->size - from ? len : ring->size - from;

    memcpy(data, ring->bytes + from, head);
    memcpy((unsigned char *)data + head, ring->bytes, len - head);
}

static void ring_add(struct ring *ring, const struct record *record, const char *text)
{
    const size_t need = sizeof(*record) + record->len;
    struct record oldest;

    while (ring->end - ring->first + need > ring->size) {
        ring_copy_out(ring, ring->first, &oldest, sizeof(oldest));
        ring->first += sizeof(oldest) + oldest.len;
    }
    ring_copy_in(ring, ring->end, record, sizeof(*record));
    ring_copy_in(ring, ring->end + sizeof(*record), text, record->len);
    ring->end += need;
}

/* --- what is found of an object --- */

struct found {
    struct record record;
    char text[DAEMON_JOURNAL_TEXT_MAX + 1];
};

struct finds {
    struct found *items; /* a ring of `max`: the next one is at count modulo max */
    size_t max;
    size_t count;
};

static void finds_add_ring(struct finds *finds, const struct ring *ring, uint64_t object)
{
    struct record record;

    for (size_t at = ring->first; at < ring->end; at += sizeof(record) + record.len) {
        ring_copy_out(ring, at, &record, sizeof(record));
        if (record.object == object) {
            struct found *found = &finds->items[finds->count++ % finds->max];

            found->record = record;
            ring_copy_out(ring, at + sizeof(record), found->text, record.len);
            found->text[record.len] = '\0';
        }
    }
}

static int found_compare_latest(const void *a, const void *b)
{
    const uint64_t left = ((const struct found *)a)->record.number;
    const uint64_t right = ((const struct found *)b)->record.number;

    return left > right ? -1 : left < right ? 1 : 0;
}

/* Whether the last event of the object says the same: what lasts is said in every pass. */
static bool ring_repeats_event(const struct ring *ring, const struct record *fresh,
                               const char *text)
{
    char said[DAEMON_JOURNAL_TEXT_MAX];
    struct record record;
    bool repeats = false;

    for (size_t at = ring->first; at < ring->end; at += sizeof(record) + record.len) {
        ring_copy_out(ring, at, &record, sizeof(record));
        if (record.object == fresh->object && record.kind == fresh->kind) {
            ring_copy_out(ring, at + sizeof(record), said, record.len);
            repeats = record.len == fresh->len && memcmp(said, text, record.len) == 0;
        }
    }
    return repeats;
}

/* --- the journal --- */

struct daemon_journal *daemon_journal_new(void)
{
    struct daemon_journal *journal = calloc(1, sizeof(*journal));

    if (journal == NULL) {
        return NULL;
    }
    journal->changes.size = DAEMON_JOURNAL_BYTES;
    journal->reads.size = DAEMON_JOURNAL_READ_BYTES;
    journal->changes.bytes = malloc(journal->changes.size);
    journal->reads.bytes = malloc(journal->reads.size);
    if (journal->changes.bytes == NULL || journal->reads.bytes == NULL ||
        pthread_mutex_init(&journal->lock, NULL) != 0) {
        free(journal->changes.bytes);
        free(journal->reads.bytes);
        free(journal);
        return NULL;
    }
    return journal;
}

void daemon_journal_free(struct daemon_journal *journal)
{
    if (journal == NULL) {
        return;
    }
    ccm_lock_fini(&journal->lock);
    free(journal->changes.bytes);
    free(journal->reads.bytes);
    free(journal);
}

void daemon_journal_record(struct daemon_journal *journal, const char *object,
                           enum daemon_journal_kind kind, const char *text)
{
    struct record record = { .kind = (uint16_t)kind };

    if (journal == NULL || ccm_text_empty(object) || ccm_text_empty(text)) {
        return;
    }
    record.object = ccm_text_hash(object);
    record.wall_ms = ccm_clock_wall_ms();
    record.len = (uint16_t)ccm_text_utf8_cut(text, DAEMON_JOURNAL_TEXT_MAX);
    ccm_lock(&journal->lock);
    if (kind < DAEMON_JOURNAL_EVENT || !ring_repeats_event(&journal->changes, &record, text)) {
        record.number = journal->count++;
        ring_add(kind == DAEMON_JOURNAL_READ ? &journal->reads : &journal->changes, &record, text);
    }
    ccm_unlock(&journal->lock);
}

void daemon_journal_record_event(struct daemon_journal *journal, const struct ccm_event *event)
{
    const bool lasts = event->struct_size > offsetof(struct ccm_event, after_ms);
    CCM_CLEANUP(ccm_freep) char *text = NULL;

    if (ccm_text_empty(event->message) || (lasts && event->after_ms > 0)) {
        return;
    }
    text = ccm_text_format("%s: %s", event->reason, event->message);
    if (text != NULL) { /* out of memory: it is on the server all the same */
        daemon_journal_record(journal, event->object->key,
                              event->warning != 0 ? DAEMON_JOURNAL_WARNING : DAEMON_JOURNAL_EVENT,
                              text);
    }
}

void daemon_journal_list(struct daemon_journal *journal, const char *object, size_t max,
                         void (*fn)(void *arg, int64_t wall_ms, enum daemon_journal_kind kind,
                                    const char *text),
                         void *arg)
{
    const uint64_t hash = ccm_text_hash(object);
    CCM_CLEANUP(ccm_freep) struct found *items = calloc(2 * max, sizeof(*items));
    struct finds changes = { items, max, 0 };
    struct finds reads = { items == NULL ? NULL : items + max, max, 0 };

    if (journal == NULL || items == NULL) {
        return;
    }
    ccm_lock(&journal->lock);
    finds_add_ring(&changes, &journal->changes, hash);
    finds_add_ring(&reads, &journal->reads, hash);
    ccm_unlock(&journal->lock);

    const size_t first = changes.count < max ? changes.count : max;
    const size_t second = reads.count < max ? reads.count : max;

    memmove(items + first, reads.items, second * sizeof(*items));
    qsort(items, first + second, sizeof(*items), found_compare_latest);
    for (size_t i = 0; i < first + second && i < max; i++) {
        fn(arg, items[i].record.wall_ms, (enum daemon_journal_kind)items[i].record.kind,
           items[i].text);
    }
}
