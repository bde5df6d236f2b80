#include "inventory.h"

#include "api_call.h"
#include "lbc/model/owner.h"
#include "read.h"
#include "read_listeners.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LB_PAGE     100 /* the largest that DescribeLoadBalancers knows */
#define LB_PAGES    100 /* more is no inventory of one cluster */
#define BATCH       10  /* load balancers per DescribeLoadBalancerListeners */
#define TOKENS_MAX  100 /* pages of the listeners of one batch */
#define OBJECT_NAME "inventory"

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

static int api_lbs(struct clb_call *call, int64_t page, cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_tag(&params, 1, CLB_TAG_CLUSTER, lbc_cluster_id(&call->clb->lbc));
    ali_param_i64(&params, "PageNumber", page);
    ali_param_i64(&params, "PageSize", LB_PAGE);
    return clb_api_slb(call, "DescribeLoadBalancers", &params, ALI_READ, ret, err);
}

static int inventory_add_lb(const struct clb_call *call, struct ccm_strmap *items,
                            const cJSON *json)
{
    CCM_CLEANUP(clb_lb_fini) struct clb_lb lb = { 0 };
    struct item *item;

    if (clb_read_parse_lb(json, &lb) < 0) {
        return -ENOMEM;
    }
    const char *owner = lbc_tags_get(&lb.tags, CLB_TAG_OWNER);
    const char *cluster = lbc_tags_get(&lb.tags, CLB_TAG_CLUSTER);

    item = owner == NULL ? NULL : ccm_strmap_get(items, owner);
    if (item == NULL || lb.id == NULL ||
        !ccm_text_equal(cluster, lbc_cluster_id(&call->clb->lbc))) {
        return 0;
    }
    item->twice = item->found;
    if (item->twice) {
        call->clb->lbc.host->log(call->clb->lbc.host, CCM_LEVEL_WARN, OBJECT_NAME,
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

static int inventory_add_lbs(const struct clb_call *call, struct ccm_strmap *items,
                             const cJSON *answer, int64_t *ret_count, struct ccm_error *err)
{
    const cJSON *list = ccm_json_get(ccm_json_get(answer, "LoadBalancers"), "LoadBalancer");

    if (!cJSON_IsArray(list)) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "DescribeLoadBalancers: the answer has no list");
    }
    *ret_count = 0;
    for (const cJSON *one = list->child; one != NULL; one = one->next) {
        if (inventory_add_lb(call, items, one) < 0) {
            return ccm_error_nomem(err);
        }
        (*ret_count)++;
    }
    return 0;
}

/* To the end or not at all: else a second owner of a tag could go unseen. */
static int read_lbs(struct clb_call *call, struct ccm_strmap *items, struct ccm_error *err)
{
    int64_t seen = 0;

    for (int64_t page = 1; page <= LB_PAGES; page++) {
        CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
        int64_t count = 0;
        int r = api_lbs(call, page, &answer, err);

        r = r < 0 ? r : inventory_add_lbs(call, items, answer, &count, err);
        if (r < 0) {
            return r;
        }
        const int64_t total = ccm_json_i64(answer, "TotalCount", -1);

        seen += count;
        if (count == 0 || (total < 0 ? count < LB_PAGE : seen >= total)) {
            return 0;
        }
    }
    return ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TRANSIENT,
                         "DescribeLoadBalancers: more than %d pages", LB_PAGES);
}

/* --- listeners --- */

struct batch {
    struct item *items[BATCH];
    size_t len;
};

static int api_listeners(struct clb_call *call, const struct batch *batch, const char *token,
                         cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    for (size_t i = 0; i < batch->len; i++) {
        char name[40];

        ccm_text_printf(name, sizeof(name), "LoadBalancerId.%zu", i + 1);
        ali_param_add(&params, name, batch->items[i]->state.lb.id);
    }
    ali_param_i64(&params, "MaxResults", 100);
    ali_param_opt(&params, "NextToken", token);
    return clb_api_slb(call, "DescribeLoadBalancerListeners", &params, ALI_READ, ret, err);
}

static struct item *item_of(const struct batch *batch, const char *lb_id)
{
    for (size_t i = 0; i < batch->len; i++) {
        if (ccm_text_equal(batch->items[i]->state.lb.id, lb_id)) {
            return batch->items[i];
        }
    }
    return NULL;
}

static int inventory_add_listeners(const struct batch *batch, const cJSON *answer,
                                   struct ccm_error *err)
{
    const cJSON *list = ccm_json_get(answer, "Listeners");

    if (!cJSON_IsArray(list)) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "DescribeLoadBalancerListeners: the answer has no list");
    }
    for (const cJSON *one = list->child; one != NULL; one = one->next) {
        struct item *item = item_of(batch, ccm_json_text(one, "LoadBalancerId"));

        if (item == NULL) {
            return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                                 "DescribeLoadBalancerListeners: a listener of a load balancer "
                                 "that was not asked for");
        }
        if (clb_read_parse_listener(one, &item->state) < 0) {
            return ccm_error_nomem(err);
        }
    }
    return 0;
}

static int read_pages(struct clb_call *call, const struct batch *batch, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *token = NULL;

    for (size_t page = 0; page < TOKENS_MAX; page++) {
        CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
        int r = api_listeners(call, batch, token, &answer, err);

        r = r < 0 ? r : inventory_add_listeners(batch, answer, err);
        if (r == 0 && lbc_text_set(&token, ccm_json_text(answer, "NextToken")) < 0) {
            r = ccm_error_nomem(err);
        }
        if (r < 0 || token == NULL) {
            return r;
        }
    }
    return ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TRANSIENT,
                         "DescribeLoadBalancerListeners: more than %d pages", TOKENS_MAX);
}

/* All or nothing. A load balancer that is gone by now spoils its batch, but not the others. */
static int read_batch(struct clb_call *call, const struct batch *batch, struct ccm_error *err)
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

static int read_listeners(struct clb_call *call, struct ccm_strmap *items, struct ccm_error *err)
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
    struct clb_call call = {
        .clb = (const struct clb *)lbc,
        .req = req,
        .object = OBJECT_NAME,
        .priority = ALI_PRIO_SPEC,
    };
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
