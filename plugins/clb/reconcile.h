/* One pass over one Service. May block. Every thread. */
#ifndef CCM_CLB_RECONCILE_H
#define CCM_CLB_RECONCILE_H

#include "clb.h"

CCM_NODISCARD int clb_reconcile(struct clb *clb, const struct ccm_request *req,
                                struct ccm_result *ret, struct ccm_error *err);

#endif
