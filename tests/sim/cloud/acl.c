/* Access control lists, and what they mean to listeners. */
#include "acl.h"

#include "families.h"
#include "plain.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* Of the pages on access control; the first may be raised on request. */
#define PER_LISTENER         3
#define ENTRIES_PER_LISTENER 1000
#define LISTENERS_MAX        50

int ccm_cloud_acl_of(struct ccm_cloud_call *call, struct ccm_cloud_obj **ret)
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

bool ccm_cloud_acl_binds(const struct ccm_cloud *cloud, const struct ccm_cloud_listener *listener,
                         const char *id)
{
    return ccm_cloud_list_has(ccm_cloud_attr(&listener->obj, "AclId"), id) &&
           (cloud->limits.acl_off_keeps != 0 ||
            ccm_text_equal(ccm_cloud_attr(&listener->obj, "AclStatus"), "on"));
}

size_t ccm_cloud_acl_users(const struct ccm_cloud *cloud, const char *id)
{
    void *cursor = NULL;
    const char *lb_id = NULL;
    void *value = NULL;
    size_t n = 0;

    while (ccm_strmap_next(cloud->lbs, &cursor, &lb_id, &value) != 0) {
        const struct ccm_cloud_lb *lb = value;

        for (size_t i = 0; i < lb->listeners_len; i++) {
            n += ccm_cloud_acl_binds(cloud, lb->listeners[i], id);
        }
    }
    return n;
}

/* ---- rules of listeners ---- */

/* One of the lists that a listener gets; `had`: it has it already. */
static int check_one(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb, const char *id,
                     bool had)
{
    const struct ccm_cloud_obj *acl = ccm_cloud_plain_get(call->cloud, CCM_CLOUD_ACL, id);

    if (acl == NULL) {
        return ccm_cloud_fail(call, 400, "AclNotExist", "Acl does not exist.");
    }
    if (!ccm_text_equal(ccm_cloud_attr(acl, "AddressIPVersion"),
                        ccm_cloud_attr(&lb->obj, "AddressIPVersion"))) {
        return ccm_cloud_fail(call, 400, "IpVersionConflict",
                              "The ip version of this LoadBalancer and the Acl is conflict.");
    }
    if (!had && ccm_cloud_acl_users(call->cloud, id) >= LISTENERS_MAX) {
        return ccm_cloud_fail(call, 400, "AclListenerOverLimit",
                              "This acl has reached the limit of binding to listeners.");
    }
    return 0;
}

/* Together they hold no entry twice, and not too many. */
static int check_entries(struct ccm_cloud_call *call, char ids[][64], size_t len)
{
    size_t total = 0;

    for (size_t i = 0; i < len; i++) {
        void *cursor = NULL;

        for (const struct ccm_cloud_obj *entry =
                 ccm_cloud_acl_entry_next(call->cloud, ids[i], &cursor);
             entry != NULL; entry = ccm_cloud_acl_entry_next(call->cloud, ids[i], &cursor)) {
            total++;
            for (size_t j = 0; j < i; j++) {
                if (ccm_cloud_acl_entry_has(call->cloud, ids[j], ccm_cloud_attr(entry, "Entry"))) {
                    return ccm_cloud_fail(call, 400, "Duplicated.AclEntry",
                                          "The entries of the acls are duplicated.");
                }
            }
        }
    }
    return total <= ENTRIES_PER_LISTENER
               ? 0
               : ccm_cloud_fail(call, 400, "QuotaLimitExceeds.TotalAclEntry",
                                "The number of Acl entries has reached the quota limit.");
}

/* AclId is one id, or several with commas between. */
static int check_ids(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb, const char *text,
                     const char *now)
{
    char ids[PER_LISTENER][64];
    const char *cursor = text;
    const char *start = NULL;
    size_t n = 0;
    size_t len = 0;
    int r = 0;

    while (r == 0 && ccm_parse_piece(&cursor, ',', &start, &len)) {
        if (n >= PER_LISTENER) {
            return ccm_cloud_fail(call, 400, "QuotaLimitExceeds.AclAttachedToListener",
                                  "The number of Acl bound listeners has reached the quota limit");
        }
        ccm_text_copy(ids[n], len < sizeof(ids[n]) ? len + 1 : 1, start);
        r = check_one(call, lb, ids[n], ccm_cloud_list_has(now, ids[n]));
        n++;
    }
    return r < 0 ? r : check_entries(call, ids, n);
}

int ccm_cloud_acl_check(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                        const struct ccm_cloud_listener *listener)
{
    const char *now = listener == NULL ? "" : ccm_cloud_attr(&listener->obj, "AclId");
    const char *type = listener == NULL ? "" : ccm_cloud_attr(&listener->obj, "AclType");
    int r = 0;

    if (!ccm_cloud_has(call, "AclId") &&
        !ccm_text_equal(ccm_cloud_text(call, "AclStatus", ""), "on")) {
        return 0;
    }
    r = check_ids(call, lb, ccm_cloud_text(call, "AclId", now), now);
    if (r == 0 && ccm_text_empty(ccm_cloud_text(call, "AclType", type))) {
        r = ccm_cloud_fail(call, 400, "MissingParam.AclType", "The parameter AclType is required.");
    }
    return r;
}

/* ---- actions ---- */

static int del(struct ccm_cloud_call *call)
{
    struct ccm_cloud_obj *acl = NULL;
    int r = ccm_cloud_acl_of(call, &acl);

    if (r == 0 && ccm_cloud_acl_users(call->cloud, acl->id) > 0) {
        r = ccm_cloud_fail(call, 400, "OperationFailed.AclBindedWithVip",
                           "The ACL has binded with vip.");
    }
    if (r == 0) {
        ccm_cloud_acl_entries_del(call->cloud, acl->id);
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
    { .name = "DeleteAccessControlList",
      .params = id_params,
      .region = true,
      .run = del,
      .change = CCM_CLOUD_CHANGE_ACL },
    { .name = "DescribeAccessControlLists",
      .params = list_params,
      .region = true,
      .run = describe },
    { 0 },
};
