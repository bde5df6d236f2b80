#include "floor.h"

#include "alicloud/error.h"
#include "alicloud/presence.h"
#include "events.h"
#include "util/cleanup.h"
#include "util/leaving.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGN_SIZE 320
#define RETRY_MS  10000 /* nobody knows when: the server is not to be believed at the moment */

/* Why an entry is held, the first letter of what route->frozen has; the name of the node follows.
 */
#define FROZEN_WAITS  'W' /* it is missing, and has to be so for a time */
#define FROZEN_FLOOR  'F' /* the share is used up */
#define FROZEN_ORPHAN 'O' /* the same, nobody knows whose it was */

struct ruler {
    struct route_run *run;
    /* One per step of the plan. */
    bool *leaves; /* nothing but an absence speaks for the step */
    struct ccm_leaving *cases;
    /* Those of one table. */
    struct ccm_leaving *some;
    size_t *steps;
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

/* A node that is there is obeyed. */
static bool step_leaves(const struct route_run *run, const struct route_step *step)
{
    if (route_run_step_key(run, step) == ROUTE_NOBODY) {
        return false;
    }
    return step->type == ROUTE_STEP_ORPHAN
               ? run->route->orphan_cleanup
               : step->type == ROUTE_STEP_RETIRE && step->node == ROUTE_NOBODY &&
                     run->past[step->past].loss != ROUTE_LOSS_CHANGED;
}

/* Deleted ones go before missing ones, those before orphans. */
static struct ccm_leaving leaving_of(const struct route_run *run, const struct route_step *step)
{
    const struct route_past *past = step->type == ROUTE_STEP_RETIRE ? &run->past[step->past] : NULL;
    const bool missing = past != NULL && past->loss == ROUTE_LOSS_MISSING;
    struct ccm_leaving leaving = { .rank = past == NULL ? 2
                                           : missing    ? 1
                                                        : 0,
                                   .provable = past != NULL && !missing };

