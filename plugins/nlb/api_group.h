/* The cloud's actions on server groups and servers, as alilb/action.h calls them: parameters in,
 * answer out, no decisions. */
#ifndef CCM_NLB_API_GROUP_H
#define CCM_NLB_API_GROUP_H

#include "alilb/action.h"
#include "state.h"

/* --- lists --- */

extern const struct alilb_action nlb_api_groups;  /* key and value of a tag, or a list of ids */
extern const struct alilb_action nlb_api_servers; /* id of the group, NULL: all of the region */

/* --- writes --- */

CCM_NODISCARD int nlb_api_create_group(struct alilb_call *call, const struct nlb_group *group,
                                       const char *vpc_id, const struct lbc_tags *tags,
                                       struct lbc_sent *sent, struct ccm_error *err);
/* The attributes of the step's group. */
CCM_NODISCARD int nlb_api_update_group(struct alilb_call *call, struct lbc_step *step,
                                       struct ccm_error *err);
extern const struct alilb_action nlb_api_delete_group; /* id */

extern const struct alilb_action nlb_api_add_servers;
extern const struct alilb_action nlb_api_update_servers;
extern const struct alilb_action nlb_api_remove_servers;
/* One of these, with the step's group and backends, which its desired group describes. */
CCM_NODISCARD int nlb_api_change_servers(struct alilb_call *call, const struct alilb_action *action,
                                         struct lbc_step *step, struct ccm_error *err);

#endif
