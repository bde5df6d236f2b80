/* Steps that create and change the load balancer itself. */
#include "plan_parts.h"

#include "clb.h"
#include "lbc/model/lb_attrs.h"
#include "lbc/model/owner.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define SPEC_DEFAULT "slb.s1.small"

/* Case does not matter: the cloud's own spelling varies. */
static bool is_same(const char *a, const char *b)
{
    return a != NULL && b != NULL && ccm_text_equal_case(a, b);
}

/* Told, and not what is there. */
static bool lb_field_differs(const struct lbc_work *work, enum clb_lb_field id)
{
    return lbc_model_is_explicit(work->model, id) &&
           !is_same(clb_work_model(work)->want.lb.lbc.texts[id],
                    clb_work_have(work)->lb.lbc.texts[id]);
}

static int lb_step(struct lbc_work *work, unsigned type, const char *value, const char *extra)
{
    struct clb_step *step = clb_plan_new_step(work, type);

    if (step == NULL || lbc_text_set(&step->lbc.value, value) < 0 ||
        lbc_text_set(&step->extra, extra) < 0) {
        return -ENOMEM;
    }
    return 0;
}

/* --- what cannot be changed --- */

static void refuse_change(const char *what, struct lbc_problems *problems)
{
    struct ccm_error err = CCM_ERROR_INIT;

    (void)ccm_error_set(&err, 0, CCM_ERROR_TERMINAL, "alicloud: can not change %s",
                        what); /* the result is the argument */
    lbc_problems_add(problems, &err, NULL);
}

static void check_immutable(const struct lbc_work *work, struct lbc_problems *problems)
{
    for (unsigned i = 0; i < CLB_LB_FIELD_COUNT; i++) {
        const struct lbc_anno *row = lbc_lb_row(&clb_annotations, i);
        const enum clb_lb_field id = (enum clb_lb_field)i;
        const char *present = row->immutable == NULL ? NULL : clb_work_have(work)->lb.lbc.texts[i];

        /* Of somebody else's it was compared before, see reuse.c. */
        if (present == NULL || (work->model->reused && id == CLB_LB_ADDRESS_TYPE)) {
            continue;
        }
        if (id == CLB_LB_IP_VERSION && !lbc_model_is_explicit(work->model, id)) {
            if (!is_same(present, row->fallback) && !clb_work_model(work)->keep_version) {
                refuse_change(row->immutable, problems);
            }
        } else if (lb_field_differs(work, id) &&
                   !(id == CLB_LB_VSWITCH &&
                     clb_work_model(work)->want.lb.lbc.texts[CLB_LB_VSWITCH] == NULL)) {
            refuse_change(row->immutable, problems);
        }
    }
}

/* --- what can --- */

static int plan_charge(struct lbc_work *work)
{
    const struct clb_lb *want = &clb_work_model(work)->want.lb;
    const char *type = lbc_model_is_explicit(work->model, CLB_LB_CHARGE)
                           ? want->lbc.texts[CLB_LB_CHARGE]
                           : clb_work_have(work)->lb.lbc.texts[CLB_LB_CHARGE];
    const bool by_spec = is_same(type, "PayBySpec");

    if (lb_field_differs(work, CLB_LB_CHARGE)) {
        const char *spec = lbc_model_is_explicit(work->model, CLB_LB_SPEC)
                               ? want->lbc.texts[CLB_LB_SPEC]
                               : SPEC_DEFAULT;

        return lb_step(work, CLB_STEP_CHARGE, want->lbc.texts[CLB_LB_CHARGE],
                       by_spec ? spec : NULL);
    }
    return by_spec && lb_field_differs(work, CLB_LB_SPEC)
               ? lb_step(work, CLB_STEP_SPEC, want->lbc.texts[CLB_LB_SPEC], NULL)
               : 0;
}

/* From bandwidth to traffic it counts from the next day on; until then the old values are shown. */
static bool is_ordered(const struct lbc_work *work, const char *charge, const char *bandwidth)
{
    const struct clb_lb *have = &clb_work_have(work)->lb;

    return work->in->order != NULL &&
           lbc_order_stands(work->in->order,
                            clb_lb_charge_what(have, have->lbc.texts[CLB_LB_TRAFFIC_CHARGE],
                                               have->lbc.texts[CLB_LB_BANDWIDTH]),
                            clb_lb_charge_what(have, charge, bandwidth), work->in->now_ms);
}

