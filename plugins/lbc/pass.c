#include "lbc/pass.h"

#include "ccm/object.h"
#include "lbc/instance.h"
#include "lbc/model/class.h"
#include "lbc/model/settings.h"
#include "lbc/service/marks.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

#define INVALIDATE_PAUSE_MS 300000 /* between two looks because of the same refusal */
#include <stdlib.h>

/* --- the instance --- */

int lbc_init(struct lbc_instance *lbc, const struct ccm_host *host, const struct lbc_ops *ops,
             const struct lbc_names *names, struct ccm_error *err)
{
    lbc->host = host;
    lbc->ops = ops;
    lbc->type = names->type;
    lbc->verb = names->verb;
    lbc->public_option = names->public_option;
    lbc->plugin = names->plugin;
    atomic_init(&lbc->released_until_ms, 0);
    lbc->audit.host = host;
    atomic_init(&lbc->audit.running, 0);
    lbc->dry = host->dry_run(host);
    lbc->life = (struct lbc_life){
        .host = host,
        .finalizer = names->finalizer,
        .component = names->component,
        .extra_label = names->extra_label,
    };
    lbc->mapping = (struct lbc_mapping){
        .host = host,
        .finalizer = names->finalizer,
        .component = names->component,
        .extra_label = names->extra_label,
        .is_ours = ops->is_ours,
    };
    lbc->mirrors = lbc_mirrors_new(host, ops->mirror);
    lbc->mapping.mirrors = lbc->mirrors;
    lbc->absence = lbc_absence_new(host);
    lbc->mapping.absence = lbc->absence;
    lbc->inventory = ops->inventory == NULL ? NULL : lbc_inventory_new();
    lbc->mapping.inventory = lbc->inventory;
    if (lbc->mirrors == NULL || lbc->absence == NULL ||
        (ops->inventory != NULL && lbc->inventory == NULL)) {
        return ccm_error_nomem(err);
    }
    if (lbc_allow_check_entries(host->option_strings(host, NULL, lbc_opt_allowed.name), err) < 0) {
        return -EINVAL;
    }
    lbc->cloud.ops = ops->cloud;
    return ops->cloud->acquire(host, &lbc->cloud.account, err);
}

void lbc_fini(struct lbc_instance *lbc)
{
    lbc_inventory_free(lbc->inventory);
    lbc_mirrors_free(lbc->mirrors);
    lbc_absence_free(lbc->absence);
    if (lbc->cloud.ops != NULL) {
        lbc->cloud.ops->release(lbc->cloud.account);
    }
}

const char *lbc_cluster_id(const struct lbc_instance *lbc)
{
    return lbc->cloud.ops->cluster_id(lbc->cloud.account);
}

/* --- facts --- */

const char *lbc_pass_lb_id(const struct lbc_pass *pass)
{
    const char *id = pass->lbc->ops->mirror->lb_id(pass->entry->state);
    const char *label = ccm_object_label(&pass->service->meta, LBC_LIFE_LB_LABEL);

    if (id != NULL) {
        return id;
    }
    return label == NULL ? "" : label;
}

bool lbc_pass_is_marked(const struct lbc_pass *pass)
{
    return lbc_life_is_marked(&pass->life, pass->service);
}

struct lbc_allow lbc_pass_allow(const struct lbc_pass *pass)
{
    const struct ccm_host *host = pass->lbc->host;

    return (struct lbc_allow){
        .entries = host->option_strings(host, NULL, lbc_opt_allowed.name),
        .plugin = pass->lbc->ops->annotations->kind,
        .namespace_ = pass->service->meta.namespace_,
    };
}

enum lbc_priority lbc_pass_priority(const struct lbc_pass *pass, enum lbc_priority wanted)
{
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
    return lbc_class_needs_delete(service) || !lbc->mapping.is_ours(service);
}

/* --- events --- */

void lbc_pass_emit_event(struct lbc_pass *pass, bool warning, const char *topic, const char *reason,
                         const char *text)
{
    if (lbc_entry_is_news(pass->entry, topic, text)) {
        lbc_life_event(&pass->lbc->life, pass->service, warning, reason, "%s", text);
    }
}

int lbc_pass_fail_all(struct lbc_pass *pass, const char *reason, const char *what,
                      struct ccm_error *err)
{
    lbc_problems_sum(&pass->problems, err);
    if (err->kind != CCM_ERROR_CANCELLED &&
        lbc_entry_is_news(pass->entry, reason, ccm_buf_str(&pass->problems.signature))) {
        lbc_life_event(&pass->lbc->life, pass->service, true, reason, "%s [%s]: %s", what,
                       lbc_pass_lb_id(pass), ccm_buf_str(&pass->problems.text));
    }
    return -EIO;
}

