#include "lbc/pass.h"
#include "lbc/names.h"

#include "lbc/instance.h"
#include "lbc/lookup.h"
#include "lbc/model/class.h"
#include "lbc/model/object.h"
#include "lbc/model/settings.h"
#include "lbc/service/conditions.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

#include <stdlib.h>
#include <string.h>

#define AFTER_RESTART_MS 900000 /* less than a server keeps Events for, with a period between */

/* --- facts --- */

const struct lbc_tags *lbc_pass_desired_tags(const struct lbc_pass *pass)
{
    return &lbc_state_lb(pass->model->want)->tags;
}

const char *lbc_pass_lb_id(const struct lbc_pass *pass)
{
    const char *id = lbc_pass_lb(pass)->id;
    const char *label = ccm_object_label(&pass->service->meta, lbc_names.lb_label);

    if (id != NULL) {
        return id;
    }
    return label == NULL ? "" : label;
}

bool lbc_pass_is_marked(const struct lbc_pass *pass)
{
    return lbc_life_is_marked(&pass->life, pass->service);
}

bool lbc_pass_needs_mark(const struct lbc_pass *pass)
{
    const struct lbc_product *product = pass->lbc->ops->product;

    return product->needs_mark != NULL && product->needs_mark(pass->lbc, pass->service);
}

struct lbc_allow lbc_pass_allow(const struct lbc_pass *pass)
{
    const struct ccm_host *host = pass->lbc->host;
    const struct lbc_product *product = pass->lbc->ops->product;

    return (struct lbc_allow){
        .entries = host->option_strings(host, NULL, lbc_opt_allowed.name),
        .plugin = product->served == NULL ? pass->lbc->ops->model->rules->annotations->kind
                                          : product->name,
        .namespace_ = pass->service->meta.namespace_,
    };
}

struct lbc_model_input lbc_pass_model_input(const struct lbc_pass *pass)
{
    const struct lbc_cloud *cloud = &pass->lbc->cloud;

    return (struct lbc_model_input){
        .service = lbc_pass_view(pass),
        .refused = &pass->refused,
        .nodes = pass->snapshot.nodes,
        .node_count = pass->snapshot.node_count,
        .slices = pass->snapshot.slices,
        .slice_count = pass->snapshot.slice_count,
        .accepted = pass->readiness.accepted,
        .cluster_id = lbc_cluster_id(pass->lbc),
        .resource_group = lbc_cloud_site(cloud).resource_group,
        .extras = pass->lbc->extras,
        .pods_by_default = pass->lbc->pods_by_default,
        .pods_only = atomic_load(&pass->lbc->pods_only),
        .lb_id = pass->kept,
        .allow = pass->releases ? (struct lbc_allow){ 0 } : lbc_pass_allow(pass),
    };
}

/* It only tries again what has failed: such passes come in the last lane (sched/queue.h). */
static bool pass_is_retry(const struct lbc_pass *pass)
{
    return lbc_failure_repeats(&pass->entry->failure) && pass->req->lane == CCM_LANE_BULK;
}

enum lbc_priority lbc_pass_priority(const struct lbc_pass *pass, enum lbc_priority wanted)
{
    if (pass_is_retry(pass) && (pass->releases || wanted != LBC_PRIO_REMOVE)) {
        return LBC_PRIO_RETRY;
    }
    if (wanted == LBC_PRIO_SPEC && pass->releases) {
        return LBC_PRIO_REMOVE;
    }
    if (wanted == LBC_PRIO_SPEC && pass->audit) {
        return LBC_PRIO_AUDIT;
    }
    if (wanted == LBC_PRIO_SPEC && pass->req->lane == CCM_LANE_BULK) {
        return LBC_PRIO_BULK;
    }
    return wanted;
}

bool lbc_pass_is_unwanted(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    return lbc_class_needs_delete(service) || !lbc_owns(lbc, service);
}

bool lbc_pass_has_old_condition(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    return lbc_class_needs_delete(service) && lbc_condition_find_ours(service) != NULL &&
           !lbc_object_has_other_finalizer(&service->meta, lbc_names.finalizers,
                                           lbc->life.finalizer);
}

