/*
 * What Gateways were made with last, as long as this process runs: while a class or parameters
 * cannot be read, backends and listeners go on with that. Every thread.
 */
#ifndef CCM_GATEWAY_PAST_H
#define CCM_GATEWAY_PAST_H

#include "util/attr.h"
#include "util/strmap.h"

struct gateway_past;

/* NULL on ENOMEM. */
struct gateway_past *gateway_past_new(void);
/* NULL is fine. */
void gateway_past_free(struct gateway_past *past);

/* annotations: of the Gateway of that key and uid, texts by key; copied. Out of memory: what was
 * known before counts on. */
void gateway_past_put(struct gateway_past *past, const char *key, const char *uid,
                      const struct ccm_strmap *annotations);
/* Put copies into `to`. 1; 0 when nothing is known of it; or -ENOMEM. */
CCM_NODISCARD int gateway_past_get(struct gateway_past *past, const char *key, const char *uid,
                                   struct ccm_strmap *to);
void gateway_past_forget(struct gateway_past *past, const char *key);

#endif
