#include "controller.h"

#include "alilb/class.h"
#include "annotation_text.h"
#include "annotations.h"
#include "apply.h"
#include "inventory.h"
#include "lbc/taken.h"
#include "lint.h"
#include "names.h"
#include "read.h"
#include "unserved.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define BUSY_MS 1000 /* between two looks at a load balancer that is being made */

/* --- what the common part asks --- */

static const char *reused_id(const struct ccm_service *service)
{
    return lbc_anno_get(&service->meta, "id");
}

static void model_fini(void *model)
{
    nlb_model_fini(model);
}

static bool state_has_port(const struct lbc_pass *pass, const char *port)
{
    const struct nlb_state *have = pass->entry->state;

    for (size_t i = 0; i < have->lbc.listener_count; i++) {
        const struct nlb_listener *one = nlb_listener_at(have, i);
        enum lbc_owner owner = LBC_OWNER_NONE;
        char name[LBC_TAKEN_PORT];

        nlb_taken_port(&one->lbc, name);
        if (strcmp(name, port) == 0) {
            /* Out of memory: what is kept about it stays. */
            return nlb_name_parse(one->lbc.description, true, &pass->service->meta,
                                  lbc_cluster_id(pass->lbc), &owner) < 0 ||
                   owner == LBC_OWNER_OURS;
        }
    }
    return !have->lbc.listeners_known; /* nobody has looked */
}

static const struct lbc_tags *model_get_tags(const void *model)
{
    return &((const struct nlb_model *)model)->want.lb.tags;
}

/* What is no annotation's fault. */
static int refuse_ranges(const struct lbc_instance *lbc, struct lbc_refusals *refusals)
{
    struct ccm_error err = CCM_ERROR_INIT;

    (void)lbc; /* it holds for all */
    return nlb_check_source_ranges(refusals->service, &err) < 0
               ? lbc_refusals_add(refusals, NULL, &err)
               : 0;
}

/* A security group for spec.loadBalancerSourceRanges. */
static bool needs_mark(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    (void)lbc;
    return service->source_range_count > 0 && ccm_text_empty(reused_id(service));
}

const struct lbc_ops nlb_ops = {
    .cloud = &alilb_cloud_ops,
    .is_ours = alilb_class_is_nlb,
    .reused_id = reused_id,
    .mirror = &nlb_state_type,
    .annotations = &nlb_annotations,
    .unserved = nlb_unserved,
    .hints = nlb_hints,
    .inventory = &nlb_inventory_ops,
    .invalid_text = "has invalid server in server groups",
    .missing_text = { "Not sync pods whose eni is invalid: ", "" },
    .rules = &nlb_rules,
    .refuse = refuse_ranges,
    .needs_mark = needs_mark,
    .model_size = sizeof(struct nlb_model),
    .model_fini = model_fini,
    .sync = nlb_sync,
    .publish = nlb_publish,
    .emit_events = nlb_emit_events,
    .has_listener = state_has_port,
    .tags = model_get_tags,
    .release = nlb_release,
    .check_owner = nlb_check_owner,
};

/* --- for both kinds of pass --- */

int nlb_check_status(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct nlb_lb *lb = &((struct nlb_state *)pass->entry->state)->lb;
    int r = 0;

    if (lb->id == NULL) {
        return 0;
    }
    r = nlb_read_check_status(lb, err);
    if (ccm_text_equal_case(lb->status, "Provisioning")) {
        pass->unfinished = true;
        pass->requeue_ms = BUSY_MS;
    }
    if (r < 0 || pass->unfinished) {
        pass->entry->valid = false; /* it is looked at again by the next pass */
    }
    return r;
}

struct nlb_plan_input nlb_pass_plan_input(const struct lbc_pass *pass,
                                          const struct nlb_model *model, bool fresh)
{
    return (struct nlb_plan_input){
        .model = model,
        .have = pass->entry->state,
        .service = pass->service,
        .cluster_id = lbc_cluster_id(pass->lbc),
        .batch = ((const struct nlb *)pass->lbc)->batch,
        .fresh = fresh,
        .restores = lbc_taken_restores(pass->lbc),
        .cannot_restore = pass->entry->unrestored >= LBC_TAKEN_TRIES,
    };
}

int nlb_pass_run(struct lbc_pass *pass, struct lbc_plan *plan, const struct nlb_model *model,
                 enum lbc_priority priority, bool fresh, struct ccm_error *err)
{
    struct nlb_apply apply = {
        .ali = { .lbc = lbc_pass_begin_apply(pass, fresh),
                 .call = alilb_call_for(pass, priority),
                 .service = pass->service },
        .have = pass->entry->state,
        .model = model,
    };

    if (pass->dry) {
        lbc_plan_print(plan, NULL, &pass->steps);
        return 0;
    }
    const int r = nlb_apply_run(&apply, plan);

    lbc_pass_end_apply(pass, &apply.ali.lbc);
    if (r < 0 && pass->problems.count == 0) {
        return ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "the plan was given up");
    }
    return 0;
}
