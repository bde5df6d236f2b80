/* The tag actions of VPC and ECS, which differ in names, codes and types of resources. */
#include "families.h"
#include "page.h"
#include "plain.h"
#include "tag.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stddef.h>

#define FILTERS_MAX 5

/* A type of resource that exists here, and where its objects are. */
struct type {
    const char *name;
    size_t map; /* offset in struct ccm_cloud */
};

#define PLAIN(kind) (offsetof(struct ccm_cloud, plain) + (kind) * sizeof(struct ccm_strmap *))

struct family {
    const struct type *types;
    unsigned absent_http;
    const char *absent;    /* code for an unknown resource */
    const char *empty;     /* code when neither ids nor tags are given */
    const char *too_many;  /* code for too many tags on a resource */
    const char *duplicate; /* code for a key that is given twice */
};

static const struct type vpc_types[] = {
    { "VPC", offsetof(struct ccm_cloud, vpcs) },
    { "VSWITCH", offsetof(struct ccm_cloud, vswitches) },
    { "ROUTETABLE", PLAIN(CCM_CLOUD_ROUTE_TABLE) },
    { "EIP", PLAIN(CCM_CLOUD_EIP) },
    { 0 },
};

static const struct type ecs_types[] = {
    { "instance", offsetof(struct ccm_cloud, instances) },
    { "eni", offsetof(struct ccm_cloud, enis) },
    { "securitygroup", PLAIN(CCM_CLOUD_SECURITY_GROUP) },
    { 0 },
};

static const struct family vpc_family = {
    .types = vpc_types,
    .absent_http = 400,
    .absent = "InvalidInstanceIds.NotFound",
    .empty = "BothEmpty.TagsAndResources",
    .too_many = "QuotaExceeded.TagNum",
    .duplicate = "Forbidden.TagKey.Duplicated",
};

static const struct family ecs_family = {
    .types = ecs_types,
    .absent_http = 404,
    .absent = "InvalidResourceId.NotFound",
    .empty = "BothEmpty.TagsAndResources",
    .too_many = "QuotaExceed.Tags",
    .duplicate = "Duplicate.TagKey",
};

/* The map of the asked type; NULL: resources of that type do not exist here. */
static struct ccm_strmap *map_of(const struct ccm_cloud_call *call, const struct family *family)
{
    const char *type = ccm_cloud_text(call, "ResourceType", "");

    for (const struct type *row = family->types; row->name != NULL; row++) {
        if (ccm_text_equal_case(row->name, type)) {
            return *(struct ccm_strmap *const *)(const void *)((const char *)call->cloud +
                                                               row->map);
        }
    }
    return NULL;
}

/* The first member of every resource is its object. */
static struct ccm_cloud_obj *obj_of(const struct ccm_strmap *map, const char *id)
{
    return map == NULL ? NULL : ccm_strmap_get(map, id);
}

static int ids_read(struct ccm_cloud_call *call, const struct family *family,
                    struct ccm_sim_params *ret)
{
    const struct ccm_strmap *map = map_of(call, family);
    int r = ccm_cloud_list(call, "ResourceId", ret);

    for (size_t i = 0; i < ret->len && r == 0; i++) {
        if (obj_of(map, ret->items[i].value) == NULL) {
            r = ccm_cloud_fail(call, family->absent_http, family->absent,
                               "The specified resource %s is not found.", ret->items[i].value);
        }
    }
    return r;
}

/* As ccm_cloud_tags_read, with the code of the family. */
static int tags_read(struct ccm_cloud_call *call, const struct family *family,
                     struct ccm_sim_params *ret)
{
    int r = ccm_cloud_tags_read(call, ret);

    if (r == -EPROTO && ccm_text_equal(call->code, "Duplicate.TagKey")) {
        r = ccm_cloud_fail(call, 400, family->duplicate, "The specified tag key already exists.");
    }
    return r;
}

