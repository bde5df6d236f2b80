#include "model.h"

#include "annotations.h"
#include "model_listeners.h"
#include "model_parts.h"
#include "service/owner.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void clb_model_fini(struct clb_model *model)
{
    for (size_t i = 0; model->sets != NULL && i < model->want.group_count; i++) {
        ccm_candidates_fini(&model->sets[i]);
    }
    free(model->sets);
    ccm_node_table_fini(&model->nodes);
    clb_state_fini(&model->want);
    memset(model, 0, sizeof(*model));
}

static int report(const struct clb_builder *b, const struct ccm_service_port *port,
                  enum clb_protocol protocol, struct ccm_error *err)
{
    (void)ccm_error_wrap(err, 0, "port %lld/%s", (long long)port->port,
                         clb_protocol_name(protocol)); /* sets the text only */
    ccm_problems_add(b->problems, err, NULL);
    b->model->incomplete = true;
    return 0;
}

static int check_port(const struct clb_builder *b, const struct ccm_service_port *port,
                      enum clb_protocol protocol, struct ccm_error *err)
{
    if (port->port < 1 || port->port > UINT16_MAX) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL, "port out of range");
    }
    if (clb_state_listener(&b->model->want, (uint16_t)port->port, protocol) != NULL) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "two ports of the Service ask for the same listener");
    }
    return 0;
}

static int build_port(struct clb_builder *b, const struct ccm_service_port *port,
                      struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *name = NULL;
    enum clb_protocol protocol = CLB_OTHER;
    int r = clb_protocol_of(b->in->service, port, &protocol, err);

    if (r == 0) {
        r = check_port(b, port, protocol, err);
    }
    if (r < 0) {
        return report(b, port, protocol, err);
    }
    name = clb_model_group_name(b, port);
    if (name == NULL) {
        return ccm_error_nomem(err);
    }
    r = clb_model_group(b, name, port, protocol, err);
    if (r == -ENOMEM) {
        return r;
    }
    if (r < 0) {
        (void)report(b, port, protocol, err); /* always 0 */
    }
    const struct clb_want_listener want = {
        .service = b->in->service,
        .cluster_id = b->in->cluster_id,
        .port = port,
        .protocol = protocol,
        .group_name = name,
        .extras = b->in->extras,
        .by_node = b->mode == CCM_MODE_LOCAL,
        .broken = r < 0,
    };

    r = clb_model_listener(&b->model->want, &want, err);
    return r == -EINVAL ? report(b, port, protocol, err) : r;
}

int clb_model_begin(struct clb_model *model, const struct clb_model_input *in,
                    struct ccm_problems *problems, struct ccm_error *err)
{
    const struct ccm_node_rules rules = {
        .drop_unschedulable =
            ccm_text_equal(ccm_anno_get(&in->service->meta, "remove-unscheduled-backend"), "on"),
        .labels = ccm_anno_get(&in->service->meta, "backend-label"),
    };
    struct clb_builder b = {
        .model = model,
        .in = in,
        .problems = problems,
        .mode = ccm_backend_mode(in->service, in->default_eni),
    };

    memset(model, 0, sizeof(*model));
    if (clb_model_lb(model, in->service) < 0 ||
        ccm_node_table_init(&model->nodes, in->nodes, in->node_count, &rules) < 0) {
        return ccm_error_nomem(err);
    }
    for (uint64_t i = 0; i < in->service->port_count; i++) {
        const int r = build_port(&b, in->service->ports[i], err);

        if (r < 0) {
            return r;
        }
    }
    return clb_model_acl(&model->want, in->service, in->extras, err);
}

void clb_model_finish(struct clb_model *model, struct ccm_resolved *resolved)
{
    for (size_t i = 0; i < model->want.group_count; i++) {
        struct clb_group *group = &model->want.groups[i];

        group->backends = resolved[i].backends;
        memset(&resolved[i].backends, 0, sizeof(resolved[i].backends));
        group->add_only = resolved[i].invalid.len > 0;
    }
}
