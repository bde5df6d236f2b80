#include "listener.h"

#include "acl.h"
#include "families.h"
#include "lb.h"
#include "plain.h"
#include "store.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

static const struct ccm_cloud_feed common_feeds[] = {
    { "AclId", "AclId", "AclId", NULL },
    { "AclStatus", "AclStatus", "AclStatus", "off" },
    { "AclType", "AclType", "AclType", NULL },
    { "BackendServerPort", "BackendServerPort", NULL, NULL },
    { "Bandwidth", "Bandwidth", "Bandwidth", "-1" },
    { "Description", "Description", "Description", "" },
    { "HealthCheckConnectPort", "HealthCheckConnectPort", "HealthCheckConnectPort", NULL },
    { "HealthyThreshold", "HealthyThreshold", "HealthyThreshold", "3" },
    { "Scheduler", "Scheduler", "Scheduler", "wrr" },
    { "UnhealthyThreshold", "UnhealthyThreshold", "UnhealthyThreshold", "3" },
    { "VServerGroupId", "VServerGroupId", "VServerGroupId", NULL },
    { 0 },
};

static const struct ccm_cloud_feed layer4_feeds[] = {
    { "ConnectionDrain", "ConnectionDrain", "ConnectionDrain", "off" },
    { "ConnectionDrainTimeout", "ConnectionDrainTimeout", "ConnectionDrainTimeout", NULL },
    { "HealthCheck", "HealthCheckSwitch", "HealthCheckSwitch", "on" },
    { "HealthCheckConnectTimeout", "HealthCheckConnectTimeout", "HealthCheckConnectTimeout", "5" },
    { "HealthCheckInterval", "healthCheckInterval", "HealthCheckInterval", "2" },
    { "ProxyProtocolV2Enabled", "ProxyProtocolV2Enabled", "ProxyProtocolV2Enabled", "false" },
    { 0 },
};

static const struct ccm_cloud_feed tcp_feeds[] = {
    { "EstablishedTimeout", "EstablishedTimeout", "EstablishedTimeout", "900" },
    { "HealthCheckDomain", "HealthCheckDomain", "HealthCheckDomain", "" },
    { "HealthCheckHttpCode", "HealthCheckHttpCode", "HealthCheckHttpCode", "" },
    { "HealthCheckType", "HealthCheckType", "HealthCheckType", "tcp" },
    { "HealthCheckURI", "HealthCheckURI", "HealthCheckURI", "" },
    { "PersistenceTimeout", "PersistenceTimeout", "PersistenceTimeout", "0" },
    { "SynProxy", NULL, "SynProxy", NULL },
    { 0 },
};

static const struct ccm_cloud_feed udp_feeds[] = {
    { "HealthCheckExp", "healthCheckExp", "healthCheckExp", "" },
    { "HealthCheckReq", "healthCheckReq", "healthCheckReq", "" },
    { 0 },
};

static const struct ccm_cloud_feed *const tcp_lists[] = { common_feeds, layer4_feeds, tcp_feeds,
                                                          NULL };
static const struct ccm_cloud_feed *const udp_lists[] = { common_feeds, layer4_feeds, udp_feeds,
                                                          NULL };

static int feed_list(const struct ccm_cloud_call *call, struct ccm_cloud_listener *listener,
                     const struct ccm_cloud_feed *feeds, bool create)
{
    for (const struct ccm_cloud_feed *feed = feeds; feed->attr != NULL; feed++) {
        const char *name = create ? feed->create : feed->set;
        const char *fallback = create ? feed->fallback : NULL;
        const struct ccm_cloud_pair pair = { feed->attr,
                                             name == NULL ? fallback
                                                          : ccm_cloud_text(call, name, fallback) };
        int r = ccm_cloud_attrs_set(&listener->obj, &pair, 1);

        if (r < 0) {
            return r;
        }
    }
    return 0;
}

static bool layer7(const char *protocol)
{
    return ccm_text_starts(protocol, "http");
}

static int feed_all(const struct ccm_cloud_call *call, struct ccm_cloud_listener *listener,
                    bool create)
{
    const struct ccm_cloud_feed *const *lists = tcp_lists;
    int r = 0;

    if (ccm_text_equal(listener->protocol, "udp")) {
        lists = udp_lists;
    } else if (layer7(listener->protocol)) {
        lists = ccm_text_equal(listener->protocol, "http") ? ccm_cloud_http_feeds
                                                           : ccm_cloud_https_feeds;
        r = feed_list(call, listener, common_feeds, create);
    }
    for (; *lists != NULL && r == 0; lists++) {
        r = feed_list(call, listener, *lists, create);
    }
    return r;
}

