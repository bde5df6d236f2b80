#include "controller.h"

#include "events.h"
#include "lbc/freeze_pass.h"
#include "lbc/model/owner.h"
#include "lbc/reuse.h"
#include "lbc/taken.h"
#include "model_listeners.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct alilb_call clb_pass_call(const struct lbc_pass *pass, enum lbc_priority priority)
{
    struct alilb_call call = alilb_call_for(pass, priority);

    call.paced = &clb_actual(pass->entry)->lb.id;
    return call;
}

/* --- desired state --- */

static int pass_build_model(struct lbc_pass *pass, struct clb_model *model, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_resolved_list_fini) struct lbc_resolved_list resolved = { 0 };
    const struct clb_model_input in = {
        .lbc.service = pass->view,
        .lbc.refused = &pass->refused,
        .lbc.nodes = pass->nodes,
        .lbc.node_count = pass->node_count,
        .lbc.slices = pass->slices,
        .lbc.slice_count = pass->slice_count,
        .lbc.accepted = pass->readiness.accepted,
        .lbc.cluster_id = lbc_cluster_id(pass->lbc),
        .lbc.default_eni = pass->lbc->default_eni,
        .extras = pass->lbc->extras,
    };
    int r = clb_model_begin(model, &in, &pass->problems, err);

    if (r < 0) {
        return r;
    }
    r = lbc_pass_resolve(pass, model->lbc.sets, model->want.lbc.group_count, &resolved, err);
    if (r < 0) {
        return r;
    }
    lbc_model_finish(&model->lbc, resolved.items);
    lbc_pass_emit_backends(pass, &resolved);
    return 0;
}

/* --- actual state --- */

/* Whether there is an answer to all that the annotations ask. */
static bool knows_enough(const struct clb_lb *lb, const struct clb_model *model)
{
    for (size_t i = 0; lb->partial && i < CLB_LB_FIELD_COUNT; i++) {
        if ((model->lbc.explicit >> i & 1U) != 0 && i != CLB_LB_PROTECT &&
            clb_lb_get(lb, (enum clb_lb_field)i) == NULL) {
            return false;
        }
    }
    return true;
}

/* Ids are given by the cloud: one that does not exist will not exist later either. */
static int read_reused(struct lbc_pass *pass, struct alilb_call *call, const char *id,
                       struct ccm_error *err)
{
    const int r = clb_read_lb_by_id(call, id, &clb_actual(pass->entry)->lb, err);

    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        err->kind = CCM_ERROR_TERMINAL;
    }
    return r;
}

static int read_lb(struct lbc_pass *pass, struct alilb_call *call, const struct clb_model *model,
                   struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    struct clb_lb *lb = &clb_actual(entry)->lb;

    if (!entry->valid || lb->id == NULL || (entry->gone && entry->shared == NULL)) {
        lbc_entry_drop(entry);
        if (!model->lbc.reused && !pass->audit && !pass->looked &&
            lbc_inventory_take(pass->lbc, pass->service, clb_actual(entry))) {
            return 0;
        }
        pass->fresh = true;
        return model->lbc.reused ? read_reused(pass, call, model->want.lb.id, err)
                                 : clb_read_lb(call, pass->service, lb, err);
    }
    return knows_enough(lb, model) ? 0 : clb_read_lb_by_id(call, lb->id, lb, err);
}

/* What is done with somebody else's load balancer, now that it is known. */
static int fit_reused(struct lbc_pass *pass, struct clb_model *model, struct ccm_error *err)
{
    const struct lbc_tags *tags = &clb_actual(pass->entry)->lb.tags;
    const bool may = lbc_reuse_may_configure(pass, tags);
    const int r = clb_check_match(pass, model, err);

    if (r < 0) {
        return r;
    }
    lbc_reuse_emit_kept(pass, may);
    if (!may) {
        clb_model_keep_lb(model);
    }
    return lbc_reuse_own_tags(pass, &model->want.lb.tags, tags) < 0 ? ccm_error_nomem(err) : 0;
}

