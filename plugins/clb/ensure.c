#include "pass.h"

#include "annotations.h"
#include "audit.h"
#include "inventory.h"
#include "read.h"
#include "read_listeners.h"
#include "service/hash.h"
#include "service/object.h"
#include "tell.h"
#include "unserved.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WHAT   "Error syncing load balancer"
#define FAILED "SyncLoadBalancerFailed"

#define POLL_MS 10000 /* then doubling, 32 times as long at most */

/* --- before any write --- */

static void tell_fields(struct clb_pass *pass)
{
    for (const struct clb_unserved *field = clb_unserved; field->topic != NULL; field++) {
        clb_pass_say(pass, true, field->topic, "UnsupportedField",
                     (pass->clb->extras & field->unless) == 0 && field->is_set(pass->service)
                         ? field->text
                         : "");
    }
}

static int check(struct clb_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf hints = { .max = 900 };
    const int r = clb_annotations_check(pass->service, err);

    ccm_anno_unknown(&clb_annotations, &pass->service->meta, &hints);
    clb_pass_say(pass, true, "UnknownAnnotation", "UnknownAnnotation", ccm_buf_str(&hints));
    tell_fields(pass);
    return r < 0 ? clb_pass_fail(pass, FAILED, WHAT, r, err) : 0;
}

/* --- desired state --- */

struct snapshot {
    const struct ccm_host *host;
    const struct ccm_object *const *nodes;
    size_t node_count;
    const struct ccm_object *const *slices;
    size_t slice_count;
};

static void snapshot_fini(struct snapshot *snapshot)
{
    if (snapshot->host != NULL) {
        snapshot->host->release_list(snapshot->host, snapshot->nodes, snapshot->node_count);
        snapshot->host->release_list(snapshot->host, snapshot->slices, snapshot->slice_count);
    }
}

static int snapshot_take(struct snapshot *snapshot, const struct clb_pass *pass,
                         struct ccm_error *err)
{
    const struct ccm_host *host = pass->clb->host;

    snapshot->host = host;
    if (host->list(host, CCM_KIND_NODE, NULL, NULL, &snapshot->nodes, &snapshot->node_count) < 0 ||
        host->list(host, CCM_KIND_ENDPOINT_SLICE, "service", pass->service->meta.key,
                   &snapshot->slices, &snapshot->slice_count) < 0) {
        return ccm_error_nomem(err);
    }
    return 0;
}

struct resolved_list {
    struct ccm_resolved *items;
    size_t count;
};

static void resolved_list_fini(struct resolved_list *list)
{
    for (size_t i = 0; list->items != NULL && i < list->count; i++) {
        ccm_resolved_fini(&list->items[i]);
    }
    free(list->items);
}

static int build(struct clb_pass *pass, const struct snapshot *snapshot, struct clb_model *model,
                 struct ccm_error *err)
{
    CCM_CLEANUP(resolved_list_fini) struct resolved_list resolved = { 0 };
    const struct clb_model_input in = {
        .service = pass->service,
        .nodes = snapshot->nodes,
        .node_count = snapshot->node_count,
        .slices = snapshot->slices,
        .slice_count = snapshot->slice_count,
        .accepted = pass->readiness.accepted,
        .cluster_id = ccm_ali_cluster_id(pass->clb->ali),
        .default_eni = pass->clb->default_eni,
        .extras = pass->clb->extras,
    };
    int r = clb_model_begin(model, &in, &pass->problems, err);

    if (r < 0) {
        return r;
    }
    resolved.count = model->want.group_count;
    resolved.items = calloc(resolved.count == 0 ? 1 : resolved.count, sizeof(*resolved.items));
    if (resolved.items == NULL) {
        return ccm_error_nomem(err);
    }
    r = ccm_resolve(pass->clb->ali, pass->clb->host, pass->req, model->sets, resolved.count,
                    resolved.items, err);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < resolved.count; i++) {
        ccm_buf_addf(&pass->invalid, "%s%s", pass->invalid.len == 0 ? "" : ",",
                     ccm_buf_str(&resolved.items[i].invalid));
    }
    clb_model_finish(model, resolved.items);
    clb_tell_backends(pass, model, resolved.items);
    return 0;
}

/* --- actual state --- */

