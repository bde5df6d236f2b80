/* Steps that create and change the load balancer itself. */
#include "plan_parts.h"

#include "clb.h"
#include "lbc/model/owner.h"
#include "lbc/rules/lb_attrs.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define SPEC_DEFAULT "slb.s1.small"

/* --- what cannot be changed --- */

static void refuse_change(const struct lbc_work *work, unsigned number, const char *what)
{
    char text[128];

    ccm_text_printf(text, sizeof(text), "alicloud: can not change %s", what);
    lbc_plan_lb_refuse(work, number, text);
}

static void check_immutable(const struct lbc_work *work)
{
    for (unsigned i = 0; i < CLB_LB_FIELD_COUNT; i++) {
        const struct lbc_anno *row = lbc_lb_row(&clb_annotations, i);
        const enum clb_lb_field id = (enum clb_lb_field)i;
        const char *present = work->lb->texts[i];
        bool differs = lbc_plan_lb_target(work, i) != NULL;

        if (id == CLB_LB_IP_VERSION && !lbc_model_is_explicit(work->model, i)) {
            differs =
                !clb_work_model(work)->keep_version && !ccm_text_equal_case(present, row->fallback);
        }
        /* Of somebody else's it was compared before, see reuse.c. */
        if (row->immutable != NULL && present != NULL && differs &&
            !(work->model->reused && id == CLB_LB_ADDRESS_TYPE)) {
            refuse_change(work, i, row->immutable);
        }
    }
}

/* --- what can --- */

/* What is asked for, else what there is. */
static const char *lb_text(const struct lbc_work *work, enum clb_lb_field id)
{
    return lbc_model_is_explicit(work->model, id) ? lbc_state_lb(work->want)->texts[id]
                                                  : work->lb->texts[id];
}

static int plan_charge(struct lbc_work *work)
{
    const char *charge = lbc_plan_lb_target(work, CLB_LB_CHARGE);
    const char *spec = lbc_plan_lb_target(work, CLB_LB_SPEC);
    const bool by_spec = ccm_text_equal_case(lb_text(work, CLB_LB_CHARGE), "PayBySpec");

    if (charge != NULL) {
        spec = lbc_model_is_explicit(work->model, CLB_LB_SPEC) ? lb_text(work, CLB_LB_SPEC)
                                                               : SPEC_DEFAULT;
        return lbc_work_value_step(work, CLB_STEP_CHARGE, charge, by_spec ? spec : NULL);
    }
    return by_spec && spec != NULL ? lbc_work_value_step(work, CLB_STEP_SPEC, spec, NULL) : 0;
}

/* From bandwidth to traffic it counts from the next day on; until then the old values are shown. */
static bool is_ordered(const struct lbc_work *work, const char *charge, const char *bandwidth)
{
    const struct clb_lb *have = &clb_work_have(work)->lb;

    return work->in->pending != NULL &&
           lbc_pending_change_stands(work->in->pending,
                                     clb_lb_charge_what(have,
                                                        have->lbc.texts[CLB_LB_TRAFFIC_CHARGE],
                                                        have->lbc.texts[CLB_LB_BANDWIDTH]),
                                     clb_lb_charge_what(have, charge, bandwidth), work->in->now_ms);
}

static int plan_internet(struct lbc_work *work)
{
    const char *charge = lb_text(work, CLB_LB_TRAFFIC_CHARGE);
    const char *bandwidth = lb_text(work, CLB_LB_BANDWIDTH);
    const bool by_bandwidth = lbc_model_is_explicit(work->model, CLB_LB_TRAFFIC_CHARGE) &&
                              ccm_text_equal(charge, "paybybandwidth");

    if (!ccm_text_equal_case(work->lb->texts[CLB_LB_ADDRESS_TYPE], "internet") ||
        !(lbc_plan_lb_target(work, CLB_LB_TRAFFIC_CHARGE) != NULL ||
          (by_bandwidth && lbc_plan_lb_target(work, CLB_LB_BANDWIDTH) != NULL))) {
        return 0;
    }
    return is_ordered(work, charge, bandwidth)
               ? 0
               : lbc_work_value_step(work, CLB_STEP_INTERNET, charge, bandwidth);
}

static int plan_protections(struct lbc_work *work)
{
    const char *deletion = lbc_plan_lb_target(work, CLB_LB_PROTECT);
    const char *modification = lbc_plan_lb_target(work, CLB_LB_MODIFICATION);
    int r = 0;

    if (deletion != NULL) {
        r = lbc_work_value_step(work, CLB_STEP_PROTECT, deletion, NULL);
    }
    return r < 0 || modification == NULL
               ? r
               : lbc_work_value_step(work, CLB_STEP_PROTECT_MODIFICATION, modification, NULL);
}

int clb_plan_lb(struct lbc_work *work)
{
    const char *name = work->lb->texts[CLB_LB_NAME];
    int r;

    if (work->plan->blocked && work->model->reused) {
        return 0;
    }
    if (work->lb->id == NULL) {
        return lbc_work_value_step(work, LBC_STEP_CREATE_LB, NULL, NULL);
    }
    check_immutable(work);
    r = lbc_plan_tags(work);
    if (r == 0) {
        r = plan_charge(work);
    }
    if (r == 0) {
        r = plan_internet(work);
    }
    if (r == 0) {
        r = plan_protections(work);
    }
    return r < 0 || name == NULL || ccm_text_equal(lb_text(work, CLB_LB_NAME), name)
               ? r
               : lbc_work_value_step(work, CLB_STEP_RENAME, lb_text(work, CLB_LB_NAME), NULL);
}

/* --- letting go --- */

/* To switch it off once too often is harmless. */
static bool lb_may_be_protected(const struct clb_lb *have)
{
    return !ccm_text_equal(have->lbc.texts[CLB_LB_PROTECT], "off");
}

int clb_plan_unprotect_lb(struct lbc_work *work)
{
    const struct clb_lb *have = &clb_work_have(work)->lb;
    int r =
        lb_may_be_protected(have) ? lbc_work_value_step(work, CLB_STEP_UNPROTECT, NULL, NULL) : 0;

    return r == 0 && ccm_text_equal(have->lbc.texts[CLB_LB_MODIFICATION], "ConsoleProtection")
               ? lbc_work_value_step(work, CLB_STEP_PROTECT_MODIFICATION, "NonProtection", NULL)
               : r;
}

int clb_plan_untag_reused(struct lbc_work *work)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags remove = { 0 };
    const struct lbc_tags *have = &clb_work_have(work)->lb.lbc.tags;

    if (!work->in->last_user) {
        return 0;
    }
    return lbc_tags_copy_equal(have, LBC_TAG_REUSE, "true", &remove) < 0
               ? -ENOMEM
               : lbc_plan_tags_step(work, LBC_STEP_UNTAG, &remove, true);
}

int clb_plan_drop_lb(struct lbc_work *work)
{
    const struct clb_lb *have = &clb_work_have(work)->lb;
    int r = 0;

    if (have->lbc.id == NULL) {
        return 0;
    }
    if (lb_may_be_protected(have)) {
        r = lbc_work_value_step(work, CLB_STEP_UNPROTECT, NULL, NULL);
    }
    return r < 0 ? r : lbc_work_value_step(work, LBC_STEP_DELETE_LB, NULL, NULL);
}
