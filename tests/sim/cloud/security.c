#include "security.h"

#include "families.h"
#include "page.h"
#include "plain.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/text.h"
#include "vpc.h"

#include <errno.h>
#include <string.h>

int ccm_cloud_security_group_of(struct ccm_cloud_call *call, struct ccm_cloud_obj **ret)
{
    *ret = ccm_cloud_plain_get(call->cloud, CCM_CLOUD_SECURITY_GROUP,
                               ccm_cloud_text(call, "SecurityGroupId", ""));
    return *ret != NULL ? 0
                        : ccm_cloud_fail(call, 404, "InvalidSecurityGroupId.NotFound",
                                         "The specified SecurityGroupId does not exist.");
}

int ccm_cloud_security_group_for_change(struct ccm_cloud_call *call, struct ccm_cloud_obj **ret)
{
    int r = ccm_cloud_security_group_of(call, ret);

    if (r == 0 && ccm_text_equal(ccm_cloud_attr(*ret, "ServiceManaged"), "true")) {
        r = ccm_cloud_fail(call, 403, "InvalidOperation.ResourceManagedByCloudProduct",
                           "The resource is managed by a cloud product.");
    }
    return r;
}

struct ccm_cloud_obj *ccm_cloud_security_rule_next(const struct ccm_cloud *cloud, const char *group,
                                                   void **cursor)
{
    struct ccm_cloud_obj *rule = ccm_cloud_plain_next(cloud, CCM_CLOUD_SECURITY_RULE, cursor);

    while (rule != NULL && group != NULL &&
           !ccm_text_equal(ccm_cloud_attr(rule, "SecurityGroupId"), group)) {
        rule = ccm_cloud_plain_next(cloud, CCM_CLOUD_SECURITY_RULE, cursor);
    }
    return rule;
}

size_t ccm_cloud_security_rules(const struct ccm_cloud *cloud, const char *group)
{
    return ccm_cloud_plain_count(cloud, CCM_CLOUD_SECURITY_RULE, "SecurityGroupId", group);
}

static int create(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "Description",    "ResourceGroupId", "SecurityGroupName",
                                         "ServiceManaged", "VpcId",           NULL };
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    const char *vpc = ccm_cloud_text(call, "VpcId", NULL);
    const char *type = ccm_cloud_text(call, "SecurityGroupType", "normal");
    struct ccm_cloud_obj *group = NULL;
    char id[48];
    char created[32];
    int r = ccm_cloud_tags_read(call, &tags);

    if (r < 0) {
        return r;
    }
    if (vpc != NULL && !ccm_strmap_has(call->cloud->vpcs, vpc)) {
        return ccm_cloud_fail(call, 404, "InvalidVpcId.NotFound", "Specified VPC does not exist.");
    }
    if (vpc == NULL) {
        return ccm_cloud_fail(call, 403, "InvalidVpcId.NotFound",
                              "The VpcId must not empty when only support vpc vm.");
    }
    if (!ccm_cloud_vpc_is_settled(call->cloud, vpc)) {
        return ccm_cloud_fail(call, 400, "IncorrectVpcStatus",
                              "Current VPC status does not support this operation.");
    }
    if (ccm_strmap_len(call->cloud->plain[CCM_CLOUD_SECURITY_GROUP]) >=
        call->cloud->limits.security_groups) {
        return ccm_cloud_fail(call, 403, "QuotaExceed.SecurityGroup",
                              "The maximum number of security groups is reached.");
    }
    ccm_cloud_format_time(ccm_clock_wall_ms(), true, created, sizeof(created));

    const struct ccm_cloud_pair pairs[] = {
        { "CreationTime", created },
        { "InnerAccessPolicy", ccm_text_equal(type, "enterprise") ? "Drop" : "Accept" },
        { "SecurityGroupType", type },
    };

    ccm_cloud_new_id(call->cloud, "sg", id, sizeof(id));
    r = ccm_cloud_plain_new(call->cloud, CCM_CLOUD_SECURITY_GROUP, id, &group);
    r = r < 0 ? r : ccm_cloud_attrs_set(group, pairs, CCM_ARRAY_LEN(pairs));
    r = r < 0 ? r : ccm_cloud_copy_params(call, group, names);
    r = r < 0 ? r : ccm_cloud_tags_put(call, group, &tags);
    if (r < 0) {
        ccm_cloud_plain_del(call->cloud, CCM_CLOUD_SECURITY_GROUP, id);
        return r;
    }
    ccm_jsonw_str(call->out, "SecurityGroupId", id);
    return 0;
}

static size_t members(const struct ccm_strmap *map, const char *id)
{
    void *cursor = NULL;
    const char *key = NULL;
    void *value = NULL;
    size_t n = 0;

    while (ccm_strmap_next(map, &cursor, &key, &value) != 0) {
        const struct ccm_cloud_obj *obj = value; /* first member of all of them */

        n += ccm_cloud_list_has(ccm_cloud_attr(obj, "SecurityGroupId"), id);
    }
    return n;
}

