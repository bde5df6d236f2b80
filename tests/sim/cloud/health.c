/* What health checks found: ccm_cloud_health_at() of attribute Health of a server group (edit),
 * else all is well. */
#include "health.h"

#include "families.h"
#include "lb.h"
#include "store.h"
#include "util/parse.h"
#include "util/text.h"
#include "vgroup.h"

#include <errno.h>

static const struct ccm_cloud_vgroup *group_of(const struct ccm_cloud_lb *lb,
                                               const struct ccm_cloud_listener *listener)
{
    const char *id = ccm_cloud_attr(&listener->obj, "VServerGroupId");

    for (size_t i = 0; i < lb->vgroups_len; i++) {
        if (ccm_text_equal(lb->vgroups[i]->obj.id, id)) {
            return lb->vgroups[i];
        }
    }
    return NULL;
}

const char *ccm_cloud_health_at(const struct ccm_cloud_obj *group, size_t i, char *ret, size_t size)
{
    const char *cursor = ccm_cloud_attr(group, "Health");
    const char *piece = NULL;
    size_t len = 0;

    if (ccm_text_empty(cursor)) {
        return NULL;
    }
    for (size_t at = 0; at <= i && ccm_parse_piece(&cursor, ',', &piece, &len); at++) {
        ccm_text_printf(ret, size, "%.*s", (int)len, piece);
    }
    return ret;
}

/* Where nothing is checked nobody knows. */
static const char *status_of(const struct ccm_cloud_listener *listener,
                             const struct ccm_cloud_vgroup *group, size_t i, char *text,
                             size_t size)
{
    const char *status = ccm_cloud_health_at(&group->obj, i, text, size);

    if (ccm_text_equal(ccm_cloud_attr(&listener->obj, "HealthCheck"), "off")) {
        return "unavailable";
    }
    return status == NULL ? "normal" : status;
}

static void listener_write(struct ccm_jsonw *w, const struct ccm_cloud_listener *listener,
                           const struct ccm_cloud_vgroup *group)
{
    char text[32];

    for (size_t i = 0; i < group->len; i++) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_i64(w, "ListenerPort", listener->port);
        ccm_jsonw_i64(w, "Port", group->backends[i].port);
        ccm_jsonw_str(w, "Protocol", listener->protocol);
        ccm_jsonw_str(w, "ServerHealthStatus", status_of(listener, group, i, text, sizeof(text)));
        ccm_jsonw_str(w, "ServerId", group->backends[i].server_id);
        ccm_jsonw_str(w, "ServerIp", group->backends[i].server_ip);
        ccm_jsonw_close(w, '}');
    }
}

static int health_describe_status(struct ccm_cloud_call *call)
{
    const int64_t port = ccm_cloud_int(call, "ListenerPort", 0);
    const char *protocol = ccm_cloud_text(call, "ListenerProtocol", NULL);
    struct ccm_cloud_lb *lb = NULL;
    const int r = ccm_cloud_lb_of(call, &lb);

    if (r < 0) {
        return r;
    }
    ccm_jsonw_open(call->out, "BackendServers", '{');
    ccm_jsonw_open(call->out, "BackendServer", '[');
    for (size_t i = 0; i < lb->listeners_len; i++) {
        const struct ccm_cloud_listener *listener = lb->listeners[i];
        const struct ccm_cloud_vgroup *group = group_of(lb, listener);

        if (group != NULL && (port == 0 || port == listener->port) &&
            (protocol == NULL || ccm_text_equal(protocol, listener->protocol))) {
            listener_write(call->out, listener, group);
        }
    }
    ccm_jsonw_close(call->out, ']');
    ccm_jsonw_close(call->out, '}');
    return 0;
}

static const struct ccm_cloud_param params[] = {
    { .name = "ListenerPort", .type = CCM_CLOUD_INT, .min = 1, .max = 65535 },
    { .name = "ListenerProtocol", .type = CCM_CLOUD_ENUM, .values = "tcp|udp|http|https" },
    { .name = "LoadBalancerId", .required = true },
    { 0 },
};

const struct ccm_cloud_action ccm_cloud_health_actions[] = {
    { .name = "DescribeHealthStatus", .params = params, .run = health_describe_status },
    { 0 },
};