/* Whether there is an answer to all that the annotations ask. */
static bool knows_enough(const struct clb_lb *lb, const struct clb_model *model)
{
    for (size_t i = 0; lb->partial && i < CLB_LB_FIELD_COUNT; i++) {
        if ((model->told >> i & 1U) != 0 && clb_lb_fields[i].offset != SIZE_MAX &&
            clb_lb_get(lb, (enum clb_lb_field_id)i) == NULL) {
            return false;
        }
    }
    return true;
}

/* Ids are given by the cloud: one that does not exist will not exist later either. */
static int read_reused(struct clb_pass *pass, struct clb_call *call, const char *id,
                       struct ccm_error *err)
{
    const int r = clb_read_lb_by_id(call, pass->service, id, &pass->entry->state.lb, err);

    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        err->kind = CCM_ERROR_TERMINAL;
    }
    return r;
}

static int read_lb(struct clb_pass *pass, struct clb_call *call, const struct clb_model *model,
                   bool *ret_fresh, struct ccm_error *err)
{
    struct clb_entry *entry = pass->entry;
    struct clb_lb *lb = &entry->state.lb;

    *ret_fresh = false;
    if (!entry->valid || lb->id == NULL || (entry->gone && entry->shared == NULL)) {
        clb_entry_drop(entry);
        if (!model->reused && !pass->audit &&
            clb_inventory_take(pass->clb, pass->service, &entry->state)) {
            return 0;
        }
        *ret_fresh = true;
        return model->reused ? read_reused(pass, call, model->want.lb.id, err)
                             : clb_read_lb(call, pass->service, lb, err);
    }
    return knows_enough(lb, model) ? 0 : clb_read_lb_by_id(call, pass->service, lb->id, lb, err);
}

static int fill(struct clb_pass *pass, const struct clb_model *model, bool *ret_fresh,
                struct ccm_error *err)
{
    struct clb_entry *entry = pass->entry;
    struct clb_call call = clb_pass_call(pass, CCM_ALI_PRIO_SPEC);
    const struct clb_need need = {
        .want = &model->want,
        .listeners = clb_model_has_listeners(model),
        .scan = model->reused && !pass->known,
    };
    int r = read_lb(pass, &call, model, ret_fresh, err);

    entry->gone = false;
    entry->valid = r == 0;
    if (r == 0 && model->reused) {
        r = clb_check_reuse(pass, model, &call, err);
    }
    if (r < 0 || entry->state.lb.id == NULL) {
        return r;
    }
    entry->used = true;
    r = clb_read_parts(&call, pass->service, &need, &entry->state, err);
    entry->valid = r == 0;
    return r;
}

/* Domain extensions and access lists, as far as the Service asks for them. */
static int fill_details(struct clb_pass *pass, const struct clb_model *model, struct ccm_error *err)
{
    struct clb_call call = clb_pass_call(pass, CCM_ALI_PRIO_SPEC);

    return clb_model_has_listeners(model)
               ? clb_read_details(&call, pass->service, &model->want, pass->clb->extras,
                                  &pass->entry->state, err)
               : 0;
}

/* Whether a missing load balancer may be made. */
static int check_create(const struct clb_pass *pass, const struct clb_model *model,
                        struct ccm_error *err)
{
    const struct ccm_service *service = pass->service;

    if (pass->entry->state.lb.id != NULL) {
        return 0;
    }
    if (service->ingress_count > 0) {
        return ccm_error_set(err, -ENOENT, CCM_ERROR_TERMINAL,
                             "alicloud: can not find loadbalancer, but it's defined in service "
                             "[%s] this may happen when you delete the loadbalancer",
                             service->ingress[0]->ip);
    }
    if (pass->clb->disable_public && ccm_text_equal(model->want.lb.address_type, "internet")) {
        return ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                             "create public address slb is not allowed");
    }
    return 0;
}

/* --- the way from one to the other --- */

static int walk(struct clb_pass *pass, const struct clb_model *model, bool fresh,
                struct ccm_error *err)
{
    CCM_CLEANUP(clb_plan_fini) struct clb_plan plan = { 0 };
    const bool is_new = pass->entry->state.lb.id == NULL;
    const struct clb_plan_input in = {
        .model = model,
        .have = &pass->entry->state,
        .service = pass->service,
        .cluster_id = ccm_ali_cluster_id(pass->clb->ali),
        .applied = pass->entry->applied_known ? &pass->entry->applied : NULL,
        .batch = atomic_load(&pass->clb->batch),
        .fresh = fresh,
    };
    const size_t known = pass->problems.count;
    struct clb_apply apply = {
        .call = clb_pass_call(pass, is_new ? CCM_ALI_PRIO_NEW : CCM_ALI_PRIO_SPEC),
        .clb = pass->clb,
        .service = pass->service,
        .entry = pass->entry,
        .model = model,
        .fresh = fresh,
        .problems = &pass->problems,
    };

