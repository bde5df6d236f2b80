#include "annotations.h"
#include "lbc/model/settings.h"
#include "lbc/reuse.h"
#include "model_parts.h"
#include "names.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *group_type_asked(const struct nlb_builder *b)
{
    return lbc_anno_get(&b->in->lbc.service->meta, "server-group-type");
}

static bool is_by_address(const struct nlb_builder *b)
{
    return ccm_text_equal_case(group_type_asked(b), "Ip");
}

/* --- names --- */

/* A range, or what the backends are reached at. */
static void key_of(const struct nlb_builder *b, const struct nlb_desired_port *want, char *ret,
                   size_t size)
{
    if (want->span.range) {
        ccm_text_printf(ret, size, "%u_%u", want->span.start, want->span.end);
        return;
    }
    lbc_candidates_target(b->mode, want->port, ret, size);
}

char *nlb_model_group_name(const struct nlb_builder *b, const struct nlb_desired_port *want)
{
    char key[64];

    key_of(b, want, key, sizeof(key));
    return nlb_name_format(key, want->protocol, &b->in->lbc.service->meta, b->in->lbc.cluster_id,
                           NLB_NAME_MAX);
}

/* --- attributes --- */

static int group_set_attr(struct nlb_group *group, const char *field, const char *value)
{
    return lbc_attrs_set(&group->lbc.attrs, nlb_group_field(field), value, true);
}

/* Whether a row counts, given the others. */
static bool is_asked(const struct ccm_object *meta, const struct lbc_field *field)
{
    if (strcmp(field->name, "ConnectionDrainTimeout") == 0) {
        return lbc_anno_get(meta, "connection-drain")[0] != '\0';
    }
    return (field->flags & NLB_FIELD_HEALTH) == 0 ||
           strcmp(field->name, "HealthCheckEnabled") == 0 ||
           lbc_anno_is_on(lbc_anno_get(meta, "health-check-flag"));
}

static int group_set_annotations(struct nlb_group *group, const struct nlb_model_input *in)
{
    const struct ccm_object *meta = &in->lbc.service->meta;
    int r = 0;

    for (size_t i = 0; r == 0 && i < nlb_annotations.count; i++) {
        const struct lbc_anno *row = &nlb_annotations.rows[i];
        const char *value = lbc_anno_value(meta, row);
        const struct lbc_field *field = row->group == LBC_ANNO_SERVERS && row->field != NULL
                                            ? nlb_group_field(row->field)
                                            : NULL;

        if (field != NULL && !nlb_model_keep(&group->lbc.attrs, field, in->lbc.refused, row, &r) &&
            value[0] != '\0' && is_asked(meta, field)) {
            r = nlb_model_set(&group->lbc.attrs, field, row, value);
        }
    }
    return r;
}

/* A group for all ports cannot do without a check, and has no port of its own to be checked. */
static int set_any_port(struct nlb_group *group, const struct ccm_service_port *port)
{
    char text[24];
    int r = group_set_attr(group, "HealthCheckEnabled", "true");

    if (r == 0 && port->target_port_name[0] == '\0' && port->target_port != 0) {
        ccm_text_printf(text, sizeof(text), "%" PRId64, port->target_port);
        r = group_set_attr(group, "HealthCheckConnectPort", text);
    }
    return r;
}

static int set_attributes(const struct nlb_builder *b, struct nlb_group *group,
                          const struct nlb_desired_port *want)
{
    const char *resource_group = b->model->want.lb.fields[NLB_LB_GROUP];
    int r = group->any_port ? set_any_port(group, want->port) : 0;

    if (r == 0 && b->families != LBC_IPV4) {
        r = group_set_attr(group, "IpVersionAffinityMode",
                           b->families == LBC_IPV6 ? "NonAffinity" : "Affinity");
    }
    if (r == 0 && resource_group != NULL) {
        r = group_set_attr(group, "ResourceGroupId", resource_group);
    }
    return r < 0 ? r : group_set_annotations(group, b->in);
}

/* --- building --- */

static int new_group(struct nlb_builder *b, const struct nlb_desired_port *want,
                     struct lbc_candidates *set)
{
    const size_t need = b->model->want.lbc.group_count + 1;
    struct nlb_group *group = lbc_candidates_reserve(&b->model->lbc.sets, &b->set_cap, need) < 0
                                  ? NULL
                                  : nlb_state_new_group(&b->model->want);
    char type[16];

    if (group == NULL) {
        return -ENOMEM;
    }
    b->model->lbc.sets[b->model->want.lbc.group_count - 1] = *set;
    memset(set, 0, sizeof(*set));
    group->lbc.port = (uint16_t)want->port->port;
    group->lbc.protocol = want->protocol;
    group->any_port = want->span.range;
    group->lbc.present_only = want->open;
    group->lbc.frozen_by = b->model->lbc.sets[b->model->want.lbc.group_count - 1].frozen_by;
    lbc_anno_spell("Instance|Ip", group_type_asked(b), type, sizeof(type));
    return lbc_text_set(&group->lbc.id, want->chosen) < 0 ||
                   lbc_text_set(&group->lbc.name, want->group_name) < 0 ||
                   lbc_text_set(&group->type, type) < 0 ||
                   lbc_text_set(&group->family, b->families == LBC_IPV4 ? NULL : "dualstack") < 0 ||
                   set_attributes(b, group, want) < 0
               ? -ENOMEM
               : 0;
}

