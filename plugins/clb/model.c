#include "model.h"

#include "annotation_text.h"
#include "annotations.h"
#include "lbc/model/owner.h"
#include "model_listeners.h"
#include "model_parts.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int model_report_port(const struct clb_builder *b, const struct lbc_desired_port *want,
                             struct ccm_error *err)
{
    lbc_model_report_port(&b->lbc, want->port, lbc_protocol_lower(want->protocol), err);
    return 0;
}

static int check_port(const struct clb_builder *b, const struct ccm_service_port *port,
                      enum lbc_protocol protocol, struct ccm_error *err)
{
    if (port->port < 1 || port->port > UINT16_MAX) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "port out of range");
    }
    if (protocol != LBC_OTHER &&
        clb_state_listener(&b->model->want, (uint16_t)port->port, protocol) != NULL) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "two ports of the Service ask for the same listener");
    }
    return 0;
}

/* An annotation that is refused leaves it open what the port is to be. It was told for all ports
 * at once. Then whatever listens there stays. */
static int find_protocol(const struct clb_builder *b, struct lbc_desired_port *want,
                         struct ccm_error *err)
{
    int r =
        lbc_setting_protocol(b->lbc.in->service, want->port, &clb_protocols, &want->protocol, err);

    want->open = r == -EINVAL && lbc_refusals_has(b->lbc.in->refused, "protocol-port");
    if (want->open) {
        want->protocol = LBC_OTHER;
        r = 0;
    }
    return r < 0 ? r : check_port(b, want->port, want->protocol, err);
}

static int build_group(struct clb_builder *b, struct lbc_desired_port *want, struct ccm_error *err)
{
    int r;

    lbc_model_choose_group(&b->lbc, want);
    want->open = want->open || (lbc_refusals_has(b->lbc.in->refused, "vgroup-port") &&
                                b->model->lbc.reused && want->chosen[0] == '\0');
    r = clb_model_group(b, want, err);
    want->broken = want->open || r < 0;
    b->model->lbc.incomplete = b->model->lbc.incomplete || want->open;
    return r < 0 && r != -ENOMEM ? model_report_port(b, want, err) : r;
}

static int build_port(struct clb_builder *b, const struct ccm_service_port *port,
                      struct ccm_error *err)
{
    CCM_CLEANUP(lbc_desired_port_fini)
    struct lbc_desired_port want = {
        .port = port,
        .protocol = LBC_OTHER,
        .weight = b->model->weight,
    };
    int r = find_protocol(b, &want, err);

    if (r < 0) {
        return model_report_port(b, &want, err);
    }
    r = build_group(b, &want, err);
    if (r < 0) {
        return r;
    }
    const struct clb_desired_listener listener = {
        .in = b->lbc.in,
        .port = port,
        .protocol = want.protocol,
        .group = want.group,
        .extras = b->in->extras,
        .by_node = b->lbc.mode == LBC_MODE_LOCAL,
        .broken = want.broken,
    };

    r = clb_model_listener(&b->model->want, &listener, err);
    return r == -EINVAL ? model_report_port(b, &want, err) : r;
}

static int build_acl(struct clb_model *model, const struct clb_model_input *in,
                     struct lbc_problems *problems, struct ccm_error *err)
{
    static const char *const suffixes[] = { "acl-status", "acl-id", "acl-type" };
    bool kept = false;
    int r = 0;

    for (size_t i = 0; i < CCM_ARRAY_LEN(suffixes); i++) {
        kept = kept || lbc_refusals_has(in->lbc.refused, suffixes[i]);
    }
    r = kept ? -EINVAL : clb_model_acl(&model->want, in->lbc.service, in->extras, err);
    if (r != -EINVAL) {
        return r;
    }
    if (!kept) {
        lbc_problems_add(problems, err, NULL);
    }
    return clb_model_keep_acl(&model->want) < 0 ? ccm_error_nomem(err) : 0;
}

int clb_model_begin(struct clb_model *model, const struct clb_model_input *in,
                    struct lbc_problems *problems, struct ccm_error *err)
{
    const struct lbc_node_rules rules = {
        .drop_unschedulable = ccm_text_equal(
            lbc_anno_get(&in->lbc.service->meta, "remove-unscheduled-backend"), "on"),
        .labels = lbc_anno_get(&in->lbc.service->meta, "backend-label"),
    };
    struct clb_builder b = {
        .lbc = { .model = &model->lbc,
                 .in = &in->lbc,
                 .problems = problems,
                 .mode = lbc_backend_mode(in->lbc.service, in->lbc.pods_by_default) },
        .model = model,
        .in = in,
    };

    memset(model, 0, sizeof(*model));
    if (clb_model_lb(model, in->lbc.service) < 0) {
        return ccm_error_nomem(err);
    }
    b.lbc.families = model->lbc.ipv6 ? LBC_IPV6 : LBC_IPV4;
    model->keep_version = lbc_refusals_has(in->lbc.refused, "ip-version");
    model->keep_status = lbc_refusals_has(in->lbc.refused, "external-ip-type");
    if (lbc_model_begin(&b.lbc, &rules, err) < 0) {
        return -ENOMEM;
    }
    for (uint64_t i = 0; i < in->lbc.service->port_count; i++) {
        const int r = build_port(&b, in->lbc.service->ports[i], err);

        if (r < 0) {
            return r;
        }
    }
    return build_acl(model, in, problems, err);
}
