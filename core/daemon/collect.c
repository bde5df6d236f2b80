#include "daemon/collect.h"

#include "admin/probes.h"
#include "ccm/version.h"
#include "sched/verdict.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define START_MS 30000 /* what start() of a plugin may take, by its contract */

static const char creating_text[] = "plugins are being created\n";

/* --- probes --- */

static uint64_t timeout_ms(const struct daemon_observed *seen)
{
    return (uint64_t)config_int(seen->services->config, NULL, "controller", "timeout_s") * 1000;
}

static struct admin_probe_plugin probe_of(const struct daemon_observed *seen,
                                          const struct daemon_runner_view *view)
{
    return (struct admin_probe_plugin){
        .name = view->name,
        .failed = view->failed,
        .started = view->started,
        .error = view->error,
        .longest_ms = view->stats.running.longest_ms,
        .longest = view->stats.running.longest,
        .limit_ms = admin_probe_limit_ms(timeout_ms(seen)),
    };
}

/* Calls that run, and how old the ones may get that do not hang. */
struct call_check {
    uint64_t limit_ms;
    uint64_t start_ms; /* more, for a start() */
    struct ccm_buf *wrong;
};

static void observe_check_map(void *arg, const char *plugin, const char *what, int64_t age_ms)
{
    const struct call_check *check = arg;

    admin_probe_live_map(plugin, what, age_ms, check->limit_ms, check->wrong);
}

static void observe_check_stage(void *arg, const char *stage, const char *plugin, int64_t age_ms)
{
    const struct call_check *check = arg;
    const uint64_t more_ms = ccm_text_equal(stage, "start()") ? check->start_ms : 0;

    admin_probe_live_stage(plugin, stage, age_ms, check->limit_ms + more_ms, check->wrong);
}

void daemon_observe_hung(struct daemon_observed *seen, int64_t grace_ms, struct ccm_buf *wrong)
{
    const uint64_t call_ms = admin_probe_limit_ms(timeout_ms(seen));
    struct call_check check = {
        .limit_ms = call_ms + (uint64_t)grace_ms,
        .start_ms = call_ms < START_MS ? START_MS - call_ms : 0,
        .wrong = wrong,
    };
    struct daemon_runner_view runner;

    daemon_runners_list_stages(seen->runners, observe_check_stage, &check);
    if (atomic_load(&seen->creating)) {
        return;
    }
    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &runner); i++) {
        struct admin_probe_plugin plugin = probe_of(seen, &runner);

        plugin.limit_ms += (uint64_t)grace_ms;
        admin_probe_live_plugin(&plugin, wrong);
    }
    daemon_watches_list_running(seen->watches, observe_check_map, &check);
}

void daemon_observe_live(void *arg, struct ccm_buf *wrong)
{
    struct daemon_observed *seen = arg;
    const int64_t now = ccm_clock_now_ms();
    struct daemon_watch_view watch;

    daemon_observe_hung(seen, 0, wrong);
    if (atomic_load(&seen->stopping) || atomic_load(&seen->creating)) {
        return; /* threads end one after the other, and there is a deadline for it; or none runs */
    }
    for (size_t i = 0; daemon_watches_get_view(seen->watches, i, &watch); i++) {
        admin_probe_live_cache(watch.name, &watch.status, now, wrong);
    }
    if (seen->lease != NULL) {
        struct kube_lease_status lease;

        kube_lease_status(seen->lease, &lease);
        admin_probe_live_lease(&lease, now, wrong);
    }
}

static bool is_leading(const struct daemon_observed *seen, struct kube_lease_status *lease)
{
    memset(lease, 0, sizeof(*lease));
    if (seen->lease == NULL) {
        return true;
    }
    kube_lease_status(seen->lease, lease);
    return lease->leading;
}

void daemon_observe_ready(void *arg, struct ccm_buf *wrong)
{
    const struct daemon_observed *seen = arg;
    struct kube_lease_status lease;
    struct daemon_runner_view runner;
    struct daemon_watch_view watch;

    if (atomic_load(&seen->creating)) {
        ccm_buf_adds(wrong, creating_text);
        return;
    }

    const bool leads = is_leading(seen, &lease);

    admin_probe_ready_process(atomic_load(&seen->stopping), wrong);
    for (size_t i = 0; daemon_watches_get_view(seen->watches, i, &watch); i++) {
        admin_probe_ready_cache(watch.name, &watch.status, wrong);
    }
    if (seen->lease != NULL) {
        admin_probe_ready_lease(&lease, wrong);
    }
    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &runner); i++) {
        const struct admin_probe_plugin plugin = probe_of(seen, &runner);

        admin_probe_ready_plugin(&plugin, leads, wrong);
    }
}

