/* A pass that releases: whose the load balancer is by now, its way out of the cloud, and what is
 * taken away from the Service then. */
#include "lbc/names.h"
#include "lbc/pass.h"

#include "lbc/health.h"

#include "lbc/freeze_pass.h"
#include "lbc/lookup.h"
#include "lbc/model/class.h"
#include "lbc/model/object.h"
#include "lbc/model/settings.h"
#include "lbc/pass/empty_pass.h"
#include "lbc/quota.h"
#include "lbc/reuse.h"
#include "lbc/service/conditions.h"
#include "lbc/vswitch.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NEXT_MS 1000 /* to the next load balancer, when there are several */

/* It is not the Service's (err says whose it is): it stays as it is, and nothing is left for the
 * Service to wait for. */
static void release_leave_alone(struct lbc_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = CCM_ERROR_MESSAGE_MAX + 256 };

    ccm_buf_addf(&text,
                 "Nothing was deleted: %s. If it serves nobody any more, switch its deletion "
                 "protection off and delete it in the console",
                 err->message);
    lbc_life_event(&pass->life, pass->service, true, "LoadBalancerLeftAlone", "%s",
                   ccm_buf_str(&text));
    ccm_error_clear(err);
    pass->entry->release.left_alone = true;
    lbc_entry_drop(pass->entry);
    pass->entry->valid = true; /* nothing of the Service's is there */
}

/* --- whose it is by now, not whose it was when we looked last --- */

/* One that is gone is an answer as well. */
static int release_read_lb(struct lbc_pass *pass, const char *id, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *copy = strdup(id); /* it may be that of the mirror */
    int r = copy == NULL ? ccm_error_nomem(err)
                         : pass->lbc->ops->read->lb(pass, copy, pass->entry->state, err);

    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        ccm_error_clear(err);
        r = 0;
    }
    return r;
}

/* The one that is known by its id goes first, whether or not a tag leads to it; what a tag leads to
 * has its turn afterwards. looked: what the look by tag came to, 0 or LBC_LOOKUP_NOT_OURS. */
static int release_find_known(struct lbc_pass *pass, const char *known, int looked,
                              struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    const char *other = looked < 0 ? NULL : lbc_pass_lb(pass)->id;
    CCM_CLEANUP(ccm_freep) char *found = other == NULL ? NULL : strdup(other);
    struct ccm_error by_id = CCM_ERROR_INIT;

    if (other != NULL && found == NULL) {
        return ccm_error_nomem(err);
    }
    lbc_lb_fini(lbc_pass_lb(pass), pass->lbc->ops->mirror);

    const int r = release_read_lb(pass, known, &by_id);

    if (r < 0) {
        ccm_error_copy(err, &by_id);
        return r;
    }
    if (lbc_pass_lb(pass)->id != NULL && lbc_pass_check_own(pass, &by_id) == 0) {
        ccm_error_clear(err);
        pass->release.several = (found != NULL || looked < 0) && !pass->model->preserve;
        return 0;
    }
    if (found == NULL) {
        return looked; /* its owner is checked by the caller */
    }
    lbc_state_fini(entry->state, pass->lbc->ops->mirror);
    return release_read_lb(pass, found, err);
}

/* By its tag, as whatever carries that is to go; the rest of a mirror that is believed stays. */
static int release_find_tagged(struct lbc_pass *pass, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;

    if (entry->valid && !entry->release.several) {
        lbc_lb_fini(lbc_pass_lb(pass), pass->lbc->ops->mirror);
    } else {
        lbc_entry_put_aside(entry);
    }
    return pass->lbc->ops->read->lb(pass, NULL, entry->state, err);
}

/* The id of the Service's own load balancer, as far as one is known; "" = none. */
static const char *release_known_id(const struct lbc_pass *pass)
{
    const char *label = ccm_object_label(&pass->service->meta, lbc_names.lb_label);
    const char *known = lbc_entry_known_id(pass->entry);

    known = known == NULL ? label : known;
    return ccm_text_empty(known) || ccm_text_equal(known, lbc_reused_id(pass->lbc, pass->service))
               ? ""
               : known;
}

/* That of the Service itself, by its tag. A list by tags may be late, and a tag may be lost, so one
 * whose id is known is also read by that. A failure leaves the id that was known. */
