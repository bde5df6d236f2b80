#include "apply.h"

#include "alicloud/error.h"
#include "apply_exchange.h"
#include "apply_group.h"
#include "apply_lb.h"
#include "apply_listener.h"
#include "apply_parts.h"
#include "apply_ranges.h"
#include "ccm/object.h"
#include "lbc/apply/quota.h"
#include "lbc/model/owner.h"
#include "lbc/model/resolve.h"
#include "lbc/taken.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int clb_apply_check_mirror(struct clb_apply *apply, int r)
{
    if (r < 0) {
        /* The cloud has it, our memory does not: read again next time. */
        apply->entry->valid = false;
    }
    return 0;
}

struct lbc_group *clb_apply_group(struct clb_apply *apply, const struct clb_step *step)
{
    const struct clb_state *state = clb_actual(apply->entry);
    const struct lbc_group *want =
        apply->model == NULL || step->group_name == NULL
            ? NULL
            : lbc_state_group_by_name(&apply->model->want.lbc, step->group_name);

    if (step->group_id != NULL) {
        return lbc_state_group_by_id(&state->lbc, step->group_id);
    }
    return want != NULL && want->id != NULL
               ? lbc_state_group_by_id(&state->lbc, want->id)
               : lbc_state_group_by_name(&state->lbc, step->group_name);
}

int clb_apply_forgive(int r, const struct ccm_error *err)
{
    const bool gone = (err->kind == CCM_ERROR_NOT_FOUND &&
                       strcmp(err->code, "InvalidLoadBalancerId.NotFound") != 0) ||
                      strcmp(err->code, "AclNotExist") == 0; /* elsewhere the annotation's fault */

    return r < 0 && gone ? 0 : r;
}

/* Removing after a failed add must not leave the group without any backend. */
static bool would_empty(struct clb_apply *apply, const struct clb_step *step, bool add_failed)
{
    return add_failed && step->type == CLB_STEP_REMOVE &&
           clb_apply_group(apply, step)->backends.len <= step->backends.len;
}

static int apply_execute_step(struct clb_apply *apply, const struct clb_step *step,
                              struct ccm_error *err)
{
    switch (step->type) {
    case CLB_STEP_CREATE_LB:
    case CLB_STEP_TAG:
    case CLB_STEP_UNTAG:
    case CLB_STEP_CHARGE:
    case CLB_STEP_SPEC:
    case CLB_STEP_INTERNET:
    case CLB_STEP_PROTECT:
    case CLB_STEP_PROTECT_MODIFICATION:
    case CLB_STEP_RENAME:
    case CLB_STEP_UNPROTECT:
    case CLB_STEP_DELETE_LB:
        return clb_apply_lb(apply, step, err);
    case CLB_STEP_CREATE_GROUP:
    case CLB_STEP_ADD:
    case CLB_STEP_REMOVE:
    case CLB_STEP_WEIGH:
    case CLB_STEP_DELETE_GROUP:
        return clb_apply_group_step(apply, step, err);
    case CLB_STEP_CREATE_LISTENER:
    case CLB_STEP_UPDATE_LISTENER:
    case CLB_STEP_RESTORE_LISTENER:
    case CLB_STEP_START_LISTENER:
    case CLB_STEP_DELETE_LISTENER:
    case CLB_STEP_SET_DOMAIN:
    case CLB_STEP_CREATE_DOMAIN:
    case CLB_STEP_DELETE_DOMAIN:
        return clb_apply_listener(apply, step, err);
    case CLB_STEP_CREATE_ACL:
    case CLB_STEP_ADD_ENTRIES:
    case CLB_STEP_REMOVE_ENTRIES:
    case CLB_STEP_DELETE_ACL:
        return clb_apply_acl(apply, step, err);
    }
    return 0;
}

/* What a step needs is missing because an earlier step failed, which was reported there. */
static bool is_blocked(struct clb_apply *apply, const struct clb_step *step)
{
    switch (step->type) {
    case CLB_STEP_ADD:
    case CLB_STEP_REMOVE:
    case CLB_STEP_WEIGH:
        return clb_apply_group(apply, step) == NULL;
    default:
        return clb_apply_is_blocked(apply, step);
    }
}