/* Whether a rule of another group names the group. */
static bool referenced(const struct ccm_cloud *cloud, const char *id)
{
    void *cursor = NULL;

    for (const struct ccm_cloud_obj *rule = ccm_cloud_security_rule_next(cloud, NULL, &cursor);
         rule != NULL; rule = ccm_cloud_security_rule_next(cloud, NULL, &cursor)) {
        if (ccm_text_equal(ccm_cloud_attr(rule, "SourceGroupId"), id) &&
            !ccm_text_equal(ccm_cloud_attr(rule, "SecurityGroupId"), id)) {
            return true;
        }
    }
    return false;
}

static int del(struct ccm_cloud_call *call)
{
    struct ccm_cloud_obj *group = NULL;
    void *cursor = NULL;

    if (ccm_cloud_security_group_of(call, &group) < 0) {
        return ccm_cloud_fail(call, 404, "InvalidSecurityGroup.NotFound",
                              "The specified security group is not found.");
    }
    int r = ccm_cloud_security_group_for_change(call, &group);

    if (r < 0) {
        return r;
    }
    if (ccm_text_equal(ccm_cloud_attr(group, "DeletionProtection"), "true")) {
        return ccm_cloud_fail(call, 403, "InvalidOperation.DeletionProtection",
                              "The security group is protected from deletion.");
    }
    if (members(call->cloud->instances, group->id) > 0 ||
        members(call->cloud->enis, group->id) > 0 || referenced(call->cloud, group->id)) {
        return ccm_cloud_fail(call, 403, "DependencyViolation",
                              "There is still instance(s) in the specified security group.");
    }
    for (struct ccm_cloud_obj *rule = ccm_cloud_security_rule_next(call->cloud, group->id, &cursor);
         rule != NULL; rule = ccm_cloud_security_rule_next(call->cloud, group->id, &cursor)) {
        ccm_cloud_plain_del(call->cloud, CCM_CLOUD_SECURITY_RULE, rule->id);
    }
    ccm_cloud_plain_del(call->cloud, CCM_CLOUD_SECURITY_GROUP, group->id);
    return 0;
}

static int modify(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "Description", "SecurityGroupName", NULL };
    struct ccm_cloud_obj *group = NULL;
    int r = ccm_cloud_security_group_for_change(call, &group);

    return r < 0 ? r : ccm_cloud_copy_params(call, group, names);
}

/* ---- reading ---- */

static const struct ccm_cloud_field fields[] = {
    { "CreationTime", 's', NULL, "2026-01-01T00:00:00Z" },
    { "Description", 's', NULL, "" },
    { "ResourceGroupId", 's', NULL, "" },
    { "SecurityGroupName", 's', NULL, "" },
    { "SecurityGroupType", 's', NULL, "normal" },
    { "ServiceManaged", 'b', NULL, "false" },
    { "VpcId", 's', NULL, "" },
    { 0 },
};

static void group_write(struct ccm_cloud_call *call, const struct ccm_cloud_obj *group)
{
    size_t used = members(call->cloud->instances, group->id);
    struct ccm_jsonw *w = call->out;

    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "SecurityGroupId", group->id);
    ccm_cloud_write_fields(w, group, fields);
    ccm_jsonw_i64(w, "AvailableInstanceAmount", 2000 - (int64_t)used);
    ccm_jsonw_i64(w, "EcsCount", (int64_t)used);
    ccm_jsonw_i64(w, "GroupToGroupRuleCount", 0);
    ccm_jsonw_i64(w, "RuleCount", (int64_t)ccm_cloud_security_rules(call->cloud, group->id));
    ccm_cloud_tags_write(w, "Tags", group, false);
    ccm_jsonw_close(w, '}');
}

/* SecurityGroupIds is JSON text of a list. */
static int ids_read(struct ccm_cloud_call *call, struct ccm_sim_params *ret)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const char *text = ccm_cloud_text(call, "SecurityGroupIds", NULL);
    int r = 0;

    if (text == NULL) {
        return 0;
    }
    if (ccm_json_parse(text, strlen(text), &json) < 0 || !cJSON_IsArray(json) ||
        cJSON_GetArraySize(json) > 100) {
        return ccm_cloud_fail(call, 400, "InvalidSecurityGroupId.Malformed",
                              "The specified parameter SecurityGroupIds is not valid.");
    }
    for (const cJSON *item = json->child; item != NULL && r == 0; item = item->next) {
        r = cJSON_IsString(item) ? ccm_sim_params_set(ret, item->valuestring, "") : 0;
    }
    return r;
}

