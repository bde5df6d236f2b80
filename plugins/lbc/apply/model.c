#include "lbc/apply/model.h"

#include "lbc/model/annotation.h"
#include "lbc/model/owner.h"
#include "lbc/model/settings.h"
#include "lbc/rules/lb_attrs.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int lbc_model_init(struct lbc_model *model, const struct lbc_anno_table *table,
                   struct lbc_state *want, const struct lbc_model_input *in)
{
    const struct ccm_object *meta = &in->service->meta;
    const char *id = in->lb_id != NULL ? in->lb_id : lbc_setting_reused_id(table, in->service);
    struct lbc_lb *lb = lbc_state_lb(want);
    char name[LBC_OWNER_LB_NAME];

    model->want = want;
    model->reused = id[0] != '\0';
    model->override = ccm_text_equal(lbc_anno_get(meta, "force-override-listeners"), "true");
    model->preserve = lbc_setting_preserve(in->service);
    lbc_owner_lb_name(meta, name);
    if (lbc_text_set(&lb->id, id) < 0 ||
        lbc_lb_add_wishes(table, in->service, lb->texts, &model->explicit) < 0 ||
        (lb->texts[LBC_LB_NAME] == NULL && lbc_text_set(&lb->texts[LBC_LB_NAME], name) < 0)) {
        return -ENOMEM;
    }
    return lbc_lb_add_defaults(table, lb->texts) < 0 ||
                   lbc_setting_tags(in->service, model->reused, &lb->tags) < 0
               ? -ENOMEM
               : 0;
}

void lbc_model_keep_lb(struct lbc_model *model, unsigned compared)
{
    model->as_it_is = true;
    model->explicit &= compared;
    lbc_tags_fini(&lbc_state_lb(model->want)->tags);
}

void lbc_model_demand(struct lbc_model *model, unsigned attributes)
{
    model->explicit |= attributes & ~model->kept;
}

void lbc_model_fini(struct lbc_model *model)
{
    for (size_t i = 0; model->sets != NULL && i < model->want->group_count; i++) {
        lbc_candidates_fini(&model->sets[i]);
    }
    free(model->sets);
    lbc_node_table_fini(&model->nodes);
    if (model->want != NULL) {
        lbc_state_fini(model->want, model->type);
    }
    memset(model, 0, sizeof(*model));
}

/* --- ports and their groups --- */

void lbc_desired_port_fini(struct lbc_desired_port *want)
{
    free(want->name);
    want->name = NULL;
}

/* Nodes, and what stays as it is because of annotations that are refused. */
static int model_begin_nodes(struct lbc_builder *b, struct ccm_error *err)
{
    struct lbc_model *model = b->model;
    const struct lbc_refusals *refused = b->in->refused;
    const struct lbc_node_rules rules = {
        .any_id = b->ops->any_node,
        .drop_unschedulable = b->drop_unschedulable,
        .labels = lbc_anno_get(&b->in->service->meta, "backend-label"),
    };

    model->peer_weights = lbc_refusals_decide(refused, LBC_DECIDES_WEIGHTS);
    model->keep_weights = model->keep_weights || model->peer_weights;
    model->unsure = lbc_refusals_freeze(refused, b->mode == LBC_MODE_PODS);
    model->add_none = b->mode != LBC_MODE_PODS && lbc_refusals_has(refused, "backend-label");
    model->backends_only = b->in->lb_id != NULL;
    model->incomplete = model->unsure || model->backends_only;
    return lbc_node_table_init(&model->nodes, b->in->nodes, b->in->node_count, &rules) < 0
               ? ccm_error_nomem(err)
               : 0;
}

int lbc_model_build_lb(struct lbc_model *model, const struct lbc_model_ops *ops,
                       const struct lbc_model_input *in)
{
    memset(model, 0, ops->size);
    model->ops = ops;
    model->type = ops->type;
    model->allow = in->allow;
    return ops->lb(model, in);
}

static bool model_shows_pods(const struct lbc_group *shown)
{
    bool nodes = false;

    for (size_t i = 0; shown != NULL && i < shown->backends.len; i++) {
        nodes = nodes || shown->backends.items[i].type == LBC_BACKEND_INSTANCE;
    }
    return shown != NULL && shown->backends.len > 0 && !nodes;
}

