#include "events.h"

#include "alicloud/error.h"
#include "util/cleanup.h"
#include "util/lease_event.h"
#include "util/retry_text.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

#define TOPIC_SYNC  "sync"
#define TOPIC_LABEL "label"
/* A new instance is not in every list of the cloud at once. */
#define PATIENCE_MS 30000

void node_emit_event(const struct node_control *control, const struct ccm_object *object,
                     bool warning, const char *reason, const char *message)
{
    const struct ccm_event event = {
        .struct_size = sizeof(event),
        .object = object,
        .component = NODE_COMPONENT,
        .reason = reason,
        .message = message,
        .warning = warning,
    };

    control->host->event(control->host, &event);
}

/* ---- about one node, as long as it lasts ---- */

void node_stand(struct node_control *control, const struct ccm_object *object,
                const struct node_standing *what)
{
    CCM_CLEANUP(ccm_freep) char *name = ccm_text_format("%s %s", object->name, what->topic);
    const bool over = what->message[0] == '\0';
    const struct ccm_event event = {
        .struct_size = sizeof(event),
        .object = object,
        .component = NODE_COMPONENT,
        .reason = what->reason == NULL ? "SyncNodeFailed" : what->reason,
        .message = what->message,
        .warning = 1,
        .topic = what->topic,
        .cause = what->cause,
        .after_ms = what->after_ms,
    };

    if (name == NULL || (over && !ccm_strmap_has(control->told, name))) {
        return;
    }
    if (over) {
        ccm_strmap_del(control->told, name);
    } else if (ccm_strmap_set(control->told, name, NULL) < 0) {
        control->host->log(control->host, CCM_LEVEL_WARN, object->name,
                           "out of memory: the end of the event will not be seen");
    }
    control->host->event(control->host, &event);
}

void node_events_forget(struct node_control *control, const char *name)
{
    static const char *const topics[] = { TOPIC_SYNC, TOPIC_LABEL, NODE_TOPIC_TWIN };

    for (size_t i = 0; i < CCM_ARRAY_LEN(topics); i++) {
        CCM_CLEANUP(ccm_freep) char *key = ccm_text_format("%s %s", name, topics[i]);

        if (key != NULL) {
            ccm_strmap_del(control->told, key);
        }
    }
}

static void run_format_retry(const struct node_run *run, const struct node_item *item,
                             char ret[static CCM_RETRY_TEXT])
{
    const struct ccm_host *host = run->control->host;
    const size_t key = item == NULL || item->key == NODE_NOBODY ? 0 : item->key;
    const struct ccm_error *err = item == NULL ? &run->sync : &item->err;
    uint64_t most_ms = 0;
    const uint64_t next_ms = host->retry_ms(host, run->req, key, err, &most_ms);

    ccm_retry_format("node", err->kind, next_ms, most_ms, ret);
}

static void item_emit_failure(struct node_run *run, const struct node_item *item)
{
    const struct ccm_error *err = &item->err;
    const char *remedy = ali_error_remedy(err);
    char retry[CCM_RETRY_TEXT];
    char cause[256];
    char message[1024];

    run_format_retry(run, item, retry);
    ccm_text_printf(cause, sizeof(cause), "%.90s %.*s", err->code,
                    err->code[0] == '\0' ? (int)ccm_error_cause_len(err) : 0, err->message);
    ccm_text_printf(message, sizeof(message), "%.600s%s%.250s. %s", err->message,
                    remedy == NULL ? "" : ". ", remedy == NULL ? "" : remedy, retry);
    node_stand(run->control, item->object,
               &(const struct node_standing){
                   .topic = TOPIC_SYNC,
                   .cause = cause,
                   .message = message,
                   .after_ms = err->kind == CCM_ERROR_NOT_FOUND ? PATIENCE_MS : 0,
               });
}

void node_emit_items(struct node_run *run)
{
    for (size_t i = 0; i < run->len; i++) {
        struct node_item *item = &run->items[i];

        if (item->failed && (item->shared || item->err.kind == CCM_ERROR_CANCELLED)) {
            continue;
        }
        if (item->failed) {
            item_emit_failure(run, item);
        } else if (!item->waits) {
            node_stand(run->control, item->object,
                       &(const struct node_standing){ .topic = TOPIC_SYNC, .message = "" });
        }
        node_stand(run->control, item->object,
                   &(const struct node_standing){ .topic = TOPIC_LABEL, .message = item->problem });
    }
}

/* ---- about all ---- */

void node_emit_sync(struct node_run *run)
{
    struct node_control *control = run->control;
    const struct ccm_error *err = &run->sync;
    const char *remedy = ali_error_remedy(err);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 1600 };
    struct ccm_lease_standing what = {
        .warning = true, .topic = "sync", .reason = "", .message = ""
    };
    char retry[CCM_RETRY_TEXT];

    if (err->kind == CCM_ERROR_CANCELLED) {
        return;
    }
    if (err->kind != CCM_ERROR_NONE) {
        run_format_retry(run, NULL, retry);
        ccm_buf_addf(&text, "Nodes cannot be compared with the cloud: %.600s%s%.250s. %s",
                     err->message, remedy == NULL ? "" : ". ", remedy == NULL ? "" : remedy, retry);
        what.reason = "SyncNodeFailed";
        what.cause = err->code[0] == '\0' ? err->message : err->code;
        what.message = ccm_buf_str(&text);
    } else if (!control->sync_told) {
        return;
    }
    control->sync_told = err->kind != CCM_ERROR_NONE;
    ccm_lease_stand(control->host, NODE_COMPONENT, &what);
}
