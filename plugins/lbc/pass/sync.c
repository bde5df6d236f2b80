/* The middle of a pass that ensures: what is desired, what is there, and whether it may be changed.
 */
#include "lbc/names.h"
#include "lbc/pass/ensure.h"

#include "lbc/freeze_pass.h"
#include "lbc/model/object.h"
#include "lbc/model/settings.h"
#include "lbc/pass/empty_pass.h"
#include "lbc/pass/keep.h"
#include "lbc/quota.h"
#include "lbc/reuse.h"
#include "lbc/service/hash.h"
#include "lbc/service/hosted.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MORE_PODS_MS 1000 /* to the pass that reads further ones */

/* --- desired state --- */

static int sync_resolve(struct lbc_pass *pass, struct lbc_resolved_list *ret, struct ccm_error *err)
{
    struct lbc_candidates *sets = pass->model->sets;
    const size_t count = pass->model->want->group_count;

    ret->items = calloc(count == 0 ? 1 : count, sizeof(*ret->items));
    if (ret->items == NULL) {
        return ccm_error_nomem(err);
    }
    ret->count = count;
    lbc_pass_advise_nameless(pass, sets, count);

    const struct lbc_cloud_caller by = lbc_pass_caller(pass);
    int r = lbc_resolve(pass->lbc->cloud.ops, &by, sets, count,
                        pass->audit || lbc_look_is_asked(&pass->look), ret->items, err);

    for (size_t i = 0; r == 0 && i < count; i++) {
        if (ret->items[i].invalid.len > 0) {
            ccm_buf_addf(&pass->invalid, "%s%s", pass->invalid.len == 0 ? "" : ",",
                         ccm_buf_str(&ret->items[i].invalid));
        }
    }
    return r == 0 && ccm_buf_error(&pass->invalid) < 0 ? ccm_error_nomem(err) : r;
}

/* All but the backends, with pods read where endpoints have addresses of nodes; what was not found
 * out is tried again. present and shown: as in struct lbc_model_input. */
static int sync_build_model(struct lbc_pass *pass, const struct lbc_state *present,
                            const struct lbc_group *shown, struct ccm_error *err)
{
    const struct ccm_host *host = pass->lbc->host;
    CCM_CLEANUP(lbc_hosted_fini)
    struct lbc_hosted hosted = {
        .host = host,
        .req = pass->req,
        .key = pass->service->meta.key,
        .known = CCM_STEAL(pass->entry->pods.hosted),
    };
    struct lbc_model_input in = lbc_pass_model_input(pass);
    int r = 0;

    if ((lbc_look_is_asked(&pass->look) || pass->audit) && present == NULL) {
        lbc_hosted_fini(&hosted);
    }
    in.judge = lbc_hosted_judge;
    in.judge_self = &hosted;
    in.present = present;
    in.shown = shown;
    lbc_model_fini(pass->model);
    r = lbc_model_build(pass->model, pass->lbc->ops->model, &in, &pass->problems, err);
    pass->entry->pods.hosted = CCM_STEAL(hosted.found);
    pass->readiness.waiting = pass->readiness.waiting || hosted.failed;
    if (hosted.more && !pass->lbc->dry) {
        host->enqueue(host, pass->entry->key, CCM_LANE_BACKENDS, MORE_PODS_MS);
    }
    return r;
}

/* A node may be one that annotation backend-label excludes, so none is added. Where no other
 * backend remains, those that are there stay. */
static void sync_drop_new(const struct lbc_pass *pass, struct lbc_group *want)
{
    const struct lbc_group *have = lbc_state_group_for(pass->entry->state, want);

    for (size_t i = want->backends.len; have != NULL && i > 0; i--) {
        const struct lbc_backend *one = &want->backends.items[i - 1];

        if (lbc_backends_find(&have->backends, one) == NULL) {
            lbc_backends_remove(&want->backends, one);
        }
    }
    if (have != NULL && want->backends.len == 0) {
        want->frozen_by = LBC_FROZEN_BY_LABEL;
    }
}

