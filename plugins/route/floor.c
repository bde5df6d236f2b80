#include "floor.h"

#include "alicloud/error.h"
#include "alicloud/presence.h"
#include "events.h"
#include "util/cleanup.h"
#include "util/lease_event.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGN_SIZE 320
#define NAMED_MAX 5
#define RETRY_MS  10000 /* nobody knows when: the server is not to be believed at the moment */

/* Why an entry is held, the first letter of what route->held has; the name of the node follows. */
#define FROZEN_WAITS  'W' /* it is missing, and has to be so for a time */
#define FROZEN_FLOOR  'F' /* the share is used up */
#define FROZEN_ORPHAN 'O' /* the same, nobody knows whose it was */

enum ruling {
    RULING_FREE,   /* nothing is against it */
    RULING_GOES,   /* and it counts */
    RULING_FROZEN, /* by the share */
    RULING_WAITS,  /* it is missing for too short a time */
};

struct ruler {
    struct route_run *run;
    int64_t server_since_ms;
    enum ruling *rulings; /* one per step */
    int64_t *dues;        /* one per step: when a waiting one is due */
};

static void sign_entry(const struct route *route, size_t table, const struct ccm_cidr *net,
                       const char *instance, char text[SIGN_SIZE])
{
    char name[ROUTE_NET_TEXT];

    route_net_format(net, name);
    ccm_text_printf(text, SIGN_SIZE, "%.150s|%s|%.70s", route->tables[table].id, name, instance);
}

void route_floor_forget(struct route *route, const struct route_past *past)
{
    char text[SIGN_SIZE];

    for (size_t t = 0; t < route->table_count; t++) {
        sign_entry(route, t, &past->net, past->instance, text);
        ccm_strmap_del(route->frozen, text);
    }
}

static void forget_orphans(struct route *route)
{
    void *cursor = NULL;
    const char *key = NULL;
    void *value = NULL;

    while (ccm_strmap_next(route->frozen, &cursor, &key, &value) != 0) {
        if (((const char *)value)[0] == FROZEN_ORPHAN) {
            ccm_strmap_del(route->frozen, key);
        }
    }
}

/* Entries of the table that are ours by their looks, and stay. */
static size_t count_ours(const struct route *route, const struct route_table *table)
{
    size_t ours = 0;

    for (size_t i = 0; i < table->len; i++) {
        const struct route_entry *entry = &table->entries[i];

        ours += entry->can_be_ours && entry->status != ROUTE_LEAVING &&
                        route_nets_contain(&route->cluster, &entry->net)
                    ? 1
                    : 0;
    }
    return ours;
}

/* ---- each step by itself ---- */

static enum ruling rule_step(const struct ruler *ruler, size_t i)
{
    const struct route_run *run = ruler->run;
    const struct ccm_removal_rule *rule = &run->route->rule;
    const struct route_step *step = &run->plan.steps[i];
    const struct route_past *past = step->type == ROUTE_STEP_RETIRE ? &run->past[step->past] : NULL;

    if (route_run_step_key(run, step) == ROUTE_NOBODY ||
        (step->type == ROUTE_STEP_ORPHAN && !run->route->orphan_cleanup) ||
        (step->type != ROUTE_STEP_RETIRE && step->type != ROUTE_STEP_ORPHAN) ||
        (past != NULL && (step->node != ROUTE_NOBODY || past->loss == ROUTE_LOSS_CHANGED))) {
        return RULING_FREE; /* a node that is there is obeyed */
    }
    if (past != NULL && past->loss == ROUTE_LOSS_MISSING &&
        rule->released_until_ms <= run->started_ms) {
        ruler->dues[i] = ccm_removal_due_ms(rule, past->since_ms, ruler->server_since_ms);
        return ruler->dues[i] > run->started_ms ? RULING_WAITS : RULING_FROZEN;
    }
    return RULING_FROZEN;
}

/* ---- what the cloud says ---- */

/* An instance that is there for certain; "" = none is known. */
static const char *find_witness(const struct route_run *run)
{
    for (size_t n = 0; n < run->object_count; n++) {
        if (run->nodes[n].class_ == ROUTE_NODE_SERVED) {
            return run->nodes[n].instance;
        }
    }
    return "";
}

