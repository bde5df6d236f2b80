/*
 * What is remembered per key of the queue of an object that is no Service: the version of our last
 * write, so that the watch's word of it is no change by others. A plugin remembers more in the same
 * place. Every thread may look one up; what is in it belongs to the worker of its key.
 */
#ifndef CCM_LBC_CUSTOM_RECORD_H
#define CCM_LBC_CUSTOM_RECORD_H

#include "util/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lbc_custom_record {
    char uid[64];
    char version[64]; /* resourceVersion after our last write, "" = none; guarded by the lock */
    char shown[64];   /* that of the snapshot then */
    bool held;        /* a finalizer was written last, not taken away; a plugin may set it, too */
};

struct lbc_custom_records;

/* size: of what is remembered per key, which begins with a struct lbc_custom_record and is zero at
 * first. NULL on ENOMEM. */
struct lbc_custom_records *lbc_custom_records_new(size_t size);
/* NULL is fine. */
void lbc_custom_records_free(struct lbc_custom_records *records);

/* That of a key, made when missing, zero again when the uid is a new one. NULL on ENOMEM. */
struct lbc_custom_record *lbc_custom_record_get(struct lbc_custom_records *records, const char *key,
                                                const char *uid);
void lbc_custom_record_forget(struct lbc_custom_records *records, const char *key);

/* What others know of the object of a key, for its own worker: a number of their own, 0 = nothing.
 * True when it is another one than before, or on ENOMEM. Forgotten with the record. Every thread.
 */
bool lbc_custom_record_mark(struct lbc_custom_records *records, const char *key, uint64_t mark);
uint64_t lbc_custom_record_marked(struct lbc_custom_records *records, const char *key);

/* Whether a version of the object is that of our last write. Every thread. */
bool lbc_custom_record_is_own(struct lbc_custom_records *records, const char *key,
                              const char *version);
/* The resourceVersion to write with: that of our last write as long as the snapshot is the one of
 * before it, else the snapshot's. */
const char *lbc_custom_record_version(const struct lbc_custom_record *record, const char *shown);
/* Whether the snapshot is the one of before our last write. */
bool lbc_custom_record_is_behind(const struct lbc_custom_record *record, const char *shown);
/* A write was answered with that version. */
void lbc_custom_record_note_version(struct lbc_custom_records *records,
                                    struct lbc_custom_record *record, const char *shown,
                                    const char *version);

#endif
