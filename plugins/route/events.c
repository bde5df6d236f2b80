#include "events.h"

#include "alicloud/error.h"
#include "util/cleanup.h"
#include "util/lease_event.h"
#include "util/quota_use.h"
#include "util/retry_text.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MS 5000 /* turns of a second or two are nobody's business */

/* ---- events ---- */

static void object_emit_event(const struct route *route, const struct ccm_event *what)
{
    struct ccm_event event = *what;

    event.struct_size = sizeof(event);
    event.component = ROUTE_COMPONENT;
    route->host->event(route->host, &event);
}

/* Why a node has no route: it lasts until it has one. */
static void node_stand(const struct route *route, const struct ccm_node *node, const char *cause,
                       const char *message)
{
    const struct ccm_event event = {
        .object = &node->meta,
        .reason = "CreateRouteFailed",
        .message = message,
        .warning = 1,
        .topic = "route",
        .cause = cause,
    };

    object_emit_event(route, &event);
}

/* When a failure of the key is tried again. */
static void run_format_retry(const struct route_run *run, size_t index, const struct ccm_error *err,
                             char ret[static CCM_RETRY_TEXT])
{
    const struct ccm_host *host = run->route->host;
    uint64_t most_ms = 0;
    const uint64_t next_ms =
        host->retry_ms(host, run->req, index == ROUTE_NOBODY ? 0 : index, err, &most_ms);

    ccm_retry_format("node", err->kind, next_ms, most_ms, ret);
}

void route_emit_problem(struct route_run *run, size_t index, const struct ccm_node *node,
                        const struct ccm_error *err)
{
    const char *remedy = ali_error_remedy(err);
    char retry[CCM_RETRY_TEXT];
    char signature[256];
    char message[1024];

    if (err->kind == CCM_ERROR_CANCELLED) {
        return;
    }
    ccm_text_printf(signature, sizeof(signature), "%.90s %.*s", err->code,
                    err->code[0] == '\0' ? (int)ccm_error_cause_len(err) : 0, err->message);
    run_format_retry(run, index, err, retry);
    ccm_text_printf(message, sizeof(message), "Error creating route entry: %.550s%s%.250s. %s",
                    err->message, remedy == NULL ? "" : ". ", remedy == NULL ? "" : remedy, retry);
    if (ccm_strmap_set(run->route->messages, node->meta.name, NULL) < 0) {
        run->route->host->log(run->route->host, CCM_LEVEL_WARN, node->meta.name,
                              "out of memory: the end of the event will not be seen");
    }
    node_stand(run->route, node, signature, message);
}

void route_emit_well(struct route *route, const char *name, const struct ccm_node *node)
{
    if (node != NULL && ccm_strmap_has(route->messages, name)) {
        node_stand(route, node, NULL, "");
    }
    ccm_strmap_del(route->messages, name);
}

bool route_has_message(const struct route *route, const char *node)
{
    return ccm_strmap_has(route->messages, node) != 0;
}

void route_emit_repaired(struct route_run *run, const struct ccm_node *node)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf tables = { .max = 300 };
    char message[512];
    char net[ROUTE_NET_TEXT] = "";
    struct ccm_node const *const object = node;

    for (size_t i = 0; i < run->plan.len; i++) {
        const struct route_step *step = &run->plan.steps[i];

        if (step->type == ROUTE_STEP_CREATE && run->nodes[step->node].object == object) {
            ccm_buf_addf(&tables, "%s%s", tables.len == 0 ? "" : ", ",
                         run->route->tables[step->table].id);
            route_net_format(&step->net, net);
        }
    }
    ccm_text_printf(message, sizeof(message), "Created route for %s with %.100s -> %s successfully",
                    ccm_buf_str(&tables), node->meta.name, net);

    const struct ccm_event event = { .object = &node->meta,
                                     .reason = "CreatedRoute",
                                     .message = message };

    object_emit_event(run->route, &event);
}

