/* Rules of security groups: all of them allow or drop what comes in. */
#include "families.h"
#include "plain.h"
#include "security.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define RULES_PER_CALL 100

/* What a rule is, by the names of the parameters; the same names are its attributes. */
static const char *const identity[] = {
    "IpProtocol",     "PortRange",       "SourceCidrIp", "Ipv6SourceCidrIp",
    "SourceGroupId",  "SourcePortRange", "DestCidrIp",   "SourcePrefixListId",
    "Ipv6DestCidrIp", "Policy",          "Priority",
};

/* One rule of a request: index 0 is the one that is given without Permissions. */
struct rule {
    unsigned index;
    const char *values[CCM_ARRAY_LEN(identity)];
    char protocol[8]; /* in capitals */
    const char *description;
};

enum { PROTOCOL, PORTS, CIDR, CIDR6, GROUP, SOURCE_PORTS, DEST, PREFIXES, DEST6, POLICY, PRIORITY };

static const char *member(const struct ccm_cloud_call *call, unsigned index, const char *name)
{
    char full[80];

    if (index == 0) {
        return ccm_cloud_text(call, name, "");
    }
    (void)snprintf(full, sizeof(full), "Permissions.%u.%s", index, name); /* always fits */
    return ccm_cloud_text(call, full, "");
}

static bool given(const struct ccm_cloud_call *call, unsigned index)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(identity); i++) {
        if (!ccm_text_empty(member(call, index, identity[i]))) {
            return true;
        }
    }
    return false;
}

static int protocol_read(struct ccm_cloud_call *call, struct rule *rule)
{
    static const char *const known[] = { "TCP", "UDP", "ICMP", "ICMPv6", "GRE", "ALL" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(known); i++) {
        if (ccm_text_equal_case(rule->values[PROTOCOL], known[i])) {
            ccm_text_copy(rule->protocol, sizeof(rule->protocol), known[i]);
            rule->values[PROTOCOL] = rule->protocol;
            return 0;
        }
    }
    return ccm_cloud_fail(call, 400, "InvalidIpProtocol.ValueNotSupported",
                          "The parameter IpProtocol must be specified with case insensitive TCP, "
                          "UDP, ICMP, GRE or All.");
}

/* "80/90" for TCP and UDP, "-1/-1" for the others. */
static bool ports_fit(const char *protocol, const char *ports)
{
    const char *slash = strchr(ports, '/');
    char first[8];
    uint32_t low = 0;
    uint32_t high = 0;

    if (!ccm_text_equal(protocol, "TCP") && !ccm_text_equal(protocol, "UDP")) {
        return ccm_text_equal(ports, "-1/-1");
    }
    if (slash == NULL || (size_t)(slash - ports) >= sizeof(first)) {
        return false;
    }
    ccm_text_copy(first, (size_t)(slash - ports) + 1, ports);
    return ccm_parse_u32(first, 1, 65535, &low) == 0 &&
           ccm_parse_u32(slash + 1, 1, 65535, &high) == 0 && low <= high;
}

static int check_source(struct ccm_cloud_call *call, const struct ccm_cloud_obj *group,
                        const struct rule *rule)
{
    const char *source = rule->values[GROUP];
    const struct ccm_cloud_obj *other =
        ccm_cloud_plain_get(call->cloud, CCM_CLOUD_SECURITY_GROUP, source);

    if (ccm_text_empty(rule->values[CIDR]) && ccm_text_empty(rule->values[CIDR6]) &&
        ccm_text_empty(source) && ccm_text_empty(rule->values[PREFIXES])) {
        return ccm_cloud_fail(call, 400, "MissingParameter.Source",
                              "One of the parameters SourceCidrIp, Ipv6SourceCidrIp, SourceGroupId "
                              "or SourcePrefixListId must be specified.");
    }
    if (!ccm_text_empty(rule->values[CIDR]) && !ccm_text_empty(rule->values[CIDR6])) {
        return ccm_cloud_fail(call, 400, "InvalidParam.SourceIp",
                              "The Parameters SourceCidrIp and Ipv6SourceCidrIp cannot be set at "
                              "the same time.");
    }
    if (strspn(rule->values[CIDR], "0123456789./") != strlen(rule->values[CIDR])) {
        return ccm_cloud_fail(call, 400, "InvalidSourceCidrIp.Malformed",
                              "The specified parameter SourceCidrIp is not valid.");
    }
    if (ccm_text_empty(source)) {
        return 0;
    }
    if (other == NULL) {
        return ccm_cloud_fail(call, 404, "InvalidSourceGroupId.NotFound",
                              "The SourceGroupId provided does not exist in our records.");
    }
    if (ccm_text_equal(ccm_cloud_attr(group, "SecurityGroupType"), "enterprise")) {
        return ccm_cloud_fail(call, 400, "InvalidGroupAuthParameter.OperationDenied",
                              "The security group can not authorize to enterprise level security "
                              "group.");
    }
    return 0;
}

