#include "lbc/custom/item.h"

#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *lbc_custom_text(const cJSON *parent, const char *name, const char *fallback)
{
    const char *text = ccm_json_text(parent, name);

    return ccm_text_empty(text) ? fallback : text;
}

char *lbc_custom_key(const char *namespace_, const char *name)
{
    return ccm_text_format("%s/%s", namespace_, name);
}

/* --- one --- */

/* The reference moves in. What is no JSON was never stored by a server. */
static int item_fill(const struct ccm_object *object, struct lbc_custom_item *ret)
{
    const char *text = ((const struct ccm_raw *)object)->json;

    ret->object = object;
    return ccm_json_parse(text, strlen(text), &ret->json) < 0 ? -ENOMEM : 0;
}

void lbc_custom_item_fini(const struct ccm_host *host, struct lbc_custom_item *item)
{
    if (item->object != NULL) {
        host->release(host, item->object);
    }
    ccm_json_freep(&item->json);
    item->object = NULL;
}

int lbc_custom_item_get(const struct ccm_host *host, const char *api_version, const char *resource,
                        const char *key, struct lbc_custom_item *ret)
{
    const struct ccm_object *object = host->get_raw(host, api_version, resource, key);

    *ret = (struct lbc_custom_item){ .api_version = api_version };
    return object == NULL ? 0 : item_fill(object, ret);
}

/* --- several --- */

void lbc_custom_items_fini(const struct ccm_host *host, struct lbc_custom_items *items)
{
    for (size_t i = 0; i < items->len; i++) {
        lbc_custom_item_fini(host, &items->items[i]);
    }
    free(items->items);
    *items = (struct lbc_custom_items){ 0 };
}

static int items_add(struct lbc_custom_items *to, struct lbc_custom_item head)
{
    if (ccm_array_grow(&to->items, &to->cap, to->len + 1, sizeof(*to->items)) < 0) {
        return -ENOMEM;
    }
    to->items[to->len] = head;
    return 0;
}

int lbc_custom_items_add_by(const struct ccm_host *host, struct lbc_custom_item head,
                            const char *resource, const char *index, const char *value,
                            struct lbc_custom_items *ret)
{
    const struct ccm_object *const *found = NULL;
    size_t count = 0;
    int r = host->list_raw_by(host, head.api_version, resource, index, value, &found, &count);

    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct ccm_object *one =
            host->get_raw(host, head.api_version, resource, found[i]->key);

        if (one == NULL) {
            continue; /* gone since */
        }
        r = items_add(ret, head);
        if (r == 0) {
            r = item_fill(one, &ret->items[ret->len++]);
        } else {
            host->release(host, one);
        }
    }
    host->release_list(host, found, count);
    return r;
}

void lbc_custom_objects_list(const struct ccm_host *host, const char *api_version,
                             const char *resource, const struct ccm_object *const **ret,
                             size_t *ret_count)
{
    *ret = NULL;
    *ret_count = 0;
    if (host->list_raw(host, api_version, resource, ret, ret_count) < 0) {
        *ret = NULL;
        *ret_count = 0;
    }
}

int lbc_custom_compare_age(const struct ccm_object *a, const struct ccm_object *b)
{
    if (a->created_ms != b->created_ms) {
        return a->created_ms < b->created_ms ? -1 : 1;
    }
    return strcmp(a->key, b->key);
}
