#include "inventory.h"

#include "api_lb.h"
#include "api_listener.h"
#include "lbc/model/owner.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 10 /* load balancers per DescribeLoadBalancerListeners */

struct item {
    bool found;
    bool twice; /* two load balancers carry the tag: the Service has to be told, by its own look */
    struct clb_state state;
};

static void item_free(void *value)
{
    struct item *item = value;

    if (item != NULL) {
        clb_state_fini(&item->state);
    }
    free(item);
}

/* An empty item for each Service that will ask; NULL on ENOMEM. */
static struct ccm_strmap *make_items(const struct ccm_strmap *expected)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *items = ccm_strmap_new(item_free);
    void *cursor = NULL;
    const char *name = NULL;

    while (items != NULL && ccm_strmap_next(expected, &cursor, &name, NULL) != 0) {
        struct item *item = calloc(1, sizeof(*item));

        if (item == NULL || ccm_strmap_set(items, name, item) < 0) {
            free(item);
            return NULL;
        }
    }
    return CCM_STEAL(items);
}

/* --- load balancers --- */

struct inventory {
    struct alilb_call *call;
    struct ccm_strmap *items;
};

static int inventory_add_lb(void *arg, const cJSON *json, struct ccm_error *err)
{
    const struct inventory *inventory = arg;
    const struct ccm_host *host = inventory->call->host;
    CCM_CLEANUP(clb_lb_fini) struct clb_lb lb = { 0 };
    struct item *item;

    if (clb_read_parse_lb(json, true, &lb) < 0) {
        return ccm_error_nomem(err);
    }
    const char *owner = lbc_tags_get(&lb.tags, CLB_TAG_OWNER);
    const char *cluster = lbc_tags_get(&lb.tags, CLB_TAG_CLUSTER);

    item = owner == NULL ? NULL : ccm_strmap_get(inventory->items, owner);
    if (item == NULL || lb.id == NULL || !ccm_text_equal(cluster, inventory->call->cluster_id)) {
        return 0;
    }
    item->twice = item->found;
    if (item->twice) {
        host->log(host, CCM_LEVEL_WARN, inventory->call->object,
                  "load balancers %s and %s carry the same tag " CLB_TAG_OWNER
                  "=%s: only one of them can be the Service's",
                  item->state.lb.id, lb.id, owner);
    } else {
        item->found = true;
        item->state.lb = lb;
        memset(&lb, 0, sizeof(lb));
    }
    return 0;
}

/* To the end or not at all: else a second owner of a tag could go unseen. */
static int read_lbs(struct alilb_call *call, struct ccm_strmap *items, struct ccm_error *err)
{
    struct inventory inventory = { call, items };

    return alilb_list(call, &clb_api_tagged_lbs, ALILB_TEXTS(CLB_TAG_CLUSTER, call->cluster_id),
                      inventory_add_lb, &inventory, err);
}

/* --- listeners --- */

struct batch {
    struct item *items[BATCH];
    size_t len;
};

static struct item *item_of(const struct batch *batch, const char *lb_id)
{
    for (size_t i = 0; i < batch->len; i++) {
        if (ccm_text_equal(batch->items[i]->state.lb.id, lb_id)) {
            return batch->items[i];
        }
    }
    return NULL;
}

static int inventory_add_listener(void *arg, const cJSON *json, struct ccm_error *err)
{
    struct item *item = item_of(arg, ccm_json_text(json, "LoadBalancerId"));
    struct clb_listener *listener;

    if (item == NULL) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "DescribeLoadBalancerListeners: a listener of a load balancer that "
                             "was not asked for");
    }
    listener = clb_state_new_listener(&item->state);
    return listener == NULL || clb_read_parse_listener(json, listener) < 0 ? ccm_error_nomem(err)
                                                                           : 0;
}

static int read_pages(struct alilb_call *call, struct batch *batch, struct ccm_error *err)
{
    char *ids[BATCH];
    const struct lbc_texts list = { .items = ids, .len = batch->len };

    for (size_t i = 0; i < batch->len; i++) {
        ids[i] = batch->items[i]->state.lb.id;
    }
    return alilb_list(call, &clb_api_listeners, ALILB_LIST(&list, NULL), inventory_add_listener,
                      batch, err);
}

/* All or nothing. A load balancer that is gone by now spoils its batch, but not the others. */
static int read_batch(struct alilb_call *call, struct batch *batch, struct ccm_error *err)
{
    const int r = batch->len == 0 ? 0 : read_pages(call, batch, err);

    for (size_t i = 0; i < batch->len; i++) {
        struct clb_state *state = &batch->items[i]->state;

        if (r < 0) {
            lbc_state_forget_listeners(&state->lbc);
        }
        state->lbc.listeners_known = r == 0;
    }
    return r < 0 && err->kind == CCM_ERROR_NOT_FOUND ? 0 : r;
}

static int read_listeners(struct alilb_call *call, struct ccm_strmap *items, struct ccm_error *err)
{
    struct batch batch = { .len = 0 };
    void *cursor = NULL;
    void *value = NULL;
    int r = 0;

    while (r == 0 && ccm_strmap_next(items, &cursor, NULL, &value) != 0) {
        struct item *item = value;

        if (item->found && !item->twice) {
            batch.items[batch.len++] = item;
        }
        if (batch.len == BATCH) {
            r = read_batch(call, &batch, err);
            batch.len = 0;
        }
    }
    return r < 0 ? r : read_batch(call, &batch, err);
}

/* --- for lbc/inventory.c --- */

static int inventory_load(struct lbc_instance *lbc, const struct ccm_request *req,
                          const struct ccm_strmap *expected, void **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *items = make_items(expected);
    struct alilb_call call = alilb_call_for_all(lbc, req);
    int r = items == NULL ? ccm_error_nomem(err) : read_lbs(&call, items, err);

    if (r < 0) {
        return r;
    }
    r = read_listeners(&call, items, err);
    *ret = CCM_STEAL(items); /* load balancers are of use without listeners, too */
    return r;
}

static bool inventory_take(void *content, struct lbc_instance *lbc,
                           const struct ccm_service *service, void *state)
{
    char name[LBC_OWNER_LB_NAME];
    struct item *item;

    (void)lbc;
    lbc_owner_lb_name(&service->meta, name);
    item = ccm_strmap_take(content, name);

    const bool usable = item != NULL && item->found && !item->twice;

    if (usable) {
        *(struct clb_state *)state = item->state;
        memset(&item->state, 0, sizeof(item->state));
    }
    item_free(item);
    return usable;
}

static void content_free(void *content)
{
    ccm_strmap_free(content);
}

const struct lbc_inventory_ops clb_inventory_ops = {
    .load = inventory_load,
    .take = inventory_take,
    .free = content_free,
};
