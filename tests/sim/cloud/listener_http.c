/* HTTP and HTTPS listeners: what they have beyond those of TCP and UDP. */
#include "listener.h"

#include "families.h"
#include "lb.h"
#include "plain.h"
#include "store.h"
#include "tag.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

static const struct ccm_cloud_feed layer7_feeds[] = {
    { "Cookie", "Cookie", "Cookie", NULL },
    { "CookieTimeout", "CookieTimeout", "CookieTimeout", NULL },
    { "Gzip", "Gzip", "Gzip", "on" },
    { "HealthCheck", "HealthCheck", "HealthCheck", "off" },
    { "HealthCheckDomain", "HealthCheckDomain", "HealthCheckDomain", "" },
    { "HealthCheckHttpCode", "HealthCheckHttpCode", "HealthCheckHttpCode", "http_2xx" },
    { "HealthCheckInterval", "HealthCheckInterval", "HealthCheckInterval", "2" },
    { "HealthCheckMethod", "HealthCheckMethod", "HealthCheckMethod", "head" },
    { "HealthCheckTimeout", "HealthCheckTimeout", "HealthCheckTimeout", "5" },
    { "HealthCheckURI", "HealthCheckURI", "HealthCheckURI", "/" },
    { "IdleTimeout", "IdleTimeout", "IdleTimeout", "15" },
    { "RequestTimeout", "RequestTimeout", "RequestTimeout", "60" },
    { "StickySession", "StickySession", "StickySession", "off" },
    { "StickySessionType", "StickySessionType", "StickySessionType", NULL },
    { "XForwardedFor", "XForwardedFor", "XForwardedFor", "on" },
    { "XForwardedFor_ClientSrcPort", "XForwardedFor_ClientSrcPort", "XForwardedFor_ClientSrcPort",
      "off" },
    { "XForwardedFor_SLBID", "XForwardedFor_SLBID", "XForwardedFor_SLBID", "off" },
    { "XForwardedFor_SLBIP", "XForwardedFor_SLBIP", "XForwardedFor_SLBIP", "off" },
    { "XForwardedFor_SLBPORT", "XForwardedFor_SLBPORT", "XForwardedFor_SLBPORT", "off" },
    { "XForwardedFor_proto", "XForwardedFor_proto", "XForwardedFor_proto", "off" },
    { 0 },
};

static const struct ccm_cloud_feed forward_feeds[] = {
    { "ForwardPort", "ForwardPort", NULL, NULL },
    { "ListenerForward", "ListenerForward", NULL, "off" },
    { 0 },
};

static const struct ccm_cloud_feed secure_feeds[] = {
    { "CACertificateId", "CACertificateId", "CACertificateId", NULL },
    { "EnableHttp2", "EnableHttp2", "EnableHttp2", "on" },
    { "ServerCertificateId", "ServerCertificateId", "ServerCertificateId", NULL },
    { "TLSCipherPolicy", "TLSCipherPolicy", "TLSCipherPolicy", "tls_cipher_policy_1_0" },
    { 0 },
};

const struct ccm_cloud_feed *const ccm_cloud_http_feeds[] = { layer7_feeds, forward_feeds, NULL };
const struct ccm_cloud_feed *const ccm_cloud_https_feeds[] = { layer7_feeds, secure_feeds, NULL };

/* ---- rules ---- */

bool ccm_cloud_http_codes_fit(const char *text)
{
    const char *cursor = text;
    const char *start = NULL;
    size_t len = 0;
    bool fits = true;

    while (fits && ccm_parse_piece(&cursor, ',', &start, &len)) {
        fits = len == strlen("http_2xx") && strncmp(start, "http_", 5) == 0 && start[5] >= '2' &&
               start[5] <= '5' && strncmp(start + 6, "xx", 2) == 0;
    }
    return fits;
}

/* What a parameter will be: given, or as it is now. */
static const char *wanted(const struct ccm_cloud_call *call,
                          const struct ccm_cloud_listener *listener, const char *name)
{
    return ccm_cloud_text(call, name, listener == NULL ? "" : ccm_cloud_attr(&listener->obj, name));
}

/* The kind of cookie needs its own parameter. */
static int check_sticky(struct ccm_cloud_call *call, const struct ccm_cloud_listener *listener)
{
    const char *type = wanted(call, listener, "StickySessionType");
    const char *needed = ccm_text_equal(type, "insert") ? "CookieTimeout" : "Cookie";

    if (!ccm_text_equal(wanted(call, listener, "StickySession"), "on")) {
        return 0;
    }
    needed = ccm_text_empty(type) ? "StickySessionType" : needed;
    if (ccm_text_empty(wanted(call, listener, needed))) {
        return ccm_cloud_fail(call, 400, "MissingParameter", "The parameter %s is required.",
                              needed);
    }
    return 0;
}

