#include "pass.h"

#include "read.h"
#include "service/object.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

static int refuse(const char *lb_id, const char *reason, struct ccm_error *err)
{
    return ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                         "alicloud: the loadbalancer %s can not be reused, %s", lb_id, reason);
}

/* An entry with a name and no address says nothing about the load balancer. */
static bool fits(const struct ccm_service *service, const char *address)
{
    for (uint64_t i = 0; i < service->ingress_count; i++) {
        const struct ccm_ingress *one = service->ingress[i];

        if (ccm_text_equal(one->ip, address) ||
            (ccm_text_empty(one->ip) && !ccm_text_empty(one->hostname))) {
            return true;
        }
    }
    return service->ingress_count == 0;
}

static int check_address(const struct clb_pass *pass, struct ccm_error *err)
{
    const struct ccm_service *service = pass->service;
    const struct clb_lb *lb = &pass->entry->state.lb;
    CCM_CLEANUP(ccm_freep) char *reason = NULL;

    if (fits(service, lb->address)) {
        return 0;
    }
    reason = ccm_text_format("service has been associated with ip [%s], cannot be bound to ip [%s]",
                             service->ingress[0]->ip, lb->address);
    return reason == NULL ? ccm_error_nomem(err) : refuse(lb->id, reason, err);
}

/* The label says which load balancer the Service has. Clearing the status is how a person gives it
 * up, but one that we made would then be forgotten while it goes on costing money. */
static int check_label(const struct clb_pass *pass, struct clb_call *call, struct ccm_error *err)
{
    CCM_CLEANUP(clb_lb_fini) struct clb_lb own = { 0 };
    CCM_CLEANUP(ccm_freep) char *reason = NULL;
    const struct clb_lb *lb = &pass->entry->state.lb;
    const char *label = ccm_object_label(&pass->service->meta, CCM_LIFE_LB_LABEL);

    if (ccm_text_empty(label) || ccm_text_equal(label, lb->id)) {
        return 0;
    }
    if (pass->service->ingress_count == 0) {
        const int r = clb_read_lb(call, pass->service, &own, err);

        if (r < 0 || own.id == NULL) {
            return r;
        }
    }
    reason = ccm_text_format("service has been associated with loadbalancer [%s], cannot be bound "
                             "to another one: delete and recreate the service",
                             own.id == NULL ? label : own.id);
    return reason == NULL ? ccm_error_nomem(err) : refuse(lb->id, reason, err);
}

int clb_check_reuse(struct clb_pass *pass, const struct clb_model *model, struct clb_call *call,
                    struct ccm_error *err)
{
    const struct clb_lb *lb = &pass->entry->state.lb;
    int r = 0;

    if (clb_tags_get(&lb->tags, CLB_TAG_OWNER) != NULL ||
        clb_tags_get(&lb->tags, CLB_TAG_CLUSTER) != NULL) {
        return refuse(lb->id, "can not reuse loadbalancer created by kubernetes.", err);
    }
    if (!model->show_eip) {
        r = check_address(pass, err);
    }
    return r < 0 ? r : check_label(pass, call, err);
}