/* A port without node port keeps the pods that serve it, whatever annotations say. */
static enum lbc_backend_mode model_find_mode(const struct lbc_builder *b,
                                             const struct ccm_service_port *port)
{
    struct ccm_error ignored = CCM_ERROR_INIT;

    return model_shows_pods(b->in->shown) && lbc_candidates_check_port(b->mode, port, &ignored) < 0
               ? LBC_MODE_PODS
               : b->mode;
}

int lbc_model_build(struct lbc_model *model, const struct lbc_model_ops *ops,
                    const struct lbc_model_input *in, struct lbc_problems *problems,
                    struct ccm_error *err)
{
    const struct ccm_service *service = in->service;
    struct lbc_builder b = { .ops = ops,
                             .model = model,
                             .in = in,
                             .problems = problems,
                             .mode = lbc_backend_mode(service, in->pods_by_default),
                             .families = LBC_IPV4 };
    int r = 0;

    if (lbc_model_build_lb(model, ops, in) < 0) {
        return ccm_error_nomem(err);
    }
    r = ops->begin == NULL ? 0 : ops->begin(&b, err);
    if (r == 0) {
        r = model_begin_nodes(&b, err);
    }
    for (uint64_t i = 0; r == 0 && i < service->port_count; i++) {
        CCM_CLEANUP(lbc_desired_port_fini)
        struct lbc_desired_port want = { .port = service->ports[i],
                                         .index = i,
                                         .protocol = LBC_OTHER,
                                         .mode = model_find_mode(&b, service->ports[i]) };

        r = ops->port(&b, &want, err);
    }
    return r < 0 || ops->end == NULL ? r : ops->end(&b, err);
}

void lbc_model_choose_group(const struct lbc_builder *b, struct lbc_desired_port *want)
{
    want->chosen[0] = '\0';
    if (b->model->reused) {
        lbc_setting_for_port(b->in->service, "vgroup-port", want->port->port, want->chosen);
    }
}

static struct lbc_group *model_find_group(const struct lbc_builder *b,
                                          const struct lbc_desired_port *want)
{
    for (size_t i = 0; i < b->model->want->group_count; i++) {
        struct lbc_group *one = b->model->want->groups[i];

        if (strcmp(one->name, want->name) == 0 &&
            strcmp(one->id == NULL ? "" : one->id, want->chosen) == 0) {
            return one;
        }
    }
    return NULL;
}

static int model_build_set(const struct lbc_builder *b, const struct lbc_desired_port *want,
                           struct lbc_candidates *set, struct ccm_error *err)
{
    const struct lbc_candidate_input input = {
        .service = b->in->service,
        .slices = b->in->slices,
        .slice_count = b->in->slice_count,
        .nodes = &b->model->nodes,
        .mode = want->mode,
        .families = b->families,
        .any_port = want->any_port,
        .by_address = b->by_address,
        .draining = b->draining,
        .pods_only = b->in->pods_only,
        .accepted = b->in->accepted,
        .judge = b->in->judge,
        .judge_self = b->in->judge_self,
        .weight = want->weight,
    };

    return b->ops->candidates == NULL ? lbc_candidates_build(&input, want->port, set, err)
                                      : b->ops->candidates(&input, want->port, set, err);
}

/* `set` moves in. */
static int model_new_group(struct lbc_builder *b, struct lbc_desired_port *want,
                           struct lbc_candidates *set)
{
    struct lbc_model *model = b->model;
    const size_t at = model->want->group_count;
    struct lbc_group *group = lbc_candidates_reserve(&model->sets, &model->set_cap, at + 1) < 0
                                  ? NULL
                                  : lbc_state_new_group(model->want, model->type);

    if (group == NULL) {
        return -ENOMEM;
    }
    model->sets[at] = *set;
    memset(set, 0, sizeof(*set));
    group->port = (uint16_t)want->port->port;
    group->protocol = want->protocol;
    group->frozen_by = model->sets[at].frozen_by;
    group->present_only = want->open || model->unsure || model->backends_only;
    want->group = group;
    return lbc_text_set(&group->id, want->chosen) < 0 || lbc_text_set(&group->name, want->name) < 0
               ? -ENOMEM
               : 0;
}

int lbc_model_group(struct lbc_builder *b, struct lbc_desired_port *want, bool *ret_fresh,
                    struct ccm_error *err)
{
    CCM_CLEANUP(lbc_candidates_fini) struct lbc_candidates set = { 0 };
    int r;

