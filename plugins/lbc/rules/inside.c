#include "lbc/rules/inside.h"

#include "lbc/model/annotation.h"
#include "lbc/model/settings.h"
#include "util/text.h"

#define HTTP_PROTOCOLS (1U << LBC_HTTP | 1U << LBC_HTTPS)

static bool inside_tells_proxy(const struct ccm_service *service)
{
    return lbc_anno_says(&service->meta, "proxy-protocol", "on");
}

bool lbc_inside_needs_lb(const struct lbc_lint_rules *rules, const struct ccm_service *service)
{
    return lbc_setting_has_listeners(rules->annotations, service) &&
           (inside_tells_proxy(service) ||
            lbc_setting_has_protocol(service, rules->protocols, HTTP_PROTOCOLS));
}

/* What the server shows beside the first address; NULL: there is none. */
static const char *inside_shown_mode(const struct ccm_service *service)
{
    for (uint64_t i = 0; i < service->ingress_count; i++) {
        if (!ccm_text_empty(service->ingress[i]->ip)) {
            return service->ingress[i]->ip_mode;
        }
    }
    return NULL;
}

const char *lbc_inside_ip_mode(const struct lbc_lint_rules *rules,
                               const struct ccm_service *service, const char *option)
{
    const char *shown = inside_shown_mode(service);

    if (!ccm_text_equal(option, LBC_IP_MODE_AUTO)) {
        return ccm_text_empty(option) || ccm_text_equal(option, LBC_IP_MODE_OFF) ? NULL : option;
    }
    if (shown != NULL && shown[0] == '\0') {
        return NULL; /* it would be forgotten */
    }
    if (lbc_inside_needs_lb(rules, service)) {
        return LBC_IP_MODE_PROXY;
    }
    return ccm_text_equal(shown, LBC_IP_MODE_PROXY) ? LBC_IP_MODE_VIP : NULL;
}

void lbc_inside_describe(const struct lbc_lint_rules *rules, const struct ccm_service *service,
                         const char *mode, struct ccm_buf *text)
{
    const bool passes = ccm_text_equal(mode, LBC_IP_MODE_PROXY) ||
                        lbc_anno_get(&service->meta, "hostname")[0] != '\0';
    const bool local = ccm_text_equal(service->external_traffic_policy, "Local");

    if (!rules->shows_address || passes) {
        return;
    }
    if (lbc_inside_needs_lb(rules, service)) {
        ccm_buf_addf(text,
                     "inside of the cluster nodes send traffic for the address straight to the "
                     "pods, past the load balancer: %s. Use the ClusterIP or its DNS name there, "
                     "or set annotation hostname to a name that leads to the address",
                     inside_tells_proxy(service)
                         ? "no proxy protocol header arrives, and connections break"
                         : "TLS does not end there, and no X-Forwarded-For is set");
    } else if (local) {
        ccm_buf_adds(text,
                     "inside of the cluster the address may not be reached from nodes without a "
                     "pod of the Service (externalTrafficPolicy Local), as nodes do not send that "
                     "traffic to the load balancer. Use the ClusterIP or its DNS name there, or "
                     "policy Cluster, which hides the clients' addresses");
    }
}

/* A port that is called or numbered so speaks TLS itself as a rule. 0 and no name: the port's own
 * number. */
static bool port_speaks_tls(const struct ccm_service_port *port)
{
    const int64_t number = port->target_port == 0 && port->target_port_name[0] == '\0'
                               ? port->port
                               : port->target_port;

    return number == 443 || ccm_text_equal(port->target_port_name, "https") ||
           ccm_text_equal(port->app_protocol, "https");
}

void lbc_inside_find_tls(const struct lbc_lint_rules *rules, const struct ccm_service *service,
                         struct ccm_buf *text)
{
    const bool listens = lbc_setting_has_listeners(rules->annotations, service);

    for (uint64_t i = 0; listens && i < service->port_count && text->len == 0; i++) {
        const struct ccm_service_port *port = service->ports[i];
        enum lbc_protocol protocol = LBC_OTHER;
        struct ccm_error ignored = CCM_ERROR_INIT;

        if (lbc_setting_protocol(service, port, rules->protocols, &protocol, &ignored) == 0 &&
            (protocol == LBC_HTTPS || protocol == LBC_TCPSSL) && port_speaks_tls(port)) {
            const bool https = protocol == LBC_HTTPS;

            ccm_buf_addf(text,
                         "port %lld: %s ends at the load balancer, which sends plain %s to the "
                         "targetPort, and that one is named or numbered like an HTTPS port: name "
                         "the %s port of the pods, or let the listener be tcp (annotation "
                         "protocol-port)",
                         (long long)port->port, https ? "HTTPS" : "TLS", https ? "HTTP" : "text",
                         https ? "HTTP" : "plain");
        }
    }
}
