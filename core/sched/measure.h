/* How long keys wait and calls take, as histograms. Every thread; nothing blocks. */
#ifndef CCM_SCHED_MEASURE_H
#define CCM_SCHED_MEASURE_H

#include "sched/queue.h"
#include "util/metrics.h"

/* One call that has ended. result: "success", "requeue_after", or the kind of what failed. metrics
 * NULL: nothing. */
void sched_measure_call(struct ccm_metrics *metrics, const char *controller,
                        const struct sched_queue_item *items, size_t count, int64_t took_us,
                        const char *result);

#endif
