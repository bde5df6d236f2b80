#include "controller.h"

#include "read.h"
#include "service/object.h"
#include "service/reuse.h"
#include "util/cleanup.h"
#include "util/text.h"

static bool fits(const struct ccm_service *service, const char *dns)
{
    for (uint64_t i = 0; i < service->ingress_count; i++) {
        if (ccm_text_equal(service->ingress[i]->hostname, dns)) {
            return true;
        }
    }
    return service->ingress_count == 0;
}

static int check_address(const struct ccm_pass *pass, struct ccm_error *err)
{
    const struct ccm_service *service = pass->service;
    const struct nlb_lb *lb = &((const struct nlb_state *)pass->entry->state)->lb;
    CCM_CLEANUP(ccm_freep) char *reason = NULL;

    if (fits(service, lb->dns)) {
        return 0;
    }
    reason = ccm_text_format("service has been associated with dnsname [%s], cannot be bound to "
                             "dnsname [%s]: delete and "
                             "recreate the service",
                             service->ingress[0]->hostname, lb->dns == NULL ? "" : lb->dns);
    return reason == NULL ? ccm_error_nomem(err) : ccm_reuse_refuse(lb->id, reason, err);
}

static int read_own_id(struct ccm_pass *pass, char **ret, struct ccm_error *err)
{
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb own = { 0 };
    struct nlb_call call = nlb_pass_call(pass, CCM_ALI_PRIO_SPEC);
    const int r = nlb_read_lb(&call, pass->service, ccm_ali_cluster_id(pass->lbc->ali), &own, err);

    if (r == 0) {
        *ret = CCM_STEAL(own.id);
    }
    return r;
}

int nlb_check_reuse(struct ccm_pass *pass, struct ccm_error *err)
{
    const struct nlb_lb *lb = &((const struct nlb_state *)pass->entry->state)->lb;
    int r = ccm_reuse_check_tags(lb->id, &lb->tags, err);

    if (r == 0) {
        r = check_address(pass, err);
    }
    return r < 0 ? r : ccm_reuse_check_label(pass, lb->id, read_own_id, err);
}
