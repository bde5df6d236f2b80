/* Carries out steps about the load balancer itself. */
#include "alicloud/params.h"
#include "api.h"
#include "apply_parts.h"
#include "ccm/object.h"
#include "lbc/apply/record.h"
#include "lbc/model/owner.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static struct clb_lb *apply_lb(struct lbc_apply *apply)
{
    return &clb_apply_have(apply)->lb;
}

/* elsewhere: a vSwitch that is not the chosen one, which was refused; NULL = none. */
static void lb_make_token(const struct lbc_apply *apply, const char *elsewhere,
                          char ret[static LBC_TOKEN_SIZE])
{
    struct lbc_token token = LBC_TOKEN_INIT;

    if (elsewhere != NULL) {
        lbc_token_add(&token, elsewhere);
    }
    lbc_token_write(&token, apply->service, *apply->attempt, ret);
}

static size_t vswitch_count(const struct lbc_apply *apply)
{
    const char *const *ids = ali_vswitch_ids(alilb_apply_call(apply)->ali);
    size_t count = 0;

    while (ids != NULL && ids[count] != NULL) {
        count++;
    }
    return count;
}

/* By uid, not by chance: a repeated creation has to ask for the same. */
static int pick_vswitch(struct lbc_apply *apply, struct clb_lb *lb, struct ccm_error *err)
{
    const size_t count = vswitch_count(apply);

    if (!ccm_text_equal(lb->lbc.texts[CLB_LB_ADDRESS_TYPE], "intranet") ||
        lb->lbc.texts[CLB_LB_VSWITCH] != NULL ||
        ccm_text_equal(lb->lbc.texts[CLB_LB_NETWORK], "classic")) {
        return 0;
    }
    if (count == 0) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "get vsw id from metadata error: no vswitches found (option "
                             "vswitch_ids of group alicloud, or annotation vswitch-id)");
    }
    const size_t at = (size_t)(lbc_token_number(apply->service->meta.uid) % count);

    return lbc_text_set(&lb->lbc.texts[CLB_LB_VSWITCH],
                        ali_vswitch_ids(alilb_apply_call(apply)->ali)[at]) < 0
               ? ccm_error_nomem(err)
               : 0;
}

/* What is known of it before it is read. */
static int lb_parse_created(const struct lbc_apply *apply, const struct clb_lb *want,
                            const char *owner, const cJSON *answer, struct clb_lb *ret)
{
    const char *vswitch_id = ccm_json_text(answer, "VSwitchId");

    if (clb_lb_copy(ret, want) < 0) {
        return -ENOMEM;
    }
    ret->partial = true;
    return lbc_tags_put(&ret->lbc.tags, LBC_TAG_OWNER, owner) < 0 ||
                   lbc_tags_put(&ret->lbc.tags, LBC_TAG_CLUSTER,
                                alilb_apply_call(apply)->cluster_id) < 0 ||
                   lbc_text_set(&ret->lbc.id, ccm_json_text(answer, "LoadBalancerId")) < 0 ||
                   lbc_text_set(&ret->lbc.texts[CLB_LB_ADDRESS], ccm_json_text(answer, "Address")) <
                       0 ||
                   (vswitch_id[0] != '\0' &&
                    lbc_text_set(&ret->lbc.texts[CLB_LB_VSWITCH], vswitch_id) < 0)
               ? -ENOMEM
               : 0;
}

static int lb_record_created(struct lbc_apply *apply, const struct clb_lb *want, const char *owner,
                             const cJSON *answer, struct ccm_error *err)
{
    CCM_CLEANUP(clb_lb_fini) struct clb_lb made = { 0 };
    struct clb_state *have = clb_apply_have(apply);

    alilb_apply_call(apply)->uncertain = true;
    if (ccm_json_text(answer, "LoadBalancerId")[0] == '\0') {
        return ccm_error_set(err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "CreateLoadBalancer: the answer names no load balancer");
    }
    if (lb_parse_created(apply, want, owner, answer, &made) < 0) {
        return ccm_error_nomem(err);
    }
    alilb_apply_call(apply)->uncertain = false;
    clb_lb_fini(&have->lb);
    have->lb = made;
    have->lbc.listeners_known = true;
    have->lbc.groups_known = true;
    memset(&made, 0, sizeof(made));
    return 0;
}

/* What was made long ago answers to the same ClientToken: it is looked at before anything is done
 * to it, where the Service is old enough. */
static int check_made(struct lbc_apply *apply, struct ccm_error *err)
{
    CCM_CLEANUP(clb_lb_fini) struct clb_lb seen = { 0 };
    struct clb_lb *lb = &clb_apply_have(apply)->lb;
    struct alilb_call *call = alilb_apply_call(apply);
    struct ccm_error why = CCM_ERROR_INIT;
    int r = 0;

    if (!apply->token_may_be_used) {
        return 0;
    }
    r = alilb_read_lb(call, &clb_source, lb->lbc.id, &seen.lbc, &why);

    const bool is_unknown = r < 0 && !lbc_refusal_is(apply->ops, LBC_REFUSAL_LB_GONE, &why);

    r = r < 0 ? r : alilb_apply_check_made(apply, &seen.lbc.tags, &why);
    if (r == 0) {
        return 0;
    }
    CCM_CLEANUP(ccm_freep) char *id = CCM_STEAL(lb->lbc.id);

    clb_lb_fini(lb);
    memset(lb, 0, sizeof(*lb));
    if (!is_unknown) {
        return alilb_apply_fail_used_token(id, &why, err);
    }
    call->uncertain = true; /* if it is the Service's, its tag leads to it next time */
    ccm_error_copy(err, &why);
    return r;
}

