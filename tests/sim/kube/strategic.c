#include "jx.h"
#include "patch.h"
#include "util/cleanup.h"

#include <errno.h>
#include <string.h>

#define DEPTH_MAX   100
#define ORDER       "$setElementOrder/"
#define DELETE_FROM "$deleteFromPrimitiveList/"
#define RETAIN      "$retainKeys"
#define DIRECTIVE   "$patch"

static int merge_object(cJSON *target, const cJSON *patch, const struct ccm_ks_schema *schema,
                        int depth, struct ccm_buf *message);

static const char *directive_of(const cJSON *patch)
{
    return ccm_json_text(patch, DIRECTIVE);
}

/* Position of an item in a list: by merge key, or by value when `key` is NULL. -1 = not there. */
static int find_item(const cJSON *list, const cJSON *item, const char *key)
{
    const cJSON *wanted = key == NULL ? item : cJSON_GetObjectItemCaseSensitive(item, key);
    const cJSON *other;
    int i = 0;

    cJSON_ArrayForEach(other, list)
    {
        const cJSON *value = key == NULL ? other : cJSON_GetObjectItemCaseSensitive(other, key);

        if (wanted != NULL && ccm_ks_jx_equal(value, wanted)) {
            return i;
        }
        i++;
    }
    return -1;
}

static int bad_key(struct ccm_buf *message, const cJSON *item, const char *key)
{
    ccm_buf_adds(message, "map: ");
    ccm_ks_jx_go(message, item);
    ccm_buf_addf(message, " does not contain declared merge key: %s", key);
    return -EINVAL;
}

/* Each item of the patch list that is not deleted must stand in the order list, in the same order.
 */
static int check_order(const cJSON *patch, const cJSON *order, const char *key,
                       struct ccm_buf *message)
{
    const cJSON *item;
    int last = -1;

    cJSON_ArrayForEach(item, patch)
    {
        if (directive_of(item)[0] != '\0') {
            continue;
        }

        const int at = find_item(order, item, key);

        if (at <= last) {
            ccm_buf_adds(message, "The order in patch list:\n");
            ccm_ks_jx_go(message, patch);
            ccm_buf_adds(message, "\n doesn't match $setElementOrder list:\n");
            ccm_ks_jx_go(message, order);
            ccm_buf_adds(message, "\n");
            return -EINVAL;
        }
        last = at;
    }
    return 0;
}

/* Move the items that `order` names out of `list`, in that order. */
static cJSON *split_ordered(cJSON *list, const cJSON *order, const char *key)
{
    cJSON *picked = cJSON_CreateArray();
    const cJSON *item;

    cJSON_ArrayForEach(item, order)
    {
        const int at = find_item(list, item, key);

        if (at >= 0) {
            (void)cJSON_AddItemToArray(picked, cJSON_DetachItemFromArray(list, at));
            /* ENOMEM of `picked`: see jx.h */
        }
    }
    return picked;
}

/*
 * The final order of a merged list: what the patch (or its order list) names keeps the order given
 * there, the rest keeps the old order; where both meet, the named one goes first unless both are
 * old and the other stood before it.
 */
static cJSON *weave(cJSON *merged, const cJSON *order, const cJSON *old, const char *key)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *named = split_ordered(merged, order, key);
    cJSON *out = cJSON_CreateArray();

    while (merged->child != NULL || (named != NULL && named->child != NULL)) {
        const bool have_rest = merged->child != NULL;
        const bool have_named = named != NULL && named->child != NULL;
        bool rest_first = have_rest && !have_named;

        if (have_rest && have_named) {
            const int a = find_item(old, merged->child, key);
            const int b = find_item(old, named->child, key);

            rest_first = a >= 0 && b >= 0 && a < b;
        }
        (void)cJSON_AddItemToArray(out, cJSON_DetachItemFromArray(rest_first ? merged : named, 0));
        /* ENOMEM: see jx.h */
    }
    return out;
}

/* A value that comes new into the object: directives and nulls inside it mean nothing. */
static cJSON *fresh(const cJSON *patch, const struct ccm_ks_schema *schema, int depth,
                    struct ccm_buf *message, int *ret_error)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *out = cJSON_CreateObject();

    *ret_error = merge_object(out, patch, schema, depth + 1, message);
    return *ret_error < 0 ? NULL : CCM_STEAL(out);
}

static bool list_is_replaced(const cJSON *patch)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, patch)
    {
        if (strcmp(directive_of(item), "replace") == 0) {
            return true;
        }
    }
    return false;
}

static int merge_item(cJSON *list, const cJSON *item, const struct ccm_ks_field *f, int depth,
                      struct ccm_buf *message)
{
    const int at = find_item(list, item, f->merge_key);
    int r = 0;

