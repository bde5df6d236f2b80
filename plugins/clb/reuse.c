/* What of somebody else's load balancer has to be as the Service is. */
#include "controller.h"

#include "lbc/reuse.h"
#include "util/cleanup.h"
#include "util/text.h"

/* An entry with a name and no address says nothing about the load balancer. */
static bool reuse_matches_status(const struct ccm_service *service, const char *address)
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

int clb_reuse_check_address(const struct lbc_pass *pass, struct ccm_error *err)
{
    const struct ccm_service *service = pass->service;
    const struct clb_lb *lb = &clb_actual(pass->entry)->lb;
    CCM_CLEANUP(ccm_freep) char *reason = NULL;

    if (clb_desired(pass)->show_eip || reuse_matches_status(service, lb->address)) {
        return 0;
    }
    reason = ccm_text_format("service has been associated with ip [%s], cannot be bound to ip [%s]",
                             service->ingress[0]->ip, lb->address);
    return reason == NULL ? ccm_error_nomem(err) : lbc_reuse_refuse(lb->id, reason, err);
}

size_t clb_reuse_list_facts(const struct lbc_pass *pass, struct lbc_reuse_fact ret[LBC_REUSE_FACTS])
{
    const struct clb_model *model = clb_desired(pass);
    const struct clb_lb *lb = &clb_actual(pass->entry)->lb;
    const bool typed = (model->lbc.explicit >> CLB_LB_ADDRESS_TYPE & 1U) != 0;
    const bool is_private = ccm_text_equal_case(lb->address_type, "intranet");

    ret[0] = (struct lbc_reuse_fact){
        "address type", typed ? model->want.lb.address_type : NULL, lb->address_type,
        "its address type is never changed; name another load balancer, or set annotation "
        "address-type to what it is"
    };
    ret[1] = (struct lbc_reuse_fact){
        "VPC", is_private ? ali_vpc_id(clb_client(clb_of(pass))) : NULL, lb->vpc_id,
        "a private load balancer must be in the VPC of the cluster; name another one"
    };
    return 2;
}
