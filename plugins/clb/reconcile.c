#include "reconcile.h"

#include "alicloud/error.h"
#include "pass.h"
#include "service/class.h"
#include "service/object.h"
#include "util/cleanup.h"

#include <errno.h>

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

static int run(struct clb *clb, const struct ccm_request *req, const struct ccm_service *service,
               struct clb_entry *entry, struct ccm_error *err)
{
    struct clb_pass pass = {
        .clb = clb,
        .req = req,
        .service = service,
        .entry = entry,
        .problems = CCM_PROBLEMS_INIT,
    };
    const int r = ccm_class_needs_delete(service) || !ccm_class_is_clb(service)
                      ? clb_release(&pass, err)
                      : clb_ensure(&pass, err);

    ccm_problems_fini(&pass.problems);
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
    r = clb_store_claim(clb->store, key, object->uid, &entry);
    if (r == -EBUSY) {
        ret->requeue_after_ms = BUSY_RETRY_MS;
        r = 0;
    } else if (r < 0) {
        r = ccm_error_nomem(err);
    } else {
        r = run(clb, req, (const struct ccm_service *)object, entry, err);
        clb_store_release(clb->store, entry);
    }
    clb->host->release(clb->host, object);
    return r;
}