static int sync_resolve_backends(struct lbc_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_resolved_list_fini) struct lbc_resolved_list resolved = { 0 };
    const struct lbc_state *want = pass->model->want;
    int r = sync_resolve(pass, &resolved, err);

    if (r == 0) {
        r = lbc_empty_explain_unresolved(pass, &resolved) < 0 ? ccm_error_nomem(err) : 0;
        lbc_model_finish(pass->model, resolved.items);
        lbc_pass_emit_backends(pass, &resolved);
    }
    for (size_t i = 0; r == 0 && pass->model->add_none && i < want->group_count; i++) {
        sync_drop_new(pass, want->groups[i]);
    }
    return r;
}

/* --- actual state --- */

/* What the status shows may be of the other product of the same cloud, which is on its way out. */
static bool sync_shows_own(const struct lbc_pass *pass)
{
    const char *sibling = pass->lbc->choice.sibling_finalizer;

    return pass->service->ingress_count > 0 &&
           (sibling[0] == '\0' || !lbc_object_has_finalizer(&pass->service->meta, sibling));
}

/* One whose id is known: it is used when it is the Service's own, else `known` says what became of
 * it. */
static int sync_read_known(struct lbc_pass *pass, const char *id, struct lbc_lost_known *known,
                           struct ccm_error *err)
{
    const struct lbc_ops *ops = pass->lbc->ops;
    struct lbc_state *state = pass->entry->state;
    const bool groups_known = state->groups_known; /* of none there are none */
    const bool listeners_known = state->listeners_known;
    const int r = ops->read->lb(pass, id, state, err);

    if (r < 0 && err->kind != CCM_ERROR_NOT_FOUND) {
        return r;
    }
    if (r < 0) {
        known->found = -ENOENT;
        ccm_error_clear(err);
    } else if (!lbc_has_trait(pass->lbc, LBC_RELEASES_BY_LABEL) ||
               lbc_tags_get(&lbc_pass_lb(pass)->tags, lbc_names.tag_reuse) == NULL) {
        known->found = lbc_pass_check_own(pass, &known->why);
        if (known->found == 0) {
            return 0;
        }
    } /* else it was reused until the annotation went, and has never been the Service's */
    known->untagged = r == 0 && !lbc_keep_is_of_others(pass);
    lbc_state_fini(state, ops->mirror);
    state->groups_known = groups_known;
    state->listeners_known = listeners_known;
    return 0;
}

/* By its tag. A list by tags may be late, and a tag may be lost, so one whose id is known is also
 * read by that; one that was created just now first of all. */
static int sync_read_own(struct lbc_pass *pass, struct lbc_lost_known *known, struct ccm_error *err)
{
    const struct ccm_host *host = pass->lbc->host;
    const struct lbc_entry *entry = pass->entry;
    const char *id = lbc_entry_known_id(entry);
    const bool is_new = id != NULL && !pass->audit && !lbc_look_is_taken(&pass->look) &&
                        lbc_creation_is_new(&entry->creation, host->now_ms(host));
    int r = is_new ? sync_read_known(pass, id, known, err) : 0;

    if (r == 0 && lbc_pass_lb(pass)->id == NULL) {
        r = pass->lbc->ops->read->lb(pass, NULL, entry->state, err);
    }
    if (id == NULL && sync_shows_own(pass)) {
        id = ccm_object_label(&pass->service->meta, lbc_names.lb_label);
    }
    return r < 0 || is_new || lbc_pass_lb(pass)->id != NULL || ccm_text_empty(id)
               ? r
               : sync_read_known(pass, id, known, err);
}

static int sync_read_lb(struct lbc_pass *pass, struct lbc_lost_known *known, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    const bool reused = pass->model->reused;

    if (lbc_entry_has_lb(entry)) {
        return 0;
    }
    lbc_entry_put_aside(entry);
    if (!reused && !pass->audit && !lbc_look_is_taken(&pass->look) &&
        lbc_inventory_take(pass->lbc, pass->service, entry->state)) {
        return 0;
    }
    pass->fresh = true;
    if (!reused) {
        return sync_read_own(pass, known, err);
    }

    const int r =
        pass->lbc->ops->read->lb(pass, lbc_state_lb(pass->model->want)->id, entry->state, err);

    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        /* Ids are given by the cloud: one that does not exist will not exist later either. */
        err->kind = CCM_ERROR_TERMINAL;
    }
    return r;
}

