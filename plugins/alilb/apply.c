#include "alilb/apply.h"

#include "alicloud/job.h"
#include "alicloud/params.h"
#include "lbc/apply/record.h"
#include "lbc/model/owner.h"
#include "lbc/pass.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define USED_TOKEN_MS 2000 /* until the next creation, after one that made nothing */
#define GIVEN_UP_MAX  5    /* load balancers of earlier creations that are passed over in a row */

struct lbc_apply *alilb_apply_bind(struct alilb_apply *apply)
{
    struct lbc_apply *base = &apply->lbc;

    base->host = apply->call.host;
    base->req = apply->call.req;
    base->priority = &apply->call.priority;
    base->uncertain = &apply->call.uncertain;
    return base;
}

int alilb_apply_plan(struct lbc_pass *pass, struct lbc_plan *plan, enum lbc_priority priority,
                     bool fresh)
{
    struct alilb_apply apply = { .lbc = lbc_pass_begin_apply(pass, fresh),
                                 .call = alilb_call_for(pass, priority) };
    const int r = lbc_apply_run(alilb_apply_bind(&apply), plan);

    lbc_pass_end_apply(pass, &apply.lbc);
    return r;
}

static const struct alilb_apply_ops *apply_ops(const struct lbc_apply *apply)
{
    return (const struct alilb_apply_ops *)apply->ops;
}

/* Where there are no jobs and nothing is made, nobody wants to know more than that it is done. */
static struct lbc_sent *step_wants(const struct lbc_apply *apply, struct lbc_step *step, bool makes)
{
    return apply->ops->wait == NULL && !makes ? NULL : &step->sent;
}

int alilb_apply_write(struct lbc_apply *apply, struct lbc_step *step,
                      const struct alilb_action *action, const struct alilb_args *args,
                      struct ccm_error *err)
{
    return alilb_write(alilb_apply_call(apply), action, args,
                       step_wants(apply, step, action->made != NULL), err);
}

/* --- creation --- */

bool alilb_apply_is_token_taken(const struct ccm_error *err)
{
    static const char *const codes[] = { "IdempotenceSignatureMismatch",
                                         "IdempotentParameterMismatch",
                                         "LX_REQUEST_TOKEN_CONFLICT" };

    for (size_t i = 0; i < CCM_ARRAY_LEN(codes); i++) {
        if (strcmp(err->code, codes[i]) == 0) {
            return true;
        }
    }
    return false;
}

int alilb_apply_fail_creation(struct lbc_apply *apply, int r, struct ccm_error *err)
{
    if (alilb_apply_is_token_taken(err)) {
        apply->token_taken = true;
        err->kind = CCM_ERROR_TRANSIENT;
    }
    return r;
}

int alilb_apply_fail_used_token(const char *id, const struct ccm_error *why, struct ccm_error *err)
{
    ccm_error_copy(err, why);
    err->retry_after_ms = USED_TOKEN_MS;
    return ccm_error_wrap(err, -ENOENT,
                          "the cloud answered with load balancer %s of an earlier creation, which "
                          "is not the Service's any more; the next try has another ClientToken",
                          id);
}

int alilb_apply_check_made(struct lbc_apply *apply, const struct lbc_tags *tags,
                           struct ccm_error *err)
{
    char name[LBC_OWNER_LB_NAME];

    lbc_owner_lb_name(&apply->service->meta, name);
    if (*apply->attempt >= GIVEN_UP_MAX ||
        ccm_text_equal(lbc_tags_get(tags, LBC_TAG_OWNER), name)) {
        return 0;
    }
    apply->lb_gone = true;
    (*apply->attempt)++;
    return ccm_error_set(err, -EEXIST, CCM_ERROR_TRANSIENT,
                         "it does not carry the tag of this Service any more");
}

/* --- one action --- */

