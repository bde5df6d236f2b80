#include "util/quota_use.h"

#include "util/parse.h"
#include "util/text.h"

#include <stddef.h>
#include <string.h>

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

uint64_t ccm_quota_limit(const struct ccm_host *host, const char *name, uint64_t published)
{
    const char *cursor = host->option_string(host, NULL, CCM_QUOTA_OPTION_NAME);
    const size_t len = strlen(name);
    const char *start = NULL;
    size_t piece = 0;

    while (cursor != NULL && ccm_parse_piece(&cursor, ',', &start, &piece)) {
        start += strspn(start, " ");
        if (strncmp(start, name, len) == 0 && start[len] == '=') {
            char number[12];
            uint32_t limit = 0;

            ccm_text_printf(number, sizeof(number), "%.*s",
                            (int)strspn(&start[len + 1], "0123456789"), &start[len + 1]);
            return ccm_parse_u32(number, 0, UINT32_MAX, &limit) < 0 ? published : limit;
        }
    }
    return published;
}

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
