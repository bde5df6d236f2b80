#include "run.h"

#include "alicloud/error.h"
#include "util/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_LEAST_MS 1000

static bool run_has_node(const struct node_run *run, const char *name)
{
    for (size_t i = 0; i < run->len; i++) {
        if (strcmp(run->items[i].object->name, name) == 0) {
            return true;
        }
    }
    return false;
}

int node_run_add(struct node_run *run, const struct ccm_object *object, size_t key)
{
    if (key == NODE_NOBODY && run_has_node(run, object->name)) {
        run->control->host->release(run->control->host, object);
        return 0;
    }
    if (ccm_array_grow(&run->items, &run->cap, run->len + 1, sizeof(*run->items)) < 0) {
        run->control->host->release(run->control->host, object);
        return -ENOMEM;
    }

    struct node_item *item = &run->items[run->len++];

    *item = (struct node_item){ .object = object, .key = key, .err = CCM_ERROR_INIT };
    node_subject_init(&item->subject, node_item_object(item));
    return 0;
}

void node_run_fini(struct node_run *run)
{
    for (size_t i = 0; i < run->len; i++) {
        run->control->host->release(run->control->host, run->items[i].object);
    }
    free(run->items);
    free(run->page_end);
    node_answers_fini(&run->answers);
}

static void run_wait(struct node_run *run, struct node_item *item, const struct ccm_error *err)
{
    const uint64_t ms = err->retry_after_ms < WAIT_LEAST_MS ? WAIT_LEAST_MS : err->retry_after_ms;

    item->waits = true;
    run->wait_ms = run->wait_ms == 0 || ms < run->wait_ms ? ms : run->wait_ms;
}

void node_run_fail(struct node_run *run, struct node_item *item, const struct ccm_error *err,
                   bool shared)
{
    if (item->failed) {
        return;
    }
    if (ali_error_is_put_off(err)) {
        run_wait(run, item, err);
        return;
    }
    item->failed = true;
    item->shared = shared;
    ccm_error_copy(&item->err, err);
    if (shared && run->sync.kind == CCM_ERROR_NONE) {
        ccm_error_copy(&run->sync, err);
    }
}

/* New nodes go before what a look finds. */
static enum ali_priority run_find_priority(const struct node_run *run)
{
    for (size_t i = 0; i < run->len; i++) {
        if (run->items[i].subject.fresh) {
            return ALI_PRIO_NEW;
        }
    }
    return run->pass_key == NODE_NOBODY ? ALI_PRIO_BULK : ALI_PRIO_AUDIT;
}

struct node_call node_run_call(const struct node_run *run)
{
    return (struct node_call){
        .ali = run->control->ali,
        .host = run->control->host,
        .req = run->req,
        .priority = run_find_priority(run),
        .failed_before = run->control->sync_told,
    };
}
