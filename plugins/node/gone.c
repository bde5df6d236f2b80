#include "gone.h"

#include "events.h"
#include "look.h"
#include "measure.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/leaving.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UID_SIZE 64

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
    bool counted;     /* its deletion was sent, and the budget has it */
};

struct node_absences {
    struct ccm_strmap *nodes; /* name -> struct absence */
    struct ccm_removal_budget budget;
    bool inherited;         /* the budget has what an earlier process may have deleted */
    uint64_t reported_held; /* what was reported last */
    uint64_t reported_strange;
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

/* *ret_counts: it is gone, or may be. */
static int node_delete(struct node_run *run, struct node_item *item, const struct absence *absence,
                       bool *ret_counts, struct ccm_error *err)
{
    const struct ccm_host *host = run->control->host;
    const struct ccm_object *live = NULL;
    int r = node_read_again(run, item, &live, err);

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
        *ret_counts = r == 0 || err->kind == CCM_ERROR_NOT_FOUND || err->http_status < 400 ||
                      err->http_status >= 500;
    }
    if (live != NULL) {
        host->release(host, live);
    }
    return r;
}

static void item_delete(struct node_run *run, struct node_item *item, size_t size,
                        struct absence *absence)
{
    struct node_control *control = run->control;
    struct ccm_error err = CCM_ERROR_INIT;
    char text[700];
    bool counts = false;
    const int r = node_delete(run, item, absence, &counts, &err);

    if (counts && !absence->counted) {
        ccm_removal_record(&control->absences->budget, &control->rule, size, 1, run->started_ms);
        absence->counted = true;
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

    struct ccm_leaving leaving = { .proven = absence->counted, .due_ms = run->started_ms };
    const int64_t again_ms = ccm_leaving_decide(&control->rule, &control->absences->budget, size,
                                                run->started_ms, &leaving, 1);

    if (!leaving.goes) {
        absence->state = ABSENCE_HELD;
        item->again_ms = again_ms == CCM_REMOVAL_NEVER ? 0 : (uint64_t)(again_ms - run->started_ms);
    } else if (item_is_still_absent(run, item)) {
        item_delete(run, item, size, absence);
    }
}

/* What one answer says about a node that nobody hears of. */
static bool item_is_candidate(const struct node_item *item)
{
    return item->answer == NODE_ABSENT && !item->subject.excluded && !item->failed &&
           item->object->deleted_ms == 0 && node_item_object(item)->ready == CCM_CONDITION_UNKNOWN;
}

bool node_gone_is_likely(const struct node_item *item)
{
    return item_is_candidate(item) && item_was_seen(item);
}

void node_gone_begin(struct node_control *control, int64_t now_ms)
{
    struct node_absences *absences = control->absences;
    const struct ccm_host *host = control->host;
    const struct ccm_object *const *objects = NULL;
    size_t count = 0;
    size_t seen = 0;

    if (absences->inherited || host->list(host, CCM_KIND_NODE, NULL, NULL, &objects, &count) < 0) {
        return; /* nothing is deleted without a list */
    }
    for (size_t i = 0; i < count; i++) {
        seen += ccm_object_label(objects[i], NODE_LABEL_SEEN) != NULL ? 1 : 0;
    }
    host->release_list(host, objects, count);
    ccm_removal_inherit(&absences->budget, &control->rule, seen, now_ms);
    absences->inherited = true;
}

void node_gone(struct node_run *run)
{
    size_t size = 0;

    for (size_t i = 0; i < run->len && run->control->absences->inherited; i++) {
        struct node_item *item = &run->items[i];

        if (item_is_candidate(item)) {
            size = size == 0 ? count_nodes(run->control->host) : size;
            item_decide(run, item, size);
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

/* ---- what is published ---- */

static size_t absences_list(const struct node_absences *absences, enum absence_state state,
                            struct ccm_buf *names)
{
    void *cursor = NULL;
    const char *name = NULL;
    void *value = NULL;
    size_t count = 0;

    while (ccm_strmap_next(absences->nodes, &cursor, &name, &value) != 0) {
        if (((const struct absence *)value)->state == state) {
            ccm_buf_add_name(names, &count, "%.70s", name);
        }
    }
    return count;
}

static void publish_held(struct node_control *control)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf names = { .max = 500 };
    char reason[200];
    char text[900];
    struct ccm_leaving_held held = { .component = NODE_COMPONENT,
                                     .topic = "held",
                                     .object = "nodes",
                                     .reason = reason,
                                     .text = text };

    held.count = absences_list(control->absences, ABSENCE_HELD, &names);
    ccm_text_printf(reason, sizeof(reason),
                    "no more than %" PRIu32 " %% of all nodes (of up to %d one) are deleted within "
                    "%" PRId64 " s",
                    control->rule.share_percent, CCM_REMOVAL_SMALL, control->rule.window_ms / 1000);
    ccm_text_printf(text, sizeof(text),
                    "Nodes whose instances are gone stay (%s): %s. `ccmd allow-removals node` lets "
                    "them go",
                    ccm_buf_str(&names), reason);
    ccm_leaving_publish(control->host, &held, &control->absences->reported_held);
}

static void publish_strange(struct node_control *control)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf names = { .max = 500 };
    char text[900];
    struct ccm_leaving_held held = { .component = NODE_COMPONENT,
                                     .topic = "strange",
                                     .text = text };

    held.count = absences_list(control->absences, ABSENCE_STRANGE, &names);
    ccm_text_printf(text, sizeof(text),
                    "Nodes whose instances were never seen with these credentials stay although "
                    "nobody hears of them (%s): they may be of another account. Delete those that "
                    "are of no use",
                    ccm_buf_str(&names));
    ccm_leaving_publish(control->host, &held, &control->absences->reported_strange);
}

void node_gone_publish(struct node_control *control)
{
    absences_release(control);
    publish_held(control);
    publish_strange(control);
}
