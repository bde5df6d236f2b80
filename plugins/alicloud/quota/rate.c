#include "alicloud/quota/rate.h"

#include "alicloud/endpoint.h"
#include "util/text.h"

#include <string.h>

#define SECONDS    60 /* windows of a second in the window of a quota */
#define KEPT_PART  20
#define RETRY_PART 10 /* all that ALI_PRIO_RETRY gets */

struct ali_quota ali_quota_default(enum ali_product product)
{
    static const struct ali_quota quotas[ALI_ENDPOINT_PRODUCTS] = {
        [ALI_SLB] = { .write = 90, .read = 3000 },  [ALI_NLB] = { .write = 200, .read = 1200 },
        [ALI_VPC] = { .write = 300, .read = 300 },  [ALI_ECS] = { .write = 300, .read = 300 },
        [ALI_STS] = { .write = 600, .read = 6000 }, [ALI_EFLO] = { .write = 60, .read = 300 },
        [ALI_CAS] = { .write = 60, .read = 300 },
    };

    return quotas[product];
}

static bool action_reads(const char *action)
{
    return ccm_text_starts(action, "Describe") || ccm_text_starts(action, "List") ||
           ccm_text_starts(action, "Get");
}

struct ali_rate ali_quota_rate(const struct ali_quota *quota, enum ali_product product,
                               const char *action)
{
    /* Published rates that are others; as a factor, so that a configured quota moves them too. */
    static const struct {
        enum ali_product product;
        const char *action;
        int64_t times;
        int64_t by;
    } special[] = {
        { ALI_SLB, "SetLoadBalancerModificationProtection", 40, 9 },
        { ALI_SLB, "SetDomainExtensionAttribute", 40, 9 },
        { ALI_NLB, "UpdateLoadBalancerProtection", 3, 2 },
        { ALI_NLB, "GetListenerHealthStatus", 1, 2 },
    };
    const bool reads = action_reads(action);
    struct ali_rate rate = { .count = reads ? quota->read : quota->write,
                             .window_ms = ALI_QUOTA_WINDOW_MS };

    for (size_t i = 0; i < CCM_ARRAY_LEN(special); i++) {
        if (special[i].product == product && strcmp(special[i].action, action) == 0) {
            rate.count = rate.count * special[i].times / special[i].by;
        }
    }
    if ((product == ALI_NLB && reads) || product == ALI_STS) { /* published per second */
        rate.count /= SECONDS;
        rate.window_ms /= SECONDS;
    }
    rate.count = rate.count < 1 ? 1 : rate.count;
    return rate;
}

int64_t ali_quota_firsts(int64_t count)
{
    return count / KEPT_PART;
}

int64_t ali_quota_retries(int64_t count)
{
    return count < RETRY_PART ? 1 : count / RETRY_PART;
}

int64_t ali_quota_kept(const char *action, enum ali_priority priority, bool first, int64_t count)
{
    /* What adds to an object is never part of a removal. */
    const bool adds = ccm_text_starts(action, "Create") || ccm_text_starts(action, "Start") ||
                      ccm_text_starts(action, "Add");
    const int64_t removals = adds || priority == ALI_PRIO_REMOVE ? 0 : count / KEPT_PART;
    const int64_t firsts = first ? 0 : ali_quota_firsts(count);

    return priority == ALI_PRIO_RETRY ? count - ali_quota_retries(count) : removals + firsts;
}

enum ali_priority ali_quota_aged(const char *action)
{
    return ccm_text_starts(action, "Delete") || ccm_text_starts(action, "Remove") ? ALI_PRIO_REMOVE
                                                                                  : ALI_PRIO_SPEC;
}