/* A redirect goes to an HTTPS listener of the same load balancer. */
static int check_forward(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb)
{
    int64_t port = ccm_cloud_int(call, "ForwardPort", 443);

    if (!ccm_text_equal(ccm_cloud_text(call, "ListenerForward", ""), "on")) {
        return 0;
    }
    if (ccm_text_equal(ccm_cloud_attr(&lb->obj, "AddressIPVersion"), "ipv6")) {
        return ccm_cloud_fail(call, 400, "ListenerForwardNotSupport",
                              "X-Forward-For is not supported to a ipv6 instance.");
    }
    if (!ccm_cloud_has(call, "ForwardPort") ||
        ccm_cloud_listener_get(lb, "https", (uint32_t)port) == NULL) {
        return ccm_cloud_fail(call, 400, "InvalidParameter",
                              "The specified ListenerPort or ForwardPort is invalid.");
    }
    return 0;
}

static int check_cert(struct ccm_cloud_call *call, const char *name, enum ccm_cloud_kind kind,
                      enum ccm_cloud_kind other)
{
    const char *id = ccm_cloud_text(call, name, NULL);

    if (id == NULL || ccm_cloud_plain_get(call->cloud, kind, id) != NULL) {
        return 0;
    }
    return ccm_cloud_plain_get(call->cloud, other, id) != NULL
               ? ccm_cloud_fail(call, 400, "CertificateTypeMismatched",
                                "The certificate type does not match.")
               : ccm_cloud_fail(call, 400, "CertificateNotExist",
                                "The specified CertificateId does not exist.");
}

static int check_secure(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                        const struct ccm_cloud_listener *listener)
{
    if (ccm_text_empty(wanted(call, listener, "ServerCertificateId"))) {
        return ccm_cloud_fail(call, 400, "MissingParam.ServerCertificates",
                              "Server certificates are required.");
    }
    if (ccm_cloud_lb_is_shared(lb) && ccm_cloud_has(call, "TLSCipherPolicy")) {
        return ccm_cloud_fail(call, 400, "InvalidParameter.SpecNotSupport",
                              "The loadBalancer of shared spec does not support the parameter: "
                              "TLSCipherPolicy.");
    }

    int r = check_cert(call, "ServerCertificateId", CCM_CLOUD_SERVER_CERT, CCM_CLOUD_CA_CERT);

    return r < 0 ? r
                 : check_cert(call, "CACertificateId", CCM_CLOUD_CA_CERT, CCM_CLOUD_SERVER_CERT);
}

int ccm_cloud_http_check(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                         const char *protocol, const struct ccm_cloud_listener *listener)
{
    int r = check_sticky(call, listener);

    if (r < 0) {
        return r;
    }
    return ccm_text_equal(protocol, "https") ? check_secure(call, lb, listener)
                                             : check_forward(call, lb);
}

/* ---- actions ---- */

static int create_http(struct ccm_cloud_call *call)
{
    return ccm_cloud_listener_create(call, "http");
}

static int create_https(struct ccm_cloud_call *call)
{
    return ccm_cloud_listener_create(call, "https");
}

/* A listener that redirects has nothing to be set. */
static int set_http(struct ccm_cloud_call *call)
{
    const struct ccm_cloud_lb *lb =
        ccm_cloud_lb_get(call->cloud, ccm_cloud_text(call, "LoadBalancerId", ""));
    const struct ccm_cloud_listener *listener =
        lb == NULL
            ? NULL
            : ccm_cloud_listener_get(lb, "http", (uint32_t)ccm_cloud_int(call, "ListenerPort", 0));

    if (listener != NULL &&
        ccm_text_equal(ccm_cloud_attr(&listener->obj, "ListenerForward"), "on")) {
        return ccm_cloud_fail(call, 400, "Operation.NotAllowed",
                              "Operation Denied. The HTTP listener does not support this action.");
    }
    return ccm_cloud_listener_set(call, "http");
}

static int set_https(struct ccm_cloud_call *call)
{
    return ccm_cloud_listener_set(call, "https");
}

#define ON_OFF .type = CCM_CLOUD_ENUM, .values = "on|off"