static int pass_read_actual(struct lbc_pass *pass, struct clb_model *model, struct ccm_error *err)
{
    struct lbc_entry *entry = pass->entry;
    struct alilb_call call = clb_pass_call(pass, LBC_PRIO_SPEC);
    const struct clb_need need = {
        .want = &model->want,
        .listeners = lbc_model_has_listeners(&model->lbc),
        .scan = model->lbc.reused && !pass->known,
    };
    int r = read_lb(pass, &call, model, err);

    if (r == 0 && pass->fresh) {
        const struct clb_lb *lb = &clb_actual(entry)->lb;

        lbc_order_see(&entry->order, clb_lb_charge_what(lb, lb->traffic_charge, lb->bandwidth));
    }
    entry->gone = false;
    entry->valid = r == 0;
    if (r == 0 && model->lbc.reused) {
        r = clb_check_reuse(pass, model, err);
    }
    if (r < 0 || clb_actual(entry)->lb.id == NULL) {
        return r;
    }
    entry->used = true;
    r = clb_read_parts(&call, pass->service, &need, clb_actual(entry), err);
    entry->valid = r == 0;
    return r == 0 && model->lbc.reused ? fit_reused(pass, model, err) : r;
}

/* Domain extensions and access lists, as far as the Service asks for them. */
static int pass_read_details(struct lbc_pass *pass, const struct clb_model *model,
                             struct ccm_error *err)
{
    struct alilb_call call = clb_pass_call(pass, LBC_PRIO_SPEC);
    const struct clb_details need = {
        .want = &model->want,
        .marked = lbc_pass_is_marked(pass),
        .ranges = (pass->lbc->extras & CLB_EXTRA_RANGES) != 0,
    };

    return lbc_model_has_listeners(&model->lbc)
               ? clb_read_details(&call, pass->service, &need, clb_actual(pass->entry), err)
               : 0;
}

int clb_check_owner(struct lbc_pass *pass, const char *lb_id, struct ccm_error *err)
{
    CCM_CLEANUP(clb_lb_fini) struct clb_lb lb = { 0 };
    struct alilb_call call = clb_pass_call(pass, LBC_PRIO_SPEC);
    const int r = clb_read_lb_by_id(&call, lb_id, &lb, err);

    /* One that was reused until the annotation went has never been the Service's. */
    return r < 0 || lbc_tags_get(&lb.tags, CLB_TAG_REUSE) != NULL
               ? r
               : clb_read_check_owner(&call, pass->service, &lb, err);
}

/* Whether a missing load balancer may be made. */
static int check_create(struct lbc_pass *pass, const struct clb_model *model, struct ccm_error *err)
{
    if (clb_actual(pass->entry)->lb.id == NULL && pass->lbc->disable_public &&
        pass->service->ingress_count == 0 &&
        ccm_text_equal(model->want.lb.address_type, "internet")) {
        return ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                             "create public address slb is not allowed");
    }
    return lbc_pass_check_create(pass, err);
}

/* --- the way from one to the other --- */