    if (cJSON_GetObjectItemCaseSensitive(item, f->merge_key) == NULL) {
        return bad_key(message, item, f->merge_key);
    }
    if (strcmp(directive_of(item), "delete") == 0) {
        if (at >= 0) {
            cJSON_DeleteItemFromArray(list, at);
        }
        return 0;
    }
    if (at >= 0) {
        return merge_object(cJSON_GetArrayItem(list, at), item, f->sub, depth + 1, message);
    }

    cJSON *added = fresh(item, f->sub, depth, message, &r);

    if (added != NULL) {
        (void)cJSON_AddItemToArray(list, added); /* fails only without an item */
    }
    return r;
}

/* Items without directive, for `$patch: replace` in a list. */
static cJSON *without_directives(const cJSON *patch)
{
    cJSON *out = cJSON_CreateArray();
    const cJSON *item;

    cJSON_ArrayForEach(item, patch)
    {
        if (directive_of(item)[0] == '\0') {
            (void)cJSON_AddItemToArray(out, ccm_ks_jx_dup(item)); /* ENOMEM: see jx.h */
        }
    }
    return out;
}

/* Items the patch names, deleted ones left out: the order when no $setElementOrder is given. */
static int merge_keyed_list(cJSON *target, const cJSON *patch, const cJSON *order,
                            const struct ccm_ks_field *f, int depth, struct ccm_buf *message)
{
    const cJSON *old = cJSON_GetObjectItemCaseSensitive(target, f->name);
    CCM_CLEANUP(ccm_json_freep)
    cJSON *merged = cJSON_IsArray(old) ? ccm_ks_jx_dup(old) : cJSON_CreateArray();
    CCM_CLEANUP(ccm_json_freep) cJSON *named = without_directives(patch);
    const cJSON *item;
    int r;

    if (list_is_replaced(patch)) {
        ccm_ks_jx_set(target, f->name, CCM_STEAL(named));
        return 0;
    }
    if (order != NULL) {
        r = check_order(patch, order, f->merge_key, message);
        if (r < 0) {
            return r;
        }
    }
    cJSON_ArrayForEach(item, patch)
    {
        r = merge_item(merged, item, f, depth, message);
        if (r < 0) {
            return r;
        }
    }

    cJSON *woven = weave(merged, order != NULL ? order : named, old, f->merge_key);

    ccm_ks_jx_set(target, f->name, woven);
    return 0;
}

static int merge_set(cJSON *target, const cJSON *patch, const cJSON *order, const cJSON *removed,
                     const struct ccm_ks_field *f)
{
    const cJSON *old = cJSON_GetObjectItemCaseSensitive(target, f->name);
    CCM_CLEANUP(ccm_json_freep)
    cJSON *merged = cJSON_IsArray(old) ? ccm_ks_jx_dup(old) : cJSON_CreateArray();
    const cJSON *item;

    cJSON_ArrayForEach(item, removed)
    {
        const int at = find_item(merged, item, NULL);

        if (at >= 0) {
            cJSON_DeleteItemFromArray(merged, at);
        }
    }
    cJSON_ArrayForEach(item, patch)
    {
        if (find_item(merged, item, NULL) < 0) {
            (void)cJSON_AddItemToArray(merged, ccm_ks_jx_dup(item)); /* ENOMEM: see jx.h */
        }
    }
    if (old == NULL && merged->child == NULL) {
        return 0;
    }

    cJSON *woven = weave(merged, order != NULL ? order : patch, old, NULL);

    ccm_ks_jx_set(target, f->name, woven);
    return 0;
}

/* "$setElementOrder/x" of the patch, or NULL. */
static const cJSON *companion(const cJSON *patch, const char *prefix, const char *name)
{
    const size_t n = strlen(prefix);
    const cJSON *item;

    cJSON_ArrayForEach(item, patch)
    {
        if (strncmp(item->string, prefix, n) == 0 && strcmp(item->string + n, name) == 0) {
            return cJSON_IsArray(item) ? item : NULL;
        }
    }
    return NULL;
}

/* An order list or a deletion list without the list itself. */
static int merge_companions(cJSON *target, const cJSON *patch, const struct ccm_ks_schema *schema,
                            int depth, struct ccm_buf *message)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, patch)
    {
        const bool order = strncmp(item->string, ORDER, strlen(ORDER)) == 0;
        const bool removal = strncmp(item->string, DELETE_FROM, strlen(DELETE_FROM)) == 0;

        if (!order && !removal) {
            continue;
        }

        const char *name = strchr(item->string, '/') + 1;
        const struct ccm_ks_field *f = ccm_ks_schema_field(schema, name);
        const cJSON *old = cJSON_GetObjectItemCaseSensitive(target, name);

        if (order && (f == NULL || (f->merge_key == NULL && (f->flags & CCM_KS_SET) == 0))) {
            if (cJSON_IsArray(old) && cJSON_IsObject(old->child)) {
                return bad_key(message, old->child, "");
            }
            continue;
        }
        if (cJSON_GetObjectItemCaseSensitive(patch, name) != NULL || f == NULL) {
            continue;
        }
        if ((f->flags & CCM_KS_SET) != 0) {
            (void)merge_set(target, NULL, companion(patch, ORDER, name),
                            companion(patch, DELETE_FROM, name), f); /* always 0 */
        } else if (order) {
            const int r = merge_keyed_list(target, NULL, item, f, depth, message);

            if (r < 0) {
                return r;
            }
        }
    }
    return 0;
}