bool lbc_pass_is_disowned(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    struct lbc_hash_seen hash = { .verdict = LBC_HASH_OTHER };

    return lbc->takes != NULL && !lbc_class_needs_delete(service) &&
           !ccm_text_empty(service->load_balancer_class) && service->ingress_count > 0 &&
           lbc_object_has_finalizer(&service->meta, lbc->life.finalizer) &&
           !lbc_object_has_other_finalizer(&service->meta, lbc_names.finalizers,
                                           lbc->life.finalizer) && /* who would have hashed it */
           !lbc_owns(lbc, service) &&
           lbc_hash_see(service, &hash) == 0 && lbc_hash_may_hold(hash.verdict);
}

/* Annotation id was set before its own load balancer served it. A hash label alone shows none: a
 * leader whose cache was old may have written it after the release. */
static bool pass_may_leave_own(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    const bool shown = service->ingress_count > 0 ||
                       !ccm_text_empty(ccm_object_label(&service->meta, lbc_names.lb_label));

    return !lbc->dry && lbc_reused_id(lbc, service)[0] != '\0' && !shown &&
           lbc_object_has_finalizer(&service->meta, lbc->life.finalizer) &&
           lbc_mirrors_find_own(lbc->mirrors, service->meta.key, service->meta.uid) != LBC_OWN_NONE;
}

bool lbc_pass_must_leave(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    const char *left = lbc_life_reused_id(&lbc->life, service);

    if (left[0] == '\0') {
        return pass_may_leave_own(lbc, service);
    }
    return service->ingress_count == 0 && !ccm_text_equal(left, lbc_reused_id(lbc, service)) &&
           !lbc_pass_is_unwanted(lbc, service);
}

/* --- whose it is --- */

int lbc_pass_owner_of(const struct lbc_pass *pass, const char *text, bool listener,
                      enum lbc_owner *ret)
{
    return lbc_plan_parse_owner(pass->lbc->ops->change->rules, text, listener, &pass->service->meta,
                                lbc_cluster_id(pass->lbc), ret);
}

bool lbc_pass_has_listener(const struct lbc_pass *pass, const char *port)
{
    const struct lbc_state *have = pass->entry->state;

    for (size_t i = 0; i < have->listener_count; i++) {
        enum lbc_owner owner = LBC_OWNER_NONE;
        char name[LBC_TAKEN_PORT];

        lbc_taken_format_port(have->listeners[i], name);
        if (strcmp(name, port) == 0) {
            /* Out of memory: what is kept about it stays. */
            return lbc_pass_owner_of(pass, have->listeners[i]->description, true, &owner) < 0 ||
                   owner == LBC_OWNER_OURS;
        }
    }
    return !have->listeners_known; /* they were not read */
}

/* A creation whose outcome is unknown has perhaps made one, of this process or an earlier one:
 * the index of tags may be late, that of names is not. */
static bool pass_may_have_lost_lb(const struct lbc_pass *pass)
{
    const struct lbc_creation *creation = &pass->entry->creation;

    return !creation->named &&
           (creation->sent || creation->taken_ms != 0 ||
            (!creation->bound_here &&
             lbc_object_has_finalizer(&pass->service->meta, pass->life.finalizer)));
}

enum lbc_creation_verdict lbc_pass_judge_creation(struct lbc_pass *pass, uint64_t *ret_wait_ms)
{
    struct lbc_creation *creation = &pass->entry->creation;
    const bool earlier = !creation->bound_here && !lbc_lookup_shows_lb(pass->service) &&
                         lbc_object_has_finalizer(&pass->service->meta, pass->life.finalizer);

    return pass->lbc->dry
               ? LBC_CREATION_NOW
               : lbc_creation_judge(creation, lbc_has_trait(pass->lbc, LBC_CREATES_ONCE), earlier,
                                    pass->lbc->host->now_ms(pass->lbc->host), ret_wait_ms);
}

/* A list by tags may lack what an earlier process created for the Service, soon after the start,
 * and what a write of ours has created that seemed to fail. */
