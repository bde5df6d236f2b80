/*
 * A pass that ensures: what is checked before it, and what is said after it. Before the first call
 * to the cloud the finalizer is added: pass_add_finalizer(), which has
 * service/lifecycle.c:lbc_life_set_finalizer() write it.
 */
#include "lbc/names.h"
#include "lbc/pass.h"

#include "lbc/empty_pass.h"
#include "lbc/health.h"
#include "lbc/keep.h"
#include "lbc/model/candidate.h"
#include "lbc/model/inside.h"
#include "lbc/model/object.h"
#include "lbc/reuse.h"
#include "lbc/service/marks.h"
#include "lbc/vswitch.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define POLL_MS     10000 /* then doubling, 32 times as long at most */
#define LEFT_OUT_MS 10000 /* until backends that were left out are added again, at least */

/* --- before any write --- */

/* What an earlier process left at the Service. */
static int pass_compare_hash(struct lbc_pass *pass, struct ccm_error *err)
{
    if (lbc_hash_service(pass->service, pass->hash) < 0) {
        return ccm_error_nomem(err);
    }
    pass->hash_verdict = lbc_hash_compare(pass->service, pass->hash);
    pass->returning = lbc_hash_may_hold(pass->hash_verdict) && !pass->entry->completed;
    return 0;
}

/* They are told at the end of the pass, before whatever else went wrong. */
static void join_refused(struct lbc_pass *pass)
{
    CCM_CLEANUP(lbc_problems_fini) struct lbc_problems others = pass->problems;

    pass->problems = (struct lbc_problems)LBC_PROBLEMS_INIT;
    lbc_problems_join(&pass->problems, &pass->refused.problems);
    lbc_problems_join(&pass->problems, &others);
}

/* Whether it ends here: it would be for creation alone, or it is about the load balancer itself. A
 * finalizer proves no load balancer: an earlier controller may have set it, and created nothing. */
static bool pass_is_refused(struct lbc_pass *pass)
{
    const bool all = lbc_refusals_decide(&pass->refused, LBC_DECIDES_ALL);
    const bool keeps = lbc_keep_find_id(pass->lbc, pass->service)[0] != '\0' ||
                       (all && lbc_keep_find_label(pass->lbc, pass->service)[0] != '\0');

    pass->kept = keeps ? "" : NULL;
    return pass->refused.problems.count > 0 &&
           ((all && !keeps) || !lbc_lookup_shows_lb(pass->service));
}

/* What it asks for is not known as a whole: nothing is changed until it is smaller. */
static int check_size(struct lbc_pass *pass, struct ccm_error *err)
{
    if (pass->service->meta.too_large == NULL) {
        return 0;
    }
    const int r =
        ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TERMINAL,
                      "the %s is too large (%s): its load balancer stays as it is",
                      lbc_product_noun(pass->lbc->ops->product), pass->service->meta.too_large);

    return lbc_pass_fail(pass, LBC_PASS_SYNC_FAILED, LBC_PASS_SYNC_WHAT, r, err);
}

/* What cannot be told without those ids either. */
static int refuse_along(struct lbc_refusals *refused, const struct lbc_anno *row,
                        const struct ccm_error *err)
{
    const char *cursor = row->along;
    const char *piece = NULL;
    size_t len = 0;
    int r = lbc_refusals_add(refused, row->name, err);

    while (r == 0 && cursor != NULL && ccm_parse_piece(&cursor, '|', &piece, &len)) {
        char suffix[LBC_ANNO_KEY_MAX];

        ccm_text_printf(suffix, sizeof(suffix), "%.*s", (int)len, piece);
        r = lbc_refusals_add(refused, suffix, err);
    }
    return r;
}