/* --- metrics --- */

#define METRIC(symbol, kind, text, words, ...)                                                     \
    static const char *const symbol##_labels[] = { __VA_ARGS__ };                                  \
    static const struct ccm_metric symbol = {                                                      \
        .struct_size = sizeof(struct ccm_metric),                                                  \
        .type = kind,                                                                              \
        .name = text,                                                                              \
        .help = words,                                                                             \
        .labels = symbol##_labels,                                                                 \
    }

METRIC(build_info, CCM_METRIC_GAUGE, "ccmd_build_info", "1, with the version.", "version", NULL);
METRIC(depth, CCM_METRIC_GAUGE, "workqueue_depth", "Keys that are ready for a worker.", "name",
       NULL);
METRIC(delayed, CCM_METRIC_GAUGE, "ccmd_workqueue_delayed",
       "Keys that wait for their time: retries and audits.", "name", NULL);
METRIC(adds, CCM_METRIC_COUNTER, "workqueue_adds_total", "Times that a key became ready.", "name",
       NULL);
METRIC(retries, CCM_METRIC_COUNTER, "workqueue_retries_total", "Retries after a failure.", "name",
       NULL);
METRIC(longest, CCM_METRIC_GAUGE, "workqueue_longest_running_processor_seconds",
       "Age of the oldest running reconcile.", "name", NULL);
METRIC(unfinished, CCM_METRIC_GAUGE, "workqueue_unfinished_work_seconds",
       "Age of all running reconciles together.", "name", NULL);
METRIC(running, CCM_METRIC_GAUGE, "controller_runtime_active_workers", "Reconciles that run now.",
       "controller", NULL);
METRIC(workers, CCM_METRIC_GAUGE, "controller_runtime_max_concurrent_reconciles",
       "Reconciles that may run at a time.", "controller", NULL);
METRIC(reconciles, CCM_METRIC_COUNTER, "controller_runtime_reconcile_total",
       "Reconciled keys by how it ended: success, requeue_after, error.", "controller", "result",
       NULL);
METRIC(reconcile_errors, CCM_METRIC_COUNTER, "controller_runtime_reconcile_errors_total",
       "Reconciled keys that failed.", "controller", NULL);
METRIC(failures, CCM_METRIC_COUNTER, "ccmd_reconcile_failures_total",
       "The same by kind of failure.", "plugin", "kind", NULL);
METRIC(slow, CCM_METRIC_COUNTER, "ccmd_reconcile_slow_total",
       "Reconciles that were named in the log because they took long.", "plugin", NULL);
METRIC(failing, CCM_METRIC_GAUGE, "ccmd_failing_objects",
       "Objects whose last reconcile failed, see /statusz.", "plugin", NULL);
METRIC(leading, CCM_METRIC_GAUGE, "leader_election_master_status",
       "1 while this instance holds the lease.", "name", NULL);
METRIC(started, CCM_METRIC_GAUGE, "ccmd_plugin_started", "1 once the plugin works.", "plugin",
       NULL);
METRIC(objects, CCM_METRIC_GAUGE, "ccmd_cache_objects", "Objects in a cache.", "kind", NULL);
METRIC(
    too_large, CCM_METRIC_GAUGE, "ccmd_cache_too_large_objects",
    "Objects in a cache that are larger than can be read: what was made for them stays as it is.",
    "kind", NULL);
METRIC(synced, CCM_METRIC_GAUGE, "ccmd_cache_synced", "1 once a cache is filled.", "kind", NULL);
METRIC(lists, CCM_METRIC_COUNTER, "ccmd_cache_lists_total", "Complete lists.", "kind", NULL);
METRIC(watch_events, CCM_METRIC_COUNTER, "ccmd_cache_watch_events_total",
       "Events of watches, bookmarks included.", "kind", NULL);
METRIC(held, CCM_METRIC_GAUGE, "ccmd_held_removals",
       "Removals that are held back because nodes are missing or not ready, see /statusz.",
       "plugin", NULL);
METRIC(unserved, CCM_METRIC_GAUGE, "ccmd_unserved_ports",
       "Ports of Services that no ready, or no healthy, backend serves, see /statusz.", "plugin",
       NULL);