static bool group_fits(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *group,
                       const struct ccm_sim_params *ids, const struct ccm_sim_params *tags)
{
    static const char *const names[] = { "ResourceGroupId", "SecurityGroupType", "VpcId", NULL };
    const char *id = ccm_cloud_text(call, "SecurityGroupId", NULL);
    const char *name = ccm_cloud_text(call, "SecurityGroupName", NULL);
    const char *own = ccm_cloud_attr(group, "SecurityGroupName");
    const bool fuzzy = ccm_text_equal(ccm_cloud_text(call, "FuzzyQuery", ""), "true");
    const char *managed =
        ccm_text_equal(ccm_cloud_attr(group, "ServiceManaged"), "true") ? "true" : "false";

    /* All groups of this cloud are those of a VPC. */
    if ((name != NULL && (fuzzy ? strstr(own, name) == NULL : !ccm_text_equal(own, name))) ||
        !ccm_text_equal(ccm_cloud_text(call, "ServiceManaged", managed), managed) ||
        !ccm_text_equal(ccm_cloud_text(call, "NetworkType", "vpc"), "vpc")) {
        return false;
    }

    return (id == NULL || ccm_text_equal(id, group->id)) &&
           (!ccm_cloud_has(call, "SecurityGroupIds") ||
            ccm_sim_params_get(ids, group->id) != NULL) &&
           ccm_cloud_params_fit(call, group, names) && ccm_cloud_tags_fit(group, tags);
}

static int describe(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    struct ccm_cloud_page page = { 0 };
    void *cursor = NULL;
    int r = ids_read(call, &ids);

    r = r < 0 ? r : ccm_cloud_tags_read(call, &tags);
    r = r < 0 ? r : ccm_cloud_page_read(call, 1, 100, 10, &page);
    if (r < 0) {
        return r;
    }
    if (ccm_text_equal(ccm_cloud_text(call, "DryRun", ""), "true")) {
        return ccm_cloud_fail(call, 400, "DryRunOperation",
                              "Request validation has been passed with DryRun flag set.");
    }
    ccm_jsonw_str(call->out, "RegionId", call->cloud->region);
    ccm_jsonw_open(call->out, "SecurityGroups", '{');
    ccm_jsonw_open(call->out, "SecurityGroup", '[');
    for (const struct ccm_cloud_obj *group =
             ccm_cloud_plain_next(call->cloud, CCM_CLOUD_SECURITY_GROUP, &cursor);
         group != NULL;
         group = ccm_cloud_plain_next(call->cloud, CCM_CLOUD_SECURITY_GROUP, &cursor)) {
        if (group_fits(call, group, &ids, &tags) && ccm_cloud_page_takes(&page, group->seq)) {
            group_write(call, group);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_cloud_page_write(call->out, &page);
    return 0;
}

static const struct ccm_cloud_param create_params[] = {
    { .name = "ClientToken", .max = 64 },
    { .name = "Description",
      .min = 2,
      .max = 256,
      .invalid = "InvalidSecurityGroupDiscription.Malformed" },
    { .name = "ResourceGroupId" },
    { .name = "SecurityGroupName",
      .min = 2,
      .max = 128,
      .invalid = "InvalidSecurityGroupName.Malformed" },
    { .name = "SecurityGroupType",
      .type = CCM_CLOUD_ENUM,
      .values = "normal|enterprise",
      .invalid = "InvalidParams.GroupType" },
    { .name = "ServiceManaged", .type = CCM_CLOUD_BOOL },
    CCM_CLOUD_TAG_ROWS,
    { .name = "VpcId" },
    { 0 },
};

static const struct ccm_cloud_param delete_params[] = {
    { .name = "SecurityGroupId", .required = true },
    { 0 },
};

static const struct ccm_cloud_param modify_params[] = {
    { .name = "Description",
      .min = 2,
      .max = 256,
      .invalid = "InvalidSecurityGroupDiscription.Malformed" },
    { .name = "SecurityGroupId", .required = true },
    { .name = "SecurityGroupName",
      .min = 2,
      .max = 128,
      .invalid = "InvalidSecurityGroupName.Malformed" },
    { 0 },
};

static const struct ccm_cloud_param list_params[] = {
    { .name = "DryRun", .type = CCM_CLOUD_BOOL },
    { .name = "FuzzyQuery", .type = CCM_CLOUD_BOOL },
    { .name = "IsQueryEcsCount", .type = CCM_CLOUD_BOOL },
    { .name = "MaxResults", .type = CCM_CLOUD_INT },
    { .name = "NetworkType", .type = CCM_CLOUD_ENUM, .values = "vpc|classic" },
    { .name = "NextToken" },
    { .name = "PageNumber", .type = CCM_CLOUD_INT, .min = 1, .max = INT32_MAX },
    { .name = "PageSize", .type = CCM_CLOUD_INT, .min = 1, .max = 100 },
    { .name = "ResourceGroupId" },
    { .name = "SecurityGroupId" },
    { .name = "SecurityGroupIds" },
    { .name = "SecurityGroupName" },
    { .name = "SecurityGroupType", .type = CCM_CLOUD_ENUM, .values = "normal|enterprise" },
    { .name = "ServiceManaged", .type = CCM_CLOUD_BOOL },
    CCM_CLOUD_TAG_ROWS,
    { .name = "VpcId" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_security_actions[] = {
    { .name = "CreateSecurityGroup",
      .params = create_params,
      .region = true,
      .token = true,
      .run = create },
    { .name = "DeleteSecurityGroup", .params = delete_params, .region = true, .run = del },
    { .name = "ModifySecurityGroupAttribute",
      .params = modify_params,
      .region = true,
      .run = modify },
    { .name = "DescribeSecurityGroups", .params = list_params, .region = true, .run = describe },
    { 0 },
};
