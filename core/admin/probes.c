#include "admin/probes.h"

#include <inttypes.h>

/* A call that takes so many times its deadline heeds no cancellation. */
#define HUNG_TIMES 3

uint64_t admin_probe_limit_ms(uint64_t timeout_ms)
{
    return timeout_ms * HUNG_TIMES;
}

void admin_probe_live_plugin(const struct admin_probe_plugin *plugin, struct ccm_buf *wrong)
{
    if (plugin->longest_ms > plugin->limit_ms) {
        ccm_buf_addf(
            wrong, "plugin %s: a %s has been running for %" PRIu64 " s and heeds no cancellation\n",
            plugin->name, plugin->longest == NULL ? "reconcile" : plugin->longest,
            plugin->longest_ms / 1000);
    }
}

void admin_probe_live_map(const char *plugin, const char *what, int64_t age_ms, uint64_t limit_ms,
                          struct ccm_buf *wrong)
{
    if (age_ms > (int64_t)limit_ms) {
        ccm_buf_addf(wrong,
                     "plugin %s: map() has been running for %" PRId64
                     " s at %s, and its cache stands still\n",
                     plugin, age_ms / 1000, what);
    }
}

void admin_probe_live_stage(const char *plugin, const char *stage, int64_t age_ms,
                            uint64_t limit_ms, struct ccm_buf *wrong)
{
    if (age_ms > (int64_t)limit_ms) {
        ccm_buf_addf(wrong, "plugin %s: %s has been running for %" PRId64 " s and does not end\n",
                     plugin, stage, age_ms / 1000);
    }
}

static bool is_overdue(int64_t due_ms, int64_t now_ms)
{
    return due_ms != 0 && now_ms > due_ms;
}

void admin_probe_live_cache(const char *name, const struct kube_reflector_status *status,
                            int64_t now_ms, struct ccm_buf *wrong)
{
    if (is_overdue(status->due_ms, now_ms)) {
        ccm_buf_addf(wrong, "cache of %s: its thread hangs\n", name);
    }
}

void admin_probe_live_lease(const struct kube_lease_status *status, int64_t now_ms,
                            struct ccm_buf *wrong)
{
    if (!status->lost && is_overdue(status->due_ms, now_ms)) { /* lost: the process ends anyway */
        ccm_buf_adds(wrong, "leader election: its thread hangs\n");
    }
}

void admin_probe_ready_process(bool stopping, struct ccm_buf *wrong)
{
    if (stopping) {
        ccm_buf_adds(wrong, "shutting down\n");
    }
}

void admin_probe_ready_plugin(const struct admin_probe_plugin *plugin, bool leads,
                              struct ccm_buf *wrong)
{
    const char *colon = plugin->error[0] == '\0' ? "" : ": ";

    if (plugin->failed) {
        ccm_buf_addf(wrong, "plugin %s: failed%s%s\n", plugin->name, colon, plugin->error);
    } else if (leads && !plugin->started) {
        ccm_buf_addf(wrong, "plugin %s: not started%s%s\n", plugin->name, colon, plugin->error);
    }
}

void admin_probe_ready_cache(const char *name, const struct kube_reflector_status *status,
                             struct ccm_buf *wrong)
{
    if (!status->synced && !status->absent) {
        ccm_buf_addf(wrong, "cache of %s: not filled%s%s\n", name,
                     status->error[0] == '\0' ? "" : ": ", status->error);
    }
}

void admin_probe_ready_lease(const struct kube_lease_status *status, struct ccm_buf *wrong)
{
    if (status->lost) {
        ccm_buf_adds(wrong, "lease: lost\n");
    } else if (status->error[0] != '\0') {
        ccm_buf_addf(wrong, "lease: %s\n", status->error);
    } else if (!status->leading && status->holder[0] == '\0') {
        ccm_buf_adds(wrong, "lease: not looked at yet\n");
    }
}