    if (clb_plan_ensure(&plan, &in, &pass->problems) < 0) {
        return ccm_error_nomem(err);
    }
    const bool refused = pass->problems.count > known;
    const int r = clb_apply_run(&apply, &plan);

    if (refused && !fresh) {
        pass->entry->valid = false; /* our picture may have been wrong: look again soon */
    }
    pass->writes += apply.writes;
    if (pass->audit && apply.writes > 0 && r == 0 && pass->problems.count == known) {
        clb_audit_tell(pass, &plan);
    }
    pass->entry->used = pass->entry->used || pass->entry->state.lb.id != NULL;
    return r < 0 && pass->problems.count == 0 ? r : 0; /* problems are reported by the caller */
}

static bool serves(const struct clb_pass *pass, const struct clb_model *model)
{
    const struct clb_state *have = &pass->entry->state;

    if (!clb_model_has_listeners(model)) {
        return have->lb.id != NULL && pass->problems.count == 0;
    }
    for (size_t i = 0; have->lb.id != NULL && i < model->want.listener_count; i++) {
        const struct clb_listener *listener = clb_state_listener(
            have, model->want.listeners[i].port, model->want.listeners[i].protocol);

        if (listener != NULL && listener->running) {
            return true;
        }
    }
    return have->lb.id != NULL && model->want.listener_count == 0;
}

/* What the status shows, as long as no hostname takes its place. */
static const char *addresses(struct clb_pass *pass, const struct clb_model *model)
{
    struct clb_lb *lb = &pass->entry->state.lb;
    struct clb_call call = clb_pass_call(pass, CCM_ALI_PRIO_SPEC);
    struct ccm_error err = CCM_ERROR_INIT;

    if (!model->show_eip) {
        clb_pass_say(pass, true, "eip", "", "");
        return lb->address;
    }
    if (lb->eips == NULL && clb_read_eips(&call, lb, &err) == 0 && lb->eips == NULL) {
        (void)ccm_error_set(&err, 0, CCM_ERROR_NOT_FOUND,
                            "slb %s has no eip, svc external ip cannot be set to eip address",
                            lb->id); /* the result is the argument */
    }
    if (lb->eips != NULL) {
        clb_pass_say(pass, true, "eip", "", "");
        return lb->eips;
    }
    pass->clb->host->log(pass->clb->host, CCM_LEVEL_WARN, pass->service->meta.key, "%s",
                         err.message);
    clb_pass_say(pass, true, "eip", "FailedSetEIPAddress",
                 "get eip error, set external ip to slb ip");
    return lb->address;
}

/* Address and id as soon as one port serves; the hash only after a complete success. */
static int publish(struct clb_pass *pass, const struct clb_model *model, struct ccm_error *err)
{
    bool written = false;
    int r;

    if (!serves(pass, model)) {
        return 0;
    }
    const struct ccm_life_state state = {
        .hash = pass->problems.count == 0 ? pass->hash : NULL,
        .lb_id = pass->entry->state.lb.id,
        .ip = addresses(pass, model),
        .hostname = model->hostname,
        .ip_mode = pass->clb->ip_mode,
    };

    r = ccm_life_publish(&pass->clb->life, pass->req, pass->service, &state, &written, err);
    if (r < 0) {
        return clb_pass_fail(pass, "FailedUpdateStatus", "Error updating load balancer status", r,
                             err);
    }
    pass->hashed = state.hash != NULL && !pass->known;
    return 0;
}

/* Pods whose readiness waits for us; those that are not so far are looked at again, since no change
 * of a slice will announce them. */
static int tell_pods(struct clb_pass *pass, struct ccm_error *err)
{
    uint32_t *polls = &pass->entry->polls;
    const int r = ccm_readiness_tell(&pass->readiness, ccm_buf_str(&pass->invalid), err);

    if (r < 0) {
        return clb_pass_fail(pass, "FailedUpdateReadinessGate",
                             "Error updating pod readiness gates for service", r, err);
    }
    clb_pass_say(pass, true, "FailedUpdateReadinessGate", "", "");
    *polls = pass->readiness.waiting ? *polls + 1 : 0;
    if (pass->readiness.waiting) {
        pass->requeue_ms = (uint64_t)POLL_MS << (*polls > 5 ? 5 : *polls - 1);
    }
    return 0;
}

