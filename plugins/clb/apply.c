#include "apply.h"

#include "api.h"
#include "apply_parts.h"
#include "clb.h"
#include "read.h"

#include <string.h>

static const struct lbc_step_ops step_ops[] = {
    [LBC_STEP_CREATE_LB] = { clb_apply_create_lb, NULL, LBC_ENDS_PLAN },
    [LBC_STEP_TAG] = { alilb_apply_tags, NULL, LBC_SIFTS },
    [LBC_STEP_UNTAG] = { alilb_apply_tags, NULL, LBC_SIFTS },
    [CLB_STEP_CHARGE] = { alilb_apply_row, NULL, 0 },
    [CLB_STEP_SPEC] = { alilb_apply_row, NULL, 0 },
    [CLB_STEP_INTERNET] = { alilb_apply_row, clb_apply_internet_done, 0 },
    [CLB_STEP_PROTECT] = { alilb_apply_row, NULL, 0 },
    [CLB_STEP_PROTECT_MODIFICATION] = { alilb_apply_row, NULL, 0 },
    [CLB_STEP_RENAME] = { alilb_apply_row, NULL, 0 },
    [CLB_STEP_UNPROTECT] = { alilb_apply_row, clb_apply_unprotect_done, LBC_ENDS_PLAN },
    [LBC_STEP_DELETE_LB] = { alilb_apply_row, NULL, LBC_ENDS_PLAN },

    [LBC_STEP_CREATE_GROUP] = { alilb_apply_row, NULL, LBC_SIFTS },
    [LBC_STEP_DELETE_GROUP] = { alilb_apply_row, NULL, LBC_NEEDS_GROUP },
    [LBC_STEP_ADD] = { clb_apply_backends, NULL, LBC_NEEDS_GROUP | LBC_SIFTS },
    [LBC_STEP_REMOVE] = { clb_apply_backends, NULL, LBC_NEEDS_GROUP | LBC_SIFTS | LBC_TAKES_AWAY },
    [LBC_STEP_UPDATE] = { clb_apply_backends, NULL, LBC_NEEDS_GROUP | LBC_SIFTS },

    [LBC_STEP_CREATE_LISTENER] = { clb_apply_listener, clb_apply_new_listener_done,
                                   LBC_NEEDS_GROUP },
    [LBC_STEP_UPDATE_LISTENER] = { clb_apply_listener, NULL, LBC_NEEDS_GROUP | LBC_NEEDS_LISTENER },
    [LBC_STEP_RESTORE_LISTENER] = { clb_apply_listener, NULL, LBC_NEEDS_LISTENER },
    [CLB_STEP_START_LISTENER] = { alilb_apply_row, clb_apply_start_listener_done,
                                  LBC_NEEDS_LISTENER },
    [LBC_STEP_DELETE_LISTENER] = { alilb_apply_row, NULL, LBC_NEEDS_LISTENER },
    [CLB_STEP_SET_DOMAIN] = { clb_apply_domain, clb_apply_domain_done, LBC_NEEDS_LISTENER },
    [CLB_STEP_CREATE_DOMAIN] = { clb_apply_domain, clb_apply_domain_done, LBC_NEEDS_LISTENER },
    [CLB_STEP_DELETE_DOMAIN] = { clb_apply_domain, clb_apply_domain_done, LBC_NEEDS_LISTENER },

    [CLB_STEP_CREATE_ACL] = { clb_apply_create_acl, NULL, 0 },
    [CLB_STEP_ADD_ENTRIES] = { clb_apply_acl_entries, clb_apply_acl_entries_done, 0 },
    [CLB_STEP_REMOVE_ENTRIES] = { clb_apply_acl_entries, clb_apply_acl_entries_done, 0 },
    [CLB_STEP_DELETE_ACL] = { clb_apply_delete_acl, NULL, 0 },
};

