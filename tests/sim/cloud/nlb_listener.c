#include "families.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>

/* ---- attributes ---- */

static const char *const plain_names[] = {
    "AlpnEnabled",      "AlpnPolicy",          "CaEnabled", "Cps",
    "IdleTimeout",      "ListenerDescription", "Mss",       "ProxyProtocolEnabled",
    "SecSensorEnabled", "SecurityPolicyId",
};

/* The JSON text of ProxyProtocolV2Config -> attributes of its members. */
static int proxy_read(struct ccm_cloud_call *call, struct ccm_sim_params *ret)
{
    static const char *const members[] = { "Ppv2PrivateLinkEpIdEnabled",
                                           "Ppv2PrivateLinkEpsIdEnabled", "Ppv2VpcIdEnabled" };
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const char *text = ccm_cloud_text(call, "ProxyProtocolV2Config", NULL);
    int r = 0;

    if (text == NULL) {
        return 0;
    }
    if (ccm_json_parse(text, strlen(text), &json) < 0 || !cJSON_IsObject(json)) {
        return ccm_nlb_fail_illegal(call, "IllegalParam", "ProxyProtocolV2Config");
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(members) && r == 0; i++) {
        if (ccm_json_get(json, members[i]) != NULL) {
            r = ccm_sim_params_set(ret, members[i],
                                   ccm_json_bool(json, members[i], false) ? "true" : "false");
        }
    }
    return r;
}

static int ids_read(struct ccm_cloud_call *call, const char *name, struct ccm_sim_params *ret)
{
    CCM_CLEANUP(ccm_freep) char *list = NULL;
    int r = ccm_nlb_join(call, name, &list);

    return r < 0 || ccm_text_empty(list) ? r : ccm_sim_params_set(ret, name, list);
}

/* Attributes that the call gives. */
static int attrs_read(struct ccm_cloud_call *call, bool tls, struct ccm_sim_params *ret)
{
    int r = proxy_read(call, ret);

    for (size_t i = 0; i < CCM_ARRAY_LEN(plain_names) && r == 0; i++) {
        const char *value = ccm_cloud_text(call, plain_names[i], NULL);
        bool tls_only = ccm_text_starts(plain_names[i], "Alpn") ||
                        ccm_text_equal(plain_names[i], "CaEnabled") ||
                        ccm_text_equal(plain_names[i], "SecurityPolicyId");

        if (value != NULL && (tls || !tls_only)) {
            r = ccm_sim_params_set(
                ret, plain_names[i],
                ccm_text_equal(plain_names[i], "AlpnPolicy") ? ccm_nlb_word(value) : value);
        }
    }
    r = r < 0 || !tls ? r : ids_read(call, "CertificateIds", ret);
    return r < 0 || !tls ? r : ids_read(call, "CaCertificateIds", ret);
}

/* ---- creation ---- */

static int create_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_listener *listener =
        ccm_nlb_listener_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));

    if (listener == NULL) {
        return -ENOENT;
    }
    if (ok) {
        ccm_nlb_status_set(&listener->obj, "ListenerStatus", "Running");
    } else {
        ccm_nlb_listener_del(cloud, listener);
    }
    return 0;
}

static int listener_fill(struct ccm_cloud_call *call, const char *protocol,
                         struct ccm_nlb_listener *listener)
{
    bool tls = ccm_nlb_is_tls(protocol);
    const struct ccm_cloud_pair pairs[] = {
        { "AlpnEnabled", tls ? "false" : NULL },
        { "CaEnabled", tls ? "false" : NULL },
        { "IdleTimeout", ccm_text_equal(protocol, "UDP") ? "20" : "900" },
        { "ListenerDescription", "" },
        { "ListenerProtocol", protocol },
        { "SecurityPolicyId", tls ? "tls_cipher_policy_1_0" : NULL },
    };
    int r = ccm_cloud_attrs_set(&listener->obj, pairs, CCM_ARRAY_LEN(pairs));

    return r < 0 ? r : attrs_read(call, tls, &listener->obj.attrs);
}

static int check_create(struct ccm_cloud_call *call, const struct ccm_nlb_lb *lb,
                        const struct ccm_nlb_group *group, uint32_t *ret_first, uint32_t *ret_last)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params unused = { 0 };
    const char *protocol = ccm_nlb_enum(call, "ListenerProtocol", "");
    int r = ccm_nlb_ports_read(call, ret_first, ret_last);

    r = r < 0 ? r : ccm_nlb_port_check(call, lb, protocol, *ret_first, *ret_last);
    r = r < 0 ? r : ccm_nlb_target_check(call, lb, protocol, *ret_first != *ret_last, group);
    r = r < 0 ? r : ccm_nlb_target_servers_check(call, lb, group);
    r = r < 0 ? r : ccm_nlb_idle_check(call, protocol, "");
    r = r < 0 ? r : ccm_nlb_tls_check(call, protocol, NULL);
    return r < 0 ? r : proxy_read(call, &unused);
}

