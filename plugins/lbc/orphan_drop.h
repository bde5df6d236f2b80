/* An orphan whose product says only how it is read (orphans.h) goes step by step, as the load
 * balancer of a Service does. One thread, that of the key of orphans. */
#ifndef CCM_LBC_ORPHAN_DROP_H
#define CCM_LBC_ORPHAN_DROP_H

#include "lbc/orphans.h"

/* Read it again, and delete it with all that is in it. 0: it is gone. 1: it is none any more, and
 * stays. Negative with err, CCM_ERROR_TRANSIENT where it may be gone; with *ret_again_ms above 0
 * nothing has failed: the cloud works on it, and it is to be looked at again in so many ms. Blocks.
 */
CCM_NODISCARD int lbc_orphan_drop(struct lbc_instance *lbc, const struct ccm_request *req,
                                  const struct lbc_orphan *one, uint64_t *ret_again_ms,
                                  struct ccm_error *err);

#endif
