#include "families.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

#define TYPES   "loadbalancer|securitypolicy|servergroup|listener"
#define IDS_MAX 50

static struct ccm_cloud_obj *find(const struct ccm_cloud *cloud, const char *type, const char *id)
{
    if (ccm_text_equal(type, "loadbalancer")) {
        struct ccm_nlb_lb *lb = ccm_nlb_lb_get(cloud, id);

        return lb == NULL ? NULL : &lb->obj;
    }
    if (ccm_text_equal(type, "servergroup")) {
        struct ccm_nlb_group *group = ccm_nlb_group_get(cloud, id);

        return group == NULL ? NULL : &group->obj;
    }
    if (ccm_text_equal(type, "listener")) {
        struct ccm_nlb_listener *listener = ccm_nlb_listener_get(cloud, id);

        return listener == NULL ? NULL : &listener->obj;
    }
    return NULL; /* there are no security policies of users in this cloud */
}

static int fail_absent(struct ccm_cloud_call *call, const char *type)
{
    if (ccm_text_equal(type, "loadbalancer")) {
        return ccm_nlb_fail_absent(call, "loadBalancer");
    }
    return ccm_nlb_fail_absent(call, ccm_text_equal(type, "servergroup") ? "serverGroup" : type);
}

/* All named resources must exist before the first is touched. */
static int ids_read(struct ccm_cloud_call *call, struct ccm_sim_params *ret)
{
    const char *type = ccm_nlb_enum(call, "ResourceType", "");
    int r = ccm_cloud_list(call, "ResourceId", ret);

    for (size_t i = 0; i < ret->len && r == 0; i++) {
        if (find(call->cloud, type, ret->items[i].value) == NULL) {
            r = fail_absent(call, type);
        }
    }
    return r;
}

static int tag(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    const char *type = ccm_nlb_enum(call, "ResourceType", "");
    int r = ids_read(call, &ids);

    r = r < 0 ? r : ccm_cloud_tags_read(call, &tags);
    r = r < 0 ? r : ccm_nlb_dry_run(call);
    for (size_t i = 0; i < ids.len && r == 0; i++) {
        r = ccm_nlb_tags_put(call, find(call->cloud, type, ids.items[i].value), &tags);
    }
    return r;
}

static int untag(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params keys = { 0 };
    const char *type = ccm_nlb_enum(call, "ResourceType", "");
    bool all = ccm_nlb_flag(call, "All", false);
    int r = ids_read(call, &ids);

    r = r < 0 ? r : ccm_cloud_list(call, "TagKey", &keys);
    if (r == 0 && keys.len == 0 && !all) {
        r = ccm_nlb_fail_missing(call, "TagKey");
    }
    r = r < 0 ? r : ccm_nlb_dry_run(call);
    for (size_t i = 0; i < ids.len && r == 0; i++) {
        struct ccm_cloud_obj *obj = find(call->cloud, type, ids.items[i].value);

        for (size_t k = 0; k < keys.len; k++) {
            ccm_sim_params_del(&obj->tags, keys.items[k].value);
        }
        if (keys.len == 0) {
            ccm_sim_params_fini(&obj->tags);
        }
    }
    return r;
}

/* ---- list ---- */

struct filter {
    struct ccm_sim_params ids;
    struct ccm_sim_params tags;
    const char *type;
};

static void filter_fini(struct filter *filter)
{
    ccm_sim_params_fini(&filter->ids);
    ccm_sim_params_fini(&filter->tags);
}

static bool tag_fits(const struct filter *filter, const struct ccm_sim_param *tag)
{
    const char *wanted = ccm_sim_params_get(&filter->tags, tag->name);

    return filter->tags.len == 0 ||
           (wanted != NULL && (wanted[0] == '\0' || ccm_text_equal(wanted, tag->value)));
}

/* One item for each tag that the filter names, of resources that have all of them. */
static void resource_take(struct ccm_cloud_call *call, const struct filter *filter,
                          struct ccm_nlb_page *page, const struct ccm_cloud_obj *obj)
{
    struct ccm_jsonw *w = call->out;

