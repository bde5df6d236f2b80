/* What people see of a pass that ensures: pods whose readiness waits, labels, status, events, and
 * the condition. */
#include "lbc/names.h"
#include "lbc/pass/ensure.h"

#include "lbc/health.h"
#include "lbc/model/object.h"
#include "lbc/pass/empty_pass.h"
#include "lbc/rules/inside.h"
#include "lbc/service/conditions.h"
#include "lbc/service/marks.h"
#include "lbc/vswitch.h"
#include "util/text.h"

#include <errno.h>

#define POLL_MS     10000 /* then doubling, 32 times as long at most */
#define LEFT_OUT_MS 10000 /* until backends that were left out are added again, at least */

/* Pods whose readiness waits for us; those that are not so far are looked at again, since no change
 * of a slice will announce them. */
static int publish_readiness(struct lbc_pass *pass, struct ccm_error *err)
{
    uint32_t *polls = &pass->entry->pods.polls;
    const int r = lbc_readiness_publish(&pass->readiness, ccm_buf_str(&pass->invalid), err);

    if (r < 0) {
        return lbc_pass_fail_kube(pass, "FailedUpdateReadinessGate",
                                  "Error updating pod readiness gates for service", r, err);
    }
    *polls = pass->readiness.waiting ? *polls + 1 : 0;
    if (pass->readiness.waiting) {
        const uint64_t ms = (uint64_t)POLL_MS << (*polls > 5 ? 5 : *polls - 1);

        pass->again.ms = pass->again.ms > 0 && pass->again.ms < ms ? pass->again.ms : ms;
    }
    return 0;
}

/* The Service has gone or ceased to be ours since the pass began: the next one is due already, so
 * this failure is not reported, and neither is a first conflict. */
static bool publish_is_outdated(const struct lbc_pass *pass)
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
static const char *publish_choose_tags(struct lbc_pass *pass, bool complete,
                                       char ret[static LBC_MARKS_TEXT])
{
    const struct lbc_entry *entry = pass->entry;

    if (lbc_entry_is_reused(entry) || (!complete && !entry->applied.known)) {
        return NULL;
    }
    const int r = lbc_marks_format(pass->service->meta.uid, lbc_pass_desired_tags(pass),
                                   complete ? NULL : &entry->applied.tags, ret);

    return r == 0 || (r == -E2BIG && complete) ? ret : NULL;
}

/* The plugin of another product has not let go of the Service yet: the label may be all that leads
 * it to what it has to take away. Its write shows when that is done. */
static bool publish_leaves_label(const struct lbc_pass *pass)
{
    return lbc_object_has_other_finalizer(&pass->service->meta, lbc_names.finalizers,
                                          pass->life.finalizer);
}

/* Whether all is on again that a release had switched off. Until then no address is shown: from its
 * absence the next process reads what is left to do. */
static bool publish_is_restored(const struct lbc_pass *pass)
{
    const struct lbc_model *model = pass->model;
    const unsigned switches = pass->entry->releasing && !pass->lbc->dry
                                  ? lbc_lb_protections(pass->lbc->ops->model->rules->annotations)
                                  : 0;
    bool restored = true;

    for (unsigned i = 0; switches >> i != 0; i++) {
        restored = restored && ((switches >> i & 1U) == 0 || !lbc_model_is_explicit(model, i) ||
                                ccm_text_equal_case(lbc_state_lb(model->want)->texts[i],
                                                    lbc_pass_lb(pass)->texts[i]));
    }
    return restored;
}

/* What the Service says about its load balancer. False: nothing serves yet, leave alone. What a
 * dry run leaves undone serves once it is done. */
static bool publish_shows_lb(struct lbc_pass *pass, struct lbc_life_state *state)
{
    const bool serves =
        lbc_pass_lb_serves(pass) ||
        (pass->lbc->dry && lbc_pass_lb(pass)->id != NULL && pass->problems.count == 0);

    if (pass->model->mismatch || !serves || !publish_is_restored(pass)) {
        return false;
    }
    lbc_creation_forgive(&pass->entry->creation);
    state->lb_id = publish_leaves_label(pass) ? NULL : lbc_pass_lb(pass)->id;
    state->reused = pass->model->reused ? lbc_pass_lb(pass)->id : "";
    return pass->lbc->ops->status->publish(pass, state);
}

