#include "api_listener.h"

#include "util/cleanup.h"

int nlb_api_list_listeners(struct nlb_call *call, const char *lb_id, nlb_item_fn fn, void *arg,
                           struct ccm_error *err)
{
    static const struct nlb_list list = {
        .product = ALI_NLB, .action = "ListListeners", .name = "Listeners", .page = 100
    };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    if (lb_id != NULL) {
        ali_param_item(&params, "LoadBalancerIds", 1, lb_id);
    }
    return nlb_api_list(call, &list, &params, fn, arg, err);
}

int nlb_api_list_certs(struct nlb_call *call, const char *listener_id, nlb_item_fn fn, void *arg,
                       struct ccm_error *err)
{
    static const struct nlb_list list = {
        .product = ALI_NLB, .action = "ListListenerCertificates", .name = "Certificates", .page = 50
    };
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ListenerId", listener_id);
    return nlb_api_list(call, &list, &params, fn, arg, err);
}

int nlb_api_create_listener(struct nlb_call *call, const char *lb_id,
                            const struct nlb_listener *listener, const char *group_id,
                            struct nlb_sent *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    ali_param_add(&params, "ListenerProtocol", lbc_protocol_name(listener->lbc.protocol));
    ali_param_i64(&params, "ListenerPort", listener->range ? 0 : listener->lbc.port);
    if (listener->range) {
        ali_param_i64(&params, "StartPort", listener->lbc.port);
        ali_param_i64(&params, "EndPort", listener->lbc.last_port);
    }
    ali_param_add(&params, "ListenerDescription", listener->lbc.description);
    ali_param_add(&params, "ServerGroupId", group_id);
    nlb_api_add_attrs(&params, &listener->lbc.attrs, listener->lbc.protocol, true);
    return nlb_api_write(call, ALI_NLB, "CreateListener", &params, "ListenerId", ret, err);
}

int nlb_api_update_listener(struct nlb_call *call, const char *listener_id,
                            const struct nlb_listener *listener, const char *group_id,
                            struct nlb_sent *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ListenerId", listener_id);
    ali_param_opt(&params, "ListenerDescription", listener->lbc.description);
    ali_param_opt(&params, "ServerGroupId", group_id);
    nlb_api_add_attrs(&params, &listener->lbc.attrs, listener->lbc.protocol, false);
    return nlb_api_write(call, ALI_NLB, "UpdateListenerAttribute", &params, NULL, ret, err);
}

int nlb_api_delete_listener(struct nlb_call *call, const char *listener_id, struct nlb_sent *ret,
                            struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ListenerId", listener_id);
    return nlb_api_write(call, ALI_NLB, "DeleteListener", &params, NULL, ret, err);
}

static int change_certs(struct nlb_call *call, const char *action, const char *listener_id,
                        const struct lbc_texts *certs, struct nlb_sent *ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ListenerId", listener_id);
    nlb_api_add_texts(&params, "AdditionalCertificateIds", certs);
    return nlb_api_write(call, ALI_NLB, action, &params, NULL, ret, err);
}

int nlb_api_add_certs(struct nlb_call *call, const char *listener_id, const struct lbc_texts *certs,
                      struct nlb_sent *ret, struct ccm_error *err)
{
    return change_certs(call, "AssociateAdditionalCertificatesWithListener", listener_id, certs,
                        ret, err);
}

int nlb_api_remove_certs(struct nlb_call *call, const char *listener_id,
                         const struct lbc_texts *certs, struct nlb_sent *ret, struct ccm_error *err)
{
    return change_certs(call, "DisassociateAdditionalCertificatesWithListener", listener_id, certs,
                        ret, err);
}
