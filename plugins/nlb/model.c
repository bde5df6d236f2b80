#include "model.h"

#include "annotations.h"
#include "model_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void nlb_model_fini(struct nlb_model *model)
{
    for (size_t i = 0; model->sets != NULL && i < model->want.group_count; i++) {
        ccm_candidates_fini(&model->sets[i]);
    }
    free(model->sets);
    ccm_node_table_fini(&model->nodes);
    nlb_state_fini(&model->want);
    memset(model, 0, sizeof(*model));
}

bool nlb_model_has_listeners(const struct nlb_model *model)
{
    return !model->reused || model->override;
}

static int report(const struct nlb_builder *b, const struct nlb_want_port *want,
                  struct ccm_error *err)
{
    (void)ccm_error_wrap(err, 0, "port %lld/%s", (long long)want->port->port,
                         want->protocol == NLB_OTHER
                             ? want->port->protocol
                             : nlb_protocol_name(want->protocol)); /* sets the text only */
    ccm_problems_add(b->problems, err, NULL);
    b->model->incomplete = true;
    return 0;
}

/* What has to be known before there can be a listener at all. */
static int look_at_port(const struct nlb_builder *b, uint64_t index, struct nlb_want_port *want,
                        struct ccm_error *err)
{
    const struct ccm_service *service = b->in->service;
    int r = nlb_protocol_of(service, want->port, &want->protocol, err);

    if (r == 0 && b->mode != CCM_MODE_ENI &&
        ccm_anno_get(&service->meta, "listener-port-range")[0] != '\0') {
        r = ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                          "listener port range can only be used for eni backend type service");
    }
    r = r < 0 ? r : nlb_span_of(service, want->port, &want->span, err);
    nlb_chosen_group_of(service, want->port, want->chosen);
    return r < 0 ? r : nlb_check_overlap(service, index, err);
}

static int add_listener(struct nlb_builder *b, const struct nlb_want_port *want,
                        struct ccm_error *err)
{
    return nlb_model_listener(&b->model->want, b->in->service, b->in->cluster_id, want) < 0
               ? ccm_error_nomem(err)
               : 0;
}

/* A broken listener keeps what serves the port today, whatever it is. */
static int give_up(struct nlb_builder *b, struct nlb_want_port *want, struct ccm_error *err)
{
    const int64_t number = want->port->port;

    (void)report(b, want, err); /* always 0 */
    if (number < 1 || number > UINT16_MAX) {
        return 0;
    }
    want->broken = true;
    want->chosen[0] = '\0';
    want->span = (struct nlb_span){ (uint16_t)number, (uint16_t)number, false };
    return add_listener(b, want, err);
}

static int build_port(struct nlb_builder *b, uint64_t index, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *name = NULL;
    struct nlb_want_port want = { .port = b->in->service->ports[index], .protocol = NLB_OTHER };
    int r = look_at_port(b, index, &want, err);

    if (r < 0) {
        return give_up(b, &want, err);
    }
    name = nlb_model_group_name(b, &want);
    if (name == NULL) {
        return ccm_error_nomem(err);
    }
    want.group_name = name;
    r = nlb_model_group(b, &want, err);
    if (r == -ENOMEM) {
        return r;
    }
    if (r < 0) {
        (void)report(b, &want, err); /* always 0 */
        want.broken = true;
    }
    return add_listener(b, &want, err);
}

int nlb_model_begin(struct nlb_model *model, const struct nlb_model_input *in,
                    struct ccm_problems *problems, struct ccm_error *err)
{
    const struct ccm_object *meta = &in->service->meta;
    const struct ccm_node_rules rules = {
        .drop_unschedulable = ccm_anno_is_on(ccm_anno_get(meta, "remove-unscheduled-backend")),
        .labels = ccm_anno_get(meta, "backend-label"),
    };
    struct nlb_builder b = {
        .model = model,
        .in = in,
        .problems = problems,
        .mode = ccm_backend_mode(in->service, in->default_eni),
        .families = nlb_model_families(in->service),
    };

    memset(model, 0, sizeof(*model));
    if (nlb_model_lb(model, in->service, in->resource_group) < 0 ||
        ccm_node_table_init(&model->nodes, in->nodes, in->node_count, &rules) < 0) {
        return ccm_error_nomem(err);
    }
    for (uint64_t i = 0; i < in->service->port_count; i++) {
        const int r = build_port(&b, i, err);

        if (r < 0) {
            return r;
        }
    }
    if (model->reused || in->service->source_range_count == 0) {
        return 0;
    }
    return nlb_model_guard(&model->want.guard, in->service, in->cluster_id, err);
}

void nlb_model_finish(struct nlb_model *model, struct ccm_resolved *resolved)
{
    for (size_t i = 0; i < model->want.group_count; i++) {
        struct nlb_group *group = &model->want.groups[i];

        group->backends = resolved[i].backends;
        memset(&resolved[i].backends, 0, sizeof(resolved[i].backends));
        group->add_only = resolved[i].invalid.len > 0;
    }
}
