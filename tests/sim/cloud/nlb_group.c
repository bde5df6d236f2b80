#include "families.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>

/* An attribute, the parameter that feeds it, and its value in a new group. */
struct feed {
    const char *attr;
    const char *param;
    const char *fallback; /* NULL: none */
    bool create_only;
};

static const struct feed feeds[] = {
    { "AddressIPVersion", "AddressIPVersion", "ipv4", true },
    { "AnyPortEnabled", "AnyPortEnabled", "false", true },
    { "ConnectionDrainEnabled", "ConnectionDrainEnabled", "false", false },
    { "ConnectionDrainTimeout", "ConnectionDrainTimeout", "10", false },
    { "HealthCheckConnectPort", "HealthCheckConfig.HealthCheckConnectPort", "0", false },
    { "HealthCheckConnectTimeout", "HealthCheckConfig.HealthCheckConnectTimeout", "5", false },
    { "HealthCheckDomain", "HealthCheckConfig.HealthCheckDomain", NULL, false },
    { "HealthCheckEnabled", "HealthCheckConfig.HealthCheckEnabled", "true", false },
    { "HealthCheckExp", "HealthCheckConfig.HealthCheckExp", NULL, false },
    { "HealthCheckHttpVersion", "HealthCheckConfig.HealthCheckHttpVersion", NULL, false },
    { "HealthCheckInterval", "HealthCheckConfig.HealthCheckInterval", "5", false },
    { "HealthCheckReq", "HealthCheckConfig.HealthCheckReq", NULL, false },
    { "HealthCheckType", "HealthCheckConfig.HealthCheckType", "TCP", false },
    { "HealthCheckUrl", "HealthCheckConfig.HealthCheckUrl", NULL, false },
    { "HealthyThreshold", "HealthCheckConfig.HealthyThreshold", "2", false },
    { "HttpCheckMethod", "HealthCheckConfig.HttpCheckMethod", NULL, false },
    { "IpVersionAffinityMode", "IpVersionAffinityMode", NULL, false },
    { "PreserveClientIpEnabled", "PreserveClientIpEnabled", NULL, false },
    { "Protocol", "Protocol", "TCP", true },
    { "ResourceGroupId", "ResourceGroupId", "rg-default", true },
    { "Scheduler", "Scheduler", "Wrr", false },
    { "ServerGroupName", "ServerGroupName", NULL, false },
    { "ServerGroupType", "ServerGroupType", "Instance", true },
    { "UnhealthyThreshold", "HealthCheckConfig.UnhealthyThreshold", "2", false },
    { "VpcId", "VpcId", NULL, true },
};

static const char *word_of(const char *attr, const char *value)
{
    /* Names are no words of the service, whatever they look like. */
    return ccm_text_equal(attr, "ServerGroupName") || ccm_text_ends(attr, "Id") ||
                   ccm_text_starts(attr, "HealthCheckReq") ||
                   ccm_text_starts(attr, "HealthCheckExp") ||
                   ccm_text_equal(attr, "HealthCheckDomain")
               ? value
               : ccm_nlb_word(value);
}

/* What an attribute will be after the call: of the request, of the group (NULL: a new one), or the
 * usual one; "" when there is none. */
static const char *then(const struct ccm_cloud_call *call, const struct ccm_nlb_group *group,
                        const char *attr)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(feeds); i++) {
        if (ccm_text_equal(feeds[i].attr, attr)) {
            const char *now = group == NULL ? feeds[i].fallback : ccm_cloud_attr(&group->obj, attr);
            const char *value = ccm_cloud_text(call, feeds[i].param, now);

            return value == NULL ? "" : word_of(attr, value);
        }
    }
    return "";
}

static int64_t then_int(const struct ccm_cloud_call *call, const struct ccm_nlb_group *group,
                        const char *attr)
{
    int64_t number = 0;

    /* Validation has let numbers alone through. */
    return ccm_parse_i64(then(call, group, attr), INT64_MIN, INT64_MAX, &number) < 0 ? 0 : number;
}

static int check_health(struct ccm_cloud_call *call, const struct ccm_nlb_group *group)
{
    bool udp = ccm_text_equal(then(call, group, "HealthCheckType"), "UDP");
    bool any_port = ccm_text_equal(then(call, group, "AnyPortEnabled"), "true");
    const char *url = then(call, group, "HealthCheckUrl");
    int64_t interval = then_int(call, group, "HealthCheckInterval");

    if (!ccm_text_equal(then(call, group, "HealthCheckEnabled"), "true")) {
        return 0;
    }
    if (any_port && then_int(call, group, "HealthCheckConnectPort") == 0) {
        return ccm_nlb_fail_illegal(call,
                                    "IllegalParam.AnyPortServerGroupConflictWithHealthCheckConfig",
                                    "AnyPortServerGroupConflictWithHealthCheckConfig");
    }
    if (interval > (udp ? 300 : 50) ||
        (udp && interval < then_int(call, group, "HealthCheckConnectTimeout"))) {
        return ccm_nlb_fail_illegal(call, "IllegalParam", "HealthCheckInterval");
    }
    if (!ccm_text_empty(url) && url[0] != '/') {
        return ccm_cloud_fail(call, 400, "IlleagalParam.healthCheckUrl",
                              "The parameter of healthCheckUrl in healthCheckConfig is illegal.");
    }
    return 0;
}

