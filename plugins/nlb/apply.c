#include "apply.h"

#include "api.h"
#include "apply_parts.h"
#include "read.h"
#include "util/text.h"

#include <string.h>

static const struct lbc_step_ops step_ops[] = {
    [LBC_STEP_CREATE_LB] = { nlb_apply_create_lb, NULL, LBC_ENDS_PLAN },
    [LBC_STEP_TAG] = { alilb_apply_tags, NULL, LBC_NEEDS_LB | LBC_SIFTS },
    [LBC_STEP_UNTAG] = { alilb_apply_tags, NULL, LBC_NEEDS_LB | LBC_SIFTS },
    [LBC_STEP_DELETE_LB] = { alilb_apply_row, NULL, LBC_NEEDS_LB },
    [NLB_STEP_PROTECT] = { nlb_apply_protection, nlb_apply_fields_done, LBC_NEEDS_LB },
    [NLB_STEP_ADDRESS_TYPE] = { nlb_apply_zones, nlb_apply_address_type_done, LBC_NEEDS_LB },
    [NLB_STEP_ZONES] = { nlb_apply_zones, nlb_apply_zones_done, LBC_NEEDS_LB },
    [NLB_STEP_IPV6] = { nlb_apply_ipv6_type, NULL, LBC_NEEDS_LB },
    [NLB_STEP_ATTRIBUTE] = { nlb_apply_fields, nlb_apply_fields_done, LBC_NEEDS_LB },
    [NLB_STEP_DETACH] = { alilb_apply_row, nlb_apply_detach_done, LBC_NEEDS_LB },
    [NLB_STEP_ATTACH] = { alilb_apply_row, NULL, LBC_NEEDS_LB },
    [NLB_STEP_JOIN] = { nlb_apply_join, nlb_apply_join_done, LBC_NEEDS_LB | LBC_SECURES | LBC_NAMED,
                        NLB_STEP_LEAVE },
    [NLB_STEP_LEAVE] = { nlb_apply_leave, nlb_apply_join_done, LBC_NEEDS_LB },

    [NLB_STEP_CREATE_SECURITY_GROUP] = { nlb_apply_create_security_group,
                                         nlb_apply_create_security_group_done, LBC_SECURES },
    [NLB_STEP_ADD_RULES] = { nlb_apply_rules, nlb_apply_rules_done, LBC_SECURES,
                             NLB_STEP_REMOVE_RULES },
    [NLB_STEP_MODIFY_RULE] = { nlb_apply_modify_rule, nlb_apply_rules_done, LBC_SECURES },
    [NLB_STEP_REMOVE_RULES] = { nlb_apply_rules, nlb_apply_rules_done, LBC_SECURES },
    [NLB_STEP_RENAME_SECURITY_GROUP] = { nlb_apply_rename_security_group,
                                         nlb_apply_rename_security_group_done, 0 },
    [NLB_STEP_DELETE_SECURITY_GROUP] = { nlb_apply_delete_security_group,
                                         nlb_apply_security_group_gone, 0 },
    [NLB_STEP_UNTAG_SECURITY_GROUP] = { nlb_apply_untag_security_group,
                                        nlb_apply_security_group_gone, 0 },

    [LBC_STEP_CREATE_GROUP] = { nlb_apply_create_group, nlb_apply_create_group_done, 0 },
    [LBC_STEP_UPDATE_GROUP] = { alilb_apply_row, NULL, LBC_NEEDS_GROUP },
    [LBC_STEP_DELETE_GROUP] = { alilb_apply_row, NULL, LBC_NEEDS_GROUP },
    [NLB_STEP_UNTAG_GROUP] = { nlb_apply_untag_group, nlb_apply_untag_group_done, LBC_NEEDS_GROUP },
    [LBC_STEP_ADD] = { alilb_apply_row, NULL, LBC_NEEDS_GROUP | LBC_SIFTS },
    [LBC_STEP_REMOVE] = { alilb_apply_row, NULL, LBC_NEEDS_GROUP | LBC_SIFTS | LBC_TAKES_AWAY },
    [LBC_STEP_UPDATE] = { alilb_apply_row, NULL, LBC_NEEDS_GROUP | LBC_SIFTS },

    [LBC_STEP_CREATE_LISTENER] = { alilb_apply_row, NULL, LBC_NEEDS_GROUP | LBC_NEEDS_LB },
    [LBC_STEP_UPDATE_LISTENER] = { alilb_apply_row, NULL, LBC_NEEDS_GROUP | LBC_NEEDS_LISTENER },
    [LBC_STEP_RESTORE_LISTENER] = { alilb_apply_row, NULL, LBC_NEEDS_GROUP | LBC_NEEDS_LISTENER },
    [LBC_STEP_DELETE_LISTENER] = { alilb_apply_row, NULL, LBC_NEEDS_LISTENER },
    [NLB_STEP_ADD_CERTS] = { alilb_apply_row, nlb_apply_certs_done,
                             LBC_NEEDS_LISTENER | LBC_SIFTS },
    [NLB_STEP_REMOVE_CERTS] = { alilb_apply_row, nlb_apply_certs_done,
                                LBC_NEEDS_LISTENER | LBC_SIFTS | LBC_TAKES_AWAY },
};

