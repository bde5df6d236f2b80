/* /idlez: whether there is anything to do, and how far the caches are. */
#include "daemon/collect.h"

#include "kube/event.h"
#include "util/jsonw.h"

/*
 * What is looked at stands in the order in which work goes: caches, plugins, events. Each part is
 * read at another moment, and work moves on in between; so each comes with a count of what it was
 * given. Two answers in a row that are both idle and equal to the letter prove that nothing was
 * under way between them.
 */
struct idle_report {
    const struct daemon_observed *seen;
    int64_t horizon_ms;
    struct ccm_jsonw json;
    bool idle;
};

/* One part: what it was given so far, and what it is busy with; NULL = nothing. */
static void idle_end_part(struct idle_report *report, uint64_t count, const char *busy)
{
    ccm_jsonw_i64(&report->json, "count", (int64_t)count);
    if (busy != NULL) {
        ccm_jsonw_str(&report->json, "busy", busy);
        report->idle = false;
    }
    ccm_jsonw_close(&report->json, '}');
}

static const char *idle_cache_work(const struct kube_reflector_status *cache)
{
    if (!cache->listed && !cache->absent) {
        return "is being listed";
    }
    return cache->requested ? "objects are being fetched or dropped" : NULL;
}

static void idle_write_caches(struct idle_report *report)
{
    struct daemon_watch_view view;

    ccm_jsonw_open(&report->json, "caches", '{');
    for (size_t i = 0; daemon_watches_get_view(report->seen->watches, i, &view); i++) {
        ccm_jsonw_open(&report->json, view.name, '{');
        ccm_jsonw_str(&report->json, "version", view.status.version);
        idle_end_part(report, view.status.events + view.status.lists,
                      idle_cache_work(&view.status));
    }
    ccm_jsonw_close(&report->json, '}');
}

/* Whether plugins work in this instance: one that stands by has their keys in its queues. */
static bool idle_is_leading(const struct idle_report *report)
{
    struct kube_lease_status lease;

    if (report->seen->lease == NULL) {
        return true;
    }
    kube_lease_status(report->seen->lease, &lease);
    return lease.leading;
}

static const char *idle_plugin_work(const struct idle_report *report,
                                    const struct daemon_runner_view *view, bool leads)
{
    const struct sched_queue_stats *queue = &view->stats.queue;
    uint64_t keys = queue->processing;

    for (size_t i = 0; i < SCHED_QUEUE_LANES; i++) {
        keys += queue->depth[i];
    }
    if (view->failed || (!view->started && !leads)) {
        return NULL;
    }
    if (!view->started) {
        /* One that failed to start tries again and again: that is no work which ends. */
        return view->error[0] == '\0' ? "is starting" : NULL;
    }
    if (keys > 0) {
        return "objects are worked on";
    }
    return queue->due_in_ms >= 0 && queue->due_in_ms <= report->horizon_ms
               ? "objects will be worked on soon"
               : NULL;
}

static void idle_write_plugins(struct idle_report *report)
{
    const bool leads = idle_is_leading(report);
    struct daemon_runner_view view;

    ccm_jsonw_open(&report->json, "plugins", '{');
    for (size_t i = 0; daemon_runners_get_view(report->seen->runners, i, &view); i++) {
        ccm_jsonw_open(&report->json, view.name, '{');
        idle_end_part(report, view.stats.queue.adds + view.stats.calls,
                      idle_plugin_work(report, &view, leads));
    }
    ccm_jsonw_close(&report->json, '}');
}

static void idle_write_events(struct idle_report *report)
{
    struct kube_event_recorder *events = report->seen->services->events;
    uint64_t emitted = 0;
    const bool idle = kube_event_recorder_is_idle(events, report->horizon_ms, &emitted);

    ccm_jsonw_open(&report->json, "events", '{');
    idle_end_part(report, emitted, idle ? NULL : "are being written");
}

bool daemon_observe_idle(void *arg, int64_t horizon_ms, struct ccm_buf *json)
{
    struct idle_report report = {
        .seen = arg,
        .horizon_ms = horizon_ms,
        .json = { .buf = json },
        .idle = true,
    };

    if (atomic_load(&report.seen->creating)) {
        ccm_buf_adds(json, "{\"idle\":false}\n");
        return false;
    }
    ccm_jsonw_open(&report.json, NULL, '{');
    idle_write_caches(&report);
    idle_write_plugins(&report);
    idle_write_events(&report);
    ccm_jsonw_bool(&report.json, "idle", report.idle);
    ccm_jsonw_close(&report.json, '}');
    ccm_buf_addc(json, '\n');
    return report.idle;
}