METRIC(unserved_objects, CCM_METRIC_GAUGE, "ccmd_unserved_objects",
       "Services with such a port, see /statusz.", "plugin", NULL);
METRIC(oldest_pending, CCM_METRIC_GAUGE, "ccmd_oldest_pending_seconds",
       "How long the object is waited for that has waited longest: for a worker, its turn, or a "
       "pass that does not fail; 0: none.",
       "plugin", NULL);
METRIC(certificate_end, CCM_METRIC_GAUGE, "ccmd_admin_certificate_expiry_timestamp_seconds",
       "When the certificate of the admin server ends, since the epoch.", NULL);
METRIC(server_breaks, CCM_METRIC_COUNTER, "ccmd_server_replaced_total",
       "Times that the API server was another one, or restored from a backup.", NULL);
METRIC(changes_held, CCM_METRIC_GAUGE, "ccmd_changes_held",
       "1 while nothing is changed since the API server was replaced.", NULL);
METRIC(ready, CCM_METRIC_GAUGE, "ccmd_ready", "1 while /readyz says yes.", NULL);
METRIC(transitions, CCM_METRIC_GAUGE, "ccmd_lease_transitions",
       "Changes of the leader, as the Lease counts them.", "name", NULL);
METRIC(renewed, CCM_METRIC_GAUGE, "ccmd_lease_renew_age_seconds",
       "Time since this instance last renewed the Lease; only while it leads.", "name", NULL);
METRIC(cache_age, CCM_METRIC_GAUGE, "ccmd_cache_last_event_age_seconds",
       "Time since a watch last said something, bookmarks included.", "kind", NULL);
METRIC(cache_failures, CCM_METRIC_GAUGE, "ccmd_cache_failures",
       "Failures in a row of list and watch, 0 = working.", "kind", NULL);
METRIC(dropped, CCM_METRIC_COUNTER, "ccmd_events_dropped_total",
       "Events that were not written because too many waited.", NULL);
METRIC(config_ok, CCM_METRIC_GAUGE, "ccmd_config_last_reload_successful",
       "0 while the configuration file has problems, so that the one from before counts.", NULL);
METRIC(config_reloads, CCM_METRIC_COUNTER, "ccmd_config_reloads_total",
       "Times that the configuration file was read again: success, failure.", "result", NULL);
METRIC(config_restart, CCM_METRIC_GAUGE, "ccmd_config_restart_needed",
       "Options whose value in the file counts after a restart only.", NULL);
METRIC(cpu, CCM_METRIC_COUNTER, "process_cpu_seconds_total", "User and system time.", NULL);
METRIC(fds, CCM_METRIC_GAUGE, "process_open_fds", "Open file descriptors.", NULL);
METRIC(max_fds, CCM_METRIC_GAUGE, "process_max_fds", "Most file descriptors that may be open.",
       NULL);
METRIC(resident, CCM_METRIC_GAUGE, "process_resident_memory_bytes", "Resident memory.", NULL);
METRIC(start_time, CCM_METRIC_GAUGE, "process_start_time_seconds",
       "Start of the process, since the epoch.", NULL);

static void observe_set_metric(const struct daemon_observed *seen, const struct ccm_metric *metric,
                               const char *label, double value)
{
    const char *const values[] = { label };

    (void)ccm_metrics_set(seen->metrics, metric, values, value); /* fails for want of memory only */
}

static void observe_set_metric_pair(const struct daemon_observed *seen,
                                    const struct ccm_metric *metric, const char *label,
                                    const char *second, double value)
{
    const char *const values[] = { label, second };

    (void)ccm_metrics_set(seen->metrics, metric, values, value);
}

static void collect_verdicts(const struct daemon_observed *seen,
                             const struct daemon_runner_view *view)
{
    const struct sched_controller_stats *stats = &view->stats;
    uint64_t failed = 0;

    for (size_t i = 0; i < SCHED_BACKOFF_KINDS; i++) {
        if (stats->failed[i] > 0) {
            observe_set_metric_pair(seen, &failures, view->name, sched_verdict_kind_name(i),
                                    (double)stats->failed[i]);
        }
        failed += stats->failed[i];
    }
    observe_set_metric_pair(seen, &reconciles, view->name, "success", (double)stats->succeeded);
    observe_set_metric_pair(seen, &reconciles, view->name, "requeue_after",
                            (double)stats->requeued);
    observe_set_metric_pair(seen, &reconciles, view->name, "error", (double)failed);
    observe_set_metric(seen, &reconcile_errors, view->name, (double)failed);
}

