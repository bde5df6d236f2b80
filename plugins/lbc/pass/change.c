/*
 * The way of a pass from what is there to what is desired (struct lbc_change_ops): the plan, its
 * run, and what comes of it for the entry.
 */
#include "lbc/names.h"
#include "lbc/pass/ensure.h"

#include "lbc/health.h"
#include "lbc/model/settings.h"
#include "lbc/reuse.h"
#include "lbc/service/marks.h"
#include "util/text.h"

#include <errno.h>

#define OLDER_MS            300000
#define INVALIDATE_PAUSE_MS 300000 /* between two looks because of the same refusal */
#define UNFINISHED_MS       1000   /* until what is still being made is looked at again */
#define REMOVING_MS         3000   /* until a backend that is being removed is looked at again */
#define CHANGING_MS         5000   /* until a listener that the cloud is changing is read again */
#define CHANGING_TURNS      6      /* doublings */

/* --- what a plan is made from --- */

struct lbc_plan_input lbc_pass_plan_input(const struct lbc_pass *pass, bool fresh)
{
    return (struct lbc_plan_input){
        .model = pass->model,
        .have = pass->entry->state,
        .noun = lbc_product_served(pass->lbc->ops->product)->noun,
        .service = pass->service,
        .cluster_id = lbc_cluster_id(pass->lbc),
        .now_ms = pass->lbc->host->now_ms(pass->lbc->host),
        .batch = atomic_load(&pass->lbc->batch),
        .fresh = fresh,
        .last_user = lbc_release_is_last_user(&pass->release),
        .restores = lbc_taken_restores(pass->lbc),
        .cannot_restore = pass->entry->change.unrestored >= LBC_TAKEN_TRIES,
    };
}

/* Tags that earlier processes have put on, as far as the Service shows. */
static int change_recall_tags(struct lbc_pass *pass, const struct lbc_tags *present)
{
    CCM_CLEANUP(lbc_life_now_fini)
    struct lbc_life_now now = lbc_life_see(&pass->life, pass->service);
    const struct ccm_object *meta = &now.service->meta;
    const char *marks = lbc_life_read_tags(&pass->life, now.service);
    struct lbc_entry *entry = pass->entry;
    const bool same = pass->hash.verdict == LBC_HASH_SAME;
    int r = same ? lbc_tags_copy(&entry->applied.tags, lbc_pass_desired_tags(pass)) : 0;

    for (size_t i = 0; r == 0 && i < present->len; i++) {
        const struct lbc_tag *tag = &present->items[i];

        if (!lbc_setting_is_reserved_tag(tag->key, true) && lbc_marks_has(marks, meta->uid, tag)) {
            r = lbc_tags_put(&entry->applied.tags, tag->key, tag->value);
        }
    }
    entry->applied.known = r == 0 && (same || marks != NULL);
    return r;
}

/* The Service says something else by now than what is remembered was made from. */
static bool change_tags_are_old(const struct lbc_pass *pass)
{
    CCM_CLEANUP(lbc_life_now_fini)
    struct lbc_life_now now = lbc_life_see(&pass->life, pass->service);

    return lbc_life_has_other_tags(&pass->life, now.service);
}

const struct lbc_tags *lbc_pass_applied_tags(struct lbc_pass *pass, const struct lbc_tags *present)
{
    struct lbc_entry *entry = pass->entry;

    if (lbc_refusals_has(&pass->refused, "additional-resource-tags")) {
        return NULL; /* what is wanted is not known, so nothing is taken off */
    }
    if (change_tags_are_old(pass)) {
        lbc_entry_forget_tags(entry);
    }
    if (!entry->applied.known && !lbc_entry_is_reused(entry) &&
        change_recall_tags(pass, present) < 0) {
        return NULL; /* out of memory: not known */
    }
    return entry->applied.known ? &entry->applied.tags : NULL;
}

