/* What of somebody else's load balancer has to be as the Service is. */
#include "controller.h"

#include "util/text.h"

/* An entry with a name and no address says nothing about the load balancer. */
bool clb_reuse_matches(const struct lbc_pass *pass, const struct ccm_ingress *address)
{
    return clb_desired(pass)->show_eip ||
           ccm_text_equal(address->ip, clb_actual(pass)->lb.lbc.texts[CLB_LB_ADDRESS]) ||
           (ccm_text_empty(address->ip) && !ccm_text_empty(address->hostname));
}

char *clb_reuse_mismatch(const struct lbc_pass *pass)
{
    return ccm_text_format("service has been associated with ip [%s], cannot be bound to ip [%s]",
                           pass->service->ingress[0]->ip,
                           clb_actual(pass)->lb.lbc.texts[CLB_LB_ADDRESS]);
}
