/* NLB's part of a pass that ensures: what is desired, what is there, and the way between them. */
#include "controller.h"

#include "apply.h"
#include "lbc/model/object.h"
#include "lbc/reuse.h"
#include "names.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define BUSY_MS     1000 /* between two looks at a load balancer that is being made */
#define REMOVING_MS 3000 /* until a server that is being removed is looked at again */

/* --- desired state --- */

int nlb_sync_begin(struct lbc_pass *pass, const struct lbc_model_input *in, struct ccm_error *err)
{
    const struct nlb_model_input own = {
        .lbc = *in,
        .resource_group = ali_resource_group_id(alilb_client(&pass->lbc->cloud)),
    };

    return nlb_model_begin(nlb_desired(pass), &own, &pass->problems, err);
}

void nlb_sync_check_groups(struct lbc_pass *pass)
{
    nlb_model_check_groups(nlb_desired(pass), pass->entry->state, &pass->problems);
}

bool nlb_sync_is_public(const struct lbc_pass *pass)
{
    return !ccm_text_equal_case(nlb_desired(pass)->want.lb.fields[NLB_LB_ADDRESS_TYPE], "Intranet");
}

/* --- actual state --- */

int nlb_sync_read_lb(struct lbc_pass *pass, const char *id, void *state, struct ccm_error *err)
{
    struct nlb_lb *lb = &((struct nlb_state *)state)->lb;
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_SPEC);
    int r;

    if (id == NULL) {
        return alilb_read_own_lb(&call, &nlb_source, pass->service, lb, &lb->untagged, err);
    }
    r = alilb_read_lb(&call, &nlb_source, id, lb, err);
    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        nlb_lb_fini(lb);
        memset(lb, 0, sizeof(*lb));
    }
    return r < 0 && pass->model->reused && !pass->releases
               ? ccm_error_wrap(err, r, "load balancer %s", id)
               : r;
}

int nlb_sync_check_status(struct lbc_pass *pass, struct ccm_error *err)
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

static bool model_lists_certs(const struct nlb_model *model)
{
    for (size_t i = 0; i < model->want.lbc.listener_count; i++) {
        if (nlb_listener_at(&model->want, i)->certs_known) {
            return true;
        }
    }
    return false;
}

/* The security group for source ranges: wanted, or there may be one of earlier. */
static bool pass_needs_security_group(const struct lbc_pass *pass)
{
    const struct nlb_model *model = nlb_desired(pass);
    const struct nlb_state *have = pass->entry->state;

    return !model->lbc.reused && (model->want.security_group.wanted ||
                                  have->lb.security_groups.len > 0 || lbc_pass_is_marked(pass));
}

/* Without load balancer, and without the mark that we set before we make anything, nothing of the
 * Service can be there. */
static void know_nothing_is_there(struct nlb_state *have)
{
    have->lbc.groups_known = true;
    have->lbc.listeners_known = true;
    have->security_group.known = true;
}

int nlb_sync_read_parts(struct lbc_pass *pass, struct ccm_error *err)
{
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_SPEC);
    const struct nlb_model *model = nlb_desired(pass);
    struct nlb_state *have = pass->entry->state;
    const bool exists = have->lb.id != NULL;
    const struct nlb_need need = {
        .want = &model->want,
        .listeners = exists && lbc_model_has_listeners(&model->lbc),
        .certs = exists && model_lists_certs(model),
        .security_group = pass_needs_security_group(pass),
    };

    if (!exists && !lbc_object_has_finalizer(&pass->service->meta, NLB_FINALIZER)) {
        know_nothing_is_there(have);
    }
    have->lbc.listeners_known = have->lbc.listeners_known || !exists;

    const int r = nlb_read_parts(&call, pass->service, &need, have, err);

    if (r == 0 && pass->entry->aside != NULL) {
        nlb_state_recall(have, pass->entry->aside);
    }
    return r;
}

/* --- the way from one to the other --- */