/* Ids of the account that are not for this namespace. */
static int refuse_ids(struct lbc_pass *pass)
{
    const struct lbc_lint_rules *rules = pass->lbc->ops->product->rules;
    const struct lbc_allow allow = lbc_pass_allow(pass);
    int r = 0;

    for (size_t i = 0; r == 0 && i < rules->annotations->count; i++) {
        const struct lbc_anno *row = &rules->annotations->rows[i];
        struct ccm_error err = CCM_ERROR_INIT;

        if (lbc_allow_check_row(&allow, row, &pass->service->meta, &err) < 0 &&
            lbc_lint_counts(rules, pass->service, row)) {
            r = refuse_along(&pass->refused, row, &err);
        }
    }
    return r;
}

static int check_manifest(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_instance *lbc = pass->lbc;
    struct lbc_refusals *refused = &pass->refused;
    int r = lbc_refusals_collect(refused, lbc->ops->product->rules, pass->service);

    if (r == 0) {
        r = lbc_reuse_check_option(pass, err);
        r = r < 0 && r != -ENOMEM ? lbc_refusals_add(refused, "id", err) : r;
    }
    r = r < 0 ? r : refuse_ids(pass);
    if (r == 0 && lbc->ops->product->refuse != NULL) {
        r = lbc->ops->product->refuse(lbc, refused);
    }
    r = r < 0 ? r : lbc_refusals_shorten(refused);
    pass->view = r == 0 ? lbc_refusals_view(refused) : NULL;
    if (pass->view == NULL) {
        return ccm_error_nomem(err);
    }
    lbc_pass_advise_manifest(pass);
    if (!pass_is_refused(pass)) {
        return 0;
    }
    join_refused(pass);
    (void)lbc_pass_fail_all(pass, LBC_PASS_SYNC_FAILED, LBC_PASS_SYNC_WHAT, err); /* always fails */
    return -EINVAL;
}

static bool needs_mark(const struct lbc_pass *pass)
{
    const struct lbc_product *product = pass->lbc->ops->product;

    return product->needs_mark != NULL && product->needs_mark(pass->lbc, pass->service);
}

/* What a write before the first one to the cloud came to; *ret_gone: the Service was deleted
 * meanwhile, and nothing was made yet. Backends of a load balancer that exists follow all the same.
 */
static int pass_end_write(struct lbc_pass *pass, int r, const char *reason, const char *what,
                          bool *ret_gone, struct ccm_error *err)
{
    *ret_gone = r < 0 && err->kind == CCM_ERROR_NOT_FOUND;
    if (r < 0 && !*ret_gone &&
        (err->kind == CCM_ERROR_CANCELLED || !lbc_lookup_shows_lb(pass->service))) {
        return lbc_pass_fail_kube(pass, reason, what, r, err);
    }
    if (r < 0 && !*ret_gone) {
        (void)ccm_error_wrap(err, r, "%s", what); /* sets the text */
        lbc_problems_add(&pass->refused.problems, err, NULL);
        pass->unbound = true;
    }
    ccm_error_clear(err);
    return 0;
}

/* And the label for what could be lost sight of. */
static int pass_add_finalizer(struct lbc_pass *pass, bool *ret_gone, struct ccm_error *err)
{
    const bool bound = lbc_object_has_finalizer(&pass->service->meta, pass->life.finalizer);
    int r = lbc_life_set_finalizer(&pass->life, pass->req, pass->service, true, err);

    if (r == 0 && !bound) { /* what failed may have met the finalizer of an earlier leader */
        pass->entry->creation.bound_here = true;
    }

    r = pass_end_write(pass, r, "FailedAddFinalizer", "Error adding finalizer", ret_gone, err);
    if (r < 0 || *ret_gone || pass->unbound || !needs_mark(pass)) {
        return r;
    }
    r = lbc_life_mark(&pass->life, pass->req, pass->service, err);
    return pass_end_write(pass, r, "FailedUpdateStatus", "Error updating labels", ret_gone, err);
}

/* --- the product's part, with all it needs --- */