static void retain_keys(cJSON *target, const cJSON *patch)
{
    const cJSON *keep = cJSON_GetObjectItemCaseSensitive(patch, RETAIN);
    cJSON *next;

    if (!cJSON_IsArray(keep)) {
        return;
    }
    for (cJSON *item = target->child; item != NULL; item = next) {
        next = item->next;
        if (!ccm_ks_jx_has_text(keep, item->string)) {
            cJSON_Delete(cJSON_DetachItemViaPointer(target, item));
        }
    }
}

static int merge_member(cJSON *target, const cJSON *patch, const cJSON *item,
                        const struct ccm_ks_schema *schema, int depth, struct ccm_buf *message)
{
    const struct ccm_ks_field *f = ccm_ks_schema_field(schema, item->string);
    const cJSON *order = companion(patch, ORDER, item->string);
    int r = 0;

    if (cJSON_IsNull(item)) {
        ccm_ks_jx_del(target, item->string);
        return 0;
    }
    if (cJSON_IsObject(item)) {
        const struct ccm_ks_schema *sub = f == NULL ? NULL : f->sub;
        cJSON *inner = ccm_ks_jx_get(target, item->string);

        if (cJSON_IsObject(inner)) {
            return merge_object(inner, item, sub, depth + 1, message);
        }
        ccm_ks_jx_set(target, item->string, fresh(item, sub, depth, message, &r));
        return r;
    }
    if (cJSON_IsArray(item) && f != NULL && f->merge_key != NULL) {
        return merge_keyed_list(target, item, order, f, depth, message);
    }
    if (cJSON_IsArray(item) && f != NULL && (f->flags & CCM_KS_SET) != 0) {
        return merge_set(target, item, order, companion(patch, DELETE_FROM, item->string), f);
    }
    ccm_ks_jx_set(target, item->string, ccm_ks_jx_dup(item));
    return 0;
}

static int merge_object(cJSON *target, const cJSON *patch, const struct ccm_ks_schema *schema,
                        int depth, struct ccm_buf *message)
{
    const char *directive = directive_of(patch);
    const cJSON *item;
    int r;

    if (depth > DEPTH_MAX) {
        ccm_buf_adds(message, "exceeded max depth");
        return -EINVAL;
    }
    if (strcmp(directive, "replace") == 0 || strcmp(directive, "delete") == 0) {
        while (target->child != NULL) {
            cJSON_Delete(cJSON_DetachItemViaPointer(target, target->child));
        }
        if (directive[0] == 'd') {
            return 0;
        }
    } else if (directive[0] != '\0' && strcmp(directive, "merge") != 0) {
        ccm_buf_addf(message, "unknown patch type: %s in map: ", directive);
        ccm_ks_jx_go(message, patch);
        return -EINVAL;
    }
    r = merge_companions(target, patch, schema, depth, message);
    if (r < 0) {
        return r;
    }
    retain_keys(target, patch);
    cJSON_ArrayForEach(item, patch)
    {
        if (strcmp(item->string, DIRECTIVE) == 0 || strcmp(item->string, RETAIN) == 0 ||
            strncmp(item->string, ORDER, strlen(ORDER)) == 0 ||
            strncmp(item->string, DELETE_FROM, strlen(DELETE_FROM)) == 0) {
            continue;
        }
        r = merge_member(target, patch, item, schema, depth, message);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}

int ccm_ks_patch_strategic(const cJSON *object, const cJSON *patch,
                           const struct ccm_ks_schema *schema, cJSON **ret, struct ccm_buf *message)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *out = NULL;

    if (!cJSON_IsObject(patch)) {
        ccm_buf_addf(message,
                     "error decoding patch: json: cannot unmarshal %s into Go value of type "
                     "map[string]interface {}",
                     cJSON_IsArray(patch) ? "array" : "value");
        return -EBADMSG;
    }
    out = ccm_ks_jx_dup(object);
    if (out == NULL) {
        return -ENOMEM;
    }

    const int r = merge_object(out, patch, schema, 0, message);

    if (r < 0) {
        return r;
    }
    *ret = CCM_STEAL(out);
    return 0;
}
