#include "util/quota_use.h"

#include <stddef.h>

static const char *const labels[] = { "type", "quota", NULL };
static const struct ccm_metric used_metric = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_GAUGE,
    .name = "ccmd_quota_used",
    .help = "How much of a quota of the cloud is used by the object that has used most of it.",
    .labels = labels,
};
static const struct ccm_metric limit_metric = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_GAUGE,
    .name = "ccmd_quota_limit",
    .help = "The quota, as configured or as the cloud tells it; 0: nobody looks at it.",
    .labels = labels,
};

bool ccm_quota_is_near(uint64_t used, uint64_t limit, bool was_near)
{
    return limit > 0 && used * 100 >= limit * (was_near ? CCM_QUOTA_FAR : CCM_QUOTA_NEAR);
}

void ccm_quota_measure(const struct ccm_host *host, const char *type, const char *quota,
                       uint64_t used, uint64_t limit)
{
    const char *const values[] = { type, quota };

    host->metric(host, &used_metric, values, (double)used);
    host->metric(host, &limit_metric, values, (double)limit);
}

void ccm_quota_note(const struct ccm_host *host, const char *object, const char *quota,
                    uint64_t used, uint64_t limit)
{
    if (host->struct_size > offsetof(struct ccm_host, note_quota) && host->note_quota != NULL) {
        host->note_quota(host, object, quota, used, limit);
    }
}