static bool is_deleted(const struct ruler *ruler, size_t i)
{
    const struct route_step *step = &ruler->run->plan.steps[i];

    return ruler->rulings[i] == RULING_FROZEN && step->type == ROUTE_STEP_RETIRE &&
           ruler->run->past[step->past].loss == ROUTE_LOSS_DELETED;
}

/* The answer comes later: the share decides until then. */
static void ruler_wait(const struct ruler *ruler, const struct ccm_error *err)
{
    struct route_run *run = ruler->run;

    for (size_t i = 0; i < run->plan.len; i++) {
        if (is_deleted(ruler, i)) {
            route_run_wait(run, &run->verdicts[route_run_step_key(run, &run->plan.steps[i])], err);
        }
    }
}

/* Those whose instances are gone are free. Nothing is known when there is no memory to ask. */
static void ask_for_deleted(struct ruler *ruler)
{
    const struct route_run *run = ruler->run;
    const struct ccm_host *host = run->route->host;
    CCM_CLEANUP(ccm_freep) const char **ids = calloc(run->plan.len + 1, sizeof(*ids));
    CCM_CLEANUP(ccm_freep) bool *gone = calloc(run->plan.len + 1, sizeof(*gone));
    struct ccm_error err = CCM_ERROR_INIT;
    size_t count = 0;

    for (size_t i = 0; ids != NULL && i < run->plan.len; i++) {
        if (is_deleted(ruler, i)) {
            ids[count++] = run->plan.steps[i].instance;
        }
    }
    if (count == 0 || gone == NULL) {
        return;
    }

    const struct ali_inquiry about = { .ids = ids,
                                       .count = count,
                                       .witness = find_witness(run),
                                       .object = ali_vpc_id(run->route->ali) };

    if (ali_find_gone_instances(&(const struct ali_caller){ run->route->ali, host, run->req },
                                &about, gone, &err) < 0 &&
        err.message[0] != '\0' && !ali_error_is_put_off(&err)) {
        host->log(host, CCM_LEVEL_WARN, NULL,
                  "whether instances of deleted nodes are gone is not known: %s", err.message);
    }
    count = 0;
    for (size_t i = 0; i < run->plan.len; i++) {
        if (is_deleted(ruler, i) && gone[count++]) {
            ruler->rulings[i] = RULING_FREE;
        }
    }
    if (ali_error_is_put_off(&err)) {
        ruler_wait(ruler, &err);
    }
}

/* ---- the share of each table ---- */

static size_t ruler_count_frozen(const struct ruler *ruler, size_t table)
{
    size_t count = 0;

    for (size_t i = 0; i < ruler->run->plan.len; i++) {
        count += ruler->rulings[i] == RULING_FROZEN && ruler->run->plan.steps[i].table == table;
    }
    return count;
}

static size_t left_of(const struct ruler *ruler, size_t table)
{
    struct route *route = ruler->run->route;

    return ccm_removal_allowed(&route->tables[table].budget, &route->rule,
                               count_ours(route, &route->tables[table]), ruler->run->started_ms);
}

static bool is_short(const struct ruler *ruler)
{
    for (size_t t = 0; t < ruler->run->route->table_count; t++) {
        const size_t frozen = ruler_count_frozen(ruler, t);

        if (frozen > 0 && frozen > left_of(ruler, t)) {
            return true;
        }
    }
    return false;
}

/* What the share allows goes: deleted ones before missing ones before orphans. Returns when the
 * next one may. */
static int64_t share_out(struct ruler *ruler, size_t table)
{
    struct route *route = ruler->run->route;
    struct ccm_removal_budget after;
    size_t left = left_of(ruler, table);
    size_t going = 0;

    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < ruler->run->plan.len && going < left; i++) {
            struct route_step *step = &ruler->run->plan.steps[i];
            const int turn = is_deleted(ruler, i) ? 0 : step->type == ROUTE_STEP_RETIRE ? 1 : 2;

            if (ruler->rulings[i] == RULING_FROZEN && step->table == table && turn == round) {
                ruler->rulings[i] = RULING_GOES;
                step->counts = true;
                going++;
            }
        }
    }
    after = route->tables[table].budget;
    if (going > 0) {
        ccm_removal_record(&after, &route->rule, 0, going, ruler->run->started_ms);
    }
    return ccm_removal_next_ms(&after, &route->rule,
                               count_ours(route, &route->tables[table]) - going,
                               ruler->run->started_ms);
}