/* What is done with somebody else's load balancer, now that it is known. */
static int sync_fit_reused(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_tags *tags = &lbc_pass_lb(pass)->tags;
    const bool may = lbc_reuse_may_configure(pass, tags);
    const int r = lbc_reuse_check_match(pass, err);

    if (r < 0) {
        return r;
    }
    lbc_reuse_emit_kept(pass, may);
    if (!may) {
        lbc_model_keep_lb(pass->model, lbc_reuse_compared(pass->lbc->ops->model->fixed));
    }
    return lbc_reuse_own_tags(pass, &lbc_state_lb(pass->model->want)->tags, tags) < 0
               ? ccm_error_nomem(err)
               : 0;
}

static int sync_read_parts(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_read_ops *read = pass->lbc->ops->read;
    struct lbc_entry *entry = pass->entry;
    int r = 0;

    entry->used = entry->used || lbc_pass_lb(pass)->id != NULL;
    r = read->parts == NULL ? 0 : read->parts(pass, err);
    entry->valid = r == 0;
    return r;
}

static int sync_read_actual(struct lbc_pass *pass, struct lbc_lost_known *known,
                            struct ccm_error *err)
{
    const bool reused = pass->model->reused;
    struct lbc_entry *entry = pass->entry;
    int r = sync_read_lb(pass, known, err);

    lbc_release_reopen(&entry->release);
    entry->valid = r == 0;
    if (r == 0) {
        r = lbc_pass_check_ready(pass, err);
    }
    if (r == 0 && !pass->unfinished && reused) {
        r = lbc_reuse_check(pass, err);
    }
    if (r < 0 || pass->unfinished) {
        return r;
    }
    return sync_read_parts(pass, err);
}

/* What of the model depends on what is there. */
static int sync_fit_model(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_model_ops *ops = pass->lbc->ops->model;
    const struct lbc_tags *tags = &lbc_pass_lb(pass)->tags;
    const int r = pass->model->reused && pass->kept == NULL ? sync_fit_reused(pass, err) : 0;

    pass->model->as_it_is = pass->model->reused && !lbc_reuse_may_configure(pass, tags);
    if (r == 0 && ops->check_group != NULL) {
        lbc_model_check_groups(pass->model, pass->entry->state, ops->check_group, &pass->problems);
    }
    return r;
}

/* --- what annotations do not decide --- */

static bool sync_must_follow(const struct lbc_pass *pass)
{
    const struct lbc_model *model = pass->model;
    bool broken = false;

    for (size_t i = 0; i < model->want->listener_count; i++) {
        broken = broken || model->want->listeners[i]->broken;
    }
    return lbc_pass_lb(pass)->id != NULL && (broken || model->unsure || model->backends_only);
}

/* Ports that annotations do not decide go by what serves them: backends follow all the same. */
static int sync_follow(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_plan_ops *rules = pass->lbc->ops->change->rules;
    const struct lbc_state *have = pass->entry->state;
    const struct lbc_plan_input in = lbc_pass_plan_input(pass, false);
    const struct lbc_group *shown = NULL;
    int r = lbc_plan_find_shown(rules, &in, &shown);

    if (r < 0) {
        return ccm_error_nomem(err);
    }
    lbc_problems_fini(&pass->problems); /* they are found once more */
    pass->problems = (struct lbc_problems)LBC_PROBLEMS_INIT;
    r = sync_build_model(pass, have, shown, err);
    r = r < 0 ? r : sync_fit_model(pass, err);
    if (r == 0 && lbc_plan_follow(rules, &in) < 0) {
        r = ccm_error_nomem(err);
    }
    return r;
}

/* --- what is desired, and what is there --- */

/* As the Service asks for it. */
static int sync_compare_asked(struct lbc_pass *pass, struct lbc_lost_known *known,
                              struct ccm_error *err)
{
    int r = sync_build_model(pass, NULL, NULL, err);

    r = r < 0 ? r : sync_read_actual(pass, known, err);
    if (r == 0 && !pass->unfinished) {
        r = sync_fit_model(pass, err);
    }
    return r == 0 && !pass->unfinished && sync_must_follow(pass) ? sync_follow(pass, err) : r;
}