static int64_t collect_oldest_ms(const struct daemon_runner_view *view)
{
    const struct sched_watchdog_stats *at_work = &view->stats.running;
    const int64_t now = ccm_clock_now_ms();
    const int64_t failing_ms =
        now - daemon_objects_sum(view->objects, DAEMON_NOTE_FAILING).since_ms;
    const int64_t waiting_ms =
        now - daemon_objects_sum(view->objects, DAEMON_NOTE_WAITING).since_ms;
    int64_t oldest_ms = (int64_t)at_work->longest_ms;

    oldest_ms = view->stats.queue.oldest_ms > oldest_ms ? view->stats.queue.oldest_ms : oldest_ms;
    oldest_ms = failing_ms > oldest_ms ? failing_ms : oldest_ms;
    return waiting_ms > oldest_ms ? waiting_ms : oldest_ms;
}

static void collect_runner(const struct daemon_observed *seen,
                           const struct daemon_runner_view *view)
{
    const struct sched_queue_stats *queue = &view->stats.queue;
    const struct sched_watchdog_stats *now = &view->stats.running;
    uint64_t waiting = 0;

    for (size_t i = 0; i < SCHED_QUEUE_LANES; i++) {
        waiting += queue->depth[i];
    }
    observe_set_metric(seen, &depth, view->name, (double)waiting);
    observe_set_metric(seen, &delayed, view->name, (double)queue->delayed);
    observe_set_metric(seen, &adds, view->name, (double)queue->adds);
    observe_set_metric(seen, &retries, view->name, (double)queue->retries);
    observe_set_metric(seen, &longest, view->name, (double)now->longest_ms / 1000);
    observe_set_metric(seen, &unfinished, view->name, (double)now->sum_ms / 1000);
    observe_set_metric(seen, &running, view->name, (double)now->running);
    observe_set_metric(seen, &workers, view->name, (double)view->stats.workers);
    observe_set_metric(seen, &slow, view->name, (double)now->slow);
    observe_set_metric(seen, &failing, view->name,
                       (double)daemon_objects_sum(view->objects, DAEMON_NOTE_FAILING).objects);
    if (view->loaded != NULL) {
        const struct daemon_note_sum ports =
            daemon_objects_sum(view->objects, DAEMON_NOTE_NO_BACKEND);

        observe_set_metric(seen, &held, view->name,
                           (double)daemon_objects_sum(view->objects, DAEMON_NOTE_HELD).count);
        observe_set_metric(seen, &unserved, view->name, (double)ports.count);
        observe_set_metric(seen, &unserved_objects, view->name, (double)ports.objects);
    }
    observe_set_metric(seen, &oldest_pending, view->name, (double)collect_oldest_ms(view) / 1000);
    observe_set_metric(seen, &started, view->name, view->started ? 1 : 0);
    collect_verdicts(seen, view);
}

static void collect_caches(const struct daemon_observed *seen)
{
    const int64_t now = ccm_clock_now_ms();
    struct daemon_watch_view view;

    for (size_t i = 0; daemon_watches_get_view(seen->watches, i, &view); i++) {
        const struct kube_reflector_status *status = &view.status;

        observe_set_metric(seen, &objects, view.name, (double)status->objects);
        observe_set_metric(seen, &too_large, view.name, (double)status->too_large);
        observe_set_metric(seen, &synced, view.name, status->synced ? 1 : 0);
        observe_set_metric(seen, &lists, view.name, (double)status->lists);
        observe_set_metric(seen, &watch_events, view.name, (double)status->events);
        observe_set_metric(seen, &cache_failures, view.name, (double)status->failures);
        if (status->last_event_ms != 0) {
            observe_set_metric(seen, &cache_age, view.name,
                               (double)(now - status->last_event_ms) / 1000);
        }
    }
}

static void collect_lease(const struct daemon_observed *seen)
{
    const char *name = config_string(seen->config, NULL, "leader_election", "name");
    struct kube_lease_status lease;
    const bool leads = is_leading(seen, &lease);

    observe_set_metric(seen, &leading, name, leads ? 1 : 0);
    if (seen->lease == NULL) {
        return;
    }
    observe_set_metric(seen, &transitions, name, (double)lease.transitions);
    if (leads && lease.renewed_ms != 0) {
        observe_set_metric(seen, &renewed, name,
                           (double)(ccm_clock_now_ms() - lease.renewed_ms) / 1000);
    }
}

