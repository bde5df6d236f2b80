/* One security group with its rules. */
#include "families.h"
#include "page.h"
#include "plain.h"
#include "security.h"
#include "util/text.h"

static const struct ccm_cloud_field rule_fields[] = {
    { "CreateTime", 's', NULL, "2026-01-01T00:00:00Z" },
    { "Description", 's', NULL, "" },
    { "DestCidrIp", 's', NULL, "" },
    { "DestGroupId", 's', NULL, "" },
    { "DestGroupName", 's', NULL, "" },
    { "DestGroupOwnerAccount", 's', NULL, "" },
    { "DestPrefixListId", 's', NULL, "" },
    { "DestPrefixListName", 's', NULL, "" },
    { "Direction", 's', NULL, "ingress" },
    { "IpProtocol", 's', NULL, "" },
    { "Ipv6DestCidrIp", 's', NULL, "" },
    { "Ipv6SourceCidrIp", 's', NULL, "" },
    { "NicType", 's', NULL, "intranet" },
    { "Policy", 's', NULL, "Accept" },
    { "PortRange", 's', NULL, "" },
    { "PortRangeListId", 's', NULL, "" },
    { "PortRangeListName", 's', NULL, "" },
    { "Priority", 's', NULL, "1" }, /* text on the wire */
    { "SourceCidrIp", 's', NULL, "" },
    { "SourceGroupId", 's', NULL, "" },
    { "SourceGroupName", 's', NULL, "" },
    { "SourceGroupOwnerAccount", 's', NULL, "" },
    { "SourcePortRange", 's', NULL, "" },
    { "SourcePrefixListId", 's', NULL, "" },
    { "SourcePrefixListName", 's', NULL, "" },
    { 0 },
};

static const struct ccm_cloud_field group_fields[] = {
    { "Description", 's', NULL, "" },
    { "InnerAccessPolicy", 's', NULL, "Accept" },
    { "SecurityGroupName", 's', NULL, "" },
    { "VpcId", 's', NULL, "" },
    { 0 },
};

static int describe(struct ccm_cloud_call *call)
{
    struct ccm_cloud_obj *group = NULL;
    struct ccm_cloud_page page = { 0 };
    void *cursor = NULL;
    char token[24] = "";
    int r = ccm_cloud_security_group_of(call, &group);

    r = r < 0 ? r : ccm_cloud_page_read(call, 10, 1000, 500, &page);
    if (r < 0) {
        return r;
    }
    page.by_token = true;
    ccm_jsonw_str(call->out, "RegionId", call->cloud->region);
    ccm_jsonw_str(call->out, "SecurityGroupId", group->id);
    ccm_cloud_write_fields(call->out, group, group_fields);
    ccm_cloud_write_list(call->out, "SnapshotPolicyIds", "SnapshotPolicyId", "");
    ccm_jsonw_open(call->out, "Permissions", '{');
    ccm_jsonw_open(call->out, "Permission", '[');
    for (const struct ccm_cloud_obj *rule =
             ccm_cloud_security_rule_next(call->cloud, group->id, &cursor);
         rule != NULL; rule = ccm_cloud_security_rule_next(call->cloud, group->id, &cursor)) {
        if (!ccm_text_equal(ccm_cloud_text(call, "Direction", "all"), "egress") &&
            ccm_cloud_page_takes(&page, rule->seq)) {
            ccm_jsonw_open(call->out, NULL, '{');
            ccm_jsonw_str(call->out, "SecurityGroupRuleId", rule->id);
            ccm_cloud_write_fields(call->out, rule, rule_fields);
            ccm_jsonw_close(call->out, '}');
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_cloud_page_token(&page, token, sizeof(token));
    ccm_jsonw_str(call->out, "NextToken", token);
    return 0;
}

static const struct ccm_cloud_param attribute_params[] = {
    { .name = "Attribute" },
    { .name = "Direction", .type = CCM_CLOUD_ENUM, .values = "egress|ingress|all" },
    { .name = "MaxResults", .type = CCM_CLOUD_INT },
    { .name = "NextToken" },
    { .name = "NicType", .type = CCM_CLOUD_ENUM, .values = "internet|intranet" },
    { .name = "SecurityGroupId", .required = true },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_security_rule_read_actions[] = {
    { .name = "DescribeSecurityGroupAttribute",
      .params = attribute_params,
      .region = true,
      .run = describe },
    { 0 },
};