/* ---- what comes of it ---- */

static int ruler_freeze_step(struct ruler *ruler, size_t i, int64_t until_ms)
{
    struct route_run *run = ruler->run;
    const struct route_step *step = &run->plan.steps[i];
    const bool orphan = step->type == ROUTE_STEP_ORPHAN;
    struct route_verdict *verdict = &run->verdicts[route_run_step_key(run, step)];
    char text[SIGN_SIZE];
    char *word = ccm_text_format("%c%s",
                                 orphan                              ? FROZEN_ORPHAN
                                 : ruler->rulings[i] == RULING_WAITS ? FROZEN_WAITS
                                                                     : FROZEN_FLOOR,
                                 orphan ? step->instance : run->past[step->past].node);

    sign_entry(run->route, step->table, &step->net, step->instance, text);
    if (word == NULL || ccm_strmap_set(run->route->frozen, text, word) < 0) {
        free(word);
        return -ENOMEM;
    }
    if (orphan) {
        return 0; /* the pass comes by itself */
    }
    if (until_ms == CCM_REMOVAL_NEVER) {
        until_ms = run->started_ms + RETRY_MS;
    }
    run->past_frozen[step->past]++;
    verdict->later_ms =
        verdict->later_ms == 0 || until_ms < verdict->later_ms ? until_ms : verdict->later_ms;
    return 0;
}

/* Take out what stays. */
static int ruler_freeze_steps(struct ruler *ruler, const int64_t *next_ms)
{
    struct route_plan *plan = &ruler->run->plan;
    size_t kept = 0;

    for (size_t i = 0; i < plan->len; i++) {
        const enum ruling ruling = ruler->rulings[i];
        const struct route_step step = plan->steps[i];

        if (ruling == RULING_WAITS || ruling == RULING_FROZEN) {
            const int64_t until_ms = ruling == RULING_WAITS ? ruler->dues[i] : next_ms[step.table];

            if (ruler_freeze_step(ruler, i, until_ms) < 0) {
                return -ENOMEM;
            }
            continue;
        }
        plan->steps[kept++] = step;
    }
    plan->len = kept;
    return 0;
}

/* What was held of the keys of this call is judged anew. */
static void forget_former(struct route_run *run)
{
    for (size_t i = 0; i < run->past_count; i++) {
        if (route_run_key(run, run->past[i].node) != ROUTE_NOBODY) {
            route_floor_forget(run->route, &run->past[i]);
        }
    }
    if (run->pass_key != ROUTE_NOBODY) {
        forget_orphans(run->route);
    }
}

static int ruler_rule_all(struct ruler *ruler, int64_t *next_ms)
{
    struct route_run *run = ruler->run;

    for (size_t i = 0; i < run->plan.len; i++) {
        ruler->rulings[i] = rule_step(ruler, i);
    }
    if (is_short(ruler)) {
        ask_for_deleted(ruler);
    }
    for (size_t t = 0; t < run->route->table_count; t++) {
        next_ms[t] = ruler_count_frozen(ruler, t) == 0 ? 0 : share_out(ruler, t);
    }
    return ruler_freeze_steps(ruler, next_ms);
}

int route_floor_decide(struct route_run *run)
{
    CCM_CLEANUP(ccm_freep)
    enum ruling *rulings = calloc(run->plan.len + 1, sizeof(*rulings));
    CCM_CLEANUP(ccm_freep) int64_t *dues = calloc(run->plan.len + 1, sizeof(*dues));
    CCM_CLEANUP(ccm_freep)
    int64_t *next_ms = calloc(run->route->table_count + 1, sizeof(*next_ms));
    struct ruler ruler = {
        .run = run,
        .server_since_ms = ccm_removal_server_since(run->route->host),
        .rulings = rulings,
        .dues = dues,
    };

    if (rulings == NULL || dues == NULL || next_ms == NULL) {
        return -ENOMEM;
    }
    forget_former(run);
    return ruler_rule_all(&ruler, next_ms);
}

