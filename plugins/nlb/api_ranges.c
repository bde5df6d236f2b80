#include "api_ranges.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <stdio.h>

int nlb_api_find_security_groups(struct nlb_call *call, const char *tag_key, const char *tag_value,
                                 nlb_item_fn fn, void *arg, struct ccm_error *err)
{
    static const struct nlb_list list = { .product = ALI_ECS,
                                          .action = "DescribeSecurityGroups",
                                          .name = "SecurityGroups",
                                          .item = "SecurityGroup",
                                          .page = 100 };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_tag(&params, 1, tag_key, tag_value);
    return nlb_api_list(call, &list, &params, fn, arg, err);
}

int nlb_api_list_rules(struct nlb_call *call, const char *guard_id, nlb_item_fn fn, void *arg,
                       struct ccm_error *err)
{
    static const struct nlb_list list = { .product = ALI_ECS,
                                          .action = "DescribeSecurityGroupAttribute",
                                          .name = "Permissions",
                                          .item = "Permission",
                                          .page = 500 };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "SecurityGroupId", guard_id);
    ali_param_add(&params, "Direction", "ingress");
    return nlb_api_list(call, &list, &params, fn, arg, err);
}

int nlb_api_create_security_group(struct nlb_call *call,
                                  const struct nlb_security_group *security_group,
                                  const struct nlb_security_group_place *place,
                                  struct nlb_sent *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "SecurityGroupName", security_group->name);
    ali_param_add(&params, "Description", security_group->description);
    ali_param_add(&params, "SecurityGroupType", "enterprise");
    ali_param_opt(&params, "VpcId", place->vpc_id);
    ali_param_opt(&params, "ResourceGroupId", place->resource_group);
    nlb_api_add_tags(&params, place->tags, 1);
    ali_param_add(&params, "ClientToken", place->token);
    return nlb_api_write(call, ALI_ECS, "CreateSecurityGroup", &params, "SecurityGroupId", ret,
                         err);
}

int nlb_api_rename_security_group(struct nlb_call *call, const char *guard_id,
                                  const struct nlb_security_group *security_group,
                                  struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "SecurityGroupId", guard_id);
    ali_param_opt(&params, "SecurityGroupName", security_group->name);
    ali_param_opt(&params, "Description", security_group->description);
    return nlb_api_change(call, ALI_ECS, "ModifySecurityGroupAttribute", &params, err);
}

int nlb_api_delete_security_group(struct nlb_call *call, const char *guard_id,
                                  struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "SecurityGroupId", guard_id);
    return nlb_api_change(call, ALI_ECS, "DeleteSecurityGroup", &params, err);
}

/* --- rules --- */

static void rule_param(struct ali_params *params, const char *prefix, const char *member,
                       const char *value)
{
    char name[64];

    ccm_text_printf(name, sizeof(name), "%.40s%.20s", prefix, member);
    ali_param_opt(params, name, value);
}

static void params_add_rule(struct ali_params *params, const char *prefix,
                            const struct nlb_rule *rule)
{
    char priority[16];

    ccm_text_printf(priority, sizeof(priority), "%d", rule->priority);
    rule_param(params, prefix, "Policy", rule->drop ? "drop" : "accept");
    rule_param(params, prefix, "Priority", priority);
    rule_param(params, prefix, "IpProtocol", rule->protocol);
    rule_param(params, prefix, "PortRange", rule->port_range);
    rule_param(params, prefix, rule->ipv6 ? "Ipv6SourceCidrIp" : "SourceCidrIp", rule->cidr);
    rule_param(params, prefix, "Description", rule->description);
}

static int change_rules(struct nlb_call *call, const char *action, const char *guard_id,
                        const struct nlb_rule *rules, size_t count, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "SecurityGroupId", guard_id);
    for (size_t i = 0; i < count; i++) {
        char prefix[40];

        ccm_text_printf(prefix, sizeof(prefix), "Permissions.%zu.", i + 1);
        params_add_rule(&params, prefix, &rules[i]);
    }
    return nlb_api_change(call, ALI_ECS, action, &params, err);
}

int nlb_api_add_rules(struct nlb_call *call, const char *guard_id, const struct nlb_rule *rules,
                      size_t count, struct ccm_error *err)
{
    return change_rules(call, "AuthorizeSecurityGroup", guard_id, rules, count, err);
}

int nlb_api_remove_rules(struct nlb_call *call, const char *guard_id, const struct nlb_rule *rules,
                         size_t count, struct ccm_error *err)
{
    return change_rules(call, "RevokeSecurityGroup", guard_id, rules, count, err);
}

int nlb_api_modify_rule(struct nlb_call *call, const char *guard_id, const char *rule_id,
                        const struct nlb_rule *rule, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "SecurityGroupId", guard_id);
    ali_param_add(&params, "SecurityGroupRuleId", rule_id);
    params_add_rule(&params, "", rule);
    return nlb_api_change(call, ALI_ECS, "ModifySecurityGroupRule", &params, err);
}