static int create(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params tags = { 0 };
    struct ccm_cloud_job *job = NULL;
    struct ccm_nlb_lb *lb = NULL;
    struct ccm_nlb_group *group = NULL;
    struct ccm_nlb_listener *listener = NULL;
    uint32_t first = 0;
    uint32_t last = 0;
    int r = ccm_nlb_lb_of(call, &lb);

    r = r < 0 ? r : ccm_nlb_lb_check_idle(call, lb);
    r = r < 0 ? r : ccm_nlb_group_of(call, &group);
    r = r < 0 ? r : check_create(call, lb, group, &first, &last);
    r = r < 0 ? r : ccm_cloud_tags_read(call, &tags);
    r = r < 0 ? r : ccm_nlb_dry_run(call);
    r = r < 0 ? r
              : ccm_nlb_listener_new(call->cloud, lb, group, first == last ? first : 0, &listener);
    if (r < 0) {
        return r;
    }
    listener->first = first;
    listener->last = last;
    listener->range = first != last;
    r = listener_fill(call, ccm_nlb_enum(call, "ListenerProtocol", ""), listener);
    r = r < 0 ? r : ccm_nlb_tags_put(call, &listener->obj, &tags);
    r = r < 0
            ? r
            : ccm_nlb_job(call, &listener->obj, "ListenerStatus", "Provisioning", create_end, &job);
    if (r < 0) {
        ccm_nlb_listener_del(call->cloud, listener);
        return r;
    }
    ccm_jsonw_str(call->out, "ListenerId", listener->obj.id);
    return 0;
}

/* ---- change ---- */

static int update_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_listener *listener =
        ccm_nlb_listener_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));
    const char *group_id = ccm_cloud_attr(&job->obj, "ServerGroupId");
    struct ccm_nlb_group *group = ccm_nlb_group_get(cloud, group_id);
    int r = 0;

    if (listener == NULL) {
        return -ENOENT;
    }
    ccm_nlb_status_set(&listener->obj, "ListenerStatus", ccm_cloud_attr(&job->obj, "Before"));
    if (ok && !ccm_text_empty(group_id)) {
        r = group == NULL ? -ENOENT : ccm_nlb_listener_point(listener, group);
    }
    return r < 0 || !ok ? r : ccm_nlb_job_apply(job, &listener->obj);
}

/* The group that the listener shall send to; NULL: it stays. */
static int check_new_group(struct ccm_cloud_call *call, const struct ccm_nlb_listener *listener,
                           struct ccm_nlb_group **ret)
{
    const char *protocol = ccm_cloud_attr(&listener->obj, "ListenerProtocol");

    if (!ccm_cloud_has(call, "ServerGroupId")) {
        return 0;
    }

    int r = ccm_nlb_group_of(call, ret);

    if (r == 0 && *ret == listener->group) {
        *ret = NULL;
        return 0;
    }
    r = r < 0 ? r : ccm_nlb_target_check(call, listener->lb, protocol, listener->range, *ret);
    return r < 0 ? r : ccm_nlb_target_servers_check(call, listener->lb, *ret);
}

static int update(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(ccm_sim_params_fini) struct ccm_sim_params unused = { 0 };
    struct ccm_cloud_job *job = NULL;
    struct ccm_nlb_group *group = NULL;
    struct ccm_nlb_listener *listener = NULL;
    int r = ccm_nlb_listener_for_change(call, &listener);

    if (r < 0) {
        return r;
    }

    const char *protocol = ccm_cloud_attr(&listener->obj, "ListenerProtocol");

    r = check_new_group(call, listener, &group);
    r = r < 0 ? r
              : ccm_nlb_idle_check(call, protocol, ccm_cloud_attr(&listener->obj, "IdleTimeout"));
    r = r < 0 ? r : ccm_nlb_tls_check(call, protocol, listener);
    r = r < 0 ? r : proxy_read(call, &unused);
    r = r < 0 ? r : ccm_nlb_dry_run(call);
    r = r < 0
            ? r
            : ccm_nlb_job(call, &listener->obj, "ListenerStatus", "Configuring", update_end, &job);
    if (r == 0 && group != NULL) {
        r = ccm_sim_params_set(&job->obj.attrs, "ServerGroupId", group->obj.id);
    }
    return r < 0 ? r : attrs_read(call, ccm_nlb_is_tls(protocol), &job->set);
}

/* ---- start, stop, deletion ---- */

/* job attribute "After" is the status on success. */
static int switch_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_listener *listener =
        ccm_nlb_listener_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));

    if (listener == NULL) {
        return -ENOENT;
    }
    ccm_nlb_status_set(&listener->obj, "ListenerStatus",
                       ccm_cloud_attr(&job->obj, ok ? "After" : "Before"));
    return 0;
}

static int status_switch(struct ccm_cloud_call *call, const char *from, const char *through,
                         const char *to)
{
    struct ccm_cloud_job *job = NULL;
    struct ccm_nlb_listener *listener = NULL;
    int r = ccm_nlb_listener_for_change(call, &listener);

    if (r == 0 && !ccm_text_equal(ccm_cloud_attr(&listener->obj, "ListenerStatus"), from)) {
        r = ccm_cloud_fail(call, 400, "IncorrectStatus.listener",
                           "The status of listener [%s] is incorrect.", listener->obj.id);
    }
    r = r < 0 ? r : ccm_nlb_dry_run(call);
    r = r < 0 ? r : ccm_nlb_job(call, &listener->obj, "ListenerStatus", through, switch_end, &job);
    return r < 0 ? r : ccm_sim_params_set(&job->obj.attrs, "After", to);
}