static const struct alilb_step_row step_rows[] = {
    [CLB_STEP_CHARGE] = { &clb_api_charge_lb,
                          .texts = { ALILB_STEP_LB, ALILB_STEP_VALUE, ALILB_STEP_EXTRA } },
    [CLB_STEP_INTERNET] = { &clb_api_internet_lb,
                            .texts = { ALILB_STEP_LB, ALILB_STEP_VALUE, ALILB_STEP_EXTRA } },
    [CLB_STEP_PROTECT_MODIFICATION] = { &clb_api_protect_modification,
                                        .texts = { ALILB_STEP_LB, ALILB_STEP_VALUE,
                                                   ALILB_STEP_WHY } },
    [LBC_STEP_DELETE_LB] = { &clb_api_delete_lb, .texts = { ALILB_STEP_LB }, .takes_away = true },
    [CLB_STEP_UNPROTECT] = { &clb_api_protect_lb, .texts = { ALILB_STEP_LB, ALILB_STEP_OFF },
                             .takes_away = true },
    [CLB_STEP_SPEC] = { &clb_api_spec_lb, .texts = { ALILB_STEP_LB, ALILB_STEP_VALUE } },
    [CLB_STEP_PROTECT] = { &clb_api_protect_lb, .texts = { ALILB_STEP_LB, ALILB_STEP_VALUE } },
    [CLB_STEP_RENAME] = { &clb_api_rename_lb, .texts = { ALILB_STEP_LB, ALILB_STEP_VALUE } },
    [LBC_STEP_CREATE_GROUP] = { &clb_api_create_group, .texts = { ALILB_STEP_LB, ALILB_STEP_NAME },
                                .fill = clb_apply_add_backends },
    [LBC_STEP_DELETE_GROUP] = { &clb_api_delete_group, .texts = { ALILB_STEP_GROUP },
                                .takes_away = true },
    [CLB_STEP_START_LISTENER] = { &clb_api_start_listener,
                                  .texts = { ALILB_STEP_LB, ALILB_STEP_PORT,
                                             ALILB_STEP_PROTOCOL } },
    [LBC_STEP_DELETE_LISTENER] = { &clb_api_delete_listener,
                                   .texts = { ALILB_STEP_LB, ALILB_STEP_PORT, ALILB_STEP_PROTOCOL },
                                   .takes_away = true },
};

/* A member is at fault: a backend that does not exist or does not run, lies in another network, has
 * the address of another one, or is not in the group; a tag. */
static const struct lbc_refusal_row refusals[] = {
    { "InvalidLoadBalancerId.NotFound", .means = LBC_REFUSAL_LB_GONE },
    { "ListenerNumberOverLimit", .means = LBC_REFUSAL_LISTENERS_FULL },
    { "VipTooManyListeners", .means = LBC_REFUSAL_LISTENERS_FULL },
    { "InstanceBackendServerNumberOverLimit", .means = LBC_REFUSAL_GROUP_FULL },
    { .text = "backend server number has reached to the quota limit",
      .means = LBC_REFUSAL_GROUP_FULL },
    { "InvalidServerId.*", .means = LBC_REFUSAL_MEMBER | LBC_REFUSAL_SERVER },
    { "ResourceNotFound.vServers", .means = LBC_REFUSAL_MEMBER | LBC_REFUSAL_SERVER },
    { "ObtainIpFail", .means = LBC_REFUSAL_MEMBER | LBC_REFUSAL_SERVER },
    { "NetworkConflict", .means = LBC_REFUSAL_MEMBER },
    { "InvalidBackendServers.ServerIpConflict", .means = LBC_REFUSAL_MEMBER },
    { "InvalidParam.TagKey*", .means = LBC_REFUSAL_MEMBER },
    { "InvalidParam.TagValue", .means = LBC_REFUSAL_MEMBER },
    { "DeniedForNoneTagCreator", .means = LBC_REFUSAL_MEMBER },
    { "DeniedForOperateCustomTag", .means = LBC_REFUSAL_MEMBER },
    { "TooManyBackendServers", .means = LBC_REFUSAL_BATCH },
    { .means = 0 },
};

/* One without listeners is "inactive". */
static enum lbc_lb_ready lb_ready(const struct lbc_state *have, uint64_t *again_ms,
                                  struct ccm_error *err)
{
    const struct clb_lb *lb = &((const struct clb_state *)have)->lb;

    (void)again_ms;
    if (!lb->locked) {
        return LBC_LB_READY;
    }
    (void)ccm_error_set(err, 0, CCM_ERROR_AUTH,
                        "load balancer %s is locked by the cloud (status locked): look for overdue "
                        "payments, and for messages about its security",
                        lb->lbc.id); /* the result is the argument */
    return LBC_LB_BROKEN;
}

const struct alilb_apply_ops clb_apply_ops = {
    .lbc = { .steps = step_ops,
             .backends_name = "backends",
             .is_blocked = clb_apply_is_blocked,
             .refusals = refusals,
             .lb_ready = lb_ready },
    .rows = step_rows,
    .source = &clb_source,
    .id = ALI_SLB,
    .lb_type = "instance",
};
