#include "tag.h"

#include "families.h"
#include "store.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define TYPES "instance|certificate|acl|listener|vservergroup|masterslaveservergroup"

int ccm_cloud_tags_read(struct ccm_cloud_call *call, struct ccm_sim_params *ret)
{
    for (unsigned i = 1; i <= CCM_CLOUD_TAGS_MAX; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "Tag.%u.Key", i); /* always fits */

        const char *key = ccm_sim_params_get(call->params, name);

        (void)snprintf(name, sizeof(name), "Tag.%u.Value", i); /* always fits */

        const char *value = ccm_sim_params_get(call->params, name);

        if (key == NULL && value == NULL) {
            continue;
        }
        if (ccm_text_empty(key)) {
            return ccm_cloud_fail(call, 400, "MissingParam.TagKey",
                                  "The param MissingParam.TagKey is missing.");
        }
        if (ccm_sim_params_get(ret, key) != NULL) {
            return ccm_cloud_fail(call, 400, "Duplicate.TagKey",
                                  "The param TagKey has duplicate value.");
        }

        int r = ccm_sim_params_set(ret, key, value == NULL ? "" : value);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

bool ccm_cloud_tags_fit(const struct ccm_cloud_obj *obj, const struct ccm_sim_params *filter)
{
    for (size_t i = 0; i < filter->len; i++) {
        const char *value = ccm_sim_params_get(&obj->tags, filter->items[i].name);

        if (value == NULL ||
            (filter->items[i].value[0] != '\0' && strcmp(value, filter->items[i].value) != 0)) {
            return false;
        }
    }
    return true;
}

void ccm_cloud_tags_write(struct ccm_jsonw *w, const char *key, const struct ccm_cloud_obj *obj,
                          bool bare)
{
    if (!bare) {
        ccm_jsonw_open(w, key, '{');
    }
    ccm_jsonw_open(w, bare ? key : "Tag", '[');
    for (size_t i = 0; i < obj->tags.len; i++) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "TagKey", obj->tags.items[i].name);
        ccm_jsonw_str(w, "TagValue", obj->tags.items[i].value);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    if (!bare) {
        ccm_jsonw_close(w, '}');
    }
}

