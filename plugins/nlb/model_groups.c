/* Which groups of backends a Service wants. */
#include "annotations.h"
#include "lbc/model/settings.h"
#include "lbc/reuse.h"
#include "model_parts.h"
#include "nlb.h"
#include "owner_key.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- attributes --- */

static int group_set_attr(struct nlb_group *group, const char *field, const char *value)
{
    return lbc_attrs_set(&group->lbc.attrs, nlb_group_field(field), value, true);
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

enum lbc_families nlb_group_families(const struct nlb_group *group)
{
    const char *affinity =
        lbc_attrs_get(&group->lbc.attrs, nlb_group_field("IpVersionAffinityMode"));

    if (!ccm_text_equal_case(group->family, "dualstack")) {
        return LBC_IPV4;
    }
    return ccm_text_equal_case(affinity, "NonAffinity") ? LBC_IPV6 : LBC_DUAL_STACK;
}

/* What is NLB's own in a group that was just made. */
static int group_fill(const struct lbc_builder *b, const struct lbc_desired_port *want)
{
    struct nlb_group *group = (struct nlb_group *)want->group;
    const char *resource_group = lbc_state_lb(b->model->want)->texts[NLB_LB_GROUP];
    const struct nlb_group *shown = (const struct nlb_group *)b->in->shown;
    const enum lbc_families families = b->families;
    char type[16];
    int r = 0;

    group->any_port = want->any_port;
    lbc_anno_spell("Instance|Ip",
                   shown == NULL || shown->type == NULL
                       ? lbc_anno_get(&b->in->service->meta, "server-group-type")
                       : shown->type,
                   type, sizeof(type));
    if (lbc_text_set(&group->type, type) < 0 ||
        lbc_text_set(&group->family, families == LBC_IPV4 ? NULL : "dualstack") < 0) {
        return -ENOMEM;
    }
    if (group->any_port) {
        r = set_any_port(group, want->port);
    }
    if (r == 0 && families != LBC_IPV4) {
        r = group_set_attr(group, "IpVersionAffinityMode",
                           families == LBC_IPV6 ? "NonAffinity" : "Affinity");
    }
    if (r == 0 && resource_group != NULL) {
        r = group_set_attr(group, "ResourceGroupId", resource_group);
    }
    return r < 0
               ? r
               : lbc_model_add_attrs(b, LBC_ANNO_SERVERS, want->protocol, &group->lbc.attrs, NULL);
}

int nlb_model_group(struct lbc_builder *b, struct lbc_desired_port *want, struct ccm_error *err)
{
    char key[64];
    bool fresh = false;
    int r;

    if (want->span.range) {
        ccm_text_printf(key, sizeof(key), "%u_%u", want->span.start, want->span.end);
    } else { /* what the backends are reached at */
        lbc_candidates_target(want->mode, want->port, key, sizeof(key));
    }
    want->name = nlb_name_format(key, want->protocol, &b->in->service->meta, b->in->cluster_id,
                                 NLB_NAME_MAX);
    if (want->name == NULL) {
        return ccm_error_nomem(err);
    }
    want->any_port = want->span.range;
    want->weight = lbc_setting_weight(b->in->service, want->chosen[0] != '\0');
    r = lbc_model_group(b, want, &fresh, err);
    if (r == 0 && fresh && group_fill(b, want) < 0) {
        r = ccm_error_nomem(err);
    }
    return r;
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

int nlb_model_check_group(const struct lbc_model *model, const struct lbc_state *have,
                          const struct lbc_group *desired, const struct lbc_group *present,
                          struct ccm_error *err)
{
    const struct nlb_group *group = (const struct nlb_group *)desired;
    const struct nlb_group *found = (const struct nlb_group *)present;
    const char *want = group->type == NULL ? "Instance" : group->type;
    const char *lb_id = lbc_state_lb(have)->id;

    if (model->as_it_is) {
        return ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                             "server group %s stays as it is: " LBC_REUSE_CONFIGURE_REMEDY,
                             desired->id, lbc_names.tag_configure);
    }
    if (found == NULL) {
        return ccm_error_set(err, -ENOENT, CCM_ERROR_TERMINAL,
                             "cannot find server group id %s for nlb %s: reused server group id "
                             "%s not found",
                             desired->id, lb_id, desired->id);
    }
    if (nlb_name_is_key(present->name)) {
        return ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                             "cannot reuse a ccm created server group %s for nlb %s", desired->id,
                             lb_id);
    }
    if (found->users.len > 0 && !lbc_texts_has(&found->users, lb_id)) {
        return ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                             "server group %s belongs to load balancer %s and not to %s: choose "
                             "one of that load balancer, or one that none uses",
                             desired->id, found->users.items[0], lb_id);
    }
    if (found->type != NULL && !ccm_text_equal_case(found->type, want)) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "ServerGroupType of user managed server group %s should be [%s], but "
                             "[%s]",
                             desired->id, want, found->type);
    }
    return 0;
}
