/* Carries out steps about the load balancer itself. */
#include "api.h"
#include "apply_parts.h"
#include "ccm/object.h"
#include "lbc/apply/record.h"
#include "lbc/model/owner.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static struct clb_lb *apply_lb(struct lbc_apply *base)
{
    return &clb_apply_have(clb_apply_of(base))->lb;
}

void clb_apply_token(const struct ccm_service *service, const struct clb_lb *lb, uint32_t attempt,
                     char ret[LBC_TOKEN_SIZE])
{
    struct lbc_token token = LBC_TOKEN_INIT;

    for (size_t i = 0; i < CLB_LB_FIELD_COUNT; i++) {
        if (i != CLB_LB_PROTECT) {
            lbc_token_add(&token, lb->lbc.texts[i]);
        }
    }
    lbc_token_add_tags(&token, &lb->lbc.tags);
    lbc_token_add(&token, lb->lbc.vpc_id);
    lbc_token_add(&token, lb->protect ? "on" : "off");
    lbc_token_write(&token, service, attempt, ret);
}

static size_t vswitch_count(const struct clb *clb)
{
    const char *const *ids = ali_vswitch_ids(clb_client(clb));
    size_t count = 0;

    while (ids != NULL && ids[count] != NULL) {
        count++;
    }
    return count;
}

/* By uid, not by chance: a repeated creation has to ask for the same. */
static int pick_vswitch(struct clb_apply *apply, struct clb_lb *lb, struct ccm_error *err)
{
    const size_t count = vswitch_count(apply->clb);

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
    const size_t at = (size_t)(lbc_token_number(apply->ali.service->meta.uid) % count);

    return lbc_text_set(&lb->lbc.texts[CLB_LB_VSWITCH],
                        ali_vswitch_ids(clb_client(apply->clb))[at]) < 0
               ? ccm_error_nomem(err)
               : 0;
}

static int create_once(struct clb_apply *apply, const struct clb_lb *want, struct ccm_error *err)
{
    CCM_CLEANUP(clb_lb_fini) struct clb_lb made = { 0 };
    char tag[LBC_OWNER_LB_NAME];
    char token[LBC_TOKEN_SIZE];
    const struct clb_create create = { .lb = want, .owner_tag = tag, .token = token };
    int r;

    lbc_owner_lb_name(&apply->ali.service->meta, tag);
    clb_apply_token(apply->ali.service, want, *apply->ali.lbc.attempt, token);
    r = clb_api_create_lb(&apply->ali.call, &create, &made, err);
    if (r == 0) {
        clb_lb_fini(&clb_apply_have(apply)->lb);
        clb_apply_have(apply)->lb = made;
        clb_apply_have(apply)->lbc.listeners_known = true;
        clb_apply_have(apply)->lbc.groups_known = true;
        memset(&made, 0, sizeof(made));
        return 0;
    }
    if (strcmp(err->code, "IdempotentParameterMismatch") == 0 ||
        strcmp(err->code, "LX_REQUEST_TOKEN_CONFLICT") == 0) {
        (*apply->ali.lbc.attempt)++;
        err->kind = CCM_ERROR_TRANSIENT;
    }
    return r;
}

static bool vswitch_has_address(struct clb_apply *apply, const char *id)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    const cJSON *one;

    if (alilb_send(&apply->ali.call, &clb_api_vswitch, ALILB_TEXTS(id), &answer, &err) < 0) {
        apply->clb->lbc.host->log(apply->clb->lbc.host, CCM_LEVEL_WARN,
                                  apply->ali.service->meta.key, "vSwitch %s skipped: %s", id,
                                  err.message);
        return false;
    }
    one = ccm_json_items(ccm_json_get(answer, "VSwitches"), "VSwitch");
    return one != NULL && ccm_json_i64(one, "AvailableIpAddressCount", 0) > 0;
}

/* The chosen vSwitch is full: once more in the first other one with a free address. */
static int create_elsewhere(struct clb_apply *apply, struct clb_lb *want, struct ccm_error *err)
{
    const char *const *ids = ali_vswitch_ids(clb_client(apply->clb));

    for (size_t i = 0; ids != NULL && ids[i] != NULL; i++) {
        if (ccm_text_equal(ids[i], want->lbc.texts[CLB_LB_VSWITCH]) ||
            !vswitch_has_address(apply, ids[i])) {
            continue;
        }
        return lbc_text_set(&want->lbc.texts[CLB_LB_VSWITCH], ids[i]) < 0
                   ? ccm_error_nomem(err)
                   : create_once(apply, want, err);
    }
    return ccm_error_wrap(err, -ENOSPC, "get available vswitch id error: no available vsw found");
}