    if (!ccm_nlb_list_has(&filter->ids, obj->id) || !ccm_cloud_tags_fit(obj, &filter->tags)) {
        return;
    }
    for (size_t i = 0; i < obj->tags.len; i++) {
        if (!tag_fits(filter, &obj->tags.items[i]) || !ccm_nlb_page_takes(page, obj->seq, i + 1)) {
            continue;
        }
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_i64(w, "AliUid", 100000000000001);
        ccm_jsonw_str(w, "Category", "custom");
        ccm_jsonw_str(w, "RegionNo", call->cloud->region);
        ccm_jsonw_str(w, "ResourceId", obj->id);
        ccm_jsonw_str(w, "ResourceType", filter->type);
        ccm_jsonw_str(w, "Scope", "public");
        ccm_jsonw_str(w, "TagKey", obj->tags.items[i].name);
        ccm_jsonw_str(w, "TagValue", obj->tags.items[i].value);
        ccm_jsonw_close(w, '}');
    }
}

static void resources_walk(struct ccm_cloud_call *call, const struct filter *filter,
                           struct ccm_nlb_page *page)
{
    const struct ccm_nlb *nlb = call->cloud->nlb;
    struct ccm_strmap *map = NULL;
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    if (ccm_text_equal(filter->type, "loadbalancer")) {
        map = nlb->lbs;
    } else if (ccm_text_equal(filter->type, "servergroup")) {
        map = nlb->groups;
    } else if (ccm_text_equal(filter->type, "listener")) {
        map = nlb->listeners;
    }
    while (map != NULL && ccm_strmap_next(map, &cursor, &id, &value) != 0) {
        resource_take(call, filter, page, find(call->cloud, filter->type, id));
    }
}

static int list(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(filter_fini)
    struct filter filter = { .type = ccm_nlb_enum(call, "ResourceType", "") };
    struct ccm_nlb_page page = { 0 };
    int r = ccm_nlb_page_read(call, 50, &page);

    r = r < 0 ? r : ids_read(call, &filter.ids);
    r = r < 0 ? r : ccm_cloud_tags_read(call, &filter.tags);
    if (r < 0) {
        return r;
    }
    if (filter.ids.len == 0 && filter.tags.len == 0) {
        return ccm_nlb_fail_missing(call, "ResourceId");
    }
    ccm_jsonw_open(call->out, "TagResources", '[');
    if (filter.ids.len == 1) {
        resource_take(call, &filter, &page,
                      find(call->cloud, filter.type, filter.ids.items[0].value));
    } else {
        resources_walk(call, &filter, &page);
    }
    ccm_jsonw_close(call->out, ']');
    ccm_nlb_page_write(call, &page);
    return 0;
}

#define TYPE_ROW                                                                                   \
    {                                                                                              \
        .name = "ResourceType", .type = CCM_CLOUD_ENUM, .required = true, .values = TYPES          \
    }

static const struct ccm_cloud_param tag_params[] = {
    CCM_NLB_WRITE_ROWS,
    TYPE_ROW,
    { .name = "ResourceId.N", .required = true, .items = IDS_MAX },
    { .name = "Tag.N.Key", .required = true, .items = CCM_CLOUD_TAGS_MAX, .min = 1, .max = 64 },
    { .name = "Tag.N.Value", .items = CCM_CLOUD_TAGS_MAX, .max = 128 },
    { 0 },
};

static const struct ccm_cloud_param untag_params[] = {
    { .name = "All", .type = CCM_CLOUD_BOOL },
    CCM_NLB_WRITE_ROWS,
    TYPE_ROW,
    { .name = "ResourceId.N", .required = true, .items = IDS_MAX },
    { .name = "TagKey.N", .items = CCM_CLOUD_TAGS_MAX },
    { 0 },
};

static const struct ccm_cloud_param list_params[] = {
    CCM_NLB_PAGE_ROWS(50),
    { .name = "ResourceType",
      .type = CCM_CLOUD_ENUM,
      .required = true,
      .values = TYPES,
      .invalid = "IllegalParam.resourceType" },
    { .name = "ResourceId.N", .items = IDS_MAX },
    { .name = "Tag.N.Key", .items = CCM_CLOUD_TAGS_MAX, .min = 1, .max = 128 },
    { .name = "Tag.N.Value", .items = CCM_CLOUD_TAGS_MAX, .max = 128 },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_nlb_tag_actions[] = {
    { .name = "TagResources",
      .params = tag_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = tag },
    { .name = "UntagResources",
      .params = untag_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = untag },
    { .name = "ListTagResources", .params = list_params, .manner = &ccm_nlb_manner, .run = list },
    { 0 },
};