    leaving.due_ms =
        ccm_leaving_due_ms(&run->route->rule, !missing, missing ? past->since_ms : 0,
                           ccm_removal_server_since(run->route->host), run->started_ms);
    leaving.again_ms = leaving.due_ms;
    return leaving;
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

/* The answer comes later: the share decides until then. */
static void ruler_wait(const struct ruler *ruler, const struct ccm_error *err)
{
    struct route_run *run = ruler->run;

    for (size_t i = 0; i < run->plan.len; i++) {
        if (ruler->cases[i].provable && !ruler->cases[i].proven) {
            route_run_wait(run, &run->verdicts[route_run_step_key(run, &run->plan.steps[i])], err);
        }
    }
}

/* Those whose instances are gone are proven. Nothing is known when there is no memory to ask. */
static void ask_for_deleted(struct ruler *ruler)
{
    const struct route_run *run = ruler->run;
    const struct ccm_host *host = run->route->host;
    CCM_CLEANUP(ccm_freep) const char **ids = calloc(run->plan.len + 1, sizeof(*ids));
    CCM_CLEANUP(ccm_freep) bool *gone = calloc(run->plan.len + 1, sizeof(*gone));
    struct ccm_error err = CCM_ERROR_INIT;
    size_t count = 0;

    for (size_t i = 0; ids != NULL && i < run->plan.len; i++) {
        if (ruler->cases[i].provable) {
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
        ruler->cases[i].proven = ruler->cases[i].provable && gone[count++];
    }
    if (ali_error_is_put_off(&err)) {
        ruler_wait(ruler, &err);
    }
}

/* ---- the share of each table ---- */

/* Returns whether the share keeps something in the table. */
static bool ruler_decide_table(struct ruler *ruler, size_t t)
{
    struct route *route = ruler->run->route;
    const int64_t now_ms = ruler->run->started_ms;
    bool is_short = false;
    size_t count = 0;

    for (size_t i = 0; i < ruler->run->plan.len; i++) {
        if (ruler->leaves[i] && ruler->run->plan.steps[i].table == t) {
            ruler->some[count] = ruler->cases[i];
            ruler->steps[count++] = i;
        }
    }
    if (count > 0) {
        (void)ccm_leaving_decide(&route->rule, &route->tables[t].budget,
                                 count_ours(route, &route->tables[t]), now_ms, ruler->some, count);
    }
    for (size_t i = 0; i < count; i++) {
        is_short = is_short || (!ruler->some[i].goes && ruler->some[i].due_ms <= now_ms);
        ruler->cases[ruler->steps[i]] = ruler->some[i];
    }
    return is_short;
}

static bool ruler_decide_all(struct ruler *ruler)
{
    bool is_short = false;

    for (size_t t = 0; t < ruler->run->route->table_count; t++) {
        is_short = ruler_decide_table(ruler, t) || is_short;
    }
    return is_short;
}

/* ---- what comes of it ---- */

static int ruler_freeze_step(struct ruler *ruler, size_t i)
{
    struct route_run *run = ruler->run;
    const struct route_step *step = &run->plan.steps[i];
    const struct ccm_leaving *one = &ruler->cases[i];
    const bool orphan = step->type == ROUTE_STEP_ORPHAN;
    const int64_t until_ms =
        one->again_ms == CCM_REMOVAL_NEVER ? run->started_ms + RETRY_MS : one->again_ms;
    struct route_verdict *verdict = &run->verdicts[route_run_step_key(run, step)];
    char text[SIGN_SIZE];
    char *word = ccm_text_format("%c%s",
                                 orphan                          ? FROZEN_ORPHAN
                                 : one->due_ms > run->started_ms ? FROZEN_WAITS
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
    run->past_frozen[step->past]++;
    verdict->later_ms =
        verdict->later_ms == 0 || until_ms < verdict->later_ms ? until_ms : verdict->later_ms;
    return 0;
}

/* Take out what stays. */
static int ruler_freeze_steps(struct ruler *ruler)
{
    struct route_plan *plan = &ruler->run->plan;
    size_t kept = 0;

    for (size_t i = 0; i < plan->len; i++) {
        struct route_step step = plan->steps[i];

        if (ruler->leaves[i] && !ruler->cases[i].goes) {
            if (ruler_freeze_step(ruler, i) < 0) {
                return -ENOMEM;
            }
            continue;
        }
        step.counts = ruler->leaves[i] && !ruler->cases[i].proven;
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

int route_floor_decide(struct route_run *run)
{
    const size_t most = run->plan.len + 1;
    CCM_CLEANUP(ccm_freep) bool *leaves = calloc(most, sizeof(*leaves));
    CCM_CLEANUP(ccm_freep) struct ccm_leaving *cases = calloc(most, sizeof(*cases));
    CCM_CLEANUP(ccm_freep) struct ccm_leaving *some = calloc(most, sizeof(*some));
    CCM_CLEANUP(ccm_freep) size_t *steps = calloc(most, sizeof(*steps));
    struct ruler ruler = { run, leaves, cases, some, steps };

    if (leaves == NULL || cases == NULL || some == NULL || steps == NULL) {
        return -ENOMEM;
    }
    forget_former(run);
    for (size_t i = 0; i < run->plan.len; i++) {
        leaves[i] = step_leaves(run, &run->plan.steps[i]);
        if (leaves[i]) {
            cases[i] = leaving_of(run, &run->plan.steps[i]);
        }
    }
    if (ruler_decide_all(&ruler)) {
        ask_for_deleted(&ruler);
        (void)ruler_decide_all(&ruler);
    }
    return ruler_freeze_steps(&ruler);
}

/* ---- telling ---- */

struct tally {
    size_t count;
    size_t waiting; /* of these */
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
        ccm_buf_add_name(&ret->names, &ret->count, "%.70s", word + 1);
        ret->waiting += word[0] == FROZEN_WAITS ? 1 : 0;
    }
}

static void floor_describe_frozen(const struct route *route, const struct tally *tally,
                                  struct ccm_buf *text)
{
    const struct ccm_removal_rule *rule = &route->rule;
    const size_t frozen = tally->count - tally->waiting;

    if (frozen > 0) {
        ccm_buf_addf(text,
                     "%zu stay%s since no more than %" PRIu32 " %% of a table (of up to %d routes "
                     "one) may go within %" PRId64 " s because of missing nodes",
                     frozen, frozen == 1 ? "s" : "", rule->share_percent, CCM_REMOVAL_SMALL,
                     rule->window_ms / 1000);
    }
    if (tally->waiting > 0) {
        ccm_buf_addf(text,
                     "%s%zu stay%s until the node was missing for %" PRId64
                     " s: no deletion of it was seen",
                     text->len == 0 ? "" : "; ", tally->waiting, tally->waiting == 1 ? "s" : "",
                     rule->missing_wait_ms / 1000);
    }
}

static void floor_publish_table(struct route *route, struct route_table *table)
{
    struct tally tally = { .names = { .max = 500 } };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf reason = { .max = 500 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1000 };
    CCM_CLEANUP(ccm_freep) char *topic = ccm_text_format("held-%s", table->id);

    tally_table(route, table, &tally);
    floor_describe_frozen(route, &tally, &reason);
    ccm_buf_addf(&text,
                 "Table %.100s: routes of nodes that are missing are kept (%s): %s. `ccmd "
                 "allow-removals route` lets them go",
                 table->id, ccm_buf_str(&tally.names), ccm_buf_str(&reason));

    const struct ccm_leaving_held held = { .component = ROUTE_COMPONENT,
                                           .topic = topic,
                                           .object = table->id,
                                           .count = tally.count,
                                           .reason = ccm_buf_str(&reason),
                                           .text = ccm_buf_str(&text) };

    ccm_leaving_publish(route->host, &held, &table->reported_frozen);
    ccm_buf_fini(&tally.names);
}

void route_floor_publish(struct route *route)
{
    for (size_t t = 0; t < route->table_count; t++) {
        floor_publish_table(route, &route->tables[t]);
    }
}
