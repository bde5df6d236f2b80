#include "controller.h"

#include "ccm/object.h"
#include "lbc/lookup.h"
#include "lbc/reuse.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* One that is gone is an answer as well. */
static int read_by_id(struct alilb_call *call, const char *id, struct nlb_lb *lb,
                      struct ccm_error *err)
{
    int r = nlb_read_lb_by_id(call, id, lb, err);

    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        nlb_lb_fini(lb);
        memset(lb, 0, sizeof(*lb));
        ccm_error_clear(err);
        r = 0;
    }
    return r;
}

/* The label still leads to one that has lost its tag. */
static int read_labelled(const struct lbc_pass *pass, struct alilb_call *call, struct nlb_lb *lb,
                         struct ccm_error *err)
{
    const char *label = ccm_object_label(&pass->service->meta, LBC_LIFE_LB_LABEL);

    return lb->id != NULL || ccm_text_empty(label) ||
                   ccm_text_equal(label, pass->lbc->ops->reused_id(pass->service))
               ? 0
               : read_by_id(call, label, lb, err);
}

/* That of the Service itself. What is remembered is read again by its id. */
static int read_own(struct lbc_pass *pass, struct alilb_call *call, struct ccm_error *err)
{
    struct nlb_state *have = pass->entry->state;
    CCM_CLEANUP(ccm_freep) char *known = NULL;
    int r = 0;

    if (!pass->entry->valid) {
        lbc_entry_drop(pass->entry);
        r = nlb_read_lb(call, pass->service, &have->lb, err);
    } else if (have->lb.id != NULL) {
        known = strdup(have->lb.id);
        r = known == NULL ? ccm_error_nomem(err) : read_by_id(call, known, &have->lb, err);
    }
    if (r == 0 && known == NULL) {
        r = read_labelled(pass, call, &have->lb, err);
    }
    return r < 0 || have->lb.id == NULL ? r
                                        : nlb_read_check_owner(call, pass->service, &have->lb, err);
}

/*
 * The load balancer. Whose it is by now is what counts, not whose it was when we looked last:
 * LBC_LOOKUP_NOT_OURS. Of somebody else's our part is told by the descriptions of its listeners.
 */
static int release_find_lb(struct lbc_pass *pass, struct alilb_call *call,
                           const struct nlb_model *model, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    struct nlb_state *have = entry->state;

    if (!entry->reused) {
        return read_own(pass, call, err);
    }
    if (!entry->valid) {
        lbc_entry_drop(entry);
        return read_by_id(call, model->want.lb.id, &have->lb, err);
    }
    if (model->lbc.override) {
        lbc_state_forget_listeners(&have->lbc);
    }
    return 0;
}

/* Whether there may be a security group for source ranges. */
static bool release_needs_security_group(const struct lbc_pass *pass)
{
    const struct nlb_state *have = pass->entry->state;

    return lbc_pass_is_marked(pass) ||
           (!pass->entry->reused &&
            (pass->service->source_range_count > 0 || have->lb.security_groups.len > 0));
}

static int release_find_and_read(struct lbc_pass *pass, const struct nlb_model *model,
                                 struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_REMOVE);
    struct nlb_state *have = entry->state;
    int r = release_find_lb(pass, &call, model, err);

    if (r == 0) {
        r = nlb_check_status(pass, err);
        if (r < 0) { /* it can go all the same */
            ccm_error_clear(err);
            r = 0;
        }
    }
    if (r == 0 && !pass->unfinished) {
        const struct nlb_need need = {
            .want = &model->want,
            .listeners = entry->reused && model->lbc.override && have->lb.id != NULL,
            .security_group = release_needs_security_group(pass),
            .ends = true,
        };

        r = nlb_read_parts(&call, pass->service, &need, have, err);
        entry->valid = r == 0;
    }
    return r;
}

static int plan_for(struct lbc_plan *plan, const struct nlb_plan_input *in)
{
    if (in->model->lbc.reused) {
        return nlb_plan_leave(plan, in);
    }
    return in->model->lbc.preserve ? nlb_plan_preserve(plan, in) : nlb_plan_delete(plan, in);
}

static int release_plan_and_apply(struct lbc_pass *pass, struct nlb_model *model,
                                  struct ccm_error *err)
{
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { 0 };
    const bool fresh = !pass->entry->valid;
    int r = release_find_and_read(pass, model, err);

    if (r == LBC_LOOKUP_NOT_OURS) {
        lbc_pass_leave_alone(pass, err);
        return 0;
    }
    if (r == 0 && !pass->unfinished) {
        model->lbc.as_it_is = !lbc_reuse_may_configure(
            pass, &((const struct nlb_state *)pass->entry->state)->lb.tags);

        const struct nlb_plan_input in = nlb_pass_plan_input(pass, model, fresh);

        r = plan_for(&plan, &in) < 0 ? ccm_error_nomem(err) : 0;
        if (r == 0 && !model->lbc.reused && !model->lbc.preserve) {
            lbc_pass_withdraw(pass, &in.have->lb.tags);
        }
        r = r < 0 ? r : nlb_pass_run(pass, &plan, NULL, LBC_PRIO_REMOVE, fresh, err);
        pass->unfinished = pass->unfinished || plan.waiting.len > 0;
    }
    if (r < 0) {
        return lbc_pass_fail(pass, LBC_PASS_CLEAN_FAILED, LBC_PASS_CLEAN_WHAT, r, err);
    }
    return pass->problems.count > 0
               ? lbc_pass_fail_all(pass, LBC_PASS_CLEAN_FAILED, LBC_PASS_CLEAN_WHAT, err)
               : 0;
}

/* What annotations say about the load balancer, and which groups of somebody else hold servers of
 * ours. */
static int release_build_model(const struct lbc_pass *pass, struct nlb_model *ret)
{
    const struct ccm_service *service = pass->service;
    const int r =
        nlb_model_lb(ret, service, ali_resource_group_id(alilb_client(&pass->lbc->cloud)));

    ret->lbc.reused = pass->entry->reused;
    return r < 0 || !ret->lbc.reused ? r : nlb_model_chosen(ret, service);
}

int nlb_release(struct lbc_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(nlb_model_fini) struct nlb_model model;
    int r;

    memset(&model, 0, sizeof(model));
    if (release_build_model(pass, &model) < 0) {
        return lbc_pass_fail(pass, LBC_PASS_CLEAN_FAILED, LBC_PASS_CLEAN_WHAT, ccm_error_nomem(err),
                             err);
    }
    r = release_plan_and_apply(pass, &model, err);
    if (r == 0 && !pass->unfinished && !model.lbc.reused) {
        lbc_entry_drop(pass->entry);
        pass->entry->valid = true;
    }
    return r;
}