static int release_find_own(struct lbc_pass *pass, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    CCM_CLEANUP(ccm_freep) char *known = strdup(release_known_id(pass));
    const bool is_none = entry->valid && lbc_pass_lb(pass)->id == NULL && !entry->release.several;
    int r = 0;

    if (known == NULL) {
        return ccm_error_nomem(err);
    }
    if (!is_none) {
        r = release_find_tagged(pass, err);
    }
    if (known[0] != '\0' &&
        (r == LBC_LOOKUP_NOT_OURS || (r == 0 && !ccm_text_equal(known, lbc_pass_lb(pass)->id)))) {
        r = release_find_known(pass, known, r, err);
    }
    if (r == 0 && (lbc_pass_lb(pass)->id != NULL || (known[0] != '\0' && !entry->creation.sent))) {
        lbc_creation_found(&entry->creation); /* or its id says that it is gone */
    }
    entry->valid = r == 0;
    if (r < 0 && r != LBC_LOOKUP_NOT_OURS && known[0] != '\0' &&
        lbc_text_set(&lbc_pass_lb(pass)->id, known) < 0) {
        return ccm_error_nomem(err);
    }
    return r < 0 ? r : lbc_pass_check_own(pass, err);
}

static bool release_has_own_listener(const struct lbc_pass *pass)
{
    const struct lbc_state *have = pass->entry->state;
    enum lbc_owner owner = LBC_OWNER_NONE;

    for (size_t i = 0; i < have->listener_count; i++) {
        if (lbc_pass_owner_of(pass, have->listeners[i]->description, true, &owner) < 0 ||
            owner == LBC_OWNER_OURS) {
            return true;
        }
    }
    return false;
}

/* Somebody else's. Listeners are known by their descriptions, whatever the annotations say by now:
 * those are read again before any is deleted. */
static int release_find_reused(struct lbc_pass *pass, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;

    if (!entry->valid) {
        lbc_entry_put_aside(entry);
        return release_read_lb(pass, lbc_entry_acquired_id(entry), err);
    }
    if (release_has_own_listener(pass)) {
        lbc_state_forget_listeners(entry->state);
    }
    return 0;
}

/* --- the way out --- */

static int clean_fail_status(struct lbc_pass *pass, int r, struct ccm_error *err)
{
    return lbc_pass_fail_kube(pass, "FailedUpdateStatus",
                              "Error removing load balancer status and labels", r, err);
}

/* Whether a crash loses nothing without the label: the load balancer is found by its owner's tag,
 * and the label leads to no other one. */
static bool release_can_withdraw(const struct lbc_pass *pass, const struct lbc_tags *tags)
{
    const char *id = lbc_pass_lb(pass)->id;
    const char *label = ccm_object_label(&pass->service->meta, lbc_names.lb_label);

    return !pass->lbc->dry && id != NULL && lbc_tags_get(tags, lbc_names.tag_owner) != NULL &&
           (ccm_text_empty(label) || ccm_text_equal(label, id));
}

/* What the Service says of its load balancer's id as long as it has its finalizer: of several with
 * its tag that label shows which one was its own, also to the next process. */
static const char *release_shown_id(const struct lbc_pass *pass)
{
    return pass->entry->release.several ? NULL : "";
}

/*
 * The load balancer of the Service, which has these tags, is about to go: nobody is shown its
 * address, id and hash any longer. Only when its owner's tag leads to it without the label; the
 * finalizer, the plugin's own label and that of additional tags stay until the end. It comes before
 * all else: a later process that keeps the load balancer after all reads from it that protections
 * were switched off. So nothing is switched off unless it was written, or the Service is deleted
 * and cannot come back. Blocks.
 */
static int release_withdraw(struct lbc_pass *pass, const struct lbc_tags *tags,
                            struct ccm_error *err)
{
    const struct lbc_life_state shown = {
        .hash = "",
        .lb_id = release_shown_id(pass),
        .ip = "",
        /* It leads to what has no tag, and goes after that. */
        .extra = lbc_pass_is_marked(pass) ? NULL : "",
    };
    bool written = false;
    int r = 0;