static bool pass_is_early(const struct lbc_pass *pass, int64_t at_ms)
{
    const int64_t lost_ms = pass->entry->change.lost_ms;

    return (!pass->entry->creation.bound_here &&
            at_ms - pass->lbc->began_ms < LBC_CREATION_LAG_MS) ||
           (lost_ms != 0 && at_ms - lost_ms < LBC_CREATION_LAG_MS);
}

bool lbc_pass_is_early(const struct lbc_pass *pass)
{
    const struct ccm_host *host = pass->lbc->host;

    return pass_is_early(pass, host->now_ms(host));
}

bool lbc_pass_may_lack_parts(const struct lbc_pass *pass)
{
    const struct lbc_entry *entry = pass->entry;

    return lbc_pass_is_early(pass) || !lbc_failure_is_first(&entry->failure) ||
           entry->change.conflicted || (entry->used && lbc_pass_lb(pass)->id == NULL);
}

bool lbc_pass_was_read_early(const struct lbc_pass *pass)
{
    return pass_is_early(pass, pass->entry->audit.read_ms);
}

void lbc_pass_await_created(struct lbc_pass *pass, uint64_t wait_ms)
{
    pass->entry->valid = false; /* that there is none was not proven */
    pass->unfinished = true;
    pass->again.ms = wait_ms;
    pass->again.why = "a load balancer that was created may be missing from the lists of the cloud "
                      "for a while: it is looked for again";
}

struct lbc_lookup_how lbc_pass_begin_lookup(const struct lbc_pass *pass)
{
    return (struct lbc_lookup_how){
        .by_name = pass_may_have_lost_lb(pass),
        .any = pass->releases,
    };
}

void lbc_pass_end_lookup(struct lbc_pass *pass, struct lbc_lookup_how *how, const char *id, int r)
{
    const char *noun = lbc_product_served(pass->lbc->ops->product)->noun;
    CCM_CLEANUP(ccm_freep) char *several = CCM_STEAL(how->several);
    CCM_CLEANUP(ccm_freep) char *text = NULL;
    struct lbc_creation *creation = &pass->entry->creation;

    if (r == 0 && id != NULL) {
        lbc_creation_found(creation);
    } else if (r == 0) {
        creation->named = creation->named || how->by_name;
    }
    lbc_release_note_more(&pass->release, r == 0 && how->more);
    if (r == 0) {
        lbc_release_note_several(&pass->entry->release, several != NULL);
    }
    if (r < 0 || (pass->releases && several == NULL)) {
        return;
    }
    if (several != NULL && id != NULL && pass->releases && pass->model->preserve) {
        text =
            ccm_text_format("Load balancers %s all carry the tag of this %s. None is deleted, as "
                            "annotation preserve-lb-on-delete asks: (goes) marks those that a "
                            "deletion without it takes",
                            several, noun);
    } else if (several != NULL && id != NULL && pass->releases) {
        text = ccm_text_format("Load balancers %s all carry the tag of this %s, and %s is deleted "
                               "now. Each one with (goes) has its label, or both tags and its "
                               "name, and is deleted as well. Any other one stays: delete it in "
                               "the console if it serves nothing, or take its tag %s off",
                               several, noun, id, lbc_names.tag_owner);
    } else if (several != NULL && id != NULL) {
        text = ccm_text_format("Load balancers %s all carry the tag of this %s: %s is used, as its "
                               "label or name says; delete the others in the console if they "
                               "serve nobody, or take their tag %s off",
                               several, noun, id, lbc_names.tag_owner);
    } else if (several != NULL) {
        text = ccm_text_format("What carries the tag of this %s, %s, is not the load balancer "
                               "that its label names, nor has it such a name: it stays as it is; "
                               "delete it in the console if it serves nobody",
                               noun, several);
    }
    lbc_pass_emit_standing(pass, "several", "DuplicateLoadBalancer", text);
}

void lbc_pass_begin_own(const struct lbc_pass *pass, struct lbc_lookup *look)
{
    lbc_lookup_init(look, &pass->service->meta, lbc_cluster_id(pass->lbc), false);
    look->any = lbc_pass_begin_lookup(pass).any;
}