/* Client addresses cannot be preserved behind TLS. */
static int check_preserve(struct ccm_cloud_call *call, const struct ccm_nlb_group *group)
{
    bool tls = ccm_text_equal(then(call, group, "Protocol"), "TCPSSL");

    for (size_t i = 0; group != NULL && i < group->users_len && !tls; i++) {
        tls = ccm_text_equal(ccm_cloud_attr(&group->users[i]->obj, "ListenerProtocol"), "TCPSSL");
    }
    if (tls && ccm_nlb_flag(call, "PreserveClientIpEnabled", false)) {
        return ccm_cloud_fail(call, 400, "IllegalParam.PreserveClientIpSwitch",
                              "The server group associated with the tcpssl listener does not "
                              "support enabling PreserveClientIp.");
    }
    return 0;
}

/* The codes of an HTTP check, which are a list. */
static int codes_read(struct ccm_cloud_call *call, struct ccm_sim_params *ret)
{
    CCM_CLEANUP(ccm_freep) char *list = NULL;
    int r = ccm_nlb_join(call, "HealthCheckConfig.HealthCheckHttpCode", &list);

    if (r < 0 || ccm_text_empty(list)) {
        return r;
    }
    return ccm_sim_params_set(ret, "HealthCheckHttpCode", list);
}

/* Attributes that the call gives -> ret; of a new group all of them. */
static int feed_all(struct ccm_cloud_call *call, bool create, struct ccm_sim_params *ret)
{
    int r = codes_read(call, ret);

    for (size_t i = 0; i < CCM_ARRAY_LEN(feeds) && r == 0; i++) {
        const char *value = ccm_cloud_text(call, feeds[i].param, create ? feeds[i].fallback : NULL);

        if (value != NULL && (create || !feeds[i].create_only)) {
            r = ccm_sim_params_set(ret, feeds[i].attr, word_of(feeds[i].attr, value));
        }
    }
    return r;
}

/* ---- creation ---- */

static int check_create(struct ccm_cloud_call *call)
{
    const struct ccm_cloud_vpc *vpc =
        ccm_strmap_get(call->cloud->vpcs, ccm_cloud_text(call, "VpcId", ""));
    size_t used = ccm_strmap_len(call->cloud->nlb->groups);

    if (vpc == NULL) {
        return ccm_nlb_fail_absent(call, "Vpc");
    }
    if (ccm_text_equal(then(call, NULL, "AddressIPVersion"), "DualStack") &&
        ccm_text_empty(ccm_cloud_attr(&vpc->obj, "Ipv6CidrBlock"))) {
        return ccm_nlb_fail_denied(call, "VpcNotSupportIpv6");
    }
    if (used >= call->cloud->limits.nlb_server_groups) {
        return ccm_nlb_fail_quota(call, "server_groups_num", used,
                                  call->cloud->limits.nlb_server_groups);
    }

    int r = check_health(call, NULL);

    return r < 0 ? r : check_preserve(call, NULL);
}

static int create_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_group *group = ccm_nlb_group_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));

    if (group == NULL) {
        return -ENOENT;
    }
    if (ok) {
        ccm_nlb_status_set(&group->obj, "ServerGroupStatus", "Available");
    } else {
        ccm_nlb_group_del(cloud, group);
    }
    return 0;
}

static int group_fill(struct ccm_cloud_call *call, struct ccm_nlb_group *group)
{
    bool preserves = !ccm_text_equal(then(call, NULL, "Protocol"), "TCPSSL") &&
                     !ccm_text_equal(then(call, NULL, "ServerGroupType"), "Ip");
    int r = feed_all(call, true, &group->obj.attrs);

    r = r < 0 ? r : ccm_sim_params_set(&group->obj.attrs, "RegionId", call->cloud->region);
    if (r == 0 && !ccm_cloud_has(call, "PreserveClientIpEnabled")) {
        r = ccm_sim_params_set(&group->obj.attrs, "PreserveClientIpEnabled",
                               preserves ? "true" : "false");
    }
    return r;
}

