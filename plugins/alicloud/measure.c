#include "alicloud/measure.h"

#include "alicloud/endpoint.h"

#define METRIC(symbol, kind, text, words, ...)                                                     \
    static const char *const symbol##_labels[] = { __VA_ARGS__ };                                  \
    static const struct ccm_metric symbol = {                                                      \
        .struct_size = sizeof(struct ccm_metric),                                                  \
        .type = (kind),                                                                            \
        .name = (text),                                                                            \
        .help = (words),                                                                           \
        .labels = symbol##_labels,                                                                 \
        .buckets = (kind) == CCM_METRIC_HISTOGRAM ? buckets : NULL,                                \
        .bucket_count = (kind) == CCM_METRIC_HISTOGRAM ? CCM_ARRAY_LEN(buckets) : 0,               \
    }

/* A call takes tens to hundreds of milliseconds, a wait for the governor up to minutes. */
static const double buckets[] = { 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60 };

METRIC(
    duration, CCM_METRIC_HISTOGRAM, "cloudprovider_alicloud_api_request_duration_seconds",
    "Calls to the cloud, each try of its own; products besides those of resources: sts, metadata.",
    "product", "request", NULL);
METRIC(errors, CCM_METRIC_COUNTER, "cloudprovider_alicloud_api_request_errors",
       "Tries that failed, by the code of the cloud (metadata: HTTP status); none: there was no "
       "answer with a code.",
       "product", "request", "code", NULL);
METRIC(throttled_total, CCM_METRIC_COUNTER, "cloudprovider_alicloud_api_request_throttled_total",
       "Tries that the cloud throttled.", "product", "request", NULL);
METRIC(governor_wait, CCM_METRIC_HISTOGRAM, "cloudprovider_alicloud_governor_wait_seconds",
       "How long calls waited within ccmd, so as not to be throttled.", "product", "priority",
       NULL);
METRIC(governor_refused, CCM_METRIC_COUNTER, "cloudprovider_alicloud_governor_refused_total",
       "Calls that were not sent because their turn would have come too late.", "product",
       "priority", NULL);
METRIC(governor_share, CCM_METRIC_GAUGE, "cloudprovider_alicloud_governor_share",
       "Calls per window that an action may make, of actions that were throttled, or grew.",
       "product", "request", NULL);
METRIC(refreshed, CCM_METRIC_GAUGE, "cloudprovider_alicloud_credential_refresh_timestamp_seconds",
       "When the credential in use was fetched, since the epoch.", NULL);
METRIC(expiry, CCM_METRIC_GAUGE, "cloudprovider_alicloud_credential_expiry_timestamp_seconds",
       "When it ends, since the epoch; 0 = never.", NULL);
METRIC(refresh_failures, CCM_METRIC_COUNTER,
       "cloudprovider_alicloud_credential_refresh_failures_total",
       "Fetches of a credential that failed.", NULL);

static const char *priority_name(enum ali_priority priority)
{
    switch (priority) {
    case ALI_PRIO_REMOVE:
        return "remove";
    case ALI_PRIO_NEW:
        return "new";
    case ALI_PRIO_SPEC:
        return "spec";
    case ALI_PRIO_BULK:
        return "bulk";
    case ALI_PRIO_RETRY:
        return "retry";
    default:
        return "audit";
    }
}

void ali_measure_try(const struct ccm_host *host, const struct ali_call *call, int64_t took_ms,
                     enum ali_measured measured, const char *code)
{
    ali_measure_request(host, ali_endpoint_product(call->product)->name, call->action, took_ms,
                        measured, code);
}

void ali_measure_request(const struct ccm_host *host, const char *product, const char *request,
                         int64_t took_ms, enum ali_measured measured, const char *code)
{
    const char *const values[] = { product, request, code[0] == '\0' ? "none" : code };

    host->metric(host, &duration, values, (double)took_ms / 1000);
    if (measured != ALI_MEASURED_OK) {
        host->metric(host, &errors, values, 1);
    }
    /* From the first call on, so that the first refusal is an increase. */
    host->metric(host, &throttled_total, values, measured == ALI_MEASURED_THROTTLED ? 1 : 0);
}

void ali_measure_wait(const struct ccm_host *host, const struct ali_call *call, int64_t waited_ms,
                      bool refused)
{
    const char *const values[] = { ali_endpoint_product(call->product)->name,
                                   priority_name(call->priority) };

    if (refused) {
        host->metric(host, &governor_refused, values, 1);
    } else {
        host->metric(host, &governor_wait, values, (double)waited_ms / 1000);
    }
}

void ali_measure_share(const struct ccm_host *host, const struct ali_call *call, int64_t allowed)
{
    const char *const values[] = { ali_endpoint_product(call->product)->name, call->action };

    host->metric(host, &governor_share, values, (double)allowed);
}

void ali_measure_credential(const struct ccm_host *host, int64_t life_ms)
{
    const int64_t now = host->wall_ms(host);

    host->metric(host, &refreshed, NULL, (double)now / 1000);
    host->metric(host, &expiry, NULL, life_ms == 0 ? 0 : (double)(now + life_ms) / 1000);
}

void ali_measure_credential_failure(const struct ccm_host *host)
{
    host->metric(host, &refresh_failures, NULL, 1);
}