static const char *step_text(struct lbc_apply *apply, const struct lbc_step *step,
                             enum alilb_step_text text, char port[static 24])
{
    switch (text) {
    case ALILB_STEP_LB:
        return alilb_apply_lb_id(apply);
    case ALILB_STEP_GROUP:
        return step->group == NULL ? NULL : step->group->id;
    case ALILB_STEP_LISTENER:
        return step->listener->id;
    case ALILB_STEP_PORT:
        return alilb_number(port, step->port);
    case ALILB_STEP_PROTOCOL:
        return lbc_protocol_lower(step->protocol);
    case ALILB_STEP_PROTOCOL_NAME:
        return lbc_protocol_name(step->protocol);
    case ALILB_STEP_NAME:
        return step->want->name;
    case ALILB_STEP_DESCRIPTION:
        return step->to->description;
    case ALILB_STEP_VALUE:
        return step->value;
    case ALILB_STEP_EXTRA:
        return step->extra;
    case ALILB_STEP_WHY:
        return alilb_protect_why(step->value);
    case ALILB_STEP_OFF:
        return "off";
    default:
        return NULL;
    }
}

int alilb_apply_row(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    const struct alilb_step_row *row = &apply_ops(apply)->rows[step->type];
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    struct alilb_args args = { .repeated = row->lists ? &step->texts : NULL, .params = &params };
    char port[24];

    for (size_t i = 0; i < ALILB_TEXTS_MAX; i++) {
        args.texts[i] = step_text(apply, step, row->texts[i], port);
    }
    if (row->attrs) {
        const bool of_group = step->type == LBC_STEP_UPDATE_GROUP;

        args.attrs = of_group ? &step->attrs : &step->to->attrs;
        args.protocol = of_group ? step->group->protocol : step->to->protocol;
    }
    if (row->fill != NULL) {
        row->fill(step, &params);
    }
    const int r = alilb_apply_write(apply, step, row->action, &args, err);

    return row->takes_away && step->backends.len <= 1 ? lbc_apply_forgive(apply, r, err) : r;
}

/* --- tags --- */

int alilb_apply_tags(struct lbc_apply *apply, struct lbc_step *step, struct ccm_error *err)
{
    const struct alilb_apply_ops *product = apply_ops(apply);
    const struct alilb_tagging tagging = { .type = product->lb_type,
                                           .id = alilb_apply_lb_id(apply),
                                           .tags = &step->tags,
                                           .remove = step->type == LBC_STEP_UNTAG };
    const int r = alilb_change_tags(alilb_apply_call(apply), product->id, &tagging,
                                    step_wants(apply, step, false), err);

    return r < 0 ? lbc_record_tags_failure(step, tagging.id, r, err) : 0;
}

/* --- jobs --- */

int alilb_apply_wait(struct lbc_apply *apply, struct lbc_job *jobs, size_t count,
                     int64_t timeout_ms, struct ccm_error *err)
{
    static const enum lbc_job_state states[] = {
        [ALI_JOB_RUNNING] = LBC_JOB_RUNNING,
        [ALI_JOB_DONE] = LBC_JOB_DONE,
        [ALI_JOB_FAILED] = LBC_JOB_FAILED,
        [ALI_JOB_UNKNOWN] = LBC_JOB_UNKNOWN,
    };
    CCM_CLEANUP(ccm_freep) struct ali_job *waiting = calloc(count, sizeof(*waiting));
    const struct alilb_call *call = alilb_apply_call(apply);
    int r;

    if (waiting == NULL) {
        return ccm_error_nomem(err);
    }
    for (size_t i = 0; i < count; i++) {
        ccm_text_copy(waiting[i].id, sizeof(waiting[i].id), jobs[i].id);
    }
    r = ali_job_wait(&(const struct ali_caller){ call->ali, call->host, call->req }, waiting, count,
                     timeout_ms, call->waits || apply->underway == NULL ? 0 : ALI_PATIENCE_MS, err);
    for (size_t i = 0; i < count; i++) {
        jobs[i].state = states[waiting[i].state];
    }
    return r;
}