static int create(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    struct ccm_cloud_job *job = NULL;
    struct ccm_nlb_group *group = NULL;
    int r = check_create(call);

    r = r < 0 ? r : ccm_cloud_tags_read(call, &tags);
    r = r < 0 ? r : ccm_nlb_dry_run(call);
    r = r < 0 ? r : ccm_nlb_group_new(call->cloud, &group);
    if (r < 0) {
        return r;
    }
    r = group_fill(call, group);
    r = r < 0 ? r : ccm_nlb_tags_put(call, &group->obj, &tags);
    r = r < 0 ? r
              : ccm_nlb_job(call, &group->obj, "ServerGroupStatus", "Creating", create_end, &job);
    if (r < 0) {
        ccm_nlb_group_del(call->cloud, group);
        return r;
    }
    ccm_jsonw_str(call->out, "ServerGroupId", group->obj.id);
    return 0;
}

/* ---- change ---- */

static int update_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_group *group = ccm_nlb_group_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));

    if (group == NULL) {
        return -ENOENT;
    }
    ccm_nlb_status_set(&group->obj, "ServerGroupStatus", "Available");
    return ok ? ccm_nlb_job_apply(job, &group->obj) : 0;
}

/* No way leads to a hash. */
static int check_scheduler(struct ccm_cloud_call *call, const struct ccm_nlb_group *group)
{
    const char *wanted = then(call, group, "Scheduler");

    return ccm_text_equal(wanted, ccm_cloud_attr(&group->obj, "Scheduler")) ||
                   !ccm_text_ends(wanted, "ch")
               ? 0
               : ccm_nlb_fail_illegal(call, "IllegalParam", "Scheduler");
}

static int update(struct ccm_cloud_call *call)
{
    struct ccm_cloud_job *job = NULL;
    struct ccm_nlb_group *group = NULL;
    int r = ccm_nlb_group_for_change(call, &group);

    r = r < 0 ? r : check_health(call, group);
    r = r < 0 ? r : check_preserve(call, group);
    r = r < 0 ? r : check_scheduler(call, group);
    r = r < 0 ? r : ccm_nlb_dry_run(call);
    r = r < 0
            ? r
            : ccm_nlb_job(call, &group->obj, "ServerGroupStatus", "Configuring", update_end, &job);
    r = r < 0 ? r : feed_all(call, false, &job->set);
    if (r == 0) {
        ccm_jsonw_str(call->out, "ServerGroupId", group->obj.id);
    }
    return r;
}

/* ---- deletion ---- */

static int delete_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_group *group = ccm_nlb_group_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));

    if (group == NULL) {
        return 0;
    }
    if (ok && group->users_len == 0) {
        ccm_nlb_group_del(cloud, group);
        return 0;
    }
    ccm_nlb_status_set(&group->obj, "ServerGroupStatus", "Available");
    return ok ? -EBUSY : 0; /* a listener has come to use it */
}

static int del(struct ccm_cloud_call *call)
{
    struct ccm_cloud_job *job = NULL;
    struct ccm_nlb_group *group = NULL;
    int r = ccm_nlb_group_for_change(call, &group);

    if (r == 0 && group->users_len > 0) {
        r = ccm_cloud_fail(call, 400, "ResourceInUse.ServerGroup",
                           "The specified resource of ServerGroup is in use.");
    }
    r = r < 0 ? r : ccm_nlb_dry_run(call);
    return r < 0 ? r
                 : ccm_nlb_job(call, &group->obj, "ServerGroupStatus", "Configuring", delete_end,
                               &job);
}

static bool is_path(const char *value)
{
    return ccm_nlb_is_ascii(value); /* the leading slash has a code of its own */
}

static bool is_domain(const char *value)
{
    if (ccm_text_equal(value, "$SERVER_IP")) {
        return true;
    }
    for (const char *p = value; *p != '\0'; p++) {
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              *p == '-' || *p == '.')) {
            return false;
        }
    }
    return true;
}

