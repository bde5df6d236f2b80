/* Plans: attributes of the load balancer; see plan.h. */
#include "lbc/apply/plan.h"
#include "lbc/names.h"
#include "lbc/rules/lb_attrs.h"
#include "util/text.h"

#include <errno.h>

/* The value that shall hold; NULL = whatever there is. */
static const char *lb_attr_get_wanted(const struct lbc_work *work, unsigned number)
{
    const struct lbc_model *model = work->model;

    if (lbc_model_is_explicit(model, number)) {
        return lbc_state_lb(work->want)->texts[number];
    }
    return (model->kept >> number & 1U) == 0 && !model->reused &&
                   (work->lb->explicit >> number & 1U) != 0
               ? lbc_lb_fallback(lbc_lb_row(work->annotations, number))
               : NULL;
}

const char *lbc_plan_lb_target(const struct lbc_work *work, unsigned number)
{
    const char *wanted = lb_attr_get_wanted(work, number);
    const char *present = work->lb->texts[number];

    return wanted == NULL || ccm_text_equal_case(wanted, present == NULL ? "" : present) ? NULL
                                                                                         : wanted;
}

void lbc_plan_lb_refuse(const struct lbc_work *work, unsigned number, const char *text)
{
    const struct lbc_anno *row = lbc_lb_row(work->annotations, number);
    const char *present = work->lb->texts[number];
    struct ccm_error err = CCM_ERROR_INIT;
    char remedy[320];

    ccm_text_printf(remedy, sizeof(remedy),
                    "it is [%s]: set annotation %s%s to that%s, or delete the %s and create "
                    "it again: its address changes",
                    present == NULL ? "" : present, lbc_names.annotations, row->name,
                    lbc_model_is_explicit(work->model, number) ? " or take it away" : "",
                    work->in->noun == NULL ? "Service" : work->in->noun);
    (void)ccm_error_set(&err, 0, CCM_ERROR_TERMINAL, "%s", text); /* the text is what counts */
    lbc_problems_add(work->problems, &err, remedy);
}

int lbc_work_value_step(struct lbc_work *work, unsigned type, const char *value, const char *extra)
{
    struct lbc_step *step = lbc_work_lb_step(work, type);

    return step == NULL || lbc_text_set(&step->value, value) < 0 ||
                   lbc_text_set(&step->extra, extra) < 0
               ? -ENOMEM
               : 0;
}

int lbc_work_last_step(struct lbc_work *work, unsigned type)
{
    struct lbc_step *step = lbc_work_lb_step(work, type);

    if (step == NULL) {
        return -ENOMEM;
    }
    step->last = true;
    return 0;
}
