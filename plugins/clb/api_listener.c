#include "api_listener.h"

#include "api_call.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int clb_api_listeners(struct clb_call *call, const char *lb_id, const char *next_token, cJSON **ret,
                      struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId.1", lb_id);
    ali_param_i64(&params, "MaxResults", 100);
    ali_param_opt(&params, "NextToken", next_token);
    return clb_api_slb(call, "DescribeLoadBalancerListeners", &params, ALI_READ, ret, err);
}

static bool listener_attr_is_sent(const struct clb_listener *listener, const struct lbc_attr *attr,
                                  bool create)
{
    const bool l4 = listener->lbc.protocol == LBC_TCP || listener->lbc.protocol == LBC_UDP;

    if (!create && (attr->field->flags & LBC_FIELD_CREATE) != 0) {
        return false;
    }
    /* -520 stands for "as the backend", which these know by leaving it out. */
    return !l4 || strcmp(attr->field->name, "HealthCheckConnectPort") != 0 ||
           strcmp(attr->value, "-520") != 0;
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

        if (attr->value != NULL && listener_attr_is_sent(listener, attr, create)) {
            ali_param_opt(params,
                          create ? clb_field_create_name(attr->field, listener->lbc.protocol)
                                 : attr->field->name,
                          attr->value);
        }
    }
}

int clb_api_create_listener(struct clb_call *call, const char *lb_id,
                            const struct clb_listener *listener, const char *group_id,
                            struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    char action[64];

    ccm_text_printf(action, sizeof(action), "CreateLoadBalancer%sListener",
                    lbc_protocol_name(listener->lbc.protocol));
    listener_params(&params, lb_id, listener, group_id, true);
    return clb_api_slb(call, action, &params, ALI_ONCE, NULL, err);
}

int clb_api_update_listener(struct clb_call *call, const char *lb_id,
                            const struct clb_listener *listener, const char *group_id,
                            struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    char action[64];

    ccm_text_printf(action, sizeof(action), "SetLoadBalancer%sListenerAttribute",
                    lbc_protocol_name(listener->lbc.protocol));
    listener_params(&params, lb_id, listener, group_id, false);
    return clb_api_slb(call, action, &params, ALI_IDEMPOTENT, NULL, err);
}

static void port_params(struct ali_params *params, const char *lb_id, uint16_t port,
                        enum lbc_protocol protocol)
{
    ali_param_add(params, "LoadBalancerId", lb_id);
    ali_param_i64(params, "ListenerPort", port);
    ali_param_add(params, "ListenerProtocol", lbc_protocol_lower(protocol));
}

int clb_api_start_listener(struct clb_call *call, const char *lb_id, uint16_t port,
                           enum lbc_protocol protocol, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    port_params(&params, lb_id, port, protocol);
    return clb_api_slb(call, "StartLoadBalancerListener", &params, ALI_ONCE, NULL, err);
}

int clb_api_delete_listener(struct clb_call *call, const char *lb_id, uint16_t port,
                            enum lbc_protocol protocol, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    port_params(&params, lb_id, port, protocol);
    return clb_api_slb(call, "DeleteLoadBalancerListener", &params, ALI_IDEMPOTENT, NULL, err);
}

/* --- domain extensions, certificates --- */

int clb_api_domains(struct clb_call *call, const char *lb_id, uint16_t port, cJSON **ret,
                    struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "LoadBalancerId", lb_id);
    ali_param_i64(&params, "ListenerPort", port);
    return clb_api_slb(call, "DescribeDomainExtensions", &params, ALI_READ, ret, err);
}

int clb_api_create_domain(struct clb_call *call, const char *lb_id, uint16_t port,
                          const struct clb_domain *domain, char **ret_id, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    int r;

    ali_param_add(&params, "LoadBalancerId", lb_id);
    ali_param_i64(&params, "ListenerPort", port);
    ali_param_add(&params, "Domain", domain->name);
    ali_param_add(&params, "ServerCertificateId", domain->cert);
    r = clb_api_slb(call, "CreateDomainExtension", &params, ALI_ONCE, &answer, err);
    if (r < 0) {
        return r;
    }
    return lbc_text_set(ret_id, ccm_json_text(answer, "DomainExtensionId")) < 0
               ? ccm_error_nomem(err)
               : 0;
}

