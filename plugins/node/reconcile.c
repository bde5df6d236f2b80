#include "reconcile.h"

#include "address.h"
#include "duplicate.h"
#include "events.h"
#include "forward.h"
#include "gone.h"
#include "lingjun.h"
#include "look.h"
#include "measure.h"
#include "page.h"
#include "view.h"
#include "write.h"

#include <errno.h>
#include <string.h>

/* A node that the periodic look found something wrong with, and could not put right. */
#define RETRY_MS 1500

/* ---- the nodes of the call ---- */

/* The node has gone: what is known of it goes, too. */
static void run_forget(const struct node_run *run, size_t key)
{
    struct node_control *control = run->control;
    const char *name = run->req->keys[key];

    node_memory_forget(control->memory, name);
    node_gone_forget(control, name);
    node_events_forget(control, name);
    node_views_forget(control->views, name);
    control->host->settle(control->host, run->req, key, 0, NULL);
}

static int run_take_keys(struct node_run *run)
{
    const struct ccm_host *host = run->control->host;
    int r = 0;

    for (size_t i = 0; i < run->req->key_count && r == 0; i++) {
        const struct ccm_object *object = NULL;

        if (strcmp(run->req->keys[i], NODE_PASS_KEY) == 0) {
            run->pass_key = i;
            continue;
        }
        object = host->get(host, CCM_KIND_NODE, run->req->keys[i]);
        if (object == NULL) {
            run_forget(run, i);
        } else {
            r = node_run_add(run, object, i);
        }
    }
    if (r == 0 && run->pass_key != NODE_NOBODY) {
        r = node_page_take(run);
    }
    return r;
}

/* ---- what the answers mean ---- */

/* A node that was never initialised waits for its instance; one that is alive is none of our
 * business, whatever the cloud says. */
static void item_judge_missing(struct node_run *run, struct node_item *item)
{
    struct ccm_error err = CCM_ERROR_INIT;

    if (!item->subject.fresh || item->failed || item->subject.kind != NODE_ECS ||
        (item->answer != NODE_ABSENT && item->answer != NODE_UNPROVED)) {
        return;
    }
    (void)ccm_error_set(&err, 0, CCM_ERROR_NOT_FOUND,
                        "instance %.70s is not in region %.70s, or not to be seen with these "
                        "credentials: the node keeps its taint",
                        item->subject.instance,
                        item->subject.region); /* the failure is kept in the item */
    node_run_fail(run, item, &err, false);
}

/* ---- verdicts ---- */

static void item_settle(const struct node_run *run, const struct node_item *item)
{
    const struct ccm_host *host = run->control->host;

    if (item->key == NODE_NOBODY) {
        if ((item->failed && !item->shared) || item->again_ms > 0) {
            host->enqueue(host, item->object->name, CCM_LANE_BULK,
                          item->failed ? RETRY_MS : item->again_ms);
        }
    } else if (item->failed && item->shared) {
        /* It has the verdict of the call: what was one call of the cloud is one again. */
    } else if (item->failed) {
        host->settle(host, run->req, item->key, 0, &item->err);
    } else if (!item->waits || run->sync.kind != CCM_ERROR_NONE) {
        host->settle(host, run->req, item->key, item->waits ? run->wait_ms : item->again_ms, NULL);
    }
}

static bool run_has_page_failed(const struct node_run *run)
{
    for (size_t i = 0; i < run->len; i++) {
        const struct node_item *item = &run->items[i];

        if (item->key == NODE_NOBODY && (item->waits || (item->failed && item->shared))) {
            return true;
        }
    }
    return false;
}

/* A page that failed comes again, after the period at the latest. When it fails again the others
 * have their turn: a region that cannot be asked keeps nobody waiting. */
static void run_settle_pass(struct node_run *run)
{
    const struct ccm_host *host = run->control->host;
    const bool failed = run->sync.kind != CCM_ERROR_NONE;

    if (run->pass_key == NODE_NOBODY) {
        return;
    }
    if (!run_has_page_failed(run)) {
        const uint64_t ms = node_page_delay_ms(run);

        if (run->page_end == NULL) {
            node_measure_world(run->control);
        }
        node_page_turn(run);
        run->control->page_failed = false;
        host->settle(host, run->req, run->pass_key, ms, NULL);
    } else if (failed) {
        if (run->control->page_failed) {
            node_page_turn(run);
        }
        run->control->page_failed = !run->control->page_failed;
        host->settle(host, run->req, run->pass_key, (uint64_t)run->control->period_ms, &run->sync);
    } /* else it waits, with the call */
}

static int run_settle(struct node_run *run, struct ccm_result *ret, struct ccm_error *err)
{
    for (size_t i = 0; i < run->len; i++) {
        item_settle(run, &run->items[i]);
    }
    run_settle_pass(run);
    if (run->wait_ms > 0 && ret->struct_size > offsetof(struct ccm_result, flags)) {
        ret->flags = CCM_RESULT_WAITS;
    }
    ret->requeue_after_ms = run->wait_ms;
    if (run->sync.kind == CCM_ERROR_NONE) {
        return 0;
    }
    ccm_error_copy(err, &run->sync);
    return -EIO;
}

/* ---- all of it ---- */

static int run_apply(struct node_run *run)
{
    const int r = run->control->forward ? node_forward(run) : 0;

    if (r < 0) {
        return r;
    }
    if (run->dry) {
        node_write_plan(run);
        return 0;
    }
    node_write(run);
    node_gone(run);
    return 0;
}

static int run_sync(struct node_run *run, struct ccm_result *ret, struct ccm_error *err)
{
    int r = run_take_keys(run);

    r = r < 0 ? r : node_look(run);
    if (r == 0 && run->control->find) {
        r = node_address_look(run);
    }
    if (r == 0) {
        node_lingjun_look(run);
    }
    for (size_t i = 0; r == 0 && i < run->len; i++) {
        item_judge_missing(run, &run->items[i]);
    }
    r = r < 0 ? r : run_apply(run);
    if (r < 0) {
        return r == -ENOMEM ? ccm_error_nomem(err)
                            : ccm_error_set(err, r, CCM_ERROR_BUG, "nodes are not watched");
    }
    if (!run->dry) {
        node_views_take(run);
        node_emit_items(run);
        node_duplicates_emit(run);
        node_emit_sync(run);
        node_gone_publish(run->control);
    }
    return run_settle(run, ret, err);
}

int node_reconcile(struct node_control *control, const struct ccm_request *req,
                   struct ccm_result *ret, struct ccm_error *err)
{
    const struct ccm_host *host = control->host;
    struct node_run run = {
        .control = control,
        .req = req,
        .started_ms = host->now_ms(host),
        .dry = host->dry_run(host),
        .pass_key = NODE_NOBODY,
        .sync = CCM_ERROR_INIT,
    };
    const int r = run_sync(&run, ret, err);

    ali_call_end_request(&(const struct ali_caller){ control->ali, host, req }, NODE_PLACE);
    if (run.answers.len > 0) {
        node_measure_call(&run);
    }
    node_run_fini(&run);
    return r;
}
