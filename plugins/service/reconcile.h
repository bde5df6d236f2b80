/* One pass over one Service; see pass.h. May block. Every thread. */
#ifndef CCM_SERVICE_RECONCILE_H
#define CCM_SERVICE_RECONCILE_H

#include "service/pass.h"

/* The plugin's reconcile(), one key per call. */
CCM_NODISCARD int ccm_lbc_reconcile(struct ccm_lbc *lbc, const struct ccm_request *req,
                                    struct ccm_result *ret, struct ccm_error *err);

#endif
