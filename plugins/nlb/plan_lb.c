/* Steps that create and change the load balancer itself. */
#include "compare.h"
#include "lbc/model/owner.h"
#include "lbc/rules/lb_attrs.h"
#include "nlb.h"
#include "plan_parts.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define TYPE_PUBLIC  "Internet"
#define TYPE_PRIVATE "Intranet"

/* --- what cannot be changed --- */

static void check_immutable(const struct lbc_work *work)
{
    for (unsigned i = 0; i < NLB_LB_FIELD_COUNT; i++) {
        const struct lbc_anno *row = lbc_lb_row(&nlb_annotations, i);
        const char *present = work->lb->texts[i];
        const char *wanted = nlb_work_model(work)->want.lb.lbc.texts[i];
        char text[400];

        if (row->immutable == NULL || present == NULL || lbc_plan_lb_target(work, i) == NULL) {
            continue;
        }
        ccm_text_printf(text, sizeof(text), "%s cannot be changed, service: %s, nlb: %s",
                        row->immutable, wanted == NULL ? "" : wanted, present);
        lbc_plan_lb_refuse(work, i, text);
    }
}

/* --- creation --- */

/* What holds once it is made from the wishes that creation takes. */
static int pretend_made(const struct lbc_work *work, struct nlb_lb *ret)
{
    const struct nlb_lb *want = &nlb_work_model(work)->want.lb;
    int r = nlb_lb_copy(ret, want);

    lbc_texts_fini(&ret->security_groups);
    if (r == 0) {
        r = nlb_lb_set(ret, NLB_LB_IPV6_TYPE, TYPE_PRIVATE);
    }
    return r < 0 ? r : nlb_lb_set(ret, NLB_LB_CROSS_ZONE, "true");
}

static int plan_creation(struct lbc_work *work, struct nlb_lb *pretend)
{
    struct nlb_step *step = nlb_plan_lb_step(work, LBC_STEP_CREATE_LB);

    if (step == NULL || nlb_lb_copy(&step->lb, &nlb_work_model(work)->want.lb) < 0 ||
        lbc_plan_missing_tags(work, &step->lbc.tags) < 0 ||
        lbc_text_set(&step->lbc.value,
                     nlb_work_model(work)->want.lb.lbc.texts[NLB_LB_ADDRESS_TYPE]) < 0) {
        return -ENOMEM;
    }
    work->lb = &pretend->lbc;
    return pretend_made(work, pretend);
}

/* --- attributes --- */

struct lb_change {
    enum nlb_lb_field field;
    const char *name;  /* for people */
    const char *value; /* NULL: it is as it shall be */
};

/* One step for all of them. */
static int plan_changes(struct lbc_work *work, unsigned type, const struct lb_change *changes,
                        size_t count)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 4096 };
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb set = { 0 };
    struct nlb_step *step = NULL;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        const struct lb_change *one = &changes[i];

        if (one->value != NULL) {
            lbc_compare_add_change(&change, one->name, work->lb->texts[one->field], one->value);
            r = lbc_text_set(&set.lbc.texts[one->field], one->value);
        }
    }
    if (r < 0 || change.len == 0) {
        return r < 0 ? r : ccm_buf_error(&change);
    }
    step = nlb_plan_lb_step(work, type);
    if (step == NULL) {
        return -ENOMEM;
    }
    step->lb = set;
    memset(&set, 0, sizeof(set)); /* moved */
    return lbc_step_set_change(&step->lbc, &change);
}

static int plan_protections(struct lbc_work *work, const char *deletion, const char *modification)
{
    const struct lb_change changes[] = {
        { NLB_LB_PROTECT, "deletion protection", deletion },
        { NLB_LB_MODIFICATION, "modification protection", modification },
    };

    return plan_changes(work, NLB_STEP_PROTECT, changes, CCM_ARRAY_LEN(changes));
}