/* After the writes: the desired tags that are present now are ours. */
static int change_record_tags(struct lbc_pass *pass, bool is_made)
{
    const struct lbc_tags *present = &lbc_pass_lb(pass)->tags;
    const struct lbc_tags *wanted = lbc_pass_desired_tags(pass);
    struct lbc_entry *entry = pass->entry;
    int r = 0;

    entry->applied.known = entry->applied.known || pass->model->reused || is_made;
    for (size_t i = 0; r == 0 && i < wanted->len; i++) {
        const struct lbc_tag *tag = &wanted->items[i];

        if (ccm_text_equal(lbc_tags_get(present, tag->key), tag->value)) {
            r = lbc_tags_put(&entry->applied.tags, tag->key, tag->value);
        }
    }
    return r;
}

/* --- a run --- */

/* What the clocks of others say is not believed to the second. */
static bool change_is_older(const struct lbc_pass *pass)
{
    const int64_t created_ms = pass->service->meta.created_ms;

    return created_ms > 0 && created_ms + OLDER_MS <= pass->lbc->started_ms;
}

struct lbc_apply lbc_pass_begin_apply(struct lbc_pass *pass, bool fresh)
{
    return (struct lbc_apply){
        .ops = pass->lbc->ops->change->steps,
        .cloud = &pass->lbc->cloud,
        .host = pass->lbc->host,
        .req = pass->req,
        .service = pass->service,
        .annotations = pass->lbc->ops->model->rules->annotations,
        .model = pass->releases ? NULL : pass->model,
        .pending = &pass->entry->pending,
        .batch = &pass->lbc->batch,
        .small_batch = pass->lbc->ops->change->rules->create_batch,
        .counts_problems = lbc_has_trait(pass->lbc, LBC_COUNTS_PROBLEMS),
        .have = pass->entry->state,
        .problems = &pass->problems,
        .attempt = &pass->entry->creation.attempt,
        .unknown = pass->lbc->unknown,
        .left_out = &pass->left_out,
        .sifting = &pass->entry->change.sifting,
        .underway = &pass->entry->underway,
        .token_may_be_used = change_is_older(pass),
        .hides_conflict = !pass->entry->change.conflicted,
        .insists = lbc_release_insists(&pass->release),
        .forgives_lb = pass->releases &&
                       (lbc_has_trait(pass->lbc, LBC_FORGIVES_REUSED) || !pass->model->reused),
        .fresh = fresh,
    };
}

/* What a creation comes to. A ClientToken that the cloud knows from another request is one that was
 * used up, unless that request may have made what is there now: then it is looked for, by name as
 * well, before another token is taken. */
static void change_judge_creation(struct lbc_pass *pass, const struct lbc_apply *apply)
{
    struct lbc_entry *entry = pass->entry;
    const int64_t now = pass->lbc->host->now_ms(pass->lbc->host);
    const bool once = lbc_has_trait(pass->lbc, LBC_CREATES_ONCE);

    /* Where a token stands for one creation, the answer with what is gone is that of an old one. */
    if (apply->asked_lb && !(apply->lb_gone && once)) {
        lbc_creation_record(&entry->creation, apply->made_lb, once, now);
    }
    if (apply->token_taken) {
        lbc_creation_end_token(&entry->creation, now);
    }
}

void lbc_pass_end_apply(struct lbc_pass *pass, const struct lbc_apply *apply)
{
    struct lbc_entry *entry = pass->entry;

    change_judge_creation(pass, apply);

    pass->writes += apply->writes;
    if (apply->freed) {
        lbc_entry_set_freed(entry);
    }
    entry->change.conflicted = entry->change.conflicted || apply->conflicted;
    if (apply->lost) {
        entry->change.lost_ms = pass->lbc->host->now_ms(pass->lbc->host);
        lbc_look_again_later(pass);
    }
    entry->change.unrestored += apply->cannot_restore ? 1 : 0;
    entry->valid = entry->valid && !apply->surprised;
    if (apply->lb_gone) {
        lbc_entry_drop(entry);
    }
    if (apply->again_ms > 0 && pass->problems.count == 0) {
        pass->unfinished = true;
        pass->again.ms = apply->again_ms;
    }
}