#define HEALTH_ROWS                                                                                \
    { .name = "HealthCheckConfig.HealthCheckConnectPort",                                          \
      .type = CCM_CLOUD_INT,                                                                       \
      .min = 0,                                                                                    \
      .max = 65535 },                                                                              \
        { .name = "HealthCheckConfig.HealthCheckConnectTimeout",                                   \
          .type = CCM_CLOUD_INT,                                                                   \
          .min = 1,                                                                                \
          .max = 300 },                                                                            \
        { .name = "HealthCheckConfig.HealthCheckDomain",                                           \
          .min = 1,                                                                                \
          .max = 80,                                                                               \
          .fits = is_domain,                                                                       \
          .invalid = "IllegalParam.healthCheckDomain" },                                           \
        { .name = "HealthCheckConfig.HealthCheckEnabled", .type = CCM_CLOUD_BOOL },                \
        { .name = "HealthCheckConfig.HealthCheckExp", .min = 1, .max = 512 },                      \
        { .name = "HealthCheckConfig.HealthCheckHttpCode.N",                                       \
          .type = CCM_CLOUD_ENUM,                                                                  \
          .items = 4,                                                                              \
          .values = "http_2xx|http_3xx|http_4xx|http_5xx" },                                       \
        { .name = "HealthCheckConfig.HealthCheckHttpVersion",                                      \
          .type = CCM_CLOUD_ENUM,                                                                  \
          .values = "HTTP1.0|HTTP1.1" },                                                           \
        { .name = "HealthCheckConfig.HealthCheckInterval",                                         \
          .type = CCM_CLOUD_INT,                                                                   \
          .min = 1,                                                                                \
          .max = 300 },                                                                            \
        { .name = "HealthCheckConfig.HealthCheckReq", .min = 1, .max = 512 },                      \
        { .name = "HealthCheckConfig.HealthCheckType",                                             \
          .type = CCM_CLOUD_ENUM,                                                                  \
          .values = "TCP|HTTP|UDP" },                                                              \
        { .name = "HealthCheckConfig.HealthCheckUrl",                                              \
          .min = 1,                                                                                \
          .max = 80,                                                                               \
          .fits = is_path,                                                                         \
          .invalid = "IlleagalParam.healthCheckUrl" },                                             \
        { .name = "HealthCheckConfig.HealthyThreshold",                                            \
          .type = CCM_CLOUD_INT,                                                                   \
          .min = 2,                                                                                \
          .max = 10 },                                                                             \
        { .name = "HealthCheckConfig.HttpCheckMethod",                                             \
          .type = CCM_CLOUD_ENUM,                                                                  \
          .values = "GET|HEAD" },                                                                  \
    {                                                                                              \
        .name = "HealthCheckConfig.UnhealthyThreshold", .type = CCM_CLOUD_INT, .min = 2, .max = 10 \
    }

/* Parameters that create and update have alike. */
#define BOTH_ROWS                                                                                  \
    CCM_NLB_WRITE_ROWS, { .name = "ConnectionDrainEnabled", .type = CCM_CLOUD_BOOL },              \
        { .name = "ConnectionDrainTimeout",                                                        \
          .type = CCM_CLOUD_INT,                                                                   \
          .min = 0,                                                                                \
          .max = 900,                                                                              \
          .invalid = "IllegalParam.ConnectionDrainTimeout" },                                      \
        HEALTH_ROWS,                                                                               \
        { .name = "IpVersionAffinityMode",                                                         \
          .type = CCM_CLOUD_ENUM,                                                                  \
          .values = "NonAffinity|Affinity" },                                                      \
        { .name = "PreserveClientIpEnabled", .type = CCM_CLOUD_BOOL },                             \
    {                                                                                              \
        .name = "Scheduler", .type = CCM_CLOUD_ENUM, .values = "Wrr|Wlc|rr|sch|tch|qch"            \
    }

#define NAME_ROW(must)                                                                             \
    {                                                                                              \
        .name = "ServerGroupName", .required = (must), .min = 2, .max = 128,                       \
        .fits = ccm_nlb_is_name, .invalid = "IllegalParam.ServerGroupName"                         \
    }

static const struct ccm_cloud_param create_params[] = {
    BOTH_ROWS,
    NAME_ROW(true),
    { .name = "AddressIPVersion", .type = CCM_CLOUD_ENUM, .values = "ipv4|DualStack" },
    { .name = "AnyPortEnabled", .type = CCM_CLOUD_BOOL },
    { .name = "Protocol", .type = CCM_CLOUD_ENUM, .values = "TCP|UDP|TCPSSL|TCP_UDP" },
    { .name = "ResourceGroupId" },
    { .name = "ServerGroupType", .type = CCM_CLOUD_ENUM, .values = "Instance|Ip" },
    CCM_NLB_TAG_ROWS,
    { .name = "VpcId", .required = true },
    { 0 },
};

static const struct ccm_cloud_param update_params[] = {
    { .name = "ServerGroupId", .required = true },
    BOTH_ROWS,
    NAME_ROW(false),
    { 0 },
};

static const struct ccm_cloud_param id_params[] = {
    { .name = "ServerGroupId", .required = true },
    CCM_NLB_WRITE_ROWS,
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_nlb_group_actions[] = {
    { .name = "CreateServerGroup",
      .params = create_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = create },
    { .name = "UpdateServerGroupAttribute",
      .params = update_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = update },
    { .name = "DeleteServerGroup",
      .params = id_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = del },
    { 0 },
};
