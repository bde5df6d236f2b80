#include "kube/client/measure.h"

#include "util/clock.h"
#include "util/text.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const total_labels[] = { "code", "host", "method", NULL };
static const struct ccm_metric total = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_COUNTER,
    .name = "rest_client_requests_total",
    .help = "Requests to the API server; code <error>: there was no answer.",
    .labels = total_labels,
};

static const double buckets[] = { 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60 };
static const char *const duration_labels[] = { "verb", "host", NULL };
static const struct ccm_metric duration = {
    .struct_size = sizeof(struct ccm_metric),
    .type = CCM_METRIC_HISTOGRAM,
    .name = "rest_client_request_duration_seconds",
    .help = "From a request to its answer; of a watch, to the beginning of its answer.",
    .labels = duration_labels,
    .buckets = buckets,
    .bucket_count = CCM_ARRAY_LEN(buckets),
};

struct kube_measure kube_measure_begin(struct ccm_metrics *metrics, const char *host,
                                       const char *method)
{
    return (struct kube_measure){
        .metrics = metrics,
        .host = host,
        .method = method,
        .started_us = ccm_clock_now_us(),
    };
}

void kube_measure_end(struct kube_measure *measure, uint32_t status)
{
    char code[16] = "<error>";
    const char *const counted[] = { code, measure->host, measure->method };
    const char *const timed[] = { measure->method, measure->host };
    const double seconds = (double)(ccm_clock_now_us() - measure->started_us) / 1e6;

    if (measure->ended) {
        return;
    }
    measure->ended = true;
    if (status != 0) {
        ccm_text_printf(code, sizeof(code), "%" PRIu32, status);
    }
    /* Recording fails for want of memory only, at the first of a series. */
    (void)ccm_metrics_record(measure->metrics, &total, counted, 1);
    (void)ccm_metrics_record(measure->metrics, &duration, timed, seconds);
}
