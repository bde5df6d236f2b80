/*
 * A condition in the status of a Service that says whether its load balancer is as wanted. Looks at
 * the snapshot first and makes no write when it already says so. Blocks for the API server. Every
 * thread.
 */
#ifndef CCM_LBC_CONDITIONS_H
#define CCM_LBC_CONDITIONS_H

#include "lbc/keys.h"
#include "lbc/service/lifecycle.h"
#include "util/jsonw.h"

struct lbc_life_condition {
    bool ready;
    uint64_t kind; /* CCM_ERROR_* when it is not; makes the reason, unless there is one: */
    const char *reason;
    const char *message; /* the same for the same cause, so without ids of requests */
};

/* Write it; NULL takes away what an earlier run may have written. An object that is gone is
 * success. */
CCM_NODISCARD int lbc_life_publish_condition(const struct lbc_life *life,
                                             const struct ccm_request *req,
                                             const struct ccm_service *service,
                                             const struct lbc_life_condition *condition,
                                             struct ccm_error *err);

/* For what else writes a condition: that of the type, NULL = there is none; and the head of a
 * strategic patch of it, behind which its other members come, and "}]}}". */
const struct ccm_condition *lbc_condition_find(const struct ccm_condition *const *conditions,
                                               uint64_t count, const char *type);
void lbc_condition_open_patch(struct ccm_jsonw *w, const char *uid, const char *type);

#endif
