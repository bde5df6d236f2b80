/*
 * The settings that Gateways had last, as long as this process runs: backends and listeners use
 * them while a class or parameters cannot be read. Every thread.
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

/* annotations: of the Gateway of that key and uid, texts by key; copied. Out of memory: the earlier
 * ones stay. */
void gateway_past_put(struct gateway_past *past, const char *key, const char *uid,
                      const struct ccm_strmap *annotations);
/* Put copies into `to`. 1; 0 when none are known; or -ENOMEM. */
CCM_NODISCARD int gateway_past_get(struct gateway_past *past, const char *key, const char *uid,
                                   struct ccm_strmap *to);
void gateway_past_forget(struct gateway_past *past, const char *key);

#endif
