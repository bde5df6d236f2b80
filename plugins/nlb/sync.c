#include "controller.h"

#include "inventory.h"
#include "lbc/freeze_pass.h"
#include "lbc/model/object.h"
#include "lbc/reuse.h"
#include "lbc/taken.h"
#include "names.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

#define REMOVING_MS 3000 /* until a server that is being removed is looked at again */

/* --- desired state --- */

/* What is left undone while some pod has no interface; see struct nlb_group.add_only. */
static void pass_emit_kept(struct lbc_pass *pass, const struct lbc_resolved_list *resolved)
{
    const struct nlb_model *model = pass->model;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 800 };

    for (size_t i = 0; i < model->want.lbc.group_count; i++) {
        const char *invalid = ccm_buf_str(&resolved->items[i].invalid);

        if (invalid[0] != '\0') {
            ccm_buf_addf(&text,
                         "%sSkip delete and update servers to servergroup %s due to invalid "
                         "servers: %s",
                         text.len == 0 ? "" : "; ", nlb_group_at(&model->want, i)->lbc.name,
                         invalid);
        }
    }
    lbc_pass_emit_event(pass, true, "kept", "SkipSyncBackends", ccm_buf_str(&text));
}

/* Slices of one family may come first, endpoints before their nodes: nothing is kept as long as
 * nothing is there. */
static enum lbc_frozen_by group_frozen_by(const struct lbc_pass *pass, const struct nlb_group *want)
{
    const struct nlb_group *found = nlb_state_group_for(pass->entry->state, want);
    const bool may_be_early = want->lbc.frozen_by == LBC_FROZEN_BY_FAMILY ||
                              want->lbc.frozen_by == LBC_FROZEN_BY_NAMELESS;

    return may_be_early && (found == NULL || found->lbc.backends.len == 0) ? LBC_FROZEN_BY_NONE
                                                                           : want->lbc.frozen_by;
}

/* Groups that have no backends, or keep those of an address family. */
static void pass_emit_groups(struct lbc_pass *pass)
{
    const struct nlb_model *model = pass->model;
    const char *none = "";
    enum lbc_frozen_by frozen_by = LBC_FROZEN_BY_NONE;

    for (size_t i = 0; i < model->want.lbc.group_count; i++) {
        if (nlb_group_at(&model->want, i)->lbc.backends.len == 0) {
            none = "There are no available nodes for NetworkLoadBalancer";
        }
        frozen_by = frozen_by == LBC_FROZEN_BY_NONE
                        ? group_frozen_by(pass, nlb_group_at(&model->want, i))
                        : frozen_by;
    }
    lbc_pass_emit_group_events(pass, none, frozen_by);
}

static int pass_build_model(struct lbc_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_resolved_list_fini) struct lbc_resolved_list resolved = { 0 };
    struct nlb_model *model = pass->model;
    const struct nlb_model_input in = {
        .lbc.service = pass->view,
        .lbc.refused = &pass->refused,
        .lbc.nodes = pass->nodes,
        .lbc.node_count = pass->node_count,
        .lbc.slices = pass->slices,
        .lbc.slice_count = pass->slice_count,
        .lbc.accepted = pass->readiness.accepted,
        .lbc.cluster_id = lbc_cluster_id(pass->lbc),
        .resource_group = ali_resource_group_id(alilb_client(&pass->lbc->cloud)),
        .lbc.default_eni = pass->lbc->default_eni,
    };
    int r = nlb_model_begin(model, &in, &pass->problems, err);

    if (r < 0) {
        return r;
    }
    r = lbc_pass_resolve(pass, model->lbc.sets, model->want.lbc.group_count, &resolved, err);
    if (r == 0) {
        lbc_model_finish(&model->lbc, resolved.items);
        lbc_pass_emit_backends(pass, &resolved);
        pass_emit_kept(pass, &resolved);
    }
    return r;
}

/* --- actual state --- */

/* Ids are given by the cloud: one that does not exist will not exist later either. */
static int read_reused(struct lbc_pass *pass, struct alilb_call *call, struct ccm_error *err)
{
    const struct nlb_model *model = pass->model;
    struct nlb_state *have = pass->entry->state;
    const int r = nlb_read_lb_by_id(call, model->want.lb.id, &have->lb, err);

    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        err->kind = CCM_ERROR_TERMINAL;
    }
    return r < 0 ? ccm_error_wrap(err, r, "load balancer %s", model->want.lb.id) : r;
}

