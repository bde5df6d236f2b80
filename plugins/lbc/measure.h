/* Passes over Services as metrics of the host, among them those of the reference controller under
 * their names. Every thread; nothing blocks. */
#ifndef CCM_LBC_MEASURE_H
#define CCM_LBC_MEASURE_H

#include "lbc/pass.h"

/* How old the mirror is that a pass goes by; nothing when it has none. */
void lbc_measure_mirror(const struct lbc_instance *lbc, const struct lbc_entry *entry);

/* A pass has ended with r; err as it is then. started_ms: monotonic. */
void lbc_measure_pass(const struct lbc_pass *pass, int64_t started_ms, int r,
                      const struct ccm_error *err);

/* A second look has ended; repaired: it had something to do. */
void lbc_measure_audit(const struct lbc_instance *lbc, int r, bool repaired);

#endif
