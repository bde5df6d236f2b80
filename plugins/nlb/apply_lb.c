#include "api_lb.h"
#include "apply_parts.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

bool nlb_apply_lb_blocked(const struct nlb_apply *apply, const struct nlb_step *step)
{
    const struct nlb_state *have = apply->have;

    if (step->lbc.type == LBC_STEP_CREATE_LB) {
        return false;
    }
    return have->lb.id == NULL || (step->with_security_group && have->security_group.id == NULL);
}

/* --- sending --- */

/* The security groups of a JOIN or LEAVE. */
static int all_groups(const struct nlb_apply *apply, const struct nlb_step *step,
                      struct lbc_texts *ret)
{
    const int r = lbc_texts_copy(ret, &step->lbc.texts);

    return r < 0 || !step->with_security_group ? r
                                               : lbc_texts_put(ret, apply->have->security_group.id);
}

/* Of several groups one that is not there kept the others from being left. */
static int send_leave(struct nlb_apply *apply, const struct lbc_texts *groups,
                      struct lbc_sent *sent, struct ccm_error *err)
{
    const int r = alilb_write(&apply->call, &nlb_api_leave, ALILB_LIST(groups, apply->have->lb.id),
                              sent, err);

    return groups->len == 1 ? nlb_apply_forgive(apply, r, err) : r;
}

static int send_groups(struct nlb_apply *apply, const struct nlb_step *step, struct lbc_sent *sent,
                       struct ccm_error *err)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts groups = { 0 };

    if (all_groups(apply, step, &groups) < 0) {
        return ccm_error_nomem(err);
    }
    return step->lbc.type == NLB_STEP_JOIN
               ? alilb_write(&apply->call, &nlb_api_join, ALILB_LIST(&groups, apply->have->lb.id),
                             sent, err)
               : send_leave(apply, &groups, sent, err);
}

static void tags_text(const struct lbc_tags *tags, struct ccm_buf *text)
{
    for (size_t i = 0; i < tags->len; i++) {
        ccm_buf_addf(text, "%s%s=%s", i == 0 ? "" : ",", tags->items[i].key, tags->items[i].value);
    }
}

static int send_tags(struct nlb_apply *apply, const struct nlb_step *step, struct lbc_sent *sent,
                     struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 512 };
    const struct alilb_tagging tagging = {
        .type = "loadbalancer",
        .id = apply->have->lb.id,
        .tags = &step->lbc.tags,
        .remove = step->lbc.type == LBC_STEP_UNTAG,
    };
    const int r = alilb_change_tags(&apply->call, ALI_NLB, &tagging, sent, err);

    if (r < 0) {
        tags_text(&step->lbc.tags, &text);
        return ccm_error_wrap(err, r, "error to %s slb id [%s] with tags %s",
                              tagging.remove ? "untag" : "tag", tagging.id, ccm_buf_str(&text));
    }
    return 0;
}

/* What could not be made has no state in which protection could be switched. */
static bool is_stillborn(const struct nlb_apply *apply)
{
    return apply->model == NULL && ccm_text_equal_case(apply->have->lb.status, "CreateFailed");
}

static int send_protect(struct nlb_apply *apply, const struct nlb_step *step, struct lbc_sent *sent,
                        struct ccm_error *err)
{
    const char *modification = step->lb.fields[NLB_LB_MODIFICATION];
    const char *why = ccm_text_equal(modification, "ConsoleProtection") ? NLB_PROTECT_WHY : NULL;

    return alilb_write(
        &apply->call, &nlb_api_protect_lb,
        ALILB_TEXTS(apply->have->lb.id, step->lb.fields[NLB_LB_PROTECT], modification, why), sent,
        err);
}

int nlb_apply_lb_send(struct nlb_apply *apply, const struct nlb_step *step, struct lbc_sent *sent,
                      struct ccm_error *err)
{
    struct alilb_call *call = &apply->call;
    const char *id = apply->have->lb.id;
    int r;

    switch (step->lbc.type) {
    case LBC_STEP_CREATE_LB:
        return nlb_apply_create(apply, step, err);
    case LBC_STEP_TAG:
    case LBC_STEP_UNTAG:
        return send_tags(apply, step, sent, err);
    case NLB_STEP_JOIN:
    case NLB_STEP_LEAVE:
        return send_groups(apply, step, sent, err);
    case NLB_STEP_PROTECT:
        r = is_stillborn(apply) ? 0 : send_protect(apply, step, sent, err);
        return r < 0 && apply->model == NULL ? nlb_apply_forgive(apply, r, err) : r;
    case NLB_STEP_ADDRESS_TYPE:
        return nlb_api_update_zones(call, id, step->lbc.value, &step->lb, sent, err);
    case NLB_STEP_ZONES:
        return nlb_api_update_zones(call, id, NULL, &step->lb, sent, err);
    case NLB_STEP_IPV6:
        return alilb_write(call,
                           ccm_text_equal_case(step->lbc.value, "Internet") ? &nlb_api_enable_ipv6
                                                                            : &nlb_api_disable_ipv6,
                           ALILB_TEXTS(id), sent, err);
    case NLB_STEP_DETACH:
        return nlb_apply_forgive(
            apply, alilb_write(call, &nlb_api_detach, ALILB_TEXTS(id, step->lbc.value), sent, err),
            err);
    case NLB_STEP_ATTACH:
        return alilb_write(call, &nlb_api_attach, ALILB_TEXTS(id, step->lbc.value), sent, err);
    case LBC_STEP_DELETE_LB:
        return nlb_apply_forgive(
            apply, alilb_write(call, &nlb_api_delete_lb, ALILB_TEXTS(id), sent, err), err);
    default:
        return alilb_write(
            call, &nlb_api_update_lb,
            ALILB_TEXTS(id, step->lb.fields[NLB_LB_NAME], step->lb.fields[NLB_LB_CROSS_ZONE]), sent,
            err);
    }
}