/* ---- about all ---- */

void route_stand_on_lease(struct route *route, const struct ccm_lease_standing *what)
{
    ccm_lease_stand(route->host, ROUTE_COMPONENT, what);
}

/* One thing at a time is wrong with all of them. signature NULL: out of memory; then it ends with
 * the process. */
static void all_stand(struct route *route, bool warning, const char *reason, char *signature,
                      const char *message)
{
    const struct ccm_lease_standing what = {
        .warning = warning,
        .topic = "all",
        .reason = reason,
        .cause = signature,
        .message = message,
    };

    route_stand_on_lease(route, &what);
    free(route->all_message);
    route->all_message = signature;
}

void route_emit_all(struct route_run *run, const char *reason, const struct ccm_error *err,
                    const char *message)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1600 };
    char retry[CCM_RETRY_TEXT];

    run_format_retry(run, run->pass_key, err, retry);
    ccm_buf_addf(&text, "%s. %s", message, retry);
    all_stand(run->route, true, reason,
              ccm_text_format("%s %s", reason, err->code[0] == '\0' ? message : err->code),
              ccm_buf_str(&text));
}

void route_emit_wait(struct route *route, const struct ccm_error *err)
{
    if (err->retry_after_ms >= WAIT_MS) {
        all_stand(route, false, "WaitingForQuota", strndup(err->message, ccm_error_cause_len(err)),
                  err->message);
    }
}

void route_emit_all_well(struct route *route)
{
    if (route->all_message != NULL) {
        all_stand(route, false, "", NULL, "");
    }
}

/* "" = it is over. */
static void quota_stand(struct route *route, const struct route_table *table, const char *text)
{
    CCM_CLEANUP(ccm_freep) char *topic = ccm_text_format("quota-%s", table->id);
    const struct ccm_lease_standing what = {
        .warning = true, .topic = topic, .reason = "QuotaNear", .message = text
    };

    route_stand_on_lease(route, &what);
}

static void emit_quota(struct route *route, struct route_table *table, size_t used)
{
    const uint64_t limit = ccm_quota_limit(route->host, "routes", ROUTE_QUOTA);
    const bool near = ccm_quota_is_near(used, limit, table->near);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 600 };

    if (near || table->near) {
        ccm_quota_note(route->host, table->id, "routes of the table", used, near ? limit : 0);
    }
    if (near) {
        ccm_buf_addf(&text,
                     "Route table %s: %d %% or more of %llu custom entries are used, and each node "
                     "needs one: delete entries nobody needs, or have quota "
                     "vpc_quota_route_entrys_num of the table raised, and routes in option "
                     "account_quotas of plugin "
                     "route with it",
                     table->id, CCM_QUOTA_NEAR, (unsigned long long)limit);
    }
    if (near || table->near) {
        quota_stand(route, table, ccm_buf_str(&text));
    }
    table->near = near;
}

void route_emit_quotas(struct route *route)
{
    for (size_t t = 0; t < route->table_count; t++) {
        emit_quota(route, &route->tables[t], route_table_used(&route->tables[t]));
    }
}

/* "12 nodes wait for it: a, b and others" */
static void name_waiting(const struct route_run *run, struct ccm_buf *to)
{
    struct ccm_buf names = { .max = 400 };
    size_t count = 0;

    for (size_t i = 0; i < run->req->key_count; i++) {
        if (run->verdicts[i].shared && i != run->pass_key) {
            ccm_buf_add_name(&names, &count, "%.70s", run->req->keys[i]);
        }
    }
    if (count > 0) {
        ccm_buf_addf(to, ". %zu node%s wait%s for it: %s", count, count == 1 ? "" : "s",
                     count == 1 ? "s" : "", ccm_buf_str(&names));
    }
    ccm_buf_fini(&names);
}