    pass->entry->releasing = !pass->lbc->dry && !pass->model->reused;
    if (pass->entry->releasing && release_can_withdraw(pass, tags)) {
        r = lbc_life_publish(&pass->life, pass->req, pass->service, &shown, &written, err);
    }
    /* The patch names no version, so a conflict says that another Service has the name by now. */
    if (r < 0 && (pass->service->meta.deleted_ms != 0 || err->kind == CCM_ERROR_CONFLICT)) {
        ccm_error_clear(err); /* it is tried again at the end, and reported then */
        return 0;
    }
    return r;
}

static int release_plan_and_apply(struct lbc_pass *pass, bool fresh, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { 0 };
    const struct lbc_plan_input in = lbc_pass_plan_input(pass, fresh);
    int r;

    if (lbc_plan_release(&plan, pass->lbc->ops->change->rules, &in) < 0) {
        return ccm_error_nomem(err);
    }
    r = lbc_pass_run_plan(pass, &plan, &in, LBC_PRIO_REMOVE, err);
    pass->unfinished = pass->unfinished || plan.waiting.len > 0;
    return r;
}

/* What has to go before its load balancer has to be known. */
static int release_check_parts(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_ops *ops = pass->lbc->ops;
    const unsigned empties = ops->change->rules->empties;
    const struct lbc_state *have = pass->entry->state;

    return lbc_pass_lb(pass)->id == NULL || empties == 0 ||
                   (((empties & LBC_EMPTIES_LISTENERS) == 0 || have->listeners_known) &&
                    ((empties & LBC_EMPTIES_GROUPS) == 0 || have->groups_known))
               ? 0
               : ccm_error_set(err, -EINVAL, CCM_ERROR_BUG,
                               "its listeners or groups are not known: release() of struct "
                               "lbc_read_ops has to read what `empties` names");
}

/* That none was found proves nothing so soon after a creation. */
static bool release_awaits_created(struct lbc_pass *pass)
{
    uint64_t wait_ms = 0;
    const bool awaits = !pass->model->reused && lbc_pass_lb(pass)->id == NULL &&
                        lbc_pass_judge_creation(pass, &wait_ms) == LBC_CREATION_LATER;

    if (awaits) {
        lbc_pass_await_created(pass, wait_ms);
    }
    return awaits;
}

static int release_found(struct lbc_pass *pass, bool fresh, struct ccm_error *err)
{
    const struct lbc_ops *ops = pass->lbc->ops;
    struct lbc_entry *entry = pass->entry;
    int r = 0;

    pass->release.insists = lbc_pass_check_ready(pass, err) < 0;
    if (pass->release.insists) {
        ccm_error_clear(err); /* it can go all the same */
    }
    if (pass->unfinished || release_awaits_created(pass)) {
        return 0;
    }
    r = ops->read->release == NULL ? release_check_parts(pass, err) : ops->read->release(pass, err);
    entry->valid = r == 0;
    if (r < 0) {
        return lbc_pass_fail(pass, r, err);
    }
    pass->model->as_it_is = !lbc_reuse_may_configure(pass, &lbc_pass_lb(pass)->tags);
    r = release_withdraw(pass, &lbc_pass_lb(pass)->tags, err);
    if (r < 0) {
        return clean_fail_status(pass, r, err);
    }
    r = release_plan_and_apply(pass, fresh, err);
    if (r < 0) {
        return lbc_pass_fail(pass, r, err);
    }
    if (pass->problems.count > 0) {
        return lbc_pass_fail_all(pass, err);
    }
    if (!pass->unfinished && !pass->model->reused) {
        lbc_entry_drop(entry);
        entry->valid = true;
    }
    return 0;
}

/* What was looked for, or why it is not found. */
static int release_looked_up(struct lbc_pass *pass, int r, bool fresh, struct ccm_error *err)
{
    if (r == LBC_LOOKUP_NOT_OURS) {
        release_leave_alone(pass, err);
        return 0;
    }
    return r < 0 ? lbc_pass_fail(pass, r, err) : release_found(pass, fresh, err);
}

static int release_one(struct lbc_pass *pass, struct ccm_error *err)
{
    const bool fresh = !pass->entry->valid;
    int r;

    pass->model->reused = lbc_entry_is_reused(pass->entry);
    r = pass->model->reused ? release_find_reused(pass, err) : release_find_own(pass, err);
    if (r == 0 && pass->model->reused &&
        lbc_owner_of_tags(&lbc_pass_lb(pass)->tags, &pass->service->meta,
                          lbc_cluster_id(pass->lbc)) == LBC_OWNER_OURS) {
        pass->model->reused = false; /* annotation id names what was made for the Service */
        r = release_find_own(pass, err);
    }
    return release_looked_up(pass, r, fresh, err);
}

