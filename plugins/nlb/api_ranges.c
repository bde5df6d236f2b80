#include "api_ranges.h"

#include "alicloud/params.h"
#include "util/cleanup.h"
#include "util/text.h"

const struct alilb_action nlb_api_security_groups = {
    .name = "DescribeSecurityGroups",
    .product = ALI_ECS,
    .texts = { "Tag.1.Key", "Tag.1.Value" },
    .list = "SecurityGroups",
    .item = "SecurityGroup",
    .paging = ALILB_PAGES_TOKEN,
    .page = 100,
};
const struct alilb_action nlb_api_rules = {
    .name = "DescribeSecurityGroupAttribute",
    .product = ALI_ECS,
    .texts = { "SecurityGroupId", "Direction" },
    .list = "Permissions",
    .item = "Permission",
    .paging = ALILB_PAGES_TOKEN,
    .page = 500,
};
const struct alilb_action nlb_api_rename_security_group = {
    .name = "ModifySecurityGroupAttribute",
    .product = ALI_ECS,
    .repeat = ALI_IDEMPOTENT,
    .texts = { "SecurityGroupId", "SecurityGroupName", "Description" },
};
const struct alilb_action nlb_api_delete_security_group = {
    .name = "DeleteSecurityGroup",
    .product = ALI_ECS,
    .repeat = ALI_IDEMPOTENT,
    .texts = { "SecurityGroupId" },
};
const struct alilb_action nlb_api_add_rules = {
    .name = "AuthorizeSecurityGroup",
    .product = ALI_ECS,
    .repeat = ALI_IDEMPOTENT,
};
const struct alilb_action nlb_api_remove_rules = {
    .name = "RevokeSecurityGroup",
    .product = ALI_ECS,
    .repeat = ALI_IDEMPOTENT,
};

int nlb_api_create_security_group(struct alilb_call *call,
                                  const struct nlb_security_group *security_group,
                                  const struct nlb_security_group_place *place,
                                  struct lbc_sent *sent, struct ccm_error *err)
{
    static const struct alilb_action create = {
        .name = "CreateSecurityGroup",
        .product = ALI_ECS,
        .repeat = ALI_IDEMPOTENT,
        .token = true,
        .made = "SecurityGroupId",
    };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "SecurityGroupName", security_group->name);
    ali_param_add(&params, "Description", security_group->description);
    ali_param_add(&params, "SecurityGroupType", "enterprise");
    ali_param_opt(&params, "VpcId", place->vpc_id);
    ali_param_opt(&params, "ResourceGroupId", place->resource_group);
    alilb_param_tags(&params, place->tags, 1);
    ali_param_add(&params, "ClientToken", place->token);
    return alilb_write(call, &create, ALILB_PARAMS(&params), sent, err);
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

int nlb_api_change_rules(struct alilb_call *call, const struct alilb_action *action,
                         const char *group_id, const struct nlb_rule *rules, size_t count,
                         struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "SecurityGroupId", group_id);
    for (size_t i = 0; i < count; i++) {
        char prefix[40];

        ccm_text_printf(prefix, sizeof(prefix), "Permissions.%zu.", i + 1);
        params_add_rule(&params, prefix, &rules[i]);
    }
    return alilb_write(call, action, ALILB_PARAMS(&params), NULL, err);
}

int nlb_api_modify_rule(struct alilb_call *call, const char *group_id, const char *rule_id,
                        const struct nlb_rule *rule, struct ccm_error *err)
{
    static const struct alilb_action modify = {
        .name = "ModifySecurityGroupRule",
        .product = ALI_ECS,
        .repeat = ALI_IDEMPOTENT,
    };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "SecurityGroupId", group_id);
    ali_param_add(&params, "SecurityGroupRuleId", rule_id);
    params_add_rule(&params, "", rule);
    return alilb_write(call, &modify, ALILB_PARAMS(&params), NULL, err);
}