/* A group that is named must be one of this load balancer. */
static int check_group(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb)
{
    struct ccm_cloud_vgroup *group = NULL;

    if (!ccm_cloud_has(call, "VServerGroupId")) {
        return 0;
    }

    int r = ccm_cloud_vgroup_of(call, &group);

    if (r == 0 && group->lb != lb) {
        r = ccm_cloud_fail(call, 404, "InvalidParameter",
                           "The specified VServerGroupId does not exist.");
    }
    return r;
}

/* There are no master-slave groups in this cloud, so every name of one is wrong. */
static int check_others(struct ccm_cloud_call *call)
{
    if (ccm_cloud_has(call, "MasterSlaveServerGroupId")) {
        return ccm_cloud_fail(call, 400, "InvalidParameter",
                              "The specified resource does not exist.");
    }
    return 0;
}

/* TCP may share a port with UDP, with nothing else. */
static int check_port(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                      const char *protocol, uint32_t port)
{
    bool udp = ccm_text_equal(protocol, "udp");

    for (size_t i = 0; i < lb->listeners_len; i++) {
        if (lb->listeners[i]->port == port &&
            ccm_text_equal(lb->listeners[i]->protocol, "udp") == udp) {
            return ccm_cloud_fail(call, 400, "ListenerAlreadyExists",
                                  "A listener with the specified port already exists");
        }
    }
    if (lb->listeners_len >= call->cloud->limits.listeners) {
        return ccm_cloud_fail(call, 400, "ListenerNumberOverLimit",
                              "The maximum number of listeners is exceeded.");
    }
    return 0;
}

/*
 * wlc: the tables of the API name wrr, rr and hashes only, and so do the pages of the product. The
 * vendor's guide for clusters recommends wlc for CLB all the same, and the vendor's own controller
 * sends and tests it: what production uses wins over a list of values, as with the 40 backends per
 * call. It is no hash, so it trades places with wrr and rr. --strict refuses it.
 */
static int check_wlc(struct ccm_cloud_call *call)
{
    return call->cloud->limits.strict &&
                   ccm_text_equal(ccm_cloud_text(call, "Scheduler", ""), "wlc")
               ? ccm_cloud_fail(call, 400, "InvalidScheduler",
                                "Specified parameter Scheduler is not valid.")
               : 0;
}

static int check_create(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                        const char *protocol, uint32_t port)
{
    int r = check_port(call, lb, protocol, port);

    r = r < 0 ? r : check_wlc(call);
    if (r < 0) {
        return r;
    }
    if (!ccm_cloud_has(call, "BackendServerPort") && !ccm_cloud_has(call, "VServerGroupId") &&
        !ccm_text_equal(ccm_cloud_text(call, "ListenerForward", ""), "on")) {
        return ccm_cloud_fail(call, 400, "MissingParameter",
                              "The BackendServerPort or VServerGroupId is required at lease one.");
    }
    r = check_group(call, lb);
    r = r < 0 ? r : ccm_cloud_acl_check(call, lb, NULL);
    r = r < 0 || !layer7(protocol) ? r : ccm_cloud_http_check(call, lb, protocol, NULL);
    return r < 0 ? r : check_others(call);
}

int ccm_cloud_listener_create(struct ccm_cloud_call *call, const char *protocol)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    struct ccm_cloud_lb *lb = NULL;
    struct ccm_cloud_listener *listener = NULL;
    const struct ccm_cloud_pair stopped = { "Status", "stopped" };
    uint32_t port = (uint32_t)ccm_cloud_int(call, "ListenerPort", 0);
    int r = ccm_cloud_lb_of(call, &lb);

    r = r < 0 ? r : check_create(call, lb, protocol, port);
    r = r < 0 ? r : ccm_cloud_tags_read(call, &tags);
    r = r < 0 ? r : ccm_cloud_listener_new(call->cloud, lb, protocol, port, &listener);
    if (r < 0) {
        return r;
    }
    r = feed_all(call, listener, true);
    r = r < 0 ? r : ccm_cloud_attrs_set(&listener->obj, &stopped, 1);
    r = r < 0 ? r : ccm_cloud_tags_put(call, &listener->obj, &tags);
    if (r < 0) {
        ccm_cloud_listener_del(lb, listener);
    }
    return r;
}