/* ---- telling ---- */

struct tally {
    size_t waiting;
    size_t frozen;
    struct ccm_buf names;
};

static void tally_table(const struct route *route, const struct route_table *table,
                        struct tally *ret)
{
    const size_t len = strlen(table->id);
    void *cursor = NULL;
    const char *key = NULL;
    void *value = NULL;

    while (ccm_strmap_next(route->frozen, &cursor, &key, &value) != 0) {
        const char *word = value;

        if (strncmp(key, table->id, len) != 0 || key[len] != '|') {
            continue;
        }
        if (ret->waiting + ret->frozen < NAMED_MAX) {
            ccm_buf_addf(&ret->names, "%s%.70s", ret->names.len == 0 ? "" : ", ", word + 1);
        }
        if (word[0] == FROZEN_WAITS) {
            ret->waiting++;
        } else {
            ret->frozen++;
        }
    }
}

static void floor_describe_frozen(const struct route *route, const struct tally *tally,
                                  struct ccm_buf *text)
{
    const struct ccm_removal_rule *rule = &route->rule;

    if (tally->frozen > 0) {
        ccm_buf_addf(text,
                     "%zu stay%s since no more than %" PRIu32 " %% of a table (of up to %d routes "
                     "one) may go within %" PRId64 " s because of missing nodes",
                     tally->frozen, tally->frozen == 1 ? "s" : "", rule->share_percent,
                     CCM_REMOVAL_SMALL, rule->window_ms / 1000);
    }
    if (tally->waiting > 0) {
        ccm_buf_addf(text,
                     "%s%zu stay%s until the node was missing for %" PRId64
                     " s: no deletion of it was seen",
                     text->len == 0 ? "" : "; ", tally->waiting, tally->waiting == 1 ? "s" : "",
                     rule->missing_wait_ms / 1000);
    }
}

/* "" = it is over. */
static void floor_stand(struct route *route, const struct route_table *table, const char *text)
{
    CCM_CLEANUP(ccm_freep) char *topic = ccm_text_format("held-%s", table->id);
    const struct ccm_lease_standing what = {
        .warning = true, .topic = topic, .reason = "RemovalsHeld", .message = text
    };

    route_stand_on_lease(route, &what);
}

static void floor_emit_table(struct route *route, struct route_table *table)
{
    struct tally tally = { .names = { .max = 500 } };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf reason = { .max = 500 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1000 };

    tally_table(route, table, &tally);

    const uint64_t count = tally.frozen + tally.waiting;

    floor_describe_frozen(route, &tally, &reason);
    ccm_removal_record_held(route->host, table->id, count, ccm_buf_str(&reason));
    /* One event for the first of them, and then for many more. */
    if (count > 0 && (table->reported_frozen == 0 || count >= 2 * table->reported_frozen)) {
        ccm_buf_addf(&text,
                     "Table %.100s: routes of nodes that are missing are kept (%s%s): %s. `ccmd "
                     "allow-removals route` lets them go",
                     table->id, ccm_buf_str(&tally.names), count > NAMED_MAX ? " and others" : "",
                     ccm_buf_str(&reason));
        route->host->log(route->host, CCM_LEVEL_WARN, NULL, "%s", ccm_buf_str(&text));
        floor_stand(route, table, ccm_buf_str(&text));
        table->reported_frozen = count;
    } else if (count == 0 && table->reported_frozen > 0) {
        floor_stand(route, table, "");
    }
    table->reported_frozen = count == 0 ? 0 : table->reported_frozen;
    ccm_buf_fini(&tally.names);
}

void route_floor_publish(struct route *route)
{
    for (size_t t = 0; t < route->table_count; t++) {
        floor_emit_table(route, &route->tables[t]);
    }
}
