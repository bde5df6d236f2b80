#include "patch.h"

#include "jx.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* Deeper patches than this are refused: no object of ours is. */
#define DEPTH_MAX 200

/* Most bytes that the copies of one JSON patch may add: copies of copies grow without bound
 * otherwise. */
#define COPIED_MAX ((size_t)3 * 1024 * 1024)

static int merge_into(cJSON *target, const cJSON *patch, int depth)
{
    const cJSON *item;

    if (depth > DEPTH_MAX) {
        return -EBADMSG;
    }
    cJSON_ArrayForEach(item, patch)
    {
        if (cJSON_IsNull(item)) {
            ccm_ks_jx_del(target, item->string);
        } else if (cJSON_IsObject(item)) {
            const int r = merge_into(ccm_ks_jx_object(target, item->string), item, depth + 1);

            if (r < 0) {
                return r;
            }
        } else {
            ccm_ks_jx_set(target, item->string, ccm_ks_jx_dup(item));
        }
    }
    return 0;
}

int ccm_ks_patch_merge(const cJSON *object, const cJSON *patch, cJSON **ret,
                       struct ccm_buf *message)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *out = NULL;

    if (cJSON_IsNull(patch)) {
        ccm_buf_adds(message, "Invalid JSON Patch");
        return -EBADMSG;
    }
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
    if (merge_into(out, patch, 0) < 0) {
        ccm_buf_adds(message, "error decoding patch: exceeded max depth");
        return -EBADMSG;
    }
    *ret = CCM_STEAL(out);
    return 0;
}

/* One step of a JSON pointer: the unescaped token in buf. Returns false at the end, or when the
 * pointer is bad. */
static bool pointer_step(const char **cursor, struct ccm_buf *token)
{
    const char *p = *cursor;

    ccm_buf_reset(token);
    if (*p != '/') {
        return false;
    }
    for (p++; *p != '\0' && *p != '/'; p++) {
        if (*p != '~') {
            ccm_buf_addc(token, *p);
        } else if (p[1] == '0' || p[1] == '1') {
            ccm_buf_addc(token, *++p == '0' ? '~' : '/');
        } else {
            return false;
        }
    }
    *cursor = p;
    return ccm_buf_error(token) == 0;
}

/* Position in a list; `end` is what "-" stands for. */
static int list_index(const char *token, int count, int *ret)
{
    uint32_t value;

    if (strcmp(token, "-") == 0) {
        *ret = count;
        return 0;
    }
    if (ccm_parse_u32(token, 0, (uint32_t)count, &value) < 0) {
        return -EINVAL;
    }
    *ret = (int)value;
    return 0;
}

static cJSON *child_of(cJSON *parent, const char *token)
{
    int i;

    if (cJSON_IsArray(parent)) {
        const int count = cJSON_GetArraySize(parent);

        return list_index(token, count, &i) == 0 && i < count ? cJSON_GetArrayItem(parent, i)
                                                              : NULL;
    }
    return ccm_ks_jx_get(parent, token);
}

/* Walk to the parent of what the pointer names; the last token is left in `token`. */
static cJSON *pointer_parent(cJSON *root, const char *path, struct ccm_buf *token)
{
    const char *cursor = path;
    cJSON *at = root;

    if (!pointer_step(&cursor, token)) {
        return NULL;
    }
    while (*cursor != '\0') {
        at = child_of(at, ccm_buf_str(token));
        if (at == NULL || !pointer_step(&cursor, token)) {
            return NULL;
        }
    }
    return at;
}

static cJSON *pointer_get(cJSON *root, const char *path)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf token = { .max = 4096 };

    if (path[0] == '\0') {
        return root;
    }

    cJSON *parent = pointer_parent(root, path, &token);

    return parent == NULL ? NULL : child_of(parent, ccm_buf_str(&token));
}

/* cJSON_InsertItemInArray of some releases refuses every position but the first and the last. */
static void insert(cJSON *list, int at, cJSON *value)
{
    const int behind = cJSON_GetArraySize(list) - at;

    (void)cJSON_AddItemToArray(list, value); /* fails only without list or value */
    for (int i = 0; i < behind; i++) {
        (void)cJSON_AddItemToArray(
            list, cJSON_DetachItemFromArray(list, at)); /* what was detached is added */
    }
}