static int pass_sync_lb(struct lbc_pass *pass, struct ccm_error *err)
{
    const bool gated = pass->lbc->ops->product->kind == 0; /* no pod waits for another object */

    if (lbc_readiness_collect(&pass->readiness, pass->slices, gated ? pass->slice_count : 0,
                              &pass->entry->pod_states) < 0) {
        return ccm_error_nomem(err);
    }
    const int r = lbc_pass_sync(pass, err);

    if (r < 0) {
        join_refused(pass);
    }
    return r < 0 ? lbc_pass_fail(pass, LBC_PASS_SYNC_FAILED, LBC_PASS_SYNC_WHAT, r, err) : 0;
}

/* --- what everybody is told --- */

/* Pods whose readiness waits for us; those that are not so far are looked at again, since no change
 * of a slice will announce them. */
static int pass_publish_readiness(struct lbc_pass *pass, struct ccm_error *err)
{
    uint32_t *polls = &pass->entry->polls;
    const int r = lbc_readiness_publish(&pass->readiness, ccm_buf_str(&pass->invalid), err);

    if (r < 0) {
        return lbc_pass_fail_kube(pass, "FailedUpdateReadinessGate",
                                  "Error updating pod readiness gates for service", r, err);
    }
    *polls = pass->readiness.waiting ? *polls + 1 : 0;
    if (pass->readiness.waiting) {
        const uint64_t ms = (uint64_t)POLL_MS << (*polls > 5 ? 5 : *polls - 1);

        pass->requeue_ms = pass->requeue_ms > 0 && pass->requeue_ms < ms ? pass->requeue_ms : ms;
    }
    return 0;
}

/* The Service has gone or ceased to be ours since the pass began: the next one is due already, and
 * nobody needs to know that this one was in its way. */
static bool is_outdated(const struct lbc_pass *pass)
{
    const struct ccm_host *host = pass->lbc->host;
    const struct ccm_object *now = host->get(host, CCM_KIND_SERVICE, pass->service->meta.key);
    const bool outdated = now == NULL || !ccm_text_equal(now->uid, pass->service->meta.uid) ||
                          lbc_pass_is_unwanted(pass->lbc, (const struct ccm_service *)now);

    if (now != NULL) {
        host->release(host, now);
    }
    return outdated;
}

/* What the Service is to remember of additional tags: those that are wanted; before a complete
 * success also those that may still be there. NULL = what it remembers stays. */
static const char *remember_tags(struct lbc_pass *pass, bool complete,
                                 char ret[static LBC_MARKS_TEXT])
{
    const struct lbc_entry *entry = pass->entry;

    if (entry->reused || (!complete && !entry->applied_known)) {
        return NULL;
    }
    const int r = lbc_marks_format(pass->service->meta.uid, lbc_pass_desired_tags(pass),
                                   complete ? NULL : &entry->applied, ret);

    return r == 0 || (r == -E2BIG && complete) ? ret : NULL;
}

/* The plugin of another product has not let go of the Service yet: the label may be all that leads
 * it to what it has to take away. Its write tells when that is done. */
static bool pass_leaves_label(const struct lbc_pass *pass)
{
    return lbc_object_has_other_finalizer(&pass->service->meta, lbc_names.finalizers,
                                          pass->life.finalizer);
}

/* What the Service says about its load balancer. False: nothing serves yet, leave alone. What a
 * dry run leaves undone serves once it is done. */
static bool pass_shows_lb(struct lbc_pass *pass, struct lbc_life_state *state)
{
    const bool serves = lbc_pass_lb_serves(pass) ||
                        (pass->dry && lbc_pass_lb(pass)->id != NULL && pass->problems.count == 0);

    if (pass->model->mismatch || !serves) {
        return false;
    }
    lbc_creation_forgive(&pass->entry->creation);
    state->lb_id = pass_leaves_label(pass) ? NULL : lbc_pass_lb(pass)->id;
    state->reused = pass->model->reused ? lbc_pass_lb(pass)->id : "";
    return pass->lbc->ops->status->publish(pass, state);
}