/* Ports share a group when it is called the same, and is ours or the same one that a person chose.
 */
static bool is_made(const struct nlb_builder *b, const struct nlb_desired_port *want)
{
    for (size_t i = 0; i < b->model->want.lbc.group_count; i++) {
        struct nlb_group *one = nlb_group_at(&b->model->want, i);

        if (strcmp(one->lbc.name, want->group_name) == 0 &&
            strcmp(one->lbc.id == NULL ? "" : one->lbc.id, want->chosen) == 0) {
            one->lbc.present_only =
                one->lbc.present_only && want->open; /* one that is sure is enough */
            return true;
        }
    }
    return false;
}

static int build_set(const struct nlb_builder *b, const struct nlb_desired_port *want,
                     struct lbc_candidates *set, struct ccm_error *err)
{
    const struct lbc_candidate_input input = {
        .service = b->in->lbc.service,
        .slices = b->in->lbc.slices,
        .slice_count = b->in->lbc.slice_count,
        .nodes = &b->model->lbc.nodes,
        .mode = b->mode,
        .families = b->families,
        .any_port = want->span.range,
        .by_address = is_by_address(b),
        .draining = b->model->drain,
        .accepted = b->in->lbc.accepted,
        .weight = lbc_setting_weight(b->in->lbc.service, want->chosen[0] != '\0'),
    };

    return lbc_candidates_build(&input, want->port, set, err);
}

int nlb_model_group(struct nlb_builder *b, const struct nlb_desired_port *want,
                    struct ccm_error *err)
{
    CCM_CLEANUP(lbc_candidates_fini) struct lbc_candidates set = { 0 };
    int r;

    if (is_made(b, want)) {
        return 0;
    }
    r = build_set(b, want, &set, err);
    if (r < 0) {
        return r;
    }
    return new_group(b, want, &set) < 0 ? ccm_error_nomem(err) : 0;
}

int nlb_model_chosen(struct nlb_model *model, const struct ccm_service *service)
{
    const char *cursor = lbc_anno_get(&service->meta, "vgroup-port");
    struct lbc_setting_pair pair;

    while (lbc_setting_next_pair(&cursor, &pair)) {
        if (!pair.good || nlb_state_group_by_id(&model->want, pair.left) != NULL) {
            continue;
        }
        struct nlb_group *group = nlb_state_new_group(&model->want);

        if (group == NULL || lbc_text_set(&group->lbc.id, pair.left) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* --- after reading --- */

static void break_group(struct nlb_model *model, struct nlb_group *group,
                        struct lbc_problems *problems, const struct ccm_error *err)
{
    group->lbc.broken = true;
    model->lbc.incomplete = true;
    for (size_t i = 0; i < model->want.lbc.listener_count; i++) {
        if (ccm_text_equal(nlb_listener_at(&model->want, i)->lbc.group_id, group->lbc.id)) {
            nlb_listener_at(&model->want, i)->lbc.broken = true;
        }
    }
    lbc_problems_add(problems, err, NULL);
}

/* 0, or what is wrong with a group that a person chose. */
static int check_chosen(const struct nlb_model *model, const struct nlb_group *group,
                        const struct nlb_group *found, const char *lb_id, struct ccm_error *err)
{
    const char *want = group->type == NULL ? "Instance" : group->type;
    int r = lbc_allow_check_id(&model->lbc.allow, LBC_ALLOW_GROUP, group->lbc.id,
                               strlen(group->lbc.id), err);

    if (r < 0) {
        /* The text is there. */
    } else if (model->lbc.as_it_is) {
        r = ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                          "server group %s stays as it is: " LBC_REUSE_CONFIGURE_REMEDY,
                          group->lbc.id);
    } else if (found == NULL) {
        r = ccm_error_set(err, -ENOENT, CCM_ERROR_TERMINAL,
                          "cannot find server group id %s for nlb %s: reused server group id %s "
                          "not found",
                          group->lbc.id, lb_id, group->lbc.id);
    } else if (nlb_name_is_key(found->lbc.name)) {
        r = ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                          "cannot reuse a ccm created server group %s for nlb %s", group->lbc.id,
                          lb_id);
    } else if (found->users.len > 0 && !lbc_texts_has(&found->users, lb_id)) {
        r = ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                          "server group %s belongs to load balancer %s and not to %s: choose one "
                          "of that load balancer, or one that none uses",
                          group->lbc.id, found->users.items[0], lb_id);
    } else if (found->type != NULL && !ccm_text_equal_case(found->type, want)) {
        r = ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                          "ServerGroupType of user managed server group %s should be [%s], but "
                          "[%s]",
                          group->lbc.id, want, found->type);
    }
    return r < 0 ? ccm_error_wrap(err, r, "port %u/%s", group->lbc.port,
                                  lbc_protocol_name(group->lbc.protocol))
                 : 0;
}

void nlb_model_check_groups(struct nlb_model *model, const struct nlb_state *have,
                            struct lbc_problems *problems)
{
    for (size_t i = 0; i < model->want.lbc.group_count; i++) {
        struct nlb_group *group = nlb_group_at(&model->want, i);
        struct ccm_error err = CCM_ERROR_INIT;

        if (group->lbc.id != NULL &&
            check_chosen(model, group, nlb_state_group_by_id(have, group->lbc.id), have->lb.id,
                         &err) < 0) {
            break_group(model, group, problems, &err);
        }
    }
}