static int create_tcp(struct ccm_cloud_call *call)
{
    return ccm_cloud_listener_create(call, "tcp");
}

static int create_udp(struct ccm_cloud_call *call)
{
    return ccm_cloud_listener_create(call, "udp");
}

static bool hashes(const char *scheduler)
{
    return ccm_text_ends(scheduler, "ch");
}

/* From or to a hash there is no way. */
static int check_scheduler(struct ccm_cloud_call *call, const struct ccm_cloud_listener *listener)
{
    const char *now = ccm_cloud_attr(&listener->obj, "Scheduler");
    const char *then = ccm_cloud_text(call, "Scheduler", now);

    if (!ccm_text_equal(now, then) && (hashes(now) || hashes(then))) {
        return ccm_cloud_fail(call, 400, "InvalidParameter",
                              "The specified Scheduler is invalid: %s cannot become %s.", now,
                              then);
    }
    return check_wlc(call);
}

static int check_switch(struct ccm_cloud_call *call)
{
    const char *text = ccm_cloud_text(call, "VServerGroup", "");

    if (ccm_text_equal(text, "on") && !ccm_cloud_has(call, "VServerGroupId")) {
        return ccm_cloud_fail(call, 400, "MissingParam.VServerGroupId",
                              "The parameter VServerGroupId is missing.");
    }
    if (ccm_text_equal(ccm_cloud_text(call, "DryRun", ""), "true")) {
        return ccm_cloud_fail(call, 400, "DryRunOperation",
                              "Request validation has been passed with DryRun flag set.");
    }
    return 0;
}

int ccm_cloud_listener_set(struct ccm_cloud_call *call, const char *protocol)
{
    struct ccm_cloud_lb *lb = NULL;
    uint32_t port = (uint32_t)ccm_cloud_int(call, "ListenerPort", 0);
    int r = ccm_cloud_lb_of(call, &lb);

    if (r < 0) {
        return r;
    }

    struct ccm_cloud_listener *listener = ccm_cloud_listener_get(lb, protocol, port);

    if (listener == NULL) {
        return ccm_cloud_listener_fail_absent(call);
    }
    r = check_scheduler(call, listener);
    r = r < 0 ? r : check_group(call, lb);
    r = r < 0 ? r : ccm_cloud_acl_check(call, lb, listener);
    r = r < 0 || !layer7(protocol) ? r : ccm_cloud_http_check(call, lb, protocol, listener);
    r = r < 0 ? r : check_others(call);
    r = r < 0 ? r : check_switch(call);
    r = r < 0 ? r : feed_all(call, listener, false);
    if (r == 0 && ccm_text_equal(ccm_cloud_text(call, "VServerGroup", ""), "off")) {
        ccm_sim_params_del(&listener->obj.attrs, "VServerGroupId");
    }
    return r < 0 ? r
                 : ccm_cloud_listener_move(call->cloud, lb, listener, "configuring",
                                           ccm_cloud_attr(&listener->obj, "Status"));
}

static int set_tcp(struct ccm_cloud_call *call)
{
    return ccm_cloud_listener_set(call, "tcp");
}

static int set_udp(struct ccm_cloud_call *call)
{
    return ccm_cloud_listener_set(call, "udp");
}

/* Parameters that create and set of TCP and UDP have alike. */
#define BOTH_ROWS                                                                                  \
    CCM_CLOUD_LISTENER_ROWS,                                                                       \
        { .name = "HealthCheckConnectPort", .type = CCM_CLOUD_INT, .min = 1, .max = 65535 },       \
        { .name = "HealthCheckConnectTimeout", .type = CCM_CLOUD_INT, .min = 1, .max = 300 },      \
        { .name = "HealthCheckSwitch",                                                             \
          .type = CCM_CLOUD_ENUM,                                                                  \
          .values = "on|off",                                                                      \
          .invalid = "IllegalParam.HealthCheck" },                                                 \
        { .name = "MasterSlaveServerGroupId" },                                                    \
    {                                                                                              \
        .name = "ProxyProtocolV2Enabled", .type = CCM_CLOUD_BOOL                                   \
    }