/* Address and id as soon as one port serves; the hash only after a complete success. */
static int pass_publish_status(struct lbc_pass *pass, struct ccm_error *err)
{
    struct lbc_life_state state = {
        .ip_mode =
            lbc_inside_ip_mode(pass->lbc->ops->product->rules, pass->view, pass->lbc->ip_mode),
    };
    char tags[LBC_MARKS_TEXT];
    bool written = false;

    if (pass->kept != NULL) {
        return 0; /* it shows what serves it */
    }
    if (!pass_shows_lb(pass, &state)) {
        if (pass->dry && pass->problems.count == 0) {
            ccm_buf_addf(&pass->steps, "set labels and status of the %s\n",
                         lbc_product_noun(pass->lbc->ops->product));
        }
        return 0;
    }
    if (lbc_look_is_unverified(pass)) {
        pass->unverified = true;
        return 0;
    }
    const bool complete = pass->problems.count == 0 && pass->refused.problems.count == 0;
    char serves[LBC_PASS_SERVES_TEXT];
    const struct lbc_life_condition ready = { .ready = true, .message = serves };

    lbc_pass_format_serves(pass, serves);
    if (complete && pass->invalid.len == 0 && pass->empty.len == 0 &&
        pass->entry->health.text == NULL && pass->lbc->conditions) {
        state.condition = &ready;
    }
    /* That the label gets another form is no change that a rehearsal has to show. */
    state.hash =
        complete && !(pass->dry && pass->hash_verdict == LBC_HASH_FOREIGN) ? pass->hash : NULL;
    state.tags = remember_tags(pass, complete, tags);
    if (needs_mark(pass) && state.extra != NULL && state.extra[0] == '\0') {
        state.extra = NULL; /* the next pass may make it */
    }

    const int r = lbc_life_publish(&pass->life, pass->req, pass->service, &state, &written, err);

    if (r < 0 && is_outdated(pass)) {
        err->kind = CCM_ERROR_CONFLICT;
        return r;
    }
    if (r < 0) {
        pass->mute = true;
        return lbc_pass_fail_kube(pass, "FailedUpdateStatus", "Error updating load balancer status",
                                  r, err);
    }
    pass->hashed = written && state.hash != NULL && !lbc_hash_may_hold(pass->hash_verdict);
    return 0;
}

/* Told where something was done, or where a failure that was told is over by what was read just
 * now: in this pass, or, where an edit's look is put off, some seconds before. */
static void pass_emit_ensured(struct lbc_pass *pass)
{
    const bool mended = pass->entry->failing && (pass->fresh || pass->put_off);

    lbc_pass_end_failure(pass);
    if (pass->writes > 0 || pass->hashed || mended) {
        lbc_life_event(&pass->life, pass->service, false, "EnsuredLoadBalancer",
                       "Ensured load balancer [%s]", lbc_pass_lb_id(pass));
    }
}

/* Backends that were left out are no failure. */
static void pass_return_for_left_out(struct lbc_pass *pass)
{
    const uint64_t ms = pass->left_out.again_ms;
    const uint64_t again_ms = ms < LEFT_OUT_MS ? LEFT_OUT_MS : ms;

    if (ms > 0 && (pass->requeue_ms == 0 || again_ms < pass->requeue_ms)) {
        pass->requeue_ms = again_ms;
    }
}

static int pass_finish_success(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_ops *ops = pass->lbc->ops;
    const int r = lbc_taken_forget(pass, lbc_pass_has_listener, err);

    if (r < 0) {
        return lbc_pass_fail_kube(pass, "FailedUpdateStatus", "Error updating labels", r, err);
    }
    pass->entry->unrestored = 0;
    pass->entry->releasing = false;
    pass_return_for_left_out(pass);
    pass_emit_ensured(pass);
    if (pass->asked) {
        lbc_life_event(
            &pass->life, pass->service, false, "Resynced",
            "Load balancer [%s] was looked at again because an operator asked for it: %s",
            lbc_pass_lb_id(pass), pass->writes == 0 ? "it is as wanted" : "repaired");
    }
    lbc_leave_publish(pass);
    lbc_health_look(pass);
    lbc_vswitch_look(pass);
    lbc_pass_advise_preserve(pass);
    if (ops->status->emit_events != NULL) {
        ops->status->emit_events(pass);
    }
    pass->entry->applied_known = true;
    if (lbc_tags_copy(&pass->entry->applied, lbc_pass_desired_tags(pass)) < 0) {
        return ccm_error_nomem(err);
    }
    return pass->invalid.len > 0
               ? ccm_error_set(err, -EAGAIN, CCM_ERROR_TRANSIENT, "%s", ops->product->invalid_text)
               : 0;
}

