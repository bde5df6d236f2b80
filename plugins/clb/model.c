#include "model.h"

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

void clb_model_fini(struct clb_model *model)
{
    lbc_model_fini(&model->lbc);
    clb_state_fini(&model->want);
    memset(model, 0, sizeof(*model));
}

static int model_report_port(const struct clb_builder *b, const struct ccm_service_port *port,
                             enum lbc_protocol protocol, struct ccm_error *err)
{
    (void)ccm_error_wrap(err, 0, "port %lld/%s", (long long)port->port,
                         lbc_protocol_lower(protocol)); /* sets the text only */
    lbc_problems_add(b->problems, err, NULL);
    b->model->lbc.incomplete = true;
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
 * at once. */
static bool port_is_open(const struct clb_builder *b, const struct ccm_service_port *port,
                         bool listener)
{
    return listener ? lbc_refusals_has(b->in->lbc.refused, "protocol-port")
                    : lbc_refusals_has(b->in->lbc.refused, "vgroup-port") &&
                          clb_model_is_unchosen(b, port);
}

/* *ret_open: its protocol cannot be told, so whatever listens there stays. */
static int find_protocol(const struct clb_builder *b, const struct ccm_service_port *port,
                         enum lbc_protocol *ret, bool *ret_open, struct ccm_error *err)
{
    int r = clb_protocol_of(b->in->lbc.service, port, ret, err);

    *ret_open = r == -EINVAL && port_is_open(b, port, true);
    if (*ret_open) {
        *ret = LBC_OTHER;
        b->model->lbc.incomplete = true;
        r = 0;
    }
    return r < 0 ? r : check_port(b, port, *ret, err);
}

/* Its group. *broken: in, its listener stays as it is; out, also when no group can be told. */
static int build_group(struct clb_builder *b, const char *name, const struct ccm_service_port *port,
                       enum lbc_protocol protocol, bool *broken, struct ccm_error *err)
{
    const bool open = *broken || port_is_open(b, port, false);
    const size_t before = b->model->want.lbc.group_count;
    int r = clb_model_group(b, name, port, protocol, err);

    if (r == 0) {
        struct lbc_group *group = lbc_state_group_by_name(&b->model->want.lbc, name);

        /* One port that is sure of it is enough. */
        group->present_only =
            open && (group->present_only || b->model->want.lbc.group_count > before);
    } else if (r != -ENOMEM) {
        *broken = true;
        r = model_report_port(b, port, protocol, err);
    }
    *broken = *broken || open;
    b->model->lbc.incomplete = b->model->lbc.incomplete || open;
    return r;
}

static int build_port(struct clb_builder *b, const struct ccm_service_port *port,
                      struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *name = NULL;
    enum lbc_protocol protocol = LBC_OTHER;
    bool broken = false;
    int r = find_protocol(b, port, &protocol, &broken, err);

    if (r < 0) {
        return model_report_port(b, port, protocol, err);
    }
    name = clb_model_group_name(b, port);
    if (name == NULL) {
        return ccm_error_nomem(err);
    }
    r = build_group(b, name, port, protocol, &broken, err);
    if (r < 0) {
        return r;
    }
    const struct clb_desired_listener want = {
        .service = b->in->lbc.service,
        .refused = b->in->lbc.refused,
        .cluster_id = b->in->lbc.cluster_id,
        .port = port,
        .protocol = protocol,
        .group_name = name,
        .extras = b->in->extras,
        .by_node = b->mode == LBC_MODE_LOCAL,
        .broken = broken,
    };

    r = clb_model_listener(&b->model->want, &want, err);
    return r == -EINVAL ? model_report_port(b, port, protocol, err) : r;
}

/* What stays as it is beside single attributes of listeners. */
static void keep_refused(struct clb_model *model, const struct clb_model_input *in)
{
    const struct lbc_refusals *refused = in->lbc.refused;
    model->keep_version = lbc_refusals_has(refused, "ip-version");
    model->keep_status = lbc_refusals_has(refused, "external-ip-type");
    model->lbc.peer_weights = lbc_refusals_decide(refused, LBC_DECIDES_WEIGHTS);
    model->lbc.keep_weights = model->lbc.keep_weights || model->lbc.peer_weights;
    model->lbc.keep_backends = lbc_refusals_freeze(
        refused, lbc_backend_mode(in->lbc.service, in->lbc.default_eni) == LBC_MODE_ENI);
    model->lbc.incomplete = model->lbc.keep_backends;
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
        .model = model,
        .in = in,
        .problems = problems,
        .mode = lbc_backend_mode(in->lbc.service, in->lbc.default_eni),
    };

    memset(model, 0, sizeof(*model));
    if (clb_model_lb(model, in->lbc.service) < 0 ||
        lbc_node_table_init(&model->lbc.nodes, in->lbc.nodes, in->lbc.node_count, &rules) < 0) {
        return ccm_error_nomem(err);
    }
    keep_refused(model, in);
    for (uint64_t i = 0; i < in->lbc.service->port_count; i++) {
        const int r = build_port(&b, in->lbc.service->ports[i], err);

        if (r < 0) {
            return r;
        }
    }
    return build_acl(model, in, problems, err);
}