static bool lb_is_gone(const struct ccm_error *err)
{
    return strcmp(err->code, "InvalidLoadBalancerId.NotFound") == 0;
}

int clb_apply_fail(struct clb_apply *apply, const struct clb_step *step, int r,
                   struct ccm_error *err)
{
    const char *remedy = ali_error_remedy(err);

    if (step->type == CLB_STEP_RESTORE_LISTENER && !lb_is_gone(err) &&
        lbc_taken_is_refused(err, apply->call.uncertain)) {
        apply->cannot_restore = true;
        remedy = LBC_TAKEN_REFUSED;
    }
    if (apply->call.uncertain || !ali_error_is_wait(err)) {
        apply->entry->valid = false;
        lbc_resolve_forget(&apply->clb->lbc.cloud, &step->backends);
    }
    if (lb_is_gone(err)) {
        apply->entry->attempt++;
        lbc_entry_drop(apply->entry);
    }
    if (err->kind == CCM_ERROR_NOT_FOUND ||
        (err->kind == CCM_ERROR_TERMINAL && !apply->entry->valid && !apply->fresh)) {
        err->kind = CCM_ERROR_CONFLICT; /* our picture may have been wrong: look again soon */
    }
    if (step->port != 0) {
        (void)ccm_error_wrap(err, r, "port %u/%s: %s", step->port,
                             lbc_protocol_lower(step->protocol), clb_step_name(step->type));
    } else {
        (void)ccm_error_wrap(err, r, "%s", clb_step_name(step->type));
    }
    lbc_problems_add(apply->problems, err, remedy);
    return lb_is_gone(err) || err->kind == CCM_ERROR_CANCELLED ||
                   step->type == CLB_STEP_CREATE_LB || step->type == CLB_STEP_UNPROTECT ||
                   step->type == CLB_STEP_DELETE_LB
               ? r
               : 0;
}

/* State of one walk over a plan. */
struct progress {
    struct clb_exchanges exchanges; /* groups that lack capacity */
    bool add_failed;                /* of the group at hand, for another reason */
    const struct clb_step *unknown; /* an addition of what the cloud does not know; NULL */
    struct lbc_quota quota;         /* for listeners */
};

static void progress_fini(struct progress *progress)
{
    clb_exchanges_fini(&progress->exchanges);
    lbc_quota_fini(&progress->quota);
}

/* The load balancer takes no further listener, whichever it is. */
static bool is_crowded(const struct clb_step *step, const struct ccm_error *err)
{
    return step->type == CLB_STEP_CREATE_LISTENER &&
           (strcmp(err->code, "ListenerNumberOverLimit") == 0 ||
            strcmp(err->code, "VipTooManyListeners") == 0);
}

/* A refusal that is known beforehand is not asked for. */
static bool is_left_out(struct progress *progress, const struct clb_step *step)
{
    char name[32];

    if (!progress->quota.full || step->type != CLB_STEP_CREATE_LISTENER) {
        return false;
    }
    ccm_text_printf(name, sizeof(name), "%u/%s", step->port, lbc_protocol_lower(step->protocol));
    lbc_quota_leave_out(&progress->quota, name);
    return true;
}

static void apply_record_success(struct clb_apply *apply, const struct clb_step *step,
                                 struct progress *progress)
{
    apply->writes++;
    if (step->type == CLB_STEP_DELETE_LISTENER) {
        apply->entry->freed = true;
        lbc_quota_clear_full(&progress->quota);
    }
    /* A person's may be taken over by those who had to leave it to this Service. */
    apply->entry->freed = apply->entry->freed || step->type == CLB_STEP_RESTORE_LISTENER;
}

/* A step was refused. Negative when the rest of the plan makes no sense. */
static int apply_record_failure(struct clb_apply *apply, const struct clb_step *step, int r,
                                struct progress *progress, struct ccm_error *err)
{
    if (is_crowded(step, err)) {
        lbc_quota_set_full(&progress->quota, err);
    }
    progress->add_failed = progress->add_failed || step->type == CLB_STEP_ADD;
    if (step->type == CLB_STEP_ADD && alilb_cloud_ops.is_unknown_backend(err)) {
        progress->unknown = step;
    }
    return clb_apply_fail(apply, step, r, err);
}

