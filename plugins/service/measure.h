/* Passes over Services as metrics of the host, among them those of the reference controller under
 * their names. Every thread; nothing blocks. */
#ifndef CCM_SERVICE_MEASURE_H
#define CCM_SERVICE_MEASURE_H

#include "service/pass.h"

/* How old the mirror is that a pass goes by; nothing when it has none. */
void ccm_measure_mirror(const struct ccm_lbc *lbc, const struct ccm_entry *entry);

/* A pass has ended with r; err as it is then. started_ms: monotonic. */
void ccm_measure_pass(const struct ccm_pass *pass, int64_t started_ms, int r,
                      const struct ccm_error *err);

/* A second look has ended; repaired: it had something to do. */
void ccm_measure_audit(const struct ccm_lbc *lbc, int r, bool repaired);

#endif
