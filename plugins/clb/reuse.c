/* What of somebody else's load balancer has to be as the Service is. */
#include "controller.h"

#include "util/text.h"

/* An entry with a name and no address says nothing about the load balancer. */
bool clb_reuse_matches(const struct lbc_pass *pass, const struct ccm_ingress *address)
{
    return clb_desired(pass)->show_eip ||
           ccm_text_equal(address->ip, clb_actual(pass->entry)->lb.lbc.texts[CLB_LB_ADDRESS]) ||
           (ccm_text_empty(address->ip) && !ccm_text_empty(address->hostname));
}

char *clb_reuse_mismatch(const struct lbc_pass *pass)
{
    return ccm_text_format("service has been associated with ip [%s], cannot be bound to ip [%s]",
                           pass->service->ingress[0]->ip,
                           clb_actual(pass->entry)->lb.lbc.texts[CLB_LB_ADDRESS]);
}

size_t clb_reuse_list_facts(const struct lbc_pass *pass, struct lbc_reuse_fact ret[LBC_REUSE_FACTS])
{
    const struct clb_model *model = clb_desired(pass);
    const struct clb_lb *lb = &clb_actual(pass->entry)->lb;
    const bool typed = (model->lbc.explicit >> CLB_LB_ADDRESS_TYPE & 1U) != 0;
    const bool is_private = ccm_text_equal_case(lb->lbc.texts[CLB_LB_ADDRESS_TYPE], "intranet");

    ret[0] = (struct lbc_reuse_fact){
        "address type", typed ? model->want.lb.lbc.texts[CLB_LB_ADDRESS_TYPE] : NULL,
        lb->lbc.texts[CLB_LB_ADDRESS_TYPE],
        "its address type is never changed; name another load balancer, or set annotation "
        "address-type to what it is"
    };
    ret[1] = (struct lbc_reuse_fact){
        "VPC", is_private ? ali_vpc_id(clb_client(clb_of(pass))) : NULL, lb->lbc.vpc_id,
        "a private load balancer must be in the VPC of the cluster; name another one"
    };
    return 2;
}