/* What leaves only because nodes or slices are missing or not ready may have to stay. */
static int freeze_backends(struct lbc_pass *pass, struct clb_model *model, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_freeze_fini) struct lbc_freeze freeze = { 0 };
    const struct clb_plan_input in = {
        .model = model,
        .have = clb_actual(pass->entry),
        .service = pass->service,
        .cluster_id = lbc_cluster_id(pass->lbc),
    };

    lbc_freeze_begin(&freeze, pass, &model->lbc.nodes);
    for (size_t i = 0; i < model->want.lbc.group_count; i++) {
        struct lbc_freeze_group group = { 0 };
        int r = clb_plan_leaving(&in, model->want.lbc.groups[i], &group);

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
static int describe_repair(const struct lbc_plan *plan, const struct clb_plan_input *in,
                           const struct clb_state *before, struct ccm_buf *ret)
{
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan asked = { 0 };
    CCM_CLEANUP(lbc_problems_fini) struct lbc_problems ignored = LBC_PROBLEMS_INIT;
    struct clb_plan_input old = *in;

    old.have = before;
    if (clb_plan_ensure(&asked, &old, &ignored) < 0) {
        return -ENOMEM;
    }
    lbc_plan_describe_repair(plan, &asked, ret);
    return 0;
}

static int pass_plan_and_apply(struct lbc_pass *pass, const struct clb_model *model,
                               struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf repair = { .max = 900 };
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { 0 };
    CCM_CLEANUP(lbc_taken_fini) struct lbc_taken_list taken = { 0 };
    const bool is_new = clb_actual(pass->entry)->lb.id == NULL;
    const struct clb_plan_input in = {
        .model = model,
        .have = clb_actual(pass->entry),
        .service = pass->service,
        .cluster_id = lbc_cluster_id(pass->lbc),
        .applied = lbc_pass_applied_tags(pass, &clb_actual(pass->entry)->lb.tags),
        .order = &pass->entry->order,
        .now_ms = pass->lbc->host->now_ms(pass->lbc->host),
        .batch = atomic_load(&clb_of(pass)->batch),
        .fresh = pass->fresh,
        .restores = lbc_taken_restores(pass->lbc),
        .cannot_restore = pass->entry->unrestored >= LBC_TAKEN_TRIES,
    };
    const size_t known = pass->problems.count;
    struct clb_apply apply = {
        .ali = { .lbc = lbc_pass_begin_apply(pass, pass->fresh),
                 .call = clb_pass_call(pass, is_new ? LBC_PRIO_NEW : LBC_PRIO_SPEC),
                 .service = pass->service },
        .clb = clb_of(pass),
        .entry = pass->entry,
        .model = model,
    };

    if (clb_plan_ensure(&plan, &in, &pass->problems) < 0) {
        return ccm_error_nomem(err);
    }
    if (clb_plan_list_taken(&plan, &in, &taken) < 0) {
        return ccm_error_nomem(err);
    }
    if (lbc_taken_remember(pass, &taken, err) < 0) {
        return -EAGAIN; /* err says more */
    }
    if (pass->dry) {
        lbc_plan_print(&plan, &in, &pass->steps);
        return 0;
    }
    if (lbc_pass_can_show_repair(pass) &&
        describe_repair(&plan, &in, pass->entry->aside, &repair) < 0) {
        return ccm_error_nomem(err);
    }
    const bool refused = pass->problems.count > known;

    pass->entry->blocked = plan.blocked;
    const int r = clb_apply_run(&apply, &plan);

    lbc_pass_end_apply(pass, &apply.ali.lbc);
    if (refused && !pass->fresh) {
        lbc_pass_invalidate_mirror(pass);
    }
    if (apply.ali.lbc.writes > 0 && r == 0 && pass->problems.count == known) {
        lbc_pass_emit_repair(pass, ccm_buf_str(&repair));
    }
    pass->entry->used = pass->entry->used || clb_actual(pass->entry)->lb.id != NULL;
    if (model->lbc.reused && lbc_reuse_record_tags(pass->entry, &model->want.lb.tags,
                                                   &clb_actual(pass->entry)->lb.tags) < 0) {
        return ccm_error_nomem(err);
    }
    return r < 0 && pass->problems.count == 0 ? r : 0; /* problems are reported by the caller */
}

/* On somebody else's load balancer a port may be served that is not the Service's. */
static bool is_own_listener(const struct lbc_pass *pass, const struct clb_model *model,
                            const struct clb_listener *listener)
{
    return !model->lbc.reused ||
           (listener->lbc.description != NULL &&
            lbc_owner_parse(listener->lbc.description, true, &pass->service->meta,
                            lbc_cluster_id(pass->lbc)) == LBC_OWNER_OURS);
}

static bool pass_lb_serves(const struct lbc_pass *pass, const struct clb_model *model)
{
    const struct clb_state *have = clb_actual(pass->entry);

    if (!lbc_model_has_listeners(&model->lbc)) {
        return have->lb.id != NULL && pass->problems.count == 0;
    }
    for (size_t i = 0; have->lb.id != NULL && i < model->want.lbc.listener_count; i++) {
        const struct clb_listener *listener =
            clb_state_listener(have, clb_listener_at(&model->want, i)->lbc.port,
                               clb_listener_at(&model->want, i)->lbc.protocol);

        if (listener != NULL && listener->lbc.running && is_own_listener(pass, model, listener)) {
            return true;
        }
    }
    return have->lb.id != NULL && model->want.lbc.listener_count == 0;
}

/* What the status shows, as long as no hostname takes its place. */
static const char *pass_status_addresses(struct lbc_pass *pass, const struct clb_model *model)
{
    struct clb_lb *lb = &clb_actual(pass->entry)->lb;
    struct alilb_call call = clb_pass_call(pass, LBC_PRIO_SPEC);
    struct ccm_error err = CCM_ERROR_INIT;

    if (!model->show_eip) {
        lbc_pass_emit_event(pass, true, "eip", "", "");
        return lb->address;
    }
    if (lb->eips == NULL && clb_read_eips(&call, lb, &err) == 0 && lb->eips == NULL) {
        (void)ccm_error_set(&err, 0, CCM_ERROR_NOT_FOUND,
                            "slb %s has no eip, svc external ip cannot be set to eip address",
                            lb->id); /* the result is the argument */
    }
    if (lb->eips != NULL) {
        lbc_pass_emit_event(pass, true, "eip", "", "");
        return lb->eips;
    }
    pass->lbc->host->log(pass->lbc->host, CCM_LEVEL_WARN, pass->service->meta.key, "%s",
                         err.message);
    lbc_pass_emit_event(pass, true, "eip", "FailedSetEIPAddress",
                        "get eip error, set external ip to slb ip");
    return lb->address;
}

/* What the label of the access list says: its id while it is there, nothing when it is known that
 * there is none and none is asked for. */
static const char *publish_acl(const struct lbc_pass *pass, const struct clb_model *model)
{
    const struct clb_acl *acl = &clb_actual(pass->entry)->acl;

    if (acl->id != NULL) {
        return acl->id;
    }
    return acl->known && !model->want.acl.known ? "" : NULL;
}

bool clb_publish(struct lbc_pass *pass, struct lbc_life_state *state)
{
    const struct clb_model *model = pass->model;

    if (model->lbc.mismatch || !pass_lb_serves(pass, model) ||
        (model->keep_status && pass->service->ingress_count > 0)) {
        return false;
    }
    state->lb_id = clb_actual(pass->entry)->lb.id;
    state->ip = pass_status_addresses(pass, model);
    state->hostname = model->hostname;
    state->extra = publish_acl(pass, model);
    return true;
}

int clb_sync(struct lbc_pass *pass, struct ccm_error *err)
{
    struct clb_model *model = pass->model;
    int r = pass_build_model(pass, model, err);

    if (r == 0) {
        r = pass_read_actual(pass, model, err);
    }
    if (r == -EPERM) {
        lbc_pass_invalidate_mirror(pass); /* its owner may change it, or its tags */
    }
    if (r == 0) {
        r = check_create(pass, model, err);
    }
    if (r == 0) {
        r = pass_read_details(pass, model, err);
    }
    if (r == 0) {
        model->lbc.allow = lbc_pass_allow(pass);
        clb_model_check_groups(model, clb_actual(pass->entry), &pass->problems);
        r = freeze_backends(pass, model, err);
    }
    if (r == 0) {
        clb_emit_group_events(pass, model);
        r = pass_plan_and_apply(pass, model, err);
    }
    return r;
}

void clb_emit_events(struct lbc_pass *pass)
{
    clb_emit_model_events(pass, pass->model);
}
