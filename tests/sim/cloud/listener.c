#include "listener.h"

#include "families.h"
#include "lb.h"
#include "plain.h"
#include "store.h"
#include "tag.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

#define ACL_LISTENERS_MAX 50

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

/* Listeners that use the access list. */
static size_t acl_users(const struct ccm_cloud *cloud, const char *id)
{
    void *cursor = NULL;
    const char *lb_id = NULL;
    void *value = NULL;
    size_t n = 0;

    while (ccm_strmap_next(cloud->lbs, &cursor, &lb_id, &value) != 0) {
        const struct ccm_cloud_lb *lb = value;

        for (size_t i = 0; i < lb->listeners_len; i++) {
            n += ccm_text_equal(ccm_cloud_attr(&lb->listeners[i]->obj, "AclId"), id);
        }
    }
    return n;
}

static int check_acl(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                     const struct ccm_cloud_listener *listener)
{
    const char *now = listener == NULL ? "" : ccm_cloud_attr(&listener->obj, "AclId");
    const char *type = listener == NULL ? "" : ccm_cloud_attr(&listener->obj, "AclType");
    const char *id = ccm_cloud_text(call, "AclId", now);
    const struct ccm_cloud_obj *acl = ccm_cloud_plain_get(call->cloud, CCM_CLOUD_ACL, id);

    if (!ccm_cloud_has(call, "AclId") &&
        !ccm_text_equal(ccm_cloud_text(call, "AclStatus", ""), "on")) {
        return 0;
    }
    if (acl == NULL) {
        return ccm_cloud_fail(call, 400, "AclNotExist", "Acl does not exist.");
    }
    if (ccm_text_empty(ccm_cloud_text(call, "AclType", type))) {
        return ccm_cloud_fail(call, 400, "MissingParam.AclType",
                              "The parameter AclType is required.");
    }
    if (!ccm_text_equal(ccm_cloud_attr(acl, "AddressIPVersion"),
                        ccm_cloud_attr(&lb->obj, "AddressIPVersion"))) {
        return ccm_cloud_fail(call, 400, "IpVersionConflict",
                              "The ip version of this LoadBalancer and the Acl is conflict.");
    }
    if (!ccm_text_equal(id, now) && acl_users(call->cloud, id) >= ACL_LISTENERS_MAX) {
        return ccm_cloud_fail(call, 400, "AclListenerOverLimit",
                              "This acl has reached the limit of binding to listeners.");
    }
    return 0;
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

static int check_create(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                        const char *protocol, uint32_t port)
{
    int r = check_port(call, lb, protocol, port);

    if (r < 0) {
        return r;
    }
    if (!ccm_cloud_has(call, "BackendServerPort") && !ccm_cloud_has(call, "VServerGroupId") &&
        !ccm_text_equal(ccm_cloud_text(call, "ListenerForward", ""), "on")) {
        return ccm_cloud_fail(call, 400, "MissingParameter",
                              "The BackendServerPort or VServerGroupId is required at lease one.");
    }
    r = check_group(call, lb);
    r = r < 0 ? r : check_acl(call, lb, NULL);
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
        return fail_absent(call);
    }
    r = check_scheduler(call, listener);
    r = r < 0 ? r : check_group(call, lb);
    r = r < 0 ? r : check_acl(call, lb, listener);
    r = r < 0 || !layer7(protocol) ? r : ccm_cloud_http_check(call, lb, protocol, listener);
    r = r < 0 ? r : check_others(call);
    r = r < 0 ? r : check_switch(call);
    r = r < 0 ? r : feed_all(call, listener, false);
    if (r == 0 && ccm_text_equal(ccm_cloud_text(call, "VServerGroup", ""), "off")) {
        ccm_sim_params_del(&listener->obj.attrs, "VServerGroupId");
    }
    return r;
}

static int set_tcp(struct ccm_cloud_call *call)
{
    return ccm_cloud_listener_set(call, "tcp");
}