static void collect_server(const struct daemon_observed *seen)
{
    struct kube_continuity_view view;

    kube_continuity_view(&seen->services->continuity, &view);
    observe_set_metric(seen, &server_breaks, "", (double)view.breaks);
    observe_set_metric(seen, &changes_held, "", view.held ? 1 : 0);
}

static void collect_reload(const struct daemon_observed *seen)
{
    struct daemon_reload_status status;

    daemon_reload_status(seen->reload, &status);
    observe_set_metric(seen, &config_ok, "", status.failing ? 0 : 1);
    observe_set_metric(seen, &config_reloads, "success", (double)status.succeeded);
    observe_set_metric(seen, &config_reloads, "failure", (double)status.failed);
    observe_set_metric(seen, &config_restart, "", (double)status.restart_needed);
}

static void collect_certificate(const struct daemon_observed *seen)
{
    const struct admin_server *admin = atomic_load(&seen->admin);
    const int64_t end_ms = admin == NULL ? 0 : admin_certificate_end(admin);

    if (end_ms != 0) {
        observe_set_metric(seen, &certificate_end, "", (double)end_ms / 1000);
    }
}

static double resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long pages = 0;
    char text[128];
    const char *second = NULL;

    if (file == NULL) {
        return 0;
    }
    if (fgets(text, sizeof(text), file) != NULL) {
        second = strchr(text, ' ');
        pages = second == NULL ? 0 : (long)strtod(second, NULL);
    }
    (void)fclose(file); /* only read */
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double open_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    double count = 0;

    if (dir == NULL) {
        return 0;
    }
    while (readdir(dir) != NULL) {
        count++;
    }
    (void)closedir(dir); /* only read */
    return count - 3;    /* without ".", ".." and the directory itself */
}

static void collect_process(const struct daemon_observed *seen)
{
    struct rusage usage;
    struct rlimit files;

    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        observe_set_metric(seen, &cpu, "",
                           (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
                               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    }
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        observe_set_metric(seen, &max_fds, "", (double)files.rlim_cur);
    }
    observe_set_metric(seen, &fds, "", open_fds());
    observe_set_metric(seen, &resident, "", resident_bytes());
    observe_set_metric(seen, &start_time, "", (double)seen->started_ms / 1000);
    observe_set_metric(seen, &build_info, CCM_VERSION, 1);
}

int daemon_observe_allow(void *arg, const char *plugin, struct ccm_buf *text)
{
    const struct daemon_observed *seen = arg;

    if (atomic_load(&seen->creating)) {
        ccm_buf_adds(text, creating_text);
        return -EAGAIN;
    }

    const int r = daemon_runners_allow_removals(seen->runners, plugin, text);

    ccm_buf_addc(text, '\n');
    return r;
}

int daemon_observe_resync(void *arg, const char *key, struct ccm_buf *text)
{
    const struct daemon_observed *seen = arg;

    if (atomic_load(&seen->creating)) {
        ccm_buf_adds(text, creating_text);
        return -EAGAIN;
    }

    const int r = daemon_runners_resync(seen->runners, key, text);

    ccm_buf_addc(text, '\n');
    return r;
}

void daemon_observe_metrics(void *arg, struct ccm_buf *text)
{
    const struct daemon_observed *seen = arg;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf wrong = { .max = 65536 };
    struct daemon_runner_view view;

    if (atomic_load(&seen->creating)) {
        collect_process(seen);
        observe_set_metric(seen, &ready, "", 0);
        ccm_metrics_write(seen->metrics, text);
        return;
    }
    for (size_t i = 0; daemon_runners_get_view(seen->runners, i, &view); i++) {
        collect_runner(seen, &view);
    }
    collect_caches(seen);
    collect_lease(seen);
    collect_server(seen);
    collect_reload(seen);
    collect_certificate(seen);
    daemon_observe_ready(arg, &wrong);
    observe_set_metric(seen, &ready, "", wrong.len == 0 ? 1 : 0);
    observe_set_metric(seen, &dropped, "",
                       (double)kube_event_recorder_dropped(seen->services->events));
    collect_process(seen);
    ccm_metrics_write(seen->metrics, text);
}
