#include "lbc/items.h"
#include "lbc/names.h"

#include "lbc/model/owner.h"
#include "lbc/model/settings.h"
#include "lbc/pass.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct item {
    const struct lbc_state_type *type;
    bool twice;              /* two load balancers carry the tag */
    struct lbc_state *state; /* NULL: none was found */
};

struct lbc_items {
    const struct lbc_instance *lbc;
    const struct ccm_strmap *witnesses; /* NULL: none */
    size_t known;
    struct ccm_strmap *by_owner; /* name of the load balancer, which is also its ownership tag */
    struct ccm_strmap *by_lb;    /* id of the load balancer -> item, not owned */
};

static void item_free(void *value)
{
    struct item *item = value;

    if (item != NULL && item->state != NULL) {
        lbc_state_fini(item->state, item->type);
        free(item->state);
    }
    free(item);
}

void lbc_items_free(struct lbc_items *items)
{
    if (items == NULL) {
        return;
    }
    ccm_strmap_free(items->by_lb);
    ccm_strmap_free(items->by_owner);
    free(items);
}

static void items_freep(struct lbc_items **items)
{
    lbc_items_free(*items);
}

struct lbc_items *lbc_items_new(const struct lbc_instance *lbc, const struct ccm_strmap *expected)
{
    CCM_CLEANUP(items_freep) struct lbc_items *items = calloc(1, sizeof(*items));
    void *cursor = NULL;
    const char *name = NULL;

    if (items == NULL) {
        return NULL;
    }
    items->lbc = lbc;
    items->by_owner = ccm_strmap_new(item_free);
    items->by_lb = ccm_strmap_new(NULL);
    if (items->by_owner == NULL || items->by_lb == NULL) {
        return NULL;
    }
    while (ccm_strmap_next(expected, &cursor, &name, NULL) != 0) {
        struct item *item = calloc(1, sizeof(*item));

        if (item == NULL || ccm_strmap_set(items->by_owner, name, item) < 0) {
            free(item);
            return NULL;
        }
        item->type = lbc->ops->mirror;
    }
    return CCM_STEAL(items);
}

void lbc_items_set_witnesses(struct lbc_items *items, const struct ccm_strmap *names)
{
    items->witnesses = names;
}

size_t lbc_items_count_known(const struct lbc_items *items)
{
    return items->known;
}

/* The owner that the tags of this cluster name; NULL = none. */
static const char *items_get_owner(const struct lbc_items *items, const struct lbc_tags *tags)
{
    return ccm_text_equal(lbc_tags_get(tags, lbc_names.tag_cluster), lbc_cluster_id(items->lbc))
               ? lbc_tags_get(tags, lbc_names.tag_owner)
               : NULL;
}

static struct item *items_find_owner(const struct lbc_items *items, const struct lbc_tags *tags)
{
    const char *owner = items_get_owner(items, tags);

    return owner == NULL ? NULL : ccm_strmap_get(items->by_owner, owner);
}

static bool items_is_witness(const struct lbc_items *items, const struct lbc_tags *tags)
{
    const char *owner = items_get_owner(items, tags);

    return owner != NULL && items->witnesses != NULL && ccm_strmap_has(items->witnesses, owner);
}

int lbc_items_add(struct lbc_items *items, const char *lb_id, const struct lbc_tags *tags,
                  struct lbc_state **ret)
{
    const struct ccm_host *host = items->lbc->host;
    struct item *item = items_find_owner(items, tags);

    *ret = NULL;
    items->known += item != NULL || items_is_witness(items, tags) ? 1 : 0;
    if (item == NULL || ccm_strmap_has(items->by_lb, lb_id)) {
        return 0;
    }
    if (item->state != NULL) {
        item->twice = true;
        host->log(host, CCM_LEVEL_WARN, "inventory",
                  "load balancers %s and %s carry the same tag %s=%s: only one of them can be the "
                  "Service's",
                  lbc_state_lb(item->state)->id, lb_id, lbc_names.tag_owner,
                  lbc_tags_get(tags, lbc_names.tag_owner));
        return 0;
    }
    if (ccm_strmap_set(items->by_lb, lb_id, item) < 0) {
        return -ENOMEM;
    }
    item->state = calloc(1, item->type->size);
    *ret = item->state;
    return item->state == NULL ? -ENOMEM : 0;
}

struct lbc_state *lbc_items_find(const struct lbc_items *items, const char *lb_id)
{
    const struct item *item = ccm_strmap_get(items->by_lb, lb_id);

    return item == NULL ? NULL : item->state;
}

struct lbc_state *lbc_items_find_owner(const struct lbc_items *items, const struct lbc_tags *tags)
{
    const struct item *item = items_find_owner(items, tags);

    return item == NULL ? NULL : item->state;
}

struct lbc_state *lbc_items_next(const struct lbc_items *items, void **cursor)
{
    void *value = NULL;

    while (ccm_strmap_next(items->by_owner, cursor, NULL, &value) != 0) {
        const struct item *item = value;

        if (item->state != NULL && !item->twice) {
            return item->state;
        }
    }
    return NULL;
}

bool lbc_items_take(struct lbc_items *items, const struct ccm_service *service,
                    struct lbc_state *state)
{
    char name[LBC_OWNER_LB_NAME];
    struct item *item;

    lbc_owner_lb_name(&service->meta, name);
    item = ccm_strmap_take(items->by_owner, name);

    const bool usable = item != NULL && item->state != NULL && !item->twice;

    if (usable) {
        memcpy(state, item->state, item->type->size);
        free(item->state);
        item->state = NULL;
    }
    item_free(item);
    return usable;
}
