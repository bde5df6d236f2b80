#include "families.h"
#include "lb.h"
#include "store.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

/* An attribute of a listener and the parameters that feed it; names differ between create and set.
 */
struct feed {
    const char *attr;
    const char *create;   /* NULL: not offered at creation */
    const char *set;      /* NULL: cannot be changed */
    const char *fallback; /* value of a new listener, NULL: none */
};

static const struct feed common_feeds[] = {
    { "BackendServerPort", "BackendServerPort", NULL, NULL },
    { "Bandwidth", "Bandwidth", "Bandwidth", "-1" },
    { "ConnectionDrain", "ConnectionDrain", "ConnectionDrain", "off" },
    { "ConnectionDrainTimeout", "ConnectionDrainTimeout", "ConnectionDrainTimeout", NULL },
    { "Description", "Description", "Description", "" },
    { "HealthCheck", "HealthCheckSwitch", "HealthCheckSwitch", "on" },
    { "HealthCheckConnectPort", "HealthCheckConnectPort", "HealthCheckConnectPort", NULL },
    { "HealthCheckConnectTimeout", "HealthCheckConnectTimeout", "HealthCheckConnectTimeout", "5" },
    { "HealthCheckInterval", "healthCheckInterval", "HealthCheckInterval", "2" },
    { "HealthyThreshold", "HealthyThreshold", "HealthyThreshold", "3" },
    { "ProxyProtocolV2Enabled", "ProxyProtocolV2Enabled", "ProxyProtocolV2Enabled", "false" },
    { "Scheduler", "Scheduler", "Scheduler", "wrr" },
    { "UnhealthyThreshold", "UnhealthyThreshold", "UnhealthyThreshold", "3" },
    { "VServerGroupId", "VServerGroupId", "VServerGroupId", NULL },
    { 0 },
};

static const struct feed tcp_feeds[] = {
    { "EstablishedTimeout", "EstablishedTimeout", "EstablishedTimeout", "900" },
    { "HealthCheckDomain", "HealthCheckDomain", "HealthCheckDomain", "" },
    { "HealthCheckHttpCode", "HealthCheckHttpCode", "HealthCheckHttpCode", "" },
    { "HealthCheckType", "HealthCheckType", "HealthCheckType", "tcp" },
    { "HealthCheckURI", "HealthCheckURI", "HealthCheckURI", "" },
    { "PersistenceTimeout", "PersistenceTimeout", "PersistenceTimeout", "0" },
    { "SynProxy", NULL, "SynProxy", NULL },
    { 0 },
};

static const struct feed udp_feeds[] = {
    { "HealthCheckExp", "healthCheckExp", "healthCheckExp", "" },
    { "HealthCheckReq", "healthCheckReq", "healthCheckReq", "" },
    { 0 },
};