/* Address and id as soon as one port serves; the hash only after a complete success. */
static int publish_status(struct lbc_pass *pass, struct ccm_error *err)
{
    struct lbc_life_state state = {
        .ip_mode = lbc_inside_ip_mode(pass->lbc->ops->model->rules, lbc_pass_view(pass),
                                      pass->lbc->ip_mode),
    };
    char tags[LBC_MARKS_TEXT];
    bool written = false;

    if (pass->kept != NULL) {
        return 0; /* it shows what serves it */
    }
    if (!publish_shows_lb(pass, &state)) {
        if (pass->lbc->dry && pass->problems.count == 0) {
            ccm_buf_addf(pass->life.plan, "set labels and status of the %s\n",
                         lbc_product_served(pass->lbc->ops->product)->noun);
        }
        return 0;
    }
    if (lbc_look_is_unverified(pass)) {
        pass->silence = LBC_SILENCE_UNVERIFIED;
        return 0;
    }
    const bool complete = pass->problems.count == 0 && pass->refused.problems.count == 0;
    char serves[LBC_PASS_SERVES_TEXT];
    const struct lbc_life_condition ready = { .ready = true, .message = serves };

    lbc_pass_format_serves(pass, serves);
    if (complete && pass->invalid.len == 0 && lbc_empty_text(&pass->empty)[0] == '\0' &&
        pass->entry->health.text == NULL && pass->lbc->conditions) {
        state.condition = &ready;
    }
    /* That the label gets another form is no change that a rehearsal has to show. */
    state.hash = complete && !(pass->lbc->dry && pass->hash.verdict == LBC_HASH_FOREIGN)
                     ? pass->hash.text
                     : NULL;
    state.tags = publish_choose_tags(pass, complete, tags);
    if (lbc_pass_needs_mark(pass) && state.extra != NULL && state.extra[0] == '\0') {
        state.extra = NULL; /* the next pass may make it */
    }

    const int r = lbc_life_publish(&pass->life, pass->req, pass->service, &state, &written, err);

    if (r < 0 && err->kind == CCM_ERROR_CONFLICT) {
        lbc_entry_forget_tags(pass->entry); /* they were read from an older label */
    }
    pass->silence = r < 0 ? LBC_SILENCE_MUTE : pass->silence;
    if (r < 0 && (publish_is_outdated(pass) || (err->kind == CCM_ERROR_CONFLICT &&
                                                lbc_failure_is_first(&pass->entry->failure)))) {
        err->kind = CCM_ERROR_CONFLICT;
        return r;
    }
    if (r < 0) {
        return lbc_pass_fail_kube(pass, "FailedUpdateStatus", "Error updating load balancer status",
                                  r, err);
    }
    pass->hashed = written && state.hash != NULL && !lbc_hash_may_hold(pass->hash.verdict);
    return 0;
}

/* An event where something was done, or where a reported failure is over by what was read just
 * now: in this pass, or, where an edit's look is put off, some seconds before. */
static void publish_ensured(struct lbc_pass *pass)
{
    const bool mended = lbc_failure_stands(&pass->entry->failure) &&
                        (pass->fresh || lbc_look_is_put_off(&pass->look));

    lbc_pass_end_failure(pass);
    if (pass->writes > 0 || pass->hashed || mended) {
        lbc_life_event(&pass->life, pass->service, false, "EnsuredLoadBalancer",
                       "Ensured load balancer [%s]", lbc_pass_lb_id(pass));
    }
}

/* Backends that were left out are no failure. */
static void publish_left_out(struct lbc_pass *pass)
{
    const uint64_t ms = pass->left_out.again_ms;
    const uint64_t again_ms = ms < LEFT_OUT_MS ? LEFT_OUT_MS : ms;

    if (ms > 0 && (pass->again.ms == 0 || again_ms < pass->again.ms)) {
        pass->again.ms = again_ms;
    }
}

