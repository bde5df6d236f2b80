#include "families.h"
#include "health.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>

static const struct ccm_cloud_field listener_fields[] = {
    { "AlpnEnabled", 'b', NULL, "false" },
    { "AlpnPolicy", 's', NULL, NULL },
    { "CaEnabled", 'b', NULL, "false" },
    { "Cps", 'n', NULL, "0" },
    { "IdleTimeout", 'n', NULL, "900" },
    { "ListenerDescription", 's', NULL, "" },
    { "ListenerProtocol", 's', NULL, "" },
    { "ListenerStatus", 's', NULL, "" },
    { "Mss", 'n', NULL, "0" },
    { "ProxyProtocolEnabled", 'b', NULL, "false" },
    { "SecSensorEnabled", 'b', NULL, "false" },
    { "SecurityPolicyId", 's', NULL, NULL },
    { 0 },
};

static const struct ccm_cloud_field proxy_fields[] = {
    { "Ppv2PrivateLinkEpIdEnabled", 'b', NULL, "false" },
    { "Ppv2PrivateLinkEpsIdEnabled", 'b', NULL, "false" },
    { "Ppv2VpcIdEnabled", 'b', NULL, "false" },
    { 0 },
};

/* Ends of a range are text in answers, numbers in requests. */
static void port_write(struct ccm_jsonw *w, const char *name, uint32_t port)
{
    char text[12];

    (void)snprintf(text, sizeof(text), "%u", port); /* always fits */
    ccm_jsonw_str(w, name, text);
}

static void listener_write(struct ccm_cloud_call *call, const struct ccm_nlb_listener *listener,
                           bool long_tags)
{
    struct ccm_jsonw *w = call->out;

    ccm_jsonw_str(w, "ListenerId", listener->obj.id);
    ccm_jsonw_str(w, "LoadBalancerId", listener->lb->obj.id);
    ccm_jsonw_str(w, "RegionId", call->cloud->region);
    ccm_jsonw_str(w, "ServerGroupId", listener->group == NULL ? "" : listener->group->obj.id);
    ccm_jsonw_i64(w, "ListenerPort", listener->range ? 0 : listener->first);
    port_write(w, "StartPort", listener->range ? listener->first : 0);
    port_write(w, "EndPort", listener->range ? listener->last : 0);
    ccm_cloud_write_fields(w, &listener->obj, listener_fields);
    ccm_nlb_list_write(w, "CertificateIds", ccm_cloud_attr(&listener->obj, "CertificateIds"));
    ccm_nlb_list_write(w, "CaCertificateIds", ccm_cloud_attr(&listener->obj, "CaCertificateIds"));
    ccm_jsonw_open(w, "ProxyProtocolV2Config", '{');
    ccm_cloud_write_fields(w, &listener->obj, proxy_fields);
    ccm_jsonw_close(w, '}');
    ccm_nlb_tags_write(w, &listener->obj, long_tags);
}

static int get(struct ccm_cloud_call *call)
{
    struct ccm_nlb_listener *listener = NULL;
    int r = ccm_nlb_listener_of(call, &listener);

    r = r < 0 ? r : ccm_nlb_dry_run(call);
    if (r == 0) {
        listener_write(call, listener, true);
    }
    return r;
}

struct filter {
    struct ccm_sim_params ids;
    struct ccm_sim_params lbs;
    struct ccm_sim_params tags;
};

static void filter_fini(struct filter *filter)
{
    ccm_sim_params_fini(&filter->ids);
    ccm_sim_params_fini(&filter->lbs);
    ccm_sim_params_fini(&filter->tags);
}

static void listener_take(struct ccm_cloud_call *call, const struct filter *filter,
                          struct ccm_nlb_page *page, const struct ccm_nlb_listener *listener)
{
    const char *sensor = ccm_cloud_text(call, "SecSensorEnabled", NULL);
    bool senses = ccm_text_equal(ccm_cloud_attr(&listener->obj, "SecSensorEnabled"), "true");

    if (ccm_nlb_list_has(&filter->ids, listener->obj.id) &&
        ccm_nlb_list_has(&filter->lbs, listener->lb->obj.id) &&
        ccm_nlb_attr_fits(call, &listener->obj, "ListenerProtocol") &&
        (sensor == NULL || ccm_text_equal_case(sensor, "true") == senses) &&
        ccm_cloud_tags_fit(&listener->obj, &filter->tags) &&
        ccm_nlb_page_takes(page, listener->obj.seq, 0)) {
        ccm_jsonw_open(call->out, NULL, '{');
        listener_write(call, listener, false);
        ccm_jsonw_close(call->out, '}');
    }
}

