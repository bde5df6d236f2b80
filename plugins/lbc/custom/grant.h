/*
 * Consent of other namespaces: ReferenceGrants as the caches have them, by
 * https://gateway-api.sigs.k8s.io/api-types/referencegrant/; the plugin watches them. No I/O. Every
 * thread.
 */
#ifndef CCM_LBC_CUSTOM_GRANT_H
#define CCM_LBC_CUSTOM_GRANT_H

#include "ccm/host.h"
#include "util/attr.h"
#include "util/strmap.h"

#include <stdbool.h>

/* From an object to one of the core group. */
struct lbc_custom_reference {
    const char *from_group;
    const char *from_kind;
    const char *from_namespace;
    const char *kind;
    const char *namespace_;
    const char *name;
};

/* Whether both have one namespace, or that of the object referred to allows it. */
bool lbc_custom_reference_is_granted(const struct ccm_host *host,
                                     const struct lbc_custom_reference *reference);

/* The same for many references of one object: each namespace is read once, as there may be
 * thousands of grants. cache: of that object alone. 0 or -ENOMEM. */
CCM_NODISCARD int lbc_custom_grants_ask(struct ccm_strmap *cache, const struct ccm_host *host,
                                        const struct lbc_custom_reference *reference, bool *ret);
/* Freed with ccm_strmap_free(); NULL on ENOMEM. */
struct ccm_strmap *lbc_custom_grants_cache_new(void);

#endif
