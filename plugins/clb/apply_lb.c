#include "apply_lb.h"

#include "service/object.h"
#include "service/owner.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* FNV-1a, 64 bit: spreads, keeps no secret. */
static uint64_t mix(uint64_t hash, const char *text)
{
    for (const char *p = text == NULL ? "" : text; *p != '\0'; p++) {
        hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
    }
    return (hash ^ 0xFF) * UINT64_C(1099511628211); /* "ab","c" is not "a","bc" */
}

#define MIX_START UINT64_C(14695981039346656037)

void clb_apply_token(const struct ccm_service *service, const struct clb_lb *lb, uint32_t attempt,
                     char ret[CLB_TOKEN_SIZE])
{
    uint64_t hash = mix(MIX_START, lb->name);
    char number[16];

    (void)snprintf(number, sizeof(number), "%" PRIu32, attempt); /* fits */
    hash = mix(hash, lb->address_type);
    hash = mix(hash, lb->vswitch_id);
    hash = mix(hash, ccm_object_label(&service->meta, CCM_LIFE_LB_LABEL));
    hash = mix(hash, number);
    (void)snprintf(ret, CLB_TOKEN_SIZE, "ccm-%.40s-%016" PRIx64, service->meta.uid,
                   hash); /* fits */
}

static size_t vswitch_count(const struct clb *clb)
{
    const char *const *ids = ccm_ali_vswitch_ids(clb->ali);
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

    if (!ccm_text_equal(lb->address_type, "intranet") || lb->vswitch_id != NULL) {
        return 0;
    }
    if (count == 0) {
        return ccm_error_set(err, -EINVAL, CCM_ERROR_TERMINAL,
                             "get vsw id from metadata error: no vswitches found (option "
                             "vswitch_ids of group alicloud, or annotation vswitch-id)");
    }
    const size_t at = (size_t)(mix(MIX_START, apply->service->meta.uid) % count);

    return clb_text_set(&lb->vswitch_id, ccm_ali_vswitch_ids(apply->clb->ali)[at]) < 0
               ? ccm_error_nomem(err)
               : 0;
}

static int create_once(struct clb_apply *apply, const struct clb_lb *want, struct ccm_error *err)
{
    CCM_CLEANUP(clb_lb_fini) struct clb_lb made = { 0 };
    char tag[CCM_OWNER_LB_NAME];
    char token[CLB_TOKEN_SIZE];
    const struct clb_create create = { .lb = want, .owner_tag = tag, .token = token };
    int r;

    ccm_owner_lb_name(&apply->service->meta, tag);
    clb_apply_token(apply->service, want, apply->entry->attempt, token);
    r = clb_api_create_lb(&apply->call, &create, &made, err);
    if (r == 0) {
        clb_lb_fini(&apply->entry->state.lb);
        apply->entry->state.lb = made;
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

static bool has_room(struct clb_apply *apply, const char *id)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    struct ccm_error err = CCM_ERROR_INIT;
    const cJSON *one;

    if (clb_api_vswitch(&apply->call, id, &answer, &err) < 0) {
        apply->clb->host->log(apply->clb->host, CCM_LEVEL_WARN, apply->service->meta.key,
                              "vSwitch %s skipped: %s", id, err.message);
        return false;
    }
    one = ccm_json_items(ccm_json_get(answer, "VSwitches"), "VSwitch");
    return one != NULL && ccm_json_i64(one, "AvailableIpAddressCount", 0) > 0;
}

/* The chosen vSwitch is full: once more in the first other one with a free address. */
static int create_elsewhere(struct clb_apply *apply, struct clb_lb *want, struct ccm_error *err)
{
    const char *const *ids = ccm_ali_vswitch_ids(apply->clb->ali);

    for (size_t i = 0; ids != NULL && ids[i] != NULL; i++) {
        if (ccm_text_equal(ids[i], want->vswitch_id) || !has_room(apply, ids[i])) {
            continue;
        }
        return clb_text_set(&want->vswitch_id, ids[i]) < 0 ? ccm_error_nomem(err)
                                                           : create_once(apply, want, err);
    }
    return ccm_error_wrap(err, -ENOSPC, "get available vswitch id error: no available vsw found");
}

static int create(struct clb_apply *apply, struct ccm_error *err)
{
    CCM_CLEANUP(clb_lb_fini) struct clb_lb want = { 0 };
    const struct clb_lb *asked = &apply->model->want.lb;
    int r;

    if (clb_text_set(&want.name, asked->name) < 0 ||
        clb_text_set(&want.address_type, asked->address_type) < 0 ||
        clb_text_set(&want.vswitch_id, asked->vswitch_id) < 0) {
        return ccm_error_nomem(err);
    }
    apply->call.priority = CCM_ALI_PRIO_NEW;
    r = pick_vswitch(apply, &want, err);
    if (r == 0) {
        r = create_once(apply, &want, err);
    }
    if (r < 0 && !apply->model->vswitch_told &&
        strcmp(err->code, "VSwitchAvailableIpNotExist") == 0) {
        r = create_elsewhere(apply, &want, err);
    }
    return r;
}

static int tag_lb(struct clb_apply *apply, struct ccm_error *err)
{
    struct clb_lb *lb = &apply->entry->state.lb;
    char tag[CCM_OWNER_LB_NAME];

    ccm_owner_lb_name(&apply->service->meta, tag);

    const int r = clb_api_tag_lb(&apply->call, lb->id, tag, err);

    lb->untagged = r < 0;
    return r;
}

static int rename_lb(struct clb_apply *apply, struct ccm_error *err)
{
    struct clb_lb *lb = &apply->entry->state.lb;
    const char *name = apply->model->want.lb.name;
    const int r = clb_api_rename_lb(&apply->call, lb->id, name, err);

    if (r == 0 && clb_text_set(&lb->name, name) < 0) {
        apply->entry->valid = false;
    }
    return r;
}

static bool is_lb_gone(const struct ccm_error *err)
{
    return strcmp(err->code, "InvalidLoadBalancerId.NotFound") == 0;
}

static int delete_lb(struct clb_apply *apply, struct ccm_error *err)
{
    const int r = clb_api_delete_lb(&apply->call, apply->entry->state.lb.id, err);

    if (r < 0 && !is_lb_gone(err)) {
        return r;
    }
    clb_entry_drop(apply->entry);
    apply->entry->valid = true;
    return 0;
}

static int unprotect(struct clb_apply *apply, struct ccm_error *err)
{
    const int r = clb_api_unprotect_lb(&apply->call, apply->entry->state.lb.id, err);

    if (r < 0 && !is_lb_gone(err)) {
        return r;
    }
    apply->entry->state.lb.protect = false;
    return 0;
}

int clb_apply_lb(struct clb_apply *apply, enum clb_step_type type, struct ccm_error *err)
{
    switch (type) {
    case CLB_STEP_CREATE_LB:
        return create(apply, err);
    case CLB_STEP_TAG:
        return tag_lb(apply, err);
    case CLB_STEP_RENAME:
        return rename_lb(apply, err);
    case CLB_STEP_UNPROTECT:
        return unprotect(apply, err);
    default:
        return delete_lb(apply, err);
    }
}