static int rule_check(struct ccm_cloud_call *call, const struct ccm_cloud_obj *group,
                      struct rule *rule)
{
    uint32_t priority = 0;
    int r = protocol_read(call, rule);

    if (r < 0) {
        return r;
    }
    if (ccm_text_empty(rule->values[PORTS])) {
        return ccm_cloud_fail(call, 400, "InvalidPortRange.Malformed",
                              "The specified parameter PortRange must set.");
    }
    if (!ports_fit(rule->protocol, rule->values[PORTS])) {
        return ccm_cloud_fail(call, 400, "InvalidIpProtocol.Malformed",
                              "The specified parameter PortRange is not valid.");
    }
    if (ccm_text_equal_case(rule->values[POLICY], "accept")) {
        rule->values[POLICY] = "Accept";
    } else if (ccm_text_equal_case(rule->values[POLICY], "drop")) {
        rule->values[POLICY] = "Drop";
    } else {
        return ccm_cloud_fail(call, 400, "InvalidPolicy.Malformed",
                              "The specified parameter Policy is not valid.");
    }
    if (ccm_parse_u32(rule->values[PRIORITY], 1, 100, &priority) < 0) {
        return ccm_cloud_fail(call, 400, "InvalidPriority.ValueNotSupported",
                              "The specified parameter Priority is invalid.");
    }
    return check_source(call, group, rule);
}

static int rule_read(struct ccm_cloud_call *call, const struct ccm_cloud_obj *group, unsigned index,
                     struct rule *rule)
{
    *rule = (struct rule){ .index = index };
    for (size_t i = 0; i < CCM_ARRAY_LEN(identity); i++) {
        rule->values[i] = member(call, index, identity[i]);
    }
    if (ccm_text_empty(rule->values[POLICY])) {
        rule->values[POLICY] = "accept";
    }
    if (ccm_text_empty(rule->values[PRIORITY])) {
        rule->values[PRIORITY] = "1";
    }
    rule->description = member(call, index, "Description");
    return rule_check(call, group, rule);
}

/* The rule of the group that is the same but for its description, or NULL. */
static struct ccm_cloud_obj *rule_find(const struct ccm_cloud *cloud, const char *group,
                                       const struct rule *rule)
{
    void *cursor = NULL;

    for (struct ccm_cloud_obj *obj = ccm_cloud_security_rule_next(cloud, group, &cursor);
         obj != NULL; obj = ccm_cloud_security_rule_next(cloud, group, &cursor)) {
        bool same = true;

        for (size_t i = 0; i < CCM_ARRAY_LEN(identity) && same; i++) {
            same = ccm_text_equal(ccm_cloud_attr(obj, identity[i]), rule->values[i]);
        }
        if (same) {
            return obj;
        }
    }
    return NULL;
}

static int rule_add(struct ccm_cloud *cloud, const char *group, const struct rule *rule)
{
    struct ccm_cloud_obj *obj = NULL;
    char id[48];
    char created[32];

    if (rule_find(cloud, group, rule) != NULL) {
        return 0; /* accepted, nothing added */
    }
    ccm_cloud_new_id(cloud, "sgr", id, sizeof(id));
    ccm_cloud_format_time(ccm_clock_wall_ms(), true, created, sizeof(created));

    const struct ccm_cloud_pair pairs[] = {
        { "CreateTime", created },
        { "Description", rule->description },
        { "Direction", "ingress" },
        { "SecurityGroupId", group },
    };
    int r = ccm_cloud_plain_new(cloud, CCM_CLOUD_SECURITY_RULE, id, &obj);

    r = r < 0 ? r : ccm_cloud_attrs_set(obj, pairs, CCM_ARRAY_LEN(pairs));
    for (size_t i = 0; i < CCM_ARRAY_LEN(identity) && r == 0; i++) {
        const struct ccm_cloud_pair pair = { identity[i], rule->values[i] };

        r = ccm_cloud_attrs_set(obj, &pair, 1);
    }
    if (r < 0) {
        ccm_cloud_plain_del(cloud, CCM_CLOUD_SECURITY_RULE, id);
    }
    return r;
}

/* All rules of the request, checked. *ret_len of them; room for RULES_PER_CALL. */
static int rules_read(struct ccm_cloud_call *call, const struct ccm_cloud_obj *group,
                      struct rule *rules, size_t *ret_len)
{
    int r = 0;

