/* Entries of access control lists, each an object of its own. */
#include "acl.h"
#include "families.h"
#include "plain.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/parse.h"
#include "util/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#define ENTRIES_PER_CALL 50
#define COMMENT_MAX      100

/* ---- the entries of a list ---- */

struct ccm_cloud_obj *ccm_cloud_acl_entry_next(const struct ccm_cloud *cloud, const char *id,
                                               void **cursor)
{
    struct ccm_cloud_obj *obj = ccm_cloud_plain_next(cloud, CCM_CLOUD_ACL_ENTRY, cursor);

    while (obj != NULL && !ccm_text_equal(ccm_cloud_attr(obj, "AclId"), id)) {
        obj = ccm_cloud_plain_next(cloud, CCM_CLOUD_ACL_ENTRY, cursor);
    }
    return obj;
}

static struct ccm_cloud_obj *entry_get(const struct ccm_cloud *cloud, const char *id,
                                       const char *entry)
{
    CCM_CLEANUP(ccm_freep) char *key = ccm_text_format("%s %s", id, entry);

    return key == NULL ? NULL : ccm_cloud_plain_get(cloud, CCM_CLOUD_ACL_ENTRY, key);
}

bool ccm_cloud_acl_entry_has(const struct ccm_cloud *cloud, const char *id, const char *entry)
{
    return entry_get(cloud, id, entry) != NULL;
}

void ccm_cloud_acl_entries_del(struct ccm_cloud *cloud, const char *id)
{
    void *cursor = NULL;

    for (const struct ccm_cloud_obj *obj = ccm_cloud_acl_entry_next(cloud, id, &cursor);
         obj != NULL; obj = ccm_cloud_acl_entry_next(cloud, id, &cursor)) {
        ccm_cloud_plain_del(cloud, CCM_CLOUD_ACL_ENTRY, obj->id);
    }
}

static int entry_add(struct ccm_cloud *cloud, const char *id, const char *entry,
                     const char *comment)
{
    CCM_CLEANUP(ccm_freep) char *key = ccm_text_format("%s %s", id, entry);
    const struct ccm_cloud_pair pairs[] = {
        { "AclId", id },
        { "Entry", entry },
        { "Comment", comment },
    };
    struct ccm_cloud_obj *obj = NULL;
    int r = key == NULL ? -ENOMEM : ccm_cloud_plain_new(cloud, CCM_CLOUD_ACL_ENTRY, key, &obj);

    r = r < 0 ? r : ccm_cloud_attrs_set(obj, pairs, CCM_ARRAY_LEN(pairs));
    if (r < 0 && obj != NULL) {
        ccm_cloud_plain_del(cloud, CCM_CLOUD_ACL_ENTRY, key);
    }
    return r;
}

/* ---- AclEntrys: [{"entry": "10.0.0.0/24", "comment": "office"}] ---- */

static int fail_entrys(struct ccm_cloud_call *call)
{
    return ccm_cloud_fail(call, 400, "InvalidParameter",
                          "The specified parameter AclEntrys is not valid.");
}

/* A block of the list's address family; a bare address is none. */
static bool block_fits(const char *text, bool ipv6)
{
    const char *slash = strchr(text, '/');
    char address[INET6_ADDRSTRLEN];
    unsigned char binary[sizeof(struct in6_addr)];
    uint32_t bits = 0;

    if (slash == NULL || (size_t)(slash - text) >= sizeof(address)) {
        return false;
    }
    ccm_text_copy(address, (size_t)(slash - text) + 1, text);
    return inet_pton(ipv6 ? AF_INET6 : AF_INET, address, binary) == 1 &&
           ccm_parse_u32(slash + 1, 0, ipv6 ? 128 : 32, &bits) == 0;
}

/* Members of an item whatever the case of their names. */
static const char *item_text(const cJSON *item, const char *name)
{
    for (const cJSON *member = item->child; member != NULL; member = member->next) {
        if (ccm_text_equal_case(member->string, name) && cJSON_IsString(member)) {
            return member->valuestring;
        }
    }
    return "";
}