int lbc_pass_check_ready(struct lbc_pass *pass, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    const int64_t now = pass->lbc->host->now_ms(pass->lbc->host);
    uint64_t again_ms = 0;
    const enum lbc_lb_ready ready =
        lbc_apply_lb_ready(pass->lbc->ops->change->steps, entry->state, &again_ms, err);

    if (ready == LBC_LB_READY) {
        entry->change.making_ms = 0;
        return 0;
    }
    entry->valid = false;
    if (ready == LBC_LB_BROKEN) {
        return -EIO;
    }
    entry->change.making_ms = entry->change.making_ms == 0 ? now : entry->change.making_ms;
    if (now - entry->change.making_ms >= LBC_LB_MAKING_MS) {
        return ccm_error_set(err, -ETIMEDOUT, CCM_ERROR_TRANSIENT,
                             "load balancer %s has not become ready for %d minutes: check it in "
                             "the console of the cloud",
                             lbc_pass_lb_id(pass), LBC_LB_MAKING_MS / 60000);
    }
    pass->unfinished = true;
    pass->again.ms = again_ms;
    return 0;
}

void lbc_pass_invalidate_mirror(struct lbc_pass *pass)
{
    struct lbc_entry *entry = pass->entry;
    const int64_t now = pass->lbc->host->now_ms(pass->lbc->host);
    const uint64_t refusal = ccm_text_hash(ccm_buf_str(&pass->problems.cause));

    if (refusal != entry->change.refusal || now - entry->change.refused_ms >= INVALIDATE_PAUSE_MS) {
        entry->change.refused_ms = now;
        entry->change.refusal = refusal;
        entry->valid = false;
    }
}

/* Where a product needs nothing but the pass for its calls. */
static int change_apply_plain(struct lbc_pass *pass, struct lbc_plan *plan,
                              enum lbc_priority priority, bool fresh)
{
    struct lbc_apply apply = lbc_pass_begin_apply(pass, fresh);
    bool uncertain = false;
    int r;

    apply.priority = &priority;
    apply.uncertain = &uncertain;
    r = lbc_apply_run(&apply, plan);
    lbc_pass_end_apply(pass, &apply);
    return r;
}

int lbc_pass_run_plan(struct lbc_pass *pass, struct lbc_plan *plan, const struct lbc_plan_input *in,
                      enum lbc_priority priority, struct ccm_error *err)
{
    const struct lbc_change_ops *change = pass->lbc->ops->change;
    int r;

    if (pass->lbc->dry) {
        lbc_plan_print(plan, (change->rules->traits & LBC_PLAN_PRINTS_PRESENT) != 0 ? in : NULL,
                       pass->life.plan);
        lbc_pass_rehearse(pass, plan);
        pass->writes += plan->len;
        return 0;
    }
    r = change->apply == NULL ? change_apply_plain(pass, plan, priority, in->fresh)
                              : change->apply(pass, plan, priority, in->fresh);
    return r < 0 && pass->problems.count == 0
               ? ccm_error_set(err, r, CCM_ERROR_TRANSIENT, "the plan was given up")
               : 0;
}

int lbc_pass_settle_jobs(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_plan_input in = { .now_ms = 0 };
    struct lbc_plan nothing = { .table = pass->lbc->ops->change->rules->steps };

    if (pass->entry->underway.len == 0) {
        return 0;
    }

    const int r = lbc_pass_run_plan(pass, &nothing, &in, LBC_PRIO_SPEC, err);

    if (pass->problems.count > 0) {
        return lbc_pass_fail_all(pass, err);
    }
    return r < 0 ? lbc_pass_fail(pass, r, err) : 0;
}

/* --- a pass that ensures --- */

/* What persons have there is remembered before it is taken over. */
static int change_remember_taken(struct lbc_pass *pass, struct lbc_plan *plan,
                                 const struct lbc_plan_input *in, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_taken_fini) struct lbc_taken_list taken = { 0 };

    if (lbc_plan_list_taken(plan, pass->lbc->ops->change->rules, in, &taken) < 0) {
        return ccm_error_nomem(err);
    }
    return lbc_taken_remember(pass, &taken, err) < 0 ? -EAGAIN : 0; /* err says more */
}

/* The cloud still takes backends out of these groups: only they are read again. */
static void change_wait_for_groups(struct lbc_pass *pass, const struct lbc_texts *groups,
                                   bool failed)
{
    for (size_t i = 0; i < groups->len; i++) {
        struct lbc_group *group = lbc_state_group_by_id(pass->entry->state, groups->items[i]);

        if (group != NULL) {
            group->unread = true;
        }
    }
    if (groups->len > 0) {
        pass->again.ms = REMOVING_MS;
        pass->unfinished = !failed;
    }
}