static int create_once(struct lbc_apply *apply, const struct clb_lb *want, const char *elsewhere,
                       struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    char owner[LBC_OWNER_LB_NAME];
    char token[LBC_TOKEN_SIZE];
    const struct alilb_args args = {
        .texts = { want->lbc.vpc_id, alilb_protect_why(want->lbc.texts[CLB_LB_MODIFICATION]),
                   token },
        .owner = owner,
        .tags = &want->lbc.tags,
        .params = &params,
    };
    int r;

    lbc_owner_lb_name(&apply->service->meta, owner);
    lb_make_token(apply, elsewhere, token);
    alilb_param_lb(&params, &clb_annotations, want->lbc.texts);
    r = alilb_send(alilb_apply_call(apply), &clb_api_create_lb, &args, &answer, err);
    if (r < 0) {
        return alilb_apply_fail_creation(apply, r, err);
    }
    r = lb_record_created(apply, want, owner, answer, err);
    return r < 0 ? r : check_made(apply, err);
}

static bool vswitch_has_address(struct lbc_apply *apply, const char *id)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    const cJSON *one = NULL;
    const int r =
        alilb_send(alilb_apply_call(apply), &alilb_api_vswitch, ALILB_TEXTS(id), &answer, &err);

    if (r < 0) {
        apply->host->log(apply->host, CCM_LEVEL_WARN, apply->service->meta.key,
                         "vSwitch %s skipped: %s", id, err.message);
        return false;
    }
    one = ccm_json_items(ccm_json_get(answer, "VSwitches"), "VSwitch");
    return one != NULL && ccm_json_i64(one, "AvailableIpAddressCount", 0) > 0;
}

/* The chosen vSwitch is full: once more in the first other one with a free address. */
static int create_elsewhere(struct lbc_apply *apply, struct clb_lb *want, struct ccm_error *err)
{
    const char *const *ids = ali_vswitch_ids(alilb_apply_call(apply)->ali);

    for (size_t i = 0; ids != NULL && ids[i] != NULL; i++) {
        if (ccm_text_equal(ids[i], want->lbc.texts[CLB_LB_VSWITCH]) ||
            !vswitch_has_address(apply, ids[i])) {
            continue;
        }
        return lbc_text_set(&want->lbc.texts[CLB_LB_VSWITCH], ids[i]) < 0
                   ? ccm_error_nomem(err)
                   : create_once(apply, want, ids[i], err);
    }
    return ccm_error_wrap(err, -ENOSPC, "get available vswitch id error: no available vsw found");
}

/* What the configuration adds to what the Service asks for. */
static int lb_complete_desired(struct lbc_apply *apply, struct clb_lb *want, struct ccm_error *err)
{
    struct ali_client *ali = alilb_apply_call(apply)->ali;
    const bool intranet = ccm_text_equal(want->lbc.texts[CLB_LB_ADDRESS_TYPE], "intranet");

    if (!intranet && lbc_text_set(&want->lbc.texts[CLB_LB_VSWITCH], NULL) < 0) {
        return ccm_error_nomem(err);
    }
    if ((intranet && lbc_text_set(&want->lbc.vpc_id, ali_vpc_id(ali)) < 0) ||
        (want->lbc.texts[CLB_LB_GROUP] == NULL &&
         lbc_text_set(&want->lbc.texts[CLB_LB_GROUP], ali_resource_group_id(ali)) < 0)) {
        return ccm_error_nomem(err);
    }
    if (ccm_text_equal(want->lbc.texts[CLB_LB_CHARGE], "PayBySpec") &&
        want->lbc.texts[CLB_LB_SPEC] == NULL &&
        lbc_text_set(&want->lbc.texts[CLB_LB_SPEC], "slb.s1.small") < 0) {
        return ccm_error_nomem(err);
    }
    return pick_vswitch(apply, want, err);
}

int clb_apply_create_lb(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    CCM_CLEANUP(clb_lb_fini) struct clb_lb want = { 0 };
    int r;

    (void)step;
    if (clb_lb_copy(&want, &clb_apply_model(apply)->want.lb) < 0) {
        return ccm_error_nomem(err);
    }
    r = lb_complete_desired(apply, &want, err);
    if (r == 0) {
        r = create_once(apply, &want, NULL, err);
    }
    if (r < 0 && (clb_apply_model(apply)->lbc.explicit >> CLB_LB_VSWITCH & 1U) == 0 &&
        strcmp(err->code, "VSwitchAvailableIpNotExist") == 0) {
        r = create_elsewhere(apply, &want, err);
    }
    return r;
}

/* --- attributes --- */

int clb_apply_internet_done(struct lbc_apply *apply, struct lbc_step *step)
{
    struct clb_lb *lb = apply_lb(apply);

    lbc_pending_change_record(apply->pending,
                              clb_lb_charge_what(lb, lb->lbc.texts[CLB_LB_TRAFFIC_CHARGE],
                                                 lb->lbc.texts[CLB_LB_BANDWIDTH]),
                              clb_lb_charge_what(lb, step->value, step->extra),
                              apply->host->now_ms(apply->host));
    return lbc_record_values(&clb_steps, step, &lb->lbc);
}

int clb_apply_unprotect_done(struct lbc_apply *apply, struct lbc_step *step)
{
    (void)step;
    return lbc_text_set(&apply_lb(apply)->lbc.texts[CLB_LB_PROTECT], "off");
}
