/* Plans: what all parts build on; see plan.h. */
#include "lbc/apply/plan.h"

#include <errno.h>
#include <stdlib.h>

struct lbc_work lbc_work_begin(struct lbc_plan *plan, const struct lbc_plan_ops *ops,
                               const struct lbc_plan_input *in, struct lbc_problems *problems)
{
    plan->table = ops->steps;
    return (struct lbc_work){
        .ops = ops,
        .annotations = in->model->ops->rules->annotations,
        .plan = plan,
        .in = in,
        .model = in->model,
        .have = in->have,
        .want = in->model->want,
        .lb = lbc_state_lb(in->have),
        .problems = problems,
        .batch = in->batch == 0 ? ops->batch : in->batch,
    };
}

static struct lbc_step *work_new_step(struct lbc_work *work, unsigned type, unsigned stage)
{
    return lbc_plan_new_step(
        work->plan, type, lbc_work_has(work, LBC_PLAN_SERIAL) ? (unsigned)work->plan->len : stage);
}

struct lbc_step *lbc_work_lb_step(struct lbc_work *work, unsigned type)
{
    return work_new_step(work, type, work->stage++);
}

struct lbc_step *lbc_work_group_step(struct lbc_work *work, unsigned type,
                                     const struct lbc_group *want, struct lbc_group *have)
{
    struct lbc_step *step = work_new_step(work, type, work->stage);

    if (step != NULL) {
        step->want = want;
        step->group = have;
        step->port = want->port;
        step->protocol = want->protocol;
    }
    return step;
}

struct lbc_step *lbc_work_listener_step(struct lbc_work *work, unsigned type, unsigned stage,
                                        const struct lbc_listener *who, struct lbc_listener *have)
{
    struct lbc_step *step = work_new_step(work, type, stage);

    if (step != NULL) {
        step->port = who->port;
        step->last_port = who->is_range ? who->last_port : 0;
        step->protocol = who->protocol;
        step->listener = have;
        step->to = calloc(1, work->ops->steps->state->listener_size);
    }
    if (step != NULL && step->to != NULL) {
        step->to->protocol = who->protocol;
        step->to->port = who->port;
        step->to->last_port = who->last_port;
        step->to->is_range = who->is_range;
        step->to->ranges = who->ranges;
    }
    return step != NULL && step->to != NULL ? step : NULL;
}

int lbc_work_text_steps(struct lbc_work *work, unsigned type, const struct lbc_texts *texts,
                        size_t most, const struct lbc_listener *who, struct lbc_listener *have)
{
    struct lbc_step *step = NULL;

    for (size_t i = 0; i < texts->len; i++) {
        if (i % most == 0) {
            step = who == NULL ? lbc_work_lb_step(work, type)
                               : lbc_work_listener_step(work, type, work->stage++, who, have);
        }
        if (step == NULL || lbc_texts_put(&step->texts, texts->items[i]) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

int lbc_plan_next_stage(struct lbc_work *work)
{
    work->stage = lbc_plan_end(work->plan);
    return 0;
}

int lbc_plan_parse_owner(const struct lbc_plan_ops *ops, const char *text, bool as_listener,
                         const struct ccm_object *service, const char *cluster_id,
                         enum lbc_owner *ret)
{
    if (ops->parse_owner != NULL) {
        return ops->parse_owner(text, as_listener, service, cluster_id, ret);
    }
    *ret = text == NULL ? LBC_OWNER_NONE : lbc_owner_parse(text, as_listener, service, cluster_id);
    return 0;
}

bool lbc_work_is_key(const struct lbc_work *work, const char *text)
{
    enum lbc_owner owner = LBC_OWNER_NONE;

    /* out of memory it is one */
    return lbc_plan_parse_owner(work->ops, text, false, &work->in->service->meta,
                                work->in->cluster_id, &owner) < 0 ||
           owner != LBC_OWNER_NONE;
}

enum lbc_owner lbc_work_owner(struct lbc_work *work, const char *text, bool as_listener)
{
    enum lbc_owner owner = LBC_OWNER_NONE;
    const int r = lbc_plan_parse_owner(work->ops, text, as_listener, &work->in->service->meta,
                                       work->in->cluster_id, &owner);

    if (r < 0) {
        work->error = r;
        return LBC_OWNER_NONE;
    }
    return owner;
}
