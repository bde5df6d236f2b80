/* Requests to the API server as metrics, under the names of client-go. Every thread. */
#ifndef CCM_KUBE_MEASURE_H
#define CCM_KUBE_MEASURE_H

#include "util/metrics.h"

#include <stdbool.h>

/* One request; texts are borrowed. */
struct kube_measure {
    struct ccm_metrics *metrics; /* NULL = nothing is counted */
    const char *host;
    const char *method;
    int64_t started_us;
    bool ended;
};

struct kube_measure kube_measure_begin(struct ccm_metrics *metrics, const char *host,
                                       const char *method);

/* Its answer has begun: status, 0 = there was none. Only the first call counts. */
void kube_measure_end(struct kube_measure *measure, uint32_t status);

#endif