/* The same backends were refused for another group: told there, and not asked for again. */
static bool is_known_refusal(const struct clb_step *step, struct progress *progress)
{
    const bool known = progress->unknown != NULL && step->type == CLB_STEP_ADD &&
                       lbc_backends_same_servers(&progress->unknown->backends, &step->backends);

    progress->add_failed = progress->add_failed || known;
    return known;
}

static bool is_skipped(struct clb_apply *apply, const struct clb_step *step,
                       struct progress *progress)
{
    return is_blocked(apply, step) || is_left_out(progress, step) ||
           is_known_refusal(step, progress) || (step->last && apply->problems->count > 0) ||
           would_empty(apply, step, progress->add_failed);
}

/* Carries out the step at *index; that of the last one which is done with comes back. */
static int apply_run_step(struct clb_apply *apply, const struct clb_plan *plan, size_t *index,
                          struct progress *progress)
{
    const struct clb_step *step = &plan->steps[*index];
    struct ccm_error err = CCM_ERROR_INIT;
    int r;

    if (is_skipped(apply, step, progress)) {
        return 0;
    }
    if (clb_exchange_is_due(apply, step)) {
        return clb_exchange_run(apply, plan, index, &progress->exchanges);
    }
    if (step->type == CLB_STEP_REMOVE || step->type == CLB_STEP_DELETE_LB) {
        apply->call.priority = LBC_PRIO_REMOVE;
    }
    r = apply_execute_step(apply, step, &err);
    if (r == 0) {
        apply_record_success(apply, step, progress);
        return 0;
    }
    if (clb_exchange_record_full(apply, step, &progress->exchanges, &err)) {
        return clb_exchange_run(apply, plan, index, &progress->exchanges);
    }
    return apply_record_failure(apply, step, r, progress, &err);
}

static bool is_backend_step(const struct clb_step *step)
{
    return step->type == CLB_STEP_ADD || step->type == CLB_STEP_REMOVE ||
           step->type == CLB_STEP_WEIGH;
}

static bool ends_group(const struct clb_plan *plan, size_t i)
{
    return i + 1 == plan->len || !is_backend_step(&plan->steps[i + 1]) ||
           !ccm_text_equal(plan->steps[i].group_id, plan->steps[i + 1].group_id) ||
           !ccm_text_equal(plan->steps[i].group_name, plan->steps[i + 1].group_name);
}

int clb_apply_check_cancelled(struct clb_apply *apply)
{
    const struct ccm_host *host = apply->clb->lbc.host;
    struct ccm_error err = CCM_ERROR_INIT;

    if (!host->cancelled(host, apply->call.req)) {
        return 0;
    }
    (void)ccm_error_set(&err, 0, CCM_ERROR_CANCELLED,
                        "stopped in the middle"); /* the result is the argument */
    lbc_problems_add(apply->problems, &err, NULL);
    return -ECANCELED;
}

int clb_apply_run(struct clb_apply *apply, const struct clb_plan *plan)
{
    const enum lbc_priority priority = apply->call.priority;
    CCM_CLEANUP(progress_fini)
    struct progress progress = { .exchanges = { .why = CCM_ERROR_INIT }, .quota = LBC_QUOTA_INIT };
    int r = 0;

    for (size_t i = 0; r == 0 && i < plan->len; i++) {
        r = clb_apply_check_cancelled(apply);
        if (r == 0) {
            apply->call.priority = priority;
            r = apply_run_step(apply, plan, &i, &progress);
        }
        if (ends_group(plan, i)) {
            progress.add_failed = false;
        }
    }
    lbc_quota_report(&progress.quota, clb_step_name(CLB_STEP_CREATE_LISTENER), apply->problems);
    apply->call.priority = priority;
    return r < 0 ? r : clb_exchanges_finish(apply, &progress.exchanges);
}
