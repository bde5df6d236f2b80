#include "gone.h"

#include "events.h"
#include "ledger.h"
#include "look.h"
#include "measure.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/lease_event.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAMED_MAX 5
#define UID_SIZE  64

/* Why an absent instance has not led to a deletion yet. */
enum absence_state {
    ABSENCE_SEEN_ONCE, /* the second look is to come */
    ABSENCE_HELD,      /* enough have gone */
    ABSENCE_STRANGE,   /* nobody has seen its instance before */
};

struct absence {
    enum absence_state state;
    char uid[UID_SIZE];
    int64_t since_ms; /* monotonic: of the first answer */
};

struct node_absences {
    struct ccm_strmap *nodes; /* name -> struct absence */
    struct ccm_removal_budget budget;
    struct node_ledger ledger;
    size_t told_held; /* what was said last */
    size_t told_strange;
};

struct node_absences *node_absences_new(void)
{
    struct node_absences *absences = calloc(1, sizeof(*absences));

    if (absences == NULL) {
        return NULL;
    }
    absences->nodes = ccm_strmap_new(free);
    if (absences->nodes == NULL) {
        free(absences);
        return NULL;
    }
    return absences;
}

void node_absences_free(struct node_absences *absences)
{
    if (absences == NULL) {
        return;
    }
    ccm_strmap_free(absences->nodes);
    free(absences);
}

void node_gone_forget(struct node_control *control, const char *name)
{
    ccm_strmap_del(control->absences->nodes, name);
}

const char *node_gone_explain(const struct node_control *control, const char *name)
{
    static const char *const reasons[] = {
        [ABSENCE_SEEN_ONCE] = "a second look, gone_confirm_s after the first, has to say the same",
        [ABSENCE_HELD] = "held: removal_share_percent of all nodes have gone; "
                         "`ccmd allow-removals node` lets it go",
        [ABSENCE_STRANGE] = "its instance was never seen with these credentials: it may be of "
                            "another account. Delete the node if it is of no use",
    };
    const struct absence *absence = ccm_strmap_get(control->absences->nodes, name);

    return absence == NULL ? NULL : reasons[absence->state];
}

static size_t count_nodes(const struct ccm_host *host)
{
    const struct ccm_object *const *objects = NULL;
    size_t count = 0;

    if (host->list(host, CCM_KIND_NODE, NULL, NULL, &objects, &count) < 0) {
        return 0; /* then nothing may go */
    }
    host->release_list(host, objects, count);
    return count;
}

/* ---- the second look ---- */

/* The absence of this very node, from this call on where there was none; NULL: out of memory. */
static struct absence *absence_find(struct node_run *run, const struct node_item *item)
{
    struct ccm_strmap *nodes = run->control->absences->nodes;
    struct absence *absence = ccm_strmap_get(nodes, item->object->name);

    if (absence != NULL && strcmp(absence->uid, item->object->uid) == 0) {
        return absence;
    }
    absence = calloc(1, sizeof(*absence));
    if (absence != NULL && ccm_strmap_set(nodes, item->object->name, absence) < 0) {
        free(absence);
        absence = NULL;
    }
    if (absence != NULL) {
        ccm_text_copy(absence->uid, sizeof(absence->uid), item->object->uid);
        absence->since_ms = run->started_ms;
    }
    return absence;
}

/* How long until the answer that lacks it again counts; 0 = this one does. */
static uint64_t absence_wait_ms(const struct node_run *run, struct absence *absence)
{
    const struct node_control *control = run->control;
    const int64_t server_ms = ccm_removal_server_since(control->host);

    /* On a server that was replaced meanwhile it may be another node's name. */
    if (server_ms == 0 || server_ms > absence->since_ms) {
        absence->since_ms = run->started_ms;
    }

    const int64_t due_ms = absence->since_ms + control->confirm_ms;

    return run->started_ms >= due_ms ? 0 : (uint64_t)(due_ms - run->started_ms);
}

/* ---- deletion ---- */

