#include "daemon/raw_cache.h"

#include "kube/object/object.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>

static bool raw_is_unselected(const struct ccm_watch *watch)
{
    return ccm_text_empty(watch->namespace_) && ccm_text_empty(watch->label_selector) &&
           ccm_text_empty(watch->field_selector);
}

static bool raw_is_about(const struct daemon_raw_scope *scope, const struct daemon_raw_store *row)
{
    return ccm_text_equal(row->watch->api_version, scope->api_version) &&
           ccm_text_equal(row->watch->resource, scope->resource);
}

/* The next row that is about the scope, from *at on; own: of the plugin itself. NULL = no more. */
static const struct daemon_raw_store *raw_next(const struct daemon_raw_scope *scope, bool own,
                                               size_t *at)
{
    while (*at < scope->services->raw_count) {
        const struct daemon_raw_store *row = &scope->services->raw[(*at)++];

        if (raw_is_about(scope, row) &&
            (own ? ccm_text_equal(row->plugin, scope->plugin) : raw_is_unselected(row->watch))) {
            return row;
        }
    }
    return NULL;
}

static bool raw_has_own(const struct daemon_raw_scope *scope)
{
    size_t at = 0;

    return raw_next(scope, true, &at) != NULL;
}

bool daemon_raw_is_watched(const struct daemon_raw_scope *scope)
{
    size_t at = 0;

    return raw_next(scope, raw_has_own(scope), &at) != NULL;
}

const struct ccm_object *daemon_raw_get(const struct daemon_raw_scope *scope, const char *key)
{
    const bool own = raw_has_own(scope);
    const struct ccm_object *object = NULL;
    const struct daemon_raw_store *row;
    size_t at = 0;

    while (object == NULL && (row = raw_next(scope, own, &at)) != NULL) {
        object = kube_store_get(row->store, key);
    }
    return object;
}

/* What several caches hold together; the references are its own. */
struct raw_union {
    const struct ccm_object **items;
    size_t len;
    size_t cap;
    struct ccm_strmap *seen; /* keys */
};

static void raw_union_fini(struct raw_union *all)
{
    kube_store_list_free(all->items, all->len);
    ccm_strmap_free(all->seen);
}

/* Takes the references of the list, whatever comes of it. */
static int raw_union_add(struct raw_union *all, const struct ccm_object *const *objects,
                         size_t count)
{
    int r = ccm_array_grow(&all->items, &all->cap, all->len + count, sizeof(*all->items));

    for (size_t i = 0; r == 0 && i < count; i++) {
        if (ccm_strmap_has(all->seen, objects[i]->key) == 0) {
            r = ccm_strmap_set(all->seen, objects[i]->key, all);
            all->items[all->len] = r == 0 ? kube_object_ref(objects[i]) : NULL;
            all->len += r == 0 ? 1 : 0;
        }
    }
    kube_store_list_free(objects, count);
    return r;
}

/* The first objects that come are in the store before the status says that they have. */
static bool raw_is_absent(const struct daemon_raw_store *row)
{
    struct kube_reflector_status status;

    if ((row->watch->flags & CCM_WATCH_OPTIONAL) == 0) {
        return false;
    }
    kube_reflector_status(row->reflector, &status);
    return status.absent && status.objects == 0;
}

static int raw_union_add_row(struct raw_union *all, const struct daemon_raw_store *row,
                             const char *index, const char *value)
{
    const struct ccm_object *const *objects = NULL;
    size_t count = 0;
    const int r = kube_store_list(row->store, index, value, &objects, &count);

    return r < 0 ? r : raw_union_add(all, objects, count);
}

int daemon_raw_list(const struct daemon_raw_scope *scope, const char *index, const char *value,
                    const struct ccm_object *const **ret, size_t *ret_count)
{
    CCM_CLEANUP(raw_union_fini) struct raw_union all = { .seen = ccm_strmap_new(NULL) };
    const bool own = raw_has_own(scope);
    const struct daemon_raw_store *row;
    int result = -ENOTSUP;
    size_t at = 0;

    if (all.seen == NULL) {
        return -ENOMEM;
    }
    while ((row = raw_next(scope, own, &at)) != NULL) {
        int r = raw_is_absent(row) ? -ENOENT : raw_union_add_row(&all, row, index, value);

        if (r < 0 && r != -ENOENT && r != -ENOTSUP) {
            return r;
        }
        result = r == 0 || result == -ENOTSUP ? r : result;
    }
    if (result < 0) {
        return result;
    }
    *ret = all.items;
    *ret_count = all.len;
    all.items = NULL;
    all.len = 0;
    return 0;
}
