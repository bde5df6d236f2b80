#include "model_parts.h"

#include "lbc/model/annotation.h"
#include "lbc/model/owner.h"
#include "lbc/model/settings.h"
#include "lbc/reuse.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* --- groups that a person chose --- */

/* The id of annotation vgroup-port for this port; ret stays "" when there is none. The list was
 * checked before. */
static void chosen_group(const struct clb_builder *b, const struct ccm_service_port *port,
                         char ret[static LBC_PAIR_MAX])
{
    ret[0] = '\0';
    if (b->model->lbc.reused) {
        lbc_setting_for_port(b->in->lbc.service, "vgroup-port", port->port, ret);
    }
}

bool clb_model_is_unchosen(const struct clb_builder *b, const struct ccm_service_port *port)
{
    char chosen[LBC_PAIR_MAX];

    chosen_group(b, port, chosen);
    return b->model->lbc.reused && chosen[0] == '\0';
}

static char *key_of(const struct clb_builder *b, const struct ccm_service_port *port)
{
    char text[64];

    lbc_candidates_target(b->mode, port, text, sizeof(text));
    return lbc_owner_format(text, &b->in->lbc.service->meta, b->in->lbc.cluster_id);
}

/* Two ports with the same pods may have chosen two groups, so the choice is part of the name. */
char *clb_model_group_name(const struct clb_builder *b, const struct ccm_service_port *port)
{
    CCM_CLEANUP(ccm_freep) char *key = key_of(b, port);
    char chosen[LBC_PAIR_MAX];

    chosen_group(b, port, chosen);
    return key == NULL || chosen[0] == '\0' ? CCM_STEAL(key)
                                            : ccm_text_format("%s@%s", key, chosen);
}

/* --- building --- */

static struct lbc_group *new_group(struct clb_builder *b, const char *name,
                                   const struct ccm_service_port *port, enum lbc_protocol protocol,
                                   struct lbc_candidates *set)
{
    const size_t need = b->model->want.lbc.group_count + 1;
    struct lbc_group *group = lbc_candidates_reserve(&b->model->lbc.sets, &b->set_cap, need) < 0
                                  ? NULL
                                  : clb_state_new_group(&b->model->want);

    if (group == NULL || lbc_text_set(&group->name, name) < 0) {
        return NULL;
    }
    group->port = (uint16_t)port->port;
    group->protocol = protocol;
    group->frozen_by = set->frozen_by;
    b->model->lbc.sets[b->model->want.lbc.group_count - 1] = *set;
    memset(set, 0, sizeof(*set));
    return group;
}

int clb_model_group(struct clb_builder *b, const char *name, const struct ccm_service_port *port,
                    enum lbc_protocol protocol, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_candidates_fini) struct lbc_candidates set = { 0 };
    const struct lbc_candidate_input input = {
        .service = b->in->lbc.service,
        .slices = b->in->lbc.slices,
        .slice_count = b->in->lbc.slice_count,
        .nodes = &b->model->lbc.nodes,
        .mode = b->mode,
        .families = b->model->lbc.ipv6 ? LBC_IPV6 : LBC_IPV4,
        .accepted = b->in->lbc.accepted,
        .weight = b->model->weight,
    };
    char chosen[LBC_PAIR_MAX];
    int r;

    if (lbc_state_group_by_name(&b->model->want.lbc, name) != NULL) {
        return 0;
    }
    chosen_group(b, port, chosen);
    r = lbc_candidates_build(&input, port, &set, err);
    if (r < 0) {
        return r;
    }
    struct lbc_group *group = new_group(b, name, port, protocol, &set);

    if (group == NULL || lbc_text_set(&group->id, chosen) < 0) {
        return ccm_error_nomem(err);
    }
    if (chosen[0] != '\0') {
        group->key = key_of(b, port);
    }
    return chosen[0] != '\0' && group->key == NULL ? ccm_error_nomem(err) : 0;
}

/* --- after reading --- */

static void break_group(struct clb_model *model, struct lbc_group *group,
                        struct lbc_problems *problems, const struct ccm_error *err)
{
    group->broken = true;
    model->lbc.incomplete = true;
    for (size_t i = 0; i < model->want.lbc.listener_count; i++) {
        if (ccm_text_equal(clb_listener_at(&model->want, i)->lbc.group_name, group->name)) {
            clb_listener_at(&model->want, i)->lbc.broken = true;
        }
    }
    lbc_problems_add(problems, err, NULL);
}

/* 0, or what is wrong with a group that a person chose. */
static int check_chosen(const struct clb_model *model, const struct lbc_group *group,
                        const struct clb_state *have, struct ccm_error *err)
{
    const struct lbc_group *found = lbc_state_group_by_id(&have->lbc, group->id);
    int r =
        lbc_allow_check_id(&model->lbc.allow, LBC_ALLOW_GROUP, group->id, strlen(group->id), err);

    if (r < 0) {
        /* The text is there. */
    } else if (model->lbc.as_it_is) {
        r = ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                          "vgroup %s of slb %s stays as it is: " LBC_REUSE_CONFIGURE_REMEDY,
                          group->id, have->lb.id);
    } else if (found == NULL) {
        r = ccm_error_set(err, -ENOENT, CCM_ERROR_TERMINAL, "can not find vgroupId %s in lb %s",
                          group->id, have->lb.id);
    } else if (lbc_owner_is_key(found->name)) {
        r = ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                          "cannot reuse a ccm created vgroup %s for slb %s", group->id,
                          have->lb.id);
    }
    return r < 0 ? ccm_error_wrap(err, r, "port %u/%s", group->port,
                                  lbc_protocol_lower(group->protocol))
                 : 0;
}

void clb_model_check_groups(struct clb_model *model, const struct clb_state *have,
                            struct lbc_problems *problems)
{
    for (size_t i = 0; i < model->want.lbc.group_count; i++) {
        struct lbc_group *group = model->want.lbc.groups[i];
        struct ccm_error err = CCM_ERROR_INIT;

        if (group->id != NULL && check_chosen(model, group, have, &err) < 0) {
            break_group(model, group, problems, &err);
        }
    }
}
