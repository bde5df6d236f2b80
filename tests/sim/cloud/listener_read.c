#include "families.h"
#include "lb.h"
#include "listener.h"
#include "store.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define IDS_MAX     10
#define DEFAULT_MAX 20

static const struct ccm_cloud_field fields[] = {
    { "AclStatus", 's', NULL, "off" },
    { "AclType", 's', NULL, "" },
    { "BackendServerPort", 'n', NULL, "0" },
    { "Bandwidth", 'n', NULL, "-1" },
    { "Description", 's', NULL, "" },
    { "Scheduler", 's', NULL, "wrr" },
    { "Status", 's', NULL, "stopped" },
    { "VServerGroupId", 's', NULL, "" },
    { 0 },
};

static const struct ccm_cloud_field tcp_fields[] = {
    { "ConnectionDrain", 's', NULL, "off" },      { "ConnectionDrainTimeout", 'n', NULL, "0" },
    { "EstablishedTimeout", 'n', NULL, "900" },   { "HealthCheck", 's', NULL, "on" },
    { "HealthCheckConnectPort", 'n', NULL, "0" }, { "HealthCheckConnectTimeout", 'n', NULL, "5" },
    { "HealthCheckDomain", 's', NULL, "" },       { "HealthCheckHttpCode", 's', NULL, "" },
    { "HealthCheckInterval", 'n', NULL, "2" },    { "HealthCheckMethod", 's', NULL, "" },
    { "HealthCheckType", 's', NULL, "" },         { "HealthCheckURI", 's', NULL, "" },
    { "HealthyThreshold", 'n', NULL, "3" },       { "MasterSlaveServerGroupId", 's', NULL, "" },
    { "PersistenceTimeout", 'n', NULL, "0" },     { "ProxyProtocolV2Enabled", 's', NULL, "false" },
    { "UnhealthyThreshold", 'n', NULL, "3" },     { 0 },
};

static const struct ccm_cloud_field udp_fields[] = {
    { "ConnectionDrain", 's', NULL, "off" },
    { "ConnectionDrainTimeout", 'n', NULL, "0" },
    { "HealthCheck", 's', NULL, "on" },
    { "HealthCheckConnectPort", 'n', NULL, "0" },
    { "HealthCheckConnectTimeout", 'n', NULL, "5" },
    { "HealthCheckExp", 's', NULL, "" },
    { "HealthCheckInterval", 'n', NULL, "2" },
    { "HealthCheckReq", 's', NULL, "" },
    { "HealthyThreshold", 'n', NULL, "3" },
    { "MasterSlaveServerGroupId", 's', NULL, "" },
    { "ProxyProtocolV2Enabled", 's', NULL, "false" },
    { "UnhealthyThreshold", 'n', NULL, "3" },
    { 0 },
};

static const struct ccm_cloud_field http_fields[] = {
    { "Cookie", 's', NULL, "" },
    { "CookieTimeout", 'n', NULL, "0" },
    { "ForwardPort", 'n', NULL, "0" },
    { "Gzip", 's', NULL, "on" },
    { "HealthCheck", 's', NULL, "on" },
    { "HealthCheckConnectPort", 'n', NULL, "0" },
    { "HealthCheckDomain", 's', NULL, "" },
    { "HealthCheckHttpCode", 's', NULL, "" },
    { "HealthCheckHttpVersion", 's', NULL, "" },
    { "HealthCheckInterval", 'n', NULL, "2" },
    { "HealthCheckMethod", 's', NULL, "" },
    { "HealthCheckTimeout", 'n', NULL, "5" },
    { "HealthCheckType", 's', NULL, "" },
    { "HealthCheckURI", 's', NULL, "" },
    { "HealthyThreshold", 'n', NULL, "3" },
    { "IdleTimeout", 'n', NULL, "15" },
    { "ListenerForward", 's', NULL, "off" },
    { "RequestTimeout", 'n', NULL, "60" },
    { "StickySession", 's', NULL, "off" },
    { "StickySessionType", 's', NULL, "" },
    { "UnhealthyThreshold", 'n', NULL, "3" },
    { "XForwardedFor", 's', NULL, "on" },
    { "XForwardedFor_ClientSrcPort", 's', NULL, "off" },
    { "XForwardedFor_SLBID", 's', NULL, "off" },
    { "XForwardedFor_SLBIP", 's', NULL, "off" },
    { "XForwardedFor_SLBPORT", 's', NULL, "off" },
    { "XForwardedFor_proto", 's', NULL, "off" },
    { 0 },
};

