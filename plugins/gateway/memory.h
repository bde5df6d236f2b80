/*
 * What is remembered per key: what the engine last said of a Gateway, and what was last written.
 * Every thread may look one up; what is in it belongs to the worker of its key.
 */
#ifndef CCM_GATEWAY_MEMORY_H
#define CCM_GATEWAY_MEMORY_H

#include "util/attr.h"

#include <stdbool.h>
#include <stdint.h>

#define GATEWAY_REASON_MAX  64
#define GATEWAY_MESSAGE_MAX 2100
#define GATEWAY_ADDRESS_MAX 256

struct gateway_memory {
    char uid[64];
    char version[64]; /* resourceVersion after our last write, "" = none; guarded by the lock */
    char shown[64];   /* that of the snapshot then */
    bool has_address; /* the engine has said it: */
    char address[GATEWAY_ADDRESS_MAX]; /* "" = none */
    bool has_state;                    /* likewise, in its condition: */
    bool ready;
    char reason[GATEWAY_REASON_MAX]; /* "" = it was taken away */
    char message[GATEWAY_MESSAGE_MAX];
    bool held; /* of a class: its finalizer stands there, also if the caches do not show it yet */
    uint64_t written; /* stands for the status that was written last; 0 = none, or it was seen */
    int64_t written_ms;
};

struct gateway_memories;

/* NULL on ENOMEM. */
struct gateway_memories *gateway_memories_new(void);
/* NULL is fine. */
void gateway_memories_free(struct gateway_memories *memories);
/* That of a key, made when missing, empty when the uid is a new one. NULL on ENOMEM. */
struct gateway_memory *gateway_memory_get(struct gateway_memories *memories, const char *key,
                                          const char *uid);
void gateway_memory_forget(struct gateway_memories *memories, const char *key);

/* Whether a version of the object is that of our last write. Every thread. */
bool gateway_memory_is_own(struct gateway_memories *memories, const char *key, const char *version);

/* The resourceVersion to write with: that of our last write as long as the snapshot is the one of
 * before it, else the snapshot's. */
const char *gateway_memory_version(const struct gateway_memory *memory, const char *shown);
/* Whether the snapshot is the one of before our last write. */
bool gateway_memory_is_behind(const struct gateway_memory *memory, const char *shown);
/* A write was answered with that version. */
void gateway_memory_record_version(struct gateway_memories *memories, struct gateway_memory *memory,
                                   const char *shown, const char *version);

#endif