static int entrys_read(struct ccm_cloud_call *call, const struct ccm_cloud_obj *acl, cJSON **ret)
{
    const char *text = ccm_cloud_text(call, "AclEntrys", "");
    const bool ipv6 = ccm_text_equal(ccm_cloud_attr(acl, "AddressIPVersion"), "ipv6");

    if (ccm_json_parse(text, strlen(text), ret) < 0 || !cJSON_IsArray(*ret)) {
        return fail_entrys(call);
    }
    if (cJSON_GetArraySize(*ret) > ENTRIES_PER_CALL) {
        return ccm_cloud_fail(call, 400, "SizeLimitExceeded.AclEntrys",
                              "The maximum size of AclEntrys is exceeded.");
    }
    for (const cJSON *item = (*ret)->child; item != NULL; item = item->next) {
        const char *entry = item_text(item, "entry");

        if (strlen(item_text(item, "comment")) > COMMENT_MAX ||
            (!block_fits(entry, false) && !block_fits(entry, true))) {
            return fail_entrys(call);
        }
        if (!block_fits(entry, ipv6)) {
            return ccm_cloud_fail(call, 400, "IllegalEntry",
                                  "Entry version is conflict to the acl version.");
        }
    }
    return (*ret)->child == NULL ? fail_entrys(call) : 0;
}

/* ---- actions ---- */

static int check_room(struct ccm_cloud_call *call, const struct ccm_cloud_obj *acl,
                      const cJSON *entrys)
{
    size_t have = ccm_cloud_plain_count(call->cloud, CCM_CLOUD_ACL_ENTRY, "AclId", acl->id);

    for (const cJSON *item = entrys->child; item != NULL; item = item->next) {
        if (ccm_cloud_acl_entry_has(call->cloud, acl->id, item_text(item, "entry"))) {
            return ccm_cloud_fail(call, 400, "InvalidParam.AclEntryExists",
                                  "The specified aclEntry already exists in the acl.");
        }
    }
    /* The code of the limit is not published; this one is of the same family. */
    return have + (size_t)cJSON_GetArraySize(entrys) > call->cloud->limits.acl_entries
               ? ccm_cloud_fail(call, 400, "AclEntryNumberOverLimit",
                                "The number of entries of the acl has reached the quota limit.")
               : 0;
}

/* What the call names twice is added once. */
static int add(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *entrys = NULL;
    struct ccm_cloud_obj *acl = NULL;
    int r = ccm_cloud_acl_of(call, &acl);

    r = r < 0 ? r : entrys_read(call, acl, &entrys);
    r = r < 0 ? r : check_room(call, acl, entrys);
    for (const cJSON *item = r < 0 ? NULL : entrys->child; item != NULL && r == 0;
         item = item->next) {
        r = entry_add(call->cloud, acl->id, item_text(item, "entry"), item_text(item, "comment"));
        r = r == -EEXIST ? 0 : r;
    }
    return r;
}

/* Entries that the list does not have are passed over, as long as it has one of them. */
static int remove_entries(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *entrys = NULL;
    struct ccm_cloud_obj *acl = NULL;
    size_t n = 0;
    int r = ccm_cloud_acl_of(call, &acl);

    r = r < 0 ? r : entrys_read(call, acl, &entrys);
    if (r < 0) {
        return r;
    }
    for (const cJSON *item = entrys->child; item != NULL; item = item->next) {
        const struct ccm_cloud_obj *obj = entry_get(call->cloud, acl->id, item_text(item, "entry"));

        if (obj != NULL) {
            ccm_cloud_plain_del(call->cloud, CCM_CLOUD_ACL_ENTRY, obj->id);
            n++;
        }
    }
    return n > 0 ? 0
                 : ccm_cloud_fail(call, 400, "AclEntryEmpty", "The specified acl entry is empty.");
}

