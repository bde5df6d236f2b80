/* Failures in words for people, and which of them are the same. Pure; every thread. */
#ifndef CCM_DAEMON_STATUS_CAUSE_H
#define CCM_DAEMON_STATUS_CAUSE_H

#include <stdint.h>

/* What a kind (CCM_ERROR_*) means, and what becomes of it by itself, or has to be done. */
const char *status_kind_words(uint64_t kind);
const char *status_kind_remedy(uint64_t kind);

/* The same number for messages that differ only in ids, numbers and the name of their object. */
uint64_t status_cause_hash(const char *plugin, uint64_t kind, const char *key, const char *message);

#endif
