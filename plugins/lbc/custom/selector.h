/*
 * Which namespaces an object lets in: `from` All, Same, Selector or None, as the Gateway API has
 * it. The plugin watches namespaces. No I/O. Every thread.
 */
#ifndef CCM_LBC_CUSTOM_SELECTOR_H
#define CCM_LBC_CUSTOM_SELECTOR_H

#include "ccm/host.h"
#include "util/json.h"

#include <stdbool.h>

/* Whether `rule` of an object in namespace `own` lets in those of namespace `other`. fallback: what
 * holds where it has no `from`. */
bool lbc_custom_namespace_is_from(const struct ccm_host *host, const cJSON *rule,
                                  const char *fallback, const char *own, const char *other);

#endif
