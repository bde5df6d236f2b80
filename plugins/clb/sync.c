/* CLB's part of a pass that ensures: what is there, and what the Service says about it. */
#include "controller.h"

#include "api.h"
#include "lbc/health.h"
#include "model_listeners.h"
#include "read.h"
#include "util/text.h"

/* --- what health checks say --- */

struct health_search {
    const struct lbc_state *want;
    const struct lbc_state *have;
    struct lbc_health *counts; /* of the desired listeners */
};

/* --- actual state --- */

/* Whether there is an answer to all that the annotations ask. */
static bool knows_enough(const struct clb_lb *lb, const struct clb_model *model)
{
    for (size_t i = 0; lb->partial && i < CLB_LB_FIELD_COUNT; i++) {
        if ((model->lbc.explicit >> i & 1U) != 0 && lb->lbc.texts[i] == NULL) {
            return false;
        }
    }
    return true;
}

int clb_sync_read_parts(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct clb_model *model = clb_desired(pass);
    struct clb_state *have = clb_actual(pass);
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_SPEC);
    const struct clb_need need = {
        .want = &model->want,
        .listeners = true,
        .scan = model->lbc.reused && !lbc_hash_may_hold(pass->hash.verdict),
    };
    int r = 0;

    if (pass->fresh) {
        lbc_pending_change_see(&pass->entry->pending,
                               clb_lb_charge_what(&have->lb,
                                                  have->lb.lbc.texts[CLB_LB_TRAFFIC_CHARGE],
                                                  have->lb.lbc.texts[CLB_LB_BANDWIDTH]));
    }
    if (have->lb.lbc.id == NULL) {
        return 0;
    }
    if (!knows_enough(&have->lb, model)) {
        r = alilb_read_lb(&call, &clb_source, have->lb.lbc.id, &have->lb.lbc, err);
    }
    return r < 0 ? r : clb_read_parts(&call, pass->service, &need, have, err);
}

/* Checks of one that gets no traffic say nothing. */
static bool health_counts(const struct lbc_group *group, const cJSON *item)
{
    const char *id = ccm_json_text(item, "ServerId");
    const int64_t port = ccm_json_i64(item, "Port", 0);

    for (size_t i = 0; group != NULL && i < group->backends.len; i++) {
        const struct lbc_backend *one = &group->backends.items[i];

        if (one->port == port && ccm_text_equal(one->server_id, id)) {
            return one->weight > 0;
        }
    }
    return true;
}

static void health_count(struct lbc_health *counts, const char *status)
{
    if (ccm_text_equal(status, "normal")) {
        counts->healthy++;
    } else if (ccm_text_equal(status, "abnormal")) {
        counts->unhealthy++;
    } else {
        counts->unknown++;
    }
}

static int sync_count_health(void *arg, const cJSON *item, struct ccm_error *err)
{
    const struct health_search *search = arg;
    const char *protocol = ccm_json_text(item, "Protocol");
    const int64_t port = ccm_json_i64(item, "ListenerPort", 0);

    (void)err;
    for (size_t i = 0; i < search->want->listener_count; i++) {
        const struct lbc_listener *one = search->want->listeners[i];

        if (one->port == port && one->group != NULL &&
            ccm_text_equal(lbc_protocol_lower(one->protocol), protocol) &&
            health_counts(lbc_state_group_for(search->have, one->group), item)) {
            health_count(&search->counts[i], ccm_json_text(item, "ServerHealthStatus"));
        }
    }
    return 0;
}

int clb_sync_read_health(struct lbc_pass *pass, struct lbc_health *ret, struct ccm_error *err)
{
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_AUDIT);
    struct health_search search = { pass->model->want, pass->entry->state, ret };

    const int r = alilb_list(&call, &clb_api_health, ALILB_TEXTS(lbc_pass_lb(pass)->id),
                             sync_count_health, &search, err);

    if (r == 0) {
        clb_certificates_look(pass, &call);
    }
    return r;
}

