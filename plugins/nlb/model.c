#include "model.h"

#include "annotations.h"
#include "lbc/rules/lb_attrs.h"
#include "lint.h"
#include "model_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The load balancer has listeners, but not that of this port: a later port may have the one that is
 * in its way. */
static bool port_is_late(const struct lbc_builder *b, const struct lbc_desired_port *want)
{
    const struct lbc_state *present = b->in->present;

    return present != NULL && present->listener_count > 0 &&
           lbc_state_listener_on(present, want->protocol, want->span.start, want->span.end) == NULL;
}

/* What has to be known before there can be a listener at all. */
static int port_read_annotations(const struct lbc_builder *b, struct lbc_desired_port *want,
                                 struct ccm_error *err)
{
    const struct ccm_service *service = b->in->service;
    int r = lbc_setting_protocol(service, want->port, &nlb_protocols, &want->protocol, err);

    if (r == 0 && b->mode != LBC_MODE_PODS &&
        lbc_anno_get(&service->meta, "listener-port-range")[0] != '\0') {
        r = ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                          "listener port range can only be used for eni backend type service: set "
                          "annotation " LBC_BACKEND_TYPE_KEY " to " LBC_BACKEND_TYPE_PODS);
    }
    r = r < 0 ? r : nlb_span_of(service, want->port, &want->span, err);
    lbc_model_choose_group(b, want);
    return r < 0
               ? r
               : nlb_check_overlap(service, want->index,
                                   port_is_late(b, want) ? service->port_count : want->index, err);
}

/* An annotation that is refused leaves it open what the port is to be. It was told for all ports
 * at once. */
static bool port_is_open(const struct lbc_builder *b, const struct lbc_desired_port *want)
{
    const struct lbc_refusals *refused = b->in->refused;

    return lbc_refusals_has(refused, "protocol-port") ||
           lbc_refusals_has(refused, "listener-port-range") ||
           (lbc_refusals_has(refused, "vgroup-port") && want->chosen[0] == '\0');
}

/* The ports of the present listener: a range only where it has one, and then with pods. */
static void port_find_span(const struct lbc_builder *b, struct lbc_desired_port *want)
{
    struct ccm_error ignored = CCM_ERROR_INIT;
    struct lbc_span span = { 0, 0, false };
    const uint16_t number = (uint16_t)want->port->port;

    want->span = (struct lbc_span){ number, number, false };
    if (b->in->present != NULL && nlb_span_of(b->in->service, want->port, &span, &ignored) == 0 &&
        span.range &&
        lbc_state_listener_on(b->in->present, want->protocol, span.start, span.end) != NULL) {
        want->span = span;
        want->mode = LBC_MODE_PODS;
    }
}

/* The group that serves the port now, as lbc_plan_follow() finds out. */
static int port_add_present(struct lbc_builder *b, struct lbc_desired_port *want)
{
    struct ccm_error ignored =
        CCM_ERROR_INIT; /* other faults are reported once the port is known */
    struct lbc_desired_port one = *want;

    if (one.protocol == LBC_OTHER) {
        one.protocol = lbc_protocol_parse(one.port->protocol, NLB_PROTOCOLS);
    }
    const int r = nlb_model_group(b, &one, &ignored);

    want->group = one.group;
    lbc_desired_port_fini(&one);
    return r == -ENOMEM ? r : 0;
}

/* A broken listener keeps what serves the port today, whatever it is. */
static int port_give_up(struct lbc_builder *b, struct lbc_desired_port *want, struct ccm_error *err)
{
    b->model->incomplete = true;
    if (!port_is_open(b, want)) {
        lbc_model_report_port(b, want, err);
    }
    if (want->port->port < 1 || want->port->port > UINT16_MAX) {
        return 0;
    }
    want->open = true;
    want->broken = true;
    want->chosen[0] = '\0';
    port_find_span(b, want);
    return port_add_present(b, want) < 0 ? ccm_error_nomem(err) : nlb_model_listener(b, want, err);
}

