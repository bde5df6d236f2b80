/* The actions on listeners and their additional certificates. */
#include "api.h"

#include "alicloud/params.h"

const struct alilb_action nlb_api_listeners = {
    .name = "ListListeners",
    .product = ALI_NLB,
    .query = ALILB_QUERY_ALL,
    .texts = { "LoadBalancerIds.1" },
    .list = "Listeners",
    .paging = ALILB_PAGES_TOKEN,
    .page = 100,
};
const struct alilb_action nlb_api_certs = {
    .name = "ListListenerCertificates",
    .product = ALI_NLB,
    .texts = { "ListenerId" },
    .list = "Certificates",
    .paging = ALILB_PAGES_TOKEN,
    .page = 50,
};
const struct alilb_action nlb_api_health = {
    .name = "GetListenerHealthStatus",
    .product = ALI_NLB,
    .texts = { "ListenerId" },
    .list = "ListenerHealthStatus",
};
const struct alilb_action nlb_api_create_listener = {
    .name = "CreateListener",
    NLB_API_WRITE,
    .texts = { "LoadBalancerId", "ListenerProtocol", "ListenerDescription", "ServerGroupId" },
    .creates = true,
    .made = "ListenerId",
};
const struct alilb_action nlb_api_update_listener = {
    .name = "UpdateListenerAttribute",
    NLB_API_WRITE,
    .texts = { "ListenerId", "ListenerDescription", "ServerGroupId" },
};
const struct alilb_action nlb_api_delete_listener = {
    .name = "DeleteListener",
    NLB_API_WRITE,
    .texts = { "ListenerId" },
};
const struct alilb_action nlb_api_add_certs = {
    .name = "AssociateAdditionalCertificatesWithListener",
    NLB_API_WRITE,
    .texts = { "ListenerId" },
    .repeated = "AdditionalCertificateIds",
};
const struct alilb_action nlb_api_remove_certs = {
    .name = "DisassociateAdditionalCertificatesWithListener",
    NLB_API_WRITE,
    .texts = { "ListenerId" },
    .repeated = "AdditionalCertificateIds",
};

void nlb_api_add_ports(const struct lbc_step *step, struct ali_params *params)
{
    const struct lbc_listener *listener = step->to;

    ali_param_i64(params, "ListenerPort", listener->is_range ? 0 : listener->port);
    if (listener->is_range) {
        ali_param_i64(params, "StartPort", listener->port);
        ali_param_i64(params, "EndPort", listener->last_port);
    }
}