/* By the load balancer that serves; why: as of lbc_keep_prove(). */
static int sync_compare_kept(struct lbc_pass *pass, const struct ccm_error *why,
                             struct ccm_error *err)
{
    int r = lbc_keep_read(pass, why, err);

    if (r < 0 || pass->unfinished) {
        return r;
    }
    r = sync_build_model(pass, NULL, NULL, err);
    r = r < 0 ? r : lbc_pass_check_ready(pass, err);
    if (r == 0 && !pass->unfinished && !lbc_keep_is_of_others(pass)) {
        r = sync_read_parts(pass, err);
    }
    if (r == 0 && !pass->unfinished) {
        r = lbc_keep_prove(pass, why, err);
    }
    return r < 0 || pass->unfinished || pass->kept == NULL ? r : sync_follow(pass, err);
}

/* One that may not be used is no reason to give up what serves. */
static int sync_keep(struct lbc_pass *pass, int r, struct ccm_error *err)
{
    struct ccm_error why = CCM_ERROR_INIT;

    if (lbc_keep_find_label(pass->lbc, pass->service)[0] == '\0') {
        return r;
    }
    ccm_error_copy(&why, err);
    ccm_error_clear(err);
    return sync_compare_kept(pass, &why, err);
}

int lbc_sync_read(struct lbc_pass *pass, struct lbc_lost_known *known, struct ccm_error *err)
{
    int r = pass->kept != NULL ? sync_compare_kept(pass, NULL, err) : 0;

    if (r < 0 || pass->unfinished || pass->kept != NULL) {
        return r;
    }
    r = sync_compare_asked(pass, known, err);
    if (r != -EPERM) {
        return r;
    }
    lbc_pass_invalidate_mirror(pass); /* its owner may change it, or its tags */
    return sync_keep(pass, r, err);
}

/* A release was begun and has not come to its end: by this process, or by another one, which took
 * away what the Service had shown of it. */
static bool sync_was_releasing(const struct lbc_pass *pass)
{
    const struct ccm_service *service = pass->service;

    return pass->entry->releasing ||
           (!pass->entry->creation.bound_here && service->ingress_count == 0 &&
            lbc_object_has_finalizer(&service->meta, pass->life.finalizer) &&
            ccm_object_label(&service->meta, lbc_names.hash_label) == NULL);
}

/* Then what it switched off is switched on again, though no annotation asks for that of one that is
 * as a person may have made it. It goes on being asked for until a pass ends well. */
static void sync_restore_protections(struct lbc_pass *pass)
{
    if (!pass->model->reused && lbc_pass_lb(pass)->id != NULL && sync_was_releasing(pass)) {
        pass->entry->releasing = true;
        lbc_model_demand(pass->model,
                         lbc_lb_protections(pass->lbc->ops->model->rules->annotations));
    }
}

/* --- whether a missing load balancer may be made --- */

/* missed: that it is missing is reported first. */
static int sync_check_public(const struct lbc_pass *pass, bool missed, struct ccm_error *err)
{
    const struct lbc_lint_rules *rules = pass->lbc->ops->model->rules;
    const struct lbc_anno *row = lbc_anno_find(rules->annotations, "address-type");
    const char *type = row == NULL ? NULL : lbc_lb_get(row, lbc_state_lb(pass->model->want)->texts);

    if (!pass->lbc->disable_public || missed || ccm_text_equal_case(type, "intranet")) {
        return 0;
    }
    return ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL, "%s", rules->public_text);
}

/* One that was created may be there although no list shows it, and what vanishes again and again is
 * not created without end. 0, or pass->unfinished: it is looked for again first. */
static int sync_check_creation(struct lbc_pass *pass, const struct lbc_lost_known *known,
                               struct ccm_error *err)
{
    const struct ccm_host *host = pass->lbc->host;
    const struct lbc_creation *creation = &pass->entry->creation;
    uint64_t wait_ms = 0;

