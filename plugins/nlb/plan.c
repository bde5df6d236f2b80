#include "plan.h"

#include "compare.h"
#include "lbc/model/lb_attrs.h"
#include "lbc/model/owner.h"
#include "names.h"
#include "nlb.h"
#include "plan_parts.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void step_fini(struct nlb_step *step)
{
    free(step->id);
    free(step->value);
    free(step->change);
    lbc_tags_fini(&step->tags);
    lbc_texts_fini(&step->texts);
    nlb_lb_fini(&step->lb);
    nlb_group_fini(&step->group);
    nlb_listener_fini(&step->listener);
    nlb_security_group_fini(&step->security_group);
}

void nlb_plan_fini(struct nlb_plan *plan)
{
    for (size_t i = 0; i < plan->len; i++) {
        step_fini(&plan->steps[i]);
    }
    free(plan->steps);
    lbc_texts_fini(&plan->waiting);
    memset(plan, 0, sizeof(*plan));
}

struct nlb_step *nlb_plan_new_step(struct nlb_plan *plan, enum nlb_step_type type, unsigned stage)
{
    if (ccm_array_grow(&plan->steps, &plan->cap, plan->len + 1, sizeof(*plan->steps)) < 0) {
        return NULL;
    }
    struct nlb_step *step = &plan->steps[plan->len++];

    memset(step, 0, sizeof(*step));
    step->type = type;
    step->stage = stage;
    step->protocol = LBC_OTHER;
    return step;
}

struct nlb_step *nlb_plan_lb_step(struct nlb_work *work, enum nlb_step_type type)
{
    return nlb_plan_new_step(work->plan, type, work->stage++);
}

unsigned nlb_plan_end(const struct nlb_plan *plan)
{
    unsigned end = 0;

    for (size_t i = 0; i < plan->len; i++) {
        end = plan->steps[i].stage >= end ? plan->steps[i].stage + 1 : end;
    }
    return end;
}

int nlb_plan_set_change(struct nlb_step *step, struct ccm_buf *change)
{
    const int r = ccm_buf_error(change);

    return r < 0 || change->len == 0 ? r : ccm_buf_take(change, &step->change);
}

/* By stage; steps of one stage keep their order. Nearly sorted already. */
static void plan_sort_steps(struct nlb_plan *plan)
{
    for (size_t i = 1; i < plan->len; i++) {
        const struct nlb_step step = plan->steps[i];
        size_t at = i;

        while (at > 0 && plan->steps[at - 1].stage > step.stage) {
            at--;
        }
        if (at < i) {
            memmove(&plan->steps[at + 1], &plan->steps[at], (i - at) * sizeof(step));
            plan->steps[at] = step;
        }
    }
}

static int plan_finish_steps(const struct nlb_work *work, int r)
{
    plan_sort_steps(work->plan);
    return r < 0 ? r : *work->failed;
}

enum lbc_owner nlb_plan_owner(const struct nlb_work *work, const char *text, bool as_listener)
{
    enum lbc_owner owner = LBC_OWNER_NONE;
    const int r =
        nlb_name_parse(text, as_listener, &work->in->service->meta, work->in->cluster_id, &owner);

    if (r < 0) {
        *work->failed = r;
        return LBC_OWNER_NONE;
    }
    return owner;
}

static bool is_port_refused(const struct nlb_work *work)
{
    const struct nlb_state *want = &work->in->model->want;

    for (size_t i = 0; i < want->lbc.listener_count; i++) {
        if (nlb_plan_is_refused(work, nlb_listener_at(want, i))) {
            return true;
        }
    }
    return false;
}

int nlb_plan_ensure(struct nlb_plan *plan, const struct nlb_plan_input *in,
                    struct lbc_problems *problems)
{
    CCM_CLEANUP(nlb_lb_fini) struct nlb_lb pretend = { 0 };
    int failed = 0;
    struct nlb_work work = { .plan = plan, .in = in, .problems = problems, .failed = &failed };
    const bool listeners = lbc_model_has_listeners(&in->model->lbc);
    int r = 0;

    plan->blocked = is_port_refused(&work);
    if (plan->blocked && in->model->lbc.reused) {
        work.lb = &in->have->lb;
    } else {
        r = nlb_plan_lb(&work, &pretend);
    }
    if (r == 0 && listeners) {
        r = nlb_plan_stale_listeners(&work);
    }
    if (r == 0) {
        r = nlb_plan_groups(&work);
    }
    if (r == 0 && listeners) {
        r = nlb_plan_listeners(&work);
    }
    work.stage = nlb_plan_end(plan);
    if (r == 0) {
        r = nlb_plan_stale_groups(&work);
    }
    if (r == 0) {
        r = nlb_plan_stale_security_group(&work);
    }
    return plan_finish_steps(&work, r);
}

/* --- the end of a Service --- */

static int plan_unprotect_lb(struct nlb_work *work, bool both)
{
    const char *deletion = work->in->have->lb.fields[NLB_LB_PROTECT];
    const char *modification = work->in->have->lb.fields[NLB_LB_MODIFICATION];
    const bool off = ccm_text_equal(deletion, "false");
    const bool open = !both || ccm_text_equal(modification, "NonProtection");
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf change = { .max = 256 };
    struct nlb_step *step = NULL;

    if (off && open) {
        return 0;
    }
    step = nlb_plan_lb_step(work, NLB_STEP_PROTECT);
    if (step == NULL || (!off && nlb_lb_set(&step->lb, NLB_LB_PROTECT, "false") < 0) ||
        (!open && nlb_lb_set(&step->lb, NLB_LB_MODIFICATION, "NonProtection") < 0)) {
        return -ENOMEM;
    }
    if (!off) {
        lbc_compare_add_change(&change, "deletion protection", deletion, "false");
    }
    if (!open) {
        lbc_compare_add_change(&change, "modification protection", modification, "NonProtection");
    }
    return nlb_plan_set_change(step, &change);
}