static int start(struct ccm_cloud_call *call)
{
    return status_switch(call, "Stopped", "Starting", "Running");
}

static int stop(struct ccm_cloud_call *call)
{
    return status_switch(call, "Running", "Stopping", "Stopped");
}

static int delete_end(struct ccm_cloud *cloud, struct ccm_cloud_job *job, bool ok)
{
    struct ccm_nlb_listener *listener =
        ccm_nlb_listener_get(cloud, ccm_cloud_attr(&job->obj, "ResourceId"));

    if (listener != NULL && ok) {
        ccm_nlb_listener_del(cloud, listener);
    } else if (listener != NULL) {
        ccm_nlb_status_set(&listener->obj, "ListenerStatus", ccm_cloud_attr(&job->obj, "Before"));
    }
    return 0;
}

static int del(struct ccm_cloud_call *call)
{
    struct ccm_cloud_job *job = NULL;
    struct ccm_nlb_listener *listener = NULL;
    int r = ccm_nlb_listener_for_change(call, &listener);

    r = r < 0 ? r : ccm_nlb_dry_run(call);
    return r < 0
               ? r
               : ccm_nlb_job(call, &listener->obj, "ListenerStatus", "Deleting", delete_end, &job);
}

/* Parameters that create and update have alike. */
#define BOTH_ROWS                                                                                  \
    CCM_NLB_WRITE_ROWS, { .name = "AlpnEnabled", .type = CCM_CLOUD_BOOL },                         \
        { .name = "AlpnPolicy",                                                                    \
          .type = CCM_CLOUD_ENUM,                                                                  \
          .values = "HTTP1Only|HTTP2Only|HTTP2Preferred|HTTP2Optional" },                          \
        { .name = "CaCertificateIds.N",                                                            \
          .items = 10,                                                                             \
          .too_many = "IllegalParamSize.certificateIds" },                                         \
        { .name = "CaEnabled", .type = CCM_CLOUD_BOOL },                                           \
        { .name = "CertificateIds.N",                                                              \
          .items = 10,                                                                             \
          .too_many = "IllegalParamSize.certificateIds" },                                         \
        { .name = "Cps", .type = CCM_CLOUD_INT, .min = 0, .max = 1000000 },                        \
        { .name = "IdleTimeout",                                                                   \
          .type = CCM_CLOUD_INT,                                                                   \
          .min = 10,                                                                               \
          .max = 900,                                                                              \
          .invalid = "IllegalParam.IdleTimeout" },                                                 \
        { .name = "ListenerDescription",                                                           \
          .min = 2,                                                                                \
          .max = 256,                                                                              \
          .fits = ccm_nlb_is_description,                                                          \
          .invalid = "IllegalParam.ListenerDescription" },                                         \
        { .name = "Mss", .type = CCM_CLOUD_INT, .min = 0, .max = 1500 },                           \
        { .name = "ProxyProtocolEnabled", .type = CCM_CLOUD_BOOL },                                \
        { .name = "ProxyProtocolV2Config" },                                                       \
        { .name = "SecSensorEnabled", .type = CCM_CLOUD_BOOL },                                    \
    {                                                                                              \
        .name = "SecurityPolicyId"                                                                 \
    }

static const struct ccm_cloud_param create_params[] = {
    BOTH_ROWS,
    { .name = "EndPort", .type = CCM_CLOUD_INT, .min = 0, .max = 65535 },
    { .name = "ListenerPort",
      .type = CCM_CLOUD_INT,
      .required = true,
      .min = 0,
      .max = 65535,
      .invalid = "IllegalParam.Port" },
    { .name = "ListenerProtocol",
      .type = CCM_CLOUD_ENUM,
      .required = true,
      .values = "TCP|UDP|TCPSSL" },
    { .name = "LoadBalancerId", .required = true },
    { .name = "ServerGroupId", .required = true },
    { .name = "StartPort", .type = CCM_CLOUD_INT, .min = 0, .max = 65535 },
    CCM_NLB_TAG_ROWS,
    { 0 },
};

static const struct ccm_cloud_param update_params[] = {
    { .name = "ListenerId", .required = true },
    BOTH_ROWS,
    { .name = "ServerGroupId" },
    { 0 },
};

static const struct ccm_cloud_param id_params[] = {
    { .name = "ListenerId", .required = true },
    CCM_NLB_WRITE_ROWS,
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_nlb_listener_actions[] = {
    { .name = "CreateListener",
      .params = create_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = create },
    { .name = "UpdateListenerAttribute",
      .params = update_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = update },
    { .name = "StartListener",
      .params = id_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = start },
    { .name = "StopListener",
      .params = id_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = stop },
    { .name = "DeleteListener",
      .params = id_params,
      .manner = &ccm_nlb_manner,
      .token = true,
      .run = del },
    { 0 },
};
