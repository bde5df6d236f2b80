/* One pass over one Service; see pass.h. May block. Every thread. */
#ifndef CCM_LBC_RECONCILE_H
#define CCM_LBC_RECONCILE_H

#include "lbc/pass.h"

/* The plugin's reconcile(), one key per call. */
CCM_NODISCARD int lbc_reconcile(struct lbc_instance *lbc, const struct ccm_request *req,
                                struct ccm_result *ret, struct ccm_error *err);

#endif