/* Whether pods may have been left out because of what cannot be used. */
static bool pass_leaves_out(const struct lbc_pass *pass)
{
    const struct lbc_state *want = pass->model->want;
    bool leaves_out = pass->model->add_none;

    for (size_t i = 0; i < want->group_count; i++) {
        leaves_out =
            leaves_out || (want->groups[i]->present_only &&
                           lbc_state_group_for(pass->entry->state, want->groups[i]) == NULL);
    }
    return leaves_out;
}

/* Jobs of an earlier pass still run, or have failed: nothing else is done. */
static int pass_end_jobs(struct lbc_pass *pass, struct ccm_error *err)
{
    return pass->problems.count == 0
               ? 0
               : lbc_pass_fail_all(pass, LBC_PASS_SYNC_FAILED, LBC_PASS_SYNC_WHAT, err);
}

static int pass_sync_and_publish(struct lbc_pass *pass, struct ccm_error *err)
{
    int r = lbc_pass_settle_jobs(pass, err);

    if (r < 0) {
        return pass_end_jobs(pass, err);
    }
    r = pass_sync_lb(pass, err);
    if (r < 0 || pass->unfinished) {
        return r;
    }
    if (pass->refused.problems.count == 0 && lbc_problems_only_wait(&pass->problems)) {
        /* it goes on: nothing is published half done */
        return lbc_pass_fail_all(pass, LBC_PASS_SYNC_FAILED, LBC_PASS_SYNC_WHAT, err);
    }
    if (pass->problems.count == 0 && !pass_leaves_out(pass)) {
        r = pass_publish_readiness(pass, err);
    }
    if (r == 0) {
        r = pass_publish_status(pass, err);
    }
    join_refused(pass);
    if (r < 0) {
        return r;
    }
    if (pass->problems.count == 0) {
        return pass_finish_success(pass, err);
    }
    lbc_health_look(pass);
    return lbc_pass_fail_all(pass, LBC_PASS_SYNC_FAILED, LBC_PASS_SYNC_WHAT, err);
}

static int pass_ensure_lb(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_ops *ops = pass->lbc->ops;
    bool gone = false;
    int r = check_manifest(pass, err);

    if (r == 0) {
        r = pass_add_finalizer(pass, &gone, err);
    }
    if (r < 0 || gone) {
        return r;
    }
    pass->model = calloc(1, ops->model->size);
    r = pass->model == NULL ? ccm_error_nomem(err) : lbc_snapshot_take(pass, err);
    if (r == 0) {
        r = pass_sync_and_publish(pass, err);
    }
    if (pass->model != NULL) {
        lbc_model_fini(pass->model);
    }
    free(pass->model);
    pass->model = NULL;
    lbc_snapshot_drop(pass);
    return r;
}

int lbc_pass_ensure(struct lbc_pass *pass, struct ccm_error *err)
{
    int r = check_size(pass, err);

    r = r < 0 ? r : pass_compare_hash(pass, err);
    if (r == 0) {
        lbc_health_recall(pass);
        lbc_look_begin(pass);
        r = pass_ensure_lb(pass, err);
        pass->entry->completed = pass->entry->completed || !lbc_hash_may_hold(pass->hash_verdict) ||
                                 (r == 0 && !pass->unfinished);
    }
    return r;
}