/* --- the label names a load balancer that no annotation names any more --- */

/* Somebody else's, by its tag, or by the label of reuse where no tag of an owner says otherwise. */
static bool release_is_reused(const struct lbc_pass *pass)
{
    const struct lbc_tags *tags = &lbc_pass_lb(pass)->tags;
    const struct ccm_service *service = pass->service;

    return lbc_tags_get(tags, lbc_names.tag_reuse) != NULL ||
           (ccm_text_equal(lbc_life_reused_id(&pass->life, service),
                           lbc_entry_acquired_id(pass->entry)) &&
            lbc_owner_of_tags(tags, &service->meta, lbc_cluster_id(pass->lbc)) == LBC_OWNER_NONE);
}

/* No tag led to it. Either it is one that was reused until the annotation went: our part of it
 * goes, whatever the annotations say now. Or it was our own and has lost its tag:
 * LBC_LOOKUP_NOT_OURS. */
static int release_find_labelled(struct lbc_pass *pass, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    int r;

    lbc_entry_put_aside(entry);
    r = release_read_lb(pass, lbc_entry_acquired_id(entry), err);
    entry->valid = r == 0;
    pass->model->reused = r == 0 && release_is_reused(pass);
    return r < 0 || pass->model->reused ? r : lbc_pass_check_own(pass, err);
}

static int release_labelled(struct lbc_pass *pass, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    int r;

    /* One of its own goes first. */
    lbc_entry_put_aside(entry);
    r = pass->lbc->ops->read->lb(pass, NULL, entry->state, err);
    if (r == LBC_LOOKUP_NOT_OURS) {
        r = release_find_known(pass, lbc_entry_acquired_id(entry), r, err);
    }
    entry->valid = r == 0;
    if (r < 0 || lbc_pass_lb(pass)->id != NULL) {
        const bool same =
            r == 0 && ccm_text_equal(lbc_pass_lb(pass)->id, lbc_entry_acquired_id(entry));

        pass->model->reused = false;
        r = release_looked_up(pass, r < 0 ? r : lbc_pass_check_own(pass, err), false, err);
        if (r < 0 || same || entry->release.left_alone) {
            return r;
        }
    }
    return release_looked_up(pass, release_find_labelled(pass, err), false, err);
}

/* With the model that it needs, which stays. */
static int release_by(struct lbc_pass *pass, int (*release)(struct lbc_pass *, struct ccm_error *),
                      struct ccm_error *err)
{
    const struct lbc_ops *ops = pass->lbc->ops;
    const struct lbc_model_input in = lbc_pass_model_input(pass);

    pass->model = calloc(1, ops->model->size);
    if (pass->model == NULL || lbc_model_build_lb(pass->model, ops->model, &in) < 0) {
        return lbc_pass_fail(pass, ccm_error_nomem(err), err);
    }
    const int r = lbc_pass_settle_jobs(pass, err);

    return r < 0 || pass->unfinished ? r : release(pass, err);
}

/* Take everything that is ours out of the cloud, or let go of it (lbc_entry_is_reused(entry) says
 * whose load balancer it is). Whose a load balancer of its own is by now is read before: another's
 * is left alone. Blocks. 0: nothing is left, or pass->unfinished. Negative: it was reported. */
static int release_lb(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_ops *ops = pass->lbc->ops;
    const char *id = lbc_entry_acquired_id(pass->entry);
    const bool named = id[0] == '\0' || ccm_text_equal(id, lbc_reused_id(pass->lbc, pass->service));
    int r = release_by(pass, named ? release_one : release_labelled, err);

    if (r == 0 && pass->release.several && !pass->lbc->dry) {
        lbc_entry_drop(pass->entry);
        pass->unfinished = true; /* the next one */
        pass->again.ms = NEXT_MS;
    }
    if (r == 0 && !pass->unfinished && !pass->entry->release.left_alone &&
        ops->change->release_rest != NULL) {
        r = ops->change->release_rest(pass, err);
        r = r < 0 ? lbc_pass_fail(pass, r, err) : 0;
    }
    lbc_pass_drop_model(pass);
    return r;
}

