#include "model.h"

#include "annotations.h"
#include "lbc/model/lb_attrs.h"
#include "model_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void model_report_port(const struct nlb_builder *b, const struct nlb_desired_port *want,
                              struct ccm_error *err)
{
    const struct lbc_desired_port *port = &want->lbc;

    lbc_model_report_port(&b->lbc, port->port,
                          port->protocol == LBC_OTHER ? port->port->protocol
                                                      : lbc_protocol_name(port->protocol),
                          err);
}

/* What has to be known before there can be a listener at all. */
static int port_read_annotations(const struct nlb_builder *b, uint64_t index,
                                 struct nlb_desired_port *want, struct ccm_error *err)
{
    const struct ccm_service *service = b->lbc.in->service;
    int r = lbc_setting_protocol(service, want->lbc.port, &nlb_protocols, &want->lbc.protocol, err);

    if (r == 0 && b->lbc.mode != LBC_MODE_PODS &&
        lbc_anno_get(&service->meta, "listener-port-range")[0] != '\0') {
        r = ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                          "listener port range can only be used for eni backend type service");
    }
    r = r < 0 ? r : nlb_span_of(service, want->lbc.port, &want->span, err);
    lbc_model_choose_group(&b->lbc, &want->lbc);
    return r < 0 ? r : nlb_check_overlap(service, index, err);
}

static int add_listener(struct nlb_builder *b, const struct nlb_desired_port *want,
                        struct ccm_error *err)
{
    return nlb_model_listener(b->model, b->lbc.in, want) < 0 ? ccm_error_nomem(err) : 0;
}

/* An annotation that is refused leaves it open what the port is to be. It was told for all ports
 * at once. */
static bool port_is_open(const struct nlb_builder *b, const struct nlb_desired_port *want)
{
    const struct lbc_refusals *refused = b->lbc.in->refused;

    return lbc_refusals_has(refused, "protocol-port") ||
           lbc_refusals_has(refused, "listener-port-range") ||
           (lbc_refusals_has(refused, "vgroup-port") && want->lbc.chosen[0] == '\0');
}

/* The group of whatever listener serves the port now: one of these protocols. */
static int add_open_groups(struct nlb_builder *b, const struct nlb_desired_port *want,
                           struct ccm_error *err)
{
    int r = 0;

    for (unsigned i = 0; r != -ENOMEM && i < LBC_OTHER; i++) {
        struct nlb_desired_port one = *want;

        if ((NLB_PROTOCOLS >> i & 1U) == 0) {
            continue;
        }
        one.lbc.open = true;
        one.lbc.protocol = (enum lbc_protocol)i;
        r = nlb_model_group(b, &one, err);
        lbc_desired_port_fini(&one.lbc);
    }
    return r == -ENOMEM ? r : 0; /* what else is wrong with it, is for when it is known */
}

/* A broken listener keeps what serves the port today, whatever it is. */
static int port_give_up(struct nlb_builder *b, struct nlb_desired_port *want, struct ccm_error *err)
{
    const int64_t number = want->lbc.port->port;
    const bool open = port_is_open(b, want);

    b->model->lbc.incomplete = true;
    if (!open) {
        model_report_port(b, want, err);
    }
    if (number < 1 || number > UINT16_MAX) {
        return 0;
    }
    want->lbc.broken = true;
    want->lbc.chosen[0] = '\0';
    want->span = (struct nlb_span){ (uint16_t)number, (uint16_t)number, false };
    if (open && add_open_groups(b, want, err) < 0) {
        return -ENOMEM;
    }
    return add_listener(b, want, err);
}

/* Whether the group of the port may be one that an entry names which cannot be read. */
static bool is_unchosen(const struct nlb_builder *b, const struct nlb_desired_port *want)
{
    return b->model->lbc.reused && want->lbc.chosen[0] == '\0' &&
           lbc_refusals_has(b->lbc.in->refused, "vgroup-port");
}

static int build_port(struct nlb_builder *b, uint64_t index, struct nlb_desired_port *want,
                      struct ccm_error *err)
{
    int r = port_read_annotations(b, index, want, err);

    if (r < 0 || is_unchosen(b, want)) {
        return port_give_up(b, want, err);
    }
    r = nlb_model_group(b, want, err);
    if (r == -ENOMEM) {
        return r;
    }
    if (r < 0) {
        model_report_port(b, want, err);
        want->lbc.broken = true;
    }
    return add_listener(b, want, err);
}

static int model_build_security_group(struct nlb_model *model, const struct nlb_model_input *in,
                                      struct lbc_problems *problems, struct ccm_error *err)
{
    int r = 0;

    if (model->lbc.reused || in->lbc.service->source_range_count == 0 || model->keep_security) {
        return 0;
    }
    r = nlb_model_security_group(&model->want.security_group, in->lbc.service, in->lbc.cluster_id,
                                 err);
    if (r == -EINVAL) {
        nlb_security_group_fini(&model->want.security_group);
        lbc_problems_add(problems, err, NULL);
        model->keep_security = true;
        r = 0;
    }
    return r;
}

int nlb_model_begin(struct nlb_model *model, const struct nlb_model_input *in,
                    struct lbc_problems *problems, struct ccm_error *err)
{
    const struct ccm_object *meta = &in->lbc.service->meta;
    const struct lbc_node_rules rules = {
        .drop_unschedulable = lbc_anno_is_on(lbc_anno_get(meta, "remove-unscheduled-backend")),
        .labels = lbc_anno_get(meta, "backend-label"),
    };
    struct nlb_builder b = {
        .lbc = { .model = &model->lbc,
                 .in = &in->lbc,
                 .problems = problems,
                 .mode = lbc_backend_mode(in->lbc.service, in->lbc.pods_by_default),
                 .families = nlb_model_families(in->lbc.service),
                 .by_address = lbc_anno_says(meta, "server-group-type", "Ip"),
                 .draining = lbc_anno_is_on(lbc_anno_get(meta, "connection-drain")) },
        .model = model,
        .in = in,
    };

    memset(model, 0, sizeof(*model));
    if (nlb_model_lb(model, in->lbc.service, in->resource_group) < 0) {
        return ccm_error_nomem(err);
    }
    model->lbc.kept = lbc_lb_refused(&nlb_annotations, in->lbc.refused);
    model->keep_security = lbc_refusals_has(in->lbc.refused, "security-group-ids") ||
                           (lbc_refusals_has(in->lbc.refused, "ip-version") &&
                            in->lbc.service->source_range_count > 0);
    if (lbc_model_begin(&b.lbc, &rules, err) < 0 ||
        model_build_security_group(model, in, problems, err) < 0) {
        return -ENOMEM;
    }
    for (uint64_t i = 0; i < in->lbc.service->port_count; i++) {
        struct nlb_desired_port want = {
            .lbc = { .port = in->lbc.service->ports[i], .protocol = LBC_OTHER },
        };
        const int r = build_port(&b, i, &want, err);

        lbc_desired_port_fini(&want.lbc);
        if (r < 0) {
            return r;
        }
    }
    return 0;
}
