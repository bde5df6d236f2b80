#include "apply_run.h"

#include "alicloud/error.h"
#include "apply_parts.h"
#include "lbc/model/resolve.h"
#include "lbc/taken.h"
#include "names.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

/* --- failures --- */

void nlb_run_distrust(struct nlb_apply *apply, const struct nlb_step *step)
{
    apply->surprised = true;
    const struct lbc_cloud cloud = { &alilb_cloud_ops, apply->call.ali };

    lbc_resolve_forget(&cloud, &step->lbc.backends);
}

/* A person named what does not exist: no look at the cloud will change that. */
static bool is_misnamed(const struct nlb_step *step, const struct ccm_error *err)
{
    return step->lbc.type == NLB_STEP_JOIN && step->lbc.texts.len > 0 &&
           err->kind == CCM_ERROR_NOT_FOUND && !nlb_apply_lb_gone(err);
}

/* What the failure says about the future. */
static uint64_t kind_of(const struct nlb_apply *apply, const struct nlb_step *step,
                        const struct ccm_error *err)
{
    if (is_misnamed(step, err)) {
        return CCM_ERROR_TERMINAL;
    }
    return err->kind == CCM_ERROR_NOT_FOUND ||
                   (err->kind == CCM_ERROR_TERMINAL && apply->surprised && !apply->fresh)
               ? CCM_ERROR_CONFLICT /* our picture may have been wrong: look again soon */
               : err->kind;
}

int nlb_run_fail(struct nlb_run *run, const struct nlb_step *step, int r, struct ccm_error *err,
                 const char *remedy)
{
    struct nlb_apply *apply = run->apply;
    const bool gone = nlb_apply_lb_gone(err);

    if (apply->call.uncertain || !ali_error_is_wait(err)) {
        nlb_run_distrust(apply, step);
    }
    if (gone) {
        (*apply->attempt)++;
    }
    if (step->lbc.type == LBC_STEP_RESTORE_LISTENER && !gone &&
        lbc_taken_is_refused(err, apply->call.uncertain)) {
        apply->cannot_restore = true;
        remedy = LBC_TAKEN_REFUSED;
    }
    err->kind = kind_of(apply, step, err);
    if (step->lbc.port != 0) {
        (void)ccm_error_wrap(err, r, "port %u/%s: %s", step->lbc.port,
                             lbc_protocol_name(step->lbc.protocol),
                             nlb_steps.names[step->lbc.type]);
    } else {
        (void)ccm_error_wrap(err, r, "%s", nlb_steps.names[step->lbc.type]);
    }
    lbc_problems_add(apply->problems, err, remedy);
    run->failed++;
    run->unsecured = run->unsecured || nlb_step_secures(step->lbc.type);
    return gone || err->kind == CCM_ERROR_CANCELLED || step->lbc.type == LBC_STEP_CREATE_LB ? r : 0;
}

/* --- what has to wait for room --- */

size_t nlb_run_find_step(const struct nlb_run *run, const struct nlb_step *step)
{
    size_t i = 0;

    while (run->plan->steps[i] != &step->lbc) {
        i++;
    }
    return i;
}

static bool comes_later(const struct nlb_run *run, const struct nlb_step *step, unsigned type)
{
    for (size_t i = nlb_run_find_step(run, step) + 1; i < run->plan->len; i++) {
        if (run->plan->steps[i]->type == type) {
            return true;
        }
    }
    return false;
}

bool nlb_run_defer(struct nlb_run *run, const struct nlb_step *step, int r,
                   const struct ccm_error *err)
{
    struct nlb_deferred *slot = NULL;

    if (step->lbc.type == NLB_STEP_JOIN && strstr(err->code, "QuotaInsufficient") != NULL &&
        comes_later(run, step, NLB_STEP_LEAVE)) {
        slot = &run->join;
    } else if (step->lbc.type == NLB_STEP_ADD_RULES &&
               (strcmp(err->code, "AuthorizationLimitExceed") == 0 ||
                strcmp(err->code, "AuthorizedGroupRule.LimitExceed") == 0) &&
               comes_later(run, step, NLB_STEP_REMOVE_RULES)) {
        slot = &run->rules;
    }
    if (slot == NULL || slot->step != NULL) {
        return false;
    }
    slot->step = step;
    slot->result = r;
    ccm_error_copy(&slot->err, err);
    return true;
}

/* The load balancer takes no further listener, whichever it is. */
static bool is_crowded(const struct ccm_error *err)
{
    return ccm_text_starts(err->code, "QuotaExceed") &&
           strstr(err->message, "loadbalancer_listeners_num") != NULL;
}

void nlb_run_record_quota(struct nlb_run *run, const struct nlb_step *step,
                          const struct ccm_error *err)
{
    if (err == NULL && step->lbc.type == LBC_STEP_DELETE_LISTENER) {
        lbc_quota_clear_full(&run->quota);
    } else if (err != NULL && step->lbc.type == LBC_STEP_CREATE_LISTENER && is_crowded(err)) {
        lbc_quota_set_full(&run->quota, err);
    }
}

bool nlb_run_leaves_out(struct nlb_run *run, const struct nlb_step *step)
{
    const struct nlb_listener *listener = &step->listener;
    char name[48];

    if (!run->quota.full || step->lbc.type != LBC_STEP_CREATE_LISTENER) {
        return false;
    }
    if (listener->lbc.last_port > listener->lbc.port) {
        ccm_text_printf(name, sizeof(name), "%u-%u/%s", listener->lbc.port, listener->lbc.last_port,
                        lbc_protocol_name(listener->lbc.protocol));
    } else {
        ccm_text_printf(name, sizeof(name), "%u/%s", step->lbc.port,
                        lbc_protocol_name(step->lbc.protocol));
    }
    lbc_quota_leave_out(&run->quota, name);
    return true;
}

/* No room was made: what was refused has failed. */
static int deferred_give_up(struct nlb_run *run, struct nlb_deferred *slot)
{
    const struct nlb_step *step = slot->step;

    slot->step = NULL;
    run->apply->call.uncertain = false;
    return step == NULL
               ? 0
               : nlb_run_fail(run, step, slot->result, &slot->err, ali_error_remedy(&slot->err));
}

int nlb_run_give_up(struct nlb_run *run)
{
    const int r = deferred_give_up(run, &run->rules);

    return r < 0 ? r : deferred_give_up(run, &run->join);
}
