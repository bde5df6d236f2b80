#include "reconcile.h"

#include "alicloud/error.h"
#include "audit.h"
#include "inventory.h"
#include "pass.h"
#include "service/annotation.h"
#include "service/class.h"
#include "service/conditions.h"
#include "service/object.h"
#include "util/cleanup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define BUSY_RETRY_MS 100

const char *clb_pass_lb_id(const struct clb_pass *pass)
{
    const char *label = ccm_object_label(&pass->service->meta, CCM_LIFE_LB_LABEL);

    if (pass->entry->state.lb.id != NULL) {
        return pass->entry->state.lb.id;
    }
    return label == NULL ? "" : label;
}

struct clb_call clb_pass_call(const struct clb_pass *pass, enum ccm_ali_priority priority)
{
    if (priority == CCM_ALI_PRIO_SPEC && pass->audit) {
        priority = CCM_ALI_PRIO_AUDIT;
    } else if (priority == CCM_ALI_PRIO_SPEC && pass->req->lane == CCM_LANE_BULK) {
        priority = CCM_ALI_PRIO_BULK;
    }
    return (struct clb_call){
        .clb = pass->clb,
        .req = pass->req,
        .object = pass->service->meta.key,
        .priority = priority,
    };
}

void clb_pass_say(struct clb_pass *pass, bool warning, const char *topic, const char *reason,
                  const char *text)
{
    if (clb_entry_news(pass->entry, topic, text)) {
        ccm_life_event(&pass->clb->life, pass->service, warning, reason, "%s", text);
    }
}

int clb_pass_fail_all(struct clb_pass *pass, const char *reason, const char *what,
                      struct ccm_error *err)
{
    ccm_problems_sum(&pass->problems, err);
    if (err->kind != CCM_ERROR_CANCELLED &&
        clb_entry_news(pass->entry, reason, ccm_buf_str(&pass->problems.signature))) {
        ccm_life_event(&pass->clb->life, pass->service, true, reason, "%s [%s]: %s", what,
                       clb_pass_lb_id(pass), ccm_buf_str(&pass->problems.text));
    }
    return -EIO;
}

int clb_pass_fail(struct clb_pass *pass, const char *reason, const char *what, int r,
                  struct ccm_error *err)
{
    ccm_problems_add(&pass->problems, err, ccm_ali_error_remedy(err));
    (void)clb_pass_fail_all(pass, reason, what, err); /* r says more */
    return r;
}

static bool is_unwanted(const struct ccm_service *service)
{
    return ccm_class_needs_delete(service) || !ccm_class_is_clb(service);
}

/* Id of the load balancer that the Service reuses, "" when it has one of its own. Was it ever
 * published with another one, then that is what has to be taken away. */
static const char *reused_id(const struct ccm_service *service)
{
    const char *id = ccm_anno_get(&service->meta, "id");
    const char *label = ccm_object_label(&service->meta, CCM_LIFE_LB_LABEL);

    return is_unwanted(service) && label != NULL && strcmp(label, id) != 0 ? "" : id;
}

/* How it went, as a condition. A failure to say so is a failure of a pass that went well. */
static int tell_condition(struct clb_pass *pass, int r, struct ccm_error *err)
{
    struct ccm_error own = CCM_ERROR_INIT;
    char serves[160];
    struct ccm_life_condition condition = {
        .ready = r == 0,
        .kind = err->kind,
        .message = pass->problems.count > 0 ? ccm_buf_str(&pass->problems.signature) : err->message,
    };

    /* A second look that fails says nothing about the Service; the next pass will. */
    if (r < 0 && (err->kind == CCM_ERROR_CANCELLED || pass->audit)) {
        return r;
    }
    if (r == 0) {
        (void)snprintf(serves, sizeof(serves), "Load balancer [%s] is as wanted",
                       clb_pass_lb_id(pass)); /* ids are short */
        condition.message = serves;
    }
    const int w = ccm_life_tell(&pass->clb->life, pass->req, pass->service,
                                pass->clb->conditions ? &condition : NULL, &own);

    if (w == 0 || r < 0) {
        return r; /* what failed first is what counts, and its retry says it again */
    }
    ccm_error_copy(err, &own);
    return clb_pass_fail(pass, "FailedUpdateStatus", "Error updating load balancer status", w, err);
}

static int run(struct clb *clb, const struct ccm_request *req, const struct ccm_service *service,
               struct clb_entry *entry, bool audit, bool *ret_idle, struct ccm_result *ret,
               struct ccm_error *err)
{
    struct clb_pass pass = {
        .clb = clb,
        .req = req,
        .service = service,
        .entry = entry,
        .problems = CCM_PROBLEMS_INIT,
        .readiness = { .host = clb->host, .req = req, .service = service },
        .invalid = { .max = 65536 },
        .audit = audit,
    };
    const int r = is_unwanted(service) ? clb_release(&pass, err)
                                       : tell_condition(&pass, clb_ensure(&pass, err), err);

    ccm_problems_fini(&pass.problems);
    ccm_readiness_fini(&pass.readiness);
    ccm_buf_fini(&pass.invalid);
    ret->requeue_after_ms = r == 0 ? pass.requeue_ms : 0;
    *ret_idle = pass.writes == 0 && !pass.hashed;
    return r;
}

/* A pass, and a second look when it is time for one. */
static int run_all(struct clb *clb, const struct ccm_request *req,
                   const struct ccm_service *service, struct clb_entry *entry,
                   struct ccm_result *ret, struct ccm_error *err)
{
    const bool was_valid = entry->valid;
    bool idle = false;
    int r = run(clb, req, service, entry, false, &idle, ret, err);

    if (is_unwanted(service)) {
        return r;
    }
    if (r == 0 && clb_audit_begin(clb, entry, was_valid, idle)) {
        r = run(clb, req, service, entry, true, &idle, ret, err);
        clb_audit_end(clb, entry);
    }
    clb_audit_schedule(clb, entry, service->meta.key);
    return r;
}

int clb_reconcile(struct clb *clb, const struct ccm_request *req, struct ccm_result *ret,
                  struct ccm_error *err)
{
    const char *key = req->keys[0];
    const struct ccm_object *object = clb->host->get(clb->host, CCM_KIND_SERVICE, key);
    struct clb_entry *entry = NULL;
    int r;

    if (object == NULL) {
        clb_store_forget(clb->store, key);
        return 0;
    }
    if (clb_inventory_prepare(clb, req, (const struct ccm_service *)object)) {
        clb->host->release(clb->host, object);
        ret->requeue_after_ms = BUSY_RETRY_MS;
        return 0;
    }
    r = clb_store_claim(clb->store, key, object->uid, reused_id((const struct ccm_service *)object),
                        &entry);
    if (r == -EBUSY) {
        ret->requeue_after_ms = BUSY_RETRY_MS;
        r = 0;
    } else if (r < 0) {
        r = ccm_error_nomem(err);
    } else {
        r = run_all(clb, req, (const struct ccm_service *)object, entry, ret, err);
        clb_store_release(clb->store, entry);
    }
    clb->host->release(clb->host, object);
    return r;
}
