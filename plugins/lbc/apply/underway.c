#include "lbc/apply/underway.h"

#include "util/array.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>

static void underway_free_job(struct lbc_underway_job *job)
{
    lbc_backends_fini(&job->backends);
    free(job->group_id);
}

void lbc_underway_fini(struct lbc_underway *underway)
{
    for (size_t i = 0; i < underway->len; i++) {
        underway_free_job(&underway->items[i]);
    }
    free(underway->items);
    *underway = (struct lbc_underway){ .items = NULL };
}

int lbc_underway_add(struct lbc_underway *underway, const struct lbc_step *step)
{
    struct lbc_underway_job job = { .type = step->type,
                                    .port = step->port,
                                    .protocol = step->protocol };
    int r = step->group == NULL ? 0 : lbc_text_set(&job.group_id, step->group->id);

    ccm_text_copy(job.id, sizeof(job.id), step->sent.job);
    ccm_text_copy(job.request_id, sizeof(job.request_id), step->sent.request_id);
    for (size_t i = 0; r == 0 && i < step->backends.len; i++) {
        r = lbc_backends_put(&job.backends, &step->backends.items[i]);
    }
    if (r == 0) {
        r = ccm_array_grow(&underway->items, &underway->cap, underway->len + 1, sizeof(job));
    }
    if (r < 0) {
        underway_free_job(&job);
        return -ENOMEM;
    }
    underway->items[underway->len++] = job;
    return 0;
}

void lbc_underway_keep(struct lbc_underway *underway, const bool *keep)
{
    size_t kept = 0;

    for (size_t i = 0; i < underway->len; i++) {
        if (keep[i]) {
            underway->items[kept++] = underway->items[i];
        } else {
            underway_free_job(&underway->items[i]);
        }
    }
    underway->len = kept;
}
