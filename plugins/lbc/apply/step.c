#include "lbc/apply/step.h"

#include "util/array.h"

#include <stdlib.h>
#include <string.h>

static const char *const common_names[] = {
    [LBC_STEP_CREATE_LB] = "create load balancer",
    [LBC_STEP_TAG] = "tag load balancer",
    [LBC_STEP_UNTAG] = "untag load balancer",
    [LBC_STEP_DELETE_LB] = "delete load balancer",
    [LBC_STEP_DELETE_LISTENER] = "delete listener",
    [LBC_STEP_CREATE_GROUP] = "create server group",
    [LBC_STEP_UPDATE_GROUP] = "update server group",
    [LBC_STEP_ADD] = "add servers",
    [LBC_STEP_REMOVE] = "remove servers",
    [LBC_STEP_UPDATE] = "set weights",
    [LBC_STEP_CREATE_LISTENER] = "create listener",
    [LBC_STEP_UPDATE_LISTENER] = "update listener",
    [LBC_STEP_RESTORE_LISTENER] = "put back listener",
    [LBC_STEP_DELETE_GROUP] = "delete server group",
};

void lbc_sent_fini(struct lbc_sent *sent)
{
    free(sent->made_id);
    memset(sent, 0, sizeof(*sent));
}

static void step_free(const struct lbc_step_table *table, struct lbc_step *step)
{
    if (table->fini != NULL) {
        table->fini(step);
    }
    if (step->to != NULL) {
        lbc_listener_fini(step->to, table->state);
        free(step->to);
    }
    lbc_backends_fini(&step->backends);
    lbc_attrs_fini(&step->attrs);
    lbc_tags_fini(&step->tags);
    lbc_texts_fini(&step->texts);
    free(step->value);
    free(step->extra);
    free(step->change);
    lbc_sent_fini(&step->sent);
    free(step);
}

void lbc_plan_fini(struct lbc_plan *plan)
{
    for (size_t i = 0; i < plan->len; i++) {
        step_free(plan->table, plan->steps[i]);
    }
    free(plan->steps);
    lbc_texts_fini(&plan->waiting);
    memset(plan, 0, sizeof(*plan));
}

struct lbc_step *lbc_plan_new_step(struct lbc_plan *plan, unsigned type, unsigned stage)
{
    struct lbc_step *step = NULL;

    if (ccm_array_grow(&plan->steps, &plan->cap, plan->len + 1, sizeof(struct lbc_step *)) == 0) {
        step = calloc(1, plan->table->size);
    }
    if (step != NULL) {
        step->type = type;
        step->stage = stage;
        plan->steps[plan->len++] = step;
    }
    return step;
}

unsigned lbc_plan_end(const struct lbc_plan *plan)
{
    unsigned end = 0;

    for (size_t i = 0; i < plan->len; i++) {
        end = plan->steps[i]->stage >= end ? plan->steps[i]->stage + 1 : end;
    }
    return end;
}

void lbc_plan_sort(struct lbc_plan *plan)
{
    for (size_t i = 1; i < plan->len; i++) { /* nearly sorted already */
        struct lbc_step *step = plan->steps[i];
        size_t at = i;

        while (at > 0 && plan->steps[at - 1]->stage > step->stage) {
            at--;
        }
        memmove(&plan->steps[at + 1], &plan->steps[at], (i - at) * sizeof(struct lbc_step *));
        plan->steps[at] = step;
    }
}

const char *lbc_step_name(const struct lbc_step_table *table, unsigned type)
{
    const char *own = table->rows == NULL ? NULL : table->rows[type].name;

    return own != NULL || type >= LBC_STEP_OWN ? own : common_names[type];
}

int lbc_step_set_change(struct lbc_step *step, struct ccm_buf *change)
{
    const int r = ccm_buf_error(change);

    return r < 0 || change->len == 0 ? r : ccm_buf_take(change, &step->change);
}
