#include "lbc/orphans.h"

#include "lbc/controller.h"
#include "lbc/instance.h"
#include "lbc/model/owner.h"
#include "lbc/names.h"
#include "lbc/orphan_drop.h"
#include "lbc/survey.h"
#include "util/array.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/lease_event.h"
#include "util/leaving.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX 200
#define IDLE_MS 3600000 /* between two looks at an option that is off */

struct lbc_orphan_list {
    const char *cluster_id;
    char kind; /* as in struct lbc_product */
    struct lbc_orphan *items;
    size_t len;
    size_t cap;
};

struct lbc_orphans {
    struct ccm_strmap *seen; /* "what id" -> int64_t: monotonic, when it was seen first */
    int64_t since_ms;        /* host->server_since_ms() then: of another server it says nothing */
    char *message;           /* of the last event, NULL = none */
    struct ccm_removal_budget budgets[LBC_ORPHAN_KINDS];
    uint64_t again_ms; /* of this look: one is on its way; 0 = none */
};

/* NULL: nobody looks for things without Service. */
static const struct lbc_orphan_ops *orphans_ops(const struct lbc_instance *lbc)
{
    return lbc->ops->inventory == NULL ? NULL : lbc->ops->inventory->orphans;
}

static const char *const plugin_labels[] = { "type", NULL };
static const struct ccm_metric orphans_metric = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_GAUGE,
    .name = "ccmd_orphans",
    .help = "Load balancers and what belongs to them that carry the cluster's mark and have no "
            "Service.",
    .labels = plugin_labels,
};

struct lbc_orphans *lbc_orphans_new(void)
{
    return calloc(1, sizeof(struct lbc_orphans));
}

void lbc_orphans_free(struct lbc_orphans *orphans)
{
    if (orphans != NULL) {
        ccm_strmap_free(orphans->seen);
        free(orphans->message);
    }
    free(orphans);
}

static void list_fini(struct lbc_orphan_list *list)
{
    for (size_t i = 0; i < list->len; i++) {
        free(list->items[i].id);
    }
    free(list->items);
}

/* --- what there is --- */

int lbc_orphans_offer(struct lbc_orphan_list *list, unsigned kind, const char *what, const char *id,
                      const struct lbc_tags *tags)
{
    const char *owner = lbc_tags_get(tags, lbc_names.tag_owner);
    struct lbc_orphan *one = NULL;

    if (owner == NULL || !lbc_owner_is_lb_name(owner, list->kind) || ccm_text_empty(id) ||
        !ccm_text_equal(lbc_tags_get(tags, lbc_names.tag_cluster), list->cluster_id)) {
        return 0;
    }
    if (ccm_array_grow(&list->items, &list->cap, list->len + 1, sizeof(*list->items)) < 0) {
        return -ENOMEM;
    }
    one = &list->items[list->len];
    *one = (struct lbc_orphan){ .kind = kind, .what = what, .id = strdup(id) };
    if (one->id == NULL) {
        return -ENOMEM;
    }
    ccm_text_copy(one->owner, sizeof(one->owner), owner);
    list->len++;
    return 0;
}

/* Every Service has a load balancer, or would have one. */
static enum lbc_claim orphans_claim(struct lbc_instance *lbc CCM_UNUSED,
                                    const struct ccm_service *service CCM_UNUSED)
{
    return LBC_CLAIM_OWN;
}

/* Take those out that have a Service. The cloud was asked before: whoever is made now is known. */
static void list_drop_owned(struct lbc_orphan_list *list, const struct ccm_strmap *owners)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->len; i++) {
        if (ccm_strmap_has(owners, list->items[i].owner)) {
            free(list->items[i].id);
        } else {
            list->items[kept++] = list->items[i];
        }
    }
    list->len = kept;
}

static int orphan_compare(const void *a, const void *b)
{
    const struct lbc_orphan *left = a;
    const struct lbc_orphan *right = b;

    return left->kind != right->kind ? (left->kind < right->kind ? -1 : 1)
                                     : strcmp(left->id, right->id);
}

/* --- two looks --- */