static int set_udp(struct ccm_cloud_call *call)
{
    return ccm_cloud_listener_set(call, "udp");
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
    if (ccm_text_equal(ccm_cloud_attr(&lb->obj, "LoadBalancerStatus"), "locked")) {
        return ccm_cloud_fail(call, 400, "ActionNotAllowed", "Locked for any Business Reason.");
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

/* Domain extensions go with their listener. */
static void extensions_del(struct ccm_cloud *cloud, const struct ccm_cloud_lb *lb,
                           const struct ccm_cloud_listener *listener)
{
    void *cursor = NULL;
    CCM_CLEANUP(ccm_freep) char *port = ccm_text_format("%u", listener->port);

    for (struct ccm_cloud_obj *obj = ccm_cloud_plain_next(cloud, CCM_CLOUD_EXTENSION, &cursor);
         obj != NULL; obj = ccm_cloud_plain_next(cloud, CCM_CLOUD_EXTENSION, &cursor)) {
        if (ccm_text_equal(ccm_cloud_attr(obj, "LoadBalancerId"), lb->obj.id) &&
            ccm_text_equal(ccm_cloud_attr(obj, "ListenerPort"), port)) {
            ccm_cloud_plain_del(cloud, CCM_CLOUD_EXTENSION, obj->id);
        }
    }
}

static int del(struct ccm_cloud_call *call)
{
    struct ccm_cloud_lb *lb = NULL;
    struct ccm_cloud_listener *listener = NULL;
    int r = listener_of(call, &lb, &listener);

    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < lb->listeners_len; i++) {
        const struct ccm_cloud_obj *other = &lb->listeners[i]->obj;

        if (ccm_text_equal(ccm_cloud_attr(other, "ListenerForward"), "on") &&
            ccm_text_equal(ccm_cloud_attr(other, "ForwardPort"),
                           ccm_cloud_text(call, "ListenerPort", ""))) {
            return ccm_cloud_fail(call, 400, "ListenerForwardExist",
                                  "The specified listener is forwarded by the other listener, the "
                                  "ListenerForward relationship should be deleted firstly.");
        }
    }
    extensions_del(call->cloud, lb, listener);
    ccm_cloud_listener_del(lb, listener);
    return 0;
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
        .name = "Scheduler", .type = CCM_CLOUD_ENUM, .values = "wrr|rr|sch|tch"                    \
    }

#define UDP_ROWS                                                                                   \
    { .name = "ConnectionDrain", .type = CCM_CLOUD_ENUM, .values = "on|off" },                     \
        { .name = "ConnectionDrainTimeout", .type = CCM_CLOUD_INT, .min = 10, .max = 900 },        \
        { .name = "Scheduler", .type = CCM_CLOUD_ENUM, .values = "wrr|rr|sch|tch|qch" },           \
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

static const struct ccm_cloud_param id_params[] = {
    CCM_CLOUD_LISTENER_ID_ROWS,
    { .name = "ListenerProtocol", .type = CCM_CLOUD_ENUM, .values = "tcp|udp|http|https" },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_listener_actions[] = {
    { .name = "CreateLoadBalancerTCPListener",
      .params = create_tcp_params,
      .run = create_tcp,
      .busy = "ServiceIsConfiguring" },
    { .name = "CreateLoadBalancerUDPListener",
      .params = create_udp_params,
      .run = create_udp,
      .busy = "ServiceIsConfiguring" },
    { .name = "SetLoadBalancerTCPListenerAttribute",
      .params = set_tcp_params,
      .run = set_tcp,
      .busy = "BackendServer.configuring" },
    { .name = "SetLoadBalancerUDPListenerAttribute",
      .params = set_udp_params,
      .run = set_udp,
      .busy = "BackendServer.configuring" },
    { .name = "StartLoadBalancerListener",
      .params = id_params,
      .run = start,
      .busy = "BackendServer.configuring" },
    { .name = "StopLoadBalancerListener",
      .params = id_params,
      .run = stop,
      .busy = "OperationBusy" },
    { .name = "DeleteLoadBalancerListener",
      .params = id_params,
      .run = del,
      .busy = "BackendServer.configuring" },
    { 0 },
};