#define TCP_ROWS                                                                                   \
    { .name = "ConnectionDrain", .type = CCM_CLOUD_ENUM, .values = "on|off" },                     \
        { .name = "ConnectionDrainTimeout", .type = CCM_CLOUD_INT, .min = 10, .max = 900 },        \
        { .name = "EstablishedTimeout", .type = CCM_CLOUD_INT, .min = 10, .max = 900 },            \
        { .name = "HealthCheckDomain", .min = 1, .max = 80 },                                      \
        { .name = "HealthCheckHttpCode", .fits = ccm_cloud_http_codes_fit },                       \
        { .name = "HealthCheckType", .type = CCM_CLOUD_ENUM, .values = "tcp|http" },               \
        { .name = "HealthCheckURI", .min = 1, .max = 80 },                                         \
        { .name = "PersistenceTimeout", .type = CCM_CLOUD_INT, .min = 0, .max = 3600 },            \
    {                                                                                              \
        .name = "Scheduler", .type = CCM_CLOUD_ENUM, .values = "wrr|rr|wlc|sch|tch"                \
    }

#define UDP_ROWS                                                                                   \
    { .name = "ConnectionDrain", .type = CCM_CLOUD_ENUM, .values = "on|off" },                     \
        { .name = "ConnectionDrainTimeout", .type = CCM_CLOUD_INT, .min = 10, .max = 900 },        \
        { .name = "Scheduler", .type = CCM_CLOUD_ENUM, .values = "wrr|rr|wlc|sch|tch|qch" },       \
        { .name = "healthCheckExp", .max = 64 },                                                   \
    {                                                                                              \
        .name = "healthCheckReq", .max = 64                                                        \
    }

#define CREATE_ROWS                                                                                \
    { .name = "BackendServerPort", .type = CCM_CLOUD_INT, .min = 1, .max = 65535 },                \
        { .name = "Bandwidth", .type = CCM_CLOUD_INT, .required = true, .min = -1, .max = 5120 },  \
        { .name = "healthCheckInterval", .type = CCM_CLOUD_INT, .min = 1, .max = 50 },             \
        CCM_CLOUD_TAG_ROWS

#define SET_ROWS                                                                                   \
    { .name = "Bandwidth", .type = CCM_CLOUD_INT, .min = -1, .max = 5120 },                        \
        { .name = "DryRun", .type = CCM_CLOUD_BOOL },                                              \
        { .name = "HealthCheckInterval", .type = CCM_CLOUD_INT, .min = 1, .max = 50 },             \
        { .name = "MasterSlaveServerGroup", .type = CCM_CLOUD_ENUM, .values = "on|off" },          \
    {                                                                                              \
        .name = "VServerGroup", .type = CCM_CLOUD_ENUM, .values = "on|off"                         \
    }

static const struct ccm_cloud_param create_tcp_params[] = {
    CCM_CLOUD_LISTENER_ID_ROWS, BOTH_ROWS, TCP_ROWS, CREATE_ROWS, { 0 },
};

static const struct ccm_cloud_param create_udp_params[] = {
    CCM_CLOUD_LISTENER_ID_ROWS, BOTH_ROWS, UDP_ROWS, CREATE_ROWS, { 0 },
};

static const struct ccm_cloud_param set_tcp_params[] = {
    CCM_CLOUD_LISTENER_ID_ROWS,
    BOTH_ROWS,
    TCP_ROWS,
    SET_ROWS,
    { .name = "SynProxy", .type = CCM_CLOUD_ENUM, .values = "enable|disable" },
    { 0 },
};

static const struct ccm_cloud_param set_udp_params[] = {
    CCM_CLOUD_LISTENER_ID_ROWS, BOTH_ROWS, UDP_ROWS, SET_ROWS, { 0 },
};

const struct ccm_cloud_action ccm_cloud_listener_actions[] = {
    { .name = "CreateLoadBalancerTCPListener",
      .params = create_tcp_params,
      .run = create_tcp,
      .change = CCM_CLOUD_CHANGE_LISTENER },
    { .name = "CreateLoadBalancerUDPListener",
      .params = create_udp_params,
      .run = create_udp,
      .change = CCM_CLOUD_CHANGE_LISTENER },
    { .name = "SetLoadBalancerTCPListenerAttribute",
      .params = set_tcp_params,
      .run = set_tcp,
      .change = CCM_CLOUD_CHANGE_LISTENER },
    { .name = "SetLoadBalancerUDPListenerAttribute",
      .params = set_udp_params,
      .run = set_udp,
      .change = CCM_CLOUD_CHANGE_LISTENER },
    { 0 },
};
