/*
 * A condition in the status of a Service that says whether its load balancer is as wanted. Looks at
 * the snapshot first and makes no write when it already says so. Blocks for the API server. Every
 * thread.
 */
#ifndef CCM_LBC_CONDITIONS_H
#define CCM_LBC_CONDITIONS_H

#include "lbc/keys.h"
#include "lbc/service/condition.h"
#include "lbc/service/lifecycle.h"

/* Write it: when status, reason or cause differ from what the Service shows, or when what it shows
 * is LBC_CONDITION_AGAIN_MS old and still not ready. NULL takes away what an earlier run may have
 * written. An object that is gone is success. */
CCM_NODISCARD int lbc_life_publish_condition(const struct lbc_life *life,
                                             const struct ccm_request *req,
                                             const struct ccm_service *service,
                                             const struct lbc_life_condition *condition,
                                             struct ccm_error *err);

#endif
