#include "model_listeners.h"

#include "annotation_text.h"
#include "annotations.h"
#include "lbc/model/annotation.h"
#include "lbc/model/owner.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>

/* What the cloud keeps at most; the API server's default is longer. */

const struct clb_check_field clb_node_check[] = {
    { "HealthCheckSwitch", "on", NULL },         { "HealthCheck", "on", "off" },
    { "HealthCheckType", "http", "tcp" },        { "HealthCheckURI", "/healthz", "/" },
    { "HealthCheckHttpCode", "http_2xx", NULL }, { NULL, NULL, NULL },
};

static int listener_set_attr(struct clb_listener *listener, const char *field, const char *value,
                             bool explicit)
{
    const struct lbc_anno *row = clb_field_find(field);

    return lbc_attr_applies(row, listener->lbc.protocol)
               ? lbc_attrs_set(&listener->lbc.attrs, row, value, explicit)
               : 0;
}

bool clb_listener_decides(const struct lbc_listener *want, const char *field)
{
    const struct lbc_attr *wish = lbc_attrs_find(&want->attrs, clb_field_find(field));

    return wish != NULL && (wish->explicit || wish->kept);
}

/* Unless an annotation says something about it. */
static int listener_offer_attr(struct clb_listener *listener, const char *field, const char *value)
{
    return clb_listener_decides(&listener->lbc, field)
               ? 0
               : listener_set_attr(listener, field, value, true);
}

/* kube-proxy answers there, for the whole node; only nodes with pods of the Service do well. Where
 * an annotation names the port, the whole check is as annotations say. */
static int set_node_check(struct clb_listener *listener, int64_t port)
{
    char text[24];
    int r = 0;

    if (listener->lbc.protocol == LBC_UDP || clb_listener_decides(&listener->lbc, CLB_CHECK_PORT)) {
        return 0;
    }
    for (const struct clb_check_field *one = clb_node_check; r == 0 && one->name != NULL; one++) {
        r = listener_offer_attr(listener, one->name, one->value);
    }
    ccm_text_printf(text, sizeof(text), "%" PRId64, port);
    return r < 0 ? r : listener_offer_attr(listener, CLB_CHECK_PORT, text);
}

bool clb_affinity_timeout(const struct ccm_service *service, char ret[static CLB_TIMEOUT_TEXT])
{
    const int64_t seconds = service->session_affinity_timeout_s;

    ccm_text_printf(ret, CLB_TIMEOUT_TEXT, "%" PRId64,
                    seconds < 1 || seconds > CLB_TIMEOUT_MAX ? CLB_TIMEOUT_MAX : seconds);
    return ccm_text_equal(service->session_affinity, "ClientIP");
}

static int set_extras(struct clb_listener *listener, const struct lbc_builder *b)
{
    const struct ccm_service *service = b->in->service;
    const unsigned extras = b->in->extras;
    char timeout[CLB_TIMEOUT_TEXT];
    int r = 0;

    if (clb_affinity_timeout(service, timeout) && (extras & CLB_EXTRA_AFFINITY) != 0) {
        r = listener_offer_attr(listener, "PersistenceTimeout", timeout);
    }
    if (r == 0 && (extras & CLB_EXTRA_HEALTH) != 0 && b->mode == LBC_MODE_LOCAL &&
        service->health_check_node_port > 0 &&
        ccm_text_equal(service->external_traffic_policy, "Local")) {
        r = set_node_check(listener, service->health_check_node_port);
    }
    if (r == 0 && (extras & CLB_EXTRA_RANGES) != 0 && lbc_setting_limits_sources(service)) {
        listener->lbc.ranges = true;
        r = listener_set_attr(listener, "AclStatus", "on", true);
        r = r < 0 ? r : listener_set_attr(listener, "AclType", "white", true);
    }
    return r;
}

static int set_lists(struct clb_listener *listener, const struct lbc_model_input *in,
                     struct ccm_error *err)
{
    const struct ccm_service *service = in->service;
    uint16_t target = 0;
    char text[24];
    int r = 0;