int clb_api_set_domain(struct clb_call *call, const struct clb_domain *domain,
                       struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "DomainExtensionId", domain->id);
    ali_param_add(&params, "ServerCertificateId", domain->cert);
    return clb_api_slb(call, "SetDomainExtensionAttribute", &params, ALI_IDEMPOTENT, NULL, err);
}

int clb_api_delete_domain(struct clb_call *call, const struct clb_domain *domain,
                          struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "DomainExtensionId", domain->id);
    return clb_api_slb(call, "DeleteDomainExtension", &params, ALI_IDEMPOTENT, NULL, err);
}

int clb_api_certificate(struct clb_call *call, const char *id, cJSON **ret, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "ServerCertificateId", id);
    return clb_api_slb(call, "DescribeServerCertificates", &params, ALI_READ, ret, err);
}

/* --- access lists --- */

int clb_api_acls(struct clb_call *call, const char *name, int64_t page, cJSON **ret,
                 struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "AclName", name);
    ali_param_i64(&params, "PageNumber", page);
    ali_param_i64(&params, "PageSize", CLB_ACL_PAGE);
    return clb_api_slb(call, "DescribeAccessControlLists", &params, ALI_READ, ret, err);
}

int clb_api_acl(struct clb_call *call, const char *id, int64_t page, cJSON **ret,
                struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "AclId", id);
    ali_param_i64(&params, "Page", page);
    ali_param_i64(&params, "PageSize", CLB_ACL_PAGE);
    return clb_api_slb(call, "DescribeAccessControlListAttribute", &params, ALI_READ, ret, err);
}

int clb_api_create_acl(struct clb_call *call, const char *name, bool ipv6, char **ret_id,
                       struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    int r;

    ali_param_add(&params, "AclName", name);
    ali_param_add(&params, "AddressIPVersion", ipv6 ? "ipv6" : "ipv4");
    ali_param_opt(&params, "ResourceGroupId", ali_resource_group_id(clb_client(call->clb)));
    ali_param_tag(&params, 1, CLB_TAG_OWNER, name);
    ali_param_tag(&params, 2, CLB_TAG_CLUSTER, lbc_cluster_id(&call->clb->lbc));
    r = clb_api_slb(call, "CreateAccessControlList", &params, ALI_ONCE, &answer, err);
    if (r < 0) {
        return r;
    }
    if (ccm_json_text(answer, "AclId")[0] == '\0') {
        call->uncertain = true;
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "CreateAccessControlList: the answer names no list");
    }
    return lbc_text_set(ret_id, ccm_json_text(answer, "AclId")) < 0 ? ccm_error_nomem(err) : 0;
}

int clb_api_change_acl(struct clb_call *call, const char *id, const struct lbc_texts *entries,
                       bool remove, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = (size_t)64 * 1024 };
    struct ccm_jsonw w = { .buf = &text };

    ccm_jsonw_open(&w, NULL, '[');
    for (size_t i = 0; i < entries->len; i++) {
        ccm_jsonw_open(&w, NULL, '{');
        ccm_jsonw_str(&w, "entry", entries->items[i]);
        ccm_jsonw_close(&w, '}');
    }
    ccm_jsonw_close(&w, ']');
    if (ccm_buf_error(&text) < 0) {
        return ccm_error_nomem(err);
    }
    ali_param_add(&params, "AclId", id);
    ali_param_add(&params, "AclEntrys", ccm_buf_str(&text));
    return clb_api_slb(call, remove ? "RemoveAccessControlListEntry" : "AddAccessControlListEntry",
                       &params, remove ? ALI_IDEMPOTENT : ALI_ONCE, NULL, err);
}

int clb_api_delete_acl(struct clb_call *call, const char *id, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };

    ali_param_add(&params, "AclId", id);
    return clb_api_slb(call, "DeleteAccessControlList", &params, ALI_IDEMPOTENT, NULL, err);
}