static int publish_success(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_ops *ops = pass->lbc->ops;
    const int r = lbc_taken_forget(pass, lbc_pass_has_listener, err);

    if (r < 0) {
        return lbc_pass_fail_kube(pass, "FailedUpdateStatus", "Error updating labels", r, err);
    }
    lbc_change_end_restore(&pass->entry->change);
    pass->entry->releasing = false;
    publish_left_out(pass);
    publish_ensured(pass);
    if (lbc_look_is_asked(&pass->look)) {
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
    pass->entry->applied.known = true;
    if (lbc_tags_copy(&pass->entry->applied.tags, lbc_pass_desired_tags(pass)) < 0) {
        return ccm_error_nomem(err);
    }
    return pass->invalid.len > 0
               ? ccm_error_set(err, -EAGAIN, CCM_ERROR_TRANSIENT, "%s", ops->product->invalid_text)
               : 0;
}

/* Whether pods may have been left out because of what cannot be used. */
static bool publish_leaves_out(const struct lbc_pass *pass)
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

int lbc_publish_state(struct lbc_pass *pass, struct ccm_error *err)
{
    int r = 0;

    if (pass->problems.count == 0 && !publish_leaves_out(pass)) {
        r = publish_readiness(pass, err);
    }
    r = r < 0 ? r : publish_status(pass, err);
    lbc_pass_join_refused(pass);
    return r;
}

int lbc_publish_verdict(struct lbc_pass *pass, struct ccm_error *err)
{
    if (pass->problems.count == 0) {
        return publish_success(pass, err);
    }
    lbc_health_look(pass);
    return lbc_pass_fail_all(pass, err);
}

/* --- the condition --- */

/* A Service that was complete before we looked, and has no condition yet, gets one with its next
 * change or audit, so that a new controller writes nothing to those that are complete. */
static bool condition_keeps_quiet(const struct lbc_pass *pass)
{
    const struct ccm_service *service = pass->service;
    const struct lbc_life_memory *memory = pass->life.memory;

    if (lbc_empty_text(&pass->empty)[0] != '\0' || pass->entry->health.text != NULL ||
        lbc_condition_find_ours(service) != NULL || (memory != NULL && memory->spoke)) {
        return false;
    }
    return lbc_hash_may_hold(pass->hash.verdict) && pass->writes == 0 && !pass->hashed &&
           !pass->audit;
}

/* How it went, as a condition. A failure to say so is a failure of a pass that went well. */
int lbc_publish_condition(struct lbc_pass *pass, int r, struct ccm_error *err)
{
    struct ccm_error own = CCM_ERROR_INIT;
    char retry[CCM_RETRY_TEXT] = "";
    char serves[LBC_PASS_SERVES_TEXT];
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf cause = { .max = CCM_ERROR_MESSAGE_MAX };
    struct lbc_life_condition condition = {
        .ready = r == 0,
        .kind = err->kind,
        .message = ccm_buf_str(&pass->problems.cause),
        .request_id = err->request_id,
        .retry = retry,
    };

    /* An audit that fails says nothing about the Service; the next pass does. */
    if (r < 0 && (err->kind == CCM_ERROR_CANCELLED || pass->audit ||
                  pass->silence == LBC_SILENCE_MUTE || lbc_problems_only_wait(&pass->problems))) {
        return r;
    }
    if (r == 0 && (pass->unfinished || pass->silence == LBC_SILENCE_UNVERIFIED ||
                   condition_keeps_quiet(pass))) {
        return 0; /* neither ready nor failed, or nothing is new */
    }
    lbc_pass_format_retry(pass, err, retry);
    if (pass->problems.count == 0) {
        ccm_buf_add(&cause, err->message, ccm_error_cause_len(err));
        condition.message = ccm_buf_str(&cause);
    }
    if (r == 0 && lbc_empty_text(&pass->empty)[0] != '\0') {
        condition.ready = false;
        condition.reason = LBC_CONDITION_NO_BACKEND;
        condition.message = lbc_empty_text(&pass->empty);
        condition.retry = NULL;
    } else if (r == 0 && pass->entry->health.text != NULL) {
        condition.ready = false;
        condition.reason = LBC_CONDITION_UNHEALTHY;
        condition.message = pass->entry->health.text;
        condition.retry = NULL;
    } else if (r == 0) {
        lbc_pass_format_serves(pass, serves);
        condition.message = serves;
    }
    const int w = lbc_life_publish_condition(&pass->life, pass->req, pass->service,
                                             pass->lbc->conditions ? &condition : NULL, &own);

    lbc_failure_note_unsaid(pass, r < 0 ? w : 0, &own);
    if (w == 0 || r < 0) {
        return r; /* what failed first is what counts */
    }
    ccm_error_copy(err, &own);
    return lbc_pass_fail_kube(pass, "FailedUpdateStatus", "Error updating load balancer status", w,
                              err);
}