static int plan_internet(struct lbc_work *work)
{
    const struct clb_lb *want = &clb_work_model(work)->want.lb;
    const struct clb_lb *have = &clb_work_have(work)->lb;
    const bool by_bandwidth =
        lbc_model_is_explicit(work->model, CLB_LB_TRAFFIC_CHARGE) &&
        ccm_text_equal(want->lbc.texts[CLB_LB_TRAFFIC_CHARGE], "paybybandwidth");

    if (!is_same(have->lbc.texts[CLB_LB_ADDRESS_TYPE], "internet") ||
        !(lb_field_differs(work, CLB_LB_TRAFFIC_CHARGE) ||
          (by_bandwidth && lb_field_differs(work, CLB_LB_BANDWIDTH)))) {
        return 0;
    }
    const char *charge = lbc_model_is_explicit(work->model, CLB_LB_TRAFFIC_CHARGE)
                             ? want->lbc.texts[CLB_LB_TRAFFIC_CHARGE]
                             : have->lbc.texts[CLB_LB_TRAFFIC_CHARGE];
    const char *bandwidth = lbc_model_is_explicit(work->model, CLB_LB_BANDWIDTH)
                                ? want->lbc.texts[CLB_LB_BANDWIDTH]
                                : have->lbc.texts[CLB_LB_BANDWIDTH];

    return is_ordered(work, charge, bandwidth)
               ? 0
               : lb_step(work, CLB_STEP_INTERNET, charge, bandwidth);
}

static int plan_protections(struct lbc_work *work)
{
    const struct clb_lb *want = &clb_work_model(work)->want.lb;
    int r = 0;

    if (lbc_model_is_explicit(work->model, CLB_LB_PROTECT) &&
        want->protect != clb_work_have(work)->lb.protect) {
        r = lb_step(work, CLB_STEP_PROTECT, want->protect ? "on" : "off", NULL);
    }
    if (r == 0 && lb_field_differs(work, CLB_LB_MODIFICATION)) {
        r = lb_step(work, CLB_STEP_PROTECT_MODIFICATION, want->lbc.texts[CLB_LB_MODIFICATION],
                    NULL);
    }
    return r;
}

int clb_plan_lb(struct lbc_work *work)
{
    const struct clb_lb *want = &clb_work_model(work)->want.lb;
    const struct clb_lb *have = &clb_work_have(work)->lb;
    int r;

    if (work->plan->blocked && work->model->reused) {
        return 0;
    }
    if (have->lbc.id == NULL) {
        return clb_plan_new_step(work, LBC_STEP_CREATE_LB) == NULL ? -ENOMEM : 0;
    }
    check_immutable(work, work->problems);
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
    if (r == 0 && lbc_model_is_explicit(work->model, CLB_LB_NAME) &&
        have->lbc.texts[CLB_LB_NAME] != NULL &&
        !ccm_text_equal(want->lbc.texts[CLB_LB_NAME], have->lbc.texts[CLB_LB_NAME])) {
        r = lb_step(work, CLB_STEP_RENAME, want->lbc.texts[CLB_LB_NAME], NULL);
    }
    return r;
}

/* --- letting go --- */

int clb_plan_unprotect_lb(struct lbc_work *work)
{
    const struct clb_lb *have = &clb_work_have(work)->lb;
    int r = have->protect ? lb_step(work, CLB_STEP_UNPROTECT, NULL, NULL) : 0;

    return r == 0 && ccm_text_equal(have->lbc.texts[CLB_LB_MODIFICATION], "ConsoleProtection")
               ? lb_step(work, CLB_STEP_PROTECT_MODIFICATION, "NonProtection", NULL)
               : r;
}

int clb_plan_untag_reused(struct lbc_work *work)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags remove = { 0 };
    const struct lbc_tags *have = &clb_work_have(work)->lb.lbc.tags;

    if (!work->in->last_user) {
        return 0;
    }
    return lbc_tags_copy_equal(have, CLB_TAG_REUSE, "true", &remove) < 0
               ? -ENOMEM
               : lbc_plan_tags_step(work, LBC_STEP_UNTAG, &remove, true);
}

int clb_plan_drop_lb(struct lbc_work *work)
{
    const struct clb_lb *have = &clb_work_have(work)->lb;

    if (have->lbc.id == NULL) {
        return 0;
    }
    if (have->protect && lbc_work_lb_step(work, CLB_STEP_UNPROTECT) == NULL) {
        return -ENOMEM;
    }
    return lbc_work_lb_step(work, LBC_STEP_DELETE_LB) == NULL ? -ENOMEM : 0;
}