    if (known->found == LBC_LOOKUP_NOT_OURS && lbc_creation_is_new(creation, host->now_ms(host))) {
        ccm_error_copy(err, &known->why);
        return known->found;
    }
    switch (lbc_pass_judge_creation(pass, &wait_ms)) {
    case LBC_CREATION_LATER:
        lbc_pass_await_created(pass, wait_ms);
        return 0;
    case LBC_CREATION_NO_MORE:
        return ccm_error_set(err, -EAGAIN, CCM_ERROR_TERMINAL,
                             "%" PRIu32 " load balancers were created, and none of them came to "
                             "serve the %s: no further one is created now. Find out in the cloud "
                             "what became of them; a change of the %s, or ccmd resync, tries again "
                             "at once",
                             creation->count, lbc_product_served(pass->lbc->ops->product)->noun,
                             lbc_product_served(pass->lbc->ops->product)->noun);
    case LBC_CREATION_NOW:
    default:
        return 0;
    }
}

/* Whether the status shows a load balancer that the Service had. What another controller wrote
 * there is none: no label, no id and no mark leads to one, and no load balancer of the account has
 * that address. The finalizer proves nothing: it is written before the first load balancer. */
static int sync_judge_shown(struct lbc_pass *pass, const struct lbc_lost_known *known, bool *ret,
                            struct ccm_error *err)
{
    const struct lbc_read_ops *read = pass->lbc->ops->read;
    const struct ccm_object *meta = &pass->service->meta;

    *ret = sync_shows_own(pass);
    if (!*ret || read->holds_shown == NULL || known->found != -ENODATA ||
        ccm_object_label(meta, lbc_names.lb_label) != NULL ||
        ccm_object_label(meta, lbc_names.hash_label) != NULL ||
        lbc_life_reused_id(&pass->lbc->life, pass->service)[0] != '\0') {
        return 0;
    }

    const int r = read->holds_shown(pass, err);

    *ret = r != 0;
    return r < 0 ? r : 0;
}

/* Not when the status shows one that was there, nor without what a person asks for. */
static int sync_check_missing(struct lbc_pass *pass, const struct lbc_lost_known *known,
                              struct ccm_error *err)
{
    bool shown = false;
    int r;

    if (lbc_pass_lb(pass)->id != NULL) {
        return 0;
    }
    r = sync_judge_shown(pass, known, &shown, err);
    r = r < 0 ? r
              : sync_check_public(pass, shown && lbc_has_trait(pass->lbc, LBC_FINDS_SHOWN), err);
    if (r == 0 && shown) {
        r = lbc_lost_check(pass, known, err);
        r = r < 0 ? r : sync_check_public(pass, false, err);
    }
    if (r == 0) {
        r = lbc_pass_check_fields(pass, err);
    }
    if (r == 0) {
        r = lbc_refusals_sum(&pass->refused, err);
    }
    if (r == 0) {
        r = sync_check_creation(pass, known, err);
    }
    if (r == 0 && shown && !pass->unfinished) {
        lbc_lost_emit_recreated(pass);
    }
    return r;
}

int lbc_sync_check_create(struct lbc_pass *pass, struct lbc_lost_known *known,
                          struct ccm_error *err)
{
    const int r = sync_check_missing(pass, known, err);

    return r < 0 && known->untagged ? sync_keep(pass, r, err) : r;
}

bool lbc_sync_is_hopeless(const struct lbc_pass *pass)
{
    const struct lbc_model *model = pass->model;
    const bool listens = lbc_model_has_listeners(model);

    if (lbc_pass_lb(pass)->id == NULL ? !listens || !lbc_has_trait(pass->lbc, LBC_NEEDS_PORT)
                                      : lbc_lookup_shows_lb(pass->service)) {
        return false;
    }
    for (size_t i = 0; listens && i < model->want->listener_count; i++) {
        if (!model->want->listeners[i]->broken) {
            return false;
        }
    }
    for (size_t i = 0; !listens && i < model->want->group_count; i++) {
        if (!model->want->groups[i]->broken) {
            return false;
        }
    }
    return model->incomplete;
}

/* --- what the model cannot know --- */