/* One with a public address stands in none. */
size_t clb_sync_vswitches(const struct lbc_state *state, const char **ret, size_t max)
{
    const char *id = ((const struct clb_state *)state)->lb.lbc.texts[CLB_LB_VSWITCH];

    if (ccm_text_empty(id) || max == 0) {
        return 0;
    }
    ret[0] = id;
    return 1;
}

int clb_sync_read_details(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct clb_model *model = clb_desired(pass);
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_SPEC);

    const struct clb_details need = {
        .want = &model->want,
        .marked = lbc_pass_is_marked(pass),
        .ranges = (pass->lbc->extras & CLB_EXTRA_RANGES) != 0,
    };

    return lbc_model_has_listeners(&model->lbc)
               ? clb_read_details(&call, pass->service, &need, clb_actual(pass), err)
               : 0;
}

/* --- somebody else's load balancer, and the Service's status --- */

const char *clb_sync_address(const struct lbc_pass *pass)
{
    const char *address = clb_actual(pass)->lb.lbc.texts[CLB_LB_ADDRESS];

    return clb_desired(pass)->show_eip ? NULL : address == NULL ? "" : address;
}

/* The cloud lists neither EIPs nor hostnames with a load balancer: what the Service asks for may be
 * its own. */
int clb_sync_holds_shown(struct lbc_pass *pass, struct ccm_error *err)
{
    const struct clb_model *model = clb_desired(pass);
    bool own = model->show_eip;

    for (uint64_t i = 0; !ccm_text_empty(model->hostname) && i < pass->service->ingress_count;
         i++) {
        own = own || ccm_text_equal(pass->service->ingress[i]->hostname, model->hostname);
    }
    return own ? 1 : alilb_read_shown(pass, err);
}

/* --- what the Service says then --- */

/* What the status shows, as long as no hostname takes its place. */
static const char *pass_status_addresses(struct lbc_pass *pass, const struct clb_model *model)
{
    struct clb_lb *lb = &clb_actual(pass)->lb;
    struct alilb_call call = alilb_call_for(pass, LBC_PRIO_SPEC);
    struct ccm_error err = CCM_ERROR_INIT;

    if (!model->show_eip) {
        lbc_pass_emit_standing(pass, "eip", "", "");
        return lb->lbc.texts[CLB_LB_ADDRESS];
    }
    if (lb->eips == NULL && clb_read_eips(&call, lb, &err) == 0 && lb->eips == NULL) {
        (void)ccm_error_set(&err, 0, CCM_ERROR_NOT_FOUND,
                            "slb %s has no eip, svc external ip cannot be set to eip address",
                            lb->lbc.id); /* the result is the argument */
    }
    if (lb->eips != NULL) {
        lbc_pass_emit_standing(pass, "eip", "", "");
        return lb->eips;
    }
    pass->lbc->host->log(pass->lbc->host, CCM_LEVEL_WARN, pass->service->meta.key, "%s",
                         err.message);
    lbc_pass_emit_standing(pass, "eip", "FailedSetEIPAddress",
                           "get eip error, set external ip to slb ip");
    return lb->lbc.texts[CLB_LB_ADDRESS];
}

/* What the label of the access list says: its id while it is there, nothing when it is known that
 * there is none and none is asked for. */
static const char *publish_acl(const struct lbc_pass *pass, const struct clb_model *model)
{
    const struct clb_acl *acl = &clb_actual(pass)->acl;

    if (acl->id != NULL) {
        return acl->id;
    }
    return acl->known && !model->want.acl.known ? "" : NULL;
}

bool clb_sync_publish(struct lbc_pass *pass, struct lbc_life_state *state)
{
    const struct clb_model *model = clb_desired(pass);

    if (model->keep_status && pass->service->ingress_count > 0) {
        return false;
    }
    state->ip = pass_status_addresses(pass, model);
    state->hostname = model->hostname;
    state->extra = publish_acl(pass, model);
    return true;
}
