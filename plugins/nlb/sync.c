/* NLB's part of a pass that ensures: what is there, and what the Service says about it. */
#include "controller.h"

#include "api.h"
#include "lbc/health.h"
#include "lbc/model/object.h"
#include "owner_key.h"
#include "read.h"
#include "util/text.h"

/* --- what health checks say --- */

struct health_search {
    const struct lbc_state *have;
    struct lbc_health *counts;
};

/* Only those that are not well are listed: what is cut off counts as healthy. Nobody tells where
 * nothing is checked. */
static void sync_count_group(const struct health_search *search, const cJSON *info)
{
    const struct lbc_group *group =
        lbc_state_group_by_id(search->have, ccm_json_text(info, "ServerGroupId"));
    struct lbc_health *counts = search->counts;
    size_t listed = 0;

    if (group == NULL || cJSON_IsFalse(ccm_json_get(info, "HeathCheckEnabled"))) {
        return;
    }
    for (const cJSON *item = ccm_json_items(info, "NonNormalServers"); item != NULL;
         item = item->next) {
        const char *status = ccm_json_text(item, "Status");

        listed++;
        if (ccm_text_equal(status, "Unhealthy")) {
            counts->unhealthy++;
        } else if (!ccm_text_equal(status, "Unused")) { /* that has weight 0 */
            counts->unknown++;
        }
    }
    counts->healthy += group->backends.len > listed ? group->backends.len - listed : 0;
}

static int sync_count_health(void *arg, const cJSON *item, struct ccm_error *err)
{
    (void)err;
    for (const cJSON *info = ccm_json_items(item, "ServerGroupInfos"); info != NULL;
         info = info->next) {
        sync_count_group(arg, info);
    }
    return 0;
}

int nlb_sync_read_health(struct lbc_pass *pass, struct lbc_health *ret, struct ccm_error *err)
{
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_AUDIT);
    const struct lbc_state *want = pass->model->want;
    int r = 0;

    for (size_t i = 0; r == 0 && i < want->listener_count; i++) {
        const struct lbc_listener *one =
            lbc_state_listener_like(pass->entry->state, want->listeners[i]);
        struct health_search search = { pass->entry->state, &ret[i] };

        if (one != NULL && one->id != NULL) {
            r = alilb_list(&call, &nlb_api_health, ALILB_TEXTS(one->id), sync_count_health, &search,
                           err);
        }
    }
    return r;
}

/* One per zone. */
size_t nlb_sync_vswitches(const struct lbc_state *state, const char **ret, size_t max)
{
    const struct nlb_lb *lb = &((const struct nlb_state *)state)->lb;
    size_t count = 0;

    for (size_t i = 0; i < lb->zone_count && count < max; i++) {
        if (!ccm_text_empty(lb->zones[i].vswitch_id)) {
            ret[count++] = lb->zones[i].vswitch_id;
        }
    }
    return count;
}

/* --- actual state --- */

static bool model_lists_certs(const struct nlb_model *model)
{
    for (size_t i = 0; i < model->want.lbc.listener_count; i++) {
        if (nlb_listener_at(&model->want, i)->lbc.certs_known) {
            return true;
        }
    }
    return false;
}

/* The security group for source ranges: wanted, or there may be one of earlier. */
static bool pass_needs_security_group(const struct lbc_pass *pass)
{
    const struct nlb_model *model = nlb_desired(pass);
    const struct nlb_state *have = nlb_actual(pass);

    return !model->lbc.reused && (model->want.security_group.wanted ||
                                  have->lb.security_groups.len > 0 || lbc_pass_is_marked(pass));
}

/* Without load balancer, and without the mark that we set before we make anything, nothing of the
 * Service can be there. */
static void know_nothing_is_there(struct nlb_state *have)
{
    have->lbc.groups_known = true;
    have->lbc.listeners_known = true;
    have->security_group.known = true;
}

int nlb_sync_read_parts(struct lbc_pass *pass, struct ccm_error *err)
{
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_SPEC);
    const struct nlb_model *model = nlb_desired(pass);
    struct nlb_state *have = nlb_actual(pass);
    const bool exists = have->lb.lbc.id != NULL;
    const struct nlb_need need = {
        .want = &model->want,
        .listeners = exists,
        .scan = model->lbc.reused && !lbc_hash_may_hold(pass->hash.verdict),
        .certs = exists && model_lists_certs(model),
        .security_group = pass_needs_security_group(pass),
        .before = (const struct nlb_state *)pass->entry->aside,
        .doubtful =
            !lbc_look_is_taken(&pass->look) && !pass->audit && lbc_pass_may_lack_parts(pass),
    };

    if (!exists && !lbc_object_has_finalizer(&pass->service->meta, pass->life.finalizer)) {
        know_nothing_is_there(have);
    }
    have->lbc.listeners_known = have->lbc.listeners_known || !exists;

    const int r = nlb_read_parts(&call, pass->service, &need, have, err);

    if (r == 0 && exists && lbc_pass_is_early(pass) && pass->hash.verdict == LBC_HASH_OTHER) {
        lbc_look_again_later(pass); /* what an earlier edit asked for may be there */
    }
    if (r == 0 && pass->entry->aside != NULL) {
        nlb_state_recall(have, (const struct nlb_state *)pass->entry->aside);
    }
    return r;
}

/* --- the way from one to the other --- */

void nlb_sync_record(struct lbc_pass *pass)
{
    nlb_plan_record_explicit(nlb_actual(pass), nlb_desired(pass));
}

/* --- somebody else's load balancer, and the Service's status --- */

const char *nlb_sync_address(const struct lbc_pass *pass)
{
    const char *dns = nlb_actual(pass)->lb.dns;

    return dns == NULL ? "" : dns;
}

/* --- what the Service says then --- */

bool nlb_sync_publish(struct lbc_pass *pass, struct lbc_life_state *state)
{
    const struct nlb_model *model = nlb_desired(pass);
    const struct nlb_state *have = nlb_actual(pass);

    if (ccm_text_empty(have->lb.dns)) {
        return false;
    }
    state->hostname = have->lb.dns;
    state->ip_mode = NULL; /* it is for addresses */
    if (have->security_group.id != NULL) {
        state->extra = have->security_group.id; /* wanted or not: it is there */
    } else if (!model->want.security_group.wanted && !model->keep_security &&
               have->security_group.known) {
        state->extra = "";
    }
    return true;
}