static int read_lb(struct lbc_pass *pass, struct alilb_call *call, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    struct nlb_state *have = entry->state;

    if (entry->valid && have->lb.id != NULL && (!entry->gone || entry->reused)) {
        return 0;
    }
    lbc_entry_drop(entry);
    if (!entry->reused && !pass->audit && !pass->looked &&
        lbc_inventory_take(pass->lbc, pass->service, have)) {
        return 0;
    }
    pass->fresh = true;
    return entry->reused ? read_reused(pass, call, err)
                         : nlb_read_lb(call, pass->service, &have->lb, err);
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
    const struct nlb_model *model = pass->model;
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

static int read_rest(struct lbc_pass *pass, struct alilb_call *call, struct ccm_error *err)
{
    const struct nlb_model *model = pass->model;
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
    return nlb_read_parts(call, pass->service, &need, have, err);
}

/* What is done with somebody else's load balancer, now that it is known. */
static int fit_reused(struct lbc_pass *pass, struct ccm_error *err)
{
    struct nlb_model *model = pass->model;
    const struct lbc_tags *tags = &((const struct nlb_state *)pass->entry->state)->lb.tags;
    const bool may = lbc_reuse_may_configure(pass, tags);
    const int r = nlb_check_match(pass, err);

    if (r < 0) {
        return r;
    }
    lbc_reuse_emit_kept(pass, may);
    if (!may) {
        nlb_model_keep_lb(model);
    }
    return lbc_reuse_own_tags(pass, &model->want.lb.tags, tags) < 0 ? ccm_error_nomem(err) : 0;
}

static int pass_read_actual(struct lbc_pass *pass, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_SPEC);
    const struct nlb_state *have = entry->state;
    int r = read_lb(pass, &call, err);

    entry->gone = false;
    entry->valid = r == 0;
    if (r == 0) {
        r = nlb_check_status(pass, err);
    }
    if (r == 0 && !pass->unfinished && entry->reused) {
        r = nlb_check_reuse(pass, err);
    }
    if (r < 0 || pass->unfinished) {
        return r;
    }
    entry->used = entry->used || have->lb.id != NULL;
    r = read_rest(pass, &call, err);
    entry->valid = r == 0;
    if (r == 0 && entry->aside != NULL) {
        nlb_state_recall(entry->state, entry->aside);
    }
    return r == 0 && entry->reused ? fit_reused(pass, err) : r;
}

/* Nothing that could be served was worked out: there is a problem for each port. */
static bool is_hopeless(const struct nlb_model *model)
{
    for (size_t i = 0; i < model->want.lbc.listener_count; i++) {
        if (!nlb_listener_at(&model->want, i)->lbc.broken) {
            return false;
        }
    }
    return lbc_model_has_listeners(&model->lbc) && model->lbc.incomplete;
}

int nlb_check_owner(struct lbc_pass *pass, const char *lb_id, struct ccm_error *err)
{
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb lb = { 0 };
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_SPEC);
    const int r = nlb_read_lb_by_id(&call, lb_id, &lb, err);

    return r < 0 ? r : nlb_read_check_owner(&call, pass->service, &lb, err);
}

static int check_create(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct nlb_model *model = pass->model;
    const struct nlb_state *have = pass->entry->state;
    const char *type = model->want.lb.fields[NLB_LB_ADDRESS_TYPE];

    if (have->lb.id == NULL && pass->lbc->disable_public &&
        !ccm_text_equal_case(type, "Intranet")) {
        return ccm_error_set(
            err, -EPERM, CCM_ERROR_TERMINAL,
            "option disable_public_nlb of plugin nlb forbids a public address: set "
            "annotation address-type to intranet");
    }
    return lbc_pass_check_create(pass, err);
}

/* --- the way from one to the other --- */

/* What leaves only because nodes or slices are missing or not ready may have to stay. */
static int freeze_backends(struct lbc_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_freeze_fini) struct lbc_freeze freeze = { 0 };
    struct nlb_model *model = pass->model;
    const struct nlb_plan_input in = nlb_pass_plan_input(pass, model, false);

    lbc_freeze_begin(&freeze, pass, &model->lbc.nodes);
    for (size_t i = 0; i < model->want.lbc.group_count; i++) {
        struct lbc_freeze_group group = { 0 };
        int r = nlb_plan_leaving(&in, model->want.lbc.groups[i], &group);

        if (r == 0 && group.id != NULL) {
            r = lbc_freeze_add(&freeze, &group);
        }
        if (r < 0) {
            return ccm_error_nomem(err);
        }
    }
    return lbc_freeze_end(&freeze, err);
}

