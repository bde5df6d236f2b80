/*
 * What happened to objects of late: events, and calls to a cloud; for the page of an object. Two
 * rings of a fixed size, for all objects together: reads that succeeded have one of their own, so
 * that they do not push out what changed something or failed. Every thread; one lock, a leaf.
 */
#ifndef CCM_DAEMON_JOURNAL_H
#define CCM_DAEMON_JOURNAL_H

#include "ccm/host.h"

#include <stddef.h>
#include <stdint.h>

#define DAEMON_JOURNAL_BYTES      ((size_t)192 * 1024) /* events, changes, failures */
#define DAEMON_JOURNAL_READ_BYTES ((size_t)64 * 1024)  /* reads that succeeded */
#define DAEMON_JOURNAL_TEXT_MAX   ((size_t)400)        /* bytes of one text; more is cut */

enum daemon_journal_kind {
    DAEMON_JOURNAL_READ,   /* a call that changes nothing, and succeeded */
    DAEMON_JOURNAL_CHANGE, /* one that changes something, and succeeded */
    DAEMON_JOURNAL_FAILED, /* one that failed */
    DAEMON_JOURNAL_EVENT,
    DAEMON_JOURNAL_WARNING,
};

struct daemon_journal;

/* Pages of the rings cost memory once they are written to. NULL on ENOMEM. */
struct daemon_journal *daemon_journal_new(void);
/* NULL is fine. */
void daemon_journal_free(struct daemon_journal *journal);

/* object: its key. An event that is among those that are kept, in the same words and as the last
 * of that object, is not kept twice. journal NULL: nothing happens. */
void daemon_journal_record(struct daemon_journal *journal, const char *object,
                           enum daemon_journal_kind kind, const char *text);

/* An event that is news. One that is written only if it lasts is left out: it may never be. */
void daemon_journal_record_event(struct daemon_journal *journal, const struct ccm_event *event);

/* Call fn for the last `max` that were recorded of the object, the latest first, without the lock.
 * Out of memory it is called for fewer. */
void daemon_journal_list(struct daemon_journal *journal, const char *object, size_t max,
                         void (*fn)(void *arg, int64_t wall_ms, enum daemon_journal_kind kind,
                                    const char *text),
                         void *arg);

#endif
