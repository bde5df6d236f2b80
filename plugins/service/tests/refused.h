/* What is refused of a Service, for tests of the controllers. */
#ifndef CCM_SERVICE_TESTS_REFUSED_H
#define CCM_SERVICE_TESTS_REFUSED_H

#include "service/refusal.h"

/* All that fails, as one error; switches mean what they say. 0, or -EINVAL. */
static inline int refused_by(const struct ccm_lint_rules *rules, const struct ccm_service *service,
                             struct ccm_error *err)
{
    struct ccm_refusals refusals = CCM_REFUSALS_INIT;
    int r = ccm_refusals_collect(&refusals, rules, service, true);

    r = r < 0 ? r : ccm_refusals_sum(&refusals, err);
    ccm_refusals_fini(&refusals);
    return r;
}

#endif
