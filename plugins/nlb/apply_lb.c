/* Carries out steps about the load balancer itself. */
#include "alicloud/params.h"
#include "api.h"
#include "apply_parts.h"
#include "lbc/apply/record.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

/* --- security groups --- */

/* Those of a JOIN or LEAVE. */
static int step_list_groups(const struct lbc_apply *apply, const struct lbc_step *step,
                            struct lbc_texts *ret)
{
    const bool with_own = ((const struct nlb_step *)step)->with_security_group;
    const int r = lbc_texts_copy(ret, &step->texts);

    return r < 0 || !with_own ? r : lbc_texts_put(ret, nlb_apply_have(apply)->security_group.id);
}

int nlb_apply_join(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts groups = { 0 };

    if (step_list_groups(apply, step, &groups) < 0) {
        return ccm_error_nomem(err);
    }
    return alilb_apply_write(apply, step, &nlb_api_join,
                             ALILB_LIST(&groups, alilb_apply_lb_id(apply)), err);
}

/* Of several groups one that is not there kept the others from being left. */
int nlb_apply_leave(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts groups = { 0 };

    if (step_list_groups(apply, step, &groups) < 0) {
        return ccm_error_nomem(err);
    }
    const int r = alilb_apply_write(apply, step, &nlb_api_leave,
                                    ALILB_LIST(&groups, alilb_apply_lb_id(apply)), err);

    return groups.len == 1 ? lbc_apply_forgive(apply, r, err) : r;
}

int nlb_apply_join_done(struct lbc_apply *apply, struct lbc_step *step)
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts groups = { 0 };
    const int r = step_list_groups(apply, step, &groups);

    return r < 0 ? r
                 : lbc_record_texts(&nlb_apply_have(apply)->lb.security_groups, &groups,
                                    step->type == NLB_STEP_JOIN);
}

/* --- attributes --- */

/* What could not be made has no state in which protection could be switched. */
static bool is_stillborn(const struct lbc_apply *apply)
{
    return apply->model == NULL &&
           ccm_text_equal_case(nlb_apply_have(apply)->lb.status, "CreateFailed");
}

int nlb_apply_protection(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    const struct nlb_lb *set = &nlb_step_of(step)->lb;
    const char *modification = set->lbc.texts[NLB_LB_MODIFICATION];
    const int r = is_stillborn(apply)
                      ? 0
                      : alilb_apply_write(apply, step, &nlb_api_protect_lb,
                                          ALILB_TEXTS(alilb_apply_lb_id(apply),
                                                      set->lbc.texts[NLB_LB_PROTECT], modification,
                                                      alilb_protect_why(modification)),
                                          err);

    return apply->forgives_lb ? lbc_apply_forgive(apply, r, err) : r;
}

int nlb_apply_fields(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    const struct nlb_lb *set = &nlb_step_of(step)->lb;

    return alilb_apply_write(apply, step, &nlb_api_update_lb,
                             ALILB_TEXTS(alilb_apply_lb_id(apply), set->lbc.texts[NLB_LB_NAME],
                                         set->lbc.texts[NLB_LB_CROSS_ZONE]),
                             err);
}

int nlb_apply_fields_done(struct lbc_apply *apply, struct lbc_step *step)
{
    const struct nlb_lb *set = &nlb_step_of(step)->lb;
    int r = 0;

    for (size_t i = 0; r == 0 && i < NLB_LB_FIELD_COUNT; i++) {
        if (set->lbc.texts[i] != NULL) {
            r = nlb_lb_set(&nlb_apply_have(apply)->lb, (enum nlb_lb_field)i, set->lbc.texts[i]);
        }
    }
    return r;
}

int nlb_apply_ipv6_type(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    const bool opens = ccm_text_equal_case(step->value, "Internet");

    return alilb_apply_write(apply, step, opens ? &nlb_api_enable_ipv6 : &nlb_api_disable_ipv6,
                             ALILB_TEXTS(alilb_apply_lb_id(apply)), err);
}

/* --- bandwidth packages --- */

int nlb_apply_detach_done(struct lbc_apply *apply, struct lbc_step *step)
{
    (void)step;
    return lbc_text_set(&lbc_state_lb(apply->have)->texts[NLB_LB_PACKAGE], NULL);
}

/* --- zones and addresses --- */

static const struct nlb_zone *lb_find_equal_zone(const struct nlb_lb *lb,
                                                 const struct nlb_zone *like)
{
    const struct nlb_zone *zone = nlb_lb_find_zone(lb, like->zone_id);

    return zone != NULL && ccm_text_equal(zone->vswitch_id, like->vswitch_id) ? zone : NULL;
}

int nlb_apply_zones(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    const bool changes_type = step->type == NLB_STEP_ADDRESS_TYPE;
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    const struct alilb_args args = { .texts = { alilb_apply_lb_id(apply), step->value },
                                     .params = &params };

    nlb_api_add_zones(&params, &nlb_step_of(step)->lb, !changes_type);
    return alilb_apply_write(apply, step,
                             changes_type ? &nlb_api_update_address_type : &nlb_api_update_zones,
                             &args, err);
}

/* Addresses that nobody asked for stay those that the cloud chose. */
int nlb_apply_zones_done(struct lbc_apply *apply, struct lbc_step *step)
{
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb next = { 0 };
    struct nlb_lb *lb = &nlb_apply_have(apply)->lb;
    const struct nlb_lb *set = &nlb_step_of(step)->lb;
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
int nlb_apply_address_type_done(struct lbc_apply *apply, struct lbc_step *step)
{
    struct nlb_lb *lb = &nlb_apply_have(apply)->lb;
    int r = nlb_lb_set(lb, NLB_LB_ADDRESS_TYPE, step->value);

    for (size_t i = 0; r == 0 && i < lb->zone_count; i++) {
        const struct nlb_zone *named_zone =
            lb_find_equal_zone(&nlb_step_of(step)->lb, &lb->zones[i]);

        r = lbc_text_set(&lb->zones[i].eip, named_zone == NULL ? NULL : named_zone->eip);
    }
    return r;
}
