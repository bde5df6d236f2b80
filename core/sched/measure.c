#include "sched/measure.h"

/* client-go's, from the one that a no-op needs to what only hangs. */
static const double buckets[] = { 0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1,
                                  2.5,    5,     10,    20,   30,   60,  120, 300 };

#define HISTOGRAM(symbol, text, words)                                                             \
    static const struct ccm_metric symbol = {                                                      \
        .struct_size = sizeof(struct ccm_metric),                                                  \
        .type = CCM_METRIC_HISTOGRAM,                                                              \
        .name = text,                                                                              \
        .help = words,                                                                             \
        .labels = symbol##_labels,                                                                 \
        .buckets = buckets,                                                                        \
        .bucket_count = CCM_ARRAY_LEN(buckets),                                                    \
    }

static const char *const queue_duration_labels[] = { "name", NULL };
HISTOGRAM(queue_duration, "workqueue_queue_duration_seconds",
          "How long a key waited, from when it became ready to its call.");

static const char *const work_duration_labels[] = { "name", NULL };
HISTOGRAM(work_duration, "workqueue_work_duration_seconds", "How long a call of a worker took.");

static const char *const reconcile_duration_labels[] = { "plugin", "result", NULL };
HISTOGRAM(reconcile_duration, "ccmd_reconcile_duration_seconds",
          "The same by how it ended: success, requeue_after, or the kind of failure.");

void sched_measure_call(struct ccm_metrics *metrics, const char *controller,
                        const struct sched_queue_item *items, size_t count, int64_t took_us,
                        const char *result)
{
    const char *const values[] = { controller, result };
    const double seconds = (double)took_us / 1e6;

    /* Recording fails for want of memory only, at the first of a series. */
    for (size_t i = 0; i < count; i++) {
        (void)ccm_metrics_record(metrics, &queue_duration, values,
                                 (double)items[i].waited_ms / 1000);
    }
    (void)ccm_metrics_record(metrics, &work_duration, values, seconds);
    (void)ccm_metrics_record(metrics, &reconcile_duration, values, seconds);
}
