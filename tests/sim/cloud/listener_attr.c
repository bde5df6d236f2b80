/* One listener in full, an action for each protocol. */
#include "families.h"
#include "lb.h"
#include "listener.h"
#include "plain.h"
#include "store.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

static const struct ccm_cloud_field tcp_fields[] = {
    { "AclStatus", 's', NULL, "off" },
    { "AclType", 's', NULL, "" },
    { "BackendServerPort", 'n', NULL, "0" },
    { "Bandwidth", 'n', NULL, "-1" },
    { "ConnectionDrain", 's', NULL, "off" },
    { "ConnectionDrainTimeout", 'n', NULL, "0" },
    { "Description", 's', NULL, "" },
    { "EstablishedTimeout", 'n', NULL, "900" },
    { "HealthCheck", 's', NULL, "on" },
    { "HealthCheckConnectPort", 'n', NULL, "0" },
    { "HealthCheckConnectTimeout", 'n', NULL, "5" },
    { "HealthCheckDomain", 's', NULL, "" },
    { "HealthCheckHttpCode", 's', NULL, "" },
    { "HealthCheckInterval", 'n', NULL, "2" },
    { "HealthCheckMethod", 's', NULL, "" },
    { "HealthCheckType", 's', NULL, "" },
    { "HealthCheckURI", 's', NULL, "" },
    { "HealthyThreshold", 'n', NULL, "3" },
    { "MasterSlaveServerGroupId", 's', NULL, "" },
    { "PersistenceTimeout", 'n', NULL, "0" },
    { "ProxyProtocolV2Enabled", 'b', NULL, "false" },
    { "Scheduler", 's', NULL, "wrr" },
    { "Status", 's', NULL, "stopped" },
    { "SynProxy", 's', NULL, "" },
    { "UnhealthyThreshold", 'n', NULL, "3" },
    { "VServerGroupId", 's', NULL, "" },
    { 0 },
};

static const struct ccm_cloud_field udp_fields[] = {
    { "AclStatus", 's', NULL, "off" },
    { "AclType", 's', NULL, "" },
    { "BackendServerPort", 'n', NULL, "0" },
    { "Bandwidth", 'n', NULL, "-1" },
    { "Description", 's', NULL, "" },
    { "HealthCheck", 's', NULL, "on" },
    { "HealthCheckConnectPort", 'n', NULL, "0" },
    { "HealthCheckConnectTimeout", 'n', NULL, "5" },
    { "HealthCheckExp", 's', NULL, "" },
    { "HealthCheckInterval", 'n', NULL, "2" },
    { "HealthCheckReq", 's', NULL, "" },
    { "HealthyThreshold", 'n', NULL, "3" },
    { "MasterSlaveServerGroupId", 's', NULL, "" },
    { "ProxyProtocolV2Enabled", 'b', NULL, "false" },
    { "Scheduler", 's', NULL, "wrr" },
    { "Status", 's', NULL, "stopped" },
    { "UnhealthyThreshold", 'n', NULL, "3" },
    { "VServerGroupId", 's', NULL, "" },
    { 0 },
};

static const struct ccm_cloud_field http_fields[] = {
    { "AclStatus", 's', NULL, "off" },
    { "AclType", 's', NULL, "" },
    { "BackendServerPort", 'n', NULL, "0" },
    { "Bandwidth", 'n', NULL, "-1" },
    { "Cookie", 's', NULL, "" },
    { "CookieTimeout", 'n', NULL, "0" },
    { "Description", 's', NULL, "" },
    { "ForwardPort", 'n', NULL, "0" },
    { "Gzip", 's', NULL, "on" },
    { "HealthCheck", 's', NULL, "on" },
    { "HealthCheckConnectPort", 'n', NULL, "0" },
    { "HealthCheckDomain", 's', NULL, "" },
    { "HealthCheckHttpCode", 's', NULL, "" },
    { "HealthCheckInterval", 'n', NULL, "2" },
    { "HealthCheckMethod", 's', NULL, "" },
    { "HealthCheckTimeout", 'n', NULL, "5" },
    { "HealthCheckURI", 's', NULL, "" },
    { "HealthyThreshold", 'n', NULL, "3" },
    { "IdleTimeout", 'n', NULL, "15" },
    { "ListenerForward", 's', NULL, "off" },
    { "RequestTimeout", 'n', NULL, "60" },
    { "Scheduler", 's', NULL, "wrr" },
    { "SecurityStatus", 's', NULL, "on" },
    { "Status", 's', NULL, "stopped" },
    { "StickySession", 's', NULL, "off" },
    { "StickySessionType", 's', NULL, "" },
    { "UnhealthyThreshold", 'n', NULL, "3" },
    { "VServerGroupId", 's', NULL, "" },
    { "XForwardedFor", 's', NULL, "on" },
    { "XForwardedFor_ClientSrcPort", 's', NULL, "off" },
    { "XForwardedFor_SLBID", 's', NULL, "off" },
    { "XForwardedFor_SLBIP", 's', NULL, "off" },
    { "XForwardedFor_SLBPORT", 's', NULL, "off" },
    { "XForwardedFor_proto", 's', NULL, "off" },
    { 0 },
};

