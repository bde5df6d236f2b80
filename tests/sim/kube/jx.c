#include "jx.h"

#include "util/cleanup.h"

#include <stdlib.h>
#include <string.h>

cJSON *ccm_ks_jx_get(cJSON *parent, const char *name)
{
    return cJSON_IsObject(parent) ? cJSON_GetObjectItemCaseSensitive(parent, name) : NULL;
}

cJSON *ccm_ks_jx_object(cJSON *parent, const char *name)
{
    cJSON *item = ccm_ks_jx_get(parent, name);

    if (!cJSON_IsObject(item)) {
        item = cJSON_CreateObject();
        ccm_ks_jx_set(parent, name, item);
    }
    return item;
}

void ccm_ks_jx_set(cJSON *parent, const char *name, cJSON *value)
{
    if (value == NULL || !cJSON_IsObject(parent)) {
        ccm_ks_jx_del(parent, name);
        cJSON_Delete(value);
        return;
    }

    const bool done = ccm_ks_jx_get(parent, name) == NULL
                          ? cJSON_AddItemToObject(parent, name, value)
                          : cJSON_ReplaceItemInObjectCaseSensitive(parent, name, value);

    if (!done) {
        cJSON_Delete(value);
    }
}

void ccm_ks_jx_set_str(cJSON *parent, const char *name, const char *value)
{
    ccm_ks_jx_set(parent, name, cJSON_CreateString(value));
}

void ccm_ks_jx_set_int(cJSON *parent, const char *name, int64_t value)
{
    ccm_ks_jx_set(parent, name, cJSON_CreateNumber((double)value));
}

void ccm_ks_jx_set_bool(cJSON *parent, const char *name, bool value)
{
    ccm_ks_jx_set(parent, name, cJSON_CreateBool(value));
}

void ccm_ks_jx_default_str(cJSON *parent, const char *name, const char *value)
{
    if (ccm_json_text(parent, name)[0] == '\0') {
        ccm_ks_jx_set_str(parent, name, value);
    }
}

void ccm_ks_jx_del(cJSON *parent, const char *name)
{
    if (cJSON_IsObject(parent)) {
        cJSON_DeleteItemFromObjectCaseSensitive(parent, name);
    }
}

void ccm_ks_jx_carry(cJSON *to, const cJSON *from, const char *name)
{
    const cJSON *item = cJSON_IsObject(from) ? cJSON_GetObjectItemCaseSensitive(from, name) : NULL;

    ccm_ks_jx_set(to, name, ccm_ks_jx_dup(item));
}

cJSON *ccm_ks_jx_dup(const cJSON *json)
{
    return json == NULL ? NULL : cJSON_Duplicate(json, true);
}

static bool equal_objects(const cJSON *a, const cJSON *b)
{
    const cJSON *item;

    if (cJSON_GetArraySize(a) != cJSON_GetArraySize(b)) {
        return false;
    }
    cJSON_ArrayForEach(item, a)
    {
        if (!ccm_ks_jx_equal(item, cJSON_GetObjectItemCaseSensitive(b, item->string))) {
            return false;
        }
    }
    return true;
}

static bool equal_lists(const cJSON *a, const cJSON *b)
{
    const cJSON *x = a->child;
    const cJSON *y = b->child;

    for (; x != NULL && y != NULL; x = x->next, y = y->next) {
        if (!ccm_ks_jx_equal(x, y)) {
            return false;
        }
    }
    return x == NULL && y == NULL;
}

bool ccm_ks_jx_equal(const cJSON *a, const cJSON *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    if ((a->type & 0xFF) != (b->type & 0xFF)) {
        return false;
    }
    if (cJSON_IsString(a)) {
        return strcmp(a->valuestring, b->valuestring) == 0;
    }
    if (cJSON_IsNumber(a)) {
        return !(a->valuedouble < b->valuedouble) && !(a->valuedouble > b->valuedouble);
    }
    if (cJSON_IsObject(a)) {
        return equal_objects(a, b);
    }
    return !cJSON_IsArray(a) || equal_lists(a, b);
}

bool ccm_ks_jx_has_text(const cJSON *list, const char *text)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, list)
    {
        if (cJSON_IsString(item) && strcmp(item->valuestring, text) == 0) {
            return true;
        }
    }
    return false;
}

static int compare_names(const void *a, const void *b)
{
    const cJSON *const *x = a;
    const cJSON *const *y = b;

    return strcmp((*x)->string, (*y)->string);
}

static void go_object(struct ccm_buf *buf, const cJSON *json)
{
    const size_t n = (size_t)cJSON_GetArraySize(json);
    CCM_CLEANUP(ccm_freep) const cJSON **items = calloc(n + 1, sizeof(*items));
    const cJSON *item;
    size_t i = 0;

    ccm_buf_adds(buf, "map[");
    if (items != NULL) {
        cJSON_ArrayForEach(item, json)
        {
            items[i++] = item;
        }
        qsort(items, n, sizeof(*items), compare_names);
        for (i = 0; i < n; i++) {
            ccm_buf_addf(buf, "%s%s:", i == 0 ? "" : " ", items[i]->string);
            ccm_ks_jx_go(buf, items[i]);
        }
    }
    ccm_buf_addc(buf, ']');
}

void ccm_ks_jx_go(struct ccm_buf *buf, const cJSON *json)
{
    const cJSON *item;

    if (cJSON_IsObject(json)) {
        go_object(buf, json);
    } else if (cJSON_IsArray(json)) {
        ccm_buf_addc(buf, '[');
        cJSON_ArrayForEach(item, json)
        {
            ccm_buf_adds(buf, item == json->child ? "" : " ");
            ccm_ks_jx_go(buf, item);
        }
        ccm_buf_addc(buf, ']');
    } else if (cJSON_IsString(json)) {
        ccm_buf_adds(buf, json->valuestring);
    } else if (json == NULL || cJSON_IsNull(json)) {
        ccm_buf_adds(buf, "<nil>");
    } else {
        ccm_ks_jx_print(buf, json);
    }
}

void ccm_ks_jx_print(struct ccm_buf *buf, const cJSON *json)
{
    const int r = ccm_json_print(buf, json);

    if (r < 0 && buf->error == 0) {
        buf->error = r;
    }
}

bool ccm_ks_jx_is_flat(const cJSON *json, int depth)
{
    const cJSON *item;

    if (depth < 0) {
        return false;
    }
    cJSON_ArrayForEach(item, json)
    {
        if (!ccm_ks_jx_is_flat(item, depth - 1)) {
            return false;
        }
    }
    return true;
}

bool ccm_ks_jx_is_int(const cJSON *json, int64_t min, int64_t max)
{
    if (!cJSON_IsNumber(json) || !(json->valuedouble >= (double)min) ||
        !(json->valuedouble <= (double)max)) {
        return false;
    }

    const double rest = json->valuedouble - (double)(int64_t)json->valuedouble;

    return !(rest < 0) && !(rest > 0);
}
