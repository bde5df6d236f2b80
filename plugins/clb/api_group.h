/*
 * The cloud's actions on groups, as alilb/action.h calls them: parameters in, answer out, no
 * decisions.
 */
#ifndef CCM_CLB_API_GROUP_H
#define CCM_CLB_API_GROUP_H

#include "alilb/action.h"
#include "lbc/model/backend.h"

/* --- lists --- */

extern const struct alilb_action clb_api_groups;   /* id of the load balancer */
extern const struct alilb_action clb_api_backends; /* id of the group */

/* --- writes; description is written into every backend --- */

/* *ret_id: heap. An empty set makes an empty group. */
CCM_NODISCARD int clb_api_create_group(struct alilb_call *call, const char *lb_id, const char *name,
                                       const struct lbc_backends *backends, char **ret_id,
                                       struct ccm_error *err);
extern const struct alilb_action clb_api_delete_group; /* id */

extern const struct alilb_action clb_api_add;
extern const struct alilb_action clb_api_remove;
extern const struct alilb_action clb_api_weigh;
CCM_NODISCARD int clb_api_change_group(struct alilb_call *call, const struct alilb_action *action,
                                       const char *group_id, const char *description,
                                       const struct lbc_backends *backends, struct ccm_error *err);

#endif