/* From the first change on the Service itself says where something of it may be. */
static int change_mark_reused(struct lbc_pass *pass, const struct lbc_plan *plan,
                              struct ccm_error *err)
{
    return pass->model->reused && pass->kept == NULL && plan->len > 0
               ? lbc_life_mark_reused(&pass->life, pass->req, pass->service, lbc_pass_lb(pass)->id,
                                      err)
               : 0;
}

static bool change_puts_tags(const struct lbc_plan *plan)
{
    for (size_t i = 0; i < plan->len; i++) {
        if (plan->steps[i]->type == LBC_STEP_TAG || plan->steps[i]->type == LBC_STEP_CREATE_LB) {
            return true;
        }
    }
    return false;
}

/* Record which additional tags may be ours before any is added. After a crash, none of them is
 * taken for a person's. */
static int change_mark_tags(struct lbc_pass *pass, const struct lbc_plan *plan,
                            struct ccm_error *err)
{
    const struct lbc_tags *tags = lbc_pass_desired_tags(pass);
    char marks[LBC_MARKS_TEXT];

    if (pass->model->reused || tags->len == 0 || !change_puts_tags(plan) ||
        lbc_marks_format(pass->service->meta.uid, tags, &pass->entry->applied.tags, marks) < 0) {
        return 0; /* more than the label has room for: see change_record_tags() */
    }
    return lbc_life_mark_tags(&pass->life, pass->req, pass->service, marks, err);
}

static bool change_can_show_repair(const struct lbc_pass *pass)
{
    const struct lbc_state *aside = pass->entry->aside;

    return (pass->audit || (lbc_look_is_taken(&pass->look) && !pass->look.late) ||
            pass->entry->compares != LBC_COMPARE_NONE) &&
           aside != NULL && ccm_text_equal(lbc_state_lb(aside)->id, lbc_pass_lb(pass)->id);
}

/* steps: repairs of what others had changed, as one text; "" = none. */
static void change_emit_repair(const struct lbc_pass *pass, const char *steps)
{
    if (steps[0] != '\0') {
        pass->entry->audit.repaired_ms = pass->lbc->host->now_ms(pass->lbc->host);
        lbc_life_event(&pass->lbc->life, pass->service, false, "DriftRepaired",
                       "Load balancer [%s] had been changed by somebody else and was repaired: %s",
                       lbc_pass_lb_id(pass), steps);
    }
}

/* Nothing of the Service was served before. */
static bool change_is_first(const struct lbc_pass *pass, bool is_new)
{
    return is_new || (pass->model->reused && pass->service->ingress_count == 0);
}

/* Whether something is created that only the Service leads to: on a load balancer of its own the
 * rest goes with that one. */
static bool change_creates(const struct lbc_pass *pass, const struct lbc_plan *plan)
{
    for (size_t i = 0; i < plan->len; i++) {
        const unsigned type = plan->steps[i]->type;

        if (type == LBC_STEP_CREATE_LB ||
            (pass->model->reused &&
             (type == LBC_STEP_CREATE_GROUP || type == LBC_STEP_CREATE_LISTENER))) {
            return true;
        }
    }
    return false;
}

/* Whether a write failed since the caches are older than the Service, which they will soon show:
 * pass->unfinished then. A conflict that comes again has another cause. */
static bool change_waits_for_caches(struct lbc_pass *pass, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;

    if (err->kind != CCM_ERROR_NOT_FOUND &&
        (err->kind != CCM_ERROR_CONFLICT || entry->change.outdated)) {
        return false;
    }
    entry->change.outdated = err->kind == CCM_ERROR_CONFLICT;
    lbc_entry_forget_tags(entry); /* they were read from an older label */
    ccm_error_clear(err);
    pass->unfinished = true;
    pass->again.ms = UNFINISHED_MS;
    return true;
}

/* Such a thing is created for a Service that exists: the caches may lag, above all those of an
 * instance that has just become the leader. 0: it does, or pass->unfinished: it does not. */
static int change_confirm_service(struct lbc_pass *pass, const struct lbc_plan *plan,
                                  struct ccm_error *err)
{
    if (!change_creates(pass, plan)) {
        return 0;
    }