/* Whether the API server itself has the same node, and hears nothing of it either. *ret is released
 * by the caller when it is set. */
static int node_read_again(const struct node_run *run, const struct node_item *item,
                           const struct ccm_object **ret, struct ccm_error *err)
{
    const struct ccm_host *host = run->control->host;
    const int r = host->fetch(host, run->req, CCM_KIND_NODE, "", item->object->name, ret, err);

    if (r < 0) {
        return r;
    }

    const struct ccm_node *node = (const struct ccm_node *)*ret;

    if (strcmp(node->meta.uid, item->object->uid) != 0 || node->meta.deleted_ms != 0 ||
        node->ready != CCM_CONDITION_UNKNOWN || ali_node_is_excluded(node) ||
        strcmp(node->provider_id, node_item_object(item)->provider_id) != 0) {
        return ccm_error_set(err, -EBUSY, CCM_ERROR_CONFLICT, "the node has changed meanwhile");
    }
    return 0;
}

static void node_announce(const struct node_run *run, const struct node_item *item,
                          const struct absence *absence)
{
    char text[512];

    ccm_text_printf(text, sizeof(text),
                    "Instance %.80s is gone: two answers of the cloud, %" PRId64
                    " s apart, lack it and have %.80s, and nobody hears of the node",
                    item->subject.kind == NODE_ECS ? item->subject.instance
                                                   : node_item_object(item)->provider_id,
                    (run->started_ms - absence->since_ms) / 1000, item->witness);
    node_emit_event(run->control, item->object, false, "DeletingNode", text);
    run->control->host->log(run->control->host, CCM_LEVEL_WARN, item->object->name, "%s: deleted",
                            text);
}

/* *ret_gone: it is gone. Where nobody knows the ledger has it. */
static int node_delete(struct node_run *run, struct node_item *item, const struct absence *absence,
                       bool *ret_gone, struct ccm_error *err)
{
    const struct ccm_host *host = run->control->host;
    struct node_absences *absences = run->control->absences;
    const struct ccm_object *live = NULL;
    int r = node_read_again(run, item, &live, err);

    if (r == 0) {
        r = node_ledger_write(&absences->ledger, run, live, &absences->budget, err);
    }
    if (r == 0) {
        const struct ccm_raw_call call = {
            .struct_size = sizeof(call),
            .api_version = "v1",
            .resource = "nodes",
            .name = live->name,
            .uid = live->uid,
            .resource_version = live->resource_version,
        };

        node_announce(run, item, absence);
        r = host->delete_raw(host, run->req, &call, err);
        *ret_gone = r == 0 || err->kind == CCM_ERROR_NOT_FOUND;
        if (*ret_gone || (err->http_status >= 400 && err->http_status < 500)) {
            node_ledger_close(&absences->ledger, live->uid);
        }
    }
    if (live != NULL) {
        host->release(host, live);
    }
    return r;
}

static void item_delete(struct node_run *run, struct node_item *item, size_t size,
                        const struct absence *absence)
{
    struct node_control *control = run->control;
    struct ccm_error err = CCM_ERROR_INIT;
    char text[700];
    bool gone = false;
    const int r = node_delete(run, item, absence, &gone, &err);

    if (gone) {
        ccm_removal_record(&control->absences->budget, &control->rule, size, 1, run->started_ms);
    }
    if (r == 0) {
        node_emit_event(control, item->object, false, "DeletedNode", item->object->name);
        node_measure_deletion(control);
        node_gone_forget(control, item->object->name);
    } else if (err.kind == CCM_ERROR_NOT_FOUND) {
        node_gone_forget(control, item->object->name);
    } else {
        if (err.kind != CCM_ERROR_CONFLICT && err.kind != CCM_ERROR_CANCELLED) {
            ccm_text_printf(text, sizeof(text), "Error deleting node: %.600s", err.message);
            node_emit_event(control, item->object, true, "DeleteNodeFailed", text);
        }
        item->failed = true;
        ccm_error_copy(&item->err, &err);
    }
}