static void orphans_forget_seen(struct lbc_orphans *orphans)
{
    ccm_strmap_free(orphans->seen);
    orphans->seen = NULL;
}

/* Leave those that an earlier look has seen as well; first_ms[i] says when. */
static int orphans_drop_new(struct lbc_orphans *orphans, struct lbc_orphan_list *list, int64_t now,
                            int64_t *first_ms)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *seen = ccm_strmap_new(free);
    size_t kept = 0;
    int r = seen == NULL ? -ENOMEM : 0;

    for (size_t i = 0; i < list->len; i++) {
        struct lbc_orphan *one = &list->items[i];
        char key[KEY_MAX];
        int64_t first = 0;

        ccm_text_printf(key, sizeof(key), "%s %s", one->what, one->id);
        r = r < 0 ? r : ccm_leaving_see(orphans->seen, seen, key, now, &first);
        if (r == 0 && first != 0) {
            first_ms[kept] = first;
            list->items[kept++] = *one;
        } else {
            free(one->id);
        }
    }
    list->len = kept;
    if (r == 0) {
        ccm_strmap_free(orphans->seen);
        orphans->seen = CCM_STEAL(seen);
    }
    return r;
}

/* The mark does not tell this cluster from others. */
static bool orphans_may_be_others(const struct lbc_instance *lbc)
{
    return ccm_text_equal(lbc_cluster_id(lbc), lbc_names.unnamed_cluster);
}

/* --- who is told --- */

/* What becomes of them. */
static const char *orphans_outlook(const struct lbc_instance *lbc, bool cleanup)
{
    if (cleanup) {
        return "; they are deleted";
    }
    return orphans_may_be_others(lbc)
               ? "; they are not deleted, because any cluster without an id of its own marks what "
                 "it makes as this one does"
               : "; option orphan_cleanup deletes such things";
}

static void orphans_publish(struct lbc_instance *lbc, const struct lbc_orphan_list *list,
                            bool cleanup)
{
    struct lbc_orphans *orphans = lbc->orphans;
    const char *const values[] = { lbc->ops->product->type };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf names = { .max = 700 };
    CCM_CLEANUP(ccm_freep) char *text = NULL;

    for (size_t i = 0; i < list->len;) {
        ccm_buf_add_name(&names, &i, "%s %.80s", list->items[i].what, list->items[i].id);
    }
    lbc->host->metric(lbc->host, &orphans_metric, values, (double)list->len);
    ccm_removal_record_held(lbc->host, LBC_ORPHANS_KEY, list->len,
                            list->len == 0 ? ""
                                           : "they carry the cluster's mark and have no Service");
    if (list->len > 0) {
        text = ccm_text_format("%zu thing%s of plugin %s carr%s the mark of this cluster and "
                               "ha%s no Service: %s%s",
                               list->len, list->len == 1 ? "" : "s", lbc->ops->product->name,
                               list->len == 1 ? "ies" : "y", list->len == 1 ? "s" : "ve",
                               ccm_buf_str(&names), orphans_outlook(lbc, cleanup));
    }
    if (text != NULL || orphans->message != NULL) {
        const struct ccm_lease_standing what = {
            .warning = !cleanup,
            .topic = "orphans",
            .reason = "OrphanLoadBalancers",
            .message = text == NULL ? "" : text,
        };

        ccm_lease_stand(lbc->host, lbc->ops->product->component, &what);
    }
    free(orphans->message);
    orphans->message = CCM_STEAL(text);
}

/* --- those that go --- */

/* It is that of the Service, or an annotation or label names it. */
static int service_uses_orphan(void *arg, const struct ccm_service *service)
{
    const struct lbc_orphan *one = *(const struct lbc_orphan *const *)arg;
    const struct ccm_object *meta = &service->meta;
    char owner[LBC_OWNER_LB_NAME];
    bool used = ccm_text_equal(ccm_object_label(meta, lbc_names.lb_label), one->id);

    lbc_owner_lb_name(meta, owner);
    used = used || strcmp(owner, one->owner) == 0;
    for (uint64_t i = 0; !used && i < meta->annotation_count; i++) {
        used = strstr(meta->annotations[i]->value, one->id) != NULL;
    }
    return used ? 1 : 0;
}