static void entries_write(struct ccm_cloud_call *call, const struct ccm_cloud_obj *acl)
{
    const char *comment = ccm_cloud_text(call, "AclEntryComment", NULL);
    int64_t page = ccm_cloud_int(call, "Page", 1);
    int64_t size = ccm_cloud_int(call, "PageSize", 10);
    int64_t total = 0;
    void *cursor = NULL;

    ccm_jsonw_open(call->out, "AclEntrys", '{');
    ccm_jsonw_open(call->out, "AclEntry", '[');
    for (const struct ccm_cloud_obj *obj = ccm_cloud_acl_entry_next(call->cloud, acl->id, &cursor);
         obj != NULL; obj = ccm_cloud_acl_entry_next(call->cloud, acl->id, &cursor)) {
        if (comment != NULL && strstr(ccm_cloud_attr(obj, "Comment"), comment) == NULL) {
            continue;
        }
        if (total >= (page - 1) * size && total < page * size) {
            ccm_jsonw_open(call->out, NULL, '{');
            ccm_jsonw_str(call->out, "AclEntryIP", ccm_cloud_attr(obj, "Entry"));
            ccm_jsonw_str(call->out, "AclEntryComment", ccm_cloud_attr(obj, "Comment"));
            ccm_jsonw_close(call->out, '}');
        }
        total++;
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_jsonw_i64(call->out, "TotalAclEntry", total);
}

static void listeners_write(struct ccm_cloud_call *call, const struct ccm_cloud_obj *acl)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    ccm_jsonw_open(call->out, "RelatedListeners", '{');
    ccm_jsonw_open(call->out, "RelatedListener", '[');
    while (ccm_strmap_next(call->cloud->lbs, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_lb *lb = value;

        for (size_t i = 0; i < lb->listeners_len; i++) {
            const struct ccm_cloud_listener *listener = lb->listeners[i];

            if (ccm_cloud_acl_binds(call->cloud, listener, acl->id)) {
                ccm_jsonw_open(call->out, NULL, '{');
                ccm_jsonw_str(call->out, "LoadBalancerId", id);
                ccm_jsonw_i64(call->out, "ListenerPort", listener->port);
                ccm_jsonw_str(call->out, "Protocol", listener->protocol);
                ccm_jsonw_str(call->out, "AclType", ccm_cloud_attr(&listener->obj, "AclType"));
                ccm_jsonw_close(call->out, '}');
            }
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
}

static const struct ccm_cloud_field fields[] = {
    { "AclName", 's', NULL, "" },
    { "AddressIPVersion", 's', NULL, "ipv4" },
    { "ResourceGroupId", 's', NULL, "rg-default" },
    { 0 },
};

static int describe(struct ccm_cloud_call *call)
{
    struct ccm_cloud_obj *acl = NULL;
    int r = ccm_cloud_acl_of(call, &acl);

    if (r < 0) {
        return r;
    }
    ccm_jsonw_str(call->out, "AclId", acl->id);
    ccm_cloud_write_fields(call->out, acl, fields);
    entries_write(call, acl);
    listeners_write(call, acl);
    ccm_cloud_tags_write(call->out, "Tags", acl, false);
    return 0;
}

static const struct ccm_cloud_param entry_params[] = {
    { .name = "AclId", .required = true },
    { .name = "AclEntrys", .required = true },
    { 0 },
};

static const struct ccm_cloud_param describe_params[] = {
    { .name = "AclId", .required = true },
    { .name = "AclEntryComment" },
    { .name = "Page", .type = CCM_CLOUD_INT, .min = 1, .max = INT32_MAX },
    { .name = "PageSize", .type = CCM_CLOUD_INT, .min = 1, .max = 50 },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_acl_entry_actions[] = {
    { .name = "AddAccessControlListEntry",
      .params = entry_params,
      .region = true,
      .run = add,
      .change = CCM_CLOUD_CHANGE_ACL },
    { .name = "RemoveAccessControlListEntry",
      .params = entry_params,
      .region = true,
      .run = remove_entries,
      .change = CCM_CLOUD_CHANGE_ACL },
    { .name = "DescribeAccessControlListAttribute",
      .params = describe_params,
      .region = true,
      .run = describe },
    { 0 },
};
