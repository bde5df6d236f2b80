#include "api_listener.h"

#include "alicloud/params.h"
#include "api.h"
#include "util/cleanup.h"

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

int nlb_api_create_listener(struct alilb_call *call, const char *lb_id,
                            const struct nlb_listener *listener, const char *group_id,
                            struct lbc_sent *sent, struct ccm_error *err)
{
    static const struct alilb_action create = {
        .name = "CreateListener",
        NLB_API_WRITE,
        .made = "ListenerId",
    };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    ali_param_add(&params, "ListenerProtocol", lbc_protocol_name(listener->lbc.protocol));
    ali_param_i64(&params, "ListenerPort", listener->lbc.is_range ? 0 : listener->lbc.port);
    if (listener->lbc.is_range) {
        ali_param_i64(&params, "StartPort", listener->lbc.port);
        ali_param_i64(&params, "EndPort", listener->lbc.last_port);
    }
    ali_param_add(&params, "ListenerDescription", listener->lbc.description);
    ali_param_add(&params, "ServerGroupId", group_id);
    nlb_api_add_attrs(&params, &listener->lbc.attrs, listener->lbc.protocol, true);
    return alilb_write(call, &create, ALILB_PARAMS(&params), sent, err);
}

int nlb_api_update_listener(struct alilb_call *call, const char *listener_id,
                            const struct nlb_listener *listener, const char *group_id,
                            struct lbc_sent *sent, struct ccm_error *err)
{
    static const struct alilb_action update = {
        .name = "UpdateListenerAttribute",
        NLB_API_WRITE,
    };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ListenerId", listener_id);
    ali_param_opt(&params, "ListenerDescription", listener->lbc.description);
    ali_param_opt(&params, "ServerGroupId", group_id);
    nlb_api_add_attrs(&params, &listener->lbc.attrs, listener->lbc.protocol, false);
    return alilb_write(call, &update, ALILB_PARAMS(&params), sent, err);
}