static int plan_attribute(struct lbc_work *work)
{
    const struct lb_change changes[] = {
        { NLB_LB_NAME, "name", lbc_plan_lb_target(work, NLB_LB_NAME) },
        { NLB_LB_CROSS_ZONE, "cross-zone", lbc_plan_lb_target(work, NLB_LB_CROSS_ZONE) },
    };

    return plan_changes(work, NLB_STEP_ATTRIBUTE, changes, CCM_ARRAY_LEN(changes));
}

/* --- addresses --- */

/* The elastic addresses of zones that stay come with the new type. */
static int add_addresses(const struct lbc_work *work, struct nlb_step *step)
{
    const struct nlb_lb *want = &nlb_work_model(work)->want.lb;
    int r = 0;

    for (size_t i = 0; r == 0 && i < want->zone_count; i++) {
        const struct nlb_zone *zone = &want->zones[i];
        const struct nlb_zone *present = nlb_lb_find_zone(nlb_work_lb(work), zone->zone_id);

        if (zone->eip != NULL && present != NULL &&
            ccm_text_equal(zone->vswitch_id, present->vswitch_id)) {
            r = nlb_lb_put_zone(&step->lb, zone->zone_id, zone->vswitch_id, NULL, zone->eip);
        }
    }
    return r;
}

static int plan_address_type(struct lbc_work *work, bool *ret_public)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 256 };
    const char *value = lbc_plan_lb_target(work, NLB_LB_ADDRESS_TYPE);
    struct nlb_step *step = NULL;

    *ret_public = value != NULL && ccm_text_equal_case(value, TYPE_PUBLIC);
    if (value == NULL || work->model->reused) { /* somebody else's was compared before */
        *ret_public = false;
        return 0;
    }
    step = nlb_plan_lb_step(work, NLB_STEP_ADDRESS_TYPE);
    lbc_compare_add_change(&change, "type", work->lb->texts[NLB_LB_ADDRESS_TYPE], value);
    if (step == NULL || lbc_text_set(&step->lbc.value, value) < 0 ||
        (*ret_public && nlb_work_model(work)->zones_explicit && add_addresses(work, step) < 0)) {
        return -ENOMEM;
    }
    return lbc_step_set_change(&step->lbc, &change);
}

/* `fresh_public`: it turns public now, and gets the elastic address that is asked for. */
static bool zone_fits(const struct nlb_zone *want, const struct nlb_lb *have, bool fresh_public)
{
    const struct nlb_zone *zone = nlb_lb_find_zone(have, want->zone_id);

    return zone != NULL && ccm_text_equal(want->vswitch_id, zone->vswitch_id) &&
           (want->address == NULL || ccm_text_equal(want->address, zone->address)) &&
           (want->eip == NULL || fresh_public || ccm_text_equal(want->eip, zone->eip));
}

/* A zone that nobody asks for goes from our own load balancer only. */
static bool zones_differ(const struct lbc_work *work, bool fresh_public)
{
    const struct nlb_lb *want = &nlb_work_model(work)->want.lb;

    for (size_t i = 0; i < want->zone_count; i++) {
        if (!zone_fits(&want->zones[i], nlb_work_lb(work), fresh_public)) {
            return true;
        }
    }
    for (size_t i = 0; i < nlb_work_lb(work)->zone_count; i++) {
        if (!work->model->reused &&
            nlb_lb_find_zone(want, nlb_work_lb(work)->zones[i].zone_id) == NULL) {
            return true;
        }
    }
    return false;
}

static void list_zones(const struct nlb_lb *lb, struct ccm_buf *text)
{
    for (size_t i = 0; i < lb->zone_count; i++) {
        ccm_buf_addf(text, "%s%s:%s", i == 0 ? "" : " ", lb->zones[i].zone_id,
                     lb->zones[i].vswitch_id == NULL ? "" : lb->zones[i].vswitch_id);
    }
}

static int plan_zones(struct lbc_work *work, bool fresh_public)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 4096 };
    const struct nlb_lb *want = &nlb_work_model(work)->want.lb;
    struct nlb_step *step = NULL;

    if (!nlb_work_model(work)->zones_explicit || work->model->as_it_is || want->zone_count == 0 ||
        !zones_differ(work, fresh_public)) {
        return 0;
    }
    step = nlb_plan_lb_step(work, NLB_STEP_ZONES);
    if (step == NULL || nlb_lb_copy_zones(&step->lb, want) < 0) {
        return -ENOMEM;
    }
    ccm_buf_adds(&change, "instead of ");
    list_zones(nlb_work_lb(work), &change);
    return lbc_step_set_change(&step->lbc, &change);
}