/* What of the plan is there because somebody else has changed something: it would not be there if
 * the cloud still held what it held before. */
static int describe_repair(const struct lbc_plan *plan, const struct nlb_plan_input *in,
                           const struct nlb_state *before, struct ccm_buf *ret)
{
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan asked = { 0 };
    CCM_CLEANUP(lbc_problems_fini) struct lbc_problems ignored = LBC_PROBLEMS_INIT;
    struct nlb_plan_input old = *in;

    old.have = before;
    if (nlb_plan_ensure(&asked, &old, &ignored) < 0) {
        return -ENOMEM;
    }
    lbc_plan_describe_repair(plan, &asked, ret);
    return 0;
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

static int pass_plan_and_apply(struct lbc_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf repair = { .max = 900 };
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { 0 };
    CCM_CLEANUP(lbc_taken_fini) struct lbc_taken_list taken = { 0 };
    const struct nlb_model *model = pass->model;
    struct lbc_entry *entry = pass->entry;
    struct nlb_state *have = entry->state;
    struct nlb_plan_input in = nlb_pass_plan_input(pass, model, pass->fresh);
    const bool is_new = have->lb.id == NULL;
    const size_t known = pass->problems.count;
    const size_t before = pass->writes;

    in.applied = lbc_pass_applied_tags(pass, &have->lb.tags);
    if (nlb_plan_ensure(&plan, &in, &pass->problems) < 0) {
        return ccm_error_nomem(err);
    }
    if (lbc_pass_can_show_repair(pass) &&
        describe_repair(&plan, &in, pass->entry->aside, &repair) < 0) {
        return ccm_error_nomem(err);
    }
    if (nlb_plan_list_taken(&plan, &in, &taken) < 0) {
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

int nlb_sync(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct nlb_state *have = pass->entry->state;
    int r = pass_build_model(pass, err);

    if (r == 0) {
        r = pass_read_actual(pass, err);
    }
    if (r == -EPERM) {
        lbc_pass_invalidate_mirror(pass); /* its owner may change it, or its tags */
    }
    if (r < 0 || pass->unfinished) {
        return r;
    }
    r = check_create(pass, err);
    if (r < 0 || (have->lb.id == NULL && is_hopeless(pass->model))) {
        return r;
    }
    ((struct nlb_model *)pass->model)->lbc.allow = lbc_pass_allow(pass);
    nlb_model_check_groups(pass->model, pass->entry->state, &pass->problems);
    r = freeze_backends(pass, err);
    if (r < 0) {
        return r;
    }
    pass_emit_groups(pass);
    return pass_plan_and_apply(pass, err);
}

/* --- what the Service says then --- */

/* On somebody else's load balancer a port may be served that is not the Service's. */
static bool is_own_listener(const struct lbc_pass *pass, const struct nlb_listener *listener)
{
    enum lbc_owner owner = LBC_OWNER_NONE;

    return !pass->entry->reused ||
           (nlb_name_parse(listener->lbc.description, true, &pass->service->meta,
                           lbc_cluster_id(pass->lbc), &owner) == 0 &&
            owner == LBC_OWNER_OURS);
}

static bool pass_lb_serves(const struct lbc_pass *pass)
{
    const struct nlb_model *model = pass->model;
    const struct nlb_state *have = pass->entry->state;

    if (have->lb.id == NULL || ccm_text_empty(have->lb.dns)) {
        return false;
    }
    if (!lbc_model_has_listeners(&model->lbc)) {
        return pass->problems.count == 0;
    }
    for (size_t i = 0; i < model->want.lbc.listener_count; i++) {
        const struct nlb_listener *want = nlb_listener_at(&model->want, i);

        const struct nlb_listener *listener = nlb_state_listener_like(have, want);

        if (listener != NULL && is_own_listener(pass, listener)) {
            return true;
        }
    }
    return model->want.lbc.listener_count == 0;
}

bool nlb_publish(struct lbc_pass *pass, struct lbc_life_state *state)
{
    const struct nlb_model *model = pass->model;
    const struct nlb_state *have = pass->entry->state;

    if (model->lbc.mismatch || !pass_lb_serves(pass)) {
        return false;
    }
    state->lb_id = have->lb.id;
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