    *ret_len = 0;
    for (unsigned i = 1; i <= RULES_PER_CALL && r == 0; i++) {
        if (given(call, i)) {
            r = rule_read(call, group, i, &rules[(*ret_len)++]);
        }
    }
    if (r < 0) {
        return r;
    }
    if (*ret_len > 0 && given(call, 0)) {
        return ccm_cloud_fail(call, 400, "InvalidParam.Permissions",
                              "The specified parameter Permissions cannot coexist with other "
                              "parameters.");
    }
    if (*ret_len == 0) {
        *ret_len = 1;
        r = rule_read(call, group, 0, &rules[0]);
    }
    for (size_t i = 0; i < *ret_len && r == 0; i++) {
        for (size_t k = 0; k < i && r == 0; k++) {
            bool same = true;

            for (size_t v = 0; v < CCM_ARRAY_LEN(identity) && same; v++) {
                same = ccm_text_equal(rules[i].values[v], rules[k].values[v]);
            }
            r = !same ? 0
                      : ccm_cloud_fail(call, 400, "InvalidParam.DuplicatePermissions",
                                       "There are duplicate permissions in the specified "
                                       "parameter Permissions.");
        }
    }
    return r;
}

static int authorize(struct ccm_cloud_call *call)
{
    struct ccm_cloud_obj *group = NULL;
    size_t len = 0;
    size_t fresh = 0;
    CCM_CLEANUP(ccm_freep) struct rule *rules = calloc(RULES_PER_CALL, sizeof(*rules));
    int r = rules == NULL ? -ENOMEM : ccm_cloud_security_group_for_change(call, &group);

    r = r < 0 ? r : rules_read(call, group, rules, &len);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < len; i++) {
        fresh += rule_find(call->cloud, group->id, &rules[i]) == NULL;
    }
    if (ccm_cloud_security_rules(call->cloud, group->id) + fresh >
        call->cloud->limits.security_rules) {
        return ccm_cloud_fail(call, 403, "AuthorizationLimitExceed",
                              "The limit of authorization records in the security group reaches.");
    }
    for (size_t i = 0; i < len && r == 0; i++) {
        r = rule_add(call->cloud, group->id, &rules[i]);
    }
    return r;
}

/* The rule of the group with the id, or the error. */
static int rule_of(struct ccm_cloud_call *call, const struct ccm_cloud_obj *group, const char *id,
                   struct ccm_cloud_obj **ret)
{
    *ret = ccm_cloud_plain_get(call->cloud, CCM_CLOUD_SECURITY_RULE, id);
    return *ret != NULL && ccm_text_equal(ccm_cloud_attr(*ret, "SecurityGroupId"), group->id)
               ? 0
               : ccm_cloud_fail(call, 404, "InvalidSecurityGroupRuleId.NotFound",
                                "The specified SecurityGroupRuleId is not exists.");
}

static int revoke_ids(struct ccm_cloud_call *call, const struct ccm_cloud_obj *group,
                      const struct ccm_sim_params *ids)
{
    struct ccm_cloud_obj *rule = NULL;

    for (size_t i = 0; i < ids->len; i++) {
        int r = rule_of(call, group, ids->items[i].value, &rule);

        if (r < 0) {
            return r;
        }
    }
    for (size_t i = 0; i < ids->len; i++) {
        ccm_cloud_plain_del(call->cloud, CCM_CLOUD_SECURITY_RULE, ids->items[i].value);
    }
    return 0;
}

static int revoke(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    CCM_CLEANUP(ccm_freep) struct rule *rules = calloc(RULES_PER_CALL, sizeof(*rules));
    struct ccm_cloud_obj *group = NULL;
    size_t len = 0;
    int r = rules == NULL ? -ENOMEM : ccm_cloud_security_group_for_change(call, &group);

    r = r < 0 ? r : ccm_cloud_list(call, "SecurityGroupRuleId", &ids);
    if (r == 0 && ids.len > 0) {
        return revoke_ids(call, group, &ids);
    }
    r = r < 0 ? r : rules_read(call, group, rules, &len);
    for (size_t i = 0; i < len && r == 0; i++) {
        const struct ccm_cloud_obj *old = rule_find(call->cloud, group->id, &rules[i]);

        if (old != NULL) { /* what is not there is gone already */
            ccm_cloud_plain_del(call->cloud, CCM_CLOUD_SECURITY_RULE, old->id);
        }
    }
    return r;
}