    const int r = lbc_life_confirm_finalizer(&pass->life, pass->req, pass->service, err);
    if (r < 0 && change_waits_for_caches(pass, err)) {
        return 0;
    }
    return r < 0 ? ccm_error_wrap(err, r,
                                  "nothing is created as long as the API server does not confirm "
                                  "finalizer %s of the %s",
                                  pass->life.finalizer,
                                  lbc_product_served(pass->lbc->ops->product)->noun)
                 : 0;
}

/* What the Service has to show before the plan is carried out. As above. */
static int change_prepare_service(struct lbc_pass *pass, struct lbc_change *change,
                                  struct ccm_error *err)
{
    int r = change->unbound ? lbc_refusals_sum(&pass->refused, err)
                            : change_remember_taken(pass, &change->plan, &change->in, err);

    r = r < 0 ? r : change_mark_reused(pass, &change->plan, err);
    return r < 0 ? r : change_confirm_service(pass, &change->plan, err);
}

static bool change_is_refused(int r, const struct ccm_error *err)
{
    return r != -ENOMEM && err->kind != CCM_ERROR_CANCELLED;
}

static int change_plan_again(struct lbc_pass *pass, struct lbc_change *change,
                             struct ccm_error *err)
{
    lbc_plan_fini(&change->plan);
    change->plan = (struct lbc_plan){ 0 };
    return lbc_plan_ensure(&change->plan, pass->lbc->ops->change->rules, &change->in,
                           &pass->problems) < 0
               ? ccm_error_nomem(err)
               : 0;
}

/* The API server does not take that: the pass fails at its end, and until then backends of present
 * groups follow, as in keep.h. */
static int change_plan_backends(struct lbc_pass *pass, struct lbc_change *change,
                                struct ccm_error *err)
{
    struct lbc_model *model = pass->model;

    if (!model->backends_only) {
        ccm_buf_fini(&change->repair); /* of all else nothing is repaired */
    }
    if (!change->unbound) {
        (void)ccm_error_wrap(err, 0, "only backends of load balancer %s follow",
                             lbc_pass_lb_id(pass)); /* sets the text */
        lbc_problems_add(&pass->refused.problems, err, NULL);
    }
    ccm_error_clear(err);
    pass->kept = model->reused ? lbc_reused_id(pass->lbc, pass->service) : "";
    model->backends_only = true;
    for (size_t i = 0; i < model->want->group_count; i++) {
        model->want->groups[i]->present_only = true;
    }
    return change_plan_again(pass, change, err);
}

/* The API server refuses the label of additional tags: these stay as they are, all else follows. */
static int change_plan_untagged(struct lbc_pass *pass, struct lbc_change *change,
                                struct ccm_error *err)
{
    (void)ccm_error_wrap(err, 0, "additional tags of load balancer %s stay as they are",
                         lbc_pass_lb_id(pass)); /* sets the text */
    lbc_problems_add(&pass->refused.problems, err, NULL);
    ccm_error_clear(err);
    lbc_tags_fini(&lbc_state_lb(pass->model->want)->tags);
    change->in.applied = NULL;
    return change_plan_again(pass, change, err);
}

int lbc_change_plan(struct lbc_pass *pass, struct lbc_change *change, struct ccm_error *err)
{
    const struct lbc_plan_ops *rules = pass->lbc->ops->change->rules;
    struct lbc_entry *entry = pass->entry;
    int r;

    change->is_new = lbc_pass_lb(pass)->id == NULL;
    change->known = pass->problems.count;
    change->repair = (struct ccm_buf){ .max = 900 };
    change->in = lbc_pass_plan_input(pass, pass->fresh);
    change->in.applied = lbc_pass_applied_tags(pass, &lbc_pass_lb(pass)->tags);
    change->in.pending = &entry->pending;
    r = lbc_plan_ensure(&change->plan, rules, &change->in, &pass->problems);
    if (r == 0 && change_can_show_repair(pass)) {
        r = lbc_plan_describe_repair(&change->plan, rules, &change->in, entry->aside,
                                     &change->repair);
    }
    return r < 0 ? ccm_error_nomem(err) : 0;
}

