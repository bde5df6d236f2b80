/*
 * Counters, gauges and histograms by name and labels, written in the text format of Prometheus. One
 * registry; every thread; nothing blocks but for a short lock.
 */
#ifndef CCM_UTIL_METRICS_H
#define CCM_UTIL_METRICS_H

#include "ccm/host.h"
#include "util/attr.h"
#include "util/buf.h"

#include <stdint.h>

#define CCM_METRICS_LABELS_MAX  8
#define CCM_METRICS_BUCKETS_MAX 64
#define CCM_METRICS_SERIES_MAX  2000 /* of one metric */

struct ccm_metrics;

/* NULL on ENOMEM. */
struct ccm_metrics *ccm_metrics_new(void);
/* Nobody may record any more. NULL is fine. */
void ccm_metrics_free(struct ccm_metrics *metrics);

/*
 * As host->metric(). The metric is copied at its first use. metrics NULL: nothing. 0; -EINVAL: not
 * a metric, or the name is in use for another one; -ENOSPC: too many combinations of labels,
 * counted in ccmd_metrics_dropped_total; -ENOMEM.
 */
int ccm_metrics_record(struct ccm_metrics *metrics, const struct ccm_metric *metric,
                       const char *const *values, double value);

/* The same with the label `plugin`, which comes first; NULL, or a metric that has such a label
 * itself: without. */
int ccm_metrics_record_of(struct ccm_metrics *metrics, const struct ccm_metric *metric,
                          const char *plugin, const char *const *values, double value);

/* A counter that somebody else keeps: set it to what it has reached. As above. */
int ccm_metrics_set(struct ccm_metrics *metrics, const struct ccm_metric *metric,
                    const char *const *values, double value);

/* Buckets for durations in seconds, from a millisecond to two minutes. */
extern const double ccm_metrics_seconds[];
extern const uint64_t ccm_metrics_seconds_count;

/* Append all of it, by name; failures stick in `out`. */
void ccm_metrics_write(struct ccm_metrics *metrics, struct ccm_buf *out);

#endif
