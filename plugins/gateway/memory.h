/* What is remembered per Gateway. Belongs to the worker of its key. */
#ifndef CCM_GATEWAY_MEMORY_H
#define CCM_GATEWAY_MEMORY_H

#include "gateway.h"

struct gateway_memory {
    struct lbc_custom_said said; /* first; its record is all that there is of routes and classes */
    int64_t doubted_ms; /* monotonic: when a failure last had all Secrets read; 0 = never */
};

/* As lbc_custom_record_get(). */
static inline struct gateway_memory *gateway_memory_get(const struct gateway *self, const char *key,
                                                        const char *uid)
{
    return (struct gateway_memory *)lbc_custom_record_get(self->front.custom.records, key, uid);
}

#endif
