#include "model.h"

#include "annotations.h"
#include "service/owner.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct builder {
    struct clb_model *model;
    const struct clb_model_input *in;
    struct ccm_problems *problems;
    enum ccm_backend_mode mode;
    uint32_t weight;
    size_t set_cap;
};

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

static int build_lb(struct clb_model *model, const struct ccm_service *service)
{
    const char *type = ccm_anno_get(&service->meta, "address-type");
    const char *name = ccm_anno_get(&service->meta, "name");
    const char *vswitch = ccm_anno_get(&service->meta, "vswitch-id");
    struct clb_lb *lb = &model->want.lb;
    char fallback[CCM_OWNER_LB_NAME];

    ccm_owner_lb_name(&service->meta, fallback);
    model->name_told = name[0] != '\0';
    model->address_type_told = type[0] != '\0';
    model->vswitch_told = vswitch[0] != '\0';
    model->keep_weights =
        ccm_text_equal_case(ccm_anno_get(&service->meta, "ignore-weight-update"), "on");
    if (clb_text_set(&lb->name, model->name_told ? name : fallback) < 0 ||
        clb_text_set(&lb->address_type, model->address_type_told ? type : "internet") < 0 ||
        clb_text_set(&lb->vswitch_id, vswitch) < 0) {
        return -ENOMEM;
    }
    return 0;
}

/* The group's part of its name: node port, or target port in ENI mode. */
static void group_port(const struct builder *b, const struct ccm_service_port *port, char *text,
                       size_t size)
{
    if (b->mode == CCM_MODE_ENI && port->target_port_name[0] != '\0') {
        ccm_text_copy(text, size, port->target_port_name);
        return;
    }
    const int64_t number = b->mode != CCM_MODE_ENI  ? port->node_port
                           : port->target_port != 0 ? port->target_port
                                                    : port->port;

    (void)snprintf(text, size, "%lld", (long long)number); /* fits */
}

static int report(const struct builder *b, const struct ccm_service_port *port,
                  enum clb_protocol protocol, struct ccm_error *err)
{
    (void)ccm_error_wrap(err, 0, "port %lld/%s", (long long)port->port,
                         clb_protocol_name(protocol)); /* sets the text only */
    ccm_problems_add(b->problems, err, NULL);
    b->model->incomplete = true;
    return 0;
}

/* Make room so that sets[i] exists for every group. */
static int grow_sets(struct builder *b)
{
    const size_t need = b->model->want.group_count + 1;

    if (need <= b->set_cap) {
        return 0;
    }
    const size_t cap = need * 2;
    struct ccm_candidates *sets = realloc(b->model->sets, cap * sizeof(*sets));

    if (sets == NULL) {
        return -ENOMEM;
    }
    memset(sets + b->set_cap, 0, (cap - b->set_cap) * sizeof(*sets));
    b->model->sets = sets;
    b->set_cap = cap;
    return 0;
}

static int new_group(struct builder *b, const char *name, const struct ccm_service_port *port,
                     enum clb_protocol protocol, struct ccm_candidates *set)
{
    if (grow_sets(b) < 0) {
        return -ENOMEM;
    }
    struct clb_group *group = clb_state_new_group(&b->model->want);

    if (group == NULL || clb_text_set(&group->name, name) < 0) {
        return -ENOMEM;
    }
    group->port = (uint16_t)port->port;
    group->protocol = protocol;
    group->hold = set->hold;
    b->model->sets[b->model->want.group_count - 1] = *set;
    memset(set, 0, sizeof(*set));
    return 0;
}

/* The group of a port, unless an earlier port has made it. -EINVAL: this port has a problem. */
static int build_group(struct builder *b, const char *name, const struct ccm_service_port *port,
                       enum clb_protocol protocol, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_candidates_fini) struct ccm_candidates set = { 0 };
    const struct ccm_candidate_input input = {
        .service = b->in->service,
        .slices = b->in->slices,
        .slice_count = b->in->slice_count,
        .nodes = &b->model->nodes,
        .mode = b->mode,
        .weight = { .each = b->weight },
    };

    if (clb_state_group_by_name(&b->model->want, name) != NULL) {
        return 0;
    }
    const int r = ccm_candidates_build(&input, port, &set, err);

    if (r < 0) {
        return r;
    }
    return new_group(b, name, port, protocol, &set) < 0 ? ccm_error_nomem(err) : 0;
}

