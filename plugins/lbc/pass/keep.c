#include "lbc/pass/keep.h"

#include "lbc/model/annotation.h"
#include "lbc/model/object.h"
#include "lbc/names.h"
#include "lbc/reuse.h"
#include "util/text.h"

#include <errno.h>

/* --- which one --- */

const char *lbc_keep_find_label(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    const char *sibling = lbc->choice.sibling_finalizer;
    const char *label = ccm_object_label(&service->meta, lbc_names.lb_label);

    if (label == NULL) {
        label = service->ingress_count == 0 ? "" : lbc_reused_id(lbc, service);
    }
    return lbc_object_has_finalizer(&service->meta, lbc->life.finalizer) &&
                   (sibling[0] == '\0' || !lbc_object_has_finalizer(&service->meta, sibling))
               ? label
               : "";
}

const char *lbc_keep_find_id(const struct lbc_instance *lbc, const struct ccm_service *service)
{
    const char *id = lbc_reused_id(lbc, service);
    const char *label = service->ingress_count == 0 ? "" : lbc_keep_find_label(lbc, service);
    const bool differs = id[0] == '\0'
                             ? ccm_text_equal(lbc_life_reused_id(&lbc->life, service), label)
                             : !ccm_text_equal(id, label);

    return differs ? label : "";
}

/* --- what became of it --- */

/* The one that annotation id names: whether it exists and may be used at all. What was read is
 * dropped: the claim is for another one. */
static int keep_check_asked(struct lbc_pass *pass, const char *id, struct ccm_error *err)
{
    const int r = lbc_reuse_check_asked(pass, id, err);

    lbc_entry_drop(pass->entry);
    return r;
}

/* The next pass finds a Service without address, which may have any. */
static int keep_move(struct lbc_pass *pass, const char *id, struct ccm_error *err)
{
    const struct lbc_life_state nothing = { .hash = "", .ip = "" };
    bool written = false;

    lbc_life_event(&pass->life, pass->service, true, "LoadBalancerReplaced",
                   "Load balancer [%s] does not exist any more: the %s moves to [%s], which "
                   "annotation id names, and gets its address",
                   lbc_pass_lb_id(pass), lbc_product_served(pass->lbc->ops->product)->noun, id);
    pass->unfinished = true;
    pass->again.ms = LBC_PASS_AGAIN_MS;
    return lbc_life_publish(&pass->life, pass->req, pass->service, &nothing, &written, err);
}

/* It does not exist any more. */
static int keep_end_gone(struct lbc_pass *pass, const struct ccm_error *why, struct ccm_error *err)
{
    const struct lbc_lost_known gone = { .found = -ENOENT, .why = CCM_ERROR_INIT };
    const char *id = lbc_reused_id(pass->lbc, pass->service);
    int r = 0;

    if (pass->service->ingress_count == 0) {
        ccm_error_copy(err, why);
        return -EPERM;
    }
    if (id[0] == '\0') {
        return lbc_lost_refuse(pass, &gone, err);
    }
    r = keep_check_asked(pass, id, err);
    return r == 0 ? keep_move(pass, id, err)
                  : ccm_error_wrap(err, r,
                                   "load balancer %s does not exist any more, and annotation id "
                                   "cannot be used",
                                   lbc_pass_lb_id(pass));
}

int lbc_keep_read(struct lbc_pass *pass, const struct ccm_error *why, struct ccm_error *err)
{
    const char *label = lbc_keep_find_label(pass->lbc, pass->service);
    const struct lbc_lb *lb = lbc_pass_lb(pass);
    struct lbc_entry *entry = pass->entry;
    int r = 0;

    if (!entry->valid || !ccm_text_equal(lb->id, label)) {
        lbc_entry_put_aside(entry);
        pass->fresh = true;
        r = pass->lbc->ops->read->lb(pass, label, entry->state, err);
        entry->valid = r == 0;
        lbc_release_reopen(&entry->release);
    }
    if (r < 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        ccm_error_clear(err);
        return keep_end_gone(pass, why, err);
    }
    pass->kept = r == 0 && lbc_owner_has_lb(&lb->tags, lb->texts[LBC_LB_NAME], &pass->service->meta,
                                            lbc_cluster_id(pass->lbc))
                     ? ""
                     : label;
    return r;
}