    if (listener->lbc.protocol == LBC_HTTPS) {
        listener->lbc.lacks =
            listener->lbc.lacks ||
            lbc_refusals_fails(in->refused, lbc_anno_find(&clb_annotations, "domain-extensions"));
        return clb_domains_of(service, &listener->domains, &listener->lbc.certs_known, err);
    }
    if (listener->lbc.protocol == LBC_HTTP && lbc_refusals_has(in->refused, "forward-port")) {
        listener->lbc.broken = true; /* whether it forwards cannot be changed in place */
        return 0;
    }
    if (listener->lbc.protocol == LBC_HTTP) {
        r = clb_forward_of(service, listener->lbc.port, &target, err);
    }
    if (r < 0 || target == 0) {
        return r;
    }
    ccm_text_printf(text, sizeof(text), "%u", target);
    return listener_set_attr(listener, "ListenerForward", "on", true) < 0 ||
                   listener_set_attr(listener, "ForwardPort", text, true) < 0
               ? ccm_error_nomem(err)
               : 0;
}

int clb_model_listener(struct lbc_builder *b, const struct lbc_desired_port *want,
                       struct ccm_error *err)
{
    struct clb_listener *listener = NULL;
    char number[24];

    ccm_text_printf(number, sizeof(number), "%lld", (long long)want->port->port);
    listener = (struct clb_listener *)lbc_model_listener(
        b, want, lbc_owner_format(number, &b->in->service->meta, b->in->cluster_id));
    if (listener == NULL || set_extras(listener, b) < 0) {
        return ccm_error_nomem(err);
    }
    const int r = set_lists(listener, b->in, err);

    listener->lbc.broken = listener->lbc.broken || r < 0;
    return r;
}

static int keep_acl_of(struct clb_listener *listener)
{
    static const char *const fields[] = { "AclStatus", "AclType", "AclId" };
    int r = 0;

    for (size_t i = 0; r == 0 && i < CCM_ARRAY_LEN(fields); i++) {
        r = lbc_attrs_keep(&listener->lbc.attrs, clb_field_find(fields[i]));
    }
    listener->lbc.ranges = false;
    listener->lbc.lacks = true; /* without it, it would let everybody in */
    return r;
}

int clb_model_keep_acl(struct clb_state *state)
{
    int r = 0;

    state->acl.known = false;
    state->acl.kept = true;
    for (size_t i = 0; r == 0 && i < state->lbc.listener_count; i++) {
        r = keep_acl_of(clb_listener_at(state, i));
    }
    return r;
}

static int acl_add_block(void *arg, const char *block, bool ipv6)
{
    struct clb_state *state = arg;

    (void)ipv6; /* one list is of one family */
    return lbc_texts_put(&state->acl.entries, block);
}

int clb_model_acl(struct clb_state *state, const struct ccm_service *service, unsigned extras,
                  struct ccm_error *err)
{
    const bool ipv6 = lbc_anno_says(&service->meta, "ip-version", "ipv6");
    char name[LBC_OWNER_LB_NAME];

    if ((extras & CLB_EXTRA_RANGES) == 0 || !lbc_setting_limits_sources(service)) {
        return 0;
    }
    if (lbc_anno_get(&service->meta, "acl-id")[0] != '\0' ||
        lbc_anno_get(&service->meta, "acl-status")[0] != '\0' ||
        lbc_anno_get(&service->meta, "acl-type")[0] != '\0') {
        return ccm_error_set(
            err, -EINVAL, CCM_ERROR_TERMINAL,
            "spec.loadBalancerSourceRanges and annotation " LBC_ANNO_PREFIX
            "acl-id cannot be combined: a listener has one kind of access control");
    }
    lbc_owner_lb_name(&service->meta, name);
    state->acl.known = true;
    state->acl.ipv6 = ipv6;
    if (lbc_text_set(&state->acl.name, name) < 0) {
        return ccm_error_nomem(err);
    }
    return lbc_setting_ranges(service, ipv6 ? LBC_IPV6 : LBC_IPV4, acl_add_block, state, err);
}