#define CHANGED_LISTENER                                                                           \
    {                                                                                              \
        ALILB_STEP_LISTENER, ALILB_STEP_DESCRIPTION, ALILB_STEP_GROUP                              \
    }

static const struct alilb_step_row step_rows[] = {
    [LBC_STEP_DELETE_LB] = { &nlb_api_delete_lb, .texts = { ALILB_STEP_LB }, .takes_away = true },
    [NLB_STEP_DETACH] = { &nlb_api_detach, .texts = { ALILB_STEP_LB, ALILB_STEP_VALUE },
                          .takes_away = true },
    [NLB_STEP_ATTACH] = { &nlb_api_attach, .texts = { ALILB_STEP_LB, ALILB_STEP_VALUE } },
    [LBC_STEP_DELETE_GROUP] = { &nlb_api_delete_group, .texts = { ALILB_STEP_GROUP },
                                .takes_away = true },
    [LBC_STEP_UPDATE_GROUP] = { &nlb_api_update_group, .texts = { ALILB_STEP_GROUP },
                                .attrs = true },
    [LBC_STEP_ADD] = { &nlb_api_add_servers, .texts = { ALILB_STEP_GROUP },
                       .fill = nlb_api_add_backends },
    [LBC_STEP_REMOVE] = { &nlb_api_remove_servers, .texts = { ALILB_STEP_GROUP },
                          .takes_away = true, .fill = nlb_api_add_backends },
    [LBC_STEP_UPDATE] = { &nlb_api_update_servers, .texts = { ALILB_STEP_GROUP },
                          .fill = nlb_api_add_backends },
    [LBC_STEP_CREATE_LISTENER] = { &nlb_api_create_listener,
                                   .texts = { ALILB_STEP_LB, ALILB_STEP_PROTOCOL_NAME,
                                              ALILB_STEP_DESCRIPTION, ALILB_STEP_GROUP },
                                   .attrs = true, .fill = nlb_api_add_ports },
    [LBC_STEP_UPDATE_LISTENER] = { &nlb_api_update_listener, .texts = CHANGED_LISTENER,
                                   .attrs = true },
    [LBC_STEP_RESTORE_LISTENER] = { &nlb_api_update_listener, .texts = CHANGED_LISTENER,
                                    .attrs = true },
    [LBC_STEP_DELETE_LISTENER] = { &nlb_api_delete_listener, .texts = { ALILB_STEP_LISTENER },
                                   .takes_away = true },
    [NLB_STEP_ADD_CERTS] = { &nlb_api_add_certs, .texts = { ALILB_STEP_LISTENER }, .lists = true },
    [NLB_STEP_REMOVE_CERTS] = { &nlb_api_remove_certs, .texts = { ALILB_STEP_LISTENER },
                                .lists = true },
};

/* --- what it needs --- */

