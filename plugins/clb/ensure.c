#include "pass.h"

#include "annotations.h"
#include "read.h"
#include "service/hash.h"
#include "service/object.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WHAT   "Error syncing load balancer"
#define FAILED "SyncLoadBalancerFailed"

/* --- before any write --- */

/* Fields of the specification that a person may rely on and that nothing here acts on. */
static void tell_fields(struct clb_pass *pass)
{
    const struct ccm_service *service = pass->service;

    clb_pass_say(pass, true, "ranges", "UnsupportedField",
                 service->source_range_count == 0
                     ? ""
                     : "spec.loadBalancerSourceRanges has no effect: the load balancer accepts "
                       "connections from everywhere");
    clb_pass_say(pass, true, "ip", "UnsupportedField",
                 service->load_balancer_ip[0] == '\0'
                     ? ""
                     : "spec.loadBalancerIP has no effect: the cloud chooses the address");
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

/* What a person should know about the backends, once per change. */
static void tell_backends(struct clb_pass *pass, const struct clb_model *model,
                          const struct resolved_list *resolved)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf invalid = { .max = 800 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf foreign = { .max = 800 };
    const char *none = "";
    const char *hold = "";

    for (size_t i = 0; i < resolved->count; i++) {
        const struct ccm_resolved *one = &resolved->items[i];

        if (one->invalid.len > 0) {
            ccm_buf_addf(&invalid, "%sNot sync pods [%s] whose eni is invalid",
                         invalid.len == 0 ? "" : "; ", ccm_buf_str(&one->invalid));
        }
        if (one->foreign.len > 0) {
            ccm_buf_addf(&foreign, "%sNot sync pods [%s] whose ip is not in vpc cidrs",
                         foreign.len == 0 ? "" : "; ", ccm_buf_str(&one->foreign));
        }
        if (model->want.groups[i].backends.len == 0) {
            none = "There are no available nodes for LoadBalancer";
        }
        if (model->want.groups[i].hold) {
            hold = "All nodes turned NotReady at once: the present backends are kept";
        }
    }
    clb_pass_say(pass, true, "invalid", "SkipSyncBackends", ccm_buf_str(&invalid));
    clb_pass_say(pass, false, "foreign", "SkipSyncBackends", ccm_buf_str(&foreign));
    clb_pass_say(pass, false, "none", "UnAvailableLoadBalancer", hold[0] == '\0' ? none : "");
    clb_pass_say(pass, true, "hold", "SkipSyncBackends", hold);
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
        .cluster_id = ccm_ali_cluster_id(pass->clb->ali),
        .default_eni = pass->clb->default_eni,
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
    clb_model_finish(model, resolved.items);
    tell_backends(pass, model, &resolved);
    return 0;
}

/* --- actual state --- */

static int fill(struct clb_pass *pass, bool *ret_fresh, struct ccm_error *err)
{
    struct clb_entry *entry = pass->entry;
    struct clb_call call = clb_pass_call(pass, CCM_ALI_PRIO_SPEC);
    int r;

    *ret_fresh = false;
    if (entry->valid && !entry->gone && entry->state.lb.id != NULL) {
        return 0;
    }
    clb_entry_drop(entry);
    entry->gone = false;
    r = clb_read(&call, pass->service, &entry->state, err);
    entry->valid = r == 0;
    *ret_fresh = true;
    return r;
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
        .batch = atomic_load(&pass->clb->batch),
    };
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
    const int r = clb_apply_run(&apply, &plan);

    pass->writes += apply.writes;
    return r < 0 && pass->problems.count == 0 ? r : 0; /* problems are reported by the caller */
}

static bool serves(const struct clb_pass *pass, const struct clb_model *model)
{
    const struct clb_state *have = &pass->entry->state;

    for (size_t i = 0; have->lb.id != NULL && i < model->want.listener_count; i++) {
        const struct clb_listener *listener = clb_state_listener(
            have, model->want.listeners[i].port, model->want.listeners[i].protocol);

        if (listener != NULL && listener->running) {
            return true;
        }
    }
    return have->lb.id != NULL && model->want.listener_count == 0;
}

/* Address and id as soon as one port serves; the hash only after a complete success. */
static int publish(struct clb_pass *pass, const struct clb_model *model, struct ccm_error *err)
{
    const struct clb_lb *lb = &pass->entry->state.lb;
    char hash[CCM_HASH_TEXT];
    bool written = false;
    int r = ccm_hash_service(pass->service, hash);

    if (r < 0) {
        return ccm_error_nomem(err);
    }
    if (!serves(pass, model)) {
        return 0;
    }
    const struct ccm_life_state state = {
        .hash = pass->problems.count == 0 ? hash : NULL,
        .lb_id = lb->id,
        .ip = lb->address,
    };

    r = ccm_life_publish(&pass->clb->life, pass->req, pass->service, &state, &written, err);
    if (r < 0) {
        return clb_pass_fail(pass, "FailedUpdateStatus", "Error updating load balancer status", r,
                             err);
    }
    pass->hashed = state.hash != NULL &&
                   !ccm_text_equal(ccm_object_label(&pass->service->meta, CCM_HASH_LABEL), hash);
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

static int sync(struct clb_pass *pass, struct clb_model *model, const struct snapshot *snapshot,
                struct ccm_error *err)
{
    bool fresh = false;
    int r = build(pass, snapshot, model, err);

    if (r == 0) {
        r = fill(pass, &fresh, err);
    }
    if (r == 0) {
        r = check_create(pass, model, err);
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
    r = ccm_life_add_finalizer(&pass->clb->life, pass->req, pass->service, err);
    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        return 0; /* deleted meanwhile, and nothing was made yet */
    }
    if (r < 0) {
        return clb_pass_fail(pass, "FailedAddFinalizer", "Error adding finalizer", r, err);
    }
    r = snapshot_take(&snapshot, pass, err);
    if (r == 0) {
        r = sync(pass, &model, &snapshot, err);
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
    return check_invalid(&model, err);
}
