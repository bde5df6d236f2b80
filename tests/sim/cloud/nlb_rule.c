/* What a listener may be: ports, targets, TLS. */
#include "nlb.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

#define LISTENERS_PER_GROUP 50

bool ccm_nlb_is_tls(const char *protocol)
{
    return ccm_text_equal(protocol, "TCPSSL");
}

/* TCP and TCPSSL share the ports of a load balancer, UDP has its own. */
int ccm_nlb_port_check(struct ccm_cloud_call *call, const struct ccm_nlb_lb *lb,
                       const char *protocol, uint32_t first, uint32_t last)
{
    bool udp = ccm_text_equal(protocol, "UDP");

    for (size_t i = 0; i < lb->len; i++) {
        const struct ccm_nlb_listener *other = lb->listeners[i];

        if (ccm_text_equal(ccm_cloud_attr(&other->obj, "ListenerProtocol"), "UDP") != udp ||
            other->last < first || other->first > last) {
            continue;
        }
        if (first != last || other->range) {
            return ccm_cloud_fail(call, 400, "DuplicatedParam.listener",
                                  "The param of any port listener is duplicated.");
        }
        return ccm_cloud_fail(call, 400, "Conflict.Port", "The Port [%u] is conflict.", first);
    }
    if (lb->len >= call->cloud->limits.nlb_listeners) {
        return ccm_nlb_fail_quota(call, "loadbalancer_listeners_num", lb->len,
                                  call->cloud->limits.nlb_listeners);
    }
    return 0;
}

/* ListenerPort, or with 0 StartPort and EndPort. */
int ccm_nlb_ports_read(struct ccm_cloud_call *call, uint32_t *ret_first, uint32_t *ret_last)
{
    int64_t port = ccm_cloud_int(call, "ListenerPort", 0);
    int64_t start = ccm_cloud_int(call, "StartPort", 0);
    int64_t end = ccm_cloud_int(call, "EndPort", 0);

    if (port == 0 && (start == 0 || end == 0)) {
        return ccm_nlb_fail_missing(call, start == 0 ? "StartPort" : "EndPort");
    }
    if (port == 0 ? start >= end : (start != 0 || end != 0)) {
        return ccm_nlb_fail_illegal(call, "IllegalParam.Port", "Port");
    }
    *ret_first = (uint32_t)(port == 0 ? start : port);
    *ret_last = (uint32_t)(port == 0 ? end : port);
    return 0;
}

int ccm_nlb_target_check(struct ccm_cloud_call *call, const struct ccm_nlb_lb *lb,
                         const char *protocol, bool range, const struct ccm_nlb_group *group)
{
    const char *other = ccm_cloud_attr(&group->obj, "Protocol");
    bool fits = ccm_text_equal(other, protocol) ||
                (ccm_nlb_is_tls(protocol) && ccm_text_equal(other, "TCP")) ||
                (!ccm_nlb_is_tls(protocol) && ccm_text_equal(other, "TCP_UDP"));
    bool any_port = ccm_text_equal(ccm_cloud_attr(&group->obj, "AnyPortEnabled"), "true");

    if (!ccm_text_equal(ccm_cloud_attr(&group->obj, "VpcId"), ccm_cloud_attr(&lb->obj, "VpcId"))) {
        return ccm_nlb_fail_mismatch(call, "VpcId", lb->obj.id, group->obj.id);
    }
    if (!fits) {
        return ccm_nlb_fail_mismatch(call, "Protocol", protocol, other);
    }
    if (range && !any_port) {
        return ccm_nlb_fail_illegal(call,
                                    "IllegalParam.AnyPortListenerConflictWithNonAnyPortServerGroup",
                                    "AnyPortListenerConflictWithNonAnyPortServerGroup");
    }
    if (!range && any_port) {
        return ccm_nlb_fail_illegal(call,
                                    "IllegalParam.NonAnyPortListenerConflictWithAnyPortServerGroup",
                                    "NonAnyPortListenerConflictWithAnyPortServerGroup");
    }
    if (ccm_nlb_is_tls(protocol) &&
        ccm_text_equal(ccm_cloud_attr(&group->obj, "PreserveClientIpEnabled"), "true")) {
        return ccm_cloud_fail(call, 400, "IllegalParam.PreserveClientIpSwitch",
                              "The server group associated with the tcpssl listener does not "
                              "support enabling PreserveClientIp.");
    }
    if (ccm_text_equal(ccm_cloud_attr(&group->obj, "ServerGroupStatus"), "Creating")) {
        return ccm_cloud_fail(call, 400, "IncorrectStatus.serverGroup",
                              "The status of servergroup [%s] is incorrect.", group->obj.id);
    }
    if (group->users_len >= LISTENERS_PER_GROUP) {
        return ccm_nlb_fail_quota(call, "server_group_listeners_num", group->users_len,
                                  LISTENERS_PER_GROUP);
    }
    return 0;
}

