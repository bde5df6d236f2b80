#include "daemon/objects.h"

#include "util/book.h"
#include "util/cleanup.h"
#include "util/clock.h"

#include <stdlib.h>
#include <string.h>

struct daemon_objects {
    struct ccm_book records;
};

static void note_free(struct daemon_note *note)
{
    if (note != NULL) {
        free(note->text);
        free(note);
    }
}

static void object_free(void *value)
{
    struct daemon_object *object = value;

    for (size_t i = 0; i < DAEMON_NOTE_KINDS; i++) {
        note_free(object->notes[i]);
    }
    free(object);
}

struct daemon_objects *daemon_objects_new(void)
{
    struct daemon_objects *objects = calloc(1, sizeof(*objects));

    if (objects != NULL && ccm_book_init(&objects->records, object_free) < 0) {
        free(objects);
        return NULL;
    }
    return objects;
}

void daemon_objects_free(struct daemon_objects *objects)
{
    if (objects != NULL) {
        ccm_book_fini(&objects->records);
        free(objects);
    }
}

/* The record of a key, created when it is missing. NULL: out of memory, or too many. */
static struct daemon_object *object_obtain_locked(struct daemon_objects *objects, const char *key)
{
    struct daemon_object *object = ccm_strmap_get(objects->records.map, key);

    return object != NULL || ccm_strmap_len(objects->records.map) >= DAEMON_OBJECTS_MAX
               ? object
               : ccm_book_obtain(&objects->records, key, sizeof(*object));
}

static void object_set_note(struct daemon_object *object, enum daemon_note_kind kind,
                            uint64_t count, uint64_t detail, const char *text)
{
    struct daemon_note *note = object->notes[kind];

    if (count == 0) {
        note_free(note);
        object->notes[kind] = NULL;
        return;
    }
    if (note == NULL) {
        note = calloc(1, sizeof(*note));
        if (note == NULL) {
            return;
        }
        note->since_ms = ccm_clock_now_ms();
        object->notes[kind] = note;
    }
    note->count = count;
    note->detail = detail;
    free(note->text);
    note->text = text == NULL ? NULL : strdup(text);
}

/* Drop the record of an object that has no passes and no notes. */
static void object_drop_empty_locked(struct daemon_objects *objects, const char *key,
                                     const struct daemon_object *object)
{
    bool is_empty = object->passes == 0 && object->next_ms == 0;

    for (size_t i = 0; i < DAEMON_NOTE_KINDS; i++) {
        is_empty = is_empty && object->notes[i] == NULL;
    }
    if (is_empty) {
        ccm_strmap_del(objects->records.map, key);
    }
}

void daemon_objects_settle(struct daemon_objects *objects, const char *key,
                           const struct ccm_error *err, int64_t delay_ms)
{
    (void)ccm_book_open(&objects->records);
    struct daemon_object *object = object_obtain_locked(objects, key);

    if (object != NULL) {
        const struct daemon_note *failing = object->notes[DAEMON_NOTE_FAILING];
        const uint64_t failures = failing == NULL ? 0 : failing->count;

        object->next_ms = delay_ms <= 0 ? 0 : ccm_clock_now_ms() + delay_ms;
        object_set_note(object, DAEMON_NOTE_FAILING, err == NULL ? 0 : failures + 1,
                        err == NULL ? CCM_ERROR_NONE : err->kind,
                        err == NULL ? NULL : err->message);
    }
    ccm_book_close(&objects->records);
}

void daemon_objects_end(struct daemon_objects *objects, const char *key)
{
    (void)ccm_book_open(&objects->records);
    struct daemon_object *object = object_obtain_locked(objects, key);

    if (object != NULL) {
        object->last_ms = ccm_clock_now_ms();
        object->passes++;
    }
    ccm_book_close(&objects->records);
}