/* Whether the Service is still without need of what the cloud has; else pass->unfinished. A deleted
 * one never comes back. */
static int release_confirm(struct lbc_pass *pass, struct ccm_error *err)
{
    int r = 0;

    if (pass->lbc->dry || pass->service->meta.deleted_ms != 0 ||
        pass->lbc->ops->product->served != NULL) { /* no Service */
        return 0;
    }
    r = lbc_life_confirm_release(&pass->life, pass->req, pass->service, err);
    if (r < 0 && err->kind == CCM_ERROR_CONFLICT) {
        ccm_error_clear(err);
        pass->unfinished = true; /* until the caches show it */
        pass->again.ms = NEXT_MS;
        return 0;
    }
    return r < 0 ? lbc_pass_fail_kube(pass, "CleanLoadBalancerFailed",
                                      "Error confirming that the service needs no load balancer", r,
                                      err)
                 : 0;
}

/* --- the Service --- */

static bool release_has_no_listener(const struct lbc_pass *pass, const char *port)
{
    (void)pass;
    (void)port;
    return false;
}

static int clean_status(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_life_state nothing = {
        .hash = "", .lb_id = release_shown_id(pass), .ip = "", .extra = "", .tags = "", .reused = ""
    };
    const struct lbc_life *life = &pass->life;
    bool written = false;
    int r = lbc_life_publish(life, pass->req, pass->service, &nothing, &written, err);

    if (r < 0 || pass->service->meta.deleted_ms != 0) {
        return r; /* of a deleted Service the condition goes with it */
    }
    r = lbc_taken_forget(pass, release_has_no_listener, err);
    return r < 0 ? r : lbc_life_publish_condition(life, pass->req, pass->service, NULL, err);
}

/* What release_shown_id() has kept. */
static int clean_id(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_life_state nothing = { .lb_id = "" };
    bool written = false;

    return !pass->entry->release.several || pass->service->meta.deleted_ms != 0
               ? 0
               : lbc_life_publish(&pass->life, pass->req, pass->service, &nothing, &written, err);
}

static int clean_fail_finalizer(struct lbc_pass *pass, int r, struct ccm_error *err)
{
    return lbc_pass_fail_kube(pass, "FailedRemoveFinalizer",
                              "Error removing load balancer finalizer", r, err);
}

/* The Service is another one than this pass went by, so it may have a load balancer after all: the
 * next pass looks again. That this process put the finalizer on is not proven either. A first
 * conflict is no news. */
static bool clean_is_first_conflict(struct lbc_pass *pass, const struct ccm_error *err)
{
    if (err->kind != CCM_ERROR_CONFLICT) {
        return false;
    }
    lbc_entry_drop(pass->entry);
    lbc_release_reopen(&pass->entry->release);
    pass->entry->creation.bound_here = false;
    return lbc_failure_is_first(&pass->entry->failure);
}

static int clean_service(struct lbc_pass *pass, struct ccm_error *err)
{
    int r = clean_status(pass, err);

    if (r < 0) {
        return clean_is_first_conflict(pass, err) ? r : clean_fail_status(pass, r, err);
    }
    r = lbc_life_set_finalizer(&pass->life, pass->req, pass->service, false, err);
    if (r < 0) {
        return clean_is_first_conflict(pass, err) ? r : clean_fail_finalizer(pass, r, err);
    }
    r = clean_id(pass, err);
    return r < 0 ? clean_fail_status(pass, r, err) : 0;
}

/* It was refused before anything was created for it, and asks for nothing any more: events and
 * condition end, also those of an earlier process. A Service that can have a load balancer may have
 * the condition of another product by now. */
static int release_end_words(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct ccm_service *service = pass->service;
    const struct lbc_life_memory *memory = pass->life.memory;
    const bool wrote = memory != NULL && memory->spoke;
    const bool says = lbc_class_needs_delete(service)
                          ? wrote || lbc_pass_has_old_condition(pass->lbc, service)
                          : wrote && lbc_class_is_elsewhere(service);

    lbc_pass_end_standing(pass);
    if (!says || service->meta.deleted_ms != 0) {
        return 0;
    }
    return lbc_life_publish_condition(&pass->life, pass->req, service, NULL, err);
}

