#include "lbc/orphan_drop.h"

#include "lbc/controller.h"
#include "lbc/names.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>

/* It has none: what the plan and its steps are made for. */
static const struct ccm_service nobody = {
    .meta = { .struct_size = sizeof(nobody),
              .kind = CCM_KIND_SERVICE,
              .key = LBC_ORPHANS_KEY,
              .namespace_ = "",
              .name = "",
              .uid = "",
              .resource_version = "" },
    .type = "LoadBalancer",
    .load_balancer_class = "",
    .external_traffic_policy = "Cluster",
    .load_balancer_ip = "",
    .session_affinity = "",
    .cluster_ip = "",
};

/* One orphan on its way. */
struct orphan_drop {
    struct lbc_instance *lbc;
    const struct ccm_request *req;
    struct lbc_state *state; /* the product's */
    struct lbc_model *model; /* the same */
    struct lbc_plan plan;
};

static void drop_fini(struct orphan_drop *drop)
{
    lbc_plan_fini(&drop->plan);
    if (drop->model != NULL) {
        lbc_model_fini(drop->model);
    }
    if (drop->state != NULL) {
        lbc_state_fini(drop->state, drop->lbc->ops->mirror);
    }
    free(drop->model);
    free(drop->state);
}

static int drop_build_plan(struct orphan_drop *drop)
{
    const struct lbc_ops *ops = drop->lbc->ops;
    const struct lbc_model_input desired = { .service = &nobody,
                                             .cluster_id = lbc_cluster_id(drop->lbc) };

    drop->model = calloc(1, ops->model->size);
    if (drop->model == NULL || lbc_model_build_lb(drop->model, ops->model, &desired) < 0) {
        return -ENOMEM;
    }
    const struct lbc_plan_input in = { .model = drop->model,
                                       .have = drop->state,
                                       .service = &nobody,
                                       .cluster_id = desired.cluster_id,
                                       .fresh = true };

    return lbc_plan_release(&drop->plan, ops->change->rules, &in);
}

static int drop_run_plan(struct orphan_drop *drop, uint64_t *ret_again_ms, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;
    enum lbc_priority priority = LBC_PRIO_REMOVE;
    uint32_t attempt = 0;
    bool uncertain = false;
    struct lbc_apply apply = {
        .ops = drop->lbc->ops->change->steps,
        .cloud = &drop->lbc->cloud,
        .host = drop->lbc->host,
        .req = drop->req,
        .service = &nobody,
        .priority = &priority,
        .uncertain = &uncertain,
        .have = drop->state,
        .problems = &problems,
        .attempt = &attempt,
        .forgives_lb = true,
        .fresh = true,
    };
    const int r = lbc_apply_run(&apply, &drop->plan);

    *ret_again_ms = apply.again_ms;
    if (problems.count > 0) {
        lbc_problems_sum(&problems, err);
        return r < 0 ? r : -EIO;
    }
    return r == 0 && apply.again_ms == 0
               ? 0
               : ccm_error_set(err, r < 0 ? r : -EAGAIN, CCM_ERROR_TRANSIENT,
                               "the cloud still works on it");
}

bool lbc_orphan_is(const struct lbc_orphan *one, const char *cluster_id,
                   const struct lbc_tags *tags)
{
    return ccm_text_equal(lbc_tags_get(tags, lbc_names.tag_owner), one->owner) &&
           ccm_text_equal(lbc_tags_get(tags, lbc_names.tag_cluster), cluster_id) &&
           lbc_tags_get(tags, lbc_names.tag_reuse) == NULL;
}

int lbc_orphan_drop(struct lbc_instance *lbc, const struct ccm_request *req,
                    const struct lbc_orphan *one, uint64_t *ret_again_ms, struct ccm_error *err)
{
    const struct lbc_ops *ops = lbc->ops;
    CCM_CLEANUP(drop_fini)
    struct orphan_drop drop = { .lbc = lbc, .req = req, .state = calloc(1, ops->mirror->size) };
    int r;

    *ret_again_ms = 0;
    if (drop.state == NULL) {
        return ccm_error_nomem(err);
    }
    r = ops->inventory->orphans->read(lbc, req, one->id, drop.state, err);
    if (r < 0) {
        return err->kind == CCM_ERROR_NOT_FOUND ? 0 : r;
    }
    if (!lbc_orphan_is(one, lbc_cluster_id(lbc), &lbc_state_lb(drop.state)->tags)) {
        return 1;
    }
    return drop_build_plan(&drop) < 0 ? ccm_error_nomem(err)
                                      : drop_run_plan(&drop, ret_again_ms, err);
}