    if (want->mode != b->mode && lbc_candidates_check_port(b->mode, want->port, err) < 0) {
        lbc_model_report_port(b, want, err);
        want->open = want->broken = true;
    }
    want->group = model_find_group(b, want);
    *ret_fresh = want->group == NULL;
    if (!*ret_fresh) {
        /* One port that is sure of it is enough. */
        want->group->present_only = want->group->present_only &&
                                    (want->open || b->model->unsure || b->model->backends_only);
        return 0;
    }
    r = model_build_set(b, want, &set, err);
    if (r < 0) {
        return r;
    }
    return model_new_group(b, want, &set) < 0 ? ccm_error_nomem(err) : 0;
}

struct lbc_listener *lbc_model_listener(struct lbc_builder *b, const struct lbc_desired_port *want,
                                        char *description)
{
    struct lbc_listener *listener =
        description == NULL ? NULL : lbc_state_new_listener(b->model->want, b->model->type);

    if (listener == NULL) {
        free(description);
        return NULL;
    }
    listener->description = description;
    listener->protocol = want->protocol;
    listener->port = want->span.end == 0 ? (uint16_t)want->port->port : want->span.start;
    listener->last_port = want->span.end == 0 ? listener->port : want->span.end;
    listener->is_range = want->span.range;
    listener->broken = want->broken;
    listener->group = want->group;
    return lbc_model_add_attrs(b, LBC_ANNO_LISTENER, want->protocol, &listener->attrs,
                               &listener->lacks) < 0
               ? NULL
               : listener;
}

void lbc_model_report_port(const struct lbc_builder *b, const struct lbc_desired_port *want,
                           struct ccm_error *err)
{
    const char *other = b->other_protocol == NULL ? want->port->protocol : b->other_protocol;

    (void)ccm_error_wrap(err, 0, "port %lld/%s", (long long)want->port->port,
                         want->protocol == LBC_OTHER
                             ? other
                             : b->model->type->protocol_name(want->protocol)); /* sets the text */
    lbc_problems_add(b->problems, err, NULL);
    b->model->incomplete = true;
}

static void model_break_group(struct lbc_model *model, struct lbc_group *group)
{
    group->broken = true;
    model->incomplete = true;
    for (size_t i = 0; i < model->want->listener_count; i++) {
        if (model->want->listeners[i]->group == group) {
            model->want->listeners[i]->broken = true;
        }
    }
}

void lbc_model_check_groups(struct lbc_model *model, const struct lbc_state *have,
                            lbc_check_group_fn *check, struct lbc_problems *problems)
{
    for (size_t i = 0; i < model->want->group_count; i++) {
        struct lbc_group *group = model->want->groups[i];
        struct ccm_error err = CCM_ERROR_INIT;
        int r = 0;

        if (group->id == NULL) {
            continue;
        }
        r = lbc_allow_check_id(&model->allow, LBC_ALLOW_GROUP, group->id, strlen(group->id), &err);
        if (r == 0) {
            r = check(model, have, group, lbc_state_group_by_id(have, group->id), &err);
        }
        if (r < 0) {
            (void)ccm_error_wrap(&err, r, "port %u/%s", group->port,
                                 model->type->protocol_name(group->protocol)); /* returns r */
            model_break_group(model, group);
            lbc_problems_add(problems, &err, NULL);
        }
    }
}

int lbc_model_add_attrs(const struct lbc_builder *b, enum lbc_anno_group group,
                        enum lbc_protocol protocol, struct lbc_attrs *attrs, bool *ret_lacks)
{
    const struct lbc_attr_source source = { .table = b->ops->rules->annotations,
                                            .group = group,
                                            .protocol = protocol,
                                            .service = b->in->service,
                                            .refused = b->in->refused };

    return lbc_attrs_add_wishes(attrs, &source, ret_lacks);
}

bool lbc_model_has_listeners(const struct lbc_model *model)
{
    return !model->reused || model->override;
}

void lbc_model_finish(struct lbc_model *model, struct lbc_resolved *resolved)
{
    for (size_t i = 0; i < model->want->group_count; i++) {
        struct lbc_group *group = model->want->groups[i];

        group->backends = resolved[i].backends;
        memset(&resolved[i].backends, 0, sizeof(resolved[i].backends));
        group->add_only = resolved[i].doubtful;
    }
}
