#include "api_listener.h"

#include "alicloud/params.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <string.h>

const struct alilb_action clb_api_listeners = {
    .name = "DescribeLoadBalancerListeners",
    .repeated = "LoadBalancerId",
    .batch = CLB_LISTENERS_BATCH,
    .list = "Listeners",
    .paging = ALILB_PAGES_TOKEN,
    .page = 100,
};
const struct alilb_action clb_api_start_listener = {
    .name = "StartLoadBalancerListener",
    .repeat = ALI_ONCE,
    .texts = { "LoadBalancerId", "ListenerPort", "ListenerProtocol" },
};
const struct alilb_action clb_api_delete_listener = {
    .name = "DeleteLoadBalancerListener",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "LoadBalancerId", "ListenerPort", "ListenerProtocol" },
};

/* --- domain extensions, certificates --- */

const struct alilb_action clb_api_domains = {
    .name = "DescribeDomainExtensions",
    .texts = { "LoadBalancerId", "ListenerPort" },
    .list = "DomainExtensions",
    .item = "DomainExtension",
};
const struct alilb_action clb_api_create_domain = {
    .name = "CreateDomainExtension",
    .repeat = ALI_ONCE,
    .texts = { "LoadBalancerId", "ListenerPort", "Domain", "ServerCertificateId" },
    .made = "DomainExtensionId",
    .may_lack = true,
};
const struct alilb_action clb_api_set_domain = {
    .name = "SetDomainExtensionAttribute",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "DomainExtensionId", "ServerCertificateId" },
};
const struct alilb_action clb_api_delete_domain = {
    .name = "DeleteDomainExtension",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "DomainExtensionId" },
};
const struct alilb_action clb_api_certificate = {
    .name = "DescribeServerCertificates",
    .texts = { "ServerCertificateId" },
};

/* --- what is made and changed with attributes --- */

/* How the action spells it; NULL: it is not to be said. */
static const char *listener_param_name(const struct lbc_attr *attr, enum lbc_protocol protocol,
                                       bool create)
{
    const struct lbc_anno *row = attr->row;
    const bool l4 = protocol == LBC_TCP || protocol == LBC_UDP;

    if (attr->kept || (!create && (row->cloud & LBC_ATTR_CREATE) != 0) ||
        ((row->absent.on >> protocol & 1U) != 0 &&
         ccm_text_equal(attr->value, row->absent.value))) {
        return NULL;
    }
    return create && l4 && row->create_name != NULL ? row->create_name : row->field;
}

static void listener_params(struct ali_params *params, const char *lb_id,
                            const struct clb_listener *listener, const char *group_id, bool create)
{
    ali_param_add(params, "LoadBalancerId", lb_id);
    ali_param_i64(params, "ListenerPort", listener->lbc.port);
    if (!create) {
        ali_param_add(params, "VServerGroup", group_id == NULL ? "off" : "on");
    }
    ali_param_opt(params, "VServerGroupId", group_id);
    ali_param_opt(params, "Description", listener->lbc.description);
    for (size_t i = 0; i < listener->lbc.attrs.len; i++) {
        const struct lbc_attr *attr = &listener->lbc.attrs.items[i];

        const char *name = listener_param_name(attr, listener->lbc.protocol, create);

        if (name != NULL) {
            ali_param_opt(params, name, attr->value);
        }
    }
}

int clb_api_create_listener(struct alilb_call *call, const char *lb_id,
                            const struct clb_listener *listener, const char *group_id,
                            struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    char name[64];
    const struct alilb_action create = { .name = name, .repeat = ALI_ONCE };

    ccm_text_printf(name, sizeof(name), "CreateLoadBalancer%sListener",
                    lbc_protocol_name(listener->lbc.protocol));
    listener_params(&params, lb_id, listener, group_id, true);
    return alilb_write(call, &create, ALILB_PARAMS(&params), NULL, err);
}

int clb_api_update_listener(struct alilb_call *call, const char *lb_id,
                            const struct clb_listener *listener, const char *group_id,
                            struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    char name[64];
    const struct alilb_action update = { .name = name, .repeat = ALI_IDEMPOTENT };

    ccm_text_printf(name, sizeof(name), "SetLoadBalancer%sListenerAttribute",
                    lbc_protocol_name(listener->lbc.protocol));
    listener_params(&params, lb_id, listener, group_id, false);
    return alilb_write(call, &update, ALILB_PARAMS(&params), NULL, err);
}