void daemon_objects_forget(struct daemon_objects *objects, const char *key)
{
    (void)ccm_book_open(&objects->records);
    struct daemon_object *object = ccm_strmap_get(objects->records.map, key);

    if (object != NULL) {
        object->passes = 0;
        object->last_ms = 0;
        object->next_ms = 0;
        object_drop_empty_locked(objects, key, object);
    }
    ccm_book_close(&objects->records);
}

bool daemon_objects_note(struct daemon_objects *objects, const char *key,
                         enum daemon_note_kind kind, uint64_t count, uint64_t detail,
                         const char *text)
{
    bool held = false;

    (void)ccm_book_open(&objects->records);
    struct daemon_object *object =
        count > 0 ? object_obtain_locked(objects, key) : ccm_strmap_get(objects->records.map, key);

    if (object != NULL) {
        held = object->notes[kind] != NULL;
        object_set_note(object, kind, count, detail, text);
        object_drop_empty_locked(objects, key, object);
    }
    ccm_book_close(&objects->records);
    return held;
}

void daemon_objects_list(struct daemon_objects *objects,
                         void (*fn)(void *arg, const struct daemon_object *object), void *arg)
{
    void *cursor = NULL;
    void *value = NULL;
    const char *key = NULL;

    (void)ccm_book_open(&objects->records);
    while (ccm_strmap_next(objects->records.map, &cursor, &key, &value) != 0) {
        struct daemon_object object = *(const struct daemon_object *)value;

        object.key = key;
        fn(arg, &object);
    }
    ccm_book_close(&objects->records);
}

/* --- notes of one kind --- */

struct tally {
    enum daemon_note_kind kind;
    struct daemon_note_sum sum;
};

static void tally_add_object(void *arg, const struct daemon_object *object)
{
    struct tally *tally = arg;
    const struct daemon_note *note = object->notes[tally->kind];

    if (note != NULL) {
        tally->sum.objects++;
        tally->sum.count += note->count;
        tally->sum.since_ms =
            note->since_ms < tally->sum.since_ms ? note->since_ms : tally->sum.since_ms;
    }
}

struct daemon_note_sum daemon_objects_sum(struct daemon_objects *objects,
                                          enum daemon_note_kind kind)
{
    struct tally tally = { .kind = kind, .sum = { .since_ms = INT64_MAX } };

    daemon_objects_list(objects, tally_add_object, &tally);
    return tally.sum;
}

struct noted {
    const char *key;
    const struct daemon_note *note;
};

static int noted_compare(const void *a, const void *b)
{
    const struct noted *left = a;
    const struct noted *right = b;

    if (left->note->since_ms != right->note->since_ms) {
        return left->note->since_ms < right->note->since_ms ? -1 : 1;
    }
    return strcmp(left->key, right->key);
}

void daemon_objects_list_noted(struct daemon_objects *objects, enum daemon_note_kind kind,
                               void (*fn)(void *arg, const char *key,
                                          const struct daemon_note *note),
                               void *arg)
{
    CCM_CLEANUP(ccm_freep) struct noted *noted = NULL;
    void *cursor = NULL;
    void *value = NULL;
    const char *key = NULL;
    size_t count = 0;

    (void)ccm_book_open(&objects->records);
    noted = calloc(ccm_strmap_len(objects->records.map) + 1, sizeof(*noted));
    while (noted != NULL && ccm_strmap_next(objects->records.map, &cursor, &key, &value) != 0) {
        const struct daemon_note *note = ((const struct daemon_object *)value)->notes[kind];

        if (note != NULL) {
            noted[count++] = (struct noted){ key, note };
        }
    }
    if (count > 1) {
        qsort(noted, count, sizeof(*noted), noted_compare);
    }
    for (size_t i = 0; i < count; i++) {
        fn(arg, noted[i].key, noted[i].note);
    }
    ccm_book_close(&objects->records);
}

const char *daemon_note_text(const struct daemon_note *note)
{
    return note->text == NULL ? "" : note->text;
}
