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