/* Nothing that this process or an earlier one created for it is left in the cloud. */
static void release_forget_own(struct lbc_entry *entry)
{
    entry->used = false;
    entry->releasing = false;
    lbc_creation_start_over(&entry->creation);
}

void lbc_release_forget(struct lbc_instance *lbc, const char *key)
{
    lbc_progress_forget(lbc, key);
    lbc_quota_forget(lbc, key);
    lbc_vswitch_forget(lbc, key);
    lbc_freeze_forget(lbc, key);
    lbc_empty_forget(lbc, key);
    lbc_lost_forget(lbc, key);
}

int lbc_pass_release(struct lbc_pass *pass, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    struct lbc_release_memory *release = &entry->release;
    int r;

    /* Without finalizer it was never ours, unless the snapshot is older than our own patch, or a
     * label is left to take away. */
    if (!lbc_object_has_finalizer(&pass->service->meta, pass->life.finalizer) && !entry->used &&
        release->stage != LBC_RELEASE_GONE) {
        return release_end_words(pass, err);
    }
    if (release->stage == LBC_RELEASE_NONE) {
        release->left_alone = false;
        r = release_confirm(pass, err);
        r = r < 0 || pass->unfinished ? r : release_lb(pass, err);
        if (r < 0 || pass->unfinished) {
            return r;
        }
        release->stage = LBC_RELEASE_GONE;
        lbc_change_forget_lb(&entry->change);
        lbc_freeze_end_memory(&entry->freeze);
        release_forget_own(entry);
        lbc_release_forget(pass->lbc, entry->key);
        lbc_health_forget(entry);
    }
    r = clean_service(pass, err);
    if (r == 0 && !pass->lbc->dry) {
        lbc_pass_end_standing(pass);
        pass->hashed = release->stage != LBC_RELEASE_CLEANED;
        release->stage = LBC_RELEASE_CLEANED;
        if (pass->hashed && !release->left_alone) {
            lbc_life_event(&pass->life, pass->service, false, "CleanLoadBalancer",
                           "Clean load balancer");
        }
    }
    return r;
}

/* --- a Service that moves to another load balancer before it was served --- */

/* What is gone, or the Service's own whatever the label says, is nothing to go away from. */
static int release_left(struct lbc_pass *pass, struct ccm_error *err)
{
    const int r = release_find_labelled(pass, err);

    if (r == 0 && !pass->model->reused) {
        lbc_entry_drop(pass->entry);
        return 0;
    }
    return release_looked_up(pass, r, false, err);
}

static int release_check_asked(struct lbc_pass *pass, struct ccm_error *err)
{
    int r = lbc_reuse_check_option(pass, err);

    r = r < 0 ? r : lbc_reuse_check_asked(pass, lbc_reused_id(pass->lbc, pass->service), err);
    return r < 0 ? lbc_pass_fail_as(pass, "SyncLoadBalancerFailed", "Error syncing load balancer",
                                    r, err)
                 : 0;
}

/* Its own is deleted only if the one that annotation id names can be used. */
static int release_leave_own(struct lbc_pass *pass, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    int r = 0;

    if (!lbc_pass_is_unwanted(pass->lbc, pass->service)) {
        r = release_by(pass, release_check_asked, err);
        lbc_pass_drop_model(pass);
    }
    r = r < 0 || pass->unfinished ? r : release_confirm(pass, err);
    r = r < 0 || pass->unfinished ? r : release_lb(pass, err);
    if (r == 0 && !pass->unfinished) {
        release_forget_own(entry);
        lbc_entry_drop(entry);
        pass->unfinished = true;
        pass->again.ms = NEXT_MS;
    }
    entry->release.left_alone = false;
    return r;
}

int lbc_pass_leave(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_life_state nothing = { .reused = "" };
    bool written = false;

    if (lbc_entry_acquired_id(pass->entry)[0] == '\0') {
        return release_leave_own(pass, err);
    }
    int r = release_by(pass, release_left, err);

    lbc_pass_drop_model(pass);
    pass->entry->release.left_alone = false;
    if (r < 0 || pass->unfinished) {
        return r;
    }
    r = lbc_life_publish(&pass->life, pass->req, pass->service, &nothing, &written, err);
    if (r < 0) {
        return clean_fail_status(pass, r, err);
    }
    pass->unfinished = true; /* with the one that it wants */
    pass->again.ms = LBC_PASS_AGAIN_MS;
    return 0;
}
