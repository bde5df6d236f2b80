#include "ecs_query.h"

#include "util/cleanup.h"
#include "util/json.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define FILTERS_MAX 5

int ccm_cloud_texts_read(struct ccm_cloud_call *call, const char *name, struct ccm_sim_params *ret,
                         bool *ret_given)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const char *text = ccm_cloud_text(call, name, NULL);

    *ret_given = text != NULL;
    if (text == NULL) {
        return 0;
    }
    if (ccm_json_parse(text, strlen(text), &json) < 0 || !cJSON_IsArray(json) ||
        cJSON_GetArraySize(json) > 100) {
        return ccm_cloud_fail(call, 400, "InvalidParameter",
                              "The specified parameter %s is not valid.", name);
    }
    for (const cJSON *item = json->child; item != NULL; item = item->next) {
        int r = cJSON_IsString(item)
                    ? ccm_sim_params_set(ret, item->valuestring, "")
                    : ccm_cloud_fail(call, 400, "InvalidParameter",
                                     "The specified parameter %s is not valid.", name);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

void ccm_cloud_named_fini(struct ccm_cloud_named *named)
{
    free(named->items);
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

int ccm_cloud_named_read(const struct ccm_strmap *map, const struct ccm_sim_params *list,
                         bool values, struct ccm_cloud_named *ret)
{
    size_t len = 0;

    ret->items = calloc(list->len + 1, sizeof(const struct ccm_cloud_obj *));
    if (ret->items == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < list->len; i++) {
        ret->items[len] = ccm_strmap_get(map, values ? list->items[i].value : list->items[i].name);
        len += ret->items[len] != NULL;
    }
    qsort(ret->items, len, sizeof(const struct ccm_cloud_obj *), compare_seq);
    for (size_t i = 0; i < len; i++) {
        if (i == 0 || ret->items[i] != ret->items[i - 1]) {
            ret->items[ret->len++] = ret->items[i];
        }
    }
    return 0;
}

bool ccm_cloud_attr_fits(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *obj,
                         const char *param, const char *attr, const char *usual)
{
    const char *want = ccm_cloud_text(call, param, NULL);
    const char *own = ccm_cloud_attr(obj, attr);

    own = ccm_text_empty(own) ? usual : own;
    return want == NULL || ccm_text_equal(want, own) ||
           (strchr(want, '*') != NULL && fnmatch(want, own, 0) == 0);
}

bool ccm_cloud_values_have(const struct ccm_sim_params *list, const char *text)
{
    for (size_t i = 0; i < list->len; i++) {
        if (ccm_text_equal(list->items[i].value, text)) {
            return true;
        }
    }
    return false;
}

/* ---- periods ---- */

/* "CreationStartTime" -> its row and whether it is a start; NULL: neither. */
static const struct ccm_cloud_period *period_find(const struct ccm_cloud_period *names,
                                                  const char *key, bool *ret_start)
{
    for (; names->name != NULL; names++) {
        size_t len = strlen(names->name);

        *ret_start =
            ccm_text_equal(key + (strncmp(key, names->name, len) == 0 ? len : 0), "StartTime");
        if (strncmp(key, names->name, len) == 0 &&
            (*ret_start || ccm_text_equal(key + len, "EndTime"))) {
            return names;
        }
    }
    return NULL;
}

/* Times come with seconds or without. */
static int time_parse(const char *text, int64_t *ret_ms)
{
    CCM_CLEANUP(ccm_freep) char *full = NULL;
    size_t len = strlen(text);

    if (len != strlen("2026-01-01T00:00Z")) {
        return ccm_parse_rfc3339(text, ret_ms);
    }
    full = ccm_text_format("%.*s:00Z", (int)len - 1, text);
    return full == NULL ? -EINVAL : ccm_parse_rfc3339(full, ret_ms);
}

static const char *filter_text(const struct ccm_cloud_call *call, unsigned index, const char *name)
{
    char full[32];

    (void)snprintf(full, sizeof(full), "Filter.%u.%s", index, name); /* always fits */
    return ccm_cloud_text(call, full, "");
}

int ccm_cloud_periods_check(struct ccm_cloud_call *call, const struct ccm_cloud_period *names)
{
    for (unsigned i = 1; i <= FILTERS_MAX; i++) {
        const char *key = filter_text(call, i, "Key");
        const char *value = filter_text(call, i, "Value");
        bool start = false;
        int64_t time = 0;

        if (ccm_text_empty(key) && ccm_text_empty(value)) {
            continue;
        }
        if (period_find(names, key, &start) == NULL) {
            return ccm_cloud_fail(call, 400, "InvalidFilterKey.NotFound",
                                  "The specified Filter Key is not valid.");
        }
        if (time_parse(value, &time) < 0) {
            return ccm_cloud_fail(call, 400, "InvalidFilterValue",
                                  "The specified Filter Value is not valid.");
        }
    }
    return 0;
}

bool ccm_cloud_periods_fit(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *obj,
                           const struct ccm_cloud_period *names)
{
    for (unsigned i = 1; i <= FILTERS_MAX; i++) {
        bool start = false;
        const struct ccm_cloud_period *period =
            period_find(names, filter_text(call, i, "Key"), &start);
        const char *own = period == NULL ? "" : ccm_cloud_attr(obj, period->attr);
        int64_t bound = 0;
        int64_t time = 0;

        if (period == NULL || time_parse(filter_text(call, i, "Value"), &bound) < 0) {
            continue; /* left out */
        }
        if (time_parse(ccm_text_empty(own) ? period->usual : own, &time) < 0 ||
            (start ? time < bound : time > bound)) {
            return false;
        }
    }
    return true;
}

/* ---- writing ---- */

void ccm_cloud_wrapped_write(struct ccm_jsonw *w, const char *outer, const char *inner,
                             const char *text)
{
    ccm_jsonw_open(w, outer, '{');
    ccm_jsonw_open(w, inner, '[');
    if (!ccm_text_empty(text)) {
        ccm_jsonw_str(w, NULL, text);
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

void ccm_cloud_locks_write(struct ccm_jsonw *w, const char *reason)
{
    ccm_jsonw_open(w, "OperationLocks", '{');
    ccm_jsonw_open(w, "LockReason", '[');
    if (!ccm_text_empty(reason)) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "LockReason", reason);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}