/* Of the node, where it is no backend yet: a present backend stays. */
static int group_drop_elsewhere(struct lbc_pass *pass, size_t at, const char *id,
                                const struct ccm_error *why)
{
    struct lbc_group *want = pass->model->want->groups[at];
    struct lbc_candidates *set = &pass->model->sets[at];
    const struct lbc_group *have = lbc_state_group_for(pass->entry->state, want);
    int r = 0;

    for (size_t i = want->backends.len; r == 0 && i > 0; i--) {
        const struct lbc_backend *one = &want->backends.items[i - 1];

        if (one->type == LBC_BACKEND_INSTANCE && strcmp(one->server_id, id) == 0 &&
            (have == NULL || lbc_backends_find(&have->backends, one) == NULL)) {
            r = lbc_left_out_add(&pass->left_out, one, 0, why);
            lbc_backends_remove(&want->backends, one);
        }
    }
    if (r == 0 && want->backends.len == 0 && set->len > 0 && set->why == NULL) {
        set->why = strdup("its nodes are of another region, see event SkipSyncBackends");
        r = set->why == NULL ? -ENOMEM : 0;
    }
    return r;
}

/* No load balancer takes instances of another region: that is known without a call. */
static int sync_drop_elsewhere(struct lbc_pass *pass)
{
    const char *region = lbc_cloud_site(&pass->lbc->cloud).region;
    const struct lbc_node_table *nodes = &pass->model->nodes;
    const struct lbc_state *want = pass->model->want;
    struct ccm_error why = CCM_ERROR_INIT;
    int r = 0;

    for (size_t i = 0; !ccm_text_empty(region) && r == 0 && i < nodes->len; i++) {
        const char *id = nodes->items[i].instance_id;

        if (id == NULL || !lbc_node_is_elsewhere(nodes->items[i].node, region)) {
            continue;
        }
        (void)ccm_error_set(&why, 0, CCM_ERROR_TERMINAL,
                            "the provider id names another region than %s: register the node with "
                            "the provider id of its instance, or exclude it by label",
                            region); /* no errno */
        for (size_t g = 0; r == 0 && g < want->group_count; g++) {
            r = group_drop_elsewhere(pass, g, id, &why);
        }
    }
    return r;
}

/* A pod that a slice names, and whose interface is not known just now, has not been sent away: if
 * it is a backend, it stays one. */
static int sync_keep_unresolved(const struct lbc_pass *pass, struct lbc_freeze_group *group)
{
    int r = 0;

    for (size_t i = 0; r == 0 && pass->invalid.len > 0 && i < group->leaving.len; i++) {
        struct lbc_backend one = group->leaving.items[i];

        one.kept = true;
        if (one.type == LBC_BACKEND_INTERFACE && !ccm_text_empty(one.server_ip) &&
            ccm_parse_has_piece(ccm_buf_str(&pass->invalid), ',', one.server_ip,
                                strlen(one.server_ip))) {
            r = lbc_backends_put(group->want, &one);
        }
    }
    return r;
}

/* What leaves only because nodes or slices are missing or not ready may have to stay. */
static int sync_freeze_backends(struct lbc_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_freeze_fini) struct lbc_freeze freeze = { 0 };
    const struct lbc_state *want = pass->model->want;
    const struct lbc_plan_input in = lbc_pass_plan_input(pass, false);

    lbc_freeze_begin(&freeze, pass, &pass->model->nodes);
    for (size_t i = 0; i < want->group_count; i++) {
        struct lbc_freeze_group group = { 0 };
        int r = lbc_plan_leaving(pass->lbc->ops->change->rules, &in, want->groups[i], &group);

        r = r < 0 ? r : sync_keep_unresolved(pass, &group);
        if (r == 0 && group.id != NULL) {
            r = lbc_freeze_add(&freeze, &group);
        }
        if (r < 0) {
            return ccm_error_nomem(err);
        }
    }
    return lbc_freeze_end(&freeze, err);
}

/* Slices of one family may come first: nothing is kept as long as nothing is there. */
static enum lbc_frozen_by group_frozen_by(const struct lbc_pass *pass, const struct lbc_group *want)
{
    const struct lbc_group *found = lbc_state_group_for(pass->entry->state, want);
    const bool may_be_early = want->frozen_by == LBC_FROZEN_BY_FAMILY;

    return may_be_early && (found == NULL || found->backends.len == 0) ? LBC_FROZEN_BY_NONE
                                                                       : want->frozen_by;
}