static bool step_lacks_security_group(const struct lbc_apply *base, const struct lbc_step *step)
{
    const struct nlb_state *have = (const struct nlb_state *)base->have;

    switch (step->type) {
    case NLB_STEP_ADD_RULES:
    case NLB_STEP_MODIFY_RULE:
    case NLB_STEP_REMOVE_RULES:
    case NLB_STEP_RENAME_SECURITY_GROUP:
    case NLB_STEP_DELETE_SECURITY_GROUP:
        return have->security_group.id == NULL;
    default:
        return ((const struct nlb_step *)step)->with_security_group &&
               have->security_group.id == NULL;
    }
}

/* --- what a refusal says --- */

/* A server that is in as many groups as it may be says nothing about the others. A member is at
 * fault: a server that does not exist, is not attached, lies in another VPC, has an address that is
 * not its own, or is not in the group; a certificate; a tag. */
static const struct lbc_refusal_row refusals[] = {
    { "ResourceNotFound.loadBalancer", .means = LBC_REFUSAL_LB_GONE },
    { "QuotaExceed*", .text = "loadbalancer_listeners_num", .means = LBC_REFUSAL_LISTENERS_FULL },
    { "QuotaExceed*", .unless = "server_added_num", .means = LBC_REFUSAL_GROUP_FULL },
    { .text = "loadbalancer_servers_num", .means = LBC_REFUSAL_LB_FULL },
    { "ResourceNotFound.Ecs", .means = LBC_REFUSAL_MEMBER | LBC_REFUSAL_SERVER },
    { "ResourceNotFound.Eni", .means = LBC_REFUSAL_MEMBER | LBC_REFUSAL_SERVER },
    { "ResourceNotFound.Eci", .means = LBC_REFUSAL_MEMBER | LBC_REFUSAL_SERVER },
    { "IncorrectStatus.Eni", .means = LBC_REFUSAL_MEMBER | LBC_REFUSAL_SERVER },
    { "ResourceNotFound.BackendServer", .means = LBC_REFUSAL_MEMBER },
    { "Mismatch.VpcId", .means = LBC_REFUSAL_MEMBER },
    { "IllegalParam.IP", .means = LBC_REFUSAL_MEMBER },
    { "ResourceInUse.IP", .means = LBC_REFUSAL_MEMBER },
    { "ResourceNotFound.Certificate", .means = LBC_REFUSAL_MEMBER },
    { "ResourceNotAssociated.Certificate", .means = LBC_REFUSAL_MEMBER },
    { "IllegalParam", .text = "Tag", .means = LBC_REFUSAL_MEMBER },
    { "QuotaExceeded.QuotaInsufficient*", .means = LBC_REFUSAL_NO_ROOM },
    { "QuotaInsufficient*", .means = LBC_REFUSAL_NO_ROOM },
    { "AuthorizationLimitExceed", .means = LBC_REFUSAL_NO_ROOM },
    { "AuthorizedGroupRule.LimitExceed", .means = LBC_REFUSAL_NO_ROOM },
    { .means = 0 },
};

static enum lbc_lb_ready lb_ready(const struct lbc_state *have, uint64_t *again_ms,
                                  struct ccm_error *err)
{
    const struct nlb_lb *lb = &((const struct nlb_state *)have)->lb;
    const bool goes = ccm_text_equal_case(lb->status, "Deleting");

    if (goes || ccm_text_equal_case(lb->status, "Provisioning")) {
        *again_ms = goes ? LBC_DELETING_MS : NLB_MAKING_MS;
        return LBC_LB_MAKING;
    }
    return nlb_read_check_status(lb, err) < 0 ? LBC_LB_BROKEN : LBC_LB_READY;
}

const struct alilb_apply_ops nlb_apply_ops = {
    .lbc = { .steps = step_ops,
             .backends_name = "servers",
             .is_blocked = step_lacks_security_group,
             .wait = alilb_apply_wait,
             .refusals = refusals,
             .lb_ready = lb_ready },
    .rows = step_rows,
    .source = &nlb_source,
    .id = ALI_NLB,
    .lb_type = "loadbalancer",
};
