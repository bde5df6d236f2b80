#include "reconcile.h"

#include "alicloud/error.h"
#include "apply.h"
#include "condition.h"
#include "events.h"
#include "floor.h"
#include "measure.h"
#include "orphan.h"
#include "read.h"
#include "util/cleanup.h"
#include "util/spread.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS      1000 /* between two looks at something on its way, at first */
#define LOOK_SHIFTS  5    /* doubled at most this often */
#define JITTER_PARTS 10   /* of the period, to either side */

/* ---- the world ---- */

static void run_fini(struct route_run *run)
{
    const struct ccm_host *host = run->route->host;

    route_plan_fini(&run->plan);
    route_past_list_free(run->past, run->past_count);
    free(run->past_frozen);
    free(run->nodes);
    if (run->objects != NULL) {
        host->release_list(host, run->objects, run->object_count);
    }
    free(run->verdicts);
    ccm_strmap_free(run->keys);
}

static int run_init_keys(struct route_run *run)
{
    const struct ccm_request *req = run->req;

    run->keys = ccm_strmap_new(NULL);
    run->verdicts = calloc(req->key_count, sizeof(*run->verdicts));
    if (run->keys == NULL || run->verdicts == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < req->key_count; i++) {
        run->verdicts[i].err = (struct ccm_error)CCM_ERROR_INIT;
        if (strcmp(req->keys[i], ROUTE_PASS_KEY) == 0) {
            run->pass_key = i;
        }
        if (ccm_strmap_set(run->keys, req->keys[i], (void *)(uintptr_t)(i + 1)) < 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* Whether the tables have to be known for that node at all. */
static bool needs_tables(const struct route_run *run, const char *name)
{
    const struct route *route = run->route;
    const struct ccm_object *object = NULL;
    struct route_node node;

    if (route_pasts_has(route->pasts, name)) {
        return true;
    }
    object = route->host->get(route->host, CCM_KIND_NODE, name);
    if (object == NULL) {
        return false;
    }
    route_node_init(&node, (const struct ccm_node *)object, ali_region(route->ali), route->ipv6);
    route->host->release(route->host, object);
    return node.class_ == ROUTE_NODE_SERVED || node.class_ == ROUTE_NODE_FROZEN;
}

static bool any_needs_tables(const struct route_run *run)
{
    for (size_t i = 0; i < run->req->key_count; i++) {
        if (i == run->pass_key || needs_tables(run, run->req->keys[i])) {
            return true;
        }
    }
    return false;
}

static int run_list_nodes(struct route_run *run)
{
    const struct route *route = run->route;
    int r = route->host->list(route->host, CCM_KIND_NODE, NULL, NULL, &run->objects,
                              &run->object_count);

    if (r < 0) {
        return r;
    }
    run->nodes = calloc(run->object_count + 1, sizeof(*run->nodes));
    if (run->nodes == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < run->object_count; i++) {
        route_node_init(&run->nodes[i], (const struct ccm_node *)run->objects[i],
                        ali_region(route->ali), route->ipv6);
    }
    r = route_pasts_copy(route->pasts, &run->past, &run->past_count);
    if (r < 0) {
        return r;
    }
    run->past_frozen = calloc(run->past_count + 1, sizeof(*run->past_frozen));
    return run->past_frozen == NULL ? -ENOMEM : 0;
}

/* For the nodes of this call, or for all in a pass. */
static int make_plan(struct route_run *run)
{
    const bool pass = run->pass_key != ROUTE_NOBODY;
    CCM_CLEANUP(ccm_freep) bool *nodes = calloc(run->object_count + 1, sizeof(*nodes));
    CCM_CLEANUP(ccm_freep) bool *past = calloc(run->past_count + 1, sizeof(*past));
    const struct route_view view = {
        .cluster = &run->route->cluster,
        .nodes = run->nodes,
        .node_count = run->object_count,
        .tables = run->route->tables,
        .table_count = run->sighted ? run->route->table_count : 0,
        .past = run->past,
        .past_count = run->past_count,
    };

    if (nodes == NULL || past == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < run->object_count; i++) {
        nodes[i] = route_run_key(run, run->objects[i]->name) != ROUTE_NOBODY;
    }
    for (size_t i = 0; i < run->past_count; i++) {
        past[i] = route_run_key(run, run->past[i].node) != ROUTE_NOBODY;
    }

    const struct route_choice choice = {
        .nodes = pass ? NULL : nodes,
        .past = pass ? NULL : past,
        .orphans = pass && (run->route->orphan_cleanup || !run->dry),
    };

    return route_plan_make(&view, &choice, &run->plan);
}

/* ---- the end of it ---- */

static bool is_proved(const struct route_run *run, size_t n)
{
    const struct route_outlook *outlook = &run->plan.nodes[n];

    return run->nodes[n].class_ == ROUTE_NODE_SERVED && outlook->missing == 0 && !outlook->stuck &&
           !outlook->wait;
}

/* Lasting: no use to try again soon. A node without its entry must not get pods then. */
static bool is_cut_off(const struct route_run *run, size_t n, const struct route_verdict *verdict)
{
    return verdict->failed && run->plan.nodes[n].missing > 0 &&
           (verdict->err.kind == CCM_ERROR_AUTH || verdict->err.kind == CCM_ERROR_TERMINAL);
}

/* What is to be said about a node; nothing is written yet. */
static void run_decide_node(struct route_run *run, size_t n, struct route_verdict *verdict)
{
    const struct ccm_node *node = run->nodes[n].object;
    const struct route_outlook *outlook = &run->plan.nodes[n];
    const enum route_class class_ = run->nodes[n].class_;
    struct ccm_error err = CCM_ERROR_INIT;

    verdict->present = true;
    verdict->node = n;
    verdict->well = is_proved(run, n) || class_ != ROUTE_NODE_SERVED;
    if (!run->sighted && (class_ == ROUTE_NODE_SERVED || class_ == ROUTE_NODE_FROZEN)) {
        verdict->again = true; /* it has become so since we looked */
        return;
    }
    verdict->look = verdict->look || outlook->wait;
    if (outlook->stuck && class_ != ROUTE_NODE_FROZEN) {
        (void)ccm_error_set(&err, 0, CCM_ERROR_TERMINAL, "%s",
                            outlook->problem); /* the fate has it */
        route_verdict_fail(verdict, &err);
    }
    if (is_proved(run, n)) {
        verdict->network =
            node->network_unavailable == CCM_CONDITION_FALSE ? verdict->network : ROUTE_NETWORK_UP;
        if (node->network_unavailable == CCM_CONDITION_FALSE && verdict->made > 0) {
            route_emit_repaired(run, node);
        }
    } else if (is_cut_off(run, n, verdict) && node->network_unavailable != CCM_CONDITION_TRUE) {
        verdict->network = ROUTE_NETWORK_DOWN;
    }
    if (verdict->failed && !verdict->shared) {
        route_emit_problem(run, (size_t)(verdict - run->verdicts), node, &verdict->err);
    }
}

/* Of a pass: nodes of other calls that have something to do. */
static void hand_out(struct route_run *run, size_t n)
{
    const struct route *route = run->route;
    const struct ccm_node *node = run->nodes[n].object;
    const struct route_outlook *outlook = &run->plan.nodes[n];
    const bool known = outlook->stuck && route_has_message(route, node->meta.name);
    const bool unsaid = is_proved(run, n) && node->network_unavailable != CCM_CONDITION_FALSE;

    if (!known &&
        (outlook->stuck || outlook->steps > 0 || outlook->missing > 0 || outlook->wait || unsaid)) {
        route->host->enqueue(route->host, node->meta.name, CCM_LANE_BULK, 0);
    }
}

static void run_decide_nodes(struct route_run *run)
{
    for (size_t n = 0; n < run->object_count; n++) {
        const size_t key = route_run_key(run, run->objects[n]->name);

        if (key != ROUTE_NOBODY) {
            run_decide_node(run, n, &run->verdicts[key]);
        } else if (run->pass_key != ROUTE_NOBODY && !run->dry) {
            hand_out(run, n);
        }
    }
}

static void finish_past(struct route_run *run)
{
    struct route *route = run->route;

    for (size_t i = 0; i < run->past_count; i++) {
        const size_t key = route_run_key(run, run->past[i].node);

        if (key == ROUTE_NOBODY && run->pass_key == ROUTE_NOBODY) {
            continue;
        }
        if (run->plan.past_left[i] == 0) {
            route_pasts_forget(route->pasts, &run->past[i]);
            route_floor_forget(route, &run->past[i]);
        } else if (key == ROUTE_NOBODY) {
            route->host->enqueue(route->host, run->past[i].node, CCM_LANE_BULK, 0);
        } else if (!run->verdicts[key].failed && run->plan.past_left[i] > run->past_frozen[i]) {
            run->verdicts[key].look = true;
        }
    }
}

/* How long to wait before the next look: longer when many in a row showed nothing. */
static uint64_t run_poll_delay(struct route_run *run)
{
    const struct route *route = run->route;
    unsigned int most = 0;
    bool look = false;

    for (size_t i = 0; i < run->req->key_count; i++) {
        look = look || run->verdicts[i].look;
    }
    for (size_t t = 0; t < route->table_count; t++) {
        struct route_table *table = &route->tables[t];

        if (!look && !run->plan.waits[t]) {
            table->polls = 0;
            continue;
        }
        table->valid = false;
        most = table->polls > most ? table->polls : most;
        table->polls += table->polls < LOOK_SHIFTS ? 1 : 0;
    }
    return (uint64_t)LOOK_MS << most;
}

/* A pass that failed comes again after its period at the latest: nobody else finds out that what
 * was wrong has been put right. */
static void settle_pass(const struct route_run *run, uint64_t after_ms, const struct ccm_error *err)
{
    const struct ccm_host *host = run->route->host;

    if (after_ms == 0 && !run->dry) {
        after_ms = (uint64_t)ccm_spread(host, run->route->period_ms, JITTER_PARTS);
    }
    host->settle(host, run->req, run->pass_key, after_ms, err);
}

/* Keys that failed for the reason that the call fails with share its verdict: they come back
 * together, so that what was one call to the cloud is one again. */
static bool shares_failure(const struct route_run *run, const struct route_verdict *verdict)
{
    return verdict->failed && verdict->shared && verdict->err.kind == run->sync.kind &&
           strcmp(verdict->err.code, run->sync.code) == 0;
}

/* What the call fails with, or 0. */
static int run_take_failure(const struct route_run *run, struct ccm_error *err)
{
    for (size_t i = 0; i < run->req->key_count; i++) {
        if (i != run->pass_key && shares_failure(run, &run->verdicts[i])) {
            ccm_error_copy(err, &run->sync);
            return -EIO;
        }
    }
    return 0;
}

/* Until what is held may go. */
static uint64_t run_frozen_delay(const struct route_run *run, int64_t later_ms)
{
    const int64_t now_ms = run->route->host->now_ms(run->route->host);

    if (later_ms == 0) {
        return 0;
    }
    return later_ms > now_ms ? (uint64_t)(later_ms - now_ms) : 1;
}

static int give_verdicts(struct route_run *run, struct ccm_error *err)
{
    const struct ccm_host *host = run->route->host;
    const uint64_t look_ms = run_poll_delay(run);
    const int r = run_take_failure(run, err);

    for (size_t i = 0; i < run->req->key_count; i++) {
        const struct route_verdict *verdict = &run->verdicts[i];
        const uint64_t after = verdict->again   ? 1
                               : verdict->waits ? run->wait_ms
                               : verdict->look  ? look_ms
                                                : run_frozen_delay(run, verdict->later_ms);

        const struct ccm_error *failure = verdict->failed ? &verdict->err : NULL;

        if (verdict->waits && !verdict->failed && r == 0) {
            continue;
        }
        if (i == run->pass_key) {
            settle_pass(run, after, failure);
            continue;
        }
        if (!verdict->present || (verdict->well && !verdict->failed)) {
            route_emit_well(run->route, run->req->keys[i],
                            verdict->present ? run->nodes[verdict->node].object : NULL);
        }
        if (!shares_failure(run, verdict)) {
            host->settle(host, run->req, i, verdict->failed ? 0 : after, failure);
        }
    }
    return r;
}

/* ---- all of it ---- */

/* 0 or -ENOMEM: the keys have no verdicts yet. */
static int run_apply_plan(struct route_run *run)
{
    struct route *route = run->route;
    bool failing = false;
    int r = route_apply(run, route->orphan_cleanup);

    if (r < 0) {
        return r;
    }
    finish_past(run);
    route_floor_publish(route);
    run_decide_nodes(run);
    route_emit_sync(run);
    for (size_t t = 0; t < route->table_count; t++) {
        failing = failing || route->tables[t].full;
    }
    if (run->sync.kind == CCM_ERROR_NONE && !failing && run->wait_ms == 0) {
        route_emit_all_well(route);
    }
    if (run->has_capacity) {
        /* It knows who waits for it. */
        route->host->enqueue(route->host, ROUTE_PASS_KEY, CCM_LANE_BULK, 0);
    }
    route_measure_world(run);
    if (!run->dry) {
        route_emit_quotas(run->route);
    }
    route_conditions_write(run);
    return 0;
}

/* Nobody knows what some table holds. */
static int fail_blind(struct route_run *run, struct ccm_error *err, int r)
{
    struct route *route = run->route;

    if (ali_error_is_put_off(err)) {
        run->wait_ms = route_run_wait_ms(err);
        route_emit_wait(route, err);
        ccm_error_clear(err);
        return 0;
    }
    if (run->pass_key != ROUTE_NOBODY) {
        route_orphans_forget(route);
    }
    if (err->kind != CCM_ERROR_CANCELLED) {
        struct ccm_buf text = { .max = 1200 };

        ccm_buf_addf(&text, "Reconciling route error: %s", err->message);
        route_emit_all(run, "SyncRouteFailed", err, ccm_buf_str(&text));
        ccm_buf_fini(&text);
    }
    if (run->pass_key != ROUTE_NOBODY) {
        settle_pass(run, 0, err);
    }
    return r;
}

static int run_sync_keys(struct route_run *run, struct ccm_error *err)
{
    struct route *route = run->route;
    const bool pass = run->pass_key != ROUTE_NOBODY;
    int r = 0;

    run->sighted = any_needs_tables(run);
    r = run->sighted ? route_read(route, run->req, pass, err) : 0;
    if (r < 0) {
        return fail_blind(run, err, r);
    }
    r = run_list_nodes(run);
    if (r == 0) {
        r = make_plan(run);
    }
    if (r == 0 && pass && !run->dry) {
        r = route_orphans_decide(run);
    }
    if (r == 0 && run->sighted && !run->dry) {
        r = route_floor_decide(run);
    }
    if (r == 0 && run->dry) {
        route_write_plan(run);
        run_decide_nodes(run);
    } else if (r == 0) {
        r = run_apply_plan(run);
    }
    if (r < 0) {
        return r == -ENOMEM ? ccm_error_nomem(err)
                            : ccm_error_set(err, r, CCM_ERROR_BUG, "nodes are not watched");
    }
    return give_verdicts(run, err);
}

/* Places that earlier calls had kept, and this one has not asked for. */
static void run_end_waits(const struct route_run *run)
{
    const struct route *route = run->route;
    const struct ali_caller by = { route->ali, route->host, run->req };

    ali_call_end_request(&by, ali_vpc_id(route->ali));
    for (size_t i = 0; i < route->table_count; i++) {
        ali_call_end_request(&by, route->tables[i].id);
    }
}

static void run_set_waits(const struct route_run *run, struct ccm_result *ret)
{
    if (run->wait_ms > 0 && ret->struct_size > offsetof(struct ccm_result, flags)) {
        ret->flags = CCM_RESULT_WAITS;
    }
    ret->requeue_after_ms = run->wait_ms;
}

int route_reconcile(struct route *route, const struct ccm_request *req, struct ccm_result *ret,
                    struct ccm_error *err)
{
    struct route_run run = {
        .route = route,
        .req = req,
        .started_ms = route->host->now_ms(route->host),
        .dry = route->host->dry_run(route->host),
        .pass_key = ROUTE_NOBODY,
        .sync = CCM_ERROR_INIT,
    };
    const int r = run_init_keys(&run) < 0 ? ccm_error_nomem(err) : run_sync_keys(&run, err);

    run_end_waits(&run);
    run_set_waits(&run, ret);
    if (run.sighted && !run.dry) {
        route_measure_call(route, run.started_ms);
    }
    run_fini(&run);
    return r;
}