/* Whether it is lacking in an answer of its own, too. */
static bool item_is_still_absent(struct node_run *run, struct node_item *item)
{
    struct ccm_error err = CCM_ERROR_INIT;

    if (item->subject.kind != NODE_ECS) {
        return true; /* each is asked for by itself */
    }
    if (node_look_again(run, item) < 0) {
        (void)ccm_error_nomem(&err); /* the failure is kept in the item */
        node_run_fail(run, item, &err, false);
    } else if (item->answer == NODE_FOUND) {
        node_gone_forget(run->control, item->object->name);
    } else if (item->answer == NODE_UNPROVED) {
        item->again_ms = (uint64_t)run->control->confirm_ms;
    }
    return item->answer == NODE_ABSENT;
}

/* Whether one more may go, and be this one. */
static bool item_has_share(struct node_run *run, const struct node_item *item, size_t size)
{
    struct node_control *control = run->control;
    struct node_absences *absences = control->absences;

    node_ledger_ask(&absences->ledger, run, &absences->budget, size);

    const size_t left =
        ccm_removal_allowed(&absences->budget, &control->rule, size, run->started_ms);

    return left > 0 && (control->rule.released_until_ms > run->started_ms ||
                        left > node_ledger_count_others(&absences->ledger, item->object->uid));
}

/* 0: not before something changes. */
static uint64_t item_share_wait_ms(const struct node_run *run, size_t size)
{
    const struct node_control *control = run->control;
    const int64_t next_ms =
        ccm_removal_next_ms(&control->absences->budget, &control->rule, size, run->started_ms);

    if (next_ms == CCM_REMOVAL_NEVER) {
        return 0;
    }
    /* Only what is open keeps it. */
    return next_ms > run->started_ms ? (uint64_t)(next_ms - run->started_ms)
                                     : (uint64_t)control->confirm_ms;
}

/* Lingjun nodes get no labels from us. */
static bool item_was_seen(const struct node_item *item)
{
    return item->subject.kind != NODE_ECS ||
           ccm_object_label(item->object, NODE_LABEL_SEEN) != NULL;
}

static void item_decide(struct node_run *run, struct node_item *item, size_t size)
{
    struct node_control *control = run->control;
    struct absence *absence = absence_find(run, item);

    if (absence == NULL) {
        item->again_ms = (uint64_t)control->confirm_ms;
        return;
    }
    if (!item_was_seen(item)) {
        absence->state = ABSENCE_STRANGE;
        return;
    }
    item->again_ms = absence_wait_ms(run, absence);
    if (item->again_ms > 0) {
        absence->state = ABSENCE_SEEN_ONCE;
        return;
    }
    if (node_ledger_read(&control->absences->ledger, run, &control->absences->budget) < 0) {
        item->again_ms = (uint64_t)control->confirm_ms;
        return;
    }
    if (!item_has_share(run, item, size)) {
        absence->state = ABSENCE_HELD;
        item->again_ms = item_share_wait_ms(run, size);
        return;
    }
    if (item_is_still_absent(run, item)) {
        item_delete(run, item, size, absence);
    }
}

/* What one answer says about a node that nobody hears of. */
static bool item_is_candidate(const struct node_item *item)
{
    return item->answer == NODE_ABSENT && !item->subject.excluded && !item->failed &&
           item->object->deleted_ms == 0 && node_item_object(item)->ready == CCM_CONDITION_UNKNOWN;
}

/* A ready node that the answer lacked may only just have lost its own instance. */
static bool item_awaits_proof(const struct node_item *item)
{
    return item->answer == NODE_UNPROVED && item->subject.kind == NODE_ECS && !item->failed &&
           node_item_object(item)->ready == CCM_CONDITION_UNKNOWN && item_was_seen(item);
}

bool node_gone_is_likely(const struct node_item *item)
{
    return item_is_candidate(item) && item_was_seen(item);
}