/* Whether a Service uses it by now; also when that cannot be told. */
static bool orphan_may_be_used(const struct lbc_instance *lbc, const struct lbc_orphan *one)
{
    return ccm_removal_server_since(lbc->host) != lbc->orphans->since_ms ||
           lbc_survey_services(lbc, service_uses_orphan, &one) != 0;
}

/* What came of one. */
enum orphan_end {
    ORPHAN_GONE,
    ORPHAN_STAYS,
    ORPHAN_IN_DOUBT, /* nobody knows whether it is gone */
};

static int orphan_remove_by(struct lbc_instance *lbc, const struct ccm_request *req,
                            const struct lbc_orphan *one, struct ccm_error *err)
{
    struct lbc_orphans *orphans = lbc->orphans;
    uint64_t again_ms = 0;
    int r;

    if (orphans_ops(lbc)->remove != NULL) {
        return orphans_ops(lbc)->remove(lbc, req, one, err);
    }
    r = lbc_orphan_drop(lbc, req, one, &again_ms, err);
    if (again_ms > 0 && (orphans->again_ms == 0 || again_ms < orphans->again_ms)) {
        orphans->again_ms = again_ms;
    }
    return r;
}

static enum orphan_end orphan_remove(struct lbc_instance *lbc, const struct ccm_request *req,
                                     const struct lbc_orphan *one)
{
    struct ccm_error err = CCM_ERROR_INIT;
    const int r = orphan_may_be_used(lbc, one) ? 1 : orphan_remove_by(lbc, req, one, &err);

    lbc->host->log(lbc->host, r < 0 ? CCM_LEVEL_WARN : CCM_LEVEL_INFO, "orphans", "%s %s %s%s",
                   one->what, one->id,
                   r == 0  ? "deleted"
                   : r > 0 ? "stays: somebody uses it by now, or its tags have changed"
                           : "stays for now: ",
                   r < 0 ? err.message : "");
    if (r == 0) {
        return ORPHAN_GONE;
    }
    return r < 0 && (err.kind == CCM_ERROR_TRANSIENT || err.kind == CCM_ERROR_CANCELLED)
               ? ORPHAN_IN_DOUBT
               : ORPHAN_STAYS;
}

/* All of one kind; sizes: how much of each kind is ours. */
struct orphans_removal {
    const struct ccm_request *req;
    const struct lbc_orphan_list *list;
    const int64_t *first_ms;
    const size_t *sizes;
    struct ccm_removal_rule rule;
};

static void orphans_remove_kind(struct lbc_instance *lbc, const struct orphans_removal *removal,
                                unsigned kind)
{
    struct ccm_removal_budget *budget = &lbc->orphans->budgets[kind];
    const struct ccm_host *host = lbc->host;
    const int64_t now = host->now_ms(host);
    const size_t left = ccm_removal_allowed(budget, &removal->rule, removal->sizes[kind], now);
    size_t doubt = 0;
    size_t gone = 0;

    /* What stays is in nobody's way. */
    for (size_t i = 0; i < removal->list->len && gone + doubt < left; i++) {
        const struct lbc_orphan *one = &removal->list->items[i];

        if (one->kind == kind && !host->cancelled(host, removal->req) &&
            now >=
                ccm_removal_due_ms(&removal->rule, removal->first_ms[i], lbc->orphans->since_ms)) {
            const enum orphan_end end = orphan_remove(lbc, removal->req, one);

            gone += end == ORPHAN_GONE ? 1 : 0;
            doubt += end == ORPHAN_IN_DOUBT ? 1 : 0;
        }
    }
    ccm_removal_record(budget, &removal->rule, removal->sizes[kind], gone, now);
}

/* --- a look --- */