/* --- the mirror --- */

static int lb_record_groups(struct nlb_apply *apply, const struct nlb_step *step)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts groups = { 0 };
    struct lbc_texts *joined = &apply->have->lb.security_groups;
    int r = all_groups(apply, step, &groups);

    for (size_t i = 0; r == 0 && i < groups.len; i++) {
        if (step->lbc.type == NLB_STEP_JOIN) {
            r = lbc_texts_put(joined, groups.items[i]);
        } else {
            lbc_texts_remove(joined, groups.items[i]);
        }
    }
    return r;
}

static int lb_record_tags(struct nlb_lb *lb, const struct nlb_step *step)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < step->lbc.tags.len; i++) {
        const struct lbc_tag *tag = &step->lbc.tags.items[i];

        if (step->lbc.type == LBC_STEP_TAG) {
            r = lbc_tags_put(&lb->tags, tag->key, tag->value);
            lb->untagged = lb->untagged && strcmp(tag->key, NLB_TAG_OWNER) != 0;
        } else {
            lbc_tags_remove(&lb->tags, tag->key);
        }
    }
    return r;
}

static const struct nlb_zone *lb_find_equal_zone(const struct nlb_lb *lb,
                                                 const struct nlb_zone *like)
{
    for (size_t i = 0; i < lb->zone_count; i++) {
        if (ccm_text_equal(lb->zones[i].zone_id, like->zone_id) &&
            ccm_text_equal(lb->zones[i].vswitch_id, like->vswitch_id)) {
            return &lb->zones[i];
        }
    }
    return NULL;
}

/* Addresses that nobody asked for stay those that the cloud chose. */
static int lb_record_zones(struct nlb_lb *lb, const struct nlb_lb *set)
{
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb next = { 0 };
    int r = 0;

    for (size_t i = 0; r == 0 && i < set->zone_count; i++) {
        const struct nlb_zone *zone = &set->zones[i];
        const struct nlb_zone *old = lb_find_equal_zone(lb, zone);

        r = nlb_lb_put_zone(&next, zone->zone_id, zone->vswitch_id,
                            zone->address != NULL || old == NULL ? zone->address : old->address,
                            zone->eip != NULL || old == NULL ? zone->eip : old->eip);
    }
    if (r == 0) {
        struct nlb_zone *zones = lb->zones;
        const size_t count = lb->zone_count;

        lb->zones = next.zones;
        lb->zone_count = next.zone_count;
        next.zones = zones; /* freed with the scope */
        next.zone_count = count;
    }
    return r;
}

/* Private ones have no elastic addresses; public ones those that were told, or some of the cloud's
 * choice that nobody compares. */
static int lb_record_address_type(struct nlb_lb *lb, const struct nlb_step *step)
{
    int r = nlb_lb_set(lb, NLB_LB_ADDRESS_TYPE, step->lbc.value);

    for (size_t i = 0; r == 0 && i < lb->zone_count; i++) {
        const struct nlb_zone *named_zone = lb_find_equal_zone(&step->lb, &lb->zones[i]);

        r = lbc_text_set(&lb->zones[i].eip, named_zone == NULL ? NULL : named_zone->eip);
    }
    return r;
}

static int lb_record_fields(struct nlb_lb *lb, const struct nlb_lb *set)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < NLB_LB_FIELD_COUNT; i++) {
        if (set->fields[i] != NULL) {
            r = nlb_lb_set(lb, (enum nlb_lb_field)i, set->fields[i]);
        }
    }
    return r;
}

/* Its listeners went with it. */
static void lb_record_deleted(struct nlb_state *have)
{
    nlb_lb_fini(&have->lb);
    memset(&have->lb, 0, sizeof(have->lb));
    lbc_state_forget_listeners(&have->lbc);
    have->lbc.listeners_known = true;
}

int nlb_apply_lb_done(struct nlb_apply *apply, const struct nlb_step *step)
{
    struct nlb_lb *lb = &apply->have->lb;

    switch (step->lbc.type) {
    case LBC_STEP_CREATE_LB:
        return 0;
    case LBC_STEP_TAG:
    case LBC_STEP_UNTAG:
        return lb_record_tags(lb, step);
    case NLB_STEP_JOIN:
    case NLB_STEP_LEAVE:
        return lb_record_groups(apply, step);
    case NLB_STEP_ADDRESS_TYPE:
        return lb_record_address_type(lb, step);
    case NLB_STEP_ZONES:
        return lb_record_zones(lb, &step->lb);
    case NLB_STEP_IPV6:
        return nlb_lb_set(lb, NLB_LB_IPV6_TYPE, step->lbc.value);
    case NLB_STEP_DETACH:
        return nlb_lb_set(lb, NLB_LB_PACKAGE, "");
    case NLB_STEP_ATTACH:
        return nlb_lb_set(lb, NLB_LB_PACKAGE, step->lbc.value);
    case LBC_STEP_DELETE_LB:
        lb_record_deleted(apply->have);
        return 0;
    default:
        return lb_record_fields(lb, &step->lb);
    }
}