static int tag(struct ccm_cloud_call *call, const struct family *family)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    const struct ccm_strmap *map = map_of(call, family);
    int r = ids_read(call, family, &ids);

    r = r < 0 ? r : tags_read(call, family, &tags);
    for (size_t i = 0; i < ids.len && r == 0; i++) {
        r = ccm_cloud_tags_put(call, obj_of(map, ids.items[i].value), &tags);
        if (r == -EPROTO) {
            r = ccm_cloud_fail(call, family == &ecs_family ? 403 : 400, family->too_many,
                               "Custom Tags quota exceeded");
        }
    }
    return r;
}

static int untag(struct ccm_cloud_call *call, const struct family *family)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params keys = { 0 };
    const struct ccm_strmap *map = map_of(call, family);
    bool all = ccm_text_equal(ccm_cloud_text(call, "All", ""), "true");
    int r = ids_read(call, family, &ids);

    r = r < 0 ? r : ccm_cloud_list(call, "TagKey", &keys);
    for (size_t i = 0; i < ids.len && r == 0; i++) {
        struct ccm_cloud_obj *obj = obj_of(map, ids.items[i].value);

        for (size_t k = 0; k < keys.len; k++) {
            ccm_sim_params_del(&obj->tags, keys.items[k].value);
        }
        if (keys.len == 0 && all) {
            ccm_sim_params_fini(&obj->tags);
        }
    }
    return r;
}

/* TagFilter.N.TagKey, or NULL. */
static const char *filter_key(const struct ccm_cloud_call *call, unsigned index)
{
    char name[40];

    (void)snprintf(name, sizeof(name), "TagFilter.%u.TagKey", index); /* always fits */
    return ccm_cloud_text(call, name, NULL);
}

/* TagFilter.N.TagValues.M (ECS): the tag has one of the values, or there is none. */
static bool filter_fits(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *obj,
                        unsigned index)
{
    const char *own = ccm_sim_params_get(&obj->tags, filter_key(call, index));
    bool any = own != NULL;

    for (unsigned i = 1; own != NULL && i <= FILTERS_MAX; i++) {
        char name[48];

        ccm_text_printf(name, sizeof(name), "TagFilter.%u.TagValues.%u", index, i);

        const char *value = ccm_cloud_text(call, name, NULL);

        if (ccm_text_equal(value, own)) {
            return true;
        }
        any = any && value == NULL;
    }
    return any;
}

static bool filters_fit(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *obj)
{
    for (unsigned i = 1; i <= FILTERS_MAX; i++) {
        if (filter_key(call, i) != NULL && !filter_fits(call, obj, i)) {
            return false;
        }
    }
    return true;
}

static bool has_filter(const struct ccm_cloud_call *call)
{
    for (unsigned i = 1; i <= FILTERS_MAX; i++) {
        if (filter_key(call, i) != NULL) {
            return true;
        }
    }
    return false;
}

static void resource_write(struct ccm_cloud_call *call, const struct ccm_cloud_obj *obj)
{
    for (size_t i = 0; i < obj->tags.len; i++) {
        ccm_jsonw_open(call->out, NULL, '{');
        ccm_jsonw_str(call->out, "ResourceId", obj->id);
        ccm_jsonw_str(call->out, "ResourceType", ccm_cloud_text(call, "ResourceType", ""));
        ccm_jsonw_str(call->out, "TagKey", obj->tags.items[i].name);
        ccm_jsonw_str(call->out, "TagValue", obj->tags.items[i].value);
        ccm_jsonw_close(call->out, '}');
    }
}

static bool has_value(const struct ccm_sim_params *list, const char *value)
{
    for (size_t i = 0; i < list->len; i++) {
        if (ccm_text_equal(list->items[i].value, value)) {
            return true;
        }
    }
    return list->len == 0;
}