static int set_attrs(const struct builder *b, struct clb_listener *listener)
{
    const char *scheduler = ccm_anno_get(&b->in->service->meta, "scheduler");
    const struct clb_field *bandwidth = clb_field_find("Bandwidth");
    int r = clb_attrs_set(&listener->attrs, clb_field_find("Scheduler"),
                          scheduler[0] == '\0' ? "rr" : scheduler, scheduler[0] != '\0');

    if (r == 0 && clb_field_applies(bandwidth, listener->protocol)) {
        r = clb_attrs_set(&listener->attrs, bandwidth, "-1", false);
    }
    return r;
}

static int build_listener(struct builder *b, const struct ccm_service_port *port,
                          enum clb_protocol protocol, const char *group_name, bool broken)
{
    CCM_CLEANUP(ccm_freep) char *description = NULL;
    struct clb_listener *listener = NULL;
    char number[24];

    (void)snprintf(number, sizeof(number), "%lld", (long long)port->port); /* fits */
    description = ccm_owner_format(number, &b->in->service->meta, b->in->cluster_id);
    listener = description == NULL ? NULL : clb_state_new_listener(&b->model->want);
    if (listener == NULL) {
        return -ENOMEM;
    }
    listener->port = (uint16_t)port->port;
    listener->protocol = protocol;
    listener->broken = broken;
    listener->description = CCM_STEAL(description);
    if (clb_text_set(&listener->group_name, group_name) < 0) {
        return -ENOMEM;
    }
    return set_attrs(b, listener);
}

static int check_port(const struct builder *b, const struct ccm_service_port *port,
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

static int build_port(struct builder *b, const struct ccm_service_port *port, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_freep) char *name = NULL;
    enum clb_protocol protocol = CLB_OTHER;
    char text[64];
    int r = clb_protocol_of(b->in->service, port, &protocol, err);

    if (r == 0) {
        r = check_port(b, port, protocol, err);
    }
    if (r < 0) {
        return report(b, port, protocol, err);
    }
    group_port(b, port, text, sizeof(text));
    name = ccm_owner_format(text, &b->in->service->meta, b->in->cluster_id);
    if (name == NULL) {
        return ccm_error_nomem(err);
    }
    r = build_group(b, name, port, protocol, err);
    if (r == -ENOMEM) {
        return r;
    }
    if (r < 0) {
        (void)report(b, port, protocol, err); /* always 0 */
    }
    return build_listener(b, port, protocol, name, r < 0) < 0 ? ccm_error_nomem(err) : 0;
}

/* Checked before; a text that is no number cannot get here. */
static uint32_t weight_of(const struct ccm_service *service)
{
    uint32_t weight = CCM_WEIGHT_DEFAULT;

    return ccm_parse_u32(ccm_anno_get(&service->meta, "default-weight"), 0, CCM_WEIGHT_MAX,
                         &weight) < 0
               ? CCM_WEIGHT_DEFAULT
               : weight;
}

int clb_model_begin(struct clb_model *model, const struct clb_model_input *in,
                    struct ccm_problems *problems, struct ccm_error *err)
{
    const struct ccm_node_rules rules = {
        .drop_unschedulable =
            ccm_text_equal(ccm_anno_get(&in->service->meta, "remove-unscheduled-backend"), "on"),
        .labels = ccm_anno_get(&in->service->meta, "backend-label"),
    };
    struct builder b = {
        .model = model,
        .in = in,
        .problems = problems,
        .mode = ccm_backend_mode(in->service, in->default_eni),
        .weight = weight_of(in->service),
    };

    memset(model, 0, sizeof(*model));
    if (build_lb(model, in->service) < 0 ||
        ccm_node_table_init(&model->nodes, in->nodes, in->node_count, &rules) < 0) {
        return ccm_error_nomem(err);
    }
    for (uint64_t i = 0; i < in->service->port_count; i++) {
        const int r = build_port(&b, in->service->ports[i], err);

        if (r < 0) {
            return r;
        }
    }
    return 0;
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
