/* The security group for source ranges: see api.h. */
#ifndef CCM_NLB_API_GUARD_H
#define CCM_NLB_API_GUARD_H

#include "api.h"

#define NLB_RULES_MAX 100 /* rules per call */

CCM_NODISCARD int nlb_api_find_security_groups(struct nlb_call *call, const char *tag_key,
                                               const char *tag_value, nlb_item_fn fn, void *arg,
                                               struct ccm_error *err);
/* Its rules for what comes in. */
CCM_NODISCARD int nlb_api_list_rules(struct nlb_call *call, const char *guard_id, nlb_item_fn fn,
                                     void *arg, struct ccm_error *err);

/* What creation needs besides name and description. */
struct nlb_security_group_place {
    const char *vpc_id;
    const char *resource_group; /* "" or NULL: that of the account */
    const struct lbc_tags *tags;
    const char *token;
};

CCM_NODISCARD int nlb_api_create_security_group(struct nlb_call *call,
                                                const struct nlb_security_group *security_group,
                                                const struct nlb_security_group_place *place,
                                                struct nlb_sent *ret, struct ccm_error *err);
/* Name and description. */
CCM_NODISCARD int nlb_api_rename_security_group(struct nlb_call *call, const char *guard_id,
                                                const struct nlb_security_group *security_group,
                                                struct ccm_error *err);
CCM_NODISCARD int nlb_api_delete_security_group(struct nlb_call *call, const char *guard_id,
                                                struct ccm_error *err);

/* At most NLB_RULES_MAX. */
CCM_NODISCARD int nlb_api_add_rules(struct nlb_call *call, const char *guard_id,
                                    const struct nlb_rule *rules, size_t count,
                                    struct ccm_error *err);
CCM_NODISCARD int nlb_api_remove_rules(struct nlb_call *call, const char *guard_id,
                                       const struct nlb_rule *rules, size_t count,
                                       struct ccm_error *err);
CCM_NODISCARD int nlb_api_modify_rule(struct nlb_call *call, const char *guard_id,
                                      const char *rule_id, const struct nlb_rule *rule,
                                      struct ccm_error *err);

#endif