static void listeners_of(struct ccm_cloud_call *call, const struct filter *filter,
                         struct ccm_nlb_page *page)
{
    const struct ccm_nlb_lb *lb = ccm_nlb_lb_get(call->cloud, filter->lbs.items[0].value);

    for (size_t i = 0; lb != NULL && i < lb->len; i++) {
        listener_take(call, filter, page, lb->listeners[i]);
    }
}

static int list(struct ccm_cloud_call *call)
{
    CCM_CLEANUP(filter_fini) struct filter filter = { 0 };
    struct ccm_nlb_page page = { 0 };
    void *cursor = NULL;
    const char *id = NULL;
    void *value = NULL;
    int r = ccm_nlb_page_read(call, 20, &page);

    r = r < 0 ? r : ccm_cloud_list(call, "ListenerIds", &filter.ids);
    r = r < 0 ? r : ccm_cloud_list(call, "LoadBalancerIds", &filter.lbs);
    r = r < 0 ? r : ccm_cloud_tags_read(call, &filter.tags);
    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, "Listeners", '[');
    if (filter.lbs.len == 1) {
        listeners_of(call, &filter, &page);
    } else {
        while (ccm_strmap_next(call->cloud->nlb->listeners, &cursor, &id, &value) != 0) {
            listener_take(call, &filter, &page, value);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_nlb_page_write(call, &page);
    return 0;
}

static const struct ccm_cloud_param get_params[] = {
    { .name = "ListenerId", .required = true },
    CCM_NLB_WRITE_ROWS,
    { 0 },
};

static const struct ccm_cloud_param list_params[] = {
    { .name = "ListenerIds.N", .items = 20 },
    { .name = "ListenerProtocol", .type = CCM_CLOUD_ENUM, .values = "TCP|UDP|TCPSSL" },
    { .name = "LoadBalancerIds.N", .items = 20 },
    CCM_NLB_PAGE_ROWS(100),
    { .name = "SecSensorEnabled", .type = CCM_CLOUD_ENUM, .values = "true|false" },
    CCM_NLB_TAG_ROWS,
    { 0 },
};

/* Only what is not well is listed; attribute Health (edit) as ccm_cloud_health_at(). */
static void health_write(struct ccm_jsonw *w, const struct ccm_nlb_group *group)
{
    const bool checked =
        !ccm_text_equal(ccm_cloud_attr(&group->obj, "HealthCheckEnabled"), "false");

    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_bool(w, "HeathCheckEnabled", checked);
    ccm_jsonw_str(w, "ServerGroupId", group->obj.id);
    ccm_jsonw_open(w, "NonNormalServers", '[');
    for (size_t i = 0; i < group->servers.len; i++) {
        char text[32];
        const char *health =
            checked ? ccm_cloud_health_at(&group->obj, i, text, sizeof(text)) : "Unavailable";

        if (health == NULL || ccm_text_equal(health, "Normal")) {
            continue;
        }
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_i64(w, "Port", group->servers.items[i].port);
        ccm_jsonw_str(w, "ServerId", group->servers.items[i].id);
        ccm_jsonw_str(w, "ServerIp", group->servers.items[i].ip);
        ccm_jsonw_str(w, "Status", health);
        ccm_jsonw_open(w, "Reason", '{');
        ccm_jsonw_str(w, "ReasonCode", "CONNECT_TIMEOUT");
        ccm_jsonw_close(w, '}');
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static int get_health(struct ccm_cloud_call *call)
{
    struct ccm_nlb_listener *listener = NULL;
    struct ccm_jsonw *w = call->out;
    const int r = ccm_nlb_listener_of(call, &listener);

    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(w, "ListenerHealthStatus", '[');
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "ListenerId", listener->obj.id);
    ccm_jsonw_i64(w, "ListenerPort", listener->range ? 0 : listener->first);
    ccm_jsonw_str(w, "ListenerProtocol", ccm_cloud_attr(&listener->obj, "ListenerProtocol"));
    ccm_jsonw_open(w, "ServerGroupInfos", '[');
    if (listener->group != NULL) {
        health_write(w, listener->group);
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
    ccm_jsonw_close(w, ']');
    ccm_jsonw_i64(w, "MaxResults", 20);
    ccm_jsonw_i64(w, "TotalCount", 1);
    return 0;
}

static const struct ccm_cloud_param health_params[] = {
    { .name = "ListenerId", .required = true },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_nlb_listener_read_actions[] = {
    { .name = "GetListenerHealthStatus",
      .params = health_params,
      .manner = &ccm_nlb_manner,
      .run = get_health },
    { .name = "GetListenerAttribute", .params = get_params, .manner = &ccm_nlb_manner, .run = get },
    { .name = "ListListeners", .params = list_params, .manner = &ccm_nlb_manner, .run = list },
    { 0 },
};