int lbc_change_announce(struct lbc_pass *pass, struct lbc_change *change, struct ccm_error *err)
{
    int r = change_prepare_service(pass, change, err);

    if (r < 0 && change_is_refused(r, err) && !change_is_first(pass, change->is_new)) {
        return change_plan_backends(pass, change, err);
    }
    if (r < 0 || pass->unfinished) {
        return r;
    }
    r = change_mark_tags(pass, &change->plan, err);
    if (r < 0 && change_waits_for_caches(pass, err)) {
        return 0;
    }
    return r < 0 && change_is_refused(r, err) && !change->is_new
               ? change_plan_untagged(pass, change, err)
               : r;
}

/* The mirror has what was done. */
static int change_record(struct lbc_pass *pass, bool is_new, bool written)
{
    const struct lbc_change_ops *change = pass->lbc->ops->change;
    const bool exists = lbc_pass_lb(pass)->id != NULL;

    if (change->record != NULL && pass->kept == NULL) {
        change->record(pass);
    }
    pass->entry->used = pass->entry->used || exists;
    if (written && exists && change_is_first(pass, is_new)) {
        lbc_health_expect(pass);
    }
    return pass->kept == NULL ? change_record_tags(pass, is_new && exists) : 0;
}

int lbc_change_apply(struct lbc_pass *pass, struct lbc_change *change, struct ccm_error *err)
{
    const bool refused = pass->problems.count > change->known;
    const size_t before = pass->writes;
    struct lbc_entry *entry = pass->entry;
    int r;

    lbc_entry_set_blocked(entry, change->plan.blocked);
    entry->change.marked = entry->change.marked || (pass->model->reused && !refused);
    r = lbc_pass_run_plan(pass, &change->plan, &change->in,
                          change->is_new ? LBC_PRIO_NEW : LBC_PRIO_SPEC, err);
    if (change_record(pass, change->is_new, pass->writes > before) < 0) {
        return ccm_error_nomem(err);
    }
    if (refused && !pass->fresh) {
        lbc_pass_invalidate_mirror(pass);
    }
    change_wait_for_groups(pass, &change->plan.waiting, r < 0 || pass->problems.count > 0);
    if (pass->writes > before && r == 0 && pass->problems.count == change->known) {
        change_emit_repair(pass, ccm_buf_str(&change->repair));
    }
    return r;
}

/* Read the desired groups again whose backends the cloud was changing; the rest of the mirror
 * holds. */
static bool change_await_groups(struct lbc_pass *pass)
{
    const struct lbc_state *want = pass->model->want;
    bool changing = false;

    for (size_t i = 0; i < want->group_count; i++) {
        struct lbc_group *one = lbc_state_group_for(pass->entry->state, want->groups[i]);

        if (one != NULL && one->changing) {
            one->unread = true;
            changing = true;
        }
    }
    return changing;
}

static bool change_has_listener(const struct lbc_pass *pass)
{
    const struct lbc_state *want = pass->model->want;
    bool changing = pass->entry->state->listener_leaves;

    for (size_t i = 0; i < want->listener_count; i++) {
        const struct lbc_listener *one =
            lbc_state_listener_like(pass->entry->state, want->listeners[i]);

        changing = changing || (one != NULL && one->changing);
    }
    return changing;
}

/* The cloud was changing it when it was read. If that change fails, it is as before, or does not
 * exist; a listener may be stopped. So it is read again, less and less often. */
void lbc_change_await(struct lbc_pass *pass)
{
    struct lbc_entry *entry = pass->entry;
    const uint32_t turns = entry->change.changing;
    const uint32_t turn = turns < CHANGING_TURNS ? turns : CHANGING_TURNS;
    const bool groups = !pass->lbc->dry && change_await_groups(pass);
    const bool listeners = !pass->lbc->dry && change_has_listener(pass);

    entry->change.changing = groups || listeners ? turn + 1 : 0;
    entry->valid = entry->valid && !listeners;
    if ((groups || listeners) && !pass->unfinished) {
        pass->again.ms = (uint64_t)CHANGING_MS << turn;
    }
}

void lbc_change_fini(struct lbc_change *change)
{
    lbc_plan_fini(&change->plan);
    ccm_buf_fini(&change->repair);
}
