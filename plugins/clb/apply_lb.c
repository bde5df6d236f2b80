#include "apply_lb.h"

#include "api_lb.h"
#include "apply_parts.h"
#include "ccm/object.h"
#include "lbc/model/owner.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

void clb_apply_token(const struct ccm_service *service, const struct clb_lb *lb, uint32_t attempt,
                     char ret[LBC_TOKEN_SIZE])
{
    struct lbc_token token = LBC_TOKEN_INIT;

    for (size_t i = 0; i < CLB_LB_FIELD_COUNT; i++) {
        if (i != CLB_LB_PROTECT) {
            lbc_token_add(&token, clb_lb_get(lb, (enum clb_lb_field)i));
        }
    }
    for (size_t i = 0; i < lb->tags.len; i++) {
        lbc_token_add(&token, lb->tags.items[i].key);
        lbc_token_add(&token, lb->tags.items[i].value);
    }
    lbc_token_add(&token, lb->vpc_id);
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

    if (!ccm_text_equal(lb->address_type, "intranet") || lb->vswitch_id != NULL ||
        ccm_text_equal(lb->network_type, "classic")) {
        return 0;
    }
    if (count == 0) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "get vsw id from metadata error: no vswitches found (option "
                             "vswitch_ids of group alicloud, or annotation vswitch-id)");
    }
    const size_t at = (size_t)(lbc_token_number(apply->service->meta.uid) % count);

    return lbc_text_set(&lb->vswitch_id, ali_vswitch_ids(clb_client(apply->clb))[at]) < 0
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

    lbc_owner_lb_name(&apply->service->meta, tag);
    clb_apply_token(apply->service, want, apply->entry->attempt, token);
    r = clb_api_create_lb(&apply->call, &create, &made, err);
    if (r == 0) {
        clb_lb_fini(&clb_actual(apply->entry)->lb);
        clb_actual(apply->entry)->lb = made;
        clb_actual(apply->entry)->lbc.listeners_known = true;
        clb_actual(apply->entry)->lbc.groups_known = true;
        memset(&made, 0, sizeof(made));
        return 0;
    }
    if (strcmp(err->code, "IdempotentParameterMismatch") == 0 ||
        strcmp(err->code, "LX_REQUEST_TOKEN_CONFLICT") == 0) {
        apply->entry->attempt++;
        err->kind = CCM_ERROR_TRANSIENT;
    }
    return r;
}

static bool vswitch_has_address(struct clb_apply *apply, const char *id)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    const cJSON *one;

    if (alilb_send(&apply->call, &clb_api_vswitch, ALILB_TEXTS(id), &answer, &err) < 0) {
        apply->clb->lbc.host->log(apply->clb->lbc.host, CCM_LEVEL_WARN, apply->service->meta.key,
                                  "vSwitch %s skipped: %s", id, err.message);
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
        if (ccm_text_equal(ids[i], want->vswitch_id) || !vswitch_has_address(apply, ids[i])) {
            continue;
        }
        return lbc_text_set(&want->vswitch_id, ids[i]) < 0 ? ccm_error_nomem(err)
                                                           : create_once(apply, want, err);
    }
    return ccm_error_wrap(err, -ENOSPC, "get available vswitch id error: no available vsw found");
}

/* What the configuration adds to what the Service asks for. */
static int lb_complete_desired(struct clb_apply *apply, struct clb_lb *want, struct ccm_error *err)
{
    struct ali_client *ali = clb_client(apply->clb);
    const bool intranet = ccm_text_equal(want->address_type, "intranet");

    if (!intranet && lbc_text_set(&want->vswitch_id, NULL) < 0) {
        return ccm_error_nomem(err);
    }
    if ((intranet && lbc_text_set(&want->vpc_id, ali_vpc_id(ali)) < 0) ||
        (want->resource_group == NULL &&
         lbc_text_set(&want->resource_group, ali_resource_group_id(ali)) < 0)) {
        return ccm_error_nomem(err);
    }
    if (ccm_text_equal(want->charge_type, "PayBySpec") && want->spec == NULL &&
        lbc_text_set(&want->spec, "slb.s1.small") < 0) {
        return ccm_error_nomem(err);
    }
    return pick_vswitch(apply, want, err);
}

static int lb_create_any(struct clb_apply *apply, struct ccm_error *err)
{
    CCM_CLEANUP(clb_lb_fini) struct clb_lb want = { 0 };
    int r;

    if (clb_lb_copy(&want, &apply->model->want.lb) < 0) {
        return ccm_error_nomem(err);
    }
    apply->call.priority = LBC_PRIO_NEW;
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

static void tags_text(const struct lbc_tags *tags, struct ccm_buf *text)
{
    for (size_t i = 0; i < tags->len; i++) {
        ccm_buf_addf(text, "%s%s=%s", i == 0 ? "" : ",", tags->items[i].key, tags->items[i].value);
    }
}

static int send_tags(struct clb_apply *apply, const struct clb_step *step, struct ccm_error *err)
{
    const struct alilb_tagging tagging = {
        .type = "instance",
        .id = clb_actual(apply->entry)->lb.id,
        .tags = &step->tags,
        .remove = step->type == CLB_STEP_UNTAG,
    };

    return alilb_change_tags(&apply->call, ALI_SLB, &tagging, NULL, err);
}

static int tag_lb(struct clb_apply *apply, const struct clb_step *step, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1024 };
    struct clb_lb *lb = &clb_actual(apply->entry)->lb;
    const int r = send_tags(apply, step, err);

    if (r < 0) {
        tags_text(&step->tags, &text);
        return ccm_error_wrap(err, r, "error to tag slb id [%s] with tags %s", lb->id,
                              ccm_buf_str(&text));
    }
    if (lbc_tags_get(&step->tags, CLB_TAG_OWNER) != NULL) {
        lb->untagged = false;
    }
    for (size_t i = 0; i < step->tags.len; i++) {
        if (lbc_tags_put(&lb->tags, step->tags.items[i].key, step->tags.items[i].value) < 0) {
            return clb_apply_check_mirror(apply, -ENOMEM);
        }
    }
    return 0;
}