struct lbc_plan_input nlb_pass_plan_input(const struct lbc_pass *pass, bool fresh)
{
    return (struct lbc_plan_input){
        .model = pass->model,
        .have = &((const struct nlb_state *)pass->entry->state)->lbc,
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

int nlb_sync_find_leaving(struct lbc_pass *pass, struct lbc_group *want,
                          struct lbc_freeze_group *ret)
{
    const struct lbc_plan_input in = nlb_pass_plan_input(pass, false);

    return lbc_plan_leaving(&nlb_plan_ops, &in, want, ret);
}

/* Only what is waited for is read again. */
static void come_again(struct lbc_pass *pass, const struct lbc_texts *groups, bool failed)
{
    for (size_t i = 0; i < groups->len; i++) {
        struct nlb_group *group = nlb_state_group_by_id(pass->entry->state, groups->items[i]);

        if (group != NULL) {
            group->lbc.unread = true;
        }
    }
    pass->requeue_ms = REMOVING_MS;
    pass->unfinished = !failed;
}

int nlb_sync_run(struct lbc_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf repair = { .max = 900 };
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { 0 };
    CCM_CLEANUP(lbc_taken_fini) struct lbc_taken_list taken = { 0 };
    const struct nlb_model *model = nlb_desired(pass);
    struct lbc_entry *entry = pass->entry;
    struct nlb_state *have = entry->state;
    struct lbc_plan_input in = nlb_pass_plan_input(pass, pass->fresh);
    const bool is_new = have->lb.id == NULL;
    const size_t known = pass->problems.count;
    const size_t before = pass->writes;

    in.applied = lbc_pass_applied_tags(pass, &have->lb.tags);
    if (lbc_plan_ensure(&plan, &nlb_plan_ops, &in, &pass->problems) < 0) {
        return ccm_error_nomem(err);
    }
    if (lbc_pass_can_show_repair(pass) &&
        lbc_plan_describe_repair(&plan, &nlb_plan_ops, &in,
                                 &((const struct nlb_state *)pass->entry->aside)->lbc,
                                 &repair) < 0) {
        return ccm_error_nomem(err);
    }
    if (lbc_plan_list_taken(&plan, &nlb_plan_ops, &in, &taken) < 0) {
        return ccm_error_nomem(err);
    }
    if (lbc_taken_remember(pass, &taken, err) < 0) {
        return -EAGAIN; /* err says more */
    }
    const bool refused = pass->problems.count > known;

    entry->blocked = plan.blocked;
    const int r =
        nlb_pass_run(pass, &plan, model, is_new ? LBC_PRIO_NEW : LBC_PRIO_SPEC, pass->fresh, err);

    nlb_plan_record_explicit(have, model);
    entry->used = entry->used || have->lb.id != NULL;
    if (model->lbc.reused &&
        lbc_reuse_record_tags(entry, &model->want.lb.tags, &have->lb.tags) < 0) {
        return ccm_error_nomem(err);
    }
    if (refused && !pass->fresh) {
        lbc_pass_invalidate_mirror(pass);
    }
    if (plan.waiting.len > 0) {
        come_again(pass, &plan.waiting, r < 0 || pass->problems.count > 0);
    }
    if (pass->writes > before && r == 0 && pass->problems.count == known) {
        lbc_pass_emit_repair(pass, ccm_buf_str(&repair));
    }
    return r;
}

/* --- what the Service says then --- */

bool nlb_sync_publish(struct lbc_pass *pass, struct lbc_life_state *state)
{
    const struct nlb_model *model = nlb_desired(pass);
    const struct nlb_state *have = pass->entry->state;

    if (ccm_text_empty(have->lb.dns)) {
        return false;
    }
    state->hostname = have->lb.dns;
    state->ip_mode = NULL; /* it is for addresses */
    if (have->security_group.id != NULL) {
        state->extra = have->security_group.id; /* wanted or not: it is there */
    } else if (!model->want.security_group.wanted && !model->keep_security &&
               have->security_group.known) {
        state->extra = "";
    }
    return true;
}
