/* What the cloud holds for all Services, read at once: see nlb_inventory_ops. */
#include "api.h"
#include "lbc/pass.h"
#include "nlb.h"
#include "owner_key.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* What is read into the states of the items. */
struct reading {
    struct lbc_survey *items;
    struct ccm_strmap *groups; /* id -> struct lbc_group, not owned */
};

static int inventory_add_listener(void *arg, const cJSON *json, struct ccm_error *err)
{
    const struct reading *reading = arg;
    struct lbc_state *state =
        lbc_survey_find(reading->items, ccm_json_text(json, "LoadBalancerId"));

    return state == NULL ||
                   lbc_state_listener_by_id(state, ccm_json_text(json, "ListenerId")) != NULL
               ? 0
               : alilb_add_listener(&nlb_source, json, state, err);
}

static int inventory_add_group(void *arg, const cJSON *json, struct ccm_error *err)
{
    const struct reading *reading = arg;
    CCM_CLEANUP(nlb_group_fini) struct nlb_group group = { 0 };
    struct nlb_group *kept = NULL;
    struct lbc_state *state = NULL;
    const int r = nlb_read_parse_group(json, &group);

    if (r < 0) {
        return alilb_refuse(r, "server group", err);
    }
    state = lbc_survey_find_owner(reading->items, &group.tags);
    if (state == NULL || ccm_strmap_has(reading->groups, group.lbc.id) != 0) {
        return 0;
    }
    kept = (struct nlb_group *)lbc_state_new_group(state, &nlb_state_type);
    if (kept == NULL || ccm_strmap_set(reading->groups, group.lbc.id, kept) < 0) {
        return ccm_error_nomem(err);
    }
    *kept = group;
    memset(&group, 0, sizeof(group));
    return 0;
}

static int inventory_add_server(void *arg, const cJSON *json, struct ccm_error *err)
{
    const struct reading *reading = arg;
    struct nlb_group *group = ccm_strmap_get(reading->groups, ccm_json_text(json, "ServerGroupId"));
    const int r = group == NULL ? 0 : alilb_parse_backend(json, &group->lbc);

    return r < 0 ? alilb_refuse(r, "backend", err) : 0;
}

static void set_known(const struct lbc_survey *items, bool groups)
{
    struct lbc_state *state = NULL;
    void *cursor = NULL;

    while ((state = lbc_survey_next(items, &cursor)) != NULL) {
        state->listeners_known = true;
        state->groups_known = groups;
        ((struct nlb_state *)state)->by_tag = groups;
        for (size_t i = 0; groups && i < state->group_count; i++) {
            state->groups[i]->unread = false;
        }
    }
}

static int inventory_fill(struct lbc_instance *lbc, const struct ccm_request *req,
                          struct lbc_survey *items, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *groups = ccm_strmap_new(NULL);
    struct alilb_call call = alilb_call_for_all(lbc, req);
    struct reading reading = { items, groups };
    int r = groups == NULL ? ccm_error_nomem(err)
                           : alilb_list(&call, &nlb_api_listeners, ALILB_TEXTS(NULL),
                                        inventory_add_listener, &reading, err);

    if (r < 0) {
        return r;
    }
    set_known(items, false);
    r = alilb_list(&call, &nlb_api_groups, ALILB_TEXTS(LBC_TAG_CLUSTER, call.cluster_id),
                   inventory_add_group, &reading, err);
    if (r == 0) {
        r = alilb_list(&call, &nlb_api_servers, ALILB_TEXTS(NULL), inventory_add_server, &reading,
                       err);
    }
    if (r == 0) {
        set_known(items, true);
    }
    return r;
}

const struct lbc_inventory_ops nlb_inventory_ops = {
    .list = alilb_list_lbs,
    .fill = inventory_fill,
    .orphans = &nlb_orphan_ops,
};