static const struct ccm_cloud_field https_fields[] = {
    { "AclStatus", 's', NULL, "off" },
    { "AclType", 's', NULL, "" },
    { "BackendServerPort", 'n', NULL, "0" },
    { "Bandwidth", 'n', NULL, "-1" },
    { "CACertificateId", 's', NULL, "" },
    { "Cookie", 's', NULL, "" },
    { "CookieTimeout", 'n', NULL, "0" },
    { "Description", 's', NULL, "" },
    { "EnableHttp2", 's', NULL, "on" },
    { "Gzip", 's', NULL, "on" },
    { "HealthCheck", 's', NULL, "on" },
    { "HealthCheckConnectPort", 'n', NULL, "0" },
    { "HealthCheckDomain", 's', NULL, "" },
    { "HealthCheckHttpCode", 's', NULL, "" },
    { "HealthCheckInterval", 'n', NULL, "2" },
    { "HealthCheckMethod", 's', NULL, "" },
    { "HealthCheckTimeout", 'n', NULL, "5" },
    { "HealthCheckURI", 's', NULL, "" },
    { "HealthyThreshold", 'n', NULL, "3" },
    { "IdleTimeout", 'n', NULL, "15" },
    { "RequestTimeout", 'n', NULL, "60" },
    { "Scheduler", 's', NULL, "wrr" },
    { "SecurityStatus", 's', NULL, "on" },
    { "ServerCertificateId", 's', NULL, "" },
    { "Status", 's', NULL, "stopped" },
    { "StickySession", 's', NULL, "off" },
    { "StickySessionType", 's', NULL, "" },
    { "TLSCipherPolicy", 's', NULL, "" },
    { "UnhealthyThreshold", 'n', NULL, "3" },
    { "VServerGroupId", 's', NULL, "" },
    { "XForwardedFor", 's', NULL, "on" },
    { "XForwardedFor_ClientCertClientVerify", 's', NULL, "off" },
    { "XForwardedFor_ClientCertFingerprint", 's', NULL, "off" },
    { "XForwardedFor_ClientCertIssuerDN", 's', NULL, "off" },
    { "XForwardedFor_ClientCertSubjectDN", 's', NULL, "off" },
    { "XForwardedFor_ClientSrcPort", 's', NULL, "off" },
    { "XForwardedFor_SLBID", 's', NULL, "off" },
    { "XForwardedFor_SLBIP", 's', NULL, "off" },
    { "XForwardedFor_SLBPORT", 's', NULL, "off" },
    { "XForwardedFor_proto", 's', NULL, "off" },
    { 0 },
};

/* AclId has room for one: the first. */
void ccm_cloud_listener_acls_write(struct ccm_jsonw *w, const struct ccm_cloud_listener *listener,
                                   bool bare)
{
    const char *ids = ccm_cloud_attr(&listener->obj, "AclId");
    char first[64];

    ccm_text_copy(first, sizeof(first), ids);
    first[strcspn(first, ",")] = '\0';
    ccm_jsonw_str(w, "AclId", first);
    if (bare) {
        ccm_cloud_write_pieces(w, "AclIds", ids);
    } else {
        ccm_cloud_write_list(w, "AclIds", "AclId", ids);
    }
}