/* Servers of one load balancer, with those of a group that it did not send to until now. */
int ccm_nlb_target_servers_check(struct ccm_cloud_call *call, const struct ccm_nlb_lb *lb,
                                 const struct ccm_nlb_group *group)
{
    size_t used = ccm_nlb_lb_servers(lb);

    for (size_t i = 0; i < group->users_len; i++) {
        if (group->users[i]->lb == lb) {
            return 0;
        }
    }
    return used + group->servers.len > call->cloud->limits.nlb_servers
               ? ccm_nlb_fail_quota(call, "loadbalancer_servers_num", used,
                                    call->cloud->limits.nlb_servers)
               : 0;
}

int ccm_nlb_idle_check(struct ccm_cloud_call *call, const char *protocol, const char *now)
{
    int64_t most = ccm_text_empty(now) ? 90 : 20;
    const char *text = ccm_cloud_text(call, "IdleTimeout", now);

    if (ccm_text_equal(protocol, "UDP") && !ccm_text_equal(text, now) &&
        ccm_cloud_int(call, "IdleTimeout", 0) > most) {
        return ccm_nlb_fail_illegal(call, "IllegalParam.IdleTimeout", "IdleTimeout");
    }
    return 0;
}

/* Certificates of one kind: exactly one where some must be. */
static int check_certs(struct ccm_cloud_call *call, const char *name, bool ca, bool must)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params list = { 0 };
    int r = ccm_cloud_list(call, name, &list);

    if (r < 0) {
        return r;
    }
    if (list.len == 0 && must) {
        return ca ? ccm_cloud_fail(call, 400, "ResourceNotEnough.CaCertificateApiCount",
                                   "The specified resource of CaCertificateApiCount is not enough.")
                  : ccm_cloud_fail(call, 400, "MissingParam.Certificate",
                                   "The param of certificate is missing.");
    }
    if (list.len > 1) {
        return ccm_cloud_fail(call, 400, "IllegalParamSize.certificateIds",
                              "The param size of certificateIds or  caCertificateIds is illegal.");
    }
    return list.len == 0 ? 0 : ccm_nlb_cert_check(call, list.items[0].value, ca);
}

static int check_policy(struct ccm_cloud_call *call)
{
    static const char *const policies[] = {
        "tls_cipher_policy_1_0",
        "tls_cipher_policy_1_1",
        "tls_cipher_policy_1_2",
        "tls_cipher_policy_1_2_strict",
        "tls_cipher_policy_1_2_strict_with_1_3",
    };
    const char *id = ccm_cloud_text(call, "SecurityPolicyId", NULL);

    for (size_t i = 0; id != NULL && i < CCM_ARRAY_LEN(policies); i++) {
        if (ccm_text_equal(id, policies[i])) {
            return 0;
        }
    }
    return id == NULL ? 0 : ccm_nlb_fail_absent(call, "securitypolicy");
}

/* What only TCPSSL has; other protocols do not look at it. `listener` NULL: a new one. */
int ccm_nlb_tls_check(struct ccm_cloud_call *call, const char *protocol,
                      const struct ccm_nlb_listener *listener)
{
    bool had_ca =
        listener != NULL && ccm_text_equal(ccm_cloud_attr(&listener->obj, "CaEnabled"), "true");
    bool has_ca_cert =
        listener != NULL && !ccm_text_empty(ccm_cloud_attr(&listener->obj, "CaCertificateIds"));
    bool had_alpn =
        listener != NULL && ccm_text_equal(ccm_cloud_attr(&listener->obj, "AlpnEnabled"), "true");
    bool has_policy =
        listener != NULL && !ccm_text_empty(ccm_cloud_attr(&listener->obj, "AlpnPolicy"));

    if (!ccm_nlb_is_tls(protocol)) {
        return 0;
    }

    int r = check_certs(call, "CertificateIds", false, listener == NULL);

    r = r < 0 ? r
              : check_certs(call, "CaCertificateIds", true,
                            ccm_nlb_flag(call, "CaEnabled", had_ca) && !has_ca_cert);
    r = r < 0 ? r : check_policy(call);
    if (r == 0 && ccm_nlb_flag(call, "AlpnEnabled", had_alpn) && !has_policy &&
        !ccm_cloud_has(call, "AlpnPolicy")) {
        r = ccm_nlb_fail_missing(call, "AlpnPolicy");
    }
    return r;
}