/* --- whether it is the one --- */

bool lbc_keep_is_of_others(const struct lbc_pass *pass)
{
    return lbc_owner_of_tags(&lbc_pass_lb(pass)->tags, &pass->service->meta,
                             lbc_cluster_id(pass->lbc)) == LBC_OWNER_OTHER;
}

/* On one of a person something of the Service has to be. */
static int keep_find_proof(const struct lbc_pass *pass, bool *ret)
{
    const struct lbc_plan_input in = lbc_pass_plan_input(pass, false);
    const struct lbc_group *shown = NULL;
    const int r = lbc_plan_find_shown(pass->lbc->ops->change->rules, &in, &shown);

    *ret = shown != NULL && !lbc_keep_is_of_others(pass);
    return r;
}

/* What is wrong with annotation id, and what a person can do. */
static void keep_explain(const struct lbc_pass *pass, bool proven, struct ccm_error *ret)
{
    const struct ccm_ingress *first =
        pass->service->ingress_count == 0 ? NULL : pass->service->ingress[0];
    const char *id = lbc_reused_id(pass->lbc, pass->service);
    const char *label = lbc_pass_lb(pass)->id;
    char remedy[320] = "";

    if (proven) {
        ccm_text_printf(remedy, sizeof(remedy), "%s annotation %sid%s%s%s, or ",
                        pass->kept[0] == '\0' ? "remove" : "set", lbc_names.annotations,
                        pass->kept[0] == '\0' ? "" : " to ", pass->kept,
                        id[0] == '\0' ? " again" : "");
    }
    if (id[0] != '\0') {
        lbc_reuse_refuse_label(id, label, remedy, ret);
        return;
    }
    (void)ccm_error_set(
        ret, 0, CCM_ERROR_TERMINAL,
        "%scan not find loadbalancer, but it's defined in service [%s]: it is served by load "
        "balancer %s of a person, and annotation id is missing: %sdelete and recreate the %s",
        lbc_names.messages,
        first == NULL               ? ""
        : ccm_text_empty(first->ip) ? first->hostname
                                    : first->ip,
        label, remedy,
        lbc_product_served(pass->lbc->ops->product)->noun); /* the text is what counts */
}

int lbc_keep_prove(struct lbc_pass *pass, const struct ccm_error *why, struct ccm_error *err)
{
    const char *id = lbc_reused_id(pass->lbc, pass->service);
    const bool own = pass->kept[0] == '\0';
    const bool asks = why != NULL || id[0] != '\0';
    struct ccm_error wrong = CCM_ERROR_INIT;
    bool proven = own;

    if (!own && keep_find_proof(pass, &proven) < 0) {
        return ccm_error_nomem(err);
    }
    if (!asks && (own || !proven)) {
        pass->kept = NULL; /* the label of reuse is wrong, and what it names may be anybody's */
        lbc_entry_drop(pass->entry);
        return 0;
    }
    if (why == NULL) {
        keep_explain(pass, proven, &wrong);
    } else {
        ccm_error_copy(&wrong, why);
    }
    if (lbc_refusals_add(&pass->refused, id[0] == '\0' ? NULL : "id", &wrong) < 0) {
        return ccm_error_nomem(err);
    }
    return proven ? 0 : lbc_refusals_sum(&pass->refused, err);
}

void lbc_keep_end(struct lbc_pass *pass)
{
    struct lbc_entry *entry = pass->entry;
    const char *claimed = lbc_entry_acquired_id(entry);
    const char *id = lbc_pass_lb(pass)->id;
    const bool fits =
        claimed[0] == '\0' ? !ccm_text_equal(pass->kept, id) : ccm_text_equal(claimed, id);

    if (id != NULL && !fits) {
        lbc_entry_drop(entry); /* else a person's would be taken for the Service's own */
    }
}