static void empty_write(struct ccm_jsonw *w, const char *outer, const char *inner)
{
    ccm_cloud_write_list(w, outer, inner, "");
}

static void extensions_write(struct ccm_cloud_call *call, const struct ccm_cloud_listener *listener)
{
    static const struct ccm_cloud_field fields[] = {
        { "Domain", 's', NULL, "" },
        { "ServerCertificateId", 's', NULL, "" },
        { 0 },
    };
    CCM_CLEANUP(ccm_freep) char *port = ccm_text_format("%u", listener->port);
    const char *lb = ccm_cloud_text(call, "LoadBalancerId", "");
    void *cursor = NULL;

    ccm_jsonw_open(call->out, "DomainExtensions", '{');
    ccm_jsonw_open(call->out, "DomainExtension", '[');
    for (const struct ccm_cloud_obj *obj =
             ccm_cloud_plain_next(call->cloud, CCM_CLOUD_EXTENSION, &cursor);
         obj != NULL; obj = ccm_cloud_plain_next(call->cloud, CCM_CLOUD_EXTENSION, &cursor)) {
        if (ccm_text_equal(ccm_cloud_attr(obj, "LoadBalancerId"), lb) &&
            ccm_text_equal(ccm_cloud_attr(obj, "ListenerPort"), port)) {
            ccm_jsonw_open(call->out, NULL, '{');
            ccm_jsonw_str(call->out, "DomainExtensionId", obj->id);
            ccm_cloud_write_fields(call->out, obj, fields);
            ccm_jsonw_close(call->out, '}');
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
}

static int describe(struct ccm_cloud_call *call, const char *protocol,
                    const struct ccm_cloud_field *fields)
{
    uint32_t port = (uint32_t)ccm_cloud_int(call, "ListenerPort", 0);
    struct ccm_cloud_lb *lb = NULL;
    int r = ccm_cloud_lb_of(call, &lb);

    if (r < 0) {
        return r;
    }

    const struct ccm_cloud_listener *listener = ccm_cloud_listener_get(lb, protocol, port);

    if (listener == NULL) {
        return ccm_cloud_fail(call, 400, "InvalidParameter",
                              "The specified resource does not exist.");
    }
    ccm_jsonw_str(call->out, "LoadBalancerId", lb->obj.id);
    ccm_jsonw_i64(call->out, "ListenerPort", port);
    ccm_cloud_write_fields(call->out, &listener->obj, fields);
    ccm_cloud_listener_acls_write(call->out, listener, false);
    ccm_cloud_tags_write(call->out, "Tags", &listener->obj, false);
    if (ccm_text_starts(protocol, "http")) {
        empty_write(call->out, "Rules", "Rule");
    }
    if (ccm_text_equal(protocol, "https")) {
        extensions_write(call, listener);
    }
    return 0;
}

static int describe_tcp(struct ccm_cloud_call *call)
{
    return describe(call, "tcp", tcp_fields);
}

static int describe_udp(struct ccm_cloud_call *call)
{
    return describe(call, "udp", udp_fields);
}

static int describe_http(struct ccm_cloud_call *call)
{
    return describe(call, "http", http_fields);
}

static int describe_https(struct ccm_cloud_call *call)
{
    return describe(call, "https", https_fields);
}

static const struct ccm_cloud_param params[] = { CCM_CLOUD_LISTENER_ID_ROWS, { 0 } };

const struct ccm_cloud_action ccm_cloud_listener_attr_actions[] = {
    { .name = "DescribeLoadBalancerTCPListenerAttribute",
      .params = params,
      .run = describe_tcp,
      .change = CCM_CLOUD_CHANGE_LOOK },
    { .name = "DescribeLoadBalancerUDPListenerAttribute",
      .params = params,
      .run = describe_udp,
      .change = CCM_CLOUD_CHANGE_LOOK },
    { .name = "DescribeLoadBalancerHTTPListenerAttribute",
      .params = params,
      .run = describe_http,
      .change = CCM_CLOUD_CHANGE_LOOK },
    { .name = "DescribeLoadBalancerHTTPSListenerAttribute",
      .params = params,
      .run = describe_https,
      .change = CCM_CLOUD_CHANGE_LOOK },
    { 0 },
};
