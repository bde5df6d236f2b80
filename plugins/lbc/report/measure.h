/* Metrics of passes and audits, among them those of the reference controller under their names.
 * Every thread; nothing blocks. */
#ifndef CCM_LBC_MEASURE_H
#define CCM_LBC_MEASURE_H

#include "lbc/pass.h"

/* This instance works from now on: counters with known labels begin at 0, so that the first of
 * what they count is an increase. */
void lbc_measure_start(const struct lbc_instance *lbc);

/* Age of the mirror that a pass starts from; nothing when it has none. */
void lbc_measure_mirror(const struct lbc_instance *lbc, const struct lbc_entry *entry);

/* A pass has ended with r and err. started_ms: monotonic. */
void lbc_measure_pass(const struct lbc_pass *pass, int64_t started_ms, int r,
                      const struct ccm_error *err);

/* An audit has ended; repaired: it had something to do. */
void lbc_measure_audit(const struct lbc_instance *lbc, int r, bool repaired);

#endif
