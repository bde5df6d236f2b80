/*
 * What is remembered per Gateway besides what was written: what the engine said of it last. Belongs
 * to the worker of its key.
 */
#ifndef CCM_GATEWAY_MEMORY_H
#define CCM_GATEWAY_MEMORY_H

#include "gateway.h"

#define GATEWAY_REASON_MAX  64
#define GATEWAY_MESSAGE_MAX 2100
#define GATEWAY_ADDRESS_MAX 256

struct gateway_memory {
    struct lbc_custom_record record;   /* first; all that there is of routes and classes */
    bool has_address;                  /* the engine has said it: */
    char address[GATEWAY_ADDRESS_MAX]; /* "" = none */
    bool has_state;                    /* likewise, in its condition: */
    bool ready;
    char reason[GATEWAY_REASON_MAX]; /* "" = it was taken away */
    char message[GATEWAY_MESSAGE_MAX];
};

/* As lbc_custom_record_get(). */
static inline struct gateway_memory *gateway_memory_get(const struct gateway *self, const char *key,
                                                        const char *uid)
{
    return (struct gateway_memory *)lbc_custom_record_get(self->custom.records, key, uid);
}

#endif