/* Takes the value in any case. */
static int pointer_add(cJSON *root, const char *path, cJSON *value, bool replace)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf token = { .max = 4096 };
    CCM_CLEANUP(ccm_json_freep) cJSON *owned = value;
    cJSON *parent = pointer_parent(root, path, &token);
    const char *name = ccm_buf_str(&token);
    int i;

    if (value == NULL || parent == NULL || (replace && child_of(parent, name) == NULL)) {
        return -EINVAL;
    }
    if (cJSON_IsObject(parent)) {
        ccm_ks_jx_set(parent, name, CCM_STEAL(owned));
        return 0;
    }
    if (!cJSON_IsArray(parent) || list_index(name, cJSON_GetArraySize(parent), &i) < 0) {
        return -EINVAL;
    }
    if (replace) {
        return cJSON_ReplaceItemInArray(parent, i, CCM_STEAL(owned)) ? 0 : -EINVAL;
    }
    insert(parent, i, CCM_STEAL(owned));
    return 0;
}

static int pointer_remove(cJSON *root, const char *path)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf token = { .max = 4096 };
    cJSON *parent = pointer_parent(root, path, &token);
    cJSON *item = parent == NULL ? NULL : child_of(parent, ccm_buf_str(&token));

    if (item == NULL) {
        return -EINVAL;
    }
    cJSON_Delete(cJSON_DetachItemViaPointer(parent, item));
    return 0;
}

static int apply_move(cJSON *root, const char *op, const char *from, const char *path,
                      struct ccm_buf *copied)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *value = ccm_ks_jx_dup(pointer_get(root, from));

    if (value == NULL) {
        return -EINVAL;
    }
    ccm_ks_jx_print(copied, value);
    if (ccm_buf_error(copied) < 0) {
        return -EINVAL;
    }
    if (strcmp(op, "move") == 0) {
        const size_t n = strlen(from);
        const bool into_itself = strncmp(path, from, n) == 0 && path[n] == '/';

        if (into_itself || pointer_remove(root, from) < 0) {
            return -EINVAL;
        }
    }
    return pointer_add(root, path, CCM_STEAL(value), false);
}

static int apply_operation(cJSON *root, const cJSON *operation, struct ccm_buf *copied)
{
    const char *op = ccm_json_text(operation, "op");
    const char *path = ccm_json_str(operation, "path");
    const char *from = ccm_json_str(operation, "from");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(operation, "value");

    if (path == NULL) {
        return -EINVAL;
    }
    if (strcmp(op, "add") == 0 || strcmp(op, "replace") == 0) {
        return pointer_add(root, path, ccm_ks_jx_dup(value), op[0] == 'r');
    }
    if (strcmp(op, "remove") == 0) {
        return pointer_remove(root, path);
    }
    if (strcmp(op, "test") == 0) {
        const cJSON *item = pointer_get(root, path);
        const bool absent = item == NULL && (value == NULL || cJSON_IsNull(value));

        return absent || (value != NULL && ccm_ks_jx_equal(item, value)) ? 0 : -EINVAL;
    }
    if ((strcmp(op, "move") == 0 || strcmp(op, "copy") == 0) && from != NULL) {
        return apply_move(root, op, from, path, copied);
    }
    return -EINVAL;
}

int ccm_ks_patch_json(const cJSON *object, const cJSON *patch, cJSON **ret, struct ccm_buf *message)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *out = NULL;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf copied = { .max = COPIED_MAX };
    const cJSON *operation;

    if (!cJSON_IsArray(patch)) {
        ccm_buf_addf(message,
                     "error decoding patch: json: cannot unmarshal %s into Go value of type "
                     "[]handlers.jsonPatchOp",
                     cJSON_IsObject(patch) ? "object" : "value");
        return -EBADMSG;
    }
    if (cJSON_GetArraySize(patch) > 10000) {
        ccm_buf_adds(message, "The allowed maximum operations in a JSON patch is 10000");
        return -EBADMSG;
    }
    out = ccm_ks_jx_dup(object);
    if (out == NULL) {
        return -ENOMEM;
    }
    cJSON_ArrayForEach(operation, patch)
    {
        if (apply_operation(out, operation, &copied) < 0 || !ccm_ks_jx_is_flat(out, DEPTH_MAX)) {
            ccm_buf_adds(message, "the server rejected our request due to an error in our request");
            return -EINVAL;
        }
    }
    *ret = CCM_STEAL(out);
    return 0;
}