/* sizes: of all that is ours, by kind. ret_known: something of it has a Service. */
static int orphans_find(struct lbc_instance *lbc, const struct ccm_request *req,
                        struct lbc_orphan_list *list, size_t sizes[static LBC_ORPHAN_KINDS],
                        bool *ret_known, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *owners = NULL;
    const int r = orphans_ops(lbc)->list(lbc, req, list, err);

    if (r < 0) {
        return r;
    }
    owners = lbc_survey_names(lbc, orphans_claim);
    if (owners == NULL) {
        return ccm_error_nomem(err);
    }
    const size_t all = list->len;

    for (size_t i = 0; i < all; i++) {
        sizes[list->items[i].kind]++;
    }
    list_drop_owned(list, owners);
    *ret_known = list->len < all;
    if (list->len > 0) {
        qsort(list->items, list->len, sizeof(*list->items), orphan_compare);
    }
    return 0;
}

static int64_t orphans_period_ms(const struct lbc_instance *lbc)
{
    return lbc->host->option_int(lbc->host, NULL, lbc_opt_audit.name) * 1000;
}

void lbc_orphans_start(struct lbc_instance *lbc)
{
    const int64_t period = orphans_period_ms(lbc);

    if (orphans_ops(lbc) != NULL && !lbc->dry) {
        lbc->host->enqueue(lbc->host, LBC_ORPHANS_KEY, CCM_LANE_BULK,
                           (uint64_t)(period == 0 ? IDLE_MS : period));
    }
}

/* What earlier looks saw counts only when the caches have been in step with the same server since
 * then. False: they are not in step now, and nothing can be told. */
static bool orphans_check_server(struct lbc_instance *lbc)
{
    struct lbc_orphans *orphans = lbc->orphans;
    const int64_t since = ccm_removal_server_since(lbc->host);

    if (since == 0 || since != orphans->since_ms) {
        orphans_forget_seen(orphans);
    }
    orphans->since_ms = since;
    return since != 0;
}

static int orphans_look_on(struct lbc_instance *lbc, const struct ccm_request *req,
                           struct ccm_error *err)
{
    CCM_CLEANUP(list_fini)
    struct lbc_orphan_list list = { .cluster_id = lbc_cluster_id(lbc),
                                    .kind = lbc_product_served(lbc->ops->product)->letter };
    CCM_CLEANUP(ccm_freep) int64_t *first_ms = NULL;
    const bool cleanup = lbc->host->option_int(lbc->host, NULL, lbc_opt_orphan_cleanup.name) != 0 &&
                         !orphans_may_be_others(lbc);
    size_t sizes[LBC_ORPHAN_KINDS] = { 0 };
    bool known = false;
    int r = orphans_find(lbc, req, &list, sizes, &known, err);

    if (r < 0) {
        return r;
    }
    first_ms = calloc(list.len + 1, sizeof(*first_ms));
    if (first_ms == NULL ||
        orphans_drop_new(lbc->orphans, &list, lbc->host->now_ms(lbc->host), first_ms) < 0) {
        return ccm_error_nomem(err);
    }
    orphans_publish(lbc, &list, cleanup && known);

    struct orphans_removal removal = {
        .req = req, .list = &list, .first_ms = first_ms, .sizes = sizes
    };

    ccm_removal_rule_read(&removal.rule, lbc->host); /* what a person released were backends */
    /* Else these are not the Services that all this was made for. */
    for (unsigned i = 0; cleanup && known && i < LBC_ORPHAN_KINDS; i++) {
        orphans_remove_kind(lbc, &removal, i);
    }
    return 0;
}

int lbc_orphans_look(struct lbc_instance *lbc, const struct ccm_request *req,
                     struct ccm_result *ret, struct ccm_error *err)
{
    const int64_t period = orphans_period_ms(lbc);
    int r = 0;

    ret->requeue_after_ms = (uint64_t)(period == 0 ? IDLE_MS : period);
    if (period == 0 || orphans_ops(lbc) == NULL || !orphans_check_server(lbc)) {
        return 0;
    }
    lbc->orphans->again_ms = 0;
    r = orphans_look_on(lbc, req, err);
    if (r < 0) {
        orphans_forget_seen(lbc->orphans);
    }
    if (lbc->orphans->again_ms > 0 && lbc->orphans->again_ms < ret->requeue_after_ms) {
        ret->requeue_after_ms = lbc->orphans->again_ms;
    }
    return r;
}
