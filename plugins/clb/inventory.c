/* What the cloud holds for all Services, read at once: see clb_inventory_ops. */
#include "api.h"
#include "read.h"

#include <errno.h>

struct batch {
    struct lbc_state *states[CLB_LISTENERS_BATCH];
    size_t len;
    const struct lbc_survey *items;
};

static int inventory_add_listener(void *arg, const cJSON *json, struct ccm_error *err)
{
    const struct batch *batch = arg;
    struct lbc_state *state = lbc_survey_find(batch->items, ccm_json_text(json, "LoadBalancerId"));

    if (state == NULL) {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "DescribeLoadBalancerListeners: a listener of a load balancer that "
                             "was not asked for");
    }
    return alilb_add_listener(&clb_source, json, state, err);
}

/* All or nothing. A load balancer that is gone by now spoils its batch, but not the others. */
static int read_batch(struct alilb_call *call, struct batch *batch, struct ccm_error *err)
{
    char *ids[CLB_LISTENERS_BATCH];
    const struct lbc_texts list = { .items = ids, .len = batch->len };
    int r;

    for (size_t i = 0; i < batch->len; i++) {
        ids[i] = lbc_state_lb(batch->states[i])->id;
    }
    r = alilb_list(call, &clb_api_listeners, ALILB_LIST(&list, NULL), inventory_add_listener, batch,
                   err);
    for (size_t i = 0; i < batch->len; i++) {
        if (r < 0) {
            lbc_state_forget_listeners(batch->states[i]);
        }
        batch->states[i]->listeners_known = r == 0;
    }
    batch->len = 0;
    return r < 0 && err->kind == CCM_ERROR_NOT_FOUND ? 0 : r;
}

static int inventory_fill(struct lbc_instance *lbc, const struct ccm_request *req,
                          struct lbc_survey *items, struct ccm_error *err)
{
    struct alilb_call call = alilb_call_for_all(lbc, req);
    struct batch batch = { .items = items };
    struct lbc_state *state = NULL;
    void *cursor = NULL;
    int r = 0;

    while (r == 0 && (state = lbc_survey_next(items, &cursor)) != NULL) {
        batch.states[batch.len++] = state;
        if (batch.len == CLB_LISTENERS_BATCH) {
            r = read_batch(&call, &batch, err);
        }
    }
    return r < 0 ? r : read_batch(&call, &batch, err);
}

const struct lbc_inventory_ops clb_inventory_ops = {
    .list = alilb_list_lbs,
    .fill = inventory_fill,
    .orphans = &clb_orphan_ops,
};
