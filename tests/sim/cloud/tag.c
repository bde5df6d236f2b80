#include "tag.h"

#include "families.h"
#include "page.h"
#include "plain.h"
#include "store.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* Resources on one page of ListTagResources; the service does not say. */
#define PAGE 50

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
    if (filter->len > 0 && *obj->tag_lag_ms > 0 &&
        ccm_clock_now_ms() < obj->made_ms + *obj->tag_lag_ms) {
        return false;
    }
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
    if (ccm_text_equal(type, "listener")) {
        return find_listener(cloud, id);
    }
    if (ccm_text_equal(type, "acl")) {
        return ccm_cloud_plain_get(cloud, CCM_CLOUD_ACL, id);
    }
    if (ccm_text_equal(type, "certificate")) {
        struct ccm_cloud_obj *cert = ccm_cloud_plain_get(cloud, CCM_CLOUD_SERVER_CERT, id);

        return cert != NULL ? cert : ccm_cloud_plain_get(cloud, CCM_CLOUD_CA_CERT, id);
    }
    return NULL;
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

/* Resources that fit a query, in no order yet. */
struct found {
    const struct ccm_cloud_obj **items;
    size_t len;
    size_t cap;
};

static void found_fini(struct found *found)
{
    free(found->items);
}

static int found_add(struct found *found, const struct ccm_cloud_obj *obj,
                     const struct ccm_sim_params *filter)
{
    if (obj == NULL || obj->tags.len == 0 || !ccm_cloud_tags_fit(obj, filter)) {
        return 0;
    }

    int r = ccm_array_grow(&found->items, &found->cap, found->len + 1,
                           sizeof(const struct ccm_cloud_obj *));

    if (r == 0) {
        found->items[found->len++] = obj;
    }
    return r;
}

static int compare_seq(const void *a, const void *b)
{
    const struct ccm_cloud_obj *const *left = a;
    const struct ccm_cloud_obj *const *right = b;

    if ((*left)->seq == (*right)->seq) {
        return 0;
    }
    return (*left)->seq < (*right)->seq ? -1 : 1;
}

/* A load balancer, or what belongs to it. */
static int find_in_lb(struct found *found, const struct ccm_cloud_lb *lb, const char *type,
                      const struct ccm_sim_params *filter)
{
    int r = ccm_text_equal(type, "instance") ? found_add(found, &lb->obj, filter) : 0;

    for (size_t i = 0; r == 0 && ccm_text_equal(type, "listener") && i < lb->listeners_len; i++) {
        r = found_add(found, &lb->listeners[i]->obj, filter);
    }
    for (size_t i = 0; r == 0 && ccm_text_equal(type, "vservergroup") && i < lb->vgroups_len; i++) {
        r = found_add(found, &lb->vgroups[i]->obj, filter);
    }
    return r;
}

static int find_plain(const struct ccm_cloud *cloud, struct found *found, enum ccm_cloud_kind kind,
                      const struct ccm_sim_params *filter)
{
    void *cursor = NULL;
    int r = 0;

    for (const struct ccm_cloud_obj *obj = ccm_cloud_plain_next(cloud, kind, &cursor);
         obj != NULL && r == 0; obj = ccm_cloud_plain_next(cloud, kind, &cursor)) {
        r = found_add(found, obj, filter);
    }
    return r;
}

/* Every resource of the type that has all the tags. */
static int find_all(struct ccm_cloud_call *call, const struct ccm_sim_params *filter,
                    struct found *found)
{
    const char *type = ccm_cloud_text(call, "ResourceType", "");
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    int r = 0;

    if (ccm_text_equal(type, "acl")) {
        return find_plain(call->cloud, found, CCM_CLOUD_ACL, filter);
    }
    if (ccm_text_equal(type, "certificate")) {
        r = find_plain(call->cloud, found, CCM_CLOUD_SERVER_CERT, filter);
        return r < 0 ? r : find_plain(call->cloud, found, CCM_CLOUD_CA_CERT, filter);
    }
    while (r == 0 && ccm_strmap_next(call->cloud->lbs, &cursor, &id, &value) != 0) {
        r = find_in_lb(found, value, type, filter);
    }
    return r;
}

static int find_named(struct ccm_cloud_call *call, const struct ccm_sim_params *ids,
                      const struct ccm_sim_params *filter, struct found *found)
{
    const char *type = ccm_cloud_text(call, "ResourceType", "");
    int r = 0;

    for (size_t i = 0; i < ids->len && r == 0; i++) {
        r = found_add(found, find_obj(call->cloud, type, ids->items[i].value), filter);
    }
    return r;
}

static void found_write(struct ccm_cloud_call *call, struct found *found,
                        struct ccm_cloud_page *page)
{
    char token[24];

    if (found->len > 1) {
        qsort(found->items, found->len, sizeof(const struct ccm_cloud_obj *), compare_seq);
    }
    ccm_jsonw_open(call->out, "TagResources", '{');
    ccm_jsonw_open(call->out, "TagResource", '[');
    for (size_t i = 0; i < found->len; i++) {
        /* The same id may be given twice. */
        if ((i == 0 || found->items[i] != found->items[i - 1]) &&
            ccm_cloud_page_takes(page, found->items[i]->seq)) {
            resource_write(call, found->items[i]);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    ccm_cloud_page_token(page, token, sizeof(token));
    ccm_jsonw_str(call->out, "NextToken", token);
}

static int list_tag_resources(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params ids = { 0 };
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params filter = { 0 };
    CCM_CLEANUP(found_fini) struct found found = { 0 };
    struct ccm_cloud_page page = { .by_token = true, .size = PAGE };
    const char *token = ccm_cloud_text(call, "NextToken", NULL);
    int64_t after = 0;
    int r = ccm_cloud_list(call, "ResourceId", &ids);

    r = r < 0 ? r : ccm_cloud_tags_read(call, &filter);
    if (r < 0) {
        return r;
    }
    if (ids.len == 0 && filter.len == 0) {
        return ccm_cloud_fail(call, 400, "MissingParam.TagOrResourceId",
                              "The parameter Tag or ResourceId is required at least one.");
    }
    if (token != NULL && ccm_parse_i64(token, 1, INT64_MAX, &after) < 0) {
        return ccm_cloud_fail(call, 400, "QueryTokenNotExist",
                              "The specified NextToken does not exist.");
    }
    page.after = (uint64_t)after;
    r = ids.len > 0 ? find_named(call, &ids, &filter, &found) : find_all(call, &filter, &found);
    if (r == 0) {
        found_write(call, &found, &page);
    }
    return r;
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