static const struct ccm_cloud_field https_fields[] = {
    { "CACertificateId", 's', NULL, "" },
    { "Cookie", 's', NULL, "" },
    { "CookieTimeout", 'n', NULL, "0" },
    { "EnableHttp2", 's', NULL, "on" },
    { "Gzip", 's', NULL, "on" },
    { "HealthCheck", 's', NULL, "on" },
    { "HealthCheckConnectPort", 'n', NULL, "0" },
    { "HealthCheckDomain", 's', NULL, "" },
    { "HealthCheckHttpCode", 's', NULL, "" },
    { "HealthCheckHttpVersion", 's', NULL, "" },
    { "HealthCheckInterval", 'n', NULL, "2" },
    { "HealthCheckMethod", 's', NULL, "" },
    { "HealthCheckTimeout", 'n', NULL, "5" },
    { "HealthCheckType", 's', NULL, "" },
    { "HealthCheckURI", 's', NULL, "" },
    { "HealthyThreshold", 'n', NULL, "3" },
    { "IdleTimeout", 'n', NULL, "15" },
    { "RequestTimeout", 'n', NULL, "60" },
    { "ServerCertificateId", 's', NULL, "" },
    { "StickySession", 's', NULL, "off" },
    { "StickySessionType", 's', NULL, "" },
    { "TLSCipherPolicy", 's', NULL, "" },
    { "UnhealthyThreshold", 'n', NULL, "3" },
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

static const struct {
    const char *protocol;
    const char *member;
    const struct ccm_cloud_field *fields;
} configs[] = {
    { "tcp", "TCPListenerConfig", tcp_fields },
    { "udp", "UDPListenerConfig", udp_fields },
    { "http", "HTTPListenerConfig", http_fields },
    { "https", "HTTPSListenerConfig", https_fields },
};

/* The place after which a page goes on: sequence numbers of load balancer and listener. */
struct position {
    uint64_t lb;
    uint64_t listener;
};

struct query {
    struct ccm_sim_params ids;
    struct ccm_sim_params tags;
    struct position after;
    int64_t max;
    int64_t written;
    int64_t total;
    struct position last; /* of what was written */
    bool more;
};

static void query_fini(struct query *query)
{
    ccm_sim_params_fini(&query->ids);
    ccm_sim_params_fini(&query->tags);
}

static int token_read(struct ccm_cloud_call *call, struct position *ret)
{
    const char *token = ccm_cloud_text(call, "NextToken", NULL);
    const char *cursor = token;
    const char *start = NULL;
    size_t len = 0;
    char part[24];
    int64_t numbers[2] = { 0 };

    for (size_t i = 0; token != NULL && i < CCM_ARRAY_LEN(numbers); i++) {
        if (!ccm_parse_piece(&cursor, '.', &start, &len) || len >= sizeof(part)) {
            len = 0;
        }
        ccm_text_copy(part, len + 1, len == 0 ? "" : start);
        if (ccm_parse_i64(part, 1, INT64_MAX, &numbers[i]) < 0) {
            return ccm_cloud_fail(call, 400, "IllegalParam.NextToken",
                                  "The param of NextToken is illegal.");
        }
    }
    ret->lb = (uint64_t)numbers[0];
    ret->listener = (uint64_t)numbers[1];
    return 0;
}

static int query_read(struct ccm_cloud_call *call, struct query *query)
{
    int r = ccm_cloud_list(call, "LoadBalancerId", &query->ids);

    r = r < 0 ? r : ccm_cloud_tags_read(call, &query->tags);
    r = r < 0 ? r : token_read(call, &query->after);
    query->max = ccm_cloud_int(call, "MaxResults", DEFAULT_MAX);
    return r;
}

static bool wanted(const struct ccm_cloud_call *call, const struct ccm_cloud_listener *listener,
                   const struct query *query)
{
    const char *protocol = ccm_cloud_text(call, "ListenerProtocol", NULL);
    const char *description = ccm_cloud_text(call, "Description", NULL);
    int64_t port = ccm_cloud_int(call, "ListenerPort", listener->port);

    return port == (int64_t)listener->port &&
           (protocol == NULL || ccm_text_equal(protocol, listener->protocol)) &&
           (description == NULL ||
            ccm_text_equal(description, ccm_cloud_attr(&listener->obj, "Description"))) &&
           ccm_cloud_tags_fit(&listener->obj, &query->tags);
}

static void listener_write(struct ccm_jsonw *w, const struct ccm_cloud_lb *lb,
                           const struct ccm_cloud_listener *listener)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "LoadBalancerId", lb->obj.id);
    ccm_jsonw_i64(w, "ListenerPort", listener->port);
    ccm_jsonw_str(w, "ListenerProtocol", listener->protocol);
    ccm_cloud_write_fields(w, &listener->obj, fields);
    ccm_cloud_listener_acls_write(w, listener, true);
    for (size_t i = 0; i < CCM_ARRAY_LEN(configs); i++) {
        if (ccm_text_equal(configs[i].protocol, listener->protocol)) {
            ccm_jsonw_open(w, configs[i].member, '{');
            ccm_cloud_write_fields(w, &listener->obj, configs[i].fields);
            ccm_jsonw_close(w, '}');
        }
    }
    ccm_cloud_tags_write(w, "Tags", &listener->obj, true);
    ccm_jsonw_close(w, '}');
}