int lbc_pass_fail(struct lbc_pass *pass, const char *reason, const char *what, int r,
                  struct ccm_error *err)
{
    lbc_problems_add(&pass->problems, err, pass->lbc->cloud.ops->remedy(err));
    (void)lbc_pass_fail_all(pass, reason, what, err); /* r says more */
    return r;
}

int lbc_pass_fail_kube(struct lbc_pass *pass, const char *reason, const char *what, int r,
                       struct ccm_error *err)
{
    lbc_problems_add(&pass->problems, err, NULL);
    (void)lbc_pass_fail_all(pass, reason, what, err); /* r says more */
    return r;
}

bool lbc_pass_can_show_repair(const struct lbc_pass *pass)
{
    const struct lbc_state_type *type = pass->lbc->ops->mirror;
    const struct lbc_entry *entry = pass->entry;

    return (pass->audit || pass->looked) && entry->aside != NULL &&
           ccm_text_equal(type->lb_id(entry->aside), type->lb_id(entry->state));
}

void lbc_pass_emit_repair(const struct lbc_pass *pass, const char *steps)
{
    if (steps[0] == '\0') {
        return;
    }
    lbc_life_event(&pass->lbc->life, pass->service, false, "DriftRepaired",
                   "Load balancer [%s] had been changed by somebody else and was repaired: %s",
                   lbc_pass_lb_id(pass), steps);
}

void lbc_pass_emit_backends(struct lbc_pass *pass, const struct lbc_resolved_list *resolved)
{
    const char *const *missing = pass->lbc->ops->missing_text;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf invalid = { .max = 800 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf foreign = { .max = 800 };

    for (size_t i = 0; i < resolved->count; i++) {
        const struct lbc_resolved *one = &resolved->items[i];

        if (one->invalid.len > 0) {
            ccm_buf_addf(&invalid, "%s%s%s%s", invalid.len == 0 ? "" : "; ", missing[0],
                         ccm_buf_str(&one->invalid), missing[1]);
        }
        if (one->foreign.len > 0) {
            ccm_buf_addf(&foreign, "%sNot sync pods [%s] whose ip is not in vpc cidrs",
                         foreign.len == 0 ? "" : "; ", ccm_buf_str(&one->foreign));
        }
    }
    lbc_pass_emit_event(pass, true, "invalid", "SkipSyncBackends", ccm_buf_str(&invalid));
    lbc_pass_advise(pass, false, "foreign", "SkipSyncBackends", ccm_buf_str(&foreign));
}

void lbc_pass_emit_group_events(struct lbc_pass *pass, const char *none,
                                enum lbc_frozen_by frozen_by)
{
    static const char *const holds[] = {
        [LBC_FROZEN_BY_NONE] = "",
        [LBC_FROZEN_BY_FAMILY] = "Only EndpointSlices of another address family: backends are kept",
        [LBC_FROZEN_BY_LARGE] =
            "An EndpointSlice is too large to be read: the present backends are kept",
        [LBC_FROZEN_BY_NAMELESS] = "No endpoint names its node: the present backends are kept",
    };

    lbc_pass_advise(pass, false, "none", "UnAvailableLoadBalancer",
                    frozen_by == LBC_FROZEN_BY_NONE ? none : "");
    if (frozen_by == LBC_FROZEN_BY_FAMILY || frozen_by == LBC_FROZEN_BY_NAMELESS) {
        lbc_pass_advise(pass, true, "hold", "SkipSyncBackends", holds[frozen_by]);
    } else {
        lbc_pass_emit_event(pass, true, "hold", "SkipSyncBackends", holds[frozen_by]);
    }
}

/* --- steps that are the same for all --- */

/* Local: nobody serves what names no node. Cluster: every node does. */
static void advise_nameless(struct lbc_pass *pass, const struct lbc_candidates *sets, size_t count)
{
    const bool local = ccm_text_equal(pass->service->external_traffic_policy, "Local");
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 400 };

    for (size_t i = 0; i < count && text.len == 0; i++) {
        if (sets[i].nameless != NULL) {
            ccm_buf_addf(&text, "Endpoints without a node name are %s: NodeName is nil for ip %s",
                         local ? "left out" : "reached by way of all nodes", sets[i].nameless);
        }
    }
    lbc_pass_advise(pass, local, "nameless", "SkipSyncBackends", ccm_buf_str(&text));
}

int lbc_pass_resolve(struct lbc_pass *pass, const struct lbc_candidates *sets, size_t count,
                     struct lbc_resolved_list *ret, struct ccm_error *err)
{
    ret->items = calloc(count == 0 ? 1 : count, sizeof(*ret->items));
    if (ret->items == NULL) {
        return ccm_error_nomem(err);
    }
    ret->count = count;
    advise_nameless(pass, sets, count);