static int feed_all(const struct ccm_cloud_call *call, struct ccm_cloud_listener *listener,
                    const struct feed *feeds, bool create)
{
    for (const struct feed *feed = feeds; feed->attr != NULL; feed++) {
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

static const struct feed *feeds_of(const char *protocol)
{
    return ccm_text_equal(protocol, "udp") ? udp_feeds : tcp_feeds;
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

/* There are no access lists and no master-slave groups in this cloud, so every name of one is
 * wrong. */
static int check_others(struct ccm_cloud_call *call)
{
    if (ccm_cloud_has(call, "AclId")) {
        return ccm_cloud_fail(call, 400, "AclNotExist", "Acl does not exist.");
    }
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

static int check_create(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                        const char *protocol, uint32_t port)
{
    int r = check_port(call, lb, protocol, port);

    if (r < 0) {
        return r;
    }
    if (!ccm_cloud_has(call, "BackendServerPort") && !ccm_cloud_has(call, "VServerGroupId")) {
        return ccm_cloud_fail(call, 400, "MissingParameter",
                              "The BackendServerPort or VServerGroupId is required at lease one.");
    }
    r = check_group(call, lb);
    return r < 0 ? r : check_others(call);
}

static int create(struct ccm_cloud_call *call, const char *protocol)
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
    r = feed_all(call, listener, common_feeds, true);
    r = r < 0 ? r : feed_all(call, listener, feeds_of(protocol), true);
    r = r < 0 ? r : ccm_cloud_attrs_set(&listener->obj, &stopped, 1);
    r = r < 0 ? r : ccm_cloud_tags_put(call, &listener->obj, &tags);
    if (r < 0) {
        ccm_cloud_listener_del(lb, listener);
    }
    return r;
}

static int create_tcp(struct ccm_cloud_call *call)
{
    return create(call, "tcp");
}

static int create_udp(struct ccm_cloud_call *call)
{
    return create(call, "udp");
}

/* wrr and rr may replace each other; from or to a hash there is no way. */
static int check_scheduler(struct ccm_cloud_call *call, const struct ccm_cloud_listener *listener)
{
    const char *now = ccm_cloud_attr(&listener->obj, "Scheduler");
    const char *then = ccm_cloud_text(call, "Scheduler", now);
    bool now_round = ccm_text_ends(now, "rr");
    bool then_round = ccm_text_ends(then, "rr");

    if (!ccm_text_equal(now, then) && !(now_round && then_round)) {
        return ccm_cloud_fail(call, 400, "InvalidParameter",
                              "The specified Scheduler is invalid: %s cannot become %s.", now,
                              then);
    }
    return 0;
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

static int fail_absent(struct ccm_cloud_call *call)
{
    return ccm_cloud_fail(call, 400, "InvalidParameter", "The specified resource does not exist.");
}

static int set(struct ccm_cloud_call *call, const char *protocol)
{
    struct ccm_cloud_lb *lb = NULL;
    uint32_t port = (uint32_t)ccm_cloud_int(call, "ListenerPort", 0);
    int r = ccm_cloud_lb_of(call, &lb);

    if (r < 0) {
        return r;
    }

    struct ccm_cloud_listener *listener = ccm_cloud_listener_get(lb, protocol, port);

    if (listener == NULL) {
        return fail_absent(call);
    }
    r = check_scheduler(call, listener);
    r = r < 0 ? r : check_group(call, lb);
    r = r < 0 ? r : check_others(call);
    r = r < 0 ? r : check_switch(call);
    r = r < 0 ? r : feed_all(call, listener, common_feeds, false);
    r = r < 0 ? r : feed_all(call, listener, feeds_of(protocol), false);
    if (r == 0 && ccm_text_equal(ccm_cloud_text(call, "VServerGroup", ""), "off")) {
        ccm_sim_params_del(&listener->obj.attrs, "VServerGroupId");
    }
    return r;
}

static int set_tcp(struct ccm_cloud_call *call)
{
    return set(call, "tcp");
}

static int set_udp(struct ccm_cloud_call *call)
{
    return set(call, "udp");
}

/* The listener that port and, where needed, protocol name. */
static int listener_of(struct ccm_cloud_call *call, struct ccm_cloud_lb **ret_lb,
                       struct ccm_cloud_listener **ret)
{
    const char *protocol = ccm_cloud_text(call, "ListenerProtocol", NULL);
    uint32_t port = (uint32_t)ccm_cloud_int(call, "ListenerPort", 0);
    size_t found = 0;
    int r = ccm_cloud_lb_of(call, ret_lb);

    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < (*ret_lb)->listeners_len; i++) {
        struct ccm_cloud_listener *listener = (*ret_lb)->listeners[i];

        if (listener->port == port &&
            (protocol == NULL || ccm_text_equal(listener->protocol, protocol))) {
            *ret = listener;
            found++;
        }
    }
    if (found > 1) {
        return ccm_cloud_fail(call, 400, "TooManyListeners",
                              "More than 1 listener is found, please be more specified.");
    }
    return found == 1 ? 0 : fail_absent(call);
}

static int status_set(struct ccm_cloud_call *call, const char *from, const char *to)
{
    struct ccm_cloud_lb *lb = NULL;
    struct ccm_cloud_listener *listener = NULL;
    const struct ccm_cloud_pair pair = { "Status", to };
    int r = listener_of(call, &lb, &listener);

    if (r < 0) {
        return r;
    }
    if (!ccm_text_equal(ccm_cloud_attr(&listener->obj, "Status"), from)) {
        return ccm_cloud_fail(call, 400, "Operation.NotAllowed",
                              "The specified listener is not allowed to operate.");
    }
    return ccm_cloud_attrs_set(&listener->obj, &pair, 1);
}

static int start(struct ccm_cloud_call *call)
{
    return status_set(call, "stopped", "running");
}

static int stop(struct ccm_cloud_call *call)
{
    return status_set(call, "running", "stopped");
}

static int del(struct ccm_cloud_call *call)
{
    struct ccm_cloud_lb *lb = NULL;
    struct ccm_cloud_listener *listener = NULL;
    int r = listener_of(call, &lb, &listener);

    if (r == 0) {
        ccm_cloud_listener_del(lb, listener);
    }
    return r;
}

#define ID_ROWS                                                                                    \
    { .name = "LoadBalancerId", .required = true },                                                \
    {                                                                                              \
        .name = "ListenerPort", .type = CCM_CLOUD_INT, .required = true, .min = 1, .max = 65535,   \
        .invalid = "InvalidParam.ListenerPort"                                                     \
    }

/* Parameters that create and set have alike. */
#define BOTH_ROWS                                                                                  \
    { .name = "AclId" }, { .name = "AclStatus", .type = CCM_CLOUD_ENUM, .values = "on|off" },      \
        { .name = "AclType", .type = CCM_CLOUD_ENUM, .values = "white|black" },                    \
        { .name = "ConnectionDrain", .type = CCM_CLOUD_ENUM, .values = "on|off" },                 \
        { .name = "ConnectionDrainTimeout", .type = CCM_CLOUD_INT, .min = 10, .max = 900 },        \
        { .name = "Description", .min = 1, .max = 256 },                                           \
        { .name = "HealthCheckConnectPort", .type = CCM_CLOUD_INT, .min = 1, .max = 65535 },       \
        { .name = "HealthCheckConnectTimeout", .type = CCM_CLOUD_INT, .min = 1, .max = 300 },      \
        { .name = "HealthCheckSwitch",                                                             \
          .type = CCM_CLOUD_ENUM,                                                                  \
          .values = "on|off",                                                                      \
          .invalid = "IllegalParam.HealthCheck" },                                                 \
        { .name = "HealthyThreshold", .type = CCM_CLOUD_INT, .min = 2, .max = 10 },                \
        { .name = "MasterSlaveServerGroupId" },                                                    \
        { .name = "ProxyProtocolV2Enabled", .type = CCM_CLOUD_BOOL },                              \
        { .name = "UnhealthyThreshold", .type = CCM_CLOUD_INT, .min = 2, .max = 10 },              \
    {                                                                                              \
        .name = "VServerGroupId"                                                                   \
    }

#define TCP_ROWS                                                                                   \
    { .name = "EstablishedTimeout", .type = CCM_CLOUD_INT, .min = 10, .max = 900 },                \
        { .name = "HealthCheckDomain", .min = 1, .max = 80 }, { .name = "HealthCheckHttpCode" },   \
        { .name = "HealthCheckType", .type = CCM_CLOUD_ENUM, .values = "tcp|http" },               \
        { .name = "HealthCheckURI", .min = 1, .max = 80 },                                         \
        { .name = "PersistenceTimeout", .type = CCM_CLOUD_INT, .min = 0, .max = 3600 },            \
    {                                                                                              \
        .name = "Scheduler", .type = CCM_CLOUD_ENUM, .values = "wrr|rr|sch|tch"                    \
    }

#define UDP_ROWS                                                                                   \
    { .name = "Scheduler", .type = CCM_CLOUD_ENUM, .values = "wrr|rr|sch|tch|qch" },               \
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
    ID_ROWS, BOTH_ROWS, TCP_ROWS, CREATE_ROWS, { 0 },
};

static const struct ccm_cloud_param create_udp_params[] = {
    ID_ROWS, BOTH_ROWS, UDP_ROWS, CREATE_ROWS, { 0 },
};

static const struct ccm_cloud_param set_tcp_params[] = {
    ID_ROWS,
    BOTH_ROWS,
    TCP_ROWS,
    SET_ROWS,
    { .name = "SynProxy", .type = CCM_CLOUD_ENUM, .values = "enable|disable" },
    { 0 },
};

static const struct ccm_cloud_param set_udp_params[] = {
    ID_ROWS, BOTH_ROWS, UDP_ROWS, SET_ROWS, { 0 },
};

static const struct ccm_cloud_param id_params[] = {
    ID_ROWS,
    { .name = "ListenerProtocol", .type = CCM_CLOUD_ENUM, .values = "tcp|udp|http|https" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_listener_actions[] = {
    { .name = "CreateLoadBalancerTCPListener", .params = create_tcp_params, .run = create_tcp },
    { .name = "CreateLoadBalancerUDPListener", .params = create_udp_params, .run = create_udp },
    { .name = "SetLoadBalancerTCPListenerAttribute", .params = set_tcp_params, .run = set_tcp },
    { .name = "SetLoadBalancerUDPListenerAttribute", .params = set_udp_params, .run = set_udp },
    { .name = "StartLoadBalancerListener", .params = id_params, .run = start },
    { .name = "StopLoadBalancerListener", .params = id_params, .run = stop },
    { .name = "DeleteLoadBalancerListener", .params = id_params, .run = del },
    { 0 },
};