static int plan_ipv6(struct lbc_work *work)
{
    const char *present = work->lb->texts[NLB_LB_IPV6_TYPE];
    const char *value = lbc_plan_lb_target(work, NLB_LB_IPV6_TYPE);

    if (value == NULL || work->model->reused ||
        (present == NULL && ccm_text_equal_case(value, TYPE_PRIVATE))) {
        return 0;
    }
    return lbc_work_value_step(work, NLB_STEP_IPV6, value, NULL);
}

/* --- bandwidth package --- */

static int plan_detach(struct lbc_work *work)
{
    const char *present = work->lb->texts[NLB_LB_PACKAGE];

    return ccm_text_empty(present) || lbc_plan_lb_target(work, NLB_LB_PACKAGE) == NULL
               ? 0
               : lbc_work_value_step(work, NLB_STEP_DETACH, present, NULL);
}

static int plan_attach(struct lbc_work *work)
{
    const char *wanted = lbc_plan_lb_target(work, NLB_LB_PACKAGE);

    return ccm_text_empty(wanted) ? 0 : lbc_work_value_step(work, NLB_STEP_ATTACH, wanted, NULL);
}

/* --- all of it --- */

/* A package is for public addresses only: off before the type changes, on after it. */
static int plan_addresses(struct lbc_work *work)
{
    bool fresh_public = false;
    int r = plan_detach(work);

    if (r == 0) {
        r = plan_address_type(work, &fresh_public);
    }
    if (r == 0) {
        r = plan_zones(work, fresh_public);
    }
    if (r == 0) {
        r = plan_ipv6(work);
    }
    if (r == 0) {
        r = plan_attribute(work);
    }
    return r < 0 ? r : plan_attach(work);
}

static int plan_lb_parts(struct lbc_work *work, struct nlb_lb *pretend)
{
    int r = 0;

    if (nlb_work_have(work)->lb.lbc.id == NULL) {
        r = plan_creation(work, pretend);
    } else {
        check_immutable(work);
    }
    if (r == 0) {
        r = nlb_plan_security(work);
    }
    if (r == 0) {
        r = lbc_plan_tags(work); /* before the name: without both nobody would find it again */
    }
    if (r == 0) {
        r = plan_protections(work, lbc_plan_lb_target(work, NLB_LB_PROTECT),
                             lbc_plan_lb_target(work, NLB_LB_MODIFICATION));
    }
    return r < 0 ? r : plan_addresses(work);
}

int nlb_plan_lb(struct lbc_work *work)
{
    /* What it will be, while it is still to be made; for these parts alone. */
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb pretend = { 0 };
    const struct lbc_lb *present = work->lb;
    int r = 0;

    if (!work->plan->blocked || !work->model->reused) {
        r = plan_lb_parts(work, &pretend);
    }
    work->lb = present;
    return r;
}

/* --- letting go --- */

static int plan_unprotect(struct lbc_work *work, bool both)
{
    char *const *have = work->lb->texts;
    const bool off = ccm_text_equal(have[NLB_LB_PROTECT], "false");
    const bool open = !both || ccm_text_equal(have[NLB_LB_MODIFICATION], "NonProtection");

    return plan_protections(work, off ? NULL : "false", open ? NULL : "NonProtection");
}

int nlb_plan_unprotect_lb(struct lbc_work *work)
{
    return work->lb->id == NULL ? 0 : plan_unprotect(work, true);
}

int nlb_plan_drop_lb(struct lbc_work *work)
{
    const int r = work->lb->id == NULL ? 0 : plan_unprotect(work, false);

    return r < 0 || work->lb->id == NULL ? r : lbc_work_last_step(work, LBC_STEP_DELETE_LB);
}
