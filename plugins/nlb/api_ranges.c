/* The actions on the security group for source ranges. */
#include "api.h"

#include "alicloud/params.h"
#include "util/text.h"

const struct alilb_action nlb_api_security_groups = {
    .name = "DescribeSecurityGroups",
    .product = ALI_ECS,
    .texts = { "Tag.1.Key", "Tag.1.Value", "SecurityGroupId", "SecurityGroupName" },
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
const struct alilb_action nlb_api_create_security_group = {
    .name = "CreateSecurityGroup",
    .product = ALI_ECS,
    .repeat = ALI_IDEMPOTENT,
    .texts = { "SecurityGroupName", "Description", "SecurityGroupType", "VpcId", "ResourceGroupId",
               "ClientToken" },
    .token = true,
    .made = "SecurityGroupId",
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
    .texts = { "SecurityGroupId" },
};
const struct alilb_action nlb_api_remove_rules = {
    .name = "RevokeSecurityGroup",
    .product = ALI_ECS,
    .repeat = ALI_IDEMPOTENT,
    .texts = { "SecurityGroupId" },
};
const struct alilb_action nlb_api_modify_rule = {
    .name = "ModifySecurityGroupRule",
    .product = ALI_ECS,
    .repeat = ALI_IDEMPOTENT,
    .texts = { "SecurityGroupId", "SecurityGroupRuleId" },
};

/* --- rules --- */

static void rule_param(struct ali_params *params, const char *prefix, const char *member,
                       const char *value)
{
    char name[64];

    ccm_text_printf(name, sizeof(name), "%.40s%.20s", prefix, member);
    ali_param_opt(params, name, value);
}

void nlb_api_add_rule(struct ali_params *params, const char *prefix, const struct nlb_rule *rule)
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