/* The security group for source ranges; behind everything else. */
static int plan_drop_security_group(struct nlb_work *work)
{
    struct nlb_step *step = NULL;

    if (work->in->have->security_group.id == NULL) {
        return 0;
    }
    step = nlb_plan_new_step(work->plan, NLB_STEP_DELETE_SECURITY_GROUP, work->stage);
    if (step == NULL || lbc_text_set(&step->id, work->in->have->security_group.id) < 0) {
        return -ENOMEM;
    }
    step->last = true;
    return 0;
}

int nlb_plan_delete(struct nlb_plan *plan, const struct nlb_plan_input *in)
{
    int failed = 0;
    struct nlb_work work = { .plan = plan, .in = in, .lb = &in->have->lb, .failed = &failed };
    struct nlb_step *step = NULL;
    int r = 0;

    if (in->have->lb.id != NULL) {
        r = plan_unprotect_lb(&work, false);
        step = r < 0 ? NULL : nlb_plan_lb_step(&work, NLB_STEP_DELETE_LB);
        if (step == NULL) {
            return -ENOMEM;
        }
        step->last = true;
    }
    r = nlb_plan_drop_groups(&work);
    return plan_finish_steps(&work, r < 0 ? r : plan_drop_security_group(&work));
}

int nlb_plan_copy_tag(const struct lbc_tags *present, const char *key, const char *value,
                      struct lbc_tags *ret)
{
    return ccm_text_equal(lbc_tags_get(present, key), value) ? lbc_tags_put(ret, key, value) : 0;
}

static int plan_untag_lb(struct nlb_work *work, const char *owner)
{
    const struct lbc_tags *present = &work->in->have->lb.tags;
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags remove = { 0 };
    struct nlb_step *step = NULL;

    if (nlb_plan_copy_tag(present, NLB_TAG_OWNER, owner, &remove) < 0 ||
        nlb_plan_copy_tag(present, NLB_TAG_CLUSTER, work->in->cluster_id, &remove) < 0) {
        return -ENOMEM;
    }
    if (remove.len == 0) {
        return 0;
    }
    step = nlb_plan_lb_step(work, NLB_STEP_UNTAG);
    if (step == NULL) {
        return -ENOMEM;
    }
    step->last = true;
    return lbc_tags_copy(&step->tags, &remove);
}

int nlb_plan_preserve(struct nlb_plan *plan, const struct nlb_plan_input *in)
{
    int failed = 0;
    struct nlb_work work = { .plan = plan, .in = in, .lb = &in->have->lb, .failed = &failed };
    char owner[LBC_OWNER_LB_NAME];
    int r = 0;

    if (in->have->lb.id == NULL) {
        return 0;
    }
    lbc_owner_lb_name(&in->service->meta, owner);
    r = plan_unprotect_lb(&work, true);
    if (r == 0) {
        r = nlb_plan_untag_groups(&work);
    }
    work.stage = nlb_plan_end(plan);
    /* The very last: without its tag nobody would come back to what is left to do. */
    return plan_finish_steps(&work, r < 0 ? r : plan_untag_lb(&work, owner));
}

int nlb_plan_leave(struct nlb_plan *plan, const struct nlb_plan_input *in)
{
    int failed = 0;
    struct nlb_work work = { .plan = plan, .in = in, .lb = &in->have->lb, .failed = &failed };
    int r = 0;

    if (lbc_model_has_listeners(&in->model->lbc)) {
        r = nlb_plan_stale_listeners(&work);
    }
    work.stage = nlb_plan_end(plan);
    r = r < 0 ? r : nlb_plan_drop_groups(&work);
    return plan_finish_steps(
        &work,
        r < 0 ? r : plan_drop_security_group(&work)); /* of a load balancer of its own, before */
}

/* --- what is asked for at present --- */

static void lb_record_explicit(struct nlb_lb *have, const struct nlb_model *model)
{
    unsigned explicit = have->explicit | model->lbc.explicit;

    for (unsigned i = 0; i < NLB_LB_FIELD_COUNT; i++) {
        const char *fallback = lbc_lb_fallback(lbc_lb_row(&nlb_annotations, i));

        if (((model->lbc.explicit | model->kept) >> i & 1U) == 0 && fallback != NULL &&
            ccm_text_equal(have->fields[i], fallback)) {
            explicit &= ~(1U << i);
        }
    }
    have->explicit = explicit;
}

void nlb_plan_record_explicit(struct nlb_state *have, const struct nlb_model *model)
{
    lb_record_explicit(&have->lb, model);
    for (size_t i = 0; i < model->want.lbc.group_count; i++) {
        const struct nlb_group *want = nlb_group_at(&model->want, i);
        struct nlb_group *group = nlb_state_group_for(have, want);

        if (group != NULL && want->lbc.id == NULL && !want->lbc.broken) {
            const struct lbc_compare compare = nlb_compare_groups(want, group);

            lbc_compare_record(&compare, &group->lbc.attrs);
        }
    }
    for (size_t i = 0; i < model->want.lbc.listener_count; i++) {
        const struct nlb_listener *want = nlb_listener_at(&model->want, i);
        struct nlb_listener *listener = nlb_state_listener_like(have, want);

        if (listener != NULL && !want->lbc.broken) {
            const struct lbc_compare compare =
                lbc_compare_listeners(&nlb_annotations, &want->lbc, &listener->lbc);

            lbc_compare_record(&compare, &listener->lbc.attrs);
        }
    }
}
