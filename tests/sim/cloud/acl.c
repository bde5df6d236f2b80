/* Access control lists. Entries are no part of the actions that this cloud has. */
#include "families.h"
#include "plain.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

static int acl_of(struct ccm_cloud_call *call, struct ccm_cloud_obj **ret)
{
    *ret = ccm_cloud_plain_get(call->cloud, CCM_CLOUD_ACL, ccm_cloud_text(call, "AclId", ""));
    return *ret != NULL ? 0 : ccm_cloud_fail(call, 400, "AclNotExist", "Acl does not exist.");
}

static int acl_fill(struct ccm_cloud_call *call, struct ccm_cloud_obj *acl,
                    const struct ccm_sim_params *tags)
{
    char created[32];

    ccm_cloud_format_time(ccm_clock_wall_ms(), false, created, sizeof(created));

    const struct ccm_cloud_pair pairs[] = {
        { "AclName", ccm_cloud_text(call, "AclName", "") },
        { "AddressIPVersion", ccm_cloud_text(call, "AddressIPVersion", "ipv4") },
        { "CreateTime", created },
        { "ResourceGroupId", ccm_cloud_text(call, "ResourceGroupId", "rg-default") },
    };
    int r = ccm_cloud_attrs_set(acl, pairs, CCM_ARRAY_LEN(pairs));

    return r < 0 ? r : ccm_cloud_tags_put(call, acl, tags);
}

static int create(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    struct ccm_cloud_obj *acl = NULL;
    char id[48];
    int r = ccm_cloud_tags_read(call, &tags);

    if (r < 0) {
        return r;
    }
    if (ccm_strmap_len(call->cloud->plain[CCM_CLOUD_ACL]) >= call->cloud->limits.acls) {
        return ccm_cloud_fail(call, 400, "AclNumberOverLimit",
                              "The Acl number has reached to the max quota limit.");
    }
    ccm_cloud_new_id(call->cloud, "acl", id, sizeof(id));
    r = ccm_cloud_plain_new(call->cloud, CCM_CLOUD_ACL, id, &acl);
    if (r < 0) {
        return r;
    }
    r = acl_fill(call, acl, &tags);
    if (r < 0) {
        ccm_cloud_plain_del(call->cloud, CCM_CLOUD_ACL, id);
        return r;
    }
    ccm_jsonw_str(call->out, "AclId", id);
    return 0;
}

static bool used(const struct ccm_cloud *cloud, const char *id)
{
    void *cursor = NULL;
    const char *lb_id = NULL;
    void *value = NULL;

    while (ccm_strmap_next(cloud->lbs, &cursor, &lb_id, &value) != 0) {
        const struct ccm_cloud_lb *lb = value;

        for (size_t i = 0; i < lb->listeners_len; i++) {
            if (ccm_text_equal(ccm_cloud_attr(&lb->listeners[i]->obj, "AclId"), id)) {
                return true;
            }
        }
    }
    return false;
}

static int del(struct ccm_cloud_call *call)
{
    struct ccm_cloud_obj *acl = NULL;
    int r = acl_of(call, &acl);

    if (r == 0 && used(call->cloud, acl->id)) {
        r = ccm_cloud_fail(call, 400, "OperationFailed.AclBindedWithVip",
                           "The ACL has binded with vip.");
    }
    if (r == 0) {
        ccm_cloud_plain_del(call->cloud, CCM_CLOUD_ACL, acl->id);
    }
    return r;
}

static bool fits(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *acl,
                 const struct ccm_sim_params *tags)
{
    static const char *const names[] = { "AddressIPVersion", "ResourceGroupId", NULL };
    const char *name = ccm_cloud_text(call, "AclName", "");

    /* The name may be a part of that of the list. */
    return strstr(ccm_cloud_attr(acl, "AclName"), name) != NULL &&
           ccm_cloud_params_fit(call, acl, names) && ccm_cloud_tags_fit(acl, tags);
}

static const struct ccm_cloud_field fields[] = {
    { "AclName", 's', NULL, "" },
    { "AddressIPVersion", 's', NULL, "ipv4" },
    { "CreateTime", 's', NULL, "2026-01-01T00:00Z" },
    { "ResourceGroupId", 's', NULL, "rg-default" },
    { 0 },
};

static int describe(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    int64_t page = ccm_cloud_int(call, "PageNumber", 1);
    int64_t size = ccm_cloud_int(call, "PageSize", 10);
    int64_t total = 0;
    int64_t count = 0;
    void *cursor = NULL;
    int r = ccm_cloud_tags_read(call, &tags);

    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, "Acls", '{');
    ccm_jsonw_open(call->out, "Acl", '[');
    for (const struct ccm_cloud_obj *acl =
             ccm_cloud_plain_next(call->cloud, CCM_CLOUD_ACL, &cursor);
         acl != NULL; acl = ccm_cloud_plain_next(call->cloud, CCM_CLOUD_ACL, &cursor)) {
        if (!fits(call, acl, &tags)) {
            continue;
        }
        if (total >= (page - 1) * size && total < page * size) {
            ccm_jsonw_open(call->out, NULL, '{');
            ccm_jsonw_str(call->out, "AclId", acl->id);
            ccm_cloud_write_fields(call->out, acl, fields);
            ccm_cloud_tags_write(call->out, "Tags", acl, false);
            ccm_jsonw_close(call->out, '}');
            count++;
        }
        total++;
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_jsonw_i64(call->out, "Count", count);
    ccm_jsonw_i64(call->out, "PageNumber", page);
    ccm_jsonw_i64(call->out, "PageSize", size);
    ccm_jsonw_i64(call->out, "TotalCount", total);
    return 0;
}

static const struct ccm_cloud_param create_params[] = {
    { .name = "AclName", .required = true, .min = 1, .max = 80 },
    { .name = "AddressIPVersion", .type = CCM_CLOUD_ENUM, .values = "ipv4|ipv6" },
    { .name = "ResourceGroupId" },
    CCM_CLOUD_TAG_ROWS,
    { 0 },
};

static const struct ccm_cloud_param id_params[] = { { .name = "AclId", .required = true }, { 0 } };

static const struct ccm_cloud_param list_params[] = {
    { .name = "AclName", .min = 1, .max = 80 },
    { .name = "AddressIPVersion", .type = CCM_CLOUD_ENUM, .values = "ipv4|ipv6" },
    { .name = "PageNumber", .type = CCM_CLOUD_INT, .min = 1, .max = INT32_MAX },
    { .name = "PageSize", .type = CCM_CLOUD_INT, .min = 1, .max = 50 },
    { .name = "ResourceGroupId" },
    CCM_CLOUD_TAG_ROWS,
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_acl_actions[] = {
    { .name = "CreateAccessControlList", .params = create_params, .region = true, .run = create },
    { .name = "DeleteAccessControlList", .params = id_params, .region = true, .run = del },
    { .name = "DescribeAccessControlLists",
      .params = list_params,
      .region = true,
      .run = describe },
    { 0 },
};
