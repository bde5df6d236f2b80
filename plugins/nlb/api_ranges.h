/* The cloud's actions on the security group for source ranges, as alilb/action.h calls them:
 * parameters in, answer out, no decisions. */
#ifndef CCM_NLB_API_RANGES_H
#define CCM_NLB_API_RANGES_H

#include "alilb/action.h"
#include "state.h"

#define NLB_RULES_MAX 100 /* rules per call */

/* --- lists --- */

extern const struct alilb_action nlb_api_security_groups; /* key and value of a tag */
extern const struct alilb_action nlb_api_rules;           /* id, "ingress" */

/* --- writes --- */

/* What creation needs besides name and description. */
struct nlb_security_group_place {
    const char *vpc_id;
    const char *resource_group; /* "" or NULL: that of the account */
    const struct lbc_tags *tags;
    const char *token;
};

CCM_NODISCARD int nlb_api_create_security_group(struct alilb_call *call,
                                                const struct nlb_security_group *security_group,
                                                const struct nlb_security_group_place *place,
                                                struct lbc_sent *sent, struct ccm_error *err);
extern const struct alilb_action nlb_api_rename_security_group; /* id, name, description */
extern const struct alilb_action nlb_api_delete_security_group; /* id */

extern const struct alilb_action nlb_api_add_rules;
extern const struct alilb_action nlb_api_remove_rules;
/* One of these, with at most NLB_RULES_MAX. */
CCM_NODISCARD int nlb_api_change_rules(struct alilb_call *call, const struct alilb_action *action,
                                       const char *group_id, const struct nlb_rule *rules,
                                       size_t count, struct ccm_error *err);
CCM_NODISCARD int nlb_api_modify_rule(struct alilb_call *call, const char *group_id,
                                      const char *rule_id, const struct nlb_rule *rule,
                                      struct ccm_error *err);

#endif