static bool group_is_frozen(const struct lbc_pass *pass, const struct lbc_group *want)
{
    return group_frozen_by(pass, want) != LBC_FROZEN_BY_NONE;
}

/* Groups without ready backends, or that keep those of an address family. */
static void sync_emit_groups(struct lbc_pass *pass)
{
    const struct lbc_state *want = pass->model->want;
    enum lbc_frozen_by frozen_by = LBC_FROZEN_BY_NONE;

    for (size_t i = 0; i < want->group_count; i++) {
        if (frozen_by == LBC_FROZEN_BY_NONE) {
            frozen_by = group_frozen_by(pass, want->groups[i]);
        }
    }
    lbc_empty_publish(pass, group_is_frozen);
    lbc_pass_emit_frozen(pass, frozen_by);
}

/* A success is never reported from memory alone: the next pass, which follows at once, reports that
 * the load balancer is gone. */
static void sync_confirm_lb(struct lbc_pass *pass)
{
    const char *id = lbc_pass_lb(pass)->id;

    if (!pass->lbc->ops->mirror->groups_move && pass->writes > 0 && !pass->fresh &&
        !pass->unfinished && pass->problems.count == 0 && id != NULL &&
        lbc_pass_is_gone(pass, id)) {
        lbc_entry_drop(pass->entry);
        pass->unfinished = true;
        pass->again.ms = 1;
    }
}

int lbc_sync_add_backends(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_read_ops *read = pass->lbc->ops->read;
    int r = sync_resolve_backends(pass, err);

    if (r == 0 && read->details != NULL && pass->kept == NULL) {
        r = read->details(pass, err);
    }
    if (r < 0) {
        return r;
    }
    if (pass->kept == NULL) {
        sync_restore_protections(pass);
    }
    return sync_drop_elsewhere(pass) < 0 ? ccm_error_nomem(err) : 0;
}

int lbc_sync_decide_leaving(struct lbc_pass *pass, struct ccm_error *err)
{
    const int r = sync_freeze_backends(pass, err);

    if (r < 0) {
        return r;
    }
    sync_emit_groups(pass);
    lbc_pass_advise_node_addresses(pass);
    lbc_pass_advise_direct(pass);
    return 0;
}

int lbc_sync_end_apply(struct lbc_pass *pass, int r, struct ccm_error *err)
{
    if (lbc_pass_lb(pass)->id != NULL && pass->kept == NULL) {
        lbc_lost_end(pass);
    }
    if ((pass->left_out.len > 0 || (r == 0 && !pass->unfinished && pass->problems.count == 0)) &&
        lbc_pass_emit_left_out(pass) < 0 && r == 0) {
        return ccm_error_nomem(err);
    }
    if (r < 0) {
        return r;
    }
    sync_confirm_lb(pass);
    lbc_change_await(pass);
    if (pass->kept == NULL && !pass->unfinished) {
        lbc_quota_emit(pass);
        lbc_reuse_emit_unserved(pass);
    }
    return 0;
}

/* --- what comes of it --- */

/* On somebody else's load balancer a port may be served that is not the Service's. */
static bool is_own_listener(const struct lbc_pass *pass, const struct lbc_listener *listener)
{
    enum lbc_owner owner = LBC_OWNER_NONE;

    return !pass->model->reused ||
           (lbc_pass_owner_of(pass, listener->description, true, &owner) == 0 &&
            owner == LBC_OWNER_OURS);
}

bool lbc_pass_lb_serves(const struct lbc_pass *pass)
{
    const bool must_run = lbc_has_trait(pass->lbc, LBC_MUST_RUN);
    const struct lbc_state *want = pass->model->want;
    const struct lbc_state *have = pass->entry->state;

    if (lbc_pass_lb(pass)->id == NULL || lbc_sync_is_hopeless(pass)) {
        return false;
    }
    if (!lbc_model_has_listeners(pass->model)) {
        return pass->problems.count == 0;
    }
    for (size_t i = 0; i < want->listener_count; i++) {
        const struct lbc_listener *listener = lbc_state_listener_like(have, want->listeners[i]);

        if (listener != NULL && (listener->running || !must_run) &&
            is_own_listener(pass, listener)) {
            return true;
        }
    }
    return want->listener_count == 0;
}