static void resources_write(struct ccm_cloud_call *call, const struct ccm_strmap *map,
                            const struct ccm_sim_params *ids, const struct ccm_sim_params *tags,
                            struct ccm_cloud_page *page)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    ccm_jsonw_open(call->out, "TagResources", '{');
    ccm_jsonw_open(call->out, "TagResource", '[');
    while (map != NULL && ccm_strmap_next(map, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_obj *obj = value; /* first member of all of them */

        if (obj->tags.len > 0 && has_value(ids, id) && ccm_cloud_tags_fit(obj, tags) &&
            filters_fit(call, obj) && ccm_cloud_page_takes(page, obj->seq)) {
            resource_write(call, obj);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
}

static int list(struct ccm_cloud_call *call, const struct family *family)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    struct ccm_cloud_page page = { 0 };
    char token[24];
    int r = ccm_cloud_list(call, "ResourceId", &ids);

    r = r < 0 ? r : tags_read(call, family, &tags);
    r = r < 0 ? r : ccm_cloud_page_read(call, 1, 50, 50, &page);
    if (r < 0) {
        return r;
    }
    if (ids.len == 0 && tags.len == 0 && !has_filter(call)) {
        return ccm_cloud_fail(call, 403, family->empty,
                              "The specified Tags and ResourcesIds are not allow to both empty.");
    }
    page.by_token = true;
    resources_write(call, map_of(call, family), &ids, &tags, &page);
    ccm_cloud_page_token(&page, token, sizeof(token));
    ccm_jsonw_str(call->out, "NextToken", token);
    return 0;
}

static int vpc_tag(struct ccm_cloud_call *call)
{
    return tag(call, &vpc_family);
}

static int vpc_untag(struct ccm_cloud_call *call)
{
    return untag(call, &vpc_family);
}

static int vpc_list(struct ccm_cloud_call *call)
{
    return list(call, &vpc_family);
}

static int ecs_tag(struct ccm_cloud_call *call)
{
    return tag(call, &ecs_family);
}

static int ecs_untag(struct ccm_cloud_call *call)
{
    return untag(call, &ecs_family);
}

static int ecs_list(struct ccm_cloud_call *call)
{
    return list(call, &ecs_family);
}

#define VPC_TYPES                                                                                  \
    "VPC|VSWITCH|ROUTETABLE|EIP|VPNGATEWAY|NATGATEWAY|COMMONBANDWIDTHPACKAGE|PREFIXLIST|"          \
    "PUBLICIPADDRESSPOOL|IPV4GATEWAY|IPV6GATEWAY|NETWORKACL|TRAFFICMIRRORFILTER|"                  \
    "TRAFFICMIRRORSESSION|FLOWLOG|HAVIP|DHCPOPTIONSSET|GATEWAYENDPOINT|IPV6ADDRESS"

#define ECS_TYPES                                                                                  \
    "instance|disk|snapshot|image|securitygroup|volume|eni|ddh|ddhcluster|keypair|"                \
    "launchtemplate|reservedinstance|snapshotpolicy|elasticityassurance|capacityreservation|"      \
    "command|invocation|activation|managedinstance"

#define VPC_TYPE_ROW                                                                               \
    {                                                                                              \
        .name = "ResourceType", .type = CCM_CLOUD_ENUM, .required = true, .values = VPC_TYPES,     \
        .invalid = "InvalidInstanceType.NotFound", .missing = "MissingParam.ResourceType"          \
    }

#define ECS_TYPE_ROW                                                                               \
    {                                                                                              \
        .name = "ResourceType", .type = CCM_CLOUD_ENUM, .required = true, .values = ECS_TYPES,     \
        .invalid = "InvalidResourceType.NotFound", .missing = "MissingParameter.ResourceType"      \
    }

#define VPC_TAG_ROWS                                                                               \
    { .name = "Tag.N.Key",                                                                         \
      .items = CCM_CLOUD_TAGS_MAX,                                                                 \
      .min = 1,                                                                                    \
      .max = 128,                                                                                  \
      .invalid = "InvalidTagKey",                                                                  \
      .too_many = "SizeLimitExceeded.TagNum" },                                                    \
    {                                                                                              \
        .name = "Tag.N.Value", .items = CCM_CLOUD_TAGS_MAX, .max = 128,                            \
        .invalid = "InvalidTagValue", .too_many = "SizeLimitExceeded.TagNum"                       \
    }

#define ECS_TAG_ROWS                                                                               \
    { .name = "Tag.N.Key",                                                                         \
      .items = CCM_CLOUD_TAGS_MAX,                                                                 \
      .min = 1,                                                                                    \
      .max = 128,                                                                                  \
      .invalid = "InvalidTagKey.Malformed",                                                        \
      .too_many = "NumberExceed.Tags" },                                                           \
    {                                                                                              \
        .name = "Tag.N.Value", .items = CCM_CLOUD_TAGS_MAX, .max = 128,                            \
        .invalid = "InvalidTagValue.Malformed", .too_many = "NumberExceed.Tags"                    \
    }

static const struct ccm_cloud_param vpc_tag_params[] = {
    VPC_TYPE_ROW,
    { .name = "ResourceId.N", .required = true, .items = 50 },
    { .name = "Tag.N.Key",
      .required = true,
      .items = CCM_CLOUD_TAGS_MAX,
      .min = 1,
      .max = 128,
      .invalid = "InvalidTagKey",
      .missing = "MissingParam.Tags",
      .too_many = "SizeLimitExceeded.TagNum" },
    { .name = "Tag.N.Value",
      .items = CCM_CLOUD_TAGS_MAX,
      .max = 128,
      .invalid = "InvalidTagValue",
      .too_many = "SizeLimitExceeded.TagNum" },
    { 0 },
};

static const struct ccm_cloud_param vpc_untag_params[] = {
    { .name = "All", .type = CCM_CLOUD_BOOL },
    VPC_TYPE_ROW,
    { .name = "ResourceId.N", .required = true, .items = 50 },
    { .name = "TagKey.N", .items = CCM_CLOUD_TAGS_MAX },
    { 0 },
};

static const struct ccm_cloud_param vpc_list_params[] = {
    { .name = "MaxResults", .type = CCM_CLOUD_INT, .min = 1, .max = 50 },
    { .name = "NextToken" },
    VPC_TYPE_ROW,
    { .name = "ResourceId.N", .items = 50 },
    VPC_TAG_ROWS,
    { 0 },
};

static const struct ccm_cloud_param ecs_tag_params[] = {
    ECS_TYPE_ROW,
    { .name = "ResourceId.N",
      .required = true,
      .items = 50,
      .missing = "MissingParameter.ResourceIds",
      .too_many = "NumberExceed.ResourceIds" },
    { .name = "Tag.N.Key",
      .required = true,
      .items = CCM_CLOUD_TAGS_MAX,
      .min = 1,
      .max = 128,
      .invalid = "InvalidTagKey.Malformed",
      .missing = "MissingParameter.Tags",
      .too_many = "NumberExceed.Tags" },
    { .name = "Tag.N.Value",
      .items = CCM_CLOUD_TAGS_MAX,
      .max = 128,
      .invalid = "InvalidTagValue.Malformed",
      .too_many = "NumberExceed.Tags" },
    { 0 },
};

static const struct ccm_cloud_param ecs_untag_params[] = {
    { .name = "All", .type = CCM_CLOUD_BOOL },
    ECS_TYPE_ROW,
    { .name = "ResourceId.N",
      .required = true,
      .items = 50,
      .missing = "MissingParameter.ResourceIds",
      .too_many = "NumberExceed.ResourceIds" },
    { .name = "TagKey.N", .items = CCM_CLOUD_TAGS_MAX, .too_many = "NumberExceed.Tags" },
    { 0 },
};

static const struct ccm_cloud_param ecs_list_params[] = {
    { .name = "NextToken" },
    ECS_TYPE_ROW,
    { .name = "ResourceId.N", .items = 50, .too_many = "NumberExceed.ResourceIds" },
    ECS_TAG_ROWS,
    { .name = "TagFilter.N.TagKey", .items = FILTERS_MAX },
    { .name = "TagFilter.N.TagValues.N", .items = FILTERS_MAX },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_vpc_tag_actions[] = {
    { .name = "TagResources", .params = vpc_tag_params, .region = true, .run = vpc_tag },
    { .name = "UnTagResources", .params = vpc_untag_params, .region = true, .run = vpc_untag },
    { .name = "ListTagResources", .params = vpc_list_params, .region = true, .run = vpc_list },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_ecs_tag_actions[] = {
    { .name = "TagResources", .params = ecs_tag_params, .region = true, .run = ecs_tag },
    { .name = "UntagResources", .params = ecs_untag_params, .region = true, .run = ecs_untag },
    { .name = "ListTagResources", .params = ecs_list_params, .region = true, .run = ecs_list },
    { 0 },
};
