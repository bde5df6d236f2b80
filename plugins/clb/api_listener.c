/* The actions on listeners, domain extensions and certificates. */
#include "api.h"

#include "util/text.h"

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

int clb_api_write_listener(struct alilb_call *call, const char *lb_id,
                           const struct lbc_listener *listener, const char *group_id, bool create,
                           struct ccm_error *err)
{
    const char *used = group_id == NULL ? "off" : "on";
    char name[64];
    const struct alilb_action action = {
        .name = name,
        .repeat = create ? ALI_ONCE : ALI_IDEMPOTENT,
        .texts = { "LoadBalancerId", "ListenerPort", "VServerGroup", "VServerGroupId",
                   "Description" },
        .creates = create,
    };
    const struct alilb_args args = {
        .texts = { lb_id, ALILB_NUMBER(listener->port), create ? NULL : used, group_id,
                   listener->description },
        .attrs = &listener->attrs,
        .protocol = listener->protocol,
    };

    ccm_text_printf(name, sizeof(name),
                    create ? "CreateLoadBalancer%sListener" : "SetLoadBalancer%sListenerAttribute",
                    lbc_protocol_name(listener->protocol));
    return alilb_write(call, &action, &args, NULL, err);
}