static int untag_lb(struct clb_apply *apply, const struct clb_step *step, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1024 };
    struct clb_lb *lb = &clb_actual(apply->entry)->lb;
    const int r = send_tags(apply, step, err);

    if (r < 0) {
        tags_text(&step->tags, &text);
        return ccm_error_wrap(err, r, "error to untag slb id [%s] with tags %s", lb->id,
                              ccm_buf_str(&text));
    }
    for (size_t i = 0; i < step->tags.len; i++) {
        lbc_tags_remove(&lb->tags, step->tags.items[i].key);
    }
    return 0;
}

static bool is_lb_gone(const struct ccm_error *err)
{
    return strcmp(err->code, "InvalidLoadBalancerId.NotFound") == 0;
}

static int delete_lb(struct clb_apply *apply, struct ccm_error *err)
{
    const int r = alilb_write(&apply->call, &clb_api_delete_lb,
                              ALILB_TEXTS(clb_actual(apply->entry)->lb.id), NULL, err);

    if (r < 0 && !is_lb_gone(err)) {
        return r;
    }
    lbc_entry_drop(apply->entry);
    apply->entry->valid = true;
    return 0;
}

static int lb_unprotect(struct clb_apply *apply, struct ccm_error *err)
{
    const int r = alilb_write(&apply->call, &clb_api_protect_lb,
                              ALILB_TEXTS(clb_actual(apply->entry)->lb.id, "off"), NULL, err);

    if (r < 0 && !is_lb_gone(err)) {
        return r;
    }
    clb_actual(apply->entry)->lb.protect = false;
    return 0;
}

/* The action that changes one attribute; ret_row and ret_row2 are what it sets, CLB_LB_FIELD_COUNT
 * = none. */
static const struct alilb_action *
find_action(const struct clb_step *step, enum clb_lb_field *ret_row, enum clb_lb_field *ret_row2)
{
    *ret_row2 = CLB_LB_FIELD_COUNT;
    switch (step->type) {
    case CLB_STEP_CHARGE:
        *ret_row = CLB_LB_CHARGE;
        *ret_row2 = CLB_LB_SPEC;
        return &clb_api_charge_lb;
    case CLB_STEP_SPEC:
        *ret_row = CLB_LB_SPEC;
        return &clb_api_spec_lb;
    case CLB_STEP_INTERNET:
        *ret_row = CLB_LB_TRAFFIC_CHARGE;
        *ret_row2 = CLB_LB_BANDWIDTH;
        return &clb_api_internet_lb;
    case CLB_STEP_PROTECT_MODIFICATION:
        *ret_row = CLB_LB_MODIFICATION;
        return &clb_api_protect_modification;
    case CLB_STEP_PROTECT:
        *ret_row = CLB_LB_PROTECT;
        return &clb_api_protect_lb;
    default:
        *ret_row = CLB_LB_NAME;
        return &clb_api_rename_lb;
    }
}

static int send_change(struct clb_apply *apply, const struct alilb_action *action,
                       const struct clb_step *step, struct ccm_error *err)
{
    const bool protects = step->type == CLB_STEP_PROTECT_MODIFICATION &&
                          ccm_text_equal(step->value, "ConsoleProtection");

    return alilb_write(&apply->call, action,
                       ALILB_TEXTS(clb_actual(apply->entry)->lb.id, step->value,
                                   protects ? CLB_PROTECT_WHY : step->extra),
                       NULL, err);
}

static int change_lb(struct clb_apply *apply, const struct clb_step *step, struct ccm_error *err)
{
    struct clb_lb *lb = &clb_actual(apply->entry)->lb;
    enum clb_lb_field row = CLB_LB_FIELD_COUNT;
    enum clb_lb_field row2 = CLB_LB_FIELD_COUNT;
    const uint64_t before = clb_lb_charge_what(lb, lb->traffic_charge, lb->bandwidth);
    const struct alilb_action *action = find_action(step, &row, &row2);
    int r = send_change(apply, action, step, err);

    if (r < 0) {
        return r;
    }
    if (step->type == CLB_STEP_INTERNET) {
        const struct ccm_host *host = apply->clb->lbc.host;

        lbc_order_record(&apply->entry->order, before,
                         clb_lb_charge_what(lb, step->value, step->extra), host->now_ms(host));
    }
    if (row == CLB_LB_PROTECT) {
        lb->protect = ccm_text_equal(step->value, "on");
        return 0;
    }
    r = clb_lb_set(lb, row, step->value);
    if (r == 0 && row2 != CLB_LB_FIELD_COUNT && step->extra != NULL) {
        r = clb_lb_set(lb, row2, step->extra);
    }
    return clb_apply_check_mirror(apply, r);
}

int clb_apply_lb(struct clb_apply *apply, const struct clb_step *step, struct ccm_error *err)
{
    switch (step->type) {
    case CLB_STEP_CREATE_LB:
        return lb_create_any(apply, err);
    case CLB_STEP_TAG:
        return tag_lb(apply, step, err);
    case CLB_STEP_UNTAG:
        return untag_lb(apply, step, err);
    case CLB_STEP_UNPROTECT:
        return lb_unprotect(apply, err);
    case CLB_STEP_DELETE_LB:
        return delete_lb(apply, err);
    default:
        return change_lb(apply, step, err);
    }
}
