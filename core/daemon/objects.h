/*
 * The record of each object that a plugin works on: its passes, when the next one is due, and
 * notes. A note is one kind of thing that holds now, with a count, a text for people, and since
 * when it holds. The status page, the metrics and `ccmd status` read nothing else. One per plugin.
 * Every thread; one lock, a leaf.
 */
#ifndef CCM_DAEMON_OBJECTS_H
#define CCM_DAEMON_OBJECTS_H

#include "ccm/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DAEMON_OBJECTS_MAX ((size_t)50000) /* notes of further objects are dropped */

/* In the order in which pages name them. */
enum daemon_note_kind {
    DAEMON_NOTE_FAILING,    /* failed passes in a row; `detail` is CCM_ERROR_* of the last one */
    DAEMON_NOTE_WAITING,    /* `detail` is when it continues, monotonic */
    DAEMON_NOTE_NO_BACKEND, /* ports without a ready backend */
    DAEMON_NOTE_HELD,       /* removals that are held back */
    DAEMON_NOTE_QUOTA,      /* how much of `detail` is used; the key is "OBJECT: QUOTA" */
    DAEMON_NOTE_KINDS,
};

struct daemon_note {
    uint64_t count; /* never 0 */
    uint64_t detail;
    int64_t since_ms; /* monotonic */
    char *text;       /* NULL: there was no memory for it */
};

struct daemon_object {
    const char *key;
    uint32_t passes; /* that have ended */
    int64_t last_ms; /* monotonic; of the last end; 0 = none yet */
    int64_t next_ms; /* monotonic; when it is reconciled again; 0 = on a change only */
    struct daemon_note *notes[DAEMON_NOTE_KINDS]; /* NULL: does not hold */
};

struct daemon_note_sum {
    size_t objects;
    uint64_t count;
    int64_t since_ms; /* of the oldest note; INT64_MAX: there is none */
};

struct daemon_objects;

/* NULL on ENOMEM. */
struct daemon_objects *daemon_objects_new(void);
/* NULL is fine. */
void daemon_objects_free(struct daemon_objects *objects);

/* A pass has its verdict: err NULL = success. The next pass is in delay_ms; 0 = on a change only.
 * On ENOMEM the record is dropped. */
void daemon_objects_settle(struct daemon_objects *objects, const char *key,
                           const struct ccm_error *err, int64_t delay_ms);
/* A pass has ended. On ENOMEM it is not counted. */
void daemon_objects_end(struct daemon_objects *objects, const char *key);
/* The object is gone, and no pass is left to do: only its notes stay until they are taken back. */
void daemon_objects_forget(struct daemon_objects *objects, const char *key);

/* What holds now; count 0 = no longer. text NULL = "". Returns whether it held before. On ENOMEM
 * the note is dropped. */
bool daemon_objects_note(struct daemon_objects *objects, const char *key,
                         enum daemon_note_kind kind, uint64_t count, uint64_t detail,
                         const char *text);

struct daemon_note_sum daemon_objects_sum(struct daemon_objects *objects,
                                          enum daemon_note_kind kind);

/* Call fn for each object, under the lock: it may only copy. */
void daemon_objects_list(struct daemon_objects *objects,
                         void (*fn)(void *arg, const struct daemon_object *object), void *arg);
/* Only those with a note of the kind, the oldest note first. On ENOMEM for none. */
void daemon_objects_list_noted(struct daemon_objects *objects, enum daemon_note_kind kind,
                               void (*fn)(void *arg, const char *key,
                                          const struct daemon_note *note),
                               void *arg);

/* For people; "" where there is none. */
const char *daemon_note_text(const struct daemon_note *note);

#endif