int lbc_pass_end_own(struct lbc_pass *pass, const struct lbc_lookup *look, struct lbc_state *state,
                     struct ccm_error *err)
{
    struct lbc_lookup_how how = { .any = look->any };
    const int r = lbc_lookup_settle(look, &how, err);

    if (r == 0 && lbc_lookup_leaves(look)) {
        lbc_state_fini(state, pass->lbc->ops->mirror);
        state->groups_known = state->listeners_known = true;
    }
    lbc_pass_end_lookup(pass, &how, lbc_state_lb(state)->id, r);
    return r;
}

/* A load balancer beside the mirror, as lbc_read_ops.lb() says; the caller frees *ret with
 * pass_drop_lb() in any case. */
static int pass_read_lb(struct lbc_pass *pass, const char *id, struct lbc_state **ret,
                        struct ccm_error *err)
{
    *ret = calloc(1, pass->lbc->ops->mirror->size);
    return *ret == NULL ? ccm_error_nomem(err) : pass->lbc->ops->read->lb(pass, id, *ret, err);
}

static void pass_drop_lb(const struct lbc_pass *pass, struct lbc_state *state)
{
    if (state != NULL) {
        lbc_state_fini(state, pass->lbc->ops->mirror);
    }
    free(state);
}

int lbc_pass_check_own(const struct lbc_pass *pass, struct ccm_error *err)
{
    const struct lbc_lb *lb = lbc_pass_lb(pass);

    return lb->id == NULL ? 0
                          : lbc_lookup_check(&pass->service->meta, lbc_cluster_id(pass->lbc),
                                             lb->id, lb->texts[LBC_LB_NAME], &lb->tags, err);
}

bool lbc_pass_is_gone(struct lbc_pass *pass, const char *lb_id)
{
    struct lbc_state *state = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    const bool gone =
        pass_read_lb(pass, lb_id, &state, &err) < 0 && err.kind == CCM_ERROR_NOT_FOUND;

    pass_drop_lb(pass, state);
    return gone;
}

int lbc_pass_find_own_id(struct lbc_pass *pass, char **ret, struct ccm_error *err)
{
    struct lbc_state *state = NULL;
    int r = pass_read_lb(pass, NULL, &state, err);

    if (r == 0) {
        const char *id = lbc_state_lb(state)->id;

        *ret = id == NULL ? NULL : strdup(id);
        r = id != NULL && *ret == NULL ? ccm_error_nomem(err) : 0;
    }
    pass_drop_lb(pass, state);
    return r;
}

void lbc_pass_drop_model(struct lbc_pass *pass)
{
    if (pass->model != NULL) {
        lbc_model_fini(pass->model);
    }
    free(pass->model);
    pass->model = NULL;
}

/* --- events --- */

void lbc_pass_stand(const struct lbc_pass *pass, const struct lbc_life_standing *what)
{
    lbc_life_stand(&pass->lbc->life, pass->service, what);
}

static void pass_stand_text(const struct lbc_pass *pass, bool warning, const char *topic,
                            const char *reason, const char *text, uint64_t after_ms)
{
    const struct lbc_life_standing what = {
        .warning = warning,
        .topic = topic,
        .reason = reason,
        .text = text == NULL ? "" : text,
        .after_ms = after_ms,
    };

    lbc_pass_stand(pass, &what);
}

void lbc_pass_advise(const struct lbc_pass *pass, bool warning, const char *topic,
                     const char *reason, const char *text)
{
    pass_stand_text(pass, warning, topic, reason, text,
                    lbc_pass_is_returning(pass) ? AFTER_RESTART_MS : 0);
}

void lbc_pass_emit_standing(const struct lbc_pass *pass, const char *topic, const char *reason,
                            const char *text)
{
    pass_stand_text(pass, true, topic, reason, text, 0);
}

void lbc_pass_format_serves(const struct lbc_pass *pass, char ret[static LBC_PASS_SERVES_TEXT])
{
    ccm_text_printf(ret, LBC_PASS_SERVES_TEXT, "Load balancer [%s] %s%s", lbc_pass_lb_id(pass),
                    pass->left_out.names.len == 0 ? "is as wanted" : "serves without ",
                    ccm_buf_str(&pass->left_out.names));
}