int ccm_cloud_tags_put(struct ccm_cloud_call *call, struct ccm_cloud_obj *obj,
                       const struct ccm_sim_params *tags)
{
    size_t fresh = 0;

    for (size_t i = 0; i < tags->len; i++) {
        fresh += ccm_sim_params_get(&obj->tags, tags->items[i].name) == NULL;
    }
    if (obj->tags.len + fresh > CCM_CLOUD_TAGS_MAX) {
        return ccm_cloud_fail(call, 400, "QuotaLimitExceeds",
                              "The number of tags of %s exceeds the limit.", obj->id);
    }
    for (size_t i = 0; i < tags->len; i++) {
        int r = ccm_sim_params_set(&obj->tags, tags->items[i].name, tags->items[i].value);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

/* ---- actions ---- */

/* "lb-x_tcp_80" -> the listener. */
static struct ccm_cloud_obj *find_listener(const struct ccm_cloud *cloud, const char *id)
{
    char name[128];
    const char *mark = strchr(id, '_');

    if (mark == NULL || (size_t)(mark - id) >= sizeof(name)) {
        return NULL;
    }
    ccm_text_copy(name, (size_t)(mark - id) + 1, id);

    const struct ccm_cloud_lb *lb = ccm_cloud_lb_get(cloud, name);

    for (size_t i = 0; lb != NULL && i < lb->listeners_len; i++) {
        if (ccm_text_equal(lb->listeners[i]->obj.id, id)) {
            return &lb->listeners[i]->obj;
        }
    }
    return NULL;
}

static struct ccm_cloud_obj *find_obj(const struct ccm_cloud *cloud, const char *type,
                                      const char *id)
{
    if (ccm_text_equal(type, "instance")) {
        struct ccm_cloud_lb *lb = ccm_cloud_lb_get(cloud, id);

        return lb == NULL ? NULL : &lb->obj;
    }
    if (ccm_text_equal(type, "vservergroup")) {
        struct ccm_cloud_vgroup *group = ccm_cloud_vgroup_get(cloud, id);

        return group == NULL ? NULL : &group->obj;
    }
    return ccm_text_equal(type, "listener") ? find_listener(cloud, id) : NULL;
}

static int fail_absent(struct ccm_cloud_call *call, const char *id)
{
    return ccm_cloud_fail(call, 400, "ResourceNotExist",
                          "The specified resource %s does not exist.", id);
}

/* All named resources must exist before the first is touched. */
static int ids_read(struct ccm_cloud_call *call, struct ccm_sim_params *ret)
{
    const char *type = ccm_cloud_text(call, "ResourceType", "");
    int r = ccm_cloud_list(call, "ResourceId", ret);

    for (size_t i = 0; i < ret->len && r == 0; i++) {
        if (find_obj(call->cloud, type, ret->items[i].value) == NULL) {
            r = fail_absent(call, ret->items[i].value);
        }
    }
    return r;
}

static int tag_resources(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    const char *type = ccm_cloud_text(call, "ResourceType", "");
    int r = ids_read(call, &ids);

    r = r < 0 ? r : ccm_cloud_tags_read(call, &tags);
    for (size_t i = 0; i < ids.len && r == 0; i++) {
        r = ccm_cloud_tags_put(call, find_obj(call->cloud, type, ids.items[i].value), &tags);
    }
    return r;
}

static int untag_resources(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params keys = { 0 };
    const char *type = ccm_cloud_text(call, "ResourceType", "");
    int r = ids_read(call, &ids);

    r = r < 0 ? r : ccm_cloud_list(call, "TagKey", &keys);
    if (r < 0) {
        return r;
    }
    if (keys.len == 0 && !ccm_text_equal(ccm_cloud_text(call, "All", ""), "true")) {
        return ccm_cloud_fail(call, 400, "MissingParam.TagKey",
                              "The parameter TagKey is required.");
    }
    for (size_t i = 0; i < ids.len; i++) {
        struct ccm_cloud_obj *obj = find_obj(call->cloud, type, ids.items[i].value);

        for (size_t k = 0; k < keys.len; k++) {
            ccm_sim_params_del(&obj->tags, keys.items[k].value);
        }
        if (keys.len == 0) {
            ccm_sim_params_fini(&obj->tags);
        }
    }
    return 0;
}

static void resource_write(struct ccm_cloud_call *call, const struct ccm_cloud_obj *obj)
{
    const char *type = ccm_cloud_text(call, "ResourceType", "");

    for (size_t i = 0; i < obj->tags.len; i++) {
        ccm_jsonw_open(call->out, NULL, '{');
        ccm_jsonw_str(call->out, "ResourceId", obj->id);
        ccm_jsonw_str(call->out, "ResourceType", type);
        ccm_jsonw_str(call->out, "TagKey", obj->tags.items[i].name);
        ccm_jsonw_str(call->out, "TagValue", obj->tags.items[i].value);
        ccm_jsonw_close(call->out, '}');
    }
}

/* Every resource of the type that has all the tags. */
static void resources_write_all(struct ccm_cloud_call *call, const struct ccm_sim_params *filter)
{
    const char *type = ccm_cloud_text(call, "ResourceType", "");
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    while (ccm_strmap_next(call->cloud->lbs, &cursor, &id, &value) != 0) {
        const struct ccm_cloud_lb *lb = value;
        bool listeners = ccm_text_equal(type, "listener");
        bool groups = ccm_text_equal(type, "vservergroup");

        if (ccm_text_equal(type, "instance") && ccm_cloud_tags_fit(&lb->obj, filter)) {
            resource_write(call, &lb->obj);
        }
        for (size_t i = 0; listeners && i < lb->listeners_len; i++) {
            if (ccm_cloud_tags_fit(&lb->listeners[i]->obj, filter)) {
                resource_write(call, &lb->listeners[i]->obj);
            }
        }
        for (size_t i = 0; groups && i < lb->vgroups_len; i++) {
            if (ccm_cloud_tags_fit(&lb->vgroups[i]->obj, filter)) {
                resource_write(call, &lb->vgroups[i]->obj);
            }
        }
    }
}

static int list_tag_resources(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params filter = { 0 };
    const char *type = ccm_cloud_text(call, "ResourceType", "");
    int r = ccm_cloud_list(call, "ResourceId", &ids);

    r = r < 0 ? r : ccm_cloud_tags_read(call, &filter);
    if (r < 0) {
        return r;
    }
    if (ids.len == 0 && filter.len == 0) {
        return ccm_cloud_fail(call, 400, "MissingParam.TagOrResourceId",
                              "The parameter Tag or ResourceId is required at least one.");
    }
    if (ccm_cloud_has(call, "NextToken")) {
        return ccm_cloud_fail(call, 400, "QueryTokenNotExist",
                              "The specified NextToken does not exist.");
    }
    ccm_jsonw_open(call->out, "TagResources", '{');
    ccm_jsonw_open(call->out, "TagResource", '[');
    for (size_t i = 0; i < ids.len; i++) {
        const struct ccm_cloud_obj *obj = find_obj(call->cloud, type, ids.items[i].value);

        if (obj != NULL && ccm_cloud_tags_fit(obj, &filter)) {
            resource_write(call, obj);
        }
    }
    if (ids.len == 0) {
        resources_write_all(call, &filter);
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_jsonw_str(call->out, "NextToken", "");
    return 0;
}

#define TYPE_ROW                                                                                   \
    {                                                                                              \
        .name = "ResourceType", .type = CCM_CLOUD_ENUM, .required = true, .values = TYPES,         \
        .invalid = "InvalidParam.ResourceType"                                                     \
    }

static const struct ccm_cloud_param tag_params[] = {
    TYPE_ROW,
    { .name = "ResourceId.N", .required = true, .items = 20, .missing = "MissingParam.ResourceId" },
    { .name = "Tag.N.Key",
      .required = true,
      .items = CCM_CLOUD_TAGS_MAX,
      .min = 1,
      .max = 64,
      .invalid = "InvalidParam.TagKey",
      .missing = "MissingParam.TagKey" },
    { .name = "Tag.N.Value",
      .items = CCM_CLOUD_TAGS_MAX,
      .max = 128,
      .invalid = "InvalidParam.TagValue" },
    { 0 },
};

static const struct ccm_cloud_param untag_params[] = {
    TYPE_ROW,
    { .name = "ResourceId.N", .required = true, .items = 20, .missing = "MissingParam.ResourceId" },
    { .name = "TagKey.N", .items = CCM_CLOUD_TAGS_MAX },
    { .name = "All", .type = CCM_CLOUD_BOOL },
    { 0 },
};

static const struct ccm_cloud_param list_params[] = {
    TYPE_ROW, { .name = "ResourceId.N", .items = 20 }, CCM_CLOUD_TAG_ROWS, { .name = "NextToken" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_tag_actions[] = {
    { .name = "TagResources", .params = tag_params, .region = true, .run = tag_resources },
    { .name = "UntagResources", .params = untag_params, .region = true, .run = untag_resources },
    { .name = "ListTagResources",
      .params = list_params,
      .region = true,
      .run = list_tag_resources },
    { 0 },
};