/* Whether the group of the port may be one that an entry names which cannot be read. */
static bool is_unchosen(const struct lbc_builder *b, const struct lbc_desired_port *want)
{
    return b->model->reused && want->chosen[0] == '\0' &&
           lbc_refusals_has(b->in->refused, "vgroup-port");
}

static int build_port(struct lbc_builder *b, struct lbc_desired_port *want, struct ccm_error *err)
{
    int r = port_read_annotations(b, want, err);

    if (r < 0 || is_unchosen(b, want)) {
        return port_give_up(b, want, err);
    }
    r = nlb_model_group(b, want, err);
    if (r == -ENOMEM) {
        return r;
    }
    if (r < 0) {
        lbc_model_report_port(b, want, err);
        want->broken = true;
    }
    return nlb_model_listener(b, want, err);
}

static int model_build_security_group(struct nlb_model *model, const struct lbc_builder *b,
                                      struct ccm_error *err)
{
    const struct ccm_service *service = b->in->service;
    int r = 0;

    if (model->lbc.reused || service->source_range_count == 0 || model->keep_security) {
        return 0;
    }
    r = nlb_model_security_group(&model->want.security_group, service, b->in->cluster_id, err);
    if (r == -EINVAL) {
        nlb_security_group_fini(&model->want.security_group);
        lbc_problems_add(b->problems, err, NULL);
        model->keep_security = true;
        r = 0;
    }
    return r;
}

static int begin_ports(struct lbc_builder *b, struct ccm_error *err)
{
    const struct ccm_service *service = b->in->service;
    const struct ccm_object *meta = &service->meta;
    const struct lbc_refusals *refused = b->in->refused;
    struct nlb_model *model = (struct nlb_model *)b->model;
    const struct nlb_group *shown = (const struct nlb_group *)b->in->shown;

    b->families = shown == NULL ? nlb_model_families(service) : nlb_group_families(shown);
    b->by_address = shown == NULL ? lbc_anno_says(meta, "server-group-type", "Ip")
                                  : ccm_text_equal_case(shown->type, "Ip");
    b->draining = lbc_anno_is_on(lbc_anno_get(meta, "connection-drain"));
    b->drop_unschedulable = lbc_anno_is_on(lbc_anno_get(meta, "remove-unscheduled-backend"));
    b->model->kept = lbc_lb_refused(&nlb_annotations, refused);
    model->keep_security =
        lbc_refusals_has(refused, "security-group-ids") ||
        (lbc_refusals_has(refused, "ip-version") && service->source_range_count > 0);
    return model_build_security_group(model, b, err);
}

/* --- somebody else's load balancer --- */

static const struct lbc_fixed_attr fixed_attrs[] = { { "address type", NLB_LB_ADDRESS_TYPE },
                                                     { "IPv6 address type", NLB_LB_IPV6_TYPE },
                                                     { NULL, 0 } };

/* Instances and interfaces are reached within their VPC only, addresses beyond it as well. */
static const char *lb_vpc_remedy(const struct lbc_model *model, const struct lbc_lb *lb)
{
    (void)lb; /* wherever it is reached from */
    for (size_t i = 0; i < model->want->group_count; i++) {
        const char *type = ((const struct nlb_group *)model->want->groups[i])->type;

        if (type == NULL || !ccm_text_equal_case(type, "Ip")) { /* NULL: Instance */
            return "only backends by address reach another VPC; set annotation server-group-type "
                   "to "
                   "Ip, or name another load balancer";
        }
    }
    return NULL;
}

const struct lbc_model_ops nlb_model_ops = {
    .size = sizeof(struct nlb_model),
    .type = &nlb_state_type,
    .rules = &nlb_rules,
    .lb = nlb_model_lb,
    .begin = begin_ports,
    .port = build_port,
    .check_group = nlb_model_check_group,
    .fixed = fixed_attrs,
    .vpc_remedy = lb_vpc_remedy,
};