void node_gone(struct node_run *run)
{
    struct node_absences *absences = run->control->absences;
    size_t size = 0;

    node_ledger_move(&absences->ledger, run, &absences->budget);
    for (size_t i = 0; i < run->len; i++) {
        struct node_item *item = &run->items[i];

        if (item_is_candidate(item)) {
            size = size == 0 ? count_nodes(run->control->host) : size;
            item_decide(run, item, size);
        } else if (item_awaits_proof(item)) {
            item->again_ms = (uint64_t)run->control->confirm_ms;
        } else if (item->answer == NODE_FOUND || item->answer == NODE_ABSENT) {
            node_gone_forget(run->control, item->object->name);
        }
    }
}

/* A person lets those go that are held. */
static void absences_release(const struct node_control *control)
{
    const struct ccm_host *host = control->host;
    void *cursor = NULL;
    const char *name = NULL;
    void *value = NULL;

    if (control->rule.released_until_ms <= host->now_ms(host)) {
        return;
    }
    while (ccm_strmap_next(control->absences->nodes, &cursor, &name, &value) != 0) {
        if (((const struct absence *)value)->state == ABSENCE_HELD) {
            host->enqueue(host, name, CCM_LANE_URGENT, 0);
        }
    }
}

/* ---- telling ---- */

struct tally {
    size_t count;
    struct ccm_buf names;
};

static void absences_tally(const struct node_absences *absences, enum absence_state state,
                           struct tally *ret)
{
    void *cursor = NULL;
    const char *name = NULL;
    void *value = NULL;

    while (ccm_strmap_next(absences->nodes, &cursor, &name, &value) != 0) {
        const struct absence *absence = value;

        if (absence->state == state && ret->count++ < NAMED_MAX) {
            ccm_buf_addf(&ret->names, "%s%.70s", ret->names.len == 0 ? "" : ", ", name);
        }
    }
    ccm_buf_adds(&ret->names, ret->count > NAMED_MAX ? " and others" : "");
}

/* One event for the first of them, and then for many more. */
static void gone_stand(struct node_control *control, const char *topic, size_t count,
                       const char *text, size_t *told)
{
    const struct ccm_lease_standing what = { .warning = true,
                                             .topic = topic,
                                             .reason = count == 0 ? "" : "RemovalsHeld",
                                             .message = count == 0 ? "" : text };

    if (count == 0 ? *told == 0 : *told != 0 && count < 2 * *told) {
        return;
    }
    if (count > 0) {
        control->host->log(control->host, CCM_LEVEL_WARN, NULL, "%s", text);
    }
    ccm_lease_stand(control->host, NODE_COMPONENT, &what);
    *told = count;
}

void node_gone_publish(struct node_control *control)
{
    struct node_absences *absences = control->absences;
    struct tally held = { .names = { .max = 500 } };
    struct tally strange = { .names = { .max = 500 } };
    char reason[200];
    char text[900];

    absences_release(control);
    absences_tally(absences, ABSENCE_HELD, &held);
    absences_tally(absences, ABSENCE_STRANGE, &strange);
    ccm_text_printf(reason, sizeof(reason),
                    "no more than %" PRIu32 " %% of all nodes (of up to %d one) are deleted within "
                    "%" PRId64 " s",
                    control->rule.share_percent, CCM_REMOVAL_SMALL, control->rule.window_ms / 1000);
    ccm_removal_record_held(control->host, "nodes", held.count, reason);
    ccm_text_printf(text, sizeof(text),
                    "Nodes whose instances are gone stay (%s): %s. `ccmd allow-removals node` lets "
                    "them go",
                    ccm_buf_str(&held.names), reason);
    gone_stand(control, "held", held.count, text, &absences->told_held);
    ccm_text_printf(text, sizeof(text),
                    "Nodes whose instances were never seen with these credentials stay although "
                    "nobody hears of them (%s): they may be of another account. Delete those that "
                    "are of no use",
                    ccm_buf_str(&strange.names));
    gone_stand(control, "strange", strange.count, text, &absences->told_strange);
    ccm_buf_fini(&held.names);
    ccm_buf_fini(&strange.names);
}