void route_emit_sync(struct route_run *run)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1600 };
    const struct ccm_error *err = &run->sync;
    const struct route_table *table = &run->route->tables[run->sync_table];
    const bool quota =
        ali_error_find(err->code, err->message, err->http_status)->class_ == ALI_CLASS_QUOTA;
    const char *remedy = quota ? "Delete entries nobody needs, or have quota "
                                 "vpc_quota_route_entrys_num of the table raised"
                               : ali_error_remedy(err);

    if (err->kind == CCM_ERROR_NONE || err->kind == CCM_ERROR_CANCELLED) {
        return;
    }
    ccm_buf_addf(&text, "%s %s: %.600s", quota ? "Error creating route entry in" : "Route table",
                 table->id, err->message);
    name_waiting(run, &text);
    if (remedy != NULL) {
        ccm_buf_addf(&text, ". %s", remedy);
    }
    route_emit_all(run, quota ? "CreateRouteFailed" : "SyncRouteFailed", err, ccm_buf_str(&text));
}

/* ---- dry run ---- */

/* What is in the way has the node's own destination: the next call creates the route. */
static bool plan_is_own_net(const struct route_run *run, const struct route_step *step)
{
    const struct route_node *node = step->node == ROUTE_NOBODY ? NULL : &run->nodes[step->node];
    bool own = false;

    for (size_t i = 0; node != NULL && i < node->net_count; i++) {
        own = own || route_net_compare(&node->nets[i], &step->net) == 0;
    }
    return own;
}

static void plan_step(const struct route_run *run, const struct route_step *step,
                      struct ccm_buf *to)
{
    static const char *const verbs[] = {
        [ROUTE_STEP_CLEAR] = "delete the conflicting route",
        [ROUTE_STEP_CREATE] = "create the route",
        [ROUTE_STEP_RETIRE] = "delete the former route",
        [ROUTE_STEP_ORPHAN] = "delete the orphan",
    };
    char net[ROUTE_NET_TEXT];

    route_net_format(&step->net, net);
    ccm_buf_addf(to, "%s%s %s -> %s in %s", to->len == 0 ? "" : "\n", verbs[step->type], net,
                 step->instance, run->route->tables[step->table].id);
    if (step->type == ROUTE_STEP_CLEAR && plan_is_own_net(run, step)) {
        ccm_buf_addf(to, "\n%s %s -> %s in %s", verbs[ROUTE_STEP_CREATE], net,
                     run->nodes[step->node].instance, run->route->tables[step->table].id);
    }
}

static void plan_condition(const struct route_run *run, size_t n, struct ccm_buf *to)
{
    const struct route_outlook *outlook = &run->plan.nodes[n];
    const char *status = NULL;

    if (run->nodes[n].class_ == ROUTE_NODE_SERVED && !outlook->stuck && !outlook->wait &&
        run->nodes[n].object->network_unavailable != CCM_CONDITION_FALSE) {
        status = "False";
    } else if (outlook->stuck && outlook->missing > 0 &&
               run->nodes[n].object->network_unavailable != CCM_CONDITION_TRUE) {
        status = "True";
    }
    if (status != NULL) {
        ccm_buf_addf(to, "%sset condition NetworkUnavailable to %s", to->len == 0 ? "" : "\n",
                     status);
    }
}

void route_write_plan(struct route_run *run)
{
    const struct ccm_host *host = run->route->host;

    for (size_t key = 0; key < run->req->key_count; key++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = (size_t)64 * 1024 };

        for (size_t i = 0; i < run->plan.len; i++) {
            if (route_run_step_key(run, &run->plan.steps[i]) == key) {
                plan_step(run, &run->plan.steps[i], &text);
            }
        }
        for (size_t n = 0; run->sighted && n < run->object_count; n++) {
            if (strcmp(run->objects[n]->name, run->req->keys[key]) == 0) {
                plan_condition(run, n, &text);
            }
        }
        host->plan(host, run->req->keys[key], ccm_buf_str(&text));
    }
}