    const int r =
        lbc_resolve(&pass->lbc->cloud, pass->lbc->host, pass->req, sets, count, ret->items, err);

    for (size_t i = 0; r == 0 && i < count; i++) {
        if (ret->items[i].invalid.len > 0) {
            ccm_buf_addf(&pass->invalid, "%s%s", pass->invalid.len == 0 ? "" : ",",
                         ccm_buf_str(&ret->items[i].invalid));
        }
    }
    return r;
}

#define MISSING "alicloud: can not find loadbalancer, but it's defined in service [%s]"

/* What became of the load balancer that the label names: a person has to know to mend it. */
static bool pass_explain_missing(struct lbc_pass *pass, struct ccm_error *ret)
{
    const char *label = ccm_object_label(&pass->service->meta, LBC_LIFE_LB_LABEL);

    return !ccm_text_empty(label) &&
           pass->lbc->ops->check_owner(pass, label, ret) == LBC_LOOKUP_NOT_OURS;
}

int lbc_pass_check_create(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct ccm_service *service = pass->service;
    struct ccm_error why = CCM_ERROR_INIT;

    if (pass->lbc->ops->mirror->lb_id(pass->entry->state) != NULL) {
        return 0;
    }
    if (service->ingress_count == 0) {
        return lbc_refusals_sum(&pass->refused, err);
    }
    const struct ccm_ingress *first = service->ingress[0];
    const char *shown = ccm_text_empty(first->ip) ? first->hostname : first->ip;

    return pass_explain_missing(pass, &why)
               ? ccm_error_set(err, LBC_LOOKUP_NOT_OURS, CCM_ERROR_TERMINAL, MISSING ": %s", shown,
                               why.message)
               : ccm_error_set(err, -ENOENT, CCM_ERROR_TERMINAL,
                               MISSING " this may happen when you delete the loadbalancer", shown);
}

struct lbc_apply lbc_pass_begin_apply(struct lbc_pass *pass, bool fresh)
{
    return (struct lbc_apply){
        .cloud = &pass->lbc->cloud,
        .problems = &pass->problems,
        .attempt = &pass->entry->attempt,
        .fresh = fresh,
    };
}

void lbc_pass_end_apply(struct lbc_pass *pass, const struct lbc_apply *apply)
{
    struct lbc_entry *entry = pass->entry;

    pass->writes += apply->writes;
    entry->freed = entry->freed || apply->freed;
    entry->unrestored += apply->cannot_restore ? 1 : 0;
    entry->valid = entry->valid && !apply->surprised;
    if (apply->again_ms > 0 && pass->problems.count == 0) {
        pass->unfinished = true;
        pass->requeue_ms = apply->again_ms;
    }
}

void lbc_pass_invalidate_mirror(struct lbc_pass *pass)
{
    struct lbc_entry *entry = pass->entry;
    const int64_t now = pass->lbc->host->now_ms(pass->lbc->host);
    const bool news = lbc_entry_is_news(entry, "refusal", ccm_buf_str(&pass->problems.signature));

    if (news || now - entry->invalidated_ms >= INVALIDATE_PAUSE_MS) {
        entry->invalidated_ms = now;
        entry->valid = false;
    }
}

/* What earlier processes have put on, as far as the Service tells. */
static int pass_recall_tags(struct lbc_pass *pass, const struct lbc_tags *present)
{
    const struct ccm_object *meta = &pass->service->meta;
    const char *marks = ccm_object_label(meta, LBC_LIFE_TAGS_LABEL);
    struct lbc_entry *entry = pass->entry;
    int r = pass->known ? lbc_tags_copy(&entry->applied, pass->lbc->ops->tags(pass->model)) : 0;

    for (size_t i = 0; r == 0 && i < present->len; i++) {
        const struct lbc_tag *tag = &present->items[i];

        if (!lbc_setting_is_reserved_tag(tag->key, true) && lbc_marks_has(marks, meta->uid, tag)) {
            r = lbc_tags_put(&entry->applied, tag->key, tag->value);
        }
    }
    entry->applied_known = r == 0 && (pass->known || marks != NULL);
    return r;
}

const struct lbc_tags *lbc_pass_applied_tags(struct lbc_pass *pass, const struct lbc_tags *present)
{
    struct lbc_entry *entry = pass->entry;

    if (lbc_refusals_has(&pass->refused, "additional-resource-tags")) {
        return NULL; /* what is wanted is not known, so nothing is taken off */
    }
    if (!entry->applied_known && !entry->reused && pass_recall_tags(pass, present) < 0) {
        return NULL; /* out of memory: not known */
    }
    return entry->applied_known ? &entry->applied : NULL;
}
