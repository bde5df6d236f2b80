/* What of somebody else's load balancer has to be as the Service is. */
#include "controller.h"

#include "util/text.h"

bool nlb_reuse_matches(const struct lbc_pass *pass, const struct ccm_ingress *address)
{
    return ccm_text_equal(address->hostname, nlb_actual(pass)->lb.dns);
}

char *nlb_reuse_mismatch(const struct lbc_pass *pass)
{
    const char *dns = nlb_actual(pass)->lb.dns;

    return ccm_text_format("service has been associated with dnsname [%s], cannot be bound to "
                           "dnsname [%s]: delete and recreate the service",
                           pass->service->ingress[0]->hostname, dns == NULL ? "" : dns);
}

/* Instances and interfaces are reached within their VPC only. */
static bool needs_vpc(const struct nlb_model *model)
{
    for (size_t i = 0; i < model->want.lbc.group_count; i++) {
        const char *type = nlb_group_at(&model->want, i)->type; /* NULL: Instance */

        if (type == NULL || !ccm_text_equal_case(type, "Ip")) {
            return true;
        }
    }
    return false;
}

static const char *explicit_field(const struct nlb_model *model, enum nlb_lb_field field)
{
    return (model->lbc.explicit >> field & 1U) != 0 ? model->want.lb.lbc.texts[field] : NULL;
}

/* Servers by address reach over VPCs, others do not. */
size_t nlb_reuse_list_facts(const struct lbc_pass *pass, struct lbc_reuse_fact ret[LBC_REUSE_FACTS])
{
    const struct nlb_model *model = nlb_desired(pass);
    const struct nlb_lb *lb = &nlb_actual(pass)->lb;

    ret[0] = (struct lbc_reuse_fact){
        "address type", explicit_field(model, NLB_LB_ADDRESS_TYPE),
        lb->lbc.texts[NLB_LB_ADDRESS_TYPE],
        "its address type is never changed; name another load balancer, or set annotation "
        "address-type to what it is"
    };
    ret[1] = (struct lbc_reuse_fact){
        "IPv6 address type", explicit_field(model, NLB_LB_IPV6_TYPE),
        lb->lbc.texts[NLB_LB_IPV6_TYPE],
        "its address type is never changed; name another load balancer, or set annotation "
        "ipv6-address-type to what it is"
    };
    ret[2] = (struct lbc_reuse_fact){
        "VPC", needs_vpc(model) ? ali_vpc_id(alilb_client(&pass->lbc->cloud)) : NULL,
        lb->lbc.vpc_id,
        "only backends by address reach another VPC; set annotation server-group-type to Ip, "
        "or name another load balancer"
    };
    return 3;
}
