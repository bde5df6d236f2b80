/* The cloud's actions on access lists, as alilb/action.h calls them: parameters in, answer out, no
 * decisions. */
#ifndef CCM_CLB_API_RANGES_H
#define CCM_CLB_API_RANGES_H

#include "alilb/action.h"

#define CLB_ENTRIES_MAX 50 /* entries per call */

extern const struct alilb_action clb_api_acls;    /* a list of those whose name holds a text */
extern const struct alilb_action clb_api_entries; /* a list; id of the access list */

/* Tagged as ours, `name` being the owner. *ret_id: heap. */
CCM_NODISCARD int clb_api_create_acl(struct alilb_call *call, const char *name, bool ipv6,
                                     char **ret_id, struct ccm_error *err);
/* At most CLB_ENTRIES_MAX. */
CCM_NODISCARD int clb_api_change_acl(struct alilb_call *call, const char *id,
                                     const struct lbc_texts *entries, bool remove,
                                     struct ccm_error *err);
extern const struct alilb_action clb_api_delete_acl; /* id */

#endif
