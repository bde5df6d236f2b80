/* What is refused of a Service, for tests of the controllers. */
#ifndef CCM_LBC_TESTS_REFUSED_H
#define CCM_LBC_TESTS_REFUSED_H

#include "lbc/rules/refusal.h"

/* All that fails, as one error. 0, or -EINVAL. */
static inline int refused_by(const struct lbc_lint_rules *rules, const struct ccm_service *service,
                             struct ccm_error *err)
{
    struct lbc_refusals refusals = LBC_REFUSALS_INIT;
    int r = lbc_refusals_collect(&refusals, rules, service);

    r = r < 0 ? r : lbc_refusals_sum(&refusals, err);
    lbc_refusals_fini(&refusals);
    return r;
}

#endif