static int check_invalid(const struct clb_model *model, struct ccm_error *err)
{
    for (size_t i = 0; i < model->want.group_count; i++) {
        if (model->want.groups[i].add_only) {
            return ccm_error_set(err, -EAGAIN, CCM_ERROR_TRANSIENT,
                                 "has invalid backend in vservergroups");
        }
    }
    return 0;
}

static void succeed(struct clb_pass *pass)
{
    static const char *const topics[] = { FAILED, "FailedAddFinalizer", "FailedUpdateStatus",
                                          "CleanLoadBalancer", "CleanLoadBalancerFailed" };
    CCM_CLEANUP(ccm_freep)
    char *text = ccm_text_format("Ensured load balancer [%s]", clb_pass_lb_id(pass));

    for (size_t i = 0; i < CCM_ARRAY_LEN(topics); i++) {
        clb_pass_say(pass, false, topics[i], "", "");
    }
    if (text != NULL && (pass->writes > 0 || pass->hashed)) {
        ccm_life_event(&pass->clb->life, pass->service, false, "EnsuredLoadBalancer", "%s", text);
    }
}

/* The additional tags that are on the load balancer because of us. After a restart the label tells
 * that all that is wanted was done. */
static int remember_tags(struct clb_pass *pass, const struct clb_model *model)
{
    struct clb_entry *entry = pass->entry;

    if (entry->applied_known || !pass->known) {
        return 0;
    }
    entry->applied_known = true;
    return clb_tags_copy(&entry->applied, &model->want.lb.tags);
}

static int sync(struct clb_pass *pass, struct clb_model *model, const struct snapshot *snapshot,
                struct ccm_error *err)
{
    bool fresh = false;
    int r = build(pass, snapshot, model, err);

    if (r == 0) {
        r = fill(pass, model, &fresh, err);
    }
    if (r == 0) {
        r = check_create(pass, model, err);
    }
    if (r == 0) {
        r = fill_details(pass, model, err);
    }
    if (r == 0) {
        clb_model_check_groups(model, &pass->entry->state, &pass->problems);
        r = remember_tags(pass, model) < 0 ? ccm_error_nomem(err) : 0;
    }
    if (r == 0) {
        r = walk(pass, model, fresh, err);
    }
    return r < 0 ? clb_pass_fail(pass, FAILED, WHAT, r, err) : 0;
}

int clb_ensure(struct clb_pass *pass, struct ccm_error *err)
{
    CCM_CLEANUP(snapshot_fini) struct snapshot snapshot = { 0 };
    CCM_CLEANUP(clb_model_fini) struct clb_model model = { 0 };
    int r = check(pass, err);

    if (r < 0) {
        return r;
    }
    if (ccm_hash_service(pass->service, pass->hash) < 0) {
        return ccm_error_nomem(err);
    }
    pass->known =
        ccm_text_equal(ccm_object_label(&pass->service->meta, CCM_HASH_LABEL), pass->hash);
    r = ccm_life_add_finalizer(&pass->clb->life, pass->req, pass->service, err);
    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        return 0; /* deleted meanwhile, and nothing was made yet */
    }
    if (r < 0) {
        return clb_pass_fail(pass, "FailedAddFinalizer", "Error adding finalizer", r, err);
    }
    r = snapshot_take(&snapshot, pass, err);
    if (r == 0 && ccm_readiness_look(&pass->readiness, snapshot.slices, snapshot.slice_count,
                                     &pass->entry->gateless) < 0) {
        r = ccm_error_nomem(err);
    }
    if (r == 0) {
        r = sync(pass, &model, &snapshot, err);
    }
    if (r == 0 && pass->problems.count == 0) {
        r = tell_pods(pass, err);
    }
    if (r == 0) {
        r = publish(pass, &model, err);
    }
    if (r < 0) {
        return r;
    }
    if (pass->problems.count > 0) {
        return clb_pass_fail_all(pass, FAILED, WHAT, err);
    }
    succeed(pass);
    clb_tell_model(pass, &model);
    pass->entry->applied_known = true;
    if (clb_tags_copy(&pass->entry->applied, &model.want.lb.tags) < 0) {
        return ccm_error_nomem(err);
    }
    return check_invalid(&model, err);
}