/* What the configuration adds to what the Service asks for. */
static int lb_complete_desired(struct clb_apply *apply, struct clb_lb *want, struct ccm_error *err)
{
    struct ali_client *ali = clb_client(apply->clb);
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

int clb_apply_create_lb(struct lbc_apply *base, struct lbc_step *step, struct ccm_error *err)
{
    struct clb_apply *apply = clb_apply_of(base);
    CCM_CLEANUP(clb_lb_fini) struct clb_lb want = { 0 };
    int r;

    (void)step;
    if (clb_lb_copy(&want, &apply->model->want.lb) < 0) {
        return ccm_error_nomem(err);
    }
    r = lb_complete_desired(apply, &want, err);
    if (r == 0) {
        r = create_once(apply, &want, err);
    }
    if (r < 0 && (apply->model->lbc.explicit >> CLB_LB_VSWITCH & 1U) == 0 &&
        strcmp(err->code, "VSwitchAvailableIpNotExist") == 0) {
        r = create_elsewhere(apply, &want, err);
    }
    return r;
}

/* --- attributes --- */

int clb_apply_attribute(struct lbc_apply *base, struct lbc_step *step, struct ccm_error *err)
{
    const char *extra = step->extra;
    const struct alilb_action *action = &clb_api_protect_modification;

    if (step->type == CLB_STEP_CHARGE) {
        action = &clb_api_charge_lb;
    } else if (step->type == CLB_STEP_INTERNET) {
        action = &clb_api_internet_lb;
    } else if (ccm_text_equal(step->value, "ConsoleProtection")) {
        extra = CLB_PROTECT_WHY;
    }
    return alilb_apply_write(base, step, action,
                             ALILB_TEXTS(alilb_apply_lb_id(base), step->value, extra), err);
}

/* What a step sets; the second where its action has two. */
static const struct {
    enum clb_lb_field value;
    enum clb_lb_field extra;
} changes[] = {
    [CLB_STEP_CHARGE] = { CLB_LB_CHARGE, CLB_LB_SPEC },
    [CLB_STEP_SPEC] = { CLB_LB_SPEC, CLB_LB_FIELD_COUNT },
    [CLB_STEP_INTERNET] = { CLB_LB_TRAFFIC_CHARGE, CLB_LB_BANDWIDTH },
    [CLB_STEP_PROTECT_MODIFICATION] = { CLB_LB_MODIFICATION, CLB_LB_FIELD_COUNT },
    [CLB_STEP_RENAME] = { CLB_LB_NAME, CLB_LB_FIELD_COUNT },
};

int clb_apply_attribute_done(struct lbc_apply *base, struct lbc_step *step)
{
    const enum clb_lb_field second = changes[step->type].extra;
    const char *extra = step->extra;
    struct clb_lb *lb = apply_lb(base);

    if (step->type == CLB_STEP_INTERNET) {
        lbc_order_record(&clb_apply_of(base)->entry->order,
                         clb_lb_charge_what(lb, lb->lbc.texts[CLB_LB_TRAFFIC_CHARGE],
                                            lb->lbc.texts[CLB_LB_BANDWIDTH]),
                         clb_lb_charge_what(lb, step->value, extra),
                         base->host->now_ms(base->host));
    }
    if (step->type == CLB_STEP_PROTECT) {
        lb->protect = ccm_text_equal(step->value, "on");
        return 0;
    }
    return lbc_text_set(&lb->lbc.texts[changes[step->type].value], step->value) < 0 ||
                   (second != CLB_LB_FIELD_COUNT && extra != NULL &&
                    lbc_text_set(&lb->lbc.texts[second], extra) < 0)
               ? -ENOMEM
               : 0;
}

/* --- its end --- */

int clb_apply_unprotect_done(struct lbc_apply *base, struct lbc_step *step)
{
    (void)step;
    apply_lb(base)->protect = false;
    return 0;
}