static void lb_write(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                     struct query *query)
{
    for (size_t i = 0; i < lb->listeners_len; i++) {
        const struct ccm_cloud_listener *listener = lb->listeners[i];

        if (!wanted(call, listener, query)) {
            continue;
        }
        query->total++;
        if (lb->obj.seq < query->after.lb ||
            (lb->obj.seq == query->after.lb && listener->obj.seq <= query->after.listener)) {
            continue;
        }
        if (query->written == query->max) {
            query->more = true;
            continue;
        }
        listener_write(call->out, lb, listener);
        query->written++;
        query->last = (struct position){ lb->obj.seq, listener->obj.seq };
    }
}

static int compare_lbs(const void *a, const void *b)
{
    struct ccm_cloud_lb *const *left = a;
    struct ccm_cloud_lb *const *right = b;

    if ((*left)->obj.seq == (*right)->obj.seq) {
        return 0;
    }
    return (*left)->obj.seq < (*right)->obj.seq ? -1 : 1;
}

/* The named ones, in order of creation, each once. */
static int write_named(struct ccm_cloud_call *call, struct query *query)
{
    struct ccm_cloud_lb *lbs[IDS_MAX] = { NULL };

    for (size_t i = 0; i < query->ids.len; i++) {
        lbs[i] = ccm_cloud_lb_get(call->cloud, query->ids.items[i].value);
        if (lbs[i] == NULL) {
            return ccm_cloud_fail(call, 404, "InvalidLoadBalancerId.NotFound",
                                  "The specified LoadBalancerId does not exist.");
        }
    }
    qsort(lbs, query->ids.len, sizeof(struct ccm_cloud_lb *), compare_lbs);
    for (size_t i = 0; i < query->ids.len; i++) {
        if (i == 0 || lbs[i] != lbs[i - 1]) {
            lb_write(call, lbs[i], query);
        }
    }
    return 0;
}

static void write_all(struct ccm_cloud_call *call, struct query *query)
{
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;

    while (ccm_strmap_next(call->cloud->lbs, &cursor, &id, &value) != 0) {
        lb_write(call, value, query);
    }
}

static int describe(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(query_fini) struct query query = { 0 };
    char token[48] = "";
    int r = query_read(call, &query);

    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, "Listeners", '[');
    if (query.ids.len > 0) {
        r = write_named(call, &query);
    } else {
        write_all(call, &query);
    }
    if (r < 0) {
        return r;
    }
    ccm_jsonw_close(call->out, ']');
    if (query.more) {
        (void)snprintf(token, sizeof(token), "%" PRIu64 ".%" PRIu64, query.last.lb,
                       query.last.listener); /* always fits */
    }
    ccm_jsonw_str(call->out, "NextToken", token);
    ccm_jsonw_i64(call->out, "MaxResults", query.max);
    ccm_jsonw_i64(call->out, "TotalCount", query.total);
    return 0;
}

static const struct ccm_cloud_param params[] = {
    { .name = "Description", .min = 1, .max = 256 },
    { .name = "ListenerPort", .type = CCM_CLOUD_INT, .min = 1, .max = 65535 },
    { .name = "ListenerProtocol",
      .type = CCM_CLOUD_ENUM,
      .values = "tcp|udp|http|https",
      .invalid = "IllegalParam.ListenerProtocol" },
    { .name = "LoadBalancerId.N", .items = IDS_MAX, .too_many = "IllegalParamSize.LoadBalancerId" },
    { .name = "MaxResults",
      .type = CCM_CLOUD_INT,
      .min = 1,
      .max = 100,
      .invalid = "IllegalParam.MaxResults" },
    { .name = "NextToken" },
    CCM_CLOUD_TAG_ROWS,
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_listener_read_actions[] = {
    { .name = "DescribeLoadBalancerListeners", .params = params, .run = describe },
    { 0 },
};