#define LAYER7_ROWS                                                                                \
    CCM_CLOUD_LISTENER_ID_ROWS, CCM_CLOUD_LISTENER_ROWS,                                           \
        { .name = "Cookie", .min = 1, .max = 200 },                                                \
        { .name = "CookieTimeout", .type = CCM_CLOUD_INT, .min = 1, .max = 86400 },                \
        { .name = "Gzip", ON_OFF },                                                                \
        { .name = "HealthCheckConnectPort", .type = CCM_CLOUD_INT, .min = -520, .max = 65535 },    \
        { .name = "HealthCheckDomain", .min = 1, .max = 80 },                                      \
        { .name = "HealthCheckHttpCode", .fits = ccm_cloud_http_codes_fit },                       \
        { .name = "HealthCheckInterval", .type = CCM_CLOUD_INT, .min = 1, .max = 50 },             \
        { .name = "HealthCheckMethod", .type = CCM_CLOUD_ENUM, .values = "head|get" },             \
        { .name = "HealthCheckTimeout", .type = CCM_CLOUD_INT, .min = 1, .max = 300 },             \
        { .name = "HealthCheckURI", .min = 1, .max = 80 },                                         \
        { .name = "IdleTimeout",                                                                   \
          .type = CCM_CLOUD_INT,                                                                   \
          .min = 1,                                                                                \
          .max = 60,                                                                               \
          .invalid = "InvalidParameter.IdleTimeout" },                                             \
        { .name = "RequestTimeout",                                                                \
          .type = CCM_CLOUD_INT,                                                                   \
          .min = 1,                                                                                \
          .max = 180,                                                                              \
          .invalid = "InvalidParameter.RequestTimeout" },                                          \
        { .name = "Scheduler", .type = CCM_CLOUD_ENUM, .values = "wrr|rr|wlc" },                   \
        { .name = "StickySession", ON_OFF },                                                       \
        { .name = "StickySessionType", .type = CCM_CLOUD_ENUM, .values = "insert|server" },        \
        { .name = "XForwardedFor", ON_OFF }, { .name = "XForwardedFor_ClientSrcPort", ON_OFF },    \
        { .name = "XForwardedFor_SLBID", ON_OFF }, { .name = "XForwardedFor_SLBIP", ON_OFF },      \
        { .name = "XForwardedFor_SLBPORT", ON_OFF },                                               \
    {                                                                                              \
        .name = "XForwardedFor_proto", ON_OFF                                                      \
    }

#define CREATE_ROWS                                                                                \
    { .name = "BackendServerPort", .type = CCM_CLOUD_INT, .min = 1, .max = 65535 },                \
        { .name = "HealthCheck", ON_OFF, .required = true }, CCM_CLOUD_TAG_ROWS

#define SET_ROWS                                                                                   \
    { .name = "Bandwidth", .type = CCM_CLOUD_INT, .min = -1, .max = 5120 },                        \
        { .name = "DryRun", .type = CCM_CLOUD_BOOL }, { .name = "HealthCheck", ON_OFF },           \
    {                                                                                              \
        .name = "VServerGroup", ON_OFF                                                             \
    }

#define POLICIES                                                                                   \
    "tls_cipher_policy_1_0|tls_cipher_policy_1_1|tls_cipher_policy_1_2|"                           \
    "tls_cipher_policy_1_2_strict|tls_cipher_policy_1_2_strict_with_1_3"

#define SECURE_ROWS                                                                                \
    { .name = "CACertificateId" }, { .name = "EnableHttp2", ON_OFF },                              \
        { .name = "ServerCertificateId" },                                                         \
    {                                                                                              \
        .name = "TLSCipherPolicy", .type = CCM_CLOUD_ENUM, .values = POLICIES,                     \
        .invalid = "InvalidTLSPolicyId.NotExist"                                                   \
    }

static const struct ccm_cloud_param create_http_params[] = {
    LAYER7_ROWS,
    CREATE_ROWS,
    { .name = "Bandwidth", .type = CCM_CLOUD_INT, .min = -1, .max = 5120 },
    { .name = "ForwardPort", .type = CCM_CLOUD_INT, .min = 1, .max = 65535 },
    { .name = "ListenerForward", ON_OFF },
    { 0 },
};

static const struct ccm_cloud_param create_https_params[] = {
    LAYER7_ROWS,
    CREATE_ROWS,
    SECURE_ROWS,
    { .name = "Bandwidth", .type = CCM_CLOUD_INT, .required = true, .min = -1, .max = 5120 },
    { 0 },
};

static const struct ccm_cloud_param set_http_params[] = { LAYER7_ROWS, SET_ROWS, { 0 } };

static const struct ccm_cloud_param set_https_params[] = {
    LAYER7_ROWS, SET_ROWS, SECURE_ROWS, { 0 }
};

const struct ccm_cloud_action ccm_cloud_http_actions[] = {
    { .name = "CreateLoadBalancerHTTPListener",
      .params = create_http_params,
      .run = create_http,
      .change = CCM_CLOUD_CHANGE_LISTENER },
    { .name = "CreateLoadBalancerHTTPSListener",
      .params = create_https_params,
      .run = create_https,
      .change = CCM_CLOUD_CHANGE_LISTENER },
    { .name = "SetLoadBalancerHTTPListenerAttribute",
      .params = set_http_params,
      .run = set_http,
      .change = CCM_CLOUD_CHANGE_LISTENER },
    { .name = "SetLoadBalancerHTTPSListenerAttribute",
      .params = set_https_params,
      .run = set_https,
      .change = CCM_CLOUD_CHANGE_LISTENER },
    { 0 },
};