static int modify(struct ccm_cloud_call *call)
{
    static const char *const names[] = { "Description", NULL };
    struct ccm_cloud_obj *group = NULL;
    struct ccm_cloud_obj *obj = NULL;
    struct rule rule = { 0 };
    int r = ccm_cloud_security_group_for_change(call, &group);

    if (r < 0) {
        return r;
    }
    if (!ccm_cloud_has(call, "SecurityGroupRuleId")) {
        r = rule_read(call, group, 0, &rule);
        obj = r < 0 ? NULL : rule_find(call->cloud, group->id, &rule);
        if (r == 0 && obj == NULL) {
            r = ccm_cloud_fail(call, 404, "SecurityGroupRule.NotFound",
                               "The target security group rule not exist.");
        }
        return r < 0 ? r : ccm_cloud_copy_params(call, obj, names);
    }
    r = rule_of(call, group, ccm_cloud_text(call, "SecurityGroupRuleId", ""), &obj);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(identity); i++) {
        rule.values[i] = ccm_cloud_text(call, identity[i], ccm_cloud_attr(obj, identity[i]));
    }
    r = rule_check(call, group, &rule);
    if (r == 0 && rule_find(call->cloud, group->id, &rule) != NULL &&
        rule_find(call->cloud, group->id, &rule) != obj) {
        r = ccm_cloud_fail(call, 400, "InvalidOperation.RuleDuplicate", "The rule exists already.");
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(identity) && r == 0; i++) {
        const struct ccm_cloud_pair pair = { identity[i], rule.values[i] };

        r = ccm_cloud_text(call, identity[i], NULL) == NULL ? 0
                                                            : ccm_cloud_attrs_set(obj, &pair, 1);
    }
    return r < 0 ? r : ccm_cloud_copy_params(call, obj, names);
}

#define DESCRIPTION .min = 1, .max = 512, .invalid = "InvalidSecurityGroupDiscription.Malformed"

/* A rule that is given without Permissions. */
#define FLAT_ROWS                                                                                  \
    { .name = "ClientToken", .max = 64 }, { .name = "Description", DESCRIPTION },                  \
        { .name = "DestCidrIp" }, { .name = "IpProtocol" }, { .name = "Ipv6DestCidrIp" },          \
        { .name = "Ipv6SourceCidrIp" }, { .name = "NicType" }, { .name = "Policy" },               \
        { .name = "PortRange" }, { .name = "Priority" },                                           \
        { .name = "SecurityGroupId", .required = true }, { .name = "SourceCidrIp" },               \
        { .name = "SourceGroupId" }, { .name = "SourceGroupOwnerAccount" },                        \
        { .name = "SourceGroupOwnerId", .type = CCM_CLOUD_INT }, { .name = "SourcePortRange" },    \
    {                                                                                              \
        .name = "SourcePrefixListId"                                                               \
    }

#define ITEM(member) .name = "Permissions.N." member, .items = RULES_PER_CALL

#define LIST_ROWS                                                                                  \
    { ITEM("Description"), DESCRIPTION }, { ITEM("DestCidrIp") }, { ITEM("IpProtocol") },          \
        { ITEM("Ipv6DestCidrIp") }, { ITEM("Ipv6SourceCidrIp") },                                  \
        { ITEM("NicType"), .type = CCM_CLOUD_ENUM, .values = "internet|intranet" },                \
        { ITEM("Policy") }, { ITEM("PortRange") }, { ITEM("PortRangeListId") },                    \
        { ITEM("Priority") }, { ITEM("SourceCidrIp") }, { ITEM("SourceGroupId") },                 \
        { ITEM("SourceGroupOwnerAccount") },                                                       \
        { ITEM("SourceGroupOwnerId"), .type = CCM_CLOUD_INT }, { ITEM("SourcePortRange") },        \
    {                                                                                              \
        ITEM("SourcePrefixListId")                                                                 \
    }

static const struct ccm_cloud_param authorize_params[] = { FLAT_ROWS, LIST_ROWS, { 0 } };

static const struct ccm_cloud_param revoke_params[] = {
    FLAT_ROWS,
    LIST_ROWS,
    { .name = "SecurityGroupRuleId.N", .items = RULES_PER_CALL },
    { 0 },
};

static const struct ccm_cloud_param modify_params[] = {
    FLAT_ROWS,
    { .name = "PortRangeListId" },
    { .name = "SecurityGroupRuleId" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_security_rule_actions[] = {
    { .name = "AuthorizeSecurityGroup",
      .params = authorize_params,
      .region = true,
      .token = true,
      .run = authorize },
    { .name = "RevokeSecurityGroup",
      .params = revoke_params,
      .region = true,
      .token = true,
      .run = revoke },
    { .name = "ModifySecurityGroupRule",
      .params = modify_params,
      .region = true,
      .token = true,
      .run = modify },
    { 0 },
};
